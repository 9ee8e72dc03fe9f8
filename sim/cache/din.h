/* Address traces as Dinero IV reads them, from text in pieces.
 *
 *     0 7f3a00          read              label: 0 or r read, 1 or w write, 2 or i fetch
 *     1 7f3a80 80       write 128 bytes   address: hexadecimal, 0x is fine
 *     2 0x400 4 # why   fetch             size: see below; left out, it is a word of 4 bytes
 *
 * This joins Dinero's "din" (label and address; M. Hill, 1985) with the sizes and letters of its
 * "extended din" (J. Edler, 1997). Sizes are hexadecimal there, so 80 is 128 bytes. Because people
 * write sizes in decimal all the same, a power of two from 16 on is known in either spelling: 16,
 * 32, 64, 128 are decimal, 10, 20, 40, 80 hexadecimal; no such number can be read both ways. Fields
 * are apart by blanks or tabs; blank lines, and what follows a #, are skipped.
 *
 * The text comes in pieces of any size, cut anywhere; nothing is kept but a line number, so a trace
 * of any length is read in the memory of one piece. */
#ifndef TILEWALK_SIM_DIN_H
#define TILEWALK_SIM_DIN_H

#include "sim/cache/cache.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  DIN_LINE_BYTES_MAX = 1024,
  DIN_SIZE_MAX = 1 << 24, /* bytes of one access: keeps the work of a line bounded */
  DIN_DEFAULT_BYTES = 4,  /* as in Dinero */
  DIN_TEXT_BYTES = 48,    /* room for one line that din_print writes */
};

typedef enum { DIN_READ, DIN_WRITE, DIN_FETCH } DinLabel;

typedef struct {
  uint64_t address;
  uint32_t size_bytes;
  DinLabel label;
} DinRecord;

typedef struct {
  uint64_t line;          /* of the last line that was read; 0 at the start */
  uint32_t default_bytes; /* 0: DIN_DEFAULT_BYTES */
} DinParser;

/* Reads whole lines of `text`: up to `max_records` accesses into `records`. *used says how much of
 * the text is done with; what is left (the beginning of a line, or lines that found no room) must
 * come again, followed by more. With `is_last` the text ends the trace, and its last line needs no
 * newline. STATUS_BAD_FILE at the first line that cannot be read, with its number; the records
 * before it, *n_records of them, are good. */
Status din_parse(DinParser *parser, const char *text, size_t bytes, bool is_last, DinRecord *records,
                 size_t max_records, size_t *n_records, size_t *used, Error *error);

/* One line with its newline, as din_parse reads it and as Dinero does. Returns its length;
 * no zero follows. */
size_t din_print(const DinRecord *record, char text[DIN_TEXT_BYTES]);

/* Joins records of whole lines, one kind and neighbouring addresses into one, in place: the same
 * counts in fewer and longer accesses. Returns how many records are left. */
size_t din_join(DinRecord *records, size_t n_records, uint64_t line_bytes);

/* Runs records through a cache, or through one part of it; fetches count as reads. Each counts as
 * one access, however many lines it spans. STATUS_BAD_REQUEST where an address lies beyond the
 * cache's address_bits; records before it have been run. */
Status din_replay(CacheState *cache, const DinRecord *records, size_t n_records, Error *error);

#endif
