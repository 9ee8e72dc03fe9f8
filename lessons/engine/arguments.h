/* Named arguments: sim{N=8192, causal=true} into a struct, by a table of names. Inside lessons/.
 *
 * Names are those of the command line, with _ for -. An unknown name is an error that offers the
 * nearest. */
#ifndef TILEWALK_LESSONS_ENGINE_ARGUMENTS_H
#define TILEWALK_LESSONS_ENGINE_ARGUMENTS_H

#include "lessons/engine/expression_sandbox.h"

enum { ARGUMENT_TEXT_BYTES = 128, ARGUMENT_FIELDS_MAX = 48 };

typedef enum {
  ARGUMENT_COUNT, /* int64_t: 8192 or "8K"; at least 1 */
  ARGUMENT_WHOLE, /* int64_t: 0 or more */
  ARGUMENT_SIZE,  /* int64_t: bytes, 196608 or "192K" */
  ARGUMENT_FLAG,  /* bool */
  ARGUMENT_TEXT,  /* char[ARGUMENT_TEXT_BYTES] */
  ARGUMENT_ANY,   /* left to the caller, who reads it by arguments_push; offset unused */
} ArgumentKind;

typedef struct {
  const char *name;
  ArgumentKind kind;
  size_t offset;
} ArgumentField;

/* Reads the table that is the only argument of the running function into *record, which holds
 * defaults. `function` is its name for messages. Two names with one offset are spellings of one
 * thing: only one may be given. */
void arguments_read(lua_State *lua, const char *function, const ArgumentField *fields, int n_fields, void *record);

/* Pushes the argument `name`, nil when it is not given. Returns its Lua type. */
int arguments_push(lua_State *lua, const char *name);

#endif
