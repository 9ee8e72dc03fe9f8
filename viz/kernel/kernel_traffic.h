/* What leaves the L1s of a launch, gathered from the machine's sink, and what L2 makes of it.
 *
 *     SM 0   a b c d ...      The machine runs one SM after another. Here each SM in turn gives its next request, so
 *     SM 1   a e f g ...      that all advance together (assumed: the same number of requests in the same time).
 *     ...        |
 *     coalescer of each GPC: up to four requests of a turn for the same sectors reach L2 as one
 *     L2: two sides of lines and sectors (sim/l2/line_l2.h)
 *     HBM */
#ifndef TILEWALK_VIZ_KERNEL_KERNEL_TRAFFIC_H
#define TILEWALK_VIZ_KERNEL_KERNEL_TRAFFIC_H

#include "kernels/ptx/ptx.h"
#include "sim/l2/line_l2.h"
#include "sim/l2/placement.h"

typedef struct {
  uint64_t *entries;
  uint32_t n, capacity, next;
} SmStream;

typedef struct {
  LineL2 *l2;
  Place *places; /* of each SM */
  SmStream *streams;
  uint32_t n_sm, n_gpcs;
  uint64_t n_entries;
  bool in_parts; /* more requests than are kept at once: SMs advance together within parts only */
  void *pending; /* the coalescers' */
  uint64_t turn;
  void *requests; /* by line and GPC: how many reads of each sector */
  uint64_t n_requests, requests_capacity;
  bool trouble; /* no memory */
  /* Results, after kernel_traffic_finish. */
  uint64_t read_least_sectors; /* if four requests of a GPC always met */
  uint64_t read_sectors, read_most_sectors;
  LineL2Counts counts;
} KernelTraffic;

/* Of a launch of n_blocks: fewer than SMs are spread over the GPCs. STATUS_BAD_REQUEST where the GPU's L2 is not
 * known. Free it in either case. */
Status kernel_traffic_new(KernelTraffic *traffic, const Gpu *gpu, uint64_t n_blocks, Error *error);
void kernel_traffic_take(void *traffic, int32_t sm, PtxTraffic kind, uint64_t address, uint32_t words);
void kernel_traffic_finish(KernelTraffic *traffic);
void kernel_traffic_free(KernelTraffic *traffic);

/* The bytes that any launch reads from HBM besides its data: its code, 16 bytes an instruction, and some sectors. */
uint64_t kernel_launch_bytes(int n_instructions);

#endif
