/* A learner in a lesson beside the viewer: what is on the page, what was answered, what plays. The same
 * files, engine and record of progress as in the terminal (viz/cli/lesson_walk.c).
 *
 *     next, back, choose, check, hint, skip  ->  session (and the player, which it drives)  ->  lesson_flow
 *
 * A page goes from one "## " to the next. On it stands what the learner has been through, and below that
 * the one thing that is open: a question, a show that plays, a task. `next` goes on from there.
 *
 * Nothing is drawn here and no clock is read, so all of it is tested without a window. The first error of
 * the lesson's expressions stays in `error`, and the lesson goes no further. */
#ifndef TILEWALK_VIZ_LESSON_LESSON_SESSION_H
#define TILEWALK_VIZ_LESSON_LESSON_SESSION_H

#include "viz/lesson/lesson_library.h"
#include "lessons/engine/lesson_progress.h"
#include "viz/lesson/lesson_view.h"
#include "viz/player/player.h"

enum { LESSON_TYPED_BYTES = 200, LESSON_HINT_BYTES = 1000 };

/* A question as the learner left it. */
typedef struct {
  bool is_asked, is_resolved, is_right, is_skipped;
  bool is_stale;       /* what is in the field was graded: typing replaces it */
  bool is_from_before; /* answered when the lesson was open another time */
  int tries, n_hints;
  unsigned tried;                         /* wrong choices: bit k is place k */
  int order[ANSWER_CHOICES_MAX], n_order; /* places, as far as they were put in order */
  char typed[LESSON_TYPED_BYTES];         /* the field; of a prediction what was predicted */
  bool has_verdict;
  LessonVerdict verdict;                /* of the last try */
  char said[LESSON_MESSAGE_BYTES];      /* about it */
  char explained[LESSON_MESSAGE_BYTES]; /* after a skip, or after the show of a prediction */
  char hint[LESSON_HINTS_MAX][LESSON_HINT_BYTES];
} LessonAnswer;

/* A task as the learner left it. */
typedef struct {
  bool is_done, is_skipped;
  int n_hints;
  char explained[LESSON_MESSAGE_BYTES];
  char solution[LESSON_STATE_BYTES];
  char hint[LESSON_HINTS_MAX][LESSON_HINT_BYTES];
} LessonDeed;

#define LESSON_NO_BLOCK SIZE_MAX

typedef struct {
  Lesson lesson;
  LessonRun run;
  LessonProgress progress;
  LessonQuestion *questions; /* n_asks each */
  LessonAnswer *answers;
  LessonDeed *deeds;                /* n_tasks */
  size_t current;                   /* the block with which the learner's page begins */
  size_t page;                      /* the same of the page that is looked at: that one or an earlier */
  size_t at;                        /* the first block that is not behind the learner */
  size_t reached;                   /* the furthest that `at` has been */
  size_t plays;                     /* the show that is played, or LESSON_NO_BLOCK */
  uint64_t plays_to;                /* the step at which it is through */
  bool is_shown[LESSON_BLOCKS_MAX]; /* shows that were played */
  int n_pages;
  char checked[REQUEST_STATE_BYTES]; /* the view for which the open task was last checked */
  Error error;
  unsigned version; /* counts changes of what the page says */
} LessonSession;

typedef struct {
  uint64_t seed;
  bool has_seed, restart;
  LessonNeeds *needs;
} LessonSessionOptions;

/* Reads the lesson and all that it computes, so that a lesson that cannot be run is refused before a window
 * opens. `warnings` gets a line when the record of progress is damaged. Close it even after an error. */
Status lesson_session_open(LessonSession *session, const char *name, const LessonSessionOptions *options,
                           FILE *warnings, Error *error);
void lesson_session_close(LessonSession *session);

/* Goes to where the learner was; sets the player. */
void lesson_session_start(LessonSession *session, Player *player);

/* The blocks on the page: [session->page, end). */
size_t lesson_session_page_end(const LessonSession *session);
int lesson_session_page_number(const LessonSession *session); /* from 1 */
bool lesson_session_is_finished(const LessonSession *session);
bool lesson_session_is_review(const LessonSession *session); /* an earlier page is looked at */

/* The question or task that is open on this page; -1: none. */
int lesson_session_ask(const LessonSession *session);
int lesson_session_task(const LessonSession *session);

/* What is to be done next, in a word or two: "Next", "Skip", "Show answer", "Finish". */
const char *lesson_session_next_label(const LessonSession *session);

void lesson_session_next(LessonSession *session, Player *player);
void lesson_session_back(LessonSession *session, Player *player);
bool lesson_session_can_go_back(const LessonSession *session);

/* The open question: the field, a choice (or the next place of an order), and grading. */
void lesson_session_type(LessonSession *session, const char *text);
void lesson_session_erase(LessonSession *session);
void lesson_session_choose(LessonSession *session, Player *player, int place);
void lesson_session_check(LessonSession *session, Player *player);
void lesson_session_hint(LessonSession *session);
int lesson_session_hints_left(const LessonSession *session);

/* Plays the show of a block (again). */
void lesson_session_play(LessonSession *session, Player *player, size_t block);

/* The player may have moved: ends a show, checks the open task. Returns whether the page changed. */
bool lesson_session_look(LessonSession *session, Player *player);

/* The prediction that the show of a block answers; -1: none. */
int lesson_session_prediction(const LessonSession *session, size_t block);

#endif
