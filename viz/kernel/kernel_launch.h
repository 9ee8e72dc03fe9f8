/* From what was asked to a launch: the kernel, its buffers filled, and for --like fa2 what O should be. */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_LAUNCH_H
#define TILEWALK_VIZ_KERNEL_KERNEL_LAUNCH_H

#include "kernels/ptx/ptx_argument.h"
#include "viz/kernel/kernel_request.h"
#include "viz/kernel/kernel_signature.h"

typedef struct {
  const KernelRequest *request;
  char *source; /* the .cu; of a .ptx the .cu of the name in its .file that lies beside it, or NULL */
  size_t source_length;
  char *ptx;
  size_t ptx_length;
  bool by_clang;
  int n_notes;
  char notes[32][160];
  PtxModule *module;
  PtxKernel *kernel;
  int entry;
  char name[256];      /* without mangling */
  Signature signature; /* n = 0: not known */
  int n;
  Spec specs[KERNEL_ARGUMENTS_MAX];
  PtxArgument arguments[KERNEL_ARGUMENTS_MAX];
  char *files[KERNEL_ARGUMENTS_MAX];             /* what those of SPEC_FILE hold */
  char argument_names[KERNEL_ARGUMENTS_MAX][96]; /* for messages: "V", "argument 5" */
  uint64_t before[KERNEL_ARGUMENTS_MAX];         /* a hash of each buffer before the run */
  PtxLaunch launch;
  Gpu gpu;
  int out; /* the output's argument; -1: not known before the run, or none */
} KernelLaunch;

/* Reads and compiles the file, finds the entry, makes the arguments. Free it in either case. */
Status kernel_launch_prepare(KernelLaunch *launch, KernelRequest *request, Error *error);
void kernel_launch_free(KernelLaunch *launch);

/* A part of it: places the request's texts by parameters, and makes their buffers. */
Status kernel_launch_arguments(KernelLaunch *launch, Error *error);

/* Fills the buffers as they were before the run. */
Status kernel_launch_refill(KernelLaunch *launch, Error *error);

/* After the run: the output is the one that was named, else the largest buffer that changed, the last of such. */
void kernel_output_find(KernelLaunch *launch);

/* Sums of the output: of all elements, of element i times cos(0.37 i), the largest magnitude. */
typedef struct {
  double sum, weighted_sum, max;
} OutputSums;
OutputSums kernel_output_sums(const KernelLaunch *launch);

/* --like fa2: O against attention in fp64. `wrong` is the first element beyond the tolerance, -1: none. */
typedef struct {
  int64_t n, n_wrong, wrong;
  double is, should, largest_error, tolerance; /* relative to the largest |O| */
  const char *equation;                        /* the one that makes the first wrong row what it is; NULL: none known */
} OutputVerdict;
Status kernel_output_judge(const KernelLaunch *launch, OutputVerdict *verdict, Error *error);

int kernel_like_output(const KernelLaunch *launch); /* the argument named O; -1: none */

/* What a name of attention's arguments stands for: "Q", "seq_len", "scale"; false: the word is none of them. */
bool kernel_like_spec(const KernelRequest *request, const char *word, const char *type,
                      char text[KERNEL_ARGUMENT_BYTES]);

#endif
