/* Markdown and things to press as pieces of a column: which pieces there are, how they are marked, and where they lie.
 */
#include "tests/support/test.h"
#include "tests/support/canvas.h"

#ifdef TILEWALK_WINDOW
#include "viz/paper/lesson_flow.h"

static Flow flow;
static cairo_t *cr;

static int open_canvas(void **state) {
  (void)state;
  cr = canvas(CAIRO_FORMAT_RGB24, 400, 400);
  return 0;
}

static int close_canvas(void **state) {
  (void)state;
  cairo_destroy(cr);
  flow_free(&flow);
  return 0;
}

static void read(const char *markdown) {
  flow_clear(&flow);
  flow_markdown(&flow, markdown);
  flow_place(&flow, cr, &theme_light, 400, 1, 16);
  must(flow.store.status);
}

static const char *text_of(size_t k) { return text_store_get(&flow.store, flow.pieces[k].text); }

/* Whether the piece's words `part` have exactly that look. */
static void looks(size_t piece, const char *part, unsigned look) {
  const char *at = strstr(text_of(piece), part);
  assert_non_null(at);
  const size_t begin = (size_t)(at - text_of(piece));
  for (size_t k = flow.pieces[piece].first_span; k < flow.pieces[piece].first_span + flow.pieces[piece].n_spans; k++)
    if (flow.spans[k].begin == begin && flow.spans[k].end == begin + strlen(part)) {
      assert_int_equal(flow.spans[k].look, look);
      return;
    }
  fail_msg("'%s' has no look of its own", part);
}

TEST(elements_become_pieces) {
  read("# One\n\nSome *soft*, **strong**, `code` and\n[a link](glossary.md#tile) &amp; more.\n\n1. first\n2. second\n  "
       " - inner\n\n> quoted\n\n```\nlines\n  of code\n```\n\n---\n\nend");
  static const struct {
    PieceKind kind;
    const char *text, *mark;
    int indent;
  } PIECES[] = {{PIECE_TEXT, "One", "", 0},
                {PIECE_TEXT, "Some soft, strong, code and a link & more.", "", 0},
                {PIECE_TEXT, "first", "1.", 1},
                {PIECE_TEXT, "second", "2.", 1},
                {PIECE_TEXT, "inner", "•", 2},
                {PIECE_TEXT, "quoted", "", 1},
                {PIECE_CODE, "lines\n  of code", "", 0},
                {PIECE_RULE, "", "", 0},
                {PIECE_TEXT, "end", "", 0}};
  assert_int_equal(flow.n, COUNT_OF(PIECES));
  for (size_t k = 0; k < flow.n; k++) {
    assert_int_equal(flow.pieces[k].kind, PIECES[k].kind);
    assert_string_equal(text_of(k), PIECES[k].text);
    assert_string_equal(text_store_get(&flow.store, flow.pieces[k].mark), PIECES[k].mark);
    assert_int_equal(flow.pieces[k].indent, PIECES[k].indent);
  }
  assert_true(flow.pieces[0].bold && flow.pieces[0].size > 1);
  looks(1, "soft", LOOK_ITALIC);
  looks(1, "strong", LOOK_BOLD);
  looks(1, "code", LOOK_CODE);
  looks(1, "a link", LOOK_LINK);
  assert_int_equal(flow.n_links, 1);
  assert_string_equal(text_store_get(&flow.store, flow.links[0].target), "glossary.md#tile");
}

/* Columns in one line each, numbers at the right; what is too wide is wrapped within its column. */
TEST(tables_keep_their_columns) {
  read("| what | bytes |\n| --- | ---: |\n| **Q** | 12 |\n| a very long name that does not fit into half of the column "
       "at all, so it is wrapped | 3,145,728 |\n");
  assert_int_equal(flow.n, 1);
  const FlowPiece *t = &flow.pieces[0];
  assert_true(t->kind == PIECE_TABLE && t->n_columns == 2 && t->n_rows == 3);
  const FlowPiece *c = &flow.cells[t->first_cell];
  assert_true(c[0].bold && c[1].bold && !c[2].bold && c[1].right && c[3].right && !c[2].right);
  for (int row = 0; row < 3; row++) {
    const Box left = c[2 * row].body, right = c[2 * row + 1].body;
    assert_true(left.x == c[0].body.x && right.x == c[1].body.x && left.y == right.y);
    assert_true(left.x + left.width <= right.x && right.x + right.width <= 401);
  }
  const double first = c[4].body.y - c[2].body.y, last = t->box.y + t->box.height - c[4].body.y;
  assert_true(last > 1.5 * first);
}

/* A paragraph's height follows from the width: half the width, about twice the lines. */
TEST(paragraphs_are_wrapped) {
  const Paragraph p = {.text = "words and more words and more words and more words",
                       .sans = "DejaVu Sans",
                       .mono = "DejaVu Sans Mono",
                       .size = 16};
  const ParagraphBox one = paragraph_measure(cr, &p, 0), half = paragraph_measure(cr, &p, one.width / 2 + 20),
                     quarter = paragraph_measure(cr, &p, one.width / 4 + 20);
  assert_true(half.height > 1.9 * one.height && half.height < 2.3 * one.height);
  assert_true(quarter.height > 1.9 * half.height - 2 && half.width <= one.width / 2 + 20);
  const ParagraphBox drawn = paragraph_draw(cr, &p, 10, 10, one.width / 2 + 20);
  assert_true(drawn.height == half.height && drawn.width == half.width);
  assert_int_equal(paragraph_byte_at(cr, &p, 0, 1, 5), 0);
  assert_true(paragraph_byte_at(cr, &p, 0, one.width - 2, 5) == strlen(p.text) - 1);
  assert_true(paragraph_byte_at(cr, &p, 0, one.width + 50, 5) == SIZE_MAX);
}

/* Buttons stand side by side while there is room; code shrinks so that its lines stay whole. */
TEST(things_to_press_have_their_place) {
  flow_clear(&flow);
  flow_option(&flow, 0, "a", "One `choice`.");
  flow_press(&flow, PIECE_BUTTON, 7, "Check");
  flow_press(&flow, PIECE_BUTTON, 8, "Hint");
  flow_press(&flow, PIECE_BUTTON, 9, "A button with a very long label that wants a line");
  flow_code(&flow, "0123456789012345678901234567890123456789012345678901234");
  flow_place(&flow, cr, &theme_light, 400, 1, 16);
  const FlowPiece *check = flow_widget(&flow, 7), *hint = flow_widget(&flow, 8), *last = flow_widget(&flow, 9);
  assert_true(check->box.y == hint->box.y && hint->box.x >= check->box.x + check->box.width);
  assert_true(last->box.y >= hint->box.y + hint->box.height && last->box.width <= 400);
  assert_int_equal(flow_widget_at(&flow, hint->box.x + 3, hint->box.y + 3), 8);
  assert_int_equal(flow_widget_at(&flow, 399, hint->box.y + 3), -1);
  assert_null(flow_widget(&flow, 3));
  assert_true(flow.pieces[4].size < 0.8 && flow.pieces[4].box.height < 60);
  looks(0, "choice", LOOK_CODE);
  const FlowView view = {0, 0, 0, 400, 7, 8};
  flow_draw(&flow, cr, &theme_dark, &view);
  assert_int_equal(cairo_status(cr), CAIRO_STATUS_SUCCESS);
}

TEST(what_is_too_long_is_cut_and_said_so) {
  char *text = malloc(FLOW_TEXT_BYTES);
  assert_non_null(text);
  memset(text, 'x', FLOW_TEXT_BYTES - 1);
  text[FLOW_TEXT_BYTES - 1] = '\0';
  flow_clear(&flow);
  flow_text(&flow, ROLE_PLAIN, "first");
  for (int k = 0; k < 3; k++) flow_text(&flow, ROLE_PLAIN, text);
  assert_int_equal(flow.n, 2);
  assert_non_null(strstr(text_of(1), "longer than 64 KiB"));
  free(text);
}

GROUP(open_canvas, close_canvas)

#else
int main(void) { return 0; }
#endif
