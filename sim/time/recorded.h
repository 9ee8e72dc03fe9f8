/* The pipeline of one SM as it was measured: clock stamps of a producer and its warpgroups, and what follows.
 *
 *     producer    | waits for a slot | issues K | waits | issues V | ...
 *     warpgroup   | products | softmax | round P | wait for K |     stamps of one thread each
 *     tensor cores| A   | B   | idle        |A  |                   not stamped: drawn at peak rate, in turn
 *
 * A file is lines `role,tile,id,cycles` under a comment that ends in `kernel NAME heads H N N d D causal C`; see
 * assets/counters/h100/pipeline. What the ids mean: StampId of kernels/lib/rung.h. */
#ifndef TILEWALK_SIM_TIME_RECORDED_H
#define TILEWALK_SIM_TIME_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum {
  PIPELINE_GROUPS_MAX = 3,
  PIPELINE_ROLES_MAX = 1 + PIPELINE_GROUPS_MAX,
  PIPELINE_TILES_MAX = 256,
  PIPELINE_IDS = 15,
  PIPELINE_SLOTS = 4, /* of the ring: K and V of two tiles (kernels/lib/wgmma_tile.cuh) */
  PIPELINE_BYTES_MAX = 1 << 20,
  PIPELINE_SPANS_MAX = 4096,
};

typedef enum { PHASE_PRODUCTS = 0, PHASE_SOFTMAX, PHASE_ROUND, PHASE_WAIT, PHASE_COUNT } PipelinePhase;

/* A kernel that was recorded: what lies between its stamps, and when it asks for which products. */
typedef struct {
  const char *name, *group;    /* of the kernel; of what a role is: "Warpgroup", "CTA" */
  const char *slots[2];        /* what the ring's slots hold in turn */
  double rate;                 /* of its tensor core instruction, as a part of the peak */
  int rows, keys_64, keys_128; /* of a product of a group: rows, and keys at d = 64 and 128 (backward: turned round) */
  struct {
    int id; /* from this stamp to the next that is there; the last to the next tile */
    PipelinePhase phase;
    const char *word;
  } phases[10]; /* ended by a NULL word */
  struct {
    int id, count; /* products asked for at this stamp */
  } products[4];   /* ended by count 0 */
  bool lags;       /* P V of a tile is issued with S of the next */
} PipelineKernel;

/* By its name; NULL: none of it was recorded. */
const PipelineKernel *pipeline_kernel(const char *name);

/* From `begin` to `end`, in cycles from the first stamp. */
typedef struct {
  int64_t begin, end;
  int group, tile; /* group from 0 */
  PipelinePhase phase;
  const char *word; /* static: "softmax" */
} PipelineSpan;

typedef struct {
  const PipelineKernel *kernel;
  int heads, N, d;
  bool causal;
  int n_groups, n_tiles[PIPELINE_ROLES_MAX];
  int64_t stamps[PIPELINE_ROLES_MAX][PIPELINE_TILES_MAX][PIPELINE_IDS]; /* -1: none */
  int64_t end;                                                          /* of the last stamp, or product */
  /* What follows. */
  int n_spans, n_tensor;
  PipelineSpan spans[PIPELINE_SPANS_MAX];  /* of the warpgroups, by group, then time */
  PipelineSpan tensor[PIPELINE_SPANS_MAX]; /* at peak rate, by time */
  int64_t product_cycles;                  /* of a tile of a group: all products */
  double idle;                             /* part of the steady time without products */
  int64_t median_tile;                     /* cycles from one K to the next, of the last group */
} Pipeline;

/* Heap memory, freed by free(). NULL with *error, which names the line. */
Pipeline *pipeline_read(const char *text, size_t length, const char *name, Error *error);

#endif
