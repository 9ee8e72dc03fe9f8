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
static bool begins_keys(LessonReader *r, Piece line, int at) {
  size_t n = 0;
  while (n < line.length && ascii_is_lower(line.text[n])) n++;
  const Piece word = {line.text, n};
  const char *nearest = n && n < line.length && line.text[n] == ':' ? lesson_nearest(KEYS, word) : NULL;
  if (nearest && !piece_is(word, nearest))
    LESSON_REFUSE(r, at, "'%.*s:' begins no line of a task; did you mean '%s:'?", (int)n, word.text, nearest);
  return nearest;
}

void lesson_read_task(LessonReader *r, Piece body, int line, LessonBlock *block) {
  Lesson *l = r->lesson;
  Piece keys = body;
  int keys_line = line; /* of the line before them */
  if (!lesson_one_more(r, l->n_tasks, LESSON_TASKS_MAX, "tasks", line)) return;
  for (Piece rest = body; rest.length && !begins_keys(r, piece_next_line(&rest), keys_line + 1); keys_line++)
    keys = rest;
  const Piece prose = {body.text, (size_t)(keys.text - body.text)}, text = piece_trim(prose);
  LessonTask *task = &l->tasks[l->n_tasks];
  *task = (LessonTask){.line = line};
  if (text.length == 0)
    LESSON_REFUSE(r, line, "the task does not say what is to be done");
  else
    block->text = lesson_add_markdown(r, text, piece_line(prose, text.text, line + 1));
  lesson_read_keys(r, KEYS, "a task" LESSON_GOES_ON, task, keys, keys_line);
  if (!task->until.text && keys.length)
    LESSON_REFUSE(r, line, "the task has keys, but no 'until: ...' that says when it is done");
  if (task->until.text && !task->solution.text)
    LESSON_REFUSE(r, line,
                  "the task has no 'solution: key=value ...', a change of the state that "
                  "makes it done");
  block->task = (int)l->n_tasks++;
}
