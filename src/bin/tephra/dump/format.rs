//! The dump format: constants, and the encoding of a keyspace's settings. `docs/dump-format.md` specifies it.
//!
//! ```text
//! dump      "TEPHRA DUMP 1\n"  block  block  ...  end block
//! block     kind (1)  length (4)  payload  checksum (4)         numbers little-endian
//! checksum  CRC-32 of: number of the block in the dump (8), kind, length, payload
//! ```

use tephradb::KeyspaceInfo;

/// What a dump begins with.
pub(super) const MAGIC: &[u8] = b"TEPHRA DUMP 1\n";
/// A block of this kind begins a keyspace.
pub(super) const KEYSPACE: u8 = b'K';
/// Records of the keyspace begun last.
pub(super) const RECORDS: u8 = b'R';
/// The end mark: counts of all.
pub(super) const END: u8 = b'E';
/// A block of records ends at this size; a longer record has a block to itself.
pub(super) const BLOCK_BYTES: usize = 1 << 20;

/// The checksum of a block.
pub(super) fn checksum(number: u64, kind: u8, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(&[kind]);
    let len_bytes = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    hasher.update(&len_bytes.to_le_bytes());
    hasher.update(payload);
    hasher.finalize()
}

/// Appends a number: seven bits a byte, the lowest first, the top bit where more follow.
pub(super) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number.to_le_bytes()[0] & 0x7f) | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Appends a string with its length in bytes.
pub(super) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// The payload of a keyspace's block.
pub(super) fn keyspace_payload(info: &KeyspaceInfo) -> Vec<u8> {
    let mut out = Vec::new();
    push_bytes(&mut out, info.name.as_bytes());
    out.push(u8::from(info.is_of_bits));
    // A number that may be missing is stored one higher, with 0 for none.
    push_number(
        &mut out,
        info.value_width_units.map_or(0, |width| width.saturating_add(1)),
    );
    push_number(
        &mut out,
        info.target_table_bytes.map_or(0, |bytes| bytes.saturating_add(1)),
    );
    push_bytes(&mut out, info.law.as_deref().unwrap_or_default().as_bytes());
    out
}

/// What a dump says of a keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyspaceHead {
    pub(super) name: String,
    pub(super) is_of_bits: bool,
    pub(super) value_width_units: Option<u64>,
    pub(super) target_table_bytes: Option<u64>,
    pub(super) law: Option<String>,
}

/// Reads fields of a payload one after the other. An error says what was expected.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(payload: &'a [u8]) -> Fields<'a> {
        Fields { rest: payload }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn byte(&mut self, what: &str) -> Result<u8, String> {
        let (&byte, rest) = self
            .rest
            .split_first()
            .ok_or_else(|| format!("expected {what}, found the block's end"))?;
        self.rest = rest;
        Ok(byte)
    }

    pub(super) fn number(&mut self, what: &str) -> Result<u64, String> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 || byte == 0 && shift > 0 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(format!("expected {what}, found a number that is too long"))
    }

    pub(super) fn bytes(&mut self, what: &str) -> Result<&'a [u8], String> {
        let len = self.number(what)?;
        self.taken(len, what)
    }

    pub(super) fn taken(&mut self, len: u64, what: &str) -> Result<&'a [u8], String> {
        let split = usize::try_from(len)
            .ok()
            .and_then(|len| self.rest.split_at_checked(len));
        let (taken, rest) =
            split.ok_or_else(|| format!("expected {what} of {len} bytes, {} are left", self.rest.len()))?;
        self.rest = rest;
        Ok(taken)
    }

    fn text(&mut self, what: &str) -> Result<String, String> {
        let bytes = self.bytes(what)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| format!("expected {what} in UTF-8"))
    }

    /// A keyspace's settings.
    pub(super) fn keyspace(&mut self) -> Result<KeyspaceHead, String> {
        let name = self.text("a keyspace's name")?;
        let is_of_bits = match self.byte("a unit")? {
            0 => false,
            1 => true,
            other => return Err(format!("expected unit 0 or 1, found {other}")),
        };
        let value_width_units = self.number("a width of values")?.checked_sub(1);
        let target_table_bytes = self.number("a size of tables")?.checked_sub(1);
        let law = Some(self.text("the name of a law")?).filter(|law| !law.is_empty());
        if !self.is_empty() {
            return Err(format!(
                "expected the block's end, {} bytes are left",
                self.rest.len()
            ));
        }
        Ok(KeyspaceHead {
            name,
            is_of_bits,
            value_width_units,
            target_table_bytes,
            law,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_have_one_form() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            let mut fields = Fields::new(&bytes);
            assert_eq!(fields.number("a number"), Ok(number));
            assert!(fields.is_empty());
            for cut in 0..bytes.len() {
                assert!(Fields::new(&bytes[..cut]).number("a number").is_err());
            }
        }
        assert!(
            Fields::new(&[0x80, 0]).number("a number").is_err(),
            "a longer form"
        );
        assert!(
            Fields::new(&[0xff; 10]).number("a number").is_err(),
            "over 64 bits"
        );
        assert!(Fields::new(&[3, b'a']).bytes("a key").is_err());
    }

    #[test]
    fn a_checksum_knows_its_place() {
        assert_ne!(checksum(0, RECORDS, b"x"), checksum(1, RECORDS, b"x"));
        assert_ne!(checksum(0, RECORDS, b"x"), checksum(0, END, b"x"));
    }
}
