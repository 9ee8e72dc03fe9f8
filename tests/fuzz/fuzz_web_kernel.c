/* Fuzz target for the page of kernels: whatever PTX and launch a page hands over, what comes back is JSON.
 * The launch is what lies before the first zero byte; where nothing lies behind it, it is one of a small kernel. */
#include <jansson.h>
#include "tests/fuzz/fuzz.h"
#include "viz/web/web_kernel.c"
#include "viz/web/web_assets.c"

static const char SMALL[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 "
    "n)\n{\n.reg .b64 %d<2>;\n.reg .b32 %r<2>;\nld.param.u64 %d0, [a];\nld.param.u32 %r0, "
    "[n];\nst.global.u32 [%d0], %r0;\nret;\n}\n";

static void require_json(const char *text) {
  json_t *answer = json_loads(text, 0, NULL);
  require(json_is_object(answer));
  json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  require(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';
  const size_t n = strlen(text);
  KernelRequest request = {.file = "launch"};
  Error error = {0};
  const Status status = kernel_request_from_file(&request, text, n, &error);
  require(!status == !*error.message && !strchr(error.message, '\n'));
  if (n < size)
    require_json(kernel_entries("k.ptx", text + n + 1));
  else if (!strstr(text, "grid")) /* of many blocks it takes long */
    require_json(kernel_run("k.ptx", SMALL, "", "", text, FAULTS | NO_CACHES));
  free(text);
  return 0;
}
