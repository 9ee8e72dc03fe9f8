/* The page of a scene: its ground, and the way through the run at its foot. */

#include "viz/scene/pen.h"

Box pen_scrub(const Pen *pen) {
  const double u = pen->unit, height = fmax(6, 10 * u);
  if (pen->view->bare) return (Box){0};
  return box_at(pen->page.x + 24 * u, pen->page.y + pen->page.height - height - 6 * u, pen->page.width - 48 * u,
                height);
}

/* Takes its room off the page. */
static void draw_scrub(const Pen *pen, Box *page) {
  const Snapshot *now = pen->now;
  const double phase = pen->view->phase,
               step = (double)now->step - (phase > 0 && phase < 1 && now->step > 0 ? 1 - phase : 0);
  const Box all = pen_scrub(pen);
  Box done = all;
  if (all.height <= 0) return;
  done.width = floor(now->n_steps ? all.width * step / (double)now->n_steps : 0);
  pen_part(pen, "the run", all);
  pen_fill(pen, all, pen->theme->grid, 1);
  pen_fill(pen, done, pen->theme->axis, 1);
  page->height = all.y - 2 * pen->unit - page->y;
}

Box pen_page_bare(const Pen *pen) {
  Box page = pen->page;
  pen_fill(pen, page, pen->theme->background, 1);
  draw_scrub(pen, &page);
  return page;
}
