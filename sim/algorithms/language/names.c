/* Names: what a value is by its declaration and its subscripts, and whether it has a value where it is read. */
#include <string.h>

#include "sim/algorithms/language/reader.h"
#include "sim/algorithms/language/language_words.h"

static const char LETTERS_OF_DIMS[] = "ijsh";

/* ---- Sides ------------------------------------------------------------------------------------------------- */

static const char *const SIDE_NAMES[SIDE_OWN] = {"1", "B_r", "B_c", "d", "d_v"};

bool reader_side_at(const Reader *r, int *side) {
  for (*side = SIDE_ROWS; *side < SIDE_OWN; ++*side)
    if (reader_is(r, SIDE_NAMES[*side])) return true;
  for (int k = 0; k < r->p->n_sizes; k++) {
    *side = SIDE_OWN + k;
    if (reader_is(r, r->p->sizes[k].text)) return true;
  }
  return false;
}

const char *reader_side(const Reader *r, int side) {
  return side < SIDE_OWN ? SIDE_NAMES[side] : side < SIDE_UNKNOWN ? r->p->sizes[side - SIDE_OWN].text : "?";
}

/* ---- Subscripts -------------------------------------------------------------------------------------------- */

uint8_t reader_dims(const ProgramOp *loop) { return (uint8_t)(loop->diagonal ? IN_I | IN_J : 1 << loop->dim); }

uint8_t reader_loops(const Reader *r) {
  uint8_t loops = 0;
  for (int k = 0; k < r->n_open; k++) loops |= reader_dims(&r->p->ops[r->open[k].op]);
  return loops;
}

Status reader_subscripts(Reader *r, const char *text, bool anywhere, uint8_t *subscripts) {
  static const char *const WHAT[] = {"row block i", "column block j", "split s", "head h"};
  const char *at = strchr(text, '_');
  *subscripts = 0;
  for (at = at ? at + 1 : ""; *at; at++) {
    const char *const found = strchr(LETTERS_OF_DIMS, *at);
    if (!found) return reader_fail(r, "'%s' has a subscript '%c'; there are i, j, s and h", text, *at);
    const int dim = (int)(found - LETTERS_OF_DIMS);
    if (!anywhere && !(reader_loops(r) >> dim & 1))
      return reader_fail(r,
                         "'%s' has the subscript %c, but no loop around this line runs over it; put the line inside "
                         "'for every %s' or 'for each %s'",
                         text, *at, WHAT[dim], WHAT[dim]);
    *subscripts |= (uint8_t)(1 << dim);
  }
  return STATUS_OK;
}

/* ---- Names ------------------------------------------------------------------------------------------------- */

static bool same_letters(const char *a, const char *b) {
  const size_t n = strcspn(a, "_"), m = strcspn(b, "_");
  return n == m && strncmp(a, b, n) == 0;
}

/* An input is one tensor, and its blocks have one form of name. */
static Status check_input(Reader *r, const char *text) {
  for (int k = 0; k < r->p->n_names; k++) {
    const ProgramName *n = &r->p->names[k];
    if (!n->is_input || !same_letters(n->text, text)) continue;
    return reader_fail(r, "'%s' is no block of %.*s; write %s", text, (int)strcspn(text, "_"), text, n->text);
  }
  return STATUS_OK;
}

/* What is declared or moved is one tensor for all kernels; another value belongs to its kernel. */
static bool is_shared(const Reader *r, const char *text) {
  if (!r->knows_moved || r->p->n_kernels == 0) return true;
  for (int k = 0; k < r->p->n_declarations; k++)
    if (strcmp(r->p->names[r->p->declarations[k].name].text, text) == 0) return true;
  for (int k = 0; k < r->n_moved; k++)
    if (strcmp(r->moved[k], text) == 0) return true;
  return false;
}

Status reader_add_name(Reader *r, const char *text, uint8_t subscripts, int *name) {
  Program *p = r->p;
  if (strlen(text) >= sizeof p->names[0].text) return reader_fail(r, "'%s' is too long for a name", text);
  const uint8_t kernel = is_shared(r, text) ? 0 : p->n_kernels;
  for (*name = 0; *name < p->n_names; ++*name)
    if (strcmp(p->names[*name].text, text) == 0 && r->kernel_of[*name] == kernel) return STATUS_OK;
  if (p->n_names == PROGRAM_NAMES_MAX) return reader_fail(r, "the program has more than %d names", PROGRAM_NAMES_MAX);
  if (same_letters(text, "stats"))
    return reader_fail(r, "'stats' is what columns that nobody declares are called together; take another name");
  const Status status = check_input(r, text);
  if (status) return status;
  ProgramName *n = &p->names[p->n_names++];
  const Sides *known = &r->known[*name];
  *n = (ProgramName){.subscripts = subscripts, .rows = known->rows, .cols = known->cols};
  n->is_fp32 = n->rows != SIDE_UNKNOWN && n->cols == SIDE_ONE;
  if (!r->learns && n->rows == SIDE_UNKNOWN) n->rows = n->cols = SIDE_ONE; /* never set to more than a number */
  strcpy(n->text, text);
  r->kernel_of[*name] = kernel;
  return STATUS_OK;
}

Status reader_name(Reader *r, const char *why, int *name) {
  const char *text = reader_word(r);
  if (reader_at_end(r)) return reader_fail(r, "the line ends where %s should follow", why);
  if (r->words[r->at].kind != WORD_NAME || words_are_reserved(text))
    return reader_fail(r, "'%s' stands where %s should", text, why);
  uint8_t subscripts;
  Status status = reader_subscripts(r, text, false, &subscripts);
  if (!status) status = reader_add_name(r, text, subscripts, name);
  r->at += !status;
  return status;
}

Status reader_whole(Reader *r, int *name) {
  const char *text = reader_word(r);
  for (int k = 0; k < r->p->n_declarations; k++) {
    const ProgramName *n = &r->p->names[ *name = r->p->declarations[k].name];
    if (!same_letters(n->text, text)) continue;
    if (strchr(text, '_'))
      return reader_fail(r, "'%s': a formula is over whole matrices; write %.*s", text, (int)strcspn(text, "_"), text);
    if (!n->is_input) return reader_fail(r, "'%s' is no input; a formula is over inputs", text);
    r->at++;
    return STATUS_OK;
  }
  return reader_fail(r, "'%s' is no input declared above; a formula is over inputs", text);
}

static void learn(Sides *s, int rows, int cols) {
  s->set_unknown |= rows == SIDE_UNKNOWN;
  s->set_scalar |= rows == SIDE_ONE && cols == SIDE_ONE;
  if (rows == SIDE_UNKNOWN || (rows == SIDE_ONE && cols == SIDE_ONE)) return;
  if (s->rows == SIDE_UNKNOWN) *s = (Sides){.rows = SIDE_ONE, .cols = SIDE_ONE};
  if (s->rows == SIDE_ONE) s->rows = (uint8_t)rows;
  if (s->cols == SIDE_ONE) s->cols = (uint8_t)cols;
}

Status name_takes(Reader *r, int name, int rows, int cols) {
  ProgramName *n = &r->p->names[name];
  learn(&r->found[name], rows, cols);
  if (r->learns) {
    if (n->rows == SIDE_UNKNOWN) n->rows = r->found[name].rows, n->cols = r->found[name].cols;
    return STATUS_OK;
  }
  if ((rows == n->rows || rows == SIDE_ONE) && (cols == n->cols || cols == SIDE_ONE)) return STATUS_OK;
  return reader_fail(r, "'%s' is %s x %s and the value %s x %s", n->text, reader_side(r, n->rows),
                     reader_side(r, n->cols), reader_side(r, rows), reader_side(r, cols));
}

/* ---- Values ------------------------------------------------------------------------------------------------ */

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
    return reader_fail(
        r,
        "'%s' is what line %d left when the loop of line %d ended; load it or compute it again here, or put this line "
        "into that loop",
        n->text, d->line, d->ended);
  if (n->is_input || n->is_stored)
    return reader_fail(r, "'%s' is used before it is loaded; put 'load %s' above this line", n->text, n->text);
  return reader_fail(r, "'%s' has no value yet; load it or compute it above this line", n->text);
}
