#include "lessons/engine/arguments.h"

#include <math.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "sim/base/size.h"

typedef struct {
  const char *function;
  const ArgumentField *fields;
  int n_fields;
  char *record;
} Reading;

static bool same_but_for_case(const char *a, const char *b) {
  for (; *a && *b; a++, b++)
    if (ascii_lower((unsigned char)*a) != ascii_lower((unsigned char)*b)) return false;
  return *a == *b;
}

static const ArgumentField *find(lua_State *lua, const Reading *r, const char *name) {
  Nearest nearest = {.word = name};
  for (int f = 0; f < r->n_fields; f++) {
    if (strcmp(r->fields[f].name, name) == 0) return &r->fields[f];
    if (!nearest.best || nearest.distance > 0) nearest_offer(&nearest, r->fields[f].name);
    if (same_but_for_case(r->fields[f].name, name)) nearest.best = r->fields[f].name, nearest.distance = 0;
  }
  const Quote shown = quote_text(name);
  if (nearest.best) sandbox_fail(lua, "%s takes no '%s'; did you mean '%s'?", r->function, shown.text, nearest.best);
  sandbox_fail(lua, "%s takes no '%s'", r->function, shown.text);
  return r->fields; /* never: sandbox_fail does not come back */
}

/* A number or a text like "8K", for kinds that count. The value is on top of the stack. */
static int64_t read_whole(lua_State *lua, const Reading *r, const ArgumentField *field) {
  const int64_t least = field->kind == ARGUMENT_COUNT ? 1 : 0;
  if (lua_type(lua, -1) == LUA_TSTRING && field->kind != ARGUMENT_WHOLE) {
    int64_t whole = 0;
    Error error = {0};
    const char *text = lua_tostring(lua, -1);
    const Status status =
        field->kind == ARGUMENT_COUNT ? size_parse_count(text, &whole, &error) : size_parse(text, &whole, &error);
    if (status) sandbox_fail(lua, "%s: %s: %s", r->function, field->name, error.message);
    return whole;
  }
  if (lua_type(lua, -1) != LUA_TNUMBER)
    sandbox_fail(lua, "%s: %s is a %s; it must be a whole number", r->function, field->name, luaL_typename(lua, -1));
  const double number = lua_tonumber(lua, -1);
  if (!(number >= (double)least && number < 9e18) || number != floor(number))
    sandbox_fail(lua, "%s: %s is %.14g; it must be a whole number, at least %d", r->function, field->name, number,
                 (int)least);
  return lua_isinteger(lua, -1) ? lua_tointeger(lua, -1) : (int64_t)number;
}

static void store(lua_State *lua, const Reading *r, const ArgumentField *field) {
  char *const member = r->record + field->offset;
  switch (field->kind) {
  case ARGUMENT_COUNT:
  case ARGUMENT_WHOLE:
  case ARGUMENT_SIZE: {
    const int64_t whole = read_whole(lua, r, field);
    memcpy(member, &whole, sizeof whole);
    return;
  }
  case ARGUMENT_FLAG: {
    if (!lua_isboolean(lua, -1))
      sandbox_fail(lua, "%s: %s is a %s; it must be true or false", r->function, field->name, luaL_typename(lua, -1));
    const bool flag = lua_toboolean(lua, -1);
    memcpy(member, &flag, sizeof flag);
    return;
  }
  case ARGUMENT_TEXT: {
    if (lua_type(lua, -1) != LUA_TSTRING)
      sandbox_fail(lua, "%s: %s is a %s; it must be a text in quotes", r->function, field->name,
                   luaL_typename(lua, -1));
    size_t length;
    const char *text = lua_tolstring(lua, -1, &length);
    if (length >= ARGUMENT_TEXT_BYTES || strlen(text) != length)
      sandbox_fail(lua, "%s: %s is a text of %zu bytes; at most %d fit, without a zero among them", r->function,
                   field->name, length, ARGUMENT_TEXT_BYTES - 1);
    memcpy(member, text, length + 1);
    return;
  }
  case ARGUMENT_ANY: return;
  }
}

void arguments_read(lua_State *lua, const char *function, const ArgumentField *fields, int n_fields, void *record) {
  const Reading r = {function, fields, n_fields, record};
  const ArgumentField *given[ARGUMENT_FIELDS_MAX];
  int n_given = 0;
  if (lua_gettop(lua) != 1 || !lua_istable(lua, 1))
    sandbox_fail(lua, "%s takes named arguments in braces, as in %s{%s=...}", function, function, fields[0].name);
  for (lua_pushnil(lua); lua_next(lua, 1); lua_pop(lua, 1)) {
    if (lua_type(lua, -2) != LUA_TSTRING)
      sandbox_fail(lua, "%s takes only named arguments, as in %s{%s=...}", function, function, fields[0].name);
    const ArgumentField *field = find(lua, &r, lua_tostring(lua, -2));
    for (int g = 0; g < n_given && field->kind != ARGUMENT_ANY; g++)
      if (given[g]->kind != ARGUMENT_ANY && given[g]->offset == field->offset)
        sandbox_fail(lua, "%s: %s and %s are two names of one thing; give one", function, given[g]->name, field->name);
    if (n_given < ARGUMENT_FIELDS_MAX) given[n_given++] = field;
    store(lua, &r, field);
  }
}

int arguments_push(lua_State *lua, const char *name) {
  lua_pushstring(lua, name);
  return lua_rawget(lua, 1);
}
