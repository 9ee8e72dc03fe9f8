/* What `tilewalk crosscheck` found: one line per kernel, shape and quantity, and how they are printed. */
#ifndef TILEWALK_VIZ_CLI_CROSSCHECK_H
#define TILEWALK_VIZ_CLI_CROSSCHECK_H

#include "kernels/counters/compare.h"
#include "viz/cli/command.h"
#include "viz/cli/request.h"

typedef struct {
  char kernel[64];
  Shape shape;
  Tiling tiling;
  const char *quantity;
  CompareKind kind;
  bool must_hold, holds;
  uint64_t low, high, measured;
  double error;
} CrosscheckItem;

typedef struct {
  CrosscheckItem *items;
  size_t n_items, capacity;
  size_t n_runs;
  bool is_bad; /* a quantity that must be exact is not */
} Crosscheck;

void crosscheck_free(Crosscheck *crosscheck);
Status crosscheck_add(Crosscheck *crosscheck, const CrosscheckItem *item, Error *error);

/* Compares a row of counters and adds what comes of it. */
Status crosscheck_add_row(Crosscheck *crosscheck, const CounterRow *row, const KernelModel *model, const Shape *shape,
                          const Tiling *tiling, Error *error);

/* Prints the runs (if `details`) and a line per quantity, as text, CSV or JSON. `title`: where the measurements are from. */
Status crosscheck_print(const Crosscheck *crosscheck, const char *title, bool details, const OutputRequest *output, Io *io,
                        Error *error);

#endif
