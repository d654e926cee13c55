//! Directory and separators of an open table: checked and measured once, at the first look-up.
//!
//! Both are small (about a byte a record together), and a look-up touches them in many places; so their pages are
//! all checked together, and after that a look-up asks once whether they were. Where their parts lie is kept as
//! ranges of the file, from which borrowed views are made at each use.

use std::ops::Range;

use super::Table;
use super::table::Sections;
use crate::container::{TableError, TableRule, TableSection};
use crate::elias_fano::{EliasFanoParts, EliasFanoView};
use crate::separators::Separators;
use crate::stream::StreamMeta;
use crate::unit::Unit;

/// Where the parts of directory and separators lie, in bytes of the file.
#[derive(Debug)]
pub(super) struct Index {
    entries: u64,
    universe: u64,
    low_width: u32,
    low: Range<usize>,
    high: Range<usize>,
    samples: Range<usize>,
    sparse: Range<usize>,
    separators: Range<usize>,
    separator_samples: Range<usize>,
    separator_list: Range<usize>,
    separator_count: u64,
    /// Some of the heads of the separators' root.
    pub(super) root_sample: Vec<u64>,
}

impl Index {
    /// Measures the parts, whose pages have been checked.
    fn new<U: Unit>(file: &[u8], sections: &Sections, meta: &StreamMeta) -> Result<Self, TableError> {
        let directory = parse_directory(file, sections, meta)?.parts();
        let mut at = sections.directory.start + crate::elias_fano::EliasFano::HEADER_LEN_BYTES;
        let mut next = |part: &[u8]| {
            at += part.len();
            at - part.len()..at
        };
        let (low, high) = (next(directory.low), next(directory.high));
        let (samples, sparse) = (next(directory.samples), next(directory.sparse));

        let count = meta.block_count().saturating_sub(1);
        let start = sections.separators.start;
        let section = &file[sections.separators.clone()];
        let places = Separators::<U>::places(section, count)
            .ok_or_else(|| separators_error(sections, "header of the separators for blocks", count))?;
        let root_sample = Separators::<U>::from_checked(
            section,
            &section[places.samples.clone()],
            &section[places.list.clone()],
            count,
        )
        .root_sample();
        let within = |range: Range<usize>| start + range.start..start + range.end;
        Ok(Self {
            entries: directory.entries,
            universe: directory.universe,
            low_width: directory.low_width,
            low,
            high,
            samples,
            sparse,
            separators: sections.separators.clone(),
            separator_samples: within(places.samples),
            separator_list: within(places.list),
            separator_count: count,
            root_sample,
        })
    }

    #[inline]
    pub(super) fn directory<'t>(&self, file: &'t [u8]) -> EliasFanoView<'t> {
        EliasFanoView::from_checked(EliasFanoParts {
            entries: self.entries,
            universe: self.universe,
            low_width: self.low_width,
            low: &file[self.low.clone()],
            high: &file[self.high.clone()],
            samples: &file[self.samples.clone()],
            sparse: &file[self.sparse.clone()],
        })
    }

    #[inline]
    pub(super) fn separators<'t, U: Unit>(&self, file: &'t [u8]) -> Separators<'t, U> {
        Separators::from_checked(
            &file[self.separators.clone()],
            &file[self.separator_samples.clone()],
            &file[self.separator_list.clone()],
            self.separator_count,
        )
    }
}

/// The directory, whose header must agree with the stream.
pub(super) fn parse_directory<'t>(
    file: &'t [u8],
    sections: &Sections,
    meta: &StreamMeta,
) -> Result<EliasFanoView<'t>, TableError> {
    let start = sections.directory.start as u64;
    let view =
        EliasFanoView::parse(&file[sections.directory.clone()]).map_err(|error| TableError::Stream {
            section: TableSection::Directory,
            offset: start,
            error: error.into(),
        })?;
    let common = meta.common_units_before(meta.record_count);
    for (rule, expected, found) in [
        ("entries", meta.block_count() + 1, view.entries()),
        ("universe", meta.extent_units - common, view.universe()),
    ] {
        if found != expected {
            let rule = TableRule::Field(rule);
            return Err(TableError::new(
                TableSection::Directory,
                start,
                rule,
                expected,
                found,
            ));
        }
    }
    Ok(view)
}

#[cold]
pub(super) fn separators_error(sections: &Sections, what: &'static str, expected: u64) -> TableError {
    let start = sections.separators.start as u64;
    TableError::new(
        TableSection::Separators,
        start,
        TableRule::Field(what),
        expected,
        0,
    )
}

impl<B: AsRef<[u8]> + Send + Sync, U: Unit> Table<B, U> {
    /// Directory and separators, checked.
    #[inline]
    pub(super) fn index(&self) -> Result<&Index, TableError> {
        match self.index.get() {
            Some(index) => Ok(index),
            None => self.load_index(),
        }
    }

    #[cold]
    fn load_index(&self) -> Result<&Index, TableError> {
        self.check(self.sections.directory.clone())?;
        self.check(self.sections.separators.clone())?;
        let index = Index::new::<U>(self.bytes.as_ref(), &self.sections, &self.meta)?;
        Ok(self.index.get_or_init(|| index))
    }

    /// An error in the separator of a block.
    #[cold]
    pub(super) fn separators_error(&self, block: u64) -> TableError {
        separators_error(&self.sections, "separator of block", block)
    }
}
