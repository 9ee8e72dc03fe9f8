/* The speed of the machine for PTX, in CPU time, without and with a look for faults: a launch a row, then sums. What
 * it counts beside an H100: tests/cli/test_kernel_counters.c.
 *
 *     bench_ptx [FOLDER...]      folders of launches.json and PTX; tests/support/kernels/recorded */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "kernels/ptx/ptx_argument.h"
#include "tests/bench/bench.h"

enum { MAX_ARGUMENTS = 32 };

typedef struct {
  int n;
  double seconds, fault_seconds, decode_seconds;
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

/* One launch, or a look for its faults; seconds. */
static double launch(const PtxKernel *kernel, const json_t *row, bool faults, PtxTotals *totals, Error *error) {
  const json_t *args = json_object_get(row, "args");
  Spec specs[MAX_ARGUMENTS];
  PtxArgument arguments[MAX_ARGUMENTS] = {0};
  PtxLaunch l = {.arguments = arguments, .n_arguments = (int32_t)json_array_size(args), .faults = faults};
  sizes(row, "grid", l.grid);
  sizes(row, "block", l.block);
  l.dynamic_shared_bytes = (int64_t)number(row, "shared");
  for (int32_t i = 0; i < l.n_arguments; i++) {
    if (spec_parse(json_string_value(json_array_get(args, (size_t)i)), &specs[i], error)) return NAN;
    arguments[i].n_bytes = specs[i].n * spec_type_bytes(specs[i].type);
    arguments[i].bytes = calloc(1, (size_t)arguments[i].n_bytes);
    arguments[i].kind = specs[i].is_buffer ? PTX_BUFFER : PTX_SCALAR;
    spec_fill(&specs[i], arguments[i].bytes);
  }
  PtxResult result;
  const double began = cpu_s();
  const Status status = ptx_run(kernel, &l, &result, error);
  const double seconds = cpu_s() - began;
  for (int32_t i = 0; i < l.n_arguments; i++) free(arguments[i].bytes);
  if (status) return NAN;
  *totals = result.totals;
  ptx_result_free(&result);
  return seconds;
}

static void one_row(const char *folder, const json_t *row, Sums *sums) {
  const char *file = json_string_value(json_object_get(row, "file")),
             *entry = json_string_value(json_object_get(row, "entry"));
  char path[512];
  size_t n;
  Error error = {0};
  PtxModule *module = NULL;
  PtxKernel *kernel = NULL;
  PtxTotals plain, watched;
  snprintf(path, sizeof path, "%s/%s.ptx", folder, file);
  char *text = read_text(path, &n);
  const double began = cpu_s();
  const int e = ptx_module_load(text, n, path, &module, &error) ? -1 : ptx_find_entry(module, entry);
  const bool decoded = e >= 0 && !ptx_kernel_new(module, e, &kernel, &error);
  sums->decode_seconds = fmax(sums->decode_seconds, cpu_s() - began);
  const double seconds = decoded ? launch(kernel, row, false, &plain, &error) : NAN,
               fault_seconds = isnan(seconds) ? NAN : launch(kernel, row, true, &watched, &error);
  if (isnan(fault_seconds)) {
    printf("| %s | %s |\n", entry, error.message);
    exit(1);
  }
  sums->n++;
  sums->seconds += seconds, sums->lanes += plain.lanes;
  sums->fault_seconds += fault_seconds, sums->fault_lanes += watched.lanes;
  if (plain.memory_bytes > sums->memory_bytes) sums->memory_bytes = plain.memory_bytes;
  printf("| %s, %s | %.2f | %.2f |\n", file, entry, (double)plain.lanes / seconds * 1e-9,
         (double)watched.lanes / fault_seconds * 1e-9);
  ptx_kernel_free(kernel);
  ptx_module_free(module);
  free(text);
}

int main(int argc, char **argv) {
  static char *usual[] = {"", "tests/support/kernels/recorded"};
  Sums s = {0};
  if (argc < 2) argc = 2, argv = usual;
  printf("| launch | G lane instructions a second | with faults |\n|---|---|---|\n");
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
    json_array_foreach(json_object_get(file, "launches"), i, row) one_row(argv[f], row, &s);
    json_decref(file);
  }
  printf("\n%d launches: ", s.n);
  printf("%.2f G lane instructions a second over all, in CPU time, %.2f with faults; the slowest module is read and "
         "decoded in %.1f ms; at most %.1f MB beside the buffers.\n",
         (double)s.lanes / s.seconds * 1e-9, (double)s.fault_lanes / s.fault_seconds * 1e-9, 1e3 * s.decode_seconds,
         (double)s.memory_bytes / 1e6);
  return 0;
}
