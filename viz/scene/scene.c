#include "viz/scene/scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/code_lines.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

static const struct {
  const char *name, *title;
  void (*draw)(const Pen *pen);
} SCENES[SCENE_COUNT] = {
    [SCENE_MAIN] = {"main", "Every byte at once", scene_main},
    [SCENE_TILES] = {"tiles", "The score matrix, tile by tile", scene_tiles},
    [SCENE_HIERARCHY] = {"hierarchy", "What crosses between HBM and SRAM", scene_hierarchy},
    [SCENE_SOFTMAX] = {"softmax", "Online softmax of one row", scene_softmax},
    [SCENE_CAUSAL] = {"causal", "What the mask spares", scene_causal},
    [SCENE_CHARTS] = {"charts", "What the numbers say", scene_charts},
    [SCENE_TIMELINE] = {"timeline", "CTAs in time, wave by wave", scene_timeline},
    [SCENE_CODE] = {"code", "The algorithm, line by line", scene_code},
};

const char *scene_name(SceneKind scene) { return SCENES[scene].name; }
const char *scene_title(SceneKind scene) { return SCENES[scene].title; }

bool scene_from_name(const char *name, SceneKind *scene) {
  for (int k = 0; k < SCENE_COUNT; k++)
    if (strcmp(SCENES[k].name, name) == 0) {
      *scene = (SceneKind)k;
      return true;
    }
  return false;
}

static const char *const CHARTS[CHART_KIND_COUNT] = {"all", "traffic", "misses", "roofline", "blocks"};

const char *chart_kind_name(ChartKind chart) { return CHARTS[chart]; }

bool chart_kind_from_name(const char *name, ChartKind *chart) {
  for (int k = 0; k < CHART_KIND_COUNT; k++)
    if (strcmp(CHARTS[k], name) == 0) {
      *chart = (ChartKind)k;
      return true;
    }
  return false;
}

static Pen pen_for(const Snapshot *now, const SceneView *view, cairo_t *cr, double width, double height, const Theme *theme) {
  return (Pen){.cr = cr, .theme = theme, .now = now, .view = view, .page = box_at(0, 0, width, height),
               .unit = fmin(width / 1280, height / 720)};
}

void scene_draw(SceneKind scene, const Snapshot *now, const SceneView *view, cairo_t *cr, double width, double height,
                const Theme *theme) {
  if (!(width >= 1 && height >= 1)) return; /* no pixel, no picture */
  const Pen pen = pen_for(now, view, cr, width, height, theme);
  SCENES[scene].draw(&pen);
}

SceneHit scene_hit(SceneKind scene, const Snapshot *now, const SceneView *view, double width, double height, double x, double y) {
  SceneHit hit = {.kind = HIT_NONE, .i = -1, .j = -1};
  if (!(width >= 1 && height >= 1)) return hit;
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  cairo_t *cr = cairo_create(surface);
  Pen pen = pen_for(now, view, cr, width, height, &theme_light);
  pen.hit = &hit;
  pen.hit_x = x;
  pen.hit_y = y;
  SCENES[scene].draw(&pen);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  return hit;
}

/* ---- Tooltips --------------------------------------------------------------------------------------------- */

static int64_t last_of(int64_t block, int64_t size, int64_t n) { return (block + 1) * size < n ? (block + 1) * size - 1 : n - 1; }

static void tile_tooltip(const Snapshot *now, const SceneHit *hit, char *text, size_t size) {
  static const char *const PROGRESS[] = {"waiting", "at work", "done"};
  const SnapshotGrid *g = &now->grid;
  const TileState tile = snapshot_tile(g, hit->i, hit->j);
  const int64_t row1 = last_of(hit->i, g->B_r, g->N_q), col1 = last_of(hit->j, g->B_c, g->N_k);
  const Wide bytes = wide(row1 - hit->i * g->B_r + 1) * wide(col1 - hit->j * g->B_c + 1) * wide(g->element_bytes);
  const bool skipped = tile.kind == TILE_SKIPPED; /* never done: there is nothing to do */
  snprintf(text, size, "S[%" PRId64 ",%" PRId64 "]: %s%s%s\nrows %" PRId64 " to %" PRId64 ", keys %" PRId64 " to %" PRId64 "\n%s", hit->i, hit->j,
           tile_kind_name(tile.kind), skipped ? "" : ", ", skipped ? "" : PROGRESS[tile.progress], hit->i * g->B_r, row1, hit->j * g->B_c, col1, number_bytes(bytes).text);
}

/* A block of Q, K, V or O in HBM: where it begins, counted from the start of its matrix. */
static void tensor_tooltip(const Snapshot *now, const SceneHit *hit, char *text, size_t size) {
  const SnapshotGrid *g = &now->grid;
  const bool by_rows = hit->tensor == TENSOR_Q || hit->tensor == TENSOR_O;
  const int64_t block = by_rows ? hit->i : hit->j, B = by_rows ? g->B_r : g->B_c, N = by_rows ? g->N_q : g->N_k;
  if (block < 0) {
    snprintf(text, size, "%s: %s read, ", hit->tensor == TENSOR_STATS ? "m, l" : tensor_name(hit->tensor), number_bytes(now->traffic.read[hit->tensor]).text);
    snprintf(text + strlen(text), size - strlen(text), "%s written so far", number_bytes(now->traffic.write[hit->tensor]).text);
    return;
  }
  const int64_t last = last_of(block, B, N);
  const Wide row = wide(g->d) * wide(g->element_bytes);
  snprintf(text, size, "%s[%" PRId64 "]: rows %" PRId64 " to %" PRId64 "\n%s at byte ", tensor_name(hit->tensor), block, block * B, last,
           number_bytes(wide(last - block * B + 1) * row).text);
  snprintf(text + strlen(text), size - strlen(text), "%s of %s", number_count(wide(block * B) * row).text, tensor_name(hit->tensor));
}

const char *scene_tooltip(const Snapshot *now, const SceneHit *hit, char *text, size_t size) {
  if (size == 0) return text;
  text[0] = '\0';
  const SnapshotSlot *slot = &now->slots[hit->tensor < TENSOR_COUNT ? hit->tensor : 0];
  switch (hit->kind) {
  case HIT_TILE: tile_tooltip(now, hit, text, size); break;
  case HIT_TENSOR: tensor_tooltip(now, hit, text, size); break;
  case HIT_SLOT:
    snprintf(text, size, "%s in SRAM: %s of ", hit->tensor == TENSOR_STATS ? "m, l" : tensor_name((Tensor)slot->tensor), number_bytes(slot->held_bytes).text);
    snprintf(text + strlen(text), size - strlen(text), "%s set aside", number_bytes(slot->slot_bytes).text);
    break;
  case HIT_RUN:
    if (hit->index < 0 || hit->index >= now->n_runs) break;
    snprintf(text, size, "%s: %s moved of ", SCHEDULES[now->runs[hit->index].schedule]->title, number_bytes(now->runs[hit->index].moved_bytes).text);
    snprintf(text + strlen(text), size - strlen(text), "%s", number_bytes(now->runs[hit->index].total_bytes).text);
    break;
  case HIT_LINE: snprintf(text, size, "%s", code_line(SCHEDULES[now->schedule], hit->index).text); break;
  default: break;
  }
  return text;
}
