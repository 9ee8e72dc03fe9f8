/* A kernel at work in the viewer's window: the scene of viz/scene/kernel_scene.h covers it.
 *
 *     left, right     a step          page up, down   a block       home, end     the first step, the last
 *     up, down        the next line that moves something            a click       that line
 *     space           plays           t               light, dark   q, escape     ends
 *     the foot is the way through the run
 *     s               tries a swizzle of shared memory: by rows of 128, 256, 512, 1024 bytes, none
 *     ctrl+c          prints where it is
 */
#ifndef TILEWALK_VIZ_WINDOW_KERNEL_WINDOW_H
#define TILEWALK_VIZ_WINDOW_KERNEL_WINDOW_H

#include <stdio.h>

#include "sim/base/error.h"
#include "viz/scene/kernel_scene.h"

/* The scene at a step (-1: the last) with a line of the source chosen (0: the dearest) and a swizzle (0: none). NULL:
 * *error says why. */
typedef const KernelScene *KernelShow(void *context, int64_t step, int32_t line, int64_t swizzle, Error *error);

typedef struct KernelWindowOptions {
  KernelShow *show;
  void *context;
  int width, height; /* 0: 1280 x 720 */
  bool dark;
  int64_t step; /* -1: the last */
  int32_t line; /* 0: the dearest */
  int64_t swizzle;
  int64_t n_blocks;
  FILE *out; /* told where it is ("--step 12 --line 60") by ctrl+c, and when it is closed */
} KernelWindowOptions;

/* Runs until it is closed. STATUS_BAD_REQUEST: no display. */
Status kernel_window_run(const KernelWindowOptions *options, Error *error);

#endif
