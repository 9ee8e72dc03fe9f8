/* Markdown as pieces of a flow. Part of viz/paper/lesson_flow.h. */

#include "viz/paper/lesson_flow.h"
#include "viz/text/prose.h"

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
