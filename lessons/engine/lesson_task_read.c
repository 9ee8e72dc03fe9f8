/* Tasks as they are written. Part of lessons/engine/lesson.h.
 *
 *     Step on until the maximum of the row changes.    Markdown, up to the first key
 *     until: view.event.kind == "new max"              keys, as in a question
 *     solution: step=12
 *     hint: ... */

#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"

static const LessonKey KEYS[] = {{"until", LESSON_ONE(LessonTask, until)},
                                 {"solution", LESSON_ONE(LessonTask, solution)},
                                 {"explain", LESSON_ONE(LessonTask, explain)},
                                 {"hint", LESSON_SEVERAL(LessonTask, hint, n_hints)},
                                 {0}};

/* Whether a line begins with a key; a near miss is an error, for it would be taken for prose. */
static Status begins_keys(LessonReader *r, Piece line, int at, bool *begins) {
  size_t n = 0;
  *begins = false;
  while (n < line.length && ascii_is_lower(line.text[n])) n++;
  if (n == 0 || n == line.length || line.text[n] != ':') return STATUS_OK;
  const Piece word = {line.text, n};
  const char *nearest = lesson_nearest(KEYS, word);
  *begins = nearest && piece_is(word, nearest);
  if (*begins || !nearest) return STATUS_OK;
  return LESSON_REFUSE(r, at, "'%.*s:' begins no line of a task; did you mean '%s:'?", (int)n, word.text, nearest);
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
  if (text.length == 0) return LESSON_REFUSE(r, line, "the task does not say what is to be done");
  status = lesson_add_markdown(r, text, piece_line(prose, text.text, line + 1), &block->text);
  if (!status) status = lesson_read_keys(r, KEYS, "a task" LESSON_GOES_ON, task, keys, keys_line);
  if (status) return status;
  if (!task->until.text && keys.length)
    return LESSON_REFUSE(r, line, "the task has keys, but no 'until: ...' that says when it is done");
  if (task->until.text && !task->solution.text)
    return LESSON_REFUSE(r, line,
                         "the task has no 'solution: key=value ...', a change of the state that "
                         "makes it done");
  block->task = (int)l->n_tasks++;
  return STATUS_OK;
}
