/* A program that is written in the page: checked, then read by state lines as the file mine.walk.
 *
 *     web_program(text)  ->  ""                              web_open("algorithm=mine.walk N=64 ...") shows it
 *                        ->  "mine.walk:7: what, why, ..."   what is shown stays
 *
 * Text may come from anyone's link: sim/algorithms/language/read.h bounds it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/language/read.h"
#include "sim/numbers/attention_check.h"
#include "viz/request/own_programs.h"
#include "viz/web/web_assets.h"
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

/* ---- Is O right? ----------------------------------------------------------------------------------------- */

enum { TRIED_N = 21, TRIED_D = 6, TRIED_ROWS = 8, TRIED_COLS = 4 }; /* small, and ragged on both sides */

/* The largest error of O in HBM against attention from its definition, in fp64, and its row; infinity: a number was
 * never written, or is none. */
static Status try_numbers(bool causal, double *largest, int *worst_row, Error *error) {
  Shape shape = {.N_q = TRIED_N, .N_k = TRIED_N, .d = TRIED_D, .causal = causal};
  const Tiling tiling = {.B_r = TRIED_ROWS, .B_c = TRIED_COLS, .n_splits = program.splits ? 2 : 1};
  Plan plan;
  size_t bytes;
  Attention *attention = NULL;
  Cursor cursor = {0};
  Status status = shape_complete(&shape, error);
  if (!status) status = plan_make(&plan, &shape, &tiling, error);
  if (!status) status = attention_bytes(&plan, &program, &bytes, error);
  void *memory = status ? NULL : malloc(bytes);
  if (!status && !memory) status = error_set(error, STATUS_NO_MEMORY, "no memory to try the program");
  if (!status) status = attention_start(memory, &plan, &program, &(AttentionConfig){0}, &attention, error);
  if (!status) attention_fill(attention, INPUT_NORMAL, 1, 0, 0);
  if (!status) status = attention_walk(attention, &program, &cursor, UINT64_MAX, error);
  *largest = 0;
  for (int row = 0; !status && row < TRIED_N; row++) {
    double O[TRIED_D];
    const AttentionView got = attention_in_hbm(attention, TENSOR_O);
    attention_reference_row(attention, row, O);
    for (int c = 0; c < TRIED_D; c++) {
      const double value = got.values ? got.values[row * got.stride + c] : NAN;
      const double off = isfinite(value) ? fabs(value - O[c]) : INFINITY;
      if (off <= *largest) continue;
      *largest = off;
      *worst_row = row;
    }
  }
  free(memory);
  return status;
}

/* After web_program gave "": "O is right ..." or "O is wrong ...", in a sentence. Form says nothing about it. */
EXPORT const char *web_program_numbers(void) {
  static char text[ERROR_MESSAGE_BYTES + 64];
  double most = 0;
  for (int causal = 0; causal < 2; causal++) {
    Error error = {0};
    double largest;
    int row = 0;
    if (try_numbers(causal, &largest, &row, &error)) {
      snprintf(text, sizeof text, "O was not tried: %s", error.message);
      return text;
    }
    const char *mask = causal ? "with a causal mask" : "without a mask";
    if (isinf(largest))
      snprintf(text, sizeof text, "O is wrong: %s, row %d is no number or never stored.", mask, row);
    else if (largest > 1e-9)
      snprintf(text, sizeof text, "O is wrong: %s, row %d is off by %.2g.", mask, row, largest);
    if (largest > 1e-9) return text;
    most = fmax(most, largest);
  }
  snprintf(text, sizeof text, "O is right: in fp64, with and without a causal mask, it is off by %.0e at most.", most);
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
  if (!web_assets_write(FILE_NAME, text)) return "no memory for the program";
  return "";
}

/* The text of a shipped algorithm, to begin with; "": there is none of that name. */
EXPORT const char *web_program_text(const char *name) {
  const Schedule *schedule = schedule_find(name);
  return schedule ? schedule->text : "";
}

/* The names of the shipped algorithms, a line each. */
EXPORT const char *web_program_names(void) {
  static char names[512];
  size_t n = 0;
  names[0] = '\0';
  for (int k = 0; k < N_SCHEDULES; k++) {
    const size_t length = strlen(SCHEDULES[k]->name);
    if (n + length + 2 > sizeof names) break;
    memcpy(names + n, SCHEDULES[k]->name, length);
    n += length;
    memcpy(names + n++, "\n", 2);
  }
  return names;
}
