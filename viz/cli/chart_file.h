/* Charts as files, and the options of everything that draws a picture. */
#ifndef TILEWALK_VIZ_CLI_CHART_FILE_H
#define TILEWALK_VIZ_CLI_CHART_FILE_H

#include "viz/chart/bars.h"
#include "viz/chart/chart.h"
#include "viz/cli/io.h"
#include "viz/request/request.h"
#include "viz/scene/kernel_scene.h"

struct KernelWindowOptions; /* viz/window/kernel_window.h */

typedef struct {
  int width, height;               /* 0: 1280 x 720 */
  bool dark, theme_given;          /* which theme */
  char title[120];                 /* "": what the picture shows */
  char x_label[120], y_label[120]; /* "": what the axis shows, with its unit */
  bool given;                      /* one of these was there */
} ChartRequest;

/* Target of each: ChartRequest. */
extern const Option SIZE_OPTIONS[];    /* --size, --theme */
extern const Option PICTURE_OPTIONS[]; /* --title too */
extern const Option CHART_OPTIONS[];   /* --x-label and --y-label too */

/* Refuses any of them without a file to draw into. */
Status chart_request_check(const ChartRequest *chart, const OutputRequest *output, Error *error);

/* How a chart becomes a PNG, SVG or PDF, by the suffix of `path` (-.svg: to `out`), with its title and state as
 * metadata.
 * Io.drawing: only a program that links cairo has it. */
struct Drawing {
  /* Gives the chart the title and labels that were asked for, and draws it. */
  Status (*chart)(Chart *chart, const ChartRequest *how, const char *path, FILE *out, Error *error);
  /* The same of bars, whose title is their own. */
  Status (*bars)(const Bars *bars, const ChartRequest *how, const char *path, FILE *out, Error *error);
  /* A kernel at work. */
  Status (*kernel)(const KernelScene *scene, const ChartRequest *how, const char *path, FILE *out, const char *state,
                   Error *error);
  Status (*kernel_window)(const struct KernelWindowOptions *options, Error *error); /* NULL: there is none */
  const struct Command *render;                                                     /* what draws scenes */
};
extern const Drawing DRAWING; /* without a window */

#endif
