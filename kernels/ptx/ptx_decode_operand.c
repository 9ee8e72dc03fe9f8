/* Operands: places in a warp's file, names in their scopes, registers, numbers, addresses. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_decode.h"
#include "sim/numbers/precision.h"

/* ---- places in the file ---- */

bool decode_temporary(Decoder *d, Kind kind, int32_t *place) {
  PtxKernel *k = d->k;
  if (++k->n_registers > PTX_MAX_REGISTERS)
    return ptx_reader_fails(&d->r, "more than %d registers and constants", PTX_MAX_REGISTERS);
  if (kind == 'p') {
    *place = k->n_predicates++;
  } else {
    *place = (int32_t)k->file_bytes;
    k->file_bytes += kind == 'l' ? LONG_BYTES : WORD_BYTES;
  }
  return true;
}

static bool slots_grow(Decoder *d) {
  const int32_t n = d->slot_table ? 2 * (d->slot_mask + 1) : SLOT_TABLE_START;
  int32_t *table = calloc((size_t)n, sizeof *table);
  if (!table) return ptx_reader_no_memory(&d->r);
  free(d->slot_table);
  d->slot_table = table, d->slot_mask = n - 1;
  for (int32_t i = 0; i < d->k->n_slots; i++) {
    const Slot *s = &d->k->slots[i];
    uint32_t h = (uint32_t)((s->value * 0x9e3779b97f4a7c15u) >> 40);
    while (table[h & (uint32_t)d->slot_mask]) h++;
    table[h & (uint32_t)d->slot_mask] = i + 1;
  }
  return true;
}

bool decode_constant(Decoder *d, SlotKind kind, Kind width, uint64_t value, uint8_t bytes, bool is_signed,
                     int32_t *place) {
  PtxKernel *k = d->k;
  if (kind == SLOT_CONSTANT && width == 'w') value &= 0xffffffffu;
  if (kind == SLOT_CONSTANT && width == 'h') value &= 0xffffu;
  if ((!d->slot_table || 2 * k->n_slots > d->slot_mask) && !slots_grow(d)) return false;
  const uint8_t bits = width == 'l' ? 64 : 32;
  uint32_t h = (uint32_t)((value * 0x9e3779b97f4a7c15u) >> 40);
  for (int32_t at; (at = d->slot_table[h & (uint32_t)d->slot_mask]) != 0; h++) {
    const Slot *s = &k->slots[at - 1];
    if (s->kind == kind && s->value == value && s->width == bits && s->bytes == bytes && s->is_signed == is_signed) {
      *place = s->offset;
      return true;
    }
  }
  if (!ptx_reader_grow(&d->r, &k->slots, k->n_slots, &k->slots_capacity, sizeof *k->slots, PTX_MAX_REGISTERS,
                       "constants"))
    return false;
  if (!decode_temporary(d, width, place)) return false;
  k->slots[k->n_slots++] = (Slot){kind, bits, bytes, is_signed, *place, value};
  d->slot_table[h & (uint32_t)d->slot_mask] = k->n_slots;
  return true;
}

/* ---- names ---- */

/* Arrays in shared memory outside functions get their place in a kernel that names them. */
Symbol *decode_place_shared(Decoder *d, Word name, int64_t bytes, int64_t align, bool dynamic) {
  PtxKernel *k = d->k;
  Symbol *s = symbols_find(&d->names, 1, name);
  if (s) return s;
  s = symbols_add(&d->names, 1, name, SYM_SHARED);
  if (!s) {
    ptx_reader_no_memory(&d->r);
    return NULL;
  }
  s->dynamic = dynamic, s->bytes = bytes;
  if (dynamic) {
    s->value = 0;
    k->dynamic_shared = true;
    if (align > k->dynamic_align) k->dynamic_align = (int32_t)align;
    return s;
  }
  k->static_shared = (k->static_shared + align - 1) / align * align;
  s->value = k->static_shared;
  if (k->n_arrays < SHARED_ARRAYS) k->arrays[k->n_arrays++] = k->static_shared;
  k->static_shared += bytes;
  if (k->static_shared > PTX_MAX_SHARED_BYTES) {
    ptx_reader_refuses(&d->r, name, "brings shared memory above 227 KB");
    return NULL;
  }
  return s;
}

/* A name as the innermost scope knows it; registers of ranges come back as SYM_RANGE with `value` the index of their
 * place. */
Symbol *decode_find(Decoder *d, Word name) {
  for (int32_t scope = d->scope; scope > 0; scope = d->parents[scope]) {
    Symbol *s = symbols_find(&d->names, scope, name);
    if (s && s->kind != SYM_RANGE) return s;
  }
  const Symbol *m = symbols_find(&d->r.module->symbols, 0, name);
  if (m && m->kind == SYM_SHARED) return decode_place_shared(d, name, m->bytes, m->first, m->dynamic);
  return (Symbol *)m;
}

/* The register that a word names: its kind and where its place is kept. */
static bool find_register(Decoder *d, Word w, Kind *kind, int32_t **place) {
  int32_t digits = 0;
  uint64_t number = 0;
  while (digits < w.n - 1 && digits < 9 && w.at[w.n - 1 - digits] >= '0' && w.at[w.n - 1 - digits] <= '9') digits++;
  for (int32_t i = w.n - digits; i < w.n; i++) number = number * 10 + (uint64_t)(w.at[i] - '0');
  const Word prefix = {w.at, w.n - digits};
  for (int32_t scope = d->scope; scope > 0; scope = d->parents[scope]) {
    Symbol *s = symbols_find(&d->names, scope, w);
    if (s && s->kind != SYM_REG && s->kind != SYM_RANGE) return false;
    if (!s || s->kind != SYM_REG) {
      s = digits ? symbols_find(&d->names, scope, prefix) : NULL;
      if (!s || s->kind != SYM_RANGE || number >= (uint64_t)s->count) continue;
    } else {
      number = 0;
    }
    *kind = s->width == 1 ? 'p' : s->width == 16 ? 'h' : s->width == 32 ? 'w' : 'l';
    *place = &d->places[s->first + (int32_t)number];
    return true;
  }
  return false;
}

static bool register_place(Decoder *d, Word w, Kind *kind, int32_t *place, bool *found) {
  int32_t *kept = NULL;
  *found = find_register(d, w, kind, &kept);
  if (!*found) return true;
  if (*kept < 0 && !decode_temporary(d, *kind, kept)) return false;
  *place = *kept;
  return true;
}

bool decode_symbol_place(Decoder *d, const Symbol *s, int64_t offset, Kind kind, int32_t *place) {
  const uint64_t at = (uint64_t)s->value + (uint64_t)offset;
  switch (s->kind) {
  case SYM_SHARED: return decode_constant(d, s->dynamic ? SLOT_DYNAMIC : SLOT_CONSTANT, kind, at, 0, false, place);
  case SYM_LOCAL:
  case SYM_PARAM: return decode_constant(d, SLOT_CONSTANT, kind, at, 0, false, place);
  case SYM_MODULE: return decode_constant(d, SLOT_CONSTANT, kind, MODULE_BASE + at, 0, false, place);
  case SYM_FUNCTION:
    return ptx_reader_refuses(&d->r, s->name, "is a function: calls through pointers are not modelled");
  default: return ptx_reader_refuses(&d->r, s->name, "has no address");
  }
}

/* ---- operands ---- */

static const char *special_names[] = {
#define X(name, text) text,
    PTX_SPECIALS(X)
#undef X
};

static bool narrow_number(NumberKind number, Kind kind, uint64_t *value) {
  if (number != NUMBER_F64 || kind == 'l') return true;
  *value = precision_to_bits(PRECISION_FP32, precision_from_bits(PRECISION_FP64, *value)); /* where 32 bits are meant */
  return kind == 'w';
}

/* A source that is no register: a number, an address, a special register. */
static bool constant_source(Decoder *d, Word w, Kind kind, int32_t *place) {
  uint64_t value = 0;
  const NumberKind number = word_number(w, &value);
  if (number) {
    if (!narrow_number(number, kind, &value)) return ptx_reader_refuses(&d->r, w, "does not fit 16 bits");
    if (kind == 'l' && number == NUMBER_F32) return ptx_reader_refuses(&d->r, w, "has 32 bits where 64 are meant");
    return decode_constant(d, SLOT_CONSTANT, kind, value, 0, false, place);
  }
  if (word_is(w, "WARP_SZ")) return decode_constant(d, SLOT_CONSTANT, kind, LANES, 0, false, place);
  if (w.n > 1 && w.at[0] == '%') {
    for (int32_t i = 0; i < N_SPECIALS; i++)
      if (word_is(w, special_names[i]))
        return decode_constant(d, SLOT_SPECIAL, kind == 'l' ? 'l' : 'w', (uint64_t)i, 0, false, place);
    if (w.n > 7 && !memcmp(w.at, "%envreg", 7)) return decode_constant(d, SLOT_CONSTANT, kind, 0, 0, false, place);
    return ptx_reader_refuses(&d->r, w, "is no register that is declared here");
  }
  const Symbol *s = decode_find(d, w);
  if (!s) return ptx_reader_refuses(&d->r, w, w.n ? "is not declared" : "where an operand is meant");
  if (kind == 'h') return ptx_reader_refuses(&d->r, w, "is an address, where 16 bits are meant");
  int64_t offset = 0;
  const Symbol copy = *s;
  if (cursor_take(&d->r.c, '+') && !decode_number(d, &offset)) return false;
  return decode_symbol_place(d, &copy, offset, kind, place);
}

static bool wrong_width(Decoder *d, Word w, Kind has, Kind wanted) {
  if (has == 'p')
    return ptx_reader_fails(&d->r, "'%.*s' is a predicate, where %.*s takes %d bits", w.n, w.at, d->opcode.n,
                            d->opcode.at, kind_bits(wanted));
  if (wanted == 'p')
    return ptx_reader_fails(&d->r, "'%.*s' has %d bits, where %.*s takes a predicate", w.n, w.at, kind_bits(has),
                            d->opcode.n, d->opcode.at);
  return ptx_reader_fails(&d->r, "'%.*s' has %d bits, where %.*s takes %d", w.n, w.at, kind_bits(has), d->opcode.n,
                          d->opcode.at, kind_bits(wanted));
}

bool decode_source_wider(Decoder *d, Kind *kind, int32_t *place) {
  const Word w = cursor_word(&d->r.c);
  const Kind wanted = *kind;
  bool found;
  if (w.n >= PTX_NAME_BYTES) return ptx_reader_fails(&d->r, "a name is longer than 255 bytes");
  if (!register_place(d, w, kind, place, &found)) return false;
  if (!found && !constant_source(d, w, wanted, place)) return false;
  if (found && (kind_bits(*kind) < kind_bits(wanted) || *kind == 'p')) return wrong_width(d, w, *kind, wanted);
  operands_add(&d->operands, false, *place);
  return true;
}

bool decode_source(Decoder *d, Kind kind, int32_t *place) {
  if (kind == 'p') return decode_predicate(d, place, NULL);
  Kind has = kind;
  Cursor before = d->r.c;
  if (!decode_source_wider(d, &has, place)) return false;
  if (has != kind) return wrong_width(d, cursor_word(&before), has, kind);
  return true;
}

bool decode_predicate(Decoder *d, int32_t *place, bool *negated) {
  if (negated) *negated = cursor_take(&d->r.c, '!');
  const Word w = cursor_word(&d->r.c);
  Kind kind;
  bool found;
  uint64_t value;
  if (!register_place(d, w, &kind, place, &found)) return false;
  if (!found && word_number(w, &value) == NUMBER_INTEGER && (value <= 1 || value == UINT64_MAX)) {
    /* A constant (LLVM's true is -1): a predicate of its own. */
    Ins i = decode_ins(d, O_XOR_PRED);
    if (!decode_temporary(d, 'p', place)) return false;
    i.d = i.a = i.b = *place;
    operands_add(&d->operands, false, ~*place);
    if (!decode_push(d, i)) return false;
    i = decode_ins(d, O_NOT_PRED);
    i.d = i.a = *place;
    return value == 0 || decode_push(d, i);
  }
  if (!found) return ptx_reader_refuses(&d->r, w, "is no predicate that is declared here");
  operands_add(&d->operands, false, ~*place);
  return kind == 'p' || wrong_width(d, w, kind, 'p');
}

bool decode_destination_wider(Decoder *d, Kind *kind, int32_t *place) {
  const Word w = cursor_word(&d->r.c);
  const Kind wanted = *kind;
  bool found;
  if (word_is(w, "_")) return decode_temporary(d, wanted, place);
  if (!register_place(d, w, kind, place, &found)) return false;
  if (!found) return ptx_reader_refuses(&d->r, w, "is no register that is declared here");
  if (kind_bits(*kind) < kind_bits(wanted) || (*kind == 'p') != (wanted == 'p'))
    return wrong_width(d, w, *kind, wanted);
  operands_add(&d->operands, true, wanted == 'p' ? ~*place : *place);
  return true;
}

bool decode_destination(Decoder *d, Kind kind, int32_t *place) {
  Kind has = kind;
  Cursor before = d->r.c;
  if (!decode_destination_wider(d, &has, place)) return false;
  return has == kind || wrong_width(d, cursor_word(&before), has, kind);
}

int32_t decode_commas_ahead(Decoder *d, char end) {
  Cursor ahead = d->r.c;
  int32_t commas = 0;
  while (cursor_peek(&ahead) && *ahead.at != end && *ahead.at != ';') commas += *ahead.at++ == ',';
  return commas;
}

bool decode_comma(Decoder *d) { return ptx_reader_expect(&d->r, ','); }

bool decode_operands(Decoder *d, Ins i, const char *form) {
  for (; *form; form++) {
    if (*form == ',') {
      if (!decode_comma(d)) return false;
    } else if (*form == '/' || *form == '|') {
      if (*form == '|' ? !ptx_reader_expect(&d->r, '|') : !cursor_take(&d->r.c, '|')) {
        if (*form == '|') return false;
        continue;
      }
      if (!decode_destination(d, 'p', &i.ext)) return false;
    } else if (*form == '~' && !has_part(d, "sync")) {
      if (!decode_constant(d, SLOT_CONSTANT, 'w', 0xffffffffu, 0, false, *++form == 'b' ? &i.b : &i.target))
        return false;
    } else if (*form == '~') {
      if (!decode_comma(d) || !decode_source(d, 'w', *++form == 'b' ? &i.b : &i.target)) return false;
    } else if (*form == '#') {
      if (!decode_number(d, &i.imm)) return false;
    } else {
      bool negated = false;
      const bool may_not = *form == '!';
      form += may_not;
      int32_t *const place = *form == 'd'   ? &i.d
                             : *form == 'a' ? &i.a
                             : *form == 'b' ? &i.b
                             : *form == 'c' ? &i.c
                                            : &i.target;
      if (may_not        ? !decode_predicate(d, place, &negated)
          : *form == 'd' ? !decode_destination(d, form[1], place)
                         : !decode_source(d, form[1], place))
        return false;
      i.is_signed |= negated;
      form += !may_not;
    }
  }
  return decode_push(d, i);
}

bool decode_number(Decoder *d, int64_t *value) {
  uint64_t v = 0;
  const bool minus = cursor_take(&d->r.c, '-');
  const Word w = cursor_word(&d->r.c);
  if (word_number(w, &v) != NUMBER_INTEGER) return ptx_reader_refuses(&d->r, w, "where a number is meant");
  *value = (int64_t)(minus ? 0 - v : v);
  return true;
}

bool decode_braces(Decoder *d, Kind kind, bool is_source, int32_t n_min, int32_t n_max, int32_t *places, int32_t *n) {
  *n = 0;
  if (!cursor_take(&d->r.c, '{')) { /* one register needs none */
    *n = 1;
    if (n_min > 1) return ptx_reader_expect(&d->r, '{');
    return is_source ? decode_source(d, kind, places) : decode_destination(d, kind, places);
  }
  do {
    if (*n == n_max)
      return ptx_reader_fails(&d->r, "more than %d registers in the braces of %.*s", n_max, d->opcode.n, d->opcode.at);
    if (!(is_source ? decode_source(d, kind, places + *n) : decode_destination(d, kind, places + *n))) return false;
    ++*n;
  } while (cursor_take(&d->r.c, ','));
  if (*n < n_min)
    return ptx_reader_fails(&d->r, "%d registers in the braces of %.*s, which takes %d", *n, d->opcode.n, d->opcode.at,
                            n_min);
  return ptx_reader_expect(&d->r, '}');
}

bool decode_address_inside(Decoder *d, Address *a) {
  *a = (Address){.wide = true};
  const Word w = cursor_word(&d->r.c);
  Kind kind;
  bool found;
  uint64_t value = 0;
  if (!register_place(d, w, &kind, &a->place, &found)) return false;
  if (found) {
    if (kind != 'w' && kind != 'l') return wrong_width(d, w, kind, 'l');
    operands_add(&d->operands, false, a->place);
    a->wide = kind == 'l';
  } else if (word_number(w, &value) == NUMBER_INTEGER) {
    a->offset = (int64_t)value;
    a->is_constant = true;
  } else {
    a->symbol = decode_find(d, w);
    if (!a->symbol) return ptx_reader_refuses(&d->r, w, w.n ? "is not declared" : "where an address is meant");
    a->is_constant = true;
  }
  int64_t more = 0;
  if (cursor_take(&d->r.c, '+')) {
    if (!decode_number(d, &more)) return false;
  } else if (cursor_peek(&d->r.c) == '-') {
    if (!decode_number(d, &more)) return false;
  }
  if (more > INT32_MAX || more < INT32_MIN) return ptx_reader_fails(&d->r, "an offset of more than 32 bits");
  if (a->symbol) { /* the whole address is known */
    const Symbol copy = *a->symbol;
    a->offset = more;
    return decode_symbol_place(d, &copy, 0, 'l', &a->place);
  }
  a->offset = (int64_t)((uint64_t)a->offset + (uint64_t)more);
  return !a->is_constant || decode_constant(d, SLOT_CONSTANT, 'l', 0, 0, false, &a->place);
}

bool decode_address(Decoder *d, Address *a) {
  return ptx_reader_expect(&d->r, '[') && decode_address_inside(d, a) && ptx_reader_expect(&d->r, ']');
}
