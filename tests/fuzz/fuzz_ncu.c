/* Counter files of unknown origin: whatever the bytes, an answer or a one-line error, within bounded time and memory.
 */
#include "tests/fuzz/fuzz.h"
#include "kernels/counters/explain.h"
#include "kernels/counters/launches.h"

/* Names and counts of any kind: added up, and explained for some shape. */
static void look_at_runs(const CounterTable *table) {
  LaunchRun *runs;
  size_t n;
  if (launch_runs(table, "", &runs, &n, NULL)) abort();
  const KernelModel model = kernel_model_of_schedule("fa2", NULL);
  const Shape shape = {.heads = 4, .kv_heads = 2, .N_q = 300, .N_k = 300, .d = 40, .causal = true};
  const Tiling tiling = {.B_r = 64, .B_c = 64};
  for (size_t i = 0; i < n; i++) {
    Cause causes[CAUSES_MAX];
    int n_causes;
    if (!memchr(runs[i].parts, '\0', sizeof runs[i].parts)) abort();
    if (counter_explain(&runs[i].sum, &model, &shape, &tiling, NULL, causes, &n_causes, NULL)) abort();
    for (int c = 0; c < n_causes; c++)
      if (!causes[c].text[0] || strchr(causes[c].text, '\n')) abort();
  }
  free(runs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CounterTable table;
  Error error = {0};
  const Status status = counter_table_from_buffer(&table, (const char *)data, size, &error);
  if (status == STATUS_OK ? table.n_rows == 0 || !table.rows : table.rows || !error.message[0]) abort();
  if (strchr(error.message, '\n')) abort();
  for (size_t i = 0; i < table.n_rows; i++)
    if (!memchr(table.rows[i].kernel, '\0', NCU_NAME_BYTES)) abort();
  if (status == STATUS_OK && table.n_rows < 100) look_at_runs(&table);
  counter_table_free(&table);
  return 0;
}
