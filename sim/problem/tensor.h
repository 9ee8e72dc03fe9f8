/* The matrices of attention that lie in HBM. */
#ifndef TILEWALK_SIM_TENSOR_H
#define TILEWALK_SIM_TENSOR_H

typedef enum {
  TENSOR_Q = 0,
  TENSOR_K,
  TENSOR_V,
  TENSOR_S,
  TENSOR_P,
  TENSOR_O,
  TENSOR_STATS, /* row statistics m and l (or their log-sum-exp), always fp32 */
  TENSOR_COUNT
} Tensor;

/* What attention takes a tensor as. */
typedef enum { OPERAND_NONE = 0, OPERAND_Q, OPERAND_K, OPERAND_V } Operand;

/* Tensors of one program that cross HBM, and with them the values that stay on chip. */
enum { TENSORS_MAX = 24, VALUES_MAX = 48 };

const char *tensor_name(Tensor tensor); /* "Q", ..., "stats" */

#endif
