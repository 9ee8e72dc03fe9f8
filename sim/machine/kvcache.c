#include "sim/machine/kvcache.h"
#include "sim/base/word_list.h"

#include <assert.h>

const char *const KV_DTYPE_NAMES[KV_DTYPE_COUNT + 1] = {"fp16", "bf16", "fp32", "fp8", "int8", "int4", NULL};
static const int BITS[KV_DTYPE_COUNT] = {16, 16, 32, 8, 8, 4};

int kvcache_dtype_bits(KvDtype dtype) { return BITS[dtype]; }
const char *kvcache_dtype_name(KvDtype dtype) { return KV_DTYPE_NAMES[dtype]; }

bool kvcache_dtype_from_name(const char *name, KvDtype *dtype) {
  const int found = word_list_find(KV_DTYPE_NAMES, name);
  if (found >= 0) *dtype = (KvDtype)found;
  return found >= 0;
}

enum { KVCACHE_INDEX_BYTES = 4 };

/* --- Checks --- */

typedef struct {
  const char *name; /* NULL: the last */
  int64_t value, low, high;
} Range;

static Status check_ranges(const Range *r, Error *error) {
  while (r->name && r->value >= r->low && r->value <= r->high) r++;
  if (!r->name) return STATUS_OK;
  return error_refuse(error, "%s is %jd; it must be from %jd to %jd", r->name, r->value, r->low, r->high);
}

static Status check_group(const KvGroup *g, const char *layers, bool is_empty, Error *error) {
  const bool has_rows = !g->latent && !is_empty;
  if (g->latent && (g->kv_heads || g->d))
    return error_refuse(error, "a latent of %jd elements replaces K and V, so KV heads (%jd) and d (%jd) must be 0",
                        g->latent, g->kv_heads, g->d);
  return check_ranges((Range[]){{layers, g->layers, !is_empty, KVCACHE_MAX_LAYERS},
                                {"latent", g->latent, 0, KVCACHE_MAX_D},
                                {"KV heads", g->kv_heads, has_rows, KVCACHE_MAX_HEADS},
                                {"d", g->d, has_rows, KVCACHE_MAX_D},
                                {"d of V", g->d_v, 0, KVCACHE_MAX_D},
                                {"window", g->window, 0, KVCACHE_MAX_TOKENS},
                                {0}},
                      error);
}

static Status check_scales(const KvCache *c, Error *error) {
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  for (int g = 0; g < n; g++) {
    const int64_t row = groups[g].latent ? groups[g].latent : groups[g].d;
    if (c->group < 0 || c->group > row)
      return error_refuse(error, "groups of %jd elements do not fit a row of %jd; a group lies within one row",
                          c->group, row);
  }
  if (c->scale_bytes && !c->group)
    return error_refuse(error, "scales of %jd B belong to groups, but no group size is given", c->scale_bytes);
  return check_ranges(
      (Range[]){{"scale bytes", c->scale_bytes, 0, 64}, {"page tokens", c->page_tokens, 1, KVCACHE_MAX_PAGE}, {0}},
      error);
}

static KvGroup base_of(const KvCache *c) {
  return (KvGroup){
      .layers = c->layers, .kv_heads = c->kv_heads, .d = c->d, .d_v = c->d_v, .latent = c->latent, .window = c->window};
}

Status kvcache_complete(KvCache *cache, Error *error) {
  KvCache c = *cache;
  if (c.window && c.window_layers == 0) c.window_layers = c.layers;
  if (c.group && c.scale_bytes == 0) c.scale_bytes = 2;
  if (c.page_tokens == 0) c.page_tokens = 16;
  const bool is_empty = !c.layers && !c.kv_heads && !c.d && !c.latent && !c.n_more && !c.window; /* no cache at all */
  const KvGroup base = base_of(&c);
  Status status = check_group(&base, "layers", is_empty, error);
  if (!status && c.window_layers && !c.window)
    status = error_refuse(error, "%jd layers are to have a window, but no window is given", c.window_layers);
  for (int g = 0; g < c.n_more && !status; g++) status = check_group(&c.more[g], "layers of a group", false, error);
  if (!status)
    status = check_ranges((Range[]){{"window layers", c.window_layers, 0, c.layers},
                                    {"layers", kvcache_layers(&c), !is_empty, KVCACHE_MAX_LAYERS},
                                    {0}},
                          error);
  if (!status) status = check_scales(&c, error);
  if (!status) *cache = c;
  return status;
}

/* --- Groups --- */

int kvcache_groups(const KvCache *c, KvGroup groups[KVCACHE_GROUPS_MAX]) {
  KvGroup row = base_of(c);
  int n = 0;
  if ((row.layers -= c->window_layers) > 0) row.window = 0, groups[n++] = row;
  row.layers = c->window_layers, row.window = c->window, row.chunked = c->chunked;
  if (row.layers > 0) groups[n++] = row;
  for (int g = 0; g < c->n_more && g < KVCACHE_MORE_MAX; g++) groups[n++] = c->more[g];
  return n;
}

/* Of a row of so many elements. */
static int64_t row_bytes(const KvCache *c, int64_t elements) { return ceil_div(elements * BITS[c->dtype], 8); }
static int64_t row_scales(const KvCache *c, int64_t elements) {
  return c->group ? ceil_div(elements, c->group) * c->scale_bytes : 0;
}

/* Of one token in one layer. */
static int64_t of_rows(const KvCache *c, const KvGroup *g, int64_t (*of)(const KvCache *c, int64_t elements)) {
  return g->latent ? of(c, g->latent) : g->kv_heads * (of(c, g->d) + of(c, g->d_v ? g->d_v : g->d));
}

int64_t kvcache_group_scales(const KvCache *c, const KvGroup *g) { return of_rows(c, g, row_scales); }
int64_t kvcache_group_bytes(const KvCache *c, const KvGroup *g) {
  return of_rows(c, g, row_bytes) + kvcache_group_scales(c, g);
}

int64_t kvcache_group_tokens(const KvGroup *g, int64_t tokens) {
  if (!g->window || tokens <= g->window) return tokens;
  return g->chunked ? (tokens - 1) % g->window + 1 : g->window;
}

/* Of the pages of `tokens` tokens, those that hold a token that is still held. */
static int64_t group_pages(const KvCache *c, const KvGroup *g, int64_t tokens) {
  return ceil_div(tokens, c->page_tokens) - (tokens - kvcache_group_tokens(g, tokens)) / c->page_tokens;
}

int64_t kvcache_layers(const KvCache *c) {
  int64_t layers = c->layers;
  for (int g = 0; g < c->n_more; g++) layers += c->more[g].layers;
  return layers;
}

/* --- Sizes --- */

Wide kvcache_bytes_per_token(const KvCache *c) { return kvcache_most_bytes(c, 1); } /* no window is empty */

/* Of the first kind of layers that have a window. */
static int64_t held_by_window(const KvGroup *groups, int n, int64_t tokens) {
  for (int g = 0; g < n; g++)
    if (groups[g].window) return kvcache_group_tokens(&groups[g], tokens);
  return tokens;
}

/* --- Growth --- */

KvState kvcache_seek(const KvCache *c, int64_t tokens) {
  assert(tokens >= 0 && tokens <= KVCACHE_MAX_TOKENS);
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  const int64_t pages = ceil_div(tokens, c->page_tokens);
  KvState s = {.tokens = tokens, .window_tokens = held_by_window(groups, n, tokens)};
  s.last_page_tokens = tokens - (pages > 0 ? (pages - 1) * c->page_tokens : 0);
  for (int g = 0; g < n; g++) {
    const Wide token_bytes = wide(groups[g].layers) * wide(kvcache_group_bytes(c, &groups[g])),
               held = wide(kvcache_group_tokens(&groups[g], tokens));
    const int64_t held_pages = group_pages(c, &groups[g], tokens);
    s.bytes += token_bytes * held;
    s.scale_bytes += wide(groups[g].layers) * wide(kvcache_group_scales(c, &groups[g])) * held;
    s.page_bytes += token_bytes * wide(held_pages) * wide(c->page_tokens);
    s.table_bytes += wide(held_pages) * KVCACHE_INDEX_BYTES;
    if (groups[g].window)
      s.window_pages += held_pages;
    else
      s.pages = pages;
  }
  return s;
}

KvAppend kvcache_append(const KvCache *c, KvState *s) {
  assert(s->tokens < KVCACHE_MAX_TOKENS);
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  const int64_t before = s->tokens;
  KvAppend did = {.token = before, .page = before / c->page_tokens, .slot = before % c->page_tokens};
  did.new_page = did.slot == 0;
  for (int g = 0; g < n; g++) {
    const int64_t held = kvcache_group_tokens(&groups[g], before);
    did.window_token_dropped |= kvcache_group_tokens(&groups[g], before + 1) <= held;
    did.window_page_freed |= group_pages(c, &groups[g], before + 1) < group_pages(c, &groups[g], before) + did.new_page;
  }
  *s = kvcache_seek(c, before + 1);
  return did;
}

int64_t kvcache_shared(const KvCache *c, int64_t prefix) { return prefix - prefix % c->page_tokens; }

Wide kvcache_most_bytes(const KvCache *c, int64_t max_tokens) {
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  Wide sum = 0;
  for (int g = 0; g < n; g++) {
    const int64_t most = groups[g].window ? min64(max_tokens, groups[g].window) : max_tokens;
    sum += wide(groups[g].layers) * wide(kvcache_group_bytes(c, &groups[g])) * wide(most);
  }
  return sum;
}

static Status share_heads(int64_t *kv_heads, int64_t n_gpus, Error *error) {
  if (*kv_heads == 0) return STATUS_OK;
  if (*kv_heads % n_gpus && n_gpus % *kv_heads)
    return error_refuse(error, "%jd KV heads on %jd GPUs: neither divides the other, so no GPU could have whole heads",
                        *kv_heads, n_gpus);
  *kv_heads = *kv_heads > n_gpus ? *kv_heads / n_gpus : 1;
  return STATUS_OK;
}

Status kvcache_share(KvCache *cache, int64_t n_gpus, Error *error) {
  KvCache c = *cache;
  Status status = share_heads(&c.kv_heads, n_gpus, error);
  for (int g = 0; g < c.n_more && !status; g++) status = share_heads(&c.more[g].kv_heads, n_gpus, error);
  if (!status) *cache = c;
  return status;
}
