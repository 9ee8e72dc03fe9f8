#include "viz/request/backend_rules.h"
#include "viz/request/description.h"

#include <stdlib.h>

#include "sim/base/path.h"
#include "sim/base/ascii.h"
#include "sim/base/nearest.h"
#include "viz/request/assets.h"
#include "kernels/counters/ncu.h"
#include "viz/request/kernel_from_counters.h"
#include "viz/request/model_config.h"

/* Whether it could be the name of one of our files; no '/' and no leading '.' means no way out of
 * the folder. */
static bool is_name(const char *text) {
  static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. ";
  const size_t length = strlen(text);
  return length > 0 && length < DESCRIPTION_NAME_BYTES && text[0] != '.' && !strstr(text, "..") &&
         strspn(text, ALLOWED) == length;
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static bool take_name(void *data, const char *name) {
  DescriptionNames *names = data;
  if (is_name(name)) memcpy(names->names[names->n++], name, strlen(name) + 1);
  return names->n < DESCRIPTION_NAMES_MAX;
}

Status description_names(const char *folder, DescriptionNames *names, Error *error) {
  char relative[64];
  snprintf(relative, sizeof relative, "assets/%s", folder);
  names->n = 0;
  const Status status = assets_list(relative, take_name, names, error);
  if (!status) qsort(names->names, (size_t)names->n, sizeof names->names[0], by_name);
  return status;
}

typedef struct {
  const char *folder;  /* of assets */
  const char *what;    /* "GPU" */
  const char *listing; /* what shows the known ones */
} Kind;

static const Kind GPU_KIND = {"gpus", "GPU", "'tilewalk list gpus' lists the known ones"};
static const Kind KERNEL_KIND = {"kernels", "kernel", "'tilewalk list kernels' lists the known ones"};
static const Kind BACKEND_KIND = {"backends", "library", "assets/backends has the known ones"};
static const Kind LINK_KIND = {"links", "link", "'tilewalk sim --steps --help' lists the known ones"};
static const Kind MODEL_KIND = {"models", "model", "'tilewalk kvcache --list' lists the known ones"};

/* What people call a card whose file has a longer name. */
static const char *const CALLED[][2] = {{"a100", "a100-80gb"},           {"h100", "h100-sxm"},
                                        {"a100-sxm4-80gb", "a100-80gb"}, {"a100-sxm4-40gb", "a100-40gb"},
                                        {"h100-80gb-hbm3", "h100-sxm"},  {"h100-sxm5", "h100-sxm"},
                                        {"rtx-a6000", "a6000"},          {"a100-pcie-80gb", "a100-80gb-pcie"},
                                        {"a100-pcie-40gb", "a100-40gb"}, {"h200-sxm", "h200"},
                                        {"v100-sxm2-16gb", "v100"},      {"gh200-480gb", "gh200"}};

/* Whether two names are one but for case and what stands between words: "RTX 4090" is rtx4090. */
static bool same_name(const char *a, const char *b) {
  static const char BETWEEN[] = " -_";
  for (;; a++, b++) {
    a += strspn(a, BETWEEN);
    b += strspn(b, BETWEEN);
    if (ascii_lower((unsigned char)*a) != ascii_lower((unsigned char)*b)) return false;
    if (!*a) return true;
  }
}

/* The name of a card without its maker's words, which nvidia-smi prints. */
static const char *card_of(const char *name) {
  static const char *const MAKERS[] = {"NVIDIA ", "GeForce ", "Tesla ", "AMD ", "Instinct "};
  for (size_t k = 0; k < COUNT_OF(MAKERS); k++)
    if (ascii_same_n(name, MAKERS[k], strlen(MAKERS[k]))) name += strlen(MAKERS[k]);
  return name;
}

static Status refuse(const Kind *kind, const char *name, Error *error) {
  const Quote q = quote_text(name);
  DescriptionNames known;
  Nearest nearest = {.word = q.text};
  const Status status = description_names(kind->folder, &known, error);
  if (status) return status; /* no data files at all */
  for (int i = 0; i < known.n; i++) nearest_offer(&nearest, known.names[i]);
  for (size_t k = 0; kind == &GPU_KIND && k < COUNT_OF(CALLED); k++) nearest_offer(&nearest, CALLED[k][0]);
  char meant[4 * DESCRIPTION_NAME_BYTES + 32];
  if (nearest.best)
    return error_refuse(error, "there is no %s '%s'; did you mean %s?", kind->what, q.text,
                        nearest_list(&nearest, meant, sizeof meant));
  return error_refuse(error, "there is no %s '%s'; %s, and a description file is given by its path", kind->what, q.text,
                      kind->listing);
}

/* The path of a file of ours, by its very name. */
static Status path_of(const Kind *kind, const char *name, char path[ASSETS_PATH_BYTES]) {
  char relative[DESCRIPTION_NAME_BYTES + 32];
  if (!is_name(name)) return STATUS_BAD_REQUEST;
  snprintf(relative, sizeof relative, "assets/%s/%s", kind->folder, name);
  return assets_find(path, ASSETS_PATH_BYTES, relative, NULL);
}

static bool is_shipped(const Kind *kind, const char *name) {
  char path[ASSETS_PATH_BYTES];
  return path_of(kind, name, path) == STATUS_OK;
}

/* What a repository adds to the name of a model whose shape is the same: instruct, chat, v0.1, a date. */
static bool same_model_part(const char *part, size_t n) {
  static const char *const PARTS[] = {"instruct", "chat", "base", "it",  "hf",  "thinking", "pt",
                                      "fp8",      "awq",  "gptq", "17b", "16e", "original", "preview"};
  if (n > 1 && (part[0] | 0x20) == 'v' && part[1] >= '0' && part[1] <= '9') return true;
  if (n >= 4 && strspn(part, "0123456789") >= n) return true;
  for (size_t i = 0; i < COUNT_OF(PARTS); i++)
    if (strlen(PARTS[i]) == n && ascii_same_n(part, PARTS[i], n)) return true;
  return false;
}

/* "Llama-3.1-70B-Instruct" is llama-3.1-70b: the known name, and parts that change nothing. How much of it is known. */
static size_t same_model(const char *asked, const char *known) {
  if (ascii_same_n(asked, "meta-", 5) && strncmp(known, "meta-", 5)) asked += 5;
  const size_t n = strlen(known);
  if (!ascii_same_n(asked, known, n)) return 0;
  for (const char *p = asked + n; *p;) {
    if (*p++ != '-') return 0;
    const size_t length = strcspn(p, "-");
    if (!same_model_part(p, length)) return 0;
    p += length;
  }
  return n;
}

/* A name of the Hugging Face Hub ("Qwen/Qwen3-8B") as that of a known model; false: of none. */
static bool known_model(const char *name, char known_name[DESCRIPTION_NAME_BYTES]) {
  const char *last = path_base(name);
  DescriptionNames known;
  size_t best = 0;
  if (!is_name(last) || description_names("models", &known, NULL)) return false;
  for (int i = 0; i < known.n; i++) {
    const size_t n = same_model(last, known.names[i]);
    if (n <= best) continue;
    best = n;
    memcpy(known_name, known.names[i], DESCRIPTION_NAME_BYTES);
  }
  return best > 0;
}

/* The same, however the name is spelled. */
static Status find_named(const Kind *kind, const char *name, char path[ASSETS_PATH_BYTES]) {
  DescriptionNames known;
  if (!is_name(name)) return STATUS_BAD_REQUEST;
  if (kind == &GPU_KIND) name = card_of(name);
  for (size_t k = 0; kind == &GPU_KIND && k < COUNT_OF(CALLED); k++)
    if (same_name(name, CALLED[k][0])) name = CALLED[k][1];
  if (!path_of(kind, name, path)) return STATUS_OK;
  if (description_names(kind->folder, &known, NULL)) return STATUS_BAD_REQUEST;
  for (int i = 0; i < known.n; i++) {
    const char *own = known.names[i]; /* a number alone is that of an RTX card */
    if (same_name(name, own) || (strncmp(own, "rtx", 3) == 0 && same_name(name, own + 3)))
      return path_of(kind, own, path);
  }
  return STATUS_BAD_REQUEST;
}

static Status no_file(const char *value, const char *what, Error *error) {
  return error_refuse(error, "'%s' names a file; %s of one's own are named on the command line alone",
                      quote_text(value).text, what);
}

Status description_shipped(Thing thing, const char *name, Error *error) {
  static const Kind *const KINDS[] = {
      [THING_GPU] = &GPU_KIND, [THING_KERNEL] = &KERNEL_KIND, [THING_MODEL] = &MODEL_KIND};
  char path[ASSETS_PATH_BYTES];
  if (thing == THING_FOLDER)
    return *name != '/' && !strstr(name, "..")
               ? STATUS_OK
               : error_refuse(error, "'%s' leads out of the folder of the file that names it", quote_text(name).text);
  if (thing == THING_PROGRAM) return question_is_path(name) ? no_file(name, "programs", error) : STATUS_OK;
  if (thing == THING_MASK) return strpbrk(name, "/.") ? no_file(name, "masks", error) : STATUS_OK;
  const Kind *kind = KINDS[thing];
  if (thing == THING_GPU && (!*name || strcmp(name, "paper") == 0)) return STATUS_OK;
  if (!find_named(kind, name, path)) return STATUS_OK;
  return error_refuse(error,
                      "'%s' is no %s that comes with Tilewalk; files of one's own are named on the command line alone",
                      quote_text(name).text, kind->what);
}

/* Reads the text of a description. The caller frees *buffer. */
static Status read_text(const Kind *kind, const char *name, size_t most, char **buffer, size_t *length, Error *error) {
  char path[ASSETS_PATH_BYTES];
  *buffer = NULL;
  *length = 0;
  if (!find_named(kind, name, path)) return file_read(path, most, buffer, length, error);
  if (!strchr(name, '/') && !file_exists(name)) return refuse(kind, name, error);
  return file_read(name, most, buffer, length, error);
}

/* What comes with Tilewalk has a source for every number. */
static Status check_shipped(const Kind *kind, const char *name, const KeyfileField *fields, int n_fields,
                            const KeyfileNote *notes, Error *error) {
  if (!is_shipped(kind, name)) return STATUS_OK;
  return keyfile_check_sources(name, fields, n_fields, notes, error);
}

#define READ(kind, most, parse, to)                                                                                    \
  char *buffer;                                                                                                        \
  size_t length;                                                                                                       \
  Status status = read_text(kind, name, most, &buffer, &length, error);                                                \
  if (!status) status = parse(buffer, length, name, to, error);                                                        \
  free(buffer);                                                                                                        \
  return status

Status description_backend(const char *name, struct Backend *backend, Error *error) {
  READ(&BACKEND_KIND, BACKEND_FILE_BYTES, backend_parse, backend);
}

Status description_link(const char *name, GpuLink *link, Error *error) {
  READ(&LINK_KIND, KEYFILE_MAX_BYTES, link_parse, link);
}

Status description_gpu(const char *name, Gpu *gpu, Error *error) {
  if (*name && strcmp(name, "paper")) {
    READ(&GPU_KIND, KEYFILE_MAX_BYTES, gpu_parse, gpu);
  }
  gpu_paper(gpu);
  return STATUS_OK;
}

Status description_timed_gpu(const char *name, Gpu *gpu, Error *error) {
  const Status status = description_gpu(name, gpu, error);
  if (status || timing_rate(gpu, TIME_MATH, DTYPE_FP16) > 0) return status;
  return error_refuse(
      error, "%.60s's description has no rate of products, so no time can be said; name a GPU (tilewalk list gpus)",
      gpu->name);
}

/* The tile of a short description in place of a shipped one's, for every d that it has. */
static void take_launch(Profile *to, const Profile *launch) {
  for (int d = 0; d < PROFILE_D_COUNT; d++)
    for (int causal = 0; causal < 2; causal++) {
      ProfileTile *t = &to->tiles[d][causal];
      const ProfileTile *own = &launch->every;
      if (t->block_q != own->block_q || t->block_k != own->block_k) continue; /* another d's */
      if (own->threads) t->threads = own->threads;
      if (own->registers_per_thread) t->registers_per_thread = own->registers_per_thread;
      if (own->shared_bytes) t->shared_bytes = own->shared_bytes;
    }
}

/* --kernel FILE.csv: the kernel that a counter file ran. */
static Status from_counters(const char *text, size_t length, const char *name, Profile *profile, Error *error) {
  char lines[512], known[DESCRIPTION_NAME_BYTES];
  Status status = kernel_from_counters(text, length, name, lines, sizeof lines, known, sizeof known, error);
  Profile *const launch = calloc(1, sizeof *launch);
  if (!status && !launch) status = error_no_memory(error, "for a kernel description");
  if (!status && *lines) status = profile_parse(lines, strlen(lines), name, launch, error);
  if (!status && *known) {
    status = description_kernel(known, profile, error);
    if (!status && *lines) take_launch(profile, launch);
  } else if (!status) {
    *profile = *launch;
  }
  free(launch);
  return status;
}

static Status parse_model(const char *text, size_t length, const char *name, KvModel *model, Error *error) {
  return model_config_is_json(text, length) ? model_config_parse(text, length, name, model, error)
                                            : kvmodel_parse(text, length, name, model, error);
}

Status description_kernel(const char *name, Profile *profile, Error *error) {
  char *buffer;
  size_t length;
  Status status = read_text(&KERNEL_KIND, name, NCU_MAX_BYTES, &buffer, &length, error);
  const bool counted = !status && kernel_is_counters(buffer, length);
  if (!status) status = (counted ? from_counters : profile_parse)(buffer, length, name, profile, error);
  int n_fields;
  const KeyfileField *fields = profile_fields(&n_fields);
  if (!status && !counted) status = check_shipped(&KERNEL_KIND, name, fields, n_fields, profile->notes, error);
  free(buffer);
  return status;
}

Status description_model(const char *asked, KvModel *model, Error *error) {
  char *buffer, known[DESCRIPTION_NAME_BYTES];
  size_t length;
  const char *name = is_shipped(&MODEL_KIND, asked) || file_exists(asked) || !known_model(asked, known) ? asked : known;
  Status status = read_text(&MODEL_KIND, name, MODEL_CONFIG_MAX_BYTES, &buffer, &length, error);
  if (!status) status = parse_model(buffer, length, name, model, error);
  int n_fields;
  const KeyfileField *fields = kvmodel_fields(&n_fields);
  if (!status) status = check_shipped(&MODEL_KIND, name, fields, n_fields, model->notes, error);
  free(buffer);
  return status;
}
