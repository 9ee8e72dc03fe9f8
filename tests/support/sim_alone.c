/* sim/ by itself: a few runs, printed. tests/support/musl.sh builds it with two C libraries and compares. */
#include <stdio.h>

#include "sim/numbers/softmax.h"
#include "sim/simulate.h"

static void print_run(const char *name, const Problem *problem) {
  Simulation s;
  Error error = {0};
  if (simulate(&s, problem, schedule_find(name), &error)) {
    printf("%s: %s\n", name, error.message);
    return;
  }
  printf("%s: %.17g bytes, %.17g flops a byte, SRAM %.0f, fits %d\n", name, (double)s.total_bytes,
         s.intensity_flops_per_byte, (double)s.sram.bytes, s.fits);
}

int main(void) {
  static const char *const NAMES[] = {"standard", "fa1", "fa2", "fa2-split"};
  for (int64_t N = 1; N < 100000; N = N * 7 + 3)
    for (int causal = 0; causal < 2; causal++)
      for (size_t k = 0; k < COUNT_OF(NAMES); k++) {
        const Problem p = {.shape = {.N_q = N, .d = 64, .heads = 3, .causal = causal}, .machine = machine_paper()};
        print_run(NAMES[k], &p);
      }
  const SoftmaxConfig config = {0};
  const double scores[] = {1, 2, 4, 2, 5, 1, 3, 1};
  SoftmaxState state = softmax_start(&config);
  for (int k = 0; k < 8; k += 4) softmax_step(&config, &state, scores + k, 4, NULL, 0, NULL, NULL);
  printf("m %.17g, l %.15g\n", state.m, state.l);
  return 0;
}
