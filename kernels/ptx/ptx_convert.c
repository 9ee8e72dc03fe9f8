/* cvt: any type to any other, rounded once. What kernels convert often has rows in the table of arithmetic. */

#include "kernels/ptx/ptx_access.h"
#include "kernels/ptx/ptx_decode.h"
#include "sim/numbers/precision.h"

/* Ins.mode: rn, rz, rm or rp, and whether that is to a whole number; type and vec: to and from. */
enum { CVT_WAY = 3, CVT_WHOLE = 4, CVT_SAT = 8, CVT_RELU = 16 };
enum { NO_FORMAT = -1 };

int format_of(Type type) {
  switch (type) {
  case T_F16:
  case T_F16X2: return PRECISION_FP16;
  case T_BF16:
  case T_BF16X2: return PRECISION_BF16;
  case T_F32: return PRECISION_FP32;
  case T_F64: return PRECISION_FP64;
  case T_E4M3X2: return PRECISION_E4M3;
  case T_E5M2X2: return PRECISION_E5M2;
  default: return NO_FORMAT;
  }
}

static bool is_fp8(Type type) { return type == T_E4M3X2 || type == T_E5M2X2; }
static bool is_pair(Type type) { return is_fp8(type) || type == T_F16X2 || type == T_BF16X2; }

/* ---- decoding ---- */

static bool is_modelled(Type to, Type from) {
  if (is_pair(to)) return from == T_F32 || (is_fp8(to) ? from == T_F16X2 : to == T_F16X2 && is_fp8(from));
  const Type types[] = {to, from};
  for (int k = 0; k < 2; k++)
    if (is_pair(types[k]) || types[k] == T_B128 || (format_of(types[k]) < 0 && type_class(types[k]) == PTX_FLOAT) ||
        !ptx_type_bytes[types[k]] || types[k] >= T_E4M3)
      return false;
  return true;
}

bool decode_convert(Decoder *d) {
  const Type from = part_type(d), to = d->n_parts > 2 ? type_of(d->parts[d->n_parts - 2]) : T_NONE;
  const int32_t whole = which_part(d, "rni rzi rmi rpi"), way = which_part(d, "rn rz rm rp");
  const int32_t op = decode_op_named(d, "rn ftz");
  const bool is_float = format_of(to) >= 0, of_float = format_of(from) >= 0;
  Kind wanted = kind_of(to), has = kind_of(from);
  Ins i = decode_ins(d, O_CVT);
  if (!from || !to) return decode_refuse(d, "names no two types");
  if (op < 0 && !is_modelled(to, from)) return decode_refuse(d, "is not modelled");
  if (op < 0 && of_float && !is_float && whole < 0) return decode_refuse(d, "has no rounding to an integer");
  if (to == T_F64 && !of_float && way > 0 && ptx_type_bytes[from] == 8)
    return decode_refuse(d, "is not modelled: this rounding of these types");
  if (!decode_destination_wider(d, &wanted, &i.d) || !decode_comma(d) || !decode_source_wider(d, &has, &i.a))
    return false;
  if (is_float && wanted != kind_of(to)) return decode_refuse(d, "writes a register of another width");
  if (of_float && has != kind_of(from)) return decode_refuse(d, "reads a register of another width");
  i.b = i.a;
  if (is_pair(to) && from == T_F32 && (!decode_comma(d) || !decode_source(d, 'w', &i.b))) return false;
  i.type = (uint8_t)to, i.vec = (uint8_t)from, i.bytes = (uint8_t)(kind_bits(wanted) / 8), i.wide = has == 'l';
  i.mode = (uint8_t)((whole > 0 ? whole
                      : way > 0 ? way
                                : 0) |
                     (whole >= 0 ? CVT_WHOLE : 0) | (has_part(d, "sat") ? CVT_SAT : 0) |
                     (has_part(d, "relu") ? CVT_RELU : 0));
  if (op >= 0 && wanted == op_kind(op) && has == ptx_op_rows[op - O_FIRST_ARITHMETIC].operands[0]) i.op = (uint16_t)op;
  return decode_push(d, i);
}

/* ---- one number ---- */

/* To nearest, toward zero, down or up. A NaN of fp64 stays as it is, others become the one that has all bits. */
static uint64_t rounded(Precision format, double x, int way, bool keeps_nan) {
  const uint64_t top = (uint64_t)1 << (precision_format(format)->bits - 1), bits = precision_to_bits(format, x);
  const double nearest = precision_from_bits(format, bits);
  const bool is_wrong = way == 1 ? fabs(nearest) > fabs(x) : way == 2 ? nearest > x : way == 3 ? nearest < x : false;
  const bool is_inward = way == 1 || (x > 0) == (way == 2);
  if (x != x && !keeps_nan) return top - 1;
  return !is_wrong ? bits : is_inward ? bits - 1 : bits + 1;
}

/* An integer as a double; where that is not exact, with a last bit that says so: rounded again, it is as if once. */
static double double_of(__int128 whole, bool again) {
  const double x = (double)whole;
  const __int128 off = (__int128)x - whole;
  if (!off || !again) return x;
  const uint64_t bits = precision_to_bits(PRECISION_FP64, x) - ((off < 0) == (whole < 0));
  return precision_from_bits(PRECISION_FP64, bits | 1);
}

static uint64_t extended(uint64_t bits, Type type) {
  const int unused = 64 - 8 * ptx_type_bytes[type];
  return type_class(type) == PTX_SIGNED ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
}

static uint64_t convert(const Ins *i, uint64_t bits) {
  static double (*const WAYS[])(double) = {rint, trunc, floor, ceil};
  const Type to = i->type, from = i->vec;
  const int to_format = format_of(to), from_format = format_of(from), width = 8 * ptx_type_bytes[to];
  const bool of_float = from_format >= 0;
  const uint64_t extension = of_float ? 0 : extended(bits, from);
  __int128 whole = type_class(from) == PTX_SIGNED ? (__int128)(int64_t)extension : (__int128)extension;
  double x = of_float ? precision_from_bits((Precision)from_format, bits) : double_of(whole, to != T_F64);
  if (i->mode & CVT_WHOLE) x = WAYS[i->mode & CVT_WAY](x);
  if (to_format >= 0) {
    if (i->mode & CVT_SAT) x = x > 0 ? fmin(x, 1) : 0; /* NaN gives 0 */
    if (i->mode & CVT_RELU && x < 0) x = 0;
    return rounded((Precision)to_format, x, i->mode & CVT_WHOLE ? 0 : i->mode & CVT_WAY, from == T_F64);
  }
  const bool is_signed = type_class(to) == PTX_SIGNED;
  const __int128 most = ((__int128)1 << (width - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
  if (x != x) return from == T_F64 || width == 64 ? (uint64_t)1 << (width - 1) : 0;
  if (of_float) whole = x > 0x1p70 ? most : x < -0x1p70 ? least : (__int128)x;
  if (of_float || i->mode & CVT_SAT) whole = whole < least ? least : whole > most ? most : whole;
  return extended((uint64_t)whole, to);
}

void warp_convert(const Ins *i, char *R, uint32_t mask) {
  const bool pair = is_pair(i->type);
  const int from_bits = pair ? precision_format((Precision)format_of(i->vec))->bits : 0,
            to_bits = pair ? precision_format((Precision)format_of(i->type))->bits : 0;
  FOR_LANES (l, mask) {
    const uint64_t a = lane_get(R + i->a, i->wide, l);
    uint64_t v = convert(i, pair ? lane_get(R + i->b, false, l) : a);
    if (pair) v |= convert(i, i->vec == T_F32 ? a : a >> from_bits) << to_bits;
    lane_set(R + i->d, i->bytes == 8, l, i->bytes == 2 ? v & 0xffff : v);
  }
}
