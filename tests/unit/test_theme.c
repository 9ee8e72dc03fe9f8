/* theme.h: text can be read, and what differs still differs to colour-blind eyes. */
#include "tests/support/test.h"
#include "tests/support/colour_vision.h"

static const Theme *const themes[] = {&theme_light, &theme_dark};

/* ---- contrast: WCAG 2.1, success criteria 1.4.3 (text, 4.5) and 1.4.11 (graphics, 3) ---- */

/* Worked by hand: black on white is 21, and #767676 is the well-known lightest grey that passes on
 * white. */
TEST(test_contrast_formula) {
  Colour black = 0, white = 0xffffff, grey = 0x767676, lighter = 0x777777;
  assert_near(theme_contrast(black, white), 21, 1e-9);
  assert_true(theme_contrast(white, grey) >= 4.5 && theme_contrast(white, lighter) < 4.5);
  assert_true(theme_contrast(grey, grey) == 1);
}

/* On the page and on a panel. */
static void expect_contrast(const Theme *theme, const char *what, const Colour *colours, int n, double least) {
  const Colour grounds[] = {theme->background, theme->panel};
  for (int k = 0; k < 2 * n; k++) {
    const double contrast = theme_contrast(colours[k / 2], grounds[k % 2]);
    if (contrast < least)
      fail_msg("%s theme: %s %d has a contrast of %.2f, below %.1f", theme->name, what, k / 2, contrast, least);
  }
}

static void expect_text_on(Colour fill) { assert_true(theme_contrast(theme_on(fill), fill) >= 4.5); }

/* The grey of outlines and of what holds data stands off both grounds, or held and empty would look alike. */
TEST(test_all_can_be_seen) {
  for (int t = 0; t < 2; t++) {
    const Theme *theme = themes[t];
    expect_contrast(theme, "ink", &theme->ink, 2, 4.5);
    expect_contrast(theme, "verdict", &theme->good, 3, 4.5);
    expect_contrast(theme, "series' text", theme->series_text, N_INKS, 4.5);
    expect_contrast(theme, "waste", &theme->waste_text, 1, 4.5);
    expect_contrast(theme, "series", theme->series, N_INKS, 3);
    expect_contrast(theme, "outline", &theme->tile[TILE_COLOUR_HELD], 1, 3);
    expect_text_on(theme->bad);
    for (int tile = 0; tile < N_TILE_COLOURS; tile++) expect_text_on(theme->tile[tile]);
    assert_true(theme_contrast(theme->axis, theme->background) >= 3);
    assert_true(theme_contrast(theme->grid, theme->background) < 1.5); /* faint */
  }
}

/* ---- colour vision ---- */

static double lab_curve(double t) { return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116; }

/* CIELAB under D65, as the eye described by a matrix sees it. */
static void seen_as(Colour colour, int eye, double lab[3]) {
  double seen[3];
  linear_for(colour, eye, seen);
  double x = lab_curve((0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.95047);
  double y = lab_curve(0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]);
  double z = lab_curve((0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.08883);
  lab[0] = 116 * y - 16;
  lab[1] = 500 * (x - y);
  lab[2] = 200 * (y - z);
}

/* CIE 1976 distance: about 2.3 is just noticeable side by side. */
static double distance(Colour a, Colour b, int eye) {
  double first[3], second[3];
  seen_as(a, eye, first);
  seen_as(b, eye, second);
  return sqrt(pow(first[0] - second[0], 2) + pow(first[1] - second[1], 2) + pow(first[2] - second[2], 2));
}

/* CIEDE2000 of two colours in CIELAB, after Sharma, Wu and Dalal, "The CIEDE2000 color-difference formula:
 * implementation notes, supplementary test data, and mathematical observations", Color Research and Application 30(1),
 * 2005. */
static double difference(const double one[3], const double two[3]) {
  const double PI = acos(-1), high = pow(25, 7);
  const double C1 = hypot(one[1], one[2]), C2 = hypot(two[1], two[2]), mean7 = pow((C1 + C2) / 2, 7);
  const double G = 0.5 * (1 - sqrt(mean7 / (mean7 + high)));
  const double a1 = (1 + G) * one[1], a2 = (1 + G) * two[1], c1 = hypot(a1, one[2]), c2 = hypot(a2, two[2]);
  double h1 = c1 > 0 ? atan2(one[2], a1) : 0, h2 = c2 > 0 ? atan2(two[2], a2) : 0;
  if (h1 < 0) h1 += 2 * PI;
  if (h2 < 0) h2 += 2 * PI;
  double turn = h2 - h1;
  if (turn > PI) turn -= 2 * PI;
  if (turn < -PI) turn += 2 * PI;
  if (c1 * c2 == 0) turn = 0;
  const double dL = two[0] - one[0], dC = c2 - c1, dH = 2 * sqrt(c1 * c2) * sin(turn / 2);
  const double L = (one[0] + two[0]) / 2, C = (c1 + c2) / 2;
  double h = c1 * c2 == 0 ? h1 + h2 : (h1 + h2) / 2;
  if (c1 * c2 != 0 && fabs(h1 - h2) > PI) h += h1 + h2 < 2 * PI ? PI : -PI;
  const double T =
      1 - 0.17 * cos(h - PI / 6) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + PI / 30) - 0.20 * cos(4 * h - 63 * PI / 180);
  const double off = pow(L - 50, 2), S_L = 1 + 0.015 * off / sqrt(20 + off), S_C = 1 + 0.045 * C,
               S_H = 1 + 0.015 * C * T;
  const double R = -2 * sqrt(pow(C, 7) / (pow(C, 7) + high)) * sin(PI / 3 * exp(-pow((h * 180 / PI - 275) / 25, 2)));
  return sqrt(pow(dL / S_L, 2) + pow(dC / S_C, 2) + pow(dH / S_H, 2) + R * dC / S_C * dH / S_H);
}

#define LEAST_DIFFERENCE 10 /* of CIEDE2000; 1 is just noticeable side by side */

static void expect_apart(const Theme *theme, const Colour *colours, int n, double least, const char *what) {
  for (int eye = 0; eye < N_EYES; eye++)
    for (int i = 0; i < n; i++)
      for (int k = 0; k < i; k++) {
        double apart = distance(colours[i], colours[k], eye), first[3], second[3];
        seen_as(colours[i], eye, first);
        seen_as(colours[k], eye, second);
        if (difference(first, second) < LEAST_DIFFERENCE)
          fail_msg("%s theme, %s: %s %d and %d have a CIEDE2000 of %.1f", theme->name, eye_names[eye], what, k, i,
                   difference(first, second));
        if (apart < least)
          fail_msg("%s theme, %s: %s %d and %d are only %.1f apart", theme->name, eye_names[eye], what, k, i, apart);
      }
}

/* Empty tiles are outlined and skipped ones hatched, so their fills alone may be the same. What bytes are: needed once,
 * again, between, at work; amber and vermillion are 15 apart: they also differ in place. */
TEST(test_what_differs_stays_apart) {
  for (int t = 0; t < 2; t++) {
    const Theme *theme = themes[t];
    const Colour *tile = theme->tile, held = tile[TILE_COLOUR_HELD], blue = theme->series[INK_BLUE],
                 carried[] = {blue, theme->again, theme->waste, held},
                 beside[] = {blue, theme->again, tile[TILE_COLOUR_CURRENT], held};
    assert_memory_equal(&tile[TILE_COLOUR_EMPTY], &theme->background, sizeof *tile);
    assert_memory_equal(&tile[TILE_COLOUR_SKIPPED], &theme->background, sizeof *tile);
    expect_apart(theme, &theme->series[INK_NEUTRAL], N_INKS - INK_NEUTRAL, 15, "inks");
    expect_apart(theme, tile, TILE_COLOUR_SKIPPED, 20, "tiles");
    expect_apart(theme, carried, 4, 20, "carried bytes");
    expect_apart(theme, beside, 4, 20, "what is at work");
    expect_apart(theme, &theme->good, 3, 15, "verdicts");
  }
}

/* ---- the rest ---- */

TEST(test_mix) { assert_int_equal(theme_mix(0x0064ff, 0x6400ff, 0.5), 0x3232ff); }

/* assets/palette.tsv tells people and other programs the colours, in the order of the themes. */
TEST(test_palette_file) {
  FILE *file = fopen("assets/palette.tsv", "r");
  assert_non_null(file);
  char line[400], name[40];
  unsigned hex[2];
  int n = 0;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%39s #%6x #%6x", name, &hex[0], &hex[1]) != 3) continue;
    for (int t = 0; t < 2; t++)
      if ((&themes[t]->background)[n] != hex[t])
        fail_msg("assets/palette.tsv and the %s theme differ in %s", themes[t]->name, name);
    n++;
  }
  fclose(file);
  assert_int_equal(n, (offsetof(Theme, sans) - offsetof(Theme, background)) / sizeof(Colour));
}
