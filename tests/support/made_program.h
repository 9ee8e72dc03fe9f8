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

/* What a line does to one row. */
typedef enum {
  DOES_MOVE = 0,
  DOES_START,     /* to[0], to[1] = 0; a = -inf */
  DOES_ZERO,      /* to[0] = 0 */
  DOES_SCORES,    /* to[0] = a b^T / sqrt(d) */
  DOES_MASK,      /* of a */
  DOES_TOP,       /* to[0] = max(a, row max of b) */
  DOES_DOUBLE,    /* to[0] = a + a */
  DOES_POWER,     /* to[0] = e^(a - b) */
  DOES_RESCALE,   /* to[0], to[1] *= e^(a - b) */
  DOES_SUM,       /* to[0] += row sum of a */
  DOES_ADD,       /* to[0] += a b */
  DOES_COPY,      /* to[0] = a */
  DOES_DIVIDE,    /* to[0] = to[0] / a */
  DOES_LOG,       /* to[0] = a + log b */
  DOES_ADD_POWER, /* to[0] += e^(a - b) c */
} Does;

/* A line: what it reads and sets (a bit each), moves and costs. */
typedef struct {
  char text[LINE];
  int kernel, loop;            /* loop: 0 before it, 1 in it, 2 after it */
  uint32_t reads, sets, takes; /* takes: of what it reads, values of its own shape that may hand over their place */
  int moved;                   /* -1: nothing */
  bool out, masks, is_first_product, is_event;
  int flops_d, flops_dv, exps;
  Does does;
  int to[2], a, b, c; /* values */
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
