/* Figures of an answer, each said once; the document writes what its form shows of them.
 *
 *     Figures f = figures_new(&d, true, " |value>|kind|from~", "memory.kv_bytes");
 *     figures_section(&f, "memory", "Memory of each GPU");
 *     figures_add(&f, "kv_bytes:W counted|KV cache|kvcache: {w} tokens", bytes, tokens);
 *
 * JSON has the value at memory.kv_bytes, or an object of value, unit, kind and reason where figures tell their kinds;
 * CSV a line; people a row. Without a label people do not see it; without a path programs do not. */
#ifndef TILEWALK_VIZ_DOCUMENT_FIGURES_H
#define TILEWALK_VIZ_DOCUMENT_FIGURES_H

#include "sim/answer/figure.h"
#include "viz/document/document.h"

typedef struct {
  FigureUnit unit; /* none: null */
  Wide whole;
  double real; /* written as the whole number where it is one and counts things */
  const char *word;
  TextRole role;
} FigureValue;

#define IN_COUNT(n)   ((FigureValue){UNIT_COUNT, .whole = (Wide)(n), .real = (double)(n)})
#define IN_BYTES(n)   ((FigureValue){UNIT_BYTES, .whole = (Wide)(n), .real = (double)(n)})
#define IN_FLOPS(n)   ((FigureValue){UNIT_FLOPS, .whole = (Wide)(n), .real = (double)(n)})
#define IN_SECONDS(x) ((FigureValue){UNIT_SECONDS, .real = (x)})
#define IN_RATE(x)    ((FigureValue){UNIT_RATE, .real = (x)})
#define IN_RATIO(x)   ((FigureValue){UNIT_RATIO, .real = (x)})
#define IN_SHARE(x)   ((FigureValue){UNIT_SHARE, .real = (x)})
#define IN_WORD(text) ((FigureValue){UNIT_WORD, .word = (text)})

typedef struct {
  Document *document;
  Table *table;
  const char *section; /* begins the paths; NULL: none */
  const char *first;   /* " PATH PATH " that people see without --details; those without a path they always see */
  bool tells_kinds, is_muted;
} Figures;

/* The same value in a role. */
static inline FigureValue figure_in(TextRole role, FigureValue value) {
  value.role = role;
  return value;
}

/* As people read it; and the next cell of a table. */
Number figure_shown(const FigureValue *value);
void figure_cell(Table *table, const FigureValue *value);

/* One table for people, of these columns: label, value, kind where it is told, reason. Of CSV with kinds alone. */
Figures figures_new(Document *document, bool tells_kinds, const char *columns, const char *first);

/* What follows is below `section`; a heading stands over its rows. */
void figures_section(Figures *figures, const char *section, const char *title);

/* Figures by a pattern, a line each: PATH:TYPE KIND|LABEL|WHY, whose arguments come in this order. TYPE is a letter of
 * report_value, of a count, or its capital: of bytes; and of doubles f and F, the same, t seconds, o FLOPs, x a ratio,
 * r a rate, % a share. Before it * is an accent, @ that the role is an argument. In KIND, LABEL and WHY {TYPE} stands
 * for the next one; d is an i without separators. */
void figures_add(const Figures *figures, const char *pattern, ...);

#endif
