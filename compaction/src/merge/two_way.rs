//! Two sources: the common case, and the smallest one of the frontier.
//!
//! ```text
//! known                                        next key                 cost
//! one head shares more with the last key       that head                one comparison of codes
//! both share the same, first units differ      the smaller unit         the same comparison
//! codes are equal                              compare the suffixes     from the shared boundary on
//! ```
//!
//! A source that wins some times in a row is taken to have a run, see [`runs`](super::runs).
//!
//! Heads and output live in registers while nothing unusual comes ([`TwoWay::step_fast`]). Whatever does is put
//! back, done the general way, and taken up again.

use std::cmp::Ordering;

use tephra_sstable::EncodedStream;

use super::code::ENDED;
use super::emit::{Value, compose, emit};
use super::history::History;
use super::input::MergeInput;
use super::lane::{Lane, part};
use super::output::Output;
use super::progress::Progress;
use super::runs::{RUN_FROM, copy_runs};
use super::source::Source;
use crate::compose::Law;
use crate::error::MergeError;

/// Merges two sources.
#[derive(Debug)]
pub(super) struct TwoWay<'a, U: Lane, H: History<U>> {
    older: Source<'a, U, H>,
    newer: Source<'a, U, H>,
    output: Output<U>,
    /// Of two equal keys the newer one stands; no law is asked.
    replaces: bool,
    /// A key, where a law or the first record behind a cut asks for it; kept for the next one.
    key: U::Owned,
}

impl<'a, U: Lane, H: History<U>> TwoWay<'a, U, H> {
    pub(super) fn new(
        older: &MergeInput<'a, U>,
        newer: &MergeInput<'a, U>,
        output: Output<U>,
        replaces: bool,
    ) -> Result<Self, MergeError> {
        let declared = output.declared_width();
        Ok(Self {
            older: Source::new(older, 0, declared)?,
            newer: Source::new(newer, 1, declared)?,
            output,
            replaces,
            key: U::Owned::default(),
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
        while progress.keys < budget && !self.is_done() {
            if self.output.record_count() > 0 && self.output.is_as_declared() {
                let has_run = match self.output.declared_width() {
                    Some(_) => self.step_fast::<true>(budget, &mut progress)?,
                    None => self.step_fast::<false>(budget, &mut progress)?,
                };
                if has_run {
                    continue;
                }
            }
            if progress.keys < budget && !self.is_done() {
                self.step_slowly(law, &mut progress)?;
            }
        }
        progress.done = self.is_done();
        Ok(progress)
    }

    /// Copies a run of the source whose head comes next.
    fn step_run<const COMMON: bool>(
        &mut self,
        budget: u64,
        progress: &mut Progress,
    ) -> Result<(), MergeError> {
        let (source, other) = match self.older.head.code > self.newer.head.code {
            true => (&mut self.older, self.newer.head.code),
            false => (&mut self.newer, self.older.head.code),
        };
        let keys_max = budget - progress.keys;
        let keys = copy_runs::<U, H, COMMON>(source, &mut self.output, other, keys_max)?;
        progress.keys += keys;
        progress.records += keys;
        Ok(())
    }

    /// Writes records until one is unusual or the budget is spent. Whether it went on to a run, behind which it may
    /// be called again.
    fn step_fast<const COMMON: bool>(
        &mut self,
        budget: u64,
        progress: &mut Progress,
    ) -> Result<bool, MergeError> {
        let Self {
            older,
            newer,
            output,
            replaces,
            key: _,
        } = self;
        let (older_bounds, newer_bounds) = (older.bounds(), newer.bounds());
        let (mut left, mut right) = (older.head, newer.head);
        let mut burst = output.burst();
        let (mut keys, mut duplicates) = (progress.keys, 0);
        let mut result = Ok(());
        // Wins in a row: of the older source above zero, of the newer one below.
        let mut streak = 0_i32;
        let mut has_run = false;

        // Writes the record of one head; leaves the loop if its literal does not lie in the payload.
        macro_rules! write {
            ($head:ident, $bounds:ident) => {
                let lcp = U::lcp_of($head.code);
                let start = $head.bias.wrapping_add(lcp);
                if !U::append::<COMMON>(
                    &mut burst,
                    lcp,
                    $head.key_units,
                    $bounds.readable,
                    start,
                    $head.next,
                ) {
                    if $head.is_joined() {
                        break;
                    }
                    U::commit(burst);
                    result = output.append_joined(lcp, $head.key_units, $bounds.readable, start, $head.next);
                    burst = output.burst();
                    if result.is_err() {
                        break;
                    }
                }
                keys += 1;
            };
        }
        // Goes to a source's next record; leaves the loop if there is something wrong with it.
        macro_rules! advance {
            ($head:ident, $source:ident, $bounds:ident) => {
                if !Source::<U, H>::advance_fast::<COMMON>(&mut $head, &mut $source.history, &$bounds) {
                    $source.head = $head;
                    let advanced = $source.advance_slowly();
                    $head = $source.head;
                    if advanced.is_err() {
                        result = advanced;
                        break;
                    }
                }
            };
        }

        while keys < budget {
            if left.code > right.code {
                write!(left, older_bounds);
                advance!(left, older, older_bounds);
                streak = streak.max(0) + 1;
                if streak == RUN_FROM.cast_signed() && left.code > right.code {
                    has_run = true;
                    break;
                }
            } else if left.code < right.code {
                write!(right, newer_bounds);
                advance!(right, newer, newer_bounds);
                streak = streak.min(0) - 1;
                if streak == -RUN_FROM.cast_signed() && right.code > left.code {
                    has_run = true;
                    break;
                }
            } else {
                streak = 0;
                if left.code == ENDED {
                    break;
                }
                let lcp = U::lcp_of(left.code);
                if left.is_joined() || right.is_joined() {
                    break;
                }
                let parting = part::<U>(left.suffix(&older_bounds, lcp), right.suffix(&newer_bounds, lcp));
                if parting.left == parting.right {
                    if !*replaces {
                        break;
                    }
                    write!(right, newer_bounds);
                    duplicates += 1;
                    advance!(left, older, older_bounds);
                    advance!(right, newer, newer_bounds);
                } else if parting.left > parting.right {
                    write!(right, newer_bounds);
                    left.code = U::code(lcp + parting.same, parting.left - 1);
                    advance!(right, newer, newer_bounds);
                } else {
                    write!(left, older_bounds);
                    right.code = U::code(lcp + parting.same, parting.right - 1);
                    advance!(left, older, older_bounds);
                }
            }
        }
        U::commit(burst);
        (older.head, newer.head) = (left, right);
        progress.records += keys - progress.keys + duplicates;
        progress.keys = keys;
        result?;
        if has_run {
            self.step_run::<COMMON>(budget, progress)?;
        }
        Ok(has_run)
    }

    /// Writes one record the general way.
    #[cold]
    #[inline(never)]
    fn step_slowly<L: Law<U>>(&mut self, law: &L, progress: &mut Progress) -> Result<(), MergeError> {
        let Self {
            older,
            newer,
            output,
            replaces: _,
            key,
        } = self;
        let order = match older.head.code.cmp(&newer.head.code) {
            Ordering::Greater => Ordering::Less,
            Ordering::Less => Ordering::Greater,
            Ordering::Equal => settle(older, newer),
        };
        match order {
            Ordering::Less => {
                emit_own(output, older, key)?;
                older.advance_slowly()?;
            }
            Ordering::Greater => {
                emit_own(output, newer, key)?;
                newer.advance_slowly()?;
            }
            Ordering::Equal => {
                let lcp = U::lcp_of(older.head.code);
                if L::NEEDS_KEY {
                    newer.read_key(key)?;
                }
                let value = compose(law, output, key, Value::Borrowed(older.value()), newer)?;
                emit(output, newer, key, lcp, value.as_str())?;
                older.advance_slowly()?;
                newer.advance_slowly()?;
                progress.records += 1;
            }
        }
        progress.records += 1;
        progress.keys += 1;
        Ok(())
    }
}

/// Compares two heads of one code, and gives the greater one the code it has relative to the smaller one.
pub(super) fn settle<U: Lane, H: History<U>>(
    left: &mut Source<'_, U, H>,
    right: &mut Source<'_, U, H>,
) -> Ordering {
    let lcp = U::lcp_of(left.head.code);
    let (left_suffix, right_suffix) = (left.suffix(lcp), right.suffix(lcp));
    let same = U::lcp(left_suffix, right_suffix);
    match (U::get(left_suffix, same), U::get(right_suffix, same)) {
        (None, None) => Ordering::Equal,
        (Some(left_unit), right_unit) if right_unit.is_none_or(|right_unit| right_unit < left_unit) => {
            left.head.code = U::code(lcp + same, left_unit);
            Ordering::Greater
        }
        (_, right_unit) => {
            let right_unit = right_unit.expect("the greater key goes on where the keys part");
            right.head.code = U::code(lcp + same, right_unit);
            Ordering::Less
        }
    }
}

/// Writes a head with its own value.
fn emit_own<U: Lane, H: History<U>>(
    output: &mut Output<U>,
    source: &mut Source<'_, U, H>,
    key: &mut U::Owned,
) -> Result<(), MergeError> {
    let value = source.value();
    emit(
        output,
        source,
        key,
        U::lcp_of(source.head.code),
        value.string::<U>(),
    )
}
