/* Finding lessons, and what they refer to. Part of viz/cli/lesson_library.h. */
#define _POSIX_C_SOURCE 200809L /* scandir */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "viz/request/description.h"
#include "viz/cli/lesson_library.h"
#include "viz/cli/lesson_view.h"
#include "viz/request/request.h"

/* ---- Files */

static int is_lesson(const struct dirent *entry) {
  const char *name = entry->d_name;
  const size_t length = strlen(name);
  return length > 6 && length < LESSON_NAME_BYTES * 2 && ascii_is_digit((unsigned char)name[0]) &&
         ascii_is_digit((unsigned char)name[1]) && name[2] == '-' && strcmp(name + length - 3, ".md") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

Status lesson_files(LessonFiles *files, Error *error) {
  char path[ASSETS_PATH_BYTES];
  const Status status = assets_find(path, sizeof path, "lessons/course/template.md", error);
  if (status) return status;
  *strrchr(path, '/') = '\0';
  struct dirent **entries = NULL;
  const int n = scandir(path, &entries, is_lesson, by_name);
  if (n < 0) return error_set(error, STATUS_BAD_REQUEST, "the folder '%s' cannot be read", path);
  files->n = 0;
  for (int k = 0; k < n; k++) {
    if (files->n < LESSON_FILES_MAX)
      snprintf(files->names[files->n++], sizeof files->names[0], "%.*s", (int)(strlen(entries[k]->d_name) - 3),
               entries[k]->d_name);
    free(entries[k]);
  }
  free(entries);
  return STATUS_OK;
}

/* The full name of a lesson that comes with Tilewalk. */
static Status find_name(const char *name, const char **found, const LessonFiles *files, Error *error) {
  Nearest nearest = {.word = name};
  char number[16];
  snprintf(number, sizeof number, "%02d-",
           ascii_is_digit((unsigned char)name[0]) && strlen(name) <= 2 ? atoi(name) : -1);
  for (int k = 0; k < files->n; k++) {
    const char *const full = files->names[k];
    *found = full;
    if (strcmp(name, full) == 0 || strcmp(name, full + 3) == 0 || strncmp(full, number, strlen(number)) == 0)
      return STATUS_OK;
    nearest_offer(&nearest, full);
    nearest_offer(&nearest, full + 3);
  }
  return error_set(error, STATUS_BAD_REQUEST,
                   "there is no lesson '%s'%s%s%s; 'tilewalk lesson' lists them, and a file of "
                   "your own ends in .md",
                   quote(name, strlen(name)).text, nearest.best ? " (did you mean '" : "",
                   nearest.best ? nearest.best : "", nearest.best ? "'?)" : "");
}

/* The path of a lesson that comes with Tilewalk. */
static Status find_named(const char *name, char path[ASSETS_PATH_BYTES], Error *error) {
  LessonFiles *files = malloc(sizeof *files);
  if (!files) return error_set(error, STATUS_NO_MEMORY, "no memory for the list of lessons");
  const char *found = NULL;
  char relative[LESSON_NAME_BYTES * 2 + 24];
  Status status = lesson_files(files, error);
  if (!status) status = find_name(name, &found, files, error);
  if (!status) {
    snprintf(relative, sizeof relative, "lessons/course/%s.md", found);
    status = assets_find(path, ASSETS_PATH_BYTES, relative, error);
  }
  free(files);
  return status;
}

static Status find_path(const char *name, char path[ASSETS_PATH_BYTES], Error *error) {
  const size_t length = strlen(name);
  if (length <= 3 || strcmp(name + length - 3, ".md") != 0) return find_named(name, path, error);
  if (length >= ASSETS_PATH_BYTES) return error_set(error, STATUS_BAD_REQUEST, "the path of the lesson is too long");
  memcpy(path, name, length + 1);
  return STATUS_OK;
}

static Status read_lesson(const char *path, Lesson *lesson, Error *error) {
  char *buffer = NULL;
  size_t length = 0;
  Error inner = {0};
  Status status = file_read(path, LESSON_FILE_BYTES, &buffer, &length, &inner);
  if (status == STATUS_TOO_LARGE) {
    const char *slash = strrchr(path, '/');
    return error_set(error, STATUS_BAD_FILE, "%s:1: the file is longer than %d KiB, which no lesson needs",
                     quote(slash ? slash + 1 : path, strlen(slash ? slash + 1 : path)).text, LESSON_FILE_BYTES / 1024);
  }
  if (status) return error_set(error, status, "%s", inner.message);
  status = lesson_from_buffer(lesson, buffer, length, path, error);
  free(buffer);
  return status;
}

Status lesson_load(const char *name, Lesson *lesson, char path[ASSETS_PATH_BYTES], Error *error) {
  *lesson = (Lesson){0};
  const Status status = find_path(name, path, error);
  return status ? status : read_lesson(path, lesson, error);
}

Status lesson_load_named(const char *name, Lesson *lesson, Error *error) {
  char path[ASSETS_PATH_BYTES];
  *lesson = (Lesson){0};
  const Status status = find_named(name, path, error);
  return status ? status : read_lesson(path, lesson, error);
}

static Status load_gpu(void *context, const char *name, Gpu *gpu, Error *error) {
  (void)context;
  if (strchr(name, '/'))
    return error_set(error, STATUS_BAD_REQUEST, "'%s' is no name of a GPU; 'tilewalk gpus' lists them",
                     quote(name, strlen(name)).text);
  return description_gpu(name, gpu, error);
}

const ExpressionLimits LESSON_LIMITS = {.load_gpu = load_gpu};

/* ---- Needs */

static bool is_command(const char *name) {
  for (const Command *const *c = COMMANDS; *c; c++)
    if ((*c)->name[0] != '_' && strcmp((*c)->name, name) == 0) return true;
  return false;
}

static bool is_function(const char *name) {
  char source[LESSON_NAME_BYTES + 16];
  ExpressionValue value;
  if (strchr(name, '-')) return false;
  snprintf(source, sizeof source, "%s ~= nil", name);
  return expression_eval(source, &LESSON_LIMITS, &value, NULL) == STATUS_OK && value.kind == EXPRESSION_FLAG &&
         value.flag;
}

static const char *need_command(const char *need) { return strcmp(need, "viewer") == 0 ? "view" : need; }

Status lesson_needs(const Lesson *lesson, Error *error) {
  char missing[256] = "";
  for (int k = 0; k < lesson->n_needs; k++) {
    const char *need = need_command(lesson_text(lesson, lesson->needs[k]));
    if (is_command(need) || is_function(need)) continue;
    snprintf(missing + strlen(missing), sizeof missing - strlen(missing), "%s'tilewalk %s'", *missing ? " and " : "",
             need);
  }
  if (!*missing) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "the lesson '%s' needs %s, which this version does not have yet",
                   lesson->name, missing);
}

/* ---- Hooks of --lint */

static bool is_known_need(void *context, const char *name) {
  static const char *const PLANNED[] = {"view", "viewer", "render", "roofline", "crosscheck"};
  (void)context;
  for (size_t k = 0; k < sizeof PLANNED / sizeof *PLANNED; k++)
    if (strcmp(name, PLANNED[k]) == 0) return true;
  return is_command(name) || is_function(name);
}

typedef struct {
  Request request;
} StateOptions;

static Status check_state(void *context, const char *state, const LessonShow *show, Error *error) {
  static const OptionSet SETS[] = {REQUEST_OPTION_SETS(StateOptions, request), {0}};
  (void)context;
  StateOptions o = {0};
  OptionParser parser = {.sets = SETS, .target = &o};
  Problem problem;
  Simulation run;
  Status status = options_parse_state(&parser, state, error);
  if (!status && strchr(o.request.gpu, '/'))
    status = error_set(error, STATUS_BAD_REQUEST, "gpu is a file; a lesson names a GPU that comes with Tilewalk");
  if (!status) status = request_algorithms(&o.request, "fa2", error);
  if (!status) status = request_problem(&o.request, &problem, NULL, error);
  for (int k = 0; k < o.request.n_algorithms && !status; k++) {
    status = simulate(&run, &problem, o.request.algorithms[k], error);
    if (status || !show || !show->has_steps) continue;
    const Wide n = schedule_n_steps(run.schedule, &run.plan);
    if ((Wide)(uint64_t)show->first >= n)
      status = error_set(error, STATUS_BAD_REQUEST, "steps begin at %lld, and the run has %lld events",
                         (long long)show->first, (long long)n);
  }
  return status;
}

/* Writes the anchor that web pages give a heading: lower case, '-' for blanks, no punctuation. */
static void slug(const char *heading, size_t length, char *out, size_t size) {
  size_t used = 0;
  for (size_t k = 0; k < length && used + 1 < size; k++) {
    const unsigned char c = (unsigned char)heading[k];
    if (c == ' ')
      out[used++] = '-';
    else if (ascii_is_alnum(c) || c == '-' || c == '_' || c >= 0x80)
      out[used++] = (char)ascii_lower(c);
  }
  out[used] = '\0';
}

/* The heading with that anchor, at its marks; NULL. */
static const char *find_anchor(const char *text, const char *anchor) {
  char own[256];
  for (const char *p = text; *p;) {
    const size_t line = strcspn(p, "\n"), marks = strspn(p, "#");
    size_t end = line;
    while (end > marks && ascii_is_space((unsigned char)p[end - 1])) end--;
    if (marks >= 1 && marks <= 6 && p[marks] == ' ' && end > marks + 1) {
      slug(p + marks + 1, end - marks - 1, own, sizeof own);
      if (strcmp(own, anchor) == 0) return p;
    }
    p += line + (p[line] != '\0');
  }
  return NULL;
}

Status lesson_glossary(const char *anchor, char *heading, size_t heading_size, char *text, size_t size, Error *error) {
  char path[ASSETS_PATH_BYTES], *buffer = NULL;
  size_t bytes = 0;
  Status status = assets_find(path, sizeof path, "lessons/course/glossary.md", error);
  if (!status) status = file_read(path, (size_t)1 << 20, &buffer, &bytes, error);
  const char *at = status ? NULL : find_anchor(buffer, anchor);
  if (!status && !at)
    status = error_set(error, STATUS_BAD_REQUEST, "the glossary has no entry '%s'", quote(anchor, strlen(anchor)).text);
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

static Status check_link(void *context, const char *target, size_t length, Error *error) {
  const LessonLintContext *c = context;
  char link[1024], path[2 * ASSETS_PATH_BYTES];
  if (length >= sizeof link)
    return error_set(error, STATUS_BAD_REQUEST, "a link is longer than %zu bytes", sizeof link - 1);
  snprintf(link, sizeof link, "%.*s", (int)length, target);
  if (strncmp(link, "https://", 8) == 0 || strncmp(link, "http://", 7) == 0) return STATUS_OK;
  char *anchor = strchr(link, '#');
  if (anchor) *anchor++ = '\0';
  if (strchr(link, ':') || link[0] == '/')
    return error_set(error, STATUS_BAD_REQUEST, "the link '%s' is neither a web address nor a file beside the lesson",
                     quote(link, strlen(link)).text);
  const char *slash = strrchr(c->path, '/');
  if (!*link)
    snprintf(path, sizeof path, "%s", c->path);
  else
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - c->path) + 1 : 0, c->path, link);
  char *buffer = NULL;
  size_t bytes = 0;
  Error inner = {0};
  const Status status = file_read(path, (size_t)8 << 20, &buffer, &bytes, &inner);
  if (status == STATUS_NO_MEMORY) return error_set(error, status, "%s", inner.message);
  if (status)
    return error_set(error, STATUS_BAD_REQUEST, "the link '%s' leads nowhere: there is no such file",
                     quote(link, strlen(link)).text);
  const bool found = !anchor || find_anchor(buffer, anchor);
  free(buffer);
  if (found) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "the link '%s#%s' leads nowhere: no heading has that name",
                   quote(link, strlen(link)).text, quote(anchor, strlen(anchor)).text);
}

static void print_finding(void *context, const char *message) {
  LessonLintContext *c = context;
  c->n_printed++;
  fprintf(c->io->out, "%s\n", message);
}

LessonHooks lesson_hooks(LessonLintContext *context) {
  return (LessonHooks){.context = context,
                       .check_state = check_state,
                       .check_link = check_link,
                       .is_known_need = is_known_need,
                       .look_at = lesson_look,
                       .finding = print_finding};
}
