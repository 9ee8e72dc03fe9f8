/* One CTA in time: what each unit does when, and where the tensor cores stand idle (viz/scene/time_lanes.h). Lanes
 * stand; a line goes through them. */
#include <stdio.h>

#include "viz/scene/score_table.h"
#include "viz/scene/sheet.h"
#include "viz/scene/time_lanes.h"
#include "viz/text/number.h"

/* A sentence, shorter, and as it is told. */
static void say_why(const TimeLanes *l, const char *words[3]) {
  static const char *const WORDS[][3] = {
      {"the tensor cores never wait", "never idle", "The tensor cores never wait."},
      {"no products in this pass", "no products here", "This pass has no products."},
      {"softmax stops the products", "softmax stops them", "Nothing is multiplied during the softmax."},
      {"one in softmax: one waits", "one in softmax", "Then one group is in its softmax, and no other has products."},
      {"loads stop the products", "loads stop them", "Most of that time tiles are on their way."},
      {"nothing to multiply", "nothing to multiply", "Most of that time nothing is ready to be multiplied."},
      {"both in softmax: nothing to multiply", "both in softmax", "Most of that time both groups are in softmax."},
      {"all in softmax: nothing to multiply", "all in softmax", "Most of that time all groups are in softmax."},
      {"no rates here: an event is a step", "steps, not times",
       "This machine has no rates: each event is drawn as one step."}};
  const int groups = l->n_groups > 3 ? 3 : l->n_groups, which = l->idle < 0 ? 8
                                                                : l->why == IDLE_ALL_SOFTMAX && groups > 1
                                                                    ? 4 + groups
                                                                    : (int)l->why;
  for (int k = 0; k < 3; k++) words[k] = WORDS[which][k];
}

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  TimeLanes l;
  const char *words[3];
  memset(said, 0, sizeof *said);
  time_lanes(now, 2, 1, &l);
  say_why(&l, words);
  if (l.idle < 0)
    snprintf(said->what, sizeof said->what, "%s, %s.", l.name, l.note);
  else
    snprintf(said->what, sizeof said->what, "%s, %s: the tensor cores are idle for %.20s of what is drawn.", l.name,
             l.note, number_percent(l.idle).text);
  snprintf(said->why, sizeof said->why, "%s", words[2]);
}

typedef struct {
  const Pen *pen;
  const TimeLanes *l;
  Box plane; /* of the lanes */
  double letters, high, pitch;
} Gantt;

static double x_of(const Gantt *g, double at) {
  return g->plane.x + g->plane.width * (at - g->l->from) / fmax(1e-300, g->l->to - g->l->from);
}

static Box bar_box(const Gantt *g, int lane, double begin, double end) {
  const double left = round(x_of(g, begin));
  return (Box){left, floor(g->plane.y + lane * g->pitch + g->pitch - g->high), fmax(1, round(x_of(g, end)) - left),
               floor(g->high)};
}

/* Idle reaches up through all lanes. */
static void draw_gap(const Gantt *g, double begin, double end) {
  const Theme *t = g->pen->theme;
  if (end - begin <= 0.002 * (g->l->to - g->l->from)) return;
  const Box box = bar_box(g, g->l->n_lanes - 1, begin, end), above = bar_box(g, 0, begin, end);
  pen_fill(g->pen, (Box){box.x, above.y - 8, box.width, box.y + box.height - above.y + 16},
           theme_mix(t->background, t->waste, 0.2), 1);
  pen_hatch(g->pen, box, theme_mix(t->background, t->waste, 0.35), t->waste);
}

static void draw_gaps(const Gantt *g) {
  double free_at = g->l->from;
  for (int k = 0; k < g->l->n_bars && g->l->idle >= 0; k++) {
    const TimeBar *bar = &g->l->bars[k];
    if (bar->lane != g->l->n_lanes - 1) continue;
    draw_gap(g, free_at, bar->begin);
    free_at = bar->end;
  }
  if (g->l->idle >= 0) draw_gap(g, free_at, g->l->to);
}

static void draw_bar(const Gantt *g, const TimeBar *bar) {
  const Theme *t = g->pen->theme;
  const bool is_product = bar->lane == g->l->n_lanes - 1;
  const Colour amber = t->tile[TILE_COLOUR_CURRENT], fill = is_product ? amber : theme_mix(t->background, amber, 0.45);
  Box box = bar_box(g, bar->lane, bar->begin, bar->end);
  if (box.width > 4) box.width -= fmax(1, g->pen->unit);
  pen_fill(g->pen, box, fill, 1);
  char digit[12];
  snprintf(digit, sizeof digit, "%d", bar->group);
  const double middle = box.x + box.width / 2;
  const bool is_under_line = fabs(middle - x_of(g, g->l->at)) < 0.6 * g->letters;
  if (is_product && g->l->n_groups > 1 && !is_under_line && fmin(box.width, box.height) > 1.2 * g->letters)
    pen_words(g->pen, g->letters, theme_on(fill), true, ANCHOR_MIDDLE, middle,
              box.y + box.height / 2 + 0.36 * g->letters, digit);
}

/* Not over names, which on a tall page stand between the lanes. */
static void draw_line(const Gantt *g) {
  const double wide = fmax(2, round(3 * g->pen->unit)), most = g->plane.x + g->plane.width - wide,
               x = fmin(fmax(round(x_of(g, g->l->at)), g->plane.x), most);
  double top = bar_box(g, 0, 0, 0).y - 8;
  for (int k = 0; k < g->l->n_lanes; k++) {
    const Box lane = bar_box(g, k, 0, 0);
    const double from = g->pen->is_tall ? lane.y : top;
    top = lane.y + lane.height + (g->pen->is_tall ? 0 : 8);
    pen_fill(g->pen, (Box){x, from, wide, top - from}, g->pen->theme->ink, 1);
    pen_body(g->pen, BODY_LINE, 0, (Box){x, from, 2, top - from}, 1);
  }
}

static void draw_lanes(Gantt *g, Box body) {
  const Pen *pen = g->pen;
  const TimeLanes *l = g->l;
  double names = 0;
  for (int k = 0; k < l->n_lanes; k++) names = fmax(names, pen_words_width(pen, g->letters, false, l->lanes[k]));
  const double left = pen->is_tall ? 0 : names + g->letters;
  g->plane = box_at(body.x + left, body.y, body.width - left, body.height);
  g->pitch = g->plane.height / l->n_lanes;
  g->high = pen->is_tall ? g->pitch - 1.6 * g->letters : 0.62 * g->pitch;
  draw_gaps(g);
  for (int k = 0; k < l->n_lanes; k++) {
    const Box lane = bar_box(g, k, l->from, l->to);
    pen_fill(pen, (Box){lane.x, lane.y + lane.height, lane.width, 1},
             theme_mix(pen->theme->background, pen->theme->axis, 0.6), 1);
    if (pen->is_tall)
      pen_words(pen, g->letters, pen->theme->ink_soft, false, ANCHOR_START, body.x, lane.y - 0.4 * g->letters,
                l->lanes[k]);
    else
      pen_words(pen, g->letters, pen->theme->ink_soft, false, ANCHOR_END, lane.x - 0.6 * g->letters,
                lane.y + lane.height / 2 + 0.36 * g->letters, l->lanes[k]);
  }
  for (int k = 0; k < l->n_bars; k++) draw_bar(g, &l->bars[k]);
  draw_line(g);
}

static void draw(const Pen *pen) {
  const Box page = pen_page_bare(pen);
  if (pen->hit) return;
  TimeLanes l;
  const char *words[3];
  char number[NUMBER_CHARS];
  time_lanes(pen->now, pen->is_tall ? 1 : 2, pen_happened(pen), &l);
  say_why(&l, words);
  snprintf(number, sizeof number, "%.0f %%", 100 * l.idle);
  const bool waits = l.idle >= 0 && l.why != IDLE_NEVER;
  const Sheet sheet = {.title = l.name,
                       .note = l.note,
                       .caption = {words[0], words[1]},
                       .colour = waits ? pen->theme->waste_text : pen->theme->ink_soft,
                       .number = l.idle < 0 ? NULL : number,
                       .unit = "idle"};
  Gantt g = {.pen = pen, .l = &l, .letters = sheet_letters(pen, page)};
  draw_lanes(&g, pen_sheet(pen, page, &sheet));
}

const Scene TIME_SCENE = {.title = "When each unit works", .draw = draw, .narrate = tell};
