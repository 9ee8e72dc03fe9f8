/* tilewalk lesson practice: the questions of the lessons with new numbers each time, the weakest first. */
#include <time.h>

#include "sim/base/text_add.h"
#include "viz/cli/command.h"
#include "viz/cli/lesson/lesson_print.h"

enum { COUNT_DEFAULT = 10, COUNT_MOST = 1000, DAY_S = 86400, SKILLS_MAX = 1000, NAMES_MAX = 40 };

/* A question of a lesson. */
typedef struct {
  char name[PRACTICE_NAME_BYTES], title[128];
  int lesson, ask; /* its number, and the question's place in it */
  bool is_weak;    /* it was not known this time */
} Skill;

typedef struct {
  uint64_t seed;
  int count; /* 0: the default */
  bool has_seed, lists, has_solutions;
  int n_named;
  char names[NAMES_MAX][PRACTICE_NAME_BYTES];
  OutputRequest output;
  /* what it works with: */
  Io *io;
  LessonProgress progress;
  LessonQuestion question;
  Skill skills[SKILLS_MAX];
  PracticeSkill known[SKILLS_MAX]; /* how well */
  int n, recent[PRACTICE_APART];
  int64_t today;
} Practice;

/* ---- Choosing */

/* "2/factor", "factor" or "2"; without a name all are chosen. */
static bool is_chosen(const Practice *p, const char *name) {
  const char *id = strchr(name, '/') + 1;
  for (int k = 0; k < p->n_named; k++) {
    const char *named = p->names[k];
    const size_t n = strlen(named);
    if (strcmp(named, name) == 0 || strcmp(named, id) == 0 || (name + n + 1 == id && strncmp(named, name, n) == 0))
      return true;
  }
  return p->n_named == 0;
}

static void add_skills(Practice *p, const Lesson *lesson) {
  for (size_t a = 0; a < lesson->n_asks && p->n < SKILLS_MAX; a++) {
    Skill *s = &p->skills[p->n];
    if (!lesson_skill(lesson, (int)a, s->name) || !is_chosen(p, s->name)) continue;
    snprintf(s->title, sizeof s->title, "%.120s", lesson->title.text);
    s->lesson = atoi(lesson->name);
    s->ask = (int)a;
    p->known[p->n++] = lesson_progress_skill(&p->progress, s->name);
  }
}

static Status find_skills(Practice *p, Error *error) {
  LessonShelf shelf = {0};
  while (lesson_next(&shelf, error)) {
    error_pass(error, &shelf.why);
    add_skills(p, &shelf.lesson);
  }
  if (error->status || p->n) return error->status;
  return error_refuse(error, "there is no skill '%s'; 'tilewalk lesson practice --list' has them",
                      quote_text(p->n_named ? p->names[0] : "").text);
}

static int next_skill(Practice *p) {
  const int next = practice_next(p->known, p->n, p->today, p->recent);
  p->recent[1] = p->recent[0];
  return p->recent[0] = next;
}

/* The lesson of question k with that question alone, and its numbers. */
static Status open_question(const Practice *p, int k, const Skill *s, Lesson *lesson, uint64_t *seed, Error *error) {
  unsigned char place[16] = {0};
  char number[16];
  for (int b = 0; b < 8; b++)
    place[b] = (unsigned char)(p->seed >> (8 * b)), place[8 + b] = (unsigned char)(k >> (4 * b));
  *seed = 2 + siphash(place, "practice", 8) % 999999997;
  snprintf(number, sizeof number, "%d", s->lesson);
  const Status status = lesson_load_named(number, lesson, error);
  if (!status) lesson_leave(lesson, s->ask);
  return status;
}

/* ---- Practising */

static Status practise(Practice *p, Error *error) {
  int n_right = 0, n = 0;
  bool has_stopped = false;
  Status status = STATUS_OK;
  io_paragraph(
      p->io, ROLE_DIM, 0,
      "Type an answer as you would write it: 64 MiB, 50%, 1/2, 2x. 'hint', 'skip' and 'quit' do what they say.");
  io_end_line(p->io);
  while (n < p->count && !status && !has_stopped) {
    const int k = next_skill(p);
    Skill *s = &p->skills[k];
    char heading[PRACTICE_NAME_BYTES + 48];
    Lesson lesson;
    LessonLeft left = {0};
    LessonSessionOptions options = {.has_seed = true, .restart = true};
    snprintf(heading, sizeof heading, "%d of %d: %s", n + 1, p->count, s->name);
    status = open_question(p, n, s, &lesson, &options.seed, error);
    if (!status) status = lesson_walk(&lesson, &options, false, heading, &left, p->io, error);
    lesson_free(&lesson);
    has_stopped = left.has_stopped;
    if (status || (has_stopped && !left.tries)) break; /* what was not answered was not practised */
    const PracticeResult result = !left.is_right                   ? PRACTICE_NOT_RIGHT
                                  : left.tries == 1 && !left.hints ? PRACTICE_RIGHT
                                                                   : PRACTICE_WITH_HELP;
    n++;
    n_right += result == PRACTICE_RIGHT;
    s->is_weak = s->is_weak || result != PRACTICE_RIGHT;
    p->known[k] = practice_answered(p->known[k], result, p->today);
    lesson_progress_practised(&p->progress, s->name, p->known[k]);
    status = lesson_progress_save(&p->progress, error);
  }
  if (status) return status;
  io_print(p->io, ROLE_HEADING, "%d of %d right at the first try, without a hint.\n", n_right, n);
  for (int k = 0; k < p->n; k++)
    if (p->skills[k].is_weak)
      io_print(p->io, ROLE_WARN, "%s: %lld of %lld right\n", p->skills[k].name, (long long)p->known[k].n_right,
               (long long)p->known[k].n_asked);
  return STATUS_OK;
}

/* ---- Papers and lists */

static Status add_question(Practice *p, Table *t, int k, Error *error) {
  const Skill *s = &p->skills[next_skill(p)];
  LessonQuestion *q = &p->question;
  LessonRun run = {0};
  Lesson lesson;
  uint64_t seed;
  Status status = open_question(p, k, s, &lesson, &seed, error);
  if (!status) status = lesson_run_start(&run, &lesson, &LESSON_LIMITS, seed, error);
  if (!status) status = lesson_run_question(&run, 0, q, error);
  for (int c = 0; c < q->n_choices && !status; c++)
    text_add(q->prompt, sizeof q->prompt, " %c) %s", 'a' + c, q->choice[c]);
  if (!status) {
    const LessonAsk *ask = &lesson.asks[0];
    put_cells(t, "snssss", lesson.name, k + 1, s->name, q->prompt, ask->kind == LESSON_NUMBER ? ask->unit.name : "",
              p->has_solutions ? q->answer : "");
    table_rule(t);
  }
  lesson_run_end(&run);
  lesson_free(&lesson);
  return status;
}

/* The questions, each with its answer when that is asked for; as CSV a sheet to fill in. */
static Status add_paper(Practice *p, Document *d, Error *error) {
  put_values(d, "tilewalk-practice:n seed:u", 1, p->seed);
  Table *t =
      put_table(d, DOCUMENT_ALL, "questions", ";lesson| >&number|question;id=skill| ~&prompt|unit=unit|answer~=answer");
  Status status = STATUS_OK;
  for (int k = 0; k < p->count && !status; k++) status = add_question(p, t, k, error);
  return status;
}

static void add_list(Practice *p, Document *d) {
  put_values(d, "tilewalk-practice:n", 1);
  Table *t = put_table(d, DOCUMENT_ALL, "skills",
                       "skill=skill|title=title|>&lesson|strength>=box|asked>=asked|right>=right|"
                       "in days>=due_in_days");
  for (int k = 0; k < p->n; k++) {
    const PracticeSkill *s = &p->known[k];
    const int64_t days = s->due_day > p->today ? s->due_day - p->today : 0;
    put_cells(t, "*ssnnii@i", p->skills[k].name, p->skills[k].title, p->skills[k].lesson, s->box, s->n_asked,
              s->n_right, days ? ROLE_DIM : ROLE_PLAIN, days);
  }
}

/* ---- The command */

static Status answer(void *options, Document *d, Io *io, Error *error) {
  Practice *p = options;
  const time_t now = time(NULL);
  if (!p->has_seed) p->seed = (uint64_t)now;
  if (!p->count) p->count = COUNT_DEFAULT;
  p->io = io;
  p->today = (int64_t)now / DAY_S;
  p->recent[0] = p->recent[1] = -1;
  Status status = lesson_progress_open(&p->progress, io->err, error);
  if (!status) status = find_skills(p, error);
  if (!status && p->lists)
    add_list(p, d);
  else if (!status)
    status = p->has_solutions || d->form != DOCUMENT_TEXT ? add_paper(p, d, error) : practise(p, error);
  lesson_progress_close(&p->progress);
  return status;
}

/* ---- Options */

static Status add_skill(void *target, const char *value, Error *error) {
  Practice *p = target;
  if (!*value || strlen(value) >= PRACTICE_NAME_BYTES || p->n_named == NAMES_MAX)
    return error_refuse(error, "that is no skill, or more than there are; 'tilewalk lesson practice --list' has them");
  memcpy(p->names[p->n_named++], value, strlen(value) + 1);
  return STATUS_OK;
}

static const Option PRACTICE_OPTIONS[] = {
    OPTION_ROW("count", "N", "How many questions. Default 10.",
               OPTION_NUMBER(Practice, count, "the count", 1, COUNT_MOST)),
    OPTION_SWITCH("list", "List the questions: how strong you are in each (0 to 5), and when it is asked again.",
                  OPTION_FLAG(Practice, lists)),
    OPTION_ROW("seed", "SEED", "The same numbers again. Default: new ones each time.",
               OPTION_NUMBER(Practice, seed, "the seed", 0, INT64_MAX), .given = offsetof(Practice, has_seed)),
    OPTION_SWITCH("solutions", "Print the questions with their answers, and ask nothing.",
                  OPTION_FLAG(Practice, has_solutions)),
    {0},
};

static const OptionSet SETS[] = {
    {"Practice", PRACTICE_OPTIONS, 0},
    {"Output of papers and lists", OUTPUT_FORMAT_OPTIONS, offsetof(Practice, output)},
    {0},
};

const Command COMMAND_PRACTICE = {
    .name = "lesson practice",
    .old = "practice",
    .summary = "the questions of the lessons with new numbers, the weakest first",
    .usage = "[SKILL...] [OPTION...]",
    .description = "Asks questions of the lessons again, each with new numbers, and computes the answer. The weakest "
                   "comes first; what you know returns after 1, 2, 4, 8 and 16 days, what you did not know at "
                   "once, and so does a question that was answered wrong at first in its lesson. SKILL is a question "
                   "(2/factor), or a lesson (2) for all of its questions. How strong you are in each is kept with your "
                   "progress in lessons. --json prints questions instead of asking them.",
    .examples = "  # ten questions\n"
                "  tilewalk lesson practice\n\n"
                "  # two questions alone, then those of one lesson\n"
                "  tilewalk lesson practice 1/ridge 5/waves --count 4\n"
                "  tilewalk lesson practice 3\n",
    .options_bytes = sizeof(Practice),
    .sets = SETS,
    .set_positional = add_skill,
    .answer = answer,
};
