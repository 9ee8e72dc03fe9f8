/* A request as the one line that makes it again. */
#include "viz/request/request_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "viz/request/own_programs.h"

static void put(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(char *text, const char *format, ...) {
  const size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, REQUEST_STATE_BYTES - used, format, arguments);
  va_end(arguments);
}

static void put_count(char *text, const char *key, int64_t value, int64_t left_out) {
  if (value != left_out) put(text, " %s=%" PRId64, key, value);
}

/* "step=122.25", without zeros at its end. */
static void put_between(char *text, const Request *r) {
  int digits = 3, part = r->step_thousandths;
  for (; part % 10 == 0; part /= 10) digits--;
  put(text, " step=%" PRId64 ".%0*d", r->step, digits, part);
}

const char *request_state(const Request *r, char text[REQUEST_STATE_BYTES]) {
  text[0] = '\0';
  for (int k = 0; k < r->n_algorithms; k++)
    put(text, "%s%s", k ? "," : " algorithm=", own_program_word(r->algorithms[k]));
  put(text, " N=%" PRId64, r->shape.N_q ? r->shape.N_q : r->pages.n ? 1 : REQUEST_DEFAULT_N);
  put_count(text, "seq-len-k", r->shape.N_k, 0);
  if (r->shape.d || !*r->model) put(text, " d=%" PRId64, r->shape.d ? r->shape.d : REQUEST_DEFAULT_D);
  put_count(text, "head-dim-v", r->shape.d_v, 0);
  put_count(text, "batch", r->shape.batch, 0);
  put_count(text, "heads", r->shape.heads, 0);
  put_count(text, "kv-heads", r->shape.kv_heads, 0);
  if (*r->model) put(text, " model=%s", r->model);
  if (r->is_absorbed || r->is_expanded) put(text, " mla=%s", r->is_absorbed ? "absorbed" : "expanded");
  if (r->shape.v_in_k || r->has_v_in_k) put(text, " v-in-k=%d", r->shape.v_in_k);
  if (r->shape.has_kv_dtype) put(text, " kv-dtype=%s", dtype_name(r->shape.kv_dtype));
  if (r->shape.dtype != DTYPE_FP16 || (*r->model && r->has_dtype)) put(text, " dtype=%s", dtype_name(r->shape.dtype));
  if (r->shape.causal) put(text, r->shape.top_left ? " causal=top-left" : " causal=1");
  if (r->shape.sided) put(text, " window=%" PRId64 ",%" PRId64, r->shape.left, r->shape.right);
  put_count(text, "window", r->shape.window, 0);
  if (*r->mask) put(text, " mask=%s", r->mask);
  if (r->algorithm1_blocks) put(text, " block=paper");
  put_count(text, "block", r->block, 0);
  put_count(text, "block-q", r->tiling.B_r, 0);
  put_count(text, "block-k", r->tiling.B_c, 0);
  if (r->pack != PACK_AUTO) put(text, " pack-gqa=%s", PACK_NAMES[r->pack]);
  put_count(text, "splits", r->tiling.n_splits, 0);
  if (r->tiling.lse) put(text, " lse=1");
  put_count(text, "sram", r->sram_bytes, 0);
  if (*r->gpu) put(text, " gpu=%s", r->gpu);
  if (*r->kernel) put(text, " kernel=%s", r->kernel);
  put_count(text, "ctas-per-sm", r->ctas_per_sm, 0);
  if (r->has_order) put(text, " order=%s", launch_order_name(r->order));
  if (r->in_step && r->skew_turns)
    put(text, " pace=skew:%" PRId64, r->skew_turns);
  else if (r->in_step)
    put(text, " pace=step");
  if (r->without) {
    char parts[REFINEMENTS_TEXT_BYTES];
    refinements_text(r->without, parts, sizeof parts);
    put(text, " without=%s", parts);
  }
  if (r->has_walk) put(text, " walk=%s", launch_walk_name(r->walk));
  put_count(text, "seed", r->seed, 0);
  if (*r->scene) put(text, " scene=%s", r->scene);
  if (r->step_thousandths)
    put_between(text, r);
  else
    put_count(text, "step", r->step, 0);
  put_count(text, "row", r->row, 0);
  put_count(text, "zoom", r->zoom, 0);
  if (r->without_max) put(text, " without-max=1");
  put_count(text, "q-scale", r->q_scale, 0);
  if (r->by_time) put(text, " clock=time");
  for (int64_t k = 0; k < r->pages.n; k++) put(text, "%s%" PRId64, k ? "+" : " lengths=", r->pages.lengths[k]);
  put_count(text, "page", r->pages.page, 0);
  put_count(text, "prefix", r->pages.prefix, 0);
  put_count(text, "chunk", r->pages.chunk, 0);
  put_count(text, "ranks", r->ring.n, 0);
  if (r->ring.scheme) put(text, " scheme=%s", SCHEME_NAMES[r->ring.scheme]);
  memmove(text, text + 1, strlen(text));
  return text;
}
