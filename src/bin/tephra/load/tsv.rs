//! Lines of columns between TABs.
//!
//! ```text
//! KEY TAB VALUE LF            without columns named: only the first TAB separates
//! A TAB B TAB C LF            with --key, --value or --header: every TAB separates
//! ```
//!
//! The last line may lack its LF. A CR before an LF belongs to the line end; a value that ends in one is written with an escape.

use std::io::BufRead;

use super::columns::{ValueAt, places};
use super::records::{Plan, Row, RowError, Text};
use super::row_as_json;

pub(super) struct TsvRows<R> {
    reader: R,
    line: Vec<u8>,
    line_number: u64,
    columns: Option<Columns>,
    header: Option<Vec<String>>,
}

/// Which columns were asked for.
struct Columns {
    key: Option<super::Column>,
    value: Option<super::Column>,
}

impl<R: BufRead> TsvRows<R> {
    pub(super) fn new(reader: R, plan: &Plan) -> Result<Self, RowError> {
        let has_columns = plan.key.is_some() || plan.value.is_some() || plan.has_header;
        let mut rows = TsvRows {
            reader,
            line: Vec::new(),
            line_number: 0,
            columns: has_columns.then(|| Columns {
                key: plan.key.clone(),
                value: plan.value.clone(),
            }),
            header: None,
        };
        if plan.has_header && rows.read_line()? {
            let names = rows.text().split(|&byte| byte == b'\t');
            let names = names.map(|name| String::from_utf8_lossy(name).into_owned());
            rows.header = Some(names.collect());
        }
        Ok(rows)
    }

    pub(super) fn header(&self) -> Option<&[String]> {
        self.header.as_deref()
    }

    /// Number of the line read last, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line_number
    }

    /// Reads the next line; `false` at the end.
    fn read_line(&mut self) -> Result<bool, RowError> {
        self.line.clear();
        let len = self.reader.read_until(b'\n', &mut self.line)?;
        self.line_number += u64::from(len > 0);
        Ok(len > 0)
    }

    fn text(&self) -> &[u8] {
        match self.line.strip_suffix(b"\n") {
            Some(text) => text.strip_suffix(b"\r").unwrap_or(text),
            None => &self.line,
        }
    }

    fn refuse<T>(&self, reason: impl Into<String>) -> Result<T, RowError> {
        Err(RowError::Line(self.line_number, reason.into()))
    }

    pub(super) fn next(&mut self) -> Result<Option<Row>, RowError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let text = self.text();
        let Some(columns) = &self.columns else {
            let Some(tab) = text.iter().position(|&byte| byte == b'\t') else {
                return self.refuse("expected KEY TAB VALUE, found no TAB");
            };
            return Ok(Some(Row {
                key: Text::InForm(text[..tab].to_vec()),
                value: Text::InForm(text[tab + 1..].to_vec()),
            }));
        };
        let cells: Vec<&[u8]> = text.split(|&byte| byte == b'\t').collect();
        if let Some(header) = &self.header
            && header.len() != cells.len()
        {
            return self.refuse(format!(
                "expected {} columns, as many as the first line names, found {}",
                header.len(),
                cells.len()
            ));
        }
        let placed = places(
            columns.key.as_ref(),
            columns.value.as_ref(),
            self.header(),
            cells.len(),
        );
        let row = placed.and_then(|(key, value)| row_of(&cells, key, value, self.header()));
        row.map(Some).or_else(|reason| self.refuse(reason))
    }
}

/// Key and value among the cells of a row.
pub(super) fn row_of(
    cells: &[&[u8]],
    key: usize,
    value: ValueAt,
    header: Option<&[String]>,
) -> Result<Row, String> {
    let cell = |at: usize| {
        let cell = cells.get(at).map(|cell| cell.to_vec());
        cell.map(Text::InForm)
            .ok_or_else(|| format!("no column {}, the row has {}", at + 1, cells.len()))
    };
    Ok(Row {
        key: cell(key)?,
        value: match value {
            ValueAt::Column(at) => cell(at)?,
            ValueAt::Row => Text::Exact(row_as_json(cells, header)?),
        },
    })
}
