/* Fuzz target for the record of progress: any bytes in its place are read, left alone or set aside; what is done then
 * is kept, unless it was said that it is not; and bytes that were set aside are still there. */
#define _DEFAULT_SOURCE /* mkdtemp, setenv */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "lessons/engine/lesson_progress.h"
#include "tests/support/scratch.h"

static char home[SCRATCH_BYTES], record[SCRATCH_BYTES + 40];

static void remove_all(void) {
  static const char *const NAMES[] = {"", ".lock", ".new", ".damaged-1"};
  char path[SCRATCH_BYTES + 60];
  for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
    snprintf(path, sizeof path, "%s%s", record, NAMES[k]);
    unlink(path);
  }
}

static void leave(void) {
  char folder[SCRATCH_BYTES + 16];
  remove_all();
  snprintf(folder, sizeof folder, "%s/tilewalk", home);
  rmdir(folder);
  rmdir(home);
}

static void enter(void) {
  char folder[SCRATCH_BYTES + 16];
  if (*home) return;
  require(scratch_folder(home));
  atexit(leave);
  snprintf(folder, sizeof folder, "%s/tilewalk", home);
  require(mkdir(folder, 0700) == 0);
  snprintf(record, sizeof record, "%s/lessons.json", folder);
  setenv("XDG_STATE_HOME", home, 1);
}

static void put(const uint8_t *data, size_t size) {
  FILE *file = fopen(record, "wb");
  require(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static void has(const char *path, const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "rb");
  uint8_t *there = malloc(size + 1);
  require(file && there && fread(there, 1, size + 1, file) == size && (!size || memcmp(there, data, size) == 0));
  fclose(file);
  free(there);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char said[2048] = "", path[SCRATCH_BYTES + 60];
  LessonProgress p;
  Error error = {0};
  enter();
  remove_all();
  put(data, size);
  FILE *warnings = fmemopen(said, sizeof said - 1, "w");
  require(warnings && lesson_progress_open(&p, warnings, &error) == STATUS_OK);
  if (!lesson_progress_of(&p, "fuzzed").has_begun) lesson_progress_begin(&p, "fuzzed", 7);
  lesson_progress_practised(&p, "ridge", practice_answered(lesson_progress_skill(&p, "ridge"), PRACTICE_RIGHT, 20000));
  lesson_progress_answer(&p, "fuzzed", "id", true, 1, 0);
  require(lesson_progress_save(&p, &error) == STATUS_OK);
  const bool is_kept = !p.has_warned;
  lesson_progress_close(&p);
  fclose(warnings);
  if (strstr(said, "set aside")) {
    snprintf(path, sizeof path, "%s.damaged-1", record);
    has(path, data, size);
  }
  if (!is_kept) {
    has(record, data, size);
    return 0;
  }
  require(lesson_progress_open(&p, stderr, &error) == STATUS_OK);
  require(!p.has_warned && lesson_progress_is_right(&p, "fuzzed", "id"));
  lesson_progress_close(&p);
  return 0;
}
