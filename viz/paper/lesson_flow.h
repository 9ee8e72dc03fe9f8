/* A column of text, pictures in text, and things to press: what a lesson's page is made of.
 *
 *     flow_markdown, flow_text, flow_option, ...  ->  pieces  --flow_place-->  boxes  --flow_draw-->  cairo
 *
 * Pieces are added in reading order. flow_place gives each its box, for a width; nothing overlaps, and nothing is
 * wider than the column. Text is bounded: what is beyond FLOW_TEXT_BYTES is left out, and said so. */
#ifndef TILEWALK_VIZ_PAPER_LESSON_FLOW_H
#define TILEWALK_VIZ_PAPER_LESSON_FLOW_H

#include "lessons/engine/lesson_page.h"
#include "viz/scene/pen.h"
#include "viz/text/paragraph.h"
#include "viz/text/store.h"
#include "viz/text/style.h"

enum { FLOW_TEXT_BYTES = 1 << 16, FLOW_COLUMNS_MAX = 12 };

typedef enum {
  PIECE_TEXT = 0, /* a paragraph */
  PIECE_CODE,     /* lines of fixed width */
  PIECE_RULE,
  PIECE_TABLE,
  PIECE_OPTION, /* a choice, over the whole width */
  PIECE_BUTTON, /* beside the button before it, where there is room */
  PIECE_FIELD,  /* where an answer is typed */
} PieceKind;

typedef struct {
  PieceKind kind;
  size_t text, mark; /* in the store; the mark stands before the first line: "2.", "a" */
  size_t first_span, n_spans;
  double size;         /* of the em, in units */
  double gap;          /* above, in units */
  bool bold, is_boxed; /* boxed: on a ground, with a bar of its ink at the left */
  bool right;          /* a number of a table */
  TextRole ink;
  LessonLook look;
  int indent;        /* levels */
  int widget;        /* what a press on it does; -1: nothing */
  int number;        /* of an option in an order, from 1; 0: none */
  size_t first_cell; /* of a table */
  int n_columns, n_rows;
  Box box, body; /* placed: body: where its text lies */
} FlowPiece;

typedef struct {
  size_t begin, end;    /* bytes of its piece's text */
  size_t piece, target; /* target: where the link leads, in the store */
} FlowLink;

typedef struct {
  TextStore store;
  FlowPiece *pieces;
  size_t n, capacity;
  ParagraphSpan *spans;
  size_t n_spans, spans_capacity;
  FlowPiece *cells; /* of tables */
  size_t n_cells, cells_capacity;
  FlowLink *links;
  size_t n_links, links_capacity;
  size_t text_bytes;
  bool is_cut;
  FlowPiece nowhere;              /* takes what is set when memory is out or the page is full */
  double em, unit, width, height; /* em: of body text, in units */
} Flow;                           /* zeros: empty */

void flow_clear(Flow *flow);
void flow_free(Flow *flow);

/* Pieces. The pointer that is returned is for setting what else there is; valid until the next piece, never NULL. */
FlowPiece *flow_text(Flow *flow, TextRole ink, const char *text); /* `code` between backticks, else as it is */
FlowPiece *flow_boxed(Flow *flow, TextRole ink, const char *words, const char *text); /* bold words, then a text */
FlowPiece *flow_heading(Flow *flow, double size, const char *text);
FlowPiece *flow_code(Flow *flow, const char *text);
FlowPiece *flow_option(Flow *flow, int widget, const char *mark, const char *text);
FlowPiece *flow_press(Flow *flow, PieceKind kind, int widget, const char *text); /* a button, a field */
void flow_markdown(Flow *flow, const char *text);

/* Places everything in a column of that width; `em` is the size of body text in units, `unit` pixels of a unit. */
void flow_place(Flow *flow, cairo_t *cr, const Theme *theme, double width, double unit, double em);

/* Draws with the column's top left corner at (x, y); pieces outside [top, bottom) are left out. */
typedef struct {
  double x, y, top, bottom;
  int focus, hover; /* widgets; -1 */
} FlowView;
void flow_draw(const Flow *flow, cairo_t *cr, const Theme *theme, const FlowView *view);

/* The piece with that widget, or NULL; the widget at a point of the column, -1; the link there, "". */
const FlowPiece *flow_widget(const Flow *flow, int widget);
int flow_widget_at(const Flow *flow, double x, double y);
const char *flow_link_at(const Flow *flow, cairo_t *cr, const Theme *theme, double x, double y);

#endif
