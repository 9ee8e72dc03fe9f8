/* tilewalk sim: one problem, one or more algorithms side by side. */

#include "viz/cli/serve/service.h"
#include "viz/cli/command.h"
#include "viz/cli/program_notes.h"
#include "viz/cli/rank_options.h"
#include "viz/cli/run_tables.h"
#include "viz/text/progress.h"

enum { RUNS_MAX = RUN_TABLES_MAX };

typedef struct {
  Request request;
  OutputRequest output;
  char lengths[REQUEST_NAME_BYTES]; /* --lengths */
  RankOptions ranks;
} SimOptions;

/* Of several machines a document each, under "machines". */
static void put_runs(Document *d, const Simulation *runs, int n) {
  const ReportSink sink = document_sink(d);
  int end = 0;
  for (int first = 0; first < n; first = end) {
    while (end < n && strcmp(runs[end].machine.name, runs[first].machine.name) == 0) end++;
    if (!first && end == n) {
      report_answers(&sink, runs, n);
      return;
    }
    if (!first) put_values(d, "machines[");
    report_document(&sink, runs + first, end - first);
  }
  put_end(d);
}

typedef struct {
  Progress progress;
  int gpus, all, done; /* runs */
} Heard;

static void hear(void *context, double part) {
  Heard *h = context;
  progress_foretell(&h->progress, (h->done + part) / h->all);
}

/* --gpu A,B: the runs on one after the other. */
static Status run_on_all(const SimOptions *o, Heard *heard, Simulation *runs, int *n, Error *error) {
  const Listener listener = {hear, heard};
  char names[REQUEST_NAME_BYTES];
  strcpy(names, o->request.gpu);
  for (const char *c = names; *c; c++) heard->gpus += *c == ',';
  for (char *name = names, *next; name; name = next) {
    Request r = o->request;
    Problem problem;
    Gpu gpu;
    if ((next = strchr(name, ','))) *next++ = '\0';
    if (heard->gpus > 1 && !*name) return error_refuse(error, "--gpu has an empty name; give GPUs as h100-sxm,h200");
    strcpy(r.gpu, name);
    Status status = request_asked(&r, REQUEST_COMPARED, &problem, &gpu, error);
    if (!status) status = rank_options_check(&o->ranks, r.algorithms, r.n_algorithms, error);
    problem.listener = &listener;
    heard->all = heard->gpus * r.n_algorithms;
    for (int k = 0; !status && k < r.n_algorithms; k++) {
      if (*n == RUNS_MAX)
        return error_refuse(error, "more than %d runs side by side; name fewer GPUs or algorithms", RUNS_MAX);
      heard->done = *n;
      Simulation *run = &runs[(*n)++];
      /* without a GPU a question about SRAM and HBM alone */
      status = simulation_answer(run, &problem, r.algorithms[k], *r.gpu ? &gpu : NULL, error);
      if (!status) status = rank_options_links(&o->ranks, &r, &problem, &gpu, run, error);
    }
    if (status) return status;
  }
  return STATUS_OK;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  SimOptions *o = options;
  const Schedule *schedules[RUNS_MAX];
  int n = 0;
  Simulation *runs = malloc(RUNS_MAX * sizeof *runs);
  Heard heard = {progress_begin(io->err, "sim", false), 1, 0, 0};
  Status status = *o->lengths ? batch_table(&o->request, o->lengths, d, error)
                  : runs      ? run_on_all(o, &heard, runs, &n, error)
                              : error_no_memory(error, "for %d runs", RUNS_MAX);
  if (!status) status = layer_note(&o->request, io, error);
  for (int k = 0; k < n; k++) schedules[k] = runs[k].schedule;
  if (!status) program_notes(n ? schedules : o->request.algorithms, n ? n : o->request.n_algorithms, io);
  if (!status && n && d->form == DOCUMENT_JSON) put_runs(d, runs, n);
  if (!status && n) run_tables(d, runs, n, d->details);
  free(runs);
  return status;
}

static const Option LENGTH_OPTIONS[] = {
    OPTION_ROW("lengths", "LIST|FILE",
               "Sequences of these lengths instead of a batch: padded to the longest against packed. 3001,777,512x8, "
               "or a file of them (with a / or a dot in its name). Without -N each has as many queries as keys; -N 1 "
               "is decode.",
               OPTION_TEXT(SimOptions, lengths, "the list of lengths")),
    {0},
};

static const OptionSet SETS[] = {
    QUESTION_OPTION_SETS(SimOptions, request),
    {"Batch", LENGTH_OPTIONS, 0},
    {"Programs with ranks", RANK_OPTIONS, offsetof(SimOptions, ranks)},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(SimOptions, output)},
    {0},
};

const Command COMMAND_SIM = {
    .name = "sim",
    .group = "ask",
    .first = "N d algorithm gpu heads causal block kernel",
    .summary = "bytes, tiles, SRAM and time of one problem",
    .usage = "[OPTION...]",
    .description =
        "Counts what each algorithm moves between SRAM and the memory behind it (the papers' \"HBM accesses\"), which "
        "tiles it computes and skips, what it needs in SRAM and in HBM. Totals are over batch and heads; tiles and "
        "loads are per head. With --gpu also what its L2 keeps from HBM when all CTAs run at once, and how fast the "
        "run could be. All other numbers come from closed forms, so any N is answered at once.",
    .examples = "  # naive against tiled attention, the classic case\n"
                "  tilewalk sim -N 4096 -d 128 --block 128\n\n"
                "  # causal masking on a size that can be checked by hand\n"
                "  tilewalk sim -N 8 -d 4 --block 2 --causal\n\n"
                "  # decode: one query, 8 query heads over 1 KV head\n"
                "  tilewalk sim -N 1 --seq-len-k 32K --heads 8 --kv-heads 1 --algorithm fa2,fa2-split\n\n"
                "  # the shortest time on a real machine, and what sets it\n"
                "  tilewalk sim -N 16K --heads 16 --gpu h200 --algorithm standard,fa2\n\n"
                "  # requested, L2 and HBM are three different figures: PyTorch's FlashAttention-2 on an H200\n"
                "  tilewalk sim --gpu h200 --kernel fa2-sm90 -N 32K --heads 16\n\n"
                "  # a batch of unequal lengths: what padding costs\n"
                "  tilewalk sim --lengths 3001,777,5123,99 --heads 16 --causal --algorithm fa2\n\n"
                "  # a program of several GPUs: what crosses their links, too\n"
                "  tilewalk sim --algorithm ring-attention --ranks 8 -N 128K --heads 32 --kv-heads 8 --causal\n\n"
                "  # two GPUs side by side\n"
                "  tilewalk sim --gpu a100-80gb,h200 -N 16K --heads 16 --algorithm fa2\n\n"
                "  # for programs\n"
                "  tilewalk sim -N 8K --algorithm fa2 --json\n",
    .options_bytes = sizeof(SimOptions),
    .sets = SETS,
    .apart = "lengths ! ranks link mask batch seq-len-k",
    .answer = answer,
};
