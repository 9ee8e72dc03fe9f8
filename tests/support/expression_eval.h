/* An expression evaluated, for tests. */
#ifndef TILEWALK_TESTS_SUPPORT_EXPRESSION_EVAL_H
#define TILEWALK_TESTS_SUPPORT_EXPRESSION_EVAL_H

#include "tests/support/test.h"
#include "lessons/engine/expression.h"
#include "sim/simulate.h"
#include "tests/support/alloc_fail.h"
#include "tests/support/open_gpu.h"

static inline ExpressionValue eval(const char *source) {
  ExpressionValue value = {0};
  if (expression_eval(source, NULL, &value, fresh_error())) fail_msg("%s\n  in: %s", test_error.message, source);
  return value;
}

static inline double number(const char *source) {
  const ExpressionValue v = eval(source);
  if (v.kind != EXPRESSION_NUMBER) fail_msg("no number: %s", source);
  return v.numbers[0];
}

static inline bool flag(const char *source) {
  const ExpressionValue v = eval(source);
  if (v.kind != EXPRESSION_FLAG) fail_msg("neither true nor false: %s", source);
  return v.flag;
}

static inline ExpressionScope *open_scope(void) {
  ExpressionScope *scope;
  must(expression_scope_open(&scope, &(ExpressionLimits){.file = "t.md"}, NULL));
  return scope;
}

#endif
