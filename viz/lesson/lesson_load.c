/* Reading lessons and the glossary by name. Part of viz/lesson/lesson_library.h. Names alone are lesson_files.c's: the
 * small program lists them and reads none. */
#include <stdlib.h>

#include "sim/base/path.h"
#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "sim/base/text_add.h"
#include "viz/request/description.h"
#include "viz/request/own.h"
#include "viz/lesson/lesson_workshop.h"

/* The full name of a lesson that comes with Tilewalk. */
static Status find_name(const char *name, const char **found, const LessonFiles *files, Error *error) {
  Nearest nearest = {.word = name};
  char number[16], all[160] = "";
  snprintf(number, sizeof number, "%02d-", ascii_is_digit(name[0]) && strlen(name) <= 2 ? atoi(name) : -1);
  for (int k = 0; k < files->n; k++) {
    const char *const full = files->names[k];
    *found = full;
    if (strcmp(name, full) == 0 || strcmp(name, full + 3) == 0 || strncmp(full, number, strlen(number)) == 0)
      return STATUS_OK;
    nearest_offer(&nearest, full);
    nearest_offer(&nearest, full + 3);
    text_add(all, sizeof all, "%s%s", k ? ", " : "", full);
  }
  const bool is_whole = strlen(all) + 1 < sizeof all;
  return error_refuse(error, "there is no lesson '%s'%s; %s%s, and a file of your own ends in .md",
                      quote_text(name).text, nearest_hint(&nearest).text,
                      is_whole ? "there are " : "'tilewalk lesson' lists them", is_whole ? all : "");
}

/* The path of a lesson that comes with Tilewalk. */
static Status find_named(const char *name, char path[ASSETS_PATH_BYTES], Error *error) {
  LessonFiles *files = NULL;
  const char *found = NULL;
  char relative[LESSON_NAME_BYTES * 2 + 24];
  Status status = lesson_files(&files, error);
  if (!status) status = find_name(name, &found, files, error);
  if (!status) {
    snprintf(relative, sizeof relative, "lessons/course/%s.md", found);
    status = assets_find(path, ASSETS_PATH_BYTES, relative, error);
  }
  free(files);
  return status;
}

Status lesson_find(const char *name, char path[ASSETS_PATH_BYTES], Error *error) {
  if (!path_ends(name, ".md") && strncmp(name, "/dev/", 5) != 0) return find_named(name, path, error);
  if (snprintf(path, ASSETS_PATH_BYTES, "%s", name) < ASSETS_PATH_BYTES) return STATUS_OK;
  return error_refuse(error, "the path of the lesson is too long");
}

static Status read_lesson(const char *path, Lesson *lesson, Error *error) {
  char *buffer = NULL;
  size_t length = 0;
  Error inner = {0};
  Status status = file_read(path, LESSON_FILE_BYTES, &buffer, &length, &inner);
  if (status == STATUS_TOO_LARGE)
    return error_set(error, STATUS_BAD_FILE, "%s:1: the file is longer than %d KiB, which no lesson needs",
                     quote_text(path_base(path)).text, LESSON_FILE_BYTES / 1024);
  if (status) return error_pass(error, &inner);
  status = lesson_from_buffer(lesson, buffer, length, path, error);
  free(buffer);
  return status;
}

Status lesson_load(const char *name, Lesson *lesson, Error *error) {
  char path[ASSETS_PATH_BYTES];
  *lesson = (Lesson){0};
  return lesson_find(name, path, error) ? error->status : read_lesson(path, lesson, error);
}

Status lesson_load_named(const char *name, Lesson *lesson, Error *error) {
  char path[ASSETS_PATH_BYTES];
  *lesson = (Lesson){0};
  return find_named(name, path, error) ? error->status : read_lesson(path, lesson, error);
}

bool lesson_next(LessonShelf *s, Error *error) {
  if (!s->files && lesson_files(&s->files, error)) return false;
  lesson_free(&s->lesson);
  s->why.status = STATUS_OK;
  if (s->n < s->files->n) {
    s->name = s->files->names[s->n++];
    if (lesson_load_named(s->name, &s->lesson, &s->why) != STATUS_NO_MEMORY) return true;
    error_pass(error, &s->why);
  }
  free(s->files);
  return false;
}

static Status load_gpu(void *context, const char *name, Gpu *gpu, Error *error) {
  (void)context;
  const Status status = description_shipped(THING_GPU, name, error);
  return status ? status : description_gpu(name, gpu, error);
}

const ExpressionLimits LESSON_LIMITS = {.load_gpu = load_gpu, .kernels = own_kernels, .workshop = &LESSON_WORKSHOP};

/* ---- Anchors and the glossary */

/* Whether web pages give a heading that anchor: lower case, '-' for blanks, no punctuation. */
static bool has_anchor(const char *heading, size_t length, const char *anchor) {
  for (size_t k = 0; k < length; k++) {
    const unsigned char c = (unsigned char)heading[k];
    if (c != ' ' && c != '-' && c != '_' && c < 0x80 && !ascii_is_alnum(c)) continue;
    if ((unsigned char)*anchor++ != (c == ' ' ? '-' : ascii_lower(c))) return false;
  }
  return !*anchor;
}

/* The heading with that anchor, at its marks; NULL. */
const char *lesson_find_anchor(const char *text, const char *anchor) {
  for (const char *p = text; *p;) {
    const size_t line = strcspn(p, "\n"), marks = strspn(p, "#");
    size_t end = line;
    while (end > marks && ascii_is_space(p[end - 1])) end--;
    if (marks >= 1 && marks <= 6 && p[marks] == ' ' && end > marks + 1 &&
        has_anchor(p + marks + 1, end - marks - 1, anchor))
      return p;
    p += line + (p[line] != '\0');
  }
  return NULL;
}

Status lesson_glossary(const char *anchor, char *heading, size_t heading_size, char *text, size_t size, Error *error) {
  char *buffer;
  size_t bytes;
  Status status = assets_read("lessons/course/glossary.md", (size_t)1 << 20, &buffer, &bytes, error);
  const char *at = status ? NULL : lesson_find_anchor(buffer, anchor);
  if (!status && !at) status = error_refuse(error, "the glossary has no entry '%s'", quote_text(anchor).text);
  if (!status) {
    const char *name = at + strspn(at, "# "), *body = name + strcspn(name, "\n");
    const char *end = strstr(body, "\n#");
    const size_t length = end ? (size_t)(end - body) : strlen(body);
    snprintf(heading, heading_size, "%.*s", (int)strcspn(name, "\n"), name);
    snprintf(text, size, "%.*s", (int)(length < size ? length : size - 1), body);
  }
  free(buffer);
  return status;
}
