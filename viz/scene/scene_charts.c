/* What the numbers say: traffic against N and against the block, misses of a cache, roofline, map of blocks; together
 * on one page, or one of them alone.
 *
 * What does not move with the step is drawn once and kept in the view's memo, numbers and picture both. A frame is then
 * a copy, a few dots and the words that change. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/scene_cache.h"
#include "viz/text/number.h"

/* ---- Where everything is --------------------------------------------------------------------------------- */

typedef struct {
  Box by_N, by_B, blocks, misses, roofline, words; /* empty: not on this page */
} ChartPage;

/* Beside each other; on a narrow page one below the other, or the first alone: axes and titles have their words'
 * room. */
static void lay_traffic(const Pen *pen, Box body, double gap, ChartPage *l) {
  const double least = 2 * pen_text_width(pen, TYPE_SMALL, false, "block B = B_r = B_c (rows)");
  if (body.width >= 2 * least + gap)
    l->by_N = box_cut_left(&body, (body.width - gap) / 2, gap);
  else if (body.height >= 1.4 * least)
    l->by_N = box_cut_top(&body, (body.height - gap) / 2, gap);
  else {
    l->by_N = body;
    return;
  }
  l->by_B = body;
}

static ChartPage lay_out(const Pen *pen, Box body) {
  const double gap = 12 * pen->unit, third = (body.width - 2 * gap) / 3;
  ChartPage l = {0};
  switch (pen->view->chart) {
  case CHART_TRAFFIC: lay_traffic(pen, body, gap, &l); return l;
  case CHART_MISSES: l.misses = body; return l;
  case CHART_ROOFLINE: l.roofline = body; return l;
  case CHART_BLOCKS: l.blocks = body; return l;
  default: break;
  }
  Box upper = box_cut_top(&body, (body.height - gap) / 2, gap);
  l.by_N = box_cut_left(&upper, third, gap);
  l.by_B = box_cut_left(&upper, third, gap);
  l.blocks = upper;
  l.misses = box_cut_left(&body, third, gap);
  l.roofline = box_cut_left(&body, third, gap);
  l.words = body;
  return l;
}

/* All that stays from step to step. */
static void draw_still_part(const Pen *pen, Box body, const void *numbers, StillPlaces *places) {
  const ChartNumbers *c = numbers;
  const ChartPage l = lay_out(pen, body);
  const bool is_alone = pen->view->chart != CHART_ALL;
  if (l.by_N.width > 0) draw_traffic_by_N(pen, l.by_N, c, is_alone, places);
  if (l.by_B.width > 0) draw_traffic_by_B(pen, l.by_B, c, is_alone, places);
  if (l.misses.width > 0) draw_misses(pen, l.misses, c, is_alone);
  if (l.roofline.width > 0) draw_roofline(pen, l.roofline, c, is_alone, places);
  if (l.blocks.width > 0) draw_blocks(pen, l.blocks, c, is_alone);
}

/* ---- What moves ------------------------------------------------------------------------------------------ */

/* A dot on a chart, where it has a place there. */
static void dot_on(const Pen *pen, const ChartPlane *plane, double x_value, double y_value) {
  if (plane->width <= 0 || !(x_value > 0) || !(y_value > 0)) return;
  const double x = scale_position(&plane->x_scale, x_value), y = scale_position(&plane->y_scale, y_value);
  draw_dot(pen, plane->x + plane->width * fmin(fmax(x, 0), 1), plane->y + plane->height * (1 - fmin(fmax(y, 0), 1)),
           7 * pen->unit);
}

/* Where things on a roofline are, by name: each run's end, and the stretch in which memory binds. */
static void name_roofline(const Pen *pen, const ChartNumbers *c, const ChartPlane *plane) {
  const double side = 44 * pen->unit, ridge = c->roofline.peak_flops_per_s / c->roofline.hbm_bytes_per_s;
  if (plane->width <= 0) return;
  for (int k = 0; k < c->n_runs; k++) {
    const RooflinePoint end = c->roofline.ends[k];
    if (!(end.flops_per_byte > 0 && end.flops_per_s > 0)) continue;
    const double x = plane->x + plane->width * scale_position(&plane->x_scale, end.flops_per_byte),
                 y = plane->y + plane->height * (1 - scale_position(&plane->y_scale, end.flops_per_s));
    pen_part(pen, c->schedules[k]->name, box_at(x - side / 2, y - side / 2, side, side));
  }
  if (ridge > 0 && isfinite(ridge))
    pen_part(pen, "roof-HBM",
             box_at(plane->x, plane->y, plane->width * fmin(1, fmax(0, scale_position(&plane->x_scale, ridge))),
                    plane->height));
}

/* Between the moment before the present event and the one after it. */
static void draw_dots(const Pen *pen, const ChartNumbers *c, const StillPlaces *places, RooflinePoint here) {
  const Snapshot *now = pen->now;
  const double left = 1 - pen_happened(pen),
               bytes = (double)now->total_bytes - (now->has_event ? left * (double)now->event.bytes : 0);
  const RooflinePoint before = left > 0 ? chart_roofline_before(&c->roofline, now) : here;
  dot_on(pen, &places->by_N, (double)c->N, bytes);
  dot_on(pen, &places->by_B, (double)now->grid.B_r, bytes);
  dot_on(pen, &places->roofline, here.flops_per_byte + left * (before.flops_per_byte - here.flops_per_byte),
         here.flops_per_s + left * (before.flops_per_s - here.flops_per_s));
}

/* ---- In words -------------------------------------------------------------------------------------------- */

typedef struct {
  char label[32], value[128];
} Line;

enum { LINES_MAX = 10 };

static void put_line(Line *lines, int *n, const char *label) {
  snprintf(lines[*n].label, sizeof lines->label, "%s", label);
  lines[(*n)++].value[0] = '\0';
}

static void append(Line *lines, int n, const char *text) {
  const size_t used = strlen(lines[n - 1].value);
  snprintf(lines[n - 1].value + used, sizeof lines->value - used, "%s", text);
}

static void moved_line(Line *lines, int *n, const Snapshot *now) {
  put_line(lines, n, "moved");
  append(lines, *n, number_bytes(now->total_bytes).text);
  append(lines, *n, " of ");
  append(lines, *n, number_bytes(now->whole_bytes).text);
}

static void computed_line(Line *lines, int *n, const Snapshot *now) {
  put_line(lines, n, "computed");
  append(lines, *n, number_si((double)now->traffic.flops, "").text);
  append(lines, *n, " of ");
  append(lines, *n, number_flops(now->whole.flops).text);
}

static void intensity_lines(Line *lines, int *n, const ChartNumbers *c, RooflinePoint here) {
  const RooflineNumbers *r = &c->roofline;
  put_line(lines, n, "FLOPs a byte");
  append(lines, *n, number_double(here.flops_per_byte, 4).text);
  if (c->shown >= 0) append(lines, *n, ", at the end ");
  if (c->shown >= 0) append(lines, *n, number_double(r->ends[c->shown].flops_per_byte, 4).text);
  put_line(lines, n, "at best");
  if (r->bound == TIME_NONE) {
    append(lines, *n, "no rate is known");
    return;
  }
  append(lines, *n, number_si(here.flops_per_s, "FLOP/s").text);
  if (c->shown < 0) return;
  put_line(lines, n, "in the end");
  append(lines, *n, number_si(r->ends[c->shown].flops_per_s, "FLOP/s").text);
  put_line(lines, n, "bottleneck");
  append(lines, *n, timing_term_title(r->term));
  if (!*roofline_missing(r)) return;
  append(lines, *n, "; not known: ");
  append(lines, *n, roofline_missing(r));
}

static void cache_line(Line *lines, int *n, const ChartNumbers *c) {
  const MissCurve *m = &c->misses;
  put_line(lines, n, "past L2");
  if (m->l2_bytes <= 0)
    append(lines, *n, "everything: there is no L2");
  else if (!m->is_known)
    append(lines, *n, "not known");
  else
    append(lines, *n, number_percent(m->l2_missed_bytes / m->total_bytes).text);
  if (m->l2_bytes <= 0 || !m->is_known) return;
  append(lines, *n, " of the bytes, ");
  append(lines, *n, number_bytes((Wide)m->l2_missed_bytes).text);
}

static void block_line(Line *lines, int *n, const ChartNumbers *c, const Snapshot *now) {
  const BlockMap *map = &c->map;
  char words[96];
  put_line(lines, n, "best block");
  if (!map->has_best) {
    append(lines, *n, "none of them fits SRAM");
    return;
  }
  if (!(map->high_bytes > map->low_bytes)) {
    append(lines, *n, "all move the same");
    return;
  }
  snprintf(words, sizeof words, "%" PRId64 " × %" PRId64 ", moves ", map->q[map->best_q], map->k[map->best_k]);
  append(lines, *n, words);
  append(lines, *n, number_ratio(map->bytes[map->best_q][map->best_k] / (double)now->whole_bytes).text);
}

/* With the largest square block that fits, where there is something to choose. */
static void sram_line(Line *lines, int *n, const ChartNumbers *c, const Snapshot *now) {
  char words[48];
  put_line(lines, n, "SRAM");
  append(lines, *n, number_bytes(now->sram_bytes).text);
  append(lines, *n, now->fits ? " of " : " > ");
  append(lines, *n, number_bytes(now->sram_capacity_bytes).text);
  snprintf(words, sizeof words, ", B to %" PRId64, c->max_block);
  if (c->max_block > 0 && c->max_block < c->by_B[c->n_B - 1].value) append(lines, *n, words);
}

static int fill_lines(Line lines[LINES_MAX], const ChartNumbers *c, RooflinePoint here, const Snapshot *now) {
  int n = 0;
  moved_line(lines, &n, now);
  computed_line(lines, &n, now);
  intensity_lines(lines, &n, c, here);
  cache_line(lines, &n, c);
  block_line(lines, &n, c, now);
  sram_line(lines, &n, c, now);
  return n;
}

static void describe(const Snapshot *now, SceneMemo *memo, char *text, size_t size) {
  ChartNumbers room;
  Line lines[LINES_MAX];
  const ChartNumbers *c = memo_charts(memo, now, &room);
  const int n = fill_lines(lines, c, chart_roofline_now(&c->roofline, now), now);
  const size_t used = strlen(text);
  snprintf(text + used, size - used, "Charts:");
  for (int k = 2; k < n - 1; k++) { /* what is moved and computed, and SRAM, stand in every description */
    const size_t so_far = strlen(text);
    snprintf(text + so_far, size - so_far, "%s %s: %s", k > 2 ? ";" : "", lines[k].label, lines[k].value);
  }
  snprintf(text + strlen(text), size - strlen(text), ".\n");
}

static void draw_words(const Pen *pen, Box box, const ChartNumbers *c, RooflinePoint here) {
  const Theme *t = pen->theme;
  Line lines[LINES_MAX];
  const int n = fill_lines(lines, c, here, pen->now);
  char of[sizeof pen->now->gpu.name + NUMBER_CHARS + 32];
  const Wide heads = wide(pen->now->launched.batch) * wide(pen->now->launched.heads);
  snprintf(of, sizeof of, "%s, one head", pen->now->gpu.name);
  if (heads > 1) snprintf(of + strlen(of), sizeof of - strlen(of), " of %s", number_count(heads).text);
  Box in = pen_panel(pen, box, "At this step", of);
  const double height = fmin(in.height / n, 2.4 * pen_size(pen, TYPE_BODY));
  for (int k = 0; k < n; k++) {
    const Box row = box_cut_top(&in, height, 0);
    const double base = row.y + row.height / 2 + 0.36 * pen_size(pen, TYPE_BODY),
                 left = 6.9 * pen_size(pen, TYPE_SMALL);
    pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, row.x, base, left, lines[k].label);
    pen_text(pen, TYPE_SMALL, t->ink, k < 4, ANCHOR_START, row.x + left + 6 * pen->unit, base,
             fmax(1, row.width - left - 6 * pen->unit), lines[k].value);
  }
}

/* On a page with one chart: the words of it that change, at the right of its heading. */
static void draw_remark(const Pen *pen, ChartPage l, const ChartNumbers *c, RooflinePoint here) {
  const Box panel = l.roofline.width > 0 ? l.roofline : l.misses;
  Line lines[LINES_MAX];
  int n = 0;
  if (l.words.width > 0 || panel.width <= 0) return;
  if (l.misses.width > 0) {
    cache_line(lines, &n, c);
    snprintf(lines[n].value, sizeof lines->value, "past L2: %.100s", lines[0].value);
  } else {
    snprintf(lines[n].value, sizeof lines->value, "now %s FLOPs a byte, ", number_double(here.flops_per_byte, 4).text);
    append(lines, n + 1, number_si(here.flops_per_s, "FLOP/s").text);
    append(lines, n + 1, " at best");
  }
  const double room = 0.72 * panel.width;
  const TypeSize type = pen_text_width(pen, TYPE_BODY, true, lines[n].value) <= room ? TYPE_BODY : TYPE_SMALL;
  if (pen_text_width(pen, type, true, lines[n].value) > room) return;
  pen_text(pen, type, pen->theme->ink, true, ANCHOR_END, panel.x + panel.width - 14 * pen->unit,
           panel.y + 12 * pen->unit + pen_size(pen, TYPE_HEAD), 0, lines[n].value);
}

/* What the charts are there for: how much is moved, and what that means on this machine. */
static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  const bool has_l2 = now->l2.capacity_bytes > 0;
  const double heads = (double)now->launched.batch * (double)now->launched.heads,
               asked = (double)(now->l2.asked_read_bytes + now->l2.asked_write_bytes),
               bytes = now->l2.is_known ? asked / heads : (double)now->whole_bytes; /* with what a kernel spills */
  const double ridge = timing_ridge(&now->gpu, has_l2 ? TIME_L2 : TIME_HBM, now->problem.shape.dtype),
               intensity = bytes > 0 ? (double)now->whole.flops / bytes : 0;
  const SnapshotRun *other = snapshot_most_unlike(now);
  memset(said, 0, sizeof *said);
  snprintf(said->what, sizeof said->what, "%.24s moves %.40s", now->schedule->name,
           number_bytes(now->whole_bytes).text);
  const size_t used = strlen(said->what);
  if (other)
    snprintf(said->what + used, sizeof said->what - used, "; %.24s moves %.24s as much.", other->schedule->name,
             number_ratio_of(other->total_bytes, snapshot_own_run(now)->total_bytes).text);
  else
    snprintf(said->what + used, sizeof said->what - used, " in all.");
  const Number has = number_double(intensity, 3), needs = number_double(ridge, 3);
  if (ridge > 0)
    snprintf(said->why, sizeof said->why,
             intensity < ridge ? "%.24s FLOPs a byte: below %.24s %s takes longer than the products."
                               : "%.24s FLOPs a byte: above %.24s the products take longer than %s.",
             has.text, needs.text, has_l2 ? "L2" : "HBM");
  else
    snprintf(said->why, sizeof said->why, "%.24s FLOPs for each byte.", has.text);
}

static void draw(const Pen *pen) {
  ChartNumbers room;
  StillPlaces places = {0};
  if (pen->hit && !pen->view->regions) return; /* there is nothing to point at that another scene shows too */
  Narration said;
  tell(pen->now, pen->view->memo, &said);
  const Box body = pen_page_told(pen, pen->now->schedule->title, &said);
  const ChartPage l = lay_out(pen, body);
  const ChartNumbers *c = memo_charts(pen->view->memo, pen->now, &room);
  const RooflinePoint here = chart_roofline_now(&c->roofline, pen->now);
  if (pen->hit)
    draw_still_part(pen, body, c, &places); /* only where things are: the memo keeps its picture */
  else
    memo_draw_still(pen, body, MEMO_SCENE, draw_still_part, c, &places);
  name_roofline(pen, c, &places.roofline);
  draw_dots(pen, c, &places, here);
  if (l.words.width > 0) draw_words(pen, l.words, c, here);
  draw_remark(pen, l, c, here);
}

const Scene CHARTS_SCENE = {
    .title = "What the numbers say", .key = '6', .draw = draw, .narrate = tell, .describe = describe};
