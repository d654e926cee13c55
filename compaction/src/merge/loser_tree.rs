//! Any number of sources: a tournament of losers whose codes are relative to the key written last.
//!
//! ```text
//!                 winner           the smallest head
//!                   |
//!                 node 1           each node keeps the loser of its match; the loser's code is relative
//!                /      \          to whoever beat it
//!           node 2      node 3
//!           /    \      /    \
//!          s0    s1    s2    s3    k sources, any k: leaf of source i is place k + i
//! ```
//!
//! After the winner's record is written and its source has advanced, it plays the nodes on its way up again:
//! about `log2 k` comparisons of codes. All losers on that way lost to the key just written, so
//! their codes and the new head's speak of the same key. Only equal codes need the keys.
//!
//! Equal keys: the one that is to come first wins, the other gets the duplicate code, the largest of its
//! length, so duplicates rise to the top right behind the key they repeat. With a replacing law the newest
//! comes first and the duplicates are dropped; otherwise the oldest comes first and the values are folded in
//! chronological order.

use std::cmp::Ordering;

use tephra_sstable::EncodedStream;

use super::code::ENDED;
use super::emit::{Value, compose, emit};
use super::history::History;
use super::input::MergeInput;
use super::lane::Lane;
use super::output::Output;
use super::progress::Progress;
use super::source::Source;
use super::two_way::settle;
use crate::compose::Law;
use crate::error::MergeError;

/// Merges any number of sources.
#[derive(Debug)]
pub(super) struct LoserTree<'a, U: Lane, H: History<U>> {
    sources: Vec<Source<'a, U, H>>,
    /// Losers of the nodes `1..k`; place 0 holds the winner.
    nodes: Vec<usize>,
    output: Output<U>,
    /// Among equal keys the newest comes first.
    newest_first: bool,
}

impl<'a, U: Lane, H: History<U>> LoserTree<'a, U, H> {
    pub(super) fn new(
        inputs: &[MergeInput<'a, U>],
        output: Output<U>,
        newest_first: bool,
    ) -> Result<Self, MergeError> {
        let declared = output.declared_width();
        let sources: Result<Vec<_>, _> = inputs
            .iter()
            .enumerate()
            .map(|(index, input)| Source::new(input, index, declared))
            .collect();
        let mut tree = Self {
            sources: sources?,
            nodes: vec![0; inputs.len()],
            output,
            newest_first,
        };
        tree.nodes[0] = tree.play_all(1);
        Ok(tree)
    }

    pub(super) fn output(&self) -> &Output<U> {
        &self.output
    }

    pub(super) fn is_done(&self) -> bool {
        self.sources[self.nodes[0]].has_ended()
    }

    pub(super) fn take_stream(&mut self) -> Result<EncodedStream, MergeError> {
        self.output.take_stream()
    }

    /// Plays the whole subtree below a place; gives its winner. Depth is `log2 k`.
    fn play_all(&mut self, place: usize) -> usize {
        let leaves = self.sources.len();
        if place >= leaves {
            return place - leaves;
        }
        let left = self.play_all(2 * place);
        let right = self.play_all(2 * place + 1);
        let (winner, loser) = if self.beats(left, right) {
            (left, right)
        } else {
            (right, left)
        };
        self.nodes[place] = loser;
        winner
    }

    /// Lets the last winner's new head play its way up.
    fn replay(&mut self) {
        let mut winner = self.nodes[0];
        let mut place = (winner + self.sources.len()) / 2;
        while place > 0 {
            let opponent = self.nodes[place];
            if self.beats(opponent, winner) {
                self.nodes[place] = winner;
                winner = opponent;
            }
            place /= 2;
        }
        self.nodes[0] = winner;
    }

    /// Whether the head of source `left` comes before that of `right`; the loser's code is made relative to
    /// the winner where it was not.
    #[inline]
    fn beats(&mut self, left: usize, right: usize) -> bool {
        let (left_code, right_code) = (self.sources[left].head.code, self.sources[right].head.code);
        if left_code != right_code {
            return left_code > right_code;
        }
        self.break_tie(left, right)
    }

    fn break_tie(&mut self, left: usize, right: usize) -> bool {
        let code = self.sources[left].head.code;
        let comes_first = (left > right) == self.newest_first;
        if code == ENDED || U::is_duplicate(code) {
            return comes_first;
        }
        let (low, high) = (left.min(right), left.max(right));
        let (before, from_high) = self.sources.split_at_mut(high);
        let order = settle(&mut before[low], &mut from_high[0]);
        match order {
            Ordering::Equal => {
                let loser = &mut self.sources[if comes_first { right } else { left }].head;
                loser.code = U::duplicate_code(loser.key_units);
                comes_first
            }
            _ => (order == Ordering::Less) == (left == low),
        }
    }

    fn winner(&self) -> &Source<'a, U, H> {
        &self.sources[self.nodes[0]]
    }

    fn advance_winner(&mut self) -> Result<(), MergeError> {
        self.sources[self.nodes[0]].advance_slowly()?;
        self.replay();
        Ok(())
    }

    pub(super) fn step<L: Law<U>>(&mut self, budget: u64, law: &L) -> Result<Progress, MergeError> {
        let mut progress = Progress::default();
        while progress.keys < budget && !self.is_done() {
            if L::REPLACES {
                self.write_newest()?
            } else {
                progress.records += self.write_folded(law)?
            }
            progress.keys += 1;
            progress.records += 1;
            while U::is_duplicate(self.winner().head.code) {
                self.advance_winner()?;
                progress.records += 1;
            }
        }
        progress.done = self.is_done();
        Ok(progress)
    }

    /// Writes the winner, the newest of its key.
    fn write_newest(&mut self) -> Result<(), MergeError> {
        let winner = &mut self.sources[self.nodes[0]];
        let value = winner.value();
        emit(
            &mut self.output,
            winner,
            U::lcp_of(winner.head.code),
            value.string::<U>(),
        )?;
        self.advance_winner()
    }

    /// Writes the winner, the oldest of its key, composed with all that follow it. Gives their number.
    ///
    /// The last record of the key is the one that is written, since it is at hand when all have been folded;
    /// its literal starts at or before the boundary that the first one's code gave.
    fn write_folded<L: Law<U>>(&mut self, law: &L) -> Result<u64, MergeError> {
        let lcp = U::lcp_of(self.winner().head.code);
        let mut value = Value::Borrowed(self.winner().value());
        let mut folded = 0;
        while self.winner_is_repeated() {
            self.advance_winner()?;
            let newer = &mut self.sources[self.nodes[0]];
            value = compose(law, &self.output, value, newer)?;
            folded += 1;
        }
        emit(
            &mut self.output,
            &mut self.sources[self.nodes[0]],
            lcp,
            value.as_str(),
        )?;
        self.advance_winner()?;
        Ok(folded)
    }

    /// Whether another source holds the winner's key. Such a source lost to the winner, or to another one
    /// that holds the key and did: a node on the winner's way up has it.
    fn winner_is_repeated(&self) -> bool {
        let mut place = (self.nodes[0] + self.sources.len()) / 2;
        while place > 0 {
            if U::is_duplicate(self.sources[self.nodes[place]].head.code) {
                return true;
            }
            place /= 2;
        }
        false
    }
}
