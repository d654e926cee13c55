//! Opening a table: everything that does not grow with the payload, in this order.
//!
//! 1. the file is long enough for header and footer;
//! 2. footer: magic, version, checksum, features, length of the file, section table;
//! 3. checksums: their own checksum;
//! 4. header: its page's checksum, magic, versions, policy, the unit asked for; header and footer name the
//!    same table;
//! 5. properties: their pages' checksums, every field; then against header and section table;
//! 6. filter, if there is one: its header;
//! 7. directory: its header against the properties.
//!
//! A [`Table`] is the proof that all this held.

use std::ops::Range;
use std::sync::OnceLock;

use super::Table;
use super::index::parse_directory;
use super::pages::Pages;
use super::table::Sections;
use crate::container::{
    FOOTER_LEN_BYTES, Footer, HEADER_LEN_BYTES, Header, Properties, TableError, TableRule, TableSection,
};
use crate::elias_fano::EliasFano;
use crate::filter::{FILTER_HEADER_LEN_BYTES, Filter};
use crate::stream::StreamMeta;
use crate::unit::Unit;

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// Opens the table in `bytes`, which must be a whole file and must not change as long as the table lives.
    ///
    /// # Errors
    ///
    /// Whatever is wrong with the file that can be seen without reading payload, directory, separators and filter.
    pub fn open(bytes: B) -> Result<Self, TableError> {
        let file = bytes.as_ref();
        let len = file.len() as u64;
        let (Some(header), Some(footer)) = (
            file.first_chunk::<HEADER_LEN_BYTES>(),
            file.last_chunk::<FOOTER_LEN_BYTES>(),
        ) else {
            return Err(too_short(len));
        };
        if file.len() < HEADER_LEN_BYTES + FOOTER_LEN_BYTES {
            return Err(too_short(len));
        }
        let footer = Footer::decode(footer, len)?;
        let sections = Sections::new(&footer);

        let crc = crc32fast::hash(&file[sections.checksums.clone()]);
        if crc != footer.checksums_crc {
            let start = sections.checksums.start as u64;
            let (expected, found) = (u64::from(footer.checksums_crc), u64::from(crc));
            return Err(TableError::new(
                TableSection::Checksums,
                start,
                TableRule::Checksum,
                expected,
                found,
            ));
        }

        let pages = Pages::new(sections.checksums.start);
        pages.check(file, &sections, 0..HEADER_LEN_BYTES)?;
        let header = Header::decode(header)?;
        if header.policy.unit != U::KIND {
            let rule = TableRule::Field("bits a unit");
            let found = header.policy.unit.bits();
            return Err(TableError::new(TableSection::Header, 12, rule, U::BITS, found));
        }
        if header.table_id != footer.table_id {
            let (expected, found) = (header.table_id, footer.table_id);
            return Err(TableError::new(
                TableSection::Footer,
                0,
                TableRule::TableId,
                expected,
                found,
            ));
        }

        pages.check(file, &sections, sections.properties.clone())?;
        let properties = Properties::<U>::decode(
            &file[sections.properties.clone()],
            sections.properties.start as u64,
            header.table_id,
            header.creation,
        )?;
        let meta = stream_meta(&header, &properties, &sections)?;
        let filter = open_filter(file, &sections, &pages)?;
        pages.check(file, &sections, directory_header(&sections))?;
        parse_directory(file, &sections, &meta)?;
        Ok(Self {
            bytes,

            properties,
            meta,
            sections,
            pages,
            filter,
            index: OnceLock::new(),
        })
    }
}

/// The part of the directory that is read at opening.
fn directory_header(sections: &Sections) -> Range<usize> {
    let start = sections.directory.start;
    start..sections.directory.end.min(start + EliasFano::HEADER_LEN_BYTES)
}

fn open_filter(file: &[u8], sections: &Sections, pages: &Pages) -> Result<Option<Filter>, TableError> {
    let section = sections.filter.clone();
    if section.is_empty() {
        return Ok(None);
    }
    let start = section.start as u64;
    let Some(header) = file[section.clone()].first_chunk() else {
        let (expected, found) = (FILTER_HEADER_LEN_BYTES as u64, section.len() as u64);
        let rule = TableRule::SectionLength;
        return Err(TableError::new(
            TableSection::Filter,
            start,
            rule,
            expected,
            found,
        ));
    };
    pages.check(
        file,
        sections,
        section.start..section.start + FILTER_HEADER_LEN_BYTES,
    )?;
    let filter = Filter::read(header, section.len()).map_err(|(rule, expected, found)| {
        TableError::new(
            TableSection::Filter,
            start,
            TableRule::Field(rule),
            expected,
            found,
        )
    })?;
    Ok(Some(filter))
}

fn too_short(len: u64) -> TableError {
    let needed = (HEADER_LEN_BYTES + FOOTER_LEN_BYTES) as u64;
    TableError::new(TableSection::File, 0, TableRule::TooShort, needed, len)
}

/// The stream's metadata, after a check that properties, header and section table agree.
fn stream_meta<U: Unit>(
    header: &Header,
    properties: &Properties<U>,
    sections: &Sections,
) -> Result<StreamMeta, TableError> {
    let start = sections.properties.start as u64;
    let error = |rule: &'static str, expected, found| {
        Err(TableError::new(
            TableSection::Properties,
            start,
            TableRule::Field(rule),
            expected,
            found,
        ))
    };
    let meta = StreamMeta {
        policy: header.policy,
        common_width: properties.common_width,
        record_count: properties.record_count,
        extent_units: properties.extent_units,
        last_key_units: U::len(U::as_str(&properties.last_key)),
    };
    meta.validate::<U>().map_err(|error| TableError::Stream {
        section: TableSection::Properties,
        offset: start,
        error,
    })?;
    let payload_len = meta.payload_len_bytes().unwrap_or(u64::MAX);
    if payload_len != sections.payload.len() as u64 {
        return error(
            "length of the payload for the extent: bytes",
            payload_len,
            sections.payload.len() as u64,
        );
    }
    // Every record has at least two counts of at least one unit.
    if properties.record_count > properties.extent_units / 2 {
        return error(
            "records: at most",
            properties.extent_units / 2,
            properties.record_count,
        );
    }
    let (first, last) = (U::as_str(&properties.first_key), U::as_str(&properties.last_key));
    if first > last || (properties.record_count <= 1 && first != last) {
        return error("order of first and last key", 0, 1);
    }
    let common = properties.common_width.unwrap_or(0);
    if common
        .checked_mul(properties.record_count)
        .is_none_or(|units| units > properties.extent_units)
    {
        return error(
            "values of common width: units at most",
            properties.extent_units,
            common,
        );
    }
    Ok(meta)
}
