#include "viz/chart/theme.h"

#include <math.h>
#include <string.h>

#define RGB(hex)                                                                                                       \
  { (hex) >> 16 & 0xff, (hex) >> 8 & 0xff, (hex)&0xff }

/* DejaVu comes with fontconfig on Debian, so drawings look the same on most machines. */
#define SANS "DejaVu Sans, sans-serif"
#define MONO "DejaVu Sans Mono, monospace"

/* Okabe and Ito: blue 0072B2, vermillion D55E00, orange E69F00, sky blue 56B4E9. The other inks
 * were searched for the largest CIELAB distance from these and from each other under the three
 * simulated deficiencies. */
const Theme theme_light = {
    .name = "light",
    .dark = false,
    .background = RGB(0xffffff),
    .panel = RGB(0xf3f4f6),
    .ink = RGB(0x1f2226),
    .ink_soft = RGB(0x5a5f66),
    .axis = RGB(0x8b9098),
    .grid = RGB(0xe6e8eb),
    .good = RGB(0x0068a3),
    .warn = RGB(0x926000),
    .bad = RGB(0x9e2638),
    .series = {[INK_NEUTRAL] = RGB(0x33363b),
               [INK_BLUE] = RGB(0x0072b2),
               [INK_ORANGE] = RGB(0xd55e00),
               [INK_GREEN] = RGB(0x07a062),
               [INK_PURPLE] = RGB(0x984377),
               [INK_BROWN] = RGB(0x6a5533)},
    .series_text = {[INK_NEUTRAL] = RGB(0x33363b),
                    [INK_BLUE] = RGB(0x0068a3),
                    [INK_ORANGE] = RGB(0xa84900),
                    [INK_GREEN] = RGB(0x067a4b),
                    [INK_PURPLE] = RGB(0x984377),
                    [INK_BROWN] = RGB(0x6a5533)},
    .waste = RGB(0xd55e00),
    .waste_text = RGB(0xa84900),
    .again = RGB(0x5c4a12),
    .again_text = RGB(0x5c4a12),
    .tile = {[TILE_COLOUR_EMPTY] = RGB(0xffffff),
             [TILE_COLOUR_HELD] = RGB(0x878c94),
             [TILE_COLOUR_CURRENT] = RGB(0xe69f00),
             [TILE_COLOUR_DONE] = RGB(0x0072b2),
             [TILE_COLOUR_PARTIAL] = RGB(0x7cbbe3),
             [TILE_COLOUR_SKIPPED] = RGB(0xffffff)},
    .sans = SANS,
    .mono = MONO,
};

const Theme theme_dark = {
    .name = "dark",
    .dark = true,
    .background = RGB(0x14171c),
    .panel = RGB(0x20252c),
    .ink = RGB(0xf0f2f5),
    .ink_soft = RGB(0xa9afb8),
    .axis = RGB(0x6d747e),
    .grid = RGB(0x292f37),
    .good = RGB(0x6bbeec),
    .warn = RGB(0xe8a613),
    .bad = RGB(0xee7496),
    .series = {[INK_NEUTRAL] = RGB(0xdcdee3),
               [INK_BLUE] = RGB(0x56b4e9),
               [INK_ORANGE] = RGB(0xe69f00),
               [INK_GREEN] = RGB(0x22a85f),
               [INK_PURPLE] = RGB(0xb85ca8),
               [INK_BROWN] = RGB(0x7c6e30)},
    .series_text = {[INK_NEUTRAL] = RGB(0xdcdee3),
                    [INK_BLUE] = RGB(0x6bbeec),
                    [INK_ORANGE] = RGB(0xe8a613),
                    [INK_GREEN] = RGB(0x2ccb86),
                    [INK_PURPLE] = RGB(0xcc7cbe),
                    [INK_BROWN] = RGB(0xad9c55)},
    .waste = RGB(0xe8791f),
    .waste_text = RGB(0xf0934a),
    .again = RGB(0xc8b98a),
    .again_text = RGB(0xd5c894),
    .tile = {[TILE_COLOUR_EMPTY] = RGB(0x14171c),
             [TILE_COLOUR_HELD] = RGB(0x6d747e),
             [TILE_COLOUR_CURRENT] = RGB(0xf5b83d),
             [TILE_COLOUR_DONE] = RGB(0x1a6eb2),
             [TILE_COLOUR_PARTIAL] = RGB(0xa6d2ee),
             [TILE_COLOUR_SKIPPED] = RGB(0x14171c)},
    .sans = SANS,
    .mono = MONO,
};

const Theme *theme_named(const char *name) {
  if (strcmp(name, theme_light.name) == 0) return &theme_light;
  if (strcmp(name, theme_dark.name) == 0) return &theme_dark;
  return NULL;
}

/* IEC 61966-2-1: from an sRGB byte to linear light. */
static double linear(uint8_t byte) {
  double value = byte / 255.0;
  return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

/* Relative luminance as WCAG 2.1 defines it. */
static double luminance(Colour colour) {
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
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
  cairo_set_source_rgba(cr, colour.red / 255.0, colour.green / 255.0, colour.blue / 255.0, alpha);
}

static uint8_t mix(uint8_t from, uint8_t to, double part) { return (uint8_t)lround(from + (to - from) * part); }

Colour theme_mix(Colour from, Colour to, double part) {
  return (Colour){mix(from.red, to.red, part), mix(from.green, to.green, part), mix(from.blue, to.blue, part)};
}
