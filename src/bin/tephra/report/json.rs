//! The facts for programs.

use serde_json::{Value, json};

use crate::output::page_of_facts;

use super::advice::Advice;
use super::facts::{Facts, Group};

pub(super) fn render(facts: &Facts, advice: &[Advice]) -> String {
    let history = &facts.history;
    let levels: Vec<Value> = facts
        .levels
        .iter()
        .map(|(level, group)| with("level", json!(level), group))
        .collect();
    let keyspaces: Vec<Value> = facts
        .keyspaces
        .iter()
        .map(|(name, group)| with("name", json!(name), group))
        .collect();
    let written: Vec<Value> = facts
        .write_amplification_by_level()
        .into_iter()
        .map(|(level, factor)| json!({"level": level, "bytes_for_a_byte": factor}))
        .collect();
    let activities: Vec<Value> = history
        .activities
        .iter()
        .map(|activity| {
            json!({
                "kind": format!("{:?}", activity.kind).to_lowercase(),
                "begin_ms": activity.begin_ms(),
                "end_ms": activity.end_ms,
                "us": activity.took_us,
                "level": activity.level,
                "bytes_in": activity.bytes_in,
                "bytes_out": activity.bytes_out,
                "text": activity.text,
            })
        })
        .collect();
    let advice: Vec<Value> = advice
        .iter()
        .map(|advice| json!({"rule": advice.rule, "urgent": advice.weight == super::advice::Weight::Act, "seen": advice.seen, "advice": advice.advice}))
        .collect();
    let page = json!({
        "database": facts.path,
        "all": with("keyspaces", json!(facts.keyspaces.len()), &facts.all),
        "levels": levels,
        "keyspaces": keyspaces,
        "write_amplification": facts.write_amplification(),
        "write_amplification_by_level": written,
        "filters": {
            "expected_false_positive_rate": facts.all.expected_rate(),
            "measured_false_positive_rate": facts.measured_rate(),
            "turned_away": history.probes.filtered,
            "found": history.probes.found,
            "in_vain": history.probes.in_vain,
        },
        "events": {
            "count": history.event_count,
            "first": history.first_time,
            "last": history.last_time,
            "unreadable_lines": history.unreadable_line_count,
            "unreadable_files": history.unreadable_files,
            "opens": history.open_count,
            "lost": history.lost_event_count,
            "flushes": history.flush_count,
            "flush_bytes": history.flush_bytes,
            "ingest_bytes": history.ingest_bytes,
            "compactions": history.compaction_count,
            "stall_us": history.stall_us,
            "slowdown_us": history.slowdown_us,
            "activities": activities,
        },
        "advice": advice,
    });
    page_of_facts(&page)
}

fn with(name: &str, value: Value, group: &Group) -> Value {
    json!({
        name: value,
        "tables": group.tables,
        "bytes": group.bytes,
        "records": group.records,
        "dead_records": group.dead_records,
        "dead_bytes": group.dead_bytes,
        "blocks": group.blocks,
        "block_fill": super::facts::ratio(group.records, group.block_room),
        "key_bytes": group.key_bytes,
        "stored_key_bytes": group.literal_bytes,
        "value_bytes": group.value_bytes,
        "payload_bytes": group.payload_bytes,
        "directory_bytes": group.directory_bytes,
        "separators_bytes": group.separators_bytes,
        "filter_bytes": group.filter_bytes,
        "expected_false_positive_rate": group.expected_rate(),
    })
}
