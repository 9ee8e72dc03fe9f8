/* Ring attention: GPUs in a ring, blocks of keys that travel, and who idles.
 *
 *          [GPU 0]--K 3-->[GPU 1]           rank \ step   0   1   2   3
 *             ^              |                   0        0   .   .   .      0: has keys of rank 0; . : all masked
 *             |              v                   1        1   0   .   .
 *          [GPU 3]<--K 1--[GPU 2]                2        2   1   0   .
 *
 * A step of the ring is a beat, as long as its longest block takes; a rank is busy for its own pairs' share of it. The
 * exchange fills the beat: whether a link is that fast, `tilewalk sim --steps` says. The walk is the clock: when it is
 * through, so are all beats. What each rank has, computes and sends is sim/ranks.h's, of all heads. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

typedef struct {
  Ranks ranks;
  Error error;                                  /* the tokens are not shared out so */
  int64_t t;                                    /* the present beat; n at the end */
  double part;                                  /* of it that is over */
  Wide longest[RING_RANKS_MAX];                 /* pairs of each beat's longest block */
  Wide sent_bytes, all_bytes, pairs, all_pairs; /* until the end of the last whole beat, and in all */
  double idle, all_idle;                        /* of the ranks' time */
} Ring;

static Wide pairs_of(const Ring *g, int64_t t, int64_t r) {
  return g->ranks.pieces[ranks_step(&g->ranks, t, r).piece].pairs;
}

static void count(Ring *g) {
  const int64_t n = g->ranks.n;
  Wide beats = 0, all_beats = 0;
  for (int64_t t = 0; t < n; t++) {
    for (int64_t r = 0; r < n; r++) {
      const Wide pairs = pairs_of(g, t, r), bytes = ranks_step(&g->ranks, t, r).sent_bytes;
      if (pairs > g->longest[t]) g->longest[t] = pairs;
      g->all_pairs += pairs, g->all_bytes += bytes;
      if (t < g->t) g->pairs += pairs, g->sent_bytes += bytes;
    }
    all_beats += g->longest[t];
    if (t < g->t) beats += g->longest[t];
  }
  g->idle = beats ? 1 - part_of(g->pairs, wide(n) * beats) : 0;
  g->all_idle = 1 - part_of(g->all_pairs, wide(n) * all_beats);
}

/* With `phase` of the present event, as in SceneView; numbers are those after it all the same. */
static bool make_ring(Ring *g, const Snapshot *now, double phase) {
  Gpu gpu = now->gpu;
  if (gpu.n_sm == 0) gpu_paper(&gpu);
  const Problem problem = {.shape = shape_unpacked(&now->launched), .machine = machine_of_gpu(&gpu)};
  const GpuLink link = {.bytes_per_s = 1, .name = "any"};
  const bool is_said = now->ring.scheme == SCHEME_RING && now->schedule->ranks.is_said && !now->schedule->declares;
  const RanksAsked asked = {.scheme = now->ring.scheme,
                            .n = now->ring.n ? now->ring.n : 4,
                            .problem = &problem,
                            .gpu = &gpu,
                            .link = &link,
                            .program = is_said ? now->schedule : NULL};
  memset(g, 0, sizeof *g);
  if (ranks_make(&g->ranks, &asked, &g->error)) return false;
  const double happened = (double)now->step - (phase > 0 && phase < 1 ? 1 - phase : 0),
               beats = now->n_steps ? fmax(0, happened) / (double)now->n_steps * (double)g->ranks.n : 0;
  g->t = (int64_t)beats;
  g->part = beats - (double)g->t;
  count(g);
  return true;
}

/* ---- Words ------------------------------------------------------------------------------------------------- */

static void tell_who_idles(const Ring *g, Narration *said) {
  const int64_t n = g->ranks.n, t = g->t < n ? g->t : n - 1;
  int64_t idle = 0;
  for (int64_t r = 0; r < n; r++) idle += pairs_of(g, t, r) == 0;
  if (!g->ranks.shape.causal)
    snprintf(said->why, sizeof said->why, "Every block is whole: all ranks have as much to do.");
  else if (g->ranks.scheme != SCHEME_RING)
    snprintf(said->why, sizeof said->why, "Every rank has half a block to do in each step%s.",
             g->ranks.scheme == SCHEME_STRIPED ? ", but for its diagonal" : "");
  else if (t == 0)
    snprintf(said->why, sizeof said->why, "Each rank has its own block, half of which the mask hides.");
  else
    snprintf(said->why, sizeof said->why,
             "%" PRId64 " of %" PRId64 " ranks idle: the mask hides all keys of later ranks from them.", idle, n);
}

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  Ring g;
  (void)memo;
  if (!make_ring(&g, now, 0)) {
    snprintf(said->what, sizeof said->what, "These tokens do not go around a ring.");
    snprintf(said->why, sizeof said->why, "%.*s.", (int)(sizeof said->why - 2), g.error.message);
    return;
  }
  const int64_t n = g.ranks.n;
  char sent[NUMBER_CHARS];
  snprintf(sent, sizeof sent, "%s", number_bytes(g.sent_bytes).text);
  if (g.t < n)
    snprintf(said->what, sizeof said->what, "Step %" PRId64 " of %" PRId64 ": %.40s of %.40s have crossed the links.",
             g.t + 1, n, sent, number_bytes(g.all_bytes).text);
  else
    snprintf(said->what, sizeof said->what, "All %" PRId64 " steps: %.40s crossed the links, idle %.20s.", n, sent,
             number_percent(g.all_idle).text);
  tell_who_idles(&g, said);
}

/* ---- The ring ---------------------------------------------------------------------------------------------- */

static const double TURN = 6.283185307179586;

/* Where the ring lies, and the sizes of what is on it: an ellipse of ranks, and one of keys around it. */
typedef struct {
  double x, y, wide, high, width, height, chip;
} Circle;

static Circle circle_of(const Pen *pen, Box box, int64_t n) {
  const double apart = n > 4 ? sin(TURN / (double)n) : 1;
  Circle c = {.x = box.x + box.width / 2, .y = box.y + box.height / 2};
  c.width = fmin(118 * pen->unit, fmin(0.29 * box.width, 0.42 * box.height) * apart);
  c.height = 0.62 * c.width;
  c.chip = 0.42 * c.width;
  c.wide = box.width / 2 - 0.5 * c.width - 1.4 * c.chip;
  c.high = box.height / 2 - 0.5 * c.height - 1.4 * c.chip;
  c.wide = fmin(c.wide, 1.35 * c.high), c.high = fmin(c.high, 1.35 * c.wide);
  return c;
}

/* Rank 0 at the top, further ones clockwise; keys are beyond the ranks. */
static Box at_rank(const Circle *c, int64_t n, double rank, bool is_keys) {
  const double angle = TURN * (rank / (double)n - 0.25),
               out = is_keys ? (0.75 + 0.4 * fabs(sin(2 * angle))) * c->chip : 0,
               wide = c->wide + (is_keys ? 0.5 * c->width + out : 0),
               high = c->high + (is_keys ? 0.5 * c->height + out : 0), width = is_keys ? c->chip : c->width,
               height = is_keys ? c->chip : c->height;
  return (Box){round(c->x + wide * cos(angle) - width / 2), round(c->y + high * sin(angle) - height / 2), round(width),
               round(height)};
}

static void label(const Pen *pen, Box box, Colour fill, const char *text) {
  const double small = pen_size(pen, TYPE_SMALL);
  if (pen_text_width(pen, TYPE_SMALL, true, text) > box.width - 2 || box.height < small) return;
  pen_text(pen, TYPE_SMALL, theme_on(fill), true, ANCHOR_MIDDLE, box.x + box.width / 2,
           box.y + box.height / 2 + 0.36 * small, 0, text);
}

/* How much of its block a rank has done. */
static double done_part(const Ring *g, int64_t r) {
  if (g->t >= g->ranks.n) return 1;
  const double share = part_of(pairs_of(g, g->t, r), g->longest[g->t]);
  return share > 0 ? fmin(1, g->part / share) : 1;
}

static void draw_rank(const Pen *pen, const Circle *c, const Ring *g, int64_t r) {
  const Theme *t = pen->theme;
  const int64_t n = g->ranks.n;
  const bool is_over = g->t >= n, has_work = !is_over && pairs_of(g, g->t, r) > 0;
  const Box box = at_rank(c, n, (double)r, false);
  const double part = has_work ? done_part(g, r) : is_over;
  const bool idles = !is_over && (!has_work || part >= 1);
  char text[32];
  pen_body(pen, BODY_HOME, (int)r, box, 1);
  pen_state(pen, box, TILE_COLOUR_EMPTY);
  pen_fill(pen, (Box){box.x, box.y, round(box.width * part), box.height}, t->tile[TILE_COLOUR_DONE], 1);
  if (idles && !has_work) pen_hatch(pen, box, theme_mix(t->background, t->axis, 0.75));
  pen_frame(pen, box, idles ? t->axis : t->ink, idles ? 1 : 2);
  const double small = pen_size(pen, TYPE_SMALL);
  snprintf(text, sizeof text, "GPU %" PRId64, r);
  if (pen_text_width(pen, TYPE_SMALL, true, text) > box.width - 4) snprintf(text, sizeof text, "%" PRId64, r);
  const Box name = {box.x + 2, box.y + 0.1 * box.height, box.width - 4, fmax(1.3 * small, 0.4 * box.height)};
  if (name.height < box.height && pen_text_width(pen, TYPE_SMALL, true, text) < name.width) {
    const double width = pen_text_width(pen, TYPE_SMALL, true, text) + 0.5 * small;
    pen_fill(pen, (Box){box.x + box.width / 2 - width / 2, name.y, width, 1.3 * small}, t->background, 1);
    pen_text(pen, TYPE_SMALL, t->ink, true, ANCHOR_MIDDLE, box.x + box.width / 2, name.y + small, 0, text);
  }
  if (!idles || box.height < 3.1 * small) return;
  const double width = pen_text_width(pen, TYPE_SMALL, false, "idle") + 0.5 * small;
  pen_fill(pen, (Box){box.x + box.width / 2 - width / 2, box.y + box.height - 1.5 * small, width, 1.3 * small},
           t->background, 1);
  pen_text(pen, TYPE_SMALL, t->ink, false, ANCHOR_MIDDLE, box.x + box.width / 2, box.y + box.height - 0.5 * small, 0,
           "idle");
}

/* The keys of rank k: where they lie in this beat, and on their way to the next. */
static void draw_keys(const Pen *pen, const Circle *c, const Ring *g, int64_t k) {
  const Theme *t = pen->theme;
  const int64_t n = g->ranks.n, beat = g->t < n ? g->t : n - 1, at = (k + beat) % n;
  const bool moves = g->t + 1 < n && g->part > 0;
  const double from = (double)at, way = g->part * g->part * (3 - 2 * g->part);
  const Colour fill = t->tile[TILE_COLOUR_CURRENT];
  char text[32];
  snprintf(text, sizeof text, "%" PRId64, k);
  if (moves) pen_dashed(pen, at_rank(c, n, from, true), t->axis, 1.2);
  const Box box = at_rank(c, n, from + (moves ? way : 0), true);
  pen_body(pen, BODY_TILE, (int)k, box, 1);
  pen_fill(pen, box, fill, 1);
  pen_frame(pen, box, t->ink, 1);
  label(pen, box, fill, text);
}

static void draw_links(const Pen *pen, const Circle *c, const Ring *g) {
  if (pen->hit || g->ranks.n < 2) return;
  theme_use(pen->cr, pen->theme->axis, 1);
  cairo_set_line_width(pen->cr, fmax(1, 2 * pen->unit));
  cairo_save(pen->cr);
  cairo_translate(pen->cr, c->x, c->y);
  cairo_scale(pen->cr, c->wide, c->high);
  cairo_new_path(pen->cr);
  cairo_arc(pen->cr, 0, 0, 1, 0, TURN);
  cairo_restore(pen->cr);
  cairo_stroke(pen->cr);
}

static void draw_circle(const Pen *pen, Box box, const Ring *g) {
  const Circle c = circle_of(pen, box, g->ranks.n);
  const double small = pen_size(pen, TYPE_SMALL);
  draw_links(pen, &c, g);
  for (int64_t r = 0; r < g->ranks.n; r++) draw_rank(pen, &c, g, r);
  for (int64_t k = 0; k < g->ranks.n; k++) draw_keys(pen, &c, g, k);
  const double room = 2 * (c.wide - 0.6 * c.width);
  char text[4 * NUMBER_CHARS];
  snprintf(text, sizeof text, "K, V of a rank: %s", number_bytes(g->ranks.k_bytes + g->ranks.v_bytes).text);
  if (pen_text_width(pen, TYPE_SMALL, false, text) < room)
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, c.x, c.y - 0.2 * small, 0, text);
  snprintf(text, sizeof text, "%s tokens each", number_count(wide(g->ranks.tokens)).text);
  if (pen_text_width(pen, TYPE_SMALL, false, text) < room)
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, c.x, c.y + 1.2 * small, 0, text);
}

/* ---- Who has which tokens, and which blocks when ------------------------------------------------------------- */

/* The ranks of the parts that all tokens are cut into, of stripes the first ones. */
static int64_t part_owner(const Ranks *k, int64_t part) {
  if (k->scheme == SCHEME_ZIGZAG) return part < k->n ? part : 2 * k->n - 1 - part;
  return part % k->n;
}

static void draw_tokens(const Pen *pen, Box box, const Ring *g) {
  const Ranks *k = &g->ranks;
  const Theme *t = pen->theme;
  const int64_t stripes = k->tokens < 4 ? k->tokens : 4,
                parts = k->scheme == SCHEME_RING ? k->n : k->n * (k->scheme == SCHEME_ZIGZAG ? 2 : stripes);
  const double small = pen_size(pen, TYPE_SMALL), cell = box.width / (double)parts;
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, box.x, box.y + small, box.width,
           k->scheme == SCHEME_STRIPED && k->tokens > stripes ? "First tokens and ranks" : "Tokens and ranks");
  for (int64_t part = 0; part < parts; part++) {
    char text[24];
    const int64_t r = part_owner(k, part);
    const double x = round(box.x + cell * (double)part), end = round(box.x + cell * (double)(part + 1));
    const Colour fill =
        theme_mix(t->tile[TILE_COLOUR_HELD], t->background, k->n > 1 ? 0.6 * (double)r / (double)(k->n - 1) : 0);
    const Box one = {x, box.y + 1.5 * small, end - x - (cell > 6 ? 1 : 0), 1.6 * small};
    pen_fill(pen, one, fill, 1);
    snprintf(text, sizeof text, "%" PRId64, r);
    label(pen, one, fill, text);
  }
}

static void draw_block(const Pen *pen, Box box, const Ring *g, int64_t t, int64_t r) {
  const Theme *theme = pen->theme;
  const RankStep step = ranks_step(&g->ranks, t, r);
  const Wide pairs = g->ranks.pieces[step.piece].pairs;
  const TileColour state = t < g->t ? TILE_COLOUR_DONE : t == g->t ? TILE_COLOUR_CURRENT : TILE_COLOUR_EMPTY;
  const Colour fill = theme->tile[state];
  const Wide whole =
      wide(g->ranks.tokens) * wide(g->ranks.tokens) * wide(g->ranks.shape.batch) * wide(g->ranks.shape.heads);
  char text[24];
  if (!pairs) {
    pen_hatch(pen, box, theme_mix(theme->background, theme->axis, 0.75));
  } else {
    const double high = fmax(1, round(box.height * fmin(1, part_of(pairs, whole))));
    pen_state(pen, (Box){box.x, box.y + box.height - high, box.width, high}, state);
    snprintf(text, sizeof text, "%" PRId64, step.keys_of);
    if (high >= 1.2 * pen_size(pen, TYPE_SMALL))
      label(pen, (Box){box.x, box.y + box.height - high, box.width, high}, fill, text);
  }
  if (box.width > 8) pen_frame(pen, box, t == g->t ? theme->ink : theme->tile[TILE_COLOUR_HELD], t == g->t ? 2 : 1);
}

static void draw_blocks(const Pen *pen, Box box, const Ring *g) {
  static const char HEAD[] = "Blocks, by rank and step; as high as their pairs";
  const int64_t n = g->ranks.n;
  const double small = pen_size(pen, TYPE_SMALL), side = 3.2 * small;
  const double cell = fmin((box.width - side) / (double)n, (box.height - 1.5 * small) / (double)n);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, box.x, box.y + small, 0,
           pen_fitting(pen, box.width, HEAD, "Blocks"));
  if (cell < 3) return;
  for (int64_t r = 0; r < n; r++) {
    char text[24];
    const double y = round(box.y + 1.5 * small + cell * (double)r);
    snprintf(text, sizeof text, "%" PRId64, r);
    if (cell > 1.1 * small)
      pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, box.x + side - 6 * pen->unit,
               y + cell / 2 + 0.36 * small, 0, text);
    for (int64_t t = 0; t < n; t++) {
      const double x = round(box.x + side + cell * (double)t);
      draw_block(pen, (Box){x, y, floor(cell) - (cell > 8 ? 2 : 1), floor(cell) - (cell > 8 ? 2 : 1)}, g, t, r);
    }
  }
}

/* ---- The scene --------------------------------------------------------------------------------------------- */

static void draw_figure(const Pen *pen, Box *box, const char *words, const char *shorter, const char *number) {
  const double small = pen_size(pen, TYPE_SMALL), size = pen_size(pen, TYPE_TITLE), high = 1.4 * small + 1.2 * size;
  if (high > box->height) return;
  const Box row = box_cut_top(box, high, 4 * pen->unit);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, row.x, row.y + small, 0,
           pen_fitting(pen, row.width, words, shorter));
  pen_text(pen, pen_fitting_type(pen, TYPE_TITLE, true, row.width, number), pen->theme->ink, true, ANCHOR_START, row.x,
           row.y + 1.25 * small + size, row.width, number);
}

static void draw_figures(const Pen *pen, Box box, const Ring *g) {
  char words[2 * NUMBER_CHARS];
  Box left = box_cut_left(&box, 0.48 * box.width, 0.04 * box.width);
  snprintf(words, sizeof words, "crossed the links, of %s", number_bytes(g->all_bytes).text);
  draw_figure(pen, &left, words, "links", number_bytes(g->sent_bytes).text);
  snprintf(words, sizeof words, "idle so far, %s in all", number_percent(g->all_idle).text);
  draw_figure(pen, &box, words, "idle", number_percent(g->idle).text);
}

static void draw(const Pen *pen) {
  Ring g;
  Narration said;
  tell(pen->now, pen->view->memo, &said);
  Box body = pen_page_told(pen, "Ring attention", &said);
  if (!make_ring(&g, pen->now, pen->view->phase)) {
    if (pen->view->framed || pen->view->bare) pen_paragraph(pen, TYPE_BODY, pen->theme->ink, body, g.error.message);
    return;
  }
  const double small = pen_size(pen, TYPE_SMALL);
  Box side = box_cut_side(pen, &body, 0.42, 0.5, 24 * pen->unit);
  draw_circle(pen, body, &g);
  const Box figures = box_cut_bottom(&side, 1.4 * small + 1.25 * pen_size(pen, TYPE_TITLE), 10 * pen->unit);
  draw_tokens(pen, box_cut_top(&side, 3.4 * small, 12 * pen->unit), &g);
  draw_blocks(pen, side, &g);
  draw_figures(pen, figures, &g);
}

const Scene RING_SCENE = {
    .title = "Ring attention: blocks that travel, and who idles", .key = 'R', .draw = draw, .narrate = tell};
