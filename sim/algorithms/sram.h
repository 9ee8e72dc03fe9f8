/* SRAM: which values a CTA keeps a place for, and how large they are.
 *
 * Every name of a kernel has a place of its own, but
 *   - a column with a prime (m'), which is in registers while a line or two need it;
 *   - a value that takes the place of another: what a line sets takes the place of a value of its shape that nothing
 *     reads any more (of d and d_v the larger counts). A product that the line makes needs a place while what the line
 *     reads is there. What is loaded has a place of its own: it may come early.
 * So P takes the place of S, and m and l have two values a row; of a backward pass the sums for dQ take that of dO.
 *
 * Counted as the papers do: whole tiles in the data type, columns in fp32. What a `launch` says is counted too: the
 * places as a block has stages, two of what is made a step ahead, and none for what lives in registers.
 * Not counted: padding against bank conflicts. */
#ifndef TILEWALK_SIM_ALGORITHMS_SRAM_H
#define TILEWALK_SIM_ALGORITHMS_SRAM_H

#include "sim/algorithms/program.h"
#include "sim/problem/plan.h"

/* Sizes of tiles. */
typedef struct {
  int64_t B_r, B_c, d, d_v;
  int element_bytes;
  bool v_in_k;                 /* V has no tile of its own */
  const ProgramLaunch *launch; /* of every kernel, such as a description's; NULL: as the program says */
} SramSizes;

typedef struct {
  Wide of[VALUES_MAX];                      /* bytes of the places of each of Program.tensors */
  Wide inputs, accumulators, columns;       /* tiles of inputs, other tiles, and columns that are no inputs */
  Wide bytes;                               /* their sum */
  Wide in_registers[VALUES_MAX], registers; /* besides: of what a launch puts there, in fp32; their sum */
  int kernel;                               /* that needs most */
} SramBudget;

/* The name whose place a name has in a kernel: its own, or another's; -1: none. */
static inline int sram_place(const Program *p, int kernel, int name) { return (int)p->places[kernel][name] - 1; }

SramBudget sram_budget_of_kernel(const Program *program, int kernel, const SramSizes *sizes);

/* Of the kernel that needs most. */
SramBudget sram_budget(const Program *program, const SramSizes *sizes);

/* The largest B with B_r = B_c = B whose budget is at most capacity_bytes; 0 when even one row is too much. At most
 * PLAN_MAX_BLOCK. B_r and B_c of sizes say nothing. */
int64_t sram_max_block(const Program *program, const SramSizes *sizes, Wide capacity_bytes);

/* Finds the places of a program that has just been read. */
void sram_find_places(Program *program);

#endif
