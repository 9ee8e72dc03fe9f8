/* launch: how a CTA of a kernel goes about its lines.
 *
 *     launch forward
 *       stages 2 of K_j, V_j               two copies in flight: the next is loaded while this one is used
 *       consumers 2 of i                   two warpgroups, half of the rows each; one multiplies as the
 *                                          other exponentiates
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

/* Whether a load inside a loop that a CTA goes through brings it, time and again. */
static bool comes_in_a_loop(const Reader *r, int name) {
  const Program *p = r->p;
  for (int op = 0; op < p->n_ops; op++)
    for (int k = 0; k < p->ops[op].n_moved; k++) {
      const ProgramOp *o = &p->ops[op];
      if (o->kernel == r->launched && o->event == EVENT_LOAD && o->moved[k] == name && o->parent >= 0 &&
          !p->ops[o->parent].every)
        return true;
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
  else
    return reader_fail_near(r, WORDS_LAUNCH, "'%s' begins no line of a launch",
                            "there are stages, consumers, registers and threads");
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
