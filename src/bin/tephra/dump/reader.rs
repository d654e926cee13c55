//! Reads a dump, strictly: every checksum, every count, the end mark, and nothing behind it.

use std::io::Read;

use super::format::{END, Fields, KEYSPACE, KeyspaceHead, MAGIC, RECORDS, checksum};

/// A block that was read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    Keyspace(KeyspaceHead),
    /// The records' payload; [`records_of_bytes`] and [`records_of_bits`] take it apart.
    Records(Vec<u8>),
    /// The dump is whole: numbers of keyspaces and records.
    End {
        keyspace_count: u64,
        record_count: u64,
    },
}

/// A dump that is being read.
pub(super) struct DumpReader<R> {
    from: R,
    block_count: u64,
    offset: u64,
}

impl<R: Read> DumpReader<R> {
    pub(super) fn new(from: R) -> Result<Self, String> {
        let mut reader = DumpReader {
            from,
            block_count: 0,
            offset: 0,
        };
        let magic = reader.take(MAGIC.len() as u64, "the first line")?;
        if magic != MAGIC {
            return Err("it does not begin with \"TEPHRA DUMP 1\"".to_owned());
        }
        Ok(reader)
    }

    /// Reads so many bytes. Memory grows with what is there, not with what a length says.
    fn take(&mut self, len: u64, what: &str) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let read = self.from.by_ref().take(len).read_to_end(&mut bytes);
        read.map_err(|error| format!("cannot be read: {error}"))?;
        if bytes.len() as u64 != len {
            return Err(format!(
                "it is cut off at byte {}, in {what}: the end mark is missing",
                self.offset + bytes.len() as u64
            ));
        }
        self.offset += len;
        Ok(bytes)
    }

    /// The next block; after the end mark there is none to ask for.
    pub(super) fn next(&mut self) -> Result<Block, String> {
        let at = self.offset;
        let head = self.take(5, "a block's head")?;
        let (kind, len_bytes) = (head[0], u32::from_le_bytes([head[1], head[2], head[3], head[4]]));
        let payload = self.take(u64::from(len_bytes), "a block")?;
        let stored = self.take(4, "a checksum")?;
        let found = checksum(self.block_count, kind, &payload).to_le_bytes();
        if stored != found {
            return Err(format!("the checksum of the block at byte {at} is wrong"));
        }
        self.block_count += 1;
        let block = self.parse(kind, payload);
        block.map_err(|reason| format!("the block at byte {at}: {reason}"))
    }

    fn parse(&mut self, kind: u8, payload: Vec<u8>) -> Result<Block, String> {
        let mut fields = Fields::new(&payload);
        match kind {
            KEYSPACE => Ok(Block::Keyspace(fields.keyspace()?)),
            RECORDS => Ok(Block::Records(payload)),
            END => {
                let keyspace_count = fields.number("a number of keyspaces")?;
                let record_count = fields.number("a number of records")?;
                let mut behind = [0];
                let is_last = matches!(self.from.read(&mut behind), Ok(0));
                if !fields.is_empty() || !is_last {
                    return Err("something follows the end mark".to_owned());
                }
                Ok(Block::End {
                    keyspace_count,
                    record_count,
                })
            }
            other => Err(format!("expected kind K, R or E, found {other:#04x}")),
        }
    }
}

/// Hands out the records of a block of byte strings.
pub(super) fn records_of_bytes<E: From<String>>(
    payload: &[u8],
    mut each: impl FnMut(&[u8], &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut fields = Fields::new(payload);
    while !fields.is_empty() {
        let key = fields.bytes("a key")?;
        each(key, fields.bytes("a value")?)?;
    }
    Ok(())
}

/// Hands out the records of a block of bit strings.
pub(super) fn records_of_bits<E: From<String>>(
    payload: &[u8],
    mut each: impl FnMut(tephradb::BitStr<'_>, tephradb::BitStr<'_>) -> Result<(), E>,
) -> Result<(), E> {
    fn string<'a>(fields: &mut Fields<'a>, what: &str) -> Result<tephradb::BitStr<'a>, String> {
        let len_bits = fields.number(what)?;
        let bytes = fields.taken(len_bits.div_ceil(8), what)?;
        let padding = len_bits.next_multiple_of(8) - len_bits;
        if bytes
            .last()
            .is_some_and(|last| u64::from(last.trailing_zeros()) < padding)
        {
            return Err(format!("expected {what} padded with zeros"));
        }
        tephradb::BitStr::new(bytes, 0, len_bits).ok_or_else(|| format!("expected {what}"))
    }
    let mut fields = Fields::new(payload);
    while !fields.is_empty() {
        let key = string(&mut fields, "a key")?;
        each(key, string(&mut fields, "a value")?)?;
    }
    Ok(())
}
