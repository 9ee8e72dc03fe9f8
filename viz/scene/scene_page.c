/* The page of a scene: heading, what happens and why, and the way through the run at its foot. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/pen.h"
#include "viz/text/mask_text.h"
#include "viz/text/number.h"

/* Adds a part where there is room for it, and says whether there was. */
static bool add_part(const Pen *pen, double room, char *text, size_t size, const char *part) {
  const size_t used = strlen(text), more = strlen(part) + 2;
  if (used + more + 1 >= size) return false;
  if (used) memcpy(text + used, ", ", 3);
  memcpy(text + used + (used ? 2 : 0), part, strlen(part) + 1);
  if (pen_text_width(pen, TYPE_SMALL, false, text) <= room) return true;
  text[used] = '\0';
  return false;
}

/* "N = 64", "d = 16", "fp16", "causal", "tiles of 8 × 8", "1 of 16 heads", "H200": the most important first, as many as
 * there is room for. */
static void problem_words(const Pen *pen, double room, char *text, size_t size) {
  const Snapshot *now = pen->now;
  const SnapshotGrid *g = &now->grid;
  const Shape *shape = &now->problem.shape;
  const Wide heads = wide(now->launched.batch) * wide(now->launched.heads);
  char part[NUMBER_CHARS + 64];
  text[0] = '\0';
  const int64_t packed = shape->group > 1 ? shape->group : 1; /* query heads that are rows of one tile */
  snprintf(part, sizeof part, "N = %s", number_tokens(wide(g->N_q / packed)).text);
  if (!add_part(pen, room, text, size, part)) return;
  snprintf(part, sizeof part, "%s keys", number_tokens(wide(g->N_k)).text);
  if (g->N_k != g->N_q / packed && !add_part(pen, room, text, size, part)) return;
  snprintf(part, sizeof part, "d = %" PRId64, g->d);
  if (!add_part(pen, room, text, size, part)) return;
  snprintf(part, sizeof part, "tiles of %" PRId64 " × %" PRId64, g->B_r, g->B_c);
  if (!add_part(pen, room, text, size, part)) return;
  char mask[MASK_TEXT_BYTES];
  if (*mask_text(shape, mask, sizeof mask) && !add_part(pen, room, text, size, mask)) return;
  snprintf(part, sizeof part, "%" PRId64 " heads packed", packed);
  if (packed > 1 && !add_part(pen, room, text, size, part)) return;
  snprintf(part, sizeof part, "1 of %s %s", number_count(heads).text, packed > 1 ? "packs" : "heads");
  if (heads > 1 && !add_part(pen, room, text, size, part)) return;
  if (!add_part(pen, room, text, size, dtype_name(shape->dtype))) return;
  if (strlen(now->gpu.name) < 20) add_part(pen, room, text, size, now->gpu.name);
}

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

static void draw_footer(const Pen *pen, Box *page) {
  const double small = pen_size(pen, TYPE_SMALL);
  draw_scrub(pen, page);
  if (!pen->view->footer || pen->view->presentation) return;
  const Box line = box_cut_bottom(page, 1.4 * small, 0);
  pen_mono(pen, TYPE_SMALL, pen->theme->ink_soft, false, ANCHOR_START, line.x + 24 * pen->unit, line.y + small,
           line.width - 48 * pen->unit, pen->view->footer);
}

Box pen_page_bare(const Pen *pen) {
  Box page = pen->page;
  pen_fill(pen, page, pen->theme->background, 1);
  draw_scrub(pen, &page);
  return page;
}

/* At least 1/25 of the height, larger on a projector; on a page that is not wide, as large as its lines allow, and
 * never under 12 pixels. */
static double narration_size(const Pen *pen) {
  const double part = pen->view->presentation ? 22.5 : 24.5, high = pen->page.height / part;
  const double size = fmin(high, pen->page.width / (pen->view->presentation ? 36.0 : 40.0));
  return fmax(size, pen->is_tall ? pen_size(pen, TYPE_SMALL) : 12);
}

static void draw_narration(const Pen *pen, Box box, double size, int n_lines, const Narration *said) {
  const Theme *t = pen->theme;
  char both[2 * NARRATION_BYTES];
  const Lettering plain = {.family = t->sans, .size = size}, bold = {.family = t->sans, .size = size, .bold = true};
  if (pen->hit || box.width < 2 * size) return;
  const Box mark = box_at(box.x, box.y + 0.28 * size, 0.62 * size, 0.62 * size);
  if (pen->now->has_event) pen_fill(pen, mark, t->tile[TILE_COLOUR_CURRENT], 1);
  const double left = box.x + 0.95 * size, width = box.x + box.width - left;
  theme_use(pen->cr, t->ink, 1);
  if (n_lines == 2 && letter_measure(pen->cr, &bold, said->what).width <= width &&
      letter_measure(pen->cr, &plain, said->why).width <= width) {
    letter_draw(pen->cr, &bold, left, box.y + 0.98 * size, said->what);
    letter_draw(pen->cr, &plain, left, box.y + 2.2 * size, said->why);
    return;
  }
  snprintf(both, sizeof both, "%s %s", said->what, said->why);
  letter_draw_wrapped(pen->cr, &plain, left, box.y + 0.98 * size, width, 1.22, n_lines, both);
}

/* Lines that two sentences may take. */
static int narration_lines(const Pen *pen, double size) {
  const double letters = (pen->page.width - 48 * pen->unit) / (0.56 * size);
  return letters >= 64 ? 2 : letters >= 45 ? 3 : 4;
}

Box pen_page_told(const Pen *pen, const char *title, const Narration *said) {
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL), size = narration_size(pen);
  if (pen->view->title) title = pen->view->title;
  const Snapshot *now = pen->now;
  const Theme *t = pen->theme;
  const int n_lines = narration_lines(pen, size);
  char words[320], step[2 * NUMBER_CHARS + 16];
  Box page = pen->page;
  pen_fill(pen, page, t->background, 1);
  if (pen->view->bare) return box_inset(page, 8 * u);
  draw_footer(pen, &page);
  const double left = page.x + 24 * u, right = page.x + page.width - 24 * u;
  const Box head = box_cut_top(&page, 10 * u + 1.25 * pen_size(pen, TYPE_TITLE), 0);
  const Box told = box_cut_top(&page, 1.22 * n_lines * size + 10 * u, 0);
  const double base = head.y + 8 * u + 0.9 * pen_size(pen, TYPE_TITLE);
  snprintf(step, sizeof step, "step %s of ", number_count(now->step).text);
  snprintf(step + strlen(step), sizeof step - strlen(step), "%s", number_count(now->n_steps).text);
  const TypeSize type = pen_text_width(pen, TYPE_TITLE, true, title) <= right - left ? TYPE_TITLE : TYPE_BODY;
  const double step_width = pen_text_width(pen, TYPE_SMALL, false, step),
               title_width = pen_text_width(pen, type, true, title);
  pen_text(pen, type, t->ink, true, ANCHOR_START, left, base, right - left, title);
  const bool has_step = left + title_width + 18 * u + step_width < right;
  if (has_step) pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_END, right, base, 0, step);
  if (has_step && !pen->view->presentation) {
    problem_words(pen, right - left - title_width - step_width - 3 * small, words, sizeof words);
    pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_END, right - step_width - 1.6 * small, base, 0, words);
  }
  draw_narration(pen, box_at(left, told.y, right - left, told.height), size, n_lines, said);
  return box_at(page.x + 24 * u, page.y + 4 * u, page.width - 48 * u, page.height - 8 * u);
}
