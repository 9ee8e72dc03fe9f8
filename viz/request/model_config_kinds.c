/* Which layers of a config.json have attention, and over what. Families say it in words, letters, lists of layers or
 * periods: one row of RULES each, strongest first. A key that is in no row is not guessed at. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/request/model_config_parts.h"

typedef enum {
  SAID_IN_WORDS,        /* one for each layer: "full_attention" */
  SAID_IN_CYCLE,        /* words that repeat */
  SAID_IN_RUNS,         /* [[["global", "local"], 12]] */
  SAID_IN_LETTERS,      /* one for each layer ("M-M*"), or a pattern that repeats ("LLLG") */
  SAID_IN_NUMBERS,      /* of layers, from 0; or a flag for each */
  SAID_IN_NUMBERS_OF_1, /* from 1 */
  SAID_BY_PERIOD,       /* the last of so many, or by attn_layer_offset */
  SAID_BY_GROUP         /* the last of so many, and what is left over */
} Form;

typedef struct {
  const char *keys;
  Form form;
  LayerKind listed, others;
  const char *in; /* an object that has it; NULL: the model's */
} Rule;

static const Rule RULES[] = {
    {"layer_types layers_block_type attention_layer_types", SAID_IN_WORDS, 0, 0, NULL},
    {"block_types _block_types", SAID_IN_CYCLE, 0, 0, NULL},                      /* RecurrentGemma */
    {"attention_layers", SAID_IN_WORDS, 0, 0, NULL},                              /* GPT-Neo, written out */
    {"attention_types", SAID_IN_RUNS, 0, 0, NULL},                                /* GPT-Neo */
    {"hybrid_override_pattern", SAID_IN_LETTERS, 0, 0, NULL},                     /* Nemotron-H */
    {"hybrid_layer_pattern", SAID_IN_NUMBERS, LAYER_WINDOW, LAYER_FULL, NULL},    /* MiMo */
    {"attn_type_list", SAID_IN_NUMBERS, LAYER_WINDOW_OR_FULL, LAYER_STATE, NULL}, /* MiniMax: 0 is linear */
    {"full_attn_layers", SAID_IN_NUMBERS_OF_1, LAYER_WINDOW_OR_FULL, LAYER_STATE, "linear_attn_config"}, /* Kimi */
    {"layers", SAID_IN_NUMBERS, LAYER_WINDOW_OR_FULL, LAYER_STATE, "attn"}, /* flash-linear-attention */
    {"full_attn_idxs global_attn_idx full_attention_layers", SAID_IN_NUMBERS, LAYER_FULL, LAYER_WINDOW_OR_STATE, NULL},
    {"attn_layer_indices attn_layer_idx hybrid_layer_ids attention_layers_idx", SAID_IN_NUMBERS, LAYER_WINDOW_OR_FULL,
     LAYER_STATE, NULL},
    {"no_rope_layers", SAID_IN_NUMBERS, LAYER_CHUNK, LAYER_FULL, NULL}, /* Llama 4 */
    {"no_rope_layer_interval", SAID_BY_PERIOD, LAYER_FULL, LAYER_CHUNK, NULL},
    {"attn_layer_period", SAID_BY_PERIOD, LAYER_WINDOW_OR_FULL, LAYER_STATE, NULL}, /* Jamba */
    {"layer_group_size", SAID_BY_GROUP, LAYER_FULL, LAYER_STATE, NULL},             /* Ring-linear */
    {"full_attention_interval", SAID_BY_PERIOD, LAYER_FULL, LAYER_WINDOW_OR_STATE, NULL},
    {"global_attn_every_n_layers sliding_window_pattern _sliding_window_pattern layer_switch", SAID_BY_PERIOD,
     LAYER_FULL, LAYER_WINDOW, NULL},
};

typedef struct {
  int64_t tokens, chunk; /* of a window, of a chunk; 0: none */
  bool off;              /* use_sliding_window = false */
  const json_t *list;    /* of windows by layer, under the key; NULL: one for all, or none */
  char key[CONFIG_NAME_BYTES];
} Windows;

static LayerKind resolve(LayerKind kind, const Windows *w) {
  if (kind < LAYER_WINDOW_OR_FULL) return kind;
  if (w->tokens) return LAYER_WINDOW;
  return kind == LAYER_WINDOW_OR_FULL ? LAYER_FULL : LAYER_STATE;
}

/* "attention" alone has the window where there is one (RecurrentGemma). Other attention of a new name may keep less: it
 * is not guessed. */
static bool kind_of_word(const char *word, const Windows *w, Layer *layer) {
  static const struct {
    const char *parts;
    LayerKind kind;
  } WORDS[] = {
      {"cross", LAYER_CROSS},
      {"sliding local swa window", LAYER_WINDOW},
      {"chunk", LAYER_CHUNK},
      {"linear mamba recurrent conv ssm delta rwkv lru kda gdn lightning retention hyena lstm gla", LAYER_STATE},
      {"mlp moe ffn no_op noop identity", LAYER_NONE},
      {"full global softmax gqa mha mqa mla", LAYER_FULL}};
  layer->state_too = strstr(word, "hybrid") != NULL;
  if (config_is_in(word, "attention self_attention attn self_attn hybrid")) {
    layer->kind = resolve(LAYER_WINDOW_OR_FULL, w);
    return true;
  }
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS && !strstr(word, "compress"); i++)
    if (config_has_part(word, WORDS[i].parts)) {
      layer->kind = WORDS[i].kind;
      return true;
    }
  return false;
}

/* A layer by entry i of a list of words. */
static void read_word(Config *c, const Windows *w, const char *key, const json_t *list, int64_t i, Layer *layer) {
  const char *word = json_string_value(json_array_get(list, (size_t)i));
  if (!word || !kind_of_word(word, w, layer))
    config_refuse(c,
                  "'%s'[%" PRId64
                  "] is '%s', a kind of layer that is not known; there are full, sliding, chunked, cross and "
                  "linear attention, mamba, conv and recurrent",
                  key, i, word ? quote_text(word).text : "no word");
}

/* Layers of prediction further on (MTP) may follow. */
static void read_words(Config *c, const Windows *w, const char *key, const json_t *list, bool repeats) {
  const int64_t n = (int64_t)json_array_size(list);
  const int64_t further = config_count(c, "num_nextn_predict_layers", MODEL_CONFIG_LAYERS_MAX);
  if ((n == 0 || (!repeats && n != c->layers + further)) && !config_is_by_layer(c, key, list)) return;
  for (int64_t i = 0; i < c->layers; i++) read_word(c, w, key, list, i % n, &c->layer[i]);
}

static void read_runs(Config *c, const Windows *w, const char *key, const json_t *list) {
  int64_t i = 0;
  for (size_t g = 0; g < json_array_size(list); g++) {
    const json_t *words = json_array_get(json_array_get(list, g), 0),
                 *times = json_array_get(json_array_get(list, g), 1);
    const int64_t n = (int64_t)json_array_size(words), most = json_integer_value(times),
                  until = i + n * (most < c->layers ? most : c->layers);
    for (int64_t k = 0; i < until && i < c->layers; i++, k++) read_word(c, w, key, words, k % n, &c->layer[i]);
  }
  if (i != c->layers) config_refuse(c, "'%s' says something of %" PRId64 " of %" PRId64 " layers", key, i, c->layers);
}

static void read_letters(Config *c, const Windows *w, const char *key, const char *letters) {
  static const struct {
    const char *letters;
    LayerKind kind;
  } KINDS[] = {{"LlSsWw", LAYER_WINDOW}, {"MmRC", LAYER_STATE}, {"-E", LAYER_NONE}, {"*AaFfGg", LAYER_FULL}};
  enum { N_KINDS = sizeof KINDS / sizeof *KINDS };
  for (int64_t i = 0; i < c->layers; i++) {
    const char letter = letters[(size_t)i % strlen(letters)];
    size_t k = 0;
    while (k < N_KINDS && !strchr(KINDS[k].letters, letter)) k++;
    if (k == N_KINDS) {
      config_refuse(c, "'%s' has the letter '%s', a kind of layer that is not known; there are * A F G, L S W, M and -",
                    key, quote(&letter, 1).text);
      return;
    }
    c->layer[i].kind = k == 0 && w->off ? LAYER_FULL : KINDS[k].kind;
  }
}

static bool all_flags(const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *v = json_array_get(list, i);
    if (!json_is_boolean(v) && !(json_is_integer(v) && (json_integer_value(v) | 1) == 1)) return false;
  }
  return json_array_size(list) > 0;
}

/* Layers by their numbers from `base` on, or a flag for each layer. */
static void read_numbers(Config *c, const char *key, const json_t *list, int64_t base, LayerKind listed,
                         LayerKind others) {
  const size_t n = json_array_size(list);
  const bool flags = all_flags(list) && ((int64_t)n == c->layers || n > 2);
  if (flags && !config_is_by_layer(c, key, list)) return;
  for (int64_t i = 0; listed != LAYER_CROSS && i < c->layers; i++) c->layer[i].kind = others;
  for (size_t k = 0; k < n; k++) {
    const json_t *v = json_array_get(list, k);
    const int64_t i = flags ? (int64_t)k : json_integer_value(v) - base;
    if (!flags && !json_is_integer(v))
      config_refuse(c, "'%s'[%zu] is no layer", key, k);
    else if (i < 0 || i >= c->layers)
      config_refuse(c, "'%s' names layer %" PRId64 ", but there are %" PRId64 " layers", key, i + base, c->layers);
    else if (!flags || json_is_true(v) || json_integer_value(v)) {
      c->layer[i].kind = listed;
      c->layer[i].state_too = others == LAYER_STATE && strstr(key, "hybrid");
    }
  }
}

/* The last of each period, or the one at attn_layer_offset. */
static bool read_period(Config *c, const char *key, int64_t period, LayerKind listed, LayerKind others) {
  const bool has_offset = strstr(key, "attn_layer") != NULL;
  const int64_t said = has_offset ? json_integer_value(config_find(c, "attn_layer_offset")) : period - 1,
                offset = said < 0 ? 0 : said;
  if (period < 1 || (period < 2 && !has_offset && others != LAYER_CHUNK)) return false;
  for (int64_t i = 0; i < c->layers; i++) c->layer[i].kind = (i - offset % period + period) % period ? others : listed;
  return true;
}

/* --- windows --- */

/* Windows: a list by layer in which null or -1 is none. */
static void read_window_list(Config *c, const char *key, const json_t *list) {
  const int64_t n = (int64_t)json_array_size(list);
  if (n == 0) config_refuse(c, "'%s' is an empty list", key);
  if (n < c->layers)
    config_remark(c, "'%s' has %" PRId64 " entries for %" PRId64 " layers, and is taken to repeat", key, n, c->layers);
  for (int64_t i = 0; n && i < c->layers; i++) {
    const int64_t tokens = json_integer_value(json_array_get(list, (size_t)(i % n)));
    c->layer[i].kind = tokens > 0 ? LAYER_WINDOW : LAYER_FULL;
    c->layer[i].window = tokens > 0 ? tokens : 0;
    if (tokens > KVCACHE_MAX_TOKENS)
      config_refuse(c, "'%s'[%" PRId64 "] is more than %" PRId64 " tokens", key, i, KVCACHE_MAX_TOKENS);
  }
}

static const char WINDOWS[] =
    "sliding_window sliding_window_size window_size attention_window_size interleaved_sliding_window local_window_size "
    "attn_window_size attention_window local_attention_window local_attention local_window swa_window_size window";

/* One window for all, or a list of them. Words for each layer are stronger than use_sliding_window. */
static Windows find_windows(Config *c) {
  Windows w = {.chunk = config_count(c, "attention_chunk_size attn_chunk_size", KVCACHE_MAX_TOKENS)};
  const json_t *use = config_find(c, "use_sliding_window");
  w.off = json_is_false(use) || (!use && config_class_default(c, "no_sliding_window"));
  const bool has_words = json_is_array(config_find(c, "layer_types"));
  json_t *window = config_find(c, w.off && has_words ? "sliding_window" : WINDOWS);
  const bool counts = !w.off || (has_words && json_is_integer(window));
  w.list = !w.off && json_is_array(window) ? window : NULL;
  memcpy(w.key, c->name, sizeof w.key);
  if (!window && !w.off)
    w.tokens = config_class_default(c, "sliding_window");
  else if (window && counts && !w.list && !json_is_false(window) &&
           !(json_is_integer(window) && json_integer_value(window) <= 0))
    w.tokens = config_number(c, c->name, window, KVCACHE_MAX_TOKENS);
  if (has_words) w.off = false;
  return w;
}

static void set_windows(Config *c, const Windows *w) {
  for (int64_t i = 0; i < c->layers; i++) {
    Layer *l = &c->layer[i];
    l->window = l->kind == LAYER_WINDOW ? w->tokens : l->kind == LAYER_CHUNK ? w->chunk : 0;
    if (l->kind == LAYER_WINDOW && !w->tokens)
      config_refuse(
          c, "layer %" PRId64 " has a sliding window, but 'sliding_window' does not say how many tokens it keeps", i);
    if (l->kind == LAYER_CHUNK && !w->chunk)
      config_refuse(c, "layer %" PRId64 " has chunks, but 'attention_chunk_size' does not say how long they are", i);
  }
}

/* --- all of it --- */

/* Whether the rule's key is there and says something of the layers. */
static bool apply(Config *c, const Windows *w, const Rule *rule) {
  const Form form = rule->form;
  const LayerKind listed = resolve(rule->listed, w), others = resolve(rule->others, w);
  if ((listed == LAYER_CHUNK || others == LAYER_CHUNK) && !w->chunk) return false;
  const char *in = rule->in;
  json_t *value = !in                   ? config_find(c, rule->keys)
                  : !strcmp(in, "attn") ? json_object_get(c->inner, rule->keys)
                                        : json_object_get(config_find(c, in), rule->keys);
  char key[CONFIG_NAME_BYTES];
  snprintf(key, sizeof key, "%s", in ? rule->keys : value ? c->name : "");
  if (in && value) config_use(c, key);
  const bool is_list = json_is_array(value);
  const char *letters = json_string_value(value);
  if (letters && *letters && (form == SAID_IN_LETTERS || (form >= SAID_BY_PERIOD && w->tokens))) {
    read_letters(c, w, key, letters);
    return true;
  }
  switch (form) {
  case SAID_IN_LETTERS: return false;
  case SAID_IN_WORDS:
  case SAID_IN_CYCLE:
    if (!is_list || (!strcmp(key, "attention_layers") && !json_is_string(json_array_get(value, 0)))) return false;
    read_words(c, w, key, value, form == SAID_IN_CYCLE);
    return true;
  case SAID_IN_RUNS:
    if (is_list) read_runs(c, w, key, value);
    return is_list;
  case SAID_IN_NUMBERS:
  case SAID_IN_NUMBERS_OF_1:
    if (!is_list || (!json_array_size(value) && !strstr(rule->keys, "idx"))) return false;
    read_numbers(c, key, value, form == SAID_IN_NUMBERS_OF_1, listed, others);
    return true;
  default: break;
  }
  int64_t period = value && !letters ? config_number(c, key, value, MODEL_CONFIG_LAYERS_MAX) : 0;
  if (others == LAYER_CHUNK && !period) period = config_class_default(c, "no_rope_layer_interval");
  if (rule->others == LAYER_WINDOW && !period) period = config_class_default(c, "sliding_window_pattern");
  if (rule->others == LAYER_WINDOW && !w->tokens) return false;
  if (!read_period(c, key, period, listed, others)) return false;
  for (int64_t i = c->layers / period * period; form == SAID_BY_GROUP && i < c->layers; i++)
    c->layer[i].kind = LAYER_FULL;
  return true;
}

void config_read_kinds(Config *c) {
  const Windows w = find_windows(c);
  bool found = w.list != NULL;
  if (found) read_window_list(c, w.key, w.list);
  for (size_t r = 0; r < sizeof RULES / sizeof *RULES && !found; r++) found = apply(c, &w, &RULES[r]);
  /* Qwen: the layers before max_window_layers see all. It says so only together with use_sliding_window. */
  const int64_t first =
      config_true(c, "use_sliding_window") ? json_integer_value(config_find(c, "max_window_layers")) : 0;
  for (int64_t i = 0; i < c->layers && !found; i++)
    c->layer[i].kind = w.chunk ? LAYER_CHUNK : w.tokens && i >= first ? LAYER_WINDOW : LAYER_FULL;
  if (!w.list) set_windows(c, &w);
  const json_t *list = config_find(c, "cross_attention_layers"); /* Llama 3.2 Vision, whatever the others are */
  if (json_array_size(list)) read_numbers(c, c->name, list, 0, LAYER_CROSS, LAYER_FULL);
}
