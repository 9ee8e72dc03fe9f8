/* Fuzz target for PTX: any text is refused with its line, or each of its entries is refused with a line or runs, within
 * a small budget, on buffers of which no byte outside is touched. */
#include "tests/fuzz/fuzz.h"
#include "kernels/ptx/ptx.h"

enum { MAX_ARGUMENTS = 16, BUFFER_BYTES = 4096, MAX_ENTRIES = 4 };

static void require_sentence(const Error *error) {
  require(error->message[0] != 0);
  for (const char *c = error->message; *c; c++) require((unsigned char)*c >= 32);
}

static void require_line(const Error *error) { /* "f:12: ..." */
  require_sentence(error);
  require(strncmp(error->message, "f:", 2) == 0 && error->message[2] >= '0' && error->message[2] <= '9');
}

static void print(void *context, const char *text, size_t n_bytes) {
  *(size_t *)context += n_bytes;
  require(n_bytes < 4096 && (n_bytes == 0 || text != NULL));
}

/* Pointers where a parameter has 8 bytes, small numbers elsewhere. */
static void run(const PtxModule *m, int entry, const PtxKernel *kernel, size_t seed) {
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
  size_t printed = 0;
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
                            .print = print,
                            .print_context = &printed};
  PtxResult result;
  Error error = {0};
  const Status status = ptx_run(kernel, &launch, &result, &error);
  if (status) require_sentence(&error);
  PtxLine lines[4];
  require(ptx_lines(kernel, &result, 1, lines, 4) >= 0);
  require(result.totals.memory_bytes <= (16 << 20) + (int64_t)ptx_n_instructions(kernel) * 4096);
  ptx_result_free(&result);
  for (int i = 0; i < n; i++)
    if (arguments[i].kind == PTX_BUFFER) free(arguments[i].bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  PtxModule *m;
  Error error = {0};
  if (ptx_module_load((const char *)data, size, "f", &m, &error)) {
    require_line(&error);
    return 0;
  }
  for (int e = 0; e < ptx_n_entries(m) && e < MAX_ENTRIES; e++) {
    PtxKernel *kernel;
    error = (Error){0};
    if (ptx_kernel_new(m, e, &kernel, &error)) {
      require_line(&error);
      continue;
    }
    for (int pc = 0; pc < ptx_n_instructions(kernel); pc++) require(ptx_instruction(kernel, pc).text != NULL);
    run(m, e, kernel, size);
    ptx_kernel_free(kernel);
  }
  ptx_module_free(m);
  return 0;
}
