//! One CRC-32 for every 4,096 bytes before the checksums.
//!
//! [`PageWriter`] makes them while a file is written; the reader's `pages` checks them, each when its page is first
//! touched.

use std::collections::TryReserveError;
use std::io;

use crate::elias_fano::to_index;

/// Bytes that one checksum covers; the last page may be shorter.
pub(crate) const PAGE_LEN_BYTES: usize = 4096;

/// Pages of `len_bytes` bytes.
pub(crate) fn page_count(len_bytes: u64) -> u64 {
    len_bytes.div_ceil(PAGE_LEN_BYTES as u64)
}

/// Passes bytes on, counts them, and notes the checksum of every page.
#[derive(Debug)]
pub(crate) struct PageWriter<W> {
    out: W,
    len_bytes: u64,
    page: crc32fast::Hasher,
    checksums: Vec<u32>,
}

impl<W: io::Write> PageWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            len_bytes: 0,
            page: crc32fast::Hasher::new(),
            checksums: Vec::new(),
        }
    }

    /// Makes room for the checksums of the next `len_bytes` bytes, so that writing them needs no memory here.
    pub(crate) fn try_reserve(&mut self, len_bytes: usize) -> Result<(), TryReserveError> {
        self.checksums.try_reserve(len_bytes / PAGE_LEN_BYTES + 1)
    }

    /// Bytes written so far.
    pub(crate) fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    /// Writes zeros up to a multiple of `alignment`; the length after that.
    pub(crate) fn align(&mut self, alignment: u64) -> io::Result<u64> {
        const ZEROS: [u8; 64] = [0; 64];
        let mut missing = self.len_bytes.next_multiple_of(alignment) - self.len_bytes;
        while missing > 0 {
            let step = missing.min(ZEROS.len() as u64);
            io::Write::write_all(self, &ZEROS[..to_index(step)])?;
            missing -= step;
        }
        Ok(self.len_bytes)
    }

    /// Writes the checksums of all pages, the last one as it is; gives the rest of the file's writing back to the
    /// caller: the output, the length so far, the CRC-32 of the checksums.
    pub(crate) fn finish(mut self) -> io::Result<(W, u64, u32)> {
        if !self.len_bytes.is_multiple_of(PAGE_LEN_BYTES as u64) {
            self.checksums.push(self.page.clone().finalize());
        }
        let bytes: Vec<u8> = self.checksums.iter().flat_map(|crc| crc.to_le_bytes()).collect();
        self.out.write_all(&bytes)?;
        Ok((
            self.out,
            self.len_bytes + bytes.len() as u64,
            crc32fast::hash(&bytes),
        ))
    }
}

impl<W: io::Write> io::Write for PageWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        let mut rest = &bytes[..written];
        while !rest.is_empty() {
            let filled = to_index(self.len_bytes % PAGE_LEN_BYTES as u64);
            let (now, later) = rest.split_at(rest.len().min(PAGE_LEN_BYTES - filled));
            self.page.update(now);
            self.len_bytes += now.len() as u64;
            if filled + now.len() == PAGE_LEN_BYTES {
                self.checksums.push(std::mem::take(&mut self.page).finalize());
            }
            rest = later;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
