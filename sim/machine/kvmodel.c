#include "sim/machine/kvmodel.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "sim/base/quote.h"

#define TEXT(key, required, help)                                                                                      \
  { #key, KEYFILE_TEXT, offsetof(KvModel, key), required, 0, 0, help }
#define COUNT(key, member, required, max, help)                                                                        \
  { key, KEYFILE_COUNT, offsetof(KvModel, member), required, 1, (double)(max), help }

static const KeyfileField FIELDS[] = {
    TEXT(name, true, "the name that --model takes"),
    TEXT(product, false, "the full name"),
    TEXT(vendor, false, "who made it"),
    TEXT(limits, false, "what this description leaves out"),
    COUNT("year", year, false, 9999, "when it came out"),
    COUNT("layers", layers, true, KVCACHE_MAX_LAYERS, "layers with attention"),
    COUNT("heads", heads, true, KVCACHE_MAX_HEADS, "query heads"),
    COUNT("kv_heads", kv_heads, true, KVCACHE_MAX_HEADS, "K and V heads"),
    COUNT("head_dim", d, true, KVCACHE_MAX_D, "elements of one head (d)"),
    COUNT("mla_latent", mla_latent, false, KVCACHE_MAX_D / 2, "MLA: elements of the latent of a token"),
    COUNT("mla_rope", mla_rope, false, KVCACHE_MAX_D / 2, "MLA: elements of the decoupled key"),
    COUNT("window", window, false, KVCACHE_MAX_TOKENS, "tokens a windowed layer keeps"),
    COUNT("window_layers", window_layers, false, KVCACHE_MAX_LAYERS, "how many layers are windowed"),
    COUNT("max_tokens", max_tokens, true, KVCACHE_MAX_TOKENS, "context length"),
    TEXT(dtype, true, "data type of the cache: fp32, fp16, bf16, fp8, int8 or int4"),
};
_Static_assert(sizeof FIELDS / sizeof FIELDS[0] == KVMODEL_FIELD_COUNT, "one row for each field");

const KeyfileField *kvmodel_fields(int *n_fields) {
  *n_fields = KVMODEL_FIELD_COUNT;
  return FIELDS;
}

static int line_of(const KvModel *model, const char *key) {
  for (int f = 0; f < KVMODEL_FIELD_COUNT; f++)
    if (strcmp(FIELDS[f].name, key) == 0) return model->notes[f].line;
  return 0;
}

#define REFUSE(key, ...) keyfile_refuse(display_name, line_of(m, key), error, __VA_ARGS__)

static Status check(const KvModel *m, const char *display_name, Error *error) {
  static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  KvDtype dtype;
  if (m->name[strspn(m->name, ALLOWED)])
    return REFUSE("name", "name is taken on the command line, so it has only letters, digits, '-', '_' "
                          "and '.'; put the full name in 'product'");
  if (m->heads % m->kv_heads != 0)
    return REFUSE("kv_heads",
                  "kv_heads (%lld) does not divide heads (%lld), but each K and V head serves as "
                  "many query heads",
                  (long long)m->kv_heads, (long long)m->heads);
  if (m->mla_rope && !m->mla_latent)
    return REFUSE("mla_rope", "mla_rope is given but mla_latent is not; MLA keeps both");
  if (m->window_layers && !m->window)
    return REFUSE("window_layers", "window_layers is given but window is not; say how many tokens they keep");
  if (m->window_layers > m->layers)
    return REFUSE("window_layers", "window_layers (%lld) are more than layers (%lld)", (long long)m->window_layers,
                  (long long)m->layers);
  if (!kvcache_dtype_from_name(m->dtype, &dtype))
    return REFUSE("dtype", "'%s' is no data type of a cache; there are fp32, fp16, bf16, fp8, int8 and int4",
                  quote(m->dtype, strlen(m->dtype)).text);
  return STATUS_OK;
}

Status kvmodel_parse(const char *buffer, size_t length, const char *display_name, KvModel *model, Error *error) {
  KvModel read;
  memset(&read, 0, sizeof read);
  Status status = keyfile_parse(buffer, length, display_name, FIELDS, KVMODEL_FIELD_COUNT, &read, read.notes, error);
  if (status == STATUS_OK) status = check(&read, display_name, error);
  if (status != STATUS_OK) return status;
  if (!read.product[0]) memcpy(read.product, read.name, sizeof read.product);
  *model = read;
  return STATUS_OK;
}

KvCache kvmodel_cache(const KvModel *m) {
  KvCache cache = {.layers = m->layers, .window = m->window, .window_layers = m->window_layers};
  if (m->mla_latent) {
    cache.latent = m->mla_latent + m->mla_rope;
  } else {
    cache.kv_heads = m->kv_heads;
    cache.d = m->d;
  }
  kvcache_dtype_from_name(m->dtype, &cache.dtype);
  const Status status = kvcache_complete(&cache, NULL);
  assert(status == STATUS_OK); /* kvmodel_parse has checked all of it */
  (void)status;
  return cache;
}
