/* Reads a program: its header and its lines, again and again until every shape is known. */
#include "sim/algorithms/language/read.h"

#include "sim/algorithms/language/reader.h"
#include "sim/algorithms/language/language_words.h"
#include "sim/base/quote.h"

/* ---- Header ------------------------------------------------------------------------------------------------ */

static Status copy_text(Reader *r, char *to, size_t size, const char *what) {
  const ProgramLine *line = &r->p->lines[r->p->n_lines - 1];
  const char *text = r->p->text + line->begin;
  size_t skip = strcspn(text, " \n"), length;
  while (skip < line->length && text[skip] == ' ') skip++;
  length = line->length > skip ? line->length - skip : 0;
  if (*to) return reader_fail(r, "there are two lines '%s'", what);
  if (length == 0 || length >= size) return reader_fail(r, "after '%s' come 1 to %d characters", what, (int)size - 1);
  memcpy(to, text + skip, length);
  return STATUS_OK;
}

static Status read_algorithm(Reader *r) {
  Program *p = r->p;
  const Status status = copy_text(r, p->name, sizeof p->name, "algorithm");
  if (status) return status;
  if (strspn(p->name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != strlen(p->name))
    return reader_fail(r, "an algorithm's name has lower-case letters, digits, - and _ only");
  return STATUS_OK;
}

static Status read_default(Reader *r) {
  do {
    if (reader_take(r, "alone"))
      r->p->is_default = true;
    else if (reader_take(r, "compared"))
      r->p->is_compared = true;
    else
      return reader_fail(r, "after 'default' comes alone (where one is shown), compared (where several are), or both");
  } while (reader_take(r, ","));
  return reader_finish(r);
}

static Status read_kernel(Reader *r) {
  Program *p = r->p;
  Status status = reader_close_loops(r, 0);
  if (status) return status;
  if (!p->name[0]) return reader_fail(r, "the program begins with 'algorithm NAME'");
  if (r->launch || r->in_ranks)
    return reader_fail(r, "kernels come before the first '%s'; put this one above it", r->launch ? "launch" : "ranks");
  if (p->n_kernels == 0 && (status = declarations_imply(r))) return status;
  if (p->n_kernels == PROGRAM_KERNELS_MAX)
    return reader_fail(r, "the program has more than %d kernels", PROGRAM_KERNELS_MAX);
  ProgramKernel *k = &p->kernels[p->n_kernels++];
  *k = (ProgramKernel){.first_op = p->n_ops};
  if (reader_at_end(r) || r->words[r->at].kind != WORD_NAME) return reader_fail(r, "after 'kernel' comes its name");
  strcpy(k->name, reader_word(r));
  r->at++;
  r->kernel_body = -1;
  for (int n = 0; n < p->n_names; n++) r->definitions[n] = (Definition){0};
  status = condition_read(r, &k->when, NULL);
  return status ? status : reader_finish(r);
}

static Status read_header(Reader *r, bool *is_header) {
  Program *p = r->p;
  *is_header = true;
  if (reader_take(r, "algorithm")) return read_algorithm(r);
  if (reader_take(r, "title")) return copy_text(r, p->title, sizeof p->title, "title");
  if (reader_take(r, "summary")) return copy_text(r, p->summary, sizeof p->summary, "summary");
  if (reader_take(r, "source")) return copy_text(r, p->source, sizeof p->source, "source");
  if (reader_take(r, "default")) return read_default(r);
  if (reader_take(r, "size")) return size_read(r);
  if (reader_take(r, "input")) return declaration_read(r, TENSOR_INPUT);
  if (reader_take(r, "output")) return declaration_read(r, TENSOR_OUTPUT);
  if (reader_take(r, "tensor")) return declaration_read(r, TENSOR_BETWEEN);
  if (reader_take(r, "kernel")) return read_kernel(r);
  if (reader_take(r, "launch")) return launch_read(r);
  if (reader_take(r, "ranks")) return ranks_read(r);
  *is_header = false;
  return STATUS_OK;
}

/* ---- Lines ------------------------------------------------------------------------------------------------ */

/* Closes the loops that a line's indentation ends, and holds it against that of its block. */
static Status enter_block(Reader *r, int indent) {
  if (r->p->n_kernels == 0)
    return reader_fail_near(r, WORDS_HEADER, "'%s' begins no line of a header",
                            "before the first loop comes 'kernel NAME'");
  if (indent == 0)
    return reader_fail(r, "the lines of %s are indented",
                       r->in_ranks ? "'ranks'"
                       : r->launch ? "a launch"
                                   : "a kernel");
  if (r->in_ranks) return STATUS_OK;
  Status status = reader_close_loops(r, indent);
  if (status) return status;
  int *body = r->n_open ? &r->open[r->n_open - 1].body : &r->kernel_body;
  int *line = r->n_open ? &r->open[r->n_open - 1].body_line : &r->kernel_line;
  if (*body < 0) {
    *body = indent;
    *line = r->number;
  }
  if (*body == indent) return STATUS_OK;
  return reader_fail(r, "the line is indented by %d, but its block by %d (line %d)", indent, *body, *line);
}

static Status read_statement(Reader *r, int indent) {
  Status status = enter_block(r, indent);
  if (status) return status;
  if (r->in_ranks) return ranks_read_line(r, indent);
  if (r->launch) return launch_read_line(r);
  if (reader_take(r, "for")) return loop_read(r, indent);
  const bool moves = reader_is(r, "load") || reader_is(r, "store") || reader_is(r, "add") || reader_is(r, "mask");
  if (r->n_open == 0 && moves)
    return reader_fail(
        r,
        "'%s' stands inside a loop over blocks, such as 'for every row block i': what is moved or masked is "
        "a block of one; what belongs to none lives on chip, in one kernel",
        reader_word(r));
  if (reader_take(r, "load")) return move_read(r, EVENT_LOAD);
  if (reader_take(r, "store")) return move_read(r, EVENT_STORE);
  if (reader_take(r, "add")) return move_read(r, EVENT_ADD);
  if (reader_take(r, "mask")) return mask_read(r);
  return arithmetic_read(r);
}

static Status read_line(Reader *r, size_t begin, size_t length) {
  Program *p = r->p;
  size_t indent = 0;
  const char *line = p->text + begin;
  while (indent < length && line[indent] == ' ') indent++;
  const char *comment = memchr(line, '#', length);
  if (comment) length = (size_t)(comment - line);
  while (length > indent && line[length - 1] == ' ') length--;
  if (length == indent) return STATUS_OK;
  if (p->n_lines == PROGRAM_LINES_MAX) return reader_fail(r, "the program has more than %d lines", PROGRAM_LINES_MAX);
  p->lines[p->n_lines++] = (ProgramLine){
      .begin = (uint16_t)(begin + indent), .length = (uint16_t)(length - indent), .number = (uint8_t)r->number};
  const bool free_text = indent == 0 && words_begin_prose(line); /* before it is cut into words: titles hold anything */
  Status status = reader_words(r, line + indent, free_text ? strcspn(line, " ") : length - indent);
  bool is_header = false;
  if (!status && indent == 0) status = read_header(r, &is_header);
  if (!status && !is_header) status = read_statement(r, (int)indent);
  const bool opens = r->n_words > 0 && strcmp(r->words[0].text, "for") == 0;
  p->lines[p->n_lines - 1].indent = (uint8_t)(is_header ? 0 : r->n_open + r->n_rank_loops + 1 - opens);
  return status;
}

static Status check_text(Reader *r, const char *text, size_t length) {
  if (length >= PROGRAM_TEXT_BYTES)
    return error_set(r->error, STATUS_BAD_FILE, "%s: a program has at most %d bytes; this one has %zu",
                     quote_text(r->file).text, PROGRAM_TEXT_BYTES - 1, length);
  for (size_t k = 0; k < length; k++) {
    r->number += text[k] == '\n';
    if (text[k] == '\t') return reader_fail(r, "a tab; indent with spaces");
    if ((unsigned char)text[k] < ' ' && text[k] != '\n' && text[k] != '\r')
      return reader_fail(r, "a control character; a program is plain text");
    if (r->number > 255) return reader_fail(r, "the program has more than 255 lines");
  }
  return STATUS_OK;
}

/* ---- The whole --------------------------------------------------------------------------------------------- */

/* All lines, once. */
static Status read_text(Reader *r, size_t length) {
  Program *p = r->p;
  Status status = STATUS_OK;
  r->number = 0;
  for (size_t begin = 0; begin < length && !status;) {
    const char *newline = memchr(p->text + begin, '\n', length - begin);
    const size_t end = newline ? (size_t)(newline - p->text) : length;
    r->number++;
    status = read_line(r, begin, end - begin);
    begin = end + 1;
  }
  r->number += !status;
  return status ? status : reader_close_loops(r, 0);
}

/* Forgets all but the text and the shapes that are known. */
static void begin_reading(Reader *r, const char *text, size_t length, bool learns) {
  Program *p = r->p;
  memset(p, 0, sizeof *p);
  for (size_t k = 0; k < length; k++) p->text[k] = text[k] == '\r' ? ' ' : text[k];
  r->n_words = r->at = r->n_open = 0;
  r->kernel_body = -1;
  r->in_formula = false;
  r->launch = NULL;
  r->in_ranks = false;
  r->n_rank_loops = 0;
  r->learns = learns;
  memset(r->definitions, 0, sizeof r->definitions);
  memset(r->read_in, 0, sizeof r->read_in);
  memset(r->set_in, 0, sizeof r->set_in);
  for (int n = 0; n < PROGRAM_NAMES_MAX; n++) r->found[n] = (Sides){.rows = SIDE_UNKNOWN, .cols = SIDE_UNKNOWN};
}

/* Takes over what a reading has found; whether it is more than was known. Where nothing is new, names that are only
 * ever set to numbers are numbers; after that, all that are set to one. */
static bool learn(Reader *r) {
  bool is_new = false;
  for (int n = 0; n < r->p->n_names; n++) {
    Sides *known = &r->known[n], *found = &r->found[n];
    if (found->rows == SIDE_UNKNOWN && known->set_scalar) *found = *known; /* a number, as was found before */
    is_new |= known->rows != found->rows || known->cols != found->cols;
    *known = *found;
    known->set_scalar = found->rows == SIDE_ONE && found->cols == SIDE_ONE;
  }
  for (int any = 0; any < 2 && !is_new; any++)
    for (int n = 0; n < r->p->n_names; n++) {
      const Sides *found = &r->found[n];
      if (found->rows != SIDE_UNKNOWN || !found->set_scalar || (found->set_unknown && !any)) continue;
      r->known[n] = (Sides){.rows = SIDE_ONE, .cols = SIDE_ONE, .set_scalar = true};
      is_new = true;
    }
  return is_new;
}

/* The names that lines move: what else there is belongs to its kernel. */
static void learn_moved(Reader *r) {
  for (int n = 0; n < r->p->n_names; n++)
    if (r->p->names[n].is_loaded || r->p->names[n].is_stored) strcpy(r->moved[r->n_moved++], r->p->names[n].text);
  r->knows_moved = true;
}

enum { READINGS_MAX = 24 }; /* each but the last learns something; a text that goes on is refused by the last */

static Status read_program(Program *program, const char *text, size_t length, const char *file, bool may_race,
                           Error *error) {
  Error own = {0};
  Program p = {0};
  Reader r = {.file = file, .p = &p, .error = error ? error : &own, .number = 1};
  Status status = check_text(&r, text, length);
  if (status) return status;
  for (int n = 0; n < PROGRAM_NAMES_MAX; n++) r.known[n] = (Sides){.rows = SIDE_UNKNOWN, .cols = SIDE_UNKNOWN};
  bool is_new = true;
  for (int n = 0; n < READINGS_MAX && is_new && !status; n++) {
    begin_reading(&r, text, length, true);
    status = read_text(&r, length);
    if (n == 0 && !status)
      learn_moved(&r);
    else
      is_new = !status && learn(&r);
  }
  if (!status) {
    begin_reading(&r, text, length, false);
    status = read_text(&r, length);
  }
  if (!status) status = program_complete(&r);
  if (!status && !may_race) status = races_check(&r);
  if (!status) status = ranks_check(&r);
  if (!status) *program = p;
  return status;
}

Status program_read(Program *program, const char *text, size_t length, const char *file, Error *error) {
  return read_program(program, text, length, file, false, error);
}

Status program_read_racing(Program *program, const char *text, size_t length, const char *file, Error *error) {
  return read_program(program, text, length, file, true, error);
}
