#include "viz/text/prose.h"

#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/text/store.h"

enum { SPANS_MAX = 64, TARGET_BYTES = 256 };

typedef struct {
  ProseTake *take;
  void *data;
  bool with_marks, no_memory;
  ProseBlock block; /* with the marks around what is read */
  char *text;       /* of it */
  size_t used, capacity;
  ProseSpan spans[SPANS_MAX];
  char targets[SPANS_MAX][TARGET_BYTES];
  size_t opened[SPANS_MAX]; /* where the open spans began */
  int n_open;
  char mark[PROSE_DEPTH_MAX][PROSE_MARK_BYTES];
  int number[PROSE_DEPTH_MAX], lists; /* of the open lists: the next number; -1: bullets */
  bool is_tight[PROSE_DEPTH_MAX];
  bool is_fresh, begins_list; /* an item has begun and given nothing yet */
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

static void give(Reader *r, ProseKind kind) {
  ProseBlock *b = &r->block;
  b->kind = kind;
  b->text = r->used ? r->text : "";
  b->spans = r->spans;
  b->is_tight = r->is_fresh && r->lists > 0 && r->is_tight[r->lists - 1] && !r->begins_list;
  if (!r->no_memory && !r->take(r->data, b)) r->no_memory = true;
  r->used = 0;
  b->n_spans = r->n_open = 0; /* md4c leaves a span open, or closes one twice, where a mark lies in a link's target */
  if (kind == PROSE_TABLE || kind == PROSE_CELL) return;
  r->is_fresh = r->begins_list = false;
  memset(b->is_new, 0, sizeof b->is_new);
}

/* The collected text, if there is one. */
static void flush(Reader *r, ProseKind kind) {
  if (r->used) give(r, kind);
}

/* ---- Blocks ---------------------------------------------------------------------------------------------- */

static void open(Reader *r, const char *mark) {
  ProseBlock *b = &r->block;
  flush(r, PROSE_TEXT);
  if (b->depth == PROSE_DEPTH_MAX) return;
  r->is_fresh = true;
  b->is_new[b->depth] = true;
  b->marks[b->depth++] = mark;
}

static void enter_list(Reader *r, int first, bool tight) {
  flush(r, PROSE_TEXT); /* of a tight item above */
  if (r->lists == PROSE_DEPTH_MAX) return;
  r->begins_list = r->begins_list || r->lists == 0;
  r->number[r->lists] = first;
  r->is_tight[r->lists++] = tight;
}

static void enter_item(Reader *r) {
  const int depth = r->block.depth;
  if (r->lists == 0 || depth == PROSE_DEPTH_MAX) return;
  int *number = &r->number[r->lists - 1];
  if (*number < 0)
    snprintf(r->mark[depth], PROSE_MARK_BYTES, "•");
  else
    snprintf(r->mark[depth], PROSE_MARK_BYTES, "%d.", (*number)++ % 100000);
  open(r, r->mark[depth]);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context) {
  Reader *r = context;
  const MD_BLOCK_OL_DETAIL *list = detail;
  switch (type) {
  case MD_BLOCK_QUOTE: open(r, NULL); break;
  case MD_BLOCK_UL: enter_list(r, -1, ((MD_BLOCK_UL_DETAIL *)detail)->is_tight != 0); break;
  case MD_BLOCK_OL: enter_list(r, (int)list->start % 100000, list->is_tight != 0); break;
  case MD_BLOCK_LI: enter_item(r); break;
  case MD_BLOCK_CODE: flush(r, PROSE_TEXT); break;
  case MD_BLOCK_TABLE:
    r->block.n_columns = (int)((MD_BLOCK_TABLE_DETAIL *)detail)->col_count;
    if (r->block.n_columns > PROSE_COLUMNS_MAX) r->block.n_columns = PROSE_COLUMNS_MAX;
    r->block.row = -1;
    r->block.is_end = false;
    give(r, PROSE_TABLE);
    break;
  case MD_BLOCK_TR:
    r->block.row++;
    r->block.column = 0;
    break;
  default: break;
  }
  return r->no_memory ? -1 : 0;
}

static void end_cell(Reader *r, const MD_BLOCK_TD_DETAIL *detail) {
  r->block.right = detail->align == MD_ALIGN_RIGHT;
  if (r->block.column < r->block.n_columns)
    give(r, PROSE_CELL);
  else
    r->used = 0, r->block.n_spans = 0;
  r->block.column++;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context) {
  Reader *r = context;
  ProseBlock *b = &r->block;
  switch (type) {
  case MD_BLOCK_H:
    b->level = (int)((MD_BLOCK_H_DETAIL *)detail)->level;
    flush(r, PROSE_HEADING);
    break;
  case MD_BLOCK_P:
  case MD_BLOCK_HTML: flush(r, PROSE_TEXT); break;
  case MD_BLOCK_LI:
  case MD_BLOCK_QUOTE:
    flush(r, PROSE_TEXT);
    if (b->depth > 0) b->depth--;
    break;
  case MD_BLOCK_UL:
  case MD_BLOCK_OL:
    if (r->lists > 0) r->lists--;
    break;
  case MD_BLOCK_CODE:
    while (r->used > 0 && r->text[r->used - 1] == '\n') r->text[--r->used] = '\0';
    give(r, PROSE_CODE);
    break;
  case MD_BLOCK_HR: give(r, PROSE_RULE); break;
  case MD_BLOCK_TH:
  case MD_BLOCK_TD: end_cell(r, detail); break;
  case MD_BLOCK_TABLE:
    b->is_end = true;
    give(r, PROSE_TABLE);
    break;
  default: break;
  }
  return r->no_memory ? -1 : 0;
}

/* ---- Within a block -------------------------------------------------------------------------------------- */

static int enter_span(MD_SPANTYPE type, void *detail, void *context) {
  Reader *r = context;
  (void)detail;
  if (type == MD_SPAN_IMG) put(r, "[picture: ", 10);
  if (r->n_open < SPANS_MAX) r->opened[r->n_open] = r->used;
  r->n_open++;
  if (type == MD_SPAN_CODE && r->with_marks) put(r, "`", 1);
  return r->no_memory ? -1 : 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context) {
  Reader *r = context;
  const unsigned look = type == MD_SPAN_STRONG ? LOOK_BOLD
                        : type == MD_SPAN_EM   ? LOOK_ITALIC
                        : type == MD_SPAN_CODE ? LOOK_CODE
                        : type == MD_SPAN_A    ? LOOK_LINK
                                               : 0;
  const MD_ATTRIBUTE *to = type == MD_SPAN_A ? &((MD_SPAN_A_DETAIL *)detail)->href : NULL;
  if (type == MD_SPAN_CODE && r->with_marks) put(r, "`", 1);
  if (r->n_open > 0 && --r->n_open < SPANS_MAX && look && r->block.n_spans < SPANS_MAX) {
    const int n = r->block.n_spans++;
    r->spans[n] = (ProseSpan){{r->opened[r->n_open], r->used, look}, to ? r->targets[n] : NULL};
    if (to)
      snprintf(r->targets[n], TARGET_BYTES, "%.*s", to->size < 255 ? (int)to->size : 255, to->text ? to->text : "");
  }
  if (type == MD_SPAN_IMG) put(r, "]", 1);
  if (to && r->with_marks && to->size > 4 && memcmp(to->text, "http", 4) == 0) {
    put(r, " (", 2);
    put(r, to->text, to->size);
    put(r, ")", 1);
  }
  return r->no_memory ? -1 : 0;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *at, MD_SIZE size, void *context) {
  static const char *const ENTITIES[][2] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&nbsp;", " "}};
  Reader *r = context;
  for (size_t k = 0; k < sizeof ENTITIES / sizeof *ENTITIES && type == MD_TEXT_ENTITY; k++)
    if (strlen(ENTITIES[k][0]) == size && memcmp(ENTITIES[k][0], at, size) == 0) at = ENTITIES[k][1], size = 1;
  if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR)
    put(r, type == MD_TEXT_BR ? "\n" : " ", 1);
  else if (type != MD_TEXT_NULLCHAR)
    put(r, at, size);
  return r->no_memory ? -1 : 0;
}

bool prose_read(const char *source, size_t length, bool with_marks, ProseTake *take, void *data) {
  Reader *r = calloc(1, sizeof *r);
  const MD_PARSER parser = {.flags = MD_FLAG_TABLES | MD_FLAG_NOHTML,
                            .enter_block = enter_block,
                            .leave_block = leave_block,
                            .enter_span = enter_span,
                            .leave_span = leave_span,
                            .text = text};
  if (!r) return false;
  r->with_marks = with_marks;
  r->take = take;
  r->data = data;
  const bool is_read = md_parse(source, (MD_SIZE)length, &parser, r) == 0 && !r->no_memory;
  free(r->text);
  free(r);
  return is_read;
}
