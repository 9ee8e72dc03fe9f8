/* What readers show of programs that nobody has seen (tests/support/made_program.h). Each figure is held against a
 * fold that knows the program's lines from the generator, not from the reader: traffic by name, tiles, FLOPs,
 * exponentials, the places of SRAM, and what is in them at every step.
 *
 * `READERS_PROGRAMS=10000` makes so many of them. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/test.h"
#include "sim/algorithms/language/read.h"
#include "sim/algorithms/schedule.h"
#include "tests/support/made_program.h"
#include "viz/scene/snapshot.h"

/* ---- What a line leaves ------------------------------------------------------------------------------------- */

/* Whether after record `at` a value is read before it is set again: on in the loop, once around it, and behind it. */
static bool is_read_later(const Maker *m, int at, int v) {
  const Record *from = &m->records[at];
  bool ends = false; /* a way on sets it */
  for (int k = at + 1; k < m->n_records && m->records[k].kernel == from->kernel && !ends; k++) {
    if (m->records[k].reads & bit(v)) return true;
    if (from->loop == 1 && m->records[k].loop == 1) ends = m->records[k].sets & bit(v);
    if (!(from->loop == 1 && m->records[k].loop == 1) && (m->records[k].sets & bit(v)) && m->records[k].loop != 1)
      ends = true;
    if (from->loop == 0 && m->records[k].loop == 1 && (m->records[k].sets & bit(v))) {
      /* set in the loop first; but the loop may have no tile */
      for (int n = k + 1; n < m->n_records; n++)
        if (m->records[n].kernel == from->kernel && m->records[n].loop == 2 && (m->records[n].reads & bit(v)))
          return true;
      return false;
    }
  }
  if (from->loop != 1) return false;
  for (int k = 0; k <= at && !ends; k++) { /* around */
    if (m->records[k].kernel != from->kernel || m->records[k].loop != 1) continue;
    if (m->records[k].reads & bit(v)) return true;
    if (m->records[k].sets & bit(v)) break;
  }
  return false;
}

static int64_t value_bytes(const Value *v, const Plan *p) {
  const int64_t B_r = p->tiling.B_r, B_c = p->tiling.B_c, d = p->shape.d, d_v = p->shape.d_v;
  const int64_t n[] = {B_r * 2, B_r * d, B_r * d_v, B_c * d, B_c * d_v, B_r * B_c};
  return 2 * n[v->shape];
}

/* The value whose place each has in a kernel; -1: none. */
static void find_places(const Maker *m, int kernel, int *place) {
  for (int v = 0; v < m->n_values; v++) place[v] = -1;
  for (int k = 0; k < m->n_records; k++) {
    const Record *r = &m->records[k];
    if (r->kernel != kernel) continue;
    for (int v = 0; v < m->n_values; v++) {
      if (!((r->sets | (r->moved >= 0 ? bit(r->moved) : 0)) & bit(v)) || place[v] >= 0) continue;
      if (m->values[v].is_primed) continue;
      place[v] = v;
      for (int from = 0; from < m->n_values && !(r->reads & bit(v)); from++)
        if ((r->takes & bit(from)) && place[from] >= 0 && place[v] == v && !is_read_later(m, k, from)) {
          place[v] = place[from];
          break;
        }
    }
  }
}

/* ---- Checks ------------------------------------------------------------------------------------------------- */

static int tensor_named(const Program *p, const char *letters) {
  for (int k = 0; k < p->n_values; k++)
    if (strcmp(p->tensors[k].text, letters) == 0) return k;
  return -1;
}

/* Columns that are not declared are counted as one. */
static int tensor_of(const Program *p, const Value *v) {
  return tensor_named(p, v->shape == COLUMN ? "stats" : v->letters);
}

static void check_totals(const Maker *m, const Program *p, const Plan *plan) {
  Traffic is;
  bool overflow = false;
  Wide read[VALUES_MAX] = {0}, written[VALUES_MAX] = {0}, flops = 0, tiles[TILE_KIND_COUNT] = {0};
  Cursor cursor = {0};
  Event e;
  double pair_flops = 0, pair_exps = 0;
  while (schedule_next(p, plan, &cursor, &e)) {
    if (e.kind == EVENT_SKIP) {
      tiles[TILE_SKIPPED]++;
      continue;
    }
    const int at = made_record(m, p, &e);
    assert_true(at >= 0);
    const Record *r = &m->records[at];
    const int64_t rows = e.row1 - e.row0, cols = e.col1 - e.col0, d = plan->shape.d, d_v = plan->shape.d_v;
    if (r->moved >= 0) {
      const Value *v = &m->values[r->moved];
      const int64_t n[] = {2 * rows, rows * d, rows * d_v, cols * d, cols * d_v, rows * cols};
      Wide *bytes = &(r->out ? written : read)[tensor_of(p, v)];
      *bytes += wide(2 * n[v->shape]);
    }
    flops += wide(2 * rows * cols * (r->flops_d * d + r->flops_dv * d_v));
    if (r->is_first_product) tiles[e.tile]++;
  }
  schedule_traffic(p, plan, &is, &overflow);
  for (int k = 0; k < TENSORS_MAX; k++) assert_true(is.read[k] == read[k] && is.write[k] == written[k]);
  for (int k = 0; k < TILE_KIND_COUNT; k++) assert_true(is.tiles[k] == tiles[k]);
  assert_true(is.flops == flops);
  for (int k = 0; k < m->n_records; k++) {
    pair_flops +=
        2 * (m->records[k].flops_d * (double)plan->shape.d + m->records[k].flops_dv * (double)plan->shape.d_v);
    pair_exps += m->records[k].exps;
  }
  const PairCost cost = schedule_pair_cost(p, plan);
  assert_true(cost.flops == pair_flops && cost.exps == pair_exps);
}

static void check_sram(const Maker *m, const Program *p, const Plan *plan) {
  int64_t most = 0;
  const SramSizes sizes = {
      .B_r = plan->tiling.B_r, .B_c = plan->tiling.B_c, .d = plan->shape.d, .d_v = plan->shape.d_v, .element_bytes = 2};
  for (int kernel = 0; kernel < m->n_kernels; kernel++) {
    int place[VALUES];
    int64_t bytes = 0;
    find_places(m, kernel, place);
    for (int v = 0; v < m->n_values; v++) bytes += place[v] == v ? value_bytes(&m->values[v], plan) : 0;
    assert_int_equal(sram_budget_of_kernel(p, kernel, &sizes).bytes, bytes);
    most = bytes > most ? bytes : most;
  }
  assert_int_equal(sram_budget(p, &sizes).bytes, most);
}

/* Loaded before the loop, and read in it alone. */
static bool is_for_tiles(const Maker *m, int kernel, int v) {
  bool loaded = false;
  for (int k = 0; k < m->n_records; k++) {
    const Record *r = &m->records[k];
    if (r->kernel != kernel) continue;
    if (r->loop == 0 && r->moved == v && !r->out) loaded = true;
    if (r->loop != 1 && (r->reads & bit(v))) return false;
  }
  return loaded;
}

/* Of each place whether it is filled: by a value that is read from here on, or made here. */
static void check_step(const Maker *m, const Snapshot *now, bool has_tile) {
  const Program *p = now->schedule;
  const Event *e = &now->event;
  int place[VALUES], at = made_record(m, p, e);
  uint64_t expected = 0;
  const int kernel = p->ops[e->op].kernel;
  find_places(m, kernel, place);
  if (e->kind == EVENT_SKIP) /* before the loop's first line */
    for (at = 0; m->records[at].kernel != kernel || m->records[at].loop != 1; at++) {
    }
  for (int v = 0; v < m->n_values; v++) {
    const Record *r = &m->records[at];
    if (place[v] < 0) continue;
    bool there = (r->reads & bit(v)) || (!(r->sets & bit(v)) && is_read_later(m, at, v));
    if (e->kind == EVENT_SKIP) { /* read from there on in the loop, or behind it */
      there = is_read_later(m, at, v) || (r->reads & bit(v));
      for (int k = at; k < m->n_records && m->records[k].loop == 1 && m->records[k].kernel == kernel; k++)
        if ((m->records[k].sets & bit(v)) && !(m->records[k].reads & bit(v))) {
          there = false;
          for (int n = k; n < m->n_records; n++)
            there |= m->records[n].kernel == kernel && m->records[n].loop == 2 && (m->records[n].reads & bit(v));
          for (int n = at; n <= k; n++) there |= n < k && (m->records[n].reads & bit(v));
          break;
        } else if (m->records[k].reads & bit(v)) {
          break;
        }
    } else if ((r->sets & bit(v)) || r->moved == v || (r->masks && (r->reads & bit(v)))) {
      there = true;
    }
    if (!has_tile && is_for_tiles(m, kernel, v)) there = false; /* rows that see no key load nothing for their tiles */
    if (there) expected |= (uint64_t)1 << tensor_of(p, &m->values[place[v]]);
  }
  for (int k = 0; k < p->n_values; k++)
    if (now->slots[k].is_filled != (bool)(expected >> k & 1))
      fail_msg("step %d, '%.*s': %s is %sin SRAM\n%s", (int)now->step, p->lines[e->line].length,
               p->text + p->lines[e->line].begin, p->tensors[k].text, now->slots[k].is_filled ? "" : "not ", p->text);
}

static void check_steps(const Maker *m, const Program *p, const Shape *shape, const Tiling *tiling) {
  Stage stage;
  const StageConfig config = {.problem = {.shape = *shape, .tiling = *tiling, .machine = machine_paper()},
                              .schedule = p,
                              .rivals = {p},
                              .n_rivals = 1};
  must(stage_make(&stage, &config, fresh_error()));
  for (uint64_t step = 1; step < stage.n_steps; step++) {
    static Snapshot now;
    stage_snapshot(&stage, step, &now);
    const int kernel = p->ops[now.event.op].kernel;
    bool has_tile = !m->of[kernel];
    for (int64_t j = 0; j < stage.run.plan.T_c && now.event.i >= 0 && !has_tile; j++)
      has_tile = snapshot_tile(&now.grid, now.event.i, j).kind != TILE_SKIPPED;
    check_step(m, &now, has_tile);
  }
  stage_free(&stage);
}

TEST(readers_say_what_the_lines_do) {
  const char *wanted = getenv("READERS_PROGRAMS");
  const int n = wanted ? atoi(wanted) : 150;
  Rand r = {47};
  for (int k = 0; k < n; k++) {
    Maker m;
    static char text[TEXT];
    static Program p;
    made_program(&m, &r, false, text);
    if (program_read(&p, text, strlen(text), "random.walk", fresh_error()))
      fail_msg("%s\n%s", test_error.message, text);
    Shape shape = {
        .N_q = rand_in(&r, 1, 30), .N_k = rand_in(&r, 1, 30), .d = rand_in(&r, 1, 9), .d_v = rand_in(&r, 1, 9)};
    shape.causal = rand_in(&r, 0, 1);
    const Tiling tiling = {.B_r = rand_in(&r, 1, 9), .B_c = rand_in(&r, 1, 9)};
    Plan plan;
    must(plan_make(&plan, &shape, &tiling, NULL));
    check_totals(&m, &p, &plan);
    check_sram(&m, &p, &plan);
    check_steps(&m, &p, &shape, &tiling);
  }
}
