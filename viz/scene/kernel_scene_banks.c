#include "viz/scene/kernel_scene.h"

enum { LANES = 32, BANKS = 32 };

/* Is the word at `at` asked for by a lane before this one, of those that go with it? */
static bool is_known(const KernelSceneRequest *r, int first, int lane, uint64_t at) {
  for (int l = first; l < lane; l++)
    if (r->mask >> l & 1 && at >= r->address[l] / 4 && at <= (r->address[l] + (uint64_t)r->bytes - 1) / 4) return true;
  return false;
}

void kernel_scene_banks(const KernelSceneRequest *r, int words[32]) {
  for (int first = 0; first < LANES; first += r->lanes_at_once) {
    int n[BANKS] = {0};
    for (int l = first; l < first + r->lanes_at_once; l++)
      for (uint64_t at = r->address[l] / 4; r->mask >> l & 1 && at <= (r->address[l] + (uint64_t)r->bytes - 1) / 4;
           at++)
        if (!is_known(r, first, l, at)) n[at % BANKS]++;
    for (int bank = 0; bank < BANKS; bank++)
      if (n[bank] > words[bank]) words[bank] = n[bank];
  }
}
