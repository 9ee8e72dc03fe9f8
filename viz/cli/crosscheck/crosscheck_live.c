/* Running tilewalk-kernels, and ncu around it, from `tilewalk crosscheck --live`. */
#define _POSIX_C_SOURCE 200809L /* popen, access, setenv */
#include "viz/cli/crosscheck/crosscheck_live.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/algorithms/shipped.h"
#include "sim/base/text_add.h"

enum { COMMAND_BYTES = 4096, PATH_BYTES = 1200, NOT_FOUND = 127 };
#define OUTPUT_MAX_BYTES ((size_t)16 << 20)

/* Options of tilewalk-kernels; of what is 0 it chooses. */
static void shape_options(const Shape *s, const Tiling *t, char *text, size_t size) {
  snprintf(text, size, " -N %jd --seq-len-k %jd -d %jd --batch %jd --heads %jd --kv-heads %jd --dtype %s%s", s->N_q,
           s->N_k, s->d, s->batch, s->heads, s->kv_heads, dtype_name(s->dtype), s->causal ? " --causal" : "");
  if (t->B_r) text_add(text, size, " --block-q %jd --block-k %jd", t->B_r, t->B_c);
}

/* What a program that failed said last. */
static Status failed(const char *program, const char *text, size_t length, Error *error) {
  while (length && text[length - 1] == '\n') length--;
  size_t begin = length;
  while (begin && text[begin - 1] != '\n') begin--;
  char line[200];
  snprintf(line, sizeof line, "%.*s", (int)(length - begin), text + begin);
  utf8_clean(line);
  return error_refuse(error, "%s did not run: %s", program, *line ? line : "it said nothing");
}

/* Runs a line of the shell, with $TILEWALK_KERNELS, and reads what it prints, errors included, as counters, unless it
 * exits with more than `most`. *exit_status: NOT_FOUND when there is no such program; then the table is empty. */
static Status counters_of(const char *command, const char *program, int most, CounterTable *table, int *exit_status,
                          Error *error) {
  char *text = malloc(OUTPUT_MAX_BYTES);
  if (!text) return error_no_memory(error, "for what a program prints");
  FILE *pipe = popen(command, "r");
  const size_t length = pipe ? fread(text, 1, OUTPUT_MAX_BYTES, pipe) : 0;
  const int ended = pipe ? pclose(pipe) : 0;
  *exit_status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128;
  Status status = STATUS_OK;
  if (!pipe)
    status = error_refuse(error, "cannot run a program: %s", strerror(errno));
  else if (length == OUTPUT_MAX_BYTES)
    status = error_set(error, STATUS_NO_MEMORY, "a program printed more than can be held");
  else if (*exit_status != NOT_FOUND)
    status = *exit_status > most ? failed(program, text, length, error)
                                 : counter_table_from_buffer(table, text, length, error);
  free(text);
  return status;
}

static void find_kernels(const char *given, const char *program, char path[PATH_BYTES]) {
  const char *slash = strrchr(program, '/');
  snprintf(path, PATH_BYTES, "%s", *given ? given : "tilewalk-kernels");
  if (*given || !slash || slash - program > 400) return;
  char beside[PATH_BYTES];
  snprintf(beside, sizeof beside, "%.*s/tilewalk-kernels", (int)(slash - program), program);
  if (access(beside, X_OK) == 0) memcpy(path, beside, sizeof beside);
}

static Status count(const char *kernels, const Request *r, CounterTable *table, Error *error) {
  char options[512], command[COMMAND_BYTES];
  int exit_status = 0;
  shape_options(&r->shape, &r->tiling, options, sizeof options);
  snprintf(command, sizeof command, "\"$TILEWALK_KERNELS\" --counters%s 2>&1", options);
  const Status status = counters_of(command, "tilewalk-kernels", 1, table, &exit_status, error);
  if (status || exit_status != NOT_FOUND) return status;
  return error_refuse(error,
                      "there is no program '%s'; `make kernels` builds tilewalk-kernels where nvcc is, or use --cpu",
                      quote_text(kernels).text);
}

/* One rung under ncu; its kernels' counters are added up in *sum. *ran is false when there is no ncu. */
static Status profile(const CounterRow *run, CounterRow *sum, bool *ran, Error *error) {
  char options[512], metrics[COMMAND_BYTES / 2] = "", command[COMMAND_BYTES];
  int exit_status = 0;
  const Tiling any = {0};
  const KernelModel *model =
      kernel_model_find(run->kernel); /* of unfused attention each product has tiles of its own */
  const bool is_unfused = model && strcmp(model->schedule, shipped_unfused()->name) == 0;
  for (int i = 0; i < COUNTER_COUNTED_READ; i++)
    text_add(metrics, sizeof metrics, "%s%s", i ? "," : "", COUNTER_NAMES[i].metric);
  shape_options(&run->shape, is_unfused ? &any : &run->tiling, options, sizeof options);
  snprintf(command, sizeof command,
           "ncu --clock-control none --cache-control all --csv --page raw --print-units base --kernel-name "
           "'regex:naive_|tiled_|fa1|fa2_' --metrics %s \"$TILEWALK_KERNELS\" --once --rung %s%s 2>&1",
           metrics, model ? model->name : "none", options);
  CounterTable table = {0};
  const Status status = counters_of(command, "ncu", 0, &table, &exit_status, error);
  *ran = exit_status != NOT_FOUND;
  *sum = *run;
  for (int c = 0; c < COUNTER_COUNT; c++) {
    sum->value[c] = 0;
    sum->known[c] = c < COUNTER_COUNTED_READ && table.n_rows > 0;
    for (size_t i = 0; i < table.n_rows; i++) {
      sum->known[c] &= table.rows[i].known[c];
      sum->value[c] += table.rows[i].value[c];
    }
  }
  counter_table_free(&table);
  return status;
}

Status crosscheck_live(Crosscheck *c, Judge *judge, const Request *request, const char *given, const char *program,
                       bool *with_ncu, Error *error) {
  char kernels[PATH_BYTES];
  CounterTable table = {0};
  find_kernels(given, program, kernels);
  setenv("TILEWALK_KERNELS", kernels, 1);
  *with_ncu = true;
  Status status = count(kernels, request, &table, error);
  for (size_t i = 0; i < table.n_rows && !status; i++) {
    const CounterRow *row = &table.rows[i];
    const KernelModel *model = kernel_model_find(row->kernel);
    if (!model) continue;
    status = crosscheck_add_row(c, row, model, &row->shape, &row->tiling, error);
    CounterRow profiled;
    if (!status && *with_ncu) status = profile(row, &profiled, with_ncu, error);
    if (!status && *with_ncu) {
      status = judge_rung(c, judge, &profiled, model, error);
      c->n_runs--; /* the same run, measured in a second way */
    }
  }
  counter_table_free(&table);
  return status;
}
