/* Branches and calls. */
#include <stdlib.h>

#include "kernels/ptx/ptx_decode.h"

static bool fix_later(Decoder *d, Word label) {
  if (!ptx_reader_grow(&d->r, &d->fixes, d->n_fixes, &d->fixes_capacity, sizeof *d->fixes, PTX_MAX_INSTRUCTIONS,
                       "branches"))
    return false;
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
  if (!ptx_reader_grow(&d->r, &d->returns, d->n_returns, &d->returns_capacity, sizeof *d->returns, PTX_MAX_INSTRUCTIONS,
                       "branches"))
    return false;
  d->returns[d->n_returns++] = d->k->n_code;
  return decode_push(d, decode_ins(d, O_BRA));
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
  if (!decode_scope(d, 1)) return false;
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

static bool builtin(Decoder *d, Word name, const Arguments *results, const Arguments *a, bool *known) {
  int32_t n_taken;
  const int32_t function = library_find(name, &n_taken);
  *known = true;
  if (function >= 0 && a->n == n_taken && results->n == 1) {
    Ins i = decode_ins(d, O_LIBRARY);
    i.mode = (uint8_t)function, i.imm = results->at[0];
    i.a = (int32_t)a->at[0], i.b = (int32_t)a->at[n_taken - 1];
    return decode_push(d, i);
  }
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
  if (!builtin(d, name, &results, &arguments, &known) || known) return known && !d->r.status;
  const Symbol *s = symbols_find(&d->r.module->symbols, 0, name);
  if (!s || s->kind != SYM_FUNCTION)
    return ptx_reader_refuses(&d->r, name, "is no function: calls through pointers are not modelled");
  return expand(d, &d->r.module->functions[s->value], &results, &arguments);
}

static bool trap(Decoder *d) { return decode_push(d, decode_ins(d, O_TRAP)); }

const DecodeRow DECODE_FLOW[] = {{"bra", branch}, {"brx", branch}, {"ret", leave},  {"exit", leave},
                                 {"call", call},  {"trap", trap},  {"brkpt", trap}, {NULL, NULL}};
