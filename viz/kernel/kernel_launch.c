#include "viz/kernel/kernel_launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/text_add.h"
#include "sim/base/path.h"
#include "sim/base/splitmix.h"
#include "viz/request/assets.h"
#include "viz/request/description.h"

static bool is_ptx(const char *file, const char *text) {
  if (path_ends(file, ".cu") || path_ends(file, ".cuh")) return false;
  return path_ends(file, ".ptx") || (strstr(text, ".version") && strstr(text, ".target"));
}

static Status compile(KernelLaunch *l, Error *error) {
  const KernelRequest *r = l->request;
  const char *words[KERNEL_WORDS_MAX];
  for (int w = 0; w < r->n_words; w++) words[w] = r->words[w];
  const CudaSource source = {.path = r->file,
                             .text = l->source,
                             .length = l->source_length,
                             .entry = *r->entry ? r->entry : NULL,
                             .template_name = strchr(r->entry, '<') ? r->entry : NULL,
                             .words = words,
                             .n_words = r->n_words};
  CudaResult result = {0};
  if (!r->compile) return error_refuse(error, "%.160s: nothing here compiles a .cu; give its PTX", r->file);
  const Status status = r->compile(&source, &result, error);
  if (!status) {
    l->ptx = result.ptx, l->ptx_length = result.length;
    result.ptx = NULL;
    l->by_clang = true;
    for (int k = 0; k < result.n_notes; k++) strcpy(l->notes[l->n_notes++], result.notes[k]);
    if (source.template_name) snprintf(l->name, sizeof l->name, "%s", result.entry);
  }
  free(result.ptx);
  return status;
}

/* Behind a template argument of a mangled name, "Li2E", "f" or "6__half", as it is written; NULL: another kind. */
static const char *take_argument(const char *at, char *to, size_t size) {
  static const char LETTERS[] = "bcahstijlmxyfd";
  static const char *const TYPES[] = {
      "bool", "char",          "signed char", "unsigned char",      "short", "unsigned short", "int", "unsigned",
      "long", "unsigned long", "long long",   "unsigned long long", "float", "double"};
  const char *letter = *at ? strchr(LETTERS, *at) : NULL;
  if (letter) {
    snprintf(to, size, "%s", TYPES[letter - LETTERS]);
    return at + 1;
  }
  if (*at != 'L') { /* the length of a type's name, and the name */
    char *name;
    const long n = strtol(at, &name, 10);
    if (name == at || n < 1 || (size_t)n > strlen(name)) return NULL;
    snprintf(to, size, "%.*s", (int)n, name);
    return name + n;
  }
  if (!at[1]) return NULL;
  const bool is_negative = at[2] == 'n'; /* L, a type, digits, E */
  const char *digits = at + 2 + is_negative;
  const size_t n = strspn(digits, "0123456789");
  if (!n || digits[n] != 'E') return NULL;
  snprintf(to, size, "%s%.*s", is_negative ? "-" : "", (int)n, digits);
  return digits + n + 1;
}

/* What --entry takes: of kernels of one plain name, "'scale<float, 128>'" (clang makes such an instance), else, with
 * arguments of other kinds, the mangled name. */
static void name_entry(const KernelLaunch *l, int e, char *to, size_t size) {
  const char *mangled = ptx_entry_name(l->module, e);
  char plain[128], other[128];
  int same = 0;
  signature_plain_name(mangled, plain, sizeof plain);
  for (int k = 0; k < ptx_n_entries(l->module); k++) {
    signature_plain_name(ptx_entry_name(l->module, k), other, sizeof other);
    same += strcmp(plain, other) == 0;
  }
  snprintf(to, size, "%s", same > 1 ? mangled : plain);
  const char *at = strstr(mangled, plain) + strlen(plain);
  if (same < 2 || !l->by_clang || *at != 'I') return;
  char arguments[100] = "", argument[40];
  for (at++; *at != 'E';) {
    at = take_argument(at, argument, sizeof argument);
    if (!at || strlen(arguments) + sizeof argument + 2 > sizeof arguments) return;
    text_add(arguments, sizeof arguments, "%s%s", *arguments ? ", " : "", argument);
  }
  if (snprintf(to, size, "'%s<%s>'", plain, arguments) >= (int)size) snprintf(to, size, "%s", mangled);
}

/* "saxpy, histogram, ..." */
static void list_entries(const KernelLaunch *l, char *to, size_t size) {
  to[0] = '\0';
  for (int e = 0; e < ptx_n_entries(l->module); e++) {
    char plain[160];
    name_entry(l, e, plain, sizeof plain);
    const bool fits = strlen(to) + strlen(plain) + 8 <= size;
    text_add(to, size, "%s%s", e ? ", " : "", fits ? plain : "...");
    if (!fits) return;
  }
}

/* "; twice takes float *x, int n", of each entry while there is room. */
static void list_needs(const KernelLaunch *l, char *to, size_t size) {
  Signature s;
  to[0] = '\0';
  for (int e = 0; l->source && e < ptx_n_entries(l->module); e++) {
    char plain[160], text[200];
    signature_plain_name(ptx_entry_name(l->module, e), plain, sizeof plain);
    if (!signature_find(l->source, l->source_length, plain, &s) || !s.n) continue;
    snprintf(text, sizeof text, "; %.60s takes ", plain);
    for (int k = 0; k < s.n; k++) {
      const SignatureParameter *p = &s.parameters[k];
      const char *blank = p->type[0] && p->type[strlen(p->type) - 1] == '*' ? "" : " ";
      text_add(text, sizeof text, "%s%s%s%s", k ? ", " : "", p->type, blank, p->name);
    }
    if (strlen(to) + strlen(text) >= size) return;
    text_add(to, size, "%s", text);
  }
}

/* A line of the source that launches the kernel, and so its template arguments: "sgemm<64, 8>". */
static bool find_launch(const KernelLaunch *l, const char *name, char *to, size_t size) {
  const char *at = l->source ? strstr(l->source, "<<<") : NULL;
  for (; at; at = strstr(at + 3, "<<<")) {
    const char *begin = at;
    while (begin > l->source && begin[-1] != '\n' && begin[-1] != ';' && begin[-1] != '{') begin--;
    const char *found = strstr(begin, name);
    if (found && found < at) {
      snprintf(to, size, "%.*s", (int)(at - found < 100 ? at - found : 100), found);
      return true;
    }
  }
  return false;
}

static Status refuse_template(const KernelLaunch *l, const char *name, Error *error) {
  char launched[128] = "", parameters[100] = "";
  const bool found = find_launch(l, name, launched, sizeof launched);
  signature_template(l->source, l->source_length, name, parameters, sizeof parameters);
  return error_refuse(error, "'%.60s' is a template; give its arguments %s: --entry '%.60s<...>'%s%.90s%s", name,
                      parameters, name, found ? " (the file launches " : "", launched, found ? ")" : "");
}

/* clang made no kernel: there is none, or what was asked for, or the first, is a template that nobody instantiates. */
static Status no_kernel(const KernelLaunch *l, Error *error) {
  char name[80];
  const char *entry = l->request->entry;
  Signature asked;
  if (*entry && signature_find(l->source, l->source_length, entry, &asked)) return refuse_template(l, entry, error);
  if (!signature_first(l->source, l->source_length, name, sizeof name))
    return error_refuse(error, "%.160s holds no kernel, a __global__ function", l->request->file);
  return refuse_template(l, name, error);
}

/* A template whose parameters all have defaults needs no arguments. */
static Status compile_defaults(KernelLaunch *l, KernelRequest *request, Error *error) {
  char name[80];
  Error own = {0};
  if (*request->entry || !signature_first(l->source, l->source_length, name, sizeof name)) return no_kernel(l, error);
  snprintf(request->entry, sizeof request->entry, "%s<>", name);
  free(l->ptx);
  l->ptx = NULL, l->n_notes = 0;
  return compile(l, &own) ? no_kernel(l, error) : STATUS_OK;
}

static Status find_entry(KernelLaunch *l, Error *error) {
  const KernelRequest *r = l->request;
  const int n = ptx_n_entries(l->module);
  char names[200], launched[128];
  list_entries(l, names, sizeof names);
  if (strchr(r->entry, '<') && l->by_clang) {
    l->entry = ptx_find_entry(l->module, l->name);
    if (l->entry >= 0) return STATUS_OK;
  }
  if (!*r->entry) {
    if (n == 1) return l->entry = 0, STATUS_OK;
    char needs[sizeof names + 1]; /* one line in all */
    list_needs(l, needs, sizeof needs - strlen(names));
    return error_refuse(error, "%.60s holds %d kernels; say which: --entry %s%s", r->file, n, names, needs);
  }
  l->entry = ptx_find_entry(l->module, r->entry);
  for (int e = 0; l->entry < 0 && e < n; e++) { /* by the plain name, when one has it */
    char plain[256];
    signature_plain_name(ptx_entry_name(l->module, e), plain, sizeof plain);
    if (strcmp(plain, r->entry) != 0) continue;
    l->entry = e;
    for (int later = e + 1; later < n; later++) {
      signature_plain_name(ptx_entry_name(l->module, later), plain, sizeof plain);
      if (strcmp(plain, r->entry) == 0)
        return error_refuse(error, "more than one kernel is called '%.60s'; say which: %s", r->entry, names);
    }
  }
  if (l->entry >= 0) return STATUS_OK;
  if (l->by_clang && !strchr(r->entry, '<') && find_launch(l, r->entry, launched, sizeof launched))
    return refuse_template(l, r->entry, error);
  return error_refuse(error, "%.100s has no kernel '%.60s'; it has %s", r->file, quote_text(r->entry).text, names);
}

static uint64_t hash(const void *bytes, int64_t n) {
  uint64_t h = 0;
  for (int64_t i = 0; i < n; i += 8) {
    uint64_t word = 0;
    memcpy(&word, (const char *)bytes + i, (size_t)(n - i < 8 ? n - i : 8));
    h = mix(h ^ word);
  }
  return h;
}

static Status find_out(KernelLaunch *l, Error *error) {
  const char *out = l->request->out;
  l->out = -1;
  for (int a = 0; a < l->n && *out; a++) {
    char number[16];
    snprintf(number, sizeof number, "%d", a);
    if (strcmp(out, number) == 0 || strcmp(out, l->argument_names[a]) == 0) l->out = a;
  }
  if (*out && l->out < 0)
    return error_refuse(error, "--out '%s' is no argument of '%.60s'; give its name or its number, from 0",
                        quote_text(out).text, l->name);
  if (l->out >= 0 && !l->specs[l->out].is_buffer)
    return error_refuse(error, "--out '%s' is a number, not a buffer", quote_text(out).text);
  return STATUS_OK;
}

void kernel_output_find(KernelLaunch *l) {
  int64_t largest = 0;
  if (!l->request->out[0]) l->out = l->request->like[0] ? kernel_like_output(l) : -1;
  for (int a = 0, given = l->out >= 0; a < l->n && !given; a++) {
    const PtxArgument *argument = &l->arguments[a];
    if (!l->specs[a].is_buffer || argument->n_bytes < largest ||
        hash(argument->bytes, argument->n_bytes) == l->before[a])
      continue;
    l->out = a, largest = argument->n_bytes;
  }
}

/* " (the file: line 57, <<<dimGrid, dimBlock>>>)" where the source launches the kernel; "": nowhere. */
static void say_launch(const KernelLaunch *l, char *to, size_t size) {
  int n = 1;
  to[0] = '\0';
  if (!l->source) return;
  for (const char *p = l->source; *p; n++) {
    const char *end = p + strcspn(p, "\n"), *open = strstr(p, "<<<"), *close = open ? strstr(open, ">>>") : NULL;
    if (close && open < end) {
      char before[200];
      snprintf(before, sizeof before, "%.*s", (int)(open - p < 199 ? open - p : 199), p);
      if (strstr(before, l->name)) {
        snprintf(to, size, " (line %d of the file: %.*s)", n, (int)(close + 3 - open < 60 ? close + 3 - open : 60),
                 open);
        for (char *c = to; *c; c++)
          if (*c == '\n') *c = ' ';
        return;
      }
    }
    p = *end ? end + 1 : end;
  }
}

static Status make_shape(KernelLaunch *l, Error *error) {
  const KernelRequest *r = l->request;
  const PtxEntry entry = ptx_entry(l->module, l->entry);
  const int32_t *block = r->block[0] ? r->block : entry.required_block;
  char launched[120];
  if (!r->grid[0] || block[0] < 1) {
    say_launch(l, launched, sizeof launched);
    return error_refuse(
        error,
        "how many blocks, of how many threads? Give --grid X,Y,Z and --block X,Y,Z, or '// tilewalk: grid "
        "X,Y,Z' in the file%s",
        launched);
  }
  if (ptx_kernel_dynamic_shared(l->kernel) && !r->shared_bytes)
    return error_refuse(error, "'%.60s' has dynamic shared memory; give its size: --shared BYTES", l->name);
  memcpy(l->launch.grid, r->grid, sizeof l->launch.grid);
  memcpy(l->launch.block, block, sizeof l->launch.block);
  l->launch.dynamic_shared_bytes = r->shared_bytes;
  return STATUS_OK;
}

static Status make_machine(KernelLaunch *l, Error *error) {
  Gpu *g = &l->gpu;
  const KernelRequest *r = l->request;
  const Status status = description_gpu(r->gpu[0] ? r->gpu : "h100-sxm", g, error);
  if (status) return status;
  if (g->warp_size && g->warp_size != 32)
    return error_refuse(error, "--gpu %s: its warps have %jd threads; PTX runs in warps of 32", g->name, g->warp_size);
  l->launch.sm = (PtxSm){.n_sm = (int32_t)g->n_sm,
                         .unified_bytes = (int32_t)g->sram_bytes,
                         .shared_bytes = (int32_t)g->shared_bytes_per_sm,
                         .warps = (int32_t)g->warps_per_sm,
                         .blocks = (int32_t)g->ctas_per_sm,
                         .registers = (int32_t)g->registers_per_sm,
                         .registers_per_thread = (int32_t)r->registers};
  return STATUS_OK;
}

static Status make_launch(KernelLaunch *l, Error *error) {
  const KernelRequest *r = l->request;
  PtxLaunch *launch = &l->launch;
  launch->arguments = l->arguments, launch->n_arguments = l->n;
  launch->faults = r->faults || !r->no_faults, launch->l1 = !r->no_caches, launch->max_lanes = r->limit;
  const Status status = make_machine(l, error);
  if (status) return status;
  for (int a = 0; a < l->n; a++)
    if (l->specs[a].is_buffer) l->before[a] = hash(l->arguments[a].bytes, l->arguments[a].n_bytes);
  return find_out(l, error);
}

static void like_defaults(KernelRequest *r) {
  if (!r->N) r->N = 256;
  if (!r->d) r->d = 64;
  if (!r->batch) r->batch = 1;
  if (!r->heads) r->heads = 1;
}

/* The source that a .ptx was made of, where it lies beside it: its lines and the names of its parameters are shown. */
static void find_source(KernelLaunch *l) {
  const char *file = ptx_source_file(l->module, 1);
  const char *name = file ? path_base(file) : NULL;
  if (name && (path_ends(name, ".cu") || path_ends(name, ".cuh")))
    file_read_beside(l->request->file, name, CUDA_SOURCE_MAX, &l->source, &l->source_length, NULL);
}

static Status load_module(KernelLaunch *l, Error *error) {
  char name[160];
  const char *file = path_base(l->request->file);
  snprintf(name, sizeof name, l->by_clang ? "PTX of %.140s" : "%.150s", file);
  Status status = ptx_module_load(l->ptx, l->ptx_length, name, &l->module, error);
  if (!status) status = find_entry(l, error);
  if (status) return status;
  if (!l->source) find_source(l);
  signature_plain_name(ptx_entry_name(l->module, l->entry), l->name, sizeof l->name);
  if (!l->source || !signature_find(l->source, l->source_length, l->name, &l->signature) ||
      l->signature.n != ptx_entry(l->module, l->entry).n_parameters)
    l->signature.n = 0;
  return ptx_kernel_new(l->module, l->entry, &l->kernel, error);
}

Status kernel_launch_prepare(KernelLaunch *l, KernelRequest *request, Error *error) {
  char *text;
  size_t length;
  memset(l, 0, sizeof *l);
  l->request = request;
  l->out = -1;
  Status status = file_read(request->file, CUDA_PTX_MAX, &text, &length, error);
  if (status) return status;
  if (is_ptx(request->file, text))
    l->ptx = text, l->ptx_length = length;
  else
    l->source = text, l->source_length = length;
  status = kernel_request_from_file(request, text, length, error);
  like_defaults(request);
  if (!status && !l->ptx) status = compile(l, error);
  if (!status && l->by_clang && !strstr(l->ptx, ".entry")) status = compile_defaults(l, request, error);
  if (status || request->ptx) return status;
  status = load_module(l, error);
  if (!status) status = make_shape(l, error);
  if (!status) status = kernel_launch_arguments(l, error);
  if (!status) status = make_launch(l, error);
  return status;
}

void kernel_launch_free(KernelLaunch *l) {
  for (int a = 0; a < KERNEL_ARGUMENTS_MAX; a++) free(l->arguments[a].bytes), free(l->files[a]);
  ptx_kernel_free(l->kernel);
  ptx_module_free(l->module);
  free(l->ptx);
  free(l->source);
  memset(l, 0, sizeof *l);
}

OutputSums kernel_output_sums(const KernelLaunch *l) {
  OutputSums sums = {0};
  if (l->out < 0) return sums;
  for (int64_t i = 0; i < l->specs[l->out].n; i++) {
    const double x = spec_element(l->specs[l->out].type, l->arguments[l->out].bytes, i);
    sums.sum += x;
    sums.weighted_sum += x * cos(0.37 * (double)i);
    if (!(fabs(x) <= sums.max)) sums.max = fabs(x);
  }
  return sums;
}
