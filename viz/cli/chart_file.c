#include "viz/cli/chart_file.h"

#include "viz/chart/bars_draw.h"
#include "viz/chart/chart_draw.h"
#include "viz/export/surface.h"
#include "viz/scene/kernel_scene_draw.h"

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };

typedef struct {
  const Chart *chart; /* or bars */
  const Bars *bars;
  const KernelScene *kernel;
  const Theme *theme;
} Picture;

static void draw(cairo_t *cr, double width, double height, const void *data) {
  const Picture *p = data;
  if (p->kernel)
    kernel_scene_draw(p->kernel, cr, width, height, p->theme);
  else if (p->chart)
    chart_draw(p->chart, cr, width, height, p->theme);
  else
    bars_draw(p->bars, cr, width, height, p->theme);
}

static Status save(const Picture *picture, const ChartRequest *how, const char *path, FILE *out, const char *title,
                   const char *state, Error *error) {
  return surface_put(path, out, how->width ? how->width : DEFAULT_WIDTH, how->height ? how->height : DEFAULT_HEIGHT,
                     draw, picture, &(SurfaceMetadata){.title = title, .state = state}, error);
}

static const Theme *theme_of(const ChartRequest *how) { return how->dark ? &theme_dark : &theme_light; }

static Status save_chart(Chart *chart, const ChartRequest *how, const char *path, FILE *out, Error *error) {
  if (*how->title) chart_set_title(chart, how->title);
  chart_set_labels(chart, how->x_label, how->y_label);
  if (chart_check(chart, error)) return error->status;
  return save(&(Picture){.chart = chart, .theme = theme_of(how)}, how, path, out, chart_text(chart, chart->title),
              chart_text(chart, chart->footer), error);
}

static Status save_bars(const Bars *bars, const ChartRequest *how, const char *path, FILE *out, Error *error) {
  if (bars->status) return error_set(error, bars->status, "no memory for a picture of bars");
  return save(&(Picture){.bars = bars, .theme = theme_of(how)}, how, path, out, bars_text(bars, bars->title),
              bars_text(bars, bars->footer), error);
}

static Status save_kernel(const KernelScene *scene, const ChartRequest *how, const char *path, FILE *out,
                          const char *state, Error *error) {
  return save(&(Picture){.kernel = scene, .theme = theme_of(how)}, how, path, out, scene->title, state, error);
}

extern const struct Command COMMAND_RENDER;
const Drawing DRAWING = {.chart = save_chart, .bars = save_bars, .kernel = save_kernel, .render = &COMMAND_RENDER};
