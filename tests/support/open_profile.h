/* Reads the description of a kernel in assets/kernels, for tests; fails the test where it cannot be read. Include it
 * after cmocka.h. */
#ifndef TILEWALK_TESTS_SUPPORT_OPEN_PROFILE_H
#define TILEWALK_TESTS_SUPPORT_OPEN_PROFILE_H

#include "sim/l2/kernel_profile.h"
#include "tests/support/open_asset.h"

static inline Profile open_profile(const char *kernel) {
  static char text[KEYFILE_MAX_BYTES];
  char name[256];
  if ((size_t)snprintf(name, sizeof name, "kernels/%s", kernel) >= sizeof name) fail_msg("%s: a long name", kernel);
  FILE *file = open_asset(name);
  const size_t length = fread(text, 1, sizeof text, file);
  fclose(file);
  Profile profile;
  Error error = {0};
  if (profile_parse(text, length, kernel, &profile, &error)) fail_msg("%s", error.message);
  return profile;
}

#endif
