/* Instructions that are rare beside arithmetic: what a warp does together, atomics, matrices, copies, barriers. */

#include "kernels/ptx/ptx_access.h"
#include "kernels/ptx/ptx_numbers.h"
#include "sim/numbers/precision.h"

static void set_lanes(const Ins *i, char *R, uint32_t mask, bool wide, uint64_t value) {
  FOR_LANES (l, mask) {
    lane_set(R + i->d, wide, l, value);
  }
}

static void set_predicate(uint32_t *p, uint32_t mask, uint32_t value) { *p = (*p & ~mask) | (value & mask); }

/* ---- lanes that must be there ---- */

bool warp_can_resume(const Warp *w) {
  int32_t n = 0;
  for (int32_t k = 0; k < w->n_wait; k++) n += w->wait[k].wait == WAIT_WARP;
  return n && (n == w->n_wait || w->gives_in);
}

bool warp_resume(Warp *w) {
  int32_t pc = INT32_MAX;
  if (!warp_can_resume(w)) return false;
  w->gives_in = false;
  for (int32_t k = 0; k < w->n_wait; k++)
    if (w->wait[k].wait == WAIT_WARP && w->wait[k].pc < pc) pc = w->wait[k].pc;
  if (pc == INT32_MAX) return false;
  uint32_t mask = 0;
  for (int32_t k = 0; k < w->n_wait;) {
    if (w->wait[k].wait == WAIT_WARP && w->wait[k].pc == pc) {
      mask |= w->wait[k].mask;
      w->wait[k] = w->wait[--w->n_wait];
    } else {
      k++;
    }
  }
  w->run[w->n_run++] = (Fragment){pc, mask, 0};
  w->forced = pc;
  return true;
}

bool warp_together(Warp *w, int32_t pc, uint32_t m, uint32_t wanted) {
  const bool forced = w->forced == pc;
  if (forced) w->forced = -1;
  if (forced || !(wanted & w->alive & ~m)) return true;
  warp_park(w, WAIT_WARP, pc, m);
  uint32_t here = 0;
  for (int32_t k = 0; k < w->n_wait; k++)
    if (w->wait[k].wait == WAIT_WARP && w->wait[k].pc == pc) here |= w->wait[k].mask;
  if (!(wanted & w->alive & ~here)) {
    w->gives_in = true; /* all are here */
    warp_resume(w);
  }
  return false;
}

/* The same for the lanes that `members` names. */
static bool together(Warp *w, int32_t pc, uint32_t m, const char *R, int32_t members) {
  uint32_t wanted = 0;
  FOR_LANES (l, w->alive & ~m ? m : 0) { /* else all are here */
    wanted |= lane_word(R, members, l);
  }
  return warp_together(w, pc, m, wanted);
}

int32_t shuffle_source(const Ins *i, const char *R, int l) {
  const uint32_t lane = (uint32_t)l, by = lane_word(R, i->b, l) & 31, c = lane_word(R, i->c, l), segment = c >> 8 & 31,
                 clamp = c & 31;
  const int32_t most = (int32_t)((lane & segment) | (clamp & ~segment)), least = (int32_t)(lane & segment);
  const int32_t j = i->mode == 0   ? l - (int32_t)by
                    : i->mode == 1 ? l + (int32_t)by
                    : i->mode == 2 ? (int32_t)(lane ^ by)
                                   : least | (int32_t)(by & ~segment & 31);
  return (i->mode == 0 ? j >= most : j <= most) ? j : -1;
}

static void shuffle(const Ins *i, char *R, uint32_t *P, uint32_t m) {
  uint32_t from[LANES], found = 0, to[LANES];
  memcpy(from, R + i->a, sizeof from);
  FOR_LANES (l, m) {
    const int32_t j = shuffle_source(i, R, l);
    if (j >= 0) found |= 1u << l;
    to[l] = from[j < 0 ? l : j];
  }
  if (m == ~0u) memcpy(R + i->d, to, sizeof to);
  FOR_LANES (l, m == ~0u ? 0 : m) {
    lane_set(R + i->d, false, l, to[l]);
  }
  if (i->ext >= 0) set_predicate(&P[i->ext], m, found);
}

static void vote(const Ins *i, char *R, uint32_t *P, uint32_t m) {
  const uint32_t value = (i->is_signed ? ~P[i->a] : P[i->a]) & m;
  const uint32_t answer = i->mode == 0 ? value == m : i->mode == 1 ? value != 0 : value == m || value == 0;
  if (i->mode < 3) {
    set_predicate(&P[i->d], m, 0u - answer);
    return;
  }
  set_lanes(i, R, m, false, value);
}

static void match(const Ins *i, char *R, uint32_t *P, uint32_t m) {
  uint64_t v[LANES];
  bool all = true;
  FOR_LANES (l, m) {
    v[l] = lane_get(R + i->a, i->wide, l);
    all &= v[l] == v[__builtin_ctz(m)];
  }
  FOR_LANES (l, m) {
    uint32_t same = 0;
    FOR_LANES (other, m) {
      same |= (uint32_t)(v[other] == v[l]) << other;
    }
    lane_set(R + i->d, false, l, i->mode ? (all ? m : 0) : same);
  }
  if (i->ext >= 0) set_predicate(&P[i->ext], m, all ? ~0u : 0);
}

static void redux(const Ins *i, char *R, uint32_t m) {
  uint32_t r = lane_word(R, i->a, __builtin_ctz(m));
  FOR_LANES (l, m & (m - 1)) {
    const uint32_t v = lane_word(R, i->a, l);
    const bool less = i->type == T_S32 ? (int32_t)v < (int32_t)r : v < r;
    switch (i->mode) {
    case 0: r += v; break;
    case 1: r = less ? v : r; break;
    case 2: r = less ? r : v; break;
    case 3: r &= v; break;
    case 4: r |= v; break;
    default: r ^= v; break;
    }
  }
  set_lanes(i, R, m, false, r);
}

/* ---- atomics ---- */

static uint64_t get(const void *p, int32_t bytes) {
  uint64_t v = 0;
  memcpy(&v, p, (size_t)bytes);
  return v;
}

static uint64_t combine_floats(Type type, int32_t op, uint64_t old, uint64_t b) {
  if (type == T_F16X2 || type == T_BF16X2) {
    const Type half = type == T_F16X2 ? T_F16 : T_BF16;
    return combine_floats(half, op, old & 0xffff, b & 0xffff) | combine_floats(half, op, old >> 16, b >> 16) << 16;
  }
  const Precision format = (Precision)format_of(type);
  const double x = precision_from_bits(format, old), y = precision_from_bits(format, b);
  return precision_to_bits(format, op == ATOM_ADD ? x + y : op == ATOM_MIN ? min_f64(x, y) : max_f64(x, y));
}

uint64_t atomic_combine(int32_t type, int32_t op, uint64_t old, uint64_t b, uint64_t c) {
  if (type == T_F32 && op == ATOM_ADD) return float_bits(bits_float((uint32_t)old) + bits_float((uint32_t)b));
  if (format_of((Type)type) >= 0 && op <= ATOM_MAX) return combine_floats((Type)type, op, old, b);
  const bool is_signed = type == T_S32 || type == T_S64;
  const int64_t so = type == T_S32 ? (int32_t)(uint32_t)old : (int64_t)old,
                sb = type == T_S32 ? (int32_t)(uint32_t)b : (int64_t)b;
  const bool less = is_signed ? sb < so : b < old;
  switch (op) {
  case ATOM_ADD: return old + b;
  case ATOM_MIN: return less ? b : old;
  case ATOM_MAX: return less ? old : b;
  case ATOM_AND: return old & b;
  case ATOM_OR: return old | b;
  case ATOM_XOR: return old ^ b;
  case ATOM_EXCH: return b;
  case ATOM_CAS: return old == b ? c : old;
  case ATOM_INC: return old >= b ? 0 : old + 1;
  default: return old == 0 || old > b ? b : old - 1;
  }
}

static uint64_t operand(const char *R, int32_t place, int32_t bytes, int l) {
  const uint64_t v = lane_get(R + place, bytes == 8, l);
  return bytes == 2 ? v & 0xffff : v;
}

/* All lanes add integers at one place, and nobody asks what was there: one addition of their sum. */
static bool added_at_once(const Ins *i, const char *R, const Where *where) {
  const bool integers = i->type == T_U32 || i->type == T_S32 || i->type == T_U64 || i->type == T_S64;
  if (where->split || where->shape->kind != SHAPE_BROADCAST || i->mode != (ATOM_ADD | ATOM_NO_RESULT) || !integers)
    return false;
  uint64_t sum = 0;
  for (int l = 0; l < LANES; l++) sum += lane_get(R + i->b, i->bytes == 8, l);
  sum += get(where->host, i->bytes);
  memcpy(where->host, &sum, i->bytes);
  return true;
}

static StepResult atomic(Run *run, Block *b, Warp *w, int32_t pc, uint32_t m) {
  const Ins *i = &run->code[pc];
  char *R = run->arena + w->file;
  const Request r = {i->wide, i->space, i->bytes, (uint32_t)i->bytes - 1, i->imm, i->site, PTX_ATOMIC, true, i};
  Where where;
  if (!access_locate(run, b, w, pc, &r, R + i->a, m, &where)) return STEP_ERROR;
  const uint32_t allowed = where.split ? where.mask : m;
  if (access_is_global(&r, where.first)) {
    uint64_t address[LANES];
    FOR_LANES (l, m) {
      address[l] = lane_get(R + i->a, i->wide, l) + (uint64_t)i->imm;
    }
    run->result->counts[pc].sectors += site_atomic_sectors(address, m);
  }
  FOR_LANES (l, added_at_once(i, R, &where) ? 0 : allowed) {
    char *p = where.split ? where.lane[l] : where.host + where.shape->offset[l];
    const uint64_t old = get(p, i->bytes);
    const uint64_t value = atomic_combine(i->type, i->mode & 15, old, operand(R, i->b, i->bytes, l),
                                          (i->mode & 15) == ATOM_CAS ? operand(R, i->c, i->bytes, l) : 0);
    memcpy(p, &value, i->bytes);
    if (!(i->mode & ATOM_NO_RESULT)) lane_set(R + i->d, i->bytes == 8, l, old);
  }
  return access_follow(run, b, w, pc, &r, R + i->a, m) ? STEP_REQUEST : STEP_NEXT;
}

/* ---- cp.async ---- */

static StepResult async_copy(Run *run, Block *b, Warp *w, int32_t pc, uint32_t m) {
  const Ins *i = &run->code[pc];
  char *R = run->arena + w->file;
  uint32_t reading = 0, size[LANES], most = 0;
  FOR_LANES (l, m) {
    size[l] = i->c < 0 ? i->bytes : lane_word(R, i->c, l);
    if (size[l] > i->bytes) size[l] = i->bytes;
    if (size[l]) reading |= 1u << l;
    if (size[l] > most) most = size[l];
  }
  Where from, to;
  const uint32_t align = most & (most - 1) ? 0 : most ? most - 1 : 0;
  const Request read = {true, SPACE_GLOBAL, (int32_t)most, align, i->target, i->site, PTX_COPY_READ, true, i};
  const Request write = {i->wide,        SPACE_SHARED, i->bytes, (uint32_t)i->bytes - 1, i->imm, i->ext,
                         PTX_COPY_WRITE, false,        i};
  if (reading && !access_locate(run, b, w, pc, &read, R + i->b, reading, &from)) return STEP_ERROR;
  if (!access_locate(run, b, w, pc, &write, R + i->a, m, &to)) return STEP_ERROR;
  const uint32_t allowed = !reading ? 0 : from.split ? from.mask : reading;
  FOR_LANES (l, to.split ? to.mask : m) {
    char *p = to.split ? to.lane[l] : to.host + to.shape->offset[l];
    if (allowed >> l & 1)
      memcpy(p, from.split ? from.lane[l] : from.host + from.shape->offset[l], size[l]);
    else
      size[l] = 0;
    memset(p + size[l], 0, i->bytes - size[l]);
  }
  return reading && access_follow(run, b, w, pc, &read, R + i->b, reading) ? STEP_REQUEST : STEP_NEXT;
}

/* ---- barriers ---- */

static StepResult barrier(Run *run, Block *b, Warp *w, int32_t pc, uint32_t m) {
  const Ins *i = &run->code[pc];
  const char *R = run->arena + w->file;
  const int f = __builtin_ctz(m);
  const uint32_t number = lane_word(R, i->a, f), threads = i->b < 0 ? 0 : lane_word(R, i->b, f);
  if (number >= N_BARRIERS) return run_fails(run, pc, "barrier %u: a block has 16, 0 to 15", number);
  Barrier *bar = &b->barriers[number];
  bar->arrived += __builtin_popcount(m);
  bar->expected = (int32_t)(threads < 4096 ? threads : 4096);
  bar->threads[w->index] |= m;
  if (i->op == O_BAR_RED) {
    const uint32_t p = ((const uint32_t *)(R + run->kernel->file_bytes))[i->c];
    bar->count += __builtin_popcount((i->is_signed ? ~p : p) & m);
  }
  if (run->shadow) ptx_shadow_arrive(run->shadow, b->index, (int32_t)number, pc, w->index, m, i->op != O_BAR_ARRIVE);
  if (i->op != O_BAR_ARRIVE) warp_park(w, (int32_t)number, pc + 1, m);
  block_release(run, b);
  return i->op == O_BAR_ARRIVE ? STEP_NEXT : STEP_PARKED;
}

/* ---- the rest ---- */

static StepResult load_parameters(Run *run, Warp *w, int32_t pc, uint32_t m) {
  const Ins *i = &run->code[pc];
  char *R = run->arena + w->file;
  FOR_LANES (l, m) {
    uint64_t at = ((const uint64_t *)(R + i->a))[l] + (uint64_t)i->imm;
    if (at - PARAM_WINDOW < WINDOW_BYTES) at -= PARAM_WINDOW;
    if (at >= (uint64_t)run->parameter_bytes || at + (uint64_t)(i->bytes * i->vec) > (uint64_t)run->parameter_bytes)
      return run_fails(run, pc, "reads outside the parameters, at byte %llu of %lld", (unsigned long long)at,
                       (long long)run->parameter_bytes);
    for (int e = 0; e < i->vec; e++) {
      uint64_t v = get(run->parameters + at + (uint64_t)(e * i->bytes), i->bytes);
      if (i->is_signed) v = (uint64_t)((int64_t)(v << (64 - 8 * i->bytes)) >> (64 - 8 * i->bytes));
      lane_set(R + run->kernel->lists[i->ext + e], i->mode & MODE_LONG, l, i->mode & MODE_SHORT ? v & 0xffff : v);
    }
  }
  return STEP_NEXT;
}

static StepResult branch_indexed(Run *run, Warp *w, int32_t pc, uint32_t m, uint32_t mask) {
  const Ins *i = &run->code[pc];
  const char *R = run->arena + w->file;
  for (uint32_t left = m; left;) {
    const uint32_t index = lane_word(R, i->a, __builtin_ctz(left));
    uint32_t same = 0;
    FOR_LANES (l, left) {
      same |= (uint32_t)(lane_word(R, i->a, l) == index) << l;
    }
    if (index >= (uint64_t)i->imm)
      return run_fails(run, pc, "index %u of a list of %lld labels", index, (long long)i->imm);
    const int32_t target = run->kernel->lists[i->ext + (int32_t)index];
    if (!run_jumps(run, pc, target, same)) return STEP_ERROR;
    w->run[w->n_run++] = (Fragment){target, same, 0};
    left &= ~same;
  }
  if (mask & ~m) w->run[w->n_run++] = (Fragment){pc + 1, mask & ~m, 0};
  return STEP_JUMPED;
}

static uint32_t in_space(const Ins *i, const char *R, uint32_t m) {
  uint32_t found = 0;
  FOR_LANES (l, m) {
    const uint64_t a = ((const uint64_t *)(R + i->a))[l];
    const int32_t space = a - SHARED_WINDOW < WINDOW_BYTES  ? SPACE_SHARED
                          : a - LOCAL_WINDOW < WINDOW_BYTES ? SPACE_LOCAL
                          : a - PARAM_WINDOW < WINDOW_BYTES ? SPACE_PARAM
                                                            : SPACE_GLOBAL;
    if (space == i->space) found |= 1u << l;
  }
  return found;
}

/* Whether the lanes that their masks name are here; a lane that its own mask does not name is told. */
static bool in_masks(Run *run, const Block *b, Warp *w, int32_t pc, uint32_t m, int32_t mask) {
  const char *R = run->arena + w->file;
  FOR_LANES (l, run->shadow ? m : 0) {
    if (!(lane_word(R, mask, l) >> l & 1)) ptx_shadow_outside_mask(run->shadow, b->index, w->index, l, pc);
  }
  return together(w, pc, m, R, mask);
}

StepResult warp_step(Run *run, Block *b, Warp *w, int32_t pc, uint32_t m, uint32_t mask) {
  const Ins *i = &run->code[pc];
  char *R = run->arena + w->file;
  uint32_t *P = (uint32_t *)(R + run->kernel->file_bytes);
  switch (i->op) {
  case O_BRX: return branch_indexed(run, w, pc, m, mask);
  case O_LD_PARAM: return load_parameters(run, w, pc, m);
  case O_ATOM: return atomic(run, b, w, pc, m);
  case O_CP_ASYNC: return async_copy(run, b, w, pc, m);
  case O_CP_COMMIT:
    if (run->shadow) ptx_shadow_commit(run->shadow, i->mode ? PTX_ASYNC_GROUP : PTX_ASYNC_NONE, b->index, w->index, m);
    return STEP_NEXT;
  case O_CP_WAIT:
    if (run->shadow)
      ptx_shadow_wait(run->shadow, i->mode ? PTX_ASYNC_GROUP : PTX_ASYNC_NONE, b->index, w->index, m,
                      (int32_t)(i->imm < 1000 ? i->imm : 1000));
    return STEP_NEXT;
  case O_BAR_SYNC:
  case O_BAR_ARRIVE:
  case O_BAR_RED:
    if (i->wide && !warp_together(w, pc, m, ~0u)) return STEP_PARKED;
    return barrier(run, b, w, pc, m);
  case O_BAR_WARP: {
    if (!in_masks(run, b, w, pc, m, i->a)) return STEP_PARKED;
    uint32_t threads[32] = {0};
    threads[w->index] = m;
    if (run->shadow) ptx_shadow_barrier(run->shadow, b->index, -1, threads);
    return STEP_NEXT;
  }
  case O_SHFL:
    if (!in_masks(run, b, w, pc, m, i->target)) return STEP_PARKED;
    shuffle(i, R, P, m);
    return STEP_NEXT;
  case O_VOTE:
    if (!in_masks(run, b, w, pc, m, i->b)) return STEP_PARKED;
    vote(i, R, P, m);
    return STEP_NEXT;
  case O_MATCH:
    if (!in_masks(run, b, w, pc, m, i->b)) return STEP_PARKED;
    match(i, R, P, m);
    return STEP_NEXT;
  case O_REDUX:
    if (!in_masks(run, b, w, pc, m, i->b)) return STEP_PARKED;
    redux(i, R, m);
    return STEP_NEXT;
  case O_ELECT:
    if (!together(w, pc, m, R, i->a)) return STEP_PARKED;
    set_lanes(i, R, m, false, (uint32_t)__builtin_ctz(m));
    set_predicate(&P[i->ext], m, m & (0u - m));
    return STEP_NEXT;
  case O_ACTIVEMASK: set_lanes(i, R, m, false, m); return STEP_NEXT;
  case O_CLOCK:
    run->clock += 16; /* not time: a count that grows */
    set_lanes(i, R, m, i->mode, run->clock);
    return STEP_NEXT;
  case O_LDMATRIX:
  case O_STMATRIX:
    if (!warp_together(w, pc, m, ~0u)) return STEP_PARKED;
    return matrix_move(run, b, w, pc, i->op == O_LDMATRIX);
  case O_MOVMATRIX:
    if (!warp_together(w, pc, m, ~0u)) return STEP_PARKED;
    matrix_transpose(i, R);
    return STEP_NEXT;
  case O_ISSPACEP: set_predicate(&P[i->d], m, in_space(i, R, m)); return STEP_NEXT;
  case O_PRINT: warp_print(run, b, w, i, m); return STEP_NEXT;
  case O_CVT: warp_convert(i, R, m); return STEP_NEXT;
  case O_LIBRARY: warp_library(run, b, w, i, m); return STEP_NEXT;
  case O_TRAP:
    return run_fails(run, pc, "thread %lld of block %lld runs into a trap", (long long)run_thread(w, m),
                     (long long)b->index);
  case O_ASSERT:
    return run_fails(run, pc, "an assertion fails in thread %lld of block %lld", (long long)run_thread(w, m),
                     (long long)b->index);
  default: return hopper_step(run, b, w, pc, m);
  }
}
