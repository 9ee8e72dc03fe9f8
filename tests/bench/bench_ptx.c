/* The machine for PTX beside an H100's counters, and its speed.
 *
 *     bench_ptx [FOLDER...]      folders of launches.json and PTX; tests/support/kernels/recorded
 *
 * Prints the table of kernels/ptx/README.md: a launch a row, "exact" or ours and the hardware's; sectors from L2 with
 * the first cache; then sums and speed in CPU time, of runs without the first cache. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx.h"
#include "kernels/ptx/ptx_argument.h"
#include "tests/bench/bench.h"

enum { MAX_ARGUMENTS = 32, MAX_ROWS = 256, N_COUNTERS = 8 };

static const char *const COUNTERS[N_COUNTERS] = {
    "load_requests",          "load_sectors",          "store_requests",          "store_sectors",
    "shared_load_wavefronts", "shared_load_conflicts", "shared_store_wavefronts", "shared_store_conflicts"};

typedef struct {
  int n, exact[N_COUNTERS], outputs;
  double seconds, fault_seconds, decode_seconds, errors[MAX_ROWS];
  uint64_t lanes, fault_lanes;
  int64_t memory_bytes;
} Sums;

static char *read_text(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  char *text = malloc(4 << 20);
  *n = f && text ? fread(text, 1, 4 << 20, f) : 0;
  if (f) fclose(f);
  return text;
}

static double number(const json_t *row, const char *key) { return json_number_value(json_object_get(row, key)); }

static void sizes(const json_t *row, const char *key, int32_t to[3]) {
  for (size_t i = 0; i < json_array_size(json_object_get(row, key)); i++)
    to[i] = (int32_t)json_integer_value(json_array_get(json_object_get(row, key), i));
}

static void compare(const PtxTotals *t, const json_t *row, Sums *sums, char *text, size_t size) {
  const PtxCounts *k = t->by_kind;
  const uint64_t ours[N_COUNTERS] = {k[PTX_GLOBAL_LOAD].requests + k[PTX_ASYNC_COPY].requests,
                                     k[PTX_GLOBAL_LOAD].sectors + k[PTX_ASYNC_COPY].sectors,
                                     k[PTX_GLOBAL_STORE].requests,
                                     k[PTX_GLOBAL_STORE].sectors,
                                     k[PTX_SHARED_LOAD].wavefronts,
                                     k[PTX_SHARED_LOAD].conflicts,
                                     k[PTX_SHARED_STORE].wavefronts,
                                     k[PTX_SHARED_STORE].conflicts};
  size_t n = 0;
  text[0] = 0;
  for (int c = 0; c < N_COUNTERS; c++) {
    const double theirs = number(row, COUNTERS[c]);
    if ((double)ours[c] == theirs)
      sums->exact[c]++;
    else
      n += (size_t)snprintf(text + n, size - n, "%s%s %.0f, H100 %.0f", n ? "; " : "", COUNTERS[c], (double)ours[c],
                            theirs);
  }
}

static bool output_is_right(const json_t *row, const Spec *spec, const void *bytes) {
  double sum = 0, most = 0;
  for (int64_t i = 0; i < spec->n; i++) {
    const double x = spec_element(spec->type, bytes, i);
    sum += x;
    most = fmax(most, fabs(x));
  }
  const double tolerance = spec->type == SPEC_F16 ? 4e-4 : 3e-6;
  return fabs(sum - number(row, "sum")) <= tolerance * (fabs(number(row, "sum")) + most) &&
         fabs(most - number(row, "max")) <= tolerance * most;
}

/* One launch, with or without the first cache, or with a look for faults. */
typedef enum { PLAIN, CACHED, FAULTS } How;
static Status launch(const PtxKernel *kernel, const json_t *row, How how, PtxResult *result, bool *right,
                     double *seconds, Error *error) {
  const json_t *args = json_object_get(row, "args");
  Spec specs[MAX_ARGUMENTS];
  PtxArgument arguments[MAX_ARGUMENTS] = {0};
  PtxLaunch l = {.arguments = arguments,
                 .n_arguments = (int32_t)json_array_size(args),
                 .l1 = how == CACHED,
                 .faults = how == FAULTS};
  sizes(row, "grid", l.grid);
  sizes(row, "block", l.block);
  l.dynamic_shared_bytes = (int64_t)number(row, "shared");
  for (int32_t i = 0; i < l.n_arguments; i++) {
    if (spec_parse(json_string_value(json_array_get(args, (size_t)i)), &specs[i], error)) return error->status;
    arguments[i].n_bytes = specs[i].n * spec_type_bytes(specs[i].type);
    arguments[i].bytes = calloc(1, (size_t)arguments[i].n_bytes);
    arguments[i].kind = specs[i].is_buffer ? PTX_BUFFER : PTX_SCALAR;
    spec_fill(&specs[i], arguments[i].bytes);
  }
  const double began = cpu_s();
  const Status status = ptx_run(kernel, &l, result, error);
  *seconds = cpu_s() - began;
  const int out = (int)number(row, "out");
  *right = !status && output_is_right(row, &specs[out], arguments[out].bytes);
  for (int32_t i = 0; i < l.n_arguments; i++) free(arguments[i].bytes);
  return status;
}

static void one_row(const char *folder, const json_t *row, Sums *sums) {
  const char *file = json_string_value(json_object_get(row, "file")),
             *entry = json_string_value(json_object_get(row, "entry"));
  char path[512], misses[512];
  size_t n;
  Error error = {0};
  PtxModule *module = NULL;
  PtxKernel *kernel = NULL;
  PtxResult plain, cached, watched;
  bool right, again, still;
  double seconds, cached_seconds, fault_seconds;
  snprintf(path, sizeof path, "%s/%s.ptx", folder, file);
  char *text = read_text(path, &n);
  const double began = cpu_s();
  const int e = ptx_module_load(text, n, path, &module, &error) ? -1 : ptx_find_entry(module, entry);
  const bool decoded = e >= 0 && !ptx_kernel_new(module, e, &kernel, &error);
  sums->decode_seconds = fmax(sums->decode_seconds, cpu_s() - began);
  if (!decoded || launch(kernel, row, PLAIN, &plain, &right, &seconds, &error) ||
      launch(kernel, row, CACHED, &cached, &again, &cached_seconds, &error) ||
      launch(kernel, row, FAULTS, &watched, &still, &fault_seconds, &error)) {
    printf("| %s | %s |\n", entry, error.message);
    exit(1);
  }
  compare(&plain.totals, row, sums, misses, sizeof misses);
  const double theirs = number(row, "l2_to_l1_bytes") / 32, ours = (double)cached.totals.l1_sectors_from_l2;
  sums->outputs += right && again && still;
  sums->errors[sums->n++] = fabs(ours / theirs - 1);
  sums->seconds += seconds, sums->lanes += plain.totals.lanes;
  sums->fault_seconds += fault_seconds, sums->fault_lanes += watched.totals.lanes;
  if (plain.totals.memory_bytes > sums->memory_bytes) sums->memory_bytes = plain.totals.memory_bytes;
  printf("| %s, %s | %s | %s | %.0f | %.0f | %+.2f %% | %.2f | %.2f |\n", file, entry, right ? "right" : "wrong",
         *misses ? misses : "all exact", ours, theirs, 100 * (ours / theirs - 1),
         (double)plain.totals.lanes / seconds * 1e-9, (double)watched.totals.lanes / fault_seconds * 1e-9);
  ptx_result_free(&plain);
  ptx_result_free(&cached);
  ptx_result_free(&watched);
  ptx_kernel_free(kernel);
  ptx_module_free(module);
  free(text);
}

int main(int argc, char **argv) {
  static char *usual[] = {"", "tests/support/kernels/recorded"};
  Sums s = {0};
  if (argc < 2) argc = 2, argv = usual;
  printf("| launch | outputs | 8 counters of requests, sectors, wavefronts, conflicts | sectors from L2 | H100 | error "
         "| G lane instructions a second | with faults |\n"
         "|---|---|---|---|---|---|---|---|\n");
  for (int f = 1; f < argc; f++) {
    char path[512];
    json_error_t mistake;
    size_t i;
    json_t *row;
    snprintf(path, sizeof path, "%s/launches.json", argv[f]);
    json_t *file = json_load_file(path, 0, &mistake);
    if (!file) {
      printf("%s: %s\n", path, mistake.text);
      return 1;
    }
    json_array_foreach(json_object_get(file, "launches"), i, row) if (s.n < MAX_ROWS) one_row(argv[f], row, &s);
    json_decref(file);
  }
  printf("\n%d launches: outputs right in %d; exact:", s.n, s.outputs);
  for (int c = 0; c < N_COUNTERS; c++) printf("%s %s %d", c ? "," : "", COUNTERS[c], s.exact[c]);
  const double half = quantile(s.errors, s.n, 0.5), most = quantile(s.errors, s.n, 0.9);
  printf(".\nSectors from L2: median error %.2f %%, 90th percentile %.2f %%, worst %.2f %%.\n", 100 * half, 100 * most,
         100 * s.errors[s.n - 1]);
  printf("%.2f G lane instructions a second over all, in CPU time, %.2f with faults; the slowest module is read and "
         "decoded in %.1f ms; at most %.1f MB beside the buffers.\n",
         (double)s.lanes / s.seconds * 1e-9, (double)s.fault_lanes / s.fault_seconds * 1e-9, 1e3 * s.decode_seconds,
         (double)s.memory_bytes / 1e6);
  return 0;
}
