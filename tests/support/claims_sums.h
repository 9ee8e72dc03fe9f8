/* Claims of scaling, adding and dividing. For claims.c alone. */
#ifndef TILEWALK_TESTS_SUPPORT_CLAIMS_SUMS_H
#define TILEWALK_TESTS_SUPPORT_CLAIMS_SUMS_H

#include "tests/support/claims_scores.h"

/* ---- Claims: scaling, adding, dividing
 * -------------------------------------------------------------------------------- */

/* A statement of the line that sets `name` with this operator: "O_i +=". */
static bool sets_with(const char *line, const char *name, const char *operation) {
  char statement[256];
  const char *at = line;
  while (*at) {
    const size_t n = strcspn(at, ";");
    sprintf(statement, "%.*s", (int)n, at);
    const char *sign = strstr(statement, operation);
    for (const char *found = statement; sign && (found = strstr(found, name)) && found < sign; found++)
      if ((found == statement || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", found[-1])) &&
          !strchr("'_abcdefghijklmnopqrstuvwxyz", found[strlen(name)] ? found[strlen(name)] : ' '))
        return true;
    at += n + (at[n] == ';');
  }
  return false;
}
static bool is_sum_of_itself(const char *line, const char *name) { /* "T = ... T ... + ..." */
  char statement[256], head[64];
  sprintf(head, "%s = ", name);
  for (const char *at = line; *at;) {
    const size_t n = strcspn(at, ";");
    sprintf(statement, "%.*s", (int)n, at + strspn(at, " "));
    if (strncmp(statement, head, strlen(head)) == 0 && strstr(statement + strlen(head), name) &&
        strstr(statement, " + "))
      return true;
    at += n + (at[n] == ';');
  }
  return false;
}
static bool adds_to(const Said *s, const Event *a, int name) {
  char text[256];
  if (a->kind == EVENT_SKIP || kernel_of(s->r, a) != kernel_of(s->r, s->e)) return false;
  line_text(s->r, a->line, text);
  return sets_with(text, s->r->schedule->names[name].text, " += ") ||
         is_sum_of_itself(text, s->r->schedule->names[name].text);
}

/* Loops around a line of the text, from the "for" lines above it. */
static uint8_t loops_of_line(const ClaimRun *r, int line) {
  uint8_t loops = 0;
  int indent = r->schedule->lines[line].indent;
  for (int k = line - 1; k >= 0 && indent > 0; k--) {
    char text[256];
    if (r->schedule->lines[k].indent >= indent) continue;
    indent = r->schedule->lines[k].indent;
    line_text(r, k, text);
    if (strstr(text, "row block i")) loops |= IN_I;
    if (strstr(text, "column block j")) loops |= IN_J;
    if (strstr(text, "split s")) loops |= IN_S;
    if (strstr(text, "head h")) loops |= IN_H;
  }
  return loops;
}

/* What a sum belongs to: the loops around the line of this kernel that begins it anew; else its subscripts. */
static uint8_t scope_of_sum(const Said *s, int name) {
  const Schedule *p = s->r->schedule;
  uint8_t scope = p->names[name].subscripts;
  for (int line = s->e->line - 1; line >= 0; line--) {
    char text[256], *at = text;
    line_text(s->r, line, text);
    if (strncmp(text, "kernel ", 7) == 0) break;
    if (strncmp(text, "store ", 6) == 0) at += 6;
    for (char *statement = strtok(at, ";"); statement; statement = strtok(NULL, ";")) {
      char *set = strstr(statement, " = "), written[80], value[256];
      if (!set || strncmp(text, "for", 3) == 0) continue;
      for (char *comma = at; (comma = strchr(comma, ',')) && at != text;) *comma = ' '; /* store m_i = -inf, l_i = 0 */
      snprintf(written, sizeof written, " %.*s,", (int)(set - statement), statement);
      for (char *c = written; *c; c++)
        if (*c == ',') *c = ' ';
      snprintf(value, sizeof value, "%s ", set + 2);
      char own[32];
      snprintf(own, sizeof own, " %s ", p->names[name].text);
      if (strstr(written, own) && !strstr(value, own)) return loops_of_line(s->r, line);
      if (at != text && strstr(set, own)) return loops_of_line(s->r, line);
    }
  }
  return scope;
}

static int64_t additions(const Said *s, int name, When when) {
  const uint8_t own = scope_of_sum(s, name);
  int64_t n = 0;
  for (uint64_t k = 0; k < s->r->n; k++) {
    const Event *a = &s->r->events[k], *e = s->e;
    if (!adds_to(s, a, name) || (when == BEFORE && k >= e->step)) continue;
    if (((own & IN_I) && a->i != e->i) || ((own & IN_J) && a->j != e->j) || ((own & IN_S) && a->split != e->split) ||
        ((own & IN_H) && a->head != e->head))
      continue;
    n++;
  }
  return n;
}
static bool c_added(const Said *s) {
  const int name = name_of(s, s->v[2]);
  return name >= 0 && adds_to(s, s->e, name) && is_count(s->v[0], additions(s, name, BEFORE) + 1) &&
         is_count(s->v[1], additions(s, name, ALL));
}
static bool c_tile_added(const Said *s) { return is_tile(s->e) && c_added(s); }
static int divided(const Said *s, char *divisor) { /* the name T of "T = T / U" */
  char text[256];
  line_text(s->r, s->e->line, text);
  for (int n = 0; n < s->r->schedule->n_names; n++)
    for (int u = 0; u < s->r->schedule->n_names; u++) {
      char written[64];
      const char *T = s->r->schedule->names[n].text, *U = s->r->schedule->names[u].text;
      sprintf(written, "%s = %s / %s", T, T, U);
      if (strcmp(text, written) != 0) continue;
      claim_label(s->r->schedule, u, s->e, divisor);
      return n;
    }
  return -1;
}
static bool is_divisor(const Said *s, const char *label, const char *value) {
  char divisor[CLAIM_LABEL_BYTES] = "";
  double x0;
  if (divided(s, divisor) < 0 || strcmp(divisor, label) != 0) return false;
  if (!is_known(s) || !strstr(s->r->schedule->text, "mask ")) return real(value, &x0);
  const int64_t row = shown_row(s);
  if (s->e->j >= 0) return is_near(value, after(s, row).l);
  const Plan *p = &s->r->plan;
  const bool in_part = has_parts(s), has_combine = p->tiling.n_splits > 1 && !in_part;
  Softmax x = {-INFINITY, 0};
  const int64_t per = p->tiles_per_split * p->tiling.B_c, N = p->shape.N_k;
  if (has_combine)
    return is_near(value,
                   parts_until(s, row, p->tiling.n_splits, parts_until(s, row, p->tiling.n_splits, -INFINITY).m).l);
  if (in_part)
    see(s, row, s->e->split * per < N ? s->e->split * per : N,
        (s->e->split + 1) * per < N ? (s->e->split + 1) * per : N, &x);
  else
    see(s, row, 0, N, &x);
  return is_near(value, x.l);
}
static bool are_added(const Said *s, const char *added, const char *of) {
  char divisor[CLAIM_LABEL_BYTES];
  const int name = divided(s, divisor);
  return name >= 0 && additions(s, name, ALL) > 0 && (!added || is_count(added, additions(s, name, BEFORE))) &&
         is_count(of, additions(s, name, ALL)) &&
         (added ? additions(s, name, BEFORE) < additions(s, name, ALL)
                : additions(s, name, BEFORE) == additions(s, name, ALL));
}
static bool c_divide_for_now(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_divisor(s, s->v[1], s->v[2]) && are_added(s, s->v[3], s->v[4]);
}
static bool c_are_added(const Said *s) { return are_added(s, s->v[0], s->v[1]); }
static bool c_divide_done(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_divisor(s, s->v[1], s->v[2]) && are_added(s, NULL, s->v[3]) &&
         is_name(s, s->v[4]);
}
static bool c_done(const Said *s) { return are_added(s, NULL, s->v[0]) && is_name(s, s->v[1]); }
static bool c_value(const Said *s) { /* divided by it, or set */
  int64_t row;
  char divisor[CLAIM_LABEL_BYTES];
  if (!row_of(s, s->v[0], &row) || !is_name(s, s->v[1])) return false;
  return divided(s, divisor) >= 0 ? is_divisor(s, s->v[1], s->v[2]) : is_real(s->v[2]) && !strstr(s->v[2], "not");
}
static bool c_not_a_number(const Said *s) {
  int64_t row;
  if (!s->r->is_online) return row_of(s, s->v[0], &row) && is_name(s, s->v[1]); /* of a wrong program: not judged */
  if (!row_of(s, s->v[0], &row) || !is_name(s, s->v[1])) return false;
  for (int64_t col = 0; col < s->r->plan.shape.N_k; col++)
    if (s->r->seen[row * s->r->plan.shape.N_k + col] && exp(s->r->scores[row * s->r->plan.shape.N_k + col]) > 65000)
      return true;
  return false;
}
static bool c_empty_row(const Said *s) {
  int64_t row;
  char divisor[CLAIM_LABEL_BYTES];
  if (!row_of(s, s->v[0], &row) || divided(s, divisor) < 0 || !is_name(s, s->v[1])) return false;
  const Plan *p = &s->r->plan;
  const int64_t per = p->tiles_per_split * p->tiling.B_c, N = p->shape.N_k;
  const int64_t begin = has_parts(s) ? s->e->split * per : 0, end = has_parts(s) ? begin + per : N;
  return keys_of(s->r, s->r->seen, row, begin < N ? begin : N, end < N ? end : N) == 0;
}

static bool c_was_divided(const Said *s) {
  int64_t row;
  const int name = name_of(s, s->v[0]);
  bool is = false;
  for (uint64_t k = 0; name >= 0 && k < s->e->step; k++) {
    char text[256], written[64];
    sprintf(written, "%s = %s / ", s->r->schedule->names[name].text, s->r->schedule->names[name].text);
    is |= s->r->events[k].i == s->e->i &&
          strncmp(line_text(s->r, s->r->events[k].line, text), written, strlen(written)) == 0;
  }
  if (!is || !row_of(s, s->v[1], &row)) return false;
  if (!is_known(s)) return is_real(s->v[2]);
  const Softmax was = before(s, row), now = after(s, row);
  return is_near(s->v[2], was.l * factor_of(was.m, now.m));
}
static bool is_scale(const Said *s) {
  char text[256];
  return strstr(line_text(s->r, s->e->line, text), " *= ") != NULL;
}
static bool c_no_key_yet(const Said *s) {
  int64_t row;
  return is_scale(s) && row_of(s, s->v[0], &row) && keys(s, row, BEFORE) == 0 && first_of_all(s, row);
}
static bool c_no_key_yet_part(const Said *s) {
  int64_t row;
  return is_scale(s) && row_of(s, s->v[0], &row) && keys(s, row, BEFORE) == 0 && is_part(s, s->v[1]);
}
static bool c_times_1(const Said *s) {
  int64_t row;
  if (!is_scale(s) || !row_of(s, s->v[0], &row)) return false;
  return !is_known(s) || here(s, row).m <= before(s, row).m + 2e-3;
}
static bool is_factor(const Said *s, int64_t row, const char *text) {
  return !is_known(s) ? is_real(text) : is_near(text, factor_of(before(s, row).m, after(s, row).m));
}
static bool c_times(const Said *s) {
  int64_t row;
  return is_scale(s) && row_of(s, s->v[0], &row) && is_factor(s, row, s->v[1]) && keys(s, row, BEFORE) > 0;
}
static bool c_times_from_to(const Said *s) {
  int64_t row;
  if (!c_times(s) || !row_of(s, s->v[0], &row) || !is_name(s, s->v[2])) return false;
  const Softmax was = before(s, row), now = after(s, row);
  return !is_known(s) || (is_near(s->v[3], was.l) && is_near(s->v[4], was.l * factor_of(was.m, now.m)));
}
static bool c_overflow(const Said *s) {
  int64_t row, n = 0;
  if (!row_of(s, s->v[2], &row) || !is_count(s->v[1], s->e->col1 - s->e->col0)) return false;
  if (!s->r->is_online) return true; /* of a wrong program: not judged */
  for (int64_t col = s->e->col0; s->r->scores && col < s->e->col1; col++)
    n += s->r->seen[row * s->r->plan.shape.N_k + col] && exp(s->r->scores[row * s->r->plan.shape.N_k + col]) >= 65520;
  return n > 0 && is_count(s->v[0], n) && is_without_max(s);
}
static bool c_unseen_tile(const Said *s) {
  int64_t row;
  char text[256];
  if (!row_of(s, s->v[0], &row) || keys_here(s, row) != 0 || !is_tile(s->e)) return false;
  line_text(s->r, s->e->line, text);
  for (int name = 0; name < s->r->schedule->n_names; name++)
    if (adds_to(s, s->e, name) && is_count(s->v[1], additions(s, name, BEFORE) + 1) &&
        is_count(s->v[2], additions(s, name, ALL)))
      return true;
  return false;
}
static bool c_unseen(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_tile(s->e) && keys_here(s, row) == 0;
}
static bool c_sees(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_tile(s->e) && keys_here(s, row) > 0 && is_count(s->v[1], keys_here(s, row)) &&
         is_count(s->v[2], s->e->col1 - s->e->col0);
}
static bool is_sum(const Said *s, int64_t row, const char *label, const char *text) {
  const int name = name_of(s, label);
  if (name < 0 || !adds_to(s, s->e, name)) return false;
  return is_known(s) ? is_near(text, after(s, row).l) : is_real(text);
}
static bool is_all(const Said *s, int64_t row, const char *n) {
  return keys(s, row, AFTER) == 0 && keys_here(s, row) > 0 && is_count(n, keys(s, row, ALL));
}
static bool c_all_part(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_all(s, row, s->v[1]) && is_part(s, s->v[2]) && is_sum(s, row, s->v[3], s->v[4]);
}
static bool c_all(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_all(s, row, s->v[1]) && is_sum(s, row, s->v[2], s->v[3]) &&
         is_count(s->v[1], keys_of(s->r, s->r->seen, row, 0, s->r->plan.shape.N_k));
}
static bool c_first_part(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_first(s, row) && is_part(s, s->v[1]) && is_sum(s, row, s->v[2], s->v[3]);
}
static bool c_first(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_first(s, row) && first_of_all(s, row) && is_sum(s, row, s->v[1], s->v[2]) &&
         is_count(s->v[3], keys(s, row, AFTER));
}
static bool c_from_to(const Said *s) {
  int64_t row;
  char text[256];
  if (!row_of(s, s->v[0], &row) || !is_sum(s, row, s->v[1], s->v[3]) || !is_count(s->v[4], keys(s, row, AFTER)))
    return false;
  const Softmax was = before(s, row), now = after(s, row);
  const bool is_scaled = strstr(line_text(s->r, s->e->line, text), " += ") != NULL; /* by another line, before */
  return is_known(s) ? is_near(s->v[2], is_scaled ? was.l * factor_of(was.m, now.m) : was.l) : is_real(s->v[2]);
}
static bool c_part_added(const Said *s) {
  int64_t row;
  const int64_t n = s->r->plan.tiling.n_splits;
  if (!row_of(s, s->v[0], &row) || !is_part(s, s->v[1]) || !is_count(s->v[2], n) || s->e->j >= 0 ||
      !is_name(s, s->v[4]))
    return false;
  if (!is_known(s)) return is_real(s->v[3]) && is_real(s->v[5]);
  const double m = parts_until(s, row, n, -INFINITY).m;
  return is_near(s->v[3], factor_of(lse_of_part(s, row, s->e->split), m)) &&
         is_near(s->v[5], parts_until(s, row, s->e->split + 1, m).l);
}

#endif
