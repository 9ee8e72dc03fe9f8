#define _GNU_SOURCE /* memmem */
#include "viz/request/kernel_from_counters.h"

#include <stdlib.h>

#include "kernels/counters/launches.h"
#include "sim/base/text_add.h"

bool kernel_is_counters(const char *text, size_t length) {
  /* A description has no such words, and no letters of 16 bits. */
  static const char *const words[] = {"Kernel Name", "\"ID\"", "Metric Name", "==PROF=="};
  if (length >= 2 && ((unsigned char)text[0] == 0xff || (unsigned char)text[0] == 0xfe)) return true;
  for (size_t w = 0; w < COUNT_OF(words); w++)
    if (memmem(text, length < 65536 ? length : 65536, words[w], strlen(words[w]))) return true;
  return false;
}

static const LaunchRun *find_attention(const LaunchRun *runs, size_t n) {
  const LaunchRun *best = NULL;
  for (size_t i = 0; i < n; i++) {
    const LaunchRole role = runs[i].facts.role;
    if (role != LAUNCH_ROLE_FUSED && role != LAUNCH_ROLE_SPLIT) continue;
    if (runs[i].facts.block_q) return &runs[i];
    if (!best) best = &runs[i];
  }
  return best;
}

static void write_lines(const LaunchRun *run, char *to, size_t size) {
  const CounterRow *row = &run->sum;
  const LaunchFacts *f = &run->facts;
  const int64_t threads = row->block[0] * row->block[1] * row->block[2];
#define PUT(...) text_add(to, size, __VA_ARGS__)
  PUT("tile = %jd x %jd\n", f->block_q, f->block_k);
  if (threads) PUT("threads = %jd\n", threads);
  if (row->registers) PUT("registers = %jd\n", row->registers);
  if (row->dynamic_shared_bytes) PUT("shared = %jd B\n", row->dynamic_shared_bytes);
  if (f->description && !strcmp(f->description, "fa2-sm90"))
    PUT("order = query-batch-head\nwalk = reversed\nlse = yes\n");
#undef PUT
}

Status kernel_from_counters(const char *text, size_t length, const char *display_name, char *description, size_t size,
                            char *known, size_t known_size, Error *error) {
  CounterTable table;
  LaunchRun *runs = NULL;
  size_t n = 0;
  Error why = {0};
  *description = *known = '\0';
  Status status = counter_table_from_buffer(&table, text, length, &why);
  if (status) return error_set(error, status, "%.80s: %s", display_name, why.message);
  status = launch_runs(&table, "", &runs, &n, error);
  if (!status) {
    const LaunchRun *run = find_attention(runs, n);
    if (run && run->facts.description && run->sum.capability == 90)
      snprintf(known, known_size, "%s", run->facts.description);
    if (run && run->facts.block_q) {
      write_lines(run, description, size);
    } else if (!*known) {
      const char *name = run ? run->sum.kernel : table.rows[0].kernel;
      status = error_set(error, STATUS_BAD_FILE,
                         "%.80s: the name of its kernel '%s' does not say the tile; describe it in a file with a line "
                         "'tile = 128 x 64' (tilewalk list kernels --format)",
                         display_name, quote_text(name).text);
    }
  }
  free(runs);
  counter_table_free(&table);
  return status;
}
