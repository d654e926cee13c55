//! Any number of sources: a tournament of losers whose codes are relative to the key written last.
//!
//! ```text
//!                 winner           the smallest head
//!                   |
//!                 node 1           each node keeps the loser of its match with the code it has relative to
//!                /      \          whoever beat it
//!           node 2      node 3
//!           /    \      /    \
//!          s0    s1    s2    s3    k sources, any k: leaf of source i is place k + i
//! ```
//!
//! After the winner's record is written and its source has advanced, it plays the nodes on its way up again:
//! about `log2 k` comparisons of codes, and no branch on who wins. All losers on that way
//! lost to the key just written, so their codes and the new head's speak of the same key. Only equal codes
//! need the keys.
//!
//! A source that wins some times in a row is taken to have a run, see [`runs`](super::runs); so is the only one of a
//! merge of one.
//!
//! Equal keys: the one that is to come first wins, the other gets the duplicate code, the largest of its
//! length, so duplicates rise to the top right behind the key they repeat. With a replacing law the newest
//! comes first and the duplicates are dropped; otherwise the oldest comes first and the values are folded in
//! chronological order.

use std::cmp::Ordering;
use std::hint::select_unpredictable;

use tephra_sstable::EncodedStream;

use super::code::ENDED;
use super::emit::{Value, compose, emit};
use super::history::History;
use super::input::MergeInput;
use super::lane::{Lane, Parting, part, part_strings};
use super::output::Output;
use super::progress::Progress;
use super::runs::{RUN_FROM, copy_runs};
use super::source::Source;
use crate::compose::Law;
use crate::error::MergeError;

/// A source in the tournament.
#[derive(Clone, Copy, Debug, Default)]
struct Player {
    /// Code of its head relative to whoever beat it; the winner's is relative to the key written last.
    code: u64,
    source: usize,
}

/// Merges any number of sources.
#[derive(Debug)]
pub(super) struct LoserTree<'a, U: Lane, H: History<U>> {
    sources: Vec<Source<'a, U, H>>,
    /// Losers of the nodes `1..k`; place 0 holds the winner.
    players: Vec<Player>,
    output: Output<U>,
    /// Among equal keys the newest comes first and stands; otherwise the oldest does, and the law is asked.
    newest_first: bool,
    /// A key, where a law or the first record behind a cut asks for it; kept for the next one.
    key: U::Owned,
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
        let players = vec![Player::default(); inputs.len()];
        let mut tree = Self {
            sources: sources?,
            players,
            output,
            newest_first,
            key: U::Owned::default(),
        };
        tree.players[0] = tree.play_all(1);
        Ok(tree)
    }

    pub(super) fn output(&self) -> &Output<U> {
        &self.output
    }

    pub(super) fn is_done(&self) -> bool {
        self.players[0].code == ENDED
    }

    pub(super) fn take_stream(&mut self) -> Result<EncodedStream, MergeError> {
        self.output.take_stream()
    }

    /// Plays the whole subtree below a place; gives its winner. Depth is `log2 k`.
    fn play_all(&mut self, place: usize) -> Player {
        let leaves = self.sources.len();
        if place >= leaves {
            let source = place - leaves;
            return Player {
                code: self.sources[source].head.code,
                source,
            };
        }
        let mut left = self.play_all(2 * place);
        let mut right = self.play_all(2 * place + 1);
        let left_wins = match left.code.cmp(&right.code) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => break_tie(&self.sources, &mut left, &mut right, self.newest_first),
        };
        let (winner, loser) = if left_wins { (left, right) } else { (right, left) };
        self.players[place] = loser;
        winner
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

    /// Copies a run of the winner, whose head comes next. The best of the others is on its way up, with a code relative
    /// to the winner's key: whoever lost to another one is behind that one.
    fn step_run<const COMMON: bool>(
        &mut self,
        budget: u64,
        progress: &mut Progress,
    ) -> Result<(), MergeError> {
        let mut winner = self.players[0];
        let (mut other, mut place) = (ENDED, (winner.source + self.players.len()) / 2);
        while place > 0 {
            other = other.max(self.players[place].code);
            place /= 2;
        }
        let source = &mut self.sources[winner.source];
        let keys_max = budget - progress.keys;
        let keys = copy_runs::<U, H, COMMON>(source, &mut self.output, other, keys_max)?;
        progress.keys += keys;
        progress.records += keys;
        winner.code = source.head.code;
        replay(&self.sources, &mut self.players, &mut winner, self.newest_first);
        self.players[0] = winner;
        self.drop_duplicates(progress)
    }

    /// Goes past the records of the key written last, which a step never leaves behind.
    fn drop_duplicates(&mut self, progress: &mut Progress) -> Result<(), MergeError> {
        while U::is_duplicate(self.players[0].code) {
            self.advance_winner()?;
            progress.records += 1;
        }
        Ok(())
    }

    /// Writes records until one is unusual or the budget is spent. Never stops between a key and its duplicates.
    /// Whether it went on to a run, behind which it may be called again.
    fn step_fast<const COMMON: bool>(
        &mut self,
        budget: u64,
        progress: &mut Progress,
    ) -> Result<bool, MergeError> {
        let Self {
            sources,
            players,
            output,
            newest_first,
            key: _,
        } = self;
        let mut burst = output.burst();
        let (mut keys, mut records) = (0, 0);
        let mut winner = players[0];
        let (mut streak, mut has_run) = (0, false);
        let mut result = Ok(());
        loop {
            let source = &mut sources[winner.source];
            let bounds = source.bounds();
            let mut head = source.head;
            if !U::is_duplicate(winner.code) {
                if winner.code == ENDED || progress.keys + keys == budget || head.is_joined() {
                    break;
                }
                if !*newest_first && is_repeated::<U>(players, winner.source) {
                    break;
                }
                if streak == RUN_FROM {
                    has_run = true;
                    break;
                }
                let lcp = U::lcp_of(winner.code);
                let start = head.bias.wrapping_add(lcp);
                if !U::append::<COMMON>(&mut burst, lcp, head.key_units, bounds.readable, start, head.next) {
                    U::commit(burst);
                    result = output.append_joined(lcp, head.key_units, bounds.readable, start, head.next);
                    burst = output.burst();
                    if result.is_err() {
                        break;
                    }
                }
                keys += 1;
            }
            records += 1;
            if Source::<U, H>::advance_fast::<COMMON>(&mut head, &mut source.history, &bounds) {
                source.head = head;
            } else {
                result = source.advance_slowly();
                if result.is_err() {
                    break;
                }
            }
            winner.code = source.head.code;
            let last = winner.source;
            replay(sources, players, &mut winner, *newest_first);
            streak = if winner.source == last { streak + 1 } else { 0 };
        }
        U::commit(burst);
        players[0] = winner;
        progress.keys += keys;
        progress.records += records;
        result?;
        if has_run {
            self.step_run::<COMMON>(budget, progress)?;
        }
        Ok(has_run)
    }

    fn winner(&mut self) -> &mut Source<'a, U, H> {
        &mut self.sources[self.players[0].source]
    }

    fn advance_winner(&mut self) -> Result<(), MergeError> {
        let mut winner = self.players[0];
        self.sources[winner.source].advance_slowly()?;
        winner.code = self.sources[winner.source].head.code;
        replay(&self.sources, &mut self.players, &mut winner, self.newest_first);
        self.players[0] = winner;
        Ok(())
    }

    /// Writes one key the general way, with all that repeat it.
    #[cold]
    #[inline(never)]
    fn step_slowly<L: Law<U>>(&mut self, law: &L, progress: &mut Progress) -> Result<(), MergeError> {
        if L::REPLACES {
            self.write_newest()?;
        } else {
            progress.records += self.write_folded(law)?;
        }
        progress.keys += 1;
        progress.records += 1;
        self.drop_duplicates(progress)
    }

    /// Writes the winner, the newest of its key.
    fn write_newest(&mut self) -> Result<(), MergeError> {
        let lcp = U::lcp_of(self.players[0].code);
        let winner = &mut self.sources[self.players[0].source];
        let value = winner.value();
        emit(&mut self.output, winner, &mut self.key, lcp, value.string::<U>())?;
        self.advance_winner()
    }

    /// Writes the winner, the oldest of its key, composed with all that follow it. Gives their number.
    ///
    /// The last record of the key is the one that is written, since it is at hand when all have been folded;
    /// its literal starts at or before the boundary that the first one's code gave.
    fn write_folded<L: Law<U>>(&mut self, law: &L) -> Result<u64, MergeError> {
        let lcp = U::lcp_of(self.players[0].code);
        let mut value = Value::Borrowed(self.winner().value());
        let mut folded = 0;
        if L::NEEDS_KEY && is_repeated::<U>(&self.players, self.players[0].source) {
            self.sources[self.players[0].source].read_key(&mut self.key)?;
        }
        while is_repeated::<U>(&self.players, self.players[0].source) {
            self.advance_winner()?;
            let newer = &self.sources[self.players[0].source];
            value = compose(law, &self.output, &self.key, value, newer)?;
            folded += 1;
        }
        let last = &mut self.sources[self.players[0].source];
        emit(&mut self.output, last, &mut self.key, lcp, value.as_str())?;
        self.advance_winner()?;
        Ok(folded)
    }
}

/// Whether another source holds the winner's key. Such a source lost to the winner, or to another one that holds
/// the key and did: a node on the winner's way up has it.
fn is_repeated<U: Lane>(players: &[Player], winner: usize) -> bool {
    let mut place = (winner + players.len()) / 2;
    while place > 0 {
        if U::is_duplicate(players[place].code) {
            return true;
        }
        place /= 2;
    }
    false
}

/// Lets the last winner's new head play its way up; leaves the new winner in its place.
#[inline(always)]
fn replay<U: Lane, H: History<U>>(
    sources: &[Source<'_, U, H>],
    players: &mut [Player],
    winner: &mut Player,
    newest_first: bool,
) {
    let mut place = (winner.source + players.len()) / 2;
    while place > 0 {
        let opponent = &mut players[place];
        if opponent.code == winner.code {
            if break_tie(sources, opponent, winner, newest_first) {
                std::mem::swap(opponent, winner);
            }
        } else {
            // Selected, not branched on: nobody can predict which one wins.
            let exchange = opponent.code > winner.code;
            let (first, second) = (*winner, *opponent);
            winner.code = select_unpredictable(exchange, second.code, first.code);
            winner.source = select_unpredictable(exchange, second.source, first.source);
            opponent.code = select_unpredictable(exchange, first.code, second.code);
            opponent.source = select_unpredictable(exchange, first.source, second.source);
        }
        place /= 2;
    }
}

/// Whether `left` comes before `right`, of two players with one code. The loser's code becomes the one it has
/// relative to the winner.
#[inline(never)]
fn break_tie<U: Lane, H: History<U>>(
    sources: &[Source<'_, U, H>],
    left: &mut Player,
    right: &mut Player,
    newest_first: bool,
) -> bool {
    let comes_first = (left.source > right.source) == newest_first;
    if left.code == ENDED || U::is_duplicate(left.code) {
        return comes_first;
    }
    let lcp = U::lcp_of(left.code);
    let parting = part_heads(&sources[left.source], &sources[right.source], lcp);
    if parting.left == parting.right {
        let key_units = sources[left.source].head.key_units;
        let loser = if comes_first { right } else { left };
        loser.code = U::duplicate_code(key_units);
        comes_first
    } else if parting.left > parting.right {
        left.code = U::code(lcp + parting.same, parting.left - 1);
        false
    } else {
        right.code = U::code(lcp + parting.same, parting.right - 1);
        true
    }
}

/// Where the keys of two heads part, from unit `lcp` on.
#[inline(always)]
fn part_heads<U: Lane, H: History<U>>(
    left: &Source<'_, U, H>,
    right: &Source<'_, U, H>,
    lcp: u64,
) -> Parting {
    if left.head.is_joined() || right.head.is_joined() {
        return part_strings::<U>(left.suffix(lcp), right.suffix(lcp));
    }
    part::<U>(
        left.head.suffix(&left.bounds(), lcp),
        right.head.suffix(&right.bounds(), lcp),
    )
}
