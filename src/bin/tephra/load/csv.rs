//! Comma-separated values: quotes, doubled quotes, line ends within quotes. Lines end with LF, CR LF or CR; empty ones are passed over.

use std::io::Read;

use super::columns::{Column, places};
use super::quotes::{QuoteError, Quotes};
use super::records::{Plan, Row, RowError};
use super::tsv::row_of;

pub(super) struct CsvRows<R> {
    reader: csv::Reader<Quotes<R>>,
    record: csv::ByteRecord,
    header: Option<Vec<String>>,
    key: Option<Column>,
    value: Option<Column>,
    line_number: u64,
}

impl<R: Read> CsvRows<R> {
    pub(super) fn new(reader: R, plan: &Plan) -> Result<Self, RowError> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(plan.has_header)
            .delimiter(plan.delimiter)
            .from_reader(Quotes::new(reader, plan.delimiter));
        let header = if plan.has_header {
            let names = reader.byte_headers().map_err(error_of)?;
            // What some spreadsheets write in front of UTF-8.
            let mut names: Vec<String> = names
                .iter()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect();
            if let Some(bare) = names.first().and_then(|first| first.strip_prefix('\u{feff}')) {
                names[0] = bare.to_owned();
            }
            Some(names)
        } else {
            None
        };
        Ok(CsvRows {
            reader,
            record: csv::ByteRecord::new(),
            header,
            key: plan.key.clone(),
            value: plan.value.clone(),
            line_number: 1,
        })
    }

    pub(super) fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// Number of the line where the row read last begins, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line_number
    }

    pub(super) fn next(&mut self) -> Result<Option<Row>, RowError> {
        if !self.reader.read_byte_record(&mut self.record).map_err(error_of)? {
            return Ok(None);
        }
        self.line_number = self
            .record
            .position()
            .map_or(self.line_number, csv::Position::line);
        let cells: Vec<&[u8]> = self.record.iter().collect();
        let header = self.header.as_deref();
        let placed = places(self.key.as_ref(), self.value.as_ref(), header, cells.len());
        let row = placed.and_then(|(key, value)| row_of(&cells, key, value, header));
        row.map(Some)
            .map_err(|reason| RowError::Line(self.line_number, reason))
    }
}

fn error_of(error: csv::Error) -> RowError {
    let line = error.position().map_or(1, csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(error) => match error.downcast::<QuoteError>() {
            Ok(quote) => RowError::Line(quote.line, quote.reason),
            Err(error) => RowError::Read(error),
        },
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => RowError::Line(
            line,
            format!("expected {expected_len} columns, as many as the first line has, found {len}"),
        ),
        other => RowError::Line(line, format!("{other:?}")),
    }
}
