/* Functions for texts, and for experiments over sizes: size, binary, decimal, fixed, percent,
 * order, series, verdict. */
#include <math.h>
#include <stdio.h>

#include "lessons/engine/expression_sandbox.h"
#include "lessons/engine/quantity.h"
#include "lessons/engine/verdict.h"
#include "sim/base/size.h"

static double number_argument(lua_State *lua, const char *function, int index) {
  if (lua_type(lua, index) != LUA_TNUMBER)
    sandbox_fail(lua, "%s: argument %d is a %s; it must be a number", function, index, luaL_typename(lua, index));
  return lua_tonumber(lua, index);
}

static int push_bytes(lua_State *lua, const char *function, bool binary) {
  char text[64];
  quantity_bytes(number_argument(lua, function, 1), binary, text, sizeof text);
  lua_pushstring(lua, text);
  return 1;
}

/* binary(69206016) is "66 MiB", decimal(69206016) is "69.21 MB". */
static int text_binary(lua_State *lua) { return push_bytes(lua, "binary", true); }
static int text_decimal(lua_State *lua) { return push_bytes(lua, "decimal", false); }

/* fixed(1.32046, 3) is "1.320". */
static int text_fixed(lua_State *lua) {
  char text[400];
  const double value = number_argument(lua, "fixed", 1), decimals = number_argument(lua, "fixed", 2);
  if (!(decimals >= 0 && decimals <= 17) || decimals != floor(decimals))
    sandbox_fail(lua, "fixed: %g digits after the point; it takes 0 to 17", decimals);
  quantity_fixed(value, (int)decimals, text, sizeof text);
  lua_pushstring(lua, text);
  return 1;
}

/* percent(0.4375) is "43.8 %". */
static int text_percent(lua_State *lua) {
  char number[64], text[80];
  const double percent = 100 * number_argument(lua, "percent", 1);
  if (quantity_is_whole(percent))
    quantity_number(percent, number, sizeof number);
  else
    quantity_fixed(percent, 1, number, sizeof number);
  snprintf(text, sizeof text, "%s %%", number);
  lua_pushstring(lua, text);
  return 1;
}

/* size"64 MiB" is 67108864. */
static int text_size(lua_State *lua) {
  int64_t bytes;
  Error error = {0};
  if (lua_type(lua, 1) != LUA_TSTRING) sandbox_fail(lua, "size takes a text in quotes, as in size\"64 MiB\"");
  if (size_parse(lua_tostring(lua, 1), &bytes, &error)) sandbox_refuse(lua, "size", &error);
  sandbox_push_wide(lua, wide(bytes));
  return 1;
}

/* ---- Experiments over sizes -------------------------------------------------------------------------------------- */

enum { SIZES_MAX = EXPRESSION_NUMBERS_MAX };

typedef struct {
  int n;
  double size[SIZES_MAX], value[SIZES_MAX];
} Experiment;

/* Calls the function, argument 1, with every size of the list, argument 2. */
static void run_experiment(lua_State *lua, const char *name, Experiment *e) {
  if (!lua_isfunction(lua, 1) || !lua_istable(lua, 2))
    sandbox_fail(lua, "%s takes a function and a list of sizes: %s(function(N) return ... end, {1024, 2048})", name,
                 name);
  const lua_Unsigned n = lua_rawlen(lua, 2);
  if (n < 2 || n > SIZES_MAX) sandbox_fail(lua, "%s needs 2 to %d sizes", name, SIZES_MAX);
  e->n = (int)n;
  for (int k = 0; k < e->n; k++) {
    lua_pushvalue(lua, 1);
    if (lua_rawgeti(lua, 2, k + 1) != LUA_TNUMBER) sandbox_fail(lua, "%s: size %d is no number", name, k + 1);
    e->size[k] = lua_tonumber(lua, -1);
    lua_call(lua, 1, 1);
    if (lua_type(lua, -1) != LUA_TNUMBER)
      sandbox_fail(lua, "%s: the function gives a %s for size %g; it must be a number", name, luaL_typename(lua, -1),
                   e->size[k]);
    e->value[k] = lua_tonumber(lua, -1);
    lua_pop(lua, 1);
  }
}

/* series(f, {1, 2, 4}): f at these sizes, as {series={{1, f(1)}, ...}}. */
static int text_series(lua_State *lua) {
  Experiment e;
  run_experiment(lua, "series", &e);
  lua_createtable(lua, 0, 1);
  lua_createtable(lua, e.n, 0);
  for (int k = 0; k < e.n; k++) {
    lua_createtable(lua, 2, 0);
    lua_pushnumber(lua, e.size[k]);
    lua_rawseti(lua, -2, 1);
    lua_pushnumber(lua, e.value[k]);
    lua_rawseti(lua, -2, 2);
    lua_rawseti(lua, -2, k + 1);
  }
  lua_setfield(lua, -2, "series");
  return 1;
}

/* order(f, {4096, 8192, 16384}): how f grows between the last two sizes, as "constant", "N", "N^2",
 * "N^1.50". Within 0.05 of a whole exponent it is that exponent: lower-order terms fade as sizes
 * grow. */
static int text_order(lua_State *lua) {
  Experiment e;
  run_experiment(lua, "order", &e);
  const double before = e.value[e.n - 2], after = e.value[e.n - 1], step = e.size[e.n - 1] / e.size[e.n - 2];
  if (!(before > 0 && after > 0 && step > 1)) sandbox_fail(lua, "order needs growing sizes and values above 0");
  const double exponent = log(after / before) / log(step), whole = round(exponent);
  char text[64];
  if (fabs(exponent - whole) > 0.05)
    snprintf(text, sizeof text, "N^%.2f", exponent);
  else if (whole == 0)
    snprintf(text, sizeof text, "constant");
  else if (whole == 1)
    snprintf(text, sizeof text, "N");
  else
    snprintf(text, sizeof text, "N^%.0f", whole);
  lua_pushstring(lua, text);
  return 1;
}

/* verdict("134 MB", 134217728): what `tilewalk lesson claims` says of what is printed. */
static int text_verdict(lua_State *lua) {
  Claimed claimed;
  ExpressionValue value = {0};
  Judgement judgement;
  Error error = {0};
  if (lua_type(lua, 1) != LUA_TSTRING)
    sandbox_fail(lua, "verdict takes what is printed, in quotes, and a value: verdict(\"134 MB\", 134217728)");
  expression_read_value(lua, 2, &value);
  Status status = claimed_parse(lua_tostring(lua, 1), &claimed, &error);
  if (!status) status = verdict_judge(&claimed, &value, &judgement, &error);
  if (status) sandbox_refuse(lua, "verdict", &error);
  lua_pushstring(lua, verdict_name(judgement.verdict));
  return 1;
}

const luaL_Reg LIBRARY_TEXT[] = {{"binary", text_binary},   {"decimal", text_decimal}, {"fixed", text_fixed},
                                 {"percent", text_percent}, {"size", text_size},       {"series", text_series},
                                 {"order", text_order},     {"verdict", text_verdict}, {NULL, NULL}};
