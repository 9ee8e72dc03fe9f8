#include "viz/request/model_config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/base/quote.h"
#include "viz/request/model_config_parts.h"

/* --- families --- */

typedef enum { ATTENDS, ENCODES, RECURS, UNKNOWN } Family;

/* Families by their model_type, which may go on with _ or - ("kimi_vl": not listed beside "kimi"), and what the class
 * of a family has where its file is silent (transformers, models/NAME/configuration_NAME.py): a model inside another
 * writes only what differs. The first row that has the type counts. */
typedef struct {
  Family family;
  const char *types, *defaults;
} FamilyRow;

static const FamilyRow FAMILIES[] = {
    {ATTENDS, "llama", "num_hidden_layers=32 num_attention_heads=32 hidden_size=4096"},
    {ATTENDS, "mistral", "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 hidden_size=4096"},
    {ATTENDS, "mixtral", "num_key_value_heads=8"},
    {ATTENDS, "qwen2_moe qwen2_vl qwen2_5_vl", "no_sliding_window=1"},
    {ATTENDS, "qwen2",
     "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 hidden_size=4096 no_sliding_window=1"},
    {ATTENDS, "qwen3 qwen3_moe", "no_sliding_window=1 head_dim=128"},
    {ATTENDS, "phi3", "num_hidden_layers=32 num_attention_heads=32 hidden_size=3072"},
    {ATTENDS, "gemma",
     "num_hidden_layers=28 num_attention_heads=16 num_key_value_heads=16 hidden_size=3072 head_dim=256"},
    {ATTENDS, "gemma2",
     "num_hidden_layers=26 num_attention_heads=8 num_key_value_heads=4 hidden_size=2304 head_dim=256 "
     "sliding_window=4096 sliding_window_pattern=2"},
    {ATTENDS, "gemma3_text",
     "num_hidden_layers=26 num_attention_heads=8 num_key_value_heads=4 hidden_size=2304 head_dim=256 "
     "sliding_window=4096 sliding_window_pattern=6 max_position_embeddings=131072"},
    {ATTENDS, "cohere2", "sliding_window_pattern=4"},
    {ATTENDS, "llama4_text", "no_rope_layer_interval=4"},
    {ATTENDS, "gpt2", "num_hidden_layers=12 num_attention_heads=12 hidden_size=768"},
    {ATTENDS,
     "codellama llama4 mllama llava video_llava vipllava pixtral mistral3 ministral voxtral qwen phi phi4mm phimoe "
     "phi4flash phi4 gemma3 gemma3n gemma4 paligemma recurrent_gemma vaultgemma t5gemma cohere aya gpt_neo gpt_neox "
     "gptj gpt_bigcode gpt_oss opt bloom falcon mpt starcoder2 stablelm codegen persimmon fuyu olmo olmo2 olmo3 olmoe "
     "flex_olmo granite granitemoe granitemoehybrid granitemoeshared bamba jamba zamba zamba2 nemotron deci deepseek "
     "deepseek_v2 deepseek_v3 deepseek_v32 kimi minimax MiniMaxText01 glm glm4 chatglm internlm internlm2 internlm3 "
     "internvl interns1 baichuan yi Yi aquila dbrx grok-1 arctic xverse exaone exaone4 hunyuan hunyuan_v1 ernie4_5 "
     "smollm3 smolvlm idefics arcee apertus seed_oss bitnet openelm jetmoe dots1 longcat_flash step3 step3p5 step1 "
     "step2 mimo mimo_v2 bailing ring ling hymba plamo plamo2 plamo3 lfm2 helium csm diffllama minicpm minicpm3 "
     "minicpmv minicpmo orion telechat solar afmoe doge btlm jais sarvam_moe youtu trinity modernbert-decoder whisper "
     "bart mbart t5 mt5 umt5 switch_transformers marian pegasus m2m_100 nllb blenderbot led prophetnet speech_to_text "
     "moonshine florence2 trocr biogpt xglm ctrl openai-gpt musicgen dia",
     ""},
    {ENCODES,
     "bert roberta xlm-roberta distilbert albert electra deberta camembert modernbert nomic_bert mpnet ernie layoutlm "
     "layoutlmv2 layoutlmv3 longformer big_bird funnel esm ibert mobilebert squeezebert roformer rembert megatron-bert "
     "vit deit beit swin swinv2 dinov2 dinov3_vit siglip siglip2 clip vivit videomae wav2vec2 hubert wavlm data2vec "
     "sew unispeech audio-spectrogram-transformer new xlm flaubert nystromformer yoso eurobert fnet canine "
     "chinese_clip clap luke segformer yolos detr hiera jina_bert neobert markuplm convbert mra",
     ""},
    {RECURS,
     "mamba mamba2 falcon_mamba rwkv rwkv5 rwkv6 rwkv7 xlstm retnet gla hgrn hgrn2 delta_net codestral_mamba "
     "gated_deltanet linear_attn s4 hyena gsa",
     ""},
    {UNKNOWN, "", ""},
};

/* "_moe", but not "_v4": another version may keep another cache. */
static bool goes_on(const char *rest) {
  return (*rest == '_' || *rest == '-') && !(rest[1] == 'v' && rest[2] >= '0' && rest[2] <= '9');
}

/* The row of a type: as it is written in one before as what one begins with; the last where it is in none. */
static const FamilyRow *row_of(const char *type) {
  char name[CONFIG_NAME_BYTES];
  const FamilyRow *row = FAMILIES;
  for (int whole = 1; whole >= 0; whole--)
    for (row = FAMILIES; row->family != UNKNOWN; row++)
      for (const char *types = row->types; config_next(&types, name);) {
        const size_t n = strlen(name);
        if (!strncmp(type, name, n) && (whole ? !type[n] : goes_on(type + n))) return row;
      }
  return row;
}

static void check_family(Config *c) {
  if (*c->type && row_of(c->type)->family == UNKNOWN && row_of(c->root_type)->family == UNKNOWN)
    config_refuse(
        c,
        "'%s' is a family of models that is not known, and its cache is not guessed; write its layers and heads "
        "into a description, as in assets/models, or give --layers, --kv-heads and --head-dim",
        quote_text(c->type).text);
}

int64_t config_class_default(const Config *c, const char *key) {
  const FamilyRow *row = row_of(c->type);
  const size_t n = strlen(key);
  char one[CONFIG_NAME_BYTES];
  if (!config_is_in(c->type, row->types)) return 0; /* another model of the family: not known */
  for (const char *pairs = row->defaults; config_next(&pairs, one);)
    if (!strncmp(one, key, n) && one[n] == '=') return strtoll(one + n + 1, NULL, 10);
  return 0;
}

bool config_is_type(const Config *c, const char *parts) { return config_has_part(c->type, parts); }

static bool ends_in(const char *text, const char *ends) {
  char end[CONFIG_NAME_BYTES];
  while (config_next(&ends, end)) {
    const size_t n = strlen(text), m = strlen(end);
    if (n >= m && !strcmp(text + n - m, end)) return true;
  }
  return false;
}

static bool is_encoder(Config *c) {
  const char *architecture = json_string_value(json_array_get(json_object_get(c->root, "architectures"), 0));
  if (config_true(c, "is_decoder")) return false;
  return row_of(c->type)->family == ENCODES || row_of(c->root_type)->family == ENCODES ||
         json_object_get(c->root, "_class_name") || /* diffusers */
         config_true(c, "use_bidirectional_attention") || config_false(c, "is_causal") ||
         (architecture && ends_in(architecture, "ForMaskedLM EncoderModel VisionModel ForImageClassification")) ||
         (c->text == c->root && config_find(c, "patch_size") && !config_find(c, "vocab_size") &&
          config_find(c, "image_size img_size"));
}

/* States alone: the type says so, or a state is described and no head of attention. */
static bool is_recurrent(Config *c) {
  if (c->inner && json_object_size(c->inner) && config_find(c, "layers num_heads")) return false;
  if (json_array_size(config_find(c, "attn_layer_idx attn_layer_indices layers_block_type layer_types"))) return false;
  return row_of(c->type)->family == RECURS || (config_find(c, "state_size ssm_cfg ssm_state_size mamba_d_state") &&
                                               !config_find(c, "num_attention_heads n_head n_heads num_query_heads"));
}

/* --- sizes --- */

/* What a model has whose file is silent; 0: its class says nothing. */
static int64_t class_size(Config *c, const char *key) {
  const int64_t size = config_class_default(c, key);
  if (size && (c->text == c->root || !strcmp(key, "num_hidden_layers")))
    config_remark(c, "'%s' is not given: %" PRId64 ", as in the class of the model", key, size);
  return size;
}

/* A size that the file gives, or its class; 0: neither. */
static int64_t size_or_default(Config *c, const char *key, const char *names, int64_t most) {
  const int64_t size = config_count(c, names, most);
  return size ? size : class_size(c, key);
}

static void read_sizes(Config *c) {
  c->layers = config_count(c, "decoder_layers num_decoder_layers", MODEL_CONFIG_LAYERS_MAX);
  if (c->layers) /* the others are the encoder's: Whisper, BART */
    config_use(c, "num_layers"), config_use(c, "num_attention_heads");
  else
    c->layers =
        size_or_default(c, "num_hidden_layers", "num_hidden_layers n_layer num_layers n_layers num_transformer_layers",
                        MODEL_CONFIG_LAYERS_MAX);
  if (config_is_type(c, "longcat_flash")) c->layers *= 2; /* self_attn.0 and self_attn.1 in each layer */
  if (!c->layers)
    config_refuse(c,
                  "no number of layers; 'num_hidden_layers' (or n_layer, num_layers) belongs there, at the top or in "
                  "'text_config'");
  if (c->layers > MODEL_CONFIG_LAYERS_MAX) config_refuse(c, "more than %d layers", MODEL_CONFIG_LAYERS_MAX);
  c->hidden = size_or_default(c, "hidden_size", "hidden_size n_embd n_embed d_model dim model_dim", KVCACHE_MAX_D * 64);
  if (c->model.no_cache[0]) return;
  const json_t *heads = config_find(c, "num_query_heads");
  if (json_is_array(heads)) /* OpenELM's */
    c->heads = config_number(c, "num_query_heads", json_array_get(heads, 0), KVCACHE_MAX_HEADS);
  if (!c->heads) c->heads = config_count(c, "decoder_attention_heads num_decoder_attention_heads", KVCACHE_MAX_HEADS);
  if (!c->heads)
    c->heads = size_or_default(c, "num_attention_heads", "num_attention_heads n_head n_heads num_heads num_query_heads",
                               KVCACHE_MAX_HEADS);
  if (!c->heads && (c->heads = config_count(c, "num_key_value_heads", KVCACHE_MAX_HEADS)) > 0) /* JetMoE */
    config_remark(c, "no number of query heads is given: taken to be those of K and V, %" PRId64, c->heads);
  if (!c->heads) config_refuse(c, "no number of heads; 'num_attention_heads' belongs there");
}

/* With MLA d is the part without position (KvModel), whatever 'head_dim' says: in some files it is the rotary part. */
static int64_t read_head_size(Config *c, int64_t rope) {
  const int64_t nope = config_count(c, "qk_nope_head_dim", KVCACHE_MAX_D);
  if (nope && c->latent) return nope;
  const int64_t d = config_count(c, "head_dim kv_channels attention_head_dim d_kv d_head head_size attention_head_size",
                                 KVCACHE_MAX_D);
  if (d || nope) return d ? d : nope + rope;
  int64_t width = config_count(c, "attention_hidden_size", KVCACHE_MAX_D * 64);
  if (!width && config_is_type(c, "zamba")) width = 2 * c->hidden;
  const int64_t usual = config_class_default(c, "head_dim");
  if (usual) return usual;
  if (!width) width = c->hidden;
  if (!width || !c->heads || width % c->heads) {
    config_refuse(c, "no size of a head: neither 'head_dim' nor a 'hidden_size' that the %" PRId64 " heads divide",
                  c->heads);
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
  const json_t *value =
      config_find(c, "num_key_value_heads num_kv_heads n_kv_heads n_head_kv kv_n_heads num_heads_kv n_kv_head "
                     "num_attention_groups num_query_groups n_query_groups num_key_value_heads_per_layer");
  if (said_by_flags || is_multiquery) return json_is_false(one) ? c->heads : 1;
  if (json_is_array(value)) value = json_array_get(value, 0); /* by layer: read_lists */
  if (value) return config_number(c, c->name, value, KVCACHE_MAX_HEADS);
  const int64_t usual = class_size(c, "num_key_value_heads");
  return usual ? usual : c->heads;
}

/* --- layer by layer --- */

static int64_t *member_of(Layer *l, size_t offset) { return (int64_t *)(void *)((char *)l + offset); }

/* Lists with an entry for each layer; null or 0: no K and V. */
static void read_lists(Config *c) {
  const char *names = "num_key_value_heads num_kv_heads num_attention_groups num_key_value_heads_per_layer head_dim";
  char key[CONFIG_NAME_BYTES];
  while (config_next(&names, key)) {
    const json_t *list = config_list(c, key);
    const bool is_d = !strcmp(key, "head_dim");
    if (!list || !config_is_by_layer(c, key, list)) continue;
    for (int64_t i = 0; i < c->layers; i++) {
      const json_t *entry = json_array_get(list, (size_t)i);
      if (json_is_null(entry) || (json_is_integer(entry) && !json_integer_value(entry)))
        c->layer[i].kind = LAYER_NONE;
      else
        *member_of(&c->layer[i], is_d ? offsetof(Layer, d) : offsetof(Layer, kv_heads)) =
            config_number(c, key, entry, is_d ? KVCACHE_MAX_D : KVCACHE_MAX_HEADS);
    }
  }
}

/* Other sizes in the layers that see all (Gemma 4), or in those with a window (MiMo); Step 3.5 has an object. */
static void read_by_kind(Config *c) {
  static const struct {
    const char *key;
    LayerKind kind; /* LAYER_NONE: as the object says */
    size_t member;
  } SIZES[] = {{"global_head_dim", LAYER_FULL, offsetof(Layer, d)},
               {"num_global_key_value_heads", LAYER_FULL, offsetof(Layer, kv_heads)},
               {"swa_head_dim", LAYER_WINDOW, offsetof(Layer, d)},
               {"swa_v_head_dim", LAYER_WINDOW, offsetof(Layer, d_v)},
               {"swa_num_key_value_heads", LAYER_WINDOW, offsetof(Layer, kv_heads)},
               {"num_attention_groups", LAYER_NONE, offsetof(Layer, kv_heads)},
               {"head_dim", LAYER_NONE, offsetof(Layer, d)}};
  const json_t *other = config_find(c, "attention_other_setting");
  const char *type = json_string_value(json_object_get(other, "attention_type"));
  const LayerKind others = type && strstr(type, "sliding") ? LAYER_WINDOW : LAYER_FULL;
  for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
    const bool is_other = SIZES[s].kind == LAYER_NONE;
    const LayerKind kind = is_other ? others : SIZES[s].kind;
    const char *key = SIZES[s].key;
    const json_t *value = is_other ? json_object_get(type ? other : NULL, key) : config_find(c, key);
    const int64_t size = value ? config_number(c, key, value, KVCACHE_MAX_HEADS) : 0;
    for (int64_t i = 0; i < c->layers && size; i++)
      if (c->layer[i].kind == kind) *member_of(&c->layer[i], SIZES[s].member) = size;
  }
}

/* Models whose layers were searched for one by one (DeciLM, Nemotron). */
static void read_block_configs(Config *c) {
  const json_t *blocks = config_find(c, "block_configs");
  if (!json_is_array(blocks) || !config_is_by_layer(c, "block_configs", blocks)) return;
  for (int64_t i = 0; i < c->layers; i++) {
    Layer *l = &c->layer[i];
    const json_t *attention = json_object_get(json_array_get(blocks, (size_t)i), "attention");
    const json_t *group = json_object_get(attention, "n_heads_in_group"),
                 *window = json_object_get(attention, "window_length");
    if (json_is_true(json_object_get(attention, "no_op")) ||
        json_is_true(json_object_get(attention, "replace_with_linear"))) {
      l->kind = LAYER_NONE;
      continue;
    }
    if (group && !json_is_null(group)) {
      const int64_t heads = config_number(c, "n_heads_in_group", group, c->heads);
      l->kv_heads = heads ? c->heads / heads : 0;
    }
    if (json_integer_value(window) > 0) {
      l->kind = LAYER_WINDOW;
      l->window = config_number(c, "window_length", window, KVCACHE_MAX_TOKENS);
    }
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
  const json_t *groups = config_find(c, "kv_reuse_group"); /* Hymba: [[1, 2], [3, 4]] */
  for (size_t g = 0; g < json_array_size(groups); g++)
    for (size_t m = 1; m < json_array_size(json_array_get(groups, g)); m++) {
      const int64_t i = json_integer_value(json_array_get(json_array_get(groups, g), m));
      if (i < 0 || i >= c->layers) {
        config_refuse(c, "'kv_reuse_group' names layer %" PRId64, i);
        return;
      }
      c->layer[i].kind = LAYER_NONE, n++;
    }
  if (n)
    config_remark(
        c, n == 1 ? "%" PRId64 " layer uses the K and V of another" : "%" PRId64 " layers use the K and V of others",
        n);
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

/* --- into a model --- */

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
  int n = 0, first = 0, twin = -1, g;
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
  if (!n) {
    set_text(m->no_cache, sizeof m->no_cache, "none of the layers keeps K and V: no cache");
    return;
  }
  for (g = n - 1; g > 0 && all[0].window; g--)
    if (!all[g].window && same_row(&all[g], &all[0])) first = g;
  for (g = n - 1; g >= 0; g--)
    if (all[g].window && same_row(&all[g], &all[first])) twin = g;
  const KvGroup *f = &all[first], *t = twin < 0 ? NULL : &all[twin];
  m->kv_heads = f->kv_heads, m->d = f->d, m->d_v = f->d_v;
  m->layers = f->layers + (t && t != f ? t->layers : 0);
  m->window_layers = t ? t->layers : 0;
  if (t) *(t->chunked ? &m->chunk : &m->window) = t->window;
  for (g = 0; g < n; g++) {
    if (g == first || g == twin) continue;
    if (m->n_more == KVCACHE_MORE_MAX) {
      config_refuse(c, "more than %d kinds of layers", KVCACHE_GROUPS_MAX);
      return;
    }
    m->more[m->n_more++] = all[g];
  }
}

/* The type of the elements: as the weights are kept, unless the file says how the cache is. */
static void read_dtype(Config *c, KvModel *m) {
  static const char *const NAMES[][2] = {{"bf16", "bfloat16 bf16 auto"}, {"fp16", "float16 half fp16"},
                                         {"fp32", "float32 float fp32"}, {"int8", "int8 INT8"},
                                         {"int4", "int4 INT4"},          {"fp8", ""}};
  const json_t *scheme = json_object_get(config_find(c, "quantization_config"), "kv_cache_scheme");
  const int64_t bits = json_integer_value(json_object_get(scheme, "num_bits"));
  const char *name = config_text(c, "torch_dtype"), *own = config_text(c, "kv_cache_dtype");
  if (!*name) name = config_text(c, "dtype");
  if (!*own) own = config_text(c, "kv_cache_quant_algo");
  if (!*name) {
    config_remark(c, "no data type is given: bf16 is assumed");
    name = "bf16";
  }
  if (bits == 8 || bits == 4) {
    const char *type = json_string_value(json_object_get(scheme, "type"));
    own = bits == 4 ? "int4" : type && !strcmp(type, "int") ? "int8" : "fp8";
  }
  if (*own && strcmp(own, "auto")) {
    name = own;
    config_remark(c, "the cache is kept in %s, as the file says of its quantization", quote_text(own).text);
  }
  if (!strncmp(name, "torch.", 6)) name += 6;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (config_is_in(name, NAMES[i][1]) ||
        (!*NAMES[i][1] && (!strncmp(name, "float8", 6) || !strncmp(name, "fp8", 3) || !strncmp(name, "FP8", 3)))) {
      set_text(m->dtype, sizeof m->dtype, NAMES[i][0]);
      return;
    }
  config_refuse(c, "'torch_dtype' is '%s'; there are bfloat16, float16, float32 and float8", quote_text(name).text);
}

static void read_extras(Config *c) {
  const int64_t indexer = config_count(c, "index_head_dim", KVCACHE_MAX_D);
  if (indexer)
    config_remark(c, "the keys of the indexer are left out: %" PRId64 " elements a token and layer", indexer);
  const json_t *mtp = config_find(c, "num_nextn_predict_layers mtp_num_hidden_layers num_mtp_layers");
  const int64_t further = json_integer_value(mtp) > 0 ? config_number(c, c->name, mtp, MODEL_CONFIG_LAYERS_MAX) : 0;
  if (further)
    config_remark(c, "%" PRId64 " further layer%s (%s), which predict%s more than one token, %s left out", further,
                  further == 1 ? "" : "s", c->name, further == 1 ? "s" : "", further == 1 ? "is" : "are");
}

/* The last part of a path without its ".json"; what no option could take becomes '-'. */
static void name_after(const char *file, char *name) {
  snprintf(name, 64, "%.63s", path_base(file));
  char *dot = strstr(name, ".json");
  if (dot && dot != name) *dot = '\0';
  for (char *p = name; *p; p++)
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *p)) *p = '-';
}

static void read_cache(Config *c, KvModel *m) {
  read_layers(c);
  group(c, m);
  m->heads = c->heads;
  m->mla_latent = c->latent - m->mla_rope;
  if (c->latent && m->n_more) config_refuse(c, "layers with MLA and others together are not modelled");
  if (!c->latent && m->kv_heads > c->heads)
    config_refuse(c, "%" PRId64 " K and V heads are more than %" PRId64 " query heads", m->kv_heads, c->heads);
  if (m->kv_heads && !c->latent && c->heads % m->kv_heads)
    config_refuse(c, "%" PRId64 " K and V heads do not divide %" PRId64 " query heads", m->kv_heads, c->heads);
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
  m->max_tokens = config_count(c,
                               "max_target_positions max_position_embeddings n_positions max_seq_len seq_length n_ctx "
                               "max_sequence_length model_max_length max_context_length context_length",
                               KVCACHE_MAX_TOKENS);
  if (c->status) return;
  if (!why) config_read_weights(c);
  if (!m->max_tokens) m->max_tokens = config_class_default(c, "max_position_embeddings");
  m->max_tokens_assumed = !m->max_tokens;
  if (!m->max_tokens) m->max_tokens = 4096;
  char name[CONFIG_NAME_BYTES];
  name_after(c->file, name);
  set_text(m->name, sizeof m->name, name);
  set_text(m->product, sizeof m->product, *c->type ? quote_text(c->type).text : name);
  if (!why) config_unused(c, m->unused, sizeof m->unused);
}

static bool has_mark(const char *text, size_t length) { return length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3); }

bool model_config_is_json(const char *text, size_t length) {
  size_t at = has_mark(text, length) ? 3 : 0;
  while (at < length && strchr(" \t\n\r", text[at]) && text[at]) at++;
  return at < length && (text[at] == '{' || text[at] == '[');
}

Status model_config_parse(const char *text, size_t length, const char *display_name, KvModel *model, Error *error) {
  const size_t mark = has_mark(text, length) ? 3 : 0;
  Config *c = calloc(1, sizeof *c);
  if (!c) return error_no_memory(error, "to read the model");
  c->file = display_name;
  c->error = error;
  c->used = json_object();
  config_load(c, text + mark, length - mark);
  if (!c->status) make(c);
  const Status status = c->status;
  if (!status) *model = c->model;
  json_decref(c->root);
  json_decref(c->used);
  free(c);
  return status;
}
