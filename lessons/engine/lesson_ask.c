/* Questions, and drawn numbers. Part of lessons/engine/lesson.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"

/* ---- draw: N from 1024, 2048; N from 1024 to 8192 by 128 */

/* The word at the beginning of *rest, which moves on behind it. */
static Piece first_word(Piece *rest) {
  size_t n = 0;
  while (n < rest->length && !ascii_is_space((unsigned char)rest->text[n])) n++;
  const Piece word = {rest->text, n};
  *rest = piece_after(*rest, n);
  return word;
}

static bool read_number(Piece word, double *number) {
  char text[32];
  Answer typed;
  snprintf(text, sizeof text, "%.*s", (int)(word.length < sizeof text ? word.length : sizeof text - 1), word.text);
  if (word.length >= sizeof text || answer_parse(text, strlen(text), &typed, NULL) || *typed.unit.name) return false;
  *number = typed.number;
  return true;
}

/* What follows "from ", when it is A to B, or A to B by C. */
static Status read_range(LessonReader *r, Piece rest, int line, LessonDraw *draw) {
  double last, step = 1;
  const Piece first = first_word(&rest);
  const bool has_to = piece_is(first_word(&rest), "to");
  const Piece end = first_word(&rest);
  bool is_read = has_to && read_number(first, &draw->first) && read_number(end, &last);
  if (is_read && rest.length) is_read = piece_is(first_word(&rest), "by") && read_number(first_word(&rest), &step);
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
  size_t word = 0;
  while (word < piece.length && !ascii_is_space((unsigned char)piece.text[word])) word++;
  Piece rest = piece_after(piece, word);
  if (!piece_starts(rest, "from "))
    return LESSON_REFUSE(r, line, "'%s' is no draw; write 'draw: N from 1024, 2048, 4096'",
                         quote(piece.text, piece.length).text);
  if (*n_draws == LESSON_DRAWS_MAX) return LESSON_REFUSE(r, line, "more than %d draws", LESSON_DRAWS_MAX);
  LessonDraw *draw = &draws[*n_draws];
  *draw = (LessonDraw){0};
  if (lesson_read_name(r, (Piece){piece.text, word}, "name of a drawn number", line, draw->name))
    return STATUS_BAD_FILE;
  if (strchr(draw->name, '-'))
    return LESSON_REFUSE(r, line, "a drawn name stands in expressions, so it may not hold '-'");
  rest = piece_after(rest, 5);
  if (!memchr(rest.text, ',', rest.length)) {
    const Status status = read_range(r, rest, line, draw);
    if (status) return status;
    rest.length = 0;
  }
  while (rest.length) {
    const char *comma = memchr(rest.text, ',', rest.length);
    const size_t length = comma ? (size_t)(comma - rest.text) : rest.length;
    const Piece value = piece_trim((Piece){rest.text, length});
    if (draw->n == LESSON_VALUES_MAX)
      return LESSON_REFUSE(r, line, "more than %d values to draw from", LESSON_VALUES_MAX);
    if (value.length == 0 || value.length >= LESSON_NAME_BYTES)
      return LESSON_REFUSE(r, line, "a value to draw is empty or too long; separate them by single commas");
    const Status status = lesson_add_text(r, value, line, &draw->value[draw->n++]);
    if (status) return status;
    rest = piece_after(rest, length + (comma != NULL));
  }
  if (draw->n < 2) return LESSON_REFUSE(r, line, "a draw needs two values or more");
  ++*n_draws;
  return STATUS_OK;
}

/* ---- Keys */

Status lesson_refuse_key(LessonReader *r, Piece key, const char *const *keys, size_t n_keys, const char *what,
                         int line) {
  char typed[32];
  snprintf(typed, sizeof typed, "%.*s", (int)(key.length < 31 ? key.length : 31), key.text);
  Nearest nearest = {.word = typed};
  for (size_t k = 0; k < n_keys; k++) nearest_offer(&nearest, keys[k]);
  return LESSON_REFUSE(r, line, "there is no key '%s' in %s%s%s%s; indent a line that goes on with the one above",
                       quote(key.text, key.length).text, what, nearest.best ? " (did you mean '" : "",
                       nearest.best ? nearest.best : "", nearest.best ? "'?)" : "");
}

Status lesson_read_keys(LessonReader *r, Piece body, int line, LessonReadKey *read, void *target) {
  int at = line;
  for (const char *p = body.text, *const end = body.text + body.length; p < end;) {
    const char *stop = p;
    int lines = 0; /* of this key: its own, and the indented and blank ones below */
    do {
      const char *newline = memchr(stop, '\n', (size_t)(end - stop));
      stop = newline ? newline + 1 : end;
      lines++;
    } while (stop < end && (*stop == ' ' || *stop == '\t' || *stop == '\n' || *stop == '\r'));
    at++;
    const Piece item = piece_trim((Piece){p, (size_t)(stop - p)});
    if (item.length) {
      const char *colon = memchr(item.text, ':', item.length);
      const size_t key = colon ? (size_t)(colon - item.text) : item.length;
      if (!colon || *p == ' ' || *p == '\t')
        return LESSON_REFUSE(r, at, "'%s' is not of the form key: value; indent a line that goes on with the one above",
                             quote(item.text, item.length).text);
      const Piece value = piece_after(item, key + 1);
      if (value.length == 0) return LESSON_REFUSE(r, at, "'%s' has no value", quote(item.text, key).text);
      const Status status = read(r, target, (Piece){item.text, key}, value, at);
      if (status) return status;
    }
    at += lines - 1;
    p = stop;
  }
  return STATUS_OK;
}

Status lesson_one_more(LessonReader *r, void **items, size_t *capacity, size_t n, size_t item_bytes, size_t most,
                       const char *what, int line) {
  if (n == most)
    return LESSON_REFUSE(r, line, "the lesson has more than %zu %s; split it into two lessons", most, what);
  if (pool_grow_array(items, capacity, n + 1, item_bytes)) return STATUS_OK;
  return error_set(r->error, STATUS_NO_MEMORY, "no memory to read %s", r->file);
}

Status lesson_once(LessonReader *r, LessonText *text, const char *key, Piece value, int line) {
  if (text->offset) return LESSON_REFUSE(r, line, "'%s' is given twice", key);
  return lesson_add_text(r, value, line, text);
}

static Status read_kind(LessonReader *r, LessonAsk *ask, Piece value, int line) {
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
                         quote(value.text, value.length).text);
  return STATUS_OK;
}

/* "key | text", or a text that is its own key. */
static Status read_choice(LessonReader *r, LessonAsk *ask, Piece value, int line, LessonKind kind) {
  const bool is_first = ask->n_choices == 0;
  if (!is_first && ask->kind != kind) return LESSON_REFUSE(r, line, "a question has options or items, not both");
  if (ask->n_choices == ANSWER_CHOICES_MAX) return LESSON_REFUSE(r, line, "more than %d choices", ANSWER_CHOICES_MAX);
  ask->kind = kind;
  LessonPair *pair = &ask->choice[ask->n_choices];
  const char *bar = memchr(value.text, '|', value.length);
  const size_t length = bar ? (size_t)(bar - value.text) : value.length;
  const Piece key = piece_trim((Piece){value.text, length}), text = bar ? piece_after(value, length + 1) : value;
  if (key.length == 0 || text.length == 0) return LESSON_REFUSE(r, line, "a choice is empty; write 'key | text'");
  if (bar && memchr(key.text, ' ', key.length))
    return LESSON_REFUSE(r, line, "the key '%s' must be one word", quote(key.text, key.length).text);
  for (int k = 0; k < ask->n_choices; k++)
    if (piece_is(key, lesson_text(r->lesson, ask->choice[k].key)))
      return LESSON_REFUSE(r, line, "there are two choices '%s'", quote(key.text, key.length).text);
  Status status = lesson_add_text(r, key, line, &pair->key);
  if (!status) status = lesson_add_text(r, text, line, &pair->text);
  ask->n_choices += !status;
  return status;
}

static Status read_wrong(LessonReader *r, LessonAsk *ask, Piece value, int line) {
  if (ask->n_wrong == LESSON_WRONG_MAX) return LESSON_REFUSE(r, line, "more than %d wrong answers", LESSON_WRONG_MAX);
  size_t arrow = 0;
  while (arrow + 2 <= value.length && memcmp(value.text + arrow, "->", 2) != 0) arrow++;
  if (arrow + 2 > value.length)
    return LESSON_REFUSE(r, line, "a wrong answer is written 'wrong: value -> diagnosis', and there is no '->'");
  const Piece key = piece_trim((Piece){value.text, arrow}), diagnosis = piece_after(value, arrow + 2);
  if (key.length == 0 || diagnosis.length == 0)
    return LESSON_REFUSE(r, line,
                         "a wrong answer is written 'wrong: value -> diagnosis', and one of the two is missing");
  int diagnosis_line = line;
  for (const char *p = value.text; p < diagnosis.text; p++) diagnosis_line += *p == '\n';
  LessonPair *pair = &ask->wrong[ask->n_wrong];
  Status status = lesson_add_text(r, key, line, &pair->key);
  if (!status) status = lesson_add_text(r, diagnosis, diagnosis_line, &pair->text);
  ask->n_wrong += !status;
  return status;
}

static Status read_unit(LessonReader *r, LessonAsk *ask, Piece value, int line) {
  Status status = lesson_once(r, &ask->unit_text, "unit", value, line);
  Error inner = {0};
  if (!status && answer_unit(lesson_text(r->lesson, ask->unit_text), &ask->unit, &inner))
    status = LESSON_REFUSE(r, line, "unit: %s", inner.message);
  return status;
}

static Status read_tolerance(LessonReader *r, LessonAsk *ask, Piece value, int line) {
  char text[64];
  Error inner = {0};
  snprintf(text, sizeof text, "%.*s", (int)(value.length < 63 ? value.length : 63), value.text);
  if (answer_tolerance(text, &ask->tolerance, &inner)) return LESSON_REFUSE(r, line, "%s", inner.message);
  return STATUS_OK;
}

static Status read_ask_key(LessonReader *r, void *target, Piece key, Piece value, int line) {
  LessonAsk *ask = target;
  static const char *const KEYS[] = {"prompt",    "answer", "state", "explain", "fixed", "kind", "unit",
                                     "tolerance", "option", "item",  "hint",    "wrong", "draw", "allow"};
  LessonText *const texts[] = {&ask->prompt, &ask->answer, &ask->state, &ask->explain, &ask->fixed};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
    if (piece_is(key, KEYS[k])) return lesson_once(r, texts[k], KEYS[k], value, line);
  if (piece_is(key, "kind")) return read_kind(r, ask, value, line);
  if (piece_is(key, "unit")) return read_unit(r, ask, value, line);
  if (piece_is(key, "tolerance")) return read_tolerance(r, ask, value, line);
  if (piece_is(key, "option")) return read_choice(r, ask, value, line, LESSON_CHOICE);
  if (piece_is(key, "item")) return read_choice(r, ask, value, line, LESSON_ORDER);
  if (piece_is(key, "wrong")) return read_wrong(r, ask, value, line);
  if (piece_is(key, "draw")) return lesson_read_draw(r, value, line, ask->draw, &ask->n_draws);
  if (piece_is(key, "hint")) {
    if (ask->n_hints == LESSON_HINTS_MAX) return LESSON_REFUSE(r, line, "more than %d hints", LESSON_HINTS_MAX);
    return lesson_add_text(r, value, line, &ask->hint[ask->n_hints++]);
  }
  if (piece_is(key, "allow")) {
    if (ask->n_allow == LESSON_ALLOW_MAX) return LESSON_REFUSE(r, line, "more than %d lines allow", LESSON_ALLOW_MAX);
    return lesson_add_text(r, value, line, &ask->allow[ask->n_allow++]);
  }
  return lesson_refuse_key(r, key, KEYS, sizeof KEYS / sizeof *KEYS, "a question", line);
}

static Status complete_ask(LessonReader *r, LessonAsk *ask) {
  const bool is_work = ask->kind == LESSON_WORK;
  if (is_work && (ask->n_choices || ask->n_wrong || ask->n_hints || ask->unit_text.offset || ask->tolerance.kind))
    return LESSON_REFUSE(r, ask->line, "of '%s' options, wrong answers and hints are in its task", ask->id);
  if (!is_work && ask->state.offset)
    return LESSON_REFUSE(r, ask->state.line, "only programs and kernels have a state, and '%s' is none", ask->id);
  if (!is_work && !ask->prompt.offset) return LESSON_REFUSE(r, ask->line, "the question '%s' has no prompt", ask->id);
  if (!ask->answer.offset) return LESSON_REFUSE(r, ask->line, "the question '%s' has no answer", ask->id);
  if ((ask->kind == LESSON_CHOICE || ask->kind == LESSON_ORDER) && ask->n_choices < 2)
    return LESSON_REFUSE(r, ask->line, "the question '%s' needs two %s or more", ask->id,
                         ask->kind == LESSON_ORDER ? "items" : "options");
  if (ask->kind == LESSON_ORDER && ask->is_prediction)
    return LESSON_REFUSE(r, ask->line, "an order cannot be predicted; give '%s' options, or none for a number",
                         ask->id);
  if (ask->kind != LESSON_NUMBER && (ask->unit_text.offset || ask->tolerance.kind))
    return LESSON_REFUSE(r, ask->line, "only numbers have a unit and a tolerance, and '%s' is none", ask->id);
  for (int k = 0; k < ask->n_choices; k++) {
    const char *key = lesson_text(r->lesson, ask->choice[k].key);
    if (!key[1] && ascii_lower((unsigned char)key[0]) - 'a' < ask->n_choices && ascii_is_alpha((unsigned char)key[0]))
      return LESSON_REFUSE(r, ask->choice[k].key.line,
                           "the key '%s' would be taken for the letter of a choice; use a longer word", key);
  }
  if (!ask->unit_text.offset) ask->unit.factor = 1;
  return STATUS_OK;
}

Status lesson_read_ask(LessonReader *r, Piece id, Piece body, int line, LessonBlock *block) {
  Lesson *l = r->lesson;
  Status status = lesson_one_more(r, (void **)&l->asks, &l->asks_capacity, l->n_asks, sizeof *l->asks, LESSON_ASKS_MAX,
                                  "questions", line);
  if (status) return status;
  LessonAsk *ask = &l->asks[l->n_asks];
  *ask = (LessonAsk){.line = line};
  if (lesson_read_name(r, id, "id of a question (write ```ask my-id)", line, ask->id)) return STATUS_BAD_FILE;
  if (lesson_find_ask(l, ask->id) >= 0)
    return LESSON_REFUSE(r, line, "there are two questions '%s'; each needs an id of its own", ask->id);
  status = lesson_read_keys(r, body, line, read_ask_key, ask);
  if (status) return status;
  block->ask = (int)l->n_asks++;
  return complete_ask(r, ask);
}
