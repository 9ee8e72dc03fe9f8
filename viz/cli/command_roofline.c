/* tilewalk sim --roofline: how fast a machine lets each run be, and what stops it, as table, plot, JSON,
 * CSV or chart. */

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

/* Everything that is shown. */
typedef struct {
  const Request *request;
  Gpu gpu;
  Dtype dtype;
  Simulation runs[REQUEST_ALGORITHMS_MAX];
  int n_runs, n_levels;
  double peak_flops_per_s; /* of the products; 0: not known */
  double exp_ceiling_flops_per_s;
} Roofline;

/* Levels behind the SRAM: HBM, and L2 where its bandwidth is known. */
static const TimePart LEVELS[] = {TIME_HBM, TIME_L2};

static double rate(const Roofline *r, int level) { return timing_rate(&r->gpu, LEVELS[level], r->dtype); }
static double ridge(const Roofline *r, int level) { return timing_ridge(&r->gpu, LEVELS[level], r->dtype); }

static double intensity(const Roofline *r, int run, int level) {
  static const char *const PATHS[] = {"time.hbm_flops_per_byte", "time.l2_flops_per_byte"};
  return figure_value(&r->runs[run], figure_row(PATHS[level]));
}

static double attainable(const Roofline *r, int run) {
  return figure_value(&r->runs[run], figure_row("time.attainable_flop_rate"));
}

static const char *bottleneck(const Roofline *r, int run) {
  return timing_term_title(timing_term(&r->runs[run].timing.run));
}

/* ---- Chart ---------------------------------------------------------------------------------------- */

/* The stretch of the x axis: all marks and ridges, and some more on either side. */
static void span(const Roofline *r, double *low, double *high) {
  *low = INFINITY;
  *high = 0;
  for (int l = 0; l < r->n_levels; l++)
    for (int k = -1; k < r->n_runs; k++) {
      const double x = k < 0 ? ridge(r, l) : intensity(r, k, l);
      if (k >= 0 || x > 0) *low = fmin(*low, x), *high = fmax(*high, x);
    }
  *low /= 4;
  *high *= 2;
}

static void add_roof(Chart *chart, const Roofline *r, int level, double low, double high) {
  char name[160];
  const double peak = r->peak_flops_per_s > 0 ? r->peak_flops_per_s : INFINITY, at = ridge(r, level);
  const double ends[] = {low, at > 0 ? fmin(fmax(at, low), high) : high};
  snprintf(name, sizeof name, "%s, %s", timing_term_title(LEVELS[level]), number_si(rate(r, level), "B/s").text);
  chart_series(chart, name, level ? INK_BROWN : INK_PURPLE, SERIES_REFERENCE);
  for (int k = 0; k < 2; k++) chart_point(chart, ends[k], fmin(ends[k] * rate(r, level), peak));
}

/* Each algorithm at what it can reach: one marker for each level, at the FLOPs for each byte that crosses it. */
static void add_runs(Chart *chart, const Roofline *r) {
  for (int k = 0; k < r->n_runs; k++) {
    char name[96];
    const Schedule *algorithm = r->runs[k].schedule;
    snprintf(name, sizeof name, "%s, limited by %s", algorithm->name, bottleneck(r, k));
    chart_series(chart, name, algorithm_ink(algorithm), r->n_levels > 1 ? SERIES_LINE : SERIES_POINTS);
    for (int l = r->n_levels - 1; l >= 0; l--) chart_point(chart, intensity(r, k, l), attainable(r, k));
  }
}

static void add_ceiling(Chart *chart, double flops_per_s, const char *what) {
  chart_horizontal(chart, flops_per_s, number_text("%s, %s", what, number_si(flops_per_s, "FLOP/s").text).text);
}

static Chart make_chart(const Roofline *r) {
  char state[REQUEST_STATE_BYTES], title[160], subtitle[640], problem[512];
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
  for (int l = 0; l < r->n_levels; l++) add_roof(&chart, r, l, low, high);
  if (r->peak_flops_per_s > 0)
    add_ceiling(&chart, r->peak_flops_per_s, number_text("%s products", dtype_name(r->dtype)).text);
  if (r->peak_flops_per_s == 0 || r->exp_ceiling_flops_per_s < 0.8 * r->peak_flops_per_s)
    add_ceiling(&chart, r->exp_ceiling_flops_per_s, "exponentials");
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
    const char *level = timing_term_title(LEVELS[l]);
    if (ridge(r, l) > 0)
      table_note(t, "Below %s FLOPs for each byte from %s, %s at %s binds; above, the %s products at %s.",
                 number_double(ridge(r, l), 4).text, level, level, number_si(rate(r, l), "B/s").text,
                 dtype_name(r->dtype), number_si(r->peak_flops_per_s, "FLOP/s").text);
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
  for (int l = 0; l < r->n_levels; l++)
    put_values(d, "{level:s bytes_per_s:f ridge_flops_per_byte:f}", timing_term_key(LEVELS[l]), rate(r, l),
               known(ridge(r, l)));
  put_end(d);
  FigureTable runs;
  figure_table(&runs, d, DOCUMENT_ALL, "runs", COLUMNS, NULL);
  Table *t = runs.table;
  run_tables_problem(&r->runs[0], problem, sizeof problem);
  int best = 0;
  for (int k = 1; k < r->n_runs; k++)
    if (attainable(r, k) > attainable(r, best)) best = k;
  table_title(t, "%s reaches %s at best, limited by %s.\n\nRoofline: %s", r->runs[best].schedule->title,
              number_si(attainable(r, best), "FLOP/s").text, bottleneck(r, best), problem);
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

static Status compute(Roofline *r, Request *request, Error *error) {
  Problem problem;
  Status status = request_asked(request, REQUEST_COMPARED, &problem, &r->gpu, error);
  if (status) return status;
  r->request = request;
  r->dtype = problem.shape.dtype;
  for (; r->n_runs < request->n_algorithms && !status; r->n_runs++)
    status = simulation_answer(&r->runs[r->n_runs], &problem, request->algorithms[r->n_runs], &r->gpu, error);
  r->n_levels = rate(r, 1) > 0 ? 2 : 1;
  r->peak_flops_per_s = timing_rate(&r->gpu, TIME_MATH, r->dtype);
  r->exp_ceiling_flops_per_s = timing_exp_ceiling_flops_per_s(&r->gpu, problem.shape.d, problem.shape.d_v);
  return status;
}

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
