#include "viz/request/backend_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"

static const char *const CALL_NAMES[CALL_COUNT] = {
    [CALL_SM] = "sm",
    [CALL_D] = "d",
    [CALL_D_V] = "d_v",
    [CALL_N_Q] = "n_q",
    [CALL_N_K] = "n_k",
    [CALL_HEADS] = "heads",
    [CALL_KV_HEADS] = "kv_heads",
    [CALL_BATCH] = "batch",
    [CALL_WINDOW] = "window",
    [CALL_DROPOUT] = "dropout",
    [CALL_CUDNN] = "cudnn",
    [CALL_DTYPE] = "dtype",
    [CALL_KV_DTYPE] = "kv_dtype",
    [CALL_MASK] = "mask",
    [CALL_TRAINING] = "training",
    [CALL_GQA] = "gqa",
    [CALL_DETERMINISTIC] = "deterministic",
    [CALL_SINKS] = "sinks",
    [CALL_SOFTCAP] = "softcap",
    [CALL_ALIBI] = "alibi",
    [CALL_MLA] = "mla",
    [CALL_CORNER] = "corner",
};
static const char *const OPS[OP_COUNT] = {"==", "!=", "<=", ">=", "<", ">", "in", "multiple-of"};

void call_number(CallFacts *f, CallFact fact, double number) {
  f->value[fact] = (CallValue){.number = number};
  f->known[fact] = true;
}

void call_word(CallFacts *f, CallFact fact, const char *word) {
  f->value[fact] = (CallValue){0};
  snprintf(f->value[fact].word, BACKEND_WORD_BYTES, "%s", word);
  f->known[fact] = true;
}

/* ---- Parsing ----------------------------------------------------------------------------------------------- */

typedef struct {
  const char *at, *end; /* of what is left of the line */
  const char *file;
  int line;
  Error *error;
} Cursor;

#define REFUSE(c, ...) refuse(c, __VA_ARGS__)
static Status refuse(const Cursor *c, const char *format, const char *what, size_t n) {
  char message[200];
  snprintf(message, sizeof message, format, quote(what, n).text);
  return error_set(c->error, STATUS_BAD_REQUEST, "%s:%d: %s", quote_text(c->file).text, c->line, message);
}

static bool is_blank(char ch) { return ch == ' ' || ch == '\t' || ch == '\r'; }

static void skip(Cursor *c) {
  while (c->at < c->end && is_blank(*c->at)) c->at++;
}

/* The next word, without taking it; 0: none is left. */
static size_t peek(Cursor *c) {
  skip(c);
  size_t n = 0;
  while (c->at + n < c->end && !is_blank(c->at[n])) n++;
  return n;
}

static bool is_word(Cursor *c, const char *word) {
  const size_t n = peek(c);
  return n == strlen(word) && memcmp(c->at, word, n) == 0;
}

static bool take(Cursor *c, const char *word) {
  if (!is_word(c, word)) return false;
  c->at += strlen(word);
  return true;
}

/* A word as it is, into room of BACKEND_WORD_BYTES. */
static Status take_word(Cursor *c, char word[BACKEND_WORD_BYTES], const char *what) {
  const size_t n = peek(c);
  if (n == 0) return REFUSE(c, "the line ends where %s should be", what, strlen(what));
  if (n >= BACKEND_WORD_BYTES || is_word(c, ":")) return REFUSE(c, "'%s' is too long, or no name", c->at, n);
  memcpy(word, c->at, n);
  word[n] = '\0';
  c->at += n;
  return STATUS_OK;
}

static Status take_text(Cursor *c, char text[BACKEND_TEXT_BYTES]) {
  skip(c);
  size_t n = (size_t)(c->end - c->at);
  while (n && is_blank(c->at[n - 1])) n--;
  if (n == 0) return REFUSE(c, "the line ends where %s should be", "a text", 6);
  if (n >= BACKEND_TEXT_BYTES) return REFUSE(c, "the text '%s' is longer than 159 bytes", c->at, n);
  memcpy(text, c->at, n);
  text[n] = '\0';
  return STATUS_OK;
}

static int fact_of(const char *word) {
  for (int f = 0; f < CALL_COUNT; f++)
    if (strcmp(word, CALL_NAMES[f]) == 0) return f;
  return -1;
}

static Status take_fact(Cursor *c, CallFact *fact) {
  char word[BACKEND_WORD_BYTES];
  const Status status = take_word(c, word, "a fact");
  if (status) return status;
  const int f = fact_of(word);
  if (f < 0) return REFUSE(c, "'%s' is no fact; there are sm, d, d_v, n_q, n_k, dtype, mask, ...", word, strlen(word));
  *fact = (CallFact)f;
  return STATUS_OK;
}

/* A number where the fact is one, else a word. */
static Status take_value(Cursor *c, CallFact fact, CallValue *value, int *other) {
  char word[BACKEND_WORD_BYTES], *end;
  const Status status = take_word(c, word, "a value");
  if (status) return status;
  *value = (CallValue){0};
  *other = fact_of(word);
  if (*other >= 0) {
    if ((*other < CALL_NUMBERS) == (fact < CALL_NUMBERS)) return STATUS_OK;
    return REFUSE(c, "'%s' is a number where a word is compared, or the other way about", word, strlen(word));
  }
  if (fact >= CALL_NUMBERS) {
    memcpy(value->word, word, sizeof word);
    return STATUS_OK;
  }
  value->number = strtod(word, &end);
  return *end || !isfinite(value->number) ? REFUSE(c, "'%s' is no number", word, strlen(word)) : STATUS_OK;
}

static bool at_end(Cursor *c) { return peek(c) == 0 || is_word(c, ":") || is_word(c, "when"); }

static Status take_term(Cursor *c, Term *t) {
  Status status = take_fact(c, &t->fact);
  if (status) return status;
  int op = 0;
  while (op < OP_COUNT && !take(c, OPS[op])) op++;
  if (op == OP_COUNT)
    return REFUSE(c, "'%s' is no comparison; there are == != <= >= < > in multiple-of", c->at, peek(c));
  t->op = (TermOp)op;
  if (t->fact >= CALL_NUMBERS && op != OP_EQ && op != OP_NE && op != OP_IN)
    return REFUSE(c, "words are compared by ==, != and in, not by %s", OPS[op], strlen(OPS[op]));
  do {
    if (t->n_values == BACKEND_VALUES) return REFUSE(c, "more than 8 values at '%s'", c->at, peek(c));
    status = take_value(c, t->fact, &t->values[t->n_values++], &t->other);
    if (!status && op == OP_IN && t->other >= 0) return REFUSE(c, "%s takes numbers or words, no facts", "in", 2);
  } while (!status && op == OP_IN && !at_end(c) && !is_word(c, "and") && !is_word(c, "or"));
  return status;
}

static Status take_condition(Cursor *c, Condition *condition) {
  bool begins = false;
  do {
    if (condition->n == BACKEND_TERMS) return REFUSE(c, "a condition of more than 12 parts at '%s'", c->at, peek(c));
    Term *t = &condition->terms[condition->n++];
    *t = (Term){.other = -1, .begins = begins};
    const Status status = take_term(c, t);
    if (status) return status;
    begins = is_word(c, "or");
  } while (take(c, "and") || take(c, "or"));
  return at_end(c) ? STATUS_OK : REFUSE(c, "'%s' stands where and, or, when or ':' could", c->at, peek(c));
}

/* "when CONDITION" if it is there, then ": TEXT". */
static Status take_rest(Cursor *c, Condition *when, char text[BACKEND_TEXT_BYTES]) {
  if (take(c, "when")) {
    const Status status = take_condition(c, when);
    if (status) return status;
  }
  if (!take(c, ":")) return REFUSE(c, "'%s' stands where ':' and a reason should", c->at, peek(c));
  return take_text(c, text);
}

static int kernel_of(const Backend *b, const char *name) {
  for (int k = 0; k < b->n_kernels; k++)
    if (strcmp(b->kernels[k].name, name) == 0) return k;
  return -1;
}

static Status take_kernel(Cursor *c, Backend *b) {
  if (b->n_kernels == BACKEND_KERNELS) return REFUSE(c, "more than 12 kernels at '%s'", c->at, peek(c));
  BackendKernel *k = &b->kernels[b->n_kernels];
  Condition none = {.n = 0};
  Status status = take_word(c, k->name, "a kernel's name");
  if (!status && kernel_of(b, k->name) >= 0)
    return REFUSE(c, "the kernel '%s' is there already", k->name, strlen(k->name));
  b->n_kernels++;
  if (!status && !take(c, "runs")) status = REFUSE(c, "'%s' stands where 'runs KERNEL' should", c->at, peek(c));
  if (!status) status = take_word(c, k->runs, "a program");
  if (!status && is_word(c, "when")) status = REFUSE(c, "a kernel has no '%s'; say it by needs", "when", 4);
  return status ? status : take_rest(c, &none, k->title);
}

static Status new_rule(Cursor *c, Backend *b, RuleKind kind, Rule **rule) {
  if (b->n_rules == BACKEND_RULES) return REFUSE(c, "more than 96 rules at '%s'", c->at, peek(c));
  *rule = &b->rules[b->n_rules++];
  **rule = (Rule){.kind = kind, .kernel = b->n_kernels - 1, .other = -1, .line = c->line};
  return STATUS_OK;
}

static Status take_needs(Cursor *c, Backend *b) {
  Rule *r = NULL;
  if (b->n_kernels == 0) return REFUSE(c, "%s belongs to a kernel, which begins above it", "needs", 5);
  Status status = new_rule(c, b, RULE_NEEDS, &r);
  if (!status) status = take_condition(c, &r->needs);
  return status ? status : take_rest(c, &r->when, r->why);
}

static Status take_change(Cursor *c, Backend *b, RuleKind kind) {
  Rule *r = NULL;
  Status status = new_rule(c, b, kind, &r);
  if (!status) status = take_fact(c, &r->to);
  if (!status && !take(c, "=")) status = REFUSE(c, "'%s' stands where '=' should", c->at, peek(c));
  if (!status) status = take_value(c, r->to, &r->value, &r->other);
  return status ? status : take_rest(c, &r->when, r->why);
}

/* Names are looked up when all kernels are known: until then they are kept as text. */
static Status take_order(Cursor *c, Backend *b) {
  if (b->n_orders == BACKEND_ORDERS) return REFUSE(c, "more than 8 orders at '%s'", c->at, peek(c));
  Order *o = &b->orders[b->n_orders++];
  while (!at_end(c)) {
    char name[BACKEND_WORD_BYTES];
    const Status status = take_word(c, name, "a kernel");
    if (status) return status;
    const int k = kernel_of(b, name);
    if (k < 0) return REFUSE(c, "there is no kernel '%s' above this order", name, strlen(name));
    if (o->n == BACKEND_KERNELS) return REFUSE(c, "'%s' is one kernel too many", name, strlen(name));
    o->kernels[o->n++] = k;
  }
  if (o->n == 0) return REFUSE(c, "%s names no kernel", "order", 5);
  return take_rest(c, &o->when, o->why);
}

static Status take_statement(Cursor *c, Backend *b) {
  if (take(c, "library")) return take_text(c, b->library);
  if (take(c, "version")) return take_text(c, b->version);
  if (take(c, "source")) return take_text(c, b->source);
  if (take(c, "uses")) {
    const Status status = take_word(c, b->uses, "a file of rules");
    return status || peek(c) == 0 ? status : REFUSE(c, "'%s' follows the name of the rules", c->at, peek(c));
  }
  if (take(c, "kernel")) return take_kernel(c, b);
  if (take(c, "needs")) return take_needs(c, b);
  if (take(c, "becomes")) return take_change(c, b, RULE_BECOMES);
  if (take(c, "assume")) return take_change(c, b, RULE_ASSUME);
  if (take(c, "order")) return take_order(c, b);
  return REFUSE(c,
                "'%s' is no statement; there are library, version, source, kernel, needs, becomes, assume, order, uses",
                c->at, peek(c));
}

static Status check_text(Cursor *c, const char *text, size_t length) {
  for (size_t k = 0; k < length; k++) {
    c->line += text[k] == '\n';
    if ((unsigned char)text[k] > 126 || ((unsigned char)text[k] < 32 && !strchr("\t\r\n", text[k])) || !text[k])
      return REFUSE(c, "a byte that is no ASCII text%s", "", 0);
  }
  c->line = 0;
  return STATUS_OK;
}

Status backend_parse(const char *text, size_t length, const char *name, Backend *b, Error *error) {
  Cursor c = {.file = name, .line = 1, .error = error};
  memset(b, 0, sizeof *b);
  if (length > BACKEND_FILE_BYTES) return REFUSE(&c, "more than 64 KiB%s", "", 0);
  Status status = check_text(&c, text, length);
  for (size_t at = 0, end; at < length && !status; at = end + 1) {
    for (end = at; end < length && text[end] != '\n';) end++;
    const char *comment = memchr(text + at, '#', end - at);
    c.at = text + at;
    c.end = comment ? comment : text + end;
    c.line++;
    if (peek(&c)) status = take_statement(&c, b);
  }
  if (status) return status;
  if (!*b->library || !*b->version || !*b->source)
    return REFUSE(&c, "library, version and source are not all given%s; rules without a source help nobody", "", 0);
  if (!*b->uses && b->n_orders == 0)
    return REFUSE(&c, "no order says which kernel is tried first%s, and no other rules are used", "", 0);
  return STATUS_OK;
}

/* ---- Judging ----------------------------------------------------------------------------------------------- */

static bool equal(const CallValue *a, const CallValue *b, CallFact fact) {
  return fact < CALL_NUMBERS ? a->number == b->number : strcmp(a->word, b->word) == 0;
}

static bool term_holds(const Term *t, const CallFacts *f) {
  const CallValue *a = &f->value[t->fact], *b = t->other >= 0 ? &f->value[t->other] : &t->values[0];
  if (!f->known[t->fact] || (t->other >= 0 && !f->known[t->other])) return false;
  switch (t->op) {
  case OP_EQ: return equal(a, b, t->fact);
  case OP_NE: return !equal(a, b, t->fact);
  case OP_LE: return a->number <= b->number;
  case OP_GE: return a->number >= b->number;
  case OP_LT: return a->number < b->number;
  case OP_GT: return a->number > b->number;
  case OP_MULTIPLE: return b->number != 0 && fmod(a->number, b->number) == 0;
  default: break;
  }
  bool any = false;
  for (int v = 0; v < t->n_values; v++) any |= equal(a, &t->values[v], t->fact);
  return any;
}

/* Whether a condition holds; one about a fact that is not known does not. */
static bool condition_holds(const Condition *c, const CallFacts *f) {
  bool all = true;
  for (int k = 0; k < c->n; k++) {
    if (c->terms[k].begins) {
      if (all) return true;
      all = true;
    }
    all &= term_holds(&c->terms[k], f);
  }
  return all;
}

void backend_apply(const Backend *b, CallFacts *f, bool changed[BACKEND_RULES]) {
  for (int r = 0; r < b->n_rules; r++) {
    const Rule *rule = &b->rules[r];
    changed[r] = false;
    if (rule->kind == RULE_NEEDS || !condition_holds(&rule->when, f)) continue;
    if (rule->kind == RULE_ASSUME && f->known[rule->to]) continue;
    if (rule->other >= 0 && !f->known[rule->other]) continue;
    const CallValue value = rule->other >= 0 ? f->value[rule->other] : rule->value;
    changed[r] = !f->known[rule->to] || !equal(&value, &f->value[rule->to], rule->to);
    f->value[rule->to] = value;
    f->known[rule->to] = true;
  }
}

const Order *backend_order(const Backend *b, const CallFacts *f) {
  for (int o = 0; o < b->n_orders; o++)
    if (condition_holds(&b->orders[o].when, f)) return &b->orders[o];
  return NULL;
}

int backend_refusal(const Backend *b, int kernel, const CallFacts *f, int from) {
  for (int r = from; r < b->n_rules; r++) {
    const Rule *rule = &b->rules[r];
    if (rule->kind != RULE_NEEDS || rule->kernel != kernel || !condition_holds(&rule->when, f)) continue;
    if (!condition_holds(&rule->needs, f)) return r;
  }
  return -1;
}
