//! The timeline: a lane for flushes, one for each level that compactions write to, one for waits. Time without events is cut out.
//!
//! ```text
//! flushes   | | ||  |  :  | |
//! to L5     [==]  [=]  :
//! to L6            [===:==]           : here nothing happened for long
//! waits        !       :
//!           +0 s       :   +9.2 s
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::facts::as_float;
use super::super::history::{Activity, Kind};
use super::rows::{legend, rect};
use super::text::{escape, time};

const LANE_LEN_PX: usize = 34;
const LABEL_LEN_PX: usize = 15;
/// What is left of a gap, as a share of the width.
const GAP_SHARE: f64 = 0.02;
/// Narrowest mark, as a share of the width.
const MARK_SHARE: f64 = 0.003;
/// Activities drawn: the newest.
const ACTIVITIES_MAX: usize = 3_000;

/// Wall time to a place on the page.
struct Scale {
    /// Begin, end, place of the begin, place of the end.
    spans: Vec<(u64, u64, f64, f64)>,
}

impl Scale {
    fn new(activities: &[Activity]) -> Scale {
        let mut busy: Vec<(u64, u64)> = activities
            .iter()
            .map(|activity| (activity.begin_ms(), activity.end_ms))
            .collect();
        busy.sort_unstable();
        let total = busy.iter().map(|span| span.1).max().unwrap_or(0) - busy.first().map_or(0, |span| span.0);
        let gap_ms = (total / 12).max(50);
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (begin, end) in busy {
            match merged.last_mut() {
                Some(last) if begin <= last.1.saturating_add(gap_ms) => last.1 = last.1.max(end),
                _ => merged.push((begin, end)),
            }
        }
        let worked: u64 = merged.iter().map(|(begin, end)| (end - begin).max(1)).sum();
        let gaps = GAP_SHARE * as_float(merged.len().saturating_sub(1) as u64);
        let width = (1.0 - gaps).max(0.2);
        let mut at = 0.0;
        let mut spans = Vec::new();
        for (begin, end) in merged {
            let share = width * as_float((end - begin).max(1)) / as_float(worked.max(1));
            spans.push((begin, end, at, at + share));
            at += share + GAP_SHARE;
        }
        Scale { spans }
    }

    fn place(&self, ms: u64) -> f64 {
        let span = self.spans.iter().find(|span| ms <= span.1).or(self.spans.last());
        let Some(&(begin, end, from, to)) = span else {
            return 0.0;
        };
        let share = as_float(ms.clamp(begin, end) - begin) / as_float((end - begin).max(1));
        (from + share * (to - from)).clamp(0.0, 1.0)
    }
}

pub(super) fn render(all: &[Activity]) -> String {
    let activities = &all[all.len().saturating_sub(ACTIVITIES_MAX)..];
    if activities.is_empty() {
        return "<p class=\"soft\">The event log holds nothing yet.</p>".to_owned();
    }
    let scale = Scale::new(activities);
    let mut lanes: BTreeMap<(u8, u64), String> = BTreeMap::new();
    for activity in activities {
        let lane = match activity.kind {
            Kind::Flush | Kind::Ingest => ((0, 0), "flushes and ingests".to_owned()),
            Kind::Compaction => ((1, activity.level), format!("compactions to L{}", activity.level)),
            Kind::Stall | Kind::Slowdown | Kind::Failure => ((2, 0), "waits of writers, failures".to_owned()),
            Kind::Open | Kind::Close => continue,
        };
        lanes.insert(lane.0, lane.1);
    }
    let height = lanes.len() * (LANE_LEN_PX + LABEL_LEN_PX) + 24;
    let mut svg = format!(
        "<svg height=\"{height}\" role=\"img\" aria-label=\"timeline of flushes, compactions and stalls\">"
    );
    let bottom = lanes.len() * (LANE_LEN_PX + LABEL_LEN_PX);
    axis(&mut svg, &scale, bottom);
    for (index, (lane, name)) in lanes.iter().enumerate() {
        let top = index * (LANE_LEN_PX + LABEL_LEN_PX);
        write!(
            svg,
            "<text class=\"s\" x=\"0\" y=\"{}\">{}</text>",
            top + 11,
            escape(name)
        )
        .expect("a String takes everything");
        write!(
            svg,
            "<rect class=\"track\" x=\"0\" y=\"{}\" width=\"100%\" height=\"22\" rx=\"3\"/>",
            top + LABEL_LEN_PX + 2
        )
        .expect("a String takes everything");
        for activity in activities {
            let (of, class) = match activity.kind {
                Kind::Flush => ((0, 0), "flush"),
                Kind::Ingest => ((0, 0), "ingest"),
                Kind::Compaction => ((1, activity.level), "live"),
                Kind::Stall => ((2, 0), "stall"),
                Kind::Slowdown => ((2, 0), "slow"),
                Kind::Failure => ((2, 0), "fail"),
                Kind::Open | Kind::Close => continue,
            };
            if of == *lane {
                let (from, to) = (scale.place(activity.begin_ms()), scale.place(activity.end_ms));
                let share = (to - from).max(MARK_SHARE);
                let title = format!("{} ({})", activity.text, time(activity.took_us));
                rect(
                    &mut svg,
                    class,
                    from.min(1.0 - MARK_SHARE),
                    share,
                    top + LABEL_LEN_PX + 2,
                    22,
                    &title,
                );
            }
        }
    }
    svg.push_str("</svg>");
    let meanings = [
        ("flush", "flush"),
        ("ingest", "ingest"),
        ("live", "compaction"),
        ("slow", "writers slowed down"),
        ("stall", "writers stopped"),
        ("fail", "failure"),
    ];
    let used: Vec<(&str, &str)> = meanings
        .into_iter()
        .filter(|(class, _)| svg.contains(&format!("rect class=\"{class}\"")))
        .collect();
    svg + &legend(&used)
}

/// Times since the first event, and the places where time was cut out.
fn axis(svg: &mut String, scale: &Scale, bottom: usize) {
    let origin = scale.spans.first().map_or(0, |span| span.0);
    let mut labelled_to = -1.0;
    for (index, &(begin, end, from, to)) in scale.spans.iter().enumerate() {
        if index > 0 {
            let cut = 100.0 * (from - GAP_SHARE / 2.0);
            write!(
                svg,
                "<line class=\"cut\" x1=\"{cut:.2}%\" x2=\"{cut:.2}%\" y1=\"0\" y2=\"{bottom}\"/>"
            )
            .expect("a String takes everything");
        }
        let is_last = index + 1 == scale.spans.len();
        for (ms, place, anchor) in [
            (begin, from, "start"),
            (end, to, if is_last { "end" } else { "middle" }),
        ] {
            // A label takes an eighth of a wide page and a quarter of a narrow one.
            let room_from = match anchor {
                "start" => place,
                "end" => place - 0.25,
                _ => place - 0.12,
            };
            if room_from >= labelled_to {
                write!(
                    svg,
                    "<text class=\"s\" x=\"{:.2}%\" y=\"{}\" text-anchor=\"{anchor}\">+{}</text>",
                    100.0 * place,
                    bottom + 16,
                    time((ms - origin).saturating_mul(1_000))
                )
                .expect("a String takes everything");
                labelled_to = if anchor == "start" {
                    place + 0.3
                } else {
                    place + 0.16
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(kind: Kind, end_ms: u64, took_us: u64) -> Activity {
        Activity {
            kind,
            end_ms,
            took_us,
            level: 6,
            bytes_in: 0,
            bytes_out: 0,
            text: "<b>".into(),
        }
    }

    #[test]
    fn places_rise_with_time_and_idle_time_is_cut() {
        let activities = [
            activity(Kind::Flush, 1_000, 500_000),
            activity(Kind::Flush, 2_000, 1_000_000),
            activity(Kind::Compaction, 86_400_000, 3_000_000),
        ];
        let scale = Scale::new(&activities);
        assert_eq!(scale.spans.len(), 2);
        let places: Vec<f64> = [500, 1_000, 2_000, 86_397_000, 86_400_000]
            .iter()
            .map(|&ms| scale.place(ms))
            .collect();
        assert!(
            places.is_sorted() && places[0] == 0.0 && places[4] > 0.99,
            "{places:?}"
        );
        assert!(places[3] - places[2] < 0.03, "{places:?}");
    }

    #[test]
    fn names_are_escaped_and_one_event_is_no_division_by_zero() {
        let drawn = render(&[activity(Kind::Failure, 5, 0)]);
        assert!(
            drawn.contains("&lt;b&gt;") && !drawn.contains("<b>") && !drawn.contains("NaN"),
            "{drawn}"
        );
        assert!(render(&[]).contains("nothing yet"));
    }
}
