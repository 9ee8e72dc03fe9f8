#include "viz/request/model_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/path.h"
#include "viz/request/model_config_parts.h"

/* ---- Families ---- */

/* The row of families that a type is in: as it is written in one before as what one begins with; "": in none. */
static const char *family_of(const Config *c, const char *type) {
  static const char *const ROWS[] = {"attends", "encodes", "recurs"};
  for (ConfigMatch how = WHOLE; how <= GOES_ON; how++)
    for (size_t r = 0; r < COUNT_OF(ROWS); r++)
      if (config_is(how, type, config_row(c, ROWS[r], NULL))) return ROWS[r];
  return "";
}

static bool is_family(const Config *c, const char *row) {
  return !strcmp(family_of(c, c->type), row) || !strcmp(family_of(c, c->root_type), row);
}

static void check_family(Config *c) {
  if (*c->type && !*family_of(c, c->type) && !*family_of(c, c->root_type))
    config_refuse(
        c,
        "'%s' is a family of models that is not known, and its cache is not guessed; write its layers and heads "
        "into a description, as in assets/models, or give --layers, --kv-heads and --head-dim",
        quote_text(c->type).text);
}

int64_t config_class_default(const Config *c, const char *key) {
  char row[2 * CONFIG_NAME_BYTES], one[CONFIG_NAME_BYTES];
  const size_t n = strlen(key);
  snprintf(row, sizeof row, "class.%s", c->type);
  for (const char *pairs = config_row(c, row, NULL); config_next(&pairs, one);)
    if (!strncmp(one, key, n) && one[n] == '=') return strtoll(one + n + 1, NULL, 10);
  return 0;
}

bool config_is_type(const Config *c, const char *parts) { return config_is(HAS_PART, c->type, parts); }

static bool is_encoder(Config *c) {
  const char *architecture = json_string_value(json_array_get(json_object_get(c->root, "architectures"), 0));
  if (config_true(c, "is_decoder")) return false;
  return is_family(c, "encodes") || json_object_get(c->root, "_class_name") || /* diffusers */
         config_true(c, "use_bidirectional_attention") || config_false(c, "is_causal") ||
         (architecture && config_is(HAS_PART, architecture, config_row(c, "encoders", NULL))) ||
         (c->text == c->root && config_find(c, "patch_size") && !config_find(c, "vocab_size") &&
          config_find(c, "image_size img_size"));
}

/* States alone: the type says so, or a state is described and no head of attention. */
static bool is_recurrent(Config *c) {
  if (c->inner && json_object_size(c->inner) && config_find(c, "layers num_heads")) return false;
  if (json_array_size(config_find(c, "layer-lists"))) return false;
  return !strcmp(family_of(c, c->type), "recurs") ||
         (config_find(c, "state-alone") && !config_find(c, "num_attention_heads n_head n_heads num_query_heads"));
}

/* ---- Sizes ---- */

/* What a model has whose file is silent; 0: its class says nothing. */
static int64_t class_size(Config *c, const char *key) {
  const int64_t size = config_class_default(c, key);
  if (size && (c->text == c->root || !strcmp(key, "num_hidden_layers")))
    config_remark(c, "'%s' is not given: %jd, as in the class of the model", key, size);
  return size;
}

/* A size that the file gives under the names of a row, or its class; 0: neither. */
static int64_t size_or_default(Config *c, const char *row, const char *key, int64_t most) {
  const int64_t size = config_count(c, row, most);
  return size ? size : class_size(c, key);
}

static void read_sizes(Config *c) {
  c->layers = config_count(c, "decoder-layers", MODEL_CONFIG_LAYERS_MAX);
  if (c->layers) /* the others are the encoder's: Whisper, BART */
    config_use(c, "num_layers"), config_use(c, "num_attention_heads");
  else
    c->layers = size_or_default(c, "layers", "num_hidden_layers", MODEL_CONFIG_LAYERS_MAX);
  if (config_is_type(c, "longcat_flash")) c->layers *= 2; /* self_attn.0 and self_attn.1 in each layer */
  if (!c->layers)
    config_refuse(c,
                  "no number of layers; 'num_hidden_layers' (or n_layer, num_layers) belongs there, at the top or in "
                  "'text_config'");
  if (c->layers > MODEL_CONFIG_LAYERS_MAX) config_refuse(c, "more than %d layers", MODEL_CONFIG_LAYERS_MAX);
  c->hidden = size_or_default(c, "hidden", "hidden_size", KVCACHE_MAX_D * 64);
  if (c->model.no_cache[0]) return;
  const json_t *heads = config_find(c, "num_query_heads");
  if (json_is_array(heads)) /* OpenELM's */
    c->heads = config_number(c, "num_query_heads", json_array_get(heads, 0), KVCACHE_MAX_HEADS);
  if (!c->heads) c->heads = config_count(c, "decoder-heads", KVCACHE_MAX_HEADS);
  if (!c->heads) c->heads = size_or_default(c, "heads", "num_attention_heads", KVCACHE_MAX_HEADS);
  if (!c->heads && (c->heads = config_count(c, "num_key_value_heads", KVCACHE_MAX_HEADS)) > 0) /* JetMoE */
    config_remark(c, "no number of query heads is given: taken to be those of K and V, %jd", c->heads);
  if (!c->heads) config_refuse(c, "no number of heads; 'num_attention_heads' belongs there");
}

/* With MLA d is the part without position (KvModel), whatever 'head_dim' says: in some files it is the rotary part. */
static int64_t read_head_size(Config *c, int64_t rope) {
  const int64_t nope = config_count(c, "qk_nope_head_dim", KVCACHE_MAX_D);
  if (nope && c->latent) return nope;
  const int64_t d = config_count(c, "head-dim", KVCACHE_MAX_D);
  if (d || nope) return d ? d : nope + rope;
  int64_t width = config_count(c, "attention_hidden_size", KVCACHE_MAX_D * 64);
  if (!width && config_is_type(c, "zamba")) width = 2 * c->hidden;
  const int64_t usual = config_class_default(c, "head_dim");
  if (usual) return usual;
  if (!width) width = c->hidden;
  if (!width || !c->heads || width % c->heads) {
    config_refuse(c, "no size of a head: neither 'head_dim' nor a 'hidden_size' that the %jd heads divide", c->heads);
    return 0;
  }
  return width / c->heads;
}

static int64_t read_kv_heads(Config *c) {
  if (config_true(c, "multi_query_attention")) { /* ChatGLM */
    const int64_t groups = config_count(c, "multi_query_group_num", KVCACHE_MAX_HEADS);
    return groups ? groups : 1;
  }
  const bool is_multiquery = !strcmp(config_text(c, "attn_type"), "multiquery_attention"); /* MPT */
  /* Falcon: heads of K and V are written, but mean something only for the new decoder. */
  const json_t *decoder = config_find(c, "new_decoder_architecture"), *one = config_find(c, "multi_query");
  const bool said_by_flags = !json_is_true(decoder) && (json_is_true(one) || (decoder && json_is_false(one)));
  const json_t *value = config_find(c, "kv-heads");
  if (said_by_flags || is_multiquery) return json_is_false(one) ? c->heads : 1;
  if (json_is_array(value)) value = json_array_get(value, 0); /* by layer: read_lists */
  if (value) return config_number(c, c->name, value, KVCACHE_MAX_HEADS);
  const int64_t usual = class_size(c, "num_key_value_heads");
  return usual ? usual : c->heads;
}

/* ---- Layer by layer ---- */

static const char *const MEMBERS[] = {"kv_heads", "d", "d_v", NULL};

/* Lists with an entry for each layer; null or 0: no K and V. */
static void read_lists(Config *c) {
  for (const char *rule = NULL; *(rule = config_row(c, "by-layer", rule));) {
    char key[CONFIG_NAME_BYTES];
    const char *words = rule;
    const int member = config_next_of(c, &words, MEMBERS);
    config_next(&words, key);
    const json_t *list = config_list(c, key), *entry;
    size_t i;
    if (!list || !config_is_by_layer(c, key, list)) continue;
    json_array_foreach(list, i, entry) {
      if (json_is_null(entry) || (json_is_integer(entry) && !json_integer_value(entry)))
        c->layer[i].kind = LAYER_NONE;
      else
        c->layer[i].size[member] = config_number(c, key, entry, KVCACHE_MAX_HEADS);
    }
  }
}

/* Other sizes in layers of one kind; of another one, as an object says. */
static void read_by_kind(Config *c) {
  const char *type = config_text(c, "attention_other_setting.attention_type");
  for (const char *rule = NULL; *(rule = config_row(c, "sizes", rule));) {
    const char *words = rule;
    const int member = config_next_of(c, &words, MEMBERS);
    LayerKind kind = config_next_kind(c, &words);
    if (kind == LAYER_KINDS && !*type) continue;
    if (kind == LAYER_KINDS) kind = strstr(type, "sliding") ? LAYER_WINDOW : LAYER_FULL;
    const int64_t size = config_count(c, words, KVCACHE_MAX_HEADS);
    for (Layer *l = c->layer; l < c->layer + c->layers && size; l++)
      if (l->kind == kind) l->size[member] = size;
  }
}

/* Models whose layers were searched for one by one (DeciLM, Nemotron). */
static void read_block_configs(Config *c) {
  const json_t *blocks = config_find(c, "block_configs"), *block;
  size_t i;
  if (!json_is_array(blocks) || !config_is_by_layer(c, "block_configs", blocks)) return;
  json_array_foreach(blocks, i, block) {
    Layer *l = &c->layer[i];
    const json_t *attention = json_object_get(block, "attention"),
                 *group = json_object_get(attention, "n_heads_in_group"),
                 *window = json_object_get(attention, "window_length");
    if (json_is_true(json_object_get(attention, "no_op")) ||
        json_is_true(json_object_get(attention, "replace_with_linear"))) {
      l->kind = LAYER_NONE;
      continue;
    }
    const int64_t heads = json_is_null(group) || !group ? 0 : config_number(c, "n_heads_in_group", group, c->heads);
    if (heads) l->kv_heads = c->heads / heads;
    if (json_integer_value(window) <= 0) continue;
    l->kind = LAYER_WINDOW;
    l->window = config_number(c, "window_length", window, KVCACHE_MAX_TOKENS);
  }
}

/* Layers that use the K and V of another keep none: the last ones (Gemma 3n), or all but one of a group. */
static void share(Config *c) {
  int64_t last = 0, factor = 0, n = 0;
  if (json_integer_value(config_find(c, "num_kv_shared_layers")) > 0)
    last = config_count(c, "num_kv_shared_layers", c->layers);
  if (config_true(c, "use_cla")) factor = config_count(c, "cla_share_factor", c->layers); /* Hunyuan */
  for (int64_t i = 0; i < c->layers; i++)
    if (i >= c->layers - last || (factor > 1 && i % factor)) c->layer[i].kind = LAYER_NONE, n++;
  const json_t *groups = config_find(c, "kv_reuse_group"), *group, *layer; /* Hymba: [[1, 2], [3, 4]] */
  size_t g, m;
  json_array_foreach(groups, g, group) json_array_foreach(group, m, layer) {
    const int64_t i = json_integer_value(layer);
    if (m == 0) continue;
    if (i < 0 || i >= c->layers) return config_refuse(c, "'kv_reuse_group' names layer %jd", i);
    c->layer[i].kind = LAYER_NONE, n++;
  }
  if (n) config_remark(c, n == 1 ? "%jd layer uses the K and V of another" : "%jd layers use the K and V of others", n);
}

static void read_layers(Config *c) {
  const int64_t rope = config_count(c, "qk_rope_head_dim", KVCACHE_MAX_D / 2);
  c->latent = config_count(c, "kv_lora_rank", KVCACHE_MAX_D / 2);
  if (config_false(c, "use_mla")) c->latent = 0; /* DeepSeek-VL2: written, not used */
  if (c->latent) c->model.mla_rope = rope, c->latent += rope;
  Layer each = {.kv_heads = read_kv_heads(c)};
  if (!json_is_array(config_find(c, "head_dim"))) {
    each.d = read_head_size(c, rope);
    each.d_v = config_count(c, "v_head_dim", KVCACHE_MAX_D);
  }
  for (int64_t i = 0; i < c->layers; i++) c->layer[i] = each;
  config_read_kinds(c);
  if (config_is_type(c, "falcon_h1 hymba"))
    for (int64_t i = 0; i < c->layers; i++) c->layer[i].state_too = true;
  read_by_kind(c);
  read_lists(c);
  read_block_configs(c);
  share(c);
}

/* ---- Into a model ---- */

void config_remark(Config *c, const char *format, ...) {
  KvModel *m = &c->model;
  if (m->n_remarks == KVMODEL_REMARKS_MAX) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(m->remarks[m->n_remarks++], KVMODEL_REMARK_BYTES, format, arguments);
  va_end(arguments);
}

static void set_text(char *to, size_t size, const char *text) { snprintf(to, size, "%.*s", (int)size - 1, text); }

static bool same_row(const KvGroup *a, const KvGroup *b) {
  return a->kv_heads == b->kv_heads && a->d == b->d && a->d_v == b->d_v;
}

/* Layers that are alike, counted; the first kind that sees all and its windowed twin go into the model's own fields. */
static void group(Config *c, KvModel *m) {
  KvGroup all[KVCACHE_GROUPS_MAX + 1];
  int n = 0, first = 0, twin = 0, g;
  for (const Layer *l = c->layer; l < c->layer + c->layers; l++) {
    if (l->kind > LAYER_CHUNK) continue; /* no K and V of the text */
    const KvGroup like = {.kv_heads = l->kv_heads,
                          .d = l->d,
                          .d_v = l->d_v == l->d ? 0 : l->d_v,
                          .window = l->kind == LAYER_FULL ? 0 : l->window,
                          .chunked = l->kind == LAYER_CHUNK};
    for (g = 0; g < n; g++)
      if (same_row(&all[g], &like) && all[g].window == like.window && all[g].chunked == like.chunked) break;
    if (g == n && n <= KVCACHE_GROUPS_MAX) all[n++] = like;
    if (g < n) all[g].layers++;
  }
  if (!n) return set_text(m->no_cache, sizeof m->no_cache, "none of the layers keeps K and V: no cache");
  while (first < n && (all[first].window || !same_row(&all[first], all))) first++;
  if (first == n) first = 0;
  while (twin < n && !(all[twin].window && same_row(&all[twin], &all[first]))) twin++;
  const KvGroup *f = &all[first], *t = twin < n ? &all[twin] : NULL;
  m->kv_heads = f->kv_heads, m->d = f->d, m->d_v = f->d_v;
  m->layers = f->layers + (t && t != f ? t->layers : 0);
  m->window_layers = t ? t->layers : 0;
  if (t) *(t->chunked ? &m->chunk : &m->window) = t->window;
  for (g = 0; g < n; g++) {
    if (g == first || g == twin) continue;
    if (m->n_more == KVCACHE_MORE_MAX) return config_refuse(c, "more than %d kinds of layers", KVCACHE_GROUPS_MAX);
    m->more[m->n_more++] = all[g];
  }
}

/* The type of the elements: as the weights are kept, unless the file says how the cache is. */
static void read_dtype(Config *c, KvModel *m) {
  const int64_t bits = json_integer_value(config_find(c, "quantization_config.kv_cache_scheme.num_bits"));
  const char *name = config_text(c, "dtypes"), *own = config_text(c, "own-dtype");
  if (!*name) {
    config_remark(c, "no data type is given: bf16 is assumed");
    name = "bf16";
  }
  if (bits == 8 || bits == 4) {
    const char *type = config_text(c, "quantization_config.kv_cache_scheme.type");
    own = bits == 4 ? "int4" : !strcmp(type, "int") ? "int8" : "fp8";
  }
  if (*own && strcmp(own, "auto")) {
    name = own;
    config_remark(c, "the cache is kept in %s, as the file says of its quantization", quote_text(own).text);
  }
  if (!strncmp(name, "torch.", 6)) name += 6;
  char row[16];
  for (const char *const *dtype = KV_DTYPE_NAMES; *dtype; dtype++) {
    snprintf(row, sizeof row, "dtype.%s", *dtype);
    if (config_is(GOES_ON, name, config_row(c, row, NULL))) return set_text(m->dtype, sizeof m->dtype, *dtype);
  }
  config_refuse(c, "'torch_dtype' is '%s'; there are bfloat16, float16, float32 and float8", quote_text(name).text);
}

static void read_extras(Config *c) {
  const int64_t indexer = config_count(c, "index_head_dim", KVCACHE_MAX_D);
  if (indexer) config_remark(c, "the keys of the indexer are left out: %jd elements a token and layer", indexer);
  const json_t *mtp = config_find(c, "mtp");
  const int64_t further = json_integer_value(mtp) > 0 ? config_number(c, c->name, mtp, MODEL_CONFIG_LAYERS_MAX) : 0;
  if (further)
    config_remark(c, "%jd further layer%s (%s), which predict%s more than one token, %s left out", further,
                  further == 1 ? "" : "s", c->name, further == 1 ? "s" : "", further == 1 ? "is" : "are");
}

/* The last part of a path without its ".json"; what no option could take becomes '-'. */
static void name_after(const char *file, char *name) {
  snprintf(name, 64, "%.63s", path_base(file));
  char *dot = strstr(name, ".json");
  if (dot && dot != name) *dot = '\0';
  for (char *p = name; *p; p++)
    if (!strchr(KEYFILE_LETTERS, *p)) *p = '-';
}

static void read_cache(Config *c, KvModel *m) {
  read_layers(c);
  group(c, m);
  m->heads = c->heads;
  m->mla_latent = c->latent - m->mla_rope;
  if (c->latent && m->n_more) config_refuse(c, "layers with MLA and others together are not modelled");
  if (!c->latent && m->kv_heads > c->heads)
    config_refuse(c, "%jd K and V heads are more than %jd query heads", m->kv_heads, c->heads);
  if (m->kv_heads && !c->latent && c->heads % m->kv_heads)
    config_refuse(c, "%jd K and V heads do not divide %jd query heads", m->kv_heads, c->heads);
}

static void make(Config *c) {
  KvModel *m = &c->model;
  config_find_text(c);
  const char *why = is_encoder(c)     ? "an encoder keeps no cache: every token sees all others at once"
                    : is_recurrent(c) ? "no attention: no cache; the state that is kept does not grow"
                                      : NULL;
  if (why) set_text(m->no_cache, sizeof m->no_cache, why);
  if (!why) check_family(c);
  read_sizes(c);
  if (c->status) return;
  read_dtype(c, m);
  if (!why) read_cache(c, m);
  for (int64_t i = 0; why && i < c->layers; i++) c->layer[i].kind = strstr(why, "state") ? LAYER_STATE : LAYER_NONE;
  config_read_fixed(c);
  read_extras(c);
  m->max_tokens = config_count(c, "context", KVCACHE_MAX_TOKENS);
  if (c->status) return;
  if (!why) config_read_weights(c);
  if (!m->max_tokens) m->max_tokens = config_class_default(c, "max_position_embeddings");
  m->max_tokens_assumed = !m->max_tokens;
  if (!m->max_tokens) m->max_tokens = 4096;
  name_after(c->file, m->name);
  set_text(m->product, sizeof m->product, *c->type ? quote_text(c->type).text : m->name);
  if (!why) config_unused(c, m->unused, sizeof m->unused);
}

/* Of a byte order mark. */
static size_t mark_bytes(const char *text, size_t length) {
  return length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

bool model_config_is_json(const char *text, size_t length) {
  size_t at = mark_bytes(text, length);
  while (at < length && strchr(" \t\n\r", text[at]) && text[at]) at++;
  return at < length && (text[at] == '{' || text[at] == '[');
}

Status model_config_parse(const char *text, size_t length, const char *display_name, KvModel *model, Error *error) {
  const size_t mark = mark_bytes(text, length);
  Config *c = calloc(1, sizeof *c);
  if (!c) return error_no_memory(error, "to read the model");
  c->file = display_name;
  c->error = error;
  c->used = json_object();
  if (!config_rules(c)) config_load(c, text + mark, length - mark);
  if (!c->status) make(c);
  const Status status = c->status;
  if (!status) *model = c->model;
  json_decref(c->root);
  json_decref(c->used);
  free(c->rules);
  free(c);
  return status;
}
