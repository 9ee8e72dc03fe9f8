/* One cache and many who read it: sequences, chunks, splits or GPUs (viz/scene/many.h). */
#include <stdio.h>

#include "viz/scene/many.h"
#include "viz/scene/score_table.h"
#include "viz/scene/sheet.h"
#include "viz/text/number.h"

/* ---- In words ---------------------------------------------------------------------------------------------------- */

static void tell_ranks(const Many *m, Narration *said) {
  const Number sent = number_bytes(m->sent_bytes);
  if (m->error.status) {
    snprintf(said->what, sizeof said->what, "These tokens do not go around a ring.");
    snprintf(said->why, sizeof said->why, "%.*s.", (int)(sizeof said->why - 2), m->error.message);
    return;
  }
  if (m->beat < m->n)
    snprintf(said->what, sizeof said->what, "Step %jd of %jd: %.40s of %.40s have crossed the links.", m->beat + 1,
             m->n, sent.text, number_bytes(m->all_bytes).text);
  else
    snprintf(said->what, sizeof said->what, "All %jd steps: %.40s crossed the links, idle %.20s.", m->n, sent.text,
             number_percent(m->idle).text);
  if (!m->ranks.shape.causal)
    snprintf(said->why, sizeof said->why, "Every block is whole: all ranks have as much to do.");
  else if (m->ranks.scheme != SCHEME_RING)
    snprintf(said->why, sizeof said->why, "Every rank has half a block to do in each step%s.",
             m->ranks.scheme == SCHEME_STRIPED ? ", but for its diagonal" : "");
  else if (m->beat == 0)
    snprintf(said->why, sizeof said->why, "Each rank has its own block, half of which the mask hides.");
  else
    snprintf(said->why, sizeof said->why, "%jd of %jd ranks idle: the mask hides all keys of later ranks from them.",
             m->beat < m->n ? m->idle_ranks : m->n - 1, m->n);
}

static void tell_splits(const Snapshot *now, const Many *m, Narration *said) {
  const Number unsplit = number_count(m->ctas_unsplit), ctas = number_count(m->ctas);
  narrate(now, said);
  if (now->has_event && now->event.pass > 0) return; /* the parts are being combined */
  if (!now->has_event) {
    snprintf(said->what, sizeof said->what, "A CTA for each head and row block makes %.40s, for %.40s SMs.",
             unsplit.text, number_count(m->sms).text);
    snprintf(said->why, sizeof said->why, "With the keys in %jd parts %.40s CTAs work at once.", m->n, ctas.text);
    return;
  }
  snprintf(said->why, sizeof said->why, "%s", said->what);
  snprintf(said->what, sizeof said->what, "%.40s CTAs read all %jd parts at once, not %.40s: %.16s is read.", ctas.text,
           m->n, unsplit.text, number_percent(m->loaded).text);
}

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  (void)memo;
  Many m;
  many_make(&m, now, 0);
  const Number read = number_bytes(m.read_bytes);
  memset(said, 0, sizeof *said);
  if (m.kind == MANY_RANKS) {
    tell_ranks(&m, said);
    return;
  }
  if (m.kind == MANY_SPLITS) {
    tell_splits(now, &m, said);
    return;
  }
  if (m.kind == MANY_CHUNKS) {
    snprintf(said->what, sizeof said->what, "Chunk %jd of %jd: %.40s of %.40s read.", m.present + 1, m.n, read.text,
             number_bytes(m.whole_bytes).text);
    snprintf(said->why, sizeof said->why, "Each chunk reads K and V of %s, and its own: %.20s of one pass.",
             now->launched.window ? "its window" : "all before it", number_ratio_of(m.whole_bytes, m.used_bytes).text);
    return;
  }
  const int64_t queries = now->launched.N_q / (now->problem.shape.group > 1 ? now->problem.shape.group : 1);
  snprintf(said->what, sizeof said->what, "%.40s new %s of %jd %s: %.40s of %.40s read.",
           number_count(wide(queries)).text, queries == 1 ? "token" : "tokens", m.n,
           m.n == 1 ? "sequence" : "sequences", read.text, number_bytes(m.whole_bytes).text);
  snprintf(said->why, sizeof said->why, "%.40s pages of %.20s tokens; only the last of a sequence may have room left.",
           number_count(m.pages).text, number_count(wide(m.cache.page_tokens)).text);
}

/* ---- The sheet --------------------------------------------------------------------------------------------------- */

enum { WORDS = 64 };

typedef struct {
  char title[WORDS], note[WORDS], caption[2][WORDS], number[WORDS], unit[WORDS];
  bool waits; /* the sentence is of who waits */
} ManyWords;

static void say_title(int64_t n, const char *one, const char *more, char title[WORDS]) {
  static const char *const NAMES[] = {"No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"};
  if (n < 10)
    snprintf(title, WORDS, "%s %s", NAMES[n], n == 1 ? one : more);
  else
    snprintf(title, WORDS, "%jd %s", n, more);
}

static void say_ranks(const Many *m, ManyWords *w) {
  int64_t first = -1, last = -1;
  say_title(m->n, "GPU", "GPUs", w->title);
  if (m->error.status) {
    snprintf(w->caption[0], WORDS, "these tokens do not go around");
    return;
  }
  snprintf(w->note, WORDS, "%s", SCHEME_NAMES[m->ranks.scheme]);
  for (int64_t r = 0; r < m->n && m->beat < m->n; r++)
    if (ranks_step(&m->ranks, m->beat, r).piece == RANK_PIECE_NONE) last = r, first = first < 0 ? r : first;
  w->waits = first >= 0 || (m->beat >= m->n && m->idle > 0.005);
  if (m->beat >= m->n) {
    snprintf(w->number, WORDS, "%.0f %%", 100 * m->idle), snprintf(w->unit, WORDS, "idle");
    snprintf(w->caption[0], WORDS, w->waits ? "early GPUs wait" : "no GPU waits");
    if (w->waits && m->ranks.scheme != SCHEME_RING) snprintf(w->caption[0], WORDS, "blocks are not quite alike");
  } else if (first < 0) {
    snprintf(w->caption[0], WORDS, "all GPUs work");
  } else if (first == last) {
    snprintf(w->caption[0], WORDS, "GPU %jd waits: all masked", first);
  } else {
    snprintf(w->caption[0], WORDS, "GPUs %jd %s %jd wait: all masked", first, last - first > 1 ? "to" : "and", last);
  }
}

static void say_busy(Wide ctas, Wide sms, ManyWords *w) {
  if (sms <= 0) return;
  snprintf(w->number, WORDS, "%.24s", number_count(ctas < sms ? ctas : sms).text);
  snprintf(w->unit, WORDS, "of %.24s SMs", number_count(sms).text);
}

static void say(const Snapshot *now, const Many *m, ManyWords *w) {
  memset(w, 0, sizeof *w);
  if (m->kind == MANY_RANKS) {
    say_ranks(m, w);
    return;
  }
  if (m->kind == MANY_CHUNKS) {
    say_title(m->n, "chunk", "chunks", w->title);
    snprintf(w->caption[0], WORDS, "each reads %s", now->launched.window ? "its window" : "all before it");
    snprintf(w->number, WORDS, "%.1f×", (double)m->whole_bytes / fmax(1, (double)m->used_bytes));
    snprintf(w->unit, WORDS, "one pass");
    return;
  }
  if (m->kind == MANY_SPLITS) {
    say_title(m->n, "split", "splits", w->title);
    if (now->has_event && now->event.pass > 0)
      snprintf(w->caption[0], WORDS, "their parts are added up");
    else if (m->sms > 0)
      snprintf(w->caption[0], WORDS, "unsplit: %.24s of them",
               number_count(m->ctas_unsplit < m->sms ? m->ctas_unsplit : m->sms).text);
    say_busy(m->ctas, m->sms, w);
    return;
  }
  say_title(m->n, "sequence", "sequences", w->title);
  if (m->saved_pages > 0) {
    snprintf(w->caption[0], WORDS, "one prefix: kept once, read once");
    snprintf(w->caption[1], WORDS, "one prefix, kept once");
    snprintf(w->number, WORDS, "%.24s", number_count(m->saved_pages).text);
    snprintf(w->unit, WORDS, "pages saved");
    return;
  }
  snprintf(w->caption[0], WORDS, m->n > 1 ? "each reads its own cache" : "one cache, one reader");
  say_busy(m->ctas, m->sms, w);
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* Where tokens lie: cells of some pages, from `left` on. */
typedef struct {
  double left, top, cell, pitch, high, gap;
  int64_t cell_tokens;
} PageGrid;

/* A page, or where they are many some of them. */
static int64_t tokens_of_box(const Pen *pen, const Many *m) {
  const int64_t pages = ceil_div(m->longest, m->cache.page_tokens),
                room = (int64_t)fmax(1, 0.88 * pen->page.width /
                                            fmax(8, 8 * pen->unit)); /* narrower boxes cannot be counted */
  return ceil_div(pages, room) * m->cache.page_tokens;
}

static PageGrid lay(const Pen *pen, Box box, const Many *m) {
  PageGrid g = {.left = box.x, .top = box.y};
  g.cell_tokens = tokens_of_box(pen, m);
  g.cell = fmin(box.width / (double)ceil_div(m->longest, g.cell_tokens), box.height / 2);
  g.pitch = fmin(box.height / (double)m->n_shown, box.height / 2);
  g.high = floor(g.pitch * (m->n_shown > 1 ? 0.78 : 1));
  g.gap = g.cell > 6 ? fmax(2, round(0.1 * g.cell)) : 0;
  return g;
}

static double token_x(const PageGrid *g, int64_t token) {
  const int64_t cell = token / g->cell_tokens, in = token % g->cell_tokens;
  return floor(g->left + g->cell * (double)cell) +
         round((floor(g->cell) - g->gap) * (double)in / (double)g->cell_tokens);
}

/* Tokens [from, to), cell by cell. */
static void add_tokens(const Pen *pen, const PageGrid *g, double y, double high, int64_t from, int64_t to,
                       Colour colour) {
  for (int64_t cell = from / g->cell_tokens; cell * g->cell_tokens < to; cell++) {
    const int64_t begin = cell * g->cell_tokens, end = begin + g->cell_tokens;
    const double x = token_x(g, from > begin ? from : begin),
                 right = to < end ? token_x(g, to) : floor(g->left + g->cell * (double)cell) + floor(g->cell) - g->gap;
    box_path(pen->cr, (Box){x, y, fmax(1, right - x), high});
  }
  pen_fill_path(pen, colour);
}

/* What waits is grey, what has been read blue, what is being read amber; a page's empty rest is a frame. */
static void draw_row(const Pen *pen, const PageGrid *g, const Many *m, const ManyRow *r, double y, double high,
                     int64_t begin, int64_t end) {
  const Theme *t = pen->theme;
  const int64_t page = m->cache.page_tokens, room = ceil_div(end, page) * page,
                from = begin > r->first ? begin : r->first, read = r->first + r->read < end ? r->first + r->read : end,
                at = r->at > from ? r->at : from, at_end = r->end < end ? r->end : end;
  const Colour faint = theme_mix(t->background, t->axis, 0.6);
  if (end <= from) return;
  if (room > end && g->cell_tokens == page && m->kind != MANY_SPLITS) {
    const double x = token_x(g, room - page);
    pen_frame(pen, (Box){x, y, floor(g->cell) - g->gap, high}, t->axis, 1);
  }
  add_tokens(pen, g, y, high, from, end, r->is_there ? theme_mix(t->background, t->axis, 0.75) : faint);
  if (read > from) add_tokens(pen, g, y, high, from, read, t->series[INK_BLUE]);
  if (at_end > at) add_tokens(pen, g, y, high, at, at_end, t->tile[TILE_COLOUR_CURRENT]);
}

static void draw_pages(const Pen *pen, Box box, const Many *m) {
  const PageGrid g = lay(pen, box, m);
  const ManyRow *longest = &m->rows[0];
  for (int64_t k = 0; k < m->n_shown; k++) {
    const ManyRow *r = &m->rows[k];
    draw_row(pen, &g, m, r, floor(g.top + g.pitch * (double)k), g.high, m->shared, r->keys);
    if (r->keys > longest->keys) longest = r;
  }
  if (m->shared) /* once, as high as all rows; as far as the walk is */
    draw_row(pen, &g, m, longest, floor(g.top), floor(g.pitch * (double)(m->n_shown - 1)) + g.high, 0, m->shared);
}

/* ---- Blocks of GPUs ---------------------------------------------------------------------------------------------- */

/* A block's part that is not masked: all, below the diagonal, its first half of keys, or its last half of rows. */
static void add_block(const Pen *pen, Box b, RankPieceKind piece) {
  const double right = b.x + b.width, bottom = b.y + b.height;
  if (piece == RANK_PIECE_KEYS) b.width = round(b.width / 2);
  if (piece == RANK_PIECE_ROWS) b.y += round(b.height / 2), b.height = bottom - b.y;
  if (piece != RANK_PIECE_CAUSAL && piece != RANK_PIECE_STRICT) {
    box_path(pen->cr, b);
    return;
  }
  cairo_move_to(pen->cr, b.x, b.y);
  cairo_line_to(pen->cr, right, bottom);
  cairo_line_to(pen->cr, b.x, bottom);
  cairo_close_path(pen->cr);
}

static void draw_block(const Pen *pen, Box box, const Many *m, const ManyBlock *block) {
  const Theme *t = pen->theme;
  const bool is_past = block->beat < m->beat, is_now = block->beat == m->beat, waits = block->piece == RANK_PIECE_NONE;
  const Colour faint = theme_mix(t->background, t->axis, 0.6);
  if (waits) {
    const bool idle = is_past || is_now;
    pen_hatch(pen, box, theme_mix(t->background, t->waste, idle ? 0.35 : 0), idle ? t->waste : faint);
    return;
  }
  pen_frame(pen, box, faint, 1);
  if (!is_past && !is_now) return;
  add_block(pen, box, block->piece);
  pen_fill_path(pen, is_now ? t->tile[TILE_COLOUR_CURRENT] : t->series[INK_BLUE]);
}

/* The keys of rank k, on their way from the rank that has them to the next. */
static void draw_keys(const Pen *pen, Box at, int64_t k, double size) {
  static const char *const DIGITS[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  char name[24];
  snprintf(name, sizeof name, "K%s%s", k > 9 ? DIGITS[k / 10 % 10] : "", DIGITS[k % 10]);
  const double wide = fmin(at.width, pen_words_width(pen, size, true, name) + size), high = fmin(at.height, 1.5 * size);
  const Box chip = box_at(at.x + (at.width - wide) / 2, at.y + (at.height - high) / 2, wide, high);
  pen_body(pen, BODY_TILE, (int)k, chip, 1);
  pen_fill(pen, chip, pen->theme->ink, 1);
  if (high > 1.1 * size && wide > pen_words_width(pen, size, true, name))
    pen_words(pen, size, theme_on(pen->theme->ink), true, ANCHOR_MIDDLE, chip.x + wide / 2,
              chip.y + high / 2 + 0.36 * size, name);
}

static void draw_ranks(const Pen *pen, Box box, const Many *m, double letters) {
  char name[32];
  const int64_t n = m->n;
  snprintf(name, sizeof name, "GPU %jd", n - 1);
  const double names = pen_words_width(pen, letters, false, name) + letters,
               cell = floor(fmin((box.width - names) / (double)n, box.height / (double)n)),
               gap = fmax(1, round(0.09 * cell)), size = fmin(letters, 0.3 * cell);
  const Box corner = box_at(box.x + names + fmax(0, (box.width - names - cell * (double)n) / 2 - names / 2),
                            box.y + fmax(0, (box.height - cell * (double)n) / 2), cell - gap, cell - gap);
  if (cell < 3 || pen->hit) return;
  for (int64_t r = 0; r < n; r++) {
    const double y = corner.y + cell * (double)r;
    const bool waits = m->beat < n && ranks_step(&m->ranks, m->beat, r).piece == RANK_PIECE_NONE;
    snprintf(name, sizeof name, "GPU %jd", r);
    pen_body(pen, BODY_HOME, (int)r, (Box){corner.x, y, cell * (double)n, cell}, 1);
    if (cell > 1.2 * letters)
      pen_words(pen, letters, waits ? pen->theme->ink_soft : pen->theme->ink, false, ANCHOR_END,
                corner.x - 0.6 * letters, y + (cell - gap) / 2 + 0.36 * letters, name);
    for (int64_t k = 0; k < n; k++) {
      const ManyBlock block = many_block(m, r, k);
      draw_block(pen, (Box){corner.x + cell * (double)k, y, cell - gap, cell - gap}, m, &block);
    }
  }
  const bool moves = m->beat + 1 < n;
  const double way = m->part * m->part * (3 - 2 * m->part);
  for (int64_t k = 0; k < n && m->beat < n; k++) {
    double row = (double)((k + m->beat) % n) + (moves ? way : 0);
    if (row > (double)n - 0.5) row -= (double)n; /* from the last to the first */
    draw_keys(pen, (Box){corner.x + cell * (double)k, corner.y + cell * row, cell - gap, cell - gap}, k, size);
  }
}

static void draw(const Pen *pen) {
  const Box page = pen_page_bare(pen);
  Many m;
  ManyWords w;
  if (pen->hit) return;
  many_make(&m, pen->now, pen->view->phase);
  say(pen->now, &m, &w);
  const Theme *t = pen->theme;
  if (m.kind != MANY_RANKS)
    snprintf(w.note, WORDS, "a box: %.40s tokens", number_count(wide(tokens_of_box(pen, &m))).text);
  const Sheet sheet = {.title = w.title,
                       .note = *w.note ? w.note : NULL,
                       .caption = {*w.caption[0] ? w.caption[0] : NULL, *w.caption[1] ? w.caption[1] : NULL},
                       .colour = w.waits ? t->waste_text : t->series_text[INK_BLUE],
                       .number = *w.number ? w.number : NULL,
                       .unit = w.unit};
  const Box body = pen_sheet(pen, page, &sheet);
  if (m.kind == MANY_RANKS && !m.error.status)
    draw_ranks(pen, body, &m, sheet_letters(pen, page));
  else if (m.kind != MANY_RANKS)
    draw_pages(pen, body, &m);
}

const Scene MANY_SCENE = {.title = "Who reads the cache", .draw = draw, .narrate = tell};
