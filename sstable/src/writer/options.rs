//! What a table is to be like, what it became, and why it could not be written.

use std::collections::TryReserveError;
use std::io;

use super::AppendError;
use crate::elias_fano::EliasFanoError;
use crate::error::FormatError;
use crate::policy::Policy;

/// Whether tables carry a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterPolicy {
    /// Never.
    None,
    /// So many bits a key, where a filter pays.
    BitsPerKey(u8),
}

impl Default for FilterPolicy {
    /// Ten bits a key: about one miss in a hundred reads a block for nothing.
    fn default() -> Self {
        Self::BitsPerKey(10)
    }
}

/// The name of the law under which a newer value replaces an older one.
pub const REPLACE_LAW: &str = "replace";

/// What a table is to be like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableOptions {
    /// How the stream is encoded.
    pub policy: Policy,
    /// The width of every value in units, if it is known before the first record: then no record says it.
    pub common_width: Option<u64>,
    /// Whether to add a filter.
    pub filter: FilterPolicy,
    /// The table's id, the number of its file as a rule.
    pub table_id: u64,
    /// When the table is made, on a clock of the caller.
    pub creation: u64,
    /// The name of the law by which values of equal keys are composed.
    pub composition_law: String,
}

impl TableOptions {
    /// Options with the given policy and id, a filter where it pays, and the law "replace".
    #[must_use]
    pub fn new(policy: Policy, table_id: u64) -> Self {
        Self {
            policy,
            common_width: policy.fixed_width(),
            filter: FilterPolicy::default(),
            table_id,
            creation: 0,
            composition_law: REPLACE_LAW.to_owned(),
        }
    }
}

/// What a finished table is like. Keys are bytes, zero-padded where the unit is a bit; lengths count units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSummary {
    /// The table's id, as the options had it.
    pub table_id: u64,
    /// Length of the file.
    pub file_len_bytes: u64,
    /// How many records there are.
    pub record_count: u64,
    /// The smallest key; empty if there are no records.
    pub first_key: Vec<u8>,
    /// Its length.
    pub first_key_units: u64,
    /// The largest key; empty if there are no records.
    pub last_key: Vec<u8>,
    /// Its length.
    pub last_key_units: u64,
    /// The width of every value, if records do not say it.
    pub common_width: Option<u64>,
    /// Whether every frame retains all that its key shares with the one before.
    pub ordinary_front_coding: bool,
    /// Length of the payload.
    pub payload_len_bytes: u64,
    /// Length of the filter; 0 if there is none.
    pub filter_len_bytes: u64,
    /// Length of the directory and the separators.
    pub index_len_bytes: u64,
    /// Length of all keys.
    pub key_units_total: u64,
    /// Length of what the frames hold of the keys.
    pub literal_units_total: u64,
    /// Length of all values.
    pub value_units_total: u64,
}

/// Why a record was not appended, or a table not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableWriteError {
    /// A record was not taken, or the policy is impossible.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// Memory ran out for the index.
    #[error("no memory for the table's index: {0}")]
    OutOfMemory(#[from] TryReserveError),
    /// The directory could not be built.
    #[error("directory: {0}")]
    Directory(#[from] EliasFanoError),
    /// The stream handed over is damaged.
    #[error(transparent)]
    Stream(#[from] FormatError),
    /// More than 2^32 blocks, or separators of more than 32 GiB.
    #[error("too many blocks, or separators too long, for one table")]
    TooLarge,
    /// The output failed. Nothing more is written, and the output is to be thrown away.
    #[error("writing the table: {0}")]
    Io(#[from] io::Error),
    /// An earlier write failed.
    #[error("the table's output failed before: {cause}")]
    Poisoned {
        /// What the earlier failure said.
        cause: String,
    },
}
