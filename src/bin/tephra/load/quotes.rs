//! Follows the quotes of comma-separated values, and refuses what would swallow or glue values silently.
//!
//! ```text
//! 1,"two, and ""more""",3        a quote at the start of a value opens, one before a separator or a line end closes, a pair is one quote
//! 1,5" pipe,3                    a quote in the middle of a value is a quote
//! 1,"two,3  ...                  never closed: the rest of the file would be one value
//! 1,"two"x,3                     closed too early, or opened by mistake: refused, since nobody knows where the value ends
//! ```
//!
//! Stands in front of the parser, which itself takes all of these; a byte costs one step of a small machine.

use std::io::{self, Read};

/// What some spreadsheets write in front of UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// A quote that is not closed as it should be.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(super) struct QuoteError {
    /// Number of the line where the quote opens, from 1.
    pub(super) line: u64,
    pub(super) reason: String,
}

/// Where in a value a byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Start,
    Bare,
    Quoted,
    /// Behind a quote within quotes: it closes, or is half of a pair.
    Closing,
}

#[derive(Debug)]
pub(super) struct Quotes<R> {
    from: R,
    delimiter: u8,
    state: State,
    /// Number of the line, from 1.
    line: u64,
    /// The line where the last quote opened.
    opened_line: u64,
    /// Bytes of the mark that the input has begun with.
    mark_len: usize,
}

impl<R> Quotes<R> {
    pub(super) fn new(from: R, delimiter: u8) -> Self {
        Quotes {
            from,
            delimiter,
            state: State::Start,
            line: 1,
            opened_line: 1,
            mark_len: 0,
        }
    }

    fn step(&mut self, byte: u8) -> Result<(), QuoteError> {
        if self.mark_len < MARK.len() {
            if byte == MARK[self.mark_len] {
                self.mark_len += 1;
                return Ok(());
            }
            self.state = if self.mark_len == 0 {
                State::Start
            } else {
                State::Bare
            };
            self.mark_len = MARK.len();
        }
        let ends_value = byte == self.delimiter || matches!(byte, b'\n' | b'\r');
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => State::Closing,
            (State::Quoted, _) | (State::Closing, b'"') => State::Quoted,
            (_, _) if ends_value => State::Start,
            (State::Closing, _) => {
                return Err(self.refuse(format!(
                    "a value's quote opens here and closes on line {}, but the value goes on",
                    self.line
                )));
            }
            (State::Start, b'"') => {
                self.opened_line = self.line;
                State::Quoted
            }
            _ => State::Bare,
        };
        self.line += u64::from(byte == b'\n');
        Ok(())
    }

    fn refuse(&self, reason: String) -> QuoteError {
        QuoteError {
            line: self.opened_line,
            reason: format!("{reason}; within quotes a quote is doubled"),
        }
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let invalid = |error: QuoteError| io::Error::new(io::ErrorKind::InvalidData, error);
        let len = self.from.read(bytes)?;
        if len == 0 && !bytes.is_empty() && self.state == State::Quoted {
            return Err(invalid(
                self.refuse("a value's quote opens here and is never closed".to_owned()),
            ));
        }
        for &byte in &bytes[..len] {
            self.step(byte).map_err(invalid)?;
        }
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of the quote that is refused.
    fn refused(text: &str) -> Option<u64> {
        let mut out = Vec::new();
        let read = Quotes::new(text.as_bytes(), b',').read_to_end(&mut out);
        assert!(read.is_err() || out == text.as_bytes(), "{text:?}");
        let error = read.err()?.downcast::<QuoteError>().expect("of a quote");
        Some(error.line)
    }

    #[test]
    fn quotes_close_before_a_value_ends() {
        for text in [
            "",
            "a,b\n",
            "\"a\",\"b\"",
            "\"a,\n\"\"b\"\"\r\n\",c\r\n\"\"\n",
            "a\"b,5\" pipe\n",
            "\u{feff}\"a\"\n",
            "\"\"\"\"",
            "\"\"\"\",\"\"",
        ] {
            assert_eq!(refused(text), None, "{text:?}");
        }
        for (text, line) in [
            ("\"", 1),
            ("a,b\n1,\"x\n2,y\n3,z\n", 2),
            ("\u{feff}\"a\n", 1),
            ("a\n\"\"\"\n\n", 2),
            ("a\n\"b\"c\n", 2),
            ("1,\"x\n2,\"y\"\n", 1),
            ("\"a\" ,b\n", 1),
        ] {
            assert_eq!(refused(text), Some(line), "{text:?}");
        }
    }
}
