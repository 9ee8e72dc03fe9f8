/* warp{...}: one memory instruction of 32 lanes, what it costs in global and in shared memory. */
#include <string.h>

#include "lessons/engine/arguments.h"
#include "sim/machine/warp.h"

enum { LARGEST = 1 << 30 }; /* of all sizes and places here: products stay within 64 bits */

typedef struct {
  int64_t base, stride, element_bytes, row_bytes, pad_bytes, column, row;
  bool is_store;
  WarpSwizzle swizzle;
} Request;

static const Option ROWS[] = {
    {.name = "stride", OPTION_NUMBER(Request, stride, "stride", 0, LARGEST)},      /* bytes from lane to lane */
    {.name = "base", OPTION_NUMBER(Request, base, "base", 0, LARGEST)},            /* of lane 0, or of the tile */
    {.name = "bytes", OPTION_NUMBER(Request, element_bytes, "bytes", 1, LARGEST)}, /* a lane's; 4 */
    {.name = "store", OPTION_FLAG(Request, is_store)},
    {.name = "column", OPTION_NUMBER(Request, column, "column", 0, LARGEST)}, /* of a tile: lane n in row n */
    {.name = "row", OPTION_NUMBER(Request, row, "row", 0, LARGEST)},          /* of a tile: lane n in column n */
    {.name = "row-bytes", OPTION_NUMBER(Request, row_bytes, "row_bytes", 1, LARGEST)},
    {.name = "pad-bytes", OPTION_NUMBER(Request, pad_bytes, "pad_bytes", 0, LARGEST)},
    {.name = "swizzle", OPTION_CHOICE(Request, swizzle, "is no swizzle"), .names = WARP_SWIZZLES},
    {0},
};

static WarpAccess listed(lua_State *lua, uint32_t element_bytes) {
  WarpAccess access = {.element_bytes = element_bytes};
  const lua_Unsigned n = lua_istable(lua, -1) ? lua_rawlen(lua, -1) : 0;
  if (n < 1 || n > WARP_LANES)
    sandbox_fail(lua, "warp: addresses must be a list of 1 to %d numbers, one for each lane", WARP_LANES);
  for (lua_Unsigned lane = 0; lane < n; lane++) {
    lua_rawgeti(lua, -1, (lua_Integer)lane + 1);
    const double address = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : -1;
    if (!(address >= 0 && address <= LARGEST) || address != (double)(int64_t)address)
      sandbox_fail(lua, "warp: address %d must be a whole number from 0 to %d", (int)lane + 1, LARGEST);
    access.address[lane] = (uint64_t)address;
    access.active |= 1u << lane;
    lua_pop(lua, 1);
  }
  return access;
}

static WarpAccess read_access(lua_State *lua) {
  static const char *const LISTS[] = {"addresses", NULL}; /* of all lanes, one by one */
  Request r = {.stride = -1, .element_bytes = 4, .column = -1, .row = -1, .row_bytes = 128};
  arguments_read(lua, "warp", (const OptionSet[]){{"stride", ROWS, 0}, {0}}, &r, LISTS);
  const bool has_list = arguments_push(lua, "addresses") != LUA_TNIL;
  if (has_list + (r.stride >= 0) + (r.column >= 0) + (r.row >= 0) != 1)
    sandbox_fail(lua, "warp takes one of stride (bytes from lane to lane), column, row (of a tile) "
                      "and addresses");
  const WarpTile tile = {(uint64_t)r.base, (uint64_t)r.row_bytes, (uint64_t)r.pad_bytes, r.swizzle};
  const uint32_t bytes = (uint32_t)r.element_bytes;
  WarpAccess access = has_list        ? listed(lua, bytes)
                      : r.stride >= 0 ? warp_strided((uint64_t)r.base, r.stride, bytes)
                      : r.column >= 0 ? warp_column(&tile, (uint64_t)r.column, bytes)
                                      : warp_row(&tile, (uint64_t)r.row, bytes);
  access.is_store = r.is_store;
  Error error = {0};
  if (warp_check(&access, &error)) sandbox_refuse(lua, "warp", &error);
  return access;
}

/* As global memory: sectors, lines, requested_bytes, moved_bytes, overfetch. As shared memory:
 * wavefronts, conflicts, ways. */
static int machine_warp(lua_State *lua) {
  const WarpAccess access = read_access(lua);
  sandbox_charge(lua, 1000);
  const WarpGlobal g = warp_global(&access);
  const WarpShared s = warp_shared(&access);
  lua_createtable(lua, 0, 8);
  sandbox_set_number(lua, "sectors", g.sectors);
  sandbox_set_number(lua, "lines", g.lines);
  sandbox_set_number(lua, "requested_bytes", (double)g.requested_bytes);
  sandbox_set_number(lua, "moved_bytes", (double)g.moved_bytes);
  sandbox_set_number(lua, "overfetch", g.overfetch);
  sandbox_set_number(lua, "wavefronts", s.wavefronts);
  sandbox_set_number(lua, "conflicts", s.conflicts);
  sandbox_set_number(lua, "ways", s.ways);
  sandbox_seal(lua, "warp gives no");
  return 1;
}

const luaL_Reg LIBRARY_WARP[] = {{"warp", machine_warp}, {NULL, NULL}};
