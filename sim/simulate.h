/* One problem, one algorithm, one machine: everything the two-level model says about it, in O(log N) time.
 *
 *   Problem  ->  simulate()  ->  Simulation: tiles, traffic, SRAM budget, storage, FLOPs, intensity
 *
 * All totals come from the schedules' closed forms, so N = 2^31 costs what N = 4096 costs. */
#ifndef TILEWALK_SIM_SIMULATE_H
#define TILEWALK_SIM_SIMULATE_H

#include "sim/l2/chiplets.h"
#include "sim/l2/l2_run.h"
#include "sim/time/makespan.h"
#include "sim/planner.h"

/* What of the machine holds a CTA's tiles. */
typedef enum {
  HELD_NOWHERE = 0,
  HELD_SRAM,      /* all of them in SRAM: the papers' sum */
  HELD_REGISTERS, /* inputs in SRAM; other tiles in fp32, with columns, in registers */
  HELD_TENSOR,    /* those tiles in tensor memory */
  HELD_KERNEL,    /* as the kernel is launched: its own shared memory and registers */
  HELD_COUNT
} Held;

/* Of a program with `ranks`: what crosses the links between n GPUs that run it (sim/ranks.h, ranks_links). */
typedef struct {
  int64_t n;                     /* ranks; 0: the program has none, or they cannot share out such a problem */
  char why[ERROR_MESSAGE_BYTES]; /* they cannot; "": they can, or there are none */
  char link[KEYFILE_TEXT_BYTES];
  Wide sent[TENSORS_MAX], sent_bytes,
      rank_bytes;      /* of all ranks; of one: that it sends, and as much that it receives */
  Wide boundary_bytes; /* across the SRAM boundaries of all ranks */
  double bound_s;      /* of one link alone, at its data sheet's rate */
} RankLinks;

typedef struct {
  const Schedule *schedule;
  Plan plan; /* of packed heads where they are: its shape counts rows (shape_unpacked gives it as asked for) */
  Machine machine;
  LaunchConfig config;   /* as planned (sim/planner.h) */
  const Profile *kernel; /* that is launched so; NULL: none that is described */

  SramBudget sram;
  Held held;
  bool fits;         /* held anywhere */
  int64_t max_block; /* the largest B_r = B_c that is held, whatever the kernel; 0: none */

  LoadsPerBlock loads; /* per head */
  Traffic traffic;     /* summed over batch and heads; tiles per head */
  Wide read_bytes, write_bytes, total_bytes;

  Wide inputs_bytes, outputs_bytes, intermediates_bytes; /* storage in HBM, batch and heads together */
  double intensity_flops_per_byte;

  bool has_launch;   /* simulation_l2 was called and the CTAs can be launched; else *launch means nothing */
  bool has_chiplets; /* several L2s that share nothing: *chiplets says what they hit, and nothing else of L2 is known */
  Chiplets chiplets;
  bool has_l2; /* and it could answer; else *l2 means nothing */
  Launch launch;
  L2Run l2;            /* what the kernel moves besides its schedule is in its reads, writes and fabric */
  Overheads overheads; /* that alone */

  RankLinks links; /* where ranks_links was called */

  bool timed; /* simulation_time was called; else *timing means nothing */
  Timing timing;
} Simulation;

/* Answers *problem for one algorithm. Errors: a shape or tiling that is not possible; totals beyond 128 bits. */
Status simulate(Simulation *simulation, const Problem *problem, const Schedule *schedule, Error *error);

/* What the run keeps in HBM at once: inputs, outputs, intermediates. */
Wide simulation_storage_bytes(const Simulation *simulation);

/* Queries of a head that the mask leaves no key: their rows of O mean nothing. Of a pattern of blocks: not counted. */
int64_t simulation_blind_queries(const Simulation *simulation);

/* Q, K and V that the mask leaves anything of, once over all heads, and O: what any algorithm moves that skips what is
 * masked. A decode with a window reads the keys in it alone. */
double simulation_needed_bytes(const Shape *shape);

/* What the kernels before and after the main one move, each matrix once a line. */
double simulation_others_bytes(const Simulation *simulation);

/* What the first product and the second one cost for a pair of query and key: 2 d + 2 d_v. */
double simulation_pair_flops(const Shape *shape);

/* Exponentials of the run's program where its products cost that many FLOPs. */
double simulation_exps(const Simulation *simulation, double flops);

/* What the run asks of a machine, for sim/machine/timing.h. Each amount is the least that any order of work allows,
 * from cold caches:
 *
 *     HBM   inputs once, as far as the mask leaves anything of them; of outputs, and of intermediates, written and read
 *           as a whole by one kernel after another, what is larger than L2, where the rest may stay. Without L2, all
 *           that crosses the SRAM boundary.
 *     L2    inputs and outputs once.
 *     SRAM  what comes in is written once and read out once; what goes out may leave from registers.
 *     exp   one for each score that is computed (those of rescaling, one a row and tile, are left out).
 *     kernels   one begins when the last has ended, so each is as long as its own longest part. Gaps between launches
 *               are left out: they can be hidden.
 *     busiest SM   where a CTA does a whole head: of n heads on n_sm SMs, one SM has ceil(n / n_sm).
 *
 * Of any tiles, whatever this run's are: bytes count once, and products for visible pairs alone. */
TimeWork simulation_work(const Simulation *simulation, const Gpu *gpu);

/* The same of the run as it is launched, by what is said of it: HBM and L2 as walked, the tiles' products, the CTAs' on
 * their SMs. */
TimeWork simulation_own_work(const Simulation *simulation, const Gpu *gpu);

/* The launch of a run: blocks and splits of its plan; of a kernel that is not described, as much shared memory as its
 * tiles take. */
LaunchConfig simulation_launch(const Simulation *simulation);

/* Runs all CTAs over the L2 of *gpu, launched as problem->launch says, and fills in `launch` and `l2`. Where nothing is
 * said about resources, CTAs per SM follow from the SRAM budget. On one or two partitions, as far as it takes
 * milliseconds: otherwise `has_l2` stays false, which is no error. */
Status simulation_l2(Simulation *simulation, const Problem *problem, const Gpu *gpu, Error *error);

/* Of the bytes that SMs read, the share that HBM did not serve: L2, and the coalescers before it. 0 to 1. Where has_l2;
 * l2_run_hit_rate is another figure, of looks into L2 alone, as ncu counts them. */
double simulation_l2_share(const Simulation *simulation);

/* Written to HBM sooner or later, where has_l2: what falls out of L2, and what is still in it when the kernel ends.
 * Spilled registers do not count: they are written over in L2 for as long as the kernel runs. */
double simulation_hbm_write_bytes(const Simulation *simulation);

/* What HBM moves: as L2 was walked; where it was not, what any L2 leaves for it at least; without L2, all that crosses
 * the SRAM boundary. */
typedef struct {
  double read, written;
} HbmBytes;
HbmBytes simulation_hbm_bytes(const Simulation *simulation);

/* The whole answer: simulate(), and on *gpu also simulation_l2() and simulation_time(). schedule NULL:
 * planner_algorithm. gpu NULL: SRAM and HBM alone. Errors: as those of the three. */
Status simulation_answer(Simulation *simulation, const Problem *problem, const Schedule *schedule, const Gpu *gpu,
                         Error *error);

/* Fills in `timing`, for a run on *gpu; predicted_s where has_l2 and the kernel was timed. */
void simulation_time(Simulation *simulation, const Gpu *gpu);

/* Whether kernels were timed on cards like this one; and what an SM is beside theirs. */
bool simulation_is_timed_card(const Gpu *gpu);
SmSpeed simulation_speed(const Simulation *simulation, const Gpu *gpu);
TimeLaw simulation_law(const Simulation *simulation, const Gpu *gpu);

/* Tiles that are no inputs, as accumulators hold them. */
Wide simulation_accumulator_bytes(const Simulation *simulation);

/* Where tiles of B_r and B_c rows of a completed shape would be held, whatever the kernel. */
Held simulation_held(const Machine *machine, const Schedule *schedule, int64_t B_r, int64_t B_c, const Shape *shape);

/* The block that simulate() takes when none is given. */
int64_t default_block(const Schedule *schedule, const Shape *shape, int64_t sram_bytes);

/* The lower bound on traffic, in bytes over all heads: the larger of every byte of Q, K, V and O once, and
 * pairs x d^2 / M elements a head, with the constant left at 1, over the (query, key) pairs that the mask leaves: what
 * no exact attention algorithm beats in order of magnitude (Dao et al. 2022, Theorem 2 and Proposition 3, for
 * d <= M <= N d without a mask; for every M >= d^2, Saha and Ye 2024). *shape is completed. */
double lower_bound_bytes(const Shape *shape, int64_t sram_bytes);

#endif
