/* Sequences of unequal lengths in one launch: padded to the longest, or packed one after the other.
 *
 *     padded   ########..      packed   ########|####|##########
 *              ####......
 *              ##########      each CTA owns a row block of one sequence; tiles begin where the sequence does
 *
 * Padded, every sequence counts as the longest one. Packed (FlashAttention's varlen functions), each counts as itself,
 * but the grid has a CTA for every row block of the longest sequence, so that those beyond a shorter one have nothing
 * to do. Bytes are sums of what simulate() says of one length.
 * HBM: each length goes through L2 as often as all tokens have room for it, and has its share of what such a launch
 * reads beyond what it needs. Time: the makespan of the CTAs as they are, in the order of the launch
 * (sim/time/makespan.h). Not modelled: neighbours of other lengths in L2. */
#ifndef TILEWALK_SIM_TIME_BATCH_H
#define TILEWALK_SIM_TIME_BATCH_H

#include "sim/simulate.h"

#define BATCH_SEQUENCES_MAX ((int64_t)1 << 20)

/* Heap memory, freed by free(). In the order that was given. */
typedef struct {
  int64_t n, shortest, longest;
  int64_t lengths[];
} Lengths;

/* From a text of whole numbers (K, M as elsewhere), apart by commas, plus signs or blanks; LENGTHxCOUNT: several.
 * `name` is what errors call it. NULL with *error: none, too many, no number. */
Lengths *lengths_read(const char *text, size_t n_bytes, const char *name, Error *error);

Wide lengths_sum(const Lengths *lengths);

typedef enum { BATCH_PADDED = 0, BATCH_PACKED, BATCH_LAYOUT_COUNT } BatchLayout;

const char *batch_layout_name(BatchLayout layout); /* "padded", "packed" */

typedef struct {
  const Schedule *schedule;
  BatchLayout layout;
  Wide tokens;     /* rows of K, of all sequences; of one KV head */
  Wide ctas, idle; /* of the first kernel: with work, and without */
  int64_t n_slots; /* CTAs at once; 0: no GPU is named, or its launch cannot be made */
  Traffic traffic; /* summed over sequences and heads; tiles too */
  Wide read_bytes, write_bytes;
  double besides_read_bytes, besides_write_bytes; /* what a kernel moves besides its algorithm (sim/l2/overheads.h) */
  bool has_l2;
  double hbm_read_bytes, hbm_write_bytes; /* written sooner or later */
  bool timed;                             /* a GPU is named: what follows means something */
  double seconds;
  TimeKind kind;
  TimeError error; /* where predicted: of its regime */
  TimeRegime regime;
  const char *why; /* no time is predicted; NULL: one is */
} BatchRun;

/* Answers for sequences of `lengths` keys under one algorithm. Without a number of queries (problem->shape.N_q = 0) a
 * sequence has as many queries as keys. problem->shape.batch must be 1 or 0. Errors: as those of simulate(). */
Status batch_run(BatchRun *run, const Problem *problem, const Lengths *lengths, BatchLayout layout,
                 const Schedule *schedule, const Gpu *gpu, Error *error);

#endif
