/* The memory behind the SMs of a GPU whose L2 has two sides, at the grain of granules of tiles.
 *
 *       SMs of side 0                      SMs of side 1      an SM asks its own side
 *             |                                  |
 *      [ L2 side 0 ] <----- fabric ------> [ L2 side 1 ]      every line has one home side;
 *      home lines, and                     home lines, and    what comes across is kept
 *      copies of side 1's                  copies of side 0's as a copy
 *             |                                  |
 *            HBM                                HBM           only the home side talks to HBM
 *
 * Half of a granule is at home on each side (on an H200 a hash of the address decides). Of each granule it reads, a
 * side keeps the half at home and a copy of the other: what all SMs read is held twice.
 *
 * Modelled
 * - Sets: each an LRU list of 16 lines. Both halves of a tile lie in one set. In four of five stretches of a tensor a
 *   set has one tile, anywhere in the stretch; in the fifth none. Where a tensor begins is random.
 * - A far request that misses its copy looks in the home, and renews the line there; or the home fetches and keeps it.
 * - A copy outlives its home.
 * - Stores: nothing is fetched; half of the bytes cross the fabric; the other side's copy is dropped. What is dirty
 *   goes to HBM when it falls out.
 * - Lines used all the time (side_resident_bytes) take room, in some sets more than in others (Poisson).
 * - hierarchy_renew: what an SM reads again without a break stays at the front and is not counted.
 * For time there are at most 1,024 sets; smaller parts share the room of one (a unit).
 *
 * Not modelled: lines (parts of a tile come and go as a whole); which address lies in which set; slices, HBM pages,
 * compression, dirty lines written early (an H200 has 2 to 4 MB fewer left at the end), L1, time (clock.h).
 *
 * All state lies in the caller's memory, flat: memcpy is a bookmark. Bytes are doubles, because a granule may be any
 * part of a tile. Sources: h200/sets, h200/replacement, h200/scan, h200/scan-places in assets/counters;
 * tests/model/test_measured.c and test_scans.c hold the model against them. */
#ifndef TILEWALK_SIM_L2_HIERARCHY_H
#define TILEWALK_SIM_L2_HIERARCHY_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An H200's: how many lines a set has; the room of a side, of which each set takes a line at home and a copy for
 * every 3.66 MiB of addresses; and of how many stretches one has nothing for a set [measured:
 * assets/counters/h200/sets/first.csv, tests/model/test_measured.c]. */
enum { HIERARCHY_SET_LINES = 16, HIERARCHY_STRETCHES = 5 };
#define HIERARCHY_SIDE_BYTES (30010 * 1024.0) /* 29.3 MiB */

enum { HIERARCHY_SIDES = 2, HIERARCHY_KINDS = 20, HIERARCHY_TENSORS_MAX = 2, HIERARCHY_TILES_MAX = 16 };

/* What the first store of a line moves over the fabric besides its data, as a part of it, where a profiler has put back
 * what is stored to run the launch again: 1 to 8 % in the scans that store (assets/counters/h200/scan/first.csv),
 * nothing the second time; and nothing in launches counted in one pass (h200/l2-one-pass, test_counters.c). */
#define HIERARCHY_COLD_STORE 0.05

/* Granules of one size: the tiles of one tensor, or of several that are asked for together (K and V),
 * equal parts of a granule in each; of each tensor one tile, or several that follow each other. */
typedef struct {
  uint64_t n;
  double bytes;
  uint32_t n_tensors, n_tiles; /* 0: 1 */
} HierarchyKind;

/* The granules of kind 0 come first, then those of kind 1, ...; at least one kind is needed. Zero in
 * the other fields means an H200's value. */
typedef struct {
  HierarchyKind kinds[HIERARCHY_KINDS];
  double side_capacity_bytes; /* HIERARCHY_SIDE_BYTES */
  double side_ways;           /* HIERARCHY_SET_LINES: how many of the largest parts of granules fit a set; below zero: a
                       side is one set, a sharp LRU */
  double side_resident_bytes; /* of the capacity */
  uint64_t seed;              /* of what is drawn at random */
  bool one_partition;         /* an L2 in one piece: no copies, no fabric, twice the capacity */
  bool is_not_put_back;       /* true: no profiler has put back what is stored (HIERARCHY_COLD_STORE) */
  bool far_renews_nothing; /* true: a far request leaves the line in its home as old as it was (an H200's renews it) */
} HierarchyConfig;

/* Bytes. Laws: hbm_read <= miss; fabric <= read / 2 + write x (1 / 2 + HIERARCHY_COLD_STORE); hbm_read is at least
 * every byte that is read and was not stored before, once. */
typedef struct {
  double read_bytes;   /* asked for */
  double miss_bytes;   /* of those, not on the asking SM's side */
  double fabric_bytes; /* across, both directions: copies fetched and stores to the far home */
  double hbm_read_bytes;
  double write_bytes;     /* stored by SMs */
  double hbm_write_bytes; /* dirty bytes that fell out of L2 so far */
} HierarchyCounts;

/* One read: which parts (0 to 1) had to be waited for. */
typedef struct {
  double home_missing; /* of the half at home: from HBM */
  double copy_missing; /* of the other half: across the fabric */
  double far_missing;  /* of what came across: from HBM first */
} HierarchyRead;

typedef struct {
  HierarchyConfig config; /* resolved */
  HierarchyCounts counts;
  uint64_t n_granules;               /* of all kinds */
  uint32_t n_parts[HIERARCHY_KINDS]; /* of half a granule of this kind: n_tensors x n_tiles */
  double part_bytes[HIERARCHY_KINDS];
  uint32_t n_sets;  /* a side's */
  double set_bytes; /* the room of a set, on average, before what is resident takes its part */
  /* Private from here. */
  double unit_bytes; /* the largest part */
  uint64_t first_granule[HIERARCHY_KINDS + 1], first_node[HIERARCHY_KINDS];
  uint64_t n_nodes;                  /* a side's: a home half and a copy half of each granule, in parts */
  uint64_t n_dirty[HIERARCHY_KINDS]; /* parts, on both sides */
  uint32_t came[HIERARCHY_SIDES];    /* parts that have come to a side so far, and one */
  uint32_t fresh;                    /* what was read when so few had not come yet is near the front of its set still */
  uint64_t sets_offset, order_offset, nodes_offset, state_bytes;
} Hierarchy;

/* Bytes of memory needed (64 for each part of half a granule); 0 where hierarchy_init would refuse. */
size_t hierarchy_state_bytes(const HierarchyConfig *config);

/* Makes an empty hierarchy. STATUS_BAD_REQUEST where the numbers contradict each other. */
Status hierarchy_init(Hierarchy *hierarchy, const HierarchyConfig *config, Error *error);

/* An SM of `side` reads or stores a whole granule. side < 2, granule < n_granules. What is read again while a 256th of
 * its side's room has not come since counts as there, and is not brought to the front (but for sharp LRUs). */
HierarchyRead hierarchy_read(Hierarchy *hierarchy, uint32_t side, uint64_t granule);
void hierarchy_write(Hierarchy *hierarchy, uint32_t side, uint64_t granule);

/* An SM of `side` reads again what it has read and goes on using, so that L2 has it: it comes to the front, and nothing
 * is counted. */
void hierarchy_renew(Hierarchy *hierarchy, uint32_t side, uint64_t granule);

/* Empties L2, as profilers do before a kernel: what is dirty goes to HBM. */
void hierarchy_flush(Hierarchy *hierarchy);

/* In which set of both sides lies a part of a granule, its half at home and its copy: tensor x n_tiles + tile. */
uint32_t hierarchy_set(const Hierarchy *hierarchy, uint64_t granule, uint32_t part);

/* Bytes for which a set of either side has room beside what is resident. set < n_sets. */
double hierarchy_set_room(const Hierarchy *hierarchy, uint32_t set);

/* Of which kind a granule is. */
static inline int hierarchy_kind(const Hierarchy *hierarchy, uint64_t granule) {
  int kind = 0;
  while (granule >= hierarchy->first_granule[kind + 1]) kind++;
  return kind;
}

/* Bytes of a granule. */
static inline double hierarchy_granule_bytes(const Hierarchy *hierarchy, uint64_t granule) {
  return hierarchy->config.kinds[hierarchy_kind(hierarchy, granule)].bytes;
}

/* Dirty bytes that are still in L2. */
double hierarchy_dirty_bytes(const Hierarchy *hierarchy);

#endif
