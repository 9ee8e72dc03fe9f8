/* Other people's kernels on an H200 with Q, K and V at six places each (assets/counters/h200_others_places*.csv): where tensors lie is luck, so what
 * is predicted is the mean. Three cards; the sides of each card's SMs were asked. TILEWALK_TABLE=1 prints every shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernels/counters/ncu.h"
#include "sim/l2_counters.h"
#include "sim/pace.h"
#include "tests/open_profile.h"

enum { SHAPES = 108, PLACES = 6, KERNELS = 3 };
static const char *const KERNEL_NAMES[KERNELS] = {"fa2-sm90", "mem-efficient-sm90", "cudnn-sm90"};

static const struct {
  const char *file;
  const Placement *placement;
} CARDS[] = {{"counters/h200_others_places.csv", &PLACEMENT_H200},
             {"counters/h200_others_places_second.csv", &PLACEMENT_H200},
             {"counters/h200_others_places_fourth.csv", &PLACEMENT_H200_FOURTH}};
enum { N_CARDS = sizeof CARDS / sizeof *CARDS };

/* One shape on one card. */
typedef struct {
  const CounterRow *row;
  double counted; /* bytes read from HBM, the mean */
  double least, most;
  int n;
} Mean;

static Gpu h200(void) {
  static char text[KEYFILE_MAX_BYTES];
  FILE *file = open_asset("gpus/h200");
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  Gpu gpu;
  Error error = {0};
  if (gpu_parse(text, length, "h200", &gpu, &error)) fail_msg("%s", error.message);
  return gpu;
}

static CounterTable read_table(const char *name) {
  static char text[1 << 20];
  FILE *file = open_asset(name);
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  CounterTable table;
  Error error = {0};
  if (counter_table_from_buffer(&table, text, length, &error)) fail_msg("%s", error.message);
  return table;
}

static bool same(const CounterRow *a, const CounterRow *b) {
  return strcmp(a->kernel, b->kernel) == 0 && a->shape.N_q == b->shape.N_q && a->shape.heads == b->shape.heads && a->shape.d == b->shape.d &&
         a->shape.causal == b->shape.causal;
}

static void add_row(Mean *means, int *n_means, const CounterRow *row) {
  const double read = (double)row->value[COUNTER_HBM_READ];
  int at = 0;
  while (at < *n_means && !same(means[at].row, row)) at++;
  assert_true(at < SHAPES && row->known[COUNTER_HBM_READ]);
  if (at == *n_means) means[(*n_means)++] = (Mean){.row = row, .least = read, .most = read};
  Mean *m = &means[at];
  m->counted += read / PLACES;
  m->least = fmin(m->least, read);
  m->most = fmax(m->most, read);
  m->n++;
}

static double predict(const CounterRow *row, const Placement *placement, const Gpu *gpu) {
  const Profile profile = open_profile(row->kernel);
  Problem p = {.shape = row->shape, .machine = {.sram_bytes = gpu->shared_bytes_per_cta}, .placement = placement};
  L2Counters counters;
  Error error = {0};
  if (profile_config(&profile, &p.shape, &p.launch, &error)) fail_msg("%s", error.message);
  p.tiling = (Tiling){.B_r = p.launch.block_q, .B_c = p.launch.block_k, .lse = profile.lse};
  if (l2_counters_predict(&counters, &p, profile.schedule, gpu, &error)) fail_msg("%s", error.message);
  return counters.hbm_read_bytes;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct {
  double errors[N_CARDS * SHAPES];
  int n, beyond;
} Errors;

/* Of all shapes of a kernel, full or causal, on all cards: half within 1 %, and no more than so many beyond 10 %, the worst so far. */
static const struct {
  int beyond;
  double worst;
} HOLDS[KERNELS][2] = {{{0, 0.05}, {1, 0.11}}, {{2, 0.12}, {1, 0.11}}, {{3, 0.19}, {0, 0.07}}};

static void the_mean_of_places_is_predicted(void **unused) {
  (void)unused;
  const Gpu gpu = h200();
  static Errors all[KERNELS][2];
  for (int card = 0; card < N_CARDS; card++) {
    CounterTable table = read_table(CARDS[card].file);
    Mean means[SHAPES];
    int n_means = 0;
    for (size_t i = 0; i < table.n_rows; i++) add_row(means, &n_means, &table.rows[i]);
    assert_int_equal(n_means, SHAPES);
    for (int i = 0; i < SHAPES; i++) {
      const Mean *m = &means[i];
      const Shape *s = &m->row->shape;
      assert_int_equal(m->n, PLACES);
      const double predicted = predict(m->row, CARDS[card].placement, &gpu), error = predicted / m->counted - 1;
      int kernel = 0;
      while (strcmp(KERNEL_NAMES[kernel], m->row->kernel)) assert_true(++kernel < KERNELS);
      Errors *e = &all[kernel][s->causal];
      e->errors[e->n++] = fabs(error);
      e->beyond += fabs(error) > 0.1;
      if (getenv("TILEWALK_TABLE"))
        print_message("card %d %-18s N %5d heads %2d d %3d %-6s HBM read %8.1f MB, counted %8.1f (%.1f to %.1f): %+5.1f %%\n", card + 1, m->row->kernel,
                      (int)s->N_q, (int)s->heads, (int)s->d, s->causal ? "causal" : "full", predicted * 1e-6, m->counted * 1e-6, m->least * 1e-6,
                      m->most * 1e-6, 100 * error);
    }
    counter_table_free(&table);
  }
  for (int kernel = 0; kernel < KERNELS; kernel++)
    for (int causal = 0; causal < 2; causal++) {
      Errors *e = &all[kernel][causal];
      assert_int_equal(e->n, N_CARDS * SHAPES / KERNELS / 2);
      qsort(e->errors, (size_t)e->n, sizeof *e->errors, by_size);
      if (getenv("TILEWALK_TABLE"))
        print_message("%-18s %-6s %d shapes: median %.2f %%, worst %.1f %%, %d beyond 10 %%\n", KERNEL_NAMES[kernel], causal ? "causal" : "full", e->n,
                      100 * e->errors[e->n / 2], 100 * e->errors[e->n - 1], e->beyond);
      assert_true(e->errors[e->n / 2] < 0.01 && e->errors[e->n - 1] < HOLDS[kernel][causal].worst && e->beyond <= HOLDS[kernel][causal].beyond);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_mean_of_places_is_predicted)};
  return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
