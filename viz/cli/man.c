/* tilewalk _man: the manual page, written from the tables that the commands themselves use.
 *
 * A group of options that several commands share is described once, under OPTIONS; a command then names it. */
#include <stdbool.h>
#include <string.h>

#include "viz/cli/command.h"
#include "viz/cli/two_programs.h"

/* Text as troff wants it: plain dashes and quotes, no line mistaken for a request, blank lines as paragraphs. */
static void put(FILE *out, const char *text) {
  for (const char *p = text; *p; p++) {
    if (*p == '\n' && p[1] == '\n') {
      fputs("\n.PP\n", out);
      while (p[1] == '\n') p++;
      continue;
    }
    if ((p == text || p[-1] == '\n') && (*p == '.' || *p == '\'')) fputs("\\&", out);
    switch (*p) {
    case '\\': fputs("\\e", out); break;
    case '-': fputs("\\-", out); break;
    case '\'': fputs("\\(aq", out); break;
    case '`': fputs("\\(ga", out); break;
    case '^': fputs("\\(ha", out); break;
    case '~': fputs("\\(ti", out); break;
    case ',': fputs(p[1] && p[1] != ' ' && p[1] != '\n' ? ",\\:" : ",", out); break; /* a list may be broken there */
    default: fputc(*p, out);
    }
  }
}

static void put_option(FILE *out, const Option *o) {
  fputs(".TP\n", out);
  if (o->letter) fprintf(out, "\\fB\\-%c\\fR", o->letter);
  if (o->letter && o->name) fputs(", ", out);
  if (o->name) {
    fputs("\\fB\\-\\-", out);
    put(out, o->name);
    fputs("\\fR", out);
  }
  if (o->argument) {
    fputs(option_needs_value(o) ? " \\fI" : "\\fI", out);
    put(out, o->argument);
    fputs("\\fR", out);
  }
  fputc('\n', out);
  char help[OPTION_TEXT_BYTES];
  put(out, option_help(o, help));
  fputc('\n', out);
}

static void put_options(FILE *out, const Option *options) {
  for (const Option *o = options; option_is_row(o); o++)
    if (o->help && !o->state_only) put_option(out, o);
}

static bool command_has(const Command *command, const Option *options) {
  for (const OptionSet *set = command->sets; set && set->options; set++)
    if (set->options == options) return true;
  return false;
}

/* How many commands offer this group, and whether `command` is the first of them. */
static int count_users(const Option *options, const Command *command, bool *is_first) {
  int n = 0;
  for (const Command *const *c = COMMANDS; *c; c++) {
    if (!command_has(*c, options)) continue;
    if (n++ == 0) *is_first = *c == command;
  }
  return n;
}

static void put_command(FILE *out, const Command *command) {
  bool is_first = false, names_groups = false;
  fprintf(out, ".SS tilewalk %s\n", command->name);
  fprintf(out, "\\fBtilewalk %s\\fR ", command->name);
  put(out, command->usage);
  fputs("\n.PP\n", out);
  put(out, command->description ? command->description : command->summary);
  fputc('\n', out);
  for (const OptionSet *set = command->sets; set && set->options; set++)
    if (count_users(set->options, command, &is_first) == 1) put_options(out, set->options);
  for (const OptionSet *set = command->sets; set && set->options; set++) {
    if (count_users(set->options, command, &is_first) == 1) continue;
    fputs(names_groups ? ", " : ".PP\nIt takes the options under ", out);
    put(out, set->heading);
    names_groups = true;
  }
  if (names_groups) fputs(".\n", out);
  if (!command->examples) return;
  fputs(".PP\n.EX\n", out);
  put(out, command->examples);
  fputs(".EE\n", out);
}

static void put_shared_options(FILE *out) {
  fputs(".SH OPTIONS\nShared by several commands. A size takes K, M and G (binary), KiB, MB, and so on.\n", out);
  for (const Command *const *c = COMMANDS; *c; c++) {
    for (const OptionSet *set = (*c)->sets; set && set->options; set++) {
      bool is_first = false;
      if (count_users(set->options, *c, &is_first) == 1 || !is_first) continue;
      fputs(".SS ", out);
      put(out, set->heading);
      fputc('\n', out);
      put_options(out, set->options);
    }
  }
}

static int run_man(void *options, Io *io, Error *error) {
  (void)options;
  (void)error;
  FILE *const out = io->out;
  fputs(".TH TILEWALK 1 \"\" \"Tilewalk " TILEWALK_VERSION "\" \"User Commands\"\n.ad l\n"
        ".SH NAME\ntilewalk \\- walk through attention tile by tile and see where every byte goes\n"
        ".SH SYNOPSIS\n\\fBtilewalk\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n.br\n"
        "\\fBtilewalk\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR\n"
        ".SH DESCRIPTION\n",
        out);
  put(out, "Simulates how attention moves data between HBM, L2 and SRAM, in the standard and in the tiled algorithms, "
           "counts every byte, and shows, teaches and checks it. Start with 'tilewalk tour'.\n");
  fputs(".SH COMMANDS\n", out);
  for (const Command *const *c = COMMANDS; *c; c++)
    if ((*c)->name[0] != '_') put_command(out, *c);
  put_shared_options(out);
  fputs(
      ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\na comparison that was asked for did not hold\n"
      ".TP\n2\nthe request was wrong; one line on standard error says what, why, and what would be right\n"
      ".TP\n130\ninterrupted: replay, trace and render stop cleanly, leave nothing half-written and end by the signal\n"
      ".SH FILES\n.TP\n\\fI/usr/share/tilewalk/assets\\fR\nGPUs, kernels and models with their sources, recorded "
      "counters (under the prefix that make install was given)\n"
      ".TP\n\\fI/usr/share/tilewalk/lessons\\fR\nthe course\n"
      ".TP\n\\fI/usr/lib/tilewalk\\fR\nthe parts of the program that draw\n"
      ".TP\n\\fI$XDG_STATE_HOME/tilewalk\\fR\nprogress in lessons (~/.local/state without it)\n"
      ".TP\n\\fI$XDG_CONFIG_HOME/tilewalk/view.conf\\fR\nthe viewer's settings (~/.config without it)\n"
      ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nwhen set, no colour is used\n"
      ".TP\n\\fBTILEWALK_ASSETS\\fR\nthe folder of data files to use instead of the installed one; lessons stand "
      "beside it\n",
      out);
  return EXIT_DONE;
}

const Command COMMAND_MAN = {
    .name = "_man",
    .summary = "the manual page, in troff",
    .usage = "",
    .examples = "  tilewalk _man | man -l -\n",
    .sets = (const OptionSet[]){{0}},
    .run = run_man,
};
