#define _POSIX_C_SOURCE 200809L /* lstat */
#include "viz/cli/lesson_progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "viz/request/assets.h"
#include "viz/export/output.h"

enum { FILE_BYTES = 4 << 20, SET_ASIDE_MAX = 100 };

/* ---- Where */

static bool find_path(char path[LESSON_PROGRESS_PATH_BYTES]) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  int length = -1;
  if (state && state[0] == '/')
    length = snprintf(path, LESSON_PROGRESS_PATH_BYTES, "%s/tilewalk/lessons.json", state);
  else if (home && home[0] == '/')
    length = snprintf(path, LESSON_PROGRESS_PATH_BYTES, "%s/.local/state/tilewalk/lessons.json", home);
  return length > 0 && length < LESSON_PROGRESS_PATH_BYTES - 16;
}

/* The folders above the file, private as the XDG specification asks. */
static Status make_folders(const char *path, Error *error) {
  char part[LESSON_PROGRESS_PATH_BYTES];
  for (size_t k = 1; path[k]; k++) {
    if (path[k] != '/') continue;
    snprintf(part, sizeof part, "%.*s", (int)k, path);
    if (mkdir(part, 0700) != 0 && errno != EEXIST)
      return error_set(error, STATUS_BAD_REQUEST, "progress cannot be kept: the folder '%s' cannot be made (%s)", part,
                       strerror(errno));
  }
  return STATUS_OK;
}

/* ---- Reading */

static json_t *fresh(void) { return json_pack("{s:i, s:{}}", "tilewalk-lessons", 1, "lessons"); }

/* Whether it has the form above, as far as it is used. */
static bool is_sound(const json_t *root) {
  const char *name;
  json_t *lesson;
  json_t *lessons = json_object_get(root, "lessons");
  if (json_integer_value(json_object_get(root, "tilewalk-lessons")) != 1 || !json_is_object(lessons)) return false;
  json_object_foreach(lessons, name, lesson) {
    if (!json_is_object(lesson) || !json_is_integer(json_object_get(lesson, "seed")) ||
        !json_is_integer(json_object_get(lesson, "block")) || !json_is_boolean(json_object_get(lesson, "finished")) ||
        !json_is_object(json_object_get(lesson, "answers")))
      return false;
  }
  return true;
}

/* Renames the file to the first free name beside it. */
static void set_aside(const char *path, FILE *warnings) {
  char other[LESSON_PROGRESS_PATH_BYTES + 32];
  struct stat there;
  for (int k = 1; k <= SET_ASIDE_MAX; k++) {
    snprintf(other, sizeof other, "%s.damaged-%d", path, k);
    if (lstat(other, &there) == 0) continue;
    if (rename(path, other) != 0) break;
    fprintf(warnings,
            "tilewalk lesson: the record of your progress is damaged; it was set aside as '%s', "
            "and a new one begins\n",
            other);
    return;
  }
  fprintf(warnings,
          "tilewalk lesson: the record of your progress, '%s', is damaged and cannot be set aside; "
          "it will be replaced\n",
          path);
}

Status lesson_progress_open(LessonProgress *p, FILE *warnings, Error *error) {
  *p = (LessonProgress){0};
  p->root = fresh();
  if (!p->root) return error_set(error, STATUS_NO_MEMORY, "no memory for the record of progress");
  if (!find_path(p->path)) {
    p->path[0] = '\0';
    return STATUS_OK;
  }
  struct stat there;
  if (stat(p->path, &there) != 0) return STATUS_OK; /* nothing yet */
  char *buffer = NULL;
  size_t length = 0;
  Error inner = {0};
  const Status status = file_read(p->path, FILE_BYTES, &buffer, &length, &inner);
  if (status == STATUS_NO_MEMORY) return error_set(error, status, "%s", inner.message);
  json_t *read = status ? NULL : json_loadb(buffer, length, JSON_REJECT_DUPLICATES, NULL);
  free(buffer);
  if (read && is_sound(read)) {
    json_decref(p->root);
    p->root = read;
    return STATUS_OK;
  }
  json_decref(read);
  set_aside(p->path, warnings);
  return STATUS_OK;
}

void lesson_progress_close(LessonProgress *p) {
  json_decref(p->root);
  *p = (LessonProgress){0};
}

Status lesson_progress_save(const LessonProgress *p, Error *error) {
  FileWrite file;
  if (!*p->path) return STATUS_OK;
  if (make_folders(p->path, error)) return error->status;
  if (file_write_begin(&file, p->path, error)) return error->status;
  const bool failed = json_dumpf(p->root, file.stream, JSON_INDENT(1) | JSON_SORT_KEYS) != 0;
  if (failed || fputc('\n', file.stream) == EOF) {
    file_write_abort(&file);
    return error_set(error, STATUS_NO_MEMORY, "the record of progress could not be written");
  }
  return file_write_commit(&file, error);
}

Status lesson_progress_save_lesson(LessonProgress *p, const char *lesson, Error *error) {
  if (!*p->path) return STATUS_OK;
  json_t *own = json_object_get(json_object_get(p->root, "lessons"), lesson);
  json_t *now = json_load_file(p->path, JSON_REJECT_DUPLICATES, NULL);
  if (now && is_sound(now)) {
    if (json_object_set(json_object_get(now, "lessons"), lesson, own) != 0) {
      json_decref(now);
      return error_set(error, STATUS_NO_MEMORY, "the record of progress could not be written");
    }
    json_incref(now);
    json_decref(p->root);
    p->root = now;
  }
  json_decref(now);
  return lesson_progress_save(p, error);
}

/* ---- What it says */

static json_t *find(const LessonProgress *p, const char *lesson) {
  return json_object_get(json_object_get(p->root, "lessons"), lesson);
}

LessonStanding lesson_progress_of(const LessonProgress *p, const char *lesson) {
  json_t *l = find(p, lesson);
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
    s.n_right += json_is_true(json_object_get(answer, "right"));
  }
  return s;
}

bool lesson_progress_is_right(const LessonProgress *p, const char *lesson, const char *id) {
  json_t *answer = json_object_get(json_object_get(find(p, lesson), "answers"), id);
  return json_is_true(json_object_get(answer, "right"));
}

void lesson_progress_begin(LessonProgress *p, const char *lesson, uint64_t seed) {
  json_object_set_new(
      json_object_get(p->root, "lessons"), lesson,
      json_pack("{s:I, s:i, s:b, s:{}}", "seed", (json_int_t)seed, "block", 0, "finished", 0, "answers"));
}

void lesson_progress_at(LessonProgress *p, const char *lesson, int64_t block, bool is_finished) {
  json_t *l = find(p, lesson);
  json_object_set_new(l, "block", json_integer(block));
  json_object_set_new(l, "finished", json_boolean(is_finished));
}

void lesson_progress_answer(LessonProgress *p, const char *lesson, const char *id, bool right, int tries, int hints) {
  json_object_set_new(json_object_get(find(p, lesson), "answers"), id,
                      json_pack("{s:b, s:i, s:i}", "right", right, "tries", tries, "hints", hints));
}
