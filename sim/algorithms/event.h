/* The event stream: what an algorithm does, in order, tile by tile. Everything else folds over it.
 *
 * An event is one operation on one tile. Loads and stores cross the SRAM boundary and carry bytes; products
 * carry FLOPs; the others move nothing and are there because they change m, l, O or are worth seeing. */
#ifndef TILEWALK_SIM_ALGORITHMS_EVENT_H
#define TILEWALK_SIM_ALGORITHMS_EVENT_H

#include "sim/problem/band.h" /* TileKind */
#include "sim/problem/tensor.h"

typedef enum {
  EVENT_LOAD = 0,   /* a tile comes in from HBM */
  EVENT_PRODUCT,    /* S = Q K^T / sqrt(d) for one tile */
  EVENT_MASK,       /* masked scores of a partial tile become -infinity */
  EVENT_NEW_MAX,    /* m_new = max(m, row maximum of the tile) */
  EVENT_RESCALE,    /* l and O times e^(m - m_new), so that all of them refer to the new maximum */
  EVENT_ACCUMULATE, /* P = e^(S - m_new), l += row sum of P, O += P V */
  EVENT_SKIP,       /* a tile that the mask leaves out: nothing is loaded or computed */
  EVENT_NORMALISE,  /* divide by l */
  EVENT_STORE,      /* a tile goes out to HBM */
  EVENT_ADD,        /* a tile is added to what lies in HBM, atomically */
  EVENT_KIND_COUNT
} EventKind;

/* Rows are queries and columns are keys. The tile of a load or store is [row0, row1) x all d columns for Q, O and
 * stats, [col0, col1) x d for K and V, and [row0, row1) x [col0, col1) for S and P. Both ranges are those of the loops
 * around the event, whatever it moves; without such a loop they are empty. Indices count from 0. */
typedef struct {
  uint8_t kind;   /* EventKind */
  uint8_t tensor; /* what is moved or written: index of Program.tensors */
  uint8_t tile;   /* TileKind of tile (i, j), where there is one */
  uint8_t pass;   /* which pass of the algorithm, from 0 */
  uint8_t line;   /* index of the program's line that does it */
  uint8_t op;     /* position in the program's list of operations */
  uint16_t split; /* which part of the keys, where they are split; else 0 */
  uint64_t step;  /* position in the stream, from 0 */
  int64_t i, j;   /* row block and column block of the loops around it; -1 where there is none */
  int64_t row0, row1, col0, col1;
  int64_t head;   /* of the query heads of a KV head, where the program loops over them; else 0 */
  uint64_t bytes; /* of a load, store or addition, else 0 */
  uint64_t flops; /* of a matrix product, else 0 */
} Event;

/* What crosses the SRAM boundary, either way; and what goes out. */
static inline bool event_goes_out(int kind) { return kind == EVENT_STORE || kind == EVENT_ADD; }
static inline bool event_moves(int kind) { return kind == EVENT_LOAD || event_goes_out(kind); }

const char *event_kind_name(EventKind kind); /* "load", "new max", ... */
const char *tile_kind_name(TileKind kind);   /* "full", "partial", "skipped" */

#endif
