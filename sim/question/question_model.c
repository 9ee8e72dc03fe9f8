/* --model: the shape of one layer's attention, from the model's file. */
#include "sim/question/question.h"

#include <stdio.h>

static void take(int64_t *to, int64_t value) {
  if (!*to) *to = value;
}

/* Absorbed: one KV head of the latent and the position's part, V inside K. Expanded: K and V of every head. Which one
 * is computed follows from the queries: a few against many keys are bound by what is read. */
static void take_latent(Question *r, const KvModel *m) {
  Shape *s = &r->shape;
  const bool decodes = s->N_k > (s->N_q ? s->N_q : QUESTION_DEFAULT_N);
  take(&s->heads, m->heads);
  if (r->mla == MLA_ABSORBED || (decodes && r->mla == MLA_AUTO)) {
    take(&s->kv_heads, 1);
    if (!s->d && !s->d_v && !r->has_v_in_k) s->v_in_k = true;
    take(&s->d, m->mla_latent + m->mla_rope);
    take(&s->d_v, m->mla_latent);
    return;
  }
  take(&s->kv_heads, m->kv_heads);
  take(&s->d, kvmodel_key_dim(m));
  take(&s->d_v, kvmodel_value_dim(m));
}

static void take_heads(Question *r, const KvModel *m, const KvGroup *g) {
  Shape *s = &r->shape;
  take(&s->heads, m->heads);
  take(&s->kv_heads, g->kv_heads);
  if (!s->d) take(&s->d_v, g->d_v);
  take(&s->d, g->d);
}

/* A query sees its own token and those before it: all of them, those of a window, those of its chunk. One that is alone
 * has nothing behind it. */
static void take_mask(Question *r, const KvGroup *g) {
  Shape *s = &r->shape;
  if (s->window || s->sided || *r->mask) return;
  if (s->N_q != 1) s->causal = true;
  if (g->chunked)
    snprintf(r->mask, sizeof r->mask, "documents:%jd", g->window);
  else
    s->window = g->window;
}

/* Queries come in a type of 16 bits where the cache has fewer. */
static void take_dtype(Question *r, const KvModel *m) {
  Shape *s = &r->shape;
  Dtype dtype;
  const bool known = dtype_from_name(m->dtype, &dtype);
  if (known && dtype == DTYPE_FP8 && !r->has_dtype) {
    s->dtype = DTYPE_BF16;
    if (!s->has_kv_dtype) s->kv_dtype = DTYPE_FP8, s->has_kv_dtype = true;
  } else if (known && !r->has_dtype) {
    s->dtype = dtype;
  }
}

static LayersMeant kind_of(const KvGroup *g) {
  if (!g->window) return LAYERS_FULL;
  return g->chunked ? LAYERS_CHUNK : LAYERS_WINDOW;
}

/* The kind that is asked for; else the layers that see all, where there are any; else the first kind. */
static const KvGroup *layers_meant(const KvGroup *groups, int n, LayersMeant kind) {
  for (int g = 0; g < n; g++)
    if (kind_of(&groups[g]) == (kind ? kind : LAYERS_FULL)) return &groups[g];
  return kind ? NULL : groups;
}

Status question_take_model(Question *r, const QuestionFiles *files, Error *error) {
  if (!*r->model) return STATUS_OK;
  KvModel m;
  const Status status = files->model(r->model, &m, error);
  if (status) return status;
  if (*m.no_cache && !m.heads)
    return error_refuse(error, "--model %.80s has no attention to look at: %.90s", m.name, m.no_cache);
  KvGroup groups[KVCACHE_GROUPS_MAX] = {0};
  const KvCache cache = kvmodel_cache(&m);
  const KvGroup *g = layers_meant(groups, kvcache_groups(&cache, groups), r->layer);
  if (!g)
    return error_refuse(error, "--layer %s: %.80s has no such layers; leave it out", LAYER_KINDS[r->layer], m.name);
  if (m.mla_latent)
    take_latent(r, &m);
  else
    take_heads(r, &m, g);
  take_mask(r, g);
  take_dtype(r, &m);
  r->model[0] = '\0';
  return STATUS_OK;
}

Status question_layer_note(const Question *r, const QuestionFiles *files, char note[QUESTION_NOTE_BYTES],
                           Error *error) {
  *note = '\0';
  if (!*r->model || r->layer != LAYERS_ANY) return STATUS_OK;
  KvModel m;
  if (files->model(r->model, &m, error)) return error->status;
  KvGroup groups[KVCACHE_GROUPS_MAX] = {0};
  const KvCache cache = kvmodel_cache(&m);
  const int n = kvcache_groups(&cache, groups);
  const KvGroup *meant = n > 1 ? layers_meant(groups, n, LAYERS_ANY) : NULL;
  int64_t others = 0;
  LayersMeant other = LAYERS_ANY;
  for (int g = 0; meant && g < n; g++)
    if (kind_of(&groups[g]) != kind_of(meant)) others += groups[g].layers, other = kind_of(&groups[g]);
  if (others)
    snprintf(note, QUESTION_NOTE_BYTES,
             "%.80s: one of its %jd layers of kind %s; --layer %s asks for one of the other %jd", m.name, meant->layers,
             LAYER_KINDS[kind_of(meant)], LAYER_KINDS[other], others);
  return STATUS_OK;
}
