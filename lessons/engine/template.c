/* Texts with computed numbers in them: "{count(loads)} loads". Part of lessons/engine/expression.h. */

#include "lessons/engine/expression.h"
#include "lessons/engine/quantity.h"
#include "lessons/engine/expression_sandbox.h"

typedef struct {
  ExpressionScope *scope;
  const char *text;
  size_t length, at;
  int line;
  char *filled;
  size_t size, used;
  bool cut;
} Filler;

static void put(Filler *f, const char *text, size_t length) {
  for (size_t k = 0; k < length; k++) {
    if (f->used + 1 < f->size)
      f->filled[f->used++] = text[k];
    else
      f->cut = true;
  }
}

static void put_value(Filler *f, const ExpressionValue *value) {
  char text[EXPRESSION_TEXT_BYTES];
  switch (value->kind) {
  case EXPRESSION_FLAG: put(f, value->flag ? "true" : "false", value->flag ? 4 : 5); return;
  case EXPRESSION_TEXT: put(f, value->text, strlen(value->text)); return;
  default: break;
  }
  for (int k = 0; k < value->n; k++) {
    if (k) put(f, value->kind == EXPRESSION_RANGE ? " to " : ", ", value->kind == EXPRESSION_RANGE ? 4 : 2);
    quantity_number(value->numbers[k], text, sizeof text);
    put(f, text, strlen(text));
  }
}

/* The position behind the hole's closing brace, or `length` when there is none: braces nest, and
 * those in Lua's quoted texts do not count. */
static size_t hole_end(const Filler *f) {
  int depth = 0;
  char quoted = '\0';
  for (size_t k = f->at; k < f->length; k++) {
    const char c = f->text[k];
    if (quoted) {
      if (c == '\\')
        k++;
      else if (c == quoted)
        quoted = '\0';
    } else if (c == '"' || c == '\'')
      quoted = c;
    else if (c == '{')
      depth++;
    else if (c == '}' && --depth == 0)
      return k;
  }
  return f->length;
}

/* How long the code is that begins with the backticks here: up to as many again, or where a line begins with three or
 * more to the end. Backticks that nothing closes are none. */
static size_t code_length(const Filler *f) {
  const char *const begin = f->text + f->at, *const end = f->text + f->length, *p = begin;
  const bool is_block = f->at == 0 || begin[-1] == '\n';
  while (p < end && *p == '`') p++;
  const size_t ticks = (size_t)(p - begin);
  for (size_t run = 0; p < end; p++) {
    run = *p == '`' ? run + 1 : 0;
    if (run == ticks && (p + 1 == end || p[1] != '`')) return (size_t)(p + 1 - begin);
  }
  return is_block && ticks >= 3 ? f->length - f->at : ticks;
}

/* Copies text as it stands. */
static void copy(Filler *f, size_t length) {
  put(f, f->text + f->at, length);
  for (const size_t end = f->at + length; f->at < end; f->at++) f->line += f->text[f->at] == '\n';
}

static Status fill_hole(Filler *f, Error *error) {
  const size_t end = hole_end(f);
  if (end == f->length)
    return error_set(error, STATUS_BAD_FILE, "%s:%d: a '{' in the text has no '}'; write {{ for a plain brace",
                     f->scope->limits.file, f->line);
  ExpressionValue value;
  const Status status = expression_scope_eval(f->scope, f->text + f->at + 1, end - f->at - 1, f->line, &value, error);
  if (status) return status;
  put_value(f, &value);
  for (; f->at <= end; f->at++) f->line += f->text[f->at] == '\n';
  return STATUS_OK;
}

Status expression_scope_fill(ExpressionScope *scope, const char *text, size_t length, int line, char *filled,
                             size_t size, Error *error) {
  Filler f = {scope, text, length, 0, line, filled, size, 0, false};
  if (length > EXPRESSION_SOURCE_BYTES)
    return error_set(error, STATUS_TOO_LARGE, "%s:%d: the text is %zu bytes long; at most %d are read",
                     scope->limits.file, line, length, EXPRESSION_SOURCE_BYTES);
  Status status = error ? error->status : STATUS_OK;
  while (f.at < length && !status) {
    const bool brace = text[f.at] == '{', twice = brace && f.at + 1 < length && text[f.at + 1] == '{';
    if (brace && !twice) {
      status = fill_hole(&f, error);
      continue;
    }
    copy(&f, text[f.at] == '`' ? code_length(&f) : 1);
    f.at += twice;
  }
  if (size) filled[f.used] = '\0';
  if (status || !f.cut) return status;
  return error_set(error, STATUS_TOO_LARGE, "%s:%d: the filled-in text is longer than %zu bytes", scope->limits.file,
                   line, size - 1);
}
