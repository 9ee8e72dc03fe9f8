/* CUDA in lessons is compiled as `tilewalk kernel` does. In a browser there is no compiler: viz/web/web_lesson.c. */
#include "viz/compile/cuda_compile.h"
#include "viz/lesson/kernel_judge.h"

CudaCompile *const LESSON_COMPILER = cuda_compile;
