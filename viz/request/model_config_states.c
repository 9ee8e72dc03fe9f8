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
#include <stdio.h>

#include "viz/request/model_config_parts.h"

enum { STATE_MAX = 1 << 17 }; /* of any size: keeps products within 64 bits */

static int64_t size_of(Config *c, const char *names) { return config_count(c, names, STATE_MAX); }

/* Elements of the state of one layer; 0: the family is not known. `alone`: a model without attention, whose plain names
 * are the state's. */
static int64_t mamba_elements(Config *c, bool alone) {
  const int64_t n = size_of(c, "state");
  if (!n) return 0;
  const int64_t conv = size_of(c, "conv"), groups = size_of(c, "groups"), expand = size_of(c, "expand");
  int64_t heads = size_of(c, "state-heads"), head = size_of(c, "state-head");
  if (alone && !heads && config_is_type(c, "mamba2"))
    heads = size_of(c, "mamba2-heads"), head = size_of(c, "mamba2-head");
  int64_t inner = size_of(c, "mamba_d_ssm");
  if (!inner) inner = heads * head;
  const bool second = inner > 0; /* Mamba-2: B and C pass through the convolution too */
  if (!inner && alone) inner = size_of(c, "state-mlp");
  if (!inner) inner = expand * c->hidden;
  if (inner > STATE_MAX) return 0;
  return inner * n + (inner + (second ? 2 * groups * n : 0)) * conv;
}

static int64_t delta_elements(Config *c) {
  const int64_t k = size_of(c, "linear_num_key_heads") * size_of(c, "linear_key_head_dim"),
                d_k = size_of(c, "linear_key_head_dim"),
                v = size_of(c, "linear_num_value_heads") * size_of(c, "linear_value_head_dim");
  return v * d_k + (2 * k + v) * size_of(c, "delta-conv");
}

static int64_t kimi_elements(Config *c) {
  const double heads = config_size(c, "linear_attn_config.num_heads"),
               d = config_size(c, "linear_attn_config.head_dim"),
               conv = config_size(c, "linear_attn_config.short_conv_kernel_size");
  return heads > 4096 || d > 4096 || conv > 64 ? 0 : (int64_t)(heads * d * (d + 3 * conv));
}

static int64_t state_elements(Config *c, const char **what) {
  const bool alone = c->model.no_cache[0] != '\0';
  int64_t elements;
  *what = "a Mamba state";
  if ((elements = mamba_elements(c, alone)) > 0) return elements;
  *what = "a state of linear attention";
  if ((elements = delta_elements(c)) > 0) return elements;
  if ((elements = kimi_elements(c)) > 0) return elements;
  if (config_is_type(c, "minimax") && c->heads <= 4096 && c->layer[0].d <= 4096)
    return c->heads * c->layer[0].d * c->layer[0].d;
  *what = "a short convolution";
  const int64_t conv = size_of(c, "conv_L_cache");
  if (conv) return conv * c->hidden;
  *what = "a recurrent state";
  int64_t width = size_of(c, "lru_width");
  if (!width && config_is_type(c, "recurrent_gemma")) width = c->hidden;
  return width ? width * size_of(c, "lru-conv") : 0;
}

static void add_fixed(Config *c, const char *what, int64_t layers, int64_t bytes) {
  KvModel *m = &c->model;
  if (m->n_fixed == KVMODEL_FIXED_MAX) return;
  KvFixed *to = &m->fixed[m->n_fixed++];
  *to = (KvFixed){.layers = layers, .bytes = bytes};
  snprintf(to->what, sizeof to->what, "%s", what);
}

static int64_t element_bytes(const Config *c) {
  return strcmp(c->model.dtype, "fp32") == 0 ? 4 : 2; /* states are not quantised with the cache */
}

static void read_states(Config *c) {
  int64_t layers = 0;
  for (int64_t i = 0; i < c->layers; i++) layers += c->layer[i].kind == LAYER_STATE || c->layer[i].state_too;
  if (!layers && config_is_type(c, "minimax")) return; /* M2: attention alone */
  const char *what;
  const int64_t elements = state_elements(c, &what);
  if (layers && elements > 0)
    add_fixed(c, what, layers, elements * element_bytes(c));
  else if (layers)
    config_remark(c, "%jd layers without attention keep a state of fixed size, which is left out", layers);
  else if (elements > 0 && c->model.no_cache[0] == '\0')
    config_remark(
        c, "sizes of a state are given, but not which layers keep one: all %jd are taken to have attention alone",
        c->layers);
}

/* K and V of the tokens of one image, or of the sound that an encoder reads. */
static void read_cross(Config *c) {
  int64_t layers = 0, tokens = 0, row = 0;
  for (int64_t i = 0; i < c->layers; i++)
    if (c->layer[i].kind == LAYER_CROSS) layers++, row = c->layer[i].kv_heads * (2 * c->layer[i].d);
  const int64_t image = (int64_t)config_size(c, "vision_config.image_size"),
                patch = (int64_t)config_size(c, "vision_config.patch_size"),
                tiles = (int64_t)config_size(c, "vision_config.max_num_tiles");
  if (layers && patch > 0 && image >= patch && image <= 16384 && tiles <= 256 && row <= (int64_t)1 << 26) {
    tokens = ((image / patch) * (image / patch) + 1) * (tiles ? tiles : 1); /* a class token with each tile */
    config_remark(c, "cross attention holds the %jd tokens of an image, not those of the text", tokens);
    add_fixed(c, "K and V of one image", layers, tokens * row * element_bytes(c));
  } else if (layers) {
    config_remark(
        c, "%jd layers of cross attention hold %jd B for each token of an image or encoder, not those of the text",
        layers, row * element_bytes(c));
  }
  if (!config_true(c, "is_encoder_decoder") && !config_true(c, "add_cross_attention")) return;
  tokens = config_count(c, "max_source_positions", STATE_MAX);
  row = c->layer[0].kv_heads * 2 * c->layer[0].d * element_bytes(c);
  if (tokens)
    add_fixed(c, "K and V of the encoder", c->layers, tokens * row);
  else
    config_remark(
        c, "the decoder's own cache: cross attention keeps another %jd B for each token of the encoder and layer", row);
}

void config_read_fixed(Config *c) {
  read_states(c);
  if (!c->model.no_cache[0]) read_cross(c);
}
