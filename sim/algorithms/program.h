/* An algorithm as a compact table: what sim/algorithms/language reads from a page of program text.
 *
 *     algorithm fa2                                text       sim/algorithms/fa2.walk
 *     kernel forward                                 |
 *       for every row block i                       read      sim/algorithms/language/read.h
 *         load Q_i                                   |
 *         for each column block j of i              table     Program, below: plain data without pointers
 *           load K_j                                 |
 *           S = Q_i K_j^T / sqrt(d)                 walk      sim/algorithms/schedule.h: events, counts, seeking
 *
 * A program is a list of operations: loops with the position of their end, and statements. A statement moves tiles or
 * computes; one line of arithmetic is one event. Values are expressions over typed tiles, kept as a pool of nodes, so
 * that FLOPs, kinds of event and numbers all follow from the text. */
#ifndef TILEWALK_SIM_ALGORITHMS_PROGRAM_H
#define TILEWALK_SIM_ALGORITHMS_PROGRAM_H

#include "sim/algorithms/event.h"

enum {
  PROGRAM_TEXT_BYTES = 6144, /* of the whole text, and a 0 */
  PROGRAM_WORD_BYTES = 32,
  PROGRAM_NAME_BYTES = 8,
  PROGRAM_TITLE_BYTES = 96,
  PROGRAM_SUMMARY_BYTES = 160,
  PROGRAM_LINES_MAX = 128,
  PROGRAM_OPS_MAX = 96,
  PROGRAM_NODES_MAX = 384,
  PROGRAM_NAMES_MAX = 40,
  PROGRAM_ASSIGNS_MAX = 96,
  PROGRAM_KERNELS_MAX = 8,
  PROGRAM_MOVED_MAX = 4, /* names in one load or store */
  PROGRAM_DEPTH_MAX = 4, /* loops within loops: rows, columns, splits and heads, each once */
  PROGRAM_SIZES_MAX = 4, /* sides of its own */
  PROGRAM_DECLARATIONS_MAX = 16,
  PROGRAM_PRODUCTS_MAX = 32, /* matrix products that are not rows x columns x d or d_v */
  PROGRAM_STAGES_MAX = 8,    /* copies of a block in flight */
  PROGRAM_CLUSTER_MAX = 8,   /* CTAs of a cluster on any GPU that has them: CUDA programming guide, 12, clusters */
  PROGRAM_CONSUMERS_MAX = 4, /* warpgroups that share a CTA's tile */
  PROGRAM_RANK_LINES_MAX = 24,
};

/* What loops run over, and what subscripts mean: row blocks, column blocks, splits, query heads of a KV head. */
typedef enum { DIM_I = 0, DIM_J, DIM_S, DIM_H, DIM_COUNT } Dim;
enum { IN_I = 1 << DIM_I, IN_J = 1 << DIM_J, IN_S = 1 << DIM_S, IN_H = 1 << DIM_H };

/* The two sides of a tile: B_r rows, B_c columns, d or d_v elements of a head, 1, or a size that the program names. Of
 * a whole matrix B_r stands for N_q and B_c for N_k. */
typedef enum {
  SIDE_ONE = 0,
  SIDE_ROWS,
  SIDE_COLS,
  SIDE_D,
  SIDE_DV,
  SIDE_OWN, /* and the next: Program.sizes */
  SIDE_COUNT = SIDE_OWN + PROGRAM_SIZES_MAX,
  SIDE_UNKNOWN = SIDE_COUNT, /* while the text is read */
} Side;

enum { SIZE_MOST = 1 << 16 };

/* `size c = 16` */
typedef struct {
  char text[8];
  int32_t value;
} ProgramSize;

/* What is moved, counted and shown as one: all blocks of a name, whatever its subscripts. First come those that lie in
 * HBM, in order of declaration; a program that declares nothing has Q, K, V, S, P, then others, O. Undeclared values of
 * one column share the row `stats`. Then come values that stay on chip. */
typedef enum { TENSOR_BETWEEN = 0, TENSOR_INPUT, TENSOR_OUTPUT } TensorRole;
typedef struct {
  char text[8];       /* "Q", "dO", "stats" */
  uint8_t rows, cols; /* Side */
  uint8_t role;       /* TensorRole */
  uint8_t operand;    /* Operand */
  bool is_fp32;       /* in HBM; else of the problem's data type */
  bool is_stats;      /* of one column, all of them together */
  bool is_moved;      /* by a line of the program */
  bool is_listed;     /* among what SRAM holds, be it nothing */
  char title[16];     /* of statistics their names, "m, l"; else the text */
} ProgramTensor;

/* A value: Q_i, m', S, ... */
typedef struct {
  char text[PROGRAM_NAME_BYTES];
  uint8_t tensor;     /* index of Program.tensors */
  uint8_t subscripts; /* IN_I, IN_J, IN_S */
  uint8_t rows, cols; /* Side */
  bool is_input;      /* declared, or Q, K or V: it is never stored */
  bool is_loaded, is_stored;
  bool is_fp32;    /* in HBM; else of the problem's data type */
  uint8_t kernels; /* a bit for each kernel in which it is written or read */
  bool is_declared, is_output;
} ProgramName;

typedef enum {
  NODE_NUMBER = 0, /* value */
  NODE_NAME,       /* name */
  NODE_NEGATE,
  NODE_ADD,
  NODE_SUBTRACT,
  NODE_TIMES, /* element by element; a side of 1 stands for all */
  NODE_DIVIDE,
  NODE_MATMUL, /* b transposed where b_transposed */
  NODE_EXP,
  NODE_LOG,
  NODE_MAX,
  NODE_ROW_MAX,
  NODE_ROW_SUM,
  NODE_SQRT_D,
  NODE_TRANSPOSE,
  NODE_EXP2,
  NODE_TANH,
  NODE_SIGMOID,
  NODE_SQRT,
  NODE_LENGTH,  /* name: a Side, or LENGTH_N_Q, LENGTH_N_K */
  NODE_FIRST,   /* the first columns of a */
  NODE_GREATER, /* of a test: a > b */
  /* Of declarations alone, over whole matrices. */
  NODE_MASKED,    /* a, and b where the mask hides a pair; -1: -infinity */
  NODE_SOFTMAX,   /* along rows */
  NODE_ARGUMENTS, /* two values, side by side */
  NODE_ATTENTION, /* a: Q; b: arguments K, V. Results: O, L */
  NODE_GRADIENT,  /* a: arguments Q, K; b: arguments V, dO. Results: dQ, dK, dV */
} NodeKind;

enum { LENGTH_N_Q = SIDE_COUNT + 1, LENGTH_N_K };

typedef struct {
  uint8_t kind;       /* NodeKind */
  uint8_t rows, cols; /* Side of the value */
  int16_t a, b;       /* operands; -1: none */
  int16_t name;
  double value;
} ProgramNode;

typedef enum { ASSIGN_SET = 0, ASSIGN_ADD, ASSIGN_TIMES } AssignKind;

typedef struct {
  uint8_t kind;  /* AssignKind */
  uint8_t name;  /* written */
  int16_t value; /* root of an expression */
} ProgramAssign;

/* Conditions of a line or a kernel: all that are named must hold. */
enum { WHEN_LSE = 1, WHEN_SPLIT = 2 /* splits > 1 */, WHEN_WHOLE = 4 /* splits = 1 */, WHEN_ANY = 7 };

typedef enum {
  OP_LOOP = 0, /* enters */
  OP_TEST,     /* the next iteration, a skipped tile, or beyond the end */
  OP_END,      /* back to the test */
  OP_EVENT,    /* a statement that is an event */
  OP_SET,      /* a statement that is none: values set to constants, in or outside loops */
  OP_STOP,     /* the end of the program */
} OpKind;

typedef struct {
  uint8_t kind; /* OpKind */
  uint8_t line; /* index of a line of the text */
  uint8_t when; /* WHEN_... */
  uint8_t kernel, pass;
  uint8_t loops; /* IN_...: the loops around it */
  int8_t parent; /* OP_LOOP of the innermost loop around it; -1: none */
  int8_t end;    /* OP_LOOP, OP_TEST: the position of OP_END; OP_END: of OP_TEST */

  uint8_t dim;     /* Dim of a loop; of one along the diagonal, DIM_I */
  bool diagonal;   /* of a loop: row block i with column block j = i; of a statement: such a loop is around it */
  bool of;         /* only tiles that the mask lets the other side see; others are skipped */
  bool in_split;   /* columns of the split alone */
  bool either_way; /* a launch may reverse it */
  bool backwards;  /* from the last block to the first */
  bool every;      /* iterations are independent: a CTA each */

  uint8_t event;       /* EventKind */
  uint8_t tensor;      /* what is moved or written: of the name */
  uint8_t operand;     /* of the tensor */
  uint8_t rows, cols;  /* 1: the moved tile has rows of i, of j; a product's area has both */
  bool moves;          /* bytes, that is: a load or a store */
  uint8_t fixed_bytes; /* of an element, whatever the data type: of statistics all words of a row; 0: as the type has */
  uint8_t words;       /* fp32 values a row of statistics */
  uint8_t width;       /* Side of the other side of a moved tile: SIDE_D, SIDE_DV, SIDE_COLS or SIDE_ONE */
  uint8_t height;      /* of a tile with neither rows nor columns, the first of two such sides; else SIDE_ONE */
  bool is_fp32;
  bool partial_only;                 /* mask: tiles crossed by it */
  bool once;                         /* counted once a kernel, though every CTA asks for it */
  bool never;                        /* once, and an earlier line of the kernel has counted it */
  bool masked;                       /* a loop over what the mask lets be seen is around it (of OP_TEST: or is it) */
  bool columns_split;                /* the loop over columns around it is that of a split */
  bool is_checked;                   /* happens only if one of these conditions holds */
  uint8_t first;                     /* IN_...: counted in the first iteration of these loops */
  int8_t needs;                      /* happens if this OP_LOOP has a tile; -1: always */
  uint8_t products_d, products_dv;   /* matrix products of rows x columns x d, x d_v */
  uint8_t first_product, n_products; /* others, in Program.products */
  uint8_t n_exps;                    /* exponentials of rows x columns; tanh and sigmoid take one each */
  int16_t value;                     /* 1 + a node: what `when` compares, or a mask's constant; 0: none */

  uint8_t n_moved, moved[PROGRAM_MOVED_MAX]; /* names */
  uint8_t first_assign, n_assigns;           /* before a store: its value */
  uint8_t name;                              /* moved first, or written */
  bool counts_tile;                          /* the first product of rows x columns in its loop */
} ProgramOp;

/* The three sides of a matrix product: 2 x rows x inner x columns FLOPs. At most one is B_r, and one B_c. */
typedef struct {
  uint8_t sides[3];
} ProgramProduct;

/* `output dQ_i, dK_j, dV_j = gradient(Q, K, V, dO)`, one a name. */
typedef struct {
  uint8_t role; /* TensorRole */
  uint8_t name;
  uint8_t line;    /* index of a line of the text; of an implied one, of the first */
  uint8_t result;  /* which of a formula's results */
  int16_t formula; /* 1 + its node: what the tensor must be; 0: anything */
} ProgramDeclaration;

typedef struct {
  char name[PROGRAM_WORD_BYTES];
  uint8_t first_op, end_op;
  uint8_t when;
  uint8_t n_every; /* loops around everything whose iterations are CTAs; 0: a head is one CTA */
} ProgramKernel;

/* `launch`: how a CTA of a kernel goes about its lines. It changes no number and no event: what SRAM and registers
 * hold, and when units work, follow from it. Zeros: nothing is said. */
typedef struct {
  uint8_t stages[PROGRAM_NAMES_MAX]; /* copies in flight of what a loop loads; 0: one */
  uint64_t registers;                /* names that live in registers, a bit each */
  uint8_t consumers;                 /* warpgroups that share a tile; 0: one */
  uint8_t shared_dim;                /* Dim: then, its rows or its columns */
  uint16_t threads;                  /* of a CTA; 0: not said */
  uint8_t cluster, cluster_dim;      /* CTAs next to each other along a Dim of which one asks L2; 0: each for itself */
  uint64_t shared;                   /* then, for these names, a bit each */
  uint8_t ahead;                     /* 1 + a name that the next step makes beside this step's softmax; 0: none */
  uint8_t ahead_op, beside_op;       /* then, the lines that set it and what it is made beside */
  bool is_said;
} ProgramLaunch;

/* Copies of a name that a launch keeps room for. */
static inline int launch_copies(const ProgramLaunch *l, int name) {
  return l->ahead == name + 1 ? 2 : l->stages[name] ? l->stages[name] : 1;
}

/* `ranks`: what several GPUs do with the kernels, which are a program of one GPU without it. Zeros: nothing is said. */
typedef enum { LAYOUT_CONTIGUOUS = 0, LAYOUT_STRIPED, LAYOUT_ZIGZAG, LAYOUT_COUNT } RankLayout;
extern const char *const RANK_LAYOUT_NAMES[LAYOUT_COUNT]; /* as a program spells them */
typedef enum { RANK_RUN = 0, RANK_SEND, RANK_RECEIVE } RankLineKind;
typedef struct {
  uint8_t kind;   /* RankLineKind */
  uint8_t kernel; /* that is run */
  uint8_t line;   /* index of a line of the text */
  bool in_steps;  /* inside the loop over steps */
  bool not_last;  /* in all of them but the last */
  uint64_t names; /* that are sent to rank g+1, or received from g-1: a bit each */
} ProgramRankLine;
typedef struct {
  bool is_said;
  uint8_t layout; /* RankLayout: which tokens a rank has */
  uint8_t n_lines;
  ProgramRankLine lines[PROGRAM_RANK_LINES_MAX];
} ProgramRanks;

typedef struct {
  uint16_t begin, length; /* in text, without indentation and comment */
  uint8_t indent;         /* in levels */
  uint8_t number;         /* in the file, from 1 */
} ProgramLine;

typedef struct {
  char name[PROGRAM_WORD_BYTES];       /* as typed after --algorithm */
  char title[PROGRAM_TITLE_BYTES];     /* as shown in headings */
  char summary[PROGRAM_SUMMARY_BYTES]; /* one line */
  char source[PROGRAM_TITLE_BYTES];    /* the paper it follows */
  bool is_default, is_compared;        /* `default`: taken where none is named, alone or side by side */
  int n_passes;                        /* outermost loops: passes over the data */
  bool skips;                          /* leaves masked tiles out (else it computes and masks them) */
  bool splits;                         /* obeys Tiling.n_splits */
  bool writes_lse;                     /* obeys Tiling.lse */
  bool whole_head;                     /* one CTA does all passes of a head */
  bool declares;                       /* its own inputs and outputs; else Q, K, V and O are implied */
  bool over_heads;                     /* its kernels run for each KV head, and loop over the query heads themselves */
  bool diagonal;                       /* walks the diagonal: B_r = B_c and N_q = N_k */

  uint8_t n_tensors, n_values; /* that lie in HBM; and with those that stay on chip */
  ProgramTensor tensors[VALUES_MAX];
  uint8_t operands[3]; /* 1 + the names that attention or gradient takes as Q, K and V; 0: none, or no plain name */
  uint8_t n_sizes, n_declarations, n_products;
  ProgramSize sizes[PROGRAM_SIZES_MAX];
  ProgramDeclaration declarations[PROGRAM_DECLARATIONS_MAX];
  ProgramProduct products[PROGRAM_PRODUCTS_MAX];
  uint8_t places[PROGRAM_KERNELS_MAX][PROGRAM_NAMES_MAX]; /* sim/algorithms/sram.h: 1 + the name whose place it has */
  uint8_t n_kernels, n_ops, n_names, n_assigns, n_lines;
  int16_t n_nodes;
  ProgramKernel kernels[PROGRAM_KERNELS_MAX];
  ProgramLaunch launches[PROGRAM_KERNELS_MAX];
  ProgramRanks ranks;
  ProgramOp ops[PROGRAM_OPS_MAX];
  ProgramName names[PROGRAM_NAMES_MAX];
  ProgramAssign assigns[PROGRAM_ASSIGNS_MAX];
  ProgramNode nodes[PROGRAM_NODES_MAX];
  ProgramLine lines[PROGRAM_LINES_MAX];
  char text[PROGRAM_TEXT_BYTES];
  /* Last, as no other member's size depends on the machine (sim/algorithms/compile). */
  const char *path; /* of the user's file that it was read from; NULL: it is shipped */
} Program;

/* ---- Looking at it ---------------------------------------------------------------------------------------- */

typedef uint64_t NameSet; /* a bit for each of Program.names */
_Static_assert(PROGRAM_NAMES_MAX <= 64, "a bit for each name");
static inline NameSet name_bit(int name) { return (NameSet)1 << name; }

/* Of a value's two sides: whether one is `side`; whether it is a column (or a number); a tile of scores, either way;
 * and the blocks that its sides belong to, as IN_I and IN_J. */
static inline bool sides_have(int rows, int cols, int side) { return rows == side || cols == side; }
static inline bool sides_are_column(int rows, int cols) { return sides_have(rows, cols, SIDE_ONE); }
static inline uint8_t sides_blocks(int rows, int cols) {
  return (uint8_t)((sides_have(rows, cols, SIDE_ROWS) ? IN_I : 0) | (sides_have(rows, cols, SIDE_COLS) ? IN_J : 0));
}
static inline bool sides_are_tile(int rows, int cols) { return sides_blocks(rows, cols) == (IN_I | IN_J); }

/* Whether an expression holds a node of a kind; whether it is a number, with a sign or not; the names in it. node -1:
 * there is none. */
bool node_holds(const Program *program, int node, NodeKind kind);
bool node_is_constant(const Program *program, int node);
NameSet node_names(const Program *program, int node);

#endif
