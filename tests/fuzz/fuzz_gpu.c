/* Fuzz target for descriptions of GPUs and links: any bytes are refused with one line, or become a machine on
 * which a model can compute with, without dividing by zero or leaving its arrays. */
#include "tests/fuzz/fuzz.h"
#include "sim/machine/gpu.h"
#include "sim/machine/link.h"
#include "sim/base/utf8.h"

static void try_link(const uint8_t *data, size_t size) {
  GpuLink link = {.sms = 7};
  Error error = {0};
  if (link_parse((const char *)data, size, "f", &link, &error)) {
    require(strncmp(error.message, "f:", 2) == 0 && utf8_is_text(error.message, strlen(error.message)));
    require(link.sms == 7); /* unchanged */
    return;
  }
  require(link.name[0] && link_bound_s(&link, 1e9) > 0 && link_bound_s(&link, 0) == 0);
  require(!link.ramp_bytes || link_predicted_s(&link, 1e9) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try_link(data, size);
  Gpu gpu;
  memset(&gpu, 0x5A, sizeof gpu);
  Error error = {0};
  if (gpu_parse((const char *)data, size, "f", &gpu, &error) != STATUS_OK) {
    require(strncmp(error.message, "f:", 2) == 0);
    require(utf8_is_text(error.message, strlen(error.message)));
    require(gpu.n_sm == 0x5A5A5A5A5A5A5A5A); /* unchanged */
    return 0;
  }
  require(gpu.name[0] && gpu.n_sm > 0 && gpu.clock_hz > 0 && gpu.hbm_bytes_per_s > 0);
  require(gpu.shared_bytes_per_cta > 0 && gpu.shared_reserved_bytes >= 0);
  require(gpu.shared_bytes_per_cta + gpu.shared_reserved_bytes <= gpu.shared_bytes_per_sm);
  require(gpu.shared_bytes_per_sm <= gpu.sram_bytes && gpu.warp_size > 0);
  require(gpu_hbm_bytes_per_s(&gpu) > 0 && gpu_sram_bytes_per_s(&gpu) > 0 && gpu_exp_per_s(&gpu) > 0);
  if (gpu.l2_bytes == 0) {
    require(gpu.l2_ways == 0 && gpu.l2_partitions == 0);
    return 0;
  }
  require(gpu.l2_partitions > 0 && gpu.l2_bytes % gpu.l2_partitions == 0);
  require(gpu.l2_line_bytes % gpu.l2_sector_bytes == 0);
  require(gpu.l2_room_bytes <= gpu.l2_bytes);
  if (gpu.l2_ways) {
    const int64_t slices = gpu.l2_slices ? gpu.l2_slices : gpu.l2_partitions;
    require(gpu.l2_bytes >= slices * gpu.l2_ways * gpu.l2_line_bytes); /* at least one set */
  }
  return 0;
}
