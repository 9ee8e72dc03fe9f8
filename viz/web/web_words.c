/* What stands around the scene as HTML: menus, the two sentences, the program's lines and tables of data, as JSON. */
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/shipped.h"
#include "viz/request/description.h"
#include "viz/scene/code_lines.h"
#include "viz/text/mask_text.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

static Document *d;

/* ---- Menus ------------------------------------------------------------------------------------------------- */

/* {"algorithm", "gpu": names, "dtype": [name, bytes], "wants": [key of the state line, what can be typed]}: what fields
 * offer. */
EXPORT const char *web_menu(void) {
  static const char *const TYPED[] = {"N", "d", "block-q", "block-k", "sram", "heads"};
  DescriptionNames *gpus = calloc(1, sizeof *gpus);
  put_values(d = web_begin(), "algorithm[");
  for (int k = 0; k < N_PROGRAMS; k++) put_values(d, ":s", SCHEDULES[k]->name);
  put_values(d, "] gpu[");
  if (gpus && description_names("gpus", gpus, NULL)) gpus->n = 0;
  for (int k = 0; gpus && k < gpus->n; k++) put_values(d, ":s", gpus->names[k]);
  put_values(d, "] dtype[");
  for (Dtype k = 0; k < DTYPE_COUNT; k++) put_values(d, "[:s :n]", dtype_name(k), (int)dtype_bytes(k));
  put_values(d, "] wants[");
  for (size_t k = 0; k < COUNT_OF(TYPED); k++)
    put_values(d, "[:s :s]", TYPED[k], option_named(QUESTION_SETS, TYPED[k], strlen(TYPED[k]))->help);
  free(gpus);
  return web_end();
}

/* ---- The step ---------------------------------------------------------------------------------------------- */

/* {"what", "why", "moved", "whole", "step", "steps", "scene", "title", "N", "keys"?, "d", "rows", "columns", "sram",
 * "heads", "mask", "gpu"}: the sentences over the scene, and the problem in words. */
EXPORT const char *web_said(void) {
  const Player *p = web_player();
  const Snapshot *now = &p->now;
  const SnapshotGrid *g = &now->grid;
  const Shape *shape = &now->problem.shape;
  const int64_t packed = shape->group > 1 ? shape->group : 1;
  char mask[MASK_TEXT_BYTES];
  Narration said;
  scene_narrate(p->scene, now, web_memo(), &said);
  put_values(d = web_begin(), "what:s why:s moved:s whole:s step:i steps:i scene:s title:s name:s N:s", said.what,
             said.why, number_bytes(now->total_bytes).text, number_bytes(now->whole_bytes).text, now->step,
             now->n_steps, scene_name(p->scene), now->schedule->title, now->schedule->name,
             number_count(wide(g->N_q / packed)).text);
  if (g->N_k != g->N_q / packed) put_values(d, "keys:s", number_count(wide(g->N_k)).text);
  put_values(d, "d:i rows:i columns:i sram:s heads:i mask:s gpu:s", g->d, g->B_r, g->B_c,
             number_bytes(now->sram_capacity_bytes).text, now->launched.heads ? (int64_t)now->launched.heads : 1,
             mask_text(shape, mask, sizeof mask), *p->request.gpu ? now->gpu.name : "paper GPU");
  return web_end();
}

/* {"lines": [{"indent", "text", "number", "bytes"?, "percent"?}...], "at"}: the program, what each line moves of a
 * whole run of a head, and the line that the step carries out; -1: none. */
EXPORT const char *web_code(void) {
  const Snapshot *now = &web_player()->now;
  const Simulation *run = &web_player()->stage.run;
  put_values(d = web_begin(), "at:n lines[", now->code_line);
  for (int k = 0; k < code_n_lines(now->schedule); k++) {
    const CodeLine line = code_line(now->schedule, k);
    const Wide bytes = code_line_bytes(run->schedule, &run->plan, k);
    put_values(d, "{indent:n text:s number:n", line.indent, line.text, line.number);
    if (bytes)
      put_values(d, "bytes:s percent:n", number_bytes(bytes).text,
                 (int)(100 * (double)bytes / (double)now->whole_bytes + 0.5));
    put_end(d);
  }
  return web_end();
}

/* ---- Tables of data ---------------------------------------------------------------------------------------- */

static Number real(double value) { return isnan(value) ? number_text("none") : number_text("%.4g", value); }
static Number pile(double bytes) { return bytes > 0 ? number_bytes((Wide)bytes) : number_text("not possible"); }

/* Begins a table, its columns parted by bars; rows follow. */
static void table(const char *title, const char *columns) { put_values(d, "{title:s columns:s rows[", title, columns); }
static void end_table(void) { put_values(d, "]}"); }

/* A row of a name and a value, or of two. */
static void fact(const char *what, Number value) { put_values(d, "[:s :s]", what, value.text); }

static void put_traffic(const Snapshot *now) {
  table("Bytes between HBM and SRAM", "tensor|read|written|of the whole run");
  for (int t = 0; t < now->schedule->n_tensors; t++) {
    const Wide whole = now->whole.read[t] + now->whole.write[t];
    if (whole)
      put_values(d, "[:s :s :s :s]", now->schedule->tensors[t].title, number_bytes(now->traffic.read[t]).text,
                 number_bytes(now->traffic.write[t]).text, number_bytes(whole).text);
  }
  put_values(d, "[:s :s :s :s]", "all", number_bytes(now->read_bytes).text, number_bytes(now->write_bytes).text,
             number_bytes(now->whole_bytes).text);
  end_table();
}

static void put_work(const Snapshot *now) {
  const Wide done = now->traffic.tiles[TILE_FULL] + now->traffic.tiles[TILE_PARTIAL];
  table("Tiles and SRAM", "what|value");
  fact("tiles computed",
       number_text("%s of %s", number_count(done).text, number_count(wide(now->grid.T_r) * wide(now->grid.T_c)).text));
  fact("tiles skipped", number_count(now->traffic.tiles[TILE_SKIPPED]));
  fact("tile, B_r x B_c", number_text("%jd x %jd", now->grid.B_r, now->grid.B_c));
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
    put_values(d, "[:s :s :s :s :s]", now->runs[k].schedule->title, pile(at.bytes[0]).text, pile(at.bytes[1]).text,
               pile(at.bytes[2]).text, number_bytes(now->runs[k].total_bytes).text);
  }
  end_table();
  piles_free(&room);
}

static void put_scores(const SnapshotRow *row) {
  if (!row->is_computed || row->row < 0) return;
  table("Scores of the present tile", "column|score|weight");
  for (int64_t k = 0; k < row->n_cols && k < SNAPSHOT_SCORES; k++)
    put_values(d, "[:s :s :s]", number_text("%jd", row->col0 + k).text,
               isinf(row->scores[k]) ? "masked" : real(row->scores[k]).text, real(row->weights[k]).text);
  end_table();
}

/* {"tables": [{"title", "columns": "a|b", "rows": [["1", "2"]...]}...]}: what the scene shows, as data. */
EXPORT const char *web_numbers(void) {
  const Player *p = web_player();
  const Snapshot *now = &p->now;
  put_values(d = web_begin(), "tables[");
  if (p->scene == SCENE_PILES) put_piles(now);
  if (p->scene == SCENE_SOFTMAX) put_scores(&now->row);
  put_traffic(now);
  put_work(now);
  put_l2(&now->l2);
  return web_end();
}
