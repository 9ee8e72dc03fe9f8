#include "viz/cli/chart_file.h"

#include "viz/chart/chart_draw.h"
#include "viz/export/surface.h"

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };

typedef struct {
  const Chart *chart;
  const Theme *theme;
} Picture;

static void draw(cairo_t *cr, double width, double height, const void *data) {
  const Picture *p = data;
  chart_draw(p->chart, cr, width, height, p->theme);
}

Status chart_file_save(Chart *chart, const ChartRequest *how, const char *path, const char *title, const char *state,
                       Error *error) {
  const Picture picture = {chart, *how->theme ? theme_named(how->theme) : &theme_light};
  if (*how->title) chart_set_title(chart, how->title);
  if (chart_check(chart, error)) return error->status;
  return surface_save(path, how->width ? how->width : DEFAULT_WIDTH, how->height ? how->height : DEFAULT_HEIGHT, draw,
                      &picture, &(SurfaceMetadata){.title = title, .state = state}, error);
}
