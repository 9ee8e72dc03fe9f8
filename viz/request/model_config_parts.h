/* Between the files that read a config.json: its keys, found where families put them and remembered, so that what was
 * not read can be named; its layers one by one. Include nowhere else.
 *
 * Several names of one thing stand in one text, apart by blanks; the first that is there counts. A name that is a row
 * of assets/serving/config.txt stands for the names there. */
#ifndef TILEWALK_VIZ_REQUEST_MODEL_CONFIG_PARTS_H
#define TILEWALK_VIZ_REQUEST_MODEL_CONFIG_PARTS_H

#include <jansson.h>

#include "viz/request/model_config.h"

enum { CONFIG_NAME_BYTES = 64 };

typedef enum {
  LAYER_FULL = 0,
  LAYER_WINDOW,
  LAYER_CHUNK,
  LAYER_STATE, /* a state of fixed size: mamba, linear attention, convolution */
  LAYER_CROSS, /* attends to an image's or an encoder's tokens, which do not grow */
  LAYER_NONE,  /* no K and V of its own */
  /* In rules: with a window where there is one, else... */
  LAYER_WINDOW_OR_FULL,
  LAYER_WINDOW_OR_STATE,
  LAYER_KINDS
} LayerKind;

typedef struct {
  LayerKind kind;
  bool state_too; /* beside attention */
  int64_t window;
  union {
    struct {
      int64_t kv_heads, d, d_v;
    };
    int64_t size[4]; /* as the table of rules names them; the last is no size */
  };
} Layer;

typedef struct {
  const char *file; /* what messages call it */
  char *rules;      /* the text of assets/serving/config.txt, '\0' before each row */
  size_t rules_length;
  json_t *root;                 /* the whole */
  json_t *text;                 /* the part about the text model: the root or an object in it */
  json_t *inner;                /* the object about attention in the text model (attn_config), or NULL */
  json_t *used;                 /* an object whose keys are the names that were understood */
  const char *type, *root_type; /* model_type of the text model and of the whole; "": none */
  char name[CONFIG_NAME_BYTES]; /* what config_find found last */
  Error *error;
  Status status; /* of the first error; after it all numbers are 0 */
  KvModel model; /* being made */
  int64_t layers, heads, hidden, latent;
  Layer layer[MODEL_CONFIG_LAYERS_MAX];
} Config;

/* ---- model_config_keys.c ---- */

/* An error about the file, the first of which stays: STATUS_BAD_FILE. */
void config_refuse(Config *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads the table of rules. A row of it: what stands behind "WORD:", of several the next behind one of them (NULL: the
 * first); "": there is none. */
Status config_rules(Config *c);
const char *config_row(const Config *c, const char *word, const char *after);

/* The root from JSON as Python writes it: NaN and Infinity become texts, which no number can be read from. */
void config_load(Config *c, const char *text, size_t length);

/* Finds the text model and its object about attention. */
void config_find_text(Config *c);

/* The value of the first of some names that is there and not null: in the object about attention, in the text model,
 * at the root; "a.b" is b of the object a. The names that give the same value are used with it. */
json_t *config_find(Config *c, const char *names);
json_t *config_list(Config *c, const char *name);   /* only if it is a list, and not at the root */
void config_use(const Config *c, const char *name); /* understood, whatever it says */

const char *config_text(Config *c, const char *names); /* "": none */
bool config_true(Config *c, const char *name);
bool config_false(Config *c, const char *name);

/* A whole number from 1 to `most`; 0 with an error. config_count: under one of some names, else the =N of their row; 0:
 * none is there. config_size refuses nothing: 0 where it is no such number below 2^32. */
int64_t config_number(Config *c, const char *name, const json_t *value, int64_t most);
int64_t config_count(Config *c, const char *names, int64_t most);
double config_size(Config *c, const char *names);

/* Whether a list has an entry for each layer; refused where not. */
bool config_is_by_layer(Config *c, const char *key, const json_t *list);

/* Keys that were not read and may bear on the cache, by what their names are about. Joined by ", " into `to`. */
void config_unused(const Config *c, char *to, size_t size);

/* Takes the next of some names off a text; false at its end. */
bool config_next(const char **names, char name[CONFIG_NAME_BYTES]);

/* Whether a text is one of some names, begins with one and goes on with _ or -, or has one in it. */
typedef enum { WHOLE, GOES_ON, HAS_PART } ConfigMatch;
bool config_is(ConfigMatch how, const char *text, const char *names);

/* ---- What becomes of them ---- */

/* One more thing that a reader should know. */
void config_remark(Config *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool config_is_type(const Config *c, const char *parts); /* whether the model's type has one of the parts in it */
int64_t config_class_default(const Config *c,
                             const char *key); /* what its class has where the file is silent; 0: unknown */

/* The next word of a row among some names, as its index; how many there are: it is "-" or "other", or refused. */
int config_next_of(Config *c, const char **row, const char *const *names);
LayerKind config_next_kind(Config *c, const char **row);

void config_read_kinds(Config *c);   /* sets kind and window of each layer */
void config_read_fixed(Config *c);   /* adds the states of layers without attention, and what cross attention holds */
void config_read_weights(Config *c); /* fills in parameters, hidden, vocab, experts, where the file says enough */

#endif
