/* Between the files that read a config.json: its layers one by one. Include nowhere else. */
#ifndef TILEWALK_VIZ_REQUEST_MODEL_CONFIG_PARTS_H
#define TILEWALK_VIZ_REQUEST_MODEL_CONFIG_PARTS_H

#include "sim/machine/kvmodel.h"
#include "viz/request/model_config_keys.h"
#include "viz/request/model_config.h"

typedef enum {
  LAYER_FULL = 0,
  LAYER_WINDOW,
  LAYER_CHUNK,
  LAYER_STATE, /* a state of fixed size: mamba, linear attention, convolution */
  LAYER_CROSS, /* attends to an image's or an encoder's tokens, which do not grow */
  LAYER_NONE   /* no K and V of its own */
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

/* One more thing that a reader should know. */
void config_remark(Config *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the class of the model has where the file is silent; 0: nothing known. */
int64_t config_class_default(const Config *c, const char *key);
bool config_is_type(const Config *c, const char *part); /* whether the model's type has that part in it */

/* Layers, heads and hidden size; then K and V heads, d and window, layer by layer. */
Status config_read_sizes(Config *c);
Status config_read_layers(Config *c);

/* Sets kind and window of each layer. */
Status config_read_kinds(Config *c);

/* Adds the states of layers without attention, and what cross attention holds. */
Status config_read_fixed(Config *c);

/* Fills in parameters, hidden, vocab, experts, where the file says enough. */
void config_read_weights(Config *c);

/* Whether the model keeps no cache at all, and why; NULL: it keeps one. */
const char *config_keeps_none(const Config *c);

#endif
