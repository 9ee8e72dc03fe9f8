/* The figures behind `tilewalk kvcache`, shared by its tables and its JSON. */
#ifndef TILEWALK_VIZ_CLI_KVCACHE_RECKON_H
#define TILEWALK_VIZ_CLI_KVCACHE_RECKON_H

#include <stdio.h>

#include "sim/machine/gpu.h"
#include "sim/machine/kvmodel.h"

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

/* All sequences together. */
typedef struct {
  KvSize size;   /* of one sequence; zeros with lengths */
  KvState state; /* likewise */
  KvPaged paged;
} Reckoned;

Status kvreckon(const KvRequest *request, Reckoned *reckoned, Error *error);

/* The same model with other heads, types and without its window; what is the same as asked for is
 * left out. */
typedef struct {
  char name[64];
  KvCache cache;
} Alternative;

enum { ALTERNATIVES_MAX = 8 };

/* Returns how many. */
int kvreckon_alternatives(const KvRequest *request, Alternative list[ALTERNATIVES_MAX]);

/* Bytes of all sequences under another cache. */
Wide kvreckon_bytes(const KvRequest *request, const KvCache *cache);

/* What all sequences keep beside K and V of their tokens: states, K and V of images. */
Wide kvreckon_fixed(const KvRequest *request);

#define KVRECKON_UNUSED "keys that may bear on the cache and were not used: %s"

static inline double kvreckon_share(Wide part, Wide whole) { return whole ? (double)part / (double)whole : 0; }

/* The JSON of the command, and of its --list. */
Status kvreckon_json(const KvRequest *request, const Reckoned *reckoned, FILE *out, Error *error);
Status kvreckon_list_json(const KvModel *models, int n_models, FILE *out, Error *error);

#endif
