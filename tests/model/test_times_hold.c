/* Times of random requests: seconds are never below the bytes that are said over the bandwidth; more work (heads,
 * batches, tokens) never takes less time; a ratio is of one kind and of equal terms alone. TILEWALK_REQUESTS=2000 asks
 * as many as the table in sim/machine/TIMES.md was made with. */
#include "tests/support/test.h"
#include "sim/algorithms/shipped.h"
#include "sim/simulate.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"
#include "tests/support/rand.h"
#include "tests/support/sanitized.h"

static const char *const GPUS[] = {"h100-sxm", "h200", "a100-80gb", "rtx4090", "h100-pcie", "l4"};
static const char *const KERNELS[] = {"fa2-sm90",  "cudnn-sm90", "mem-efficient-sm90", "fa3_overlap",
                                      "fa2_async", "fa2_wgmma",  "fa3-sm90",           "eager_cublas"};
enum { N_GPUS = sizeof GPUS / sizeof *GPUS, N_KERNELS = sizeof KERNELS / sizeof *KERNELS };
static Gpu gpus[N_GPUS];
static Profile kernels[N_KERNELS];

static int setup(void **state) {
  (void)state;
  for (int g = 0; g < N_GPUS; g++) gpus[g] = open_gpu(GPUS[g]);
  for (int k = 0; k < N_KERNELS; k++) kernels[k] = open_profile(KERNELS[k]);
  return 0;
}

typedef struct {
  Problem problem;
  const Schedule *schedule; /* NULL: the kernel's */
  const Gpu *gpu;
} Asked;

static Asked random_request(Rand *r) {
  Asked a = {.gpu = &gpus[rand_in(r, 0, N_GPUS - 1)]};
  Shape *s = &a.problem.shape;
  *s = (Shape){.N_q = rand_in(r, 0, 1) ? 128 * rand_in(r, 1, 64) : rand_in(r, 1, 8192), /* ragged, too */
               .d = rand_in(r, 0, 1) ? 128 : 64,
               .batch = rand_in(r, 1, 8),
               .heads = rand_in(r, 1, 32),
               .causal = rand_in(r, 0, 1)};
  if (rand_in(r, 0, 5) == 0) s->N_k = 256 * rand_in(r, 1, 128), s->N_q = 1, s->causal = false;
  a.problem.machine = machine_of_gpu(a.gpu);
  a.problem.launch = (LaunchConfig){.order = ORDER_QUERY_HEAD_BATCH, .rows = ROWS_LONGEST_FIRST};
  if (rand_in(r, 0, 3)) {
    a.problem.kernel = &kernels[rand_in(r, 0, N_KERNELS - 1)];
    if (a.problem.kernel->schedule->skips) a.problem.beside = &kernels[N_KERNELS - 1];
  } else {
    a.schedule = SCHEDULES[rand_in(r, 0, N_SCHEDULES - 1)];
    if (rand_in(r, 0, 1)) a.problem.tiling.B_r = a.problem.tiling.B_c = 64;
  }
  return a;
}

static bool answer(Simulation *s, const Asked *a) {
  Error error = {0};
  return !simulation_answer(s, &a->problem, a->schedule, a->gpu, &error);
}

static void say(const Asked *a, const Simulation *s, char text[320]) {
  const Shape *p = &a->problem.shape;
  snprintf(text, 320,
           "%.40s %.40s %s: %" PRId64 " x %" PRId64 ", N = %" PRId64 "/%" PRId64 ", d = %" PRId64 "%s, %s %.9g us",
           a->gpu->name, a->problem.kernel ? a->problem.kernel->name : "-", s->schedule->name, p->batch, p->heads,
           p->N_q, p->N_k, p->d, p->causal ? ", causal" : "", time_kind_name(s->timing.kind), s->timing.seconds * 1e6);
}

/* A walk through L2 samples: where it is bound by its bytes, they may vary by one in a thousand. */
static double slack(const Simulation *a, const Simulation *b) {
  const bool walked = a->timing.kind == TIME_BOUND || a->timing.seconds == a->timing.run.bound_s ||
                      b->timing.seconds == b->timing.run.bound_s;
  return walked ? 1e-3 : 1e-9;
}

static int n_worse;

static void expect_more(const Asked *a, const Simulation *less, const Asked *b, const Simulation *more,
                        const char *what) {
  if (more->timing.kind != less->timing.kind) return;
  if (more->timing.seconds >= less->timing.seconds * (1 - slack(less, more))) return;
  char x[320], y[320];
  say(a, less, x);
  say(b, more, y);
  print_message("%s: %s; %s\n", what, x, y);
  n_worse++;
}

TEST(times_hold) {
  const char *asked = getenv("TILEWALK_REQUESTS");
  const long n = asked ? atol(asked) : 40 / ONE_OF;
  Rand rand = {20261126};
  long n_run = 0;
  for (long k = 0; k < n; k++) {
    const Asked a = random_request(&rand);
    Simulation s, other;
    if (!answer(&s, &a)) continue;
    n_run++;
    const double hbm = s.has_l2 ? s.l2.hbm_read_bytes + simulation_hbm_write_bytes(&s) : 0;
    assert_true(s.timing.seconds >= hbm / a.gpu->hbm_bytes_per_s * (1 - 1e-12));
    if (s.has_l2 && a.gpu->l2_bytes_per_s > 0)
      assert_true(s.timing.seconds >= (s.l2.read_bytes + s.l2.write_bytes) / a.gpu->l2_bytes_per_s * (1 - 1e-12));
    assert_true(s.timing.seconds >= s.timing.run.bound_s && s.timing.run.bound_s >= s.timing.least_s);
    for (int what = 0; what < 3; what++) {
      Asked b = a;
      Shape *p = &b.problem.shape;
      static const char *const WHAT[] = {"heads", "batch", "N"};
      if (what == 0) p->heads += rand_in(&rand, 1, 8);
      if (what == 1) p->batch += rand_in(&rand, 1, 4);
      const int64_t more = rand_in(&rand, 0, 1) ? 128 * rand_in(&rand, 1, 16) : rand_in(&rand, 1, 2048);
      if (what == 2 && !p->N_k) p->N_q += more;
      if (what == 2 && p->N_k) p->N_k += more;
      if (!answer(&other, &b)) continue;
      expect_more(&a, &s, &b, &other, WHAT[what]);
      if (timing_comparable(&s.timing, &other.timing)) assert_int_equal(s.timing.kind, other.timing.kind);
    }
  }
  print_message("%ld requests, %d with less time for more work\n", n_run, n_worse);
  assert_true(n_run > n / 2);
  assert_int_equal(n_worse, 0);
}

GROUP(setup, NULL)
