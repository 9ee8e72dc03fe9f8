/* Fuzz target for the window's settings: any bytes are read, every value within its range, or refused with one line.
 * What was read is the same when it is written and read again. */
#include "tests/fuzz/fuzz.h"

#ifdef TILEWALK_WINDOW
#include "viz/window/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Settings s, again;
  Error error = {0};
  char text[SETTINGS_TEXT_BYTES];
  if (settings_parse((const char *)data, size, "f", &s, &error)) {
    require(strncmp(error.message, "f:", 2) == 0 && !strchr(error.message, '\n'));
    require(settings_equal(&s, &(Settings){0}));
    return 0;
  }
  require(s.events_per_s >= 0 && s.events_per_s <= 1e6);
  require(s.width == 0 || (s.width >= SETTINGS_LEAST_WIDTH && s.width <= SETTINGS_MOST_SIDE &&
                           s.height >= SETTINGS_LEAST_HEIGHT && s.height <= SETTINGS_MOST_SIDE));
  settings_text(&s, text);
  require(strlen(text) < SETTINGS_TEXT_BYTES - 1);
  require(!settings_parse(text, strlen(text), "f", &again, &error));
  if (s.events_per_s == 0) s.events_per_s = again.events_per_s; /* the default is spelled out */
  require(settings_equal(&s, &again));
  return 0;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  (void)data;
  (void)size;
  return 0; /* a build without SDL2 has no settings */
}
#endif
