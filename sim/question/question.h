/* The question: shape, algorithms, blocks, machine and scene, as every command takes them and as the one-line state
 * spells them.
 *
 *     text -> rows of options (sim/question/option.h) -> Question -> Problem      and a Question is a line again
 *
 * A row says how a field is spelled, read, refused and written back; nothing else does. */
#ifndef TILEWALK_SIM_QUESTION_QUESTION_H
#define TILEWALK_SIM_QUESTION_QUESTION_H

#include "sim/question/option.h"
#include "sim/question/scenes.h"
#include "sim/ranks.h"

enum { QUESTION_DEFAULT_N = 4096, QUESTION_DEFAULT_D = 128 };
enum { QUESTION_ALGORITHMS_MAX = 8, QUESTION_NAME_BYTES = 256, QUESTION_STATE_BYTES = 3072 };

/* What the scene `many` adds to the problem: sequences that decode, or a prompt in chunks, with a cache in pages. */
enum { SERVED_SEQUENCES_MAX = 16 };
typedef struct {
  int64_t n, lengths[SERVED_SEQUENCES_MAX]; /* tokens of each sequence; n 0: as the problem's batch */
  int64_t page;                             /* tokens; 0: kvcache's default */
  int64_t prefix;                           /* tokens that all of them begin with */
  int64_t chunk;                            /* tokens of a prompt at a time; 0: a row block */
} ServedPages;

/* What it adds: ranks that share the tokens. */
enum { RING_RANKS_MAX = 64 };
typedef struct {
  int64_t n; /* 0: 4 */
  Scheme scheme;
} RingRanks;

/* K and V of every head, or the latent; by default as the queries are. */
typedef enum { MLA_AUTO = 0, MLA_ABSORBED, MLA_EXPANDED, MLA_COUNT } MlaForm;

/* Of a model's layers: by default those that see all tokens, where there are any. */
typedef enum { LAYERS_ANY = 0, LAYERS_FULL, LAYERS_WINDOW, LAYERS_CHUNK } LayersMeant;
extern const char *const LAYER_KINDS[]; /* "any", "full", "window", "chunk"; ends with NULL */

typedef struct {
  Shape shape;                     /* zeros: defaults (N 4096, d 128, fp16, one head) */
  Tiling tiling;                   /* zeros: defaults */
  Pack pack;                       /* --pack-gqa */
  char model[QUESTION_NAME_BYTES]; /* --model, until its numbers have been taken; "": none, or taken */
  bool has_dtype;                  /* --dtype is given: the model's does not count */
  bool has_v_in_k;                 /* --v-in-k is given, or --v-in-k=0 */
  MlaForm mla;
  LayersMeant layer;
  int64_t block;                    /* --block: both B_r and B_c; 0: not given */
  bool algorithm1_blocks;           /* --block paper */
  bool largest_block;               /* --block largest */
  int64_t sram_bytes, l2_bytes;     /* 0: the machine's */
  char gpu[QUESTION_NAME_BYTES];    /* "": paper */
  char kernel[QUESTION_NAME_BYTES]; /* "": none in particular */
  char mask[PATTERN_NAME_BYTES];    /* a pattern of blocks, by name or file; "": none */
  int64_t ctas_per_sm;              /* 0: as the kernel, or its resources, allow */
  bool in_step;                     /* --pace step, skew:N; else in time */
  int64_t skew_turns;               /* --pace skew:N */
  Refinements without;              /* parts of the model of L2 left out */
  bool has_order, has_walk;         /* given; else the kernel's */
  LaunchOrder order;
  LaunchWalk walk;
  const Schedule *algorithms[QUESTION_ALGORITHMS_MAX];
  int n_algorithms; /* 0: the command's default */
  bool
      follows_kernel; /* the one algorithm is what the kernel follows at these sizes; at others it may follow another */
  int64_t seed;
  char scene[32]; /* state only: which scene, which step */
  int64_t step;
  int step_thousandths; /* of the way to the next step: pictures are drawn between steps too */
  int64_t row;          /* of a row block, whose softmax is shown, from 1; 0: the middle one */
  bool l2_later;        /* as StageConfig's: of a front end, in no state line */
  int64_t q_scale;      /* Q is multiplied by it; 0: see StageConfig */
  bool without_max;
  ServedPages pages; /* of the scene `many` */
  RingRanks ring;    /* of the scene `many` */
} Question;

extern const Option QUESTION_SHAPE_OPTIONS[];   /* -N, --seq-len-k, -d, --batch, --heads, ... */
extern const Option QUESTION_TILING_OPTIONS[];  /* --algorithm, --block, --splits, --lse */
extern const Option QUESTION_MACHINE_OPTIONS[]; /* --sram, --gpu, --state, whose keys are those of the scene */
extern const Option QUESTION_EXPERT_OPTIONS[];  /* --ctas-per-sm, --order, --walk, ...: the launch, the model of L2 */
extern const Option QUESTION_SCENE_OPTIONS[];   /* --scene, --step, --row, ..., for commands that draw scenes */

/* The four tables for a command whose options struct holds a Question as `member`; and of a Question alone. */
#define QUESTION_OPTION_SETS(type, member)                                                                             \
  {"Shape", QUESTION_SHAPE_OPTIONS, offsetof(type, member)},                                                           \
      {"Algorithm and tiles", QUESTION_TILING_OPTIONS, offsetof(type, member)},                                        \
      {"Machine", QUESTION_MACHINE_OPTIONS, offsetof(type, member)}, {                                                 \
    "Launch and L2, for experts", QUESTION_EXPERT_OPTIONS, offsetof(type, member)                                      \
  }
extern const OptionSet QUESTION_SETS[];

/* Of --algorithm, for a command with a row of its own. */
Status question_set_algorithm(void *question, const char *value, const QuestionFiles *files, Error *error);

/* The one-line state of the question: key=value with defaults left out. Returns text. */
const char *question_state(const Question *question, char text[QUESTION_STATE_BYTES]);

/* Takes what the question does not say from its model: heads, KV heads, head sizes, mask, latent, type. Afterwards it
 * names no model. */
Status question_take_model(Question *question, const QuestionFiles *files, Error *error);

/* Of a model with several kinds of layers, where no kind is asked for: which one is meant; else "". */
enum { QUESTION_NOTE_BYTES = 200 };
Status question_layer_note(const Question *question, const QuestionFiles *files, char note[QUESTION_NOTE_BYTES],
                           Error *error);

/* Turns the question into a problem: loads the GPU, resolves blocks, checks what contradicts. *gpu may be NULL. */
Status question_problem(const Question *question, const QuestionFiles *files, Problem *problem, Gpu *gpu, Error *error);

/* Refuses options about the launch where nothing that is printed depends on them: on a machine without L2. */
Status question_has_effect(const Question *question, const Gpu *gpu, Error *error);

/* Fills in the program that is shown alone, or those that are compared, where the question names no algorithm, and
 * refuses options that none of the algorithms obeys. */
typedef enum { REQUEST_ONE = 0, REQUEST_COMPARED } QuestionDefault;
Status question_algorithms(Question *question, const QuestionFiles *files, QuestionDefault which, Error *error);

/* For scenes. Without any size the problem becomes one small enough to be looked at: N = 64, d = 16, causal, tiles of 8
 * x 8. */
void question_choose_small(Question *question);

#endif
