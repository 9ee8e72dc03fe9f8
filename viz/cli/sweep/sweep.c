#include "viz/cli/sweep/sweep.h"

#include <stdlib.h>

#include "sim/base/text_add.h"
#include "sim/base/word_list.h"

/* In the same order. */
const char *const SWEEP_AXIS_NAMES[] = {"N",     "keys",     "block",  "block-q", "block-k", "sram",     "l2",  "skew",
                                        "heads", "kv-heads", "splits", "batch",   "window",  "head-dim", "gpu", NULL};
#define COUNTS(line, title, low, high, subtitle)                                                                       \
  { line, title, subtitle, VALUE_TOKENS, low, high, false }
const SweepAxis SWEEP_AXES[] = {
    COUNTS("N=%lld", "sequence length N, tokens", 256, 65536,
           "parallel lines: at a fixed block size the ratio between algorithms settles"),
    COUNTS("seq-len-k=%lld", "number of keys, tokens", 256, 65536, "traffic grows in proportion to the keys"),
    COUNTS("block=%lld", "block size B = B_r = B_c, rows", 16, 512,
           "twice the block, half the traffic, until the tiles no longer fit"),
    COUNTS("block-q=%lld", "query block B_r, rows", 16, 512,
           "in FlashAttention-2 the query block alone decides the traffic"),
    COUNTS("block-k=%lld", "key block B_c, rows", 16, 512, "in FlashAttention the key block decides the traffic"),
    {"sram=%lld", "SRAM for one CTA's tiles", "what more SRAM buys, against what no algorithm beats", VALUE_BYTES,
     16 * 1024, 1024 * 1024, false},
    {"l2=%lld", "the size of L2, all partitions", "what all CTAs share stays in L2 until it grows too large",
     VALUE_BYTES, 1 << 20, 256 << 20, true},
    {"pace=skew:%lld", "tiles between the first CTA and the last",
     "how far apart CTAs run decides what they find in L2", VALUE_TOKENS, 1, 256, true},
    COUNTS("heads=%lld", "query heads", 1, 128, "every head does the same work"),
    COUNTS("kv-heads=%lld", "KV heads", 1, 8, "heads that share K and V share what is read of them"),
    COUNTS("splits=%lld", "parts of the keys", 1, 64, "more CTAs, and more parts to put together"),
    COUNTS("batch=%lld", "sequences", 1, 64, "every sequence does the same work"),
    COUNTS("window=%lld", "keys that a query sees", 64, 4096, "tiles outside the window are skipped"),
    COUNTS("d=%lld", "head dimension d", 16, 512, "larger heads need larger tiles and move more"),
    {"gpu=", "GPU", "the same run on one GPU after another", VALUE_COUNT, 0, 0, false},
};
_Static_assert(COUNT_OF(SWEEP_AXES) == COUNT_OF(SWEEP_AXIS_NAMES) - 1, "a name each");

const char *sweep_axis_name(const SweepAxis *axis) { return SWEEP_AXIS_NAMES[axis - SWEEP_AXES]; }

void sweep_defaults(const SweepAxis *axis, Request *request) {
  if (!axis->behind_l2) return;
  if (!*request->gpu) snprintf(request->gpu, sizeof request->gpu, "h200");
  if (request_take_model(request, NULL)) return; /* why not is said later */
  if (!request->shape.N_q) request->shape.N_q = 32768;
  if (!request->shape.heads) request->shape.heads = 8;
}

const char *sweep_state(const Sweep *s, char text[REQUEST_STATE_BYTES]) {
  const size_t key = strcspn(s->axis->line, "=") + 1;
  question_state(s->request, text);
  for (char *word = text; *word;) {
    char *next = word + strcspn(word, " ");
    next += *next == ' ';
    if (strncmp(word, s->axis->line, key) == 0)
      memmove(word, next, strlen(next) + 1);
    else
      word = next;
  }
  for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--) text[n - 1] = '\0';
  return text;
}

/* ---- What is shown --------------------------------------------------------------------------------------------- */

const char *const SWEEP_METRIC_NAMES[] = {"boundary", "l2", "hbm", "links", "time", NULL};
static const char *const METRICS[][2] = {{"traffic.total_bytes", "Traffic across the SRAM boundary"},
                                         {"l2.total_bytes", "Traffic with L2"},
                                         {"hbm.total_bytes", "Traffic with HBM"},
                                         {"links.sent_bytes", "Traffic over links"},
                                         {"time.seconds", "Time"}};

const FigureRow *sweep_metric(const char *name) {
  const int k = word_list_find(SWEEP_METRIC_NAMES, name);
  const FigureRow *row = figure_row(k >= 0 ? METRICS[k][0] : name);
  return row && row->unit != UNIT_NONE && row->unit < UNIT_WORD && !strchr(row->path, '*') ? row : NULL;
}

const char *sweep_metric_title(const FigureRow *metric) {
  for (int k = 0; SWEEP_METRIC_NAMES[k]; k++)
    if (strcmp(METRICS[k][0], metric->path) == 0) return METRICS[k][1];
  return metric->why;
}

bool sweep_asks_gpu(const FigureRow *m) {
  return m->kind == KIND_BEHIND_L2 || (figure_needs(m) != NEED_NOTHING && figure_needs(m) != NEED_LINKS);
}

bool sweep_has_bound(const FigureRow *m) { return m->unit == UNIT_BYTES && figure_needs(m) != NEED_LINKS; }

bool sweep_is_counted(const FigureRow *m) {
  return m->unit == UNIT_BYTES && figure_needs(m) == NEED_NOTHING && !sweep_asks_gpu(m);
}

/* Without L2 there is a time, but nothing behind L2 to show. */
static Status check_l2(const Gpu *gpu, const FigureRow *metric, bool is_given, Error *error) {
  if (!sweep_asks_gpu(metric) || (figure_needs(metric) == NEED_TIME && is_given && gpu->n_sm > 0)) return STATUS_OK;
  if (gpu->l2_bytes > 0 && gpu->l2_partitions <= 2) return STATUS_OK;
  return error_refuse(error,
                      "%s has no L2 of one or two partitions to look behind; take a GPU that has, such as --gpu h200",
                      gpu->name);
}

/* Behind L2 every input and output, and what a kernel writes of each row besides O. */
static double least_bytes(const FigureRow *metric, const Simulation *run) {
  const Shape *s = &run->plan.shape;
  if (figure_needs(metric) == NEED_LINKS) return 0; /* one GPU needs none */
  if (!sweep_asks_gpu(metric)) return lower_bound_bytes(s, run->machine.sram_bytes);
  const double rows = (double)s->batch * (double)s->heads * (double)s->N_q;
  return simulation_needed_bytes(s) + (run->plan.tiling.lse ? rows * STATS_BYTES : 0);
}

/* ---- The table ------------------------------------------------------------------------------------------------- */

enum { FIRST_SERIES = 3 };
Table *sweep_table(const Sweep *s, bool details) {
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
  columns[n++] = (TableColumn){.heading = !sweep_has_bound(s->metric) ? NULL
                                          : sweep_asks_gpu(s->metric) ? "every byte once"
                                                                      : "lower bound",
                               .csv = "lower_bound_bytes",
                               .key = "lower_bound_bytes",
                               .right = true};
  columns[n++].heading = s->metric->unit == UNIT_SECONDS ? "time is" : NULL;
  for (int k = 0; k < s->n_algorithms; k++) {
    snprintf(fits[k], sizeof *fits, "%s_fits", s->series[k] ? s->series[k] : "");
    columns[n++].csv = fits[k];
  }
  put_values(s->document, "over:s", sweep_axis_name(s->axis));
  return document_table(s->document, DOCUMENT_ALL, "points", columns, n);
}

/* What the times are: "predicted", "bound", ...; one for each algorithm where they differ. */
static void add_kinds(Table *t, const SweepRun *runs, int n) {
  char text[128] = "";
  bool same = true;
  for (int k = 1; k < n; k++) same = same && runs[k].time_is == runs[0].time_is;
  for (int k = 0; k < (same ? 1 : n); k++) text_add(text, sizeof text, "%s%s", k ? ", " : "", runs[k].time_is);
  table_text(t, ROLE_DIM, text);
}

void sweep_row(Table *t, const Sweep *s, int point) {
  const SweepPoint *const p = &s->points[point];
  const SweepRun *const runs = p->runs, *const end = runs + s->n_algorithms;
  if (sweep_is_gpu(s->axis))
    put_cells(t, "s", p->machine);
  else
    put_cells(t, s->axis->kind == VALUE_BYTES ? "I" : "i", p->value);
  for (const SweepRun *r = runs; r < end; r++)
    table_pair(t, r->fits ? ROLE_PLAIN : ROLE_WARN,
               number_text("%s%s", figure_shown(&r->shown).text, r->fits ? "" : "*").text,
               (r->is_whole ? number_digits(r->shown.whole) : number_exact_double(r->shown.real)).text);
  for (const SweepRun *r = runs + 1; r < end; r++) put_cells(t, isnan(r->ratio) ? "-" : "x", r->ratio);
  table_real(t, ROLE_DIM, p->lower_bound_bytes, number_bytes((Wide)p->lower_bound_bytes).text);
  add_kinds(t, runs, s->n_algorithms);
  for (const SweepRun *r = runs; r < end; r++) put_cells(t, "b", r->fits);
}

/* ---- Points ---------------------------------------------------------------------------------------------------- */

/* The question at one value. */
typedef struct {
  Request request;
  Problem problem;
  Gpu own;
  const Gpu *gpu;
} Asked;

/* machine: of every point; NULL: each names its own. */
static Status ask(const SweepAxis *axis, const Request *request, const SweepValue *at, const Gpu *machine, Asked *asked,
                  Error *error) {
  char line[64];
  QuestionFiles files = REQUEST_FILES;
  Request *q = &asked->request;
  Status status = STATUS_OK;
  *q = *request;
  files.machine = machine;
  if (sweep_is_gpu(axis)) {
    snprintf(q->gpu, sizeof q->gpu, "%s", at->gpu);
  } else {
    snprintf(line, sizeof line, axis->line, (long long)at->value);
    status = request_read(q, line, false, error);
  }
  if (!status) status = question_algorithms(q, &files, axis->behind_l2 ? REQUEST_ONE : REQUEST_COMPARED, error);
  const bool is_own = !machine || q->l2_bytes; /* else a copy for each point would take longer than the point */
  asked->gpu = is_own ? &asked->own : machine;
  if (!status) status = question_problem(q, &files, &asked->problem, is_own ? &asked->own : NULL, error);
  return status;
}

static Status run_one(const FigureRow *metric, const Asked *a, const Schedule *schedule, const RankOptions *ranks,
                      Simulation *run, Error *error) {
  const Problem *p = &a->problem;
  Status status =
      sweep_asks_gpu(metric) ? simulation_answer(run, p, schedule, a->gpu, error) : simulate(run, p, schedule, error);
  if (!status && sweep_asks_gpu(metric) && figure_needs(metric) != NEED_TIME && !run->has_l2)
    status = error_set(error, STATUS_TOO_LARGE,
                       "a head of N = %jd takes too long to walk through L2; take a shorter one or larger blocks",
                       run->plan.shape.N_q);
  if (!status && ranks) status = rank_options_links(ranks, &a->request, p, a->gpu, run, error);
  if (status || figure_needs(metric) != NEED_LINKS || run->links.n) return status;
  if (*run->links.why) return error_refuse(error, "%s", run->links.why);
  return error_refuse(error, "%s does not say what ranks do; name a program with 'ranks' (tilewalk list algorithms)",
                      schedule->name);
}

/* Hears how much of a run is done. */
static void hear(void *sweep, double part) {
  Sweep *s = sweep;
  progress_foretell(&s->progress, (s->n_done + part) / (s->n_points * s->n_algorithms));
}

static Status run_point(Sweep *s, SweepPoint *point, const Asked *a, Simulation *runs, Error *error) {
  const FigureRow *metric = s->metric;
  for (int k = 0; k < s->n_algorithms; k++) {
    const Status status = run_one(metric, a, a->request.algorithms[k], s->ranks, &runs[k], error);
    if (status) return status;
    s->n_done++;
    hear(s, 0);
    const Figure figure = figure_of(&runs[k], metric, 0);
    SweepRun *kept = &point->runs[k];
    *kept = (SweepRun){.schedule = runs[k].schedule,
                       .shown = figure_as_value(metric, &figure),
                       .is_whole = figure.is == IS_WHOLE,
                       .ratio = NAN,
                       .time_is = time_kind_name(runs[k].timing.kind),
                       .fits = runs[k].fits};
    if (figure_needs(metric) != NEED_TIME || figure_comparable(runs, &runs[k], metric))
      kept->ratio = point->runs[0].shown.real / kept->shown.real;
  }
  point->lower_bound_bytes = least_bytes(metric, runs);
  snprintf(point->machine, sizeof point->machine, "%s", runs[0].machine.name);
  return STATUS_OK;
}

static Status put_point(Sweep *s, int point, const Simulation *runs, Error *error) {
  Document *d = s->document;
  const ReportSink sink = document_sink(d);
  progress_update(&s->progress, (uint64_t)point + 1, (uint64_t)s->n_points, progress_clock_s());
  if (d->form != DOCUMENT_JSON) return STATUS_OK;
  if (!s->json) s->json = sweep_table(s, true);
  sweep_row(s->json, s, point);
  put_row(d, s->json);
  report_shape(&sink, "shape", &runs[0]);
  put_values(d, "runs[");
  for (int k = 0; k < s->n_algorithms; k++) report_run(&sink, NULL, &runs[k]);
  put_values(d, "]}");
  return d->status ? error_set(error, d->status, "no memory for the points") : STATUS_OK;
}

static Status run_points(Sweep *s, const Request *request, Asked *a, Error *error) {
  Simulation runs[REQUEST_ALGORITHMS_MAX];
  const bool gpus = sweep_is_gpu(s->axis);
  const Listener listener = {hear, s};
  Gpu machine;
  Status status = gpus ? STATUS_OK : REQUEST_FILES.gpu(request->gpu, &machine, error);
  if (!status && !gpus) status = check_l2(&machine, s->metric, *request->gpu, error);
  for (int i = 0; i < s->n_points && !status; i++) {
    const SweepValue *const at = &s->values[s->first + (size_t)i];
    Error inner = {0};
    s->points[i].value = at->value;
    status = ask(s->axis, request, at, gpus ? NULL : &machine, a, &inner);
    if (!status) status = question_has_effect(&a->request, a->gpu, &inner);
    if (!status && gpus) status = check_l2(a->gpu, s->metric, true, &inner);
    s->n_algorithms = a->request.n_algorithms;
    a->problem.listener = &listener;
    if (!status) status = run_point(s, &s->points[i], a, runs, &inner);
    if (!status) status = put_point(s, i, runs, &inner);
    runs[0].plan.mask.pattern = runs[0].plan.shape.pattern = NULL; /* of the last 64 masks alone the blocks are kept */
    if (!status && i == 0) s->start = runs[0];
    if (status && gpus)
      error_set(error, status, "on %.64s: %s", at->gpu, inner.message);
    else if (status)
      error_set(error, status, "at %s = %jd: %s", sweep_axis_name(s->axis), at->value, inner.message);
  }
  return status;
}

/* ---- Room ------------------------------------------------------------------------------------------------------ */

/* Whether every algorithm's tiles have room at this value, as sim says it. */
static bool fits_at(const Sweep *s, const Request *request, Asked *a, int64_t value) {
  Simulation run;
  if (ask(s->axis, request, &(SweepValue){.value = value}, NULL, a, NULL)) return false;
  a->problem.shape.pattern = NULL; /* a mask changes no tile's size */
  for (int k = 0; k < s->n_algorithms; k++)
    if (simulate(&run, &a->problem, a->request.algorithms[k], NULL) || !run.fits) return false;
  return true;
}

static bool all_fit(const Sweep *s, int point) {
  for (int k = 0; k < s->n_algorithms; k++)
    if (!s->points[point].runs[k].fits) return false;
  return true;
}

/* The last value without room on the way from `misfit` to `fit`, to the row or the byte. */
static int64_t border(const Sweep *s, const Request *request, Asked *a, int64_t misfit, int64_t fit) {
  while (fit - misfit > 1 || misfit - fit > 1) {
    const int64_t middle = fit + (misfit - fit) / 2;
    if (fits_at(s, request, a, middle))
      fit = middle;
    else
      misfit = middle;
  }
  return misfit;
}

/* Larger blocks, more SRAM, ...: what has no room lies at one end of the axis. */
static void find_misfits(Sweep *s, const Request *request, Asked *a) {
  int before = 0, after = s->n_points; /* points that fit lie between */
  while (before < s->n_points && !all_fit(s, before)) before++;
  while (after > before && !all_fit(s, after - 1)) after--;
  if (sweep_is_gpu(s->axis) || (before == 0 && after == s->n_points)) return;
  const SweepPoint *const p = s->points;
  s->misfit_from = p[0].value, s->misfit_to = p[s->n_points - 1].value;
  if (after < s->n_points)
    s->misfit_from = border(s, request, a, p[after].value, p[after - 1].value);
  else if (before < s->n_points)
    s->misfit_to = border(s, request, a, p[before - 1].value, p[before].value);
}

/* ---- The sweep ------------------------------------------------------------------------------------------------- */

/* The algorithm; or the kernel, where that follows one here and another there, in this part or in others. */
static void name_series(Sweep *s, const Request *request, Asked *a) {
  const bool follows = *request->kernel && !request->n_algorithms;
  for (int k = 0; k < s->n_algorithms; k++) {
    const Schedule *first = s->n_points ? s->points[0].runs[k].schedule : a->request.algorithms[k];
    bool varies = false;
    for (int i = 1; i < s->n_points; i++) varies = varies || s->points[i].runs[k].schedule != first;
    for (size_t i = 0; i < s->n && follows && !sweep_is_gpu(s->axis); i++) {
      if (ask(s->axis, request, &s->values[i], NULL, a, NULL)) continue;
      varies = varies || a->request.algorithms[0] != first;
    }
    s->series[k] = varies ? request->kernel : first->name;
  }
}

Status sweep_run(Sweep *s, const Request *request, Error *error) {
  const size_t n = s->end - s->first;
  s->n_points = (int)n;
  Asked *const a = calloc(1, sizeof *a);
  s->points = calloc(n ? n : 1, sizeof *s->points);
  Status status = STATUS_OK;
  if (!a || !s->points) status = error_no_memory(error, "for %zu points", n);
  if (!status && !n) status = ask(s->axis, request, s->values, NULL, a, error);
  s->n_algorithms = a ? a->request.n_algorithms : 0;
  if (!status) status = run_points(s, request, a, error);
  if (!status) name_series(s, request, a);
  if (!status) find_misfits(s, request, a);
  free(a);
  return status;
}

void sweep_free(Sweep *sweep) { free(sweep->points); }
