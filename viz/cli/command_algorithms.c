/* tilewalk algorithms: what there is, and the program text of one. */
#include <stddef.h>
#include <string.h>

#include "sim/algorithms/schedule.h"
#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "sim/numbers/evaluate.h"
#include "sim/numbers/program_check.h"
#include "viz/cli/command.h"
#include "viz/cli/score_options.h"
#include "viz/request/own_programs.h"

typedef struct {
  char name[512];
  SoftmaxConfig softmax; /* a sink, a cap */
} AlgorithmsOptions;

static Status set_name(void *target, const char *value, Error *error) {
  AlgorithmsOptions *o = target;
  if (strlen(value) >= sizeof o->name)
    return error_set(error, STATUS_BAD_REQUEST, "'%s' is no algorithm", quote(value, strlen(value)).text);
  strcpy(o->name, value);
  return STATUS_OK;
}

static Status set_sink(void *target, const char *value, Error *error) {
  AlgorithmsOptions *o = target;
  o->softmax.has_sink = true;
  return score_parse_sink(value, &o->softmax.sink, error);
}

static Status set_softcap(void *target, const char *value, Error *error) {
  return score_parse_cap(value, &((AlgorithmsOptions *)target)->softmax.softcap, error);
}

static Status find(const char *name, const Schedule **schedule, Error *error) {
  if (own_program_is_path(name, strlen(name))) return own_program_read(name, schedule, error);
  *schedule = schedule_find(name);
  if (*schedule) return STATUS_OK;
  Nearest nearest = {.word = name};
  for (int k = 0; k < N_SCHEDULES; k++) nearest_offer(&nearest, SCHEDULES[k]->name);
  return error_set(error, STATUS_BAD_REQUEST, "there is no algorithm '%s'%s%s%s; `tilewalk algorithms` lists them",
                   quote(name, strlen(name)).text, nearest.best ? " (did you mean '" : "",
                   nearest.best ? nearest.best : "", nearest.best ? "'?)" : "");
}

static void list(FILE *out) {
  for (int k = 0; k < N_SCHEDULES; k++)
    fprintf(out, "%-10s %s\n%-10s %s\n", SCHEDULES[k]->name, SCHEDULES[k]->title, "", SCHEDULES[k]->summary);
  fputs("\n`tilewalk algorithms NAME` prints the program of one; --algorithm ./mine.walk takes yours.\n", out);
}

static int run_algorithms(void *options, Io *io, Error *error) {
  const AlgorithmsOptions *o = options;
  const Schedule *schedule;
  const bool extras = o->softmax.has_sink || o->softmax.softcap > 0;
  if (!*o->name && extras) {
    error_set(error, STATUS_BAD_REQUEST, "--sink and --softcap try one algorithm; name it, such as fa2");
    return EXIT_BAD_REQUEST;
  }
  if (!*o->name) {
    list(io->out);
    return EXIT_DONE;
  }
  if (find(o->name, &schedule, error) || evaluate_takes(schedule, &o->softmax, error)) return EXIT_BAD_REQUEST;
  fputs(schedule->text, io->out);
  if (schedule->is_own || extras) { /* beside the text, which may go to a file */
    char verdict[PROGRAM_CHECK_BYTES];
    program_check(schedule, &o->softmax, verdict);
    fprintf(io->err, "%s\n", verdict);
  }
  return EXIT_DONE;
}

static const Option NUMBER_OPTIONS[] = {
    {"sink", 0, "SCORE", "Tries it with a score that belongs to no key (gpt-oss).", set_sink, false, false, NULL},
    {"softcap", 0, "C", "Tries it with scores C tanh(score / C) (Gemma 2 has 50).", set_softcap, false, false, NULL},
    {0},
};

static const OptionSet SETS[] = {{"Numbers", NUMBER_OPTIONS, 0}, {0}};

const Command COMMAND_ALGORITHMS = {
    .name = "algorithms",
    .summary = "the algorithms, and the program text of one",
    .usage = "[NAME|FILE.walk] [OPTION...]",
    .description =
        "Without a name, lists the algorithms that --algorithm takes. With a name, prints the page of program "
        "text that the algorithm is: everything else follows from it. A file of your own is checked, tried on a small "
        "problem and printed, with a word on whether O is right; sim/algorithms/LANGUAGE.md says how one is written.",
    .examples = "  # what there is\n"
                "  tilewalk algorithms\n\n"
                "  # the program of FlashAttention-2\n"
                "  tilewalk algorithms fa2\n\n"
                "  # does one's own compute attention?\n"
                "  tilewalk algorithms ./mine.walk\n\n"
                "  # do split keys give a sink its weight once?\n"
                "  tilewalk algorithms fa2-split --sink 2 --softcap 50\n",
    .options_bytes = sizeof(AlgorithmsOptions),
    .sets = SETS,
    .choices = "@algorithms",
    .set_positional = set_name,
    .run = run_algorithms,
};
