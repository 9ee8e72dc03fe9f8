#include "viz/story/moment.h"

#include <stdio.h>
#include <stdlib.h>

enum { LAST = -1 };

typedef struct {
  char kind[16], tensor[16];
  int64_t count; /* from 1, or LAST */
  bool before;
} Moment;

static bool read_moment(const char *text, Moment *m) {
  char count[24], before[8] = "", more[2], *end;
  const int n = sscanf(text, "%15[^,],%15[^,],%23[^,],%7[^,]%1s", m->kind, m->tensor, count, before, more);
  if (n < 3 || n > 4 || (n == 4 && strcmp(before, "before") != 0)) return false;
  m->before = n == 4;
  if (strcmp(count, "last") == 0) return m->count = LAST, true;
  m->count = strtoll(count, &end, 10);
  return *count && !*end && m->count > 0;
}

static bool is_kind(EventKind kind, const char *name) {
  const char *own = event_kind_name(kind);
  for (; *own && *name; own++, name++)
    if (*own != *name && !(*own == ' ' && *name == '-')) return false;
  return *own == *name;
}

Status moment_step(const Stage *stage, const char *text, uint64_t *step, Error *error) {
  const Schedule *s = stage->run.schedule;
  Moment m = {.count = 0};
  if (strcmp(text, "start") == 0) return *step = 0, STATUS_OK;
  if (strcmp(text, "end") == 0) return *step = stage->n_steps, STATUS_OK;
  if (!read_moment(text, &m))
    return error_refuse(
        error, "'%s' is no moment; give start, end, or KIND,TENSOR,COUNT, such as load,Q,2 or store,O,last,before",
        quote_text(text).text);
  if (stage->n_steps > MOMENT_EVENTS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "a run of %ju steps is too long to look for '%s'", stage->n_steps, text);
  Cursor c = {0};
  Event e;
  int64_t n = 0;
  uint64_t found = UINT64_MAX;
  while (n != m.count && schedule_next(s, &stage->run.plan, &c, &e)) {
    if (!is_kind((EventKind)e.kind, m.kind) || strcmp(s->tensors[e.tensor].text, m.tensor) != 0) continue;
    n++;
    if (m.count == LAST || n == m.count) found = e.step;
  }
  if (found == UINT64_MAX)
    return error_refuse(error, "the moment '%s' does not come in this run", quote_text(text).text);
  *step = found + !m.before;
  return STATUS_OK;
}
