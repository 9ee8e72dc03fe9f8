/* Expressions over the simulator: what stands as the answer of a question, and computes it.
 *
 *     sim{N=8192, d=128, block=128, algorithm="fa2"}.loads_per_block.K
 *
 * The language is Lua 5.4 with everything taken out that reaches outside: no files, no loading of
 * code, no clock, no randomness. What is left is maths, some text functions, and the functions of
 * the simulator (lessons/README.md lists them). A source is an expression, or statements that end
 * in `return`.
 *
 * An expression may come from anybody. Instructions, the work of each function and memory are
 * counted against a budget, texts end at 64 KiB, and processor time has a limit behind that, so every evaluation ends
 * within a second. No value shows an address. Every error is one line that begins with file and line.
 *
 * Expressions that belong together share a scope: what one assigns without `local`, the others see.
 *
 *     ExpressionScope *scope;
 *     expression_scope_open(&scope, &(ExpressionLimits){.file = "claims.md"}, &error);
 *     expression_scope_eval(scope, source, length, 12, &value, &error);
 *     expression_scope_fill(scope, "{count} rows", ...);
 *     expression_scope_close(scope); */
#ifndef TILEWALK_LESSONS_ENGINE_EXPRESSION_H
#define TILEWALK_LESSONS_ENGINE_EXPRESSION_H

#include "lessons/engine/expression_limits.h"

enum {
  EXPRESSION_SOURCE_BYTES = 16384, /* longest source and longest template */
  EXPRESSION_NUMBERS_MAX = 32,     /* numbers in one value */
  EXPRESSION_TEXT_BYTES = 256,     /* text in one value, with its final zero */
};

typedef enum {
  EXPRESSION_NONE = 0, /* no expression has this */
  EXPRESSION_FLAG,
  EXPRESSION_NUMBER,
  EXPRESSION_TEXT,
  EXPRESSION_LIST,   /* {1, 2, 3} */
  EXPRESSION_RANGE,  /* {low=9.6, high=12.5}: the answer depends on something that is left open */
  EXPRESSION_SERIES, /* {series={{1, 0.5}, {2, 0.7}}}: how the answer changes with a size */
} ExpressionKind;

typedef struct {
  ExpressionKind kind;
  bool flag;
  int n; /* numbers held: 1 for a number, 2 (low, high) for a range */
  double numbers[EXPRESSION_NUMBERS_MAX];
  double at[EXPRESSION_NUMBERS_MAX]; /* the sizes of a series */
  char text[EXPRESSION_TEXT_BYTES];
} ExpressionValue;

/* Evaluates one source by itself. STATUS_BAD_FILE: it is wrong; STATUS_TOO_LARGE: it wants more
 * than its limits; STATUS_NO_MEMORY. *value is unchanged on error. */
Status expression_eval(const char *source, const ExpressionLimits *limits, ExpressionValue *value, Error *error);

/* Evaluates source[0..length), which begins on `line` of the file. Here and below the first error stays: where there is
 * one in *error, nothing is done. */
Status expression_scope_eval(ExpressionScope *scope, const char *source, size_t length, int line,
                             ExpressionValue *value, Error *error);

/* Gives `name` a value. */
Status expression_scope_set(ExpressionScope *scope, const char *name, const ExpressionValue *value, Error *error);

/* Copies a text and replaces each {expression} in it by its value; "{{" stands for a brace, and `code` is left as it
 * is. Numbers are written with up to four significant digits, whole ones with thousands separators. The result is cut
 * when it does not fit: then STATUS_TOO_LARGE. After another error it is what comes before it. */
Status expression_scope_fill(ExpressionScope *scope, const char *text, size_t length, int line, char *filled,
                             size_t size, Error *error);

/* Inside a function of the library: the value at this place of Lua's stack, or a Lua error. */
struct lua_State;
void expression_read_value(struct lua_State *lua, int index, ExpressionValue *value);

#endif
