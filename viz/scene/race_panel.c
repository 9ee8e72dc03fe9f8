/* The race: standard, FlashAttention-1 and -2 on one clock: the bytes that the shown one has moved, or its time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/number.h"

double race_height(const Pen *pen) { return 1.75 * pen_size(pen, TYPE_SMALL) * pen->now->n_runs; }

enum { NAME_CHARS = 9 }; /* of the shown one, where it has room before "is 2.28x as far" */

/* "24.0% of tiles", "fa2 is 2.28x as far" (or, ahead of it, "is 2.28x as
 * far"), "1.82x the bytes in all" */
static void run_words(const Snapshot *now, const SnapshotRun *run, bool is_large, char words[3][NUMBER_CHARS + 32]) {
  const bool shown = run->schedule == now->schedule;
  const double done = part_of(run->tiles_done, run->tiles_total);
  words[1][0] = '\0';
  snprintf(words[0], sizeof words[0], "%s of tiles", number_percent(done).text);
  if (is_large && !shown && run->is_alike && run->running_ratio >= 1)
    snprintf(words[1], sizeof words[1], "%.*s is %s as far", NAME_CHARS,
             strlen(now->schedule->name) > NAME_CHARS ? "this" : now->schedule->name,
             number_ratio(run->running_ratio).text);
  else if (is_large && !shown && run->is_alike && run->running_ratio > 0)
    snprintf(words[1], sizeof words[1], "is %s as far", number_ratio(1 / run->running_ratio).text);
  const char *in_all = is_large ? " in all" : "";
  const SnapshotRun *own = snapshot_own_run(now);
  if (shown)
    snprintf(words[2], sizeof words[2], "%s in all",
             now->by_time ? number_seconds(run->whole_s).text : number_bytes(now->whole_bytes).text);
  else if (!run->fits)
    snprintf(words[2], sizeof words[2], "SRAM too small");
  else if (!run->is_alike)
    snprintf(words[2], sizeof words[2], "other outputs");
  else if (now->by_time && !snapshot_order_holds(now, run, own))
    snprintf(words[2], sizeof words[2], "%s without gaps", number_seconds(run->whole_s).text);
  else if (now->by_time)
    snprintf(words[2], sizeof words[2], "%s the time%s", number_ratio(run->whole_s / own->whole_s).text, in_all);
  else
    snprintf(words[2], sizeof words[2], "%s the bytes%s", number_ratio_of(run->total_bytes, own->total_bytes).text,
             in_all);
}

void draw_race(const Pen *pen, Box box, bool is_large) {
  const Theme *t = pen->theme;
  const Snapshot *now = pen->now;
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), height = box.height / (now->n_runs ? now->n_runs : 1);
  double name_width = 5.6 * small; /* wider for longer names, as far as there is room */
  for (int k = 0; k < now->n_runs; k++)
    if (strlen(now->runs[k].schedule->name) > 9)
      name_width = fmax(name_width, fmin(pen_text_width(pen, TYPE_SMALL, true, now->runs[k].schedule->name) + 8 * u,
                                         0.3 * box.width));
  for (int k = 0; k < now->n_runs; k++) {
    const SnapshotRun *run = &now->runs[k];
    const bool shown = run->schedule == now->schedule;
    char words[3][NUMBER_CHARS + 32], line[2 * NUMBER_CHARS + 72];
    Box row = box_cut_top(&box, height, 0);
    const Box whole = row;
    const double base = row.y + row.height / 2 + 0.36 * small, done = part_of(run->tiles_done, run->tiles_total);
    const Colour ink = shown ? t->ink : t->ink_soft;
    run_words(now, run, is_large, words);
    pen_text(pen, TYPE_SMALL, ink, shown, ANCHOR_START, row.x, base, name_width - 4 * u, run->schedule->name);
    box_cut_left(&row, name_width, 0);
    if (is_large) {
      const Box last = box_cut_right(&row, 12.4 * small, 8 * u), middle = box_cut_right(&row, 14.2 * small, 8 * u),
                first = box_cut_right(&row, 7.6 * small, 12 * u);
      pen_text(pen, TYPE_SMALL, ink, false, ANCHOR_START, first.x, base, first.width, words[0]);
      pen_text(pen, TYPE_SMALL, t->ink, true, ANCHOR_START, middle.x, base, middle.width, words[1]);
      pen_text(pen, TYPE_SMALL, ink, false, ANCHOR_START, last.x, base, last.width, words[2]);
    } else {
      const Box last = box_cut_right(&row, 16.9 * small, 12 * u);
      snprintf(line, sizeof line, "%s, %s", words[0], words[2]);
      pen_text(pen, TYPE_SMALL, ink, false, ANCHOR_START, last.x, base, last.width, line);
    }
    const Box bar = box_at(row.x, row.y + 0.22 * height, row.width, 0.56 * height);
    pen_meter(pen, bar, done, shown ? t->tile[TILE_COLOUR_DONE] : t->axis);
    pen_region(pen, HIT_RUN, 0, -1, -1, k, whole);
  }
}
