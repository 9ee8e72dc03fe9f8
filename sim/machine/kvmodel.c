#include "sim/machine/kvmodel.h"

#include <assert.h>

#define TEXT(key, required, help)                                                                                      \
  { #key, KEYFILE_TEXT, offsetof(KvModel, key), required, 0, 0, help, NULL }
#define COUNT(key, member, required, max, help)                                                                        \
  { key, KEYFILE_COUNT, offsetof(KvModel, member), required, 1, (double)(max), help, NULL }

#define BYTES(key, member, help)                                                                                       \
  { key, KEYFILE_BYTES, offsetof(KvModel, member), false, 1, 1e16, help, NULL }

#define KVMODEL_MAX_PARAMETERS ((int64_t)1 << 50)

#define GROUP(n, i)                                                                                                    \
  COUNT("group" n "_layers", groups[i].layers, false, KVCACHE_MAX_LAYERS, "layers of a further kind"),                 \
      COUNT("group" n "_kv_heads", groups[i].kv_heads, false, KVCACHE_MAX_HEADS, "their K and V heads"),               \
      COUNT("group" n "_head_dim", groups[i].d, false, KVCACHE_MAX_D, "their head dimension"),                         \
      COUNT("group" n "_value_dim", groups[i].d_v, false, KVCACHE_MAX_D, "that of their V, where it differs"),         \
      COUNT("group" n "_window", groups[i].window, false, KVCACHE_MAX_TOKENS, "tokens that each of them keeps"),       \
      COUNT("group" n "_chunk", groups[i].chunk, false, KVCACHE_MAX_TOKENS, "tokens of their chunks")

static const KeyfileField FIELDS[] = {
    {"name", KEYFILE_NAME, offsetof(KvModel, name), true, 0, 0, "the name that --model takes", NULL},
    TEXT(product, false, "the full name"),
    TEXT(vendor, false, "who made it"),
    TEXT(limits, false, "what this description leaves out"),
    COUNT("year", year, false, 9999, "when it came out"),
    COUNT("layers", layers, true, KVCACHE_MAX_LAYERS, "layers with attention"),
    COUNT("heads", heads, true, KVCACHE_MAX_HEADS, "query heads"),
    COUNT("kv_heads", kv_heads, true, KVCACHE_MAX_HEADS, "K and V heads"),
    COUNT("head_dim", d, true, KVCACHE_MAX_D, "elements of one head (d)"),
    COUNT("value_dim", d_v, false, KVCACHE_MAX_D, "elements of a row of V, where it is not d"),
    COUNT("mla_latent", mla_latent, false, KVCACHE_MAX_D / 2, "MLA: elements of the latent of a token"),
    COUNT("mla_rope", mla_rope, false, KVCACHE_MAX_D / 2, "MLA: elements of the decoupled key"),
    COUNT("window", window, false, KVCACHE_MAX_TOKENS, "tokens a windowed layer keeps"),
    COUNT("window_layers", window_layers, false, KVCACHE_MAX_LAYERS, "how many layers are windowed"),
    COUNT("chunk", chunk, false, KVCACHE_MAX_TOKENS,
          "in place of a window: tokens of a chunk, empty when the next begins"),
    COUNT("max_tokens", max_tokens, true, KVCACHE_MAX_TOKENS, "context length"),
    TEXT(dtype, true, "data type of the cache: fp32, fp16, bf16, fp8, int8 or int4"),
    BYTES("states", state_bytes, "of a sequence beside K and V, in all layers"),
    BYTES("weights", weights_bytes, "of the whole model, as it is published"),
    TEXT(weights_dtype, false, "data type of most of them, as published, where it has fewer than 16 bits"),
    COUNT("parameters", parameters, false, KVMODEL_MAX_PARAMETERS, "weights, tables of words included"),
    COUNT("active_parameters", active_parameters, false, KVMODEL_MAX_PARAMETERS, "of them, that one token uses"),
    COUNT("hidden", hidden, false, KVCACHE_MAX_D, "elements of a row of activations"),
    COUNT("vocab", vocab, false, 1 << 30, "words of the vocabulary"),
    COUNT("embedding_tables", embedding_tables, false, 2, "1: input and output share their table of words"),
    COUNT("experts", experts, false, 1 << 20, "experts of a layer that a router chooses from"),
    COUNT("experts_per_token", experts_per_token, false, 1 << 20, "how many of them it chooses"),
    GROUP("2", 0),
    GROUP("3", 1),
    GROUP("4", 2),
};
_Static_assert(COUNT_OF(FIELDS) == KVMODEL_FIELD_COUNT, "one row for each field");

const KeyfileField *kvmodel_fields(int *n_fields) {
  *n_fields = KVMODEL_FIELD_COUNT;
  return FIELDS;
}

#define REFUSE(key, ...) keyfile_refuse(display_name, keyfile_note(FIELDS, m->notes, key)->line, error, __VA_ARGS__)

static Status check(const KvModel *m, const char *display_name, Error *error) {
  KvDtype dtype;
  if (m->heads % m->kv_heads != 0)
    return REFUSE("kv_heads",
                  "kv_heads (%lld) does not divide heads (%lld), but each K and V head serves as "
                  "many query heads",
                  (long long)m->kv_heads, (long long)m->heads);
  if (m->mla_rope && !m->mla_latent)
    return REFUSE("mla_rope", "mla_rope is given but mla_latent is not; MLA keeps both");
  if (m->window && m->chunk)
    return REFUSE("chunk", "a layer has a window or chunks; put those with the other kind into group2_layers");
  if (m->window_layers && !m->window && !m->chunk)
    return REFUSE("window_layers", "window_layers is given but window is not; say how many tokens they keep");
  if (m->window_layers > m->layers)
    return REFUSE("window_layers", "window_layers (%lld) are more than layers (%lld)", (long long)m->window_layers,
                  (long long)m->layers);
  for (int g = 0; g < KVMODEL_GROUPS; g++) {
    const KvModelGroup *group = &m->groups[g];
    char layers[] = "group2_layers";
    layers[5] = (char)('2' + g);
    if (!group->layers && (group->kv_heads || group->d || group->d_v || group->window || group->chunk))
      return REFUSE(layers, "a key of group%d is given but %s is not; say how many layers are of that kind", g + 2,
                    layers);
    if (group->window && group->chunk) return REFUSE(layers, "group%d has a window and a chunk; give one", g + 2);
    if (group->layers && m->mla_latent)
      return REFUSE(layers, "layers with MLA are all alike here; leave out group%d", g + 2);
    if (group->kv_heads && m->heads % group->kv_heads)
      return REFUSE(layers, "group%d_kv_heads (%lld) does not divide heads (%lld)", g + 2, (long long)group->kv_heads,
                    (long long)m->heads);
  }
  if (m->active_parameters > m->parameters)
    return REFUSE("active_parameters", "active_parameters (%lld) are more than parameters (%lld)",
                  (long long)m->active_parameters, (long long)m->parameters);
  if (m->experts_per_token > m->experts)
    return REFUSE("experts_per_token", "experts_per_token (%lld) are more than experts (%lld)",
                  (long long)m->experts_per_token, (long long)m->experts);
  if (!m->experts_per_token != !m->experts)
    return REFUSE("experts", "experts and experts_per_token are given together, or neither");
  if (m->parameters && (double)m->hidden * (double)m->vocab > (double)m->parameters)
    return REFUSE("parameters", "parameters (%lld) are fewer than hidden x vocab, one table of words",
                  (long long)m->parameters);
  if (*m->weights_dtype && !kvcache_dtype_from_name(m->weights_dtype, &dtype))
    return REFUSE("weights_dtype", "'%s' is no data type; there are fp32, fp16, bf16, fp8, int8 and int4",
                  quote_text(m->weights_dtype).text);
  if (!kvcache_dtype_from_name(m->dtype, &dtype))
    return REFUSE("dtype", "'%s' is no data type of a cache; there are fp32, fp16, bf16, fp8, int8 and int4",
                  quote_text(m->dtype).text);
  return STATUS_OK;
}

static void complete_groups(KvModel *m) {
  for (int g = 0; g < KVMODEL_GROUPS; g++) {
    const KvModelGroup *from = &m->groups[g];
    if (!from->layers) continue;
    m->more[m->n_more++] = (KvGroup){.layers = from->layers,
                                     .kv_heads = from->kv_heads ? from->kv_heads : m->kv_heads,
                                     .d = from->d ? from->d : m->d,
                                     .d_v = from->d_v ? from->d_v
                                            : from->d ? 0
                                                      : m->d_v,
                                     .window = from->window + from->chunk,
                                     .chunked = from->chunk != 0};
  }
}

Status kvmodel_check_cache(const KvModel *model, Error *error) {
  if (!*model->unused) return STATUS_OK;
  return error_set(error, STATUS_BAD_FILE,
                   "%.80s has keys that may bear on the cache and are not understood: %.120s; no total is given: write "
                   "its layers into a description, as in assets/models, or give --layers, --kv-heads and --head-dim",
                   model->name, model->unused);
}

Status kvmodel_parse(const char *buffer, size_t length, const char *display_name, KvModel *model, Error *error) {
  KvModel read;
  memset(&read, 0, sizeof read);
  Status status =
      keyfile_parse_unsourced(buffer, length, display_name, FIELDS, KVMODEL_FIELD_COUNT, &read, read.notes, error);
  if (!status) status = check(&read, display_name, error);
  if (status) return status;
  complete_groups(&read);
  if (read.state_bytes)
    read.fixed[read.n_fixed++] = (KvFixed){.what = "states", .layers = 1, .bytes = read.state_bytes};
  if (!read.product[0]) memcpy(read.product, read.name, sizeof read.product);
  *model = read;
  return STATUS_OK;
}

int64_t kvmodel_key_dim(const KvModel *m) { return m->d + m->mla_rope; }
int64_t kvmodel_value_dim(const KvModel *m) { return m->d_v ? m->d_v : m->d; }

KvCache kvmodel_cache(const KvModel *m) {
  KvCache cache = {.layers = m->layers,
                   .window = m->window + m->chunk,
                   .window_layers = m->window_layers,
                   .chunked = m->chunk != 0,
                   .n_more = m->n_more};
  memcpy(cache.more, m->more, sizeof cache.more);
  if (m->mla_latent) {
    cache.latent = m->mla_latent + m->mla_rope;
  } else {
    cache.kv_heads = m->kv_heads;
    cache.d = m->d;
    cache.d_v = m->d_v;
  }
  kvcache_dtype_from_name(m->dtype, &cache.dtype);
  const Status status = kvcache_complete(&cache, NULL);
  assert(!status); /* kvmodel_parse has checked all of it */
  (void)status;
  return cache;
}
