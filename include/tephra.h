/* tephradb from C: an embedded, ordered key-value store.
 *
 *   tephra_db *db;
 *   tephra_keyspace *ks;
 *   tephra_value *value;
 *   char *error;
 *   if (tephra_open("/tmp/ash", NULL, &db, &error) != TEPHRA_OK) { puts(error); tephra_string_free(error); return 1; }
 *   tephra_default_keyspace(db, &ks, NULL);
 *   tephra_put(ks, tephra_text("ash"), tephra_text("under 2 mm"), NULL);
 *   if (tephra_get(ks, tephra_text("ash"), &value, NULL) == TEPHRA_OK) {
 *     tephra_slice bytes = tephra_value_bytes(value);
 *     printf("%.*s\n", (int)bytes.len, (const char *)bytes.data);
 *     tephra_value_free(value);
 *   }
 *   tephra_keyspace_free(ks);
 *   tephra_close(db, NULL);
 *
 * Codes. What can fail gives a code (TEPHRA_OK, ...).
 *
 * Errors. The last argument, `error`, takes a message: a call that fails sets `*error` to a string that says what was being done, what
 * was expected and what was found; any other call sets it to NULL. The string is the caller's, who gives it to tephra_string_free.
 * A caller who wants the code alone passes NULL.
 *
 * Handles. A function that makes a handle writes it to a variable of the caller's, or NULL there if it fails. The caller frees it
 * with the function named at its type, once; to free NULL does nothing. Handles may be freed in any order: a keyspace, batch,
 * snapshot, iterator or value keeps what it needs. tephra_close closes the database also while others of its handles are there: they
 * give errors from then on, but values, snapshots and iterators stay readable.
 *
 * Null. Where a pointer is needed and NULL is passed, the call gives TEPHRA_BAD_ARGUMENT and does nothing. Any other pointer must be
 * valid: it is not, and cannot be, checked.
 *
 * Threads. Any number of threads may use one database, keyspace, snapshot or value at a time, also each other's; only the call that
 * frees or closes a handle must come after all others with it have returned. Options, batches and iterators belong to one thread at a time:
 * they may be handed over, not shared. Do not fork a process that has a database open and use it in the child.
 *
 * Panics. None leaves the library: a bug of its own becomes TEPHRA_PANIC. Free the handles of that call then and close the database; what is on
 * disk is as after a killed process, which the next open recovers from.
 *
 * Link with -ltephra; a static library needs -lpthread, -ldl and -lm as well on Linux.
 */
#ifndef TEPHRA_H
#define TEPHRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Codes ------------------------------------------------------------------------------------------------------------------- */

#define TEPHRA_OK 0           /* done */
#define TEPHRA_ABSENT 1       /* no such key or keyspace; the iterator is at its end. No error: there is no message */
#define TEPHRA_FAILED 2       /* this call failed and changed nothing, now or after a restart; everything else works */
#define TEPHRA_READS_ONLY 3   /* the write may be there or not, whole; reads work, writes are refused until the database is reopened */
#define TEPHRA_UNUSABLE 4     /* not opened, damaged, or closed */
#define TEPHRA_BAD_ARGUMENT 5 /* NULL, or a value that has no meaning: nothing was done */
#define TEPHRA_PANIC 6        /* a bug of this library */

/* What a commit survives once it has returned. */
#define TEPHRA_PROCESS 0 /* a killed process */
#define TEPHRA_SYNC 1    /* a power cut, too; commits at the same time share the sync */

/* --- Bytes ------------------------------------------------------------------------------------------------------------------- */

/* Some bytes, not ended by a zero byte. Passed in: the caller's, who changes nothing during the call. Handed out: the library's, for as
 * long as the function says. No bytes: `len` is 0, and `data` may be NULL. */
typedef struct tephra_slice {
  const void *data;
  size_t len;
} tephra_slice;

/* `len` bytes from `data` on. */
static inline tephra_slice tephra_bytes(const void *data, size_t len) {
  tephra_slice slice;
  slice.data = data;
  slice.len = len;
  return slice;
}

/* The characters of a string, without the zero byte at its end. `string` must not be NULL. */
static inline tephra_slice tephra_text(const char *string) { return tephra_bytes(string, strlen(string)); }

/* No bound: as the start of a range, from the first key on; as its end, to the last key. With no bound at either end a range holds all keys. */
static inline tephra_slice tephra_unbounded(void) { return tephra_bytes(NULL, 0); }

/* Frees a string that this library handed out. */
void tephra_string_free(char *string);

/* The library's version. Never freed. */
const char *tephra_version(void);

/* --- Options ----------------------------------------------------------------------------------------------------------------- */

/* Settings of a database, with defaults that suit a desktop program. Made by tephra_options_new, freed by tephra_options_free; they may be
 * freed once the database is open. A value that makes no sense is refused by tephra_open. */
typedef struct tephra_options tephra_options;

tephra_options *tephra_options_new(void);
void tephra_options_free(tephra_options *options);

/* Bytes in memory after which they are written to a table. Default 64 MiB. */
int tephra_options_set_memtable_bytes(tephra_options *options, uint64_t bytes, char **error);
/* Size at which a compaction begins its next table. Default 64 MiB. */
int tephra_options_set_target_table_bytes(tephra_options *options, uint64_t bytes, char **error);
/* Flushed tables of one keyspace that start a compaction. Default 4. */
int tephra_options_set_l0_compaction_trigger(tephra_options *options, uint64_t tables, char **error);
/* Flushed tables of one keyspace at which writers wait. Default 24. */
int tephra_options_set_l0_tables_max(tephra_options *options, uint64_t tables, char **error);
/* Full memtables that may wait for their flush before writers wait. Default 3. */
int tephra_options_set_frozen_memtables_max(tephra_options *options, uint64_t memtables, char **error);
/* Deletes that may wait in memory before it is flushed early. Default 32,768. */
int tephra_options_set_pending_deletes_max(tephra_options *options, uint64_t deletes, char **error);
/* Threads that compactions use together. Default 2, or 1 on a machine with one processor. */
int tephra_options_set_compaction_threads(tephra_options *options, uint64_t threads, char **error);
/* Tables of all keyspaces together from which puts and merges are refused until some are merged. Default 60,000. */
int tephra_options_set_tables_max(tephra_options *options, uint64_t tables, char **error);
/* Size at which the manifest is rewritten. Default 4 MiB. */
int tephra_options_set_manifest_bytes(tephra_options *options, uint64_t bytes, char **error);
/* Size at which the event log begins anew; 0 keeps none. Default 1 MiB, at most 64 MiB. */
int tephra_options_set_event_log_bytes(tephra_options *options, uint64_t bytes, char **error);
/* Whether a database is made where there is none. Default true. */
int tephra_options_set_create_if_missing(tephra_options *options, bool create, char **error);
/* Whether a database that is there already is an error. Default false. */
int tephra_options_set_error_if_exists(tephra_options *options, bool refuse, char **error);
/* Opens for reading alone: nothing is written; any number of readers at once, no writer meanwhile. Default false. */
int tephra_options_set_read_only(tephra_options *options, bool read_only, char **error);
/* TEPHRA_PROCESS or TEPHRA_SYNC for writes that are not in a batch. Default TEPHRA_PROCESS. */
int tephra_options_set_durability(tephra_options *options, int durability, char **error);

/* --- Database ---------------------------------------------------------------------------------------------------------------- */

/* An open database. Made by tephra_open, freed by tephra_close. */
typedef struct tephra_db tephra_db;

/* A keyspace: an ordered map of its own. Freed by tephra_keyspace_free. */
typedef struct tephra_keyspace tephra_keyspace;

/* Settings of a keyspace. Made by tephra_keyspace_options_new, freed by tephra_keyspace_options_free. */
typedef struct tephra_keyspace_options tephra_keyspace_options;

/* Opens the database in a directory, after what `options` say; NULL stands for the defaults. */
int tephra_open(const char *path, const tephra_options *options, tephra_db **db, char **error);

/* Stops background work, syncs the log and releases the directory. Frees the handle, also when it fails: what was durable before still
 * is then. */
int tephra_close(tephra_db *db, char **error);

/* The keyspace that always exists. */
int tephra_default_keyspace(const tephra_db *db, tephra_keyspace **keyspace, char **error);

/* Opens a keyspace, making it if there is none of that name (UTF-8, at most 1,024 bytes). Settings other than those it was made with are an
 * error; NULL stands for the defaults. */
int tephra_keyspace_open(const tephra_db *db, const char *name, const tephra_keyspace_options *options, tephra_keyspace **keyspace,
                         char **error);

/* The name of a keyspace by its place in the list of all; the default one, the empty string, is at 0. TEPHRA_ABSENT behind the last.
 * The string is the caller's: tephra_string_free. */
int tephra_keyspace_name(const tephra_db *db, size_t index, char **name, char **error);

/* Drops a keyspace with all that is in it. The handle stays the caller's to free; snapshots made before still read it. */
int tephra_keyspace_drop(const tephra_db *db, const tephra_keyspace *keyspace, char **error);

void tephra_keyspace_free(tephra_keyspace *keyspace);

tephra_keyspace_options *tephra_keyspace_options_new(void);
void tephra_keyspace_options_free(tephra_keyspace_options *options);
/* Gives all values one width. */
int tephra_keyspace_options_set_value_width_bytes(tephra_keyspace_options *options, uint64_t bytes, char **error);
/* As tephra_options_set_target_table_bytes, for this keyspace. */
int tephra_keyspace_options_set_target_table_bytes(tephra_keyspace_options *options, uint64_t bytes, char **error);
/* Composes by a law, and so allows tephra_merge: "add-u64" or "max-u64" (little-endian, values of 8 bytes), or "append-bytes". */
int tephra_keyspace_options_set_law(tephra_keyspace_options *options, const char *law, char **error);

/* Writes all that is in memory into tables; returns when that is durable. */
int tephra_flush(const tephra_db *db, char **error);

/* Merges all tables into one sorted run without dead records. */
int tephra_compact(const tephra_db *db, char **error);

/* Tries at once what failed for want of room. Harmless at any time. */
int tephra_resume(const tephra_db *db, char **error);

/* Makes this instant a database of its own in a directory that does not exist or is empty. */
int tephra_checkpoint(const tephra_db *db, const char *path, char **error);

/* Reads and checks everything. TEPHRA_OK says that the check ran: what it found stands in `*is_sound`, and in `*report`, a line a fact,
 * unless `report` is NULL. The string is the caller's: tephra_string_free. */
int tephra_verify(const tephra_db *db, bool *is_sound, char **report, char **error);

/* Figures for people, on one screen. The string is the caller's: tephra_string_free. */
int tephra_stats(const tephra_db *db, char **text, char **error);

/* --- Reading and writing ----------------------------------------------------------------------------------------------------- */

/* A value that was found; it keeps its bytes alive, and with them a whole table or memtable. Freed by tephra_value_free. */
typedef struct tephra_value tephra_value;

/* A range that is walked over. Freed by tephra_iterator_free. */
typedef struct tephra_iterator tephra_iterator;

/* Sets the value of a key. */
int tephra_put(const tephra_keyspace *keyspace, tephra_slice key, tephra_slice value, char **error);

/* The value of a key, or TEPHRA_ABSENT. */
int tephra_get(const tephra_keyspace *keyspace, tephra_slice key, tephra_value **value, char **error);

/* The bytes of a value, until it is freed. Those of NULL are none. */
tephra_slice tephra_value_bytes(const tephra_value *value);
void tephra_value_free(tephra_value *value);

/* Removes a key; that it is absent is no error. */
int tephra_delete(const tephra_keyspace *keyspace, tephra_slice key, char **error);

/* Removes all keys from `start`, included, to `end`, excluded. */
int tephra_delete_range(const tephra_keyspace *keyspace, tephra_slice start, tephra_slice end, char **error);

/* Merges an operand onto a key by the keyspace's law; on an absent key the operand becomes the value. */
int tephra_merge(const tephra_keyspace *keyspace, tephra_slice key, tephra_slice operand, char **error);

/* About how many keys there are, from counts that are kept anyway. */
int tephra_approximate_len(const tephra_keyspace *keyspace, uint64_t *len, char **error);

/* Merges the tables that touch a range of keys. */
int tephra_compact_range(const tephra_keyspace *keyspace, tephra_slice start, tephra_slice end, char **error);

/* --- Iterators --------------------------------------------------------------------------------------------------------------- */

/* The keys from `start`, included, to `end`, excluded, as they are now. */
int tephra_range(const tephra_keyspace *keyspace, tephra_slice start, tephra_slice end, tephra_iterator **iterator, char **error);

/* The keys that start with `prefix`, as they are now. */
int tephra_prefix(const tephra_keyspace *keyspace, tephra_slice prefix, tephra_iterator **iterator, char **error);

/* The next key from the front, or TEPHRA_ABSENT where front and back have met. `key` and `value` may be NULL. The bytes are the library's, and
 * stay until the next call with the iterator. After an error the iterator is at its end, unless a law gave no value for this key alone: then
 * the next call goes on behind it. */
int tephra_iterator_next(tephra_iterator *iterator, tephra_slice *key, tephra_slice *value, char **error);

/* As tephra_iterator_next, from the back. */
int tephra_iterator_next_back(tephra_iterator *iterator, tephra_slice *key, tephra_slice *value, char **error);

/* Sends the front to the first key of the range that is not below `key`: tephra_iterator_next gives that one. */
int tephra_iterator_seek(tephra_iterator *iterator, tephra_slice key, char **error);

/* Sends the back to the last key of the range that is not above `key`: tephra_iterator_next_back gives that one. */
int tephra_iterator_seek_back(tephra_iterator *iterator, tephra_slice key, char **error);

void tephra_iterator_free(tephra_iterator *iterator);

/* --- Batches ----------------------------------------------------------------------------------------------------------------- */

/* Writes to any keyspaces of one database, which become visible and durable together. Made by tephra_batch_new; freed by tephra_batch_commit
 * or, to forget them, by tephra_batch_free. */
typedef struct tephra_batch tephra_batch;

int tephra_batch_new(const tephra_db *db, tephra_batch **batch, char **error);
void tephra_batch_free(tephra_batch *batch);

/* These collect, in order. What the database refuses (a key too long, a keyspace of another database) is refused by the commit. */
int tephra_batch_put(tephra_batch *batch, const tephra_keyspace *keyspace, tephra_slice key, tephra_slice value, char **error);
int tephra_batch_delete(tephra_batch *batch, const tephra_keyspace *keyspace, tephra_slice key, char **error);
int tephra_batch_delete_range(tephra_batch *batch, const tephra_keyspace *keyspace, tephra_slice start, tephra_slice end, char **error);
int tephra_batch_merge(tephra_batch *batch, const tephra_keyspace *keyspace, tephra_slice key, tephra_slice operand, char **error);

/* Operations collected; 0 of NULL. */
size_t tephra_batch_len(const tephra_batch *batch);

/* Commits, with TEPHRA_PROCESS or TEPHRA_SYNC. Frees the batch, also when it fails. */
int tephra_batch_commit(tephra_batch *batch, int durability, char **error);

/* --- Snapshots --------------------------------------------------------------------------------------------------------------- */

/* One instant of all keyspaces. It stops nothing, and keeps old tables on disk until it is freed, by tephra_snapshot_free. */
typedef struct tephra_snapshot tephra_snapshot;

int tephra_snapshot_new(const tephra_db *db, tephra_snapshot **snapshot, char **error);
int tephra_snapshot_get(const tephra_snapshot *snapshot, const tephra_keyspace *keyspace, tephra_slice key, tephra_value **value,
                        char **error);
int tephra_snapshot_range(const tephra_snapshot *snapshot, const tephra_keyspace *keyspace, tephra_slice start, tephra_slice end,
                          tephra_iterator **iterator, char **error);
int tephra_snapshot_prefix(const tephra_snapshot *snapshot, const tephra_keyspace *keyspace, tephra_slice prefix,
                           tephra_iterator **iterator, char **error);
void tephra_snapshot_free(tephra_snapshot *snapshot);

#ifdef __cplusplus
}
#endif

#endif
