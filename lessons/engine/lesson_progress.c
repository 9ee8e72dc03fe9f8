#include "lessons/engine/lesson_progress.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/utf8.h"

enum { FILE_BYTES = 4 << 20, VERSION = 1 };

/* ---- The form */

static json_t *fresh(void) { return json_pack("{s:i, s:{}}", "tilewalk-lessons", VERSION, "lessons"); }

/* Whether it has the form above, as far as it is used. */
static bool is_sound(const json_t *root) {
  const char *name;
  json_t *lesson;
  json_t *lessons = json_object_get(root, "lessons");
  if (json_integer_value(json_object_get(root, "tilewalk-lessons")) != VERSION || !json_is_object(lessons))
    return false;
  json_object_foreach(lessons, name, lesson) {
    if (json_unpack_ex(lesson, NULL, JSON_VALIDATE_ONLY, "{s:i, s:i, s:b, s:{}}", "seed", "block", "finished",
                       "answers"))
      return false;
  }
  return true;
}

/* ---- Reading */

typedef enum { FOUND_NONE = 0, FOUND_RECORD, FOUND_DAMAGE, FOUND_NO_USE } Found;

static Status no_memory(Error *error) { return error_no_memory(error, "for the record of progress"); }

static void warn(LessonProgress *p, const char *message) {
  char shown[RECORD_PATH_BYTES + 100];
  snprintf(shown, sizeof shown, "%s", message);
  utf8_clean(shown);
  if (!p->has_warned) fprintf(p->warnings, "tilewalk lesson: what you do is not kept: %s\n", shown); /* clean: above */
  p->has_warned = true;
}

/* What lies at p->path: *root for the caller to release when it is a record; *why when it is of no use now. Damage is
 * set aside under a lock, and then nothing is there. */
static Status look(LessonProgress *p, const RecordLock *lock, Found *found, json_t **root, Error *why, Error *error) {
  char *bytes = NULL, other[RECORD_PATH_BYTES];
  size_t length = 0;
  json_error_t json_why = {0};
  *found = FOUND_NO_USE;
  *root = NULL;
  const Status status = record_read(p->path, FILE_BYTES, &bytes, &length, why);
  if (status == STATUS_NO_MEMORY) return error_pass(error, why);
  if (status) return STATUS_OK;
  *found = FOUND_NONE;
  if (!bytes) return STATUS_OK;
  json_t *read = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &json_why);
  free(bytes);
  if (!read && json_error_code(&json_why) == json_error_out_of_memory) return no_memory(error);
  if (json_integer_value(json_object_get(read, "tilewalk-lessons")) > VERSION) {
    *found = FOUND_NO_USE;
    error_refuse(why, "%.200s was written by a newer Tilewalk", p->path);
  } else if (is_sound(read)) {
    *found = FOUND_RECORD;
    *root = json_incref(read);
  } else if (!lock || record_set_aside(lock, other, why)) {
    *found = FOUND_DAMAGE;
  } else {
    utf8_clean(other);
    fprintf(p->warnings, /* clean: above */
            "tilewalk lesson: the record of your progress is damaged; it was set aside as '%s', "
            "and a new one begins\n",
            other);
  }
  json_decref(read);
  return STATUS_OK;
}

Status lesson_progress_open(LessonProgress *p, FILE *warnings, Error *error) {
  Found found;
  json_t *read = NULL;
  Error why = {0};
  RecordLock lock;
  *p = (LessonProgress){.root = fresh(), .changes = json_array(), .warnings = warnings};
  if (!p->root || !p->changes) return no_memory(error);
  if (!warnings || !record_path("XDG_STATE_HOME", ".local/state", "lessons.json", p->path)) p->path[0] = '\0';
  if (!*p->path) return STATUS_OK;
  Status status = look(p, NULL, &found, &read, &why, error);
  if (!status && found == FOUND_DAMAGE && record_lock(&lock, p->path, true, &why) == STATUS_OK) {
    status = look(p, &lock, &found, &read, &why, error); /* another program may have mended it */
    record_unlock(&lock);
  }
  if (status) return status;
  if (why.status) warn(p, why.message);
  if (why.status) p->path[0] = '\0';
  if (!read) return STATUS_OK;
  json_decref(p->root);
  p->root = read;
  return STATUS_OK;
}

void lesson_progress_close(LessonProgress *p) {
  json_decref(p->root);
  json_decref(p->changes);
  *p = (LessonProgress){0};
}

/* ---- Writing */

static json_t *lesson_in(const json_t *root, const char *lesson) {
  return json_object_get(json_object_get(root, "lessons"), lesson);
}

/* Adds one change to a record. A lesson begins anew where the change says so, or another had other numbers; what was
 * answered first stays, where it had the same. */
static bool apply(json_t *root, const json_t *change) {
  const char *name = json_string_value(json_object_get(change, "lesson"));
  json_t *lesson = lesson_in(root, name), *begin = json_object_get(change, "begin"),
         *seed = json_object_get(change, "seed"), *at = json_object_get(change, "at"),
         *answers = json_object_get(change, "answers"), *first = json_object_get(change, "first");
  const bool same = json_equal(json_object_get(lesson, "seed"), seed);
  if (!lesson || json_is_true(begin) || (begin && !same)) {
    lesson = json_pack("{s:O, s:i, s:b, s:{}, s:O*}", "seed", seed, "block", 0, "finished", 0, "answers", "first",
                       same ? json_object_get(lesson, "first") : NULL);
    if (json_object_set_new(json_object_get(root, "lessons"), name, lesson)) return false;
  }
  if (first && !json_is_object(json_object_get(lesson, "first")) && json_object_set_new(lesson, "first", json_object()))
    return false;
  return !(at && json_object_update(lesson, at)) &&
         !(answers && json_object_update(json_object_get(lesson, "answers"), answers)) &&
         !(first && json_object_update_missing(json_object_get(lesson, "first"), first));
}

static bool apply_all(const LessonProgress *p, json_t *root) {
  size_t k;
  json_t *change;
  json_array_foreach(p->changes, k, change) {
    if (!apply(root, change)) return false;
  }
  return true;
}

static Status write_record(const RecordLock *lock, const json_t *root, Error *why) {
  char *text = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
  if (!text) return no_memory(why);
  const Status status = record_write(lock, text, strlen(text), why);
  free(text);
  return status;
}

/* Reads, changes and writes the record. An error in *error ends the program; one in *why is said. */
static Status change_record(LessonProgress *p, const RecordLock *lock, Error *why, Error *error) {
  Found found;
  json_t *now;
  const Status status = look(p, lock, &found, &now, why, error);
  if (status || found == FOUND_NO_USE || found == FOUND_DAMAGE) return status;
  if (!now) now = fresh();
  if (!now || !apply_all(p, now)) {
    json_decref(now);
    return no_memory(error);
  }
  if (write_record(lock, now, why)) {
    json_decref(now);
    return why->status == STATUS_NO_MEMORY ? error_set(error, why->status, "%s", why->message) : STATUS_OK;
  }
  json_decref(p->root);
  p->root = now;
  json_array_clear(p->changes);
  return STATUS_OK;
}

Status lesson_progress_save(LessonProgress *p, Error *error) {
  RecordLock lock;
  Error why = {0};
  if (p->has_failed) return no_memory(error);
  if (!*p->path || json_array_size(p->changes) == 0) return STATUS_OK;
  Status status = STATUS_OK;
  if (!record_lock(&lock, p->path, !p->has_waited, &why)) {
    status = change_record(p, &lock, &why, error);
    record_unlock(&lock);
  } else {
    p->has_waited = true; /* a learner waits once: what is changed goes with the next save that finds it free */
  }
  if (why.status && !status) warn(p, why.message);
  return status;
}

/* ---- What it says */

LessonStanding lesson_progress_of(const LessonProgress *p, const char *lesson) {
  json_t *l = lesson_in(p->root, lesson);
  LessonStanding s = {.has_begun = l != NULL};
  if (!l) return s;
  s.seed = (uint64_t)json_integer_value(json_object_get(l, "seed"));
  s.block = json_integer_value(json_object_get(l, "block"));
  if (s.block < 0) s.block = 0;
  s.is_finished = json_is_true(json_object_get(l, "finished"));
  const char *id;
  json_t *answer;
  json_object_foreach(json_object_get(l, "answers"), id, answer) {
    s.n_asked++;
    const bool is_right = json_is_true(json_object_get(answer, "right"));
    s.n_right += is_right;
    s.n_first += is_right && json_integer_value(json_object_get(answer, "tries")) == 1 &&
                 json_integer_value(json_object_get(answer, "hints")) == 0;
  }
  return s;
}

bool lesson_progress_is_right(const LessonProgress *p, const char *lesson, const char *id) {
  json_t *answer = json_object_get(json_object_get(lesson_in(p->root, lesson), "answers"), id);
  return json_is_true(json_object_get(answer, "right"));
}

/* ---- What is done */

/* Takes the change over: into the record as it was last seen, and for the next save. */
static void note(LessonProgress *p, const char *lesson, json_t *change) {
  if (!json_object_get(change, "seed"))
    json_object_set(change, "seed", json_object_get(lesson_in(p->root, lesson), "seed"));
  const int failed = json_object_set_new(change, "lesson", json_string(lesson));
  if (failed || !apply(p->root, change) || json_array_append(p->changes, change)) p->has_failed = true;
  json_decref(change);
}

/* "begin" is whether an older beginning was known: then all of that one goes. */
void lesson_progress_begin(LessonProgress *p, const char *lesson, uint64_t seed) {
  note(p, lesson, json_pack("{s:I, s:b}", "seed", (json_int_t)seed, "begin", lesson_in(p->root, lesson) != NULL));
}

void lesson_progress_at(LessonProgress *p, const char *lesson, int64_t block, bool is_finished) {
  note(p, lesson, json_pack("{s:{s:I, s:b}}", "at", "block", (json_int_t)block, "finished", is_finished));
}

void lesson_progress_answer(LessonProgress *p, const char *lesson, const char *id, bool right, int tries, int hints) {
  note(p, lesson, json_pack("{s:{s:{s:b, s:i, s:i}}}", "answers", id, "right", right, "tries", tries, "hints", hints));
}

void lesson_progress_first(LessonProgress *p, const char *lesson, const char *id, const char *answer) {
  json_t *change = json_pack("{s:{s:s}}", "first", id, answer);
  if (change) note(p, lesson, change); /* else it is no text */
}

char *lesson_progress_hand_in(const LessonProgress *p, const char *lesson, const char *student, int *n) {
  const char *name;
  json_t *l, *rows = json_array();
  *n = 0;
  json_object_foreach(json_object_get(p->root, "lessons"), name, l) {
    json_t *first = json_object_get(l, "first");
    if ((lesson && strcmp(lesson, name) != 0) || json_object_size(first) == 0) continue;
    *n += (int)json_object_size(first);
    json_array_append_new(rows, json_pack("{s:s, s:s, s:O, s:O}", "student", student, "lesson", name, "seed",
                                          json_object_get(l, "seed"), "answers", first));
  }
  char *text = json_dumps(rows, JSON_INDENT(1));
  json_decref(rows);
  return text;
}

/* ---- Practice */

static const char PRACTICE[] = "practice";

static int64_t whole(const json_t *answer, const char *key, int64_t most) {
  const json_int_t n = json_integer_value(json_object_get(answer, key));
  return n < 0 ? 0 : n > most ? most : n;
}

PracticeSkill lesson_progress_skill(const LessonProgress *p, const char *id) {
  const json_t *answer = json_object_get(json_object_get(lesson_in(p->root, PRACTICE), "answers"), id);
  return (PracticeSkill){.box = (int)whole(answer, "box", PRACTICE_BOXES - 1),
                         .due_day = whole(answer, "due", INT32_MAX),
                         .n_asked = whole(answer, "tries", INT32_MAX),
                         .n_right = whole(answer, "rights", INT32_MAX)};
}

void lesson_progress_practised(LessonProgress *p, const char *id, PracticeSkill s) {
  if (!lesson_in(p->root, PRACTICE)) lesson_progress_begin(p, PRACTICE, 1);
  note(p, PRACTICE,
       json_pack("{s:{s:{s:b, s:I, s:i, s:I, s:i, s:I}}}", "answers", id, "right", s.box > 0, "tries",
                 (json_int_t)s.n_asked, "hints", 0, "rights", (json_int_t)s.n_right, "box", s.box, "due",
                 (json_int_t)s.due_day));
}
