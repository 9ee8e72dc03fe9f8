/* tilewalk kernel --like fa2: arguments by name, and O against attention in fp64. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Spellings met in public kernels; capitals and small letters are the same. */
static const char *const NAMES[] = {
    [NAME_Q] = "q query q_ptr d_q",
    [NAME_K] = "k key k_ptr d_k",
    [NAME_V] = "v value v_ptr d_v",
    [NAME_O] = "o out output o_ptr d_o",
    [NAME_ROW_ZERO] = "l lse",
    [NAME_ROW_MAX] = "m",
    [NAME_N] = "n seq_len seqlen seq t sequence_length n_q n_k",
    [NAME_D] = "d head_dim dim d_head hd",
    [NAME_BATCH] = "b batch batch_size",
    [NAME_HEADS] = "nh h heads num_heads n_heads",
    [NAME_SCALE] = "scale softmax_scale sm_scale",
};

/* What a word stands for; -1: nothing. */
static int name_of(const char *word) {
  for (size_t k = 0; k < COUNT_OF(NAMES); k++)
    for (const char *at = NAMES[k]; *at; at += strspn(at, " ")) {
      const size_t n = strcspn(at, " ");
      if (strlen(word) == n && ascii_same_n(at, word, n)) return (int)k;
      at += n;
    }
  return -1;
}

static int64_t rows(const KernelRequest *r) { return r->batch * r->heads * r->N; }

static double scale_of(const KernelRequest *r) { return r->scale > 0 ? r->scale : 1 / sqrt((double)r->d); }

bool kernel_like_spec(const KernelRequest *r, const char *word, const char *type, char text[KERNEL_ARGUMENT_BYTES]) {
  const char *element = strstr(type, "bfloat16") ? "bf16" : strstr(type, "half") ? "f16" : "f32";
  const char *whole = strstr(type, "long") || strstr(type, "size_t") || strstr(type, "int64") ? "i64" : "i32";
  const int name = name_of(word);
  const int64_t elements = rows(r) * r->d, sizes[] = {[NAME_N] = r->N, [NAME_D] = r->d, r->batch, r->heads};
  switch (name) {
  case -1: return false;
  case NAME_Q:
  case NAME_K:
  case NAME_V: snprintf(text, KERNEL_ARGUMENT_BYTES, "%s[%jd]:normal:%d", element, elements, 1 + name); break;
  case NAME_O: snprintf(text, KERNEL_ARGUMENT_BYTES, "%s[%jd]:zero", element, elements); break;
  case NAME_ROW_ZERO:
  case NAME_ROW_MAX:
    snprintf(text, KERNEL_ARGUMENT_BYTES, "f32[%jd]:%s", rows(r), name == NAME_ROW_MAX ? "-inf" : "zero");
    break;
  case NAME_SCALE: snprintf(text, KERNEL_ARGUMENT_BYTES, "f32:%.9g", scale_of(r)); break;
  default: snprintf(text, KERNEL_ARGUMENT_BYTES, "%s:%jd", whole, sizes[name]);
  }
  return true;
}

static int find_name(const KernelLaunch *l, Name name) {
  for (int a = 0; a < l->n; a++)
    if (l->specs[a].is_buffer && name_of(l->argument_names[a]) == (int)name) return a;
  return -1;
}

int kernel_like_output(const KernelLaunch *l) { return find_name(l, NAME_O); }

/* Attention with one equation that is another. */
typedef struct {
  const char *says;
  int power;                                  /* of the scale: 1 is right */
  bool unmasked, undivided, keeps_O, keeps_l; /* unmasked: or causal; keeps: where m grows from block to block */
} Equation;

static const Equation RIGHT = {.power = 1};
static const Equation WRONG[] = {
    {"S is Q K^T without the scale", .power = 0},
    {"S is scaled twice", .power = 2},
    {"S is divided by the scale", .power = -1},
    {"S has another mask", .power = 1, .unmasked = true},
    {"O is not divided by l", .power = 1, .undivided = true},
    {"O is not rescaled where m grows", .power = 1, .keeps_O = true},
    {"l is not rescaled where m grows", .power = 1, .keeps_l = true},
};
enum { LEAST_BLOCK = 16, MOST_BLOCK = 128 }; /* of keys, that are tried */

/* One row of attention in fp64: scores, softmax, the weighted sum of V. */
static void row(const KernelRequest *r, const double *q, const double *K, const double *V, int64_t i, const Equation *e,
                int64_t block, double *p, double *o) {
  const int64_t seen = r->causal != e->unmasked ? i + 1 : r->N;
  const double scale = pow(scale_of(r), e->power);
  double m = -INFINITY, l = 0;
  for (int64_t c = 0; c < r->d; c++) o[c] = 0;
  for (int64_t j0 = 0; j0 < seen; j0 += block) {
    const int64_t end = j0 + block < seen ? j0 + block : seen;
    const double before = m;
    for (int64_t j = j0; j < end; j++) {
      p[j] = 0;
      for (int64_t c = 0; c < r->d; c++) p[j] += q[c] * K[j * r->d + c];
      p[j] *= scale;
      if (p[j] > m) m = p[j];
    }
    if (!e->keeps_l) l *= exp(before - m);
    for (int64_t j = j0; j < end; j++) l += p[j] = exp(p[j] - m);
    for (int64_t c = 0; c < r->d; c++) {
      if (!e->keeps_O) o[c] *= exp(before - m);
      for (int64_t j = j0; j < end; j++) o[c] += p[j] * V[j * r->d + c];
    }
  }
  for (int64_t c = 0; c < r->d && !e->undivided; c++) o[c] /= l;
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
      return error_refuse(error, "'%s' has %jd elements, and --like fa2 at N %jd, d %jd, %jd heads in all needs %jd",
                          l->argument_names[of[a]], l->specs[of[a]].n, r->N, r->d, r->batch * r->heads, n);
  double *x = malloc((size_t)(4 * n + r->N) * sizeof *x);
  if (!x) return error_no_memory(error, "for O in fp64");
  double *Q = x, *K = x + n, *V = K + n, *O = V + n, *p = O + n, largest = 0;
  for (int64_t e = 0; e < n; e++) {
    Q[e] = spec_element(l->specs[q].type, l->arguments[q].bytes, e);
    K[e] = spec_element(l->specs[k].type, l->arguments[k].bytes, e);
    V[e] = spec_element(l->specs[v].type, l->arguments[v].bytes, e);
  }
  for (int64_t at = 0; at < n; at += r->d)
    row(r, Q + at, K + at / head * head, V + at / head * head, at / r->d % r->N, &RIGHT, r->N, p, O + at);
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
  for (size_t w = 0; verdict->wrong >= 0 && !verdict->equation && w < COUNT_OF(WRONG); w++)
    for (int64_t block = LEAST_BLOCK; block <= MOST_BLOCK && !verdict->equation; block *= 2) {
      const int64_t at = verdict->wrong / r->d * r->d; /* the row */
      row(r, Q + at, K + at / head * head, V + at / head * head, at / r->d % r->N, &WRONG[w], block, p, O + at);
      verdict->equation = WRONG[w].says;
      for (int64_t c = at; c < at + r->d; c++)
        if (!(fabs(spec_element(l->specs[o].type, l->arguments[o].bytes, c) - O[c]) <= verdict->tolerance * largest))
          verdict->equation = NULL;
    }
  free(x);
  return STATUS_OK;
}
