/* What both programs do: finds the command, runs it, prints the one-line reason when it fails. */
#define _POSIX_C_SOURCE 200809L /* poll, readlink, execv */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/nearest.h"
#include "viz/cli/counter_file.h"
#include "viz/cli/two_programs.h"
#include "viz/request/assets.h"

/* What this build has of what can be left out; `tilewalk --doctor` says what the computer has. */
#ifdef TILEWALK_WINDOW
#define WINDOW "viewer, "
#else
#define WINDOW "no viewer, "
#endif
#ifdef TILEWALK_WEBP
#define WEBP "WebP, "
#else
#define WEBP "no WebP, "
#endif
#ifdef TILEWALK_GIF
#define GIF "GIF, "
#else
#define GIF "no GIF, "
#endif
#ifdef _OPENMP
#define THREADS "OpenMP"
#else
#define THREADS "no OpenMP"
#endif
#define PARTS "with " WINDOW WEBP GIF THREADS

/* Whether no file is drawn, and no command asked for that draws or judges; argv: after the command's name. */
static bool only_prints(int argc, char *const *argv) {
  static const char *const FULL[] = {"-o", "--output", "--view", "--story", "--library"};
  for (int i = 0; i < argc; i++)
    for (size_t k = 0; k < COUNT_OF(FULL); k++)
      if (strncmp(argv[i], FULL[k], strlen(FULL[k])) == 0) return false;
  return true;
}

/* Starts tilewalk-full, which lies beside this program or in ../lib/tilewalk, with these arguments. Returns only when
 * that fails. */
static Status become_full(char *const *argv, Error *error) {
  static const char *const PLACES[] = {".", "../lib/tilewalk"};
  char folder[4096], path[4200];
  const bool is_known = program_folder(folder, sizeof folder);
  int reason = is_known ? ENOENT : errno;
  for (size_t k = 0; is_known && k < COUNT_OF(PLACES); k++) {
    snprintf(path, sizeof path, "%s/%s/tilewalk-full", folder, PLACES[k]);
    execv(path, argv);
    if (errno != ENOENT) reason = errno;
  }
  return error_refuse(error,
                      "this needs the program tilewalk-full, which belongs beside tilewalk or in ../lib/tilewalk (%s); "
                      "build or install again",
                      strerror(reason));
}

static void print_overview(const Command *const *commands, Io *io) {
  const char *group = "";
  io_print(io, ROLE_HEADING, "tilewalk");
  fputs(" shows where the bytes of attention go: HBM, L2, SRAM.\n\n", io->out);
  for (const Command *const *c = commands; *c; c++) {
    if (!(*c)->group) continue;
    io_print(io, ROLE_PLAIN, "%-8s", strcmp(group, (*c)->group) ? (*c)->group : "");
    io_print(io, ROLE_ACCENT, "%-12s", (*c)->name);
    text_hanging(io->out, &io->style, 20, (*c)->summary, strlen((*c)->summary));
    group = (*c)->group;
  }
  fputs("\ntilewalk COMMAND --help: its options. tilewalk --doctor: what is missing.\n", io->out);
}

/* Words that other programs have, and where theirs is done here; of several, with the last one. */
static const struct {
  const char *word, *here;
} ELSEWHERE[] = {
    {"version", "'tilewalk --version' says which this is, and '--doctor' what it was built with"},
    {"plot", NULL},
    {"chart", NULL},
    {"graph", NULL},
    {"draw", "charts are drawn by 'sweep' and 'sim --roofline', scenes by 'render'"},
    {"export", "pictures come from 'render' and 'sweep' with -o FILE, events from 'trace'"},
    {"compare", "'sim' compares: --algorithm fa1,fa2 or --gpu a100-80gb,h200"},
    {"decode", "decode is 'sim -N 1 --seq-len-k 32K', or 'kvcache --model NAME' for a model"},
    {"ncu", NULL},
    {"profile", "counters of Nsight Compute go to 'crosscheck --ncu FILE.csv'"},
    {"tune", NULL},
    {"block", "'advise' says which tile to take on a GPU"},
    {"claim", "'lesson claims' judges the articles' claims"},
    {"class", "lessons/README.md says how a class works with 'lesson'"},
    {"web", "'make web' builds the pages for a browser, 'make web-serve' shows them"},
    {"embed", "'make web' builds the pages for a browser; they say how to embed a scene"},
};

static Status unknown_command(const Command *const *commands, const char *name, Error *error) {
  for (size_t i = 0; i < COUNT_OF(ELSEWHERE); i++)
    if (strcmp(name, ELSEWHERE[i].word) == 0) {
      while (!ELSEWHERE[i].here) i++;
      return error_refuse(error, "there is no command '%s': %s", name, ELSEWHERE[i].here);
    }
  Nearest nearest = {.word = name};
  for (const Command *const *c = commands; *c; c++)
    if ((*c)->group || (*c)->old) nearest_offer(&nearest, (*c)->group ? (*c)->name : (*c)->old);
  const Quote shown = quote_text(name);
  if (nearest.best)
    return error_refuse(error, "there is no command '%s'; did you mean '%s'?", shown.text, nearest.best);
  return error_refuse(error, "there is no command '%s'; 'tilewalk --help' lists them", shown.text);
}

static int dispatch(const Command *const *commands, int argc, char **argv, Io *io, Error *error) {
  const char *const first = argc > 1 ? argv[1] : "--help";
  const bool help = strcmp(first, "help") == 0;
  char *words[argc + 1]; /* the command's, without its name */
  bool by_old;
  int n = argc - 1 - help, status;
  memcpy(words, argv + 1 + help, (size_t)(n + 1) * sizeof *words);
  const Command *command = command_find(commands, &n, words, &by_old);
  if (strcmp(first, "--version") == 0) {
    fputs("tilewalk " TILEWALK_VERSION "\n" PARTS "\n", io->out);
    return EXIT_DONE;
  }
  if (!io->drawing && (help || !command || !only_prints(argc - 2, argv + 2)))
    return become_full(argv, error), EXIT_BAD_REQUEST;
  if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || (help && argc == 2)) {
    print_overview(commands, io);
    return EXIT_DONE;
  }
  if (help && strcmp(argv[2], "options") == 0) {
    command_shared_help(io);
    return EXIT_DONE;
  }
  if (!command) return unknown_command(commands, argv[1 + help], error), EXIT_BAD_REQUEST;
  if (help)
    status = command_help(command, "", io, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
  else
    status = command_run(command, n, words, io, error);
  if (by_old && status != EXIT_BAD_REQUEST)
    text_say(io->err, "'tilewalk %s' is now 'tilewalk %s'; the old name goes with the next release\n", command->old,
             command->name);
  return status;
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

/* Obeys --color=WHEN, wherever it stands before "--", and puts it behind the words that are counted: the other program,
 * if this one turns into it, reads all of them. */
static Status take_colour(int *argc, char **argv, TextStyle *style, Error *error) {
  static const char OPTION[] = "--color";
  static const char *const WHEN[] = {"always", "never", "auto", NULL};
  enum { ALWAYS, NEVER, AUTO };
  int which;
  int n = 1;
  bool is_over = false;
  for (int i = 1; i < *argc; i++) {
    char *const word = argv[i];
    is_over = is_over || strcmp(word, "--") == 0;
    const char *when = strncmp(word, OPTION, sizeof OPTION - 1) == 0 ? word + sizeof OPTION - 1 : NULL;
    if (is_over || !when || (*when && *when != '=')) {
      memmove(argv + n + 1, argv + n, (size_t)(i - n) * sizeof *argv);
      argv[n++] = word;
      continue;
    }
    when = *when ? when + 1 : "always";
    if (options_name(WHEN, "is no value of --color", when, &which, error)) return error->status;
    if (which < AUTO) style->colour = which == ALWAYS;
  }
  *argc = n;
  return STATUS_OK;
}

/* What is named "-" or /dev/stdin may be read more than once, as kernels and models are, and a pipe cannot: its bytes
 * go into a file that has no name. `trace` and `replay` read one once, however long. */
static Status keep_input(int argc, char **argv, Error *error) {
  enum { INPUT_BYTES_MAX = 256 << 20 };
  for (int k = 2; k < argc && strcmp(argv[1], "replay") != 0 && strcmp(argv[1], "trace") != 0; k++) {
    const char *equals = strrchr(argv[k], '='), *name = equals ? equals + 1 : argv[k], /* - or --gpu=- */
                                                    *option = equals ? argv[k] : argv[k - 1];
    const bool is_stdin = strcmp(name, "-") == 0 || strcmp(name, "/dev/stdin") == 0,
               is_description = strncmp(option, "--kernel", 8) == 0 || strncmp(option, "--model", 7) == 0;
    struct stat info;
    if (is_stdin ? isatty(STDIN_FILENO) || lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0
                 : !is_description || stat(name, &info) || !S_ISFIFO(info.st_mode))
      continue;
    FILE *file = is_stdin ? stdin : fopen(name, "rb");
    const int n = (int)(name - argv[k]);
    char *kept = NULL;
    bool is_kept = file && file_put_aside(&file, INPUT_BYTES_MAX);
    if (is_kept && is_stdin)
      is_kept = dup2(fileno(file), STDIN_FILENO) >= 0 && lseek(STDIN_FILENO, 0, SEEK_SET) == 0;
    else if (is_kept && (kept = malloc((size_t)n + 24)))
      sprintf(kept, "%.*s/dev/fd/%d", n, argv[k], fileno(file)), argv[k] = kept;
    if (file && is_stdin) fclose(file);
    clearerr(stdin);
    if (!is_kept)
      return error_refuse(
          error, "what comes through a pipe could not be kept: a folder for temporary files is full or missing, or it "
                 "has more than 256 MiB");
  }
  return STATUS_OK;
}

static volatile sig_atomic_t interrupted; /* set by the signal handler alone */
static void on_interrupt(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}
static const volatile sig_atomic_t *catch_interrupt(void) {
  const struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: a stuck read or write returns */
  sigaction(SIGINT, &action, NULL);
  return &interrupted;
}

/* Where a stream is closed, the next file that is opened would take its place, and a compiler's words with it. */
static void keep_streams(void) {
  int file;
  while ((file = open("/dev/null", O_RDONLY)) >= 0 && file <= STDERR_FILENO) {
  }
  if (file >= 0) close(file);
}

int program_main(const Command *const *commands, const Drawing *drawing, int argc, char **argv) {
  setlocale(LC_CTYPE, "");
  keep_streams();
  signal(SIGPIPE, SIG_IGN); /* a closed pipe is a failed write, seen below */
#ifdef SIGXFSZ
  signal(SIGXFSZ, SIG_IGN); /* so is a file that may not grow */
#endif
  Error error = {0};
  TextStyle style = text_style_for(stdout);
  int exit_status = take_colour(&argc, argv, &style, &error) ? EXIT_BAD_REQUEST : EXIT_DONE;
  Io io = {.out = stdout,
           .err = stderr,
           .style = style,
           .program = argv[0],
           .argv = argv,
           .drawing = drawing,
           .catch_interrupt = catch_interrupt};
  static char buffer[1 << 16]; /* a pipe would get 4 KiB at a time */
  if (!text_is_terminal(stdout)) setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  if (!exit_status && keep_input(argc, argv, &error)) exit_status = EXIT_BAD_REQUEST;
  if (!exit_status) exit_status = dispatch(commands, argc, argv, &io, &error);
  errno = 0;
  bool stopped = exit_status == EXIT_BAD_REQUEST || exit_status == EXIT_INTERRUPTED;
  if (!stopped && (fflush(stdout) != 0 || ferror(stdout))) {
    if (reader_is_gone()) end_by(SIGPIPE); /* as `head` ends others: in silence */
    error_refuse(&error, "the output could not be written (%s); nothing more was printed",
                 errno ? strerror(errno) : "write error");
    exit_status = EXIT_BAD_REQUEST;
    stopped = true;
  }
  const bool is_named = argc > 1 && argv[1][0] != '-';
  if (stopped)
    text_say(stderr, "tilewalk%s%s: %s\n", is_named ? " " : "", is_named ? quote_text(argv[1]).text : "",
             error.message[0] ? error.message : "the request failed");
  if (exit_status == EXIT_INTERRUPTED) {
    fflush(NULL);
    end_by(SIGINT);
  }
  return exit_status;
}
