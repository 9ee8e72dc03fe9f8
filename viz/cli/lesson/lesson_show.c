/* Pictures of a lesson as text. Part of viz/cli/lesson/lesson_print.h. */

#include "sim/base/random.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/lesson/lesson_player.h"

enum {
  GRID_MAX = 16,
  EVENTS_READ = 16,
  EVENTS_SHOWN = 24,
  SCORES_DEFAULT = 8,
  BLOCK_DEFAULT = 4,
  WALK_MAX = 100000,
  WORDS_BYTES = 4096
};

typedef struct {
  Request request;
  Problem problem;
  Gpu gpu; /* of the problem; without an L2: none is named */
  Simulation runs[REQUEST_ALGORITHMS_MAX];
  int n_runs;
} Scene;

static Status prepare(Scene *s, const char *state, Error *error) {
  Status status = request_read(&s->request, state, true, error);
  if (!status) status = request_algorithms(&s->request, REQUEST_ONE, error);
  if (!status) status = request_problem(&s->request, &s->problem, &s->gpu, error);
  for (s->n_runs = 0; s->n_runs < s->request.n_algorithms && !status; s->n_runs++)
    status = simulate(&s->runs[s->n_runs], &s->problem, s->request.algorithms[s->n_runs], error);
  return status;
}

/* ---- Tiles */

typedef struct {
  int order[GRID_MAX][GRID_MAX]; /* 0: not reached */
  uint8_t kind[GRID_MAX][GRID_MAX];
  int n;
  int64_t T_r, T_c;
  Traffic traffic;
} Grid;

/* What the events of the show do with each tile, and in which order. */
static void walk_grid(const Simulation *run, const LessonShow *show, Grid *g) {
  *g = (Grid){.T_r = run->plan.T_r < GRID_MAX ? run->plan.T_r : GRID_MAX,
              .T_c = run->plan.T_c < GRID_MAX ? run->plan.T_c : GRID_MAX};
  Cursor cursor = {0};
  Event e;
  for (int64_t k = 0; k < WALK_MAX && schedule_next(run->schedule, &run->plan, &cursor, &e); k++) {
    if (show->has_steps && (int64_t)e.step > show->last) break;
    traffic_add(&g->traffic, run->schedule, &e);
    if (e.i < 0 || e.j < 0 || e.i >= GRID_MAX || e.j >= GRID_MAX) continue;
    if (run->schedule->ops[e.op].counts_tile && g->order[e.i][e.j] == 0) g->order[e.i][e.j] = ++g->n;
    if (e.kind == EVENT_SKIP) g->order[e.i][e.j] = -1;
    g->kind[e.i][e.j] = e.tile;
  }
}

static void print_cell(const Grid *g, int64_t i, int64_t j, Io *io) {
  const int order = g->order[i][j];
  if (order < 0)
    io_print(io, ROLE_DIM, "%6s", "skip");
  else if (order == 0)
    io_print(io, ROLE_DIM, "%6s", ".");
  else if (g->kind[i][j] == TILE_PARTIAL)
    io_print(io, ROLE_WARN, "%5d/", order);
  else
    io_print(io, ROLE_ACCENT, "%6d", order);
}

static void print_grid(const Simulation *run, const LessonShow *show, Io *io) {
  Grid own, *const g = &own;
  bool overflow = false; /* cannot happen within so few events */
  walk_grid(run, show, g);
  text_say(io->out, "%s: tiles of %jd x %jd, numbered as they are computed\n\n%9s", run->schedule->title,
           run->plan.tiling.B_r, run->plan.tiling.B_c, "");
  for (int64_t j = 0; j < g->T_c; j++) fprintf(io->out, "%*c%jd", j < 10 ? 6 : 5, 'K', j);
  io_end_line(io);
  for (int64_t i = 0; i < g->T_r; i++) {
    fprintf(io->out, "  Q%-6jd", i);
    for (int64_t j = 0; j < g->T_c; j++) {
      fputc(' ', io->out);
      print_cell(g, i, j, io);
    }
    io_end_line(io);
  }
  if (g->T_r < run->plan.T_r || g->T_c < run->plan.T_c)
    fprintf(io->out, "  (the first %jd x %jd of %jd x %jd tiles)\n", g->T_r, g->T_c, run->plan.T_r, run->plan.T_c);
  fprintf(io->out,
          "\n  %s full, %s masked in part (/), %s skipped\n"
          "  %s read and %s written in these %s events\n",
          number_count(wide((int64_t)g->traffic.tiles[TILE_FULL])).text,
          number_count(wide((int64_t)g->traffic.tiles[TILE_PARTIAL])).text,
          number_count(wide((int64_t)g->traffic.tiles[TILE_SKIPPED])).text,
          number_bytes(traffic_read_bytes(&g->traffic, &overflow)).text,
          number_bytes(traffic_write_bytes(&g->traffic, &overflow)).text,
          number_count(wide((int64_t)g->traffic.steps)).text);
}

/* ---- Events */

static const char *shown_name(const Schedule *s, int tensor) {
  return s->tensors[tensor].is_stats ? "m, l" : s->tensors[tensor].text;
}

static void print_event(const Schedule *s, const Event *e, Io *io) {
  text_say(io->out, "  %6ju  %-12s", e->step, event_kind_name((EventKind)e->kind));
  const bool moves = e->bytes > 0;
  text_say(io->out, "%-6s", moves ? shown_name(s, e->tensor) : "");
  if (e->i >= 0) fprintf(io->out, " i=%-4jd", e->i);
  if (e->j >= 0) fprintf(io->out, " j=%-4jd", e->j);
  if (moves) fprintf(io->out, "  %s", number_bytes(wide((int64_t)e->bytes)).text);
  io_end_line(io);
}

static void print_events(const Simulation *run, const LessonShow *show, Io *io) {
  const Wide n = schedule_n_steps(run->schedule, &run->plan);
  const int64_t first = show->has_steps ? show->first : 0;
  Cursor cursor = {0};
  Event e;
  text_say(io->out, "%s, event by event\n", run->schedule->title);
  if (!schedule_seek(run->schedule, &run->plan, &cursor, (uint64_t)first)) return;
  int64_t shown = 0;
  while (shown < EVENTS_SHOWN && schedule_next(run->schedule, &run->plan, &cursor, &e)) {
    if (show->has_steps && (int64_t)e.step > show->last) break;
    print_event(run->schedule, &e, io);
    shown++;
  }
  if ((Wide)(uint64_t)(first + shown) < n) fprintf(io->out, "  ... %s events in all\n", number_count(n).text);
}

/* ---- Traffic */

/* Where a GPU is named, what HBM delivers of it stands below. */
static Status print_traffic(Scene *s, Io *io, Error *error) {
  Status status = STATUS_OK;
  const BarsConfig config = {.n_series = 2, .series = {"read", "written"}, .kind = VALUE_BYTES};
  Bars bars = bars_new(&config);
  for (int k = 0; k < s->n_runs; k++) {
    Simulation *r = &s->runs[k];
    bars_group(&bars, r->schedule->title);
    for (int tensor = 0; tensor < r->schedule->n_tensors; tensor++) {
      const double values[] = {(double)r->traffic.read[tensor], (double)r->traffic.write[tensor]};
      char label[16];
      snprintf(label, sizeof label, "  %s", shown_name(r->schedule, tensor));
      if (values[0] + values[1] > 0) bars_row(&bars, label, values, NULL);
    }
    if (r->machine.l2_bytes > 0 && !status) status = simulation_l2(r, &s->problem, &s->gpu, error);
    if (!status && r->has_l2) bars_row(&bars, "  HBM reads", (const double[]){r->l2.hbm_read_bytes, 0}, NULL);
  }
  if (!status) status = bars_print(&bars, io->out, &io->style, error);
  bars_free(&bars);
  return status;
}

/* ---- Softmax */

static void print_softmax_step(const double *scores, const SoftmaxStep *s, Io *io) {
  FILE *const out = io->out;
  fputs("  scores ", out);
  for (int64_t k = 0; k < s->n; k++) fprintf(out, "%s%g", k ? ", " : "", scores[s->first + k]);
  fprintf(out, "\n    m = %g", s->m_new);
  if (s->block == 0)
    fputs("   nothing to rescale yet", out);
  else if (s->m_new == s->m_old)
    fputs("   m stays, so the factor is 1", out);
  else
    text_print(out, &io->style, ROLE_ACCENT, "   factor e^(%g - %g) = %.4f", s->m_old, s->m_new, s->factor);
  if (s->block == 0)
    fprintf(out, "\n    l = %.4f\n", s->l_new);
  else
    fprintf(out, "\n    l = %.4f x %.4f + %.4f = %.4f\n", s->l_old, s->factor, s->block_sum, s->l_new);
}

static void print_softmax(const LessonShow *show, int64_t seed, Io *io) {
  const SoftmaxConfig config = {0};
  double scores[LESSON_SCORES_MAX];
  int64_t n = show->n_scores;
  memcpy(scores, show->scores, sizeof scores);
  for (; n == 0 || (show->n_scores == 0 && n < SCORES_DEFAULT); n++)
    scores[n] = round(10 * random_normal((uint64_t)seed, 0, (uint64_t)n)) / 10;
  const int64_t block = show->block ? show->block : BLOCK_DEFAULT;
  SoftmaxState state = softmax_start(&config);
  for (int64_t first = 0; first < n; first += block) {
    const int64_t size = n - first < block ? n - first : block;
    const SoftmaxStep step = softmax_step(&config, &state, scores + first, size, NULL, 0, NULL, NULL);
    if (show->has_steps && (step.block < show->first || step.block > show->last)) continue;
    print_softmax_step(scores, &step, io);
  }
}

/* ---- In words */

/* Of a scene without a picture in text: a line, what the window says of it in the last step; of splits
 * halfway, when all parts are read. */
static Status print_words(Scene *s, const LessonShow *show, Io *io, Error *error) {
  Stage stage;
  Snapshot now = {0};
  char text[WORDS_BYTES];
  const Status status = request_stage(&s->request, &stage, error);
  if (!status) {
    const uint64_t n = stage.n_steps;
    stage_snapshot(&stage, stage.run.plan.tiling.n_splits > 1 ? n / 2 : n - (n > 0), &now);
    scene_describe(show->scene, &now, NULL, text, sizeof text);
    char *end = strrchr(text, '\n');
    if (end) *end = '\0';
    const char *last = strrchr(text, '\n');
    io_paragraph(io, ROLE_PLAIN, 2, last ? last + 1 : text);
  }
  stage_free(&stage);
  return status;
}

/* ---- A scene */

Status lesson_print_show(const char *state, const LessonShow *show, Io *io, Error *error) {
  Scene s = {0};
  char lines[WARP_LINES_BYTES];
  const bool walks = show->scene == SCENE_WALK; /* a few of its events are read one by one */
  const bool reads = show->scene == SCENE_TIME || (walks && show->has_steps && show->last - show->first < EVENTS_READ);
  Status status = prepare(&s, state, error);
  if (status) return status;
  lesson_warp_lines(show, lines, sizeof lines);
  if (*lines) text_say(io->out, "%s\n", lines);
  for (int k = 0; k < s.n_runs && (walks || reads); k++) {
    if (k > 0) io_end_line(io);
    (reads ? print_events : print_grid)(&s.runs[k], show, io);
  }
  if (walks || show->scene == SCENE_PILES) status = print_traffic(&s, io, error);
  if (show->scene == SCENE_SOFTMAX) print_softmax(show, s.request.seed, io);
  if (show->scene == SCENE_MANY) status = print_words(&s, show, io, error);
  return status;
}
