/* A rung and a shape: whether it takes it, in which blocks, and all that it then reads and writes. Where that lies is
 * the caller's: in a GPU's memory (harness.cu), or in that of the PTX machine (run_on_cpu.cpp). */
#ifndef TILEWALK_KERNELS_LIB_PROBLEM_H
#define TILEWALK_KERNELS_LIB_PROBLEM_H

#include "kernels/lib/verify_backward.h"

const Rung *rung_find(const Rung *const *rungs, int n_rungs, const char *name); /* NULL: none */

/* Of the sizes and blocks that the rung lists. */
bool rung_takes_d(const Rung &rung, int64_t d);
bool rung_takes_block(const Rung &rung, Block block);

/* The block that is asked for, where the rung has a choice; zero: its default. */
Block rung_block(const Rung &rung, Block asked, int64_t d, Dtype dtype);

static inline Tiling tiling_of(Block b) { return {b.B_r, b.B_c, b.n_splits, false, false}; }

Attention attention_of(const Shape &shape); /* its sizes alone */

/* What a rung reads and writes; those that it does not need have no bytes. */
enum ProblemPiece {
  PIECE_Q,
  PIECE_K,
  PIECE_V,
  PIECE_O,
  PIECE_S,
  PIECE_P,
  PIECE_M,
  PIECE_L,
  PIECE_COUNTS,
  PIECE_O_PARTS,
  PIECE_L_PARTS,
  PIECE_PAGES,
  PIECE_dO,
  PIECE_SUMS,
  PIECE_dQ,
  PIECE_dK,
  PIECE_dV,
  PIECE_STATISTICS,
  PIECE_dQ_SUMS,
  N_PIECES
};

struct Problem {
  Attention a;
  More more;
  struct {
    const char *name;
    void **pointer; /* in `a` or `more`; the caller sets it */
    size_t bytes;
    const void *given; /* what it holds at first; NULL: nothing, or numbers that the caller chooses */
  } pieces[N_PIECES];

  /* inputs, training: NULL where nothing is verified; they outlive the problem. */
  Problem(const Rung &rung, const Shape &shape, Block block, const Inputs *inputs, const Training *training);
  Problem(const Problem &) = delete;
  Problem &operator=(const Problem &) = delete;

private:
  /* K and V in pages, in an order that is not theirs; what no key fills is NaN. */
  std::vector<int> table;
  std::vector<unsigned char> K_pages, V_pages;
  Counts counts = {};
};

/* Is what the kernel left right? left: of the rung's results, O, or dQ, dK and dV. */
Verdict problem_verdict(const Rung &rung, const Shape &shape, const Inputs &inputs, const Training &training,
                        const void *const left[3], int64_t row_step);

#endif
