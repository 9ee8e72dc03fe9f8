/* The coalescer in front of L2 in the model, against what it did on an H200 and an H100
 * (assets/counters/h200/coalescer, h100/coalescer; who shares one is told by h200/placement, h100/placement), and the
 * clocks of GPCs (h200/clocks; h100/clocks are as far apart). */
#include "kernels/probes/spread.h"
#include "tests/support/clock_walk.h"
#include "tests/support/gpcs.h"

enum {
  GPUS = 2,
  APART = 20,
  ROWS_H100 = 4 * 2 + 2 * (SMS - 1) + 2 * 2 * APART + 8 * 8,
  ROWS = ROWS_H100 + 2 * APART,
  SLOTS_MOST = 2
};

typedef struct {
  char name[40];
  double readers, step_bytes, steps, l2_read_sectors;
} Row;

typedef struct {
  const char *name;
  int n_rows;
  Row rows[ROWS];
  int gpc[SMS]; /* by %smid */
} Gpu;

static Gpu gpus[GPUS] = {{.name = "h200", .n_rows = ROWS},
                         {.name = "h100", .n_rows = ROWS_H100}}; /* the H100 was asked less */

static void read_rows(Gpu *gpu) {
  FILE *file = open_counters(gpu->name, "coalescer");
  char line[1024];
  int n = 0;
  while (fgets(line, sizeof line, file)) {
    Row r;
    double warm_bytes, wait, longest, boundary, l2_write, fabric, hbm_read, hbm_write;
    if (sscanf(line, "%39[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", r.name, &r.readers, &r.step_bytes,
               &r.steps, &warm_bytes, &wait, &longest, &boundary, &r.l2_read_sectors, &l2_write, &fabric, &hbm_read,
               &hbm_write) != 13)
      continue;
    assert_true(n < gpu->n_rows);
    gpu->rows[n++] = r;
  }
  fclose(file);
  assert_int_equal(n, gpu->n_rows);
}

static int read_recordings(void **state) {
  (void)state;
  for (int i = 0; i < GPUS; i++) {
    read_rows(&gpus[i]);
    read_gpcs(gpus[i].name, gpus[i].gpc, NULL);
  }
  return 0;
}

static const Row *find_row(const Gpu *gpu, const char *name) {
  for (int i = 0; i < gpu->n_rows; i++)
    if (!strcmp(gpu->rows[i].name, name)) return &gpu->rows[i];
  fail_msg("%s: no launch is called '%s'", gpu->name, name);
  return NULL;
}

/* How much of what was asked for reached L2; but for what the same launch moves when nobody asks. */
static double reached(const Gpu *gpu, const Row *r, int ctas_per_sm, bool warm) {
  char nothing[40];
  snprintf(nothing, sizeof nothing, "nothing %d %.0f %s", ctas_per_sm, r->step_bytes, warm ? "warm" : "cold");
  return (r->l2_read_sectors - find_row(gpu, nothing)->l2_read_sectors) * 32 / (r->readers * r->step_bytes * r->steps);
}

/* One step of such a launch as sim/l2/clock.h has it: two CTAs, one a side, read the granule long before, or nobody
 * does; then every CTA, at its offset. */
typedef struct {
  double begins[SLOTS_MOST * SMS + 2];
  bool asked[SLOTS_MOST * SMS + 2], worked[SLOTS_MOST * SMS + 2];
} Step;

static bool ask_late(void *context, const Clock *clock, uint32_t cta, ClockStep *next) {
  (void)clock;
  Step *s = context;
  if (s->asked[cta]) return false;
  if (s->worked[cta])
    s->asked[cta] = true, next->n_reads = 1, next->reads[0] = 0;
  else
    s->worked[cta] = true, next->work_cycles = s->begins[cta];
  return true;
}

static double modelled_share(const Gpu *gpu, uint32_t ctas_per_sm, bool warm, uint32_t window) {
  static Place places[SLOTS_MOST * SMS + 2];
  Step step = {.begins = {0}};
  uint32_t n = 0;
  for (uint32_t side = 0; warm && side < PLACEMENT_SIDES; side++, n++) {
    places[n] = (Place){.side = side, .gpc = PLACEMENT_GPCS_MAX + side, .sm = SMS + side};
    step.begins[n] = 10;
  }
  for (uint32_t sm = 0; sm < SMS; sm++)
    for (uint32_t slot = 0; slot < ctas_per_sm; slot++, n++) {
      const uint32_t gpc = (uint32_t)gpu->gpc[sm];
      places[n] = (Place){.side = PLACEMENT_H200.gpcs[gpc].side, .gpc = gpc, .sm = sm, .layer = slot};
      step.begins[n] = 8000 + spread_offset(sm, slot, window);
    }
  ClockConfig config = steady(1, n);
  config.ctas_per_sm = ctas_per_sm, config.places = places, config.tick_cycles = 1;
  const ClockResult r = run(&config, ask_late, &step);
  const double once = 16384, before = warm ? 2 * once : 0;
  return (r.l2_read_bytes - before) / (r.bytes.read_bytes - before);
}

/* Two CTAs on two sides ask for a granule, one so many cycles after the other. */
static double modelled_missed_at_home(double cycles) {
  const Place places[] = {{.side = 0, .gpc = 0, .sm = 0}, {.side = 1, .gpc = 1, .sm = 1}};
  Step step = {.begins = {0}};
  step.begins[0] = 1000, step.begins[1] = 1000 + cycles;
  ClockConfig config = steady(1, 2);
  config.places = places, config.tick_cycles = 1;
  const ClockResult r = run(&config, ask_late, &step);
  return (r.l2_miss_bytes / 16384 - 1.5) / 0.5;
}

/* What a side asks for the other knows 72 and 92 cycles later on this card, 83 to 105 on two more; the model, 85. */
TEST(the_model_knows_as_late) {
  assert_true(modelled_missed_at_home(0) == 1 && modelled_missed_at_home(80) == 1);
  assert_true(modelled_missed_at_home(90) == 0 && modelled_missed_at_home(1500) == 0);
}

/* Warm and cold, the offsets alone: no fitted number but the two windows. */
TEST(the_model_joins_what_the_gpu_joined) {
  for (int i = 0; i < GPUS; i++)
    for (int ctas = 1; ctas <= SLOTS_MOST; ctas++)
      for (int warm = 0; warm < 2; warm++)
        for (uint32_t window = 100; window <= 6400; window *= 2) {
          const char *name = test_text("spread %d 16384 %s %u", ctas, warm ? "warm" : "cold", window);
          const double counted = reached(&gpus[i], find_row(&gpus[i], name), ctas, warm),
                       modelled = modelled_share(&gpus[i], (uint32_t)ctas, warm, window);
          if (test_depth() > 1) print_message("%s %s: %.3f, modelled %.3f\n", gpus[i].name, name, counted, modelled);
          assert_true(modelled - counted < 0.06 && counted - modelled < 0.06);
        }
}

/* That of the launch that keeps the H200 busiest, to 10 ppm. */
TEST(the_model_has_a_recorded_pattern_of_clocks) {
  FILE *file = open_counters("h200", "clocks");
  double sum[PLACEMENT_GPCS_MAX] = {0}, mean = 0;
  int n[PLACEMENT_GPCS_MAX] = {0};
  char line[256];
  while (fgets(line, sizeof line, file)) {
    int smid;
    double rate;
    if (sscanf(line, "fa2_async,128,65536,4,%d,%lf", &smid, &rate) == 2)
      sum[gpus[0].gpc[smid]] += rate, n[gpus[0].gpc[smid]]++;
  }
  fclose(file);
  for (int g = 0; g < PLACEMENT_GPCS_MAX; g++) mean += sum[g] / n[g] / PLACEMENT_GPCS_MAX;
  for (int g = 0; g < PLACEMENT_GPCS_MAX; g++) {
    const double ppm = (sum[g] / n[g] / mean - 1) * 1e6;
    assert_true(ppm - PLACEMENT_CLOCKS_PPM[g] < 10 && PLACEMENT_CLOCKS_PPM[g] - ppm < 10);
  }
}

GROUP(read_recordings, NULL)
