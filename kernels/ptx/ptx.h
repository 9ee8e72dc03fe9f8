/* A machine for PTX: runs any CUDA kernel on a CPU, warp by warp, and counts what the hardware counts.
 *
 *   text -> PtxModule -> PtxKernel -> ptx_run(launch) -> PtxResult
 *           names        checked       grid, block,       counts by instruction and by line,
 *           of entries   instructions  arguments          totals, the first cache, faults
 *
 * Modelled: PTX of sm_70 to sm_90a as nvcc 11 to 13, clang 14 to 19 and Triton write it. 32 lanes run in step; threads
 * that diverge meet again at the smallest program counter. Global requests and 32-byte sectors, shared-memory
 * wavefronts and bank conflicts by the hardware's rules; the merging of neighbouring shared loads that ptxas does. Not
 * modelled: time; SASS (PTX instruction counts are never the hardware's); textures and surfaces (refused).
 *
 * No globals, no files, no clock: the same launch gives the same result. Text comes from strangers: every function is
 * bounded in memory and work, and says the line and the word that it refuses. */
#ifndef TILEWALK_KERNELS_PTX_PTX_H
#define TILEWALK_KERNELS_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

enum {
  PTX_NAME_BYTES = 256, /* a longer name is refused */
  PTX_MAX_INSTRUCTIONS = 200000,
  PTX_MAX_REGISTERS = 60000,
  PTX_MAX_PARAMETER_BYTES = 4096,
  PTX_MAX_SHARED_BYTES =
      227 * 1024, /* one block's, static and dynamic: CUDA C Programming Guide, compute capability 9.0 */
  PTX_MAX_FAULTS = 32,
  PTX_MAX_WARPS = 1 << 27, /* of a launch: one that only returns takes minutes */
};
#define PTX_MAX_MEMORY_BYTES ((int64_t)512 << 20) /* registers, shared, local and module memory of one run */
#define PTX_MAX_LANES                                                                                                  \
  ((int64_t)40000000000) /* instructions of lanes, the default budget: a minute of a core, three with faults */

/* ---- modules and kernels ---- */

typedef struct PtxModule PtxModule; /* a text's entries, parameters and variables */
typedef struct PtxKernel PtxKernel; /* one entry, decoded and verified; unchanged by runs */

typedef enum { PTX_BITS, PTX_UNSIGNED, PTX_SIGNED, PTX_FLOAT } PtxClass;

/* One parameter of an entry. An array or a structure (`.b8 p[40]`) has n > 1 elements of `width_bytes`. */
typedef struct {
  PtxClass numbers;
  int32_t width_bytes;  /* of one element: 1, 2, 4, 8 */
  int32_t size_bytes;   /* of all */
  int32_t offset_bytes; /* in the parameter space */
  bool is_pointer;      /* the text says `.ptr`: a hint, nvcc does not say it of every pointer */
} PtxParameter;

typedef struct {
  int32_t line; /* where the entry begins, in the PTX */
  int32_t n_parameters;
  int32_t required_block[3]; /* .reqntid; 0: not said */
  int32_t max_block_threads; /* .maxntid; 0: not said */
  int32_t cluster[3];        /* .reqnctapercluster; 0: not said */
} PtxEntry;

/* Reads the text of a module (it need not end in 0; it is copied). `name` is what messages call it. Names the line and
 * the word that it refuses: STATUS_BAD_FILE; STATUS_NO_MEMORY. */
Status ptx_module_load(const char *text, size_t n_bytes, const char *name, PtxModule **module, Error *error);
void ptx_module_free(PtxModule *module);
int ptx_n_entries(const PtxModule *module);
const char *ptx_entry_name(const PtxModule *module, int entry); /* as in the text: mangled */
int ptx_find_entry(const PtxModule *module, const char *name);  /* exact, else the one that contains it; else -1 */
PtxEntry ptx_entry(const PtxModule *module, int entry);
PtxParameter ptx_parameter(const PtxModule *module, int entry, int parameter);
const char *ptx_parameter_name(const PtxModule *module, int entry, int parameter);
/* Source files by `.file` number, 1 ...; NULL where there is none. */
const char *ptx_source_file(const PtxModule *module, int file);

/* Decodes and verifies one entry: everything it can reach is checked before anything runs. */
Status ptx_kernel_new(const PtxModule *module, int entry, PtxKernel **kernel, Error *error);
void ptx_kernel_free(PtxKernel *kernel);
bool ptx_kernel_dynamic_shared(const PtxKernel *kernel); /* it names `.extern .shared`: a launch gives its bytes */
int64_t ptx_kernel_static_shared(const PtxKernel *kernel);
int64_t ptx_kernel_local(const PtxKernel *kernel); /* bytes of a thread */
/* Where the array at an address of shared memory begins: static ones, then dynamic memory. */
int64_t ptx_shared_array(const PtxKernel *kernel, int64_t address);

/* One instruction of a kernel, for tables. `text` is a name of what it does ("ld.global.f32"). */
typedef struct {
  int32_t ptx_line;
  int32_t file, line; /* .loc: the outermost inlined_at; 0: none */
  const char *text;
} PtxInstruction;

int ptx_n_instructions(const PtxKernel *kernel);
PtxInstruction ptx_instruction(const PtxKernel *kernel, int pc);

/* ---- a launch ---- */

typedef enum { PTX_SCALAR, PTX_BUFFER } PtxArgumentKind;

/* A scalar or structure: `bytes` are its n_bytes, copied. A buffer: host memory that the kernel reads and writes in
 * place; the parameter is its address. `hidden`: a buffer without a parameter, reached through a pointer inside a
 * structure (ptx_buffer_address says where it lies). `name` is for messages. */
typedef struct {
  PtxArgumentKind kind;
  void *bytes;
  int64_t n_bytes;
  const char *name;
  bool hidden;
  bool uninitialised; /* faults: reading it before writing it is one */
  bool read_only;     /* const in the source: writing it is a fault */
} PtxArgument;

/* The SM that the first cache is modelled for; zeros are an H100's. */
typedef struct {
  int32_t n_sm;                 /* 132 */
  int32_t unified_bytes;        /* 256 KiB: L1 and shared memory */
  int32_t shared_bytes;         /* 228 KiB: what of it can be shared memory */
  int32_t warps, blocks;        /* resident at once: 64, 32 */
  int32_t registers;            /* 65,536 */
  int32_t registers_per_thread; /* what ptxas used; 0: not known, registers bound nothing */
} PtxSm;

/* What leaves the first cache, SM after SM: words of 4 bytes of the 128-byte line at `address`, bit w of `words` for
 * bytes 4 w to 4 w + 3 (a word of which a byte is stored counts as stored). */
typedef enum { PTX_READ_SECTORS, PTX_WRITE_SECTORS, PTX_REDUCE_SECTORS } PtxTraffic;
typedef void PtxSink(void *context, int32_t sm, PtxTraffic kind, uint64_t address, uint32_t words);

/* A tensor map: a tensor in global memory and the box of it that one bulk copy moves, as cuTensorMapEncodeTiled takes
 * them. A launch gives its 128 bytes, at a multiple of 64 in the parameters or in a buffer, in the place of a
 * CUtensorMap. */
enum { PTX_TENSOR_MAP_BYTES = 128 };
typedef struct {
  uint64_t address;                   /* ptx_buffer_address */
  const char *type;                   /* "f16", "bf16", "f32", "f64", "u8", "u16", "u32", "s32", "u64", "s64" */
  int32_t rank;                       /* 1 to 5; the first dimension's elements lie side by side */
  int64_t sizes[5], strides_bytes[5]; /* elements; from one to the next in this dimension, the first is not read */
  int32_t box[5];                     /* elements */
  int32_t swizzle_bytes;              /* 0, 32, 64, 128 */
  bool nans;                          /* what lies outside arrives as NaNs, not zeros */
} PtxTensorMap;
/* STATUS_BAD_REQUEST: what cannot be, in a sentence. */
Status ptx_tensor_map(const PtxTensorMap *map, unsigned char bytes[PTX_TENSOR_MAP_BYTES], Error *error);

/* One request of a warp, as it happens: for pictures. Without the first cache blocks come one after another. */
typedef struct {
  int32_t pc, warp, bytes; /* bytes: of a lane */
  int32_t matrices;        /* of ldmatrix and stmatrix; 0: any other */
  int64_t block;
  uint32_t mask;
  bool shared; /* addresses are bytes of the block's shared memory; else of the kernel's address space */
  bool store;
  uint64_t barriers; /* that were passed before it, by all blocks */
  uint32_t sectors, wavefronts, conflicts;
  const uint64_t *address; /* of 32 lanes */
} PtxSeen;
typedef void PtxWitness(void *context, const PtxSeen *seen);

/* Passes over the banks of such a request of shared memory, were its lanes' addresses these; *conflicts: of them, those
 * that other addresses would spare. */
uint32_t ptx_wavefronts(const PtxSeen *seen, const uint64_t address[32], uint32_t *conflicts);

typedef struct {
  int32_t grid[3], block[3]; /* zeros count as 1 */
  int32_t cluster[3];        /* zeros: what the entry says, else 1 */
  int64_t dynamic_shared_bytes;
  const PtxArgument *arguments; /* in the order of the parameters, hidden ones anywhere */
  int32_t n_arguments;
  int64_t max_lanes;        /* 0: PTX_MAX_LANES */
  int64_t max_memory_bytes; /* 0: PTX_MAX_MEMORY_BYTES */
  bool faults;              /* look for faults (ptx_shadow.h); two to five times slower, no loads are merged */
  bool l1;                  /* model the first cache; blocks of one SM run interleaved */
  PtxSm sm;
  PtxSink *sink; /* with l1: may be NULL */
  void *sink_context;
  PtxWitness *witness; /* told of every request of global and shared memory; NULL */
  void *witness_context;
  uint64_t watch; /* a global address: the result says what wrote it last; 0: none */
  void (*print)(void *context, const char *text, size_t n_bytes); /* device printf; NULL: it prints nothing */
  void *print_context;
  void (*progress)(void *context, int64_t blocks_begun, int64_t blocks); /* NULL: nobody is told */
  void *progress_context;
  int64_t part, parts; /* without the first cache: of the blocks only part 1 ... `parts`, in order; zeros: all */
} PtxLaunch;

/* Where buffer `argument` of the launch lies in the kernel's address space; depends on the sizes alone. */
uint64_t ptx_buffer_address(const PtxLaunch *launch, int argument);

/* ---- a result ---- */

/* What an instruction, a line or a launch did. Counted; `executed` and `lanes` are PTX instructions, not the
 * hardware's. */
typedef struct {
  uint64_t executed, lanes; /* warps that ran it; threads */
  uint64_t requests;        /* warps with at least one active lane: global, shared or local, as the instruction says */
  uint64_t sectors;         /* global and local: of 32 bytes */
  uint64_t wavefronts, conflicts; /* shared */
} PtxCounts;

static inline void ptx_counts_add(PtxCounts *to, const PtxCounts *c) {
  to->executed += c->executed, to->lanes += c->lanes, to->requests += c->requests;
  to->sectors += c->sectors, to->wavefronts += c->wavefronts, to->conflicts += c->conflicts;
}

typedef enum { /* what the requests of an instruction are */
               PTX_NO_REQUEST,
               PTX_GLOBAL_LOAD,
               PTX_GLOBAL_STORE,
               PTX_GLOBAL_ATOMIC,
               PTX_GLOBAL_REDUCE,
               PTX_SHARED_LOAD,
               PTX_SHARED_STORE,
               PTX_SHARED_ATOMIC,
               PTX_LOCAL_LOAD,
               PTX_LOCAL_STORE, /* arrays with a run-time index, spills: never part of global */
               PTX_ASYNC_COPY,  /* cp.async: its global side; counted by the hardware among global loads */
               PTX_BULK_COPY,   /* cp.async.bulk and tensor maps: bytes by the copy engine, no requests */
               PTX_N_REQUEST_KINDS
} PtxRequestKind;

typedef struct {
  PtxCounts by_kind[PTX_N_REQUEST_KINDS];
  uint64_t executed, lanes, barriers;
  uint64_t branches, divergent_branches; /* conditional ones that warps ran; of them, those that split the warp */
  uint64_t taken_branches;
  uint64_t bulk_read_bytes, bulk_write_bytes;
  /* The first cache; 0 when launch.l1 was off. Predicted. */
  uint64_t l1_load_sectors, l1_hit_sectors, l1_sectors_from_l2;
  uint64_t
      l1_reloaded_after_store; /* of the hits: sectors stored to before by the same SM; where no rule fits, say so */
  uint64_t distinct_sectors,
      distinct_pairs; /* of 32 and 64 bytes loaded from global memory: the least L2 and HBM reads */
  int64_t blocks, threads, resident_blocks;
  int64_t memory_bytes; /* the run's own */
} PtxTotals;

/* A fault, with both places where there are two. Kinds and sentences are ptx_shadow.c's. */
typedef struct {
  char message[ERROR_MESSAGE_BYTES]; /* "line 56: thread 32 reads sh + 0, which thread 0 wrote at line 54 ..." */
  /* "uninitialised", "out of bounds", "barrier", "race", "relies on lockstep", "race of equal values", "outside its
   * mask", "in flight", "fence" */
  const char *kind;
  int32_t pc, other_pc; /* -1: none */
  uint64_t count;       /* how often this pair of places was met */
  int32_t about;        /* the machine's own: of one line, different buffers and kinds of access */
  int32_t since;        /* accesses of a block in no order: the barrier before, -1 for the beginning; others -2 */
  bool explained;       /* another fault tells of it */
  bool placed;          /* the message names the place of a barrier */
} PtxFault;

typedef struct {
  PtxTotals totals;
  int32_t n_instructions;
  PtxCounts *counts;     /* by pc */
  PtxRequestKind *kinds; /* by pc */
  int32_t n_faults;
  PtxFault faults[PTX_MAX_FAULTS];
  int32_t watch_pc, watch_thread; /* the last store or atomic to the byte at launch.watch; -1: none */
  int64_t watch_block;
} PtxResult;

/* Runs the launch. Refuses (STATUS_BAD_REQUEST, STATUS_TOO_LARGE, STATUS_NO_MEMORY) a launch that does not fit the
 * kernel, an access outside every buffer (without faults), a budget that is spent and a block that is stuck, with the
 * line; the result then has what was counted until there. Free it in either case. */
Status ptx_run(const PtxKernel *kernel, const PtxLaunch *launch, PtxResult *result, Error *error);
void ptx_result_free(PtxResult *result);

#endif
