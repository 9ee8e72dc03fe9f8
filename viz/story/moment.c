#include "viz/story/moment.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"

enum { STRONGEST = -1, LAST = -2, STRONGEST_ROWS = 4 };

typedef struct {
  char kind[16], tensor[16];
  int64_t count; /* from 1, STRONGEST or LAST */
  bool before, is_grown;
} Moment;

static Status no_moment(const char *text, Error *error) {
  return error_set(
      error, STATUS_BAD_REQUEST,
      "'%s' is no moment; give start, end, or KIND TENSOR COUNT, such as 'load Q 2' or 'store O last before'",
      quote_text(text).text);
}

static bool read_moment(const char *text, Moment *m) {
  char count[24], before[8] = "", more[2];
  const int n = sscanf(text, "%15s %15s %23s %7s %1s", m->kind, m->tensor, count, before, more);
  if (n < 3 || n > 4 || (n == 4 && strcmp(before, "before") != 0)) return false;
  m->before = n == 4;
  m->is_grown = strcmp(m->kind, "grown") == 0;
  if (strcmp(count, "strongest") == 0) return m->count = STRONGEST, m->is_grown;
  if (strcmp(count, "last") == 0) return m->count = LAST, true;
  char *end;
  m->count = strtoll(count, &end, 10);
  return *count && !*end && m->count > 0;
}

static bool is_kind(EventKind kind, const char *name) {
  const char *own = event_kind_name(kind);
  for (; *own && *name; own++, name++)
    if (*own != *name && !(*own == ' ' && *name == '-')) return false;
  return *own == *name;
}

/* By how much a new maximum shrinks what the shown row has summed: e^(m - m'); 1: it has summed nothing, or m stays. */
static double shrink(const Stage *stage, const Event *event, Snapshot *now) {
  stage_row_after(stage, event, now);
  const SnapshotRow *r = &now->row;
  const double left = exp(r->m_old - r->m_new);
  return r->is_computed && isfinite(r->m_old) && left < 1 ? left : 1;
}

Status moment_step(const Stage *stage, const char *text, uint64_t *step, Error *error) {
  const Schedule *s = stage->run.schedule;
  Moment m = {.count = 0};
  if (strcmp(text, "start") == 0) return *step = 0, STATUS_OK;
  if (strcmp(text, "end") == 0) return *step = stage->n_steps, STATUS_OK;
  if (!read_moment(text, &m)) return no_moment(text, error);
  if (m.is_grown) snprintf(m.kind, sizeof m.kind, "new-max");
  if (stage->n_steps > MOMENT_EVENTS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "a run of %" PRIu64 " steps is too long to look for '%s'", stage->n_steps,
                     text);
  Snapshot *now = m.is_grown ? malloc(sizeof *now) : NULL;
  if (m.is_grown && !now) return error_set(error, STATUS_NO_MEMORY, "no memory for a snapshot");
  if (now) stage_snapshot(stage, 0, now);
  Cursor c = {0};
  Event e;
  int64_t n = 0;
  uint64_t found = UINT64_MAX;
  double strongest = 1;
  while (schedule_next(s, &stage->run.plan, &c, &e)) {
    if (!is_kind((EventKind)e.kind, m.kind) || strcmp(s->tensors[e.tensor].text, m.tensor) != 0) continue;
    const double left = now ? shrink(stage, &e, now) : 0;
    if (now && !(left < 1)) continue;
    if (m.count == STRONGEST && (e.i >= STRONGEST_ROWS || left >= strongest)) continue;
    strongest = left;
    n++;
    if (m.count < 0 || n == m.count) found = e.step;
    if (n == m.count) break;
  }
  free(now);
  if (found == UINT64_MAX)
    return error_set(error, STATUS_BAD_REQUEST, "the moment '%s' does not come in this run", quote_text(text).text);
  *step = found + !m.before;
  return STATUS_OK;
}
