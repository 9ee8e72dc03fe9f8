#include "lessons/engine/lesson_session.h"

#include <stdlib.h>

#include "lessons/engine/lesson_read.h"
#include "sim/base/ascii.h"
#include "sim/base/text_add.h"

static void changed(LessonSession *s) { s->version++; }

/* Of what noted its error in s->error, where the first stays: whether there was one, which changes the page. */
static bool failed(LessonSession *s, Status status) {
  if (status) changed(s);
  return status != STATUS_OK;
}

const char *lesson_session_fill(LessonSession *s, LessonText text, char *filled, size_t size) {
  filled[0] = '\0';
  lesson_run_refill(&s->run);
  if (text.text && !s->error.status && failed(s, lesson_run_fill(&s->run, text, filled, size, &s->error)))
    filled[0] = '\0';
  return filled;
}

/* ---- Pages ----------------------------------------------------------------------------------------------- */

static const LessonBlock *block_at(const LessonSession *s, size_t k) {
  return k < s->lesson.n_blocks ? &s->lesson.blocks[k] : NULL;
}

static bool begins_page(const LessonSession *s, size_t k) {
  const LessonBlock *b = block_at(s, k);
  return k == 0 || (b && b->kind == LESSON_PROSE && strncmp(b->text.text, "## ", 3) == 0);
}

static size_t page_of(const LessonSession *s, size_t k) {
  if (k >= s->lesson.n_blocks) k = s->lesson.n_blocks ? s->lesson.n_blocks - 1 : 0;
  while (!begins_page(s, k)) k--;
  return k;
}

static size_t page_after(const LessonSession *s, size_t page) {
  size_t k = page + 1;
  while (k < s->lesson.n_blocks && !begins_page(s, k)) k++;
  return k;
}

/* Whether the block at `at` waits on this page. */
static bool is_open_here(const LessonSession *s) { return s->page == s->current && s->at < page_after(s, s->current); }

const LessonBlock *lesson_session_block(const LessonSession *s) { return is_open_here(s) ? block_at(s, s->at) : NULL; }

/* ---- Keeping --------------------------------------------------------------------------------------------- */

/* A prediction counts when its show was seen: until then it is asked again. */
static void keep(LessonSession *s) {
  const int waits = s->at < s->lesson.n_blocks && !s->is_shown[s->at] ? lesson_session_prediction(s, s->at) : -1;
  const size_t block = waits >= 0 ? lesson_block_of(&s->lesson, waits) : s->at;
  if (block < s->reached) return;
  s->reached = block;
  lesson_progress_at(&s->progress, s->lesson.name, (int64_t)block, block == s->lesson.n_blocks);
  failed(s, lesson_progress_save(&s->progress, &s->error));
}

/* Adds the answer as it stands to the record. */
static void keep_answer(LessonSession *s, int ask) {
  const LessonAnswer *a = &s->answers[ask];
  lesson_progress_answer(&s->progress, s->lesson.name, s->lesson.asks[ask].id,
                         a->is_right && !s->lesson.asks[ask].is_prediction, a->tries, a->hints.n);
  failed(s, lesson_progress_save(&s->progress, &s->error));
}

/* The first answer was wrong, or the right one is asked for: it is to be practised. */
static void missed(LessonSession *s, int ask) {
  char skill[PRACTICE_NAME_BYTES];
  if (!lesson_skill(&s->lesson, ask, skill) || s->answers[ask].tries || s->answers[ask].is_from_before) return;
  const PracticeSkill known = lesson_progress_skill(&s->progress, skill);
  lesson_progress_practised(&s->progress, skill, practice_answered(known, PRACTICE_NOT_RIGHT, 0));
}

/* ---- The viewer ------------------------------------------------------------------------------------------ */

/* The state in force before a block, and of the shows before it the last one's scene (SCENE_COUNT: none). */
static bool state_before(LessonSession *s, size_t block, char state[LESSON_STATE_BYTES], SceneKind *scene) {
  state[0] = '\0';
  *scene = SCENE_COUNT;
  lesson_run_refill(&s->run);
  for (size_t k = 0; k < block && k < s->lesson.n_blocks; k++) {
    const LessonBlock *b = &s->lesson.blocks[k];
    LessonShow show;
    if (b->kind == LESSON_STATE) {
      if (failed(s, lesson_run_state(&s->run, b, state, LESSON_STATE_BYTES, &s->error))) return false;
      *scene = SCENE_COUNT;
    }
    if (b->kind != LESSON_SHOW) continue;
    if (failed(s, lesson_run_show(&s->run, b, &show, &s->error))) return false;
    *scene = show.scene;
  }
  return true;
}

/* Has the viewer show what is in force before a block. */
static void set_viewer(LessonSession *s, size_t block) {
  char state[LESSON_STATE_BYTES];
  SceneKind scene;
  s->plays = LESSON_NO_BLOCK;
  if (state_before(s, block, state, &scene)) s->viewer.set(s->viewer.data, state, scene);
}

/* Plays the show of a block, perhaps again. */
static void play(LessonSession *s, size_t block) {
  const LessonBlock *b = block_at(s, block);
  LessonShow show;
  if (!b || b->kind != LESSON_SHOW || s->error.status) return;
  lesson_run_refill(&s->run);
  if (failed(s, lesson_run_show(&s->run, b, &show, &s->error))) return;
  set_viewer(s, block);
  changed(s);
  s->plays = block;
  s->plays_to = s->viewer.play ? s->viewer.play(s->viewer.data, &show) : 0;
}

static void stop(LessonSession *s) {
  if (s->viewer.stop) s->viewer.stop(s->viewer.data, s->plays_to);
  s->plays = LESSON_NO_BLOCK;
  changed(s);
}

/* ---- Going on -------------------------------------------------------------------------------------------- */

/* Computes a question: when it is asked, and again before its texts are filled in, which know its drawn numbers. */
static bool open_ask(LessonSession *s, int ask) {
  lesson_run_refill(&s->run);
  if (failed(s, lesson_run_question(&s->run, ask, &s->questions[ask], &s->error))) return false;
  s->answers[ask].is_asked = true;
  return true;
}

/* The scene stays. */
static void open_task(LessonSession *s) {
  char state[LESSON_STATE_BYTES];
  SceneKind scene;
  if (state_before(s, s->at, state, &scene)) s->viewer.set(s->viewer.data, state, SCENE_COUNT);
}

/* Up to the next thing that is open, or to the end of the page. Returns whether a state stands on the way. */
static bool walk_on(LessonSession *s) {
  bool has_state = false;
  for (; s->at < s->lesson.n_blocks && !s->error.status; s->at++) {
    const LessonBlock *b = &s->lesson.blocks[s->at];
    switch (b->kind) {
    case LESSON_PROSE:
      if (s->at > s->current && begins_page(s, s->at)) return has_state;
      break;
    case LESSON_STATE: has_state = true; break;
    case LESSON_SHOW:
    case LESSON_ASK:
    case LESSON_TASK: return has_state;
    default: break;
    }
  }
  return has_state;
}

/* Goes on, and opens what it comes to. Of several states only the last is shown. */
static void advance(LessonSession *s) {
  const bool has_state = walk_on(s);
  const LessonBlock *b = lesson_session_block(s);
  changed(s);
  lesson_run_refill(&s->run);
  if (b && b->kind == LESSON_SHOW)
    play(s, s->at);
  else if (b && b->kind == LESSON_TASK)
    open_task(s);
  else if (has_state)
    set_viewer(s, s->at);
  if (b && b->kind == LESSON_ASK) open_ask(s, b->ask);
}

/* Goes on behind what is open. What was begun anew is kept only when something was done: to look at a lesson that is
 * finished does not take that back. */
static void pass(LessonSession *s) {
  s->plays = LESSON_NO_BLOCK;
  s->at++;
  advance(s);
  keep(s);
}

static void explain(LessonSession *s, int ask) {
  LessonAnswer *a = &s->answers[ask];
  if (open_ask(s, ask))
    failed(s, lesson_run_explain(&s->run, &s->questions[ask], a->explained, sizeof a->explained, &s->error));
}

static void end_show(LessonSession *s) {
  const int ask = lesson_session_prediction(s, s->at);
  stop(s);
  s->is_shown[s->at] = true;
  if (ask < 0) return;
  s->answers[ask].shown_at = s->version;
  if (!s->answers[ask].is_right) explain(s, ask);
  keep_answer(s, ask);
}

/* ---- Starting -------------------------------------------------------------------------------------------- */

static bool allocate(LessonSession *s) {
  s->questions = calloc(s->lesson.n_asks + 1, sizeof *s->questions);
  s->answers = calloc(s->lesson.n_asks + 1, sizeof *s->answers);
  s->deeds = calloc(s->lesson.n_tasks + 1, sizeof *s->deeds);
  return s->questions && s->answers && s->deeds;
}

Status lesson_session_open(LessonSession *s, Lesson *lesson, const ExpressionLimits *limits,
                           const LessonSessionOptions *o, FILE *warnings, Error *error) {
  memset(s, 0, sizeof *s);
  s->plays = LESSON_NO_BLOCK;
  s->lesson = *lesson;
  memset(lesson, 0, sizeof *lesson);
  Status status = allocate(s) ? STATUS_OK : error_no_memory(error, "for the lesson");
  if (!status) status = lesson_progress_open(&s->progress, warnings, error);
  if (status) return status;
  const LessonStanding before = lesson_progress_of(&s->progress, s->lesson.name);
  const bool goes_on = before.has_begun && !before.is_finished && !o->restart &&
                       (!o->has_seed || o->seed == before.seed) && before.block > 0 &&
                       before.block < (int64_t)s->lesson.n_blocks;
  const uint64_t seed = o->has_seed ? o->seed : before.has_begun ? before.seed : 1;
  if (!goes_on) lesson_progress_begin(&s->progress, s->lesson.name, seed);
  s->at = s->reached = goes_on ? (size_t)before.block : 0;
  for (size_t k = 0; k < s->lesson.n_blocks; k++) s->n_pages += begins_page(s, k);
  return lesson_run_start(&s->run, &s->lesson, limits, seed, error);
}

void lesson_session_close(LessonSession *s) {
  lesson_run_end(&s->run);
  lesson_progress_close(&s->progress);
  lesson_free(&s->lesson);
  free(s->questions);
  free(s->answers);
  free(s->deeds);
  free(s->written);
  s->written = NULL;
  s->questions = NULL;
  s->answers = NULL;
  s->deeds = NULL;
}

/* What was answered another time is shown as answered. */
static void take_up(LessonSession *s) {
  for (size_t k = 0; k < s->at; k++) {
    const LessonBlock *b = &s->lesson.blocks[k];
    s->is_shown[k] = b->kind == LESSON_SHOW;
    if (b->kind == LESSON_TASK) s->deeds[b->task].is_done = true;
    if (b->kind != LESSON_ASK || !open_ask(s, b->ask)) continue;
    LessonAnswer *a = &s->answers[b->ask];
    a->is_resolved = a->is_from_before = true;
    a->is_right = lesson_progress_is_right(&s->progress, s->lesson.name, s->lesson.asks[b->ask].id);
    explain(s, b->ask);
  }
}

void lesson_session_start(LessonSession *s, const LessonViewer *viewer) {
  const bool goes_on = s->at > 0;
  s->viewer = *viewer;
  /* where a page was read to its end, it is shown again */
  s->page = s->current = page_of(s, goes_on && begins_page(s, s->at) ? s->at - 1 : s->at);
  if (goes_on) take_up(s);
  if (goes_on) set_viewer(s, s->at);
  advance(s);
}

/* ---- The page -------------------------------------------------------------------------------------------- */

bool lesson_session_is_finished(const LessonSession *s) { return s->at >= s->lesson.n_blocks; }

bool lesson_session_is_review(const LessonSession *s) { return s->page != s->current; }

size_t lesson_session_page_end(const LessonSession *s) { return is_open_here(s) ? s->at + 1 : page_after(s, s->page); }

int lesson_session_page_number(const LessonSession *s) {
  int n = 0;
  for (size_t k = 0; k <= s->page && k < s->lesson.n_blocks; k++) n += begins_page(s, k);
  return n;
}

int lesson_session_ask(const LessonSession *s) {
  const LessonBlock *b = lesson_session_block(s);
  return b && b->kind == LESSON_ASK && !s->answers[b->ask].is_resolved && !s->error.status ? b->ask : -1;
}

int lesson_session_task(const LessonSession *s) {
  const LessonBlock *b = lesson_session_block(s);
  const bool is_task = b && b->kind == LESSON_TASK && s->lesson.tasks[b->task].until.text;
  return is_task && !s->deeds[b->task].is_done && !s->error.status ? b->task : -1;
}

int lesson_session_prediction(const LessonSession *s, size_t block) {
  for (size_t k = block; k-- > 0;) {
    const LessonBlock *b = &s->lesson.blocks[k];
    if (b->kind == LESSON_SHOW) return -1;
    if (b->kind == LESSON_ASK) return s->lesson.asks[b->ask].is_prediction ? b->ask : -1;
  }
  return -1;
}

const char *lesson_session_next_label(const LessonSession *s) {
  const int ask = lesson_session_ask(s);
  if (ask >= 0) return s->lesson.asks[ask].is_prediction ? "Just look" : "Show answer";
  if (lesson_session_task(s) >= 0) return "Show me";
  if (is_open_here(s) && s->plays == s->at) return "To its end";
  return "Next";
}

/* ---- Next and back --------------------------------------------------------------------------------------- */

static void skip_ask(LessonSession *s, int ask) {
  LessonAnswer *a = &s->answers[ask];
  missed(s, ask);
  a->is_resolved = a->is_skipped = true;
  changed(s);
  a->resolved_at = s->version;
  if (s->lesson.asks[ask].is_prediction) {
    a->typed[0] = '\0';
    pass(s);
    return;
  }
  explain(s, ask);
  keep_answer(s, ask);
}

static void task_done(LessonSession *s, int task) {
  LessonDeed *d = &s->deeds[task];
  d->is_done = true;
  lesson_session_fill(s, s->lesson.tasks[task].explain, d->explained, sizeof d->explained);
  lesson_one_line(d->explained);
  changed(s);
  d->done_at = s->version;
}

/* Shows the solution in the viewer. */
static void skip_task(LessonSession *s, int task) {
  LessonDeed *d = &s->deeds[task];
  char state[LESSON_STATE_BYTES];
  SceneKind scene;
  d->is_skipped = true;
  if (!state_before(s, s->at, state, &scene)) return;
  if (failed(s, lesson_task_solution(&s->run, &s->lesson.tasks[task], d->solution, sizeof d->solution, &s->error)))
    return;
  if (s->viewer.solve) s->viewer.solve(s->viewer.data, state, d->solution);
  task_done(s, task);
}

void lesson_session_next(LessonSession *s) {
  if (lesson_session_task(s) >= 0 && s->viewer.look) lesson_session_look(s); /* it may be done by now */
  const int ask = lesson_session_ask(s), task = lesson_session_task(s);
  if (s->error.status) return;
  changed(s);
  if (lesson_session_is_review(s)) {
    s->page = page_after(s, s->page);
    set_viewer(s, s->page == s->current ? s->at : page_after(s, s->page));
    const LessonBlock *b = lesson_session_block(s);
    if (b && b->kind == LESSON_SHOW && !s->is_shown[s->at]) play(s, s->at);
    return;
  }
  if (ask >= 0)
    skip_ask(s, ask);
  else if (task >= 0)
    skip_task(s, task);
  else if (is_open_here(s) && s->plays == s->at)
    end_show(s);
  else if (is_open_here(s))
    pass(s);
  else if (s->at < s->lesson.n_blocks) {
    s->page = s->current = s->at;
    advance(s);
    keep(s);
  }
}

bool lesson_session_can_go_back(const LessonSession *s) { return s->page > 0; }

static void go_back(LessonSession *s) {
  if (!lesson_session_can_go_back(s)) return;
  s->page = page_of(s, s->page - 1);
  set_viewer(s, page_after(s, s->page));
  changed(s);
}

/* ---- The open question: typing, hints and grading --------------------------------------------------------- */

bool lesson_session_is_typed(const LessonSession *s, int ask) {
  return ask >= 0 && s->lesson.asks[ask].kind == LESSON_NUMBER;
}

/* The open question, as it is written, computed, and left by the learner; `n` -1: none is open. */
typedef struct {
  int n;
  const LessonAsk *ask;
  const LessonQuestion *q;
  LessonAnswer *a;
} Open;

static Open open_of(const LessonSession *s) {
  const int n = lesson_session_ask(s);
  return n < 0 ? (Open){.n = n} : (Open){n, &s->lesson.asks[n], &s->questions[n], &s->answers[n]};
}

void lesson_session_type(LessonSession *s, const char *text) {
  const Open o = open_of(s);
  if (!lesson_session_is_typed(s, o.n)) return;
  char *typed = o.a->typed;
  size_t used = o.a->is_stale ? 0 : strlen(typed);
  o.a->is_stale = false;
  for (; *text && used + 1 < LESSON_TYPED_BYTES; text++)
    if ((unsigned char)*text >= 32 && *text != 127) typed[used++] = *text;
  while (used > 0 && *text && ((unsigned char)typed[used - 1] & 0x80)) used--; /* no half of a character */
  typed[used] = '\0';
  changed(s);
}

void lesson_session_erase(LessonSession *s) {
  LessonAnswer *a = open_of(s).a;
  if (!a) return;
  if (a->n_order > 0) a->n_order--;
  a->is_stale = false;
  size_t n = strlen(a->typed);
  while (n > 0 && ((unsigned char)a->typed[n - 1] & 0xC0) == 0x80) n--;
  a->typed[n ? n - 1 : 0] = '\0';
  changed(s);
}

void lesson_session_write(LessonSession *s, const char *text) {
  const int ask = lesson_session_ask(s);
  char *own = ask >= 0 ? malloc(strlen(text) + 1) : NULL;
  if (!own) return;
  free(s->written);
  s->written = strcpy(own, text);
  s->written_for = ask;
}

/* Of what is open: the hints that were given, and all that there are: the lesson's, or those of a task that asks for a
 * file. */
typedef struct {
  LessonHints *given; /* NULL: nothing is open */
  const LessonText *written;
  const LessonWork *work; /* NULL: they are the lesson's */
  int n;
} Hints;

static Hints hints_of(const LessonSession *s) {
  const Open o = open_of(s);
  const int task = lesson_session_task(s);
  if (o.a && o.ask->kind == LESSON_WORK) return (Hints){&o.a->hints, NULL, &o.q->work, o.q->work.n_hints};
  if (o.a) return (Hints){&o.a->hints, o.ask->hint, NULL, o.ask->n_hints};
  if (task < 0) return (Hints){.n = 0};
  return (Hints){&s->deeds[task].hints, s->lesson.tasks[task].hint, NULL, s->lesson.tasks[task].n_hints};
}

int lesson_session_hints_left(const LessonSession *s) {
  const Hints h = hints_of(s);
  return h.given ? h.n - h.given->n : 0;
}

bool lesson_session_hint(LessonSession *s) {
  char text[LESSON_MESSAGE_BYTES];
  const Hints h = hints_of(s);
  const int ask = lesson_session_ask(s), n = h.given ? h.given->n : 0;
  if (n >= h.n || (ask >= 0 && !open_ask(s, ask))) return false;
  if (h.work)
    snprintf(text, sizeof text, "%s", h.work->hint[n]);
  else
    lesson_session_fill(s, h.written[n], text, sizeof text);
  if (s->error.status) return false;
  lesson_one_line(text);
  snprintf(h.given->text[n], LESSON_HINT_BYTES, "%.*s", LESSON_HINT_BYTES - 1, text);
  changed(s);
  h.given->at[h.given->n++] = s->version;
  return true;
}

/* The place of a choice that is named by its letter; -1. */
static int place_of(const Open *o, const char *typed) {
  const int place = o->ask->kind == LESSON_CHOICE && *typed && !typed[1] ? ascii_lower(*typed) - 'a' : -1;
  return place < o->q->n_choices ? place : -1;
}

/* What is handed in of a question: the first answer, or a file that passes. "Nearly" is asked again. */
static void keep_first(LessonSession *s, const Open *o, const char *typed) {
  const LessonVerdict verdict = o->a->verdict;
  const bool stands = (verdict == LESSON_NOT_RIGHT || verdict == LESSON_DIAGNOSED) && o->ask->kind != LESSON_WORK;
  if (o->ask->is_prediction || o->a->is_from_before || strlen(typed) >= LESSON_HANDED_IN_BYTES ||
      (verdict != LESSON_RIGHT && !stands))
    return;
  lesson_progress_first(&s->progress, s->lesson.name, o->ask->id, typed);
  failed(s, lesson_progress_save(&s->progress, &s->error));
}

void lesson_session_grade(LessonSession *s, const char *typed) {
  const Open o = open_of(s);
  LessonAnswer *a = o.a;
  LessonGrade g;
  changed(s);
  if (!a || !open_ask(s, o.n) || failed(s, lesson_run_grade(&s->run, o.q, typed, &g, &s->error))) return;
  const bool predicts = o.ask->is_prediction, is_wrong = g.verdict == LESSON_NOT_RIGHT || g.verdict == LESSON_DIAGNOSED;
  const int place = place_of(&o, typed);
  a->has_verdict = a->is_stale = true;
  a->verdict = g.verdict;
  a->said_at = s->version;
  snprintf(a->said, sizeof a->said, "%s", g.message);
  if (o.ask->kind == LESSON_NUMBER || predicts)
    snprintf(a->typed, sizeof a->typed, "%.*s", LESSON_TYPED_BYTES - 1, place >= 0 ? o.q->choice[place] : typed);
  if (is_wrong) missed(s, o.n);
  keep_first(s, &o, typed);
  a->tries += g.verdict != LESSON_UNREADABLE;
  a->is_right = g.verdict == LESSON_RIGHT;
  a->is_resolved = a->is_right || (predicts && g.verdict != LESSON_UNREADABLE);
  a->resolved_at = s->version;
  if (a->is_resolved && predicts)
    pass(s);
  else if (a->is_resolved)
    keep_answer(s, o.n);
  else if (place >= 0)
    a->tried |= 1u << place;
  if (g.verdict == LESSON_NOT_RIGHT && !a->is_resolved && o.ask->kind != LESSON_WORK)
    lesson_session_hint(s); /* a file is judged at every save: there hints are asked for */
}

/* A choice or an item of an order, by its place. */
static void choose(LessonSession *s, int place) {
  const Open o = open_of(s);
  LessonAnswer *a = o.a;
  if (!a || place < 0 || place >= o.q->n_choices) return;
  if (o.ask->kind == LESSON_CHOICE) {
    if (!(a->tried & 1u << place)) lesson_session_grade(s, (const char[]){(char)('a' + place), '\0'});
    return;
  }
  if (o.ask->kind != LESSON_ORDER) return;
  changed(s);
  if (a->is_stale) a->n_order = 0; /* the order was graded: another begins */
  a->is_stale = false;
  int at = 0;
  while (at < a->n_order && a->order[at] != place) at++;
  if (at < a->n_order)
    a->n_order = at; /* taken back, with what came after it */
  else
    a->order[a->n_order++] = place;
}

static void check(LessonSession *s) {
  const Open o = open_of(s);
  char typed[LESSON_TYPED_BYTES] = "";
  if (!o.a) return;
  if (o.ask->kind == LESSON_WORK && s->written && s->written_for == o.n) lesson_session_grade(s, s->written);
  if (o.ask->kind == LESSON_NUMBER) snprintf(typed, sizeof typed, "%s", o.a->typed + strspn(o.a->typed, " \t\n\v\f\r"));
  for (int k = 0; o.ask->kind == LESSON_ORDER && o.a->n_order == o.q->n_choices && k < o.a->n_order; k++)
    text_add(typed, sizeof typed, "%c ", 'a' + o.a->order[k]);
  if (*typed) lesson_session_grade(s, typed);
}

/* ---- What can be pressed ---------------------------------------------------------------------------------- */

void lesson_session_press(LessonSession *s, LessonAct act, int number) {
  switch (act) {
  case ACT_CHOOSE: choose(s, number); break;
  case ACT_CHECK: check(s); break;
  case ACT_HINT: lesson_session_hint(s); break;
  case ACT_NEXT: lesson_session_next(s); break;
  case ACT_BACK: go_back(s); break;
  case ACT_PLAY:
    if (number >= 0) play(s, (size_t)number);
    break;
  default: break;
  }
}

/* ---- Looking --------------------------------------------------------------------------------------------- */

bool lesson_session_try(LessonSession *s, const LessonView *view) {
  const int task = lesson_session_task(s);
  bool done = false;
  if (task < 0) return false;
  if (!failed(s, lesson_task_check(&s->run, &s->lesson.tasks[task], view, &done, &s->error)) && done)
    task_done(s, task);
  return done;
}

bool lesson_session_look(LessonSession *s) {
  const unsigned before = s->version;
  const LessonViewer *v = &s->viewer;
  LessonView view;
  if (s->plays != LESSON_NO_BLOCK && v->is_through(v->data, s->plays_to)) {
    if (s->plays == s->at && is_open_here(s)) {
      end_show(s);
      keep(s);
    } else { /* one that was played again */
      stop(s);
    }
  }
  if (lesson_session_task(s) >= 0 && v->look(v->data, &view)) lesson_session_try(s, &view);
  return s->version != before;
}
