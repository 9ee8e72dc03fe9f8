/* Markdown as pieces of a flow, with md4c. Part of viz/paper/lesson_flow.h.
 *
 * The same elements as in a terminal (viz/text/markdown.c): headings, paragraphs, lists, quotes, code, tables, links;
 * and emphasis, which a terminal leaves out. Raw HTML never gets here: the reader of lessons refuses it. */
#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/paper/lesson_flow.h"

enum { SPANS_MAX = 64, DEPTH_MAX = 8, MARK_BYTES = 16 };

typedef struct {
  size_t begin, end, target; /* target: of a link, else 0 */
  unsigned look;
} Run;

typedef struct {
  Flow *flow;
  char *text; /* of the block that is being read */
  size_t used, capacity;
  Run runs[SPANS_MAX];
  int n_runs;
  size_t opened[SPANS_MAX]; /* where the open spans began */
  size_t targets[SPANS_MAX];
  int n_open;
  int number[DEPTH_MAX], lists, quotes;
  bool is_tight[DEPTH_MAX];
  char mark[MARK_BYTES]; /* of the item that has begun and shows nothing yet */
  bool in_code, in_table, is_heading_row, no_memory;
  size_t table; /* the piece */
  int n_columns, column;
} Reader;

static void put(Reader *r, const char *text, size_t length) {
  if (!grow_array((void **)&r->text, &r->capacity, r->used + length + 1, 1)) {
    r->no_memory = true;
    return;
  }
  memcpy(r->text + r->used, text, length);
  r->used += length;
  r->text[r->used] = '\0';
}

/* ---- Blocks ---------------------------------------------------------------------------------------------- */

static void keep_link(Reader *r, const FlowPiece *piece, const Run *run) {
  Flow *f = r->flow;
  if (!run->target || piece == &f->nowhere) return;
  if (!grow_array((void **)&f->links, &f->links_capacity, f->n_links + 1, sizeof *f->links)) {
    r->no_memory = true;
    return;
  }
  f->links[f->n_links++] = (FlowLink){run->begin, run->end, (size_t)(piece - f->pieces), run->target};
}

static void spans_of(Reader *r, FlowPiece *piece) {
  for (int k = 0; k < r->n_runs; k++) {
    flow_span(r->flow, piece, r->runs[k].begin, r->runs[k].end, r->runs[k].look);
    keep_link(r, piece, &r->runs[k]);
  }
}

static void clear(Reader *r) {
  r->used = 0;
  r->n_runs = 0;
}

/* The collected text as a paragraph. */
static void flush(Reader *r, double size) {
  if (r->used == 0) return;
  FlowPiece *piece = size > 1 ? flow_heading(r->flow, size, r->text) : flow_add(r->flow, PIECE_TEXT, r->text);
  piece->indent = r->lists + r->quotes;
  if (r->quotes) piece->ink = FLOW_SOFT;
  if (*r->mark) {
    piece->mark = text_store_add(&r->flow->store, r->mark);
    if (r->lists > 0 && r->is_tight[r->lists - 1] && strcmp(r->mark, "1.") != 0) piece->gap = 4;
    r->mark[0] = '\0';
  }
  spans_of(r, piece);
  clear(r);
}

static void enter_item(Reader *r) {
  flush(r, 1);
  if (r->lists == 0) return;
  int *number = &r->number[r->lists - 1];
  if (*number < 0)
    snprintf(r->mark, sizeof r->mark, "•");
  else
    snprintf(r->mark, sizeof r->mark, "%d.", (*number)++ % 100000);
}

static void enter_list(Reader *r, int first, bool tight) {
  flush(r, 1);
  if (r->lists == DEPTH_MAX) return;
  r->number[r->lists] = first;
  r->is_tight[r->lists++] = tight;
}

static void enter_table(Reader *r, const MD_BLOCK_TABLE_DETAIL *detail) {
  r->n_columns = (int)detail->col_count < FLOW_COLUMNS_MAX ? (int)detail->col_count : FLOW_COLUMNS_MAX;
  FlowPiece *piece = flow_add(r->flow, PIECE_TABLE, "");
  r->in_table = piece != &r->flow->nowhere && piece->kind == PIECE_TABLE;
  if (!r->in_table) return;
  piece->first_cell = r->flow->n_cells;
  piece->n_columns = r->n_columns;
  piece->gap = 12;
  r->table = (size_t)(piece - r->flow->pieces);
}

static void end_cell(Reader *r, bool right, bool is_heading) {
  Flow *f = r->flow;
  if (r->in_table && r->column < r->n_columns && f->text_bytes + r->used <= FLOW_TEXT_BYTES) {
    FlowCell cell = {.right = right, .is_heading = is_heading, .first_span = f->n_spans};
    FlowPiece as = {.first_span = f->n_spans};
    cell.text = text_store_add(&f->store, r->used ? r->text : "");
    f->text_bytes += r->used + 16;
    for (int k = 0; k < r->n_runs; k++) flow_span(f, &as, r->runs[k].begin, r->runs[k].end, r->runs[k].look);
    cell.n_spans = as.n_spans;
    if (grow_array((void **)&f->cells, &f->cells_capacity, f->n_cells + 1, sizeof *f->cells))
      f->cells[f->n_cells++] = cell;
    else
      r->no_memory = true;
  }
  r->column++;
  clear(r);
}

/* Only whole rows count. */
static void end_row(Reader *r) {
  if (!r->in_table) return;
  FlowPiece *table = &r->flow->pieces[r->table];
  if (r->flow->n_cells >= table->first_cell + (size_t)(table->n_rows + 1) * (size_t)r->n_columns) table->n_rows++;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context) {
  Reader *r = context;
  switch (type) {
  case MD_BLOCK_QUOTE:
    flush(r, 1);
    if (r->quotes < DEPTH_MAX) r->quotes++;
    break;
  case MD_BLOCK_UL: enter_list(r, -1, ((MD_BLOCK_UL_DETAIL *)detail)->is_tight != 0); break;
  case MD_BLOCK_OL:
    enter_list(r, (int)((MD_BLOCK_OL_DETAIL *)detail)->start % 100000, ((MD_BLOCK_OL_DETAIL *)detail)->is_tight != 0);
    break;
  case MD_BLOCK_LI: enter_item(r); break;
  case MD_BLOCK_CODE:
    flush(r, 1);
    r->in_code = true;
    break;
  case MD_BLOCK_TABLE: enter_table(r, detail); break;
  case MD_BLOCK_TR: r->column = 0; break;
  default: break;
  }
  return r->no_memory ? -1 : 0;
}

static void end_code(Reader *r) {
  while (r->used > 0 && r->text[r->used - 1] == '\n') r->text[--r->used] = '\0';
  FlowPiece *piece = flow_code(r->flow, r->used ? r->text : "");
  piece->indent = r->lists + r->quotes;
  r->in_code = false;
  clear(r);
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context) {
  Reader *r = context;
  switch (type) {
  case MD_BLOCK_H: flush(r, ((MD_BLOCK_H_DETAIL *)detail)->level <= 2 ? 1.3 : 1.12); break;
  case MD_BLOCK_P:
  case MD_BLOCK_HTML:
  case MD_BLOCK_LI: flush(r, 1); break;
  case MD_BLOCK_QUOTE:
    flush(r, 1);
    if (r->quotes > 0) r->quotes--;
    break;
  case MD_BLOCK_UL:
  case MD_BLOCK_OL:
    if (r->lists > 0) r->lists--;
    r->mark[0] = '\0';
    break;
  case MD_BLOCK_CODE: end_code(r); break;
  case MD_BLOCK_HR: flow_rule(r->flow); break;
  case MD_BLOCK_TH:
  case MD_BLOCK_TD: end_cell(r, ((MD_BLOCK_TD_DETAIL *)detail)->align == MD_ALIGN_RIGHT, type == MD_BLOCK_TH); break;
  case MD_BLOCK_TR: end_row(r); break;
  case MD_BLOCK_TABLE: r->in_table = false; break;
  default: break;
  }
  return r->no_memory ? -1 : 0;
}

/* ---- Within a block -------------------------------------------------------------------------------------- */

static int enter_span(MD_SPANTYPE type, void *detail, void *context) {
  Reader *r = context;
  if (type == MD_SPAN_IMG) put(r, "[picture: ", 10);
  if (r->n_open < SPANS_MAX) {
    r->opened[r->n_open] = r->used;
    r->targets[r->n_open] = 0;
    if (type == MD_SPAN_A) {
      const MD_ATTRIBUTE *to = &((MD_SPAN_A_DETAIL *)detail)->href;
      char target[256];
      snprintf(target, sizeof target, "%.*s", (int)(to->size < sizeof target - 1 ? to->size : sizeof target - 1),
               to->text ? to->text : "");
      r->targets[r->n_open] = text_store_add(&r->flow->store, target);
    }
  }
  r->n_open++;
  return r->no_memory ? -1 : 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context) {
  Reader *r = context;
  (void)detail;
  const unsigned look = type == MD_SPAN_STRONG ? LOOK_BOLD
                        : type == MD_SPAN_EM   ? LOOK_ITALIC
                        : type == MD_SPAN_CODE ? LOOK_CODE
                        : type == MD_SPAN_A    ? LOOK_LINK
                                               : 0;
  if (--r->n_open < SPANS_MAX && r->n_open >= 0 && look && r->n_runs < SPANS_MAX)
    r->runs[r->n_runs++] = (Run){r->opened[r->n_open], r->used, r->targets[r->n_open], look};
  if (type == MD_SPAN_IMG) put(r, "]", 1);
  return r->no_memory ? -1 : 0;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *at, MD_SIZE size, void *context) {
  static const char *const ENTITIES[][2] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&nbsp;", " "}};
  Reader *r = context;
  if (type == MD_TEXT_BR)
    put(r, "\n", 1);
  else if (type == MD_TEXT_SOFTBR)
    put(r, " ", 1);
  else if (type == MD_TEXT_ENTITY) {
    for (size_t k = 0; k < sizeof ENTITIES / sizeof *ENTITIES; k++)
      if (strlen(ENTITIES[k][0]) == size && memcmp(ENTITIES[k][0], at, size) == 0) {
        put(r, ENTITIES[k][1], 1);
        return r->no_memory ? -1 : 0;
      }
    put(r, at, size);
  } else if (type != MD_TEXT_NULLCHAR)
    put(r, at, size);
  return r->no_memory ? -1 : 0;
}

void flow_markdown(Flow *flow, const char *source) {
  Reader *r = calloc(1, sizeof *r);
  const MD_PARSER parser = {.flags = MD_FLAG_TABLES | MD_FLAG_NOHTML,
                            .enter_block = enter_block,
                            .leave_block = leave_block,
                            .enter_span = enter_span,
                            .leave_span = leave_span,
                            .text = text};
  if (r) r->flow = flow;
  if (!r || md_parse(source, (MD_SIZE)strlen(source), &parser, r) != 0 || r->no_memory)
    flow->store.status = STATUS_NO_MEMORY;
  if (r) free(r->text);
  free(r);
}
