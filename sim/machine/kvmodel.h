/* A language model as far as its KV cache goes: a file of assets/models, in the form of
 * sim/base/keyfile.h.
 *
 * What one row of the cache is follows from kv_heads and d, or from the latent of MLA; how many
 * tokens a layer keeps follows from the window or the chunk. Layers of further kinds are groups:
 *
 *     layers    = 8         kv_heads = 8         head_dim = 128       8 layers that keep all
 *     group2_layers = 24    group2_window = 4096                      24 that keep 4,096, with the same heads
 *
 * What a group does not give (kv_heads, head_dim, value_dim) is as in the first one. `limits` says, for people, what of
 * the model is not covered. */
#ifndef TILEWALK_SIM_MACHINE_KVMODEL_H
#define TILEWALK_SIM_MACHINE_KVMODEL_H

#include "sim/base/keyfile.h"
#include "sim/machine/kvcache.h"

enum { KVMODEL_GROUPS = 3, KVMODEL_FIELD_COUNT = 27 + 6 * KVMODEL_GROUPS };
enum { KVMODEL_FIXED_MAX = 4, KVMODEL_REMARKS_MAX = 8, KVMODEL_REMARK_BYTES = 256 };

/* What a sequence keeps beside K and V of its tokens, whatever its length: the state of a Mamba layer, K and V of an
 * image. */
typedef struct {
  char what[48];
  int64_t layers, bytes; /* of one sequence in one layer */
} KvFixed;

/* A further kind of layers, as written: zeros are those of the first. */
typedef struct {
  int64_t layers, kv_heads, d, d_v, window, chunk;
} KvModelGroup;

typedef struct {
  char name[KEYFILE_TEXT_BYTES];    /* what --model takes */
  char product[KEYFILE_TEXT_BYTES]; /* the full name */
  char vendor[KEYFILE_TEXT_BYTES];
  char limits[KEYFILE_TEXT_BYTES]; /* what is left out; "" when nothing is */
  int64_t year;
  int64_t layers;
  int64_t heads;      /* query heads */
  int64_t kv_heads;   /* K and V heads; what they would be without MLA, where there is MLA */
  int64_t d;          /* with MLA, without mla_rope */
  int64_t d_v;        /* of V where it differs; 0: d */
  int64_t mla_latent; /* elements of the compressed K and V of a token; 0: no MLA */
  int64_t mla_rope;   /* elements of the decoupled key that carries the position */
  int64_t window;
  int64_t window_layers;
  int64_t chunk; /* tokens of a chunk, in place of a window */
  KvModelGroup groups[KVMODEL_GROUPS];
  KvGroup more[KVCACHE_MORE_MAX]; /* the same, complete */
  int n_more;
  KvFixed fixed[KVMODEL_FIXED_MAX];
  int n_fixed;
  int64_t state_bytes;                    /* of a description: all that is fixed, in all layers */
  int64_t weights_bytes;                  /* of the whole model, as it is published; 0: not given */
  char weights_dtype[KEYFILE_TEXT_BYTES]; /* as published; "": of 16 bits */
  char no_cache[96];                      /* why there is no cache at all; "": there is one */
  char no_weights[96];                    /* of a config.json: why it has no parameters; "": it has */
  /* From a config.json: what a reader should know, and keys that may matter and were not used. */
  char remarks[KVMODEL_REMARKS_MAX][KVMODEL_REMARK_BYTES];
  int n_remarks;
  char unused[KVMODEL_REMARK_BYTES];
  /* Weights as numbers, for what multiplies them (sim/serving.h); 0: not given. */
  int64_t parameters;                 /* of the whole model, tables included */
  int64_t active_parameters;          /* that one token uses; 0: all */
  int64_t hidden, vocab;              /* of a row of activations; rows of a table of words */
  int64_t embedding_tables;           /* 1: the input's table is the output's matrix; 0 or 2: they are apart */
  int64_t experts, experts_per_token; /* of a layer, that are chosen from (shared ones left out); 0: no mixture */
  int64_t max_tokens;                 /* the context length that the model was made for */
  bool max_tokens_assumed;            /* its config.json gives none */
  char dtype[KEYFILE_TEXT_BYTES];
  KeyfileNote notes[KVMODEL_FIELD_COUNT]; /* in the order of kvmodel_fields */
} KvModel;

/* Refuses a model of whose cache a key is not understood: no total is given of it. */
Status kvmodel_check_cache(const KvModel *model, Error *error);

/* Reads a description. *model is unchanged on error. */
Status kvmodel_parse(const char *buffer, size_t length, const char *display_name, KvModel *model, Error *error);

/* The table of fields: keys, kinds, offsets into KvModel, one line of help each. */
const KeyfileField *kvmodel_fields(int *n_fields);

/* Elements of a row of K and of V of one head as attention multiplies them: with MLA, expanded. */
int64_t kvmodel_key_dim(const KvModel *model);
int64_t kvmodel_value_dim(const KvModel *model);

/* The model's cache in its own data type, without scales, in pages of the default
 * size; completed. */
KvCache kvmodel_cache(const KvModel *model);

#endif
