/* Fuzz target for recorded pipelines: a file is refused with its name, or is one whose spans go forward. */
#include "tests/fuzz/fuzz.h"
#include "viz/scene/pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Error error = {0};
  Pipeline *p = pipeline_read((const char *)data, size, "f", &error);
  if (!p) {
    require(error.status != STATUS_OK && *error.message);
    return 0;
  }
  double all = 0;
  for (int n = 0; n <= PIPELINE_GROUPS_MAX; n++) all += p->in_softmax[n];
  require(all < 1.000001 && p->idle <= 1.000001);
  for (int k = 1; k < p->n_tensor; k++) require(p->tensor[k].begin >= p->tensor[k - 1].end);
  for (int k = 0; k < p->n_spans; k++) require(p->spans[k].end > p->spans[k].begin);
  for (int slot = 0; slot < PIPELINE_SLOTS; slot++) (void)pipeline_slot(p, slot, p->end / 2);
  free(p);
  return 0;
}
