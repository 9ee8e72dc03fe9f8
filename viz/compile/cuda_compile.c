#define _GNU_SOURCE
#include "viz/compile/cuda_compile.h"

#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/path.h"
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
  AROUND_MAX = 5,
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

enum { COPIES_MAX = 256, INCLUDE_DEPTH = 8, PARTS_MAX = 4096 };

/* The source, and what it includes by "NAME" from its own folder, as they are compiled. */
typedef struct {
  char name[PATH_BYTES];
  char *text;
  size_t length;
} Copy;

typedef struct {
  const CudaSource *source;
  char clang[CLANG_NAME_BYTES];
  Folder folder;
  Copy copies[COPIES_MAX];
  int n_copies;
  SourcePart parts[PARTS_MAX];
  char reason[300];     /* of the first kernel that was left out */
  int n_missing;        /* headers */
  char missing[80];     /* the first of them */
  char around[160];     /* -I for those that lie near the source */
  ChildResult searched; /* what -M read, and the folders that it searches */
  CudaResult *result;
} Compile;

/* --- what clang says --- */

/* "; mma.h and 2 more headers are not here (-I DIR says where)" */
static void hint_at_headers(const Compile *c, char *to, size_t size) {
  char more[48] = " is";
  to[0] = '\0';
  if (c->n_missing > 1) snprintf(more, sizeof more, " and %d more headers are", c->n_missing - 1);
  if (c->n_missing)
    snprintf(to, size, "; %s%s not here (%s)", c->missing, more, *c->around ? c->around + 1 : "-I DIR says where");
}

/* "FILE:LINE: WHAT" from the first error; messages of the copy go by the source's own path. */
static Status refuse(const Compile *c, const char *said, Error *error) {
  const CudaSource *source = c->source;
  const char *at = strstr(said, "error: ");
  if (!at)
    return error_set(error, STATUS_BAD_FILE, "%.100s: clang gave no PTX: %.150s", source->path,
                     quote(said, strcspn(said, "\n")).text);
  const char *line = at;
  while (line > said && line[-1] != '\n') line--;
  char where[PATH_BYTES + 300], what[200];
  snprintf(where, sizeof where, "%.*s", (int)(at - line), line); /* "PATH:LINE:COLUMN: " */
  snprintf(what, sizeof what, "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
  const char *file = where;
  const size_t n = strlen(c->folder.path);
  const bool own = strncmp(where, c->folder.path, n) == 0;
  if (own) file = where + n + 1;
  const char *colon = strchr(file, ':');
  const long number = colon ? strtol(colon + 1, NULL, 10) : 0;
  char hint[300];
  hint_at_headers(c, hint, sizeof hint);
  char kernel[100], parameters[100];
  const char *given = source->template_name ? source->template_name : "";
  snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(given, "<"), given);
  if (strstr(what, MARK) && signature_template(source->text, source->length, kernel, parameters, sizeof parameters))
    return error_refuse(error, "%.100s: '%.80s' does not fit the template of '%.60s', %s", source->path, given, kernel,
                        parameters);
  const char *name = path_base(source->path);
  where[colon ? colon - where : 0] = '\0';
  return error_set(error, STATUS_BAD_FILE, "%.120s:%ld: %.130s%s", own && !strcmp(file, name) ? source->path : file,
                   number, what, hint);
}

static void note(CudaResult *result, const char *what, const char *name) {
  if (result->n_notes < CUDA_NOTES_MAX)
    snprintf(result->notes[result->n_notes++], CUDA_NOTE_BYTES, "%s%.120s", what, name);
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
    "mma.h",
    "cuda_fp8.h",
    "curand_kernel.h",
    "nvtx3/nvToolsExt.h",
};

static Status add_copy(Compile *c, const char *name, const char *text, size_t length, Error *error) {
  Copy *copy = &c->copies[c->n_copies++];
  snprintf(copy->name, sizeof copy->name, "%s", name);
  copy->text = malloc(length + 1);
  if (!copy->text) return error_no_memory(error, "for a copy of '%.100s'", name);
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
  const size_t place = (size_t)(path_base(from->name) - from->name);
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
  char its[100];
  return part->kind == SOURCE_KERNEL && source_name(copy->text, part, its, sizeof its) &&
         strlen(its) == strcspn(plain, "<") && strncmp(its, plain, strlen(its)) == 0;
}

/* Blanks a part, and, when told to, the host's functions that name it. */
static void cut(Compile *c, Copy *copy, const SourcePart *part, bool with_users) {
  char name[100];
  with_users &= source_name(copy->text, part, name, sizeof name);
  source_blank(copy->text, copy->length, part);
  for (Copy *in = c->copies; with_users && in < c->copies + c->n_copies; in++)
    for (int k = 0, n = source_parts(in->text, in->length, c->parts, PARTS_MAX); k < n; k++) {
      const SourcePart user = c->parts[k];
      if (!source_calls(in->text, &user, name)) continue;
      cut(c, in, &user, true);
      k = -1, n = source_parts(in->text, in->length, c->parts, PARTS_MAX);
    }
}

/* Blanks the parts that errors lie in: those of the least kind, in the last rounds all, with those of
 * the host that name them. An error outside every part is
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
               (int)strcspn(at + 7, "\n"), at + 7);
      if (part.kind == SOURCE_KERNEL) note(c->result, "a kernel was left out: ", strchr(why, ':') + 1);
      if (part.kind == SOURCE_KERNEL && !*c->reason) snprintf(c->reason, sizeof c->reason, "%s", why);
      if (part.kind != SOURCE_KERNEL && !c->result->is_cut)
        note(c->result, "the host's half was left out: ", strchr(why, ':') + 1);
      c->result->is_cut = true;
      cut(c, copy, &part, all);
      n_cut++;
    }
  return n_cut;
}

/* One run of clang over the copy: to PTX, or no further than what it reads (-M), by absolute paths. */
static Status run_clang(const Compile *c, bool only_reads, ChildResult *child, Error *error) {
  const CudaSource *source = c->source;
  const Folder *folder = &c->folder;
  char header[ASSETS_PATH_BYTES], cuda_folder[ASSETS_PATH_BYTES], copy[2 * PATH_BYTES], own_folder[PATH_MAX + 1],
      stubs[PATH_BYTES + 16], reads[PATH_BYTES + 16], clang_home[PATH_MAX], absolute[PATH_MAX],
      folders[CUDA_WORDS_MAX][PATH_MAX + 2];
  snprintf(stubs, sizeof stubs, "%s/" STUBS, folder->path);
  snprintf(reads, sizeof reads, "%s/" READS, folder->path);
  if (assets_find(header, sizeof header, "kernels/cuda/tw_cuda.h", error)) return STATUS_BAD_REQUEST;
  snprintf(cuda_folder, sizeof cuda_folder, "%.*s", (int)(path_base(header) - header), header);
  snprintf(copy, sizeof copy, "%s/%s", folder->path, c->copies[0].name);
  const size_t n = (size_t)(path_base(source->path) - source->path);
  snprintf(own_folder, sizeof own_folder, "%.*s", n ? (int)n : 2, n ? source->path : "./");
  if (source->alone) snprintf(own_folder, sizeof own_folder, "%s", stubs);
  const char *argv[64 + CUDA_WORDS_MAX] = {c->clang,
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
                                           "-std=gnu++17",
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
  if (!realpath(c->clang, clang_home)) snprintf(clang_home, sizeof clang_home, "%s", c->clang);
  for (int up = 0; up < 2; up++) *strrchr(clang_home, '/') = '\0'; /* PREFIX of PREFIX/bin/clang */
  const ChildLimits limits = {.folders = source->alone ? open_to : NULL,
                              .cpu_seconds = cpu_seconds,
                              .wall_seconds = wall_seconds,
                              .memory_bytes = (uint64_t)4 << 30,
                              .out_bytes = CUDA_PTX_MAX,
                              .err_bytes = 65536};
  if (!only_reads) remove(reads); /* of the round before */
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
    snprintf(text, sizeof text, "%.*s", (int)(stop - line), line);
    if (strchr(text, '#') && strstr(text, path_base(path))) return number;
    line = stop + 1;
  }
  return 0;
}

static Status refuse_path(const CudaSource *source, const char *path, Error *error) {
  const int line = line_including(source, path);
  char where[16] = "", real[PATH_MAX];
  if (line) snprintf(where, sizeof where, ":%d", line);
  if (!realpath(path, real))
    return error_refuse(error, "%.100s%s: it includes %.80s, which is not here", source->path, where,
                        quote(path, strlen(path)).text);
  return error_refuse(error, "%.100s%s: it includes %.80s, which does not lie below %s; -I %.*s allows that",
                      source->path, where, quote(real, strlen(real)).text,
                      source->alone ? "a folder of headers" : "its folder", (int)(path_base(real) - real), real);
}

/* Says of a header that is not here which folder around the source has it: its own, those above, those in each. */
static void note_missing(Compile *c, const char *name) {
  char pattern[2 * PATH_BYTES], found[300] = "", said[300];
  for (int up = 0; up < AROUND_MAX && !*found && !c->source->alone; up++) {
    glob_t around;
    snprintf(pattern, sizeof pattern, "%.*s%.*s{.,*}/%s", (int)(path_base(c->source->path) - c->source->path),
             c->source->path, 3 * up, "../../../../", name);
    if (glob(pattern, GLOB_BRACE, NULL, &around) == 0)
      snprintf(found, sizeof found, " -I %.*s", (int)(strlen(around.gl_pathv[0]) - strlen(name) - 1), *around.gl_pathv);
    globfree(&around);
  }
  snprintf(said, sizeof said, "%.80s%s%.60s", name, *found ? ";" : "", found);
  note(c->result, "a header is not here, and was left empty: ", said);
  if (c->n_missing++ == 0) snprintf(c->missing, sizeof c->missing, "%s", name);
  if (!strstr(c->around, found) && strlen(c->around) + strlen(found) < sizeof c->around) strcat(c->around, found);
}

/* Judges one list of what clang reads, a rule of make: all but the copy, the first, whose name has each \ as a /.
 * A header that is not here is left empty, with a note. */
static Status judge_list(Compile *c, char *rule, Error *error) {
  Status status = STATUS_OK;
  char *at = strstr(rule, ": "), *path;
  if (at) at += 2, next_name(&at);
  while (at && !status && (path = next_name(&at)) != NULL) {
    char stub[160];
    if (*path == '/' || (rule != c->searched.out && access(path, F_OK) == 0)) { /* what -M found has absolute paths */
      if (!may_read(path, c->searched.err, &c->folder)) status = refuse_path(c->source, path, error);
    } else if (strlen(path) < 128 && !strstr(path, "..") && !strchr(path, '\\')) {
      snprintf(stub, sizeof stub, STUBS "%s", path);
      status = folder_write(&c->folder, stub, "", 0, "", error);
      note_missing(c, path);
    } else {
      status = refuse_path(c->source, path, error);
    }
  }
  return status;
}

/* What clang would read is judged before it compiles; of a hand-in until no header is missing: one that was just left
 * empty may open others (__has_include). c->searched then has what clang says of its folders. */
static Status judge_reads(Compile *c, Error *error) {
  for (int round = 0; round < ROUNDS_MAX; round++) {
    const int before = c->n_missing;
    child_result_free(&c->searched);
    Status status = run_clang(c, true, &c->searched, error);
    if (!status && !strstr(c->searched.out, ": ")) status = refuse(c, c->searched.err, error);
    if (!status) status = judge_list(c, c->searched.out, error);
    if (status || c->n_missing == before || !c->source->alone) return status;
  }
  return error_refuse(error, "%.200s: each header that is left empty asks for another, %d times", c->source->path,
                      ROUNDS_MAX);
}

/* What the compile did read, by its own list: as was judged, or nothing that it says is used. */
static Status judge_compiled(Compile *c, Error *error) {
  char beside[PATH_BYTES + 1], *rule;
  size_t length;
  const int before = c->n_missing;
  snprintf(beside, sizeof beside, "%s/", c->folder.path);
  if (file_read_beside(beside, READS, CUDA_PTX_MAX, &rule, &length, NULL))
    return error_refuse(error, "%.200s: a header that is left empty asks for one that is not here", c->source->path);
  Status status = judge_list(c, rule, error);
  if (!status && c->n_missing > before) status = error_refuse(error, "%.200s: its headers changed", c->source->path);
  free(rule);
  return status;
}

/* Compiles until no error is left, without the parts that errors lie in. */
static Status compile_rounds(Compile *c, Error *error) {
  char hint[300];
  ChildResult child = {0};
  Status status = write_copies(c, error);
  bool unjudged = true;
  for (int round = 0; !status; round++) {
    if (unjudged || c->source->alone) status = judge_reads(c, error);
    child_result_free(&child);
    if (!status) status = run_clang(c, false, &child, error);
    unjudged = !status && child.exit_status && strstr(child.err, "file not found");
    if (!status && !(unjudged && round + 1 < COMPILES_MAX)) status = judge_compiled(c, error);
    if (status || child.exit_status == 0) break;
    if (round == 0 && !c->source->alone) status = add_included(c, &c->copies[0], 0, error);
    const bool is_last = round + 1 == COMPILES_MAX;
    if (!status && (is_last || (!unjudged && !cut_by_errors(c, child.err, round + 4 > COMPILES_MAX))))
      status = refuse(c, child.err, error);
    if (!status) status = write_copies(c, error);
  }
  if (!status && *c->reason && !strstr(child.out, ".entry") && !strstr(c->copies[0].text, "__global__")) {
    hint_at_headers(c, hint, sizeof hint);
    status = error_set(error, STATUS_BAD_FILE, "%s%s", c->reason, hint);
  }
  if (!status) {
    c->result->ptx = child.out, c->result->length = child.n_out;
    child.out = NULL;
    take_entry(c->result);
  }
  child_result_free(&child);
  return status;
}

Status cuda_compile(const CudaSource *source, CudaResult *result, Error *error) {
  memset(result, 0, sizeof *result);
  if (source->length > CUDA_SOURCE_MAX)
    return error_set(error, STATUS_TOO_LARGE, "%.200s is larger than 4 MiB", source->path);
  Compile *c = calloc(1, sizeof *c);
  if (!c) return error_no_memory(error, "to compile '%.100s'", source->path);
  c->source = source;
  c->result = result;
  Status status = STATUS_OK;
  char kernel[100], parameters[100];
  const char *open = source->template_name ? strstr(source->template_name, "<>") : NULL;
  snprintf(kernel, sizeof kernel, "%.*s", open ? (int)(open - source->template_name) : 0, source->template_name);
  if (open && signature_template(source->text, source->length, kernel, parameters, sizeof parameters) &&
      strcspn(parameters, "=") >= strcspn(parameters, ","))
    status = error_refuse(error, "'%s' has no defaults", kernel);
  else if (!clang_find(c->clang))
    status = error_refuse(
        error,
        "a .cu needs clang 14 or later on PATH (apt-get install clang), or give the PTX: nvcc -ptx -lineinfo FILE.cu");
  if (!status) status = folder_new(&c->folder, error);
  for (size_t h = 0; h < sizeof STOOD_FOR / sizeof *STOOD_FOR && !status; h++) {
    char stub[160];
    snprintf(stub, sizeof stub, STUBS "%s", STOOD_FOR[h]);
    status = folder_write(&c->folder, stub, "", 0, "", error);
  }
  if (!status)
    status = add_copy(c, *path_base(source->path) ? path_base(source->path) : "kernel.cu", source->text, source->length,
                      error);
  if (!status) blank_magic(c);
  if (!status) status = compile_rounds(c, error);
  child_result_free(&c->searched);
  folder_remove(&c->folder);
  for (int k = 0; k < c->n_copies; k++) free(c->copies[k].text);
  free(c);
  return status;
}
