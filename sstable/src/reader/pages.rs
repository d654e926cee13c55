//! Which pages of the file have been checked against their CRC-32.
//!
//! A page is checked the first time something reads it, by whichever thread comes first; two that come at once
//! check it twice. A bit a page remembers that it was right; a page that was wrong is checked again, and is wrong
//! again, each time it is asked for.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::container::{PAGE_LEN_BYTES, TableError, TableRule};

use super::table::Sections;

/// The bits, and where the checksums are.
#[derive(Debug)]
pub(super) struct Pages {
    /// Bytes that pages cover: everything before the checksums.
    covered_len: usize,
    verified: Box<[AtomicU64]>,
}

impl Pages {
    /// For a file whose checksums start at `covered_len`. No page is taken as checked.
    pub(super) fn new(covered_len: usize) -> Self {
        let words = covered_len.div_ceil(PAGE_LEN_BYTES).div_ceil(64);
        Self {
            covered_len,
            verified: (0..words).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    #[cfg(feature = "planted-faults")]
    pub(super) fn take_as_checked(&self) {
        self.verified
            .iter()
            .for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
    }

    /// Makes sure that all pages that `range` touches are right. `range` lies before the checksums.
    #[inline]
    pub(super) fn check(
        &self,
        file: &[u8],
        sections: &Sections,
        range: Range<usize>,
    ) -> Result<(), TableError> {
        if range.is_empty() {
            return Ok(());
        }
        let (first, last) = (range.start / PAGE_LEN_BYTES, (range.end - 1) / PAGE_LEN_BYTES);
        if last - first <= 1 && self.is_verified(first) && self.is_verified(last) {
            return Ok(());
        }
        self.check_pages(file, sections, first, last)
    }

    #[inline]
    fn is_verified(&self, page: usize) -> bool {
        // The bytes never change, so the order of this load and theirs does not matter.
        self.verified[page / 64].load(Ordering::Relaxed) >> (page % 64) & 1 == 1
    }

    #[inline(never)]
    fn check_pages(
        &self,
        file: &[u8],
        sections: &Sections,
        first: usize,
        last: usize,
    ) -> Result<(), TableError> {
        for page in first..=last {
            if !self.is_verified(page) {
                self.check_page(file, sections, page)?;
            }
        }
        Ok(())
    }

    /// End of the page in which the byte at `at` lies.
    #[inline]
    pub(super) fn end_of_page(at: usize) -> usize {
        (at / PAGE_LEN_BYTES + 1) * PAGE_LEN_BYTES
    }

    #[cold]
    fn check_page(&self, file: &[u8], sections: &Sections, page: usize) -> Result<(), TableError> {
        let start = page * PAGE_LEN_BYTES;
        let bytes = &file[start..self.covered_len.min(start + PAGE_LEN_BYTES)];
        let stored = &file[self.covered_len + page * 4..];
        let expected = u32::from_le_bytes(
            *stored
                .first_chunk()
                .expect("the footer has room for every checksum"),
        );
        let found = crc32fast::hash(bytes);
        if found != expected {
            let section = sections.at(start);
            return Err(TableError::new(
                section,
                start as u64,
                TableRule::PageChecksum,
                u64::from(expected),
                u64::from(found),
            ));
        }
        self.verified[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
        Ok(())
    }
}
