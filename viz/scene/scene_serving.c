/* Serving: a KV cache in pages, and who reads it.
 *
 *     decode: one new token of every sequence         prefill in chunks: a row for each
 *
 *       A |prefix|[####][####][## ]                     1 [####]
 *       B |      |[####][#   ]                          2 [####][####]
 *       C |      |[####][####][####][#  ]               3 [####][####][####]
 *
 * The walk is the clock: as it comes to a tile of keys, every sequence is read so far (a CTA each, at the same pace);
 * of a prompt the row blocks of a chunk come one after the other. Whole pages of a prefix are kept and read once, as
 * sim/serving.h has it. Sizes, pages and waste are kvcache's, for one layer with the KV heads that are launched. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/serving.h"
#include "viz/scene/pen.h"
#include "viz/text/number.h"

/* Tokens [first, keys) are in the cache for this row, of which `fresh` are new; [first, to) and [tail, tail_end) are
 * read, [at, to_at) now. */
typedef struct {
  int64_t first, keys, fresh;
  int64_t to, tail, tail_end, at, to_at;
  bool is_there; /* written, or just being so */
} ServedRow;

typedef struct {
  KvCache cache;
  bool chunks;
  int64_t n, present, first_shown, n_shown; /* rows; the chunk at work; those that are drawn */
  int64_t longest, chunk, shared;           /* tokens; shared: in whole pages */
  ServedRow rows[SERVED_SEQUENCES_MAX];     /* the shown ones */
  Wide pages, allocated_bytes, used_bytes, reserved_bytes, saved_bytes; /* at the end */
  Wide read_bytes, whole_bytes;                                         /* so far, of the whole */
} Served;

static KvDtype cache_dtype(const Shape *s) {
  switch (s->has_kv_dtype ? s->kv_dtype : s->dtype) {
  case DTYPE_FP32: return KV_FP32;
  case DTYPE_BF16: return KV_BF16;
  case DTYPE_FP8: return KV_FP8;
  case DTYPE_INT8: return KV_INT8;
  default: return KV_FP16;
  }
}

static KvCache cache_of(const Snapshot *now) {
  const Shape *s = &now->launched;
  KvCache c = {.layers = 1,
               .kv_heads = s->v_in_k ? 0 : s->kv_heads,
               .d = s->v_in_k ? 0 : s->d,
               .d_v = s->v_in_k || s->d_v == s->d ? 0 : s->d_v,
               .latent = s->v_in_k ? s->d : 0,
               .dtype = cache_dtype(s),
               .page_tokens = now->pages.page};
  if (kvcache_complete(&c, NULL)) c.page_tokens = 16;
  return c;
}

/* Of one sequence: heads that are packed are rows of a tile. */
static int64_t queries_of(const Snapshot *now) {
  return now->launched.N_q / (now->problem.shape.group > 1 ? now->problem.shape.group : 1);
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Row k without what is read: a sequence, or the prompt as chunk k sees it. */
static ServedRow row_of(const Snapshot *now, const Served *s, int64_t k) {
  const int64_t N_q = queries_of(now), keys = s->chunks      ? least((k + 1) * s->chunk, s->longest)
                                              : now->pages.n ? now->pages.lengths[k]
                                                             : s->longest;
  ServedRow r = {.keys = keys, .fresh = s->chunks ? keys - k * s->chunk : N_q};
  const int64_t window = now->launched.window;
  if (window) r.first = most(0, r.keys - r.fresh + 1 - window);
  return r;
}

static void read_all(ServedRow *r) { r->to = r->keys; }

/* Keys that row block i and those before it have read at their ends, in whole tiles. */
static int64_t block_end(const Snapshot *now, int64_t i, const ServedRow *r) {
  const SnapshotGrid *g = &now->grid;
  if (!now->launched.causal) return r->keys;
  return least(r->keys, ceil_div((i + 1) * g->B_r + g->N_k - g->N_q, g->B_c) * g->B_c);
}

/* Keys that the walk has come to, of a row that has row blocks [blocks.begin, blocks.end). */
static void read_some(const Snapshot *now, Span blocks, ServedRow *r) {
  const SnapshotGrid *g = &now->grid;
  const Event *e = &now->event;
  const int64_t end = block_end(now, e->i, r);
  int64_t before = r->first;
  if (g->order.rows_reversed && e->i < blocks.end - 1) before = block_end(now, blocks.end - 1, r);
  if (!g->order.rows_reversed && e->i > blocks.begin) before = block_end(now, e->i - 1, r);
  r->to = e->j < 0 && e->kind != EVENT_LOAD ? end : before;
  if (e->j < 0) return; /* before the row block's tiles, or after them */
  const int64_t later = g->reversed ? g->T_c - ceil_div(r->keys, g->B_c) : 0; /* each sequence begins at its own end */
  r->at = least(most(r->first, (e->j - later) * g->B_c), end), r->to_at = least(end, (e->j - later + 1) * g->B_c);
  if (g->reversed)
    r->tail = most(r->to, r->at), r->tail_end = end;
  else
    r->to = most(r->to, r->to_at);
}

/* What is read of row k after the present event. */
static ServedRow row_now(const Snapshot *now, const Served *s, int64_t k) {
  ServedRow r = row_of(now, s, k);
  const bool is_over = now->step == now->n_steps || (now->has_event && now->event.pass > 0);
  const bool by_keys = s->chunks && now->grid.column_by_column; /* each key goes past all chunks before the next */
  const bool back = now->grid.order.rows_reversed;              /* from the last chunk to the first: all are there */
  r.is_there = !s->chunks || by_keys || k <= s->present || is_over || back;
  if (by_keys && !is_over && now->has_event) {
    r.to = least(r.keys, (most(now->event.j, 0) + 1) * now->grid.B_c);
    return r;
  }
  if (is_over || (s->chunks && now->has_event && (back ? k > s->present : k < s->present))) {
    read_all(&r);
    return r;
  }
  if (!now->has_event || (s->chunks && k != s->present)) return r;
  const int64_t B_r = now->grid.B_r;
  const Span chunk = {ceil_div(k * s->chunk, B_r), least(ceil_div((k + 1) * s->chunk, B_r), now->grid.T_r)};
  read_some(now, s->chunks ? chunk : (Span){0, now->grid.T_r}, &r);
  return r;
}

/* ---- All of it --------------------------------------------------------------------------------------------- */

/* Rows that differ; those of a batch are alike, and count as one of them does. */
static int64_t n_counted(const Snapshot *now, const Served *s) { return s->chunks || now->pages.n ? s->n : 1; }

static void count_pages(const Snapshot *now, Served *s) {
  const int64_t n = s->chunks ? 1 : s->n, counted = s->chunks ? 1 : n_counted(now, s);
  for (int64_t k = 0; k < counted; k++) {
    const KvState one = kvcache_seek(&s->cache, s->chunks ? s->longest : row_of(now, s, k).keys);
    const Wide times = wide(n / counted);
    s->pages += times * wide(one.pages), s->allocated_bytes += times * one.page_bytes;
    s->used_bytes += times * one.bytes;
  }
  const KvState shared = kvcache_seek(&s->cache, s->shared);
  s->pages -= wide(shared.pages) * wide(n - 1);
  s->saved_bytes = shared.page_bytes * wide(n - 1);
  s->allocated_bytes -= s->saved_bytes, s->used_bytes -= s->saved_bytes;
  s->reserved_bytes = kvcache_seek(&s->cache, s->longest).bytes * wide(n);
}

static void count_reads(const Snapshot *now, Served *s) {
  const int64_t counted = n_counted(now, s);
  const Wide token = kvcache_bytes_per_token(&s->cache) * wide(s->n / counted);
  for (int64_t k = 0; k < counted; k++) {
    const ServedRow r = row_now(now, s, k);
    const int64_t from = k && !s->chunks ? s->shared : 0; /* the first row reads the prefix for all */
    s->read_bytes += token * wide(most(0, r.to - most(r.first, from)) + most(0, r.tail_end - most(r.tail, from)));
    s->whole_bytes += token * wide(r.keys - most(r.first, from));
  }
}

static void served_make(Served *s, const Snapshot *now) {
  const ServedPages *p = &now->pages;
  const Shape *shape = &now->launched;
  *s = (Served){.cache = cache_of(now), .longest = shape->N_k};
  s->chunks = !p->n && shape->causal && queries_of(now) > 1 && queries_of(now) == shape->N_k;
  const int64_t smallest = ceil_div(s->longest, SERVING_CHUNKS_MAX);
  s->chunk = least(most(p->chunk ? p->chunk : now->grid.B_r, smallest), s->longest);
  s->n = s->chunks ? ceil_div(s->longest, s->chunk) : p->n ? p->n : shape->batch;
  s->present = !s->chunks       ? s->n
               : now->has_event ? least(most(now->event.i, 0) * now->grid.B_r / s->chunk, s->n - 1)
                                : 0;
  s->shared = p->prefix / s->cache.page_tokens * s->cache.page_tokens;
  s->n_shown = least(s->n, SERVED_SEQUENCES_MAX);
  if (s->chunks) s->first_shown = most(0, least(s->present - s->n_shown / 2, s->n - s->n_shown));
  for (int64_t k = 0; k < s->n_shown; k++) s->rows[k] = row_now(now, s, s->first_shown + k);
  count_pages(now, s);
  count_reads(now, s);
}

/* ---- Pages ------------------------------------------------------------------------------------------------- */

/* Where tokens lie: cells of `per_cell` pages, from `left` on. */
typedef struct {
  double left, top, cell, row, gap, label;
  int64_t per_cell, cell_tokens, n_cells;
} PageGrid;

static PageGrid lay(const Pen *pen, Box box, const Served *s) {
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  PageGrid g = {.label = 7.2 * small, .per_cell = 1};
  const double width = box.width - g.label;
  const int64_t pages = ceil_div(s->longest, s->cache.page_tokens), room = most(1, (int64_t)(width / (9 * u)));
  g.per_cell = ceil_div(pages, room);
  g.cell_tokens = g.per_cell * s->cache.page_tokens;
  g.n_cells = ceil_div(s->longest, g.cell_tokens);
  g.cell = floor(fmin(width / (double)g.n_cells, 150 * u));
  g.left = box.x + g.label, g.top = box.y + 2.6 * small;
  g.row = floor(fmin((box.height - 5 * small) / (double)s->n_shown, 64 * u));
  g.gap = g.cell > 12 * u ? 3 * u : 1;
  return g;
}

static double token_x(const PageGrid *g, int64_t token) {
  const int64_t cell = token / g->cell_tokens, in = token % g->cell_tokens;
  return g->left + g->cell * (double)cell + (g->cell - g->gap) * (double)in / (double)g->cell_tokens;
}

/* Tokens [from, to), cell by cell, within one line of cells. */
static void fill_tokens(const Pen *pen, const PageGrid *g, double y, double high, int64_t from, int64_t to,
                        Colour colour) {
  for (int64_t cell = from / g->cell_tokens; cell * g->cell_tokens < to; cell++) {
    const int64_t begin = most(from, cell * g->cell_tokens), end = least(to, (cell + 1) * g->cell_tokens);
    const double x = token_x(g, begin), right = end == (cell + 1) * g->cell_tokens
                                                    ? g->left + g->cell * (double)(cell + 1) - g->gap
                                                    : token_x(g, end);
    pen_fill(pen, (Box){x, y, fmax(1, right - x), high}, colour, 1);
  }
}

static void draw_tokens(const Pen *pen, const PageGrid *g, const Served *s, const ServedRow *r, double y, double high,
                        int64_t begin, int64_t end) {
  const Theme *t = pen->theme;
  const Colour held = t->tile[TILE_COLOUR_HELD], done = t->tile[TILE_COLOUR_DONE];
  if (r->is_there) fill_tokens(pen, g, y, high, most(begin, r->first), end, held);
  fill_tokens(pen, g, y, high, most(begin, r->first), least(end, r->to), done);
  fill_tokens(pen, g, y, high, most(begin, r->tail), least(end, r->tail_end), done);
  fill_tokens(pen, g, y, high, most(begin, r->at), least(end, r->to_at), t->tile[TILE_COLOUR_CURRENT]);
  if (!r->is_there) { /* a chunk that is still to come */
    pen_dashed(pen, (Box){g->left, y, token_x(g, end - 1) + g->cell / (double)g->cell_tokens - g->left, high}, t->axis,
               1.2);
    return;
  }
  for (int64_t cell = begin / g->cell_tokens; cell * g->cell_tokens < end; cell++) {
    const int64_t room = ceil_div(r->keys, s->cache.page_tokens) * s->cache.page_tokens; /* of its last page too */
    const double left = g->left + g->cell * (double)cell;
    const bool is_short = (cell + 1) * g->cell_tokens > room;
    const Box page = {left, y, is_short ? token_x(g, room) - left : g->cell - g->gap, high};
    const bool is_partial = (cell + 1) * g->cell_tokens > r->keys && r->keys % s->cache.page_tokens;
    if (is_partial)
      pen_dashed(pen, page, t->ink, 1.2);
    else if (g->cell > 12 * pen->unit)
      pen_frame(pen, page, t->axis, 1);
  }
}

static void draw_row(const Pen *pen, const PageGrid *g, const Served *s, int64_t k) {
  const double small = pen_size(pen, TYPE_SMALL);
  const ServedRow *r = &s->rows[k];
  const double y = g->top + g->row * (double)k, high = g->row - 4 * pen->unit;
  char label[2 * NUMBER_CHARS];
  snprintf(label, sizeof label, "%s%s", s->chunks ? "+ " : "", number_count(wide(s->chunks ? r->fresh : r->keys)).text);
  pen_text(pen, TYPE_SMALL, pen->theme->ink, s->chunks && s->first_shown + k == s->present, ANCHOR_END,
           g->left - 10 * pen->unit, y + high / 2 + 0.36 * small, 0, label);
  draw_tokens(pen, g, s, r, y, high, s->shared, r->keys);
  if (s->chunks && r->is_there) { /* what the chunk brings */
    const double x = token_x(g, r->keys - r->fresh);
    pen_frame(
        pen, (Box){x - 1, y - 1, fmax(4, token_x(g, r->keys - 1) + g->cell / (double)g->cell_tokens - x + 2), high + 2},
        pen->theme->ink, 2);
  }
}

/* Once, as high as all rows. */
static void draw_prefix(const Pen *pen, const PageGrid *g, const Served *s) {
  const double small = pen_size(pen, TYPE_SMALL), high = g->row * (double)s->n_shown - 4 * pen->unit;
  ServedRow r = s->rows[0];
  if (!s->shared) return;
  for (int64_t k = 1; k < s->n_shown; k++)
    if (s->rows[k].keys > r.keys) r = s->rows[k]; /* as far as the walk is */
  draw_tokens(pen, g, s, &r, g->top, high, 0, s->shared);
  pen_text(pen, TYPE_SMALL, pen->theme->ink, true, ANCHOR_START, g->left, g->top + high + 1.3 * small, 0,
           "shared, kept once");
}

static void draw_pages(const Pen *pen, Box box, const Served *s) {
  const double small = pen_size(pen, TYPE_SMALL);
  const PageGrid g = lay(pen, box, s);
  char words[4 * NUMBER_CHARS];
  if (g.per_cell == 1)
    snprintf(words, sizeof words, "a box is a page of %s tokens", number_count(wide(s->cache.page_tokens)).text);
  else
    snprintf(words, sizeof words, "a box is %" PRId64 " pages of %" PRId64 " tokens", g.per_cell, s->cache.page_tokens);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_END, g.left - 10 * pen->unit, box.y + 1.2 * small, 0,
           s->chunks ? "chunk" : "tokens");
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, g.left, box.y + 1.2 * small, 0,
           pen_fitting(pen, box.x + box.width - g.left, words, "pages"));
  for (int64_t k = 0; k < s->n_shown; k++) draw_row(pen, &g, s, k);
  draw_prefix(pen, &g, s);
  if (s->n_shown == s->n) return;
  snprintf(words, sizeof words, "%s %" PRId64 " to %" PRId64 " of %" PRId64, s->chunks ? "chunks" : "sequences",
           s->first_shown + 1, s->first_shown + s->n_shown, s->n);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, g.left,
           g.top + g.row * (double)s->n_shown + 1.3 * small, 0, words);
}

/* ---- Figures ----------------------------------------------------------------------------------------------- */

static void draw_figure(const Pen *pen, Box *box, TypeSize type, const char *label, const char *shorter,
                        const char *number) {
  const double small = pen_size(pen, TYPE_SMALL), size = pen_size(pen, type);
  const double high = 1.5 * small + 1.3 * size;
  if (type > TYPE_BODY && pen_text_width(pen, type, true, number) > box->width) {
    draw_figure(pen, box, type == TYPE_NUMBER ? TYPE_TITLE : TYPE_BODY, label, shorter, number);
    return;
  }
  if (high > box->height) return;
  const Box row = box_cut_top(box, high, 7 * pen->unit);
  pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, row.x, row.y + 1.1 * small, 0,
           pen_fitting(pen, row.width, label, shorter));
  pen_text(pen, type, pen->theme->ink, true, ANCHOR_START, row.x, row.y + 1.35 * small + size, 0, number);
}

static void draw_bytes(const Pen *pen, Box *box, TypeSize type, const char *label, const char *shorter, Wide bytes) {
  draw_figure(pen, box, type, label, shorter, number_bytes(bytes).text);
}

static void draw_figures(const Pen *pen, Box box, const Served *s) {
  const double rate = timing_rate(&pen->now->gpu, TIME_HBM, pen->now->launched.dtype);
  const double small = pen_size(pen, TYPE_SMALL);
  char label[3 * NUMBER_CHARS];
  snprintf(label, sizeof label, "K and V read, of %s", number_bytes(s->whole_bytes).text);
  draw_bytes(pen, &box, TYPE_NUMBER, label, "K, V read", s->read_bytes);
  draw_figure(pen, &box, TYPE_TITLE, "pages", "pages", number_count(s->pages).text);
  snprintf(label, sizeof label, "empty in last pages, of %s", number_bytes(s->allocated_bytes).text);
  draw_bytes(pen, &box, TYPE_TITLE, label, "left empty", s->allocated_bytes - s->used_bytes);
  if (s->chunks)
    draw_bytes(pen, &box, TYPE_TITLE, "in one pass", "one pass", s->used_bytes);
  else
    draw_bytes(pen, &box, TYPE_TITLE, "reserved for the longest, each", "reserved", s->reserved_bytes);
  if (s->shared) draw_bytes(pen, &box, TYPE_TITLE, "spared by the prefix", "spared", s->saved_bytes);
  if (rate > 0 && !s->chunks) /* chunks may find K and V in L2 */
    draw_figure(pen, &box, TYPE_TITLE, "reading takes at least (bound)", "at least (bound)",
                number_seconds((double)s->whole_bytes / rate).text);
  if (1.4 * small < box.height)
    pen_text(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, box.x, box.y + small, 0,
             pen_fitting(pen, box.width, "one layer, all KV heads", "one layer"));
}

/* ---- The scene --------------------------------------------------------------------------------------------- */

static void tell_numbers(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  Served s;
  served_make(&s, now);
  char read[NUMBER_CHARS], whole[NUMBER_CHARS], pages[NUMBER_CHARS], tokens[NUMBER_CHARS];
  snprintf(read, sizeof read, "%s", number_bytes(s.read_bytes).text);
  snprintf(whole, sizeof whole, "%s", number_bytes(s.whole_bytes).text);
  snprintf(pages, sizeof pages, "%s", number_count(s.pages).text);
  snprintf(tokens, sizeof tokens, "%s", number_count(wide(s.cache.page_tokens)).text);
  if (s.chunks) {
    snprintf(said->what, sizeof said->what, "Chunk %" PRId64 " of %" PRId64 ": %.40s of %.40s read.", s.present + 1,
             s.n, read, whole);
    snprintf(said->why, sizeof said->why, "Each chunk reads K and V of %s, and its own: %.20s of one pass.",
             now->launched.window ? "its window" : "all before it", number_ratio_of(s.whole_bytes, s.used_bytes).text);
    return;
  }
  const int64_t N_q = queries_of(now);
  snprintf(said->what, sizeof said->what, "%.40s new %s of %" PRId64 " %s: %.40s of %.40s read.",
           number_count(wide(N_q)).text, N_q == 1 ? "token" : "tokens", s.n, s.n == 1 ? "sequence" : "sequences", read,
           whole);
  snprintf(said->why, sizeof said->why, "%.40s pages of %.20s tokens; only the last of a sequence may have room left.",
           pages, tokens);
}

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  tell_numbers(now, memo, said);
  if (now->schedule->n_passes > 1 && !now->schedule->splits)
    snprintf(said->why, sizeof said->why, "This program has %d passes; the first over the keys is followed here.",
             now->schedule->n_passes);
}

static void draw(const Pen *pen) {
  Narration said;
  Served s;
  tell(pen->now, pen->view->memo, &said);
  served_make(&s, pen->now);
  Box body = pen_page_told(pen, "A KV cache in pages", &said);
  const Box side = box_cut_side(pen, &body, 0.27, 0.4, 24 * pen->unit);
  draw_pages(pen, body, &s);
  draw_figures(pen, side, &s);
}

const Scene SERVING_SCENE = {
    .title = "A KV cache in pages: decodes, or a prompt in chunks", .key = 'E', .draw = draw, .narrate = tell};
