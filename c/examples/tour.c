/* A tour of the C interface, which checks its answers.
 *
 *   cargo build --release -p tephra-c
 *   cc -Iinclude c/examples/tour.c -o tour -Ltarget/release -Wl,-rpath,"$PWD/target/release" -ltephra
 *   ./tour FOLDER        FOLDER: where the database is made; must not exist
 *
 * Every function of tephra.h is called. A wrong answer is printed with its line, and ends the program with 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tephra.h>

/* Ends the program unless the condition holds. */
#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)

/* The message of the last call made through OK or FAILS. */
static char *message;

/* A call that must succeed. */
#define OK(call)                                                                             \
  do {                                                                                       \
    int code_ = (call);                                                                      \
    if (code_ != TEPHRA_OK || message != NULL) {                                             \
      fprintf(stderr, "%s:%d: code %d: %s\n", __FILE__, __LINE__, code_, message ? message : "-"); \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)

/* A call that must fail with a code, and a message that holds some words. */
#define FAILS(expected, words, call)                                                         \
  do {                                                                                       \
    int code_ = (call);                                                                      \
    if (code_ != (expected) || message == NULL || strstr(message, words) == NULL) {          \
      fprintf(stderr, "%s:%d: code %d: %s\n", __FILE__, __LINE__, code_, message ? message : "-"); \
      exit(1);                                                                               \
    }                                                                                        \
    tephra_string_free(message);                                                             \
    message = NULL;                                                                          \
  } while (0)

static bool equals(tephra_slice bytes, const char *text) {
  return bytes.len == strlen(text) && memcmp(bytes.data, text, bytes.len) == 0;
}

/* Whether a key has a value, in a keyspace or in a snapshot of it. */
static bool has(const tephra_snapshot *snapshot, const tephra_keyspace *ks, const char *key, const char *expected) {
  tephra_value *value;
  int code = snapshot ? tephra_snapshot_get(snapshot, ks, tephra_text(key), &value, &message)
                      : tephra_get(ks, tephra_text(key), &value, &message);
  CHECK(message == NULL);
  if (code == TEPHRA_ABSENT) {
    CHECK(value == NULL);
    return expected == NULL;
  }
  CHECK(code == TEPHRA_OK);
  bool same = expected != NULL && equals(tephra_value_bytes(value), expected);
  tephra_value_free(value);
  return same;
}

/* Whether the next keys, from one end, are those of a string that parts them by spaces, and then no more. Frees the iterator. */
static bool walks(tephra_iterator *it, bool back, const char *expected) {
  char found[256] = "";
  tephra_slice key, value;
  int code;
  while ((code = back ? tephra_iterator_next_back(it, &key, &value, &message)
                      : tephra_iterator_next(it, &key, &value, &message)) == TEPHRA_OK) {
    CHECK(strlen(found) + key.len + 2 < sizeof found);
    if (found[0] != '\0') strcat(found, " ");
    strncat(found, key.data, key.len);
  }
  CHECK(code == TEPHRA_ABSENT && message == NULL && key.len == 0 && value.len == 0);
  tephra_iterator_free(it);
  if (strcmp(found, expected) != 0) fprintf(stderr, "found \"%s\", expected \"%s\"\n", found, expected);
  return strcmp(found, expected) == 0;
}

static tephra_options *small_options(void) {
  tephra_options *options = tephra_options_new();
  OK(tephra_options_set_memtable_bytes(options, 1 << 20, &message));
  OK(tephra_options_set_target_table_bytes(options, 1 << 20, &message));
  OK(tephra_options_set_l0_compaction_trigger(options, 4, &message));
  OK(tephra_options_set_l0_tables_max(options, 16, &message));
  OK(tephra_options_set_frozen_memtables_max(options, 2, &message));
  OK(tephra_options_set_pending_deletes_max(options, 1000, &message));
  OK(tephra_options_set_compaction_threads(options, 1, &message));
  OK(tephra_options_set_tables_max(options, 1000, &message));
  OK(tephra_options_set_manifest_bytes(options, 1 << 20, &message));
  OK(tephra_options_set_event_log_bytes(options, 1 << 16, &message));
  OK(tephra_options_set_create_if_missing(options, true, &message));
  OK(tephra_options_set_error_if_exists(options, true, &message));
  OK(tephra_options_set_read_only(options, false, &message));
  OK(tephra_options_set_durability(options, TEPHRA_PROCESS, &message));
  FAILS(TEPHRA_BAD_ARGUMENT, "durability", tephra_options_set_durability(options, 7, &message));
  return options;
}

static void points(const tephra_keyspace *ks) {
  OK(tephra_put(ks, tephra_text("ash"), tephra_text("under 2 mm"), &message));
  OK(tephra_put(ks, tephra_text("lapilli"), tephra_text("2 to 64 mm"), &message));
  OK(tephra_put(ks, tephra_text("block"), tephra_text("over 64 mm"), &message));
  OK(tephra_put(ks, tephra_bytes("a\0b", 3), tephra_bytes(NULL, 0), &message));
  CHECK(has(NULL, ks, "ash", "under 2 mm"));
  CHECK(has(NULL, ks, "a", NULL));
  tephra_value *value;
  OK(tephra_get(ks, tephra_bytes("a\0b", 3), &value, &message));
  CHECK(value != NULL && tephra_value_bytes(value).len == 0);
  tephra_value_free(value);
  OK(tephra_delete(ks, tephra_bytes("a\0b", 3), &message));
  OK(tephra_delete(ks, tephra_text("never there"), &message));
  uint64_t len;
  OK(tephra_approximate_len(ks, &len, &message));
  CHECK(len == 3);
  /* A message is not needed by everyone. */
  CHECK(tephra_get(ks, tephra_text("a"), &value, NULL) == TEPHRA_ABSENT);
}

static void ranges(const tephra_keyspace *ks) {
  tephra_iterator *it;
  tephra_slice key, value, none = tephra_unbounded();
  OK(tephra_range(ks, none, none, &it, &message));
  CHECK(walks(it, false, "ash block lapilli"));
  OK(tephra_range(ks, tephra_text("b"), tephra_text("lapilli"), &it, &message));
  CHECK(walks(it, true, "block"));
  OK(tephra_range(ks, none, tephra_text(""), &it, &message));
  CHECK(walks(it, true, ""));
  OK(tephra_prefix(ks, tephra_text("la"), &it, &message));
  CHECK(walks(it, false, "lapilli"));

  /* Both ends of one range, and back again. */
  OK(tephra_range(ks, none, none, &it, &message));
  OK(tephra_iterator_next(it, &key, &value, &message));
  CHECK(equals(key, "ash") && equals(value, "under 2 mm"));
  OK(tephra_iterator_next_back(it, &key, NULL, &message));
  CHECK(equals(key, "lapilli"));
  OK(tephra_iterator_seek(it, tephra_text("az"), &message));
  OK(tephra_iterator_next(it, NULL, &value, &message));
  CHECK(equals(value, "over 64 mm"));
  CHECK(tephra_iterator_next(it, &key, &value, &message) == TEPHRA_ABSENT);
  OK(tephra_iterator_seek_back(it, tephra_text("b"), &message));
  CHECK(walks(it, true, "ash"));
}

static void batches(const tephra_db *db, const tephra_keyspace *ks) {
  tephra_batch *batch;
  tephra_snapshot *before;
  tephra_iterator *it;
  OK(tephra_snapshot_new(db, &before, &message));
  OK(tephra_batch_new(db, &batch, &message));
  OK(tephra_batch_put(batch, ks, tephra_text("bomb"), tephra_text("over 64 mm, round"), &message));
  OK(tephra_batch_delete(batch, ks, tephra_text("block"), &message));
  OK(tephra_batch_delete_range(batch, ks, tephra_text("l"), tephra_text("m"), &message));
  CHECK(tephra_batch_len(batch) == 3);
  CHECK(has(NULL, ks, "bomb", NULL));
  OK(tephra_batch_commit(batch, TEPHRA_SYNC, &message));
  OK(tephra_range(ks, tephra_unbounded(), tephra_unbounded(), &it, &message));
  CHECK(walks(it, false, "ash bomb"));

  /* What was. */
  CHECK(has(before, ks, "block", "over 64 mm"));
  CHECK(has(before, ks, "bomb", NULL));
  OK(tephra_snapshot_range(before, ks, tephra_text("b"), tephra_unbounded(), &it, &message));
  CHECK(walks(it, true, "lapilli block"));
  OK(tephra_snapshot_prefix(before, ks, tephra_text("b"), &it, &message));
  CHECK(walks(it, false, "block"));
  tephra_snapshot_free(before);

  /* Forgotten, and refused as a whole. */
  OK(tephra_batch_new(db, &batch, &message));
  OK(tephra_batch_put(batch, ks, tephra_text("gone"), tephra_text(""), &message));
  tephra_batch_free(batch);
  OK(tephra_batch_new(db, &batch, &message));
  OK(tephra_batch_put(batch, ks, tephra_text("gone"), tephra_text(""), &message));
  OK(tephra_batch_merge(batch, ks, tephra_text("gone"), tephra_text("no law"), &message));
  FAILS(TEPHRA_FAILED, "law", tephra_batch_commit(batch, TEPHRA_PROCESS, &message));
  OK(tephra_batch_new(db, &batch, &message));
  FAILS(TEPHRA_BAD_ARGUMENT, "durability", tephra_batch_commit(batch, 2, &message));
  CHECK(has(NULL, ks, "gone", NULL));
  OK(tephra_delete_range(ks, tephra_text("bo"), tephra_text("bp"), &message));
  CHECK(has(NULL, ks, "bomb", NULL));
}

static void counters(const tephra_db *db) {
  tephra_keyspace_options *options = tephra_keyspace_options_new();
  tephra_keyspace *hits;
  tephra_batch *batch;
  tephra_value *value;
  OK(tephra_keyspace_options_set_value_width_bytes(options, 8, &message));
  OK(tephra_keyspace_options_set_target_table_bytes(options, 1 << 20, &message));
  OK(tephra_keyspace_options_set_law(options, "add-u64", &message));
  FAILS(TEPHRA_BAD_ARGUMENT, "add-u64", tephra_keyspace_options_set_law(options, "multiply", &message));
  OK(tephra_keyspace_open(db, "hits", options, &hits, &message));
  tephra_keyspace_options_free(options);

  const unsigned char one[8] = {1}, forty[8] = {40}, forty_two[8] = {42};
  OK(tephra_merge(hits, tephra_text("/ash"), tephra_bytes(one, 8), &message));
  OK(tephra_flush(db, &message));
  OK(tephra_merge(hits, tephra_text("/ash"), tephra_bytes(one, 8), &message));
  OK(tephra_batch_new(db, &batch, &message));
  OK(tephra_batch_merge(batch, hits, tephra_text("/ash"), tephra_bytes(forty, 8), &message));
  OK(tephra_batch_commit(batch, TEPHRA_PROCESS, &message));
  OK(tephra_get(hits, tephra_text("/ash"), &value, &message));
  CHECK(tephra_value_bytes(value).len == 8 && memcmp(tephra_value_bytes(value).data, forty_two, 8) == 0);
  tephra_value_free(value);
  FAILS(TEPHRA_FAILED, "8 bytes", tephra_put(hits, tephra_text("/"), tephra_text("seven"), &message));

  char *name;
  OK(tephra_keyspace_name(db, 0, &name, &message));
  CHECK(strcmp(name, "") == 0);
  tephra_string_free(name);
  OK(tephra_keyspace_name(db, 1, &name, &message));
  CHECK(strcmp(name, "hits") == 0);
  tephra_string_free(name);
  CHECK(tephra_keyspace_name(db, 2, &name, &message) == TEPHRA_ABSENT && name == NULL && message == NULL);

  tephra_keyspace *other;
  FAILS(TEPHRA_FAILED, "add-u64", tephra_keyspace_open(db, "hits", NULL, &other, &message));
  CHECK(other == NULL);
  OK(tephra_keyspace_open(db, "passing", NULL, &other, &message));
  OK(tephra_keyspace_drop(db, other, &message));
  FAILS(TEPHRA_FAILED, "dropped", tephra_put(other, tephra_text("a"), tephra_text("b"), &message));
  tephra_keyspace_free(other);
  tephra_keyspace_free(hits);
}

static void maintenance(const tephra_db *db, const tephra_keyspace *ks, const char *copy) {
  char *text;
  bool is_sound;
  OK(tephra_flush(db, &message));
  OK(tephra_compact_range(ks, tephra_text("a"), tephra_text("b"), &message));
  OK(tephra_compact(db, &message));
  OK(tephra_resume(db, &message));
  OK(tephra_verify(db, &is_sound, &text, &message));
  CHECK(is_sound && strstr(text, "live keys 2") != NULL && strstr(text, "problem") == NULL);
  tephra_string_free(text);
  OK(tephra_verify(db, &is_sound, NULL, &message));
  OK(tephra_stats(db, &text, &message));
  CHECK(strstr(text, "level") != NULL);
  tephra_string_free(text);
  OK(tephra_checkpoint(db, copy, &message));
  FAILS(TEPHRA_FAILED, copy, tephra_checkpoint(db, copy, &message));
}

/* NULL where something is needed is an error, and nothing else. */
static void nulls(const tephra_db *db, const tephra_keyspace *ks) {
  const int bad = TEPHRA_BAD_ARGUMENT;
  const tephra_slice a = tephra_text("a"), broken = tephra_bytes(NULL, 5);
  tephra_db *no_db;
  tephra_value *value;
  tephra_iterator *it;
  tephra_batch *batch;
  FAILS(bad, "path", tephra_open(NULL, NULL, &no_db, &message));
  FAILS(bad, "db", tephra_open("/nowhere", NULL, NULL, &message));
  FAILS(bad, "db", tephra_close(NULL, &message));
  FAILS(bad, "options", tephra_options_set_memtable_bytes(NULL, 1, &message));
  FAILS(bad, "options", tephra_keyspace_options_set_law(NULL, "add-u64", &message));
  FAILS(bad, "keyspace", tephra_put(NULL, a, a, &message));
  FAILS(bad, "key", tephra_put(ks, broken, a, &message));
  FAILS(bad, "value", tephra_put(ks, a, broken, &message));
  FAILS(bad, "value", tephra_get(ks, a, NULL, &message));
  FAILS(bad, "keyspace", tephra_get(NULL, a, &value, &message));
  CHECK(value == NULL);
  FAILS(bad, "keyspace", tephra_delete(NULL, a, &message));
  FAILS(bad, "end", tephra_delete_range(ks, a, broken, &message));
  FAILS(bad, "iterator", tephra_range(ks, a, a, NULL, &message));
  FAILS(bad, "prefix", tephra_prefix(ks, broken, &it, &message));
  CHECK(it == NULL);
  FAILS(bad, "iterator", tephra_iterator_next(NULL, NULL, NULL, &message));
  FAILS(bad, "iterator", tephra_iterator_seek_back(NULL, a, &message));
  FAILS(bad, "db", tephra_batch_new(NULL, &batch, &message));
  FAILS(bad, "batch", tephra_batch_put(NULL, ks, a, a, &message));
  FAILS(bad, "batch", tephra_batch_commit(NULL, TEPHRA_PROCESS, &message));
  FAILS(bad, "snapshot", tephra_snapshot_new(db, NULL, &message));
  FAILS(bad, "snapshot", tephra_snapshot_get(NULL, ks, a, &value, &message));
  FAILS(bad, "db", tephra_flush(NULL, &message));
  FAILS(bad, "is_sound", tephra_verify(db, NULL, NULL, &message));
  FAILS(bad, "text", tephra_stats(db, NULL, &message));
  FAILS(bad, "path", tephra_checkpoint(db, NULL, &message));
  CHECK(tephra_value_bytes(NULL).len == 0 && tephra_batch_len(NULL) == 0);
  CHECK(tephra_put(NULL, a, a, NULL) == bad);
  tephra_string_free(NULL);
  tephra_options_free(NULL);
  tephra_keyspace_options_free(NULL);
  tephra_keyspace_free(NULL);
  tephra_value_free(NULL);
  tephra_iterator_free(NULL);
  tephra_batch_free(NULL);
  tephra_snapshot_free(NULL);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  char copy[4096];
  CHECK(snprintf(copy, sizeof copy, "%s.copy", argv[1]) < (int)sizeof copy);
  printf("tephradb %s\n", tephra_version());

  tephra_db *db, *second;
  tephra_keyspace *ks;
  tephra_options *options = small_options();
  OK(tephra_open(argv[1], options, &db, &message));
  FAILS(TEPHRA_UNUSABLE, argv[1], tephra_open(argv[1], NULL, &second, &message));
  CHECK(second == NULL);
  OK(tephra_default_keyspace(db, &ks, &message));
  points(ks);
  ranges(ks);
  batches(db, ks);
  counters(db);
  maintenance(db, ks, copy);
  nulls(db, ks);

  /* What was read before stays readable; the rest says that the database is closed. */
  tephra_value *kept;
  tephra_iterator *it;
  OK(tephra_get(ks, tephra_text("ash"), &kept, &message));
  OK(tephra_range(ks, tephra_unbounded(), tephra_unbounded(), &it, &message));
  OK(tephra_close(db, &message));
  CHECK(equals(tephra_value_bytes(kept), "under 2 mm"));
  tephra_value_free(kept);
  CHECK(walks(it, false, "ash"));
  FAILS(TEPHRA_UNUSABLE, "closed", tephra_put(ks, tephra_text("a"), tephra_text("b"), &message));
  tephra_keyspace_free(ks);

  /* It is there, so that making it anew is refused; the copy is a database of its own. */
  FAILS(TEPHRA_UNUSABLE, "exists", tephra_open(argv[1], options, &db, &message));
  OK(tephra_options_set_error_if_exists(options, false, &message));
  OK(tephra_options_set_read_only(options, true, &message));
  OK(tephra_open(copy, options, &db, &message));
  OK(tephra_default_keyspace(db, &ks, &message));
  CHECK(has(NULL, ks, "ash", "under 2 mm"));
  FAILS(TEPHRA_READS_ONLY, "reading only", tephra_delete(ks, tephra_text("ash"), &message));
  tephra_keyspace_free(ks);
  OK(tephra_close(db, &message));
  tephra_options_free(options);
  printf("all answers are right\n");
  return 0;
}
