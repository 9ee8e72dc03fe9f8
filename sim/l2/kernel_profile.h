/* Kernel profiles: how a given kernel cuts a problem into tiles and launches it, as numbers with their sources.
 *
 *     name      = fa2-sm90
 *     algorithm = fa2
 *     order     = query-batch-head          which index runs fastest (sim/l2/launch.h)
 *     rows      = ascending                 row blocks: ascending, descending, longest-first
 *     walk      = reversed                  over K and V: forward, reversed
 *     d64_block_q = 128        # source: ...
 *     d64_block_k = 128        # source: ...
 *     d128_causal_block_k = 64 # source: ...
 *
 * Descriptions live in assets/kernels, one file each, in the form of sim/base/keyfile.h. There is one set of tile keys
 * for each of d = 64, 96, 128, 192 and 256, one for d = 192 with V of 128 (d192_v128_), and one more with "causal_"
 * where a causal mask changes something: a causal key that is left out takes the value of the plain one. A head in
 * between is padded up to the next of these sizes, and refused if the description lacks that one.
 *
 * packs (never, one-query, fill, always) says whether query heads of a KV head are rows of one tile, splits (never,
 * fill, power-of-two, fewest, hopper) whether small grids go to a kernel that splits the keys; that kernel's tile are
 * the split_ keys.
 *
 * `launch` has the lines of a launch (sim/algorithms/LANGUAGE.md), apart by semicolons, of the first kernel of the
 * algorithm: "stages 2 of K_j, V_j; consumers 2 of i; registers S, P, O_i, m_i, l_i". Where `shared` is left out, it
 * follows: the places that remain in SRAM, of two bytes an element.
 *
 * A kernel of one's own takes three lines, or one; these hold for every d:
 *
 *     tile    = 128 x 64       # B_r x B_c: all that is needed
 *     threads = 128
 *     shared  = 64 KiB
 *
 * and registers, ctas_per_sm, walk, order, rows, persistent where they matter. The name is then the file's, the
 * algorithm fa2, the order query-head-batch. Numbers need a source in the files of assets/kernels only.
 *
 * Loads go past L1 in every kernel described here (a kernel whose loads hit in L1 would move fewer bytes than is
 * predicted).
 *
 * 0 means "not known"; a model that needs the number leaves its part out or says so. */
#ifndef TILEWALK_SIM_L2_KERNEL_PROFILE_H
#define TILEWALK_SIM_L2_KERNEL_PROFILE_H

#include "sim/l2/launch.h"
#include "sim/algorithms/schedule.h"

enum {
  PROFILE_D_COUNT = 5,
  PROFILE_MLA = PROFILE_D_COUNT, /* the tile of d = 192 with V of 128: multi-head latent attention before its keys are
                                    expanded into a cache */
  PROFILE_TILES,
  PROFILE_FIELD_COUNT = 62 + 86 * PROFILE_TILES
};

extern const int64_t PROFILE_D[PROFILE_D_COUNT]; /* 64, 96, 128, 192, 256 */

typedef struct {
  int64_t block_q, block_k;                         /* B_r, B_c; 0: the kernel has no tile for this d */
  int64_t threads;                                  /* of a CTA */
  int64_t registers_per_thread;                     /* as launched */
  int64_t shared_bytes;                             /* of a CTA */
  int64_t ctas_per_sm;                              /* where the kernel limits them itself */
  char spill_text[BUILD_COUNT][KEYFILE_TEXT_BYTES]; /* as written: "4096 t + 67584; 1: 8704; reload 1350" */
  Spills spills[BUILD_COUNT];                       /* registers spilled (sim/l2/launch.h) */
  int64_t split_spill_tile_bytes; /* the same of the kernel that splits the keys: without a mask, where a CTA has
                                     several tiles */
  /* Of the peak rate of products that a CTA reaches that has an SM to itself (sim/l2/launch.h). */
  int64_t alone_permille;
  int64_t ahead_percent;            /* of a step, before which it asks for what it needs then (sim/l2/launch.h) */
  int64_t slot_spread_permille;     /* how unevenly the CTAs of an SM share it (sim/l2/launch.h) */
  int64_t start_cycles;             /* that its first arithmetic takes longer (sim/l2/launch.h) */
  int64_t step_spread_cycles;       /* by which a step of it varies by itself where SMs are full (sim/l2/launch.h) */
  int64_t busy_spread_cycles;       /* by which it varies besides where all SMs are at work (sim/l2/launch.h) */
  int64_t split_step_spread_cycles; /* the same of the kernel that splits the keys */
  int64_t group_heads;              /* whose row blocks are taken in turn (sim/l2/launch.h) */
  int64_t split_block_q, split_block_k, split_threads, split_registers,
      split_shared_bytes;      /* and its tile, as above; 0: it has none for this d */
  int64_t split_time_start_ns; /* of each of the two kernels, splitting and combining, */
  int64_t split_time_part_ns;  /* what combining takes for each part besides, */
  int64_t split_time_tile_ns;  /* and a tile */
  TimeLaw law;                 /* what the keys time_ say (sim/machine/timing.h) */
  int64_t clocks_permille;     /* how far it sets GPCs' clocks apart (sim/l2/launch.h) */
} ProfileTile;

typedef struct {
  char note[KEYFILE_TEXT_BYTES];    /* what the description leaves out; "" when not given */
  char name[KEYFILE_TEXT_BYTES];    /* what --kernel takes: letters, digits, '-', '_', '.' */
  char product[KEYFILE_TEXT_BYTES]; /* the full name, for people */
  char algorithm[KEYFILE_TEXT_BYTES], launch_text[KEYFILE_TEXT_BYTES]; /* as written; read below */
  char runs_on[KEYFILE_TEXT_BYTES]; /* a compute capability; "8.0+": from that one on; "": not known */
  char dtypes[KEYFILE_TEXT_BYTES];  /* of which there are builds, apart by commas; "": not known */
  char beside[KEYFILE_TEXT_BYTES];  /* the kernel that runs standard attention in the same library; "": not known */

  const Schedule *schedule; /* of `algorithm` */
  ProgramLaunch launch;     /* how its CTAs go about the algorithm's lines, of its first kernel */
  LaunchOrder order;
  LaunchRows rows;
  LaunchWalk walk;
  bool persistent;        /* CTAs pull pieces of work until none is left */
  bool waits;             /* asks for a tile of K and V when it needs it, and not while it works on the one before */
  int64_t round_bytes;    /* then: so much at once; 0: a tile */
  int64_t latency_cycles; /* that a tile takes such a CTA besides (sim/l2/launch.h) */
  bool steady; /* the older of an SM's CTAs gets ahead with every step; else by slip_percent of a tile at once
                  (sim/l2/launch.h) */
  int64_t slip_percent;
  bool reloads_q;            /* reads its block of Q again for every tile of K and V */
  bool clips_k;              /* leaves out the columns of a tile that the mask hides from the whole row block */
  Packing packing;           /* of the query heads of a KV head (sim/l2/launch.h) */
  Splitting splitting;       /* of the keys of small grids, by another kernel of the same library */
  int64_t split_ctas_per_sm; /* CTAs on an SM that the rule aims at */
  bool reads_tables;         /* of blocks (sim/l2/launch.h) */
  bool takes_blocks;         /* masks of blocks, sinks, prefixes */
  bool lse;                  /* writes the log-sum-exp of every row */
  int64_t percent_of_peak;   /* of the products' peak rate that it reaches; 0: not known */
  TimeError time_errors[REGIME_COUNT]; /* how far off its time is (sim/machine/timing.h) */
  int64_t pull_bytes;                  /* read and written to pull a piece of work; 0: none */

  char tile_text[KEYFILE_TEXT_BYTES];  /* "128 x 64": for every d that has no tile of its own */
  ProfileTile every;                   /* the same, read */
  ProfileTile tiles[PROFILE_TILES][2]; /* [..][1]: causal */
  KeyfileNote notes[PROFILE_FIELD_COUNT];
} Profile;

/* All that come with Tilewalk; returns how many. */
enum { PROFILES_MAX = 32 };
typedef int ProfileList(const Profile *all[PROFILES_MAX]);

/* Reads a description; display_name is what messages call the file. *profile is unchanged on error. Checks what must
 * agree (a tile has both sides, an algorithm exists, ...) with the line in the message. */
Status profile_parse(const char *buffer, size_t length, const char *display_name, Profile *profile, Error *error);

/* The table of fields, and where the value of a key comes from (the key must exist). */
const KeyfileField *profile_fields(int *n_fields);
const KeyfileNote *profile_note(const Profile *profile, const char *key);

/* The tile for heads of which V is as wide as K; NULL: none is described. */
const ProfileTile *profile_tile(const Profile *profile, int64_t d, bool causal);

/* Whether it has a tile for such heads. *shape need not be completed. */
bool profile_has_tile(const Profile *profile, const Shape *shape);

/* How the kernel is launched for a shape, to be overridden member by member and given to launch_make.
 * STATUS_BAD_REQUEST when it has no tile for this d. */
Status profile_config(const Profile *profile, const Shape *shape, LaunchConfig *config, Error *error);

/* Into how many parts the kernel splits the keys of a completed shape on a machine of n_SM multiprocessors; 1: none, or
 * its split kernel is not described. */
int64_t profile_splits(const Profile *profile, const Shape *shape, int64_t n_SM);

/* Turns the launch of profile_config into that of the split kernel; n_splits > 1. Without a description of it only
 * what cannot hold for it is dropped. */
void profile_become_split(const Profile *profile, const Shape *shape, int64_t n_splits, LaunchConfig *config);

#endif
