/* Program text of unknown origin: refused with a line, or a program whose events are as many as are counted. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/language/read.h"
#include "sim/algorithms/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Shape SHAPES[] = {
      {.N_q = 5, .N_k = 7, .d = 2, .causal = true}, {.N_q = 6, .d = 3, .window = 2}, {.N_q = 1, .N_k = 9, .d = 1}};
  Program *p = malloc(sizeof *p);
  Error error = {0};
  if (!p) return 0;
  if (program_read(p, (const char *)data, size, "fuzz.walk", &error)) {
    if (!error.message[0] || strchr(error.message, '\n')) abort();
    free(p);
    return 0;
  }
  for (size_t k = 0; k < sizeof SHAPES / sizeof *SHAPES; k++) {
    const Tiling tiling = {.B_r = 2, .B_c = 3, .n_splits = (int64_t)k + 1, .lse = k == 1};
    Plan plan;
    Event event;
    Cursor cursor = {0};
    Wide steps = 0;
    if (plan_make(&plan, &SHAPES[k], &tiling, NULL)) abort();
    while (schedule_next(p, &plan, &cursor, &event)) steps++;
    if (steps != schedule_n_steps(p, &plan)) abort();
  }
  free(p);
  return 0;
}
