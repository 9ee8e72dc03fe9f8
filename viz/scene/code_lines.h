/* A program's lines as they are shown beside a scene, and which of them an event carries out. */
#ifndef TILEWALK_VIZ_SCENE_CODE_LINES_H
#define TILEWALK_VIZ_SCENE_CODE_LINES_H

#include "sim/algorithms/schedule.h"

enum { CODE_LINE_BYTES = 160 };

typedef struct {
  int indent;
  char text[CODE_LINE_BYTES];
} CodeLine;

/* The lines from the first kernel on: the header says nothing about steps. */
int code_n_lines(const Schedule *schedule);
CodeLine code_line(const Schedule *schedule, int index);

/* The line that an event carries out. */
int code_line_of(const Schedule *schedule, const Event *event);

#endif
