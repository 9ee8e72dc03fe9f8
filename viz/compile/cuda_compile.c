#define _XOPEN_SOURCE 700
#include "viz/compile/cuda_compile.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/ascii.h"
#include "sim/base/quote.h"
#include "viz/compile/child_run.h"
#include "viz/compile/source_cut.h"
#include "viz/request/assets.h"

enum { PATH_BYTES = 1024, CLANG_OLDEST = 14, CLANG_NEWEST = 30, TRIES_MAX = 24 };
#define STUBS "missing/" /* empty headers, in the folder */
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
  if (!tmp || !*tmp || strlen(tmp) > PATH_BYTES / 2) tmp = "/tmp";
  snprintf(folder->path, sizeof folder->path, "%s/tilewalk.XXXXXX", tmp);
  if (mkdtemp(folder->path)) return STATUS_OK;
  const int reason = errno;
  folder->path[0] = '\0';
  return error_set(error, STATUS_BAD_REQUEST, "cannot make a folder to compile in, in '%.200s': %s", tmp,
                   strerror(reason));
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
  if (length < 0 || (size_t)length >= sizeof path)
    return error_set(error, STATUS_BAD_REQUEST, "a header's name is too long");
  for (char *slash = path + strlen(folder->path) + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
  FILE *f = fopen(path, "wb");
  bool good = f && fwrite(text, 1, n, f) == n && fputs(end, f) >= 0;
  if (f) good = fclose(f) == 0 && good;
  return good ? STATUS_OK : error_set(error, STATUS_BAD_REQUEST, "cannot write '%.200s': %s", path, strerror(errno));
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* --- what clang says --- */

/* The name in "fatal error: 'torch/extension.h' file not found": false if it is none that may be made up. */
static bool missing_header(const char *said, char name[128]) {
  const char *end = strstr(said, "' file not found"), *begin = end;
  while (begin && begin > said && begin[-1] != '\'') begin--;
  if (!end || begin == said || end - begin >= 128 || begin == end) return false;
  memcpy(name, begin, (size_t)(end - begin));
  name[end - begin] = '\0';
  return name[0] != '/' && !strstr(name, "..") && !strpbrk(name, "\\\n");
}

/* "FILE:LINE: WHAT" from the first error; messages of the copy go by the source's own path. */
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
  const char *hint = result->n_notes ? "; some headers are not here (-I DIR says where)" : "";
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

enum { INCLUDES_MAX = 256, INCLUDE_DEPTH = 8 };

/* A file of the source's folder, cut, beside the copy: what it includes by "NAME" follows, from its own folder. */
static Status write_cut(const CudaSource *source, const Folder *folder, const char *name, const char *text,
                        size_t length, const char *end, int depth, int *n_left, CudaResult *result, Error *error) {
  const size_t place = (size_t)(base_name(name) - name);
  char *copy = malloc(length + 1);
  if (!copy) return error_set(error, STATUS_NO_MEMORY, "no memory for a copy of '%.100s'", name);
  memcpy(copy, text, length);
  copy[length] = '\0';
  if (source_cut(copy, length) > 0) result->is_cut = true;
  Status status = folder_write(folder, name, copy, length, end, error);
  for (const char *p = copy; status == STATUS_OK && depth < INCLUDE_DEPTH && (p = strstr(p, "include")) != NULL; p++) {
    const char *open = p + 7 + strspn(p + 7, " \t");
    const size_t n = *open == '"' ? strcspn(open + 1, "\"\n") : 0;
    char header[PATH_BYTES], *inner = NULL;
    size_t inner_length;
    if (n == 0 || open[1 + n] != '"' || n + place >= sizeof header) continue;
    snprintf(header, sizeof header, "%.*s%.*s", (int)place, name, (int)n, open + 1);
    if (--*n_left >= 0 &&
        file_read_beside(source->path, header, CUDA_SOURCE_MAX, &inner, &inner_length, NULL) == STATUS_OK)
      status = write_cut(source, folder, header, inner, inner_length, "", depth + 1, n_left, result, error);
    free(inner);
  }
  free(copy);
  return status;
}

static Status write_source(const CudaSource *source, const Folder *folder, const char *name, bool cut,
                           CudaResult *result, Error *error) {
  char end[600] = "\n";
  int n_left = INCLUDES_MAX;
  if (source->template_name)
    snprintf(end, sizeof end, "\n__device__ auto " MARK " = &%.500s;\n", source->template_name);
  if (cut) return write_cut(source, folder, name, source->text, source->length, end, 0, &n_left, result, error);
  return folder_write(folder, name, source->text, source->length, end, error);
}

/* One run of clang over the copy. */
static Status run_clang(const CudaSource *source, const Folder *folder, const char *clang, const char *name,
                        ChildResult *child, Error *error) {
  char header[ASSETS_PATH_BYTES], cuda_folder[ASSETS_PATH_BYTES], copy[2 * PATH_BYTES], own_folder[PATH_BYTES],
      stubs[PATH_BYTES + 16];
  snprintf(stubs, sizeof stubs, "%s/" STUBS, folder->path);
  if (assets_find(header, sizeof header, "kernels/cuda/tw_cuda.h", error)) return STATUS_BAD_REQUEST;
  snprintf(cuda_folder, sizeof cuda_folder, "%.*s", (int)(base_name(header) - header), header);
  snprintf(copy, sizeof copy, "%s/%s", folder->path, name);
  const size_t n = (size_t)(base_name(source->path) - source->path);
  snprintf(own_folder, sizeof own_folder, "%.*s", n ? (int)(n < PATH_BYTES - 1 ? n : PATH_BYTES - 1) : 2,
           n ? source->path : "./");
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
                                           "-ferror-limit=1",
                                           "-S",
                                           "-o",
                                           "-"};
  int k = 0;
  while (argv[k]) k++;
  for (int w = 0; w < source->n_words && w < CUDA_WORDS_MAX; w++) argv[k++] = source->words[w];
  argv[k++] = copy;
  const ChildLimits limits = {.cpu_seconds = source->cpu_seconds ? source->cpu_seconds : 30,
                              .wall_seconds = source->cpu_seconds ? 2 * source->cpu_seconds : 60,
                              .memory_bytes = (size_t)4 << 30,
                              .out_bytes = CUDA_PTX_MAX,
                              .err_bytes = 65536};
  if (child_run(argv, &limits, child, error)) return STATUS_BAD_REQUEST;
  if (child->timed_out || child->exit_status > 128)
    return error_set(error, STATUS_TOO_LARGE, "%.100s: clang was stopped after %d s of CPU or 4 GiB", source->path,
                     (int)limits.cpu_seconds);
  if (child->out_cut) return error_set(error, STATUS_TOO_LARGE, "%.100s: its PTX is larger than 64 MiB", source->path);
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

/* Compiles until no header is missing. */
static Status compile_once(const CudaSource *source, const Folder *folder, const char *clang, bool cut,
                           CudaResult *result, Error *error) {
  const char *name = base_name(source->path);
  if (!*name) name = "kernel.cu";
  Status status = write_source(source, folder, name, cut, result, error);
  for (int tries = 0; status == STATUS_OK; tries++) {
    ChildResult child;
    char header[128];
    status = run_clang(source, folder, clang, name, &child, error);
    if (status == STATUS_OK && child.exit_status != 0) {
      const bool missing = missing_header(child.err, header) && tries < TRIES_MAX;
      if (missing) {
        char stub[160];
        snprintf(stub, sizeof stub, STUBS "%s", header);
        status = folder_write(folder, stub, "", 0, "", error);
        note(result, "a header is not here, and was left empty: ", header);
      } else {
        status = refuse(source, folder, child.err, result, error);
      }
      child_result_free(&child);
      continue;
    }
    if (status == STATUS_OK) {
      result->ptx = child.out, result->length = child.n_out;
      child.out = NULL;
      take_entry(result);
    }
    child_result_free(&child);
    break;
  }
  return status;
}

Status cuda_compile(const CudaSource *source, CudaResult *result, Error *error) {
  char clang[CLANG_NAME_BYTES];
  Folder folder;
  Error first = {0};
  memset(result, 0, sizeof *result);
  if (source->length > CUDA_SOURCE_MAX)
    return error_set(error, STATUS_TOO_LARGE, "%.200s is larger than 4 MiB", source->path);
  if (!clang_find(clang))
    return error_set(
        error, STATUS_BAD_REQUEST,
        "a .cu needs clang 14 or later on PATH (apt-get install clang), or give the PTX: nvcc -ptx -lineinfo FILE.cu");
  Status status = folder_new(&folder, error);
  for (size_t h = 0; h < sizeof STOOD_FOR / sizeof *STOOD_FOR && status == STATUS_OK; h++) {
    char stub[160];
    snprintf(stub, sizeof stub, STUBS "%s", STOOD_FOR[h]);
    status = folder_write(&folder, stub, "", 0, "", error);
  }
  if (status == STATUS_OK) {
    status = compile_once(source, &folder, clang, false, result, &first);
    if (status == STATUS_BAD_FILE) {
      status = compile_once(source, &folder, clang, true, result, error);
      if (status == STATUS_OK)
        note(result,
             "the host's half was left out: ", strstr(first.message, ": ") ? strstr(first.message, ": ") + 2 : "");
    } else if (status) {
      error_set(error, status, "%s", first.message);
    }
  }
  folder_remove(&folder);
  return status;
}
