/* Hopper: mbarriers, bulk copies, tensor maps, clusters, wgmma. */
#include "kernels/ptx/ptx_decode.h"
#include "kernels/ptx/ptx_async.h"

/* ---- mbarriers ---- */

static bool mbarrier_address(Decoder *d, Ins *i) { /* [address]; the space is generic where none is named */
  Address a;
  const bool shared = which_part(d, "shared shared::cta shared::cluster") >= 0;
  if (!decode_address(d, &a)) return false;
  i->space = shared ? SPACE_SHARED : SPACE_GENERIC;
  i->a = a.place, i->wide = a.wide, i->imm = a.offset;
  return shared || a.wide || decode_refuse(d, "has a generic address of 32 bits");
}

static bool mbarrier_init(Decoder *d) {
  Ins i = decode_ins(d, O_MBAR_INIT);
  i.b = -1;
  if (!mbarrier_address(d, &i)) return false;
  return (has_part(d, "inval") || (decode_comma(d) && decode_source(d, 'w', &i.b))) && decode_push(d, i);
}

/* arrive, arrive_drop, their .expect_tx and .noComplete; expect_tx and complete_tx alone. */
static bool mbarrier_arrive(Decoder *d) {
  Ins i = decode_ins(d, O_MBAR_ARRIVE);
  const bool arrives = has_part(d, "arrive"), drops = has_part(d, "arrive_drop");
  const bool bytes = has_part(d, "expect_tx"), completes = has_part(d, "complete_tx");
  i.mode = (uint8_t)((arrives || drops ? ARRIVE_COUNT : 0) | (drops ? ARRIVE_DROP : 0) | (bytes ? ARRIVE_EXPECT : 0) |
                     (completes ? ARRIVE_COMPLETE : 0));
  i.b = i.d = -1;
  if (arrives || drops) {
    Cursor ahead = d->r.c;
    if (cursor_peek(&ahead) != '[') {
      if (word_is(cursor_word(&ahead), "_"))
        d->r.c = ahead;
      else if (!decode_destination(d, 'l', &i.d))
        return false;
      if (!decode_comma(d)) return false;
    }
  }
  if (!mbarrier_address(d, &i)) return false;
  if (cursor_take(&d->r.c, ',')) {
    if (!decode_source(d, 'w', &i.b)) return false;
  } else if (bytes || completes) {
    return decode_refuse(d, "says no number of bytes");
  }
  return decode_push(d, i);
}

static bool mbarrier_test(Decoder *d) { /* test_wait, try_wait [.parity] p, [a], state or parity [, time] */
  Ins i = decode_ins(d, O_MBAR_TEST);
  int32_t limit;
  i.mode = (uint8_t)((has_part(d, "try_wait") ? TEST_WAITS : 0) | (has_part(d, "parity") ? TEST_PARITY : 0));
  if (!decode_destination(d, 'p', &i.d) || !decode_comma(d) || !mbarrier_address(d, &i) || !decode_comma(d) ||
      !decode_source(d, i.mode & TEST_PARITY ? 'w' : 'l', &i.b))
    return false;
  return (!cursor_take(&d->r.c, ',') || decode_source(d, 'w', &limit)) && decode_push(d, i);
}

static bool mbarrier(Decoder *d) {
  if (which_part(d, "init inval") >= 0) return mbarrier_init(d);
  if (which_part(d, "test_wait try_wait") >= 0) return mbarrier_test(d);
  if (which_part(d, "arrive arrive_drop expect_tx complete_tx") >= 0) return mbarrier_arrive(d);
  return decode_refuse(d, "is not modelled");
}

static bool copies_arrive(Decoder *d) { /* cp.async.mbarrier.arrive[.noinc].shared.b64 [a] */
  Ins i = decode_ins(d, O_CP_MBAR);
  i.mode = has_part(d, "noinc");
  return mbarrier_address(d, &i) && decode_push(d, i);
}

/* ---- bulk copies ---- */

static bool bulk_address(Decoder *d, int32_t *list) { /* [address] */
  Address a;
  if (!decode_address(d, &a)) return false;
  list[0] = a.place, list[1] = (int32_t)a.offset, list[2] = a.wide;
  return list[1] == a.offset || decode_refuse(d, "has an offset of more than 32 bits");
}

static bool tensor_address(Decoder *d, int32_t rank, int32_t *map, int32_t *coordinates) { /* [map, {x, y}] */
  Address a;
  int32_t n;
  if (!ptx_reader_expect(&d->r, '[') || !decode_address_inside(d, &a) || !decode_comma(d)) return false;
  if (!a.wide) return decode_refuse(d, "has a tensor map at an address of 32 bits");
  map[0] = a.place, map[1] = (int32_t)a.offset, map[2] = 1;
  return decode_braces(d, 'w', true, rank, rank, coordinates, &n) && ptx_reader_expect(&d->r, ']');
}

static bool bulk_reduction(Decoder *d, Ins *i, bool tensor) {
  const int32_t op = which_part(d, ATOM_NAMES);
  i->bytes = BULK_NO_REDUCTION;
  if (!has_part(d, "reduce")) return true;
  if (op >= 0 && op != ATOM_EXCH && op != ATOM_CAS) i->bytes = (uint8_t)op;
  i->type = (uint8_t)(tensor ? T_NONE : part_type(d)); /* a tensor's is its map's */
  if (i->bytes == BULK_NO_REDUCTION || (!tensor && (!i->type || ptx_type_bytes[i->type] < 2)))
    return decode_refuse(d, "is not modelled: its operation and type");
  return true;
}

/* cp[.reduce].async.bulk[.tensor.Nd].TO.FROM.COMPLETION */
static bool bulk_copy(Decoder *d) {
  Ins i = decode_ins(d, O_BULK);
  int32_t list[BULK_OPERANDS], n_spaces = 0, spaces[2] = {0};
  const bool tensor = has_part(d, "tensor"), grouped = has_part(d, "bulk_group");
  for (int32_t k = 0; k < BULK_OPERANDS; k++) list[k] = -1;
  i.vec = (uint8_t)(which_part(d, "1d 2d 3d 4d 5d") + 1);
  if (which_part(d, "im2col im2col_no_offs im2col::w im2col::w::128 cp_mask tile::gather4 tile::scatter4 ignore_oob") >=
      0)
    return decode_refuse(d, "is not modelled");
  for (int32_t p = 1; p < d->n_parts; p++) {
    const bool global = word_is(d->parts[p], "global"),
               shared = word_index(d->parts[p], "shared::cta shared::cluster") >= 0;
    if ((global || shared) && n_spaces < 2) spaces[n_spaces++] = global;
  }
  if (n_spaces != 2 || tensor != (i.vec > 0) || (spaces[0] && spaces[1]) || grouped != (spaces[0] == 1))
    return decode_refuse(d, "is not modelled: from where to where");
  i.mode = (uint8_t)(spaces[0] ? BULK_STORES : spaces[1] ? BULK_LOADS : BULK_MOVES);
  if (!bulk_reduction(d, &i, tensor)) return false;
  if (tensor && i.mode == BULK_MOVES) return decode_refuse(d, "is not modelled: from where to where");
  const bool to_map = tensor && i.mode == BULK_STORES;
  if (!(to_map ? tensor_address(d, i.vec, list + BULK_TO, list + BULK_AT) : bulk_address(d, list + BULK_TO)))
    return false;
  if (!decode_comma(d)) return false;
  if (!(tensor && !to_map ? tensor_address(d, i.vec, list + BULK_FROM, list + BULK_AT)
                          : bulk_address(d, list + BULK_FROM)))
    return false;
  if (!tensor && (!decode_comma(d) || !decode_source(d, 'w', list + BULK_SIZE))) return false;
  if (!grouped && (!decode_comma(d) || !bulk_address(d, list + BULK_BARRIER))) return false;
  if (has_part(d, "multicast::cluster") && (!decode_comma(d) || !decode_source(d, 'h', list + BULK_MASK))) return false;
  int32_t policy;
  if (has_part(d, "L2::cache_hint") && (!decode_comma(d) || !decode_source(d, 'l', &policy))) return false;
  return decode_list(d, BULK_OPERANDS, list, &i.ext) && decode_push(d, i);
}

static bool skip_operands(Decoder *d) { /* a prefetch: its operands change nothing here */
  int32_t depth = 0;
  while (cursor_peek(&d->r.c) && *d->r.c.at != ';' && !(depth == 0 && *d->r.c.at == '}')) {
    depth += (*d->r.c.at == '{') - (*d->r.c.at == '}');
    d->r.c.at++;
  }
  return decode_push(d, decode_ins(d, O_NOP));
}

/* ---- wgmma ---- */

/* wgmma.mma_async.sync.aligned.m64nNkK.D.A.B d, a or {a}, b, scale-d [, scale-a, scale-b [, trans-a], trans-b] */
static bool wgmma_multiply(Decoder *d) {
  Ins i = decode_ins(d, O_WGMMA);
  int64_t n = 0, k = 0;
  int32_t list[MAX_LIST], got;
  const Type t_b = part_type(d), t_a = d->n_parts > 6 ? type_of(d->parts[d->n_parts - 2]) : T_NONE,
             t_d = d->n_parts > 6 ? type_of(d->parts[d->n_parts - 3]) : T_NONE;
  for (int32_t p = 1; p < d->n_parts; p++) { /* m64n128k16 */
    const Word w = d->parts[p];
    int64_t *to = NULL;
    if (w.n < 7 || w.at[0] != 'm' || w.at[1] != '6' || w.at[2] != '4') continue;
    for (int32_t c = 3; c < w.n; c++) {
      if (w.at[c] == 'n' || w.at[c] == 'k')
        to = w.at[c] == 'n' ? &n : &k;
      else if (to && w.at[c] >= '0' && w.at[c] <= '9' && *to < 1000)
        *to = *to * 10 + (w.at[c] - '0');
    }
  }
  const bool f8 = t_a == T_E4M3 || t_a == T_E5M2, f16 = t_a == T_F16 || t_a == T_BF16;
  const bool b_fits = t_a == t_b || (f8 && (t_b == T_E4M3 || t_b == T_E5M2));
  if ((!f8 && !f16 && t_a != T_TF32) || !b_fits || (t_d != T_F32 && !(t_d == T_F16 && (t_a == T_F16 || f8))) ||
      has_part(d, "sp") || n % 8 || n < 8 || n > 256 || k * ptx_type_bytes[t_a] != 32)
    return decode_refuse(d, "is not modelled: its shape and types");
  i.type = (uint8_t)t_a, i.bytes = (uint8_t)t_b, i.vec = (uint8_t)t_d, i.target = (int32_t)n;
  const int32_t n_d = wgmma_results(&i);
  if (!decode_braces(d, 'w', false, n_d, n_d, list, &got) || !decode_comma(d)) return false;
  for (int32_t r = 0; r < n_d; r++) operands_add(&d->operands, false, list[r]);
  if (cursor_peek(&d->r.c) == '{') {
    i.mode |= WGMMA_A_REGISTERS;
    if (!decode_braces(d, 'w', true, 4, 4, list + n_d, &got)) return false;
  } else if (!decode_source(d, 'l', &i.a)) {
    return false;
  }
  bool negated;
  if (!decode_comma(d) || !decode_source(d, 'l', &i.b) || !decode_comma(d) || !decode_predicate(d, &i.c, &negated))
    return false;
  if (negated) i.mode |= WGMMA_SCALE_NOT;
  int64_t more[4] = {1, 1, 0, 0};
  int32_t n_more = 0;
  const int32_t most = !f16 ? 2 : i.mode & WGMMA_A_REGISTERS ? 3 : 4;
  while (n_more < most && cursor_take(&d->r.c, ','))
    if (!decode_number(d, &more[n_more++])) return false;
  if (n_more && n_more != most) return decode_refuse(d, "has too few operands");
  if (n_more == 3) more[3] = more[2], more[2] = 0;
  for (int32_t s = 0; s < 2; s++)
    if ((more[s] != 1 && more[s] != -1) || more[2 + s] < 0 || more[2 + s] > 1)
      return decode_refuse(d, "has a scale that is not 1 or -1, or a transposition that is not 0 or 1");
  if (more[0] * more[1] < 0) i.mode |= WGMMA_MINUS;
  if (more[2]) i.mode |= WGMMA_A_ACROSS;
  if (more[3]) i.mode |= WGMMA_B_ACROSS;
  return decode_list(d, n_d + (i.mode & WGMMA_A_REGISTERS ? 4 : 0), list, &i.ext) && decode_push(d, i);
}

static bool wgmma(Decoder *d) {
  if (has_part(d, "mma_async")) return wgmma_multiply(d);
  Ins i = decode_ins(d, O_WGMMA_SYNC);
  i.mode = has_part(d, "fence") ? WGMMA_FENCE : has_part(d, "commit_group") ? WGMMA_COMMIT : WGMMA_WAIT;
  if (i.mode == WGMMA_WAIT && !has_part(d, "wait_group")) return decode_refuse(d, "is not modelled");
  return decode_operands(d, i, i.mode == WGMMA_WAIT ? "#" : "");
}

/* ---- clusters ---- */

static bool mapa(Decoder *d) { /* mapa[.shared::cluster].u32|.u64 d, a, rank: a's place in another block */
  Ins i = decode_ins(d, O_MAPA);
  const Kind kind = kind_of(part_type(d));
  if (kind != 'w' && kind != 'l') return decode_refuse(d, "is not modelled");
  i.wide = kind == 'l';
  return decode_operands(d, i, i.wide ? "dl,al,bw" : "dw,aw,bw");
}

bool decode_async(Decoder *d) {
  if (has_part(d, "mbarrier")) return copies_arrive(d);
  return has_part(d, "prefetch") ? skip_operands(d) : bulk_copy(d);
}

const DecodeRow DECODE_HOPPER[] = {{"mbarrier", mbarrier}, {"wgmma", wgmma}, {"mapa", mapa}, {NULL, NULL}};
