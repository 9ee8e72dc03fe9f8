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

static struct {
  char text[JSON_BYTES];
  size_t n;
} json;

static void add(char c) {
  if (json.n < JSON_BYTES - 1) json.text[json.n++] = c;
  json.text[json.n] = '\0';
}

static void add_quoted(const char *text) {
  static const char DIGITS[] = "0123456789abcdef";
  add('"');
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    const bool escapes = c < 0x20 || c == '"' || c == '\\';
    for (const char *code = "\\u00"; escapes && *code; code++) add(*code);
    if (escapes) add(DIGITS[c >> 4]);
    add(escapes ? DIGITS[c & 15] : *text);
  }
  add('"');
}

/* JSON in a format: ' is its quote, %s a text, %d an int64_t. A comma goes before what begins a value, but after what
 * opens. */
static void put(const char *format, ...) {
  va_list values;
  va_start(values, format);
  if (json.n && !strchr("{[:", json.text[json.n - 1]) && !strchr("]}", *format)) add(',');
  for (; *format; format++) {
    char digits[24];
    if (*format != '%') {
      add(*format == '\'' ? '"' : *format);
    } else if (*++format == 's') {
      add_quoted(va_arg(values, const char *));
    } else {
      snprintf(digits, sizeof digits, "%" PRId64, va_arg(values, int64_t));
      for (const char *digit = digits; *digit; digit++) add(*digit);
    }
  }
  va_end(values);
}

/* ---- Menus ------------------------------------------------------------------------------------------------- */

/* [{"value", "wants", "choices": [{"name", "remark"}...], "at"}...], by Parameter: what the page's fields show. */
EXPORT const char *web_menu(void) {
  static Choice choices[CHOICES_MAX];
  char value[PARAMETER_VALUE_BYTES];
  json.n = 0;
  put("[");
  for (int which = 0; which < PARAMETER_COUNT; which++) {
    int at;
    const int n = parameter_choices(web_player(), (Parameter)which, choices, &at);
    put("{'value':%s,'wants':%s,'choices':[", parameter_value(web_player(), (Parameter)which, value),
        parameter_wants((Parameter)which));
    for (int k = 0; k < n; k++) put("{'name':%s,'remark':%s}", choices[k].name, choices[k].remark);
    put("],'at':%d}", (int64_t)at);
  }
  put("]");
  return json.text;
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
  json.n = 0;
  put("{'what':%s,'why':%s,'moved':%s,'whole':%s,'step':%d,'steps':%d,'scene':%s,'title':%s,'name':%s,'N':%s",
      said.what, said.why, number_bytes(now->total_bytes).text, number_bytes(now->whole_bytes).text, (int64_t)now->step,
      (int64_t)now->n_steps, scene_name(p->scene), now->schedule->title, now->schedule->name,
      number_count(wide(g->N_q / packed)).text);
  if (g->N_k != g->N_q / packed) put("'keys':%s", number_count(wide(g->N_k)).text);
  put("'d':%d,'heads':%d,'mask':%s,'dtype':%s,'gpu':%s,'fits':%d", (int64_t)g->d,
      (int64_t)(now->launched.heads ? now->launched.heads : 1), mask_text(shape, mask, sizeof mask),
      dtype_name(shape->dtype), *p->request.gpu ? now->gpu.name : "paper GPU", (int64_t)now->fits);
  put("}");
  return json.text;
}

/* {"lines": [{"indent", "text", "number", "bytes"?, "percent"?}...], "at"}: the program, what each line moves of a
 * whole run of a head, and the line that the step carries out; -1: none. */
EXPORT const char *web_code(void) {
  const Snapshot *now = &web_player()->now;
  const Simulation *run = &web_player()->stage.run;
  json.n = 0;
  put("{'lines':[");
  for (int k = 0; k < code_n_lines(now->schedule); k++) {
    const CodeLine line = code_line(now->schedule, k);
    const Wide bytes = code_line_bytes(run->schedule, &run->plan, k);
    put("{'indent':%d,'text':%s,'number':%d", (int64_t)line.indent, line.text, (int64_t)line.number);
    if (bytes)
      put("'bytes':%s,'percent':%d", number_bytes(bytes).text,
          (int64_t)(100 * (double)bytes / (double)now->whole_bytes + 0.5));
    put("}");
  }
  put("],'at':%d}", (int64_t)now->code_line);
  return json.text;
}

/* ---- Tables of data ---------------------------------------------------------------------------------------- */

static Number real(double value) { return isnan(value) ? number_text("none") : number_text("%.4g", value); }
static Number pile(double bytes) { return bytes > 0 ? number_bytes((Wide)bytes) : number_text("not possible"); }

/* Begins a table, its columns parted by bars; rows follow. */
static void table(const char *title, const char *columns) { put("{'title':%s,'columns':%s,'rows':[", title, columns); }
static void end_table(void) { put("]}"); }

/* A row of a name and a value, or of two. */
static void fact(const char *what, Number value) { put("[%s,%s]", what, value.text); }

static void put_traffic(const Snapshot *now) {
  table("Bytes between HBM and SRAM", "tensor|read|written|of the whole run");
  for (int t = 0; t < now->schedule->n_tensors; t++) {
    const Wide whole = now->whole.read[t] + now->whole.write[t];
    if (whole)
      put("[%s,%s,%s,%s]", now->schedule->tensors[t].title, number_bytes(now->traffic.read[t]).text,
          number_bytes(now->traffic.write[t]).text, number_bytes(whole).text);
  }
  put("['all',%s,%s,%s]", number_bytes(now->read_bytes).text, number_bytes(now->write_bytes).text,
      number_bytes(now->whole_bytes).text);
  end_table();
}

static void put_work(const Snapshot *now) {
  const Wide done = now->traffic.tiles[TILE_FULL] + now->traffic.tiles[TILE_PARTIAL];
  table("Tiles and SRAM", "what|value");
  fact("tiles computed",
       number_text("%s of %s", number_count(done).text, number_count(wide(now->grid.T_r) * wide(now->grid.T_c)).text));
  fact("tiles skipped", number_count(now->traffic.tiles[TILE_SKIPPED]));
  fact("tile, B_r x B_c", number_text("%" PRId64 " x %" PRId64, now->grid.B_r, now->grid.B_c));
  fact("SRAM set aside",
       number_text("%s of %s", number_bytes(now->sram_bytes).text, number_bytes(now->sram_capacity_bytes).text));
  end_table();
}

static void put_l2(const SnapshotL2 *l2) {
  if (!l2->capacity_bytes || !l2->is_known) return;
  table("L2, of the whole launch", "what|predicted");
  fact("read from L2", number_bytes(l2->asked_read_bytes));
  fact("written to L2", number_bytes(l2->asked_write_bytes));
  fact("read from HBM", number_bytes(l2->hbm_read_bytes));
  fact("written to HBM", number_bytes(l2->hbm_write_bytes));
  end_table();
}

static void put_piles(const Snapshot *now) {
  Piles room = {0};
  const Piles *all = memo_piles(web_memo(), now, PILES_ALL, &room);
  table("What each carries", "algorithm|needed once|again|between|in all");
  for (int k = 0; k < all->n; k++) {
    PileMoment at;
    pile_at(&all->piles[k], now->clock, &at);
    put("[%s,%s,%s,%s,%s]", now->runs[k].schedule->title, pile(at.bytes[0]).text, pile(at.bytes[1]).text,
        pile(at.bytes[2]).text, number_bytes(now->runs[k].total_bytes).text);
  }
  end_table();
  piles_free(&room);
}

static void put_row(const SnapshotRow *row) {
  if (!row->is_computed || row->row < 0) return;
  table("Scores of the present tile", "column|score|weight");
  for (int64_t k = 0; k < row->n_cols && k < SNAPSHOT_SCORES; k++)
    put("[%s,%s,%s]", number_text("%" PRId64, row->col0 + k).text,
        isinf(row->scores[k]) ? "masked" : real(row->scores[k]).text, real(row->weights[k]).text);
  end_table();
}

/* [{"title", "columns": "a|b", "rows": [["1", "2"]...]}...]: what the scene shows, as data. */
EXPORT const char *web_numbers(void) {
  const Player *p = web_player();
  const Snapshot *now = &p->now;
  json.n = 0;
  put("[");
  if (p->scene == SCENE_PILES) put_piles(now);
  if (p->scene == SCENE_SOFTMAX) put_row(&now->row);
  put_traffic(now);
  put_work(now);
  put_l2(&now->l2);
  put("]");
  return json.text;
}
