/* Moves and comparisons. */
#include <string.h>

#include "kernels/ptx/ptx_decode.h"

bool decode_unary(Decoder *d, int32_t op, int32_t to, int32_t from, int64_t imm) {
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
  const int32_t commas = decode_commas_ahead(d, '}');
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
  const int32_t commas = decode_commas_ahead(d, '}');
  const int32_t bits = kind_bits(whole) / (commas + 1);
  if ((bits != 32 && bits != 16 && bits != 8) || commas > 3)
    return decode_refuse(d, "is not modelled with so many registers in braces");
  if (!decode_braces(d, bits == 32 ? 'w' : 'h', false, 2, 4, parts, &n) || !decode_comma(d) ||
      !decode_source(d, whole, &from))
    return false;
  if (whole == 'l' && bits == 32)
    return decode_unary(d, O_TRUNC64, parts[0], from, 0) && decode_unary(d, O_HIGH64, parts[1], from, 0);
  if (whole == 'w' && bits == 16)
    return decode_unary(d, O_LOW16, parts[0], from, 0) && decode_unary(d, O_HIGH32, parts[1], from, 0);
  if (whole == 'w') {
    for (int i = 0; i < 4; i++)
      if (!decode_unary(d, O_BYTE32, parts[i], from, 8 * i)) return false;
    return true;
  }
  if (bits != 16) return decode_refuse(d, "is not modelled with so many registers in braces");
  for (int i = 0; i < 2; i++) {
    int32_t half;
    if (!decode_temporary(d, 'w', &half) || !decode_unary(d, i ? O_HIGH64 : O_TRUNC64, half, from, 0)) return false;
    if (!decode_unary(d, O_LOW16, parts[2 * i], half, 0) || !decode_unary(d, O_HIGH32, parts[2 * i + 1], half, 0))
      return false;
  }
  return true;
}

static bool cvta(Decoder *d) {
  uint64_t window = 0;
  if (which_part(d, "shared shared::cta shared::cluster") >= 0)
    window = SHARED_WINDOW;
  else if (has_part(d, "local"))
    window = LOCAL_WINDOW;
  else if (which_part(d, "param param::entry") >= 0)
    window = PARAM_WINDOW;
  else if (!has_part(d, "global") && !has_part(d, "const"))
    return decode_refuse(d, "names no state space that is known");
  if (has_part(d, "to")) window = 0 - window;
  if (part_type(d) != T_U64) return decode_refuse(d, "is not modelled with 32-bit addresses");
  int32_t to, from, base;
  if (!decode_destination(d, 'l', &to) || !decode_comma(d)) return false;
  if (!decode_source(d, 'l', &from)) return false;
  if (!window) return decode_unary(d, O_MOV64, to, from, 0);
  return decode_constant(d, SLOT_CONSTANT, 'l', window, 0, false, &base) && push_binary(d, O_ADD64, to, from, base, 0);
}

static bool isspacep(Decoder *d) {
  Ins i = decode_ins(d, O_ISSPACEP);
  const Word space = d->parts[d->n_parts - 1];
  i.space = word_is(space, "global")                                       ? SPACE_GLOBAL
            : word_index(space, "shared shared::cta shared::cluster") >= 0 ? SPACE_SHARED
            : word_is(space, "local")                                      ? SPACE_LOCAL
            : word_is(space, "const")                                      ? SPACE_CONST
                                                                           : SPACE_PARAM;
  return decode_operands(d, i, "dp,al");
}

static bool mov(Decoder *d) {
  const Type type = part_type(d);
  const Kind kind = kind_of(type);
  if (!type || type == T_B128) return decode_refuse(d, "is not modelled");
  if (cursor_peek(&d->r.c) == '{') return move_unpack(d, kind);
  Cursor ahead = d->r.c;
  cursor_word(&ahead);
  if (!cursor_take(&ahead, ',')) return decode_arithmetic(d);
  if (cursor_peek(&ahead) == '{') return move_pack(d, kind);
  const Word w = cursor_word(&ahead);
  if (w.n < 6 || (memcmp(w.at, "%clock", 6) && memcmp(w.at, "%globa", 6))) return decode_arithmetic(d);
  Ins i = decode_ins(d, O_CLOCK);
  i.mode = kind == 'l';
  if (!decode_destination(d, kind, &i.d) || !decode_comma(d)) return false;
  cursor_word(&d->r.c);
  return kind == 'h' ? decode_refuse(d, "takes 32 or 64 bits here") : decode_push(d, i);
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
  const bool is_signed = !is_low && (type == T_S16 || type == T_S32 || type == T_S64);
  const int32_t of_integers = base && !is_signed ? base + O_LT_U32 - O_LT_S32 : base;
  switch (type) {
  case T_B32:
  case T_U32:
  case T_S32: return O_EQ32 + of_integers;
  case T_B64:
  case T_U64:
  case T_S64: return O_EQ64 + of_integers;
  case T_B16:
  case T_U16:
  case T_S16: return O_EQ16 + of_integers;
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
  const Type type = part_type(d), result = d->n_parts > 2 ? type_of(d->parts[d->n_parts - 2]) : T_NONE;
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

const DecodeRow DECODE_MOVES[] = {{"cvt", decode_convert},
                                  {"cvta", cvta},
                                  {"isspacep", isspacep},
                                  {"mov", mov},
                                  {"setp", setp},
                                  {"set", set},
                                  {NULL, NULL}};
