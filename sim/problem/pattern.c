#include "sim/problem/pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/checked.h"
#include "sim/base/quote.h"

static Pattern *pattern_new(const char *name, int64_t block, int64_t N_q, int64_t N_k, Error *error) {
  const int64_t rows = ceil_div(N_q, block), cols = ceil_div(N_k, block);
  if (rows > PATTERN_CELLS_MAX || cols > PATTERN_CELLS_MAX / rows) {
    error_set(error, STATUS_TOO_LARGE,
              "the mask '%s' would have %" PRId64 " x %" PRId64 " blocks; at most %" PRId64
              " are kept: a larger block or fewer tokens",
              quote(name, strlen(name)).text, rows, cols, PATTERN_CELLS_MAX);
    return NULL;
  }
  Pattern *p = calloc(1, sizeof *p + (size_t)((rows + 1) * (cols + 1)) * sizeof *p->sums);
  if (!p) {
    error_set(error, STATUS_NO_MEMORY, "no memory for the blocks of a mask");
    return NULL;
  }
  snprintf(p->name, sizeof p->name, "%s", name);
  p->block = block, p->rows = rows, p->cols = cols, p->N_q = N_q, p->N_k = N_k;
  return p;
}

static uint32_t *sum_at(Pattern *p, int64_t row, int64_t col) { return &p->sums[row * (p->cols + 1) + col]; }

/* Cells are noted in their own place first; then each becomes the sum of all above and to the left. */
static void note(Pattern *p, int64_t row, int64_t col) { *sum_at(p, row + 1, col + 1) = 1; }

static void add_up(Pattern *p) {
  for (int64_t row = 1; row <= p->rows; row++)
    for (int64_t col = 1; col <= p->cols; col++)
      *sum_at(p, row, col) += *sum_at(p, row - 1, col) + *sum_at(p, row, col - 1) - *sum_at(p, row - 1, col - 1);
}

static bool whole_number(const char **text, int64_t *value) {
  if (**text < '0' || **text > '9') return false;
  char *end;
  *value = strtoll(*text, &end, 10);
  *text = end;
  return *value > 0 && *value <= INT32_MAX;
}

Pattern *pattern_named(const char *name, int64_t N_q, int64_t N_k, Error *error) {
  static const char KIND[] = "strided:";
  const char *at = name;
  int64_t stride, block = PATTERN_BLOCK;
  bool right = strncmp(name, KIND, sizeof KIND - 1) == 0 && strlen(name) < PATTERN_NAME_BYTES;
  if (right) {
    at += sizeof KIND - 1;
    right = whole_number(&at, &stride);
    if (right && *at == ':') {
      at++;
      right = whole_number(&at, &block);
    }
  }
  if (!right || *at) {
    error_set(
        error, STATUS_BAD_REQUEST,
        "'%s' is no mask; there are strided:STRIDE, strided:STRIDE:BLOCK, and files of # and . (with a / or a dot "
        "in their name)",
        quote(name, strlen(name)).text);
    return NULL;
  }
  Pattern *p = pattern_new(name, block, N_q, N_k, error);
  if (!p) return NULL;
  const int64_t offset = p->cols - p->rows; /* the diagonal ends in the bottom right corner */
  for (int64_t row = 0; row < p->rows; row++)
    for (int64_t col = 0; col < p->cols; col++)
      if ((row + offset - col) % stride == 0) note(p, row, col);
  add_up(p);
  return p;
}

static Pattern *fail_at(Error *error, const char *file, int line, const char *what) {
  error_set(error, STATUS_BAD_FILE, "%s:%d: %s", quote(file, strlen(file)).text, line, what);
  return NULL;
}

/* `block N`, if the first line is that; what is left of the text begins at *text. */
static bool read_block(const char **text, const char *end, int64_t *block) {
  static const char WORD[] = "block ";
  const size_t n = sizeof WORD - 1;
  *block = PATTERN_BLOCK;
  if ((size_t)(end - *text) < n || strncmp(*text, WORD, n) != 0) return true;
  const char *at = *text + n;
  *block = 0;
  for (; at < end && *at >= '0' && *at <= '9' && *block <= INT32_MAX / 10; at++) *block = *block * 10 + (*at - '0');
  if (*block == 0 || (at < end && *at != '\n')) return false;
  *text = at < end ? at + 1 : at;
  return true;
}

Pattern *pattern_read(const char *text, size_t length, const char *file, int64_t N_q, int64_t N_k, Error *error) {
  const char *const end = text + length;
  const char *at = text;
  int64_t block;
  if (!read_block(&at, end, &block)) return fail_at(error, file, 1, "after 'block' comes one whole number of tokens");
  int line = at == text ? 1 : 2;
  Pattern *p = pattern_new(file, block, N_q, N_k, error);
  if (!p) return NULL;
  char what[120];
  int64_t row = 0;
  for (; at < end; line++, row++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
    if (row == p->rows || stop - at != p->cols) {
      snprintf(what, sizeof what,
               "N_q = %" PRId64 " and N_k = %" PRId64 " need %" PRId64 " lines of %" PRId64 " blocks of %" PRId64, N_q,
               N_k, p->rows, p->cols, p->block);
      free(p);
      return fail_at(error, file, line, what);
    }
    for (int64_t col = 0; col < p->cols; col++) {
      if (at[col] == '#') {
        note(p, row, col);
      } else if (at[col] != '.') {
        free(p);
        return fail_at(error, file, line, "a line has # for a block that is seen and . for one that is not");
      }
    }
    at = newline ? newline + 1 : end;
  }
  if (row < p->rows) {
    snprintf(what, sizeof what, "the file ends after %" PRId64 " of %" PRId64 " lines of blocks", row, p->rows);
    free(p);
    return fail_at(error, file, line, what);
  }
  add_up(p);
  return p;
}

PatternCells pattern_cells(const Pattern *p, int64_t row0, int64_t row1, int64_t col0, int64_t col1) {
  const int64_t r0 = row0 / p->block, r1 = ceil_div(row1, p->block), c0 = col0 / p->block,
                c1 = ceil_div(col1, p->block), w = p->cols + 1;
  const uint32_t *s = p->sums;
  return (PatternCells){.allowed = (int64_t)s[r1 * w + c1] - s[r0 * w + c1] - s[r1 * w + c0] + s[r0 * w + c0],
                        .all = (r1 - r0) * (c1 - c0)};
}
