/* tilewalk kernel: any CUDA kernel, run on the CPU: its bytes by source line, before there is a GPU. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "viz/cli/command.h"
#include "viz/cli/kernel_beside.h"
#include "viz/cli/kernel_film.h"
#include "viz/cli/kernel_print.h"
#include "viz/export/output.h"
#include "viz/window/kernel_window.h"

static Status set_file(void *target, const char *value, Error *error) {
  KernelRequest *r = target;
  if (r->file[0]) return error_set(error, STATUS_BAD_REQUEST, "one file at a time: a .cu or a .ptx");
  if (!*value || strlen(value) >= sizeof r->file)
    return error_set(error, STATUS_BAD_REQUEST, "the file's name is %s", *value ? "too long" : "empty");
  strcpy(r->file, value);
  return STATUS_OK;
}

static void print_text(void *context, const char *text, size_t n) { fwrite(text, 1, n, context); }

/* Who wrote the first wrong element last: the launch once more, with an eye on its address. */
static Status find_writer(KernelLaunch *l, KernelReport *r, Error *error) {
  PtxResult result = {0};
  PtxLaunch launch = l->launch;
  launch.watch =
      ptx_buffer_address(&launch, l->out) + (uint64_t)(r->verdict->wrong * spec_type_bytes(l->specs[l->out].type));
  launch.faults = launch.l1 = false;
  launch.print = NULL;
  Status status = kernel_launch_refill(l, error);
  if (status == STATUS_OK) status = ptx_run(l->kernel, &launch, &result, error);
  if (status == STATUS_OK && result.watch_pc < 0)
    snprintf(r->wrong_by, sizeof r->wrong_by, "nobody");
  else if (status == STATUS_OK) {
    const PtxInstruction at = ptx_instruction(l->kernel, result.watch_pc);
    snprintf(r->wrong_by, sizeof r->wrong_by, "line %d, thread %d of block %lld", at.line ? at.line : at.ptx_line,
             result.watch_thread, (long long)result.watch_block);
  }
  ptx_result_free(&result);
  return status;
}

static Status report(KernelLaunch *launch, const PtxResult *result, const KernelTraffic *traffic, bool *wrong, Io *io,
                     Error *error) {
  OutputVerdict verdict;
  KernelReport r = {.launch = launch, .result = result, .traffic = launch->launch.l1 ? traffic : NULL};
  kernel_output_find(launch);
  if (launch->request->like[0]) {
    if (kernel_output_judge(launch, &verdict, error)) return error->status;
    r.verdict = &verdict;
    *wrong = verdict.wrong >= 0;
    if (*wrong && find_writer(launch, &r, error)) return error->status;
  }
  if (launch->request->ncu[0]) return kernel_print_beside(&r, launch->request->ncu, wrong, io, error);
  return launch->request->output.json ? kernel_print_json(&r, io->out, error) : kernel_print(&r, io, error);
}

/* 1: O is not attention, or a fault was found. */
static int run_launch(KernelLaunch *launch, Io *io, Error *error) {
  PtxResult result = {0};
  KernelTraffic traffic = {0};
  const int32_t *g = launch->launch.grid;
  if (launch->launch.l1 &&
      kernel_traffic_new(&traffic, &launch->gpu, (uint64_t)g[0] * (uint64_t)g[1] * (uint64_t)g[2], error)) {
    kernel_traffic_free(&traffic);
    return EXIT_BAD_REQUEST;
  }
  launch->launch.sink = kernel_traffic_take, launch->launch.sink_context = &traffic;
  launch->launch.print = print_text,
  launch->launch.print_context = launch->request->output.json || launch->request->output.csv ? io->err : io->out;
  Status status = ptx_run(launch->kernel, &launch->launch, &result, error);
  bool wrong = false;
  if (launch->launch.l1) kernel_traffic_finish(&traffic);
  if (status == STATUS_OK) status = report(launch, &result, &traffic, &wrong, io, error);
  const bool faulty = result.n_faults > 0 || wrong;
  ptx_result_free(&result);
  kernel_traffic_free(&traffic);
  return status ? EXIT_BAD_REQUEST : faulty ? EXIT_DIFFERS : EXIT_DONE;
}

/* -o FILE: the scene, or of a .json the steps for Perfetto. */
static Status draw(KernelLaunch *launch, Io *io, Error *error) {
  const KernelRequest *r = launch->request;
  const char *path = r->output.output;
  const size_t n = strlen(path);
  KernelFilm film;
  char state[400];
  snprintf(state, sizeof state, "kernel %.200s --entry %.100s", r->file, launch->name);
  Status status = kernel_film_new(&film, launch, error);
  if (status == STATUS_OK && n > 5 && strcmp(path + n - 5, ".json") == 0) {
    FileWrite out;
    status = file_write_begin(&out, path, error);
    if (status == STATUS_OK) {
      status = kernel_film_trace(&film, out.stream, error);
      if (status)
        file_write_abort(&out);
      else
        status = file_write_commit(&out, error);
    }
  } else if (status == STATUS_OK) {
    status = kernel_film_show(&film, r->step - 1, (int32_t)r->line, error);
    if (status == STATUS_OK) status = io->drawing->kernel(&film.scene, &r->picture, path, state, error);
  }
  kernel_film_free(&film);
  return status;
}

static const KernelScene *show(void *film, int64_t step, int32_t line, Error *error) {
  KernelFilm *f = film;
  return kernel_film_show(f, step, line, error) ? NULL : &f->scene;
}

static Status view(KernelLaunch *launch, Io *io, Error *error) {
  const KernelRequest *r = launch->request;
  const int32_t *g = launch->launch.grid;
  KernelFilm film;
  if (!io->drawing->kernel_window)
    return error_set(error, STATUS_BAD_REQUEST,
                     "the window is left out of this build (libsdl2-dev was not there); -o FILE.png saves a picture");
  Status status = kernel_film_new(&film, launch, error);
  const KernelWindowOptions window = {.show = show,
                                      .context = &film,
                                      .width = r->picture.width,
                                      .height = r->picture.height,
                                      .dark = strcmp(r->picture.theme, "dark") == 0,
                                      .step = r->step - 1,
                                      .line = (int32_t)r->line,
                                      .n_blocks = (int64_t)g[0] * g[1] * g[2],
                                      .out = io->out};
  if (status == STATUS_OK) status = io->drawing->kernel_window(&window, error);
  kernel_film_free(&film);
  return status;
}

static int run_kernel(void *options, Io *io, Error *error) {
  KernelRequest *request = options;
  if (output_request_check(&request->output, error) ||
      (!request->view && chart_request_check(&request->picture, &request->output, error)))
    return EXIT_BAD_REQUEST;
  if (!request->file[0]) {
    error_set(error, STATUS_BAD_REQUEST,
              "which kernel? give a .cu (clang compiles it) or a .ptx: tilewalk kernel FILE.cu");
    return EXIT_BAD_REQUEST;
  }
  KernelLaunch *launch = calloc(1, sizeof *launch);
  if (!launch) {
    error_set(error, STATUS_NO_MEMORY, "no memory for the launch");
    return EXIT_BAD_REQUEST;
  }
  int exit_status = EXIT_BAD_REQUEST;
  if (kernel_launch_prepare(launch, request, error) == STATUS_OK) {
    if (request->ptx)
      exit_status =
          fwrite(launch->ptx, 1, launch->ptx_length, io->out) == launch->ptx_length ? EXIT_DONE : EXIT_BAD_REQUEST;
    else if (request->view)
      exit_status = view(launch, io, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
    else if (request->output.output[0])
      exit_status = draw(launch, io, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
    else
      exit_status = run_launch(launch, io, error);
  }
  kernel_launch_free(launch);
  free(launch);
  return exit_status;
}

static const OptionSet SETS[] = {
    {"Launch", KERNEL_LAUNCH_OPTIONS, 0},
    {"Attention", KERNEL_LIKE_OPTIONS, 0},
    {"What to show", KERNEL_SHOW_OPTIONS, 0},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(KernelRequest, output)},
    {"Picture", OUTPUT_FILE_OPTIONS, offsetof(KernelRequest, output)},
    {"Picture's look", SIZE_OPTIONS, offsetof(KernelRequest, picture)},
    {"Compiling a .cu", KERNEL_CLANG_OPTIONS, 0},
    {0},
};

const Command COMMAND_KERNEL = {
    .name = "kernel",
    .summary = "any CUDA kernel, run on the CPU: its bytes by source line",
    .usage = "FILE.cu|FILE.ptx [--entry NAME] --grid X,Y,Z --block X,Y,Z --arg SPEC... [OPTION...]",
    .description =
        "Runs a kernel warp by warp and counts what the hardware counts: requests and sectors of global memory, "
        "wavefronts and "
        "bank conflicts of shared memory, exactly as an H100's counters have them; L1 and what lies behind it as a "
        "model. A .cu "
        "is compiled by clang 14 or later, without the CUDA toolkit; PTX is that of nvcc, clang or Triton "
        "(compiled.asm[\"ptx\"]). "
        "Lines need -lineinfo there.\n\n"
        "A launch is given by options, or by comments of the file with the same words: // tilewalk: grid 2,4. "
        "What an argument holds: normal:SEED is 4 u - 2 and int:SEED is 1000 u rounded down, with u = "
        "(splitmix64(index + SEED x "
        "1000003) >> 40) / 2^24; zero, none (never written), iota, inf, -inf, nan, a number, or a file's bytes. A "
        "tensor "
        "map brings its tensor: map:f16[1024x64]:64x64:128:normal:1, sizes, box, swizzle in bytes, what fills it.\n\n"
        "The exit status is 1 when --faults finds any, when --like finds O wrong, or when a count is not --ncu's.",
    .examples = "  # the bytes of each line, the worst first\n"
                "  tilewalk kernel transpose.cu --grid 32,32 --block 32,8 --arg i32:1024 \\\n"
                "      --arg f32[1M]:normal:1 --arg f32[1M]:zero\n\n"
                "  # the launch stands in comments of the file; what is wrong with the kernel?\n"
                "  tilewalk kernel mine.cu --faults\n\n"
                "  # a picture: lines, lanes, how often each part of a tensor is read; the steps for ui.perfetto.dev\n"
                "  tilewalk kernel mine.cu -o mine.png --line 12 --step 40\n"
                "  tilewalk kernel mine.cu -o mine.json\n\n"
                "  # an attention kernel against fp64\n"
                "  tilewalk kernel flash.cu --like fa2 -N 256 -d 64 --heads 8 \\\n"
                "      --grid 1,8 --block 32 --shared 28K\n\n"
                "  # a template, one of its instances\n"
                "  tilewalk kernel sgemm.cu --entry 'sgemm<64, 64, 8, 8>' --grid 8,8 --block 64 ...\n",
    .options_bytes = sizeof(KernelRequest),
    .sets = SETS,
    .set_positional = set_file,
    .run = run_kernel,
};
