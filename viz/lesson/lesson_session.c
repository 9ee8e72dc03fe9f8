#include "viz/lesson/lesson_session.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "viz/lesson/lesson_rehearse.h"
#include "viz/lesson/lesson_session_parts.h"

static bool begins_page(const LessonSession *s, size_t k) {
  const LessonBlock *b = session_block(s, k);
  return k == 0 || (b && b->kind == LESSON_PROSE && strncmp(lesson_text(&s->lesson, b->text), "## ", 3) == 0);
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

/* ---- Keeping --------------------------------------------------------------------------------------------- */

/* A prediction counts when its show was seen: until then it is asked again. */
static void keep(LessonSession *s) {
  Error error = {0};
  const int waits = s->at < s->lesson.n_blocks && !s->is_shown[s->at] ? lesson_session_prediction(s, s->at) : -1;
  const size_t block = waits >= 0 ? lesson_block_of(&s->lesson, waits) : s->at;
  if (block < s->reached) return;
  s->reached = block;
  lesson_progress_at(&s->progress, s->lesson.name, (int64_t)block, block == s->lesson.n_blocks);
  session_failed(s, lesson_progress_save(&s->progress, &error), &error);
}

static void keep_answer(LessonSession *s, int ask) {
  const LessonAnswer *a = &s->answers[ask];
  Error error = {0};
  lesson_progress_answer(&s->progress, s->lesson.name, s->lesson.asks[ask].id,
                         a->is_right && !s->lesson.asks[ask].is_prediction, a->tries, a->n_hints);
  session_failed(s, lesson_progress_save(&s->progress, &error), &error);
}

/* ---- Going on -------------------------------------------------------------------------------------------- */

/* Computes a question: when it is asked, and again before its texts are filled in, which know its drawn numbers. */
static bool open_ask(LessonSession *s, int ask) {
  Error error = {0};
  lesson_run_refill(&s->run);
  if (session_failed(s, lesson_run_question(&s->run, ask, &s->questions[ask], &error), &error)) return false;
  s->answers[ask].is_asked = true;
  return true;
}

static void open_task(LessonSession *s, Player *player) {
  char state[LESSON_STATE_BYTES];
  SceneKind scene;
  lesson_run_refill(&s->run);
  if (session_state_before(s, s->at, state, &scene)) session_restore(player, state);
  s->checked[0] = '\0';
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
static void advance(LessonSession *s, Player *player) {
  const bool has_state = walk_on(s);
  const LessonBlock *b = is_open_here(s) ? session_block(s, s->at) : NULL;
  session_changed(s);
  lesson_run_refill(&s->run);
  if (b && b->kind == LESSON_SHOW)
    lesson_session_play(s, player, s->at);
  else if (b && b->kind == LESSON_TASK)
    open_task(s, player);
  else if (has_state)
    session_set_player(s, player, s->at);
  if (b && b->kind == LESSON_ASK) open_ask(s, b->ask);
}

/* What was begun anew is kept only when something was done: to look at a lesson that is finished does not take that
 * back. */
static void pass(LessonSession *s, Player *player) {
  s->plays = LESSON_NO_BLOCK;
  s->at++;
  advance(s, player);
  keep(s);
}

static void explain(LessonSession *s, int ask) {
  Error error = {0};
  LessonAnswer *a = &s->answers[ask];
  if (open_ask(s, ask))
    session_failed(s, lesson_run_explain(&s->run, &s->questions[ask], a->explained, sizeof a->explained, &error),
                   &error);
}

static void end_show(LessonSession *s, Player *player) {
  const int ask = lesson_session_prediction(s, s->at);
  if (player->now.step != s->plays_to && s->plays_to) player_seek(player, s->plays_to);
  player->is_playing = false;
  player->message[0] = '\0';
  s->is_shown[s->at] = true;
  s->plays = LESSON_NO_BLOCK;
  session_changed(s);
  if (ask < 0) return;
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

Status lesson_session_open(LessonSession *s, const char *name, const LessonSessionOptions *o, FILE *warnings,
                           Error *error) {
  char path[ASSETS_PATH_BYTES];
  memset(s, 0, sizeof *s);
  s->plays = LESSON_NO_BLOCK;
  Status status = lesson_load(name, &s->lesson, path, error);
  if (!status && o->needs) status = o->needs(&s->lesson, error);
  if (!status && !allocate(s)) status = error_set(error, STATUS_NO_MEMORY, "no memory for the lesson");
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
  status = lesson_rehearse(&s->lesson, seed, error);
  return status ? status : lesson_run_start(&s->run, &s->lesson, &LESSON_LIMITS, seed, error);
}

void lesson_session_close(LessonSession *s) {
  lesson_run_end(&s->run);
  lesson_progress_close(&s->progress);
  lesson_free(&s->lesson);
  free(s->questions);
  free(s->answers);
  free(s->deeds);
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

void lesson_session_start(LessonSession *s, Player *player) {
  const bool goes_on = s->at > 0;
  /* where a page was read to its end, it is shown again */
  s->page = s->current = page_of(s, goes_on && begins_page(s, s->at) ? s->at - 1 : s->at);
  if (goes_on) take_up(s);
  if (goes_on) session_set_player(s, player, s->at);
  advance(s, player);
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
  const LessonBlock *b = is_open_here(s) ? session_block(s, s->at) : NULL;
  return b && b->kind == LESSON_ASK && !s->answers[b->ask].is_resolved && !s->error.status ? b->ask : -1;
}

int lesson_session_task(const LessonSession *s) {
  const LessonBlock *b = is_open_here(s) ? session_block(s, s->at) : NULL;
  const bool is_task = b && b->kind == LESSON_TASK && s->lesson.tasks[b->task].until.offset;
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

static void skip_ask(LessonSession *s, Player *player, int ask) {
  LessonAnswer *a = &s->answers[ask];
  a->is_resolved = a->is_skipped = true;
  session_changed(s);
  if (s->lesson.asks[ask].is_prediction) {
    a->typed[0] = '\0';
    pass(s, player);
    return;
  }
  explain(s, ask);
  keep_answer(s, ask);
}

static void task_done(LessonSession *s, int task) {
  Error error = {0};
  LessonDeed *d = &s->deeds[task];
  const LessonText text = s->lesson.tasks[task].explain;
  d->is_done = true;
  lesson_run_refill(&s->run);
  if (text.offset) session_failed(s, lesson_run_fill(&s->run, text, d->explained, sizeof d->explained, &error), &error);
  session_changed(s);
}

/* Shows the solution in the viewer. */
static void skip_task(LessonSession *s, Player *player, int task) {
  Error error = {0};
  LessonDeed *d = &s->deeds[task];
  char state[LESSON_STATE_BYTES], line[REQUEST_STATE_BYTES];
  SceneKind scene;
  Request r = {0};
  d->is_skipped = true;
  lesson_run_refill(&s->run);
  if (!session_state_before(s, s->at, state, &scene)) return;
  if (session_failed(s, lesson_task_solution(&s->run, &s->lesson.tasks[task], d->solution, sizeof d->solution, &error),
                     &error))
    return;
  if (lesson_change(&r, state, &error) == STATUS_OK) {
    lesson_one_algorithm(&r);
    if (lesson_change(&r, d->solution, &error) == STATUS_OK) player_restore(player, request_state(&r, line));
  }
  task_done(s, task);
}

void lesson_session_next(LessonSession *s, Player *player) {
  const int ask = lesson_session_ask(s), task = lesson_session_task(s);
  if (s->error.status) return;
  session_changed(s);
  if (lesson_session_is_review(s)) {
    s->page = page_after(s, s->page);
    session_set_player(s, player, s->page == s->current ? s->at : page_after(s, s->page));
    const LessonBlock *b = is_open_here(s) ? session_block(s, s->at) : NULL;
    if (b && b->kind == LESSON_SHOW && !s->is_shown[s->at]) lesson_session_play(s, player, s->at);
    return;
  }
  if (ask >= 0)
    skip_ask(s, player, ask);
  else if (task >= 0)
    skip_task(s, player, task);
  else if (is_open_here(s) && s->plays == s->at)
    end_show(s, player);
  else if (is_open_here(s))
    pass(s, player);
  else if (s->at < s->lesson.n_blocks) {
    s->page = s->current = s->at;
    advance(s, player);
    keep(s);
  }
}

bool lesson_session_can_go_back(const LessonSession *s) { return s->page > 0; }

void lesson_session_back(LessonSession *s, Player *player) {
  if (!lesson_session_can_go_back(s)) return;
  s->page = page_of(s, s->page - 1);
  lesson_run_refill(&s->run);
  session_set_player(s, player, page_after(s, s->page));
  session_changed(s);
}

/* ---- Answering ------------------------------------------------------------------------------------------- */

void lesson_session_type(LessonSession *s, const char *text) {
  const int ask = lesson_session_ask(s);
  if (ask < 0 || s->lesson.asks[ask].kind != LESSON_NUMBER) return;
  char *typed = s->answers[ask].typed;
  size_t used = s->answers[ask].is_stale ? 0 : strlen(typed);
  s->answers[ask].is_stale = false;
  for (; *text && used + 1 < LESSON_TYPED_BYTES; text++)
    if ((unsigned char)*text >= 32 && *text != 127) typed[used++] = *text;
  while (used > 0 && *text && ((unsigned char)typed[used - 1] & 0x80)) used--; /* no half of a character */
  typed[used] = '\0';
  session_changed(s);
}

void lesson_session_erase(LessonSession *s) {
  const int ask = lesson_session_ask(s);
  if (ask < 0) return;
  LessonAnswer *a = &s->answers[ask];
  if (a->n_order > 0) a->n_order--;
  a->is_stale = false;
  size_t n = strlen(a->typed);
  while (n > 0 && ((unsigned char)a->typed[n - 1] & 0xC0) == 0x80) n--;
  if (n > 0) a->typed[n - 1] = '\0';
  session_changed(s);
}

int lesson_session_hints_left(const LessonSession *s) {
  const int ask = lesson_session_ask(s), task = lesson_session_task(s);
  if (ask >= 0) return s->lesson.asks[ask].n_hints - s->answers[ask].n_hints;
  return task >= 0 ? s->lesson.tasks[task].n_hints - s->deeds[task].n_hints : 0;
}

void lesson_session_hint(LessonSession *s) {
  const int ask = lesson_session_ask(s), task = lesson_session_task(s);
  Error error = {0};
  char text[LESSON_MESSAGE_BYTES];
  if (lesson_session_hints_left(s) <= 0 || (ask >= 0 && !open_ask(s, ask))) return;
  lesson_run_refill(&s->run);
  int *n = ask >= 0 ? &s->answers[ask].n_hints : &s->deeds[task].n_hints;
  const LessonText hint = ask >= 0 ? s->lesson.asks[ask].hint[*n] : s->lesson.tasks[task].hint[*n];
  char *to = ask >= 0 ? s->answers[ask].hint[*n] : s->deeds[task].hint[*n];
  if (session_failed(s, lesson_run_fill(&s->run, hint, text, sizeof text, &error), &error)) return;
  snprintf(to, LESSON_HINT_BYTES, "%.*s", LESSON_HINT_BYTES - 1, text);
  ++*n;
  session_changed(s);
}

/* What a prediction says: the words of a choice, else what was typed. */
static void commit_prediction(LessonSession *s, Player *player, int ask, int place) {
  LessonAnswer *a = &s->answers[ask];
  if (place >= 0)
    snprintf(a->typed, sizeof a->typed, "%.*s", (int)sizeof a->typed - 1, s->questions[ask].choice[place]);
  a->is_resolved = true;
  a->is_right = a->verdict == LESSON_RIGHT;
  pass(s, player);
}

/* Grades what was typed, or a choice. */
static void grade(LessonSession *s, Player *player, int ask, const char *typed, int place) {
  LessonAnswer *a = &s->answers[ask];
  Error error = {0};
  LessonGrade *g = malloc(sizeof *g);
  session_changed(s);
  if (!g || !open_ask(s, ask)) {
    if (!g) session_failed(s, error_set(&error, STATUS_NO_MEMORY, "no memory to grade an answer"), &error);
    free(g);
    return;
  }
  if (!session_failed(s, lesson_run_grade(&s->run, &s->questions[ask], typed, g, &error), &error)) {
    a->has_verdict = true;
    a->verdict = g->verdict;
    snprintf(a->said, sizeof a->said, "%s", g->message);
    a->tries += g->verdict != LESSON_UNREADABLE;
    a->is_stale = true;
  }
  free(g);
  if (s->error.status || a->verdict == LESSON_UNREADABLE) return;
  if (s->lesson.asks[ask].is_prediction) {
    commit_prediction(s, player, ask, place);
  } else if (a->verdict == LESSON_RIGHT) {
    a->is_resolved = a->is_right = true;
    keep_answer(s, ask);
  } else {
    if (place >= 0) a->tried |= 1u << place;
    if (a->verdict == LESSON_NOT_RIGHT) lesson_session_hint(s);
  }
}

void lesson_session_choose(LessonSession *s, Player *player, int place) {
  const int ask = lesson_session_ask(s);
  if (ask < 0 || place < 0 || place >= s->questions[ask].n_choices) return;
  LessonAnswer *a = &s->answers[ask];
  const char letter[2] = {(char)('a' + place), '\0'};
  if (s->lesson.asks[ask].kind == LESSON_CHOICE) {
    if (!(a->tried & 1u << place)) grade(s, player, ask, letter, place);
    return;
  }
  if (s->lesson.asks[ask].kind != LESSON_ORDER) return;
  session_changed(s);
  int at = 0;
  while (at < a->n_order && a->order[at] != place) at++;
  if (at < a->n_order)
    a->n_order = at; /* taken back, with what came after it */
  else
    a->order[a->n_order++] = place;
}

void lesson_session_check(LessonSession *s, Player *player) {
  const int ask = lesson_session_ask(s);
  if (ask < 0) return;
  LessonAnswer *a = &s->answers[ask];
  char typed[LESSON_TYPED_BYTES] = "";
  if (s->lesson.asks[ask].kind == LESSON_ORDER) {
    if (a->n_order < s->questions[ask].n_choices) return;
    for (int k = 0; k < a->n_order; k++)
      snprintf(typed + 2 * k, sizeof typed - 2 * (size_t)k, "%c ", 'a' + a->order[k]);
  } else if (s->lesson.asks[ask].kind == LESSON_NUMBER) {
    const char *from = a->typed;
    while (ascii_is_space((unsigned char)*from)) from++;
    snprintf(typed, sizeof typed, "%s", from);
  }
  if (*typed) grade(s, player, ask, typed, -1);
}

/* ---- Looking --------------------------------------------------------------------------------------------- */

static bool check_task(LessonSession *s, const Player *player, int task) {
  char now[REQUEST_STATE_BYTES];
  Error error = {0};
  bool done = false;
  if (strcmp(player_state(player, now), s->checked) == 0) return false;
  snprintf(s->checked, sizeof s->checked, "%s", now);
  const LessonView view = lesson_view(&player->stage, &player->now, player->scene);
  if (session_failed(s, lesson_task_check(&s->run, &s->lesson.tasks[task], &view, &done, &error), &error)) return true;
  if (done) task_done(s, task);
  return done;
}

bool lesson_session_look(LessonSession *s, Player *player) {
  const unsigned before = s->version;
  if (s->plays != LESSON_NO_BLOCK && player->now.step >= s->plays_to) {
    if (s->plays == s->at && is_open_here(s)) {
      end_show(s, player);
      keep(s);
    } else { /* one that was played again */
      if (player->now.step != s->plays_to && s->plays_to) player_seek(player, s->plays_to);
      player->is_playing = false;
      s->plays = LESSON_NO_BLOCK;
      session_changed(s);
    }
  }
  const int task = lesson_session_task(s);
  if (task >= 0) check_task(s, player, task);
  return s->version != before;
}
