//! An open table.

use std::ops::Range;
use std::sync::OnceLock;

use super::TableCursor;
use super::index::Index;
use super::pages::Pages;
use crate::container::{Footer, HEADER_LEN_BYTES, Properties, TableError, TableSection};
use crate::error::FormatError;
use crate::filter::Filter;
use crate::stream::{EncodedView, StreamMeta};
use crate::unit::{Byte, Unit};

/// Where the sections lie in the file, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Sections {
    pub(super) payload: Range<usize>,
    pub(super) directory: Range<usize>,
    pub(super) separators: Range<usize>,
    pub(super) filter: Range<usize>,
    pub(super) properties: Range<usize>,
    pub(super) checksums: Range<usize>,
}

impl Sections {
    pub(super) fn new(footer: &Footer) -> Self {
        Self {
            payload: footer.section(TableSection::Payload),
            directory: footer.section(TableSection::Directory),
            separators: footer.section(TableSection::Separators),
            filter: footer.section(TableSection::Filter),
            properties: footer.section(TableSection::Properties),
            checksums: footer.section(TableSection::Checksums),
        }
    }

    /// The section in which a byte lies; padding belongs to the section before it.
    pub(super) fn at(&self, offset: usize) -> TableSection {
        let starts = [
            (self.properties.start, TableSection::Properties),
            (self.filter.start, TableSection::Filter),
            (self.separators.start, TableSection::Separators),
            (self.directory.start, TableSection::Directory),
            (HEADER_LEN_BYTES, TableSection::Payload),
        ];
        let found = starts.iter().find(|&&(start, section)| {
            offset >= start && (section != TableSection::Filter || !self.filter.is_empty())
        });
        found.map_or(TableSection::Header, |&(_, section)| section)
    }
}

/// A record that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Its number in the table, from 0.
    pub ordinal: u64,
    /// The bytes of the file in which its value lies. Of a bit table the first and the last byte may hold other
    /// bits too.
    pub value_range: Range<usize>,
    /// Where the value starts in the payload, in units.
    pub(super) value_start_units: u64,
    /// Its length in units.
    pub(super) value_units: u64,
}

/// An open table over the bytes of its file: a mapping, or memory.
///
/// Everything in it has been checked that does not grow with the payload; the rest is checked page by page as it is
/// read. All methods may be called from any thread at once. Reading allocates nothing, but for the first look-up: it
/// keeps with the table a sample of the separators, 8 bytes for 64 blocks.
#[derive(Debug)]
pub struct Table<B, U: Unit = Byte> {
    pub(super) bytes: B,
    pub(super) properties: Properties<U>,
    pub(super) meta: StreamMeta,
    pub(super) sections: Sections,
    pub(super) pages: Pages,
    pub(super) filter: Option<Filter>,
    pub(super) index: OnceLock<Index>,
}

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// What the table says of itself.
    pub fn properties(&self) -> &Properties<U> {
        &self.properties
    }

    /// What its stream says of itself.
    pub fn meta(&self) -> &StreamMeta {
        &self.meta
    }

    /// How many records there are.
    pub fn record_count(&self) -> u64 {
        self.meta.record_count
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &B {
        &self.bytes
    }

    /// The stream in the table, to be read by others, after all pages it lies in have been checked.
    ///
    /// # Errors
    ///
    /// A page that is wrong; a directory that does not fit its own header.
    pub fn encoded(&self) -> Result<EncodedView<'_>, TableError> {
        self.verify_payload()?;
        let file = self.bytes.as_ref();
        Ok(EncodedView {
            meta: self.meta,
            payload: &file[self.sections.payload.clone()],
            readable: &file[self.sections.payload.start..],
            directory: self.index()?.directory(file),
        })
    }

    /// Checks all pages of payload and directory. About 70 microseconds a mebibyte that was not checked before.
    ///
    /// # Errors
    ///
    /// A page that is wrong.
    pub fn verify_payload(&self) -> Result<(), TableError> {
        self.check(self.sections.payload.clone())?;
        self.check(self.sections.directory.clone())
    }

    /// A cursor over the records, before the first one.
    pub fn cursor(&self) -> TableCursor<'_, B, U> {
        TableCursor::new(self)
    }

    /// The value of a record that this table located.
    ///
    /// # Panics
    ///
    /// If another table located it.
    pub fn value(&self, located: &Located) -> U::Str<'_> {
        let payload = &self.bytes.as_ref()[self.sections.payload.clone()];
        U::string_at(payload, located.value_start_units, located.value_units)
            .expect("a record is asked for in the table it was found in")
    }

    /// The bytes of the payload, checked or not.
    #[inline]
    pub(super) fn payload(&self) -> &[u8] {
        &self.bytes.as_ref()[self.sections.payload.clone()]
    }

    /// Checks the pages that a range of the file touches.
    #[inline]
    pub(super) fn check(&self, range: Range<usize>) -> Result<(), TableError> {
        self.pages.check(self.bytes.as_ref(), &self.sections, range)
    }

    /// An error of the stream, with the place of its section.
    #[cold]
    pub(super) fn stream_error(&self, section: TableSection, error: FormatError) -> TableError {
        let start = match section {
            TableSection::Directory => self.sections.directory.start,
            _ => self.sections.payload.start,
        };
        TableError::Stream {
            section,
            offset: start as u64,
            error,
        }
    }

    /// Bytes of the file in which units `start..end` of the payload lie.
    #[inline]
    pub(super) fn file_range(&self, start_units: u64, end_units: u64) -> Range<usize> {
        let base = self.sections.payload.start;
        let (start, end) = (start_units * U::BITS / 8, (end_units * U::BITS).div_ceil(8));
        base + crate::elias_fano::to_index(start)..base + crate::elias_fano::to_index(end)
    }
}
