#include "lessons/engine/story.h"

#include <stdio.h>
#include <stdlib.h>

#include "lessons/engine/lesson_read.h"

int64_t story_size(const Lesson *story, int k) {
  for (int d = 0; d < story->n_draws; d++)
    if (strcmp(story->draw[d].name, "N") == 0 && !story->draw[d].is_range && k < story->draw[d].n)
      return strtoll(story->draw[d].value[k].text, NULL, 10);
  return 0;
}

static int words_in(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text != ' ' && (text[1] == ' ' || !text[1]);
  return n;
}

/* A show, with the state and the prediction that stand before it. */
static void tell_show(LessonRun *run, const LessonBlock *b, StoryBeat *beat, Error *error) {
  char line[LESSON_LINE_BYTES];
  const char *file = run->lesson->file;
  Error why = {0};
  beat->line = b->text.line;
  if (!lesson_run_line(run, b->text, line, sizeof line, error) &&
      lesson_show_parse(line, &beat->show, &beat->moments, &why))
    keyfile_refuse(file, beat->line, error, "%s", why.message);
  lesson_run_line(run, b->caption, beat->caption, sizeof beat->caption, error);
  if (!*beat->caption || words_in(beat->caption) > STORY_WORDS_MAX)
    keyfile_refuse(file, beat->line, error, "a caption has 1 to %d words; this one has %d", STORY_WORDS_MAX,
                   words_in(beat->caption));
  if (!beat->asks || error->status) return;
  if (!beat->question.n_choices && (beat->show.scene != SCENE_PILES || strcmp(beat->question.key.unit.name, "x") != 0))
    keyfile_refuse(file, beat->line, error, "a story's question has options, or is in x of piles");
  lesson_run_explain(run, &beat->question, beat->because, sizeof beat->because, error);
}

static void tell(LessonRun *run, StoryTold *told, Error *error) {
  const Lesson *l = run->lesson;
  for (size_t k = 0; k < l->n_blocks && !error->status; k++) {
    StoryBeat *beat = &told->beats[told->n];
    const LessonBlock *b = &l->blocks[k];
    if (b->kind == LESSON_STATE) lesson_run_state(run, b, beat->state, sizeof beat->state, error);
    if (b->kind == LESSON_ASK) {
      lesson_run_question(run, b->ask, &beat->question, error);
      beat->asks = true;
    }
    if (b->kind != LESSON_SHOW) continue;
    if (!*beat->state && told->n) memcpy(beat->state, beat[-1].state, sizeof beat->state);
    if (told->n++ == STORY_BEATS_MAX)
      keyfile_refuse(l->file, b->text.line, error, "more than %d shows", STORY_BEATS_MAX);
    else
      tell_show(run, b, beat, error);
  }
  if (told->n == 0) keyfile_refuse(l->file, l->title.line, error, "the story shows nothing");
}

StoryTold *story_tell(const Lesson *story, int64_t N, const ExpressionLimits *limits, Error *error) {
  LessonRun run = {0};
  Error own = {0};
  int size = 0;
  while (N && story_size(story, size) && story_size(story, size) != N) size++;
  if (!story_size(story, size)) {
    error_refuse(error, "%s:%d: the story is not told at N = %jd; its sizes are a list, 'draw: N from A, B'",
                 story->file, story->title.line, N);
    return NULL;
  }
  StoryTold *told = calloc(1, sizeof *told + (story->n_blocks + 1) * sizeof *told->beats);
  if (!told)
    error_no_memory(&own, "for a story");
  else if (!lesson_run_start_variant(&run, story, limits, size, &own))
    tell(&run, told, &own);
  lesson_run_end(&run);
  if (error_pass(error, &own)) {
    free(told);
    return NULL;
  }
  snprintf(told->title, sizeof told->title, "%s", story->title.text);
  told->N = story_size(story, size);
  return told;
}

const char *story_judge(const StoryBeat *beat, const char *typed) {
  static const char *const SAID[] = {[ANSWER_RIGHT] = "Right",
                                     [ANSWER_ROUGH] = "About right",
                                     [ANSWER_OTHER_UNIT] = "Right, in another unit",
                                     [ANSWER_NEAR] = "Near",
                                     [ANSWER_WRONG] = "No"};
  const LessonQuestion *q = &beat->question;
  Answer answer;
  AnswerVerdict verdict;
  if (q->n_choices) return SAID[strcmp(typed, q->choice[q->right]) == 0 ? ANSWER_RIGHT : ANSWER_WRONG];
  if (answer_parse(typed, strlen(typed), &answer, NULL) || answer_judge(&q->key, &answer, &verdict, NULL))
    return "That is no number";
  return SAID[verdict];
}
