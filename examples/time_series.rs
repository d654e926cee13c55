//! A time series: points are appended for ever, and everything older than a day goes by one range delete an hour.
//!
//! ```text
//! cargo run --example time_series
//!
//! key     sensor  time, big-endian              sensor by sensor, so that a chart is one scan
//!         "roof"  1760000000                    -> 21.5
//!
//! every hour, for each sensor:    delete_range( sensor, the beginning .. sensor, a day ago )
//! ```
//!
//! A range delete is one short record however many points it covers. Tables that lie in it are dropped unread; of others it
//! becomes a run of ordinals, and their next merge gives the space back.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]
#![expect(clippy::unwrap_used, reason = "an example stops at the first error")]

use tephradb::{Db, Keyspace, KeyspaceOptions, Options};

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;
const SENSORS: [&str; 3] = ["cellar", "roof", "river"];

/// The key of a point: a name that ends in a zero byte, and the time.
fn key(sensor: &str, time: u64) -> Vec<u8> {
    [sensor.as_bytes(), &[0], &time.to_be_bytes()].concat()
}

/// Records an hour of measurements, one every ten seconds and sensor.
fn record_hour(points: &Keyspace, begin: u64) -> tephradb::Result<()> {
    for time in (begin..begin + HOUR).step_by(10) {
        for sensor in SENSORS {
            // Hundredths of a degree.
            let value = 2_000 + (time / 60) % 500;
            points.put(key(sensor, time), value.to_be_bytes())?;
        }
    }
    Ok(())
}

/// Forgets what is older than a day.
fn expire(points: &Keyspace, now: u64) -> tephradb::Result<()> {
    for sensor in SENSORS {
        points.delete_range(key(sensor, 0)..key(sensor, now.saturating_sub(DAY)))?;
    }
    Ok(())
}

/// Lowest and highest value of a sensor between two times.
fn extremes(points: &Keyspace, sensor: &str, from: u64, to: u64) -> tephradb::Result<Option<(u64, u64)>> {
    let mut found: Option<(u64, u64)> = None;
    for item in points.range(key(sensor, from)..key(sensor, to)) {
        let value = u64::from_be_bytes(item?.1[..].try_into().unwrap());
        let (low, high) = found.unwrap_or((value, value));
        found = Some((low.min(value), high.max(value)));
    }
    Ok(found)
}

fn main() -> tephradb::Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open(folder.path(), Options::default().memtable_bytes(512 << 10))?;
    // All values have eight bytes: no length a record.
    let points = db.keyspace("points", KeyspaceOptions::default().value_width_bytes(8))?;
    let start = 1_760_000_000 / HOUR * HOUR;
    println!(
        "{:>6}  {:>10}  {:>8}  {:>12}",
        "hour", "points", "tables", "table bytes"
    );
    for hour in 0..96 {
        let begin = start + hour * HOUR;
        record_hour(&points, begin)?;
        expire(&points, begin + HOUR)?;
        if hour % 12 == 11 {
            let stats = db.stats();
            let count = points.approximate_len()?;
            println!(
                "{:>6}  {count:>10}  {:>8}  {:>12}",
                hour + 1,
                stats.table_count,
                stats.table_bytes
            );
        }
    }
    let now = start + 96 * HOUR;
    let a_day_of_points = DAY / 10 * SENSORS.len() as u64;
    assert_eq!(points.iter().count() as u64, a_day_of_points);
    assert_eq!(extremes(&points, "roof", start, now - DAY)?, None, "gone");
    let (low, high) = extremes(&points, "roof", now - HOUR, now)?.expect("the last hour is there");
    println!(
        "roof, last hour: {:.2} to {:.2} degrees",
        low as f64 / 100.0,
        high as f64 / 100.0
    );

    db.flush()?;
    db.compact()?;
    let stats = db.stats();
    assert_eq!(
        (stats.dead_record_count, stats.live_record_count),
        (0, a_day_of_points)
    );
    println!("compacted: {} bytes of tables for a day", stats.table_bytes);
    Ok(())
}
