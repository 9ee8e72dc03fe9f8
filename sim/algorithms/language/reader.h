/* What the files of the language share: the program being read, the present line and its words. Private to this folder.
 *
 *     read.c        header and lines, again and again until every shape is known
 *     declare.c     input, output, tensor, size; what a program that declares nothing begins with
 *     loops.c       loops and conditions
 *     statements.c  loads, stores, masks, arithmetic
 *     values.c      expressions
 *     launch_lines.c  launch: how a CTA goes about it; rank_lines.c: ranks: what several GPUs do
 *     names.c       names; tokens.c: what a line is cut into; language_words.c: the words there are
 *     complete.c    what follows from the whole; races.c: what two CTAs do to one block */
#ifndef TILEWALK_SIM_ALGORITHMS_LANGUAGE_READER_H
#define TILEWALK_SIM_ALGORITHMS_LANGUAGE_READER_H

#include <stddef.h>

#include "sim/algorithms/program.h"

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

/* The sides of a name, as far as they are known: the largest of what it is ever set to. */
typedef struct {
  uint8_t rows, cols;           /* SIDE_UNKNOWN: nothing has told */
  bool set_scalar, set_unknown; /* it was set to a number; to a value of unknown sides */
} Sides;

typedef struct {
  const char *file;
  int number; /* of the present line */
  Program *p;
  Error *error;

  Word words[WORDS_MAX];
  int n_words, at;

  OpenLoop open[PROGRAM_DEPTH_MAX + 1];
  int n_open;
  int kernel_body, kernel_line; /* indentation of the lines of a kernel outside loops, and the first of them */
  Definition definitions[PROGRAM_NAMES_MAX];
  uint8_t read_in[PROGRAM_NAMES_MAX][PROGRAM_OPS_MAX / 8]; /* lines of a kernel that read a name, as ops */
  uint8_t set_in[PROGRAM_NAMES_MAX];                       /* kernels that store or add to it, a bit each */
  uint8_t kernel_of[PROGRAM_NAMES_MAX];                    /* of a name that never moves: it belongs to one */
  bool in_formula;                                         /* of a declaration */
  ProgramLaunch *launch;                                   /* whose lines these are; NULL: of a kernel */
  int launched;                                            /* the kernel that it is of */
  bool in_ranks;                                           /* lines are those of `ranks` */
  int n_rank_loops, rank_for[2], rank_body[3];             /* loops around them; their indentation, and that of lines */

  /* Shapes are found by reading the text until nothing new is learnt; then it is read once more, for good. */
  bool learns;
  char moved[PROGRAM_NAMES_MAX][PROGRAM_NAME_BYTES]; /* names that a line moves; found by the first reading */
  int n_moved;
  bool knows_moved;
  Sides known[PROGRAM_NAMES_MAX]; /* before this reading */
  Sides found[PROGRAM_NAMES_MAX]; /* by it */
} Reader;

/* Notes an error about the present line and returns STATUS_BAD_FILE. */
Status reader_fail(Reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same about the present word, which `what` has a %s for: the word of these places (language_words.h) that it
 * resembles is offered, or what would be right is said. */
Status reader_fail_near(Reader *r, unsigned places, const char *what, const char *right)
    __attribute__((format(printf, 3, 0)));

/* Cuts a line into words. */
Status reader_words(Reader *r, const char *line, size_t length);

/* The present word; "" at the end of the line. */
const char *reader_word(const Reader *r);
bool reader_at_end(const Reader *r);
bool reader_is(const Reader *r, const char *text);
/* Goes on if the present word is `text`. */
bool reader_take(Reader *r, const char *text);
Status reader_expect(Reader *r, const char *text, const char *why);
/* Nothing follows on this line. */
Status reader_finish(Reader *r);

/* The name at the present word: found or added. With `why`, what a name is wanted for. */
Status reader_name(Reader *r, const char *why, int *name);
/* The declared tensor at the present word, which is its name without subscripts. */
Status reader_whole(Reader *r, int *name);
/* Adds a name of these subscripts, or finds it. */
Status reader_add_name(Reader *r, const char *text, uint8_t subscripts, int *name);
/* The subscripts at the end of a word; without their loops where `anywhere`. */
Status reader_subscripts(Reader *r, const char *text, bool anywhere, uint8_t *subscripts);

/* Whether the present word is a side: B_r, B_c, d, d_v or a size. */
bool reader_side_at(const Reader *r, int *side);
/* What a side is called in messages: "B_r", ... */
const char *reader_side(const Reader *r, int side);

/* The loops around the present line, as IN_... */
uint8_t reader_loops(const Reader *r);
/* The dimensions of a loop: one, or two along the diagonal. */
uint8_t reader_dims(const ProgramOp *loop);

/* Adds an operation of the present line. */
Status reader_add_op(Reader *r, OpKind kind, ProgramOp **op);
/* Ends the loops that are indented as much as a line, or more. */
Status reader_close_loops(Reader *r, int indent);

/* An expression from the present word on, typed; *root is its node. A test compares two. */
Status expression_read(Reader *r, int *root);
Status expression_test(Reader *r, int *root);

/* `when` and what follows. *test: 1 + the node of a comparison; NULL: none may stand here. */
Status condition_read(Reader *r, uint8_t *when, int16_t *test);

/* Lines: what follows their first word. */
Status loop_read(Reader *r, int indent);
Status move_read(Reader *r, EventKind kind);
Status mask_read(Reader *r);
Status arithmetic_read(Reader *r);
Status declaration_read(Reader *r, TensorRole role);
Status size_read(Reader *r);
Status launch_read(Reader *r);
Status launch_read_line(Reader *r);

/* A line `ranks`, and the lines of it; then whether what is sent is received, and kernels are run as they stand. */
Status ranks_read(Reader *r);
Status ranks_read_line(Reader *r, int indent);
Status ranks_check(Reader *r);

/* Before the first kernel: Q, K, V and O, unless the program declares inputs and outputs itself. */
Status declarations_imply(Reader *r);

/* The name is given a value here, or is read here. */
Status name_defined(Reader *r, int name);
Status name_read(Reader *r, int name);
/* A value of these sides is set to the name: learnt, or held against the name's. */
Status name_takes(Reader *r, int name, int rows, int cols);

/* What needs all of a program: loads that happen only if a loop has a tile, `once`, flags of the whole. */
Status program_complete(Reader *r);

/* Of a complete program: no two CTAs of a kernel store the same block, and none loads what another stores. */
Status races_check(Reader *r);

/* The table of tensors, once every name and line is known. */
Status program_tensors(Reader *r);
void program_name_statistics(Program *p); /* once places are known */

#endif
