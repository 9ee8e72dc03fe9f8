/* What stands around the scene as HTML: menus, the two sentences, the program's lines and tables of data, as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/code_lines.h"
#include "viz/scene/scene_cache.h"
#include "viz/text/mask_text.h"
#include "viz/text/number.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

enum { JSON_BYTES = 1 << 17 };

typedef struct {
  char *text;
  size_t n;
} Json;

static char json_text[JSON_BYTES];

static Json json_new(void) {
  *json_text = '\0';
  return (Json){json_text, 0};
}

static void json_raw(Json *j, const char *text) {
  const size_t length = strlen(text);
  if (j->n + length >= JSON_BYTES) return;
  memcpy(j->text + j->n, text, length + 1);
  j->n += length;
}

/* A comma, but after what opens. */
static void json_next(Json *j) {
  if (j->n && !strchr("{[:", j->text[j->n - 1])) json_raw(j, ",");
}

static void json_text_of(Json *j, const char *text) {
  char one[2] = "", escaped[8];
  json_next(j);
  json_raw(j, "\"");
  for (; *text; text++) {
    one[0] = *text;
    snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned char)*text);
    json_raw(j, *text == '"' || *text == '\\' || (unsigned char)*text < 0x20 ? escaped : one);
  }
  json_raw(j, "\"");
}

static void json_key(Json *j, const char *key) {
  json_text_of(j, key);
  json_raw(j, ":");
}

static void json_string(Json *j, const char *key, const char *text) {
  json_key(j, key);
  json_text_of(j, text);
}

static void json_whole(Json *j, const char *key, int64_t value) {
  char number[32];
  snprintf(number, sizeof number, "%" PRId64, value);
  json_key(j, key);
  json_raw(j, number);
}

static void json_open(Json *j, const char *bracket) {
  json_next(j);
  json_raw(j, bracket);
}

/* ---- Menus ------------------------------------------------------------------------------------------------- */

static void put_choices(Json *j, Parameter which) {
  static Choice choices[CHOICES_MAX];
  int at = -1;
  const int n = parameter_choices(web_player(), which, choices, &at);
  json_key(j, "choices");
  json_open(j, "[");
  for (int k = 0; k < n; k++) {
    json_open(j, "{");
    json_string(j, "name", choices[k].name);
    json_string(j, "remark", choices[k].remark);
    if (k == at) json_whole(j, "on", 1);
    json_raw(j, "}");
  }
  json_raw(j, "]");
}

static void put_parameter(Json *j, Parameter which) {
  static const char *const KINDS[] = {
      [PARAMETER_NUMBER] = "number", [PARAMETER_LIST] = "list", [PARAMETER_SWITCH] = "switch"};
  const ParameterRow *row = &PARAMETERS[which];
  char value[PARAMETER_VALUE_BYTES];
  json_open(j, "{");
  json_string(j, "title", row->title);
  json_string(j, "wants", row->wants);
  json_string(j, "value", parameter_value(web_player(), which, value));
  json_string(j, "kind", KINDS[row->kind]);
  if (row->kind == PARAMETER_LIST) put_choices(j, which);
  if (row->kind == PARAMETER_SWITCH && parameter_is_on(web_player(), which)) json_whole(j, "on", 1);
  json_raw(j, "}");
}

/* {"scenes": [{"name", "title", "input", "on"?}...], "parameters": [{"title", "wants", "value", "kind",
 * "choices"?, "on"?}...]}: what the page's menus show. */
EXPORT const char *web_menu(void) {
  Json j = json_new();
  json_open(&j, "{");
  json_key(&j, "scenes");
  json_open(&j, "[");
  for (int k = 0; k < SCENE_COUNT; k++) {
    json_open(&j, "{");
    json_string(&j, "name", scene_name((SceneKind)k));
    json_string(&j, "title", scene_title((SceneKind)k));
    json_whole(&j, "input", INPUT_SCENE + k);
    if (k == (int)web_player()->scene) json_whole(&j, "on", 1);
    json_raw(&j, "}");
  }
  json_raw(&j, "]");
  json_key(&j, "parameters");
  json_open(&j, "[");
  for (int k = 0; k < PARAMETER_COUNT; k++) put_parameter(&j, (Parameter)k);
  json_raw(&j, "]}");
  return j.text;
}

/* ---- The step ---------------------------------------------------------------------------------------------- */

/* {"what", "why", "moved", "whole", "step", "steps", "scene", "title", "N", "keys"?, "d", "heads", "mask", "dtype",
 * "gpu", "fits"?}: the sentences over the scene, and the problem in words. */
EXPORT const char *web_said(void) {
  const Player *p = web_player();
  const Snapshot *now = &p->now;
  const SnapshotGrid *g = &now->grid;
  const Shape *shape = &now->problem.shape;
  const int64_t packed = shape->group > 1 ? shape->group : 1;
  char mask[MASK_TEXT_BYTES];
  Narration said;
  scene_narrate(p->scene, now, web_memo(), &said);
  Json j = json_new();
  json_open(&j, "{");
  json_string(&j, "what", said.what);
  json_string(&j, "why", said.why);
  json_string(&j, "moved", number_bytes(now->total_bytes).text);
  json_string(&j, "whole", number_bytes(now->whole_bytes).text);
  json_whole(&j, "step", (int64_t)now->step);
  json_whole(&j, "steps", (int64_t)now->n_steps);
  json_string(&j, "scene", scene_name(p->scene));
  json_string(&j, "title", now->schedule->title);
  json_string(&j, "name", now->schedule->name);
  json_string(&j, "N", number_count(wide(g->N_q / packed)).text);
  if (g->N_k != g->N_q / packed) json_string(&j, "keys", number_count(wide(g->N_k)).text);
  json_whole(&j, "d", g->d);
  json_whole(&j, "heads", now->launched.heads ? now->launched.heads : 1);
  json_string(&j, "mask", mask_text(shape, mask, sizeof mask));
  json_string(&j, "dtype", dtype_name(shape->dtype));
  json_string(&j, "gpu", *p->request.gpu ? now->gpu.name : "paper GPU");
  json_whole(&j, "fits", now->fits);
  json_raw(&j, "}");
  return j.text;
}

/* {"lines": [{"indent", "text", "number", "bytes"?, "percent"?}...], "at"}: the program, what each line moves of a
 * whole run of a head, and the line that the step carries out; -1: none. */
EXPORT const char *web_code(void) {
  const Snapshot *now = &web_player()->now;
  const Simulation *run = &web_player()->stage.run;
  Json j = json_new();
  json_open(&j, "{");
  json_key(&j, "lines");
  json_open(&j, "[");
  for (int k = 0; k < code_n_lines(now->schedule); k++) {
    const CodeLine line = code_line(now->schedule, k);
    json_open(&j, "{");
    json_whole(&j, "indent", line.indent);
    json_string(&j, "text", line.text);
    json_whole(&j, "number", line.number);
    const Wide bytes = code_line_bytes(run->schedule, &run->plan, k);
    if (bytes) json_string(&j, "bytes", number_bytes(bytes).text);
    if (bytes) json_whole(&j, "percent", (int64_t)(100 * (double)bytes / (double)now->whole_bytes + 0.5));
    json_raw(&j, "}");
  }
  json_raw(&j, "]");
  json_whole(&j, "at", now->code_line);
  json_raw(&j, "}");
  return j.text;
}

/* ---- Tables of data ---------------------------------------------------------------------------------------- */

static void cell(Json *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void cell(Json *j, const char *format, ...) {
  char text[NUMBER_CHARS + 64];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  json_text_of(j, text);
}

static void cell_number(Json *j, double value) {
  if (isnan(value))
    cell(j, "none");
  else
    cell(j, "%.4g", value);
}

static void cell_bytes(Json *j, double bytes) {
  if (bytes > 0)
    cell(j, "%s", number_bytes((Wide)bytes).text);
  else
    cell(j, "not possible");
}

/* Begins a table, its columns parted by bars; rows follow, each opened and closed by a bracket. */
static void table(Json *j, const char *title, const char *columns) {
  json_open(j, "{");
  json_string(j, "title", title);
  json_string(j, "columns", columns);
  json_key(j, "rows");
  json_open(j, "[");
}
static void end_table(Json *j) { json_raw(j, "]}"); }

static void put_traffic(Json *j, const Snapshot *now) {
  table(j, "Bytes between HBM and SRAM", "tensor|read|written|of the whole run");
  for (int t = 0; t < now->schedule->n_tensors; t++) {
    const Wide whole = now->whole.read[t] + now->whole.write[t];
    if (!whole) continue;
    json_open(j, "[");
    cell(j, "%s", now->schedule->tensors[t].title);
    cell(j, "%s", number_bytes(now->traffic.read[t]).text);
    cell(j, "%s", number_bytes(now->traffic.write[t]).text);
    cell(j, "%s", number_bytes(whole).text);
    json_raw(j, "]");
  }
  json_open(j, "[");
  cell(j, "all");
  cell(j, "%s", number_bytes(now->read_bytes).text);
  cell(j, "%s", number_bytes(now->write_bytes).text);
  cell(j, "%s", number_bytes(now->whole_bytes).text);
  json_raw(j, "]");
  end_table(j);
}

static void put_work(Json *j, const Snapshot *now) {
  const Wide done = now->traffic.tiles[TILE_FULL] + now->traffic.tiles[TILE_PARTIAL];
  table(j, "Tiles and SRAM", "what|value");
  json_open(j, "[");
  cell(j, "tiles computed");
  cell(j, "%s of %s", number_count(done).text, number_count(wide(now->grid.T_r) * wide(now->grid.T_c)).text);
  json_raw(j, "]");
  json_open(j, "[");
  cell(j, "tiles skipped");
  cell(j, "%s", number_count(now->traffic.tiles[TILE_SKIPPED]).text);
  json_raw(j, "]");
  json_open(j, "[");
  cell(j, "tile, B_r x B_c");
  cell(j, "%" PRId64 " x %" PRId64, now->grid.B_r, now->grid.B_c);
  json_raw(j, "]");
  json_open(j, "[");
  cell(j, "SRAM set aside");
  cell(j, "%s of %s", number_bytes(now->sram_bytes).text, number_bytes(now->sram_capacity_bytes).text);
  json_raw(j, "]");
  end_table(j);
}

static void put_l2(Json *j, const SnapshotL2 *l2) {
  if (!l2->capacity_bytes || !l2->is_known) return;
  table(j, "L2, of the whole launch", "what|predicted");
  const struct {
    const char *what;
    Wide bytes;
  } rows[] = {{"read from L2", l2->asked_read_bytes},
              {"written to L2", l2->asked_write_bytes},
              {"read from HBM", l2->hbm_read_bytes},
              {"written to HBM", l2->hbm_write_bytes}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    json_open(j, "[");
    cell(j, "%s", rows[k].what);
    cell(j, "%s", number_bytes(rows[k].bytes).text);
    json_raw(j, "]");
  }
  end_table(j);
}

static void put_piles(Json *j, const Snapshot *now) {
  Piles room = {0};
  const Piles *all = memo_piles(web_memo(), now, PILES_ALL, &room);
  table(j, "What each carries", "algorithm|needed once|again|between|in all");
  for (int k = 0; k < all->n; k++) {
    PileMoment at;
    pile_at(&all->piles[k], now->clock, &at);
    json_open(j, "[");
    cell(j, "%s", now->runs[k].schedule->title);
    for (int c = 0; c < PILE_CLASSES; c++) cell_bytes(j, at.bytes[c]);
    cell(j, "%s", number_bytes(now->runs[k].total_bytes).text);
    json_raw(j, "]");
  }
  end_table(j);
  piles_free(&room);
}

static void put_row(Json *j, const SnapshotRow *row) {
  if (!row->is_computed || row->row < 0) return;
  table(j, "The row, tile by tile", "column tile|m|rescale factor|l");
  for (int64_t k = 0; k < row->n_history && k < SNAPSHOT_HISTORY; k++) {
    json_open(j, "[");
    cell(j, "%" PRId64, row->first_history + k);
    cell_number(j, row->history_m[k]);
    cell_number(j, row->history_factor[k]);
    cell_number(j, row->history_l[k]);
    json_raw(j, "]");
  }
  end_table(j);
  table(j, "Scores of the present tile", "column|score|weight");
  for (int64_t k = 0; k < row->n_cols && k < SNAPSHOT_SCORES; k++) {
    json_open(j, "[");
    cell(j, "%" PRId64, row->col0 + k);
    if (isinf(row->scores[k]))
      cell(j, "masked");
    else
      cell_number(j, row->scores[k]);
    cell_number(j, row->weights[k]);
    json_raw(j, "]");
  }
  end_table(j);
}

/* [{"title", "columns": "a|b", "rows": [["1", "2"]...]}...]: what the scene shows, as data. */
EXPORT const char *web_numbers(void) {
  const Player *p = web_player();
  const Snapshot *now = &p->now;
  Json j = json_new();
  json_open(&j, "[");
  if (p->scene == SCENE_PILES) put_piles(&j, now);
  if (p->scene == SCENE_SOFTMAX) put_row(&j, &now->row);
  put_traffic(&j, now);
  put_work(&j, now);
  put_l2(&j, &now->l2);
  json_raw(&j, "]");
  return j.text;
}
