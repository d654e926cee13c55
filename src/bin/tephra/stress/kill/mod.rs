//! `tephra stress --kill`: real processes on a real directory, killed in the middle of their work.
//!
//! ```text
//!   parent                                   child
//!   starts it                      ----->    opens the database, goes on where it stands
//!   counts acknowledgements        <-----    four threads commit; each says so when the commit has returned   (a pipe)
//!   kills it after a random count  --9-->    dies, anywhere: in a commit, a flush, a compaction, an open
//!   reads what is left in the pipe
//!   opens the database, which must succeed, compares it, closes it or not, and begins again
//! ```
//!
//! A killed process loses nothing that was acknowledged, whichever durability was asked for. Each thread has few commits on their way,
//! so the state of a thread is that of the last acknowledged or of one just after.

mod child;
mod parent;
mod script;

pub(super) use child::run as run_child;
pub(super) use parent::run;
