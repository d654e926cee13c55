//! The charts of the page, from the facts.

use super::super::facts::{Facts, Group, as_float, ratio};
use super::rows::{BAR_LEN_PX, Part, Row, chart, legend, rect};
use super::text::{bytes, counted, escape, percent};
use crate::database::shown_name;
use crate::figures::grouped;

/// Tables of a level drawn one by one; more are drawn as one bar.
const TABLES_DRAWN_MAX: u64 = 400;

fn part(share: f64, class: &'static str, title: String) -> Part {
    Part { share, class, title }
}

/// The shape of the levels: every table as long as its file, its dead share hanging from the top.
pub(super) fn levels(facts: &Facts) -> String {
    let widest = facts.levels.values().map(|level| level.bytes).max().unwrap_or(0);
    let mut rows: Vec<Row> = Vec::new();
    for (number, level) in &facts.levels {
        let share = ratio(level.bytes, widest);
        rows.push(Row {
            label: format!("L{number}"),
            figure: format!(
                "{} \u{b7} {} \u{b7} {} dead",
                bytes(level.bytes),
                counted(level.tables, "table"),
                percent(ratio(level.dead_records, level.records))
            ),
            parts: if level.tables > TABLES_DRAWN_MAX {
                parts_of_level(level, share)
            } else {
                Vec::new()
            },
        });
    }
    if rows.is_empty() {
        return "<p class=\"soft\">There are no tables yet: everything is in memory and in the log.</p>"
            .to_owned();
    }
    let mut svg = chart("shape of the levels", &rows);
    svg.truncate(svg.len() - "</svg>".len());
    for (index, (number, level)) in facts.levels.iter().enumerate() {
        if level.tables > TABLES_DRAWN_MAX {
            continue;
        }
        let top = index * super::rows::ROW_LEN_PX + 20;
        let mut at = 0.0;
        for table in facts.tables.iter().filter(|table| table.level == *number) {
            let share = ratio(table.file_bytes, widest);
            let gap = (share * 0.04).min(0.002);
            let dead = ratio(table.dead_record_count, table.record_count);
            let title = format!(
                "table {} of keyspace {}: {}, {} records, {} dead",
                table.number,
                shown_name(&table.keyspace),
                bytes(table.file_bytes),
                grouped(table.record_count),
                percent(dead)
            );
            rect(&mut svg, "live", at, share - gap, top, BAR_LEN_PX, &title);
            let height = (0..=BAR_LEN_PX)
                .rev()
                .find(|&px| as_float(px as u64) <= dead * as_float(BAR_LEN_PX as u64))
                .unwrap_or(0);
            let height = if dead > 0.0 { height.max(2) } else { 0 };
            if height > 0 {
                rect(&mut svg, "dead", at, share - gap, top, height, &title);
            }
            at += share;
        }
    }
    svg + "</svg>"
        + &legend(&[
            ("live", "live records"),
            ("dead", "dead records, waiting for a compaction"),
        ])
}

fn parts_of_level(level: &Group, share: f64) -> Vec<Part> {
    let dead = ratio(level.dead_bytes, level.bytes);
    vec![
        part(
            share * (1.0 - dead),
            "live",
            format!("live: {}", bytes(level.live_bytes())),
        ),
        part(share * dead, "dead", format!("dead: {}", bytes(level.dead_bytes))),
    ]
}

/// Bytes written to each level for each byte that came in.
pub(super) fn written(facts: &Facts) -> String {
    let by_level = facts.write_amplification_by_level();
    let largest = by_level.values().copied().fold(0.0, f64::max);
    let came_in = facts.history.bytes_in();
    if came_in == 0 {
        return "<p class=\"soft\">The event log tells of no flush or ingest.</p>".to_owned();
    }
    let rows: Vec<Row> = by_level
        .iter()
        .map(|(level, factor)| {
            let written = if *level == 0 { came_in } else { 0 }
                + facts.history.compaction_bytes.get(level).copied().unwrap_or(0);
            let what = if *level == 0 {
                "flushes and ingests"
            } else {
                "compactions"
            };
            Row {
                label: format!("L{level}, {what}"),
                figure: format!("{factor:.2} \u{d7} \u{b7} {}", bytes(written)),
                parts: vec![part(
                    factor / largest,
                    if *level == 0 { "flush" } else { "live" },
                    format!("{} written to level {level}", bytes(written)),
                )],
            }
        })
        .collect();
    chart("write amplification by level", &rows)
}

/// Where the bytes of the files go.
pub(super) fn bytes_of_files(facts: &Facts) -> String {
    let all = &facts.all;
    let kinds = [
        ("c1", "keys, as stored", all.literal_bytes),
        ("c2", "values", all.value_bytes),
        ("c3", "controls of frames", all.control_bytes()),
        ("c4", "filters", all.filter_bytes),
        ("c5", "separators", all.separators_bytes),
        ("c6", "directories", all.directory_bytes),
        ("c7", "checksums, properties, padding", all.other_bytes()),
    ];
    if all.bytes == 0 {
        return "<p class=\"soft\">There are no tables.</p>".to_owned();
    }
    let parts = kinds
        .iter()
        .map(|&(class, name, len)| part(ratio(len, all.bytes), class, format!("{name}: {}", bytes(len))))
        .collect();
    let row = Row {
        label: "all tables".to_owned(),
        figure: format!(
            "{} \u{b7} {:.1} bytes a record",
            bytes(all.bytes),
            ratio(all.bytes, all.records)
        ),
        parts,
    };
    let meanings: Vec<(&str, String)> = kinds
        .iter()
        .map(|&(class, name, len)| (class, format!("{name} {}", percent(ratio(len, all.bytes)))))
        .collect();
    let meanings: Vec<(&str, &str)> = meanings
        .iter()
        .map(|(class, name)| (*class, name.as_str()))
        .collect();
    chart("bytes of the files", &[row]) + &legend(&meanings)
}

/// What front coding saves, by level.
pub(super) fn prefixes(facts: &Facts) -> String {
    let rows: Vec<Row> = of_levels(facts, |number, level| {
        let stored = ratio(level.literal_bytes, level.key_bytes);
        Row {
            label: number,
            figure: format!(
                "{} saved \u{b7} {:.1} of {:.1} bytes a key",
                percent(1.0 - stored),
                ratio(level.literal_bytes, level.records),
                ratio(level.key_bytes, level.records)
            ),
            parts: vec![
                part(stored, "c1", format!("stored: {}", bytes(level.literal_bytes))),
                part(
                    1.0 - stored,
                    "c3",
                    format!(
                        "retained of the key before: {}",
                        bytes(level.key_bytes.saturating_sub(level.literal_bytes))
                    ),
                ),
            ],
        }
    });
    drawn(
        "key prefixes",
        &rows,
        &[("c1", "stored"), ("c3", "retained of the key before, not stored")],
    )
}

/// How full blocks are.
pub(super) fn blocks(facts: &Facts) -> String {
    let rows: Vec<Row> = of_levels(facts, |number, level| {
        let fill = ratio(level.records, level.block_room);
        Row {
            label: number,
            figure: format!(
                "{} full \u{b7} {:.0} bytes a block",
                percent(fill),
                ratio(level.payload_bytes, level.blocks)
            ),
            parts: vec![part(
                fill,
                "c4",
                format!(
                    "{} records in {} blocks with room for {}",
                    grouped(level.records),
                    grouped(level.blocks),
                    grouped(level.block_room)
                ),
            )],
        }
    });
    drawn(
        "block fill",
        &rows,
        &[("c4", "records, of those that the blocks have room for")],
    )
}

/// Bits a key, and what is expected of them; and what look-ups came to.
pub(super) fn filters(facts: &Facts) -> String {
    let highest = facts
        .levels
        .values()
        .filter_map(Group::expected_rate)
        .fold(0.01, f64::max);
    let rows: Vec<Row> = of_levels(facts, |number, level| {
        let bits = 8.0 * ratio(level.filter_bytes, level.filtered_records);
        match level.expected_rate() {
            None => Row {
                label: number,
                figure: "no filter: tables of one block need none".to_owned(),
                parts: Vec::new(),
            },
            Some(rate) => Row {
                label: number,
                figure: format!("{:.2} % \u{b7} {bits:.1} bits a key", 100.0 * rate),
                parts: vec![part(
                    rate / highest,
                    "c4",
                    format!(
                        "{:.2} % of look-ups of absent keys are expected to pass",
                        100.0 * rate
                    ),
                )],
            },
        }
    });
    let scale = format!(
        "look-ups of absent keys expected to pass in vain; the full width is {}",
        percent(highest).replace(' ', "\u{a0}")
    );
    let mut html = drawn("filters", &rows, &[("c4", scale.as_str())]);
    let probes = facts.history.probes;
    let total = probes.filtered + probes.found + probes.in_vain;
    if total == 0 {
        return html
            + "<p class=\"note\" style=\"margin:10px 0 0\">Measured: no look-up was counted while the log was kept.</p>";
    }
    let share = |count| ratio(count, total);
    html += "<p class=\"note\" style=\"margin:14px 0 6px\">Measured, over all sessions in the log:</p>";
    html += &chart(
        "look-ups in tables",
        &[Row {
            label: format!("{} look-ups", grouped(total)),
            figure: match facts.measured_rate() {
                Some(rate) => format!("{:.2} % of absent keys passed", 100.0 * rate),
                None => "too few of absent keys for a rate".to_owned(),
            },
            parts: vec![
                part(
                    share(probes.filtered),
                    "c4",
                    format!("{} turned away", grouped(probes.filtered)),
                ),
                part(
                    share(probes.found),
                    "c1",
                    format!("{} found", grouped(probes.found)),
                ),
                part(
                    share(probes.in_vain),
                    "dead",
                    format!("{} passed in vain", grouped(probes.in_vain)),
                ),
            ],
        }],
    );
    html + &legend(&[("c4", "turned away"), ("c1", "found"), ("dead", "passed in vain")])
}

fn of_levels(facts: &Facts, row: impl Fn(String, &Group) -> Row) -> Vec<Row> {
    facts
        .levels
        .iter()
        .map(|(number, level)| row(format!("L{number}"), level))
        .collect()
}

fn drawn(name: &str, rows: &[Row], meanings: &[(&str, &str)]) -> String {
    if rows.is_empty() {
        return "<p class=\"soft\">There are no tables.</p>".to_owned();
    }
    chart(name, rows) + &legend(meanings)
}

/// The largest keyspaces.
pub(super) fn keyspaces(facts: &Facts) -> String {
    const SHOWN_MAX: usize = 20;
    let mut all: Vec<_> = facts.keyspaces.iter().collect();
    all.sort_by_key(|(_, group)| std::cmp::Reverse(group.bytes));
    let mut html = String::from(
        "<table><thead><tr><th>keyspace</th><th>bytes</th><th>tables</th><th>records</th><th>dead</th></tr></thead><tbody>",
    );
    for (name, group) in all.iter().take(SHOWN_MAX) {
        let shown = if name.is_empty() {
            "<span class=\"soft\">the default one</span>".to_owned()
        } else {
            escape(&crate::escape::escape(name.as_bytes()))
        };
        html += &format!(
            "<tr><td>{shown}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            bytes(group.bytes),
            grouped(group.tables),
            grouped(group.records),
            percent(ratio(group.dead_records, group.records))
        );
    }
    html += "</tbody></table>";
    if all.len() > SHOWN_MAX {
        html += &format!(
            "<p class=\"note\" style=\"margin:8px 0 0\">and {} more</p>",
            grouped((all.len() - SHOWN_MAX) as u64)
        );
    }
    html
}
