//! What is gathered from the records while a table is written, and everything that follows the payload.

use std::collections::TryReserveError;
use std::io::Write;

use super::{FilterPolicy, TableOptions, TableSummary, TableWriteError};
use crate::container::{Footer, PageWriter, Properties, SECTION_ALIGNMENT_BYTES, TableSection};
use crate::elias_fano::EliasFano;
use crate::filter::{build as build_filter, planned_block_count};
use crate::separators::SeparatorsBuilder;
use crate::stream::StreamMeta;
use crate::unit::Unit;

/// Gathered from every record in order: bounds, totals, separators, hashes.
#[derive(Debug)]
pub(super) struct RecordTotals<U: Unit> {
    records_per_block: u64,
    record_count: u64,
    first_key: U::Owned,
    ordinary_front_coding: bool,
    key_units_total: u64,
    literal_units_total: u64,
    value_units_total: u64,
    key_units_max: u64,
    value_units_max: u64,
    separators: SeparatorsBuilder<U>,
    filter: FilterPolicy,
    /// The hash of every key, if there may be a filter.
    hashes: Vec<u64>,
}

/// A stream whose payload is written.
#[derive(Debug)]
pub(super) struct Written<U: Unit> {
    pub(super) payload_start: u64,
    pub(super) meta: StreamMeta,
    pub(super) directory: EliasFano,
    pub(super) last_key: U::Owned,
}

impl<U: Unit> RecordTotals<U> {
    pub(super) fn new(options: &TableOptions) -> Self {
        Self {
            records_per_block: u64::from(options.policy.records_per_block.get()),
            record_count: 0,
            first_key: U::Owned::default(),
            ordinary_front_coding: true,
            key_units_total: 0,
            literal_units_total: 0,
            value_units_total: 0,
            key_units_max: 0,
            value_units_max: 0,
            separators: SeparatorsBuilder::default(),
            filter: options.filter,
            hashes: Vec::new(),
        }
    }

    pub(super) fn record_count(&self) -> u64 {
        self.record_count
    }

    /// Makes room for the next record, so that [`push`](Self::push) needs no memory.
    pub(super) fn try_reserve(&mut self, key: U::Str<'_>, lcp_units: u64) -> Result<(), TryReserveError> {
        if self.record_count == 0 {
            U::try_reserve(&mut self.first_key, U::len(key))?;
        } else if self.record_count.is_multiple_of(self.records_per_block) {
            self.separators.try_reserve(lcp_units + 1)?;
        }
        self.hashes.try_reserve(1)
    }

    /// Takes note of the next record. `lcp_units` is the common prefix with the key before it, `literal_units` what
    /// the frame holds of the key.
    pub(super) fn push(&mut self, key: U::Str<'_>, value_units: u64, lcp_units: u64, literal_units: u64) {
        let key_units = U::len(key);
        if self.record_count == 0 {
            U::push(&mut self.first_key, key);
        } else if self.record_count.is_multiple_of(self.records_per_block) {
            self.separators.push(U::slice(key, 0, lcp_units + 1));
        }
        if self.filter != FilterPolicy::None {
            self.hashes.push(U::hash(key));
        }
        self.record_count += 1;
        self.ordinary_front_coding &= literal_units == key_units - lcp_units;
        self.key_units_total += key_units;
        self.literal_units_total += literal_units;
        self.value_units_total += value_units;
        self.key_units_max = self.key_units_max.max(key_units);
        self.value_units_max = self.value_units_max.max(value_units);
    }

    /// Writes everything after the payload.
    pub(super) fn finish<W: Write>(
        self,
        mut out: PageWriter<W>,
        stream: Written<U>,
        options: &TableOptions,
    ) -> Result<(W, TableSummary), TableWriteError> {
        let mut sections = vec![(TableSection::Payload, stream.payload_start..out.len_bytes())];
        let mut section = |out: &mut PageWriter<W>, section: TableSection, bytes: &[u8]| {
            let start = out.align(SECTION_ALIGNMENT_BYTES)?;
            out.write_all(bytes)?;
            sections.push((section, start..out.len_bytes()));
            Ok::<(), TableWriteError>(())
        };
        let mut directory = Vec::new();
        stream.directory.write_to(&mut directory)?;
        section(&mut out, TableSection::Directory, &directory)?;
        let separators = self.separators.encode().ok_or(TableWriteError::TooLarge)?;
        section(&mut out, TableSection::Separators, &separators)?;
        let table_blocks = stream.meta.block_count();
        if let Some(blocks) = planned_block_count(self.filter, self.record_count, table_blocks) {
            section(
                &mut out,
                TableSection::Filter,
                &build_filter(&self.hashes, blocks)?,
            )?;
        }
        let properties = self.into_properties(stream, options);
        section(&mut out, TableSection::Properties, &properties.encode())?;

        let start = out.align(SECTION_ALIGNMENT_BYTES)?;
        let (mut out, end, checksums_crc) = out.finish()?;
        sections.push((TableSection::Checksums, start..end));
        let footer = Footer::new(options.table_id, checksums_crc, &sections);
        out.write_all(&footer.encode())?;
        Ok((out, summary(properties, &footer)))
    }

    fn into_properties(self, stream: Written<U>, options: &TableOptions) -> Properties<U> {
        Properties {
            table_id: options.table_id,
            creation: options.creation,
            record_count: self.record_count,
            first_key: self.first_key,
            last_key: stream.last_key,
            common_width: stream.meta.common_width,
            ordinary_front_coding: self.ordinary_front_coding,
            composition_law: options.composition_law.clone(),
            extent_units: stream.meta.extent_units,
            key_units_total: self.key_units_total,
            literal_units_total: self.literal_units_total,
            value_units_total: self.value_units_total,
            key_units_max: self.key_units_max,
            value_units_max: self.value_units_max,
        }
    }
}

fn summary<U: Unit>(properties: Properties<U>, footer: &Footer) -> TableSummary {
    let len = |section| footer.section(section).len() as u64;
    TableSummary {
        table_id: properties.table_id,
        file_len_bytes: footer.file_len_bytes,
        record_count: properties.record_count,
        first_key_units: U::len(U::as_str(&properties.first_key)),
        first_key: U::into_bytes(properties.first_key),
        last_key_units: U::len(U::as_str(&properties.last_key)),
        last_key: U::into_bytes(properties.last_key),
        common_width: properties.common_width,
        ordinary_front_coding: properties.ordinary_front_coding,
        payload_len_bytes: len(TableSection::Payload),
        filter_len_bytes: len(TableSection::Filter),
        index_len_bytes: len(TableSection::Directory) + len(TableSection::Separators),
        key_units_total: properties.key_units_total,
        literal_units_total: properties.literal_units_total,
        value_units_total: properties.value_units_total,
    }
}
