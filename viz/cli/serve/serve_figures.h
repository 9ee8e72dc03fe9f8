/* The figures of `tilewalk serve`: one list, from which its table, its JSON and its CSV are printed. */
#ifndef TILEWALK_VIZ_CLI_SERVE_SERVE_FIGURES_H
#define TILEWALK_VIZ_CLI_SERVE_SERVE_FIGURES_H

#include "sim/serving.h"
#include "viz/document/document.h"
#include "viz/request/request.h"

/* A complete request. */
typedef struct {
  KvModel model;
  Gpu gpu;
  Profile kernel;
  bool has_kernel;
  KvCache whole;         /* the model's cache, of all GPUs together */
  Serving serving;       /* points to the above: serve_point() after a copy */
  Lengths *lengths;      /* of the sequences that decode, ascending */
  int64_t prompt, chunk; /* of a new sequence; chunk 0: all at once */
  int64_t prefix;        /* tokens that all sequences begin with */
  Evict evict;
} ServeRequest;

void serve_point(ServeRequest *request);

typedef enum {
  FIGURE_BYTES = 0,
  FIGURE_SECONDS,
  FIGURE_FLOPS,
  FIGURE_COUNT,
  FIGURE_RATE,
  FIGURE_RATIO,
  FIGURE_WORD
} FigureForm;

/* One figure, with what it is and what it comes from. */
typedef struct {
  const char *section, *key, *label;
  FigureForm form;
  double value;     /* bytes, seconds, FLOPs, ... */
  const char *word; /* FIGURE_WORD */
  const char *kind; /* "counted", "bound", "predicted", "extrapolated", "assumed"; "": none */
  char from[120];
} Figure;

enum { FIGURES_MAX = 64 };
typedef struct {
  Figure list[FIGURES_MAX];
  int n;
} Figures;

/* Computes all of them; times only where weights and caches fit. Errors: as those of sim/serving.h. */
Status serve_figures(const ServeRequest *request, Figures *figures, Error *error);

/* A figure by "section.key"; NULL: there is none. */
const Figure *serve_figure(const Figures *figures, const char *path);

void serve_fill(Document *document, const ServeRequest *request, const Figures *figures);

#endif
