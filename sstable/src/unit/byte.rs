//! Streams of bytes: strings are slices, counts are varints.

use std::collections::TryReserveError;

use super::{Byte, Unit, UnitKind};
use crate::bits::{advance_bytes, common_bytes, order_bytes};
use crate::counts::{CountError, varint};
use crate::front_coding::{ShortControls, short_bytes};
use crate::hash::hash_bytes;
use crate::policy::BackspaceCode;

/// A length or position in bytes that lies within a slice, or an end that no slice has.
#[inline(always)]
fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The first 64 bits of less than eight bytes.
#[inline(never)]
fn short_head(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |head, &byte| head >> 8 | u64::from(byte) << 56)
}

impl Unit for Byte {
    const KIND: UnitKind = UnitKind::Byte;
    const BITS: u64 = 8;
    type Str<'a> = &'a [u8];
    type Owned = Vec<u8>;

    #[inline(always)]
    fn len(string: &[u8]) -> u64 {
        string.len() as u64
    }

    #[inline(always)]
    fn string_at(bytes: &[u8], start: u64, len: u64) -> Option<&[u8]> {
        bytes.get(index(start)..index(start.checked_add(len)?))
    }

    #[inline(always)]
    fn slice<'a>(string: Self::Str<'a>, from: u64, to: u64) -> Self::Str<'a> {
        &string[index(from)..index(to)]
    }

    #[inline(always)]
    fn get(string: &[u8], at: u64) -> Option<u64> {
        string.get(index(at)).map(|&unit| u64::from(unit))
    }

    #[inline(always)]
    fn head(string: &[u8], at: u64) -> u64 {
        let at = index(at);
        match string.len().checked_sub(8) {
            // A load that does not pass the end, without the bytes before `at`.
            Some(last) if at < string.len() => {
                let from = at.min(last);
                let head = u64::from_be_bytes(*string[from..].first_chunk().expect("eight are left"));
                head << (8 * (at - from))
            }
            _ => short_head(string.get(at..).unwrap_or(&[])),
        }
    }

    #[inline]
    fn hash(string: &[u8]) -> u64 {
        hash_bytes(string)
    }

    #[inline(always)]
    fn lcp(a: &[u8], b: &[u8]) -> u64 {
        common_bytes(a, b) as u64
    }

    #[inline(always)]
    fn order(a: &[u8], b: &[u8]) -> (u64, bool) {
        let (same, follows) = order_bytes(a, b);
        (same as u64, follows)
    }

    #[inline(always)]
    fn as_str(owned: &Vec<u8>) -> &[u8] {
        owned
    }

    #[inline]
    fn owned_len(owned: &Vec<u8>) -> u64 {
        owned.len() as u64
    }

    #[inline(always)]
    fn advance(owned: &mut Vec<u8>, keep: u64, string: &[u8]) {
        advance_bytes(owned, index(keep), string);
    }

    #[inline]
    fn try_reserve(owned: &mut Vec<u8>, extra: u64) -> Result<(), TryReserveError> {
        owned.try_reserve(index(extra))
    }

    #[inline]
    fn try_reserve_exact(owned: &mut Vec<u8>, extra: u64) -> Result<(), TryReserveError> {
        owned.try_reserve_exact(index(extra))
    }

    #[inline]
    fn truncate(owned: &mut Vec<u8>, len: u64) {
        owned.truncate(index(len));
    }

    #[inline]
    fn push(owned: &mut Vec<u8>, string: &[u8]) {
        owned.extend_from_slice(string);
    }

    #[inline]
    fn replace_suffix(owned: &mut Vec<u8>, keep: u64, readable: &[u8], start: u64, len: u64) {
        const SHORT: usize = 16;
        owned.truncate(index(keep));
        let (from, len) = (&readable[index(start)..], index(len));
        match from.first_chunk::<SHORT>() {
            Some(chunk) if len <= SHORT => {
                owned.extend_from_slice(chunk);
                owned.truncate(owned.len() - (SHORT - len));
            }
            _ => owned.extend_from_slice(&from[..len]),
        }
    }

    fn into_bytes(owned: Vec<u8>) -> Vec<u8> {
        owned
    }

    #[inline]
    fn push_count(owned: &mut Vec<u8>, n: u64) {
        varint::push(owned, n);
    }

    #[inline]
    fn push_backspace(owned: &mut Vec<u8>, n: u64, _: BackspaceCode) {
        varint::push(owned, n);
    }

    #[inline(always)]
    fn short_controls(
        payload: &[u8],
        at: u64,
        _: Option<BackspaceCode>,
        says_width: bool,
    ) -> Option<ShortControls> {
        short_bytes(payload, at, says_width)
    }

    #[inline]
    fn read_count(payload: &[u8], extent: u64, at: u64) -> Result<(u64, u64), CountError> {
        let end = index(extent).min(payload.len());
        let (n, len_bytes) = varint::read(payload.get(index(at)..end).unwrap_or(&[]))?;
        Ok((n, at + len_bytes as u64))
    }

    #[inline]
    fn read_backspace(
        payload: &[u8],
        extent: u64,
        at: u64,
        _: BackspaceCode,
    ) -> Result<(u64, u64), CountError> {
        Self::read_count(payload, extent, at)
    }
}
