/* tilewalk sim --roofline: how fast a machine lets each run be, and what stops it, as table, plot, JSON,
 * CSV or chart. */
#include <math.h>

#include "viz/document/figure_lines.h"
#include "viz/cli/command.h"
#include "viz/cli/run_tables.h"
#include "viz/cli/program_notes.h"
#include "viz/chart/algorithm_ink.h"

typedef struct {
  Request request;
  OutputRequest output;
  ChartRequest chart;
} RooflineOptions;

/* Everything that is shown. Levels are those whose bandwidth is known and that lie behind the SRAM: HBM, L2. */
typedef struct {
  const Request *request;
  Gpu gpu;
  Dtype dtype;
  Simulation runs[REQUEST_ALGORITHMS_MAX];
  int n_runs;
  TimePart levels[2];
  int n_levels;
  double peak_flops_per_s; /* of the products; 0: not known */
  double exp_ceiling_flops_per_s;
} Roofline;

static double intensity(const Roofline *r, int run, TimePart level) {
  static const char *const PATHS[] = {[TIME_HBM] = "time.hbm_flops_per_byte", [TIME_L2] = "time.l2_flops_per_byte"};
  return figure_value(&r->runs[run], figure_row(PATHS[level]));
}

static double attainable(const Roofline *r, int run) {
  return figure_value(&r->runs[run], figure_row("time.attainable_flop_rate"));
}

static const char *bottleneck(const Timing *t) { return timing_term_title(timing_term(&t->run)); }

static double roof(const Roofline *r, TimePart level, double flops_per_byte) {
  const double from_memory = flops_per_byte * timing_rate(&r->gpu, level, r->dtype);
  return r->peak_flops_per_s > 0 ? fmin(from_memory, r->peak_flops_per_s) : from_memory;
}

static Status compute(Roofline *r, Request *request, Error *error) {
  Problem problem;
  Status status = request_algorithms(request, REQUEST_COMPARED, error);
  if (!status) status = request_problem(request, &problem, &r->gpu, error);
  if (!status) status = question_has_effect(request, &r->gpu, error);
  if (status) return status;
  r->request = request;
  r->dtype = problem.shape.dtype;
  r->n_runs = request->n_algorithms;
  for (int k = 0; k < r->n_runs; k++) {
    status = simulation_answer(&r->runs[k], &problem, request->algorithms[k], &r->gpu, error);
    if (status) return status;
  }
  r->levels[r->n_levels++] = TIME_HBM;
  if (timing_rate(&r->gpu, TIME_L2, r->dtype) > 0) r->levels[r->n_levels++] = TIME_L2;
  r->peak_flops_per_s = timing_rate(&r->gpu, TIME_MATH, r->dtype);
  r->exp_ceiling_flops_per_s = timing_exp_ceiling_flops_per_s(&r->gpu, problem.shape.d, problem.shape.d_v);
  return STATUS_OK;
}

/* ---- Chart ---------------------------------------------------------------------------------------- */

/* The stretch of the x axis: all marks and ridges, and some more on either side. */
static void span(const Roofline *r, double *low, double *high) {
  *low = INFINITY;
  *high = 0;
  for (int l = 0; l < r->n_levels; l++) {
    const double ridge = timing_ridge(&r->gpu, r->levels[l], r->dtype);
    if (ridge > 0) *low = fmin(*low, ridge), *high = fmax(*high, ridge);
    for (int k = 0; k < r->n_runs; k++) {
      const double x = intensity(r, k, r->levels[l]);
      *low = fmin(*low, x), *high = fmax(*high, x);
    }
  }
  *low /= 4;
  *high *= 2;
}

static void add_roof(Chart *chart, const Roofline *r, TimePart level, double low, double high) {
  char name[160];
  snprintf(name, sizeof name, "%s, %s", timing_term_title(level),
           number_si(timing_rate(&r->gpu, level, r->dtype), "B/s").text);
  chart_series(chart, name, level == TIME_HBM ? INK_PURPLE : INK_BROWN, SERIES_REFERENCE);
  chart_point(chart, low, roof(r, level, low));
  const double ridge = timing_ridge(&r->gpu, level, r->dtype);
  const double end = ridge > 0 ? fmin(fmax(ridge, low), high) : high;
  chart_point(chart, end, roof(r, level, end));
}

/* Each algorithm at what it can reach: one marker for each level, at the FLOPs for each byte that crosses it. */
static void add_runs(Chart *chart, const Roofline *r) {
  for (int k = 0; k < r->n_runs; k++) {
    char name[96];
    snprintf(name, sizeof name, "%s, limited by %s", r->request->algorithms[k]->name, bottleneck(&r->runs[k].timing));
    chart_series(chart, name, algorithm_ink(r->request->algorithms[k]), r->n_levels > 1 ? SERIES_LINE : SERIES_POINTS);
    for (int l = r->n_levels - 1; l >= 0; l--) chart_point(chart, intensity(r, k, r->levels[l]), attainable(r, k));
  }
}

static Chart make_chart(const Roofline *r) {
  char state[REQUEST_STATE_BYTES], title[160], subtitle[640], problem[512], ceiling[160];
  run_tables_problem(&r->runs[0], problem, sizeof problem);
  snprintf(title, sizeof title, "Roofline: %s", r->gpu.product);
  snprintf(subtitle, sizeof subtitle, "%s; %s", problem,
           r->n_levels > 1 ? "marks: left by bytes from L2, right from HBM" : "bytes across the SRAM boundary");
  double low, high;
  span(r, &low, &high);
  Chart chart = chart_new(&(ChartConfig){
      .title = title,
      .subtitle = subtitle,
      .footer = question_state(r->request, state),
      .x = {.title = "FLOPs for each byte moved", .kind = VALUE_NUMBER, .log = true, .low = low, .high = high},
      .y = {.title = "attainable FLOP/s", .kind = VALUE_FLOP_RATE, .log = true}});
  add_runs(&chart, r);
  for (int l = 0; l < r->n_levels; l++) add_roof(&chart, r, r->levels[l], low, high);
  if (r->peak_flops_per_s > 0) {
    snprintf(ceiling, sizeof ceiling, "%s products, %s", dtype_name(r->dtype),
             number_si(r->peak_flops_per_s, "FLOP/s").text);
    chart_horizontal(&chart, r->peak_flops_per_s, ceiling);
  }
  if (r->peak_flops_per_s == 0 || r->exp_ceiling_flops_per_s < 0.8 * r->peak_flops_per_s) {
    snprintf(ceiling, sizeof ceiling, "exponentials, %s", number_si(r->exp_ceiling_flops_per_s, "FLOP/s").text);
    chart_horizontal(&chart, r->exp_ceiling_flops_per_s, ceiling);
  }
  return chart;
}

/* ---- Table ---------------------------------------------------------------------------------------- */

static const char COLUMNS[] =
    "algorithm=algorithm@algorithm|FLOPs a byte[HBM]>=hbm_flops_per_byte@time.hbm_flops_per_byte|"
    "FLOPs a byte[L2]>=l2_flops_per_byte@time.l2_flops_per_byte|"
    "attainable>=attainable_flops_per_s@*time.attainable_flop_rate|@time.of_peak|limited by=bound@time.bound|"
    "at peak rates>=bound_s@time.bound_s|=least_s@time.least_s|predicted>=predicted_s@time.predicted_s|"
    "=kind;time_is@time.kind|=seconds@time.seconds";

static void add_notes(Table *t, const Roofline *r) {
  for (int l = 0; l < r->n_levels; l++) {
    const double ridge = timing_ridge(&r->gpu, r->levels[l], r->dtype);
    if (ridge > 0)
      table_note(t, "Below %s FLOPs for each byte from %s, %s at %s binds; above, the %s products at %s.",
                 number_double(ridge, 4).text, timing_term_title(r->levels[l]), timing_term_title(r->levels[l]),
                 number_si(timing_rate(&r->gpu, r->levels[l], r->dtype), "B/s").text, dtype_name(r->dtype),
                 number_si(r->peak_flops_per_s, "FLOP/s").text);
  }
  if (r->runs[0].timing.computes_in != r->dtype)
    table_note(t, "%s has no %s products: %s is storage only, computed in %s.", r->gpu.name, dtype_name(r->dtype),
               dtype_name(r->dtype), dtype_name(r->runs[0].timing.computes_in));
  if (r->peak_flops_per_s == 0)
    table_note(t, "The peak rate of %s products is not known for %s, so they are left out.", dtype_name(r->dtype),
               r->gpu.name);
  table_note(t, "One exponential for each %.0f FLOPs: they allow %s.", simulation_pair_flops(&r->runs[0].plan.shape),
             number_si(r->exp_ceiling_flops_per_s, "FLOP/s").text);
  if (r->n_levels > 1) table_note(t, "HBM: what the walk through L2 leaves for it; L2: all that SMs ask for.");
  table_note(t, "An upper bound on FLOP/s: peak rates, all of it overlapping, and the SM with most work by itself.");
}

/* ---- The document --------------------------------------------------------------------------------- */

static double known(double rate) { return rate > 0 ? rate : (double)NAN; }

static void fill(Document *d, const Roofline *r) {
  char problem[512];
  const ReportSink sink = document_sink(d);
  report_shape(&sink, "shape", &r->runs[0]);
  put_values(d, "gpu:s peak_flops_per_s:f exp_ceiling_flops_per_s:f levels[", r->gpu.name, known(r->peak_flops_per_s),
             r->exp_ceiling_flops_per_s);
  for (const TimePart *level = r->levels; level < r->levels + r->n_levels; level++)
    put_values(d, "{level:s bytes_per_s:f ridge_flops_per_byte:f}", timing_term_key(*level),
               timing_rate(&r->gpu, *level, r->dtype), known(timing_ridge(&r->gpu, *level, r->dtype)));
  put_end(d);
  FigureTable runs;
  figure_table(&runs, d, DOCUMENT_ALL, "runs", COLUMNS, NULL);
  Table *t = runs.table;
  run_tables_problem(&r->runs[0], problem, sizeof problem);
  int best = 0;
  for (int k = 1; k < r->n_runs; k++)
    if (attainable(r, k) > attainable(r, best)) best = k;
  table_title(t, "%s reaches %s at best, limited by %s.\n\nRoofline: %s", r->request->algorithms[best]->title,
              number_si(attainable(r, best), "FLOP/s").text, bottleneck(&r->runs[best].timing), problem);
  for (int k = 0; k < r->n_runs; k++) figure_cells(&runs, &r->runs[k]);
  add_notes(t, r);
  if (!document_shows_charts(d)) return;
  if (d->form == DOCUMENT_TEXT && !d->details) {
    table_note(t, "Next: -o FILE.svg draws it; --details plots it here.");
    return;
  }
  document_gap(d);
  Chart chart = make_chart(r);
  document_chart(d, &chart);
}

/* ---- The command ---------------------------------------------------------------------------------- */

static Status answer(void *options, Document *d, Io *io, Error *error) {
  Request *request = &((RooflineOptions *)options)->request;
  Roofline *r = calloc(1, sizeof *r);
  if (!r) return error_no_memory(error, "for a roofline");
  Status status = compute(r, request, error);
  if (!status) fill(d, r);
  if (!status) status = layer_note(request, io, error);
  if (!status) program_notes(request->algorithms, request->n_algorithms, io);
  free(r);
  return status;
}

static const OptionSet SETS[] = {
    QUESTION_OPTION_SETS(RooflineOptions, request),
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(RooflineOptions, output)},
    {"Chart", OUTPUT_FILE_OPTIONS, offsetof(RooflineOptions, output)},
    {"Picture", CHART_OPTIONS, offsetof(RooflineOptions, chart)},
    {0},
};

const Command COMMAND_ROOFLINE = {
    .name = "sim --roofline",
    .old = "roofline",
    .summary = "how fast a GPU lets each algorithm be, and what stops it",
    .usage = "[--gpu NAME|FILE] [OPTION...] [-o FILE.png|.svg|.pdf]",
    .description = "Draws the roofline of a machine: at few FLOPs for each byte its memory binds, at many its "
                   "arithmetic, and where the two meet is the ridge. Each algorithm stands at the FLOPs it does for "
                   "each byte it moves and at the FLOP/s that the machine allows it. With L2 it stands there twice, "
                   "because most bytes come from L2 and few from HBM. Without -o a plot and a table are printed; with "
                   "-o the chart is drawn and nothing is printed.",
    .examples = "  # the papers' machine: standard attention is bound by memory\n"
                "  tilewalk sim --roofline -N 4096 -d 128 --block 128\n\n"
                "  # a GPU with L2, many heads, as a picture\n"
                "  tilewalk sim --roofline --gpu h200 -N 16K --heads 16 --algorithm standard,fa2 -o roofline.svg\n\n"
                "  # decode: one query over a long cache\n"
                "  tilewalk sim --roofline --gpu h100-sxm -N 1 --seq-len-k 32K --heads 32 --algorithm fa2-split\n",
    .options_bytes = sizeof(RooflineOptions),
    .sets = SETS,
    .answer = answer,
};
