//! What the overlays of an instant kill in one table, along one walk.
//!
//! A walk asks about ordinals in its own order. The run found last answers for all ordinals up to it, so most questions cost one
//! comparison, and each new run a search.

use std::ops::Range;

use super::direction::Direction;
use crate::dead_set::{self, DeadSet};
use crate::overlay::Overlay;

/// The runs of one table in the overlays that concern it.
#[derive(Debug)]
pub(super) struct EarlyKills {
    table: u64,
    direction: Direction,
    overlays: Vec<Ahead>,
}

/// One overlay, and the first of its runs, in walking direction, that does not lie behind the walk.
#[derive(Debug)]
struct Ahead {
    overlay: Overlay,
    run: Option<Range<u64>>,
    was_asked: bool,
}

impl EarlyKills {
    /// The runs of a table in `overlays`.
    pub(super) fn new<'a>(
        overlays: impl Iterator<Item = &'a Overlay>,
        table: u64,
        direction: Direction,
    ) -> Self {
        let concerning = overlays.filter(|overlay| overlay.concerns(table));
        let ahead = |overlay: &Overlay| Ahead {
            overlay: overlay.clone(),
            run: None,
            was_asked: false,
        };
        EarlyKills {
            table,
            direction,
            overlays: concerning.map(ahead).collect(),
        }
    }

    /// The next ordinal of a range, in walking direction, that is neither dead nor killed here. Ranges must only shrink from the
    /// walk's side.
    pub(super) fn next_live(&mut self, dead: &DeadSet, mut ordinals: Range<u64>) -> Option<u64> {
        loop {
            #[cfg(test)]
            super::effort::step();
            let found = match self.direction {
                Direction::Forward => dead_set::next_live(dead, ordinals.clone()),
                Direction::Backward => dead_set::previous_live(dead, ordinals.clone()),
            }?;
            let Some(run) = self.covering(found) else {
                return Some(found);
            };
            match self.direction {
                Direction::Forward => ordinals.start = run.end.min(ordinals.end),
                Direction::Backward => ordinals.end = run.start.max(ordinals.start),
            }
        }
    }

    fn covering(&mut self, ordinal: u64) -> Option<Range<u64>> {
        let (table, direction) = (self.table, self.direction);
        self.overlays
            .iter_mut()
            .find_map(|ahead| ahead.covering(table, ordinal, direction))
    }
}

impl Ahead {
    fn covering(&mut self, table: u64, ordinal: u64, direction: Direction) -> Option<Range<u64>> {
        let is_passed = |run: &Range<u64>| match direction {
            Direction::Forward => run.end <= ordinal,
            Direction::Backward => ordinal < run.start,
        };
        if !self.was_asked || self.run.as_ref().is_some_and(is_passed) {
            self.was_asked = true;
            self.run = match direction {
                Direction::Forward => self
                    .overlay
                    .covering(table, ordinal)
                    .or_else(|| self.overlay.first_from(table, ordinal)),
                Direction::Backward => self.overlay.at_or_before(table, ordinal),
            };
        }
        self.run.clone().filter(|run| run.contains(&ordinal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Rng;

    #[test]
    fn walks_meet_exactly_what_nothing_kills() {
        for seed in 0..100 {
            let mut rng = Rng::new(seed);
            let mut alive = [true; 200];
            let mut random_run = |alive: &mut [bool; 200]| {
                let start = rng.below(200);
                let end = (start + rng.below(25)).min(200);
                alive[start..end].fill(false);
                start as u64..end as u64
            };
            let mut overlays = [Overlay::default(), Overlay::default()];
            for overlay in &mut overlays {
                (0..5).for_each(|_| overlay.insert(7, random_run(&mut alive)));
                overlay.insert(6, 0..200);
                overlay.insert(8, 0..200);
            }
            let dead_runs = (0..3).map(|_| random_run(&mut alive));
            let dead = dead_set::with_added(&None, 200, &dead_runs.flatten().collect());
            let expected: Vec<u64> = (0..)
                .zip(alive)
                .filter(|(_, alive)| *alive)
                .map(|(n, _)| n)
                .collect();
            for direction in [Direction::Forward, Direction::Backward] {
                let mut kills = EarlyKills::new(overlays.iter(), 7, direction);
                let (mut rest, mut met) = (0..200, Vec::new());
                while let Some(ordinal) = kills.next_live(&dead, rest.clone()) {
                    met.push(ordinal);
                    match direction {
                        Direction::Forward => rest.start = ordinal + 1,
                        Direction::Backward => rest.end = ordinal,
                    }
                }
                if direction == Direction::Backward {
                    met.reverse();
                }
                assert_eq!(met, expected, "seed {seed}, {direction:?}");
            }
        }
    }
}
