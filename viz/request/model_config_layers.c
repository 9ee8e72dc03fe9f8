/* Which layers of a config.json have attention, and over what. Families say it in words, flags, indices, letters or
 * periods; what a list is about follows from its name. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/request/model_config_parts.h"

#define REFUSE(c, ...) config_refuse(&(c)->keys, __VA_ARGS__)

/* What a name is about, and so what the layers are that it lists. */
typedef struct {
  bool known;
  LayerKind listed, others;
} Sense;

typedef struct {
  int64_t tokens, chunk; /* of a window, of a chunk; 0: none */
  bool off;              /* use_sliding_window = false */
} Windows;

static Sense sense_of(const char *name, const Windows *w) {
  static const char *const ELSE[] = {"moe",    "expert",  "mlp",   "rope",  "lora",  "norm",    "aux",
                                     "router", "vision",  "image", "nope",  "audio", "encoder", "deepstack",
                                     "skip",   "kv_shar", "eagle", "dense", NULL};
  const LayerKind rest = w->tokens ? LAYER_WINDOW : LAYER_STATE;
  if (config_word_in(name, ELSE)) return (Sense){0};
  if (config_word_in(name, KEYS("cross"))) return (Sense){true, LAYER_CROSS, LAYER_FULL};
  if (config_word_in(name, KEYS("sliding", "swa", "window", "local"))) return (Sense){true, LAYER_WINDOW, LAYER_FULL};
  if (config_word_in(name, KEYS("linear_attn", "linear_attention", "linear_layers", "mamba", "ssm", "recurrent",
                                "conv_", "kda", "gdn", "delta", "rwkv", "lightning")))
    return (Sense){true, LAYER_STATE, LAYER_FULL};
  if (config_word_in(name, KEYS("full", "global"))) return (Sense){true, LAYER_FULL, rest};
  if (config_word_in(name, KEYS("attn", "attention", "hybrid", "softmax")))
    return (Sense){true, w->tokens ? LAYER_WINDOW : LAYER_FULL, LAYER_STATE};
  return (Sense){0};
}

/* --- words --- */

/* "attention" alone has the window where there is one (RecurrentGemma). */
static bool kind_of_word(const char *word, const Windows *w, Layer *layer) {
  static const struct {
    const char *part;
    LayerKind kind;
  } WORDS[] = {{"cross", LAYER_CROSS},     {"sliding", LAYER_WINDOW},  {"local", LAYER_WINDOW},  {"swa", LAYER_WINDOW},
               {"window", LAYER_WINDOW},   {"chunk", LAYER_CHUNK},     {"linear", LAYER_STATE},  {"mamba", LAYER_STATE},
               {"recurrent", LAYER_STATE}, {"conv", LAYER_STATE},      {"ssm", LAYER_STATE},     {"delta", LAYER_STATE},
               {"rwkv", LAYER_STATE},      {"lru", LAYER_STATE},       {"kda", LAYER_STATE},     {"gdn", LAYER_STATE},
               {"lightning", LAYER_STATE}, {"retention", LAYER_STATE}, {"hyena", LAYER_STATE},   {"lstm", LAYER_STATE},
               {"gla", LAYER_STATE},       {"mlp", LAYER_NONE},        {"moe", LAYER_NONE},      {"ffn", LAYER_NONE},
               {"no_op", LAYER_NONE},      {"noop", LAYER_NONE},       {"identity", LAYER_NONE}, {"full", LAYER_FULL},
               {"global", LAYER_FULL},     {"softmax", LAYER_FULL},    {"gqa", LAYER_FULL},      {"mha", LAYER_FULL},
               {"mqa", LAYER_FULL},        {"mla", LAYER_FULL}};
  static const char *const PLAIN[] = {"attention", "self_attention", "attn", "self_attn", "hybrid", NULL};
  layer->state_too = strstr(word, "hybrid") != NULL;
  for (const char *const *plain = PLAIN; *plain; plain++)
    if (!strcmp(word, *plain)) {
      layer->kind = w->tokens ? LAYER_WINDOW : LAYER_FULL;
      return true;
    }
  /* other attention of a new name may keep less: it is not guessed */
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (strstr(word, WORDS[i].part) && !strstr(word, "compress")) {
      layer->kind = WORDS[i].kind;
      return true;
    }
  return false;
}

/* A list of words by layer; one that repeats may be shorter (block_types). Layers of prediction further on (MTP) may
 * follow. */
static Status read_words(Config *c, const Windows *w, const char *key, const json_t *list, bool repeats) {
  const size_t n = json_array_size(list);
  int64_t further = 0;
  const Status status = config_count(&c->keys, KEYS("num_nextn_predict_layers"), MODEL_CONFIG_LAYERS_MAX, &further);
  if (status) return status;
  if (n == 0 || (!repeats && (int64_t)n != c->layers && (int64_t)n != c->layers + further))
    return REFUSE(c, "'%s' has %zu entries for %" PRId64 " layers", key, n, c->layers);
  for (int64_t i = 0; i < c->layers; i++) {
    const char *word = json_string_value(json_array_get(list, (size_t)i % n));
    if (!word || !kind_of_word(word, w, &c->layer[i]))
      return REFUSE(c,
                    "'%s'[%zu] is '%s', a kind of layer that is not known; there are full, sliding, chunked, cross and "
                    "linear attention, mamba, conv and recurrent",
                    key, (size_t)i % n, word ? quote_text(word).text : "no word");
  }
  return STATUS_OK;
}

/* --- letters, periods, indices and flags --- */

/* Every p-th layer sees all; the others have `kind`. */
static void every(Config *c, int64_t period, int64_t offset, LayerKind listed, LayerKind others) {
  for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = (i - offset % period + period) % period ? others : listed;
}

/* One letter for each layer ("M-M*": Nemotron-H), or a pattern that repeats ("LLLG": EXAONE 4). */
static Status read_letters(Config *c, const Windows *w, const char *key, const char *letters) {
  const size_t n = strlen(letters);
  for (int64_t i = 0; i < c->layers; i++) {
    const char letter = letters[(size_t)i % n];
    Layer *layer = &c->layer[i];
    if (strchr("LlSsWw", letter))
      layer->kind = w->off ? LAYER_FULL : LAYER_WINDOW;
    else if (strchr("MmRC", letter))
      layer->kind = LAYER_STATE;
    else if (strchr("-E", letter))
      layer->kind = LAYER_NONE;
    else if (strchr("*AaFfGg", letter))
      layer->kind = LAYER_FULL;
    else
      return REFUSE(c, "'%s' has the letter '%s', a kind of layer that is not known; there are * A F G, L S W, M and -",
                    key, quote(&letter, 1).text);
  }
  return STATUS_OK;
}

static bool is_flag(const json_t *v) {
  return json_is_boolean(v) || (json_is_integer(v) && (json_integer_value(v) == 0 || json_integer_value(v) == 1));
}

static bool all_flags(const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!is_flag(json_array_get(list, i))) return false;
  return json_array_size(list) > 0;
}

/* Indices from `base` on, or a flag for each layer. */
static Status read_numbers(Config *c, const char *key, const json_t *list, Sense sense, int64_t base) {
  const size_t n = json_array_size(list);
  const bool flags = all_flags(list) && ((int64_t)n == c->layers || n > 2);
  if (flags && (int64_t)n != c->layers)
    return REFUSE(c, "'%s' has %zu entries for %" PRId64 " layers", key, n, c->layers);
  if (sense.listed != LAYER_CROSS)
    for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = sense.others;
  for (size_t k = 0; k < n; k++) {
    const json_t *v = json_array_get(list, k);
    const int64_t i = flags ? (int64_t)k : json_integer_value(v) - base;
    if (!flags && !json_is_integer(v)) return REFUSE(c, "'%s'[%zu] is no layer", key, k);
    if (i < 0 || i >= c->layers)
      return REFUSE(c, "'%s' names layer %" PRId64 ", but there are %" PRId64 " layers", key, i + base, c->layers);
    if (flags && !json_is_true(v) && json_integer_value(v) == 0) continue;
    c->layer[i].kind = sense.listed;
    c->layer[i].state_too = sense.others == LAYER_STATE && strstr(key, "hybrid");
  }
  return STATUS_OK;
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
static Status read_chunks(Config *c) {
  const json_t *list = config_get(&c->keys, "no_rope_layers");
  int64_t interval = 0;
  const Status status = config_count(&c->keys, KEYS("no_rope_layer_interval"), MODEL_CONFIG_LAYERS_MAX, &interval);
  if (status) return status;
  if (json_array_size(list)) return read_numbers(c, "no_rope_layers", list, (Sense){true, LAYER_CHUNK, LAYER_FULL}, 0);
  if (!interval) interval = config_class_default(c, "no_rope_layer_interval");
  if (!interval)
    for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = LAYER_CHUNK;
  else
    every(c, interval, interval - 1, LAYER_FULL, LAYER_CHUNK);
  return STATUS_OK;
}

/* --- periods --- */

/* Where a family counts from its own first layer. */
static Status read_period(Config *c, const Windows *w, bool *found) {
  int64_t period = 0, groups = 0;
  *found = false;
  Status status = config_count(&c->keys, KEYS("attn_layer_period"), MODEL_CONFIG_LAYERS_MAX, &period);
  if (status == STATUS_OK) status = config_count(&c->keys, KEYS("layer_group_size"), MODEL_CONFIG_LAYERS_MAX, &groups);
  if (status || period) { /* Jamba */
    const json_t *offset = config_get(&c->keys, "attn_layer_offset");
    if (status == STATUS_OK)
      every(c, period, json_integer_value(offset) >= 0 ? json_integer_value(offset) : 0,
            w->tokens ? LAYER_WINDOW : LAYER_FULL, LAYER_STATE);
    *found = true;
    return status;
  }
  if (groups > 1) { /* Ring-linear: the last of each group, and what is left over */
    every(c, groups, groups - 1, LAYER_FULL, LAYER_STATE);
    for (int64_t i = c->layers / groups * groups; i < c->layers; i++) c->layer[i].kind = LAYER_FULL;
    *found = true;
    return STATUS_OK;
  }
  const char *name = NULL;
  const json_t *value = config_find(&c->keys,
                                    KEYS("full_attention_interval", "global_attn_every_n_layers",
                                         "sliding_window_pattern", "_sliding_window_pattern", "layer_switch"),
                                    &name);
  if (json_is_string(value) && w->tokens) {
    *found = true;
    return read_letters(c, w, name, json_string_value(value));
  }
  status = value && !json_is_string(value) ? config_number(&c->keys, name, value, MODEL_CONFIG_LAYERS_MAX, &period)
                                           : STATUS_OK;
  const bool of_window = !name || !strstr(name, "full");
  if (status == STATUS_OK && !period) period = config_class_default(c, "sliding_window_pattern");
  if (status || period < 2 || (of_window && !w->tokens)) return status;
  *found = true;
  every(c, period, config_is_type(c, "modernbert") ? 0 : period - 1, LAYER_FULL,
        w->tokens ? LAYER_WINDOW : LAYER_STATE);
  return STATUS_OK;
}

/* --- keys of no family that is known --- */

/* A list or a period under a new name, read by what the name is about, and said. */
static Status read_unknown(Config *c, const Windows *w, bool *found) {
  const char *key;
  json_t *value;
  json_object_foreach(c->keys.text, key, value) {
    const Sense sense = sense_of(key, w);
    if (*found || !sense.known || json_object_get(c->keys.used, key)) continue;
    Status status = STATUS_OK;
    if (json_is_array(value) && json_is_string(json_array_get(value, 0)) && strstr(key, "layer"))
      status = read_words(c, w, key, value, false);
    else if (json_is_array(value) && json_is_integer(json_array_get(value, 0)) && sense.listed != LAYER_CROSS)
      status = read_numbers(c, key, value, sense, 0);
    else if (json_is_integer(value) && json_integer_value(value) > 1 && json_integer_value(value) <= c->layers &&
             sense.listed != LAYER_CROSS && config_word_in(key, KEYS("every", "interval", "period", "freq")))
      every(c, json_integer_value(value), json_integer_value(value) - 1, sense.listed, sense.others);
    else
      continue;
    if (status) return status;
    config_use(&c->keys, key);
    config_remark(c, "the kinds of layers are read from '%s', a key of no family that is known", quote_text(key).text);
    *found = true;
  }
  return STATUS_OK;
}

/* --- windows --- */

/* Windows: one for all, or a list by layer in which null or -1 is none. */
static Status read_window_list(Config *c, const char *key, const json_t *list) {
  const size_t n = json_array_size(list);
  if (n == 0) return REFUSE(c, "'%s' is an empty list", key);
  if ((int64_t)n < c->layers)
    config_remark(c, "'%s' has %zu entries for %" PRId64 " layers, and is taken to repeat", key, n, c->layers);
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

/* Qwen: the layers before max_window_layers see all. It says so only together with use_sliding_window. */
static void window_in_all(Config *c) {
  const json_t *most = config_get(&c->keys, "max_window_layers");
  const int64_t first = config_true(&c->keys, "use_sliding_window") ? json_integer_value(most) : 0;
  for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = i >= first ? LAYER_WINDOW : LAYER_FULL;
}

static Status find_windows(Config *c, Windows *w, const json_t **list, const char **list_key) {
  const char *key = NULL;
  const json_t *window =
      config_find(&c->keys,
                  KEYS("sliding_window", "sliding_window_size", "window_size", "attention_window_size",
                       "interleaved_sliding_window", "local_window_size", "attn_window_size", "attention_window",
                       "local_attention_window", "local_attention", "local_window", "swa_window_size", "window"),
                  &key);
  Status status =
      config_count(&c->keys, KEYS("attention_chunk_size", "attn_chunk_size"), KVCACHE_MAX_TOKENS, &w->chunk);
  if (status) return status;
  const json_t *use = config_get(&c->keys, "use_sliding_window");
  w->off = json_is_false(use) || (!use && config_class_default(c, "no_sliding_window"));
  if (json_is_array(window) && !w->off) {
    *list = window;
    *list_key = key;
  } else if (window && !w->off && !json_is_false(window) && !json_is_array(window) &&
             !(json_is_integer(window) && json_integer_value(window) <= 0)) {
    status = config_number(&c->keys, key, window, KVCACHE_MAX_TOKENS, &w->tokens);
  } else if (!window && !w->off) {
    w->tokens = config_class_default(c, "sliding_window");
  }
  return status;
}

/* --- all of it --- */

/* What lists say, strongest first. */
static Status read_named(Config *c, Windows *w, bool *found) {
  ConfigKeys *k = &c->keys;
  const char *key = NULL;
  const json_t *list;
  *found = true;
  if (json_is_array(list = config_find(k, KEYS("layer_types", "layers_block_type", "attention_layer_types"), &key)))
    return read_words(c, w, key, list, false);
  if (json_is_array(list = config_find(k, KEYS("block_types", "_block_types"), &key)))
    return read_words(c, w, key, list, true);
  if (json_is_array(list = config_get(k, "attention_layers")) && json_is_string(json_array_get(list, 0)))
    return read_words(c, w, "attention_layers", list, false); /* GPT-Neo, written out */
  if (json_is_array(list = config_get(k, "attention_types"))) return read_attention_types(c, list);
  key = "hybrid_override_pattern";
  if (*config_text(k, key)) return read_letters(c, w, key, config_text(k, key));
  if (json_array_size(list = config_get(k, "hybrid_layer_pattern"))) /* MiMo: 1 has a window */
    return read_numbers(c, "hybrid_layer_pattern", list, (Sense){true, LAYER_WINDOW, LAYER_FULL}, 0);
  const Sense attention = {true, w->tokens ? LAYER_WINDOW : LAYER_FULL, LAYER_STATE};
  if (json_array_size(list = config_get(k, "attn_type_list"))) /* MiniMax: 1 sees all, 0 is linear */
    return read_numbers(c, "attn_type_list", list, attention, 0);
  if (json_array_size(list = json_object_get(config_get(k, "linear_attn_config"), "full_attn_layers"))) /* Kimi */
    return read_numbers(c, "full_attn_layers", list, attention, 1);
  if (k->inner && json_is_array(list = json_object_get(k->inner, "layers"))) { /* fla: attn.layers */
    config_use(k, "layers");
    return read_numbers(c, "layers", list, attention, 0);
  }
  if (json_is_array(list =
                        config_find(k,
                                    KEYS("attn_layer_indices", "full_attn_idxs", "attn_layer_idx", "hybrid_layer_ids",
                                         "global_attn_idx", "full_attention_layers", "attention_layers_idx"),
                                    &key)))
    return read_numbers(c, key, list, sense_of(key, w), 0);
  if (w->chunk) return read_chunks(c);
  *found = false;
  return STATUS_OK;
}

static Status set_windows(Config *c, const Windows *w) {
  for (int64_t i = 0; i < c->layers; i++) {
    Layer *l = &c->layer[i];
    l->window = l->kind == LAYER_WINDOW ? w->tokens : l->kind == LAYER_CHUNK ? w->chunk : 0;
    if (l->kind == LAYER_WINDOW && !w->tokens)
      return REFUSE(
          c, "layer %" PRId64 " has a sliding window, but 'sliding_window' does not say how many tokens it keeps", i);
    if (l->kind == LAYER_CHUNK && !w->chunk)
      return REFUSE(c, "layer %" PRId64 " has chunks, but 'attention_chunk_size' does not say how long they are", i);
  }
  return STATUS_OK;
}

/* Layers of images (Llama 3.2 Vision), whatever the others are. */
static Status read_cross(Config *c) {
  const json_t *list = config_get(&c->keys, "cross_attention_layers");
  return json_array_size(list)
             ? read_numbers(c, "cross_attention_layers", list, (Sense){true, LAYER_CROSS, LAYER_FULL}, 0)
             : STATUS_OK;
}

Status config_read_kinds(Config *c) {
  Windows w = {0};
  const json_t *list = NULL;
  const char *key = NULL;
  bool found = false;
  Status status = find_windows(c, &w, &list, &key);
  if (status) return status;
  if (w.off && json_is_array(config_get(&c->keys, "layer_types"))) { /* the words are stronger */
    const json_t *window = config_get(&c->keys, "sliding_window");
    w.off = false;
    if (json_is_integer(window) && json_integer_value(window) > 0)
      status = config_number(&c->keys, "sliding_window", window, KVCACHE_MAX_TOKENS, &w.tokens);
  }
  if (list) {
    status = status ? status : read_window_list(c, key, list);
    return status ? status : read_cross(c);
  }
  if (status == STATUS_OK) status = read_named(c, &w, &found);
  if (status == STATUS_OK && !found) status = read_period(c, &w, &found);
  if (status == STATUS_OK && !found) status = read_unknown(c, &w, &found);
  if (status == STATUS_OK && !found && w.tokens) window_in_all(c);
  if (status == STATUS_OK) status = set_windows(c, &w);
  return status ? status : read_cross(c);
}
