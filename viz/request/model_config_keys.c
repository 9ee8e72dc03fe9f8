#include "viz/request/model_config_keys.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"

Status config_refuse(const ConfigKeys *k, const char *format, ...) {
  char what[ERROR_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return error_set(k->error, STATUS_BAD_FILE, "%.80s: %.300s", k->file, what);
}

/* --- JSON as Python writes it --- */

static size_t bare_word(const char *p, size_t left) {
  static const char *const WORDS[] = {"NaN", "-NaN", "Infinity", "-Infinity"};
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
    const size_t n = strlen(WORDS[i]);
    if (left >= n && !memcmp(p, WORDS[i], n)) return n;
  }
  return 0;
}

json_t *config_load(const char *text, size_t length, const char *file, Error *error) {
  char *copy = malloc(2 * length + 1); /* "NaN" grows by its quotes */
  size_t n = 0;
  bool in_text = false;
  if (!copy) {
    error_set(error, STATUS_NO_MEMORY, "no memory to read the model");
    return NULL;
  }
  for (size_t i = 0; i < length;) {
    const size_t word = in_text ? 0 : bare_word(text + i, length - i);
    if (word) {
      copy[n++] = '"';
      memcpy(copy + n, text + i, word);
      n += word, i += word;
      copy[n++] = '"';
      continue;
    }
    if (text[i] == '"') in_text = !in_text;
    if (in_text && text[i] == '\\' && i + 1 < length) copy[n++] = text[i++];
    copy[n++] = text[i++];
  }
  json_error_t why;
  json_t *root = json_loadb(copy, n, 0, &why);
  free(copy);
  if (!root)
    error_set(error, STATUS_BAD_FILE, "%.80s: line %d: no JSON: %.120s", file, why.line, quote_text(why.text).text);
  return root;
}

/* --- where the text model is --- */

bool config_word_in(const char *name, const char *const *parts) {
  for (; *parts; parts++)
    if (strstr(name, *parts)) return true;
  return false;
}

static const char *const LAYER_NAMES[] = {"num_hidden_layers",  "n_layer", "num_layers", "n_layers", "decoder_layers",
                                          "num_decoder_layers", NULL};

static bool has_layers(const json_t *object) {
  for (const char *const *name = LAYER_NAMES; *name; name++)
    if (json_is_integer(json_object_get(object, *name))) return true;
  return false;
}

/* An object of the root that describes a model of text, where none has a name that is known. */
static Status find_other(ConfigKeys *k) {
  static const char *const NOT_TEXT[] = {"vision", "visual", "vit",    "image", "audio",   "speech",    "video",
                                         "encod",  "talker", "vocod",  "codec", "quantiz", "diffusion", "rope",
                                         "depth",  "draft",  "action", "mm_",   "tower",   NULL};
  const char *key, *first = NULL;
  json_t *value;
  json_object_foreach(k->root, key, value) {
    if (!json_is_object(value) || !has_layers(value) || config_word_in(key, NOT_TEXT)) continue;
    if (first)
      return config_refuse(k, "'%s' and '%s' both describe layers; give the one that is meant as a file of its own",
                           quote_text(first).text, quote_text(key).text);
    first = key;
    k->text = value;
    config_use(k, key);
  }
  return STATUS_OK;
}

Status config_find_text(ConfigKeys *k) {
  static const char *const NESTED[] = {"text_config", "llm_config",        "language_config", "language_model_config",
                                       "decoder",     "text_model_config", "lm_config",       NULL};
  static const char *const ATTENTION[] = {"attn_config", "attn_cfg", "attn", "attention", "attention_config", NULL};
  k->text = k->root;
  json_t *thinker = json_object_get(k->root, "thinker_config");
  if (json_is_object(thinker)) k->text = thinker;
  for (const char *const *name = NESTED; *name; name++) {
    json_t *value = json_object_get(k->text, *name);
    if (!json_is_object(value)) continue;
    k->text = value;
    break;
  }
  Status status = STATUS_OK;
  if (k->text == k->root && !has_layers(k->root)) status = find_other(k);
  for (const char *const *name = ATTENTION; *name && !k->inner; name++) {
    json_t *value = json_object_get(k->text, *name);
    if (!json_is_object(value)) continue;
    k->inner = value;
    config_use(k, *name);
  }
  return status;
}

/* --- values --- */

void config_use(const ConfigKeys *k, const char *name) { json_object_set_new(k->used, name, json_true()); }

/* What the root says of the text model too, where that is an object of its own; a window there is an encoder's. */
static bool is_of_all(const char *name) {
  static const char *const OF_ALL[] = {"torch_dtype",
                                       "dtype",
                                       "model_type",
                                       "quantization_config",
                                       "kv_cache_dtype",
                                       "kv_cache_quant_algo",
                                       "is_encoder_decoder",
                                       "max_source_positions",
                                       "max_position_embeddings",
                                       "model_max_length",
                                       "max_seq_len",
                                       "max_sequence_length"};
  for (size_t i = 0; i < sizeof OF_ALL / sizeof *OF_ALL; i++)
    if (!strcmp(name, OF_ALL[i])) return true;
  return false;
}

json_t *config_find(const ConfigKeys *k, const char *const *names, const char **name) {
  const json_t *const in[] = {k->inner, k->text, k->root};
  json_t *found = NULL;
  for (size_t i = 0; i < sizeof in / sizeof *in && !found; i++)
    for (const char *const *n = names; *n; n++) {
      if (in[i] == k->root && k->text != k->root && !is_of_all(*n)) continue;
      json_t *value = in[i] ? json_object_get(in[i], *n) : NULL;
      if (!value || json_is_null(value)) continue;
      if (!found && name) *name = *n;
      if (!found) found = value;
      if (json_equal(found, value)) config_use(k, *n);
    }
  return found;
}

json_t *config_get(const ConfigKeys *k, const char *name) { return config_find(k, KEYS(name), NULL); }

json_t *config_list(const ConfigKeys *k, const char *name) {
  const json_t *const in[] = {k->inner, k->text};
  for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
    json_t *value = in[i] ? json_object_get(in[i], name) : NULL;
    if (!json_is_array(value)) continue;
    config_use(k, name);
    return value;
  }
  return NULL;
}

const char *config_text(const ConfigKeys *k, const char *name) {
  const char *text = json_string_value(config_get(k, name));
  return text ? text : "";
}

bool config_true(const ConfigKeys *k, const char *name) { return json_is_true(config_get(k, name)); }
bool config_false(const ConfigKeys *k, const char *name) { return json_is_false(config_get(k, name)); }

Status config_number(const ConfigKeys *k, const char *name, const json_t *value, int64_t most, int64_t *count) {
  if (json_is_integer(value) && json_integer_value(value) >= 1 && json_integer_value(value) <= most) {
    *count = json_integer_value(value);
    return STATUS_OK;
  }
  if (json_is_real(value) && json_real_value(value) >= 1 && json_real_value(value) <= (double)most &&
      json_real_value(value) == (double)(int64_t)json_real_value(value)) {
    *count = (int64_t)json_real_value(value);
    return STATUS_OK;
  }
  return config_refuse(k, "'%s' is not a whole number from 1 to %" PRId64, quote_text(name).text, most);
}

Status config_count(const ConfigKeys *k, const char *const *names, int64_t most, int64_t *count) {
  const char *name = NULL;
  const json_t *value = config_find(k, names, &name);
  *count = 0;
  return value ? config_number(k, name, value, most, count) : STATUS_OK;
}

/* --- what was not used --- */

/* Parts of names that say nothing of the cache: weights, experts, positions, tokens, training, generation, images. */
static const char *const SAYS_ELSE[] = {
    /* weights and experts */
    "vocab", "intermediate", "ffn", "mlp", "expert", "moe", "router", "routed", "topk", "top_k", "n_inner", "dense",
    "tie_", "_bias", "bias_", "use_bias", "bias", "init", "norm", "_eps", "epsilon", "hidden_act", "activation",
    "act_fn", "glu", "hidden_dim", "dim_ff", "multiple_of", "n_group", "q_lora", "o_lora", "lora_alpha", "lora_r",
    "shared_expert", "n_shared", "shared_mlp", "shared_inter", "embedding_size", "embed_dim", "emb_", "_emb", "embd_",
    "_proj", "proj_", "inner_dim", "correction", "residual", "use_qk", "qk_", "gate", "gating", "scoring", "softcap",
    "soft_cap", "logit", "capping", "clip_", "scal", "multiplier", "mup_", "pre_attn", "laurel", "altup", "hc_",
    "ngram", "oe_",
    /* positions */
    "rope", "rotary", "theta", "position", "alibi", "max_seq", "seq_len", "yarn", "ntk", "mrope", "temperature",
    "max_length", "n_ctx", "context_len", "max_context", "temp_",
    /* training and running */
    "dropout", "pdrop", "_drop", "drop_", "droppath", "loss", "z_coef", "coef", "gradient", "checkpoint", "pretraining",
    "_implementation", "flash", "sdpa", "fused", "kernel_backend", "use_cache", "dtype", "quant", "fp32", "fp16",
    "bf16", "fp8", "parallel", "_tp", "tp_", "ep_size", "deterministic", "compile", "is_training", "unsloth", "lr_",
    "version", "architectures", "auto_map", "_name", "name_", "_path", "model_type", "torch", "commit", "license",
    "tokenizer", "task", "label", "problem_type", "finetun", "prune", "custom", "return_", "output_", "_class_name",
    "summary", "classif", "num_classes", "num_labels", "library", "training", "transformers", "optim", "backend",
    /* tokens and generation */
    "token", "bos", "eos", "pad_", "_pad", "sep_", "mask", "prefix", "suffix", "begin_", "forced", "suppress", "bad_",
    "beam", "penalty", "sample", "top_p", "typical", "repetition", "diversity", "generat", "language", "_lang",
    "prompt", "chat", "template", "remove_invalid", "no_repeat", "min_length", "median_filter", "num_return",
    /* images, sound */
    "image", "vision", "visual", "video", "audio", "speech", "patch", "pixel", "mm_", "vit_", "_vit", "tower", "crop",
    "downsample", "resampler", "projector", "spatial", "feature", "mel_", "_mel", "talker", "encoder", "code_", "tts",
    "spec_aug", "apply_spec", "timestep", "frame", "interpolation", "minicpm", "slice_", "adaptor", "tile", "speaker",
    /* parts of states, which have been read or change no size */
    "time_step", "dt_", "_dt", "residual_in", "rescale_every", "a_log", "hidden_ratio", "chunk_size_feed",
    "mamba_chunk", "mamba_step", "ssm_in", "ssm_out", "ssm_mult", "block_use", "block_norm", "block_auto", "block_ff",
    "block_multiple", "block_dim", "block_out", "conv_dim", "mlp_only", "first_k", "num_fp", "num_full_expert",
    "conv_bias", "use_conv", "use_mem", "mem_rank", "num_mem_blocks", "adapter", "use_shared", "state_dropout",
    "index_topk", "index_n_heads", "mamba_kernels", "ignore_index", "sparse_step", "d_ff", "relative_att", "ssm_cfg",
    "dim_model_base", "limited_group", "o_groups", "interpol", "mtp", "nope", NULL};

/* Whole names, where a part would say too much. */
static const char *const SAYS_ELSE_WHOLE[] = {"is_decoder",
                                              "cross_attention_hidden_size",
                                              "use_cross_attention",
                                              "chunk_size",
                                              "head_first",
                                              "fuse_norm",
                                              "attention_method",
                                              "attention_type",
                                              "attn_type",
                                              "attention_heads_scale",
                                              "num_key_value_groups",
                                              "n_shared_heads",
                                              "factor",
                                              "max_new",
                                              "nhead_scale",
                                              "expand_ratio",
                                              "hidden_size",
                                              "text_config",
                                              "thinker_config",
                                              "llm_config",
                                              "language_config",
                                              "language_model_config",
                                              "lm_config",
                                              "text_model_config",
                                              "decoder",
                                              "_attn_implementation",
                                              "input_emb_norm",
                                              "layerdrop",
                                              "decoder_layerdrop",
                                              "attn_temperature_tuning",
                                              "attn_scale",
                                              "floor_scale",
                                              "mamba_rms_norm",
                                              "mamba_proj_bias",
                                              "parallel_attn",
                                              "use_alibi",
                                              "seed",
                                              "sparse",
                                              "use_flash_attn",
                                              "use_return_dict",
                                              "hidden_size_per_layer_input",
                                              "use_mup",
                                              "use_sliding_window",
                                              "wd",
                                              "head_bias",
                                              "attn_output_gate",
                                              "skip_concat_post_attention",
                                              "full_attn_mod",
                                              "swa_num_attention_heads",
                                              "use_head_wise_attn_gate",
                                              "text",
                                              NULL};

static bool is_whole(const char *name) {
  for (const char *const *whole = SAYS_ELSE_WHOLE; *whole; whole++)
    if (!strcmp(name, *whole)) return true;
  return false;
}

/* Switched off, or nothing: null, false, 0, "", an empty list; a factor of 1. */
static bool says_nothing(const char *name, const json_t *value) {
  if (json_is_number(value) && json_number_value(value) == 1 && config_word_in(name, KEYS("ratio", "factor", "scale")))
    return true;
  if (json_is_null(value) || json_is_false(value)) return true;
  if (json_is_array(value)) return json_array_size(value) == 0;
  if (json_is_object(value)) return json_object_size(value) == 0;
  if (json_is_string(value)) return *json_string_value(value) == '\0';
  return json_is_number(value) && json_number_value(value) == 0;
}

/* A name about attention, K and V or a cache is looked at more closely: fewer parts of it say something else. */
static bool is_elsewhere(const char *name) {
  static const char *const OF_CACHE[] = {"kv_",        "_kv",      "key_value", "cache", "attn",
                                         "attention",  "window",   "latent",    "reuse", "sliding",
                                         "memory_tok", "meta_tok", "sink",      NULL};
  static const char *const NOT_OF_IT[] = {
      "use_cache", "norm",   "bias",   "drop",  "init",     "mlp",     "scal",
      "dtype",     "eps",    "rope",   "proj",  "implem",   "softcap", "logit",
      "temp",      "multip", "mup",    "clip",  "fused",    "flash",   "sdpa",
      "kernel",    "gate",   "gating", "mask",  "act_fn",   "loss",    "backend",
      "image",     "vision", "audio",  "video", "encoder",  "quant",   "tp_",
      "qk_",       "alibi",  "name",   "class", "residual", "adapter", "concat",
      "version",   "patch",  "posit",  "pre_a", "relative", "nope",    "cross_attention_hidden",
      NULL};
  if (is_whole(name)) return true;
  return config_word_in(name, config_word_in(name, OF_CACHE) ? NOT_OF_IT : SAYS_ELSE);
}

static int add_unused(const ConfigKeys *k, const json_t *object, char *to, size_t size, int n) {
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)object, key, value) {
    if (json_object_get(k->used, key) || says_nothing(key, value) || is_elsewhere(key)) continue;
    const size_t at = strlen(to);
    const Quote q = quote_text(key);
    if (at + strlen(q.text) + 8 < size)
      snprintf(to + at, size - at, "%s%s", n ? ", " : "", q.text);
    else if (at + 6 < size && (at < 3 || strcmp(to + at - 3, "...")))
      snprintf(to + at, size - at, ", ...");
    config_use(k, key);
    n++;
  }
  return n;
}

int config_unused(const ConfigKeys *k, char *to, size_t size) {
  *to = '\0';
  int n = add_unused(k, k->text, to, size, 0);
  if (k->inner) n = add_unused(k, k->inner, to, size, n);
  return k->text == k->root ? n : add_unused(k, k->root, to, size, n);
}
