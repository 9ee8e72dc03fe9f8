#include "viz/chart/algorithm_ink.h"
#include "viz/cli/sweep_chart.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/quote.h"
#include "sim/base/size.h"
#include "viz/cli/run_tables.h"
#include "viz/chart/chart_draw.h"
#include "viz/export/surface.h"

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };

static Status set_size(void *target, const char *value, Error *error) {
  ChartRequest *c = target;
  const size_t length = strcspn(value, "xX");
  char width[32];
  int64_t w = 0, h = 0;
  snprintf(width, sizeof width, "%.*s", (int)(length < 31 ? length : 31), value);
  Error inner = {0};
  if (!value[length] || size_parse_count(width, &w, &inner) || size_parse_count(value + length + 1, &h, &inner) ||
      w > 16384 || h > 16384)
    return error_set(error, STATUS_BAD_REQUEST,
                     "'%s' is no size; give WIDTHxHEIGHT in pixels up to 16384, such as 1920x1080",
                     quote(value, strlen(value)).text);
  c->width = (int)w;
  c->height = (int)h;
  c->given = true;
  return STATUS_OK;
}

static Status set_theme(void *target, const char *value, Error *error) {
  ChartRequest *c = target;
  if (!theme_named(value))
    return error_set(error, STATUS_BAD_REQUEST, "'%s' is no theme; there are light and dark",
                     quote(value, strlen(value)).text);
  snprintf(c->theme, sizeof c->theme, "%s", value);
  c->given = true;
  return STATUS_OK;
}

const Option CHART_OPTIONS[] = {
    {"size", 0, "WxH", "Size of the picture in pixels. Default 1280x720.", set_size, false, false, NULL},
    {"theme", 0, "THEME", "light or dark. Default light.", set_theme, false, false, "light dark"},
    {0},
};

Status chart_request_check(const ChartRequest *chart, const OutputRequest *output, Error *error) {
  if (chart->given && !*output->output)
    return error_set(error, STATUS_BAD_REQUEST,
                     "--size and --theme are for pictures; name one with -o FILE.png, .svg or .pdf");
  return STATUS_OK;
}

static bool all_fit(const Sweep *s, int point) {
  for (int k = 0; k < s->n_algorithms; k++)
    if (!s->points[point].runs[k].fits) return false;
  return true;
}

/* Shades the end of the axis where some algorithm's tiles do not fit. For square blocks the border is known to the row;
 * for other axes it lies between two points, and the later one is taken. */
static void shade_misfits(Chart *chart, const Sweep *s) {
  int first = s->n_points;
  while (first > 0 && !all_fit(s, first - 1)) first--;
  if (first == s->n_points || s->n_points < 2) return;
  double from = (double)s->points[first].value;
  if (strcmp(s->axis->name, "block") == 0) {
    for (int k = 0; k < s->n_algorithms; k++) {
      const double border = (double)s->points[first].runs[k].max_block;
      if (border >= (double)s->points[0].value && border < from) from = border;
    }
  }
  chart_shade(chart, from, (double)s->points[s->n_points - 1].value, "does not fit in SRAM");
}

Chart sweep_chart(const Sweep *s, const Request *request) {
  char state[REQUEST_STATE_BYTES], problem[512], title[128];
  run_tables_problem(&s->points[0].runs[0], problem, sizeof problem);
  snprintf(title, sizeof title, "%s against %s",
           s->metric == SWEEP_BOUNDARY && !s->points[0].runs[0].machine.l2_bytes ? "Traffic between SRAM and HBM"
                                                                                 : sweep_metric_title(s->metric),
           s->axis->title);
  title[strcspn(title, ",")] = '\0';
  Chart chart = chart_new(&(ChartConfig){.title = title,
                                         .subtitle = s->axis->subtitle,
                                         .footer = sweep_state(s->axis, request, state),
                                         .x = {.title = s->axis->title, .kind = s->axis->kind, .log = s->n_points > 1},
                                         .y = {.title = s->metric == SWEEP_TIME ? "seconds" : "bytes read and written",
                                               .kind = s->metric == SWEEP_TIME ? VALUE_SECONDS : VALUE_BYTES,
                                               .log = !s->axis->behind_l2}});
  for (int k = 0; k < s->n_algorithms; k++) {
    chart_series(&chart, request->algorithms[k]->name, algorithm_ink(request->algorithms[k]), SERIES_LINE);
    for (int i = 0; i < s->n_points; i++)
      chart_point(&chart, (double)s->points[i].value, sweep_shown(s, &s->points[i].runs[k]));
  }
  if (s->metric == SWEEP_TIME) {
    shade_misfits(&chart, s);
    return chart;
  }
  chart_series(&chart, s->metric != SWEEP_BOUNDARY ? "every byte once" : "lower bound (order)", INK_PURPLE,
               SERIES_REFERENCE);
  for (int i = 0; i < s->n_points; i++) chart_point(&chart, (double)s->points[i].value, s->points[i].lower_bound_bytes);
  shade_misfits(&chart, s);
  return chart;
}

typedef struct {
  const Chart *chart;
  const Theme *theme;
} Picture;

static void draw(cairo_t *cr, double width, double height, const void *data) {
  const Picture *p = data;
  chart_draw(p->chart, cr, width, height, p->theme);
}

Status sweep_chart_save(const Sweep *s, const Request *request, const ChartRequest *how, const char *path,
                        Error *error) {
  char state[REQUEST_STATE_BYTES];
  Chart chart = sweep_chart(s, request);
  const Picture picture = {&chart, *how->theme ? theme_named(how->theme) : &theme_light};
  Status status = chart_check(&chart, error);
  if (!status)
    status = surface_save(
        path, how->width ? how->width : DEFAULT_WIDTH, how->height ? how->height : DEFAULT_HEIGHT, draw, &picture,
        &(SurfaceMetadata){.title = "Tilewalk: traffic", .state = request_state(request, state)}, error);
  chart_free(&chart);
  return status;
}
