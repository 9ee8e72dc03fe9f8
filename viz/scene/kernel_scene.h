/* A kernel at work: its source beside what each line has moved so far, and one request of the chosen line.
 *
 *     +--------------------------------+------------------------------+
 *     | 35  for (...)                  |  line 36: lanes and sectors, |
 *     | 36    Kj[...] = K[...]  ### ## |  or lanes to their banks     |
 *     | 37    ...                      |                              |
 *     +--------------------------------+------------------------------+
 *
 * Plain data; viz/kernel/kernel_film.h runs the kernel and fills it, viz/scene/kernel_scene_draw.h draws it. */
#ifndef TILEWALK_VIZ_SCENE_KERNEL_SCENE_H
#define TILEWALK_VIZ_SCENE_KERNEL_SCENE_H

#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_SCENE_TEXT = 160 };

/* Up to the step that is shown. Bars grow to the largest of all lines at the end. */
typedef struct {
  int32_t number;
  char text[KERNEL_SCENE_TEXT];
  uint64_t sectors, wavefronts, conflicts;
} KernelSceneLine;

/* A warp's request, the dearest of its line so far. */
typedef struct {
  bool is_there, shared, store;
  int32_t bytes, warp, lanes_at_once; /* so many lanes go over the banks together */
  int64_t block;
  uint32_t mask, sectors, wavefronts, conflicts;
  uint32_t plain_wavefronts; /* without the swizzle that is tried */
  uint64_t address[32];
} KernelSceneRequest;

typedef struct {
  char title[200], where[200]; /* "block 3 of 256, after barrier 2 of 9" */
  const KernelSceneLine *lines;
  int n_lines, chosen;                   /* an index; -1: none */
  uint64_t most_sectors, most_conflicts; /* of any line at the end */
  uint64_t swizzle_row_bytes;            /* a swizzle of shared memory that is tried, by rows of so many; 0: none */
  uint64_t plain_conflicts;              /* of all lines, without it */
  KernelSceneRequest request;
  int64_t step, n_steps;
} KernelScene;

#endif
