/* What library functions share. Inside lessons/. */
#ifndef TILEWALK_LESSONS_ENGINE_MACHINE_H
#define TILEWALK_LESSONS_ENGINE_MACHINE_H

#include "lessons/engine/expression_sandbox.h"
#include "sim/simulate.h"

/* Pushes a userdata that holds the GPU of that name, found through the scope's limits; it lives as
 * long as it is on the stack. `function` is who asks, for messages. */
const Gpu *machine_push_gpu(lua_State *lua, const char *function, const char *name);

/* Pushes an event as a table. */
void model_push_event(lua_State *lua, const Schedule *schedule, const Event *event);

#endif
