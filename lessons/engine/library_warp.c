/* warp{...}: one memory instruction of 32 lanes, what it costs in global and in shared memory. */
#include "lessons/engine/expression_sandbox.h"
#include "lessons/engine/warp_keys.h"

enum { LARGEST = 1 << 20 }; /* products stay within 64 bits, and pictures narrow */

const Option WARP_KEYS[] = {
    {.name = "stride", OPTION_NUMBER(WarpKeys, stride, "stride", 0, LARGEST), .given = offsetof(WarpKeys, has_stride)},
    {.name = "bytes", OPTION_NUMBER(WarpKeys, bytes, "bytes", 1, LARGEST)}, /* a lane's; 4 */
    {.name = "column", OPTION_NUMBER(WarpKeys, column, "column", 0, LARGEST), .given = offsetof(WarpKeys, has_column)},
    {.name = "row-bytes", .also = "row_bytes", OPTION_NUMBER(WarpKeys, row_bytes, "row_bytes", 1, LARGEST)}, /* 128 */
    {.name = "pad-bytes", .also = "pad_bytes", OPTION_NUMBER(WarpKeys, pad_bytes, "pad_bytes", 0, LARGEST)},
    {.name = "swizzle", OPTION_CHOICE(WarpKeys, swizzle, "is no swizzle"), .names = WARP_SWIZZLES},
    {0},
};

Status warp_keys_access(const WarpKeys *k, WarpAccess *access, Error *error) {
  if (k->has_stride == k->has_column)
    return error_refuse(error, "a warp takes stride (bytes from lane to lane) or column (of a tile)");
  if (k->has_stride && (k->row_bytes || k->pad_bytes || k->swizzle))
    return error_refuse(error, "row_bytes, pad_bytes and swizzle go with column, not with stride");
  const uint32_t bytes = k->bytes ? (uint32_t)k->bytes : 4;
  const WarpTile tile = {.row_bytes = k->row_bytes ? (uint64_t)k->row_bytes : 128,
                         .pad_bytes = (uint64_t)k->pad_bytes,
                         .swizzle = k->swizzle};
  *access = k->has_column ? warp_column(&tile, (uint64_t)k->column, bytes) : warp_strided(0, k->stride, bytes);
  return warp_check(access, error);
}

/* As global memory: sectors, lines, requested_bytes, moved_bytes, overfetch. As shared memory:
 * wavefronts, conflicts, ways. */
static int machine_warp(lua_State *lua) {
  WarpKeys keys = {0};
  WarpAccess access;
  Error error = {0};
  arguments_read(lua, "warp", (const OptionSet[]){{"stride", WARP_KEYS, 0}, {0}}, &keys, NULL);
  if (warp_keys_access(&keys, &access, &error)) sandbox_refuse(lua, "warp", &error);
  sandbox_charge(lua, 1000);
  const WarpGlobal g = warp_global(&access);
  const WarpShared s = warp_shared(&access);
  sandbox_push_numbers(lua, "warp gives no", SANDBOX_NUMBER(g, sectors), SANDBOX_NUMBER(g, lines),
                       SANDBOX_NUMBER(g, requested_bytes), SANDBOX_NUMBER(g, moved_bytes), SANDBOX_NUMBER(g, overfetch),
                       SANDBOX_NUMBER(s, wavefronts), SANDBOX_NUMBER(s, conflicts), SANDBOX_NUMBER(s, ways));

  return 1;
}

const luaL_Reg LIBRARY_WARP[] = {{"warp", machine_warp}, {NULL, NULL}};
