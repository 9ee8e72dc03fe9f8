/* The keys of a question, and drawn numbers. Part of lessons/lesson.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lessons/lesson_read.h"
#include "sim/nearest.h"
#include "sim/quote.h"

/* ---- draw: N from 1024, 2048 */

Status lesson_read_draw(LessonReader *r, Piece piece, int line, LessonDraw *draws, int *n_draws) {
  size_t word = 0;
  while (word < piece.length && !isspace((unsigned char)piece.text[word]))
    word++;
  Piece rest = piece_after(piece, word);
  if (!piece_starts(rest, "from "))
    return LESSON_REFUSE(r, line, "'%s' is no draw; write 'draw: N from 1024, 2048, 4096'",
                         quote(piece.text, piece.length).text);
  if (*n_draws == LESSON_DRAWS_MAX)
    return LESSON_REFUSE(r, line, "more than %d draws", LESSON_DRAWS_MAX);
  LessonDraw *draw = &draws[*n_draws];
  *draw = (LessonDraw){0};
  if (lesson_read_name(r, (Piece){piece.text, word}, "name of a drawn number", line, draw->name))
    return STATUS_BAD_FILE;
  if (strchr(draw->name, '-'))
    return LESSON_REFUSE(r, line, "a drawn name stands in expressions, so it may not hold '-'");
  for (rest = piece_after(rest, 5); rest.length;) {
    const char *comma = memchr(rest.text, ',', rest.length);
    const size_t length = comma ? (size_t)(comma - rest.text) : rest.length;
    const Piece value = piece_trim((Piece){rest.text, length});
    if (draw->n == LESSON_VALUES_MAX)
      return LESSON_REFUSE(r, line, "more than %d values to draw from", LESSON_VALUES_MAX);
    if (value.length == 0 || value.length >= LESSON_NAME_BYTES)
      return LESSON_REFUSE(r, line,
                           "a value to draw is empty or too long; separate them by single commas");
    const Status status = lesson_add_text(r, value, line, &draw->value[draw->n++]);
    if (status) return status;
    rest = piece_after(rest, length + (comma != NULL));
  }
  if (draw->n < 2) return LESSON_REFUSE(r, line, "a draw needs two values or more");
  ++*n_draws;
  return STATUS_OK;
}

/* ---- Keys */

static Status once(LessonReader *r, LessonText *text, const char *key, Piece value, int line) {
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
  else if (!piece_is(value, "number"))
    return LESSON_REFUSE(r, line,
                         "'%s' is no kind of question; there are number, choice, order and predict",
                         quote(value.text, value.length).text);
  return STATUS_OK;
}

/* "key | text", or a text that is its own key. */
static Status read_choice(LessonReader *r, LessonAsk *ask, Piece value, int line, LessonKind kind) {
  const bool is_first = ask->n_choices == 0;
  if (!is_first && ask->kind != kind)
    return LESSON_REFUSE(r, line, "a question has options or items, not both");
  if (ask->n_choices == ANSWER_CHOICES_MAX)
    return LESSON_REFUSE(r, line, "more than %d choices", ANSWER_CHOICES_MAX);
  ask->kind = kind;
  LessonPair *pair = &ask->choice[ask->n_choices];
  const char *bar = memchr(value.text, '|', value.length);
  const size_t length = bar ? (size_t)(bar - value.text) : value.length;
  const Piece key = piece_trim((Piece){value.text, length}),
              text = bar ? piece_after(value, length + 1) : value;
  if (key.length == 0 || text.length == 0)
    return LESSON_REFUSE(r, line, "a choice is empty; write 'key | text'");
  if (bar && memchr(key.text, ' ', key.length))
    return LESSON_REFUSE(r, line, "the key '%s' must be one word",
                         quote(key.text, key.length).text);
  for (int k = 0; k < ask->n_choices; k++)
    if (piece_is(key, lesson_text(r->lesson, ask->choice[k].key)))
      return LESSON_REFUSE(r, line, "there are two choices '%s'", quote(key.text, key.length).text);
  Status status = lesson_add_text(r, key, line, &pair->key);
  if (!status) status = lesson_add_text(r, text, line, &pair->text);
  ask->n_choices += !status;
  return status;
}

static Status read_wrong(LessonReader *r, LessonAsk *ask, Piece value, int line) {
  if (ask->n_wrong == LESSON_WRONG_MAX)
    return LESSON_REFUSE(r, line, "more than %d wrong answers", LESSON_WRONG_MAX);
  size_t arrow = 0;
  while (arrow + 2 <= value.length && memcmp(value.text + arrow, "->", 2) != 0)
    arrow++;
  if (arrow + 2 > value.length)
    return LESSON_REFUSE(
        r, line, "a wrong answer is written 'wrong: value -> diagnosis', and there is no '->'");
  const Piece key = piece_trim((Piece){value.text, arrow}),
              diagnosis = piece_after(value, arrow + 2);
  if (key.length == 0 || diagnosis.length == 0)
    return LESSON_REFUSE(
        r, line,
        "a wrong answer is written 'wrong: value -> diagnosis', and one of the two is missing");
  int diagnosis_line = line;
  for (const char *p = value.text; p < diagnosis.text; p++)
    diagnosis_line += *p == '\n';
  LessonPair *pair = &ask->wrong[ask->n_wrong];
  Status status = lesson_add_text(r, key, line, &pair->key);
  if (!status) status = lesson_add_text(r, diagnosis, diagnosis_line, &pair->text);
  ask->n_wrong += !status;
  return status;
}

static Status read_unit(LessonReader *r, LessonAsk *ask, Piece value, int line) {
  Status status = once(r, &ask->unit_text, "unit", value, line);
  Error inner = {0};
  if (!status && answer_unit(lesson_text(r->lesson, ask->unit_text), &ask->unit, &inner))
    status = LESSON_REFUSE(r, line, "unit: %s", inner.message);
  return status;
}

static Status read_tolerance(LessonReader *r, LessonAsk *ask, Piece value, int line) {
  char text[64];
  Error inner = {0};
  snprintf(text, sizeof text, "%.*s", (int)(value.length < 63 ? value.length : 63), value.text);
  if (answer_tolerance(text, &ask->tolerance, &inner))
    return LESSON_REFUSE(r, line, "%s", inner.message);
  return STATUS_OK;
}

Status lesson_read_ask_key(LessonReader *r, LessonAsk *ask, Piece key, Piece value, int line) {
  static const char *const KEYS[] = {"kind", "prompt", "answer", "unit",    "tolerance", "option",
                                     "item", "hint",   "wrong",  "explain", "draw",      "allow"};
  if (value.length == 0)
    return LESSON_REFUSE(r, line, "'%s' has no value", quote(key.text, key.length).text);
  if (piece_is(key, "kind")) return read_kind(r, ask, value, line);
  if (piece_is(key, "prompt")) return once(r, &ask->prompt, "prompt", value, line);
  if (piece_is(key, "answer")) return once(r, &ask->answer, "answer", value, line);
  if (piece_is(key, "explain")) return once(r, &ask->explain, "explain", value, line);
  if (piece_is(key, "unit")) return read_unit(r, ask, value, line);
  if (piece_is(key, "tolerance")) return read_tolerance(r, ask, value, line);
  if (piece_is(key, "option")) return read_choice(r, ask, value, line, LESSON_CHOICE);
  if (piece_is(key, "item")) return read_choice(r, ask, value, line, LESSON_ORDER);
  if (piece_is(key, "wrong")) return read_wrong(r, ask, value, line);
  if (piece_is(key, "draw")) return lesson_read_draw(r, value, line, ask->draw, &ask->n_draws);
  if (piece_is(key, "hint")) {
    if (ask->n_hints == LESSON_HINTS_MAX)
      return LESSON_REFUSE(r, line, "more than %d hints", LESSON_HINTS_MAX);
    return lesson_add_text(r, value, line, &ask->hint[ask->n_hints++]);
  }
  if (piece_is(key, "allow")) {
    if (ask->n_allow == LESSON_ALLOW_MAX)
      return LESSON_REFUSE(r, line, "more than %d lines allow", LESSON_ALLOW_MAX);
    return lesson_add_text(r, value, line, &ask->allow[ask->n_allow++]);
  }
  char typed[32];
  snprintf(typed, sizeof typed, "%.*s", (int)(key.length < 31 ? key.length : 31), key.text);
  Nearest nearest = {.word = typed};
  for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++)
    nearest_offer(&nearest, KEYS[k]);
  return LESSON_REFUSE(
      r, line,
      "there is no key '%s' in a question%s%s%s; indent a line that goes on with the one above",
      quote(key.text, key.length).text, nearest.best ? " (did you mean '" : "",
      nearest.best ? nearest.best : "", nearest.best ? "'?)" : "");
}

Status lesson_complete_ask(LessonReader *r, LessonAsk *ask) {
  if (!ask->prompt.offset)
    return LESSON_REFUSE(r, ask->line, "the question '%s' has no prompt", ask->id);
  if (!ask->answer.offset)
    return LESSON_REFUSE(r, ask->line, "the question '%s' has no answer", ask->id);
  if (ask->kind != LESSON_NUMBER && ask->n_choices < 2)
    return LESSON_REFUSE(r, ask->line, "the question '%s' needs two %s or more", ask->id,
                         ask->kind == LESSON_ORDER ? "items" : "options");
  if (ask->kind == LESSON_ORDER && ask->is_prediction)
    return LESSON_REFUSE(r, ask->line,
                         "an order cannot be predicted; give '%s' options, or none for a number",
                         ask->id);
  if (ask->kind != LESSON_NUMBER && (ask->unit_text.offset || ask->tolerance.kind))
    return LESSON_REFUSE(r, ask->line, "only numbers have a unit and a tolerance, and '%s' is none",
                         ask->id);
  for (int k = 0; k < ask->n_choices; k++) {
    const char *key = lesson_text(r->lesson, ask->choice[k].key);
    if (!key[1] && tolower((unsigned char)key[0]) - 'a' < ask->n_choices &&
        isalpha((unsigned char)key[0]))
      return LESSON_REFUSE(
          r, ask->choice[k].key.line,
          "the key '%s' would be taken for the letter of a choice; use a longer word", key);
  }
  if (!ask->unit_text.offset) ask->unit.factor = 1;
  return STATUS_OK;
}
