/* Decode: few queries against many keys. A head's row block is one CTA, which leaves most SMs without work, so the keys
 * are split among CTAs and their parts combined.
 *
 *     head 0  [■■□□][■■□□][■■□□][■■□□]   a CTA each, all at once: how far it is with its keys
 *     head 1  [■■□□][■■□□][■■□□][■■□□]   heads that share K and V stand within one bracket
 *                │     │     │     │
 *               O,L   O,L   O,L   O,L    the parts, in HBM
 *                 \____\_ _/____/
 *                       O                the combine
 *
 * Packed heads are rows of one tile, which one CTA works on. One head, or one pack of them, is walked; the others do
 * the same beside it. Its parts are walked one after the other; as they are as large, all are as far as the walk is. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

enum { HEADS_SHOWN_MAX = 8, SPLITS_SHOWN_MAX = 32 };

typedef struct {
  int64_t heads, kv_heads, group, splits; /* of one sequence; heads that are packed count as one, of KV */
  int64_t packed;                         /* query heads that are rows of one tile: 1, or all of a KV head */
  int64_t n_heads, n_splits;              /* shown */
  Wide ctas, ctas_unsplit;
} Fleet;

/* CTAs of a head that splits no keys: of the kernel that runs at this step. */
static Wide ctas_of_head(const Snapshot *now) {
  if (now->schedule->whole_head) return 1;
  return wide(schedule_owns_columns(now->schedule) ? now->grid.T_c : now->grid.T_r);
}

static Fleet launch_of(const Snapshot *now) {
  const Shape *s = &now->launched;
  Fleet l = {.heads = s->heads > 0 ? s->heads : 1, .splits = now->problem.tiling.n_splits};
  l.kv_heads = s->kv_heads > 0 ? s->kv_heads : l.heads;
  l.group = l.heads / l.kv_heads > 0 ? l.heads / l.kv_heads : 1;
  l.packed = now->problem.shape.group > 1 ? now->problem.shape.group : 1;
  if (l.splits < 1) l.splits = 1;
  l.ctas_unsplit = wide(s->batch > 0 ? s->batch : 1) * wide(l.heads) * ctas_of_head(now);
  l.ctas = l.ctas_unsplit * wide(l.splits);
  l.n_heads = l.heads < HEADS_SHOWN_MAX ? l.heads : HEADS_SHOWN_MAX;
  l.n_splits = l.splits < SPLITS_SHOWN_MAX ? l.splits : SPLITS_SHOWN_MAX;
  return l;
}

/* ---- How far a part is ------------------------------------------------------------------------------------- */

/* Of a tile's work, after an event of that kind. */
static double part_of_tile(EventKind kind, bool is_V) {
  switch (kind) {
  case EVENT_LOAD: return is_V ? 0.75 : 0.25;
  case EVENT_PRODUCT: return 0.45;
  case EVENT_MASK: return 0.5;
  case EVENT_NEW_MAX: return 0.55;
  case EVENT_RESCALE: return 0.6;
  default: return 1;
  }
}

/* The combine kernel, where there is one, is the second pass. */
static bool is_combining(const Snapshot *now, const Event *e) {
  return now->problem.tiling.n_splits > 1 && e->pass > 0;
}

/* How much of split s is walked after the event; of the present row block. */
static double split_done(const Snapshot *now, bool has_event, const Event *e, int64_t s) {
  const SnapshotGrid *g = &now->grid;
  const int64_t n_splits = now->problem.tiling.n_splits > 1 ? now->problem.tiling.n_splits : 1;
  const int64_t per_split = (g->T_c + n_splits - 1) / n_splits;
  if (!has_event) return 0;
  if (is_combining(now, e) || s < e->split) return 1;
  if (s > e->split) return 0;
  if (e->j < 0) return e->kind == EVENT_LOAD ? 0 : 1; /* Q before the tiles; the store after them */
  const int64_t begin = s * per_split, end = begin + per_split < g->T_c ? begin + per_split : g->T_c;
  const int64_t before = g->reversed ? end - 1 - e->j : e->j - begin;
  const double here = part_of_tile((EventKind)e->kind, e->tensor == snapshot_operand(now, 2));
  return end > begin ? fmax(0, fmin(1, ((double)before + here) / (double)(end - begin))) : 1;
}

/* How far all CTAs are: the part of the walk of all row blocks and splits that is done. */
static double all_done(const Snapshot *now, bool has_event, const Event *e, int64_t s) {
  const int64_t n_splits = now->problem.tiling.n_splits > 1 ? now->problem.tiling.n_splits : 1;
  (void)s;
  if (!has_event) return 0;
  if (is_combining(now, e)) return 1;
  double done = (double)(e->i > 0 ? e->i : 0) * (double)n_splits;
  for (int64_t k = 0; k < n_splits; k++) done += split_done(now, has_event, e, k);
  return fmin(1, done / ((double)now->grid.T_r * (double)n_splits));
}

/* Whether the parts lie in HBM: each CTA stores its own at its end. */
static double part_stored(const Snapshot *now, bool has_event, const Event *e, int64_t s) {
  return all_done(now, has_event, e, s) >= 1 && (is_combining(now, e) || e->kind == EVENT_STORE) ? 1 : 0;
}

/* How much of part s the combine has taken in: its statistics, then the part itself. */
static double part_taken(const Snapshot *now, bool has_event, const Event *e, int64_t s) {
  if (!has_event || !is_combining(now, e)) return 0;
  if (e->j < 0 && (e->kind == EVENT_NORMALISE || e->kind == EVENT_STORE)) return 1;
  const bool is_O =
      now->schedule->tensors[e->tensor].role == TENSOR_OUTPUT && (e->kind == EVENT_LOAD || e->kind == EVENT_ACCUMULATE);
  if (!is_O) return 0;
  if (s < e->split) return 1;
  return s > e->split ? 0 : e->kind == EVENT_LOAD ? 0.5 : 1;
}

/* Between the moment before the present event and the one after it. */
static double moving(const Pen *pen, double (*of)(const Snapshot *, bool, const Event *, int64_t), int64_t s) {
  const Snapshot *now = pen->now;
  const SnapshotBefore *b = &now->before;
  const double after = of(now, now->has_event, &now->event, s);
  const bool same_row = b->has_event && b->event.pass == now->event.pass;
  const double before = same_row ? of(now, true, &b->event, s) : is_combining(now, &now->event) ? after : 0;
  return before < after ? before + (after - before) * pen_happened(pen) : after;
}

/* ---- Heads x splits ---------------------------------------------------------------------------------------- */

typedef struct {
  double left, top, cell_w, cell_h, gap, label_w, bracket_w;
} CtaGrid;

static CtaGrid place(const Pen *pen, Box box, const Fleet *l) {
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  CtaGrid p = {.gap = fmax(2, round(3 * u))};
  p.label_w = ceil(pen_text_width(pen, TYPE_SMALL, true, l->packed > 1 ? "heads 00–00" : "head 00") + 10 * u);
  p.bracket_w = l->kv_heads < l->heads ? ceil(pen_text_width(pen, TYPE_SMALL, true, "K, V 00") + 18 * u) : 0;
  p.left = box.x + p.label_w;
  p.top = box.y + ceil(1.6 * small);
  const double room = box.width - p.label_w - p.bracket_w, high = box.height - (p.top - box.y) - 1.5 * small;
  p.cell_w = floor(l->splits > 1 ? fmin(room / (double)l->n_splits, 420 * u) : room);
  p.cell_h = floor(fmin(high / (double)l->n_heads, (l->splits > 1 ? 54 : 120) * u));
  return p;
}

static Box cell(const CtaGrid *p, int64_t head, int64_t split) {
  return box_at(p->left + (double)split * p->cell_w, p->top + (double)head * p->cell_h, fmax(2, p->cell_w - p->gap),
                fmax(2, p->cell_h - p->gap));
}

static void draw_cells(const Pen *pen, const CtaGrid *p, const Fleet *l) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const double small = pen_size(pen, TYPE_SMALL);
  char words[NUMBER_CHARS + 32];
  const double done = moving(pen, all_done, 0);
  for (int64_t h = 0; h < l->n_heads; h++) {
    const Box first = cell(p, h, 0);
    if (l->packed > 1)
      snprintf(words, sizeof words, "heads %" PRId64 "–%" PRId64, h * l->packed, (h + 1) * l->packed - 1);
    else
      snprintf(words, sizeof words, "head %" PRId64, h);
    if (p->cell_h > 1.15 * small)
      pen_text(pen, TYPE_SMALL, h == 0 ? t->ink : t->ink_soft, h == 0, ANCHOR_START, first.x - p->label_w,
               first.y + first.height / 2 + 0.36 * small, 0, words);
  }
  const bool at_work = now->has_event && !is_combining(now, &now->event) && done < 1;
  const double edge = fmax(2, round(3 * pen->unit));
  const struct {
    double from, to; /* of a cell */
    Colour colour;
  } PARTS[] = {{done, 1, t->tile[TILE_COLOUR_HELD]},
               {0, done, t->tile[at_work ? TILE_COLOUR_CURRENT : TILE_COLOUR_DONE]}};
  const Box top = cell(p, 0, 0), last = cell(p, l->n_heads - 1, l->n_splits - 1);
  const double high = last.y + last.height - top.y;
  for (int k = 0; k < 2; k++) { /* a column of cells is one box: all heads are as far */
    for (int64_t s = 0; s < l->n_splits; s++) {
      const Box c = cell(p, 0, s);
      pen_add(pen, (Box){c.x + c.width * PARTS[k].from, c.y, c.width * (PARTS[k].to - PARTS[k].from), high});
    }
    pen_fill_added(pen, PARTS[k].colour);
  }
  for (int64_t s = 0; at_work && s < l->n_splits; s++) {
    const Box c = cell(p, 0, s), line = {c.x + fmax(0, c.width * done - edge), c.y, edge, high};
    pen_body(pen, BODY_LINE, snapshot_operand(pen->now, 1), line, 1);
    pen_add(pen, line);
  }
  pen_fill_added(pen, t->ink);
  for (int64_t h = 0; h + 1 < l->n_heads; h++) { /* then the gaps between the heads */
    const Box above = cell(p, h, 0), below = cell(p, h + 1, 0);
    pen_add(pen, (Box){top.x, above.y + above.height, last.x + last.width - top.x, below.y - above.y - above.height});
  }
  pen_fill_added(pen, t->background);
}

/* Heads that read the same K and V. */
static void draw_brackets(const Pen *pen, const CtaGrid *p, const Fleet *l) {
  const Theme *t = pen->theme;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  char words[NUMBER_CHARS + 32];
  if (p->bracket_w <= 0) return;
  for (int64_t kv = 0; kv * l->group < l->n_heads; kv++) {
    const int64_t first = kv * l->group, last = (first + l->group < l->n_heads ? first + l->group : l->n_heads) - 1;
    const Box a = cell(p, first, l->n_splits - 1), b = cell(p, last, l->n_splits - 1);
    const double x = a.x + a.width + 6 * u, bottom = b.y + b.height;
    pen_line(pen, t->axis, 2, x, a.y, x, bottom);
    pen_line(pen, t->axis, 2, x - 4 * u, a.y, x, a.y);
    pen_line(pen, t->axis, 2, x - 4 * u, bottom, x, bottom);
    snprintf(words, sizeof words, "K, V %" PRId64, kv);
    if (bottom - a.y > 1.1 * small)
      pen_text(pen, TYPE_SMALL, t->ink, true, ANCHOR_START, x + 6 * u, (a.y + bottom) / 2 + 0.36 * small, 0, words);
  }
}

static void draw_heading(const Pen *pen, Box box, const CtaGrid *p, const Fleet *l) {
  const Theme *t = pen->theme;
  const double small = pen_size(pen, TYPE_SMALL);
  char words[4 * NUMBER_CHARS];
  if (l->splits > 1)
    snprintf(words, sizeof words,
             pen_text_width(pen, TYPE_SMALL, false, "keys in 00 parts: a CTA each, all at the same time") <
                     box.width - p->label_w
                 ? "keys in %s parts: a CTA each, all at the same time"
                 : "keys in %s parts: a CTA each",
             number_count(wide(l->splits)).text);
  else
    snprintf(words, sizeof words, "keys, all of them: a CTA a %s",
             ctas_of_head(pen->now) == 1                 ? "head"
             : schedule_owns_columns(pen->now->schedule) ? "column block"
                                                         : "row block");
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, p->left, box.y + small, box.width - p->label_w, words);
  const int64_t left_out = l->heads - l->n_heads;
  const Box last = cell(p, l->n_heads - 1, 0);
  words[0] = '\0';
  if (left_out > 0 && l->splits > l->n_splits)
    snprintf(words, sizeof words, "… %s heads and %s parts more", number_count(wide(left_out * l->packed)).text,
             number_count(wide(l->splits - l->n_splits)).text);
  else if (left_out > 0)
    snprintf(words, sizeof words, "… and %s heads more", number_count(wide(left_out * l->packed)).text);
  else if (l->splits > l->n_splits)
    snprintf(words, sizeof words, "… and %s parts more", number_count(wide(l->splits - l->n_splits)).text);
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, p->left, last.y + last.height + 1.2 * small, 0, words);
}

/* ---- The combine ------------------------------------------------------------------------------------------- */

/* Part s within O: as wide as its weight, after those before it; without weights as wide as any other. */
static Box part_of_O(const Snapshot *now, Box O, int64_t splits, int64_t s) {
  double left = (double)s / (double)splits, width = 1.0 / (double)splits;
  if (now->weights) {
    left = 0;
    for (int64_t k = 0; k < s; k++) left += now->weights[k];
    width = now->weights[s];
  }
  return (Box){O.x + O.width * left, O.y, O.width * width, O.height};
}

static void draw_part(const Pen *pen, Box box, double weight, Colour colour) {
  const double body = pen_size(pen, TYPE_BODY);
  const Box in = {box.x + 1, box.y, fmax(1, box.width - 2), box.height};
  const Number share = number_percent(weight);
  pen_fill(pen, in, colour, 1);
  pen_body(pen, BODY_TILE, snapshot_output(pen->now), in, 1);
  if (pen_text_width(pen, TYPE_BODY, false, share.text) + 6 < in.width && weight > 0)
    pen_text(pen, TYPE_BODY, theme_on(colour), false, ANCHOR_MIDDLE, in.x + in.width / 2,
             in.y + in.height / 2 + 0.36 * body, 0, share.text);
}

/* Each part's O and L wait under their column; as the combine takes them they slide into one O, each as wide as its
 * weight. */
static void draw_combine(const Pen *pen, Box box, const CtaGrid *p, const Fleet *l) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), body = pen_size(pen, TYPE_BODY);
  const double high = ceil(1.5 * body), leaf_w = fmin(p->cell_w - p->gap, 3.2 * body);
  const Box foot = box_cut_bottom(&box, 1.6 * small, 0);
  const Box O = box_at(p->left, box.y + box.height - high, (double)l->n_splits * p->cell_w - p->gap, high);
  const bool combines = now->has_event && is_combining(now, &now->event);
  const bool is_over = now->step == now->n_steps && now->n_steps > 0;
  if (l->splits < 2 || box.height < 2.6 * high) return;
  const int output = snapshot_output(now);
  const char *name = now->schedule->tensors[output].text;
  char parts[24];
  snprintf(parts, sizeof parts, "%s, L", name);
  pen_state(pen, O, TILE_COLOUR_EMPTY);
  for (int64_t s = 0; s < l->n_splits; s++) {
    const Box c = cell(p, 0, s), leaf = box_at(c.x + (c.width - leaf_w) / 2, box.y, leaf_w, high);
    const double there = combines || is_over ? 1 : moving(pen, part_stored, s),
                 taken = is_over ? 1 : moving(pen, part_taken, s);
    const bool is_subject = combines && !is_over && s == now->event.split;
    const Colour colour = t->tile[is_subject ? TILE_COLOUR_CURRENT : s % 2 ? TILE_COLOUR_PARTIAL : TILE_COLOUR_DONE];
    const Box end = part_of_O(now, O, l->splits, s);
    pen_line(pen, t->axis, is_subject ? 3 : 1.4, leaf.x + leaf.width / 2, leaf.y + leaf.height, end.x + end.width / 2,
             O.y);
    pen_dashed(pen, leaf, t->axis, 1.4);
    pen_body(pen, BODY_HOME, output, leaf, 1);
    const Colour lies = taken > 0 ? t->tile[TILE_COLOUR_HELD] : colour; /* in HBM it stays */
    if (there >= 1) pen_fill(pen, leaf, lies, 1);
    if (leaf_w > 2.4 * body)
      pen_text(pen, TYPE_BODY, there >= 1 ? theme_on(lies) : t->ink_soft, false, ANCHOR_MIDDLE, leaf.x + leaf.width / 2,
               leaf.y + leaf.height / 2 + 0.36 * body, 0, parts);
    if (taken > 0)
      draw_part(pen, box_between(leaf, end, fmin(1, taken)), now->weights && taken >= 1 ? now->weights[s] : 0, colour);
  }
  pen_frame(pen, O, t->ink, combines ? 2.4 : 1.2);
  pen_text(pen, TYPE_BODY, t->ink, true, ANCHOR_END, O.x - 10 * u, O.y + O.height / 2 + 0.36 * body, 0, name);
  const char *words = !now->weights && (combines || is_over) ? "weights e^(L − m), not computed here"
                                                             : "each part as wide as its weight e^(L − m), row 0";
  if (pen_text_width(pen, TYPE_SMALL, false, words) < O.width)
    pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, O.x, foot.y + 1.2 * small, 0, words);
}

/* ---- What it is for ---------------------------------------------------------------------------------------- */

/* SMs that have work in the first wave, with one CTA each. */
static Wide busy(Wide ctas, Wide sms) { return ctas < sms ? ctas : sms; }

static void draw_sms(const Pen *pen, Box *box, const char *label, Wide n_busy, Wide sms, bool is_on) {
  const Theme *t = pen->theme;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  const Box words = box_cut_top(box, 1.5 * small, 2 * u), bar = box_cut_top(box, 18 * u, 9 * u);
  char text[3 * NUMBER_CHARS];
  snprintf(text, sizeof text, "%s of ", number_count(n_busy).text);
  snprintf(text + strlen(text), sizeof text - strlen(text), "%s SMs", number_count(sms).text);
  if (pen_text_width(pen, TYPE_SMALL, is_on, label) + pen_text_width(pen, TYPE_SMALL, is_on, text) + small <
      words.width)
    pen_text(pen, TYPE_SMALL, t->ink, is_on, ANCHOR_START, words.x, words.y + 1.1 * small, 0, label);
  pen_text(pen, TYPE_SMALL, t->ink, is_on, ANCHOR_END, words.x + words.width, words.y + 1.1 * small, 0, text);
  pen_meter(pen, bar, part_of(n_busy, sms), is_on ? t->tile[TILE_COLOUR_DONE] : t->axis);
}

/* What goes out of the parts of the walked head, or heads, and comes back, beside O itself. */
static Wide parts_bytes(const Snapshot *now) {
  const SnapshotGrid *g = &now->grid;
  const Wide O = wide(g->N_q) * wide(now->problem.shape.d_v) * wide(g->element_bytes);
  Wide all = 0;
  for (int t = 0; t < now->schedule->n_tensors; t++)
    if (now->schedule->tensors[t].role != TENSOR_INPUT) all += now->whole.write[t] + now->whole.read[t];
  return all > O ? all - O : 0;
}

static void draw_reasons(const Pen *pen, Box box, const Fleet *l) {
  const Snapshot *now = pen->now;
  const Wide sms = now->gpu.n_sm > 0 ? wide(now->gpu.n_sm) : 0;
  char number[NUMBER_CHARS], rest[2 * NUMBER_CHARS + 32];
  snprintf(number, sizeof number, "%s", number_count(l->ctas).text);
  pen_count(pen, &box, TYPE_NUMBER, "run at the same time", number, l->ctas == 1 ? "CTA" : "CTAs");
  if (sms > 0) {
    draw_sms(pen, &box, "not split", busy(l->ctas_unsplit, sms), sms, l->splits < 2);
    if (l->splits > 1) draw_sms(pen, &box, "split", busy(l->ctas, sms), sms, true);
  }
  if (l->splits > 1) {
    snprintf(number, sizeof number, "%s", number_bytes(parts_bytes(now)).text);
    snprintf(rest, sizeof rest, "of %s", number_bytes(now->whole_bytes).text);
    char label[48] = "parts out and back, a head";
    if (l->packed > 1) snprintf(label, sizeof label, "parts out and back, %" PRId64 " heads", l->packed);
    pen_count(pen, &box, TYPE_TITLE, label, number, rest);
  }
  if (l->packed > 1) {
    snprintf(number, sizeof number, "%" PRId64 " heads", l->packed);
    pen_count(pen, &box, TYPE_TITLE, "packed as rows of a tile", number, "K, V read once");
  } else if (l->group > 1) {
    snprintf(number, sizeof number, "%" PRId64 " heads", l->group);
    pen_count(pen, &box, TYPE_TITLE, "read the same K and V", number, "each for itself");
  }
}

/* The part of the inputs' loads that has happened. */
static double inputs_read(const Snapshot *now) {
  Wide read = 0, whole = 0;
  for (int t = 0; t < now->schedule->n_tensors; t++) {
    if (now->schedule->tensors[t].role != TENSOR_INPUT) continue;
    read += now->traffic.read[t];
    whole += now->whole.read[t];
  }
  return part_of(read, whole);
}

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  const Fleet l = launch_of(now);
  const Wide sms = now->gpu.n_sm > 0 ? wide(now->gpu.n_sm) : 0;
  narrate(now, said);
  if (now->has_event) {
    if (l.splits < 2 || now->event.pass > 0) return;         /* or the parts are being combined */
    snprintf(said->why, sizeof said->why, "%s", said->what); /* the event is the smaller part of it */
    const Number done = number_percent(inputs_read(now));
    snprintf(said->what, sizeof said->what, "%.40s CTAs read all %" PRId64 " parts at once, not %.40s: %.16s is read.",
             number_count(l.ctas).text, l.splits, number_count(l.ctas_unsplit).text, done.text);
    return;
  }
  char unsplit[NUMBER_CHARS], ctas[NUMBER_CHARS];
  snprintf(unsplit, sizeof unsplit, "%s", number_count(l.ctas_unsplit).text);
  snprintf(ctas, sizeof ctas, "%s", number_count(l.ctas).text);
  if (sms > 0)
    snprintf(said->what, sizeof said->what, "A CTA for each head and row block makes %.40s, for %.40s SMs.", unsplit,
             number_count(sms).text);
  else
    snprintf(said->what, sizeof said->what, "A CTA for each head and row block makes %s.", unsplit);
  if (l.splits > 1)
    snprintf(said->why, sizeof said->why, "With the keys in %" PRId64 " parts %s CTAs work at once.", l.splits, ctas);
  else
    snprintf(said->why, sizeof said->why, "fa2-split cuts the keys into parts, and gives each to a CTA of its own.");
}

static void draw(const Pen *pen) {
  const double u = pen->unit;
  Narration said;
  tell(pen->now, pen->view->memo, &said);
  Box body = pen_page_told(pen, pen->now->schedule->title, &said);
  const Fleet l = launch_of(pen->now);
  const Box side = box_cut_side(pen, &body, pen->view->presentation ? 0.36 : 0.3, 0.34, 30 * u);
  Box tree = {0};
  if (l.splits > 1) tree = box_cut_bottom(&body, fmin(190 * u, 0.4 * body.height), 4 * u);
  const CtaGrid p = place(pen, body, &l);
  draw_heading(pen, body, &p, &l);
  draw_cells(pen, &p, &l);
  draw_brackets(pen, &p, &l);
  if (l.splits > 1) draw_combine(pen, tree, &p, &l);
  draw_reasons(pen, side, &l);
}

const Scene DECODE_SCENE = {
    .title = "Heads by splits, and how their parts are combined", .key = 'z', .draw = draw, .narrate = tell};
