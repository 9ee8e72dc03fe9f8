/* The two panels of the timeline. Internal to viz/scene. */
#ifndef TILEWALK_VIZ_SCENE_TIMELINE_VIEW_H
#define TILEWALK_VIZ_SCENE_TIMELINE_VIEW_H

#include "viz/chart/ticks.h"
#include "viz/scene/pen.h"
#include "viz/scene/timeline.h"

/* Some CTAs of the head side by side, lane by lane. */
void draw_lanes(const Pen *pen, Box box, const Timeline *timeline, const TimelineMoment *moment);

/* All CTAs on the slots of the machine; a DrawStill. */
void draw_waves(const Pen *pen, Box box, const void *timeline, Box *plane);

/* "1,024 CTAs on 132 SMs × 1 slots: 8 waves, the last 75.8% full; slots busy 96.2% of the time". Returns text. */
const char *wave_numbers(const Timeline *timeline, char *text, size_t size);

/* The present CTA and moment on top of it. */
void draw_wave_mark(const Pen *pen, Box plane, const Timeline *timeline, const TimelineMoment *moment);

/* Ticks of a time from `from` to `to` below a plane; `height` is the grid's above. */
void draw_time_axis(const Pen *pen, Box plane, const Timeline *timeline, double from, double to);

/* "3.2 us", or "40 steps". Returns text. */
const char *time_words(const Timeline *timeline, double time, char *text, size_t size);

#endif
