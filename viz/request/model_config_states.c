/* What a model keeps beside K and V: states of layers without attention, and K and V of an image or an encoder. All of
 * a fixed size, whatever the length.
 *
 *     family             elements of one layer                                              after
 *     Mamba-2            heads x head x N  +  (inner + 2 groups N) x conv                    Bamba, Nemotron-H, Zamba2
 *     Mamba              inner x N  +  inner x conv                                          Jamba, Falcon Mamba
 *     gated delta net    V heads x d_k x d_v  +  (2 K heads d_k + V heads d_v) x conv        Qwen3-Next
 *     Kimi delta         heads x d x d  +  3 heads d x conv                                  Kimi Linear
 *     lightning          heads x d x d                                                       MiniMax-01
 *     short convolution  hidden x conv                                                       LFM2
 *     RG-LRU             width  +  width x (conv - 1)                                        RecurrentGemma
 *
 * as transformers keeps them, in the model's type. A family that is not here is said to be left out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "viz/request/model_config_parts.h"

enum { STATE_MAX = 1 << 17 }; /* of any size: keeps products within 64 bits */

typedef struct {
  const Config *c;
  Status status;
} Sizes;

/* A size under one of some names, or `otherwise`. The first error stays. */
static int64_t size_of(Sizes *s, const char *const *names, int64_t otherwise) {
  int64_t value = 0;
  if (s->status == STATUS_OK) s->status = config_count(&s->c->keys, names, STATE_MAX, &value);
  return s->status == STATUS_OK && value ? value : otherwise;
}

/* Elements of the state of one layer; 0: the family is not known. `alone`: a model without attention, whose plain names
 * are the state's. */
static int64_t mamba_elements(Sizes *s, bool alone) {
  const int64_t n = size_of(s, KEYS("mamba_d_state", "ssm_state_size", "state_size"), 0);
  if (!n) return 0;
  const int64_t conv = size_of(s, KEYS("mamba_d_conv", "conv_kernel", "mamba_conv_kernel"), 4);
  const int64_t groups = size_of(s, KEYS("mamba_n_groups", "mamba_ngroups", "n_groups"), 1);
  const int64_t expand = size_of(s, KEYS("mamba_expand", "expand"), 2);
  int64_t heads = size_of(s, KEYS("mamba_n_heads", "n_mamba_heads", "mamba_num_heads"), 0);
  int64_t head = size_of(s, KEYS("mamba_d_head", "mamba_headdim", "mamba_head_dim"), 0);
  if (alone && !heads && config_is_type(s->c, "mamba2")) {
    heads = size_of(s, KEYS("num_heads"), 128);
    head = size_of(s, KEYS("head_dim"), 64);
  }
  int64_t inner = size_of(s, KEYS("mamba_d_ssm"), heads * head);
  const bool second = inner > 0; /* Mamba-2: B and C pass through the convolution too */
  if (!inner) inner = alone ? size_of(s, KEYS("intermediate_size", "d_inner"), 0) : 0;
  if (!inner) inner = expand * s->c->hidden;
  if (inner > STATE_MAX) return 0;
  return inner * n + (inner + (second ? 2 * groups * n : 0)) * conv;
}

static int64_t delta_elements(Sizes *s) {
  const int64_t heads_k = size_of(s, KEYS("linear_num_key_heads"), 0), d_k = size_of(s, KEYS("linear_key_head_dim"), 0),
                heads_v = size_of(s, KEYS("linear_num_value_heads"), 0),
                d_v = size_of(s, KEYS("linear_value_head_dim"), 0),
                conv = size_of(s, KEYS("linear_conv_kernel_dim"), 4);
  return heads_v * d_k * d_v + (2 * heads_k * d_k + heads_v * d_v) * conv;
}

static int64_t kimi_elements(Sizes *s) {
  const json_t *linear = config_get(&s->c->keys, "linear_attn_config");
  const int64_t heads = json_integer_value(json_object_get(linear, "num_heads")),
                d = json_integer_value(json_object_get(linear, "head_dim")),
                conv = json_integer_value(json_object_get(linear, "short_conv_kernel_size"));
  if (heads < 1 || heads > 4096 || d < 1 || d > 4096 || conv < 0 || conv > 64) return 0;
  return heads * d * d + 3 * heads * d * conv;
}

static int64_t state_elements(Sizes *s, const char **what) {
  const bool alone = s->c->model->no_cache[0] != '\0';
  int64_t elements;
  *what = "a Mamba state";
  if ((elements = mamba_elements(s, alone)) > 0) return elements;
  *what = "a state of linear attention";
  if ((elements = delta_elements(s)) > 0) return elements;
  if ((elements = kimi_elements(s)) > 0) return elements;
  if (config_is_type(s->c, "minimax") && s->c->heads <= 4096 && s->c->layer[0].d <= 4096)
    return s->c->heads * s->c->layer[0].d * s->c->layer[0].d;
  *what = "a short convolution";
  const int64_t conv = size_of(s, KEYS("conv_L_cache"), 0);
  if (conv) return conv * s->c->hidden;
  *what = "a recurrent state";
  const int64_t width = size_of(s, KEYS("lru_width"), config_is_type(s->c, "recurrent_gemma") ? s->c->hidden : 0);
  return width ? width * size_of(s, KEYS("conv1d_width"), 4) : 0;
}

static void add_fixed(Config *c, const char *what, int64_t layers, int64_t bytes) {
  KvModel *m = c->model;
  if (m->n_fixed == KVMODEL_FIXED_MAX) return;
  KvFixed *to = &m->fixed[m->n_fixed++];
  snprintf(to->what, sizeof to->what, "%s", what);
  to->layers = layers;
  to->bytes = bytes;
}

static int64_t element_bytes(const Config *c) {
  KvDtype dtype = KV_BF16;
  kvcache_dtype_from_name(c->model->dtype, &dtype);
  const int bits = kvcache_dtype_bits(dtype);
  return bits > 16 ? 4 : 2; /* states are not quantised with the cache */
}

static Status read_states(Config *c) {
  int64_t layers = 0;
  for (int64_t i = 0; i < c->layers; i++) layers += c->layer[i].kind == LAYER_STATE || c->layer[i].state_too;
  if (!layers && config_is_type(c, "minimax")) return STATUS_OK; /* M2: attention alone */
  Sizes sizes = {c, STATUS_OK};
  const char *what;
  const int64_t elements = state_elements(&sizes, &what);
  if (sizes.status) return sizes.status;
  if (layers && elements > 0)
    add_fixed(c, what, layers, elements * element_bytes(c));
  else if (layers)
    config_remark(c, "%" PRId64 " layers without attention keep a state of fixed size, which is left out", layers);
  else if (elements > 0 && c->model->no_cache[0] == '\0')
    config_remark(c,
                  "sizes of a state are given, but not which layers keep one: all %" PRId64
                  " are taken to have attention alone",
                  c->layers);
  return STATUS_OK;
}

/* K and V of the tokens of one image, or of the sound that an encoder reads. */
static Status read_cross(Config *c) {
  int64_t layers = 0, tokens = 0, row = 0;
  for (int64_t i = 0; i < c->layers; i++)
    if (c->layer[i].kind == LAYER_CROSS) layers++, row = c->layer[i].kv_heads * (2 * c->layer[i].d);
  const json_t *vision = json_object_get(c->keys.root, "vision_config");
  const int64_t image = json_integer_value(json_object_get(vision, "image_size")),
                patch = json_integer_value(json_object_get(vision, "patch_size")),
                tiles = json_integer_value(json_object_get(vision, "max_num_tiles"));
  if (layers && patch > 0 && image >= patch && image <= 16384 && tiles >= 0 && tiles <= 256 &&
      row <= (int64_t)1 << 26) {
    tokens = ((image / patch) * (image / patch) + 1) * (tiles ? tiles : 1); /* a class token with each tile */
    config_remark(c, "cross attention holds the %" PRId64 " tokens of an image, not those of the text", tokens);
    add_fixed(c, "K and V of one image", layers, tokens * row * element_bytes(c));
  } else if (layers) {
    config_remark(c,
                  "%" PRId64 " layers of cross attention hold %" PRId64
                  " B for each token of an image or encoder, not those of the text",
                  layers, row * element_bytes(c));
  }
  if (!config_true(&c->keys, "is_encoder_decoder") && !config_true(&c->keys, "add_cross_attention")) return STATUS_OK;
  const Status status = config_count(&c->keys, KEYS("max_source_positions"), STATE_MAX, &tokens);
  row = c->layer[0].kv_heads * 2 * c->layer[0].d * element_bytes(c);
  if (status == STATUS_OK && tokens)
    add_fixed(c, "K and V of the encoder", c->layers, tokens * row);
  else if (status == STATUS_OK)
    config_remark(c,
                  "the decoder's own cache: cross attention keeps another %" PRId64
                  " B for each token of the encoder and layer",
                  row);
  return status;
}

Status config_read_fixed(Config *c) {
  const Status status = read_states(c);
  return status ? status : c->model->no_cache[0] ? STATUS_OK : read_cross(c);
}

/* --- no cache at all --- */

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

static bool is_encoder(const Config *c) {
  static const char *const TYPES[] = {"bert",
                                      "roberta",
                                      "xlm-roberta",
                                      "xlm-roberta-xl",
                                      "distilbert",
                                      "albert",
                                      "electra",
                                      "deberta",
                                      "deberta-v2",
                                      "camembert",
                                      "modernbert",
                                      "nomic_bert",
                                      "mpnet",
                                      "ernie",
                                      "ernie_m",
                                      "layoutlm",
                                      "layoutlmv2",
                                      "layoutlmv3",
                                      "longformer",
                                      "big_bird",
                                      "funnel",
                                      "esm",
                                      "ibert",
                                      "mobilebert",
                                      "squeezebert",
                                      "roformer",
                                      "rembert",
                                      "megatron-bert",
                                      "vit",
                                      "deit",
                                      "beit",
                                      "swin",
                                      "swinv2",
                                      "dinov2",
                                      "dinov3_vit",
                                      "siglip",
                                      "siglip2",
                                      "clip",
                                      "vit_mae",
                                      "vivit",
                                      "videomae",
                                      "wav2vec2",
                                      "hubert",
                                      "wavlm",
                                      "data2vec-text",
                                      "data2vec-audio",
                                      "sew",
                                      "unispeech",
                                      "audio-spectrogram-transformer",
                                      "new",
                                      "xlm",
                                      "flaubert",
                                      "nystromformer",
                                      "yoso",
                                      "eurobert",
                                      "fnet",
                                      "canine",
                                      "clip_text_model",
                                      "clip_vision_model",
                                      "siglip_vision_model",
                                      "siglip_text_model",
                                      "chinese_clip",
                                      "clap",
                                      "luke",
                                      "segformer",
                                      "yolos",
                                      "detr",
                                      "hiera",
                                      "vit_msn",
                                      "jina_bert",
                                      "neobert",
                                      "markuplm",
                                      "convbert",
                                      "mra"};
  const char *type = config_text(&c->keys, "model_type");
  const char *root_type = json_string_value(json_object_get(c->keys.root, "model_type"));
  const char *architecture = json_string_value(json_array_get(json_object_get(c->keys.root, "architectures"), 0));
  if (config_true(&c->keys, "is_decoder")) return false;
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
    if (!strcmp(type, TYPES[i]) || (root_type && !strcmp(root_type, TYPES[i]))) return true;
  if (json_object_get(c->keys.root, "_class_name")) return true; /* diffusers */
  if (config_true(&c->keys, "use_bidirectional_attention") || config_false(&c->keys, "is_causal")) return true;
  if (architecture && (ends_with(architecture, "ForMaskedLM") || ends_with(architecture, "EncoderModel") ||
                       ends_with(architecture, "VisionModel") || ends_with(architecture, "ForImageClassification")))
    return true;
  return c->keys.text == c->keys.root && config_get(&c->keys, "patch_size") && !config_get(&c->keys, "vocab_size") &&
         config_find(&c->keys, KEYS("image_size", "img_size"), NULL);
}

/* States alone: the type says so, or a state is described and no head of attention. */
static bool is_recurrent(const Config *c) {
  static const char *const TYPES[] = {"mamba",     "mamba2",          "falcon_mamba",   "rwkv",        "rwkv5", "rwkv6",
                                      "rwkv7",     "xlstm",           "retnet",         "gla",         "hgrn",  "hgrn2",
                                      "delta_net", "codestral_mamba", "gated_deltanet", "linear_attn", "s4",    "hyena",
                                      "gsa"};
  const ConfigKeys *k = &c->keys;
  const char *type = config_text(k, "model_type");
  const bool attends = k->inner && config_find(k, KEYS("layers", "num_heads"), NULL) && json_object_size(k->inner) > 0;
  const json_t *some =
      config_find(k, KEYS("attn_layer_idx", "attn_layer_indices", "layers_block_type", "layer_types"), NULL);
  if (attends || json_array_size(some)) return false;
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
    if (!strcmp(type, TYPES[i])) return true;
  return config_find(k, KEYS("state_size", "ssm_cfg", "ssm_state_size", "mamba_d_state"), NULL) &&
         !config_find(k, KEYS("num_attention_heads", "n_head", "n_heads", "num_query_heads"), NULL);
}

const char *config_keeps_none(const Config *c) {
  if (is_encoder(c)) return "an encoder keeps no cache: every token sees all others at once";
  if (is_recurrent(c)) return "no attention: no cache; the state that is kept does not grow";
  return NULL;
}
