/* tilewalk kernel: any CUDA kernel, run on the CPU: its bytes by source line, before there is a GPU. */

#include "viz/cli/command.h"
#include "viz/compile/cuda_compile.h"
#include "viz/cli/kernel/kernel_print.h"
#include "viz/cli/shard.h"
#include "viz/kernel/kernel_film.h"
#include "viz/text/progress.h"
#include "viz/window/kernel_window.h"

typedef struct {
  KernelRequest launch;
  OutputRequest output;
  ChartRequest picture; /* --size, --theme */
  Shard shard;
} KernelCommand;

static Status set_file(void *target, const char *value, Error *error) {
  KernelRequest *r = &((KernelCommand *)target)->launch;
  if (r->file[0]) return error_refuse(error, "one file at a time: a .cu or a .ptx");
  if (!*value || strlen(value) >= sizeof r->file)
    return error_refuse(error, "the file's name is %s", *value ? "too long" : "empty");
  strcpy(r->file, value);
  return STATUS_OK;
}

static void print_text(void *context, const char *text, size_t n) { text_put_n(context, text, n); }

static void show_progress(void *progress, int64_t begun, int64_t blocks) {
  progress_update(progress, (uint64_t)begun, (uint64_t)blocks, progress_clock_s());
}

static Status run_launch(KernelLaunch *launch, const KernelCommand *c, Document *d, Io *io, Error *error) {
  KernelReport report;
  launch->launch.print = print_text;
  launch->launch.print_context = c->output.json || c->output.csv ? io->err : io->out;
  launch->launch.part = c->shard.part, launch->launch.parts = c->shard.parts;
  Progress progress = progress_begin(io->err, "blocks begun", true);
  launch->launch.progress = show_progress, launch->launch.progress_context = &progress;
  Status status = kernel_report_make(&report, launch, error);
  launch->launch.progress = NULL;
  progress_end(&progress);
  io->differs = !status && kernel_report_is_bad(&report);
  if (!status)
    status = c->shard.parts     ? kernel_put_counts(d, &report, error)
             : c->launch.ncu[0] ? kernel_put_beside(d, &report, c->launch.ncu, &io->differs, error)
                                : kernel_put(d, &report, error);
  kernel_report_free(&report);
  return status;
}

/* -o FILE: the scene. */
static Status draw(KernelLaunch *launch, const KernelCommand *c, Io *io, Error *error) {
  const KernelRequest *r = &c->launch;
  KernelFilm film;
  char state[400];
  snprintf(state, sizeof state, "kernel %.200s --entry %.100s", r->file, launch->name);
  Status status = kernel_film_new(&film, launch, error);
  film.scene.swizzle_row_bytes = (uint64_t)r->swizzle;
  if (!status) status = kernel_film_show(&film, r->step - 1, (int32_t)r->line, error);
  if (!status) status = io->drawing->kernel(&film.scene, &c->picture, c->output.output, io->out, state, error);
  kernel_film_free(&film);
  return status;
}

static const KernelScene *show(void *film, int64_t step, int32_t line, int64_t swizzle, Error *error) {
  KernelFilm *f = film;
  f->scene.swizzle_row_bytes = (uint64_t)swizzle;
  return kernel_film_show(f, step, line, error) ? NULL : &f->scene;
}

static Status view(KernelLaunch *launch, const KernelCommand *c, Io *io, Error *error) {
  const KernelRequest *r = &c->launch;
  const int32_t *g = launch->launch.grid;
  KernelFilm film;
  if (!io->drawing->kernel_window)
    return error_refuse(
        error, "the window is left out of this build (libsdl2-dev was not there); -o FILE.png saves a picture");
  Status status = kernel_film_new(&film, launch, error);
  const KernelWindowOptions window = {.show = show,
                                      .context = &film,
                                      .width = c->picture.width,
                                      .height = c->picture.height,
                                      .dark = c->picture.dark,
                                      .step = r->step - 1,
                                      .line = (int32_t)r->line,
                                      .swizzle = r->swizzle,
                                      .n_blocks = (int64_t)g[0] * g[1] * g[2],
                                      .out = io->out};
  if (!status) status = io->drawing->kernel_window(&window, error);
  kernel_film_free(&film);
  return status;
}

/* All of them compute attention, whatever their order. */
static Status check_like(const KernelRequest *r, Error *error) {
  if (!r->like[0] || schedule_find(r->like)) return STATUS_OK;
  return error_refuse(error, "--like '%s': a kernel can be like an algorithm of attention, say --like fa2",
                      quote_text(r->like).text);
}

/* Counts of blocks alone are the same however the blocks are dealt out. */
static Status check_shard(KernelCommand *c, Error *error) {
  KernelRequest *r = &c->launch;
  if (!c->shard.parts) return STATUS_OK;
  r->no_caches = r->no_faults = true;
  return shard_check(&c->shard, &c->output, error);
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  KernelCommand *c = options;
  KernelRequest *r = &c->launch;
  Status status = r->view ? STATUS_OK : chart_request_check(&c->picture, &c->output, error);
  if (!status) status = check_like(r, error);
  if (!status) status = check_shard(c, error);
  if (!status && !r->file[0])
    status = error_refuse(error, "which kernel? give a .cu (clang compiles it) or a .ptx: tilewalk kernel FILE.cu");
  if (status) return status;
  KernelLaunch *launch = calloc(1, sizeof *launch);
  if (!launch) return error_no_memory(error, "for the launch");
  r->compile = cuda_compile;
  if (r->ncu[0]) r->no_faults = true; /* unless --faults asks */
  status = kernel_launch_prepare(launch, r, error);
  if (!status) status = check_like(r, error);
  const bool is_shown = r->ptx || r->view || c->output.output[0];
  if (is_shown) d->form = DOCUMENT_PICTURE; /* nothing else is printed */
  if (!status && r->ptx)
    text_put_n(io->out, launch->ptx, launch->ptx_length);
  else if (!status)
    status = r->view    ? view(launch, c, io, error)
             : is_shown ? draw(launch, c, io, error)
                        : run_launch(launch, c, d, io, error);
  kernel_launch_free(launch);
  free(launch);
  return status;
}

static const OptionSet SETS[] = {
    {"Launch", KERNEL_LAUNCH_OPTIONS, offsetof(KernelCommand, launch)},
    {"Attention", KERNEL_LIKE_OPTIONS, offsetof(KernelCommand, launch)},
    {"What to show", KERNEL_SHOW_OPTIONS, offsetof(KernelCommand, launch)},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(KernelCommand, output)},
    {"Parts", SHARD_SUM_OPTIONS, offsetof(KernelCommand, shard)},
    {"Picture", OUTPUT_FILE_OPTIONS, offsetof(KernelCommand, output)},
    {"Picture's look", SIZE_OPTIONS, offsetof(KernelCommand, picture)},
    {"Compiling a .cu", KERNEL_CLANG_OPTIONS, offsetof(KernelCommand, launch)},
    {0},
};

const Command COMMAND_KERNEL = {
    .name = "kernel",
    .group = "check",
    .summary = "runs your CUDA kernel on this CPU: bytes by source line",
    .usage = "FILE.cu|FILE.ptx --grid X,Y,Z --block X,Y,Z --arg SPEC... ...",
    .description =
        "Runs a kernel warp by warp and counts what an H100's counters count: requests and sectors of global memory, "
        "wavefronts and "
        "bank conflicts of shared memory, exactly as an H100's counters have them; L1 and what lies behind it as a "
        "model. A .cu "
        "is compiled by clang 14 or later, without the CUDA toolkit; PTX is that of nvcc, clang or Triton "
        "(compiled.asm[\"ptx\"]). "
        "Lines need -lineinfo there.\n\n"
        "A launch is given by options, or by comments of the file with the same words: // tilewalk: grid 2,4 block 64. "
        "What an argument holds: normal:SEED is 4 u - 2 and int:SEED is 1000 u rounded down, with u = "
        "(splitmix64(index + SEED x "
        "1000003) >> 40) / 2^24; zero, none (never written), iota, inf, -inf, nan, a number, or a file's bytes. A "
        "tensor "
        "map brings its tensor: map:f16[1024x64]:64x64:128:normal:1, sizes, box, swizzle in bytes, what fills it.\n\n"
        "The exit status is 1 when a fault is found, when --like finds O wrong, or when a count is not --ncu's.",
    .examples = "  # the bytes of each line, the worst first\n"
                "  tilewalk kernel transpose.cu --grid 32,32 --block 32,8 --arg i32:1024 \\\n"
                "      --arg f32[1M]:normal:1 --arg f32[1M]:zero\n\n"
                "  # the launch stands in comments of the file; what is wrong with the kernel?\n"
                "  tilewalk kernel mine.cu\n\n"
                "  # a picture: the source beside what its lines move, and the lanes of one\n"
                "  tilewalk kernel mine.cu -o mine.png --line 12 --step 40\n\n"
                "  # an attention kernel against fp64\n"
                "  tilewalk kernel flash.cu --like fa2 -N 256 -d 64 --heads 8 \\\n"
                "      --grid 1,8 --block 32 --shared 28K\n\n"
                "  # a template, one of its instances\n"
                "  tilewalk kernel sgemm.cu --entry 'sgemm<64, 64, 8, 8>' --grid 8,8 --block 64 ...\n",
    .options_bytes = sizeof(KernelCommand),
    .sets = SETS,
    .apart = "shard ! faults like ncu view ptx output",
    .set_positional = set_file,
    .answer = answer,
};
