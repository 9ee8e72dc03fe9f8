/* The answer to a question: one ordered list of named figures, FIGURES. Every view of a run is a list of their paths.
 *
 *     Problem, Schedule, Gpu -> simulation_answer() -> Simulation -> figure_of(run, figure_row("hbm.total_bytes"))
 *
 * A path is where the figure stands in `sim --json`. A figure is added by its row, and JSON, lessons and `sweep
 * --metric PATH` have it then. A row knows where its figure comes from, because who derives it does. */
#ifndef TILEWALK_SIM_ANSWER_FIGURE_H
#define TILEWALK_SIM_ANSWER_FIGURE_H

#include "sim/simulate.h"

typedef enum {
  UNIT_NONE = 0, /* of a row: it opens the figures whose paths begin with its own */
  UNIT_COUNT,
  UNIT_BYTES,
  UNIT_SECONDS,
  UNIT_FLOPS,
  UNIT_FLOP_RATE,
  UNIT_RATE,  /* for each of something */
  UNIT_RATIO, /* a plain factor */
  UNIT_SHARE, /* of one */
  UNIT_WORD,
  UNIT_FLAG
} FigureUnit;

/* Where a figure comes from: the weakest of what went in. What is asked is the user's. */
typedef enum {
  KIND_LAW = 0, /* counted by a closed form: exact */
  KIND_WALK,    /* by the model of L2 */
  KIND_DATASHEET,
  KIND_PREDICTED,
  KIND_EXTRAPOLATED,
  KIND_BOUND,
  KIND_ASKED,
  KIND_BEHIND_L2, /* in a row: of a run it is KIND_WALK, KIND_LAW without L2, or KIND_BOUND where L2 is not modelled */
  KIND_TIME       /* in a row: as the run's time */
} FigureKind;

typedef enum { NEED_NOTHING = 0, NEED_L2, NEED_LAUNCH, NEED_CHIPLETS, NEED_TIME, NEED_LINKS } FigureNeed;

/* Whether a run has a figure: ABSENT has no key in JSON, NULL has null. */
typedef enum { IS_ABSENT = 0, IS_NULL, IS_WHOLE, IS_REAL, IS_TEXT, IS_FLAG } FigureIs;

typedef struct Figure {
  FigureIs is;
  Wide whole;
  double real;
  const char *text; /* lives as long as the run */
  bool flag;
  const char *member; /* of a row for each tensor: its name */
} Figure;

typedef struct FigureRow {
  const char *path; /* "sram.bytes"; "traffic.read.*" is a figure for each tensor */
  FigureUnit unit;
  FigureKind kind;
  void (*of)(const Simulation *run, const struct FigureRow *row, int member, Figure *figure);
  size_t at;       /* of a field that `of` reads */
  const char *why; /* one sentence, which an axis of a chart has too */
} FigureRow;

extern const FigureRow FIGURES[]; /* in JSON's order; ends with a row of zeros */

/* What its group is there for: "l2", "launch", ... */
FigureNeed figure_needs(const FigureRow *row);

/* Resolved once, not for each run. NULL: there is no such path. */
const FigureRow *figure_row(const char *path);

int figure_members(const Simulation *run, const FigureRow *row); /* 1 of a row for no tensors */
Figure figure_of(const Simulation *run, const FigureRow *row, int member);
Figure figure_named(const Simulation *run, const FigureRow *row, const char *member);

/* A number of any unit; NAN where there is none. */
double figure_number(const Figure *figure);
static inline double figure_value(const Simulation *run, const FigureRow *row) {
  const Figure figure = figure_of(run, row, 0);
  return figure_number(&figure);
}

FigureKind figure_kind(const Simulation *run, const FigureRow *row);

/* Whether a ratio of the two runs' figures means anything: of the same task; of times, as timing_comparable, and at
 * peak rates only where every SM has a CTA. */
bool figure_comparable(const Simulation *a, const Simulation *b, const FigureRow *row);

#endif
