#include "kernels/lib/run_on_cpu.h"

#include <math.h>
#include <string.h>

#include "kernels/lib/simt.h"

CpuRun run_on_cpu(const Rung &rung, const Shape &s, Block block, const Inputs &inputs, const Fault &fault) {
  CpuRun result = {};
  const size_t scores = rung.keeps_scores ? (size_t)(s.batch * s.heads * s.N_q * s.N_k * dtype_bytes(s.dtype)) : 0;
  const size_t stats = rung.keeps_stats ? (size_t)(s.batch * s.heads * s.N_q) : 0;
  std::vector<unsigned char> O(q_bytes(s), 0xff), S(scores, 0xff), P(scores, 0xff); /* 0xff...: NaN in every type */
  std::vector<float> m(stats, NAN), l(stats, NAN);
  Attention a = {};
  a.Q = inputs.Q.data();
  a.K = inputs.K.data();
  a.V = inputs.V.data();
  a.O = O.data();
  a.S = S.data();
  a.P = P.data();
  a.m = m.data();
  a.l = l.data();
  a.counts = &result.counts;
  a.batch = (int)s.batch;
  a.heads = (int)s.heads;
  a.kv_heads = (int)s.kv_heads;
  a.N_q = (int)s.N_q;
  a.N_k = (int)s.N_k;
  a.d = (int)s.d;
  a.causal = s.causal;
  a.B_r = block.B_r;
  a.B_c = block.B_c;
  a.scale = 1 / sqrtf((float)s.d);
  simt::machine.complaint.clear();
  simt::machine.descending = fault.descending;
  simt::machine.drop_line = fault.file ? fault.line : 0;
  simt::machine.drop_file = fault.file ? fault.file : "";
  const bool ran = rung.run(a, s.dtype);
  result.complaint = simt::machine.complaint;
  if (!ran && result.complaint.empty()) result.complaint = "the rung refused the shape or block";
  result.verdict = output_check(s, inputs, O.data(), 1, tolerance(rung, s.dtype));
  return result;
}

std::vector<FaultSite> cpu_fault_sites() {
  std::vector<FaultSite> sites;
  for (const simt::Site &site : simt::machine.sites) sites.push_back({site.file, site.line});
  simt::machine.sites.clear();
  return sites;
}
