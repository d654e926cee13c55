//! Rows of a chart: a label and a figure above a bar. Widths are in per cent and heights in pixels, so that the drawing follows the
//! width of the page and its text keeps its size.

use std::fmt::Write as _;

use super::text::escape;

pub(super) const ROW_LEN_PX: usize = 46;
const BAR_TOP_PX: usize = 20;
pub(super) const BAR_LEN_PX: usize = 16;

/// A part of a bar.
pub(super) struct Part {
    /// Share of the row's width.
    pub(super) share: f64,
    pub(super) class: &'static str,
    pub(super) title: String,
}

/// A row.
pub(super) struct Row {
    pub(super) label: String,
    pub(super) figure: String,
    pub(super) parts: Vec<Part>,
}

/// The rows, under each other.
pub(super) fn chart(name: &str, rows: &[Row]) -> String {
    let mut svg = format!(
        "<svg height=\"{}\" role=\"img\" aria-label=\"{}\">",
        rows.len() * ROW_LEN_PX - 8,
        escape(name)
    );
    for (index, row) in rows.iter().enumerate() {
        let top = index * ROW_LEN_PX;
        let bar = top + BAR_TOP_PX;
        write!(
            svg,
            "<text x=\"0\" y=\"{0}\">{1}</text><text class=\"s\" x=\"100%\" y=\"{0}\" text-anchor=\"end\">{2}</text>\
             <rect class=\"track\" x=\"0\" y=\"{bar}\" width=\"100%\" height=\"{BAR_LEN_PX}\" rx=\"3\"/>",
            top + 13, escape(&row.label), escape(&row.figure)
        )
        .expect("a String takes everything");
        let mut at = 0.0;
        for part in &row.parts {
            rect(&mut svg, part.class, at, part.share, bar, BAR_LEN_PX, &part.title);
            at += part.share;
        }
    }
    svg.push_str("</svg>");
    svg
}

/// A rectangle with a tooltip; nothing that is too narrow to be there at all.
pub(super) fn rect(
    svg: &mut String,
    class: &str,
    at: f64,
    share: f64,
    top: usize,
    height: usize,
    title: &str,
) {
    if share <= 0.0 {
        return;
    }
    write!(
        svg,
        "<rect class=\"{class}\" x=\"{:.3}%\" y=\"{top}\" width=\"{:.3}%\" height=\"{height}\"><title>{}</title></rect>",
        100.0 * at.clamp(0.0, 1.0), 100.0 * share.min(1.0 - at.clamp(0.0, 1.0)), escape(title)
    )
    .expect("a String takes everything");
}

/// The meaning of colours.
pub(super) fn legend(entries: &[(&str, &str)]) -> String {
    let mut list = String::from("<ul class=\"legend\">");
    for (class, meaning) in entries {
        write!(list, "<li><svg aria-hidden=\"true\"><rect class=\"{class}\" width=\"11\" height=\"11\" rx=\"2\"/></svg>{}</li>", escape(meaning))
            .expect("a String takes everything");
    }
    list.push_str("</ul>");
    list
}
