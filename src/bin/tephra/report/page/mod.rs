//! The page: one HTML file with everything in it.

mod charts;
mod rows;
mod text;
mod timeline;

use super::advice::{Advice, Weight};
use super::facts::{Facts, ratio};
use crate::figures::grouped;
use text::{bytes, counted, escape, percent, time};

const STYLE: &str = include_str!("style.css");

pub(super) fn render(facts: &Facts, advice: &[Advice]) -> String {
    let cards = [
        card(true, "What to change", "", &advice_list(advice)),
        card(
            true,
            "Shape of the levels",
            "Every table as long as its file. Level 0 holds what was flushed, each deeper level one sorted run.",
            &charts::levels(facts),
        ),
        card(
            true,
            "Timeline",
            &span(facts),
            &timeline::render(&facts.history.activities),
        ),
        card(
            false,
            "Write amplification by level",
            "Bytes of tables written for each byte that came in, as far as the event log reaches back.",
            &charts::written(facts),
        ),
        card(
            false,
            "Where the bytes go",
            "All table files together.",
            &charts::bytes_of_files(facts),
        ),
        card(
            false,
            "Key prefixes",
            "A key is stored as what it does not share with the key before it.",
            &charts::prefixes(facts),
        ),
        card(
            false,
            "Block fill",
            "The last block of a table may hold fewer records than the others.",
            &charts::blocks(facts),
        ),
        card(
            false,
            "Filters",
            "Look-ups of absent keys that a table's filter lets pass, expected from its bits a key.",
            &charts::filters(facts),
        ),
        card(
            false,
            "Keyspaces",
            "The largest first.",
            &charts::keyspaces(facts),
        ),
    ];
    let name = escape(&facts.path);
    let short = facts.path.trim_end_matches('/');
    let short = escape(short.rsplit('/').next().unwrap_or(short));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>tephradb: {name}</title><style>{STYLE}</style></head><body><main>\
         <header><h1>{short}</h1><span class=\"soft path\">{name}, a tephradb database</span></header>{}<div class=\"grid\">{}</div>\
         <footer>{}</footer></main></body></html>\n",
        tiles(facts),
        cards.concat(),
        footer(facts)
    )
}

fn card(is_wide: bool, title: &str, note: &str, body: &str) -> String {
    let class = if is_wide { "card wide" } else { "card" };
    let note = if note.is_empty() {
        String::new()
    } else {
        format!("<p class=\"note\">{}</p>", escape(note))
    };
    format!(
        "<section class=\"{class}\"><h2>{}</h2>{note}{body}</section>",
        escape(title)
    )
}

fn tiles(facts: &Facts) -> String {
    let (all, history) = (&facts.all, &facts.history);
    let space = if all.live_bytes() == 0 {
        "\u{2013}".to_owned()
    } else {
        format!("{:.2} \u{d7}", ratio(all.bytes, all.live_bytes()))
    };
    let written = facts
        .write_amplification()
        .map_or("\u{2013}".to_owned(), |factor| format!("{factor:.2} \u{d7}"));
    let tiles = [
        (bytes(all.bytes), format!("in {}", counted(all.tables, "table"))),
        (
            grouped(all.records - all.dead_records.min(all.records)),
            format!("live records, {} dead", grouped(all.dead_records)),
        ),
        (space, "bytes for each live byte".to_owned()),
        (written, "bytes written for each that came in".to_owned()),
        (
            time(history.stall_us),
            format!(
                "writers stood still, {}",
                counted(history.stall_commits, "commit")
            ),
        ),
        (
            grouped(facts.stats.memtable_entry_count as u64),
            format!("entries in the log alone, {}", bytes(facts.stats.log_bytes)),
        ),
    ];
    let tiles: Vec<String> = tiles
        .iter()
        .map(|(figure, name)| {
            format!(
                "<div class=\"tile\"><b>{}</b><span>{}</span></div>",
                escape(figure),
                escape(name)
            )
        })
        .collect();
    format!("<div class=\"tiles\">{}</div>", tiles.concat())
}

fn advice_list(advice: &[Advice]) -> String {
    if advice.is_empty() {
        return "<ul class=\"advice\"><li class=\"good\"><b>Nothing looks bad.</b><p>No rule of this report has anything to say about the levels, the event log or the filters.</p></li></ul>".to_owned();
    }
    let items: Vec<String> = advice
        .iter()
        .map(|advice| {
            let class = if advice.weight == Weight::Act {
                " class=\"act\""
            } else {
                ""
            };
            format!(
                "<li{class}><b>{}</b><p>{}</p></li>",
                escape(&sentence(&advice.seen)),
                escape(advice.advice)
            )
        })
        .collect();
    format!("<ul class=\"advice\">{}</ul>", items.concat())
}

/// With a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars
        .next()
        .map(|first| first.to_uppercase().to_string())
        .unwrap_or_default();
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

fn span(facts: &Facts) -> String {
    match (&facts.history.first_time, &facts.history.last_time) {
        (Some(first), Some(last)) => format!(
            "From {first} to {last}. Idle time is cut out at the dashed lines. {}, {}.",
            counted(facts.history.flush_count, "flush").replace("flushs", "flushes"),
            counted(facts.history.compaction_count, "compaction")
        ),
        _ => String::new(),
    }
}

fn footer(facts: &Facts) -> String {
    let dead = percent(ratio(facts.all.dead_records, facts.all.records));
    escape(&format!(
        "Made by tephra report {}, which reads and never writes. {}, {dead} of all records dead, {}, {} of the log unreadable.",
        env!("CARGO_PKG_VERSION"),
        counted(facts.keyspaces.len() as u64, "keyspace"),
        counted(facts.history.event_count as u64, "event"),
        counted(facts.history.unreadable_line_count as u64, "line")
    ))
}
