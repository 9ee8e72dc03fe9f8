/* What a line of a program is, from its syntax alone: names as written, never letters, kinds of event or places.
 *
 *     l_i, O_i *= e^(m_i - m')     SCALE: l, O; factor: the node of e^(m_i - m')
 *     m' = max(m_i, row max of S)  MAX: result m', old m_i, best S
 *
 * Facts at a step (viz/scene/facts.h) and sentences (viz/scene/narration.h) are built from it. */
#ifndef TILEWALK_VIZ_SCENE_LINE_FACTS_H
#define TILEWALK_VIZ_SCENE_LINE_FACTS_H

#include "sim/algorithms/schedule.h"

typedef enum {
  LINE_OTHER = 0, /* no event yet, or no more */
  LINE_LOAD,
  LINE_STORE, /* or an `add`: an addition to what lies in HBM */
  LINE_SET,
  LINE_PRODUCT, /* sets a name to a matrix product */
  LINE_MASK,
  LINE_MAXIMUM, /* T = max(T, U) */
  LINE_SCALE,   /* *= alone */
  LINE_ADD,     /* += or T = ... T ... + ... */
  LINE_DIVIDE,  /* T = T / U */
  LINE_SKIP,    /* a tile of the loop that the mask hides */
  LINE_SHAPES
} LineShape;

/* Names are indices of Program.names, nodes of Program.nodes; -1: there is none. */
typedef struct {
  LineShape shape;
  int op;
  int loop_i, loop_j, loop_s; /* OP_LOOP of the loops around it over rows, columns and splits */
  int first;                  /* name moved first, masked, or set first */
  int sum;                    /* ADD, SCALE, SET: a value a row that is added to, scaled or set */
  int total;                  /* ADD, DIVIDE, SCALE: the name of which blocks are added to, divided, scaled */
  int result, old, best;      /* MAX: result = max(old, best), best a tile's rows or a value a row */
  bool is_maximum;            /* MAX: old is set to nothing but the result, and constants where it begins */
  int divisor;                /* DIVIDE */
  int left, right;            /* PRODUCT of two names: every row of one meets every row of the other */
  int weights;                /* ADD: set to an exponential on the same line */
  int factor;                 /* SCALE; and ADD of a part times e^(...) */
  bool is_add;                /* STORE: `add` */
  bool is_scores;             /* PRODUCT: what it sets is masked, or its row maximum taken */
  bool stays_on_chip;         /* PRODUCT: no line moves what it sets */
  bool undoes_division;       /* SCALE: of what another line divides, by what it is divided by */
  bool is_over_parts;         /* in a loop over splits, and over no columns */
} LineFacts;

void line_facts(const Program *program, int op, LineFacts *facts);

/* Blocks that two names share, whatever their subscripts: "O_i" and "O_is". */
bool line_same_base(const Program *program, int a, int b);

/* Whether a statement adds to its name, divides it, or begins it anew: sets it to what does not depend on it; and
 * whether an operation has such a one for the name. */
typedef bool LineAssign(const Program *program, const ProgramAssign *assign);
LineAssign line_adds, line_divides, line_begins;
bool line_has(const Program *program, int op, int name, LineAssign *is);

/* Whether the operation moves a block of this base: loads it, or stores or adds to it. */
typedef enum { MOVE_LOAD = 0, MOVE_STORE } LineMove;
bool line_moves(const Program *program, int op, LineMove move, int name);

/* A value a row of the names' values: values[name] by name. NAN where one is not known. e^(-inf - x) is 0. */
double line_value(const Program *program, int node, const double *values);

#endif
