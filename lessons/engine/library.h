/* What library functions share. Inside lessons/.
 *
 * Named arguments: sim{N=8192, causal=true} is "-N8192 --causal", read by the rows of options. Names are those of the
 * command line, with _ for -; so are rules and refusals. */
#ifndef TILEWALK_LESSONS_ENGINE_LIBRARY_H
#define TILEWALK_LESSONS_ENGINE_LIBRARY_H

#include "lessons/engine/expression_sandbox.h"
#include "sim/question/question.h"

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
