//! What can go wrong in a merge.

use tephra_sstable::{AppendError, FormatError, Policy};

use crate::compose::LawFailure;
use crate::merge::PrefixError;

/// Why a merge stopped, or refused to start.
///
/// Inputs are numbered as they were given, the oldest 0. Every variant but [`MergeError::Unfinished`]
/// ends the merge for good: a merger that has failed refuses all further work with
/// [`MergeError::Poisoned`], and publishes nothing.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A merge needs at least one input: its policy is the output's.
    #[error("a merge needs at least one input")]
    NoInputs,
    /// All inputs must have one policy.
    #[error("input {input}: expected the policy of input 0, {expected:?}, found {found:?}")]
    PolicyMismatch {
        /// The input.
        input: usize,
        /// Policy of input 0.
        expected: Box<Policy>,
        /// Its policy.
        found: Box<Policy>,
    },
    /// An input breaks a rule of the format.
    #[error("input {input}: {error}")]
    Input {
        /// The input.
        input: usize,
        /// What is wrong, and where.
        error: FormatError,
    },
    /// A certified input retains less than it could: its certificate is wrong.
    #[error("input {input}: record {ordinal} repeats units of the key before it, against its certificate")]
    WrongCertificate {
        /// The input.
        input: usize,
        /// The record.
        ordinal: u64,
    },
    /// A dead set was made for another table.
    #[error("input {input}: dead set over {found} records, expected {expected}")]
    DeadSet {
        /// The input.
        input: usize,
        /// Records of the input.
        expected: u64,
        /// Records the set was made for.
        found: u64,
    },
    /// A range of records that the input does not have.
    #[error("input {input}: records up to {end} asked for, it has {record_count}")]
    Range {
        /// The input.
        input: usize,
        /// End of the range.
        end: u64,
        /// Records of the input.
        record_count: u64,
    },
    /// The prefix that a block inherits could not be read.
    #[error("input {input}: reading the prefix of block {block}: {error}")]
    ReadPrefix {
        /// The input.
        input: usize,
        /// The block.
        block: u64,
        /// Why.
        #[source]
        error: PrefixError,
    },
    /// The separators of an input do not yield the prefix that a block inherits.
    #[error("input {input}: block {block} inherits {expected} units, its separator gives {found}")]
    BlockPrefix {
        /// The input.
        input: usize,
        /// The block.
        block: u64,
        /// Units retained by its first record.
        expected: u64,
        /// Units found.
        found: u64,
    },
    /// The composition law gave no value.
    #[error("composition law {law:?} gave no value for output record {record}: {failure}")]
    Law {
        /// Name of the law.
        law: String,
        /// Distinct keys written before.
        record: u64,
        /// What happened.
        #[source]
        failure: LawFailure,
    },
    /// The law returned a value of another width than the policy fixes.
    #[error(
        "composition law {law:?}: value of {found} units for output record {record}, the policy fixes {expected}"
    )]
    ValueWidth {
        /// Name of the law.
        law: String,
        /// Distinct keys written before.
        record: u64,
        /// Width the policy fixes.
        expected: u64,
        /// Width of the law's value.
        found: u64,
    },
    /// The output does not take a record, for want of memory.
    #[error("the output: {0}")]
    Output(#[from] AppendError),
    /// `finish` came before the inputs ended. The merge goes on: step further, then finish again.
    #[error("inputs have not ended")]
    Unfinished,
    /// The merger failed before; the text is the first failure's.
    #[error("the merge has failed before: {cause}")]
    Poisoned {
        /// The first failure.
        cause: String,
    },
    /// The output has been taken already.
    #[error("the output of this merge has been taken")]
    Finished,
}

impl MergeError {
    /// An input's broken rule.
    pub(crate) fn input(input: usize, error: FormatError) -> Self {
        Self::Input { input, error }
    }

    /// A law's failure.
    pub(crate) fn law(law: &str, record: u64, failure: LawFailure) -> Self {
        Self::Law {
            law: law.to_owned(),
            record,
            failure,
        }
    }
}
