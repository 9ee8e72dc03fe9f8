/* Inside lessons/: the Lua state behind a scope, and what its library functions are made of.
 *
 * Not for callers of lessons/engine/expression.h. Functions here that take a lua_State raise Lua errors;
 * they return to the protected call in sandbox.c and must hold nothing that needs releasing
 * (scratch memory is lua_newuserdatauv, which is counted and collected). */
#ifndef TILEWALK_LESSONS_ENGINE_EXPRESSION_SANDBOX_H
#define TILEWALK_LESSONS_ENGINE_EXPRESSION_SANDBOX_H

#include <lauxlib.h>
#include <lua.h>

#include "lessons/engine/expression_limits.h"
#include "sim/answer/report.h"
#include "sim/question/question.h"

struct ExpressionScope {
  ExpressionLimits limits; /* with the defaults filled in */
  lua_State *lua;
  size_t used_bytes;
  int64_t steps_left;
  int n_hooks;      /* since the clock was last read */
  int n_blocks;     /* allocations of the present call */
  double started_s; /* processor time of this thread when the present call began */
  bool no_memory;   /* an allocation failed: every later one does */
  bool out_of_steps;
  bool long_text; /* a text grew too long */
};

/* The scope that runs `lua`. */
ExpressionScope *sandbox_scope(lua_State *lua);

/* Starts the clock of one call into Lua. */
void sandbox_begin(ExpressionScope *scope);

/* After a failed lua_pcall: the message on top of the stack as one line that begins with file and
 * line. */
Status sandbox_report_error(ExpressionScope *scope, int lua_status, int line, Error *error);

/* Runs `function` protected, with `data` as its only argument, a light userdata. */
Status sandbox_call(ExpressionScope *scope, lua_CFunction function, void *data, int line, Error *error);

/* Takes `steps` from the budget before work of that size; raises an error when they are not there.
 */
void sandbox_charge(lua_State *lua, double steps);

/* Raises an error with the position of the calling Lua line. sandbox_refuse takes a simulator's
 * message. */
int sandbox_fail(lua_State *lua, const char *format, ...) __attribute__((format(printf, 2, 3)));
int sandbox_refuse(lua_State *lua, const char *function, const Error *error);

/* Pushes a table whose unknown fields are errors that name the nearest one; `what` is how messages
 * call it, a string that lives forever. sandbox_seal turns the table on top of the stack into one.
 */
void sandbox_seal(lua_State *lua, const char *what);

/* Pushes a count: an integer below 2^31, so that a product of two cannot wrap round, else a float.
 */
void sandbox_push_wide(lua_State *lua, Wide value);

/* Pushes a table of numbers, sealed as `what` says: sandbox_push_numbers(lua, "a point has no", {"x", 1}, ...). A
 * member of a struct under its own name is SANDBOX_NUMBER(point, x). Rows end with one without a key. */
typedef struct {
  const char *key;
  double value;
} SandboxNumber;
void sandbox_push_rows(lua_State *lua, const char *what, const SandboxNumber *rows);
#define SANDBOX_NUMBER(of, member)                                                                                     \
  { #member, (double)(of).member }
#define sandbox_push_numbers(lua, what, ...) sandbox_push_rows(lua, what, (const SandboxNumber[]){__VA_ARGS__, {0}})

/* Sets field `key` of the table on top. */
void sandbox_set_number(lua_State *lua, const char *key, double value);
void sandbox_set_text(lua_State *lua, const char *key, const char *value);
void sandbox_set_flag(lua_State *lua, const char *key, bool value);

/* A report sink that leaves the reported value on top of the stack, as sealed tables; state for it
 * comes from the caller. */
typedef struct {
  lua_State *lua;
  int depth;
  int next[16]; /* of the open arrays: the next index */
} SandboxReport;
ReportSink sandbox_report(SandboxReport *report, lua_State *lua);

/* The libraries. Each list ends with {NULL, NULL}. */
extern const luaL_Reg LIBRARY_MODEL[];   /* sim, ask, events, advise */
extern const luaL_Reg LIBRARY_NUMBERS[]; /* softmax, attention, normal, uniform */
extern const luaL_Reg LIBRARY_MACHINE[]; /* gpu, kvcache, warp */
extern const luaL_Reg LIBRARY_TEXT[];    /* binary, decimal, fixed, percent, size, series, order, verdict */

/* ---- What library functions share
 *
 * Named arguments: sim{N=8192, causal=true} is "-N8192 --causal", read by the rows of options. Names are those of the
 * command line, with _ for -; so are rules and refusals. */

enum { ARGUMENT_TEXT_BYTES = 128 };

/* Reads the table, or the state line, that is the only argument of the running function into *target, which holds
 * defaults. `function` is
 * its name for messages. `lists`, which ends with NULL, names arguments that the caller reads by arguments_push; NULL:
 * there are none. */
void arguments_read(lua_State *lua, const char *function, const OptionSet *sets, void *target,
                    const char *const *lists);

/* Pushes the argument `name`, nil when it is not given. Returns its Lua type. */
int arguments_push(lua_State *lua, const char *name);

/* Pushes a userdata that holds the GPU of that name, found through the scope's limits; it lives as
 * long as it is on the stack. `function` is who asks, for messages. */
const Gpu *machine_push_gpu(lua_State *lua, const char *function, const char *name);

/* Pushes an event as a table. */
void model_push_event(lua_State *lua, const Schedule *schedule, const Event *event);

#endif
