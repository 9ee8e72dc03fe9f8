/* Claims of the whole run, of loads and stores, and of what is skipped. For claims.c alone. */
#ifndef TILEWALK_TESTS_SUPPORT_CLAIMS_MOVES_H
#define TILEWALK_TESTS_SUPPORT_CLAIMS_MOVES_H

#include "tests/support/claims_asked.h"

/* ---- Claims: the run ----------------------------------------------------------------------------------------------
 */

static Wide bytes_until(const Said *s, uint64_t end) {
  Wide sum = 0;
  for (uint64_t k = 0; k < end; k++) sum += s->r->events[k].bytes;
  return sum;
}

static bool c_start(const Said *s) {
  for (uint64_t k = 0; k < s->r->n; k++) /* what is loaded and never stored, by base */
    for (int n = 0; is_load(&s->r->events[k]) && n < CLAIM_MOVED_MAX && *s->r->labels[k][n]; n++) {
      const size_t length = strcspn(s->r->labels[k][n], "[");
      bool is_stored = false;
      for (uint64_t other = 0; other < s->r->n; other++)
        for (int o = 0; is_store(&s->r->events[other]) && o < CLAIM_MOVED_MAX; o++)
          is_stored |= strcspn(s->r->labels[other][o], "[") == length &&
                       memcmp(s->r->labels[other][o], s->r->labels[k][n], length) == 0;
      char base[CLAIM_LABEL_BYTES + 4];
      sprintf(base, "%.*s,", (int)length, s->r->labels[k][n]);
      char listed[300];
      sprintf(listed, "%s,", s->v[0]);
      if (is_stored != !strstr(listed, base)) return false;
    }
  return s->step == 0;
}
static bool c_whole(const Said *s) { return s->step == 0 && is_bytes(s->v[0], bytes_until(s, s->r->n)); }
static bool c_end(const Said *s) { return s->step == s->r->n && strcmp(s->v[0], number_count(s->r->n).text) == 0; }
static bool c_crossed(const Said *s) { return s->step == s->r->n && is_bytes(s->v[0], bytes_until(s, s->r->n)); }
static bool c_so_far(const Said *s) {
  return is_bytes(s->v[0], bytes_until(s, s->step)) && is_bytes(s->v[1], bytes_until(s, s->r->n));
}

/* ---- Claims: loads and stores ---------------------------------------------------------------------------------------
 */

static bool c_comes_back(const Said *s) {
  return is_load(s->e) && is_moved(s, s->v[0]) && is_bytes(s->v[1], s->e->bytes) && times(s, false, BEFORE) > 0;
}
static bool c_load(const Said *s) { return is_load(s->e) && is_moved(s, s->v[0]) && is_bytes(s->v[1], s->e->bytes); }

static bool is_nth_load(const Said *s, const char *nth, const char *of) {
  return is_load(s->e) && is_count(nth, times(s, true, BEFORE) + 1) && is_count(of, times(s, true, ALL));
}

static bool c_stored_by(const Said *s) {
  const Event *last = NULL;
  for (uint64_t k = 0; k < s->e->step; k++)
    if (is_store(&s->r->events[k]) && moves(s->r, k, s->r->labels[s->e->step][0])) last = &s->r->events[k];
  return last && kernel_of(s->r, last) != kernel_of(s->r, s->e) && strcmp(kernel_name(s->r, last), s->v[0]) == 0 &&
         is_nth_load(s, s->v[1], s->v[2]);
}
static bool c_stored_before(const Said *s) { return times(s, false, BEFORE) > 0 && is_nth_load(s, s->v[0], s->v[1]); }
static bool c_once(const Said *s) { return is_load(s->e) && times(s, true, ALL) == 1; }
static bool c_first_of(const Said *s) {
  return is_load(s->e) && times(s, true, BEFORE) == 0 && is_count(s->v[0], times(s, true, ALL)) &&
         times(s, true, ALL) > 1;
}

/* "K", or "O_is" where other names of these letters are moved. */
static bool is_called(const Said *s, const Event *e, const char *base) {
  const Schedule *p = s->r->schedule;
  const ProgramOp *op = &p->ops[e->op];
  if (e->bytes == 0 || op->n_moved != 1) return false;
  const char *name = p->names[op->moved[0]].text;
  if (strchr(base, '_')) return strcmp(name, base) == 0;
  return strcspn(name, "_") == strlen(base) && strncmp(name, base, strlen(base)) == 0;
}
static Wide bytes_of_base(const Said *s, const char *base, bool loads) {
  Wide sum = 0;
  for (uint64_t k = 0; k <= s->e->step; k++)
    if ((loads ? is_load(&s->r->events[k]) : is_store(&s->r->events[k])) && is_called(s, &s->r->events[k], base))
      sum += s->r->events[k].bytes;
  return sum;
}
static bool is_base(const Said *s, const char *base) {
  for (uint64_t k = 0; k < s->r->n; k++) { /* nothing else moves the name, with others */
    const ProgramOp *op = &s->r->schedule->ops[s->r->events[k].op];
    if (is_load(&s->r->events[k]) != is_load(s->e)) continue;
    for (int n = 0; s->r->events[k].bytes && op->n_moved > 1 && n < op->n_moved; n++)
      if (op->moved[n] == s->r->schedule->ops[s->e->op].moved[0]) return false;
  }
  return is_called(s, s->e, base);
}
static bool c_nth_load_read(const Said *s) {
  return is_nth_load(s, s->v[0], s->v[1]) && is_base(s, s->v[3]) && is_bytes(s->v[2], bytes_of_base(s, s->v[3], true));
}

/* Loaded before, in this kernel, but not since the loop over `dim` came to its present iteration. */
static bool is_again(const Said *s, int dim) {
  const Schedule *p = s->r->schedule;
  bool fixed[DIM_COUNT] = {false}, is_inside = true, has_dim = false;
  for (int loop = p->ops[s->e->op].parent; loop >= 0; loop = p->ops[loop].parent) {
    if (p->ops[loop].dim == dim) is_inside = false, has_dim = true;
    fixed[p->ops[loop].dim] = !is_inside;
  }
  bool in_kernel = false;
  for (uint64_t k = 0; k < s->e->step; k++) {
    const Event *a = &s->r->events[k];
    if (!is_load(a) || !moves(s->r, k, s->r->labels[s->e->step][0]) || kernel_of(s->r, a) != kernel_of(s->r, s->e))
      continue;
    in_kernel = true;
    if ((!fixed[DIM_I] || a->i == s->e->i) && (!fixed[DIM_J] || a->j == s->e->j) &&
        (!fixed[DIM_S] || a->split == s->e->split))
      return false;
  }
  return in_kernel && has_dim;
}
static bool c_again_row(const Said *s) {
  return is_moved(s, s->v[0]) && is_count(s->v[1], s->e->i) && is_bytes(s->v[2], s->e->bytes) && is_load(s->e) &&
         is_again(s, DIM_I);
}
static bool c_again_column(const Said *s) {
  return is_moved(s, s->v[0]) && is_count(s->v[1], s->e->j) && is_bytes(s->v[2], s->e->bytes) && is_load(s->e) &&
         is_again(s, DIM_J);
}
static bool c_again_part(const Said *s) {
  return is_moved(s, s->v[0]) && is_part(s, s->v[1]) && is_count(s->v[2], s->r->plan.tiling.n_splits) &&
         is_bytes(s->v[3], s->e->bytes) && is_load(s->e) && is_again(s, DIM_S);
}
static bool c_again_kernel(const Said *s) {
  bool elsewhere = false;
  for (uint64_t k = 0; k < s->e->step; k++) {
    if (!is_load(&s->r->events[k]) || !moves(s->r, k, s->r->labels[s->e->step][0])) continue;
    if (kernel_of(s->r, &s->r->events[k]) == kernel_of(s->r, s->e)) return false;
    elsewhere = true;
  }
  return elsewhere && is_load(s->e) && is_moved(s, s->v[0]) && strcmp(s->v[1], kernel_name(s->r, s->e)) == 0 &&
         is_bytes(s->v[2], s->e->bytes);
}
static bool c_again(const Said *s) { return c_load(s) && times(s, true, BEFORE) > 0; }
static bool c_earlier_loop(const Said *s) {
  bool is = false;
  for (uint64_t k = 0; k < s->e->step; k++)
    is |= is_load(&s->r->events[k]) && moves(s->r, k, s->r->labels[s->e->step][0]) && s->r->events[k].op != s->e->op;
  return is && is_nth_load(s, s->v[0], s->v[1]);
}

static bool c_store(const Said *s) {
  for (int n = 0; n < CLAIM_MOVED_MAX && *s->r->labels[s->e->step][n]; n++)
    if (!strstr(s->v[0], s->r->labels[s->e->step][n])) return false;
  return is_store(s->e) && is_bytes(s->v[1], s->e->bytes);
}
static bool c_add_in_HBM(const Said *s) {
  char text[256];
  return is_store(s->e) && is_moved(s, s->v[0]) && is_bytes(s->v[1], s->e->bytes) &&
         strncmp(line_text(s->r, s->e->line, text), "add ", 4) == 0;
}
static bool is_nth_store(const Said *s) {
  return is_store(s->e) && is_count(s->v[0], times(s, false, BEFORE) + 1) && is_count(s->v[1], times(s, false, ALL));
}
static bool c_nth_store(const Said *s) { return is_nth_store(s); }
static bool c_read_by(const Said *s) {
  for (uint64_t k = s->e->step + 1; k < s->r->n; k++)
    if (is_load(&s->r->events[k]) && moves(s->r, k, s->r->labels[s->e->step][0]))
      return is_store(s->e) && strcmp(kernel_name(s->r, &s->r->events[k]), s->v[0]) == 0 &&
             kernel_of(s->r, &s->r->events[k]) != kernel_of(s->r, s->e);
  return false;
}
static bool c_read_by_written(const Said *s) {
  return c_read_by(s) && is_base(s, s->v[2]) && is_bytes(s->v[1], bytes_of_base(s, s->v[2], false));
}
static bool c_to_come(const Said *s) {
  return is_store(s->e) && times(s, true, AFTER) > 0 && is_count(s->v[0], times(s, true, AFTER));
}
static bool is_only_store(const Said *s) {
  return is_store(s->e) && times(s, false, ALL) == 1 && times(s, true, AFTER) == 0;
}
static bool c_only_store(const Said *s) { return is_only_store(s); }
static bool c_only_store_of(const Said *s) {
  Wide size = 0; /* each block once, of the run without a mask */
  const int name = s->r->schedule->ops[s->e->op].moved[0];
  for (uint64_t k = 0; k < s->r->n_dense; k++) {
    const Event *a = &s->r->dense[k];
    if (!is_store(a) || !is_called(s, a, s->v[2])) continue;
    bool is_new = true;
    for (uint64_t earlier = 0; earlier < k; earlier++) {
      char here[CLAIM_LABEL_BYTES], there[CLAIM_LABEL_BYTES];
      if (s->r->dense[earlier].op != a->op &&
          !(is_store(&s->r->dense[earlier]) && is_called(s, &s->r->dense[earlier], s->v[2])))
        continue;
      claim_label(s->r->schedule, name, a, here);
      claim_label(s->r->schedule, name, &s->r->dense[earlier], there);
      is_new &= strcmp(here, there) != 0;
    }
    if (is_new) size += a->bytes;
  }
  return is_only_store(s) && is_base(s, s->v[2]) && is_bytes(s->v[0], bytes_of_base(s, s->v[2], false)) &&
         is_bytes(s->v[1], size);
}
static bool c_last_store(const Said *s) {
  return is_store(s->e) && times(s, false, AFTER) == 0 && times(s, true, AFTER) == 0 && times(s, false, ALL) > 1 &&
         is_count(s->v[0], times(s, false, ALL));
}

/* ---- Claims: skips
 * ------------------------------------------------------------------------------------------------------ */

static bool is_nth_skip(const Said *s) {
  int64_t nth = 0, of = 0;
  const bool by_row = s->r->schedule->ops[s->e->op].dim == DIM_J;
  for (uint64_t k = 0; k < s->r->n; k++) {
    const Event *a = &s->r->events[k];
    if (a->kind != EVENT_SKIP || a->op != s->e->op || a->split != s->e->split ||
        (by_row ? a->i != s->e->i : a->j != s->e->j))
      continue;
    of++;
    nth += k <= s->e->step;
  }
  return s->e->kind == EVENT_SKIP && is_count(s->v[0], nth) && is_count(s->v[1], of) && rows_seeing(s) == 0;
}
static bool c_skip_row(const Said *s) {
  return is_nth_skip(s) && s->r->schedule->ops[s->e->op].dim == DIM_J && is_count(s->v[2], s->e->i) && !has_parts(s);
}
static bool c_skip_part(const Said *s) {
  return is_nth_skip(s) && s->r->schedule->ops[s->e->op].dim == DIM_J && is_count(s->v[2], s->e->i) &&
         is_part(s, s->v[3]);
}
static bool c_skip_column(const Said *s) {
  return is_nth_skip(s) && s->r->schedule->ops[s->e->op].dim == DIM_I && is_count(s->v[2], s->e->j);
}

/* What the walk without a mask has loaded or stored when it leaves this tile, less what this one has. */
static Wide spared(const Said *s, bool loads) {
  Wide all = 0, sum = 0, mine = 0;
  const int loop = s->r->schedule->ops[s->e->op].parent;
  for (uint64_t k = 0; k < s->r->n_dense; k++) {
    const Event *a = &s->r->dense[k];
    if (loads ? is_load(a) : is_store(a)) all += a->bytes;
    if (a->i == s->e->i && a->j == s->e->j && a->split == s->e->split && s->r->schedule->ops[a->op].parent == loop)
      sum = all;
  }
  for (uint64_t k = 0; k < s->step; k++)
    if (loads ? is_load(&s->r->events[k]) : is_store(&s->r->events[k])) mine += s->r->events[k].bytes;
  return sum - mine;
}
static bool c_spared(const Said *s) {
  return s->e->kind == EVENT_SKIP && is_bytes(s->v[0], spared(s, true)) && spared(s, false) == 0;
}
static bool c_spared_both(const Said *s) {
  return s->e->kind == EVENT_SKIP && is_bytes(s->v[0], spared(s, true)) && is_bytes(s->v[1], spared(s, false)) &&
         spared(s, false) > 0;
}

#endif
