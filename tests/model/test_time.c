/* Time against every recorded run in assets/counters: none is faster than least_s, and predicted_s of described kernels
 * is as near as their descriptions say. With TILEWALK_TABLE=1 all runs are predicted (two minutes) and the table is
 * printed; else one in forty, which takes seconds. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/simulate.h"
#include "tests/support/open_gpu.h"
#include "tests/support/open_profile.h"

enum { COLUMNS_MAX = 64, RUNS_MAX = 24000, KERNELS = 5, ERRORS_MAX = 4096 };

typedef struct {
  char gpu[16], rung[64], kernel[160], dtype[8];
  int64_t batch, heads, kv_heads, N_q, N_k, d, causal, block_q, block_k, splits;
  double seconds;
} Run;

static Run runs[RUNS_MAX];
static size_t n_runs;

/* ---- Reading ---- */

static int split_line(char *line, char *field[COLUMNS_MAX]) {
  int n = 0;
  line[strcspn(line, "\r\n")] = '\0';
  for (char *p = line; p && n < COLUMNS_MAX; n++) {
    field[n] = p;
    p = strchr(p, ',');
    if (p) *p++ = '\0';
  }
  return n;
}

static const char *cell(char *const heads[], char *const row[], int n_heads, int n_row, const char *name) {
  for (int c = 0; c < n_heads && c < n_row; c++)
    if (strcmp(heads[c], name) == 0) return row[c];
  return "";
}

static const char *either(const char *a, const char *b) { return *a ? a : b; }

static void add_run(const Run *run) {
  if (!(run->seconds > 0)) return;
  assert_true(n_runs < RUNS_MAX);
  runs[n_runs++] = *run;
}

/* h100/decode/ and h100/backward/ are launches of one row each. Rows of attention in the three layouts there are:
 * counters (gpu__time_duration.sum, ns), event timings (warm_us, cold_us), launches of decode and backward (time_ns).
 */
static void read_row(char *const h[], char *const r[], int nh, int nr, const char *gpu) {
#define CELL(name) cell(h, r, nh, nr, name)
  Run run = {.batch = atoll(either(CELL("batch"), either(CELL("B"), "1"))),
             .heads = atoll(either(CELL("heads"), CELL("H"))),
             .N_q = atoll(either(CELL("seq_q"), either(CELL("seq_len"), either(CELL("NQ"), CELL("N"))))),
             .d = atoll(either(CELL("head_dim"), CELL("d"))),
             .causal = atoll(CELL("causal")),
             .block_q = atoll(CELL("block_q")),
             .block_k = atoll(CELL("block_k")),
             .splits = atoll(CELL("splits"))};
  run.N_k = atoll(either(CELL("seq_k"), CELL("NK")));
  run.kv_heads = atoll(either(CELL("kv_heads"), CELL("KV")));
  if (!run.N_k) run.N_k = run.N_q;
  if (!run.kv_heads) run.kv_heads = run.heads;
  snprintf(run.gpu, sizeof run.gpu, "%s", gpu);
  snprintf(run.rung, sizeof run.rung, "%s", either(CELL("rung"), either(CELL("backend"), CELL("kernel"))));
  snprintf(run.kernel, sizeof run.kernel, "%s", CELL("kernel"));
  snprintf(run.dtype, sizeof run.dtype, "%s", either(CELL("dtype"), "fp16"));
  if (!run.N_q || !run.d || !run.heads) return;
  if (*CELL("gpu__time_duration.sum")) {
    run.seconds = atof(CELL("gpu__time_duration.sum")) * 1e-9;
    add_run(&run);
  } else if (*CELL("warm_us")) {
    run.seconds = atof(CELL("warm_us")) * 1e-6;
    add_run(&run);
    run.seconds = atof(CELL("cold_us")) * 1e-6;
    add_run(&run);
  } else if (*CELL("time_ns") && !strstr(run.kernel, "dot_do_o") && !strstr(run.kernel, "convert_dq") &&
             !strstr(run.kernel, "combine") &&
             !strstr(run.kernel, "reduction")) { /* attention, not what goes with it */
    run.seconds = atof(CELL("time_ns")) * 1e-9;
    add_run(&run);
  }
#undef CELL
}

static void read_file(const char *path, const char *gpu) {
  static char line[1 << 14], head[1 << 14];
  char *h[COLUMNS_MAX], *r[COLUMNS_MAX];
  int nh = 0;
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof line, file)) {
    if (*line == '#') continue;
    if (nh == 0) {
      memcpy(head, line, sizeof line);
      nh = split_line(head, h);
    } else {
      read_row(h, r, nh, split_line(line, r), gpu);
    }
  }
  fclose(file);
}

static void read_folder(const char *path, const char *gpu) {
  DIR *folder = opendir(path);
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    char inner[1024];
    const size_t length = strlen(entry->d_name);
    if (entry->d_name[0] == '.') continue;
    snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
    if (length > 4 && strcmp(entry->d_name + length - 4, ".csv") == 0)
      read_file(inner, gpu);
    else if (!strchr(entry->d_name, '.'))
      read_folder(inner, gpu);
  }
  closedir(folder);
}

static int setup(void **state) {
  (void)state;
  const char *assets = getenv("TILEWALK_ASSETS");
  static const char *const GPUS[][2] = {{"h200", "h200"}, {"h100", "h100-sxm"}};
  for (int g = 0; g < 2; g++) {
    char path[512];
    snprintf(path, sizeof path, "%s/counters/%s", assets ? assets : "assets", GPUS[g][0]);
    read_folder(path, GPUS[g][1]);
  }
  return 0;
}

/* ---- What each run is ---- */

static const char *const DESCRIBED[KERNELS] = {"cudnn-sm90", "fa2-sm90", "mem-efficient-sm90", "fa2_async",
                                               "fa2_tensor"};

/* The description of a run's kernel; NULL: there is none. */
static const Profile *profile_of(const Run *run) {
  static Profile profiles[10];
  static bool loaded[10];
  static const char *const NAMES[10] = {"cudnn-sm90",     "fa2-sm90", "mem-efficient-sm90", "fa2_async",
                                        "fa2_tensor",     "fa1",      "fa2_causal",         "fa2_scalar",
                                        "standard_tiled", NULL};
  static const char *const OTHER[3] = {"pytorch_cudnn", "pytorch_fa2", "pytorch_mem_efficient"};
  for (int k = 0; NAMES[k]; k++) {
    if (strcmp(run->rung, NAMES[k]) != 0 && (k > 2 || strcmp(run->rung, OTHER[k]) != 0)) continue;
    if (!loaded[k]) profiles[k] = open_profile(NAMES[k]);
    loaded[k] = true;
    return &profiles[k];
  }
  return NULL;
}

static bool is_split(const Run *run) { return strstr(run->kernel, "splitkv") != NULL; }

static const Schedule *schedule_of(const Run *run, const Profile *profile) {
  if (is_split(run)) return schedule_find("fa2-split");
  if (profile) return profile->schedule;
  return schedule_find(strncmp(run->rung, "standard", 8) == 0 || strncmp(run->rung, "eager", 5) == 0 ? "standard"
                                                                                                     : "fa2");
}

static bool simulate_run(Simulation *s, const Run *run, bool with_l2) {
  static Gpu gpu;
  if (strcmp(gpu.name, run->gpu) != 0) gpu = open_gpu(run->gpu);
  Problem p = {.shape = {.batch = run->batch,
                         .heads = run->heads,
                         .kv_heads = run->kv_heads,
                         .N_q = run->N_q,
                         .N_k = run->N_k,
                         .d = run->d,
                         .causal = run->causal},
               .machine = {.sram_bytes = gpu.shared_bytes_per_cta, .l2_bytes = gpu.l2_bytes, .n_SM = gpu.n_sm}};
  Error error = {0};
  const Profile *profile = profile_of(run);
  assert_true(dtype_from_name(run->dtype, &p.shape.dtype));
  if (profile && profile_config(profile, &p.shape, &p.launch, &error)) return false; /* a tile of another dtype, say */
  if (run->block_q > 1) p.launch.block_q = run->block_q, p.launch.block_k = run->block_k;
  p.tiling = (Tiling){.B_r = p.launch.block_q, .B_c = p.launch.block_k, .n_splits = run->splits > 1 ? run->splits : 1};
  p.profiled = true;
  if (simulate(s, &p, schedule_of(run, profile), &error)) fail_msg("%s: %s", run->rung, error.message);
  if (with_l2 && simulation_l2(s, &p, &gpu, &error)) fail_msg("%s: %s", run->rung, error.message);
  simulation_time(s, &gpu);
  return true;
}

/* ---- The bound ---- */

/* Backward kernels do all of the forward products and more, so the forward bound is one for them. */
static void no_recorded_time_is_below_the_bound(void **state) {
  (void)state;
  size_t n = 0, n_below = 0;
  double nearest = INFINITY;
  for (size_t k = 0; k < n_runs; k++) {
    Simulation s;
    if (!simulate_run(&s, &runs[k], false)) continue;
    const double ratio = runs[k].seconds / s.timing.least_s;
    if (ratio < nearest) nearest = ratio;
    if (ratio < 1) {
      print_message("%s %s N=%" PRId64 " d=%" PRId64 " heads=%" PRId64 ": %.3g us, bound %.3g us\n", runs[k].gpu,
                    runs[k].rung, runs[k].N_q, runs[k].d, runs[k].heads, runs[k].seconds * 1e6, s.timing.least_s * 1e6);
      n_below++;
    }
    n++;
  }
  print_message("%zu recorded times, the nearest %.2f times the bound\n", n, nearest);
  assert_int_equal(n_below, 0);
  assert_true(n > 15000);
}

/* ---- Predictions ---- */

typedef struct {
  double errors[ERRORS_MAX];
  size_t n;
} Errors;

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double part(Errors *e, double share) {
  if (e->n == 0) return 0;
  qsort(e->errors, e->n, sizeof *e->errors, by_size);
  const size_t at = (size_t)(share * (double)e->n);
  return e->errors[at < e->n ? at : e->n - 1];
}

static void add_error(Errors *e, double error) {
  assert_true(e->n < ERRORS_MAX);
  e->errors[e->n++] = error;
}

static bool same_run(const Run *a, const Run *b) {
  return strcmp(a->gpu, b->gpu) == 0 && strcmp(a->rung, b->rung) == 0 && strcmp(a->kernel, b->kernel) == 0 &&
         strcmp(a->dtype, b->dtype) == 0 &&
         memcmp(&a->batch, &b->batch, offsetof(Run, seconds) - offsetof(Run, batch)) == 0;
}

static int by_run(const void *a, const void *b) {
  const Run *x = a, *y = b;
  int order = strcmp(x->gpu, y->gpu);
  if (!order) order = strcmp(x->rung, y->rung);
  if (!order) order = strcmp(x->kernel, y->kernel);
  if (!order) order = strcmp(x->dtype, y->dtype);
  if (!order) order = memcmp(&x->batch, &y->batch, offsetof(Run, seconds) - offsetof(Run, batch));
  return order ? order : (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/* The described kernels from N = 1K on, each shape once, at the median of its recordings. */
static void predicted_times_are_as_near_as_is_said(void **state) {
  (void)state;
  static Errors all, of_kernel[KERNELS], h100, splits;
  const bool every = getenv("TILEWALK_TABLE") != NULL;
  size_t shape = 0;
  qsort(runs, n_runs, sizeof *runs, by_run);
  for (size_t first = 0, end; first < n_runs; first = end) {
    for (end = first + 1; end < n_runs && same_run(&runs[first], &runs[end]);) end++;
    const Run *run = &runs[first + (end - first) / 2];
    int kernel = 0;
    const Profile *profile = profile_of(run);
    while (profile && kernel < KERNELS && strcmp(DESCRIBED[kernel], profile->name) != 0) kernel++;
    if (!profile || kernel == KERNELS || run->N_q < 1024 || (!every && shape++ % 40 != 0)) continue;
    Simulation s;
    if (!simulate_run(&s, run, true) || !(s.timing.predicted_s > 0)) continue;
    const double error = fabs(s.timing.predicted_s / run->seconds - 1);
    assert_true(s.timing.least_s <= s.timing.predicted_s);
    add_error(&all, error);
    if (is_split(run)) {
      add_error(&splits, error);
      continue;
    }
    add_error(&of_kernel[kernel], error);
    if (strcmp(run->gpu, "h200") != 0) add_error(&h100, error);
  }
  if (every)
    print_message(
        "| kernel | shapes | half within | nine tenths within | worst |\n| --- | ---: | ---: | ---: | ---: |\n");
  for (int k = 0; k < KERNELS + 3; k++) {
    Errors *e = k < KERNELS ? &of_kernel[k] : k == KERNELS ? &splits : k == KERNELS + 1 ? &h100 : &all;
    const char *name = k < KERNELS        ? DESCRIBED[k]
                       : k == KERNELS     ? "fa2-sm90, split keys"
                       : k == KERNELS + 1 ? "on H100"
                                          : "all";
    if (every)
      print_message("| %s | %zu | %.1f %% | %.1f %% | %.1f %% |\n", name, e->n, 100 * part(e, 0.5), 100 * part(e, 0.9),
                    100 * part(e, 1));
  }
  if (every) {
    const Profile said = open_profile("fa2-sm90");
    assert_int_equal(said.time_split_runs, splits.n);
    assert_int_equal(said.time_split_median_permille, lround(1000 * part(&splits, 0.5)));
    assert_int_equal(said.time_split_nine_permille, lround(1000 * part(&splits, 0.9)));
  }
  for (int k = 0; k < KERNELS; k++) {
    Errors *e = &of_kernel[k];
    const Profile said = open_profile(DESCRIBED[k]);
    if (every) { /* the description says what the table says */
      assert_int_equal(said.time_runs, e->n);
      assert_int_equal(said.time_median_permille, lround(1000 * part(e, 0.5)));
      assert_int_equal(said.time_nine_permille, lround(1000 * part(e, 0.9)));
    } else if (e->n >= 4) {
      assert_true(part(e, 0.5) < 0.05);
    }
  }
  assert_true(all.n >= 20);
  assert_true(part(&all, 0.5) < 0.05);
  assert_true(part(&all, 0.9) < 0.12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_recorded_time_is_below_the_bound),
      cmocka_unit_test(predicted_times_are_as_near_as_is_said),
  };
  return cmocka_run_group_tests_name("time", tests, setup, NULL);
}
