#include "lessons/engine/expression_sandbox.h"

#include <math.h>
#include <stdio.h>

#include "sim/base/word_list.h"

/* Refuses what names a file: lessons have none. */
static Status shipped(Thing thing, const char *value, Error *error) {
  if (thing == THING_GPU || (thing == THING_PROGRAM && !question_is_path(value))) return STATUS_OK;
  return error_refuse(error,
                      "'%s' is of the command line alone; here there are no models, kernels, "
                      "masks and files",
                      quote_text(value).text);
}

/* The value on top of the stack as the command line spells it; false: it is left out, as a switch that is off is. */
static bool spell(lua_State *lua, const char *function, const char *name, char text[ARGUMENT_TEXT_BYTES]) {
  size_t length;
  *text = '\0';
  switch (lua_type(lua, -1)) {
  case LUA_TBOOLEAN: return lua_toboolean(lua, -1);
  case LUA_TNUMBER: {
    const double number = lua_tonumber(lua, -1);
    const bool is_whole = number == floor(number) && fabs(number) < 9e18;
    snprintf(text, ARGUMENT_TEXT_BYTES, is_whole ? "%.0f" : "%.14g", number);
    return true;
  }
  case LUA_TSTRING: {
    const char *given = lua_tolstring(lua, -1, &length);
    if (length >= ARGUMENT_TEXT_BYTES || strlen(given) != length)
      sandbox_fail(lua, "%s: %s is a text of %zu bytes; at most %d fit, without a zero among them", function, name,
                   length, ARGUMENT_TEXT_BYTES - 1);
    memcpy(text, given, length + 1);
    return true;
  }
  default:
    sandbox_fail(lua, "%s: %s is a %s; it must be a number, a text in quotes, or true or false", function, name,
                 luaL_typename(lua, -1));
    return false;
  }
}

void arguments_read(lua_State *lua, const char *function, const OptionSet *sets, void *target,
                    const char *const *lists) {
  static const char *const NOT_HERE[] = {"state", "help", NULL};
  static const QuestionFiles FILES = {.shipped = shipped};
  OptionParser parser = {.sets = sets, .target = target, .files = &FILES, .from_file = true};
  if (lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING) { /* a state line: "N=8192 d=128" */
    Error error = {0};
    if (options_parse_state(&parser, lua_tostring(lua, 1), &error)) sandbox_refuse(lua, function, &error);
    return;
  }
  if (lua_gettop(lua) != 1 || !lua_istable(lua, 1))
    sandbox_fail(lua, "%s takes named arguments in braces, as in %s{%s=...}", function, function, sets->heading);
  for (lua_pushnil(lua); lua_next(lua, 1); lua_pop(lua, 1)) {
    char text[ARGUMENT_TEXT_BYTES], name[64], word[sizeof text + sizeof name + 4];
    Error error = {0};
    if (lua_type(lua, -2) != LUA_TSTRING)
      sandbox_fail(lua, "%s takes only named arguments, as in %s{%s=...}", function, function, sets->heading);
    snprintf(name, sizeof name, "%s", lua_tostring(lua, -2));
    if (word_list_find(NOT_HERE, name) >= 0) sandbox_fail(lua, "%s takes no '%s'", function, quote_text(name).text);
    if ((lists && word_list_find(lists, name) >= 0) || !spell(lua, function, quote_text(name).text, text)) continue;
    for (char *c = name; *c; c++)
      if (*c == '_') *c = '-';
    snprintf(word, sizeof word, name[1] ? *text ? "--%s=%s" : "--%s" : "-%s%s", name, text);
    char *const words[] = {word};
    if (options_parse(&parser, 1, words, &error)) sandbox_refuse(lua, function, &error);
  }
}

int arguments_push(lua_State *lua, const char *name) {
  lua_pushstring(lua, name);
  return lua_rawget(lua, 1);
}
