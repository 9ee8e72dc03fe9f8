/* What an expression may use: its budget, and the scope that it is run in. Part of lessons/engine/expression.h. */
#ifndef TILEWALK_LESSONS_ENGINE_EXPRESSION_LIMITS_H
#define TILEWALK_LESSONS_ENGINE_EXPRESSION_LIMITS_H

#include "sim/l2/kernel_profile.h"

#define EXPRESSION_STEPS        ((int64_t)20000000) /* a tenth of a second or so */
#define EXPRESSION_MEMORY_BYTES ((size_t)8 << 20)

/* Zeros are defaults. */
typedef struct {
  const char *file;  /* how messages call the source; "expression" */
  int64_t max_steps; /* Lua instructions, and the work of functions in about that unit */

  /* Finds a GPU by name, for gpu"..." and sim{gpu=...}. NULL: only the built-in machine, paper, is
   * known. */
  Status (*load_gpu)(void *context, const char *name, Gpu *gpu, Error *error);
  void *context;

  /* The kernels that advise{} compares; NULL: tiles alone. */
  ProfileList *kernels;

  /* Judges answers that are files; NULL: none can be given. */
  const struct LessonWorkshop *workshop;
} ExpressionLimits;

typedef struct ExpressionScope ExpressionScope;

/* An empty scope with its budget, for expression_scope_close to release. *scope is NULL on error.
 * `limits` is copied; the file name must outlive the scope. */
Status expression_scope_open(ExpressionScope **scope, const ExpressionLimits *limits, Error *error);
void expression_scope_close(ExpressionScope *scope);

#endif
