/* Walking a lesson in a terminal. Part of viz/cli/lesson_print.h.
 *
 * Reads lines from standard input, so it works through a pipe as well: then nothing waits for
 * Enter, and what was typed is printed, so that the output reads as a transcript. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stdlib.h>
#include <string.h>

#include "sim/base/ascii.h"
#include "viz/cli/lesson_print.h"
#include "lessons/engine/lesson_progress.h"
#include "viz/lesson/lesson_view.h"
#include "viz/text/markdown.h"
#include "viz/text/print.h"

enum { TRIES_BEFORE_OFFER = 3, TYPED_BYTES = 256, LESSON_SEEN_BYTES = 512 };

typedef struct {
  const Lesson *lesson;
  LessonRun run;
  LessonProgress progress;
  Io *io;
  bool is_terminal, stopped; /* stopped: the learner left, or the input ended */
  char state[LESSON_STATE_BYTES];
  LessonQuestion question;
  LessonGrade grade;
  bool has_prediction; /* `question` waits for its show */
  char predicted[TYPED_BYTES];
  char *line;
  size_t line_bytes;
  char text[LESSON_PROSE_BYTES];
} Walk;

/* ---- Talking */

static void say(Walk *w, TextRole role, const char *text) { text_paragraph(w->io->out, &w->io->style, role, 2, text); }

/* A mark and a short verdict, then the rest of the message below. */
static void verdict(Walk *w, TextRole role, const char *words, const char *message) {
  text_print(w->io->out, &w->io->style, role, "  %s %s", text_role_mark(&w->io->style, role), words);
  fputc('\n', w->io->out);
  if (*message) say(w, ROLE_PLAIN, message);
}

/* The next line, without its end and blanks around it; NULL at the end of the input. */
static const char *read_line(Walk *w, const char *prompt) {
  text_print(w->io->out, &w->io->style, ROLE_HEADING, "%s", prompt);
  fflush(w->io->out);
  ssize_t length = getline(&w->line, &w->line_bytes, stdin);
  if (length < 0) {
    fputc('\n', w->io->out);
    w->stopped = true;
    return NULL;
  }
  while (length > 0 && ascii_is_space((unsigned char)w->line[length - 1])) w->line[--length] = '\0';
  const char *text = w->line;
  while (ascii_is_space((unsigned char)*text)) text++;
  if (!w->is_terminal) {
    text_print(w->io->out, &w->io->style, ROLE_PLAIN, "%s", text);
    fputc('\n', w->io->out);
  }
  return text;
}

static void wait_for_enter(Walk *w) {
  if (!w->is_terminal || w->stopped) return;
  const char *typed = read_line(w, "[Enter] ");
  if (typed && strcmp(typed, "quit") == 0) w->stopped = true;
  fputc('\n', w->io->out);
}

static Status print_text(Walk *w, LessonText text, Error *error) {
  Status status = lesson_run_fill(&w->run, text, w->text, sizeof w->text, error);
  if (!status) status = text_markdown(w->io->out, &w->io->style, w->text, strlen(w->text), error);
  fputc('\n', w->io->out);
  return status;
}

/* ---- Questions */

static void print_question(Walk *w) {
  const LessonQuestion *q = &w->question;
  const LessonAsk *ask = &w->lesson->asks[q->ask];
  text_print(w->io->out, &w->io->style, ROLE_ACCENT, "%s %d of %zu", ask->is_prediction ? "Predict," : "Question",
             q->ask + 1, w->lesson->n_asks);
  fputc('\n', w->io->out);
  say(w, ROLE_PLAIN, q->prompt);
  for (int k = 0; k < q->n_choices; k++) {
    char option[LESSON_OPTION_BYTES + 8];
    snprintf(option, sizeof option, "%c) %s", 'a' + k, q->choice[k]);
    text_paragraph(w->io->out, &w->io->style, ROLE_PLAIN, 4, option);
  }
  const char *unit = ask->unit.name;
  if (ask->kind == LESSON_ORDER)
    say(w, ROLE_DIM, "(all letters in order, such as b a c)");
  else if (ask->kind == LESSON_CHOICE)
    say(w, ROLE_DIM, "(a letter)");
  else if (strcmp(unit, "x") == 0)
    say(w, ROLE_DIM, "(how many times, such as 1.5x)");
  else if (*unit)
    text_print(w->io->out, &w->io->style, ROLE_DIM, "  (%s%s)\n",
               ask->unit.dimension == ANSWER_PLAIN ? "a number of " : "in ", unit);
}

/* The hints of a question or a task, and how many were given. */
typedef struct {
  const LessonText *texts;
  int n, given;
} Hints;

static Status give_hint(Walk *w, Hints *hints, Error *error) {
  if (hints->given >= hints->n) {
    say(w, ROLE_DIM, "There are no more hints. 'skip' shows the answer.");
    return STATUS_OK;
  }
  const Status status = lesson_run_fill(&w->run, hints->texts[hints->given], w->text, sizeof w->text, error);
  if (status) return status;
  hints->given++;
  text_print(w->io->out, &w->io->style, ROLE_WARN, "  Hint %d of %d.", hints->given, hints->n);
  fputc('\n', w->io->out);
  for (char *p = w->text; *p; p++)
    if (*p == '\n') *p = ' ';
  say(w, ROLE_PLAIN, w->text);
  return STATUS_OK;
}

static Status show_answer(Walk *w, Error *error) {
  char *message = w->grade.message;
  const Status status = lesson_run_explain(&w->run, &w->question, message, LESSON_MESSAGE_BYTES, error);
  if (status) return status;
  char words[LESSON_OPTION_BYTES + 32];
  snprintf(words, sizeof words, "The answer is %s", w->question.answer);
  verdict(w, ROLE_WARN, words, message);
  return STATUS_OK;
}

static void print_help(Walk *w) {
  say(w, ROLE_DIM,
      "Type an answer as you would write it: 64 MiB, 67.1 MB, 50%, 1/2, 2x, 1e6. 'hint' helps a "
      "step, 'skip' shows the answer and goes on, "
      "'quit' stops; your progress is kept. At a task, type what you would change: block=64.");
}

/* After an answer that is not right. */
static Status not_right(Walk *w, int tries, Hints *hints, Error *error) {
  const LessonGrade *g = &w->grade;
  Status status = STATUS_OK;
  if (g->verdict == LESSON_NEARLY)
    verdict(w, ROLE_WARN, "Nearly.", g->message);
  else if (g->verdict == LESSON_DIAGNOSED)
    verdict(w, ROLE_BAD, "Not quite.", g->message);
  else {
    verdict(w, ROLE_BAD, "Not yet.", g->message);
    if (hints->given < hints->n) status = give_hint(w, hints, error);
  }
  if (tries == TRIES_BEFORE_OFFER) say(w, ROLE_DIM, "('hint' for a hint, 'skip' for the answer)");
  return status;
}

/* True when the line is a command; what it asks for is done. */
static bool obey(Walk *w, const char *typed, Hints *hints, bool *skipped, Status *status, Error *error) {
  if (strcmp(typed, "quit") == 0 || strcmp(typed, "exit") == 0)
    w->stopped = true;
  else if (strcmp(typed, "hint") == 0 || strcmp(typed, "?") == 0)
    *status = give_hint(w, hints, error);
  else if (strcmp(typed, "help") == 0)
    print_help(w);
  else if (strcmp(typed, "skip") == 0)
    *skipped = true;
  else
    return false;
  return true;
}

static Status ask_question(Walk *w, int index, Error *error) {
  const LessonAsk *ask = &w->lesson->asks[index];
  int tries = 0;
  Hints hints = {.texts = ask->hint, .n = ask->n_hints};
  Status status = lesson_run_question(&w->run, index, &w->question, error);
  if (status) return status;
  print_question(w);
  bool done = false, skipped = false;
  while (!done && !skipped && !w->stopped && !status) {
    const char *typed = read_line(w, "> ");
    if (!typed) break;
    if (!*typed || obey(w, typed, &hints, &skipped, &status, error)) continue;
    lesson_run_refill(&w->run);
    status = lesson_run_grade(&w->run, &w->question, typed, &w->grade, error);
    if (status) break;
    if (w->grade.verdict == LESSON_UNREADABLE) {
      say(w, ROLE_WARN, w->grade.message);
      continue;
    }
    tries++;
    if (ask->is_prediction) {
      const bool letter = ask->kind == LESSON_CHOICE && !typed[1] &&
                          ascii_lower((unsigned char)*typed) - 'a' < w->question.n_choices &&
                          ascii_lower((unsigned char)*typed) >= 'a';
      snprintf(w->predicted, sizeof w->predicted, "%.*s", TYPED_BYTES - 1,
               letter ? w->question.choice[ascii_lower((unsigned char)*typed) - 'a'] : typed);
      w->has_prediction = true;
      say(w, ROLE_PLAIN, "Noted. Now look.");
      done = true;
    } else if (w->grade.verdict == LESSON_RIGHT) {
      verdict(w, ROLE_GOOD, "Right.", w->grade.message);
      done = true;
    } else {
      status = not_right(w, tries, &hints, error);
    }
  }
  if (status || w->stopped) return status;
  const bool right = done && w->grade.verdict == LESSON_RIGHT;
  if (skipped && !ask->is_prediction) status = show_answer(w, error);
  if (skipped && ask->is_prediction) { /* the answer still follows the picture */
    w->has_prediction = true;
    w->predicted[0] = '\0';
    w->grade.verdict = LESSON_NOT_RIGHT;
  }
  lesson_progress_answer(&w->progress, w->lesson->name, ask->id, right && !ask->is_prediction, tries, hints.given);
  fputc('\n', w->io->out);
  return status;
}

/* After the show that a prediction waited for. */
static Status reveal(Walk *w, Error *error) {
  char words[LESSON_OPTION_BYTES + TYPED_BYTES + 64];
  const bool right = w->grade.verdict == LESSON_RIGHT;
  w->has_prediction = false;
  snprintf(words, sizeof words, "You predicted: %s", w->predicted);
  if (!right && *w->predicted) say(w, ROLE_PLAIN, words);
  snprintf(words, sizeof words, "%s: %s", right ? "As you predicted" : "It is", w->question.answer);
  verdict(w, right ? ROLE_GOOD : ROLE_WARN, words,
          w->grade.verdict == LESSON_DIAGNOSED || right ? w->grade.message : "");
  if (!right) {
    const Status status = lesson_run_explain(&w->run, &w->question, w->grade.message, LESSON_MESSAGE_BYTES, error);
    if (status) return status;
    if (*w->grade.message) say(w, ROLE_PLAIN, w->grade.message);
  }
  fputc('\n', w->io->out);
  return STATUS_OK;
}

/* ---- Tasks */

static Status say_explain(Walk *w, const LessonTask *task, TextRole role, const char *words, Error *error) {
  w->text[0] = '\0';
  Status status = STATUS_OK;
  if (task->explain.offset) status = lesson_run_fill(&w->run, task->explain, w->text, sizeof w->text, error);
  for (char *p = w->text; *p; p++)
    if (*p == '\n') *p = ' ';
  if (!status) verdict(w, role, words, w->text);
  return status;
}

typedef struct {
  Walk *walk;
  const LessonTask *task;
  bool done, is_broken;
  char seen[LESSON_SEEN_BYTES];
} Look;

static Status look(void *data, const LessonView *view, Error *error) {
  Look *l = data;
  const Status status = lesson_task_check(&l->walk->run, l->task, view, &l->done, error);
  l->is_broken = status != STATUS_OK;
  lesson_view_words(view, l->seen, sizeof l->seen);
  return status;
}

/* Judges a typed change of the state. What cannot be is told to the learner. */
static Status try_change(Walk *w, const LessonTask *task, const char *change, Hints *hints, bool *done, Error *error) {
  Look l = {.walk = w, .task = task};
  Error why = {0};
  const bool is_whole = strstr(change, "algorithm=") && strstr(change, "scene="); /* as y copies it */
  const Status status = lesson_look(NULL, is_whole ? change : w->state, is_whole ? "" : change, look, &l, &why);
  *done = l.done;
  if (l.is_broken || status == STATUS_NO_MEMORY) return error_set(error, status, "%s", why.message);
  if (l.done) return say_explain(w, task, ROLE_GOOD, "Done.", error);
  if (status)
    say(w, ROLE_WARN, why.message);
  else
    verdict(w, ROLE_BAD, "Not there yet.", l.seen);
  return !status && hints->given < hints->n ? give_hint(w, hints, error) : STATUS_OK;
}

static Status show_solution(Walk *w, const LessonTask *task, Error *error) {
  char words[LESSON_STATE_BYTES + 16], change[LESSON_STATE_BYTES];
  const Status status = lesson_task_solution(&w->run, task, change, sizeof change, error);
  if (status) return status;
  snprintf(words, sizeof words, "Such as: %s", change);
  return say_explain(w, task, ROLE_WARN, words, error);
}

static Status do_task(Walk *w, const LessonBlock *b, Error *error) {
  const LessonTask *task = &w->lesson->tasks[b->task];
  Hints hints = {.texts = task->hint, .n = task->n_hints};
  text_print(w->io->out, &w->io->style, ROLE_ACCENT, "Try it");
  fputc('\n', w->io->out);
  Status status = print_text(w, b->text, error);
  if (status || !task->until.offset) {
    if (!status) wait_for_enter(w);
    return status;
  }
  say(w, ROLE_DIM, "In a window, where y copies what you have reached:");
  fprintf(w->io->out, "    tilewalk view --state '%s'\n", w->state);
  say(w, ROLE_DIM, "Or here: type what you would change, such as block=64 N=8192 step=40, or hint, or skip.");
  bool done = false, skipped = false;
  while (!done && !skipped && !w->stopped && !status) {
    const char *typed = read_line(w, "> ");
    if (!typed) break;
    if (!*typed || obey(w, typed, &hints, &skipped, &status, error)) continue;
    status = try_change(w, task, typed, &hints, &done, error);
  }
  if (skipped && !status) status = show_solution(w, task, error);
  fputc('\n', w->io->out);
  return status;
}

/* ---- Blocks */

static Status show(Walk *w, const LessonBlock *b, Error *error) {
  LessonShow what;
  Error inner = {0};
  Status status = lesson_run_show(&w->run, b, &what, error);
  if (status) return status;
  status = lesson_print_show(w->state, &what, w->io, &inner);
  if (status) return error_set(error, status, "%s:%d: %s", w->lesson->file, b->text.line, inner.message);
  fputc('\n', w->io->out);
  if (b->caption.offset) status = print_text(w, b->caption, error);
  if (!status && w->has_prediction) status = reveal(w, error);
  return status;
}

static Status do_block(Walk *w, size_t index, Error *error) {
  const LessonBlock *b = &w->lesson->blocks[index];
  switch (b->kind) {
  case LESSON_PROSE:
    if (index > 0 && strncmp(lesson_text(w->lesson, b->text), "## ", 3) == 0) wait_for_enter(w);
    return w->stopped ? STATUS_OK : print_text(w, b->text, error);
  case LESSON_STATE: return lesson_run_state(&w->run, b, w->state, sizeof w->state, error);
  case LESSON_SHOW: return show(w, b, error);
  case LESSON_ASK: return ask_question(w, b->ask, error);
  case LESSON_TASK: return do_task(w, b, error);
  default: return STATUS_OK;
  }
}

/* ---- The whole lesson */

static void print_title(Walk *w) {
  text_paragraph(w->io->out, &w->io->style, ROLE_HEADING, 0, lesson_text(w->lesson, w->lesson->title));
  text_paragraph(w->io->out, &w->io->style, ROLE_DIM, 0, lesson_text(w->lesson, w->lesson->idea));
  fprintf(w->io->out, "About %d minutes. 'help' says what you can type.\n", w->lesson->minutes);
  fputc('\n', w->io->out);
}

static void print_end(Walk *w) {
  const LessonStanding s = lesson_progress_of(&w->progress, w->lesson->name);
  char words[128];
  snprintf(words, sizeof words, "The lesson is done: %d of %d right, not counting predictions.", s.n_right,
           lesson_n_counted(w->lesson));
  verdict(w, ROLE_GOOD, words, "'tilewalk lesson' lists the others.");
}

static Status walk_blocks(Walk *w, size_t from, Error *error) {
  const Lesson *l = w->lesson;
  Status status = STATUS_OK;
  size_t first = from, last = from; /* prose: how it began, and what was said last */
  for (size_t k = 0; k < from && !status; k++) {
    if (l->blocks[k].kind == LESSON_PROSE) last = k;
    if (l->blocks[k].kind == LESSON_PROSE && first == from) first = k;
    if (l->blocks[k].kind == LESSON_STATE)
      status = lesson_run_state(&w->run, &l->blocks[k], w->state, sizeof w->state, error);
  }
  const bool new_page = from < l->n_blocks && l->blocks[from].kind == LESSON_PROSE;
  if (first < from && !status) status = print_text(w, l->blocks[first].text, error);
  if (last != first && !new_page && !status) status = print_text(w, l->blocks[last].text, error);
  for (size_t k = from; k < l->n_blocks && !status && !w->stopped; k++) {
    status = do_block(w, k, error);
    if (status || w->stopped || w->has_prediction) continue; /* a prediction is asked again if nothing was shown */
    lesson_progress_at(&w->progress, l->name, (int64_t)k + 1, k + 1 == l->n_blocks);
    const LessonBlockKind kind = l->blocks[k].kind;
    const bool did_something = kind == LESSON_ASK || kind == LESSON_SHOW || kind == LESSON_TASK;
    if (did_something || k + 1 == l->n_blocks) status = lesson_progress_save(&w->progress, error);
  }
  return status;
}

static Status walk(Walk *w, const LessonWalkOptions *o, Error *error) {
  Status status = lesson_progress_open(&w->progress, w->io->err, error);
  if (status) return status;
  const LessonStanding before = lesson_progress_of(&w->progress, w->lesson->name);
  const bool goes_on = before.has_begun && !before.is_finished && !o->restart &&
                       (!o->has_seed || o->seed == before.seed) && before.block > 0 &&
                       before.block < (int64_t)w->lesson->n_blocks;
  const uint64_t seed = o->has_seed ? o->seed : before.has_begun ? before.seed : 1;
  if (!goes_on) lesson_progress_begin(&w->progress, w->lesson->name, seed);
  status = lesson_run_start(&w->run, w->lesson, &LESSON_LIMITS, seed, error);
  if (status) return status;
  print_title(w);
  if (goes_on)
    text_paragraph(w->io->out, &w->io->style, ROLE_DIM, 0, "Going on where you stopped; --restart begins again.\n\n");
  status = walk_blocks(w, goes_on ? (size_t)before.block : 0, error);
  if (status) return status;
  if (!w->stopped)
    print_end(w);
  else if (*w->progress.path && !w->progress.has_warned)
    say(w, ROLE_DIM, "Stopped. The same command goes on from here.");
  return STATUS_OK;
}

Status lesson_walk(const Lesson *lesson, const LessonWalkOptions *options, Io *io, Error *error) {
  Walk *w = calloc(1, sizeof *w);
  if (!w) return error_set(error, STATUS_NO_MEMORY, "no memory for a lesson");
  w->lesson = lesson;
  w->io = io;
  w->is_terminal = text_is_terminal(stdin) && text_is_terminal(io->out);
  const Status status = walk(w, options, error);
  lesson_run_end(&w->run);
  lesson_progress_close(&w->progress);
  free(w->line);
  free(w);
  return status;
}
