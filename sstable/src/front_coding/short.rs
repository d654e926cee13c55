//! All controls of a frame from one load, where they are short; they usually are.
//!
//! ```text
//! bytes   one word, little-endian    02 01 00 't' ..       no count has its top bit set: each is one byte
//! bits    one window of 57 bits      011 010 010 ..        leading zeros give each code's width; shift, and go on
//! ```
//!
//! Nothing is checked here but that the load lies in the payload. Whatever is long or odd gives `None`, and the
//! careful reader decides; so does whoever finds that a frame read here breaks a rule.

use crate::bits::window57;
use crate::policy::BackspaceCode;

/// The controls of one frame, and where they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortControls {
    /// The retained length at a block start, the backspace elsewhere.
    pub lead: u64,
    /// Units of the literal.
    pub suffix: u64,
    /// Units of the value, 0 where the record does not say them.
    pub width: u64,
    /// Where the literal starts.
    pub end: u64,
}

/// Controls of a byte stream at `at`.
#[inline(always)]
pub(crate) fn short_bytes(payload: &[u8], at: u64, says_width: bool) -> Option<ShortControls> {
    let word = u64::from_le_bytes(*payload.get(usize::try_from(at).ok()?..)?.first_chunk()?);
    let (long, len, width) = match says_width {
        true => (0x80_8080, 3, word >> 16 & 0x7f),
        false => (0x8080, 2, 0),
    };
    (word & long == 0).then_some(ShortControls {
        lead: word & 0x7f,
        suffix: word >> 8 & 0x7f,
        width,
        end: at + len,
    })
}

/// Controls of a bit stream at `at`; `backspace` is none at a block start.
#[inline(always)]
pub(crate) fn short_bits(
    payload: &[u8],
    at: u64,
    backspace: Option<BackspaceCode>,
    says_width: bool,
) -> Option<ShortControls> {
    let order = match backspace {
        None => 0,
        Some(BackspaceCode::ExpGolomb { order }) => order,
        Some(BackspaceCode::Golomb { .. }) => return None,
    };
    let mut window = Window {
        bits: window57(payload, at),
        used: 0,
    };
    let high = window.order_0()?;
    let lead = match order {
        0 => high,
        _ => high << order | window.low_bits(order)?,
    };
    let suffix = window.order_0()?;
    let width = if says_width { window.order_0()? } else { 0 };
    (window.used <= WINDOW_BITS).then_some(ShortControls {
        lead,
        suffix,
        width,
        end: at + window.used,
    })
}

/// Bits of a window that are right.
const WINDOW_BITS: u64 = 57;

/// A window being eaten from the top. Zeros follow what was right; a code that runs into them is found at the end.
struct Window {
    bits: u64,
    used: u64,
}

impl Window {
    /// Eats an order-0 code of at most 57 bits.
    #[inline(always)]
    fn order_0(&mut self) -> Option<u64> {
        let zeros = u64::from(self.bits.leading_zeros());
        if zeros > WINDOW_BITS / 2 {
            return None;
        }
        let n = (self.bits >> (63 - 2 * zeros)) - 1;
        self.bits = self.bits << (2 * zeros) << 1;
        self.used += 2 * zeros + 1;
        Some(n)
    }

    /// Eats the low bits of a code of a higher order.
    #[inline(always)]
    fn low_bits(&mut self, order: u8) -> Option<u64> {
        if order > 24 {
            return None;
        }
        let low = self.bits >> (64 - order);
        self.bits <<= order;
        self.used += u64::from(order);
        Some(low)
    }
}
