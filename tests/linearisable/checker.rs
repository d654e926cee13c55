//! Whether a recorded history is one that a single thread could have produced.
//!
//! ```text
//! time       1   2   3   4   5   6   7   8
//! thread A   |--- put k=7 ---|                       the put takes effect somewhere between 1 and 5
//! thread B       |get k=7|   |get k=0|               the second get began after the first had ended: it must not see
//!                                                    less. No order explains this history.
//! ```
//!
//! All cells (keys of all keyspaces) together are one object: a batch is one operation on several cells, a snapshot or a walk one read
//! of several. An order of all operations is looked for in which each stands between its call and its return and each read sees what
//! the writes before it left. So this says of one history that gets, walks and snapshots are linearisable, that batches
//! are whole, and that each snapshot is one instant of all keyspaces.
//!
//! The search goes through calls and returns in the order of time, with all states that are possible so far: the cells, and which of
//! the pending operations have taken effect. An operation takes effect as late as its own return, or that of another before which it has to, demands:
//! that loses no order (it can be put off until somebody needs it) and keeps the states few. Cost: returns times states; states
//! are bounded by the orders of what is pending at once, so by the number of threads, not by the length.
//!
//! A cell is one number, which stands for the sequence of the values that were put and merged: 0 is no value.

use std::collections::HashSet;

/// Number of cells.
pub(crate) const CELLS: usize = 12;

/// The state of all cells.
pub(crate) type Cells = [u64; CELLS];

/// What an operation does to a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Effect {
    Put(u64),
    Delete,
    /// Appends to what is there.
    Append(u64),
}

/// What an operation does, in one step.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// In order; a cell may occur more than once.
    Write(Vec<(usize, Effect)>),
    /// What was seen.
    Read(Vec<(usize, u64)>),
}

/// One operation of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) thread: usize,
    /// For people.
    pub(crate) name: &'static str,
    /// Times come from one counter: no two are the same.
    pub(crate) called: u64,
    pub(crate) returned: u64,
    pub(crate) action: Action,
}

/// A cell that held `cell` and gets `value` appended.
pub(crate) fn appended(cell: u64, value: u64) -> u64 {
    let mixed = (cell.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)) | 1
}

impl Action {
    /// Does it; `false` if it saw something else.
    fn take_effect(&self, cells: &mut Cells) -> bool {
        match self {
            Action::Read(seen) => seen.iter().all(|&(cell, value)| cells[cell] == value),
            Action::Write(effects) => {
                for &(cell, effect) in effects {
                    cells[cell] = match effect {
                        Effect::Put(value) => appended(0, value),
                        Effect::Delete => 0,
                        Effect::Append(value) => appended(cells[cell], value),
                    };
                }
                true
            }
        }
    }
}

/// One explanation of the history so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    cells: Cells,
    /// Pending operations that have taken effect: a bit a thread.
    done: u64,
}

/// What a check that found nothing wrong went through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checked {
    pub(crate) operations: usize,
    /// Operations that began while another was pending.
    pub(crate) overlapping: usize,
    /// Largest number of explanations at one time.
    pub(crate) states_max: usize,
}

/// Explanations that a check looks at before it gives up: a second's work. Most histories need a tenth to a third of them. Threads that stood still for long in the middle of calls can have
/// more orders than anybody can try.
const EXPLANATIONS_MAX: usize = 1_000_000;

/// Why a check does not end well.
#[derive(Debug)]
pub(crate) enum Unexplained {
    /// There is no order: says at which return the last explanation went.
    NoOrder(String),
    /// There are too many to try.
    Undecided,
}

/// Looks for an order.
///
/// # Errors
/// There is none, or too many were tried.
pub(crate) fn check(history: &[Call]) -> Result<Checked, Unexplained> {
    let mut times: Vec<(u64, bool, usize)> = Vec::new();
    for (index, call) in history.iter().enumerate() {
        assert!(call.called < call.returned && call.thread < 64, "{call:?}");
        times.push((call.called, false, index));
        times.push((call.returned, true, index));
    }
    times.sort_unstable();
    let mut pending: Vec<usize> = Vec::new();
    let mut states = HashSet::from([State {
        cells: [0; CELLS],
        done: 0,
    }]);
    let mut left = EXPLANATIONS_MAX;
    let mut checked = Checked {
        operations: history.len(),
        ..Checked::default()
    };
    for (_, is_return, index) in times {
        let call = &history[index];
        if !is_return {
            checked.overlapping += usize::from(!pending.is_empty());
            assert!(
                pending.iter().all(|&other| history[other].thread != call.thread),
                "a thread does one thing at a time"
            );
            pending.push(index);
            continue;
        }
        let next = after_return(history, &pending, &states, index, &mut left);
        if left == 0 {
            return Err(Unexplained::Undecided);
        }
        if next.is_empty() {
            let pending: Vec<&Call> = pending.iter().map(|&index| &history[index]).collect();
            let one = states.iter().next();
            return Err(Unexplained::NoOrder(format!(
                "no order explains what returned at {}: {call:?}\npending: {pending:#?}\n{} explanations until then, one of them {one:?}",
                call.returned,
                states.len()
            )));
        }
        pending.retain(|&other| other != index);
        checked.states_max = checked.states_max.max(next.len());
        states = next;
    }
    Ok(checked)
}

/// The states after the return of an operation: those in which it has taken effect, with as little else as possible before it. `left` says how many
/// explanations may still be looked at; once it is zero the states are not all.
fn after_return(
    history: &[Call],
    pending: &[usize],
    states: &HashSet<State>,
    index: usize,
    left: &mut usize,
) -> HashSet<State> {
    let bit = |index: usize| 1 << history[index].thread;
    let mut seen = HashSet::new();
    let mut open: Vec<State> = states.iter().copied().collect();
    let mut next = HashSet::new();
    while let Some(state) = open.pop() {
        *left = left.saturating_sub(1);
        if *left == 0 {
            break;
        }
        if state.done & bit(index) != 0 {
            next.insert(State {
                done: state.done & !bit(index),
                ..state
            });
            continue;
        }
        for &other in pending.iter().filter(|&&other| state.done & bit(other) == 0) {
            let mut after = State {
                done: state.done | bit(other),
                ..state
            };
            if history[other].action.take_effect(&mut after.cells) && seen.insert(after) {
                open.push(after);
            }
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::Action::{Read, Write};
    use super::Effect::{Append, Delete, Put};
    use super::*;

    fn call(thread: usize, (called, returned): (u64, u64), action: Action) -> Call {
        Call {
            thread,
            name: "by hand",
            called,
            returned,
            action,
        }
    }

    fn is_explained(calls: &[Call]) -> bool {
        match check(calls) {
            Ok(_) => true,
            Err(Unexplained::NoOrder(_)) => false,
            Err(Unexplained::Undecided) => panic!("so few calls have few orders"),
        }
    }

    #[test]
    fn reads_beside_a_write_may_see_either_and_never_go_back() {
        let put = || call(0, (1, 8), Write(vec![(0, Put(7))]));
        let read = |times, value| call(1, times, Read(vec![(0, value)]));
        let new = appended(0, 7);
        assert!(is_explained(&[put(), read((2, 3), 0), read((4, 5), new)]));
        assert!(is_explained(&[put(), read((2, 3), new), read((4, 5), new)]));
        assert!(!is_explained(&[put(), read((2, 3), new), read((4, 5), 0)]));
        assert!(
            !is_explained(&[put(), read((9, 10), 0)]),
            "a read after the return"
        );
        assert!(
            !is_explained(&[put(), read((2, 3), appended(0, 8))]),
            "a value nobody wrote"
        );
    }

    #[test]
    fn writes_beside_each_other_take_effect_in_one_order_for_all() {
        let writes = || {
            [
                call(0, (1, 20), Write(vec![(0, Put(1))])),
                call(1, (2, 21), Write(vec![(0, Put(2))])),
            ]
        };
        let read = |thread, times, value| call(thread, times, Read(vec![(0, appended(0, value))]));
        let with = |more: [Call; 2]| [writes().as_slice(), &more].concat();
        assert!(is_explained(&with([read(2, (3, 4), 1), read(3, (5, 6), 2)])));
        assert!(is_explained(&with([read(2, (3, 4), 2), read(3, (5, 6), 1)])));
        let both = with([read(2, (3, 4), 1), read(2, (5, 6), 2)]);
        let and_back = [both.as_slice(), &[read(3, (7, 8), 1)]].concat();
        assert!(is_explained(&both) && !is_explained(&and_back));
    }

    #[test]
    fn batches_are_whole_and_appended_values_keep_their_order() {
        let batch = call(
            0,
            (1, 9),
            Write(vec![(0, Put(1)), (1, Append(2)), (2, Put(3)), (2, Delete)]),
        );
        let read = |cells: [u64; 3]| call(1, (2, 3), Read((0..3).zip(cells).collect()));
        assert!(is_explained(&[batch.clone(), read([0; 3])]));
        assert!(is_explained(&[
            batch.clone(),
            read([appended(0, 1), appended(0, 2), 0])
        ]));
        assert!(!is_explained(&[batch.clone(), read([appended(0, 1), 0, 0])]));
        let more = call(2, (10, 11), Write(vec![(1, Append(4))]));
        let last = |value| call(1, (12, 13), Read(vec![(1, value)]));
        let in_order = appended(appended(0, 2), 4);
        assert!(is_explained(&[batch.clone(), more.clone(), last(in_order)]));
        assert!(!is_explained(&[batch, more, last(appended(appended(0, 4), 2))]));
    }
}
