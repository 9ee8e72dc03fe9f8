/* Opens a file or a folder of assets/, for tests and benches; says so and ends the program where there is none. */
#ifndef TILEWALK_TESTS_SUPPORT_OPEN_ASSET_H
#define TILEWALK_TESTS_SUPPORT_OPEN_ASSET_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void *opened_asset(const char *name, bool is_folder) {
  char path[4096];
  const char *assets = getenv("TILEWALK_ASSETS");
  snprintf(path, sizeof path, "%s/%s", assets ? assets : "assets", name);
  void *it = is_folder ? (void *)opendir(path) : (void *)fopen(path, "r");
  if (it) return it;
  fprintf(stderr, "cannot open %s\n", path);
  exit(1);
}

static inline FILE *open_asset(const char *name) { return opened_asset(name, false); }
static inline DIR *open_folder(const char *name) { return opened_asset(name, true); }

#endif
