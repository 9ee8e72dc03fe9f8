#include "viz/scene/kernel_scene_draw.h"

#include <stdio.h>

#include "viz/scene/bank_draw.h"
#include "viz/text/number.h"

enum { LANES = 32 };

static Pen pen_on(cairo_t *cr, double width, double height, const Theme *theme) {
  static const SceneView view;
  return (Pen){.cr = cr,
               .theme = theme,
               .view = &view,
               .page = box_at(0, 0, width, height),
               .unit = height > width ? fmin(height / 1020, width / 460) : fmin(height / 720, width / 1110),
               .is_tall = height > width};
}

/* ---- the source ---- */

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* "63,488", "8.13 M": a count that fits beside a bar; no wider than WIDEST_COUNT. */
static const char WIDEST_COUNT[] = "000,000";
static Number short_count(uint64_t n) {
  Number text = number_count(n);
  if (n >= 1000000)
    snprintf(text.text, sizeof text.text, "%.3g %s", (double)n / (n < 1000000000 ? 1e6 : 1e9),
             n < 1000000000 ? "M" : "G");
  return text;
}

/* A bar with its number at the end; `number` is what the widest takes. */
static void draw_count(const Pen *pen, Box at, uint64_t count, uint64_t most, double number, Colour fill, Colour ink) {
  if (!count) return;
  const double bars = fmax(0, at.width - number - 6 * pen->unit), small = pen_size(pen, TYPE_SMALL);
  const double length = fmax(2, bars * fmin(share(count, most), 1));
  pen_fill(pen, box_at(at.x, at.y + at.height / 4, length, at.height / 2), fill, 1);
  pen_text(pen, TYPE_SMALL, ink, true, ANCHOR_START, at.x + length + 6 * pen->unit, at.y + at.height / 2 + 0.36 * small,
           number, short_count(count).text);
}

/* Where lines of the source lie: those amid which the chosen one is. */
typedef struct {
  Box body;
  double gutter, column, number; /* widths: of line numbers, of a column of bars, of a number in it */
  double row;
  int letters, more; /* of code that a row has room for, beside its bars and where it has none */
  int first, n;
} SourcePlace;

/* Lines of code have their room first; bars are as wide as that leaves, within bounds. */
static void size_columns(const Pen *pen, const KernelScene *s, SourcePlace *p) {
  p->gutter = pen_mono_width(pen, TYPE_SMALL, "0000");
  p->number = pen_text_width(pen, TYPE_SMALL, true, WIDEST_COUNT);
  const double u = pen->unit, width = p->body.width - p->gutter - 20 * u;
  const double least = fmax(p->number + 38 * u, pen_text_width(pen, TYPE_SMALL, false, "bank conflicts") + 8 * u);
  double longest = 1;
  for (int k = 0; k < s->n_lines; k++) longest = fmax(longest, pen_mono_width(pen, TYPE_SMALL, s->lines[k].text));
  p->column = fmax(least, fmin((width - longest) / 2, 0.19 * p->body.width));
  const double letter = pen_mono_width(pen, TYPE_SMALL, "0");
  p->letters = (int)fmax(8, (width - 2 * p->column) / letter);
  p->more = (int)fmax(8, width / letter);
}

/* Copies to `row` what of a line its next row has room for, from a space on where there is one; those after the first
 * are as deep as it and two letters more, and go on below its bars. Returns what is left of the line. */
static const char *take_row(const SourcePlace *p, const KernelSceneLine *line, const char *left,
                            char row[KERNEL_SCENE_TEXT]) {
  const bool is_first = left == line->text, has_bars = line->sectors || line->conflicts;
  const int deep = (int)strspn(line->text, " "), indent = is_first ? 0 : deep + 2 < p->letters / 2 ? deep + 2 : 2;
  size_t n = strlen(left), room = (size_t)(is_first && has_bars ? p->letters : p->more - indent);
  if (n > room) {
    for (n = room; n > room / 2 && left[n] != ' ';) n--;
    if (left[n] != ' ')
      for (n = room; n > 1 && ((unsigned char)left[n] & 0xc0) == 0x80;) n--; /* no character is cut */
  }
  snprintf(row, KERNEL_SCENE_TEXT, "%*s%.*s", indent, "", (int)n, left);
  left += n;
  return left + strspn(left, " ");
}

static int rows_of(const SourcePlace *p, const KernelSceneLine *line) {
  char row[KERNEL_SCENE_TEXT];
  int n = 1;
  for (const char *left = take_row(p, line, line->text, row); *left; n++) left = take_row(p, line, left, row);
  return n;
}

static SourcePlace source_place(const Pen *pen, const KernelScene *s, Box in) {
  SourcePlace p = {.body = in, .row = 1.75 * pen_size(pen, TYPE_SMALL), .first = s->chosen < 0 ? 0 : s->chosen};
  const int fit = (int)(in.height / p.row);
  size_columns(pen, s, &p);
  for (int rows = 0, before = -1; before < p.n;) { /* one after it, one before it, as long as there is room */
    before = p.n;
    if (p.first + p.n < s->n_lines && rows + rows_of(&p, &s->lines[p.first + p.n]) <= fit)
      rows += rows_of(&p, &s->lines[p.first + p.n++]);
    if (before > 0 && p.first > 0 && rows + rows_of(&p, &s->lines[p.first - 1]) <= fit) {
      rows += rows_of(&p, &s->lines[--p.first]);
      p.n++;
    }
  }
  return p;
}

/* Returns its height. */
static double draw_line(const Pen *pen, const KernelScene *s, const SourcePlace *p, const KernelSceneLine *l,
                        double y) {
  const Theme *t = pen->theme;
  const bool is_chosen = s->chosen >= 0 && l == &s->lines[s->chosen], works = l->sectors || l->wavefronts;
  const double small = pen_size(pen, TYPE_SMALL), down = p->row / 2 + 0.36 * small, u = pen->unit;
  const Box all = box_at(p->body.x, y, p->body.width, p->row * rows_of(p, l)),
            right = box_at(all.x + all.width - p->column, y, p->column, p->row),
            left = box_at(right.x - p->column, y, p->column, p->row);
  char text[KERNEL_SCENE_TEXT];
  if (is_chosen) {
    pen_fill(pen, all, theme_mix(t->panel, t->tile[TILE_COLOUR_CURRENT], 0.3), 1);
    pen_fill(pen, box_at(all.x - 8 * u, y, 6 * u, all.height), t->tile[TILE_COLOUR_CURRENT], 1);
  }
  snprintf(text, sizeof text, "%d", l->number);
  pen_mono(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_END, all.x + p->gutter, y + down, p->gutter, text);
  draw_count(pen, left, l->sectors, s->most_sectors, p->number, t->series[INK_BLUE],
             is_chosen ? t->ink : t->series_text[INK_BLUE]);
  draw_count(pen, right, l->conflicts, s->most_conflicts, p->number, t->waste, is_chosen ? t->ink : t->waste_text);
  const char *rest = l->text;
  do {
    rest = take_row(p, l, rest, text);
    pen_mono(pen, TYPE_SMALL, works || is_chosen ? t->ink : t->ink_soft, is_chosen, ANCHOR_START,
             all.x + p->gutter + 10 * u, y + down, 0, text);
    y += p->row;
  } while (*rest);
  return all.height;
}

static Box source_body(const Pen *pen, Box in) {
  box_cut_top(&in, 1.6 * pen_size(pen, TYPE_SMALL), 0); /* the columns' names */
  return in;
}

static void draw_source(const Pen *pen, const KernelScene *s, Box box) {
  const Theme *t = pen->theme;
  const Box in = pen_panel(pen, box, "Source", NULL);
  const double base = in.y + pen_size(pen, TYPE_SMALL);
  const SourcePlace p = source_place(pen, s, source_body(pen, in));
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, in.x + in.width - 2 * p.column, base, p.column,
           "sectors");
  pen_text(pen, TYPE_SMALL, t->ink_soft, false, ANCHOR_START, in.x + in.width - p.column, base, p.column,
           "bank conflicts");
  double y = p.body.y;
  for (int k = 0; k < p.n; k++) y += draw_line(pen, s, &p, &s->lines[p.first + k], y);
}

/* ---- one request ---- */

/* The words where they lie: of shared memory a column is a bank, and blue where no lane waits for another; of global
 * memory what comes besides with a sector is coloured. */
static void draw_words(const Pen *pen, const KernelSceneRequest *r, Box in) {
  BankWords words;
  bank_words(r->address, r->mask, r->bytes, r->shared ? r->lanes_at_once : LANES, &words);
  draw_bank_words(pen, in, &words, r->shared && r->conflicts ? 0 : words.n_passes + 1, 0, 0, !r->shared);
}

static void passes_words(const KernelScene *s, const KernelSceneRequest *r, char *words, size_t size) {
  const char *passes = r->wavefronts == 1 ? "pass" : "passes";
  if (s->swizzle_row_bytes)
    snprintf(words, size, "Swizzled by rows of %d B: %u %s; as it is, %u", (int)s->swizzle_row_bytes, r->wavefronts,
             passes, r->plain_wavefronts);
  else if (r->conflicts)
    snprintf(words, size, "%u %s, where %u would do", r->wavefronts, passes, r->wavefronts - r->conflicts);
  else
    snprintf(words, size, "%u %s: no conflict", r->wavefronts, passes);
}

static void draw_request(const Pen *pen, const KernelScene *s, Box box) {
  const KernelSceneRequest *r = &s->request;
  const Theme *t = pen->theme;
  const double body = pen_size(pen, TYPE_BODY), u = pen->unit;
  char heading[80], words[200];
  if (!r->is_there) {
    pen_panel(pen, box, "No request of this line yet", NULL);
    return;
  }
  snprintf(heading, sizeof heading, "Line %d %s %s", s->lines[s->chosen].number, r->store ? "stores to" : "reads",
           r->shared ? "shared memory" : "global memory");
  Box in = pen_panel(pen, box, heading, r->shared ? "a column a bank" : "by lines");
  const Box foot = box_cut_bottom(&in, 1.7 * body, 4 * u);
  const int lanes = __builtin_popcount(r->mask);
  draw_words(pen, r, in);
  if (r->shared) {
    passes_words(s, r, words, sizeof words);
  } else {
    const double used = r->sectors ? (double)(lanes * r->bytes) / (32 * r->sectors) : 1;
    snprintf(words, sizeof words, "%d lanes of %d bytes: %u %s, %s used", lanes, r->bytes, r->sectors,
             r->sectors == 1 ? "sector" : "sectors", used >= 1 ? "all" : number_percent(used).text);
  }
  const bool bad = r->shared ? r->conflicts > 0 : (int)r->sectors * 32 > 2 * lanes * r->bytes;
  pen_text(pen, TYPE_BODY, bad ? t->warn : t->good, true, ANCHOR_START, foot.x, foot.y + 1.2 * body, foot.width, words);
}

/* ---- the page ---- */

typedef struct {
  Box head, source, request, foot;
} KernelPage;

static KernelPage page_of(const Pen *pen) {
  const double u = pen->unit, gap = 14 * u, title = pen_size(pen, TYPE_TITLE);
  Box page = box_inset(pen->page, 22 * u);
  KernelPage p;
  p.head = box_cut_top(&page, 2.3 * title, 10 * u);
  p.foot = box_cut_bottom(&page, 10 * u, 10 * u);
  p.source = pen->is_tall ? box_cut_top(&page, 0.42 * page.height, gap) : box_cut_left(&page, 0.6 * page.width, gap);
  p.request = page;
  return p;
}

/* What this picture says. */
static void idea(const KernelScene *s, char *words, size_t size) {
  uint64_t conflicts = 0, sectors = 0;
  const KernelSceneLine *worst = NULL, *widest = NULL;
  for (int k = 0; k < s->n_lines; k++) {
    const KernelSceneLine *l = &s->lines[k];
    conflicts += l->conflicts, sectors += l->sectors;
    if (l->conflicts && (!worst || l->conflicts > worst->conflicts)) worst = l;
    if (l->sectors && (!widest || l->sectors > widest->sectors)) widest = l;
  }
  const Number all = short_count(conflicts), plain = short_count(s->plain_conflicts);
  if (s->swizzle_row_bytes)
    snprintf(words, size, "Swizzled by rows of %d B: %s bank conflicts, not %s", (int)s->swizzle_row_bytes, all.text,
             plain.text);
  else if (worst && worst->conflicts == conflicts)
    snprintf(words, size, "Line %d makes all %s bank conflicts", worst->number, all.text);
  else if (worst)
    snprintf(words, size, "Line %d makes %s of %s bank conflicts", worst->number,
             number_percent(share(worst->conflicts, conflicts)).text, all.text);
  else if (widest)
    snprintf(words, size, "Line %d moves %s of %s, and no bank is in conflict", widest->number,
             number_percent(share(widest->sectors, sectors)).text, number_bytes((Wide)sectors * 32).text);
  else
    snprintf(words, size, "No line of this file has moved bytes yet");
}

void kernel_scene_draw(const KernelScene *s, cairo_t *cr, double width, double height, const Theme *theme) {
  const Pen pen = pen_on(cr, width, height, theme);
  const KernelPage p = page_of(&pen);
  const double title = pen_size(&pen, TYPE_TITLE), body = pen_size(&pen, TYPE_BODY);
  pen_fill(&pen, pen.page, theme->background, 1);
  char words[440];
  idea(s, words, sizeof words);
  const TypeSize large = pen_text_width(&pen, TYPE_TITLE, true, words) > p.head.width ? TYPE_BODY : TYPE_TITLE;
  pen_text(&pen, large, theme->ink, true, ANCHOR_START, p.head.x, p.head.y + title, p.head.width, words);
  snprintf(words, sizeof words, "%s. %s", s->title, s->where);
  if (pen_text_width(&pen, TYPE_BODY, false, words) > p.head.width) snprintf(words, sizeof words, "%s", s->title);
  pen_text(&pen, TYPE_BODY, theme->ink_soft, false, ANCHOR_START, p.head.x, p.head.y + title + 1.5 * body, p.head.width,
           words);
  draw_source(&pen, s, p.source);
  draw_request(&pen, s, p.request);
  pen_fill(&pen, p.foot, theme->panel, 1);
  const double done = s->n_steps ? (double)(s->step + 1) / (double)s->n_steps : 1;
  pen_fill(&pen, box_at(p.foot.x, p.foot.y, p.foot.width * done, p.foot.height), theme->tile[TILE_COLOUR_CURRENT], 1);
}

int kernel_scene_line_at(const KernelScene *s, double width, double height, double x, double y) {
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  cairo_t *cr = cairo_create(surface);
  Pen pen = pen_on(cr, width, height, &theme_light);
  pen.hit = &(SceneHit){.kind = HIT_NONE}; /* nothing is drawn */
  const Box in = source_body(&pen, pen_panel(&pen, page_of(&pen).source, "Source", NULL));
  const SourcePlace p = source_place(&pen, s, in);
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  if (x < in.x || x > in.x + in.width || y < in.y) return -1;
  double end = in.y;
  for (int k = p.first; k < p.first + p.n; k++)
    if (y < (end += p.row * rows_of(&p, &s->lines[k]))) return k;
  return -1;
}
