#include "viz/cli/shard.h"

#include <stdio.h>

enum { PARTS_MAX = 1000000 };

static Status set_shard(void *target, const char *value, Error *error) {
  Shard *s = target;
  char part[16];
  const char *slash = strchr(value, '/');
  Error inner = {0};
  snprintf(part, sizeof part, "%.*s", slash && slash - value < 15 ? (int)(slash - value) : 0, value);
  if (slash && !options_count("N", slash + 1, 1, PARTS_MAX, &s->parts, &inner) &&
      !options_count("I", part, 1, s->parts, &s->part, &inner))
    return STATUS_OK;
  return error_refuse(error, "'%s' is no part of a whole; give I/N with I from 1 to N, such as 3/8",
                      quote_text(value).text);
}

#define SHARD(text)                                                                                                    \
  { OPTION_ROW("shard", "I/N", text, .set = set_shard), {0}, }

const Option SHARD_OPTIONS[] = SHARD(
    "With --csv: only part I of N. The heading is in part 1, so that cat of the parts in order is one run to the byte. "
    "What one core does in a second wants no parts.");
const Option SHARD_SUM_OPTIONS[] = SHARD(
    "With --csv: counts of part I of N of the blocks. Those of all parts add up to those of --shard 1/1. For kernels "
    "whose blocks do not wait for each other; caches are left out.");

Status shard_check(const Shard *shard, const OutputRequest *output, Error *error) {
  if (!shard->parts || output->csv) return STATUS_OK;
  return error_refuse(error, "--shard prints rows that are put together again; add --csv");
}

void shard_slice(const Shard *shard, size_t n, size_t *first, size_t *end) {
  const Wide parts = shard->parts ? (Wide)shard->parts : 1, part = shard->parts ? (Wide)shard->part : 1;
  *first = (size_t)((Wide)n * (part - 1) / parts);
  *end = (size_t)((Wide)n * part / parts);
}

bool shard_has(const Shard *shard, size_t k, size_t n) {
  size_t first, end;
  shard_slice(shard, n, &first, &end);
  return k >= first && k < end;
}
