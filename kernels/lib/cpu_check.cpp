extern "C" {
#include "kernels/lib/cpu_check.h"
}

#include <string.h>

#include "kernels/lib/problem.h"
#include "kernels/lib/run_on_cpu.h"

/* As Hopper has room for. */
static bool fits(const Rung &rung, const Shape &s, Block b) {
  enum { SHARED_BYTES = 227 * 1024 };
  return !rung.shared_bytes || rung.shared_bytes((int)s.d, b, dtype_bytes(s.dtype)) <= SHARED_BYTES;
}

static Status refuse(const Rung &rung, const Shape &s, Block b, Error *error) {
  if (s.dtype == DTYPE_FP8 || (s.dtype == DTYPE_FP32 && !rung.takes_fp32))
    return error_set(error, STATUS_BAD_REQUEST, "%s does not take %s; %s", rung.name, dtype_name(s.dtype),
                     rung.takes_fp32 ? "give fp16, bf16 or fp32" : "give fp16 or bf16");
  if (s.window) return error_set(error, STATUS_BAD_REQUEST, "%s has no window mask; leave --window out", rung.name);
  if (!rung_takes_d(rung, s.d))
    return error_set(error, STATUS_BAD_REQUEST, "%s takes d = 64 or 128, not %lld", rung.name, (long long)s.d);
  if (!rung_takes_block(rung, b) || !fits(rung, s, b))
    return error_set(error, STATUS_BAD_REQUEST,
                     "%s does not take a %dx%d block at d = %lld; leave --block out for its default", rung.name, b.B_r,
                     b.B_c, (long long)s.d);
  const double products = 1.0 * s.N_q * s.N_k * s.d * s.heads * s.batch;
  if (products > 0x1p31)
    return error_set(error, STATUS_TOO_LARGE,
                     "%s over this shape would take minutes on a CPU; choose a smaller N, d or number of heads",
                     rung.name);
  return STATUS_OK;
}

Status cpu_check_run(const char *name, const Shape *shape, const Tiling *tiling, uint64_t seed, const char *folder,
                     CpuCheck *check, Error *error) {
  const Rung *rung = rung_find(counted::RUNGS, counted::N_RUNGS, name);
  if (!rung) return error_set(error, STATUS_BAD_REQUEST, "there is no kernel of this name in the ladder");
  Block block = rung_block(*rung, {(int)tiling->B_r, (int)tiling->B_c}, shape->d, shape->dtype);
  block.n_splits = rung->default_splits ? (int)tiling->n_splits : 0;
  const Status status = refuse(*rung, *shape, block, error);
  if (status) return status;
  Inputs inputs;
  inputs_fill(*shape, seed, false, &inputs);
  const CpuRun run = run_on_cpu(*rung, *shape, block, inputs, {folder, false, -1});
  if (!run.complaint.empty()) return error_set(error, STATUS_BAD_FILE, "%s: %s", rung->name, run.complaint.c_str());
  check->tiling = tiling_of(block);
  check->right = run.verdict.right;
  check->worst_row = run.verdict.worst_row;
  check->rmse = run.verdict.rmse;
  memcpy(check->read, run.counts.read, sizeof check->read);
  memcpy(check->write, run.counts.write, sizeof check->write);
  return STATUS_OK;
}
