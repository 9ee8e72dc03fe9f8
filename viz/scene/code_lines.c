#include "viz/scene/code_lines.h"

#include <stdio.h>
#include <string.h>

static int first_line(const Schedule *s) {
  int k = 0;
  while (k < s->n_lines && strncmp(s->text + s->lines[k].begin, "kernel ", 7) != 0) k++;
  return k;
}

int code_n_lines(const Schedule *s) { return s->n_lines - first_line(s); }

CodeLine code_line(const Schedule *s, int index) {
  const int k = first_line(s) + index;
  CodeLine line = {0};
  if (index < 0 || k >= s->n_lines) return line;
  line.indent = s->lines[k].indent;
  line.number = s->lines[k].number;
  snprintf(line.text, sizeof line.text, "%.*s", (int)s->lines[k].length, s->text + s->lines[k].begin);
  return line;
}

Wide code_line_bytes(const Schedule *s, const Plan *plan, int index) {
  return schedule_line_bytes(s, plan, first_line(s) + index);
}

int code_line_of(const Schedule *s, const Event *event) { return event->line - first_line(s); }
