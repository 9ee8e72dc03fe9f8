#include "viz/story/story_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/scene/pen.h"
#include "viz/scene/scene_cache.h"
#include "viz/story/moment.h"

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
  return n > 0;
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

static double eased(double x) { return x <= 0 ? 0 : x >= 1 ? 1 : x * x * (3 - 2 * x); }

static void draw_scene(const StoryScene *s, double part, cairo_t *cr, Box box, const Theme *theme) {
  cairo_save(cr);
  box_path(cr, box);
  cairo_clip(cr);
  cairo_translate(cr, box.x, box.y);
  SceneRegions *regions = find_regions(s, box.width, box.height);
  cairo_save(cr);
  const bool some = regions && clip_to_lit(s, regions, cr);
  cairo_restore(cr);
  if (some) {
    scene_draw(s->scene, &s->now, &s->view, cr, box.width, box.height, theme);
    theme_use(cr, theme->background, (1 - DIMMED) * eased(part / DIM_PART));
    cairo_paint(cr);
    clip_to_lit(s, regions, cr);
  }
  scene_draw(s->scene, &s->now, &s->view, cr, box.width, box.height, theme);
  cairo_restore(cr);
  free(regions);
}

static void draw_head(const StoryScene *s, double part, cairo_t *cr, double width, double u, const Theme *theme) {
  const StoryTold *told = s->told;
  const Lettering title = {.family = theme->sans, .size = 25 * u, .bold = true};
  const Lettering count = {.family = theme->sans, .size = 24 * u, .anchor = ANCHOR_END};
  char text[32];
  theme_use(cr, theme->ink, 1);
  letter_draw_cut(cr, &title, 40 * u, 46 * u, width - 220 * u, told->title);
  snprintf(text, sizeof text, "%d of %d", s->beat + 1, told->n);
  theme_use(cr, theme->ink_soft, 1);
  letter_draw(cr, &count, width - 40 * u, 46 * u, text);
  const double gap = 8 * u, each = (width - 80 * u + gap) / told->n;
  for (int k = 0; k < told->n; k++) {
    const double x = 40 * u + k * each, filled = k < s->beat ? 1 : k > s->beat ? 0 : part;
    box_fill(cr, (Box){x, 62 * u, each - gap, 8 * u}, theme->grid, 1);
    box_fill(cr, (Box){x, 62 * u, filled * (each - gap), 8 * u},
             theme->tile[k < s->beat ? TILE_COLOUR_DONE : TILE_COLOUR_CURRENT], 1);
  }
}

/* One line a choice; the chosen one in a frame of blue, and once it has played the right one filled. */
static double draw_choices(const StoryScene *s, const StoryMoment *m, cairo_t *cr, Box first, double u,
                           const Theme *theme, StoryPlaces *places) {
  const LessonQuestion *q = &s->told->beats[s->beat].question;
  const Lettering letter = {.family = theme->sans, .size = 26 * u, .bold = true};
  for (int k = 0; k < q->n_choices; k++) {
    const Box box = {first.x, first.y + k * (first.height + 8 * u), first.width, first.height};
    const bool is_chosen = m->typed && strcmp(m->typed, q->choice[k]) == 0, is_right = m->said && k == q->right;
    const Colour ground = is_right ? theme->tile[TILE_COLOUR_DONE] : theme->background,
                 ink = is_right ? theme_on(ground) : theme->ink;
    const Lettering body = {.family = theme->sans, .size = 28 * u, .bold = is_chosen || is_right};
    const char name[2] = {(char)('a' + k), '\0'};
    box_fill(cr, box, ground, 1);
    box_frame(cr, box, is_chosen ? theme->tile[TILE_COLOUR_DONE] : theme->axis, (is_chosen ? 4 : 2) * u);
    theme_use(cr, is_right ? ink : theme->ink_soft, 1);
    letter_draw(cr, &letter, box.x + 20 * u, box.y + box.height / 2 + 10 * u, name);
    theme_use(cr, ink, 1);
    letter_draw_cut(cr, &body, box.x + 60 * u, box.y + box.height / 2 + 10 * u, box.width - 72 * u, q->choice[k]);
    if (places) places->choices[places->n++] = box;
  }
  return first.y + q->n_choices * (first.height + 8 * u);
}

static void draw_card(const StoryScene *s, const StoryMoment *m, cairo_t *cr, Box box, double u, const Theme *theme,
                      StoryPlaces *places) {
  const StoryBeat *beat = &s->told->beats[s->beat];
  const Lettering head = {.family = theme->sans, .size = 26 * u, .bold = true},
                  body = {.family = theme->sans, .size = 28 * u}, small = {.family = theme->sans, .size = 23 * u},
                  answer = {.family = theme->sans, .size = 25 * u};
  const double x = box.x + 36 * u, wide_enough = box.width - 64 * u;
  box_fill(cr, box, theme->panel, 1);
  box_fill(cr, (Box){box.x, box.y, 8 * u, box.height}, theme->tile[TILE_COLOUR_CURRENT], 1);
  theme_use(cr, theme->ink, 1);
  letter_draw(cr, &head, x, box.y + 48 * u, m->said ? "What you predicted" : "Before it plays: predict");
  const int lines = letter_draw_wrapped(cr, &body, x, box.y + 104 * u, wide_enough, 1.3, 4, beat->question.prompt);
  const Box choice = {x, box.y + 100 * u + lines * 36 * u, wide_enough, (lines > 2 ? 46 : 52) * u}; /* three fit */
  const double under = draw_choices(s, m, cr, choice, u, theme, places);
  theme_use(cr, theme->ink_soft, 1);
  letter_draw_wrapped(cr, m->said ? &answer : &small, x, under + 34 * u, wide_enough, 1.3, 4,
                      m->said                 ? m->said
                      : m->typed && *m->typed ? "Enter: play and see."
                                              : "Choose with a letter or the mouse. Enter: only look.");
}

/* ---- The flag ---------------------------------------------------------------------------------------------- */

static bool has_flag(const StoryScene *s) {
  const StoryBeat *beat = &s->told->beats[s->beat];
  return beat->asks && !beat->question.n_choices;
}

/* A pole at the end of a dashed frame around what would be carried by then; the frame goes when the pile is there. */
static void draw_flag(cairo_t *cr, Box once, double times, bool is_said, double u, const Theme *theme) {
  const double dash[] = {6 * u, 5 * u}, x = once.x + times * once.width, top = once.y - 40 * u;
  theme_use(cr, theme->ink, 1);
  cairo_set_line_width(cr, 3 * u);
  if (!is_said) {
    cairo_set_dash(cr, dash, 2, 0);
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

/* Over the scene in `box`. Where nothing is guessed yet, the flag stands at as much. */
static void lay_flag(const StoryScene *s, const StoryMoment *m, cairo_t *cr, Box box, double u, const Theme *theme,
                     StoryPlaces *places) {
  Box once = scene_guess_track(s->scene, &s->now, &s->view, cr, box.width, box.height);
  const double times = m->typed && *m->typed ? strtod(m->typed, NULL) : 1;
  once.x += box.x;
  once.y += box.y;
  if (once.width > 0 && times >= 0 && once.x + times * once.width < box.x + box.width)
    draw_flag(cr, once, times, m->said != NULL, u, theme);
  if (places) places->flag = once;
}

void story_page_draw(const StoryScene *s, const StoryMoment *m, cairo_t *cr, double width, double height,
                     const Theme *theme, StoryPlaces *places) {
  const bool is_tall = height > width;
  const double u = is_tall ? fmin(width / 680, height / 1180) : fmin(width / 1280, height / 720);
  const bool flags = has_flag(s), is_flagged = flags && (m->asking || (m->typed && *m->typed));
  if (places) *places = (StoryPlaces){.n = 0};
  const StoryBeat *beat = &s->told->beats[s->beat];
  Lettering caption = {.family = theme->sans, .size = 32 * u, .bold = true};
  const Lettering small = {.family = theme->sans, .size = 23 * u};
  theme_use(cr, theme->background, 1);
  cairo_paint(cr);
  draw_head(s, m->part, cr, width, u, theme);
  const double lines = is_tall ? 3 : 1, bottom = height - (70 + 40 * lines) * u; /* of the caption */
  Box box = {floor(40 * u), floor(84 * u), floor(width - 80 * u), floor(bottom - 84 * u)};
  if (is_tall) box.x = 0, box.width = floor(width); /* scenes need what there is */
  if (m->asking && is_tall && !flags) {             /* on a tall page the card lies under the scene */
    const double card = fmin(480 * u, 0.55 * box.height);
    draw_card(s, m, cr, (Box){40 * u, box.y + box.height - card, width - 80 * u, card}, u, theme, places);
    box.height = floor(box.height - card - 20 * u);
  } else if (m->asking && !flags) {
    const double card = fmin(520 * u, 0.45 * box.width);
    draw_card(s, m, cr, (Box){box.x + box.width - card, box.y + 12 * u, card, box.height - 24 * u}, u, theme, places);
    box.width = floor(box.width - card - 30 * u);
  }
  draw_scene(s, m->part, cr, box, theme);
  if (is_flagged) lay_flag(s, m, cr, box, u, theme, places);
  theme_use(cr, theme->ink, 1);
  const char *words = !flags || !m->asking ? beat->caption : m->said ? m->said : beat->question.prompt;
  const double long_by = letter_measure(cr, &caption, words).width / (width - 80 * u);
  if (!is_tall && long_by > 1) caption.size /= long_by;
  if (is_tall)
    letter_draw_wrapped(cr, &caption, 40 * u, bottom + 36 * u, width - 80 * u, 1.25, 3, words);
  else
    letter_draw_cut(cr, &caption, 40 * u, height - 66 * u, width - 80 * u, words);
  if (!m->help || letter_measure(cr, &small, m->help).width > width - 80 * u) return;
  theme_use(cr, theme->ink_soft, 1);
  letter_draw_cut(cr, &small, 40 * u, height - 26 * u, width - 80 * u, m->help);
}
