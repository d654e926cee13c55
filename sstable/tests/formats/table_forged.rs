//! What a reader makes of forged table files, whose checksums are all right: an error or the right answer where a
//! rule is broken, and never a panic, an endless walk or an allocation out of proportion.

#![expect(clippy::unwrap_used, reason = "a test panics where something is missing")]

use crate::damaged_tables::{Records, for_both_units, look_up, reseal, small, string, walk};
use tephra_sstable::{Table, Unit};

/// Every aligned word of everything but the payload's records, set to the extremes with all checksums computed
/// again: a forger's file. An error, or the answers of the file without the forgery; or, where properties that
/// nothing depends on were forged, an error of `verify`. The words of the payload are forged in the next test.
fn forged_counts_and_offsets_are_found_or_harmless<U: Unit>() {
    let (records, file) = small::<U>();
    let table = Table::<_, U>::open(&file[..]).unwrap();
    let payload_end = 64 + table.encoded().unwrap().payload.len();
    let checked = (0..64).chain(payload_end.next_multiple_of(64)..file.len() - 12);
    let mut outcomes = [0, 0];
    for at in checked {
        for (len, value) in [
            (1, 0),
            (1, 1),
            (1, 0xff),
            (4, 0),
            (4, 1),
            (4, 0xffff_ffff),
            (8, 0),
            (8, 1),
            (8, u64::MAX),
        ] {
            let mut forged = file.clone();
            forged[at..at + len].copy_from_slice(&u64::to_le_bytes(value)[..len]);
            if forged == file {
                continue;
            }
            reseal(&mut forged);
            outcomes[usize::from(survives::<U>(&forged, &records))] += 1;
        }
    }
    assert!(outcomes[0] > 1000, "{outcomes:?}");
}

/// Whether a forged file reads as the true one does. Reading must end, and may not panic.
fn survives<U: Unit>(forged: &[u8], records: &Records) -> bool {
    let Ok(table) = Table::<_, U>::open(forged) else {
        return false;
    };
    let verified = table.verify();
    let mut cursor = table.cursor();
    for key in records.keys() {
        // A forger can hide or move records: not what they are, but that nothing breaks is tried here.
        let (_, _, _) = (
            table.get(string::<U>(key)),
            table.lower_bound(string::<U>(key)),
            cursor.seek(string::<U>(key)),
        );
        let (_, _) = (cursor.next(), cursor.prev());
    }
    for forward in [true, false] {
        let mut cursor = table.cursor();
        let mut valid = if forward {
            cursor.seek_to_first()
        } else {
            cursor.seek_to_last()
        };
        let mut steps = 0;
        while valid == Ok(true) {
            steps += 1;
            assert!(steps <= table.record_count(), "a walk does not end");
            valid = if forward { cursor.next() } else { cursor.prev() };
        }
    }
    if verified.is_ok() {
        look_up(&table, records)
            .and(walk(&table, records, true))
            .and(walk(&table, records, false))
            .unwrap();
    }
    verified.is_ok()
}

/// Forged frames: whatever they say, reading them ends without a panic.
fn forged_frames_break_nothing<U: Unit>() {
    let (records, file) = small::<U>();
    let payload_end = 64
        + Table::<_, U>::open(&file[..])
            .unwrap()
            .encoded()
            .unwrap()
            .payload
            .len();
    for at in 64..payload_end {
        for value in [0, 1, 2, 3, 17, 0x7f, 0x80, 0xff] {
            let mut forged = file.clone();
            forged[at] = value;
            if forged != file {
                reseal(&mut forged);
                // A changed value is another value, which no rule forbids: hence no look at the answers.
                forged_walk::<U>(&forged, &records);
            }
        }
    }
}

fn forged_walk<U: Unit>(forged: &[u8], records: &Records) {
    let Ok(table) = Table::<_, U>::open(forged) else {
        return;
    };
    let _ = table.verify();
    let mut cursor = table.cursor();
    for key in records.keys() {
        let (_, _, _) = (
            table.get(string::<U>(key)),
            cursor.seek(string::<U>(key)),
            cursor.prev(),
        );
    }
    let mut valid = cursor.seek_to_last();
    while valid == Ok(true) {
        valid = cursor.prev();
    }
    let mut valid = cursor.seek_to_first();
    while valid == Ok(true) {
        valid = cursor.next();
    }
}

for_both_units!(
    forged_counts_and_offsets_are_found_or_harmless,
    forged_frames_break_nothing,
);
