//! Tables that anybody may have written: opened, searched, walked and verified. Nothing breaks, a walk gives rising keys, and without a
//! mutation every answer is right.

use std::collections::BTreeMap;

use tephra_sstable::{Byte, Policy, Table, TableOptions, TableWriter};

use super::choices::Choices;

const PAGE_LEN_BYTES: usize = 4096;
const FOOTER_LEN_BYTES: usize = 256;

type Records = BTreeMap<Vec<u8>, Vec<u8>>;

fn records(choices: &mut Choices<'_>, width: Option<usize>) -> Records {
    let (mut records, mut key) = (Records::new(), Vec::new());
    for _ in 0..choices.below(60) {
        let how = choices.next();
        key.truncate(key.len() * usize::from(how >> 5) / 7);
        key.extend(choices.take(usize::from(how & 7)));
        let len = width.unwrap_or_else(|| choices.below(30));
        records.insert(key.clone(), vec![how; len]);
    }
    records
}

fn written(policy: Policy, records: &Records) -> Vec<u8> {
    let options = TableOptions::new(policy, 7);
    let mut writer = TableWriter::<_, Byte>::new(Vec::new(), options).expect("memory takes it");
    for (key, value) in records {
        writer.append(key, value).expect("sorted");
    }
    writer.finish().expect("memory takes it").0
}

/// Computes all checksums again, where the places of the sections allow it.
fn reseal(file: &mut [u8]) {
    let Some(footer) = file.len().checked_sub(FOOTER_LEN_BYTES) else {
        return;
    };
    let field = |file: &[u8], at: usize| {
        let bytes = file[footer + at..footer + at + 8]
            .try_into()
            .expect("eight bytes");
        usize::try_from(u64::from_le_bytes(bytes)).expect("64 bits")
    };
    let slot = (0..8)
        .map(|slot| slot * 24)
        .find(|&at| field(file, at) & 0xffff_ffff == 6);
    if let Some(slot) = slot {
        let (start, len) = (field(file, slot + 8), field(file, slot + 16));
        if start.checked_add(len).is_some_and(|end| end <= footer) {
            for (page, at) in (0..start)
                .step_by(PAGE_LEN_BYTES)
                .zip((start..start + len).step_by(4))
            {
                let crc = crc32fast::hash(&file[page..start.min(page + PAGE_LEN_BYTES)]);
                if let Some(place) = file.get_mut(at..at + 4) {
                    place.copy_from_slice(&crc.to_le_bytes());
                }
            }
            let crc = crc32fast::hash(&file[start..start + len]);
            file[footer + 224..footer + 228].copy_from_slice(&crc.to_le_bytes());
        }
    }
    let crc = crc32fast::hash(&file[footer..footer + 244]);
    file[footer + 244..footer + 248].copy_from_slice(&crc.to_le_bytes());
}

/// The body: panics if something that must hold does not.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (policy, width) = match choices.next() % 3 {
        0 => (Policy::byte_fixed(3), Some(3)),
        _ => (Policy::byte_variable(), None),
    };
    let records = records(&mut choices, width);
    let original = written(policy, &records);
    let mut file = original.clone();
    let rounds = choices.next() % 4;
    for _ in 0..rounds {
        choices.mutate(&mut file);
    }
    let is_forged = !choices.one_in(4);
    if is_forged {
        reseal(&mut file);
    }
    let Ok(table) = Table::<_, Byte>::open(&file[..]) else {
        assert!(file != original, "a table of ours opens");
        return;
    };
    let mut walked = Vec::new();
    let mut cursor = table.cursor();
    // A forger may promise more records than there are: a walk ends at the first that is none.
    while let Ok(true) = cursor.next() {
        walked.push((cursor.key().to_vec(), cursor.value().to_vec()));
        assert!(walked.len() <= file.len(), "a record has bytes");
    }
    for key in records
        .keys()
        .take(20)
        .map(Vec::as_slice)
        .chain([&b""[..], b"\xff\xff"])
    {
        let (found, place) = (table.get(key), table.lower_bound(key));
        if file == original {
            let found = found.expect("undamaged").map(|located| located.value_range);
            assert_eq!(
                found.map(|range| &file[range]),
                records.get(key).map(Vec::as_slice)
            );
            assert_eq!(place, Ok(records.range(..key.to_vec()).count() as u64));
        }
        let _ = (
            cursor.seek(key),
            cursor.next(),
            cursor.prev(),
            cursor.seek_to_last(),
        );
        let _ = (table.may_contain(key), table.estimate_len_bytes(Some(key), None));
    }
    let is_verified = table.verify().is_ok();
    if file == original {
        assert!(is_verified && walked.into_iter().eq(records.clone()));
    } else if !is_forged {
        assert!(
            walked.iter().all(|(key, value)| records.get(key) == Some(value)),
            "checksums let nothing wrong pass"
        );
    }
    let (_, salvaged) = table.salvage(Vec::new()).unwrap_or_else(|_| panic_free());
    let lost: u64 = salvaged
        .lost
        .iter()
        .map(|lost| lost.ordinals.end - lost.ordinals.start)
        .sum();
    if is_verified && !is_forged {
        assert_eq!((lost, salvaged.summary.record_count), (0, table.record_count()));
    }
}

/// A forged table may hold keys in no order; a writer refuses them. An empty table stands for what is salvaged then.
fn panic_free() -> (Vec<u8>, tephra_sstable::Salvaged) {
    let empty = written(Policy::byte_variable(), &Records::new());
    Table::<_, Byte>::open(&empty[..])
        .expect("ours")
        .salvage(Vec::new())
        .expect("memory takes it")
}
