/* Sizes of a config.json: of the whole model, and by layer. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "viz/request/model_config_parts.h"

#define REFUSE(c, ...) config_refuse(&(c)->keys, __VA_ARGS__)

/* transformers: models/gemma3/configuration_gemma3.py and others. A model inside another writes only what differs from
 * these. */
static const struct {
  const char *model_type, *key;
  int64_t value;
} CLASS_DEFAULTS[] = {
    {"llama", "num_hidden_layers", 32},
    {"llama", "num_attention_heads", 32},
    {"llama", "hidden_size", 4096},
    {"mistral", "num_hidden_layers", 32},
    {"mistral", "num_attention_heads", 32},
    {"mistral", "num_key_value_heads", 8},
    {"mistral", "hidden_size", 4096},
    {"mixtral", "num_key_value_heads", 8},
    {"qwen2", "num_hidden_layers", 32},
    {"qwen2", "num_attention_heads", 32},
    {"qwen2", "num_key_value_heads", 32},
    {"qwen2", "hidden_size", 4096},
    {"qwen2", "no_sliding_window", 1},
    {"qwen2_moe", "no_sliding_window", 1},
    {"qwen3", "no_sliding_window", 1},
    {"qwen3_moe", "no_sliding_window", 1},
    {"qwen2_vl", "no_sliding_window", 1},
    {"qwen2_5_vl", "no_sliding_window", 1},
    {"qwen3", "head_dim", 128},
    {"qwen3_moe", "head_dim", 128},
    {"phi3", "num_hidden_layers", 32},
    {"phi3", "num_attention_heads", 32},
    {"phi3", "hidden_size", 3072},
    {"gemma", "num_hidden_layers", 28},
    {"gemma", "num_attention_heads", 16},
    {"gemma", "num_key_value_heads", 16},
    {"gemma", "hidden_size", 3072},
    {"gemma", "head_dim", 256},
    {"gemma2", "num_hidden_layers", 26},
    {"gemma2", "num_attention_heads", 8},
    {"gemma2", "num_key_value_heads", 4},
    {"gemma2", "hidden_size", 2304},
    {"gemma2", "head_dim", 256},
    {"gemma2", "sliding_window", 4096},
    {"gemma2", "sliding_window_pattern", 2},
    {"gemma3_text", "num_hidden_layers", 26},
    {"gemma3_text", "num_attention_heads", 8},
    {"gemma3_text", "num_key_value_heads", 4},
    {"gemma3_text", "hidden_size", 2304},
    {"gemma3_text", "head_dim", 256},
    {"gemma3_text", "sliding_window", 4096},
    {"gemma3_text", "sliding_window_pattern", 6},
    {"gemma3_text", "max_position_embeddings", 131072},
    {"cohere2", "sliding_window_pattern", 4},
    {"llama4_text", "no_rope_layer_interval", 4},
    {"gpt2", "num_hidden_layers", 12},
    {"gpt2", "num_attention_heads", 12},
    {"gpt2", "hidden_size", 768},
};

int64_t config_class_default(const Config *c, const char *key) {
  const char *type = config_text(&c->keys, "model_type");
  for (size_t i = 0; i < sizeof CLASS_DEFAULTS / sizeof *CLASS_DEFAULTS; i++)
    if (!strcmp(CLASS_DEFAULTS[i].model_type, type) && !strcmp(CLASS_DEFAULTS[i].key, key))
      return CLASS_DEFAULTS[i].value;
  return 0;
}

bool config_is_type(const Config *c, const char *part) {
  return strstr(config_text(&c->keys, "model_type"), part) != NULL;
}

/* A size that the file gives, or its class; 0: neither. */
static Status size_or_default(Config *c, const char *const *names, int64_t most, int64_t *size) {
  const Status status = config_count(&c->keys, names, most, size);
  if (status || *size) return status;
  *size = config_class_default(c, names[0]);
  if (*size && (c->keys.text == c->keys.root || !strcmp(names[0], "num_hidden_layers")))
    config_remark(c, "'%s' is not given: %" PRId64 ", as in the class of the model", names[0], *size);
  return STATUS_OK;
}

static Status read_layer_count(Config *c) {
  ConfigKeys *k = &c->keys;
  Status status = config_count(k, KEYS("decoder_layers", "num_decoder_layers"), MODEL_CONFIG_LAYERS_MAX, &c->layers);
  if (status == STATUS_OK && c->layers) { /* Whisper, BART: num_hidden_layers are the encoder's */
    config_use(k, "num_hidden_layers");
    config_use(k, "num_layers");
    return status;
  }
  int64_t twice = 0;
  if (status == STATUS_OK)
    status =
        size_or_default(c, KEYS("num_hidden_layers", "n_layer", "num_layers", "n_layers", "num_transformer_layers"),
                        MODEL_CONFIG_LAYERS_MAX, &c->layers);
  if (status == STATUS_OK && config_is_type(c, "longcat_flash")) { /* self_attn.0 and self_attn.1 in each layer */
    status = config_count(k, KEYS("num_layers"), MODEL_CONFIG_LAYERS_MAX / 2, &twice);
    if (!status) c->layers = 2 * (twice ? twice : c->layers);
  }
  if (status == STATUS_OK && !c->layers)
    return REFUSE(c,
                  "no number of layers; 'num_hidden_layers' (or n_layer, num_layers) belongs there, at the top or in "
                  "'text_config'");
  if (c->layers > MODEL_CONFIG_LAYERS_MAX) return REFUSE(c, "more than %d layers", MODEL_CONFIG_LAYERS_MAX);
  return status;
}

Status config_read_sizes(Config *c) {
  ConfigKeys *k = &c->keys;
  Status status = read_layer_count(c);
  if (status == STATUS_OK)
    status = size_or_default(c, KEYS("hidden_size", "n_embd", "n_embed", "d_model", "dim", "model_dim"),
                             KVCACHE_MAX_D * 64, &c->hidden);
  if (status || c->model->no_cache[0]) return status;
  const char *name = NULL;
  const json_t *heads = config_find(k, KEYS("num_query_heads"), &name); /* OpenELM's, a list */
  if (json_is_array(heads)) return config_number(k, name, json_array_get(heads, 0), KVCACHE_MAX_HEADS, &c->heads);
  status =
      config_count(k, KEYS("decoder_attention_heads", "num_decoder_attention_heads"), KVCACHE_MAX_HEADS, &c->heads);
  if (status == STATUS_OK && !c->heads)
    status = size_or_default(c, KEYS("num_attention_heads", "n_head", "n_heads", "num_heads", "num_query_heads"),
                             KVCACHE_MAX_HEADS, &c->heads);
  else
    config_use(k, "num_attention_heads");
  if (status == STATUS_OK && !c->heads) { /* JetMoE: those of K and V are all that the cache needs */
    status = config_count(k, KEYS("num_key_value_heads"), KVCACHE_MAX_HEADS, &c->heads);
    if (c->heads)
      config_remark(c, "no number of query heads is given: taken to be those of K and V, %" PRId64, c->heads);
  }
  if (status == STATUS_OK && !c->heads) return REFUSE(c, "no number of heads; 'num_attention_heads' belongs there");
  return status;
}

/* With MLA d is the part without position (KvModel), whatever 'head_dim' says: in some files it is the rotary part. */
static Status read_head_size(Config *c, int64_t *d, int64_t *d_v) {
  ConfigKeys *k = &c->keys;
  int64_t nope = 0, rope = 0, width = 0;
  Status status = config_count(k, KEYS("qk_nope_head_dim"), KVCACHE_MAX_D, &nope);
  if (status == STATUS_OK && nope && c->latent)
    *d = nope;
  else if (status == STATUS_OK)
    status = config_count(
        k, KEYS("head_dim", "kv_channels", "attention_head_dim", "d_kv", "d_head", "head_size", "attention_head_size"),
        KVCACHE_MAX_D, d);
  if (status == STATUS_OK) status = config_count(k, KEYS("v_head_dim"), KVCACHE_MAX_D, d_v);
  if (status == STATUS_OK && nope && !*d) {
    status = config_count(k, KEYS("qk_rope_head_dim"), KVCACHE_MAX_D, &rope);
    *d = nope + rope;
  }
  if (status) return status;
  if (status == STATUS_OK && !*d) status = config_count(k, KEYS("attention_hidden_size"), KVCACHE_MAX_D * 64, &width);
  if (status == STATUS_OK && !*d && !width && config_is_type(c, "zamba")) width = 2 * c->hidden;
  if (!*d) *d = config_class_default(c, "head_dim");
  if (status || *d) return status;
  if (!width) width = c->hidden;
  if (!width || width % c->heads)
    return REFUSE(c, "no size of a head: neither 'head_dim' nor a 'hidden_size' that the %" PRId64 " heads divide",
                  c->heads);
  *d = width / c->heads;
  return STATUS_OK;
}

static Status read_kv_heads(Config *c, int64_t *kv_heads) {
  ConfigKeys *k = &c->keys;
  if (config_true(k, "multi_query_attention")) { /* ChatGLM */
    const Status status = config_count(k, KEYS("multi_query_group_num"), KVCACHE_MAX_HEADS, kv_heads);
    if (!*kv_heads) *kv_heads = 1;
    return status;
  }
  /* Falcon: heads of K and V are written, but mean something only for the new decoder. */
  const json_t *decoder = config_get(k, "new_decoder_architecture"), *one = config_get(k, "multi_query");
  const bool said_by_flags = !json_is_true(decoder) && (json_is_true(one) || (decoder && json_is_false(one)));
  const char *name = NULL;
  const json_t *value = config_find(k,
                                    KEYS("num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_head_kv", "kv_n_heads",
                                         "num_heads_kv", "n_kv_head", "num_attention_groups", "num_query_groups",
                                         "n_query_groups", "num_key_value_heads_per_layer"),
                                    &name);
  if (said_by_flags || !strcmp(config_text(k, "attn_type"), "multiquery_attention")) {
    *kv_heads = json_is_false(one) ? c->heads : 1;
    return STATUS_OK;
  }
  if (json_is_array(value)) value = json_array_get(value, 0); /* by layer: read_lists */
  if (value) return config_number(k, name, value, KVCACHE_MAX_HEADS, kv_heads);
  *kv_heads = config_class_default(c, "num_key_value_heads");
  if (*kv_heads && k->text == k->root)
    config_remark(c, "'num_key_value_heads' is not given: %" PRId64 ", as in the class of the model", *kv_heads);
  if (!*kv_heads) *kv_heads = c->heads;
  return STATUS_OK;
}

static Status read_list(Config *c, const char *key, int64_t most, size_t member) {
  const json_t *list = config_list(&c->keys, key);
  if (!list) return STATUS_OK;
  if ((int64_t)json_array_size(list) != c->layers)
    return REFUSE(c, "'%s' has %zu entries for %" PRId64 " layers", key, json_array_size(list), c->layers);
  for (int64_t i = 0; i < c->layers; i++) {
    const json_t *entry = json_array_get(list, (size_t)i);
    if (json_is_null(entry) || (json_is_integer(entry) && json_integer_value(entry) == 0)) {
      c->layer[i].kind = LAYER_NONE;
      continue;
    }
    const Status status = config_number(&c->keys, key, entry, most, (int64_t *)(void *)((char *)&c->layer[i] + member));
    if (status) return status;
  }
  return STATUS_OK;
}

/* Step 3.5: heads of the layers of one kind in an object of their own. */
static Status read_other_setting(Config *c) {
  const json_t *other = config_get(&c->keys, "attention_other_setting");
  const char *type = json_string_value(json_object_get(other, "attention_type"));
  const json_t *groups = json_object_get(other, "num_attention_groups"), *size = json_object_get(other, "head_dim");
  int64_t kv_heads = 0, d = 0;
  Status status =
      groups ? config_number(&c->keys, "num_attention_groups", groups, KVCACHE_MAX_HEADS, &kv_heads) : STATUS_OK;
  if (status == STATUS_OK && size) status = config_number(&c->keys, "head_dim", size, KVCACHE_MAX_D, &d);
  for (int64_t i = 0; status == STATUS_OK && type && i < c->layers; i++) {
    Layer *l = &c->layer[i];
    if (l->kind != (strstr(type, "sliding") ? LAYER_WINDOW : LAYER_FULL)) continue;
    if (kv_heads) l->kv_heads = kv_heads;
    if (d) l->d = d;
  }
  return status;
}

/* Other heads in the layers that see all (Gemma 4), or in those with a window (MiMo). */
static Status read_by_kind(Config *c) {
  static const struct {
    const char *key;
    LayerKind kind;
    size_t member;
  } SIZES[] = {{"global_head_dim", LAYER_FULL, offsetof(Layer, d)},
               {"num_global_key_value_heads", LAYER_FULL, offsetof(Layer, kv_heads)},
               {"swa_head_dim", LAYER_WINDOW, offsetof(Layer, d)},
               {"swa_v_head_dim", LAYER_WINDOW, offsetof(Layer, d_v)},
               {"swa_num_key_value_heads", LAYER_WINDOW, offsetof(Layer, kv_heads)}};
  for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
    int64_t size = 0;
    const Status status = config_count(&c->keys, KEYS(SIZES[s].key), KVCACHE_MAX_HEADS, &size);
    if (status) return status;
    for (int64_t i = 0; i < c->layers && size; i++)
      if (c->layer[i].kind == SIZES[s].kind) memcpy((char *)&c->layer[i] + SIZES[s].member, &size, sizeof size);
  }
  return read_other_setting(c);
}

/* Models whose layers were searched for one by one (DeciLM, Nemotron). */
static Status read_block_configs(Config *c) {
  const json_t *blocks = config_get(&c->keys, "block_configs");
  if (!json_is_array(blocks)) return STATUS_OK;
  if ((int64_t)json_array_size(blocks) != c->layers)
    return REFUSE(c, "'block_configs' has %zu entries for %" PRId64 " layers", json_array_size(blocks), c->layers);
  for (int64_t i = 0; i < c->layers; i++) {
    const json_t *attention = json_object_get(json_array_get(blocks, (size_t)i), "attention");
    const json_t *group = json_object_get(attention, "n_heads_in_group"),
                 *window = json_object_get(attention, "window_length");
    int64_t size = 0;
    if (json_is_true(json_object_get(attention, "no_op")) ||
        json_is_true(json_object_get(attention, "replace_with_linear"))) {
      c->layer[i].kind = LAYER_NONE;
      continue;
    }
    if (group && !json_is_null(group)) {
      const Status status = config_number(&c->keys, "n_heads_in_group", group, c->heads, &size);
      if (status) return status;
      c->layer[i].kv_heads = c->heads / size;
    }
    if (json_is_integer(window) && json_integer_value(window) > 0) {
      const Status status = config_number(&c->keys, "window_length", window, KVCACHE_MAX_TOKENS, &size);
      if (status) return status;
      c->layer[i].kind = LAYER_WINDOW;
      c->layer[i].window = json_integer_value(window);
    }
  }
  return STATUS_OK;
}

/* Layers that use the K and V of another keep none: the last ones (Gemma 3n), or all but one of a group. */
static Status share(Config *c) {
  ConfigKeys *k = &c->keys;
  int64_t last = 0, factor = 0, n = 0;
  if (json_integer_value(config_get(k, "num_kv_shared_layers")) > 0) {
    const Status status = config_count(k, KEYS("num_kv_shared_layers"), c->layers, &last);
    if (status) return status;
  }
  for (int64_t i = c->layers - last; i < c->layers; i++) c->layer[i].kind = LAYER_NONE, n++;
  if (config_true(k, "use_cla")) { /* Hunyuan: cross-layer attention */
    const Status status = config_count(k, KEYS("cla_share_factor"), c->layers, &factor);
    if (status) return status;
    for (int64_t i = 0; i < c->layers && factor > 1; i++)
      if (i % factor) c->layer[i].kind = LAYER_NONE, n++;
  }
  config_use(k, "cla_share_factor");
  const json_t *groups = config_get(k, "kv_reuse_group"); /* Hymba: [[1, 2], [3, 4]] */
  for (size_t g = 0; g < json_array_size(groups); g++)
    for (size_t m = 1; m < json_array_size(json_array_get(groups, g)); m++) {
      const int64_t i = json_integer_value(json_array_get(json_array_get(groups, g), m));
      if (i < 0 || i >= c->layers) return REFUSE(c, "'kv_reuse_group' names layer %" PRId64, i);
      c->layer[i].kind = LAYER_NONE;
      n++;
    }
  if (n)
    config_remark(
        c, n == 1 ? "%" PRId64 " layer uses the K and V of another" : "%" PRId64 " layers use the K and V of others",
        n);
  return STATUS_OK;
}

static Status read_lists(Config *c) {
  static const struct {
    const char *key;
    int64_t most;
    size_t member;
  } LISTS[] = {{"num_key_value_heads", KVCACHE_MAX_HEADS, offsetof(Layer, kv_heads)},
               {"num_kv_heads", KVCACHE_MAX_HEADS, offsetof(Layer, kv_heads)},
               {"num_attention_groups", KVCACHE_MAX_HEADS, offsetof(Layer, kv_heads)},
               {"num_key_value_heads_per_layer", KVCACHE_MAX_HEADS, offsetof(Layer, kv_heads)},
               {"head_dim", KVCACHE_MAX_D, offsetof(Layer, d)}};
  Status status = read_by_kind(c);
  for (size_t l = 0; l < sizeof LISTS / sizeof *LISTS && status == STATUS_OK; l++)
    status = read_list(c, LISTS[l].key, LISTS[l].most, LISTS[l].member);
  return status ? status : read_block_configs(c);
}

static Status read_latent(Config *c) {
  ConfigKeys *k = &c->keys;
  int64_t rope = 0;
  Status status = config_count(k, KEYS("kv_lora_rank"), KVCACHE_MAX_D / 2, &c->latent);
  if (config_false(k, "use_mla")) c->latent = 0; /* DeepSeek-VL2: written, not used */
  if (status == STATUS_OK) status = config_count(k, KEYS("qk_rope_head_dim"), KVCACHE_MAX_D / 2, &rope);
  if (c->latent) {
    c->model->mla_rope = rope;
    c->latent += rope;
  }
  return status;
}

Status config_read_layers(Config *c) {
  int64_t kv_heads = 0, d = 0, d_v = 0;
  Status status = read_latent(c);
  if (status == STATUS_OK) status = read_kv_heads(c, &kv_heads);
  if (status == STATUS_OK && !json_is_array(config_get(&c->keys, "head_dim"))) status = read_head_size(c, &d, &d_v);
  if (status == STATUS_OK) status = config_read_kinds(c);
  for (int64_t i = 0; i < c->layers; i++) {
    c->layer[i].kv_heads = kv_heads;
    c->layer[i].d = d;
    c->layer[i].d_v = d_v;
  }
  if (status == STATUS_OK) status = read_lists(c);
  if (status == STATUS_OK && (config_is_type(c, "falcon_h1") || config_is_type(c, "hymba")))
    for (int64_t i = 0; i < c->layers; i++) c->layer[i].state_too = true;
  return status ? status : share(c);
}
