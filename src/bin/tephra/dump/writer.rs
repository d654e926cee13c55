//! Writes a dump, block by block.

use std::io::{self, Write};

use tephradb::{BitString, KeyspaceInfo};

use super::format::{
    BLOCK_BYTES, END, KEYSPACE, MAGIC, RECORDS, checksum, keyspace_payload, push_bytes, push_number,
};

/// A dump that is being written.
pub(super) struct DumpWriter<W> {
    out: W,
    block_count: u64,
    records: Vec<u8>,
    keyspace_count: u64,
    record_count: u64,
}

impl<W: Write> DumpWriter<W> {
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(DumpWriter {
            out,
            block_count: 0,
            records: Vec::new(),
            keyspace_count: 0,
            record_count: 0,
        })
    }

    /// Begins a keyspace: the records that follow are its.
    pub(super) fn keyspace(&mut self, info: &KeyspaceInfo) -> io::Result<()> {
        self.end_records()?;
        self.keyspace_count += 1;
        self.block(KEYSPACE, &keyspace_payload(info))
    }

    /// A record of byte strings.
    pub(super) fn bytes(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        push_bytes(&mut self.records, key);
        push_bytes(&mut self.records, value);
        self.record_added()
    }

    /// A record of bit strings: lengths in bits, then the bits in whole bytes.
    pub(super) fn bits(&mut self, key: &BitString, value: &BitString) -> io::Result<()> {
        for string in [key, value] {
            push_number(&mut self.records, string.len());
            self.records.extend_from_slice(string.as_bytes());
        }
        self.record_added()
    }

    fn record_added(&mut self) -> io::Result<()> {
        self.record_count += 1;
        if self.records.len() >= BLOCK_BYTES {
            self.end_records()?;
        }
        Ok(())
    }

    fn end_records(&mut self) -> io::Result<()> {
        if self.records.is_empty() {
            return Ok(());
        }
        let records = std::mem::take(&mut self.records);
        self.block(RECORDS, &records)?;
        self.records = records;
        self.records.clear();
        Ok(())
    }

    fn block(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let len_bytes = u32::try_from(payload.len())
            .map_err(|_| io::Error::other("a record does not fit a block of a dump"))?;
        self.out.write_all(&[kind])?;
        self.out.write_all(&len_bytes.to_le_bytes())?;
        self.out.write_all(payload)?;
        let sum = checksum(self.block_count, kind, payload);
        self.block_count += 1;
        self.out.write_all(&sum.to_le_bytes())
    }

    /// Writes the end mark. Gives back what was written to, and the number of keyspaces and records.
    pub(super) fn finish(mut self) -> io::Result<(W, u64, u64)> {
        self.end_records()?;
        let mut counts = Vec::new();
        push_number(&mut counts, self.keyspace_count);
        push_number(&mut counts, self.record_count);
        self.block(END, &counts)?;
        self.out.flush()?;
        Ok((self.out, self.keyspace_count, self.record_count))
    }
}
