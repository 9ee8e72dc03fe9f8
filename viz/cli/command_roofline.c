/* tilewalk roofline: how fast a machine lets each run be, and what stops it, as table, plot, JSON, CSV or chart. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report.h"
#include "viz/cli/command.h"
#include "viz/cli/json_sink.h"
#include "viz/request/request.h"
#include "viz/cli/run_tables.h"
#include "viz/cli/chart_file.h"
#include "viz/cli/program_notes.h"
#include "viz/chart/algorithm_ink.h"
#include "viz/text/number.h"
#include "viz/chart/plot.h"
#include "viz/text/table.h"

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

/* FLOPs for each byte that crosses the level. */
static double intensity(const Roofline *r, int run, TimePart level) {
  return simulation_roof(&r->runs[run], &r->gpu, level).flops_per_byte;
}

static double attainable(const Roofline *r, int run) {
  return simulation_roof(&r->runs[run], &r->gpu, TIME_HBM).flops_per_s;
}

static double roof(const Roofline *r, TimePart level, double flops_per_byte) {
  const double from_memory = flops_per_byte * timing_rate(&r->gpu, level, r->dtype);
  return r->peak_flops_per_s > 0 ? fmin(from_memory, r->peak_flops_per_s) : from_memory;
}

static Status compute(Roofline *r, Request *request, Error *error) {
  Problem problem;
  Status status = request_algorithms(request, REQUEST_COMPARED, error);
  if (!status) status = request_problem(request, &problem, &r->gpu, error);
  if (!status) status = request_has_effect(request, &r->gpu, error);
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

static double clamped(double x, double low, double high) { return fmin(fmax(x, low), high); }

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
  snprintf(name, sizeof name, "%s, %s", time_part_title(level),
           number_si(timing_rate(&r->gpu, level, r->dtype), "B/s").text);
  chart_series(chart, name, level == TIME_HBM ? INK_PURPLE : INK_BROWN, SERIES_REFERENCE);
  chart_point(chart, low, roof(r, level, low));
  const double ridge = timing_ridge(&r->gpu, level, r->dtype);
  const double end = ridge > 0 ? clamped(ridge, low, high) : high;
  chart_point(chart, end, roof(r, level, end));
}

/* Each algorithm at what it can reach: one marker for each level, at the FLOPs for each byte that crosses it. */
static void add_runs(Chart *chart, const Roofline *r) {
  for (int k = 0; k < r->n_runs; k++) {
    char name[96];
    snprintf(name, sizeof name, "%s, bound by %s", r->request->algorithms[k]->name,
             time_part_title(r->runs[k].timing.run.bound));
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
      .footer = request_state(r->request, state),
      .x = {.title = "FLOPs for each byte moved", .kind = VALUE_NUMBER, .log = true, .low = low, .high = high},
      .y = {.title = "FLOP/s at best", .kind = VALUE_FLOP_RATE, .log = true}});
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

static Status save_chart(const Roofline *r, const ChartRequest *how, const char *path, const Drawing *drawing,
                         Error *error) {
  char state[REQUEST_STATE_BYTES];
  Chart chart = make_chart(r);
  const Status status =
      drawing->chart(&chart, how, path, "Tilewalk: roofline", request_state(r->request, state), error);
  chart_free(&chart);
  return status;
}

/* ---- Table ---------------------------------------------------------------------------------------- */

static void cell_rate(Table *t, TextRole role, double flops_per_s) {
  char shown[NUMBER_CHARS], exact[NUMBER_CHARS];
  snprintf(shown, sizeof shown, "%s", number_si(flops_per_s, "FLOP/s").text);
  snprintf(exact, sizeof exact, "%s", number_exact_double(flops_per_s).text);
  table_pair(t, role, shown, exact);
}

static void add_rows(Table *t, const Roofline *r) {
  for (int k = 0; k < r->n_runs; k++) {
    const Timing *timing = &r->runs[k].timing;
    table_text(t, ROLE_PLAIN, r->request->algorithms[k]->name);
    table_double(t, ROLE_PLAIN, intensity(r, k, TIME_HBM), 4);
    if (r->n_levels > 1)
      table_double(t, ROLE_PLAIN, intensity(r, k, TIME_L2), 4);
    else
      table_empty(t, true);
    cell_rate(t, ROLE_ACCENT, attainable(r, k));
    if (r->peak_flops_per_s > 0)
      table_percent(t, ROLE_PLAIN, attainable(r, k) / r->peak_flops_per_s);
    else
      table_empty(t, true);
    table_text(t, ROLE_PLAIN, time_part_title(timing->run.bound));
    table_seconds(t, ROLE_PLAIN, timing->least_s);
    if (isnan(timing->predicted_s))
      table_empty(t, true);
    else
      table_seconds(t, ROLE_PLAIN, timing->predicted_s);
    table_text(t, ROLE_DIM, time_kind_name(timing->kind));
  }
}

static void add_notes(Table *t, const Roofline *r) {
  for (int l = 0; l < r->n_levels; l++) {
    const double ridge = timing_ridge(&r->gpu, r->levels[l], r->dtype);
    if (ridge > 0)
      table_note(t, "Below %s FLOPs for each byte from %s, %s at %s binds; above, the %s products at %s.",
                 number_double(ridge, 4).text, time_part_title(r->levels[l]), time_part_title(r->levels[l]),
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
  table_note(t, "An upper bound on FLOP/s: peak rates, all of it overlapping, and the busiest SM by itself.");
}

static Table make_table(const Roofline *r) {
  char problem[512];
  const TableColumn columns[] = {{.heading = "algorithm"},
                                 {.heading = "FLOPs a byte", .unit = "HBM", .csv = "hbm_flops_per_byte", .right = true},
                                 {.heading = "FLOPs a byte", .unit = "L2", .csv = "l2_flops_per_byte", .right = true},
                                 {.heading = "at best", .csv = "attainable_flops_per_s", .right = true},
                                 {.heading = "of the peak", .csv = "of_peak", .right = true},
                                 {.heading = "bottleneck", .csv = "bound"},
                                 {.heading = "least time", .csv = "least_s", .right = true},
                                 {.heading = "predicted", .csv = "predicted_s", .right = true},
                                 {.heading = "time is", .csv = "time_is"}};
  Table t = table_new(columns, (int)(sizeof columns / sizeof columns[0]));
  run_tables_problem(&r->runs[0], problem, sizeof problem);
  table_title(&t, "Roofline: %s", problem);
  add_rows(&t, r);
  add_notes(&t, r);
  return t;
}

static Status print_table(const Roofline *r, bool csv, Io *io, Error *error) {
  Table t = make_table(r);
  const Status status = csv ? table_csv(&t, io->out, error) : table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}

static Status print_plot(const Roofline *r, Io *io, Error *error) {
  Chart chart = make_chart(r);
  const Status status = plot_print(&chart, io->out, &io->style, 0, error);
  chart_free(&chart);
  if (!status) fputc('\n', io->out);
  return status;
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static void rate_or_null(const ReportSink *k, const char *key, double rate) {
  if (rate > 0)
    k->real(k->context, key, rate);
  else
    k->null(k->context, key);
}

static void report_level(const ReportSink *k, const Roofline *r, TimePart level) {
  k->open_object(k->context, NULL);
  k->text(k->context, "level", time_part_name(level));
  k->real(k->context, "bytes_per_s", timing_rate(&r->gpu, level, r->dtype));
  rate_or_null(k, "ridge_flops_per_byte", timing_ridge(&r->gpu, level, r->dtype));
  k->close(k->context);
}

static void report_place(const ReportSink *k, const Roofline *r, int run) {
  k->open_object(k->context, NULL);
  k->text(k->context, "algorithm", r->request->algorithms[run]->name);
  k->real(k->context, "hbm_flops_per_byte", intensity(r, run, TIME_HBM));
  rate_or_null(k, "l2_flops_per_byte", r->n_levels > 1 ? intensity(r, run, TIME_L2) : 0);
  k->real(k->context, "attainable_flops_per_s", attainable(r, run));
  k->text(k->context, "bound", time_part_name(r->runs[run].timing.run.bound));
  k->real(k->context, "bound_s", r->runs[run].timing.run.bound_s);
  k->real(k->context, "least_s", r->runs[run].timing.least_s);
  rate_or_null(k, "predicted_s", isnan(r->runs[run].timing.predicted_s) ? 0 : r->runs[run].timing.predicted_s);
  k->text(k->context, "kind", time_kind_name(r->runs[run].timing.kind));
  k->real(k->context, "seconds", r->runs[run].timing.seconds);
  k->close(k->context);
}

static Status print_json(const Roofline *r, FILE *out, Error *error) {
  JsonSink json = {0};
  const ReportSink k = json_sink(&json);
  k.open_object(k.context, NULL);
  k.whole(k.context, "tilewalk", 1);
  report_shape(&k, "shape", &r->runs[0].plan.shape);
  k.text(k.context, "gpu", r->gpu.name);
  rate_or_null(&k, "peak_flops_per_s", r->peak_flops_per_s);
  k.real(k.context, "exp_ceiling_flops_per_s", r->exp_ceiling_flops_per_s);
  k.open_array(k.context, "levels");
  for (int l = 0; l < r->n_levels; l++) report_level(&k, r, r->levels[l]);
  k.close(k.context);
  k.open_array(k.context, "runs");
  for (int run = 0; run < r->n_runs; run++) report_place(&k, r, run);
  k.close(k.context);
  k.close(k.context);
  return json_print(json_result(&json), out, error);
}

/* ---- The command ---------------------------------------------------------------------------------- */

static Status show(const Roofline *r, const RooflineOptions *o, Io *io, Error *error) {
  Status status = STATUS_OK;
  if (*o->output.output) status = save_chart(r, &o->chart, o->output.output, io->drawing, error);
  if (status) return status;
  if (o->output.json) return print_json(r, io->out, error);
  if (o->output.csv) return print_table(r, true, io, error);
  if (*o->output.output) return STATUS_OK;
  status = print_plot(r, io, error);
  return status ? status : print_table(r, false, io, error);
}

static int run_roofline(void *options, Io *io, Error *error) {
  RooflineOptions *o = options;
  if (output_request_check(&o->output, error) || chart_request_check(&o->chart, &o->output, error))
    return EXIT_BAD_REQUEST;
  Roofline *r = calloc(1, sizeof *r);
  if (!r) {
    error_set(error, STATUS_NO_MEMORY, "no memory for a roofline");
    return EXIT_BAD_REQUEST;
  }
  Status status = compute(r, &o->request, error);
  if (!status) status = show(r, o, io, error);
  if (!status) program_notes(o->request.algorithms, o->request.n_algorithms, io);
  free(r);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const OptionSet SETS[] = {
    REQUEST_OPTION_SETS(RooflineOptions, request),
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(RooflineOptions, output)},
    {"Chart", OUTPUT_FILE_OPTIONS, offsetof(RooflineOptions, output)},
    {"Picture", CHART_OPTIONS, offsetof(RooflineOptions, chart)},
    {0},
};

const Command COMMAND_ROOFLINE = {
    .name = "roofline",
    .summary = "how fast a GPU lets each algorithm be, and what stops it",
    .usage = "[--gpu NAME|FILE] [OPTION...] [-o FILE.png|.svg|.pdf]",
    .description = "Draws the roofline of a machine: at few FLOPs for each byte its memory binds, at many its "
                   "arithmetic, and where the two meet is the ridge. Each algorithm stands at the FLOPs it does for "
                   "each byte it moves and at the FLOP/s that the machine allows it. With L2 it stands there twice, "
                   "because most bytes come from L2 and few from HBM. Without -o a plot and a table are printed; with "
                   "-o the chart is drawn and nothing is printed.",
    .examples = "  # the papers' machine: standard attention is bound by memory\n"
                "  tilewalk roofline -N 4096 -d 128 --block 128\n\n"
                "  # a GPU with L2, many heads, as a picture\n"
                "  tilewalk roofline --gpu h200 -N 16K --heads 16 --algorithm standard,fa2 -o roofline.svg\n\n"
                "  # decode: one query over a long cache\n"
                "  tilewalk roofline --gpu h100-sxm -N 1 --seq-len-k 32K --heads 32 --algorithm fa2-split\n",
    .options_bytes = sizeof(RooflineOptions),
    .sets = SETS,
    .run = run_roofline,
};
