/* The figures behind `tilewalk kvcache`, of its tables and its JSON. */
#ifndef TILEWALK_VIZ_CLI_KVCACHE_KVCACHE_SIZES_H
#define TILEWALK_VIZ_CLI_KVCACHE_KVCACHE_SIZES_H

#include "sim/machine/gpu.h"
#include "sim/machine/kvmodel.h"
#include "viz/document/document.h"

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
  /* Serving. */
  int64_t budget_bytes;  /* of each GPU, for the cache; 0: not asked */
  int64_t n_gpus;        /* that share out the heads (tensor parallelism); cache is what each keeps */
  int64_t weights_bytes; /* of the whole model; 0: not known */
  int64_t in_flight;     /* tokens of a sequence in one batch, which a window keeps beside its own; 1: decode */
} KvRequest;

/* All sequences together. */
typedef struct {
  KvSize size;   /* of one sequence; zeros with lengths */
  KvState state; /* likewise */
  KvPaged paged;
} KvSizes;

Status kv_sizes(const KvRequest *request, KvSizes *sizes, Error *error);

/* The same model with other heads, types and without its window; what is the same as asked for is
 * left out. */
typedef struct {
  char name[64];
  KvCache cache;
} Alternative;

enum { ALTERNATIVES_MAX = 8 };

/* Returns how many. */
int kv_sizes_alternatives(const KvRequest *request, Alternative list[ALTERNATIVES_MAX]);

/* Bytes of all sequences under another cache. */
Wide kv_sizes_bytes(const KvRequest *request, const KvCache *cache);

/* What all sequences keep beside K and V of their tokens: states, K and V of images. */
Wide kv_sizes_fixed(const KvRequest *request);

/* What a budget holds, on each GPU. */
typedef struct {
  bool any_length;     /* every layer has a window, and they fit: a sequence of any length does */
  int64_t tokens;      /* of one sequence, in whole pages, at most */
  int64_t n_sequences; /* of r->tokens each, in pages */
  Wide sequence_bytes; /* of one of them, with what is fixed */
} KvFit;
KvFit kv_sizes_fit(const KvRequest *request);

/* Bytes of weights on each GPU. */
static inline Wide kv_sizes_weights(const KvRequest *r) { return wide(ceil_div(r->weights_bytes, r->n_gpus)); }

/* Attention of all layers for one new token of every sequence, at least: what sim says of one layer, layers times
 * (sim/serving.h). *seconds is 0 where no model says the query heads. Errors: as sim's. */
Status kv_sizes_step(const KvRequest *request, double *seconds, Error *error);

static inline double kv_sizes_share(Wide part, Wide whole) { return whole ? (double)part / (double)whole : 0; }

/* For JSON: all figures of the request, but for the tables of kvcache_report.c; and those of models. */
void kv_sizes_put(Document *document, const KvRequest *request, const KvSizes *sizes, double step_s);
void kv_sizes_put_models(Document *document, const KvModel *models, int n_models);

/* What is said of more tokens than the model was made for; takes the number. */
#define KVCACHE_BEYOND(m)                                                                                              \
  (m)->max_tokens_assumed ? "The model's file gives no context length: %s tokens are assumed."                         \
                          : "This model was made for at most %s tokens."

#endif
