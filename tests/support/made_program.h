/* Programs that nobody has seen, and what each of their lines does: random names, lines in random legal order, extra
 * values, an own tensor and a second pass. What is known of a line comes from here, not from the reader of programs. */
#ifndef TILEWALK_TESTS_SUPPORT_MADE_PROGRAM_H
#define TILEWALK_TESTS_SUPPORT_MADE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/algorithms/schedule.h"
#include "tests/support/rand.h"

enum { VALUES = 24, RECORDS = 64, TEXT = 6000, LINE = 160 };

typedef enum { COLUMN, ROWS_D, ROWS_DV, KEYS_D, KEYS_DV, TILE } Shape_;

typedef struct {
  char letters[6], text[8];
  Shape_ shape;
  bool is_primed;
} Value;

/* A line: what it reads and sets (a bit each), moves and costs. */
typedef struct {
  char text[LINE];
  int kernel, loop;            /* loop: 0 before it, 1 in it, 2 after it */
  uint32_t reads, sets, takes; /* takes: of what it reads, values of its own shape that may hand over their place */
  int moved;                   /* -1: nothing */
  bool out, masks, is_first_product;
  int flops_d, flops_dv, exps;
} Record;

typedef struct {
  Rand *r;
  Value values[VALUES];
  int n_values;
  Record records[RECORDS];
  int n_records, kernel, n_kernels;
  bool of[2]; /* the loop of a kernel leaves masked tiles out */
  const char *walk[2];
} Maker;

static inline uint32_t bit(int value) { return UINT32_C(1) << value; }

/* Makes one, and its text of at most TEXT bytes. `judged`: its first output is attention. */
void made_program(Maker *maker, Rand *rand, bool judged, char *text);

/* The record of the line of an event; -1: none. */
int made_record(const Maker *maker, const Program *program, const Event *event);

#endif
