/* tilewalk sweep: the same problem at many values of one parameter, as a table, CSV, JSON, or a chart. */
#include <math.h>

#include "sim/base/size.h"
#include "viz/cli/command.h"
#include "viz/cli/program_notes.h"
#include "viz/cli/shard.h"
#include "viz/cli/sweep/sweep.h"
#include "viz/document/figure_lines.h"
#include "viz/text/progress.h"

typedef struct {
  Request request;
  OutputRequest output;
  const SweepAxis *axis;
  const FigureRow *metric; /* NULL: not given */
  Shard shard;
  RankOptions ranks;
  char values[1024], from[64], to[64], step[64]; /* read once the axis is known */
  ChartRequest chart;
} SweepOptions;

/* WHAT, or WHAT=LIST. */
static Status set_over(void *target, const char *value, Error *error) {
  SweepOptions *o = target;
  char name[32];
  const size_t length = strcspn(value, "=");
  snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), value);
  int axis;
  if (options_name(SWEEP_AXIS_NAMES, "cannot be swept", name, &axis, error)) return error->status;
  o->axis = sweep_axis(name);
  if (!value[length]) return STATUS_OK;
  if (!value[length + 1])
    return error_refuse(error, "%s= is followed by no values; give them as %s", name,
                        sweep_is_gpu(o->axis) ? "gpu=h100-sxm,h200" : "N=1K,4K");
  return options_text("the list of values", value + length + 1, o->values, sizeof o->values, error);
}

static Status set_metric(void *target, const char *value, Error *error) {
  const FigureRow *metric = sweep_metric(value);
  int index;
  if (!metric) return options_name(SWEEP_METRIC_NAMES, "is nothing that is shown", value, &index, error);
  ((SweepOptions *)target)->metric = metric;
  return STATUS_OK;
}

static Status parse_value(const SweepAxis *axis, const char *text, int64_t *value, Error *error) {
  const Status status =
      axis->kind == VALUE_BYTES ? size_parse(text, value, error) : size_parse_count(text, value, error);
  if (!status && *value < 1) return error_refuse(error, "%s = 0 is no point of a sweep", sweep_axis_name(axis));
  return status;
}

/* The values of a list: in rising order, or names of GPUs. */
static Status list_values(const SweepOptions *o, const char *list, const char *option, SweepValue *values, size_t *n,
                          Error *error) {
  const bool gpus = sweep_is_gpu(o->axis);
  const size_t most = gpus ? SWEEP_GPUS_MAX : SWEEP_POINTS_MAX;
  for (const char *p = list;; p++) {
    SweepValue *v = &values[*n];
    const size_t length = strcspn(p, ",");
    Error inner = {0};
    if (*n == most)
      return error_set(error, STATUS_TOO_LARGE, "%s: more than %zu %s", option, most, gpus ? "GPUs" : "points");
    if (gpus && (!length || length >= sizeof v->gpu))
      return error_refuse(error, "%s: an empty or endless name; give GPUs as h100-sxm,h200", option);
    snprintf(v->gpu, sizeof v->gpu, "%.*s", (int)length, p);
    v->value = (int64_t)*n;
    for (size_t k = 0; k < *n && gpus; k++)
      if (strcmp(values[k].gpu, v->gpu) == 0) return error_refuse(error, "%s: %.64s is there twice", option, v->gpu);
    if (!gpus && parse_value(o->axis, v->gpu, &v->value, &inner))
      return error_set(error, inner.status, "%s: %s", option, inner.message);
    if (!gpus && *n && v->value <= v[-1].value)
      return error_refuse(error, "%s: %s does not follow in rising order; sort the values", option, v->gpu);
    ++*n;
    p += length;
    if (!*p) return STATUS_OK;
  }
}

/* The GPUs of --values, or of --gpu. */
static Status list_gpus(const SweepOptions *o, SweepValue *values, size_t *n, Error *error) {
  const bool by_values = *o->values;
  if (by_values && *o->request.gpu)
    return error_refuse(error, "--gpu and the list of GPUs to sweep say the same; give one of them");
  if (*o->from || *o->to || *o->step)
    return error_refuse(error, "GPUs have no order to span; name them, as --over gpu=h100-sxm,h200");
  if (!by_values && !*o->request.gpu)
    return error_refuse(error, "which GPUs? name them, as --over gpu=a100-80gb,h100-sxm,h200");
  return list_values(o, by_values ? o->values : o->request.gpu, by_values ? "--values" : "--gpu", values, n, error);
}

/* From low to high by steps, or by doubling; high itself is then the last point. */
static Status spanned_values(const SweepOptions *o, SweepValue *values, size_t *n, Error *error) {
  int64_t low = o->axis->low, high = o->axis->high, step = 0;
  const struct {
    const char *option, *text;
    int64_t *to;
  } given[] = {{"--from", o->from, &low}, {"--to", o->to, &high}, {"--step", o->step, &step}};
  for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
    Error inner = {0};
    if (*given[k].text && parse_value(o->axis, given[k].text, given[k].to, &inner))
      return error_set(error, inner.status, "%s: %s", given[k].option, inner.message);
  }
  if (!*o->to && high < low) high = low;
  if (high < low)
    return error_refuse(error, "the sweep runs from %" PRId64 " down to %" PRId64 "; --from must not be above --to",
                        low, high);
  if (step && (high - low) / step >= (o->output.csv ? SWEEP_ROWS_MAX : SWEEP_POINTS_MAX))
    return error_set(error, STATUS_TOO_LARGE, "--step: %" PRId64 " points; %d are the most, and with --csv %d",
                     (high - low) / step + 1, SWEEP_POINTS_MAX, SWEEP_ROWS_MAX);
  for (int64_t v = low;; v = step ? v + step : 2 * v) {
    values[(*n)++].value = v;
    if (step ? v > high - step : v > high / 2) break;
  }
  if (!step && values[*n - 1].value < high) values[(*n)++].value = high;
  return STATUS_OK;
}

static bool is_time(const Sweep *s) { return s->metric->unit == UNIT_SECONDS; }

static void add_value(Table *t, const Sweep *s, const SweepRun *run) {
  const FigureValue value = figure_as_value(s->metric, &run->shown);
  char shown[NUMBER_CHARS + 2];
  snprintf(shown, sizeof shown, "%s%s", figure_shown(&value).text, run->fits ? "" : "*");
  table_pair(t, run->fits ? ROLE_PLAIN : ROLE_WARN, shown,
             run->shown.is == IS_WHOLE ? number_digits(value.whole).text : number_exact_double(run->number).text);
}

static Number shown_value(const Sweep *s, int point) {
  const int64_t value = s->points[point].value;
  return s->axis->kind == VALUE_BYTES ? number_bytes(wide(value)) : number_count(wide(value));
}

static void add_row(Table *t, const Sweep *s, int point) {
  const SweepPoint *const p = &s->points[point];
  char kinds[128];
  if (sweep_is_gpu(s->axis))
    put_cells(t, "s", p->machine);
  else
    put_cells(t, s->axis->kind == VALUE_BYTES ? "I" : "i", p->value);
  for (int k = 0; k < s->n_algorithms; k++) add_value(t, s, &p->runs[k]);
  for (int k = 1; k < s->n_algorithms; k++) put_cells(t, isnan(p->runs[k].ratio) ? "-" : "x", p->runs[k].ratio);
  table_real(t, ROLE_DIM, p->lower_bound_bytes, number_bytes((Wide)p->lower_bound_bytes).text);
  put_cells(t, "~s", sweep_time_is(p, s->n_algorithms, kinds, sizeof kinds));
  for (int k = 0; k < s->n_algorithms; k++) put_cells(t, "b", p->runs[k].fits);
}

static void add_notes(Table *t, const Sweep *s, bool details) {
  bool any_misfit = false;
  const Machine *const m = &s->start.machine;
  for (int i = 0; i < s->n_points; i++)
    for (int k = 0; k < s->n_algorithms; k++) any_misfit = any_misfit || !s->points[i].runs[k].fits;
  const bool on_paper = !sweep_is_gpu(s->axis) && !m->l2_bytes;
  if (any_misfit)
    table_note(t, "* %s has no room for these tiles at once%s.", on_paper ? "SRAM" : "The machine",
               on_paper || !details ? "" : ": not even with S and O in registers, where it is a real GPU");
  if (any_misfit && strcmp(sweep_axis_name(s->axis), "block") == 0)
    table_note(t, "Tiles need not be square: tilewalk advise --gpu %s%s%s ranks those of other shapes.", m->name,
               on_paper ? " --sram " : "", on_paper ? number_digits(wide(m->sram_bytes)).text : "");
  if (details && s->metric->unit == UNIT_BYTES && !sweep_asks_gpu(s->metric) && figure_needs(s->metric) == NEED_NOTHING)
    table_note(t,
               "The lower bound is every byte once, or pairs x d^2 / M elements a head, if that is more: M elements of "
               "SRAM, the pairs that the mask leaves; an order of magnitude, constant 1.");
  if (figure_needs(s->metric) == NEED_LINKS)
    table_note(t, "Between %" PRId64 " GPUs, each with its part; of them all, each sends as much as it receives.",
               s->start.links.n);
  if (is_time(s) && details)
    table_note(t,
               "Predicted where --kernel names a kernel that was timed; else this run's time at peak rates. Times of "
               "unlike kinds have no ratio, nor those that the gaps between launches could turn round.");
  if (!details) table_note(t, "Next: -o FILE.svg draws it; --details prints a chart and every row.");
}

/* Where the sweep ends, how far the last run is from the first; of one run, how far it goes. */
static const char *sentence(const Sweep *s, char text[512]) {
  const int last = s->n_points - 1, k = s->n_algorithms - 1;
  if (last < 0) return "";
  const SweepRun *a = &s->points[last].runs[0], *b = &s->points[last].runs[k], *from = &s->points[0].runs[0];
  const FigureValue first = figure_as_value(s->metric, &a->shown), other = figure_as_value(s->metric, &b->shown),
                    begun = figure_as_value(s->metric, &from->shown);
  const Number at = shown_value(s, last), from_at = shown_value(s, 0);
  const bool gpus = sweep_is_gpu(s->axis);
  const char *verb = s->metric->unit == UNIT_BYTES ? "moves" : is_time(s) ? "takes" : "has";
  const char *where = gpus ? s->points[last].machine : at.text, *start = gpus ? s->points->machine : from_at.text;
  if (k && !isnan(b->ratio))
    snprintf(text, 512, "At %s = %s %s %s %s %s than %s (%s vs %s).", sweep_axis_name(s->axis), where, s->series[k],
             verb, number_ratio(b->ratio < 1 ? 1 / b->ratio : b->ratio).text, b->ratio < 1 ? "more" : "less",
             s->series[0], figure_shown(&other).text, figure_shown(&first).text);
  else
    snprintf(text, 512, "%s %s %s at %s = %s and %s at %s.", s->series[0], verb, figure_shown(&begun).text,
             sweep_axis_name(s->axis), start, figure_shown(&first).text, where);
  return text;
}

/* The table, without rows. In JSON columns have keys alone, so that it is opened before the series are known. On the
 * first screen there are ratios of two series alone. */
enum { FIRST_SERIES = 3, FIRST_ROWS = 12 };
static Table *open_table(Document *d, const Sweep *s, const Request *request, bool details) {
  char fits[REQUEST_ALGORITHMS_MAX][KEYFILE_TEXT_BYTES];
  TableColumn columns[3 * REQUEST_ALGORITHMS_MAX + 2] = {
      {.heading = sweep_axis_name(s->axis), .key = "value", .right = !sweep_is_gpu(s->axis)}};
  int n = 1;
  for (int k = 0; k < s->n_algorithms; k++) columns[n++] = (TableColumn){.heading = s->series[k], .right = true};
  for (int k = 1; k < s->n_algorithms; k++)
    columns[n++] = (TableColumn){.heading = details || s->n_algorithms < FIRST_SERIES ? s->series[k] : NULL,
                                 .unit = "times less",
                                 .csv = "-",
                                 .right = true};
  columns[n++] = (TableColumn){.heading = figure_needs(s->metric) == NEED_LINKS || s->metric->unit != UNIT_BYTES ? NULL
                                          : sweep_asks_gpu(s->metric) ? "every byte once"
                                                                      : "lower bound",
                               .csv = "lower_bound_bytes",
                               .key = "lower_bound_bytes",
                               .right = true};
  columns[n++] = is_time(s) ? (TableColumn){.heading = "time is"} : (TableColumn){.heading = NULL};
  for (int k = 0; k < s->n_algorithms; k++) {
    snprintf(fits[k], sizeof *fits, "%s_fits", s->series[k] ? s->series[k] : "");
    columns[n++] = (TableColumn){.csv = fits[k]};
  }
  char state[REQUEST_STATE_BYTES], said[512];
  put_values(d, "over:s", sweep_axis_name(s->axis));
  Table *t = document_table(d, DOCUMENT_ALL, "points", columns, n);
  table_title(t, "%s%s%s against %s; %s", details ? "" : sentence(s, said), details ? "" : "\n\n",
              sweep_metric_title(s->metric), s->axis->title, sweep_state(s->axis, request, state));
  return t;
}

/* What is done as points come: JSON shows their runs in full, which are not kept. */
typedef struct {
  const Request *request;
  Document *document;
  Table *points; /* of JSON */
  Progress progress;
  size_t n;
} Run;

static void tell(void *run, double part) { progress_foretell(&((Run *)run)->progress, part); }

static Status take_point(void *context, const Sweep *s, int point, const Simulation *runs, Error *error) {
  Run *r = context;
  Document *d = r->document;
  progress_update(&r->progress, (uint64_t)point + 1, r->n, progress_clock_s());
  if (d->form != DOCUMENT_JSON) return STATUS_OK;
  if (!r->points) r->points = open_table(d, s, r->request, true);
  add_row(r->points, s, point);
  const ReportSink sink = document_sink(d);
  put_row(d, r->points);
  report_shape(&sink, "shape", &runs[0]);
  put_values(d, "runs[");
  for (int a = 0; a < s->n_algorithms; a++) report_run(&sink, NULL, &runs[a]);
  put_values(d, "]}");
  return d->status ? error_set(error, d->status, "no memory for the points") : STATUS_OK;
}

/* title: of bars that are drawn. */
static void add_chart(Document *d, const Sweep *s, const Request *request, const char *title) {
  if (sweep_is_gpu(s->axis)) {
    Bars bars = sweep_bars(s, request, d->form == DOCUMENT_PICTURE ? title : NULL);
    document_bars(d, &bars);
    document_gap(d);
  } else if (s->n_points > 1 || d->form == DOCUMENT_PICTURE) {
    Chart chart = sweep_chart(s, request);
    document_chart(d, &chart);
    document_gap(d);
  }
}

/* The points; and in *resolved the question with its algorithms, for what is said of it. */
static Status sweep_values(const SweepOptions *o, Request *asked, Request *resolved, SweepValue *values, size_t *n,
                           Error *error) {
  if (*o->values && (*o->from || *o->to || *o->step))
    return error_refuse(error, "--values lists the points and --from, --to span them; give one of the two");
  Status status = STATUS_OK;
  if (sweep_is_gpu(o->axis)) {
    status = list_gpus(o, values, n, error);
    *asked->gpu = '\0';
    *resolved = *asked;
    return status;
  }
  *resolved = *asked;
  status = request_algorithms(resolved, o->axis->behind_l2 ? REQUEST_ONE : REQUEST_COMPARED, error);
  if (status) return status;
  return *o->values ? list_values(o, o->values, "--values", values, n, error) : spanned_values(o, values, n, error);
}

static Status choose_metric(const SweepOptions *o, const FigureRow **metric, Error *error) {
  *metric = o->metric ? o->metric
                      : sweep_metric(sweep_is_gpu(o->axis) ? "time"
                                     : o->axis->behind_l2  ? "hbm"
                                                           : "boundary");
  if (!o->axis->behind_l2 || sweep_asks_gpu(*metric)) return STATUS_OK;
  return error_refuse(error, "--metric %s does not depend on %s; give l2, hbm or time", (*metric)->path,
                      sweep_axis_name(o->axis));
}

/* For people, or CSV. */
static void put_rows(Document *d, const Sweep *sweep, const Request *request, bool continues) {
  const bool details = d->details || d->form == DOCUMENT_CSV;
  if (document_shows_charts(d) && details) add_chart(d, sweep, request, NULL);
  Table *t = open_table(d, sweep, request, details);
  if (continues) document_continues(d);
  const int step = details ? 1 : (sweep->n_points + FIRST_ROWS - 1) / FIRST_ROWS;
  for (int i = (sweep->n_points - 1) % (step ? step : 1); i < sweep->n_points; i += step) add_row(t, sweep, i);
  add_notes(t, sweep, details);
}

static Status check_options(const SweepOptions *o, Error *error) {
  const Status status = shard_check(&o->shard, &o->output, error);
  if (status || !sweep_is_gpu(o->axis)) return status;
  if (*o->chart.x_label || *o->chart.y_label)
    return error_refuse(error, "over gpu there are bars without axes to label; --title takes words");
  if (o->shard.parts)
    return error_refuse(error, "over gpu there are %d points at most; leave out --shard", SWEEP_GPUS_MAX);
  return STATUS_OK;
}

static Status fill(const SweepOptions *o, SweepValue *values, Document *d, Io *io, Error *error) {
  Request asked = o->request, resolved;
  Sweep sweep = {.axis = o->axis, .values = values, .take = take_point, .tell = tell, .ranks = &o->ranks};
  Status status = sweep_values(o, &asked, &resolved, values, &sweep.n, error);
  if (!status) status = choose_metric(o, &sweep.metric, error);
  if (!status) status = rank_options_check(&o->ranks, resolved.algorithms, resolved.n_algorithms, error);
  if (status) return status;
  shard_slice(&o->shard, sweep.n, &sweep.first, &sweep.end);
  Run run = {.request = &resolved,
             .document = d,
             .progress = progress_begin(io->err, "sweep", true),
             .n = sweep.end - sweep.first};
  sweep.context = &run;
  status = sweep_run(&sweep, &asked, error);
  progress_end(&run.progress);
  if (!status) program_notes(resolved.algorithms, resolved.n_algorithms, io);
  if (!status && d->form == DOCUMENT_PICTURE)
    add_chart(d, &sweep, &resolved, o->chart.title);
  else if (!status && d->form != DOCUMENT_JSON)
    put_rows(d, &sweep, &resolved, o->shard.part > 1);
  sweep_free(&sweep);
  return status;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  SweepOptions *o = options;
  if (!o->axis) o->axis = sweep_axis("N");
  sweep_defaults(o->axis, &o->request);
  if (check_options(o, error)) return error->status;
  SweepValue *const values = calloc(SWEEP_ROWS_MAX, sizeof *values);
  const Status status =
      values ? fill(o, values, d, io, error) : error_no_memory(error, "for %d points", SWEEP_ROWS_MAX);
  free(values);
  return status;
}

static const Option SWEEP_OPTIONS[] = {
    OPTION_ROW("over", "WHAT[=LIST]", "What to vary: {}; with = also its values. Default N.", .set = set_over,
               .names = SWEEP_AXIS_NAMES),
    {.name = "metric",
     .argument = "WHAT",
     .set = set_metric,
     .names = SWEEP_METRIC_NAMES,
     .help =
         "What to show: boundary (bytes across the SRAM boundary, where papers count HBM accesses), l2, hbm (both "
         "behind L2), links (bytes that all ranks of a program with 'ranks' send), time, or the path of a number in "
         "'sim --json', such as launch.waves. Default boundary; over l2 and skew hbm, over gpu time."},
    OPTION_ROW("values", "LIST", "The values, separated by commas: in rising order, or names of GPUs.",
               OPTION_TEXT(SweepOptions, values, "the value")),
    OPTION_ROW("from", "VALUE", "First value; doubled until --to.", OPTION_TEXT(SweepOptions, from, "the value")),
    OPTION_ROW("to", "VALUE", "Last value.", OPTION_TEXT(SweepOptions, to, "the value")),
    OPTION_ROW("step", "VALUE", "Add this each time, instead of doubling.",
               OPTION_TEXT(SweepOptions, step, "the value")),
    {0},
};

static const OptionSet SETS[] = {
    {"Sweep", SWEEP_OPTIONS, 0},
    {"Programs with ranks", RANK_OPTIONS, offsetof(SweepOptions, ranks)},
    QUESTION_OPTION_SETS(SweepOptions, request),
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(SweepOptions, output)},
    {"Parts", SHARD_OPTIONS, offsetof(SweepOptions, shard)},
    {"Chart", OUTPUT_FILE_OPTIONS, offsetof(SweepOptions, output)},
    {"Picture", CHART_OPTIONS, offsetof(SweepOptions, chart)},
    {0},
};

const Command COMMAND_SWEEP = {
    .name = "sweep",
    .group = "ask",
    .first = "over from to values metric algorithm gpu output",
    .summary = "the same over N, tile size, SRAM or GPUs: chart and table",
    .usage = "[--over WHAT] [OPTION...] [-o FILE.png|.svg|.pdf]",
    .description = "Runs the same problem at many values of one parameter. Without -o it prints a table; with -o it "
                   "draws a chart and prints nothing. Over l2 and skew it shows HBM traffic after L2, "
                   "by default of 8 heads of 32K tokens on an H200.",
    .examples = "  # how the gap opens, and where it stops growing\n"
                "  tilewalk sweep --over N --from 1K --to 1M\n\n"
                "  # what a larger block buys, until it no longer fits\n"
                "  tilewalk sweep --over block --values 16,32,64,128,148,192,256\n\n"
                "  # how large an L2 must be to hold K and V of the heads at work\n"
                "  tilewalk sweep --over l2 --gpu h200 --kernel fa2-sm90 -N 32K --heads 16\n\n"
                "  # one run on several GPUs\n"
                "  tilewalk sweep --over gpu=a100-80gb,h100-sxm,h200 -N 16K --heads 16\n\n"
                "  # for a slide: HBM traffic on an A100, with a title of your own\n"
                "  tilewalk sweep --gpu a100-80gb --heads 16 --from 1K --to 8K --metric hbm --title 'HBM traffic on an "
                "A100' -o slide.png\n\n"
                "  # 100,000 points in eight parts, four at a time\n"
                "  parallel -kj4 tilewalk sweep --from 64 --step 1 --to 100063 --csv --shard {}/8 ::: $(seq 8) "
                ">all.csv\n\n"
                "  # traffic against SRAM with the lower bound, as a picture\n"
                "  tilewalk sweep --over sram --block largest --algorithm fa1,fa2 -o traffic.svg\n",
    .options_bytes = sizeof(SweepOptions),
    .sets = SETS,
    .answer = answer,
};
