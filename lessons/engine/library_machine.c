/* Functions over machines and memories: gpu, kvcache, warp. */
#include "lessons/engine/expression_sandbox.h"
#include "lessons/engine/warp_keys.h"

/* ---- gpu --------------------------------------------------------------------------------------------------------- */

const Gpu *machine_push_gpu(lua_State *lua, const char *function, const char *name) {
  const ExpressionLimits *limits = &sandbox_scope(lua)->limits;
  sandbox_charge(lua, 20000);
  Gpu *gpu = lua_newuserdatauv(lua, sizeof *gpu, 0);
  memset(gpu, 0, sizeof *gpu);
  Error error = {0};
  if (strcmp(name, "paper") == 0)
    gpu_paper(gpu);
  else if (!limits->load_gpu)
    sandbox_fail(lua, "%s: there is no GPU '%s' here; only 'paper' is built in", function, quote_text(name).text);
  else if (limits->load_gpu(limits->context, name, gpu, &error))
    sandbox_refuse(lua, function, &error);
  return gpu;
}

/* gpu"NAME": its description, in base units (bytes, B/s, Hz, FLOP/s, s). What is not known is not
 * there. */
static int machine_gpu(lua_State *lua) {
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING)
    sandbox_fail(lua, "gpu takes a name in quotes, as in gpu\"paper\"");
  const Gpu *gpu = machine_push_gpu(lua, "gpu", lua_tostring(lua, 1));
  int n_fields;
  const KeyfileField *fields = gpu_fields(&n_fields);
  lua_createtable(lua, 0, n_fields + 4);
  for (int f = 0; f < n_fields; f++) {
    if (!keyfile_is_number(fields[f].kind)) {
      sandbox_set_text(lua, fields[f].name, (const char *)gpu + fields[f].offset);
      continue;
    }
    const double value = gpu_value(gpu, &fields[f]);
    if (value != 0) sandbox_set_number(lua, fields[f].name, value);
  }
  const double sram_bandwidth = gpu_sram_bytes_per_s(gpu), exp = gpu_exp_per_s(gpu);
  if (sram_bandwidth > 0) sandbox_set_number(lua, "sram_bandwidth", sram_bandwidth);
  if (exp > 0) sandbox_set_number(lua, "exp_rate", exp);
  sandbox_seal(lua, "the description of this GPU has no");
  return 1;
}

/* ---- KV cache ---------------------------------------------------------------------------------------------------- */

typedef struct {
  KvCache cache;
  int64_t tokens;
} CacheRequest;

static const Option CACHE_ROWS[] = {
    {.name = "tokens", OPTION_NUMBER(CacheRequest, tokens, "tokens", 0, KVCACHE_MAX_TOKENS)},
    {.name = "layers", OPTION_COUNT(CacheRequest, cache.layers)},
    {.name = "kv-heads", OPTION_COUNT(CacheRequest, cache.kv_heads)},
    {.name = "head-dim", .letter = 'd', OPTION_COUNT(CacheRequest, cache.d)},
    {.name = "latent", OPTION_COUNT(CacheRequest, cache.latent)},
    {.name = "window", OPTION_COUNT(CacheRequest, cache.window)},
    {.name = "window-layers", OPTION_COUNT(CacheRequest, cache.window_layers)},
    {.name = "dtype", OPTION_CHOICE(CacheRequest, cache.dtype, "is no data type of a cache"), .names = KV_DTYPE_NAMES},
    {.name = "group", OPTION_COUNT(CacheRequest, cache.group)},
    {.name = "scale-bytes", OPTION_COUNT(CacheRequest, cache.scale_bytes)},
    {.name = "page-tokens", OPTION_COUNT(CacheRequest, cache.page_tokens)},
    {0},
};

/* kvcache{layers=80, kv_heads=8, d=128, tokens=100000}: bytes in use and bytes in pages. One layer, one KV head,
 * d = 128, fp16, unless said otherwise. */
static int machine_kvcache(lua_State *lua) {
  CacheRequest r = {0};
  Error error = {0};
  arguments_read(lua, "kvcache", (const OptionSet[]){{"tokens", CACHE_ROWS, 0}, {0}}, &r, NULL);
  if (!r.cache.layers) r.cache.layers = 1;
  if (!r.cache.latent && !r.cache.kv_heads) r.cache.kv_heads = 1;
  if (!r.cache.latent && !r.cache.d) r.cache.d = 128;
  sandbox_charge(lua, 100);
  if (kvcache_complete(&r.cache, &error)) sandbox_refuse(lua, "kvcache", &error);
  const KvState state = kvcache_seek(&r.cache, r.tokens);
  sandbox_push_numbers(lua, "kvcache gives no", SANDBOX_NUMBER(r, tokens), SANDBOX_NUMBER(state, window_tokens),
                       SANDBOX_NUMBER(state, bytes), {"element_bytes", (double)(state.bytes - state.scale_bytes)},
                       SANDBOX_NUMBER(state, scale_bytes),
                       {"bytes_per_token", (double)kvcache_bytes_per_token(&r.cache)}, SANDBOX_NUMBER(state, pages),
                       SANDBOX_NUMBER(state, last_page_tokens), SANDBOX_NUMBER(state, page_bytes));

  return 1;
}

/* ---- warp: one memory instruction of 32 lanes, what it costs in global and in shared memory ---------------------- */

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

const luaL_Reg LIBRARY_MACHINE[] = {
    {"gpu", machine_gpu}, {"kvcache", machine_kvcache}, {"warp", machine_warp}, {NULL, NULL}};
