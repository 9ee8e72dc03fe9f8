/* tilewalk practice: fifteen skills with new numbers each time, the weakest first. The skills are the questions of
 * lessons/course/practice.md. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lessons/engine/class_key.h"
#include "lessons/engine/lesson_progress.h"
#include "sim/base/ascii.h"
#include "sim/base/quote.h"
#include "viz/cli/command.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/cli/reply.h"
#include "viz/text/print.h"

enum { COUNT_DEFAULT = 10, COUNT_MOST = 1000, DAY_S = 86400 };

typedef struct {
  uint64_t seed;
  int count; /* 0: the default */
  bool has_seed, lists, has_solutions;
  bool is_chosen[LESSON_ASKS_MAX]; /* skills that were named, */
  int n_named;                     /* and how many names there were */
  char names[LESSON_ASKS_MAX][LESSON_NAME_BYTES];
  OutputRequest output;
} PracticeOptions;

typedef struct {
  const PracticeOptions *o;
  Io *io;
  Lesson lesson;
  LessonRun run;
  LessonProgress progress;
  LessonQuestion question;
  LessonGrade grade;
  PracticeSkill skills[LESSON_ASKS_MAX];
  int lessons[LESSON_ASKS_MAX];          /* the number of the first lesson that asks for a skill; 0: none */
  int chosen[LESSON_ASKS_MAX], n_chosen; /* the skills that are practised */
  int64_t today;
  bool is_terminal, stopped;
  int tries; /* at the open question */
  char *line;
  size_t line_bytes;
} Practice;

/* ---- Talking */

static void say(Practice *p, TextRole role, const char *text) {
  text_paragraph(p->io->out, &p->io->style, role, 2, text);
}

static void say_verdict(Practice *p, TextRole role, const char *words, const char *message) {
  text_print(p->io->out, &p->io->style, role, "  %s %s", text_role_mark(&p->io->style, role), words);
  fputc('\n', p->io->out);
  if (*message) say(p, ROLE_PLAIN, message);
}

/* The next line without blanks around it; NULL at the end of the input. */
static const char *read_line(Practice *p) {
  text_print(p->io->out, &p->io->style, ROLE_HEADING, "> ");
  fflush(p->io->out);
  ssize_t length = getline(&p->line, &p->line_bytes, stdin);
  if (length < 0) {
    fputc('\n', p->io->out);
    p->stopped = true;
    return NULL;
  }
  while (length > 0 && ascii_is_space((unsigned char)p->line[length - 1])) p->line[--length] = '\0';
  const char *text = p->line;
  while (ascii_is_space((unsigned char)*text)) text++;
  if (!p->is_terminal) {
    text_print(p->io->out, &p->io->style, ROLE_PLAIN, "%s", text);
    fputc('\n', p->io->out);
  }
  return text;
}

/* "in MiB", "how many times", "a letter" */
static void unit_words(const LessonAsk *ask, char words[64]) {
  const char *unit = ask->unit.name;
  if (ask->kind != LESSON_NUMBER || !*unit)
    snprintf(words, 64, "%s",
             ask->kind == LESSON_CHOICE  ? "a letter"
             : ask->kind == LESSON_ORDER ? "letters in order"
                                         : "");
  else if (strcmp(unit, "x") == 0)
    snprintf(words, 64, "how many times, such as 1.5x");
  else
    snprintf(words, 64, "%s%s", ask->unit.dimension == ANSWER_PLAIN ? "a number of " : "in ", unit);
}

static void print_question(Practice *p, int number, int count) {
  const LessonQuestion *q = &p->question;
  const LessonAsk *ask = &p->lesson.asks[q->ask];
  char words[64], option[LESSON_OPTION_BYTES + 8];
  text_print(p->io->out, &p->io->style, ROLE_ACCENT, "%d of %d: %s", number, count, ask->id);
  fputc('\n', p->io->out);
  say(p, ROLE_PLAIN, q->prompt);
  for (int k = 0; k < q->n_choices; k++) {
    snprintf(option, sizeof option, "%c) %s", 'a' + k, q->choice[k]);
    text_paragraph(p->io->out, &p->io->style, ROLE_PLAIN, 4, option);
  }
  unit_words(ask, words);
  if (*words) text_print(p->io->out, &p->io->style, ROLE_DIM, "  (%s)\n", words);
}

/* ---- One question */

static Status print_hint(Practice *p, int *given, Error *error) {
  const LessonAsk *ask = &p->lesson.asks[p->question.ask];
  char text[LESSON_MESSAGE_BYTES];
  if (*given == ask->n_hints) {
    say(p, ROLE_DIM, "There are no more hints. 'skip' shows the answer.");
    return STATUS_OK;
  }
  const Status status = lesson_run_fill(&p->run, ask->hint[*given], text, sizeof text, error);
  if (status) return status;
  ++*given;
  text_print(p->io->out, &p->io->style, ROLE_WARN, "  Hint %d of %d.\n", *given, ask->n_hints);
  for (char *c = text; *c; c++)
    if (*c == '\n') *c = ' ';
  say(p, ROLE_PLAIN, text);
  return STATUS_OK;
}

static Status show_answer(Practice *p, Error *error) {
  char words[LESSON_OPTION_BYTES + 32];
  const Status status = lesson_run_explain(&p->run, &p->question, p->grade.message, LESSON_MESSAGE_BYTES, error);
  snprintf(words, sizeof words, "The answer is %s.", p->question.answer);
  if (!status) say_verdict(p, ROLE_WARN, words, p->grade.message);
  return status;
}

/* Reads lines until the question is answered, given up, or the input ends. */
static Status answer(Practice *p, PracticeResult *result, Error *error) {
  int tries = 0, hints = 0;
  p->tries = 0;
  Status status = STATUS_OK;
  *result = PRACTICE_NOT_RIGHT;
  while (!status) {
    const char *typed = read_line(p);
    if (!typed) return STATUS_OK;
    if (!*typed) continue;
    if (strcmp(typed, "quit") == 0 || strcmp(typed, "exit") == 0) {
      p->stopped = true;
      return STATUS_OK;
    }
    if (strcmp(typed, "skip") == 0) return show_answer(p, error);
    if (strcmp(typed, "hint") == 0 || strcmp(typed, "?") == 0) {
      status = print_hint(p, &hints, error);
      continue;
    }
    lesson_run_refill(&p->run);
    status = lesson_run_grade(&p->run, &p->question, typed, &p->grade, error);
    if (status) return status;
    const LessonGrade *g = &p->grade;
    if (g->verdict == LESSON_RIGHT) {
      say_verdict(p, ROLE_GOOD, "Right.", g->message);
      *result = tries + hints ? PRACTICE_WITH_HELP : PRACTICE_RIGHT;
      return STATUS_OK;
    }
    if (g->verdict == LESSON_UNREADABLE) {
      say(p, ROLE_WARN, g->message);
      continue;
    }
    tries += g->verdict != LESSON_NEARLY;
    p->tries = tries;
    say_verdict(p, g->verdict == LESSON_NEARLY ? ROLE_WARN : ROLE_BAD,
                g->verdict == LESSON_NEARLY ? "Nearly." : "Not yet.", g->message);
    if (tries == 2) say(p, ROLE_DIM, "('hint' for a hint, 'skip' for the answer)");
  }
  return status;
}

/* The numbers of question k. */
static uint64_t seed_of(const Practice *p, int k) {
  const PracticeOptions *o = p->o;
  unsigned char place[16] = {0};
  for (int b = 0; b < 8; b++)
    place[b] = (unsigned char)(o->seed >> (8 * b)), place[8 + b] = (unsigned char)(k >> (4 * b));
  return 2 + siphash(place, "practice", 8) % 999999997;
}

static Status make_question(Practice *p, int k, int ask, Error *error) {
  p->run.seed = seed_of(p, k);
  lesson_run_refill(&p->run);
  return lesson_run_question(&p->run, ask, &p->question, error);
}

/* ---- Practising */

static int next_skill(const Practice *p, const int recent[PRACTICE_APART]) {
  PracticeSkill own[LESSON_ASKS_MAX];
  int places[PRACTICE_APART];
  for (int k = 0; k < p->n_chosen; k++) own[k] = p->skills[p->chosen[k]];
  for (int r = 0; r < PRACTICE_APART; r++) {
    places[r] = -1;
    for (int k = 0; k < p->n_chosen; k++)
      if (p->chosen[k] == recent[r]) places[r] = k;
  }
  return p->chosen[practice_next(own, p->n_chosen, p->today, places)];
}

/* What was not known this time, and where it is taught. */
static void print_weak(Practice *p, const bool is_weak[LESSON_ASKS_MAX]) {
  for (size_t k = 0; k < p->lesson.n_asks; k++) {
    const PracticeSkill *s = &p->skills[k];
    if (!is_weak[k]) continue;
    text_print(p->io->out, &p->io->style, ROLE_WARN, "%s: %lld of %lld right", p->lesson.asks[k].id,
               (long long)s->n_right, (long long)s->n_asked);
    if (p->lessons[k]) text_print(p->io->out, &p->io->style, ROLE_PLAIN, "; lesson %d teaches it", p->lessons[k]);
    fputc('\n', p->io->out);
  }
}

static Status practise(Practice *p, Error *error) {
  int recent[PRACTICE_APART] = {-1, -1}, n_right = 0, n = 0;
  bool is_weak[LESSON_ASKS_MAX] = {false};
  Status status = STATUS_OK;
  text_paragraph(
      p->io->out, &p->io->style, ROLE_DIM, 0,
      "Type an answer as you would write it: 64 MiB, 50%, 1/2, 2x. 'hint', 'skip' and 'quit' do what they say.");
  fputc('\n', p->io->out);
  while (n < p->o->count && !status && !p->stopped) {
    PracticeResult result;
    const int ask = next_skill(p, recent);
    status = make_question(p, n, ask, error);
    if (status) break;
    print_question(p, n + 1, p->o->count);
    status = answer(p, &result, error);
    fputc('\n', p->io->out);
    if (status || (p->stopped && !p->tries)) break; /* what was not answered was not practised */
    n++;
    n_right += result == PRACTICE_RIGHT;
    is_weak[ask] = is_weak[ask] || result != PRACTICE_RIGHT;
    recent[1] = recent[0];
    recent[0] = ask;
    p->skills[ask] = practice_answered(p->skills[ask], result, p->today);
    lesson_progress_practised(&p->progress, p->lesson.asks[ask].id, p->skills[ask]);
    status = lesson_progress_save(&p->progress, error);
  }
  if (!status)
    text_print(p->io->out, &p->io->style, ROLE_HEADING, "%d of %d right at the first try, without a hint.\n", n_right,
               n);
  if (!status) print_weak(p, is_weak);
  return status;
}

/* ---- Papers and lists */

/* A paper for people. */
static void print_on_paper(Practice *p, int number, int count) {
  print_question(p, number, count);
  if (p->o->has_solutions) text_print(p->io->out, &p->io->style, ROLE_GOOD, "  %s\n", p->question.answer);
  fputc('\n', p->io->out);
}

static void add_question(Practice *p, Table *t, int number) {
  char words[64];
  unit_words(&p->lesson.asks[p->question.ask], words);
  table_text(t, ROLE_PLAIN, p->lesson.name);
  table_count(t, ROLE_PLAIN, wide(number));
  table_text(t, ROLE_PLAIN, p->lesson.asks[p->question.ask].id);
  table_text(t, ROLE_PLAIN, p->question.prompt);
  table_text(t, ROLE_PLAIN, words);
  table_text(t, ROLE_PLAIN, p->o->has_solutions ? p->question.answer : "");
}

/* The questions, each with its answer when that is asked for; as CSV a sheet to fill in. */
static Status print_paper(Practice *p, Error *error) {
  static const TableColumn COLUMNS[] = {{.csv = "lesson"},
                                        {.csv = "number", .key = "number"},
                                        {.csv = "id", .key = "skill"},
                                        {.csv = "prompt", .key = "prompt"},
                                        {.csv = "unit", .key = "unit"},
                                        {.csv = "answer", .key = "answer"}};
  const int n = p->o->count;
  int recent[PRACTICE_APART] = {-1, -1};
  Document d = reply_new(&p->o->output);
  put_count(&d, "tilewalk-practice", 1);
  put_whole(&d, "seed", seed_of(p, 0));
  Table *t = document_table(&d, DOCUMENT_ALL, "questions", COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  const bool on_paper = d.form == DOCUMENT_TEXT;
  Status status = STATUS_OK;
  for (int k = 0; k < n && !status; k++) {
    const int ask = next_skill(p, recent);
    status = make_question(p, k, ask, error);
    recent[1] = recent[0];
    recent[0] = ask;
    if (!status && on_paper) print_on_paper(p, k + 1, n);
    if (!status && !on_paper) add_question(p, t, k + 1);
  }
  if (!on_paper) return reply_print(&d, status, p->io, error);
  document_free(&d);
  return status;
}

static Status print_list(Practice *p, Error *error) {
  static const TableColumn COLUMNS[] = {{.heading = "skill", .key = "skill"},
                                        {.heading = "title", .key = "title"},
                                        {.heading = "lesson", .key = "lesson", .right = true},
                                        {.heading = "strength", .key = "box", .right = true},
                                        {.heading = "asked", .key = "asked", .right = true},
                                        {.heading = "right", .key = "right", .right = true},
                                        {.heading = "in days", .key = "due_in_days", .right = true}};
  Document d = reply_new(&p->o->output);
  put_count(&d, "tilewalk-practice", 1);
  Table *t = document_table(&d, DOCUMENT_ALL, "skills", COLUMNS, sizeof COLUMNS / sizeof *COLUMNS);
  for (int k = 0; k < p->n_chosen; k++) {
    const PracticeSkill *s = &p->skills[p->chosen[k]];
    const int64_t days = s->due_day > p->today ? s->due_day - p->today : 0;
    table_text(t, ROLE_ACCENT, p->lesson.asks[p->chosen[k]].id);
    table_text(t, ROLE_PLAIN, lesson_text(&p->lesson, p->lesson.asks[p->chosen[k]].title));
    table_count(t, ROLE_PLAIN, wide(p->lessons[p->chosen[k]]));
    table_count(t, ROLE_PLAIN, wide(s->box));
    table_count(t, ROLE_PLAIN, wide(s->n_asked));
    table_count(t, ROLE_PLAIN, wide(s->n_right));
    table_count(t, days ? ROLE_DIM : ROLE_PLAIN, wide(days));
  }
  return reply_print(&d, STATUS_OK, p->io, error);
}

/* ---- The command */

static Status choose(Practice *p, Error *error) {
  const PracticeOptions *o = p->o;
  for (int k = 0; k < o->n_named; k++) {
    const int ask = lesson_find_ask(&p->lesson, o->names[k]);
    if (ask < 0)
      return error_set(error, STATUS_BAD_REQUEST, "there is no skill '%s'; 'tilewalk practice --list' has them",
                       quote_text(o->names[k]).text);
    bool known = false;
    for (int c = 0; c < p->n_chosen; c++) known = known || p->chosen[c] == ask;
    if (!known) p->chosen[p->n_chosen++] = ask;
  }
  for (int k = 0; k < (int)p->lesson.n_asks && !o->n_named; k++) p->chosen[p->n_chosen++] = k;
  for (int k = 0; k < (int)p->lesson.n_asks; k++)
    p->skills[k] = lesson_progress_skill(&p->progress, p->lesson.asks[k].id);
  return STATUS_OK;
}

/* Which lesson asks for each skill first. */
static Status find_lessons(Practice *p, Error *error) {
  LessonFiles *files = NULL;
  Status status = lesson_files(&files, error);
  for (int k = 0; !status && k < files->n; k++) {
    Lesson lesson;
    status = lesson_load_named(files->names[k], &lesson, error);
    for (size_t a = 0; a < lesson.n_asks; a++) {
      const int skill = lesson_find_ask(&p->lesson, lesson_text(&lesson, lesson.asks[a].skill));
      if (skill >= 0 && !p->lessons[skill]) p->lessons[skill] = atoi(files->names[k]);
    }
    lesson_free(&lesson);
  }
  free(files);
  return status;
}

static Status run(Practice *p, Error *error) {
  char path[ASSETS_PATH_BYTES];
  Status status = lesson_load("practice", &p->lesson, path, error);
  if (!status) status = lesson_progress_open(&p->progress, p->io->err, error);
  if (!status) status = choose(p, error);
  if (!status) status = find_lessons(p, error);
  if (!status) status = lesson_run_start(&p->run, &p->lesson, &LESSON_LIMITS, LESSON_PAGE_SEED, error);
  if (status) return status;
  if (p->o->lists) return print_list(p, error);
  if (p->o->has_solutions || p->o->output.json || p->o->output.csv) return print_paper(p, error);
  return practise(p, error);
}

static int run_practice(void *options, Io *io, Error *error) {
  PracticeOptions *o = options;
  if (output_request_check(&o->output, error)) return EXIT_BAD_REQUEST;
  const time_t now = time(NULL);
  if (!o->has_seed) o->seed = (uint64_t)now;
  Practice *p = calloc(1, sizeof *p);
  if (!p) {
    error_set(error, STATUS_NO_MEMORY, "no memory to practise");
    return EXIT_BAD_REQUEST;
  }
  if (!o->count) o->count = COUNT_DEFAULT;
  *p = (Practice){.o = o, .io = io, .today = (int64_t)now / DAY_S};
  p->is_terminal = text_is_terminal(stdin) && text_is_terminal(io->out);
  const Status status = run(p, error);
  lesson_run_end(&p->run);
  lesson_progress_close(&p->progress);
  lesson_free(&p->lesson);
  free(p->line);
  free(p);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

/* ---- Options */

static Status add_skill(void *target, const char *value, Error *error) {
  PracticeOptions *o = target;
  if (!*value || strlen(value) >= LESSON_NAME_BYTES || o->n_named == LESSON_ASKS_MAX)
    return error_set(error, STATUS_BAD_REQUEST,
                     "that is no skill, or more than there are; 'tilewalk practice --list' has them");
  memcpy(o->names[o->n_named++], value, strlen(value) + 1);
  return STATUS_OK;
}

static const Option PRACTICE_OPTIONS[] = {
    {.name = "count",
     .argument = "N",
     OPTION_NUMBER(PracticeOptions, count, "the count", 1, COUNT_MOST),
     .help = "How many questions. Default 10."},
    {.name = "list",
     OPTION_FLAG(PracticeOptions, lists),
     .help = "List the skills: which lesson teaches each, how strong it is (0 to 5), and when it is asked again."},
    {.name = "seed",
     .argument = "SEED",
     OPTION_NUMBER(PracticeOptions, seed, "the seed", 0, INT64_MAX),
     .given = offsetof(PracticeOptions, has_seed),
     .help = "The same numbers again. Default: new ones each time."},
    {.name = "solutions",
     OPTION_FLAG(PracticeOptions, has_solutions),
     .help = "Print the questions with their answers, and ask nothing."},
    {0},
};

static const OptionSet SETS[] = {
    {"Practice", PRACTICE_OPTIONS, 0},
    {"Output of papers and lists", OUTPUT_FORMAT_OPTIONS, offsetof(PracticeOptions, output)},
    {0},
};

const Command COMMAND_PRACTICE = {
    .name = "practice",
    .summary = "fifteen skills with new numbers each time, the weakest first",
    .usage = "[SKILL...] [OPTION...]",
    .description = "Asks a question of each skill of the course, with numbers of its own, and computes the answer. The "
                   "weakest skill comes first; what you know comes again after 1, 2, 4, 8 and 16 days, what you did "
                   "not know at once. So does a skill whose question in a lesson was answered wrong at first. How "
                   "strong each skill is is kept with your progress in lessons. --json prints questions instead of "
                   "asking them.",
    .examples = "  # ten questions\n"
                "  tilewalk practice\n\n"
                "  # two skills alone\n"
                "  tilewalk practice ridge waves --count 4\n",
    .options_bytes = sizeof(PracticeOptions),
    .sets = SETS,
    .set_positional = add_skill,
    .run = run_practice,
};
