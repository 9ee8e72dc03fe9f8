/* Bulk copies: bytes in a row, and boxes of a tensor that a tensor map describes.
 *
 * A box lies in shared memory as rows of its first dimension, one behind the other. Swizzled, the 16-byte pieces of
 * its rows change places: with a span of 128 bytes bits 4 to 6 of a piece's address are xored with bits 7 to 9, of 64
 * bits 4 and 5 with bits 7 and 8, of 32 bit 4 with bit 7. What lies outside the tensor arrives as zeros (or NaNs), is
 * not written, and counts at the mbarrier as what lies inside. Source: PTX ISA, "Tensors". Refused: im2col,
 * interleaved layouts, strides of elements. */
#include <string.h>

#include "kernels/ptx/ptx_async.h"

/* ---- tensor maps ---- */

enum { MAP_MARK = 0x54574d50 };

typedef struct { /* what lies in the 128 bytes */
  uint64_t address, strides[5];
  uint32_t mark, sizes[5];
  uint16_t box[5];
  uint8_t rank, type, swizzle, nans;
} MapBytes;
_Static_assert(sizeof(MapBytes) <= PTX_TENSOR_MAP_BYTES, "a tensor map is larger");

static const struct {
  const char *name;
  uint8_t type;
} MAP_TYPES[] = {{"u8", T_U8},   {"u16", T_U16}, {"u32", T_U32}, {"s32", T_S32}, {"u64", T_U64},
                 {"s64", T_S64}, {"f16", T_F16}, {"f32", T_F32}, {"f64", T_F64}, {"bf16", T_BF16}};

static Status map_refuses(Error *error, const char *what, long long is, const char *right) {
  return error_refuse(error, "a tensor map's %s is %lld; %s is right", what, is, right);
}

Status ptx_tensor_map(const PtxTensorMap *map, unsigned char bytes[PTX_TENSOR_MAP_BYTES], Error *error) {
  MapBytes b = {.mark = MAP_MARK, .address = map->address, .rank = (uint8_t)map->rank, .nans = map->nans};
  if (map->rank < 1 || map->rank > 5) return map_refuses(error, "rank", map->rank, "1 to 5");
  for (size_t k = 0; k < sizeof MAP_TYPES / sizeof *MAP_TYPES; k++)
    if (map->type && !strcmp(map->type, MAP_TYPES[k].name)) b.type = MAP_TYPES[k].type;
  if (!b.type)
    return error_refuse(error,
                        "a tensor map of '%s'; u8, u16, u32, s32, u64, s64, f16, bf16, f32 and "
                        "f64 are right",
                        map->type ? map->type : "");
  if (map->address % 16) return map_refuses(error, "address", (long long)map->address, "a multiple of 16");
  if (map->swizzle_bytes != 0 && map->swizzle_bytes != 32 && map->swizzle_bytes != 64 && map->swizzle_bytes != 128)
    return map_refuses(error, "swizzle", map->swizzle_bytes, "0, 32, 64 or 128");
  b.swizzle = (uint8_t)map->swizzle_bytes;
  const int32_t element = ptx_type_bytes[b.type];
  for (int32_t k = 0; k < map->rank; k++) {
    const int64_t stride = k ? map->strides_bytes[k] : element;
    if (map->sizes[k] < 1 || map->sizes[k] > UINT32_MAX)
      return map_refuses(error, "size", map->sizes[k], "1 to 4294967295");
    if (map->box[k] < 1 || map->box[k] > 256) return map_refuses(error, "box", map->box[k], "1 to 256");
    if (k && (stride % 16 || stride < 0 || stride >= (int64_t)1 << 40))
      return map_refuses(error, "stride", stride, "a multiple of 16 below 2^40");
    b.sizes[k] = (uint32_t)map->sizes[k], b.box[k] = (uint16_t)map->box[k], b.strides[k] = (uint64_t)stride;
  }
  const int32_t inner = map->box[0] * element;
  if (inner % 16) return map_refuses(error, "box's row in bytes", inner, "a multiple of 16");
  if (b.swizzle && inner != b.swizzle) return map_refuses(error, "box's row in bytes", inner, "what is swizzled");
  memset(bytes, 0, PTX_TENSOR_MAP_BYTES);
  memcpy(bytes, &b, sizeof b);
  return STATUS_OK;
}

/* ---- one copy ---- */

typedef struct {
  Run *run;
  Block *b;
  Warp *w;
  const Ins *i;
  int32_t pc, lane, mode;
  uint8_t type; /* of a reduction; T_NONE: a copy */
  bool again;   /* for one more block: memory is read once */
} Copy;

static uint64_t operand(const Copy *c, int32_t which) {
  const char *R = c->run->arena + c->w->file;
  const int32_t *list = c->run->kernel->lists + c->i->ext;
  const char *vector = R + list[which];
  if (which >= BULK_MASK) return lane_get(vector, false, c->lane);
  return lane_get(vector, list[which + 2], c->lane) + (uint64_t)(int64_t)list[which + 1];
}

static bool fails(const Copy *c, const char *what, uint64_t at) {
  return run_fails(c->run, c->pc, "thread %lld of block %lld %s (0x%llx)", (long long)(32 * c->w->index + c->lane),
                   (long long)c->b->index, what, (unsigned long long)at);
}

/* Tells the shadow of up to 32 pieces of 16 bytes. */
static bool tell(const Copy *c, PtxSpace space, PtxAccessKind kind, PtxAsync async, uint64_t barrier, uint64_t at,
                 uint64_t bytes) {
  if (!c->run->shadow) return true;
  for (uint64_t done = 0; done < bytes;) {
    PtxAccess a = {.pc = c->pc,
                   .space = space,
                   .kind = kind,
                   .block = c->b->index,
                   .warp = c->w->index,
                   .bytes = 16,
                   .async = async,
                   .lane1 = c->lane + 1,
                   .barrier = barrier};
    a.memory = space == PTX_SPACE_SHARED ? (const unsigned char *)c->run->arena + c->b->shared : NULL;
    for (int k = 0; k < LANES && done < bytes; k++, done += 16) a.mask |= 1u << k, a.address[k] = at + done;
    if (ptx_shadow_access(c->run->shadow, &a) != a.mask) return false;
  }
  return true;
}

/* Bytes of global memory; NULL: the run has failed, or (faults) they are told and left out. */
static char *global_at(Copy *c, uint64_t at, uint64_t bytes, bool *left_out) {
  const Buffer *buffer = run_buffer(c->run, at, bytes);
  const bool stores = c->mode == BULK_STORES;
  *left_out = false;
  if (c->run->shadow) {
    const PtxAccessKind kind = !stores ? PTX_COPY_READ : c->type ? PTX_ATOMIC : PTX_STORE;
    *left_out = !tell(c, PTX_SPACE_GLOBAL, kind, PTX_ASYNC_GROUP, 0, at, bytes) || !buffer;
    if (*left_out) return NULL;
  }
  if (buffer && !(buffer->read_only && stores)) return buffer->host + (at - buffer->address);
  fails(c, buffer ? "copies to an argument that is const" : "copies from or to global memory that is in no argument",
        at);
  return NULL;
}

static void count(Copy *c, uint64_t at, uint64_t bytes) {
  PtxTotals *t = &c->run->result->totals;
  const bool stores = c->mode == BULK_STORES;
  if (c->again) return;
  *(stores ? &t->bulk_write_bytes : &t->bulk_read_bytes) += bytes;
  c->run->result->counts[c->pc].sectors += ((at + bytes - 1) >> 5) - (at >> 5) + 1;
  if (c->run->cache)
    ptx_l1_bulk(c->run->cache, c->run, c->b->sm,
                c->type  ? PTX_REDUCE_SECTORS
                : stores ? PTX_WRITE_SECTORS
                         : PTX_READ_SECTORS,
                at, bytes);
}

static void combine(const Copy *c, char *to, const char *from, uint64_t bytes) {
  const uint64_t each = ptx_type_bytes[c->type];
  for (uint64_t at = 0; at < bytes; at += each) {
    uint64_t old = 0, value = 0;
    memcpy(&old, to + at, (size_t)each);
    memcpy(&value, from + at, (size_t)each);
    value = atomic_combine(c->type, c->i->bytes, old, value, 0);
    memcpy(to + at, &value, (size_t)each);
  }
}

static void put(const Copy *c, char *to, const char *from, uint64_t bytes) {
  if (c->type)
    combine(c, to, from, bytes);
  else
    memcpy(to, from, (size_t)bytes);
}

/* Bytes in a row, to or from `shared` of this block or another. */
static bool copy_row(Copy *c, uint64_t global, char *shared, uint64_t bytes) {
  bool left_out;
  char *g = global_at(c, global, bytes, &left_out);
  if (!g) return left_out;
  if (c->mode == BULK_STORES)
    put(c, g, shared, bytes);
  else
    memcpy(shared, g, (size_t)bytes);
  count(c, global, bytes);
  return true;
}

/* One row of a box: `first` is its first element's place in the first dimension. */
static bool copy_box_row(Copy *c, const MapBytes *map, uint64_t global, bool inside, int64_t first, char *base,
                         uint64_t shared) {
  const int64_t each = ptx_type_bytes[map->type], n = map->box[0];
  const int64_t begin = first < 0 ? -first < n ? -first : n : 0;
  int64_t end = (int64_t)map->sizes[0] - first < n ? (int64_t)map->sizes[0] - first : n;
  if (end < begin || !inside) end = begin;
  char row[256 * 8], *g = NULL;
  bool left_out = true;
  const uint64_t at = global + (uint64_t)((first + begin) * each), bytes = (uint64_t)((end - begin) * each);
  if (bytes && !(g = global_at(c, at, bytes, &left_out)) && !left_out) return false;
  if (c->mode == BULK_STORES) {
    for (int64_t p = 0; p < n * each; p += 16) memcpy(row + p, base + swizzled(shared + (uint64_t)p, map->swizzle), 16);
    if (g) put(c, g, row + begin * each, bytes);
  } else {
    memset(row, 0, (size_t)(n * each));
    if (map->nans && (map->type == T_F16 || map->type == T_BF16 || map->type == T_F32 || map->type == T_F64))
      memset(row, 0xff, (size_t)(n * each));
    if (g) memcpy(row + begin * each, g, (size_t)bytes);
    for (int64_t p = 0; p < n * each; p += 16) memcpy(base + swizzled(shared + (uint64_t)p, map->swizzle), row + p, 16);
  }
  if (g) count(c, at, bytes);
  return true;
}

/* A box, to or from byte `shared` of the memory that begins at `base`. */
static bool copy_box(Copy *c, const MapBytes *map, char *base, uint64_t shared) {
  int64_t at[5] = {0};
  int64_t rows = 1;
  for (int32_t k = 0; k < map->rank; k++) {
    at[k] = (int32_t)(uint32_t)operand(c, BULK_AT + k);
    if (k) rows *= map->box[k];
  }
  for (int64_t row = 0; row < rows; row++) {
    uint64_t global = map->address;
    bool inside = true;
    int64_t rest = row;
    for (int32_t k = 1; k < map->rank; k++) {
      const int64_t x = at[k] + rest % map->box[k];
      rest /= map->box[k];
      inside &= x >= 0 && x < (int64_t)map->sizes[k];
      if (inside) global += (uint64_t)x * map->strides[k];
    }
    const uint64_t row_bytes = (uint64_t)map->box[0] * ptx_type_bytes[map->type];
    if (!copy_box_row(c, map, global, inside, at[0], base, shared + (uint64_t)row * row_bytes)) return false;
  }
  return true;
}

static bool tensor_map_of(const Copy *c, MapBytes *map, uint64_t *bytes) {
  const uint64_t at = operand(c, c->mode == BULK_STORES ? BULK_TO : BULK_FROM);
  const char *host = access_generic(c->run, c->b, c->w, c->lane, at, PTX_TENSOR_MAP_BYTES);
  if (at % 64 || !host) return fails(c, "names a tensor map that is no 128 bytes at a multiple of 64", at);
  memcpy(map, host, sizeof *map);
  if (map->mark != MAP_MARK || map->rank < 1 || map->rank > 5 || map->type >= T_B128)
    return fails(c, "names a tensor map that is none", at);
  if (map->rank != c->i->vec) return fails(c, "names a tensor map of another number of dimensions", at);
  *bytes = ptx_type_bytes[map->type];
  for (int32_t k = 0; k < map->rank; k++) {
    if (map->box[k] < 1 || map->box[k] > 256) return fails(c, "names a tensor map that is none", at);
    *bytes *= map->box[k];
  }
  const int32_t row = ptx_type_bytes[map->type] * map->box[0];
  return (*bytes && row % 16 == 0 && (!map->swizzle || row == map->swizzle)) ||
         fails(c, "names a tensor map that is none", at);
}

/* The copy in the shared memory of block `to`, and its bytes at the barrier there. */
static bool copy_into(Copy *c, const MapBytes *map, uint64_t bytes, Block *to, uint64_t shared, uint64_t barrier) {
  char *base = c->run->arena + to->shared;
  if (c->run->shadow && to == c->b)
    ptx_shadow_mbarrier(c->run->shadow, PTX_MBARRIER_COPY, c->b->index, 32 * c->w->index + c->lane, c->pc, barrier);
  if (to == c->b && !tell(c, PTX_SPACE_SHARED, PTX_COPY_WRITE, PTX_ASYNC_BARRIER, barrier, shared, bytes)) return true;
  if (!(map ? copy_box(c, map, base, shared) : copy_row(c, operand(c, BULK_FROM), base + shared, bytes))) return false;
  const uint64_t rank = (uint64_t)(to->rank + 1) << RANK_SHIFT;
  return mbarrier_bytes(c->run, c->b, c->w, c->pc, rank | barrier, (int64_t)bytes);
}

static bool load(Copy *c, const MapBytes *map, uint64_t bytes) {
  Block *owner, *signalled;
  uint64_t shared, barrier;
  const int32_t *list = c->run->kernel->lists + c->i->ext;
  const uint64_t to = operand(c, BULK_TO);
  if (to % (map ? 128 : 16) || !shared_at(c->run, c->b, to, bytes, &owner, &shared))
    return fails(c,
                 map ? "copies a box to where shared memory ends, or to no multiple of 128"
                     : "copies to where shared memory ends, or to no multiple of 16",
                 to);
  if (!shared_at(c->run, c->b, operand(c, BULK_BARRIER), 8, &signalled, &barrier))
    return fails(c, "counts at an mbarrier outside shared memory", operand(c, BULK_BARRIER));
  if (list[BULK_MASK] < 0) return copy_into(c, map, bytes, owner, shared, barrier);
  const uint32_t mask = (uint32_t)operand(c, BULK_MASK) & 0xffff;
  const int32_t n = c->run->cluster[0] * c->run->cluster[1] * c->run->cluster[2];
  if (mask >> n) return fails(c, "copies to blocks that its cluster has not", mask);
  for (int32_t r = 0; r < n; r++) {
    if (!(mask >> r & 1)) continue;
    if (!copy_into(c, map, bytes, &c->run->blocks[c->b->cluster_first + r], shared, barrier)) return false;
    c->again = true;
  }
  return true;
}

static bool store(Copy *c, const MapBytes *map, uint64_t bytes) {
  Block *owner;
  uint64_t shared;
  const uint64_t from = operand(c, BULK_FROM);
  if (from % (map ? 128 : 16) || !shared_at(c->run, c->b, from, bytes, &owner, &shared) || owner != c->b)
    return fails(c,
                 map ? "copies a box from where shared memory ends, or from no multiple of 128"
                     : "copies from where shared memory ends, or from no multiple of 16",
                 from);
  tell(c, PTX_SPACE_SHARED, PTX_LOAD, PTX_ASYNC_GROUP, 0, shared, bytes);
  char *base = c->run->arena + owner->shared;
  return map ? copy_box(c, map, base, shared) : copy_row(c, operand(c, BULK_TO), base + shared, bytes);
}

static bool move(Copy *c, uint64_t bytes) { /* from this block's shared memory to another's */
  Block *from, *to, *signalled;
  uint64_t source, target, barrier;
  const char *p = shared_at(c->run, c->b, operand(c, BULK_FROM), bytes, &from, &source);
  char *q = shared_at(c->run, c->b, operand(c, BULK_TO), bytes, &to, &target);
  if (!p || !q || source % 16 || target % 16)
    return fails(c, "copies between places that are not in shared memory, or no multiples of 16", operand(c, BULK_TO));
  if (!shared_at(c->run, c->b, operand(c, BULK_BARRIER), 8, &signalled, &barrier))
    return fails(c, "counts at an mbarrier outside shared memory", operand(c, BULK_BARRIER));
  if (c->type)
    combine(c, q, p, bytes);
  else
    memmove(q, p, (size_t)bytes);
  return mbarrier_bytes(c->run, c->b, c->w, c->pc, operand(c, BULK_BARRIER), (int64_t)bytes);
}

static bool copy(Copy *c) {
  MapBytes map;
  uint64_t bytes = 0;
  const bool tensor = c->i->vec > 0;
  c->type = c->i->bytes == BULK_NO_REDUCTION ? T_NONE : c->i->type;
  if (tensor) {
    if (!tensor_map_of(c, &map, &bytes)) return false;
    if (c->i->bytes != BULK_NO_REDUCTION) c->type = map.type;
  } else {
    bytes = operand(c, BULK_SIZE);
    if (bytes % 16) return fails(c, "copies a number of bytes that is no multiple of 16", bytes);
    const uint64_t global = operand(c, c->mode == BULK_STORES ? BULK_TO : BULK_FROM);
    if (c->mode != BULK_MOVES && global % 16) return fails(c, "copies from or to no multiple of 16", global);
    if (!bytes) return true;
  }
  switch (c->mode) {
  case BULK_LOADS: return load(c, tensor ? &map : NULL, bytes);
  case BULK_STORES: return store(c, tensor ? &map : NULL, bytes);
  default: return move(c, bytes);
  }
}

StepResult bulk_step(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask) {
  const Ins *i = &run->code[pc];
  FOR_LANES (l, mask) {
    Copy c = {.run = run, .b = b, .w = w, .i = i, .pc = pc, .lane = l, .mode = i->mode};
    if (!copy(&c)) return STEP_ERROR;
  }
  return run->cache && i->mode != BULK_MOVES ? STEP_REQUEST : STEP_NEXT;
}
