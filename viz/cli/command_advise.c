/* tilewalk advise: which kernel to take on a GPU, or which tile to write one for (sim/answer/advice.h). */
#include "sim/base/text_add.h"
#include "sim/answer/advice.h"
#include "viz/request/own.h"
#include "viz/document/figure_lines.h"
#include "viz/cli/command.h"
#include "viz/cli/program_notes.h"
#include "viz/cli/run_tables.h"
#include "viz/text/progress.h"

enum { SHOWN = 12 };

typedef struct {
  Request request;
  OutputRequest output;
} AdviseOptions;

/* ---- Output --------------------------------------------------------------------------------------- */

/* Why it is where it is, in a line: what its CTAs are bound by. */
static void reason_of(const Candidate *t, const char *name, char text[320]) {
  const size_t size = 320;
  const Launch *l = &t->launch;
  const Timing *timing = &t->run.timing;
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
  if (memory)
    text_add(text, size, "; HBM's bytes alone take %s.", number_seconds(timing->run.part_s[TIME_HBM]).text);
  else if (t->run.has_launch && l->n_waves > 1)
    text_add(text, size, ", and the last of %jd waves is %s full.", l->n_waves, number_percent(l->tail_fill).text);
  else if (l->occupancy.ctas_per_sm > 0)
    text_add(text, size, ", and one wave of CTAs fills %s of the slots.", number_percent(l->tail_fill).text);
  else
    text_add(text, size, "; the bottleneck: %s.", timing_term_title(timing_term(&timing->run)));
}

/* For people what fits 80 columns; the last wave, and a kind of time that is every row's, are for programs. */
static const char COLUMNS[] =
    "kernel or tile~;tile|an SM>;ctas_per_sm@launch.ctas_per_sm|limited by~;limited_by@launch.limited_by|"
    "waves>@launch.waves|@launch.tail_fill|boundary>;boundary_bytes@traffic.total_bytes|"
    "HBM>;hbm_bytes@hbm.total_bytes?l2.read_bytes|takes>;takes_s@*time.seconds|;time_is@time.kind";

static void add_row(const FigureTable *t, const Candidate *tried, bool names_kind) {
  char name[128];
  advice_name(tried, name, sizeof name);
  if (names_kind) text_add(name, sizeof name, " (%s)", time_kind_name(tried->kind));
  table_text(t->table, ROLE_ACCENT, name);
  Simulation run = tried->run; /* with the launch and the time of such a kernel */
  run.launch = tried->launch;
  run.has_launch = run.has_launch && run.launch.occupancy.ctas_per_sm > 0;
  run.timing.seconds = tried->seconds;
  run.timing.kind = tried->kind;
  figure_cells(t, &run);
}

static void fill(Document *d, const Advice *a, const Gpu *gpu) {
  const Candidate *first = a->candidates, *end = first + (d->form == DOCUMENT_CSV || a->n < SHOWN ? a->n : SHOWN);
  const ReportSink sink = document_sink(d);
  bool mixed = false, any_cost = false;
  int equal = -1;
  char name[96], problem[512], reason[320];
  advice_name(first, name, sizeof name);
  reason_of(first, name, reason);
  if (d->form == DOCUMENT_JSON) { /* whole runs, where a row of the table has a few figures of each */
    report_shape(&sink, "shape", &first->run);
    put_values(d, "machine:s first:s reason:s tiles_that_do_not_fit:n", first->run.machine.name, name, reason,
               a->n_misfits);
    advice_report(&sink, a);
    return;
  }
  for (const Candidate *k = first; k < end; k++) {
    mixed |= k->kind != first->kind;
    any_cost |= k->kind != TIME_BOUND;
  }
  FigureTable rows;
  figure_table(&rows, d, DOCUMENT_TABLES, NULL, COLUMNS, NULL);
  Table *t = rows.table;
  run_tables_problem(&first->run, problem, sizeof problem);
  table_title(t, "%s: kernels and tiles, best first", problem);
  for (const Candidate *k = first; k < end; k++) add_row(&rows, k, mixed && d->form == DOCUMENT_TEXT);
  if (!mixed) table_note(t, "All times are of one kind: %s.", time_kind_name(first->kind));
  table_note(t, "%s", reason);
  for (const Candidate *k = first; k < first + a->n; k++) equal += k->seconds == first->seconds;
  if (equal) table_note(t, "%d more are as fast; of equals those of the fewest bytes stand first.", equal);
  if (end < first + a->n)
    table_note(t, "%d more run, none of them faster; --csv and --json have all.", (int)(first + a->n - end));
  if (gpu->l2_bytes == 0) {
    if (a->n_misfits)
      table_note(t, "%d tiles have no room in %s of SRAM.", a->n_misfits,
                 number_bytes(wide(first->run.machine.sram_bytes)).text);
    table_note(t,
               "On paper there are SRAM and HBM alone: a time is that of the run's bytes or products at peak rates, "
               "whichever takes longest. Sides in steps of 16 are tried, as tensor cores take them; `sim --block-q 171 "
               "--block-k 8` asks for others.");
    return;
  }
  if (a->n_misfits)
    table_note(t, "%d tiles are no kernel here: what they keep does not fit an SM's registers or shared memory.",
               a->n_misfits);
  if (schedule_owns_columns(first->run.schedule)) {
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

static void tell(void *progress, double part) { progress_foretell(progress, part); }

static Status answer(void *options, Document *d, Io *io, Error *error) {
  Request *r = &((AdviseOptions *)options)->request;
  Problem problem;
  Gpu gpu;
  Progress progress = progress_begin(io->err, "advise", false);
  Advice advice = {.kernels = own_kernels, .tell = tell, .context = &progress};
  if (*r->kernel)
    return error_refuse(error, "a kernel has its tile already, so there is nothing to advise; leave --kernel out");
  if (!*r->gpu) strcpy(r->gpu, "h200");
  const bool is_named = r->n_algorithms > 0;
  if (request_asked(r, REQUEST_ONE, &problem, &gpu, error)) return error->status;
  if (r->n_algorithms > 1) return error_refuse(error, "advice is for one algorithm; name one with --algorithm");
  advice.candidates = calloc(ADVICE_CANDIDATES_MAX, sizeof *advice.candidates);
  const Status status = advice.candidates ? advice_make(&advice, &problem, r->algorithms[0], is_named, &gpu, error)
                                          : error_no_memory(error, "for %d runs", ADVICE_CANDIDATES_MAX);
  if (!status) {
    fill(d, &advice, &gpu);
    program_notes(r->algorithms, r->n_algorithms, io);
  }
  free(advice.candidates);
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
