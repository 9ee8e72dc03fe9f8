#include "viz/paper/lesson_flow.h"

#include <stdlib.h>

#include "viz/text/prose.h"

#define PADDING    9.0 /* within boxes, in units */
#define INDENT_EMS 1.5 /* of a level */

/* ---- Pieces ---------------------------------------------------------------------------------------------- */

void flow_clear(Flow *f) {
  f->store.used = f->store.used > 0 ? 1 : 0;
  f->n = f->n_spans = f->n_cells = f->n_links = f->text_bytes = 0;
  f->is_cut = false;
}

void flow_free(Flow *f) {
  text_store_free(&f->store);
  free(f->pieces);
  free(f->spans);
  free(f->cells);
  free(f->links);
  memset(f, 0, sizeof *f);
}

static FlowPiece *push(Flow *f, FlowPiece **pieces, size_t *n, size_t *capacity, FlowPiece piece) {
  f->nowhere = piece;
  if (!grow_array((void **)pieces, capacity, *n + 1, sizeof piece)) return &f->nowhere;
  (*pieces)[*n] = piece;
  return &(*pieces)[(*n)++];
}

static FlowPiece *flow_add(Flow *f, PieceKind kind, const char *text) {
  FlowPiece piece = {.kind = kind, .size = 1, .gap = 9, .widget = -1, .first_span = f->n_spans};
  const size_t length = strlen(text);
  if (f->text_bytes + length > FLOW_TEXT_BYTES) {
    f->nowhere = piece;
    if (f->is_cut) return &f->nowhere;
    f->is_cut = true;
    piece.kind = PIECE_TEXT;
    piece.ink = ROLE_WARN;
    text = "This page is longer than 64 KiB. The rest of it is left out; a \"##\" between would make pages of it.";
  } else {
    f->text_bytes += length + 16;
  }
  piece.text = text_store_add(&f->store, text);
  return push(f, &f->pieces, &f->n, &f->capacity, piece);
}

static FlowPiece *flow_cell(Flow *f, bool is_heading, const char *text) {
  f->text_bytes += strlen(text) + 16;
  return push(f, &f->cells, &f->n_cells, &f->cells_capacity,
              (FlowPiece){.size = 0.94,
                          .widget = -1,
                          .bold = is_heading,
                          .text = text_store_add(&f->store, text),
                          .first_span = f->n_spans});
}

static void flow_span(Flow *f, FlowPiece *piece, size_t begin, size_t end, unsigned look) {
  if (piece == &f->nowhere || begin >= end ||
      !grow_array((void **)&f->spans, &f->spans_capacity, f->n_spans + 1, sizeof *f->spans))
    return;
  f->spans[f->n_spans++] = (ParagraphSpan){begin, end, look};
  piece->n_spans = f->n_spans - piece->first_span;
}

/* Takes `backticks` for code, and leaves them out. */
static FlowPiece *add_with_code(Flow *f, PieceKind kind, const char *words, const char *text) {
  const size_t n = strlen(words);
  FlowPiece spans = {.first_span = f->n_spans};
  char *plain = malloc(n + strlen(text) + 3);
  if (!plain) return flow_add(f, kind, "");
  size_t used = (size_t)sprintf(plain, "%s%s", words, n && *text ? "  " : ""), open = SIZE_MAX;
  flow_span(f, &spans, 0, n, LOOK_BOLD);
  for (const char *p = text; *p; p++) {
    if (*p != '`' || (open == SIZE_MAX && !strchr(p + 1, '`'))) {
      plain[used++] = *p;
      continue;
    }
    if (open != SIZE_MAX) flow_span(f, &spans, open, used, LOOK_CODE);
    open = open == SIZE_MAX ? used : SIZE_MAX;
  }
  plain[used] = '\0';
  FlowPiece *piece = flow_add(f, kind, plain);
  piece->first_span = spans.first_span;
  piece->n_spans = spans.n_spans;
  free(plain);
  return piece;
}

FlowPiece *flow_boxed(Flow *f, TextRole ink, const char *words, const char *text) {
  FlowPiece *piece = add_with_code(f, PIECE_TEXT, words, text);
  piece->ink = ink;
  piece->is_boxed = true;
  return piece;
}

FlowPiece *flow_text(Flow *f, TextRole ink, const char *text) {
  FlowPiece *piece = flow_boxed(f, ink, "", text);
  piece->is_boxed = false;
  return piece;
}

FlowPiece *flow_heading(Flow *f, double size, const char *text) {
  FlowPiece *piece = flow_add(f, PIECE_TEXT, text);
  piece->size = size;
  piece->bold = true;
  piece->gap = 14;
  return piece;
}

FlowPiece *flow_code(Flow *f, const char *text) {
  FlowPiece *piece = flow_add(f, PIECE_CODE, text);
  if (piece->kind == PIECE_CODE) piece->size = 0.88;
  return piece;
}

FlowPiece *flow_option(Flow *f, int widget, const char *mark, const char *text) {
  FlowPiece *piece = add_with_code(f, PIECE_OPTION, "", text);
  piece->widget = widget;
  piece->gap = 5;
  piece->mark = text_store_add(&f->store, mark);
  return piece;
}

FlowPiece *flow_press(Flow *f, PieceKind kind, int widget, const char *text) {
  FlowPiece *piece = flow_add(f, kind, text);
  piece->widget = widget;
  return piece;
}

/* ---- Markdown as pieces --------------------------------------------------------------------------------- */

/* Keeps the looks of a block, and where its links lead. */
static void keep_spans(Flow *f, FlowPiece *piece, const ProseBlock *b, bool keeps_links) {
  for (int k = 0; k < b->n_spans; k++) {
    const ParagraphSpan s = b->spans[k].span;
    flow_span(f, piece, s.begin, s.end, s.look);
    if (!b->spans[k].target || !keeps_links || piece == &f->nowhere) continue;
    if (!grow_array((void **)&f->links, &f->links_capacity, f->n_links + 1, sizeof *f->links)) return;
    f->links[f->n_links++] =
        (FlowLink){s.begin, s.end, (size_t)(piece - f->pieces), text_store_add(&f->store, b->spans[k].target)};
  }
}

/* Only whole rows of the last piece count. */
static void take_cell(Flow *f, const ProseBlock *b) {
  FlowPiece *table = f->n ? &f->pieces[f->n - 1] : &f->nowhere;
  const int n_columns = table->n_columns;
  if (table->kind != PIECE_TABLE || b->column >= n_columns || f->text_bytes + strlen(b->text) > FLOW_TEXT_BYTES) return;
  FlowPiece *cell = flow_cell(f, b->row == 0, b->text);
  cell->right = b->right;
  keep_spans(f, cell, b, false);
  if (b->column + 1 == n_columns && f->n_cells == table->first_cell + (size_t)(table->n_rows + 1) * (size_t)n_columns)
    table->n_rows++;
}

static bool take(void *data, const ProseBlock *b) {
  Flow *f = data;
  FlowPiece *piece;
  if (b->kind == PROSE_CELL) take_cell(f, b);
  if (b->kind == PROSE_RULE) flow_add(f, PIECE_RULE, "");
  if (b->kind == PROSE_CELL || b->kind == PROSE_RULE || (b->kind == PROSE_TABLE && b->is_end)) return true;
  if (b->kind == PROSE_TABLE) {
    piece = flow_add(f, PIECE_TABLE, "");
    piece->first_cell = f->n_cells;
    piece->n_columns = b->n_columns < FLOW_COLUMNS_MAX ? b->n_columns : FLOW_COLUMNS_MAX;
    piece->gap = 12;
    return true;
  }
  piece = b->kind == PROSE_CODE      ? flow_code(f, b->text)
          : b->kind == PROSE_HEADING ? flow_heading(f, b->level <= 2 ? 1.3 : 1.12, b->text)
                                     : flow_add(f, PIECE_TEXT, b->text);
  piece->indent = b->depth;
  const char *mark = b->depth && b->is_new[b->depth - 1] ? b->marks[b->depth - 1] : NULL;
  for (int k = 0; k < b->depth && b->kind == PROSE_TEXT; k++)
    if (!b->marks[k]) piece->ink = ROLE_DIM;
  if (mark && b->kind != PROSE_CODE) piece->mark = text_store_add(&f->store, mark);
  if (b->is_tight) piece->gap = 4;
  keep_spans(f, piece, b, true);
  return true;
}

void flow_markdown(Flow *flow, const char *source) {
  if (!prose_read(source, strlen(source), false, take, flow)) flow->store.status = STATUS_NO_MEMORY;
}

/* ---- Places ---------------------------------------------------------------------------------------------- */

static Paragraph paragraph_of(const Flow *f, const FlowPiece *p, const Theme *t) {
  return (Paragraph){.text = text_store_get(&f->store, p->text),
                     .spans = f->spans + p->first_span,
                     .n_spans = p->n_spans,
                     .sans = t->sans,
                     .mono = t->mono,
                     .size = p->size * f->em * f->unit,
                     .bold = p->bold,
                     .right = p->right,
                     .fixed_width = p->kind == PIECE_CODE || p->kind == PIECE_FIELD,
                     .code = p->kind == PIECE_TEXT && p->is_boxed ? t->background : t->panel,
                     .link = t->series_text[INK_BLUE]};
}

/* Columns get what they want when there is room; else the wide ones share what the narrow ones leave. */
static void share_widths(double *width, int n, double room) {
  const double fair = room / n;
  for (int round = 0; round < n; round++) { /* in each at least one comes down to its share, or all fit */
    double narrow = 0, wide = 0;
    for (int k = 0; k < n; k++) *(width[k] <= fair ? &narrow : &wide) += width[k];
    if (narrow + wide <= room) return;
    for (int k = 0; k < n; k++)
      if (width[k] > fair) width[k] = fmax(fair, width[k] * (room - narrow) / wide);
  }
}

static double place_table(Flow *f, const FlowPiece *p, cairo_t *cr, const Theme *t, double x, double y) {
  const double gap = 14 * f->unit, room = f->width - x;
  double width[FLOW_COLUMNS_MAX] = {0};
  for (int k = 0; k < p->n_columns * p->n_rows; k++) {
    const Paragraph cell = paragraph_of(f, &f->cells[p->first_cell + (size_t)k], t);
    width[k % p->n_columns] = fmax(width[k % p->n_columns], ceil(paragraph_measure(cr, &cell, 0).width) + 1);
  }
  share_widths(width, p->n_columns, fmax(room - gap * (p->n_columns - 1), room / 2));
  const double top = y;
  for (int row = 0; row < p->n_rows; row++) {
    double height = 0, left = x;
    for (int k = 0; k < p->n_columns; k++) {
      FlowPiece *c = &f->cells[p->first_cell + (size_t)(row * p->n_columns + k)];
      const Paragraph cell = paragraph_of(f, c, t);
      c->body = (Box){left, y, width[k], 0};
      height = fmax(height, paragraph_measure(cr, &cell, width[k]).height);
      left += width[k] + gap;
    }
    y += height + 6 * f->unit;
  }
  return y - top;
}

/* Text, code and options: the text, and around it where it stands on a ground its bar, its mark, and room. */
static void place_text(const Flow *f, FlowPiece *p, cairo_t *cr, const Theme *t, Box at) {
  const bool is_option = p->kind == PIECE_OPTION, has_ground = is_option || p->kind == PIECE_CODE || p->is_boxed;
  const double u = f->unit, pad = has_ground ? PADDING * u : 0,
               mark = is_option     ? 26 * u * fmax(1, f->em / 16)
                      : p->is_boxed ? 5 * u
                                    : 0,
               width = fmax(8, at.width - 2 * pad - mark);
  Paragraph text = paragraph_of(f, p, t);
  if (!*text.text) text.text = " ";
  const double height = ceil(paragraph_measure(cr, &text, width).height);
  p->box = box_at(at.x, at.y, at.width, height + 2 * pad);
  p->body = (Box){p->box.x + pad + mark, p->box.y + pad, width, height};
}

/* Code keeps its lines where they can be made to fit. */
static void fit_code(const Flow *f, FlowPiece *p, cairo_t *cr, const Theme *t, double width) {
  const Paragraph text = paragraph_of(f, p, t);
  const double natural = paragraph_measure(cr, &text, 0).width;
  if (natural > width) p->size = fmax(0.62, p->size * width / natural * 0.995);
}

void flow_place(Flow *f, cairo_t *cr, const Theme *t, double width, double unit, double em) {
  const double u = unit, pad = PADDING * u;
  f->unit = unit;
  f->em = em;
  f->width = width;
  double y = 0, row_x = 0;
  for (size_t k = 0; k < f->n; k++) {
    FlowPiece *p = &f->pieces[k];
    const bool follows_button = k > 0 && p->kind == PIECE_BUTTON && f->pieces[k - 1].kind == PIECE_BUTTON;
    const double x = p->indent * INDENT_EMS * em * u, room = fmax(20, width - x);
    if (k > 0 && !follows_button) y += p->gap * u;
    switch (p->kind) {
    case PIECE_CODE: fit_code(f, p, cr, t, room - 2 * pad); /* fallthrough */
    case PIECE_TEXT:
    case PIECE_OPTION: place_text(f, p, cr, t, (Box){x, y, room, 0}); break;
    case PIECE_RULE: p->box = box_at(x, y, room, fmax(1, u)); break;
    case PIECE_TABLE: p->box = box_at(x, y, room, place_table(f, p, cr, t, x, y)); break;
    case PIECE_FIELD: p->box = box_at(x, y, room, 2.1 * em * u + pad); break;
    case PIECE_BUTTON: {
      const Paragraph text = paragraph_of(f, p, t);
      const double wanted = fmin(room, ceil(paragraph_measure(cr, &text, 0).width) + 2.6 * pad),
                   height = ceil(1.35 * em * u + 1.7 * pad);
      if (follows_button && row_x + wanted <= width) {
        p->box = box_at(row_x, f->pieces[k - 1].box.y, wanted, height);
      } else {
        if (follows_button) y += 6 * u;
        p->box = box_at(x, y, wanted, height);
      }
      row_x = p->box.x + p->box.width + 8 * u;
      break;
    }
    }
    y = fmax(y, p->box.y + p->box.height);
  }
  f->height = ceil(y);
}

/* ---- Drawing --------------------------------------------------------------------------------------------- */

static Colour ink_of(const Theme *t, TextRole role) {
  const Colour inks[] = {[ROLE_PLAIN] = t->ink, [ROLE_GOOD] = t->good,    [ROLE_WARN] = t->warn,
                         [ROLE_BAD] = t->bad,   [ROLE_DIM] = t->ink_soft, [ROLE_ACCENT] = t->series_text[INK_BLUE]};
  return inks[role];
}

/* The ground of what can be pressed, framed by what it is and by who points at it. */
static void draw_ground(const Flow *f, const FlowPiece *p, cairo_t *cr, const Theme *t, Box at, Colour ground,
                        const FlowView *v) {
  const bool is_live = p->widget >= 0 && p->look < LOOK_OFF, has_focus = is_live && v->focus == p->widget,
             is_lit = has_focus || (is_live && v->hover == p->widget);
  Colour edge = is_live ? t->axis : t->grid;
  if (p->look == LOOK_RIGHT) edge = t->good;
  if (is_lit) edge = t->ink;
  box_fill(cr, at, ground, 1);
  box_frame(cr, at, edge, fmax(1, floor((1 + is_lit + has_focus) * f->unit)));
}

static void draw_body(const Flow *f, const FlowPiece *p, cairo_t *cr, const Theme *t, Colour ink, const FlowView *v) {
  const Paragraph text = paragraph_of(f, p, t);
  theme_use(cr, ink, 1);
  paragraph_draw(cr, &text, v->x + p->body.x, v->y + p->body.y, p->body.width);
}

static void draw_text(const Flow *f, const FlowPiece *p, cairo_t *cr, const Theme *t, Box at, const FlowView *v) {
  const Colour ink = ink_of(t, p->ink);
  const double indent = INDENT_EMS * f->em * f->unit;
  const FlowPiece mark = {.text = p->mark, .size = p->size, .body = {p->body.x - indent, p->body.y, indent, 0}};
  if (p->is_boxed || p->kind == PIECE_CODE) box_fill(cr, at, t->panel, 1);
  if (p->is_boxed) box_fill(cr, (Box){at.x, at.y, 5 * f->unit, at.height}, ink, 1);
  if (p->mark && !p->is_boxed) draw_body(f, &mark, cr, t, t->ink_soft, v);
  draw_body(f, p, cr, t, p->is_boxed ? t->ink : ink, v);
}

static void draw_table(const Flow *f, const FlowPiece *p, cairo_t *cr, const Theme *t, const FlowView *v) {
  for (int k = 0; k < p->n_columns * p->n_rows; k++) {
    const FlowPiece *c = &f->cells[p->first_cell + (size_t)k];
    draw_body(f, c, cr, t, t->ink, v);
    if (k % p->n_columns == 0 && k > 0)
      box_fill(cr, box_at(v->x + p->box.x, v->y + c->body.y - 4 * f->unit, p->box.width, fmax(1, f->unit)),
               k == p->n_columns ? t->axis : t->grid, 1);
  }
}

/* The square with a letter, or with the place in an order. */
static void draw_mark(const Flow *f, const FlowPiece *p, cairo_t *cr, const Theme *t, Box at, Colour ink) {
  const double side = 1.35 * f->em * f->unit, pad = PADDING * f->unit;
  const Box b = box_at(at.x + pad * 0.8, at.y + pad * 0.8, side, side);
  const char *mark = text_store_get(&f->store, p->mark);
  char number[16];
  snprintf(number, sizeof number, "%d", p->number);
  const Lettering lettering = {
      .family = t->sans, .size = 0.88 * f->em * f->unit, .bold = true, .anchor = ANCHOR_MIDDLE};
  const bool filled = p->number > 0 || p->look == LOOK_RIGHT || p->look == LOOK_MAIN || p->look == LOOK_TAKEN;
  if (filled)
    box_fill(cr, b, p->look == LOOK_WRONG ? t->bad : t->tile[TILE_COLOUR_DONE], 1);
  else
    box_frame(cr, b, ink, fmax(1, floor(f->unit)));
  theme_use(cr, filled ? theme_on(t->tile[TILE_COLOUR_DONE]) : ink, 1);
  letter_draw(cr, &lettering, b.x + side / 2, b.y + 0.72 * side,
              p->look == LOOK_RIGHT   ? "✓"
              : p->look == LOOK_WRONG ? "✗"
              : p->number             ? number
                                      : mark);
}

static void draw_option(const Flow *f, const FlowPiece *p, cairo_t *cr, const Theme *t, Box at, const FlowView *v) {
  const bool is_lit = p->widget >= 0 && p->look < LOOK_OFF && (v->hover == p->widget || v->focus == p->widget);
  const Colour ink = p->look == LOOK_WRONG || p->look == LOOK_OFF ? t->ink_soft : t->ink;
  const Colour lit = theme_mix(t->background, t->tile[TILE_COLOUR_PARTIAL], t->dark ? 0.18 : 0.35);
  draw_ground(f, p, cr, t, at, is_lit ? lit : t->panel, v);
  draw_mark(f, p, cr, t, at, ink);
  draw_body(f, p, cr, t, ink, v);
}

static void draw_button(const Flow *f, const FlowPiece *p, cairo_t *cr, const Theme *t, Box at, const FlowView *v) {
  const bool is_main = p->look == LOOK_MAIN;
  const Colour done = t->tile[TILE_COLOUR_DONE];
  const Lettering lettering = {.family = t->sans, .size = f->em * f->unit, .bold = is_main, .anchor = ANCHOR_MIDDLE};
  draw_ground(f, p, cr, t, at, is_main ? done : t->panel, v);
  theme_use(cr, is_main ? theme_on(done) : p->look == LOOK_OFF ? t->ink_soft : t->ink, 1);
  letter_draw_cut(cr, &lettering, at.x + at.width / 2, at.y + at.height / 2 + 0.35 * lettering.size, at.width - 4,
                  text_store_get(&f->store, p->text));
}

/* Shows the end of what was typed, with the unit (the mark) at the right. */
static void draw_field(const Flow *f, const FlowPiece *p, cairo_t *cr, const Theme *t, Box at, const FlowView *v) {
  const bool focused = v->focus == p->widget;
  const double pad = PADDING * f->unit, size = 1.15 * f->em * f->unit, base = at.y + at.height / 2 + 0.35 * size;
  const char *text = text_store_get(&f->store, p->text), *unit = text_store_get(&f->store, p->mark);
  const Lettering typed = {.family = t->mono, .size = size},
                  small = {.family = t->sans, .size = 0.94 * f->em * f->unit};
  draw_ground(f, p, cr, t, at, t->background, v);
  const double unit_width = *unit ? letter_measure(cr, &small, unit).width + pad : 0,
               room = at.width - 2 * pad - unit_width;
  theme_use(cr, t->ink_soft, 1);
  if (*unit) letter_draw(cr, &small, at.x + at.width - pad - unit_width + pad, base, unit);
  if (!*text && !focused) {
    letter_draw_cut(cr, &small, at.x + pad, base, room, "Click here, or Tab, to answer");
    return;
  }
  while (*text && letter_measure(cr, &typed, text).width > room - size)
    text += 1 + (((unsigned char)text[1] & 0xC0) == 0x80);
  theme_use(cr, t->ink, 1);
  const double end = at.x + pad + letter_draw(cr, &typed, at.x + pad, base, text).width;
  if (focused)
    box_fill(cr, box_at(end + f->unit, at.y + 0.22 * at.height, fmax(2, 2 * f->unit), 0.56 * at.height), t->ink, 1);
  if (!*text) {
    theme_use(cr, t->ink_soft, 1);
    letter_draw_cut(cr, &small, end + 8 * f->unit, base, room, "type your answer, then Enter");
  }
}

void flow_draw(const Flow *f, cairo_t *cr, const Theme *t, const FlowView *v) {
  for (size_t k = 0; k < f->n; k++) {
    const FlowPiece *p = &f->pieces[k];
    const Box at = {v->x + p->box.x, v->y + p->box.y, p->box.width, p->box.height};
    if (at.y + at.height < v->top || at.y >= v->bottom) continue;
    switch (p->kind) {
    case PIECE_TEXT:
    case PIECE_CODE: draw_text(f, p, cr, t, at, v); break;
    case PIECE_RULE: box_fill(cr, at, t->axis, 1); break;
    case PIECE_TABLE: draw_table(f, p, cr, t, v); break;
    case PIECE_OPTION: draw_option(f, p, cr, t, at, v); break;
    case PIECE_BUTTON: draw_button(f, p, cr, t, at, v); break;
    case PIECE_FIELD: draw_field(f, p, cr, t, at, v); break;
    }
  }
}

/* ---- What is where --------------------------------------------------------------------------------------- */

const FlowPiece *flow_widget(const Flow *f, int widget) {
  for (size_t k = 0; k < f->n; k++)
    if (f->pieces[k].widget == widget && widget >= 0) return &f->pieces[k];
  return NULL;
}

int flow_widget_at(const Flow *f, double x, double y) {
  for (size_t k = 0; k < f->n; k++) {
    const FlowPiece *p = &f->pieces[k];
    if (p->widget < 0 || p->look == LOOK_OFF || !box_holds(p->box, x, y)) continue;
    return p->widget;
  }
  return -1;
}

const char *flow_link_at(const Flow *f, cairo_t *cr, const Theme *t, double x, double y) {
  for (size_t k = 0; k < f->n_links; k++) {
    const FlowPiece *p = &f->pieces[f->links[k].piece];
    if (!box_holds(p->box, x, y)) continue;
    const Paragraph text = paragraph_of(f, p, t);
    const size_t byte = paragraph_byte_at(cr, &text, p->body.width, x - p->body.x, y - p->body.y);
    if (byte >= f->links[k].begin && byte < f->links[k].end) return text_store_get(&f->store, f->links[k].target);
  }
  return "";
}
