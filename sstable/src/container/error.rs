//! What can be wrong with a table file.

use std::fmt;

use crate::error::FormatError;

/// The parts of a table file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TableSection {
    /// The file as a whole.
    File,
    /// Magic, versions, policy, table id.
    Header,
    /// The frames.
    Payload,
    /// Where the blocks are.
    Directory,
    /// Which keys the blocks start with.
    Separators,
    /// Hashes of the keys.
    Filter,
    /// Bounds, counts and totals.
    Properties,
    /// One CRC-32 for every page.
    Checksums,
    /// The section table.
    Footer,
}

impl fmt::Display for TableSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "file",
            Self::Header => "header",
            Self::Payload => "payload",
            Self::Directory => "directory",
            Self::Separators => "separators",
            Self::Filter => "filter",
            Self::Properties => "properties",
            Self::Checksums => "checksums",
            Self::Footer => "footer",
        })
    }
}

/// The rule of the container that was broken; it says how `expected` and `found` are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableRule {
    /// The file is too short to hold header and footer: bytes needed, bytes there.
    #[error("file too short: bytes")]
    TooShort,
    /// The file is not as long as its footer says: bytes.
    #[error("file length: bytes")]
    FileLength,
    /// Not the magic number of this section.
    #[error("magic number")]
    Magic,
    /// A version that this reader does not know.
    #[error("unknown version")]
    Version,
    /// Features that this reader does not know and must not ignore: those it knows, those asked for.
    #[error("unknown features")]
    Features,
    /// A CRC-32 over the section differs.
    #[error("checksum")]
    Checksum,
    /// The CRC-32 of a page differs; the offset is the page's.
    #[error("checksum of the page")]
    PageChecksum,
    /// Header and footer are of different tables: the id of the header, that of the footer.
    #[error("table id")]
    TableId,
    /// A section that must be there is not: its number.
    #[error("missing section")]
    MissingSection,
    /// A section is listed twice, or not in order.
    #[error("section number above")]
    SectionOrder,
    /// A section starts where it must not: the lowest legal offset.
    #[error("section starts at or after")]
    SectionStart,
    /// A section ends where it must not: the highest legal end.
    #[error("section ends at or before")]
    SectionEnd,
    /// A section has a wrong length: bytes.
    #[error("section length: bytes")]
    SectionLength,
    /// A field has a value that it cannot have, or one that disagrees with another field.
    #[error("{0}")]
    Field(&'static str),
    /// Something that is counted again at a verification differs from what the table says.
    #[error("recounted {0}")]
    Recount(&'static str),
}

/// What is wrong with a table file, and where. The layer above adds the file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A rule of the container is broken.
    #[error("{section}, byte {offset}: {rule}: expected {expected}, found {found}")]
    Container {
        /// The section.
        section: TableSection,
        /// Where, in bytes from the start of the file.
        offset: u64,
        /// The rule.
        rule: TableRule,
        /// What it asks for.
        expected: u64,
        /// What is there.
        found: u64,
    },
    /// A rule of the stream in the table is broken.
    #[error("{section} from byte {offset} on: {error}")]
    Stream {
        /// The section.
        section: TableSection,
        /// Where the section starts, in bytes from the start of the file.
        offset: u64,
        /// The rule, and the place in the section.
        error: FormatError,
    },
}

impl TableError {
    #[cold]
    pub(crate) fn new(
        section: TableSection,
        offset: u64,
        rule: TableRule,
        expected: u64,
        found: u64,
    ) -> Self {
        Self::Container {
            section,
            offset,
            rule,
            expected,
            found,
        }
    }

    /// The section in which something is wrong.
    pub fn section(&self) -> TableSection {
        match self {
            Self::Container { section, .. } | Self::Stream { section, .. } => *section,
        }
    }
}
