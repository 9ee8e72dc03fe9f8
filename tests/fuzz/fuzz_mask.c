/* Fuzz target for masks: the first line's "N_q N_k KIND" says the matrix and whether the rest is a name (n), a file of
 * blocks (b) or of lengths (l). What is made is a mask whose tiles and counts agree; else one line says why not. */
#include "tests/fuzz/fuzz.h"
#include "sim/problem/mask.h"

static void check(const Pattern *p) {
  const Shape s = {
      .N_q = p->matrix.N_q, .N_k = p->matrix.N_k, .d = 1, .causal = true, .top_left = p->matrix.top_left, .pattern = p};
  const Mask m = mask_of_shape(&s);
  const MaskTiles all = {7, 5, {0, ceil_div(s.N_q, 7)}, {0, ceil_div(s.N_k, 5)}};
  const MaskCount c = mask_count(&m, &all);
  require(c.full <= c.computed && c.computed <= c.tiles && mask_pairs(&m) <= c.area);
  require(mask_rows_seen(&m, &all).elements <= wide(s.N_q) && mask_queries_seeing(&m) <= wide(s.N_q));
  require(mask_keys_seen(&m) <= wide(s.N_k) && (mask_pairs(&m) > 0) == (c.computed > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char head[32] = "", kind = 'n', *text;
  long N_q = 1, N_k = 1;
  const uint8_t *line = memchr(data, '\n', size);
  if (!line || (size_t)(line - data) >= sizeof head || size > 4096) return 0;
  memcpy(head, data, (size_t)(line - data));
  if (sscanf(head, "%5ld %5ld %c", &N_q, &N_k, &kind) != 3 || N_q < 1 || N_k < 1 || N_q > 4096 || N_k > 4096) return 0;
  const size_t length = size - (size_t)(line + 1 - data);
  if (!(text = malloc(length + 1))) return 0;
  memcpy(text, line + 1, length);
  text[length] = '\0';
  const PatternMatrix matrix = {N_q, N_k, N_q % 2 == 0};
  Error error = {0};
  Pattern *p = kind == 'b'   ? pattern_read(text, length, "f", matrix, &error)
               : kind == 'l' ? pattern_documents(text, length, "f", matrix, &error)
                             : pattern_named(text, matrix, &error);
  if (p) check(p);
  require(p || (*error.message && !strchr(error.message, '\n')));
  free(p);
  free(text);
  return 0;
}
