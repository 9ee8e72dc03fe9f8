#include "sim/base/nearest.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/ascii.h"

enum { LONGEST = 63 };

static int sort_of(char c) { return ascii_is_digit(c) ? 2 : ascii_is_alpha(c); }

/* The next run of letters or of digits at or after *at, which moves behind it. Returns its length; 0: no more. */
static size_t next_run(const char *text, size_t *at) {
  while (text[*at] && !sort_of(text[*at])) ++*at;
  size_t n = 0;
  while (text[*at + n] && sort_of(text[*at + n]) == sort_of(text[*at])) n++;
  *at += n;
  return n;
}

/* Whether the words and numbers of *word, two or more, are whole ones of the candidate, in the same order. */
static bool has_runs(const char *word, const char *candidate) {
  size_t at = 0, in = 0, n, m, n_runs = 0;
  while ((n = next_run(word, &at)) > 0) {
    bool same = false;
    while (!same && (m = next_run(candidate, &in)) > 0) {
      size_t k = 0;
      while (m == n && k < n && ascii_lower(word[at - n + k]) == ascii_lower(candidate[in - m + k])) k++;
      same = k == n;
    }
    if (!same) return false;
    n_runs++;
  }
  return n_runs > 1;
}

static bool is_part(const char *word, size_t n, const char *candidate, size_t m) {
  for (size_t from = 0; from + n <= m; from++) {
    size_t k = 0;
    while (k < n && ascii_lower(word[k]) == ascii_lower(candidate[from + k])) k++;
    if (k == n) return true;
  }
  return false;
}

static size_t edits(const char *a, size_t n, const char *b, size_t m) {
  size_t rows[3][LONGEST + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= m; j++) above[j] = j;
  for (size_t i = 1; i <= n; i++) {
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      const size_t replace = above[j - 1] + (ascii_lower(a[i - 1]) != ascii_lower(b[j - 1]));
      const size_t one_more = 1 + (above[j] < row[j - 1] ? above[j] : row[j - 1]);
      row[j] = one_more < replace ? one_more : replace;
      const int swapped = i > 1 && j > 1 && ascii_lower(a[i - 1]) == ascii_lower(b[j - 2]) &&
                          ascii_lower(a[i - 2]) == ascii_lower(b[j - 1]);
      if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
    }
    size_t *const spare = before;
    before = above;
    above = row;
    row = spare;
  }
  return above[m];
}

void nearest_offer(Nearest *nearest, const char *candidate) {
  const size_t n = strlen(nearest->word), m = strlen(candidate);
  if (n > LONGEST || m > LONGEST) return;
  if (n > 1 && (is_part(nearest->word, n, candidate, m) || has_runs(nearest->word, candidate))) {
    if (nearest->n_parts < NEAREST_PARTS_MAX) nearest->parts[nearest->n_parts] = candidate;
    if (nearest->n_parts++ == 0) nearest->best = candidate;
    nearest->distance = 0;
    return;
  }
  const size_t distance = edits(nearest->word, n, candidate, m), longer = n > m ? n : m;
  const size_t allowed = longer < 3 ? 1 : (longer + 2) / 3;
  if (distance > allowed || distance >= longer) return;
  if (nearest->best && nearest->distance <= distance) return;
  nearest->best = candidate;
  nearest->distance = distance;
}

const char *nearest_list(const Nearest *nearest, char *text, size_t size) {
  const int n = nearest->n_parts < NEAREST_PARTS_MAX ? nearest->n_parts : NEAREST_PARTS_MAX;
  text[0] = '\0';
  if (n < 2 && nearest->best) snprintf(text, size, "'%s'", nearest->best);
  for (int k = 0; n >= 2 && k < n; k++) {
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s'%s'", k == 0 ? "" : k == n - 1 ? " or " : ", ", nearest->parts[k]);
  }
  return text;
}

NearestHint nearest_hint(const Nearest *nearest) {
  NearestHint hint = {""};
  if (nearest->best) snprintf(hint.text, sizeof hint.text, " (did you mean '%s'?)", nearest->best);
  return hint;
}
