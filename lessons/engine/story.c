#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include "lessons/engine/story.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"
#include "sim/base/quote.h"

static const char *const KEYS[STORY_KEY_COUNT] = {
    [STORY_SCENE] = "scene", [STORY_STATE] = "state",     [STORY_FROM] = "from",       [STORY_TO] = "to",
    [STORY_LIT] = "lit",     [STORY_DIM] = "dim",         [STORY_CAMERA] = "camera",   [STORY_CAPTION] = "caption",
    [STORY_HOLDS] = "holds", [STORY_ASK] = "ask",         [STORY_ANSWER] = "answer",   [STORY_UNIT] = "unit",
    [STORY_WRONG] = "wrong", [STORY_BECAUSE] = "because", [STORY_SECONDS] = "seconds",
};
static const char *const HEAD[] = {"story", "sizes", "default", "let", "beat"};
static const StoryKey NEEDED[] = {STORY_SCENE, STORY_STATE, STORY_FROM, STORY_TO, STORY_CAPTION, STORY_HOLDS};

/* ---- Reading ----------------------------------------------------------------------------------------------- */

static const char *text_of(const Story *s, LessonText v) { return pool_text(&s->pool, v.offset); }

#define REFUSE(r, ...) LESSON_REFUSE(r, (r)->line, __VA_ARGS__)

static Status take_sizes(LessonReader *r, Story *s, const char *at) {
  for (char *after; *at; at = after + strspn(after, " \t")) {
    const long long N = strtoll(at, &after, 10);
    if (after == at || N < 1 || N > 1 << 20 || s->n_sizes == STORY_SIZES_MAX || (*after && !strchr(" \t", *after)))
      return REFUSE(r, "sizes are at most %d whole numbers of tokens up to 1M, with blanks between", STORY_SIZES_MAX);
    s->sizes[s->n_sizes++] = N;
  }
  return STATUS_OK;
}

/* What stands before the first beat. */
static Status take_head(LessonReader *r, Story *s, Piece key, LessonText v) {
  if (piece_is(key, "story")) return snprintf(s->title, sizeof s->title, "%s", text_of(s, v)), STATUS_OK;
  if (piece_is(key, "sizes")) return take_sizes(r, s, text_of(s, v));
  if (piece_is(key, "default")) return s->usual_N = strtoll(text_of(s, v), NULL, 10), STATUS_OK;
  if (!piece_is(key, "let"))
    return lesson_refuse_key(r, key, HEAD, sizeof HEAD / sizeof *HEAD, "a story's head", r->line);
  if (s->n_lets == STORY_LETS_MAX) return REFUSE(r, "more than %d lets", STORY_LETS_MAX);
  s->lets[s->n_lets++] = v;
  return STATUS_OK;
}

static Status take_of_beat(LessonReader *r, Story *s, Piece key, LessonText v) {
  StoryBeatText *beat = &s->beats[s->n_beats - 1];
  for (int k = 0; k < STORY_KEY_COUNT; k++) {
    if (!piece_is(key, KEYS[k])) continue;
    if (beat->values[k].offset) return REFUSE(r, "a second '%s' in one beat", KEYS[k]);
    beat->values[k] = v;
    return STATUS_OK;
  }
  return lesson_refuse_key(r, key, KEYS, STORY_KEY_COUNT, "a beat", r->line);
}

/* "key   value"; '#' begins a comment. */
static Status take(LessonReader *r, Story *s, Piece line) {
  LessonText v;
  Piece key = piece_trim(line);
  size_t n = 0;
  while (n < key.length && !ascii_is_space((unsigned char)key.text[n])) n++;
  const Piece value = piece_after(key, n);
  key.length = n;
  if (n == 0 || *key.text == '#') return STATUS_OK;
  if (value.length == 0) return REFUSE(r, "a key without a value");
  if (value.length >= STORY_LINE_BYTES) return REFUSE(r, "a value of more than %d bytes", STORY_LINE_BYTES - 1);
  const Status status = lesson_add_text(r, value, r->line, &v);
  if (status) return status;
  if (!piece_is(key, "beat")) return s->n_beats ? take_of_beat(r, s, key, v) : take_head(r, s, key, v);
  if (s->n_beats == STORY_BEATS_MAX) return REFUSE(r, "more than %d beats", STORY_BEATS_MAX);
  if (value.length >= STORY_NAME_BYTES) return REFUSE(r, "the name of a beat is too long");
  s->beats[s->n_beats++].name = v;
  return STATUS_OK;
}

static Status complete(LessonReader *r, Story *s) {
  if (!*s->title || !s->n_beats || !s->n_sizes)
    return LESSON_REFUSE(r, 1, "a story has lines story and sizes, and at least one beat");
  bool is_size = s->usual_N == 0;
  if (!s->usual_N) s->usual_N = s->sizes[0];
  for (int k = 0; k < s->n_sizes; k++) is_size |= s->sizes[k] == s->usual_N;
  if (!is_size) return LESSON_REFUSE(r, 1, "the default is none of the sizes");
  for (int b = 0; b < s->n_beats; b++) {
    const StoryBeatText *beat = &s->beats[b];
    for (size_t k = 0; k < sizeof NEEDED / sizeof *NEEDED; k++)
      if (!beat->values[NEEDED[k]].offset)
        return LESSON_REFUSE(r, beat->name.line, "the beat '%s' has no line '%s'",
                             quote_text(text_of(s, beat->name)).text, KEYS[NEEDED[k]]);
    if (!beat->values[STORY_ASK].offset != !beat->values[STORY_ANSWER].offset)
      return LESSON_REFUSE(r, beat->name.line, "ask and answer go together");
  }
  return STATUS_OK;
}

Story *story_read(const char *text, size_t length, const char *file, Error *error) {
  Story *s = calloc(1, sizeof *s);
  if (!s) {
    error_set(error, STATUS_NO_MEMORY, "no memory for a story");
    return NULL;
  }
  snprintf(s->file, sizeof s->file, "%s", quote_text(file).text);
  LessonReader r = lesson_reader(s->file, &s->pool, text, length, error);
  Status status = length > STORY_BYTES_MAX ? LESSON_REFUSE(&r, 1, "a story has at most 64 KiB") : STATUS_OK;
  while (!status && r.rest.length) {
    Piece line;
    status = lesson_next_line(&r, &line);
    if (!status) status = take(&r, s, line);
  }
  if (!status) status = complete(&r, s);
  if (!status) return s;
  story_free(s);
  return NULL;
}

void story_free(Story *story) {
  if (story) pool_free(&story->pool);
  free(story);
}

/* ---- Telling ----------------------------------------------------------------------------------------------- */

typedef struct {
  const Story *story;
  ExpressionScope *scope;
  Error *error;
} Teller;

__attribute__((format(printf, 3, 4))) static Status fail(const Teller *t, int line, const char *format, ...) {
  char what[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return lesson_refuse(t->story->file, line, t->error, "%s", what);
}

static Status eval_text(const Teller *t, const char *source, int line, ExpressionValue *value) {
  return expression_scope_eval(t->scope, source, strlen(source), line, value, t->error);
}

static Status eval(const Teller *t, LessonText v, ExpressionValue *value) {
  return eval_text(t, text_of(t->story, v), v.line, value);
}

/* name = expression */
static Status let(const Teller *t, LessonText v) {
  char source[STORY_LINE_BYTES + 16];
  ExpressionValue value;
  snprintf(source, sizeof source, "%s return true", text_of(t->story, v));
  return eval_text(t, source, v.line, &value);
}

/* Text for people: numbers as they are written elsewhere. */
static Status fill(const Teller *t, LessonText v, char *text) {
  const char *from = text_of(t->story, v);
  return expression_scope_fill(t->scope, from, strlen(from), v.line, text, STORY_LINE_BYTES, t->error);
}

/* Text for programs. */
static Status fill_plain(const Teller *t, LessonText v, char *text) {
  const Status status = fill(t, v, text);
  if (!status) lesson_plain_numbers(text);
  return status;
}

static int words_in(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text != ' ' && (text[1] == ' ' || !text[1]);
  return n;
}

static Status tell_answer(const Teller *t, const StoryBeatText *from, StoryBeat *beat) {
  const LessonText unit = from->values[STORY_UNIT];
  ExpressionValue value;
  char name[ANSWER_UNIT_BYTES];
  beat->asks = from->values[STORY_ASK].offset > 0;
  if (!beat->asks) return STATUS_OK;
  Status status = eval(t, from->values[STORY_ANSWER], &value);
  if (status) return status;
  if (value.kind != EXPRESSION_NUMBER || !isfinite(value.numbers[0]))
    return fail(t, from->values[STORY_ANSWER].line, "the answer is no number");
  snprintf(name, sizeof name, "%s", text_of(t->story, unit));
  beat->key.low = beat->key.high = value.numbers[0];
  if (answer_unit(name, &beat->key.unit, NULL)) return fail(t, unit.line, "'%s' is no unit", quote_text(name).text);
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
  const LessonText wrong = from->values[STORY_WRONG];
  char list[STORY_LINE_BYTES], *rest = list;
  double values[STORY_CHOICES_MAX];
  if (!wrong.offset) return STATUS_OK;
  if (!beat->asks) return fail(t, wrong.line, "a wrong answer, and nothing is asked");
  add_choice(beat, values, beat->key.low);
  snprintf(list, sizeof list, "%s", text_of(t->story, wrong));
  for (char *one; (one = strtok_r(rest, ";", &rest));) {
    ExpressionValue value;
    const Status status = eval_text(t, one, wrong.line, &value);
    if (status) return status;
    if (value.kind != EXPRESSION_NUMBER || !isfinite(value.numbers[0]) || beat->n_choices == STORY_CHOICES_MAX)
      return fail(t, wrong.line, "wrong answers are at most %d numbers, with ; between", STORY_CHOICES_MAX - 1);
    if (!is_wrong(beat, value.numbers[0]))
      return fail(t, wrong.line, "the wrong answer '%.60s' is right, or there twice", quote_text(one).text);
    add_choice(beat, values, value.numbers[0]);
  }
  return STATUS_OK;
}

static Status tell_numbers(const Teller *t, const StoryBeatText *from, StoryBeat *beat) {
  const LessonText camera = from->values[STORY_CAMERA], seconds = from->values[STORY_SECONDS];
  static const double WHOLE[4] = {0, 0, 1000, 1000};
  memcpy(beat->camera, WHOLE, sizeof WHOLE);
  beat->seconds = 12;
  double *c = beat->camera;
  if (camera.offset &&
      (sscanf(text_of(t->story, camera), "%lf %lf %lf %lf", &c[0], &c[1], &c[2], &c[3]) != 4 ||
       !(c[0] >= 0 && c[1] >= 0) || !(c[2] >= 100 && c[3] >= 100 && c[0] + c[2] <= 1000 && c[1] + c[3] <= 1000)))
    return fail(t, camera.line, "a camera is x y width height in thousandths of the picture");
  if (seconds.offset &&
      (sscanf(text_of(t->story, seconds), "%lf", &beat->seconds) != 1 || !(beat->seconds >= 1 && beat->seconds <= 120)))
    return fail(t, seconds.line, "a beat plays for 1 to 120 seconds");
  return STATUS_OK;
}

static Status tell_beat(const Teller *t, const StoryBeatText *from, StoryBeat *beat) {
  const Story *s = t->story;
  const LessonText *v = from->values, holds = v[STORY_HOLDS];
  ExpressionValue truth;
  if (strlen(text_of(s, v[STORY_SCENE])) >= STORY_NAME_BYTES) return fail(t, v[STORY_SCENE].line, "no such scene");
  snprintf(beat->name, sizeof beat->name, "%s", text_of(s, from->name));
  snprintf(beat->scene, sizeof beat->scene, "%s", text_of(s, v[STORY_SCENE]));
  snprintf(beat->lit, sizeof beat->lit, "%s", text_of(s, v[STORY_LIT]));
  beat->line = from->name.line;
  Status status = eval(t, holds, &truth);
  if (!status && truth.kind != EXPRESSION_FLAG) return fail(t, holds.line, "'holds' is neither true nor false");
  if (!status) status = fill(t, v[STORY_CAPTION], beat->caption);
  if (!status && !truth.flag)
    return fail(t, v[STORY_CAPTION].line, "the caption of '%s' is false: '%.80s' does not hold", beat->name,
                quote_text(text_of(s, holds)).text);
  if (!status && words_in(beat->caption) > STORY_WORDS_MAX)
    return fail(t, v[STORY_CAPTION].line, "a caption has at most %d words; this one has %d", STORY_WORDS_MAX,
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
