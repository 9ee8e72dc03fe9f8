/* Address traces, from text in pieces. Formats, known by their first line or
 * named:
 *
 *     din      0 7f3a00 why              Dinero III and IV "d": label 0 to 4, hexadecimal address; the rest of the
 *                                        line is a comment, never a size. One aligned word of 4 bytes.
 *     xdin     r 7f3a80 80 why           Dinero IV "D": label r w i m c v (or 0 to 4), address, size in hexadecimal;
 *                                        the rest is a comment. Addresses are as given.
 *     lackey    L 7f3a80,8               valgrind --tool=lackey --trace-mem=yes: I L S M (load and store), hexadecimal
 *                                        address, decimal size
 *     csv      read,0x7f3a80,128         an operation, an address (hexadecimal with 0x, else decimal), a size; a first
 *                                        line with the columns' names gives their order. Columns are not guessed.
 *
 * Three others are refused by name, with the command that turns them into one of these: pinatrace, words ("load 0x10"),
 * and lines that all begin with #.
 *
 *     label    din  xdin    does
 *     read     0    r
 *     write    1    w
 *     fetch    2    i       an instruction: counts as a read
 *     misc     3    m       counts as a read, as Dinero does
 *     flush    4            writes back what is dirty and empties the cache
 *     copyback      c       writes back what is dirty of these bytes; they stay. Size 0: of the whole cache
 *     invalidate    v       these bytes leave the cache, dirty or not. Size 0: the whole cache
 *
 * (M. Hill, Dinero III, 1985; J. Edler and M. Hill, Dinero IV, 1998.) Because people write xdin's sizes in decimal all
 * the same, a power of two from 16 on is known in either spelling: 16, 32, 64, 128 are decimal, 10, 20, 40, 80
 * hexadecimal; no such number can be read both ways. A size of letters alone ("add") may be a word of a comment: where
 * the format was not named it is refused. Blank lines, what follows a #, a mark of UTF-8, and valgrind's lines with ==
 * are skipped.
 *
 * The text comes in pieces of any size, cut anywhere; nothing is kept but a line number and the format, so a trace
 * of any length is read in the memory of one piece. */
#ifndef TILEWALK_SIM_CACHE_DIN_H
#define TILEWALK_SIM_CACHE_DIN_H

#include "sim/cache/cache.h"

enum {
  DIN_LINE_BYTES_MAX = 1024,
  DIN_SIZE_MAX = 1 << 24, /* bytes of one access: keeps the work of a line bounded */
  DIN_DEFAULT_BYTES = 4,  /* as in Dinero */
  DIN_TEXT_BYTES = 48,    /* room for one line that din_print writes */
};

typedef enum {
  DIN_READ,
  DIN_WRITE,
  DIN_FETCH,
  DIN_MISC,
  DIN_MODIFY,    /* lackey's M: a read, then a write */
  DIN_COPY_BACK, /* from here on: no access */
  DIN_INVALIDATE,
  DIN_COPY_BACK_ALL, /* these have an address and a size of no meaning */
  DIN_INVALIDATE_ALL,
  DIN_FLUSH,
} DinLabel;

typedef enum {
  DIN_FORMAT_AUTO = 0,
  DIN_FORMAT_DIN,
  DIN_FORMAT_XDIN,
  DIN_FORMAT_LACKEY,
  DIN_FORMAT_CSV,
  DIN_N_FORMATS
} DinFormat;

extern const char *const DIN_FORMATS[DIN_N_FORMATS]; /* "auto", "din", ... */

/* Refuses, by name, a format that is known and not read: "pin", "words", "hash". False where `name` is none of them. */
bool din_is_refused(const char *name, Error *error);

typedef struct {
  uint64_t address;
  uint32_t size_bytes;
  DinLabel label;
} DinRecord;

typedef struct {
  uint64_t line;          /* of the last line that was read; 0 at the start */
  uint32_t default_bytes; /* of a record that names no size; 0: DIN_DEFAULT_BYTES */
  DinFormat format;       /* as named */
  bool fetches;           /* lackey: take instruction fetches too */
  /* Found out from the first line that is no noise. */
  DinFormat detected;                   /* AUTO: nothing but noise so far */
  int8_t csv_op, csv_address, csv_size; /* columns; -1: none; csv_address -1: not known */
  /* Counted. */
  uint64_t n_fetches_left_out; /* lackey */
  uint64_t n_numbers;          /* din: comments that are one number, as a size would be */
} DinParser;

/* Reads whole lines of `text`: up to `max_records` accesses into `records`. *used says how much of
 * the text is done with; what is left (the beginning of a line, or lines that found no room) must
 * come again, followed by more. With `is_last` the text ends the trace, and its last line needs no
 * newline. STATUS_BAD_FILE at the first line that cannot be read, with its number; the records
 * before it, *n_records of them, are good. */
Status din_parse(DinParser *parser, const char *text, size_t bytes, bool is_last, DinRecord *records,
                 size_t max_records, size_t *n_records, size_t *used, Error *error);

/* One line of xdin with its newline, as din_parse reads it and as Dinero does. Returns its length;
 * no zero follows. */
size_t din_print(const DinRecord *record, char text[DIN_TEXT_BYTES]);

/* Runs records through a cache. Each counts as one access, however many lines it spans; a
 * modify as two; what is no access as none. STATUS_BAD_REQUEST where an address lies beyond the
 * cache's address_bits; records before it have been run. */
Status din_replay(CacheState *cache, const DinRecord *records, size_t n_records, Error *error);

#endif
