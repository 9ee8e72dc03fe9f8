/* A learner in a lesson: what is on the page, what was answered, what plays. One for the terminal, the window and the
 * browser: each draws its page (lessons/engine/lesson_page.h), and gives it what the learner does.
 *
 *     next, back, choose, check, hint  ->  session  ->  page        session  ->  viewer: states, shows
 *
 * A page goes from one "## " to the next. On it stands what the learner has been through, and below that the one thing
 * that is open: a question, a show that plays, a task. `next` goes on from there.
 *
 * Nothing is drawn here and no clock is read. The first error of the lesson's expressions stays in `error`, and the
 * lesson goes no further. */
#ifndef TILEWALK_LESSONS_ENGINE_LESSON_SESSION_H
#define TILEWALK_LESSONS_ENGINE_LESSON_SESSION_H

#include "lessons/engine/lesson_progress.h"
#include "lessons/engine/lesson_task.h"

enum { LESSON_TYPED_BYTES = 200, LESSON_HINT_BYTES = 1000, LESSON_STATE_BYTES = 1024, LESSON_HANDED_IN_BYTES = 4096 };

/* Hints that were given, each in one line. `at`: the version of the session when they were. */
typedef struct {
  int n;
  unsigned at[LESSON_HINTS_MAX];
  char text[LESSON_HINTS_MAX][LESSON_HINT_BYTES];
} LessonHints;

/* A question as the learner left it. */
typedef struct {
  bool is_asked, is_resolved, is_right, is_skipped;
  bool is_stale;       /* what is in the field was graded: typing replaces it */
  bool is_from_before; /* answered when the lesson was open another time */
  int tries;
  unsigned tried;                         /* wrong choices: bit k is place k */
  int order[ANSWER_CHOICES_MAX], n_order; /* places, as far as they were put in order */
  char typed[LESSON_TYPED_BYTES];         /* the field; of a prediction what was predicted */
  bool has_verdict;
  LessonVerdict verdict;                /* of the last try */
  unsigned said_at, resolved_at;        /* versions of the session */
  unsigned shown_at;                    /* the same of the show that a prediction waited for */
  char said[LESSON_MESSAGE_BYTES];      /* about it */
  char explained[LESSON_MESSAGE_BYTES]; /* after a skip, or after the show of a prediction */
  LessonHints hints;
} LessonAnswer;

/* A task as the learner left it. */
typedef struct {
  bool is_done, is_skipped;
  unsigned done_at; /* version of the session */
  char explained[LESSON_MESSAGE_BYTES];
  char solution[LESSON_STATE_BYTES];
  LessonHints hints;
} LessonDeed;

/* What shows the lesson's states and runs. Of the terminal only `set` is there: its pictures are on the page. */
typedef struct {
  void *data;
  void (*set)(void *data, const char *state, SceneKind scene); /* shows a state; SCENE_COUNT: whichever scene */
  uint64_t (*play)(void *data, const LessonShow *show);        /* up to the step that it returns; 0: nothing plays */
  bool (*is_through)(void *data, uint64_t step);               /* it has come there */
  void (*stop)(void *data, uint64_t step);                     /* is there at once; 0: where it is */
  void (*solve)(void *data, const char *state, const char *solution);
  bool (*look)(void *data, LessonView *view); /* what is looked at; false: the same as when it was asked last */
} LessonViewer;

#define LESSON_NO_BLOCK SIZE_MAX

typedef struct {
  Lesson lesson;
  LessonRun run;
  LessonProgress progress;
  LessonViewer viewer;
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
  char *written; /* the file that answers `written_for`, as it was last given; NULL: not yet */
  int written_for;
  Error error;
  unsigned version; /* counts changes of what the page says */
} LessonSession;

typedef struct {
  uint64_t seed;
  bool has_seed, restart;
} LessonSessionOptions;

/* Takes the lesson over: it is empty afterwards. `warnings` gets a line when the record of progress is damaged. Close
 * the session even after an error. */
Status lesson_session_open(LessonSession *session, Lesson *lesson, const ExpressionLimits *limits,
                           const LessonSessionOptions *options, FILE *warnings, Error *error);
void lesson_session_close(LessonSession *session);

/* Goes to where the learner was, and has the viewer show it. The viewer outlives the session. */
void lesson_session_start(LessonSession *session, const LessonViewer *viewer);

/* The blocks on the page: [session->page, end). */
size_t lesson_session_page_end(const LessonSession *session);
int lesson_session_page_number(const LessonSession *session); /* from 1 */
bool lesson_session_is_finished(const LessonSession *session);
bool lesson_session_is_review(const LessonSession *session); /* an earlier page is looked at */

/* The block that is open on this page; NULL: it ends here. */
const LessonBlock *lesson_session_block(const LessonSession *session);

/* The question or task that is open on this page; -1: none. */
int lesson_session_ask(const LessonSession *session);
int lesson_session_task(const LessonSession *session);

/* What is to be done next, in a word or two: "Next", "Skip", "Show answer", "Finish". */
const char *lesson_session_next_label(const LessonSession *session);

/* What can be pressed on a page, with a number: a place of a choice, the block of a show. */
typedef enum { ACT_NONE = 0, ACT_TYPE, ACT_CHOOSE, ACT_CHECK, ACT_HINT, ACT_NEXT, ACT_BACK, ACT_PLAY } LessonAct;
void lesson_session_press(LessonSession *session, LessonAct act, int number);

void lesson_session_next(LessonSession *session);
bool lesson_session_can_go_back(const LessonSession *session);

/* The open question: the field, and grading what was typed, of whatever kind the question is. */
bool lesson_session_is_typed(const LessonSession *session, int ask); /* a number */
void lesson_session_type(LessonSession *session, const char *text);
void lesson_session_erase(LessonSession *session);
void lesson_session_write(LessonSession *session, const char *text); /* a program or a kernel, whole */
void lesson_session_grade(LessonSession *session, const char *typed);

/* One more hint on what is open; false: there is none. */
bool lesson_session_hint(LessonSession *session);
int lesson_session_hints_left(const LessonSession *session);

/* Whether the open task is done by what is looked at. */
bool lesson_session_try(LessonSession *session, const LessonView *view);

/* The viewer may have moved: ends a show, checks the open task. Returns whether the page changed. */
bool lesson_session_look(LessonSession *session);

/* The prediction that the show of a block answers; -1: none. */
int lesson_session_prediction(const LessonSession *session, size_t block);

/* A text of the lesson, filled in, with a budget of its own; "" and the error kept when that fails. */
const char *lesson_session_fill(LessonSession *session, LessonText text, char *filled, size_t size);

#endif
