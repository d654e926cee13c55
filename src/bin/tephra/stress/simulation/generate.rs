//! Makes a history from a seed: eight logical clients, an administrator, and a scheduler that interleaves them.
//!
//! | client | what it does |
//! |---|---|
//! | 0 | puts anywhere, merges in the composing keyspace |
//! | 1 | overwrites a few keys of the default keyspace |
//! | 2 | deletes keys, ranges and everything anywhere |
//! | 3 | batches over all keyspaces, also that of bit strings |
//! | 4 | a queue: pushes behind, pops in front |
//! | 5 | long values, some longer than a memtable; ingests |
//! | 6 | reads |
//! | 7 | holds snapshots |

use tephradb::Durability;

use super::plan::{
    BITS, COMPOSING, Change, Commit, Crash, Down, Failing, Key, Meanwhile, NAMES, Part, Records, Setback,
    Step, Target, Trouble, Value, Write,
};
use super::rng::Rng;
use super::settings::Settings;

const STEPS_MIN: usize = 40;
const STEPS_MAX: usize = 140;

/// A seed's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    /// What happens while the database is made.
    pub(crate) creation: Vec<Setback>,
    /// Calls of the creation are crashed in turn, and of the recovery from that: one in so many at each depth.
    pub(crate) creation_strides: Vec<u64>,
    pub(crate) steps: Vec<Step>,
}

impl Plan {
    pub(crate) fn from_seed(seed: u64) -> Plan {
        let mut rng = Rng::new(seed);
        let settings = Settings::random(&mut rng);
        let mut generator = Generator {
            rng,
            settings: settings.clone(),
            value_number: 0,
            queue: (0, 0),
        };
        let len = STEPS_MIN + generator.rng.index(STEPS_MAX - STEPS_MIN);
        let mut steps: Vec<Step> = (1..NAMES.len()).map(Step::CreateKeyspace).collect();
        steps.extend((0..len).map(|_| generator.step()));
        // The sync of names that an earlier try may have made is not insisted on, so here no call fails without a crash.
        let mut creation = generator.setbacks();
        creation.retain(|setback| matches!(setback, Setback::Crash(..)));
        Plan {
            settings,
            creation,
            creation_strides: Vec::new(),
            steps,
        }
    }
}

struct Generator {
    rng: Rng,
    settings: Settings,
    value_number: u32,
    /// Numbers of the first and the next element of client 4's queue.
    queue: (u32, u32),
}

impl Generator {
    fn step(&mut self) -> Step {
        match self.rng.below(100) {
            0..3 => Step::Crash(self.crash()),
            3..6 => Step::Trouble(self.trouble()),
            6..8 => Step::Heal,
            8..22 => Step::Background,
            22..36 => self.administration(),
            36..41 if self.settings.is_roomy => self.interlude(),
            _ => self.client(),
        }
    }

    fn client(&mut self) -> Step {
        let client = self.rng.index(8);
        let writes = match client {
            0 => vec![self.put(0)],
            1 => {
                let key = vec![b'h', b'0' + u8::try_from(self.rng.below(4)).expect("below 4")];
                let value = self.value(0);
                vec![Write {
                    keyspace: 0,
                    change: Change::Put(key, value),
                }]
            }
            2 => vec![self.delete()],
            3 => {
                let len = 2 + self.rng.index(6);
                (0..len)
                    .map(|_| {
                        if self.rng.one_in(3) {
                            self.delete()
                        } else {
                            self.put(0)
                        }
                    })
                    .collect()
            }
            4 => vec![self.queue_step()],
            5 if self.rng.one_in(3) => return Step::Ingest(self.records()),
            5 => {
                let least = self.rng.index(3) * self.settings.memtable_bytes / 2;
                vec![self.put(least)]
            }
            6 => return self.read(),
            _ => return self.snapshot(),
        };
        Step::Commit {
            client: u8::try_from(client).expect("below 8"),
            commit: Commit {
                writes,
                durability: self.durability(),
            },
        }
    }

    fn durability(&mut self) -> Durability {
        if self.rng.one_in(4) {
            Durability::Sync
        } else {
            Durability::Process
        }
    }

    fn keyspace(&mut self) -> usize {
        self.rng.pick(&[0, 0, 1, 1, 2, COMPOSING, COMPOSING, BITS])
    }

    fn key(&mut self, keyspace: usize) -> Key {
        if keyspace == BITS {
            let len = self.rng.pick(&[0, 1, 3, 5, 5, 5, 8, 9, 70]);
            let number = self.rng.below(1 << 5.min(len));
            return format!("{number:0len$b}").into_bytes()[..len].to_vec();
        }
        match self.rng.below(12) {
            0 => Vec::new(),
            1 => vec![0xff; 1 + self.rng.index(3)],
            2 => vec![b'l'; 40 + self.rng.index(3)],
            _ => format!("key{:02}", self.rng.below(18)).into_bytes(),
        }
    }

    fn value(&mut self, len_bytes_min: usize) -> Value {
        self.value_number += 1;
        let len_bytes = match self.rng.below(8) {
            0 => 0,
            1 => 200,
            _ => 8 + self.rng.index(self.settings.value_len_bytes_max - 8),
        };
        Value {
            number: self.value_number,
            len_bytes: len_bytes.max(len_bytes_min),
        }
    }

    fn put(&mut self, len_bytes_min: usize) -> Write {
        let keyspace = self.keyspace();
        let (key, value) = (self.key(keyspace), self.value(len_bytes_min));
        let change = if keyspace == COMPOSING && self.rng.below(3) > 0 {
            Change::Merge(key, value)
        } else {
            Change::Put(key, value)
        };
        Write { keyspace, change }
    }

    fn delete(&mut self) -> Write {
        let keyspace = self.keyspace();
        let (one, other) = (self.key(keyspace), self.key(keyspace));
        let change = match self.rng.below(12) {
            0 => Change::Clear,
            // An empty range would make an empty batch.
            1..4 if one != other => Change::DeleteRange(one.clone().min(other.clone()), one.max(other)),
            _ => Change::Delete(one),
        };
        Write { keyspace, change }
    }

    fn queue_step(&mut self) -> Write {
        let (first, next) = self.queue;
        let element = |number: u32| format!("queue{number:04}").into_bytes();
        let change = if first < next && self.rng.one_in(2) {
            self.queue.0 += 1;
            Change::Delete(element(first))
        } else {
            self.queue.1 += 1;
            Change::Put(element(next), self.value(0))
        };
        Write { keyspace: 0, change }
    }

    fn read(&mut self) -> Step {
        let keyspace = self.keyspace();
        if self.rng.one_in(2) {
            return Step::Get {
                keyspace,
                key: self.key(keyspace),
            };
        }
        Step::Scan {
            keyspace,
            from: self.key(keyspace),
            to: self.key(keyspace),
            backwards: self.rng.one_in(2),
        }
    }

    fn snapshot(&mut self) -> Step {
        self.rng.pick(&[
            Step::TakeSnapshot,
            Step::ReadSnapshot,
            Step::ReadSnapshot,
            Step::DropSnapshot,
        ])
    }

    /// Some records, of which those with the same key become one.
    fn records(&mut self) -> Records {
        let keyspace = self.keyspace();
        let len = 1 + self.rng.index(12);
        Records {
            keyspace,
            records: (0..len).map(|_| (self.key(keyspace), self.value(0))).collect(),
        }
    }

    fn part(&mut self) -> Part {
        let keyspace = self.keyspace();
        let (one, other) = (self.key(keyspace), self.key(keyspace));
        Part {
            keyspace,
            from: one.clone().min(other.clone()),
            to: one.max(other),
        }
    }

    fn administration(&mut self) -> Step {
        match self.rng.below(17) {
            0..4 => Step::Flush,
            4..6 => Step::Compact,
            6..9 => Step::CreateKeyspace(1 + self.rng.index(NAMES.len() - 1)),
            9 => Step::DropKeyspace(1 + self.rng.index(NAMES.len() - 1)),
            10 | 11 => Step::Verify,
            12 => Step::Settle,
            13 => Step::CompactPart(self.part()),
            14 => Step::Checkpoint(Vec::new()),
            15 => Step::Ingest(self.records()),
            _ => Step::Reopen,
        }
    }

    fn interlude(&mut self) -> Step {
        let calls = self.rng.pick(&[0, 0, 1, 1, 2, 3, 4, 5]);
        // A flush with much written in its middle would make the writer wait for that very flush.
        let len = 1 + self.rng.index(4);
        match self.rng.below(9) {
            0..3 => Step::FlushWhile(calls, (0..len).map(|_| self.beside_a_flush()).collect()),
            3 => Step::Checkpoint((0..len).map(|_| self.beside_a_checkpoint()).collect()),
            4..7 => {
                let mut meanwhile: Vec<_> = (0..len).map(|_| self.commit_meanwhile()).collect();
                meanwhile.push(Meanwhile::Flush);
                Step::CompactWhile(calls, None, meanwhile)
            }
            _ => {
                let part = self.rng.one_in(2).then(|| self.part());
                let meanwhile = (0..len).map(|_| self.beside_a_compaction()).collect();
                Step::CompactWhile(calls, part, meanwhile)
            }
        }
    }

    fn commit_meanwhile(&mut self) -> Meanwhile {
        let writes = if self.rng.one_in(2) {
            vec![self.delete(), self.delete()]
        } else {
            vec![self.put(0), self.delete()]
        };
        Meanwhile::Commit(Commit {
            writes,
            durability: self.durability(),
        })
    }

    fn beside_a_flush(&mut self) -> Meanwhile {
        match self.rng.below(12) {
            0 => Meanwhile::TakeSnapshot,
            1 => Meanwhile::DropKeyspace(1 + self.rng.index(NAMES.len() - 1)),
            _ => self.commit_meanwhile(),
        }
    }

    fn beside_a_checkpoint(&mut self) -> Meanwhile {
        match self.rng.below(6) {
            0 => Meanwhile::Flush,
            1 => Meanwhile::Ingest(self.records()),
            _ => self.commit_meanwhile(),
        }
    }

    fn beside_a_compaction(&mut self) -> Meanwhile {
        match self.rng.below(12) {
            0 => Meanwhile::TakeSnapshot,
            1 => Meanwhile::DropKeyspace(1 + self.rng.index(NAMES.len() - 1)),
            2 => Meanwhile::Cancel,
            3 => Meanwhile::Checkpoint,
            4 | 5 => Meanwhile::Ingest(self.records()),
            6 | 7 => Meanwhile::Flush,
            _ => self.commit_meanwhile(),
        }
    }

    fn trouble(&mut self) -> Trouble {
        let target = self.rng.pick(&[
            Target::Changing,
            Target::Changing,
            Target::Writes,
            Target::Syncs,
            Target::Reads,
        ]);
        let failing = match target {
            Target::Writes => self
                .rng
                .pick(&[Failing::Device, Failing::Full, Failing::Short, Failing::Zero]),
            Target::Reads => {
                // In tables and logs of every length: the bit is counted round the file.
                let bit = self.rng.below(1 << 40);
                self.rng
                    .pick(&[Failing::Device, Failing::Flip(bit), Failing::Flip(bit)])
            }
            Target::Changing | Target::Syncs => self.rng.pick(&[
                Failing::Device,
                Failing::Device,
                Failing::Full,
                Failing::Full,
                Failing::Slow(40),
            ]),
        };
        Trouble {
            target,
            failing,
            // A session reads few files.
            skip_count: self.rng.below(if target == Target::Reads { 6 } else { 30 }),
            lasts: self.rng.one_in(4),
        }
    }

    fn crash(&mut self) -> Crash {
        Crash {
            after_calls: self.rng.below(60),
            steps_max: 1 + self.rng.index(12),
            down: self.down(),
            strides: Vec::new(),
            setbacks: self.setbacks(),
        }
    }

    fn setbacks(&mut self) -> Vec<Setback> {
        let count = self.rng.pick(&[0, 0, 1, 2, 2, 3]);
        (0..count).map(|_| self.setback()).collect()
    }

    fn setback(&mut self) -> Setback {
        if self.rng.one_in(3) {
            Setback::Fault(Trouble {
                lasts: false,
                ..self.trouble()
            })
        } else {
            Setback::Crash(self.rng.below(25), self.down())
        }
    }

    fn down(&mut self) -> Down {
        if self.rng.one_in(3) {
            Down::Kill
        } else {
            Down::PowerCut(self.rng.next())
        }
    }
}
