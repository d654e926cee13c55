//! Several writes at one instant.

#![expect(unsafe_code, reason = "exported functions have unmangled names")]

use std::ffi::{c_char, c_int};

use tephra_engine::Batch;

use crate::border::{Out, Refusal, TEPHRA_OK, TephraSlice, call, durability, free, handle, range, result};
use crate::database::{TephraDb, db_of};
use crate::keyspace::{TephraKeyspace, keyspace_of};

/// Writes collected for one commit.
#[derive(Debug)]
pub(crate) struct TephraBatch(Batch);

fn batch_of(handle: Option<&mut TephraBatch>) -> Result<&mut Batch, Refusal> {
    handle
        .map(|handle| &mut handle.0)
        .ok_or_else(|| Refusal::null("batch"))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_batch_new(
    db: Option<&TephraDb>,
    batch: Out<*mut TephraBatch>,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let out = result(batch, "batch")?;
        *out = handle(TephraBatch(db_of(db)?.batch()));
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_batch_free(batch: Option<Box<TephraBatch>>) {
    free(batch);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_batch_put(
    batch: Option<&mut TephraBatch>,
    keyspace: Option<&TephraKeyspace>,
    key: TephraSlice,
    value: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        batch_of(batch)?.put(keyspace_of(keyspace)?, key.bytes("key")?, value.bytes("value")?);
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_batch_delete(
    batch: Option<&mut TephraBatch>,
    keyspace: Option<&TephraKeyspace>,
    key: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        batch_of(batch)?.delete(keyspace_of(keyspace)?, key.bytes("key")?);
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_batch_delete_range(
    batch: Option<&mut TephraBatch>,
    keyspace: Option<&TephraKeyspace>,
    start: TephraSlice,
    end: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        batch_of(batch)?.delete_range(keyspace_of(keyspace)?, range(&start, &end)?);
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_batch_merge(
    batch: Option<&mut TephraBatch>,
    keyspace: Option<&TephraKeyspace>,
    key: TephraSlice,
    operand: TephraSlice,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        batch_of(batch)?.merge(
            keyspace_of(keyspace)?,
            key.bytes("key")?,
            operand.bytes("operand")?,
        );
        Ok(TEPHRA_OK)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_batch_len(batch: Option<&TephraBatch>) -> usize {
    batch.map_or(0, |batch| batch.0.len())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn tephra_batch_commit(
    batch: Option<Box<TephraBatch>>,
    durability: c_int,
    error: Out<*mut c_char>,
) -> c_int {
    call(error, || {
        let batch = batch.ok_or_else(|| Refusal::null("batch"))?;
        batch.0.commit(self::durability(durability)?)?;
        Ok(TEPHRA_OK)
    })
}
