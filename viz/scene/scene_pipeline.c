/* The pipeline of one CTA as it was measured on an H100, around a playhead: tensor cores, warpgroups, the producer and
 * its ring, and above them all of the CTA.
 *
 *     whole CTA     ▐▌▐▌▐▌▐▌[▐▌]▐▌▐▌▐▌▐▌ ▐▌      the frame is what stands below
 *     tensor cores  ▐ A ▐ B ▐ idle  ▐ A          not stamped: at peak rate
 *     warpgroup A   ▐prod▐ softmax  ▐rd▐wait     stamps
 *     slot K, V     empty, on its way, there     the producer's stamps
 *
 * The run's step says where the playhead is: at the same part of the CTA. Zoom 0 shows a tile, 1 a row block, 2 the
 * whole CTA, 3 a tile at d = 128 beside one at d = 64, on one scale. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/algorithms/schedule.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

/* ---- In words -------------------------------------------------------------------------------------------- */

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  const Pipeline *p = now->pipeline;
  memset(said, 0, sizeof *said);
  if (!p) {
    snprintf(said->what, sizeof said->what, "No pipeline was recorded for d = %" PRId64 ".", now->grid.d);
    snprintf(said->why, sizeof said->why, "Stamps are of d = 64 and 128; scene timeline of fa3 has lanes by rates.");
    return;
  }
  if (now->zoom > 2.5 && now->other_pipeline) {
    const Pipeline *wide = p->d > now->other_pipeline->d ? p : now->other_pipeline,
                   *narrow = wide == p ? now->other_pipeline : p;
    snprintf(said->what, sizeof said->what, "At d = %d the tensor cores are idle for %.16s, at %d for %.16s.",
             narrow->d, number_percent(narrow->idle).text, wide->d, number_percent(wide->idle).text);
    const char *group = strcmp(p->kernel->group, "CTA") == 0 ? "CTA" : "warpgroup";
    if (narrow->product_cycles == wide->product_cycles)
      snprintf(said->why, sizeof said->why, "A %s's products of a tile take %.16s cycles at either.", group,
               number_count((Wide)narrow->product_cycles).text);
    else
      snprintf(said->why, sizeof said->why, "A %s's products of a tile take %.16s cycles there, and %.16s here.", group,
               number_count((Wide)narrow->product_cycles).text, number_count((Wide)wide->product_cycles).text);
    return;
  }
  int most = 1;
  for (int n = 1; n <= p->n_groups; n++)
    if (p->idle_in_softmax[n] > p->idle_in_softmax[most]) most = n;
  const Number idle = number_percent(p->idle),
               part = number_percent(p->idle > 0 ? p->idle_in_softmax[most] / p->idle : 0);
  snprintf(said->what, sizeof said->what, "The tensor cores are idle for %.16s of the time.", idle.text);
  char groups[40];
  const char *group = strcmp(p->kernel->group, "CTA") == 0 ? "CTA" : "warpgroup";
  if (most == 1)
    snprintf(groups, sizeof groups, "one %s is", group);
  else if (most < p->n_groups)
    snprintf(groups, sizeof groups, "%d %ss are", most, group);
  else
    snprintf(groups, sizeof groups, "%s %ss are", most == 2 ? "both" : "all", group);
  snprintf(said->why, sizeof said->why, "In %.16s of that %s %s.", part.text, groups,
           schedule_owns_columns(now->schedule) ? "making P or dS" : "in softmax or round P");
}

/* ---- Where it lies --------------------------------------------------------------------------------------- */

typedef struct {
  const Pen *pen;
  const Pipeline *p;
  double at, from, to;    /* cycles: the playhead, and what the lanes show */
  double names, x, width; /* of the lanes */
} Lanes;

static double x_of(const Lanes *l, double cycles) { return l->x + l->width * (cycles - l->from) / (l->to - l->from); }

/* A piece of a lane, as far as it is seen; its word where there is room. */
/* Where a word has room in [*left, *right): on the larger side of the playhead. */
static void leave_playhead(const Lanes *l, double *left, double *right) {
  const double head = x_of(l, l->at), half = 3 * l->pen->unit;
  if (head + half <= *left || head - half >= *right) return;
  if (head - *left > *right - head)
    *right = head - half;
  else
    *left = head + half;
}

static void draw_piece(const Lanes *l, Box lane, double begin, double end, Colour colour, const char *word, bool bold) {
  const Pen *pen = l->pen;
  double left = fmax(l->x, x_of(l, begin)), right = fmin(l->x + l->width, x_of(l, end));
  const double gap = right - left > 6 ? 2 : 0, size = pen_size(pen, TYPE_SMALL);
  if (right - left < 0.5) return;
  pen_fill(pen, (Box){left, lane.y, right - left - gap, lane.height}, colour, 1);
  leave_playhead(l, &left, &right);
  if (word && lane.height > 1.2 * size && pen_text_width(pen, TYPE_SMALL, bold, word) + 8 * pen->unit < right - left)
    pen_text(pen, TYPE_SMALL, theme_on(colour), bold, ANCHOR_MIDDLE, (left + right) / 2,
             lane.y + lane.height / 2 + 0.36 * size, 0, word);
}

/* The last word alone where the whole has no room. */
static void draw_name(const Lanes *l, Box lane, const char *name) {
  const Pen *pen = l->pen;
  const double room = l->names - 8 * pen->unit;
  const char *last = strrchr(name, ' ');
  if (last && pen_text_width(pen, TYPE_SMALL, true, name) > room) name = last + 1;
  pen_text(pen, TYPE_SMALL, pen->theme->ink, true, ANCHOR_START, lane.x,
           lane.y + lane.height / 2 + 0.36 * pen_size(pen, TYPE_SMALL), room, name);
}

/* A is blue, B light blue, C between that and the ground. */
static Colour group_colour(const Pen *pen, int group) {
  const Theme *t = pen->theme;
  return group == 0   ? t->tile[TILE_COLOUR_DONE]
         : group == 1 ? t->tile[TILE_COLOUR_PARTIAL]
                      : theme_mix(t->background, t->tile[TILE_COLOUR_PARTIAL], 0.45);
}

static Colour phase_colour(const Pen *pen, const PipelineSpan *s) {
  const Theme *t = pen->theme;
  switch (s->phase) {
  case PHASE_PRODUCTS: return group_colour(pen, s->group);
  case PHASE_SOFTMAX: return t->tile[TILE_COLOUR_CURRENT];
  case PHASE_ROUND: return theme_mix(t->background, t->tile[TILE_COLOUR_CURRENT], 0.4);
  default: return t->grid;
  }
}

/* ---- Lanes ------------------------------------------------------------------------------------------------- */

static void draw_tensor_cores(const Lanes *l, Box lane) {
  const Pen *pen = l->pen;
  const Box ground = {l->x, lane.y, l->width, lane.height};
  draw_name(l, lane, "Tensor cores");
  cairo_new_path(pen->cr);
  cairo_rectangle(pen->cr, ground.x, ground.y, ground.width, ground.height);
  pen_hatch_path(pen, ground, pen->theme->background, pen->theme->axis);
  for (int k = 0; k < l->p->n_tensor; k++) {
    const PipelineSpan *s = &l->p->tensor[k];
    const char word[] = {'p', 'r', 'o', 'd', 'u', 'c', 't', 's', ' ', 'o', 'f', ' ', (char)('A' + s->group), '\0'};
    if ((double)s->end < l->from || (double)s->begin > l->to) continue;
    draw_piece(l, lane, (double)s->begin, (double)s->end, group_colour(pen, s->group), word, true);
    pen_body(pen, BODY_TILE, 0, (Box){x_of(l, (double)s->begin), lane.y, 20, lane.height}, 1);
    const double next = k + 1 < l->p->n_tensor ? (double)l->p->tensor[k + 1].begin : l->to;
    double left = fmax(l->x, x_of(l, (double)s->end)), right = fmin(l->x + l->width, x_of(l, next));
    leave_playhead(l, &left, &right);
    const double size = pen_size(pen, TYPE_SMALL),
                 width = pen_text_width(pen, TYPE_SMALL, true, "idle") + 12 * pen->unit;
    if (right - left < width + 8 * pen->unit) continue;
    pen_fill(pen, box_at((left + right - width) / 2, lane.y + lane.height / 2 - 0.8 * size, width, 1.6 * size),
             pen->theme->background, 1);
    pen_text(pen, TYPE_SMALL, pen->theme->ink, true, ANCHOR_MIDDLE, (left + right) / 2,
             lane.y + lane.height / 2 + 0.36 * size, 0, "idle");
  }
}

static void draw_group(const Lanes *l, Box lane, int group) {
  char name[24];
  snprintf(name, sizeof name, "%s %c", l->p->kernel->group, 'A' + group);
  draw_name(l, lane, name);
  pen_fill(l->pen, (Box){l->x, lane.y, l->width, lane.height}, l->pen->theme->panel, 1);
  for (int k = 0; k < l->p->n_spans; k++) {
    const PipelineSpan *s = &l->p->spans[k];
    if (s->group != group || (double)s->end < l->from || (double)s->begin > l->to) continue;
    draw_piece(l, lane, (double)s->begin, (double)s->end, phase_colour(l->pen, s), s->word, s->phase <= PHASE_SOFTMAX);
  }
}

/* A slot over time: outlined is empty, pale amber on its way, grey holds data. */
static void draw_slot(const Lanes *l, Box lane, int slot) {
  const Pen *pen = l->pen;
  const Theme *t = pen->theme;
  char name[24];
  snprintf(name, sizeof name, "slot %d: %s", slot, l->p->kernel->slots[slot % 2]);
  draw_name(l, lane, name);
  pen_state(pen, (Box){l->x, lane.y, l->width, lane.height}, TILE_COLOUR_EMPTY);
  const int steps = (int)fmin(l->width / 2, 600);
  PipelineSlot before = SLOT_EMPTY;
  double since = l->from;
  for (int k = 0; k <= steps; k++) {
    const double at = l->from + (l->to - l->from) * k / steps;
    const PipelineSlot is = at < 0 ? SLOT_EMPTY : pipeline_slot(l->p, slot, (int64_t)at);
    if (k < steps && is == before) continue;
    if (before != SLOT_EMPTY)
      draw_piece(l, lane, since, at,
                 before == SLOT_LOADING ? theme_mix(t->background, t->tile[TILE_COLOUR_CURRENT], 0.75)
                                        : t->tile[TILE_COLOUR_HELD],
                 before == SLOT_LOADING ? "on its way" : "there", false);
    before = is;
    since = at;
  }
}

/* All of the CTA, and the frame of what stands below. */
static void draw_whole(const Lanes *l, Box lane) {
  const Pen *pen = l->pen;
  const Pipeline *p = l->p;
  const double scale = l->width / (double)(p->end > 0 ? p->end : 1);
  draw_name(l, lane, "Whole CTA");
  pen_fill(pen, (Box){l->x, lane.y, l->width, lane.height}, pen->theme->grid, 1);
  for (int k = 0; k < p->n_tensor; k++) {
    const PipelineSpan *s = &p->tensor[k];
    pen_fill(
        pen,
        (Box){l->x + scale * (double)s->begin, lane.y, fmax(0.8, scale * (double)(s->end - s->begin)), lane.height},
        group_colour(pen, s->group), 1);
  }
  const double left = l->x + scale * fmax(0, l->from), right = l->x + scale * fmin((double)p->end, l->to);
  pen_frame(pen, (Box){left - 2, lane.y - 4 * pen->unit, right - left + 4, lane.height + 8 * pen->unit},
            pen->theme->ink, 2.5);
}

/* A row block: products, idle between tiles, and the seam to the next. */
static void draw_sum(const Lanes *l, Box lane) {
  const Pen *pen = l->pen;
  const Theme *t = pen->theme;
  const Pipeline *p = l->p;
  if (!p->block_cycles) return;
  const double whole = (double)p->block_cycles, seam = whole - (double)p->block_products - (double)p->block_idle;
  const double parts[3] = {(double)p->block_products / whole, (double)p->block_idle / whole, seam / whole};
  const Colour colours[3] = {t->tile[TILE_COLOUR_DONE], t->grid, t->waste_text};
  static const char *const NAMES[3] = {"products", "idle between tiles", "seam"};
  double x = l->x;
  draw_name(l, lane, "Row block");
  for (int k = 0; k < 3; k++) {
    char words[64];
    const Box box = {x, lane.y, l->width * fmax(0, parts[k]) - 2, lane.height};
    snprintf(words, sizeof words, "%s %.0f %%", NAMES[k], 100 * parts[k]);
    if (pen_text_width(pen, TYPE_SMALL, true, words) > box.width - 8)
      snprintf(words, sizeof words, "%.0f %%", 100 * parts[k]);
    pen_fill(pen, box, colours[k], 1);
    if (pen_text_width(pen, TYPE_SMALL, true, words) < box.width - 4)
      pen_text(pen, TYPE_SMALL, theme_on(colours[k]), true, ANCHOR_MIDDLE, box.x + box.width / 2,
               box.y + box.height / 2 + 0.36 * pen_size(pen, TYPE_SMALL), 0, words);
    x += l->width * fmax(0, parts[k]);
  }
}

/* 500, 1,000, 2,000, 5,000, ...: the largest that is not above what is wanted. */
static double axis_step(double wanted) {
  double step = 500;
  for (int k = 1; step * (k % 3 == 2 ? 2.5 : 2) <= wanted; k++) step *= k % 3 == 2 ? 2.5 : 2;
  return step;
}

/* Round numbers of cycles. */
static void draw_axis(const Lanes *l, Box lane) {
  const Pen *pen = l->pen;
  const double small = pen_size(pen, TYPE_SMALL), step = axis_step((l->to - l->from) / 4);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, lane.x, lane.y + 1.3 * small, 0, "cycles");
  pen_line(pen, pen->theme->axis, 1.2, l->x, lane.y, l->x + l->width, lane.y);
  double taken = l->x - 8;
  for (double at = ceil(l->from / step) * step; at <= l->to; at += step) {
    const double x = x_of(l, at);
    if (at < 0) continue;
    pen_line(pen, pen->theme->axis, 1.2, x, lane.y, x, lane.y + 5 * pen->unit);
    const char *text = number_count((Wide)at).text;
    const double half = pen_text_width(pen, TYPE_SMALL, false, text) / 2;
    if (x - half < taken + 4 || x + half > l->x + l->width + 4) continue;
    taken = x + half + 8 * pen->unit;
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_MIDDLE, x, lane.y + 1.3 * small, 0,
             number_count((Wide)at).text);
  }
}

/* Everything of a height of its own, in parts of what there is; a projector's page leaves the ring and the row block
 * out. */
static void draw_lanes(const Lanes *l, Box body) {
  const Pen *pen = l->pen;
  const bool large = pen->view->presentation;
  const double u = pen->unit, axis = 1.7 * pen_size(pen, TYPE_SMALL);
  const bool has_ring = !large && l->p->n_tiles[0] > 0;
  const double units = 34 + 80 + 50 * l->p->n_groups + (has_ring ? 4 * 22 : 0) + (large ? 0 : 40),
               gaps = (large ? 5 : 12) * 8 * u;
  const double one = fmin((pen->is_tall ? 2.2 : 1.3) * u, (body.height - axis - gaps) / units);
  draw_whole(l, box_cut_top(&body, 34 * one, 20 * u));
  const double top = body.y;
  draw_tensor_cores(l, box_cut_top(&body, 80 * one, 12 * u));
  for (int g = 0; g < l->p->n_groups; g++) draw_group(l, box_cut_top(&body, 50 * one, 8 * u), g);
  for (int slot = 0; slot < PIPELINE_SLOTS && has_ring; slot++) draw_slot(l, box_cut_top(&body, 22 * one, 4 * u), slot);
  const double bottom = body.y - 2 * u;
  draw_axis(l, box_cut_top(&body, axis, 8 * u));
  if (!large) draw_sum(l, box_cut_top(&body, 34 * one, 0));
  const double x = fmin(fmax(x_of(l, l->at), l->x), l->x + l->width);
  pen_fill(pen, (Box){x - 1.5 * u, top - 4 * u, 3 * u, bottom - top + 6 * u}, pen->theme->ink, 1);
  pen_body(pen, BODY_LINE, 0, (Box){x, top, 2, bottom - top}, 1);
}

/* Between a tile, a row block and all of the CTA by equal factors. */
static double shown_cycles(const Pipeline *p, double zoom) {
  const double tile = 1.18 * (double)(p->median_tile > 0 ? p->median_tile : 3000), all = (double)p->end * 1.01,
               block = fmin(all, p->block_cycles ? 1.1 * (double)p->block_cycles : 34 * tile);
  return zoom < 1 ? tile * pow(block / tile, zoom) : block * pow(all / block, fmin(zoom, 2) - 1);
}

/* When the first tile is asked for; before it the CTA sets itself up. */
static double first_load(const Pipeline *p) {
  int64_t first = p->n_tensor > 0 ? p->tensor[0].begin : 0;
  for (int slot = 0; slot < PIPELINE_SLOTS && p->n_tiles[0] > 0; slot++)
    for (int64_t at = 0; at < first; at += 16)
      if (pipeline_slot(p, slot, at) != SLOT_EMPTY) first = at;
  return (double)first;
}

/* Of a tile nothing is shown before the first load: a run begins with something to see. */
static Lanes lanes_of(const Pen *pen, const Pipeline *p, Box body, double part, double zoom) {
  const double start = first_load(p) * fmax(0, 1 - zoom), at = start + ((double)p->end - start) * part,
               shown = shown_cycles(p, zoom), latest = fmax((double)p->end - shown, 0),
               from = fmin(fmax(at - shown / 2, start), latest);
  double names = pen_text_width(pen, TYPE_SMALL, true, "Tensor cores");
  names = fmax(names, pen_text_width(pen, TYPE_SMALL, true, "Warpgroup A"));
  if (p->n_tiles[0] > 0) names = fmax(names, pen_text_width(pen, TYPE_SMALL, true, "slot 0: dO tile"));
  names = fmin(0.24 * body.width, names + 12 * pen->unit);
  return (Lanes){.pen = pen,
                 .p = p,
                 .at = at,
                 .from = from,
                 .to = from + shown,
                 .names = names,
                 .x = body.x + names,
                 .width = body.width - names};
}

static const char *kernel_words(const Pipeline *p, char *words, size_t size) {
  snprintf(words, size,
           "%s, one SM of %d head%s, N = %.12s, d = %d%s: clock stamps of an H100. Tensor cores: drawn at peak "
           "rate%s.",
           p->kernel->name, p->heads, p->heads > 1 ? "s" : "", number_count((Wide)p->N).text, p->d,
           p->causal ? ", causal" : "", p->kernel->rate < 1 ? " of mma.sync" : "");
  return words;
}

/* A tile at either d, on one scale of cycles, each under what it is. */
static void draw_beside(const Pen *pen, Box body, double part) {
  const Pipeline *pair[2] = {pen->now->pipeline, pen->now->other_pipeline};
  if (pair[0]->d < pair[1]->d) pair[0] = pen->now->other_pipeline, pair[1] = pen->now->pipeline;
  const double u = pen->unit, head = 2.1 * pen_size(pen, TYPE_BODY), gap = 20 * u,
               shown = fmax(shown_cycles(pair[0], 0), shown_cycles(pair[1], 0));
  for (int k = 0; k < 2; k++) {
    char words[96];
    Box half = k == 0 ? box_cut_top(&body, (body.height - gap) / 2, gap) : body;
    const Box title = box_cut_top(&half, head, 0);
    Lanes l = lanes_of(pen, pair[k], half, part, 0);
    l.to = l.from + shown;
    snprintf(words, sizeof words, "d = %d: %.16s idle", pair[k]->d, number_percent(pair[k]->idle).text);
    pen_text(pen, TYPE_BODY, pen->theme->ink, true, ANCHOR_START, l.x, title.y + 1.3 * pen_size(pen, TYPE_BODY),
             l.width, words);
    const double axis = 1.7 * pen_size(pen, TYPE_SMALL),
                 one = (half.height - axis - 4 * 6 * u) / (80 + 44 * pair[k]->n_groups);
    const double top = half.y;
    draw_tensor_cores(&l, box_cut_top(&half, 80 * one, 6 * u));
    for (int g = 0; g < pair[k]->n_groups; g++) draw_group(&l, box_cut_top(&half, 44 * one, 6 * u), g);
    pen_fill(pen, (Box){x_of(&l, l.at) - 1.5 * u, top, 3 * u, half.y - 4 * u - top}, pen->theme->ink, 1);
    draw_axis(&l, half);
  }
}

static void draw(const Pen *pen) {
  const Snapshot *now = pen->now;
  const Pipeline *p = now->pipeline;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), phase = pen->view->phase;
  char words[256];
  Narration said;
  tell(now, pen->view->memo, &said);
  Box body = pen_page_told(pen, PIPELINE_SCENE.title, &said);
  if (!p)
    pen_paragraph(pen, TYPE_HEAD, pen->theme->ink_soft, body,
                  "What is shown here is measured, so there is nothing to show: choose d = 64 or d = 128.");
  if (!p || pen->hit || body.height < 120 * u) return;
  const Box foot = box_cut_bottom(&body, 1.5 * small, 4 * u);
  const double step = (double)now->step - (phase > 0 && phase < 1 && now->step > 0 ? 1 - phase : 0),
               part = now->n_steps ? step / (double)now->n_steps : 0;
  if (now->zoom > 2.5 && now->other_pipeline) {
    draw_beside(pen, body, part);
  } else {
    const Lanes l = lanes_of(pen, p, body, part, now->zoom);
    draw_lanes(&l, body);
  }
  if (pen->view->presentation)
    snprintf(words, sizeof words, "N = %.12s, d = %d%s: stamps of an H100. Tensor cores at peak rate.",
             number_count((Wide)p->N).text, p->d, p->causal ? ", causal" : "");
  else
    kernel_words(p, words, sizeof words);
  char *dot = strchr(words, '.');
  if (dot && pen_text_width(pen, TYPE_SMALL, false, words) > foot.width) *dot = '\0';
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, foot.x, foot.y + 1.1 * small, foot.width, words);
}

const Scene PIPELINE_SCENE = {
    .title = "The pipeline of a CTA, as measured", .key = 'Z', .zooms = 3, .draw = draw, .narrate = tell};
