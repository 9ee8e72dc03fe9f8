/* tilewalk --doctor: what is here, what is missing, what to install. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <cairo.h>
#include <jansson.h>
#include <lua.h>
#include <pango/pangocairo.h>
#include <stdlib.h>
#include <string.h>
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
#include "viz/request/request.h"

enum { FOUND_CHARS = 256, N_CHECKS_MAX = 24 };

typedef struct {
  const char *what, *used_for;
  bool present, required;
  char found[FOUND_CHARS]; /* version or place */
  const char *remedy;      /* when it is missing */
} Check;

/* Looks for an executable in PATH, then in one more folder. */
static bool find_program(const char *name, const char *also, char *found) {
  const char *path = getenv("PATH");
  for (const char *p = path ? path : ""; *p;) {
    const size_t length = strcspn(p, ":");
    snprintf(found, FOUND_CHARS, "%.*s/%s", (int)(length < 200 ? length : 200), p, name);
    if (length && access(found, X_OK) == 0) return true;
    p += length + (p[length] == ':');
  }
  snprintf(found, FOUND_CHARS, "%s/%s", also, name);
  if (*also && access(found, X_OK) == 0) return true;
  found[0] = '\0';
  return false;
}

static Check program(const char *name, const char *also, const char *used_for, const char *remedy) {
  Check c = {.what = name, .used_for = used_for, .remedy = remedy};
  c.present = find_program(name, also, c.found);
  return c;
}

static Check clang(void) {
  Check c = {.what = "clang",
             .used_for = "tilewalk kernel FILE.cu: CUDA without CUDA",
             .remedy = "apt-get install clang (14 or later)"};
  char found[CLANG_NAME_BYTES];
  c.present = clang_find(found);
  if (c.present) snprintf(c.found, sizeof c.found, "%.*s", FOUND_CHARS - 1, found);
  return c;
}

static Check data_files(void) {
  Check c = {.what = "data files",
             .used_for = "GPU descriptions, lessons, counters",
             .required = true,
             .remedy = "run from the source tree, or 'make install'; TILEWALK_ASSETS names the assets folder"};
  char path[ASSETS_PATH_BYTES];
  Error error = {0};
  c.present = assets_find(path, sizeof path, "assets", &error) == STATUS_OK;
  char *const plain = c.present ? realpath(path, NULL) : NULL;
  if (c.present) snprintf(c.found, sizeof c.found, "%.*s", FOUND_CHARS - 1, plain ? plain : path);
  free(plain);
  return c;
}

static Check fonts(void) {
  Check c = {.what = "fonts",
             .used_for = "text in charts and scenes",
             .required = true,
             .remedy = "apt-get install fonts-dejavu-core"};
  PangoFontFamily **families = NULL;
  int n = 0;
  pango_font_map_list_families(pango_cairo_font_map_get_default(), &families, &n);
  c.present = n > 0;
  if (n > 0) snprintf(c.found, sizeof c.found, "%d families", n);
  g_free(families);
  return c;
}

/* A library that is part of this program, or was left out of it. */
static Check library(const char *what, const char *used_for, const char *version, const char *remedy) {
  Check c = {.what = what, .used_for = used_for, .present = version != NULL, .required = !remedy, .remedy = remedy};
  if (version) snprintf(c.found, sizeof c.found, "%s", version);
  return c;
}

static Check webp(void) {
  const char *version = NULL;
#ifdef TILEWALK_WEBP
  char text[32];
  const int v = WebPGetEncoderVersion();
  snprintf(text, sizeof text, "%d.%d.%d", v >> 16, (v >> 8) & 255, v & 255);
  version = text;
#endif
  return library("libwebp", "animations", version, "apt-get install libwebp-dev, and build again");
}

static Check gif(void) {
  const char *version = NULL;
#ifdef TILEWALK_GIF
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", GIFLIB_MAJOR, GIFLIB_MINOR, GIFLIB_RELEASE);
  version = text;
#endif
  return library("giflib", "animations", version, "apt-get install libgif-dev, and build again");
}

/* Only viz/window asks SDL2 anything: that it was built says that SDL2 was there. */
static Check sdl(void) {
#ifdef TILEWALK_WINDOW
  const char *version = "in this build";
#else
  const char *version = NULL;
#endif
  return library("SDL2", "the viewer's window", version, "apt-get install libsdl2-dev, and build again");
}

static Check openmp(void) {
  const char *version = NULL;
#ifdef _OPENMP
  char text[32];
  snprintf(text, sizeof text, "%d", _OPENMP);
  version = text;
#endif
  return library("OpenMP", "sweeps on all cores", version, "a compiler with -fopenmp");
}

static int collect(Check *checks) {
  int n = 0;
  checks[n++] = library("cairo", "charts and scenes", cairo_version_string(), NULL);
  checks[n++] = library("pango", "text in charts and scenes", pango_version_string(), NULL);
  checks[n++] = library("jansson", "JSON", jansson_version_str(), NULL);
  checks[n++] = library("Lua", "answers of lessons, claims",
                        LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE, NULL);
  checks[n++] = library("md4c", "Markdown of lessons", "0.4 or later", NULL);
  checks[n++] = library("zlib", "the ladder's recorded kernels", zlibVersion(), NULL);
  checks[n++] = webp();
  checks[n++] = gif();
  checks[n++] = sdl();
  checks[n++] = openmp();
  checks[n++] = fonts();
  checks[n++] = data_files();
  checks[n++] = program("nvcc", "/usr/local/cuda/bin", "building the CUDA kernels", "install NVIDIA's CUDA Toolkit 13");
  checks[n++] = program("nvidia-smi", "", "running the CUDA kernels", "an NVIDIA GPU and its driver");
  checks[n++] = program("ncu", "/usr/local/cuda/bin", "hardware counters", "install Nsight Compute");
  checks[n++] = clang();
  checks[n++] = program("clang-14", "", "make web: the viewer as web pages",
                        "'make web' installs clang-14, lld-14, wasi-libc and libclang-rt-14-dev-wasm32");
  checks[n++] = program("wasm-ld-14", "", "make web", "apt-get install lld-14");
  checks[n++] = program("chromium", "", "make test-web: the pages in a browser", "apt-get install chromium nodejs");
  return n;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  Check checks[N_CHECKS_MAX];
  (void)options, (void)error;
  const int n = collect(checks);
  bool healthy = true;
  for (int k = 0; k < n; k++) healthy = healthy && (checks[k].present || !checks[k].required);
  Table *t = put_table(d, DOCUMENT_ALL, "checks",
                       "part=what|used for~|state|=present|=required|found, or what to do~|=found|=used_for|"
                       "=remedy");
  for (int k = 0; k < n; k++) {
    const Check *c = &checks[k];
    const TextRole role = c->present ? ROLE_GOOD : c->required ? ROLE_BAD : ROLE_DIM;
    put_cells(t, "ss@sbbssss", c->what, c->used_for, role,
              c->present    ? "here"
              : c->required ? "missing"
                            : "not here",
              c->present, c->required, c->present ? c->found : c->remedy, c->found, c->used_for,
              c->present ? NULL : c->remedy);
  }
  table_note(t, healthy ? "Everything that is needed is here. What is not here is optional: the simulator, the charts "
                          "and the lessons do without."
                        : "Something that is needed is missing; the right column says what to do.");
  io->differs = !healthy;
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
    .options_bytes = sizeof(OutputRequest),
    .sets = SETS,
    .answer = answer,
};
