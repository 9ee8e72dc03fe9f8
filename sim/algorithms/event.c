#include "sim/algorithms/event.h"

const char *event_kind_name(EventKind kind) {
  static const char *const NAMES[EVENT_KIND_COUNT] = {"load",       "product", "mask",      "new max", "rescale",
                                                      "accumulate", "skip",    "normalise", "store",   "add"};
  return NAMES[kind];
}

const char *tile_kind_name(TileKind kind) {
  static const char *const NAMES[TILE_KIND_COUNT] = {"full", "partial", "skipped"};
  return NAMES[kind];
}
