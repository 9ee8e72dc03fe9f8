/* Between the files that read a config.json: its layers one by one. Include nowhere else. */
#ifndef TILEWALK_VIZ_REQUEST_MODEL_CONFIG_PARTS_H
#define TILEWALK_VIZ_REQUEST_MODEL_CONFIG_PARTS_H

#include "sim/machine/kvmodel.h"
#include "viz/request/model_config.h"
#include "viz/request/model_config_keys.h"

typedef enum {
  LAYER_FULL = 0,
  LAYER_WINDOW,
  LAYER_CHUNK,
  LAYER_STATE, /* a state of fixed size: mamba, linear attention, convolution */
  LAYER_CROSS, /* attends to an image's or an encoder's tokens, which do not grow */
  LAYER_NONE,  /* no K and V of its own */
  /* In rules: with a window where there is one, else... */
  LAYER_WINDOW_OR_FULL,
  LAYER_WINDOW_OR_STATE
} LayerKind;

typedef struct {
  LayerKind kind;
  bool state_too; /* beside attention */
  int64_t kv_heads, d, d_v, window;
} Layer;

typedef struct {
  ConfigKeys keys;
  KvModel *model; /* being made: remarks and fixed parts go there */
  int64_t layers, heads, hidden, latent;
  Layer *layer; /* MODEL_CONFIG_LAYERS_MAX */
} Config;

#define REFUSE(c, ...) config_refuse(&(c)->keys, __VA_ARGS__)

/* One more thing that a reader should know. */
void config_remark(Config *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool config_is_type(Config *c, const char *parts);        /* whether the model's type has one of the parts in it */
int64_t config_class_default(Config *c, const char *key); /* what its class has where the file is silent; 0: unknown */

void config_read_kinds(Config *c);   /* sets kind and window of each layer */
void config_read_fixed(Config *c);   /* adds the states of layers without attention, and what cross attention holds */
void config_read_weights(Config *c); /* fills in parameters, hidden, vocab, experts, where the file says enough */

#endif
