//! The file around a stream: header, sections, page checksums, footer. `FORMAT.md` is the specification.
//!
//! ```text
//! 0        header      64 bytes: magic, versions, policy, table id, creation
//! 64       payload     |
//!          directory   |  each starts at a multiple of 64; zeros between
//!          separators  |
//!          filter      |  may be absent
//!          properties  |
//!          checksums   CRC-32 of every 4,096 bytes of all the above
//! -256     footer      section table, checksum of the checksums, its own checksum, magic
//! ```
//!
//! Everything is written once, in order. Reading starts at the end.

mod checksums;
mod error;
mod footer;
mod header;
mod properties;

pub(crate) use checksums::{PAGE_LEN_BYTES, PageWriter, page_count};
pub use error::{TableError, TableRule, TableSection};
pub(crate) use footer::{FOOTER_LEN_BYTES, Footer};
pub use header::TABLE_MAGIC;
pub(crate) use header::{HEADER_LEN_BYTES, Header};
pub use properties::Properties;

/// Every section starts at a multiple of so many bytes: a cache line.
pub(crate) const SECTION_ALIGNMENT_BYTES: u64 = 64;
