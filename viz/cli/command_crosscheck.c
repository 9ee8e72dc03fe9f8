/* tilewalk crosscheck: the model against real kernels. */

#include "kernels/lib/cpu_check.h"
#include "sim/base/text_add.h"
#include "viz/cli/command.h"
#include "viz/request/assets.h"
#include "viz/cli/counter_file.h"
#include "viz/cli/crosscheck/crosscheck_live.h"
#include "viz/cli/shard.h"
#include "viz/text/progress.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 128, DRAWS_MOST = 1000, SAMPLE_OF = 16 };
static const struct {
  const char *path;           /* in assets/counters */
  const Placement *placement; /* of the card, as its file says; NULL: as most, or not known */
} RECORDED_FILES[] = {{"h200/kernels/first", NULL},
                      {"h200/l2/first", NULL},
                      {"h200/l2/other", &PLACEMENT_H200_OTHER},
                      {"h200/l2-places/first", NULL},
                      {"h200/l2-one-pass/first", NULL},
                      {"h200/fresh/first", NULL},
                      {"h200/fresh/other", &PLACEMENT_H200_OTHER},
                      {"h200/fresh/third", &PLACEMENT_H200_THIRD},
                      {"h200/later/first", NULL},
                      {"h200/later/other", &PLACEMENT_H200_OTHER},
                      {"h200/later/third", &PLACEMENT_H200_THIRD},
                      {"h200/others/first", NULL},
                      {"h200/others-short/first", NULL},
                      {"h200/others-places/first", NULL},
                      {"h200/others-places/second", NULL},
                      {"h200/others-places/third", NULL},
                      {"h200/others-places/fourth", &PLACEMENT_H200_FOURTH},
                      {"h200/others-turns/first", NULL},
                      {"h200/others-one-pass/first", NULL},
                      {"h200/others-turns/second", NULL},
                      {"h200/others-one-pass/second", NULL},
                      {"h200/others-one-pass/third", NULL},
                      {"h200/cudnn-places/first", NULL},
                      {"h200/cudnn-places/second", NULL},
                      {"h200/cudnn-places/third", NULL},
                      /* rungs 8 to 11: what crossed the boundary; the model of L2 is not held against them */
                      {"h100/hopper/first", NULL},
                      {"h100/more/first", NULL},
                      {"h100/hopper-more/first", NULL}};
enum { N_RECORDED = COUNT_OF(RECORDED_FILES) };

typedef struct {
  Request request;
  OutputRequest output;
  Shard shard;
  size_t n_points; /* that --shard deals out: launches of the files, or kernels and shapes */
  bool recorded, all, cpu, live, markdown;
  long long draws; /* 0: the usual one */
  char ncu[PATH_BYTES], kernels[PATH_BYTES], kernel_name[NAME_BYTES];
  Judge judge; /* what it works with */
} CrosscheckOptions;

/* --- counters from files --- */

/* Columns that say nothing, and what the reader noticed. */
static void note_reading(Crosscheck *c, const CounterTable *table) {
  char names[200] = "";
  for (int i = 0; i < table->n_ignored && i < 4; i++)
    text_add(names, sizeof names, "%s%s", i ? ", " : "", table->ignored[i]);
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
  for (size_t i = 0; i < n_runs && !status; i++) {
    if (!is_mine(o, (*n_added)++)) continue;
    if (is_backward(&runs[i]))
      status = judge_backward(c, j, &runs[i], error);
    else if (any && !is_attention(&runs[i]))
      n_left_out++;
    else
      status = judge_run(c, j, &runs[i], error);
  }
  if (n_left_out)
    crosscheck_note(c, "%s left out; --kernel-name TEXT chooses.", number_of(n_left_out, "other kernel").text);
  return status;
}

/* c: NULL to count its launches alone. */
static Status add_file(Crosscheck *c, Judge *j, const char *path, const CrosscheckOptions *o, size_t *n_added,
                       Error *error) {
  CounterTable table;
  LaunchRun *runs = NULL;
  size_t n_runs = 0, twice = *n_added;
  Status status = counter_file_read(path, &table, error);
  if (!status) status = launch_runs(&table, o->kernel_name, &runs, &n_runs, error);
  if (!status && !c) *n_added += n_runs;
  if (!status && c && *o->ncu) {
    note_reading(c, &table);
    status = judge_file(c, j, &table, error);
  }
  Crosscheck none = {0};
  for (int pass = 0; pass < 2 && c && !status; pass++) {
    judge_collect(j, pass == 0);
    status = judge_runs(pass == 0 ? &none : c, j, o, runs, n_runs, pass == 0 ? &twice : n_added, error);
  }
  crosscheck_free(&none);
  counter_table_free(&table);
  free(runs);
  return status;
}

/* c: NULL to count alone. */
static Status add_all_files(Crosscheck *c, Judge *judge, const CrosscheckOptions *o, Progress *progress,
                            size_t *n_added, Error *error) {
  Status status = STATUS_OK;
  if (*o->ncu) return add_file(c, judge, o->ncu, o, n_added, error);
  for (size_t i = 0; i < N_RECORDED && !status; i++) {
    char path[ASSETS_PATH_BYTES], asset[NAME_BYTES];
    const char *name = RECORDED_FILES[i].path;
    const bool on_h100 = !strncmp(name, "h100", 4);
    if (on_h100 && o->markdown) continue;
    snprintf(asset, sizeof asset, "assets/counters/%s.csv", name);
    status = assets_find(path, sizeof path, asset, error);
    judge->placement = RECORDED_FILES[i].placement;
    judge->once = strstr(name, "-one-pass/") || strstr(name, "-turns/");
    judge->blind = on_h100;
    if (c) c->on_h100 = on_h100;
    if (!status) status = add_file(c, judge, path, o, n_added, error);
    if (!c) continue;
    progress_update(progress, i + 1, N_RECORDED, progress_clock_s());
    progress_foretell(progress, (double)(i + 1) / N_RECORDED);
  }
  return status;
}

/* People who ask for nothing in particular get a sample of what comes with Tilewalk, in seconds. */
static bool takes_sample(const CrosscheckOptions *o) {
  return !(o->all || *o->ncu || *o->kernel_name || o->markdown || o->shard.parts || o->output.json || o->output.csv ||
           o->draws);
}

/* The files of counters that were asked for, or those that come with Tilewalk. */
static Status add_files(Crosscheck *c, CrosscheckOptions *o, Io *io, Error *error) {
  Progress progress = progress_begin(io->err, "files predicted", true);
  Judge *const judge = &o->judge;
  size_t n_added = 0;
  Status status = judge_open(judge, &o->request, error);
  if (!status) judge->draws = (uint32_t)o->draws;
  if (!status && c->samples) judge->one_in = SAMPLE_OF;
  if (!status && o->shard.parts) status = add_all_files(NULL, judge, o, &progress, &o->n_points, error);
  if (!status) status = add_all_files(c, judge, o, &progress, &n_added, error);
  progress_end(&progress);
  judge_close(judge);
  if (!status && n_added == 0)
    status = error_refuse(error, "no kernel in the file has '%s' in its name", quote_text(o->kernel_name).text);
  return status;
}

/* --- kernels on this computer's processor --- */

/* Its output, and the bytes it counts, as rows. */
static Status run_rung(Crosscheck *c, const char *rung, const Shape *shape, const Tiling *tiling, Error *error) {
  CpuCheck check;
  const KernelModel *model = kernel_model_find(rung);
  char folder[ASSETS_PATH_BYTES];
  Status status = assets_find(folder, sizeof folder, "assets/ladder", error);
  if (!status) status = cpu_check_run(rung, shape, tiling, 1, folder, &check, error);
  if (status) return status;
  CrosscheckItem output = crosscheck_item(rung, shape, &check.tiling, "output right");
  output.must_hold = true;
  output.low = output.high = 1;
  output.measured = output.holds = check.right;
  output.error = check.right ? 0 : -1;
  CounterRow row = {.known = {[COUNTER_COUNTED_READ] = true, [COUNTER_COUNTED_WRITE] = true}};
  snprintf(row.kernel, sizeof row.kernel, "%s", rung);
  KernelTraffic traffic;
  status = kernel_model_traffic(model, shape, &check.tiling, &traffic, error);
  if (status) return status;
  for (int t = 0; t < KERNEL_TENSORS; t++) {
    row.value[COUNTER_COUNTED_READ] += check.read[t];
    row.value[COUNTER_COUNTED_WRITE] += check.write[t];
    if (check.read[t] == traffic.read[t] && check.write[t] == traffic.write[t]) continue;
    CrosscheckItem tensor = output;
    tensor.quantity = "bytes of one tensor";
    tensor.low = tensor.high = (double)(traffic.read[t] + traffic.write[t]);
    tensor.measured = (double)(check.read[t] + check.write[t]);
    tensor.holds = false;
    status = crosscheck_add(c, &tensor, error);
  }
  if (!status) status = crosscheck_add(c, &output, error);
  return status ? status : crosscheck_add_row(c, &row, model, shape, &check.tiling, error);
}

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
  const size_t n_shapes = has_shape ? 1 : COUNT_OF(shapes);
  o->n_points = n_shapes * (size_t)N_KERNEL_MODELS;
  for (size_t s = 0; s < n_shapes; s++) {
    Shape shape = has_shape ? own : shapes[s];
    Status status = shape_complete(&shape, error);
    if (status) return status;
    for (int k = 0; k < N_KERNEL_MODELS; k++) {
      if (*o->kernel_name && !strstr(KERNEL_MODELS[k].name, o->kernel_name)) continue;
      if (!is_mine(o, s * (size_t)N_KERNEL_MODELS + (size_t)k)) continue;
      Error why = {0};
      status = run_rung(c, KERNEL_MODELS[k].name, &shape, &tiling, &why);
      if (status == STATUS_NO_MEMORY || status == STATUS_BAD_FILE) return error_pass(error, &why);
      if (status) refused = why;
    }
  }
  if (c->n_items || o->shard.parts) return STATUS_OK;
  if (refused.status) return error_pass(error, &refused);
  return error_refuse(error, "no kernel of the ladder has '%s' in its name", quote_text(o->kernel_name).text);
}

/* --- the command --- */

static Status add_live(Crosscheck *c, CrosscheckOptions *o, Io *io, bool *with_ncu, Error *error) {
  Request r = o->request;
  if (!r.shape.N_q) r.shape.N_q = 4096;
  if (!r.shape.d) r.shape.d = 128;
  if (r.block) r.tiling.B_r = r.tiling.B_c = r.block;
  if (shape_complete(&r.shape, error)) return STATUS_BAD_REQUEST;
  Judge *const judge = *r.gpu ? &o->judge : NULL; /* a GPU that is not named is not predicted */
  Status status = judge ? judge_open(judge, &o->request, error) : STATUS_OK;
  if (!status) status = crosscheck_live(c, judge, &r, o->kernels, io->program, with_ncu, error);
  judge_close(&o->judge);
  return status;
}

static Status collect(Crosscheck *c, CrosscheckOptions *o, Io *io, Error *error) {
  const char *title = "hardware counters recorded on an NVIDIA H200, and of rungs 8 to 11 on an H100";
  bool with_ncu = false;
  Status status;
  if (o->cpu) {
    title = "the ladder of kernels on this computer's processor";
    status = add_cpu(c, o, error);
  } else if (o->live) {
    status = add_live(c, o, io, &with_ncu, error);
    title = with_ncu ? "the ladder of kernels on this computer's GPU, counted and under ncu"
                     : "the ladder of kernels on this computer's GPU, counted (no ncu here, so no hardware counters)";
  } else {
    c->samples = takes_sample(o);
    status = add_files(c, o, io, error);
  }
  snprintf(c->title, sizeof c->title, *o->ncu ? "counters in %.120s" : "%s", *o->ncu ? o->ncu : title);
  return status;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  CrosscheckOptions *o = options;
  Crosscheck found = {.explains = *o->ncu || o->cpu || o->live};
  Status status = shard_check(&o->shard, &o->output, error);
  if (!status && o->request.sram_bytes)
    status = error_refuse(error, "--sram decides what fits, which a kernel that ran has shown; leave it out");
  snprintf(found.gpu, sizeof found.gpu, "%s", *o->request.gpu ? o->request.gpu : JUDGE_DEFAULT_GPU);
  if (!status) status = collect(&found, o, io, error);
  if (!status)
    status = o->markdown ? crosscheck_print_markdown(&found, io->out, error) : crosscheck_fill(d, &found, error);
  if (o->shard.part > 1) document_continues(d);
  io->differs = found.is_bad;
  crosscheck_free(&found);
  return status;
}

static const Option SOURCE_OPTIONS[] = {
    OPTION_SWITCH(
        "recorded",
        "Counters recorded on an H200, and of rungs 8 to 11 on an H100, that come with Tilewalk (the default).",
        OPTION_FLAG(CrosscheckOptions, recorded)),
    OPTION_SWITCH(
        "all",
        "Predict every recorded launch, in a minute, where one shape in 16 is a sample; --json, --csv, --markdown, "
        "--shard and --kernel-name do too.",
        OPTION_FLAG(CrosscheckOptions, all)),
    OPTION_SWITCH("cpu", "Run the kernels here, on the processor, on small shapes or the one given.",
                  OPTION_FLAG(CrosscheckOptions, cpu)),
    OPTION_SWITCH("live", "Run them on this computer's GPU, and under ncu if it is installed.",
                  OPTION_FLAG(CrosscheckOptions, live)),
    OPTION_ROW("ncu", "FILE",
               "A CSV of ncu's, raw page or details, of any kernel, shell, locale or version; - is standard input.",
               OPTION_TEXT(CrosscheckOptions, ncu, "the name of the counter file")),
    OPTION_ROW("kernel-name", "TEXT", "Only kernels with this in their name.",
               OPTION_TEXT(CrosscheckOptions, kernel_name, "the kernel name")),
    OPTION_ROW("kernels", "PATH", "The program tilewalk-kernels, for --live.",
               OPTION_TEXT(CrosscheckOptions, kernels, "the path of tilewalk-kernels")),
    OPTION_ROW("draws", "N",
               "Predict the mean of N draws of what is random; without it the usual draw, which comes near the mean of "
               "many.",
               OPTION_NUMBER(CrosscheckOptions, draws, "draws", 1, DRAWS_MOST)),
    OPTION_SWITCH("markdown", "The predictions as the tables of sim/l2/MODEL.md, which `make accuracy` writes.",
                  OPTION_FLAG(CrosscheckOptions, markdown)),
    {0},
};

static const OptionSet SETS[] = {
    {"Measurements", SOURCE_OPTIONS, 0},
    {"Shape", QUESTION_SHAPE_OPTIONS, offsetof(CrosscheckOptions, request)},
    {"Algorithm and tiles", QUESTION_TILING_OPTIONS, offsetof(CrosscheckOptions, request)},
    {"Machine", QUESTION_MACHINE_OPTIONS, offsetof(CrosscheckOptions, request)},
    {"Launch and L2, for experts", QUESTION_EXPERT_OPTIONS, offsetof(CrosscheckOptions, request)},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(CrosscheckOptions, output)},
    {"Parts", SHARD_OPTIONS, offsetof(CrosscheckOptions, shard)},
    {0},
};

const Command COMMAND_CROSSCHECK = {
    .name = "crosscheck",
    .group = "check",
    .summary = "the model beside a GPU's counters, recorded or yours",
    .usage = "[--recorded | --cpu | --live | --ncu FILE] [OPTION...]",
    .description =
        "Compares the model with real kernels. Bytes across the SRAM boundary, tensor instructions and some "
        "sectors must be equal (exit status 1 when they are not); other counters have a range. For described "
        "kernels (--kernel) the L2 model predicts HBM, fabric, sectors, hit rate and least time, each with its "
        "error; a prediction outside its band is no failure. With --ncu the file chooses kernel, grid and GPU, "
        "and likely causes of a difference are computed. ncu --import FILE.ncu-rep --csv --page raw exports a "
        "report.",
    .examples = "  # counters recorded on an H200: a sample, then all\n"
                "  tilewalk crosscheck\n"
                "  tilewalk crosscheck --all\n\n"
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
                "  tilewalk crosscheck --kernel-name fa2_async --details\n",
    .options_bytes = sizeof(CrosscheckOptions),
    .sets = SETS,
    .apart = "recorded ! cpu live ncu; cpu ! live ncu; live ! ncu; shard ! live; draws ! cpu live; "
             "markdown ! cpu live json csv details",
    .answer = answer,
};
