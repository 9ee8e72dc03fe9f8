/* Functions over machines and memories: gpu, kvcache. */
#include "lessons/engine/expression_sandbox.h"

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

const luaL_Reg LIBRARY_MACHINE[] = {{"gpu", machine_gpu}, {"kvcache", machine_kvcache}, {NULL, NULL}};
