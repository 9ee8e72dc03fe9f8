#include "sim/algorithms/sram.h"

#include <string.h>

#include "sim/algorithms/walk/live.h"

/* ---- Sizes ------------------------------------------------------------------------------------------------- */

static Wide side_of(const Program *p, const SramSizes *s, uint8_t side) {
  switch (side) {
  case SIDE_ROWS: return wide(s->B_r);
  case SIDE_COLS: return wide(s->B_c);
  case SIDE_D: return wide(s->d);
  case SIDE_DV: return wide(s->d_v);
  default: return side >= SIDE_OWN && side < SIDE_COUNT ? wide(p->sizes[side - SIDE_OWN].value) : 1;
  }
}

static Wide elements_of(const Program *p, const ProgramName *n, const SramSizes *s) {
  if (s->v_in_k && p->tensors[n->tensor].operand == OPERAND_V) return 0;
  return side_of(p, s, n->rows) * side_of(p, s, n->cols);
}

static Wide value_bytes(const Program *p, const ProgramName *n, const SramSizes *s) {
  return elements_of(p, n, s) * (sides_are_column(n->rows, n->cols) ? STATS_BYTES : wide(s->element_bytes));
}

/* What takes the place of a value lives where that does. */
static bool in_registers(const Program *p, const ProgramLaunch *l, int kernel, int name) {
  const int place = sram_place(p, kernel, name);
  return (l->registers >> name & 1) || (place >= 0 && (l->registers >> place & 1));
}

static void add_place(SramBudget *b, const ProgramName *n, Wide bytes) {
  b->of[n->tensor] += bytes;
  b->bytes += bytes;
  *(n->is_input ? &b->inputs : sides_are_column(n->rows, n->cols) ? &b->columns : &b->accumulators) += bytes;
}

typedef struct {
  Wide bytes;
  int counted; /* 1 + the name that it is counted as: the place's own, else the first; 0: none */
} Room;

/* A place has room for the largest value that has it. Where a launch puts some of these into registers, they have one
 * there besides, in room[1]. Returns what is not there. */
static Wide rooms_of(const Program *p, int kernel, const SramSizes *sizes, Room room[2][PROGRAM_NAMES_MAX]) {
  const ProgramLaunch *l = sizes->launch ? sizes->launch : &p->launches[kernel];
  Wide sum = 0;
  for (int k = 0; k < p->n_names; k++) room[0][k] = room[1][k] = (Room){0};
  for (int k = 0; k < p->n_names; k++) {
    const int place = sram_place(p, kernel, k), apart = in_registers(p, l, kernel, k);
    const ProgramName *n = &p->names[k];
    if (place < 0) continue;
    const Wide bytes =
        (apart ? elements_of(p, n, sizes) * STATS_BYTES : value_bytes(p, n, sizes)) * wide(launch_copies(l, k));
    Room *r = &room[apart][place];
    if (!r->counted || place == k) r->counted = k + 1;
    if (bytes <= r->bytes) continue;
    if (!apart) sum += bytes - r->bytes;
    r->bytes = bytes;
  }
  return sum;
}

SramBudget sram_budget_of_kernel(const Program *p, int kernel, const SramSizes *sizes) {
  SramBudget b = {.kernel = kernel};
  Room room[2][PROGRAM_NAMES_MAX];
  rooms_of(p, kernel, sizes, room);
  for (int place = 0; place < p->n_names; place++) {
    const Room *in = &room[0][place], *apart = &room[1][place];
    if (in->counted) add_place(&b, &p->names[in->counted - 1], in->bytes);
    if (!apart->counted) continue;
    b.in_registers[p->names[apart->counted - 1].tensor] += apart->bytes;
    b.registers += apart->bytes;
  }
  return b;
}

/* The kernel that needs most, and what it needs. */
static int largest_kernel(const Program *p, const SramSizes *sizes, Wide *most) {
  Room room[2][PROGRAM_NAMES_MAX];
  int largest = 0;
  *most = 0;
  for (int k = 0; k < p->n_kernels; k++) {
    const Wide bytes = rooms_of(p, k, sizes, room);
    if (bytes > *most) *most = bytes, largest = k;
  }
  return largest;
}

SramBudget sram_budget(const Program *p, const SramSizes *sizes) {
  Wide most;
  return sram_budget_of_kernel(p, largest_kernel(p, sizes, &most), sizes);
}

int64_t sram_max_block(const Program *p, const SramSizes *of, Wide capacity_bytes) {
  int64_t fits = 0, too_large = PLAN_MAX_BLOCK + 1;
  for (int64_t next = 64; too_large - fits > 1; next *= 2) { /* it is hundreds, as a rule */
    const int64_t B = next < too_large ? next : fits + (too_large - fits) / 2;
    SramSizes sizes = *of;
    Wide bytes;
    sizes.B_r = sizes.B_c = B;
    largest_kernel(p, &sizes, &bytes);
    if (bytes <= capacity_bytes)
      fits = B;
    else
      too_large = B;
  }
  return fits;
}

/* ---- Places ------------------------------------------------------------------------------------------------ */

/* Names that have the place of `owner` in a kernel. */
static NameSet tenants(const Program *p, int kernel, int owner) {
  NameSet names = 0;
  for (int k = 0; k < p->n_names; k++)
    if (sram_place(p, kernel, k) == owner) names |= name_bit(k);
  return names;
}

static uint8_t of_head(uint8_t side) { return side == SIDE_DV ? SIDE_D : side; }

static bool are_alike(const ProgramName *a, const ProgramName *b) {
  return of_head(a->rows) == of_head(b->rows) && of_head(a->cols) == of_head(b->cols);
}

/* Whether a name that is set may have that place: it is of its shape, and whatever else has it is done with. */
static bool may_take(const Program *p, int kernel, const NameSet *met, int name, int owner) {
  const NameSet others = tenants(p, kernel, owner);
  if (!others || !are_alike(&p->names[name], &p->names[owner]) || (met[name] & others)) return false;
  for (int k = 0; k < p->n_names; k++)
    if ((others & name_bit(k)) && (met[k] & name_bit(name))) return false;
  return true;
}

/* The place of a name that is set: one that the line reads if it can, else the first that is free, else its own. */
static int place_for(const Program *p, int op, const NameSet *met, int name) {
  const int kernel = p->ops[op].kernel;
  const NameSet read = live_reads(p, op);
  for (int first = 1; first >= 0; first--)
    for (int owner = 0; owner < p->n_names; owner++)
      if ((!first || (read & tenants(p, kernel, owner))) && may_take(p, kernel, met, name, owner)) return owner;
  return name;
}

static void give_place(Program *p, int kernel, int name, int place) {
  const bool in_registers =
      strchr(p->names[name].text, '\'') && sides_are_column(p->names[name].rows, p->names[name].cols);
  if (!in_registers && !p->places[kernel][name]) p->places[kernel][name] = (uint8_t)(place + 1);
}

void sram_find_places(Program *p) {
  NameSet met[PROGRAM_KERNELS_MAX][PROGRAM_NAMES_MAX];
  memset(p->places, 0, sizeof p->places);
  live_meet(p, met);
  for (int op = 0; op < p->n_ops; op++) {
    const ProgramOp *o = &p->ops[op];
    for (int k = o->first_assign; k < o->first_assign + o->n_assigns; k++) {
      const int name = p->assigns[k].name;
      give_place(p, o->kernel, name, place_for(p, op, met[o->kernel], name));
    }
    for (int k = 0; k < o->n_moved; k++) give_place(p, o->kernel, o->moved[k], o->moved[k]);
  }
}
