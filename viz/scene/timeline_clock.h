/* One CTA's clock: when its copies, products and exponentials begin and end. Private to viz/scene. */
#ifndef TILEWALK_VIZ_SCENE_TIMELINE_CLOCK_H
#define TILEWALK_VIZ_SCENE_TIMELINE_CLOCK_H

#include "viz/scene/timeline.h"

/* An event as it is issued: its copies of the places in SRAM, and when what it needs is there. */
typedef struct {
  Event e;
  uint32_t copy[PROGRAM_NAMES_MAX];   /* by the name whose place it is: counted from 1 */
  double from[PROGRAM_CONSUMERS_MAX]; /* what it needs is there, but for */
  NameSet waits;                      /* values that events before it make and that are held */
  bool has_exps;                      /* its exponentials are still to be taken */
} TimelineTurn;

/* When each unit is free again, when each value is there, and when its place in SRAM is free again. Columns, a value a
 * row, take part in neither. Held are the products of a step, and what needs them, until a product of the next step
 * that the launch has beside them has been issued. */
typedef struct {
  double port, products, softmax;
  double ready[PROGRAM_CONSUMERS_MAX][PROGRAM_NAMES_MAX]; /* to each consumer, of its share */
  double open[PROGRAM_NAMES_MAX][PROGRAM_STAGES_MAX];     /* by the name whose place it is, each of its copies */
  uint32_t n_copies[PROGRAM_NAMES_MAX];                   /* of that place, loaded or made ahead so far */
  TimelineTurn held[TIMELINE_HELD_MAX];
  int n_held;
  double last; /* end of everything so far */
} TimelineClock;

/* What each operation reads and sets, for the timeline. Columns are left out: they are there with the tiles that they
 * belong to. */
void timeline_clock_values(Timeline *timeline);

/* Takes one event; returns its bars, and those of what was held. What takes no time has none. */
int timeline_clock_event(const Timeline *timeline, TimelineClock *clock, const Event *event,
                         TimelineBar bars[TIMELINE_EVENT_BARS]);

/* The bars of what is held still. */
int timeline_clock_release(const Timeline *timeline, TimelineClock *clock, TimelineBar *bars);

#endif
