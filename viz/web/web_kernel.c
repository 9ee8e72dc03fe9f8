/* Kernels in a page: PTX and a launch in, the answer of `tilewalk kernel --json` out. It draws nothing.
 *
 *     kernel_entries(name, ptx)              ->  {"entries": [{"name": "saxpy", "parameters": [...], ...}]}
 *     kernel_run(name, ptx, ..., launch, flags)  ->  {"kernel": "saxpy", ...}; else {"error": ...}
 *
 * The launch is lines of words as comments of a file have them: "// tilewalk: grid 4". What is computed takes as long
 * as it takes: a page asks in a worker, which it can end. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/kernel/kernel_banks.h"
#include "viz/web/web_assets.h"
#include "viz/web/web_page.h"

enum { FAULTS = 1, NO_CACHES = 2, PRINTED_MAX = 1 << 16 };

/* ---- text that grows: JSON ---- */

typedef struct {
  char *text;
  size_t n, size;
  bool failed, begun; /* begun: the open container has a member */
  int depth;
  char closes[32];
} Json;

static void put(Json *j, const char *text, size_t n) {
  if (j->n + n + 1 > j->size && !j->failed) {
    const size_t size = 2 * (j->n + n + 512);
    char *larger = realloc(j->text, size);
    j->failed = larger == NULL;
    if (larger) j->text = larger, j->size = size;
  }
  if (j->failed) return;
  memcpy(j->text + j->n, text, n);
  j->text[j->n += n] = '\0';
}

static void putf(Json *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void putf(Json *j, const char *format, ...) {
  char text[64];
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  put(j, text, (size_t)n);
}

static void put_string(Json *j, const char *text) {
  put(j, "\"", 1);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c < 32 || *c == '"' || *c == '\\' || *c == 127)
      putf(j, "\\u%04x", *c);
    else
      put(j, (const char *)c, 1);
  put(j, "\"", 1);
}

static void begin_value(Json *j, const char *key) {
  if (j->begun) put(j, ",", 1);
  j->begun = true;
  if (!key) return;
  put_string(j, key);
  put(j, ":", 1);
}

static void open_container(Json *j, const char *key, const char *opens, char closes) {
  begin_value(j, key);
  put(j, opens, 1);
  j->begun = false;
  if (j->depth < (int)sizeof j->closes) j->closes[j->depth++] = closes;
}

static void open_object(void *j, const char *key) { open_container(j, key, "{", '}'); }
static void open_array(void *j, const char *key) { open_container(j, key, "[", ']'); }
static void close_container(void *context) {
  Json *j = context;
  if (j->depth) put(j, &j->closes[--j->depth], 1);
  j->begun = true;
}
static void put_whole(void *j, const char *key, Wide value) {
  begin_value(j, key);
  putf(j, "%llu", (unsigned long long)value);
}
static void put_real(void *j, const char *key, double value) {
  begin_value(j, key);
  putf(j, "%.17g", value);
}
static void put_text(void *j, const char *key, const char *value) {
  begin_value(j, key);
  put_string(j, value);
}
static void put_flag(void *j, const char *key, bool value) {
  begin_value(j, key);
  putf(j, value ? "true" : "false");
}
static void put_null(void *j, const char *key) {
  begin_value(j, key);
  put(j, "null", 4);
}

static Json json; /* the answer that was given last */

static ReportSink fresh_json(void) {
  json.n = 0, json.failed = json.begun = false, json.depth = 0;
  return (ReportSink){&json,    open_object, open_array, close_container, put_whole,
                      put_real, put_text,    put_flag,   put_null};
}

static const char *answer(const Error *error) {
  while (json.depth) close_container(&json);
  if (error->status || json.failed) {
    fresh_json();
    open_object(&json, NULL);
    put_text(&json, "error", error->status ? error->message : "no memory for the answer");
    close_container(&json);
  }
  return json.failed ? "{\"error\":\"no memory for the answer\"}" : json.text;
}

/* ---- entries ---- */

static void put_entry(const PtxModule *module, int e, Error *error) {
  char plain[256];
  const PtxEntry entry = ptx_entry(module, e);
  PtxKernel *kernel = NULL;
  signature_plain_name(ptx_entry_name(module, e), plain, sizeof plain);
  open_object(&json, NULL);
  put_text(&json, "entry", ptx_entry_name(module, e));
  put_text(&json, "name", plain);
  put_whole(&json, "line", (Wide)entry.line);
  open_array(&json, "parameters");
  for (int p = 0; p < entry.n_parameters; p++) {
    const PtxParameter parameter = ptx_parameter(module, e, p);
    open_object(&json, NULL);
    put_text(&json, "name", ptx_parameter_name(module, e, p));
    put_whole(&json, "bytes", (Wide)parameter.size_bytes);
    put_flag(&json, "pointer", parameter.is_pointer);
    put_flag(&json, "float", parameter.numbers == PTX_FLOAT);
    close_container(&json);
  }
  close_container(&json);
  open_array(&json, "block");
  for (int d = 0; d < 3; d++) put_whole(&json, NULL, (Wide)entry.required_block[d]);
  close_container(&json);
  if (ptx_kernel_new(module, e, &kernel, error) == STATUS_OK)
    put_flag(&json, "shared", ptx_kernel_dynamic_shared(kernel));
  else
    put_text(&json, "refused", error->message);
  *error = (Error){0};
  ptx_kernel_free(kernel);
  close_container(&json);
}

/* What a module holds, and what is refused of it. */
EXPORT const char *kernel_entries(const char *name, const char *ptx) {
  Error error = {0};
  PtxModule *module = NULL;
  fresh_json();
  open_object(&json, NULL);
  open_array(&json, "entries");
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
  const ReportSink k = fresh_json();
  open_object(&json, NULL);
  if (status == STATUS_OK) status = kernel_report_put(&report, &k, error);
  put_whole(&json, "lane_instructions", report.result.totals.lanes);
  put_text(&json, "printed", printed.text);
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
