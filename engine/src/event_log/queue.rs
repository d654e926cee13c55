//! Lines that wait to be written, and the waits of writers added up.

use super::line::LineWriter;
use std::time::Duration;

/// Lines that wait at most; what comes then is counted and given up.
pub(super) const QUEUE_LEN_MAX: usize = 1_024;

/// Waits of one kind since the last lines were taken.
#[derive(Debug, Default)]
pub(super) struct Waits {
    count: u64,
    total: Duration,
    longest: Duration,
    /// When the last of them ended.
    wall_ms: u64,
}

impl Waits {
    pub(super) fn add(&mut self, waited: Duration, wall_ms: u64) {
        self.count += 1;
        self.total = self.total.saturating_add(waited);
        self.longest = self.longest.max(waited);
        self.wall_ms = wall_ms;
    }
}

/// See the head of the file.
#[derive(Debug, Default)]
pub(super) struct Queue {
    lines: Vec<String>,
    pub(super) slowdowns: Waits,
    pub(super) stalls: Waits,
    /// Events given up since a line said so.
    pub(super) lost_count: u64,
}

impl Queue {
    pub(super) fn push(&mut self, line: String) {
        if self.lines.len() < QUEUE_LEN_MAX {
            self.lines.push(line);
        } else {
            self.lost_count += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.slowdowns.count == 0 && self.stalls.count == 0
    }

    /// Takes everything as lines, in the order they are to be written, and how many events were lost before them.
    pub(super) fn take(&mut self, now_wall_ms: u64) -> (Vec<String>, u64) {
        let lost_count = std::mem::take(&mut self.lost_count);
        let mut lines = Vec::with_capacity(self.lines.len() + 3);
        if lost_count > 0 {
            let line = LineWriter::new(now_wall_ms, "lost").number("events", lost_count);
            lines.push(line.finish());
        }
        lines.append(&mut self.lines);
        let slow = std::mem::take(&mut self.slowdowns);
        if slow.count > 0 {
            let line = LineWriter::new(slow.wall_ms, "slowdown").number("commits", slow.count);
            lines.push(line.duration("us", slow.total).finish());
        }
        let stopped = std::mem::take(&mut self.stalls);
        if stopped.count > 0 {
            let line = LineWriter::new(stopped.wall_ms, "stall").number("commits", stopped.count);
            let line = line.duration("us", stopped.total);
            lines.push(line.duration("longest_us", stopped.longest).finish());
        }
        (lines, lost_count)
    }
}
