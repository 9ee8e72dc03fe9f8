/* Fuzz target for kernel profiles: any bytes are refused with one line, or become a profile that can be launched, or
 * refused, at any d without leaving an array. */
#include "tests/fuzz/fuzz.h"
#include "sim/l2/kernel_profile.h"
#include "sim/base/utf8.h"

static void launch_everywhere(const Profile *p) {
  const Gpu gpu = {.name = "g",
                   .n_sm = 3,
                   .warp_size = 32,
                   .shared_bytes_per_sm = 1 << 18,
                   .shared_bytes_per_cta = 1 << 17,
                   .registers_per_sm = 65536,
                   .registers_per_thread = 255,
                   .warps_per_sm = 64,
                   .threads_per_cta = 1024,
                   .ctas_per_sm = 32};
  static const int64_t D[] = {1, 64, 65, 128, 200, 256, 257, 65536};
  for (size_t i = 0; i < 2 * sizeof D / sizeof *D; i++) {
    const Shape shape = {.batch = 2, .heads = 3, .N_q = 1000, .d = D[i / 2], .causal = i % 2};
    LaunchConfig config;
    Launch l;
    if (profile_config(p, &shape, &config, NULL) || launch_make(&l, &shape, &config, &gpu, NULL)) continue;
    require(l.n_pieces > 0 && l.n_slots > 0 && l.n_ctas <= l.n_pieces && l.tail_fill > 0 && l.tail_fill <= 1);
    const LaunchPiece last = launch_piece(&l, l.n_pieces - 1);
    require(last.batch == 1 && last.head == 2 && launch_number(&l, last) == l.n_pieces - 1);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Profile p;
  memset(&p, 0x5A, sizeof p);
  Error error = {0};
  if (profile_parse((const char *)data, size, "f", &p, &error) != STATUS_OK) {
    require(strncmp(error.message, "f:", 2) == 0);
    require(utf8_is_text(error.message, strlen(error.message)));
    require(p.pull_bytes == 0x5A5A5A5A5A5A5A5A); /* unchanged */
    return 0;
  }
  require(p.schedule && p.name[0] && p.product[0]);
  launch_everywhere(&p);
  return 0;
}
