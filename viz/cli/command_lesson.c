/* tilewalk lesson: lessons in the terminal, and what authors and teachers need. */
#include <sys/stat.h>

#include "sim/base/text_add.h"
#include "sim/base/path.h"
#include "viz/cli/command.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/export/output.h"
#include "viz/paper/lesson_paper.h"
#include "viz/text/markdown.h"

enum { EXPORT_SEED_MAX = CLASS_SEED_MIN - EXPORT_VARIANTS_MAX };

/* ---- Options */

static Status add_name(void *target, const char *value, Error *error) {
  LessonOptions *o = target;
  if (o->n_names == LESSON_NAMES_MAX)
    return error_refuse(error, "more than %d lessons at once; name fewer, or none for all of the course",
                        LESSON_NAMES_MAX);
  return options_text("the name of a lesson", value, o->names[o->n_names++], LESSON_ARGUMENT_BYTES, error);
}

/* It does one thing at a time. */
static Status find_task(LessonOptions *o, Error *error) {
  for (int task = TASK_WALK + 1; task < TASK_COUNT; task++) {
    if (!o->flags[task] && !*o->named[task]) continue;
    if (o->task)
      return error_refuse(error, "it does one thing at a time; give one of --list, --lint, --answers, --export-moodle, "
                                 "--handout, --slides, --submit, --teacher, --seeds and --new");
    o->task = (LessonAction)task;
  }
  return STATUS_OK;
}

/* ---- The lessons, and how far one is in each */

static void standing_text(const LessonStanding *s, const Lesson *lesson, char *text, size_t size) {
  if (s->is_finished)
    snprintf(text, size, "done, %d/%d", s->n_right, lesson_n_counted(lesson));
  else if (s->has_begun)
    snprintf(text, size, "%d of %zu", s->n_asked, lesson->n_asks);
  else
    snprintf(text, size, "-");
}

static Status list(Document *d, Io *io, Error *error) {
  LessonShelf shelf = {0};
  LessonProgress progress = {0};
  char next[LESSON_NAME_BYTES * 2] = "";
  put_values(d, "tilewalk-lessons:n", 1);
  Table *t = put_table(d, DOCUMENT_ALL, "lessons",
                       "lesson=name|title~=title|=idea|min>&minutes|=questions|=begun|=finished|=answered|"
                       "=right|progress");
  Status status = lesson_progress_open(&progress, io->err, error);
  while (!status && lesson_next(&shelf, error)) {
    const Lesson *l = &shelf.lesson;
    char standing[64];
    if (shelf.why.status) { /* the others are still worth listing */
      if (d->form == DOCUMENT_JSON) continue;
      put_cells(t, "s@s", shelf.name, ROLE_BAD, shelf.why.message);
      table_rule(t);
      continue;
    }
    const LessonStanding s = lesson_progress_of(&progress, l->name);
    standing_text(&s, l, standing, sizeof standing);
    if (!*next && !s.is_finished) snprintf(next, sizeof next, "%s", shelf.name);
    put_cells(t, "*sssnubbnn@s", l->name, l->title.text, l->idea.text, l->minutes, (uint64_t)l->n_asks, s.has_begun,
              s.is_finished, s.n_asked, s.n_right, s.is_finished ? ROLE_GOOD : ROLE_PLAIN, standing);
  }
  if (*next) {
    document_gap(d);
    document_line(d, ROLE_PLAIN, "Next: tilewalk lesson %s", next);
  }
  lesson_progress_close(&progress);
  return error->status;
}

/* ---- Checking */

static Status lint_one(const char *name, Io *io, int *n_findings, Error *error) {
  Lesson lesson;
  char path[ASSETS_PATH_BYTES];
  Error inner = {0};
  if (lesson_load(name, &lesson, &inner) == STATUS_BAD_FILE) { /* a finding like others */
    text_say(io->out, "%s\n", inner.message);
    ++*n_findings;
    return STATUS_OK;
  }
  if (inner.status || lesson_find(name, path, error)) return error_pass(error, &inner);
  LessonLintContext context = {.path = path, .io = io};
  const LessonHooks hooks = lesson_hooks(&context);
  int n = 0;
  const Status linted = lesson_lint(&lesson, &LESSON_LIMITS, &hooks, &n, error);
  *n_findings += n;
  lesson_free(&lesson);
  return linted;
}

static Status lint(const LessonOptions *o, Io *io, Error *error) {
  LessonFiles *files = NULL;
  int n_findings = 0, n = 0;
  Status status = o->n_names ? STATUS_OK : lesson_files(&files, error);
  const int n_lessons = files ? files->n : o->n_names;
  for (; n < n_lessons && !status; n++)
    status = lint_one(files ? files->names[n] : o->names[n], io, &n_findings, error);
  free(files);
  if (!status)
    fprintf(io->out, "%s, %s\n", number_of(wide(n), "lesson").text, number_of(wide(n_findings), "finding").text);
  io->differs = n_findings > 0;
  return status;
}

/* ---- A new lesson */

/* To NAME.md. */
static Status write_template(const char *name, Io *io, Error *error) {
  char target[LESSON_ARGUMENT_BYTES + 8], *buffer;
  size_t length;
  struct stat there;
  snprintf(target, sizeof target, "%s%s", name, path_ends(name, ".md") ? "" : ".md");
  if (stat(target, &there) == 0)
    return error_refuse(error, "'%s' is there already; it was left as it is", quote_text(target).text);
  Status status = assets_read("lessons/course/template.md", LESSON_FILE_BYTES, &buffer, &length, error);
  if (!status) status = file_write_whole(target, buffer, length, error);
  free(buffer);
  utf8_clean(target); /* on the screen alone: the file has the name that was asked for */
  if (!status)
    text_say(io->out,
             "%s is a small lesson to change. Check it with 'tilewalk lesson --lint %s', walk it "
             "with 'tilewalk lesson %s'.\n",
             target, target, target);
  return status;
}

/* ---- The command */

/* The keys of an order, from the first on; of anything else what the learner is shown. */
static void answer_words(const Lesson *lesson, const LessonQuestion *q, char *text, size_t size) {
  const LessonAsk *ask = &lesson->asks[q->ask];
  snprintf(text, size, "%s", ask->kind == LESSON_ORDER ? "" : q->answer);
  int order[ANSWER_CHOICES_MAX];
  if (ask->kind == LESSON_ORDER) lesson_order(q, order);
  for (int n = 0; n < q->n_choices && ask->kind == LESSON_ORDER; n++)
    text_add(text, size, "%s%s", n ? ", " : "", ask->choice[q->written[order[n]]].key.text);
}

/* What is right for a learner with this seed. */
static Status add_answers(LessonRun *run, Document *d, Error *error) {
  const Lesson *lesson = run->lesson;
  LessonQuestion q;
  d->details = true;
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, " >|question|answer~");
  table_title(t, "Answers, computed for seed %ju", run->seed);
  for (size_t k = 0; k < lesson->n_asks; k++) {
    char words[LESSON_OPTION_BYTES];
    if (lesson_run_question(run, (int)k, &q, error)) return error->status;
    answer_words(lesson, &q, words, sizeof words);
    table_format(t, ROLE_DIM, "%zu", k + 1);
    table_format(t, ROLE_PLAIN, "%s%s", lesson->asks[k].id, lesson->asks[k].is_prediction ? " (predict)" : "");
    table_text(t, ROLE_ACCENT, words);
  }
  return STATUS_OK;
}

static Status print_teacher(const Lesson *lesson, uint64_t seed, Document *d, Io *io, Error *error) {
  LessonRun run;
  char *text = malloc(LESSON_PROSE_BYTES);
  Status status =
      text ? lesson_run_start(&run, lesson, &LESSON_LIMITS, seed, error) : error_no_memory(error, "for a text");
  if (!status) {
    io_print(io, ROLE_HEADING, "%s: for the teacher", lesson->title.text);
    fputs("\n\n", io->out);
    for (size_t k = 0; k < lesson->n_blocks && !status; k++) {
      if (lesson->blocks[k].kind != LESSON_TEACHER) continue;
      status = lesson_run_fill(&run, lesson->blocks[k].text, text, LESSON_PROSE_BYTES, error);
      if (!status) status = text_markdown(io->out, &io->style, text, strlen(text), error);
      io_end_line(io);
    }
    if (!status) status = add_answers(&run, d, error);
    lesson_run_end(&run);
  }
  free(text);
  return status;
}

static Status run_one(const LessonOptions *o, Document *d, Io *io, Error *error) {
  Lesson lesson;
  const char *to = o->named[o->task];
  const uint64_t seed = o->walk.has_seed ? o->walk.seed : 1;
  const uint64_t own_seed = *o->key && *o->student ? lesson_student_seed(o->key, o->student) : seed;
  const ExportDraws draws = {.seed = seed, .n_variants = o->variants};
  Status status = lesson_load(o->names[0], &lesson, error);
  if (status) return status;
  if (o->task == TASK_TEACHER)
    status = print_teacher(&lesson, own_seed, d, io, error);
  else if (o->task == TASK_MOODLE)
    status = lesson_export_moodle(&lesson, &LESSON_LIMITS, draws, io->out, error);
  else if (o->task == TASK_SUBMIT)
    status = lesson_submit(lesson.name, o->student, to, io, error);
  else if (*o->roster)
    status = lesson_handouts(&lesson, o->roster, o->key, to, io, error);
  else if (o->task == TASK_WALK)
    status = lesson_walk(&lesson, &o->walk, o->watches, NULL, NULL, io, error);
  else
    status = lesson_paper_save(&lesson, o->task == TASK_SLIDES, own_seed, o->student, to, error);
  lesson_free(&lesson);
  return status;
}

/* What belongs to another task is refused, and so is what would print any student's answers for a typed number. */
static Status check_teaching(const LessonOptions *o, Error *error) {
  const char *to = o->named[TASK_HANDOUT];
  const bool grades = o->task == TASK_ANSWERS, hands_out = o->task == TASK_HANDOUT, teaches = o->task == TASK_TEACHER,
             prints_rows = o->task == TASK_LIST || grades || o->task == TASK_SEEDS || !o->n_names;
  const struct {
    bool is_wrong;
    const char *why;
  } RULES[] = {
      {*o->roster && !grades && !hands_out, "--roster goes with --answers and --handout"},
      {*o->roster && path_ends(to, ".pdf"),
       "with --roster a handout a student is written into a folder; that of --handout is the name of one file"},
      {*o->roster && hands_out && (!*o->key || *o->student || o->walk.has_seed),
       "each handout of --roster has a student's own name and numbers: add --key KEY, and leave out --student and "
       "--seed"},
      {(o->output.json || o->output.csv) && !prints_rows, "--json and --csv go with --list, --answers and --seeds"},
      {*o->student && o->task != TASK_SUBMIT && ((!teaches && !hands_out && o->task != TASK_SLIDES) || !*o->key),
       "--student goes with --submit, and with --key in --teacher, --handout and --slides"},
      {o->task == TASK_SUBMIT && !o->student[strspn(o->student, " ")], "whose answers are they? add --student NAME"},
      {teaches && *o->key && !*o->student, "--teacher --key prints the answers of one student; add --student NAME"},
      {teaches && o->walk.has_seed,
       "--teacher prints the answers of a student with the class's --key and --student NAME, and without them those of "
       "seed 1; not those of a seed"},
      {grades && (*o->key != 0) + o->walk.has_seed + o->trust_seeds > 1,
       "--key, --seed and --trust-seeds are three ways to say whose numbers; give one"},
      {o->n_names > 1 && o->task != TASK_LINT, "one lesson at a time; only --lint takes several"},
      {!o->n_names && (o->task == TASK_MOODLE || teaches || hands_out || o->task == TASK_SLIDES),
       "name a lesson; 'tilewalk lesson' lists them"},
  };
  for (size_t k = 0; k < COUNT_OF(RULES); k++)
    if (RULES[k].is_wrong) return error_refuse(error, "%s", RULES[k].why);
  if (*o->key && strlen(o->key) < CLASS_KEY_CHARS_MIN)
    return error_refuse(error, "a key of %zu characters is soon guessed; take %d or more", strlen(o->key),
                        CLASS_KEY_CHARS_MIN);
  if (o->task == TASK_MOODLE && (*o->key || (o->walk.has_seed && o->walk.seed > EXPORT_SEED_MAX)))
    return error_refuse(
        error, "an export holds the answers: its numbers are those of --seed 1 to %d, which no student of a key has",
        EXPORT_SEED_MAX);
  return STATUS_OK;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  LessonOptions *o = options;
  if (shard_check(&o->shard, &o->output, error) || find_task(o, error) || check_teaching(o, error))
    return error->status;
  const char *named = o->named[o->task];
  switch (o->task) {
  case TASK_LINT: return lint(o, io, error);
  case TASK_ANSWERS: return lesson_grade(o, d, io, error);
  case TASK_NEW: return write_template(named, io, error);
  case TASK_SEEDS: return lesson_list_seeds(named, o->key, d, io, error);
  case TASK_LIST: return list(d, io, error);
  default: break;
  }
  if (o->n_names) return run_one(o, d, io, error);
  return o->task == TASK_SUBMIT ? lesson_submit(NULL, o->student, named, io, error) : list(d, io, error);
}

static const Option LESSON_OPTIONS[] = {
    OPTION_SWITCH("list", "List the lessons and how far you are. So does no lesson at all.",
                  OPTION_FLAG(LessonOptions, flags[TASK_LIST])),
    OPTION_ROW("seed", "SEED", "Which numbers you are given: a learner's own. Default: the one you began with, or 1.",
               OPTION_NUMBER(LessonOptions, walk.seed, "the seed", 0, INT64_MAX),
               .given = offsetof(LessonOptions, walk.has_seed)),
    OPTION_SWITCH("restart", "Begin again, instead of going on.", OPTION_FLAG(LessonOptions, walk.restart)),
    OPTION_SWITCH("watch", "Judge a program or a kernel each time its file is saved, as at a terminal.",
                  OPTION_FLAG(LessonOptions, watches)),
    OPTION_ROW(
        "submit", "FILE|FOLDER",
        "Write what --student NAME hands in, as JSON. It holds the first answers of the lesson, or of all that were "
        "begun, and the number that drew them. In a folder the file has the student's name; - prints it.",
        OPTION_TEXT(LessonOptions, named[TASK_SUBMIT], "the name")),
    {0},
};

static const Option TEACHER_OPTIONS[] = {
    OPTION_SWITCH(
        "teacher",
        "Show the lesson's page for the teacher, and its answers: those of a student with --key and --student, else "
        "those of seed 1.",
        OPTION_FLAG(LessonOptions, flags[TASK_TEACHER])),
    OPTION_ROW(
        "answers", "FILE|FOLDER",
        "Grade what a class handed in: CSV with the columns student, lesson, id, answer, seed (student, id and "
        "answer are needed), or the same as JSON, or a folder of such files; - is standard input. Where two files "
        "hold different "
        "answers of one student, neither counts. All have the numbers of --seed, or 1. Exit status 1 when a row "
        "cannot be graded; it says why.",
        OPTION_TEXT(LessonOptions, named[TASK_ANSWERS], "the name")),
    OPTION_ROW("key", "KEY",
               "With --answers: each student has numbers of their own, from this key and the name. Keep it secret.",
               OPTION_TEXT(LessonOptions, key, "the key")),
    OPTION_ROW("roster", "FILE",
               "With --answers: who is in the class, a name a line. Others are shown and not counted; who handed in "
               "nothing is shown, too. Blanks, large letters and composed accents make no other name. With --handout: "
               "whom to write one for.",
               OPTION_TEXT(LessonOptions, roster, "the name")),
    OPTION_SWITCH("scores", "With --answers: print a row a student instead of one an answer.",
                  OPTION_FLAG(LessonOptions, by_student)),
    OPTION_ROW("report", "FILE.html",
               "With --answers: write a page for the teacher, too: students, questions with their most frequent wrong "
               "answer, misconceptions by how often.",
               OPTION_TEXT(LessonOptions, page, "the name")),
    OPTION_ROW("gradescope", "FILE",
               "With --answers, for the hand-in of one student: write Gradescope's results.json, too. With a lesson's "
               "name, what was not answered is a test of 0 points.",
               OPTION_TEXT(LessonOptions, gradescope, "the name")),
    OPTION_ROW(
        "student", "NAME",
        "Whose answers --submit hands in. With --key: whose answers --teacher prints, whose numbers --handout has.",
        OPTION_TEXT(LessonOptions, student, "the name")),
    OPTION_ROW("seeds", "FILE", "List each student's seed under --key, to hand out. FILE has a name a line.",
               OPTION_TEXT(LessonOptions, named[TASK_SEEDS], "the name")),
    OPTION_SWITCH("trust-seeds", "With --answers: take the seeds that the rows name.",
                  OPTION_FLAG(LessonOptions, trust_seeds)),
    OPTION_ROW("handout", "FILE.pdf|FOLDER",
               "Write the lesson for paper, with room for answers. Pictures that answer a prediction stand at the end. "
               "Numbers are those of --seed, or of a student. With --roster and --key: one a student, into a folder.",
               OPTION_TEXT(LessonOptions, named[TASK_HANDOUT], "the name")),
    OPTION_ROW("slides", "FILE.pdf",
               "Write it for a projector, one idea a page: a question, and after a prediction its picture.",
               OPTION_TEXT(LessonOptions, named[TASK_SLIDES], "the name")),
    OPTION_SWITCH("export-moodle", "Print the marked questions as Moodle XML.",
                  OPTION_FLAG(LessonOptions, flags[TASK_MOODLE])),
    OPTION_ROW("variants", "N", "Of each exported question so many, with the numbers of --seed and the seeds after it.",
               OPTION_NUMBER(LessonOptions, variants, "the number of variants", 1, EXPORT_VARIANTS_MAX)),
    {0},
};

static const Option AUTHOR_OPTIONS[] = {
    OPTION_ROW("new", "NAME", "Write a small lesson to NAME.md, to begin with.",
               OPTION_TEXT(LessonOptions, named[TASK_NEW], "the name")),
    OPTION_SWITCH(
        "lint",
        "Check lessons: every answer computed, every state, scene and link there, nothing given away. Without a "
        "name, all of them. Exit status 1 when something is found.",
        OPTION_FLAG(LessonOptions, flags[TASK_LINT])),
    {0},
};

static const OptionSet SETS[] = {
    {"Learning", LESSON_OPTIONS, 0},
    {"Class", TEACHER_OPTIONS, 0},
    {"Writing", AUTHOR_OPTIONS, 0},
    {"Output of --list, --answers and --seeds", OUTPUT_FORMAT_OPTIONS, offsetof(LessonOptions, output)},
    {"Parts of --answers", SHARD_OPTIONS, offsetof(LessonOptions, shard)},
    {0},
};

const Command COMMAND_LESSON = {
    .name = "lesson",
    .group = "learn",
    .summary = "six lessons, practice, claims of articles judged",
    .usage = "[NAME|FILE] [OPTION...]",
    .description = "Walks a lesson in the terminal. Each question is answered by typing a number "
                   "as you would write it (64 MiB, 67.1 MB, 50%, 1/2, 2x), or a letter. "
                   "Answers are computed by the simulator; a known mistake is told from others. "
                   "Progress is kept, so a lesson goes on where it was left, here or in the "
                   "viewer: 'tilewalk view --lesson NAME' has the scene beside it. "
                   "NAME is a number or a name from the list; a file that ends in .md is a lesson "
                   "of your own (lessons/README.md says how to write one).",
    .examples = "  # what there is, and how far you are\n"
                "  tilewalk lesson\n\n"
                "  # begin, or go on\n"
                "  tilewalk lesson one-row\n\n"
                "  # write a lesson\n"
                "  tilewalk lesson --new my-lesson && tilewalk lesson --lint my-lesson.md\n\n"
                "  # a class\n"
                "  tilewalk lesson --answers class.csv --scores --report class.html\n",
    .options_bytes = sizeof(LessonOptions),
    .sets = SETS,
    .apart = "variants + export-moodle; scores + answers; report + answers; gradescope + answers; shard + answers; "
             "shard ! scores report gradescope; seeds + key",
    .choices = "@lessons",
    .set_positional = add_name,
    .answer = answer,
};
