/* Counter files of unknown origin: whatever the bytes, an answer or a one-line error, within bounded time and memory.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/counters/ncu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CounterTable table;
  Error error = {0};
  const Status status = counter_table_from_buffer(&table, (const char *)data, size, &error);
  if (status == STATUS_OK ? table.n_rows == 0 || !table.rows : table.rows || !error.message[0]) abort();
  if (strchr(error.message, '\n')) abort();
  for (size_t i = 0; i < table.n_rows; i++)
    if (!memchr(table.rows[i].kernel, '\0', NCU_NAME_BYTES)) abort();
  counter_table_free(&table);
  return 0;
}
