//! The contents of one file: what readers see, and what the disk holds.
//!
//! ```text
//!   seen      |aaaaaaaaaa|bbbbbbbb|cc      zeros      |
//!   on disk   |aaaaaaaaaa|        zeros               |
//!                         '- dirty -'
//! ```
//!
//! A sync copies the dirty range. A power cut decides for every dirty sector whether it is lost, kept, or was written back while it
//! was half filled.

use std::ops::Range;
use std::sync::Arc;

use super::random::Random;

/// What a disk writes whole or not at all.
const SECTOR_LEN_BYTES: usize = 512;

/// How a power cut treats what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    /// Nothing of it reached the disk.
    LoseAll,
    /// All of it did.
    KeepAll,
    /// Each piece on its own.
    Mixed,
}

impl Mood {
    pub(super) fn pick(random: &mut Random) -> Self {
        [Self::LoseAll, Self::KeepAll, Self::Mixed, Self::Mixed][random.below(4)]
    }

    pub(super) fn keeps(self, random: &mut Random) -> bool {
        match self {
            Self::LoseAll => false,
            Self::KeepAll => true,
            Self::Mixed => random.below(2) == 0,
        }
    }
}

/// Bytes that were written, and zeros from there to the length.
#[derive(Clone, Debug, Default)]
struct Image {
    bytes: Arc<Vec<u8>>,
    len: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Contents {
    seen: Image,
    on_disk: Image,
    dirty: Option<Range<usize>>,
}

impl Contents {
    /// A file of zeros, as preallocation makes it.
    pub(super) fn zeros(len: usize) -> Self {
        let seen = Image {
            bytes: Arc::default(),
            len,
        };
        Self {
            seen,
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.seen.len
    }

    /// Writes behind the last byte written.
    pub(super) fn append(&mut self, more: &[u8]) {
        let bytes = Arc::make_mut(&mut self.seen.bytes);
        let from = bytes.len();
        bytes.extend_from_slice(more);
        self.seen.len = self.seen.len.max(bytes.len());
        let start = self.dirty.as_ref().map_or(from, |dirty| dirty.start);
        self.dirty = Some(start..bytes.len());
    }

    /// Gives back the zeros at the end.
    pub(super) fn trim(&mut self) {
        self.seen.len = self.seen.bytes.len();
    }

    /// What readers see. No copy, unless the file is longer than what was written.
    pub(super) fn read(&self) -> Arc<Vec<u8>> {
        if self.seen.len == self.seen.bytes.len() {
            return Arc::clone(&self.seen.bytes);
        }
        let mut bytes = self.seen.bytes.to_vec();
        bytes.resize(self.seen.len, 0);
        Arc::new(bytes)
    }

    pub(super) fn sync(&mut self) {
        if let Some(dirty) = self.dirty.take() {
            let disk = Arc::make_mut(&mut self.on_disk.bytes);
            disk.resize(dirty.end.max(disk.len()), 0);
            disk[dirty.clone()].copy_from_slice(&self.seen.bytes[dirty]);
        }
        self.on_disk.len = self.seen.len;
    }

    /// A sync that fails as bad ones do: nothing is written, and the system calls everything clean.
    pub(super) fn fail_to_sync(&mut self) {
        self.dirty = None;
    }

    /// Writes all bytes over themselves, and syncs.
    pub(super) fn rewrite(&mut self) {
        self.dirty = Some(0..self.seen.bytes.len());
        self.sync();
    }

    /// What the disk holds after a power cut.
    pub(super) fn cut(&self, random: &mut Random) -> Self {
        let mood = Mood::pick(random);
        let mut bytes = self.on_disk.bytes.to_vec();
        let dirty = self.dirty.clone().unwrap_or_default();
        bytes.resize(dirty.end.max(bytes.len()), 0);
        let mut at = dirty.start;
        while at < dirty.end {
            let end = ((at / SECTOR_LEN_BYTES + 1) * SECTOR_LEN_BYTES).min(dirty.end);
            if mood.keeps(random) {
                // Written back whole, or while it was filled up to some byte.
                let half_filled = mood == Mood::Mixed && random.below(4) == 0;
                let until = if half_filled {
                    at + random.below(end - at)
                } else {
                    end
                };
                bytes[at..until].copy_from_slice(&self.seen.bytes[at..until]);
            }
            at = end;
        }
        // The length is one more thing that may be old, new, or on its way.
        let len = match (mood.keeps(random), mood) {
            (true, _) => self.seen.len,
            (false, Mood::Mixed) if self.seen.len > self.on_disk.len => {
                self.on_disk.len + random.below(self.seen.len - self.on_disk.len)
            }
            (false, _) => self.on_disk.len,
        };
        bytes.truncate(len);
        let image = Image {
            bytes: Arc::new(bytes),
            len,
        };
        Self {
            seen: image.clone(),
            on_disk: image,
            dirty: None,
        }
    }
}
