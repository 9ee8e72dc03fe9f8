#include "sim/numbers/program_mend.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/algorithms/language/read.h"
#include "sim/base/ascii.h"

enum { LINE_BYTES = sizeof((ProgramMend *)0)->text, TOKENS_MAX = 64, READ_MOST = 40000, TRIED_MOST = 3000 };

typedef struct {
  const Schedule *s;
  const SoftmaxConfig *softmax;
  Program *changed;
  int n_outputs, problem; /* problem: that told the last one wrong */
  ProgramMend *mend;
} Search;

/* ---- Trying ------------------------------------------------------------------------------------------------- */

static int judged_outputs(const Program *p) {
  int n = 0;
  for (int k = 0; k < p->n_declarations; k++) {
    const ProgramDeclaration *d = &p->declarations[k];
    n += d->role == TENSOR_OUTPUT && d->formula && p->names[d->name].is_stored;
  }
  return n;
}

/* The program with bytes [begin, end) of its text replaced. True: it is right. */
static bool is_right_with(Search *f, size_t begin, size_t end, const char *with) {
  char text[PROGRAM_TEXT_BYTES];
  const size_t length = strlen(f->s->text), more = strlen(with);
  if (f->mend->n_read >= READ_MOST || f->mend->n_tried >= TRIED_MOST || begin + more + (length - end) >= sizeof text)
    return false;
  memcpy(text, f->s->text, begin);
  memcpy(text + begin, with, more);
  memcpy(text + begin + more, f->s->text + end, length - end + 1);
  f->mend->n_read++;
  if (program_read(f->changed, text, strlen(text), "mended", NULL)) return false;
  f->mend->n_tried++;
  return judged_outputs(f->changed) == f->n_outputs && program_is_right(f->changed, f->softmax, &f->problem);
}

static const char *line_text(const Search *f, int line) { return f->s->text + f->s->lines[line].begin; }
static size_t line_end(const Search *f, int line) { return (size_t)f->s->lines[line].begin + f->s->lines[line].length; }

/* Spaces before a line. */
static int indent_of(const Search *f, int line) {
  int n = 0;
  while (f->s->lines[line].begin > n && line_text(f, line)[-1 - n] == ' ') n++;
  return n;
}

static bool found(Search *f, MendKind kind, int line, const char *text) {
  f->mend->kind = kind;
  f->mend->line = f->s->lines[line].number;
  f->mend->indent = indent_of(f, line);
  snprintf(f->mend->text, sizeof f->mend->text, "%s", text);
  return true;
}

/* A line with bytes [begin, end) of it replaced. */
static bool try_part(Search *f, int line, size_t begin, size_t end, const char *with) {
  const ProgramLine *l = &f->s->lines[line];
  char text[LINE_BYTES];
  if ((size_t)snprintf(text, sizeof text, "%.*s%s%.*s", (int)begin, line_text(f, line), with, (int)(l->length - end),
                       line_text(f, line) + end) >= sizeof text)
    return false;
  return is_right_with(f, l->begin, line_end(f, line), text) && found(f, MEND_REPLACE, line, text);
}

static bool begins_with(const Search *f, int line, const char *word) {
  const size_t n = strlen(word);
  return f->s->lines[line].length > n && strncmp(line_text(f, line), word, n) == 0 && line_text(f, line)[n] == ' ';
}

static bool is_column(const ProgramName *n) { return n->cols == SIDE_ONE; } /* or set to a number alone so far */
static bool is_tile(const ProgramName *n) { return n->rows != SIDE_ONE && n->cols != SIDE_ONE; }

/* ---- Words of a line ---------------------------------------------------------------------------------------- */

typedef struct {
  size_t begin, end;
} Token;

static bool is_word(char c) { return ascii_is_alpha(c) || ascii_is_digit(c) || c == '_' || c == '\'' || c == '.'; }

static int tokens_of(const char *text, size_t length, Token *tokens) {
  static const char *const PAIRS[] = {"+=", "*=", "^T"};
  int n = 0;
  for (size_t k = 0; k < length && n < TOKENS_MAX;) {
    size_t end = k;
    while (end < length && is_word(text[end])) end++;
    if (end == k) end++;
    for (size_t pair = 0; pair < COUNT_OF(PAIRS); pair++)
      if (k + 2 <= length && strncmp(text + k, PAIRS[pair], 2) == 0) end = k + 2;
    if (text[k] != ' ') tokens[n++] = (Token){k, end};
    k = end;
  }
  return n;
}

static bool token_is(const char *text, Token t, const char *word) {
  return strlen(word) == t.end - t.begin && strncmp(text + t.begin, word, t.end - t.begin) == 0;
}

static int name_of(const Program *p, const char *text, Token t) {
  for (int k = 0; k < p->n_names; k++)
    if (token_is(text, t, p->names[k].text)) return k;
  return -1;
}

/* ---- Changes of a line -------------------------------------------------------------------------------------- */

static const char *const EXCHANGES[][2] = {
    {"+", "-"},       {"-", "+"},     {"/", "x"},          {"x", "/"},          {"x", ""},    {"+=", "="},
    {"+=", "*="},     {"=", "+="},    {"=", "*="},         {"*=", "="},         {"*=", "+="}, {"^T", ""},
    {"max", "sum"},   {"sum", "max"}, {"0", "-inf"},       {"inf", "0"},        {"0", "1"},   {"1", "0"},
    {"e", "2"},       {"2", "e"},     {"log", ""},         {">", "<"},          {"<", ">"},   {"add", "store"},
    {"store", "add"}, {"-", ""},      {"sigmoid", "tanh"}, {"tanh", "sigmoid"}, {"+", "x"},   {"-", "x"},
    {"(", "e^("},
};

static bool try_exchanges(Search *f, int line, Token t) {
  const char *text = line_text(f, line);
  for (size_t k = 0; k < COUNT_OF(EXCHANGES); k++)
    if (token_is(text, t, EXCHANGES[k][0]) && try_part(f, line, t.begin, t.end, EXCHANGES[k][1])) return true;
  return false;
}

/* Another name, transposed, or its log. */
static bool try_names(Search *f, int line, Token t) {
  const char *text = line_text(f, line);
  char with[2 * PROGRAM_NAME_BYTES];
  for (int k = 0; k < f->s->n_names; k++)
    if (!token_is(text, t, f->s->names[k].text) && try_part(f, line, t.begin, t.end, f->s->names[k].text)) return true;
  if (try_part(f, line, t.end, t.end, "^T") || try_part(f, line, t.begin, t.begin, "log ")) return true;
  snprintf(with, sizeof with, "-%.*s", (int)(t.end - t.begin), text + t.begin);
  return try_part(f, line, t.begin, t.end, with);
}

/* Without an operator and what follows it: a word, or one in brackets, or what brackets hold. */
static bool try_without(Search *f, int line, const Token *tokens, int n, int at) {
  const char *text = line_text(f, line);
  int end = at + 1, depth = 0;
  for (; end < n; end++) {
    depth += token_is(text, tokens[end], "(") - token_is(text, tokens[end], ")");
    const bool goes_on = end + 1 < n && (token_is(text, tokens[end + 1], "(") || token_is(text, tokens[end + 1], "^T"));
    if (depth == 0 && !goes_on) break;
  }
  const size_t begin = tokens[at].begin;
  return end < n && try_part(f, line, begin > 0 && text[begin - 1] == ' ' ? begin - 1 : begin, tokens[end].end, "");
}

static bool is_among(const char *text, Token t, const char *const *words, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (token_is(text, t, words[k])) return true;
  return false;
}

/* After a word or a bracket: a factor or a term that is missing. */
static bool try_with(Search *f, int line, size_t end) {
  static const char SIGNS[] = "x/-+";
  char with[2 * PROGRAM_NAME_BYTES];
  if (try_part(f, line, end, end, " / sqrt(d)")) return true;
  for (int k = 0; k < f->s->n_names; k++)
    for (const char *sign = SIGNS; *sign; sign++) {
      if (!is_column(&f->s->names[k])) continue;
      snprintf(with, sizeof with, " %c %s", *sign, f->s->names[k].text);
      if (try_part(f, line, end, end, with)) return true;
    }
  return false;
}

/* What stands on both sides of an operator, the other way round. */
static bool try_turned(Search *f, int line, Token a, Token sign, Token b) {
  const char *text = line_text(f, line);
  char with[LINE_BYTES];
  snprintf(with, sizeof with, "%.*s %.*s %.*s", (int)(b.end - b.begin), text + b.begin, (int)(sign.end - sign.begin),
           text + sign.begin, (int)(a.end - a.begin), text + a.begin);
  return try_part(f, line, a.begin, b.end, with);
}

static bool try_token(Search *f, int line, const Token *tokens, int n, int at) {
  static const char *const OPERATORS[] = {"+", "-", "x", "/"};
  const char *text = line_text(f, line);
  const Token t = tokens[at];
  const bool is_name = name_of(f->s, text, t) >= 0;
  if (is_name ? try_names(f, line, t) : try_exchanges(f, line, t)) return true;
  if (at > 0 && is_among(text, t, OPERATORS, 4)) {
    if (try_without(f, line, tokens, n, at)) return true;
    if (at + 1 < n && try_part(f, line, tokens[at - 1].begin, tokens[at + 1].begin, "")) return true;
    if (at + 1 < n && try_turned(f, line, tokens[at - 1], t, tokens[at + 1])) return true;
  }
  return (is_name || token_is(text, t, ")") || token_is(text, t, "^T")) && try_with(f, line, t.end);
}

static bool try_line(Search *f, int line) {
  const ProgramLine *l = &f->s->lines[line];
  const char *text = line_text(f, line);
  Token tokens[TOKENS_MAX];
  const int n = tokens_of(text, l->length, tokens);
  if (begins_with(f, line, "kernel")) return false;
  if (begins_with(f, line, "for"))
    return try_part(f, line, l->length, l->length, " of i") || try_part(f, line, l->length, l->length, " in s");
  for (int at = 0; at < n; at++)
    if (try_token(f, line, tokens, n, at)) return true;
  return false;
}

/* ---- Lines more, less, in another order ---------------------------------------------------------------------- */

static bool is_statement(const Search *f, int line) {
  return f->s->lines[line].indent > 1 && !begins_with(f, line, "for");
}

/* Without one of the parts between semicolons; without the line. */
static bool try_deletions(Search *f, int line) {
  const ProgramLine *l = &f->s->lines[line];
  const char *text = line_text(f, line);
  if (!is_statement(f, line)) return false;
  for (size_t begin = 0, k = 0; k <= l->length; k++) {
    if (k < l->length && text[k] != ';') continue;
    if (begin == 0 && k == l->length) break;
    const bool is_last = k == l->length;
    size_t from = is_last ? begin - 1 : begin, to = is_last ? k : k + 1;
    while (!is_last && to < l->length && text[to] == ' ') to++;
    if (try_part(f, line, from, to, "")) return true;
    begin = k + 1;
  }
  if (begins_with(f, line, "store") || begins_with(f, line, "load")) return false;
  return is_right_with(f, l->begin, line_end(f, line), "") && found(f, MEND_DELETE, line, "");
}

static bool try_exchange_with_next(Search *f, int line) {
  char text[2 * LINE_BYTES + 64], first[LINE_BYTES];
  if (line + 1 >= f->s->n_lines || !is_statement(f, line) || !is_statement(f, line + 1)) return false;
  const ProgramLine *a = &f->s->lines[line], *b = &f->s->lines[line + 1];
  if (a->indent != b->indent || a->length >= LINE_BYTES || b->length >= LINE_BYTES) return false;
  snprintf(text, sizeof text, "%.*s\n%*s%.*s", b->length, line_text(f, line + 1), indent_of(f, line), "", a->length,
           line_text(f, line));
  snprintf(first, sizeof first, "%.*s", b->length, line_text(f, line + 1));
  return is_right_with(f, a->begin, line_end(f, line + 1), text) && found(f, MEND_EXCHANGE, line, first);
}

static bool try_statement_at(Search *f, int line, int indent, const char *statement) {
  char text[LINE_BYTES + 64];
  snprintf(text, sizeof text, "\n%*s%s", indent, "", statement);
  if (!is_right_with(f, line_end(f, line), line_end(f, line), text)) return false;
  f->mend->behind_loop = indent < indent_of(f, line);
  found(f, MEND_INSERT, line, statement);
  f->mend->indent = indent;
  return true;
}

/* A statement of its own after a line: in the body of the line, of the loop that it begins, or behind one that it
 * ends. */
static bool try_statement(Search *f, int line, const char *statement) {
  const bool opens = begins_with(f, line, "for") || begins_with(f, line, "kernel"), is_last = line + 1 == f->s->n_lines;
  const int own = indent_of(f, line), next = is_last ? own : indent_of(f, line + 1);
  if (!opens && try_statement_at(f, line, own, statement)) return true;
  return (opens || (next < own && next > 0)) && !is_last && try_statement_at(f, line, next, statement);
}

/* Rescales of one value, or of two. */
static bool try_rescales(Search *f, int line, const char *a, const char *b) {
  const Program *p = f->s;
  char text[LINE_BYTES];
  for (int x = 0; x < p->n_names; x++)
    for (int y = x; y < p->n_names; y++) {
      if (p->names[x].is_input || p->names[y].is_input || p->names[x].rows != p->names[y].rows) continue;
      if (is_tile(&p->names[x]) && is_tile(&p->names[y]) && x != y) continue;
      snprintf(text, sizeof text, "%s%s%s *= e^(%s - %s)", p->names[x].text, x == y ? "" : ", ",
               x == y ? "" : p->names[y].text, a, b);
      if (try_statement(f, line, text)) return true;
    }
  return false;
}

/* A product that is added, or set. */
static bool try_products(Search *f, int line, const ProgramName *to) {
  const Program *p = f->s;
  char text[LINE_BYTES];
  for (int a = 0; a < p->n_names; a++)
    for (int b = 0; b < p->n_names; b++)
      for (int turned = 0; turned < 2; turned++) {
        if (!is_tile(&p->names[a]) || !is_tile(&p->names[b]) || a == b || p->names[a].is_input) continue;
        snprintf(text, sizeof text, "%s += %s%s %s", to->text, p->names[a].text, turned ? "^T" : "", p->names[b].text);
        if (try_statement(f, line, text)) return true;
      }
  return false;
}

static bool try_columns(Search *f, int line, const ProgramName *a) {
  const Program *p = f->s;
  char text[LINE_BYTES];
  for (int k = 0; k < p->n_names; k++) {
    const ProgramName *n = &p->names[k];
    if (n == a || n->is_input) continue;
    snprintf(text, sizeof text, "%s %s %s", a->text, is_column(n) ? "=" : "+= row sum of", n->text);
    if (try_statement(f, line, text)) return true;
    snprintf(text, sizeof text, "%s = %s / %s", n->text, n->text, a->text);
    if (try_statement(f, line, text)) return true;
    snprintf(text, sizeof text, "%s %s %s", n->text, is_column(n) ? "*=" : "+=", a->text);
    if (try_statement(f, line, text)) return true;
    if (is_column(n) && try_rescales(f, line, a->text, n->text)) return true;
  }
  return false;
}

static bool try_insertions(Search *f, int line) {
  const Program *p = f->s;
  char text[LINE_BYTES];
  if (f->s->lines[line].indent == 0) return false;
  for (int k = 0; k < p->n_names; k++) {
    const ProgramName *n = &p->names[k];
    static const char *const FORMS[][2] = {
        {"load ", ""}, {"mask ", ""}, {"mask ", " = 0"}, {"", " = 0"}, {"", " = -inf"}};
    for (size_t form = 0; form < COUNT_OF(FORMS); form++) {
      if ((form == 0) != n->is_input || (strlen(FORMS[form][0]) > 0 && !is_tile(n))) continue;
      snprintf(text, sizeof text, "%s%s%s", FORMS[form][0], n->text, FORMS[form][1]);
      if (try_statement(f, line, text)) return true;
    }
    if (is_column(n) && !n->is_input && try_columns(f, line, n)) return true;
    if (!n->is_input && try_products(f, line, n)) return true;
  }
  return false;
}

/* ---- */

ProgramMend program_mend(const Schedule *s, const SoftmaxConfig *softmax) {
  static bool (*const TRIES[])(Search *, int) = {try_line, try_deletions, try_exchange_with_next, try_insertions};
  ProgramMend mend = {0};
  Search f = {.s = s, .softmax = softmax, .n_outputs = judged_outputs(s), .mend = &mend};
  f.changed = malloc(sizeof *f.changed);
  for (size_t way = 0; f.changed && way < COUNT_OF(TRIES) && !mend.kind; way++)
    for (int line = s->ops[0].line; line < s->n_lines && !mend.kind; line++) TRIES[way](&f, line);
  free(f.changed);
  return mend;
}

void program_mend_say(const ProgramMend *m, char *text, size_t size) {
  switch (m->kind) {
  case MEND_NONE: snprintf(text, size, "No change of a single line that was tried makes it right."); break;
  case MEND_REPLACE: snprintf(text, size, "Line %d as '%s' makes it right.", m->line, m->text); break;
  case MEND_INSERT:
    snprintf(text, size, "'%s' after line %d%s makes it right.", m->text, m->line,
             m->behind_loop ? ", behind its loop," : "");
    break;
  case MEND_EXCHANGE: snprintf(text, size, "With line %d after the next one it is right.", m->line); break;
  case MEND_DELETE: snprintf(text, size, "Without line %d it is right.", m->line); break;
  }
}
