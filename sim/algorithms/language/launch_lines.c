/* launch: how a CTA of a kernel goes about its lines.
 *
 *     launch forward
 *       stages 2 of K_j, V_j               two copies in flight: the next is loaded while this one is used
 *       consumers 2 of i                   two warpgroups, half of the rows each; one multiplies as the
 *                                          other exponentiates
 *       S beside P                         the next step's S is made under this step's softmax: two places of S
 *       share K_j, V_j by 2                CTAs of a cluster of two: one asks L2 for what both load
 *       registers S, P, O_i, m_i, l_i      no place in SRAM
 *       threads 384 */
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/language/read.h"
#include "sim/algorithms/language/reader.h"
#include "sim/algorithms/language/language_words.h"

Status launch_read(Reader *r) {
  Program *p = r->p;
  Status status = reader_close_loops(r, 0);
  if (status) return status;
  for (int k = 0; k < p->n_kernels; k++) {
    if (!reader_take(r, p->kernels[k].name)) continue;
    if (p->launches[k].is_said) return reader_fail(r, "there are two launches of '%s'", p->kernels[k].name);
    r->launch = &p->launches[k];
    r->in_ranks = false;
    r->n_rank_loops = 0;
    r->launch->is_said = true;
    r->launched = k;
    r->kernel_body = -1;
    return reader_finish(r);
  }
  if (!p->n_kernels) return reader_fail(r, "'launch' comes after the kernels");
  return reader_fail(r, "after 'launch' comes the name of a kernel above, such as '%s'", p->kernels[0].name);
}

static Status read_count(Reader *r, int least, int most, const char *usage, int *count) {
  char *end;
  const long value = strtol(reader_word(r), &end, 10);
  if (reader_at_end(r) || *end || value < least || value > most)
    return reader_fail(r, "%s; the number is a whole one from %d to %d", usage, least, most);
  *count = (int)value;
  r->at++;
  return STATUS_OK;
}

/* A name of the kernel that is launched. */
static Status read_launched(Reader *r, const char *usage, int *name) {
  const Program *p = r->p;
  const char *text = reader_word(r);
  if (reader_at_end(r)) return reader_fail(r, "the line ends where a name should follow: %s", usage);
  for (*name = 0; *name < p->n_names; ++*name)
    if (strcmp(p->names[*name].text, text) == 0 && (p->names[*name].kernels >> r->launched & 1)) {
      r->at++;
      return STATUS_OK;
    }
  return reader_fail(r, "kernel '%s' has no '%s'; %s", p->kernels[r->launched].name, text, usage);
}

/* Whether a line loads it. */
static bool is_loaded_by(const ProgramOp *o, int name) {
  for (int k = 0; k < o->n_moved; k++)
    if (o->event == EVENT_LOAD && o->moved[k] == name) return true;
  return false;
}

/* Whether a load inside a loop that a CTA goes through brings it, time and again. */
static bool comes_in_a_loop(const Reader *r, int name) {
  const Program *p = r->p;
  for (int op = 0; op < p->n_ops; op++) {
    const ProgramOp *o = &p->ops[op];
    if (o->kernel == r->launched && o->parent >= 0 && !p->ops[o->parent].every && is_loaded_by(o, name)) return true;
  }
  return false;
}

static Status read_stages(Reader *r) {
  static const char USAGE[] = "'stages 2 of K_j, V_j': copies in flight";
  int count, name;
  Status status = read_count(r, 1, PROGRAM_STAGES_MAX, USAGE, &count);
  if (!status) status = reader_expect(r, "of", USAGE);
  do {
    if (status || (status = read_launched(r, USAGE, &name))) return status;
    if (!comes_in_a_loop(r, name))
      return reader_fail(r, "no line inside an 'each' loop loads '%s', so there is one copy; stages are of what does",
                         r->p->names[name].text);
    if (r->launch->stages[name]) return reader_fail(r, "the stages of '%s' are said twice", r->p->names[name].text);
    if (r->launch->registers >> name & 1)
      return reader_fail(r, "'%s' is in registers, and stages lie in SRAM; take it out of one of the lines",
                         r->p->names[name].text);
    r->launch->stages[name] = (uint8_t)count;
  } while (reader_take(r, ","));
  return STATUS_OK;
}

static Status read_registers(Reader *r) {
  static const char USAGE[] = "'registers S, O_i': what lives there, and not in SRAM";
  int name;
  do {
    const Status status = read_launched(r, USAGE, &name);
    if (status) return status;
    if (r->launch->stages[name])
      return reader_fail(r, "'%s' has stages, which lie in SRAM; take it out of one of the lines",
                         r->p->names[name].text);
    r->launch->registers |= (uint64_t)1 << name;
  } while (reader_take(r, ","));
  return STATUS_OK;
}

static Status read_consumers(Reader *r) {
  static const char USAGE[] = "'consumers 2 of i': warpgroups that share the rows of a tile; 'of j', its columns";
  int count;
  Status status = read_count(r, 1, PROGRAM_CONSUMERS_MAX, USAGE, &count);
  if (!status) status = reader_expect(r, "of", USAGE);
  if (status) return status;
  const int dim = reader_take(r, "i") ? DIM_I : reader_take(r, "j") ? DIM_J : -1;
  if (dim < 0) return reader_fail(r, "%s", USAGE);
  if (r->launch->consumers) return reader_fail(r, "consumers are said twice");
  for (int op = 0; op < r->p->n_ops; op++)
    if (r->p->ops[op].kernel == r->launched && r->p->ops[op].kind == OP_LOOP &&
        (reader_dims(&r->p->ops[op]) >> dim & 1))
      r->launch->consumers = (uint8_t)count;
  r->launch->shared_dim = (uint8_t)dim;
  if (r->launch->consumers) return STATUS_OK;
  return reader_fail(r, "kernel '%s' has no loop over %s, of which consumers would have a share",
                     r->p->kernels[r->launched].name, dim == DIM_I ? "row block i" : "column block j");
}

/* A loop of the kernel over rows or columns whose iterations are CTAs that all load the names; -1: there is none. */
static int cluster_loop(const Reader *r, uint64_t names) {
  const Program *p = r->p;
  for (int op = 0; op < p->n_ops; op++) {
    uint8_t dims = reader_dims(&p->ops[op]), of_names = 0;
    for (int name = 0; name < p->n_names; name++)
      if (names >> name & 1) of_names |= p->names[name].subscripts;
    if (p->ops[op].kernel == r->launched && p->ops[op].kind == OP_LOOP && p->ops[op].every && !(dims & of_names) &&
        (p->ops[op].dim == DIM_I || p->ops[op].dim == DIM_J))
      return op;
  }
  return -1;
}

/* The names are those of one kernel's loads. */
static Status check_shared(Reader *r, const char *usage) {
  const Program *p = r->p;
  for (int name = 0; name < p->n_names; name++) {
    bool is_loaded = false;
    for (int op = 0; op < p->n_ops; op++)
      is_loaded |= p->ops[op].kernel == r->launched && is_loaded_by(&p->ops[op], name);
    if (!(r->launch->shared >> name & 1)) continue;
    if (!is_loaded)
      return reader_fail(r, "kernel '%s' does not load '%s'; %s", p->kernels[r->launched].name, p->names[name].text,
                         usage);
    if (cluster_loop(r, name_bit(name)) < 0)
      return reader_fail(r, "each CTA of '%s' loads a '%s' of its own; what is shared, all CTAs of a cluster load",
                         p->kernels[r->launched].name, p->names[name].text);
  }
  if (cluster_loop(r, r->launch->shared) < 0)
    return reader_fail(r, "no CTAs load all of these; CTAs of a cluster follow each other along rows or along columns");
  return STATUS_OK;
}

static Status read_share(Reader *r) {
  static const char USAGE[] = "'share K_j, V_j by 2': CTAs of a cluster, of which one asks L2 for what all load";
  int name, count;
  Status status;
  if (r->launch->cluster) return reader_fail(r, "what CTAs share is said twice");
  do {
    if ((status = read_launched(r, USAGE, &name))) return status;
    r->launch->shared |= name_bit(name);
  } while (reader_take(r, ","));
  status = reader_expect(r, "by", USAGE);
  if (!status) status = read_count(r, 2, PROGRAM_CLUSTER_MAX, USAGE, &count);
  if (!status) status = check_shared(r, USAGE);
  if (status) return status;
  r->launch->cluster = (uint8_t)count;
  r->launch->cluster_dim = r->p->ops[cluster_loop(r, r->launch->shared)].dim;
  return STATUS_OK;
}

static bool sets(const Program *p, int op, int name) {
  for (int k = p->ops[op].first_assign; k < p->ops[op].first_assign + p->ops[op].n_assigns; k++)
    if (p->assigns[k].name == name) return true;
  return false;
}

/* The line of the kernel that sets a name first inside a loop; -1: none does. */
static int line_that_sets(const Reader *r, int name) {
  const Program *p = r->p;
  for (int op = 0; op < p->n_ops; op++)
    if (p->ops[op].kernel == r->launched && p->ops[op].kind == OP_EVENT && p->ops[op].parent >= 0 && sets(p, op, name))
      return op;
  return -1;
}

/* A name that a line reads and that one of `from` to the end of the loop sets: the step before has not made it yet
 * when that line comes early; -1: there is none. */
static int made_too_late(const Program *p, int op, int from) {
  for (int k = p->ops[op].first_assign; k < p->ops[op].first_assign + p->ops[op].n_assigns; k++) {
    const NameSet read = node_names(p, p->assigns[k].value);
    for (int late = from; late < p->ops[p->ops[op].parent].end; late++)
      for (int name = 0; name < p->n_names; name++)
        if ((read >> name & 1) && sets(p, late, name)) return name;
  }
  return -1;
}

/* `S beside P`: the first word is a name. */
static Status read_beside(Reader *r) {
  static const char USAGE[] = "'S beside P': the product S of the next step is made while this one makes P";
  const Program *p = r->p;
  int ahead, beside;
  Status status = read_launched(r, USAGE, &ahead);
  if (!status) status = reader_expect(r, "beside", USAGE);
  if (!status) status = read_launched(r, USAGE, &beside);
  if (status) return status;
  if (r->launch->ahead) return reader_fail(r, "what is made a step ahead is said twice");
  const int first = line_that_sets(r, ahead), second = line_that_sets(r, beside);
  const int loop = first < 0 ? -1 : p->ops[first].parent;
  bool multiplies = false;
  for (int k = 0; first >= 0 && k < p->ops[first].n_assigns; k++)
    multiplies |= node_holds(p, p->assigns[p->ops[first].first_assign + k].value, NODE_MATMUL);
  if (r->learns) return STATUS_OK;
  if (!multiplies || second <= first || p->ops[second].parent != loop || p->ops[loop].every)
    return reader_fail(r, "%s; both are set in one 'each' loop, S by a product on a line before that of P", USAGE);
  const int late = made_too_late(p, first, second);
  if (late >= 0)
    return reader_fail(r, "'%s' of the next step needs this step's '%s', so it cannot begin before that is there",
                       p->names[ahead].text, p->names[late].text);
  r->launch->ahead = (uint8_t)(ahead + 1);
  r->launch->ahead_op = (uint8_t)first;
  r->launch->beside_op = (uint8_t)second;
  return STATUS_OK;
}

static Status read_threads(Reader *r) {
  int count = 0;
  const Status status = read_count(r, 1, 1024, "'threads 384': of a CTA", &count);
  if (!status && r->launch->threads) return reader_fail(r, "threads are said twice");
  if (!status) r->launch->threads = (uint16_t)count;
  return status;
}

Status launch_read_line(Reader *r) {
  Status status;
  if (reader_take(r, "stages"))
    status = read_stages(r);
  else if (reader_take(r, "consumers"))
    status = read_consumers(r);
  else if (reader_take(r, "registers"))
    status = read_registers(r);
  else if (reader_take(r, "threads"))
    status = read_threads(r);
  else if (reader_take(r, "share"))
    status = read_share(r);
  else if (r->at + 1 < r->n_words && strcmp(r->words[r->at + 1].text, "beside") == 0)
    status = read_beside(r);
  else
    return reader_fail_near(r, WORDS_LAUNCH, "'%s' begins no line of a launch",
                            "there are stages, consumers, registers, threads, share, and S beside P");
  return status ? status : reader_finish(r);
}

Status program_launch_read(const Program *program, int kernel, const char *text, const char *file, int line,
                           ProgramLaunch *launch, Error *error) {
  Error own = {0};
  Program p = *program;
  ProgramLaunch read = {.is_said = true};
  Reader r = {.file = file, .number = line, .p = &p, .error = error ? error : &own, .launch = &read};
  r.launched = kernel;
  for (Status status; *text; text += *text == ';') {
    const size_t length = strcspn(text, ";");
    if ((status = reader_words(&r, text, length)) || (status = launch_read_line(&r))) return status;
    text += length;
  }
  *launch = read;
  return STATUS_OK;
}
