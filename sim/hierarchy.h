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
 * Lines are spread over the two homes evenly (on an H200 by a hash of the address), so half of a
 * granule is at home on each side. A side therefore keeps, of each granule it reads, the half that
 * is at home and a copy of the other. What all SMs read is held twice, and the room for it is one
 * side, not two.
 *
 * Modelled
 * - Replacement: LRU on each side, with a soft edge: a half granule that was followed by D bytes of
 *   other traffic on its side is still there with the part normal((capacity - D) / knee) of its
 *   lines. The edge comes from sets that fill unevenly. An H200's is narrow for one buffer in one piece, over which its hash
 *   is even, and wide for pieces far apart, each of which is even by itself: 30 and 3 MiB then (sim/many_ctas.h).
 *   Within a set an H200 is LRU: what is read again stays as if it had come then, and a copy outlives its home (assets/counters/h200_scan.csv,
 *   families renewed and far; tests/test_scans.c).
 * - A far request that misses its copy looks in the home. If the home has the line, that does not
 *   renew it there; otherwise the home fetches and keeps it. (An H200's does renew it: family far, 4 % less read than here. But a half granule of
 *   which a part has fallen out is one thing here, and would be renewed as a whole for the sake of that part: attention comes out worse.)
 * - Stores: write-validate at home, half of the bytes cross the fabric; the other side's copy is
 *   dropped, and a copy stays on the own side: what is stored takes the same room as what is read (stores
 *   between two readings of a buffer push out as much of it as reads do, assets/counters/h200_scan.csv; and
 *   FlashAttention-1's O, stored and read again by one CTA, crosses the fabric with its stores and never
 *   with its loads). A line that its home does not hold yet moves a little more (HIERARCHY_COLD_STORE). What is
 *   dirty goes to HBM when it falls out.
 *
 * Not modelled: sets, slices, HBM pages, compression, L1, time (pace.h gives accesses their order).
 *
 * All state lies in the caller's memory, flat: memcpy is a bookmark. Bytes are doubles, because
 * parts of granules are. */
#ifndef TILEWALK_SIM_HIERARCHY_H
#define TILEWALK_SIM_HIERARCHY_H

#include "sim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HIERARCHY_SIDES = 2, HIERARCHY_EDGES = 11, HIERARCHY_KINDS = 8 };

/* What the first store of a line moves over the fabric besides its data, as a part of it: 1 to 8 % in the scans that store
 * (assets/counters/h200_scan.csv), nothing the second time. */
#define HIERARCHY_COLD_STORE 0.05

/* As many granules of so many bytes each: the tiles of one tensor. */
typedef struct {
  uint64_t n;
  double bytes;
} HierarchyKind;

/* The granules of kind 0 come first, then those of kind 1, ...; at least one kind is needed. Zero in
 * the other fields means the value for an H200, fitted on its scans
 * (assets/counters/h200_l2_scan.csv): all CTAs in step re-read from L2 98.9 % of a buffer of 28
 * MiB, 25.4 % of one of 32 MiB, nothing of one of 36 MiB. */
typedef struct {
  HierarchyKind kinds[HIERARCHY_KINDS];
  double side_capacity_bytes; /* 31.1 MiB: one buffer in one piece */
  double side_knee_bytes;     /* 1.36 MiB, likewise: one standard deviation of the soft edge; negative: none */
  bool one_partition;         /* an L2 in one piece: no copies, no fabric, twice the capacity */
  bool far_requests_renew;    /* true: a far request renews the line in its home (an H200's does not) */
} HierarchyConfig;

/* Bytes. Laws: hbm_read <= miss; fabric <= read / 2 + write x (1 / 2 + HIERARCHY_COLD_STORE); hbm_read is at least every byte
 * that is read and was not stored before, once. */
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
  uint64_t n_granules;                /* of all kinds */
  double half_bytes[HIERARCHY_KINDS]; /* of a granule of this kind */
  /* Private from here. */
  uint64_t n_nodes;                 /* a side's: a home half and a copy half for each granule */
  double edges[HIERARCHY_EDGES];    /* bytes before each edge */
  double kept[HIERARCHY_EDGES + 2]; /* the part that is still there, zone by zone */
  struct {
    uint32_t first, last_inside[HIERARCHY_EDGES]; /* the last node before each edge */
    double inside_bytes[HIERARCHY_EDGES];
  } sides[HIERARCHY_SIDES];
  uint64_t nodes_offset, state_bytes;
} Hierarchy;

/* Bytes of memory needed (about 50 for each granule); 0 where hierarchy_init would refuse. */
size_t hierarchy_state_bytes(const HierarchyConfig *config);

/* Makes an empty hierarchy. STATUS_BAD_REQUEST where the numbers contradict each other. */
Status hierarchy_init(Hierarchy *hierarchy, const HierarchyConfig *config, Error *error);

/* An SM of `side` reads or stores a whole granule. side < 2, granule < n_granules. */
HierarchyRead hierarchy_read(Hierarchy *hierarchy, uint32_t side, uint64_t granule);
void hierarchy_write(Hierarchy *hierarchy, uint32_t side, uint64_t granule);

/* Empties L2, as profilers do before a kernel: what is dirty goes to HBM. */
void hierarchy_flush(Hierarchy *hierarchy);

/* Bytes of a granule. */
double hierarchy_granule_bytes(const Hierarchy *hierarchy, uint64_t granule);

/* Dirty bytes that are still in L2. */
double hierarchy_dirty_bytes(const Hierarchy *hierarchy);

#endif
