/* theme.h: text can be read, and what differs still differs to colour-blind eyes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "viz/scene/chart_panels.h"
#include "viz/scene/theme.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const Theme *const themes[] = {&theme_light, &theme_dark};

/* ---- contrast: WCAG 2.1, success criteria 1.4.3 (text, 4.5) and 1.4.11 (graphics, 3) ---- */

/* Worked by hand: black on white is 21, and #767676 is the well-known lightest grey that passes on
 * white. */
static void test_contrast_formula(void **state) {
  (void)state;
  Colour black = {0, 0, 0}, white = {255, 255, 255}, grey = {0x76, 0x76, 0x76}, lighter = {0x77, 0x77, 0x77};
  assert_true(fabs(theme_contrast(black, white) - 21) < 1e-9);
  assert_true(theme_contrast(white, grey) >= 4.5 && theme_contrast(white, lighter) < 4.5);
  assert_true(theme_contrast(grey, grey) == 1);
}

static void expect_contrast(const Theme *theme, const char *what, Colour a, Colour b, double least) {
  double contrast = theme_contrast(a, b);
  if (contrast < least) fail_msg("%s theme: %s has a contrast of %.2f, below %.1f", theme->name, what, contrast, least);
}

static void test_text_can_be_read(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const Theme *theme = themes[t];
    const Colour texts[] = {theme->ink, theme->ink_soft, theme->good, theme->warn, theme->bad};
    static const char *const names[] = {"ink", "soft ink", "good", "warn", "bad"};
    for (int i = 0; i < 5; i++) {
      expect_contrast(theme, names[i], texts[i], theme->background, 4.5);
      expect_contrast(theme, names[i], texts[i], theme->panel, 4.5);
    }
    for (int ink = 0; ink < N_INKS; ink++) {
      expect_contrast(theme, "series text", theme->series_text[ink], theme->background, 4.5);
      expect_contrast(theme, "series text", theme->series_text[ink], theme->panel, 4.5);
    }
    expect_contrast(theme, "text on what does not fit", theme_on(theme->bad), theme->bad, 4.5);
    for (int tile = 0; tile < N_TILE_COLOURS; tile++)
      expect_contrast(theme, "text on a tile", theme_on(theme->tile[tile]), theme->tile[tile], 4.5);
  }
}

static void test_lines_can_be_seen(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    for (int ink = 0; ink < N_INKS; ink++) {
      expect_contrast(themes[t], "series", themes[t]->series[ink], themes[t]->background, 3);
      expect_contrast(themes[t], "series", themes[t]->series[ink], themes[t]->panel, 3);
    }
    expect_contrast(themes[t], "axis", themes[t]->axis, themes[t]->background, 3);
    assert_true(theme_contrast(themes[t]->grid, themes[t]->background) < 1.5); /* faint */
  }
}

/* ---- colour vision ----
 * Matrices in linear RGB for complete deficiency (severity 1.0), from Machado, Oliveira and
 * Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG
 * 15(6), 2009, table of the authors' page. The first one is normal vision. */
static const double vision[4][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
};
static const char *const vision_names[] = {"normal vision", "protanopia", "deuteranopia", "tritanopia"};

static double linear(double byte) {
  double value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double lab_curve(double t) { return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116; }

/* CIELAB under D65, as the eye described by a matrix sees it. */
static void seen_as(Colour colour, int eye, double lab[3]) {
  const double rgb[3] = {linear(colour.red), linear(colour.green), linear(colour.blue)};
  double seen[3];
  for (int i = 0; i < 3; i++) {
    seen[i] = 0;
    for (int k = 0; k < 3; k++) seen[i] += vision[eye][i][k] * rgb[k];
    seen[i] = fmin(fmax(seen[i], 0), 1);
  }
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

/* The simulation itself: grey stays grey, and red and green of equal lightness fall together for
 * the red-blind. */
static void test_simulation(void **state) {
  (void)state;
  for (int eye = 0; eye < 4; eye++) {
    double lab[3];
    seen_as((Colour){128, 128, 128}, eye, lab);
    assert_true(fabs(lab[1]) < 0.6 && fabs(lab[2]) < 0.6);
  }
  Colour red = {190, 110, 60}, green = {125, 130, 60};
  assert_true(distance(red, green, 0) > 40);
  assert_true(distance(red, green, 2) < 12);
}

static void expect_apart(const Theme *theme, const Colour *colours, int n, double least, const char *what) {
  for (int eye = 0; eye < 4; eye++)
    for (int i = 0; i < n; i++)
      for (int k = 0; k < i; k++) {
        double apart = distance(colours[i], colours[k], eye);
        if (apart < least)
          fail_msg("%s theme, %s: %s %d and %d are only %.1f apart", theme->name, vision_names[eye], what, k, i, apart);
      }
}

static void test_series_stay_apart(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++)
    expect_apart(themes[t], &themes[t]->series[INK_NEUTRAL], N_INKS - INK_NEUTRAL, 15, "inks");
}

/* Waiting and skipped tiles are told apart by hatching, so only their fills may be close. */
static void test_tile_states_stay_apart(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const Colour *tile = themes[t]->tile;
    const Colour with_waiting[] = {tile[TILE_COLOUR_WAITING], tile[TILE_COLOUR_CURRENT], tile[TILE_COLOUR_DONE],
                                   tile[TILE_COLOUR_PARTIAL]};
    const Colour with_skipped[] = {tile[TILE_COLOUR_SKIPPED], tile[TILE_COLOUR_CURRENT], tile[TILE_COLOUR_DONE],
                                   tile[TILE_COLOUR_PARTIAL]};
    expect_apart(themes[t], with_waiting, 4, 20, "tiles");
    expect_apart(themes[t], with_skipped, 4, 20, "tiles");
  }
}

/* A block that is at work and one that is only there: their fills, the empty strip, and words on a panel that dims its
 * fills. */
static void test_dimmed_stays_apart(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const Theme *theme = themes[t];
    const Colour blocks[] = {theme->tile[TILE_COLOUR_WAITING], theme->tile[TILE_COLOUR_CURRENT],
                             theme_dimmed(theme, theme->tile[TILE_COLOUR_CURRENT]), theme->tile[TILE_COLOUR_DONE]};
    expect_apart(theme, blocks, 4, 15, "blocks");
    const Colour levels[] = {theme->tile[TILE_COLOUR_WAITING], theme->tile[TILE_COLOUR_DONE],
                             theme_dimmed(theme, theme->tile[TILE_COLOUR_DONE])};
    expect_apart(theme, levels, 3, 15, "levels");
  }
}

/* The map of blocks goes from faint to strong in one direction of lightness, for every eye, and words on it can be
 * read. */
static void test_map_of_blocks(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++)
    for (int eye = 0; eye < 4; eye++) {
      double first[3], last[3];
      seen_as(map_heat(themes[t], 0), eye, first);
      seen_as(map_heat(themes[t], 1), eye, last);
      assert_true(fabs(last[0] - first[0]) > 35);
      double before = first[0];
      for (int n = 0; n <= 100; n++) {
        const Colour fill = map_heat(themes[t], n / 100.0);
        double lab[3];
        seen_as(fill, eye, lab);
        if ((lab[0] - before) * (last[0] - first[0]) < -1e-9)
          fail_msg("%s theme, %s: the map turns round at %d %%", themes[t]->name, vision_names[eye], n);
        before = lab[0];
        expect_contrast(themes[t], "words on the map", map_ink(fill), fill, 4.5);
      }
    }
}

static void test_verdicts_stay_apart(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const Colour verdicts[] = {themes[t]->good, themes[t]->warn, themes[t]->bad};
    expect_apart(themes[t], verdicts, 3, 15, "verdicts");
  }
}

/* ---- the rest ---- */

static void test_names(void **state) {
  (void)state;
  assert_ptr_equal(theme_named("light"), &theme_light);
  assert_ptr_equal(theme_named("dark"), &theme_dark);
  assert_null(theme_named("Light"));
}

static void test_mix(void **state) {
  (void)state;
  Colour middle = theme_mix((Colour){0, 100, 255}, (Colour){100, 0, 255}, 0.5);
  assert_true(middle.red == 50 && middle.green == 50 && middle.blue == 255);
}

static bool same(Colour a, Colour b) { return a.red == b.red && a.green == b.green && a.blue == b.blue; }

/* assets/palette.tsv tells people and other programs the colours; it must say what the themes say.
 */
static void test_palette_file(void **state) {
  (void)state;
  static const struct {
    const char *name;
    size_t offset;
  } roles[] = {
#define ROLE(field) {#field, offsetof(Theme, field)}
      ROLE(background),
      ROLE(panel),
      ROLE(ink),
      ROLE(ink_soft),
      ROLE(axis),
      ROLE(grid),
      ROLE(good),
      ROLE(warn),
      ROLE(bad),
#undef ROLE
#define ROLE(name, field) {name, offsetof(Theme, field)}
      ROLE("neutral", series[INK_NEUTRAL]),
      ROLE("blue", series[INK_BLUE]),
      ROLE("orange", series[INK_ORANGE]),
      ROLE("green", series[INK_GREEN]),
      ROLE("purple", series[INK_PURPLE]),
      ROLE("brown", series[INK_BROWN]),
      ROLE("blue_text", series_text[INK_BLUE]),
      ROLE("orange_text", series_text[INK_ORANGE]),
      ROLE("green_text", series_text[INK_GREEN]),
      ROLE("purple_text", series_text[INK_PURPLE]),
      ROLE("brown_text", series_text[INK_BROWN]),
      ROLE("tile_waiting", tile[TILE_COLOUR_WAITING]),
      ROLE("tile_current", tile[TILE_COLOUR_CURRENT]),
      ROLE("tile_done", tile[TILE_COLOUR_DONE]),
      ROLE("tile_partial", tile[TILE_COLOUR_PARTIAL]),
      ROLE("tile_skipped", tile[TILE_COLOUR_SKIPPED]),
#undef ROLE
  };
  FILE *file = fopen("assets/palette.tsv", "r");
  assert_non_null(file);
  char line[400], name[40];
  unsigned light, dark;
  size_t found = 0;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%39s #%6x #%6x", name, &light, &dark) != 3) continue;
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
      if (strcmp(roles[i].name, name) != 0) continue;
      Colour expected[2] = {{(uint8_t)(light >> 16), (uint8_t)(light >> 8), (uint8_t)light},
                            {(uint8_t)(dark >> 16), (uint8_t)(dark >> 8), (uint8_t)dark}};
      for (int t = 0; t < 2; t++) {
        Colour colour;
        memcpy(&colour, (const char *)themes[t] + roles[i].offset, sizeof colour);
        if (!same(colour, expected[t]))
          fail_msg("assets/palette.tsv and the %s theme differ in %s", themes[t]->name, name);
      }
      found++;
    }
  }
  fclose(file);
  assert_int_equal(found, sizeof roles / sizeof roles[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_contrast_formula),
      cmocka_unit_test(test_text_can_be_read),
      cmocka_unit_test(test_lines_can_be_seen),
      cmocka_unit_test(test_simulation),
      cmocka_unit_test(test_series_stay_apart),
      cmocka_unit_test(test_tile_states_stay_apart),
      cmocka_unit_test(test_dimmed_stays_apart),
      cmocka_unit_test(test_map_of_blocks),
      cmocka_unit_test(test_verdicts_stay_apart),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_mix),
      cmocka_unit_test(test_palette_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
