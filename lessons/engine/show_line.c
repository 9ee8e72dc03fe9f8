#include "lessons/engine/show_line.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/word_list.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "sim/base/size.h"

enum { VALUE_BYTES = 512 };

static Status read_scene(const char *value, LessonShow *show, Error *error) {
  Nearest nearest = {.word = value};
  char all[256];
  const int found = scene_find(value);
  if (found >= 0) {
    show->scene = (SceneKind)found;
    return STATUS_OK;
  }
  for (int k = 0; k < SCENE_COUNT; k++) nearest_offer(&nearest, SCENE_NAMES[k]);
  return error_set(error, STATUS_BAD_REQUEST, "there is no scene '%s'%s%s%s; there are %s", quote_text(value).text,
                   nearest.best ? " (did you mean '" : "", nearest.best ? nearest.best : "", nearest.best ? "'?)" : "",
                   word_list_text(SCENE_NAMES, "and", all, sizeof all));
}

/* A whole number below 10^15 at *p. */
static bool read_whole(const char **p, int64_t *number) {
  const size_t n = strspn(*p, "0123456789");
  if (n == 0 || n > 15) return false;
  *number = 0;
  for (size_t k = 0; k < n; k++) *number = 10 * *number + ((*p)[k] - '0');
  *p += n;
  return true;
}

static Status read_steps(const char *value, LessonShow *show, Error *error) {
  const char *p = value;
  const bool good =
      read_whole(&p, &show->first) && *p++ == '-' && read_whole(&p, &show->last) && !*p && show->first <= show->last;
  show->has_steps = good;
  if (good) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "'%s' are no steps; write steps=0-40, the first not behind the last",
                   quote_text(value).text);
}

static Status read_scores(const char *value, LessonShow *show, Error *error) {
  show->n_scores = 0;
  for (const char *p = value;;) {
    const bool negative = *p == '-';
    p += negative;
    const size_t length = strcspn(p, ",");
    Decimal decimal;
    if (length == 0 || decimal_read(p, length, &decimal) != length)
      return error_set(error, STATUS_BAD_REQUEST, "'%s' is no score; write scores=1,2.5,-3", quote(p, length).text);
    if (show->n_scores == LESSON_SCORES_MAX)
      return error_set(error, STATUS_BAD_REQUEST, "more than %d scores", LESSON_SCORES_MAX);
    show->scores[show->n_scores++] = negative ? -decimal_value(decimal) : decimal_value(decimal);
    if (!p[length]) return STATUS_OK;
    p += length + 1;
  }
}

/* ---- scene=bank, with the names that warp{} has in expressions */

typedef struct {
  int64_t stride, bytes, column, row_bytes, pad_bytes; /* -1: not given */
  WarpSwizzle swizzle;
  bool is_given;
} WarpKeys;

enum { WARP_LARGEST = 1 << 20 };

static Status read_warp_key(const char *key, const char *value, WarpKeys *keys, bool *is_known, Error *error) {
  const struct {
    const char *name;
    int64_t *number;
  } NUMBERS[] = {{"stride", &keys->stride},
                 {"bytes", &keys->bytes},
                 {"column", &keys->column},
                 {"row_bytes", &keys->row_bytes},
                 {"pad_bytes", &keys->pad_bytes}};
  for (size_t k = 0; k < sizeof NUMBERS / sizeof *NUMBERS; k++) {
    if (strcmp(key, NUMBERS[k].name) != 0) continue;
    const char *p = value;
    *is_known = keys->is_given = true;
    if (read_whole(&p, NUMBERS[k].number) && !*p && *NUMBERS[k].number <= WARP_LARGEST) return STATUS_OK;
    return error_set(error, STATUS_BAD_REQUEST, "%s=%s is no whole number from 0 to %d", key, quote_text(value).text,
                     WARP_LARGEST);
  }
  if (strcmp(key, "swizzle") != 0) return STATUS_OK;
  *is_known = keys->is_given = true;
  if (warp_swizzle_from_name(value, &keys->swizzle)) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST, "'%s' is no swizzle; there are none, 32B, 64B and 128B",
                   quote_text(value).text);
}

static Status warp_of(const WarpKeys *keys, LessonShow *show, Error *error) {
  if ((keys->stride >= 0) == (keys->column >= 0))
    return error_set(error, STATUS_BAD_REQUEST,
                     "scene=bank takes stride (bytes from lane to lane) or column (of a tile)");
  if (keys->stride >= 0 && (keys->row_bytes >= 0 || keys->pad_bytes >= 0 || keys->swizzle))
    return error_set(error, STATUS_BAD_REQUEST, "row_bytes, pad_bytes and swizzle go with column, not with stride");
  const uint32_t bytes = keys->bytes >= 0 ? (uint32_t)keys->bytes : 4;
  const WarpTile tile = {.row_bytes = keys->row_bytes >= 0 ? (uint64_t)keys->row_bytes : 128,
                         .pad_bytes = keys->pad_bytes >= 0 ? (uint64_t)keys->pad_bytes : 0,
                         .swizzle = keys->swizzle};
  show->warp_in_banks = keys->column >= 0;
  show->warp =
      show->warp_in_banks ? warp_column(&tile, (uint64_t)keys->column, bytes) : warp_strided(0, keys->stride, bytes);
  if (show->warp_in_banks && bytes > WARP_BANK_BYTES)
    return error_set(error, STATUS_BAD_REQUEST, "a column is drawn for lanes of at most %d bytes", WARP_BANK_BYTES);
  return warp_check(&show->warp, error);
}

static Status read_key(const char *key, const char *value, LessonShow *show, WarpKeys *warp, Error *error) {
  if (strcmp(key, "scene") == 0) return read_scene(value, show, error);
  if (strcmp(key, "steps") == 0) return read_steps(value, show, error);
  if (strcmp(key, "scores") == 0) return read_scores(value, show, error);
  if (strcmp(key, "block") == 0) return size_parse_count(value, &show->block, error);
  bool is_known = false;
  const Status status = read_warp_key(key, value, warp, &is_known, error);
  if (status || is_known) return status;
  return error_set(error, STATUS_BAD_REQUEST,
                   "there is no key '%s' in a show; there are scene, steps, scores and block, and "
                   "for a warp stride, bytes, column, row_bytes, pad_bytes and swizzle",
                   quote_text(key).text);
}

Status lesson_show_parse(const char *text, LessonShow *show, Error *error) {
  LessonShow s = {0};
  WarpKeys warp = {-1, -1, -1, -1, -1, WARP_SWIZZLE_NONE, false};
  bool has_scene = false;
  for (const char *p = text + strspn(text, " \t"); *p; p += strspn(p, " \t")) {
    const size_t length = strcspn(p, " \t"), equals = strcspn(p, "= \t");
    char key[16], value[VALUE_BYTES];
    if (equals >= length || equals == 0 || equals >= sizeof key || length - equals > sizeof value)
      return error_set(error, STATUS_BAD_REQUEST, "'%s' in a show is not of the form key=value", quote(p, length).text);
    snprintf(key, sizeof key, "%.*s", (int)equals, p);
    snprintf(value, sizeof value, "%.*s", (int)(length - equals - 1), p + equals + 1);
    const Status status = read_key(key, value, &s, &warp, error);
    if (status) return status;
    has_scene = has_scene || strcmp(key, "scene") == 0;
    p += length;
  }
  if (!has_scene) return error_set(error, STATUS_BAD_REQUEST, "the show names no scene; write scene=tiles");
  if ((s.n_scores || s.block) && s.scene != SCENE_SOFTMAX)
    return error_set(error, STATUS_BAD_REQUEST,
                     "scores and block belong to scene=softmax; %s shows the run of the state", SCENE_NAMES[s.scene]);
  if (warp.is_given && s.scene != SCENE_BANK)
    return error_set(error, STATUS_BAD_REQUEST, "lanes and rows belong to scene=bank, not to %s", SCENE_NAMES[s.scene]);
  if (s.scene == SCENE_BANK && s.has_steps)
    return error_set(error, STATUS_BAD_REQUEST, "scene=bank shows one access; leave out steps");
  const Status status = s.scene == SCENE_BANK ? warp_of(&warp, &s, error) : STATUS_OK;
  if (!status) *show = s;
  return status;
}
