#include "viz/chart/theme.h"

#include <math.h>

/* DejaVu comes with fontconfig on Debian, so drawings look the same on most machines. */
#define SANS "DejaVu Sans, sans-serif"
#define MONO "DejaVu Sans Mono, monospace"

/* Okabe and Ito: blue 0072B2, vermillion D55E00, orange E69F00, sky blue 56B4E9. The other inks
 * were searched for the largest CIELAB distance from these and from each other under the three
 * simulated deficiencies. */
const Theme theme_light = {
    .name = "light",
    .dark = false,
    .background = 0xffffff,
    .panel = 0xf3f4f6,
    .ink = 0x1f2226,
    .ink_soft = 0x5a5f66,
    .axis = 0x8b9098,
    .grid = 0xe6e8eb,
    .good = 0x0068a3,
    .warn = 0x926000,
    .bad = 0x9e2638,
    .series = {[INK_NEUTRAL] = 0x33363b,
               [INK_BLUE] = 0x0072b2,
               [INK_ORANGE] = 0xd55e00,
               [INK_GREEN] = 0x07a062,
               [INK_PURPLE] = 0x984377,
               [INK_BROWN] = 0x6a5533},
    .series_text = {[INK_NEUTRAL] = 0x33363b,
                    [INK_BLUE] = 0x0068a3,
                    [INK_ORANGE] = 0xa84900,
                    [INK_GREEN] = 0x067a4b,
                    [INK_PURPLE] = 0x984377,
                    [INK_BROWN] = 0x6a5533},
    .waste = 0xd55e00,
    .waste_text = 0xa84900,
    .again = 0x5c4a12,
    .again_text = 0x5c4a12,
    .tile = {[TILE_COLOUR_EMPTY] = 0xffffff,
             [TILE_COLOUR_HELD] = 0x878c94,
             [TILE_COLOUR_CURRENT] = 0xe69f00,
             [TILE_COLOUR_DONE] = 0x0072b2,
             [TILE_COLOUR_PARTIAL] = 0x7cbbe3,
             [TILE_COLOUR_SKIPPED] = 0xffffff},
    .sans = SANS,
    .mono = MONO,
};

const Theme theme_dark = {
    .name = "dark",
    .dark = true,
    .background = 0x14171c,
    .panel = 0x20252c,
    .ink = 0xf0f2f5,
    .ink_soft = 0xa9afb8,
    .axis = 0x6d747e,
    .grid = 0x292f37,
    .good = 0x6bbeec,
    .warn = 0xe8a613,
    .bad = 0xee7496,
    .series = {[INK_NEUTRAL] = 0xdcdee3,
               [INK_BLUE] = 0x56b4e9,
               [INK_ORANGE] = 0xe69f00,
               [INK_GREEN] = 0x22a85f,
               [INK_PURPLE] = 0xb85ca8,
               [INK_BROWN] = 0x7c6e30},
    .series_text = {[INK_NEUTRAL] = 0xdcdee3,
                    [INK_BLUE] = 0x6bbeec,
                    [INK_ORANGE] = 0xe8a613,
                    [INK_GREEN] = 0x2ccb86,
                    [INK_PURPLE] = 0xcc7cbe,
                    [INK_BROWN] = 0xad9c55},
    .waste = 0xe8791f,
    .waste_text = 0xf0934a,
    .again = 0xc8b98a,
    .again_text = 0xd5c894,
    .tile = {[TILE_COLOUR_EMPTY] = 0x14171c,
             [TILE_COLOUR_HELD] = 0x6d747e,
             [TILE_COLOUR_CURRENT] = 0xf5b83d,
             [TILE_COLOUR_DONE] = 0x1a6eb2,
             [TILE_COLOUR_PARTIAL] = 0xa6d2ee,
             [TILE_COLOUR_SKIPPED] = 0x14171c},
    .sans = SANS,
    .mono = MONO,
};

/* IEC 61966-2-1: from a byte of sRGB to linear light. */
static double linear(Colour byte) {
  const double value = (byte & 255) / 255.0;
  return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

/* Relative luminance as WCAG 2.1 defines it. */
static double luminance(Colour colour) {
  return 0.2126 * linear(colour >> 16) + 0.7152 * linear(colour >> 8) + 0.0722 * linear(colour);
}

double theme_contrast(Colour a, Colour b) {
  double first = luminance(a) + 0.05, second = luminance(b) + 0.05;
  return first > second ? first / second : second / first;
}

Colour theme_on(Colour fill) {
  Colour dark = theme_light.ink, light = theme_light.background;
  return theme_contrast(fill, dark) >= theme_contrast(fill, light) ? dark : light;
}

void theme_use(cairo_t *cr, Colour colour, double alpha) {
  cairo_set_source_rgba(cr, (colour >> 16) / 255.0, (colour >> 8 & 255) / 255.0, (colour & 255) / 255.0, alpha);
}

Colour theme_mix(Colour from, Colour to, double part) {
  Colour mixed = 0;
  for (int shift = 0; shift < 24; shift += 8) {
    const int a = from >> shift & 255, b = to >> shift & 255;
    mixed |= (Colour)lround(a + (b - a) * part) << shift;
  }
  return mixed;
}
