#include "lessons/lesson_show.h"

#include <stdio.h>
#include <string.h>

#include "sim/nearest.h"
#include "sim/quote.h"
#include "sim/size.h"

static const char *const SCENES[LESSON_SCENE_COUNT] = {"main",   "tiles",  "hierarchy", "softmax",
                                                       "causal", "charts", "timeline",  "code"};

const char *lesson_scene_name(LessonScene scene) {
  return SCENES[scene];
}

enum { VALUE_BYTES = 512 };

static Status read_scene(const char *value, LessonShow *show, Error *error) {
  Nearest nearest = {.word = value};
  for (int k = 0; k < LESSON_SCENE_COUNT; k++) {
    if (strcmp(value, SCENES[k]) == 0) {
      show->scene = (LessonScene)k;
      return STATUS_OK;
    }
    nearest_offer(&nearest, SCENES[k]);
  }
  return error_set(error, STATUS_BAD_REQUEST,
                   "there is no scene '%s'%s%s%s; there are main, tiles, hierarchy, softmax, "
                   "causal, charts, timeline and code",
                   quote(value, strlen(value)).text, nearest.best ? " (did you mean '" : "",
                   nearest.best ? nearest.best : "", nearest.best ? "'?)" : "");
}

/* A whole number below 10^15 at *p. */
static bool read_whole(const char **p, int64_t *number) {
  const size_t n = strspn(*p, "0123456789");
  if (n == 0 || n > 15) return false;
  *number = 0;
  for (size_t k = 0; k < n; k++)
    *number = 10 * *number + ((*p)[k] - '0');
  *p += n;
  return true;
}

static Status read_steps(const char *value, LessonShow *show, Error *error) {
  const char *p = value;
  const bool good = read_whole(&p, &show->first) && *p++ == '-' && read_whole(&p, &show->last) &&
                    !*p && show->first <= show->last;
  show->has_steps = good;
  if (good) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST,
                   "'%s' are no steps; write steps=0-40, the first not behind the last",
                   quote(value, strlen(value)).text);
}

static Status read_scores(const char *value, LessonShow *show, Error *error) {
  show->n_scores = 0;
  for (const char *p = value;;) {
    const bool negative = *p == '-';
    p += negative;
    const size_t length = strcspn(p, ",");
    Decimal decimal;
    if (length == 0 || decimal_read(p, length, &decimal) != length)
      return error_set(error, STATUS_BAD_REQUEST, "'%s' is no score; write scores=1,2.5,-3",
                       quote(p, length).text);
    if (show->n_scores == LESSON_SCORES_MAX)
      return error_set(error, STATUS_BAD_REQUEST, "more than %d scores", LESSON_SCORES_MAX);
    show->scores[show->n_scores++] = negative ? -decimal_value(decimal) : decimal_value(decimal);
    if (!p[length]) return STATUS_OK;
    p += length + 1;
  }
}

static Status read_key(const char *key, const char *value, LessonShow *show, Error *error) {
  if (strcmp(key, "scene") == 0) return read_scene(value, show, error);
  if (strcmp(key, "steps") == 0) return read_steps(value, show, error);
  if (strcmp(key, "scores") == 0) return read_scores(value, show, error);
  if (strcmp(key, "block") == 0) return size_parse_count(value, &show->block, error);
  return error_set(error, STATUS_BAD_REQUEST,
                   "there is no key '%s' in a show; there are scene, steps, scores and block",
                   quote(key, strlen(key)).text);
}

Status lesson_show_parse(const char *text, LessonShow *show, Error *error) {
  LessonShow s = {0};
  bool has_scene = false;
  for (const char *p = text + strspn(text, " \t"); *p; p += strspn(p, " \t")) {
    const size_t length = strcspn(p, " \t"), equals = strcspn(p, "= \t");
    char key[16], value[VALUE_BYTES];
    if (equals >= length || equals == 0 || equals >= sizeof key || length - equals > sizeof value)
      return error_set(error, STATUS_BAD_REQUEST, "'%s' in a show is not of the form key=value",
                       quote(p, length).text);
    snprintf(key, sizeof key, "%.*s", (int)equals, p);
    snprintf(value, sizeof value, "%.*s", (int)(length - equals - 1), p + equals + 1);
    const Status status = read_key(key, value, &s, error);
    if (status) return status;
    has_scene = has_scene || strcmp(key, "scene") == 0;
    p += length;
  }
  if (!has_scene)
    return error_set(error, STATUS_BAD_REQUEST, "the show names no scene; write scene=tiles");
  if ((s.n_scores || s.block) && s.scene != LESSON_SCENE_SOFTMAX)
    return error_set(error, STATUS_BAD_REQUEST,
                     "scores and block belong to scene=softmax; %s shows the run of the state",
                     SCENES[s.scene]);
  *show = s;
  return STATUS_OK;
}
