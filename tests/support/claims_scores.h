/* Claims of products, masks and maxima. For claims.c alone. */
#ifndef TILEWALK_TESTS_SUPPORT_CLAIMS_SCORES_H
#define TILEWALK_TESTS_SUPPORT_CLAIMS_SCORES_H

#include "tests/support/claims_asked.h"

/* ---- Claims: products and masks
 * -------------------------------------------------------------------------------------- */

static bool is_flops(const Said *s, const char *text) {
  return s->e->flops > 0 && strcmp(text, number_flops(s->e->flops).text) == 0;
}
static bool c_every(const Said *s) {
  char text[256], written[64];
  const int a = name_of(s, s->v[0]), b = name_of(s, s->v[1]);
  if (a < 0 || b < 0) return false;
  sprintf(written, "%s %s^T", s->r->schedule->names[a].text, s->r->schedule->names[b].text);
  const char *at = strstr(line_text(s->r, s->e->line, text), written);
  return at && !strstr(at + strlen(written), "^T");
}
static bool never_moves(const Said *s) { /* what the line sets first */
  char text[256];
  line_text(s->r, s->e->line, text);
  text[strcspn(text, " ")] = '\0';
  for (uint64_t k = 0; k < s->r->n; k++)
    for (int n = 0; n < s->r->schedule->ops[s->r->events[k].op].n_moved; n++)
      if (s->r->events[k].bytes &&
          strcmp(s->r->schedule->names[s->r->schedule->ops[s->r->events[k].op].moved[n]].text, text) == 0)
        return false;
  return true;
}
static bool are_scores(const Said *s) { /* masked, or their row maximum taken */
  char text[256], a[300], b[300];
  line_text(s->r, s->e->line, text);
  text[strcspn(text, " ")] = '\0';
  sprintf(a, "mask %s", text);
  sprintf(b, "row max of %s)", text);
  return strstr(s->r->schedule->text, a) || strstr(s->r->schedule->text, b);
}
static bool c_flops_in_vain(const Said *s) { return is_flops(s, s->v[0]) && is_tile(s->e) && rows_seeing(s) == 0; }
static bool c_in_vain(const Said *s) { return is_tile(s->e) && s->e->kind != EVENT_SKIP && rows_seeing(s) == 0; }
static bool c_flops_hidden(const Said *s) {
  return is_flops(s, s->v[0]) && is_count(s->v[1], area(s->e)) && is_count(s->v[2], hidden(s)) && hidden(s) > 0 &&
         are_scores(s);
}
static bool is_area(const Said *s, int k) {
  return is_count(s->v[k], s->e->row1 - s->e->row0) && is_count(s->v[k + 1], s->e->col1 - s->e->col0) && area(s->e) > 0;
}
static bool c_scores(const Said *s) { return is_area(s, 0) && is_flops(s, s->v[2]) && are_scores(s); }
static bool c_scores_on_chip(const Said *s) { return c_scores(s) && never_moves(s); }
static bool c_pairs(const Said *s) { return is_flops(s, s->v[0]) && is_area(s, 1); }
static bool c_pairs_on_chip(const Said *s) { return c_pairs(s) && never_moves(s); }
static bool c_flops(const Said *s) { return is_flops(s, s->v[0]); }
static bool c_values(const Said *s) { return is_area(s, 0); }

/* "mask S" and "mask A = 0". */
static bool is_masked(const Said *s, const char *value) {
  char text[256];
  const char *set = strstr(line_text(s->r, s->e->line, text), " = ");
  return strcmp(value, set ? set + 3 : "−∞") == 0;
}
static bool is_mask(const Said *s) { return s->e->kind == EVENT_MASK; }
static bool c_mask_all(const Said *s) {
  return is_mask(s) && is_count(s->v[0], area(s->e)) && is_moved(s, s->v[1]) && rows_seeing(s) == 0;
}
static bool c_mask_row(const Said *s) {
  int64_t row;
  return is_mask(s) && row_of(s, s->v[0], &row) && keys_here(s, row) == 0 &&
         is_count(s->v[1], s->e->col1 - s->e->col0) && is_masked(s, s->v[2]);
}
static bool c_keeps(const Said *s) {
  int64_t row;
  return is_mask(s) && row_of(s, s->v[0], &row) && keys_here(s, row) > 0 && is_count(s->v[1], keys_here(s, row)) &&
         is_count(s->v[2], s->e->col1 - s->e->col0);
}
static bool c_mask_hides(const Said *s) {
  return is_mask(s) && hidden(s) > 0 && is_count(s->v[0], hidden(s)) && is_count(s->v[1], area(s->e));
}
static bool c_rows_see(const Said *s) {
  return is_mask(s) && is_count(s->v[0], rows_seeing(s)) && is_count(s->v[1], s->e->row1 - s->e->row0);
}
static int64_t shown_row(const Said *s) {
  const int64_t asked = s->r->stage->config.row_in_block, height = s->e->row1 - s->e->row0;
  const int64_t row = asked ? asked - 1 : height / 2;
  return s->e->row0 + (row < height ? row : height - 1);
}
/* All that is hidden from the row of the sentence before: by which table, and on which side. */
static bool hidden_by(const Said *s, bool by_blocks, int side) {
  const ClaimRun *r = s->r;
  const int64_t row = shown_row(s), own = row + (r->plan.shape.top_left ? 0 : r->plan.shape.N_k - r->plan.shape.N_q);
  int64_t n = 0;
  for (int64_t col = s->e->col0; col < s->e->col1; col++) {
    const size_t at = (size_t)(row * r->plan.shape.N_k + col);
    if (r->seen[at]) continue;
    n++;
    if (by_blocks ? !r->in_band[at] : r->in_band[at]) return false;
    if (!by_blocks && (side > 0 ? col <= own : col >= own)) return false;
  }
  return is_mask(s) && n > 0 && is_count(s->v[0], n) && is_masked(s, s->v[1]);
}
static bool c_after(const Said *s) { return hidden_by(s, false, 1); }
static bool c_ahead(const Said *s) { return hidden_by(s, false, -1); }
static bool c_blocks(const Said *s) { return hidden_by(s, true, 0); }
static bool c_masked(const Said *s) { return is_mask(s) && is_masked(s, s->v[0]); }

/* ---- Claims: maxima
 * -------------------------------------------------------------------------------------------------- */

static bool is_name(const Said *s, const char *label) { return name_of(s, label) >= 0; }

/* The line has "max(OLD, row max of T)" or "max(OLD, BEST)". */
static bool is_max_of(const Said *s, const char *old, const char *best) {
  char text[256], written[96];
  const int a = name_of(s, old), b = best ? name_of(s, best) : -1;
  if (a < 0 || (best && b < 0)) return false;
  sprintf(written, best ? "max(%s, %s)" : "max(%s, row max of ", s->r->schedule->names[a].text,
          best ? s->r->schedule->names[b].text : "");
  return strstr(line_text(s->r, s->e->line, text), written) != NULL;
}
static bool is_max(const char *a, const char *b, const char *c) {
  double x, y, z;
  return real(a, &x) && real(b, &y) && real(c, &z) && z == fmax(x, y);
}
static bool c_max_tile(const Said *s) {
  const int64_t row = shown_row(s);
  if (!is_max_of(s, s->v[0], NULL) || !is_max(s->v[1], s->v[2], s->v[3])) return false;
  return !s->r->scores ||
         ((!s->r->is_online || is_near(s->v[1], before(s, row).m)) && is_near(s->v[2], here(s, row).m));
}
static bool c_max_value(const Said *s) {
  const int64_t row = shown_row(s), part = s->e->split;
  if (!is_max_of(s, s->v[0], s->v[2]) || !is_max(s->v[1], s->v[3], s->v[4])) return false;
  return !is_known(s) || s->e->j >= 0 ||
         (is_near(s->v[1], parts_until(s, row, part, -INFINITY).m) && is_near(s->v[3], lse_of_part(s, row, part)));
}
static bool c_max_left_out(const Said *s) { return is_without_max(s) && is_name(s, s->v[0]) && is_near(s->v[1], 0); }
static bool c_best(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_near(s->v[1], here(s, row).m);
}
static bool c_stays_unseen(const Said *s) { /* a maximum or a sum */
  int64_t row;
  if (!row_of(s, s->v[0], &row) || keys_here(s, row) != 0 || !is_name(s, s->v[1]) || !is_tile(s->e)) return false;
  char text[256], kept[128];
  const char *max = strstr(line_text(s->r, s->e->line, text), " = max(");
  if (max) { /* what the line sets is what it is compared with next: "m_i = m'" */
    sprintf(kept, "%.*s = %.*s", (int)strcspn(max + 7, ","), max + 7, (int)(max - text), text);
    if (!strstr(s->r->schedule->text, kept) || strchr("+-*/ ", strstr(s->r->schedule->text, kept)[strlen(kept)]))
      return false;
  }
  if (!is_known(s)) return is_real(s->v[2]);
  const Softmax x = before(s, row), y = after(s, row);
  const bool is_m = strstr(s->v[1], "m") != NULL;
  return is_near(s->v[2], is_m ? x.m : x.l) && (is_m ? x.m == y.m : x.l == y.l);
}
static bool is_first(const Said *s, int64_t row) {
  return is_tile(s->e) && keys(s, row, BEFORE) == 0 && keys_here(s, row) > 0;
}
static bool c_first_max_part(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_first(s, row) && is_part(s, s->v[1]) && is_near(s->v[2], here(s, row).m);
}
/* Without "part": in no earlier part either. */
static bool first_of_all(const Said *s, int64_t row) {
  for (uint64_t k = 0; k < s->e->step; k++) {
    const Event *a = &s->r->events[k];
    if (a->op == s->e->op && a->kind == s->e->kind && a->i == s->e->i &&
        keys_of(s->r, s->r->seen, row, a->col0, a->col1) > 0)
      return false;
  }
  return true;
}
static bool c_first_max(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_first(s, row) && first_of_all(s, row) && is_near(s->v[1], here(s, row).m);
}
static bool c_until_larger(const Said *s) { return is_name(s, s->v[0]) && is_near(s->v[1], after(s, shown_row(s)).m); }
static bool c_larger(const Said *s) {
  int64_t row;
  double now, old;
  return row_of(s, s->v[0], &row) && real(s->v[1], &now) && real(s->v[2], &old) && before(s, row).m < here(s, row).m &&
         isfinite(before(s, row).m) && is_near(s->v[1], here(s, row).m) && is_near(s->v[2], before(s, row).m);
}
static bool c_not_larger(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && here(s, row).m <= before(s, row).m + 2e-3;
}
static bool c_row_part(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row) && is_part(s, s->v[1]) && is_count(s->v[2], s->r->plan.tiling.n_splits);
}
static bool c_row(const Said *s) {
  int64_t row;
  return row_of(s, s->v[0], &row);
}
static bool c_rows(const Said *s) { return is_count(s->v[0], s->e->row1 - s->e->row0) && s->e->row1 > s->e->row0; }

#endif
