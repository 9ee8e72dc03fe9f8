#include "viz/request/backend_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"

/* In the order of their enums. */
static const char *const CALL_NAMES[CALL_COUNT] = {"sm",       "d",     "d_v",      "n_q",     "n_k",           "heads",
                                                   "kv_heads", "batch", "window",   "dropout", "cudnn",         "dtype",
                                                   "kv_dtype", "mask",  "training", "gqa",     "deterministic", "sinks",
                                                   "softcap",  "alibi", "mla",      "corner"};
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

/* After the first error nothing is taken any more, and the line seems to end. */
typedef struct {
  const char *at, *end; /* of what is left of the line */
  const char *file;
  int line;
  Error *error;
  Status status;
} Cursor;

static void refuse(Cursor *c, const char *format, const char *what, size_t n) {
  char message[200];
  if (c->status) return;
  snprintf(message, sizeof message, format, quote(what, n).text);
  c->status = error_set(c->error, STATUS_BAD_REQUEST, "%s:%d: %s", quote_text(c->file).text, c->line, message);
}

static void refuse_word(Cursor *c, const char *format, const char *word) { refuse(c, format, word, strlen(word)); }

static bool is_blank(char ch) { return ch == ' ' || ch == '\t' || ch == '\r'; }

/* The next word, without taking it; 0: none is left. */
static size_t peek(Cursor *c) {
  size_t n = 0;
  while (c->at < c->end && is_blank(*c->at)) c->at++;
  while (!c->status && c->at + n < c->end && !is_blank(c->at[n])) n++;
  return n;
}

static void refuse_next(Cursor *c, const char *format) { refuse(c, format, c->at, peek(c)); }

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
static void take_word(Cursor *c, char word[BACKEND_WORD_BYTES], const char *what) {
  size_t n = peek(c);
  if (n == 0) refuse_word(c, "the line ends where %s should be", what);
  if (n >= BACKEND_WORD_BYTES || is_word(c, ":")) refuse_next(c, "'%s' is too long, or no name");
  if (c->status) n = 0;
  memcpy(word, c->at, n);
  word[n] = '\0';
  c->at += n;
}

static void take_text(Cursor *c, char text[BACKEND_TEXT_BYTES]) {
  if (peek(c) == 0) refuse_word(c, "the line ends where %s should be", "a text");
  size_t n = (size_t)(c->end - c->at);
  while (n && is_blank(c->at[n - 1])) n--;
  if (n >= BACKEND_TEXT_BYTES) refuse(c, "the text '%s' is longer than 159 bytes", c->at, n);
  if (c->status) return;
  memcpy(text, c->at, n);
  text[n] = '\0';
}

static int fact_of(const char *word) {
  for (int f = 0; f < CALL_COUNT; f++)
    if (strcmp(word, CALL_NAMES[f]) == 0) return f;
  return -1;
}

static CallFact take_fact(Cursor *c) {
  char word[BACKEND_WORD_BYTES];
  take_word(c, word, "a fact");
  const int f = fact_of(word);
  if (f < 0) refuse_word(c, "'%s' is no fact; there are sm, d, d_v, n_q, n_k, dtype, mask, ...", word);
  return f < 0 ? CALL_SM : (CallFact)f;
}

/* A number where the fact is one, else a word. */
static void take_value(Cursor *c, CallFact fact, CallValue *value, int *other) {
  char word[BACKEND_WORD_BYTES], *end;
  take_word(c, word, "a value");
  *value = (CallValue){0};
  *other = fact_of(word);
  if (*other >= 0) {
    if ((*other < CALL_NUMBERS) != (fact < CALL_NUMBERS))
      refuse_word(c, "'%s' is a number where a word is compared, or the other way about", word);
  } else if (fact >= CALL_NUMBERS) {
    memcpy(value->word, word, sizeof word);
  } else {
    value->number = strtod(word, &end);
    if (*end || !isfinite(value->number)) refuse_word(c, "'%s' is no number", word);
  }
}

static bool at_end(Cursor *c) { return peek(c) == 0 || is_word(c, ":") || is_word(c, "when"); }

static void take_term(Cursor *c, Term *t) {
  t->fact = take_fact(c);
  int op = 0;
  while (op < OP_COUNT && !take(c, OPS[op])) op++;
  if (op == OP_COUNT) refuse_next(c, "'%s' is no comparison; there are == != <= >= < > in multiple-of");
  t->op = (TermOp)op;
  if (!c->status && t->fact >= CALL_NUMBERS && op != OP_EQ && op != OP_NE && op != OP_IN)
    refuse_word(c, "words are compared by ==, != and in, not by %s", OPS[op]);
  do {
    if (t->n_values == BACKEND_VALUES) {
      refuse_next(c, "more than 8 values at '%s'");
      return;
    }
    take_value(c, t->fact, &t->values[t->n_values++], &t->other);
    if (op == OP_IN && t->other >= 0) refuse_word(c, "%s takes numbers or words, no facts", "in");
  } while (op == OP_IN && !at_end(c) && !is_word(c, "and") && !is_word(c, "or"));
}

static void take_condition(Cursor *c, Condition *condition) {
  bool begins = false;
  do {
    if (condition->n == BACKEND_TERMS) {
      refuse_next(c, "a condition of more than 12 parts at '%s'");
      return;
    }
    Term *t = &condition->terms[condition->n++];
    *t = (Term){.other = -1, .begins = begins};
    take_term(c, t);
    begins = is_word(c, "or");
  } while (take(c, "and") || take(c, "or"));
  if (!at_end(c)) refuse_next(c, "'%s' stands where and, or, when or ':' could");
}

/* "when CONDITION" if it is there, then ": TEXT". */
static void take_rest(Cursor *c, Condition *when, char text[BACKEND_TEXT_BYTES]) {
  if (take(c, "when")) take_condition(c, when);
  if (!take(c, ":")) refuse_next(c, "'%s' stands where ':' and a reason should");
  take_text(c, text);
}

static int kernel_of(const Backend *b, const char *name) {
  for (int k = 0; k < b->n_kernels; k++)
    if (strcmp(b->kernels[k].name, name) == 0) return k;
  return -1;
}

static void take_kernel(Cursor *c, Backend *b) {
  if (b->n_kernels == BACKEND_KERNELS) {
    refuse_next(c, "more than 12 kernels at '%s'");
    return;
  }
  BackendKernel *k = &b->kernels[b->n_kernels];
  Condition none = {.n = 0};
  take_word(c, k->name, "a kernel's name");
  if (kernel_of(b, k->name) >= 0) refuse_word(c, "the kernel '%s' is there already", k->name);
  b->n_kernels++;
  if (!take(c, "runs")) refuse_next(c, "'%s' stands where 'runs KERNEL' should");
  take_word(c, k->runs, "a program");
  if (is_word(c, "when")) refuse_word(c, "a kernel has no '%s'; say it by needs", "when");
  take_rest(c, &none, k->title);
}

/* needs, becomes or assume. */
static void take_rule(Cursor *c, Backend *b, RuleKind kind) {
  if (kind == RULE_NEEDS && b->n_kernels == 0) refuse_word(c, "%s belongs to a kernel, which begins above it", "needs");
  if (b->n_rules == BACKEND_RULES) refuse_next(c, "more than 96 rules at '%s'");
  if (c->status) return;
  Rule *r = &b->rules[b->n_rules++];
  *r = (Rule){.kind = kind, .kernel = b->n_kernels - 1, .other = -1, .line = c->line};
  if (kind == RULE_NEEDS) {
    take_condition(c, &r->needs);
  } else {
    r->to = take_fact(c);
    if (!take(c, "=")) refuse_next(c, "'%s' stands where '=' should");
    take_value(c, r->to, &r->value, &r->other);
  }
  take_rest(c, &r->when, r->why);
}

/* Of kernels above it. */
static void take_order(Cursor *c, Backend *b) {
  if (b->n_orders == BACKEND_ORDERS) {
    refuse_next(c, "more than 8 orders at '%s'");
    return;
  }
  Order *o = &b->orders[b->n_orders++];
  while (!at_end(c)) {
    char name[BACKEND_WORD_BYTES];
    take_word(c, name, "a kernel");
    const int k = kernel_of(b, name);
    if (k < 0) refuse_word(c, "there is no kernel '%s' above this order", name);
    if (o->n == BACKEND_KERNELS) refuse_word(c, "'%s' is one kernel too many", name);
    if (!c->status) o->kernels[o->n++] = k;
  }
  if (o->n == 0) refuse_word(c, "%s names no kernel", "order");
  take_rest(c, &o->when, o->why);
}

static void take_statement(Cursor *c, Backend *b) {
  if (take(c, "library"))
    take_text(c, b->library);
  else if (take(c, "version"))
    take_text(c, b->version);
  else if (take(c, "source"))
    take_text(c, b->source);
  else if (take(c, "kernel"))
    take_kernel(c, b);
  else if (take(c, "needs"))
    take_rule(c, b, RULE_NEEDS);
  else if (take(c, "becomes"))
    take_rule(c, b, RULE_BECOMES);
  else if (take(c, "assume"))
    take_rule(c, b, RULE_ASSUME);
  else if (take(c, "order"))
    take_order(c, b);
  else if (take(c, "uses")) {
    take_word(c, b->uses, "a file of rules");
    if (peek(c)) refuse_next(c, "'%s' follows the name of the rules");
  } else
    refuse_next(
        c, "'%s' is no statement; there are library, version, source, kernel, needs, becomes, assume, order, uses");
}

static void check_text(Cursor *c, const char *text, size_t length) {
  for (size_t k = 0; k < length; k++) {
    c->line += text[k] == '\n';
    if ((unsigned char)text[k] > 126 || ((unsigned char)text[k] < 32 && !strchr("\t\r\n", text[k])) || !text[k])
      refuse_word(c, "a byte that is no ASCII text%s", "");
  }
  c->line = 0;
}

Status backend_parse(const char *text, size_t length, const char *name, Backend *b, Error *error) {
  Cursor c = {.file = name, .line = 1, .error = error};
  memset(b, 0, sizeof *b);
  if (length > BACKEND_FILE_BYTES) refuse_word(&c, "more than 64 KiB%s", "");
  if (!c.status) check_text(&c, text, length);
  for (size_t at = 0, end; at < length && !c.status; at = end + 1) {
    for (end = at; end < length && text[end] != '\n';) end++;
    const char *comment = memchr(text + at, '#', end - at);
    c.at = text + at;
    c.end = comment ? comment : text + end;
    c.line++;
    if (peek(&c)) take_statement(&c, b);
  }
  if (!*b->library || !*b->version || !*b->source)
    refuse_word(&c, "library, version and source are not all given%s; rules without a source help nobody", "");
  if (!*b->uses && b->n_orders == 0)
    refuse_word(&c, "no order says which kernel is tried first%s, and no other rules are used", "");
  return c.status;
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
