/* tilewalk kernel --like fa2: arguments by name, and O against attention in fp64. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "viz/kernel/kernel_launch.h"

typedef enum {
  NAME_Q,
  NAME_K,
  NAME_V,
  NAME_O,
  NAME_ROW_ZERO,
  NAME_ROW_MAX,
  NAME_N,
  NAME_D,
  NAME_BATCH,
  NAME_HEADS,
  NAME_SCALE
} Name;

/* Spellings met in public kernels; capitals and small letters are the same, but for N and n_heads see below. */
typedef struct {
  const char *word;
  Name name;
} Spelling;

static const Spelling NAMES[] = {
    {"q", NAME_Q},
    {"query", NAME_Q},
    {"q_ptr", NAME_Q},
    {"d_q", NAME_Q},
    {"k", NAME_K},
    {"key", NAME_K},
    {"k_ptr", NAME_K},
    {"d_k", NAME_K},
    {"v", NAME_V},
    {"value", NAME_V},
    {"v_ptr", NAME_V},
    {"d_v", NAME_V},
    {"o", NAME_O},
    {"out", NAME_O},
    {"output", NAME_O},
    {"o_ptr", NAME_O},
    {"d_o", NAME_O},
    {"l", NAME_ROW_ZERO},
    {"lse", NAME_ROW_ZERO},
    {"m", NAME_ROW_MAX},
    {"n", NAME_N},
    {"seq_len", NAME_N},
    {"seqlen", NAME_N},
    {"seq", NAME_N},
    {"t", NAME_N},
    {"sequence_length", NAME_N},
    {"n_q", NAME_N},
    {"n_k", NAME_N},
    {"d", NAME_D},
    {"head_dim", NAME_D},
    {"dim", NAME_D},
    {"d_head", NAME_D},
    {"hd", NAME_D},
    {"b", NAME_BATCH},
    {"batch", NAME_BATCH},
    {"batch_size", NAME_BATCH},
    {"nh", NAME_HEADS},
    {"h", NAME_HEADS},
    {"heads", NAME_HEADS},
    {"num_heads", NAME_HEADS},
    {"n_heads", NAME_HEADS},
    {"scale", NAME_SCALE},
    {"softmax_scale", NAME_SCALE},
    {"sm_scale", NAME_SCALE},
};

/* The row of a word, or NULL. */
static const Spelling *spelling_of(const char *word) {
  for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
    if (ascii_same(NAMES[k].word, word)) return &NAMES[k];
  return NULL;
}

static int64_t rows(const KernelRequest *r) { return r->batch * r->heads * r->N; }

bool kernel_like_spec(const KernelRequest *r, const char *word, const char *type, char text[KERNEL_ARGUMENT_BYTES]) {
  const char *element = strstr(type, "bfloat16") ? "bf16" : strstr(type, "half") ? "f16" : "f32";
  const char *whole = strstr(type, "long") || strstr(type, "size_t") || strstr(type, "int64") ? "i64" : "i32";
  const Spelling *spelling = spelling_of(word);
  if (!spelling) return false;
  const int64_t elements = rows(r) * r->d;
  switch (spelling->name) {
  case NAME_Q:
  case NAME_K:
  case NAME_V:
    snprintf(text, KERNEL_ARGUMENT_BYTES, "%s[%" PRId64 "]:normal:%d", element, elements, 1 + (int)spelling->name);
    break;
  case NAME_O: snprintf(text, KERNEL_ARGUMENT_BYTES, "%s[%" PRId64 "]:zero", element, elements); break;
  case NAME_ROW_ZERO: snprintf(text, KERNEL_ARGUMENT_BYTES, "f32[%" PRId64 "]:zero", rows(r)); break;
  case NAME_ROW_MAX: snprintf(text, KERNEL_ARGUMENT_BYTES, "f32[%" PRId64 "]:-inf", rows(r)); break;
  case NAME_N: snprintf(text, KERNEL_ARGUMENT_BYTES, "%s:%" PRId64, whole, r->N); break;
  case NAME_D: snprintf(text, KERNEL_ARGUMENT_BYTES, "%s:%" PRId64, whole, r->d); break;
  case NAME_BATCH: snprintf(text, KERNEL_ARGUMENT_BYTES, "%s:%" PRId64, whole, r->batch); break;
  case NAME_HEADS: snprintf(text, KERNEL_ARGUMENT_BYTES, "%s:%" PRId64, whole, r->heads); break;
  case NAME_SCALE:
    snprintf(text, KERNEL_ARGUMENT_BYTES, "f32:%.9g", r->scale > 0 ? r->scale : 1 / sqrt((double)r->d));
    break;
  }
  return true;
}

static int find_name(const KernelLaunch *l, Name name) {
  for (int a = 0; a < l->n; a++) {
    const Spelling *spelling = l->specs[a].is_buffer ? spelling_of(l->argument_names[a]) : NULL;
    if (spelling && spelling->name == name) return a;
  }
  return -1;
}

int kernel_like_output(const KernelLaunch *l) { return find_name(l, NAME_O); }

/* One row of attention in fp64: scores, softmax, the weighted sum of V. */
static void row(const KernelRequest *r, const double *q, const double *K, const double *V, int64_t i, double scale,
                double *p, double *o) {
  const int64_t seen = r->causal ? i + 1 : r->N;
  double m = -INFINITY, l = 0;
  for (int64_t j = 0; j < seen; j++) {
    p[j] = 0;
    for (int64_t c = 0; c < r->d; c++) p[j] += q[c] * K[j * r->d + c];
    p[j] *= scale;
    if (p[j] > m) m = p[j];
  }
  for (int64_t j = 0; j < seen; j++) l += p[j] = exp(p[j] - m);
  for (int64_t c = 0; c < r->d; c++) {
    o[c] = 0;
    for (int64_t j = 0; j < seen; j++) o[c] += p[j] * V[j * r->d + c];
    o[c] /= l;
  }
}

Status kernel_output_judge(const KernelLaunch *l, OutputVerdict *verdict, Error *error) {
  const KernelRequest *r = l->request;
  const int q = find_name(l, NAME_Q), k = find_name(l, NAME_K), v = find_name(l, NAME_V), o = l->out;
  const int64_t n = rows(r) * r->d, head = r->N * r->d;
  if (q < 0 || k < 0 || v < 0 || o < 0)
    return error_refuse(
        error, "--like fa2 judges O of Q, K and V, and one of them is not among the arguments; name them: --arg "
               "Q --arg K --arg V --arg O");
  const int of[] = {q, k, v, o};
  for (int a = 0; a < 4; a++)
    if (l->specs[of[a]].n < n)
      return error_refuse(error,
                          "'%s' has %" PRId64 " elements, and --like fa2 at N %" PRId64 ", d %" PRId64 ", %" PRId64
                          " heads in all needs %" PRId64,
                          l->argument_names[of[a]], l->specs[of[a]].n, r->N, r->d, r->batch * r->heads, n);
  double *x = malloc((size_t)(4 * n + r->N) * sizeof *x);
  if (!x) return error_no_memory(error, "for O in fp64");
  double *Q = x, *K = x + n, *V = K + n, *O = V + n, *p = O + n, largest = 0;
  for (int64_t e = 0; e < n; e++) {
    Q[e] = spec_element(l->specs[q].type, l->arguments[q].bytes, e);
    K[e] = spec_element(l->specs[k].type, l->arguments[k].bytes, e);
    V[e] = spec_element(l->specs[v].type, l->arguments[v].bytes, e);
  }
  const double scale = r->scale > 0 ? r->scale : 1 / sqrt((double)r->d);
  for (int64_t h = 0; h < r->batch * r->heads; h++)
    for (int64_t i = 0; i < r->N; i++)
      row(r, Q + h * head + i * r->d, K + h * head, V + h * head, i, scale, p, O + h * head + i * r->d);
  for (int64_t e = 0; e < n; e++) largest = fmax(largest, fabs(O[e]));
  *verdict = (OutputVerdict){.n = n,
                             .wrong = -1,
                             .tolerance = r->tolerance > 0               ? r->tolerance
                                          : l->specs[o].type == SPEC_F32 ? 1e-4
                                                                         : 2e-2};
  for (int64_t e = 0; e < n; e++) {
    const double is = spec_element(l->specs[o].type, l->arguments[o].bytes, e), off = fabs(is - O[e]) / largest;
    if (!(off <= verdict->largest_error)) verdict->largest_error = off;
    if (off <= verdict->tolerance) continue;
    if (verdict->wrong < 0) verdict->wrong = e, verdict->is = is, verdict->should = O[e];
    verdict->n_wrong++;
  }
  free(x);
  return STATUS_OK;
}
