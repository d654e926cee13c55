//! The merger as its users see it: the step contract.
//!
//! ```text
//!             step                      done              finish
//! running ----------> running ... -------------> ended ----------> finished
//!    |  input, law or certificate fails                   |
//!    '--------------------> poisoned <--------------------'       every call gives the first failure
//! ```
//!
//! * `step(budget)` writes up to `budget` distinct keys. A zero budget does nothing.
//! * Between steps a merger may wait for any time, and be moved to another thread.
//! * `finish` before the inputs end is an error that changes nothing.
//! * `cut` ends the output where it stands and starts another one, so that one merge fills many tables.
//! * Input bytes stay pinned until the merger is dropped; a mapped file may be unlinked meanwhile.

use std::fmt;
use std::marker::PhantomData;

use tephra_sstable::EncodedStream;

use super::input::MergeInput;
use super::kernel::{Compared, Encoded, Kernel, Strategy};
use super::lane::Lane;
use super::output::Output;
use super::progress::Progress;
use super::reframe::declared_width;
use crate::compose::Law;
use crate::error::MergeError;

/// A unit that a merger can work in: [`tephra_sstable::Byte`] or [`tephra_sstable::Bit`].
#[expect(
    private_bounds,
    reason = "the two units are all there are; what a merger asks of them is its own"
)]
pub trait MergeUnit: Lane {}
impl<U: Lane> MergeUnit for U {}

/// Merges encoded streams of one policy into the batch encoding of their union. `K` says which code does it: the
/// mergers for use, or these and others to compare them with ([`Merger::with_strategy`]).
#[expect(private_bounds, reason = "the two sets of mergers are all there are")]
pub struct Merger<'a, U: MergeUnit, L: Law<U>, K: Kernel<U> = Encoded<'a, U>> {
    law: L,
    kernel: K,
    state: State,
    inputs: PhantomData<MergeInput<'a, U>>,
}

#[derive(Debug)]
enum State {
    Running,
    Finished,
    Poisoned(String),
}

impl<'a, U: MergeUnit, L: Law<U>> Merger<'a, U, L> {
    /// A merger over inputs given oldest first. Reads each input's first record.
    ///
    /// # Errors
    /// No inputs, different policies, wrong metadata, a dead set or range that does not fit its input, a
    /// broken first record.
    pub fn new(inputs: &[MergeInput<'a, U>], law: L) -> Result<Self, MergeError> {
        Self::bounded(inputs, law, u64::MAX)
    }

    /// As [`Merger::new`], for outputs that are cut at about `cut_bytes` of payload: no more room than that is made
    /// at once.
    ///
    /// # Errors
    /// As [`Merger::new`].
    pub fn bounded(inputs: &[MergeInput<'a, U>], law: L, cut_bytes: u64) -> Result<Self, MergeError> {
        let output = output_for(inputs, cut_bytes)?;
        Ok(Self::start(law, Encoded::new::<L>(inputs, output, false)?))
    }
}

impl<'a, U: MergeUnit, L: Law<U>> Merger<'a, U, L, Compared<'a, U>> {
    /// As [`Merger::new`], in a chosen way: for comparisons.
    ///
    /// # Errors
    /// As [`Merger::new`].
    pub fn with_strategy(
        inputs: &[MergeInput<'a, U>],
        law: L,
        strategy: Strategy,
    ) -> Result<Self, MergeError> {
        let output = output_for(inputs, u64::MAX)?;
        Ok(Self::start(law, Compared::new::<L>(inputs, output, strategy)?))
    }
}

/// Checks that inputs go together; gives the output that they fill.
fn output_for<U: MergeUnit>(inputs: &[MergeInput<'_, U>], cut_bytes: u64) -> Result<Output<U>, MergeError> {
    let policy = inputs.first().ok_or(MergeError::NoInputs)?.stream.meta.policy;
    for (input, given) in inputs.iter().enumerate() {
        let found = given.stream.meta.policy;
        if found != policy {
            let (expected, found) = (Box::new(policy), Box::new(found));
            return Err(MergeError::PolicyMismatch {
                input,
                expected,
                found,
            });
        }
        given.validate(input)?;
    }
    let metas = || inputs.iter().map(|input| &input.stream.meta);
    let declared = declared_width(&policy, metas());
    Output::new(policy, declared, metas(), cut_bytes)
}

#[expect(private_bounds, reason = "the two sets of mergers are all there are")]
impl<U: MergeUnit, L: Law<U>, K: Kernel<U>> Merger<'_, U, L, K> {
    fn start(law: L, kernel: K) -> Self {
        Self {
            law,
            kernel,
            state: State::Running,
            inputs: PhantomData,
        }
    }

    /// Writes up to `budget` distinct keys.
    ///
    /// # Errors
    /// A broken input, a failing law, or a merger that has failed or finished before.
    pub fn step(&mut self, budget: u64) -> Result<Progress, MergeError> {
        self.check_running()?;
        let result = self.kernel.step(budget, &self.law);
        self.poison_on_error(result)
    }

    /// Whether all inputs have ended.
    pub fn is_done(&self) -> bool {
        self.kernel.is_done()
    }

    /// Payload bytes of the output since the start or the last cut.
    pub fn output_len_bytes(&self) -> u64 {
        self.kernel.output().len_bytes()
    }

    /// Records of the output since the start or the last cut.
    pub fn output_record_count(&self) -> u64 {
        self.kernel.output().record_count()
    }

    /// Ends the output where it stands and starts another one.
    ///
    /// # Errors
    /// A merger that has failed or finished before, or no memory for the directory.
    pub fn cut(&mut self) -> Result<EncodedStream, MergeError> {
        self.check_running()?;
        let result = self.kernel.take_stream();
        self.poison_on_error(result)
    }

    /// The output, once all inputs have ended.
    ///
    /// # Errors
    /// [`MergeError::Unfinished`] before the end, which changes nothing; otherwise as [`Merger::cut`].
    pub fn finish(&mut self) -> Result<EncodedStream, MergeError> {
        self.check_running()?;
        if !self.kernel.is_done() {
            return Err(MergeError::Unfinished);
        }
        let stream = self.cut()?;
        self.state = State::Finished;
        Ok(stream)
    }

    fn check_running(&self) -> Result<(), MergeError> {
        match &self.state {
            State::Running => Ok(()),
            State::Finished => Err(MergeError::Finished),
            State::Poisoned(cause) => Err(MergeError::Poisoned { cause: cause.clone() }),
        }
    }

    fn poison_on_error<T>(&mut self, result: Result<T, MergeError>) -> Result<T, MergeError> {
        if let Err(error) = &result {
            self.state = State::Poisoned(error.to_string());
        }
        result
    }
}

impl<U: MergeUnit, L: Law<U>, K: Kernel<U>> fmt::Debug for Merger<'_, U, L, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Merger")
            .field("law", &self.law.name())
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
