#define _POSIX_C_SOURCE 200809L /* clock_gettime, fileno */
#include "viz/text/progress.h"

#include <math.h>

#include "sim/base/text_add.h"
#include "viz/text/glyphs.h"
#include "viz/text/number.h"
#include "viz/text/print.h"

static const double QUIET_S = 0.5, SURE_S = 0.2, REDRAW_S = 0.1, LONG_S = 2;

double progress_clock_s(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

Progress progress_new(FILE *out, const TextStyle *style, bool is_terminal, const char *what, double now_s) {
  return (Progress){.out = is_terminal ? out : NULL,
                    .err = out,
                    .style = *style,
                    .what = what,
                    .started_s = now_s,
                    .began = clock(),
                    .drawn_s = now_s + QUIET_S - REDRAW_S};
}

Progress progress_begin(FILE *err, const char *what, bool draws) {
  const TextStyle style = text_style_for(err);
  return progress_new(err, &style, draws && text_is_terminal(err), what, progress_clock_s());
}

/* Carriage return, line, and spaces over what the line before had left. */
static void draw(Progress *progress, const char *line) {
  size_t bytes = text_fit(&progress->style, line, progress->style.width - 1);
  int columns = text_columns_n(&progress->style, line, bytes);
  fputc('\r', progress->out);
  text_write_n(progress->out, &progress->style, line, bytes);
  text_repeat(progress->out, " ", progress->columns - columns);
  if (columns == 0) fputc('\r', progress->out);
  fflush(progress->out);
  progress->columns = columns;
}

void progress_update(Progress *progress, uint64_t done, uint64_t total, double now_s) {
  if (!progress->out || now_s - progress->drawn_s < REDRAW_S) return;
  const double part = total ? (double)done / (double)total : 0;
  char line[512];
  progress->drawn_s = now_s;
  snprintf(line, sizeof line, "%s  %s", progress->what, number_count(done).text);
  if (part > 0)
    text_add(line, sizeof line, " of %s  %s  %.0f s left", number_count(total).text, number_percent(part).text,
             (now_s - progress->started_s) * (1 - part) / part);
  draw(progress, line);
}

void progress_foretell(Progress *p, double part) {
  const double all_s = (progress_clock_s() - p->started_s) / part;
  /* Of its own time: on a busy computer a short question is no long one. */
  const double own_s = (double)(clock() - p->began) / CLOCKS_PER_SEC;
  if (p->is_told || own_s < SURE_S || part >= 1 || fmin(all_s, own_s / part) < LONG_S || fileno(p->err) < 0) return;
  p->is_told = true;
  text_say(p->err, "%s: about %s in all\n", p->what, number_seconds(all_s).text);
}

void progress_end(Progress *progress) {
  if (progress->out && progress->columns > 0) draw(progress, "");
}
