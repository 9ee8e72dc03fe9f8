/* The colours of everything drawn: charts, scenes, the window. Two themes, light (the default,
 * which survives a projector) and dark.
 *
 * Neutral ink, and blue and orange as accents, after the palette of Okabe and Ito ("Color Universal
 * Design", 2008, https://jfly.uni-koeln.de/color/). The lines and fills have a contrast of at least
 * 3 to 1 with the background, all text at least 4.5 to 1 (WCAG 2.1, 1.4.3 and 1.4.11), and inks and
 * tile states stay apart under protanopia, deuteranopia and tritanopia; tests/unit/test_theme.c measures
 * all of it. Even so colour is never the only cue: series differ in dash and marker, skipped tiles
 * are hatched. */
#ifndef TILEWALK_VIZ_CHART_THEME_H
#define TILEWALK_VIZ_CHART_THEME_H

#include "viz/chart/ink.h"

#include <stdbool.h>
#include <stdint.h>

#include <cairo.h>

typedef uint32_t Colour; /* sRGB, 0xRRGGBB */

/* What a tile is doing, of scores or of any tensor, in memory or on chip: one language, also of the pages. What need
 * not move is `waste`. */
typedef enum {
  TILE_COLOUR_EMPTY,   /* outlined, in the colour of what holds data */
  TILE_COLOUR_HELD,    /* grey: holds data */
  TILE_COLOUR_CURRENT, /* amber: at work */
  TILE_COLOUR_DONE,    /* blue: done */
  TILE_COLOUR_PARTIAL, /* light blue: done, and partly masked */
  TILE_COLOUR_SKIPPED, /* hatched: never loaded */
  N_TILE_COLOURS
} TileColour;

typedef struct {
  const char *name; /* "light" or "dark" */
  bool dark;
  Colour background;
  Colour panel;                /* a surface that stands off the background: tooltips, shaded stretches */
  Colour ink;                  /* text */
  Colour ink_soft;             /* secondary text: units, tick labels, footers */
  Colour axis;                 /* axes and frames */
  Colour grid;                 /* faint lines behind the data */
  Colour good, warn, bad;      /* verdicts in words; also readable on `panel` */
  Colour series[N_INKS];       /* lines and fills, by Ink */
  Colour series_text[N_INKS];  /* the same inks where they colour text */
  Colour waste, waste_text;    /* bytes that need not move; in dark told apart from what is at work */
  Colour again, again_text;    /* bytes that move again: umber, in dark sand */
  Colour tile[N_TILE_COLOURS]; /* fills; text on them: theme_on */
  const char *sans, *mono;     /* font families for lettering.h */
} Theme;

extern const Theme theme_light, theme_dark;

/* Black or white ink of the theme, whichever is better read on `fill`. */
Colour theme_on(Colour fill);

/* Makes a colour the cairo source, `alpha` from 0 to 1. */
void theme_use(cairo_t *cr, Colour colour, double alpha);

/* A colour between two, part 0 is the first. Mixed in sRGB, for fades. */
Colour theme_mix(Colour from, Colour to, double part);

/* The contrast ratio of WCAG 2.1 between two colours, 1 to 21. */
double theme_contrast(Colour a, Colour b);

#endif
