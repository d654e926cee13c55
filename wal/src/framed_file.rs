//! An append-only file of framed records that is written through [`io::Write`]: the shape of a manifest.
//!
//! The bytes are those of a log segment (header, `Begin`, records), so that [`crate::Replay`] reads it, with its own magic.
//! Whoever owns the file syncs it and says so; the next record is then preceded by a sync mark.

use std::io::{self, Write};

use crate::header::{FileHeader, HEADER_LEN_BYTES};
use crate::record::{Framing, RECORD_HEADER_LEN_BYTES, RecordKind};

/// Writes framed records.
///
/// After an error the end of the file is undefined, and nothing more is to be appended: begin another file.
#[derive(Debug)]
pub struct FramedFile<W> {
    out: W,
    framing: Framing,
    end: u64,
    /// The file was synced up to here, and has no mark for it yet.
    unmarked: Option<u64>,
    buffer: Vec<u8>,
}

impl<W: Write> FramedFile<W> {
    /// Writes the header. The file counts as begun.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn create(out: W, header: FileHeader) -> io::Result<Self> {
        let mut buffer = Vec::with_capacity(4096);
        buffer.extend_from_slice(&header.encode());
        let end = HEADER_LEN_BYTES as u64;
        let mut file = Self {
            out,
            framing: Framing::new(header.salt),
            end,
            unmarked: None,
            buffer,
        };
        file.frame(RecordKind::Begin, &[0; 16])?;
        file.write_buffer()?;
        Ok(file)
    }

    /// Appends a record, with one write.
    ///
    /// # Errors
    /// Those of the writer; a payload of 4 GiB or more is refused.
    pub fn append(&mut self, payload: &[u8]) -> io::Result<()> {
        if let Some(through) = self.unmarked.take() {
            self.frame(RecordKind::SyncMark, &through.to_le_bytes())?;
        }
        self.frame(RecordKind::Data, payload)?;
        self.write_buffer()
    }

    /// To be called after a sync that covered everything appended so far.
    pub fn mark_synced(&mut self) {
        self.unmarked = Some(self.end);
    }

    /// Bytes written.
    pub fn len_bytes(&self) -> u64 {
        self.end
    }

    /// The writer below, for syncing.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    fn frame(&mut self, kind: RecordKind, payload: &[u8]) -> io::Result<()> {
        let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "a record of 4 GiB or more");
        let len = u32::try_from(payload.len()).map_err(|_| too_long())?;
        let header = self.framing.header(self.end, kind, len, crc32fast::hash(payload));
        self.buffer.extend_from_slice(&header);
        self.buffer.extend_from_slice(payload);
        self.end += (RECORD_HEADER_LEN_BYTES + payload.len()) as u64;
        Ok(())
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.buffer).and_then(|()| self.out.flush());
        self.buffer.clear();
        written
    }
}
