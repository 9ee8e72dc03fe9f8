#include "viz/scene/scene_cache.h"

#include <stdlib.h>

/* What a request is told apart by: everything in a snapshot that does not depend on the step. Filled over zeros, so
 * that bytes can be compared. */
typedef struct {
  Problem problem;
  Shape launched;
  Gpu gpu;
  const Schedule *schedule, *schedules[SNAPSHOT_RUNS_MAX];
  int n_runs;
  Tiling tilings[SNAPSHOT_RUNS_MAX];
} MemoKey;

struct SceneMemo {
  bool has_key, has_piles;
  MemoKey key, sought;
  Piles piles;
  int only; /* of which run these are */
};

SceneMemo *memo_new(void) { return calloc(1, sizeof(SceneMemo)); }

static void forget(SceneMemo *memo) {
  if (memo->has_piles) piles_free(&memo->piles);
  memo->has_piles = false;
}

void memo_free(SceneMemo *memo) {
  if (memo) forget(memo);
  free(memo);
}

static void fill_key(MemoKey *key, const Snapshot *now) {
  memset(key, 0, sizeof *key);
  memcpy(&key->problem, &now->problem, sizeof key->problem);
  memcpy(&key->launched, &now->launched, sizeof key->launched);
  memcpy(&key->gpu, &now->gpu, sizeof key->gpu);
  key->schedule = now->schedule;
  key->n_runs = now->n_runs;
  for (int k = 0; k < now->n_runs; k++) {
    key->schedules[k] = now->runs[k].schedule;
    memcpy(&key->tilings[k], &now->runs[k].tiling, sizeof key->tilings[k]);
  }
}

/* Forgets all that was made for another request. */
static void turn_to(SceneMemo *memo, const Snapshot *now) {
  fill_key(&memo->sought, now);
  if (memo->has_key && memcmp(&memo->key, &memo->sought, sizeof memo->key) == 0) return;
  forget(memo);
  memcpy(&memo->key, &memo->sought, sizeof memo->key);
  memo->has_key = true;
}

const Piles *memo_piles(SceneMemo *memo, const Snapshot *now, int only, Piles *room) {
  if (!memo) {
    piles_make(room, now, only);
    return room;
  }
  turn_to(memo, now);
  if (memo->has_piles && (memo->only == PILES_ALL || memo->only == only)) return &memo->piles;
  if (memo->has_piles) piles_free(&memo->piles);
  piles_make(&memo->piles, now, only);
  memo->has_piles = true;
  memo->only = only;
  return &memo->piles;
}
