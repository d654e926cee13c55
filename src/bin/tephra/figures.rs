//! Numbers as people read them.

use std::time::Duration;

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1023 B`, `12.3 KiB`, `4.5 GiB`.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub(crate) fn size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut scaled, mut unit) = (bytes as f64, "B");
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        if scaled < 1024.0 {
            break;
        }
        scaled /= 1024.0;
        unit = next;
    }
    format!("{scaled:.1} {unit}")
}

/// A duration with three or four digits: `870 us`, `12.3 ms`, `4.56 s`.
pub(crate) fn duration(time: Duration) -> String {
    let us = time.as_micros();
    match us {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{:.1} ms", time.as_secs_f64() * 1e3),
        _ => format!("{:.2} s", time.as_secs_f64()),
    }
}

/// `part` for each of `count`, with one digit after the point; "-" for none.
pub(crate) fn ratio(part: u64, count: u64) -> String {
    if count == 0 {
        return "-".to_owned();
    }
    // Tenths, rounded, in whole numbers: exact for every u64.
    let tenths = (u128::from(part) * 10 + u128::from(count) / 2) / u128::from(count);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (34_823, "34,823"),
            (1_127_248, "1,127,248"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn durations_take_the_unit_that_fits() {
        for (us, text) in [
            (0, "0 us"),
            (999, "999 us"),
            (1_000, "1.0 ms"),
            (12_345, "12.3 ms"),
            (4_560_000, "4.56 s"),
        ] {
            assert_eq!(duration(Duration::from_micros(us)), text);
        }
    }

    #[test]
    fn ratios_are_rounded() {
        for (part, count, text) in [
            (10, 4, "2.5"),
            (2, 3, "0.7"),
            (0, 3, "0.0"),
            (1, 0, "-"),
            (u64::MAX, 1, "18446744073709551615.0"),
        ] {
            assert_eq!(ratio(part, count), text);
        }
    }
}
