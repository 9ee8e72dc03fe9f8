/* Where things lie in an Attention's block of memory. Private to sim/attention*.c. */
#ifndef TILEWALK_SIM_ATTENTION_PARTS_H
#define TILEWALK_SIM_ATTENTION_PARTS_H

#include "sim/numbers/attention.h"

enum { STATS_PER_ROW = 2 };

static inline double *part(Attention *a, AttentionPart which) {
  return (double *)(void *)((char *)a + a->offset[which]);
}

static inline const double *const_part(const Attention *a, AttentionPart which) {
  return (const double *)(const void *)((const char *)a + a->offset[which]);
}

static inline AttentionRow *row_of(Attention *a, int64_t row) {
  return (AttentionRow *)(void *)part(a, AT_SRAM_ROWS) + (row - a->rows.begin);
}

/* Rows of the parts, by their number in the whole matrix. */

static inline double *O_row(Attention *a, int64_t row) {
  return part(a, AT_SRAM_O) + (row - a->rows.begin) * a->plan.shape.d;
}
static inline double *O_loaded_row(Attention *a, int64_t row) {
  return part(a, AT_SRAM_O_LOADED) + (row - a->rows.begin) * a->plan.shape.d;
}
/* Whether a load or store of O or statistics is about a part that the last pass combines. */
static inline bool is_of_part(const Attention *a, const Event *e) {
  return a->n_parts > 0 && (e->kind == EVENT_LOAD || e->pass < a->last_pass);
}

static inline double *O_in_hbm(Attention *a, const Event *e, int64_t row) {
  const int64_t d = a->plan.shape.d;
  if (!is_of_part(a, e)) return part(a, AT_O) + row * d;
  return part(a, AT_PART_O) + (e->split * a->plan.shape.N_q + row) * d;
}
static inline double *stats_in_hbm(Attention *a, const Event *e, int64_t row) {
  if (!is_of_part(a, e)) return part(a, AT_STATS) + row * STATS_PER_ROW;
  return part(a, AT_PART_LSE) + e->split * a->plan.shape.N_q + row;
}
static inline double *lse_in_sram(Attention *a, int64_t row, int64_t split) {
  return part(a, AT_SRAM_LSE) + split * a->B_r + (row - a->rows.begin);
}

/* SRAM holds the S of one tile; of a whole row of tiles where S is kept in HBM. */
static inline int64_t S_width(const Attention *a) { return a->length[AT_S] ? a->plan.shape.N_k : a->B_c; }
static inline int64_t S_first(const Attention *a) { return a->length[AT_S] ? 0 : a->S_cols.begin; }
static inline double *S_at(Attention *a, int64_t row, int64_t col) {
  return part(a, AT_SRAM_S) + (row - a->rows.begin) * S_width(a) + (col - S_first(a));
}
static inline double *P_at(Attention *a, int64_t row, int64_t col) {
  return part(a, AT_SRAM_P) + (row - a->rows.begin) * a->B_c + (col - a->P_cols.begin);
}
static inline double *score_in_hbm(Attention *a, AttentionPart which, int64_t row, int64_t col) {
  return part(a, which) + row * a->plan.shape.N_k + col;
}

static inline Precision accumulator_of(const Attention *a) {
  return precision_accumulator(a->config.softmax.precision);
}

#endif
