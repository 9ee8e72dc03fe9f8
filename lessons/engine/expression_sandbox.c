#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "lessons/engine/expression_sandbox.h"

#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lessons/engine/answer.h"
#include "sim/answer/figure.h"
#include "sim/base/nearest.h"

enum {
  HOOK_STEPS = 200,       /* Lua instructions between two looks at the budget */
  HOOKS_PER_CLOCK = 4,    /* looks at the budget between two looks at the clock */
  BLOCKS_PER_CLOCK = 256, /* allocations between two looks: each may collect all garbage */
  BYTES_PER_STEP = 64,    /* bytes whose allocation and filling cost about one instruction */
  TEXT_BYTES = 1 << 16,   /* the longest text, so that no instruction takes long over one */
  TEXT_HEADER_BYTES = 32, /* what Lua puts before a text */
  COSTLY_STEPS = 1000,    /* a charge that looks at the clock first */
};
#define MAX_SECONDS 0.5 /* of processor time, behind the budget: for steps that take longer than was expected */

/* ---- Budget ------------------------------------------------------------------------------------------------------ */

ExpressionScope *sandbox_scope(lua_State *lua) { return *(ExpressionScope **)lua_getextraspace(lua); }

static double thread_seconds(void) {
  struct timespec t;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) return 0;
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether the present call has had its time. */
static bool is_late(const ExpressionScope *s) { return thread_seconds() - s->started_s > MAX_SECONDS; }

static void watch(lua_State *lua, lua_Debug *at);

/* Has the next instruction raise the error that the budget is spent. */
static void stop_next(ExpressionScope *s) {
  s->steps_left = -1;
  if (s->lua) lua_sethook(s->lua, watch, LUA_MASKCOUNT, 1);
}

/* Lua's allocator. Lua collects garbage and asks again when it gets NULL, so a failure must last.
 */
static void *allocate(void *context, void *block, size_t old_bytes, size_t bytes) {
  ExpressionScope *s = context;
  const bool is_text = !block && old_bytes == LUA_TSTRING; /* without a block it is the kind of object, not a size */
  if (!block) old_bytes = 0;
  if (bytes == 0) {
    free(block);
    s->used_bytes -= old_bytes;
    return NULL;
  }
  if (bytes > old_bytes) {
    const size_t more = bytes - old_bytes;
    if (s->no_memory) return NULL;
    if (is_text && bytes > TEXT_BYTES + TEXT_HEADER_BYTES) return s->long_text = true, NULL;
    if (++s->n_blocks % BLOCKS_PER_CLOCK == 0 && is_late(s)) stop_next(s);
    if (more > EXPRESSION_MEMORY_BYTES - s->used_bytes) return NULL;
    s->steps_left -= (int64_t)(bytes / BYTES_PER_STEP); /* noticed by the next hook */
  }
  void *const grown = realloc(block, bytes);
  if (grown) {
    s->used_bytes = s->used_bytes - old_bytes + bytes;
    return grown;
  }
  s->no_memory = true;                      /* the call that is running fails, whatever Lua makes of it */
  return bytes <= old_bytes ? block : NULL; /* Lua relies on shrinking */
}

/* Raises the message with the position of the Lua code, where there is any: after the code has
 * returned, the position of its beginning is added later (sandbox_report_error). */
static int raise_at(lua_State *lua, const lua_Debug *at, const char *message) {
  if (at->currentline > 0)
    lua_pushfstring(lua, "%s:%d: %s", at->short_src, at->currentline, message);
  else
    lua_pushstring(lua, message);
  return lua_error(lua);
}

static int raise_out_of_steps(lua_State *lua, const lua_Debug *at) {
  ExpressionScope *s = sandbox_scope(lua);
  char message[ERROR_MESSAGE_BYTES];
  s->out_of_steps = true;
  snprintf(message, sizeof message, "the expression does too much work (an endless loop?); it may take about %jd steps",
           s->limits.max_steps);
  return raise_at(lua, at, message);
}

static void watch(lua_State *lua, lua_Debug *at) {
  ExpressionScope *s = sandbox_scope(lua);
  s->steps_left -= HOOK_STEPS;
  if (++s->n_hooks >= HOOKS_PER_CLOCK) {
    s->n_hooks = 0;
    if (is_late(s)) s->steps_left = -1;
  }
  if (s->steps_left >= 0) return;
  lua_getinfo(lua, "Sl", at);
  raise_out_of_steps(lua, at);
}

/* The line of the Lua code that called the running C function. */
static void caller(lua_State *lua, lua_Debug *at) {
  at->currentline = 0;
  at->short_src[0] = '\0';
  for (int level = 1; lua_getstack(lua, level, at); level++) {
    lua_getinfo(lua, "Sl", at);
    if (at->currentline > 0) return;
  }
}

void sandbox_charge(lua_State *lua, double steps) {
  ExpressionScope *s = sandbox_scope(lua);
  if (steps <= (double)s->steps_left && (steps < COSTLY_STEPS || !is_late(s))) {
    s->steps_left -= (int64_t)steps;
    return;
  }
  lua_Debug at;
  caller(lua, &at);
  raise_out_of_steps(lua, &at);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

int sandbox_fail(lua_State *lua, const char *format, ...) {
  char message[ERROR_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  lua_Debug at;
  caller(lua, &at);
  return raise_at(lua, &at, message);
}

int sandbox_refuse(lua_State *lua, const char *function, const Error *error) {
  if (error->status == STATUS_NO_MEMORY) sandbox_scope(lua)->no_memory = true;
  return sandbox_fail(lua, "%s: %s", function, error->message);
}

/* The message on top of the stack, made one printable line that begins with file and line. */
Status sandbox_report_error(ExpressionScope *s, int lua_status, int line, Error *error) {
  if (s->no_memory) return error_no_memory(error, "for an expression of %s", s->limits.file);
  if (s->long_text)
    return error_set(error, STATUS_TOO_LARGE, "%s:%d: the expression makes a text of more than %d KiB", s->limits.file,
                     line, TEXT_BYTES / 1024);
  if (lua_status == LUA_ERRMEM)
    return error_set(error, STATUS_TOO_LARGE,
                     "%s:%d: the expression needs more than %zu KiB of memory, which is all it may use", s->limits.file,
                     line, EXPRESSION_MEMORY_BYTES / 1024);
  const char *text = lua_type(s->lua, -1) == LUA_TSTRING ? lua_tostring(s->lua, -1)
                                                         : "the expression raised an error without a message";
  char message[ERROR_MESSAGE_BYTES];
  const size_t file = strlen(s->limits.file) < LUA_IDSIZE - 1 ? strlen(s->limits.file) : LUA_IDSIZE - 1;
  const bool placed = strncmp(text, s->limits.file, file) == 0 && text[file] == ':';
  if (placed)
    snprintf(message, sizeof message, "%s", text);
  else
    snprintf(message, sizeof message, "%s:%d: %s", s->limits.file, line, text);
  for (char *c = message; *c; c++)
    if ((unsigned char)*c < 32 || *c == 127) *c = ' ';
  return error_set(error, s->out_of_steps ? STATUS_TOO_LARGE : STATUS_BAD_FILE, "%s", message);
}

/* ---- Tables that know their fields ------------------------------------------------------------------------------- */

/* __index of sealed tables and of the globals; upvalue 1: what the table is called. */
static int unknown_field(lua_State *lua) {
  const char *what = lua_tostring(lua, lua_upvalueindex(1));
  if (lua_type(lua, 2) != LUA_TSTRING) {
    lua_pushnil(lua);
    return 1;
  }
  size_t length, distance = 0;
  const char *name = lua_tolstring(lua, 2, &length), *best = NULL;
  const Quote shown = quote(name, length);
  /* Their order differs from run to run: of equals the first by name. */
  for (lua_pushnil(lua); lua_next(lua, 1); lua_pop(lua, 1)) {
    if (lua_type(lua, -2) != LUA_TSTRING) continue;
    const char *known = lua_tostring(lua, -2);
    Nearest nearest = {.word = name};
    nearest_offer(&nearest, known);
    const bool is_behind =
        best && (nearest.distance > distance || (nearest.distance == distance && strcmp(known, best) > 0));
    if (nearest.best && !is_behind) best = known, distance = nearest.distance;
  }
  if (best) return sandbox_fail(lua, "%s '%s'; did you mean '%s'?", what, shown.text, best);
  return sandbox_fail(lua, "%s '%s'", what, shown.text);
}

void sandbox_seal(lua_State *lua, const char *what) {
  lua_createtable(lua, 0, 1);
  lua_pushstring(lua, what);
  lua_pushcclosure(lua, unknown_field, 1);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
}

void sandbox_push_wide(lua_State *lua, Wide value) {
  if (value < (Wide)1 << 31)
    lua_pushinteger(lua, (lua_Integer)value);
  else
    lua_pushnumber(lua, (lua_Number)value);
}

void sandbox_set_number(lua_State *lua, const char *key, double value) {
  lua_pushnumber(lua, value);
  lua_setfield(lua, -2, key);
}

void sandbox_push_rows(lua_State *lua, const char *what, const SandboxNumber *rows) {
  lua_newtable(lua);
  for (; rows->key; rows++) sandbox_set_number(lua, rows->key, rows->value);
  sandbox_seal(lua, what);
}

void sandbox_set_text(lua_State *lua, const char *key, const char *value) {
  lua_pushstring(lua, value);
  lua_setfield(lua, -2, key);
}

void sandbox_set_flag(lua_State *lua, const char *key, bool value) {
  lua_pushboolean(lua, value);
  lua_setfield(lua, -2, key);
}

/* ---- Report sink ------------------------------------------------------------------------------------------------- */

/* The value on top becomes a member of the container at `at`; the outermost value stays. */
static void add_member(SandboxReport *r, int at, const char *key) {
  if (r->depth == 0) return;
  if (key)
    lua_setfield(r->lua, at, key);
  else
    lua_rawseti(r->lua, at, r->next[r->depth - 1]++);
}

static void open_container(void *context, const char *key, bool is_array) {
  SandboxReport *r = context;
  luaL_checkstack(r->lua, 4, "results are nested too deeply");
  lua_newtable(r->lua);
  if (r->depth > 0) lua_pushvalue(r->lua, -1);
  add_member(r, -3, key);
  r->next[r->depth++] = 1;
  if (!is_array) sandbox_seal(r->lua, "the result has no");
}

static void close_container(void *context) {
  SandboxReport *r = context;
  if (--r->depth > 0) lua_pop(r->lua, 1);
}

static void put_value(void *context, const char *key, const Figure *f) {
  SandboxReport *r = context;
  if (f->is == IS_NULL) return; /* an absent field */
  if (f->is == IS_WHOLE)
    sandbox_push_wide(r->lua, f->whole);
  else if (f->is == IS_REAL)
    lua_pushnumber(r->lua, f->real);
  else if (f->is == IS_TEXT)
    lua_pushstring(r->lua, f->text);
  else
    lua_pushboolean(r->lua, f->flag);
  add_member(r, -2, key);
}

ReportSink sandbox_report(SandboxReport *report_state, lua_State *lua) {
  *report_state = (SandboxReport){.lua = lua};
  return (ReportSink){report_state, open_container, close_container, put_value};
}

/* ---- The state --------------------------------------------------------------------------------------------------- */

/* Keeps the named functions of the library on top of the stack and pops it; the rest is out of reach. */
static void keep(lua_State *lua, const char *const *names) {
  lua_newtable(lua);
  for (; *names; names++) {
    lua_getfield(lua, -2, *names);
    lua_setfield(lua, -2, *names);
  }
  lua_replace(lua, -2);
}

/* Of texts there is what the language itself does with them: a library function could take forever over one within one
 * instruction, or show an address. */
static void open_base(lua_State *lua) {
  static const char *const base[] = {"assert", "error", "ipairs", "next", "pairs", "type", NULL};
  luaL_requiref(lua, LUA_GNAME, luaopen_base, 0);
  keep(lua, base);
  lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

static void open_maths(lua_State *lua) {
  static const char *const maths[] = {"abs", "ceil", "exp", "floor", "huge", "log", "max", "min", "pi", "sqrt", NULL};
  luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 0);
  keep(lua, maths);
  for (const char *const *name = maths; *name; name++) {
    lua_getfield(lua, -1, *name);
    lua_setglobal(lua, *name);
  }
  lua_setglobal(lua, LUA_MATHLIBNAME);
}

static void open_units(lua_State *lua) {
  static const char *const UNITS[] = {"kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", NULL};
  for (const char *const *name = UNITS; *name; name++) {
    AnswerUnit unit;
    answer_unit(*name, &unit, NULL);
    lua_pushnumber(lua, unit.factor);
    lua_setglobal(lua, *name);
  }
}

static int open_all(lua_State *lua) {
  open_base(lua);
  open_maths(lua);
  open_units(lua);
  lua_pushglobaltable(lua);
  luaL_setfuncs(lua, LIBRARY_MODEL, 0);
  luaL_setfuncs(lua, LIBRARY_NUMBERS, 0);
  luaL_setfuncs(lua, LIBRARY_MACHINE, 0);
  luaL_setfuncs(lua, LIBRARY_TEXT, 0);
  sandbox_seal(lua, "there is no name");
  return 0;
}

void sandbox_begin(ExpressionScope *s) {
  s->out_of_steps = false;
  s->long_text = false;
  s->n_hooks = s->n_blocks = 0;
  s->started_s = thread_seconds();
  lua_sethook(s->lua, watch, LUA_MASKCOUNT, HOOK_STEPS);
}

Status expression_scope_open(ExpressionScope **scope, const ExpressionLimits *limits, Error *error) {
  *scope = NULL;
  ExpressionScope *s = calloc(1, sizeof *s);
  if (!s) return error_no_memory(error, "for an expression");
  if (limits) s->limits = *limits;
  if (!s->limits.file) s->limits.file = "expression";
  if (!s->limits.max_steps) s->limits.max_steps = EXPRESSION_STEPS;
  s->steps_left = s->limits.max_steps;
  s->started_s = thread_seconds();
  s->lua = lua_newstate(allocate, s);
  if (!s->lua) {
    free(s);
    return error_no_memory(error, "for an expression");
  }
  *(ExpressionScope **)lua_getextraspace(s->lua) = s;
  lua_pushcfunction(s->lua, open_all);
  const int lua_status = lua_pcall(s->lua, 0, 0, 0);
  if (lua_status != LUA_OK || s->no_memory) {
    const Status status = sandbox_report_error(s, lua_status, 0, error);
    expression_scope_close(s);
    return status;
  }
  s->steps_left = s->limits.max_steps;
  *scope = s;
  return STATUS_OK;
}

void expression_scope_close(ExpressionScope *scope) {
  if (!scope) return;
  lua_close(scope->lua);
  free(scope);
}
