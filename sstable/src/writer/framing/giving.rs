//! Giving frames away: complete bytes while they grow, and the stream at its end.

use std::io;

use super::{AppendError, FrameWriter};
use crate::stream::{EncodedStream, StreamMeta};
use crate::unit::Unit;

impl<U: Unit> FrameWriter<U> {
    /// What the stream says of itself so far.
    #[must_use]
    pub fn meta(&self) -> StreamMeta {
        StreamMeta {
            policy: self.policy,
            common_width: self.common_width,
            record_count: self.record_count(),
            extent_units: self.position(),
            last_key_units: self.key_units,
        }
    }

    /// The frames that were not given away.
    #[must_use]
    pub fn frames(&self) -> U::Str<'_> {
        U::as_str(&self.frames)
    }

    /// Gives all complete bytes to `out` and forgets them.
    ///
    /// # Errors
    ///
    /// What `out` says. How much it took is not known then: the stream is lost.
    pub fn drain(&mut self, out: &mut impl io::Write) -> io::Result<()> {
        let bytes = U::whole_bytes(&self.frames);
        out.write_all(bytes)?;
        self.drained_units += bytes.len() as u64 * 8 / U::BITS;
        U::discard_whole_bytes(&mut self.frames);
        Ok(())
    }

    /// Bytes that [`FrameWriter::drain`] would give away.
    #[must_use]
    #[inline]
    pub fn drainable_len_bytes(&self) -> usize {
        U::whole_bytes(&self.frames).len()
    }

    /// Ends the stream with its directory, and starts an empty one under the same policy. The payload is what was not
    /// given away; without a drain, all of it.
    ///
    /// # Errors
    ///
    /// No memory for the directory; the writer stands as before.
    pub fn finish(&mut self) -> Result<EncodedStream, AppendError> {
        let meta = self.meta();
        let end = meta.extent_units - meta.common_units_before(meta.record_count);
        let blocks = self.directory.len();
        self.directory.push(end)?;
        let directory = self.directory.finish();
        self.directory.truncate(blocks);
        let directory = directory?;
        let fresh = Self::empty(self.policy, self.common_width, self.extent_units_max);
        let payload = U::into_bytes(std::mem::replace(self, fresh).frames);
        Ok(EncodedStream {
            meta,
            payload,
            directory,
        })
    }
}
