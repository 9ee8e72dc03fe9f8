/* What `tilewalk kvcache` prints, as tables, JSON and CSV. */
#ifndef TILEWALK_VIZ_CLI_KVCACHE_REPORT_H
#define TILEWALK_VIZ_CLI_KVCACHE_REPORT_H

#include "sim/machine/gpu.h"
#include "sim/machine/kvmodel.h"
#include "viz/cli/command.h"
#include "viz/request/request.h"

enum { KV_REQUEST_LENGTHS_MAX = 4096, KV_REQUEST_STEPS_MAX = 100000 };

/* A complete request: nothing is left to defaults. */
typedef struct {
  KvCache cache;
  bool has_model, has_gpu;
  KvModel model; /* what the cache began as; of no meaning unless has_model */
  Gpu gpu;
  int64_t tokens, batch; /* with lengths: 0 and 1 */
  int64_t lengths[KV_REQUEST_LENGTHS_MAX];
  int n_lengths;
  int64_t max_tokens; /* reserved for each sequence where allocation is contiguous */
  int64_t block;
  int64_t n_steps; /* appended after `tokens` */
} KvRequest;

/* JSON with --json, CSV with --csv: of the steps, the sequences, or the comparison, whichever was
 * asked for. */
Status kvcache_report(const KvRequest *request, const OutputRequest *output, Io *io, Error *error);

/* The models that come with Tilewalk. */
Status kvcache_list(const OutputRequest *output, Io *io, Error *error);

#endif
