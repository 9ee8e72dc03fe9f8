#include "viz/scene/code_lines.h"

#include <string.h>

enum { ANY = 0xff };

/* A line, and the events it stands for: of a pass, a kind and a tensor, or any. */
typedef struct {
  CodeLine line;
  uint8_t pass, kind, tensor;
} Row;

enum { NOTHING = 0xfe };
#define TEXT(indent, text)                                                                                             \
  { {indent, text}, NOTHING, ANY, ANY }

#define LINES(name, ...)                                                                                               \
  static const Row name##_ROWS[] = {__VA_ARGS__};                                                                      \
  enum { name##_N = sizeof name##_ROWS / sizeof *name##_ROWS }

LINES(STANDARD, TEXT(0, "for i, j:            pass 1"), {{1, "load Q_i"}, 0, EVENT_LOAD, TENSOR_Q},
      {{1, "load K_j            once"}, 0, EVENT_LOAD, TENSOR_K}, {{1, "S = Q_i K_jᵀ / √d"}, 0, EVENT_PRODUCT, ANY},
      {{1, "mask S"}, 0, EVENT_MASK, ANY}, {{1, "store S_ij"}, 0, EVENT_STORE, ANY},
      TEXT(0, "for i, j:            pass 2"), {{1, "load S_ij"}, 1, EVENT_LOAD, ANY},
      {{1, "m = max(m, row max of S)"}, 1, EVENT_NEW_MAX, ANY}, {{1, "P = e^(S − m) / l"}, 1, EVENT_NORMALISE, ANY},
      {{1, "store P_ij"}, 1, EVENT_STORE, ANY}, TEXT(0, "for i, j:            pass 3"),
      {{1, "load P_ij"}, 2, EVENT_LOAD, TENSOR_P}, {{1, "load V_j            once"}, 2, EVENT_LOAD, TENSOR_V},
      {{1, "O += P V_j"}, 2, EVENT_ACCUMULATE, ANY}, {{1, "store O_i"}, 2, EVENT_STORE, ANY}, );

LINES(FA1, {{0, "for i: store O_i = 0, l, m"}, 0, EVENT_STORE, ANY}, TEXT(0, "for j in column blocks:"),
      {{1, "load K_j"}, 1, EVENT_LOAD, TENSOR_K}, {{1, "load V_j"}, 1, EVENT_LOAD, TENSOR_V},
      TEXT(1, "for i in row blocks:"), {{2, "if masked: skip"}, 1, EVENT_SKIP, ANY},
      {{2, "load Q_i"}, 1, EVENT_LOAD, TENSOR_Q}, {{2, "load O_i"}, 1, EVENT_LOAD, TENSOR_O},
      {{2, "load m, l"}, 1, EVENT_LOAD, TENSOR_STATS}, {{2, "S = Q_i K_jᵀ / √d"}, 1, EVENT_PRODUCT, ANY},
      {{2, "mask S"}, 1, EVENT_MASK, ANY}, {{2, "m′ = max(m, row max of S)"}, 1, EVENT_NEW_MAX, ANY},
      {{2, "l, O ×= e^(m − m′)"}, 1, EVENT_RESCALE, ANY}, {{2, "P = e^(S − m′); O += P V_j"}, 1, EVENT_ACCUMULATE, ANY},
      {{2, "O_i = O / l"}, 1, EVENT_NORMALISE, ANY}, {{2, "store O_i"}, 1, EVENT_STORE, TENSOR_O},
      {{2, "store m, l"}, 1, EVENT_STORE, TENSOR_STATS}, );

LINES(FA2, TEXT(0, "for i in row blocks:"), {{1, "load Q_i;  O, l = 0, m = −∞"}, 0, EVENT_LOAD, TENSOR_Q},
      TEXT(1, "for j in column blocks:"), {{2, "if masked: skip"}, 0, EVENT_SKIP, ANY},
      {{2, "load K_j"}, 0, EVENT_LOAD, TENSOR_K}, {{2, "S = Q_i K_jᵀ / √d"}, 0, EVENT_PRODUCT, ANY},
      {{2, "mask S"}, 0, EVENT_MASK, ANY}, {{2, "m′ = max(m, row max of S)"}, 0, EVENT_NEW_MAX, ANY},
      {{2, "l, O ×= e^(m − m′)"}, 0, EVENT_RESCALE, ANY}, {{2, "load V_j"}, 0, EVENT_LOAD, TENSOR_V},
      {{2, "P = e^(S − m′); O += P V_j"}, 0, EVENT_ACCUMULATE, ANY}, {{1, "O_i = O / l"}, 0, EVENT_NORMALISE, ANY},
      {{1, "store O_i"}, 0, EVENT_STORE, TENSOR_O}, {{1, "store m + log l   (lse)"}, 0, EVENT_STORE, TENSOR_STATS}, );

LINES(FA2_SPLIT, TEXT(0, "for i, split s:"), {{1, "load Q_i;  O, l = 0, m = −∞"}, 0, EVENT_LOAD, TENSOR_Q},
      TEXT(1, "for j in split s:"), {{2, "if masked: skip"}, 0, EVENT_SKIP, ANY},
      {{2, "load K_j"}, 0, EVENT_LOAD, TENSOR_K}, {{2, "S = Q_i K_jᵀ / √d"}, 0, EVENT_PRODUCT, ANY},
      {{2, "mask S"}, 0, EVENT_MASK, ANY}, {{2, "m′ = max(m, row max of S)"}, 0, EVENT_NEW_MAX, ANY},
      {{2, "l, O ×= e^(m − m′)"}, 0, EVENT_RESCALE, ANY}, {{2, "load V_j"}, 0, EVENT_LOAD, TENSOR_V},
      {{2, "P = e^(S − m′); O += P V_j"}, 0, EVENT_ACCUMULATE, ANY}, {{1, "O = O / l"}, 0, EVENT_NORMALISE, ANY},
      {{1, "store part of O_i, m + log l"}, 0, EVENT_STORE, ANY}, TEXT(0, "for i:               combine"),
      {{1, "load m + log l of split s"}, 1, EVENT_LOAD, TENSOR_STATS},
      {{1, "m = max over splits"}, 1, EVENT_NEW_MAX, ANY}, {{1, "load part s of O_i"}, 1, EVENT_LOAD, TENSOR_O},
      {{1, "O += e^(lse_s − m) O_s"}, 1, EVENT_ACCUMULATE, ANY}, {{1, "O = O / l"}, 1, EVENT_NORMALISE, ANY},
      {{1, "store O_i"}, 1, EVENT_STORE, ANY}, );

static const struct {
  const char *schedule;
  const Row *rows;
  int n;
} TEXTS[] = {
    {"standard", STANDARD_ROWS, STANDARD_N},
    {"fa1", FA1_ROWS, FA1_N},
    {"fa2", FA2_ROWS, FA2_N},
    {"fa2-split", FA2_SPLIT_ROWS, FA2_SPLIT_N},
};

int code_n_lines(const Schedule *schedule) {
  for (size_t k = 0; k < sizeof TEXTS / sizeof *TEXTS; k++)
    if (strcmp(TEXTS[k].schedule, schedule->name) == 0) return TEXTS[k].n;
  return 0;
}

CodeLine code_line(const Schedule *schedule, int index) {
  for (size_t k = 0; k < sizeof TEXTS / sizeof *TEXTS; k++)
    if (strcmp(TEXTS[k].schedule, schedule->name) == 0 && index >= 0 && index < TEXTS[k].n)
      return TEXTS[k].rows[index].line;
  return (CodeLine){0, ""};
}

int code_line_of(const Schedule *schedule, const Event *event) {
  for (size_t k = 0; k < sizeof TEXTS / sizeof *TEXTS; k++) {
    if (strcmp(TEXTS[k].schedule, schedule->name) != 0) continue;
    for (int n = 0; n < TEXTS[k].n; n++) {
      const Row *row = &TEXTS[k].rows[n];
      if (row->pass == event->pass && row->kind == event->kind && (row->tensor == ANY || row->tensor == event->tensor))
        return n;
    }
  }
  return -1;
}
