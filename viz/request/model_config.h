/* A model from its config.json, as Hugging Face publishes it: what of it decides the KV cache.
 *
 *     what           keys that say it
 *     text model     the root, or text_config, llm_config, language_config, thinker_config.text_config in it
 *     layers         num_hidden_layers, n_layer, num_layers, n_layers
 *     heads          num_attention_heads, n_head, n_heads, num_heads, num_query_heads
 *     KV heads       num_key_value_heads, num_kv_heads, n_kv_heads, attn_config.kv_n_heads, multi_query,
 *                    multi_query_attention with multi_query_group_num; else as many as heads; a number, or a list by
 *                    layer
 *     head size      head_dim, kv_channels, attention_head_dim, d_kv; else hidden_size / heads; v_head_dim for V
 *     MLA            kv_lora_rank and qk_rope_head_dim
 *     kinds          layer_types, layers_block_type, block_types, hybrid_override_pattern, sliding_window_pattern (a
 *                    number or "LLLG"), full_attention_interval, attn_layer_period and attn_layer_offset,
 *                    attention_types
 *     window         sliding_window (a number or a list), use_sliding_window, max_window_layers, window_size
 *     chunks         attention_chunk_size, no_rope_layers, no_rope_layer_interval
 *     other sizes    global_head_dim, num_global_key_value_heads, swa_head_dim, swa_v_head_dim, swa_num_key_value_heads
 *     shared         num_kv_shared_layers: the last layers keep nothing of their own
 *     by layer       block_configs[i].attention (n_heads_in_group, no_op, window_length), num_key_value_heads_per_layer
 *
 * Layers without attention (mamba, linear, conv, recurrent) keep no K and V; what they keep instead does not grow, and
 * is left out, which `limits` says. */
#ifndef TILEWALK_VIZ_REQUEST_MODEL_CONFIG_H
#define TILEWALK_VIZ_REQUEST_MODEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/machine/kvmodel.h"

enum { MODEL_CONFIG_LAYERS_MAX = 4096, MODEL_CONFIG_MAX_BYTES = 4 << 20 };

/* Whether a file is JSON rather than a description of ours. */
bool model_config_is_json(const char *text, size_t length);

/* Reads text[0..length). display_name is what messages call the file. *model is unchanged on error. Errors name the
 * key, or the line where the JSON is broken. */
Status model_config_parse(const char *text, size_t length, const char *display_name, KvModel *model, Error *error);

#endif
