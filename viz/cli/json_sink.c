#include "viz/cli/json_sink.h"

json_t *json_wide(Wide value) {
  return value <= (Wide)INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

/* Puts a new value (stolen) into the innermost container. */
static void put(JsonSink *j, const char *key, json_t *value) {
  if (!value || j->failed) {
    j->failed = true;
    json_decref(value);
    return;
  }
  if (j->depth == 0) return; /* the outermost value: kept by open_container */
  json_t *const into = j->open[j->depth - 1];
  const int bad = key ? json_object_set_new(into, key, value) : json_array_append_new(into, value);
  if (bad) j->failed = true;
}

static void open_container(JsonSink *j, const char *key, json_t *container) {
  put(j, key, container);
  if (j->failed) return;
  j->open[j->depth++] = container;
}

static void open_object(void *context, const char *key) { open_container(context, key, json_object()); }
static void open_array(void *context, const char *key) { open_container(context, key, json_array()); }
static void close_container(void *context) {
  JsonSink *j = context;
  if (!j->failed) j->depth--;
}
static void whole(void *context, const char *key, Wide value) { put(context, key, json_wide(value)); }
static void real(void *context, const char *key, double value) { put(context, key, json_real(value)); }
static void text(void *context, const char *key, const char *value) { put(context, key, json_string(value)); }
static void flag(void *context, const char *key, bool value) { put(context, key, json_boolean(value)); }
static void null(void *context, const char *key) { put(context, key, json_null()); }

ReportSink json_sink(JsonSink *json) {
  return (ReportSink){json, open_object, open_array, close_container, whole, real, text, flag, null};
}

json_t *json_result(JsonSink *json) {
  if (!json->failed) return json->open[0];
  json_decref(json->open[0]);
  return NULL;
}

/* Releases `json`. NULL: no memory, or there was nothing. */
static json_t *with_version(json_t *json) {
  if (!json || json_object_get(json, "tilewalk")) return json;
  json_t *whole = json_pack("{s:i}", "tilewalk", 1);
  const int bad = whole ? json_object_update(whole, json) : -1;
  json_decref(json);
  if (!bad) return whole;
  json_decref(whole);
  return NULL;
}

Status json_print(json_t *json, FILE *out, Error *error) { return json_print_digits(json, 0, out, error); }

Status json_print_digits(json_t *json, int digits, FILE *out, Error *error) {
  json = with_version(json);
  if (!json) return error_set(error, STATUS_NO_MEMORY, "no memory for the JSON output");
  const int bad = json_dumpf(json, out, JSON_INDENT(2) | (digits ? (size_t)JSON_REAL_PRECISION((unsigned)digits) : 0));
  json_decref(json);
  if (bad && !ferror(out)) return error_set(error, STATUS_NO_MEMORY, "no memory for the JSON output");
  fputc('\n', out);
  return STATUS_OK;
}
