/* Which layers of a config.json have attention, and over what. Families say it in words, letters, lists of layers or
 * periods: a `rule` of assets/serving/config.txt each, strongest first. A key that is in no rule is not guessed at. */
#include <stdio.h>

#include "viz/request/model_config_parts.h"

/* As the table of rules says. */
typedef enum {
  SAID_IN_WORDS,
  SAID_IN_CYCLE,
  SAID_IN_RUNS,
  SAID_IN_LETTERS,
  SAID_IN_NUMBERS,
  SAID_IN_NUMBERS0,
  SAID_IN_NUMBERS1,
  SAID_BY_PERIOD,
  SAID_BY_GROUP
} Form;

static const char *const FORMS[] = {"words",    "cycle",    "runs",   "letters", "numbers",
                                    "numbers0", "numbers1", "period", "group",   NULL};
static const char *const KINDS[LAYER_KINDS + 1] = {"full", "window",         "chunk",           "state", "cross",
                                                   "none", "window-or-full", "window-or-state", NULL};

int config_next_of(Config *c, const char **row, const char *const *names) {
  char name[CONFIG_NAME_BYTES];
  int k = 0;
  config_next(row, name);
  while (names[k] && strcmp(names[k], name)) k++;
  if (!names[k] && strcmp(name, "-") && strcmp(name, "other"))
    config_refuse(c, "a rule of assets/serving/config.txt says '%s', where '%s' or the like belongs",
                  quote_text(name).text, *names);
  return k;
}

LayerKind config_next_kind(Config *c, const char **row) { return (LayerKind)config_next_of(c, row, KINDS); }

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
static bool kind_of_word(Config *c, const char *word, const Windows *w, Layer *layer) {
  layer->state_too = strstr(word, "hybrid") != NULL;
  layer->kind = LAYER_KINDS;
  if (config_is(WHOLE, word, config_row(c, "plain", NULL))) layer->kind = resolve(LAYER_WINDOW_OR_FULL, w);
  for (const char *row = NULL; layer->kind == LAYER_KINDS && *(row = config_row(c, "kind", row));) {
    const char *parts = row;
    const LayerKind kind = config_next_kind(c, &parts);
    if (!strstr(word, "compress") && config_is(HAS_PART, word, parts)) layer->kind = kind;
  }
  return layer->kind != LAYER_KINDS;
}

/* A layer by entry i of a list of words. */
static void read_word(Config *c, const Windows *w, const char *key, const json_t *list, int64_t i, Layer *layer) {
  const char *word = json_string_value(json_array_get(list, (size_t)i));
  if (!word || !kind_of_word(c, word, w, layer))
    config_refuse(c,
                  "'%s'[%jd] is '%s', a kind of layer that is not known; there are full, sliding, chunked, cross and "
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
  size_t g;
  const json_t *run;
  json_array_foreach(list, g, run) {
    const json_t *words = json_array_get(run, 0);
    const int64_t n = (int64_t)json_array_size(words),
                  until = i + n * min64(json_integer_value(json_array_get(run, 1)), c->layers);
    for (int64_t k = 0; i < until && i < c->layers; i++, k++) read_word(c, w, key, words, k % n, &c->layer[i]);
  }
  if (i != c->layers) config_refuse(c, "'%s' says something of %jd of %jd layers", key, i, c->layers);
}

static void read_letters(Config *c, const Windows *w, const char *key, const char *letters) {
  for (int64_t i = 0; i < c->layers; i++) {
    const char letter[] = {letters[(size_t)i % strlen(letters)], '\0'};
    c->layer[i].kind = LAYER_KINDS;
    for (const char *row = NULL; c->layer[i].kind == LAYER_KINDS && *(row = config_row(c, "letters", row));) {
      const char *some = row;
      char of[CONFIG_NAME_BYTES];
      const LayerKind kind = config_next_kind(c, &some);
      if (config_next(&some, of) && strstr(of, letter))
        c->layer[i].kind = kind == LAYER_WINDOW && w->off ? LAYER_FULL : kind;
    }
    if (c->layer[i].kind < LAYER_KINDS) continue;
    config_refuse(c, "'%s' has the letter '%s', a kind of layer that is not known; there are * A F G, L S W, M and -",
                  key, quote(letter, 1).text);
    return;
  }
}

static bool all_flags(const json_t *list) {
  size_t i;
  const json_t *v;
  json_array_foreach(list, i, v) if (!json_is_boolean(v) &&
                                     !(json_is_integer(v) && (json_integer_value(v) | 1) == 1)) return false;
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
      config_refuse(c, "'%s' names layer %jd, but there are %jd layers", key, i + base, c->layers);
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

/* ---- Windows ---- */

/* Windows: a list by layer in which null or -1 is none. */
static void read_window_list(Config *c, const char *key, const json_t *list) {
  const int64_t n = (int64_t)json_array_size(list);
  if (n == 0) config_refuse(c, "'%s' is an empty list", key);
  if (n < c->layers) config_remark(c, "'%s' has %jd entries for %jd layers, and is taken to repeat", key, n, c->layers);
  for (int64_t i = 0; n && i < c->layers; i++) {
    const int64_t tokens = json_integer_value(json_array_get(list, (size_t)(i % n)));
    c->layer[i].kind = tokens > 0 ? LAYER_WINDOW : LAYER_FULL;
    c->layer[i].window = tokens > 0 ? tokens : 0;
    if (tokens > KVCACHE_MAX_TOKENS) config_refuse(c, "'%s'[%jd] is more than %jd tokens", key, i, KVCACHE_MAX_TOKENS);
  }
}

/* One window for all, or a list of them. Words for each layer are stronger than use_sliding_window. */
static Windows find_windows(Config *c) {
  Windows w = {.chunk = config_count(c, "chunk", KVCACHE_MAX_TOKENS)};
  const json_t *use = config_find(c, "use_sliding_window");
  w.off = json_is_false(use) || (!use && config_class_default(c, "no_sliding_window"));
  const bool has_words = json_is_array(config_find(c, "layer_types"));
  json_t *window = config_find(c, w.off && has_words ? "sliding_window" : "windows");
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
      config_refuse(c, "layer %jd has a sliding window, but 'sliding_window' does not say how many tokens it keeps", i);
    if (l->kind == LAYER_CHUNK && !w->chunk)
      config_refuse(c, "layer %jd has chunks, but 'attention_chunk_size' does not say how long they are", i);
  }
}

/* ---- All of it ---- */

/* Whether the rule's key is there and says something of the layers. */
static bool apply(Config *c, const Windows *w, const char *rule) {
  const Form form = (Form)config_next_of(c, &rule, FORMS);
  const LayerKind is = config_next_kind(c, &rule), others_are = config_next_kind(c, &rule), listed = resolve(is, w),
                  others = resolve(others_are, w);
  if ((listed == LAYER_CHUNK || others == LAYER_CHUNK) && !w->chunk) return false;
  json_t *value = config_find(c, rule);
  char key[CONFIG_NAME_BYTES];
  snprintf(key, sizeof key, "%s", value ? c->name : "");
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
  case SAID_IN_NUMBERS0:
  case SAID_IN_NUMBERS1:
    if (!is_list || (!json_array_size(value) && form != SAID_IN_NUMBERS0)) return false;
    read_numbers(c, key, value, form == SAID_IN_NUMBERS1, listed, others);
    return true;
  default: break;
  }
  int64_t period = value && !letters ? config_number(c, key, value, MODEL_CONFIG_LAYERS_MAX) : 0;
  if (others == LAYER_CHUNK && !period) period = config_class_default(c, "no_rope_layer_interval");
  if (others_are == LAYER_WINDOW && !period) period = config_class_default(c, "sliding_window_pattern");
  if (others_are == LAYER_WINDOW && !w->tokens) return false;
  if (!read_period(c, key, period, listed, others)) return false;
  for (int64_t i = c->layers / period * period; form == SAID_BY_GROUP && i < c->layers; i++)
    c->layer[i].kind = LAYER_FULL;
  return true;
}

void config_read_kinds(Config *c) {
  const Windows w = find_windows(c);
  bool found = w.list != NULL;
  if (found) read_window_list(c, w.key, w.list);
  for (const char *rule = NULL; !found && *(rule = config_row(c, "rule", rule));) found = apply(c, &w, rule);
  /* Qwen: the layers before max_window_layers see all. It says so only together with use_sliding_window. */
  const int64_t first =
      config_true(c, "use_sliding_window") ? json_integer_value(config_find(c, "max_window_layers")) : 0;
  for (int64_t i = 0; i < c->layers && !found; i++)
    c->layer[i].kind = w.chunk ? LAYER_CHUNK : w.tokens && i >= first ? LAYER_WINDOW : LAYER_FULL;
  if (!w.list) set_windows(c, &w);
  const json_t *list = config_find(c, "cross_attention_layers"); /* Llama 3.2 Vision, whatever the others are */
  if (json_array_size(list)) read_numbers(c, c->name, list, 0, LAYER_CROSS, LAYER_FULL);
}
