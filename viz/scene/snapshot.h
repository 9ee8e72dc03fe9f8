/* What a scene shows at one step: the state of the event stream, folded, and nothing else.
 *
 *     Stage stage;                                   set up once for a problem and an algorithm
 *     stage_make(&stage, &config, error);
 *     Snapshot now;
 *     stage_snapshot(&stage, step, &now);            any step, in any order, in microseconds
 *     scene_draw(SCENE_WALK, &now, &view, cr, ...)   (viz/scene/scene.h)
 *     stage_free(&stage);
 *
 * Step s is the moment after s events: at step 0 nothing has happened, at step n_steps all is done, and
 * the present event is number s - 1 of the stream. A snapshot is a pure function of (stage, step), without
 * pointers: forward and back again gives the same bytes. Its size does not depend on N: the state of
 * a tile follows from where the walk stands (snapshot_tile), totals from closed forms (viz/scene/prefix.h).
 *
 * One head is shown. Traffic is that of one head. */
#ifndef TILEWALK_VIZ_SCENE_SNAPSHOT_H
#define TILEWALK_VIZ_SCENE_SNAPSHOT_H

#include "sim/algorithms/walk/place.h"
#include "sim/question/question.h"
#include "sim/numbers/attention.h"
#include "sim/time/recorded.h"

enum {
  SNAPSHOT_RUNS_MAX = 4,   /* algorithms beside each other, the shown one among them */
  SNAPSHOT_SENTENCE = 192, /* bytes */
  SNAPSHOT_SCORES = 128,   /* scores of one row in one tile; of a wider tile the first are kept */
  SNAPSHOT_O = 16,         /* columns of O that are computed */
  STAGE_SCORES = 64,
  SNAPSHOT_LINE = 256, /* columns of the row that are kept beside each other */
};

/* Rows are computed with real numbers up to this many elements of K; beyond it snapshots have no row. */
#define STAGE_MAX_KEY_ELEMENTS ((int64_t)1 << 19)
/* All rows of a head together, where a row is not followed alone, up to this many FLOPs: some 0.1 s. */
#define STAGE_MAX_HEAD_FLOPS ((Wide)1 << 25)
/* Scores of normal inputs have a standard deviation of 1, so that hardly any e^S is beyond fp16's 65,504; with Q six
 * times as large, as in layers whose logits have grown, the largest of 64 are near 14, and e^14 = 1.2 million is. */
enum { STAGE_LARGE_Q = 6 };

typedef struct {
  Problem problem;
  Gpu gpu;                                   /* whose rates Time takes; n_sm 0: paper */
  const Schedule *schedule;                  /* the algorithm shown */
  const Schedule *rivals[SNAPSHOT_RUNS_MAX]; /* beside it; the shown one may be among them */
  int n_rivals;                              /* 0: standard, fa1, fa2 */
  uint64_t seed;                             /* of Q, K and V */
  int64_t row_in_block;                      /* which row of a row block the softmax shows, from 1; 0: the middle one */
  int n_scores;                              /* given scores of a row; 0: those of Q and K */
  double scores[STAGE_SCORES];
  bool without_max; /* softmax without the maximum: it overflows */
  int64_t q_scale;  /* Q is multiplied by it; 0: 1, without the maximum STAGE_LARGE_Q, or nothing would overflow */
  bool l2_later;    /* L2 is left to the caller, who gives it with stage_give_l2: it takes up to 0.2 s */
  ServedPages pages;
  RingRanks ring;
} StageConfig;

/* What a tile of the score matrix is doing. In standard attention a tile is worked on once per pass. */
typedef enum { TILE_WAITING = 0, TILE_CURRENT, TILE_DONE } TileProgress;

typedef struct {
  TileProgress progress; /* in the present lap */
  TileKind kind;         /* by the mask: full, partial (crossed by it), skipped */
  int laps;              /* times the walk is through with this tile: up to grid.n_laps */
} TileState;

/* Where the walk stands in the T_r x T_c grid. */
typedef struct {
  Mask mask;
  int64_t N_q, N_k, d, B_r, B_c, T_r, T_c;
  int64_t element_bytes;
  bool column_by_column; /* fa1 takes the tiles of a column first */
  bool reversed;         /* the loop over columns goes from the last to the first */
  bool skips;            /* masked tiles are left out */
  bool diagonal;         /* the walk goes along it: row block i with column block i alone */
  bool at_work;          /* the present event belongs to tile (i, j) */
  int n_laps, lap;       /* standard goes over the grid three times; laps complete so far */
  int64_t i, j;          /* the present tile, or -1 */
  int64_t line;          /* row (or column) of tiles the walk is in */
  TileOrder order;       /* of the tiles of this lap, of which the first n_over are done */
  Wide n_over;
} SnapshotGrid;

/* A value's place in SRAM, in the present kernel: of all that takes it, and of columns that nobody has declared one for
 * all. What lies in it has been loaded or set, and is still to be read (or is what the present event makes). */
typedef struct {
  uint8_t tensor; /* what lies there: P where S was; of an empty place, whose it is */
  bool is_used;   /* the kernel has such a place */
  bool is_filled;
  bool is_touched; /* made or moved by the present event */
  int64_t i, j;    /* which block; -1 where there is none */
  int64_t row0, row1, col0, col1;
  uint64_t slot_bytes; /* room set aside: the SRAM budget's, or of registers where the launch puts it there */
  uint64_t sram_bytes; /* of them in SRAM */
  uint64_t held_bytes; /* of the tile in it */
} SnapshotSlot;

/* L2, where the machine has one. All that crosses the SRAM boundary goes through it; what it keeps from HBM is known of
 * the whole launch, all CTAs of all heads at once, not of a step of one head. */
typedef struct {
  uint64_t capacity_bytes;                  /* 0: there is none */
  bool is_known;                            /* the figures below: sim/l2/l2_run.h has an answer */
  bool is_awaited;                          /* they come later, from stage_give_l2 */
  Wide asked_read_bytes, asked_write_bytes; /* of L2 by the SMs */
  Wide hbm_read_bytes, hbm_write_bytes;
  Wide fabric_bytes; /* between its partitions */
  double hit_rate;
  double least_s, predicted_s; /* of the whole launch, as `tilewalk sim --gpu` says; 0: not known */
} SnapshotL2;

/* One of the algorithms beside each other: as far as it gets with the bytes that the shown one has moved. */
typedef struct {
  const Schedule *schedule; /* not the snapshot's own */
  const Plan *plan;         /* the stage's */
  int64_t n_beside;         /* walks beside each other that its bytes are of */
  Tiling tiling;            /* completed: each algorithm may have its own default */
  uint64_t step, n_steps;
  Wide moved_bytes; /* read and written so far, by race_heads */
  Wide total_bytes; /* when it will be done */
  bool is_finished;
  bool is_alike; /* its outputs must be those of the shown one: only then have they a ratio */
} SnapshotRun;

/* How far the shown row is with the present tile. */
typedef enum {
  ROW_NONE = 0,    /* no tile yet */
  ROW_SCORES,      /* scores computed */
  ROW_MASKED,      /* and the masked ones are -infinity */
  ROW_MAX,         /* m_new is known */
  ROW_RESCALED,    /* l and O refer to it */
  ROW_ACCUMULATED, /* the tile is in l and O */
  ROW_FINISHED,    /* O / l */
} RowPhase;

/* A value of the program in the shown row: of one column, its value; of a tile, the largest in the row, or what is no
 * number there. */
typedef struct {
  double before, now;   /* the present line; NAN: not known */
  bool is_zero;         /* all of the row is 0 */
  int64_t n_overflowed; /* elements beyond the element type */
} SnapshotValue;

/* Names of the program by what they are in an online softmax: a bit each. */
typedef struct {
  bool is_softmax; /* it is one; else there is neither m nor l nor P */
  uint64_t m, l, S, P, O;
  uint8_t operands[3]; /* 1 + the names of Q, K and V, by the formula or by the lines; 0: none */
} SnapshotRoles;

/* Online softmax of one row, with real numbers in the precision of the data type. */
typedef struct {
  bool is_computed; /* false: N_k d is beyond STAGE_MAX_KEY_ELEMENTS, or a head beyond STAGE_MAX_HEAD_FLOPS */
  bool is_judged;   /* what O must be is known */
  bool without_max; /* the maximum is left out: m stays 0 */
  uint8_t phase;    /* RowPhase */
  int64_t row;      /* -1: none */
  int64_t tile;     /* column tile j of the numbers below */
  int64_t col0, n_cols;
  int64_t n_overflowed;
  double scores[SNAPSHOT_SCORES];  /* of the tile, from ROW_SCORES on; masked ones -infinity from ROW_MASKED on */
  double weights[SNAPSHOT_SCORES]; /* e^(score - m_new), from ROW_ACCUMULATED on, else 0 */
  double m_old, m_new, factor;     /* m before this tile, and as it stands; of its rescale */
  double l_old, l_scaled;          /* before this tile, rescaled */
  double m, l;                     /* now */
  int64_t n_O;                     /* columns of O below */
  double O_old[SNAPSHOT_O];        /* before this tile */
  double O[SNAPSHOT_O];            /* now */
  double reference_O[SNAPSHOT_O];  /* fp64, of the whole row, divided by l; from ROW_FINISHED on */
  double error_ulps;               /* of O when ROW_FINISHED: the largest, in ulps of the row's largest O as stored */
  double error_fp32_ulps;          /* of O before it was rounded for storing, in ulps of fp32 */
  int64_t q_scale;                 /* Q is multiplied by it */
  SnapshotValue values[PROGRAM_NAMES_MAX]; /* by name */
} SnapshotRow;

/* The whole row as far as it is known: its scores up to and with the present tile, the last of them if there are
 * more. */
typedef struct {
  int64_t first, n;             /* columns [first, first + n) */
  int64_t n_past;               /* of them before the present tile */
  double scores[SNAPSHOT_LINE]; /* as compared with m: masked ones -infinity */
} SnapshotLine;

typedef struct {
  Problem problem; /* completed: no zeros left; of one head */
  Shape launched;  /* all heads of it, as a kernel would be launched */
  Gpu gpu;
  const Schedule *schedule; /* not the snapshot's own */
  const Pipeline *pipeline; /* the stage's; NULL: none is recorded */
  ServedPages pages;
  RingRanks ring;
  uint64_t step, n_steps;
  bool fits; /* the tiles fit SRAM */
  int64_t max_block;
  Event event; /* the present one: number step - 1; all zero at step 0 */
  bool has_event, has_next;
  Event next; /* number `step` */
  SnapshotRoles roles;
  uint64_t live; /* names whose values the present event or a later line reads */
  int code_line; /* of viz/scene/code_lines.h; -1: none */
  SnapshotGrid grid;
  Traffic traffic;                           /* fold of events [0, step) */
  Wide read_bytes, write_bytes, total_bytes; /* so far; total is both */
  Traffic whole;                             /* of the whole run */
  Wide whole_bytes;
  Wide spared_bytes;                        /* what skipped tiles would have moved so far */
  Wide spared_write_bytes;                  /* of it, stores */
  SnapshotSlot slots[VALUES_MAX];           /* by index of Program.tensors */
  uint64_t sram_bytes, sram_capacity_bytes; /* the places of the present kernel, and what the machine has */
  uint64_t register_bytes,
      register_capacity_bytes; /* of the slots in registers, accumulated in fp32; of an SM, 0: not known */
  SnapshotL2 l2;
  Problem asked; /* the whole of it, all heads, as it was asked */
  int n_runs;
  int64_t race_heads; /* query heads that the bytes of each run are of: all of a KV head where one packs them; else 1 */
  double clock, clock_before; /* bytes that all of them have moved, now and before the present event */
  SnapshotRun runs[SNAPSHOT_RUNS_MAX];
  SnapshotSlot slots_before[VALUES_MAX]; /* before the present event: where what moves in a picture comes from */
  int64_t n_skips;                       /* skipped tiles in a row, the present one the last; 0: it is no skip */
  SnapshotRow row;
  SnapshotLine line;
} Snapshot;

typedef struct {
  StageConfig config; /* completed */
  SnapshotRoles roles;
  uint64_t live[PROGRAM_OPS_MAX]; /* values still to be read (sim/algorithms/walk/live.h), before each operation */
  Simulation run;                 /* of one head */
  Simulation rivals[SNAPSHOT_RUNS_MAX];
  Wide rival_steps[SNAPSHOT_RUNS_MAX];
  int64_t race_heads; /* as in Snapshot */
  SnapshotL2 l2;
  Pipeline *pipeline; /* as measured; given, and freed with the stage */
  uint64_t register_bytes, register_capacity_bytes;
  uint64_t n_steps;
  double *K, *V;           /* N_k x d and N_k x n_O; NULL: no row is computed, or all with */
  Attention *head;         /* all rows of a program whose rows cannot be followed alone; NULL: they can */
  double *must;            /* then, what its first output by rows must be; NULL: it has no formula */
  double *kept_K, *kept_V; /* n_kept rows of an earlier stage, where this one computes none */
  int64_t n_kept;
  struct StageRow *row; /* how much of them is filled, and the scores of the row asked for last */
} Stage;

/* Sets up. Errors: what simulate() refuses; more steps than 2^63; memory. Free it even after an error. */
Status stage_make(Stage *stage, const StageConfig *config, Error *error);
void stage_free(Stage *stage);

/* Takes over what an earlier stage, which is freed next, has made of K and V, where these are the same rows; a change
 * of N is then drawn sooner. What snapshots hold does not depend on it. */
void stage_keep_inputs(Stage *stage, Stage *before);

/* Gives the scores of every row, from the first column on, in place of Q K; for a row that is worked by hand. At most
 * STAGE_SCORES of them. */
void stage_give_scores(Stage *stage, const double *scores, int n);

/* What L2 does, where the stage was made with `l2_later`: the l2 of a stage of the same request made without. */
void stage_give_l2(Stage *stage, const SnapshotL2 *l2);

/* Fills *snapshot for a step; steps beyond the end are the end. Not from two threads at once: the stage keeps the
 * scores of one row. */
void stage_snapshot(const Stage *stage, uint64_t step, Snapshot *snapshot);

/* How a value lies beside the tiles of scores. */
typedef enum { LIES_APART = 0, LIES_BY_ROWS, LIES_BY_KEYS, LIES_BY_TILES } SnapshotLies;
SnapshotLies snapshot_lies(const Snapshot *snapshot, int tensor);
/* Whether a pass before the present event's stores a matrix by tiles: then a tile that waits for its next pass holds
 * data. */
bool snapshot_keeps_scores(const Snapshot *snapshot);

/* Its bytes in HBM, of one head. */
Wide snapshot_tensor_bytes(const Snapshot *snapshot, int tensor);

/* Inputs, then what comes between, then outputs, then statistics: of the values for which `is_wanted`. Returns how
 * many. */
int snapshot_values(const Snapshot *snapshot, bool (*is_wanted)(const Snapshot *, int), int values[VALUES_MAX]);

/* Values that the present event reads, makes or moves: a bit for each of Program.tensors. */
uint64_t snapshot_subjects(const Snapshot *snapshot, const Event *event);

/* Of Program.tensors: what attention takes as Q, K and V (0 to 2), and the first output. 0 where there is none. */
int snapshot_operand(const Snapshot *snapshot, int which);

/* The shown one among the runs. */
const SnapshotRun *snapshot_own_run(const Snapshot *snapshot);

/* Event number `step` of a walk; false: there is none. */
static inline bool walk_event(const Schedule *s, const Plan *plan, uint64_t step, Event *event) {
  Cursor cursor;
  return schedule_seek(s, plan, &cursor, step) && schedule_next(s, plan, &cursor, event);
}

/* A part of a count; of none: 0. */
static inline double part_of(Wide part, Wide whole) { return whole ? (double)part / (double)whole : 0; }

/* Tile (i, j) of the grid. */
TileState snapshot_tile(const SnapshotGrid *grid, int64_t i, int64_t j);
/* Where a walk goes when someone steps by more than an event. */
typedef enum {
  STRIDE_EVENT = 0,
  STRIDE_TILE, /* the next tile of scores */
  STRIDE_ROW,  /* the next outer iteration */
  STRIDE_PASS,
  STRIDE_NEW_MAX, /* the next event of this kind */
  STRIDE_SKIP,
  STRIDE_STORE,
} Stride;

/* Events of a kind are searched one by one, at most this many: a moment, in a walk that may have 2^62. */
#define STAGE_SEARCH_EVENTS ((uint64_t)1 << 24)

/* The step reached from `step` by one stride forward (direction 1) or back (-1); the end or the start when
 * there is nothing further, and `step` itself when nothing was found within STAGE_SEARCH_EVENTS. */
uint64_t stage_stride(const Stage *stage, uint64_t step, Stride stride, int direction);

/* The step at which tile (i, j) has just been come to, in the pass over the tiles that step `from` is in. */
uint64_t stage_step_of_tile(const Stage *stage, uint64_t from, int64_t i, int64_t j);

/* How many steps from `step` on are seen in one beat: one, but skips in a row are one gesture. At most 4096. */
uint64_t stage_beat(const Stage *stage, uint64_t step);

/* An event as the program's line says it; and a description of the whole step in a few lines. Returns text.
 */
const char *snapshot_sentence(const Schedule *schedule, const Event *event, char *text, size_t size);
const char *snapshot_describe(const Snapshot *snapshot, char *text, size_t size);

#endif
