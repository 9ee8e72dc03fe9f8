/* Commands: one file viz/cli/command_NAME.c each, one row in COMMANDS (viz/cli/commands.c).
 *
 * A command declares its option tables, gets a zeroed options struct of its own size (filled by `defaults` if there is
 * one, then by the parser; what it works with may stand there, too), and answers or runs. It prints results to
 * io->out and nothing on failure: it returns 2 with a one-line reason in *error, and main prints that. Exit status: 0
 * done; 1 a comparison asked for did not hold; 2 the request was wrong. */
#ifndef TILEWALK_VIZ_CLI_COMMAND_H
#define TILEWALK_VIZ_CLI_COMMAND_H

/* What every command asks with and answers in. */
#include <inttypes.h>
#include <stdlib.h>

#include "viz/cli/chart_file.h"
#include "viz/document/document.h"

typedef struct Command {
  const char *name;        /* "sim"; "sim --roofline": what sim does with that word; "trace FILE": with a file */
  const char *old;         /* what it was called, which answers for one more release; NULL: nothing */
  const char *group;       /* where it stands in the list of commands; NULL: not there */
  const char *first;       /* options that --help shows, with spaces between; NULL: the command's own, in order */
  const char *summary;     /* one line for the list of commands */
  const char *usage;       /* after "tilewalk NAME ": "[OPTION...]" */
  const char *description; /* a paragraph or more; what is printed, what it means */
  const char *examples;    /* lines "$ tilewalk ..." that work when pasted, each with a comment line above */
  size_t options_bytes;
  const OptionSet *sets; /* ends with a row of zeros */
  const char *apart;     /* "values ! from to; seeds + errors": which options cannot stand beside which, and which need
                            another; NULL: none */
  void (*defaults)(void *options);
  Status (*set_positional)(void *options, const char *value, Error *error);
  const char *choices; /* for what stands alone, as Option.choices */
  /* Fills the document that is printed in the form of --json, --csv or neither, or, of a command with CHART_OPTIONS
   * and -o, drawn; then it is asked once more for what is printed beside. io->differs: exit status 1. */
  Status (*answer)(void *options, Document *document, Io *io, Error *error);
  int (*run)(void *options, Io *io, Error *error); /* in its place, of a command that draws scenes or talks */
} Command;

extern const Command COMMAND_ADVISE, COMMAND_ALGORITHMS, COMMAND_CHECK, COMMAND_COMPLETE, COMMAND_COMPLETION,
    COMMAND_CROSSCHECK, COMMAND_DOCTOR, COMMAND_ELIGIBLE, COMMAND_GPUS, COMMAND_KERNEL, COMMAND_KERNELS,
    COMMAND_KVCACHE, COMMAND_LESSON, COMMAND_LIST, COMMAND_NAMES, COMMAND_PRACTICE, COMMAND_RANKS, COMMAND_RENDER,
    COMMAND_REPLAY, COMMAND_ROOFLINE, COMMAND_SERVE, COMMAND_SIM, COMMAND_SOFTMAX, COMMAND_STORY, COMMAND_SWEEP,
    COMMAND_TOUR, COMMAND_TRACE, COMMAND_VIEW, COMMAND_WARP;
extern const Command *const COMMANDS[]; /* all of them; ends with NULL */

/* The command that argv[0..*argc) asks for, with its name taken out of the words; NULL: none. `by_old`: by its old
 * name. */
const Command *command_find(const Command *const *commands, int *argc, char **argv, bool *by_old);

/* Prints `tilewalk NAME --help=TOPIC`: "" is a screen of eight options and three examples at most, "all" everything,
 * and another topic the options under the heading of that name. */
Status command_help(const Command *command, const char *topic, Io *io, Error *error);

/* Prints `tilewalk help options`: the shared options in full, once. */
void command_shared_help(Io *io);

/* Parses and runs. The exit status; on 2, *error holds the line to print. */
int command_run(const Command *command, int argc, char *const *argv, Io *io, Error *error);

#endif
