/* A law of each scene (Many's: test_many.c), at every step of the shipped programs and of random ones (at night 400):
 * what is drawn is what the events have moved, what lies on chip, what the row holds, what the lanes leave free, what
 * is asked of a bank. */
#include "tests/support/test.h"

#include "sim/numbers/program_check.h"
#include "tests/support/mutate_program.h"
#include "tests/support/open_gpu.h"
#include "tests/support/own_programs.h"
#include "tests/support/scene_hits.h"
#include "tests/support/canvas.h"
#include "viz/scene/score_table.h"
#include "viz/scene/time_lanes.h"

typedef struct {
  char where[64];
  Snapshot now;
  Piles piles;
  PileMoment pile; /* before this step */
  SceneBodies bodies;
  cairo_t *cr;
} Walked;

static int n_bars;
static cairo_t *walked_cr;

static void fails(const Walked *w, const char *why) { fail_msg("%s, step %d: %s", w->where, (int)w->now.step, why); }

static void draw(Walked *w, SceneKind scene) {
  const SceneView view = {.bodies = &w->bodies};
  w->bodies.n = 0;
  scene_draw(scene, &w->now, &view, w->cr, 2560, 1440, &theme_light);
}

/* Squares x unit are the bytes of their class, which never fall; no cell is lit that nobody comes to. */
static void piles_hold_what_moved(Walked *w) {
  const Snapshot *now = &w->now;
  const Pile *p = &w->piles.piles[snapshot_own_run(now) - now->runs];
  PileMoment m;
  ScoreTable table = {0};
  Wide between = 0, squares[PILE_CLASSES] = {0};
  pile_at_step(p, now->step, 0, &m);
  for (int t = 0; t < now->schedule->n_tensors; t++)
    if (now->schedule->tensors[t].role == TENSOR_BETWEEN) between += now->traffic.read[t] + now->traffic.write[t];
  if (m.bytes[0] + m.bytes[1] + m.bytes[2] != (double)(now->total_bytes * wide(p->n))) fails(w, "bytes are lost");
  if (!now->schedule->splits && m.bytes[PILE_BETWEEN] != (double)(between * wide(p->n))) fails(w, "what lies between");
  for (int k = 0; k < p->n_squares; k++) squares[p->squares[k]]++;
  for (int c = 0; c < PILE_CLASSES; c++) {
    if (m.bytes[c] < w->pile.bytes[c]) fails(w, "a class falls");
    if (m.bytes[c] > (double)(squares[c] * w->piles.unit)) fails(w, "there are too few squares");
    if (now->step == now->n_steps && m.bytes[c] + (double)w->piles.unit <= (double)(squares[c] * w->piles.unit))
      fails(w, "there are too many squares");
  }
  table_of_pile(&table, p, &m);
  for (int i = 0; i < p->rows; i++)
    for (int j = 0; j < p->columns; j++)
      if ((m.burnt[i][j] > 0 || table.glow[i][j] > 0) && (table.is_never[i][j] || !p->is_visited[i][j]))
        fails(w, "a hidden cell is lit");
  w->pile = m;
}

/* Tiles that are drawn on chip are those that the slots hold, but m and l, and their areas are bytes. */
static void walk_draws_the_slots(Walked *w) {
  const Snapshot *now = &w->now;
  const Schedule *s = now->schedule;
  double drawn[PROGRAM_NAMES_MAX] = {0}, bytes[PROGRAM_NAMES_MAX] = {0}, most = 0, scale = 0;
  draw(w, SCENE_WALK);
  for (int k = 0; k < s->n_values; k++)
    if (now->slots[k].is_filled && !s->tensors[k].is_stats)
      bytes[now->slots[k].tensor] = (double)now->slots[k].held_bytes;
  for (int b = 0; b < w->bodies.n; b++)
    if (w->bodies.bodies[b].kind == BODY_TILE)
      drawn[w->bodies.bodies[b].tensor] = w->bodies.bodies[b].width * w->bodies.bodies[b].height;
  for (int k = 0; k < s->n_values; k++) /* the scale from the largest, which is rounded least */
    if (bytes[k] > most) most = bytes[k], scale = drawn[k] / most;
  for (int k = 0; k < s->n_values; k++)
    if ((drawn[k] > 0) != (bytes[k] > 0) ||
        fabs(drawn[k] - scale * bytes[k]) > 0.04 * scale * bytes[k] + 4 * sqrt(scale * bytes[k]))
      fails(w, s->tensors[k].title);
}

/* "× 0.37": what the picture says that shrinks O; NAN: nothing does. */
static void take_factor(void *data, cairo_t *cr, const LetterPiece *piece) {
  (void)cr;
  if (strncmp(piece->text, "× ", strlen("× ")) == 0) *(double *)data = strtod(piece->text + strlen("× "), NULL);
}

/* Bars are e^(s - m), of the scores in order; beside them O's, scaled by what a larger score makes of all before it,
 * and the picture says by how much. */
static void bars_are_exponentials(Walked *w) {
  const SnapshotRow *r = &w->now.row;
  double top = 0, said = NAN, largest = 0, l = 0;
  int n = 0;
  const bool is_online = w->now.schedule == schedule_find("fa2");
  if (!w->now.roles.is_softmax || r->row < 0 || r->phase < ROW_SCORES || r->phase == ROW_FINISHED ||
      !isfinite(r->m_old))
    return;
  letter_set_tap(cairo_get_target(w->cr), take_factor, &said);
  draw(w, SCENE_SOFTMAX);
  letter_set_tap(cairo_get_target(w->cr), NULL, NULL);
  for (int b = 0; b < w->bodies.n; b++) top = fmax(top, w->bodies.bodies[b].height);
  for (int64_t k = 0; k < w->now.line.n; k++) {
    if (!isfinite(w->now.line.scores[k])) continue;
    const double bar = w->bodies.bodies[n++].height / top,
                 part = exp(w->now.line.scores[k] - (r->phase >= ROW_RESCALED ? r->m_new : r->m_old));
    if (fabs(fmin(1, part) - bar) > 2 / top) fails(w, "a bar is no e^(s - m)");
    n_bars++;
  }
  for (int64_t k = 0; k < w->now.line.n_past; k++) l += exp(w->now.line.scores[k] - r->m_old);
  if (is_online && w->now.line.first == 0 && fabs(l - r->l_old) > 1e-3 * l) fails(w, "l is not the sum so far");
  if (r->phase != ROW_RESCALED) return;
  const double factor = exp(r->m_old - r->m_new);
  for (int k = 0; k < r->n_O; k++) largest = fmax(largest, fmax(fabs(r->O_old[k]), fabs(r->O[k])));
  for (int k = 0; is_online && k < r->n_O; k++)
    if (fabs(r->O_old[k] * factor - r->O[k]) > 1e-3 * largest) fails(w, "O was another");
  for (int k = 0; k < r->n_O && largest > 0; k++)
    if (fabs(fabs(r->O_old[k]) * factor / largest - w->bodies.bodies[n + k].height / top) > 2 / top)
      fails(w, "a bar of O is not what is left of it");
  if (factor < 1 && !(fabs(said - factor) <= 0.05 * factor)) fails(w, "the factor is not said"); /* two digits */
}

/* A lane does one thing at a time, and what is idle is what lies between the products drawn. */
static void idle_is_the_gaps(Walked *w) {
  TimeLanes l;
  time_lanes(&w->now, 1 + (int)(w->now.step % 2), (double)(w->now.step % 3) / 3, &l);
  double gaps = 0, free_at[TIME_LANES];
  for (int k = 0; k < TIME_LANES; k++) free_at[k] = l.from;
  if (l.at < l.from || l.at > l.to) fails(w, "the line is not in the picture");
  for (const TimeBar *bar = l.bars; bar < l.bars + l.n_bars; bar++) {
    if (bar->begin < free_at[bar->lane] - 1e-9 * l.to || bar->end > l.to || bar->end <= bar->begin)
      fails(w, "two at once");
    if (bar->lane == l.n_lanes - 1) gaps += bar->begin - free_at[bar->lane];
    free_at[bar->lane] = bar->end;
  }
  gaps += l.to - free_at[l.n_lanes - 1];
  if (l.idle >= 0 && l.to > l.from && fabs(gaps / (l.to - l.from) - l.idle) > 1e-9) fails(w, "idle is not the gaps");
}

/* "16", "of 16 passes", of the plain rows first. */
typedef struct {
  int done[2], of[2], n;
} Passes;

static void take_passes(void *data, cairo_t *cr, const LetterPiece *piece) {
  Passes *p = data;
  char *end;
  const long number = strtol(piece->text, &end, 10);
  (void)cr;
  if (end > piece->text && !*end) p->done[p->n % 2] = (int)number;
  if (sscanf(piece->text, "of %d pass", &p->of[p->n % 2]) == 1) p->n++;
}

/* A block of K that has come waits; the event that multiplies by it has gone through all passes. */
static void passes_are_of_the_event(Walked *w, int passes) {
  const Snapshot *now = &w->now;
  const bool came = now->has_event && now->event.kind == EVENT_LOAD && now->event.tensor == snapshot_operand(now, 1),
             read = now->has_event && now->event.kind == EVENT_PRODUCT && now->schedule == schedule_find("fa2");
  Passes p = {{0}, {0}, 0};
  letter_set_tap(cairo_get_target(w->cr), take_passes, &p);
  draw(w, SCENE_BANK);
  letter_set_tap(cairo_get_target(w->cr), NULL, NULL);
  if (p.n != 2 || p.of[0] != passes) fails(w, "no passes are drawn");
  for (int k = 0; k < 2; k++)
    if ((p.done[k] && p.done[k] != p.of[k]) || (came && now->roles.operands[1] && p.done[k]) || (read && !p.done[k]))
      fails(w, "passes drawn");
}

/* Lane n asks for word n x row: banks that come again after 32 / (the power of two in row) lanes. */
static void passes_are_the_longest_column(Walked *w) {
  Narration said;
  unsigned long long row = 0;
  unsigned passes = 0;
  scene_narrate(SCENE_BANK, &w->now, NULL, &said);
  if (sscanf(said.what, "32 lanes read a column of K, a row of %llu bytes each: %u pass", &row, &passes) != 2)
    fails(w, "no passes are said");
  const unsigned long long even = row / 4 & -(row / 4);
  if (passes != (even < 32 ? even : 32)) fails(w, "passes");
  passes_are_of_the_event(w, (int)passes);
}

static void (*const LAWS[SCENE_COUNT])(Walked *) = {[SCENE_WALK] = walk_draws_the_slots,
                                                    [SCENE_SOFTMAX] = bars_are_exponentials,
                                                    [SCENE_TIME] = idle_is_the_gaps,
                                                    [SCENE_PILES] = piles_hold_what_moved,
                                                    [SCENE_BANK] = passes_are_the_longest_column};

static void walk_program(const Schedule *schedule, Rand *r, int number) {
  static Walked w;
  Stage stage = {0};
  StageConfig config = {
      .problem = {.shape = {.N_q = rand_in(r, 1, 16), .d = rand_in(r, 1, 9), .causal = rand_in(r, 0, 1)},
                  .tiling = {.B_r = rand_in(r, 3, 8), .B_c = rand_in(r, 3, 8)},
                  .machine = machine_paper()},
      .schedule = schedule,
      .rivals = {schedule},
      .n_rivals = 1,
      .seed = (uint64_t)number};
  config.problem.shape.N_k = rand_in(r, 0, 1) ? config.problem.shape.N_q : rand_in(r, 1, 16);
  gpu_paper(&config.gpu);
  if (number % 2) config.gpu = open_gpu("h200");
  w = (Walked){.cr = walked_cr};
  snprintf(w.where, sizeof w.where, "program %d, %s", number, schedule->name);
  if (stage_make(&stage, &config, NULL) == STATUS_OK) {
    stage_snapshot(&stage, 0, &w.now);
    piles_make(&w.piles, &w.now, PILES_ALL);
    for (uint64_t step = 0; step <= stage.n_steps; step++) {
      stage_snapshot(&stage, step, &w.now);
      for (int scene = 0; scene < SCENE_COUNT; scene++)
        if (LAWS[scene]) LAWS[scene](&w);
    }
    piles_free(&w.piles);
  }
  stage_free(&stage);
}

/* A shipped program of which three lines are said in other words is one that nobody has seen; some are refused. */
TEST(laws_hold_at_every_step) {
  static const char *const OWN[] = {OWN_REVERSED, OWN_FUSED, OWN_GROUPED, OWN_COLUMNS, OWN_SUMS};
  const int n = test_depth() > 1 ? 400 : 8;
  static Program edited;
  char text[PROGRAM_TEXT_BYTES];
  int n_rewritings = 0;
  Rand r = {66};
  while (MUTATE_REWRITINGS[n_rewritings][0]) n_rewritings++;
  walked_cr = canvas(CAIRO_FORMAT_A8, 1, 1);
  for (int k = 0; k < N_PROGRAMS; k++) walk_program(SCHEDULES[k], &r, k);
  for (int k = 0; k < 2 * (int)COUNT_OF(OWN); k++) {
    Program *p = own_program(OWN[k / 2]);
    walk_program(p, &r, k);
    free(p);
  }
  for (int k = 0, at = 0; k < n; at++) {
    strcpy(text, SCHEDULES[at % N_PROGRAMS]->text);
    for (int line = 0; line < 3; line++) {
      const char *const *words = MUTATE_REWRITINGS[rand_in(&r, 0, n_rewritings - 1)];
      mutate_replace(text, words[0], words[1], 0);
    }
    if (program_read(&edited, ALL_OF(text), "edited.walk", NULL) || !program_verdict(&edited, NULL).is_right) continue;
    walk_program(&edited, &r, k++);
  }
  assert_true(n_bars > 1000);
  cairo_destroy(walked_cr);
}
