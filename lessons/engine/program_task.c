#include "lessons/engine/program_task.h"
#include "lessons/engine/lesson_read.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/algorithms/event.h"
#include "sim/base/size.h"
#include "sim/base/splitmix.h"
#include "sim/base/text_add.h"

enum { INDENT = 4 };

typedef struct {
  LessonReader r;
  ProgramTask *task;
  char *program; /* the one whose indented lines follow; NULL: none */
  char *says;    /* the sentence of the last demand or mutant; NULL: none yet */
} Reader;

#define FAIL(c, ...) LESSON_REFUSE(&(c)->r, (c)->r.line, __VA_ARGS__)

/* Adds a line to the program at hand, without its indentation. */
static void add_program_line(Reader *r, const char *line) {
  const size_t length = strlen(line), cut = length < INDENT ? length : INDENT;
  if (strlen(r->program) + length - cut + 2 > PROGRAM_TASK_PROGRAM_BYTES)
    FAIL(r, "a program has at most %d bytes", PROGRAM_TASK_PROGRAM_BYTES - 1);
  text_add(r->program, PROGRAM_TASK_PROGRAM_BYTES, "%s\n", line + cut);
}

static void begin_program(Reader *r, char *program, const char *value) {
  if (*value) FAIL(r, "the program follows on the next lines, indented by %d spaces", INDENT);
  if (*program) FAIL(r, "a second program of that name");
  r->program = program;
}

static void take_text(Reader *r, char *to, size_t size, const char *value) {
  const size_t used = strlen(to);
  if (used && size == PROGRAM_TASK_LINE_BYTES) FAIL(r, "the line is there twice");
  if (used + strlen(value) + 2 > size) FAIL(r, "more than %zu bytes", size - 1);
  text_add(to, size, "%s%s", used ? " " : "", value);
}

static void take_line(Reader *r, char (*lines)[PROGRAM_TASK_LINE_BYTES], int *n, int most, const char *value) {
  if (*n == most)
    FAIL(r, "more than %d of these lines", most);
  else
    take_text(r, lines[(*n)++], PROGRAM_TASK_LINE_BYTES, value);
}

static Status take_mutant(Reader *r, const char *value) {
  static const char ARROW[] = " => ";
  ProgramTask *t = r->task;
  const char *arrow = strstr(value, ARROW);
  if (t->n_mutants == PROGRAM_TASK_MUTANTS_MAX) return FAIL(r, "more than %d mutants", PROGRAM_TASK_MUTANTS_MAX);
  if (t->n_mutants && !*t->mutants[t->n_mutants - 1].says) return FAIL(r, "the mutant before has no line 'says'");
  ProgramMutant *m = &t->mutants[t->n_mutants++];
  m->line = r->r.line;
  r->says = m->says;
  if (!arrow || arrow == value) return FAIL(r, "a mutant is 'TEXT => OTHER TEXT'; nothing => leaves the text out");
  snprintf(m->find, sizeof m->find, "%.*s", (int)(arrow - value), value);
  snprintf(m->replace, sizeof m->replace, "%s", arrow + strlen(ARROW));
  if (strcmp(m->replace, "nothing") == 0) m->replace[0] = '\0';
  return STATUS_OK;
}

/* ---- Demands */

const char *const DEMAND_NAMES[DEMAND_COUNT] = {"load",    "store", "events",  "columns",   "longest", "bytes",
                                                "kernels", "sram",  "sectors", "conflicts", "shared",  "local"};
static const char *const UNITS[DEMAND_UNIT_COUNT] = {NULL, "%", "tiles", "row blocks", "column blocks", "split tiles"};

/* What a run does; false: no such thing. */
static bool take_left(ProgramDemand *d) {
  for (int k = 0; k < EVENT_KIND_COUNT; k++)
    if (strcmp(d->left, event_kind_name((EventKind)k)) == 0 && k != EVENT_LOAD && k != EVENT_STORE)
      return d->kind = DEMAND_EVENT, d->event = (uint8_t)k, true;
  for (int k = 0; k < DEMAND_COUNT; k++) {
    const size_t n = strlen(DEMAND_NAMES[k]);
    const bool takes_name = k == DEMAND_LOAD || k == DEMAND_STORE;
    if (k == DEMAND_EVENT || strncmp(d->left, DEMAND_NAMES[k], n) != 0) continue;
    if (takes_name ? d->left[n] != ' ' || !d->left[n + 1] : d->left[n] != '\0') continue;
    d->kind = (uint8_t)k;
    d->of = (uint8_t)(takes_name ? n + 1 : 0);
    return true;
  }
  return false;
}

static bool take_right(ProgramDemand *d, const char *text) {
  char *rest;
  int64_t size;
  d->amount = strtod(text, &rest);
  if (rest == text) d->amount = 1;
  rest += strspn(rest, " ");
  for (int k = 1; k < DEMAND_UNIT_COUNT; k++)
    if (strcmp(rest, UNITS[k]) == 0) d->unit = (uint8_t)k;
  if (d->unit == DEMAND_OF_REFERENCE) d->amount /= 100;
  if (d->unit) return d->amount >= 0 && d->amount <= 1e6;
  if (size_parse(text, &size, NULL)) return false;
  d->amount = (double)size;
  return true;
}

/* LEFT <= RIGHT, or LEFT = RIGHT. */
static Status take_demand(Reader *r, const char *value) {
  ProgramTask *t = r->task;
  char sign[3] = "";
  int n = 0;
  if (t->n_demands == PROGRAM_TASK_DEMANDS_MAX) return FAIL(r, "more than %d demands", PROGRAM_TASK_DEMANDS_MAX);
  ProgramDemand *d = &t->demands[t->n_demands++];
  *d = (ProgramDemand){.line = r->r.line};
  r->says = d->says;
  const bool is_read = sscanf(value, "%39[^<=]%2[<=] %n", d->left, sign, &n) == 2 && value[n];
  d->exactly = strcmp(sign, "=") == 0;
  if (!is_read || (!d->exactly && strcmp(sign, "<=") != 0))
    return FAIL(r, "a demand is 'LEFT <= RIGHT' or 'LEFT = RIGHT', such as load K <= tiles");
  for (size_t end = strlen(d->left); end && d->left[end - 1] == ' ';) d->left[--end] = '\0';
  if (!take_left(d))
    return FAIL(r,
                "'%s' is nothing that a run does; there are load X, store X, a kind of event, columns, longest, "
                "bytes, kernels, sram; of CUDA sectors, conflicts, shared, local",
                quote_text(d->left).text);
  if (!take_right(d, value + n))
    return FAIL(r, "'%s' is no amount; there are 3, 96K, 100%%, and tiles, row blocks, column blocks, split tiles",
                quote_text(value + n).text);
  return STATUS_OK;
}

/* ---- What is drawn */

static bool is_prime(int64_t n) {
  for (int64_t k = 2; k * k <= n; k++)
    if (n % k == 0) return false;
  return n > 1;
}

/* A whole number of low..high, of a kind that mistakes are about. */
static int64_t draw_number(int64_t low, int64_t high, int round, uint64_t bits) {
  const int64_t any = low + (int64_t)(bits % (uint64_t)(high - low + 1));
  int64_t n = any, power = 1;
  while (power <= high / 2) power *= 2;
  switch (round % PROGRAM_TASK_ROUNDS) {
  case 0:
  case 8: return low;
  case 1: return high;
  case 2: n = power; break;
  case 3: n = power + 1; break;
  case 4: n = power - 1; break;
  case 5:
    while (n > low && !is_prime(n)) n--;
    break;
  case 6: n = high - (high - any) / 4; break;
  case 9: n = high / 16 * 16; break;
  default: break;
  }
  return n < low ? low : n > high ? high : n;
}

/* What a line `draw` gives in a round: another of its texts each time, and another kind of number. */
static bool draw_text(const char *line, int round, uint64_t bits, char text[PROGRAM_TASK_LINE_BYTES]) {
  const char *choice = line + strcspn(line, " ") + 1, *bar;
  int n = 1, end = 0;
  for (const char *p = choice; (p = strstr(p, " | ")); p += 3) n++;
  for (int k = round % n; k > 0; k--) choice = strstr(choice, " | ") + 3;
  bar = strstr(choice, " | ");
  snprintf(text, PROGRAM_TASK_LINE_BYTES, "%.*s", bar ? (int)(bar - choice) : PROGRAM_TASK_LINE_BYTES, choice);
  if (!strstr(text, "..")) return *text;
  long long low, high;
  if (sscanf(text, "%lld..%lld%n", &low, &high, &end) < 2 || text[end] || low > high || low < -1000000 ||
      high > 1000000)
    return false;
  snprintf(text, PROGRAM_TASK_LINE_BYTES, "%lld",
           (long long)draw_number(low, high, n > 1 ? (int)(bits >> 40) : round, bits));
  return true;
}

typedef struct {
  const ProgramTask *task;
  char values[PROGRAM_TASK_DRAWS_MAX][PROGRAM_TASK_LINE_BYTES]; /* of the lines `draw` */
  uint64_t seed;
} Draw;

/* What inside[0..n), between braces, stands for: one name's text, or a product; a division rounds up. */
static bool put_braces(Draw *d, const char *inside, int n, char to[PROGRAM_TASK_LINE_BYTES]) {
  int64_t product = 1;
  for (const char *p = inside; p <= inside + n;) {
    char word[32], *rest;
    const int length = (int)strcspn(p, "*/}");
    snprintf(word, sizeof word, "%.*s", length, p);
    if (strcmp(word, "seed") == 0) snprintf(word, sizeof word, "%d", (int)(mix(d->seed++) % 900000) + 1);
    const char *value = word;
    for (int k = 0; k < d->task->n_draws; k++)
      if ((int)strcspn(d->task->draws[k], " ") == length && memcmp(d->task->draws[k], p, (size_t)length) == 0)
        value = d->values[k];
    if (length == n && value != word) return strcpy(to, value);
    const int64_t factor = strtoll(value, &rest, 10);
    if (*rest || factor < 1 || factor > 1000000) return false;
    product = p > inside && p[-1] == '/' ? (product + factor - 1) / factor : product * factor;
    if (product > 1 << 24) return false;
    p += length + 1;
  }
  return snprintf(to, PROGRAM_TASK_LINE_BYTES, "%lld", (long long)product) > 0;
}

static bool put_drawn(Draw *d, const char *text, char to[PROGRAM_TASK_LINE_BYTES]) {
  char value[PROGRAM_TASK_LINE_BYTES];
  *to = '\0';
  for (const char *p = text; *p;) {
    const int before = (int)strcspn(p, "{");
    text_add(to, PROGRAM_TASK_LINE_BYTES, "%.*s", before, p);
    p += before;
    if (!*p) break;
    const int inside = (int)strcspn(p, "}") - 1;
    if (!p[inside + 1] || !put_braces(d, p + 1, inside, value)) return false;
    text_add(to, PROGRAM_TASK_LINE_BYTES, "%s", value);
    p += inside + 2;
  }
  return strlen(to) + 1 < PROGRAM_TASK_LINE_BYTES;
}

Status program_task_draw(ProgramTask *t, uint64_t seed, Error *error) {
  Draw d = {.task = t};
  char half[PROGRAM_TASK_LINE_BYTES];
  t->n_states = t->n_written;
  for (int round = 0; round < PROGRAM_TASK_ROUNDS && *t->drawn; round++) {
    bool ok = t->n_states < PROGRAM_TASK_STATES_MAX;
    for (int k = 0; k < t->n_draws && ok; k++) { /* each begins elsewhere: small meets large */
      const uint64_t own = mix(seed + (uint64_t)k);
      ok = draw_text(t->draws[k], round + (int)(own >> 8 & 0xffff), mix(own + (uint64_t)round), d.values[k]);
    }
    d.seed = mix(seed ^ (uint64_t)round << 32);
    if (!ok || !put_drawn(&d, t->drawn, half) || !put_drawn(&d, half, t->states[t->n_states]))
      return error_set(error, STATUS_BAD_FILE,
                       "%s:%d: braces hold names of lines 'draw' (NAME LOW..HIGH | TEXT), whole numbers, * and /",
                       t->file, t->drawn_line);
    t->state_lines[t->n_states] = t->drawn_line;
    t->is_hidden[t->n_states++] = true;
  }
  return STATUS_OK;
}

/* ---- Lines */

static void take_state(Reader *r, bool is_hidden, const char *value) {
  ProgramTask *t = r->task;
  if (is_hidden && strchr(value, '{')) {
    t->drawn_line = r->r.line;
    take_text(r, t->drawn, sizeof t->drawn, value);
    return;
  }
  if (t->n_states < PROGRAM_TASK_STATES_MAX) {
    t->state_lines[t->n_states] = r->r.line;
    t->is_hidden[t->n_states] = is_hidden;
  }
  take_line(r, t->states, &t->n_states, PROGRAM_TASK_STATES_MAX, value);
}

static void take_declaration(Reader *r, const char *key, const char *value) {
  char *to = r->task->declarations;
  const size_t size = sizeof r->task->declarations;
  text_add(to, size, "%-9s %s\n", key, value);
  if (strlen(to) + 1 >= size) FAIL(r, "more than %zu bytes of declarations", size - 2);
}

static bool is(const char *key, const char *name) { return strcmp(key, name) == 0; }

static void take(Reader *r, const char *key, const char *value) {
  ProgramTask *t = r->task;
  const struct {
    const char *key;
    char *text;
    size_t size;
  } TEXTS[] = {{"task", t->title, sizeof t->title},
               {"teaches", t->teaches, sizeof t->teaches},
               {"ask", t->ask, sizeof t->ask},
               {"entry", t->entry, sizeof t->entry},
               {"says", r->says, PROGRAM_TASK_LINE_BYTES}};
  r->program = NULL;
  if (is(key, "reference")) t->reference_line = r->r.line;
  for (size_t k = 0; k < COUNT_OF(TEXTS); k++)
    if (*value && TEXTS[k].text && is(key, TEXTS[k].key)) {
      take_text(r, TEXTS[k].text, TEXTS[k].size, value);
      return;
    }
  if (is(key, "start") || is(key, "reference"))
    begin_program(r, *key == 's' ? t->start : t->reference, value);
  else if (!*value)
    FAIL(r, "'%s' without a value", quote_text(key).text);
  else if (is(key, "state") || is(key, "hidden"))
    take_state(r, *key == 'h', value);
  else if (is(key, "draw"))
    take_line(r, t->draws, &t->n_draws, PROGRAM_TASK_DRAWS_MAX, value);
  else if (is(key, "input") || is(key, "output"))
    take_declaration(r, key, value);
  else if (is(key, "hint"))
    take_line(r, t->hints, &t->n_hints, PROGRAM_TASK_HINTS_MAX, value);
  else if (is(key, "demand"))
    take_demand(r, value);
  else if (is(key, "mutant"))
    take_mutant(r, value);
  else
    FAIL(r,
         "'%s' is no line of a task; there are task, teaches, ask, entry, input, output, state, draw, hidden, "
         "demand, hint, start, reference, mutant, and says behind a demand or a mutant",
         quote_text(key).text);
}

/* Puts the declarations behind a program's first line. */
static void declare(Reader *r, char *program) {
  char whole[PROGRAM_TASK_PROGRAM_BYTES + PROGRAM_TASK_TEXT_BYTES];
  const int first = (int)strcspn(program, "\n") + 1;
  snprintf(whole, sizeof whole, "%.*s%s%s", first, program, r->task->declarations, program + first);
  if (strlen(whole) >= PROGRAM_TASK_PROGRAM_BYTES)
    FAIL(r, "a program is too long with the task's declarations");
  else
    strcpy(program, whole);
}

const char *program_task_state(const ProgramTask *t, int state) {
  return t->is_hidden[state] ? "a size that is not shown" : t->states[state];
}

static void complete(Reader *r) {
  ProgramTask *t = r->task;
  char text[PROGRAM_TASK_PROGRAM_BYTES];
  r->r.line = 1;
  if (!*t->title || !*t->ask || !*t->teaches || !*t->start || !*t->reference || !t->n_states)
    FAIL(r, "a task has lines task, teaches, ask, state, start and reference");
  if (t->is_hidden[0]) FAIL(r, "the first state is shown");
  if (r->r.error->status) return;
  t->n_written = t->n_states;
  program_task_draw(t, 0, r->r.error);
  declare(r, t->start);
  declare(r, t->reference);
  for (int k = 0; k < t->n_mutants; k++) {
    Error own = {0};
    r->r.line = t->mutants[k].line;
    if (!*t->mutants[k].says) FAIL(r, "the mutant has no line 'says'");
    if (program_task_mutant(t, k, text, &own)) FAIL(r, "%s", own.message);
  }
}

static void take_whole_line(Reader *r, char *line) {
  size_t length = strlen(line);
  while (length && strchr(" \t\r", line[length - 1])) line[--length] = '\0';
  if (r->program && (*line == ' ' || !*line)) {
    if (*line || *r->program) add_program_line(r, line);
  } else if (*line == ' ') {
    FAIL(r, "an indented line belongs to no program");
  } else if (*line && *line != '#') {
    char *value = line + strcspn(line, " \t");
    if (*value) *value++ = '\0';
    take(r, line, value + strspn(value, " \t"));
  }
}

ProgramTask *program_task_read(const char *text, size_t length, const char *file, Error *error) {
  ProgramTask *t = calloc(1, sizeof *t);
  if (!t) {
    error_no_memory(error, "for a task");
    return NULL;
  }
  Error own = {0};
  snprintf(t->file, sizeof t->file, "%s", quote_text(file).text);
  Reader r = {.r = lesson_reader(t->file, NULL, text, length, &own), .task = t};
  char line[PROGRAM_TASK_LINE_BYTES];
  if (length > PROGRAM_TASK_BYTES_MAX)
    LESSON_REFUSE(&r.r, 1, "a task is text of at most %d KiB", PROGRAM_TASK_BYTES_MAX / 1024);
  for (Piece piece; lesson_next_line(&r.r, &piece);) {
    if (piece.length >= sizeof line) FAIL(&r, "a line has at most %zu bytes", sizeof line - 1);
    snprintf(line, sizeof line, "%.*s", (int)piece.length, piece.text);
    take_whole_line(&r, line);
  }
  complete(&r);
  if (!error_pass(error, &own)) return t;
  free(t);
  return NULL;
}

Status program_task_mutant(const ProgramTask *task, int k, char *text, Error *error) {
  const ProgramMutant *m = &task->mutants[k];
  const char *rest = task->reference, *at;
  *text = '\0';
  if (!strstr(rest, m->find))
    return error_set(error, STATUS_BAD_FILE, "'%s' is nowhere in the reference", quote_text(m->find).text);
  for (; (at = strstr(rest, m->find)); rest = at + strlen(m->find))
    text_add(text, PROGRAM_TASK_PROGRAM_BYTES, "%.*s%s", (int)(at - rest), rest, m->replace);
  text_add(text, PROGRAM_TASK_PROGRAM_BYTES, "%s", rest);
  if (strlen(text) + 1 < PROGRAM_TASK_PROGRAM_BYTES) return STATUS_OK;
  return error_set(error, STATUS_BAD_FILE, "the mutant is longer than %d bytes", PROGRAM_TASK_PROGRAM_BYTES - 2);
}
