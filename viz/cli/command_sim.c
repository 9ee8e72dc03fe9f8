/* tilewalk sim: one problem, one or more algorithms side by side. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "sim/report.h"
#include "viz/cli/command.h"
#include "viz/cli/json_sink.h"
#include "viz/request/request.h"
#include "viz/cli/run_tables.h"

typedef struct {
  Request request;
  OutputRequest output;
} SimOptions;

static Status print_json(const Simulation *runs, int n, FILE *out, Error *error) {
  JsonSink json = {0};
  const ReportSink sink = json_sink(&json);
  report_document(&sink, runs, n);
  if (json.failed) {
    json_decref(json.open[0]);
    json.open[0] = NULL;
  }
  return json_print(json.open[0], out, error);
}

static int run_sim(void *options, Io *io, Error *error) {
  SimOptions *o = options;
  Problem problem;
  Gpu gpu;
  if (request_algorithms(&o->request, "standard,fa1,fa2", error)) return EXIT_BAD_REQUEST;
  if (output_request_check(&o->output, error)) return EXIT_BAD_REQUEST;
  if (request_problem(&o->request, &problem, &gpu, error)) return EXIT_BAD_REQUEST;
  if (request_has_effect(&o->request, &gpu, error)) return EXIT_BAD_REQUEST;
  Simulation runs[REQUEST_ALGORITHMS_MAX];
  const int n = o->request.n_algorithms;
  for (int k = 0; k < n; k++) {
    if (simulate(&runs[k], &problem, o->request.algorithms[k], error)) return EXIT_BAD_REQUEST;
    if (!*o->request.gpu) continue; /* a question about SRAM and HBM alone */
    if (simulation_l2(&runs[k], &problem, &gpu, error)) return EXIT_BAD_REQUEST;
    simulation_time(&runs[k], &gpu);
  }
  Status status;
  if (o->output.json)
    status = print_json(runs, n, io->out, error);
  else if (o->output.csv)
    status = run_tables_csv(runs, n, io->out, error);
  else
    status = run_tables_print(runs, n, io, error);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

static const OptionSet SETS[] = {
    REQUEST_OPTION_SETS(SimOptions, request),
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(SimOptions, output)},
    {0},
};

const Command COMMAND_SIM = {
    .name = "sim",
    .summary = "one problem, several algorithms side by side: traffic, tiles, SRAM, FLOPs",
    .usage = "[OPTION...]",
    .description =
        "Counts what each algorithm moves between SRAM and the memory behind it (the papers' \"HBM accesses\"), which "
        "tiles "
        "it computes and skips, what it needs in SRAM and in HBM. Totals are over batch and heads; tiles and "
        "loads are per head. With --gpu also what its L2 keeps from HBM when all CTAs run at once, and how fast "
        "the run could be at best. All other numbers come from closed forms, so any N is answered at once.",
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
                "  # for programs\n"
                "  tilewalk sim -N 8K --algorithm fa2 --json\n",
    .options_bytes = sizeof(SimOptions),
    .sets = SETS,
    .run = run_sim,
};
