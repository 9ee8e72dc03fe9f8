/* One question asked in every way there is has one answer, to the last digit: sim alone, sim in a list of GPUs and of
 * algorithms, as CSV, sweeps over whatever is in it, roofline, the scene of the timeline, the viewer
 * as a page opens it (L2 worked out by a Worker), advise. TILEWALK_REQUESTS asks so many random questions; without it
 * there are 12. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"
#include "viz/player/player.h"
#include "viz/request/request.h"
#include "viz/scene/timeline.h"

typedef struct {
  int64_t N, heads, d;
  const char *gpu, *kernel, *algorithm, *mask; /* kernel and algorithm: one of them is "" */
} Asked;

static ProgramRun run;
static Stage stage;
static Snapshot now;
static Timeline timeline;

static Asked random_question(Rand *r) {
  static const char *const GPUS[] = {"h100-sxm", "h200", "a100-80gb", "rtx4090"};
  static const char *const KERNELS[] = {"fa2-sm90", "fa2-sm90", "cudnn-sm90", "mem-efficient-sm90", "fa2_async"};
  static const char *const ALGORITHMS[] = {"fa2", "fa1", "fa2-split", "standard"};
  static const int64_t N[] = {512, 1024, 1536, 2048, 4096, 6144};
  Asked a = {.N = N[rand_in(r, 0, 5)],
             .heads = rand_in(r, 1, 24),
             .d = rand_in(r, 0, 1) ? 128 : 64,
             .gpu = GPUS[rand_in(r, 0, 3)],
             .mask = rand_in(r, 0, 1) ? "--causal" : "",
             .kernel = "",
             .algorithm = ""};
  if (rand_in(r, 0, 3))
    a.kernel = KERNELS[rand_in(r, 0, 4)];
  else
    a.algorithm = ALGORITHMS[rand_in(r, 0, 3)];
  if (strcmp(a.kernel, "cudnn-sm90") == 0 && a.gpu[0] != 'h') a.gpu = "h200";
  return a;
}

static void who(const Asked *a, char text[64]) {
  snprintf(text, 64, "%s %s", *a->kernel ? "--kernel" : "--algorithm", *a->kernel ? a->kernel : a->algorithm);
}

static json_t *ask(const char *format, ...) __attribute__((format(printf, 1, 2)));
static json_t *ask(const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  program_run(&run, line);
  if (run.exit_status != 0) fail_msg("%s: %s", line, run.err);
  json_t *document = json_loads(run.out, 0, NULL);
  if (!document) fail_msg("%s: no JSON", line);
  return document;
}

static json_t *at(json_t *array, size_t k, const char *key) { return json_object_get(json_array_get(array, k), key); }

static json_t *first_run(json_t *document) { return json_array_get(json_object_get(document, "runs"), 0); }

/* The whole of a run, or says where. */
static void expect_same(const Asked *a, const char *way, json_t *expected, json_t *got) {
  if (got && json_equal(expected, got)) return;
  char name[64], *x = json_dumps(expected, JSON_COMPACT), *y = got ? json_dumps(got, JSON_COMPACT) : strdup("nothing");
  size_t k = 0;
  while (x[k] && x[k] == y[k]) k++;
  who(a, name);
  fail_msg("%s, %s, N = %" PRId64 ", %" PRId64 " heads, d = %" PRId64 " %s on %s: ...%.80s, sim has ...%.80s", way,
           name, a->N, a->heads, a->d, a->mask, a->gpu, y + (k > 40 ? k - 40 : 0), x + (k > 40 ? k - 40 : 0));
}

static void lists_agree(const Asked *a, json_t *alone) {
  char name[64];
  who(a, name);
  const char *const other = *a->kernel && strcmp(a->kernel, "cudnn-sm90") == 0 ? "h100-sxm" : "l4";
  const bool is_same = strcmp(other, a->gpu) == 0;
  json_t *d = ask("sim %s -N %" PRId64 " --heads %" PRId64 " -d %" PRId64 " %s --gpu %s,%s --json", name, a->N,
                  a->heads, a->d, a->mask, is_same ? "h200" : other, a->gpu);
  json_t *machine = json_array_get(json_object_get(d, "machines"), 1);
  expect_same(a, "sim, a list of GPUs", alone, first_run(machine));
  json_decref(d);
  const char *follows = json_string_value(json_object_get(alone, "algorithm"));
  const char *const beside = strcmp(follows, "fa1") == 0 ? "fa2" : "fa1";
  if (*a->kernel)
    d = ask("sim --kernel %s --algorithm %s,%s -N %" PRId64 " --heads %" PRId64 " -d %" PRId64 " %s --gpu %s --json",
            a->kernel, beside, follows, a->N, a->heads, a->d, a->mask, a->gpu);
  else
    d = ask("sim --algorithm %s,%s -N %" PRId64 " --heads %" PRId64 " -d %" PRId64 " %s --gpu %s --json", beside,
            follows, a->N, a->heads, a->d, a->mask, a->gpu);
  expect_same(a, "sim, a list of algorithms", alone, json_array_get(json_object_get(d, "runs"), 1));
  json_decref(d);
}

static void sweeps_agree(const Asked *a, json_t *alone) {
  static const char *const OVER[] = {"N", "heads", "head-dim", "gpu"};
  for (int o = 0; o < 4; o++) {
    char name[64], values[64], N[32] = "", heads[32] = "", d_text[32] = "", gpu[32] = "";
    who(a, name);
    if (o != 0) snprintf(N, sizeof N, "-N %" PRId64, a->N);
    if (o != 1) snprintf(heads, sizeof heads, "--heads %" PRId64, a->heads);
    if (o != 2) snprintf(d_text, sizeof d_text, "-d %" PRId64, a->d);
    if (o != 3) snprintf(gpu, sizeof gpu, "--gpu %s", a->gpu);
    if (o == 0) snprintf(values, sizeof values, "256,%" PRId64, a->N); /* a point before it, where splits may differ */
    if (o == 1) snprintf(values, sizeof values, "%" PRId64 ",%" PRId64, a->heads, a->heads + 40);
    if (o == 2) snprintf(values, sizeof values, "64,128");
    if (o == 3) snprintf(values, sizeof values, "%s", a->gpu);
    json_t *d = ask("sweep --over %s --values %s %s %s %s %s %s %s --metric time --json", OVER[o], values, name, N,
                    heads, d_text, a->mask, gpu);
    json_t *points = json_object_get(d, "points");
    const size_t k = o == 0 ? 1 : o == 2 ? a->d == 128 : 0;
    expect_same(a, OVER[o], alone, json_array_get(at(points, k, "runs"), 0));
    json_decref(d);
  }
}

static void expect_number(const Asked *a, const char *way, json_t *expected, double got) {
  const double is = json_number_value(expected);
  char name[64];
  who(a, name);
  if (is != got)
    fail_msg("%s, %s, N = %" PRId64 ", %" PRId64 " heads, d = %" PRId64 " %s on %s: %.17g, sim has %.17g", way, name,
             a->N, a->heads, a->d, a->mask, a->gpu, got, is);
}

static void roofline_agrees(const Asked *a, json_t *time) {
  static const char *const KEYS[] = {"seconds", "bound_s", "least_s", "kind", "bound", "predicted_s"};
  char name[64];
  who(a, name);
  json_t *d = ask("roofline %s -N %" PRId64 " --heads %" PRId64 " -d %" PRId64 " %s --gpu %s --json", name, a->N,
                  a->heads, a->d, a->mask, a->gpu);
  for (size_t k = 0; k < sizeof KEYS / sizeof *KEYS; k++)
    expect_same(a, KEYS[k], json_object_get(time, KEYS[k]), json_object_get(first_run(d), KEYS[k]));
  json_decref(d);
}

/* Where a run has a figure of this name: in itself, across the SRAM boundary, or in one of its other parts; NULL:
 * nowhere, or in several. */
static json_t *figure(json_t *of, const char *name) {
  json_t *found = json_object_get(of, name), *part;
  const char *key;
  if (!found) found = json_object_get(json_object_get(of, "traffic"), name);
  if (found) return found;
  json_object_foreach(of, key, part) {
    json_t *inner = json_is_object(part) ? json_object_get(part, name) : NULL;
    if (inner && found) return NULL;
    if (inner) found = inner;
  }
  return found;
}

static char *next_cell(char **line) {
  char *cell = *line;
  *line += strcspn(cell, ",\n");
  if (**line) *(*line)++ = '\0';
  return cell;
}

/* Every column of the row that is a number of the run, too: those that are named alike. */
static void csv_agrees(const Asked *a, json_t *alone) {
  char name[64], line[256];
  int n_compared = 0;
  who(a, name);
  snprintf(line, sizeof line, "sim %s -N %" PRId64 " --heads %" PRId64 " -d %" PRId64 " %s --gpu %s --csv", name, a->N,
           a->heads, a->d, a->mask, a->gpu);
  program_run(&run, line);
  if (run.exit_status != 0) fail_msg("%s: %s", line, run.err);
  char *head = run.out, *row = strchr(run.out, '\n');
  assert_non_null(row);
  for (*row++ = '\0'; *head;) {
    const char *column = next_cell(&head), *cell = next_cell(&row);
    json_t *expected = figure(alone, column);
    if (!json_is_number(expected)) continue;
    if (json_number_value(expected) != strtod(cell, NULL))
      fail_msg("%s: %s is %s, --json has %.17g", line, column, cell, json_number_value(expected));
    n_compared++;
  }
  assert_true(n_compared >= 10);
}

/* As viz/web/web.c opens the viewer: its L2 comes later, from another copy that is opened with the first one's line. */
static void page_agrees(const Asked *a, const Request *asked, json_t *alone) {
  static Player page, worker;
  static char line[REQUEST_STATE_BYTES];
  Request request = *asked, again = {0};
  Error error = {0};
  request.l2_later = true;
  if (player_open(&page, &request, false, &error)) fail_msg("the page: %s", error.message);
  if (request_read(&again, player_state(&page, line), false, &error)) fail_msg("%s: %s", line, error.message);
  if (player_open(&worker, &again, false, &error)) fail_msg("the Worker: %s", error.message);
  player_give_l2(&page, &worker.stage.l2);
  const SnapshotL2 *l2 = &page.stage.l2;
  json_t *time = json_object_get(alone, "time"), *hbm = json_object_get(alone, "hbm");
  if (l2->is_known != json_is_object(hbm)) fail_msg("the page %s L2", l2->is_known ? "knows of" : "has no");
  if (l2->is_known) {
    expect_number(a, "the page's reads", json_object_get(hbm, "read_bytes"), (double)l2->hbm_read_bytes);
    expect_number(a, "the page's writes", json_object_get(hbm, "write_bytes"), (double)l2->hbm_write_bytes);
  }
  expect_number(a, "the page's least time", json_object_get(time, "least_s"), l2->least_s);
  expect_number(a, "the page's time", json_object_get(time, "predicted_s"), l2->predicted_s);
  player_free(&worker);
  player_free(&page);
}

/* The timeline of the viewer, which shows one head of the launch. */
static void scenes_agree(const Asked *a, json_t *alone) {
  json_t *time = json_object_get(alone, "time"), *launch = json_object_get(alone, "launch");
  Request request = {0};
  Error error = {0};
  char line[256];
  snprintf(line, sizeof line, "%s=%s N=%" PRId64 " heads=%" PRId64 " d=%" PRId64 " gpu=%s%s",
           *a->kernel ? "kernel" : "algorithm", *a->kernel ? a->kernel : a->algorithm, a->N, a->heads, a->d, a->gpu,
           *a->mask ? " causal=1" : "");
  if (request_read(&request, line, false, &error)) fail_msg("%s: %s", line, error.message);
  page_agrees(a, &request, alone);
  if (request_stage(&request, false, 0, &stage, &error)) fail_msg("%s: %s", line, error.message);
  stage_snapshot(&stage, stage.n_steps, &now);
  timeline_make(&timeline, &now);
  if (!timeline.in_steps) {
    expect_number(a, "timeline, least", json_object_get(time, "least_s"), timeline.least_s);
    expect_number(a, "timeline, predicted", json_object_get(time, "predicted_s"), timeline.predicted_s);
    expect_number(a, "timeline, CTAs on an SM", json_object_get(launch, "ctas_per_sm"),
                  (double)timeline.kernels[0].launch.occupancy.ctas_per_sm);
  }
  timeline_free(&timeline);
  stage_free(&stage);
}

/* Of one tile. */
static void advise_agrees(const Asked *a) {
  if (*a->kernel || strcmp(a->algorithm, "standard") == 0 || strcmp(a->algorithm, "fa1") == 0) return;
  json_t *d = ask("advise --algorithm %s -N %" PRId64 " --heads %" PRId64 " -d %" PRId64
                  " %s --gpu %s --block-q 64 --block-k 64 --json",
                  a->algorithm, a->N, a->heads, a->d, a->mask, a->gpu);
  json_t *e = ask("sim --algorithm %s -N %" PRId64 " --heads %" PRId64 " -d %" PRId64
                  " %s --gpu %s --block-q 64 --block-k 64 --json",
                  a->algorithm, a->N, a->heads, a->d, a->mask, a->gpu);
  expect_same(a, "advise", first_run(e), at(json_object_get(d, "tiles"), 0, "run"));
  json_decref(d);
  json_decref(e);
}

TEST(a_question_has_one_answer) {
  const char *asked = getenv("TILEWALK_REQUESTS");
  const long n = asked ? atol(asked) : 12 / ONE_OF;
  Rand rand = {20261127};
  for (long k = 0; k < n; k++) {
    const Asked a = random_question(&rand);
    char name[64];
    who(&a, name);
    json_t *d = ask("sim %s -N %" PRId64 " --heads %" PRId64 " -d %" PRId64 " %s --gpu %s --json", name, a.N, a.heads,
                    a.d, a.mask, a.gpu);
    json_t *alone = first_run(d);
    lists_agree(&a, alone);
    sweeps_agree(&a, alone);
    csv_agrees(&a, alone);
    roofline_agrees(&a, json_object_get(alone, "time"));
    scenes_agree(&a, alone);
    advise_agrees(&a);
    json_decref(d);
  }
}
