#include "viz/cli/command.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_COLUMN = 30 };

static void print_option(const Option *o, Io *io) {
  char spelled[80];
  const char *const argument = o->argument ? o->argument : "", *const space = option_needs_value(o) ? " " : "";
  if (o->letter && o->name)
    snprintf(spelled, sizeof spelled, "-%c, --%s%s%s", o->letter, o->name, space, argument);
  else if (o->letter)
    snprintf(spelled, sizeof spelled, "-%c%s%s", o->letter, space, argument);
  else
    snprintf(spelled, sizeof spelled, "    --%s%s%s", o->name, space, argument);
  const bool own_line = strlen(spelled) > OPTION_COLUMN - 4;
  fprintf(io->out, "  %-*s", own_line ? 0 : OPTION_COLUMN - 2, spelled);
  if (own_line) fputc('\n', io->out);
  /* help text in its own column, broken at spaces */
  const int width = io->style.width > OPTION_COLUMN + 20 ? io->style.width - OPTION_COLUMN : 50;
  const char *p = o->help;
  bool first = !own_line;
  while (*p) {
    size_t take = strlen(p);
    if (take > (size_t)width) {
      take = (size_t)width;
      while (take > 0 && p[take] != ' ') take--;
      if (take == 0) take = (size_t)width;
    }
    fprintf(io->out, "%*s%.*s\n", first ? 0 : OPTION_COLUMN, "", (int)take, p);
    first = false;
    p += take;
    while (*p == ' ') p++;
  }
}

void command_help(const Command *command, Io *io) {
  fprintf(io->out, "tilewalk %s: %s\n\n", command->name, command->summary);
  text_print(io->out, &io->style, ROLE_HEADING, "Usage");
  fprintf(io->out, "\n  tilewalk %s %s\n\n", command->name, command->usage);
  if (command->description) {
    text_paragraph(io->out, &io->style, ROLE_PLAIN, 0, command->description);
    fputc('\n', io->out);
  }
  for (const OptionSet *set = command->sets; set && set->options; set++) {
    text_print(io->out, &io->style, ROLE_HEADING, "%s", set->heading);
    fputc('\n', io->out);
    for (const Option *o = set->options; o->set; o++)
      if (o->help && !o->state_only) print_option(o, io);
    fputc('\n', io->out);
  }
  text_print(io->out, &io->style, ROLE_HEADING, "Examples");
  fprintf(io->out, "\n%s", command->examples);
}

int command_run(const Command *command, int argc, char *const *argv, Io *io, Error *error) {
  void *options = calloc(1, command->options_bytes ? command->options_bytes : 1);
  if (!options) {
    error_set(error, STATUS_NO_MEMORY, "no memory for the options");
    return EXIT_BAD_REQUEST;
  }
  if (command->defaults) command->defaults(options);
  OptionParser parser = {.sets = command->sets, .target = options, .set_positional = command->set_positional};
  int exit_status = EXIT_BAD_REQUEST;
  if (options_parse(&parser, argc, argv, error) == STATUS_OK) {
    if (parser.want_help) {
      command_help(command, io);
      exit_status = EXIT_DONE;
    } else {
      exit_status = command->run(options, io, error);
    }
  }
  free(options);
  return exit_status;
}
