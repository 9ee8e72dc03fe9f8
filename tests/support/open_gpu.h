/* Reads a GPU's description in assets/gpus, for tests; fails the test where it cannot be read. Include it after
 * cmocka.h. */
#ifndef TILEWALK_TESTS_SUPPORT_OPEN_GPU_H
#define TILEWALK_TESTS_SUPPORT_OPEN_GPU_H

#include "sim/machine/gpu.h"
#include "tests/support/open_asset.h"

static inline Gpu open_gpu(const char *gpu_name) {
  static char text[KEYFILE_MAX_BYTES];
  char name[256];
  snprintf(name, sizeof name, "gpus/%.200s", gpu_name);
  FILE *file = open_asset(name);
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  Gpu gpu;
  Error error = {0};
  if (gpu_parse(text, length, gpu_name, &gpu, &error)) fail_msg("%s", error.message);
  return gpu;
}

#endif
