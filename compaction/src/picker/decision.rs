//! What the picker decided, and why.

use std::fmt;

/// Why a job was picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing in the table is alive.
    AllDead {
        /// The table.
        file_number: u64,
    },
    /// Level 0 holds too many tables.
    LevelZeroCount {
        /// Tables there.
        count: usize,
        /// Tables that start a compaction.
        trigger: usize,
    },
    /// A level holds more than its target.
    LevelSize {
        /// The level.
        level: u32,
        /// Bytes it holds.
        len_bytes: u64,
        /// Bytes it should hold.
        target_bytes: u64,
    },
    /// Many records of a table are dead.
    DeadRich {
        /// The table.
        file_number: u64,
        /// Dead records in a hundred.
        dead_percent: u64,
    },
    /// Tables of a level that lie side by side are small.
    SmallNeighbours {
        /// The level.
        level: u32,
        /// How many they are.
        count: usize,
        /// Bytes of all of them.
        len_bytes: u64,
    },
    /// The user asked for this key range.
    Manual,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllDead { file_number } => write!(f, "table {file_number} holds nothing alive"),
            Self::LevelZeroCount { count, trigger } => {
                write!(f, "level 0 holds {count} tables of at most {trigger}")
            }
            Self::LevelSize {
                level,
                len_bytes,
                target_bytes,
            } => {
                write!(
                    f,
                    "level {level} holds {len_bytes} bytes of at most {target_bytes}"
                )
            }
            Self::DeadRich {
                file_number,
                dead_percent,
            } => {
                write!(f, "{dead_percent} of 100 records of table {file_number} are dead")
            }
            Self::SmallNeighbours {
                level,
                count,
                len_bytes,
            } => {
                write!(
                    f,
                    "{count} neighbours of level {level} hold {len_bytes} bytes together"
                )
            }
            Self::Manual => write!(f, "asked for"),
        }
    }
}

/// What is done with a job's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Remove the tables; they hold nothing alive. No file is read or written.
    Drop,
    /// Record the tables under the output level; they overlap nothing there, nor each other. No file is read or written.
    Move,
    /// Merge the tables into new ones at the output level.
    Merge,
}

/// Tables that a job takes from one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobInput {
    /// The level.
    pub level: u32,
    /// File numbers, in the level's order.
    pub file_numbers: Vec<u64>,
}

/// One piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// What to do.
    pub kind: JobKind,
    /// Tables by level, oldest level first: the order in which a merger takes its inputs.
    pub inputs: Vec<JobInput>,
    /// Level of the result.
    pub output_level: u32,
    /// Smallest key of the inputs.
    pub first_key: Vec<u8>,
    /// Largest key of the inputs.
    pub last_key: Vec<u8>,
    /// How urgent the job is; 1,000 is where work begins to be due.
    pub score: u64,
    /// Why.
    pub reason: Reason,
}

impl Job {
    /// File numbers of all inputs, oldest first.
    pub fn file_numbers(&self) -> impl Iterator<Item = u64> {
        self.inputs
            .iter()
            .flat_map(|input| input.file_numbers.iter().copied())
    }
}

/// The picker's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Every level is as it should be, or what should be done waits for a running job.
    Idle,
    /// Do this.
    Run(Job),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Run(job) = self else {
            return write!(f, "idle");
        };
        let verb = match job.kind {
            JobKind::Drop => "drop",
            JobKind::Move => "move",
            JobKind::Merge => "merge",
        };
        write!(f, "{verb}")?;
        for input in &job.inputs {
            write!(f, " L{}{:?}", input.level, input.file_numbers)?;
        }
        if job.kind != JobKind::Drop {
            write!(f, " -> L{}", job.output_level)?;
        }
        write!(f, ": {}", job.reason)
    }
}
