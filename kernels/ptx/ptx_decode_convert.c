/* Conversions: chains of the simple ones that the table of arithmetic has. */
#include "kernels/ptx/ptx_decode.h"

static bool is_float_type(Type t) { return t == T_F16 || t == T_BF16 || t == T_F32 || t == T_F64; }
static bool is_signed_type(Type t) { return t == T_S8 || t == T_S16 || t == T_S32 || t == T_S64; }

/* A step of a chain: the last one writes `to`. */
static bool step(Decoder *d, int32_t op, Kind result, int32_t *at, bool last, int32_t to, int64_t imm) {
  int32_t place = to;
  if (!last && !decode_temporary(d, result, &place)) return false;
  if (!decode_unary(d, op, place, *at, imm)) return false;
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

/* The least and, in the upper half, the largest integer of up to 32 bits; u32's is s32's. */
static int64_t limits_of(Type to) {
  const int64_t bits = 8 * ptx_type_bytes[to] - is_signed_type(to), high = ((int64_t)1 << bits) - 1;
  const int64_t low = is_signed_type(to) ? -high - 1 : 0;
  return (int64_t)((uint64_t)(high < INT32_MAX ? high : INT32_MAX) << 32 | (uint32_t)low);
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
    if (!step(d, is_signed_type(from) ? O_SAT_INT : O_SAT_UINT, 'w', &at, wanted != 'l', place, limits_of(to)))
      return false;
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

static bool float_from(Decoder *d, Type from, int32_t *at) { /* half, bfloat: as float */
  return (from != T_F16 && from != T_BF16) || step(d, from == T_F16 ? O_F32_F16 : O_F32_BF16, 'w', at, false, 0, 0);
}

static bool convert_to_integer(Decoder *d, Type to, Type from, Kind wanted, int32_t a, int32_t place) {
  int32_t at = a;
  if (!float_from(d, from, &at)) return false;
  const bool is_double = from == T_F64;
  const int32_t base = is_double ? O_RNI_F64 : O_RNI_F32;
  const int32_t way = which_part(d, "rni rzi rmi rpi");
  if (way < 0) return decode_refuse(d, "has no rounding to an integer");
  if (way != 1 && !step(d, base + way, is_double ? 'l' : 'w', &at, false, 0, 0)) return false;
  const bool wide = ptx_type_bytes[to] == 8;
  const int32_t op = O_S32_F32 + 4 * is_double + 2 * wide + !is_signed_type(to);
  if (wide) return step(d, op, 'l', &at, true, place, 0);
  const bool small = ptx_type_bytes[to] < 4;
  if (!step(d, op, 'w', &at, !small && wanted != 'l', place, 0)) return false;
  if (small) { /* float to small integers saturates */
    const bool cut = wanted == 'h' && is_signed_type(to);
    if (!step(d, is_signed_type(to) ? O_SAT_INT : O_SAT_UINT, 'w', &at, wanted != 'l' && !cut, place, limits_of(to)))
      return false;
    if (cut) return step(d, O_EXT_U16, 'w', &at, true, place, 0);
  }
  return wanted != 'l' || step(d, is_signed_type(to) ? O_EXT_S32 : O_EXT_U32, 'l', &at, true, place, 0);
}

static const char DIRECTIONS[] = "rm rz rp"; /* -1, 0, 1 */

static bool float_to(Decoder *d, Type to, int32_t *at, int32_t place) { /* a float, rounded to `to` */
  const bool rz = has_part(d, "rz");
  if (to == T_F32) return step(d, O_MOV32, 'w', at, true, place, 0);
  return step(d, (to == T_F16 ? O_F16_F32 : O_BF16_F32) + rz, 'h', at, true, place, 0);
}

static bool float_from_double(Decoder *d, int32_t *at, bool last, int32_t place) {
  const int32_t way = which_part(d, DIRECTIONS);
  return step(d, way < 0 ? O_F32_F64 : O_F32_F64_DIRECTED, 'w', at, last, place, way - 1);
}

static bool convert_from_integer(Decoder *d, Type to, Type from, Kind has, int32_t a, int32_t place) {
  int32_t at = a;
  if (has == 'l' && ptx_type_bytes[from] < 8 && !step(d, O_TRUNC64, 'w', &at, false, 0, 0)) return false;
  if (ptx_type_bytes[from] < 4 && !step(d, extension(from), 'w', &at, false, 0, 0)) return false;
  const bool wide = ptx_type_bytes[from] == 8;
  const bool directed = which_part(d, DIRECTIONS) >= 0;
  const int32_t op = O_F32_S32 + 4 * (to == T_F64 || directed) + 2 * wide + !is_signed_type(from);
  if (to == T_F64) return step(d, op, 'l', &at, true, place, 0);
  if (directed) return step(d, op, 'l', &at, false, 0, 0) && float_from_double(d, &at, true, place);
  if (!step(d, op, 'w', &at, to == T_F32, place, 0)) return false;
  return to == T_F32 || float_to(d, to, &at, place);
}

static bool convert_floats(Decoder *d, Type to, Type from, int32_t a, int32_t place) {
  int32_t at = a;
  const int32_t way = which_part(d, "rni rzi rmi rpi");
  const bool saturated = has_part(d, "sat");
  if (from == T_F64 && to == T_F64) return step(d, way < 0 ? O_MOV64 : O_RNI_F64 + way, 'l', &at, true, place, 0);
  if (!float_from(d, from, &at)) return false;
  if (from == T_F64 && !float_from_double(d, &at, to == T_F32 && !saturated, place)) return false;
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
    if (small && relu) return decode_refuse(d, "is not modelled");
    if (!decode_operands(d, i, small ? "dh,aw,bw" : "dw,aw,bw")) return false;
    i.d = d->k->code[d->k->n_code - 1].d;
    return !relu || decode_unary(d, O_RELU_F16X2, i.d, i.d, 0);
  }
  if (to == T_F16X2 && (from == T_E4M3X2 || from == T_E5M2X2)) {
    i.op = from == T_E4M3X2 ? O_F16X2_E4M3X2 : O_F16X2_E5M2X2;
    return decode_operands(d, i, "dw,ah");
  }
  if (small && from == T_F16X2) {
    i.op = to == T_E4M3X2 ? O_E4M3X2_F16X2 : O_E5M2X2_F16X2;
    return decode_operands(d, i, "dh,aw");
  }
  return decode_refuse(d, "is not modelled");
}

static bool cvt(Decoder *d) {
  Type from = part_type(d), to = d->n_parts > 2 ? type_of(d->parts[d->n_parts - 2]) : T_NONE;
  if (!from || !to) return decode_refuse(d, "names no two types");
  if (to == T_F16X2 || to == T_BF16X2 || to == T_E4M3X2 || to == T_E5M2X2) return convert_pairs(d, to, from);
  if (to == T_TF32 && from == T_F32)
    return has_part(d, "rna") ? decode_operands(d, decode_ins(d, O_TF32_F32), "dw,aw")
                              : decode_refuse(d, "is not modelled");
  Kind wanted = kind_of(to), has = kind_of(from);
  int32_t place, a;
  if (from == T_PRED || to == T_PRED || !ptx_type_bytes[from] || !ptx_type_bytes[to] || from >= T_E4M3 ||
      to >= T_E4M3 || from == T_B128 || to == T_B128)
    return decode_refuse(d, "is not modelled");
  if (!decode_destination_wider(d, &wanted, &place) || !decode_comma(d) || !decode_source_wider(d, &has, &a))
    return false;
  const bool from_long = ptx_type_bytes[from] == 8, of_integer = !is_float_type(from);
  if (is_float_type(to) && which_part(d, DIRECTIONS) >= 0 &&
      (ptx_type_bytes[to] == 2 ? from_long || of_integer || !has_part(d, "rz") : from_long && of_integer))
    return decode_refuse(d, "is not modelled: this rounding of these types");
  if (is_float_type(to) && wanted != kind_of(to)) return decode_refuse(d, "writes a register of another width");
  if (is_float_type(from) && has != kind_of(from)) return decode_refuse(d, "reads a register of another width");
  if (is_float_type(from))
    return is_float_type(to) ? convert_floats(d, to, from, a, place)
                             : convert_to_integer(d, to, from, wanted, a, place);
  if (is_float_type(to)) return convert_from_integer(d, to, from, has, a, place);
  return convert_integers(d, to, from, has, wanted, a, place, has_part(d, "sat"));
}

const DecodeRow DECODE_CONVERSIONS[] = {{"cvt", cvt}, {NULL, NULL}};
