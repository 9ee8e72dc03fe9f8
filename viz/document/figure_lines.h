/* Runs side by side: a table is a list of lines, each a path of sim/answer/figure.h with its words.
 *
 *     static const FigureLine LINES[] = {{"Traffic across the SRAM boundary"},
 *                                        {"  read %s", "traffic.read.*"},
 *                                        {"  total", "traffic.total_bytes", .role = ROLE_ACCENT}, {0}};
 *
 * A line that no run has a figure for is left out, and so is a heading that no line follows. */
#ifndef TILEWALK_VIZ_DOCUMENT_FIGURE_LINES_H
#define TILEWALK_VIZ_DOCUMENT_FIGURE_LINES_H

#include "viz/document/figures.h"

typedef struct {
  const char *label; /* %s: the tensor, of a heading the machine, of a ratio the first run; NULL: not among details */
  const char *path;  /* NULL: a heading */
  const char *beside, *between; /* another count behind it, and what stands between them; NULL: "128 x 64" */
  const char *when; /* the line stands where some run meets this; with a tensor, where it has such a figure of it */
  const char *first_when, *first_unless; /* on the first screen: in its place; and where no run meets this */
  TextRole role;
  int least;            /* smaller figures are "-" */
  bool is_ratio;        /* the first run's figure over each, where they are comparable */
  const char *first;    /* the label on the first screen; NULL: not there */
  const char *together; /* there, of more than three tensors: their sum, under this label */
  const char *sum;      /* and its path */
  int spare;            /* there, while rows are not too many; 1: the first that goes */
  bool in_kib;          /* there, whatever unit other bytes have */
} FigureLine;

#define FIGURE_LINE(...)                                                                                               \
  { .label = __VA_ARGS__ }

/* One unit of bytes and one of time for a table, so that its figures can be compared at a glance. */
typedef struct {
  double bytes, seconds;
  const char *bytes_name, *seconds_name;
  int shortens; /* the first screen: 1 and 2: no lines that are so spare, 3: and tensors in one row, however few */
} FigureScale;
FigureScale figure_scale(double bytes, double seconds); /* such that these are at least 1 */

/* A figure of one run as a cell, or as words. */
FigureValue figure_as_value(const FigureRow *row, const Figure *figure);

/* Adds the lines, a cell for each run; with a scale those of the first screen, whose second column is the unit. Returns
 * how many rows they are; without a table it only counts them. */
int figure_lines(Table *table, const FigureLine *lines, const Simulation *runs, int n, const FigureScale *scale);

/* Runs below each other. Columns are those of put_table, each with @PATH of its figure, @*PATH in an accent; ?WHEN
 * behind it, as of a line: elsewhere the cell is empty. In CSV it has the name of its key, or the path's last part.
 * Columns without a path come first, and their cells are the caller's. */
typedef struct {
  Table *table;
  const FigureScale *scale; /* NULL: each cell has its own unit */
  int n;
  struct {
    const FigureRow *row; /* NULL: none */
    const char *when;
    TextRole role;
  } columns[TABLE_COLUMNS_MAX];
  char text[DOCUMENT_PATTERN];
} FigureTable;
void figure_table(FigureTable *table, Document *document, unsigned forms, const char *key, const char *columns,
                  const FigureScale *scale);
void figure_cells(const FigureTable *table, const Simulation *run);

/* Words below a table, where a run meets `when`; {PATH} is its figure. */
typedef struct {
  const char *when, *text;
  enum { NOTE_DETAILS = 1, NOTE_FIRST, NOTE_BOTH } where;
} FigureNote;
void figure_notes(Table *table, const FigureNote *notes, const Simulation *runs, int n, bool is_first_screen);

/* Whether all runs are on the first one's machine. */
bool figure_one_machine(const Simulation *runs, int n);

#endif
