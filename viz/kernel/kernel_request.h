/* What is asked of a kernel: by options, else by comments of its file.
 *
 *     // tilewalk: entry forward_kernel
 *     // tilewalk: grid 2,4
 *     // tilewalk: arg f32[65536]:normal:1
 *
 * The words are those of the options. Lines before the first `entry` hold for every kernel of the file; what follows
 * one is its own. An option given on the command line is taken instead of the file's; one --arg replaces all of its.
 * What a comment names is a GPU that comes with Tilewalk, or a file below the kernel's folder: a path is for the
 * command line alone. */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_REQUEST_H
#define TILEWALK_VIZ_KERNEL_KERNEL_REQUEST_H

#include "viz/kernel/cuda_source.h"
#include "sim/question/option.h"

enum {
  KERNEL_GPU_BYTES = 256,
  KERNEL_ARGUMENTS_MAX = 64,
  KERNEL_ARGUMENT_BYTES = 320,
  KERNEL_ENTRY_BYTES = 256,
  KERNEL_WORDS_MAX = 32
};

typedef struct {
  CudaCompile *compile; /* of a .cu; NULL: there is no compiler here */
  int64_t step;         /* + 1; 0: the last */
  int64_t line;         /* 0: the dearest */
  int64_t swizzle;      /* of the picture: rows of so many bytes; 0: none */
  char file[4096];
  char entry[KERNEL_ENTRY_BYTES];
  int32_t grid[3], block[3];
  char ncu[4096];             /* "": not beside counters */
  char gpu[KERNEL_GPU_BYTES]; /* "": h100-sxm */
  bool has_shared, faults, no_faults, ptx, no_caches, view;
  int64_t limit;                          /* instructions of lanes; 0: the default */
  int64_t shared_bytes, registers, lines; /* lines: of the table; 0: the default */
  int n_arguments;
  bool own_arguments;                                          /* they are from the file's comments */
  char arguments[KERNEL_ARGUMENTS_MAX][KERNEL_ARGUMENT_BYTES]; /* SPEC or NAME=SPEC */
  char out[64];                                                /* the argument that is the output, by name or number */
  char like[16];                                               /* an algorithm of attention; "": none */
  int64_t N, d, batch, heads;
  bool causal;
  double scale, tolerance; /* 0: the default */
  int n_words;
  char words[KERNEL_WORDS_MAX][300]; /* -I and -D for clang */
} KernelRequest;

extern const Option KERNEL_LAUNCH_OPTIONS[], KERNEL_LIKE_OPTIONS[], KERNEL_SHOW_OPTIONS[], KERNEL_CLANG_OPTIONS[];

/* Fills in from the comments of a file what the command line left open. Errors begin "FILE:LINE:". */
Status kernel_request_from_file(KernelRequest *request, const char *text, size_t length, Error *error);

#endif
