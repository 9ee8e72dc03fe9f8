/* Reads recorded hardware counters of assets/ (kernels/counters/ncu.h), for tests; fails the test where it cannot.
 * Include it after cmocka.h. */
#ifndef TILEWALK_TESTS_SUPPORT_OPEN_COUNTER_TABLE_H
#define TILEWALK_TESTS_SUPPORT_OPEN_COUNTER_TABLE_H

#include "kernels/counters/ncu.h"
#include "tests/support/open_asset.h"

/* name: as "counters/h200/others/first.csv". To be freed with counter_table_free. */
static inline CounterTable open_counter_table(const char *name) {
  static char text[1 << 20];
  FILE *file = open_asset(name);
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  if (length == sizeof text) fail_msg("%s is too long", name);
  CounterTable table;
  Error error = {0};
  if (counter_table_from_buffer(&table, text, length, &error)) fail_msg("%s", error.message);
  return table;
}

#endif
