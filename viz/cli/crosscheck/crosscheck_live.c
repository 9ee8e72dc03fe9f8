#define _POSIX_C_SOURCE 200809L /* fork, pipe, waitpid */
#include "viz/cli/crosscheck/crosscheck_live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/algorithms/shipped.h"
#include "sim/base/quote.h"

enum { ARGUMENTS_MAX = 40, ARGUMENT_BYTES = 1200, NOT_FOUND = 127 };
#define OUTPUT_MAX_BYTES ((size_t)16 << 20)

typedef struct {
  char *argv[ARGUMENTS_MAX + 1];
  char text[ARGUMENTS_MAX][ARGUMENT_BYTES];
  int n;
} Arguments;

static void push(Arguments *a, const char *text) {
  if (a->n == ARGUMENTS_MAX) return;
  snprintf(a->text[a->n], ARGUMENT_BYTES, "%s", text);
  a->argv[a->n] = a->text[a->n];
  a->argv[++a->n] = NULL;
}
static void push_size(Arguments *a, const char *option, int64_t value) {
  char digits[24];
  if (value == 0) return;
  snprintf(digits, sizeof digits, "%" PRId64, value);
  push(a, option);
  push(a, digits);
}
static void push_shape(Arguments *a, const Shape *s, const Tiling *t) {
  push_size(a, "-N", s->N_q);
  push_size(a, "--seq-len-k", s->N_k);
  push_size(a, "-d", s->d);
  push_size(a, "--batch", s->batch);
  push_size(a, "--heads", s->heads);
  push_size(a, "--kv-heads", s->kv_heads);
  push(a, "--dtype");
  push(a, dtype_name(s->dtype));
  if (s->causal) push(a, "--causal");
  push_size(a, "--block-q", t->B_r);
  push_size(a, "--block-k", t->B_c);
}

static Status read_all(int file, char **text, size_t *length, Error *error) {
  size_t capacity = 0;
  for (;;) {
    if (*length == capacity) {
      const size_t more = capacity ? 2 * capacity : 65536;
      char *larger = more <= OUTPUT_MAX_BYTES ? realloc(*text, more + 1) : NULL;
      if (!larger) return error_set(error, STATUS_NO_MEMORY, "a program printed more than can be held");
      *text = larger;
      capacity = more;
    }
    const ssize_t got = read(file, *text + *length, capacity - *length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    *length += (size_t)got;
  }
  (*text)[*length] = '\0';
  return STATUS_OK;
}

/* Runs a program and takes what it prints, errors included. *exit_status: NOT_FOUND when there is no such program. */
static Status capture(const Arguments *a, char **text, size_t *length, int *exit_status, Error *error) {
  int ends[2], waited = 0;
  *text = NULL;
  *length = 0;
  if (pipe(ends)) return error_set(error, STATUS_BAD_REQUEST, "no pipe to run %s: %s", a->argv[0], strerror(errno));
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]), close(ends[1]);
    return error_set(error, STATUS_BAD_REQUEST, "cannot run %s: %s", a->argv[0], strerror(errno));
  }
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]), close(ends[1]);
    execvp(a->argv[0], a->argv);
    _exit(NOT_FOUND);
  }
  close(ends[1]);
  const Status status = read_all(ends[0], text, length, error);
  close(ends[0]);
  while (waitpid(child, &waited, 0) < 0 && errno == EINTR) {
  }
  *exit_status = WIFEXITED(waited) ? WEXITSTATUS(waited) : 128;
  return status;
}

/* What a program that failed said last. */
static Status failed(const char *program, const char *text, size_t length, Error *error) {
  while (length && text[length - 1] == '\n') length--;
  size_t begin = length;
  while (begin && text[begin - 1] != '\n') begin--;
  char line[200];
  size_t n = 0;
  for (; begin + n < length && n + 1 < sizeof line; n++)
    line[n] = text[begin + n] >= 32 && text[begin + n] < 127 ? text[begin + n] : '?';
  line[n] = '\0';
  return error_set(error, STATUS_BAD_REQUEST, "%s did not run: %s", program, n ? line : "it said nothing");
}

static void find_kernels(const char *given, const char *program, char path[ARGUMENT_BYTES]) {
  snprintf(path, ARGUMENT_BYTES, "%s", *given ? given : "tilewalk-kernels");
  const char *slash = strrchr(program, '/');
  if (*given || !slash || slash - program > 400) return;
  char beside[ARGUMENT_BYTES];
  snprintf(beside, sizeof beside, "%.*s/tilewalk-kernels", (int)(slash - program), program);
  if (access(beside, X_OK) == 0) snprintf(path, ARGUMENT_BYTES, "%s", beside);
}

static Status count(const char *kernels, const Request *r, CounterTable *table, Error *error) {
  Arguments a = {0};
  char *text;
  size_t length;
  int exit_status = 0;
  push(&a, kernels);
  push(&a, "--counters");
  push_shape(&a, &r->shape, &r->tiling);
  Status status = capture(&a, &text, &length, &exit_status, error);
  if (status == STATUS_OK && exit_status == NOT_FOUND)
    status = error_set(error, STATUS_BAD_REQUEST,
                       "there is no program '%s'; `make kernels` builds tilewalk-kernels where nvcc is, or use --cpu",
                       quote_text(kernels).text);
  else if (status == STATUS_OK && exit_status > 1)
    status = failed("tilewalk-kernels", text, length, error);
  else if (status == STATUS_OK)
    status = counter_table_from_buffer(table, text, length, error);
  free(text);
  return status;
}

/* One rung under ncu; its kernels' counters are added up in *sum. *ran is false when there is no ncu. */
static Status profile(const char *kernels, const CounterRow *run, CounterRow *sum, bool *ran, Error *error) {
  Arguments a = {0};
  char metrics[ARGUMENT_BYTES] = "", *text;
  size_t length;
  int exit_status = 0;
  for (int i = 0; i < COUNTER_COUNTED_READ; i++) {
    strcat(metrics, i ? "," : "");
    strcat(metrics, COUNTER_NAMES[i].metric);
  }
  static const char *const FLAGS[] = {"ncu",           "--clock-control",
                                      "none",          "--cache-control",
                                      "all",           "--csv",
                                      "--page",        "raw",
                                      "--print-units", "base",
                                      "--kernel-name", "regex:naive_|tiled_|fa1|fa2_",
                                      "--metrics"};
  for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) push(&a, FLAGS[i]);
  push(&a, metrics);
  push(&a, kernels);
  push(&a, "--once");
  push(&a, "--rung");
  push(&a, run->kernel);
  const Tiling any = {0};
  const KernelModel *model =
      kernel_model_find(run->kernel); /* of unfused attention each product has tiles of its own */
  const bool is_unfused = model && strcmp(model->schedule, shipped_unfused()->name) == 0;
  push_shape(&a, &run->shape, is_unfused ? &any : &run->tiling);
  Status status = capture(&a, &text, &length, &exit_status, error);
  *ran = exit_status != NOT_FOUND;
  CounterTable table = {0};
  if (status == STATUS_OK && *ran) {
    status = exit_status ? failed("ncu", text, length, error) : counter_table_from_buffer(&table, text, length, error);
    *sum = *run;
    memset(sum->known, 0, sizeof sum->known);
    for (int c = 0; c < COUNTER_COUNTED_READ; c++) {
      sum->value[c] = 0;
      sum->known[c] = table.n_rows > 0;
      for (size_t i = 0; i < table.n_rows; i++) {
        sum->known[c] = sum->known[c] && table.rows[i].known[c];
        sum->value[c] += table.rows[i].value[c];
      }
    }
  }
  counter_table_free(&table);
  free(text);
  return status;
}

Status crosscheck_live(Crosscheck *c, Judge *judge, const Request *request, const char *given, const char *program,
                       bool *with_ncu, Error *error) {
  char kernels[ARGUMENT_BYTES];
  CounterTable table = {0};
  find_kernels(given, program, kernels);
  *with_ncu = true;
  Status status = count(kernels, request, &table, error);
  for (size_t i = 0; i < table.n_rows && status == STATUS_OK; i++) {
    const CounterRow *row = &table.rows[i];
    const KernelModel *model = kernel_model_find(row->kernel);
    if (!model) continue;
    status = crosscheck_add_row(c, row, model, &row->shape, &row->tiling, error);
    CounterRow profiled;
    if (status == STATUS_OK && *with_ncu) status = profile(kernels, row, &profiled, with_ncu, error);
    if (status == STATUS_OK && *with_ncu) {
      status = judge_rung(c, judge, &profiled, model, error);
      c->n_runs--; /* the same run, measured in a second way */
    }
  }
  counter_table_free(&table);
  return status;
}
