/* What the files of the language share: the program being read, the present line and its words. Private to this folder.
 */
#ifndef TILEWALK_SIM_PROGRAM_READER_H
#define TILEWALK_SIM_PROGRAM_READER_H

#include <stddef.h>

#include "sim/algorithms/program.h"
#include "sim/base/error.h"

enum { WORD_BYTES = 24, WORDS_MAX = 160 };

typedef enum { WORD_NAME = 0, WORD_NUMBER, WORD_SYMBOL } WordKind;

typedef struct {
  uint8_t kind;
  char text[WORD_BYTES];
} Word;

/* Where a name has its value from, at the present line. */
typedef struct {
  bool is_known; /* has a value */
  uint8_t loops; /* number of open loops when it got one first */
  uint8_t line;  /* of its last value, of which a loop that ended has left it without; 0: it never had one */
  uint8_t ended; /* line of that loop */
} Definition;

typedef struct {
  int8_t op;     /* its OP_LOOP */
  int indent;    /* of its `for` line */
  int body;      /* of the lines in it; -1: none yet */
  int body_line; /* of the first of them */
} OpenLoop;

typedef struct {
  const char *file;
  int number; /* of the present line */
  Program *p;
  Error *error;

  Word words[WORDS_MAX];
  int n_words, at;

  OpenLoop open[PROGRAM_DEPTH_MAX + 1];
  int n_open;
  Definition definitions[PROGRAM_NAMES_MAX];
  uint8_t read_in[PROGRAM_NAMES_MAX][PROGRAM_OPS_MAX / 8]; /* lines of a kernel that read a name, as ops */
} Reader;

/* Notes an error about the present line and returns STATUS_BAD_FILE. */
Status reader_fail(Reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Cuts a line into words. */
Status reader_words(Reader *r, const char *line, size_t length);

/* The present word; "" at the end of the line. */
const char *reader_word(const Reader *r);
bool reader_at_end(const Reader *r);
bool reader_is(const Reader *r, const char *text);
/* Goes on if the present word is `text`. */
bool reader_take(Reader *r, const char *text);
Status reader_expect(Reader *r, const char *text, const char *why);

/* The name at the present word: found or added. With `why`, what a name is wanted for. */
Status reader_name(Reader *r, const char *why, int *name);

/* The loops around the present line, as IN_... */
uint8_t reader_loops(const Reader *r);

/* An expression from the present word on, typed; *root is its node. */
Status expression_read(Reader *r, int *root);

/* The name is given a value here, or is read here. */
Status name_defined(Reader *r, int name);
Status name_read(Reader *r, int name);

/* What a side is called in messages: "B_r", ... */
const char *side_name(Side side);

/* What needs all of a program: loads that happen only if a loop has a tile, `once`, flags of the whole. */
Status program_complete(Reader *r);

/* Of a complete program: no two CTAs of a kernel store the same block, and none loads what another stores. */
Status races_check(Reader *r);

/* The table of tensors, once every name and line is known. */
Status program_tensors(Reader *r);

#endif
