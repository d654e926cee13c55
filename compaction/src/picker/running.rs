//! What running jobs hold, so that no second job touches it.
//!
//! ```text
//! level 4    [12 a..f]                     a running job merges 12, 20 and 21 into level 5; until it ends
//! level 5    [20 a..c] [21 e..h]           - its inputs belong to it alone
//!             '----- a .. h -----'         - and so does the key range a..h of level 5, gap and all: an output may span it
//! ```

use super::decision::Job;

/// The reservations of running jobs of one keyspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    jobs: Vec<Reservation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Reservation {
    file_numbers: Vec<u64>,
    output_level: u32,
    first_key: Vec<u8>,
    last_key: Vec<u8>,
}

impl Running {
    /// A job starts.
    ///
    /// # Panics
    /// If a running job holds one of its tables, or a part of its key range at its output level: two jobs on one table is
    /// our bug, and would bring old records back.
    pub fn start(&mut self, job: &Job) {
        assert!(
            !job.file_numbers().any(|number| self.holds(number)),
            "a table is in one job at a time: {job:?}"
        );
        assert!(
            !self.reserves(job.output_level, &job.first_key, &job.last_key),
            "a key range of a level is written by one job at a time: {job:?}"
        );
        self.jobs.push(Reservation {
            file_numbers: job.file_numbers().collect(),
            output_level: job.output_level,
            first_key: job.first_key.clone(),
            last_key: job.last_key.clone(),
        });
    }

    /// A job has ended, well or not. One that never started is no matter.
    pub fn end(&mut self, job: &Job) {
        self.jobs
            .retain(|held| !held.file_numbers.iter().copied().eq(job.file_numbers()));
    }

    /// Whether a table is an input of a running job.
    pub fn holds(&self, file_number: u64) -> bool {
        self.jobs
            .iter()
            .any(|held| held.file_numbers.contains(&file_number))
    }

    /// Whether a running job may write to a part of a key range of a level.
    pub fn reserves(&self, level: u32, first_key: &[u8], last_key: &[u8]) -> bool {
        self.jobs.iter().any(|held| {
            held.output_level == level
                && held.first_key.as_slice() <= last_key
                && first_key <= held.last_key.as_slice()
        })
    }

    /// Running jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether no job runs.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }
}
