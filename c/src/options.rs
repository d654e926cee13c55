//! Settings of a database and of a keyspace, as handles with a function a setting.

#![expect(unsafe_code, reason = "exported functions have unmangled names")]

use std::ffi::{c_char, c_int};

use tephra_engine::{AddU64, AppendBytes, KeyspaceOptions, MaxU64, Options};

use crate::border::{Out, Refusal, TEPHRA_OK, TephraString, call, durability, free, handle};

/// Settings of a database.
#[derive(Debug, Default)]
pub(crate) struct TephraOptions(pub(crate) Options);

/// Settings of a keyspace.
#[derive(Debug, Default)]
pub(crate) struct TephraKeyspaceOptions(pub(crate) KeyspaceOptions);

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_new() -> *mut TephraOptions {
    handle(TephraOptions::default())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_free(options: Option<Box<TephraOptions>>) {
    free(options);
}

fn set(
    options: Option<&mut TephraOptions>,
    error: Out<*mut c_char>,
    change: impl FnOnce(Options) -> Result<Options, Refusal>,
) -> c_int {
    call(error, || {
        let options = options.ok_or_else(|| Refusal::null("options"))?;
        options.0 = change(options.0.clone())?;
        Ok(TEPHRA_OK)
    })
}

fn size(value: u64) -> Result<usize, Refusal> {
    usize::try_from(value)
        .map_err(|_| Refusal::Argument(format!("{value} is more than this machine's memory")))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_memtable_bytes(
    options: Option<&mut TephraOptions>,
    bytes: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| Ok(options.memtable_bytes(size(bytes)?)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_target_table_bytes(
    options: Option<&mut TephraOptions>,
    bytes: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| Ok(options.target_table_bytes(bytes)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_l0_compaction_trigger(
    options: Option<&mut TephraOptions>,
    tables: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| {
        Ok(options.l0_compaction_trigger(size(tables)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_l0_tables_max(
    options: Option<&mut TephraOptions>,
    tables: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| Ok(options.l0_tables_max(size(tables)?)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_frozen_memtables_max(
    options: Option<&mut TephraOptions>,
    memtables: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| {
        Ok(options.frozen_memtables_max(size(memtables)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_pending_deletes_max(
    options: Option<&mut TephraOptions>,
    deletes: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| {
        Ok(options.pending_deletes_max(size(deletes)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_compaction_threads(
    options: Option<&mut TephraOptions>,
    threads: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| {
        Ok(options.compaction_threads(size(threads)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_tables_max(
    options: Option<&mut TephraOptions>,
    tables: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| Ok(options.tables_max(size(tables)?)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_manifest_bytes(
    options: Option<&mut TephraOptions>,
    bytes: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| Ok(options.manifest_bytes(bytes)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_event_log_bytes(
    options: Option<&mut TephraOptions>,
    bytes: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| Ok(options.event_log_bytes(bytes)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_create_if_missing(
    options: Option<&mut TephraOptions>,
    create: bool,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| Ok(options.create_if_missing(create)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_error_if_exists(
    options: Option<&mut TephraOptions>,
    refuse: bool,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| Ok(options.error_if_exists(refuse)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_read_only(
    options: Option<&mut TephraOptions>,
    read_only: bool,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| Ok(options.read_only(read_only)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_options_set_durability(
    options: Option<&mut TephraOptions>,
    durability: c_int,
    error: Out<*mut c_char>,
) -> c_int {
    set(options, error, |options| {
        Ok(options.durability(self::durability(durability)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_keyspace_options_new() -> *mut TephraKeyspaceOptions {
    handle(TephraKeyspaceOptions::default())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_keyspace_options_free(options: Option<Box<TephraKeyspaceOptions>>) {
    free(options);
}

fn set_of_keyspace(
    options: Option<&mut TephraKeyspaceOptions>,
    error: Out<*mut c_char>,
    change: impl FnOnce(KeyspaceOptions) -> Result<KeyspaceOptions, Refusal>,
) -> c_int {
    call(error, || {
        let options = options.ok_or_else(|| Refusal::null("options"))?;
        options.0 = change(options.0.clone())?;
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_keyspace_options_set_value_width_bytes(
    options: Option<&mut TephraKeyspaceOptions>,
    bytes: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set_of_keyspace(options, error, |options| {
        Ok(options.value_width_bytes(size(bytes)?))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_keyspace_options_set_target_table_bytes(
    options: Option<&mut TephraKeyspaceOptions>,
    bytes: u64,
    error: Out<*mut c_char>,
) -> c_int {
    set_of_keyspace(options, error, |options| Ok(options.target_table_bytes(bytes)))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_keyspace_options_set_law(
    options: Option<&mut TephraKeyspaceOptions>,
    law: TephraString,
    error: Out<*mut c_char>,
) -> c_int {
    set_of_keyspace(options, error, |options| match law.text("law")? {
        AddU64::NAME => Ok(options.compose(AddU64::NAME, AddU64)),
        MaxU64::NAME => Ok(options.compose(MaxU64::NAME, MaxU64)),
        AppendBytes::NAME => Ok(options.compose(AppendBytes::NAME, AppendBytes)),
        other => Err(Refusal::Argument(format!(
            "argument law: expected {}, {} or {}, found \"{}\"",
            AddU64::NAME,
            MaxU64::NAME,
            AppendBytes::NAME,
            other.escape_debug()
        ))),
    })
}
