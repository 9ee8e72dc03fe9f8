/* A viewer without a window, for tests; include it after cmocka.h in one file of a test program. */
#ifndef TILEWALK_TESTS_SUPPORT_PLAYER_OPEN_H
#define TILEWALK_TESTS_SUPPORT_PLAYER_OPEN_H

#include <stdlib.h>

#include "viz/player/player.h"

/* 8 x 8 tiles, causal, fa2. */
static inline Player *open_player(void) {
  Player *p = malloc(sizeof *p);
  Error error = {0};
  const Request request = {0};
  assert_non_null(p);
  if (player_open(p, &request, &error)) fail_msg("%s", error.message);
  return p;
}

static inline void close_player(Player *p) {
  player_free(p);
  free(p);
}

#endif
