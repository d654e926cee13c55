//! Streams of bits: strings start and end at any bit, counts are Golomb codes.

use std::collections::TryReserveError;

use super::{Bit, Unit, UnitKind};
use crate::bits::{BitReader, BitStr, BitString, order_bits};
use crate::counts::{CountError, golomb};
use crate::front_coding::{ShortControls, short_bits};
use crate::hash::hash_bits;
use crate::policy::BackspaceCode;

impl Unit for Bit {
    const KIND: UnitKind = UnitKind::Bit;
    const BITS: u64 = 1;
    type Str<'a> = BitStr<'a>;
    type Owned = BitString;

    #[inline(always)]
    fn len(string: BitStr<'_>) -> u64 {
        string.len()
    }

    #[inline(always)]
    fn string_at(bytes: &[u8], start: u64, len: u64) -> Option<BitStr<'_>> {
        BitStr::new(bytes, start, len)
    }

    #[inline(always)]
    fn slice<'a>(string: Self::Str<'a>, from: u64, to: u64) -> Self::Str<'a> {
        string.slice(from, to)
    }

    #[inline(always)]
    fn get(string: BitStr<'_>, at: u64) -> Option<u64> {
        string.get(at).map(u64::from)
    }

    #[inline]
    fn head(string: BitStr<'_>, at: u64) -> u64 {
        string.window(at)
    }

    fn hash(string: BitStr<'_>) -> u64 {
        hash_bits(string)
    }

    #[inline(always)]
    fn lcp(a: BitStr<'_>, b: BitStr<'_>) -> u64 {
        a.lcp(&b)
    }

    #[inline(always)]
    fn order(a: BitStr<'_>, b: BitStr<'_>) -> (u64, bool) {
        order_bits(a, b)
    }

    #[inline(always)]
    fn as_str(owned: &BitString) -> BitStr<'_> {
        owned.as_str()
    }

    #[inline]
    fn owned_len(owned: &BitString) -> u64 {
        owned.len()
    }

    #[inline(always)]
    fn advance(owned: &mut BitString, keep: u64, string: BitStr<'_>) {
        owned.advance(keep, string);
    }

    #[inline]
    fn try_reserve(owned: &mut BitString, extra: u64) -> Result<(), TryReserveError> {
        owned.try_reserve(extra)
    }

    #[inline]
    fn try_reserve_exact(owned: &mut BitString, extra: u64) -> Result<(), TryReserveError> {
        owned.try_reserve_exact(extra)
    }

    #[inline]
    fn truncate(owned: &mut BitString, len: u64) {
        owned.truncate(len);
    }

    #[inline]
    fn push(owned: &mut BitString, string: BitStr<'_>) {
        owned.push_str(string);
    }

    #[inline]
    fn replace_suffix(owned: &mut BitString, keep: u64, readable: &[u8], start: u64, len: u64) {
        owned.truncate(keep);
        owned
            .push_str(BitStr::new(readable, start, len).expect("the caller hands over units that are there"));
    }

    fn into_bytes(owned: BitString) -> Vec<u8> {
        owned.into_bytes()
    }

    #[inline]
    fn push_count(owned: &mut BitString, n: u64) {
        golomb::push(owned, n);
    }

    #[inline]
    fn push_backspace(owned: &mut BitString, n: u64, code: BackspaceCode) {
        golomb::push_backspace(owned, n, code);
    }

    #[inline(always)]
    fn short_controls(
        payload: &[u8],
        at: u64,
        backspace: Option<BackspaceCode>,
        says_width: bool,
    ) -> Option<ShortControls> {
        short_bits(payload, at, backspace, says_width)
    }

    #[inline]
    fn read_count(payload: &[u8], extent: u64, at: u64) -> Result<(u64, u64), CountError> {
        let mut reader = BitReader::new(payload, at, extent);
        let n = golomb::read(&mut reader)?;
        Ok((n, reader.position()))
    }

    #[inline]
    fn read_backspace(
        payload: &[u8],
        extent: u64,
        at: u64,
        code: BackspaceCode,
    ) -> Result<(u64, u64), CountError> {
        let mut reader = BitReader::new(payload, at, extent);
        let n = golomb::read_backspace(&mut reader, code)?;
        Ok((n, reader.position()))
    }
}
