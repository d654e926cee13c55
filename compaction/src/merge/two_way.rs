//! Two sources: the common case, and the smallest one of the frontier.
//!
//! ```text
//! known                                        next key                 cost
//! one head shares more with the last key       that head                one comparison of codes
//! both share the same, first units differ      the smaller unit         the same comparison
//! codes are equal                              compare the suffixes     from the shared boundary on
//! ```

use tephra_sstable::EncodedStream;

use super::code::{Code, ENDED};
use super::emit::{Value, compose, emit};
use super::history::History;
use super::input::MergeInput;
use super::output::Output;
use super::progress::Progress;
use super::source::Source;
use crate::compose::Law;
use crate::error::MergeError;

/// Merges two sources.
#[derive(Debug)]
pub(super) struct TwoWay<'a, U: Code, H: History<U>> {
    older: Source<'a, U, H>,
    newer: Source<'a, U, H>,
    output: Output<U>,
}

/// Which head comes next.
enum Next {
    Older,
    Newer,
    /// Both heads hold one key.
    Both,
    /// Both sources have ended.
    Neither,
}

impl<'a, U: Code, H: History<U>> TwoWay<'a, U, H> {
    pub(super) fn new(
        older: &MergeInput<'a, U>,
        newer: &MergeInput<'a, U>,
        output: Output<U>,
    ) -> Result<Self, MergeError> {
        let declared = output.declared_width();
        Ok(Self {
            older: Source::new(older, 0, declared)?,
            newer: Source::new(newer, 1, declared)?,
            output,
        })
    }

    pub(super) fn output(&self) -> &Output<U> {
        &self.output
    }

    pub(super) fn is_done(&self) -> bool {
        self.older.has_ended() && self.newer.has_ended()
    }

    pub(super) fn take_stream(&mut self) -> Result<EncodedStream, MergeError> {
        self.output.take_stream()
    }

    pub(super) fn step<L: Law<U>>(&mut self, budget: u64, law: &L) -> Result<Progress, MergeError> {
        let mut progress = Progress::default();
        while progress.keys < budget {
            match self.choose() {
                Next::Older => {
                    emit_own(&mut self.output, &mut self.older)?;
                    self.older.advance_general()?;
                }
                Next::Newer => {
                    emit_own(&mut self.output, &mut self.newer)?;
                    self.newer.advance_general()?;
                }
                Next::Both => {
                    let lcp = U::lcp_of(self.older.head.code);
                    let older = Value::Borrowed(self.older.value());
                    let value = compose(law, &self.output, older, &mut self.newer)?;
                    emit(&mut self.output, &mut self.newer, lcp, value.as_str())?;
                    self.older.advance_general()?;
                    self.newer.advance_general()?;
                    progress.records += 1;
                }
                Next::Neither => break,
            }
            progress.keys += 1;
        }
        progress.records += progress.keys;
        progress.done = self.is_done();
        Ok(progress)
    }

    fn choose(&mut self) -> Next {
        let (older, newer) = (self.older.head.code, self.newer.head.code);
        match older.cmp(&newer) {
            std::cmp::Ordering::Greater => Next::Older,
            std::cmp::Ordering::Less => Next::Newer,
            std::cmp::Ordering::Equal if older == ENDED => Next::Neither,
            std::cmp::Ordering::Equal => self.break_tie(),
        }
    }

    /// Compares the suffixes of two heads with one code. The loser's code then speaks of the winner, which
    /// is the key written next.
    fn break_tie(&mut self) -> Next {
        match settle(&mut self.older, &mut self.newer) {
            std::cmp::Ordering::Less => Next::Older,
            std::cmp::Ordering::Greater => Next::Newer,
            std::cmp::Ordering::Equal => Next::Both,
        }
    }
}

/// Compares two heads of one code, and gives the greater one the code it has relative to the smaller one.
pub(super) fn settle<U: Code, H: History<U>>(
    left: &mut Source<'_, U, H>,
    right: &mut Source<'_, U, H>,
) -> std::cmp::Ordering {
    let lcp = U::lcp_of(left.head.code);
    let (left_suffix, right_suffix) = (left.suffix(lcp), right.suffix(lcp));
    let same = U::lcp(left_suffix, right_suffix);
    match (U::get(left_suffix, same), U::get(right_suffix, same)) {
        (None, None) => std::cmp::Ordering::Equal,
        (Some(left_unit), right_unit) if right_unit.is_none_or(|right_unit| right_unit < left_unit) => {
            left.head.code = U::code(lcp + same, left_unit);
            std::cmp::Ordering::Greater
        }
        (_, right_unit) => {
            let right_unit = right_unit.expect("the greater key goes on where the keys part");
            right.head.code = U::code(lcp + same, right_unit);
            std::cmp::Ordering::Less
        }
    }
}

/// Writes a head with its own value.
fn emit_own<U: Code, H: History<U>>(
    output: &mut Output<U>,
    source: &mut Source<'_, U, H>,
) -> Result<(), MergeError> {
    let value = source.value();
    emit(output, source, U::lcp_of(source.head.code), value.string::<U>())
}
