/* Opens a file of assets/, for tests and benches; says so and ends the program where there is none. */
#ifndef TILEWALK_TESTS_SUPPORT_OPEN_ASSET_H
#define TILEWALK_TESTS_SUPPORT_OPEN_ASSET_H

#include <stdio.h>
#include <stdlib.h>

static inline FILE *open_asset(const char *name) {
  char path[4096];
  const char *assets = getenv("TILEWALK_ASSETS");
  snprintf(path, sizeof path, "%s/%s", assets ? assets : "assets", name);
  FILE *file = fopen(path, "r");
  if (file) return file;
  fprintf(stderr, "cannot open %s\n", path);
  exit(1);
}

#endif
