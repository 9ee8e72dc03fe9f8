/* Kernels in a page: PTX and a launch in, the answer of `tilewalk kernel --json` out. It draws nothing.
 *
 *     kernel_entries(name, ptx)              ->  {"entries": [{"name": "saxpy", "parameters": [...], ...}]}
 *     kernel_run(name, ptx, ..., launch, flags)  ->  {"kernel": "saxpy", ...}; else {"error": ...}
 *
 * The launch is lines of words as comments of a file have them: "// tilewalk: grid 4". What is computed takes as long
 * as it takes: a page asks in a worker, which it can end. */
#include <stdlib.h>
#include <string.h>

#include "viz/document/document.h"
#include "viz/kernel/kernel_banks.h"
#include "viz/web/web_assets.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

const char *web_json(json_t *value) {
  static char *text;
  free(text);
  text = value ? json_dumps(value, JSON_COMPACT) : NULL;
  json_decref(value);
  return text;
}

enum { FAULTS = 1, NO_CACHES = 2, PRINTED_MAX = 1 << 16 };

static Document answered, *const d = &answered; /* what was asked last */

static void begin_answer(void) {
  document_free(d);
  answered = document_new(DOCUMENT_JSON);
  json_object_clear(d->open[0]); /* a page is of the version that its program is */
}

static const char *answer(const Error *error) {
  if (error->status) {
    begin_answer();
    put_values(d, "error:s", error->message);
  }
  const char *text = d->status ? NULL : web_json(json_incref(d->open[0]));
  return text ? text : "{\"error\":\"no memory for the answer\"}";
}

/* ---- entries ---- */

static void put_entry(const PtxModule *module, int e, Error *error) {
  char plain[256];
  const PtxEntry entry = ptx_entry(module, e);
  PtxKernel *kernel = NULL;
  signature_plain_name(ptx_entry_name(module, e), plain, sizeof plain);
  put_values(d, "{entry:s name:s line:w parameters[", ptx_entry_name(module, e), plain, (Wide)entry.line);
  for (int p = 0; p < entry.n_parameters; p++) {
    const PtxParameter parameter = ptx_parameter(module, e, p);
    put_values(d, "{name:s bytes:i pointer:b float:b}", ptx_parameter_name(module, e, p), (int64_t)parameter.size_bytes,
               parameter.is_pointer, parameter.numbers == PTX_FLOAT);
  }
  const int *block = entry.required_block;
  put_values(d, "] block[:n :n :n]", block[0], block[1], block[2]);
  if (ptx_kernel_new(module, e, &kernel, error) == STATUS_OK)
    put_values(d, "shared:b", ptx_kernel_dynamic_shared(kernel));
  else
    put_values(d, "refused:s", error->message);
  *error = (Error){0};
  ptx_kernel_free(kernel);
  put_end(d);
}

/* What a module holds, and what is refused of it. */
EXPORT const char *kernel_entries(const char *name, const char *ptx) {
  Error error = {0};
  PtxModule *module = NULL;
  begin_answer();
  put_values(d, "entries[");
  if (ptx_module_load(ptx, strlen(ptx), name, &module, &error) == STATUS_OK)
    for (int e = 0; e < ptx_n_entries(module); e++) put_entry(module, e, &error);
  ptx_module_free(module);
  return answer(&error);
}

/* ---- a run ---- */

static struct {
  char text[PRINTED_MAX];
  size_t n;
} printed;

static void keep_printed(void *context, const char *text, size_t n) {
  (void)context;
  const size_t room = sizeof printed.text - 1 - printed.n;
  memcpy(printed.text + printed.n, text, n < room ? n : room);
  printed.n += n < room ? n : room;
  printed.text[printed.n] = '\0';
}

static Status run(KernelLaunch *l, KernelRequest *request, const char *launch, Error *error) {
  KernelReport report;
  KernelBanks banks = {0};
  char name[sizeof request->file];
  memcpy(name, request->file, sizeof name);
  strcpy(request->file, "launch");
  Status status = kernel_request_from_file(request, launch, strlen(launch), error);
  memcpy(request->file, name, sizeof name);
  if (status == STATUS_OK) status = kernel_launch_prepare(l, request, error);
  if (status) return status;
  l->launch.print = keep_printed;
  status = kernel_banks_watch(&banks, l, error);
  if (status) return status;
  status = kernel_report_make(&report, l, error);
  begin_answer();
  const ReportSink k = document_sink(d);
  if (status == STATUS_OK) status = kernel_report_put(&report, &k, error);
  put_values(d, "lane_instructions:w printed:s", (Wide)report.result.totals.lanes, printed.text);
  if (status == STATUS_OK) kernel_banks_put(&banks, &k);
  kernel_banks_free(&banks);
  kernel_report_free(&report);
  return status;
}

/* name: of the PTX; source: the .cu of it, under its name, "": none; launch: lines of "// tilewalk: ...". */
EXPORT const char *kernel_run(const char *name, const char *ptx, const char *source_name, const char *source,
                              const char *launch, int flags) {
  Error error = {0};
  KernelRequest *request = calloc(1, sizeof *request);
  KernelLaunch *l = calloc(1, sizeof *l);
  printed.n = 0, printed.text[0] = '\0';
  if (!request || !l || strlen(name) >= sizeof request->file || !web_assets_write(0, name, ptx) ||
      !web_assets_write(1, source_name, source))
    error_set(&error, STATUS_NO_MEMORY, "no memory for the launch");
  else {
    strcpy(request->file, name);
    request->no_faults = !(flags & FAULTS), request->no_caches = flags & NO_CACHES;
    run(l, request, launch, &error);
    kernel_launch_free(l);
  }
  free(request);
  free(l);
  return answer(&error);
}
