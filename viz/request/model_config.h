/* A model from its config.json, as Hugging Face publishes it: what of it decides the KV cache. Families and
 * names of keys stand in assets/serving/config.txt, which people may extend.
 *
 *     model_config_keys.c    rules, where the text model is, its keys by any of their names, and those not read
 *     model_config.c         families; sizes: layers, heads, head sizes, latents, by layer and by kind; what is shared
 *     model_config_kinds.c   which layers have attention, in the forms that rules name
 *     model_config_weights.c parameters: attention, MLPs, experts, tables of words
 *     model_config_states.c  what is kept beside K and V: states, K and V of an image or an encoder
 *
 * Nothing is guessed. A family that is not known is refused by its name; a key that may bear on the cache and was not
 * read is named in `unused` of the model, and whoever would print a total refuses. An encoder, and a model without
 * attention, have a cache of nothing, and `no_cache` says why.
 */
#ifndef TILEWALK_VIZ_REQUEST_MODEL_CONFIG_H
#define TILEWALK_VIZ_REQUEST_MODEL_CONFIG_H

#include "sim/machine/kvmodel.h"

enum { MODEL_CONFIG_LAYERS_MAX = 4096, MODEL_CONFIG_MAX_BYTES = 4 << 20 };

/* Whether a file is JSON rather than a description of ours. */
bool model_config_is_json(const char *text, size_t length);

/* Reads text[0..length). display_name is what messages call the file. *model is unchanged on error. Errors name the
 * key, or the line where the JSON is broken. */
Status model_config_parse(const char *text, size_t length, const char *display_name, KvModel *model, Error *error);

#endif
