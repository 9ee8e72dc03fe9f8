/* L2 of a GPU at the grain of lines and sectors, for any stream of requests in the order in which they come.
 *
 *       SMs of side 0            SMs of side 1        an SM asks its own side
 *            |                        |
 *      [ cache of side 0 ] <--> [ cache of side 1 ]   every line is at home on one side; what comes across is kept as
 *            |                        |               a copy
 *           HBM                      HBM              in pairs of sectors, 64 bytes
 *
 * Modelled: homes by a hash of the address; sets of lines, LRU, at addresses nobody has published (a random index);
 * write-back; a store of part of a sector fetches nothing until somebody reads the rest (sim/cache/cache.h); the copy
 * of a line that is stored is dropped; a reduction reads what it adds to. What hierarchy.h has and this does not:
 * granules, renewal from afar, stretches of sets, lines used all the time. Not modelled: time; dirty lines written
 * before they fall out; parts of sectors that are filled before they are read. */
#ifndef TILEWALK_SIM_L2_LINE_L2_H
#define TILEWALK_SIM_L2_LINE_L2_H

#include "sim/machine/gpu.h"

enum { LINE_L2_LINE_BYTES = 128, LINE_L2_SECTOR_BYTES = 32, LINE_L2_SIDES = 2 };

/* Sectors of 32 bytes. Laws: hits <= reads; hbm_reads >= each sector that was read before it was stored, once. */
typedef struct {
  uint64_t reads, hits; /* asked for by SMs; found on the asking SM's side */
  uint64_t writes, reductions;
  uint64_t fabric;         /* from one side to the other, either way */
  uint64_t hbm_reads;      /* in pairs */
  uint64_t hbm_writes;     /* dirty sectors that fell out */
  uint64_t dirty;          /* still in L2, to be written later */
  uint64_t partly_written; /* stored in part while L2 did not have them: it may fill them before the rest comes */
} LineL2Counts;

typedef struct LineL2 LineL2;

/* For one GPU; STATUS_BAD_REQUEST where its L2 is not known, or has no lines of 128 bytes. */
Status line_l2_new(LineL2 **l2, const Gpu *gpu, Error *error);
void line_l2_free(LineL2 *l2);

/* A request of an SM of `side` (0, or 1 where there are two) for words of the line at `address`; bit w of `words`: the
 * 4 bytes from 4 w on. */
void line_l2_read(LineL2 *l2, uint32_t side, uint64_t address, uint32_t words);
void line_l2_write(LineL2 *l2, uint32_t side, uint64_t address, uint32_t words);
void line_l2_reduce(LineL2 *l2, uint32_t side, uint64_t address, uint32_t words);

LineL2Counts line_l2_counts(const LineL2 *l2);

/* The sectors that words lie in: bit s for words 8 s to 8 s + 7. */
static inline uint32_t line_l2_sectors(uint32_t words) {
  words |= words >> 4, words |= words >> 2, words |= words >> 1;
  words &= 0x01010101u;
  return (words | words >> 7 | words >> 14 | words >> 21) & 15;
}

#endif
