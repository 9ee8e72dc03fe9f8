/* A program's lines as they are shown beside a scene, and which of them an event carries out. */
#ifndef TILEWALK_VIZ_SCENE_CODE_LINES_H
#define TILEWALK_VIZ_SCENE_CODE_LINES_H

#include "sim/algorithms/schedule.h"

enum { CODE_LINE_BYTES = 160 };

typedef struct {
  int indent, number; /* the number is that of the file, from 1 */
  char text[CODE_LINE_BYTES];
} CodeLine;

/* The lines from the first kernel on: the header says nothing about steps. */
int code_n_lines(const Schedule *schedule);
CodeLine code_line(const Schedule *schedule, int index);

/* The bytes that it moves in a whole run of one head. */
Wide code_line_bytes(const Schedule *schedule, const Plan *plan, int index);

/* The line that an event carries out. */
int code_line_of(const Schedule *schedule, const Event *event);

#endif
