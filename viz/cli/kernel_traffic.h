/* What leaves the L1s of a launch, gathered from the machine's sink: distinct sectors, as the ends of intervals.
 *
 *     read from L2     between each sector once for four SMs that share a coalescer, and every miss of L1
 *     read from HBM    pairs of sectors, 64 bytes, each once: while they fit L2, and at least so much beyond
 *     written to HBM   between nothing, while L2 keeps it, and each sector once */
#ifndef TILEWALK_VIZ_CLI_KERNEL_TRAFFIC_H
#define TILEWALK_VIZ_CLI_KERNEL_TRAFFIC_H

#include "kernels/ptx/ptx.h"

typedef struct {
  uint64_t *keys; /* line and group, +1; 0: free */
  uint8_t *sectors;
  uint64_t n, capacity;
  bool trouble; /* no memory, or more than it may hold: the low ends are not known */
  uint64_t read_low_sectors, written_sectors;
} KernelTraffic;

void kernel_traffic_take(void *traffic, int32_t sm, PtxTraffic kind, uint64_t address, uint32_t sectors);
void kernel_traffic_free(KernelTraffic *traffic);

#endif
