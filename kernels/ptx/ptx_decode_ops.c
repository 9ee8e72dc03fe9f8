/* Moves, comparisons, conversions, branches and calls. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_decode.h"

static bool is(const Decoder *d, const char *mnemonic) { return word_is(d->parts[0], mnemonic); }

static bool push_unary(Decoder *d, int32_t op, int32_t to, int32_t from, int64_t imm) {
  Ins i = decode_ins(d, op);
  i.d = to, i.a = from, i.imm = imm;
  return decode_push(d, i);
}

static bool push_binary(Decoder *d, int32_t op, int32_t to, int32_t a, int32_t b, int64_t imm) {
  Ins i = decode_ins(d, op);
  i.d = to, i.a = a, i.b = b, i.imm = imm;
  return decode_push(d, i);
}

/* ---- mov ---- */

/* mov.b64 d, {a, b} */
static bool move_pack(Decoder *d, Kind whole) {
  int32_t to, parts[4], n;
  if (!decode_destination(d, whole, &to) || !decode_comma(d)) return false;
  Cursor ahead = d->r.c;
  int32_t commas = 0;
  while (cursor_peek(&ahead) && *ahead.at != '}' && *ahead.at != ';') commas += *ahead.at++ == ',';
  const int32_t bits = kind_bits(whole) / (commas + 1);
  if (bits == 32 || bits == 16) {
    if (!decode_braces(d, bits == 32 ? 'w' : 'h', true, commas + 1, 4, parts, &n)) return false;
    if (n == 2) return push_binary(d, bits == 32 ? O_PACK64 : O_PACK32, to, parts[0], parts[1], 0);
    int32_t halves[2];
    for (int i = 0; i < 2; i++)
      if (!decode_temporary(d, 'w', &halves[i]) ||
          !push_binary(d, O_PACK32, halves[i], parts[2 * i], parts[2 * i + 1], 0))
        return false;
    return push_binary(d, O_PACK64, to, halves[0], halves[1], 0);
  }
  if (whole != 'w' || commas != 3) return decode_refuse(d, "is not modelled with so many registers in braces");
  int32_t zero;
  if (!decode_braces(d, 'h', true, 4, 4, parts, &n) || !decode_constant(d, SLOT_CONSTANT, 'w', 0, 0, false, &zero))
    return false;
  int32_t sum;
  if (!decode_temporary(d, 'w', &sum)) return false;
  for (int i = 0; i < 4; i++)
    if (!push_binary(d, O_PACK8, i == 3 ? to : sum, i ? sum : zero, parts[i], 8 * i)) return false;
  return true;
}

/* mov.b64 {a, b}, d; '_' leaves a part out */
static bool move_unpack(Decoder *d, Kind whole) {
  int32_t from, parts[4], n;
  Cursor ahead = d->r.c;
  int32_t commas = 0;
  while (cursor_peek(&ahead) && *ahead.at != '}' && *ahead.at != ';') commas += *ahead.at++ == ',';
  const int32_t bits = kind_bits(whole) / (commas + 1);
  if ((bits != 32 && bits != 16 && bits != 8) || commas > 3)
    return decode_refuse(d, "is not modelled with so many registers in braces");
  if (!decode_braces(d, bits == 32 ? 'w' : 'h', false, 2, 4, parts, &n) || !decode_comma(d) ||
      !decode_source(d, whole, &from))
    return false;
  if (whole == 'l' && bits == 32)
    return push_unary(d, O_TRUNC64, parts[0], from, 0) && push_unary(d, O_HIGH64, parts[1], from, 0);
  if (whole == 'w' && bits == 16)
    return push_unary(d, O_LOW16, parts[0], from, 0) && push_unary(d, O_HIGH32, parts[1], from, 0);
  if (whole == 'w') {
    for (int i = 0; i < 4; i++)
      if (!push_unary(d, O_BYTE32, parts[i], from, 8 * i)) return false;
    return true;
  }
  if (bits != 16) return decode_refuse(d, "is not modelled with so many registers in braces");
  for (int i = 0; i < 2; i++) {
    int32_t half;
    if (!decode_temporary(d, 'w', &half) || !push_unary(d, i ? O_HIGH64 : O_TRUNC64, half, from, 0)) return false;
    if (!push_unary(d, O_LOW16, parts[2 * i], half, 0) || !push_unary(d, O_HIGH32, parts[2 * i + 1], half, 0))
      return false;
  }
  return true;
}

static bool cvta(Decoder *d) {
  uint64_t window = 0;
  if (has_part(d, "shared") || has_part(d, "shared::cta") || has_part(d, "shared::cluster"))
    window = SHARED_WINDOW;
  else if (has_part(d, "local"))
    window = LOCAL_WINDOW;
  else if (has_part(d, "param") || has_part(d, "param::entry"))
    window = PARAM_WINDOW;
  else if (!has_part(d, "global") && !has_part(d, "const"))
    return decode_refuse(d, "names no state space that is known");
  if (has_part(d, "to")) window = 0 - window;
  if (part_type(d) != T_U64) return decode_refuse(d, "is not modelled with 32-bit addresses");
  int32_t to, from, base;
  if (!decode_destination(d, 'l', &to) || !decode_comma(d)) return false;
  if (!decode_source(d, 'l', &from)) return false;
  if (!window) return push_unary(d, O_MOV64, to, from, 0);
  return decode_constant(d, SLOT_CONSTANT, 'l', window, 0, false, &base) && push_binary(d, O_ADD64, to, from, base, 0);
}

static bool isspacep(Decoder *d) {
  Ins i = decode_ins(d, O_ISSPACEP);
  const Word space = d->parts[d->n_parts - 1];
  i.space = word_is(space, "global") ? SPACE_GLOBAL
            : word_is(space, "shared") || word_is(space, "shared::cta") || word_is(space, "shared::cluster")
                ? SPACE_SHARED
            : word_is(space, "local") ? SPACE_LOCAL
            : word_is(space, "const") ? SPACE_CONST
                                      : SPACE_PARAM;
  return decode_destination(d, 'p', &i.d) && decode_comma(d) && decode_source(d, 'l', &i.a) && decode_push(d, i);
}

bool decode_move(Decoder *d, bool *known) {
  *known = true;
  if (is(d, "cvta")) return cvta(d);
  if (is(d, "isspacep")) return isspacep(d);
  if (is(d, "mov")) {
    const Type type = part_type(d);
    const Kind kind = kind_of(type);
    if (!type || type == T_B128) return decode_refuse(d, "is not modelled");
    if (cursor_peek(&d->r.c) == '{') return move_unpack(d, kind);
    Cursor ahead = d->r.c;
    cursor_word(&ahead);
    if (cursor_take(&ahead, ',')) {
      if (cursor_peek(&ahead) == '{') return move_pack(d, kind);
      const Word w = cursor_word(&ahead);
      if (w.n >= 6 && (!memcmp(w.at, "%clock", 6) || !memcmp(w.at, "%globa", 6))) {
        Ins i = decode_ins(d, O_CLOCK);
        i.mode = kind == 'l';
        if (!decode_destination(d, kind, &i.d) || !decode_comma(d)) return false;
        cursor_word(&d->r.c);
        return kind == 'h' ? decode_refuse(d, "takes 32 or 64 bits here") : decode_push(d, i);
      }
    }
  }
  *known = false;
  return true;
}

/* ---- setp, set ---- */

typedef struct {
  const char *name;
  int8_t base; /* 0 equal, 1 less, 2 less or equal, 3 both are numbers, 4 (floats) less or greater */
  bool swapped, negated, of_floats;
} Comparison;

static const Comparison COMPARISONS[] = {
    {"eq", 0, false, false, false}, {"ne", 0, false, true, false},  {"lt", 1, false, false, false},
    {"le", 2, false, false, false}, {"gt", 1, true, false, false},  {"ge", 2, true, false, false},
    {"lo", 1, false, false, false}, {"ls", 2, false, false, false}, {"hi", 1, true, false, false},
    {"hs", 2, true, false, false},  {"equ", 4, false, true, true},  {"neu", 0, false, true, true},
    {"ltu", 2, true, true, true},   {"leu", 1, true, true, true},   {"gtu", 2, false, true, true},
    {"geu", 1, false, true, true},  {"num", 3, false, false, true}, {"nan", 3, false, true, true},
};

static int32_t comparison_op(Type type, int32_t base, bool is_low) {
  switch (type) {
  case T_B32:
  case T_U32:
  case T_S32:
    return base == 0                  ? O_EQ32
           : type == T_S32 && !is_low ? (base == 1 ? O_LT_S32 : O_LE_S32)
           : base == 1                ? O_LT_U32
                                      : O_LE_U32;
  case T_B64:
  case T_U64:
  case T_S64:
    return base == 0                  ? O_EQ64
           : type == T_S64 && !is_low ? (base == 1 ? O_LT_S64 : O_LE_S64)
           : base == 1                ? O_LT_U64
                                      : O_LE_U64;
  case T_B16:
  case T_U16:
  case T_S16:
    return base == 0                  ? O_EQ16
           : type == T_S16 && !is_low ? (base == 1 ? O_LT_S16 : O_LE_S16)
           : base == 1                ? O_LT_U16
                                      : O_LE_U16;
  case T_F32: return O_EQ_F32 + base;
  case T_F64: return O_EQ_F64 + base;
  case T_F16: return O_EQ_F16 + base;
  case T_BF16: return O_EQ_BF16 + base;
  default: return -1;
  }
}

/* The comparison of setp and set: its operation, negated or not, swapped or not. */
static bool comparison(Decoder *d, Type type, Ins *i, bool *swapped) {
  const bool is_float = type == T_F32 || type == T_F64 || type == T_F16 || type == T_BF16;
  for (size_t c = 0; c < sizeof COMPARISONS / sizeof *COMPARISONS; c++) {
    const Comparison *k = &COMPARISONS[c];
    if (d->n_parts < 3 || !word_is(d->parts[1], k->name)) continue;
    const bool unordered_not = is_float && !strcmp(k->name, "ne"); /* ne of floats is false with a NaN */
    const int32_t base = unordered_not ? 4 : k->base;
    if (k->of_floats && !is_float) break;
    const int32_t op =
        comparison_op(type, base, k->name[0] == 'l' ? k->name[1] == 'o' || k->name[1] == 's' : k->name[0] == 'h');
    if (op < 0) break;
    *i = decode_ins(d, op);
    i->mode = k->negated && !unordered_not ? CMP_NOT : 0;
    *swapped = k->swapped;
    return true;
  }
  return decode_refuse(d, "compares in a way that is not modelled");
}

static bool compared(Decoder *d, Type type, Ins *i, bool swapped) {
  const Kind kind = kind_of(type);
  int32_t a, b;
  if (!decode_source(d, kind, &a) || !decode_comma(d) || !decode_source(d, kind, &b)) return false;
  i->a = swapped ? b : a;
  i->b = swapped ? a : b;
  return true;
}

static bool combined(Decoder *d, Ins *i) {
  const bool with_and = has_part(d, "and"), with_or = has_part(d, "or"), with_xor = has_part(d, "xor");
  if (!with_and && !with_or && !with_xor) return true;
  bool negated;
  if (!decode_comma(d) || !decode_predicate(d, &i->c, &negated)) return false;
  i->mode |= (uint8_t)((with_and ? CMP_AND : with_or ? CMP_OR : CMP_XOR) | (negated ? CMP_C_NOT : 0));
  return true;
}

static bool setp(Decoder *d) {
  Ins i;
  bool swapped;
  int32_t q = -1;
  const Type type = part_type(d);
  if (!comparison(d, type, &i, &swapped)) return false;
  if (!decode_destination(d, 'p', &i.d)) return false;
  if (cursor_take(&d->r.c, '|') && !decode_destination(d, 'p', &q)) return false;
  if (!decode_comma(d) || !compared(d, type, &i, swapped) || !combined(d, &i)) return false;
  i.ext = q;
  return decode_push(d, i);
}

static bool set(Decoder *d) { /* set.CMP[.BOOL].TO.FROM: all ones or 1.0 */
  Ins i;
  bool swapped;
  int32_t to, yes, no;
  const Type type = part_type(d), result = type_of(d->parts[d->n_parts - 2]);
  if (result != T_U32 && result != T_S32 && result != T_F32) return decode_refuse(d, "is not modelled");
  if (!comparison(d, type, &i, &swapped) || !decode_destination(d, 'w', &to) || !decode_comma(d)) return false;
  if (!compared(d, type, &i, swapped) || !combined(d, &i) || !decode_temporary(d, 'p', &i.d)) return false;
  const uint64_t one = result == T_F32 ? 0x3f800000u : 0xffffffffu;
  if (!decode_constant(d, SLOT_CONSTANT, 'w', one, 0, false, &yes) ||
      !decode_constant(d, SLOT_CONSTANT, 'w', 0, 0, false, &no))
    return false;
  const int32_t p = i.d;
  if (!decode_push(d, i)) return false;
  Ins s = decode_ins(d, O_SELP32);
  s.d = to, s.a = yes, s.b = no, s.c = p;
  return decode_push(d, s);
}

bool decode_compare(Decoder *d, bool *known) {
  *known = true;
  if (is(d, "setp")) return setp(d);
  if (is(d, "set")) return set(d);
  *known = false;
  return true;
}

/* ---- cvt ---- */

static bool is_float_type(Type t) { return t == T_F16 || t == T_BF16 || t == T_F32 || t == T_F64; }
static bool is_signed_type(Type t) { return t == T_S8 || t == T_S16 || t == T_S32 || t == T_S64; }

/* A step of a chain: the last one writes `to`. */
static bool step(Decoder *d, int32_t op, Kind result, int32_t *at, bool last, int32_t to, int64_t imm) {
  int32_t place = to;
  if (!last && !decode_temporary(d, result, &place)) return false;
  if (!push_unary(d, op, place, *at, imm)) return false;
  *at = place;
  return true;
}

static int32_t extension(Type t) {
  switch (t) {
  case T_S8: return O_EXT_S8;
  case T_U8:
  case T_B8: return O_EXT_U8;
  case T_S16: return O_EXT_S16;
  case T_U16:
  case T_B16: return O_EXT_U16;
  default: return -1;
  }
}

/* Integer `from` (in a register of `has`) to integer `to` (in a register of `wanted`). */
static bool convert_integers(Decoder *d, Type to, Type from, Kind has, Kind wanted, int32_t a, int32_t place,
                             bool saturated) {
  const int32_t to_bytes = ptx_type_bytes[to], from_bytes = ptx_type_bytes[from];
  const Type narrow = to_bytes <= from_bytes ? to : from;
  int32_t at = a;
  if (saturated && (to_bytes < from_bytes || is_signed_type(to) != is_signed_type(from))) {
    if (from_bytes > 4 || to_bytes > 4) return decode_refuse(d, "is not modelled: saturation of 64 bits");
    if (has == 'l' && !step(d, O_TRUNC64, 'w', &at, false, 0, 0)) return false;
    if (from_bytes < 4 && !step(d, extension(from), 'w', &at, false, 0, 0)) return false;
    const int64_t bits = 8 * to_bytes;
    int64_t low = is_signed_type(to) ? -((int64_t)1 << (bits - 1)) : 0;
    int64_t high = is_signed_type(to) ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;
    if (high > INT32_MAX) high = INT32_MAX; /* u32 from s32 */
    const int64_t limits = (int64_t)((uint64_t)high << 32 | (uint32_t)low);
    if (!step(d, is_signed_type(from) ? O_SAT_INT : O_SAT_UINT, 'w', &at, wanted != 'l', place, limits)) return false;
    return wanted != 'l' || step(d, is_signed_type(to) ? O_EXT_S32 : O_EXT_U32, 'l', &at, true, place, 0);
  }
  if (ptx_type_bytes[narrow] == 8) return step(d, O_MOV64, 'l', &at, true, place, 0);
  const bool to_long = wanted == 'l';
  if (has == 'l' && !step(d, O_TRUNC64, 'w', &at, !to_long && ptx_type_bytes[narrow] == 4, place, 0)) return false;
  if (ptx_type_bytes[narrow] < 4) {
    const bool cut = is_signed_type(narrow) && to_bytes <= 2; /* a 16-bit register's upper half stays 0 */
    const bool last = !to_long && !cut;
    if (!step(d, extension(narrow), 'w', &at, last, place, 0)) return false;
    if (cut && wanted == 'h' && !step(d, O_EXT_U16, 'w', &at, true, place, 0)) return false;
    if (cut && wanted != 'h') { /* cvt.u16.s8 into more bits: by the sign of the result */
      const int32_t op = is_signed_type(to) ? O_MOV32 : O_EXT_U16;
      if (!step(d, op, 'w', &at, !to_long, place, 0)) return false;
    }
  } else if (has != 'l' && !to_long) {
    return step(d, O_MOV32, 'w', &at, true, place, 0);
  }
  return !to_long ||
         step(d, is_signed_type(to_bytes <= from_bytes ? to : from) ? O_EXT_S32 : O_EXT_U32, 'l', &at, true, place, 0);
}

static bool float_from(Decoder *d, Type from, Kind has, int32_t *at, bool saturated) { /* half, bfloat: as float */
  (void)saturated;
  if (from == T_F16) return step(d, O_F32_F16, 'w', at, false, 0, 0);
  if (from == T_BF16) return step(d, O_F32_BF16, 'w', at, false, 0, 0);
  (void)has;
  return true;
}

static bool convert_to_integer(Decoder *d, Type to, Type from, Kind has, Kind wanted, int32_t a, int32_t place) {
  int32_t at = a;
  if (!float_from(d, from, has, &at, false)) return false;
  const bool is_double = from == T_F64;
  const int32_t base = is_double ? O_RNI_F64 : O_RNI_F32;
  int32_t way = has_part(d, "rni") ? 0 : has_part(d, "rzi") ? 1 : has_part(d, "rmi") ? 2 : has_part(d, "rpi") ? 3 : -1;
  if (way < 0) return decode_refuse(d, "has no rounding to an integer");
  if (way != 1 && !step(d, base + way, is_double ? 'l' : 'w', &at, false, 0, 0)) return false;
  const bool wide = ptx_type_bytes[to] == 8;
  const int32_t op = is_double ? (wide                 ? (is_signed_type(to) ? O_S64_F64 : O_U64_F64)
                                  : is_signed_type(to) ? O_S32_F64
                                                       : O_U32_F64)
                               : (wide                 ? (is_signed_type(to) ? O_S64_F32 : O_U64_F32)
                                  : is_signed_type(to) ? O_S32_F32
                                                       : O_U32_F32);
  if (wide) return step(d, op, 'l', &at, true, place, 0);
  const bool small = ptx_type_bytes[to] < 4;
  if (!step(d, op, 'w', &at, !small && wanted != 'l', place, 0)) return false;
  if (small) { /* float to small integers saturates */
    const int64_t bits = 8 * ptx_type_bytes[to];
    const int64_t low = is_signed_type(to) ? -((int64_t)1 << (bits - 1)) : 0;
    const int64_t high = is_signed_type(to) ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;
    const int64_t limits = (int64_t)((uint64_t)high << 32 | (uint32_t)low);
    const bool cut = wanted == 'h' && is_signed_type(to);
    if (!step(d, is_signed_type(to) ? O_SAT_INT : O_SAT_UINT, 'w', &at, wanted != 'l' && !cut, place, limits))
      return false;
    if (cut) return step(d, O_EXT_U16, 'w', &at, true, place, 0);
  }
  return wanted != 'l' || step(d, is_signed_type(to) ? O_EXT_S32 : O_EXT_U32, 'l', &at, true, place, 0);
}

static bool float_to(Decoder *d, Type to, int32_t *at, int32_t place) { /* a float, rounded to `to` */
  const bool rz = has_part(d, "rz");
  if (to == T_F16) return step(d, rz ? O_F16_F32_RZ : O_F16_F32, 'h', at, true, place, 0);
  if (to == T_BF16) return step(d, rz ? O_BF16_F32_RZ : O_BF16_F32, 'h', at, true, place, 0);
  return step(d, O_MOV32, 'w', at, true, place, 0);
}

static bool convert_from_integer(Decoder *d, Type to, Type from, Kind has, int32_t a, int32_t place) {
  int32_t at = a;
  if (has == 'l' && ptx_type_bytes[from] < 8 && !step(d, O_TRUNC64, 'w', &at, false, 0, 0)) return false;
  if (ptx_type_bytes[from] < 4 && !step(d, extension(from), 'w', &at, false, 0, 0)) return false;
  const bool wide = ptx_type_bytes[from] == 8, sign = is_signed_type(from);
  if (to == T_F64)
    return step(d, wide ? (sign ? O_F64_S64 : O_F64_U64) : sign ? O_F64_S32 : O_F64_U32, 'l', &at, true, place, 0);
  const int32_t op = wide ? (sign ? O_F32_S64 : O_F32_U64) : sign ? O_F32_S32 : O_F32_U32;
  if (!step(d, op, 'w', &at, to == T_F32, place, 0)) return false;
  return to == T_F32 || float_to(d, to, &at, place);
}

static bool convert_floats(Decoder *d, Type to, Type from, Kind has, int32_t a, int32_t place) {
  int32_t at = a;
  const int32_t way = has_part(d, "rni")   ? 0
                      : has_part(d, "rzi") ? 1
                      : has_part(d, "rmi") ? 2
                      : has_part(d, "rpi") ? 3
                                           : -1;
  const bool saturated = has_part(d, "sat");
  if (from == T_F64 && to == T_F64) return step(d, way < 0 ? O_MOV64 : O_RNI_F64 + way, 'l', &at, true, place, 0);
  if (!float_from(d, from, has, &at, false)) return false;
  if (from == T_F64 && !step(d, O_F32_F64, 'w', &at, to == T_F32 && !saturated, place, 0)) return false;
  if (from == T_F64 && to == T_F32 && !saturated) return true;
  if (way >= 0 && !step(d, O_RNI_F32 + way, 'w', &at, to == T_F32 && !saturated, place, 0)) return false;
  if (way >= 0 && to == T_F32 && !saturated) return true;
  if (saturated && !step(d, O_SAT_F32, 'w', &at, to == T_F32, place, 0)) return false;
  if (saturated && to == T_F32) return true;
  if (to == T_F64) return step(d, O_F64_F32, 'l', &at, true, place, 0);
  return float_to(d, to, &at, place);
}

/* Two floats, or a pair of halves, to a pair. */
static bool convert_pairs(Decoder *d, Type to, Type from) {
  Ins i = decode_ins(d, 0);
  const bool rz = has_part(d, "rz"), relu = has_part(d, "relu");
  const bool small = to == T_E4M3X2 || to == T_E5M2X2;
  if (from == T_F32) {
    i.op = (uint16_t)(to == T_F16X2    ? (rz ? O_F16X2_F32_RZ : O_F16X2_F32)
                      : to == T_BF16X2 ? (rz ? O_BF16X2_F32_RZ : O_BF16X2_F32)
                      : to == T_E4M3X2 ? O_E4M3X2_F32
                                       : O_E5M2X2_F32);
    if (!decode_destination(d, small ? 'h' : 'w', &i.d) || !decode_comma(d) || !decode_source(d, 'w', &i.a) ||
        !decode_comma(d) || !decode_source(d, 'w', &i.b))
      return false;
    if (small && relu) return decode_refuse(d, "is not modelled");
    if (!decode_push(d, i)) return false;
    return !relu || push_unary(d, O_RELU_F16X2, i.d, i.d, 0);
  }
  if (to == T_F16X2 && (from == T_E4M3X2 || from == T_E5M2X2)) {
    i.op = from == T_E4M3X2 ? O_F16X2_E4M3X2 : O_F16X2_E5M2X2;
    return decode_destination(d, 'w', &i.d) && decode_comma(d) && decode_source(d, 'h', &i.a) && decode_push(d, i);
  }
  if (small && from == T_F16X2) {
    i.op = to == T_E4M3X2 ? O_E4M3X2_F16X2 : O_E5M2X2_F16X2;
    return decode_destination(d, 'h', &i.d) && decode_comma(d) && decode_source(d, 'w', &i.a) && decode_push(d, i);
  }
  return decode_refuse(d, "is not modelled");
}

static bool cvt(Decoder *d) {
  Type from = part_type(d), to = d->n_parts > 2 ? type_of(d->parts[d->n_parts - 2]) : T_NONE;
  if (!from || !to) return decode_refuse(d, "names no two types");
  if (to == T_F16X2 || to == T_BF16X2 || to == T_E4M3X2 || to == T_E5M2X2) return convert_pairs(d, to, from);
  if (to == T_TF32 && from == T_F32) {
    int32_t tf32, f;
    return decode_destination(d, 'w', &tf32) && decode_comma(d) && decode_source(d, 'w', &f) &&
           push_unary(d, O_TF32_F32, tf32, f, 0);
  }
  Kind wanted = kind_of(to), has = kind_of(from);
  int32_t place, a;
  if (from == T_PRED || to == T_PRED || !ptx_type_bytes[from] || !ptx_type_bytes[to] || from >= T_E4M3 ||
      to >= T_E4M3 || from == T_B128 || to == T_B128)
    return decode_refuse(d, "is not modelled");
  if (!decode_destination_wider(d, &wanted, &place) || !decode_comma(d) || !decode_source_wider(d, &has, &a))
    return false;
  if (is_float_type(to) && wanted != kind_of(to)) return decode_refuse(d, "writes a register of another width");
  if (is_float_type(from) && has != kind_of(from)) return decode_refuse(d, "reads a register of another width");
  if (is_float_type(from))
    return is_float_type(to) ? convert_floats(d, to, from, has, a, place)
                             : convert_to_integer(d, to, from, has, wanted, a, place);
  if (is_float_type(to)) return convert_from_integer(d, to, from, has, a, place);
  return convert_integers(d, to, from, has, wanted, a, place, has_part(d, "sat"));
}

bool decode_convert(Decoder *d, bool *known) {
  *known = is(d, "cvt");
  return !*known || cvt(d);
}

/* ---- branches and calls ---- */

static bool note(Decoder *d, int32_t **list, int32_t *n, int32_t *capacity, int32_t value) {
  if (*n == *capacity) {
    const int32_t more = 2 * *capacity + 16;
    int32_t *grown = realloc(*list, (size_t)more * sizeof *grown);
    if (!grown) return ptx_reader_no_memory(&d->r);
    *list = grown, *capacity = more;
  }
  (*list)[(*n)++] = value;
  return true;
}

static bool fix_later(Decoder *d, Word label) {
  if (d->n_fixes == d->fixes_capacity) {
    const int32_t more = 2 * d->fixes_capacity + 64;
    Fix *grown = realloc(d->fixes, (size_t)more * sizeof *grown);
    if (!grown) return ptx_reader_no_memory(&d->r);
    d->fixes = grown, d->fixes_capacity = more;
  }
  d->fixes[d->n_fixes++] = (Fix){d->k->n_code, d->scope, label, d->r.c.line};
  return true;
}

static bool branch(Decoder *d) {
  Ins i = decode_ins(d, is(d, "brx") ? O_BRX : O_BRA);
  if (i.op == O_BRX && (!decode_source(d, 'w', &i.a) || !decode_comma(d))) return false;
  const Word label = cursor_word(&d->r.c);
  if (label.n == 0) return ptx_reader_refuses(&d->r, label, "where a label is meant");
  return fix_later(d, label) && decode_push(d, i);
}

static bool leave(Decoder *d) { /* ret, exit */
  if (is(d, "exit") || d->depth == 0) return decode_push(d, decode_ins(d, O_EXIT));
  return note(d, &d->returns, &d->n_returns, &d->returns_capacity, d->k->n_code) &&
         decode_push(d, decode_ins(d, O_BRA));
}

enum { MAX_ARGUMENTS = 64 };
typedef struct {
  int64_t at[MAX_ARGUMENTS]; /* places in local memory */
  int32_t n;
} Arguments;

static bool call_arguments(Decoder *d, Arguments *a) { /* behind "(" */
  a->n = 0;
  if (cursor_take(&d->r.c, ')')) return true;
  do {
    const Word w = cursor_word(&d->r.c);
    const Symbol *s = decode_find(d, w);
    if (!s || s->kind != SYM_LOCAL) return ptx_reader_refuses(&d->r, w, "is no .param of this call");
    if (a->n == MAX_ARGUMENTS) return ptx_reader_fails(&d->r, "a call with more than %d arguments", MAX_ARGUMENTS);
    a->at[a->n++] = s->value;
  } while (cursor_take(&d->r.c, ','));
  return ptx_reader_expect(&d->r, ')');
}

/* The formal parameters at `c` are the actual ones. */
static bool bind(Decoder *d, Cursor c, const Arguments *a) {
  int32_t n = 0;
  if (!c.at) return a->n == 0 || ptx_reader_fails(&d->r, "more arguments than the function takes");
  d->r.c = c;
  if (cursor_take(&d->r.c, ')')) return a->n == 0 || ptx_reader_fails(&d->r, "more arguments than the function takes");
  do {
    const Word w = cursor_word(&d->r.c);
    if (!word_is(w, ".param")) return ptx_reader_refuses(&d->r, w, "of a function is not modelled, .param is");
    Variable v;
    if (!ptx_reader_variable(&d->r, &v)) return false;
    if (n == a->n) return ptx_reader_refuses(&d->r, v.name, "gets no argument from a call");
    Symbol *s = symbols_add(&d->names, d->scope, v.name, SYM_LOCAL);
    if (!s) return ptx_reader_no_memory(&d->r);
    s->value = a->at[n++];
    s->bytes = v.bytes;
  } while (cursor_take(&d->r.c, ','));
  return n == a->n || ptx_reader_fails(&d->r, "more arguments than the function takes");
}

/* A call is its function's body in its place. */
static bool expand(Decoder *d, const Function *f, const Arguments *results, const Arguments *arguments) {
  const Cursor back = d->r.c;
  const int32_t scope = d->scope, first_return = d->n_returns, skip = d->k->n_code;
  const Ins jump = decode_ins(d, O_BRA);
  const bool guarded = d->guard >= 0;
  if (d->depth == MAX_CALL_DEPTH)
    return ptx_reader_refuses(&d->r, f->name, "is called more than 32 deep: recursion is not modelled");
  if (guarded) {
    Ins over = jump;
    over.guard_not = !jump.guard_not;
    if (!decode_push(d, over)) return false;
  }
  if (d->n_scopes >= 100000) return ptx_reader_fails(&d->r, "more than 100000 scopes");
  int32_t *parents = realloc(d->parents, (size_t)(d->n_scopes + 64) * sizeof *parents);
  if (!parents) return ptx_reader_no_memory(&d->r);
  d->parents = parents, d->scopes_capacity = d->n_scopes + 64;
  d->parents[d->n_scopes] = 1;
  d->scope = d->n_scopes++;
  d->depth++;
  if (!bind(d, f->returns, results) || !bind(d, f->parameters, arguments) || !decode_body(d, f)) return false;
  d->depth--;
  for (int32_t i = first_return; i < d->n_returns; i++) d->k->code[d->returns[i]].target = d->k->n_code;
  d->n_returns = first_return;
  if (guarded) d->k->code[skip].target = d->k->n_code;
  d->r.c = back;
  d->scope = scope;
  return true;
}

static bool builtin(Decoder *d, Word name, const Arguments *a, bool *known) {
  *known = true;
  if (word_is(name, "vprintf") && a->n == 2) {
    Ins i = decode_ins(d, O_PRINT);
    i.imm = a->at[0], i.target = (int32_t)a->at[1];
    return decode_push(d, i);
  }
  if (word_is(name, "__assertfail") && a->n >= 1) {
    Ins i = decode_ins(d, O_ASSERT);
    i.imm = a->at[0], i.target = a->n > 2 ? (int32_t)a->at[2] : -1;
    return decode_push(d, i);
  }
  *known = false;
  return true;
}

static bool call(Decoder *d) {
  Arguments results = {.n = 0}, arguments = {.n = 0};
  if (cursor_take(&d->r.c, '(') && (!call_arguments(d, &results) || !decode_comma(d))) return false;
  const Word name = cursor_word(&d->r.c);
  if (cursor_take(&d->r.c, ',')) {
    if (!ptx_reader_expect(&d->r, '(') || !call_arguments(d, &arguments)) return false;
  }
  bool known;
  if (!builtin(d, name, &arguments, &known) || known) return known && !d->r.status;
  const Symbol *s = symbols_find(&d->r.module->symbols, 0, name);
  if (!s || s->kind != SYM_FUNCTION)
    return ptx_reader_refuses(&d->r, name, "is no function: calls through pointers are not modelled");
  return expand(d, &d->r.module->functions[s->value], &results, &arguments);
}

bool decode_flow(Decoder *d, bool *known) {
  *known = true;
  if (is(d, "bra") || is(d, "brx")) return branch(d);
  if (is(d, "ret") || is(d, "exit")) return leave(d);
  if (is(d, "call")) return call(d);
  if (is(d, "trap") || is(d, "brkpt")) return decode_push(d, decode_ins(d, O_TRAP));
  *known = false;
  return true;
}
