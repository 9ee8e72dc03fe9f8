/* tilewalk tour: a first look at all of it, in seconds. Every number is computed or read from a recorded file. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/counters/compare.h"
#include "kernels/counters/ncu.h"
#include "sim/algorithms/shipped.h"
#include "sim/simulate.h"
#include "sim/numbers/softmax.h"
#include "viz/cli/check/articles.h"
#include "viz/cli/command.h"
#include "viz/request/assets.h"
#include "viz/request/description.h"
#include "viz/request/request.h"
#include "viz/cli/sweep/sweep.h"
#include "viz/cli/sweep/sweep_chart.h"
#include "viz/text/number.h"
#include "viz/text/print.h"
#include "viz/text/table.h"

typedef struct {
  OutputRequest output; /* a folder for the charts */
} TourOptions;

/* A numbered part. */
static void heading(Io *io, const char *text) {
  fputc('\n', io->out);
  text_print(io->out, &io->style, ROLE_HEADING, "%s", text);
  fputc('\n', io->out);
}

static void say(Io *io, const char *text) { text_paragraph(io->out, &io->style, ROLE_PLAIN, 0, text); }

/* The hardware that all of it is about, in three lines. */
static Status hardware(Io *io, Error *error) {
  Gpu gpu;
  if (description_gpu("h200", &gpu, error)) return error->status;
  heading(io, "1. The hardware");
  fprintf(io->out, "  HBM   the GPU's main memory: large and far (H200: %s at %s)\n",
          number_bytes(wide(gpu.hbm_bytes)).text, number_si(gpu.hbm_bytes_per_s, "B/s").text);
  fprintf(io->out, "  L2    a cache that all cores share (%s)\n", number_bytes(wide(gpu.l2_bytes)).text);
  fprintf(io->out, "  SRAM  fast memory in each of %lld cores (SMs), where tiles lie (%s)\n", (long long)gpu.n_sm,
          number_bytes(wide(gpu.shared_bytes_per_cta)).text);
  return STATUS_OK;
}

/* The classic problem: one head, N = 4096, d = 128, fp16, tiles of 128 x 128. */
static Status classic(Simulation runs[3], Error *error) {
  const Problem problem = {
      .shape = {.N_q = 4096, .d = 128}, .tiling = {.B_r = 128, .B_c = 128}, .machine = machine_paper()};
  const Schedule *const schedules[] = {shipped_unfused(), shipped_whole_head(), shipped_default()};
  for (int k = 0; k < 3; k++)
    if (simulate(&runs[k], &problem, schedules[k], error)) return error->status;
  return STATUS_OK;
}

static Status compare(const Simulation runs[3], Io *io, Error *error) {
  heading(io, "2. One attention head, three ways");
  say(io,
      "4,096 tokens, d = 128, fp16. Standard attention writes the 4,096 x 4,096 matrices S and P to HBM and reads them "
      "back. FlashAttention works on tiles of 128 x 128 that stay in SRAM. It reads K and V again instead.");
  fputc('\n', io->out);
  Table t = table_new((TableColumn[]){{.heading = "algorithm"},
                                      {.heading = "read", .right = true},
                                      {.heading = "written", .right = true},
                                      {.heading = "total", .right = true},
                                      {.heading = "less", .right = true},
                                      {.heading = "extra storage", .right = true},
                                      {.heading = "SRAM needed", .right = true}},
                      7);
  for (int k = 0; k < 3; k++) {
    const Simulation *r = &runs[k];
    table_text(&t, ROLE_PLAIN, r->schedule->title);
    table_bytes(&t, ROLE_PLAIN, r->read_bytes);
    table_bytes(&t, ROLE_PLAIN, r->write_bytes);
    table_bytes(&t, ROLE_ACCENT, r->total_bytes);
    table_ratio(&t, ROLE_PLAIN, (double)runs[0].total_bytes / (double)r->total_bytes);
    if (r->intermediates_bytes)
      table_bytes(&t, ROLE_PLAIN, r->intermediates_bytes);
    else
      table_text(&t, ROLE_GOOD, "none");
    table_bytes(&t, ROLE_PLAIN, r->sram.bytes);
  }
  const Status status = table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}

enum { GRID = 4 };

/* The score matrix of 8 tokens in tiles of 2, causal: what the event stream does with each tile, and in which order. */
static Status walk_tiles(Io *io, Error *error) {
  const Shape shape = {.N_q = 8, .d = 4, .causal = true};
  const Tiling tiling = {.B_r = 2, .B_c = 2};
  Plan plan;
  if (plan_make(&plan, &shape, &tiling, error)) return error->status;
  const Schedule *fa2 = shipped_default();
  int order[GRID][GRID] = {{0}}, n = 0;
  TileKind kinds[GRID][GRID] = {{TILE_FULL}};
  Traffic traffic = {0};
  Cursor cursor = {0};
  Event e;
  while (schedule_next(fa2, &plan, &cursor, &e)) {
    traffic_add(&traffic, fa2, &e);
    if (e.kind == EVENT_PRODUCT) order[e.i][e.j] = ++n;
    if (e.kind == EVENT_PRODUCT || e.kind == EVENT_SKIP) kinds[e.i][e.j] = (TileKind)e.tile;
  }
  heading(io, "3. Tile by tile");
  say(io,
      "8 tokens in tiles of 2 x 2 with a causal mask, in the order of FlashAttention-2. A tile above the diagonal is "
      "skipped: never loaded, never computed. A tile on the diagonal is computed and partly masked.");
  fputs("\n           K0 K1    K2 K3    K4 K5    K6 K7\n", io->out);
  for (int i = 0; i < GRID; i++) {
    fprintf(io->out, "  Q%d Q%d  ", 2 * i, 2 * i + 1);
    for (int j = 0; j < GRID; j++) {
      if (kinds[i][j] == TILE_SKIPPED)
        text_print(io->out, &io->style, ROLE_DIM, "%9s", "skip");
      else if (kinds[i][j] == TILE_PARTIAL)
        text_print(io->out, &io->style, ROLE_WARN, "%4d mask", order[i][j]);
      else
        text_print(io->out, &io->style, ROLE_ACCENT, "%4d full", order[i][j]);
    }
    fputc('\n', io->out);
  }
  fprintf(io->out, "\n  %d full, %d partly masked, %d skipped; %d events, from 'load Q' to 'store O'.\n",
          (int)traffic.tiles[TILE_FULL], (int)traffic.tiles[TILE_PARTIAL], (int)traffic.tiles[TILE_SKIPPED],
          (int)traffic.steps);
  return STATUS_OK;
}

static void rescale(Io *io) {
  static const double SCORES[] = {1, 2, 4, 2, 5, 1, 3, 1};
  const SoftmaxConfig config = {.precision = PRECISION_FP32};
  SoftmaxState state = softmax_start(&config);
  heading(io, "4. Softmax without seeing the whole row");
  say(io, "Softmax divides by the sum of a whole row, but a tile shows only a part of it. So a running maximum m and a "
          "running sum l are kept. When the maximum grows, what was summed before is rescaled.");
  fputc('\n', io->out);
  for (int block = 0; block < 2; block++) {
    const SoftmaxStep s = softmax_step(&config, &state, SCORES + 4 * block, 4, NULL, 0, NULL, NULL);
    fprintf(io->out, "  scores %g %g %g %g   m = %g   ", SCORES[4 * block], SCORES[4 * block + 1],
            SCORES[4 * block + 2], SCORES[4 * block + 3], s.m_new);
    if (block == 0)
      fprintf(io->out, "l = %.4f\n", s.l_new);
    else {
      text_print(io->out, &io->style, ROLE_ACCENT, "factor e^(%g - %g) = %.4f", s.m_old, s.m_new, s.factor);
      text_say(io->out, "\n  %23s l = %.4f x %.4f + %.4f = %.4f\n", "", s.l_old, s.factor, s.block_sum, s.l_new);
    }
  }
}

/* Draws one sweep into folder/name; prints its path. */
static Status draw(const char *folder, const char *name, const char *axis_name, bool with_unfused, Io *io,
                   Error *error) {
  Request request = {.block = strcmp(axis_name, "N") == 0 ? 128 : 0};
  Problem problem;
  Sweep sweep;
  SweepValue values[32];
  size_t n = 0;
  const SweepAxis *axis = sweep_axis(axis_name);
  for (int64_t v = axis->low; v <= axis->high; v *= 2) values[n++].value = v;
  const SweepConfig config = {.axis = axis, .metric = SWEEP_BOUNDARY, .values = values, .n = n, .end = n};
  const Schedule *compared[REQUEST_ALGORITHMS_MAX];
  const int n_compared = shipped_compared(compared, REQUEST_ALGORITHMS_MAX);
  for (int k = 0; k < n_compared; k++)
    if (with_unfused || compared[k] != shipped_unfused()) request.algorithms[request.n_algorithms++] = compared[k];
  if (request_problem(&request, &problem, NULL, error) || sweep_run(&sweep, &problem, &request, &config, error))
    return error->status;
  char path[4200], state[REQUEST_STATE_BYTES];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  Chart chart = sweep_chart(&sweep, &request);
  const Status status = io->drawing->chart(&chart, &(ChartRequest){0}, path, io->out, "Tilewalk: traffic",
                                           question_state(&request, state), error);
  chart_free(&chart);
  sweep_free(&sweep);
  if (!status) text_say(io->out, "  %s\n", path);
  return status;
}

/* Makes a folder and the ones above it. */
static Status make_folder(const char *path, Error *error) {
  char part[4096];
  for (size_t length = 1; length <= strlen(path); length++) {
    if (path[length] != '/' && path[length] != '\0') continue;
    snprintf(part, sizeof part, "%.*s", (int)length, path);
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      return error_set(error, STATUS_BAD_REQUEST, "the folder '%s' cannot be made (%s); name another with -o", part,
                       strerror(errno));
  }
  return STATUS_OK;
}

/* One step of the walk of section 3, as the viewer draws it. */
static Status draw_scene(const char *folder, Io *io, Error *error) {
  char path[4200];
  snprintf(path, sizeof path, "%s/tile-by-tile.png", folder);
  char *const arguments[] = {"--state", "N=64 d=16 block=8 causal=1 scene=walk step=120", "-o", path};
  if (command_run(io->drawing->render, 4, arguments, io, error) == EXIT_BAD_REQUEST) return error->status;
  text_say(io->out, "  %s\n", path);
  return STATUS_OK;
}

/* How the two grow with N. */
static Status growth(Io *io, Error *error) {
  static const int64_t N[] = {4096, 65536, 262144};
  heading(io, "5. How it grows");
  Table t = table_new((TableColumn[]){{.heading = "tokens", .right = true},
                                      {.heading = shipped_unfused()->name, .unit = "moves", .right = true},
                                      {.heading = shipped_default()->name, .unit = "moves", .right = true},
                                      {.heading = shipped_unfused()->name, .unit = "extra storage", .right = true},
                                      {.heading = shipped_default()->name, .unit = "extra storage", .right = true}},
                      5);
  for (size_t k = 0; k < sizeof N / sizeof *N; k++) {
    const Problem problem = {
        .shape = {.N_q = N[k], .d = 128}, .tiling = {.B_r = 128, .B_c = 128}, .machine = machine_paper()};
    Simulation standard, fa2;
    if (simulate(&standard, &problem, shipped_unfused(), error) || simulate(&fa2, &problem, shipped_default(), error))
      break;
    table_tokens(&t, ROLE_PLAIN, wide(N[k]));
    table_bytes(&t, ROLE_PLAIN, standard.total_bytes);
    table_bytes(&t, ROLE_PLAIN, fa2.total_bytes);
    table_bytes(&t, ROLE_WARN, standard.intermediates_bytes);
    if (fa2.intermediates_bytes)
      table_bytes(&t, ROLE_PLAIN, fa2.intermediates_bytes);
    else
      table_text(&t, ROLE_GOOD, "none");
  }
  table_note(
      &t, "Both move bytes in proportion to N x N; their ratio grows with the block. Only the storage stops growing.");
  const Status status = table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}

/* With -o FOLDER: three charts and a scene. */
static Status pictures(const TourOptions *o, Io *io, Error *error) {
  if (!*o->output.output) return STATUS_OK;
  fputs("\nPictures:\n", io->out);
  if (make_folder(o->output.output, error) || draw(o->output.output, "traffic-against-N.png", "N", true, io, error) ||
      draw(o->output.output, "traffic-against-block.png", "block", true, io, error) ||
      draw(o->output.output, "traffic-against-sram.svg", "sram", false, io, error))
    return error->status;
  return draw_scene(o->output.output, io, error);
}

static Status articles(Io *io, Error *error) {
  heading(io, "7. Are the articles right?");
  say(io, "Five published articles teach FlashAttention with numbers. Tilewalk computes each of them:");
  fputc('\n', io->out);
  Claims claims = {0};
  Status status = check_read(&claims, error);
  if (!status) status = check_compute(&claims, error);
  if (!status) check_print_counts(&claims, NULL, io);
  claims_free(&claims);
  return status;
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

static void compare_count(Table *t, const char *what, double model, double counted) {
  table_text(t, ROLE_PLAIN, what);
  table_bytes(t, ROLE_PLAIN, (Wide)(model + 0.5));
  table_bytes(t, ROLE_ACCENT, (Wide)(counted + 0.5));
  table_percent(t, ROLE_PLAIN, fabs(model - counted) / counted);
}

/* One recorded run beside the model: what the SMs ask for is far more than what HBM delivers, as L2 has the rest. */
static Status print_counted(const CounterRow *row, const char *kernel, Io *io, Error *error) {
  Request request = {.shape = {.N_q = COUNTED_N, .d = COUNTED_D}, .gpu = "h200"};
  Problem problem;
  Gpu gpu;
  Simulation run;
  snprintf(request.kernel, sizeof request.kernel, "%s", kernel);
  request.algorithms[request.n_algorithms++] = shipped_default();
  if (request_problem(&request, &problem, &gpu, error) || simulate(&run, &problem, request.algorithms[0], error) ||
      simulation_l2(&run, &problem, &gpu, error))
    return error->status;
  Table t = table_new((TableColumn[]){{.heading = "one head of 8,192 tokens"},
                                      {.heading = "model", .right = true},
                                      {.heading = "H200", .right = true},
                                      {.heading = "apart", .right = true}},
                      4);
  compare_count(&t, "read by the SMs", run.l2.read_bytes, (double)row->value[COUNTER_BOUNDARY_READ]);
  compare_count(&t, "read from HBM", run.l2.hbm_read_bytes, (double)row->value[COUNTER_HBM_READ]);
  const Status status = table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}

/* The upper rungs: of how many recorded runs what was read and written is what the model says. */
static Status add_matching(const CounterTable *table, int *n_runs, int *n_equal, Error *error) {
  for (size_t i = 0; i < table->n_rows; i++) {
    const CounterRow *row = &table->rows[i];
    const KernelModel *model = kernel_model_find(row->kernel);
    Comparison found[COMPARISONS_MAX];
    int n;
    if (!model) continue;
    if (counter_compare(row, model, &row->shape, &row->tiling, found, &n, error)) return error->status;
    bool equal = true;
    for (int k = 0; k < n; k++)
      if (found[k].counter == COUNTER_BOUNDARY_READ || found[k].counter == COUNTER_BOUNDARY_WRITE)
        equal = equal && found[k].error == 0;
    ++*n_runs;
    *n_equal += equal;
  }
  return STATUS_OK;
}

static Status upper_rungs(Io *io, Error *error) {
  static const char *const FILES[] = {"hopper", "more", "hopper-more"};
  int n_runs = 0, n_equal = 0;
  for (size_t k = 0; k < sizeof FILES / sizeof *FILES; k++) {
    char path[ASSETS_PATH_BYTES], name[64], *buffer = NULL;
    size_t length;
    CounterTable table = {0};
    snprintf(name, sizeof name, "assets/counters/h100/%s/first.csv", FILES[k]);
    Status status = assets_find(path, sizeof path, name, error);
    if (!status) status = file_read(path, COUNTERS_BYTES, &buffer, &length, error);
    if (!status) status = counter_table_from_buffer(&table, buffer, length, error);
    if (!status) status = add_matching(&table, &n_runs, &n_equal, error);
    counter_table_free(&table);
    free(buffer);
    if (status) return status;
  }
  char text[200];
  snprintf(text, sizeof text,
           "Kernels for Hopper, for decode and for the backward pass were counted on an H100: of %d runs, %d read and "
           "wrote what the model says.",
           n_runs, n_equal);
  fputc('\n', io->out);
  say(io, text);
  return STATUS_OK;
}

static Status real_gpu(Io *io, Error *error) {
  static const char KERNEL[] = "fa2_async";
  char path[ASSETS_PATH_BYTES], *buffer = NULL;
  size_t length;
  CounterTable table = {0};
  heading(io, "6. Does a real GPU agree?");
  say(io, "The algorithms were run as CUDA kernels on an NVIDIA H200, and its hardware counters recorded. The SMs ask "
          "for K and V again and again, but L2 keeps them, so that HBM is asked once:");
  fputc('\n', io->out);
  Status status = assets_find(path, sizeof path, "assets/counters/h200/l2/first.csv", error);
  if (!status) status = file_read(path, COUNTERS_BYTES, &buffer, &length, error);
  if (!status) status = counter_table_from_buffer(&table, buffer, length, error);
  const CounterRow *row = status ? NULL : counted_run(&table, KERNEL);
  if (row) status = print_counted(row, KERNEL, io, error);
  counter_table_free(&table);
  free(buffer);
  return status ? status : upper_rungs(io, error);
}

static void what_next(Io *io) {
  static const char *const NEXT[][2] = {
      {"sim -N 8K --block 64 --causal", "your own size, block and mask"},
      {"sweep --over block", "what a larger block buys"},
      {"view", "the walk in a window, step by step"},
      {"lesson", "a course: predict, play, check"},
      {"check", "every claim of the articles, computed"},
      {"crosscheck", "every recorded run of a GPU (minutes)"},
      {"--help", "all commands"},
  };
  heading(io, "What to try next");
  for (size_t k = 0; k < sizeof NEXT / sizeof *NEXT; k++) {
    const int width = 31; /* of the longest */
    text_print(io->out, &io->style, ROLE_ACCENT, "  %s %-*s", strchr(io->program, '/') ? io->program : "tilewalk",
               width, NEXT[k][0]);
    text_say(io->out, "%s\n", NEXT[k][1]);
  }
}

static int run_tour(void *options, Io *io, Error *error) {
  const TourOptions *o = options;
  Simulation runs[3];
  if (classic(runs, error)) return EXIT_BAD_REQUEST;
  text_print(io->out, &io->style, ROLE_HEADING, "Tilewalk");
  fputs(": walk through attention tile by tile and see where every byte goes\n", io->out);
  if (hardware(io, error) || compare(runs, io, error) || walk_tiles(io, error)) return EXIT_BAD_REQUEST;
  rescale(io);
  if (growth(io, error) || real_gpu(io, error) || articles(io, error) || pictures(o, io, error))
    return EXIT_BAD_REQUEST;
  what_next(io);
  return EXIT_DONE;
}

static const OptionSet SETS[] = {
    {"Output", OUTPUT_FILE_OPTIONS, offsetof(TourOptions, output)},
    {0},
};

const Command COMMAND_TOUR = {
    .name = "tour",
    .group = "see",
    .summary = "a first look at all of it, in seconds",
    .usage = "[-o FOLDER]",
    .description =
        "The hardware in three lines; standard attention beside FlashAttention; the walk over tiles; softmax in "
        "pieces; how both grow; a real GPU's counters; what articles claim. With -o FOLDER it also draws three "
        "charts and a scene there.",
    .examples = "  tilewalk tour\n\n"
                "  # with charts\n"
                "  tilewalk tour -o charts\n",
    .options_bytes = sizeof(TourOptions),
    .sets = SETS,
    .run = run_tour,
};
