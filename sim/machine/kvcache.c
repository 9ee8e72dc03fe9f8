#include "sim/machine/kvcache.h"

#include <assert.h>
#include <string.h>

static const struct {
  const char *name;
  int bits;
} DTYPES[KV_DTYPE_COUNT] = {
    [KV_FP16] = {"fp16", 16}, [KV_BF16] = {"bf16", 16}, [KV_FP32] = {"fp32", 32},
    [KV_FP8] = {"fp8", 8},    [KV_INT8] = {"int8", 8},  [KV_INT4] = {"int4", 4},
};

int kvcache_dtype_bits(KvDtype dtype) { return DTYPES[dtype].bits; }
const char *kvcache_dtype_name(KvDtype dtype) { return DTYPES[dtype].name; }

bool kvcache_dtype_from_name(const char *name, KvDtype *dtype) {
  for (int t = 0; t < KV_DTYPE_COUNT; t++) {
    if (strcmp(name, DTYPES[t].name) != 0) continue;
    *dtype = (KvDtype)t;
    return true;
  }
  return false;
}

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

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
  const int64_t row = c->latent ? c->latent : c->d;
  if (c->group < 0 || c->group > row)
    return error_set(error, STATUS_BAD_REQUEST,
                     "groups of %lld elements do not fit a row of %lld; a group lies within one row",
                     (long long)c->group, (long long)row);
  if (c->scale_bytes && !c->group)
    return error_set(error, STATUS_BAD_REQUEST, "scales of %lld B belong to groups, but no group size is given",
                     (long long)c->scale_bytes);
  return check_range("scale bytes", c->scale_bytes, 0, 64, error);
}

Status kvcache_complete(KvCache *cache, Error *error) {
  KvCache c = *cache;
  if (c.window && c.window_layers == 0) c.window_layers = c.layers;
  if (c.group && c.scale_bytes == 0) c.scale_bytes = 2;
  if (c.page_tokens == 0) c.page_tokens = 16;
  Status status = check_range("layers", c.layers, 1, KVCACHE_MAX_LAYERS, error);
  if (status == STATUS_OK) status = check_row(&c, error);
  if (status == STATUS_OK && c.window_layers && c.window == 0)
    status = error_set(error, STATUS_BAD_REQUEST, "%lld layers are to have a window, but no window is given",
                       (long long)c.window_layers);
  if (status == STATUS_OK) status = check_range("window", c.window, 0, KVCACHE_MAX_TOKENS, error);
  if (status == STATUS_OK) status = check_range("window layers", c.window_layers, 0, c.layers, error);
  if (status == STATUS_OK) status = check_scales(&c, error);
  if (status == STATUS_OK) status = check_range("page tokens", c.page_tokens, 1, KVCACHE_MAX_PAGE, error);
  if (status == STATUS_OK) *cache = c;
  return status;
}

/* --- Sizes --- */

static int64_t rows_per_layer(const KvCache *c) { return c->latent ? 1 : 2 * c->kv_heads; }
static int64_t row_elements(const KvCache *c) { return c->latent ? c->latent : c->d; }

int64_t kvcache_element_bytes_per_layer(const KvCache *c) {
  return rows_per_layer(c) * ceil_div(row_elements(c) * DTYPES[c->dtype].bits, 8);
}

static int64_t scale_bytes_per_layer(const KvCache *c) {
  return c->group ? rows_per_layer(c) * ceil_div(row_elements(c), c->group) * c->scale_bytes : 0;
}

int64_t kvcache_bytes_per_layer(const KvCache *c) {
  return kvcache_element_bytes_per_layer(c) + scale_bytes_per_layer(c);
}

Wide kvcache_bytes_per_token(const KvCache *c) { return wide(c->layers) * wide(kvcache_bytes_per_layer(c)); }

static int64_t held_by_window(const KvCache *c, int64_t tokens) {
  return c->window ? min64(tokens, c->window) : tokens;
}

/* Tokens x layers that are held: what every size is a multiple of. */
static Wide held_rows(const KvCache *c, int64_t tokens) {
  return wide(c->layers - c->window_layers) * wide(tokens) + wide(c->window_layers) * wide(held_by_window(c, tokens));
}

Status kvcache_size(const KvCache *c, int64_t tokens, KvSize *size, Error *error) {
  const Status status = check_range("tokens", tokens, 0, KVCACHE_MAX_TOKENS, error);
  if (status != STATUS_OK) return status;
  const Wide held = held_rows(c, tokens);
  size->window_tokens = held_by_window(c, tokens);
  size->element_bytes = held * wide(kvcache_element_bytes_per_layer(c));
  size->scale_bytes = held * wide(scale_bytes_per_layer(c));
  size->bytes = size->element_bytes + size->scale_bytes;
  return STATUS_OK;
}

/* --- Growth --- */

/* Bytes of one page in the layers without a window, and in those with one. */
static Wide full_page_bytes(const KvCache *c) {
  return wide(c->layers - c->window_layers) * wide(kvcache_bytes_per_layer(c)) * wide(c->page_tokens);
}
static Wide window_page_bytes(const KvCache *c) {
  return wide(c->window_layers) * wide(kvcache_bytes_per_layer(c)) * wide(c->page_tokens);
}

KvAppend kvcache_append(const KvCache *c, KvState *s) {
  assert(s->tokens < KVCACHE_MAX_TOKENS);
  const bool any_full = c->window_layers<c->layers, any_window = c->window_layers> 0;
  KvAppend did = {.token = s->tokens, .page = s->tokens / c->page_tokens, .slot = s->tokens % c->page_tokens};
  did.new_page = did.slot == 0;
  did.written_bytes = kvcache_bytes_per_token(c);
  s->tokens++;
  s->last_page_tokens = did.slot + 1;
  s->bytes += did.written_bytes;
  if (did.new_page && any_full) {
    s->pages++;
    s->page_bytes += full_page_bytes(c);
  }
  if (did.new_page && any_window) {
    s->window_pages++;
    s->page_bytes += window_page_bytes(c);
  }
  did.window_token_dropped = any_window && s->window_tokens == c->window;
  if (!did.window_token_dropped) {
    s->window_tokens++;
    return did;
  }
  s->bytes -= wide(c->window_layers) * wide(kvcache_bytes_per_layer(c));
  const int64_t oldest_held = s->tokens - c->window; /* its page stays; the one before it may go */
  did.window_page_freed = oldest_held % c->page_tokens == 0;
  if (did.window_page_freed) {
    s->window_pages--;
    s->page_bytes -= window_page_bytes(c);
  }
  return did;
}

KvState kvcache_seek(const KvCache *c, int64_t tokens) {
  assert(tokens >= 0 && tokens <= KVCACHE_MAX_TOKENS);
  const int64_t pages = ceil_div(tokens, c->page_tokens), held = held_by_window(c, tokens);
  KvState s = {.tokens = tokens, .window_tokens = held};
  if (c->window_layers < c->layers) s.pages = pages;
  if (c->window_layers > 0) s.window_pages = pages - (tokens - held) / c->page_tokens;
  s.last_page_tokens = tokens - (pages > 0 ? (pages - 1) * c->page_tokens : 0);
  s.bytes = held_rows(c, tokens) * wide(kvcache_bytes_per_layer(c));
  s.page_bytes = wide(s.pages) * full_page_bytes(c) + wide(s.window_pages) * window_page_bytes(c);
  return s;
}

/* --- Blocks and batches --- */

KvBlocks kvcache_blocks(int64_t tokens, int64_t block_tokens) {
  assert(tokens >= 0 && block_tokens > 0);
  const int64_t n_blocks = ceil_div(tokens, block_tokens);
  return (KvBlocks){n_blocks, n_blocks ? tokens - (n_blocks - 1) * block_tokens : 0};
}

Status kvcache_paged(const KvCache *c, const int64_t *lengths, int64_t n_sequences, int64_t max_tokens, KvPaged *paged,
                     Error *error) {
  Status status = check_range("the number of sequences", n_sequences, 1, KVCACHE_MAX_BATCH, error);
  if (status == STATUS_OK) status = check_range("the longest length", max_tokens, 1, KVCACHE_MAX_TOKENS, error);
  if (status != STATUS_OK) return status;
  KvPaged sum = {.n_sequences = n_sequences};
  for (int64_t i = 0; i < n_sequences; i++) {
    if (lengths[i] < 0 || lengths[i] > max_tokens)
      return error_set(error, STATUS_BAD_REQUEST,
                       "sequence %lld has %lld tokens; with %lld reserved for each, it must have "
                       "from 0 to that many",
                       (long long)i, (long long)lengths[i], (long long)max_tokens);
    const KvState s = kvcache_seek(c, lengths[i]);
    sum.tokens += wide(s.tokens);
    sum.pages += wide(s.pages);
    sum.window_pages += wide(s.window_pages);
    sum.used_bytes += s.bytes;
    sum.paged_bytes += s.page_bytes;
  }
  sum.contiguous_bytes = wide(n_sequences) * held_rows(c, max_tokens) * wide(kvcache_bytes_per_layer(c));
  *paged = sum;
  return STATUS_OK;
}
