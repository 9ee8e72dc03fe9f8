/* tilewalk advise: which tile to take on a GPU. Every B_r x B_c of a usual set as a run of its own, best first.
 *
 * A kernel that does not exist yet has no time to be predicted from: the order is that of the makespan of its CTAs over
 * the GPU's L2 (sim/l2), with products at the rate assumed for a kernel that is not known. Q, K and V lie in shared
 * memory, S, O, m and l in registers (or tensor memory): both limit how many CTAs an SM holds.
 *
 * Not modelled, because kernels differ in it: several stages of K and V, registers for addresses, the shape of an
 * instruction. Neighbours in the table are as good as each other. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report.h"
#include "viz/cli/command.h"
#include "viz/cli/json_sink.h"
#include "viz/cli/run_tables.h"
#include "viz/request/request.h"
#include "viz/text/number.h"
#include "viz/text/table.h"

static const int64_t ROWS[] = {16, 32, 64, 128, 192, 256}, KEYS[] = {16, 32, 64, 128, 192, 256};
enum {
  N_ROWS = sizeof ROWS / sizeof *ROWS,
  N_KEYS = sizeof KEYS / sizeof *KEYS,
  TILES_MAX = N_ROWS * N_KEYS,
  SHOWN = 12
};

typedef struct {
  Request request;
  OutputRequest output;
} AdviseOptions;

typedef struct {
  Simulation run;
  double seconds; /* of the run through L2; without, the bound */
} Tried;

typedef struct {
  Tried *tried;
  int n, n_misfits; /* tiles that no place holds, or that do not launch */
} Advice;

/* CTAs whose accumulators fit an SM's registers, or its tensor memory: tiles in fp32, with columns. */
static int64_t ctas_by_accumulators(const Simulation *s) {
  const Wide accumulators = simulation_accumulator_bytes(s);
  const bool tensor = s->machine.tensor_memory_bytes > 0 && accumulators <= wide(s->machine.tensor_memory_bytes);
  const Wide room = wide(tensor ? s->machine.tensor_memory_bytes : s->machine.register_bytes);
  const Wide asked = tensor ? accumulators : accumulators + s->sram.columns;
  return room == 0 || asked == 0 ? 0 : (int64_t)(room / asked);
}

/* False: it does not run, or says why in *error. */
static bool try_tile(Tried *t, const Problem *problem, const Schedule *schedule, const Gpu *gpu, Error *error) {
  Problem p = *problem;
  if (simulate(&t->run, &p, schedule, error) || !t->run.fits) return false;
  const int64_t by_accumulators = ctas_by_accumulators(&t->run);
  const SramBudget *b = &t->run.sram;
  if (by_accumulators > 0 && !p.launch.ctas_per_sm) p.launch.ctas_per_sm = by_accumulators;
  p.launch.shared_bytes = (int64_t)(by_accumulators > 0 ? b->inputs : b->bytes);
  Error inner = {0};
  if (simulation_l2(&t->run, &p, gpu, &inner)) return false; /* does not launch */
  simulation_time(&t->run, gpu);
  t->seconds = t->run.timing.least_s;
  if (t->run.has_l2 && gpu->clock_hz > 0) t->seconds = fmax(t->seconds, t->run.l2.cycles / gpu->clock_hz);
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

static Status advise(Advice *advice, const Problem *problem, const Schedule *schedule, const Gpu *gpu, Error *error) {
  const Shape packed = problem->pack == PACK_OFF ? problem->shape : shape_packed(&problem->shape);
  for (int i = 0; i < N_ROWS; i++) {
    for (int j = 0; j < N_KEYS; j++) {
      Problem p = *problem;
      if ((!p.tiling.B_r && is_larger(ROWS[i], packed.N_q)) || (!p.tiling.B_c && is_larger(KEYS[j], packed.N_k)))
        continue;
      if ((p.tiling.B_r && p.tiling.B_r != ROWS[i]) || (p.tiling.B_c && p.tiling.B_c != KEYS[j])) continue;
      p.tiling.B_r = ROWS[i];
      p.tiling.B_c = KEYS[j];
      Error inner = {0};
      if (try_tile(&advice->tried[advice->n], &p, schedule, gpu, &inner))
        advice->n++;
      else if (inner.status && inner.status != STATUS_BAD_REQUEST)
        return error_set(error, inner.status, "%s", inner.message);
      else
        advice->n_misfits++;
    }
  }
  if (advice->n == 0)
    return error_set(error, STATUS_BAD_REQUEST,
                     "no tile of %" PRId64 " to %" PRId64
                     " rows and keys fits %s here; a smaller head or another GPU may",
                     ROWS[0], ROWS[N_ROWS - 1], gpu->name);
  qsort(advice->tried, (size_t)advice->n, sizeof *advice->tried, best_first);
  return STATUS_OK;
}

/* ---- Output --------------------------------------------------------------------------------------- */

static void add_row(Table *t, const Tried *tried) {
  const Simulation *s = &tried->run;
  const Launch *l = &s->launch;
  table_format(t, ROLE_ACCENT, "%" PRId64 " x %" PRId64, s->plan.tiling.B_r, s->plan.tiling.B_c);
  if (s->has_launch) {
    table_count(t, ROLE_PLAIN, wide(l->occupancy.ctas_per_sm));
    table_text(t, ROLE_PLAIN,
               l->occupancy.binds == LIMIT_KERNEL ? "accumulators" : occupancy_limit_name(l->occupancy.binds));
    table_count(t, ROLE_PLAIN, wide(l->n_waves));
    table_percent(t, ROLE_PLAIN, l->tail_fill);
  } else {
    for (int k = 0; k < 4; k++) table_empty(t, true);
  }
  table_bytes(t, ROLE_PLAIN, s->total_bytes);
  if (s->has_l2)
    table_bytes(t, ROLE_PLAIN, (Wide)(s->l2.hbm_read_bytes + simulation_hbm_write_bytes(s) + 0.5));
  else
    table_empty(t, true);
  table_seconds(t, ROLE_ACCENT, tried->seconds);
}

static Status print_table(const Advice *a, const Gpu *gpu, const AdviseOptions *o, Io *io, Error *error) {
  const TableColumn columns[] = {{.heading = "B_r x B_c", .csv = "tile"},
                                 {.heading = "on an SM", .csv = "ctas_per_sm", .right = true},
                                 {.heading = "limited by", .csv = "limited_by"},
                                 {.heading = "waves", .csv = "waves", .right = true},
                                 {.heading = "last", .csv = "tail_fill", .right = true},
                                 {.heading = "boundary", .csv = "boundary_bytes", .right = true},
                                 {.heading = "HBM", .csv = "hbm_bytes", .right = true},
                                 {.heading = "takes", .csv = "takes_s", .right = true}};
  Table t = table_new(columns, sizeof columns / sizeof *columns);
  char problem[512];
  run_tables_problem(&a->tried[0].run, problem, sizeof problem);
  table_title(&t, "%s: tiles for %s, best first", problem, a->tried[0].run.schedule->name);
  const int shown = o->output.csv || a->n < SHOWN ? a->n : SHOWN;
  for (int k = 0; k < shown; k++) add_row(&t, &a->tried[k]);
  if (shown < a->n) table_note(&t, "%d more tiles run and take longer; --csv and --json have all.", a->n - shown);
  if (a->n_misfits) table_note(&t, "%d tiles do not fit an SM.", a->n_misfits);
  if (a->tried[0].run.has_l2)
    table_note(&t,
               "takes: all CTAs over the L2 of %s, with products at half of the peak rate, as of a kernel that is not "
               "known. Where tiles are within a few per cent, take what is easiest to write.",
               gpu->name);
  else
    table_note(&t, "The L2 of %s is not walked here, so takes is the bound: no run is faster.", gpu->name);
  const Status status = o->output.csv ? table_csv(&t, io->out, error) : table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}

static Status print_json(const Advice *a, FILE *out, Error *error) {
  JsonSink json = {0};
  const ReportSink k = json_sink(&json);
  k.open_object(k.context, NULL);
  k.whole(k.context, "tilewalk", 1);
  report_shape(&k, "shape", &a->tried[0].run.plan.shape);
  k.text(k.context, "machine", a->tried[0].run.machine.name);
  k.whole(k.context, "tiles_that_do_not_fit", wide(a->n_misfits));
  k.open_array(k.context, "tiles");
  for (int i = 0; i < a->n; i++) {
    k.open_object(k.context, NULL);
    k.real(k.context, "takes_s", a->tried[i].seconds);
    report_run(&k, "run", &a->tried[i].run);
    k.close(k.context);
  }
  k.close(k.context);
  k.close(k.context);
  return json_print(json_result(&json), out, error);
}

static int run_advise(void *options, Io *io, Error *error) {
  AdviseOptions *o = options;
  Problem problem;
  Gpu gpu;
  Advice advice = {0};
  if (*o->request.kernel) {
    error_set(error, STATUS_BAD_REQUEST,
              "a kernel has its tile already, so there is nothing to advise; leave --kernel out");
    return EXIT_BAD_REQUEST;
  }
  if (!*o->request.gpu) strcpy(o->request.gpu, "h200");
  if (request_algorithms(&o->request, REQUEST_ONE, error) || output_request_check(&o->output, error) ||
      request_problem(&o->request, &problem, &gpu, error) || request_has_effect(&o->request, &gpu, error))
    return EXIT_BAD_REQUEST;
  if (o->request.n_algorithms > 1) {
    error_set(error, STATUS_BAD_REQUEST, "advice is for one algorithm; name one with --algorithm");
    return EXIT_BAD_REQUEST;
  }
  advice.tried = calloc(TILES_MAX, sizeof *advice.tried);
  Status status = advice.tried ? advise(&advice, &problem, o->request.algorithms[0], &gpu, error)
                               : error_set(error, STATUS_NO_MEMORY, "no memory for %d runs", TILES_MAX);
  if (!status) status = o->output.json ? print_json(&advice, io->out, error) : print_table(&advice, &gpu, o, io, error);
  free(advice.tried);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const OptionSet SETS[] = {
    REQUEST_OPTION_SETS(AdviseOptions, request),
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(AdviseOptions, output)},
    {0},
};

const Command COMMAND_ADVISE = {
    .name = "advise",
    .summary = "which tile to take on a GPU: B_r x B_c with occupancy, waves, bytes and time, best first",
    .usage = "[--gpu NAME] [OPTION...]",
    .description =
        "Runs every tile of 16 to 256 rows and keys on the GPU (default h200) and puts the fastest first. Each row "
        "has the CTAs that an SM holds and what limits them, the waves and how full the last one is, what crosses "
        "the SRAM boundary, what HBM moves behind L2, and how long the CTAs take over "
        "this L2. Q, K and V lie in shared memory, S and O in registers. --block-q or --block-k fixes one side.",
    .examples = "  # a causal prefill on an H100\n"
                "  tilewalk advise --gpu h100-sxm -N 4K --heads 16 --causal\n\n"
                "  # decode with grouped heads on a small card, the keys split\n"
                "  tilewalk advise --gpu rtx4090 -N 1 --seq-len-k 32K --heads 32 --kv-heads 8 --algorithm fa2-split\n",
    .options_bytes = sizeof(AdviseOptions),
    .sets = SETS,
    .run = run_advise,
};
