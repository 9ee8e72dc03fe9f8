/* All CTAs of a launch at once, over an L2 in two partitions: what is left for HBM.
 *
 *     slot 0, 1, 2, ...     each works on one piece at a time: a stream of tile accesses (sim/algorithms/stream.h); it
 * takes the next piece |  |  |             when it is done coalescers            up to four requests of a GPC's SMs for
 * one tile become one (sim/l2/clock.h) |  |  | side 0     side 1     an SM asks the partition on its own side
 * (sim/l2/hierarchy.h) L2 <-------> L2     half of the lines of a tile have their home on the other side: the first
 * reader fetches them \         /       over the fabric and they stay on both sides until they are pushed out HBM
 *
 * Modelled: what stream.h, clock.h, placement.h and hierarchy.h model, together: the order of CTAs and where they run,
 * the walk, what each step waits for and works, two partitions and their copies, write-back, kernels one after another
 * on the same L2. Not modelled: L1, spills of each tile (sim/l2/overheads.h adds them), clusters, slices of L2, the
 * code of the kernel (about 45 KB of reads from HBM in each launch).
 *
 * Numbers, and where they are from (none fitted to our own kernels' counters; where counters were in sight is said):
 *     29.3 MiB, 16 lines, which set  what a side of L2 has room for and what fills which set (hierarchy.h): which lines
 * of 2^24 share a set on an H200, and how many of them stay (h200/sets, h200/replacement,
 * tests/model/test_l2_sets.c): 559 pairs in every set that was probed. Nothing of it was fitted, and it says what scans
 * read at the mean of eight places to 3.1 % (root mean square of 44: one piece of 26 to 32 MiB 1.3 % at worst, two to
 * eight pieces 5.7, rows of CTAs that drift apart 8.7: h200/scan-places, tests/model/test_scan_places.c), those of
 * one place to 5.3 %, most of which is where its pieces happened to lie (tests/bench/bench_scan_fit.c). With 1 % more
 * room FlashAttention-2 would read 6 % less under a mask with d = 128 Q read again                   is renewed in L2
 * with each step (hierarchy.h), and K and V then lie in parts no larger than its own: nothing fitted. As resident
 * lines, in places at random, it made mem-efficient-sm90 move 23 % too much at 64K under a mask, with the times at
 * which its row blocks end as recorded too; like this 3 % too much with these, walked finely parts of row blocks of Q
 * and O are no larger than a tile of K: as the parts of K and V, which come and go by themselves four parts of a tile
 * of 16 KiB that come and go by themselves, so that a CTA waits for what is missing of a tile that is nearly there: by
 *                                    triangular scans (tests/support/scan_predicted.c). Attention is walked with whole
 * tiles, for time: with parts of 4 KiB no kernel's errors change by more than chance 525, 160, 625, 200 cycles      of
 * waiting: scans of one buffer, h200/l2-scan (clock.h) 0.45 %, 16 % of a wait         how far CTAs differ for good
 * and requests from each other: the same (clock.h) 0.02 %, 15, 20 or 55 cycles    how far CTAs differ in their
 * arithmetic for good, and a step from the next: clocks of CTAs (h200/pace, tests/model/test_tile_cycles.c), and of
 * those that wait, h200/steps 95 cycles                      by which one side has what it asked for first after
 * the other: h200/steps start_cycles                   by how much the code of its first tile sets the CTAs of a
 * kernel apart: when they ask for tiles, h200/steps (tests/model/test_steps.c; clock.h). That it is exponential:
 * with such counters in sight. By those clocks it is no chance, but for each TPC of a GPC the same from launch to
 * launch (of nine the last three come first, of every three the third last); put in so, the errors were as large, with
 * ten numbers more Of other people's kernels: by what reaches L2 in launches of up to 2K tokens
 * (tests/model/test_short_launches.c). Of cudnn-sm90 under a mask with d = 64 these alone say anything from 45 to 90,
 * of fa2-sm90 (two shapes with each d) that more is nearer: there it was chosen with launches of up to 16K tokens in
 * sight. Of cudnn-sm90 without a mask: by launches of 1 to 132 row blocks against 4K keys (h200/others-rows), in
 * which a GPC gets one CTA after the other step_spread_cycles             by how much a step of a kernel varies by
 * itself on a full SM, where it is not 15, 20 or 55: by such launches too; of the kernel to which FlashAttention-2
 * gives split keys, by launches of 4K and 8K tokens: in shorter ones a split has one tile busy_spread_cycles by how
 * much a step of cudnn-sm90 varies besides where all SMs are at work, in proportion where fewer are: 27 cycles with d =
 * 128, 15 with 64 and no mask: by the same launches. (By clocks fa2_async's d = 128 does so too: 18 cycles with 32
 * CTAs, 26 with 64, 27 to 32 with 128, h200/steps; its d = 64 does not, and its hit rates are within a point
 * without.) With it what reaches L2 of launches of 4K to 16K tokens is within 4 and 5 % (rms; without, 10 and 7)
 *     ahead_percent                  of a step, before which what it needs is asked for: fa2-sm90 has room for one tile
 * of K and one of V, and asks for V before the product of Q and K (its source), so as long ahead as that takes: by what
 * a step takes with twice the keys and half of d. Who is the first to ask for what comes from HBM then falls back to
 * those behind, where CTAs have their SMs to themselves 720 cycles, half a step, 1 in 5  how CTAs of an SM that ask
 * ahead follow each other, get apart by whole tiles, and miss a turn as they are replaced; 1100 cycles until they are:
 * clocks of CTAs, h200/ends, h200/pace (clock.h; tests/model/test_slot_spread.c) 0.39 % GPCs' clocks, where
 * every SM has one CTA; in proportion where fewer SMs have one: h200/steps; where SMs have more, 0.25 % and less as
 * they settle: h200/others-places; in which order, h200/clocks (placement.h) 69, 22, 27, 48 ns              by
 * which CTAs come to the counter that they pull their work from: how far apart the sides, the GPCs of a side and the
 *                                    TPCs of a GPC start, h200/waves (tests/model/test_waves.c), and how much
 * longer an atomic takes to the other side, h200/placement. So heads of cudnn-sm90 with few row blocks are often
 * read by one side alone clocks_permille                how far a kernel that takes all the power there is sets them
 * apart: h200/others-places and the like, as h200/gpcs has them (placement.h) 5 % of what is stored crosses
 * between the sides besides, where a profiler has put it back to run the launch again: scans that store (hierarchy.h);
 *                                    and nothing where a launch is counted in one pass: then our kernels' fabric is as
 * predicted to 0.5 % (tests/model/test_one_pass.c) 4 requests, 70 cycles          of a GPC's coalescer:
 * h200/coalescer (clock.h) round                          how much of a tile a kernel that waits asks for at once:
 * its source slot_spread_permille           how unevenly the CTAs of an SM share it, by kernel: clocks of CTAs, and
 * when they store their row blocks (h200/ends, h200/stores). The older one is ahead, by half a tile's
 * arithmetic at once, where the SM is full: pairs of fa2_tensor, of which an SM takes three, go in step
 * (h200/steps-shared) 0.7 and 3 %                    of those that wait: what one takes of its SM that waits, as
 * part of what one takes that works, by how long launches take in which SMs have one, two or three
 * (h200/steps-shared; within 2.4 % rms, a seventh less with 0); and how much work varies for each other CTA that is
 * not in step, by the same clocks (2 to 5 %) and with our own counters in sight: with 2 to 4 % all our own hit rates
 * are within a point (clock.h; tests/model/test_steps_shared.c) latency_cycles                 what a tile takes such a
 * CTA besides, by when it asks for tiles, alone and with another in step: the same steady                         with
 * mem-efficient-sm90 the older is ahead with every step, not now and then: when it stores its row blocks, over fifteen
 *                                    waves (h200/stores, tests/model/test_slot_spread.c)
 *     where CTAs run                 which SM, on which side, and the clocks of GPCs in launches of many waves; a
 * launch begins with any GPC, but under a profiler some always with the first (placement.h, tests/model/test_waves.c)
 *     arithmetic                     FLOPs and exponentials at the rates of the GPU's description, products at the part
 * of them that the kernel is known to reach (percent_of_peak of its profile; else half, assumed). How long a tile then
 * takes one, two and three CTAs of fa2_tensor on an SM: within 6 % (tests/model/test_tile_cycles.c). What one takes
 * that has an SM to itself (alone_permille): clocks of CTAs, h200/steps; of fa2-sm90 how much longer launches take
 * Other GPUs have its numbers in proportion to their L2 (room for all of it, assumed), and but for an H100 SXM sides by
 * turns (assumed). On an H100, with 25 MiB a side (h100/sets, tests/model/test_l2_sets.c) and its own rates, scans
 * come out as well as on an H200 (h100/scan-places), and the shapes of h100/fresh and h100/later: HBM 0.4 %
 * in the median, 5.7 % at worst.
 *
 * The mechanism: little holds the CTAs of attention together. They have their first tile together; the code of its
 * arithmetic, which has yet to come, and GPCs' clocks set them apart; then each tile takes each of them a little more
 * or less time (on an H200 fa2_async takes 60 to 120 cycles of 3500 less for a tile in which no row has a new maximum,
 * so that O is not rescaled). So they drift apart, while those of one wave still walk the same K and V. What L2 must
 * hold at once is what lies between the first and the last of them. Where two heads of 16 MiB pass through 30 MiB, a
 * model in step falls off LRU's cliff (33 % too many bytes) and hardware does not. What does hold them together is a
 * coalescer: who joins a request has its data with it. A kernel that asks for a tile only when it needs it (`waits`,
 * sim/l2/launch.h) stays together that way, round by round, as long as its CTAs have their SMs to themselves; one that
 * asks ahead hides its waiting, and what it gains with it. Where CTAs that wait share an SM, one works faster while
 * another waits (clock.h: shared_work). As long as they ask together they go in step, a whole machine of pairs at a
 * time; but once some find what others still wait for (others of their head are alone on an SM, or began before), the
 * CTAs of an SM come out of step, their tiles take longer or shorter, and SMs part. Those that ask ahead go in step on
 * their SM, and what varies does so for both. But an SM serves the older first, in some kernels of either kind: it gets
 * ahead, by a whole tile at once, which comes sooner on one SM than on another and sets SMs apart, or steadily. A CTA
 * that takes another's place is the youngest, so two of an SM end half a row block apart, and stay (recorded over 30
 * waves): half of the CTAs are then in the middle of their rows while the others begin.
 *
 * Launches differ from one time to the next by more than the model errs, so they are walked up to 256 times, as many as
 * there is time for, those of several heads twice at least, each time from another GPC, on all cores, and the mean is
 * given.
 *
 * Against an H200's counters of fa2_async, N = 4K to 64K, d = 64 and 128, 1 to 16 heads, 30 rows full and 30 causal,
 * the mean of 33 launches on eight cards up to 8K, of eleven beyond (tests/model/test_l2_counters.c computes and holds
 * it; TILEWALK_TABLE=2 prints all); median, worst:
 *
 *                        HBM read         fabric           sectors reaching L2   hit rate (points)
 *     full             0.4 %,  2.8 %    0.8 %,  4.6 %         2 %,  9 %            0.1,  0.6
 *     causal           0.2 %,  2.8 %    0.7 %,  2.3 %         1 %,  9 %            0.1,  1.1
 *
 *     left out, full / causal           worst HBM read    median of sectors
 *     time (all in step)                 33.7 / 3.2 %        67 / 64 %
 *     differences of speed               33.7 / 3.3 %        67 / 32 %
 *     the second partition               37   / 16  %         2 /  1 %
 *     the measured placement              2.8 / 3.7 %         3 /  1 %     (fabric: worst 18 / 29 %; hit rate: 7 / 6
 * points) that a side is many sets            6.1 / 2.8 %         2 /  1 % that far requests renew             2.8
 * / 2.8 %         2 /  1 % the coalescer                       2.8 / 2.8 %        33 / 24 %
 *
 * fa2_tensor, 12 rows each: HBM 0.8 %, 2.1 % and 0.3 %, 1.6 %; fabric 0.9 %, 2.2 % and 0.3 %, 1.8 %; hit rate 0.1 and
 * 0.2 points, 0.4 at worst.
 *
 * Cards differ: most H200 are laid out as PLACEMENT_H200 says, some in three other ways (placement.h). On one of those
 * (h200/l2/other.csv), not told, the model errs by 1.4 and 1.8 % on the fabric under a mask (median, both kernels),
 * told by 0.7 and 0.6 %. Other shapes, seven or nine times on the usual layout; full, causal, both 20 rows of
 * fa2_async: N = 6K to 48K, 2 and 8 heads, 8 heads on 2 of K and V (h200/fresh): HBM 0.3 %, 4.7 % and 0.2 %, 0.9 %;
 * fabric 0.7 %, 3.6 % and 0.5 %, 3.0 %; hit rate 0.1 points, 0.5 and 0.8. N = 5K to 40K, 3 and 6 heads, 12 on 3
 * (h200/later): HBM 0.4 %, 5.2 % and 0.2 %, 0.8 %; fabric 1.0 %, 4.2 % and 0.6 %, 1.7 %; hit rate 0.1 points, 0.3
 * and 0.9. Two and six times, and once, on other layouts, told (h200/fresh/other.csv, _third.csv, h200/later/other.csv,
 * _third.csv): HBM 5.7 % at worst, hit rate 1.9. The long ones of all three again, with Q, K, V and O at six places
 * each (h200/l2-places): of the means of 198 shapes over all of these, HBM is off by 4.5 % at worst, fabric by 3.7,
 * hit rate by 0.97 points (crosscheck, README).
 *
 * Other streams (assets/counters/h200/kernels/first.csv, N = 1K to 4K, 1 to 4 heads; code taken off): fa1, 15 runs,
 * fabric within 3.2 %, HBM median 1.9 %, worst 20 % (0.1 MB of 0.5); standard_tiled, 8 runs, L2 emptied between its
 * kernels as the profiler does: HBM median 2 %, worst 5 %, fabric median 5 %, worst 11 % (one head of 1K tokens: its
 * kernels are small launches).
 *
 * The worst rows. Hit rate: launches of 32 to 128 CTAs. They do not get far from each other, so some hundred cycles
 * decide which requests are merged, and launches differ in them: fa2_async at 4K, d = 128, one head, causal, has hit
 * rates of 72 to 80 % on eight cards, 1.7 points more in the mean where launches are shuffled than where short ones
 * follow each other. The mean of 72 to 146 walks varies by 0.1 to 0.2 points with other numbers drawn. Of twenty draws
 * one of those that come nearest to the mean of all, of 424 shapes, is the usual one; of the means of 198 shapes of our
 * own it has none off by more than a point or 5 % of the fabric, nine of the others have one (by 1.2 points at most),
 * two (5.6 %). Fabric: K and V of a head come across to both sides, but for what one side alone reads: under a mask the
 * last tiles, which few rows read, that are next to each other in launch order; and what is read twice, by the first
 * CTAs of a head, which run on what the head before leaves free last. Which sides those are on hangs on the GPC with
 * which a launch begins (told that, the model is 1.2 % off under a mask, 0.2 % in launches of one wave:
 * tests/model/test_waves.c), and on clocks that differ from launch to launch (fa2_async at 64K, d = 128, 4 heads: 388
 * to 422 MB; 17 MB are half of a head's K and V). HBM: what just about fits depends on the pages that it has
 * (fa2_tensor at 16K, d = 128, 4 heads: 54 to 57 MB). Where every SM has two or three CTAs of fa2_tensor, and no mask,
 * they go in step more strictly than here (N = 4224, 4 heads, pairs: 0.28 of their requests are left, here 0.4).
 * Sectors: fa2_tensor from 20K on, up to half too many: tiles are merged into larger steps there.
 *
 * What fills L2 to the brim: kernels that run short rows first under a mask, more so if they use some lines all the
 * time, such as spilled registers or a Q that is read for every tile. What rows far apart leave fills the sets of L2
 * unevenly, and those that are full lose what all others keep. How much that is hangs on where K and V lie: with Q, K
 * and V at six places on one card, mem-efficient-sm90 reads 294 to 468 MB (4 heads of 64K, d = 128, causal), and one
 * CTA that reads what triangular rows do, in their order (scans `turns`), 133 to 281 MB at eight places. And it hangs
 * on the card: on which side its SMs are, and how fast its GPCs. So the model gives the mean of such places and cards.
 * Of 108 shapes of fa2-sm90, mem-efficient-sm90 and cudnn-sm90 with N from 16K on, the mean of 24 launches on four
 * cards, of cudnn-sm90 42 on seven, told which side SMs are on (h200/others-places, h200/cudnn-places,
 * tests/model/test_places.c; the worst has d = 128, but for fa2-sm90's without a mask). All that are more than 5 % off
 * are of the two that run short rows first, under a mask, and too high; beyond 10 % are two of fa2-sm90's, which spills
 * registers. That is the profiler's doing: those launches were run again for every few counters, and what ncu puts back
 * in between is no matter of chance. The GPC with which a launch begins decides here alone whether fa2-sm90 reads 181
 * or 231 MB (32K, 4 heads). Recorded in one pass each, in another order each time, begun with any GPC and with spilled
 * registers elsewhere now and then (h200/others-turns, h200/others-one-pass: cards differ by a percent or two
 * then), these shapes read 219 MB instead of 187; with 64K keys 2.73 GB instead of 2.49. One is then beyond 10 %
 * (10.1); what is left has one sign. It is not that row blocks end at other times: they end when they do here, within
 * 0.4 % of a launch in most heads, and as far from their neighbours (h200/stores-causal,
 * tests/model/test_row_ends.c); nor that spilled registers take less room than is thought: they take what stores to
 * global memory do (h200/spills, tests/model/test_spills.c). Median and worst of 18 shapes each:
 *
 *                            full                     causal                     in one pass: full     causal
 *     fa2-sm90                 0.4 %,  2.0 %            1.0 %, 15.1 %              0.4 %, 2.5 %          1.2 %, 10.1 %:
 * 64K, 16 heads mem-efficient-sm90       0.8 %,  3.3 %            0.2 %,  5.5 %              1.0 %, 4.0 %          0.3
 * %,  7.3 % cudnn-sm90               0.4 %,  2.7 %            0.1 %,  1.6 %              0.7 %, 4.6 %          0.1
 * %,  3.1 %
 *
 * The mean of six places on one card is missed by more than 10 % in 8 of 432 (18 % at worst, of fa2-sm90 under a mask),
 * single recordings by up to 33 %. Tensors at distances of powers of two from each other, as those of h200/others,
 * are among the unlucky: of fa2-sm90 with 16 heads of 32K, d = 128, causal, two of three recordings there have 1594 MB
 * and more, all twenty-four elsewhere 1177 to 1449. What cudnn-sm90 reads at 64K with d = 128 and 16 heads, full, hangs
 * on the clocks of GPCs: 2.7 to 3.6 GB on ten cards, 3.1 with the mean clocks of four. Told its own (h200/gpcs),
 * the one that reads most comes out at 3.52 GB of 3.59, and all its 18 shapes with d = 128 within 5.0 %. And walks are
 * coarse: a head takes at most 75,000 steps, of sixteen heads half as many each, so tiles are merged where there are
 * more; of a merged granule four parts lie in sets of their own, two beyond 64K keys; where Q is read again, up to
 * sixteen, and four.
 */
#ifndef TILEWALK_SIM_L2_RUN_H
#define TILEWALK_SIM_L2_RUN_H

#include "sim/l2/launch.h"
#include "sim/l2/placement.h"
#include "sim/l2/refinements.h"
#include "sim/algorithms/schedule.h"

/* Zero means what l2_run_config does not know, or the usual. */
typedef struct {
  int64_t l2_bytes;      /* all partitions */
  int64_t l2_partitions; /* 1 or 2 */
  double resident_bytes; /* of l2_bytes, what the CTAs at work use all the time besides (sim/l2/overheads.h): no room
                            for anything else */

  bool in_step;                           /* every slot moves one tile a turn; else each at its own pace, in time */
  int64_t skew_turns;                     /* in step: the last slot begins so many turns after the first */
  double flops_per_cycle, exps_per_cycle; /* of one SM */
  double l2_bytes_per_cycle, hbm_bytes_per_cycle; /* of the whole machine */

  double side_capacity_bytes; /* 0: half of l2_bytes */
  double side_ways;           /* as sim/l2/hierarchy.h has it */
  bool profiled; /* as ncu --cache-control all runs it, again and again for a few counters each time: L2 is emptied
                    between kernels, and a launch of one wave that writes no more than about 4 MiB begins with the first
                    GPC */
  bool once;     /* then, in one pass, for as many counters as that gives: it begins with any GPC, and nothing that it
                    stores has been put back */
  const Placement *placement; /* of 132 SMs; NULL: PLACEMENT_H200 */
  uint32_t
      first_gpc; /* one more than the GPC that has its turn first (placement.h); 0: not known, in each walk another */
  double *row_end_cycles; /* of fa2: room for about when each row block asks for its last tile, head by head, in the
                             first walk; NULL: not told */
  Refinements without;    /* left out */
  int64_t
      max_steps; /* after about so many steps, at the next head, the rest is taken to go on as the last half did;
                    0: 75,000 for each head, two fifths of that where its K and V are more than 1.5 times L2; of up to
                    16 heads half as many for each, of more, or with more than 64K keys, four times as many together */
  uint64_t seed; /* of what is drawn at random; 0: the usual draw, which comes near the mean of many */
} L2RunConfig;

/* Doubles alone: sim/l2/l2_run.c adds them up one by one. */
typedef struct {
  double read_bytes, write_bytes;         /* asked for by the SMs: what crosses the SRAM boundary */
  double l2_read_bytes;                   /* of the reads, what reaches L2 past the coalescers */
  double own_miss_bytes;                  /* of that, not found on the own side */
  double fabric_bytes;                    /* between the partitions, both ways */
  double hbm_read_bytes, hbm_write_bytes; /* written: pushed out by the end of the last kernel */
  double left_dirty_bytes;                /* stored and still in L2 then: written sooner or later */
  double cycles;                          /* of the SMs' clock; turns, in step */
  double kernels;                         /* launched one after another */
  double simulated;                       /* the part of the steps that was walked; 1: all of them */
} L2Run;

/* What a GPU's description says, for operands of the type. */
L2RunConfig l2_run_config(const Gpu *gpu, Dtype dtype);

/* Looks of the SMs that found their bytes on their own side, with stores as hits, as ncu counts them; 0 to 1. */
double l2_run_hit_rate(const L2Run *result);

/* Runs *schedule on *plan as launched. Errors: another number of partitions, a plan with other blocks than the launch,
 * no memory, a problem that would take seconds (STATUS_TOO_LARGE). *result is unchanged on error. */
Status l2_run(L2Run *result, const Schedule *schedule, const Launch *launch, const Plan *plan,
              const L2RunConfig *config, Error *error);

#endif
