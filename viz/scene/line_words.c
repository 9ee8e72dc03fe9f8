#include "viz/scene/line_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/ascii.h"

typedef struct {
  const char *at;
  size_t length;
} Piece;

void phrase_put(Phrase to, const char *format, ...) {
  const size_t used = strlen(to.text);
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(to.text + used, to.size - used, format, arguments) >= (int)(to.size - used)) to.text[used] = '\0';
  va_end(arguments);
}

static void put_index(Phrase to, char subscript, const Event *e, bool is_first) {
  const int64_t index = subscript == 'i' ? e->i : subscript == 'j' ? e->j : subscript == 'h' ? e->head : e->split;
  phrase_put(to, "%s%jd", is_first ? "" : ",", index);
}

/* A name as the program writes it: letters, primes, "_" and subscripts. */
static void put_written(const Piece *word, const Event *e, Phrase to) {
  size_t k = 0;
  for (; k < word->length && word->at[k] != '_'; k++) {
    if (word->at[k] == '\'')
      phrase_put(to, "′");
    else
      phrase_put(to, "%c", word->at[k]);
  }
  if (k >= word->length || !e) return;
  phrase_put(to, "[");
  for (size_t n = k + 1; n < word->length; n++) put_index(to, word->at[n], e, n == k + 1);
  phrase_put(to, "]");
}

void line_put_base(const Program *p, int name, Phrase to) {
  const Piece word = {p->names[name].text, strlen(p->names[name].text)};
  put_written(&word, NULL, to);
}

void line_put_moved_name(const Program *p, int name, Phrase to) {
  for (int op = 0; op < p->n_ops; op++)
    for (int k = 0; p->ops[op].moves && k < p->ops[op].n_moved; k++)
      if (p->ops[op].moved[k] != name && line_same_base(p, p->ops[op].moved[k], name)) {
        phrase_put(to, "%s", p->names[name].text);
        return;
      }
  line_put_base(p, name, to);
}

void line_put_name(const Program *p, int name, const Event *e, Phrase to) {
  const ProgramName *n = &p->names[name];
  const Piece word = {n->text, strlen(n->text)};
  put_written(&word, e, to);
  if (n->subscripts || n->rows != SIDE_ROWS || n->cols != SIDE_COLS || e->i < 0 || e->j < 0) return;
  phrase_put(to, "[");
  put_index(to, 'i', e, true);
  put_index(to, 'j', e, false);
  phrase_put(to, "]");
}

/* ---- A line ------------------------------------------------------------------------------------------------ */

/* A name with its subscripts; "d_v" and "N_k" are no blocks. */
static size_t name_length(const char *at, size_t left) {
  size_t n = 0;
  while (n < left && ascii_is_alpha(at[n])) n++;
  while (n < left && at[n] == '\'') n++;
  if (n + 1 >= left || at[n] != '_') return n;
  size_t end = n + 1;
  while (end < left && strchr("ijsh", at[end])) end++;
  return end > n + 1 && (end == left || !ascii_is_alpha(at[end])) ? end : n;
}

static bool begins(const char *at, size_t left, const char *word) {
  return strlen(word) <= left && memcmp(at, word, strlen(word)) == 0;
}

/* The text with indices, and signs as they are printed. */
static void put_text(Piece from, const Event *e, Phrase to) {
  static const struct {
    const char *written, *printed;
  } SIGNS[] = {{"sqrt(d)", "√d"}, {"^T", "ᵀ"},   {" - ", " − "}, /* longest first: */ {"-inf", "−∞"},
               {"inf", "∞"},      {" x ", " × "}};
  for (size_t k = 0; k < from.length;) {
    const char *at = from.at + k;
    const size_t left = from.length - k;
    size_t n = 0;
    for (size_t sign = 0; sign < COUNT_OF(SIGNS) && n == 0; sign++) {
      if (!begins(at, left, SIGNS[sign].written)) continue;
      phrase_put(to, "%s", SIGNS[sign].printed);
      n = strlen(SIGNS[sign].written);
    }
    if (n == 0 && ascii_is_alpha(*at)) {
      const Piece word = {at, n = name_length(at, left)};
      put_written(&word, e, to);
    } else if (n == 0) {
      phrase_put(to, "%c", *at), n = 1;
    }
    k += n;
  }
}

/* Without " once" and " when SWITCH"; what chooses rows stays. */
static Piece line_of(const Program *p, const Event *e) {
  const ProgramLine *l = &p->lines[e->line];
  Piece line = {p->text + l->begin, l->length};
  for (size_t k = 0; k < line.length; k++) {
    const size_t left = line.length - k;
    const bool is_once =
        begins(line.at + k, left, " once") && (left == 5 || line.at[k + 5] == ' ' || line.at[k + 5] == ',');
    const bool is_switch = begins(line.at + k, left, " when ") && (!p->ops[e->op].value || event_moves((int)e->kind));
    if (is_switch || is_once) line.length = k;
  }
  return line;
}

/* The part of a line, cut at `cut`, that begins with a name or holds it before its "="; all of it where none does. */
static Piece part_with(Piece line, char cut, const char *name) {
  for (size_t begin = 0; begin < line.length;) {
    size_t end = begin;
    int depth = 0;
    while (end < line.length && (depth > 0 || line.at[end] != cut)) {
      depth += line.at[end] == '(' ? 1 : line.at[end] == ')' ? -1 : 0;
      end++;
    }
    Piece part = {line.at + begin, end - begin};
    while (part.length && *part.at == ' ') part.at++, part.length--;
    for (size_t k = 0; k < part.length && part.at[k] != '=';) {
      const size_t n = name_length(part.at + k, part.length - k);
      if (n == strlen(name) && memcmp(part.at + k, name, n) == 0) return part;
      k += n ? n : 1;
    }
    begin = end + 1;
  }
  return line;
}

static size_t word_length(Piece line) {
  size_t n = 0;
  while (n < line.length && line.at[n] != ' ') n++;
  return n < line.length ? n + 1 : n;
}

/* What a load or store says of the names that this event moves, of all that the line does. */
static void put_moved(const Program *p, const Event *e, Phrase to) {
  const ProgramOp *op = &p->ops[e->op];
  const Piece line = line_of(p, e);
  const size_t verb = word_length(line);
  const Piece rest = {line.at + verb, line.length - verb};
  for (int k = 0; k < op->n_moved; k++) {
    if (k) phrase_put(to, ", ");
    put_text(part_with(rest, ',', p->names[op->moved[k]].text), e, to);
  }
}

void line_put_blocks(const Program *p, const Event *e, Phrase to) {
  const ProgramOp *op = &p->ops[e->op];
  for (int k = 0; k < op->n_moved; k++) {
    if (k) phrase_put(to, ", ");
    line_put_name(p, op->moved[k], e, to);
  }
  if (!op->n_moved && op->n_assigns) line_put_name(p, p->assigns[op->first_assign].name, e, to);
}

void line_put(const Program *p, const Event *e, Phrase to) {
  const Piece line = line_of(p, e);
  const bool moves = event_moves((int)e->kind);
  if (moves) phrase_put(to, "%.*s", (int)word_length(line), line.at);
  if (moves)
    put_moved(p, e, to);
  else
    put_text(line, e, to);
}

static int words_in(Piece line) {
  int n = 1;
  for (size_t k = 0; k < line.length; k++) n += line.at[k] == ' ';
  return n;
}

static int main_name(const LineFacts *l) {
  if (l->shape == LINE_MAXIMUM) return l->result;
  return l->total >= 0 ? l->total : l->first;
}

void line_put_statement(const Program *p, const Event *e, int most_words, Phrase to) {
  if (event_moves((int)e->kind)) {
    put_moved(p, e, to);
    return;
  }
  LineFacts facts;
  line_facts(p, e->op, &facts);
  const Piece line = line_of(p, e);
  const int name = words_in(line) > most_words ? main_name(&facts) : -1;
  put_text(name >= 0 ? part_with(line, ';', p->names[name].text) : line, e, to);
}
