/* Inks of series, whose colours a theme has. */
#ifndef TILEWALK_VIZ_CHART_INK_H
#define TILEWALK_VIZ_CHART_INK_H

/* The colour of a series. Dash and marker go with it, so that colour is never the only cue and an
 * algorithm that has the same ink everywhere looks the same everywhere. Two series of one ink in a
 * chart still get different ones. */
typedef enum { INK_NEUTRAL = 0, INK_BLUE, INK_ORANGE, INK_GREEN, INK_PURPLE, INK_BROWN, N_INKS } Ink;

#endif
