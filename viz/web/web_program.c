/* A program that is written in the page: checked, then read by state lines as the file mine.walk.
 *
 *     web_program(text)  ->  ""                              web_open("algorithm=mine.walk N=64 ...") shows it
 *                        ->  "mine.walk:7: what, why, ..."   what is shown stays
 *
 * Text may come from anyone's link: sim/algorithms/language/read.h bounds it. */

#include "sim/algorithms/language/language_words.h"
#include "sim/algorithms/language/read.h"
#include "sim/numbers/program_check.h"
#include "viz/request/own.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

static const char FILE_NAME[] = "mine.walk";

/* What is on the screen keeps its programs; older ones go, or each edit would take a place. */
static void forget_older(void) {
  const Player *p = web_player();
  const Schedule *used[REQUEST_ALGORITHMS_MAX + SNAPSHOT_RUNS_MAX + 1];
  int n = 0;
  for (int k = 0; k < p->request.n_algorithms; k++) used[n++] = p->request.algorithms[k];
  for (int k = 0; k < p->stage.config.n_rivals; k++) used[n++] = p->stage.config.rivals[k];
  used[n++] = p->stage.config.schedule;
  own_programs_forget_but(used, n);
  web_forget_drawn();
}

static Program program; /* the one that web_program checked last; too large for the stack */

/* After web_program gave "": "O is right ..." or "O is wrong ...", in a sentence. Form says nothing about it. */
EXPORT const char *web_program_numbers(void) {
  static char text[PROGRAM_CHECK_BYTES];
  program_check(&program, NULL, text);
  return text;
}

/* ---- The text -------------------------------------------------------------------------------------------- */

/* Checks the text and, if it is a program, takes it as the file. Returns "" or one line that says what is wrong. */
EXPORT const char *web_program(const char *text) {
  static Error error;
  error = (Error){0};
  program_read(&program, text, strlen(text), FILE_NAME, &error);
  if (!error.status && schedule_find(program.name)) {
    const char *line = strstr(text, "algorithm"); /* the reader found it, so it is there */
    int number = 1;
    for (const char *at = text; at < line; at++) number += *at == '\n';
    error_set(&error, STATUS_BAD_FILE, "%s:%d: the name '%s' is that of a shipped algorithm; choose another", FILE_NAME,
              number, program.name);
  }
  if (error.status) return error.message;
  forget_older();
  if (!web_file(FILE_NAME, text)) return "no memory for the program";
  return "";
}

/* The text of a shipped algorithm, to begin with; "": there is none of that name. */
EXPORT const char *web_program_text(const char *name) {
  const Schedule *schedule = schedule_find(name);
  return schedule ? schedule->text : "";
}

/* The language: {"names": of the shipped algorithms, "words": [[word, what it is coloured as]...]}: "line", "value",
 * "side", or "prose", where what follows on its line is none. */
EXPORT const char *web_language(void) {
  Document *d = web_begin();
  put_values(d, "names[");
  for (int k = 0; k < N_PROGRAMS; k++) put_values(d, ":s", SCHEDULES[k]->name);
  put_values(d, "] words[");
  for (int k = 0; k < N_LANGUAGE_WORDS; k++) {
    const LanguageWord *w = &LANGUAGE_WORDS[k];
    const bool is_line = w->places & ~(unsigned)(WORDS_VALUE | WORDS_FORMULA | WORDS_SIDE);
    const char *kind = w->places & WORDS_PROSE ? "prose" : w->places & WORDS_SIDE ? "side" : is_line ? "line" : "value";
    put_values(d, "[:s :s]", w->text, kind);
  }
  return web_end();
}

/* What may be written at byte `at` of the text: how many of its letters are there already, then a candidate a line. */
EXPORT const char *web_complete(const char *text, int at) {
  static char out[2048];
  char candidates[sizeof out - 16];
  const size_t length = strlen(text),
               begun = words_complete(text, (size_t)at < length ? (size_t)at : length, candidates, sizeof candidates);
  snprintf(out, sizeof out, "%zu\n%s", begun, candidates);
  return out;
}
