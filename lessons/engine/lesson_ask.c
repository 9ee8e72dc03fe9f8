/* Questions, tasks, and drawn numbers. Part of lessons/engine/lesson.h. */
#define _GNU_SOURCE /* memmem */
#include <math.h>

#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"
#include "sim/base/nearest.h"

/* ---- draw: N from 1024, 2048; N from 1024 to 8192 by 128 */

static bool read_number(Piece word, double *number) {
  Answer typed;
  if (answer_parse(word.text, word.length, &typed, NULL) || *typed.unit.name) return false;
  *number = typed.number;
  return true;
}

/* What follows "from ", when it is A to B, or A to B by C. */
static Status read_range(LessonReader *r, Piece rest, int line, LessonDraw *draw) {
  double last, step = 1;
  const Piece first = piece_word(&rest);
  const bool has_to = piece_is(piece_word(&rest), "to");
  const Piece end = piece_word(&rest);
  bool is_read = has_to && read_number(first, &draw->first) && read_number(end, &last);
  if (is_read && rest.length) is_read = piece_is(piece_word(&rest), "by") && read_number(piece_word(&rest), &step);
  if (!is_read || rest.length)
    return LESSON_REFUSE(r, line,
                         "a draw needs two values or more, or a range; write 'draw: N from 1024 to 8192 by 128'");
  const double steps = fabs(last - draw->first) / step;
  if (!(step > 0) || !(steps >= 1 && steps < LESSON_RANGE_MAX))
    return LESSON_REFUSE(r, line, "the range of '%s' has no values, or more than %d", draw->name, LESSON_RANGE_MAX);
  draw->is_range = true;
  draw->step = last > draw->first ? step : -step;
  draw->n = 1 + (int)(steps + 1e-9);
  return STATUS_OK;
}

Status lesson_read_draw(LessonReader *r, Piece piece, int line, LessonDraw *draws, int *n_draws) {
  Piece rest = piece, value;
  const Piece name = piece_word(&rest);
  if (!piece_starts(rest, "from "))
    return LESSON_REFUSE(r, line, "'%s' is no draw; write 'draw: N from 1024, 2048, 4096'", piece_quote(piece).text);
  if (*n_draws == LESSON_DRAWS_MAX) return LESSON_REFUSE(r, line, "more than %d draws", LESSON_DRAWS_MAX);
  LessonDraw *draw = &draws[*n_draws];
  *draw = (LessonDraw){0};
  lesson_read_name(r, name, "name of a drawn number", line, draw->name);
  if (strchr(draw->name, '-'))
    return LESSON_REFUSE(r, line, "a drawn name stands in expressions, so it may not hold '-'");
  rest = piece_after(rest, 5);
  if (!memchr(rest.text, ',', rest.length)) {
    read_range(r, rest, line, draw);
    rest.length = 0;
  }
  while (rest.length) {
    piece_split(rest, ',', &value, &rest);
    if (draw->n == LESSON_VALUES_MAX)
      return LESSON_REFUSE(r, line, "more than %d values to draw from", LESSON_VALUES_MAX);
    if (value.length == 0 || value.length >= LESSON_NAME_BYTES)
      return LESSON_REFUSE(r, line, "a value to draw is empty or too long; separate them by single commas");
    draw->value[draw->n++] = lesson_add_text(r, value, line);
  }
  if (draw->n < 2) return LESSON_REFUSE(r, line, "a draw needs two values or more");
  ++*n_draws;
  const int n_seen = draw->is_range && draw->n > LESSON_VARIANTS ? LESSON_VARIANTS : draw->n;
  r->lesson->has_range |= draw->is_range;
  if (n_seen > r->lesson->n_variants) r->lesson->n_variants = n_seen;
  return STATUS_OK;
}

/* ---- Keys */

const char *lesson_nearest(const LessonKey *keys, Piece word) {
  const Quote typed = piece_quote(word);
  Nearest nearest = {.word = typed.text};
  for (; keys->name; keys++) nearest_offer(&nearest, keys->name);
  return nearest.best;
}

void lesson_take_key(LessonReader *r, const LessonKey *keys, const char *what, void *target, Piece key, Piece value,
                     int line) {
  const Quote typed = piece_quote(key);
  const LessonKey *row = keys;
  while (row->name && !piece_is(key, row->name)) row++;
  LessonText *text = (LessonText *)((char *)target + row->text);
  int *count = (int *)((char *)target + row->count);
  if (!row->name)
    LESSON_REFUSE(r, line, "there is no key '%s'%s in %s", typed.text,
                  nearest_hint(&(Nearest){.best = lesson_nearest(keys, key)}).text, what);
  else if (value.length == 0)
    LESSON_REFUSE(r, line, "'%s' has no value", typed.text);
  else if (row->read)
    row->read(r, target, value, line);
  else if (row->most && *count == row->most)
    LESSON_REFUSE(r, line, "more than %d lines '%s'", row->most, row->name);
  else if (row->most)
    text[(*count)++] = lesson_add_text(r, value, line);
  else if (text->text)
    LESSON_REFUSE(r, line, "'%s' is given twice, first on line %d", row->name, text->line);
  else
    *text = lesson_add_text(r, value, line);
}

void lesson_read_keys(LessonReader *r, const LessonKey *keys, const char *what, void *target, Piece body, int line) {
  int at = line;
  for (const char *p = body.text, *const end = body.text + body.length; p < end && !r->error->status;) {
    const char *stop = p;
    int lines = 0; /* of this key: its own, and the indented and blank ones below */
    do {
      const char *newline = memchr(stop, '\n', (size_t)(end - stop));
      stop = newline ? newline + 1 : end;
      lines++;
    } while (stop < end && (*stop == ' ' || *stop == '\t' || *stop == '\n' || *stop == '\r'));
    at++;
    Piece item = piece_trim((Piece){p, (size_t)(stop - p)}), key, value;
    if (piece_starts(item, "- ")) item = piece_after(item, 2);
    if (item.length && (!piece_split(item, ':', &key, &value) || *p == ' ' || *p == '\t'))
      LESSON_REFUSE(r, at, "'%s' is not of the form key: value; indent a line that goes on with the one above",
                    piece_quote(item).text);
    else if (item.length)
      lesson_take_key(r, keys, what, target, key, value, at);
    at += lines - 1;
    p = stop;
  }
}

bool lesson_one_more(LessonReader *r, size_t n, size_t most, const char *what, int line) {
  if (n == most) LESSON_REFUSE(r, line, "the lesson has more than %zu %s; split it into two lessons", most, what);
  return !r->error->status;
}

static Status read_kind(LessonReader *r, void *target, Piece value, int line) {
  LessonAsk *ask = target;
  if (piece_is(value, "predict"))
    ask->is_prediction = true;
  else if (piece_is(value, "choice"))
    ask->kind = LESSON_CHOICE;
  else if (piece_is(value, "order"))
    ask->kind = LESSON_ORDER;
  else if (piece_is(value, "program") || piece_is(value, "kernel"))
    ask->kind = LESSON_WORK;
  else if (!piece_is(value, "number"))
    return LESSON_REFUSE(r, line,
                         "'%s' is no kind of question; there are number, choice, order, predict, program and kernel",
                         piece_quote(value).text);
  return STATUS_OK;
}

/* "key | text", or a text that is its own key. */
static Status read_choice(LessonReader *r, LessonAsk *ask, Piece value, int line, LessonKind kind) {
  Piece key, text;
  const bool is_first = ask->n_choices == 0;
  if (!is_first && ask->kind != kind) return LESSON_REFUSE(r, line, "a question has options or items, not both");
  if (ask->n_choices == ANSWER_CHOICES_MAX) return LESSON_REFUSE(r, line, "more than %d choices", ANSWER_CHOICES_MAX);
  ask->kind = kind;
  const bool bar = piece_split(value, '|', &key, &text);
  if (!bar) text = key;
  if (key.length == 0 || text.length == 0) return LESSON_REFUSE(r, line, "a choice is empty; write 'key | text'");
  if (bar && memchr(key.text, ' ', key.length))
    return LESSON_REFUSE(r, line, "the key '%s' must be one word", piece_quote(key).text);
  for (int k = 0; k < ask->n_choices; k++)
    if (piece_is(key, ask->choice[k].key.text))
      return LESSON_REFUSE(r, line, "there are two choices '%s'", piece_quote(key).text);
  ask->choice[ask->n_choices++] = (LessonPair){lesson_add_text(r, key, line), lesson_add_text(r, text, line)};
  return STATUS_OK;
}

static Status read_option(LessonReader *r, void *target, Piece value, int line) {
  return read_choice(r, target, value, line, LESSON_CHOICE);
}

static Status read_item(LessonReader *r, void *target, Piece value, int line) {
  return read_choice(r, target, value, line, LESSON_ORDER);
}

static Status read_wrong(LessonReader *r, void *target, Piece value, int line) {
  LessonAsk *ask = target;
  if (ask->n_wrong == LESSON_WRONG_MAX) return LESSON_REFUSE(r, line, "more than %d wrong answers", LESSON_WRONG_MAX);
  const char *arrow = memmem(value.text, value.length, "->", 2);
  if (!arrow)
    return LESSON_REFUSE(r, line, "a wrong answer is written 'wrong: value -> diagnosis', and there is no '->'");
  const size_t n = (size_t)(arrow - value.text);
  const Piece key = piece_trim((Piece){value.text, n}), diagnosis = piece_after(value, n + 2);
  if (key.length == 0 || diagnosis.length == 0)
    return LESSON_REFUSE(r, line,
                         "a wrong answer is written 'wrong: value -> diagnosis', and one of the two is missing");
  ask->wrong[ask->n_wrong++] = (LessonPair){lesson_add_text(r, key, line),
                                            lesson_add_text(r, diagnosis, piece_line(value, diagnosis.text, line))};
  return STATUS_OK;
}

static Status read_draw(LessonReader *r, void *target, Piece value, int line) {
  LessonAsk *ask = target;
  return lesson_read_draw(r, value, line, ask->draw, &ask->n_draws);
}

static const LessonKey KEYS[] = {{"prompt", LESSON_ONE(LessonAsk, prompt)},
                                 {"answer", LESSON_ONE(LessonAsk, answer)},
                                 {"state", LESSON_ONE(LessonAsk, state)},
                                 {"explain", LESSON_ONE(LessonAsk, explain)},
                                 {"fixed", LESSON_ONE(LessonAsk, fixed)},
                                 {"hint", LESSON_SEVERAL(LessonAsk, hint, n_hints)},
                                 {"allow", LESSON_SEVERAL(LessonAsk, allow, n_allow)},
                                 {"kind", .read = read_kind},
                                 {"unit", LESSON_ONE(LessonAsk, unit_text)},
                                 {"tolerance", LESSON_ONE(LessonAsk, tolerance_text)},
                                 {"option", .read = read_option},
                                 {"item", .read = read_item},
                                 {"wrong", .read = read_wrong},
                                 {"draw", .read = read_draw},
                                 {0}};

static Status complete_ask(LessonReader *r, LessonAsk *ask) {
  const bool is_work = ask->kind == LESSON_WORK, has_unit = ask->unit_text.text || ask->tolerance_text.text;
  Error why = {0};
  ask->unit.factor = 1;
  if (ask->unit_text.text && answer_unit(ask->unit_text.text, &ask->unit, &why))
    return LESSON_REFUSE(r, ask->unit_text.line, "unit: %s", why.message);
  if (ask->tolerance_text.text && answer_tolerance(ask->tolerance_text.text, &ask->tolerance, &why))
    return LESSON_REFUSE(r, ask->tolerance_text.line, "%s", why.message);
  if (is_work && (ask->n_choices || ask->n_wrong || ask->n_hints || has_unit))
    return LESSON_REFUSE(r, ask->line, "of '%s' options, wrong answers and hints are in its task", ask->id);
  if (!is_work && ask->state.text)
    return LESSON_REFUSE(r, ask->state.line, "only programs and kernels have a state, and '%s' is none", ask->id);
  if (!is_work && !ask->prompt.text) return LESSON_REFUSE(r, ask->line, "the question '%s' has no prompt", ask->id);
  if (!ask->answer.text) return LESSON_REFUSE(r, ask->line, "the question '%s' has no answer", ask->id);
  if ((ask->kind == LESSON_CHOICE || ask->kind == LESSON_ORDER) && ask->n_choices < 2)
    return LESSON_REFUSE(r, ask->line, "the question '%s' needs two %s or more", ask->id,
                         ask->kind == LESSON_ORDER ? "items" : "options");
  if (ask->kind == LESSON_ORDER && ask->is_prediction)
    return LESSON_REFUSE(r, ask->line, "an order cannot be predicted; give '%s' options, or none for a number",
                         ask->id);
  if (ask->kind != LESSON_NUMBER && has_unit)
    return LESSON_REFUSE(r, ask->line, "only numbers have a unit and a tolerance, and '%s' is none", ask->id);
  for (int k = 0; k < ask->n_choices; k++) {
    const char *key = ask->choice[k].key.text;
    if (!key[1] && ascii_lower(key[0]) - 'a' < ask->n_choices && ascii_is_alpha(key[0]))
      return LESSON_REFUSE(r, ask->choice[k].key.line,
                           "the key '%s' would be taken for the letter of a choice; use a longer word", key);
  }
  return STATUS_OK;
}

void lesson_read_ask(LessonReader *r, Piece id, Piece body, int line, LessonBlock *block) {
  Lesson *l = r->lesson;
  if (!lesson_one_more(r, l->n_asks, LESSON_ASKS_MAX, "questions", line)) return;
  LessonAsk *ask = &l->asks[l->n_asks];
  *ask = (LessonAsk){.line = line};
  lesson_read_name(r, id, "id of a question (write ```ask my-id)", line, ask->id);
  if (lesson_find_ask(l, ask->id) >= 0)
    LESSON_REFUSE(r, line, "there are two questions '%s'; each needs an id of its own", ask->id);
  lesson_read_keys(r, KEYS, "a question" LESSON_GOES_ON, ask, body, line);
  if (!r->error->status) complete_ask(r, ask);
  block->ask = (int)l->n_asks++;
}

/* ---- Tasks
 *
 *     Step on until the maximum of the row changes.    Markdown, up to the first key
 *     until: view.event.kind == "new max"              keys, as in a question
 *     solution: step=12
 *     hint: ... */

static const LessonKey TASK_KEYS[] = {{"until", LESSON_ONE(LessonTask, until)},
                                      {"solution", LESSON_ONE(LessonTask, solution)},
                                      {"explain", LESSON_ONE(LessonTask, explain)},
                                      {"hint", LESSON_SEVERAL(LessonTask, hint, n_hints)},
                                      {0}};

/* Whether a line begins with a key; a near miss is an error, for it would be taken for prose. */
static bool begins_keys(LessonReader *r, Piece line, int at) {
  size_t n = 0;
  while (n < line.length && ascii_is_lower(line.text[n])) n++;
  const Piece word = {line.text, n};
  const char *nearest = n && n < line.length && line.text[n] == ':' ? lesson_nearest(TASK_KEYS, word) : NULL;
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
  lesson_read_keys(r, TASK_KEYS, "a task" LESSON_GOES_ON, task, keys, keys_line);
  if (!task->until.text && keys.length)
    LESSON_REFUSE(r, line, "the task has keys, but no 'until: ...' that says when it is done");
  if (task->until.text && !task->solution.text)
    LESSON_REFUSE(r, line,
                  "the task has no 'solution: key=value ...', a change of the state that "
                  "makes it done");
  block->task = (int)l->n_tasks++;
}
