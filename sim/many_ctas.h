/* All CTAs of a launch at once, over an L2 in two partitions: what is left for HBM.
 *
 *     slot 0, 1, 2, ...     each works on one row block; a turn moves each of them one tile of K and V on
 *       |  |  |             (in step; with a skew, slots begin one after another)
 *     side 0     side 1     an SM asks the partition on its own side
 *       L2 <-------> L2     half of the lines of a tile have their home on the other side: the first reader fetches them
 *         \         /       over the fabric and they stay on both sides until they are pushed out
 *             HBM
 *
 * Modelled: LRU over half tiles (the half whose home is near, the half whose home is far), the copies that two partitions
 * hold of what both read, write-back of O (a store fetches nothing), the order of CTAs, CTAs per SM, the walk.
 * Not modelled: associativity and sets (the knee at full capacity is sharper than measured), the coalescer (it changes how
 * many requests reach L2, not what they miss), spills (their room in L2), prefetch, pace: a CTA that waits longer than
 * another falls back, and causal attention sees that most.
 *
 * Which SMs are near which partition is not published; slots alternate between the sides (assumed).
 *
 * Against counters of an H200 (fa2_async, N = 4K to 64K, d = 64 and 128, 1 to 16 heads; nothing fitted, in step), over four
 * recordings, which differ by up to 6 % in a row themselves: bytes read from HBM are off by 0.4 to 0.6 % without a mask and 0.2 to
 * 0.3 % with one (medians); worst 3 to 7 % causal, 8 to 10 % full, and 27 to 35 % in one full case (d = 64, N = 64K, 16 heads), where
 * two heads of 16 MiB pass through 30 MiB and LRU falls off a cliff that hardware rounds off. Fabric: median 4 %. With one
 * partition the worst are 18 and 40 %. tests/test_many_ctas.c holds these figures. */
#ifndef TILEWALK_SIM_MANY_CTAS_H
#define TILEWALK_SIM_MANY_CTAS_H

#include "sim/launch.h"

typedef struct {
  int64_t l2_bytes;      /* all partitions */
  int64_t l2_partitions; /* 1 or 2 */
  int64_t skew_turns;    /* the last slot begins so many turns after the first; 0: in step */
  int64_t max_steps;     /* after so many tile reads, at the next head, the rest is taken to go on as the last half did;
                            0: 6 million */
} ManyCtasConfig;

typedef struct {
  double read_bytes, write_bytes;         /* asked of L2 by the SMs: what crosses the SRAM boundary */
  double own_miss_bytes;                  /* of the reads, not found on the own side */
  double fabric_bytes;                    /* between the partitions, both ways */
  double hbm_read_bytes, hbm_write_bytes; /* written: pushed out; the rest of O is still in L2 when the kernel ends */
  double left_dirty_bytes;                /* that rest */
  double simulated;                       /* the part of the tile reads that was walked; 1: all of them */
} ManyCtas;

/* Looks of the SMs that found their bytes on their own side, with stores as hits, as ncu counts them; 0 to 1. */
double many_ctas_hit_rate(const ManyCtas *result);

/* Runs FlashAttention-2 (schedule fa2, one split) on *plan as launched. Errors: another number of partitions or of splits,
 * a plan with other blocks than the launch, no memory, a single head so long that it would take seconds
 * (STATUS_TOO_LARGE). *result is unchanged on error. */
Status many_ctas_run(ManyCtas *result, const Launch *launch, const Plan *plan, const ManyCtasConfig *config, Error *error);

#endif
