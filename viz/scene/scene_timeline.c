/* CTAs in time: some of one head, lane by lane, and all of them on the machine, wave by wave. What the model of time
 * supposes stands below, in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "viz/scene/scene_cache.h"
#include "viz/scene/timeline_view.h"
#include "viz/text/number.h"

/* Whether a launch says how many copies are in flight. */
static bool is_ahead(const Timeline *t) {
  for (int k = 0; k < t->n_kernels; k++)
    if (t->launches[k].ahead) return true;
  return false;
}

static bool has_stages(const Timeline *t) {
  for (int k = 0; k < PROGRAM_KERNELS_MAX; k++)
    for (int n = 0; n < PROGRAM_NAMES_MAX; n++)
      if (t->launches[k].stages[n] > 1) return true;
  return false;
}

static void put_rates(const Timeline *t, const Snapshot *now, char *text, size_t size) {
  snprintf(text, size, "Model: each CTA has its equal part of the peak rates of %s, %s from L2, ", now->gpu.name,
           number_si(t->bytes_per_s * t->stretch, "B/s").text);
  snprintf(text + strlen(text), size - strlen(text), "%s and ", number_si(t->flops_per_s * t->stretch, "FLOP/s").text);
  snprintf(text + strlen(text), size - strlen(text),
           "%s exponentials/s; a tile is loaded once %s in SRAM is free%s. Left out: latency, other vector work, "
           "%sgaps between kernels.",
           number_si(t->exps_per_s * t->stretch, "").text, has_stages(t) ? "one of its places" : "its place",
           is_ahead(t) ? ", a product of the next step is made under the softmax" : "",
           has_stages(t) ? "" : "double buffers, ");
}

/* How long it takes, as sim says it: the same figure. */
static void put_time(const Timeline *t, char *text, size_t size) {
  if (t->predicted_s > 0)
    snprintf(text, size, " All CTAs take the predicted %s; the clocks are stretched to it, ",
             number_seconds(t->predicted_s).text);
  else if (t->least_s > 0)
    snprintf(text, size, " No run is faster than %s; ", number_seconds(t->least_s).text);
  if (t->predicted_s > 0)
    snprintf(text + strlen(text), size - strlen(text), "%s.", number_ratio(t->stretch).text);
  else if (t->least_s > 0)
    snprintf(text + strlen(text), size - strlen(text), "a time is predicted of timed kernels alone (--kernel).");
}

static void model_words(const Timeline *t, const Snapshot *now, char *text, size_t size) {
  const TimelineKernel *k = &t->kernels[0];
  if (t->in_steps)
    snprintf(text, size,
             "Model: %s: one for each event but skips, one after the other. A GPU with all rates, such as --gpu h200, "
             "gives times.",
             t->why_steps);
  else
    put_rates(t, now, text, size);
  put_time(t, text + strlen(text), size - strlen(text));
  if (t->is_assumed)
    snprintf(text + strlen(text), size - strlen(text),
             " The tiles ask for more than an SM has; one CTA on each is drawn all the same.");
  if (k->first_number > 0) {
    snprintf(text + strlen(text), size - strlen(text), " Drawn are the last %s ", number_count((Wide)k->n_pieces).text);
    snprintf(text + strlen(text), size - strlen(text), "of %s CTAs.", number_count((Wide)k->launch.n_pieces).text);
  }
}

static void describe(const Snapshot *now, SceneMemo *memo, char *text, size_t size) {
  Timeline room = {0};
  char words[1024], time[48];
  const Timeline *t = memo_timeline(memo, now, &room);
  const size_t used = strlen(text);
  if (!t->is_known) {
    snprintf(text + used, size - used, "No timeline: %s.\n", t->why_not);
  } else {
    const TimelineMoment m = timeline_now(t, now);
    snprintf(text + used, size - used, "Timeline: %s. Shown is CTA %lld, ", wave_numbers(t, words, sizeof words),
             (long long)timeline_number(t, m.kernel, m.outer) + 1);
    snprintf(text + strlen(text), size - strlen(text), "%s after its start; ",
             time_words(t, m.time, time, sizeof time));
    snprintf(text + strlen(text), size - strlen(text), "it takes %s. All take ",
             time_words(t, timeline_duration(t, m.kernel, m.outer), time, sizeof time));
    snprintf(text + strlen(text), size - strlen(text), "%s.\n", time_words(t, t->whole_s, time, sizeof time));
    model_words(t, now, words, sizeof words);
    snprintf(text + strlen(text), size - strlen(text), "%s\n", words);
  }
  timeline_free(&room);
}

/* Where the present CTA is, and what the GPU waits for. */
static void narrate_ctas(const Timeline *t, const Snapshot *now, Narration *said) {
  const TimelineKernel *k = &t->kernels[0];
  const TimelineMoment m = timeline_now(t, now);
  double longest = 0, shortest = INFINITY;
  char at[48], of[48], most[48], least[48];
  for (int n = 0; n < k->n_samples; n++) {
    longest = fmax(longest, k->sample[n]);
    shortest = fmin(shortest, k->sample[n]);
  }
  time_words(t, m.time, at, sizeof at);
  time_words(t, timeline_duration(t, m.kernel, m.outer), of, sizeof of);
  char *unit = strchr(at, ' ');
  if (unit && strstr(of, unit)) *unit = '\0'; /* said once */
  time_words(t, longest, most, sizeof most);
  time_words(t, shortest, least, sizeof least);
  memset(said, 0, sizeof *said);
  const char *count = number_count((Wide)k->launch.n_pieces).text;
  if (now->has_event)
    snprintf(said->what, sizeof said->what, "CTA %lld of %.40s is at %s of its %s.",
             (long long)timeline_number(t, m.kernel, m.outer) + 1, count, at, of);
  else
    snprintf(said->what, sizeof said->what, "%.40s CTA%s, in %.40s wave%s.", count, k->launch.n_pieces == 1 ? "" : "s",
             number_count((Wide)k->launch.n_waves).text, k->launch.n_waves == 1 ? "" : "s");
  if (longest > 1.05 * shortest)
    snprintf(said->why, sizeof said->why, "The longest takes %s, the shortest %s: the GPU waits for the longest.", most,
             least);
  else if (k->launch.n_waves > 1)
    snprintf(said->why, sizeof said->why, "All take the same time; the last wave fills %.20s of the slots.",
             number_percent(k->launch.tail_fill).text);
  else
    snprintf(said->why, sizeof said->why, "All take the same time, and fill %.20s of the slots.",
             number_percent(k->launch.tail_fill).text);
}

static void tell(const Snapshot *now, SceneMemo *memo, Narration *said) {
  Timeline room = {0};
  const Timeline *t = memo_timeline(memo, now, &room);
  if (t->is_known && t->kernels[0].launch.n_pieces > 0)
    narrate_ctas(t, now, said);
  else
    narrate(now, said);
  timeline_free(&room);
}

static void draw_parts(const Pen *pen, Box body, const Timeline *t) {
  const double u = pen->unit, small = pen_size(pen, TYPE_SMALL);
  char words[1024];
  Box plane;
  if (pen->view->presentation) { /* one idea a screen: the present CTA */
    const TimelineMoment m = timeline_now(t, pen->now);
    draw_lanes(pen, body, t, &m);
    return;
  }
  model_words(t, pen->now, words, sizeof words);
  const Box foot = box_cut_bottom(&body, 2.85 * small, 4 * u);
  pen_paragraph(pen, TYPE_SMALL, pen->theme->ink_soft, foot, words);
  const Box lanes = box_cut_top(&body, 0.56 * body.height, 10 * u);
  const TimelineMoment moment = timeline_now(t, pen->now);
  draw_lanes(pen, lanes, t, &moment);
  memo_draw_still(pen, body, draw_waves, t, &plane);
  if (pen->now->step > 0) draw_wave_mark(pen, plane, t, &moment);
}

static void draw(const Pen *pen) {
  Timeline room = {0};
  if (pen->hit) return; /* nothing here is in another scene too */
  Narration said;
  tell(pen->now, pen->view->memo, &said);
  const Box body = pen_page_told(pen, pen->now->schedule->title, &said);
  const Timeline *t = memo_timeline(pen->view->memo, pen->now, &room);
  if (t->is_known)
    draw_parts(pen, body, t);
  else
    pen_paragraph(pen, TYPE_BODY, pen->theme->ink, body, t->why_not);
  timeline_free(&room);
}

const Scene TIMELINE_SCENE = {
    .title = "CTAs in time, wave by wave", .key = '7', .draw = draw, .narrate = tell, .describe = describe};
