//! The choice of the code that runs: how many sources, and what they remember.
//!
//! ```text
//! Encoded     two sources or many; they remember the spans of their key, or nothing
//! Compared    these, and those that exist to be compared with
//! ```
//!
//! Which of the two a merger holds is part of its type: a program that only merges carries four loops a unit, not seven.
//! The loops do not know the law. It is called where two records meet and the newer does not simply win, out of line.

use std::fmt::Debug;

use tephra_sstable::EncodedStream;

use super::history::{Buffer, Certified, Spans};
use super::input::{MergeInput, Trust};
use super::lane::Lane;
use super::loser_tree::LoserTree;
use super::merger::MergeUnit;
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

/// What a merger does behind its contract.
pub(super) trait Kernel<U: Lane>: Debug {
    fn output(&self) -> &Output<U>;

    fn is_done(&self) -> bool;

    fn step<L: Law<U>>(&mut self, budget: u64, law: &L) -> Result<Progress, MergeError>;

    fn take_stream(&mut self) -> Result<EncodedStream, MergeError>;
}

/// The mergers for use.
#[expect(
    clippy::large_enum_variant,
    reason = "a merger is one value that allocates nothing for itself"
)]
#[expect(
    private_interfaces,
    reason = "part of a merger's type; what it is made of is its own"
)]
#[derive(Debug)]
pub enum Encoded<'a, U: MergeUnit> {
    TwoSpans(TwoWay<'a, U, Spans<U>>),
    TwoCertified(TwoWay<'a, U, Certified>),
    ManySpans(LoserTree<'a, U, Spans<U>>),
    ManyCertified(LoserTree<'a, U, Certified>),
}

/// The mergers for use, and those to compare them with.
#[expect(
    clippy::large_enum_variant,
    reason = "a merger is one value that allocates nothing for itself"
)]
#[expect(
    private_interfaces,
    reason = "part of a merger's type; what it is made of is its own"
)]
#[derive(Debug)]
pub enum Compared<'a, U: MergeUnit> {
    Encoded(Encoded<'a, U>),
    TwoBuffers(TwoWay<'a, U, Buffer<U>>),
    ManyBuffers(LoserTree<'a, U, Buffer<U>>),
    Naive(NaiveMerge<'a, U>),
}

impl<'a, U: MergeUnit> Encoded<'a, U> {
    /// For these inputs, oldest first, under the law `L`; through the tree also for two of them, where `as_tree`.
    pub(super) fn new<L: Law<U>>(
        inputs: &[MergeInput<'a, U>],
        output: Output<U>,
        as_tree: bool,
    ) -> Result<Self, MergeError> {
        let certified = |input: &MergeInput<'_, U>| input.trust == Trust::Certified && !input.is_partial();
        let need_nothing = !L::NEEDS_KEY && inputs.iter().all(certified);
        let replaces = L::REPLACES;
        Ok(match inputs {
            [older, newer] if !as_tree => match need_nothing {
                true => Self::TwoCertified(TwoWay::new(older, newer, output, replaces)?),
                false => Self::TwoSpans(TwoWay::new(older, newer, output, replaces)?),
            },
            _ => match need_nothing {
                true => Self::ManyCertified(LoserTree::new(inputs, output, replaces)?),
                false => Self::ManySpans(LoserTree::new(inputs, output, replaces)?),
            },
        })
    }
}

impl<'a, U: MergeUnit> Compared<'a, U> {
    /// As [`Encoded::new`], in a chosen way.
    pub(super) fn new<L: Law<U>>(
        inputs: &[MergeInput<'a, U>],
        output: Output<U>,
        strategy: Strategy,
    ) -> Result<Self, MergeError> {
        let replaces = L::REPLACES;
        Ok(match (strategy, inputs) {
            (Strategy::Naive, _) => Self::Naive(NaiveMerge::new(inputs, output)?),
            (Strategy::Encoded | Strategy::Tree { materialised: false }, _) => {
                let as_tree = strategy != Strategy::Encoded;
                Self::Encoded(Encoded::new::<L>(inputs, output, as_tree)?)
            }
            (Strategy::Materialised, [older, newer]) => {
                Self::TwoBuffers(TwoWay::new(older, newer, output, replaces)?)
            }
            (Strategy::Materialised | Strategy::Tree { materialised: true }, _) => {
                Self::ManyBuffers(LoserTree::new(inputs, output, replaces)?)
            }
        })
    }
}

/// Makes an enum of kernels a kernel: whichever it is does the work.
macro_rules! dispatch {
    ($kernels:ident: $($variant:ident),*) => {
        impl<U: MergeUnit> Kernel<U> for $kernels<'_, U> {
            fn output(&self) -> &Output<U> {
                match self { $(Self::$variant(kernel) => kernel.output(),)* }
            }

            fn is_done(&self) -> bool {
                match self { $(Self::$variant(kernel) => kernel.is_done(),)* }
            }

            fn step<L: Law<U>>(&mut self, budget: u64, law: &L) -> Result<Progress, MergeError> {
                match self { $(Self::$variant(kernel) => kernel.step(budget, law),)* }
            }

            fn take_stream(&mut self) -> Result<EncodedStream, MergeError> {
                match self { $(Self::$variant(kernel) => kernel.take_stream(),)* }
            }
        }
    };
}

dispatch!(Encoded: TwoSpans, TwoCertified, ManySpans, ManyCertified);
dispatch!(Compared: Encoded, TwoBuffers, ManyBuffers, Naive);
