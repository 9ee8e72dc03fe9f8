#include "sim/problem/tensor.h"

const char *tensor_name(Tensor tensor) {
  static const char *const NAMES[TENSOR_COUNT] = {"Q", "K", "V", "S", "P", "O", "stats"};
  return NAMES[tensor];
}
