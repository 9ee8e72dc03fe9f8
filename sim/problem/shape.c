#include "sim/problem/shape.h"

#include "sim/base/word_list.h"
#include "sim/problem/pattern.h"

#include <string.h>

const char *const DTYPE_NAMES[DTYPE_COUNT + 1] = {"fp16", "bf16", "fp32", "fp8", NULL};
const char *const KV_NAMES[DTYPE_COUNT + 2] = {"fp16", "bf16", "fp32", "fp8", "int8", NULL};
static const int BYTES[DTYPE_COUNT + 1] = {2, 2, 4, 1, 1};

int dtype_bytes(Dtype dtype) { return BYTES[dtype]; }
const char *dtype_name(Dtype dtype) { return KV_NAMES[dtype]; }

bool dtype_from_name(const char *name, Dtype *dtype) {
  const int found = word_list_find(DTYPE_NAMES, name);
  if (found >= 0) *dtype = (Dtype)found;
  return found >= 0;
}

static Status check_range(const char *what, int64_t value, int64_t max, Error *error) {
  if (value < 1) return error_refuse(error, "%s is %jd; it must be at least 1", what, value);
  if (value > max) return error_set(error, STATUS_TOO_LARGE, "%s is %jd; at most %jd is modelled", what, value, max);
  return STATUS_OK;
}

/* A window, or a side of one, that reaches as far as there are tokens hides nothing, and is none, as FlashAttention has
 * it. */
static void drop_idle_window(Shape *s) {
  const int64_t queries = s->N_q / s->group, tokens = queries > s->N_k ? queries : s->N_k;
  if (s->window >= tokens) s->window = 0;
  if (!s->sided) return;
  if (s->left >= tokens - 1) s->left = -1;
  if (s->right >= tokens - 1) s->right = -1;
  if (s->left < 0 && s->right < 0) s->sided = false, s->left = s->right = 0;
}

Status shape_complete(Shape *shape, Error *error) {
  Shape s = *shape;
  if (s.batch == 0) s.batch = 1;
  if (s.heads == 0) s.heads = 1;
  if (s.kv_heads == 0) s.kv_heads = s.heads;
  if (s.N_k == 0) s.N_k = s.N_q;
  if (s.d_v == 0) s.d_v = s.d;
  if (s.group == 0) s.group = 1;
  const struct {
    const char *what;
    int64_t value, max;
  } checks[] = {
      {"batch", s.batch, SHAPE_MAX_BATCH},
      {"the number of heads", s.heads, SHAPE_MAX_HEADS},
      {"the number of KV heads", s.kv_heads, SHAPE_MAX_HEADS},
      {"the sequence length N", s.N_q, SHAPE_MAX_N},
      {"the key length", s.N_k, SHAPE_MAX_N},
      {"the head dimension d", s.d, SHAPE_MAX_D},
      {"the head dimension of V", s.d_v, SHAPE_MAX_D},
      {"the number of packed heads", s.group, SHAPE_MAX_HEADS},
  };
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    Status status = check_range(checks[i].what, checks[i].value, checks[i].max, error);
    if (status) return status;
  }
  if (s.heads % s.kv_heads != 0)
    return error_refuse(error, "%jd query heads cannot share %jd KV heads evenly; the KV heads must divide the heads",
                        s.heads, s.kv_heads);
  if (s.v_in_k && s.d_v > s.d)
    return error_refuse(
        error, "V cannot be the first %jd elements of K, which has %jd; with --v-in-k --head-dim-v is at most -d",
        s.d_v, s.d);
  if (s.has_kv_dtype && s.kv_dtype == s.dtype) s.has_kv_dtype = false;
  if (!s.has_kv_dtype) s.kv_dtype = s.dtype;
  if (s.N_q % s.group != 0)
    return error_refuse(error, "%jd rows of Q are no whole number of queries of %jd packed heads", s.N_q, s.group);
  if (s.pattern && s.group > 1) return error_refuse(error, "a mask by --mask cannot be packed; leave heads apart");
  if (s.sided && (s.left < -1 || s.right < -1))
    return error_refuse(error, "a side of the window is %jd keys; give 0 or more, or -1 for no limit",
                        s.left < -1 ? s.left : s.right);
  if (s.window < 0)
    return error_refuse(error, "the window is %jd keys; it must be at least 1 (or left out: no window)", s.window);
  if (s.pattern && (s.pattern->matrix.N_q != s.N_q || s.pattern->matrix.N_k != s.N_k))
    return error_refuse(error, "the mask '%.48s' is for %jd queries and %jd keys, not for %jd and %jd", s.pattern->name,
                        s.pattern->matrix.N_q, s.pattern->matrix.N_k, s.N_q, s.N_k);
  drop_idle_window(&s);
  *shape = s;
  return STATUS_OK;
}

Shape shape_packed(const Shape *shape) {
  Shape s = *shape;
  const int64_t group = s.heads / s.kv_heads;
  if (group <= 1 || s.group > 1 || s.pattern || s.N_q > SHAPE_MAX_N / group) return s;
  s.group = group;
  s.N_q *= group;
  s.heads = s.kv_heads;
  return s;
}

Shape shape_unpacked(const Shape *shape) {
  Shape s = *shape;
  if (s.group <= 1) return s;
  s.N_q /= s.group;
  s.heads *= s.group;
  s.group = 1;
  return s;
}
