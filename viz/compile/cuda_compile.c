#define _XOPEN_SOURCE 700
#include "viz/compile/cuda_compile.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/ascii.h"
#include "sim/base/quote.h"
#include "viz/compile/child_run.h"
#include "viz/compile/source_cut.h"
#include "viz/kernel/kernel_signature.h"
#include "viz/request/assets.h"

enum {
  PATH_BYTES = 1024,
  CLANG_OLDEST = 14,
  CLANG_NEWEST = 30,
  ROUNDS_MAX = 8,
  COMPILES_MAX = 6,
  PREPROCESS_S = 5,
  PREPROCESS_ALONE_S = 1
};
#define STUBS "missing/" /* empty headers, in the folder */
#define READS "reads.d"  /* what the compile itself read, as a rule of make */
#define MARK                                                                                                           \
  "tw_the_entry" /* a device variable whose value is the instantiated kernel: its line in PTX has the name \
                              */

bool clang_find(char found[CLANG_NAME_BYTES]) {
  for (int version = CLANG_NEWEST + 1; version >= CLANG_OLDEST; version--) {
    char name[16] = "clang";
    if (version <= CLANG_NEWEST) snprintf(name, sizeof name, "clang-%d", version);
    for (const char *p = getenv("PATH"); p && *p;) {
      const size_t n = strcspn(p, ":");
      if (n > 0 && n < CLANG_NAME_BYTES - sizeof name - 1) {
        snprintf(found, CLANG_NAME_BYTES, "%.*s/%s", (int)n, p, name);
        if (access(found, X_OK) == 0) return true;
      }
      p += n + (p[n] == ':');
    }
  }
  return false;
}

/* --- the folder to compile in --- */

typedef struct {
  char path[PATH_BYTES];
} Folder;

static Status folder_new(Folder *folder, Error *error) {
  const char *tmp = getenv("TMPDIR");
  if (!tmp || *tmp != '/' || strlen(tmp) > PATH_BYTES / 2) tmp = "/tmp";
  snprintf(folder->path, sizeof folder->path, "%s/tilewalk.XXXXXX", tmp);
  if (mkdtemp(folder->path)) return STATUS_OK;
  const int reason = errno;
  folder->path[0] = '\0';
  return error_refuse(error, "cannot make a folder to compile in, in '%.200s': %s", tmp, strerror(reason));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info;
  (void)kind;
  (void)where;
  return remove(path);
}

static void folder_remove(const Folder *folder) {
  if (folder->path[0]) nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file of the folder, with the folders that its name has. */
static Status folder_write(const Folder *folder, const char *name, const char *text, size_t n, const char *end,
                           Error *error) {
  char path[2 * PATH_BYTES];
  const int length = snprintf(path, sizeof path, "%s/%s", folder->path, name);
  if (length < 0 || (size_t)length >= sizeof path) return error_refuse(error, "a header's name is too long");
  for (char *slash = path + strlen(folder->path) + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
  FILE *f = fopen(path, "wb");
  bool good = f && fwrite(text, 1, n, f) == n && fputs(end, f) >= 0;
  if (f) good = fclose(f) == 0 && good;
  return good ? STATUS_OK : error_refuse(error, "cannot write '%.200s': %s", path, strerror(errno));
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* --- what clang says --- */

/* "FILE:LINE: WHAT" from the first error; messages of the copy go by the source's own path. */
#define LEFT_EMPTY "a header is not here, and was left empty: "

/* "; mma.h and 2 more headers are not here (-I DIR says where)" */
static void hint_at_headers(const CudaResult *result, char *to, size_t size) {
  const char *first = NULL;
  int n = 0;
  to[0] = '\0';
  for (int k = 0; k < result->n_notes; k++)
    if (strncmp(result->notes[k], LEFT_EMPTY, sizeof LEFT_EMPTY - 1) == 0 && n++ == 0)
      first = result->notes[k] + sizeof LEFT_EMPTY - 1;
  if (n == 1) snprintf(to, size, "; %.80s is not here (-I DIR says where)", first);
  if (n > 1) snprintf(to, size, "; %.80s and %d more headers are not here (-I DIR says where)", first, n - 1);
}

static Status refuse(const CudaSource *source, const Folder *folder, const char *said, const CudaResult *result,
                     Error *error) {
  const char *at = strstr(said, "error: ");
  if (!at)
    return error_set(error, STATUS_BAD_FILE, "%.100s: clang gave no PTX: %.150s", source->path,
                     quote(said, strcspn(said, "\n")).text);
  const char *line = at;
  while (line > said && line[-1] != '\n') line--;
  char where[PATH_BYTES + 300], what[200];
  snprintf(where, sizeof where, "%.*s", (int)(at - line < 600 ? at - line : 600), line); /* "PATH:LINE:COLUMN: " */
  snprintf(what, sizeof what, "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
  const char *file = where;
  const size_t n = strlen(folder->path);
  const bool own = strncmp(where, folder->path, n) == 0;
  if (own) file = where + n + 1;
  const char *colon = strchr(file, ':');
  const long number = colon ? strtol(colon + 1, NULL, 10) : 0;
  char hint[160];
  hint_at_headers(result, hint, sizeof hint);
  char kernel[100], parameters[100];
  const char *given = source->template_name ? source->template_name : "";
  snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(given, "<"), given);
  if (strstr(what, MARK) && signature_template(source->text, source->length, kernel, parameters, sizeof parameters))
    return error_set(error, STATUS_BAD_REQUEST, "%.100s: '%.80s' does not fit the template of '%.60s', %s",
                     source->path, given, kernel, parameters);
  const size_t length = colon ? (size_t)(colon - file) : 0;
  const char *name = base_name(source->path);
  if (own && strlen(name) == length && memcmp(file, name, length) == 0)
    return error_set(error, STATUS_BAD_FILE, "%.120s:%ld: %.130s%s", source->path, number, what, hint);
  return error_set(error, STATUS_BAD_FILE, "%.*s:%ld: %.130s%s",
                   colon ? (int)(colon - file < 120 ? colon - file : 120) : 0, file, number, what, hint);
}

static void note(CudaResult *result, const char *what, const char *name) {
  if (result->n_notes < CUDA_NOTES_MAX)
    snprintf(result->notes[result->n_notes++], CUDA_NOTE_BYTES, "%s%.100s", what, name);
}

/* --- compiling --- */

/* Headers of NVIDIA's that tw_cuda.h stands for: empty files, without a note. */
static const char *const STOOD_FOR[] = {
    "assert.h",
    "cassert",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
    "cuda_bf16.h",
    "cuda_bf16.hpp",
    "device_launch_parameters.h",
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "math_constants.h",
    "device_functions.h",
    "vector_types.h",
    "sm_30_intrinsics.h",
    "cuda_profiler_api.h",
    "math_functions.h",
    "vector_functions.h",
    "device_atomic_functions.h",
};

enum { COPIES_MAX = 256, INCLUDE_DEPTH = 8, PARTS_MAX = 4096 };

/* The source, and what it includes by "NAME" from its own folder, as they are compiled. */
typedef struct {
  char name[PATH_BYTES];
  char *text;
  size_t length;
} Copy;

typedef struct {
  const CudaSource *source;
  Folder folder;
  Copy copies[COPIES_MAX];
  int n_copies;
  SourcePart parts[PARTS_MAX];
  char reason[300]; /* of the first kernel that was left out */
  CudaResult *result;
} Compile;

static Status add_copy(Compile *c, const char *name, const char *text, size_t length, Error *error) {
  Copy *copy = &c->copies[c->n_copies++];
  snprintf(copy->name, sizeof copy->name, "%s", name);
  copy->text = malloc(length + 1);
  if (!copy->text) return error_set(error, STATUS_NO_MEMORY, "no memory for a copy of '%.100s'", name);
  memcpy(copy->text, text, length);
  copy->text[length] = '\0';
  copy->length = length;
  return STATUS_OK;
}

/* A cell of a notebook begins with lines for the notebook: %%writefile, %%cu, !nvcc. */
static void blank_magic(Compile *c) {
  char *line = c->copies[0].text;
  while (*line == '%' || *line == '!') {
    const size_t n = strcspn(line, "\n");
    note(c->result, "a line for a notebook was left out: ", quote(line, n).text);
    memset(line, ' ', n);
    line += n + (line[n] == '\n');
  }
}

/* Adds what a copy includes by "NAME", from the folder of each. */
static Status add_included(Compile *c, const Copy *from, int depth, Error *error) {
  Status status = STATUS_OK;
  const size_t place = (size_t)(base_name(from->name) - from->name);
  for (const char *p = from->text; !status && depth < INCLUDE_DEPTH && (p = strstr(p, "include")) != NULL; p++) {
    const char *open = p + 7 + strspn(p + 7, " \t");
    const size_t n = *open == '"' ? strcspn(open + 1, "\"\n") : 0;
    char name[PATH_BYTES], *inner = NULL;
    size_t length;
    bool is_new = n > 0 && open[1 + n] == '"' && n + place < sizeof name && c->n_copies < COPIES_MAX;
    if (is_new) snprintf(name, sizeof name, "%.*s%.*s", (int)place, from->name, (int)n, open + 1);
    for (int k = 0; k < c->n_copies && is_new; k++) is_new = strcmp(c->copies[k].name, name) != 0;
    if (!is_new || file_read_beside(c->source->path, name, CUDA_SOURCE_MAX, &inner, &length, NULL)) continue;
    status = add_copy(c, name, inner, length, error);
    free(inner);
    if (!status) status = add_included(c, &c->copies[c->n_copies - 1], depth + 1, error);
  }
  return status;
}

static Status write_copies(const Compile *c, Error *error) {
  char end[600] = "\n";
  Status status = STATUS_OK;
  if (c->source->template_name)
    snprintf(end, sizeof end, "\n__device__ auto " MARK " = &%.500s;\n", c->source->template_name);
  for (int k = 0; k < c->n_copies && !status; k++)
    status = folder_write(&c->folder, c->copies[k].name, c->copies[k].text, c->copies[k].length, k ? "" : end, error);
  return status;
}

/* The part of a copy at "PATH:LINE:COLUMN: ", the smallest; false: none. */
static bool part_at(Compile *c, const char *said, Copy **copy, SourcePart *part) {
  const char *colon = strchr(said, ':');
  long line = colon ? strtol(colon + 1, NULL, 10) : 0;
  if (line < 1) return false;
  for (int k = 0; k < c->n_copies; k++) { /* the copy, or the header beside the source */
    const size_t n = strlen(c->copies[k].name), path = (size_t)(colon - said);
    if (path > n && said[path - n - 1] == '/' && memcmp(colon - n, c->copies[k].name, n) == 0) *copy = &c->copies[k];
  }
  if (!*copy) return false;
  const char *at = (*copy)->text;
  while (--line > 0 && (at = strchr(at, '\n'))) at++;
  if (!at) return false;
  const char *column = strchr(colon + 1, ':');
  const size_t offset = (size_t)(at - (*copy)->text) + (column ? (size_t)strtol(column + 1, NULL, 10) - 1 : 0);
  const int n = source_parts((*copy)->text, (*copy)->length, c->parts, PARTS_MAX);
  for (int k = 0; k < n; k++)
    if (c->parts[k].begin <= offset && offset < c->parts[k].end) return *part = c->parts[k], true;
  return false;
}

/* Whether a part is the kernel that is asked for. */
static bool is_entry(const CudaSource *source, const Copy *copy, const SourcePart *part) {
  const char *name = source->entry ? source->entry : source->template_name ? source->template_name : "";
  const char *plain = strrchr(name, ':') && !strchr(name, '<') ? strrchr(name, ':') + 1 : name;
  const size_t n = strcspn(plain, "<");
  if (part->kind != SOURCE_KERNEL || !n) return false;
  for (const char *p = copy->text + part->begin; p + n < copy->text + part->head; p++)
    if (memcmp(p, plain, n) == 0 && p[n] == '(' && !ascii_is_alnum((unsigned char)p[-1]) && p[-1] != '_') return true;
  return false;
}

/* Blanks the parts that errors lie in: those of the least kind, in the last rounds all. An error outside every part is
 * that of the place that asked for it. Returns how many went. */
static int cut_by_errors(Compile *c, const char *said, bool all) {
  int n_cut = 0, least = SOURCE_KERNEL + 1;
  for (int pass = all ? 1 : 0; pass < 2; pass++)
    for (const char *line = said, *next; *line; line = next) {
      next = line + strcspn(line, "\n");
      next += *next == '\n';
      const char *at = strstr(line, "error: ");
      Copy *copy = NULL;
      SourcePart part;
      if (!at || at > next) continue;
      bool found = part_at(c, line, &copy, &part);
      for (const char *note = next; !found && !copy && *note; note += strcspn(note, "\n") + 1) {
        const char *end = note + strcspn(note, "\n"), *asks = strstr(note, "requested here");
        if ((strstr(note, "error: ") && strstr(note, "error: ") < end) || !*end) break;
        found = asks && asks < end && part_at(c, note, &copy, &part);
      }
      if (!found || is_entry(c->source, copy, &part)) continue;
      if (pass == 0 && part.kind < least) least = part.kind;
      if (pass == 0 || (!all && part.kind > least)) continue;
      const int number = (int)strtol(strchr(line, ':') + 1, NULL, 10);
      char why[300];
      snprintf(why, sizeof why, "%.100s:%d: %.*s", copy == c->copies ? c->source->path : copy->name, number,
               (int)(strcspn(at + 7, "\n") < 160 ? strcspn(at + 7, "\n") : 160), at + 7);
      if (part.kind == SOURCE_KERNEL) note(c->result, "a kernel was left out: ", strchr(why, ':') + 1);
      if (part.kind == SOURCE_KERNEL && !*c->reason) snprintf(c->reason, sizeof c->reason, "%s", why);
      if (part.kind != SOURCE_KERNEL && !c->result->is_cut)
        note(c->result, "the host's half was left out: ", strchr(why, ':') + 1);
      c->result->is_cut = true;
      source_blank(copy->text, copy->length, &part);
      n_cut++;
    }
  return n_cut;
}

/* One run of clang over the copy: to PTX, or no further than what it reads (-M), by absolute paths. */
static Status run_clang(const CudaSource *source, const Folder *folder, const char *clang, const char *name,
                        bool only_reads, ChildResult *child, Error *error) {
  char header[ASSETS_PATH_BYTES], cuda_folder[ASSETS_PATH_BYTES], copy[2 * PATH_BYTES], own_folder[PATH_MAX + 1],
      stubs[PATH_BYTES + 16], reads[PATH_BYTES + 16], clang_home[PATH_MAX], absolute[PATH_MAX],
      folders[CUDA_WORDS_MAX][PATH_MAX + 2];
  snprintf(stubs, sizeof stubs, "%s/" STUBS, folder->path);
  snprintf(reads, sizeof reads, "%s/" READS, folder->path);
  if (assets_find(header, sizeof header, "kernels/cuda/tw_cuda.h", error)) return STATUS_BAD_REQUEST;
  snprintf(cuda_folder, sizeof cuda_folder, "%.*s", (int)(base_name(header) - header), header);
  snprintf(copy, sizeof copy, "%s/%s", folder->path, name);
  const size_t n = (size_t)(base_name(source->path) - source->path);
  snprintf(own_folder, sizeof own_folder, "%.*s", n ? (int)(n < PATH_BYTES - 1 ? n : PATH_BYTES - 1) : 2,
           n ? source->path : "./");
  if (source->alone) snprintf(own_folder, sizeof own_folder, "%s", stubs);
  const char *argv[64 + CUDA_WORDS_MAX] = {clang,
                                           "-x",
                                           "cuda",
                                           "--cuda-device-only",
                                           "--cuda-gpu-arch=sm_80",
                                           "-nocudainc",
                                           "-nocudalib",
                                           "-nogpuinc",
                                           "-Xclang",
                                           "-target-feature",
                                           "-Xclang",
                                           "+ptx72",
                                           "-fdeclspec",
                                           "-std=c++17",
                                           "-I",
                                           stubs,
                                           "-I",
                                           cuda_folder,
                                           "-iquote",
                                           own_folder,
                                           "-include",
                                           header,
                                           "-ffp-contract=fast",
                                           "-O3",
                                           "-mllvm",
                                           "-unroll-threshold=1000",
                                           "-mllvm",
                                           "-disable-vector-combine",
                                           "-g1",
                                           "-w",
                                           "-fno-caret-diagnostics",
                                           "-fno-color-diagnostics",
                                           "-ferror-limit=0",
                                           "-o",
                                           "-"};
  const char *const judged[] = {"-M", "-MG", "-Xclang", "-v"}; /* -v: the folders that are searched */
  const char *const compiled[] = {"-S", "-MD", "-MF", reads};
  int k = 0;
  while (argv[k]) k++;
  for (size_t w = 0; w < sizeof judged / sizeof *judged; w++) argv[k++] = only_reads ? judged[w] : compiled[w];
  if (only_reads && realpath(own_folder, absolute)) snprintf(own_folder, sizeof own_folder, "%s", absolute);
  for (int w = 0; w < source->n_words && w < CUDA_WORDS_MAX; w++) {
    argv[k++] = source->words[w];
    if (!only_reads || strncmp(source->words[w], "-I", 2) != 0 || !realpath(source->words[w] + 2, absolute)) continue;
    snprintf(folders[w], sizeof folders[w], "-I%s", absolute);
    argv[k - 1] = folders[w];
  }
  argv[k++] = copy;
  const int cpu_seconds = only_reads && source->alone ? PREPROCESS_ALONE_S
                          : only_reads                ? PREPROCESS_S
                          : source->cpu_seconds       ? source->cpu_seconds
                                                      : 30;
  const int wall_seconds = 20 + 10 * cpu_seconds; /* whoever is one of many on a machine gets a part of it */
  /* Of a hand-in: the compiler, the libraries it is linked with and the headers of the system; never a home. */
  const char *const open_to[] = {folder->path, cuda_folder,        "/usr",     "/lib",
                                 "/lib64",     "/etc/ld.so.cache", clang_home, NULL};
  if (!realpath(clang, clang_home)) snprintf(clang_home, sizeof clang_home, "%s", clang);
  for (int up = 0; up < 2; up++) *strrchr(clang_home, '/') = '\0'; /* PREFIX of PREFIX/bin/clang */
  const ChildLimits limits = {.folders = source->alone ? open_to : NULL,
                              .cpu_seconds = cpu_seconds,
                              .wall_seconds = wall_seconds,
                              .memory_bytes = (uint64_t)4 << 30,
                              .out_bytes = CUDA_PTX_MAX,
                              .err_bytes = 65536};
  if (child_run(argv, &limits, child, error)) return STATUS_BAD_REQUEST;
  if (child->out_cut) return error_set(error, STATUS_TOO_LARGE, "%.100s: its PTX is larger than 64 MiB", source->path);
  if (child->timed_out || child->exit_status > 128)
    return error_set(error, STATUS_TOO_LARGE, "%.100s: clang was stopped after %d s of CPU, %d s in all or 4 GiB",
                     source->path, cpu_seconds, wall_seconds);
  return STATUS_OK;
}

/* Takes the mark's line out of the PTX, and the name on it. */
static void take_entry(CudaResult *result) {
  char *line = strstr(result->ptx, " " MARK " = ");
  result->entry[0] = '\0';
  if (!line) return;
  const char *name = line + sizeof(" " MARK " = ") - 1;
  snprintf(result->entry, sizeof result->entry, "%.*s", (int)strcspn(name, ";"), name);
  while (line > result->ptx && line[-1] != '\n') line--;
  while (*line && *line != '\n') *line++ = ' ';
}

/* --- what clang may read: files below the folders that it searches --- */

/* Whether a path, links followed, lies below a folder that clang says it searches (-v), or below the copy's own. */
static bool may_read(const char *path, const char *said, const Folder *folder) {
  char real[PATH_MAX], below[PATH_MAX], searched[PATH_BYTES];
  if (!realpath(path, real)) return false;
  const char *line = strstr(said, " search starts here:\n");
  snprintf(searched, sizeof searched, "%s", folder->path);
  for (;;) {
    const size_t n = realpath(searched, below) ? strlen(below) : 0;
    if (n && strncmp(real, below, n) == 0 && (real[n] == '/' || below[n - 1] == '/')) return true;
    do line = line ? strchr(line, '\n') : NULL;
    while (line && (++line, *line == '#'));
    if (!line || *line != ' ') return false;
    snprintf(searched, sizeof searched, "%.*s", (int)strcspn(line + 1, "\n"), line + 1);
  }
}

/* The next name of a Makefile's rule, without what make wants before a blank, a # or a $; NULL: no more. */
static char *next_name(char **at) {
  char *p = *at;
  while (*p == ' ' || *p == '\n' || (*p == '\\' && p[1] == '\n')) p++;
  char *const name = p, *to = p;
  while (*p && *p != ' ' && *p != '\n') {
    if ((*p == '\\' && (p[1] == ' ' || p[1] == '#')) || (*p == '$' && p[1] == '$')) p++;
    *to++ = *p++;
  }
  *at = p + (*p != '\0');
  *to = '\0';
  return to > name ? name : NULL;
}

/* The first line of the text that includes a file of that name; 0: none, as when a macro or another file names it. */
static int line_including(const CudaSource *source, const char *path) {
  const char *end = source->text + source->length;
  int number = 1;
  for (const char *line = source->text; line < end; number++) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    char text[PATH_BYTES];
    if (!stop) stop = end;
    snprintf(text, sizeof text, "%.*s", (int)(stop - line < PATH_BYTES ? stop - line : PATH_BYTES - 1), line);
    if (strchr(text, '#') && strstr(text, base_name(path))) return number;
    line = stop + 1;
  }
  return 0;
}

static Status refuse_path(const CudaSource *source, const char *path, Error *error) {
  const int line = line_including(source, path);
  char where[16] = "", real[PATH_MAX];
  if (realpath(path, real)) path = real;
  if (line) snprintf(where, sizeof where, ":%d", line);
  return error_refuse(error, "%.120s%s: it includes %.130s, which does not lie below %s; --include DIR allows a folder",
                      source->path, where, quote(path, strlen(path)).text,
                      source->alone ? "a folder of headers" : "its folder");
}

/* Judges one list of what clang reads, a rule of make. A header that is not here is left empty, with a note. */
static Status judge_list(const CudaSource *source, const Folder *folder, const char *searched, char *rule,
                         int *n_missing, CudaResult *result, Error *error) {
  Status status = STATUS_OK;
  char *at = strstr(rule, ": "), *path;
  if (at) at += 2;
  while (at && status == STATUS_OK && (path = next_name(&at)) != NULL) {
    char stub[160];
    if (*path == '/' || access(path, F_OK) == 0) {
      if (!may_read(path, searched, folder)) status = refuse_path(source, path, error);
    } else if (strlen(path) < 128 && !strstr(path, "..") && !strchr(path, '\\')) {
      snprintf(stub, sizeof stub, STUBS "%s", path);
      status = folder_write(folder, stub, "", 0, "", error);
      note(result, LEFT_EMPTY, path);
      ++*n_missing;
    }
  }
  return status;
}

/* What clang would read is judged before it compiles, until no header is missing: one that was just left empty may open
 * others (__has_include). `searched` then has what clang says of its folders, for the caller to free. */
static Status judge_reads(const CudaSource *source, const Folder *folder, const char *clang, const char *name,
                          ChildResult *searched, CudaResult *result, Error *error) {
  for (int round = 0; round < ROUNDS_MAX; round++) {
    int n_missing = 0;
    child_result_free(searched);
    Status status = run_clang(source, folder, clang, name, true, searched, error);
    if (!status && !strstr(searched->out, ": ")) status = refuse(source, folder, searched->err, result, error);
    if (!status) status = judge_list(source, folder, searched->err, searched->out, &n_missing, result, error);
    if (status || n_missing == 0) return status;
  }
  return error_refuse(error, "%.200s: each header that is left empty asks for another, %d times", source->path,
                      ROUNDS_MAX);
}

/* What the compile did read, by its own list: the same as was judged, or nothing of it is kept. */
static Status judge_compiled(const CudaSource *source, const Folder *folder, const char *searched, CudaResult *result,
                             Error *error) {
  char beside[PATH_BYTES + 1], *rule;
  size_t length;
  int n_missing = 0;
  snprintf(beside, sizeof beside, "%s/", folder->path);
  Status status = file_read_beside(beside, READS, CUDA_PTX_MAX, &rule, &length, error);
  if (!status) status = judge_list(source, folder, searched, rule, &n_missing, result, error);
  if (!status && n_missing) status = error_refuse(error, "%.200s: its headers changed", source->path);
  free(rule);
  return status;
}

/* Compiles until no error is left, without the parts that errors lie in. */
static Status compile_rounds(Compile *c, const char *clang, Error *error) {
  const CudaSource *source = c->source;
  const char *name = c->copies[0].name;
  char hint[160];
  ChildResult child = {0}, searched = {0};
  Status status = write_copies(c, error);
  for (int round = 0; !status; round++) {
    if (round == 0 || source->alone) status = judge_reads(source, &c->folder, clang, name, &searched, c->result, error);
    if (!status) status = run_clang(source, &c->folder, clang, name, false, &child, error);
    if (status || child.exit_status == 0) break;
    if (round == 0 && !source->alone) status = add_included(c, &c->copies[0], 0, error);
    if (!status && (round + 1 == COMPILES_MAX || !cut_by_errors(c, child.err, round + 4 > COMPILES_MAX)))
      status = refuse(source, &c->folder, child.err, c->result, error);
    child_result_free(&child);
    child = (ChildResult){0};
    if (!status) status = write_copies(c, error);
  }
  if (!status) status = judge_compiled(source, &c->folder, searched.err, c->result, error);
  if (!status && *c->reason && !strstr(child.out, ".entry") && !strstr(c->copies[0].text, "__global__")) {
    hint_at_headers(c->result, hint, sizeof hint);
    status = error_set(error, STATUS_BAD_FILE, "%s%s", c->reason, hint);
  }
  if (!status) {
    c->result->ptx = child.out, c->result->length = child.n_out;
    child.out = NULL;
    take_entry(c->result);
  }
  child_result_free(&searched);
  child_result_free(&child);
  return status;
}

Status cuda_compile(const CudaSource *source, CudaResult *result, Error *error) {
  char clang[CLANG_NAME_BYTES];
  memset(result, 0, sizeof *result);
  if (source->length > CUDA_SOURCE_MAX)
    return error_set(error, STATUS_TOO_LARGE, "%.200s is larger than 4 MiB", source->path);
  if (!clang_find(clang))
    return error_set(
        error, STATUS_BAD_REQUEST,
        "a .cu needs clang 14 or later on PATH (apt-get install clang), or give the PTX: nvcc -ptx -lineinfo FILE.cu");
  Compile *c = calloc(1, sizeof *c);
  if (!c) return error_set(error, STATUS_NO_MEMORY, "no memory to compile '%.100s'", source->path);
  c->source = source;
  c->result = result;
  Status status = folder_new(&c->folder, error);
  for (size_t h = 0; h < sizeof STOOD_FOR / sizeof *STOOD_FOR && status == STATUS_OK; h++) {
    char stub[160];
    snprintf(stub, sizeof stub, STUBS "%s", STOOD_FOR[h]);
    status = folder_write(&c->folder, stub, "", 0, "", error);
  }
  if (!status)
    status = add_copy(c, *base_name(source->path) ? base_name(source->path) : "kernel.cu", source->text, source->length,
                      error);
  if (!status) blank_magic(c);
  if (!status) status = compile_rounds(c, clang, error);
  folder_remove(&c->folder);
  for (int k = 0; k < c->n_copies; k++) free(c->copies[k].text);
  free(c);
  return status;
}
