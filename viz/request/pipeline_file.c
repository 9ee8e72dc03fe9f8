#include "viz/request/pipeline_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "viz/request/assets.h"

const char *pipeline_kernel_of(const char *kernel, const Schedule *schedule) {
  return *kernel ? kernel : schedule->launches[0].consumers > 1 ? "fa3_overlap" : "";
}

Pipeline *pipeline_for(const char *kernel, const Shape *s, Error *error) {
  char relative[160], *text;
  size_t length;
  if (!pipeline_kernel(kernel) || (s->d != 64 && s->d != 128)) return NULL;
  snprintf(relative, sizeof relative, "assets/counters/h100/pipeline/%s_%s.csv", kernel,
           s->d == 64  ? "32_4096_64_0"
           : s->causal ? "16_4096_128_1"
                       : "16_4096_128_0");
  if (assets_read(relative, PIPELINE_BYTES_MAX, &text, &length, error)) return NULL;
  Pipeline *p = pipeline_read(text, length, relative, error);
  free(text);
  return p;
}
