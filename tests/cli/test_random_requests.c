/* Random requests, any shape, mask, type, kernel and GPU: more heads, a larger batch or a longer sequence never take
 * less time; no time is below the bytes that are printed over the memory's bandwidth; no ratio stands between times of
 * unlike kinds. TILEWALK_REQUESTS asks so many; without it there are 6. TILEWALK_FIRST is the seed of the first. */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/open_gpu.h"
#include "tests/support/program.h"
#include "tests/support/rand.h"

typedef struct {
  int64_t batch, heads, kv_heads, N_q, N_k, d;
  char rest[160]; /* algorithms or a kernel, mask, type, GPU */
  const char *gpu;
} Asked;

static ProgramRun run;
static long n_violations, n_refused, n_compared, n_ratios, n_kept_more;

#define PICK(r, list) (list)[rand_in(r, 0, (int64_t)(sizeof(list) / sizeof *(list)) - 1)]

static int64_t random_length(Rand *r, int64_t most) {
  int64_t n = INT64_C(1) << rand_in(r, 4, 13);
  if (rand_in(r, 0, 1)) n += rand_in(r, 0, n - 1);
  return n < most ? n : most;
}

static Asked random_request(Rand *r) {
  static const char *const GPUS[] = {"h100-sxm",  "h200",   "a100-80gb", "rtx4090", "h100-sxm", "l4",
                                     "h100-pcie", "mi300x", "b200",      "v100",    "rtx5090",  "paper"};
  static const char *const KERNELS[] = {"fa2-sm90",   "cudnn-sm90",        "mem-efficient-sm90", "fa3-sm90",
                                        "fa2_async",  "fa2_wgmma",         "fa3_overlap",        "eager_cublas",
                                        "fa2_tensor", "fa2-backward-sm90", "flex-sm90",          "fa2-sm90"};
  static const char *const ALGORITHMS[] = {
      "fa2", "fa1", "fa2-split", "standard", "fa2,standard", "fa2,fa1,fa2-split", "fa2-backward", "standard,fa2"};
  static const char *const MASKS[] = {
      "", "", "", "--causal", "--causal", "--causal", "--window 512", "--window 128,64"};
  static const char *const TYPES[] = {"", "", "", "", "--dtype bf16", "--dtype fp32", "--dtype fp8"};
  static const int64_t D[] = {64, 128, 64, 128, 128, 96, 256, 40, 192}, GROUPS[] = {1, 1, 1, 2, 4, 8};
  static const int64_t HEADS[] = {1, 2, 3, 5, 8, 12, 16, 32, 40};
  Asked a = {.batch = rand_in(r, 0, 1) ? 1 : rand_in(r, 1, 40), .kv_heads = PICK(r, HEADS), .d = PICK(r, D)};
  a.heads = a.kv_heads * PICK(r, GROUPS);
  a.N_q = a.N_k = random_length(r, 12000);
  if (rand_in(r, 0, 3) == 0) {
    a.N_q = rand_in(r, 0, 1) ? 1 : random_length(r, a.N_k);
    if (a.N_q > a.N_k) a.N_q = a.N_k;
  }
  a.gpu = PICK(r, GPUS);
  const bool by_kernel = rand_in(r, 0, 2) > 0;
  const char *kernel = PICK(r, KERNELS), *algorithms = PICK(r, ALGORITHMS);
  snprintf(a.rest, sizeof a.rest, "%s %s%s %s %s --gpu %s", by_kernel ? "--kernel" : "--algorithm",
           by_kernel ? kernel : algorithms,
           by_kernel && rand_in(r, 0, 3) == 0 && !strstr(kernel, "backward") ? " --algorithm fa2,standard" : "",
           PICK(r, MASKS), PICK(r, TYPES), a.gpu);
  return a;
}

static void line_of(const Asked *a, const char *more, char line[512]) {
  snprintf(line, 512,
           "sim --batch %" PRId64 " --heads %" PRId64 " --kv-heads %" PRId64 " -N %" PRId64 " --seq-len-k %" PRId64
           " -d %" PRId64 " %s%s",
           a->batch, a->heads, a->kv_heads, a->N_q, a->N_k, a->d, a->rest, more);
}

static void violation(const char *what, const char *line, double a, double b) {
  print_message("%s: %s: %.9g, %.9g\n", what, line, a, b);
  n_violations++;
}

static json_t *ask(const char *line) {
  program_run(&run, line);
  if (run.exit_status == 2) return NULL;
  if (run.exit_status != 0) fail_msg("%s: exit %d: %s", line, run.exit_status, run.err);
  return json_loads(run.out, 0, NULL);
}

static double number(json_t *of, const char *key) { return json_number_value(json_object_get(of, key)); }

static json_t *nth_run(json_t *document, size_t k) { return json_array_get(json_object_get(document, "runs"), k); }

/* The seconds of a run, against its bytes by rates of the GPU's description. A byte of rounding. Where L2 was not
 * walked, HBM's bytes are an upper bound, and say so. */
static void is_no_less_than_its_bytes(const char *line, json_t *one, const Gpu *gpu) {
  json_t *time = json_object_get(one, "time"), *hbm = json_object_get(one, "hbm"), *l2 = json_object_get(one, "l2");
  const double seconds = number(time, "seconds");
  if (!(seconds > 0)) return;
  const double hbm_s = (number(hbm, "read_bytes") + number(hbm, "write_bytes") - 1) / gpu->hbm_bytes_per_s;
  if (!json_is_true(json_object_get(one, "hbm_is_upper_bound")) && seconds < hbm_s * (1 - 1e-9))
    violation("less than its bytes in HBM", line, seconds, hbm_s);
  if (!(gpu->l2_bytes_per_s > 0) || !json_is_object(l2)) return;
  const double l2_s = (number(l2, "read_bytes") + number(l2, "write_bytes") - 1) / gpu->l2_bytes_per_s;
  if (seconds < l2_s * (1 - 1e-9)) violation("less than its bytes in L2", line, seconds, l2_s);
}

static const char *kind_of(json_t *time) { return json_string_value(json_object_get(time, "kind")); }

static bool is_bound(json_t *time) { return strcmp(kind_of(time), "bound") == 0; }

/* The same kernel with the same tile; another one may take less. */
static bool launches_alike(json_t *a, json_t *b) {
  static const char *const KEYS[] = {"block_q", "block_k", "splits", "packed_heads"};
  for (int k = 0; k < 4; k++)
    if (number(a, KEYS[k]) != number(b, KEYS[k])) return false;
  return true;
}

static bool has_same_terms(json_t *a, json_t *b) {
  return (number(a, "busiest_sm_s") > 0) == (number(b, "busiest_sm_s") > 0) &&
         (number(a, "l2_port_s") > 0) == (number(b, "l2_port_s") > 0);
}

/* A bound follows from the bytes beside it: it may be less where HBM's are fewer, because L2 keeps more. */
static void one_takes_no_less(const char *what, const char *line, json_t *a, json_t *b) {
  json_t *now = json_object_get(a, "time"), *then = json_object_get(b, "time");
  json_t *floor = json_object_get(now, "floor"), *floor_then = json_object_get(then, "floor");
  if (!json_is_object(now) || !json_is_object(then)) return;
  if (is_bound(now) != is_bound(then)) return;
  if (is_bound(now) && (!launches_alike(a, b) || !has_same_terms(now, then))) return;
  n_compared++;
  if (has_same_terms(floor, floor_then) && launches_alike(a, b) &&
      number(then, "least_s") < number(now, "least_s") * (1 - 1e-9))
    violation(what, line, number(now, "least_s"), number(then, "least_s"));
  const double before = number(now, "seconds"), after = number(then, "seconds");
  if (after >= before * (1 - 1e-9)) return;
  if (is_bound(now) && number(now, "hbm_s") == before &&
      number(json_object_get(b, "hbm"), "total_bytes") < number(json_object_get(a, "hbm"), "total_bytes"))
    n_kept_more++;
  else
    violation(what, line, before, after);
}

/* With more of something. Of more keys a window of as many queries sees no more. */
static void takes_no_less(const char *line, json_t *document, const Asked *more, const char *what) {
  char other[512], text[900];
  line_of(more, " --json", other);
  json_t *d = ask(other);
  snprintf(text, sizeof text, "%s -> --batch %" PRId64 " --heads %" PRId64 " -N %" PRId64 " --seq-len-k %" PRId64, line,
           more->batch, more->heads, more->N_q, more->N_k);
  for (size_t k = 0; d && k < json_array_size(json_object_get(document, "runs")); k++)
    one_takes_no_less(what, text, nth_run(document, k), nth_run(d, k));
  json_decref(d);
}

/* Of the text: a figure under "faster than" where the kinds under it are alike, and nowhere else. */
static void has_no_ratio_of_unlike_kinds(const char *line) {
  char kinds[8][16], ratios[8][16];
  const char *is = strstr(run.out, "  the time is "), *row = strstr(run.out, "  faster than ");
  if (!is || !row) return;
  const int n = sscanf(is + 14, "%15s %15s %15s %15s", kinds[0], kinds[1], kinds[2], kinds[3]);
  const int m = sscanf(row + 14, "%*s %15s %15s %15s %15s", ratios[0], ratios[1], ratios[2], ratios[3]);
  for (int k = 0; k < n && k < m; k++) {
    const bool is_ratio = strchr(ratios[k], 'x') != NULL;
    n_ratios += is_ratio;
    if (is_ratio && strcmp(kinds[k], kinds[0]) != 0) violation("a ratio of unlike kinds", line, k, 0);
  }
}

static void judge(uint64_t seed) {
  Rand rand = {seed};
  const Asked a = random_request(&rand);
  const Gpu gpu = open_gpu(a.gpu);
  char line[512];
  line_of(&a, " --json", line);
  json_t *d = ask(line);
  if (!d) {
    n_refused++;
    return;
  }
  for (size_t k = 0; k < json_array_size(json_object_get(d, "runs")); k++)
    is_no_less_than_its_bytes(line, nth_run(d, k), &gpu);
  Asked more = a;
  const int64_t group = a.heads / a.kv_heads;
  more.kv_heads += rand_in(&rand, 1, a.kv_heads + 2);
  more.heads = more.kv_heads * group;
  takes_no_less(line, d, &more, "more heads");
  more = a;
  more.batch += rand_in(&rand, 1, a.batch + 2);
  takes_no_less(line, d, &more, "a larger batch");
  more = a;
  more.N_k += rand_in(&rand, 1, 1 + a.N_k / 2);
  if (a.N_q == a.N_k) more.N_q = more.N_k;
  if (a.N_q == a.N_k || !strstr(a.rest, "--window")) takes_no_less(line, d, &more, "a longer sequence");
  line_of(&a, "", line);
  program_run(&run, line);
  has_no_ratio_of_unlike_kinds(line);
  json_decref(d);
}

TEST(random_requests_hold) {
  const char *asked = getenv("TILEWALK_REQUESTS"), *first = getenv("TILEWALK_FIRST");
  const long n = asked ? atol(asked) : 6;
  for (long k = 0; k < n; k++) judge((first ? strtoull(first, NULL, 10) : 20261126) + (uint64_t)k * 7919);
  print_message(
      "%ld requests, %ld refused, %ld pairs of times (%ld less by what L2 keeps), %ld ratios, %ld violations\n", n,
      n_refused, n_compared, n_kept_more, n_ratios, n_violations);
  assert_int_equal(n_violations, 0);
  assert_true(n_compared > n / 2);
}

/* Of 256 heads in groups of 16 fewer are walked: half as many have half of the bytes. */
TEST(groups_of_heads_are_walked_whole) {
  double bytes[2];
  for (int k = 0; k < 2; k++) {
    json_t *d = ask(k ? "sim --batch 8 --heads 32 -N 6991 --kernel fa3_overlap --causal --gpu h100-sxm --json"
                      : "sim --batch 4 --heads 32 -N 6991 --kernel fa3_overlap --causal --gpu h100-sxm --json");
    assert_non_null(d);
    bytes[k] = number(json_object_get(nth_run(d, 0), "hbm"), "read_bytes");
    json_decref(d);
  }
  assert_true(fabs(bytes[1] / bytes[0] / 2 - 1) < 0.02);
}
