/* Bodies: declarations, labels, and instructions that the table of arithmetic has. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_decode.h"

const OpRow ptx_op_rows[] = {
#define X(name, text, result, operands, expression) {text, #result[0], operands},
    PTX_ARITHMETIC(X)
#undef X
#define X(name, text, operands, expression) {text, 'p', operands},
        PTX_PREDICATE_OPS(X)
#undef X
};

bool decode_refuse(Decoder *d, const char *why) { return ptx_reader_refuses(&d->r, d->opcode, why); }

bool has_part(const Decoder *d, const char *name) {
  for (int32_t i = 1; i < d->n_parts; i++)
    if (word_is(d->parts[i], name)) return true;
  return false;
}

int32_t which_part(const Decoder *d, const char *names) {
  int32_t found = -1;
  for (int32_t i = 1; i < d->n_parts && found < 0; i++) found = word_index(d->parts[i], names);
  return found;
}

Type part_type(const Decoder *d) { return d->n_parts > 1 ? type_of(d->parts[d->n_parts - 1]) : T_NONE; }

Kind kind_of(Type type) {
  if (type == T_PRED) return 'p';
  return ptx_type_bytes[type] <= 2 ? 'h' : ptx_type_bytes[type] == 4 ? 'w' : 'l';
}

int32_t kind_bits(Kind kind) { return kind == 'p' ? 1 : kind == 'h' ? 16 : kind == 'w' ? 32 : 64; }

/* ---- instructions ---- */

Ins decode_ins(const Decoder *d, int32_t op) {
  return (Ins){.op = (uint16_t)op,
               .guard = d->guard,
               .guard_not = d->guard_not,
               .line = d->r.c.line,
               .loc = d->loc,
               .target = -1,
               .ext = -1,
               .site = -1,
               .operands = -1,
               .counted = true,
               .text = (int32_t)(d->opcode.at - d->r.module->text),
               .text_n = d->opcode.n,
               .micro = d->k->n_code > d->first_of};
}

bool decode_push(Decoder *d, Ins i) {
  PtxKernel *k = d->k;
  if (!ptx_reader_grow(&d->r, &k->code, k->n_code, &k->code_capacity, sizeof *k->code, PTX_MAX_INSTRUCTIONS,
                       "instructions"))
    return false;
  i.micro = k->n_code > d->first_of;
  const Operands *o = &d->operands;
  if (i.op < O_FIRST_ARITHMETIC && o->n_reads + o->n_writes) {
    const int32_t n[2] = {o->n_reads, o->n_writes};
    int32_t at;
    if (!decode_list(d, 2, n, &i.operands) || !decode_list(d, n[0], o->reads, &at) ||
        !decode_list(d, n[1], o->writes, &at))
      return false;
  }
  k->code[k->n_code++] = i;
  return true;
}

bool decode_list(Decoder *d, int32_t n, const int32_t *values, int32_t *first) {
  PtxKernel *k = d->k;
  *first = k->n_lists;
  for (int32_t i = 0; i < n; i++) {
    if (!ptx_reader_grow(&d->r, &k->lists, k->n_lists, &k->lists_capacity, sizeof *k->lists, 64 * PTX_MAX_INSTRUCTIONS,
                         "operands of vectors"))
      return false;
    k->lists[k->n_lists++] = values[i];
  }
  return true;
}

/* ---- the table of arithmetic ---- */

static bool name_ops(Decoder *d) {
  for (int32_t op = O_FIRST_ARITHMETIC; op < N_OPS; op++) {
    for (const char *p = ptx_op_rows[op - O_FIRST_ARITHMETIC].spellings; *p;) {
      const Word name = {p, (int32_t)strcspn(p, " ")};
      Symbol *s = symbols_add(&d->ops, 0, name, SYM_NONE);
      if (!s) return ptx_reader_no_memory(&d->r);
      s->value = op;
      p += name.n + (p[name.n] == ' ');
    }
  }
  return true;
}

int32_t decode_op_named(const Decoder *d, const char *silent) {
  char name[64];
  int32_t n = 0;
  for (int32_t i = 0; i < d->n_parts; i++) {
    const Word w = d->parts[i];
    if (i && word_index(w, silent) >= 0) continue;
    if (n + w.n + 2 > (int32_t)sizeof name) return -1;
    if (n) name[n++] = '.';
    memcpy(name + n, w.at, (size_t)w.n);
    n += w.n;
  }
  const Symbol *s = symbols_find(&d->ops, 0, (Word){name, n});
  return s ? (int32_t)s->value : -1;
}

Kind op_kind(int32_t op) {
  const char result = ptx_op_rows[op - O_FIRST_ARITHMETIC].result;
  return strchr("HU", result) ? 'h' : strchr("WFS", result) ? 'w' : strchr("LGT", result) ? 'l' : 'p';
}

bool decode_arithmetic(Decoder *d) {
  const int32_t op = decode_op_named(d, "rn ftz approx full lo sat");
  const bool saturated = has_part(d, "sat");
  if (op < 0) return decode_refuse(d, "is not modelled");
  const OpRow *row = &ptx_op_rows[op - O_FIRST_ARITHMETIC];
  Ins i = decode_ins(d, op);
  if (saturated && row->result != 'F') return decode_refuse(d, "is not modelled: saturation of this type");
  if (!decode_destination(d, op_kind(op), &i.d)) return false;
  for (int32_t k = 0; row->operands[k]; k++) {
    int32_t *const places[] = {&i.a, &i.b, &i.c, &i.target};
    if (!decode_comma(d)) return false;
    if (row->operands[k] == 'k') {
      if (!decode_number(d, &i.imm)) return false;
    } else if (!decode_source(d, row->operands[k], places[k])) {
      return false;
    }
  }
  if (!decode_push(d, i)) return false;
  if (!saturated) return true;
  Ins s = decode_ins(d, O_SAT_F32);
  s.d = s.a = i.d;
  return decode_push(d, s);
}

/* ---- statements ---- */

bool decode_scope(Decoder *d, int32_t parent) {
  if (!ptx_reader_grow(&d->r, &d->parents, d->n_scopes, &d->scopes_capacity, sizeof *d->parents, 100000, "scopes"))
    return false;
  d->parents[d->n_scopes] = parent;
  d->scope = d->n_scopes++;
  return true;
}

static void split_opcode(Decoder *d) {
  d->n_parts = 0;
  const char *at = d->opcode.at, *end = at + d->opcode.n;
  while (at < end && d->n_parts < MAX_PARTS) {
    const char *p = at;
    while (p < end && *p != '.') p++;
    d->parts[d->n_parts++] = (Word){at, (int32_t)(p - at)};
    at = p + (p < end);
  }
}

static bool declare_registers(Decoder *d) {
  Type type;
  if (!ptx_reader_type(&d->r, &type)) return false;
  const uint8_t width = type == T_PRED ? 1 : ptx_type_bytes[type] <= 2 ? 16 : (uint8_t)(8 * ptx_type_bytes[type]);
  if (width > 64) return ptx_reader_fails(&d->r, "registers of 128 bits are not modelled");
  do {
    const Word name = cursor_word(&d->r.c);
    uint64_t count = 1;
    if (!ptx_reader_name(&d->r, name)) return false;
    Symbol *s = symbols_add(&d->names, d->scope, name, SYM_REG);
    if (!s) return ptx_reader_no_memory(&d->r);
    if (cursor_take(&d->r.c, '<')) {
      const Word w = cursor_word(&d->r.c);
      if (word_number(w, &count) != NUMBER_INTEGER || count > PTX_MAX_REGISTERS)
        return ptx_reader_refuses(&d->r, w, "is no number of registers up to 60000");
      if (!ptx_reader_expect(&d->r, '>')) return false;
      s->kind = SYM_RANGE;
    }
    s->width = width, s->count = (int32_t)count, s->first = d->n_places;
    for (uint64_t i = 0; i < count; i++) {
      if (!ptx_reader_grow(&d->r, &d->places, d->n_places, &d->places_capacity, sizeof *d->places,
                           16 * PTX_MAX_REGISTERS, "registers"))
        return false;
      d->places[d->n_places++] = -1;
    }
  } while (cursor_take(&d->r.c, ','));
  return ptx_reader_expect(&d->r, ';');
}

static bool declare_variable(Decoder *d, SymbolKind kind) {
  PtxKernel *k = d->k;
  do {
    Variable v;
    if (!ptx_reader_variable(&d->r, &v)) return false;
    if (v.align < 1) v.align = 1;
    if (kind == SYM_SHARED) {
      if (!decode_place_shared(d, v.name, v.bytes, v.align, v.n == 0)) return false;
      continue;
    }
    Symbol *s = symbols_add(&d->names, d->scope, v.name, kind);
    if (!s) return ptx_reader_no_memory(&d->r);
    k->local_bytes = (k->local_bytes + v.align - 1) / v.align * v.align;
    s->value = k->local_bytes, s->bytes = v.bytes;
    k->local_bytes += v.bytes;
    if (k->local_bytes > 512 * 1024)
      return ptx_reader_refuses(&d->r, v.name, "brings a thread's local memory above 512 KB");
  } while (cursor_take(&d->r.c, ','));
  return ptx_reader_expect(&d->r, ';');
}

/* .loc file line column [, function_name label [+ n], inlined_at file line column]: the outermost place. */
static bool location(Decoder *d) {
  PtxKernel *k = d->k;
  int64_t n[3];
  for (int i = 0; i < 3; i++)
    if (!decode_number(d, &n[i])) return false;
  Cursor rest = d->r.c;
  if (cursor_take(&rest, ',') && word_is(cursor_word(&rest), "function_name")) {
    cursor_word(&rest);
    if (cursor_take(&rest, '+')) cursor_word(&rest);
    if (!cursor_take(&rest, ',') || !word_is(cursor_word(&rest), "inlined_at"))
      return ptx_reader_fails(&d->r, "'inlined_at' is missing");
    d->r.c = rest;
    for (int i = 0; i < 3; i++)
      if (!decode_number(d, &n[i])) return false;
  } else { /* flags of debuggers: to the end of the line */
    while (d->r.c.at < d->r.c.end && *d->r.c.at != '\n') d->r.c.at++;
  }
  if (n[1] == 0) return true; /* made by the compiler: it stays with the line before */
  if (!ptx_reader_grow(&d->r, &k->locations, k->n_locations, &k->locations_capacity, sizeof *k->locations,
                       4 * PTX_MAX_INSTRUCTIONS, "places"))
    return false;
  d->loc = k->n_locations;
  k->locations[k->n_locations++] = (Location){(int32_t)n[0], (int32_t)n[1]};
  return true;
}

static bool directive(Decoder *d, Word w) {
  if (word_is(w, ".reg")) return declare_registers(d);
  if (word_is(w, ".shared")) return declare_variable(d, SYM_SHARED);
  if (word_index(w, ".local .param") >= 0) return declare_variable(d, SYM_LOCAL);
  if (word_is(w, ".loc")) return location(d);
  if (word_index(w, ".pragma .callprototype .calltargets") >= 0) {
    cursor_past(&d->r.c, ';');
    return true;
  }
  return ptx_reader_refuses(&d->r, w, "is no directive that is known in a body");
}

static bool instruction(Decoder *d, Word w) {
  d->opcode = w;
  split_opcode(d);
  d->first_of = d->k->n_code;
  d->operands.n_reads = d->operands.n_writes = 0;
  static const DecodeRow *const files[] = {DECODE_MOVES, DECODE_MEMORY, DECODE_FLOW, DECODE_HOPPER};
  bool (*decode)(Decoder *) = decode_arithmetic;
  for (size_t f = 0; f < sizeof files / sizeof *files; f++)
    for (const DecodeRow *row = files[f]; row->mnemonic; row++)
      if (is(d, row->mnemonic)) decode = row->decode;
  return decode(d) && ptx_reader_expect(&d->r, ';');
}

/* A name and ':' at the cursor. */
static bool label(Decoder *d, Word w) {
  Symbol *s = symbols_find(&d->names, d->scope, w);
  if (s && s->kind == SYM_LABEL) return ptx_reader_refuses(&d->r, w, "is a label twice");
  s = symbols_add(&d->names, d->scope, w, SYM_LABEL);
  if (!s) return ptx_reader_no_memory(&d->r);
  s->value = d->k->n_code;
  Cursor ahead = d->r.c;
  const Word next = cursor_peek(&ahead) == '.' ? cursor_word(&ahead) : (Word){ahead.at, 0};
  if (word_is(next, ".branchtargets")) {
    s->kind = SYM_TARGETS;
    s->value = ahead.at - d->r.module->text;
    s->first = ahead.line;
  }
  if (word_index(next, ".branchtargets .callprototype .calltargets") >= 0) {
    cursor_past(&ahead, ';');
    d->r.c = ahead;
  }
  return true;
}

static bool guarded(Decoder *d) {
  d->guard = -1, d->guard_not = false;
  d->first_of = d->k->n_code;
  if (!cursor_take(&d->r.c, '@')) return true;
  bool negated;
  d->opcode = (Word){d->r.c.at - 1, 1}; /* "@" */
  if (!decode_predicate(d, &d->guard, &negated)) return false;
  d->guard_not = negated;
  return true;
}

static bool find_label(Decoder *d, int32_t scope, Word name, const Symbol **found) {
  for (; scope > 1; scope = d->parents[scope]) {
    const Symbol *s = symbols_find(&d->names, scope, name);
    if (s && (s->kind == SYM_LABEL || s->kind == SYM_TARGETS)) {
      *found = s;
      return true;
    }
  }
  return ptx_reader_refuses(&d->r, name, "is no label here");
}

/* brx: the labels of its list. */
static bool fix_targets(Decoder *d, const Fix *f, const Symbol *s) {
  const Cursor before = d->r.c;
  int32_t first = -1, n = 0;
  d->r.c = (Cursor){d->r.module->text + s->value, d->r.module->text + d->r.module->n_text, s->first};
  do {
    const Word w = cursor_word(&d->r.c);
    const Symbol *to = NULL;
    if (!find_label(d, f->scope, w, &to)) return false;
    int32_t at, target = (int32_t)to->value;
    if (to->kind != SYM_LABEL) return ptx_reader_refuses(&d->r, w, "is no label");
    if (!decode_list(d, 1, &target, &at)) return false;
    if (n++ == 0) first = at;
  } while (cursor_take(&d->r.c, ','));
  d->r.c = before;
  d->k->code[f->pc].ext = first;
  d->k->code[f->pc].imm = n;
  return true;
}

static bool fix_branches(Decoder *d, int32_t first_fix) {
  for (int32_t i = first_fix; i < d->n_fixes; i++) {
    const Fix f = d->fixes[i];
    const Symbol *s = NULL;
    const int32_t line = d->r.c.line;
    d->r.c.line = f.line;
    if (!find_label(d, f.scope, f.name, &s)) return false;
    Ins *ins = &d->k->code[f.pc];
    if ((s->kind == SYM_TARGETS) != (ins->op == O_BRX))
      return ptx_reader_refuses(&d->r, f.name, "is no target of this branch");
    if (s->kind == SYM_LABEL)
      ins->target = (int32_t)s->value;
    else if (!fix_targets(d, &f, s))
      return false;
    d->r.c.line = line;
  }
  d->n_fixes = first_fix;
  return true;
}

bool decode_body(Decoder *d, const Function *f) {
  const int32_t first_fix = d->n_fixes, outer_root = d->root;
  if (!f->has_body) return ptx_reader_refuses(&d->r, f->name, "is declared but not defined: link its module first");
  d->r.c = f->body;
  d->root = d->scope;
  if (!ptx_reader_expect(&d->r, '{')) return false;
  for (int32_t depth = 1; depth > 0;) {
    if (cursor_take(&d->r.c, '{')) {
      if (++depth > 1000) return ptx_reader_fails(&d->r, "braces are nested more than 1000 deep");
      if (!decode_scope(d, d->scope)) return false;
      continue;
    }
    if (cursor_take(&d->r.c, '}')) {
      if (--depth > 0) d->scope = d->parents[d->scope];
      continue;
    }
    if (cursor_take(&d->r.c, ';')) continue;
    if (!guarded(d)) return false;
    const Word w = cursor_word(&d->r.c);
    if (w.n == 0) return ptx_reader_refuses(&d->r, w, "where an instruction is meant");
    if (w.n >= PTX_NAME_BYTES) return ptx_reader_fails(&d->r, "a name is longer than 255 bytes");
    if (w.at[0] == '.') {
      if (!directive(d, w)) return false;
    } else if (d->guard < 0 && cursor_peek(&d->r.c) == ':') {
      d->r.c.at++;
      if (!label(d, w)) return false;
    } else if (!instruction(d, w)) {
      return false;
    }
  }
  const bool ok = fix_branches(d, first_fix);
  d->root = outer_root;
  return ok;
}

/* ---- a kernel ---- */

static bool kernel_parameters(Decoder *d, const Function *f) {
  const PtxModule *m = d->r.module;
  for (int32_t i = 0; i < f->entry.n_parameters; i++) {
    const Parameter *p = &m->parameters[f->first_parameter + i];
    Symbol *s = symbols_add(&d->names, d->scope, p->name, SYM_PARAM);
    if (!s) return ptx_reader_no_memory(&d->r);
    s->value = p->p.offset_bytes, s->bytes = p->p.size_bytes;
  }
  return true;
}

static bool copy_texts(PtxKernel *k) {
  size_t n = 0, at = 0;
  for (int32_t i = 0; i < k->n_code; i++) n += (size_t)k->code[i].text_n + 1;
  k->texts = malloc(n + 1);
  if (!k->texts) return false;
  for (int32_t i = 0; i < k->n_code; i++) {
    memcpy(k->texts + at, k->module->text + k->code[i].text, (size_t)k->code[i].text_n);
    k->code[i].text = (int32_t)at;
    at += (size_t)k->code[i].text_n;
    k->texts[at++] = 0;
  }
  return true;
}

static bool decode_kernel(Decoder *d) {
  PtxKernel *k = d->k;
  const Function *f = &d->r.module->functions[k->function];
  if (!name_ops(d) || !decode_scope(d, 0) || !decode_scope(d, 0) || !decode_scope(d, 1))
    return false; /* 0: the module; 1: shared memory; 2: the body */
  if (!ptx_reader_grow(&d->r, &k->locations, 0, &k->locations_capacity, sizeof *k->locations, PTX_MAX_INSTRUCTIONS,
                       "places"))
    return false;
  k->locations[k->n_locations++] = (Location){0, 0};
  d->guard = -1;
  d->r.c = f->body;
  if (!kernel_parameters(d, f) || !decode_body(d, f)) return false;
  d->guard = -1;
  d->first_of = k->n_code;
  d->opcode = (Word){d->r.module->text, 0};
  k->local_bytes = (k->local_bytes + 15) / 16 * 16; /* a lane's begins where the next one's alignment is kept */
  return decode_push(d, decode_ins(d, O_EXIT));
}

Status ptx_kernel_new(const PtxModule *module, int entry, PtxKernel **kernel, Error *error) {
  *kernel = NULL;
  PtxKernel *k = calloc(1, sizeof *k);
  Decoder *d = calloc(1, sizeof *d);
  Status status = STATUS_NO_MEMORY;
  if (k && d) {
    *k = (PtxKernel){.module = module, .function = module->entries[entry], .granule_bytes = 4, .dynamic_align = 16};
    *d = (Decoder){.r = {.module = (PtxModule *)module, .error = error}, .k = k};
    const bool ok = decode_kernel(d) && (copy_texts(k) || ptx_reader_no_memory(&d->r));
    status = ok ? kernel_lower(k, error) : d->r.status;
    symbols_free(&d->names);
    symbols_free(&d->ops);
    free(d->parents);
    free(d->places);
    free(d->slot_table);
    free(d->fixes);
    free(d->returns);
  } else {
    error_set(error, STATUS_NO_MEMORY, "%s: no memory for a kernel", module->name);
  }
  free(d);
  if (status)
    ptx_kernel_free(k);
  else
    *kernel = k;
  return status;
}

void ptx_kernel_free(PtxKernel *k) {
  if (!k) return;
  free(k->code);
  free(k->merged);
  free(k->lists);
  free(k->slots);
  free(k->locations);
  free(k->texts);
  free(k);
}

bool ptx_kernel_dynamic_shared(const PtxKernel *k) { return k->dynamic_shared; }
int64_t ptx_kernel_static_shared(const PtxKernel *k) { return k->static_shared; }
int64_t ptx_kernel_local(const PtxKernel *k) { return k->local_bytes; }

int64_t ptx_shared_array(const PtxKernel *k, int64_t address) {
  const int64_t align = k->dynamic_align, dynamic = (k->static_shared + align - 1) / align * align;
  if (address >= dynamic) return dynamic;
  int32_t n = k->n_arrays;
  while (n > 1 && k->arrays[n - 1] > address) n--;
  return n ? k->arrays[n - 1] : 0;
}

int ptx_n_instructions(const PtxKernel *k) { return k->n_code; }

PtxInstruction ptx_instruction(const PtxKernel *k, int pc) {
  const Ins *i = &k->code[pc];
  const Location l = k->locations[i->loc];
  return (PtxInstruction){.ptx_line = i->line, .file = l.file, .line = l.line, .text = k->texts + i->text};
}
