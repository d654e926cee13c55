//! What is gathered from the records while a table is written, and everything that follows the payload.

use std::io::Write;
use std::ops::Range;

use super::{TableOptions, TableSummary, TableWriteError};
use crate::container::{Footer, PageWriter, Properties, SECTION_ALIGNMENT_BYTES, TableSection};
use crate::elias_fano::EliasFano;
use crate::separators::SeparatorsBuilder;
use crate::stream::StreamMeta;
use crate::unit::Unit;

/// Gathered from every record in order: bounds, totals, separators.
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
        }
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
        self.record_count += 1;
        self.ordinary_front_coding &= literal_units == key_units - lcp_units;
        self.key_units_total += key_units;
        self.literal_units_total += literal_units;
        self.value_units_total += value_units;
        self.key_units_max = self.key_units_max.max(key_units);
        self.value_units_max = self.value_units_max.max(value_units);
    }

    fn into_properties(
        self,
        meta: &StreamMeta,
        last_key: U::Owned,
        options: &TableOptions,
    ) -> (Properties<U>, SeparatorsBuilder<U>) {
        let properties = Properties {
            table_id: options.table_id,
            creation: options.creation,
            record_count: self.record_count,
            first_key: self.first_key,
            last_key,
            common_width: meta.common_width,
            ordinary_front_coding: self.ordinary_front_coding,
            composition_law: options.composition_law.clone(),
            extent_units: meta.extent_units,
            key_units_total: self.key_units_total,
            literal_units_total: self.literal_units_total,
            value_units_total: self.value_units_total,
            key_units_max: self.key_units_max,
            value_units_max: self.value_units_max,
        };
        (properties, self.separators)
    }

    /// Writes everything after the payload, which started at `payload_start` and ends where `out` stands.
    pub(super) fn finish<W: Write>(
        self,
        mut out: PageWriter<W>,
        payload_start: u64,
        meta: &StreamMeta,
        directory: &EliasFano,
        last_key: U::Owned,
        options: &TableOptions,
    ) -> Result<(W, TableSummary), TableWriteError> {
        let (properties, separators) = self.into_properties(meta, last_key, options);
        let mut sections = vec![(TableSection::Payload, payload_start..out.len_bytes())];
        let mut section =
            |out: &mut PageWriter<W>, section, write: &dyn Fn(&mut PageWriter<W>) -> std::io::Result<()>| {
                out.align(SECTION_ALIGNMENT_BYTES)?;
                let start = out.len_bytes();
                write(out)?;
                let range = start..out.len_bytes();
                sections.push((section, range.clone()));
                Ok::<Range<u64>, TableWriteError>(range)
            };
        let index_start = section(&mut out, TableSection::Directory, &|out| directory.write_to(out))?.start;
        let separators = separators.encode().ok_or(TableWriteError::TooLarge)?;
        let index_end = section(&mut out, TableSection::Separators, &|out| {
            out.write_all(&separators)
        })?
        .end;
        let encoded = properties.encode();
        section(&mut out, TableSection::Properties, &|out| out.write_all(&encoded))?;

        out.align(SECTION_ALIGNMENT_BYTES)?;
        let checksums_start = out.len_bytes();
        let (mut out, checksums_end, checksums_crc) = out.finish()?;
        sections.push((TableSection::Checksums, checksums_start..checksums_end));
        let footer = Footer::new(options.table_id, checksums_crc, &sections);
        out.write_all(&footer.encode())?;

        let payload = footer.section(TableSection::Payload);
        let summary = TableSummary {
            table_id: options.table_id,
            file_len_bytes: footer.file_len_bytes,
            record_count: properties.record_count,
            first_key_units: U::len(U::as_str(&properties.first_key)),
            first_key: U::into_bytes(properties.first_key),
            last_key_units: U::len(U::as_str(&properties.last_key)),
            last_key: U::into_bytes(properties.last_key),
            common_width: properties.common_width,
            payload_len_bytes: payload.len() as u64,
            filter_len_bytes: footer.section(TableSection::Filter).len() as u64,
            index_len_bytes: index_end - index_start,
            key_units_total: properties.key_units_total,
            literal_units_total: properties.literal_units_total,
            value_units_total: properties.value_units_total,
        };
        Ok((out, summary))
    }
}
