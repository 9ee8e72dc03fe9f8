/* In a page nothing compiles CUDA: kernels are given as PTX. */
#include "viz/lesson/kernel_judge.h"

CudaCompile *const LESSON_COMPILER = NULL;
