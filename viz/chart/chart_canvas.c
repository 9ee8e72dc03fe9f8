#include "viz/chart/chart_canvas.h"

#include "viz/chart/chart.h"
#include <math.h>

static const double PI = 3.14159265358979323846;

/* ---- titles and footer ---- */

static Lettering type_of(const Canvas *canvas, double type, bool bold, Anchor anchor) {
  /* Every theme has the same families; measuring works before a theme is given. */
  return (Lettering){.family = theme_light.sans, .size = type * canvas->unit, .bold = bold, .anchor = anchor};
}

static Lettering footer_type(const Canvas *canvas) {
  return (Lettering){.family = theme_light.mono, .size = TYPE_FOOTER * canvas->unit};
}

static double free_width(const Canvas *canvas) { return canvas->width - 2 * canvas->margin; }

/* Subtitle and footer may take a second line. */
static int lines_of(const Canvas *canvas, const Lettering *lettering, const char *text) {
  if (!*text) return 0;
  return letter_measure(canvas->cr, lettering, text).width > free_width(canvas) ? 2 : 1;
}

#define TITLE_HEIGHT    42.0
#define SUBTITLE_HEIGHT 26.0
#define FOOTER_HEIGHT   19.0

Canvas canvas_measured(Canvas canvas) {
  canvas.unit = fmin(canvas.width / 1280, canvas.height / 720);
  canvas.margin = 40 * canvas.unit;
  Lettering label = type_of(&canvas, TYPE_LABEL, false, ANCHOR_START), mono = footer_type(&canvas);
  double above = (*canvas.title ? TITLE_HEIGHT : 0) + SUBTITLE_HEIGHT * lines_of(&canvas, &label, canvas.subtitle);
  int footers = lines_of(&canvas, &mono, canvas.footer);
  canvas.top = canvas.margin + (above + (above > 0 ? 14 : 0)) * canvas.unit;
  canvas.bottom = canvas.height - (footers ? 24 + FOOTER_HEIGHT * footers + 10 : 26) * canvas.unit;
  return canvas;
}

void canvas_frame(const Canvas *canvas) {
  cairo_t *cr = canvas->cr;
  box_fill(cr, (Box){0, 0, canvas->width, canvas->height}, canvas->theme->background, 1);
  double u = canvas->unit, y = canvas->margin;
  if (*canvas->title) {
    Lettering bold = type_of(canvas, TYPE_TITLE, true, ANCHOR_START);
    theme_use(cr, canvas->theme->ink, 1);
    letter_draw_cut(cr, &bold, canvas->margin, y + 24 * u, free_width(canvas), canvas->title);
    y += TITLE_HEIGHT * u;
  }
  Lettering label = type_of(canvas, TYPE_LABEL, false, ANCHOR_START);
  theme_use(cr, canvas->theme->ink_soft, 1);
  letter_draw_wrapped(cr, &label, canvas->margin, y + 17 * u, free_width(canvas), SUBTITLE_HEIGHT / TYPE_LABEL, 2,
                      canvas->subtitle);
  Lettering mono = footer_type(canvas);
  int n_lines = lines_of(canvas, &mono, canvas->footer);
  letter_draw_wrapped(cr, &mono, canvas->margin, canvas->height - (24 + FOOTER_HEIGHT * (n_lines - 1)) * u,
                      free_width(canvas), FOOTER_HEIGHT / TYPE_FOOTER, 2, canvas->footer);
}

/* ---- text and lines ---- */

void canvas_text(const Canvas *canvas, Colour colour, double type, bool bold, Anchor anchor, double x, double y,
                 const char *text) {
  if (!*text) return;
  Lettering lettering = type_of(canvas, type, bold, anchor);
  theme_use(canvas->cr, colour, 1);
  letter_draw(canvas->cr, &lettering, x, y, text);
}

double canvas_text_width(const Canvas *canvas, double type, bool bold, const char *text) {
  Lettering lettering = type_of(canvas, type, bold, ANCHOR_START);
  return letter_measure(canvas->cr, &lettering, text).width;
}

/* ---- what tells series apart without colour ---- */

void canvas_dash(const Canvas *canvas, int cue, bool is_reference) {
  static const double patterns[][4] = {{0}, {14, 6, 14, 6}, {18, 5, 4, 5}, {7, 4, 7, 4}, {3, 5, 3, 5}, {22, 6, 6, 6}};
  double dash[4];
  for (int i = 0; i < 4; i++) dash[i] = (is_reference ? 6.5 : patterns[cue % N_CUES][i]) * canvas->unit;
  cairo_set_dash(canvas->cr, dash, !is_reference && cue % N_CUES == 0 ? 0 : 4, 0);
}

/* A regular polygon with its first corner at an angle. */
static void polygon(cairo_t *cr, double x, double y, double radius, int corners, double first_angle) {
  for (int i = 0; i < corners; i++) {
    double angle = first_angle + 2 * PI * i / corners;
    cairo_line_to(cr, x + radius * cos(angle), y + radius * sin(angle));
  }
  cairo_close_path(cr);
}

/* Radii are chosen so that all shapes look equally large. The rim in the background's colour keeps
 * markers apart from lines that pass under them. */
void canvas_marker(const Canvas *canvas, Colour colour, int cue, double x, double y, double radius) {
  cairo_t *cr = canvas->cr;
  cairo_new_path(cr);
  switch (cue % N_CUES) {
  case 0: cairo_arc(cr, x, y, radius, 0, 2 * PI); break;
  case 1: polygon(cr, x, y, radius * 1.25, 4, PI / 4); break;
  case 2: polygon(cr, x, y, radius * 1.35, 3, -PI / 2); break;
  case 3: polygon(cr, x, y, radius * 1.3, 4, 0); break;
  case 4: polygon(cr, x, y, radius * 1.35, 3, PI / 2); break;
  default: polygon(cr, x, y, radius * 1.15, 6, 0); break;
  }
  cairo_set_dash(cr, NULL, 0, 0);
  theme_use(cr, canvas->theme->background, 1);
  cairo_set_line_width(cr, radius * 0.7);
  cairo_stroke_preserve(cr);
  theme_use(cr, colour, 1);
  cairo_fill(cr);
}
