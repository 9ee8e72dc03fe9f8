#include "kernels/lib/run_on_cpu.h"

#include <string.h>

#include "kernels/lib/problem.h"

CpuRun run_on_cpu(const Rung &rung, const Shape &s, Block block, const Inputs &inputs, const CpuSetting &setting) {
  Training training;
  if (rung.trains) training_fill(s, 7, false, inputs, &training);
  Problem p(rung, s, block, &inputs, rung.trains ? &training : nullptr);
  std::vector<unsigned char> bytes[N_PIECES];
  device = Device();
  for (int i = 0; i < N_PIECES; i++) {
    const auto &piece = p.pieces[i];
    bytes[i].assign(piece.bytes, 0xff); /* NaN in every type */
    if (piece.given && piece.bytes) memcpy(bytes[i].data(), piece.given, piece.bytes);
    device.memory.push_back({piece.name, bytes[i].data(), piece.bytes, piece.given != nullptr});
  }
  for (size_t i = 0; i < N_PIECES; i++) *p.pieces[i].pointer = machine_address(device.memory, i);
  device.folder = setting.folder;
  device.faults = setting.faults;
  device.omitted = setting.omitted;
  CpuRun result = {};
  const bool ran = rung.run(p.a, s.dtype);
  result.complaint = device.complaint;
  result.sites = device.sites;
  memcpy(&result.counts, bytes[PIECE_COUNTS].data(), sizeof result.counts);
  if (!ran && result.complaint.empty()) result.complaint = "the rung refused the shape or block";
  const void *const left[] = {bytes[rung.trains ? PIECE_dQ : PIECE_O].data(), bytes[PIECE_dK].data(),
                              bytes[PIECE_dV].data()};
  result.verdict = problem_verdict(rung, s, inputs, training, left, 1);
  return result;
}
