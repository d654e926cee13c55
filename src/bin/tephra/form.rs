//! How keys and values are read from arguments and files, and how they are printed.
//!
//! ```text
//!            read                                   printed
//! plain      byte for byte                          as `escaped`
//! escaped    backslash escapes stand for bytes      what is printable as it is, the rest as escapes    (escape.rs)
//! hex        pairs of digits, either case           pairs of digits, lower case
//! base64     the standard alphabet, with padding    the same
//! number     decimal, 64 bits, no sign              as a number of 8 bytes, little-endian; what has another width is an error
//! ```
//!
//! In JSON the plain form is the bytes themselves where they are UTF-8, since JSON has escapes of its own; other bytes are
//! hexadecimal digits in a field whose name says so (`key_hex`, `value_hex`).
//!
//! What is printed in a form is read back in it: `plain` is printed as `escaped` because a terminal cannot take every byte.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args as ClapArgs, ValueEnum};
use data_encoding::{BASE64, HEXLOWER, HEXLOWER_PERMISSIVE};
use serde_json::Value;
use tephradb::limits::VALUE_LEN_BYTES_MAX;

use crate::escape::{BadEscape, escape, unescape};
use crate::failure::{Failure, Result};
use crate::files::read_all;

/// Bytes of the longest text that may be a value in a form: each byte an escape of four, and a line end. What is longer is cut; in the plain
/// form behind the limit, so that it is refused.
const VALUE_TEXT_LEN_BYTES_MAX: u64 = 4 * VALUE_LEN_BYTES_MAX as u64 + 2;

/// Bytes of a number.
pub(crate) const NUMBER_LEN_BYTES: usize = size_of::<u64>();

/// A form of bytes as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Byte for byte; printed with escapes
    #[default]
    Plain,
    /// Backslash escapes: \\, \t, \n, \r, \xNN
    Escaped,
    /// Pairs of hexadecimal digits
    Hex,
    /// Base64 with padding
    Base64,
    /// A decimal number of 64 bits, little-endian: what the laws add-u64 and max-u64 hold
    Number,
}

/// Why a text is not of a form.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadForm {
    #[error("broken escape at {0}")]
    Escape(#[from] BadEscape),
    #[error("no {form}: {source}")]
    Code {
        form: &'static str,
        source: data_encoding::DecodeError,
    },
    #[error("expected a decimal number from 0 to 18446744073709551615")]
    Number,
}

impl Form {
    /// The bytes a text stands for.
    pub(crate) fn read(self, text: &[u8]) -> std::result::Result<Vec<u8>, BadForm> {
        let code = |form| move |source| BadForm::Code { form, source };
        match self {
            Form::Plain => Ok(text.to_vec()),
            Form::Escaped => Ok(unescape(text)?),
            Form::Hex => HEXLOWER_PERMISSIVE
                .decode(text)
                .map_err(code("hexadecimal digits")),
            Form::Base64 => BASE64.decode(text).map_err(code("base64")),
            Form::Number => {
                let is_decimal = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
                let text = std::str::from_utf8(text).map_err(|_| BadForm::Number)?;
                let number: u64 = text.parse().ok().filter(|_| is_decimal).ok_or(BadForm::Number)?;
                Ok(number.to_le_bytes().to_vec())
            }
        }
    }

    /// Bytes as text, if they have the form. Never holds a line end, a TAB or a control character.
    pub(crate) fn show(self, bytes: &[u8]) -> Option<String> {
        Some(match self {
            Form::Plain | Form::Escaped => escape(bytes),
            Form::Hex => HEXLOWER.encode(bytes),
            Form::Base64 => BASE64.encode(bytes),
            Form::Number => u64::from_le_bytes(bytes.try_into().ok()?).to_string(),
        })
    }
}

/// The forms of a command's keys and values.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Forms of keys and values")]
pub(crate) struct Forms {
    /// Read backslash escapes in keys and values: \\, \t, \n, \r, \xNN
    #[arg(long, short = 'e', conflicts_with_all = ["hex", "base64"])]
    pub(crate) escaped: bool,
    /// Read and print keys and values as hexadecimal digits
    #[arg(long, conflicts_with = "base64")]
    pub(crate) hex: bool,
    /// Read and print keys and values as base64
    #[arg(long)]
    pub(crate) base64: bool,
    /// The form of keys alone: plain, escaped, hex, base64, number
    #[arg(long, value_name = "FORM", value_enum, hide_possible_values = true)]
    pub(crate) key_form: Option<Form>,
    /// The form of values alone: the same; number for counters of 64 bits, little-endian: what has not 8 bytes is an error
    #[arg(long, value_name = "FORM", value_enum, hide_possible_values = true)]
    pub(crate) value_form: Option<Form>,
}

impl Forms {
    fn common(&self) -> Form {
        match (self.escaped, self.hex, self.base64) {
            (true, ..) => Form::Escaped,
            (_, true, _) => Form::Hex,
            (.., true) => Form::Base64,
            _ => Form::Plain,
        }
    }

    pub(crate) fn key(&self) -> Form {
        self.key_form.unwrap_or_else(|| self.common())
    }

    pub(crate) fn value(&self) -> Form {
        self.value_form.unwrap_or_else(|| self.common())
    }

    /// A key as text.
    pub(crate) fn show_key(&self, key: &[u8]) -> Result<String> {
        show("key", self.key(), key, key)
    }

    /// The value of a key as text.
    pub(crate) fn show_value(&self, key: &[u8], value: &[u8]) -> Result<String> {
        show("value", self.value(), key, value)
    }

    /// A record as an object of JSON, or its key alone.
    pub(crate) fn record_as_json(&self, key: &[u8], value: Option<&[u8]>) -> Result<Value> {
        let mut record = serde_json::Map::new();
        let parts = [("key", self.key(), Some(key)), ("value", self.value(), value)];
        for (name, form, bytes) in parts {
            let Some(bytes) = bytes else { continue };
            match (form, std::str::from_utf8(bytes)) {
                (Form::Plain, Ok(text)) => record.insert(name.to_owned(), text.into()),
                (Form::Plain, Err(_)) => record.insert(hex_field(name), HEXLOWER.encode(bytes).into()),
                (form, _) => record.insert(name.to_owned(), show(name, form, key, bytes)?.into()),
            };
        }
        Ok(Value::Object(record))
    }

    /// The value or operand of a command: an argument, or what a file holds; `-` is standard input. A line end behind it belongs to the
    /// value only in the plain form.
    pub(crate) fn read_value_from(
        &self,
        what: &'static str,
        argument: Option<OsString>,
        file: Option<&Path>,
    ) -> Result<Vec<u8>> {
        let Some(path) = file else {
            return self.read_value(what, argument.unwrap_or_default());
        };
        if self.value() == Form::Plain {
            return read_all(path, VALUE_LEN_BYTES_MAX as u64 + 1);
        }
        let text = read_all(path, VALUE_TEXT_LEN_BYTES_MAX)?;
        let line = text.strip_suffix(b"\n").unwrap_or(&text);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.value().read(line).map_err(|source| Failure::Content {
            path: path.to_path_buf(),
            what,
            source,
        })
    }

    /// The bytes that a key among the arguments stands for. `what` names it in a message.
    pub(crate) fn read_key(&self, what: &'static str, argument: OsString) -> Result<Vec<u8>> {
        read_argument(self.key(), what, argument)
    }

    /// The bytes that a value among the arguments stands for.
    pub(crate) fn read_value(&self, what: &'static str, argument: OsString) -> Result<Vec<u8>> {
        read_argument(self.value(), what, argument)
    }
}

/// The field of JSON that holds in hexadecimal digits what is no text.
pub(crate) fn hex_field(name: &str) -> String {
    format!("{name}_hex")
}

fn show(what: &'static str, form: Form, key: &[u8], bytes: &[u8]) -> Result<String> {
    form.show(bytes).ok_or_else(|| Failure::NoNumber {
        what,
        key: key.to_vec(),
        len_bytes: bytes.len(),
    })
}

fn read_argument(form: Form, what: &'static str, argument: OsString) -> Result<Vec<u8>> {
    let bytes = argument.into_encoded_bytes();
    form.read(&bytes).map_err(|source| Failure::Argument {
        what,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        let samples: [&[u8]; 5] = [b"", b"plain", b"\x00\xff\t\n\\", "\u{2603}".as_bytes(), &[7; 8]];
        for bytes in samples {
            for form in [Form::Escaped, Form::Hex, Form::Base64] {
                let text = form.show(bytes).unwrap();
                assert!(!text.contains(['\t', '\n']), "{form:?} {text}");
                assert_eq!(
                    form.read(text.as_bytes()).ok().as_deref(),
                    Some(bytes),
                    "{form:?}"
                );
            }
        }
        for number in [0, 1, 255, u64::MAX] {
            let bytes = number.to_le_bytes();
            assert_eq!(Form::Number.show(&bytes), Some(number.to_string()));
            assert_eq!(
                Form::Number.read(number.to_string().as_bytes()).ok(),
                Some(bytes.to_vec())
            );
        }
    }

    #[test]
    fn numbers_have_eight_bytes() {
        for len in (0..20).filter(|len| *len != NUMBER_LEN_BYTES) {
            assert_eq!(Form::Number.show(&vec![b'1'; len]), None, "{len}");
        }
    }

    #[test]
    fn what_is_not_of_the_form_is_refused() {
        for (form, text) in [
            (Form::Hex, "abc"),
            (Form::Hex, "zz"),
            (Form::Base64, "YQ"),
            (Form::Base64, "Y Q="),
            (Form::Number, ""),
            (Form::Number, "-1"),
            (Form::Number, "+1"),
            (Form::Number, "1.5"),
            (Form::Number, "18446744073709551616"),
            (Form::Escaped, r"\q"),
        ] {
            assert!(form.read(text.as_bytes()).is_err(), "{form:?} {text:?}");
        }
        assert_eq!(Form::Hex.read(b"aBcD").ok(), Some(vec![0xab, 0xcd]));
    }
}
