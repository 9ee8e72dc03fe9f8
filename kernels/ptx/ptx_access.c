/* Requests whose shape is new, that go to more than one buffer, to local memory, through generic addresses, or are
 * watched. */
#include <stdio.h>
#include <string.h>

#include "kernels/ptx/ptx_async.h"
#include "kernels/ptx/ptx_locate.h"

static uint64_t lane_address(const Request *r, const char *base, int l) {
  const uint64_t address = lane_get(base, r->wide, l) + (uint64_t)r->offset;
  return r->space == SPACE_SHARED ? (uint32_t)address : address;
}

static bool is_matrix(const Request *r) { return r->ins->op == O_LDMATRIX || r->ins->op == O_STMATRIX; }

static void count_shape(Shape *p, const Request *r, const uint64_t address[LANES], uint32_t mask) {
  p->sectors = p->wavefronts = p->groups = 0;
  if (is_matrix(r)) {
    p->groups = r->ins->vec;
    p->wavefronts = site_matrix_wavefronts(address, r->ins->vec);
  } else if (r->space == SPACE_SHARED) {
    p->wavefronts = site_wavefronts(address, mask, r->bytes, &p->groups);
  } else {
    p->sectors = site_sectors(address, mask, r->bytes);
  }
}

void access_shape(Shape *p, const Request *r, const char *base, uint32_t mask, uint64_t first) {
  uint64_t address[LANES];
  uint32_t *narrow = (uint32_t *)p->delta, odd = 0;
  bool contiguous = mask == ~0u, broadcast = mask == ~0u, far = false, whole_sectors = true;
  *p = (Shape){.mask = mask, .low = (uint32_t)(first & 31)};
  FOR_LANES (l, mask) {
    address[l] = lane_address(r, base, l);
    const uint64_t d = r->wide ? address[l] - first : (uint32_t)address[l] - (uint32_t)first;
    const int64_t delta = r->wide ? (int64_t)d : (int32_t)(uint32_t)d;
    if (r->wide)
      p->delta[l] = d;
    else
      narrow[l] = (uint32_t)d;
    far |= delta > (1 << 30) || delta < -(1 << 30);
    p->offset[l] = (int32_t)delta;
    if (delta < p->min) p->min = delta;
    if (delta > p->max) p->max = delta;
    odd |= (uint32_t)delta & r->align;
    contiguous &= delta == (int64_t)l * r->bytes;
    broadcast &= delta == 0;
    whole_sectors &= (delta & 31) == 0;
  }
  p->max += r->bytes;
  p->misaligned = odd;
  p->kind = far ? SHAPE_FAR : contiguous ? SHAPE_CONTIGUOUS : broadcast ? SHAPE_BROADCAST : SHAPE_GATHER;
  p->any_low = r->space == SPACE_SHARED ? r->bytes >= 4 : whole_sectors;
  if (r->counted) count_shape(p, r, address, mask);
}

bool access_is_global(const Request *r, uint64_t address) {
  return r->space == SPACE_GLOBAL || (r->space == SPACE_GENERIC && address >= MODULE_BASE);
}

void access_zero(Run *run, Warp *w, const Ins *i, uint32_t mask) {
  char *R = run->arena + w->file;
  FOR_LANES (l, mask) {
    for (int e = 0; e < i->vec; e++) lane_set(R + run->kernel->lists[i->ext + e], i->mode & MODE_LONG, l, 0);
  }
}

uint32_t ptx_wavefronts(const PtxSeen *seen, const uint64_t address[32], uint32_t *conflicts) {
  uint32_t groups = (uint32_t)seen->matrices;
  const uint32_t n = seen->matrices ? site_matrix_wavefronts(address, seen->matrices)
                                    : site_wavefronts(address, seen->mask, seen->bytes, &groups);
  *conflicts = n - groups;
  return n;
}

static void tell(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, uint64_t address[LANES],
                 uint32_t mask) {
  const uint64_t first = address[__builtin_ctz(mask)];
  const bool window = r->space == SPACE_GENERIC && first - SHARED_WINDOW < WINDOW_BYTES;
  PtxSeen seen = {.pc = pc,
                  .warp = w->index,
                  .bytes = r->bytes,
                  .block = b->index,
                  .mask = mask,
                  .store = r->kind == PTX_STORE || r->kind == PTX_ATOMIC,
                  .shared = r->space == SPACE_SHARED || window,
                  .matrices = is_matrix(r) ? r->ins->vec : 0,
                  .barriers = run->barriers,
                  .address = address};
  if (!seen.shared && !access_is_global(r, first)) return;
  FOR_LANES (l, window ? mask : 0) {
    address[l] -= SHARED_WINDOW;
  }
  if (seen.shared)
    seen.wavefronts = ptx_wavefronts(&seen, address, &seen.conflicts);
  else
    seen.sectors = site_sectors(address, mask, r->bytes);
  run->launch->witness(run->launch->witness_context, &seen);
}

bool access_follow(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, const char *base,
                   uint32_t mask) {
  const bool reads = r->kind == PTX_LOAD || r->kind == PTX_COPY_READ;
  uint64_t address[LANES] = {0};
  if (!run->is_followed) return false;
  FOR_LANES (l, mask) {
    address[l] = lane_get(base, r->wide, l) + (uint64_t)r->offset;
    if (reads || !run->watch || run->watch - address[l] >= (uint64_t)r->bytes) continue;
    run->result->watch_pc = pc;
    run->result->watch_block = b->index;
    run->result->watch_thread = 32 * w->index + l;
  }
  const bool caches = run->cache && access_is_global(r, address[__builtin_ctz(mask)]);
  if (caches)
    ptx_l1_request(run->cache, run, b->sm,
                   reads                   ? PTX_READ_SECTORS
                   : r->kind == PTX_ATOMIC ? PTX_REDUCE_SECTORS
                                           : PTX_WRITE_SECTORS,
                   reads && !(r->ins->mode & MODE_PAST_L1), address, mask, r->bytes);
  if (run->launch->witness) tell(run, b, w, pc, r, address, mask);
  return caches;
}

/* ---- slowly ---- */

static bool fails_at(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, int l, uint64_t address) {
  const bool shared = r->space == SPACE_SHARED || address - SHARED_WINDOW < WINDOW_BYTES;
  char where[160];
  const Buffer *before = NULL;
  for (int32_t k = 0; k < run->n_buffers; k++)
    if (run->buffers[k].address <= address) before = &run->buffers[k];
  const char *of = before && before->argument >= 0 ? run->launch->arguments[before->argument].name : NULL,
             *name = of                                ? of
                     : before && before->argument >= 0 ? "an argument"
                                                       : "the module's variables";
  const int64_t past = before ? (int64_t)(address - before->address - before->bytes) : 0;
  if (address & r->align)
    snprintf(where, sizeof where, "%d bytes at an address that is no multiple of %d", r->bytes, r->bytes);
  else if (shared)
    snprintf(where, sizeof where, "shared memory at byte %lld; the block has %lld bytes",
             (long long)(address & (WINDOW_BYTES - 1)), (long long)run->shared_bytes);
  else if (r->space == SPACE_LOCAL || address - LOCAL_WINDOW < WINDOW_BYTES)
    snprintf(where, sizeof where, "outside its local memory");
  else if (!before)
    snprintf(where, sizeof where, "address 0x%llx, which is in no argument", (unsigned long long)address);
  else if (past < 0)
    snprintf(where, sizeof where, "%d bytes across the end of %.100s", r->bytes, name);
  else
    snprintf(where, sizeof where, "%lld bytes past the end of %.100s", (long long)past, name);
  return run_fails(run, pc, "thread %d of block %lld %s %s", 32 * w->index + l, (long long)b->index,
                   r->kind == PTX_LOAD || r->kind == PTX_COPY_READ ? "reads" : "writes", where);
}

/* Where a lane's bytes lie; NULL: nowhere. *space: what the address is of. */
static char *lane_host(Run *run, const Block *b, const Warp *w, const Request *r, int l, uint64_t *address,
                       int32_t *space) {
  const uint64_t bytes = (uint64_t)r->bytes;
  *space = r->space;
  if (*space == SPACE_GENERIC) {
    if (*address - SHARED_WINDOW < WINDOW_BYTES)
      *space = SPACE_SHARED, *address -= SHARED_WINDOW;
    else if (*address - LOCAL_WINDOW < WINDOW_BYTES)
      *space = SPACE_LOCAL, *address -= LOCAL_WINDOW;
    else if (*address - PARAM_WINDOW < WINDOW_BYTES)
      *space = SPACE_PARAM, *address -= PARAM_WINDOW;
    else
      *space = SPACE_GLOBAL;
  }
  if (*address & r->align) return NULL;
  switch (*space) {
  case SPACE_SHARED: return shared_at(run, b, *address, bytes, NULL, NULL);
  case SPACE_LOCAL: {
    const uint64_t each = (uint64_t)run->kernel->local_bytes;
    return *address + bytes <= each && *address < each ? run->arena + w->local + (uint64_t)l * each + *address : NULL;
  }
  case SPACE_PARAM:
    return *address + bytes <= (uint64_t)run->parameter_bytes && *address < PTX_MAX_PARAMETER_BYTES
               ? (char *)run->parameters + *address
               : NULL;
  default: {
    const Buffer *buffer = run_buffer(run, *address, bytes);
    return buffer && !(buffer->read_only && r->kind != PTX_LOAD && r->kind != PTX_COPY_READ)
               ? buffer->host + (*address - buffer->address)
               : NULL;
  }
  }
}

char *access_generic(Run *run, const Block *b, const Warp *w, int lane, uint64_t address, int32_t bytes) {
  const Request r = {true, SPACE_GENERIC, bytes, 0, 0, 0, PTX_LOAD, false, NULL};
  int32_t space;
  return lane_host(run, b, w, &r, lane, &address, &space);
}

/* All lanes in one buffer: the site remembers it. */
static bool in_one_buffer(Run *run, const Request *r, Where *where) {
  const Shape *p = where->shape;
  if ((r->space != SPACE_GLOBAL && r->space != SPACE_CONST && r->space != SPACE_GENERIC) || p->kind == SHAPE_FAR ||
      p->misaligned || (where->first & r->align))
    return false;
  const Buffer *buffer = run_buffer(run, where->first + (uint64_t)p->min, (uint64_t)(p->max - p->min));
  if (!buffer || (buffer->read_only && r->kind != PTX_LOAD && r->kind != PTX_COPY_READ)) return false;
  Site *s = &run->sites[r->site];
  s->low = buffer->address, s->high = buffer->address + buffer->bytes;
  s->bias = (uintptr_t)buffer->host - (uintptr_t)buffer->address;
  where->host = (char *)(s->bias + (uintptr_t)where->first);
  where->split = false;
  return !run->shadow; /* else the shadow looks on */
}

bool access_in_order(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, uint32_t mask,
                     const Where *where) {
  const Ins *i = r->ins;
  const bool stores = r->kind == PTX_STORE && i->op == O_ST;
  if (!stores && r->kind != PTX_LOAD && r->kind != PTX_COPY_READ) return false;
  if (!r->counted) return true;
  const PtxPlain access = {.pc = pc,
                           .warp = w->index,
                           .bytes = r->bytes,
                           .block = b->index,
                           .mask = mask,
                           .global = r->space != SPACE_SHARED,
                           .stores = stores,
                           .one_place = where->shape->kind == SHAPE_BROADCAST,
                           .side_by_side = where->shape->kind == SHAPE_CONTIGUOUS,
                           .first = r->space == SPACE_SHARED ? (uint32_t)where->first : where->first,
                           .offset = where->shape->offset};
  return ptx_shadow_plain(run->shadow, &access);
}

/* Local memory is interleaved: word w of lane l lies at 128 w + 4 l. */
static uint32_t local_sectors(const uint64_t address[LANES], uint32_t mask, int32_t bytes) {
  uint64_t physical[LANES];
  uint32_t sum = 0;
  for (int32_t at = 0; at < bytes; at += 4) {
    FOR_LANES (l, mask) {
      physical[l] = (address[l] + (uint64_t)at) / 4 * 128 + 4 * (uint64_t)l;
    }
    sum += site_sectors(physical, mask, 4);
  }
  return sum;
}

static void count_split(Run *run, int32_t pc, const Request *r, int32_t space, const Shape *p,
                        const uint64_t address[LANES], uint32_t mask) {
  PtxCounts *c = &run->result->counts[pc];
  uint32_t groups = 0;
  const bool is_atomic = r->ins->op == O_ATOM; /* its sectors are counted where it is done */
  c->requests++;
  if (r->space == SPACE_GENERIC) run->result->kinds[pc] = run_kind(r->ins, space);
  if (r->space == SPACE_SHARED || r->space == SPACE_GLOBAL) { /* its shape has the counts */
    c->sectors += is_atomic ? 0 : p->sectors, c->wavefronts += p->wavefronts, c->conflicts += p->wavefronts - p->groups;
  } else if (is_matrix(r)) {
    groups = r->ins->vec;
    const uint32_t wavefronts = site_matrix_wavefronts(address, r->ins->vec);
    c->wavefronts += wavefronts, c->conflicts += wavefronts - groups;
  } else if (space == SPACE_SHARED) {
    const uint32_t wavefronts = site_wavefronts(address, mask, r->bytes, &groups);
    c->wavefronts += wavefronts, c->conflicts += wavefronts - groups;
  } else if (!is_atomic) {
    c->sectors += space == SPACE_LOCAL ? local_sectors(address, mask, r->bytes) : site_sectors(address, mask, r->bytes);
  }
}

/* Tells the shadow; leaves out the lanes that it refuses. */
static void watch(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, int32_t space,
                  const uint64_t address[LANES], uint32_t mask, Where *where) {
  PtxAccess a = {.pc = pc, .kind = r->kind, .block = b->index, .warp = w->index, .mask = mask, .bytes = r->bytes};
  unsigned char values[LANES][32];
  a.space = space == SPACE_SHARED ? PTX_SPACE_SHARED : space == SPACE_LOCAL ? PTX_SPACE_LOCAL : PTX_SPACE_GLOBAL;
  a.memory = space == SPACE_SHARED  ? (const unsigned char *)run->arena + b->shared
             : space == SPACE_LOCAL ? (const unsigned char *)run->arena + w->local
                                    : NULL;
  FOR_LANES (l, mask) {
    a.address[l] = address[l];
    if (r->kind != PTX_STORE || r->ins->op != O_ST) continue;
    const Ins *i = r->ins;
    const char *R = run->arena + w->file;
    for (int e = 0; e < i->vec; e++) {
      const char *from = R + run->kernel->lists[i->ext + e];
      memcpy(values[l] + e * i->bytes, i->mode & MODE_LONG ? from + 8 * l : from + 4 * l, i->bytes);
    }
    a.value[l] = values[l];
  }
  where->mask &= ptx_shadow_access(run->shadow, &a);
}

bool access_slowly(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, const char *base,
                   uint32_t mask, Where *where) {
  uint64_t address[LANES];
  int32_t space = r->space, first_space = -1;
  if (in_one_buffer(run, r, where)) return true;
  where->split = true, where->mask = mask;
  FOR_LANES (l, mask) {
    const uint64_t as_given = lane_address(r, base, l);
    address[l] = as_given;
    where->lane[l] = lane_host(run, b, w, r, l, &address[l], &space);
    if (first_space < 0) first_space = space;
    if (where->lane[l]) continue;
    const bool told = run->shadow && !(as_given & r->align) &&
                      (space == SPACE_GLOBAL || space == SPACE_SHARED); /* the shadow names it */
    if (!told) return fails_at(run, b, w, pc, r, l, as_given);
    where->mask &= ~(1u << l);
  }
  if (r->counted) count_split(run, pc, r, first_space, where->shape, address, mask);
  if (run->shadow && (r->counted || r->kind == PTX_COPY_WRITE))
    watch(run, b, w, pc, r, first_space, address, mask, where);
  return true;
}

bool access_locate(Run *run, const Block *b, const Warp *w, int32_t pc, const Request *r, const char *base,
                   uint32_t mask, Where *where) {
  uint32_t M[LANES];
  for (int l = 0; l < LANES; l++) M[l] = 0u - (mask >> l & 1);
  return locate(run, b, w, pc, r, base, mask, M, &run->result->counts[pc], where);
}
