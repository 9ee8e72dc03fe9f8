/* tilewalk list algorithms: what there is, and the program text of one. */

#include "sim/numbers/program_mend.h"
#include "viz/cli/command.h"
#include "viz/cli/score_options.h"
#include "viz/lesson/lesson_workshop.h"

typedef struct {
  char name[512];
  ScoreOptions numbers; /* that it is tried with */
  char task[512];       /* --judge */
  bool lists_tasks, json, details;
} AlgorithmsOptions;

static Status set_name(void *target, const char *value, Error *error) {
  AlgorithmsOptions *o = target;
  return options_text("the name of the algorithm", value, o->name, sizeof o->name, error);
}

static void list(Document *d, bool details) {
  d->details = details;
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, details ? "algorithm|what it is~" : "algorithm|what it is!");
  for (const Schedule *const *s = SCHEDULES; s < SCHEDULES + N_PROGRAMS; s++)
    put_cells(t, "*ss", (*s)->name, details ? (*s)->summary : (*s)->title);
  if (details) table_note(t, "'tilewalk list algorithms fa2' prints a program; --algorithm ./mine.walk takes yours.");
}

/* ---- One of them ---- */

/* What ranks of it send to each other, a tensor after the other; n-th of them, NULL at the end. */
static const char *sent_tensor(const Schedule *s, int nth) {
  for (int k = 0; k < s->ranks.n_lines; k++)
    for (int n = 0; n < s->n_names && s->ranks.lines[k].kind == RANK_SEND; n++)
      if (s->ranks.lines[k].names & name_bit(n) && nth-- == 0) return s->tensors[s->names[n].tensor].title;
  return NULL;
}

/* Bytes are of sizes, which `algorithms` does not take. */
static void print_links(const Schedule *s, FILE *out) {
  if (!s->ranks.is_said) return;
  text_put(out, "Over links:");
  for (int n = 0; sent_tensor(s, n); n++) text_say(out, "%s %s", n ? "," : "", sent_tensor(s, n));
  text_say(out, "%s; how many bytes: tilewalk sim --algorithm %s --ranks P\n", sent_tensor(s, 0) ? "" : " nothing",
           schedule_word(s));
}

/* The text, and a word on its numbers beside it: the text may go to a file. In JSON "line" is where the wrong row goes
 * out; "first_line" the first after which a value is off, by the mend. */
static Status put_one(Document *d, const AlgorithmsOptions *o, Io *io, Error *error) {
  Question q = {0};
  const SoftmaxConfig *softmax = &o->numbers.softmax;
  if (question_set_algorithm(&q, o->name, &REQUEST_FILES, error)) return error->status;
  const Schedule *s = q.algorithms[0];
  if (q.n_algorithms > 1) return error_refuse(error, "one program at a time; 'tilewalk list algorithms' lists them");
  if (evaluate_takes(s, softmax, error)) return error->status;
  const bool tries = s->path || o->numbers.any || o->json;
  const ProgramVerdict v = tries ? program_verdict(s, softmax) : (ProgramVerdict){.is_right = true};
  const ProgramMend mend = !v.is_right && v.is_tried ? program_mend(s, softmax) : (ProgramMend){0};
  char said[PROGRAM_MEND_BYTES] = "";
  if (!v.is_right) program_mend_say(&mend, said, sizeof said);
  io->differs = !v.is_right;
  put_values(d, "algorithm:s title:s precision:s tried:b right:b output:s row:i error:f", s->name, s->title,
             precision_format(softmax->precision)->name, v.is_tried, v.is_right, v.output, (int64_t)v.row,
             v.error); /* null: no number, or never stored */
  put_values(d, v.line ? "line:n" : "line:0", v.line);
  put_values(d, "line_kind:s", !v.line ? NULL : isfinite(v.error) ? "stores" : "no number since");
  put_values(d, mend.line ? "first_line:n" : "first_line:0", mend.line);
  put_values(d, "mend:s verdict:s", said, v.text);
  if (s->ranks.is_said) {
    put_values(d, "ranks{tokens:s sent[", RANK_LAYOUT_NAMES[s->ranks.layout]);
    for (int n = 0; sent_tensor(s, n); n++) put_values(d, ":s", sent_tensor(s, n));
    put_values(d, "]}");
  }
  if (o->json) return STATUS_OK;
  text_put(io->out, s->text);
  if (tries) text_say(io->err, "%s\n", v.text);
  if (!v.is_right && v.is_tried) text_say(io->err, "%s\n", said);
  print_links(s, io->err);
  return STATUS_OK;
}

/* ---- Tasks ---- */

static Status list_tasks(Document *d, Error *error) {
  LessonFiles *tasks = NULL;
  d->details = true;
  Table *t = put_table(d, DOCUMENT_ALL, "tasks", "task=task|=language|title~=title|teaches~=teaches");
  Status status = task_names(&tasks, error);
  for (int kernels = 0; kernels < 2; kernels++) { /* programs first */
    table_group(t, kernels ? "CUDA kernels (.cu)" : "Programs (.walk)");
    for (int k = 0; !status && k < tasks->n; k++) {
      ProgramTask *task = task_open(tasks->names[k], error);
      if (!task)
        status = error->status;
      else if (kernels == (task->entry[0] != '\0'))
        put_cells(t, "*ssss", tasks->names[k], kernels ? "cuda" : "walk", task->title, task->teaches);
      free(task);
    }
  }
  free(tasks);
  table_note(t, "`tilewalk list algorithms --judge TASK >mine.walk` begins one; then `tilewalk list algorithms "
                "./mine.walk --judge TASK`. A kernel goes into a file that ends in .cu.");
  return status;
}

static void put_judgement(Document *d, const ProgramTask *t, const TaskJudgement *j, Io *io) {
  const bool passed = j->verdict == TASK_SOLVED;
  const TextRole role = passed ? ROLE_GOOD : ROLE_BAD;
  const size_t n = strlen(j->why);
  put_values(d, "task:s passed:b verdict:s why:s diagnosis:s", t->title, passed, task_verdict_name(t, j), j->why,
             *j->says ? j->says : NULL);
  put_values(d, j->line ? "line:n" : "line:0", j->line);
  put_values(d, "state:s bytes:f reference_bytes:f", j->state >= 0 ? program_task_state(t, j->state) : NULL, j->bytes,
             j->reference_bytes);
  document_line(d, role, "%s %s%s%s", text_role_mark(&io->style, role),
                passed ? "It passes." : "Not yet: ", passed ? "" : j->why,
                passed || (n && j->why[n - 1] == '.') ? "" : ".");
  if (*j->says) document_line(d, ROLE_PLAIN, "%s", j->says);
  io->differs = !passed;
}

/* Without a program what is asked, and a start: one text that is a program. Else whether that passes. */
static Status answer_task(const AlgorithmsOptions *o, Document *d, Io *io, Error *error) {
  char *text = NULL, start[WORK_TEXT_BYTES];
  size_t length;
  TaskJudgement j;
  ProgramTask *task = task_open(o->task, error);
  if (!task) return error->status;
  if (*o->name) {
    if (!file_read(o->name, PROGRAM_TEXT_BYTES - 1, &text, &length, error) &&
        !task_draw(task, 0, text, length, error) && !task_judge(o->task, task, text, length, o->name, &j, error))
      put_judgement(d, task, &j, io);
  } else if (o->json) {
    error_refuse(error, "--json is a judgement; name a program");
  } else if (!task_start(o->task, task, start, sizeof start, error)) {
    for (int k = 0; k < task->n_hints; k++) text_say(io->err, "Hint: %s\n", task->hints[k]);
    text_put(io->out, start);
  }
  free(text);
  free(task);
  return error->status;
}

/* ---- The command ---- */

static Status answer(void *options, Document *d, Io *io, Error *error) {
  const AlgorithmsOptions *o = options;
  const bool named = *o->name;
  if (o->json) *d = document_new(DOCUMENT_JSON);
  if (o->lists_tasks)
    return *o->task || named ? error_refuse(error, "--tasks lists the tasks; give it alone") : list_tasks(d, error);
  if (*o->task) return answer_task(o, d, io, error);
  if (!named && (o->numbers.any || o->json))
    return error_refuse(error, "--sink, --softcap, --precision and --json try "
                               "one algorithm; name it, such as fa2");
  if (named) return put_one(d, o, io, error);
  list(d, o->details);
  return STATUS_OK;
}

static const Option TASK_OPTIONS[] = {
    OPTION_ROW("judge", "TASK",
               "Judges the program as an answer to a task: its outputs, its bytes, the tiles it skips, its SRAM. Exit "
               "status 1 when it does not pass. Without a program: the task, and a program to start from.",
               OPTION_TEXT(AlgorithmsOptions, task, "the name of the task"), .choices = "@tasks"),
    OPTION_SWITCH("tasks", "Lists the tasks that are answered with a program.",
                  OPTION_FLAG(AlgorithmsOptions, lists_tasks)),
    OPTION_SWITCH("details", "Lists what each of them does.", OPTION_FLAG(AlgorithmsOptions, details)),
    OPTION_SWITCH(
        "json",
        "Prints the verdict as JSON: the output, row and size of the largest error, the line that stores it, and "
        "the first line after which a value is off, where changing that line alone makes all right.",
        OPTION_FLAG(AlgorithmsOptions, json)),
    {0},
};

static const OptionSet SETS[] = {
    {"Numbers", SCORE_OPTIONS, offsetof(AlgorithmsOptions, numbers)}, {"Tasks and output", TASK_OPTIONS, 0}, {0}};

const Command COMMAND_ALGORITHMS = {
    .name = "list algorithms",
    .old = "algorithms",
    .summary = "the algorithms, and the program text of one",
    .usage = "[NAME|FILE.walk] [OPTION...]",
    .description =
        "Without a name, lists the algorithms that --algorithm takes. With a name, prints the page of program "
        "text that the algorithm is: everything else follows from it. A file of your own is checked, tried on small "
        "problems and printed, with a word on whether its outputs are right; the exit status is 1 when one is wrong. "
        "sim/algorithms/LANGUAGE.md says how one is written.",
    .examples = "  # what there is\n"
                "  tilewalk list algorithms\n\n"
                "  # the program of FlashAttention-2\n"
                "  tilewalk list algorithms fa2\n\n"
                "  # does one's own compute attention?\n"
                "  tilewalk list algorithms ./mine.walk\n\n"
                "  # a task and a program to start from, then whether the answer passes\n"
                "  tilewalk list algorithms --judge gate >mine.walk\n"
                "  tilewalk list algorithms ./mine.walk --judge gate\n\n"
                "  # and in fp16? where does it go wrong?\n"
                "  tilewalk list algorithms ./mine.walk --precision fp16 --json\n\n"
                "  # do split keys give a sink its weight once?\n"
                "  tilewalk list algorithms fa2-split --sink 2 --softcap 50\n",
    .options_bytes = sizeof(AlgorithmsOptions),
    .sets = SETS,
    .apart = "judge ! sink softcap precision tasks; tasks ! sink softcap precision",
    .choices = "@algorithms",
    .set_positional = set_name,
    .answer = answer,
};
