/* The lesson beside the scene: a page of text, the question that is open, and what leads on.
 *
 *     +------------------------------+
 *     | Tiles                        |   the page scrolls, by wheel and Control + Up, Down
 *     | The matrix S is too large ...|
 *     |                              |
 *     | Question 2 of 5              |
 *     | How many tiles has S?        |
 *     | [ 16_                tiles ] |   typed into while it has the focus: a frame, and a caret
 *     | [Check] [Hint]               |
 *     +------------------------------+
 *     | < Back    page 2 of 4  Next >|
 *     +------------------------------+
 *
 * A question takes the focus when it is asked. Then text is the answer; Escape, or a press on the scene, gives the
 * keyboard back to the viewer, and Tab takes it again and goes round all that can be pressed. Enter presses what has
 * the focus. Control + Right and Left, or . and , when nothing is typed into, go on and back. The layout follows from
 * session, size and events alone.
 *
 * Without a lesson, and by the button between Back and Next, the list of lessons stands there: lesson_picker.h. */
#ifndef TILEWALK_VIZ_WINDOW_LESSON_PANEL_H
#define TILEWALK_VIZ_WINDOW_LESSON_PANEL_H

#include "lessons/engine/lesson_file.h"
#include "viz/lesson/lesson_player.h"
#include "viz/window/lesson_picker.h"
#include "viz/window/side.h"

/* What can be pressed. Choices are their places, from 0; what else a page does is WIDGET_ACT and what it does. */
enum {
  WIDGET_NONE = -1,
  WIDGET_ACT = 100,
  WIDGET_FIELD = WIDGET_ACT + ACT_TYPE,
  WIDGET_CHECK = WIDGET_ACT + ACT_CHECK,
  WIDGET_HINT = WIDGET_ACT + ACT_HINT,
  WIDGET_NEXT = WIDGET_ACT + ACT_NEXT,
  WIDGET_BACK = WIDGET_ACT + ACT_BACK,
  WIDGET_LIST = 200,    /* the list of lessons */
  WIDGET_EDIT,          /* opens the file of a question in an editor */
  WIDGET_PLAY = 1000,   /* + block */
  WIDGET_LESSON = 10000 /* + row of the list */
};

typedef struct {
  LessonSession session; /* all zero without a lesson */
  LessonPage page;
  LessonPlayer beside;
  LessonFile file;                        /* of a question that is answered with a file, */
  int file_of;                            /* the question's number, from 1; 0: of none yet */
  char file_problem[ERROR_MESSAGE_BYTES]; /* why it could not be begun; "" */
  LessonSessionOptions options;
  FILE *warnings;
  LessonPicker picker;
  bool has_lesson, is_picking; /* picking: the list stands on the page */
  int typed;                   /* a lesson's number, as far as it was typed; 0: not */
  Flow flow;
  unsigned flow_version; /* of the session, when the flow was made */
  bool has_flow, is_placed;
  bool is_hidden, is_wide; /* wide: a page held lines that want more room; it stays so, that pages do not jump */
  int focus, hover, pressed;
  double scroll, most_scroll;
  size_t seen_page, seen_at;
  size_t open_piece; /* where the open block begins */
  bool wants_reveal; /* what was added is to be scrolled to */
  char note[800];    /* what a pressed link says, as Markdown; "" none */
  char note_of[96];
  double press_x, press_y; /* of a press on no widget: perhaps on a link */
  Box view;                /* of the page, within the window */
  Flow foot;               /* the buttons below it, placed there */
  cairo_surface_t *kept;   /* what was drawn last, which text is measured on */
  const Theme *kept_theme; /* and for what; NULL: something changed */
} LessonPanel;

/* Opens a lesson, or with NULL none: the list is shown when it is asked for. `warnings` is kept, for lessons that are
 * opened later. Close it even after an error. */
Status lesson_panel_open(LessonPanel *panel, const char *name, const LessonSessionOptions *options, FILE *warnings,
                         Error *error);
void lesson_panel_close(LessonPanel *panel);

/* Begins, or goes on: sets the player. Without a lesson it does nothing. */
void lesson_panel_start(LessonPanel *panel, Player *player);

/* For the window; it looks into `panel`. */
SidePanel lesson_panel_side(LessonPanel *panel);

/* Makes the page anew from the session. Part of the panel: viz/window/lesson_panel_page.c. */
void lesson_panel_make(LessonPanel *panel);

#endif
