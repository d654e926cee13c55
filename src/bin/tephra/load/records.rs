//! Files of records: one a line, KEY TAB VALUE LF.
//!
//! Only the first TAB of a line separates; the last line may lack its LF; a CR is part of the value. Escapes are read only
//! if asked for. Only a regular file will do, since it is read twice: a load checks all of it before it writes. Lines are read one at a time: a file of any length takes the memory of its longest line.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use tephradb::limits::{KEY_LEN_BYTES_MAX, VALUE_LEN_BYTES_MAX};

use crate::escape::unescape;
use crate::failure::{Failure, Result};

/// A record of a file: key and value.
pub(crate) type Record = (Vec<u8>, Vec<u8>);

/// The records of an open file, in order.
#[derive(Debug)]
pub(crate) struct Records {
    path: PathBuf,
    reader: BufReader<File>,
    escaped: bool,
    line: Vec<u8>,
    line_number: u64,
}

impl Records {
    #[expect(clippy::disallowed_methods, reason = "input files are no part of a database")]
    pub(crate) fn open(path: &Path, escaped: bool) -> Result<Records> {
        // Asked before opening: to open a pipe is to wait for its writer.
        let kind = std::fs::metadata(path).map_err(|e| file_failure("open", path, e))?;
        if !kind.is_file() {
            return Err(Failure::NotAFile {
                path: path.to_path_buf(),
            });
        }
        let file = File::open(path).map_err(|e| file_failure("open", path, e))?;
        Ok(Records {
            path: path.to_path_buf(),
            reader: BufReader::with_capacity(1 << 16, file),
            escaped,
            line: Vec::new(),
            line_number: 0,
        })
    }

    /// The next record; `None` at the end. A line that is no record is an error naming file and line.
    pub(crate) fn next(&mut self) -> Result<Option<Record>> {
        self.line.clear();
        let len = self
            .reader
            .read_until(b'\n', &mut self.line)
            .map_err(|e| file_failure("read", &self.path, e))?;
        if len == 0 {
            return Ok(None);
        }
        self.line_number += 1;
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let Some(tab) = line.iter().position(|&b| b == b'\t') else {
            return Err(self.refuse("expected KEY TAB VALUE, found no TAB".to_owned()));
        };
        let (key, value) = (&line[..tab], &line[tab + 1..]);
        let read = |what: &str, text: &[u8], len_bytes_max: usize| {
            let bytes = if self.escaped {
                unescape(text).map_err(|e| self.refuse(format!("{what}: {e}")))?
            } else {
                text.to_vec()
            };
            if bytes.len() > len_bytes_max {
                let reason = format!(
                    "a {what} has at most {len_bytes_max} bytes, found {}",
                    bytes.len()
                );
                return Err(self.refuse(reason));
            }
            Ok(bytes)
        };
        let key = read("key", key, KEY_LEN_BYTES_MAX)?;
        Ok(Some((key, read("value", value, VALUE_LEN_BYTES_MAX)?)))
    }

    fn refuse(&self, reason: String) -> Failure {
        Failure::Line {
            path: self.path.clone(),
            line: self.line_number,
            reason,
        }
    }
}

/// Reads a whole file of records, to know before anything is written that each line is one. Returns their number.
pub(crate) fn check_file(path: &Path, escaped: bool) -> Result<u64> {
    let mut records = Records::open(path, escaped)?;
    let mut record_count = 0;
    while records.next()?.is_some() {
        record_count += 1;
    }
    Ok(record_count)
}

fn file_failure(operation: &'static str, path: &Path, source: std::io::Error) -> Failure {
    Failure::File {
        operation,
        path: path.to_path_buf(),
        source,
    }
}
