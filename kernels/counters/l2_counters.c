#include "kernels/counters/l2_counters.h"

L2Counters l2_counters_of(const Simulation *s, const Gpu *gpu) {
  const int64_t sms = s->launch.n_ctas < s->launch.n_sm ? s->launch.n_ctas : s->launch.n_sm;
  const double launched =
      s->l2.kernels * ((double)gpu->l2_fabric_launch_bytes + (double)sms * (double)gpu->l2_fabric_sm_bytes);
  return (L2Counters){.hbm_read_bytes = s->l2.hbm_read_bytes,
                      .fabric_bytes = s->l2.fabric_bytes > 0 ? s->l2.fabric_bytes + launched : 0,
                      .l2_read_bytes = s->l2.l2_read_bytes,
                      .l2_write_bytes = s->l2.write_bytes,
                      .hit_rate = l2_run_hit_rate(&s->l2),
                      .simulated = s->l2.simulated};
}
