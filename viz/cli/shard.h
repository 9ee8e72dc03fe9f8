/* --shard I/N: one of N parts of a command's points, dealt out in order, so that several computers can share them.
 *
 * Part I takes the points from n (I - 1) / N up to n I / N, rounded down. Of its CSV only part 1 has the heading line:
 * `cat` of the parts in their order gives the bytes of one run. */
#ifndef TILEWALK_VIZ_CLI_SHARD_H
#define TILEWALK_VIZ_CLI_SHARD_H

#include "viz/request/request.h"

typedef struct {
  long long part, parts; /* zeros: all points */
} Shard;

extern const Option SHARD_OPTIONS[], SHARD_SUM_OPTIONS[]; /* sums: of counts, which are added up */

/* A part is CSV: refuses it in another form. */
Status shard_check(const Shard *shard, const OutputRequest *output, Error *error);

/* The points first up to end of n. */
void shard_slice(const Shard *shard, size_t n, size_t *first, size_t *end);

/* Whether point k of n is in the part. */
bool shard_has(const Shard *shard, size_t k, size_t n);

#endif
