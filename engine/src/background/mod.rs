//! Background work: who asks for it, who does it, who waits for it.

mod parallel;
mod step;
mod work;
mod worker;

pub(crate) use parallel::{default_compaction_threads, run_all};
pub(crate) use work::{Job, Work};
pub(crate) use worker::Workers;
