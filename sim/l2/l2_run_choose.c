/* How much of a launch is walked through L2: which heads, and tiles how coarsely merged. */
#include <math.h>

#include "sim/l2/l2_run_parts.h"

enum {
  STEPS_PER_HEAD = 75000,
  HEADS_WALKED = 5,
  HEADS_OF_MANY = 4,
  HEADS_WHOLE = 16,
  HEADS_MOST = 256,
  STEPS_MOST = 8000000,
  GRANULES_MOST = 4000000
};

enum { LONG_KEYS = 65536 /* rows of up to this many keys are not walked too coarsely */ };

#define FAR_MORE 1.5 /* times l2_bytes; no launch that was recorded comes to more than 1.2 */

static int64_t n_blocks(const Launch *l, const Plan *plan) {
  return l->config.whole_head ? 1 : l->config.of_columns ? plan->T_c : plan->T_r;
}

Status l2_check(const Launch *l, const Plan *plan, const L2RunConfig *c, Error *error) {
  if (c->l2_partitions != 1 && c->l2_partitions != 2)
    return error_refuse(error, "an L2 of %lld partitions is not modelled; give 1 or 2", (long long)c->l2_partitions);
  if (c->skew_turns < 0 || c->skew_turns > 1 << 20)
    return error_refuse(error, "a skew of %lld turns is not possible; give 0 to %d", (long long)c->skew_turns, 1 << 20);
  if ((l->n_splits != 1 && l->n_splits != plan->tiling.n_splits) || l->config.block_q != plan->tiling.B_r ||
      l->config.block_k != plan->tiling.B_c || l->n_row_blocks != n_blocks(l, plan) || l->heads != plan->shape.heads ||
      l->batch != plan->shape.batch)
    return error_refuse(error, "the launch and the plan must be of one problem, with equal blocks and splits");
  return STATUS_OK;
}

Status l2_refuse_large(double steps, Error *error) {
  return error_set(error, STATUS_TOO_LARGE,
                   "%.3g tile reads take too long to walk through L2; a shorter sequence or larger blocks do not",
                   steps);
}

/* Heads to walk: as many as come to `budget`, but at least two and the first waves; where kernels follow each other,
 * enough that L2 holds little of what goes between them. */
static int64_t heads_to_walk(const Stream *s, double budget, const Launch *l, double l2_bytes) {
  const int64_t n_heads = s->n_heads, pieces = s->kernels[0].n_pieces / n_heads;
  if (s->combines) return n_heads;
  double heads = fmax(budget / fmax(s->steps_per_head, 1), 2);
  if (s->n_kernels == 1)
    heads = fmax(heads, ceil(4 * (double)l->n_slots / (double)pieces));
  else
    heads = fmax(2, ceil(4 * l2_bytes / s->between_bytes));
  return heads < (double)n_heads ? (int64_t)heads : n_heads;
}

/* Heads that are to be walked, however coarsely. Of fa2 all, where they are not many: the first CTAs of the next head
 * run on what a wave leaves free last, more of them with every head, so that the heads before do not tell of those
 * after. */
static double whole_heads(const Run *r, int64_t n_heads) {
  const bool all = r->stream.combines || r->launch->config.whole_head;
  if (all) return fmin((double)n_heads, HEADS_MOST);
  return r->stream.n_kernels == 1 && n_heads <= HEADS_WHOLE ? (double)n_heads : 1;
}

/* How many heads' steps are taken: they are spread over all heads where all are walked, over not many of fa2 not too
 * thin unless rows are very long; of many heads, and of long rows, fewer, for time. */
static double heads_worth(int64_t n_heads, int64_t N_k) {
  const double n = (double)n_heads;
  return n <= HEADS_WHOLE && N_k <= LONG_KEYS ? fmax(n / 2, fmin(n, HEADS_WALKED)) : fmin(n, HEADS_OF_MANY);
}

/* At most, or about: two fifths where K and V of a head are far more than L2 holds, since nearly all that a step asks
 * for is then new, and takes more than twice the time to walk. */
double l2_steps_of_head(const Run *r, const Plan *p) {
  if (r->config->max_steps) return (double)r->config->max_steps;
  const double keys_and_values = (double)p->shape.N_k * plan_key_bytes(p);
  return keys_and_values > FAR_MORE * (double)r->config->l2_bytes ? 0.4 * STEPS_PER_HEAD : STEPS_PER_HEAD;
}

/* Merges rounds, then tiles, until a head takes few enough steps, and chooses the heads. */
Status l2_choose_walk(Run *r, const Schedule *schedule, const Plan *plan, Error *error) {
  const double max = l2_steps_of_head(r, plan);
  const int64_t widest = plan->T_r > plan->T_c ? plan->T_r : plan->T_c;
  int64_t merge = 1, n_heads = 0;
  for (;; merge *= 2) {
    if (!stream_make(&r->stream, schedule, plan, r->launch, merge, 0))
      return error_refuse(error, "%s is not walked through L2", schedule->name);
    n_heads = r->stream.all_heads;
    const double together = fmax(whole_heads(r, n_heads) / heads_worth(n_heads, plan->shape.N_k), 1);
    if (r->stream.steps_per_head * r->stream.accesses_per_step * together <= max || r->stream.merge >= widest ||
        schedule->diagonal)
      break;
  }
  const double budget = max / r->stream.accesses_per_step * heads_worth(n_heads, plan->shape.N_k);
  const int64_t heads = heads_to_walk(&r->stream, budget, r->launch, (double)r->config->l2_bytes);
  const double steps = r->stream.steps_per_head * (double)heads;
  stream_make(&r->stream, schedule, plan, r->launch, merge, heads);
  r->stop_steps = r->stream.n_kernels == 1 ? 2 * budget + 1000 : INFINITY;
  double granules = 0;
  for (int k = 0; k < STREAM_KIND_COUNT; k++) granules += (double)r->stream.kinds[k].n;
  if ((r->stream.n_kernels > 1 && steps > STEPS_MOST) || granules > GRANULES_MOST) return l2_refuse_large(steps, error);
  r->half.piece = heads / 2 * (r->stream.kernels[0].n_pieces / heads);
  r->end.piece = r->stream.kernels[0].n_pieces;
  return STATUS_OK;
}
