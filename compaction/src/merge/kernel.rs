//! The choice of the code that runs: how many sources, and what they remember.

use tephra_sstable::{EncodedStream, Unit};

use super::history::{Buffer, Certified, Spans};
use super::input::{MergeInput, Trust};
use super::lane::Lane;
use super::loser_tree::LoserTree;
use super::naive::NaiveMerge;
use super::output::Output;
use super::progress::Progress;
use super::two_way::TwoWay;
use crate::compose::Law;
use crate::error::MergeError;

/// How a merge is done. All give the same output; all but [`Strategy::Encoded`] exist to be compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Certified or validating sources over encoded keys, as the inputs' trust and the law ask for.
    #[default]
    Encoded,
    /// The same frontier over sources that keep their current key in a buffer.
    Materialised,
    /// [`Strategy::Encoded`] or [`Strategy::Materialised`] through the loser tree, also for two inputs.
    Tree {
        /// Keep current keys in buffers.
        materialised: bool,
    },
    /// Every key rebuilt, whole keys compared, a copy of the key before kept for the output.
    Naive,
}

/// One of the mergers.
#[expect(
    clippy::large_enum_variant,
    reason = "a merger is one value that allocates nothing for itself"
)]
#[derive(Debug)]
pub(super) enum Kernel<'a, U: Lane> {
    Naive(NaiveMerge<'a, U>),
    TwoBuffers(TwoWay<'a, U, Buffer<U>>),
    TwoSpans(TwoWay<'a, U, Spans<U>>),
    TwoCertified(TwoWay<'a, U, Certified>),
    ManyBuffers(LoserTree<'a, U, Buffer<U>>),
    ManySpans(LoserTree<'a, U, Spans<U>>),
    ManyCertified(LoserTree<'a, U, Certified>),
}

/// Calls one method on whichever kernel it is.
macro_rules! each {
    ($kernel:expr, $name:ident => $call:expr) => {
        match $kernel {
            Kernel::Naive($name) => $call,
            Kernel::TwoBuffers($name) => $call,
            Kernel::TwoSpans($name) => $call,
            Kernel::TwoCertified($name) => $call,
            Kernel::ManyBuffers($name) => $call,
            Kernel::ManySpans($name) => $call,
            Kernel::ManyCertified($name) => $call,
        }
    };
}

/// What sources must remember.
enum Memory {
    Buffer,
    Spans,
    Nothing,
}

fn memory<U: Unit, L: Law<U>>(inputs: &[MergeInput<'_, U>], strategy: Strategy) -> Memory {
    if matches!(
        strategy,
        Strategy::Materialised | Strategy::Tree { materialised: true }
    ) {
        return Memory::Buffer;
    }
    let certified = |input: &MergeInput<'_, U>| input.trust == Trust::Certified && !input.is_partial();
    if !L::NEEDS_KEY && inputs.iter().all(certified) {
        Memory::Nothing
    } else {
        Memory::Spans
    }
}

impl<'a, U: Lane> Kernel<'a, U> {
    pub(super) fn new<L: Law<U>>(
        inputs: &[MergeInput<'a, U>],
        output: Output<U>,
        strategy: Strategy,
    ) -> Result<Self, MergeError> {
        let newest_first = L::REPLACES;
        let memory = memory::<U, L>(inputs, strategy);
        Ok(match (strategy, inputs) {
            (Strategy::Naive, _) => Self::Naive(NaiveMerge::new(inputs, output)?),
            (Strategy::Encoded | Strategy::Materialised, [older, newer]) => match memory {
                Memory::Buffer => Self::TwoBuffers(TwoWay::new(older, newer, output)?),
                Memory::Spans => Self::TwoSpans(TwoWay::new(older, newer, output)?),
                Memory::Nothing => Self::TwoCertified(TwoWay::new(older, newer, output)?),
            },
            _ => match memory {
                Memory::Buffer => Self::ManyBuffers(LoserTree::new(inputs, output, newest_first)?),
                Memory::Spans => Self::ManySpans(LoserTree::new(inputs, output, newest_first)?),
                Memory::Nothing => Self::ManyCertified(LoserTree::new(inputs, output, newest_first)?),
            },
        })
    }

    pub(super) fn output(&self) -> &Output<U> {
        each!(self, kernel => kernel.output())
    }

    pub(super) fn is_done(&self) -> bool {
        each!(self, kernel => kernel.is_done())
    }

    pub(super) fn step<L: Law<U>>(&mut self, budget: u64, law: &L) -> Result<Progress, MergeError> {
        each!(self, kernel => kernel.step(budget, law))
    }

    pub(super) fn take_stream(&mut self) -> Result<EncodedStream, MergeError> {
        each!(self, kernel => kernel.take_stream())
    }
}
