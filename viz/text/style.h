/* How text looks on one output stream: colour or not, Unicode or ASCII, how wide.
 *
 * Decided once, from whether the stream is a terminal and from the environment, then passed by
 * pointer to everything that prints. A stream that is not a terminal never gets colour. Everything
 * printed with a role stays readable without it: colour is never the only cue. */
#ifndef TILEWALK_VIZ_TEXT_STYLE_H
#define TILEWALK_VIZ_TEXT_STYLE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct {
  bool colour; /* SGR escape sequences may be used */
  bool utf8;   /* box drawing, blocks and Greek letters may be used; otherwise ASCII only */
  int width;   /* columns to stay within */
} TextStyle;

enum { TEXT_WIDTH_DEFAULT = 80, TEXT_WIDTH_MIN = 20, TEXT_WIDTH_MAX = 400 };

/* What a piece of text is, not how it looks. */
typedef enum {
  ROLE_PLAIN = 0,
  ROLE_HEADING, /* titles and column headings: bold */
  ROLE_GOOD,    /* holds, fits, equal */
  ROLE_WARN,    /* true with a reservation */
  ROLE_BAD,     /* wrong, does not fit, differs */
  ROLE_DIM,     /* units, notes, rules */
  ROLE_ACCENT,  /* the number to look at */
  N_ROLES,
} TextRole;

/* The environment variables that matter, NULL where unset. */
typedef struct {
  const char *no_color;                 /* NO_COLOR: any non-empty value turns colour off (no-color.org) */
  const char *term;                     /* TERM: "dumb" or unset means no colour */
  const char *columns;                  /* COLUMNS: the width, when it is a whole number */
  const char *lc_all, *lc_ctype, *lang; /* the first non-empty one tells whether text is UTF-8 */
} TextEnvironment;

/* The style for a stream. `terminal_columns` is what the terminal reports, 0 if unknown; COLUMNS
 * goes first. Without either the width is 80, and it is held between TEXT_WIDTH_MIN and
 * TEXT_WIDTH_MAX. Pure. */
TextStyle text_style_decide(bool is_terminal, int terminal_columns, const TextEnvironment *environment);

/* The style for an open stream, from isatty, the window size and the process environment. A stream
 * that is not a terminal has 80 columns unless COLUMNS says otherwise. */
TextStyle text_style_for(FILE *stream);

/* True if the stream is a terminal. */
bool text_is_terminal(FILE *stream);

/* The SGR sequences around a piece of text; "" when the style has no colour or the role is plain.
 */
const char *text_role_begin(const TextStyle *style, TextRole role);
const char *text_role_end(const TextStyle *style, TextRole role);

/* The mark that stands for a role where colour cannot: "✓", "!", "✗" or "+", "!", "x" in ASCII; ""
 * for the others. */
const char *text_role_mark(const TextStyle *style, TextRole role);

#endif
