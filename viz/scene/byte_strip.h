/* Bytes over time: how much each tensor has moved after every part of a run, and the run that keeps the scores in HBM
 * behind it.
 *
 *          .-' standard: S and P
 *       .-'
 *     .-'__..--  Q, O
 *     ___...---  V
 *     ...---'''  K           each run from its start to its end
 *
 * Counted: the fold of the events up to each of STRIP_POINTS steps (sim/algorithms/walk/place.h). */
#ifndef TILEWALK_VIZ_SCENE_BYTE_STRIP_H
#define TILEWALK_VIZ_SCENE_BYTE_STRIP_H

#include "viz/scene/snapshot.h"

enum { STRIP_POINTS = 240 };

/* One run. Bands lie one on the other: by keys, by rows, by tiles. */
typedef struct {
  const Schedule *schedule;
  Plan plan;
  uint64_t n_steps;
  int n;
  uint8_t tensors[TENSORS_MAX];
  double tops[TENSORS_MAX][STRIP_POINTS + 1]; /* bytes of a band and those below it, from the run's start to its end */
} StripRun;

typedef struct {
  StripRun shown, behind;
  bool has_behind; /* the unfused program of the same task, where the shown one is another */
  double most;     /* bytes of the larger run; 0: nothing moves */
} ByteStrip;

/* Of the snapshot only what does not depend on its step. */
void byte_strip_make(ByteStrip *strip, const Snapshot *now);

/* Bytes that a run has moved when `part` of its steps are over: counted, not between points. */
Wide strip_bytes(const StripRun *run, double part);

/* How the tensor of a band lies. */
SnapshotLies strip_lies(const StripRun *run, int band);

#endif
