/* The KV cache: what a model keeps in memory for every token it has seen.
 *
 *      one token, one layer:   kv_heads rows of K and kv_heads rows of V, d elements each
 *
 *      row:  [ e e e e | e e e e | ... ]  elements of dtype, a row filled up to whole bytes
 *            [ s       | s       | ... ]  with a group size: scale_bytes for every group of elements
 *
 *      bytes = 2 x layers x kv_heads x row x tokens
 *
 * GQA and MQA are fewer kv_heads than query heads. MLA (DeepSeek) keeps one row of `latent`
 * elements a token and layer instead of K and V. A sliding window keeps the last `window` tokens,
 * in all layers or in `window_layers` of them; the others keep everything. A chunk (Llama 4) keeps
 * the tokens since the last multiple of `window`: it is empty again when the next one begins.
 * Layers of further kinds, with other heads or windows, are groups of their own (`more`).
 *
 * Paged allocation (Kwon et al., PagedAttention, SOSP 2023): memory is handed out in pages of
 * page_tokens tokens, so a sequence wastes at most the rest of its last page, where contiguous
 * reservation wastes all that the sequence does not use of the longest one foreseen. A page that
 * has slid out of the window of a windowed layer is given back. A sequence's table has an index of
 * 4 bytes for each page (vLLM's block tables, int32), a table for each kind of layers.
 *
 * Modelled: sizes, growth, pages and waste, to the byte. Not modelled: groups along the tokens (as
 * KIVI has for K), outliers kept apart, activations. */
#ifndef TILEWALK_SIM_MACHINE_KVCACHE_H
#define TILEWALK_SIM_MACHINE_KVCACHE_H

#include "sim/base/checked.h"
#include "sim/base/error.h"

typedef enum { KV_FP16 = 0, KV_BF16, KV_FP32, KV_FP8, KV_INT8, KV_INT4, KV_DTYPE_COUNT } KvDtype;

int kvcache_dtype_bits(KvDtype dtype);
const char *kvcache_dtype_name(KvDtype dtype);                  /* "fp16", "int4", ... */
extern const char *const KV_DTYPE_NAMES[KV_DTYPE_COUNT + 1];    /* end with NULL */
bool kvcache_dtype_from_name(const char *name, KvDtype *dtype); /* false: no such type */

/* Largest values accepted; all totals below then fit 128 bits. */
#define KVCACHE_MAX_LAYERS ((int64_t)1 << 20)
#define KVCACHE_MAX_HEADS  ((int64_t)1 << 20)
#define KVCACHE_MAX_D      ((int64_t)1 << 20)
#define KVCACHE_MAX_TOKENS ((int64_t)1 << 40)
#define KVCACHE_MAX_PAGE   ((int64_t)1 << 30)
#define KVCACHE_MAX_BATCH  ((int64_t)1 << 20)

enum { KVCACHE_MORE_MAX = 14, KVCACHE_GROUPS_MAX = KVCACHE_MORE_MAX + 2 };

/* Layers that are alike. */
typedef struct {
  int64_t layers;
  int64_t kv_heads, d, d_v; /* as in KvCache; d_v 0: d */
  int64_t latent;
  int64_t window; /* tokens that each keeps at most; 0: all */
  bool chunked;   /* the window is a chunk */
} KvGroup;

typedef struct {
  int64_t layers;        /* without those of `more` */
  int64_t kv_heads;      /* with latent: 0 */
  int64_t d;             /* elements of a row of K and of V; with latent: 0 */
  int64_t d_v;           /* elements of a row of V where it differs; 0: d */
  int64_t latent;        /* MLA: elements kept a token and layer; 0: K and V are kept */
  int64_t window;        /* tokens a windowed layer keeps; 0: no layer is windowed */
  int64_t window_layers; /* 0 with a window: all layers */
  bool chunked;          /* the window is a chunk */
  KvGroup more[KVCACHE_MORE_MAX];
  int n_more;
  KvDtype dtype;
  int64_t group;       /* elements of a row that share a scale; 0: no scales */
  int64_t scale_bytes; /* for a group; 0 with a group: 2, an fp16 scale (4: scale and zero point) */
  int64_t page_tokens; /* 0: 16, the default of vLLM */
} KvCache;

/* Replaces zeros by their defaults and checks the rest. All zeros: no cache. *cache is unchanged on error. */
Status kvcache_complete(KvCache *cache, Error *error);

/* The cache as groups of layers that are alike: those without a window, those with, then `more`. Returns how many;
 * none is empty. */
int kvcache_groups(const KvCache *cache, KvGroup groups[KVCACHE_GROUPS_MAX]);
int64_t kvcache_group_bytes(const KvCache *cache, const KvGroup *group); /* of one token in one of its layers */
int64_t kvcache_group_scales(const KvCache *cache, const KvGroup *group);
int64_t kvcache_group_tokens(const KvGroup *group, int64_t tokens); /* of these, how many it holds */
int64_t kvcache_layers(const KvCache *cache);                       /* of all groups */

/* Bytes of one token in all layers. */
Wide kvcache_bytes_per_token(const KvCache *cache);

/* --- Growth, token by token --- */

/* A copy is a bookmark. Begins as zeros. */
typedef struct {
  int64_t tokens;           /* appended so far */
  int64_t window_tokens;    /* of these, held by windowed layers (the first kind) */
  int64_t pages;            /* that the layers without a window hold; each for all of these layers */
  int64_t window_pages;     /* that the windowed layers hold; each for all layers with one window */
  int64_t last_page_tokens; /* in the newest page, 1 to page_tokens; 0: no page yet */
  Wide bytes;               /* in use */
  Wide scale_bytes;         /* of them */
  Wide page_bytes;          /* allocated */
  Wide table_bytes;         /* of the tables of pages */
} KvState;

/* What one step did. */
typedef struct {
  int64_t token;          /* its index */
  int64_t page, slot;     /* where it went */
  bool new_page;          /* a page had to be allocated for it */
  bool window_page_freed; /* a page slid out of the window */
  bool window_token_dropped;
} KvAppend;

/* Appends one token. state->tokens must be below KVCACHE_MAX_TOKENS. */
KvAppend kvcache_append(const KvCache *cache, KvState *state);

/* The state after `tokens` appends, at once. 0 <= tokens <= KVCACHE_MAX_TOKENS. */
KvState kvcache_seek(const KvCache *cache, int64_t tokens);

/* Of a prefix that sequences begin with, what is kept once, and read once, for all of them: its whole pages. vLLM's and
 * SGLang's caches share no part of a page. */
int64_t kvcache_shared(const KvCache *cache, int64_t prefix);

/* The most that a sequence keeps on its way to that many tokens: a chunk is fullest before it ends. */
Wide kvcache_most_bytes(const KvCache *cache, int64_t tokens);

/* What each of n_gpus keeps when heads are shared out among them (tensor parallelism): KV heads are divided, or
 * repeated where there are fewer than GPUs; a latent is kept by each. Errors: they do not divide. */
Status kvcache_share(KvCache *cache, int64_t n_gpus, Error *error);

#endif
