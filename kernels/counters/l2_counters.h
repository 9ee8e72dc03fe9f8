/* What the hardware counters of an NVIDIA GPU would say of a run: the L2 of l2_run.h under the names of ncu, for
 * comparisons.
 *
 *     hbm_read_bytes     dram__bytes_read.sum
 *     fabric_bytes       lts__t_sectors_srcunit_ltcfabric.sum x 32
 *     l2_read_bytes      lts__t_sectors_srcunit_tex_op_read.sum x 32: past the coalescers
 *     l2_write_bytes     lts__t_sectors_srcunit_tex_op_write.sum x 32
 *     hit_rate           lts__t_sectors_srcunit_tex_lookup_hit.sum over hits and misses
 *
 * The fabric moves something in each launch besides (l2_fabric_launch, l2_fabric_sm of the GPU's description): of
 * `standard` in three, of fa2-split in two. With caches flushed before each kernel (ncu --cache-control all):
 * `standard` and fa2-split then read from HBM what goes between their kernels. */
#ifndef TILEWALK_KERNELS_COUNTERS_L2_COUNTERS_H
#define TILEWALK_KERNELS_COUNTERS_L2_COUNTERS_H

#include "sim/simulate.h"

typedef struct {
  double hbm_read_bytes, fabric_bytes, l2_read_bytes, l2_write_bytes, hit_rate;
  double simulated; /* the part of the steps that was walked */
} L2Counters;

/* Of a run for which simulation_l2 had an answer (has_l2), on that GPU. */
L2Counters l2_counters_of(const Simulation *run, const Gpu *gpu);

#endif
