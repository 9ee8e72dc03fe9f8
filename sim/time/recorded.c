#include "sim/time/recorded.h"

#include <stdlib.h>

#include "sim/base/checked.h"
#include "sim/base/quote.h"

/* Of an H100's SM, dense, fp16: 989.4 TFLOP/s at 132 SMs and 1,830 MHz (data sheet). */
enum { PEAK_FLOPS_PER_CYCLE = 4096 };

/* mma.sync reaches 1 / 1.6 of what wgmma does (kernels/ladder/fa2_async.cu). */
static const PipelineKernel KERNELS[] = {
    {.name = "fa3_overlap",
     .group = "Warpgroup",
     .slots = {"K tile", "V tile"},
     .rate = 1,
     .rows = 64,
     .keys_64 = 128,
     .keys_128 = 128,
     .phases = {{1, PHASE_PRODUCTS, "products"},
                {4, PHASE_SOFTMAX, "softmax"},
                {5, PHASE_ROUND, "round P"},
                {7, PHASE_WAIT, "wait"},
                {10, PHASE_ROUND, "store O"},
                {13, PHASE_WAIT, "wait"}},
     .products = {{1, 2}},
     .lags = true},
    {.name = "fa2_wgmma",
     .group = "Warpgroup",
     .slots = {"K tile", "V tile"},
     .rate = 1,
     .rows = 64,
     .keys_64 = 128,
     .keys_128 = 128,
     .phases = {{1, PHASE_PRODUCTS, "scores"},
                {4, PHASE_SOFTMAX, "softmax"},
                {5, PHASE_ROUND, "round P"},
                {7, PHASE_WAIT, "wait"},
                {8, PHASE_PRODUCTS, "P V"},
                {10, PHASE_WAIT, "wait"},
                {13, PHASE_WAIT, "wait"}},
     .products = {{1, 1}, {8, 1}}},
    {.name = "fa2_async",
     .group = "CTA",
     .rate = 1 / 1.6,
     .rows = 128,
     .keys_64 = 128,
     .keys_128 = 64,
     .phases = {{1, PHASE_ROUND, "copies"},
                {3, PHASE_PRODUCTS, "scores"},
                {4, PHASE_SOFTMAX, "softmax"},
                {5, PHASE_PRODUCTS, "P V"},
                {10, PHASE_WAIT, "wait"},
                {13, PHASE_WAIT, "wait"}},
     .products = {{3, 1}, {5, 1}}},
    {.name = "fa3_backward",
     .group = "Warpgroup",
     .slots = {"dO tile", "Q tile"},
     .rate = 1,
     .rows = 64,
     .keys_64 = 128,
     .keys_128 = 64,
     .phases = {{1, PHASE_PRODUCTS, "scores"},
                {4, PHASE_SOFTMAX, "exp"},
                {5, PHASE_PRODUCTS, "dP"},
                {6, PHASE_ROUND, "dS"},
                {7, PHASE_WAIT, "meet"},
                {8, PHASE_PRODUCTS, "dV, dQ"},
                {10, PHASE_ROUND, "+= dQ"},
                {11, PHASE_PRODUCTS, "dK"},
                {12, PHASE_WAIT, "wait"}},
     .products = {{1, 2}, {8, 2}, {9, 1}}},
};

const PipelineKernel *pipeline_kernel(const char *name) {
  for (size_t k = 0; k < COUNT_OF(KERNELS); k++)
    if (strcmp(KERNELS[k].name, name) == 0) return &KERNELS[k];
  return NULL;
}

/* ---- Reading --------------------------------------------------------------------------------------------- */

static Status refuse(const char *name, int line, const char *what, Error *error) {
  return error_set(error, STATUS_BAD_FILE, "%s:%d: %s", quote_text(name).text, line, what);
}

/* `before`, and a number behind it; *at is then what follows. */
static bool take_number(const char **at, const char *before, int64_t *value) {
  const size_t length = strlen(before);
  const char *from = *at + length;
  if (strncmp(*at, before, length) || *from < '0' || *from > '9') return false;
  char *end;
  *value = strtoll(from, &end, 10);
  *at = end;
  return true;
}

static void take_head(Pipeline *p, const char *line) {
  for (const char *at = strstr(line, "kernel "); at; at = strstr(at + 1, "kernel ")) {
    char kernel[32] = "";
    const size_t length = strcspn(at + 7, " ");
    const char *rest = at + 7 + length;
    int64_t heads, N, d, causal;
    if (length >= sizeof kernel || !take_number(&rest, " heads ", &heads) || !take_number(&rest, " N ", &N) ||
        !take_number(&rest, " d ", &d) || !take_number(&rest, " causal ", &causal) || heads > INT32_MAX ||
        N > INT32_MAX || d > INT32_MAX)
      continue;
    memcpy(kernel, at + 7, length);
    p->kernel = pipeline_kernel(kernel);
    p->heads = (int)heads;
    p->N = (int)N;
    p->d = (int)d;
    p->causal = causal != 0;
  }
}

static Status take_line(Pipeline *p, const char *line, const char *name, int number, Error *error) {
  int64_t role, tile, id, cycles;
  const char *at = line;
  if (*line == '#') {
    take_head(p, line);
    return STATUS_OK;
  }
  if (!*line || strcmp(line, "role,tile,id,cycles") == 0) return STATUS_OK;
  if (!take_number(&at, "", &role) || !take_number(&at, ",", &tile) || !take_number(&at, ",", &id) ||
      !take_number(&at, ",", &cycles) || *at)
    return refuse(name, number, "a stamp is four whole numbers from 0 on: role,tile,id,cycles", error);
  if (role >= PIPELINE_ROLES_MAX || tile >= PIPELINE_TILES_MAX || id >= PIPELINE_IDS || cycles > 999999999999)
    return refuse(name, number, "roles are 0 to 3, tiles 0 to 255, ids 0 to 14, and cycles have at most 12 digits",
                  error);
  if (p->stamps[role][tile][id] >= 0) return refuse(name, number, "this stamp is there twice", error);
  p->stamps[role][tile][id] = cycles;
  if (tile >= p->n_tiles[role]) p->n_tiles[role] = (int)tile + 1;
  if (cycles > p->end) p->end = cycles;
  return STATUS_OK;
}

/* Every consumer's tiles have the stamps that phases are between, and time goes forward. */
static Status check(const Pipeline *p, const char *name, Error *error) {
  static const int NEEDED[] = {1, 4};
  if (!p->kernel || !p->n_groups || p->N <= 0 || p->d <= 0 || p->d > 1 << 16 || p->heads <= 0)
    return refuse(name, 1, "no line says 'kernel NAME heads H N N d D causal C', or no warpgroup has a stamp", error);
  for (int g = 1; g <= p->n_groups; g++) {
    int64_t before = -1;
    for (int t = 0; t < p->n_tiles[g]; t++)
      for (int k = 0; k < 2; k++) {
        const int64_t at = p->stamps[g][t][NEEDED[k]];
        if (at < before || at < 0) return refuse(name, 1, "a warpgroup lacks a stamp, or its time goes back", error);
        before = at;
      }
  }
  return STATUS_OK;
}

/* ---- What follows ------------------------------------------------------------------------------------------ */

static bool is_first_of_block(const Pipeline *p, int role, int tile) { return p->stamps[role][tile][2] >= 0; }

static void add_span(PipelineSpan *spans, int *n, PipelineSpan span) {
  if (*n < PIPELINE_SPANS_MAX && span.end > span.begin && span.begin >= 0) spans[(*n)++] = span;
}

/* Each phase from its stamp to the next that is there. */
static void find_phases(Pipeline *p) {
  for (int g = 1; g <= p->n_groups; g++)
    for (int t = 0; t < p->n_tiles[g]; t++) {
      const int64_t *at = p->stamps[g][t];
      PipelineSpan span = {-1, -1, g - 1, t, PHASE_WAIT, NULL};
      for (int k = 0; p->kernel->phases[k].word; k++) {
        const int64_t begin = at[p->kernel->phases[k].id];
        if (begin < 0) continue;
        span.end = begin;
        add_span(p->spans, &p->n_spans, span);
        span = (PipelineSpan){begin, begin, g - 1, t, p->kernel->phases[k].phase, p->kernel->phases[k].word};
      }
      if (t + 1 < p->n_tiles[g]) span.end = p->stamps[g][t + 1][1];
      add_span(p->spans, &p->n_spans, span);
    }
}

static int by_begin(const void *a, const void *b) {
  const PipelineSpan *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return x->group - y->group;
}

static void add_products(Pipeline *p, int group, int tile, int64_t at, int count, int64_t one) {
  if (at >= 0)
    add_span(p->tensor, &p->n_tensor, (PipelineSpan){at, at + count * one, group, tile, PHASE_PRODUCTS, "products"});
}

/* Each from the moment that it is asked for, when the one before is done. Where P V lags: S alone of a row block's
 * first tile; S and P V of the tile before; P V alone behind the last. */
static void find_products(Pipeline *p) {
  const PipelineKernel *of = p->kernel;
  const int64_t macs = (int64_t)of->rows * (p->d == 64 ? of->keys_64 : of->keys_128) * p->d,
                one = (int64_t)((double)(2 * macs) / PEAK_FLOPS_PER_CYCLE / of->rate + 0.5);
  for (int n = 0; n < 4; n++) p->product_cycles += of->products[n].count * one;
  for (int g = 1; g <= p->n_groups; g++)
    for (int t = 0; t < p->n_tiles[g]; t++) {
      const bool first = is_first_of_block(p, g, t), last = t + 1 == p->n_tiles[g] || is_first_of_block(p, g, t + 1);
      const int64_t *at = p->stamps[g][t];
      for (int n = 0; n < 4 && of->products[n].count; n++)
        add_products(p, g - 1, t, at[of->products[n].id], of->products[n].count - (of->lags && first), one);
      if (of->lags && last) add_products(p, g - 1, t, at[7], 1, one);
    }
  qsort(p->tensor, (size_t)p->n_tensor, sizeof *p->tensor, by_begin);
  int64_t free_at = 0;
  for (int k = 0; k < p->n_tensor; k++) {
    const int64_t length = p->tensor[k].end - p->tensor[k].begin;
    if (p->tensor[k].begin < free_at) p->tensor[k].begin = free_at;
    free_at = p->tensor[k].end = p->tensor[k].begin + length;
  }
}

static int64_t busy_between(const Pipeline *p, int64_t from, int64_t to) {
  int64_t busy = 0;
  for (int k = 0; k < p->n_tensor; k++) {
    const int64_t begin = p->tensor[k].begin > from ? p->tensor[k].begin : from,
                  end = p->tensor[k].end < to ? p->tensor[k].end : to;
    if (end > begin) busy += end - begin;
  }
  return busy;
}

/* The tiles [*begin, *end) of the first of the longest row blocks. */
static void longest_block(const Pipeline *p, int group, int *begin, int *end) {
  *begin = *end = 0;
  for (int from = 0, t = 1; from < p->n_tiles[group]; t++) {
    if (t < p->n_tiles[group] && !is_first_of_block(p, group, t)) continue;
    if (t - from > *end - *begin) *begin = from, *end = t;
    from = t;
  }
}

/* Its tiles but the first two and the last: where the pipeline is full. */
static void steady(const Pipeline *p, int64_t *from, int64_t *to) {
  const int g = p->n_groups;
  int begin, end;
  longest_block(p, g, &begin, &end);
  *from = p->stamps[g][end - begin > 2 ? begin + 2 : begin][1];
  *to = end - begin > 1 ? p->stamps[g][end - 1][1] : p->end;
}

static void find_sums(Pipeline *p) {
  int64_t from, to, tiles[PIPELINE_TILES_MAX];
  int n = 0;
  steady(p, &from, &to);
  if (to > from) p->idle = 1 - (double)busy_between(p, from, to) / (double)(to - from);
  const int g = p->n_groups;
  for (int t = 0; t + 1 < p->n_tiles[g]; t++)
    if (!is_first_of_block(p, g, t) && !is_first_of_block(p, g, t + 1))
      tiles[n++] = p->stamps[g][t + 1][1] - p->stamps[g][t][1];
  qsort(tiles, (size_t)n, sizeof *tiles, ascending_int64);
  p->median_tile = n ? tiles[n / 2] : 0;
}

Pipeline *pipeline_read(const char *text, size_t length, const char *name, Error *error) {
  Pipeline *p = length <= PIPELINE_BYTES_MAX ? calloc(1, sizeof *p) : NULL;
  if (!p) {
    error_set(error, length > PIPELINE_BYTES_MAX ? STATUS_TOO_LARGE : STATUS_NO_MEMORY,
              length > PIPELINE_BYTES_MAX ? "%s: more than 1 MiB of stamps" : "%s: no memory", quote_text(name).text);
    return NULL;
  }
  memset(p->stamps, 0xff, sizeof p->stamps);
  Status status = STATUS_OK;
  int number = 1;
  for (size_t at = 0; at < length && !status; number++) {
    const char *newline = memchr(text + at, '\n', length - at);
    const size_t end = newline ? (size_t)(newline - text) : length;
    char line[192];
    if (end - at >= sizeof line || memchr(text + at, '\0', end - at)) {
      status = refuse(name, number, "a line of stamps is text of at most 190 bytes", error);
      break;
    }
    memcpy(line, text + at, end - at);
    line[end - at] = '\0';
    if (end > at && line[end - at - 1] == '\r') line[end - at - 1] = '\0';
    status = take_line(p, line, name, number, error);
    at = end + 1;
  }
  while (p->n_groups < PIPELINE_GROUPS_MAX && p->n_tiles[p->n_groups + 1] > 0) p->n_groups++;
  if (!status) status = check(p, name, error);
  if (status) {
    free(p);
    return NULL;
  }
  find_phases(p);
  find_products(p);
  if (p->n_tensor && p->tensor[p->n_tensor - 1].end > p->end) p->end = p->tensor[p->n_tensor - 1].end;
  find_sums(p);
  return p;
}
