/* Each algorithm as a few lines of pseudo-code, and which of them an event carries out. */
#ifndef TILEWALK_VIZ_SCENE_CODE_LINES_H
#define TILEWALK_VIZ_SCENE_CODE_LINES_H

#include "sim/algorithms/schedule.h"

typedef struct {
  int indent;
  const char *text;
} CodeLine;

/* How many lines an algorithm has; 0 for one that is not known here. */
int code_n_lines(const Schedule *schedule);
CodeLine code_line(const Schedule *schedule, int index);

/* The line that an event carries out, or -1. */
int code_line_of(const Schedule *schedule, const Event *event);

#endif
