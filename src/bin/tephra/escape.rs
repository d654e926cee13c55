//! Bytes as printable text, and back.
//!
//! ```text
//! GREEK SMALL LETTER PI      as it is: printable UTF-8
//! π                          as it is
//! 5c 09 0a 0d                \\ \t \n \r
//! 00 1b ff                   \x00 \x1b \xff     control characters and what is not UTF-8, byte by byte
//! ```
//!
//! No two byte strings print the same, and `unescape` reads back exactly what `escape` wrote. A printed key or value
//! holds no TAB and no line end, so lines of KEY TAB VALUE can be taken apart.

use std::fmt::Write;
use std::path::Path;

/// The printable form.
pub(crate) fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str("\\\\"),
                '\t' => text.push_str("\\t"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                c if is_printable(c) => text.push(c),
                c => push_bytes(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        push_bytes(&mut text, chunk.invalid());
    }
    text
}

/// A path for people: printable, whatever its name holds.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).replace('\n', "\\n")
}

/// Text of lines, in which what must not reach a terminal is escaped. Not to be read back: a backslash stays as it is.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_printable(character) || character == '\n' {
            shown.push(character);
        } else {
            push_bytes(&mut shown, character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    shown
}

/// Whether a character may reach a terminal: no control character, nothing that turns the direction of the text or
/// separates lines.
pub(crate) fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push_bytes(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        write!(text, "\\x{byte:02x}").expect("a String takes everything");
    }
}

/// Why a text is no escaped form.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: expected \\\\, \\t, \\n, \\r or \\x and two hexadecimal digits, found {found:?}")]
pub(crate) struct BadEscape {
    /// Offset of the backslash in bytes.
    offset: usize,
    /// The backslash and what follows.
    found: String,
}

/// The bytes of an escaped form. Bytes other than the backslash stand for themselves.
pub(crate) fn unescape(text: &[u8]) -> Result<Vec<u8>, BadEscape> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let (byte, len) = match &text[at..] {
            [b'\\', b'\\', ..] => (b'\\', 2),
            [b'\\', b't', ..] => (b'\t', 2),
            [b'\\', b'n', ..] => (b'\n', 2),
            [b'\\', b'r', ..] => (b'\r', 2),
            [b'\\', b'x', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (hex_digit(*high) << 4 | hex_digit(*low), 4)
            }
            [b'\\', rest @ ..] => {
                let shown = &rest[..rest.len().min(3)];
                return Err(BadEscape {
                    offset: at,
                    found: format!("\\{}", String::from_utf8_lossy(shown)),
                });
            }
            [byte, ..] => (*byte, 1),
            [] => break,
        };
        bytes.push(byte);
        at += len;
    }
    Ok(bytes)
}

/// The value of an ASCII hexadecimal digit.
fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_byte_has_its_form() {
        for (bytes, text) in [
            (&b"GREEK SMALL"[..], "GREEK SMALL"),
            ("π ☃ 日".as_bytes(), "π ☃ 日"),
            (b"\\\t\n\r", "\\\\\\t\\n\\r"),
            (b"\x00\x1b\x7f\xff", "\\x00\\x1b\\x7f\\xff"),
            ("\u{85}\u{202e}".as_bytes(), "\\xc2\\x85\\xe2\\x80\\xae"),
            (b"a\xcf", "a\\xcf"),
            (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
            (b"", ""),
        ] {
            assert_eq!(escape(bytes), text);
            assert_eq!(unescape(text.as_bytes()).as_deref(), Ok(bytes));
        }
    }

    #[test]
    fn every_pair_of_bytes_comes_back_and_holds_no_control_byte() {
        for first in 0..=255u8 {
            for second in 0..=255u8 {
                let bytes = [first, second, b'x'];
                let text = escape(&bytes);
                assert_eq!(unescape(text.as_bytes()).as_deref(), Ok(&bytes[..]));
                assert!(!text.chars().any(char::is_control), "{text:?}");
            }
        }
    }

    #[test]
    fn both_cases_of_hexadecimal_digits_are_read() {
        assert_eq!(unescape(br"\xAb\xcD\x09"), Ok(vec![0xab, 0xcd, 0x09]));
    }

    #[test]
    fn broken_escapes_say_where() {
        for (text, offset) in [
            (&br"ab\"[..], 2),
            (br"\q", 0),
            (br"a\x1", 1),
            (br"\xg0", 0),
            (br"\\\x", 2),
        ] {
            assert_eq!(
                unescape(text).map_err(|e| e.offset),
                Err(offset),
                "{}",
                String::from_utf8_lossy(text)
            );
        }
    }
}
