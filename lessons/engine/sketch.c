#include "lessons/engine/sketch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "sim/base/quote.h"

#define REFUSE(...) error_set(error, STATUS_BAD_REQUEST, __VA_ARGS__)

/* ---- What is asked ---------------------------------------------------------------------------------------- */

Status sketch_tiles(const char *text, Sketch *s, Error *error) {
  char *end;
  const long rows = strtol(text, &end, 10);
  end += strspn(end, " ");
  const bool has_x = *end == 'x';
  const long columns = has_x ? strtol(end + 1, &end, 10) : 0;
  if (!has_x || *end || rows < 1 || columns < 1 || rows > SKETCH_SIDE_MAX || columns > SKETCH_SIDE_MAX)
    return REFUSE("'%s' is no grid; write 'tiles: 4 x 8', rows and columns, up to %d", quote_text(text).text,
                  SKETCH_SIDE_MAX);
  s->rows = (int)rows;
  s->columns = (int)columns;
  return STATUS_OK;
}

Status sketch_columns(const char *text, Sketch *s, Error *error) {
  s->has_heights = true;
  s->rows = SKETCH_LEVELS;
  for (const char *p = text; s->columns == 0 || *p++ == ',';) {
    p += strspn(p, " \n");
    size_t n = strcspn(p, ",");
    const char *next = p + n;
    while (n > 0 && ascii_is_space((unsigned char)p[n - 1])) n--;
    if (n == 0 || n >= SKETCH_LABEL_BYTES || s->columns == SKETCH_SIDE_MAX)
      return REFUSE("columns are up to %d words of up to %d letters, with commas between", SKETCH_SIDE_MAX,
                    SKETCH_LABEL_BYTES - 1);
    snprintf(s->label[s->columns++], SKETCH_LABEL_BYTES, "%.*s", (int)n, p);
    p = next;
  }
  return STATUS_OK;
}

/* ---- As typed --------------------------------------------------------------------------------------------- */

/* A whole number below `limit`, or "*" for all: [*first, *last]. */
static bool read_span(const char **p, int limit, int *first, int *last) {
  *first = 0;
  *last = limit - 1;
  if (**p == '*') return ++*p, true;
  char *end;
  if (!ascii_is_digit((unsigned char)**p)) return false;
  *first = *last = (int)strtol(*p, &end, 10);
  if (*end == '-' && ascii_is_digit((unsigned char)end[1])) *last = (int)strtol(end + 1, &end, 10);
  *p = end;
  return *first >= 0 && *first <= *last && *last < limit;
}

static Status read_tiles(const Sketch *s, const char *typed, SketchDrawing *d, Error *error) {
  const char *p = typed;
  if (strcmp(typed, "none") == 0) return STATUS_OK;
  do {
    int row, last_row, column, last;
    p += strspn(p, " ");
    bool is_read = read_span(&p, s->rows, &row, &last_row) && *p == ':';
    do {
      is_read = is_read && p++ && read_span(&p, s->columns, &column, &last);
      for (int i = row; is_read && i <= last_row; i++)
        for (int j = column; j <= last; j++) d->is_marked[i][j] = true;
    } while (is_read && *p == ',');
    p += strspn(p, " ;");
    if (!is_read)
      return REFUSE(
          "Write a row, a colon, and its columns: 0:2 3:0-1,3. Rows are 0 to %d, columns 0 to %d; 'none' marks "
          "no tile.",
          s->rows - 1, s->columns - 1);
  } while (*p);
  return STATUS_OK;
}

static Status refuse_heights(const Sketch *s, Error *error) {
  return REFUSE("Write %d number%s%s%s, with commas between: one for each column.", s->columns,
                s->columns == 1 ? "" : "s", *s->unit.name ? " in " : "", s->unit.name);
}

/* With commas between; or, where there are none, blanks. */
static Status read_heights(const Sketch *s, const char *typed, SketchDrawing *d, Error *error) {
  const char *const between = strchr(typed, ',') ? "," : " ";
  AnswerKey key = {.unit = s->unit};
  const char *p = typed + strspn(typed, " ");
  for (int k = 0; k < s->columns; k++) {
    Answer number;
    const size_t n = k + 1 == s->columns ? strlen(p) : strcspn(p, between);
    if (answer_parse(p, n, &number, NULL) || number.number < 0) return refuse_heights(s, error);
    if (*number.unit.name && number.unit.dimension != s->unit.dimension) return refuse_heights(s, error);
    d->height[k] = answer_value(&key, &number) / s->unit.factor;
    p += n + (p[n] == ',');
    p += strspn(p, " ");
  }
  return STATUS_OK;
}

Status sketch_read(const Sketch *s, const char *typed, SketchDrawing *d, Error *error) {
  *d = (SketchDrawing){0};
  return s->has_heights ? read_heights(s, typed, d, error) : read_tiles(s, typed, d, error);
}

static void write_row(const bool *is_marked, int n, int row, char *text, size_t *used) {
  const char *before = NULL;
  char start[16];
  snprintf(start, sizeof start, "%s%d:", *used ? " " : "", row);
  for (int j = 0; j < n; j++) {
    if (!is_marked[j]) continue;
    int last = j;
    while (last + 1 < n && is_marked[last + 1]) last++;
    *used += (size_t)snprintf(text + *used, SKETCH_TEXT_BYTES - *used, last > j ? "%s%d-%d" : "%s%d",
                              before ? before : start, j, last);
    before = ",";
    j = last;
  }
}

void sketch_write(const Sketch *s, const SketchDrawing *d, char text[SKETCH_TEXT_BYTES]) {
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; s->has_heights && k < s->columns; k++)
    used += (size_t)snprintf(text + used, SKETCH_TEXT_BYTES - used, "%s%.4g", k ? ", " : "", d->height[k]);
  for (int i = 0; !s->has_heights && i < s->rows; i++) write_row(d->is_marked[i], s->columns, i, text, &used);
  if (!used) snprintf(text, SKETCH_TEXT_BYTES, "none");
}

/* ---- Cell by cell ----------------------------------------------------------------------------------------- */

void sketch_press(const Sketch *s, SketchDrawing *d, int cell) {
  if (cell < 0 || cell >= s->rows * s->columns) return;
  const int row = cell / s->columns, column = cell % s->columns;
  if (s->has_heights)
    d->height[column] = s->top * (s->rows - row) / s->rows;
  else
    d->is_marked[row][column] = !d->is_marked[row][column];
}

/* How many rows a height fills; what is there at all is seen. */
static double level(const Sketch *s, double height) {
  return height > 0 ? fmax(1, round(height / s->top * s->rows)) : 0;
}

static bool is_filled(const Sketch *s, const SketchDrawing *d, int row, int column) {
  return s->has_heights ? s->rows - row <= level(s, d->height[column]) : d->is_marked[row][column];
}

void sketch_picture(const Sketch *s, const SketchDrawing *drawn, const SketchDrawing *right,
                    char picture[SKETCH_PICTURE_BYTES]) {
  char *to = picture;
  for (int i = 0; i < s->rows; i++) {
    for (int j = 0; j < s->columns; j++) {
      const bool is_drawn = is_filled(s, drawn, i, j), is_right = right ? is_filled(s, right, i, j) : is_drawn;
      *to++ = is_drawn && is_right ? '#' : is_drawn ? '-' : is_right ? '+' : '.';
    }
    *to++ = '\n';
  }
  *to = '\0';
}

void sketch_row_label(const Sketch *s, int row, char text[SKETCH_LABEL_BYTES]) {
  if (s->has_heights)
    snprintf(text, SKETCH_LABEL_BYTES, "%.4g", s->top * (s->rows - row) / s->rows);
  else
    snprintf(text, SKETCH_LABEL_BYTES, "%d", row);
}

void sketch_column_label(const Sketch *s, int column, char text[SKETCH_LABEL_BYTES]) {
  if (s->has_heights)
    snprintf(text, SKETCH_LABEL_BYTES, "%s", s->label[column]);
  else
    snprintf(text, SKETCH_LABEL_BYTES, "%d", column);
}

/* ---- Right or not ----------------------------------------------------------------------------------------- */

static bool heights_are_right(const Sketch *s, const SketchDrawing *drawn, const SketchDrawing *right, char *message,
                              size_t size) {
  int worst = -1;
  double most = 0;
  for (int k = 0; k < s->columns; k++) {
    const double wanted = right->height[k], off = fabs(drawn->height[k] - wanted);
    if (level(s, drawn->height[k]) == level(s, wanted) || off <= 0.1 * wanted || off <= most) continue;
    most = off;
    worst = k;
  }
  if (worst < 0) return true;
  snprintf(message, size, "Farthest off at %s: you drew %.4g, and it is %.4g%s%s.", s->label[worst],
           drawn->height[worst], right->height[worst], *s->unit.name ? " " : "", s->unit.name);
  return false;
}

bool sketch_is_right(const Sketch *s, const SketchDrawing *drawn, const SketchDrawing *right, char *message,
                     size_t size) {
  int left_out = 0, too_many = 0;
  message[0] = '\0';
  if (s->has_heights) return heights_are_right(s, drawn, right, message, size);
  for (int i = 0; i < s->rows; i++)
    for (int j = 0; j < s->columns; j++) {
      left_out += right->is_marked[i][j] && !drawn->is_marked[i][j];
      too_many += drawn->is_marked[i][j] && !right->is_marked[i][j];
    }
  if (left_out + too_many == 0) return true;
  snprintf(message, size, "%d of %d tiles are right; %d left out, %d too many.",
           s->rows * s->columns - left_out - too_many, s->rows * s->columns, left_out, too_many);
  return false;
}
