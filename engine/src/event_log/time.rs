//! Times of the log: milliseconds since 1970 as `2026-11-30T16:14:17.120Z`, and back.
//!
//! Days and dates convert by counting from 1 March of year 0, so that the day that comes and goes is the last of a year; 400 years
//! have 146,097 days.

/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_1970: u64 = 719_468;
const DAYS_OF_ERA: u64 = 146_097;
const MS_OF_DAY: u64 = 86_400_000;

/// The text of a time, 24 characters up to the year 9999.
pub(super) fn render(wall_ms: u64) -> String {
    let (year, month, day) = date_of(wall_ms / MS_OF_DAY);
    let ms = wall_ms % MS_OF_DAY;
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        ms % 1_000
    )
}

/// The time of a text of exactly that form.
pub(super) fn parse(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let separators = [
        (4, b'-'),
        (7, b'-'),
        (10, b'T'),
        (13, b':'),
        (16, b':'),
        (19, b'.'),
        (23, b'Z'),
    ];
    if bytes.len() != 24 || separators.iter().any(|&(at, byte)| bytes[at] != byte) {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        all_digits.then(|| digits.parse::<u64>().ok()).flatten()
    };
    let (month, day) = (number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_of(number(0, 4)?, month, day)?;
    let seconds = (hour * 60 + minute) * 60 + second;
    Some(days * MS_OF_DAY + seconds * 1_000 + number(20, 23)?)
}

/// Year, month and day of a number of days since 1970.
fn date_of(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
    let leap_days = day_of_era / 1_460 + day_of_era / 146_096 - day_of_era / 36_524;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months from March on have 31, 30, 31, 30, 31 days, again and again: 153 days in five.
    let months_past_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * months_past_march + 2) / 5 + 1;
    let month = if months_past_march < 10 {
        months_past_march + 3
    } else {
        months_past_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Days since 1970; `None` before.
fn days_of(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = year.checked_sub(u64::from(month <= 2))?;
    let (era, year_of_era) = (year / 400, year % 400);
    let months_past_march = (month + 9) % 12;
    let day_of_year = (153 * months_past_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * DAYS_OF_ERA + day_of_era).checked_sub(DAYS_TO_1970)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_have_their_texts() {
        for (wall_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_796_055_257_120, "2026-11-30T16:14:17.120Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(render(wall_ms), text);
            assert_eq!(parse(text), Some(wall_ms));
        }
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        for day in 0..DAYS_OF_ERA {
            let wall_ms = day * MS_OF_DAY + day % MS_OF_DAY;
            assert_eq!(parse(&render(wall_ms)), Some(wall_ms), "day {day}");
        }
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "2026-11-30",
            "2026-11-30T16:14:17.120",
            "2026-13-30T16:14:17.120Z",
            "2026-11-00T16:14:17.120Z",
            "2026-11-30T24:14:17.120Z",
            "2026-11-30T16:14:17.+20Z",
            "1969-12-31T23:59:59.999Z",
            "2026-11-30T16:14:1\u{e9}120Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
