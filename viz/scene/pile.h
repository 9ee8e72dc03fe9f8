/* What each run has carried, square by square in the order in which it moved, and where it is in its table of scores: a
 * fold over the events.
 *
 *     once       the first load of an input block, the last store or addition of an output block
 *     again      any other move of an input or output
 *     between    all else: S, P, m, l, parts of O by split
 *
 * A square is a power of two bytes of one class, the same in all piles. It begins with its first byte and its place is
 * fixed then; squares x unit are the bytes of the class at every step.
 *
 *     marks      1: Q_0 once      2: K_0 once      ...
 *
 * Nothing is walked: when a block comes for the first time, or a square begins, is found between closed forms
 * (sim/algorithms/walk/place.h), so that a walk may be as long as it likes. */
#ifndef TILEWALK_VIZ_SCENE_PILE_H
#define TILEWALK_VIZ_SCENE_PILE_H

#include "viz/scene/snapshot.h"

typedef enum { PILE_ONCE = 0, PILE_AGAIN, PILE_BETWEEN, PILE_CLASSES } PileClass;

enum { PILE_CELLS = 16, PILE_SQUARES = 160, PILE_TRAIL = 5 };
uint8_t pile_cell(int64_t block, int cells, int64_t blocks); /* of a table, along a side: holds a part of its tiles */
#define PILE_MOST_BLOCKS ((Wide)1 << 17)                     /* of inputs and outputs: about a second to find */

/* Bytes that have been moved once when event `step` is over. */
typedef struct {
  uint64_t step;
  Wide bytes;   /* of all marks up to this one */
  int8_t cell;  /* of an output, along its side of the table; else -1 */
  bool by_keys; /* which side */
} PileMark;

typedef struct {
  uint8_t row, column;
} PileCell;

typedef struct {
  const Schedule *schedule;
  Plan plan;
  int64_t n; /* walks beside each other, which read the same keys: the bytes are of all of them */
  uint64_t n_steps;
  bool is_known; /* else there are too many blocks, or there is no memory: only what is above */
  PileMark *marks;
  size_t n_marks;
  uint8_t tile_ops[PROGRAM_OPS_MAX]; /* that say that a tile has been begun */
  int n_tile_ops, rows, columns;
  bool is_visited[PILE_CELLS][PILE_CELLS];
  Wide cell_scores[PILE_CELLS][PILE_CELLS];      /* carried in all */
  Wide outputs[2][PILE_CELLS];                   /* stored in all: by rows, by keys */
  Wide whole[PILE_CLASSES], scores;              /* in all */
  Wide again[TENSORS_MAX], between[TENSORS_MAX]; /* of them, by tensor */
  int n_squares;
  uint8_t squares[PILE_SQUARES + PILE_CLASSES]; /* PileClass, in the order in which they begin */
} Pile;

typedef struct {
  int n;
  Wide unit; /* bytes of a square */
  Pile piles[SNAPSHOT_RUNS_MAX];
} Piles;

/* Of all runs, or of one alone, without squares: then the other piles are empty. Of the snapshot only what does not
 * depend on its step. Free it after use. */
enum { PILES_ALL = -1 };
void piles_make(Piles *piles, const Snapshot *now, int only);
void piles_free(Piles *piles);

/* A run when all walks together have carried `clock` bytes. */
typedef struct {
  double bytes[PILE_CLASSES];
  double burnt[PILE_CELLS][PILE_CELLS]; /* part of a cell's scores that are carried */
  double stored[2][PILE_CELLS];         /* part of an output: by rows, by keys */
  PileCell trail[PILE_TRAIL];           /* where it is, and where it came from */
  int n_trail;
  bool is_over;
} PileMoment;
void pile_at(const Pile *pile, double clock, PileMoment *moment);
/* The same after `step` events and a part of the next one. */
void pile_at_step(const Pile *pile, uint64_t step, double part, PileMoment *moment);

#endif
