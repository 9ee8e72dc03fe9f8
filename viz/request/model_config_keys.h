/* The keys of a config.json: found where families put them, and remembered, so that what was not used can be named. */
#ifndef TILEWALK_VIZ_REQUEST_MODEL_CONFIG_KEYS_H
#define TILEWALK_VIZ_REQUEST_MODEL_CONFIG_KEYS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

typedef struct {
  const char *file; /* what messages call it */
  json_t *root;     /* the whole */
  json_t *text;     /* the part about the text model: the root or an object in it */
  json_t *inner;    /* the object about attention in the text model (attn_config), or NULL */
  json_t *used;     /* an object whose keys are the names that were understood */
  Error *error;
} ConfigKeys;

#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* An error about the file: STATUS_BAD_FILE. */
Status config_refuse(const ConfigKeys *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* JSON as Python writes it: NaN and Infinity become texts, which no number can be read from. NULL: what is wrong is in
 * the error. */
json_t *config_load(const char *text, size_t length, const char *file, Error *error);

/* Finds the text model and its object about attention. */
Status config_find_text(ConfigKeys *k);

/* The value of the first of some names that is there and not null: in the object about attention, in the text model,
 * at the root. The names that give the same value are used with it. */
json_t *config_find(const ConfigKeys *k, const char *const *names, const char **name);
json_t *config_get(const ConfigKeys *k, const char *name);
json_t *config_list(const ConfigKeys *k, const char *name); /* only if it is a list */
void config_use(const ConfigKeys *k, const char *name);     /* understood, whatever it says */

const char *config_text(const ConfigKeys *k, const char *name); /* "": none */
bool config_true(const ConfigKeys *k, const char *name);
bool config_false(const ConfigKeys *k, const char *name);

/* A whole number from 1 to `most`. config_count: under one of some names; 0: none is there. */
Status config_number(const ConfigKeys *k, const char *name, const json_t *value, int64_t most, int64_t *count);
Status config_count(const ConfigKeys *k, const char *const *names, int64_t most, int64_t *count);

/* Keys that were not used and may bear on the cache: all but those known to say something else. Joined by ", " into
 * `to`; returns how many. */
int config_unused(const ConfigKeys *k, char *to, size_t size);

bool config_word_in(const char *name, const char *const *parts); /* whether one of the parts is in it */

#endif
