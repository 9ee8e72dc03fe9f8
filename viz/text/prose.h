/* Markdown as blocks, with md4c: read once here, written by a terminal (markdown.h) and by a page (lesson_flow.h), each
 * in its own way. Raw HTML is text. */
#ifndef TILEWALK_VIZ_TEXT_PROSE_H
#define TILEWALK_VIZ_TEXT_PROSE_H

#include "viz/text/paragraph.h"

enum { PROSE_DEPTH_MAX = 8, PROSE_MARK_BYTES = 16, PROSE_COLUMNS_MAX = 24 };

typedef enum { PROSE_TEXT = 0, PROSE_HEADING, PROSE_CODE, PROSE_RULE, PROSE_TABLE, PROSE_CELL } ProseKind;

typedef struct {
  ParagraphSpan span; /* a LOOK of text[begin, end) */
  const char *target; /* of a link; NULL: it is none */
} ProseSpan;

/* Lives until the function that takes it returns. */
typedef struct {
  ProseKind kind;
  int level; /* of a heading */
  const char *text;
  const ProseSpan *spans;
  int n_spans;
  const char *marks[PROSE_DEPTH_MAX]; /* of the items and quotes around it, outermost first: "2."; NULL: a quote */
  bool is_new[PROSE_DEPTH_MAX];       /* an item's first block, where the mark is shown */
  int depth;
  bool is_tight;      /* of an item that stands right below what is before */
  int n_columns;      /* of a table, which its cells follow */
  int row, column;    /* of a cell; a heading's row is 0 */
  bool right, is_end; /* of a cell: numbers, aligned so; the last of its table */
} ProseBlock;

/* Takes a block; false: no memory. */
typedef bool ProseTake(void *data, const ProseBlock *block);

/* `with_marks`: code keeps its backticks, and an address of the web follows its words. False: no memory. */
bool prose_read(const char *source, size_t length, bool with_marks, ProseTake *take, void *data);

#endif
