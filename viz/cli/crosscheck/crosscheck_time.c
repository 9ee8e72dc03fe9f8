/* The least time that the model allows beside times measured with nothing profiling:
 * assets/counters/h200/time/first.csv. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "viz/request/assets.h"
#include "viz/cli/crosscheck/crosscheck_judge.h"

static const char TIME_FILE[] = "assets/counters/h200/time/first.csv";
enum { RATIOS_MAX = 256, LONGEST_N = 16384 };

/* Names in the file, and the descriptions in assets/kernels. */
static const struct {
  const char *measured, *kernel;
} NAMES[] = {{"pytorch_cudnn", "cudnn-sm90"},
             {"pytorch_fa2", "fa2-sm90"},
             {"pytorch_mem_efficient", "mem-efficient-sm90"},
             {"fa2_async", "fa2_async"},
             {"fa2_tensor", "fa2_tensor"}};
enum { N_NAMES = sizeof NAMES / sizeof *NAMES };

typedef struct {
  double ratios[2][RATIOS_MAX]; /* measured / bound; [1]: N = LONGEST_N alone */
  size_t n[2];
} Ratios;

/* The first seven fields and, after two blocks, the warm median. False: another line. */
static bool read_line(const char *line, char name[32], Shape *shape, double *seconds) {
  char dtype[8];
  int causal, at = 0;
  int64_t N;
  if (sscanf(line, "%31[^,],%7[^,],%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%d,%n", name, dtype, &shape->batch,
             &shape->heads, &N, &shape->d, &causal, &at) != 7 ||
      !at || !dtype_from_name(dtype, &shape->dtype))
    return false;
  const char *warm = line + at;
  for (int blocks = 0; blocks < 2; blocks++) {
    warm = strchr(warm, ',');
    if (!warm++) return false;
  }
  *seconds = strtod(warm, NULL) * 1e-6;
  shape->N_q = N;
  shape->causal = causal;
  return *seconds > 0;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_ratios(FILE *out, double *ratios, size_t n) {
  if (n == 0) {
    fprintf(out, " |");
    return;
  }
  qsort(ratios, n, sizeof *ratios, by_value);
  fprintf(out, " %.1f (%.1f to %.1f) |", ratios[n / 2], ratios[0], ratios[n - 1]);
}

static Status add_times(Judge *judge, char *text, Ratios ratios[N_NAMES], Error *error) {
  for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
    char name[32] = "";
    Shape shape = {0};
    double measured, bound;
    *end = '\0';
    if (*line == '#' || !read_line(line, name, &shape, &measured)) continue;
    for (int k = 0; k < N_NAMES; k++) {
      if (strcmp(NAMES[k].measured, name)) continue;
      const Status status = judge_time(judge, NAMES[k].kernel, &shape, &bound, error);
      if (status) return status;
      for (int longest = 0; longest < 2; longest++)
        if ((!longest || shape.N_q == LONGEST_N) && ratios[k].n[longest] < RATIOS_MAX)
          ratios[k].ratios[longest][ratios[k].n[longest]++] = measured / bound;
    }
  }
  return STATUS_OK;
}

Status crosscheck_print_time(Judge *judge, FILE *out, Error *error) {
  char path[ASSETS_PATH_BYTES], *text = NULL;
  size_t length;
  Ratios *ratios = calloc(N_NAMES, sizeof *ratios);
  if (!ratios) return error_set(error, STATUS_NO_MEMORY, "no memory for times");
  Status status = assets_find(path, sizeof path, TIME_FILE, error);
  if (status == STATUS_OK) status = file_read(path, NCU_MAX_BYTES, &text, &length, error);
  if (status == STATUS_OK) status = add_times(judge, text, ratios, error);
  if (status == STATUS_OK)
    fprintf(
        out,
        "\n| kernel | runs | measured over the bound, median (range) | N = %d alone |\n| --- | ---: | ---: | ---: |\n",
        LONGEST_N);
  for (int k = 0; k < N_NAMES && status == STATUS_OK; k++) {
    fprintf(out, "| `%s` | %zu |", NAMES[k].kernel, ratios[k].n[0]);
    for (int longest = 0; longest < 2; longest++) print_ratios(out, ratios[k].ratios[longest], ratios[k].n[longest]);
    fputc('\n', out);
  }
  free(text);
  free(ratios);
  return status;
}
