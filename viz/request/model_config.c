#include "viz/request/model_config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "sim/base/quote.h"

typedef enum {
  LAYER_FULL = 0,
  LAYER_WINDOW,
  LAYER_CHUNK,
  LAYER_NONE /* no K and V of its own */
} LayerKind;

typedef struct {
  LayerKind kind;
  int64_t kv_heads, d, d_v, window;
} Layer;

typedef struct {
  const char *file;
  json_t *root, *text; /* the whole, and the part about the text model */
  Error *error;
  int64_t layers, heads, hidden, latent;
  Layer *layer; /* MODEL_CONFIG_LAYERS_MAX */
  bool left_out_states, left_out_shared;
} Config;

#define REFUSE(c, ...) refuse((c)->file, (c)->error, __VA_ARGS__)

static Status refuse(const char *file, Error *error, const char *format, ...) __attribute__((format(printf, 3, 4)));
static Status refuse(const char *file, Error *error, const char *format, ...) {
  char what[ERROR_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return error_set(error, STATUS_BAD_FILE, "%.80s: %.220s", file, what);
}

/* --- keys --- */

/* The value of the first of some keys that is there and not null, in the text model or else at the root. */
static json_t *find(const Config *c, const char *const *keys, const char **name) {
  for (const json_t *in = c->text;; in = c->root) {
    for (const char *const *key = keys; *key; key++) {
      json_t *value = json_object_get(in, *key);
      if (!value || json_is_null(value)) continue;
      if (name) *name = *key;
      return value;
    }
    if (in == c->root) return NULL;
  }
}

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static json_t *get(const Config *c, const char *key) { return find(c, KEYS(key), NULL); }

static Status read_count(const Config *c, const char *key, const json_t *value, int64_t most, int64_t *count) {
  if (json_is_integer(value) && json_integer_value(value) >= 1 && json_integer_value(value) <= most) {
    *count = json_integer_value(value);
    return STATUS_OK;
  }
  if (json_is_real(value) && json_real_value(value) >= 1 && json_real_value(value) <= (double)most &&
      json_real_value(value) == (double)(int64_t)json_real_value(value)) {
    *count = (int64_t)json_real_value(value);
    return STATUS_OK;
  }
  return REFUSE(c, "'%s' is not a whole number from 1 to %" PRId64, key, most);
}

/* A count under one of some keys; 0: none of them is there. */
static Status count_of(const Config *c, const char *const *keys, int64_t most, int64_t *count) {
  const char *name = NULL;
  const json_t *value = find(c, keys, &name);
  *count = 0;
  return value ? read_count(c, name, value, most, count) : STATUS_OK;
}

static const char *text_of(const Config *c, const char *key) {
  const char *text = json_string_value(get(c, key));
  return text ? text : "";
}

static bool is_true(const Config *c, const char *key) { return json_is_true(get(c, key)); }

/* --- defaults that a file leaves to its class --- */

/* transformers: models/gemma3/configuration_gemma3.py and others write only what differs from these. */
static const struct {
  const char *model_type, *key;
  int64_t value;
} CLASS_DEFAULTS[] = {
    {"gemma3_text", "num_attention_heads", 8},
    {"gemma3_text", "num_key_value_heads", 4},
    {"gemma3_text", "head_dim", 256},
    {"gemma3_text", "sliding_window_pattern", 6},
    {"gemma3_text", "max_position_embeddings", 131072},
    {"gemma2", "sliding_window_pattern", 2},
    {"gemma2", "head_dim", 256},
    {"gemma", "head_dim", 256},
    {"cohere2", "sliding_window_pattern", 4},
    {"llama4_text", "no_rope_layer_interval", 4},
};

static int64_t class_default(const Config *c, const char *key) {
  const char *type = text_of(c, "model_type");
  for (size_t i = 0; i < sizeof CLASS_DEFAULTS / sizeof *CLASS_DEFAULTS; i++)
    if (!strcmp(CLASS_DEFAULTS[i].model_type, type) && !strcmp(CLASS_DEFAULTS[i].key, key))
      return CLASS_DEFAULTS[i].value;
  return 0;
}

/* --- sizes of the whole model --- */

/* In which object the text model is described. */
static void find_text(Config *c) {
  static const char *const nested[] = {"text_config", "llm_config", "language_config", "language_model_config",
                                       "decoder"};
  c->text = c->root;
  json_t *thinker = json_object_get(c->root, "thinker_config");
  if (json_is_object(thinker)) c->text = thinker;
  for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
    json_t *inner = json_object_get(c->text, nested[i]);
    if (!json_is_object(inner)) continue;
    c->text = inner;
    return;
  }
}

static Status read_sizes(Config *c) {
  Status status = count_of(c, KEYS("num_hidden_layers", "n_layer", "num_layers", "n_layers", "num_decoder_layers"),
                           MODEL_CONFIG_LAYERS_MAX, &c->layers);
  if (status) return status;
  if (!c->layers)
    return REFUSE(c,
                  "no number of layers; 'num_hidden_layers' (or n_layer, num_layers) belongs there, at the top or in "
                  "'text_config'");
  json_t *heads = get(c, "num_query_heads"); /* OpenELM's, a list */
  if (json_is_array(heads))
    status = read_count(c, "num_query_heads", json_array_get(heads, 0), KVCACHE_MAX_HEADS, &c->heads);
  else
    status = count_of(c, KEYS("num_attention_heads", "n_head", "n_heads", "num_heads"), KVCACHE_MAX_HEADS, &c->heads);
  if (status == STATUS_OK)
    status = count_of(c, KEYS("hidden_size", "n_embd", "d_model", "dim", "model_dim"), KVCACHE_MAX_D * 64, &c->hidden);
  if (!c->heads) c->heads = class_default(c, "num_attention_heads");
  if (status == STATUS_OK && !c->heads) return REFUSE(c, "no number of heads; 'num_attention_heads' belongs there");
  return status;
}

static Status read_head_size(const Config *c, int64_t *d, int64_t *d_v) {
  Status status =
      count_of(c, KEYS("head_dim", "kv_channels", "attention_head_dim", "d_kv", "d_head"), KVCACHE_MAX_D, d);
  if (status == STATUS_OK) status = count_of(c, KEYS("v_head_dim"), KVCACHE_MAX_D, d_v);
  if (status) return status;
  if (!*d) *d = class_default(c, "head_dim");
  int64_t nope = 0, rope = 0;
  if (!*d && (status = count_of(c, KEYS("qk_nope_head_dim"), KVCACHE_MAX_D, &nope)) == STATUS_OK && nope) {
    status = count_of(c, KEYS("qk_rope_head_dim"), KVCACHE_MAX_D, &rope);
    *d = nope + rope;
  }
  if (status || *d) return status;
  if (!c->hidden || c->hidden % c->heads)
    return REFUSE(c, "no size of a head: neither 'head_dim' nor a 'hidden_size' that the %" PRId64 " heads divide",
                  c->heads);
  *d = c->hidden / c->heads;
  return STATUS_OK;
}

static Status read_kv_heads(const Config *c, int64_t *kv_heads) {
  json_t *attention = get(c, "attn_config"); /* MPT, DBRX */
  const json_t *inner = json_object_get(attention, "kv_n_heads");
  if (inner && !json_is_null(inner)) return read_count(c, "kv_n_heads", inner, KVCACHE_MAX_HEADS, kv_heads);
  if (is_true(c, "multi_query_attention")) { /* ChatGLM */
    const Status status = count_of(c, KEYS("multi_query_group_num"), KVCACHE_MAX_HEADS, kv_heads);
    if (!*kv_heads) *kv_heads = 1;
    return status;
  }
  /* Falcon: heads of K and V are written, but mean something only for the new decoder. */
  const json_t *decoder = get(c, "new_decoder_architecture");
  if (json_is_true(get(c, "multi_query")) && !json_is_true(decoder)) {
    *kv_heads = 1;
    return STATUS_OK;
  }
  if (json_is_false(decoder) && json_is_false(get(c, "multi_query"))) {
    *kv_heads = c->heads;
    return STATUS_OK;
  }
  const char *name = NULL;
  const json_t *value =
      find(c, KEYS("num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_head_kv", "num_key_value_heads_per_layer"),
           &name);
  if (json_is_array(value)) value = json_array_get(value, 0); /* by layer: read_lists */
  if (value) return read_count(c, name, value, KVCACHE_MAX_HEADS, kv_heads);
  *kv_heads = class_default(c, "num_key_value_heads");
  if (!*kv_heads) *kv_heads = c->heads;
  return STATUS_OK;
}

/* --- kinds of layers --- */

static LayerKind kind_of_word(const char *word, bool *known) {
  static const struct {
    const char *part;
    LayerKind kind;
  } WORDS[] = {{"sliding", LAYER_WINDOW}, {"local", LAYER_WINDOW},   {"swa", LAYER_WINDOW},     {"chunk", LAYER_CHUNK},
               {"linear", LAYER_NONE},    {"mamba", LAYER_NONE},     {"recurrent", LAYER_NONE}, {"conv", LAYER_NONE},
               {"ssm", LAYER_NONE},       {"mlp", LAYER_NONE},       {"moe", LAYER_NONE},       {"full", LAYER_FULL},
               {"global", LAYER_FULL},    {"attention", LAYER_FULL}, {"hybrid", LAYER_FULL},    {"attn", LAYER_FULL}};
  *known = true;
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (strstr(word, WORDS[i].part)) return WORDS[i].kind;
  *known = false;
  return LAYER_FULL;
}

/* A list of words by layer; a shorter one (block_types) repeats. */
static Status read_words(Config *c, const char *key, const json_t *list, bool repeats) {
  const size_t n = json_array_size(list);
  if (n == 0 || (!repeats && (int64_t)n != c->layers))
    return REFUSE(c, "'%s' has %zu entries for %" PRId64 " layers", key, n, c->layers);
  for (int64_t i = 0; i < c->layers; i++) {
    const json_t *entry = json_array_get(list, (size_t)i % n);
    const char *word = json_string_value(entry);
    bool known = false;
    if (word) c->layer[i].kind = kind_of_word(word, &known);
    if (!known)
      return REFUSE(c,
                    "'%s'[%" PRId64
                    "] is '%s', a kind of layer that is not known; there are full, sliding, chunked and "
                    "linear attention, mamba, conv and recurrent",
                    key, (int64_t)((size_t)i % n), word ? quote(word, strlen(word)).text : "no word");
  }
  return STATUS_OK;
}

/* Every p-th layer sees all; the others have `kind`. */
static void every(Config *c, int64_t period, LayerKind kind) {
  for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = (i + 1) % period ? kind : LAYER_FULL;
}

/* One letter for each layer ("M-M*": Nemotron-H), or a pattern that repeats ("LLLG": EXAONE 4). */
static void by_letters(Config *c, const char *letters, const char *window, const char *none) {
  const int64_t n = (int64_t)strlen(letters);
  for (int64_t i = 0; i < c->layers && n; i++) {
    const char letter = letters[i % n];
    c->layer[i].kind = strchr(window, letter) ? LAYER_WINDOW : strchr(none, letter) ? LAYER_NONE : LAYER_FULL;
  }
}

/* GPT-Neo: [[["global", "local"], 12]] */
static Status read_attention_types(Config *c, const json_t *list) {
  int64_t i = 0;
  for (size_t g = 0; g < json_array_size(list); g++) {
    const json_t *words = json_array_get(json_array_get(list, g), 0),
                 *times = json_array_get(json_array_get(list, g), 1);
    const size_t n = json_array_size(words);
    for (int64_t t = 0; n && t < json_integer_value(times) && i < c->layers; t++)
      for (size_t w = 0; w < n && i < c->layers; w++, i++) {
        const char *word = json_string_value(json_array_get(words, w));
        c->layer[i].kind = word && !strcmp(word, "local") ? LAYER_WINDOW : LAYER_FULL;
      }
  }
  return i == c->layers
             ? STATUS_OK
             : REFUSE(c, "'attention_types' says something of %" PRId64 " of %" PRId64 " layers", i, c->layers);
}

/* Llama 4: 1 is a layer with rotary positions, which sees its chunk. An empty list: every fourth has none. */
static Status read_chunks(Config *c, int64_t chunk) {
  const json_t *list = get(c, "no_rope_layers");
  int64_t interval = 0;
  const Status status = count_of(c, KEYS("no_rope_layer_interval"), MODEL_CONFIG_LAYERS_MAX, &interval);
  if (status) return status;
  if (json_array_size(list) == 0) {
    if (!interval) interval = class_default(c, "no_rope_layer_interval");
    if (interval)
      every(c, interval, LAYER_CHUNK);
    else
      for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = LAYER_CHUNK;
  } else {
    if ((int64_t)json_array_size(list) != c->layers)
      return REFUSE(c, "'no_rope_layers' has %zu entries for %" PRId64 " layers", json_array_size(list), c->layers);
    for (int64_t i = 0; i < c->layers; i++)
      c->layer[i].kind = json_integer_value(json_array_get(list, (size_t)i)) ? LAYER_CHUNK : LAYER_FULL;
  }
  for (int64_t i = 0; i < c->layers; i++)
    if (c->layer[i].kind == LAYER_CHUNK) c->layer[i].window = chunk;
  return STATUS_OK;
}

/* Layers without attention between those with it: Jamba, Bamba, Qwen3-Next. */
static Status read_mixers(Config *c) {
  int64_t period = 0, interval = 0;
  Status status = count_of(c, KEYS("attn_layer_period"), MODEL_CONFIG_LAYERS_MAX, &period);
  if (status == STATUS_OK) status = count_of(c, KEYS("full_attention_interval"), MODEL_CONFIG_LAYERS_MAX, &interval);
  if (status) return status;
  const json_t *indices = get(c, "attn_layer_indices");
  const json_t *ones = get(c, "attn_type_list"); /* MiniMax: 1 sees all, 0 is linear */
  const json_t *full = json_object_get(get(c, "linear_attn_config"), "full_attn_layers"); /* Kimi: counted from 1 */
  if (json_array_size(ones)) {
    for (int64_t i = 0; i < c->layers; i++)
      c->layer[i].kind =
          json_integer_value(json_array_get(ones, (size_t)i % json_array_size(ones))) ? LAYER_FULL : LAYER_NONE;
  } else if (json_array_size(full)) {
    for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = LAYER_NONE;
    for (size_t k = 0; k < json_array_size(full); k++) {
      const int64_t i = json_integer_value(json_array_get(full, k));
      if (i >= 1 && i <= c->layers) c->layer[i - 1].kind = LAYER_FULL;
    }
  } else if (period) {
    const int64_t offset = json_integer_value(get(c, "attn_layer_offset"));
    for (int64_t i = 0; i < c->layers; i++)
      c->layer[i].kind = (i - offset % period) % period == 0 ? LAYER_FULL : LAYER_NONE;
  } else if (json_is_array(indices)) {
    for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = LAYER_NONE;
    for (size_t k = 0; k < json_array_size(indices); k++) {
      const int64_t i = json_integer_value(json_array_get(indices, k));
      if (i >= 0 && i < c->layers) c->layer[i].kind = LAYER_FULL;
    }
  } else if (interval) {
    every(c, interval, LAYER_NONE);
  }
  return STATUS_OK;
}

/* Which layers have a window where no list says it. */
static Status read_pattern(Config *c, bool windowed) {
  const char *name = NULL;
  const json_t *pattern = find(c, KEYS("sliding_window_pattern", "_sliding_window_pattern"), &name);
  int64_t period = 0, first = 0;
  if (json_is_string(pattern)) {
    if (windowed) by_letters(c, json_string_value(pattern), "L", "");
    return STATUS_OK;
  }
  Status status = pattern ? read_count(c, name, pattern, MODEL_CONFIG_LAYERS_MAX, &period) : STATUS_OK;
  if (status || !windowed) return status;
  if (!period) period = class_default(c, "sliding_window_pattern");
  if (period > 1) {
    every(c, period, LAYER_WINDOW);
    return STATUS_OK;
  }
  /* Qwen: the layers before max_window_layers see all. It says so only together with use_sliding_window. */
  if (is_true(c, "use_sliding_window") && json_is_integer(get(c, "max_window_layers")))
    first = json_integer_value(get(c, "max_window_layers"));
  for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = i >= first ? LAYER_WINDOW : LAYER_FULL;
  return STATUS_OK;
}

/* Windows: one for all, or a list by layer in which null or -1 is none. */
static Status read_window_list(Config *c, const char *key, const json_t *list) {
  const size_t n = json_array_size(list);
  if (n == 0) return REFUSE(c, "'%s' is an empty list", key);
  for (int64_t i = 0; i < c->layers; i++) {
    const json_t *entry = json_array_get(list, (size_t)i % n);
    const bool none = !json_is_integer(entry) || json_integer_value(entry) <= 0;
    c->layer[i].kind = none ? LAYER_FULL : LAYER_WINDOW;
    if (!none && json_integer_value(entry) > KVCACHE_MAX_TOKENS)
      return REFUSE(c, "'%s'[%" PRId64 "] is more than %" PRId64 " tokens", key, i, KVCACHE_MAX_TOKENS);
    if (!none) c->layer[i].window = json_integer_value(entry);
  }
  return STATUS_OK;
}

static Status read_kinds(Config *c) {
  const char *window_key = NULL, *key = NULL;
  const json_t *window =
      find(c, KEYS("sliding_window", "sliding_window_size", "window_size", "attention_window_size"), &window_key);
  const json_t *words = find(c, KEYS("layer_types", "layers_block_type", "attention_layer_types"), &key);
  const json_t *blocks = get(c, "block_types"), *types = get(c, "attention_types");
  const char *letters = text_of(c, "hybrid_override_pattern");
  const json_t *numbers = get(c, "hybrid_layer_pattern"); /* MiMo: 1 has a window */
  int64_t tokens = 0, chunk = 0;
  const bool off = json_is_false(get(c, "use_sliding_window")) && !words;
  Status status = count_of(c, KEYS("attention_chunk_size"), KVCACHE_MAX_TOKENS, &chunk);
  if (status) return status;
  if (json_is_array(window) && !off) return read_window_list(c, window_key, window);
  if (window && !off && !json_is_false(window) && !(json_is_integer(window) && json_integer_value(window) <= 0))
    status = read_count(c, window_key, window, KVCACHE_MAX_TOKENS, &tokens);
  if (status == STATUS_OK && json_is_array(words))
    status = read_words(c, key, words, false);
  else if (status == STATUS_OK && json_is_array(blocks))
    status = read_words(c, "block_types", blocks, true);
  else if (status == STATUS_OK && json_is_array(types))
    status = read_attention_types(c, types);
  else if (status == STATUS_OK && *letters)
    by_letters(c, letters, "", "M-E");
  else if (status == STATUS_OK && json_array_size(numbers))
    for (int64_t i = 0; i < c->layers; i++)
      c->layer[i].kind =
          json_integer_value(json_array_get(numbers, (size_t)i % json_array_size(numbers))) ? LAYER_WINDOW : LAYER_FULL;
  else if (status == STATUS_OK && chunk)
    return read_chunks(c, chunk);
  else if (status == STATUS_OK)
    status = tokens ? read_pattern(c, tokens > 0) : read_mixers(c);
  for (int64_t i = 0; i < c->layers && status == STATUS_OK; i++) {
    Layer *l = &c->layer[i];
    l->window = l->kind == LAYER_WINDOW ? tokens : l->kind == LAYER_CHUNK ? chunk : 0;
    if (l->kind == LAYER_WINDOW && !tokens)
      return REFUSE(
          c, "layer %" PRId64 " has a sliding window, but 'sliding_window' does not say how many tokens it keeps", i);
    if (l->kind == LAYER_CHUNK && !chunk)
      return REFUSE(c, "layer %" PRId64 " has chunks, but 'attention_chunk_size' does not say how long they are", i);
  }
  return status;
}

/* --- sizes by layer --- */

static Status read_list(Config *c, const char *key, int64_t most, size_t member) {
  const json_t *list = get(c, key);
  if (!json_is_array(list)) return STATUS_OK;
  if ((int64_t)json_array_size(list) != c->layers)
    return REFUSE(c, "'%s' has %zu entries for %" PRId64 " layers", key, json_array_size(list), c->layers);
  for (int64_t i = 0; i < c->layers; i++) {
    const json_t *entry = json_array_get(list, (size_t)i);
    if (json_is_null(entry) || (json_is_integer(entry) && json_integer_value(entry) == 0)) {
      c->layer[i].kind = LAYER_NONE;
      continue;
    }
    const Status status = read_count(c, key, entry, most, (int64_t *)(void *)((char *)&c->layer[i] + member));
    if (status) return status;
  }
  return STATUS_OK;
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
    const Status status = count_of(c, KEYS(SIZES[s].key), KVCACHE_MAX_HEADS, &size);
    if (status) return status;
    for (int64_t i = 0; i < c->layers && size; i++)
      if (c->layer[i].kind == SIZES[s].kind) memcpy((char *)&c->layer[i] + SIZES[s].member, &size, sizeof size);
  }
  return STATUS_OK;
}

/* Models whose layers were searched for one by one (DeciLM, Nemotron). */
static Status read_block_configs(Config *c) {
  const json_t *blocks = get(c, "block_configs");
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
      const Status status = read_count(c, "n_heads_in_group", group, c->heads, &size);
      if (status) return status;
      c->layer[i].kv_heads = c->heads / size;
    }
    if (json_is_integer(window) && json_integer_value(window) > 0) {
      const Status status = read_count(c, "window_length", window, KVCACHE_MAX_TOKENS, &size);
      if (status) return status;
      c->layer[i].kind = LAYER_WINDOW;
      c->layer[i].window = json_integer_value(window);
    }
  }
  return STATUS_OK;
}

static Status read_layers(Config *c) {
  int64_t kv_heads = 0, d = 0, d_v = 0, shared = 0, rope = 0;
  Status status = count_of(c, KEYS("kv_lora_rank"), KVCACHE_MAX_D / 2, &c->latent);
  if (status == STATUS_OK && c->latent) status = count_of(c, KEYS("qk_rope_head_dim"), KVCACHE_MAX_D / 2, &rope);
  c->latent += c->latent ? rope : 0;
  if (status == STATUS_OK) status = read_kv_heads(c, &kv_heads);
  if (status == STATUS_OK && !json_is_array(get(c, "head_dim"))) status = read_head_size(c, &d, &d_v);
  if (status == STATUS_OK) status = read_kinds(c);
  for (int64_t i = 0; i < c->layers; i++) {
    c->layer[i].kv_heads = kv_heads;
    c->layer[i].d = d;
    c->layer[i].d_v = d_v;
  }
  if (status == STATUS_OK) status = read_by_kind(c);
  if (status == STATUS_OK) status = read_list(c, "num_key_value_heads", KVCACHE_MAX_HEADS, offsetof(Layer, kv_heads));
  if (status == STATUS_OK) status = read_list(c, "num_kv_heads", KVCACHE_MAX_HEADS, offsetof(Layer, kv_heads));
  if (status == STATUS_OK)
    status = read_list(c, "num_key_value_heads_per_layer", KVCACHE_MAX_HEADS, offsetof(Layer, kv_heads));
  if (status == STATUS_OK) status = read_list(c, "head_dim", KVCACHE_MAX_D, offsetof(Layer, d));
  if (status == STATUS_OK) status = read_block_configs(c);
  for (int64_t i = 0; i < c->layers; i++) c->left_out_states |= c->layer[i].kind == LAYER_NONE;
  if (status == STATUS_OK && json_integer_value(get(c, "num_kv_shared_layers")) > 0)
    status = count_of(c, KEYS("num_kv_shared_layers"), c->layers, &shared);
  for (int64_t i = c->layers - shared; i < c->layers; i++) c->layer[i].kind = LAYER_NONE;
  c->left_out_shared = shared > 0;
  return status;
}

/* --- the model --- */

static bool same_row(const Layer *a, const Layer *b) {
  return a->kv_heads == b->kv_heads && a->d == b->d && (a->d_v ? a->d_v : a->d) == (b->d_v ? b->d_v : b->d);
}

/* Layers that are alike, counted; the first kind and its windowed twins go into the model's own fields. */
static Status group(const Config *c, KvModel *m) {
  const Layer *first = NULL;
  for (int64_t i = 0; i < c->layers; i++) {
    const Layer *l = &c->layer[i];
    if (l->kind == LAYER_NONE) continue;
    if (!first || (first->kind != LAYER_FULL && l->kind == LAYER_FULL && same_row(first, l))) first = l;
  }
  if (!first)
    return REFUSE(c, "none of the %" PRId64 " layers keeps K and V, so there is no cache that grows", c->layers);
  m->kv_heads = first->kv_heads;
  m->d = first->d;
  m->d_v = first->d_v == first->d ? 0 : first->d_v;
  const Layer *twin = NULL; /* the windowed kind beside it */
  for (int64_t i = 0; i < c->layers; i++) {
    const Layer *l = &c->layer[i];
    if (l->kind == LAYER_NONE) continue;
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

static void set_text(char *to, const char *text) {
  snprintf(to, KEYFILE_TEXT_BYTES, "%.*s", KEYFILE_TEXT_BYTES - 1, text);
}

/* The type of the elements: as the weights are kept. */
static Status read_dtype(const Config *c, KvModel *m) {
  const char *name = text_of(c, "torch_dtype");
  if (!*name) name = text_of(c, "dtype");
  if (!strncmp(name, "torch.", 6)) name += 6;
  static const struct {
    const char *torch, *dtype;
  } NAMES[] = {{"bfloat16", "bf16"}, {"float16", "fp16"}, {"half", "fp16"}, {"float32", "fp32"},
               {"float", "fp32"},    {"", "bf16"},        {"auto", "bf16"}};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (!strcmp(name, NAMES[i].torch)) {
      set_text(m->dtype, NAMES[i].dtype);
      return STATUS_OK;
    }
  if (!strncmp(name, "float8", 6)) {
    set_text(m->dtype, "fp8");
    return STATUS_OK;
  }
  return REFUSE(c, "'torch_dtype' is '%s'; there are bfloat16, float16, float32 and float8",
                quote(name, strlen(name)).text);
}

static void say_limits(const Config *c, KvModel *m) {
  char text[KEYFILE_TEXT_BYTES] = "";
  if (c->left_out_states) strcat(text, "layers without attention keep a state of fixed size, which is left out; ");
  if (c->left_out_shared) strcat(text, "the last layers share the cache of others; ");
  if (get(c, "index_head_dim")) strcat(text, "the keys of the indexer are left out; ");
  if (!*text_of(c, "torch_dtype") && !*text_of(c, "dtype")) strcat(text, "no data type is given: bf16 is assumed; ");
  if (is_true(c, "is_encoder_decoder")) strcat(text, "the decoder's own cache alone, without that of the encoder; ");
  if (*text) text[strlen(text) - 2] = '\0';
  memcpy(m->limits, text, sizeof m->limits);
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

static Status make(Config *c, KvModel *m) {
  find_text(c);
  Status status = read_sizes(c);
  if (status == STATUS_OK) status = read_layers(c);
  if (status) return status;
  if (c->latent)
    for (int64_t i = 0; i < c->layers; i++) c->layer[i].d_v = 0;
  status = group(c, m);
  if (status == STATUS_OK) status = read_dtype(c, m);
  if (status == STATUS_OK)
    status = count_of(c,
                      KEYS("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx",
                           "max_sequence_length", "model_max_length", "max_context_length"),
                      KVCACHE_MAX_TOKENS, &m->max_tokens);
  if (status) return status;
  if (!m->max_tokens) m->max_tokens = class_default(c, "max_position_embeddings");
  if (!m->max_tokens) m->max_tokens = 4096;
  m->heads = c->heads;
  m->mla_latent = c->latent;
  if (c->latent && m->n_more) return REFUSE(c, "layers with MLA and others together are not modelled");
  char name[64];
  name_after(c->file, name);
  set_text(m->name, name);
  const char *type = text_of(c, "model_type");
  set_text(m->product, *type ? type : name);
  say_limits(c, m);
  const KvCache row = {.kv_heads = m->kv_heads, .d = m->d, .layers = m->layers};
  if (!c->latent && row.kv_heads > c->heads)
    return REFUSE(c, "%" PRId64 " K and V heads are more than %" PRId64 " query heads", row.kv_heads, c->heads);
  return STATUS_OK;
}

bool model_config_is_json(const char *text, size_t length) {
  size_t at = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
  while (at < length && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) at++;
  return at < length && (text[at] == '{' || text[at] == '[');
}

Status model_config_parse(const char *text, size_t length, const char *display_name, KvModel *model, Error *error) {
  json_error_t why;
  const size_t mark = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
  Config c = {.file = display_name, .error = error};
  c.root = json_loadb(text + mark, length - mark, 0, &why);
  if (!c.root)
    return error_set(error, STATUS_BAD_FILE, "%.80s: line %d: no JSON: %.120s", display_name, why.line, why.text);
  Status status = STATUS_OK;
  KvModel *read = calloc(1, sizeof *read);
  c.layer = calloc(MODEL_CONFIG_LAYERS_MAX, sizeof *c.layer);
  if (!read || !c.layer)
    status = error_set(error, STATUS_NO_MEMORY, "no memory to read the model");
  else if (!json_is_object(c.root))
    status = REFUSE(&c, "line 1: a list, where config.json is an object: {...}");
  else
    status = make(&c, read);
  if (status == STATUS_OK) *model = *read;
  json_decref(c.root);
  free(c.layer);
  free(read);
  return status;
}
