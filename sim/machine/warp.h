/* One memory instruction of one warp: what it costs in global and in shared memory.
 *
 *   global   32 lanes ask for bytes; memory moves sectors of 32 bytes, four to a line of 128.
 *            The cost is the number of different sectors: 4 for 32 neighbouring words, 32 for 32
 *            words a line apart. What is moved and not asked for is wasted.
 *   shared   32 banks of 4 bytes, word w in bank w mod 32. One pass (a wavefront) reads one word of
 *            every bank, for all lanes that want it. Different words of one bank need a pass each.
 *
 *            32 x 32 fp32 tile, one column:  all 32 words in one bank: 32 passes
 *            the same, rows padded by 1:     bank = row + column:       1 pass
 *
 * Wide accesses are taken in parts: 64 bits a lane in half warps, 128 bits in quarters, so that a
 * part asks for 128 bytes. For loads two parts go together when lanes n and n^1, or lanes n and
 * n^2, ask for the same address throughout (lanes switched off count as the same): the 128 bytes a
 * pass can return then serve twice as many lanes (G. Smith, NVIDIA developer forum, topic 77228,
 * for Volta and Turing). Measured on an H200 for 662 patterns of loads and stores of 1 to 16 bytes
 * (assets/counters/h200/warp/first.csv): these rules give every wavefront and conflict count exactly.
 *
 * Not modelled: ldmatrix and wgmma's own reads of shared memory, atomics, the order of passes. */
#ifndef TILEWALK_SIM_MACHINE_WARP_H
#define TILEWALK_SIM_MACHINE_WARP_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  WARP_LANES = 32,
  WARP_SECTOR_BYTES = 32, /* CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" */
  WARP_LINE_BYTES = 128,
  WARP_BANKS = 32, /* CUDA C++ Programming Guide, "Shared Memory", compute capability 5 to 9 */
  WARP_BANK_BYTES = 4,
};

typedef struct {
  uint64_t address[WARP_LANES]; /* in bytes, a multiple of element_bytes */
  uint32_t active;              /* bit n: lane n takes part */
  uint32_t element_bytes;       /* a lane's: 1, 2, 4, 8 or 16 */
  bool is_store;
} WarpAccess;

typedef struct {
  uint32_t active_lanes;
  uint32_t sectors, lines;  /* different ones that are touched */
  uint64_t requested_bytes; /* active lanes x element_bytes */
  uint64_t used_bytes;      /* different bytes asked for */
  uint64_t moved_bytes;     /* sectors x 32 */
  double overfetch;         /* moved / used; 1 is best, 0 where nothing is asked for */
} WarpGlobal;

typedef struct {
  uint32_t active_lanes;
  uint32_t parts;      /* the access is taken in: 1, 2 or 4 (those with an active lane) */
  uint32_t wavefronts; /* passes over the banks */
  uint32_t conflicts;  /* wavefronts - parts: what ncu calls bank conflicts */
  uint32_t ways;       /* the most different words of one bank in one part: 1 is conflict-free */
  uint32_t worst_bank; /* where that was */
} WarpShared;

/* Where an XOR swizzle puts the byte at `offset` from an aligned base. In units of 16 bytes the low
 * 1, 2 or 3 bits of the place within 128 bytes are XORed with those of the 128-byte row's number:
 * TMA's modes (CUDA driver API, CUtensorMapSwizzle; CUTLASS Swizzle<1..3, 4, 3>). Checked on an
 * H200 by letting TMA copy 64 rows in each mode. The pattern repeats after 256, 512 and 1024 bytes.
 */
typedef enum { WARP_SWIZZLE_NONE, WARP_SWIZZLE_32B, WARP_SWIZZLE_64B, WARP_SWIZZLE_128B } WarpSwizzle;
uint64_t warp_swizzle(uint64_t offset, WarpSwizzle swizzle);

/* How a tile lies in shared memory: rows `row_bytes` + `pad_bytes` apart, then swizzled. */
typedef struct {
  uint64_t base; /* of the tile; with a swizzle a multiple of 1024 */
  uint64_t row_bytes;
  uint64_t pad_bytes;
  WarpSwizzle swizzle;
} WarpTile;

/* The address of byte `byte_in_row` of a row. */
uint64_t warp_tile_address(const WarpTile *tile, uint64_t row, uint64_t byte_in_row);

/* All 32 lanes, lane n at base + n x stride_bytes. */
WarpAccess warp_strided(uint64_t base, int64_t stride_bytes, uint32_t element_bytes);

/* All 32 lanes down one column of a tile, lane n in row n. */
WarpAccess warp_column(const WarpTile *tile, uint64_t column, uint32_t element_bytes);

/* STATUS_BAD_REQUEST, with the lane, where the hardware would fault: an address that is not a
 * multiple of the element, an element of another size. */
Status warp_check(const WarpAccess *access, Error *error);

/* Both need an access that warp_check accepts. */
WarpGlobal warp_global(const WarpAccess *access);
WarpShared warp_shared(const WarpAccess *access);

extern const char *const WARP_SWIZZLES[]; /* "none", ...; ends with NULL */

#endif
