/* Bytes that the program of a stream asks for. */
#include "sim/l2/stream_blocks.h"

/* Every CTA asks for its operands, whatever `once` says for counting; row statistics stay in its registers. */
static void ask_again(ProgramOp *op, const StreamKernel *k) {
  if (!op->words) {
    op->first = 0;
    op->never = false;
  }
  for (int n = 0; n < k->n_dims; n++) {
    if (op->loops & 1 << k->dims[n]) continue;
    op->loops |= (uint8_t)(1 << k->dims[n]);
    op->masked |= k->of;
    op->needs = -1;
  }
}

/* Of loads that CTAs ask for `parts` times, or of all where parts is 0. */
static Wide loaded_in_parts(const Stream *s, const Schedule *schedule, int64_t parts) {
  Program asked = *schedule;
  Traffic traffic;
  bool overflow = false;
  for (int k = 0; k < s->n_kernels; k++) {
    const ProgramKernel *kernel = &schedule->kernels[s->kernels[k].of_program];
    for (int op = kernel->first_op; op < kernel->end_op; op++) {
      ask_again(&asked.ops[op], &s->kernels[k]);
      if (parts && (s->kernels[k].parts != parts || asked.ops[op].width == SIDE_DV)) asked.ops[op].never = true;
    }
  }
  schedule_traffic(&asked, s->plan, &traffic, &overflow);
  return traffic_read_bytes(&traffic, &overflow);
}

/* What the CTAs of a kernel load of the names that they share, each for itself; of other tiles, one a cluster. */
static Wide loaded_shared(const Schedule *schedule, const Plan *plan, const StreamKernel *kernel) {
  Program asked = *schedule;
  Traffic traffic;
  Wide bytes = 0;
  bool overflow = false;
  for (int op = 0; op < schedule->n_ops; op++) {
    ask_again(&asked.ops[op], kernel);
    asked.ops[op].never |= schedule->ops[op].kernel != kernel->of_program;
  }
  schedule_traffic(&asked, plan, &traffic, &overflow);
  for (int name = 0; name < schedule->n_names; name++)
    if (kernel->shared & name_bit(name)) bytes += traffic.read[schedule->names[name].tensor];
  return bytes;
}

/* The tiles that a cluster's CTAs load among them are those of one tile as large as theirs together. */
double stream_shared_bytes(const Stream *s, const Schedule *schedule) {
  Wide bytes = 0;
  for (int k = 0; k < s->n_kernels; k++) {
    const StreamKernel *kernel = &s->kernels[k];
    Tiling tiling = s->plan->tiling;
    Plan together;
    if (!kernel->cluster) continue;
    *(kernel->cluster_dim == DIM_I ? &tiling.B_r : &tiling.B_c) *= kernel->cluster;
    if (plan_make(&together, &s->plan->shape, &tiling, NULL)) continue;
    bytes += loaded_shared(schedule, s->plan, kernel) - loaded_shared(schedule, &together, kernel);
  }
  return (double)bytes;
}

double stream_read_bytes(const Stream *s, const Schedule *schedule) {
  Wide bytes = loaded_in_parts(s, schedule, 0);
  for (int k = 0; k < s->n_kernels; k++) /* at most one has parts: it alone moves blocks of d_v */
    if (s->kernels[k].parts > 1)
      bytes += wide(s->kernels[k].parts - 1) * loaded_in_parts(s, schedule, s->kernels[k].parts);
  return (double)bytes - stream_shared_bytes(s, schedule);
}
