/* Which attention kernel a library chooses, and why not another: its rules as data (assets/backends).
 *
 *     library  PyTorch scaled_dot_product_attention
 *     version  commit 001f694a (2026)
 *     source   pytorch/pytorch, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp
 *
 *     order    cudnn flash math        when cudnn > 91500 and sm in 90 100 : check_prefer_cudnn_attention
 *     order    flash cudnn math                                            : the first order whose condition holds
 *
 *     kernel   flash  runs fa2-sm90    : FlashAttention-2; a kernel of assets/kernels, or a program
 *     needs    d <= 256                : why not, where it does not hold
 *     needs    d_v == d  when dtype == fp16 or sm >= 80 : ...
 *     becomes  kv_heads = heads  when mask == tensor    : the call that the library makes of what was asked
 *     assume   cudnn = 91600           : a fact that nobody gave
 *     uses     pytorch-sdpa            : whose rules go on from there
 *
 * One statement a line, '#' begins a comment. A condition is FACT OP VALUE, joined by `and` and `or` (`and` binds
 * tighter); OP is == != <= >= < >, `in` with several values, or `multiple-of`; VALUE is a number, a word or another
 * fact. Rules are tried as the library does: the first kernel of the order that needs nothing else runs. Files may come
 * from anywhere: at most BACKEND_FILE_BYTES, errors with their line, no memory beyond the struct. */
#ifndef TILEWALK_VIZ_REQUEST_BACKEND_RULES_H
#define TILEWALK_VIZ_REQUEST_BACKEND_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"

enum {
  BACKEND_FILE_BYTES = 1 << 16,
  BACKEND_WORD_BYTES = 24,
  BACKEND_KERNELS = 12,
  BACKEND_RULES = 96, /* of all statements with a condition */
  BACKEND_ORDERS = 8,
};

/* What a question says. Numbers first, then words. */
typedef enum {
  CALL_SM = 0, /* compute capability: 90, 121 */
  CALL_D,
  CALL_D_V,
  CALL_N_Q,
  CALL_N_K,
  CALL_HEADS,
  CALL_KV_HEADS,
  CALL_BATCH,
  CALL_WINDOW,  /* 0: none */
  CALL_DROPOUT, /* probability */
  CALL_CUDNN,   /* 91501 is 9.15.1 */
  CALL_NUMBERS,
  CALL_DTYPE = CALL_NUMBERS, /* fp16, bf16, fp32, fp8 */
  CALL_KV_DTYPE,
  CALL_MASK,          /* none, causal, tensor */
  CALL_TRAINING,      /* yes, no; so are those that follow */
  CALL_GQA,           /* the caller says that heads are grouped (enable_gqa) */
  CALL_DETERMINISTIC, /* asked for */
  CALL_SINKS,
  CALL_SOFTCAP,
  CALL_ALIBI,
  CALL_MLA,
  CALL_CORNER, /* of the causal mask: top-left, bottom-right */
  CALL_COUNT
} CallFact;

typedef struct {
  bool known;
  double number;
  char word[BACKEND_WORD_BYTES];
} CallValue;

typedef struct {
  CallValue value[CALL_COUNT];
} CallFacts;

void call_number(CallFacts *facts, CallFact fact, double number);
void call_word(CallFacts *facts, CallFact fact, const char *word);

typedef enum { RULE_NEEDS = 0, RULE_BECOMES, RULE_ASSUME } RuleKind;

/* Texts and conditions lie in the file's text; a condition that is NULL holds always. */
typedef struct {
  RuleKind kind;
  int kernel;       /* of needs */
  CallFact to;      /* of becomes, assume */
  const char *says; /* what is needed, or the value */
  const char *when, *why;
  bool changed; /* by backend_apply: it did something */
} Rule;

typedef struct {
  char name[BACKEND_WORD_BYTES], runs[BACKEND_WORD_BYTES];
  const char *title;
} BackendKernel;

typedef struct {
  int kernels[BACKEND_KERNELS], n;
  const char *when, *why;
} Order;

typedef struct Backend {
  const char *library, *version, *source;
  char uses[BACKEND_WORD_BYTES]; /* "": none */
  BackendKernel kernels[BACKEND_KERNELS];
  int n_kernels;
  Rule rules[BACKEND_RULES];
  int n_rules;
  Order orders[BACKEND_ORDERS];
  int n_orders;
  char text[BACKEND_FILE_BYTES + 1]; /* a zero byte ends each line */
} Backend;

/* *backend, which stays where it is, is of no meaning after an error, which reads "FILE:LINE: what, why, what would be
 * right". */
Status backend_parse(const char *text, size_t length, const char *display_name, Backend *backend, Error *error);

/* Applies assume and becomes, in the order of the file. */
void backend_apply(Backend *backend, CallFacts *facts);

/* The order that is taken; NULL: none holds. */
const Order *backend_order(const Backend *backend, const CallFacts *facts);

/* The rule that keeps a kernel from running, from `from` on; -1: none. */
int backend_refusal(const Backend *backend, int kernel, const CallFacts *facts, int from);

#endif
