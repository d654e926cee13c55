//! Output of a benchmark: one JSON line a figure, or a table for people. Figures go to standard output,
//! everything else to standard error.

use super::timing::Spread;

/// One figure: a variant of a fixture under one metric.
#[derive(Clone, Debug)]
pub struct Row {
    /// `merge`, `writer`, `allocations`, `table`, `engine`.
    pub bench: &'static str,
    /// `ids`, `fragments`, `random`, `real`, ...
    pub fixture: String,
    /// `byte_fixed`, `byte_variable`, `bit_fixed`, `bit_variable`.
    pub policy: &'static str,
    /// Distinct output records.
    pub records: u64,
    /// Bytes of shared prefix.
    pub prefix: u64,
    /// Bytes of changing tail.
    pub tail: u64,
    /// What was timed.
    pub variant: &'static str,
    /// `ns_per_key`, `bytes_peak`, ...
    pub metric: &'static str,
    /// The figure.
    pub spread: Spread,
    /// Payload of the output in bytes; none where there is no payload.
    pub output_payload_bytes: Option<u64>,
    /// CRC-32 of the output's payload.
    pub output_payload_crc32: Option<u32>,
    /// Further fields of the JSON line, as numbers.
    pub extra: Vec<(&'static str, f64)>,
}

/// Collects rows, printing each as it comes.
#[derive(Debug)]
pub struct Report {
    json: bool,
    add_ns: f64,
    heading_printed: bool,
}

impl Report {
    /// A report in one of the two forms; `add_ns` is this run's calibration.
    pub fn new(json: bool, add_ns: f64) -> Self {
        Self {
            json,
            add_ns,
            heading_printed: false,
        }
    }

    /// Prints one figure.
    pub fn row(&mut self, row: &Row) {
        if self.json {
            print_line(&self.json_line(row))
        } else {
            self.table_line(row)
        }
    }

    fn json_line(&self, row: &Row) -> String {
        let mut line = format!(
            concat!(
                "{{\"bench\":\"{}\",\"fixture\":\"{}\",\"policy\":\"{}\",\"records\":{},\"prefix\":{},\"tail\":{},",
                "\"variant\":\"{}\",\"metric\":\"{}\",\"median\":{:.4},\"min\":{:.4},\"max\":{:.4},",
                "\"samples\":{},\"add_ns\":{:.4}"
            ),
            row.bench,
            row.fixture,
            row.policy,
            row.records,
            row.prefix,
            row.tail,
            row.variant,
            row.metric,
            row.spread.median,
            row.spread.min,
            row.spread.max,
            row.spread.samples,
            self.add_ns,
        );
        if let Some(len_bytes) = row.output_payload_bytes {
            line.push_str(&format!(",\"output_payload_bytes\":{len_bytes}"));
        }
        if let Some(crc) = row.output_payload_crc32 {
            line.push_str(&format!(",\"output_payload_crc32\":\"{crc:08x}\""));
        }
        for (name, value) in &row.extra {
            line.push_str(&format!(",\"{name}\":{value:.4}"));
        }
        line.push('}');
        line
    }

    fn table_line(&mut self, row: &Row) {
        if !self.heading_printed {
            self.heading_printed = true;
            print_line(&format!(
                "one addition in a dependent chain: {:.3} ns",
                self.add_ns
            ));
            print_line(&format!(
                "{:<16} {:<14} {:>8} {:>6} {:>5}  {:<24} {:<14} {:>12} {:>12} {:>12}",
                "fixture", "policy", "records", "prefix", "tail", "variant", "metric", "median", "min", "max"
            ));
        }
        let extra: String = row
            .extra
            .iter()
            .map(|(name, value)| format!("  {name} {value:.3}"))
            .collect();
        print_line(&format!(
            "{:<16} {:<14} {:>8} {:>6} {:>5}  {:<24} {:<14} {:>12.3} {:>12.3} {:>12.3}{extra}",
            row.fixture,
            row.policy,
            row.records,
            row.prefix,
            row.tail,
            row.variant,
            row.metric,
            row.spread.median,
            row.spread.min,
            row.spread.max,
        ));
    }
}

#[expect(clippy::print_stdout, reason = "figures are what a benchmark is for")]
fn print_line(line: &str) {
    println!("{line}");
}

/// A remark on standard error.
#[expect(
    clippy::print_stderr,
    reason = "a benchmark speaks to the person who started it"
)]
pub fn remark(text: &str) {
    eprintln!("{text}");
}
