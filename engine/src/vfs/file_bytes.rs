//! The bytes of one finished file, shared by everybody who reads it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use memmap2::Mmap;

/// The contents of a file: a mapping, or memory. A clone costs one atomic increment and pins the bytes, also after
/// the file lost its name.
#[derive(Clone)]
pub struct FileBytes(Source);

#[derive(Clone)]
enum Source {
    Mapped(Arc<Mmap>),
    Memory(Arc<Vec<u8>>),
}

impl FileBytes {
    pub(super) fn mapped(map: Mmap) -> Self {
        Self(Source::Mapped(Arc::new(map)))
    }

    /// Bytes in memory.
    #[must_use]
    pub fn memory(bytes: Arc<Vec<u8>>) -> Self {
        Self(Source::Memory(bytes))
    }
}

impl AsRef<[u8]> for FileBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Source::Mapped(map) => map,
            Source::Memory(bytes) => bytes,
        }
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_ref()
    }
}

impl fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.0 {
            Source::Mapped(_) => "mapped",
            Source::Memory(_) => "memory",
        };
        write!(f, "FileBytes({kind}, {} bytes)", self.len())
    }
}
