#include "sim/algorithms/rank_program.h"

RankPart rank_part(RankLayout layout, bool causal, int64_t tokens, int64_t g, int64_t k) {
  const Span all = {0, tokens}, none = {0, 0};
  if (!causal || (k < g && layout == LAYOUT_CONTIGUOUS)) return (RankPart){all, all, false};
  if (k == g || (k < g && layout == LAYOUT_STRIPED)) return (RankPart){all, all, true};
  if (layout == LAYOUT_STRIPED && tokens > 1) return (RankPart){{1, tokens}, {0, tokens - 1}, true};
  if (layout != LAYOUT_ZIGZAG) return (RankPart){none, none, false};
  return k < g ? (RankPart){all, {0, tokens / 2}, false} : (RankPart){{tokens / 2, tokens}, all, false};
}

int64_t rank_token(RankLayout layout, int64_t n, int64_t tokens, int64_t g, int64_t at) {
  const int64_t half = tokens / 2;
  if (layout == LAYOUT_STRIPED) return at * n + g;
  if (layout == LAYOUT_CONTIGUOUS) return g * tokens + at;
  return at < half ? g * half + at : (2 * n - 1 - g) * half + at - half;
}

unsigned rank_stage_kernels(const Program *program, RankStage stage) {
  const ProgramRanks *ranks = &program->ranks;
  unsigned kernels = 0;
  RankStage at = STAGE_BEFORE;
  for (int k = 0; k < ranks->n_lines; k++) {
    if (ranks->lines[k].in_steps)
      at = STAGE_STEPS;
    else if (at == STAGE_STEPS)
      at = STAGE_AFTER;
    if (ranks->lines[k].kind == RANK_RUN && at == stage) kernels |= 1u << ranks->lines[k].kernel;
  }
  return kernels;
}

void rank_kernels_alone(const Program *program, unsigned kernels, Program *alone) {
  *alone = *program;
  alone->n_passes = 1;
  for (int op = 0; op < program->n_ops; op++) /* conditions that never hold together */
    if (!(kernels >> program->ops[op].kernel & 1)) alone->ops[op].when |= WHEN_SPLIT | WHEN_WHOLE;
}
