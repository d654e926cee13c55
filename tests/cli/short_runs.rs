//! Many processes that each do one thing.

use super::support::Place;

/// Each finds what those before it have left, and none waits for it.
#[test]
fn a_loop_of_puts_waits_for_nothing_and_gets_no_advice_about_memory() {
    let place = Place::new();
    for n in 0..60 {
        place
            .run(&format!("put --create --db db key{n:03} value{n}"))
            .good();
    }
    assert_eq!(place.run("count --db db").good(), "60\n");
    let logs = place.path("db").read_dir().unwrap();
    let logs = logs.filter(|file| file.as_ref().unwrap().path().extension() == Some("log".as_ref()));
    assert!(logs.count() < 60, "some were flushed together");
    let fact = place.run("stats --db db --json").fact();
    let log = &fact["event_log"];
    assert_eq!(
        (&log["stall_count"], &log["open_count"]),
        (&0.into(), &60.into()),
        "{log}"
    );
    let fact: serde_json::Value = serde_json::from_str(&place.run("report db --json").good()).unwrap();
    assert_eq!(fact["advice"], serde_json::json!([]), "{}", fact["advice"]);
    place.run("verify --db db").good();
}
