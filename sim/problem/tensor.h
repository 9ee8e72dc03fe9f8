/* What attention takes a tensor as, and how many tensors a program has. */
#ifndef TILEWALK_SIM_PROBLEM_TENSOR_H
#define TILEWALK_SIM_PROBLEM_TENSOR_H

typedef enum { OPERAND_NONE = 0, OPERAND_Q, OPERAND_K, OPERAND_V, OPERAND_OUT } Operand;

/* Tensors of one program that cross HBM, and with them the values that stay on chip. */
enum { TENSORS_MAX = 24, VALUES_MAX = 48 };

#endif
