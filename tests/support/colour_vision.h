/* Colours as people see them who lack one kind of cone, for tests.
 *
 * Matrices in linear RGB for complete deficiency (severity 1.0), from Machado, Oliveira and Fernandes, "A
 * Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, table of the authors'
 * page. The first one is normal vision. */
#ifndef TILEWALK_TESTS_SUPPORT_COLOUR_VISION_H
#define TILEWALK_TESTS_SUPPORT_COLOUR_VISION_H

#include "viz/chart/theme.h"

#include <math.h>

enum { N_EYES = 4 };

static const double vision[N_EYES][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
};
static const char *const eye_names[N_EYES] = {"normal vision", "protanopia", "deuteranopia", "tritanopia"};

/* IEC 61966-2-1. */
static inline double linear_light(uint8_t byte) {
  static double known[256];
  if (byte && known[byte] == 0) {
    const double value = byte / 255.0;
    known[byte] = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
  }
  return known[byte];
}

static inline void linear_for(Colour colour, int eye, double seen[3]) {
  const double rgb[3] = {linear_light((uint8_t)(colour >> 16)), linear_light((uint8_t)(colour >> 8)),
                         linear_light((uint8_t)colour)};
  for (int i = 0; i < 3; i++) {
    seen[i] = 0;
    for (int k = 0; k < 3; k++) seen[i] += vision[eye][i][k] * rgb[k];
    seen[i] = fmin(fmax(seen[i], 0), 1);
  }
}

/* Relative luminance of WCAG 2.1. */
static inline double luminance_for(Colour colour, int eye) {
  double seen[3];
  linear_for(colour, eye, seen);
  return 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2];
}

#endif
