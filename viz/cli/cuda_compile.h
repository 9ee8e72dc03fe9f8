/* A stranger's .cu to PTX, by clang alone: no CUDA toolkit. kernels/cuda has the header that takes NVIDIA's place.
 *
 * The text is compiled from a copy in a folder of its own, beside empty files for headers that are not here (each with
 * a note); lines keep their numbers. First as it is; when that fails, with the host's half cut away (source_cut.h).
 * clang runs without a shell, for at most 30 s of CPU and 60 s in all, in 4 GiB; the folder is removed. */
#ifndef TILEWALK_VIZ_CLI_CUDA_COMPILE_H
#define TILEWALK_VIZ_CLI_CUDA_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"

enum { CUDA_NOTES_MAX = 32, CUDA_NOTE_BYTES = 160, CUDA_WORDS_MAX = 32, CLANG_NAME_BYTES = 300 };
#define CUDA_SOURCE_MAX ((size_t)4 << 20)
#define CUDA_PTX_MAX    ((size_t)64 << 20)

typedef struct {
  const char *path;          /* of the .cu; messages and `#include "..."` go by it */
  const char *text;          /* what it holds */
  size_t length;             /* at most CUDA_SOURCE_MAX */
  const char *template_name; /* "sgemm<64, 64>": a kernel to instantiate; NULL: none */
  const char *const *words;  /* further arguments for clang: -I, -D */
  int n_words;
} CudaSource;

typedef struct {
  char *ptx; /* for the caller to free */
  size_t length;
  char entry[256]; /* the mangled name of template_name; "" without one */
  bool is_cut;     /* the host's half was left out */
  int n_notes;
  char notes[CUDA_NOTES_MAX][CUDA_NOTE_BYTES]; /* what was left out, for people */
} CudaResult;

/* The newest clang on PATH, 14 or later: "clang", else "clang-N". False: none. */
bool clang_find(char found[CLANG_NAME_BYTES]);

/* STATUS_BAD_REQUEST: no clang; STATUS_BAD_FILE: "FILE:LINE: what clang says". *result is freed by the caller in either
 * case: cuda_result_free. */
Status cuda_compile(const CudaSource *source, CudaResult *result, Error *error);
void cuda_result_free(CudaResult *result);

#endif
