/* tilewalk --doctor: what is here, what is missing, what to install. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <cairo.h>
#include <lua.h>
#include <pango/pangocairo.h>
#include <unistd.h>
#include <zlib.h>
#ifdef TILEWALK_GIF
#include <gif_lib.h>
#endif
#ifdef TILEWALK_WEBP
#include <webp/encode.h>
#endif

#include "viz/request/assets.h"
#include "viz/cli/command.h"
#include "viz/compile/cuda_compile.h"

#define WORD_OF(x) #x
#define WORD(x)    WORD_OF(x)
#ifdef TILEWALK_GIF
#define GIF WORD(GIFLIB_MAJOR) "." WORD(GIFLIB_MINOR) "." WORD(GIFLIB_RELEASE)
#else
#define GIF NULL
#endif
#ifdef TILEWALK_WINDOW /* only viz/window asks SDL2 anything: that it was built says that SDL2 was there */
#define SDL "in this build"
#else
#define SDL NULL
#endif
#ifdef _OPENMP
#define OPENMP WORD(_OPENMP)
#else
#define OPENMP NULL
#endif
#define CUDA "/usr/local/cuda/bin"

enum { FOUND_CHARS = 256, FOUND_MOST = 12 };

typedef struct {
  OutputRequest output;
  char found[FOUND_MOST][FOUND_CHARS]; /* what is looked for */
} DoctorOptions;

typedef struct {
  const char *what, *used_for;
  const char *found;  /* version or place; NULL: it is missing */
  const char *remedy; /* then; NULL: it is required, and always here */
  bool required;
} Check;

/* Looks for an executable in PATH, then in one more folder. */
static const char *program(const char *name, const char *also, char *found) {
  const char *path = getenv("PATH");
  for (const char *p = path ? path : ""; *p;) {
    const size_t length = strcspn(p, ":");
    snprintf(found, FOUND_CHARS, "%.*s/%s", (int)(length < 200 ? length : 200), p, name);
    if (length && access(found, X_OK) == 0) return found;
    p += length + (p[length] == ':');
  }
  snprintf(found, FOUND_CHARS, "%s/%s", also, name);
  return *also && access(found, X_OK) == 0 ? found : NULL;
}

static const char *clang(char *found) {
  char name[CLANG_NAME_BYTES];
  if (!clang_find(name)) return NULL;
  snprintf(found, FOUND_CHARS, "%.*s", FOUND_CHARS - 1, name);
  return found;
}

static const char *data_files(char *found) {
  char path[ASSETS_PATH_BYTES];
  if (assets_find(path, sizeof path, "assets", NULL)) return NULL;
  char *const plain = realpath(path, NULL);
  snprintf(found, FOUND_CHARS, "%.*s", FOUND_CHARS - 1, plain ? plain : path);
  free(plain);
  return found;
}

static const char *fonts(char *found) {
  PangoFontFamily **families = NULL;
  int n = 0;
  pango_font_map_list_families(pango_cairo_font_map_get_default(), &families, &n);
  snprintf(found, FOUND_CHARS, "%d families", n);
  g_free(families);
  return n > 0 ? found : NULL;
}

static const char *webp(char *found) {
#ifdef TILEWALK_WEBP
  const int v = WebPGetEncoderVersion();
  snprintf(found, FOUND_CHARS, "%d.%d.%d", v >> 16, (v >> 8) & 255, v & 255);
  return found;
#else
  return (void)found, NULL;
#endif
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  char(*found)[FOUND_CHARS] = ((DoctorOptions *)options)->found;
  const Check CHECKS[] = {
      {"cairo", "charts and scenes", cairo_version_string(), NULL, true},
      {"pango", "text in charts and scenes", pango_version_string(), NULL, true},
      {"jansson", "JSON", jansson_version_str(), NULL, true},
      {"Lua", "answers of lessons, claims", LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE, NULL,
       true},
      {"md4c", "Markdown of lessons", "0.4 or later", NULL, true},
      {"zlib", "the ladder's recorded kernels", zlibVersion(), NULL, true},
      {"libwebp", "animations", webp(found[0]), "apt-get install libwebp-dev, and build again", false},
      {"giflib", "animations", GIF, "apt-get install libgif-dev, and build again", false},
      {"SDL2", "the viewer's window", SDL, "apt-get install libsdl2-dev, and build again", false},
      {"OpenMP", "sweeps on all cores", OPENMP, "a compiler with -fopenmp", false},
      {"fonts", "text in charts and scenes", fonts(found[1]), "apt-get install fonts-dejavu-core", true},
      {"data files", "GPU descriptions, lessons, counters", data_files(found[2]),
       "run from the source tree, or 'make install'; TILEWALK_ASSETS names the assets folder", true},
      {"nvcc", "building the CUDA kernels", program("nvcc", CUDA, found[3]), "install NVIDIA's CUDA Toolkit 13", false},
      {"nvidia-smi", "running the CUDA kernels", program("nvidia-smi", "", found[4]), "an NVIDIA GPU and its driver",
       false},
      {"ncu", "hardware counters", program("ncu", CUDA, found[5]), "install Nsight Compute", false},
      {"clang", "tilewalk kernel FILE.cu: CUDA without CUDA", clang(found[6]), "apt-get install clang (14 or later)",
       false},
      {"clang-14", "make web: the viewer as web pages", program("clang-14", "", found[7]),
       "'make web' installs clang-14, lld-14, wasi-libc and libclang-rt-14-dev-wasm32", false},
      {"wasm-ld-14", "make web", program("wasm-ld-14", "", found[8]), "apt-get install lld-14", false},
      {"chromium", "make test-web: the pages in a browser", program("chromium", "", found[9]),
       "apt-get install chromium nodejs", false},
  };
  (void)error;
  Table *t = put_table(d, DOCUMENT_ALL, "checks",
                       "part=what|used for~|state|=present|=required|found, or what to do~|=found|=used_for|"
                       "=remedy");
  for (const Check *c = CHECKS; c < CHECKS + COUNT_OF(CHECKS); c++) {
    const bool here = c->found != NULL, bad = !here && c->required;
    io->differs = io->differs || bad;
    put_cells(t, "ss@sbbssss", c->what, c->used_for,
              here  ? ROLE_GOOD
              : bad ? ROLE_BAD
                    : ROLE_DIM,
              here  ? "here"
              : bad ? "missing"
                    : "not here",
              here, c->required, here ? c->found : c->remedy, here ? c->found : "", c->used_for,
              here ? NULL : c->remedy);
  }
  table_note(t, io->differs ? "Something that is needed is missing; the right column says what to do."
                            : "Everything that is needed is here. What is not here is optional: the simulator, the "
                              "charts and the lessons do without.");
  return STATUS_OK;
}

static const OptionSet SETS[] = {
    {"Output", OUTPUT_FORMAT_OPTIONS, 0},
    {0},
};

const Command COMMAND_DOCTOR = {
    .name = "--doctor",
    .old = "doctor",
    .summary = "what is installed, what is missing, what to install",
    .usage = "[--json]",
    .description = "Looks at libraries, fonts, data files and the CUDA tools. Exit status 1 when something that is "
                   "needed is missing; what is only optional does not count.",
    .examples = "  tilewalk --doctor\n",
    .options_bytes = sizeof(DoctorOptions),
    .sets = SETS,
    .answer = answer,
};
