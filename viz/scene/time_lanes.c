#include "viz/scene/time_lanes.h"

#include <stdio.h>

#include "sim/time/spans.h"

/* ---- What follows from the bars -------------------------------------------------------------------------------- */

/* The bars within [from, to], in time; what goes over an end is cut there. */
static void cut_bars(TimeLanes *l) {
  int n = 0;
  for (int k = 0; k < l->n_bars; k++) {
    TimeBar bar = l->bars[k];
    bar.begin = fmax(bar.begin, l->from), bar.end = fmin(bar.end, l->to);
    if (!(bar.end > bar.begin)) continue;
    int at = n++;
    for (; at > 0 && l->bars[at - 1].begin > bar.begin; at--) l->bars[at] = l->bars[at - 1];
    l->bars[at] = bar;
  }
  l->n_bars = n;
}

static bool is_busy(const TimeLanes *l, int lane, double at) {
  for (int k = 0; k < l->n_bars; k++)
    if (l->bars[k].lane == lane && l->bars[k].begin <= at && at < l->bars[k].end) return true;
  return false;
}

/* What the other lanes do while there is no product, at moments as close as pixels. */
static TimeIdle find_why(const TimeLanes *l) {
  enum { MOMENTS = 512 };
  int counts[IDLE_ELSE + 1] = {0}, most = IDLE_ALL_SOFTMAX;
  if (l->idle < 0.005) return IDLE_NEVER;
  if (l->idle == 1) return IDLE_ALWAYS;
  for (int k = 0; k < MOMENTS; k++) {
    const double at = l->from + (l->to - l->from) * (k + 0.5) / MOMENTS;
    int in_softmax = 0;
    if (is_busy(l, l->n_lanes - 1, at)) continue;
    for (int g = 0; g < l->n_groups; g++) in_softmax += is_busy(l, l->n_lanes - 1 - l->n_groups + g, at);
    const bool loads = l->n_lanes > l->n_groups + 1 && is_busy(l, 0, at);
    const TimeIdle why = in_softmax == l->n_groups ? IDLE_ALL_SOFTMAX
                         : in_softmax              ? IDLE_ONE_SOFTMAX
                         : loads                   ? IDLE_LOADS
                                                   : IDLE_ELSE;
    counts[why]++;
  }
  for (int why = IDLE_ONE_SOFTMAX; why <= IDLE_ELSE; why++)
    if (counts[why] > counts[most]) most = why;
  return (TimeIdle)most;
}

static double idle_of(const TimeLanes *l) {
  double busy = 0;
  for (int k = 0; k < l->n_bars; k++)
    if (l->bars[k].lane == l->n_lanes - 1) busy += l->bars[k].end - l->bars[k].begin;
  return l->to > l->from ? 1 - busy / (l->to - l->from) : 0;
}

static void name_lanes(TimeLanes *l, bool loads) {
  if (loads) snprintf(l->lanes[l->n_lanes++], sizeof l->lanes[0], "load");
  for (int g = 1; g <= l->n_groups; g++)
    snprintf(l->lanes[l->n_lanes++], sizeof l->lanes[0], l->n_groups > 1 ? "softmax %d" : "softmax", g);
  snprintf(l->lanes[l->n_lanes++], sizeof l->lanes[0], "tensor cores");
}

static void add_bar(TimeLanes *l, TimeBar bar) {
  if (l->n_bars < TIME_BARS) l->bars[l->n_bars++] = bar;
}

/* ---- As recorded ------------------------------------------------------------------------------------------------ */

static double idle_between(const Pipeline *p, int64_t from, int64_t to) {
  int64_t busy = 0;
  for (int k = 0; k < p->n_tensor; k++) {
    const int64_t begin = p->tensor[k].begin > from ? p->tensor[k].begin : from,
                  end = p->tensor[k].end < to ? p->tensor[k].end : to;
    if (end > begin) busy += end - begin;
  }
  return 1 - (double)busy / (double)(to - from);
}

/* Tiles of the last group, from its product on, that are idle most nearly as long as all. */
static void choose_tiles(const Pipeline *p, int tiles, TimeLanes *l) {
  int64_t starts[PIPELINE_TILES_MAX];
  int n = 0;
  double least = INFINITY;
  for (int k = 0; k < p->n_tensor; k++) {
    const PipelineSpan *s = &p->tensor[k];
    const bool is_new = s->group == p->n_groups - 1 && p->stamps[p->n_groups][s->tile][2] < 0 &&
                        (n == 0 || k == 0 || p->tensor[k - 1].group != s->group || p->tensor[k - 1].tile != s->tile);
    if (is_new && n < PIPELINE_TILES_MAX) starts[n++] = s->begin;
  }
  for (int k = 0; k + tiles < n; k++) {
    const double off = fabs(idle_between(p, starts[k], starts[k + tiles]) - p->idle),
                 usual = (double)(starts[k + tiles] - starts[k]) / (double)(tiles * p->median_tile);
    if (off >= least || usual > 1.5 || usual < 0.7) continue; /* not over the seam of two row blocks */
    least = off;
    l->from = (double)starts[k], l->to = (double)starts[k + tiles];
  }
}

static void take_recorded(const Snapshot *now, int tiles, double happened, TimeLanes *l) {
  const Pipeline *p = now->pipeline;
  l->n_groups = p->n_groups;
  snprintf(l->name, sizeof l->name, "%s", p->kernel->name);
  snprintf(l->note, sizeof l->note, "recorded on an H100, d = %d", p->d);
  name_lanes(l, false);
  choose_tiles(p, tiles, l);
  for (int k = 0; k < p->n_tensor; k++) {
    const PipelineSpan *s = &p->tensor[k];
    if ((double)s->end > l->from && (double)s->begin < l->to)
      add_bar(l, (TimeBar){l->n_groups, s->group + 1, (double)s->begin, (double)s->end, 0, 0});
  }
  for (int k = 0; k < p->n_spans; k++) { /* softmax, and P rounded behind it, are one */
    const PipelineSpan *s = &p->spans[k];
    TimeBar *last = l->n_bars ? &l->bars[l->n_bars - 1] : NULL;
    if ((s->phase != PHASE_SOFTMAX && s->phase != PHASE_ROUND) || (double)s->end <= l->from ||
        (double)s->begin >= l->to)
      continue;
    if (last && last->lane == s->group && last->end == (double)s->begin)
      last->end = (double)s->end;
    else
      add_bar(l, (TimeBar){s->group, s->group + 1, (double)s->begin, (double)s->end, 0, 0});
  }
  const double step = (double)now->step - (now->step > 0 ? 1 - happened : 0);
  l->at = l->from + (l->to - l->from) * (now->n_steps ? step / (double)now->n_steps : 0);
}

/* ---- As modelled ------------------------------------------------------------------------------------------------- */

static uint8_t parity_of(int64_t i, int64_t j) { return (uint8_t)((i + j) & 1); }

/* Where the tiles of a CTA begin: with the first work on a tile that is no load. */
static int find_tiles(const CtaSpan *spans, int n, double *starts) {
  int found = 0;
  for (int k = 0; k < n; k++) {
    bool is_new = spans[k].lane != LANE_LOAD && spans[k].i >= 0 && spans[k].j >= 0;
    for (int before = 0; before < k && is_new; before++)
      is_new = spans[before].lane == LANE_LOAD || spans[before].i != spans[k].i || spans[before].j != spans[k].j;
    if (is_new) starts[found++] = spans[k].start;
  }
  return found;
}

/* The CTA of a pass, first, middle or last, that has most tiles among its first spans. */
static int longest_cta(const SpanModel *model, int pass, CtaSpan *spans, double *starts, int *n_tiles) {
  const int64_t n = place_n_ctas(model->schedule, &model->plan, pass), ctas[] = {0, n / 2, n > 0 ? n - 1 : 0};
  int best = 0, most = -1;
  for (int k = 0; k < 3; k++) {
    const int tiles = find_tiles(spans, cta_spans(model, pass, ctas[k], spans, TIME_BARS), starts);
    if (tiles > most) most = tiles, best = k;
  }
  const int n_spans = cta_spans(model, pass, ctas[best], spans, TIME_BARS);
  *n_tiles = find_tiles(spans, n_spans, starts);
  return n_spans;
}

static void take_modelled(const Snapshot *now, int tiles, double happened, TimeLanes *l) {
  enum { FEW = 4, SETTLED = 8 }; /* tiles: of fewer all is drawn; after so many one is like the next */
  const Event *e = now->has_event ? &now->event : &now->next;
  CtaSpan spans[TIME_BARS];
  double starts[TIME_BARS];
  SpanModel model;
  Simulation run;
  int n_tiles, n = 0;
  if (simulate(&run, &now->problem, now->schedule, NULL)) return;
  span_model(&model, &run, &now->launched, &now->gpu);
  n = longest_cta(&model, now->schedule->whole_head ? 0 : e->pass, spans, starts, &n_tiles);
  for (int k = 0; k < n; k++) {
    if (spans[k].consumer >= l->n_groups) l->n_groups = spans[k].consumer + 1;
    l->to = fmax(l->to, spans[k].end);
  }
  if (l->n_groups < 1) l->n_groups = 1;
  name_lanes(l, true);
  snprintf(l->name, sizeof l->name, "%.40s", run.kernel ? run.kernel->name : now->schedule->title);
  snprintf(l->note, sizeof l->note,
           model.ctas_per_sm > 1 && !*model.why_steps ? "modelled: one of %jd CTAs" : "modelled", model.ctas_per_sm);
  if (n_tiles >= FEW) {
    const int first = n_tiles / 2 < SETTLED ? (n_tiles - tiles) / 2 : SETTLED;
    l->from = starts[first], l->to = starts[first + tiles];
  }
  for (int k = 0; k < n; k++) {
    const CtaSpan *s = &spans[k];
    const int lane = s->lane == LANE_LOAD ? 0 : s->lane == LANE_SOFTMAX ? 1 + s->consumer : l->n_lanes - 1;
    add_bar(l, (TimeBar){lane, s->consumer + 1, s->start, s->end, s->op, parity_of(s->i, s->j)});
  }
  cut_bars(l);
  l->at = now->step == now->n_steps ? l->to : l->from;
  double begin = INFINITY, end = 0;
  for (int k = 0; k < l->n_bars && now->has_event; k++) {
    const TimeBar *bar = &l->bars[k];
    if (bar->op != e->op || (tiles > 1 && bar->parity != parity_of(e->i, e->j))) continue;
    begin = fmin(begin, bar->begin), end = fmax(end, bar->end);
  }
  if (end > begin) l->at = begin + happened * (end - begin);
  l->idle = *model.why_steps ? -1 : 0;
}

void time_lanes(const Snapshot *now, int tiles, double happened, TimeLanes *l) {
  memset(l, 0, sizeof *l);
  (now->pipeline ? take_recorded : take_modelled)(now, tiles, happened, l);
  cut_bars(l);
  if (l->idle < 0) return;
  l->idle = idle_of(l);
  l->why = find_why(l);
}
