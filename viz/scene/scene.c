#include "viz/scene/scene.h"

#include <stdio.h>

#include "sim/base/text_add.h"
#include "viz/scene/code_lines.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

#define SCENE_OBJECT(id, name) &id##_SCENE,
static const Scene *const OBJECTS[SCENE_COUNT] = {SCENES(SCENE_OBJECT)};

const char *scene_name(SceneKind scene) { return SCENE_NAMES[scene]; }
const char *scene_title(SceneKind scene) { return OBJECTS[scene]->title; }

bool scene_from_name(const char *name, SceneKind *scene) {
  const int found = scene_find(name);
  if (found >= 0) *scene = (SceneKind)found;
  return found >= 0;
}

/* A page narrower than 16:9, such as beside a lesson, is bound by its width a little later: type counts there for more
 * than air. */
enum { NARROW_UNITS = 1110, HIGH_UNITS = 720, TALL_NARROW_UNITS = 620, TALL_HIGH_UNITS = 900 };
/* What heading, narration and the way through the run take of that: a framed page has none. */
enum { AROUND_UNITS = 175, TALL_AROUND_UNITS = 250 };

static bool is_tall(double width, double height) { return height > 1.1 * width; }

static double unit_of(const SceneView *view, double width, double height) {
  const int around = view->framed ? AROUND_UNITS : 0, tall_around = view->framed ? TALL_AROUND_UNITS : 0;
  return is_tall(width, height) ? fmin(width / TALL_NARROW_UNITS, height / (TALL_HIGH_UNITS - tall_around))
                                : fmin(width / NARROW_UNITS, height / (HIGH_UNITS - around));
}

/* Text below this many pixels is not read. A page where the usual layout would have such text takes the one of
 * presentation mode, in which one idea has all the room. */
#define LEAST_TEXT_PIXELS 12.0
enum { LEAST_WIDTH = 240, LEAST_HEIGHT = 120 }; /* below, not even that is read */

static bool is_small(const SceneView *view, double width, double height) {
  return 14.6 * unit_of(view, width, height) < LEAST_TEXT_PIXELS;
}

void scene_narrate(SceneKind scene, const Snapshot *now, SceneMemo *memo, Narration *said) {
  if (OBJECTS[scene]->narrate)
    OBJECTS[scene]->narrate(now, memo, said);
  else
    narrate(now, said);
}

const char *scene_describe(SceneKind scene, const Snapshot *now, SceneMemo *memo, char *text, size_t size) {
  const Scene *s = OBJECTS[scene];
  snapshot_describe(now, text, size);
  if (size > 0 && s->describe) s->describe(now, memo, text, size);
  if (size > 0 && s->narrate) {
    Narration said;
    s->narrate(now, memo, &said);
    text_add(text, size, "%s %s\n", said.what, said.why);
  }
  return text;
}

SceneMoment scene_moment(uint64_t step, double fraction) {
  if (!(fraction > 0)) return (SceneMoment){step, 0};
  return (SceneMoment){step + 1, fmin(fraction, 1)};
}

static Pen pen_for(const Snapshot *now, const SceneView *view, cairo_t *cr, double width, double height,
                   const Theme *theme) {
  return (Pen){.cr = cr,
               .theme = theme,
               .now = now,
               .view = view,
               .page = box_at(0, 0, width, height),
               .unit = is_small(view, width, height)
                           ? fmax((view->framed ? 1 : 0.8) * unit_of(view, width, height), LEAST_TEXT_PIXELS / 24)
                           : unit_of(view, width, height),
               .is_tall = is_tall(width, height)};
}

static SceneView shown_view(const SceneView *view, double width, double height) {
  SceneView shown = *view;
  shown.presentation = view->presentation || is_small(view, width, height);
  shown.bare = view->bare || view->framed;
  return shown;
}

static void say_too_small(const Pen *pen) {
  char words[64];
  Lettering lettering = {.family = pen->theme->sans, .size = 12, .anchor = ANCHOR_MIDDLE};
  pen_fill(pen, pen->page, pen->theme->background, 1);
  if (pen->hit || pen->page.width < 60 || pen->page.height < 16) return;
  snprintf(words, sizeof words, "Too small: at least %d × %d", LEAST_WIDTH, LEAST_HEIGHT);
  const double width = letter_measure(pen->cr, &lettering, words).width;
  if (width > pen->page.width - 8) lettering.size *= (pen->page.width - 8) / width;
  theme_use(pen->cr, pen->theme->ink, 1);
  letter_draw(pen->cr, &lettering, pen->page.width / 2, pen->page.height / 2 + 4, words);
}

void scene_draw(SceneKind scene, const Snapshot *now, const SceneView *view, cairo_t *cr, double width, double height,
                const Theme *theme) {
  if (!(width >= 1 && height >= 1)) return; /* no pixel, no picture */
  const SceneView shown = shown_view(view, width, height);
  const Pen pen = pen_for(now, &shown, cr, width, height, theme);
  if (width < LEAST_WIDTH || height < LEAST_HEIGHT)
    say_too_small(&pen);
  else
    OBJECTS[scene]->draw(&pen);
}

Box scene_guess_track(SceneKind scene, const Snapshot *now, const SceneView *view, cairo_t *cr, double width,
                      double height) {
  SceneHit none = {.kind = HIT_NONE}; /* nothing is drawn */
  const SceneView shown = shown_view(view, width, height);
  Pen pen = pen_for(now, &shown, cr, width, height, &theme_light);
  pen.hit = &none;
  pen.hit_x = pen.hit_y = -1;
  return OBJECTS[scene]->guess_track ? OBJECTS[scene]->guess_track(&pen) : (Box){0};
}

Box scene_scrub(const SceneView *view, double width, double height) {
  static const Snapshot nothing;
  if (!(width >= LEAST_WIDTH && height >= LEAST_HEIGHT)) return (Box){0};
  const SceneView shown = shown_view(view, width, height);
  const Pen pen = pen_for(&nothing, &shown, NULL, width, height, &theme_light);
  return pen_scrub(&pen);
}

SceneHit scene_hit_measured(SceneKind scene, const Snapshot *now, const SceneView *view, cairo_surface_t *measures,
                            double width, double height, double x, double y) {
  SceneHit hit = {.kind = HIT_NONE, .i = -1, .j = -1};
  if (!(width >= LEAST_WIDTH && height >= LEAST_HEIGHT)) return hit;
  cairo_t *cr = cairo_create(measures);
  const SceneView shown = shown_view(view, width, height);
  Pen pen = pen_for(now, &shown, cr, width, height, &theme_light);
  pen.hit = &hit;
  pen.hit_x = x;
  pen.hit_y = y;
  OBJECTS[scene]->draw(&pen);
  cairo_destroy(cr);
  return hit;
}

void scene_regions(SceneKind scene, const Snapshot *now, const SceneView *view, cairo_surface_t *measures, double width,
                   double height, SceneRegions *regions) {
  SceneView noting = *view;
  noting.regions = regions;
  regions->n = 0;
  scene_hit_measured(scene, now, &noting, measures, width, height, -1, -1);
}

/* ---- Tooltips --------------------------------------------------------------------------------------------- */

static int64_t last_of(int64_t block, int64_t size, int64_t n) {
  return (block + 1) * size < n ? (block + 1) * size - 1 : n - 1;
}

static bool is_stored(const Snapshot *now, int tensor) {
  return tensor < TENSORS_MAX && now->whole.read[tensor] + now->whole.write[tensor] > 0;
}

static const char *name_of(const Snapshot *now, int tensor) { return now->schedule->tensors[tensor].title; }

static bool is_by_tiles(const Snapshot *now, int tensor) { return snapshot_lies(now, tensor) == LIES_BY_TILES; }

static void tile_tooltip(const Snapshot *now, const SceneHit *hit, char *text, size_t size) {
  static const char *const PROGRESS[] = {"empty", "at work", "done"};
  const SnapshotGrid *g = &now->grid;
  const TileState tile = snapshot_tile(g, hit->i, hit->j);
  const int64_t row0 = hit->i * g->B_r, row1 = last_of(hit->i, g->B_r, g->N_q), col0 = hit->j * g->B_c,
                col1 = last_of(hit->j, g->B_c, g->N_k);
  const Wide bytes = wide(row1 - row0 + 1) * wide(col1 - col0 + 1) * wide(g->element_bytes);
  const bool skipped = tile.kind == TILE_SKIPPED, /* never done: there is nothing to do */
      holds = tile.progress == TILE_WAITING && tile.laps > 0 && snapshot_keeps_scores(now);
  int tiles[VALUES_MAX];
  const int n_tiles = snapshot_values(now, is_by_tiles, tiles);
  text_add(text, size, "%s[%jd,%jd]: %s%s%s\n", n_tiles ? name_of(now, tiles[0]) : "tile ", hit->i, hit->j,
           tile_kind_name(tile.kind), skipped ? "" : ", ",
           skipped ? ""
           : holds ? "holds data"
                   : PROGRESS[tile.progress]);
  text_add(text, size, "rows %jd to %jd, keys %jd to %jd\n%s", row0, row1, col0, col1, number_bytes(bytes).text);
  if (n_tiles && !is_stored(now, tiles[0])) text_add(text, size, ", never in HBM");
}

/* A whole matrix. */
static void matrix_tooltip(const Snapshot *now, int tensor, char *text, size_t size) {
  text_add(text, size, "%s: %s", name_of(now, tensor), number_bytes(snapshot_tensor_bytes(now, tensor)).text);
  if (tensor >= TENSORS_MAX) return;
  text_add(text, size, "\nso far %s read", number_bytes(now->traffic.read[tensor]).text);
  text_add(text, size, ", %s written", number_bytes(now->traffic.write[tensor]).text);
}

/* A block in HBM: where it begins. */
static void tensor_tooltip(const Snapshot *now, const SceneHit *hit, char *text, size_t size) {
  const SnapshotGrid *g = &now->grid;
  const bool by_rows = snapshot_lies(now, hit->tensor) == LIES_BY_ROWS;
  const int64_t block = by_rows ? hit->i : hit->j, B = by_rows ? g->B_r : g->B_c, N = by_rows ? g->N_q : g->N_k;
  if (block < 0) {
    matrix_tooltip(now, hit->tensor, text, size);
    return;
  }
  const int64_t first = block * B, last = last_of(block, B, N);
  const Wide row = snapshot_tensor_bytes(now, hit->tensor) / wide(N);
  text_add(text, size, "%s[%jd]: rows %jd to %jd\n%s", name_of(now, hit->tensor), block, first, last,
           number_bytes(wide(last - first + 1) * row).text);
  text_add(text, size, ": byte %s of %s", number_count(wide(first) * row).text, name_of(now, hit->tensor));
}

/* What a place on chip holds, and where it comes from or goes to. */
static void slot_tooltip(const Snapshot *now, const SnapshotSlot *slot, char *text, size_t size) {
  const int tensor = slot->tensor;
  if (!slot->is_filled) {
    text_add(text, size, "%s: empty\n%s set aside", name_of(now, tensor), number_bytes(slot->slot_bytes).text);
    return;
  }
  text_add(text, size, "%s on chip: ", name_of(now, tensor));
  if (slot->row1 > slot->row0) text_add(text, size, "rows %jd to %jd", slot->row0, slot->row1 - 1);
  if (slot->col1 > slot->col0)
    text_add(text, size, "%skeys %jd to %jd", slot->row1 > slot->row0 ? ", " : "", slot->col0, slot->col1 - 1);
  text_add(text, size, "\n%s of ", number_bytes(slot->held_bytes).text);
  text_add(text, size, "%s set aside%s", number_bytes(slot->slot_bytes).text,
           is_stored(now, tensor) ? "" : "\nin HBM: never");
}

const char *scene_tooltip(const Snapshot *now, const SceneHit *hit, char *text, size_t size) {
  if (size == 0) return text;
  text[0] = '\0';
  const SnapshotSlot *slot = &now->slots[hit->tensor >= 0 && hit->tensor < now->schedule->n_values ? hit->tensor : 0];
  switch (hit->kind) {
  case HIT_TILE: tile_tooltip(now, hit, text, size); break;
  case HIT_TENSOR: tensor_tooltip(now, hit, text, size); break;
  case HIT_SLOT: slot_tooltip(now, slot, text, size); break;
  case HIT_RUN:
    if (hit->index < 0 || hit->index >= now->n_runs) break;
    text_add(text, size, "%s: %s moved of ", now->runs[hit->index].schedule->title,
             number_bytes(now->runs[hit->index].moved_bytes).text);
    text_add(text, size, "%s", number_bytes(now->runs[hit->index].total_bytes).text);
    if (now->race_heads > 1) text_add(text, size, " for %jd heads", now->race_heads);
    break;
  case HIT_LINE: snprintf(text, size, "%s", code_line(now->schedule, hit->index).text); break;
  default: break;
  }
  return text;
}
