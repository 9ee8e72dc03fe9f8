/* tilewalk advise: which kernel to take on a GPU, or which tile to write one for: best first.
 *
 * Candidates are the described kernels that run there, with their predicted times, and every B_r x B_c of a usual set.
 * A kernel that does not exist yet costs what its matrix instructions, registers and shared memory cost
 * (sim/machine/tile_cost.h), and its CTAs are dealt out to SMs (sim/time/makespan.h). Of few queries the
 * keys are split, too. */
#include <math.h>

#include "sim/algorithms/shipped.h"
#include "sim/time/makespan.h"
#include "sim/machine/tile_cost.h"
#include "viz/request/description.h"
#include "viz/request/own.h"
#include "viz/document/figure_lines.h"
#include "viz/cli/command.h"
#include "viz/cli/program_notes.h"
#include "viz/cli/run_tables.h"
#include "viz/text/progress.h"

static const int64_t ROWS[] = {16, 32, 64, 128, 192, 256}, KEYS[] = {16, 32, 64, 128, 192, 256};
enum {
  N_ROWS = sizeof ROWS / sizeof *ROWS,
  N_KEYS = sizeof KEYS / sizeof *KEYS,
  PAPER_STEP = 16, /* rows: where no instruction asks for a power of two, every multiple is tried */
  PAPER_ROWS = 16,
  TILES_MAX = PAPER_ROWS * N_KEYS,
  KERNELS_MAX = 32,
  TRIED_MAX = 2 * TILES_MAX + KERNELS_MAX,
  SPLIT_ROWS = 128, /* of packed queries: with more, row blocks fill the SMs */
  SHOWN = 12
};

typedef struct {
  Request request;
  OutputRequest output;
} AdviseOptions;

typedef struct {
  Simulation run;
  TileCost cost;         /* of a tile */
  const Profile *kernel; /* NULL: a tile */
  Launch launch;         /* of the kernel, or as the tile's costs have it */
  double seconds;
  TimeKind kind;
} Tried;

typedef struct {
  Tried *tried;
  int n, n_misfits; /* tiles that no place holds, or that do not launch */
  const char *why;  /* the last one is no kernel */
  Progress progress;
  double all, seen; /* to be tried; so far */
} Advice;

/* Where anything runs there is advice. */
static void tell(Advice *a) {
  a->seen++;
  if (a->n) progress_foretell(&a->progress, a->seen / a->all);
}

/* The CTAs of such a kernel. */
static bool launch_tile(Tried *t, const Gpu *gpu) {
  LaunchConfig c = simulation_launch(&t->run);
  c.threads = t->cost.threads;
  c.registers_per_thread = t->cost.registers_per_thread;
  c.shared_bytes = t->cost.shared_bytes;
  if (t->run.config.ctas_per_sm) c.ctas_per_sm = t->run.config.ctas_per_sm;
  return !launch_make(&t->launch, &t->run.plan.shape, &c, gpu, NULL);
}

/* Whether a CTA's tile is what TileCost is of: two products and an exponential for each pair of query and key, once. */
static bool has_cost(const Simulation *run) {
  const PairCost pair = schedule_pair_cost(run->schedule, &run->plan);
  return run->schedule->skips && pair.is_all && pair.exps == 1 && pair.flops == simulation_pair_flops(&run->plan.shape);
}

/* False: it does not run, or says why in *error. */
static bool try_tile(Tried *t, const Problem *problem, const Schedule *schedule, const Gpu *gpu, Error *error) {
  if (simulation_answer(&t->run, problem, schedule, gpu, error) || !t->run.fits) return false;
  const Plan *plan = &t->run.plan;
  const bool owns_keys = schedule_owns_columns(schedule);
  t->kind = TIME_BOUND;
  t->seconds = t->run.timing.run.bound_s;
  if (gpu->l2_bytes == 0) return true; /* the papers' two levels: no registers, no instructions */
  t->cost = (owns_keys ? tile_cost_backward : tile_cost)(gpu, &plan->shape, plan->tiling.B_r, plan->tiling.B_c);
  t->kind = has_cost(&t->run) && !owns_keys ? TIME_EXTRAPOLATED : TIME_BOUND;
  if (owns_keys) return !t->cost.misfit && launch_tile(t, gpu);
  if (t->kind == TIME_BOUND) return true;
  if (t->cost.misfit || !launch_tile(t, gpu)) return false;
  const double bytes_per_s = gpu_hbm_bytes_per_s(gpu), starts = (double)(t->run.schedule->n_passes - 1);
  const double hbm_s = bytes_per_s > 0 ? simulation_own_work(&t->run, gpu).hbm_bytes / bytes_per_s : 0;
  const double makespan = makespan_s(&t->launch, &(Sequences){plan, 1, NULL}, &t->cost.law, (SmSpeed){.slower = 1});
  t->seconds =
      fmax(t->seconds, starts * (double)t->cost.law.start_ns * 1e-9 + makespan_kernel_s(&t->cost.law, makespan, hbm_s));
  return true;
}

/* A described kernel, where it runs and has a time. */
static bool try_kernel(Tried *t, const Problem *problem, const char *name, const Gpu *gpu) {
  Problem p = *problem;
  if (own_kernel(name, &p.kernel, NULL) || !p.kernel->schedule->skips) return false;
  if (schedule_owns_columns(p.kernel->schedule)) return false; /* the backward pass answers another question */
  if (simulation_answer(&t->run, &p, NULL, gpu, NULL) || t->run.timing.kind == TIME_BOUND) return false;
  t->kernel = p.kernel;
  t->launch = t->run.launch;
  t->seconds = t->run.timing.seconds;
  t->kind = t->run.timing.kind;
  return true;
}

/* By time; of equals the fewer bytes, then the smaller tile. */
static int best_first(const void *a, const void *b) {
  const Tried *x = a, *y = b;
  const Tiling *p = &x->run.plan.tiling, *q = &y->run.plan.tiling;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
  if (x->run.total_bytes != y->run.total_bytes) return x->run.total_bytes < y->run.total_bytes ? -1 : 1;
  return (p->B_r * p->B_c > q->B_r * q->B_c) - (p->B_r * p->B_c < q->B_r * q->B_c);
}

/* Tiles with more than twice the rows or keys that there are say nothing new. */
static bool is_larger(int64_t block, int64_t n) { return block > 16 && block >= 2 * n; }

static Status try_tiles(Advice *advice, const Problem *problem, const Schedule *schedule, const Gpu *gpu,
                        Error *error) {
  const Shape packed = problem->pack == PACK_OFF ? problem->shape : shape_packed(&problem->shape);
  const Tiling asked = problem->tiling; /* a side that is given is the only one that is tried, of whatever size */
  const bool on_paper = gpu->l2_bytes == 0;
  for (int i = 0; i < (asked.B_r ? 1 : on_paper ? PAPER_ROWS : N_ROWS); i++) {
    const int64_t rows = on_paper ? (int64_t)PAPER_STEP * (i + 1) : ROWS[i];
    for (int j = 0; j < (asked.B_c ? 1 : N_KEYS); j++) {
      Problem p = *problem;
      tell(advice);
      if ((!asked.B_r && is_larger(rows, packed.N_q)) || (!asked.B_c && is_larger(KEYS[j], packed.N_k))) continue;
      if (!asked.B_r) p.tiling.B_r = rows;
      if (!asked.B_c) p.tiling.B_c = KEYS[j];
      Tried *tried = &advice->tried[advice->n];
      Error inner = {0};
      if (try_tile(tried, &p, schedule, gpu, &inner)) {
        advice->n++;
      } else if (inner.status && inner.status != STATUS_BAD_REQUEST) {
        return error_set(error, inner.status, "%s", inner.message);
      } else {
        advice->why = tried->cost.misfit ? tried->cost.misfit
                      : on_paper         ? "it has no room in SRAM"
                                         : "its tiles do not fit an SM";
        advice->n_misfits++;
      }
    }
  }
  return STATUS_OK;
}

/* Of the algorithm that is asked for; where none is, keys of few rows are split, too. */
static Status advise(Advice *advice, const Problem *problem, const Schedule *schedule, bool is_named, const Gpu *gpu,
                     Error *error) {
  const Shape packed = shape_packed(&problem->shape);
  const bool splits = !is_named && problem->shape.N_q < problem->shape.N_k && packed.N_q <= SPLIT_ROWS;
  const bool any_kernel = !is_named && !problem->tiling.B_r && !problem->tiling.B_c && gpu->l2_bytes > 0;
  DescriptionNames *names = calloc(1, sizeof *names);
  int n_kernels = 0;
  if (names && any_kernel && !description_names("kernels", names, NULL))
    n_kernels = names->n < KERNELS_MAX ? names->n : KERNELS_MAX;
  advice->all = N_ROWS * N_KEYS * (1 + splits) + n_kernels;
  Status status = try_tiles(advice, problem, schedule, gpu, error);
  if (!status && splits) status = try_tiles(advice, problem, shipped_splitting(), gpu, error);
  if (!status)
    for (int k = 0; k < n_kernels; k++, tell(advice))
      advice->n += try_kernel(&advice->tried[advice->n], problem, names->names[k], gpu);
  free(names);
  if (!status && advice->n == 0 && problem->tiling.B_r && problem->tiling.B_c)
    status = error_refuse(error, "a tile of %" PRId64 " x %" PRId64 " is no kernel on %s: %s; take a smaller one",
                          problem->tiling.B_r, problem->tiling.B_c, gpu->name, advice->why);
  else if (!status && advice->n == 0)
    status = error_refuse(
        error, "no tile of %" PRId64 " to %" PRId64 " rows and keys fits %s here; a smaller head or another GPU may",
        ROWS[0], ROWS[N_ROWS - 1], gpu->name);
  if (!status) qsort(advice->tried, (size_t)advice->n, sizeof *advice->tried, best_first);
  return status;
}

/* ---- Output --------------------------------------------------------------------------------------- */

static void name_of(const Tried *t, char *text, size_t size) {
  const Tiling *tiling = &t->run.plan.tiling;
  const bool splits = tiling->n_splits > 1;
  char parts[48] = "";
  if (splits) snprintf(parts, sizeof parts, ", %" PRId64 " splits", tiling->n_splits);
  if (t->kernel)
    snprintf(text, size, "%.40s%s", t->kernel->name, parts);
  else
    snprintf(text, size, "%" PRId64 " x %" PRId64 "%s%s%s", tiling->B_r, tiling->B_c, t->cost.instruction ? ", " : "",
             t->cost.instruction ? t->cost.instruction : "", parts);
}

/* Why it is where it is, in a line: what its CTAs are bound by. */
static void reason_of(const Tried *t, char *text, size_t size) {
  char name[96];
  const Launch *l = &t->launch;
  const Timing *timing = &t->run.timing;
  name_of(t, name, sizeof name);
  const bool memory = timing->run.bound == TIME_HBM && timing->run.bound_s > 0.5 * t->seconds;
  if (t->kernel && t->kind == TIME_PREDICTED)
    snprintf(text, size, "%s is first: it exists and was timed", name);
  else if (t->kernel)
    snprintf(text, size, "%s is first: it exists, and its costs are those of the cards that were timed", name);
  else if (t->kind == TIME_BOUND)
    snprintf(text, size, "%s is first by its bound%s", name,
             t->cost.instruction ? ": a kernel of this sort is not modelled" : "");
  else
    snprintf(text, size, "%s is first: an SM finishes a tile every %s, of which %s take most", name,
             number_seconds((double)t->cost.law.tile_ns * 1e-9).text, timing_term_title(t->cost.binds));
  const size_t used = strlen(text);
  if (memory)
    snprintf(text + used, size - used, "; HBM's bytes alone take %s.",
             number_seconds(timing->run.part_s[TIME_HBM]).text);
  else if (t->run.has_launch && l->n_waves > 1)
    snprintf(text + used, size - used, ", and the last of %" PRId64 " waves is %s full.", l->n_waves,
             number_percent(l->tail_fill).text);
  else if (l->occupancy.ctas_per_sm > 0)
    snprintf(text + used, size - used, ", and one wave of CTAs fills %s of the slots.",
             number_percent(l->tail_fill).text);
  else
    snprintf(text + used, size - used, "; the bottleneck: %s.", timing_term_title(timing_term(&timing->run)));
}

/* For people what fits 80 columns; the last wave, and a kind of time that is every row's, are for programs. */
static const char COLUMNS[] =
    "kernel or tile~;tile|an SM>;ctas_per_sm@launch.ctas_per_sm|limited by~;limited_by@launch.limited_by|"
    "waves>@launch.waves|@launch.tail_fill|boundary>;boundary_bytes@traffic.total_bytes|"
    "HBM>;hbm_bytes@hbm.total_bytes?l2.read_bytes|takes>;takes_s@*time.seconds|;time_is@time.kind";

static void add_row(const FigureTable *t, const Tried *tried, bool names_kind) {
  char name[128];
  name_of(tried, name, sizeof name);
  if (names_kind) snprintf(name + strlen(name), sizeof name - strlen(name), " (%s)", time_kind_name(tried->kind));
  table_text(t->table, ROLE_ACCENT, name);
  Simulation run = tried->run; /* with the launch and the time of such a kernel */
  run.launch = tried->launch;
  run.has_launch = run.has_launch && run.launch.occupancy.ctas_per_sm > 0;
  run.timing.seconds = tried->seconds;
  run.timing.kind = tried->kind;
  figure_cells(t, &run);
}

static void fill_table(Document *d, const Advice *a, const Gpu *gpu) {
  const int shown = d->form == DOCUMENT_CSV || a->n < SHOWN ? a->n : SHOWN;
  bool mixed = false, any_cost = false;
  for (int k = 0; k < shown; k++) {
    mixed |= a->tried[k].kind != a->tried[0].kind;
    any_cost |= a->tried[k].kind != TIME_BOUND;
  }
  FigureTable rows;
  figure_table(&rows, d, DOCUMENT_TABLES, NULL, COLUMNS, NULL);
  Table *t = rows.table;
  char problem[512], reason[320];
  run_tables_problem(&a->tried[0].run, problem, sizeof problem);
  table_title(t, "%s: kernels and tiles, best first", problem);
  for (int k = 0; k < shown; k++) add_row(&rows, &a->tried[k], mixed && d->form == DOCUMENT_TEXT);
  if (!mixed) table_note(t, "All times are of one kind: %s.", time_kind_name(a->tried[0].kind));
  reason_of(&a->tried[0], reason, sizeof reason);
  table_note(t, "%s", reason);
  int equal = 0;
  for (int k = 1; k < a->n; k++) equal += a->tried[k].seconds == a->tried[0].seconds;
  if (equal) table_note(t, "%d more are as fast; of equals those of the fewest bytes stand first.", equal);
  if (shown < a->n) table_note(t, "%d more run, none of them faster; --csv and --json have all.", a->n - shown);
  if (gpu->l2_bytes == 0) {
    if (a->n_misfits)
      table_note(t, "%d tiles have no room in %s of SRAM.", a->n_misfits,
                 number_bytes(wide(a->tried[0].run.machine.sram_bytes)).text);
    table_note(t,
               "On paper there are SRAM and HBM alone: a time is that of the run's bytes or products at peak rates, "
               "whichever takes longest. Sides in steps of 16 are tried, as tensor cores take them; `sim --block-q 171 "
               "--block-k 8` asks for others.");
    return;
  }
  if (a->n_misfits)
    table_note(t, "%d tiles are no kernel here: what they keep does not fit an SM's registers or shared memory.",
               a->n_misfits);
  if (schedule_owns_columns(a->tried[0].run.schedule)) {
    table_note(
        t, "Registers and shared memory are what FlashAttention-2's sort of kernel takes at least, without stages.");
    return;
  }
  if (!any_cost) return;
  table_note(
      t,
      "A tile takes what its matrix instructions, softmax and loads take on %s, as cuDNN and FlashAttention-2 do "
      "them; where candidates are within a tenth, take what is easiest to write.",
      gpu->name);
}

static void put_tried(Document *d, const Tried *t) {
  const ReportSink sink = document_sink(d);
  put_values(d, t->kernel ? "{kernel:s" : "{", t->kernel ? t->kernel->name : NULL);
  put_values(d, "takes_s:f kind:s", t->seconds, time_kind_name(t->kind));
  if (!t->kernel && t->cost.instruction)
    put_values(d, "instruction:s threads:i registers:i shared_bytes:i", t->cost.instruction, t->cost.threads,
               t->cost.registers_per_thread, t->cost.shared_bytes);
  report_run(&sink, "run", &t->run);
  put_end(d);
}

/* Whole runs, where a row of the table has a few figures of each. */
static void fill_values(Document *d, const Advice *a) {
  char name[96], reason[320];
  const ReportSink sink = document_sink(d);
  if (d->form != DOCUMENT_JSON) return;
  name_of(&a->tried[0], name, sizeof name);
  reason_of(&a->tried[0], reason, sizeof reason);
  report_shape(&sink, "shape", &a->tried[0].run);
  put_values(d, "machine:s first:s reason:s tiles_that_do_not_fit:n", a->tried[0].run.machine.name, name, reason,
             a->n_misfits);
  for (int kernels = 0; kernels < 2; kernels++) {
    put_values(d, kernels ? "kernels[" : "tiles[");
    for (int i = 0; i < a->n; i++)
      if ((a->tried[i].kernel != NULL) == (kernels == 1)) put_tried(d, &a->tried[i]);
    put_end(d);
  }
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  Request *r = &((AdviseOptions *)options)->request;
  Problem problem;
  Gpu gpu;
  Advice advice = {0};
  if (*r->kernel)
    return error_refuse(error, "a kernel has its tile already, so there is nothing to advise; leave --kernel out");
  if (!*r->gpu) strcpy(r->gpu, "h200");
  const bool is_named = r->n_algorithms > 0;
  if (request_algorithms(r, REQUEST_ONE, error) || request_problem(r, &problem, &gpu, error) ||
      question_has_effect(r, &gpu, error))
    return error->status;
  if (r->n_algorithms > 1) return error_refuse(error, "advice is for one algorithm; name one with --algorithm");
  advice.progress = progress_new(io->err, &io->style, false, "advise", progress_clock_s());
  advice.tried = calloc(TRIED_MAX, sizeof *advice.tried);
  const Status status = advice.tried ? advise(&advice, &problem, r->algorithms[0], is_named, &gpu, error)
                                     : error_set(error, STATUS_NO_MEMORY, "no memory for %d runs", TRIED_MAX);
  if (!status) {
    fill_table(d, &advice, &gpu);
    fill_values(d, &advice);
    program_notes(r->algorithms, r->n_algorithms, io);
  }
  free(advice.tried);
  return status;
}

static const OptionSet SETS[] = {
    QUESTION_OPTION_SETS(AdviseOptions, request),
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(AdviseOptions, output)},
    {0},
};

const Command COMMAND_ADVISE = {
    .name = "advise",
    .group = "ask",
    .first = "gpu N d heads causal kernel sram",
    .summary = "which kernel or tile to take, best first",
    .usage = "[--gpu NAME] [OPTION...]",
    .description =
        "Compares the described kernels that run on the GPU (default h200) and every tile of 16 to 256 rows and keys "
        "for one that is yet to be written, the fastest first, and says why it is. A tile costs what its matrix "
        "instructions, registers and shared memory cost; of few queries the keys are split, too. Each row has the CTAs "
        "that an SM holds and what limits them, the waves and how full the last one is, what crosses the SRAM "
        "boundary, what HBM moves behind L2, and the time. --algorithm leaves the tiles of one algorithm alone, "
        "--block-q or --block-k fixes one side. On paper, SRAM and HBM alone, bytes decide and rows go up by 16.",
    .examples = "  # a causal prefill on an H100\n"
                "  tilewalk advise --gpu h100-sxm -N 4K --heads 16 --causal\n\n"
                "  # which tile moves the fewest bytes in 100 KiB of SRAM\n"
                "  tilewalk advise --gpu paper --sram 100K\n\n"
                "  # decode with grouped heads on a small card, the keys split\n"
                "  tilewalk advise --gpu rtx4090 -N 1 --seq-len-k 32K --heads 32 --kv-heads 8 --algorithm fa2-split\n",
    .options_bytes = sizeof(AdviseOptions),
    .sets = SETS,
    .answer = answer,
};
