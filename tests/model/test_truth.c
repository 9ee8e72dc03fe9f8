/* Random requests over all GPUs, data types, masks, kernels: whatever is asked, the figures hold together. 20000 times
 * TILEWALK_DEPTH, of which one in 400 is walked through L2: that takes longest. */
#include "tests/support/test.h"
#include "sim/simulate.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"
#include "tests/support/rand.h"

static const char *const GPUS[] = {"v100",     "t4",      "a100-40gb", "a100-80gb", "rtx3060", "rtx3090", "a10",
                                   "a6000",    "rtx4060", "rtx4070",   "rtx4090",   "l4",      "l40s",    "h100-pcie",
                                   "h100-sxm", "gh200",   "h200",      "b200",      "b300",    "rtx5090", "mi300x",
                                   "mi325x",   "mi355x",  "tiny",      "paper"};
static const char *const KERNELS[] = {"cudnn-sm90", "fa2-sm90", "mem-efficient-sm90", "fa3-sm90", "fa2_async",
                                      "fa2_tensor", "fa1",      "fa2_scalar"};
enum { N_GPUS = COUNT_OF(GPUS), N_KERNELS = COUNT_OF(KERNELS) };

static void describe(const Simulation *s, char text[320]) {
  const Shape *h = &s->plan.shape;
  snprintf(text, 320,
           "%s on %s, N %jd x %jd, d %jd, heads %jd/%jd, %s, causal %d, "
           "window %jd (%jd,%jd), top left %d, packed %jd, tiles %jd x %jd",
           s->schedule->name, s->machine.name, h->N_q, h->N_k, h->d, h->heads, h->kv_heads, dtype_name(h->dtype),
           h->causal, h->window, h->sided ? h->left : -1, h->sided ? h->right : -1, h->top_left, h->group,
           s->plan.tiling.B_r, s->plan.tiling.B_c);
}

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      char text_[320];                                                                                                 \
      describe(s, text_);                                                                                              \
      fail_msg("%s: not %s", text_, #condition);                                                                       \
    }                                                                                                                  \
  } while (0)

static void check(const Simulation *s, const Gpu *gpu) {
  const double read = (double)s->read_bytes, once = simulation_needed_bytes(&s->plan.shape);
  EXPECT(read > 0 && s->write_bytes > 0);
  EXPECT(s->timing.least_s > 0 && isfinite(s->timing.least_s));
  for (int part = 0; part < TIME_PART_COUNT; part++)
    EXPECT(isnan(s->timing.floor.part_s[part]) || s->timing.floor.part_s[part] <= s->timing.least_s);
  for (int part = 0; part < TIME_PART_COUNT; part++)
    EXPECT(isnan(s->timing.run.part_s[part]) || s->timing.run.part_s[part] <= s->timing.seconds);
  EXPECT(s->timing.least_s <= s->timing.run.bound_s && s->timing.run.bound_s <= s->timing.seconds);
  const double bound = lower_bound_bytes(&s->plan.shape, s->machine.sram_bytes);
  EXPECT(bound >= once && isfinite(bound));
  EXPECT(once <= (double)s->inputs_bytes + (double)s->outputs_bytes);
  EXPECT((double)s->total_bytes >= once * (1 - 1e-12));
  const double M = (double)s->machine.sram_bytes / s->plan.element_bytes, d = (double)s->plan.shape.d;
  /* the papers' bound is proved for M >= d^2; tiles of S and O in registers are more than M, and a matrix product whose
   * matrices count once has no tiles at all */
  if (s->held == HELD_SRAM && s->schedule->skips && M >= d * d) EXPECT((double)s->total_bytes >= bound * (1 - 1e-12));
  if (!s->has_l2) return;
  const double hit_rate = l2_run_hit_rate(&s->l2), share = simulation_l2_share(s);
  EXPECT(hit_rate >= 0 && hit_rate <= 1);
  EXPECT(share >= 0 && share <= 1);
  if (s->schedule->skips) /* a tiled product asks again for what counts once */
    EXPECT(s->l2.hbm_read_bytes <= read + fmax(0, s->overheads.read_bytes) + 1);
  EXPECT(s->l2.hbm_read_bytes >= 0 && s->l2.hbm_read_bytes <= s->l2.read_bytes * (1 + 1e-12));
  EXPECT(s->l2.fabric_bytes >= 0 && simulation_hbm_write_bytes(s) >= 0);
  EXPECT(gpu->l2_partitions > 1 || s->l2.fabric_bytes == 0);
}

/* Small sizes: a walk through L2 takes a tenth of a second. False: the kernel has no tile for it. */
static bool random_problem(Rand *r, Problem *p, const Schedule **schedule, const Gpu *gpu, const Profile *profiles) {
  static const int64_t D[] = {16, 32, 64, 80, 96, 128, 192, 256};
  *p = (Problem){.shape = {.N_q = rand_in(r, 1, 1000), .d = D[rand_in(r, 0, 7)], .batch = rand_in(r, 1, 2)}};
  Shape *s = &p->shape;
  s->heads = 1 << rand_in(r, 0, 3);
  s->kv_heads = s->heads >> rand_in(r, 0, 2);
  if (s->kv_heads == 0) s->kv_heads = 1;
  if (rand_in(r, 0, 3) == 0) s->N_k = rand_in(r, 1, 3000);
  s->dtype = (Dtype)rand_in(r, 0, DTYPE_COUNT - 1);
  s->causal = rand_in(r, 0, 1);
  if (rand_in(r, 0, 4) == 0) s->window = rand_in(r, 1, 2000);
  if (rand_in(r, 0, 4) == 0) {
    s->sided = true;
    s->left = rand_in(r, -1, 1000);
    s->right = rand_in(r, -1, 1000);
  }
  s->top_left = rand_in(r, 0, 7) == 0;
  if (rand_in(r, 0, 7) == 0) s->N_q = 1; /* decode */
  p->pack = (Pack)rand_in(r, 0, PACK_COUNT - 1);
  if (rand_in(r, 0, 7) == 0) s->d_v = D[rand_in(r, 0, 7)];
  p->machine = machine_of_gpu(gpu);
  *schedule = SCHEDULES[rand_in(r, 0, N_SCHEDULES - 1)];
  const int64_t how = rand_in(r, 0, 3);
  if (how == 0) p->tiling = (Tiling){.B_r = 16 * rand_in(r, 1, 12), .B_c = 16 * rand_in(r, 1, 12)};
  if (how > 1) return true;
  const Profile *profile = &profiles[rand_in(r, 0, N_KERNELS - 1)];
  if (how == 0 || !gpu->l2_bytes) return true;
  p->kernel = profile; /* as the library launches it */
  *schedule = planner_algorithm(p);
  return true;
}

TEST(any_request_holds_together) {
  static Gpu gpus[N_GPUS];
  static Profile profiles[N_KERNELS];
  enum { EVERY = 400 };
  const long n = 20000L * test_depth();
  Rand rand = {20260101};
  long n_run = 0, n_l2 = 0, n_predicted = 0;
  for (int g = 0; g < N_GPUS; g++) gpus[g] = open_gpu(GPUS[g]);
  for (int k = 0; k < N_KERNELS; k++) profiles[k] = open_profile(KERNELS[k]);
  for (long k = 0; k < n; k++) {
    const Gpu *gpu = &gpus[rand_in(&rand, 0, N_GPUS - 1)];
    const Schedule *schedule;
    Problem p;
    Simulation s;
    if (!random_problem(&rand, &p, &schedule, gpu, profiles)) continue;
    if (simulate(&s, &p, schedule, fresh_error())) continue; /* a tile that is not possible, say, and why */
    if (k % EVERY == 0 &&
        simulation_l2(&s, &p, gpu, fresh_error())) { /* a CTA that does not fit the machine, and why */
      assert_true(*test_error.message);
      continue;
    }
    simulation_time(&s, gpu);
    check(&s, gpu);
    n_run++;
    n_l2 += s.has_l2;
    n_predicted += s.timing.predicted_s > 0;
  }
  print_message("%ld requests, %ld through L2, %ld with a predicted time\n", n_run, n_l2, n_predicted);
  assert_true(n_run > n / 2 && n_l2 > n / 1600);
}
