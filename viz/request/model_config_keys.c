#include "viz/request/model_config_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"

void config_refuse(Config *c, const char *format, ...) {
  char what[ERROR_MESSAGE_BYTES];
  va_list arguments;
  if (c->status) return;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  c->status = error_set(c->error, STATUS_BAD_FILE, "%.80s: %.300s", c->file, what);
}

bool config_next(const char **names, char name[CONFIG_NAME_BYTES]) {
  *names += strspn(*names, " ");
  const size_t n = strcspn(*names, " ");
  snprintf(name, CONFIG_NAME_BYTES, "%.*s", (int)n, *names);
  *names += n;
  return n > 0;
}

bool config_is_in(const char *name, const char *names) {
  char one[CONFIG_NAME_BYTES];
  while (config_next(&names, one))
    if (!strcmp(name, one)) return true;
  return false;
}

bool config_has_part(const char *name, const char *parts) {
  char one[CONFIG_NAME_BYTES];
  while (config_next(&parts, one))
    if (strstr(name, one)) return true;
  return false;
}

/* --- JSON as Python writes it --- */

static size_t bare_word(const char *p) {
  static const char *const WORDS[] = {"NaN", "-NaN", "Infinity", "-Infinity"};
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (!strncmp(p, WORDS[i], strlen(WORDS[i]))) return strlen(WORDS[i]);
  return 0;
}

/* A bare word becomes a text of as many bytes. */
void config_load(Config *c, const char *text, size_t length) {
  char *copy = malloc(length + 1);
  bool in_text = false;
  if (!copy) {
    c->status = error_no_memory(c->error, "to read the model");
    return;
  }
  memcpy(copy, text, length);
  copy[length] = '\0';
  for (char *p = copy; p < copy + length; p++) {
    const size_t word = in_text ? 0 : bare_word(p);
    if (*p == '"') in_text = !in_text;
    if (in_text && *p == '\\') p++;
    if (word) *p = p[word - 1] = '"', p += word - 1;
  }
  json_error_t why;
  c->root = json_loadb(copy, length, 0, &why);
  free(copy);
  if (!c->root)
    config_refuse(c, "line %d: no JSON: %.120s", why.line, quote_text(why.text).text);
  else if (!json_is_object(c->root))
    config_refuse(c, "line 1: a list, where config.json is an object: {...}");
}

/* --- where the text model is --- */

static bool has_layers(const json_t *object) {
  const char *names = "num_hidden_layers n_layer num_layers n_layers decoder_layers num_decoder_layers";
  char name[CONFIG_NAME_BYTES];
  while (config_next(&names, name))
    if (json_is_integer(json_object_get(object, name))) return true;
  return false;
}

/* The first object under one of some names; `otherwise`: there is none. */
static json_t *find_object(const Config *c, json_t *in, const char *names, json_t *otherwise) {
  char name[CONFIG_NAME_BYTES];
  while (config_next(&names, name)) {
    json_t *value = json_object_get(in, name);
    if (!json_is_object(value)) continue;
    config_use(c, name);
    return value;
  }
  return otherwise;
}

/* The one object of the root that describes layers of text, where none has a name that is known. */
static void find_other(Config *c) {
  const char *key, *first = NULL;
  json_t *value;
  json_object_foreach(c->root, key, value) {
    if (!json_is_object(value) || !has_layers(value) ||
        config_has_part(key, "vis vit image audio speech video encod talker codec rope draft action mm_ tower"))
      continue;
    if (first)
      config_refuse(c, "'%s' and '%s' both describe layers; give the one that is meant as a file of its own",
                    quote_text(first).text, quote_text(key).text);
    first = key;
    c->text = value;
    config_use(c, key);
  }
}

void config_find_text(Config *c) {
  json_t *whole = find_object(c, c->root, "thinker_config", c->root);
  c->text = find_object(c, whole,
                        "text_config llm_config language_config language_model_config decoder text_model_config "
                        "lm_config",
                        whole);
  if (c->text == c->root && !has_layers(c->root)) find_other(c);
  c->inner = find_object(c, c->text, "attn_config attn_cfg attn attention attention_config", NULL);
  c->type = config_text(c, "model_type");
  const char *type = json_string_value(json_object_get(c->root, "model_type"));
  c->root_type = type ? type : "";
}

/* --- values --- */

void config_use(const Config *c, const char *name) { json_object_set_new(c->used, name, json_true()); }

/* What the root says of the text model too, where that is an object of its own; a window there is an encoder's. */
static const char OF_ALL[] = "torch_dtype dtype model_type quantization_config kv_cache_dtype kv_cache_quant_algo "
                             "is_encoder_decoder max_source_positions max_position_embeddings model_max_length "
                             "max_seq_len max_sequence_length";

json_t *config_find(Config *c, const char *names) {
  const json_t *const in[] = {c->inner, c->text, c->root};
  json_t *found = NULL;
  for (size_t i = 0; i < sizeof in / sizeof *in && !found; i++) {
    const char *at = names;
    char name[CONFIG_NAME_BYTES];
    while (in[i] && config_next(&at, name)) {
      if (in[i] == c->root && c->text != c->root && !config_is_in(name, OF_ALL)) continue;
      json_t *value = json_object_get(in[i], name);
      if (!value || json_is_null(value)) continue;
      if (!found) memcpy(c->name, name, sizeof name);
      if (!found) found = value;
      if (json_equal(found, value)) config_use(c, name);
    }
  }
  return found;
}

json_t *config_list(Config *c, const char *name) {
  json_t *value = json_object_get(c->inner, name);
  if (!json_is_array(value)) value = json_object_get(c->text, name);
  if (!json_is_array(value)) return NULL;
  config_use(c, name);
  return value;
}

const char *config_text(Config *c, const char *names) {
  const char *text = json_string_value(config_find(c, names));
  return text ? text : "";
}

bool config_true(Config *c, const char *name) { return json_is_true(config_find(c, name)); }
bool config_false(Config *c, const char *name) { return json_is_false(config_find(c, name)); }

int64_t config_number(Config *c, const char *name, const json_t *value, int64_t most) {
  const double number = json_is_number(value) ? json_number_value(value) : 0;
  if (!c->status && number >= 1 && number <= (double)most && number == (double)(int64_t)number) return (int64_t)number;
  config_refuse(c, "'%s' is not a whole number from 1 to %" PRId64, quote_text(name).text, most);
  return 0;
}

int64_t config_count(Config *c, const char *names, int64_t most) {
  const json_t *value = c->status ? NULL : config_find(c, names);
  return value ? config_number(c, c->name, value, most) : 0;
}

bool config_is_by_layer(Config *c, const char *key, const json_t *list) {
  const size_t n = json_array_size(list);
  if ((int64_t)n == c->layers) return true;
  config_refuse(c, "'%s' has %zu entries for %" PRId64 " layers", key, n, c->layers);
  return false;
}

/* --- what was not read --- */

/* Of a family that is known, a key that changes the cache is about K and V, or about which layers have them. */
static bool matters(const char *name) {
  static const char ABOUT[] = "kv_ _kv key_value cache attn attention window latent reuse sliding memory_tok meta_tok "
                              "sink compress cross_layer layer_id layer_idx hybrid_ recurrent mamba_layer linear_layer "
                              "_every every_ share_every";
  static const char ELSE[] =
      "use_cache norm bias drop init mlp moe expert scal dtype eps rope proj implem softcap logit temp multip mup clip "
      "fused flash sdpa kernel gate gating mask act_fn loss backend image vision audio video encoder quant tp_ qk_ "
      "alibi name class residual adapter concat version patch posit pre_a relative nope cross_attention_hidden rescale "
      "dense";
  static const char WHOLE[] = /* without bearing, or understood though no rule may have asked for them */
      "attention_method attention_type attn_type num_key_value_groups use_cross_attention parallel_attn "
      "swa_num_attention_heads full_attn_mod use_sliding_window max_window_layers sliding_window "
      "sliding_window_pattern attn_layer_offset attn_layer_period full_attention_interval num_key_value_heads "
      "linear_attn_config global_attn_every_n_layers num_global_key_value_heads kv_lora_rank";
  static const char SIZES[] = "n_head n_heads num_heads num_layers n_layer n_layers num_transformer_layers d_model "
                              "head_size layer_group_size layer_types block_types block_configs use_cla";
  return config_is_in(name, SIZES) ||
         (config_has_part(name, ABOUT) && !config_has_part(name, ELSE) && !config_is_in(name, WHOLE));
}

/* Switched off, or nothing: null, false, 0, "", an empty list; a factor of 1. */
static bool says_nothing(const char *name, const json_t *value) {
  switch (json_typeof(value)) {
  case JSON_ARRAY: return json_array_size(value) == 0;
  case JSON_OBJECT: return json_object_size(value) == 0;
  case JSON_STRING: return *json_string_value(value) == '\0';
  case JSON_TRUE: return false;
  case JSON_INTEGER:
  case JSON_REAL:
    return json_number_value(value) == 0 ||
           (json_number_value(value) == 1 && config_has_part(name, "ratio factor scale"));
  default: return true;
  }
}

void config_unused(const Config *c, char *to, size_t size) {
  json_t *const in[] = {c->text, c->inner, c->text == c->root ? NULL : c->root};
  *to = '\0';
  for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
    const char *key;
    json_t *value;
    json_object_foreach(in[i], key, value) {
      if (json_object_get(c->used, key) || says_nothing(key, value) || !matters(key)) continue;
      const size_t at = strlen(to);
      const Quote q = quote_text(key);
      if (at + strlen(q.text) + 8 < size)
        snprintf(to + at, size - at, "%s%s", at ? ", " : "", q.text);
      else if (at + 6 < size && (at < 3 || strcmp(to + at - 3, "...")))
        snprintf(to + at, size - at, ", ...");
      config_use(c, key);
    }
  }
}
