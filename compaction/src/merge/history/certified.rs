//! No memory at all: for tables whose properties certify ordinary front coding and strict order.
//!
//! The current literal is at hand anyway, so where the next boundary falls inside it the order check is
//! still made, and costs one unit. What it cannot see (a boundary before the current literal) it takes on
//! trust. A certificate that is seen to be wrong poisons the merge.

use tephra_sstable::{FormatError, Frame, Rule};

use super::super::lane::Lane;
use super::super::source::Head;
use super::{Continues, History, Next};

/// The span of the literal committed last.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Certified {
    bias: u64,
    start: u64,
}

impl<U: Lane> History<U> for Certified {
    #[inline(always)]
    fn advance(&mut self, payload: &[u8], head: &Head, next: &Next) -> bool {
        if next.retained < head.retained {
            return true;
        }
        if next.retained >= head.key_units {
            return next.retained == head.key_units;
        }
        U::unit_at(payload, head.bias.wrapping_add(next.retained)) < next.first
    }

    fn commit(&mut self, _payload: &[u8], head: &Head) {
        *self = Self {
            bias: head.bias,
            start: head.retained,
        };
    }

    fn follow(&self, payload: &[u8], key_units: u64, frame: &Frame) -> Result<Continues, FormatError> {
        let literal = frame.literal::<U>(payload);
        let Some(after) = U::get(literal, 0) else {
            return Err(FormatError::payload(
                frame.start,
                Rule::KeyIsPrefix,
                key_units,
                frame.key_units(),
            ));
        };
        if frame.retained < self.start || frame.retained == key_units {
            return Ok(Continues::Shares(frame.retained));
        }
        let before = U::unit_at(payload, self.bias.wrapping_add(frame.retained));
        match before.cmp(&after) {
            std::cmp::Ordering::Less => Ok(Continues::Shares(frame.retained)),
            std::cmp::Ordering::Equal => Ok(Continues::Repeats),
            std::cmp::Ordering::Greater => Err(FormatError::payload(
                frame.literal_start,
                Rule::KeyOrder,
                before,
                after,
            )),
        }
    }

    fn replace(&mut self, _payload: &[u8], _key_units: u64, frame: &Frame) {
        *self = Self {
            bias: frame.literal_start.wrapping_sub(frame.retained),
            start: frame.retained,
        };
    }

    fn restart(&mut self, _prefix: U::Str<'_>) {
        // Nothing of the prefix is known: a boundary inside it is taken on trust.
        *self = Self {
            bias: 0,
            start: u64::MAX,
        };
    }

    fn uncommit(&mut self) {}

    fn assemble(&self, _payload: &[u8], _from: u64, _key_units: u64, _out: &mut U::Owned) -> bool {
        false
    }
}
