#include "sim/machine/kvcache.h"
#include "sim/base/checked.h"
#include "sim/base/word_list.h"

#include <assert.h>
#include <string.h>

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

static Status check_range(const char *name, int64_t value, int64_t low, int64_t high, Error *error) {
  if (value >= low && value <= high) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "%s is %lld; it must be from %lld to %lld", name, (long long)value,
                   (long long)low, (long long)high);
}

static Status check_row(const KvCache *c, Error *error) {
  if (c->latent && (c->kv_heads || c->d))
    return error_set(error, STATUS_BAD_REQUEST,
                     "a latent of %lld elements replaces K and V, so KV heads (%lld) and d (%lld) must be 0",
                     (long long)c->latent, (long long)c->kv_heads, (long long)c->d);
  if (c->latent) return check_range("latent", c->latent, 1, KVCACHE_MAX_D, error);
  const Status status = check_range("KV heads", c->kv_heads, 1, KVCACHE_MAX_HEADS, error);
  return status != STATUS_OK ? status : check_range("d", c->d, 1, KVCACHE_MAX_D, error);
}

static Status check_scales(const KvCache *c, Error *error) {
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  for (int g = 0; g < n; g++) {
    const int64_t row = groups[g].latent ? groups[g].latent : groups[g].d;
    if (c->group < 0 || c->group > row)
      return error_set(error, STATUS_BAD_REQUEST,
                       "groups of %lld elements do not fit a row of %lld; a group lies within one row",
                       (long long)c->group, (long long)row);
  }
  if (c->scale_bytes && !c->group)
    return error_set(error, STATUS_BAD_REQUEST, "scales of %lld B belong to groups, but no group size is given",
                     (long long)c->scale_bytes);
  return check_range("scale bytes", c->scale_bytes, 0, 64, error);
}

static Status check_more(const KvCache *c, Error *error) {
  Status status = check_range("groups of layers", c->n_more, 0, KVCACHE_MORE_MAX, error);
  int64_t layers = c->layers;
  for (int g = 0; g < c->n_more && status == STATUS_OK; g++) {
    const KvGroup *m = &c->more[g];
    const KvCache row = {.kv_heads = m->kv_heads, .d = m->d, .latent = m->latent};
    status = check_range("layers of a group", m->layers, 1, KVCACHE_MAX_LAYERS, error);
    if (status == STATUS_OK) status = check_row(&row, error);
    if (status == STATUS_OK) status = check_range("d of V", m->d_v, 0, KVCACHE_MAX_D, error);
    if (status == STATUS_OK) status = check_range("window", m->window, 0, KVCACHE_MAX_TOKENS, error);
    layers += m->layers;
  }
  return status ? status : check_range("layers", layers, 1, KVCACHE_MAX_LAYERS, error);
}

Status kvcache_complete(KvCache *cache, Error *error) {
  KvCache c = *cache;
  if (c.window && c.window_layers == 0) c.window_layers = c.layers;
  if (c.group && c.scale_bytes == 0) c.scale_bytes = 2;
  if (c.page_tokens == 0) c.page_tokens = 16;
  const bool empty = !c.layers && !c.kv_heads && !c.d && !c.latent && !c.n_more && !c.window; /* no cache at all */
  Status status = empty ? STATUS_OK : check_range("layers", c.layers, 1, KVCACHE_MAX_LAYERS, error);
  if (status == STATUS_OK && !empty) status = check_row(&c, error);
  if (status == STATUS_OK) status = check_range("d of V", c.d_v, 0, KVCACHE_MAX_D, error);
  if (status == STATUS_OK && c.window_layers && c.window == 0)
    status = error_set(error, STATUS_BAD_REQUEST, "%lld layers are to have a window, but no window is given",
                       (long long)c.window_layers);
  if (status == STATUS_OK) status = check_range("window", c.window, 0, KVCACHE_MAX_TOKENS, error);
  if (status == STATUS_OK) status = check_range("window layers", c.window_layers, 0, c.layers, error);
  if (status == STATUS_OK && !empty) status = check_more(&c, error);
  if (status == STATUS_OK) status = check_scales(&c, error);
  if (status == STATUS_OK) status = check_range("page tokens", c.page_tokens, 1, KVCACHE_MAX_PAGE, error);
  if (status == STATUS_OK) *cache = c;
  return status;
}

/* --- Groups --- */

int kvcache_groups(const KvCache *c, KvGroup groups[KVCACHE_GROUPS_MAX]) {
  const KvGroup row = {.kv_heads = c->kv_heads, .d = c->d, .d_v = c->d_v, .latent = c->latent};
  int n = 0;
  if (c->layers > c->window_layers) {
    groups[n] = row;
    groups[n++].layers = c->layers - c->window_layers;
  }
  if (c->window_layers > 0) {
    groups[n] = row;
    groups[n].layers = c->window_layers;
    groups[n].window = c->window;
    groups[n++].chunked = c->chunked;
  }
  for (int g = 0; g < c->n_more && g < KVCACHE_MORE_MAX; g++) groups[n++] = c->more[g];
  return n;
}

static int64_t row_bytes(const KvCache *c, int64_t elements) { return ceil_div(elements * BITS[c->dtype], 8); }
static int64_t row_scales(const KvCache *c, int64_t elements) {
  return c->group ? ceil_div(elements, c->group) * c->scale_bytes : 0;
}

static int64_t element_bytes(const KvCache *c, const KvGroup *g) {
  if (g->latent) return row_bytes(c, g->latent);
  return g->kv_heads * (row_bytes(c, g->d) + row_bytes(c, g->d_v ? g->d_v : g->d));
}

static int64_t scale_bytes(const KvCache *c, const KvGroup *g) {
  if (g->latent) return row_scales(c, g->latent);
  return g->kv_heads * (row_scales(c, g->d) + row_scales(c, g->d_v ? g->d_v : g->d));
}

int64_t kvcache_group_bytes(const KvCache *c, const KvGroup *g) { return element_bytes(c, g) + scale_bytes(c, g); }

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

static KvGroup base_of(const KvCache *c) {
  return (KvGroup){.kv_heads = c->kv_heads, .d = c->d, .d_v = c->d_v, .latent = c->latent};
}

int64_t kvcache_element_bytes_per_layer(const KvCache *c) {
  const KvGroup base = base_of(c);
  return element_bytes(c, &base);
}

int64_t kvcache_bytes_per_layer(const KvCache *c) {
  const KvGroup base = base_of(c);
  return kvcache_group_bytes(c, &base);
}

Wide kvcache_bytes_per_token(const KvCache *c) { return kvcache_most_bytes(c, 1); } /* no window is empty */

/* Of the first kind of layers that have a window. */
static int64_t held_by_window(const KvGroup *groups, int n, int64_t tokens) {
  for (int g = 0; g < n; g++)
    if (groups[g].window) return kvcache_group_tokens(&groups[g], tokens);
  return tokens;
}

Status kvcache_size(const KvCache *c, int64_t tokens, KvSize *size, Error *error) {
  const Status status = check_range("tokens", tokens, 0, KVCACHE_MAX_TOKENS, error);
  if (status != STATUS_OK) return status;
  KvGroup groups[KVCACHE_GROUPS_MAX];
  const int n = kvcache_groups(c, groups);
  *size = (KvSize){.window_tokens = held_by_window(groups, n, tokens)};
  for (int g = 0; g < n; g++) {
    const Wide held = wide(groups[g].layers) * wide(kvcache_group_tokens(&groups[g], tokens));
    size->element_bytes += held * wide(element_bytes(c, &groups[g]));
    size->scale_bytes += held * wide(scale_bytes(c, &groups[g]));
  }
  size->bytes = size->element_bytes + size->scale_bytes;
  return STATUS_OK;
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
    const Wide token_bytes = wide(groups[g].layers) * wide(kvcache_group_bytes(c, &groups[g]));
    const int64_t held_pages = group_pages(c, &groups[g], tokens);
    s.bytes += token_bytes * wide(kvcache_group_tokens(&groups[g], tokens));
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
  did.written_bytes = kvcache_bytes_per_token(c);
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
    return error_set(error, STATUS_BAD_REQUEST,
                     "%lld KV heads on %lld GPUs: neither divides the other, so no GPU could have whole heads",
                     (long long)*kv_heads, (long long)n_gpus);
  *kv_heads = *kv_heads > n_gpus ? *kv_heads / n_gpus : 1;
  return STATUS_OK;
}

Status kvcache_share(KvCache *cache, int64_t n_gpus, Error *error) {
  KvCache c = *cache;
  Status status = share_heads(&c.kv_heads, n_gpus, error);
  for (int g = 0; g < c.n_more && status == STATUS_OK; g++) status = share_heads(&c.more[g].kv_heads, n_gpus, error);
  if (status == STATUS_OK) *cache = c;
  return status;
}

/* --- Blocks --- */

KvBlocks kvcache_blocks(int64_t tokens, int64_t block_tokens) {
  assert(tokens >= 0 && block_tokens > 0);
  const int64_t n_blocks = ceil_div(tokens, block_tokens);
  return (KvBlocks){n_blocks, n_blocks ? tokens - (n_blocks - 1) * block_tokens : 0};
}
