#include "lessons/engine/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "sim/base/text_add.h"

static const char *const BYTES[2][7] = {{"B", "kB", "MB", "GB", "TB", "PB", "EB"},
                                        {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}};

const char *quantity_sister(const char *unit) {
  for (int k = 1; k < 7; k++)
    for (int binary = 0; binary < 2; binary++)
      if (ascii_same(unit, BYTES[binary][k])) return BYTES[!binary][k];
  return NULL;
}

bool quantity_is_whole(double value) {
  return isfinite(value) && fabs(value) < 9e15 && fabs(value - round(value)) <= 1e-9 * fmax(1, fabs(value));
}

/* Digits with a comma before every three: "-1,048,576". */
static void grouped(double whole, char *text, size_t size) {
  char digits[32];
  snprintf(digits, sizeof digits, "%.0f", fabs(whole));
  const size_t n = strlen(digits);
  snprintf(text, size, "%s", whole < 0 ? "-" : "");
  for (size_t k = 0; k < n; k++) text_add(text, size, k && (n - k) % 3 == 0 ? ",%c" : "%c", digits[k]);
}

void quantity_number(double value, char *text, size_t size) {
  if (!isfinite(value))
    snprintf(text, size, "%s", isnan(value) ? "not a number" : value > 0 ? "infinity" : "-infinity");
  else if (quantity_is_whole(value) || (fabs(value) >= 1e4 && fabs(value) < 9e15))
    grouped(round(value), text, size);
  else
    snprintf(text, size, "%.4g", value);
}

void quantity_fixed(double value, int decimals, char *text, size_t size) {
  if (!isfinite(value))
    quantity_number(value, text, size);
  else if (fabs(value) >= 1e15)
    snprintf(text, size, "%.*e", decimals, value);
  else
    snprintf(text, size, "%.*f", decimals, value);
}

void quantity_bytes(double bytes, bool binary, char *text, size_t size) {
  const double step = binary ? 1024 : 1000;
  int u = 0;
  double scaled = bytes;
  while (u < 6 && fabs(scaled) >= step * (u ? 0.99995 : 1)) scaled /= step, u++;
  char number[64];
  const double magnitude = fabs(scaled);
  const int decimals = magnitude >= 999.95 ? 0 : magnitude >= 99.995 ? 1 : magnitude >= 9.9995 ? 2 : 3;
  if (u == 0 || quantity_is_whole(scaled))
    quantity_number(scaled, number, sizeof number);
  else
    quantity_fixed(scaled, decimals, number, sizeof number);
  snprintf(text, size, "%s %s", number, BYTES[binary][u]);
}
