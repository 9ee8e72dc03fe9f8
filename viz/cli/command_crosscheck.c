/* tilewalk crosscheck: the model against real kernels. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/cli/reply.h"
#include "viz/cli/command.h"
#include "viz/request/assets.h"
#include "viz/cli/counter_file.h"
#include "viz/cli/crosscheck/crosscheck_beside.h"
#include "viz/cli/crosscheck/crosscheck_judge.h"
#include "viz/cli/crosscheck/crosscheck_live.h"
#include "viz/cli/shard.h"
#include "viz/text/progress.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 128, DRAWS_MOST = 1000 };
static const struct {
  const char *path;
  const Placement *placement; /* of the card, as its file says; NULL: as most, or not known */
  bool once;                  /* each counter in one pass of ncu */
  bool ablated;               /* long shapes at six places each: for --ablations, to spare time */
} RECORDED_FILES[] = {{"assets/counters/h200/kernels/first.csv", NULL, false, false},
                      {"assets/counters/h200/l2/first.csv", NULL, false, false},
                      {"assets/counters/h200/l2/other.csv", &PLACEMENT_H200_OTHER, false, false},
                      {"assets/counters/h200/l2-places/first.csv", &PLACEMENT_H200, false, true},
                      {"assets/counters/h200/l2-one-pass/first.csv", NULL, true, false},
                      {"assets/counters/h200/fresh/first.csv", NULL, false, false},
                      {"assets/counters/h200/fresh/other.csv", &PLACEMENT_H200_OTHER, false, false},
                      {"assets/counters/h200/fresh/third.csv", &PLACEMENT_H200_THIRD, false, false},
                      {"assets/counters/h200/later/first.csv", NULL, false, false},
                      {"assets/counters/h200/later/other.csv", &PLACEMENT_H200_OTHER, false, false},
                      {"assets/counters/h200/later/third.csv", &PLACEMENT_H200_THIRD, false, false},
                      {"assets/counters/h200/others/first.csv", NULL, false, false},
                      {"assets/counters/h200/others-short/first.csv", &PLACEMENT_H200, false, false},
                      {"assets/counters/h200/others-places/first.csv", &PLACEMENT_H200, false, true},
                      {"assets/counters/h200/others-places/second.csv", &PLACEMENT_H200, false, false},
                      {"assets/counters/h200/others-places/third.csv", &PLACEMENT_H200, false, false},
                      {"assets/counters/h200/others-places/fourth.csv", &PLACEMENT_H200_FOURTH, false, false},
                      {"assets/counters/h200/others-turns/first.csv", NULL, true, false},
                      {"assets/counters/h200/others-one-pass/first.csv", NULL, true, false},
                      {"assets/counters/h200/others-turns/second.csv", NULL, true, false},
                      {"assets/counters/h200/others-one-pass/second.csv", NULL, true, false},
                      {"assets/counters/h200/others-one-pass/third.csv", NULL, true, false},
                      {"assets/counters/h200/cudnn-places/first.csv", &PLACEMENT_H200, false, false},
                      {"assets/counters/h200/cudnn-places/second.csv", &PLACEMENT_H200, false, false},
                      {"assets/counters/h200/cudnn-places/third.csv", &PLACEMENT_H200, false, false}};
enum { N_RECORDED = sizeof RECORDED_FILES / sizeof *RECORDED_FILES };

/* Rungs 8 to 11, on an H100: what crossed the boundary. The model of L2 is not held against them. */
static const char *const H100_FILES[] = {"assets/counters/h100/hopper/first.csv", "assets/counters/h100/more/first.csv",
                                         "assets/counters/h100/hopper-more/first.csv"};
enum { N_H100_FILES = sizeof H100_FILES / sizeof *H100_FILES };

typedef struct {
  Request request;
  OutputRequest output;
  Shard shard;
  size_t n_points; /* that --shard deals out: launches of the files, or kernels and shapes */
  bool recorded, cpu, live, details, ablations, markdown;
  long long draws; /* 0: the usual one */
  char ncu[PATH_BYTES], beside[PATH_BYTES], kernels[PATH_BYTES], kernel_name[NAME_BYTES];
} CrosscheckOptions;

/* --- counters from files --- */

/* Columns that say nothing, and what the reader noticed. */
static void note_reading(Crosscheck *c, const CounterTable *table) {
  char names[200] = "";
  for (int i = 0; i < table->n_ignored && i < 4; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", table->ignored[i]);
  if (table->n_ignored)
    crosscheck_note(c, "Columns that are not used: %d%s (%s%s).", table->n_ignored,
                    table->ignored_more ? " and more" : "", names, table->n_ignored > 4 ? ", ..." : "");
  for (int i = 0; i < table->n_notes; i++) crosscheck_note(c, "Note: %s", table->notes[i]);
}

static bool is_attention(const LaunchRun *run) {
  const LaunchRole role = run->facts.role;
  return run->sum.has_shape || role == LAUNCH_ROLE_FUSED || role == LAUNCH_ROLE_SPLIT || run->n_parts > 1;
}

static bool is_backward(const LaunchRun *run) {
  return !run->sum.has_shape && run->facts.role >= LAUNCH_ROLE_BACKWARD_BEFORE &&
         run->facts.role <= LAUNCH_ROLE_BACKWARD_AFTER;
}

static bool is_mine(const CrosscheckOptions *o, size_t point) {
  return !o->shard.parts || shard_has(&o->shard, point, o->n_points);
}

/* *n_added: points of the files before. */
static Status judge_runs(Crosscheck *c, Judge *j, const CrosscheckOptions *o, const LaunchRun *runs, size_t n_runs,
                         size_t *n_added, Error *error) {
  bool any = false;
  for (size_t i = 0; i < n_runs; i++) any |= is_attention(&runs[i]) || is_backward(&runs[i]);
  size_t n_left_out = 0;
  Status status = STATUS_OK;
  for (size_t i = 0; i < n_runs && status == STATUS_OK; i++) {
    if (!is_mine(o, (*n_added)++)) continue;
    if (is_backward(&runs[i]))
      status = judge_backward(c, j, &runs[i], error);
    else if (any && !is_attention(&runs[i]))
      n_left_out++;
    else
      status = judge_run(c, j, &runs[i], error);
  }
  if (n_left_out)
    crosscheck_note(c, "%zu other kernel%s left out; --kernel-name TEXT chooses.", n_left_out,
                    n_left_out == 1 ? "" : "s");
  return status;
}

/* Those for --ablations, which predicts each of them once for every part of the model. */
static size_t keep_few(LaunchRun *runs, size_t n_runs) {
  size_t n = 0;
  for (size_t i = 0; i < n_runs; i++)
    if (runs[i].sum.shape.heads == 4 && runs[i].sum.shape.d == 128) runs[n++] = runs[i];
  return n;
}

/* c: NULL to count its launches alone. */
static Status add_file(Crosscheck *c, Judge *j, const char *path, const CrosscheckOptions *o, Io *io, size_t *n_added,
                       Error *error) {
  CounterTable table;
  LaunchRun *runs = NULL;
  size_t n_runs = 0, twice = *n_added;
  Status status = counter_file_read(path, &table, io, error);
  if (status == STATUS_OK) status = launch_runs(&table, o->kernel_name, &runs, &n_runs, error);
  if (status == STATUS_OK && o->ablations && !*o->ncu) n_runs = keep_few(runs, n_runs);
  if (status == STATUS_OK && !c) *n_added += n_runs;
  if (status == STATUS_OK && c && *o->ncu) {
    note_reading(c, &table);
    status = judge_file(c, j, &table, error);
  }
  Crosscheck none = {0};
  for (int pass = 0; pass < 2 && c && status == STATUS_OK; pass++) {
    judge_collect(j, pass == 0);
    status = judge_runs(pass == 0 ? &none : c, j, o, runs, n_runs, pass == 0 ? &twice : n_added, error);
  }
  crosscheck_free(&none);
  counter_table_free(&table);
  free(runs);
  return status;
}

/* What an H100 counted at the boundary in one of its files; c: NULL to count its rows alone. */
static Status add_h100_file(Crosscheck *c, const char *asset, const CrosscheckOptions *o, size_t *n_added,
                            Error *error) {
  char path[ASSETS_PATH_BYTES];
  CounterTable table = {0};
  Status status = assets_find(path, sizeof path, asset, error);
  if (status == STATUS_OK) status = counter_file_read(path, &table, NULL, error);
  if (c) c->on_h100 = true;
  for (size_t i = 0; i < table.n_rows && status == STATUS_OK; i++) {
    CounterRow row = table.rows[i];
    const KernelModel *model = kernel_model_find(row.kernel);
    if (!model || !strstr(row.kernel, o->kernel_name)) continue;
    const bool is_added = c && is_mine(o, *n_added);
    ++*n_added;
    if (!is_added) continue;
    for (int k = 0; k < COUNTER_COUNT; k++)
      row.known[k] = row.known[k] && (k == COUNTER_BOUNDARY_READ || k == COUNTER_BOUNDARY_WRITE);
    status = crosscheck_add_row(c, &row, model, &row.shape, &row.tiling, error);
  }
  if (c) c->on_h100 = false;
  counter_table_free(&table);
  return status;
}

static Status add_all_files(Crosscheck *c, Judge *judge, const CrosscheckOptions *o, Io *io, Progress *progress,
                            size_t *n_added, Error *error) {
  Status status = STATUS_OK;
  if (*o->ncu) return add_file(c, judge, o->ncu, o, io, n_added, error);
  for (size_t i = 0; i < N_RECORDED && status == STATUS_OK; i++) {
    char path[ASSETS_PATH_BYTES];
    if (o->ablations && !RECORDED_FILES[i].ablated) continue;
    status = assets_find(path, sizeof path, RECORDED_FILES[i].path, error);
    if (c) judge_card(judge, RECORDED_FILES[i].placement, RECORDED_FILES[i].once);
    if (status == STATUS_OK) status = add_file(c, judge, path, o, NULL, n_added, error);
    if (c) progress_update(progress, i + 1, N_RECORDED, progress_clock_s());
  }
  for (size_t i = 0; i < N_H100_FILES && !o->ablations && !o->markdown && status == STATUS_OK; i++)
    status = add_h100_file(c, H100_FILES[i], o, n_added, error);
  return status;
}

/* The files of counters that were asked for, or those that come with Tilewalk. */
static Status add_files(Crosscheck *c, CrosscheckOptions *o, Refinements without, Io *io, Error *error) {
  const TextStyle style = text_style_for(io->err);
  Progress progress = progress_new(io->err, &style, text_is_terminal(io->err), "files predicted", progress_clock_s());
  Judge *judge;
  size_t n_added = 0;
  Status status = judge_open(&judge, &o->request, without, error);
  if (status == STATUS_OK) judge_draws(judge, (uint32_t)o->draws);
  if (status == STATUS_OK && o->shard.parts)
    status = add_all_files(NULL, judge, o, NULL, &progress, &o->n_points, error);
  if (status == STATUS_OK) status = add_all_files(c, judge, o, io, &progress, &n_added, error);
  progress_end(&progress);
  judge_close(judge);
  if (status == STATUS_OK && n_added == 0)
    status = error_set(error, STATUS_BAD_REQUEST, "no kernel in the file has '%s' in its name",
                       quote_text(o->kernel_name).text);
  return status;
}

/* --- kernels on this computer's processor --- */

static Status add_cpu(Crosscheck *c, CrosscheckOptions *o, Error *error) {
  static const Shape shapes[] = {
      {.N_q = 1, .N_k = 1, .d = 64},
      {.N_q = 128, .N_k = 128, .d = 64, .causal = true},
      {.heads = 2, .kv_heads = 1, .N_q = 70, .N_k = 130, .d = 64, .causal = true, .dtype = DTYPE_BF16},
      {.N_q = 200, .N_k = 45, .d = 128},
      {.batch = 2, .N_q = 129, .N_k = 100, .d = 64, .causal = true},
  };
  const bool has_shape = o->request.shape.N_q != 0;
  Shape own = o->request.shape;
  if (own.d == 0) own.d = 64;
  Tiling tiling = o->request.tiling;
  if (o->request.block) tiling.B_r = tiling.B_c = o->request.block;
  Error refused = {0}; /* why a kernel does not take the shape: it is left out, unless none takes it */
  const size_t n_shapes = has_shape ? 1 : sizeof shapes / sizeof *shapes;
  o->n_points = n_shapes * (size_t)N_KERNEL_MODELS;
  for (size_t s = 0; s < n_shapes; s++) {
    Shape shape = has_shape ? own : shapes[s];
    Status status = shape_complete(&shape, error);
    if (status) return status;
    for (int k = 0; k < N_KERNEL_MODELS; k++) {
      if (*o->kernel_name && !strstr(KERNEL_MODELS[k].name, o->kernel_name)) continue;
      if (!is_mine(o, s * (size_t)N_KERNEL_MODELS + (size_t)k)) continue;
      Error why = {0};
      status = crosscheck_cpu_run(c, KERNEL_MODELS[k].name, &shape, &tiling, &why);
      if (status == STATUS_NO_MEMORY || status == STATUS_BAD_FILE) return error_set(error, status, "%s", why.message);
      if (status) refused = why;
    }
  }
  if (c->n_items || o->shard.parts) return STATUS_OK;
  if (refused.status) return error_set(error, refused.status, "%s", refused.message);
  return error_set(error, STATUS_BAD_REQUEST, "no kernel of the ladder has '%s' in its name",
                   quote_text(o->kernel_name).text);
}

/* --- the command --- */

static Status add_live(Crosscheck *c, CrosscheckOptions *o, Io *io, bool *with_ncu, Error *error) {
  Request r = o->request;
  if (!r.shape.N_q) r.shape.N_q = 4096;
  if (!r.shape.d) r.shape.d = 128;
  if (r.block) r.tiling.B_r = r.tiling.B_c = r.block;
  if (shape_complete(&r.shape, error)) return STATUS_BAD_REQUEST;
  Judge *judge = NULL;
  Status status =
      *r.gpu ? judge_open(&judge, &o->request, 0, error) : STATUS_OK; /* a GPU that is not named is not predicted */
  if (status == STATUS_OK) status = crosscheck_live(c, judge, &r, o->kernels, io->program, with_ncu, error);
  judge_close(judge);
  return status;
}

static Status collect(Crosscheck *c, CrosscheckOptions *o, Io *io, char *title, size_t title_bytes, Error *error) {
  bool with_ncu = false;
  if (*o->ncu) {
    snprintf(title, title_bytes, "counters in %.120s", o->ncu);
    return add_files(c, o, 0, io, error);
  }
  if (o->cpu) {
    snprintf(title, title_bytes, "the ladder of kernels on this computer's processor");
    return add_cpu(c, o, error);
  }
  if (o->live) {
    const Status status = add_live(c, o, io, &with_ncu, error);
    snprintf(title, title_bytes, "the ladder of kernels on this computer's GPU, %s",
             with_ncu ? "counted and under ncu" : "counted (no ncu here, so no hardware counters)");
    return status;
  }
  snprintf(title, title_bytes, "hardware counters recorded on an NVIDIA H200, and of rungs 8 to 11 on an H100");
  return add_files(c, o, 0, io, error);
}

/* The same runs again, with one part of the model after another left out: the means of recordings, where there are
 * several. */
static Status add_ablations(Crosscheck *c, CrosscheckOptions *o, Io *io, Error *error) {
  Status status = STATUS_OK;
  for (int w = 0; w <= N_REFINEMENTS && status == STATUS_OK; w++) {
    Crosscheck again = {0}, means = {0};
    CrosscheckGroup *groups = NULL;
    size_t n = 0;
    status = add_files(&again, o, w ? refinement_bit((Refinement)(w - 1)) : 0, io, error);
    if (status == STATUS_OK) status = crosscheck_means(&again, &means, &groups, &n, error);
    if (status == STATUS_OK && n) {
      c->ablations[w] = groups[n - 2];
      for (int q = 0; q < PREDICT_COUNT; q++) c->ablations[w].quantities[q].where = NULL; /* of `means` */
    }
    free(groups);
    crosscheck_free(&means);
    crosscheck_free(&again);
  }
  c->has_ablations = true;
  return status;
}

/* How long launches take was recorded with Tilewalk's own counters, not with a user's file. */
static Status print_markdown(const Crosscheck *c, const CrosscheckOptions *o, Io *io, Error *error) {
  Judge *judge = NULL;
  Status status = STATUS_OK;
  if (o->ablations) {
    crosscheck_print_ablations(c, io->out);
    return status;
  }
  status = crosscheck_print_markdown(c, io->out, error);
  if (*o->ncu) return status;
  if (status == STATUS_OK) status = judge_open(&judge, &o->request, 0, error);
  if (status == STATUS_OK) status = crosscheck_print_time(judge, io->out, error);
  judge_close(judge);
  return status;
}

static Status check_options(const CrosscheckOptions *o, Error *error) {
  if (shard_check(&o->shard, &o->output, error)) return error->status;
  if (o->shard.parts && (o->live || o->ablations || *o->beside))
    return error_set(error, STATUS_BAD_REQUEST,
                     "--shard deals out recorded launches, those of --ncu FILE, and --cpu; leave out --%s",
                     o->live        ? "live"
                     : o->ablations ? "ablations"
                                    : "beside");
  const int n_sources = o->recorded + o->cpu + o->live + (*o->ncu != '\0');
  if (n_sources > 1)
    return error_set(error, STATUS_BAD_REQUEST, "one source at a time: --recorded, --cpu, --live or --ncu FILE");
  if (*o->beside && (!*o->ncu || o->markdown || o->ablations || o->details))
    return error_set(
        error, STATUS_BAD_REQUEST,
        "--beside lays a second file beside that of --ncu FILE, and takes --kernel-name, --json and --csv");
  if (o->request.sram_bytes)
    return error_set(error, STATUS_BAD_REQUEST,
                     "--sram decides what fits, which a kernel that ran has shown; leave it out");
  if ((o->cpu || o->live) && (o->ablations || o->markdown))
    return error_set(error, STATUS_BAD_REQUEST, "--%s is about recorded counters; leave out --%s",
                     o->ablations ? "ablations" : "markdown", o->cpu ? "cpu" : "live");
  if ((o->cpu || o->live) && o->draws)
    return error_set(error, STATUS_BAD_REQUEST, "--draws is about recorded counters; leave out --%s",
                     o->cpu ? "cpu" : "live");
  if (o->markdown && (o->output.json || o->output.csv || o->details))
    return error_set(error, STATUS_BAD_REQUEST,
                     "--markdown is a form of its own; leave out --json, --csv and --details");
  return STATUS_OK;
}

static int run_crosscheck(void *options, Io *io, Error *error) {
  CrosscheckOptions *o = options;
  Crosscheck found = {0};
  char title[200] = "";
  if (output_request_check(&o->output, error)) return EXIT_BAD_REQUEST;
  found.explains = *o->ncu || o->cpu || o->live;
  Status status = check_options(o, error);
  if (status == STATUS_OK && *o->beside) {
    Document d = reply_new(&o->output);
    status = crosscheck_beside(&d, o->ncu, o->beside, o->kernel_name, io, error);
    return reply_print(&d, status, io, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
  }
  if (status == STATUS_OK) status = collect(&found, o, io, title, sizeof title, error);
  if (status == STATUS_OK && o->ablations) status = add_ablations(&found, o, io, error);
  const char *gpu = *found.gpu ? found.gpu : *o->request.gpu ? o->request.gpu : JUDGE_DEFAULT_GPU;
  if (status == STATUS_OK && o->markdown) {
    status = print_markdown(&found, o, io, error);
  } else if (status == STATUS_OK) {
    Document d = reply_new(&o->output);
    status = crosscheck_fill(&d, &found, title, gpu, o->details, error);
    if (o->shard.part > 1) document_continues(&d);
    status = reply_print(&d, status, io, error);
  }
  const bool is_bad = found.is_bad;
  crosscheck_free(&found);
  return status != STATUS_OK ? EXIT_BAD_REQUEST : is_bad ? EXIT_DIFFERS : EXIT_DONE;
}

static const Option SOURCE_OPTIONS[] = {
    {.name = "recorded",
     OPTION_FLAG(CrosscheckOptions, recorded),
     .help = "Counters recorded on an H200, and of rungs 8 to 11 on an H100, that come with Tilewalk (the default)."},
    {.name = "cpu",
     OPTION_FLAG(CrosscheckOptions, cpu),
     .help = "Run the kernels here, on the processor, on small shapes or the one given."},
    {.name = "live",
     OPTION_FLAG(CrosscheckOptions, live),
     .help = "Run them on this computer's GPU, and under ncu if it is installed."},
    {.name = "ncu",
     .argument = "FILE",
     OPTION_TEXT(CrosscheckOptions, ncu, "the name of the counter file"),
     .help = "A CSV of ncu's, raw page or details, of any kernel, shell, locale or version; - is standard input."},
    {.name = "beside",
     .argument = "FILE",
     OPTION_TEXT(CrosscheckOptions, beside, "the name of the second file"),
     .help = "A second file, side by side with that of --ncu: before a change and after it, or two cards; counters "
             "that both have, and their ratio. No shape is needed."},
    {.name = "kernel-name",
     .argument = "TEXT",
     OPTION_TEXT(CrosscheckOptions, kernel_name, "the kernel name"),
     .help = "Only kernels with this in their name."},
    {.name = "kernels",
     .argument = "PATH",
     OPTION_TEXT(CrosscheckOptions, kernels, "the path of tilewalk-kernels"),
     .help = "The program tilewalk-kernels, for --live."},
    {.name = "details",
     OPTION_FLAG(CrosscheckOptions, details),
     .help = "Every kernel and shape too, not only the summary."},
    {.name = "ablations",
     OPTION_FLAG(CrosscheckOptions, ablations),
     .help = "Predict again without each part of the model of L2; of recordings that come with Tilewalk, the long "
             "shapes at six places."},
    {.name = "draws",
     .argument = "N",
     OPTION_NUMBER(CrosscheckOptions, draws, "draws", 1, DRAWS_MOST),
     .help = "Predict the mean of N draws of what is random; without it the usual draw, which comes near the mean of "
             "many."},
    {.name = "markdown",
     OPTION_FLAG(CrosscheckOptions, markdown),
     .help = "The predictions as the tables of sim/l2/MODEL.md, which `make accuracy` writes."},
    {0},
};

static const OptionSet SETS[] = {
    {"Measurements", SOURCE_OPTIONS, 0},
    {"Shape", REQUEST_SHAPE_OPTIONS, offsetof(CrosscheckOptions, request)},
    {"Algorithm and tiles", REQUEST_TILING_OPTIONS, offsetof(CrosscheckOptions, request)},
    {"Machine", REQUEST_MACHINE_OPTIONS, offsetof(CrosscheckOptions, request)},
    {"Launch and L2, for experts", REQUEST_EXPERT_OPTIONS, offsetof(CrosscheckOptions, request)},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(CrosscheckOptions, output)},
    {"Parts", SHARD_OPTIONS, offsetof(CrosscheckOptions, shard)},
    {0},
};

const Command COMMAND_CROSSCHECK = {
    .name = "crosscheck",
    .summary = "the model against counted, recorded or live kernels",
    .usage = "[--recorded | --cpu | --live | --ncu FILE] [OPTION...]",
    .description =
        "Lays the model beside what real kernels did: bytes across the boundary between the SMs and L2 (what the "
        "papers call HBM accesses), tensor instructions, sectors in L2, bytes of HBM. The first three must be equal; a "
        "range is given for the rest, because caches and the coalescer decide it. Exit status 1 when something that "
        "must be equal is not. For kernels that are described (assets/kernels, --kernel), the model of L2 then "
        "predicts bytes of HBM, fabric, sectors, hit rate and the least time, with the error of each; a prediction "
        "outside its band is shown and is no failure. With --ncu the file's kernel names, grid and compute capability "
        "choose what options leave open, launches of one attention are added up, and where a count differs likely "
        "causes are computed. The counters that it uses, all or some, are those of the example; ncu --import "
        "FILE.ncu-rep --csv --page raw exports a report.",
    .examples = "  # counters recorded on an H200\n"
                "  tilewalk crosscheck\n\n"
                "  # the same kernels on this computer's processor\n"
                "  tilewalk crosscheck --cpu -N 200 --causal\n\n"
                "  # a kernel of your own: record it, then ask why its bytes differ\n"
                "  ncu --cache-control all --clock-control none --csv --page raw --print-units base --metrics "
                "l1tex__m_xbar2l1tex_read_bytes.sum,l1tex__m_l1tex2xbar_write_bytes.sum,"
                "lts__t_sectors_srcunit_tex_op_read.sum,lts__t_sectors_srcunit_tex_op_write.sum,"
                "lts__t_sectors_srcunit_tex_lookup_hit.sum,lts__t_sectors_srcunit_tex_lookup_miss.sum,"
                "lts__t_sectors_srcunit_ltcfabric.sum,dram__bytes_read.sum,dram__bytes_write.sum,"
                "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum,l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum,"
                "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum,smsp__sass_data_bytes_mem_global_op_ld.sum,"
                "launch__shared_mem_per_block_dynamic,launch__registers_per_thread,device__attribute_display_name,"
                "gpu__time_duration.sum ./PROGRAM >mine.csv\n"
                "  tilewalk crosscheck --ncu mine.csv\n\n"
                "  # every recorded run of one kernel\n"
                "  tilewalk crosscheck --kernel-name fa2_async --details\n\n"
                "  # what the parts of the model explain\n"
                "  tilewalk crosscheck --kernel-name fa2-sm90 --ablations\n",
    .options_bytes = sizeof(CrosscheckOptions),
    .sets = SETS,
    .run = run_crosscheck,
};
