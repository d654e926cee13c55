//! Lines of JSON: an object or an array each.
//!
//! ```text
//! {"key":"ash","value":"under 2 mm"}      what `tephra scan --json` prints
//! {"time":17,"kind":"flush"}              --key time: the whole line is the value
//! ["ash",2]                               columns by number: --key 1 --value 2
//! ```
//!
//! A string stands for its text, everything else for its JSON, as it is written. Empty lines are passed over.

use std::collections::HashMap;
use std::io::BufRead;

use serde_json::value::RawValue;

use super::columns::Column;
use super::records::{Plan, Row, RowError};

pub(super) struct JsonRows<R> {
    reader: R,
    line: String,
    line_number: u64,
    key: Column,
    /// `None`: the whole line.
    value: Option<Column>,
}

/// The columns of a line.
enum Cells<'a> {
    Object(HashMap<String, &'a RawValue>),
    Array(Vec<&'a RawValue>),
}

impl<R: BufRead> JsonRows<R> {
    pub(super) fn new(reader: R, plan: &Plan) -> Self {
        let named = |name: &str| Column::Name(name.to_owned());
        let value = match (&plan.key, &plan.value) {
            (_, Some(value)) => Some(value.clone()),
            (None, None) => Some(named("value")),
            (Some(_), None) => None,
        };
        JsonRows {
            reader,
            line: String::new(),
            line_number: 0,
            key: plan.key.clone().unwrap_or_else(|| named("key")),
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
        let key = cells.cell(&self.key)?;
        if key.get() == "null" {
            return Err(format!("{} is null: no key", self.key));
        }
        Ok(Row {
            key: text_of(key)?,
            value: match &self.value {
                Some(column) => text_of(cells.cell(column)?)?,
                None => text.as_bytes().to_vec(),
            },
            is_whole: self.value.is_none(),
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
