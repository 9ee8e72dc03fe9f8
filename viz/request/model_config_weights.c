/* Weights of a model from its config.json: matrices of attention, of MLPs and experts, and tables of words. Norms,
 * biases and what a model adds besides are left out: under a thousandth. Nothing is refused here: where a key that is
 * needed is not there, or layers have states in place of attention, there are no parameters. */
#include "viz/request/model_config_parts.h"

#include <stdio.h>

static double attention_of(Config *c, const Layer *l) {
  const double h = (double)c->hidden, heads = (double)c->heads;
  if (!c->latent) {
    const double d = (double)l->d, d_v = (double)(l->d_v ? l->d_v : l->d), kv = (double)l->kv_heads;
    return h * (heads * d + kv * (d + d_v)) + heads * d_v * h;
  }
  const double q = config_size(c, "q_lora_rank"), kv = config_size(c, "kv_lora_rank"),
               rope = config_size(c, "qk_rope_head_dim"), nope = config_size(c, "qk_nope_head_dim"),
               v = config_size(c, "v_head_dim"), of_q = heads * (nope + rope);
  return (q > 0 ? h * q + q * of_q : h * of_q) + h * (kv + rope) + kv * heads * (nope + v) + heads * v * h;
}

/* The MLPs of all layers, and what of them one token uses. */
typedef struct {
  double all, used;
} Mlps;

static Mlps mlps_of(Config *c, KvModel *m) {
  const double h = (double)c->hidden, layers = (double)c->layers,
               n = config_is(WHOLE, c->type, config_row(c, "two-matrices", NULL)) ? 2 : 3,
               width = config_size(c, "mlp"), experts = config_size(c, "experts"), chosen = config_size(c, "chosen"),
               narrow = config_size(c, "expert-mlp"), dense = n * h * (width > 0 ? width : 4 * h);
  if (experts < 1 || chosen < 1 || chosen > experts) return (Mlps){layers * dense, layers * dense};
  const double first = config_size(c, "first_k_dense_replace"), plain = first < layers ? first : layers,
               one = n * h * (narrow > 0 ? narrow : width),
               shared = one * config_size(c, "n_shared_experts") +
                        n * h * config_size(c, "shared_expert_intermediate_size") + h * experts,
               mixed = layers - plain;
  m->experts = (int64_t)experts, m->experts_per_token = (int64_t)chosen;
  return (Mlps){plain * dense + mixed * (shared + experts * one), plain * dense + mixed * (shared + chosen * one)};
}

/* Of which the file says that they are quantized: floats of 8 bits, or whole numbers (GPTQ, AWQ). */
static const char *dtype_of(Config *c) {
  const int64_t bits = (int64_t)config_size(c, "weight-bits");
  const char *type = config_text(c, "quantization_config.config_groups.group_0.weights.type");
  if (strstr(config_text(c, "quantization_config.quant_method"), "fp8") ||
      strncmp(config_text(c, "quantization_config.quant_algo"), "FP8", 3) == 0)
    return "fp8";
  if (bits == 8) return strcmp(type, "float") == 0 ? "fp8" : "int8";
  return bits == 4 ? "int4" : "";
}

void config_read_weights(Config *c) {
  KvModel *m = &c->model;
  const int64_t vocab = (int64_t)config_size(c, "vocab");
  double attention = 0;
  int64_t others = 0;
  for (int64_t i = 0; i < c->layers; i++) {
    const LayerKind kind = c->layer[i].kind;
    if (kind == LAYER_FULL || kind == LAYER_WINDOW || kind == LAYER_CHUNK)
      attention += attention_of(c, &c->layer[i]);
    else
      others++;
  }
  const char *lacks = !c->hidden ? "'hidden_size'" : !vocab ? "'vocab_size'" : !c->heads ? "'num_attention_heads'" : "";
  if (others)
    snprintf(m->no_weights, sizeof m->no_weights,
             "%jd of %jd layers keep no K and V of their own (a state, or another's)", others, c->layers);
  else if (*lacks)
    snprintf(m->no_weights, sizeof m->no_weights, "%s is not given", lacks);
  if (*m->no_weights) return;
  const bool by_class = config_is_type(c, config_row(c, "ties-tables", NULL));
  const bool tied = config_true(c, "tie_word_embeddings") || (by_class && !config_false(c, "tie_word_embeddings"));
  const Mlps mlps = mlps_of(c, m);
  const double tables = (double)c->hidden * (double)vocab * (tied ? 1 : 2);
  if (tables + attention + mlps.all > 1e15) return;
  m->hidden = c->hidden, m->vocab = vocab, m->embedding_tables = tied ? 1 : 2;
  snprintf(m->weights_dtype, sizeof m->weights_dtype, "%s", dtype_of(c));
  m->parameters = (int64_t)(tables + attention + mlps.all);
  m->active_parameters = m->experts ? (int64_t)(tables + attention + mlps.used) : 0;
}
