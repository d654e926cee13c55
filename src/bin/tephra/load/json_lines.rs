//! Lines of JSON: an object or an array each.
//!
//! ```text
//! {"key":"ash","value":"under 2 mm"}      what `tephra scan --json` prints
//! {"key_hex":"00ff","value":"x"}          the same of what is no text: digits instead, whatever form was named
//! {"time":17,"kind":"flush"}              --key time: the whole line is the value
//! ["ash",2]                               columns by number: --key 1 --value 2
//! ```
//!
//! A string stands for its text, everything else for its JSON, as it is written. Empty lines are passed over.

use std::collections::HashMap;
use std::io::BufRead;

use serde_json::value::RawValue;

use super::columns::Column;
use super::records::{Plan, Row, RowError, Text};
use crate::form::{Form, hex_field};

pub(super) struct JsonRows<R> {
    reader: R,
    line: String,
    line_number: u64,
    key: From,
    value: From,
}

/// Where in a line a key or a value is.
enum From {
    Column(Column),
    /// A field of this name, or of that with digits in its place.
    Field(&'static str),
    /// The whole line.
    Line,
}

/// The columns of a line.
enum Cells<'a> {
    Object(HashMap<String, &'a RawValue>),
    Array(Vec<&'a RawValue>),
}

impl<R: BufRead> JsonRows<R> {
    pub(super) fn new(reader: R, plan: &Plan) -> Self {
        let value = match (&plan.key, &plan.value) {
            (_, Some(value)) => From::Column(value.clone()),
            (None, None) => From::Field("value"),
            (Some(_), None) => From::Line,
        };
        JsonRows {
            reader,
            line: String::new(),
            line_number: 0,
            key: plan.key.clone().map_or(From::Field("key"), From::Column),
            value,
        }
    }

    /// Number of the line read last, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line_number
    }

    pub(super) fn next(&mut self) -> Result<Option<Row>, RowError> {
        loop {
            self.line.clear();
            match self.reader.read_line(&mut self.line) {
                Ok(0) => return Ok(None),
                Ok(_) => self.line_number += 1,
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    let reason = "expected JSON, found bytes that are not UTF-8".to_owned();
                    return Err(RowError::Line(self.line_number + 1, reason));
                }
                Err(error) => return Err(error.into()),
            }
            if !self.line.trim().is_empty() {
                break;
            }
        }
        let row = self.row();
        row.map(Some)
            .map_err(|reason| RowError::Line(self.line_number, reason))
    }

    fn row(&self) -> Result<Row, String> {
        let text = self.line.trim();
        let cells = if text.starts_with('[') {
            serde_json::from_str(text).map(Cells::Array)
        } else {
            serde_json::from_str(text).map(Cells::Object)
        };
        let cells = cells.map_err(|error| format!("expected an object or an array of JSON: {error}"))?;
        Ok(Row {
            key: cells.text(&self.key, text)?.ok_or("the key is null: no key")?,
            value: cells
                .text(&self.value, text)?
                .unwrap_or_else(|| Text::InForm(b"null".to_vec())),
        })
    }
}

/// A string's text, or the JSON of anything else.
fn text_of(cell: &RawValue) -> Result<Vec<u8>, String> {
    let json = cell.get();
    if json.starts_with('"') {
        let text: String = serde_json::from_str(json).map_err(|error| error.to_string())?;
        return Ok(text.into_bytes());
    }
    Ok(json.as_bytes().to_vec())
}

impl<'a> Cells<'a> {
    /// What a line has at a place; `None` for null.
    fn text(&self, from: &From, line: &str) -> Result<Option<Text>, String> {
        let cell = match (from, self) {
            (From::Line, _) => return Ok(Some(Text::Exact(line.as_bytes().to_vec()))),
            (From::Column(column), _) => self.cell(column)?,
            (From::Field(name), Cells::Object(fields)) if !fields.contains_key(*name) => {
                let digits = hex_field(name);
                let Some(cell) = fields.get(&digits) else {
                    return Err(format!("no {}", Column::Name((*name).to_owned())));
                };
                let bytes = Form::Hex.read(&text_of(cell)?);
                return bytes
                    .map(|bytes| Some(Text::Exact(bytes)))
                    .map_err(|error| format!("{digits}: {error}"));
            }
            (From::Field(name), _) => self.cell(&Column::Name((*name).to_owned()))?,
        };
        if cell.get() == "null" {
            return Ok(None);
        }
        Ok(Some(Text::InForm(text_of(cell)?)))
    }

    fn cell(&self, column: &Column) -> Result<&'a RawValue, String> {
        let cell = match (self, column) {
            (Cells::Object(fields), Column::Name(name)) => fields.get(name).copied(),
            // A field whose name is a number.
            (Cells::Object(fields), Column::Number(number)) => fields.get(&number.to_string()).copied(),
            (Cells::Array(cells), Column::Number(number)) => cells.get(number - 1).copied(),
            (Cells::Array(_), Column::Name(_)) => {
                return Err(format!(
                    "{column} is named, but the line is an array; number columns from 1"
                ));
            }
        };
        cell.ok_or_else(|| format!("no {column}"))
    }
}
