/* tilewalk doctor: what is here, what is missing, what to install. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <cairo.h>
#include <jansson.h>
#include <pango/pangocairo.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "viz/request/assets.h"
#include "viz/cli/command.h"
#include "viz/cli/json_sink.h"
#include "viz/request/request.h"
#include "viz/text/table.h"

typedef struct {
  OutputRequest output;
} DoctorOptions;

enum { FOUND_CHARS = 256, N_CHECKS_MAX = 16 };

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

static int collect(Check *checks) {
  int n = 0;
  checks[n++] = (Check){.what = "cairo", .used_for = "charts and scenes", .present = true, .required = true};
  snprintf(checks[n - 1].found, FOUND_CHARS, "%s", cairo_version_string());
  checks[n++] = (Check){.what = "pango", .used_for = "text in charts and scenes", .present = true, .required = true};
  snprintf(checks[n - 1].found, FOUND_CHARS, "%s", pango_version_string());
  checks[n++] = (Check){.what = "jansson", .used_for = "JSON", .present = true, .required = true};
  snprintf(checks[n - 1].found, FOUND_CHARS, "%s", jansson_version_str());
  checks[n++] = fonts();
  checks[n++] = data_files();
  checks[n++] = program("nvcc", "/usr/local/cuda/bin", "building the CUDA kernels", "install NVIDIA's CUDA Toolkit 13");
  checks[n++] = program("nvidia-smi", "", "running the CUDA kernels", "an NVIDIA GPU and its driver");
  checks[n++] = program("ncu", "/usr/local/cuda/bin", "hardware counters", "install Nsight Compute");
  checks[n++] = program("clang-14", "", "make web: the viewer as web pages",
                        "'make web' installs clang-14, lld-14, wasi-libc and libclang-rt-14-dev-wasm32");
  checks[n++] = program("wasm-ld-14", "", "make web", "apt-get install lld-14");
  checks[n++] = program("chromium", "", "make test-web: the pages in a browser", "apt-get install chromium nodejs");
  return n;
}

static Status print_json(const Check *checks, int n, FILE *out, Error *error) {
  json_t *all = json_array();
  for (int k = 0; k < n; k++) {
    const Check *c = &checks[k];
    json_t *one =
        json_pack("{s:s, s:b, s:b, s:s, s:s, s:s?}", "what", c->what, "present", c->present, "required", c->required,
                  "found", c->found, "used_for", c->used_for, "remedy", c->present ? NULL : c->remedy);
    if (!all || !one || json_array_append_new(all, one)) {
      json_decref(all);
      return error_set(error, STATUS_NO_MEMORY, "no memory for the JSON output");
    }
  }
  return json_print(json_pack("{s:o}", "checks", all), out, error);
}

static int run_doctor(void *options, Io *io, Error *error) {
  const DoctorOptions *o = options;
  Check checks[N_CHECKS_MAX];
  const int n = collect(checks);
  bool healthy = true;
  for (int k = 0; k < n; k++) healthy = healthy && (checks[k].present || !checks[k].required);
  if (output_request_check(&o->output, error)) return EXIT_BAD_REQUEST;
  if (o->output.json) {
    if (print_json(checks, n, io->out, error)) return EXIT_BAD_REQUEST;
    return healthy ? EXIT_DONE : EXIT_DIFFERS;
  }
  Table t = table_new((TableColumn[]){{.heading = "part"},
                                      {.heading = "used for", .shrink = TABLE_WRAP},
                                      {.heading = "state"},
                                      {.heading = "found, or what to do", .shrink = TABLE_WRAP}},
                      4);
  for (int k = 0; k < n; k++) {
    const Check *c = &checks[k];
    table_text(&t, ROLE_PLAIN, c->what);
    table_text(&t, ROLE_PLAIN, c->used_for);
    table_text(&t,
               c->present    ? ROLE_GOOD
               : c->required ? ROLE_BAD
                             : ROLE_DIM,
               c->present    ? "here"
               : c->required ? "missing"
                             : "not here");
    table_text(&t, ROLE_PLAIN, c->present ? c->found : c->remedy);
  }
  table_note(&t, healthy ? "Everything that is needed is here. What is not here is optional: the simulator, the charts "
                           "and the lessons do without."
                         : "Something that is needed is missing; the right column says what to do.");
  const Status status = o->output.csv ? table_csv(&t, io->out, error) : table_print(&t, io->out, &io->style, error);
  table_free(&t);
  if (status) return EXIT_BAD_REQUEST;
  return healthy ? EXIT_DONE : EXIT_DIFFERS;
}

static const OptionSet SETS[] = {
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(DoctorOptions, output)},
    {0},
};

const Command COMMAND_DOCTOR = {
    .name = "doctor",
    .summary = "what is installed, what is missing, what to install",
    .usage = "[--json]",
    .description = "Looks at libraries, fonts, data files and the CUDA tools. Exit status 1 when something that is "
                   "needed is missing; what is "
                   "only optional does not count.",
    .examples = "  tilewalk doctor\n",
    .options_bytes = sizeof(DoctorOptions),
    .sets = SETS,
    .run = run_doctor,
};
