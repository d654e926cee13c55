//! Wrong answers put into a right history, each of a kind that a broken database would give: the check must object to every one.

use std::collections::HashMap;

use super::checker::{Action, Call, Effect, appended};
use super::rng::Rng;

/// A put of one cell with its successor: `old` had returned when `new` was called.
struct Overwrite<'a> {
    cell: usize,
    old: u64,
    new: &'a Call,
    new_value: u64,
}

/// The put that leaves its value in a cell, of a call.
fn puts(call: &Call) -> impl Iterator<Item = (usize, u64)> {
    let effects = match &call.action {
        Action::Write(effects) => effects.as_slice(),
        Action::Read(_) => &[],
    };
    effects.iter().enumerate().filter_map(|(at, &(cell, effect))| {
        let is_last = effects[at + 1..].iter().all(|&(later, _)| later != cell);
        match effect {
            Effect::Put(value) if is_last => Some((cell, appended(0, value))),
            _ => None,
        }
    })
}

/// Pairs of puts of the same cell that did not overlap.
fn overwrites(history: &[Call]) -> Vec<Overwrite<'_>> {
    let mut last: [Option<(u64, u64)>; super::checker::CELLS] = Default::default();
    let mut found = Vec::new();
    let mut by_time: Vec<&Call> = history.iter().collect();
    by_time.sort_by_key(|call| call.called);
    for call in by_time {
        for (cell, value) in puts(call) {
            if let Some((old, _)) = last[cell].filter(|&(_, returned)| returned < call.called) {
                found.push(Overwrite {
                    cell,
                    old,
                    new: call,
                    new_value: value,
                });
            }
            last[cell] = Some((value, call.returned));
        }
    }
    found
}

fn reads(history: &mut [Call]) -> impl Iterator<Item = (u64, &mut Vec<(usize, u64)>)> {
    history.iter_mut().filter_map(|call| match &mut call.action {
        Action::Read(seen) => Some((call.called, seen)),
        Action::Write(_) => None,
    })
}

/// Something wrong, put into a history; `None` where it has no place for it.
pub(crate) type Plant = fn(&[Call], &mut Rng) -> Option<Vec<Call>>;

/// All of them.
pub(crate) const PLANTS: [(&str, Plant); 5] = [
    ("a stale read", stale_read),
    ("a lost write", lost_write),
    ("a torn batch", torn_batch),
    ("a snapshot that changes", changing_snapshot),
    ("a lost operand", lost_operand),
];

/// One read sees what had been overwritten before it was called.
fn stale_read(history: &[Call], rng: &mut Rng) -> Option<Vec<Call>> {
    let overwrites = overwrites(history);
    let chosen = rng.pick(&overwrites);
    let mut planted = history.to_vec();
    let (_, seen) = reads(&mut planted).find(|(called, seen)| {
        *called > chosen.new.returned && seen.contains(&(chosen.cell, chosen.new_value))
    })?;
    seen.iter_mut()
        .filter(|(cell, _)| *cell == chosen.cell)
        .for_each(|seen| seen.1 = chosen.old);
    Some(planted)
}

/// A write that had returned was seen by nobody: everybody sees what was there before.
fn lost_write(history: &[Call], rng: &mut Rng) -> Option<Vec<Call>> {
    let overwrites = overwrites(history);
    let chosen = rng.pick(&overwrites);
    let mut planted = history.to_vec();
    let mut count = 0;
    for (called, seen) in reads(&mut planted) {
        for (cell, value) in seen {
            if (*cell, *value) == (chosen.cell, chosen.new_value) {
                *value = chosen.old;
                count += usize::from(called > chosen.new.returned);
            }
        }
    }
    (count > 0).then_some(planted)
}

/// A read of several cells sees one write of a batch and not another.
fn torn_batch(history: &[Call], rng: &mut Rng) -> Option<Vec<Call>> {
    let overwrites = overwrites(history);
    let chosen = rng.pick(&overwrites);
    let of_batch: Vec<(usize, u64)> = puts(chosen.new)
        .filter(|&(cell, _)| cell != chosen.cell)
        .collect();
    let mut planted = history.to_vec();
    let (_, seen) = reads(&mut planted).find(|(_, seen)| {
        seen.contains(&(chosen.cell, chosen.new_value)) && of_batch.iter().any(|other| seen.contains(other))
    })?;
    seen.iter_mut()
        .filter(|(cell, _)| *cell == chosen.cell)
        .for_each(|seen| seen.1 = chosen.old);
    Some(planted)
}

/// What a read of several cells saw of one of them differs when it looks again.
fn changing_snapshot(history: &[Call], rng: &mut Rng) -> Option<Vec<Call>> {
    let mut planted = history.to_vec();
    let several: Vec<&mut Vec<(usize, u64)>> = reads(&mut planted)
        .map(|(_, seen)| seen)
        .filter(|seen| seen.len() > 1)
        .collect();
    let at = rng.below(several.len());
    let seen = several.into_iter().nth(at)?;
    let (cell, value) = seen[0];
    seen.push((cell, if value == 0 { appended(0, 1) } else { 0 }));
    Some(planted)
}

/// An operand that had been merged before the next one was is missing under it.
fn lost_operand(history: &[Call], rng: &mut Rng) -> Option<Vec<Call>> {
    // Two operands of one cell, nothing else between: what was there, then both, then the second alone.
    let appends: Vec<(usize, u64, &Call)> = history
        .iter()
        .filter_map(|call| match &call.action {
            Action::Write(effects) => match effects[..] {
                [(cell, Effect::Append(value))] => Some((cell, value, call)),
                _ => None,
            },
            Action::Read(_) => None,
        })
        .collect();
    let mut bases: Vec<(usize, u64, u64)> = Vec::new();
    for call in history {
        if let Action::Read(seen) = &call.action {
            bases.extend(seen.iter().map(|&(cell, value)| (cell, value, call.returned)));
        }
    }
    // When each value was last asked for: most candidates were seen by nobody, and need no copy of the history.
    let mut last_called: HashMap<(usize, u64), u64> = HashMap::new();
    for call in history {
        if let Action::Read(seen) = &call.action {
            for &seen in seen {
                let last = last_called.entry(seen).or_default();
                *last = call.called.max(*last);
            }
        }
    }
    let start = rng.below(bases.len());
    for &(cell, base, seen_at) in bases[start..].iter().chain(&bases[..start]) {
        for &(_, first, call) in appends
            .iter()
            .filter(|append| append.0 == cell && append.2.called > seen_at)
            .take(3)
        {
            let with_first = appended(base, first);
            for &(_, second, later) in appends
                .iter()
                .filter(|append| append.0 == cell && append.2.called > call.returned)
                .take(3)
            {
                let both = appended(with_first, second);
                if last_called
                    .get(&(cell, both))
                    .is_none_or(|&called| called <= later.returned)
                {
                    continue;
                }
                let mut planted = history.to_vec();
                let found = reads(&mut planted)
                    .find(|(called, seen)| *called > later.returned && seen.contains(&(cell, both)));
                if let Some((_, seen)) = found {
                    seen.iter_mut()
                        .filter(|(of, _)| *of == cell)
                        .for_each(|seen| seen.1 = appended(base, second));
                    return Some(planted);
                }
            }
        }
    }
    None
}
