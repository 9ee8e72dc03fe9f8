#include "viz/lesson/lesson_workshop.h"

#include <stdlib.h>

#include "sim/base/path.h"
#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "sim/base/text_add.h"
#include "lessons/engine/class_key.h"
#include "viz/lesson/kernel_judge.h"

/* ---- Tasks by name ---------------------------------------------------------------------------------------- */

enum { RECORDED_BYTES_MAX = 4 << 20 };
static const char FOLDER[] = "lessons/tasks", SUFFIX[] = ".task";

Status task_names(LessonFiles **tasks, Error *error) { return lesson_names(FOLDER, SUFFIX, false, tasks, error); }

static bool is_path(const char *name) { return strchr(name, '/') || strchr(name, '.'); }

static Status no_such(const char *name, Error *error) {
  LessonFiles *tasks;
  Nearest nearest = {.word = name};
  if (task_names(&tasks, error)) return error->status;
  for (int k = 0; k < tasks->n; k++) nearest_offer(&nearest, tasks->names[k]);
  error_refuse(error, "there is no task '%s'%s; 'tilewalk list algorithms --tasks' lists them", quote_text(name).text,
               nearest_hint(&nearest).text);
  free(tasks);
  return STATUS_BAD_REQUEST;
}

/* The path of a task's file, with that ending. */
static Status find_file(const char *name, const char *suffix, char path[ASSETS_PATH_BYTES], Error *error) {
  char relative[128];
  const bool ends = path_ends(name, SUFFIX);
  const int stem = (int)(strlen(name) - (ends ? sizeof SUFFIX - 1 : 0));
  snprintf(relative, sizeof relative, "%s/%.60s%s", FOLDER, name, suffix);
  const bool found =
      is_path(name) ? snprintf(path, ASSETS_PATH_BYTES, "%.*s%s", stem, name, ends ? suffix : "") < ASSETS_PATH_BYTES
                    : !assets_find(path, ASSETS_PATH_BYTES, relative, NULL);
  return found ? STATUS_OK : no_such(name, error);
}

ProgramTask *task_open(const char *name, Error *error) {
  char path[ASSETS_PATH_BYTES], *text;
  size_t length;
  if (find_file(name, SUFFIX, path, error) || file_read(path, PROGRAM_TASK_BYTES_MAX + 1, &text, &length, error))
    return NULL;
  ProgramTask *task = program_task_read(text, length, path_base(path), error);
  free(text);
  return task;
}

/* The recorded PTX of a kernel's task; of one that is not recorded yet it is compiled, where there is a compiler. */
static char *recorded_ptx(const char *name, const ProgramTask *task, Error *error) {
  char path[ASSETS_PATH_BYTES], *text = NULL;
  size_t length;
  if (!find_file(name, ".ptx", path, NULL) && file_exists(path)) {
    file_read(path, RECORDED_BYTES_MAX, &text, &length, error);
    return text;
  }
  CudaResult compiled = {0};
  text = malloc(KERNEL_TASK_SOURCE_BYTES);
  if (!text) error_no_memory(error, "for a task");
  if (text && !kernel_task_source(task, text, error)) {
    const CudaSource source = {.path = task->file, .text = text, .length = strlen(text)};
    if (!LESSON_COMPILER)
      error_set(error, STATUS_BAD_FILE, "%s has no recorded PTX", task->file);
    else
      LESSON_COMPILER(&source, &compiled, error);
  }
  free(text);
  return compiled.ptx;
}

Status task_judge(const char *name, const ProgramTask *task, const char *text, size_t length, const char *file,
                  TaskJudgement *j, Error *error) {
  if (!*task->entry) {
    const Status judged = program_judge(task, text, length, file, j, error);
    if (!judged && j->verdict == TASK_WRONG) program_blame(task, text, length, j);
    return judged;
  }
  char *recorded = recorded_ptx(name, task, error);
  if (!recorded) return error->status;
  const Status status = kernel_judge(task, recorded, text, length, file, j, error);
  free(recorded);
  return status;
}

/* Where a file lay when it was compiled changes nothing. */
static bool is_place(const char *line, size_t length) {
  size_t blanks = 0;
  while (blanks < length && (line[blanks] == ' ' || line[blanks] == '\t')) blanks++;
  return blanks + 5 <= length && memcmp(line + blanks, ".file", 5) == 0;
}

Status task_draw(ProgramTask *task, uint64_t seed, const char *text, size_t length, Error *error) {
  for (size_t at = 0; at < length;) {
    const char *line = text + at, *end = memchr(line, '\n', length - at);
    const size_t n = end ? (size_t)(end - line) + 1 : length - at;
    unsigned char key[16] = {0};
    memcpy(key, &seed, sizeof seed);
    if (!is_place(line, n)) seed = siphash(key, line, n);
    at += n;
  }
  return program_task_draw(task, seed, error);
}

enum { TASK_BARS_BYTES = 1024 };

/* What each demand is now, in the start; right, in the reference; and its bar, at the first state. A line each. */
static Status task_bars(const char *name, const ProgramTask *t, char text[TASK_BARS_BYTES], Error *error) {
  DemandFigures now, right;
  Plan plan;
  char line[256], *recorded = *t->entry ? recorded_ptx(name, t, error) : NULL;
  if (*t->entry && !recorded) return error->status;
  Status status =
      recorded ? kernel_figures(t, recorded, true, &now, error) : program_figures(t, true, &now, &plan, error);
  if (!status)
    status =
        recorded ? kernel_figures(t, recorded, false, &right, error) : program_figures(t, false, &right, &plan, error);
  *text = '\0';
  for (int k = 0; k < t->n_demands && !status; k++) {
    const double bar = demand_bar(&t->demands[k], recorded ? NULL : &plan, right.of[k]);
    demand_say(&t->demands[k], now.of[k], right.of[k], bar, line, sizeof line);
    text_add(text, TASK_BARS_BYTES, "%s%s", k ? "\n" : "", line);
  }
  free(recorded);
  return status;
}

/* ---- Files that answer ------------------------------------------------------------------------------------ */

/* Adds a paragraph as comments. */
static void add_comment(const char *mark, const char *text, char *out, size_t size) {
  enum { WIDTH = 52 }; /* of an editor beside a lesson */
  while (*text) {
    size_t take = strlen(text);
    if (take > WIDTH)
      for (take = WIDTH; take > 1 && text[take] != ' ';) take--;
    text_add(out, size, "%s %.*s\n", mark, (int)take, text);
    text += take;
    while (*text == ' ') text++;
  }
}

/* `bars` is parted into its lines. */
static void put_start(const ProgramTask *t, char *bars, char *text, size_t size) {
  const char *mark = *t->entry ? "//" : "#";
  char *rest = bars;
  *text = '\0';
  add_comment(mark, t->title, text, size);
  add_comment(mark, t->ask, text, size);
  for (char *bar; (bar = strtok_r(rest, "\n", &rest));) add_comment(mark, bar, text, size);
  text_add(text, size, "%s", t->start);
}

Status task_start(const char *name, const ProgramTask *t, char *text, size_t size, Error *error) {
  char bars[TASK_BARS_BYTES];
  const Status status = task_bars(name, t, bars, error);
  if (!status) put_start(t, bars, text, size);
  return status;
}

static Status open_work(const char *name, LessonWork *w, Error *error) {
  memset(w, 0, sizeof *w);
  ProgramTask *task = is_path(name) ? NULL : task_open(name, error);
  if (!task) return is_path(name) ? no_such(name, error) : error->status;
  snprintf(w->title, sizeof w->title, "%s", task->title);
  snprintf(w->file, sizeof w->file, "%.48s.%s", name, *task->entry ? "cu" : "walk");
  w->n_hints = task->n_hints;
  for (int k = 0; k < task->n_hints; k++) snprintf(w->hint[k], sizeof w->hint[k], "%s", task->hints[k]);
  char bars[TASK_BARS_BYTES];
  const Status status = task_bars(name, task, bars, error);
  if (!status) snprintf(w->prompt, sizeof w->prompt, "%s\n\n%s", task->ask, bars);
  if (!status) put_start(task, bars, w->start, sizeof w->start);
  snprintf(w->reference, sizeof w->reference, "%s", task->reference);
  free(task);
  return status;
}

/* With the learner's own state behind the task's. */
static Status judge_work(const char *name, uint64_t seed, const char *own, const char *text, const char *file,
                         LessonGrade *grade, Error *error) {
  TaskJudgement j;
  const size_t length = strlen(text);
  ProgramTask *task = task_open(name, error);
  if (!task) return error->status;
  Status status = task_draw(task, seed, text, length, error);
  if (!status && *own && task->n_states < PROGRAM_TASK_STATES_MAX) {
    task->is_hidden[task->n_states] = false;
    snprintf(task->states[task->n_states++], PROGRAM_TASK_LINE_BYTES, "%s", own);
  }
  if (!status) status = task_judge(name, task, text, length, file, &j, error);
  free(task);
  if (status) return status;
  *grade = (LessonGrade){.verdict = LESSON_NOT_RIGHT, .wrong = -1};
  if (j.verdict == TASK_SOLVED) grade->verdict = LESSON_RIGHT;
  if (j.verdict == TASK_UNREADABLE) grade->verdict = LESSON_UNREADABLE;
  if (*j.says) grade->verdict = LESSON_DIAGNOSED;
  const bool is_word = ascii_is_lower(j.why[0]) && ascii_is_lower(j.why[1]);
  if (j.verdict > TASK_UNREADABLE && is_word) j.why[0] = (char)ascii_upper(j.why[0]); /* l and m are names */
  snprintf(grade->message, sizeof grade->message, "%s%s%s", j.says, *j.says && *j.why ? "\n" : "", j.why);
  return STATUS_OK;
}

const LessonWorkshop LESSON_WORKSHOP = {open_work, judge_work};
