#include "viz/cli/command.h"

#include <stdlib.h>
#include <string.h>

#include "viz/request/request.h"
#include "viz/text/print.h"

enum { OPTION_COLUMN = 30 };

/* The options of a request are those that many commands share. */
static bool is_shared(const OptionSet *set) {
  return set->options == QUESTION_SHAPE_OPTIONS || set->options == QUESTION_TILING_OPTIONS ||
         set->options == QUESTION_MACHINE_OPTIONS || set->options == QUESTION_EXPERT_OPTIONS;
}

static void spell(const Option *o, char *out, size_t size) {
  const char *const argument = o->argument ? o->argument : "", *const space = option_needs_value(o) ? " " : "";
  if (o->letter && o->name)
    snprintf(out, size, "-%c, --%s%s%s", o->letter, o->name, space, argument);
  else if (o->letter)
    snprintf(out, size, "-%c%s%s", o->letter, space, argument);
  else
    snprintf(out, size, "    --%s%s%s", o->name, space, argument);
}

/* The length of the first sentence, without its full stop. */
static size_t first_sentence(const char *text) {
  size_t n = 0;
  while (text[n] && !(text[n] == '.' && (text[n + 1] == ' ' || !text[n + 1]))) n++;
  return n;
}

/* An option and what it means in a column of its own: all of it, or only the first sentence. */
static void print_option(const Option *o, bool whole, Io *io) {
  char spelled[80];
  spell(o, spelled, sizeof spelled);
  const bool own_line = strlen(spelled) > OPTION_COLUMN - 4;
  text_say(io->out, "  %-*s", own_line ? 0 : OPTION_COLUMN - 2, spelled);
  if (own_line) text_say(io->out, "\n%*s", OPTION_COLUMN, "");
  char help[OPTION_TEXT_BYTES];
  const char *text = option_help(o, help);
  text_hanging(io->out, &io->style, OPTION_COLUMN, text, whole ? strlen(text) : first_sentence(text));
}

static void heading(Io *io, const char *text) {
  text_print(io->out, &io->style, ROLE_HEADING, "%s", text);
  fputc('\n', io->out);
}

/* The options of one set under its heading. */
static void print_set(const OptionSet *set, bool whole, const char *title, Io *io) {
  if (title) heading(io, title);
  for (const Option *o = set->options; option_is_row(o); o++)
    if (o->help) print_option(o, whole, io);
  if (title) fputc('\n', io->out);
}

/* "-N, -d, --batch, ...": the shared options by name, without those for experts. */
static void print_shared_names(const Command *command, Io *io) {
  char names[2048] = "Also: ";
  bool any = false;
  for (const OptionSet *set = command->sets; set && set->options; set++) {
    if (!is_shared(set) || set->options == QUESTION_EXPERT_OPTIONS) continue;
    for (const Option *o = set->options; option_is_row(o); o++) {
      const size_t n = strlen(names);
      if (!o->help) continue;
      if (o->letter)
        snprintf(names + n, sizeof names - n, "%s-%c", any ? ", " : "", o->letter);
      else
        snprintf(names + n, sizeof names - n, "%s--%s", any ? ", " : "", o->name);
      any = true;
    }
  }
  if (!any) return;
  const size_t n = strlen(names);
  snprintf(names + n, sizeof names - n, ". 'tilewalk %s --help' explains them.", command->name);
  text_paragraph(io->out, &io->style, ROLE_PLAIN, 0, names);
  fputc('\n', io->out);
}

static void print_head(const Command *command, Io *io) {
  char line[400];
  snprintf(line, sizeof line, "tilewalk %s: %s", command->name, command->summary);
  text_paragraph(io->out, &io->style, ROLE_PLAIN, 0, line);
  fputc('\n', io->out);
}

static void print_usage(const Command *command, Io *io) {
  char line[400];
  snprintf(line, sizeof line, "tilewalk %s %s", command->name, command->usage);
  text_paragraph(io->out, &io->style, ROLE_PLAIN, 2, line);
  fputc('\n', io->out);
}

void command_short_help(const Command *command, Io *io) {
  print_head(command, io);
  print_usage(command, io);
  for (const OptionSet *set = command->sets; set && set->options; set++) {
    if (is_shared(set)) continue;
    print_set(set, false, NULL, io);
    if (!set[1].options || is_shared(&set[1])) fputc('\n', io->out);
  }
  print_shared_names(command, io);
  const char *end = strstr(command->examples, "\n\n"); /* of the first example */
  text_say(io->out, "%.*s", end ? (int)(end - command->examples) + 1 : (int)strlen(command->examples),
           command->examples);
}

void command_help(const Command *command, Io *io) {
  bool any_shared = false;
  print_head(command, io);
  heading(io, "Usage");
  print_usage(command, io);
  if (command->description) {
    text_paragraph(io->out, &io->style, ROLE_PLAIN, 0, command->description);
    fputc('\n', io->out);
  }
  for (int last = 0; last < 2; last++) { /* those for experts come last */
    for (const OptionSet *set = command->sets; set && set->options; set++) {
      if ((set->options == QUESTION_EXPERT_OPTIONS) != last) continue;
      print_set(set, !is_shared(set), set->heading, io);
      any_shared = any_shared || is_shared(set);
    }
  }
  if (any_shared) {
    text_paragraph(io->out, &io->style, ROLE_PLAIN, 0,
                   "'tilewalk help options' says more about the options that commands share.");
    fputc('\n', io->out);
  }
  text_print(io->out, &io->style, ROLE_HEADING, "Examples");
  text_say(io->out, "\n%s", command->examples);
}

void command_shared_help(Io *io) {
  text_paragraph(io->out, &io->style, ROLE_PLAIN, 0,
                 "Options that many commands share. A size takes K, M and G (binary), KiB, MB and so on.");
  for (const OptionSet *set = QUESTION_SETS; set->options; set++) {
    fputc('\n', io->out);
    heading(io, set->heading);
    for (const Option *o = set->options; option_is_row(o); o++)
      if (o->help) print_option(o, true, io);
  }
}

int command_run(const Command *command, int argc, char *const *argv, Io *io, Error *error) {
  void *options = calloc(1, command->options_bytes ? command->options_bytes : 1);
  if (!options) {
    error_set(error, STATUS_NO_MEMORY, "no memory for the options");
    return EXIT_BAD_REQUEST;
  }
  if (command->defaults) command->defaults(options);
  OptionParser parser = request_parser(command->sets, options);
  parser.set_positional = command->set_positional;
  parser.takes_files = strstr(command->usage, "FILE") != NULL;
  int exit_status = EXIT_BAD_REQUEST;
  if (options_parse(&parser, argc, argv, error) == STATUS_OK) {
    if (parser.want_help || parser.want_short_help) {
      (parser.want_help ? command_help : command_short_help)(command, io);
      exit_status = EXIT_DONE;
    } else {
      exit_status = command->run(options, io, error);
      if (exit_status == EXIT_BAD_REQUEST && error->status == STATUS_INTERRUPTED) exit_status = EXIT_INTERRUPTED;
    }
  }
  free(options);
  return exit_status;
}
