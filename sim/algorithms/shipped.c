#include "sim/algorithms/shipped.h"

#include <stdio.h>
#include <string.h>

int shipped_compared(const Schedule **list, int most) {
  int n = 0;
  for (int k = 0; k < N_SCHEDULES && n < most; k++)
    if (SCHEDULES[k]->is_compared) list[n++] = SCHEDULES[k];
  return n;
}

/* What its outputs must be, as declared but without blanks. Returns text. */
static const char *task_of(const Schedule *s, char *text, size_t size) {
  static const char WORD[] = "output", IMPLIED[] = "=attention(Q,K,V)";
  size_t n = 0;
  if (!s->declares) return IMPLIED;
  for (int k = 0; k < s->n_lines; k++) {
    const char *line = s->text + s->lines[k].begin, *end = line + s->lines[k].length;
    if (s->lines[k].length < sizeof WORD - 1 || memcmp(line, WORD, sizeof WORD - 1) != 0) continue;
    const char *formula = memchr(line, '=', (size_t)(end - line));
    for (line = formula ? formula : end; line < end && n + 1 < size; line++)
      if (*line != ' ') text[n++] = *line;
  }
  text[n] = '\0';
  return text;
}

bool programs_are_alike(const Schedule *a, const Schedule *b) {
  char of_a[512], of_b[512];
  return a == b || strcmp(task_of(a, of_a, sizeof of_a), task_of(b, of_b, sizeof of_b)) == 0;
}

int shipped_alike(const Schedule *program, const Schedule **list, int most) {
  const bool usual = programs_are_alike(program, shipped_default());
  int n = 0;
  for (int k = 0; k < N_PROGRAMS && n < most; k++)
    if (usual ? SCHEDULES[k]->is_compared : programs_are_alike(SCHEDULES[k], program)) list[n++] = SCHEDULES[k];
  return n;
}

static bool is_default(const Schedule *s) { return s->is_default; }

static bool stores_scores(const Schedule *s) {
  for (int n = 0; n < s->n_names; n++)
    if (s->names[n].is_stored && s->names[n].rows == SIDE_ROWS && s->names[n].cols == SIDE_COLS) return true;
  return false;
}

static bool splits(const Schedule *s) { return s->splits; }
static bool takes_whole_head(const Schedule *s) { return s->whole_head; }
static bool shares(const Schedule *s) { return s->ranks.is_said; }

static const Schedule *first_that(bool (*is)(const Schedule *)) {
  for (int k = 0; k < N_PROGRAMS; k++)
    if (is(SCHEDULES[k])) return SCHEDULES[k];
  return SCHEDULES[0];
}

const Schedule *shipped_default(void) { return first_that(is_default); }
const Schedule *shipped_unfused(void) { return first_that(stores_scores); }
const Schedule *shipped_splitting(void) { return first_that(splits); }
const Schedule *shipped_whole_head(void) { return first_that(takes_whole_head); }
const Schedule *shipped_sharing(void) { return first_that(shares); }

static bool is_one(const Schedule *s, ShippedWhich which) {
  return which == SHIPPED_ALL || (which == SHIPPED_SPLITS ? s->splits : s->writes_lse);
}

const char *shipped_names(ShippedWhich which, const char *last, char *text, size_t size) {
  int n = 0, left = 0;
  size_t at = 0;
  text[0] = '\0';
  for (int k = 0; k < N_SCHEDULES; k++) left += is_one(SCHEDULES[k], which);
  for (int k = 0; k < N_SCHEDULES; k++) {
    if (!is_one(SCHEDULES[k], which)) continue;
    const char *joint = n == 0 ? "" : left == 1 ? last : ", ";
    const int length = snprintf(text + at, size - at, "%s%s", joint, SCHEDULES[k]->name);
    if (length < 0 || (size_t)length >= size - at) return text;
    at += (size_t)length;
    n++;
    left--;
  }
  return text;
}
