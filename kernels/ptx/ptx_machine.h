/* What the parts of the machine share: instructions, symbols, warps, blocks. Inside kernels/ptx only.
 *
 * A register is 32 words of 32 or 64 bits in its warp's file, a predicate a mask of lanes. Constants, addresses,
 * parameters and special registers are vectors of the file too, written once a warp: an operand is an offset, and
 * nothing is asked about it while the kernel runs. A 16-bit register lies in a 32-bit word, its upper half 0. */
#ifndef TILEWALK_KERNELS_PTX_PTX_MACHINE_H
#define TILEWALK_KERNELS_PTX_PTX_MACHINE_H

#include "kernels/ptx/ptx_shadow.h"

/* Each lane l of a mask, from the lowest. `break` would not end it. */
#define FOR_LANES(l, mask)                                                                                             \
  for (uint32_t l##_left = (mask); l##_left; l##_left &= l##_left - 1)                                                 \
    for (int l = __builtin_ctz(l##_left), l##_once = 1; l##_once; l##_once = 0)
/* A lane's number in a vector of 64 or 32 bits. */
static inline uint64_t lane_get(const char *vector, bool wide, int l) {
  return wide ? ((const uint64_t *)vector)[l] : ((const uint32_t *)vector)[l];
}
static inline uint32_t lane_word(const char *R, int32_t place, int l) { return ((const uint32_t *)(R + place))[l]; }
static inline void lane_set(char *vector, bool wide, int l, uint64_t value) {
  if (wide)
    ((uint64_t *)vector)[l] = value;
  else
    ((uint32_t *)vector)[l] = (uint32_t)value;
}
enum { LANES = 32, WORD_BYTES = 128, LONG_BYTES = 256, ALL_LANES = -1 };

/* Address windows of the generic space. Global memory begins far above: a kernel never sees a host's pointer. */
#define SHARED_WINDOW ((uint64_t)1 << 40) /* + rank in the cluster << 24 */
#define LOCAL_WINDOW  ((uint64_t)2 << 40)
#define PARAM_WINDOW  ((uint64_t)3 << 40)
#define MODULE_BASE   ((uint64_t)0x7e0000000000) /* .global and .const variables */
#define GLOBAL_BASE   ((uint64_t)0x7f0000000000) /* buffers */
#define WINDOW_BYTES  ((uint64_t)1 << 32)
enum { RANK_SHIFT = 24 };

/* ---- text ---- */

typedef struct {
  const char *at;
  int32_t n;
} Word; /* a piece of the module's text */

typedef enum {
  SYM_NONE,
  SYM_REG,
  SYM_RANGE,
  SYM_LABEL,
  SYM_PARAM,
  SYM_LOCAL,
  SYM_SHARED,
  SYM_MODULE,
  SYM_FUNCTION,
  SYM_TARGETS
} SymbolKind;

/* A name in a scope. `value`: a register's first offset or -1 (made when it is used), an address, a program counter, an
 * index. */
typedef struct {
  Word name;
  int32_t scope;
  SymbolKind kind;
  uint8_t width;        /* registers: bits; 1 is a predicate */
  bool dynamic;         /* of dynamic shared memory: added when all static arrays are known */
  bool constant;        /* .const */
  int32_t first, count; /* ranges: index into the kernel's table of slots */
  int64_t value, bytes;
} Symbol;

/* Open addressing; index + 1 of the symbol, 0 empty. */
typedef struct {
  Symbol *symbols;
  int32_t *table;
  int32_t n, capacity, mask;
} Symbols;

Symbol *symbols_find(const Symbols *s, int32_t scope, Word name);
Symbol *symbols_add(Symbols *s, int32_t scope, Word name,
                    SymbolKind kind); /* NULL: no memory. A name that is there is hidden */
void symbols_free(Symbols *s);

/* Where the reader is. The text ends in 0. */
typedef struct {
  const char *at, *end;
  int32_t line;
} Cursor;

void cursor_skip(Cursor *c); /* blanks and comments */
Word cursor_word(Cursor *c); /* the next word (n = 0: none): a name, an opcode with its suffixes, a number */
bool cursor_take(Cursor *c, char symbol); /* the next character, where it is this one */
char cursor_peek(Cursor *c);              /* the next character that is no blank; 0 at the end */
void cursor_past(Cursor *c, char symbol); /* behind the next of these, or to the end */
bool word_is(Word w, const char *text);
int32_t word_index(Word w, const char *names); /* among names apart by blanks; -1: none of them */
/* A number: 12, -3, 0x1F, 0b1, 077, 1.5, 0f3F800000, 0d.... `is_float`: what it is for, when written with a point. */
typedef enum { NUMBER_NONE, NUMBER_INTEGER, NUMBER_F32, NUMBER_F64 } NumberKind;
NumberKind word_number(Word w, uint64_t *value);

/* ---- modules ---- */

typedef struct {
  Word name;
  bool is_entry, has_body;
  Cursor parameters, body; /* behind "(" or at "{" */
  Cursor returns;          /* behind the "(" of what a function gives back; at NULL: nothing */
  PtxEntry entry;
  int32_t first_parameter;
} Function;

typedef struct {
  Word name;
  PtxParameter p;
} Parameter;

typedef struct {
  int32_t number;
  char name[PTX_NAME_BYTES];
} SourceFile;

/* 16 bits of `address`-valued initialisers are resolved when the module is read. */
struct PtxModule {
  char name[PTX_NAME_BYTES];
  char *text;
  size_t n_text;
  int32_t version;
  Symbols symbols; /* scope 0 */
  Function *functions;
  int32_t n_functions, functions_capacity;
  int32_t *entries;
  int32_t n_entries, entries_capacity;
  Parameter *parameters;
  int32_t n_parameters, parameters_capacity;
  SourceFile *files;
  int32_t n_files, files_capacity;
  char *names;           /* C strings of entries and parameters */
  unsigned char *memory; /* .global and .const variables as they begin */
  int64_t n_memory, memory_capacity;
  int64_t shared_bytes; /* of arrays outside functions */
};

/* ---- instructions ---- */

typedef struct {
  uint16_t op;
  uint8_t space, bytes, vec, type, mode, wide; /* wide: the address register has 64 bits */
  bool guard_not, micro, is_signed, counted;   /* micro: part of the instruction before, not counted */
  int32_t guard;                               /* a predicate, or -1 */
  int32_t d, a, b, c;                          /* offsets into the file; predicates: their index */
  int64_t imm;
  int32_t target, ext, line, loc, site, text; /* loc: into locations; text: the opcode's place in the module */
  int32_t text_n,
      operands; /* operands: of no arithmetic, in lists: how many it reads and writes, and which; -1: none */
} Ins;

typedef struct {
  int32_t file, line;
} Location;

/* A vector of the file that is written once a warp or block. */
typedef enum { SLOT_CONSTANT, SLOT_DYNAMIC /* shared: value + static bytes */, SLOT_PARAMETER, SLOT_SPECIAL } SlotKind;
typedef struct {
  SlotKind kind;
  uint8_t width; /* bits: 32 or 64 */
  uint8_t bytes; /* of a parameter */
  bool is_signed;
  int32_t offset;
  uint64_t value; /* a special register's number, a parameter's offset */
} Slot;

enum { SHARED_ARRAYS = 16 };
struct PtxKernel {
  const PtxModule *module;
  int32_t function;
  Ins *code;   /* as written, for faults */
  Ins *merged; /* with neighbouring shared loads merged */
  int32_t n_code, code_capacity;
  int32_t *lists; /* registers of vectors, targets of brx */
  int32_t n_lists, lists_capacity;
  Slot *slots;
  int32_t n_slots, slots_capacity;
  Location *locations;
  int32_t n_locations, locations_capacity;
  char *texts;        /* C strings of opcodes */
  int64_t file_bytes; /* of one warp's registers */
  int32_t n_predicates, n_sites, n_registers;
  int64_t static_shared, local_bytes; /* local: a thread's, with the parameters of calls */
  int64_t arrays[SHARED_ARRAYS];      /* of static shared memory: where they begin */
  int32_t n_arrays;
  bool dynamic_shared, has_spin, has_l1_bypass;
  int32_t granule_bytes, dynamic_align; /* where dynamic shared memory begins: a multiple of it */
};

/* Opcodes: ptx_ops.h has the arithmetic. */
enum {
  O_NOP,
  O_BRA,
  O_BRX,
  O_EXIT,
  O_LD,
  O_ST,
  O_LD_PARAM,
  O_ATOM,
  O_CP_ASYNC,
  O_CP_COMMIT,
  O_CP_WAIT,
  O_BAR_SYNC,
  O_BAR_ARRIVE,
  O_BAR_RED,
  O_BAR_WARP,
  O_SHFL,
  O_VOTE,
  O_MATCH,
  O_REDUX,
  O_ELECT,
  O_ACTIVEMASK,
  O_CLOCK,
  O_MMA,
  O_LDMATRIX,
  O_STMATRIX,
  O_MOVMATRIX,
  O_WGMMA,
  O_WGMMA_SYNC,
  O_MBAR_INIT,
  O_MBAR_ARRIVE,
  O_MBAR_TEST,
  O_CP_MBAR,
  O_BULK,
  O_CLUSTER_ARRIVE,
  O_CLUSTER_WAIT,
  O_MAPA,
  O_FENCE_PROXY,
  O_FENCE,
  O_SETMAXNREG,
  O_ISSPACEP,
  O_PRINT,
  O_ASSERT,
  O_LIBRARY,
  O_CVT,
  O_TRAP,
  O_WATCHED, /* ptx_registers.h: another, whose registers may lack a value */
  O_FIRST_ARITHMETIC
};

/* space of Ins */
enum { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM, SPACE_CLUSTER };

/* type of Ins, also an index of type_bytes */
typedef enum {
  T_NONE,
  T_B8,
  T_U8,
  T_S8,
  T_B16,
  T_U16,
  T_S16,
  T_F16,
  T_BF16,
  T_B32,
  T_U32,
  T_S32,
  T_F32,
  T_F16X2,
  T_BF16X2,
  T_TF32,
  T_B64,
  T_U64,
  T_S64,
  T_F64,
  T_B128,
  T_PRED,
  T_E4M3,
  T_E5M2,
  T_E4M3X2,
  T_E5M2X2,
  T_S4,
  T_U4,
  T_B1
} Type;
extern const uint8_t ptx_type_bytes[];

/* mode of LD, ST, CP_ASYNC */
enum { MODE_LONG = 1, MODE_VOLATILE = 2, MODE_PAST_L1 = 4, MODE_SHORT = 8 };
enum { MODE_SPINS = 1 }; /* of BRA: a turn of a loop that waits for somebody */

/* what an atom does */
enum {
  ATOM_ADD,
  ATOM_MIN,
  ATOM_MAX,
  ATOM_AND,
  ATOM_OR,
  ATOM_XOR,
  ATOM_EXCH,
  ATOM_CAS,
  ATOM_INC,
  ATOM_DEC,
  ATOM_NO_RESULT = 16
};

/* Special registers. */
// clang-format off
#define PTX_SPECIALS(X) \
  X(TID_X, "%tid.x") X(TID_Y, "%tid.y") X(TID_Z, "%tid.z") X(NTID_X, "%ntid.x") \
  X(NTID_Y, "%ntid.y") X(NTID_Z, "%ntid.z") X(CTAID_X, "%ctaid.x") X(CTAID_Y, "%ctaid.y") \
  X(CTAID_Z, "%ctaid.z") X(NCTAID_X, "%nctaid.x") X(NCTAID_Y, "%nctaid.y") X(NCTAID_Z, "%nctaid.z") \
  X(LANEID, "%laneid") X(WARPID, "%warpid") X(NWARPID, "%nwarpid") X(SMID, "%smid") \
  X(NSMID, "%nsmid") X(GRIDID, "%gridid") X(CLUSTERID_X, "%clusterid.x") X(CLUSTERID_Y, "%clusterid.y") \
  X(CLUSTERID_Z, "%clusterid.z") X(NCLUSTERID_X, "%nclusterid.x") \
  X(NCLUSTERID_Y, "%nclusterid.y") X(NCLUSTERID_Z, "%nclusterid.z") \
  X(CLUSTER_CTAID_X, "%cluster_ctaid.x") X(CLUSTER_CTAID_Y, "%cluster_ctaid.y") \
  X(CLUSTER_CTAID_Z, "%cluster_ctaid.z") X(CLUSTER_NCTAID_X, "%cluster_nctaid.x") \
  X(CLUSTER_NCTAID_Y, "%cluster_nctaid.y") X(CLUSTER_NCTAID_Z, "%cluster_nctaid.z") \
  X(CLUSTER_CTARANK, "%cluster_ctarank") X(CLUSTER_NCTARANK, "%cluster_nctarank") \
  X(LANEMASK_EQ, "%lanemask_eq") X(LANEMASK_LE, "%lanemask_le") \
  X(LANEMASK_LT, "%lanemask_lt") X(LANEMASK_GE, "%lanemask_ge") \
  X(LANEMASK_GT, "%lanemask_gt") X(DYNAMIC_SMEM, "%dynamic_smem_size") \
  X(TOTAL_SMEM, "%total_smem_size") X(EXPLICIT_CLUSTER, "%is_explicit_cluster")
// clang-format on
enum {
#define X(name, text) SPECIAL_##name,
  PTX_SPECIALS(X)
#undef X
      N_SPECIALS
};

/* ---- a run ---- */

typedef struct PtxRegisters PtxRegisters; /* ptx_registers.h */

/* What a request from one instruction looked like: lanes' addresses less the first lane's, and what was counted. */
typedef struct {
  uint64_t delta[LANES]; /* narrow addresses: uint32_t in the first half */
  int32_t offset[LANES]; /* the same, to add to a pointer */
  uint32_t mask;         /* 0: nothing yet */
  uint32_t misaligned;   /* lanes that are not at a multiple of the access's size, when the first is */
  uint32_t low;          /* the first address in its sector */
  bool any_low;          /* sectors and wavefronts do not depend on low */
  uint8_t kind;          /* SHAPE_* */
  int64_t min, max;      /* of the differences; max has the access's bytes */
  uint32_t sectors, groups, wavefronts;
} Shape;
enum { SHAPE_GATHER, SHAPE_CONTIGUOUS, SHAPE_BROADCAST, SHAPE_FAR /* more than 2 GB apart */ };

typedef struct {
  Shape shape[2];
  uint32_t last;      /* which of them was used last */
  uint64_t low, high; /* the buffer last seen */
  uintptr_t bias;     /* its host address, less low */
} Site;

typedef struct {
  int32_t pc;
  uint32_t mask;
  int32_t wait; /* in Warp.wait: what for */
} Fragment;
enum { WAIT_WARP = -1, WAIT_MBARRIER = -2, WAIT_CLUSTER = -3, WAIT_WGMMA = -4 }; /* else a barrier's number */

typedef struct {
  int64_t file, local; /* offsets into the run's arena */
  Fragment run[LANES], wait[LANES];
  int32_t n_run, n_wait;
  uint32_t alive, exist; /* lanes that have not left; lanes that there are */
  uint32_t gives_up;     /* whose next wait at an mbarrier need not come through */
  bool gives_in;         /* what waits for lanes of the warp goes on without those that wait for something else */
  int32_t wgmma_groups;  /* committed */
  uint32_t cluster_odd;  /* parity of the phase that they arrived in */
  uint32_t turns;        /* of spinning branches */
  bool spinning;         /* the fragment with the largest pc runs */
  int32_t forced;        /* the pc whose warp-wide instruction need not wait for absent lanes; -1: none */
  int32_t index;
} Warp;

typedef struct {
  int32_t arrived, expected; /* threads; expected 0: all that are alive */
  int32_t count;             /* bar.red: threads whose predicate holds */
  uint32_t threads[32];      /* that have come, a bit each */
} Barrier;
enum { N_BARRIERS = 16, PATIENCE = 64 };

typedef struct {
  int64_t index;                /* linear; -1: an empty place */
  bool has_constants;           /* its warps' files do */
  int32_t specials[N_SPECIALS]; /* as its warps' files have them */
  int32_t ctaid[3];
  int32_t sm, rank;          /* in its cluster */
  int64_t shared;            /* offset into the arena */
  int32_t first_warp, alive; /* threads */
  int32_t cluster_first;     /* place of rank 0 */
  int32_t cluster_arrived, cluster_phase;
  Barrier barriers[N_BARRIERS];
} Block;

typedef struct {
  uint64_t address, bytes;
  char *host;
  int32_t argument; /* -1: the module's variables */
  bool read_only;
} Buffer;

typedef struct PtxL1 PtxL1;

typedef enum { WARP_DONE, WARP_WAITS, WARP_YIELDS, WARP_REQUEST, WARP_ERROR } WarpState;
typedef struct Run Run;
typedef WarpState WarpStep(Run *run, Block *block, Warp *warp);

struct Run {
  const PtxKernel *kernel;
  const PtxLaunch *launch;
  const Ins *code;
  PtxResult *result;
  Error *error;
  PtxShadow *shadow;
  char *arena;
  int64_t arena_bytes;
  Site *sites;
  Buffer *buffers;
  int32_t n_buffers;
  unsigned char *module_memory;
  _Alignas(16) unsigned char parameters[PTX_MAX_PARAMETER_BYTES];
  int64_t parameter_bytes, shared_bytes;
  Warp *warps;
  Block *blocks;
  int32_t n_places, warps_per_block; /* blocks that are alive at once */
  int32_t grid[3], block[3], cluster[3], block_threads;
  int64_t lanes_left, lanes, taken, divergent; /* lanes: the budget, in instructions of lanes; taken: branches */
  uint64_t clock, watch;
  int64_t printed_bytes;
  uint64_t barriers;
  bool is_followed;        /* by launch->watch, its witness or the first cache */
  PtxRegisters *registers; /* NULL: none can lack a value, or nobody asks */
  int32_t patience;        /* how often waits have given up since a phase of an mbarrier ended */
  PtxL1 *cache;
  Status status;
  int32_t n_sm;
  WarpStep *step;
};

/* ptx_warp.c and ptx_mma.c are compiled once for any machine and, on x86, once more for AVX2, with another name. */
#ifdef PTX_AVX2
#define PTX_ISA(name) name##_avx2
#else
#define PTX_ISA(name) name
#endif

/* The hot loop. Runs until the warp has left, waits, spins, fails, or (with the first cache) has made a global request.
 */
WarpState ptx_warp_run(Run *run, Block *block, Warp *warp);
WarpState ptx_warp_run_avx2(Run *run, Block *block, Warp *warp);

/* Notes a message that begins with the place: "line 12 (kernel.cu:56): ...". */
bool run_fails(Run *run, int32_t pc, const char *format, ...) __attribute__((format(printf, 3, 4))); /* false */

/* The budget is in instructions of lanes. Between two jumps a lane runs every instruction, so a jump from pc to target
 * costs pc + 1 - target of each lane (a jump ahead gives back), and its exit pc + 1: the sum is what it ran. */
bool run_is_spent(Run *run, int32_t pc); /* false */
static inline bool run_jumps(Run *run, int32_t pc, int32_t target, uint32_t lanes) {
  run->taken++;
  run->lanes_left -= (int64_t)(pc + 1 - target) * __builtin_popcount(lanes);
  return run->lanes_left >= 0 || run_is_spent(run, pc);
}

PtxRequestKind run_kind(const Ins *i, int32_t space); /* what its requests are, in a space */
bool run_refuses(Run *run, Status status, const char *format, ...) __attribute__((format(printf, 3, 4))); /* false */

/* ---- a launch against its kernel (ptx_launch.c) ---- */
bool launch_shape(Run *run);
int64_t launch_static_shared(const Run *run);               /* with what is left free before dynamic shared memory */
bool launch_bind(Run *run);                                 /* arguments */
int32_t launch_resident(const Run *run, int64_t *l1_bytes); /* blocks that an SM holds; what L1 has left */

/* ---- sites ---- */

/* Counts of one request from the lanes' addresses (each `bytes` long): distinct 32-byte sectors. */
uint32_t site_sectors(const uint64_t address[LANES], uint32_t mask, int32_t bytes);
/* Shared memory: groups (wavefronts without conflicts) and wavefronts. */
uint32_t site_atomic_sectors(const uint64_t address[LANES], uint32_t mask);
uint32_t site_wavefronts(const uint64_t address[LANES], uint32_t mask, int32_t bytes, uint32_t *groups);
/* ldmatrix, stmatrix: eight rows of 16 bytes a matrix; a wavefront each without conflicts. */
uint32_t site_matrix_wavefronts(const uint64_t address[LANES], int32_t matrices);
/* The buffer that holds [address, address + bytes), or NULL. */
const Buffer *run_buffer(const Run *run, uint64_t address, uint64_t bytes);

/* ---- blocks (ptx_block.c) ---- */

/* Room for `n` places: blocks, warps, and their part of the arena. False: over the budget (nothing has changed), or no
 * memory. */
bool run_make_places(Run *run, int32_t n);
void block_begin(Run *run, int32_t place, int64_t cluster, int32_t rank, int32_t sm);
void block_release(Run *run, Block *block);            /* barriers whose threads have all come */
int64_t run_thread(const Warp *w, uint32_t mask);      /* of the first lane, in its block */
void block_wake(Run *run, Block *block, int32_t wait); /* fragments that wait for it run again */
void warp_park(Warp *w, int32_t wait, int32_t pc, uint32_t mask);
void cluster_release(Run *run, Block *block); /* where all threads of its cluster have arrived */
bool run_give_up(Run *run); /* nobody can run: waits at mbarriers give up; false: there are none, or too often */

/* ---- tensor cores, matrices (ptx_mma.c) ---- */
void mma_run(const Ins *i, const int32_t *list, char *R);
void mma_run_avx2(const Ins *i, const int32_t *list, char *R);
int32_t mma_results(const Ins *i);                                      /* registers of D */
bool wgmma_run(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask); /* false: the run has failed (ptx_wgmma.c) */
bool wgmma_run_avx2(Run *run, Block *b, Warp *w, int32_t pc, uint32_t mask);

/* ---- the first cache (ptx_l1.c) ---- */
PtxL1 *ptx_l1_new(const Run *run, int64_t l1_bytes); /* NULL: no memory */
void ptx_l1_free_of(PtxL1 *cache, int32_t n_buffers);
void ptx_l1_totals(const PtxL1 *cache, const Run *run, PtxTotals *totals);
/* The SM of a cluster of blocks, and the turn-th cluster that an SM gets (-1: no more). */
int64_t deal_cluster(int64_t n_clusters, int32_t n_groups, int32_t group, int64_t turn);
void ptx_l1_bulk(PtxL1 *cache, Run *run, int32_t sm, PtxTraffic kind, uint64_t address, uint64_t bytes); /* past it */
void ptx_l1_request(PtxL1 *cache, Run *run, int32_t sm, PtxTraffic kind, bool allocate, const uint64_t address[LANES],
                    uint32_t mask, int32_t bytes);

#endif
