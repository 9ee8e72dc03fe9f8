#include "viz/request/model_config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/request/model_config_parts.h"

#define REFUSE(c, ...) config_refuse(&(c)->keys, __VA_ARGS__)

void config_remark(Config *c, const char *format, ...) {
  KvModel *m = c->model;
  if (m->n_remarks == KVMODEL_REMARKS_MAX) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(m->remarks[m->n_remarks++], KVMODEL_REMARK_BYTES, format, arguments);
  va_end(arguments);
}

static void set_text(char *to, size_t size, const char *text) { snprintf(to, size, "%.*s", (int)size - 1, text); }

static bool same_row(const Layer *a, const Layer *b) {
  return a->kv_heads == b->kv_heads && a->d == b->d && (a->d_v ? a->d_v : a->d) == (b->d_v ? b->d_v : b->d);
}

static bool keeps(const Layer *l) { return l->kind <= LAYER_CHUNK; } /* K and V of the text */

/* Layers that are alike, counted; the first kind and its windowed twins go into the model's own fields. */
static Status group(const Config *c, KvModel *m) {
  const Layer *first = NULL;
  for (int64_t i = 0; i < c->layers; i++) {
    const Layer *l = &c->layer[i];
    if (!keeps(l)) continue;
    if (!first || (first->kind != LAYER_FULL && l->kind == LAYER_FULL && same_row(first, l))) first = l;
  }
  if (!first) {
    set_text(m->no_cache, sizeof m->no_cache, "none of the layers keeps K and V: no cache");
    return STATUS_OK;
  }
  m->kv_heads = first->kv_heads;
  m->d = first->d;
  m->d_v = first->d_v == first->d ? 0 : first->d_v;
  const Layer *twin = NULL; /* the windowed kind beside it */
  for (int64_t i = 0; i < c->layers; i++) {
    const Layer *l = &c->layer[i];
    if (!keeps(l)) continue;
    const bool windowed = l->kind != LAYER_FULL;
    if (same_row(l, first) && windowed && !twin) twin = l;
    if (same_row(l, first) && (!windowed || (l->kind == twin->kind && l->window == twin->window))) {
      m->layers++;
      m->window_layers += windowed;
      continue;
    }
    const KvGroup like = {.kv_heads = l->kv_heads,
                          .d = l->d,
                          .d_v = l->d_v == l->d ? 0 : l->d_v,
                          .window = windowed ? l->window : 0,
                          .chunked = l->kind == LAYER_CHUNK};
    int g = 0;
    for (; g < m->n_more; g++) {
      const KvGroup *o = &m->more[g];
      if (o->kv_heads == like.kv_heads && o->d == like.d && o->d_v == like.d_v && o->window == like.window &&
          o->chunked == like.chunked)
        break;
    }
    if (g == KVCACHE_MORE_MAX) return REFUSE(c, "more than %d kinds of layers", KVCACHE_GROUPS_MAX);
    if (g == m->n_more) m->more[m->n_more++] = like;
    m->more[g].layers++;
  }
  if (twin && twin->kind == LAYER_CHUNK) m->chunk = twin->window;
  if (twin && twin->kind == LAYER_WINDOW) m->window = twin->window;
  return STATUS_OK;
}

/* The type of the elements: as the weights are kept, unless the file says how the cache is. */
static Status read_dtype(Config *c, KvModel *m) {
  ConfigKeys *k = &c->keys;
  const json_t *scheme = json_object_get(config_get(k, "quantization_config"), "kv_cache_scheme");
  const int64_t bits = json_integer_value(json_object_get(scheme, "num_bits"));
  const char *name = config_text(k, "torch_dtype");
  const char *own = config_text(k, "kv_cache_dtype");
  if (!*own) own = config_text(k, "kv_cache_quant_algo");
  if (!*name) name = config_text(k, "dtype");
  if (!*name) config_remark(c, "no data type is given: bf16 is assumed");
  if (bits == 8 || bits == 4) {
    const char *type = json_string_value(json_object_get(scheme, "type"));
    own = bits == 4 ? "int4" : type && !strcmp(type, "int") ? "int8" : "fp8";
  }
  if (*own && strcmp(own, "auto")) {
    name = own;
    config_remark(c, "the cache is kept in %s, as the file says of its quantization", quote_text(own).text);
  }
  if (!strncmp(name, "torch.", 6)) name += 6;
  static const struct {
    const char *torch, *dtype;
  } NAMES[] = {{"bfloat16", "bf16"}, {"float16", "fp16"}, {"half", "fp16"}, {"float32", "fp32"}, {"float", "fp32"},
               {"", "bf16"},         {"auto", "bf16"},    {"int8", "int8"}, {"int4", "int4"},    {"INT8", "int8"},
               {"bf16", "bf16"},     {"fp16", "fp16"},    {"fp32", "fp32"}, {"INT4", "int4"}};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (!strcmp(name, NAMES[i].torch)) {
      set_text(m->dtype, sizeof m->dtype, NAMES[i].dtype);
      return STATUS_OK;
    }
  if (!strncmp(name, "float8", 6) || !strncmp(name, "fp8", 3) || !strncmp(name, "FP8", 3)) {
    set_text(m->dtype, sizeof m->dtype, "fp8");
    return STATUS_OK;
  }
  return REFUSE(c, "'torch_dtype' is '%s'; there are bfloat16, float16, float32 and float8", quote_text(name).text);
}

static Status read_extras(Config *c) {
  ConfigKeys *k = &c->keys;
  int64_t further = 0, indexer = 0;
  Status status = config_count(k, KEYS("index_head_dim"), KVCACHE_MAX_D, &indexer);
  if (indexer)
    config_remark(c, "the keys of the indexer are left out: %" PRId64 " elements a token and layer", indexer);
  const char *name = NULL;
  const json_t *mtp =
      config_find(k, KEYS("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers"), &name);
  if (status == STATUS_OK && json_is_integer(mtp) && json_integer_value(mtp) > 0)
    status = config_number(k, name, mtp, MODEL_CONFIG_LAYERS_MAX, &further);
  if (further)
    config_remark(c, "%" PRId64 " further layer%s (%s), which predict%s more than one token, %s left out", further,
                  further == 1 ? "" : "s", name, further == 1 ? "s" : "", further == 1 ? "is" : "are");
  return status;
}

/* The last part of a path without its ".json"; what no option could take becomes '-'. */
static void name_after(const char *file, char *name) {
  const char *base = strrchr(file, '/');
  snprintf(name, 64, "%.63s", base ? base + 1 : file);
  char *dot = strstr(name, ".json");
  if (dot && dot != name) *dot = '\0';
  for (char *p = name; *p; p++)
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *p)) *p = '-';
}

/* Names that are understood wherever they stand, though a rule above may not have asked for them here. */
static void use_known(Config *c) {
  static const char *const KNOWN[] = {"use_sliding_window",
                                      "max_window_layers",
                                      "sliding_window",
                                      "sliding_window_pattern",
                                      "attn_layer_offset",
                                      "attn_layer_period",
                                      "full_attention_interval",
                                      "no_rope_layers",
                                      "no_rope_layer_interval",
                                      "multi_query_group_num",
                                      "new_decoder_architecture",
                                      "head_dim",
                                      "num_key_value_heads",
                                      "linear_attn_config",
                                      "mamba_d_state",
                                      "mamba_d_conv",
                                      "mamba_expand",
                                      "mamba_dt_rank",
                                      "layers_block_type",
                                      "lru_width",
                                      "conv1d_width",
                                      "global_attn_every_n_layers",
                                      "num_global_key_value_heads",
                                      "global_head_dim",
                                      "order_of_interleaved_layers",
                                      "expand",
                                      "state_size",
                                      "conv_kernel",
                                      "kv_lora_rank",
                                      "max_source_positions",
                                      "quantization_config",
                                      "use_mla",
                                      "v_head_dim",
                                      "qk_rope_head_dim",
                                      "qk_nope_head_dim",
                                      "qk_head_dim",
                                      NULL};
  for (const char *const *name = KNOWN; *name; name++) config_use(&c->keys, *name);
}

static Status read_cache(Config *c, KvModel *m) {
  Status status = config_read_layers(c);
  if (status) return status;
  status = group(c, m);
  if (status) return status;
  m->heads = c->heads;
  m->mla_latent = c->latent - m->mla_rope;
  if (c->latent && m->n_more) return REFUSE(c, "layers with MLA and others together are not modelled");
  if (!c->latent && m->kv_heads > c->heads)
    return REFUSE(c, "%" PRId64 " K and V heads are more than %" PRId64 " query heads", m->kv_heads, c->heads);
  if (!m->no_cache[0] && !c->latent && c->heads % m->kv_heads)
    return REFUSE(c, "%" PRId64 " K and V heads do not divide %" PRId64 " query heads", m->kv_heads, c->heads);
  return STATUS_OK;
}

static Status make(Config *c, KvModel *m) {
  c->model = m;
  Status status = config_find_text(&c->keys);
  const char *why = status ? NULL : config_keeps_none(c);
  if (why) set_text(m->no_cache, sizeof m->no_cache, why);
  if (status == STATUS_OK) status = config_read_sizes(c);
  if (status == STATUS_OK) status = read_dtype(c, m);
  if (status == STATUS_OK && !why) status = read_cache(c, m);
  for (int64_t i = 0; why && i < c->layers; i++) c->layer[i].kind = strstr(why, "state") ? LAYER_STATE : LAYER_NONE;
  if (status == STATUS_OK) status = config_read_fixed(c);
  if (status == STATUS_OK) status = read_extras(c);
  if (status == STATUS_OK)
    status =
        config_count(&c->keys,
                     KEYS("max_target_positions", "max_position_embeddings", "n_positions", "max_seq_len", "seq_length",
                          "n_ctx", "max_sequence_length", "model_max_length", "max_context_length", "context_length"),
                     KVCACHE_MAX_TOKENS, &m->max_tokens);
  if (status) return status;
  if (!why) config_read_weights(c);
  if (!m->max_tokens) m->max_tokens = config_class_default(c, "max_position_embeddings");
  m->max_tokens_assumed = !m->max_tokens;
  if (!m->max_tokens) m->max_tokens = 4096;
  char name[64];
  name_after(c->keys.file, name);
  set_text(m->name, sizeof m->name, name);
  const char *type = config_text(&c->keys, "model_type");
  set_text(m->product, sizeof m->product, *type ? quote_text(type).text : name);
  use_known(c);
  if (!why) config_unused(&c->keys, m->unused, sizeof m->unused);
  return STATUS_OK;
}

bool model_config_is_json(const char *text, size_t length) {
  size_t at = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
  while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) at++;
  return at < length && (text[at] == '{' || text[at] == '[');
}

Status model_config_parse(const char *text, size_t length, const char *display_name, KvModel *model, Error *error) {
  const size_t mark = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
  Config c = {.keys = {.file = display_name, .error = error}};
  c.keys.root = config_load(text + mark, length - mark, display_name, error);
  if (!c.keys.root) return error && error->status ? error->status : STATUS_BAD_FILE;
  Status status = STATUS_OK;
  KvModel *read = calloc(1, sizeof *read);
  c.layer = calloc(MODEL_CONFIG_LAYERS_MAX, sizeof *c.layer);
  c.keys.used = json_object();
  if (!read || !c.layer || !c.keys.used)
    status = error_set(error, STATUS_NO_MEMORY, "no memory to read the model");
  else if (!json_is_object(c.keys.root))
    status = REFUSE(&c, "line 1: a list, where config.json is an object: {...}");
  else
    status = make(&c, read);
  if (status == STATUS_OK) *model = *read;
  json_decref(c.keys.root);
  json_decref(c.keys.used);
  free(c.layer);
  free(read);
  return status;
}
