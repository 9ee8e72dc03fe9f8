/* tilewalk tour: a first look: the run that the film and the README show, and a GPU's counter beside the model. */
#include <errno.h>
#include <sys/stat.h>

#include "sim/base/text_add.h"
#include "kernels/counters/ncu.h"
#include "sim/algorithms/shipped.h"
#include "viz/cli/command.h"
#include "viz/cli/run_tables.h"
#include "viz/request/assets.h"

extern const Command COMMAND_SWEEP;

typedef struct {
  OutputRequest output; /* a folder for the charts */
} TourOptions;

/* One head, N = 1,024, d = 64, fp16, tiles of 128 x 128. */
static Status add_runs(Document *d, Error *error) {
  const Problem problem = {
      .shape = {.N_q = 1024, .d = 64}, .tiling = {.B_r = 128, .B_c = 128}, .machine = machine_paper()};
  Simulation runs[2];
  if (simulate(&runs[0], &problem, shipped_unfused(), error) || simulate(&runs[1], &problem, shipped_default(), error))
    return error->status;
  run_tables(d, runs, 2, false);
  return STATUS_OK;
}

enum { COUNTED_N = 8192, COUNTED_D = 128, COUNTERS_BYTES = 4 << 20 };

/* The recorded run of one kernel on one head; NULL: the file has none. */
static const CounterRow *counted_run(const CounterTable *table, const char *kernel) {
  for (size_t k = 0; k < table->n_rows; k++) {
    const CounterRow *r = &table->rows[k];
    const Shape *s = &r->shape;
    if (strcmp(r->kernel, kernel) == 0 && r->has_shape && s->N_q == COUNTED_N && s->N_k == COUNTED_N &&
        s->d == COUNTED_D && s->heads == 1 && s->batch == 1 && !s->causal)
      return r;
  }
  return NULL;
}

/* Makes a folder and the ones above it. */
static Status make_folder(const char *path, Error *error) {
  char part[4096];
  for (size_t length = 1; length <= strlen(path); length++) {
    if (path[length] != '/' && path[length] != '\0') continue;
    snprintf(part, sizeof part, "%.*s", (int)length, path);
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      return error_refuse(error, "the folder '%s' cannot be made (%s); name another with -o", part, strerror(errno));
  }
  return STATUS_OK;
}

/* With -o FOLDER: three charts and a step of a walk, by the commands that draw them. */
static Status add_pictures(const TourOptions *o, Document *d, Io *io, Error *error) {
  char tiled[64] = ""; /* those that are compared and keep S on chip */
  char *const PICTURES[][8] = {
      {"traffic-against-N.png", "--over", "N", "--block", "128"},
      {"traffic-against-block.png", "--over", "block"},
      {"traffic-against-sram.svg", "--over", "sram", "--block", "largest", "--algorithm", tiled},
      {"tile-by-tile.png", "--state", "N=64 d=16 block=8 causal=1 scene=walk step=120"}};
  enum { N_PICTURES = COUNT_OF(PICTURES) };
  const Schedule *compared[REQUEST_ALGORITHMS_MAX];
  const int n_compared = shipped_compared(compared, REQUEST_ALGORITHMS_MAX);
  if (!*o->output.output) return STATUS_OK;
  for (int k = 0; k < n_compared; k++)
    if (compared[k] != shipped_unfused()) text_add(tiled, sizeof tiled, "%s%s", *tiled ? "," : "", compared[k]->name);
  document_gap(d);
  document_line(d, ROLE_PLAIN, "Pictures:");
  if (make_folder(o->output.output, error)) return error->status;
  for (int k = 0; k < N_PICTURES; k++) {
    char path[4200], *words[10] = {"-o", path};
    int n = 2;
    snprintf(path, sizeof path, "%s/%s", o->output.output, PICTURES[k][0]);
    for (int w = 1; w < 8 && PICTURES[k][w]; w++) words[n++] = PICTURES[k][w];
    const Command *command = k < N_PICTURES - 1 ? &COMMAND_SWEEP : io->drawing->render;
    if (command_run(command, n, words, io, error) == EXIT_BAD_REQUEST) return error->status;
    document_line(d, ROLE_PLAIN, "  %s", path);
  }
  return STATUS_OK;
}

/* What the SMs of an H200 read is what the model says: a recorded run beside it. */
static Status add_counted(Document *d, Error *error) {
  char *buffer;
  size_t length;
  CounterTable table = {0};
  Request request = {.shape = {.N_q = COUNTED_N, .d = COUNTED_D}, .gpu = "h200", .kernel = "fa2_async"};
  Problem problem;
  Gpu gpu;
  Simulation run;
  const bool is_there =
      !assets_read("assets/counters/h200/l2/first.csv", COUNTERS_BYTES, &buffer, &length, error) &&
      !counter_table_from_buffer(&table, buffer, length, error) && !request_problem(&request, &problem, &gpu, error) &&
      !simulate(&run, &problem, shipped_default(), error) && !simulation_l2(&run, &problem, &gpu, error);
  const CounterRow *row = is_there ? counted_run(&table, request.kernel) : NULL;
  if (row)
    document_line(d, ROLE_PLAIN, "Measured on an H200, 8,192 tokens, d = 128: SMs read %s (model: %s).",
                  number_bytes((Wide)((double)row->value[COUNTER_BOUNDARY_READ] + 0.5)).text,
                  number_bytes((Wide)(run.l2.read_bytes + 0.5)).text);
  counter_table_free(&table);
  free(buffer);
  return is_there ? STATUS_OK : error->status;
}

static void add_next(Document *d, const Io *io) {
  static const char *const NEXT[][2] = {{"See", "tour --story"},
                                        {"Ask", "sim -N 8K --block 64 --causal"},
                                        {"Check", "kernel --warp --stride 32 --pad 1"},
                                        {"Learn", "lesson"}};
  document_gap(d);
  for (size_t k = 0; k < COUNT_OF(NEXT); k++)
    document_line(d, ROLE_ACCENT, "%-7s%s %s", NEXT[k][0], strchr(io->program, '/') ? io->program : "tilewalk",
                  NEXT[k][1]);
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  const TourOptions *o = options;
  d->details = *o->output.output; /* the pictures' names are more than a screen */
  Status status = add_runs(d, error);
  if (!status) status = add_counted(d, error);
  add_next(d, io);
  return status ? status : add_pictures(o, d, io, error);
}

static const OptionSet SETS[] = {
    {"Output", OUTPUT_FILE_OPTIONS, offsetof(TourOptions, output)},
    {0},
};

const Command COMMAND_TOUR = {
    .name = "tour",
    .group = "see",
    .summary = "a first look, on one screen",
    .usage = "[-o FOLDER]",
    .description =
        "Standard attention beside FlashAttention on one head of 1,024 tokens, and a GPU's counter beside the "
        "model. With -o FOLDER it also draws three charts and a scene there. tour --story leads through a "
        "run and asks first; tour --story --help says more.",
    .examples = "  tilewalk tour\n\n"
                "  # with charts\n"
                "  tilewalk tour -o charts\n",
    .options_bytes = sizeof(TourOptions),
    .sets = SETS,
    .answer = answer,
};
