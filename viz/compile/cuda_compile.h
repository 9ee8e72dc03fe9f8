/* A stranger's .cu to PTX, by clang alone: no CUDA toolkit. kernels/cuda has the header that takes NVIDIA's place.
 *
 * The text is compiled from a copy in a folder of its own, beside empty files for headers that are not here (each with
 * a note); lines keep their numbers. It may read below the folders that it searches, which are its own, the source's
 * and those of -I, links followed; all else is refused. That is judged before (-M; of a hand-in until no header is
 * missing any more) and after each compile, by its own list (-MD). A hand-in's clang cannot open other files either,
 * where Linux has Landlock. What does not compile is left out, declaration by declaration (source_cut.h): the host's
 * before the device's, kernels last, the one that is asked for never; six compiles at most, with the preprocessor's
 * seven runs. A header that lies in a folder around the source's is named with its -I. clang runs without a shell, for
 * at most 30 s of CPU and 60 s in all, in 4 GiB; the folder is removed. */
#ifndef TILEWALK_VIZ_COMPILE_CUDA_COMPILE_H
#define TILEWALK_VIZ_COMPILE_CUDA_COMPILE_H

#include "viz/kernel/cuda_source.h"

enum { CLANG_NAME_BYTES = 300 };

/* The newest clang on PATH, 14 or later: "clang", else "clang-N". False: none. */
bool clang_find(char found[CLANG_NAME_BYTES]);

CudaCompile cuda_compile;

#endif
