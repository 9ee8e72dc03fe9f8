/* A launch up to a step, for the scene of kernels. A step is what a block does between two barriers;
 * blocks are shown one after another. */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_FILM_H
#define TILEWALK_VIZ_KERNEL_KERNEL_FILM_H

#include "viz/kernel/kernel_launch.h"
#include "viz/scene/kernel_scene.h"

typedef struct {
  KernelLaunch *launch;
  KernelScene scene;
  KernelSceneLine *lines; /* of the source; of PTX without one, of the PTX */
  int n_lines;
  bool of_ptx;
} KernelFilm;

/* Free it in either case; the launch is the caller's and must outlast it. */
Status kernel_film_new(KernelFilm *film, KernelLaunch *launch, Error *error);
void kernel_film_free(KernelFilm *film);

/* Runs the launch and makes film->scene of its first `step` + 1 steps (-1: all), with the line `number` of the source
 * chosen (0: the dearest). With film->scene.swizzle_row_bytes shared memory is laid out by that swizzle: its passes and
 * conflicts, not what the kernel does. */
Status kernel_film_show(KernelFilm *film, int64_t step, int32_t number, Error *error);

#endif
