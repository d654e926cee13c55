//! The key as spans of the payload.
//!
//! ```text
//! key       c a r t o o n           spans (bias, start); unit q of a span lies at bias + q
//!           |---|---|---|           "ca"  at 3   -> bias  3, start 0
//!            ca  rt  oon            "rt"  at 20  -> bias 18, start 2
//!                                   "oon" at 31  -> the head's, not stored
//!
//! retain 3  c a r|                  pop spans that start behind unit 3; the one below is trimmed by the
//!                                   new literal's start, nothing is written
//! ```
//!
//! The stack holds 64 spans. When it is full its units are appended to one owned buffer, `flat`, and the
//! stack starts anew behind them; so each literal is copied at most once, and scratch never exceeds the longest key, which
//! a buffer of the key itself never does with less.
//!
//! Of the buffer the first `flat_units` units count; it is cut to them when more are appended.
//!
//! Invariants: `flat_units` and the spans cover the key up to the head's literal (or, committed, to its end) without
//! holes; starts increase strictly; the first span starts at `flat_units`.

use tephra_sstable::{FormatError, Frame};

use super::super::lane::Lane;
use super::super::source::Head;
use super::{Continues, History, Next, judge};

/// Spans that fit before the key is flattened: more than nearly all keys have, and a kibibyte.
pub(in super::super) const SPANS_MAX: usize = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    /// Payload position of the key's unit 0, were the span to reach so far; wraps.
    bias: u64,
    /// First key unit it covers.
    start: u64,
}

/// The stack, and the flattened units below it.
#[derive(Debug)]
pub(in super::super) struct Spans<U: Lane> {
    stack: [Span; SPANS_MAX],
    depth: usize,
    flat: U::Owned,
    flat_units: u64,
}

impl<U: Lane> Default for Spans<U> {
    fn default() -> Self {
        Self {
            stack: [Span::default(); SPANS_MAX],
            depth: 0,
            flat: U::Owned::default(),
            flat_units: 0,
        }
    }
}

impl<U: Lane> Spans<U> {
    /// Pieces of the committed key from unit `from` on.
    fn pieces<'k>(
        &'k self,
        payload: &'k [u8],
        from: u64,
        key_units: u64,
    ) -> impl Iterator<Item = U::Str<'k>> {
        let flat = U::slice(U::as_str(&self.flat), from.min(self.flat_units), self.flat_units);
        let spans = span_pieces::<U>(&self.stack[..self.depth], payload, from, key_units);
        std::iter::once(flat)
            .filter(|flat| U::len(*flat) > 0)
            .chain(spans)
    }

    /// Drops what lies at or behind unit `units`.
    fn trim(&mut self, units: u64) {
        while self.depth > 0 && self.stack[self.depth - 1].start >= units {
            self.depth -= 1;
        }
        self.flat_units = self.flat_units.min(units);
    }

    /// Puts a span on top of a key of `start` units.
    fn push(&mut self, payload: &[u8], bias: u64, start: u64) {
        if self.depth == SPANS_MAX {
            self.flatten(payload, start);
        }
        self.stack[self.depth] = Span { bias, start };
        self.depth += 1;
    }

    /// [`History::advance`] for a boundary inside the flattened units.
    #[inline(always)]
    fn advance_into_flat(&mut self, next: &Next) -> bool {
        if next.retained >= self.flat_units || U::unit_of(&self.flat, next.retained) >= next.first {
            return false;
        }
        (self.flat_units, self.depth) = (next.retained, 0);
        true
    }

    /// Copies the spans of a key of `key_units` units into the buffer.
    #[cold]
    #[inline(never)]
    fn flatten(&mut self, payload: &[u8], key_units: u64) {
        U::truncate(&mut self.flat, self.flat_units);
        let extra = key_units - self.flat_units;
        // Exactly: doubling may ask for more than a buffer that has grown by every key. If memory ends, pushing says so.
        let _ = U::try_reserve_exact(&mut self.flat, extra);
        let mut end = self.stack[0].start;
        for index in 0..self.depth {
            let start = end;
            end = if index + 1 < self.depth {
                self.stack[index + 1].start
            } else {
                key_units
            };
            let at = self.stack[index].bias.wrapping_add(start);
            U::push_piece(&mut self.flat, payload, at, end - start);
        }
        (self.flat_units, self.depth) = (key_units, 0);
    }
}

/// Pieces of a key from unit `from` on, as far as spans cover it.
fn span_pieces<'k, U: Lane>(
    spans: &'k [Span],
    payload: &'k [u8],
    from: u64,
    key_units: u64,
) -> impl Iterator<Item = U::Str<'k>> {
    spans.iter().enumerate().filter_map(move |(index, span)| {
        let end = spans.get(index + 1).map_or(key_units, |next| next.start);
        let start = span.start.max(from);
        (start < end).then(|| {
            let at = span.bias.wrapping_add(start);
            U::string_at(payload, at, end - start).expect("spans lie in the payload")
        })
    })
}

impl<U: Lane> History<U> for Spans<U> {
    #[inline(always)]
    fn advance(&mut self, payload: &[u8], head: &Head, next: &Next) -> bool {
        if next.retained >= head.retained {
            // Inside the head's literal, or right behind it.
            let extends = next.retained == head.key_units;
            if !extends
                && (next.retained > head.key_units
                    || U::unit_at(payload, head.bias.wrapping_add(next.retained)) >= next.first)
            {
                return false;
            }
            if next.retained > head.retained {
                if self.depth == SPANS_MAX {
                    self.flatten(payload, head.retained);
                }
                self.stack[self.depth] = Span {
                    bias: head.bias,
                    start: head.retained,
                };
                self.depth += 1;
            }
            return true;
        }
        let mut depth = self.depth;
        while depth > 0 {
            let span = self.stack[depth - 1];
            if span.start <= next.retained {
                if U::unit_at(payload, span.bias.wrapping_add(next.retained)) >= next.first {
                    return false;
                }
                self.depth = depth - usize::from(span.start == next.retained);
                return true;
            }
            depth -= 1;
        }
        self.advance_into_flat(next)
    }

    fn commit(&mut self, payload: &[u8], head: &Head) {
        if head.retained < head.key_units {
            self.push(payload, head.bias, head.retained);
        }
    }

    fn follow(&self, payload: &[u8], key_units: u64, frame: &Frame) -> Result<Continues, FormatError> {
        let replaced = self.pieces(payload, frame.retained, key_units);
        judge::<U>(replaced, frame.literal::<U>(payload), frame, key_units)
    }

    fn replace(&mut self, payload: &[u8], _key_units: u64, frame: &Frame) {
        self.trim(frame.retained);
        if frame.literal_units() > 0 {
            self.push(
                payload,
                frame.literal_start.wrapping_sub(frame.retained),
                frame.retained,
            );
        }
    }

    fn restart(&mut self, prefix: U::Str<'_>) {
        self.depth = 0;
        self.flat_units = U::len(prefix);
        U::truncate(&mut self.flat, 0);
        let _ = U::try_reserve_exact(&mut self.flat, self.flat_units);
        U::push(&mut self.flat, prefix);
    }

    fn uncommit(&mut self) {
        // Only the empty key has no span.
        self.depth = self.depth.saturating_sub(1);
    }

    fn assemble(&self, payload: &[u8], from: u64, key_units: u64, out: &mut U::Owned) -> bool {
        self.pieces(payload, from, key_units)
            .for_each(|piece| U::push(out, piece));
        true
    }
}
