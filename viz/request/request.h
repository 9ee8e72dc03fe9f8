/* The request: shape, algorithms, blocks and machine, as every command takes them and as the one-line state spells
 * them. */
#ifndef TILEWALK_VIZ_REQUEST_REQUEST_H
#define TILEWALK_VIZ_REQUEST_REQUEST_H

#include <stdint.h>

#include "sim/machine/gpu.h"
#include "sim/simulate.h"
#include "sim/question/option.h"
#include "viz/scene/snapshot.h"

enum { REQUEST_ALGORITHMS_MAX = 8, REQUEST_NAME_BYTES = 256, REQUEST_STATE_BYTES = 3072 };

typedef struct {
  Shape shape;                     /* zeros: defaults (N 4096, d 128, fp16, one head) */
  Tiling tiling;                   /* zeros: defaults */
  Pack pack;                       /* --pack-gqa */
  char model[REQUEST_NAME_BYTES];  /* --model, until its numbers have been taken; "": none, or taken */
  bool has_dtype;                  /* --dtype is given: the model's does not count */
  bool has_v_in_k;                 /* --v-in-k is given, or --v-in-k=0 */
  bool is_expanded, is_absorbed;   /* --mla: K and V of every head, or the latent; neither: by the queries */
  int64_t block;                   /* --block: both B_r and B_c; 0: not given */
  bool algorithm1_blocks;          /* --block paper */
  int64_t sram_bytes;              /* 0: the machine's */
  char gpu[REQUEST_NAME_BYTES];    /* "": paper */
  char kernel[REQUEST_NAME_BYTES]; /* "": none in particular */
  char mask[PATTERN_NAME_BYTES];   /* a pattern of blocks, by name or file; "": none */
  int64_t ctas_per_sm;             /* 0: as the kernel, or its resources, allow */
  bool in_step;                    /* --pace step, skew:N; else in time */
  int64_t skew_turns;              /* --pace skew:N */
  Refinements without;             /* parts of the model of L2 left out */
  bool has_order, has_walk;        /* given; else the kernel's */
  LaunchOrder order;
  LaunchWalk walk;
  const Schedule *algorithms[REQUEST_ALGORITHMS_MAX];
  int n_algorithms; /* 0: the command's default */
  bool
      follows_kernel; /* the one algorithm is what the kernel follows at these sizes; at others it may follow another */
  int64_t seed;
  char scene[32]; /* state only: which scene, which step */
  int64_t step;
  int step_thousandths; /* of the way to the next step: pictures are drawn between steps too */
  int64_t row;          /* of a row block, whose softmax is shown, from 1; 0: the middle one */
  bool l2_later;        /* as StageConfig's: of a front end, in no state line */
  int zoom;             /* how far in, of the scenes that have levels (Scene.zooms) */
  int64_t q_scale;      /* Q is multiplied by it; 0: see StageConfig */
  bool without_max;
  ServedPages pages; /* of the scene `serving` */
  RingRanks ring;    /* of the scene `ring` */
  bool by_time;      /* the clock of the race, and of playing: the model's time; else bytes, and a beat a step */
} Request;

extern const Option REQUEST_SHAPE_OPTIONS[];   /* -N, --seq-len-k, -d, --batch, --heads, ... */
extern const Option REQUEST_TILING_OPTIONS[];  /* --algorithm, --block, --splits, --lse */
extern const Option REQUEST_MACHINE_OPTIONS[]; /* --sram, --gpu, --seed, --state */
extern const Option REQUEST_EXPERT_OPTIONS[];  /* --ctas-per-sm, --order, --walk, ...: the launch, the model of L2 */

extern const Option REQUEST_SCENE_OPTIONS[]; /* --scene, --step, --row, ..., for commands that draw scenes */

/* The four tables for a command whose options struct holds a Request as `member`. */
#define REQUEST_OPTION_SETS(type, member)                                                                              \
  {"Shape", REQUEST_SHAPE_OPTIONS, offsetof(type, member)},                                                            \
      {"Algorithm and tiles", REQUEST_TILING_OPTIONS, offsetof(type, member)},                                         \
      {"Machine", REQUEST_MACHINE_OPTIONS, offsetof(type, member)}, {                                                  \
    "Launch and L2, for experts", REQUEST_EXPERT_OPTIONS, offsetof(type, member)                                       \
  }

/* Takes what the request does not say from its model: heads, KV heads, head sizes, window, latent, type. Afterwards it
 * names no model. note, if not NULL: what a reader should know of what was taken; "": nothing. */
enum { REQUEST_NOTE_BYTES = 200 };
Status request_take_model(Request *request, char note[REQUEST_NOTE_BYTES], Error *error);

/* Turns the request into a problem: loads the GPU, resolves blocks, checks what contradicts. *gpu may be NULL. */
Status request_problem(const Request *request, Problem *problem, Gpu *gpu, Error *error);

/* Refuses options about the launch where nothing that is printed depends on them: on a machine without L2. */
Status request_has_effect(const Request *request, const Gpu *gpu, Error *error);

/* Fills in the program that is shown alone, or those that are compared, where the request names no algorithm, and
 * refuses options that none of the algorithms obeys. */
typedef enum { REQUEST_ONE = 0, REQUEST_COMPARED } RequestDefault;
Status request_algorithms(Request *request, RequestDefault which, Error *error);

/* For scenes. Without any size the problem becomes one small enough to be looked at: N = 64, d = 16, causal, tiles of 8
 * x 8. */
void request_choose_small(Request *request);

/* Sets up the stage of the one algorithm that is named (default fa2), or says why not; also when the request's step is
 * beyond the end. row_in_block as in StageConfig; 0: the request's. Completes the request. Free the stage even after an
 * error. */
Status request_stage(Request *request, bool without_max, int64_t row_in_block, Stage *stage, Error *error);

/* The one-line state of the request: key=value with defaults left out. Returns text. */
const char *request_state(const Request *request, char text[REQUEST_STATE_BYTES]);

/* "--json", "--csv" and "-o FILE", for commands that print results. */
typedef struct {
  bool json, csv;
  char output[4096];
} OutputRequest;
extern const Option OUTPUT_FORMAT_OPTIONS[]; /* --json, --csv; target: OutputRequest */
extern const Option OUTPUT_FILE_OPTIONS[];   /* -o, --output */
Status output_request_check(const OutputRequest *output, Error *error);

#endif
