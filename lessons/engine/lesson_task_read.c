/* Tasks as they are written. Part of lessons/engine/lesson.h.
 *
 *     Step on until the maximum of the row changes.    Markdown, up to the first key
 *     until: view.event.kind == "new max"              keys, as in a question
 *     solution: step=12
 *     hint: ... */
#include <stdio.h>
#include <string.h>

#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"

static const char *const KEYS[] = {"until", "solution", "explain", "hint"};
enum { N_KEYS = sizeof KEYS / sizeof *KEYS };

static Status read_task_key(LessonReader *r, void *target, Piece key, Piece value, int line) {
  LessonTask *task = target;
  LessonText *const texts[] = {&task->until, &task->solution, &task->explain};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
    if (piece_is(key, KEYS[k])) return lesson_once(r, texts[k], KEYS[k], value, line);
  if (!piece_is(key, "hint")) return lesson_refuse_key(r, key, KEYS, N_KEYS, "a task", line);
  if (task->n_hints == LESSON_HINTS_MAX) return LESSON_REFUSE(r, line, "more than %d hints", LESSON_HINTS_MAX);
  return lesson_add_text(r, value, line, &task->hint[task->n_hints++]);
}

/* Whether a line begins with a key; a near miss is an error, for it would be taken for prose. */
static Status begins_keys(LessonReader *r, Piece line, int at, bool *begins) {
  size_t word = 0;
  char typed[16];
  *begins = false;
  while (word < line.length && ascii_is_lower((unsigned char)line.text[word])) word++;
  if (word == 0 || word >= sizeof typed || word == line.length || line.text[word] != ':') return STATUS_OK;
  snprintf(typed, sizeof typed, "%.*s", (int)word, line.text);
  Nearest nearest = {.word = typed};
  for (int k = 0; k < N_KEYS; k++) {
    if (strcmp(typed, KEYS[k]) == 0) *begins = true;
    nearest_offer(&nearest, KEYS[k]);
  }
  if (*begins || !nearest.best) return STATUS_OK;
  return LESSON_REFUSE(r, at, "'%s:' begins no line of a task; did you mean '%s:'?", typed, nearest.best);
}

/* The Markdown, and the keys with the line before them. */
static Status split(LessonReader *r, Piece body, int line, Piece *prose, Piece *keys, int *keys_line) {
  const char *p = body.text, *const end = body.text + body.length;
  *keys_line = line;
  for (bool begins = false; p < end; ++*keys_line) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    const char *const next = newline ? newline + 1 : end;
    const Status status = begins_keys(r, (Piece){p, (size_t)(next - p)}, *keys_line + 1, &begins);
    if (status) return status;
    if (begins) break;
    p = next;
  }
  *prose = (Piece){body.text, (size_t)(p - body.text)};
  *keys = (Piece){p, (size_t)(end - p)};
  return STATUS_OK;
}

Status lesson_read_task(LessonReader *r, Piece body, int line, LessonBlock *block) {
  Lesson *l = r->lesson;
  Piece prose, keys;
  int keys_line;
  Status status = lesson_one_more(r, (void **)&l->tasks, &l->tasks_capacity, l->n_tasks, sizeof *l->tasks,
                                  LESSON_TASKS_MAX, "tasks", line);
  if (!status) status = split(r, body, line, &prose, &keys, &keys_line);
  if (status) return status;
  LessonTask *task = &l->tasks[l->n_tasks];
  *task = (LessonTask){.line = line};
  const Piece text = piece_trim(prose);
  int text_line = line + 1;
  for (const char *p = prose.text; p < text.text; p++) text_line += *p == '\n';
  if (text.length == 0) return LESSON_REFUSE(r, line, "the task does not say what is to be done");
  status = lesson_check_markdown(text.text, text.length, l->file, text_line, NULL, r->error);
  if (!status) status = lesson_add_text(r, text, text_line, &block->text);
  if (!status) status = lesson_read_keys(r, keys, keys_line, read_task_key, task);
  if (status) return status;
  if (!task->until.offset && keys.length)
    return LESSON_REFUSE(r, line, "the task has keys, but no 'until: ...' that says when it is done");
  if (task->until.offset && !task->solution.offset)
    return LESSON_REFUSE(r, line,
                         "the task has no 'solution: key=value ...', a change of the state that "
                         "makes it done");
  block->task = (int)l->n_tasks++;
  return STATUS_OK;
}
