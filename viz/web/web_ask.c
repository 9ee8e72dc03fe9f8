/* Questions in a page: libtilewalk over what the page was given instead of files.
 *
 *     web_file("mine.csv", text); web_ask("crosscheck --ncu mine.csv --text")  ->  {"status", "text", "remark"}
 *
 * The commands are those that start no other program and wait for no GPU. What is computed takes as long as it takes:
 * a page asks in a worker, which it can end. */

#include "kernels/lib/cpu_check.h"
#include "viz/cli/commands_print.h"
#include "viz/cli/counter_file.h"
#include "viz/cli/crosscheck/crosscheck_live.h"
#include "viz/compile/cuda_compile.h"
#include "viz/export/surface.h"
#include "viz/lesson/kernel_judge.h"
#include "viz/library/tilewalk.h"
#include "viz/request/assets.h"
#include "viz/web/drawing.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

extern const Command COMMAND_ADVISE, COMMAND_ALGORITHMS, COMMAND_CHECK, COMMAND_CROSSCHECK, COMMAND_ELIGIBLE,
    COMMAND_GPUS, COMMAND_KERNEL, COMMAND_KERNELS, COMMAND_KVCACHE, COMMAND_ROOFLINE, COMMAND_SERVE, COMMAND_SIM,
    COMMAND_SOFTMAX, COMMAND_SWEEP, COMMAND_WARP;

const Command *const COMMANDS_PRINT[] = {
    &COMMAND_SIM,        &COMMAND_SWEEP,   &COMMAND_ADVISE, &COMMAND_ROOFLINE,
    &COMMAND_SOFTMAX,    &COMMAND_KVCACHE, &COMMAND_WARP,   &COMMAND_GPUS,
    &COMMAND_ALGORITHMS, &COMMAND_KERNELS, &COMMAND_CHECK,  &COMMAND_CROSSCHECK,
    &COMMAND_ELIGIBLE,   &COMMAND_SERVE,   &COMMAND_KERNEL, NULL,
};
const Command COMMAND_RENDER = {0}; /* scenes have rooms of their own */

enum { COUNTERS_MAX_BYTES = 64 << 20 };

/* ---- What a page has not, or has otherwise ----------------------------------------------------------------- */

Status counter_file_read(const char *path, CounterTable *table, Error *error) {
  char *text;
  size_t length;
  Error why = {0};
  *table = (CounterTable){0};
  Status status = file_read(path, COUNTERS_MAX_BYTES, &text, &length, error);
  if (status) return status;
  status = counter_table_from_buffer(table, text, length, &why);
  if (status) error_set(error, status, "%.80s: %s", path, why.message);
  free(text);
  return status;
}

Status crosscheck_live(Crosscheck *crosscheck, Judge *judge, const Request *request, const char *kernels,
                       const char *program, bool *with_ncu, Error *error) {
  (void)crosscheck, (void)judge, (void)request, (void)kernels, (void)program;
  *with_ncu = false;
  return error_refuse(error, "--live runs kernels on this computer's GPU, and a page cannot");
}

Status cpu_check_run(const char *rung, const Shape *shape, const Tiling *tiling, uint64_t seed, const char *folder,
                     CpuCheck *check, Error *error) {
  (void)rung, (void)shape, (void)tiling, (void)seed, (void)folder, (void)check;
  return error_refuse(error, "--cpu runs the recorded kernels, and they do not come with a page");
}

Status cuda_compile(const CudaSource *source, CudaResult *result, Error *error) {
  *result = (CudaResult){0};
  return error_refuse(error, "%.200s: nothing in a page compiles a .cu", source->path);
}
CudaCompile *const LESSON_COMPILER = NULL;

/* A picture is an answer: SVG, with text as the page's own. */
Status surface_put(const char *path, FILE *out, double width, double height, DrawFunction *draw, const void *data,
                   const SurfaceMetadata *metadata, Error *error) {
  if (strcmp(path, "-.svg")) return error_refuse(error, "a page draws SVG alone: -o -.svg");
  cairo_surface_t *surface = drawing_new((int)width, (int)height);
  cairo_t *cr = cairo_create(surface);
  draw(cr, width, height, data);
  cairo_destroy(cr);
  char *svg = drawing_svg(surface, metadata->title, metadata->state);
  cairo_surface_destroy(surface);
  if (!svg) return error_no_memory(error, "for the picture");
  fputs(svg, out);
  free(svg);
  return STATUS_OK;
}

/* ---- Asking ------------------------------------------------------------------------------------------------ */

/* {"status": as tilewalk_status, "text", "remark"} */
EXPORT const char *web_ask(const char *line) {
  TilewalkAnswer *answer = tilewalk_ask_line(line);
  put_values(web_begin(), "status:n text:s remark:s", tilewalk_status(answer), tilewalk_text(answer),
             tilewalk_error(answer));
  tilewalk_free(answer);
  return web_end();
}
