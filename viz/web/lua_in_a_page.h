/* Lua without setjmp: given to its ldo.c by -include. An error is thrown through JavaScript, which catches it where Lua
 * said to, and puts the stack of C back (page/engine.js). */
#ifndef TILEWALK_VIZ_WEB_LUA_IN_A_PAGE_H
#define TILEWALK_VIZ_WEB_LUA_IN_A_PAGE_H

/* Calls f(lua, data); true: something was thrown in it. */
__attribute__((import_module("page"), import_name("attempt"))) int page_attempt(void (*f)(void *lua, void *data),
                                                                                void *lua, void *data);
__attribute__((import_module("page"), import_name("throw"))) _Noreturn void page_throw(void);

#define LUAI_THROW(L, c) page_throw()
#define LUAI_TRY(L, c, a)                                                                                              \
  if (page_attempt((void (*)(void *, void *))f, L, ud) && (c)->status == 0) (c)->status = -1
#define luai_jmpbuf int

/* Long tables are sorted alike each time; otherwise Lua asks the clock. */
#define l_randomizePivot() 0u

#endif
