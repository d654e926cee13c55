//! Background work: who asks for it, who does it, who waits for it.

mod step;
mod work;
mod worker;

pub(crate) use work::{Job, Work};
pub(crate) use worker::Workers;
