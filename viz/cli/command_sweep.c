/* tilewalk sweep: the same problem at many values of one parameter, as a table, CSV, JSON, or a chart. */

#include "sim/base/size.h"
#include "sim/base/text_add.h"
#include "viz/cli/command.h"
#include "viz/cli/program_notes.h"
#include "viz/cli/shard.h"
#include "viz/cli/sweep/sweep.h"

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
  o->axis = &SWEEP_AXES[axis];
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

static Status parse_value(const SweepOptions *o, const char *option, const char *text, int64_t *value, Error *error) {
  Error inner = {0};
  if (!(o->axis->kind == VALUE_BYTES ? size_parse : size_parse_count)(text, value, &inner) && *value < 1)
    error_refuse(&inner, "%s = 0 is no point of a sweep", sweep_axis_name(o->axis));
  return inner.status ? error_set(error, inner.status, "%s: %s", option, inner.message) : STATUS_OK;
}

/* The values of a list: in rising order, or names of GPUs. */
static Status list_values(const SweepOptions *o, const char *option, const char *list, SweepValue *values, size_t *n,
                          Error *error) {
  const bool gpus = sweep_is_gpu(o->axis);
  const size_t most = gpus ? SWEEP_GPUS_MAX : SWEEP_POINTS_MAX;
  for (const char *p = list;; p++) {
    SweepValue *v = &values[*n];
    const size_t length = strcspn(p, ",");
    if (*n == most)
      return error_set(error, STATUS_TOO_LARGE, "%s: more than %zu %s", option, most, gpus ? "GPUs" : "points");
    if (gpus && (!length || length >= sizeof v->gpu))
      return error_refuse(error, "%s: an empty or endless name; give GPUs as h100-sxm,h200", option);
    snprintf(v->gpu, sizeof v->gpu, "%.*s", (int)length, p);
    v->value = (int64_t)*n;
    for (size_t k = 0; k < *n && gpus; k++)
      if (strcmp(values[k].gpu, v->gpu) == 0) return error_refuse(error, "%s: %.64s is there twice", option, v->gpu);
    if (!gpus && parse_value(o, option, v->gpu, &v->value, error)) return error->status;
    if (!gpus && *n && v->value <= v[-1].value)
      return error_refuse(error, "%s: %s does not follow in rising order; sort the values", option, v->gpu);
    ++*n;
    p += length;
    if (!*p) return STATUS_OK;
  }
}

/* From low to high by steps, or by doubling; high itself is then the last point. */
static Status spanned_values(const SweepOptions *o, SweepValue *values, size_t *n, Error *error) {
  int64_t low = o->axis->low, high = o->axis->high, step = 0;
  if ((*o->from && parse_value(o, "--from", o->from, &low, error)) ||
      (*o->to && parse_value(o, "--to", o->to, &high, error)) ||
      (*o->step && parse_value(o, "--step", o->step, &step, error)))
    return error->status;
  if (!*o->to && high < low) high = low;
  if (high < low)
    return error_refuse(error, "the sweep runs from %jd down to %jd; --from must not be above --to", low, high);
  if (step && (high - low) / step >= (o->output.csv ? SWEEP_ROWS_MAX : SWEEP_POINTS_MAX))
    return error_set(error, STATUS_TOO_LARGE, "--step: %jd points; %d are the most, and with --csv %d",
                     (high - low) / step + 1, SWEEP_POINTS_MAX, SWEEP_ROWS_MAX);
  for (int64_t v = low;; v = step ? v + step : 2 * v) {
    values[(*n)++].value = v;
    if (step ? v > high - step : v > high / 2) break;
  }
  if (!step && values[*n - 1].value < high) values[(*n)++].value = high;
  return STATUS_OK;
}

static Status read_values(const SweepOptions *o, SweepValue *values, size_t *n, Error *error) {
  const bool gpus = sweep_is_gpu(o->axis), by_values = *o->values, spans = *o->from || *o->to || *o->step;
  if (by_values && spans)
    return error_refuse(error, "--values lists the points and --from, --to span them; give one of the two");
  if (!gpus)
    return by_values ? list_values(o, "--values", o->values, values, n, error) : spanned_values(o, values, n, error);
  if (by_values && *o->request.gpu)
    return error_refuse(error, "--gpu and the list of GPUs to sweep say the same; give one of them");
  if (spans) return error_refuse(error, "GPUs have no order to span; name them, as --over gpu=h100-sxm,h200");
  if (!by_values && !*o->request.gpu)
    return error_refuse(error, "which GPUs? name them, as --over gpu=a100-80gb,h100-sxm,h200");
  return list_values(o, by_values ? "--values" : "--gpu", by_values ? o->values : o->request.gpu, values, n, error);
}

enum { FIRST_ROWS = 12 };
static bool is_time(const Sweep *s) { return s->metric->unit == UNIT_SECONDS; }

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
  if (details && sweep_is_counted(s->metric))
    table_note(t,
               "The lower bound is every byte once, or pairs x d^2 / M elements a head, if that is more: M elements of "
               "SRAM, the pairs that the mask leaves; an order of magnitude, constant 1.");
  if (figure_needs(s->metric) == NEED_LINKS)
    table_note(t, "Between %jd GPUs, each with its part; of them all, each sends as much as it receives.",
               s->start.links.n);
  if (is_time(s) && details)
    table_note(t,
               "Predicted where --kernel names a kernel that was timed; else this run's time at peak rates. Times of "
               "unlike kinds have no ratio, nor those that the gaps between launches could turn round.");
  if (!details) table_note(t, "Next: -o FILE.svg draws it; --details prints a chart and every row.");
}

static Number where(const Sweep *s, int point) {
  const SweepPoint *p = &s->points[point];
  if (sweep_is_gpu(s->axis)) return number_text("%s", p->machine);
  return (s->axis->kind == VALUE_BYTES ? number_bytes : number_count)(wide(p->value));
}

/* Where the sweep ends, how far the last run is from the first; of one run, how far it goes. */
static void add_sentence(char text[1024], const Sweep *s) {
  const int last = s->n_points - 1, k = s->n_algorithms - 1;
  if (last < 0) return;
  const SweepRun *a = &s->points[last].runs[0], *b = &s->points[last].runs[k];
  const char *axis = sweep_axis_name(s->axis);
  const char *verb = s->metric->unit == UNIT_BYTES ? "moves" : is_time(s) ? "takes" : "has";
  if (k && !isnan(b->ratio))
    text_add(text, 1024, "At %s = %s %s %s %s %s than %s (%s vs %s).", axis, where(s, last).text, s->series[k], verb,
             number_ratio(b->ratio < 1 ? 1 / b->ratio : b->ratio).text, b->ratio < 1 ? "more" : "less", s->series[0],
             figure_shown(&b->shown).text, figure_shown(&a->shown).text);
  else
    text_add(text, 1024, "%s %s %s at %s = %s and %s at %s.", s->series[0], verb,
             figure_shown(&s->points[0].runs[0].shown).text, axis, where(s, 0).text, figure_shown(&a->shown).text,
             where(s, last).text);
}

/* title: of bars that are drawn. */
static void add_chart(const Sweep *s, const char *title) {
  Document *d = s->document;
  if (sweep_is_gpu(s->axis)) {
    Bars bars = sweep_bars(s, d->form == DOCUMENT_PICTURE ? title : NULL);
    document_bars(d, &bars);
  } else if (s->n_points > 1 || d->form == DOCUMENT_PICTURE) {
    Chart chart = sweep_chart(s);
    document_chart(d, &chart);
  } else {
    return;
  }
  document_gap(d);
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
static void put_rows(const Sweep *s, bool continues) {
  Document *d = s->document;
  const bool details = d->details || d->form == DOCUMENT_CSV;
  char state[REQUEST_STATE_BYTES], said[1024] = "";
  if (document_shows_charts(d) && details) add_chart(s, NULL);
  Table *t = sweep_table(s, details);
  if (!details) add_sentence(said, s);
  table_title(t, "%s%s%s against %s; %s", said, details ? "" : "\n\n", sweep_metric_title(s->metric), s->axis->title,
              sweep_state(s, state));
  if (continues) document_continues(d);
  const int step = details ? 1 : (s->n_points + FIRST_ROWS - 1) / FIRST_ROWS;
  for (int i = (s->n_points - 1) % (step ? step : 1); i < s->n_points; i += step) sweep_row(t, s, i);
  add_notes(t, s, details);
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
  Request asked = o->request;
  Sweep sweep = {.axis = o->axis, .values = values, .ranks = &o->ranks, .document = d};
  const bool gpus = sweep_is_gpu(o->axis);
  if (gpus) *asked.gpu = '\0';
  Request resolved = asked;
  if ((!gpus && request_algorithms(&resolved, o->axis->behind_l2 ? REQUEST_ONE : REQUEST_COMPARED, error)) ||
      read_values(o, values, &sweep.n, error) || choose_metric(o, &sweep.metric, error) ||
      rank_options_check(&o->ranks, resolved.algorithms, resolved.n_algorithms, error))
    return error->status;
  shard_slice(&o->shard, sweep.n, &sweep.first, &sweep.end);
  sweep.request = &resolved;
  sweep.progress = progress_begin(io->err, "sweep", true);
  const Status status = sweep_run(&sweep, &asked, error);
  progress_end(&sweep.progress);
  if (!status) program_notes(resolved.algorithms, resolved.n_algorithms, io);
  if (!status && d->form == DOCUMENT_PICTURE)
    add_chart(&sweep, o->chart.title);
  else if (!status && d->form != DOCUMENT_JSON)
    put_rows(&sweep, o->shard.part > 1);
  sweep_free(&sweep);
  return status;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  SweepOptions *o = options;
  if (!o->axis) o->axis = SWEEP_AXES;
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
