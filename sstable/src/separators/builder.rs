//! Collecting separators while a table is written, and building their tree.

use std::collections::TryReserveError;

use super::node::NODE_HEADER_LEN_BYTES;
use super::{ENTRIES_PER_SAMPLE, HEAD_BITS, SECTION_HEADER_LEN_BYTES};
use crate::counts::varint;
use crate::elias_fano::to_index;
use crate::unit::Unit;

/// Collects the separators of blocks 1, 2, 3 and so on.
#[derive(Debug, Default)]
pub(crate) struct SeparatorsBuilder<U: Unit> {
    /// All of them, one after the other.
    units: U::Owned,
    /// Where each ends.
    ends: Vec<u64>,
}

/// A node that is still to be written.
struct Task {
    first: usize,
    end: usize,
    /// Units before the node, in which its separators agree.
    depth: u64,
    /// Where in the section to note where the node is.
    slot: Option<usize>,
}

impl<U: Unit> SeparatorsBuilder<U> {
    /// Makes room for one more separator.
    pub(crate) fn try_reserve(&mut self, units: u64) -> Result<(), TryReserveError> {
        self.ends.try_reserve(1)?;
        U::try_reserve(&mut self.units, units)
    }

    /// Adds the separator of the next block; it must be above the one before.
    pub(crate) fn push(&mut self, separator: U::Str<'_>) {
        U::push(&mut self.units, separator);
        self.ends.push(U::len(U::as_str(&self.units)));
    }

    fn start(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    fn len_units(&self, index: usize) -> u64 {
        self.ends[index] - self.start(index)
    }

    /// The separator from unit `from` on; empty if it ends before.
    fn tail(&self, index: usize, from: u64) -> U::Str<'_> {
        let (start, end) = (self.start(index), self.ends[index]);
        U::slice(U::as_str(&self.units), (start + from).min(end), end)
    }

    /// The section; `None` if there are more separators, longer prefixes or larger trees than its fields hold
    /// (2^32 blocks, prefixes of 2^32 units, 32 GiB).
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let count = self.ends.len();
        let mut out = vec![0; SECTION_HEADER_LEN_BYTES];
        // Where each one's rest starts.
        let mut rests = vec![0; count];
        let mut tasks = Vec::new();
        if count > 0 {
            tasks.push(Task {
                first: 0,
                end: count,
                depth: 0,
                slot: None,
            });
        }
        while let Some(task) = tasks.pop() {
            self.write_node(&task, &mut out, &mut rests, &mut tasks)?;
        }
        let samples_start = out.len() as u64;
        let (samples, list) = self.list(&rests);
        samples.iter().for_each(|sample| out.extend(sample.to_le_bytes()));
        let list_start = out.len() as u64;
        out.extend(list);
        out[..4].copy_from_slice(&u32::try_from(count).ok()?.to_le_bytes());
        out[8..16].copy_from_slice(&samples_start.to_le_bytes());
        out[16..24].copy_from_slice(&list_start.to_le_bytes());
        Some(out)
    }

    fn write_node(
        &self,
        task: &Task,
        out: &mut Vec<u8>,
        rests: &mut [u64],
        tasks: &mut Vec<Task>,
    ) -> Option<()> {
        let offset = out.len();
        if let Some(slot) = task.slot {
            out[slot..slot + 4].copy_from_slice(&u32::try_from(offset / 8).ok()?.to_le_bytes());
        }
        let prefix = self.tail(task.first, task.depth);
        let prefix_units = U::lcp(prefix, self.tail(task.end - 1, task.depth));
        let base = task.depth + prefix_units;
        let mut heads: Vec<(u64, usize)> = Vec::new();
        for index in task.first..task.end {
            let head = U::head(self.tail(index, base), 0);
            if heads.last().is_none_or(|&(last, _)| last != head) {
                heads.push((head, index));
            }
        }
        for number in [
            task.first as u64,
            (task.end - task.first) as u64,
            heads.len() as u64,
            prefix_units,
        ] {
            out.extend(u32::try_from(number).ok()?.to_le_bytes());
        }
        debug_assert_eq!(out.len(), offset + NODE_HEADER_LEN_BYTES);
        let mut owned = U::Owned::default();
        U::push(&mut owned, U::slice(prefix, 0, prefix_units));
        out.extend(U::into_bytes(owned));
        pad_to_word(out);
        heads.iter().for_each(|(head, _)| out.extend(head.to_le_bytes()));

        let after_head = base + HEAD_BITS / U::BITS;
        rests[task.first..task.end].fill(after_head);
        if heads.len() == task.end - task.first {
            return Some(());
        }
        for &(_, start) in &heads {
            let before = u32::try_from(start - task.first).ok()?;
            out.extend(before.to_le_bytes());
        }
        let children = out.len();
        out.resize(children + heads.len() * 4, 0);
        pad_to_word(out);
        // The last task is taken first: pushed in reverse, subtrees lie in the order of their keys.
        for (place, &(_, start)) in heads.iter().enumerate().rev() {
            let end = heads.get(place + 1).map_or(task.end, |&(_, next)| next);
            let longer = (start..end)
                .find(|&index| self.len_units(index) > after_head)
                .unwrap_or(end);
            if end - longer >= 2 {
                let slot = Some(children + place * 4);
                tasks.push(Task {
                    first: longer,
                    end,
                    depth: after_head,
                    slot,
                });
            }
        }
        Some(())
    }

    /// The list of lengths and rests, and where every sixteenth entry of it is.
    fn list(&self, rests: &[u64]) -> (Vec<u64>, Vec<u8>) {
        let (mut samples, mut list) = (Vec::new(), Vec::new());
        for (index, &rest) in rests.iter().enumerate() {
            if (index as u64).is_multiple_of(ENTRIES_PER_SAMPLE) {
                samples.push(list.len() as u64);
            }
            let mut owned = U::Owned::default();
            U::push(&mut owned, self.tail(index, rest));
            let bytes = U::into_bytes(owned);
            varint::push(&mut list, self.len_units(index));
            varint::push(&mut list, bytes.len() as u64);
            list.extend(bytes);
        }
        (samples, list)
    }
}

fn pad_to_word(out: &mut Vec<u8>) {
    out.resize(to_index((out.len() as u64).next_multiple_of(8)), 0);
}
