/* Some CTAs of the head side by side: what each loads, multiplies and exponentiates when. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/timeline_view.h"
#include "viz/text/number.h"

enum { CTAS_MAX = 4, BARS_MAX = 600 };

static const char *const LANES[TIMELINE_LANES] = {"loads", "products", "softmax"};

/* The first, the last, the present one, and one in the middle where there is room; rising. */
static int choose_ctas(const Pen *pen, const Timeline *t, const TimelineMoment *m, int64_t ctas[CTAS_MAX]) {
  const int64_t n = timeline_ctas_of_head(t, m->kernel),
                wanted[CTAS_MAX] = {m->outer, 0, n - 1,
                                    m->outer < n / 2 ? m->outer + (n - 1 - m->outer) / 2 : m->outer / 2};
  const int most = pen->view->presentation ? 1 : CTAS_MAX;
  int found = 0;
  for (int k = 0; k < most; k++) {
    int at = 0;
    while (at < found && ctas[at] < wanted[k]) at++;
    if (at < found && ctas[at] == wanted[k]) continue;
    memmove(ctas + at + 1, ctas + at, (size_t)(found - at) * sizeof *ctas);
    ctas[at] = wanted[k];
    found++;
  }
  return found;
}

/* ---- Bars ------------------------------------------------------------------------------------------------ */

/* The operands of a product by their names: "P V"; false: it is no product of two names. */
static bool product_words(const Schedule *s, int node, char *text, size_t size, int *right) {
  const ProgramNode *n = &s->nodes[node];
  int names[2], ends[2] = {n->a, n->b};
  if (n->kind != NODE_MATMUL) return false;
  for (int k = 0; k < 2; k++) {
    if (s->nodes[ends[k]].kind == NODE_TRANSPOSE) ends[k] = s->nodes[ends[k]].a;
    if (s->nodes[ends[k]].kind != NODE_NAME) return false;
    names[k] = s->nodes[ends[k]].name;
  }
  const ProgramTensor *a = &s->tensors[s->names[names[0]].tensor], *b = &s->tensors[s->names[names[1]].tensor];
  snprintf(text, size, "%s%s %s", a->text, ends[0] != n->a ? "ᵀ" : "", b->text);
  *right = names[1];
  return true;
}

/* "O += P V[3]", where a line adds a product of two values to a third. */
static void sum_word(const Schedule *s, const TimelineBar *b, char *text, size_t size) {
  const ProgramOp *op = &s->ops[b->op];
  char product[40];
  int right;
  for (int k = op->first_assign; k < op->first_assign + op->n_assigns; k++) {
    const ProgramAssign *a = &s->assigns[k];
    if (a->name != op->name || a->kind != ASSIGN_ADD || !product_words(s, a->value, product, sizeof product, &right))
      continue;
    const int64_t block = sides_have(s->names[right].rows, s->names[right].cols, SIDE_COLS) ? b->j : b->i;
    snprintf(text, size, "%s += %s[%" PRId64 "]", s->tensors[b->tensor].text, product, block);
  }
}

static void long_word(const Schedule *s, const TimelineBar *b, char *text, size_t size) {
  const ProgramTensor *t = &s->tensors[b->tensor];
  const ProgramName *n = &s->names[s->ops[b->op].name];
  const bool rows = sides_have(n->rows, n->cols, SIDE_ROWS) && b->i >= 0,
             cols = sides_have(n->rows, n->cols, SIDE_COLS) && b->j >= 0;
  text[0] = '\0';
  if (b->lane == LANE_PRODUCT && !(rows && cols)) sum_word(s, b, text, size);
  if (*text || (b->lane != LANE_LOAD && b->kind != EVENT_PRODUCT)) return;
  if (rows && cols)
    snprintf(text, size, "%s[%" PRId64 ",%" PRId64 "]", t->title, b->i, b->j);
  else if (rows || cols)
    snprintf(text, size, "%s[%" PRId64 "]", t->title, rows ? b->i : b->j);
  else
    snprintf(text, size, "%s", t->title);
}

static const char *short_word(const Schedule *s, const TimelineBar *b, char *text, size_t size) {
  const ProgramTensor *t = &s->tensors[b->tensor];
  const bool one_letter = t->is_stats; /* of "m, l" the first */
  if (b->lane == LANE_LOAD || b->lane == LANE_PRODUCT || b->kind == EVENT_NEW_MAX) {
    snprintf(text, size, "%.*s", one_letter ? 1 : 15, t->title);
    return text;
  }
  switch (b->kind) {
  case EVENT_RESCALE: return "×";
  case EVENT_MASK: return "▨";
  case EVENT_NORMALISE: return s->ops[b->op].n_exps > 0 ? "e" : "/";
  default: return "e";
  }
}

/* `past`: -1 of a CTA that the present event is not in; else whether it is over, 2: at work. */
static void draw_bar(const Pen *pen, Box box, const TimelineBar *b, int past) {
  const Theme *t = pen->theme;
  char words[64], letters[16];
  const Schedule *s = pen->now->schedule;
  const Colour fill = past < 0   ? theme_mix(t->grid, t->axis, 0.3)
                      : past > 1 ? t->tile[TILE_COLOUR_CURRENT]
                      : past     ? t->tile[TILE_COLOUR_DONE]
                                 : t->grid;
  const double room = box.width - 6 * pen->unit;
  const bool framed = event_goes_out(b->kind) && past <= 1;
  if (framed) {
    pen_fill(pen, box, t->background, 1);
    pen_frame(pen, box, past > 0 ? t->tile[TILE_COLOUR_DONE] : t->axis, 2);
  } else {
    pen_fill(pen, box, fill, 1);
  }
  const Colour ink = framed ? t->ink : theme_on(fill);
  const double least = (framed ? 0.95 : 0.85) * pen_size(pen, TYPE_SMALL); /* clear of a frame */
  if (room < 0.5 * pen_size(pen, TYPE_SMALL) || box.height < least) return;
  long_word(s, b, words, sizeof words);
  if (!*words || pen_text_width(pen, TYPE_SMALL, past > 1, words) > room)
    snprintf(words, sizeof words, "%s", short_word(s, b, letters, sizeof letters));
  if (pen_text_width(pen, TYPE_SMALL, past > 1, words) > room) return;
  pen_text(pen, TYPE_SMALL, ink, past > 1, ANCHOR_MIDDLE, box.x + box.width / 2,
           box.y + box.height / 2 + 0.36 * pen_size(pen, TYPE_SMALL), 0, words);
}

typedef struct {
  double from, to;
} Stretch;

/* A stretch of time in which bars are wide enough to be read; it moves along with the present. */
static Stretch stretch_of(const Pen *pen, const Timeline *t, const TimelineMoment *m, const int64_t *ctas, int n_ctas,
                          double width) {
  double longest = 0, events = 1;
  for (int k = 0; k < n_ctas; k++) {
    longest = fmax(longest, timeline_duration(t, m->kernel, ctas[k]));
    events = fmax(events, timeline_events(t, m->kernel, ctas[k]));
  }
  const double shown = width / ((t->in_steps ? 30 : 21) * pen->unit);
  if (events <= 1.15 * shown) return (Stretch){0, longest > 0 ? longest * 1.01 : 1};
  const double length = longest * shown / events,
               from = fmin(fmax(0, m->time - 0.55 * length), fmax(0, longest * 1.01 - length));
  return (Stretch){from, from + length};
}

/* ---- One CTA --------------------------------------------------------------------------------------------- */

static void name_cta(const Timeline *t, const TimelineMoment *m, int64_t outer, char *text, size_t size) {
  const TimelineKernel *k = &t->kernels[m->kernel];
  if (k->whole_head)
    snprintf(text, size, "head 0");
  else
    snprintf(text, size, "rows[%" PRId64 "]", outer / k->launch.n_splits);
}

static void draw_cta_name(const Pen *pen, Box box, const Timeline *t, const TimelineMoment *m, int64_t outer,
                          bool present) {
  const TimelineKernel *k = &t->kernels[m->kernel];
  const double small = pen_size(pen, TYPE_SMALL), line = fmin(1.35 * small, box.height / 3);
  const int64_t number = timeline_number(t, m->kernel, outer);
  char words[96], time[48];
  name_cta(t, m, outer, words, sizeof words);
  const double base = box.y + line / 2 + 0.36 * small;
  pen_text(pen, TYPE_SMALL, pen->theme->ink, true, ANCHOR_START, box.x + 14 * pen->unit, base,
           box.width - 14 * pen->unit, words);
  if (present)
    pen_fill(pen, box_at(box.x, base - 0.72 * small, 9 * pen->unit, 9 * pen->unit),
             pen->theme->tile[TILE_COLOUR_CURRENT], 1);
  if (k->launch.n_splits > 1)
    snprintf(words, sizeof words, "part %" PRId64 " of %" PRId64, outer % k->launch.n_splits + 1, k->launch.n_splits);
  else if (number >= k->first_number)
    snprintf(words, sizeof words, "wave %" PRId64, number / k->launch.n_slots + 1);
  else
    snprintf(words, sizeof words, "CTA %" PRId64, number + 1);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, box.x + 14 * pen->unit, base + line,
           box.width - 14 * pen->unit, words);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, box.x + 14 * pen->unit, base + 2 * line,
           box.width - 14 * pen->unit, time_words(t, timeline_duration(t, m->kernel, outer), time, sizeof time));
}

static void draw_cta(const Pen *pen, Box plane, const Timeline *t, const TimelineMoment *m, int64_t outer, Stretch at) {
  TimelineBar bars[BARS_MAX];
  const bool present = outer == m->outer && pen->now->step > 0;
  const double scale = plane.width / (at.to - at.from), lane = plane.height / TIMELINE_LANES,
               gap = fmax(1, round(1.5 * pen->unit)), small = pen_size(pen, TYPE_SMALL);
  double end, head = m->time; /* where the present event is: the playhead stays on its work */
  for (int k = 0; k < TIMELINE_LANES; k++)
    pen_fill(pen, box_at(plane.x, plane.y + lane * k, plane.width, lane - gap), pen->theme->background, 1);
  const int n = timeline_bars(t, m->kernel, outer, at.from, at.to, bars, BARS_MAX, &end);
  for (int k = 0; k < n; k++) {
    const double x0 = floor(plane.x + fmax(0, bars[k].start - at.from) * scale),
                 x1 = floor(plane.x + fmin(at.to - at.from, bars[k].end - at.from) * scale);
    const int past = !present ? -1 : bars[k].step + 1 == pen->now->step ? 2 : bars[k].step < pen->now->step;
    if (past == 2) head = bars[k].start + (fmin(bars[k].end, m->time) - bars[k].start) * pen_happened(pen);
    draw_bar(pen, box_at(x0, plane.y + lane * (int)bars[k].lane, fmax(1, x1 - x0 - gap), lane - gap), &bars[k], past);
  }
  if (n == 0 && end < at.from) {
    char words[96], time[48];
    const bool is_over = end >= 0.999 * timeline_duration(t, m->kernel, outer);
    snprintf(words, sizeof words, is_over ? "done after %s" : "too far on to be timed event by event: known up to %s",
             time_words(t, end, time, sizeof time));
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, plane.x + 8 * pen->unit,
             plane.y + 1.5 * lane + 0.36 * small - gap / 2, plane.width, words);
  }
  if (!present || m->time < at.from || m->time > at.to) return;
  const double x = plane.x + fmax(0, head - at.from) * scale - 2 * pen->unit;
  pen_body(pen, BODY_LINE, 0, (Box){x, plane.y, 2, plane.height}, 1);
  pen_line(pen, pen->theme->ink, 2, x, plane.y - 4 * pen->unit, x, plane.y + plane.height + 2 * pen->unit);
}

void draw_lanes(const Pen *pen, Box box, const Timeline *t, const TimelineMoment *m) {
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  int64_t ctas[CTAS_MAX + 1];
  Box in = pen->view->presentation
               ? pen_panel(pen, box, "The present CTA", NULL)
               : pen_panel(pen, box, "CTAs of one head",
                           "each from its own start; the present event is amber, stores are frames");
  const int n = choose_ctas(pen, t, m, ctas);
  box_cut_bottom(&in, 1.6 * small, 0);
  const double gap = 9 * u, height = fmin((in.height - gap * (n - 1)) / n, 210 * u);
  const Box names = box_cut_left(&in, 8.2 * small, 0), lanes = box_cut_left(&in, 5.2 * small, 0);
  if (in.width < 40 * u || height < 12) return;
  const Stretch at = stretch_of(pen, t, m, ctas, n, in.width);
  double bottom = in.y;
  for (int k = 0; k < n; k++) {
    const Box plane = box_at(in.x, in.y + (height + gap) * k, in.width, height);
    draw_cta_name(pen, box_at(names.x, plane.y, names.width, height), t, m, ctas[k], ctas[k] == m->outer);
    for (int lane = 0; lane < TIMELINE_LANES; lane++)
      pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, lanes.x,
               plane.y + height / TIMELINE_LANES * (lane + 0.46) + 0.36 * small, lanes.width, LANES[lane]);
    draw_cta(pen, plane, t, m, ctas[k], at);
    bottom = plane.y + plane.height;
  }
  draw_time_axis(pen, box_at(in.x, in.y, in.width, bottom - in.y + 4 * u), t, at.from, at.to);
  double longest = 0;
  for (int k = 0; k < n; k++) longest = fmax(longest, timeline_duration(t, m->kernel, ctas[k]));
  if (at.to - at.from >= longest) return;
  char words[64] = "a part of ";
  time_words(t, longest, words + strlen(words), sizeof words - strlen(words));
  const double room = in.x - names.x - 2 * small;
  const bool fits = pen_text_width(pen, TYPE_SMALL, true, words) <= room;
  pen_text(pen, TYPE_SMALL, pen->theme->ink, true, ANCHOR_START, names.x, bottom + 4 * u + 1.3 * small, room,
           fits ? words : words + strlen("a part "));
}
