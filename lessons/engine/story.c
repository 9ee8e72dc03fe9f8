#include "lessons/engine/story.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"

static const char *const KEYS[STORY_KEY_COUNT] = {
    [STORY_SCENE] = "scene", [STORY_STATE] = "state",     [STORY_FROM] = "from",       [STORY_TO] = "to",
    [STORY_LIT] = "lit",     [STORY_DIM] = "dim",         [STORY_CAMERA] = "camera",   [STORY_CAPTION] = "caption",
    [STORY_HOLDS] = "holds", [STORY_ASK] = "ask",         [STORY_ANSWER] = "answer",   [STORY_UNIT] = "unit",
    [STORY_WRONG] = "wrong", [STORY_BECAUSE] = "because", [STORY_SECONDS] = "seconds",
};
static const StoryKey NEEDED[] = {STORY_SCENE, STORY_STATE, STORY_FROM, STORY_TO, STORY_CAPTION, STORY_HOLDS};

/* ---- Reading ----------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static Status fail(const Story *s, int line, Error *error, const char *format,
                                                         ...) {
  char what[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return error_set(error, STATUS_BAD_FILE, "%s:%d: %s", quote_text(s->file).text, line, what);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static const char *text_of(const Story *s, StoryValue v) { return s->text + v.begin; }
static bool value_is(const Story *s, StoryValue v, const char *text) {
  return v.length == strlen(text) && memcmp(text_of(s, v), text, v.length) == 0;
}

/* A line as key and value; false: nothing stands in it. */
static bool split(const Story *s, size_t begin, size_t end, int line, StoryValue *key, StoryValue *value) {
  while (begin < end && is_blank(s->text[begin])) begin++;
  while (end > begin && is_blank(s->text[end - 1])) end--;
  if (begin == end || s->text[begin] == '#') return false;
  size_t at = begin;
  while (at < end && !is_blank(s->text[at])) at++;
  *key = (StoryValue){(uint32_t)begin, (uint32_t)(at - begin), line};
  while (at < end && is_blank(s->text[at])) at++;
  *value = (StoryValue){(uint32_t)at, (uint32_t)(end - at), line};
  return true;
}

static Status take_sizes(Story *s, StoryValue v, Error *error) {
  const char *at = text_of(s, v), *end = at + v.length;
  while (at < end) {
    char *after;
    const long long N = strtoll(at, &after, 10);
    if (after == at || N < 1 || N > 1 << 20 || s->n_sizes == STORY_SIZES_MAX || (after < end && !is_blank(*after)))
      return fail(s, v.line, error, "sizes are at most %d whole numbers of tokens up to 1M, with blanks between",
                  STORY_SIZES_MAX);
    s->sizes[s->n_sizes++] = N;
    at = after;
    while (at < end && is_blank(*at)) at++;
  }
  return STATUS_OK;
}

/* What stands before the first beat. */
static Status take_head(Story *s, StoryValue key, StoryValue v, Error *error) {
  if (value_is(s, key, "story")) {
    snprintf(s->title, sizeof s->title, "%.*s", (int)v.length, text_of(s, v));
    return STATUS_OK;
  }
  if (value_is(s, key, "sizes")) return take_sizes(s, v, error);
  if (value_is(s, key, "default")) {
    s->usual_N = strtoll(text_of(s, v), NULL, 10);
    return STATUS_OK;
  }
  if (!value_is(s, key, "let"))
    return fail(s, key.line, error, "'%s' is no line of a story's head; there are story, sizes, default, let, beat",
                quote(text_of(s, key), key.length).text);
  if (s->n_lets == STORY_LETS_MAX) return fail(s, key.line, error, "more than %d lets", STORY_LETS_MAX);
  s->lets[s->n_lets++] = v;
  return STATUS_OK;
}

static Status take_of_beat(Story *s, StoryValue key, StoryValue v, Error *error) {
  StoryBeatText *beat = &s->beats[s->n_beats - 1];
  for (int k = 0; k < STORY_KEY_COUNT; k++) {
    if (!value_is(s, key, KEYS[k])) continue;
    if (beat->values[k].length) return fail(s, key.line, error, "a second '%s' in one beat", KEYS[k]);
    beat->values[k] = v;
    return STATUS_OK;
  }
  return fail(s, key.line, error,
              "'%s' is no line of a beat; it has scene, state, from, to, caption, holds, and may "
              "have lit, dim, camera, ask, answer, unit, wrong, because, seconds",
              quote(text_of(s, key), key.length).text);
}

static Status take(Story *s, StoryValue key, StoryValue v, Error *error) {
  if (v.length == 0 || v.length >= STORY_LINE_BYTES)
    return fail(s, key.line, error, v.length ? "a value of more than %d bytes" : "a key without a value",
                STORY_LINE_BYTES - 1);
  if (!value_is(s, key, "beat")) return s->n_beats ? take_of_beat(s, key, v, error) : take_head(s, key, v, error);
  if (s->n_beats == STORY_BEATS_MAX) return fail(s, key.line, error, "more than %d beats", STORY_BEATS_MAX);
  if (v.length >= STORY_NAME_BYTES) return fail(s, key.line, error, "the name of a beat is too long");
  s->beats[s->n_beats++].name = v;
  return STATUS_OK;
}

static Status complete(Story *s, Error *error) {
  if (!*s->title || !s->n_beats || !s->n_sizes)
    return fail(s, 1, error, "a story has lines story and sizes, and at least one beat");
  bool is_size = s->usual_N == 0;
  if (!s->usual_N) s->usual_N = s->sizes[0];
  for (int k = 0; k < s->n_sizes; k++) is_size |= s->sizes[k] == s->usual_N;
  if (!is_size) return fail(s, 1, error, "the default is none of the sizes");
  for (int b = 0; b < s->n_beats; b++) {
    const StoryBeatText *beat = &s->beats[b];
    for (size_t k = 0; k < sizeof NEEDED / sizeof *NEEDED; k++)
      if (!beat->values[NEEDED[k]].length)
        return fail(s, beat->name.line, error, "the beat '%s' has no line '%s'",
                    quote(text_of(s, beat->name), beat->name.length).text, KEYS[NEEDED[k]]);
    if (!beat->values[STORY_ASK].length != !beat->values[STORY_ANSWER].length)
      return fail(s, beat->name.line, error, "ask and answer go together");
  }
  return STATUS_OK;
}

Story *story_read(const char *text, size_t length, const char *file, Error *error) {
  Story *s = length <= STORY_BYTES_MAX ? calloc(1, sizeof *s + length + 1) : NULL;
  if (!s) {
    error_set(error, length > STORY_BYTES_MAX ? STATUS_TOO_LARGE : STATUS_NO_MEMORY,
              length > STORY_BYTES_MAX ? "%s: a story has at most 64 KiB" : "%s: no memory", quote_text(file).text);
    return NULL;
  }
  snprintf(s->file, sizeof s->file, "%s", file);
  memcpy(s->text, text, length);
  s->length = length;
  Status status = memchr(text, '\0', length) ? fail(s, 1, error, "a byte 0 is in the text") : STATUS_OK;
  int line = 1;
  for (size_t at = 0; at < length && !status; line++) {
    const char *newline = memchr(text + at, '\n', length - at);
    const size_t end = newline ? (size_t)(newline - text) : length;
    StoryValue key, value;
    if (split(s, at, end, line, &key, &value)) status = take(s, key, value, error);
    at = end + 1;
  }
  if (!status) status = complete(s, error);
  if (!status) return s;
  free(s);
  return NULL;
}

void story_free(Story *story) { free(story); }

/* ---- Telling ----------------------------------------------------------------------------------------------- */

typedef struct {
  const Story *story;
  ExpressionScope *scope;
  Error *error;
} Teller;

static Status eval(const Teller *t, StoryValue v, ExpressionValue *value) {
  return expression_scope_eval(t->scope, text_of(t->story, v), v.length, v.line, value, t->error);
}

/* name = expression */
static Status let(const Teller *t, StoryValue v) {
  char source[STORY_LINE_BYTES + 16];
  ExpressionValue value;
  snprintf(source, sizeof source, "%.*s return true", (int)v.length, text_of(t->story, v));
  return expression_scope_eval(t->scope, source, strlen(source), v.line, &value, t->error);
}

/* Text for people: numbers as they are written elsewhere. */
static Status fill(const Teller *t, StoryValue v, char *text) {
  *text = '\0';
  if (!v.length) return STATUS_OK;
  return expression_scope_fill(t->scope, text_of(t->story, v), v.length, v.line, text, STORY_LINE_BYTES, t->error);
}

/* Text for programs: whole numbers without marks between thousands. */
static Status fill_plain(const Teller *t, StoryValue v, char *text) {
  const char *at = text_of(t->story, v), *const end = at + v.length;
  size_t used = 0;
  while (at < end) {
    const char *close = *at == '{' ? memchr(at, '}', (size_t)(end - at)) : NULL;
    if (!close) {
      text[used++] = *at++;
    } else {
      ExpressionValue value;
      const Status status = expression_scope_eval(t->scope, at + 1, (size_t)(close - at - 1), v.line, &value, t->error);
      if (status) return status;
      if (value.kind != EXPRESSION_NUMBER || !(fabs(value.numbers[0]) < 1e15))
        return fail(t->story, v.line, t->error, "what stands in braces is no number");
      used += (size_t)snprintf(text + used, STORY_LINE_BYTES - used, "%.0f", value.numbers[0]);
      at = close + 1;
    }
    if (used >= STORY_LINE_BYTES - 32) return fail(t->story, v.line, t->error, "the line becomes too long");
  }
  text[used] = '\0';
  return STATUS_OK;
}

static int words_in(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text != ' ' && (text[1] == ' ' || !text[1]);
  return n;
}

static Status tell_answer(const Teller *t, const StoryBeatText *from, StoryBeat *beat) {
  const StoryValue unit = from->values[STORY_UNIT];
  ExpressionValue value;
  char name[ANSWER_UNIT_BYTES];
  beat->asks = from->values[STORY_ASK].length > 0;
  if (!beat->asks) return STATUS_OK;
  Status status = eval(t, from->values[STORY_ANSWER], &value);
  if (status) return status;
  if (value.kind != EXPRESSION_NUMBER || !isfinite(value.numbers[0]))
    return fail(t->story, from->values[STORY_ANSWER].line, t->error, "the answer is no number");
  snprintf(name, sizeof name, "%.*s", (int)unit.length, text_of(t->story, unit));
  beat->key.low = beat->key.high = value.numbers[0];
  if (answer_unit(name, &beat->key.unit, NULL))
    return fail(t->story, unit.line, t->error, "'%s' is no unit", quote_text(name).text);
  answer_text(&beat->key, value.numbers[0], beat->answer, sizeof beat->answer);
  return STATUS_OK;
}

/* One more choice, kept in order of its value. */
static void add_choice(StoryBeat *beat, double *values, double value) {
  int at = beat->n_choices++;
  for (; at > 0 && values[at - 1] > value; at--) {
    values[at] = values[at - 1];
    memcpy(beat->choices[at], beat->choices[at - 1], sizeof *beat->choices);
  }
  values[at] = value;
  answer_text(&beat->key, value, beat->choices[at], sizeof *beat->choices);
}

/* A wrong answer must be one: told apart from the right one, and from the other wrong ones. */
static bool is_wrong(const StoryBeat *beat, double value) {
  char text[STORY_NAME_BYTES];
  Answer answer;
  AnswerVerdict verdict;
  answer_text(&beat->key, value, text, sizeof text);
  for (int k = 0; k < beat->n_choices; k++)
    if (strcmp(beat->choices[k], text) == 0) return false;
  return !answer_parse(text, strlen(text), &answer, NULL) && !answer_judge(&beat->key, &answer, &verdict, NULL) &&
         (verdict == ANSWER_WRONG || verdict == ANSWER_NEAR);
}

/* expression; expression; ... */
static Status tell_choices(const Teller *t, const StoryBeatText *from, StoryBeat *beat) {
  const StoryValue wrong = from->values[STORY_WRONG];
  const char *at = text_of(t->story, wrong), *const end = at + wrong.length;
  double values[STORY_CHOICES_MAX];
  if (!wrong.length) return STATUS_OK;
  if (!beat->asks) return fail(t->story, wrong.line, t->error, "a wrong answer, and nothing is asked");
  add_choice(beat, values, beat->key.low);
  while (at < end) {
    const char *next = memchr(at, ';', (size_t)(end - at));
    if (!next) next = end;
    ExpressionValue value;
    const Status status = expression_scope_eval(t->scope, at, (size_t)(next - at), wrong.line, &value, t->error);
    if (status) return status;
    if (value.kind != EXPRESSION_NUMBER || !isfinite(value.numbers[0]) || beat->n_choices == STORY_CHOICES_MAX)
      return fail(t->story, wrong.line, t->error, "wrong answers are at most %d numbers, with ; between",
                  STORY_CHOICES_MAX - 1);
    if (!is_wrong(beat, value.numbers[0]))
      return fail(t->story, wrong.line, t->error, "the wrong answer '%.60s' is right, or there twice",
                  quote(at, (size_t)(next - at)).text);
    add_choice(beat, values, value.numbers[0]);
    at = next < end ? next + 1 : end;
  }
  return STATUS_OK;
}

static Status tell_numbers(const Teller *t, const StoryBeatText *from, StoryBeat *beat) {
  const StoryValue camera = from->values[STORY_CAMERA], seconds = from->values[STORY_SECONDS];
  static const double WHOLE[4] = {0, 0, 1000, 1000};
  char text[STORY_LINE_BYTES];
  memcpy(beat->camera, WHOLE, sizeof WHOLE);
  beat->seconds = 12;
  snprintf(text, sizeof text, "%.*s", (int)camera.length, text_of(t->story, camera));
  double *c = beat->camera;
  if (camera.length && (sscanf(text, "%lf %lf %lf %lf", &c[0], &c[1], &c[2], &c[3]) != 4 || !(c[0] >= 0 && c[1] >= 0) ||
                        !(c[2] >= 100 && c[3] >= 100 && c[0] + c[2] <= 1000 && c[1] + c[3] <= 1000)))
    return fail(t->story, camera.line, t->error, "a camera is x y width height in thousandths of the picture");
  snprintf(text, sizeof text, "%.*s", (int)seconds.length, text_of(t->story, seconds));
  if (seconds.length && (sscanf(text, "%lf", &beat->seconds) != 1 || !(beat->seconds >= 1 && beat->seconds <= 120)))
    return fail(t->story, seconds.line, t->error, "a beat plays for 1 to 120 seconds");
  return STATUS_OK;
}

static Status tell_beat(const Teller *t, const StoryBeatText *from, StoryBeat *beat) {
  const Story *s = t->story;
  const StoryValue *v = from->values, holds = v[STORY_HOLDS];
  ExpressionValue truth;
  if (v[STORY_SCENE].length >= STORY_NAME_BYTES) return fail(s, v[STORY_SCENE].line, t->error, "no such scene");
  snprintf(beat->name, sizeof beat->name, "%.*s", (int)from->name.length, text_of(s, from->name));
  snprintf(beat->scene, sizeof beat->scene, "%.*s", (int)v[STORY_SCENE].length, text_of(s, v[STORY_SCENE]));
  snprintf(beat->lit, sizeof beat->lit, "%.*s", (int)v[STORY_LIT].length, text_of(s, v[STORY_LIT]));
  beat->line = from->name.line;
  Status status = eval(t, holds, &truth);
  if (!status && truth.kind != EXPRESSION_FLAG)
    return fail(s, holds.line, t->error, "'holds' is neither true nor false");
  if (!status) status = fill(t, v[STORY_CAPTION], beat->caption);
  if (!status && !truth.flag)
    return fail(s, v[STORY_CAPTION].line, t->error, "the caption of '%s' is false: '%.80s' does not hold", beat->name,
                quote(text_of(s, holds), holds.length).text);
  if (!status && words_in(beat->caption) > STORY_WORDS_MAX)
    return fail(s, v[STORY_CAPTION].line, t->error, "a caption has at most %d words; this one has %d", STORY_WORDS_MAX,
                words_in(beat->caption));
  if (!status) status = fill_plain(t, v[STORY_STATE], beat->state);
  if (!status) status = fill_plain(t, v[STORY_FROM], beat->from);
  if (!status) status = fill_plain(t, v[STORY_TO], beat->to);
  if (!status) status = fill(t, v[STORY_ASK], beat->ask);
  if (!status) status = fill(t, v[STORY_BECAUSE], beat->because);
  if (!status) status = tell_answer(t, from, beat);
  if (!status) status = tell_choices(t, from, beat);
  return status ? status : tell_numbers(t, from, beat);
}

StoryTold *story_tell(const Story *s, int64_t N, const ExpressionLimits *limits, Error *error) {
  Teller t = {.story = s, .error = error};
  ExpressionLimits named = limits ? *limits : (ExpressionLimits){0};
  if (N == 0) N = s->usual_N;
  bool is_size = false;
  for (int k = 0; k < s->n_sizes; k++) is_size |= s->sizes[k] == N;
  if (!is_size) {
    error_set(error, STATUS_BAD_REQUEST,
              "the story is not told at N = %" PRId64 "; its sizes are %" PRId64 " to %" PRId64, N, s->sizes[0],
              s->sizes[s->n_sizes - 1]);
    return NULL;
  }
  StoryTold *told = calloc(1, sizeof *told + (size_t)s->n_beats * sizeof *told->beats);
  named.file = s->file;
  Status status = told ? expression_scope_open(&t.scope, &named, error)
                       : error_set(error, STATUS_NO_MEMORY, "no memory for a story");
  const ExpressionValue size = {.kind = EXPRESSION_NUMBER, .n = 1, .numbers = {(double)N}};
  if (!status) status = expression_scope_set(t.scope, "N", &size, error);
  for (int k = 0; k < s->n_lets && !status; k++) status = let(&t, s->lets[k]);
  for (int k = 0; k < s->n_beats && !status; k++) status = tell_beat(&t, &s->beats[k], &told->beats[k]);
  if (t.scope) expression_scope_close(t.scope);
  if (status) {
    free(told);
    return NULL;
  }
  memcpy(told->title, s->title, sizeof told->title);
  told->N = N;
  told->n = s->n_beats;
  return told;
}
