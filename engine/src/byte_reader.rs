//! Reads the small binary records of the log and the manifest: strict, bounds-checked, never panicking.
//!
//! Every failure says at which offset of the record it happened and what was expected, so that the caller can add
//! the file.

use tephra_sstable::counts::varint;

/// A record does not hold what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Offset in the record, in bytes.
    pub(crate) offset: usize,
    /// What should be there.
    pub(crate) expected: &'static str,
    /// What is there.
    pub(crate) found: String,
}

/// A cursor over the bytes of one record.
#[derive(Clone, Debug)]
pub(crate) struct ByteReader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> ByteReader<'a> {
    /// Starts at the first byte.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        ByteReader { bytes, offset: 0 }
    }

    /// Bytes read so far.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Whether everything was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.offset == self.bytes.len()
    }

    /// A malformation at the current offset.
    pub(crate) fn malformed(&self, expected: &'static str, found: impl Into<String>) -> Malformed {
        Malformed {
            offset: self.offset,
            expected,
            found: found.into(),
        }
    }

    /// The next `len` bytes.
    pub(crate) fn bytes(&mut self, len: usize, expected: &'static str) -> Result<&'a [u8], Malformed> {
        let rest = &self.bytes[self.offset..];
        if len > rest.len() {
            return Err(self.malformed(expected, format!("only {} more bytes of {len}", rest.len())));
        }
        self.offset += len;
        Ok(&rest[..len])
    }

    /// One byte.
    pub(crate) fn u8(&mut self, expected: &'static str) -> Result<u8, Malformed> {
        Ok(self.bytes(1, expected)?[0])
    }

    /// A canonical little-endian base-128 number.
    pub(crate) fn varint(&mut self, expected: &'static str) -> Result<u64, Malformed> {
        match varint::read(&self.bytes[self.offset..]) {
            Ok((value, len_bytes)) => {
                self.offset += len_bytes;
                Ok(value)
            }
            Err(error) => Err(self.malformed(expected, error.rule.to_string())),
        }
    }

    /// A number that fits 32 bits.
    pub(crate) fn varint_u32(&mut self, expected: &'static str) -> Result<u32, Malformed> {
        let start = self.clone();
        let value = self.varint(expected)?;
        u32::try_from(value).map_err(|_| start.malformed(expected, format!("{value}, over 32 bits")))
    }

    /// A length, checked against what is left so that it can be trusted as an allocation's size.
    pub(crate) fn len(&mut self, expected: &'static str) -> Result<usize, Malformed> {
        let value = self.varint(expected)?;
        let left = self.bytes.len() - self.offset;
        match usize::try_from(value) {
            Ok(len) if len <= left => Ok(len),
            _ => Err(self.malformed(expected, format!("a length of {value} with {left} bytes left"))),
        }
    }
}
