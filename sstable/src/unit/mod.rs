//! Units: what a string is a string of. Everything above this file is written once for both.
//!
//! ```text
//! Byte    Str = &[u8]        Owned = Vec<u8>       counts are varints
//! Bit     Str = BitStr       Owned = BitString     counts are exponential-Golomb; backspaces as the policy says
//! ```
//!
//! A [`Unit`] is a type known at compile time, so a byte stream never pays for bits. [`UnitKind`] is the same
//! choice as a value, for the edge where a policy arrives at run time.

mod bit;
mod byte;

use std::cmp::Ordering;
use std::collections::TryReserveError;
use std::fmt::Debug;

use crate::counts::CountError;
use crate::front_coding::ShortControls;
use crate::policy::BackspaceCode;
use crate::writer::framing::Assemble;

/// The unit as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnitKind {
    /// Eight bits.
    Byte,
    /// One bit.
    Bit,
}

impl UnitKind {
    /// Bits a unit.
    #[must_use]
    pub const fn bits(self) -> u64 {
        match self {
            Self::Byte => 8,
            Self::Bit => 1,
        }
    }
}

/// Streams of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Byte;

/// Streams of bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Bit;

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Byte {}
    impl Sealed for super::Bit {}
}

/// What a stream is a stream of: [`Byte`] or [`Bit`]. All lengths and positions count units.
pub trait Unit:
    sealed::Sealed
    + for<'a> Assemble<String<'a> = <Self as Unit>::Str<'a>, Frames = <Self as Unit>::Owned>
    + Copy
    + Default
    + Debug
    + Eq
    + Send
    + Sync
    + 'static
{
    /// The same as a value.
    const KIND: UnitKind;
    /// Bits a unit.
    const BITS: u64;
    /// A borrowed string, ordered as unsigned units, a proper prefix before its extensions.
    type Str<'a>: Copy + Debug + Default + Ord + Send + Sync;
    /// An owned string that grows and shrinks at its end.
    type Owned: Clone + Debug + Default + Eq + Send + Sync;

    /// The length of a string.
    fn len(string: Self::Str<'_>) -> u64;
    /// `len` units of `bytes` from unit `start` on; `None` where the bytes end before.
    fn string_at(bytes: &[u8], start: u64, len: u64) -> Option<Self::Str<'_>>;
    /// The units `from..to` of a string. Panics when it has no such units.
    fn slice<'a>(string: Self::Str<'a>, from: u64, to: u64) -> Self::Str<'a>;
    /// Unit `at` of a string as a number, if it has one.
    fn get(string: Self::Str<'_>, at: u64) -> Option<u64>;
    /// The 64 bits from unit `at` on as a number, the first bit the most significant, zeros behind the string's end.
    fn head(string: Self::Str<'_>, at: u64) -> u64;
    /// The hash that filters store.
    fn hash(string: Self::Str<'_>) -> u64;
    /// The number of leading units in which two strings agree.
    fn lcp(a: Self::Str<'_>, b: Self::Str<'_>) -> u64;

    /// The order of two strings that need not live equally long.
    #[inline]
    fn compare(a: Self::Str<'_>, b: Self::Str<'_>) -> Ordering {
        let same = Self::lcp(a, b);
        Self::get(a, same).cmp(&Self::get(b, same))
    }

    /// The number of leading units in which two strings agree, and whether `b` follows `a` in order.
    fn order(a: Self::Str<'_>, b: Self::Str<'_>) -> (u64, bool);

    /// The contents of an owned string.
    fn as_str(owned: &Self::Owned) -> Self::Str<'_>;
    /// The length of an owned string.
    fn owned_len(owned: &Self::Owned) -> u64;
    /// Becomes equal to `string`, of which the first `keep` units agree already; copies the rest.
    ///
    /// # Panics
    ///
    /// When either string has fewer than `keep` units.
    fn advance(owned: &mut Self::Owned, keep: u64, string: Self::Str<'_>);
    /// Makes room for `extra` more units, or leaves the string as it is.
    fn try_reserve(owned: &mut Self::Owned, extra: u64) -> Result<(), TryReserveError>;
    /// As [`Unit::try_reserve`], for no more than that.
    fn try_reserve_exact(owned: &mut Self::Owned, extra: u64) -> Result<(), TryReserveError>;
    /// Keeps the first `len` units, and the memory.
    fn truncate(owned: &mut Self::Owned, len: u64);
    /// Appends a string.
    fn push(owned: &mut Self::Owned, string: Self::Str<'_>);
    /// Keeps the first `keep` units and appends `len` units of `readable` from unit `start` on. What lies behind those
    /// in `readable` may be read as well, so that a short copy is one load and one store.
    fn replace_suffix(owned: &mut Self::Owned, keep: u64, readable: &[u8], start: u64, len: u64);
    /// The bytes of an owned string, zero-padded.
    fn into_bytes(owned: Self::Owned) -> Vec<u8>;

    /// Appends the code of a count.
    fn push_count(owned: &mut Self::Owned, n: u64);
    /// Appends the code of a backspace.
    fn push_backspace(owned: &mut Self::Owned, n: u64, code: BackspaceCode);
    /// The controls of the frame at unit `at` where one load has them all; `None` where the careful way must be gone.
    /// `backspace` is none at a block start. Neither extent nor previous key are checked.
    fn short_controls(
        payload: &[u8],
        at: u64,
        backspace: Option<BackspaceCode>,
        says_width: bool,
    ) -> Option<ShortControls>;
    /// Reads a count at unit `at` of a payload that ends at unit `extent`: the number, and where it ends.
    ///
    /// # Errors
    ///
    /// The extent cuts the code short, it is not in its shortest form, or it is above 64 bits.
    fn read_count(payload: &[u8], extent: u64, at: u64) -> Result<(u64, u64), CountError>;
    /// Reads a backspace, as [`Unit::read_count`].
    ///
    /// # Errors
    ///
    /// As [`Unit::read_count`].
    fn read_backspace(
        payload: &[u8],
        extent: u64,
        at: u64,
        code: BackspaceCode,
    ) -> Result<(u64, u64), CountError>;
}
