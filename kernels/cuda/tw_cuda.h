/* CUDA for clang without CUDA: given to it by -include, ahead of a stranger's .cu. */
#pragma once

#include "cuda_language.h"
#include "cuda_arithmetic.h"
#include "cuda_warp.h"
#include "cuda_half.h"
#include "cuda_wmma.h"
#include "cuda_groups.h"
#include "cuda_host.h"
