#include "viz/scene/sheet.h"

#include "viz/scene/score_table.h"

enum { LEAST = 12 };

double sheet_letters(const Pen *pen, Box page) {
  return fmax(LEAST, pen->is_tall ? 0.045 * page.width : 0.041 * page.height);
}

/* Number and unit, smaller where they would not fit. */
static double draw_number(const Pen *pen, double size, double letters, double x, double y, double width,
                          const Sheet *s) {
  double number = pen_words_width(pen, size, true, s->number), gap = 0.3 * size,
         unit = s->unit ? pen_words_width(pen, letters, true, s->unit) + gap : 0;
  const double fits = fmin(1, width / fmax(1, number + unit));
  size *= fits, letters = fmax(LEAST, letters * fits), number *= fits, gap *= fits, unit *= fits;
  if (!pen->is_tall) x -= number + unit;
  pen_words(pen, size, pen->theme->ink, true, ANCHOR_START, x, y, s->number);
  if (s->unit) pen_words(pen, letters, pen->theme->ink, true, ANCHOR_START, x + number + gap, y, s->unit);
  return x;
}

Box pen_sheet(const Pen *pen, Box page, const Sheet *s) {
  const Theme *t = pen->theme;
  const bool tall = pen->is_tall;
  const double margin = (tall ? 0.06 : 0.055) * page.width, left = page.x + margin, width = page.width - 2 * margin,
               right = left + width, letters = sheet_letters(pen, page),
               caption = fmax(LEAST, tall ? 0.05 * page.width : 0.045 * page.height),
               number = fmax(LEAST, tall ? 0.11 * page.width : 0.085 * page.height),
               name = page.y + (tall ? 0.02 * page.height + 0.08 * page.width : 0.108 * page.height),
               foot = page.y + (tall ? 0.948 : 0.93) * page.height;
  double title = fmax(LEAST, tall ? 0.075 * page.width : 0.058 * page.height);
  title = fmin(title, title * width / fmax(1, pen_words_width(pen, title, true, s->title)));
  pen_words(pen, title, t->ink, true, ANCHOR_START, left, name, s->title);
  const double note = s->note ? pen_words_width(pen, letters, false, s->note) : 0;
  if (tall && s->note)
    pen_words(pen, letters, t->ink_soft, false, ANCHOR_START, left, name + 1.7 * letters, s->note);
  else if (s->note && note + pen_words_width(pen, title, true, s->title) + letters <= width)
    pen_words(pen, letters, t->ink_soft, false, ANCHOR_END, right, name, s->note);
  double end = right;
  if (s->number) end = draw_number(pen, number, caption, tall ? left : right, foot, width, s) - letters;
  if (tall) end = right;
  for (int k = 0; k < 2 && s->caption[k]; k++) {
    if (left + pen_words_width(pen, caption, true, s->caption[k]) > end) continue;
    pen_words(pen, caption, s->colour, true, ANCHOR_START, left, tall ? foot - 1.15 * number : foot, s->caption[k]);
    break;
  }
  const double top = name + (tall ? 3 : 1.6) * letters,
               bottom = foot - (tall ? 1.15 * number + 3 * caption : 1.7 * number);
  return box_at(left, top, width, fmax(0, bottom - top));
}
