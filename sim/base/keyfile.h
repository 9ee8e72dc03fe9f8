/* Description files: one number a line, and for every number where it comes from.
 *
 *     # A comment.
 *     name  = h200
 *     n_sm  = 132        # source: measured on an NVIDIA H200 (driver 580, CUDA 13.0)
 *     hbm   = 141 GB     # source: NVIDIA H200 Tensor Core GPU datasheet
 *     l2_ways = 20
 *         # source: a long source may stand alone on the next line
 *     launch_overhead = 3 us   # assumed: a typical figure
 *
 * GPUs and models are described in this form. What keys there are, and in which units, is a table
 * that the caller brings; values go straight into the caller's struct, sources into an array beside
 * it.
 *
 * The house rule is enforced here: a number without "# source: ..." or "# assumed" is an error, but not in files that
 * users write for themselves (kernels, models).
 * Text and words need none. Files are written by people and may come from anywhere: at most
 * KEYFILE_MAX_BYTES long, UTF-8, no control characters; LF or CRLF; a leading byte order mark is
 * skipped. Time and memory are bounded, nothing is allocated. Messages read "FILE:LINE: what, why,
 * what would be right".
 *
 * Left out: sections, lists, quoting, several values a line. Nothing described here needs them. */
#ifndef TILEWALK_SIM_BASE_KEYFILE_H
#define TILEWALK_SIM_BASE_KEYFILE_H

#include "sim/base/pieces.h"

enum {
  KEYFILE_MAX_BYTES = 65536,
  KEYFILE_MAX_LINES = 1000,
  KEYFILE_LINE_BYTES = 512,   /* longest line, without its end */
  KEYFILE_TEXT_BYTES = 128,   /* a text value with its final zero */
  KEYFILE_SOURCE_BYTES = 256, /* a source with its final zero */
};

/* What a value is, how it is written, and the type it has in the caller's struct. */
typedef enum {
  KEYFILE_TEXT,            /* any text               char[KEYFILE_TEXT_BYTES] */
  KEYFILE_NAME,            /* KEYFILE_LETTERS alone  the same */
  KEYFILE_WORD,            /* one of a list of words int: its place in the list */
  KEYFILE_YES,             /* yes or no              bool */
  KEYFILE_COUNT,           /* 132, 64K               int64_t, at least 1 */
  KEYFILE_BYTES,           /* 60 MiB, 141 GB         int64_t; the unit must be written */
  KEYFILE_BYTES_PER_S,     /* 4.8 TB/s               double */
  KEYFILE_HERTZ,           /* 1980 MHz               double */
  KEYFILE_FLOPS_PER_S,     /* 989.4 TFLOP/s          double */
  KEYFILE_SECONDS,         /* 3 us                   double */
  KEYFILE_BYTES_PER_CLOCK, /* 128 B/clk              double */
  KEYFILE_OPS_PER_CLOCK,   /* 16 op/clk              double */
  KEYFILE_KIND_COUNT
} KeyfileKind;

/* One row of a caller's table. */
typedef struct {
  const char *name; /* the key in the file */
  KeyfileKind kind;
  size_t offset; /* of the member in the caller's struct */
  bool required;
  double min, max;          /* of a number in its base unit (B, B/s, Hz, s); both included */
  const char *help;         /* what it is, in a line */
  const char *const *words; /* of KEYFILE_WORD, up to NULL */
} KeyfileField;

/* Of a name, which is taken on the command line. */
#define KEYFILE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* Where a value comes from; one for each row of the table. */
typedef struct {
  int line;     /* of the value in the file; 0: the file does not give it */
  bool assumed; /* true: `source` says why it was assumed, or only "assumed" */
  char source[KEYFILE_SOURCE_BYTES];
} KeyfileNote;

/* What has a unit, and needs a source. */
static inline bool keyfile_is_number(KeyfileKind kind) { return kind > KEYFILE_YES; }

/* What a record holds that is no number, as it is written in a file. */
const char *keyfile_text(const KeyfileField *field, const void *record);

/* Where the value of a key of the table comes from. */
const KeyfileNote *keyfile_note(const KeyfileField *fields, const KeyfileNote *notes, const char *key);

/* The unit that values of a kind are held in: "B", "B/s", "Hz", ...; "" for counts and what is no number. */
const char *keyfile_base_unit(KeyfileKind kind);

/* Reads buffer[0..length) into *record and notes[0..n_fields). Members and notes of keys that the
 * file does not give are left as they are, so the caller clears or presets them. On error both may
 * be partly filled and must not be used. display_name stands at the start of every message. */
Status keyfile_parse(const char *buffer, size_t length, const char *display_name, const KeyfileField *fields,
                     int n_fields, void *record, KeyfileNote *notes, Error *error);

/* The same for a user's own file: a number needs no source (its note has none). */
Status keyfile_parse_unsourced(const char *buffer, size_t length, const char *display_name, const KeyfileField *fields,
                               int n_fields, void *record, KeyfileNote *notes, Error *error);

/* The house rule afterwards: every number that the file gives has a source. */
Status keyfile_check_sources(const char *display_name, const KeyfileField *fields, int n_fields,
                             const KeyfileNote *notes, Error *error);

/* Refuses a word that is none of a list's: which there are, or the one that is near. */
Status keyfile_refuse_word(const char *display_name, int line, Error *error, const char *key, const char *word,
                           const char *const *words);

#endif
