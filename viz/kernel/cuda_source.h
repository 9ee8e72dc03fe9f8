/* A stranger's .cu and the PTX that it becomes, by what compiles it: viz/compile/cuda_compile.h, where processes are.
 */
#ifndef TILEWALK_VIZ_KERNEL_CUDA_SOURCE_H
#define TILEWALK_VIZ_KERNEL_CUDA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"

enum { CUDA_NOTES_MAX = 32, CUDA_NOTE_BYTES = 160, CUDA_WORDS_MAX = 32 };
#define CUDA_SOURCE_MAX ((size_t)4 << 20)
#define CUDA_PTX_MAX    ((size_t)64 << 20)

typedef struct {
  const char *path;          /* of the .cu; messages and `#include "..."` go by it */
  const char *text;          /* what it holds */
  size_t length;             /* at most CUDA_SOURCE_MAX */
  const char *template_name; /* "sgemm<64, 64>": a kernel to instantiate; NULL: none */
  const char *entry;         /* the kernel that is asked for: it is never left out; NULL: any */
  const char *const *words;  /* further arguments for clang: -I, -D */
  int n_words;
  bool alone;      /* nothing beside it is read, such as for an answer or a hand-in */
  int cpu_seconds; /* clang may take so long; 0: 30 */
} CudaSource;

typedef struct {
  char *ptx; /* for the caller to free */
  size_t length;
  char entry[256]; /* the mangled name of template_name; "" without one */
  bool is_cut;     /* the host's half was left out */
  int n_notes;
  char notes[CUDA_NOTES_MAX][CUDA_NOTE_BYTES]; /* what was left out, for people */
} CudaResult;

/* STATUS_BAD_REQUEST: no clang; STATUS_BAD_FILE: "FILE:LINE: what clang says". The caller frees result->ptx in either
 * case. */
typedef Status CudaCompile(const CudaSource *source, CudaResult *result, Error *error);

#endif
