#define _GNU_SOURCE /* memmem */
#include "lessons/engine/expression.h"

#include <stdio.h>

#include "lessons/engine/expression_sandbox.h"

/* ---- Reading a source -------------------------------------------------------------------------------------------- */

/* What lua_load asks for its text: newlines, so that it counts lines as the file does, then the
 * source. */
typedef struct {
  const char *source;
  size_t length;
  int newlines;
  bool wants_return;
} Reader;

static const char *give(lua_State *lua, void *context, size_t *length) {
  (void)lua;
  Reader *r = context;
  if (r->newlines > 0) {
    r->newlines--;
    *length = 1;
    return "\n";
  }
  if (r->wants_return) {
    r->wants_return = false;
    *length = strlen("return ");
    return "return ";
  }
  *length = r->length;
  r->length = 0;
  return r->source;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static int push_field(lua_State *lua, int table, const char *key) {
  lua_pushstring(lua, key);
  return lua_rawget(lua, table);
}

/* The list {1, 2, 3}, or of a series {{1, 0.5}, {2, 0.7}}: pairs of a size and a number. */
static void read_list(lua_State *lua, int table, ExpressionValue *value, bool is_series) {
  const lua_Unsigned n = lua_istable(lua, table) ? lua_rawlen(lua, table) : 0;
  if (is_series && (n < 2 || n > EXPRESSION_NUMBERS_MAX))
    sandbox_fail(lua, "a series needs 2 to %d pairs {size, value}", EXPRESSION_NUMBERS_MAX);
  if (n == 0)
    sandbox_fail(lua, "the result is a table without a list of numbers; name the field that is "
                      "meant, or return a number");
  if (n > EXPRESSION_NUMBERS_MAX)
    sandbox_fail(lua, "the result is a list of %llu; at most %d numbers are read", (unsigned long long)n,
                 EXPRESSION_NUMBERS_MAX);
  value->kind = is_series ? EXPRESSION_SERIES : EXPRESSION_LIST;
  value->n = (int)n;
  for (int k = 0; k < value->n; k++) {
    const int item = lua_gettop(lua) + 1, type = lua_rawgeti(lua, table, k + 1);
    if (is_series &&
        (type != LUA_TTABLE || lua_rawgeti(lua, item, 1) != LUA_TNUMBER || lua_rawgeti(lua, item, 2) != LUA_TNUMBER))
      sandbox_fail(lua, "item %d of the series is no pair {size, value} of numbers", k + 1);
    if (!is_series && type != LUA_TNUMBER) sandbox_fail(lua, "item %d of the result is no number", k + 1);
    value->at[k] = is_series ? lua_tonumber(lua, -2) : 0;
    value->numbers[k] = lua_tonumber(lua, -1);
    lua_settop(lua, item - 1);
  }
}

static void read_table(lua_State *lua, int table, ExpressionValue *value) {
  const int low = lua_gettop(lua) + 1;
  if (push_field(lua, table, "series") != LUA_TNIL) {
    read_list(lua, low, value, true);
  } else if (lua_settop(lua, low - 1), push_field(lua, table, "low") != LUA_TNIL) {
    if (push_field(lua, table, "high") != LUA_TNUMBER || lua_type(lua, low) != LUA_TNUMBER)
      sandbox_fail(lua, "a range needs two numbers, low and high");
    value->kind = EXPRESSION_RANGE;
    value->n = 2;
    value->numbers[0] = lua_tonumber(lua, low);
    value->numbers[1] = lua_tonumber(lua, low + 1);
    if (!(value->numbers[0] <= value->numbers[1]))
      sandbox_fail(lua, "a range goes from low to high; here low is above high");
  } else {
    read_list(lua, table, value, false);
  }
  lua_settop(lua, low - 1);
}

static void read_scalar(lua_State *lua, int index, ExpressionValue *value) {
  size_t length;
  switch (lua_type(lua, index)) {
  case LUA_TNIL: sandbox_fail(lua, "the expression has no value; return a number, true, false or a text"); break;
  case LUA_TBOOLEAN:
    value->kind = EXPRESSION_FLAG;
    value->flag = lua_toboolean(lua, index);
    break;
  case LUA_TNUMBER:
    value->kind = EXPRESSION_NUMBER;
    value->n = 1;
    value->numbers[0] = lua_tonumber(lua, index);
    break;
  case LUA_TSTRING: {
    const char *text = lua_tolstring(lua, index, &length);
    if (length >= EXPRESSION_TEXT_BYTES)
      sandbox_fail(lua, "the result is a text of %zu bytes; at most %d fit", length, EXPRESSION_TEXT_BYTES - 1);
    if (!utf8_is_text(text, length))
      sandbox_fail(lua, "the result is a text with bytes that are no text: control characters, or broken UTF-8");
    value->kind = EXPRESSION_TEXT;
    memcpy(value->text, text, length + 1);
    break;
  }
  default:
    sandbox_fail(lua, "the result is a %s, which is no answer; return a number, true, false or a text",
                 luaL_typename(lua, index));
  }
}

void expression_read_value(lua_State *lua, int index, ExpressionValue *value) {
  if (lua_istable(lua, index))
    read_table(lua, index, value);
  else
    read_scalar(lua, index, value);
}

static void push_value(lua_State *lua, const ExpressionValue *value) {
  switch (value->kind) {
  case EXPRESSION_FLAG: lua_pushboolean(lua, value->flag); return;
  case EXPRESSION_TEXT: lua_pushstring(lua, value->text); return;
  case EXPRESSION_NUMBER: lua_pushnumber(lua, value->numbers[0]); return;
  default: break;
  }
  lua_createtable(lua, value->n, 0);
  for (int k = 0; k < value->n; k++) {
    lua_pushnumber(lua, value->numbers[k]);
    lua_rawseti(lua, -2, k + 1);
  }
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

typedef struct {
  const char *source, *name;
  size_t length;
  int line;
  ExpressionValue value;
  const ExpressionValue *given;
} Job;

static int compile(lua_State *lua, const Job *job, bool as_expression) {
  char chunk_name[LUA_IDSIZE + 1];
  snprintf(chunk_name, sizeof chunk_name, "=%s", sandbox_scope(lua)->limits.file);
  Reader reader = {job->source, job->length, job->line > 1 ? job->line - 1 : 0, as_expression};
  return lua_load(lua, give, &reader, chunk_name, "t");
}

static int run_source(lua_State *lua) {
  Job *job = lua_touserdata(lua, 1);
  int lua_status = compile(lua, job, true);
  if (lua_status == LUA_ERRSYNTAX && memmem(job->source, job->length, "return", 6))
    lua_status = compile(lua, job, false);
  if (lua_status != LUA_OK) return lua_error(lua);
  lua_call(lua, 0, 1);
  expression_read_value(lua, lua_gettop(lua), &job->value);
  return 0;
}

static int set_name(lua_State *lua) {
  const Job *job = lua_touserdata(lua, 1);
  push_value(lua, job->given);
  lua_setglobal(lua, job->name);
  return 0;
}

Status sandbox_call(ExpressionScope *scope, lua_CFunction function, void *data, int line, Error *error) {
  lua_State *lua = scope->lua;
  if (error && error->status) return error->status;
  sandbox_begin(scope);
  lua_pushcfunction(lua, function);
  lua_pushlightuserdata(lua, data);
  const int lua_status = lua_pcall(lua, 1, 0, 0);
  const bool fine = lua_status == LUA_OK && !scope->no_memory;
  const Status status = fine ? STATUS_OK : sandbox_report_error(scope, lua_status, line, error);
  lua_settop(lua, 0);
  return status;
}

Status expression_scope_eval(ExpressionScope *scope, const char *source, size_t length, int line,
                             ExpressionValue *value, Error *error) {
  if (length > EXPRESSION_SOURCE_BYTES)
    return error_set(error, STATUS_TOO_LARGE, "%s:%d: the expression is %zu bytes long; at most %d are read",
                     scope->limits.file, line, length, EXPRESSION_SOURCE_BYTES);
  Job job = {.source = source, .length = length, .line = line};
  const Status status = sandbox_call(scope, run_source, &job, line, error);
  if (!status) *value = job.value;
  return status;
}

Status expression_scope_set(ExpressionScope *scope, const char *name, const ExpressionValue *value, Error *error) {
  Job job = {.name = name, .given = value};
  return sandbox_call(scope, set_name, &job, 0, error);
}

Status expression_eval(const char *source, const ExpressionLimits *limits, ExpressionValue *value, Error *error) {
  ExpressionScope *scope;
  Status status = expression_scope_open(&scope, limits, error);
  if (!status) status = expression_scope_eval(scope, source, strlen(source), 1, value, error);
  expression_scope_close(scope);
  return status;
}
