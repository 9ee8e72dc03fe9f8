#include "viz/request/backend_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/quote.h"

/* In the order of their enum. */
static const char *const CALL_NAMES[CALL_COUNT] = {"sm",       "d",     "d_v",      "n_q",     "n_k",           "heads",
                                                   "kv_heads", "batch", "window",   "dropout", "cudnn",         "dtype",
                                                   "kv_dtype", "mask",  "training", "gqa",     "deterministic", "sinks",
                                                   "softcap",  "alibi", "mla",      "corner"};

enum { LESS = 1, EQUAL = 2, MORE = 4 };
static const struct {
  const char *name;
  int holds;
} OPS[] = {{"==", EQUAL}, {"!=", LESS | MORE}, {"<=", LESS | EQUAL}, {">=", MORE | EQUAL},
           {"<", LESS},   {">", MORE},         {"in", EQUAL},        {"multiple-of", 0}};
enum { OP_IN = 6, OP_MULTIPLE, OP_COUNT };

void call_number(CallFacts *f, CallFact fact, double number) {
  f->value[fact] = (CallValue){.known = true, .number = number};
}

void call_word(CallFacts *f, CallFact fact, const char *word) {
  f->value[fact] = (CallValue){.known = true};
  snprintf(f->value[fact].word, BACKEND_WORD_BYTES, "%s", word);
}

/* ---- Words of a line --------------------------------------------------------------------------------------- */

/* After the first error nothing is taken any more, and the line seems to end. */
typedef struct {
  const char *at; /* what is left of the line */
  const char *file;
  int line;
  Error *error;
  Status status;
} Cursor;

static const char BLANKS[] = " \t\r";

/* The next word, without taking it; 0: none is left. */
static size_t peek(Cursor *c) {
  c->at += strspn(c->at, BLANKS);
  return c->status ? 0 : strcspn(c->at, BLANKS);
}

/* %s: the word; NULL: the next one. */
static void refuse(Cursor *c, const char *format, const char *word) {
  char message[200];
  const size_t n = word ? strlen(word) : peek(c);
  if (c->status) return;
  snprintf(message, sizeof message, format, quote(word ? word : c->at, n).text);
  c->status = error_set(c->error, STATUS_BAD_REQUEST, "%s:%d: %s", quote_text(c->file).text, c->line, message);
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
static void take_word(Cursor *c, char word[BACKEND_WORD_BYTES], const char *what) {
  size_t n = peek(c);
  if (n == 0) refuse(c, "the line ends where %s should be", what);
  if (n >= BACKEND_WORD_BYTES || is_word(c, ":")) refuse(c, "'%s' is too long, or no name", NULL);
  if (c->status) n = 0;
  memcpy(word, c->at, n);
  word[n] = '\0';
  c->at += n;
}

/* The rest of the line. */
static const char *take_text(Cursor *c) {
  if (peek(c) == 0) refuse(c, "the line ends where %s should be", "a text");
  return c->at;
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
  if (f < 0) refuse(c, "'%s' is no fact; there are sm, d, d_v, n_q, n_k, dtype, mask, ...", word);
  return f < 0 ? CALL_SM : (CallFact)f;
}

/* ---- Conditions: taken and judged at once ------------------------------------------------------------------ */

/* A number where the fact is one, else a word; or the value of another fact. */
static CallValue take_value(Cursor *c, const CallFacts *f, CallFact fact, bool takes_facts) {
  CallValue value = {.known = true};
  char *end;
  take_word(c, value.word, "a value");
  const int other = fact_of(value.word);
  if (other >= 0) {
    if ((other < CALL_NUMBERS) != (fact < CALL_NUMBERS))
      refuse(c, "'%s' is a number where a word is compared, or the other way about", value.word);
    if (!takes_facts) refuse(c, "%s takes numbers or words, no facts", "in");
    return f->value[other];
  }
  if (fact < CALL_NUMBERS) {
    value.number = strtod(value.word, &end);
    if (*end || !isfinite(value.number)) refuse(c, "'%s' is no number", value.word);
  }
  return value;
}

static bool compare(int op, CallFact fact, const CallValue *a, const CallValue *b) {
  const double order = fact < CALL_NUMBERS ? a->number - b->number : strcmp(a->word, b->word);
  if (!a->known || !b->known) return false;
  if (op == OP_MULTIPLE) return b->number != 0 && fmod(a->number, b->number) == 0;
  return OPS[op].holds & (order < 0 ? LESS : order > 0 ? MORE : EQUAL);
}

static bool at_end(Cursor *c) { return peek(c) == 0 || is_word(c, ":") || is_word(c, "when"); }

static bool take_term(Cursor *c, const CallFacts *f) {
  const CallFact fact = take_fact(c);
  bool any = false;
  int op = 0;
  while (op < OP_COUNT && !take(c, OPS[op].name)) op++;
  if (op == OP_COUNT) refuse(c, "'%s' is no comparison; there are == != <= >= < > in multiple-of", NULL);
  if (c->status) return false;
  if (fact >= CALL_NUMBERS && OPS[op].holds != EQUAL && OPS[op].holds != (LESS | MORE))
    refuse(c, "words are compared by ==, != and in, not by %s", OPS[op].name);
  do {
    const CallValue value = take_value(c, f, fact, op != OP_IN);
    any |= compare(op, fact, &f->value[fact], &value);
  } while (op == OP_IN && !at_end(c) && !is_word(c, "and") && !is_word(c, "or"));
  return any;
}

/* Whether it holds; one about a fact that is not known does not. */
static bool take_condition(Cursor *c, const CallFacts *f) {
  bool any = false, all = true, more = true;
  while (more) {
    all &= take_term(c, f);
    more = take(c, "and");
    if (more) continue;
    any |= all;
    all = more = take(c, "or");
  }
  if (!at_end(c)) refuse(c, "'%s' stands where and, or, when or ':' could", NULL);
  return any;
}

static bool holds(const char *condition, const CallFacts *f) {
  return !condition || take_condition(&(Cursor){.at = condition}, f);
}

/* ---- Statements -------------------------------------------------------------------------------------------- */

static const CallFacts NOTHING; /* to which conditions are put while the file is read */

/* "when CONDITION" if it is there, then ": TEXT", which is returned. */
static const char *take_rest(Cursor *c, const char **when) {
  if (take(c, "when")) *when = c->at, take_condition(c, &NOTHING);
  if (!take(c, ":")) refuse(c, "'%s' stands where ':' and a reason should", NULL);
  return take_text(c);
}

static int kernel_of(const Backend *b, const char *name) {
  for (int k = 0; k < b->n_kernels; k++)
    if (strcmp(b->kernels[k].name, name) == 0) return k;
  return -1;
}

static void take_kernel(Cursor *c, Backend *b) {
  if (b->n_kernels == BACKEND_KERNELS) {
    refuse(c, "more than 12 kernels at '%s'", NULL);
    return;
  }
  BackendKernel *k = &b->kernels[b->n_kernels];
  const char *none;
  take_word(c, k->name, "a kernel's name");
  if (kernel_of(b, k->name) >= 0) refuse(c, "the kernel '%s' is there already", k->name);
  b->n_kernels++;
  if (!take(c, "runs")) refuse(c, "'%s' stands where 'runs KERNEL' should", NULL);
  take_word(c, k->runs, "a program");
  if (is_word(c, "when")) refuse(c, "a kernel has no '%s'; say it by needs", "when");
  k->title = take_rest(c, &none);
}

static void take_rule(Cursor *c, Backend *b, RuleKind kind) {
  if (kind == RULE_NEEDS && b->n_kernels == 0) refuse(c, "%s belongs to a kernel, which begins above it", "needs");
  if (b->n_rules == BACKEND_RULES) refuse(c, "more than 96 rules at '%s'", NULL);
  if (c->status) return;
  Rule *r = &b->rules[b->n_rules++];
  *r = (Rule){.kind = kind, .kernel = b->n_kernels - 1, .says = c->at};
  if (kind == RULE_NEEDS) {
    take_condition(c, &NOTHING);
  } else {
    r->to = take_fact(c);
    if (!take(c, "=")) refuse(c, "'%s' stands where '=' should", NULL);
    r->says = c->at;
    take_value(c, &NOTHING, r->to, true);
  }
  r->why = take_rest(c, &r->when);
}

/* Of kernels above it. */
static void take_order(Cursor *c, Backend *b) {
  if (b->n_orders == BACKEND_ORDERS) {
    refuse(c, "more than 8 orders at '%s'", NULL);
    return;
  }
  Order *o = &b->orders[b->n_orders++];
  while (!at_end(c)) {
    char name[BACKEND_WORD_BYTES];
    take_word(c, name, "a kernel");
    const int k = kernel_of(b, name);
    if (k < 0) refuse(c, "there is no kernel '%s' above this order", name);
    if (o->n == BACKEND_KERNELS) refuse(c, "'%s' is one kernel too many", name);
    if (!c->status) o->kernels[o->n++] = k;
  }
  if (o->n == 0) refuse(c, "%s names no kernel", "order");
  o->why = take_rest(c, &o->when);
}

static void take_statement(Cursor *c, Backend *b) {
  static const char *const WORDS[] = {"needs",  "becomes", "assume", "library", "version",
                                      "source", "kernel",  "order",  "uses"};
  enum { LIBRARY = RULE_ASSUME + 1, KERNEL = LIBRARY + 3, ORDER, USES, N };
  const char **const texts[] = {&b->library, &b->version, &b->source};
  int word = 0;
  while (word < N && !take(c, WORDS[word])) word++;
  if (word < LIBRARY) {
    take_rule(c, b, (RuleKind)word);
  } else if (word < KERNEL) {
    *texts[word - LIBRARY] = take_text(c);
  } else if (word == KERNEL) {
    take_kernel(c, b);
  } else if (word == ORDER) {
    take_order(c, b);
  } else if (word == USES) {
    take_word(c, b->uses, "a file of rules");
    if (peek(c)) refuse(c, "'%s' follows the name of the rules", NULL);
  } else {
    refuse(c, "'%s' is no statement; there are library, version, source, kernel, needs, becomes, assume, order, uses",
           NULL);
  }
}

static bool is_text(char ch) { return (ch >= ' ' && ch <= '~') || ch == '\t' || ch == '\r'; }

Status backend_parse(const char *text, size_t length, const char *name, Backend *b, Error *error) {
  Cursor c = {.file = name, .error = error};
  char *line = b->text, *end;
  memset(b, 0, sizeof *b);
  if (length > BACKEND_FILE_BYTES) refuse(&c, "more than 64 KiB%s", "");
  if (!c.status) memcpy(b->text, text, length);
  for (; line < b->text + length && !c.status; line = end + 1) {
    c.line++;
    for (end = line; is_text(*end);) end++;
    if (end < b->text + length && *end != '\n') refuse(&c, "a byte that is no ASCII text%s", "");
    *end = line[strcspn(line, "#\n")] = '\0';
    for (size_t n = strlen(line); n && strchr(BLANKS, line[n - 1]); n--) line[n - 1] = '\0';
    c.at = line;
    if (peek(&c)) take_statement(&c, b);
  }
  if (!b->library || !b->version || !b->source)
    refuse(&c, "library, version and source are not all given%s; rules without a source help nobody", "");
  if (!*b->uses && b->n_orders == 0)
    refuse(&c, "no order says which kernel is tried first%s, and no other rules are used", "");
  return c.status;
}

/* ---- Judging ----------------------------------------------------------------------------------------------- */

void backend_apply(Backend *b, CallFacts *f) {
  for (Rule *rule = b->rules; rule < b->rules + b->n_rules; rule++) {
    CallValue *const fact = &f->value[rule->to];
    rule->changed = false;
    if (rule->kind == RULE_NEEDS || !holds(rule->when, f) || (rule->kind == RULE_ASSUME && fact->known)) continue;
    const CallValue value = take_value(&(Cursor){.at = rule->says}, f, rule->to, true);
    if (!value.known) continue;
    rule->changed = !compare(0, rule->to, &value, fact);
    *fact = value;
  }
}

const Order *backend_order(const Backend *b, const CallFacts *f) {
  for (int o = 0; o < b->n_orders; o++)
    if (holds(b->orders[o].when, f)) return &b->orders[o];
  return NULL;
}

int backend_refusal(const Backend *b, int kernel, const CallFacts *f, int from) {
  for (int r = from; r < b->n_rules; r++) {
    const Rule *rule = &b->rules[r];
    if (rule->kind == RULE_NEEDS && rule->kernel == kernel && holds(rule->when, f) && !holds(rule->says, f)) return r;
  }
  return -1;
}
