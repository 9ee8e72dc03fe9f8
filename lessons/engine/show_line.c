#include "lessons/engine/show_line.h"

#include <stdio.h>

#include "lessons/engine/warp_keys.h"
#include "sim/base/nearest.h"
#include "sim/base/size.h"
#include "sim/base/word_list.h"

static const long long LAST_MAX = 999999999999999;

typedef struct {
  LessonShow show;
  WarpKeys warp;
  ShowMoments moments;
  bool has_scene;
} Keys;

static Status set_scene(void *target, const char *value, Error *error) {
  Nearest nearest = {.word = value};
  char all[256];
  const int found = scene_find(value);
  if (found >= 0) {
    ((Keys *)target)->show.scene = (SceneKind)found;
    return STATUS_OK;
  }
  for (int k = 0; k < SCENE_COUNT; k++) nearest_offer(&nearest, SCENE_NAMES[k]);
  return error_refuse(error, "there is no scene '%s'%s; there are %s", quote_text(value).text,
                      nearest_hint(&nearest).text, word_list_text(SCENE_NAMES, "and", all, sizeof all));
}

static Status set_steps(void *target, const char *value, Error *error) {
  LessonShow *show = target;
  char word[20];
  long long first, last;
  const size_t n = strcspn(value, "-");
  snprintf(word, sizeof word, "%.*s", (int)n, value);
  show->has_steps = value[n] && !options_count("", word, 0, LAST_MAX, &first, NULL) &&
                    !options_count("", value + n + 1, first, LAST_MAX, &last, NULL);
  if (show->has_steps) {
    show->first = first;
    show->last = last;
    return STATUS_OK;
  }
  return error_refuse(error, "'%s' are no steps; write steps=0-40, the first not behind the last",
                      quote_text(value).text);
}

static Status set_scores(void *target, const char *value, Error *error) {
  LessonShow *show = target;
  show->n_scores = 0;
  for (const char *p = value;;) {
    const bool negative = *p == '-';
    p += negative;
    const size_t length = strcspn(p, ",");
    Decimal decimal;
    if (length == 0 || decimal_read(p, length, &decimal) != length)
      return error_refuse(error, "'%s' is no score; write scores=1,2.5,-3", quote(p, length).text);
    if (show->n_scores == LESSON_SCORES_MAX) return error_refuse(error, "more than %d scores", LESSON_SCORES_MAX);
    show->scores[show->n_scores++] = negative ? -decimal_value(decimal) : decimal_value(decimal);
    if (!p[length]) return STATUS_OK;
    p += length + 1;
  }
}

static const Option ROWS[] = {
    {.name = "scene", .argument = "NAME", .set = set_scene, .given = offsetof(Keys, has_scene)},
    {.name = "steps", .argument = "FIRST-LAST", .set = set_steps},
    {.name = "scores", .argument = "LIST", .set = set_scores},
    {.name = "block", OPTION_COUNT(Keys, show.block)},
    {0},
};

static const Option MOMENT_ROWS[] = {
    {.name = "from", OPTION_TEXT(Keys, moments.from, "the moment")},
    {.name = "to", OPTION_TEXT(Keys, moments.to, "the moment")},
    {.name = "lit", OPTION_TEXT(Keys, moments.lit, "what is lit")},
    {.name = "seconds", OPTION_NUMBER(Keys, moments.seconds, "seconds", 1, 120)},
    {0},
};

static Status check(const Keys *k, LessonShow *s, Error *error) {
  static const WarpKeys NONE;
  if (!k->has_scene) return error_refuse(error, "the show names no scene; write scene=walk");
  if ((s->n_scores || s->block) && s->scene != SCENE_SOFTMAX)
    return error_refuse(error, "scores and block belong to scene=softmax; %s shows the run of the state",
                        SCENE_NAMES[s->scene]);
  if (s->scene != SCENE_BANK)
    return memcmp(&k->warp, &NONE, sizeof NONE) == 0
               ? STATUS_OK
               : error_refuse(error, "lanes and rows belong to scene=bank, not to %s", SCENE_NAMES[s->scene]);
  if (s->has_steps) return error_refuse(error, "scene=bank shows one access; leave out steps");
  s->warp_in_banks = k->warp.has_column;
  if (s->warp_in_banks && k->warp.bytes > WARP_BANK_BYTES)
    return error_refuse(error, "a column is drawn for lanes of at most %d bytes", WARP_BANK_BYTES);
  return warp_keys_access(&k->warp, &s->warp, error);
}

Status lesson_show_parse(const char *text, LessonShow *show, ShowMoments *moments, Error *error) {
  const OptionSet sets[] = {
      {"", ROWS, 0}, {"", WARP_KEYS, offsetof(Keys, warp)}, {"", moments ? MOMENT_ROWS : NULL, 0}, {0}};
  Keys keys = {.moments = {.from = "start", .to = "end", .seconds = 12}};
  OptionParser parser = {.sets = sets, .target = &keys};
  Status status = options_parse_state(&parser, text, error);
  if (!status) status = check(&keys, &keys.show, error);
  if (!status) *show = keys.show;
  if (!status && moments) *moments = keys.moments;
  return status;
}
