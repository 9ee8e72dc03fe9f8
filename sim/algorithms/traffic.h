/* Traffic: the fold that counts. Bytes per tensor across the SRAM boundary, tiles, FLOPs.
 *
 * Two independent ways lead here: adding up events one by one, and each schedule's closed form. The tests
 * hold them equal on thousands of random shapes; front ends use the closed form, which costs the same at any N.
 *
 * This is the papers' two-level model: what crosses between SRAM and the memory behind it ("HBM accesses").
 * Counted: what loads and stores of the program move.
 * Not counted: caches (sim/hierarchy), register spills, instruction fetches, and the vector FLOPs of softmax. */
#ifndef TILEWALK_SIM_ALGORITHMS_TRAFFIC_H
#define TILEWALK_SIM_ALGORITHMS_TRAFFIC_H

#include "sim/algorithms/program.h"

typedef struct {
  Wide read[TENSORS_MAX];      /* bytes into SRAM, by index of Program.tensors */
  Wide write[TENSORS_MAX];     /* bytes out of SRAM */
  Wide tiles[TILE_KIND_COUNT]; /* by kind: passes of a loop nest's first product of rows x columns, as full or partial,
                                  and skipped ones */
  Wide flops;                  /* 2 x rows x columns x d for each of the two products of a computed tile; masked
                                  entries of a partial tile are computed too, as tensor cores do */
  Wide added;                  /* of what goes out, bytes that are added to what lies in HBM */
  Wide steps;                  /* events */
} Traffic;

/* Adds an event of the program. */
void traffic_add(Traffic *traffic, const Program *program, const Event *event);

bool traffic_equal(const Traffic *a, const Traffic *b);

/* What has come since *before: bytes, FLOPs and steps. */
Traffic traffic_since(const Traffic *before, const Traffic *now);

/* Multiplies bytes, FLOPs and steps by the number of heads; tiles stay per head. */
void traffic_scale(Traffic *traffic, Wide n_heads, bool *overflow);

Wide traffic_read_bytes(const Traffic *traffic, bool *overflow);
Wide traffic_write_bytes(const Traffic *traffic, bool *overflow);

#endif
