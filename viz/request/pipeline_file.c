#include "viz/request/pipeline_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "viz/request/assets.h"

Pipeline *pipeline_for(const char *kernel, const Schedule *schedule, const Shape *s, Error *error) {
  char relative[160], path[ASSETS_PATH_BYTES], *text;
  size_t length;
  if (!pipeline_kernel(kernel)) kernel = schedule_owns_columns(schedule) ? "fa3_backward" : "fa3_overlap";
  if (s->d != 64 && s->d != 128) return NULL;
  snprintf(relative, sizeof relative, "assets/counters/h100/pipeline/%s_%s.csv", kernel,
           s->d == 64  ? "32_4096_64_0"
           : s->causal ? "16_4096_128_1"
                       : "16_4096_128_0");
  if (assets_find(path, sizeof path, relative, error) || file_read(path, PIPELINE_BYTES_MAX, &text, &length, error))
    return NULL;
  Pipeline *p = pipeline_read(text, length, relative, error);
  free(text);
  return p;
}
