/* tilewalk tour: a first look at all of it in under a minute. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/simulate.h"
#include "sim/numbers/softmax.h"
#include "viz/cli/articles.h"
#include "viz/cli/command.h"
#include "viz/request/request.h"
#include "viz/cli/sweep.h"
#include "viz/cli/sweep_chart.h"
#include "viz/chart/bars.h"
#include "viz/text/number.h"
#include "viz/text/table.h"

typedef struct {
  OutputRequest output; /* a folder for the charts */
} TourOptions;

static void heading(Io *io, const char *text) {
  fputc('\n', io->out);
  text_print(io->out, &io->style, ROLE_HEADING, "%s", text);
  fputc('\n', io->out);
}

static void say(Io *io, const char *text) { text_paragraph(io->out, &io->style, ROLE_PLAIN, 0, text); }

/* The classic problem: one head, N = 4096, d = 128, fp16, tiles of 128 x 128. */
static Status classic(Simulation runs[3], Error *error) {
  const Problem problem = {
      .shape = {.N_q = 4096, .d = 128}, .tiling = {.B_r = 128, .B_c = 128}, .machine = machine_paper()};
  static const char *const NAMES[] = {"standard", "fa1", "fa2"};
  for (int k = 0; k < 3; k++)
    if (simulate(&runs[k], &problem, schedule_find(NAMES[k]), error)) return error->status;
  return STATUS_OK;
}

static Status compare(const Simulation runs[3], Io *io, Error *error) {
  heading(io, "1. One attention head, three ways");
  say(io, "4,096 tokens, d = 128, fp16. Standard attention writes the 4,096 x 4,096 matrices S and P to the GPU's main "
          "memory (HBM) and "
          "reads them back. The tiled algorithms work on tiles of 128 x 128 that stay in on-chip SRAM, and read K and "
          "V again instead.");
  fputc('\n', io->out);
  Table t = table_new((TableColumn[]){{.heading = "algorithm"},
                                      {.heading = "read", .right = true},
                                      {.heading = "written", .right = true},
                                      {.heading = "total", .right = true},
                                      {.heading = "times less", .right = true},
                                      {.heading = "extra HBM storage", .right = true},
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

static Status where_bytes_go(const Simulation runs[3], Io *io, Error *error) {
  heading(io, "2. Where the bytes go");
  const BarsConfig config = {.n_series = 2, .series = {"read", "written"}, .kind = VALUE_BYTES};
  Bars bars = bars_new(&config);
  for (int k = 0; k < 3; k++) {
    bars_group(&bars, runs[k].schedule->title);
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
      const double values[] = {(double)runs[k].traffic.read[tensor], (double)runs[k].traffic.write[tensor]};
      char label[16];
      snprintf(label, sizeof label, "  %s", tensor == TENSOR_STATS ? "m, l" : tensor_name((Tensor)tensor));
      if (values[0] + values[1] > 0) bars_row(&bars, label, values, NULL);
    }
  }
  const Status status = bars_print(&bars, io->out, &io->style, error);
  bars_free(&bars);
  return status;
}

enum { GRID = 4 };

/* The score matrix of 8 tokens in tiles of 2, causal: what the event stream does with each tile, and in which order. */
static Status walk_tiles(Io *io, Error *error) {
  const Shape shape = {.N_q = 8, .d = 4, .causal = true};
  const Tiling tiling = {.B_r = 2, .B_c = 2};
  Plan plan;
  if (plan_make(&plan, &shape, &tiling, error)) return error->status;
  const Schedule *fa2 = schedule_find("fa2");
  int order[GRID][GRID] = {{0}}, n = 0;
  TileKind kinds[GRID][GRID] = {{TILE_FULL}};
  Traffic traffic = {0};
  Cursor cursor = {0};
  Event e;
  while (schedule_next(fa2, &plan, &cursor, &e)) {
    traffic_add(&traffic, &e);
    if (e.kind == EVENT_PRODUCT) order[e.i][e.j] = ++n;
    if (e.kind == EVENT_PRODUCT || e.kind == EVENT_SKIP) kinds[e.i][e.j] = (TileKind)e.tile;
  }
  heading(io, "3. Tile by tile");
  say(io, "8 tokens in tiles of 2 x 2 with a causal mask, as FlashAttention-2 walks them. A tile above the diagonal is "
          "skipped: never loaded, "
          "never computed. A tile on the diagonal is computed and masked in part.");
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
  fprintf(io->out, "\n  %d full, %d masked in part, %d skipped; %d events, from 'load Q' to 'store O'.\n",
          (int)traffic.tiles[TILE_FULL], (int)traffic.tiles[TILE_PARTIAL], (int)traffic.tiles[TILE_SKIPPED],
          (int)traffic.steps);
  return STATUS_OK;
}

static void rescale(Io *io) {
  static const double SCORES[] = {1, 2, 4, 2, 5, 1, 3, 1};
  const SoftmaxConfig config = {.precision = PRECISION_FP32};
  SoftmaxState state = softmax_start(&config);
  heading(io, "4. Softmax without seeing the whole row");
  say(io, "Softmax divides by a sum over a whole row, but a tile shows only a part of it. So a running maximum m and a "
          "running sum l are kept, "
          "and what was summed before is rescaled whenever the maximum grows.");
  fputc('\n', io->out);
  for (int block = 0; block < 2; block++) {
    const SoftmaxStep s = softmax_step(&config, &state, SCORES + 4 * block, 4, NULL, 0, NULL, NULL);
    fprintf(io->out, "  scores %g %g %g %g   m = %g   ", SCORES[4 * block], SCORES[4 * block + 1],
            SCORES[4 * block + 2], SCORES[4 * block + 3], s.m_new);
    if (block == 0)
      fprintf(io->out, "l = %.4f\n", s.l_new);
    else {
      text_print(io->out, &io->style, ROLE_ACCENT, "factor e^(%g - %g) = %.4f", s.m_old, s.m_new, s.factor);
      fprintf(io->out, "\n  %23s l = %.4f x %.4f + %.4f = %.4f\n", "", s.l_old, s.factor, s.block_sum, s.l_new);
    }
  }
}

/* Draws one sweep into folder/name; prints its path. */
static Status draw(const char *folder, const char *name, const char *axis_name, const char *algorithms, Io *io,
                   Error *error) {
  Request request = {.block = strcmp(axis_name, "N") == 0 ? 128 : 0};
  Problem problem;
  Sweep sweep;
  int64_t values[32];
  int n = 0;
  const SweepAxis *axis = sweep_axis(axis_name);
  for (int64_t v = axis->low; v <= axis->high; v *= 2) values[n++] = v;
  if (request_set_algorithms(&request, algorithms, error) || request_problem(&request, &problem, NULL, error) ||
      sweep_run(&sweep, &problem, &request, axis, SWEEP_BOUNDARY, values, n, error))
    return error->status;
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const Status status = sweep_chart_save(&sweep, &request, &(ChartRequest){0}, path, error);
  sweep_free(&sweep);
  if (!status) fprintf(io->out, "  %s\n", path);
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

extern const Command COMMAND_CROSSCHECK, COMMAND_RENDER;

/* One step of the walk of section 3, as the viewer draws it. */
static Status draw_scene(const char *folder, Io *io, Error *error) {
  char path[4200];
  snprintf(path, sizeof path, "%s/tile-by-tile.png", folder);
  char *const arguments[] = {"--state", "algorithm=fa2 N=64 d=16 block=8 causal=1 scene=main step=120", "-o", path};
  if (command_run(&COMMAND_RENDER, 4, arguments, io, error) == EXIT_BAD_REQUEST) return error->status;
  fprintf(io->out, "  %s\n", path);
  return STATUS_OK;
}

static Status growth(const TourOptions *o, Io *io, Error *error) {
  static const int64_t N[] = {1024, 4096, 16384, 65536, 262144};
  heading(io, "5. How it grows");
  Table t = table_new((TableColumn[]){{.heading = "tokens", .right = true},
                                      {.heading = "standard", .unit = "traffic", .right = true},
                                      {.heading = "fa2", .unit = "traffic", .right = true},
                                      {.heading = "fa2", .unit = "times less", .right = true},
                                      {.heading = "S and P", .unit = "storage", .right = true},
                                      {.heading = "Q, K, V, O", .unit = "storage", .right = true}},
                      6);
  for (size_t k = 0; k < sizeof N / sizeof *N; k++) {
    const Problem problem = {
        .shape = {.N_q = N[k], .d = 128}, .tiling = {.B_r = 128, .B_c = 128}, .machine = machine_paper()};
    Simulation standard, fa2;
    if (simulate(&standard, &problem, schedule_find("standard"), error) ||
        simulate(&fa2, &problem, schedule_find("fa2"), error))
      break;
    table_tokens(&t, ROLE_PLAIN, wide(N[k]));
    table_bytes(&t, ROLE_PLAIN, standard.total_bytes);
    table_bytes(&t, ROLE_PLAIN, fa2.total_bytes);
    table_ratio(&t, ROLE_PLAIN, (double)standard.total_bytes / (double)fa2.total_bytes);
    table_bytes(&t, ROLE_WARN, standard.intermediates_bytes);
    table_bytes(&t, ROLE_PLAIN, fa2.inputs_bytes + fa2.outputs_bytes);
  }
  table_note(&t, "At a fixed block size both grow with N x N and the ratio settles at 2 B / d; what does not grow with "
                 "N x N is the storage. "
                 "The ratio grows with the block, until the tiles no longer fit in SRAM.");
  const Status status = table_print(&t, io->out, &io->style, error);
  table_free(&t);
  if (status || !*o->output.output) return status;
  fputs("\nPictures:\n", io->out);
  if (make_folder(o->output.output, error) ||
      draw(o->output.output, "traffic-against-N.png", "N", "standard,fa1,fa2", io, error) ||
      draw(o->output.output, "traffic-against-block.png", "block", "standard,fa1,fa2", io, error))
    return error->status;
  if (draw(o->output.output, "traffic-against-sram.svg", "sram", "fa1,fa2", io, error)) return error->status;
  return draw_scene(o->output.output, io, error);
}

static Status articles(Io *io, Error *error) {
  heading(io, "6. Are the articles right?");
  say(io, "Five published articles teach FlashAttention with numbers. Here they are computed:");
  fputc('\n', io->out);
  Claims claims = {0};
  Status status = check_read(&claims, error);
  if (!status) status = check_compute(&claims, error);
  if (!status) check_print_summary(&claims, io);
  claims_free(&claims);
  return status;
}

/* The recorded counters beside the model, as `tilewalk crosscheck` sums them up. That something differs is news for the
 * reader, not a failure of the tour. */
static Status real_gpu(Io *io, Error *error) {
  heading(io, "7. Does a real GPU agree?");
  say(io, "The same algorithms, as CUDA kernels, were run on an NVIDIA H200 and its hardware counters recorded. The "
          "model beside them:");
  fputc('\n', io->out);
  return command_run(&COMMAND_CROSSCHECK, 0, NULL, io, error) == EXIT_BAD_REQUEST ? error->status : STATUS_OK;
}

static void what_next(Io *io) {
  static const char *const NEXT[][2] = {
      {"tilewalk sim -N 8K --block 64 --causal", "your own size, mask, block"},
      {"tilewalk sweep --over block", "what a larger block buys"},
      {"tilewalk softmax --example", "online softmax by hand"},
      {"tilewalk trace -N 8 -d 4 --block 2", "every event of a small run"},
      {"tilewalk check", "every claim of the articles, computed"},
      {"tilewalk view", "the same in a window, step by step"},
      {"tilewalk lesson", "a course: predict, play, check"},
      {"tilewalk --help", "all commands"},
  };
  heading(io, "What to try next");
  for (size_t k = 0; k < sizeof NEXT / sizeof *NEXT; k++) {
    text_print(io->out, &io->style, ROLE_ACCENT, "  %-40s", NEXT[k][0]);
    fprintf(io->out, "%s\n", NEXT[k][1]);
  }
}

static int run_tour(void *options, Io *io, Error *error) {
  const TourOptions *o = options;
  Simulation runs[3];
  if (classic(runs, error)) return EXIT_BAD_REQUEST;
  text_print(io->out, &io->style, ROLE_HEADING, "Tilewalk");
  fputs(": walk through attention tile by tile and see where every byte goes\n", io->out);
  if (compare(runs, io, error) || where_bytes_go(runs, io, error) || walk_tiles(io, error)) return EXIT_BAD_REQUEST;
  rescale(io);
  if (growth(o, io, error)) return EXIT_BAD_REQUEST;
  if (articles(io, error) || real_gpu(io, error)) return EXIT_BAD_REQUEST;
  what_next(io);
  return EXIT_DONE;
}

static const OptionSet SETS[] = {
    {"Output", OUTPUT_FILE_OPTIONS, offsetof(TourOptions, output)},
    {0},
};

const Command COMMAND_TOUR = {
    .name = "tour",
    .summary = "a first look at all of it, in under a minute",
    .usage = "[-o FOLDER]",
    .description = "Compares standard and tiled attention on one head, shows where the bytes go, walks a small causal "
                   "example tile by tile, and "
                   "checks the articles. With -o FOLDER it also draws three charts there.",
    .examples = "  tilewalk tour\n\n"
                "  # with charts\n"
                "  tilewalk tour -o charts\n",
    .options_bytes = sizeof(TourOptions),
    .sets = SETS,
    .run = run_tour,
};
