//! Made-up histories.

use std::fmt;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Puts of random keys, each about twice.
    Uniform,
    /// Puts of ascending keys, each once: a log, a time series.
    Sequential,
    /// Puts of random keys: nine tenths go to a hundredth of them.
    Hot,
    /// Puts at the tail and deletes at the head: the queue holds a twentieth of all it ever held.
    Queue,
    /// Puts and deletes of random keys: of ten operations four delete what is there.
    DeleteRich,
}

impl Workload {
    /// All of them.
    pub const ALL: [Workload; 5] = [
        Workload::Uniform,
        Workload::Sequential,
        Workload::Hot,
        Workload::Queue,
        Workload::DeleteRich,
    ];
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Workload::Uniform => "uniform",
            Workload::Sequential => "sequential",
            Workload::Hot => "hot",
            Workload::Queue => "queue",
            Workload::DeleteRich => "delete-rich",
        })
    }
}

/// One operation on a grain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Put(u32),
    Delete(u32),
}

/// Gives the operations of a workload one by one.
#[derive(Debug)]
pub(super) struct Generator {
    workload: Workload,
    /// Operations in all.
    count: u32,
    done: u32,
    /// First key of a queue.
    head: u32,
    /// Key behind the last of a queue.
    tail: u32,
    state: u64,
}

impl Generator {
    pub(super) fn new(workload: Workload, count: u64, seed: u64) -> Self {
        Generator {
            workload,
            count: u32::try_from(count).expect("grains are chosen to be about a million"),
            done: 0,
            head: 0,
            tail: 0,
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        }
    }

    pub(super) fn next(&mut self) -> Operation {
        let index = self.done;
        self.done += 1;
        let keys = (self.count / 2).max(1);
        match self.workload {
            Workload::Uniform => Operation::Put(self.below(keys)),
            Workload::Sequential => Operation::Put(index),
            Workload::Hot => {
                let hot = (keys / 100).max(1);
                if self.below(10) == 0 {
                    Operation::Put(self.below(keys))
                } else {
                    // The hot ones are spread over all keys.
                    Operation::Put(self.below(hot) * (keys / hot))
                }
            }
            Workload::Queue => self.queue(),
            Workload::DeleteRich => {
                let key = self.below(keys);
                if self.below(10) < 4 {
                    Operation::Delete(key)
                } else {
                    Operation::Put(key)
                }
            }
        }
    }

    fn queue(&mut self) -> Operation {
        let is_long = self.tail - self.head > self.count / 20;
        if is_long && self.done.is_multiple_of(2) {
            self.head += 1;
            Operation::Delete(self.head - 1)
        } else {
            self.tail += 1;
            Operation::Put(self.tail - 1)
        }
    }

    /// A number below `end`. SplitMix64, scaled.
    fn below(&mut self, end: u32) -> u32 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let scaled = ((mixed >> 32) * u64::from(end)) >> 32;
        u32::try_from(scaled).expect("below a number of 32 bits")
    }
}
