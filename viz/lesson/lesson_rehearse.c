#include "viz/lesson/lesson_rehearse.h"

#include <inttypes.h>
#include <stdlib.h>

#include "viz/lesson/lesson_view.h"

typedef struct {
  const Lesson *lesson;
  LessonRun run;
  LessonScreen screen;
  bool has_screen;
  char state[LESSON_STATE_BYTES];
  LessonQuestion question;
  char text[LESSON_PROSE_BYTES];
} Rehearsal;

static Status fill(Rehearsal *r, LessonText text, Error *error) {
  return text.offset ? lesson_run_fill(&r->run, text, r->text, sizeof r->text, error) : STATUS_OK;
}

/* An error with its place. */
static Status at_line(const Rehearsal *r, int line, Status status, const Error *why, Error *error) {
  if (status == STATUS_NO_MEMORY) return error_set(error, status, "%s", why->message);
  return error_set(error, STATUS_BAD_FILE, "%s:%d: %s", r->lesson->file, line, why->message);
}

/* Opens the view of the state in force, unless it is open. */
static Status open_state(Rehearsal *r, int line, Error *error) {
  Error why = {0};
  if (r->has_screen) return STATUS_OK;
  r->has_screen = true;
  const Status status = lesson_screen_open(&r->screen, r->state, "", &why);
  return status ? at_line(r, line, status, &why, error) : STATUS_OK;
}

static void close_state(Rehearsal *r) {
  if (r->has_screen) lesson_screen_free(&r->screen);
  r->has_screen = false;
}

static Status rehearse_show(Rehearsal *r, const LessonBlock *b, Error *error) {
  LessonShow show;
  Status status = lesson_run_show(&r->run, b, &show, error);
  if (!status) status = open_state(r, b->text.line, error);
  if (!status && show.has_steps && show.n_scores == 0 && show.scene != SCENE_SOFTMAX &&
      (uint64_t)show.first >= r->screen.stage.n_steps)
    status = error_set(error, STATUS_BAD_FILE, "%s:%d: steps begin at %" PRId64 ", and the run has %" PRIu64 " events",
                       r->lesson->file, b->text.line, show.first, r->screen.stage.n_steps);
  return status ? status : fill(r, b->caption, error);
}

static Status rehearse_ask(Rehearsal *r, int index, Error *error) {
  const LessonAsk *ask = &r->lesson->asks[index];
  Status status = lesson_run_question(&r->run, index, &r->question, error);
  for (int k = 0; k < ask->n_hints && !status; k++) status = fill(r, ask->hint[k], error);
  if (!status) status = lesson_run_explain(&r->run, &r->question, r->text, LESSON_MESSAGE_BYTES, error);
  for (int k = 0; k < ask->n_wrong && !status; k++) status = fill(r, ask->wrong[k].text, error);
  return status;
}

static Status rehearse_task(Rehearsal *r, const LessonBlock *b, Error *error) {
  const LessonTask *task = &r->lesson->tasks[b->task];
  bool done;
  Status status = fill(r, b->text, error);
  for (int k = 0; k < task->n_hints && !status; k++) status = fill(r, task->hint[k], error);
  if (!status) status = fill(r, task->explain, error);
  if (status || !task->until.offset) return status;
  status = lesson_task_solution(&r->run, task, r->text, LESSON_STATE_BYTES, error);
  if (!status) status = open_state(r, task->line, error);
  return status ? status : lesson_task_check(&r->run, task, &r->screen.view, &done, error);
}

static Status rehearse_block(Rehearsal *r, const LessonBlock *b, Error *error) {
  Status status;
  switch (b->kind) {
  case LESSON_PROSE: return fill(r, b->text, error);
  case LESSON_STATE:
    close_state(r);
    status = lesson_run_state(&r->run, b, r->state, sizeof r->state, error);
    return status ? status : open_state(r, b->text.line, error);
  case LESSON_SHOW: return rehearse_show(r, b, error);
  case LESSON_ASK: return rehearse_ask(r, b->ask, error);
  case LESSON_TASK: return rehearse_task(r, b, error);
  default: return STATUS_OK;
  }
}

Status lesson_rehearse(const Lesson *lesson, uint64_t seed, Error *error) {
  Rehearsal *r = calloc(1, sizeof *r);
  if (!r) return error_set(error, STATUS_NO_MEMORY, "no memory for a lesson");
  r->lesson = lesson;
  Status status = lesson_run_start(&r->run, lesson, &LESSON_LIMITS, seed, error);
  for (size_t k = 0; k < lesson->n_blocks && !status; k++) status = rehearse_block(r, &lesson->blocks[k], error);
  close_state(r);
  lesson_run_end(&r->run);
  free(r);
  return status;
}
