#include "viz/request/pipeline_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "viz/request/assets.h"

Pipeline *pipeline_for(const Shape *s, Error *error) {
  char relative[160], path[ASSETS_PATH_BYTES], *text;
  size_t length;
  const char *name = s->d == 64                       ? "32_4096_64_0"
                     : s->d != 128                    ? NULL
                     : s->causal                      ? "16_4096_128_1"
                     : s->batch <= 1 && s->heads <= 1 ? "1_4096_128_0"
                                                      : "16_4096_128_0";
  if (!name) return NULL;
  snprintf(relative, sizeof relative, "assets/counters/h100/pipeline/%s.csv", name);
  if (assets_find(path, sizeof path, relative, error) || file_read(path, PIPELINE_BYTES_MAX, &text, &length, error))
    return NULL;
  Pipeline *p = pipeline_read(text, length, relative, error);
  free(text);
  return p;
}
