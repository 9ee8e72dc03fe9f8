#define _DEFAULT_SOURCE /* strsep */
#include "viz/request/model_config_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "viz/request/assets.h"

enum { RULES_BYTES_MAX = 1 << 16 };
static const char RULES[] = "assets/serving/config.txt";

void config_refuse(Config *c, const char *format, ...) {
  char what[ERROR_MESSAGE_BYTES];
  va_list arguments;
  if (c->status) return;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  c->status = error_set(c->error, STATUS_BAD_FILE, "%.80s: %.300s", c->file, what);
}

/* ---- Rules ---- */

/* Its rows, each of which must be there; besides class.TYPE and dtype.TYPE. */
static const char ROWS[] =
    "attends encodes recurs encoders whole text attention other-models of-all decoder-layers layers hidden "
    "decoder-heads heads kv-heads head-dim context mtp dtypes own-dtype chunk windows vocab mlp experts chosen "
    "expert-mlp weight-bits two-matrices ties-tables state conv groups expand state-heads state-head mamba2-heads "
    "mamba2-head state-mlp delta-conv lru-conv state-alone layer-lists rule plain kind letters sizes by-layer about "
    "but-not-about but-not and-also";

Status config_rules(Config *c) {
  char name[CONFIG_NAME_BYTES];
  c->status = assets_read(RULES, RULES_BYTES_MAX, &c->rules, &c->rules_length, c->error);
  if (c->status) return c->status;
  Piece rest = piece_file(c->rules, c->rules_length), word, behind;
  for (int line = 1; rest.length && !c->status; line++) {
    const Piece row = piece_next_line(&rest);
    c->status = piece_check(row, RULES_BYTES_MAX, RULES, line, c->error);
    if (c->status || !row.length || strchr("# \t", *row.text)) continue;
    if (row.text > c->rules)
      c->rules[row.text - c->rules - 1] = '\0'; /* ends the row before, of several lines or one */
    piece_split(row, ':', &word, &behind);
    snprintf(name, sizeof name, "%.*s", (int)word.length, word.text);
    if (word.text[word.length] != ':' ||
        !(config_is(WHOLE, name, ROWS) || piece_starts(word, "class.") || piece_starts(word, "dtype.")))
      c->status = keyfile_refuse(RULES, line, c->error, "'%s' is no row of this table", piece_quote(word).text);
  }
  for (const char *rows = ROWS; !c->status && config_next(&rows, name);)
    if (!*config_row(c, name, NULL)) c->status = keyfile_refuse(RULES, 0, c->error, "the row '%s' is lacking", name);
  return c->status;
}

const char *config_row(const Config *c, const char *word, const char *after) {
  const size_t n = strlen(word);
  for (const char *p = after ? after : c->rules; (p += strlen(p) + 1) < c->rules + c->rules_length;)
    if (!strncmp(p, word, n) && p[n] == ':') return p + n + 1;
  return "";
}

bool config_next(const char **names, char name[CONFIG_NAME_BYTES]) {
  static const char BLANKS[] = " \t\r";
  *names += strspn(*names, BLANKS);
  while ((*names)[0] == '\n' && (*names)[1] && strchr(BLANKS, (*names)[1])) *names += 1 + strspn(*names + 1, BLANKS);
  const size_t n = strcspn(*names, " \t\r\n"), kept = n < CONFIG_NAME_BYTES ? n : CONFIG_NAME_BYTES - 1;
  memcpy(name, *names, kept); /* not printf: most of a model's reading would be this line */
  name[kept] = '\0';
  *names += n;
  return n > 0;
}

/* "_moe", but not "_v4": another version may keep another cache. */
static bool goes_on(const char *rest) {
  return (*rest == '_' || *rest == '-') && !(rest[1] == 'v' && rest[2] >= '0' && rest[2] <= '9');
}

bool config_is(ConfigMatch how, const char *text, const char *names) {
  char one[CONFIG_NAME_BYTES];
  while (config_next(&names, one)) {
    const char *at = strstr(text, one);
    const size_t n = strlen(one);
    if (how == HAS_PART ? at != NULL : at == text && (!text[n] || (how == GOES_ON && goes_on(text + n)))) return true;
  }
  return false;
}

/* ---- JSON as Python writes it ---- */

/* NaN and -Infinity become texts of as many bytes. */
void config_load(Config *c, const char *text, size_t length) {
  char *copy = calloc(length + 1, 1);
  bool in_text = false;
  if (!copy) {
    c->status = error_no_memory(c->error, "to read the model");
    return;
  }
  memcpy(copy, text, length);
  for (char *p = copy; p < copy + length; p++) {
    char *bare = p + (*p == '-');
    const size_t word = in_text ? 0 : !strncmp(bare, "NaN", 3) ? 3 : !strncmp(bare, "Infinity", 8) ? 8 : 0;
    if (*p == '"') in_text = !in_text;
    if (in_text && *p == '\\') p++;
    if (word) *p = bare[word - 1] = '"', p = bare + word - 1;
  }
  json_error_t why;
  c->root = json_loadb(copy, length, 0, &why);
  free(copy);
  if (!c->root)
    config_refuse(c, "line %d: no JSON: %.120s", why.line, quote_text(why.text).text);
  else if (!json_is_object(c->root))
    config_refuse(c, "line 1: a list, where config.json is an object: {...}");
}

/* ---- Where the text model is ---- */

static bool has_layers(const Config *c, const json_t *object) {
  char name[CONFIG_NAME_BYTES];
  for (int of_decoder = 0; of_decoder < 2; of_decoder++)
    for (const char *names = config_row(c, of_decoder ? "decoder-layers" : "layers", NULL); config_next(&names, name);)
      if (json_is_integer(json_object_get(object, name))) return true;
  return false;
}

/* The first object under one of a row's names; `otherwise`: there is none. */
static json_t *find_object(const Config *c, json_t *in, const char *row, json_t *otherwise) {
  char name[CONFIG_NAME_BYTES];
  for (const char *names = config_row(c, row, NULL); config_next(&names, name);)
    if (json_is_object(json_object_get(in, name))) return config_use(c, name), json_object_get(in, name);
  return otherwise;
}

/* The one object of the root that describes layers of text, where none has a name that is known. */
static void find_other(Config *c) {
  const char *key, *first = NULL;
  json_t *value;
  json_object_foreach(c->root, key, value) {
    if (!json_is_object(value) || !has_layers(c, value) ||
        config_is(HAS_PART, key, config_row(c, "other-models", NULL)))
      continue;
    if (first)
      config_refuse(c, "'%s' and '%s' both describe layers; give the one that is meant as a file of its own",
                    quote_text(first).text, quote_text(key).text);
    first = key;
    c->text = value;
    config_use(c, key);
  }
}

void config_find_text(Config *c) {
  json_t *whole = find_object(c, c->root, "whole", c->root);
  c->text = find_object(c, whole, "text", whole);
  if (c->text == c->root && !has_layers(c, c->root)) find_other(c);
  c->inner = find_object(c, c->text, "attention", NULL);
  c->type = c->root_type = config_text(c, "model_type");
  json_unpack(c->root, "{s:s}", "model_type", &c->root_type);
}

/* ---- Values ---- */

void config_use(const Config *c, const char *name) { json_object_set_new(c->used, name, json_true()); }

json_t *config_find(Config *c, const char *names) {
  const json_t *const in[] = {c->inner, c->text, c->root};
  const char *row = config_row(c, names, NULL), *last = "";
  json_t *found = NULL;
  for (size_t i = 0; i < COUNT_OF(in) && !found; i++) {
    char name[CONFIG_NAME_BYTES], path[CONFIG_NAME_BYTES];
    for (const char *at = *row ? row : names; in[i] && config_next(&at, name);) {
      char *rest = memcpy(path, name, sizeof path);
      name[strcspn(name, ".")] = '\0';
      if (in[i] == c->root && c->text != c->root && !config_is(WHOLE, name, config_row(c, "of-all", NULL))) continue;
      const json_t *value = in[i];
      for (const char *key; value && (key = strsep(&rest, "."));) value = json_object_get(value, last = key);
      if (!value || json_is_null(value)) continue;
      if (!found) snprintf(c->name, sizeof c->name, "%s", last);
      if (!found) found = (json_t *)value;
      if (json_equal(found, value)) config_use(c, name);
    }
  }
  return found;
}

json_t *config_list(Config *c, const char *name) {
  json_t *value = json_object_get(c->inner, name);
  if (!json_is_array(value)) value = json_object_get(c->text, name);
  if (!json_is_array(value)) return NULL;
  config_use(c, name);
  return value;
}

const char *config_text(Config *c, const char *names) {
  const char *text = json_string_value(config_find(c, names));
  return text ? text : "";
}

bool config_true(Config *c, const char *name) { return json_is_true(config_find(c, name)); }
bool config_false(Config *c, const char *name) { return json_is_false(config_find(c, name)); }

int64_t config_number(Config *c, const char *name, const json_t *value, int64_t most) {
  const double number = json_is_number(value) ? json_number_value(value) : 0;
  if (!c->status && number >= 1 && number <= (double)most && number == (double)(int64_t)number) return (int64_t)number;
  config_refuse(c, "'%s' is not a whole number from 1 to %jd", quote_text(name).text, most);
  return 0;
}

int64_t config_count(Config *c, const char *names, int64_t most) {
  const json_t *value = c->status ? NULL : config_find(c, names);
  if (value) return config_number(c, c->name, value, most);
  char name[CONFIG_NAME_BYTES];
  for (names = c->status ? "" : config_row(c, names, NULL); config_next(&names, name);)
    if (*name == '=') return strtoll(name + 1, NULL, 10);
  return 0;
}

double config_size(Config *c, const char *names) {
  const json_t *value = config_find(c, names);
  const double size = json_is_integer(value) ? json_number_value(value) : 0;
  return size > 0 && size < 0x1p32 ? size : 0;
}

bool config_is_by_layer(Config *c, const char *key, const json_t *list) {
  const size_t n = json_array_size(list);
  if ((int64_t)n == c->layers) return true;
  config_refuse(c, "'%s' has %zu entries for %jd layers", key, n, c->layers);
  return false;
}

/* ---- What was not read ---- */

static bool matters(const Config *c, const char *name) {
  return config_is(WHOLE, name, config_row(c, "and-also", NULL)) ||
         (config_is(HAS_PART, name, config_row(c, "about", NULL)) &&
          !config_is(HAS_PART, name, config_row(c, "but-not-about", NULL)) &&
          !config_is(WHOLE, name, config_row(c, "but-not", NULL)));
}

/* Switched off, or nothing: null, false, 0, "", an empty list; a factor of 1. */
static bool says_nothing(const char *name, const json_t *value) {
  const double number = json_number_value(value);
  return json_is_null(value) || json_is_false(value) || (json_is_string(value) && !json_string_length(value)) ||
         (json_is_array(value) && !json_array_size(value)) || (json_is_object(value) && !json_object_size(value)) ||
         (json_is_number(value) && (number == 0 || (number == 1 && config_is(HAS_PART, name, "ratio factor scale"))));
}

void config_unused(const Config *c, char *to, size_t size) {
  json_t *const in[] = {c->text, c->inner, c->text == c->root ? NULL : c->root};
  *to = '\0';
  for (size_t i = 0; i < COUNT_OF(in); i++) {
    const char *key;
    json_t *value;
    json_object_foreach(in[i], key, value) {
      if (json_object_get(c->used, key) || says_nothing(key, value) || !matters(c, key)) continue;
      const size_t at = strlen(to);
      const Quote q = quote_text(key);
      if (at + strlen(q.text) + 8 < size)
        snprintf(to + at, size - at, "%s%s", at ? ", " : "", q.text);
      else if (at + 6 < size && (at < 3 || strcmp(to + at - 3, "...")))
        snprintf(to + at, size - at, ", ...");
      config_use(c, key);
    }
  }
}
