#include "viz/story/story_page.h"

#include <stdio.h>
#include <stdlib.h>

#include "viz/scene/scene_cache.h"

/* ---- Moments ----------------------------------------------------------------------------------------------- */

enum { LAST = -1 };

typedef struct {
  char kind[16], tensor[16];
  int64_t count; /* from 1, or LAST */
  bool before;
} Moment;

static bool read_moment(const char *text, Moment *m) {
  char count[24], before[8] = "", more[2], *end;
  const int n = sscanf(text, "%15[^,],%15[^,],%23[^,],%7[^,]%1s", m->kind, m->tensor, count, before, more);
  if (n < 3 || n > 4 || (n == 4 && strcmp(before, "before") != 0)) return false;
  m->before = n == 4;
  if (strcmp(count, "last") == 0) return m->count = LAST, true;
  m->count = strtoll(count, &end, 10);
  return *count && !*end && m->count > 0;
}

static bool is_kind(EventKind kind, const char *name) {
  const char *own = event_kind_name(kind);
  for (; *own && *name; own++, name++)
    if (*own != *name && !(*own == ' ' && *name == '-')) return false;
  return *own == *name;
}

Status moment_step(const Stage *stage, const char *text, uint64_t *step, Error *error) {
  const Schedule *s = stage->run.schedule;
  Moment m = {.count = 0};
  if (strcmp(text, "start") == 0) return *step = 0, STATUS_OK;
  if (strcmp(text, "end") == 0) return *step = stage->n_steps, STATUS_OK;
  if (!read_moment(text, &m))
    return error_refuse(
        error, "'%s' is no moment; give start, end, or KIND,TENSOR,COUNT, such as load,Q,2 or store,O,last,before",
        quote_text(text).text);
  if (stage->n_steps > MOMENT_EVENTS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "a run of %ju steps is too long to look for '%s'", stage->n_steps, text);
  Cursor c = {0};
  Event e;
  int64_t n = 0;
  uint64_t found = UINT64_MAX;
  while (n != m.count && schedule_next(s, &stage->run.plan, &c, &e)) {
    if (!is_kind((EventKind)e.kind, m.kind) || strcmp(s->tensors[e.tensor].text, m.tensor) != 0) continue;
    n++;
    if (m.count == LAST || n == m.count) found = e.step;
  }
  if (found == UINT64_MAX)
    return error_refuse(error, "the moment '%s' does not come in this run", quote_text(text).text);
  *step = found + !m.before;
  return STATUS_OK;
}

/* ---- A beat ------------------------------------------------------------------------------------------------ */

static Status open_beat(StoryScene *s, Error *error) {
  const StoryBeat *beat = &s->told->beats[s->beat];
  const ShowMoments *m = &beat->moments;
  s->scene = beat->show.scene;
  Status status = request_read(&s->request, beat->state, true, error);
  if (!status) status = request_stage(&s->request, &s->stage, error);
  if (!status) status = moment_step(&s->stage, m->from, &s->from, error);
  if (!status) status = moment_step(&s->stage, m->to, &s->to, error);
  if (!status && s->to < s->from)
    status = error_refuse(error, "the show ends (%s) before it begins (%s)", m->to, m->from);
  return status;
}

Status story_scene_open(StoryScene *s, const Lesson *story, const StoryTold *told, int beat, Error *error) {
  Error own = {0};
  *s = (StoryScene){.told = told, .beat = beat};
  const Status status = open_beat(s, &own);
  if (status) return error_set(error, status, "%s:%d: %s", story->file, told->beats[beat].line, own.message);
  s->view = (SceneView){.bare = true, .presentation = true, .memo = memo_new()};
  story_scene_show(s, 0);
  return STATUS_OK;
}

void story_scene_free(StoryScene *s) {
  stage_free(&s->stage);
  memo_free(s->view.memo);
  s->view.memo = NULL;
}

void story_scene_show(StoryScene *s, double part) {
  const double at = (double)s->from + fmin(fmax(part, 0), 1) * (double)(s->to - s->from);
  const uint64_t step = (uint64_t)at;
  const SceneMoment moment = scene_moment(step, step < s->to ? at - (double)step : 0);
  stage_snapshot(&s->stage, moment.step, &s->now);
  s->view.phase = moment.phase;
}

/* ---- What is lit ------------------------------------------------------------------------------------------- */

/* Whether a value of that name lies by tiles of scores. */
static bool lies_by_tiles(const Schedule *s, const char *letters) {
  for (int t = 0; t < s->n_values; t++)
    if (s->tensors[t].rows == SIDE_ROWS && s->tensors[t].cols == SIDE_COLS && !strcmp(s->tensors[t].text, letters))
      return true;
  return false;
}

/* Whether a part by that name, such as "Q[0]", "S", "SRAM" or "skipped", lies in the region. */
static bool is_part(const Snapshot *now, const SceneRegion *r, const char *name) {
  char letters[STORY_LINE_BYTES];
  long long block = -1;
  if (sscanf(name, "%511[^[][%lld]", letters, &block) < 1) return false;
  const SceneHit *h = &r->hit;
  if (r->name) return strcmp(r->name, letters) == 0;
  if (strcmp(letters, "skipped") == 0)
    return h->kind == HIT_TILE && snapshot_tile(&now->grid, h->i, h->j).kind == TILE_SKIPPED;
  if (h->kind == HIT_RUN) return strcmp(now->runs[h->index].schedule->name, letters) == 0;
  if (h->kind == HIT_SLOT && strcmp(letters, "SRAM") == 0) return true;
  if (h->kind == HIT_TILE) return lies_by_tiles(now->schedule, letters) && (block < 0 || h->i == block);
  if (h->kind != HIT_TENSOR && h->kind != HIT_SLOT) return false;
  if (strcmp(now->schedule->tensors[h->tensor].text, letters) != 0) return false;
  return block < 0 || h->i == block || (h->i < 0 && h->j == block);
}

/* Where the parts of the scene lie, for the caller to free; NULL: no memory. */
static SceneRegions *find_regions(const StoryScene *s, double width, double height) {
  SceneRegions *regions = malloc(sizeof *regions);
  cairo_surface_t *measures = cairo_image_surface_create(CAIRO_FORMAT_A8, 8, 8);
  if (regions) scene_regions(s->scene, &s->now, &s->view, measures, width, height, regions);
  cairo_surface_destroy(measures);
  return regions;
}

/* How many parts of the scene have a name; their rectangles are added to cairo's path, if there is one. */
static int find_parts(const StoryScene *s, const SceneRegions *regions, const char *name, cairo_t *cr) {
  int n = 0;
  for (int k = 0; k < regions->n; k++) {
    const SceneHit *h = &regions->regions[k].hit;
    if (!is_part(&s->now, &regions->regions[k], name)) continue;
    if (cr) cairo_rectangle(cr, h->x - 1, h->y - 1, h->width + 2, h->height + 2);
    n++;
  }
  return n;
}

/* The rectangles that are lit, as the clip; false: none is, and all is lit. */
static bool clip_to_lit(const StoryScene *s, const SceneRegions *regions, cairo_t *cr) {
  char names[STORY_LINE_BYTES];
  int n = 0;
  snprintf(names, sizeof names, "%s", s->told->beats[s->beat].moments.lit);
  cairo_new_path(cr);
  for (char *rest = names, *name; (name = strtok_r(rest, ",", &rest));) n += find_parts(s, regions, name, cr);
  if (n) cairo_clip(cr);
  return n;
}

Status story_scene_check(StoryScene *s, const Lesson *story, Error *error) {
  const StoryBeat *beat = &s->told->beats[s->beat];
  char names[STORY_LINE_BYTES];
  story_scene_show(s, 1);
  SceneRegions *regions = find_regions(s, 1200, 675);
  Status status = regions ? STATUS_OK : error_no_memory(error, "for the parts of a scene");
  snprintf(names, sizeof names, "%s", beat->moments.lit);
  for (char *rest = names, *name; !status && (name = strtok_r(rest, ",", &rest));)
    if (!find_parts(s, regions, name, NULL))
      status = error_set(error, STATUS_BAD_FILE, "%s:%d: '%.40s' is lit, which the scene has not", story->file,
                         beat->line, name);
  free(regions);
  return status;
}

/* ---- The page ---------------------------------------------------------------------------------------------- */

static const double DIM_PART = 0.12; /* of a beat, in which what is not lit is dimmed */
#define DIMMED 0.3

/* What is drawn, and where; u: 1/720 of the height, or of a tall page 1/680 of the width. */
typedef struct {
  const StoryScene *scene;
  const StoryBeat *beat;
  const StoryMoment *moment;
  cairo_t *cr;
  const Theme *theme;
  StoryPlaces *places;
  double width, u;
} Page;

static double eased(double x) { return x <= 0 ? 0 : x >= 1 ? 1 : x * x * (3 - 2 * x); }

/* One line in a size of u, cut to `width`; or up to so many, wrapped. Returns how many. */
static int say(const Page *p, Colour ink, double size, bool bold, double x, double y, double width, int lines,
               const char *text) {
  const Lettering lettering = {.family = p->theme->sans, .size = size * p->u, .bold = bold};
  theme_use(p->cr, ink, 1);
  if (lines > 1) return letter_draw_wrapped(p->cr, &lettering, x, y, width, 1.3, lines, text);
  letter_draw_cut(p->cr, &lettering, x, y, width, text);
  return 1;
}

static void draw_scene(const Page *p, Box box) {
  const StoryScene *s = p->scene;
  cairo_t *cr = p->cr;
  cairo_save(cr);
  box_path(cr, box);
  cairo_clip(cr);
  cairo_translate(cr, box.x, box.y);
  SceneRegions *regions = find_regions(s, box.width, box.height);
  cairo_save(cr);
  const bool some = regions && clip_to_lit(s, regions, cr);
  cairo_restore(cr);
  if (some) {
    scene_draw(s->scene, &s->now, &s->view, cr, box.width, box.height, p->theme);
    theme_use(cr, p->theme->background, (1 - DIMMED) * eased(p->moment->part / DIM_PART));
    cairo_paint(cr);
    clip_to_lit(s, regions, cr);
  }
  scene_draw(s->scene, &s->now, &s->view, cr, box.width, box.height, p->theme);
  cairo_restore(cr);
  free(regions);
}

static void draw_head(const Page *p) {
  const StoryTold *told = p->scene->told;
  const Theme *t = p->theme;
  const int beat = p->scene->beat;
  const double u = p->u, gap = 8 * u, each = (p->width - 80 * u + gap) / told->n;
  const Lettering count = {.family = t->sans, .size = 24 * u, .anchor = ANCHOR_END};
  char text[32];
  say(p, t->ink, 25, true, 40 * u, 46 * u, p->width - 220 * u, 1, told->title);
  snprintf(text, sizeof text, "%d of %d", beat + 1, told->n);
  theme_use(p->cr, t->ink_soft, 1);
  letter_draw(p->cr, &count, p->width - 40 * u, 46 * u, text);
  for (int k = 0; k < told->n; k++) {
    const double filled = k < beat ? 1 : k > beat ? 0 : p->moment->part;
    const Box bar = {40 * u + k * each, 62 * u, each - gap, 8 * u};
    box_fill(p->cr, bar, t->grid, 1);
    box_fill(p->cr, (Box){bar.x, bar.y, filled * bar.width, bar.height},
             t->tile[k < beat ? TILE_COLOUR_DONE : TILE_COLOUR_CURRENT], 1);
  }
}

/* One line a choice; the chosen one in a frame of blue, and once it has played the right one filled. */
static void draw_choice(const Page *p, int k, Box box) {
  const LessonQuestion *q = &p->beat->question;
  const StoryMoment *m = p->moment;
  const Theme *t = p->theme;
  const Colour done = t->tile[TILE_COLOUR_DONE];
  const bool is_chosen = m->typed && strcmp(m->typed, q->choice[k]) == 0, is_right = m->said && k == q->right;
  const double u = p->u, y = box.y + box.height / 2 + 10 * u;
  box_fill(p->cr, box, is_right ? done : t->background, 1);
  box_frame(p->cr, box, is_chosen ? done : t->axis, (is_chosen ? 4 : 2) * u);
  say(p, is_right ? theme_on(done) : t->ink_soft, 26, true, box.x + 20 * u, y, 40 * u, 1,
      (char[]){(char)('a' + k), '\0'});
  say(p, is_right ? theme_on(done) : t->ink, 28, is_chosen || is_right, box.x + 60 * u, y, box.width - 72 * u, 1,
      q->choice[k]);
  p->places->choices[p->places->n++] = box;
}

static void draw_card(const Page *p, Box box) {
  const StoryMoment *m = p->moment;
  const LessonQuestion *q = &p->beat->question;
  const Theme *t = p->theme;
  const double u = p->u, x = box.x + 36 * u, width = box.width - 64 * u;
  box_fill(p->cr, box, t->panel, 1);
  box_fill(p->cr, (Box){box.x, box.y, 8 * u, box.height}, t->tile[TILE_COLOUR_CURRENT], 1);
  say(p, t->ink, 26, true, x, box.y + 48 * u, width, 1, m->said ? "What you predicted" : "Before it plays: predict");
  const int lines = say(p, t->ink, 28, false, x, box.y + 104 * u, width, 4, q->prompt);
  const double top = box.y + 100 * u + lines * 36 * u, height = (lines > 2 ? 46 : 52) * u; /* three fit */
  for (int k = 0; k < q->n_choices; k++) draw_choice(p, k, (Box){x, top + k * (height + 8 * u), width, height});
  const char *under =
      m->typed && *m->typed ? "Enter: play and see." : "Choose with a letter or the mouse. Enter: only look.";
  say(p, t->ink_soft, m->said ? 25 : 23, false, x, top + q->n_choices * (height + 8 * u) + 34 * u, width, 4,
      m->said ? m->said : under);
}

/* A flag over the scene in `box`: a pole at the end of a dashed frame around what would be carried by then; the frame
 * goes when the pile is there. Where nothing is guessed yet, the flag stands at as much. */
static void draw_flag(const Page *p, Box box) {
  const StoryScene *s = p->scene;
  const char *typed = p->moment->typed;
  cairo_t *cr = p->cr;
  Box once = scene_guess_track(s->scene, &s->now, &s->view, cr, box.width, box.height);
  once.x += box.x;
  once.y += box.y;
  p->places->flag = once;
  const double u = p->u, times = typed && *typed ? strtod(typed, NULL) : 1, x = once.x + times * once.width,
               top = once.y - 40 * u;
  if (!(once.width > 0 && times >= 0 && x < box.x + box.width)) return;
  theme_use(cr, p->theme->ink, 1);
  cairo_set_line_width(cr, 3 * u);
  if (!p->moment->said) {
    cairo_set_dash(cr, (const double[]){6 * u, 5 * u}, 2, 0);
    cairo_rectangle(cr, once.x - 4 * u, once.y - 4 * u, x - once.x + 4 * u, once.height + 8 * u);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
  }
  cairo_rectangle(cr, x - 2 * u, top, 4 * u, once.y + once.height + 4 * u - top);
  cairo_move_to(cr, x, top);
  cairo_line_to(cr, x + 46 * u, top + 14 * u);
  cairo_line_to(cr, x, top + 28 * u);
  cairo_close_path(cr);
  cairo_fill(cr);
}

void story_page_draw(const StoryScene *s, const StoryMoment *m, cairo_t *cr, double width, double height,
                     const Theme *t, StoryPlaces *places) {
  const bool is_tall = height > width;
  const double u = is_tall ? fmin(width / 680, height / 1180) : fmin(width / 1280, height / 720), room = width - 80 * u;
  const StoryBeat *beat = &s->told->beats[s->beat];
  const bool flags = beat->asks && !beat->question.n_choices, has_card = m->asking && !flags;
  StoryPlaces unused;
  const Page page = {s, beat, m, cr, t, places ? places : &unused, width, u};
  *page.places = (StoryPlaces){.n = 0};
  theme_use(cr, t->background, 1);
  cairo_paint(cr);
  draw_head(&page);
  const double lines = is_tall ? 3 : 1, bottom = height - (70 + 40 * lines) * u; /* of the caption */
  Box box = {floor(40 * u), floor(84 * u), floor(room), floor(bottom - 84 * u)};
  if (is_tall) box.x = 0, box.width = floor(width); /* scenes need what there is */
  if (has_card && is_tall) {                        /* on a tall page the card lies under the scene */
    const double card = fmin(480 * u, 0.55 * box.height);
    draw_card(&page, (Box){40 * u, box.y + box.height - card, room, card});
    box.height = floor(box.height - card - 20 * u);
  } else if (has_card) {
    const double card = fmin(520 * u, 0.45 * box.width);
    draw_card(&page, (Box){box.x + box.width - card, box.y + 12 * u, card, box.height - 24 * u});
    box.width = floor(box.width - card - 30 * u);
  }
  draw_scene(&page, box);
  if (flags && (m->asking || (m->typed && *m->typed))) draw_flag(&page, box);
  const char *words = !flags || !m->asking ? beat->caption : m->said ? m->said : beat->question.prompt;
  Lettering caption = {.family = t->sans, .size = 32 * u, .bold = true};
  const Lettering small = {.family = t->sans, .size = 23 * u};
  const double long_by = letter_measure(cr, &caption, words).width / room;
  theme_use(cr, t->ink, 1);
  if (!is_tall && long_by > 1) caption.size /= long_by;
  if (is_tall)
    letter_draw_wrapped(cr, &caption, 40 * u, bottom + 36 * u, room, 1.25, 3, words);
  else
    letter_draw_cut(cr, &caption, 40 * u, height - 66 * u, room, words);
  if (m->help && letter_measure(cr, &small, m->help).width <= room)
    say(&page, t->ink_soft, 23, false, 40 * u, height - 26 * u, room, 1, m->help);
}
