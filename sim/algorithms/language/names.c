/* Names: what a value is by its letter and its subscripts, and whether it has a value where it is read. */
#include <string.h>

#include "sim/algorithms/language/reader.h"

/* The papers' letters. Another letter is a value of the program's own, whose sides follow from what it is set to. */
typedef struct {
  const char *letter;
  Tensor tensor;
  Side rows, cols;
  uint8_t subscripts; /* of an input */
} Letter;

static const Letter LETTERS[] = {
    {"Q", TENSOR_Q, SIDE_ROWS, SIDE_D, IN_I},    {"K", TENSOR_K, SIDE_COLS, SIDE_D, IN_J},
    {"V", TENSOR_V, SIDE_COLS, SIDE_DV, IN_J},   {"S", TENSOR_S, SIDE_ROWS, SIDE_COLS, 0},
    {"P", TENSOR_P, SIDE_ROWS, SIDE_COLS, 0},    {"O", TENSOR_O, SIDE_ROWS, SIDE_DV, 0},
    {"m", TENSOR_STATS, SIDE_ROWS, SIDE_ONE, 0}, {"l", TENSOR_STATS, SIDE_ROWS, SIDE_ONE, 0},
    {"L", TENSOR_STATS, SIDE_ROWS, SIDE_ONE, 0},
};

static const Letter *letter_of(const char *text) {
  const size_t n = strcspn(text, "_'");
  for (size_t k = 0; k < sizeof LETTERS / sizeof *LETTERS; k++)
    if (n == 1 && text[0] == LETTERS[k].letter[0]) return &LETTERS[k];
  return NULL;
}

static bool is_reserved(const char *text) {
  static const char *const WORDS[] = {"for", "load", "store", "add", "mask", "when", "once", "max",    "row", "sum",
                                      "of",  "log",  "sqrt",  "inf", "x",    "and",  "lse",  "splits", "e",   "d"};
  for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
    if (strcmp(text, WORDS[k]) == 0) return true;
  return false;
}

uint8_t reader_loops(const Reader *r) {
  uint8_t loops = 0;
  for (int k = 0; k < r->n_open; k++) loops |= (uint8_t)(1 << r->p->ops[r->open[k].op].dim);
  return loops;
}

static Status subscripts_of(Reader *r, const char *text, uint8_t *subscripts) {
  const char *at = strchr(text, '_');
  *subscripts = 0;
  for (at = at ? at + 1 : ""; *at; at++) {
    const char *const found = strchr("ijs", *at);
    if (!found) return reader_fail(r, "'%s' has a subscript '%c'; there are i, j and s", text, *at);
    const uint8_t bit = (uint8_t)(1 << (found - "ijs"));
    static const char *const WHAT[] = {"row block i", "column block j", "split s"};
    if (!(reader_loops(r) & bit))
      return reader_fail(r,
                         "'%s' has the subscript %c, but no loop around this line runs over it; put the line inside "
                         "'for every %s' or 'for each %s'",
                         text, *at, WHAT[found - "ijs"], WHAT[found - "ijs"]);
    *subscripts |= bit;
  }
  return STATUS_OK;
}

Status reader_name(Reader *r, const char *why, int *name) {
  const char *text = reader_word(r);
  Program *p = r->p;
  if (reader_at_end(r)) return reader_fail(r, "the line ends where %s should follow", why);
  if (r->words[r->at].kind != WORD_NAME || is_reserved(text))
    return reader_fail(r, "'%s' stands where %s should", text, why);
  if (strlen(text) >= sizeof p->names[0].text) return reader_fail(r, "'%s' is too long for a name", text);
  uint8_t subscripts;
  Status status = subscripts_of(r, text, &subscripts);
  if (status) return status;
  r->at++;
  for (*name = 0; *name < p->n_names; ++*name)
    if (strcmp(p->names[*name].text, text) == 0) return STATUS_OK;
  if (p->n_names == PROGRAM_NAMES_MAX) return reader_fail(r, "the program has more than %d names", PROGRAM_NAMES_MAX);
  const Letter *letter = letter_of(text);
  if (letter && letter->subscripts && subscripts != letter->subscripts)
    return reader_fail(r, "'%s' is no block of %s; write %s_%s", text, letter->letter, letter->letter,
                       letter->subscripts == IN_I ? "i" : "j");
  ProgramName *n = &p->names[p->n_names++];
  *n = (ProgramName){.subscripts = subscripts, .tensor = VALUES_MAX, .rows = SIDE_COUNT};
  strcpy(n->text, text);
  if (letter) {
    n->tensor = (uint8_t)letter->tensor;
    n->rows = (uint8_t)letter->rows;
    n->cols = (uint8_t)letter->cols;
    n->is_input = letter->subscripts != 0;
    n->is_fp32 = letter->tensor == TENSOR_STATS;
    n->is_output = letter->tensor == TENSOR_O && subscripts == IN_I;
  }
  return STATUS_OK;
}

Status name_defined(Reader *r, int name) {
  Definition *d = &r->definitions[name];
  if (!d->is_known) *d = (Definition){.is_known = true, .loops = (uint8_t)r->n_open};
  d->line = (uint8_t)r->number;
  r->p->names[name].kernels |= (uint8_t)(1 << (r->p->n_kernels - 1));
  return STATUS_OK;
}

Status name_read(Reader *r, int name) {
  const Definition *d = &r->definitions[name];
  const ProgramName *n = &r->p->names[name];
  const int op = r->p->n_ops;
  if (op < PROGRAM_OPS_MAX) r->read_in[name][op / 8] |= (uint8_t)(1 << op % 8);
  if (d->is_known) return STATUS_OK;
  if (d->ended)
    return reader_fail(r, "'%s' is what line %d left when the loop of line %d ended; load it or compute it again here",
                       n->text, d->line, d->ended);
  if (n->tensor < TENSOR_COUNT && (n->is_input || n->is_stored))
    return reader_fail(r, "'%s' is used before it is loaded; put 'load %s' above this line", n->text, n->text);
  return reader_fail(r, "'%s' has no value yet; load it or compute it above this line", n->text);
}
