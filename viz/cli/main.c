/* tilewalk: the program. Finds the command, runs it, prints the one-line reason when it fails. */
#define _POSIX_C_SOURCE 200809L /* poll */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/nearest.h"
#include "sim/base/quote.h"
#include "viz/cli/command.h"
#include "viz/cli/three_programs.h"
#include "viz/text/print.h"

static void print_overview(Io *io) {
  text_print(io->out, &io->style, ROLE_HEADING, "tilewalk");
  fputs(": walk through attention tile by tile and see where every byte goes\n\n", io->out);
  for (const Command *const *c = COMMANDS; *c; c++) {
    if ((*c)->name[0] == '_') continue;
    text_print(io->out, &io->style, ROLE_ACCENT, "  %-12s", (*c)->name);
    fprintf(io->out, "%s\n", (*c)->summary);
  }
  fputs("\nStart with 'tilewalk tour'. Every command takes -h and --help.\n", io->out);
}

static const Command *find_command(const char *name) {
  for (const Command *const *c = COMMANDS; *c; c++)
    if (strcmp((*c)->name, name) == 0) return *c;
  return NULL;
}

/* Words that other programs have, and where theirs is done here. */
static const struct {
  const char *word, *here;
} ELSEWHERE[] = {
    {"plot", "charts are drawn by 'sweep' and 'roofline', scenes by 'render'"},
    {"chart", "charts are drawn by 'sweep' and 'roofline', scenes by 'render'"},
    {"graph", "charts are drawn by 'sweep' and 'roofline', scenes by 'render'"},
    {"draw", "scenes are drawn by 'render', charts by 'sweep' and 'roofline'"},
    {"export", "pictures come from 'render', 'sweep' and 'roofline' with -o FILE, events from 'trace'"},
    {"compare", "'sim' compares: --algorithm fa1,fa2 or --gpu a100-80gb,h200"},
    {"decode", "decode is 'sim -N 1 --seq-len-k 32K', or 'kvcache --model NAME' for a model"},
    {"ncu", "counters of Nsight Compute go to 'crosscheck --ncu FILE.csv'"},
    {"profile", "counters of Nsight Compute go to 'crosscheck --ncu FILE.csv'"},
    {"tune", "'advise' says which tile to take on a GPU"},
    {"block", "'advise' says which tile to take on a GPU"},
    {"claim", "'check' judges the articles' claims"},
    {"class", "lessons/README.md says how a class works with 'lesson'"},
    {"web", "'make web' builds the pages for a browser, 'make web-serve' shows them"},
    {"embed", "'make web' builds the pages for a browser; they say how to embed a scene"},
};

static int unknown_command(const char *name, Error *error) {
  for (size_t i = 0; i < sizeof ELSEWHERE / sizeof ELSEWHERE[0]; i++)
    if (strcmp(name, ELSEWHERE[i].word) == 0)
      return error_set(error, STATUS_BAD_REQUEST, "there is no command '%s': %s", name, ELSEWHERE[i].here),
             EXIT_BAD_REQUEST;
  Nearest nearest = {.word = name};
  for (const Command *const *c = COMMANDS; *c; c++)
    if ((*c)->name[0] != '_') nearest_offer(&nearest, (*c)->name);
  const Quote shown = quote(name, strlen(name));
  if (nearest.best)
    error_set(error, STATUS_BAD_REQUEST, "there is no command '%s'; did you mean '%s'?", shown.text, nearest.best);
  else
    error_set(error, STATUS_BAD_REQUEST, "there is no command '%s'; 'tilewalk --help' lists them", shown.text);
  return EXIT_BAD_REQUEST;
}

/* Whether this program is the small one and the request is for the full one. */
static bool is_for_full(int argc, char **argv) {
  if (!PROGRAM_IS_SMALL || (argc > 1 && strcmp(argv[1], "--version") == 0)) return false;
  return argc < 2 || !find_command(argv[1]) || !program_only_prints(argc - 2, argv + 2);
}

static int dispatch(int argc, char **argv, Io *io, Error *error) {
  if (is_for_full(argc, argv)) return program_become("full", argv, error), EXIT_BAD_REQUEST;
  const char *const first = argc > 1 ? argv[1] : "--help";
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || (strcmp(first, "help") == 0 && argc == 2)) {
    print_overview(io);
    return EXIT_DONE;
  }
  if (strcmp(first, "--version") == 0) {
    fputs("tilewalk " TILEWALK_VERSION "\n", io->out);
    return EXIT_DONE;
  }
  const bool help = strcmp(first, "help") == 0;
  if (help && strcmp(argv[2], "options") == 0) {
    command_shared_help(io);
    return EXIT_DONE;
  }
  const Command *command = find_command(help ? argv[2] : first);
  if (!command) return unknown_command(help ? argv[2] : first, error);
  if (!help) return command_run(command, argc - 2, argv + 2, io, error);
  command_help(command, io);
  return EXIT_DONE;
}

/* Whether stdout is a pipe that nobody reads any more. */
static bool reader_is_gone(void) {
  struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Ends the program by a signal, as shells expect. */
static void end_by(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

int main(int argc, char **argv) {
  setlocale(LC_CTYPE, "");
  signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, seen below */
#ifdef SIGXFSZ
  signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow */
#endif
  Io io = {.out = stdout, .err = stderr, .style = text_style_for(stdout), .program = argv[0], .argv = argv};
  Error error = {0};
  int exit_status = dispatch(argc, argv, &io, &error);
  errno = 0;
  const bool stopped = exit_status == EXIT_BAD_REQUEST || exit_status == EXIT_INTERRUPTED;
  if (!stopped && (fflush(stdout) != 0 || ferror(stdout))) {
    if (reader_is_gone()) end_by(SIGPIPE); /* as `head` ends others: in silence */
    error_set(&error, STATUS_BAD_REQUEST, "the output could not be written (%s); nothing more was printed",
              errno ? strerror(errno) : "write error");
    exit_status = EXIT_BAD_REQUEST;
  }
  if (exit_status == EXIT_BAD_REQUEST || exit_status == EXIT_INTERRUPTED)
    fprintf(stderr, "tilewalk%s%s: %s\n", argc > 1 && argv[1][0] != '-' ? " " : "",
            argc > 1 && argv[1][0] != '-' ? quote(argv[1], strlen(argv[1])).text : "",
            error.message[0] ? error.message : "the request failed");
  if (exit_status == EXIT_INTERRUPTED) {
    fflush(NULL);
    end_by(SIGINT);
  }
  return exit_status;
}
