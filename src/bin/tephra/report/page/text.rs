//! Text on the page: escaped, and figures with their units.

pub(super) use crate::figures::size as bytes;

/// Text as it may stand between tags and in quoted attributes. Control characters, and those that turn a line, become marks.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control()
                || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}') =>
            {
                escaped.push('\u{fffd}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// `1 table`, `1,234 tables`.
pub(super) fn counted(count: u64, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {word}{ending}", crate::figures::grouped(count))
}

/// `12.3 %`, of a share of one.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// `340 µs`, `12 ms`, `3.4 s`, `5.6 min`, `7.8 h`.
pub(super) fn time(us: u64) -> String {
    let float = super::super::facts::as_float(us);
    match us {
        0..1_000 => format!("{us} \u{b5}s"),
        1_000..1_000_000 => format!("{:.0} ms", float / 1e3),
        1_000_000..120_000_000 => format!("{:.1} s", float / 1e6),
        120_000_000..7_200_000_000 => format!("{:.1} min", float / 6e7),
        _ => format!("{:.1} h", float / 3.6e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_name_is_taken_for_markup() {
        assert_eq!(
            escape("<script>&\"'\u{202e}\0x"),
            "&lt;script&gt;&amp;&quot;&#39;\u{fffd}\u{fffd}x"
        );
        for byte in 0..=0x7fu8 {
            let escaped = escape(&char::from(byte).to_string());
            assert!(!escaped.contains(['<', '>', '"', '\'']), "{byte:#x}: {escaped}");
        }
    }

    #[test]
    fn figures_take_the_unit_that_fits() {
        assert_eq!(
            [bytes(0), bytes(1_023), bytes(1_536), bytes(3 << 30)],
            ["0 B", "1023 B", "1.5 KiB", "3.0 GiB"]
        );
        assert_eq!(
            [
                time(999),
                time(12_000),
                time(3_400_000),
                time(300_000_000),
                time(36_000_000_000)
            ],
            ["999 \u{b5}s", "12 ms", "3.4 s", "5.0 min", "10.0 h"]
        );
        assert_eq!(percent(0.1234), "12.3 %");
    }
}
