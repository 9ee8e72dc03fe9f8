/* What `tilewalk crosscheck` found: one item per kernel, shape and quantity. Laws (what must be equal, what must lie in
 * a range: kernels/counters/compare.h) come first, then predictions with a band (kernels/counters/predict.h).
 *
 *     items  ->  one table for people: a line for each, or for each quantity where runs are many
 *            ->  the likeliest causes of what differs, under it
 *            ->  CSV and JSON, item by item; tables of sim/l2/MODEL.md */
#ifndef TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_H
#define TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_H

#include "kernels/counters/explain.h"
#include "kernels/counters/predict.h"

#include "viz/document/document.h"
#include "viz/request/request.h"

enum { CROSSCHECK_LONG_N = 4096 }; /* below, HBM is read for instructions and parameters as much as for K and V */

typedef struct {
  char kernel[64];
  Shape shape;
  Tiling tiling;
  const char *quantity;
  bool is_range, must_hold, holds;
  double low, high, measured;
  double error;
  bool is_prediction; /* of `predicted`, with its unit and band; low = high */
  PredictedQuantity predicted;
} CrosscheckItem;

/* One quantity over some runs; errors are absolute but for the signed one. */
typedef struct {
  const char *quantity;
  size_t n, n_exact, n_holding;
  double median, worst, median_signed;
  const CrosscheckItem *where; /* the worst */
  bool must_hold, is_range;
} CrosscheckSummary;

/* The predictions of one kernel with one mask (kernel NULL: of all) for min_N queries or more and fewer than max_N. */
typedef struct {
  const char *kernel;
  bool causal;
  int64_t min_N, max_N;
  size_t n;
  CrosscheckSummary quantities[PREDICT_COUNT];
} CrosscheckGroup;

/* Why the counts of one run differ. */
typedef struct {
  size_t n_run; /* which one */
  char kernel[64], run[160];
  Cause causes[CAUSES_MAX];
  int n_causes;
} CrosscheckWhy;

enum { CROSSCHECK_NOTES_MAX = 24, CROSSCHECK_WHY_MAX = 64 };

typedef struct {
  CrosscheckItem *items;
  size_t n_items, capacity, errors_capacity;
  double *errors;         /* room for those of all items */
  bool explains;          /* look for causes where something differs */
  ExplainContext context; /* of the row that comes next */
  CrosscheckWhy *why;     /* CROSSCHECK_WHY_MAX at most */
  size_t n_why;
  char notes[CROSSCHECK_NOTES_MAX][320]; /* what the file said, and what contradicts the options */
  int n_notes;
  char title[200];              /* where the counts are from */
  char gpu[REQUEST_NAME_BYTES]; /* whose description predicts them: by the file, or as asked */
  size_t n_runs;
  bool samples; /* predictions are those of a sample */
  bool on_h100; /* the rows that come next: rungs 8 to 11, of which the boundary alone is judged, in its own lines */
  bool is_bad;  /* a quantity that must be exact is not */
} Crosscheck;

void crosscheck_free(Crosscheck *crosscheck);
CrosscheckItem crosscheck_item(const char *kernel, const Shape *shape, const Tiling *tiling, const char *quantity);
Status crosscheck_add(Crosscheck *crosscheck, const CrosscheckItem *item, Error *error);

/* A line for people; the same one once. */
void crosscheck_note(Crosscheck *crosscheck, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A range wider than 10 x, in which the count lies, says nothing. */
bool crosscheck_says_nothing(const CrosscheckItem *item);

/* Compares a row of counters and adds what comes of it. */
Status crosscheck_add_row(Crosscheck *crosscheck, const CounterRow *row, const KernelModel *model, const Shape *shape,
                          const Tiling *tiling, Error *error);

/* Causes for the last row, behind those that it has; no more than CAUSES_MAX are kept. */
Status crosscheck_add_causes(Crosscheck *crosscheck, const CounterRow *row, const Shape *shape, const Tiling *tiling,
                             const Cause *causes, int n_causes, Error *error);

/* Lays a prediction beside a row of counters and adds what both know. */
Status crosscheck_add_predictions(Crosscheck *crosscheck, const CounterRow *row, const Shape *shape,
                                  const Tiling *tiling, const Prediction *prediction, Error *error);

/* "N 4096 d 64 heads 4/4 fp16 causal 128x128" */
void crosscheck_shape_text(const Shape *shape, const Tiling *tiling, char *text, size_t size);

/* Fills the document; of many runs people get a line for each quantity, and with details one for each of each run. */
Status crosscheck_fill(Document *document, const Crosscheck *crosscheck, Error *error);

/* ---- crosscheck_predictions.c: predictions over all runs ---- */

/* Of the laws that go by summary->quantity, or of its predictions in a group. */
void crosscheck_summarise(const Crosscheck *crosscheck, const CrosscheckGroup *group, CrosscheckSummary *summary);

/* Groups in the order of their first runs, by kernel, without a mask and with one, of runs from CROSSCHECK_LONG_N on;
 * the last two are of all of those, and of all that are shorter. The same groups also of one item for each run and
 * quantity, but for times: the means of its recordings, and of what is predicted for the cards that they are from.
 * Where tensors lie, and which card it is, is luck; means tell the model's errors from it. */
enum { CROSSCHECK_GROUPS_MAX = 64 };
typedef struct {
  CrosscheckGroup groups[CROSSCHECK_GROUPS_MAX + 2], of_means[CROSSCHECK_GROUPS_MAX + 2];
  size_t n;
  CrosscheckGroup spread; /* how far recordings of a run are from their median: what no model can get below */
  Crosscheck means, deviations;
} CrosscheckSummaries;

/* Released by crosscheck_summaries_free, after an error too. */
Status crosscheck_summaries(const Crosscheck *crosscheck, CrosscheckSummaries *summaries, Error *error);
void crosscheck_summaries_free(CrosscheckSummaries *summaries);

/* The predictions' part of crosscheck_fill for JSON, and as Markdown. */
void crosscheck_put_predictions(Document *document, const CrosscheckSummaries *summaries, const char *gpu);
Status crosscheck_print_markdown(const Crosscheck *crosscheck, FILE *out, Error *error);

#endif
