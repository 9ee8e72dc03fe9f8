/* tilewalk _man [COMMAND]: the manual pages, written from the tables that the commands themselves use. */
#include <stdbool.h>
#include <string.h>

#include "sim/base/quote.h"
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

static void put_header(FILE *out, const char *name, const char *summary) {
  fputs(".TH TILEWALK", out);
  for (const char *p = name; *p; p++) fputc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, out);
  fprintf(out, " 1 \"\" \"Tilewalk " TILEWALK_VERSION "\" \"User Commands\"\n.ad l\n.SH NAME\ntilewalk%s \\- ", name);
  put(out, summary);
  fputs("\n.SH SYNOPSIS\n", out);
}

/* The page of one command: all that its --help says. */
static void put_command(FILE *out, const Command *command) {
  char name[80];
  snprintf(name, sizeof name, "-%s", command->name);
  put_header(out, name, command->summary);
  fprintf(out, "\\fBtilewalk %s\\fR ", command->name);
  put(out, command->usage);
  fputs("\n.SH DESCRIPTION\n", out);
  put(out, command->description ? command->description : command->summary);
  fputs("\n.SH OPTIONS\n", out);
  for (const OptionSet *set = command->sets; set && set->options; set++) {
    if (set->heading) fprintf(out, ".SS %s\n", set->heading);
    for (const Option *o = set->options; option_is_row(o); o++)
      if (o->help) put_option(out, o);
  }
  if (command->examples) {
    fputs(".SH EXAMPLES\n.EX\n", out);
    put(out, command->examples);
    fputs(".EE\n", out);
  }
  fputs(".SH SEE ALSO\n.BR tilewalk (1)\n", out);
}

static void put_program(FILE *out) {
  put_header(out, "", "walk through attention tile by tile and see where every byte goes");
  fputs("\\fBtilewalk\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n.br\n"
        "\\fBtilewalk\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR\n"
        ".SH DESCRIPTION\n",
        out);
  put(out, "Simulates how attention moves data between HBM, L2 and SRAM, in the standard and in the tiled algorithms, "
           "counts every byte, and shows, teaches and checks it. Start with 'tilewalk tour'.\n");
  fputs(".SH COMMANDS\nEach has a page of its own.\n", out);
  for (const Command *const *c = COMMANDS; *c; c++) {
    if ((*c)->name[0] == '_') continue;
    fprintf(out, ".TP\n.BR tilewalk\\-%s (1)\n", (*c)->name);
    put(out, (*c)->summary);
    fputc('\n', out);
  }
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
}

typedef struct {
  const Command *command; /* NULL: the program */
} ManOptions;

static Status set_command(void *target, const char *value, Error *error) {
  for (const Command *const *c = COMMANDS; *c; c++)
    if (strcmp((*c)->name, value) == 0) {
      ((ManOptions *)target)->command = *c;
      return STATUS_OK;
    }
  return error_set(error, STATUS_BAD_REQUEST, "there is no command '%s'", quote(value, strlen(value)).text);
}

static int run_man(void *options, Io *io, Error *error) {
  const ManOptions *o = options;
  (void)error;
  if (o->command)
    put_command(io->out, o->command);
  else
    put_program(io->out);
  return EXIT_DONE;
}

const Command COMMAND_MAN = {
    .name = "_man",
    .summary = "a manual page, in troff",
    .usage = "[COMMAND]",
    .examples = "  tilewalk _man sim | man -l -\n",
    .options_bytes = sizeof(ManOptions),
    .sets = (const OptionSet[]){{0}},
    .set_positional = set_command,
    .run = run_man,
};
