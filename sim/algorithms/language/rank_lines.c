/* ranks: what several GPUs do with the kernels above. Without it they are a program of one GPU.
 *
 *     ranks
 *       for every rank g, contiguous             G of them; which tokens each has: contiguous, striped, zigzag
 *         run begin                              a kernel, over the rank's own rows and columns
 *         for each step t                        G of them
 *           send K_j, V_j to g+1 when t < G-1    goes out while the next lines run
 *           run part                             over rows that see keys that are here, and those keys
 *           receive K_j, V_j from g-1 when t < G-1   waits for it, and has it from here on
 *         run finish */
#include <string.h>

#include "sim/algorithms/language/language_words.h"
#include "sim/algorithms/language/reader.h"

const char *const RANK_LAYOUT_NAMES[LAYOUT_COUNT] = {"contiguous", "striped", "zigzag"};

Status ranks_read(Reader *r) {
  const Status status = reader_close_loops(r, 0);
  if (status) return status;
  if (!r->p->n_kernels) return reader_fail(r, "'ranks' comes after the kernels that ranks run");
  if (r->p->ranks.is_said) return reader_fail(r, "what ranks do is said twice");
  r->p->ranks.is_said = true;
  r->launch = NULL;
  r->in_ranks = true;
  r->n_rank_loops = 0;
  r->rank_body[0] = r->rank_body[1] = r->rank_body[2] = -1;
  return reader_finish(r);
}

/* Closes the loops that a line's indentation ends, and holds it against that of its block. */
static Status enter(Reader *r, int indent) {
  while (r->n_rank_loops > 0 && r->rank_for[r->n_rank_loops - 1] >= indent) r->n_rank_loops--;
  int *body = &r->rank_body[r->n_rank_loops];
  if (*body < 0) *body = indent;
  return *body == indent ? STATUS_OK : reader_fail(r, "the line is indented by %d, but its block by %d", indent, *body);
}

static Status open_loop(Reader *r, int indent, const char *what) {
  if (r->rank_body[r->n_rank_loops + 1] >= 0) return reader_fail(r, "there is one loop over %s", what);
  r->rank_for[r->n_rank_loops++] = indent;
  return reader_finish(r);
}

static Status read_ranks_loop(Reader *r, int indent) {
  static const char USAGE[] = "'for every rank g, contiguous'; striped and zigzag share the tokens out otherwise";
  static const char *const WORDS[] = {"for", "every", "rank", "g"};
  Status status = STATUS_OK;
  for (size_t k = 0; k < COUNT_OF(WORDS) && !status; k++) status = reader_expect(r, WORDS[k], USAGE);
  if (status || reader_at_end(r)) return status ? status : open_loop(r, indent, "ranks");
  if ((status = reader_expect(r, ",", USAGE))) return status;
  for (int k = 0; k < LAYOUT_COUNT; k++)
    if (reader_take(r, RANK_LAYOUT_NAMES[k])) {
      r->p->ranks.layout = (uint8_t)k;
      return open_loop(r, indent, "ranks");
    }
  return reader_fail(r, "%s", USAGE);
}

static Status read_steps_loop(Reader *r, int indent) {
  static const char USAGE[] = "'for each step t': as many as ranks, so that each block has been everywhere";
  Status status = reader_expect(r, "each", USAGE);
  if (!status) status = reader_expect(r, "step", USAGE);
  if (!status) status = reader_expect(r, "t", USAGE);
  if (status) return status;
  return r->n_rank_loops == 1 ? open_loop(r, indent, "steps") : reader_fail(r, "steps are not inside other steps");
}

static Status read_run(Reader *r, ProgramRankLine *line) {
  const Program *p = r->p;
  for (int k = 0; k < p->n_kernels; k++)
    if (reader_take(r, p->kernels[k].name)) {
      line->kernel = (uint8_t)k;
      return STATUS_OK;
    }
  return reader_fail(r, "after 'run' comes the name of a kernel above, such as '%s'", p->kernels[0].name);
}

/* Names that lie in HBM, by columns: rows stay where they are. */
static Status read_travelling(Reader *r, ProgramRankLine *line) {
  const Program *p = r->p;
  do {
    const char *text = reader_word(r);
    int name = 0;
    while (name < p->n_names && strcmp(p->names[name].text, text) != 0) name++;
    if (reader_at_end(r) || name == p->n_names || !(p->names[name].is_loaded || p->names[name].is_stored))
      return reader_fail(r, "'%s' is no block that a kernel loads or stores; what travels lies in HBM", text);
    if ((p->names[name].subscripts & (IN_I | IN_J)) != IN_J)
      return reader_fail(r, "'%s' is no column block; rows stay with their rank, and columns travel", text);
    if (line->names & name_bit(name)) return reader_fail(r, "'%s' is named twice", text);
    line->names |= name_bit(name);
    r->at++;
  } while (reader_take(r, ","));
  return STATUS_OK;
}

static Status read_exchange(Reader *r, ProgramRankLine *line) {
  const bool sends = line->kind == RANK_SEND;
  const char *usage = sends ? "'send K_j, V_j to g+1'" : "'receive K_j, V_j from g-1'";
  static const char WHEN[] = "'when t < G-1': not in the last step";
  static const char *const WORDS[] = {"t", "<", "G", "-", "1"};
  if (r->n_rank_loops < 2) return reader_fail(r, "%s stands inside 'for each step t'", usage);
  Status status = read_travelling(r, line);
  if (!status) status = reader_expect(r, sends ? "to" : "from", usage);
  if (!status) status = reader_expect(r, "g", usage);
  if (!status) status = reader_expect(r, sends ? "+" : "-", usage);
  if (!status) status = reader_expect(r, "1", usage);
  line->not_last = !status && reader_take(r, "when");
  for (size_t k = 0; line->not_last && k < COUNT_OF(WORDS) && !status; k++) status = reader_expect(r, WORDS[k], WHEN);
  return status;
}

Status ranks_read_line(Reader *r, int indent) {
  static const char *const FIRST[] = {"run", "send", "receive"};
  ProgramRanks *ranks = &r->p->ranks;
  Status status = enter(r, indent);
  if (status) return status;
  if (r->n_rank_loops == 0) return read_ranks_loop(r, indent);
  if (reader_take(r, "for")) return read_steps_loop(r, indent);
  ProgramRankLine line = {.line = (uint8_t)(r->p->n_lines - 1), .in_steps = r->n_rank_loops == 2};
  while (line.kind <= RANK_RECEIVE && !reader_take(r, FIRST[line.kind])) line.kind++;
  if (line.kind > RANK_RECEIVE)
    return reader_fail_near(r, WORDS_RANKS, "'%s' begins no line of what ranks do",
                            "there are run, send, receive, and 'for each step t'");
  if (ranks->n_lines == PROGRAM_RANK_LINES_MAX)
    return reader_fail(r, "ranks do more than %d things", PROGRAM_RANK_LINES_MAX);
  status = line.kind == RANK_RUN ? read_run(r, &line) : read_exchange(r, &line);
  if (!status) status = reader_finish(r);
  if (!status) ranks->lines[ranks->n_lines++] = line;
  return status;
}

/* ---- The whole -------------------------------------------------------------------------------------------- */

static int number_of(const Program *p, const ProgramRankLine *line) { return p->lines[line->line].number; }

/* Whatever is not a block of rows or columns has no rank that it belongs to. */
static Status check_kernels(Reader *r) {
  const Program *p = r->p;
  if (p->splits || p->over_heads || p->diagonal)
    return reader_fail(r, "ranks run kernels over row and column blocks; loops over splits, heads and the diagonal are "
                          "not shared out");
  for (int n = 0; n < p->n_names; n++)
    if ((p->names[n].is_loaded || p->names[n].is_stored) && !sides_blocks(p->names[n].rows, p->names[n].cols))
      return reader_fail(r, "'%s' is no block of rows or of columns, so no rank is the one that has it",
                         p->names[n].text);
  return STATUS_OK;
}

/* Each once, as they stand: so one rank does what the program does without `ranks`. */
static Status check_order(Reader *r) {
  const Program *p = r->p;
  int next = 0;
  bool steps = false;
  for (int k = 0; k < p->ranks.n_lines; k++) {
    const ProgramRankLine *line = &p->ranks.lines[k];
    if (line->kind != RANK_RUN) continue;
    r->number = number_of(p, line);
    if (line->kernel != next)
      return reader_fail(r, "kernels are run as they stand above, each once; %s%s%s",
                         next < p->n_kernels ? "the next is '" : "all have been run",
                         next < p->n_kernels ? p->kernels[next].name : "", next < p->n_kernels ? "'" : "");
    next++;
    steps |= line->in_steps;
  }
  if (next < p->n_kernels)
    return reader_fail(r, "ranks never run kernel '%s'; 'run %s'", p->kernels[next].name, p->kernels[next].name);
  return steps ? STATUS_OK
               : reader_fail(r, "no kernel is run in 'for each step t', where keys of other ranks are here");
}

/* The line of that kind that names a travelling block; -1: none. */
static int line_of(const Program *p, RankLineKind kind, int name) {
  for (int k = 0; k < p->ranks.n_lines; k++)
    if (p->ranks.lines[k].kind == kind && (p->ranks.lines[k].names & name_bit(name))) return k;
  return -1;
}

static bool is_set_by(const Program *p, int kernel, int name) {
  for (int op = p->kernels[kernel].first_op; op < p->kernels[kernel].end_op; op++)
    for (int k = 0; k < p->ops[op].n_moved; k++)
      if (p->ops[op].moved[k] == name && (p->ops[op].event == EVENT_STORE || p->ops[op].event == EVENT_ADD))
        return true;
  return false;
}

/* A block is sent, then received, and nothing changes it on its way. */
static Status check_travel(Reader *r, int name) {
  const Program *p = r->p;
  const ProgramRankLine *lines = p->ranks.lines;
  const char *text = p->names[name].text;
  const int sent = line_of(p, RANK_SEND, name), received = line_of(p, RANK_RECEIVE, name);
  if (sent < 0 && received < 0) return STATUS_OK;
  r->number = number_of(p, &lines[received >= 0 ? received : sent]);
  if (sent < 0 || (received >= 0 && received < sent))
    return reader_fail(r,
                       "'%s' is received before any rank has sent it in this step, so all wait for ever; put 'send %s "
                       "to g+1' above this line",
                       text, text);
  if (received < 0)
    return reader_fail(r, "'%s' is sent, and no line receives it; 'receive %s from g-1' below this line", text, text);
  if (lines[sent].not_last != lines[received].not_last)
    return reader_fail(r, "'%s' is %s in the last step and not %s; both lines end alike, 'when t < G-1' or without",
                       text, lines[sent].not_last ? "received" : "sent", lines[sent].not_last ? "sent" : "received");
  for (int k = sent + 1; k < received; k++) {
    if (lines[k].kind != RANK_RUN || !is_set_by(p, lines[k].kernel, name)) continue;
    r->number = number_of(p, &lines[k]);
    return reader_fail(r,
                       "a race: kernel '%s' stores '%s' while line %d sends it; send it below this line, or run the "
                       "kernel below line %d",
                       p->kernels[lines[k].kernel].name, text, number_of(p, &lines[sent]),
                       number_of(p, &lines[received]));
  }
  return STATUS_OK;
}

/* Named by two lines of a kind. */
static Status check_once(Reader *r) {
  const Program *p = r->p;
  uint64_t seen[RANK_RECEIVE + 1] = {0};
  for (int k = 0; k < p->ranks.n_lines; k++) {
    const ProgramRankLine *line = &p->ranks.lines[k];
    r->number = number_of(p, line);
    if (seen[line->kind] & line->names) return reader_fail(r, "a block is sent once a step, and received once");
    seen[line->kind] |= line->names;
  }
  return STATUS_OK;
}

Status ranks_check(Reader *r) {
  const Program *p = r->p;
  if (!p->ranks.is_said) return STATUS_OK;
  Status status = check_kernels(r);
  if (!status) status = check_order(r);
  if (!status) status = check_once(r);
  for (int name = 0; name < p->n_names && !status; name++) status = check_travel(r, name);
  return status;
}
