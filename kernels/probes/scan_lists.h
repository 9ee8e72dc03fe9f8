/* Scans: launches whose every read and store is written down in a list, so that what L2 keeps can be measured apart
 * from attention and predicted from the same list.
 *
 *     ops     what there is to do, one granule of 16 KiB each: read it, or store it
 *     parts   for each CTA up to three stretches [begin, end) of ops, gone through one after another
 *     CTA 0   ops[begin] ... ops[end - 1], then its second part, then its third
 *
 * CTAs share stretches, as CTAs of one head share K and V; an operation may be relative to the CTA, for what is its
 * own. A CTA finishes one operation, spins for work_cycles, and begins the next. The families, by the first word of the
 * name:
 *
 *     pieces      all CTAs read one buffer twice; it lies in 1, 2, 4 or 8 pieces far apart
 *     scattered   the same, in pieces of 2 MiB, 256 KiB or 16 KiB all over the pool
 *     between     all read A; each reads or stores granules of its own; all read A again
 *     rows        the triangular walk of causal attention: row r of R reads the first (r + 1) / R of its head's K and V
 *     stores      each CTA stores granules of its own, once or twice
 *     hot         all CTAs read one buffer twice, and after each granule of it read or store a granule of their own
 *     few         1 to 128 CTAs read the same 4 MiB once: what a launch moves besides
 *     renewed     all CTAs read A, B, A, C, A: does what was read again stay as long as if it had come then?
 *     far         one CTA reads A, so much else that its side of L2 has lost A, A from the other side, as much else,
 *                 and A
 *     strided     all CTAs read one granule of every 1, 2, 4 or 16 of a buffer, three times
 *     turns       one CTA does what the CTAs of `rows` would do in step, one after the other: the same in an order that
 *                 is known
 *
 * Some of `rows` and `turns` come again with V at six other places (the name ends with v and where, in MiB): what just
 * about fits L2 depends on that.
 *
 * A second set of lists (scan_lists_each_place) has some of pieces, scattered, rows and turns at eight places each, at
 * which all that they read and store lies elsewhere: at random, as the tensors of a program do. Their means tell of L2
 * what depends on no place.
 *
 * kernels/probes/probe_scan.cu runs them on a GPU. Not in the lists: how CTAs are placed on SMs, and how far they drift
 * apart. */
#ifndef TILEWALK_KERNELS_PROBES_SCAN_LISTS_H
#define TILEWALK_KERNELS_PROBES_SCAN_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define SCAN_FUNCTION static inline __host__ __device__
#else
#define SCAN_FUNCTION static inline
#endif

enum {
  SCAN_GRANULE_BYTES = 16384,
  SCAN_PARTS = 3,
  SCAN_POOL_GRANULES = 131072, /* 2 GiB: all granules lie in it */
  SCAN_PLACES = 8,
  SCAN_SLOTS =
      264, /* two CTAs on each SM of an H200; the launches of all families but `rows`, `few`, `far` and `turns` */
};

typedef struct {
  uint32_t begin, end; /* in ops; equal: nothing */
} ScanPart;

typedef struct {
  char name[80]; /* no commas */
  uint32_t n_ctas, work_cycles;
  const uint32_t *ops;
  uint32_t n_ops;
  const ScanPart *parts; /* SCAN_PARTS a CTA, n_ctas times */
} ScanList;

/* An operation: a granule of the pool in the low bits, and these. */
#define SCAN_STORES    0x80000000u
#define SCAN_PLUS_SLOT 0x40000000u /* the granule, plus the CTA modulo SCAN_SLOTS */
#define SCAN_PLUS_CTA  0x20000000u /* the granule, plus the CTA */
#define SCAN_GRANULE   0x1fffffffu

SCAN_FUNCTION bool scan_op_stores(uint32_t op) { return (op & SCAN_STORES) != 0; }

SCAN_FUNCTION uint32_t scan_op_granule(uint32_t op, uint32_t cta) {
  return (op & SCAN_GRANULE) + (op & SCAN_PLUS_SLOT ? cta % SCAN_SLOTS : op & SCAN_PLUS_CTA ? cta : 0);
}

/* Calls visit with each scan, always the same ones in the same order; the list lives until visit returns.
 * False: no memory for one. */
typedef void ScanVisit(void *context, const ScanList *scan);
bool scan_lists_each(ScanVisit *visit, void *context);

/* The same for the lists at eight places; names end with the place, 1 to SCAN_PLACES. */
bool scan_lists_each_place(ScanVisit *visit, void *context);

#endif
