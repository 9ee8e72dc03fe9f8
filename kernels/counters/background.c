/* HBM reads that go with time, not with the kernel: what else reads memory while it runs. A screen is read out of it
 * again and again: 3840 x 2160 pixels of 4 bytes at 60 Hz are 1.99 GB/s.
 *
 *     kernel      extra reads   time     a second
 *     step 04     0.98 GB       465 ms   2.1 GB/s      iuliet716/flash-attention-cuda-from-scratch, RTX 5090
 *     step 06     0.18           88      2.0
 *     step 07     0.17           79      2.1 */
#include <math.h>
#include <stdio.h>

#include "kernels/counters/explain.h"

enum { PIXEL_BYTES = 4 };
static const double LEAST_S = 1e-3; /* shorter: other things are as much */
static const double LEAST_RATE = 0.3e9, MOST_RATE = 4.5e9, LEAST_SHARE = 0.05;

bool counter_explain_background(const CounterRow *row, double expected_read, Cause *cause) {
  static const struct {
    int width, height, hz;
  } SCREENS[] = {{1920, 1080, 60},  {2560, 1440, 60}, {1920, 1080, 144}, {3840, 2160, 60},
                 {2560, 1440, 144}, {5120, 2880, 60}, {3840, 2160, 120}};
  if (!row->known[COUNTER_HBM_READ] || !row->known[COUNTER_TIME]) return false;
  const double seconds = (double)row->value[COUNTER_TIME] * 1e-9, read = (double)row->value[COUNTER_HBM_READ];
  const double rate = seconds > 0 ? (read - expected_read) / seconds : 0;
  if (seconds < LEAST_S || rate < LEAST_RATE || rate > MOST_RATE || read < (1 + LEAST_SHARE) * expected_read)
    return false;
  int nearest = 0;
  double of_nearest = 0;
  for (int s = 0; s < (int)(sizeof SCREENS / sizeof *SCREENS); s++) {
    const double of = (double)SCREENS[s].width * SCREENS[s].height * SCREENS[s].hz * PIXEL_BYTES;
    if (s && fabs(of - rate) >= fabs(of_nearest - rate)) continue;
    nearest = s;
    of_nearest = of;
  }
  *cause = (Cause){.kind = CAUSE_BACKGROUND, .read = read, .write = (double)row->value[COUNTER_HBM_WRITE]};
  snprintf(cause->text, sizeof cause->text,
           "reads that go with time, %.1f GB/s over %.3g ms: a screen of %d x %d at %d Hz is read at %.2f GB/s",
           rate * 1e-9, seconds * 1e3, SCREENS[nearest].width, SCREENS[nearest].height, SCREENS[nearest].hz,
           of_nearest * 1e-9);
  return true;
}
