/* The keys of a config.json: found where families put them, and remembered, so that what was not read can be named.
 * Several names of one thing stand in one text, apart by blanks; the first that is there counts. */
#ifndef TILEWALK_VIZ_REQUEST_MODEL_CONFIG_KEYS_H
#define TILEWALK_VIZ_REQUEST_MODEL_CONFIG_KEYS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum { CONFIG_NAME_BYTES = 64 };

typedef struct {
  const char *file;             /* what messages call it */
  json_t *root;                 /* the whole */
  json_t *text;                 /* the part about the text model: the root or an object in it */
  json_t *inner;                /* the object about attention in the text model (attn_config), or NULL */
  json_t *used;                 /* an object whose keys are the names that were understood */
  char name[CONFIG_NAME_BYTES]; /* what config_find found last */
  Error *error;
  Status status; /* of the first error; after it all numbers are 0 */
} ConfigKeys;

/* An error about the file, the first of which stays: STATUS_BAD_FILE. */
void config_refuse(ConfigKeys *k, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* JSON as Python writes it: NaN and Infinity become texts, which no number can be read from. NULL: what is wrong is in
 * the error. */
json_t *config_load(const char *text, size_t length, const char *file, Error *error);

/* Finds the text model and its object about attention. */
void config_find_text(ConfigKeys *k);

/* The value of the first of some names that is there and not null: in the object about attention, in the text model,
 * at the root. The names that give the same value are used with it. */
json_t *config_find(ConfigKeys *k, const char *names);
json_t *config_list(ConfigKeys *k, const char *name);   /* only if it is a list, and not at the root */
void config_use(const ConfigKeys *k, const char *name); /* understood, whatever it says */

const char *config_text(ConfigKeys *k, const char *names); /* "": none */
bool config_true(ConfigKeys *k, const char *name);
bool config_false(ConfigKeys *k, const char *name);

/* A whole number from 1 to `most`; 0 with an error. config_count: under one of some names; 0: none is there. */
int64_t config_number(ConfigKeys *k, const char *name, const json_t *value, int64_t most);
int64_t config_count(ConfigKeys *k, const char *names, int64_t most);

/* Keys that were not read and may bear on the cache, by what their names are about. Joined by ", " into `to`. */
void config_unused(const ConfigKeys *k, char *to, size_t size);

/* Takes the next of some names off a text; false at its end. */
bool config_next(const char **names, char name[CONFIG_NAME_BYTES]);
bool config_is_in(const char *name, const char *names);    /* whether it is one of them */
bool config_has_part(const char *name, const char *parts); /* whether one of them is in it */

#endif
