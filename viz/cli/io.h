/* What a command reads and prints to, and its exit status. */
#ifndef TILEWALK_VIZ_CLI_IO_H
#define TILEWALK_VIZ_CLI_IO_H

#include <signal.h>

#include "viz/text/print.h"

/* EXIT_INTERRUPTED: stopped by SIGINT; main prints the reason and lets the signal end the program, as shells expect. */
enum { EXIT_DONE = 0, EXIT_DIFFERS = 1, EXIT_BAD_REQUEST = 2, EXIT_INTERRUPTED = 130 };

typedef struct Drawing Drawing; /* viz/cli/chart_file.h */

typedef struct {
  FILE *out, *err;
  TextStyle style;        /* of out */
  const char *program;    /* argv[0], for finding data files */
  char *const *argv;      /* all of the command line */
  bool differs;           /* a comparison that was asked for did not hold */
  bool has_told;          /* of an answer that is asked for once more: what stands beside it was said */
  const Drawing *drawing; /* how charts become files; NULL in the program that only prints, which is never asked */
  /* SIGINT sets a flag from here on, in place of ending the program. NULL in a library: signals are its host's. */
  const volatile sig_atomic_t *(*catch_interrupt)(void);
} Io;

/* What is printed where no document is: in a role, as a paragraph (viz/text/print.h), and the end of a line. */
static inline __attribute__((format(printf, 3, 4))) void io_print(const Io *io, TextRole role, const char *format,
                                                                  ...) {
  va_list arguments;
  va_start(arguments, format);
  text_vprint(io->out, &io->style, role, format, arguments);
  va_end(arguments);
}
static inline void io_paragraph(const Io *io, TextRole role, int indent, const char *text) {
  text_paragraph(io->out, &io->style, role, indent, text);
}
static inline void io_end_line(const Io *io) { fputc('\n', io->out); }

/* The flag that SIGINT sets: for work that leaves nothing half-written, and ends with EXIT_INTERRUPTED. */
static inline const volatile sig_atomic_t *io_catch_interrupt(const Io *io) {
  static const volatile sig_atomic_t never = 0;
  return io->catch_interrupt ? io->catch_interrupt() : &never;
}

#endif
