//! Reads the log.

use super::HEADER;
use super::line::EventLine;
use crate::directory::Directory;
use crate::file_name::FileName;

/// The events that are still kept, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventHistory {
    /// The events, in the order in which they were written.
    pub events: Vec<EventLine>,
    /// Lines that could not be read: torn by a crash, or somebody else's.
    pub unreadable_line_count: usize,
    /// Files that are there and could not be read, each with the reason; what they hold is missing here.
    pub unreadable_files: Vec<String>,
}

impl EventHistory {
    /// Adds the lines of a file; whatever cannot be read is counted and skipped. Never fails.
    pub fn add_file(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            if line == HEADER.as_bytes() {
                continue;
            }
            // A line without its end is torn, whatever is left of it.
            let text = std::str::from_utf8(line)
                .ok()
                .and_then(|line| line.strip_suffix('\n'));
            match text.and_then(EventLine::parse) {
                Some(event) => self.events.push(event),
                None => self.unreadable_line_count += 1,
            }
        }
    }
}

/// Reads both files of a directory. One that is missing is empty.
pub(crate) fn read(directory: &Directory) -> EventHistory {
    let mut history = EventHistory::default();
    for name in [FileName::EventsOld, FileName::Events] {
        match directory.file_system.read(&directory.path_of(name)) {
            Ok(bytes) => history.add_file(&bytes),
            Err(error) if error.is_not_found() => {}
            Err(error) => history.unreadable_files.push(error.to_string()),
        }
    }
    history
}
