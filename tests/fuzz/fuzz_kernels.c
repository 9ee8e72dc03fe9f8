/* Fuzz targets of kernels: PTX, the arguments of a launch and what the page of kernels hands over. */
#include "tests/fuzz/fuzz.h"
#include "kernels/ptx/ptx_argument.h"
#include "viz/kernel/kernel_request.h"
#include "viz/web/web_answer.c"
#include "viz/web/web_kernel.c"

enum { MAX_ARGUMENTS = 16, BUFFER_BYTES = 4096, MAX_ENTRIES = 4 };

static void count_printed(void *context, const char *text, size_t n_bytes) {
  *(size_t *)context += n_bytes;
  require(n_bytes < 4096 && (n_bytes == 0 || text));
}

/* Pointers where a parameter has 8 bytes, small numbers elsewhere. */
static void run_entry(const PtxModule *m, int entry, const PtxKernel *kernel, size_t seed) {
  static unsigned char scalars[MAX_ARGUMENTS][4096];
  PtxArgument arguments[MAX_ARGUMENTS] = {0};
  const int n = ptx_entry(m, entry).n_parameters;
  if (n > MAX_ARGUMENTS) return;
  for (int i = 0; i < n; i++) {
    const PtxParameter p = ptx_parameter(m, entry, i);
    const bool is_buffer = p.size_bytes == 8;
    arguments[i] = (PtxArgument){.kind = is_buffer ? PTX_BUFFER : PTX_SCALAR, .name = ptx_parameter_name(m, entry, i)};
    arguments[i].n_bytes = is_buffer ? BUFFER_BYTES : p.size_bytes;
    scalars[i][0] = (unsigned char)(seed % 64);
    arguments[i].bytes = is_buffer ? calloc(1, BUFFER_BYTES) : scalars[i];
    require(arguments[i].bytes != NULL);
  }
  size_t n_printed = 0;
  const PtxLaunch launch = {.grid = {2, 2},
                            .block = {seed % 2 ? 40 : 128},
                            .cluster = {seed % 5 == 0 ? 2 : 0},
                            .dynamic_shared_bytes = 1024,
                            .arguments = arguments,
                            .n_arguments = n,
                            .max_lanes = 1 << 19,
                            .max_memory_bytes = 16 << 20,
                            .l1 = seed % 3 == 0,
                            .faults = seed % 3 == 1,
                            .print = count_printed,
                            .print_context = &n_printed};
  PtxResult result;
  Error error = {0};
  if (ptx_run(kernel, &launch, &result, &error)) require_line(&error, "");
  require(result.totals.memory_bytes <= (16 << 20) + (int64_t)ptx_n_instructions(kernel) * 4096);
  ptx_result_free(&result);
  for (int i = 0; i < n; i++)
    if (arguments[i].kind == PTX_BUFFER) free(arguments[i].bytes);
}

/* "f:12: ..." */
static void require_place(const Error *error) {
  require_line(error, "f:");
  require(error->message[2] >= '0' && error->message[2] <= '9');
}

/* PTX: each entry runs, within a small budget, on buffers of which no byte outside is touched. */
FUZZ(ptx, BYTES, "kernels/ptx/ptx") {
  PtxModule *m;
  Error error = {0};
  if (ptx_module_load(text, size, "f", &m, &error)) return require_place(&error);
  for (int e = 0; e < ptx_n_entries(m) && e < MAX_ENTRIES; e++) {
    PtxKernel *kernel;
    if (ptx_kernel_new(m, e, &kernel, &error)) {
      require_place(&error);
      continue;
    }
    for (int pc = 0; pc < ptx_n_instructions(kernel); pc++) require(ptx_instruction(kernel, pc).text != NULL);
    run_entry(m, e, kernel, size);
    ptx_kernel_free(kernel);
  }
  ptx_module_free(m);
}

/* Arguments of a launch: elements can be filled and read. */
FUZZ(ptx_argument, TEXT, "kernels/ptx/ptx_argument") {
  Spec spec = {0};
  Error error = {0};
  if (spec_parse(text, &spec, &error)) {
    require(error.status == STATUS_BAD_REQUEST);
    return require_text(&error, "");
  }
  require(spec.type >= 0 && spec.type < SPEC_N_TYPES && spec.n >= 0);
  require(spec.n <= SPEC_MAX_BYTES / spec_type_bytes(spec.type) && (spec.n > 0 || spec.fill == SPEC_FILE));
  require((spec.fill == SPEC_FILE) == (*spec.file != 0));
  if (spec.n > 64) spec.n = 64;
  char *room = calloc(1, (size_t)(spec.n * spec_type_bytes(spec.type)) + 1);
  require(room != NULL);
  spec_fill(&spec, room);
  for (int64_t i = 0; i < spec.n; i++) (void)spec_element(spec.type, room, i);
  free(room);
}

static void require_json(const char *text) {
  json_t *answer = json_loads(text, 0, NULL);
  require(json_is_object(answer));
  json_decref(answer);
}

/* The page of kernels: whatever PTX it hands over, what comes back is JSON. A launch is what lies before the first zero
 * byte. */
FUZZ(web_kernel, TEXT, "") {
  const size_t n = strlen(text);
  KernelRequest request = {.file = "launch"};
  Error error = {0};
  if (kernel_request_from_file(&request, text, n, &error))
    require_line(&error, "");
  else
    require(!*error.message);
  require_json(kernel_entries("k.ptx", n < size ? text + n + 1 : text));
}
