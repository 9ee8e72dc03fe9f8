/* Walking a lesson in a terminal. Part of viz/cli/lesson/lesson_print.h.
 *
 * Prints what is new on the lesson's page (lessons/engine/lesson_page.h), and gives the session what is typed. Reads
 * lines from standard input, so it works through a pipe as well: then nothing waits for Enter, and what was typed is
 * printed, so that the output reads as a transcript. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lessons/engine/lesson_file.h"
#include "lessons/engine/lesson_page.h"
#include "sim/base/ascii.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/lesson/lesson_view.h"
#include "viz/text/markdown.h"

enum { TRIES_BEFORE_OFFER = 3, LESSON_SEEN_BYTES = 512, LOOK_MS = 200, LOOKS_MAX = 24 * 3600 * 1000 / LOOK_MS };

typedef struct {
  LessonSession session;
  LessonPage page;
  size_t next_block; /* up to which blocks are printed, */
  unsigned printed;  /* and the version of the session then */
  Io *io;
  bool is_terminal, stopped; /* stopped: the learner left, or the input ended */
  bool is_watching;          /* a file that answers is judged at every save */
  LessonFile file;           /* of the open question */
  const char *heading;       /* of a question that is asked alone; NULL: a lesson is walked */
  char state[LESSON_STATE_BYTES];
  char *line;
  size_t line_bytes;
} Walk;

/* ---- Talking */

static void say(Walk *w, TextRole role, const char *text) { io_paragraph(w->io, role, 2, text); }

/* A mark and a short verdict, then the rest of the message below. */
static void verdict(Walk *w, TextRole role, const char *words, const char *message) {
  if (*words) io_print(w->io, role, "  %s %s\n", text_role_mark(&w->io->style, role), words);
  if (*message) say(w, *words ? ROLE_PLAIN : role, message);
}

static void prompt(const Walk *w, const char *words) {
  io_print(w->io, ROLE_HEADING, "%s", words);
  fflush(w->io->out);
}

/* The next line, without its end and blanks around it; NULL at the end of the input. */
static const char *read_line(Walk *w) {
  ssize_t length = w->stopped ? -1 : getline(&w->line, &w->line_bytes, stdin);
  if (length < 0) {
    if (!w->stopped) io_end_line(w->io);
    w->stopped = true;
    return NULL;
  }
  while (length > 0 && ascii_is_space((unsigned char)w->line[length - 1])) w->line[--length] = '\0';
  const char *text = w->line;
  while (ascii_is_space((unsigned char)*text)) text++;
  if (!w->is_terminal) {
    io_print(w->io, ROLE_PLAIN, "%s", text);
    io_end_line(w->io);
  }
  return text;
}

static void wait_for_enter(Walk *w) {
  if (!w->is_terminal) return;
  prompt(w, "[Enter] ");
  const char *typed = read_line(w);
  if (typed && strcmp(typed, "quit") == 0) w->stopped = true;
  io_end_line(w->io);
}

/* ---- The page */

static Status print_prose(Walk *w, const char *text, Error *error) {
  const Status status = text_markdown(w->io->out, &w->io->style, text, strlen(text), error);
  io_end_line(w->io);
  return status;
}

/* Begins the file of a question that is answered with one. Where nobody watches, none is written. */
static Status print_file(Walk *w, const char *name, const char *start, Error *error) {
  char words[400];
  if (!w->is_watching) {
    say(w, ROLE_DIM,
        "(the name of a file that answers; 'tilewalk list algorithms --judge TASK' prints how one begins)");
    return STATUS_OK;
  }
  const Status status = lesson_file_begin(&w->file, name, start, error);
  if (status) return status;
  snprintf(words, sizeof words,
           "%s %s. Write in it with your editor: each time you save, it is judged. Here: hint, skip, or quit.",
           w->file.was_there ? "Your file is there already:" : "Your file:", w->file.path);
  say(w, ROLE_DIM, words);
  return STATUS_OK;
}

static void print_field(Walk *w, const LessonPart *part, const char *unit) {
  if (part->ask == LESSON_ORDER)
    say(w, ROLE_DIM, "(all letters in order, such as b a c)");
  else if (part->ask == LESSON_CHOICE)
    say(w, ROLE_DIM, "(a letter)");
  else if (strcmp(unit, "x") == 0)
    say(w, ROLE_DIM, "(how many times, such as 1.5x)");
  else if (*unit)
    io_print(w->io, ROLE_DIM, "  (%s%s)\n", part->number ? "a number of " : "in ", unit);
}

static void print_option(Walk *w, const char *letter, const char *text) {
  char option[LESSON_OPTION_BYTES + 8];
  snprintf(option, sizeof option, "%s) %s", letter, text);
  io_paragraph(w->io, ROLE_PLAIN, 4, option);
}

static Status print_figure(Walk *w, const LessonPart *part, Error *error) {
  LessonSession *s = &w->session;
  LessonShow show;
  Error inner = {0};
  Status status = lesson_run_show(&s->run, &s->lesson.blocks[part->block], &show, error);
  if (status) return status;
  status = lesson_print_show(w->state, &show, w->io, &inner);
  if (status)
    return error_set(error, status, "%s:%d: %s", s->lesson.file, s->lesson.blocks[part->block].text.line,
                     inner.message);
  io_end_line(w->io);
  return STATUS_OK;
}

static void print_reveal(Walk *w, const LessonPart *part, TextRole role, const char *words, const char *text) {
  const LessonAnswer *a = &w->session.answers[part->number];
  char predicted[LESSON_TYPED_BYTES + 32];
  snprintf(predicted, sizeof predicted, "You predicted: %s", a->typed);
  if (!a->is_right && *a->typed) say(w, ROLE_PLAIN, predicted);
  verdict(w, role, words, text);
  io_end_line(w->io);
}

static void print_to_do(Walk *w) {
  say(w, ROLE_DIM, "In a window, where y copies what you have reached:");
  text_say(w->io->out, "    tilewalk view --state '%s'\n", w->state);
  say(w, ROLE_DIM, "Or here: type what you would change, such as block=64 N=8192 step=40, or hint, or skip.");
}

static void print_end(Walk *w, const char *right, const char *first) {
  if (w->heading) return;
  char words[128], more[160];
  snprintf(words, sizeof words, "The lesson is done: %s right, not counting predictions.", right);
  snprintf(more, sizeof more, "%s%s'tilewalk lesson' lists the others.", first, *first ? " " : "");
  verdict(w, ROLE_GOOD, words, more);
}

static Status print_part(Walk *w, const LessonPart *part, Error *error) {
  static const TextRole ROLES[] = {ROLE_PLAIN, ROLE_GOOD, ROLE_WARN, ROLE_BAD, ROLE_ACCENT};
  const char *words = part->words, *text = part->text;
  const TextRole role = ROLES[part->tone];
  switch (part->kind) {
  case PART_PROSE: return print_prose(w, text, error);
  case PART_FIGURE: return print_figure(w, part, error);
  case PART_PROMPT: say(w, ROLE_PLAIN, text); break;
  case PART_OPTION: print_option(w, words, text); break;
  case PART_FIELD:
    if (part->ask == LESSON_WORK) return print_file(w, words, text, error);
    print_field(w, part, words);
    break;
  case PART_CODE:
    snprintf(w->page.filled, sizeof w->page.filled, "```text\n%s```", text);
    return print_prose(w, w->page.filled, error);
  case PART_PREDICTED:
    if (*text) say(w, ROLE_PLAIN, "Noted. Now look.");
    io_end_line(w->io);
    break;
  case PART_VERDICT:
  case PART_ANSWER: verdict(w, role, words, text); break;
  case PART_REVEAL: print_reveal(w, part, role, words, text); break;
  case PART_TO_DO: print_to_do(w); break;
  case PART_END: print_end(w, words, text); break;
  case PART_HEADING: io_print(w->io, role, "%s\n", w->heading ? w->heading : text); break;
  case PART_HINT:
    io_print(w->io, role, "  %s\n", words);
    say(w, ROLE_PLAIN, text);
    break;
  default: break; /* the title was printed; nothing can be pressed */
  }
  return STATUS_OK;
}

/* Prints what was not there when it printed last. */
static Status print_new(Walk *w, Error *error) {
  LessonSession *s = &w->session;
  Status status = STATUS_OK;
  lesson_page_make(&w->page, s);
  for (size_t k = 0; k < w->page.n && !status; k++) {
    const LessonPart *part = &w->page.parts[k];
    if (part->block >= w->next_block || part->at > w->printed) status = print_part(w, part, error);
  }
  w->next_block = lesson_session_page_end(s);
  w->printed = s->version;
  return status ? status : error_pass(error, &s->error);
}

/* ---- What is typed */

/* True when the line is a command; what it asks for is done. */
static bool obey(Walk *w, const char *typed) {
  if (strcmp(typed, "quit") == 0 || strcmp(typed, "exit") == 0)
    w->stopped = true;
  else if (strcmp(typed, "hint") == 0 || strcmp(typed, "?") == 0) {
    if (!lesson_session_hint(&w->session)) say(w, ROLE_DIM, "There are no more hints. 'skip' shows the answer.");
  } else if (strcmp(typed, "help") == 0)
    say(w, ROLE_DIM,
        "Type an answer as you would write it: 64 MiB, 67.1 MB, 50%, 1/2, 2x, 1e6. 'hint' helps a "
        "step, 'skip' shows the answer and goes on, "
        "'quit' stops; your progress is kept. At a task, type what you would change: block=64.");
  else if (strcmp(typed, "skip") == 0)
    lesson_session_next(&w->session);
  else
    return false;
  return true;
}

typedef struct {
  LessonSession *session;
  char seen[LESSON_SEEN_BYTES];
  bool done;
} Look;

static Status look(void *data, const LessonView *view, Error *error) {
  Look *l = data;
  (void)error;
  l->done = lesson_session_try(l->session, view);
  lesson_view_words(view, l->seen, sizeof l->seen);
  return STATUS_OK;
}

/* Judges a typed change of the state. What cannot be is told to the learner. */
static Status try_change(Walk *w, const char *change, Error *error) {
  Look l = {.session = &w->session};
  Error why = {0};
  const bool is_whole = strstr(change, "algorithm=") && strstr(change, "scene="); /* as y copies it */
  const Status status = lesson_look(NULL, is_whole ? change : w->state, is_whole ? "" : change, look, &l, &why);
  if (status == STATUS_NO_MEMORY) return error_pass(error, &why);
  if (l.done || w->session.error.status) return STATUS_OK;
  if (status) {
    say(w, ROLE_WARN, why.message);
    return STATUS_OK;
  }
  verdict(w, ROLE_BAD, "Not there yet.", l.seen);
  lesson_session_hint(&w->session);
  return STATUS_OK;
}

/* Gives the session what is in a file. */
static Status judge_file(Walk *w, const char *path, Error *error) {
  Error why = {0};
  char *text = lesson_file_read(path, &why);
  if (why.status == STATUS_NO_MEMORY) return error_pass(error, &why);
  if (text)
    lesson_session_grade(&w->session, text);
  else
    say(w, ROLE_WARN, why.message);
  free(text);
  return STATUS_OK;
}

/* Waits for a line or for a save, whichever comes first; true: a save. A day without either ends the lesson. */
static bool wait_for_save(Walk *w) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  for (int k = 0; k < LOOKS_MAX; k++) {
    if (lesson_file_changed(&w->file)) return true;
    if (poll(&input, 1, LOOK_MS) != 0) return false;
  }
  w->stopped = true;
  return false;
}

/* Reads lines until what is open is open no more. A file that answers is judged at each save, too. */
static Status answer(Walk *w, Error *error) {
  LessonSession *s = &w->session;
  const int ask = lesson_session_ask(s), task = lesson_session_task(s);
  const bool is_file = ask >= 0 && s->lesson.asks[ask].kind == LESSON_WORK, watches = is_file && w->is_watching;
  Status status = watches && w->file.was_there ? judge_file(w, w->file.path, error) : STATUS_OK;
  if (!status) status = print_new(w, error);
  while (!status && !w->stopped && lesson_session_ask(s) == ask && lesson_session_task(s) == task) {
    const int tries = ask >= 0 ? s->answers[ask].tries : 0;
    prompt(w, "> ");
    if (watches && wait_for_save(w)) {
      text_say(w->io->out, "%s was saved\n", w->file.path);
      status = judge_file(w, w->file.path, error);
    } else {
      const char *typed = read_line(w);
      if (!typed || (!*typed && !watches)) continue;
      if (!obey(w, typed)) {
        if (is_file)
          status = judge_file(w, *typed ? typed : w->file.path, error);
        else if (ask >= 0)
          lesson_session_grade(s, typed);
        else
          status = try_change(w, typed, error);
      }
    }
    if (!status) status = print_new(w, error);
    if (ask >= 0 && !is_file && lesson_session_ask(s) == ask && tries < TRIES_BEFORE_OFFER &&
        s->answers[ask].tries == TRIES_BEFORE_OFFER)
      say(w, ROLE_DIM, "('hint' for a hint, 'skip' for the answer)");
  }
  if (!status && (ask < 0 || !(w->stopped || s->lesson.asks[ask].is_prediction))) io_end_line(w->io);
  return status;
}

/* ---- The whole lesson */

static void set_state(void *data, const char *state, SceneKind scene) {
  (void)scene;
  snprintf(((Walk *)data)->state, LESSON_STATE_BYTES, "%s", state);
}

static void print_title(Walk *w) {
  const Lesson *l = &w->session.lesson;
  io_paragraph(w->io, ROLE_HEADING, 0, l->title.text);
  io_paragraph(w->io, ROLE_DIM, 0, l->idea.text);
  fprintf(w->io->out, "About %d minutes. 'help' says what you can type.\n", l->minutes);
  io_end_line(w->io);
}

static Status print_block(Walk *w, size_t block, Error *error) {
  LessonSession *s = &w->session;
  return print_prose(w, lesson_session_fill(s, s->lesson.blocks[block].text, w->page.filled, sizeof w->page.filled),
                     error);
}

/* Where it was left: how it began, and what was said last. */
static Status recall(Walk *w, Error *error) {
  const LessonBlock *blocks = w->session.lesson.blocks;
  const size_t from = w->next_block;
  size_t first = from, last = from;
  io_paragraph(w->io, ROLE_DIM, 0, "Going on where you stopped; --restart begins again.\n\n");
  for (size_t k = from; k-- > 0;) {
    if (blocks[k].kind != LESSON_PROSE) continue;
    first = k;
    if (last == from) last = k;
  }
  Status status = first < from ? print_block(w, first, error) : STATUS_OK;
  if (!status && last > first && blocks[from].kind != LESSON_PROSE) status = print_block(w, last, error);
  return status;
}

static Status walk(Walk *w, Error *error) {
  LessonSession *s = &w->session;
  const LessonViewer viewer = {.data = w, .set = set_state};
  if (!w->heading) print_title(w);
  w->next_block = s->at;
  Status status = s->at > 0 ? recall(w, error) : STATUS_OK;
  if (!status) lesson_session_start(s, &viewer);
  if (!status) status = print_new(w, error);
  while (!status && !w->stopped && !lesson_session_is_finished(s)) {
    const LessonBlock *b = lesson_session_block(s);
    if (lesson_session_ask(s) >= 0 || lesson_session_task(s) >= 0) {
      status = answer(w, error);
      continue;
    }
    if (!b || (b->kind == LESSON_TASK && !s->lesson.tasks[b->task].until.text)) wait_for_enter(w);
    if (w->stopped) break;
    lesson_session_next(s);
    status = print_new(w, error);
  }
  if (!status && w->stopped && !w->heading && *s->progress.path && !s->progress.has_warned)
    say(w, ROLE_DIM, "Stopped. The same command goes on from here.");
  return status;
}

Status lesson_walk(Lesson *lesson, const LessonSessionOptions *options, bool watches, const char *heading,
                   LessonLeft *left, Io *io, Error *error) {
  Walk *w = calloc(1, sizeof *w);
  if (!w) return error_no_memory(error, "for a lesson");
  w->io = io;
  w->heading = heading;
  w->is_terminal = text_is_terminal(stdin) && text_is_terminal(io->out);
  w->is_watching = watches || w->is_terminal;
  if (w->is_watching) setvbuf(stdin, NULL, _IONBF, 0); /* what was read ahead could not be waited for */
  Status status = lesson_session_open(&w->session, lesson, &LESSON_LIMITS, options, io->err, error);
  if (heading) w->session.progress.path[0] = '\0';
  if (!status) status = walk(w, error);
  if (!status && left) {
    const LessonAnswer *a = &w->session.answers[0];
    *left = (LessonLeft){a->is_right, w->stopped, a->tries, a->hints.n};
  }
  lesson_session_close(&w->session);
  lesson_page_free(&w->page);
  free(w->line);
  free(w);
  return status;
}
