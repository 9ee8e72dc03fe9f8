/* tilewalk _man [COMMAND]: the manual pages: what --help=all prints, as troff has it. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <stdlib.h>
#include <string.h>

#include "sim/base/quote.h"
#include "viz/cli/command.h"
#include "viz/cli/two_programs.h"

/* Text as troff wants it: plain dashes and quotes, no line mistaken for a request. */
static void put(FILE *out, const char *text) {
  static const struct {
    char plain;
    const char *troff;
  } ESCAPES[] = {{'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
  for (const char *p = text; *p; p++) {
    const char *troff = NULL;
    if (p == text || p[-1] == '\n') fputs(*p == '.' ? "\\&" : "", out);
    for (size_t k = 0; k < sizeof ESCAPES / sizeof *ESCAPES; k++)
      if (*p == ESCAPES[k].plain) troff = ESCAPES[k].troff;
    troff ? fputs(troff, out) : fputc(*p, out);
  }
}

static void put_header(FILE *out, const char *name, const char *summary) {
  fprintf(out, ".TH TILEWALK%s 1 \"\" \"Tilewalk " TILEWALK_VERSION "\" \"User Commands\"\n.SH NAME\ntilewalk%s \\- ",
          name, name);
  put(out, summary);
  fputs("\n.SH DESCRIPTION\n.nf\n", out);
}

/* What --help=all prints of a command. */
static Status put_command(const Command *command, Io *io, Error *error) {
  char *text = NULL;
  size_t n = 0;
  Io own = {.out = open_memstream(&text, &n), .style = {.width = 76}};
  if (!own.out) return error_set(error, STATUS_NO_MEMORY, "no memory for a page");
  const Status status = command_help(command, "all", &own, error);
  fclose(own.out);
  put(io->out, text);
  free(text);
  return status;
}

static Status put_program(FILE *out, Error *error) {
  put_header(out, "", "shows where the bytes of attention go: HBM, L2, SRAM");
  fputs(".fi\n.SH COMMANDS\nEach has a page of its own.\n", out);
  for (const Command *const *c = COMMANDS; *c; c++) {
    if (!(*c)->group) continue;
    fprintf(out, ".TP\n.BR tilewalk\\-%s (1)\n", (*c)->name);
    put(out, (*c)->summary);
    fputc('\n', out);
  }
  return put_asset("assets/shell/manual", out, error);
}

typedef struct {
  char name[32]; /* "": the program */
} ManOptions;

static Status set_command(void *target, const char *value, Error *error) {
  return options_text("the command", value, ((ManOptions *)target)->name, sizeof(ManOptions), error);
}

/* The page of a command has what it does with a second word, too: `sim --roofline`. */
static int run_man(void *options, Io *io, Error *error) {
  const char *name = ((ManOptions *)options)->name;
  const size_t n = strlen(name);
  bool any = false;
  if (!n) return put_program(io->out, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
  for (const Command *const *c = COMMANDS; *c; c++) {
    const bool is_it = strcmp((*c)->name, name) == 0;
    if (!is_it && !(any && strncmp((*c)->name, name, n) == 0 && (*c)->name[n] == ' ')) continue;
    if (is_it) {
      char page[40];
      snprintf(page, sizeof page, "-%s", name);
      put_header(io->out, page, (*c)->summary);
    }
    if (put_command(*c, io, error)) return EXIT_BAD_REQUEST;
    fputc('\n', io->out);
    any = true;
  }
  if (!any) return error_refuse(error, "there is no command '%s'", quote_text(name).text), EXIT_BAD_REQUEST;
  fputs(".fi\n.SH SEE ALSO\n.BR tilewalk (1)\n", io->out);
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
