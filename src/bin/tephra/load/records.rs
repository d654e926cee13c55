//! The records of an input, whatever its format: what is common to all of them.
//!
//! Records are read one at a time: an input of any length takes the memory of its longest row.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use tephradb::limits::{KEY_LEN_BYTES_MAX, VALUE_LEN_BYTES_MAX};

use super::Format;
use super::columns::Column;
use super::csv::CsvRows;
use super::json_lines::JsonRows;
use super::tsv::TsvRows;
use crate::failure::{Failure, Result};
use crate::files::{Input, file_failure};
use crate::form::Form;
use crate::progress::Progress;

/// A record: key and value.
pub(crate) type Record = (Vec<u8>, Vec<u8>);

/// Records between two pictures of the progress.
const STEP_RECORDS: u64 = 4096;

/// How to read an input.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) format: Format,
    pub(crate) key: Option<Column>,
    pub(crate) value: Option<Column>,
    pub(crate) has_header: bool,
    pub(crate) delimiter: u8,
    pub(crate) key_form: Form,
    pub(crate) value_form: Form,
}

impl Plan {
    /// Lines of KEY TAB VALUE, byte for byte.
    pub(crate) fn lines() -> Plan {
        Plan {
            format: Format::Tsv,
            key: None,
            value: None,
            has_header: false,
            delimiter: b',',
            key_form: Form::Plain,
            value_form: Form::Plain,
        }
    }
}

/// Key and value of a row as they stand in the input.
pub(super) struct Row {
    pub(super) key: Text,
    pub(super) value: Text,
}

/// A key or a value of a row.
pub(super) enum Text {
    /// As it stands in the input, in the form that was named.
    InForm(Vec<u8>),
    /// The bytes themselves: a whole row, made here, or what the input says in hexadecimal digits of its own accord.
    Exact(Vec<u8>),
}

/// Why there is no row.
pub(super) enum RowError {
    /// The input cannot be read.
    Read(std::io::Error),
    /// A line is no row, or lacks key or value.
    Line(u64, String),
}

impl From<std::io::Error> for RowError {
    fn from(error: std::io::Error) -> RowError {
        RowError::Read(error)
    }
}

enum Rows {
    Tsv(TsvRows<BufReader<File>>),
    Csv(CsvRows<BufReader<File>>),
    Json(JsonRows<BufReader<File>>),
}

/// The records of an open input, in order.
pub(crate) struct Records {
    path: PathBuf,
    rows: Rows,
    key_form: Form,
    value_form: Form,
}

impl Records {
    /// Reads an input from its beginning.
    pub(crate) fn open(input: &mut Input, plan: &Plan) -> Result<Records> {
        let reader = input.read()?;
        let path = input.path().to_path_buf();
        let rows = match plan.format {
            Format::Tsv => TsvRows::new(reader, plan).map(Rows::Tsv),
            Format::Csv => CsvRows::new(reader, plan).map(Rows::Csv),
            Format::Jsonl => Ok(Rows::Json(JsonRows::new(reader, plan))),
        };
        Ok(Records {
            rows: rows.map_err(|error| failure_of(&path, error))?,
            path,
            key_form: plan.key_form,
            value_form: plan.value_form,
        })
    }

    /// The names of the columns, where the first line gave them.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        match &self.rows {
            Rows::Tsv(rows) => rows.header().map(<[String]>::to_vec),
            Rows::Csv(rows) => rows.header().map(<[String]>::to_vec),
            Rows::Json(_) => None,
        }
    }

    /// The next record; `None` at the end. A line that is no record is an error naming file and line.
    pub(crate) fn next(&mut self) -> Result<Option<Record>> {
        let row = match &mut self.rows {
            Rows::Tsv(rows) => rows.next(),
            Rows::Csv(rows) => rows.next(),
            Rows::Json(rows) => rows.next(),
        };
        let Some(row) = row.map_err(|error| failure_of(&self.path, error))? else {
            return Ok(None);
        };
        let key = self.read("key", self.key_form, row.key, KEY_LEN_BYTES_MAX)?;
        let value = self.read("value", self.value_form, row.value, VALUE_LEN_BYTES_MAX)?;
        Ok(Some((key, value)))
    }

    fn read(&self, what: &str, form: Form, text: Text, len_bytes_max: usize) -> Result<Vec<u8>> {
        let bytes = match (form, text) {
            (Form::Plain, Text::InForm(bytes)) | (_, Text::Exact(bytes)) => bytes,
            (form, Text::InForm(text)) => form
                .read(&text)
                .map_err(|error| self.refuse(format!("{what}: {error}")))?,
        };
        if bytes.len() > len_bytes_max {
            return Err(self.refuse(format!(
                "a {what} has at most {len_bytes_max} bytes, found {}",
                bytes.len()
            )));
        }
        Ok(bytes)
    }

    fn refuse(&self, reason: String) -> Failure {
        let line = match &self.rows {
            Rows::Tsv(rows) => rows.line(),
            Rows::Csv(rows) => rows.line(),
            Rows::Json(rows) => rows.line(),
        };
        failure_of(&self.path, RowError::Line(line, reason))
    }
}

fn failure_of(path: &std::path::Path, error: RowError) -> Failure {
    match error {
        RowError::Read(error) => file_failure("read", path, error),
        RowError::Line(line, reason) => Failure::Line {
            path: path.to_path_buf(),
            line,
            reason,
        },
    }
}

/// What a look at a whole input told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    pub(crate) record_count: u64,
    /// Bytes of the shortest and the longest value; `None` without records.
    pub(crate) value_lens_bytes: Option<(usize, usize)>,
}

/// Reads a whole input, to know before anything is written that each row is a record.
pub(crate) fn check(input: &mut Input, plan: &Plan) -> Result<Checked> {
    let progress = Progress::counter("checking");
    let mut records = Records::open(input, plan)?;
    let mut checked = Checked::default();
    while let Some((_, value)) = records.next()? {
        let len = value.len();
        let (shortest, longest) = checked.value_lens_bytes.unwrap_or((len, len));
        checked.value_lens_bytes = Some((shortest.min(len), longest.max(len)));
        checked.record_count += 1;
        if checked.record_count.is_multiple_of(STEP_RECORDS) {
            progress.advance(STEP_RECORDS);
        }
    }
    Ok(checked)
}
