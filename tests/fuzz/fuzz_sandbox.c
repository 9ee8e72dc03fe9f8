/* Fuzz target for expressions: any bytes have a value within its bounds, or are refused with one printable line that
 * has the file's name and a line; and so with a text that holds them in braces. No value shows an address. */
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/expression.h"
#include "sim/base/utf8.h"

/* Little work, so that many inputs are tried. */
static const ExpressionLimits LIMITS = {.file = "f.md", .max_steps = 50000, .max_memory_bytes = 1 << 20};

static void check_message(const Error *error) {
  require(strncmp(error->message, "f.md:", 5) == 0);
  require(utf8_is_text(error->message, strlen(error->message)));
}

/* A source without any of these cannot write what looks like an address but by showing one. */
static bool may_write_hex(const char *source) {
  return strchr(source, 'x') || strchr(source, '%') || strchr(source, '\\') || strstr(source, "char");
}

static void check_value(const ExpressionValue *v, const char *source) {
  require(v->kind > EXPRESSION_NONE && v->kind <= EXPRESSION_SERIES);
  require(v->n >= 0 && v->n <= EXPRESSION_NUMBERS_MAX);
  if (v->kind != EXPRESSION_TEXT) return;
  require(memchr(v->text, 0, sizeof v->text) != NULL && utf8_is_text(v->text, strlen(v->text)));
  require(may_write_hex(source) || !strstr(v->text, "0x"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char filled[4096];
  ExpressionScope *scope;
  ExpressionValue value = {0};
  Error error = {0}, other = {0};
  if (expression_scope_open(&scope, &LIMITS, NULL)) return 0;
  char *text = malloc(size + 1); /* its own block, so that reading past its end is seen */
  require(text != NULL);
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  if (expression_scope_eval(scope, text, size, 1, &value, &error))
    check_message(&error);
  else
    check_value(&value, text);
  if (expression_scope_fill(scope, text, size, 1, filled, sizeof filled, &other)) check_message(&other);
  free(text);
  expression_scope_close(scope);
  return 0;
}
