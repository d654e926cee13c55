//! A database as a whole: open, close, keyspaces, maintenance.

#![expect(unsafe_code, reason = "exported functions have unmangled names")]

use std::ffi::{c_char, c_int};
use std::fmt::Write as _;

use tephra_engine::{Db, KeyspaceOptions, Options, VerifyReport};

use crate::border::{Out, Refusal, TEPHRA_ABSENT, TEPHRA_OK, TephraString, call, handle, lent_text, result};
use crate::keyspace::{TephraKeyspace, keyspace_of};
use crate::options::{TephraKeyspaceOptions, TephraOptions};

/// A database.
#[derive(Debug)]
pub(crate) struct TephraDb(Db);

pub(crate) fn db_of(handle: Option<&TephraDb>) -> Result<&Db, Refusal> {
    handle.map(|handle| &handle.0).ok_or_else(|| Refusal::null("db"))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_open(
    path: TephraString,
    options: Option<&TephraOptions>,
    db: Out<*mut TephraDb>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let out = result(db, "db")?;
        let options = options.map_or_else(Options::default, |options| options.0.clone());
        *out = handle(TephraDb(Db::open(path.path("path")?, options)?));
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_close(db: Option<Box<TephraDb>>, error: Out<*mut c_char>) -> c_int {
    call(error, || {
        db.ok_or_else(|| Refusal::null("db"))?.0.close()?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_default_keyspace(
    db: Option<&TephraDb>,
    keyspace: Out<*mut TephraKeyspace>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let out = result(keyspace, "keyspace")?;
        *out = handle(TephraKeyspace(db_of(db)?.default_keyspace().clone()));
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_keyspace_open(
    db: Option<&TephraDb>,
    name: TephraString,
    options: Option<&TephraKeyspaceOptions>,
    keyspace: Out<*mut TephraKeyspace>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let out = result(keyspace, "keyspace")?;
        let options = options.map_or_else(KeyspaceOptions::default, |options| options.0.clone());
        *out = handle(TephraKeyspace(db_of(db)?.keyspace(name.text("name")?, options)?));
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_keyspace_name(
    db: Option<&TephraDb>,
    index: usize,
    name: Out<*mut c_char>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let out = result(name, "name")?;
        let Some(name) = db_of(db)?.keyspace_names().into_iter().nth(index) else {
            return Ok(TEPHRA_ABSENT);
        };
        if name.contains('\0') {
            let shown = name.escape_debug();
            return Err(Refusal::Argument(format!(
                "keyspace {index}: no string of C holds its name, \"{shown}\""
            )));
        }
        *out = lent_text(name);
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_keyspace_drop(
    db: Option<&TephraDb>,
    keyspace: Option<&TephraKeyspace>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        db_of(db)?.drop_keyspace(keyspace_of(keyspace)?)?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_flush(db: Option<&TephraDb>, error: Out<*mut c_char>) -> c_int {
    call(error, || {
        db_of(db)?.flush()?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_compact(db: Option<&TephraDb>, error: Out<*mut c_char>) -> c_int {
    call(error, || {
        db_of(db)?.compact()?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_resume(db: Option<&TephraDb>, error: Out<*mut c_char>) -> c_int {
    call(error, || {
        db_of(db)?.resume()?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_checkpoint(
    db: Option<&TephraDb>,
    path: TephraString,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        db_of(db)?.checkpoint(path.path("path")?)?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_verify(
    db: Option<&TephraDb>,
    is_sound: Out<bool>,
    report: Out<*mut c_char>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let is_sound = is_sound.ok_or_else(|| Refusal::null("is_sound"))?.write(false);
        let report = report.map(|report| report.write(std::ptr::null_mut()));
        let found = db_of(db)?.verify()?;
        *is_sound = found.is_sound();
        if let Some(report) = report {
            *report = lent_text(as_text(&found));
        }
        Ok(TEPHRA_OK)
    })
}

/// A report of `verify`, a line a fact.
fn as_text(report: &VerifyReport) -> String {
    let mut text = format!(
        "tables {}\nrecords {}\ndead records {}\nlive keys {}\nkeys without a value {}\n",
        report.table_count,
        report.record_count,
        report.dead_record_count,
        report.live_key_count,
        report.uncomposed_key_count
    );
    let lists = [
        ("left over", &report.leftover_files),
        ("not ours", &report.foreign_files),
        ("problem", &report.problems),
    ];
    for (what, lines) in lists {
        for line in lines {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{what} {line}");
        }
    }
    text
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_stats(
    db: Option<&TephraDb>,
    text: Out<*mut c_char>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let out = result(text, "text")?;
        *out = lent_text(db_of(db)?.stats().to_string());
        Ok(TEPHRA_OK)
    })
}
