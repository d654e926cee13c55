//! Draws what the picker does, for `docs/compaction.md`: `cargo run -p tephra-compaction --example pictures -- docs/images`.
//!
//! ```text
//! compaction-levels.svg   bytes of each level over time, a workload a picture
//! compaction-writes.svg   bytes written to each level for each byte flushed
//! compaction-shape.svg    which table holds which keys, at the end of a run
//! ```
//!
//! Everything comes from the simulator, which runs the real picker over made-up histories: the same drawing on every machine.

#![expect(clippy::print_stdout, reason = "says what was drawn")]
#![expect(clippy::disallowed_methods, reason = "an example that writes files")]
#![expect(clippy::cast_precision_loss, reason = "coordinates")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use tephra_compaction::picker::simulator::{Report, Setting, Simulation, Workload};
use tephra_compaction::picker::{LevelView, PickerOptions};

/// Operations of 100 bytes on memtables and tables of 1 MiB: three levels, in the proportions of a store 64 times as large.
const OPERATIONS: u64 = 2_000_000;
const LEVELS: usize = 7;
const WIDTH: f64 = 960.0;

const STYLE: &str = "<style>\
    text{font:13px system-ui,sans-serif;fill:#1d2125}.s{fill:#5d6670;font-size:12px}.bg{fill:#fff}.line{stroke:#d9d6cf}\
    .l0{fill:#3d8c5f}.l1{fill:#b9a37a}.l2{fill:#b9a37a}.l3{fill:#b9a37a}.l4{fill:#e0a92e}.l5{fill:#5fa3c7}.l6{fill:#2f6f9f}\
    @media (prefers-color-scheme:dark){text{fill:#e6e8ea}.s{fill:#9aa4ad}.bg{fill:#15181b}.line{stroke:#30363c}.l0{fill:#5cb885}.l6{fill:#4a8fc0}}\
    </style>";

/// One run.
struct Run {
    workload: Workload,
    /// Bytes of each level after each flush.
    over_time: Vec<[u64; LEVELS]>,
    levels: Vec<LevelView>,
    report: Report,
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).unwrap_or_else(|| "docs/images".into());
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    let runs: Vec<Run> = Workload::ALL.into_iter().map(run).collect();
    let drawn = [
        ("compaction-levels.svg", levels_over_time(&runs)?),
        ("compaction-writes.svg", writes(&runs)?),
        ("compaction-shape.svg", shape(&runs[0])?),
    ];
    for (name, svg) in drawn {
        std::fs::write(directory.join(name), &svg)?;
        println!("{name}: {} bytes", svg.len());
    }
    Ok(())
}

fn run(workload: Workload) -> Run {
    let mut setting = Setting::new(workload, OPERATIONS);
    setting.memtable_bytes = 1 << 20;
    setting.picker = PickerOptions {
        target_table_bytes: 1 << 20,
        base_level_bytes: 4 << 20,
        manual_job_bytes: 16 << 20,
        ..PickerOptions::default()
    };
    let mut simulation = Simulation::new(setting);
    let (mut over_time, mut levels) = (Vec::new(), Vec::new());
    simulation.run_watched(|views| {
        let mut bytes = [0; LEVELS];
        for view in views {
            bytes[view.level as usize] = view.len_bytes();
        }
        over_time.push(bytes);
        levels = views.to_vec();
    });
    let report = simulation.report();
    Run {
        workload,
        over_time,
        levels,
        report,
    }
}

fn begin(height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\">{STYLE}<rect class=\"bg\" width=\"{WIDTH}\" height=\"{height}\"/>\n"
    )
}

fn legend(svg: &mut String, names: &[(usize, &str)], y: f64) -> std::fmt::Result {
    let mut x = 16.0;
    for (level, name) in names {
        write!(
            svg,
            "<rect class=\"l{level}\" x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"2\"/><text class=\"s\" x=\"{}\" y=\"{y}\">{name}</text>",
            y - 11.0,
            x + 18.0
        )?;
        x += 40.0 + 7.5 * name.len() as f64;
    }
    Ok(())
}

const LEVEL_NAMES: [(usize, &str); 3] = [
    (0, "level 0: as flushed"),
    (5, "level 5"),
    (6, "level 6: the bottom"),
];

/// Stacked areas, the bottom level below.
fn levels_over_time(runs: &[Run]) -> Result<String, std::fmt::Error> {
    const PANEL: f64 = 148.0;
    let mut svg = begin(PANEL * runs.len() as f64 + 44.0);
    for (index, run) in runs.iter().enumerate() {
        let (top, left, width, height) = (PANEL * index as f64 + 30.0, 74.0, WIDTH - 90.0, PANEL - 46.0);
        let most = run
            .over_time
            .iter()
            .map(|bytes| bytes.iter().sum::<u64>())
            .max()
            .unwrap_or(1)
            .max(1) as f64;
        let count = run.over_time.len().max(2) as f64 - 1.0;
        writeln!(svg, "<text x=\"16\" y=\"{}\">{}</text>", top - 10.0, run.workload)?;
        writeln!(
            svg,
            "<text class=\"s\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.0} MiB</text>",
            left - 6.0,
            top + 10.0,
            most / f64::from(1 << 20)
        )?;
        writeln!(
            svg,
            "<text class=\"s\" x=\"{}\" y=\"{}\" text-anchor=\"end\">0</text>",
            left - 6.0,
            top + height
        )?;
        let x = |at: usize| left + width * at as f64 / count;
        let mut below = vec![0.0; run.over_time.len()];
        for level in (0..LEVELS).rev() {
            if run.over_time.iter().all(|bytes| bytes[level] == 0) {
                continue;
            }
            let y = |bytes: f64| top + height * (1.0 - bytes / most);
            let mut path = String::new();
            let above: Vec<f64> = below
                .iter()
                .zip(&run.over_time)
                .map(|(below, bytes)| below + bytes[level] as f64)
                .collect();
            for (at, bytes) in above.iter().enumerate() {
                write!(
                    path,
                    "{}{:.1} {:.1}",
                    if at == 0 { 'M' } else { 'L' },
                    x(at),
                    y(*bytes)
                )?;
            }
            for (at, bytes) in below.iter().enumerate().rev() {
                write!(path, "L{:.1} {:.1}", x(at), y(*bytes))?;
            }
            writeln!(svg, "<path class=\"l{level}\" d=\"{path}Z\"/>")?;
            below = above;
        }
        writeln!(
            svg,
            "<line class=\"line\" x1=\"{left}\" x2=\"{}\" y1=\"{1}\" y2=\"{1}\"/>",
            left + width,
            top + height
        )?;
    }
    legend(&mut svg, &LEVEL_NAMES, PANEL * runs.len() as f64 + 30.0)?;
    Ok(svg + "</svg>\n")
}

/// Bars of what each level was written, for each byte flushed.
fn writes(runs: &[Run]) -> Result<String, std::fmt::Error> {
    const ROW: f64 = 44.0;
    let mut svg = begin(ROW * runs.len() as f64 + 58.0);
    let most = runs
        .iter()
        .map(|run| run.report.write_amplification)
        .fold(1.0, f64::max);
    let (left, width) = (110.0, WIDTH - 190.0);
    for (index, run) in runs.iter().enumerate() {
        let top = ROW * index as f64 + 16.0;
        writeln!(svg, "<text x=\"16\" y=\"{}\">{}</text>", top + 19.0, run.workload)?;
        let mut x = left;
        let mut bar = |level: usize, factor: f64| -> std::fmt::Result {
            let len = width * factor / most;
            if len > 0.0 {
                writeln!(
                    svg,
                    "<rect class=\"l{level}\" x=\"{x:.1}\" y=\"{top}\" width=\"{len:.1}\" height=\"28\"><title>level {level}: {factor:.2}</title></rect>"
                )?;
            }
            x += len;
            Ok(())
        };
        bar(0, 1.0)?;
        for (level, factor) in run.report.level_write_amplification.iter().enumerate() {
            bar(level, *factor)?;
        }
        writeln!(
            svg,
            "<text class=\"s\" x=\"{:.1}\" y=\"{}\">{:.2}</text>",
            x + 8.0,
            top + 19.0,
            run.report.write_amplification
        )?;
    }
    let bottom = ROW * runs.len() as f64;
    writeln!(
        svg,
        "<text class=\"s\" x=\"{left}\" y=\"{}\">bytes written for each byte flushed</text>",
        bottom + 20.0
    )?;
    legend(&mut svg, &LEVEL_NAMES, bottom + 44.0)?;
    Ok(svg + "</svg>\n")
}

/// Every table as long as its key range.
fn shape(run: &Run) -> Result<String, std::fmt::Error> {
    const TABLE: f64 = 20.0;
    let position = |key: &[u8]| {
        key.iter()
            .take(4)
            .fold(0u32, |number, byte| number << 8 | u32::from(*byte))
    };
    let last = run
        .levels
        .iter()
        .flat_map(|view| &view.tables)
        .map(|table| position(&table.last_key))
        .max()
        .unwrap_or(1)
        .max(1);
    let (left, width) = (110.0, WIDTH - 126.0);
    let mut body = String::new();
    let mut y = 16.0;
    for view in run.levels.iter().filter(|view| !view.tables.is_empty()) {
        writeln!(
            body,
            "<text x=\"16\" y=\"{}\">level {}</text>",
            y + 14.0,
            view.level
        )?;
        for table in &view.tables {
            let (from, to) = (position(&table.first_key), position(&table.last_key));
            let x = left + width * f64::from(from) / f64::from(last);
            let len = (width * f64::from(to - from) / f64::from(last) - 1.0).max(1.0);
            writeln!(
                body,
                "<rect class=\"l{}\" x=\"{x:.1}\" y=\"{y}\" width=\"{len:.1}\" height=\"{}\" rx=\"2\"/>",
                view.level,
                TABLE - 3.0
            )?;
            // Tables of level 0 overlap: each has a row of its own.
            if view.level == 0 {
                y += TABLE;
            }
        }
        y += if view.level == 0 { 8.0 } else { TABLE + 8.0 };
    }
    writeln!(
        body,
        "<text class=\"s\" x=\"{left}\" y=\"{}\">smallest key</text><text class=\"s\" x=\"{}\" y=\"{0}\" text-anchor=\"end\">largest key</text>",
        y + 12.0,
        left + width
    )?;
    Ok(begin(y + 24.0) + &body + "</svg>\n")
}
