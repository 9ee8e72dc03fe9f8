/* Loads, stores, atomics, and what a warp does together: shuffles, votes, barriers, matrices, asynchronous copies. */

#include "kernels/ptx/ptx_access.h"
#include "kernels/ptx/ptx_decode.h"

/* Suffixes of ld, st, atom and red that change nothing here; cache hints. */
static bool is_silent(Word w) {
  return word_index(
             w,
             "weak cta cluster gpu sys nc ca cs lu wb wt unified relaxed acquire release acq_rel volatile mmio cg cv "
             "noftz") >= 0 ||
         (w.n > 4 && w.at[0] == 'L' && (w.at[1] == '1' || w.at[1] == '2') && w.at[2] == ':');
}

static int32_t space_of(Word w) {
  static const struct {
    const char *name;
    int32_t space;
  } SPACES[] = {{"global", SPACE_GLOBAL},      {"shared", SPACE_SHARED},
                {"shared::cta", SPACE_SHARED}, {"shared::cluster", SPACE_SHARED},
                {"local", SPACE_LOCAL},        {"const", SPACE_CONST},
                {"param", SPACE_PARAM},        {"param::entry", SPACE_PARAM},
                {"param::func", SPACE_PARAM}};
  for (size_t i = 0; i < sizeof SPACES / sizeof *SPACES; i++)
    if (word_is(w, SPACES[i].name)) return SPACES[i].space;
  return -1;
}

static bool push_at_site(Decoder *d, Ins i) {
  i.site = d->k->n_sites++;
  return decode_push(d, i);
}

/* The parts between the mnemonic and the type: space, vector, cache hints. */
static bool access_parts(Decoder *d, Ins *i) {
  const Type type = part_type(d);
  if (!type || !ptx_type_bytes[type] || type == T_B128) return decode_refuse(d, "is not modelled: its type");
  i->type = (uint8_t)type, i->bytes = ptx_type_bytes[type], i->vec = 1;
  i->is_signed = type == T_S8 || type == T_S16 || type == T_S32;
  for (int32_t p = 1; p < d->n_parts - 1; p++) {
    const Word w = d->parts[p];
    const int32_t space = space_of(w);
    if (space >= 0)
      i->space = (uint8_t)space;
    else if (word_index(w, "v2 v4 v8") >= 0)
      i->vec = (uint8_t)(w.at[1] - '0');
    else if (!is_silent(w))
      return ptx_reader_refuses(&d->r, w, "is a suffix that is not modelled");
    if (word_index(w, "volatile acquire relaxed mmio") >= 0) i->mode |= MODE_VOLATILE;
    if (word_index(w, "cg cv volatile acquire relaxed") >= 0) i->mode |= MODE_PAST_L1;
  }
  if (i->vec * i->bytes > 32) return decode_refuse(d, "moves more than 32 bytes a thread");
  return true;
}

static void use_address(Ins *i, const Address *a) { i->a = a->place, i->wide = a->wide, i->imm = a->offset; }

/* The registers of a load or store: all of one width, which may be more than the type's. */
static bool access_registers(Decoder *d, Ins *i, bool is_source) {
  int32_t places[8];
  Kind kind = kind_of((Type)i->type), first = 0;
  const bool braces = cursor_take(&d->r.c, '{');
  if (i->vec > 1 && !braces) return ptx_reader_expect(&d->r, '{');
  for (int32_t n = 0; n < i->vec; n++) {
    Kind has = first ? first : kind;
    if (n && !decode_comma(d)) return false;
    if (!(is_source ? decode_source_wider(d, &has, &places[n]) : decode_destination_wider(d, &has, &places[n])))
      return false;
    if (first && has != first) return decode_refuse(d, "has registers of unlike widths in its braces");
    first = has;
  }
  if (braces && !ptx_reader_expect(&d->r, '}')) return false;
  if (first == 'l') i->mode |= MODE_LONG;
  if (first == 'h') i->mode |= MODE_SHORT;
  i->d = places[0];
  return decode_list(d, i->vec, places, &i->ext);
}

/* A load from a place in the parameters that is known: a move of what is there. */
static bool load_parameter(Decoder *d, const Ins *i, int64_t offset, int64_t bytes) {
  for (int32_t n = 0; n < i->vec; n++) {
    const int64_t at = offset + n * i->bytes;
    const Kind kind = i->mode & MODE_LONG ? 'l' : i->mode & MODE_SHORT ? 'h' : 'w';
    if (at < 0 || at + i->bytes > bytes) return decode_refuse(d, "reads outside the parameters");
    Ins m = decode_ins(d, kind == 'l' ? O_MOV64 : O_MOV32);
    m.d = d->k->lists[i->ext + n];
    if (!decode_constant(d, SLOT_PARAMETER, kind, (uint64_t)at, i->bytes, i->is_signed, &m.a) || !decode_push(d, m))
      return false;
  }
  return true;
}

static bool cache_policy(Decoder *d) { /* ", policy" at the end */
  int32_t policy;
  return !has_part(d, "L2::cache_hint") || (decode_comma(d) && decode_source(d, 'l', &policy));
}

static bool load(Decoder *d) {
  Ins i = decode_ins(d, O_LD);
  Address a;
  if (!access_parts(d, &i) || !access_registers(d, &i, false) || !decode_comma(d) || !decode_address(d, &a))
    return false;
  if (!cache_policy(d)) return false;
  use_address(&i, &a);
  const SymbolKind kind = a.symbol ? a.symbol->kind : SYM_NONE;
  if (i.space == SPACE_PARAM) {
    if (kind == SYM_PARAM) return load_parameter(d, &i, a.symbol->value + a.offset, a.symbol->value + a.symbol->bytes);
    if (d->depth == 0 && kind != SYM_LOCAL) {
      i.op = O_LD_PARAM;
      return a.wide ? decode_push(d, i) : decode_refuse(d, "has an address of 32 bits");
    }
    i.space = SPACE_LOCAL, i.counted = false;
  }
  if (i.bytes < d->k->granule_bytes && (i.space == SPACE_SHARED || i.space == SPACE_GENERIC))
    d->k->granule_bytes = i.bytes;
  return push_at_site(d, i);
}

static bool store(Decoder *d) {
  Ins i = decode_ins(d, O_ST);
  Address a;
  if (!access_parts(d, &i) || !decode_address(d, &a) || !decode_comma(d) || !access_registers(d, &i, true) ||
      !cache_policy(d))
    return false;
  use_address(&i, &a);
  if (i.space == SPACE_PARAM) {
    if (a.symbol && a.symbol->kind == SYM_PARAM) return decode_refuse(d, "writes a parameter of an entry");
    i.space = SPACE_LOCAL, i.counted = false;
  }
  if (i.space == SPACE_CONST) return decode_refuse(d, "writes constant memory");
  if (i.bytes < d->k->granule_bytes && i.space != SPACE_LOCAL) d->k->granule_bytes = i.bytes;
  return push_at_site(d, i);
}

static bool atomic(Decoder *d) {
  Ins i = decode_ins(d, O_ATOM);
  Address a;
  const Type type = part_type(d);
  const int32_t op = which_part(d, ATOM_NAMES);
  if (has_part(d, "async")) return decode_refuse(d, "is not modelled");
  i.type = (uint8_t)type, i.bytes = ptx_type_bytes[type], i.vec = 1;
  for (int32_t p = 1; p < d->n_parts - 1; p++) {
    const Word w = d->parts[p];
    const int32_t space = space_of(w);
    if (space >= 0)
      i.space = (uint8_t)space;
    else if (!is_silent(w) && word_index(w, ATOM_NAMES) < 0)
      return ptx_reader_refuses(&d->r, w, "is a suffix that is not modelled");
  }
  const bool is_float = format_of(type) >= 0;
  const bool cas16 = op == ATOM_CAS && type == T_B16;
  if (op < 0 || i.bytes == 0 || i.bytes > 8 || (i.bytes < 4 && !cas16 && !is_float) || (is_float && op > ATOM_MAX) ||
      (op == ATOM_ADD && (type == T_B32 || type == T_B64)))
    return decode_refuse(d, "is not modelled: operation and type");
  if (i.space == SPACE_LOCAL || i.space == SPACE_CONST || i.space == SPACE_PARAM)
    return decode_refuse(d, "has a state space without atomics");
  const Kind kind = kind_of(type);
  i.mode = (uint8_t)op;
  if (is(d, "red"))
    i.mode |= ATOM_NO_RESULT;
  else if (!decode_destination(d, kind, &i.d) || !decode_comma(d))
    return false;
  if (!decode_address(d, &a) || !decode_comma(d) || !decode_source(d, kind, &i.b)) return false;
  if (op == ATOM_CAS && (!decode_comma(d) || !decode_source(d, kind, &i.c))) return false;
  if (!cache_policy(d)) return false;
  use_address(&i, &a);
  return push_at_site(d, i);
}

static bool prefetch(Decoder *d) {
  Address a;
  return decode_address(d, &a) && decode_push(d, decode_ins(d, O_NOP));
}

/* ---- what a warp or block does together ---- */

static bool barrier(Decoder *d) { /* bar, barrier: .sync, .arrive, .red, .warp.sync, .cluster */
  if (has_part(d, "cluster")) {
    const bool wait = has_part(d, "wait");
    if (!wait && !has_part(d, "arrive")) return decode_refuse(d, "is not modelled");
    return decode_push(d, decode_ins(d, wait ? O_CLUSTER_WAIT : O_CLUSTER_ARRIVE));
  }
  if (has_part(d, "warp")) return decode_operands(d, decode_ins(d, O_BAR_WARP), "aw");
  const bool red = has_part(d, "red");
  Ins i = decode_ins(d, red ? O_BAR_RED : has_part(d, "arrive") ? O_BAR_ARRIVE : O_BAR_SYNC);
  if (!red && !has_part(d, "sync") && i.op != O_BAR_ARRIVE) return decode_refuse(d, "is not modelled");
  i.b = -1;
  i.wide = is(d, "bar") || has_part(d, "aligned"); /* all lanes of a warp come together */
  if (red) {
    i.mode = has_part(d, "popc") ? 0 : has_part(d, "and") ? 1 : 2;
    if (!decode_destination(d, i.mode ? 'p' : 'w', &i.d) || !decode_comma(d)) return false;
  }
  if (!decode_source(d, 'w', &i.a)) return false;
  if (!red) return (!cursor_take(&d->r.c, ',') || decode_source(d, 'w', &i.b)) && decode_push(d, i);
  if (!decode_comma(d)) return false;
  if (decode_commas_ahead(d, ';') && /* [, threads], predicate */ (!decode_source(d, 'w', &i.b) || !decode_comma(d)))
    return false;
  bool negated;
  if (!decode_predicate(d, &i.c, &negated)) return false;
  i.is_signed = negated;
  return decode_push(d, i);
}

static bool shuffle(Decoder *d) { /* shfl.sync.MODE.b32 d[|p], a, b, c, membermask */
  Ins i = decode_ins(d, O_SHFL);
  const int32_t mode = which_part(d, "up down bfly idx");
  i.mode = (uint8_t)mode;
  if (mode < 0 || part_type(d) != T_B32) return decode_refuse(d, "is not modelled");
  return decode_operands(d, i, "dw/,aw,bw,cw~t");
}

static bool vote(Decoder *d) { /* vote.sync.{all,any,uni}.pred p, a, mask; vote.sync.ballot.b32 d, a, mask */
  Ins i = decode_ins(d, O_VOTE);
  const int32_t mode = which_part(d, "all any uni ballot");
  i.mode = (uint8_t)mode;
  return mode < 0 ? decode_refuse(d, "is not modelled") : decode_operands(d, i, mode == 3 ? "dw,!a~b" : "dp,!a~b");
}

static bool match(Decoder *d) { /* match.{any,all}.sync.bN d[|p], a, mask */
  Ins i = decode_ins(d, O_MATCH);
  const Type type = part_type(d);
  i.mode = has_part(d, "all");
  i.wide = type == T_B64;
  if (type != T_B32 && type != T_B64) return decode_refuse(d, "is not modelled");
  return decode_operands(d, i, i.wide ? "dw/,al,bw" : "dw/,aw,bw");
}

static bool redux(Decoder *d) {
  Ins i = decode_ins(d, O_REDUX);
  const int32_t op = which_part(d, "add min max and or xor");
  i.type = (uint8_t)part_type(d), i.mode = (uint8_t)op;
  if (op < 0 || (i.type != T_U32 && i.type != T_S32 && i.type != T_B32)) return decode_refuse(d, "is not modelled");
  return decode_operands(d, i, "dw,aw,bw");
}

static bool elect(Decoder *d) {
  return decode_operands(d, decode_ins(d, O_ELECT), "dw|,aw");
} /* elect.sync d|p, mask */
static bool activemask(Decoder *d) { return decode_operands(d, decode_ins(d, O_ACTIVEMASK), "dw"); }

static bool to_semicolon(Decoder *d) { /* operands that change nothing here */
  while (cursor_peek(&d->r.c) && *d->r.c.at != ';' && *d->r.c.at != '}') d->r.c.at++;
  return decode_push(d, decode_ins(d, O_NOP));
}

static bool fence(Decoder *d) { /* fence, membar */
  const bool is_fence = is(d, "fence");
  if (is_fence &&
      ((has_part(d, "proxy") && has_part(d, "async")) || which_part(d, "mbarrier_init async::generic") >= 0))
    return decode_push(d, decode_ins(d, O_FENCE_PROXY));
  const bool grid = is_fence ? which_part(d, "gpu sys") >= 0 : !has_part(d, "cta");
  Ins i = decode_ins(d, O_FENCE);
  i.mode = grid;
  return decode_push(d, i);
}

static bool setmaxnreg(Decoder *d) {
  Ins i = decode_ins(d, O_SETMAXNREG);
  if (!decode_number(d, &i.imm)) return false;
  if (i.imm < 24 || i.imm > 256 || i.imm % 8) return decode_refuse(d, "takes 24 to 256 registers, a multiple of 8");
  return decode_push(d, i);
}

static bool createpolicy(Decoder *d) {
  Ins i = decode_ins(d, O_MOV64);
  if (!decode_constant(d, SLOT_CONSTANT, 'l', 0, 0, false, &i.a)) return false;
  return decode_operands(d, i, "dl") && to_semicolon(d);
}

/* ---- matrices ---- */

static bool decode_matrix(Decoder *d) { /* ldmatrix, stmatrix .sync.aligned.m8n8.xN[.trans].shared.b16 */
  const bool is_load = is(d, "ldmatrix");
  Ins i = decode_ins(d, is_load ? O_LDMATRIX : O_STMATRIX);
  Address a;
  int32_t places[4], n;
  i.vec = has_part(d, "x4") ? 4 : has_part(d, "x2") ? 2 : has_part(d, "x1") ? 1 : 0;
  i.mode = has_part(d, "trans");
  i.space = SPACE_SHARED, i.bytes = 16;
  for (int32_t p = 1; p < d->n_parts; p++)
    if (space_of(d->parts[p]) >= 0 && space_of(d->parts[p]) != SPACE_SHARED) i.vec = 0;
  if (!i.vec || !has_part(d, "m8n8") || part_type(d) != T_B16) return decode_refuse(d, "is not modelled: its shape");
  if (!is_load && (!decode_address(d, &a) || !decode_comma(d))) return false;
  if (!decode_braces(d, 'w', !is_load, i.vec, i.vec, places, &n)) return false;
  if (is_load && (!decode_comma(d) || !decode_address(d, &a))) return false;
  use_address(&i, &a);
  return decode_list(d, n, places, &i.ext) && push_at_site(d, i);
}

/* Registers of the fragments of one mma: how many of D, A, B (C as D), and their kind. */
typedef struct {
  const char *shape;
  Type a;
  uint8_t n_d, n_a, n_b, k;
} Fragments;

static const Fragments FRAGMENTS[] = {
    {"m16n8k16", T_F16, 4, 4, 2, 16},  {"m16n8k8", T_F16, 4, 2, 1, 8},    {"m16n8k16", T_BF16, 4, 4, 2, 16},
    {"m16n8k8", T_BF16, 4, 2, 1, 8},   {"m16n8k8", T_TF32, 4, 4, 2, 8},   {"m16n8k4", T_TF32, 4, 2, 1, 4},
    {"m16n8k32", T_S8, 4, 4, 2, 32},   {"m16n8k32", T_U8, 4, 4, 2, 32},   {"m16n8k16", T_S8, 4, 2, 1, 16},
    {"m16n8k16", T_U8, 4, 2, 1, 16},   {"m8n8k16", T_S8, 2, 1, 1, 16},    {"m8n8k16", T_U8, 2, 1, 1, 16},
    {"m16n8k32", T_E4M3, 4, 4, 2, 32}, {"m16n8k32", T_E5M2, 4, 4, 2, 32}, {"m16n8k16", T_E4M3, 4, 2, 1, 16},
    {"m16n8k16", T_E5M2, 4, 2, 1, 16}, {"m8n8k4", T_F64, 2, 1, 1, 4},
};

static bool comma_fragment(Decoder *d, Kind kind, int32_t n, int32_t *places) {
  int32_t got;
  return decode_comma(d) && decode_braces(d, kind, true, n, n, places, &got);
}

static bool mma(Decoder *d) { /* mma.sync.aligned.SHAPE.row.col.D.A.B.C d, a, b, c */
  Ins i = decode_ins(d, O_MMA);
  if (d->n_parts < 9 || !has_part(d, "row") || !has_part(d, "col"))
    return decode_refuse(d, "is not modelled: its layout");
  const Type t_d = type_of(d->parts[d->n_parts - 4]), t_a = type_of(d->parts[d->n_parts - 3]),
             t_b = type_of(d->parts[d->n_parts - 2]), t_c = part_type(d);
  const Fragments *f = NULL;
  for (size_t k = 0; k < sizeof FRAGMENTS / sizeof *FRAGMENTS; k++)
    if (has_part(d, FRAGMENTS[k].shape) && FRAGMENTS[k].a == t_a) f = &FRAGMENTS[k];
  const bool is_int = t_a == T_S8 || t_a == T_U8, is_f8 = t_a == T_E4M3 || t_a == T_E5M2;
  const bool b_fits =
      t_a == t_b || (is_int && (t_b == T_S8 || t_b == T_U8)) || (is_f8 && (t_b == T_E4M3 || t_b == T_E5M2));
  const bool d_fits = t_d == t_c && (is_int         ? t_d == T_S32
                                     : t_a == T_F64 ? t_d == T_F64
                                                    : t_d == T_F32 || (t_d == T_F16 && (t_a == T_F16 || is_f8)));
  if (!f || !b_fits || !d_fits) return decode_refuse(d, "is not modelled: shape and types");
  const Kind wide = t_a == T_F64 ? 'l' : 'w';
  const int32_t n_d = t_d == T_F16 ? f->n_d / 2 : f->n_d;
  int32_t places[16], n;
  i.type = (uint8_t)t_a, i.mode = (uint8_t)t_b, i.bytes = (uint8_t)t_d, i.vec = f->k, i.space = f->n_a;
  i.target = has_part(d, "satfinite");
  i.imm = which_part(d, "m8n8k16 m8n8k4") >= 0 ? 8 : 16;
  if (!decode_braces(d, wide, false, n_d, n_d, places, &n)) return false;
  if (!comma_fragment(d, wide, f->n_a, places + n_d) || !comma_fragment(d, wide, f->n_b, places + n_d + f->n_a))
    return false;
  if (!comma_fragment(d, wide, n_d, places + n_d + f->n_a + f->n_b)) return false;
  return decode_list(d, 2 * n_d + f->n_a + f->n_b, places, &i.ext) && decode_push(d, i);
}

static bool movmatrix(Decoder *d) { return decode_operands(d, decode_ins(d, O_MOVMATRIX), "dw,aw"); }

/* ---- cp.async ---- */

static bool async_copy(Decoder *d) { /* cp.async.{ca,cg}.shared.global [d], [a], bytes [, src-bytes] */
  Ins i = decode_ins(d, O_CP_ASYNC);
  Address to, from;
  int64_t bytes;
  if (!has_part(d, "global") || (!has_part(d, "shared") && !has_part(d, "shared::cta")))
    return decode_refuse(d, "is not modelled");
  if (has_part(d, "cg")) i.mode |= MODE_PAST_L1;
  if (!decode_address(d, &to) || !decode_comma(d) || !decode_address(d, &from) || !decode_comma(d) ||
      !decode_number(d, &bytes))
    return false;
  if (bytes != 4 && bytes != 8 && bytes != 16) return decode_refuse(d, "copies 4, 8 or 16 bytes, no other number");
  if (!from.wide) return decode_refuse(d, "has a global address of 32 bits");
  i.bytes = (uint8_t)bytes, i.space = SPACE_GLOBAL, i.b = from.place, i.target = (int32_t)from.offset, i.c = -1;
  if (from.offset != i.target) return decode_refuse(d, "has an offset of more than 32 bits");
  use_address(&i, &to);
  if (cursor_peek(&d->r.c) == ',' && !has_part(d, "L2::cache_hint")) {
    d->r.c.at++;
    if (!decode_source(d, 'w', &i.c)) return false;
  } else if (has_part(d, "L2::cache_hint")) {
    int32_t policy;
    if (decode_commas_ahead(d, ';') == 2 && (!decode_comma(d) || !decode_source(d, 'w', &i.c))) return false;
    if (!decode_comma(d) || !decode_source(d, 'l', &policy)) return false;
  }
  i.ext = d->k->n_sites++; /* the shared side's */
  return push_at_site(d, i);
}

static bool async_group(Decoder *d) { /* cp.async.commit_group, .wait_group N, .wait_all; of bulk copies as well */
  Ins i = decode_ins(d, has_part(d, "commit_group") ? O_CP_COMMIT : O_CP_WAIT);
  i.mode = has_part(d, "bulk");
  return (!has_part(d, "wait_group") || decode_number(d, &i.imm)) && decode_push(d, i);
}

static bool cp(Decoder *d) {
  if (which_part(d, "commit_group wait_group wait_all") >= 0) return async_group(d);
  return which_part(d, "bulk mbarrier") >= 0 ? decode_async(d) : async_copy(d);
}

const DecodeRow DECODE_MEMORY[] = {{"ld", load},
                                   {"ldu", load},
                                   {"st", store},
                                   {"atom", atomic},
                                   {"red", atomic},
                                   {"prefetch", prefetch},
                                   {"prefetchu", prefetch},
                                   {"applypriority", prefetch},
                                   {"bar", barrier},
                                   {"barrier", barrier},
                                   {"shfl", shuffle},
                                   {"vote", vote},
                                   {"match", match},
                                   {"redux", redux},
                                   {"elect", elect},
                                   {"activemask", activemask},
                                   {"fence", fence},
                                   {"membar", fence},
                                   {"setmaxnreg", setmaxnreg},
                                   {"griddepcontrol", to_semicolon},
                                   {"nanosleep", to_semicolon},
                                   {"pmevent", to_semicolon},
                                   {"discard", to_semicolon},
                                   {"createpolicy", createpolicy},
                                   {"ldmatrix", decode_matrix},
                                   {"stmatrix", decode_matrix},
                                   {"mma", mma},
                                   {"movmatrix", movmatrix},
                                   {"cp", cp},
                                   {NULL, NULL}};
