/* A rung of the ladder run on this computer's processor: its output, and the bytes it counts, as rows. */
#include <stdio.h>

#include "kernels/lib/cpu_check.h"
#include "viz/cli/crosscheck/crosscheck.h"
#include "viz/request/assets.h"

Status crosscheck_cpu_run(Crosscheck *c, const char *rung, const Shape *shape, const Tiling *tiling, Error *error) {
  CpuCheck check;
  const KernelModel *model = kernel_model_find(rung);
  char folder[ASSETS_PATH_BYTES];
  Status status = assets_find(folder, sizeof folder, "assets/ladder", error);
  if (!status) status = cpu_check_run(rung, shape, tiling, 1, folder, &check, error);
  if (status) return status;
  CrosscheckItem output = {.shape = *shape,
                           .tiling = check.tiling,
                           .quantity = "output right",
                           .must_hold = true,
                           .low = 1,
                           .high = 1,
                           .measured = check.right,
                           .holds = check.right,
                           .error = check.right ? 0 : -1};
  CounterRow row = {.known = {[COUNTER_COUNTED_READ] = true, [COUNTER_COUNTED_WRITE] = true}};
  snprintf(output.kernel, sizeof output.kernel, "%s", rung);
  snprintf(row.kernel, sizeof row.kernel, "%s", rung);
  KernelTraffic traffic;
  status = kernel_model_traffic(model, shape, &check.tiling, &traffic, error);
  if (status) return status;
  for (int t = 0; t < KERNEL_TENSORS; t++) {
    row.value[COUNTER_COUNTED_READ] += check.read[t];
    row.value[COUNTER_COUNTED_WRITE] += check.write[t];
    if (check.read[t] == traffic.read[t] && check.write[t] == traffic.write[t]) continue;
    CrosscheckItem tensor = output;
    tensor.quantity = "bytes of one tensor";
    tensor.low = tensor.high = (double)(traffic.read[t] + traffic.write[t]);
    tensor.measured = (double)(check.read[t] + check.write[t]);
    tensor.holds = false;
    status = crosscheck_add(c, &tensor, error);
  }
  if (!status) status = crosscheck_add(c, &output, error);
  return status ? status : crosscheck_add_row(c, &row, model, shape, &check.tiling, error);
}
