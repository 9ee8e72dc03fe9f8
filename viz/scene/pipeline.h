/* The Hopper pipeline of one CTA as it was measured: clock stamps of a producer and its warpgroups, and what follows.
 *
 *     producer    | waits for a slot | issues K | waits | issues V | ...
 *     warpgroup   | products | softmax | round P | wait for K |     stamps of one thread each
 *     tensor cores| A   | B   | idle        |A  |                   not stamped: drawn at peak rate, in turn
 *
 * A file is lines `role,tile,id,cycles` under a comment that ends in `heads H N N d D causal C`; see
 * assets/counters/h100/pipeline. Ids: producer 0 waits for a slot of K, 1 has issued it, 2 and 3 the same of V;
 * consumers 0 wait for K, 1 have it, 2 (of a row block's first tile) S alone issued, 3 products issued, 4 S is there,
 * 5 softmax done, 6 P V of the tile before done, 7 P rounded. */
#ifndef TILEWALK_VIZ_SCENE_PIPELINE_H
#define TILEWALK_VIZ_SCENE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum {
  PIPELINE_GROUPS_MAX = 3,
  PIPELINE_ROLES_MAX = 1 + PIPELINE_GROUPS_MAX,
  PIPELINE_TILES_MAX = 256,
  PIPELINE_IDS = 8,
  PIPELINE_SLOTS = 4, /* of the ring: K and V of two tiles (kernels/lib/wgmma_tile.cuh) */
  PIPELINE_BYTES_MAX = 1 << 20,
  PIPELINE_SPANS_MAX = 4096,
};

typedef enum { PHASE_PRODUCTS = 0, PHASE_SOFTMAX, PHASE_ROUND, PHASE_WAIT, PHASE_COUNT } PipelinePhase;
const char *pipeline_phase_name(PipelinePhase phase); /* "products", "softmax", "round P", "wait" */

/* From `begin` to `end`, in cycles from the first stamp. */
typedef struct {
  int64_t begin, end;
  int group, tile; /* group from 0 */
  PipelinePhase phase;
} PipelineSpan;

typedef struct {
  int heads, N, d;
  bool causal;
  int n_groups, n_tiles[PIPELINE_ROLES_MAX];
  int64_t stamps[PIPELINE_ROLES_MAX][PIPELINE_TILES_MAX][PIPELINE_IDS]; /* -1: none */
  int64_t end;                                                          /* of the last stamp, or product */
  /* What follows. */
  int n_spans, n_tensor;
  PipelineSpan spans[PIPELINE_SPANS_MAX];          /* of the warpgroups, by group, then time */
  PipelineSpan tensor[PIPELINE_SPANS_MAX];         /* at peak rate, by time */
  int64_t product_cycles;                          /* of a tile of a group: both products */
  double idle;                                     /* part of the steady time without products */
  double in_softmax[PIPELINE_GROUPS_MAX + 1];      /* part of it with so many groups between S and rounded P */
  double idle_in_softmax[PIPELINE_GROUPS_MAX + 1]; /* the same, of the time without products: they sum to idle */
  int64_t median_tile;                             /* cycles from one K to the next, of the last group */
  /* From the first row block to the second: products at peak rate, idle between the tiles; the rest is the seam. 0:
   * there is one block. */
  int64_t block_cycles, block_products, block_idle;
} Pipeline;

/* Heap memory, freed by free(). NULL with *error, which names the line. */
Pipeline *pipeline_read(const char *text, size_t length, const char *name, Error *error);

/* What is in a slot of the ring at a moment. */
typedef enum { SLOT_EMPTY = 0, SLOT_LOADING, SLOT_FULL } PipelineSlot;
PipelineSlot pipeline_slot(const Pipeline *pipeline, int slot, int64_t at);

#endif
