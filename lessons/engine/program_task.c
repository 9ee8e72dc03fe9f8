#include "lessons/engine/program_task.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "sim/base/size.h"
#include "sim/base/utf8.h"

enum { INDENT = 4 };

typedef struct {
  ProgramTask *task;
  char *program; /* the one whose indented lines follow; NULL: none */
  int line;
  Error *error;
} Reader;

__attribute__((format(printf, 2, 3))) static Status fail(const Reader *r, const char *format, ...) {
  char what[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return error_set(r->error, STATUS_BAD_FILE, "%s:%d: %s", quote_text(r->task->file).text, r->line, what);
}

/* Adds a line to the program at hand, without its indentation. */
static Status add_program_line(Reader *r, const char *line) {
  const size_t used = strlen(r->program), length = strlen(line);
  const size_t cut = length < INDENT ? length : INDENT;
  if (used + length - cut + 2 > PROGRAM_TASK_PROGRAM_BYTES)
    return fail(r, "a program has at most %d bytes", PROGRAM_TASK_PROGRAM_BYTES - 1);
  snprintf(r->program + used, PROGRAM_TASK_PROGRAM_BYTES - used, "%s\n", line + cut);
  return STATUS_OK;
}

static Status begin_program(Reader *r, char *program, int *line, const char *value) {
  if (*value) return fail(r, "the program follows on the next lines, indented by %d spaces", INDENT);
  if (*program) return fail(r, "a second program of that name");
  r->program = program;
  *line = r->line;
  return STATUS_OK;
}

static Status take_text(const Reader *r, char *to, size_t size, const char *value) {
  const size_t used = strlen(to);
  if (used && size == PROGRAM_TASK_LINE_BYTES) return fail(r, "the line is there twice");
  if (used + strlen(value) + 2 > size) return fail(r, "more than %zu bytes", size - 1);
  snprintf(to + used, size - used, "%s%s", used ? " " : "", value);
  return STATUS_OK;
}

static Status take_line(const Reader *r, char (*lines)[PROGRAM_TASK_LINE_BYTES], int *n, int most, const char *value) {
  if (*n == most) return fail(r, "more than %d of these lines", most);
  return take_text(r, lines[(*n)++], PROGRAM_TASK_LINE_BYTES, value);
}

static Status take_mutant(const Reader *r, const char *value) {
  static const char ARROW[] = " => ";
  ProgramTask *t = r->task;
  const char *arrow = strstr(value, ARROW);
  if (t->n_mutants == PROGRAM_TASK_MUTANTS_MAX) return fail(r, "more than %d mutants", PROGRAM_TASK_MUTANTS_MAX);
  if (t->n_mutants && !*t->mutants[t->n_mutants - 1].says) return fail(r, "the mutant before has no line 'says'");
  ProgramMutant *m = &t->mutants[t->n_mutants++];
  m->line = r->line;
  if (!arrow || arrow == value) return fail(r, "a mutant is 'TEXT => OTHER TEXT'; nothing => leaves the text out");
  snprintf(m->find, sizeof m->find, "%.*s", (int)(arrow - value), value);
  snprintf(m->replace, sizeof m->replace, "%s", arrow + strlen(ARROW));
  if (strcmp(m->replace, "nothing") == 0) m->replace[0] = '\0';
  return STATUS_OK;
}

static Status take_share(const Reader *r, const char *what, const char *value, double *to) {
  char *end;
  const double share = strtod(value, &end);
  if (strcmp(value, "any") == 0) return STATUS_OK;
  if (strcmp(end, "%") != 0 || !(share >= 1 && share <= 10000))
    return fail(r, "%s are '100%%' of the reference's, or 'any'", what);
  *to = share / 100;
  return STATUS_OK;
}

static Status take_size(const Reader *r, const char *value, bool bytes, int64_t *out) {
  Error own = {0};
  const Status status = bytes ? size_parse(value, out, &own) : size_parse_count(value, out, &own);
  return status ? fail(r, "%s", own.message) : STATUS_OK;
}

static Status take(Reader *r, const char *key, const char *value) {
  ProgramTask *t = r->task;
  r->program = NULL;
  if (strcmp(key, "start") == 0) return begin_program(r, t->start, &t->start_line, value);
  if (strcmp(key, "reference") == 0) return begin_program(r, t->reference, &t->reference_line, value);
  if (!*value) return fail(r, "'%s' without a value", quote_text(key).text);
  if (strcmp(key, "task") == 0) return take_text(r, t->title, sizeof t->title, value);
  if (strcmp(key, "teaches") == 0) return take_text(r, t->teaches, sizeof t->teaches, value);
  if (strcmp(key, "ask") == 0) return take_text(r, t->ask, sizeof t->ask, value);
  if (strcmp(key, "state") == 0) {
    if (t->n_states < PROGRAM_TASK_STATES_MAX) t->state_lines[t->n_states] = r->line;
    return take_line(r, t->states, &t->n_states, PROGRAM_TASK_STATES_MAX, value);
  }
  if (strcmp(key, "hint") == 0) return take_line(r, t->hints, &t->n_hints, PROGRAM_TASK_HINTS_MAX, value);
  if (strcmp(key, "bytes") == 0) return take_share(r, key, value, &t->bytes);
  if (strcmp(key, "sectors") == 0) return take_share(r, key, value, &t->sectors);
  if (strcmp(key, "conflicts") == 0) return take_share(r, key, value, &t->conflicts);
  if (strcmp(key, "entry") == 0) return take_text(r, t->entry, sizeof t->entry, value);
  if (strcmp(key, "kernels") == 0) return take_size(r, value, false, &t->kernels);
  if (strcmp(key, "sram") == 0) return take_size(r, value, true, &t->sram_bytes);
  if (strcmp(key, "mutant") == 0) return take_mutant(r, value);
  if (strcmp(key, "says") == 0 && t->n_mutants)
    return take_text(r, t->mutants[t->n_mutants - 1].says, PROGRAM_TASK_LINE_BYTES, value);
  return fail(
      r,
      "'%s' is no line of a task; there are task, teaches, ask, entry, state, bytes, sectors, conflicts, kernels, "
      "sram, hint, start, reference, mutant, and says behind a mutant",
      quote_text(key).text);
}

static Status complete(Reader *r) {
  const ProgramTask *t = r->task;
  char text[PROGRAM_TASK_PROGRAM_BYTES];
  r->line = 1;
  if (!*t->title || !*t->ask || !*t->teaches || !*t->start || !*t->reference || !t->n_states)
    return fail(r, "a task has lines task, teaches, ask, state, start and reference");
  for (int k = 0; k < t->n_mutants; k++) {
    r->line = t->mutants[k].line;
    if (!*t->mutants[k].says) return fail(r, "the mutant has no line 'says'");
    Error own = {0};
    if (program_task_mutant(t, k, text, &own)) return fail(r, "%s", own.message);
  }
  return STATUS_OK;
}

static Status take_whole_line(Reader *r, char *line) {
  size_t length = strlen(line);
  while (length && strchr(" \t\r", line[length - 1])) line[--length] = '\0';
  if (r->program && (line[0] == ' ' || !*line)) return *line || *r->program ? add_program_line(r, line) : STATUS_OK;
  if (!*line || *line == '#') return STATUS_OK;
  if (*line == ' ') return fail(r, "an indented line belongs to no program");
  char *value = line + strcspn(line, " \t");
  if (*value) *value++ = '\0';
  return take(r, line, value + strspn(value, " \t"));
}

ProgramTask *program_task_read(const char *text, size_t length, const char *file, Error *error) {
  const Quote name = quote_text(file);
  if (length > PROGRAM_TASK_BYTES_MAX || memchr(text, '\0', length)) {
    error_set(error, STATUS_BAD_FILE, "%s:1: a task is text of at most %d KiB", name.text,
              PROGRAM_TASK_BYTES_MAX / 1024);
    return NULL;
  }
  ProgramTask *t = calloc(1, sizeof *t);
  if (!t) {
    error_set(error, STATUS_NO_MEMORY, "no memory for a task");
    return NULL;
  }
  Reader r = {.task = t, .error = error};
  char line[PROGRAM_TASK_LINE_BYTES];
  Status status = STATUS_OK;
  snprintf(t->file, sizeof t->file, "%s", name.text);
  for (size_t at = 0; at < length && !status;) {
    const char *newline = memchr(text + at, '\n', length - at);
    const size_t n = newline ? (size_t)(newline - text) - at : length - at;
    r.line++;
    if (n >= sizeof line) {
      status = fail(&r, "a line has at most %zu bytes", sizeof line - 1);
      break;
    }
    memcpy(line, text + at, n);
    line[n] = '\0';
    utf8_clean(line);
    status = take_whole_line(&r, line);
    at += n + 1;
  }
  if (!status) status = complete(&r);
  if (!status) return t;
  free(t);
  return NULL;
}

Status program_task_mutant(const ProgramTask *task, int k, char *text, Error *error) {
  const ProgramMutant *m = &task->mutants[k];
  const char *rest = task->reference, *at;
  size_t used = 0;
  *text = '\0';
  if (!strstr(rest, m->find))
    return error_set(error, STATUS_BAD_FILE, "'%s' is nowhere in the reference", quote_text(m->find).text);
  for (; (at = strstr(rest, m->find)); rest = at + strlen(m->find)) {
    const size_t before = (size_t)(at - rest);
    if (used + before + strlen(m->replace) + 1 > PROGRAM_TASK_PROGRAM_BYTES) break;
    memcpy(text + used, rest, before);
    used += before;
    strcpy(text + used, m->replace);
    used += strlen(m->replace);
  }
  if (at || used + strlen(rest) + 1 > PROGRAM_TASK_PROGRAM_BYTES)
    return error_set(error, STATUS_BAD_FILE, "the mutant is longer than %d bytes", PROGRAM_TASK_PROGRAM_BYTES - 1);
  strcpy(text + used, rest);
  return STATUS_OK;
}
