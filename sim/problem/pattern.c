#include "sim/problem/pattern.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/checked.h"
#include "sim/base/quote.h"

static Pattern *pattern_alloc(const char *name, PatternKind kind, PatternMatrix matrix, int64_t n, Error *error) {
  Pattern *p = calloc(1, sizeof *p + (size_t)n * sizeof *p->table);
  if (!p) {
    error_no_memory(error, "for a mask");
    return NULL;
  }
  snprintf(p->name, sizeof p->name, "%s", name);
  p->kind = kind, p->matrix = matrix;
  return p;
}

static Pattern *blocks_new(const char *name, int64_t block, PatternMatrix matrix, Error *error) {
  const int64_t rows = ceil_div(matrix.N_q, block), cols = ceil_div(matrix.N_k, block);
  if (rows > PATTERN_CELLS_MAX || cols > PATTERN_CELLS_MAX / rows) {
    error_set(error, STATUS_TOO_LARGE,
              "the mask '%s' would have %jd x %jd blocks; at most %jd are kept: a larger block or fewer tokens",
              quote_text(name).text, rows, cols, PATTERN_CELLS_MAX);
    return NULL;
  }
  Pattern *p = pattern_alloc(name, PATTERN_BLOCKS, matrix, (rows + 1) * (cols + 1), error);
  if (p) p->block = block, p->rows = rows, p->cols = cols;
  return p;
}

static uint32_t *sum_at(Pattern *p, int64_t row, int64_t col) { return &p->table[row * (p->cols + 1) + col]; }

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

static Pattern *no_mask(const char *name, Error *error) {
  error_refuse(error,
               "'%s' is no mask; there are " PATTERN_NAMES
               ", documents:FILE, and files of # and . (with a / or a dot in their name)",
               quote_text(name).text);
  return NULL;
}

/* What follows `word:` in a name; NULL: another word. */
static const char *after(const char *name, const char *word) {
  const size_t n = strlen(word);
  return strncmp(name, word, n) == 0 && name[n] == ':' ? name + n + 1 : NULL;
}

static Pattern *strided(const char *name, const char *at, PatternMatrix matrix, Error *error) {
  int64_t stride, block = PATTERN_BLOCK;
  if (strlen(name) >= PATTERN_NAME_BYTES || !whole_number(&at, &stride)) return no_mask(name, error);
  if (*at == ':') {
    at++;
    if (!whole_number(&at, &block)) return no_mask(name, error);
  }
  if (*at) return no_mask(name, error);
  Pattern *p = blocks_new(name, block, matrix, error);
  if (!p) return NULL;
  const int64_t offset = matrix.top_left ? 0 : p->cols - p->rows;
  for (int64_t row = 0; row < p->rows; row++)
    for (int64_t col = 0; col < p->cols; col++)
      if ((row + offset - col) % stride == 0) note(p, row, col);
  add_up(p);
  return p;
}

/* ---- Painted ----------------------------------------------------------------------------------------------- */

static Pattern *painted(const char *name, const char *at, PatternMatrix matrix, Error *error) {
  int64_t block;
  if (strlen(name) >= PATTERN_NAME_BYTES || !whole_number(&at, &block) || *at++ != ':') return no_mask(name, error);
  const int64_t digits = ceil_div(ceil_div(matrix.N_k, block), 4), rows = ceil_div(matrix.N_q, block);
  const size_t n = strlen(at);
  if (strspn(at, "0123456789abcdef") != n) return no_mask(name, error);
  if (n / (size_t)digits != (size_t)rows || n % (size_t)digits != 0) {
    error_refuse(error,
                 "a painted mask of %jd x %jd tokens in blocks of %jd has %jd rows of "
                 "%jd hexadecimal digits, and this has %zu digits",
                 matrix.N_q, matrix.N_k, block, rows, digits, n);
    return NULL;
  }
  Pattern *p = blocks_new(name, block, matrix, error);
  if (!p) return NULL;
  for (int64_t k = 0; k < (int64_t)n; k++) {
    const int digit = at[k] <= '9' ? at[k] - '0' : at[k] - 'a' + 10;
    for (int64_t col = 4 * (k % digits), bit = 8; bit && col < p->cols; bit /= 2, col++)
      if (digit & bit) note(p, k / digits, col);
  }
  add_up(p);
  return p;
}

/* ---- Documents --------------------------------------------------------------------------------------------- */

/* The next length of a text; 0 at its end, -1 for something else. */
static int64_t next_length(const char **at, const char *end) {
  while (*at < end && (**at == ' ' || **at == ',' || **at == '\n' || **at == '\r' || **at == '\t')) ++*at;
  if (*at == end) return 0;
  int64_t n = 0;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
    if ((n = n * 10 + (**at - '0')) > UINT32_MAX) return -1;
  return n == 0 || (*at < end && !strchr(" ,\n\r\t", **at)) ? -1 : n;
}

Pattern *pattern_documents(const char *text, size_t length, const char *name, PatternMatrix matrix, Error *error) {
  const char *const end = text + length, *at = text;
  int64_t n = 0, sum = 0, only = 0, next;
  while ((next = next_length(&at, end)) > 0) n++, sum += next, only = next;
  if (next < 0 || n == 0 || matrix.N_k > UINT32_MAX) {
    error_refuse(error,
                 matrix.N_k > UINT32_MAX
                     ? "%s: documents have at most 2^32 - 1 tokens in all"
                     : "%s: lengths of documents are whole numbers of tokens, apart by commas or blanks",
                 quote_text(name).text);
    return NULL;
  }
  if (n > 1 && sum != matrix.N_k) {
    error_refuse(error, "%s: %jd documents have %jd tokens, and there are %jd keys; -N %jd would be right",
                 quote_text(name).text, n, sum, matrix.N_k, sum);
    return NULL;
  }
  Pattern *p = pattern_alloc(name, PATTERN_DOCUMENTS, matrix, n, error);
  if (!p) return NULL;
  p->n_documents = n;
  if (n == 1) p->block = only;
  at = text;
  sum = 0;
  for (int64_t k = 0; k < n; k++) p->table[k] = (uint32_t)(sum += next_length(&at, end));
  return p;
}

PatternDocument pattern_document(const Pattern *p, int64_t position) {
  int64_t low = 0, high = p->n_documents - 1; /* the first that ends after it */
  if (p->block) {
    const int64_t begin = position - position % p->block;
    return (PatternDocument){begin, min64(begin + p->block, p->matrix.N_k)};
  }
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (p->table[middle] > position)
      high = middle;
    else
      low = middle + 1;
  }
  return (PatternDocument){low > 0 ? p->table[low - 1] : 0, p->table[low]};
}

Pattern *pattern_named(const char *name, PatternMatrix matrix, Error *error) {
  const char *at = after(name, "strided");
  if (at) return strided(name, at, matrix, error);
  if ((at = after(name, "painted"))) return painted(name, at, matrix, error);
  if ((at = after(name, "documents"))) return pattern_documents(at, strlen(at), name, matrix, error);
  const bool is_sink = after(name, "sink") != NULL;
  int64_t keys;
  at = is_sink ? after(name, "sink") : after(name, "prefix");
  if (!at || !whole_number(&at, &keys) || *at) return no_mask(name, error);
  Pattern *p = pattern_alloc(name, is_sink ? PATTERN_SINK : PATTERN_PREFIX, matrix, 0, error);
  if (p) p->keys = keys < matrix.N_k ? keys : matrix.N_k;
  return p;
}

/* ---- Files of blocks --------------------------------------------------------------------------------------- */

static Pattern *fail_at(Error *error, const char *file, int line, const char *what) {
  error_set(error, STATUS_BAD_FILE, "%s:%d: %s", quote_text(file).text, line, what);
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

Pattern *pattern_read(const char *text, size_t length, const char *file, PatternMatrix matrix, Error *error) {
  const char *const end = text + length;
  const char *at = text;
  int64_t block;
  if (!read_block(&at, end, &block)) return fail_at(error, file, 1, "after 'block' comes one whole number of tokens");
  int line = at == text ? 1 : 2;
  Pattern *p = blocks_new(file, block, matrix, error);
  if (!p) return NULL;
  char what[120];
  int64_t row = 0;
  for (; at < end; line++, row++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
    if (row == p->rows || stop - at != p->cols) {
      snprintf(what, sizeof what, "N_q = %jd and N_k = %jd need %jd lines of %jd blocks of %jd", matrix.N_q, matrix.N_k,
               p->rows, p->cols, p->block);
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
    snprintf(what, sizeof what, "the file ends after %jd of %jd lines of blocks", row, p->rows);
    free(p);
    return fail_at(error, file, line, what);
  }
  add_up(p);
  return p;
}

PatternCells pattern_cells(const Pattern *p, int64_t row0, int64_t row1, int64_t col0, int64_t col1) {
  const int64_t r0 = row0 / p->block, r1 = ceil_div(row1, p->block), c0 = col0 / p->block,
                c1 = ceil_div(col1, p->block), w = p->cols + 1;
  const uint32_t *s = p->table;
  return (PatternCells){.allowed = (int64_t)s[r1 * w + c1] - s[r0 * w + c1] - s[r1 * w + c0] + s[r0 * w + c0],
                        .all = (r1 - r0) * (c1 - c0)};
}
