/* tilewalk list algorithms: what there is, and the program text of one. */
#include <math.h>
#include <stddef.h>

#include "sim/algorithms/schedule.h"
#include "sim/numbers/evaluate.h"
#include "sim/numbers/program_mend.h"
#include "viz/cli/command.h"
#include "viz/cli/program_answer.h"
#include "viz/cli/score_options.h"
#include "viz/request/request.h"
#include "viz/text/print.h"

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

static Status find(const char *name, const Schedule **schedule, Error *error) {
  Question q = {0};
  const Status status = question_set_algorithm(&q, name, &REQUEST_FILES, error);
  *schedule = q.algorithms[0];
  if (status || q.n_algorithms == 1) return status;
  return error_refuse(error, "one program at a time; 'tilewalk list algorithms' lists them");
}

static void list(Document *d, bool details) {
  d->details = details;
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, details ? "algorithm|what it is~" : "algorithm|what it is!");
  for (int k = 0; k < N_PROGRAMS; k++)
    put_cells(t, "*ss", SCHEDULES[k]->name, details ? SCHEDULES[k]->summary : SCHEDULES[k]->title);
  if (details)
    table_note(t, "'tilewalk list algorithms fa2' prints a program; "
                  "--algorithm ./mine.walk takes yours.");
}

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

static void put_links(Document *d, const Schedule *s) {
  if (!s->ranks.is_said) return;
  put_values(d, "ranks{tokens:s sent[", RANK_LAYOUT_NAMES[s->ranks.layout]);
  for (int n = 0; sent_tensor(s, n); n++) put_values(d, ":s", sent_tensor(s, n));
  put_values(d, "]}");
}

/* "line" is where the wrong row goes out; "first_line" the first after which a
 * value is off, by the mend. */
static void put_verdict(Document *d, const Schedule *s, const ProgramVerdict *v, const ProgramMend *mend,
                        const char *said, const SoftmaxConfig *softmax) {
  put_values(d, "algorithm:s title:s precision:s tried:b right:b output:s row:i error:f", s->name, s->title,
             precision_format(softmax->precision)->name, v->is_tried, v->is_right, v->output, (int64_t)v->row,
             v->error); /* null: no number, or never stored */
  put_values(d, v->line ? "line:n" : "line:0", v->line);
  put_values(d, "line_kind:s", !v->line ? NULL : isfinite(v->error) ? "stores" : "no number since");
  put_values(d, mend->line ? "first_line:n" : "first_line:0", mend->line);
  put_values(d, "mend:s verdict:s", said, v->text);
  put_links(d, s);
}

/* The text, and a word on its numbers beside it: the text may go to a file. */
static void put_one(Document *d, const AlgorithmsOptions *o, const Schedule *schedule, Io *io) {
  const bool tries = schedule->path || o->numbers.any || o->json;
  ProgramVerdict verdict = {.is_right = true};
  ProgramMend mend = {0};
  if (tries) verdict = program_verdict(schedule, &o->numbers.softmax);
  char said[PROGRAM_MEND_BYTES] = "";
  if (!verdict.is_right && verdict.is_tried) mend = program_mend(schedule, &o->numbers.softmax);
  if (!verdict.is_right) program_mend_say(&mend, said, sizeof said);
  io->differs = !verdict.is_right;
  put_verdict(d, schedule, &verdict, &mend, said, &o->numbers.softmax);
  if (o->json) return;
  text_put(io->out, schedule->text);
  if (tries) text_say(io->err, "%s\n", verdict.text);
  if (!verdict.is_right && verdict.is_tried) text_say(io->err, "%s\n", said);
  print_links(schedule, io->err);
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  const AlgorithmsOptions *o = options;
  const Schedule *schedule;
  if (o->json) *d = document_new(DOCUMENT_JSON);
  if (o->lists_tasks || *o->task) return task_answer(o->lists_tasks, o->task, o->name, d, io, error);
  if (!*o->name && (o->numbers.any || o->json))
    return error_refuse(error, "--sink, --softcap, --precision and --json try "
                               "one algorithm; name it, such as fa2");
  if (!*o->name) {
    list(d, o->details);
    return STATUS_OK;
  }
  if (find(o->name, &schedule, error) || evaluate_takes(schedule, &o->numbers.softmax, error)) return error->status;
  put_one(d, o, schedule, io);
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
