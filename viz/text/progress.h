/* One line on the terminal that says how far a long job is: "sweep  412 of 1,024  40.2%". It is
 * drawn at most ten times a second, erased at the end, and left out where the stream is no terminal. */
#ifndef TILEWALK_VIZ_TEXT_PROGRESS_H
#define TILEWALK_VIZ_TEXT_PROGRESS_H

#include "viz/text/style.h"

#include <stdint.h>
#include <time.h>

typedef struct {
  FILE *out; /* NULL: silent */
  FILE *err; /* the same, whatever it is */
  TextStyle style;
  const char *what; /* the caller's string, which must outlive this */
  double started_s, drawn_s;
  clock_t began; /* of this program's own time */
  bool is_told;  /* how long it takes */
  int columns;   /* of the line that is on the screen now */
} Progress;

/* Seconds on a clock that only goes forward. */
double progress_clock_s(void);

/* A progress line on `out`; silent unless `is_terminal`. Nothing is drawn in the first half second,
 * so that short jobs stay quiet. `now_s` comes from progress_clock_s, or from a test. */
Progress progress_new(FILE *out, const TextStyle *style, bool is_terminal, const char *what, double now_s);

/* The same on a command's stream of errors, from now on; silent, too, unless `draws`. */
Progress progress_begin(FILE *err, const char *what, bool draws);

/* Notes that `done` of `total` steps are done (total 0: unknown) and redraws if it is time to. */
void progress_update(Progress *progress, uint64_t done, uint64_t total, double now_s);

/* Says once, on a terminal or not, how long the whole job will take, if that is more than two seconds; part: what is
 * done of it. Call it when the question can no longer be refused. */
void progress_foretell(Progress *progress, double part);

/* Erases the line. Call it before anything else is printed on the terminal. */
void progress_end(Progress *progress);

#endif
