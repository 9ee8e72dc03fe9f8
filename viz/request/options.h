/* Options: tables of names, and one parser for the command line and for the one-line state.
 *
 *     -N 4096 --head-dim 128 --causal        the command line
 *     N=4096 d=128 causal=1                  the one-line state: the same names, key=value
 *
 * A table row says how an option is spelled, what it takes, what it means, and which function stores it. Help,
 * the man page and shell completion are printed from the same rows. An option may be given once: twice is a
 * contradiction and an error, unless the row says `repeats`. */
#ifndef TILEWALK_VIZ_REQUEST_OPTIONS_H
#define TILEWALK_VIZ_REQUEST_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"

typedef struct {
  const char *name;     /* long name without dashes; NULL: only a letter */
  char letter;          /* 0: only a long name */
  const char *argument; /* placeholder for what it takes ("COUNT"); NULL: a switch; "[=WHICH]": a switch that may be
                           given a value behind '=' */
  const char *help;     /* NULL: an alias that help leaves out */
  Status (*set)(void *target, const char *value, Error *error); /* a switch gets "1" (or the state's 0 or 1) */
  bool repeats;
  bool state_only;          /* a key of the one-line state, not an option */
  const char *choices;      /* values that completion offers, with spaces between; "@KIND": what `tilewalk _names KIND`
                          prints. NULL: none */
  const char *const *names; /* or these, which end with NULL; where help says {}, it lists them. NULL: none */
  Status (*shipped)(const char *value, Error *error); /* the value may name a file of the user's own: refuses all names
                          but those of what comes with Tilewalk. NULL: it opens no file */
} Option;

typedef struct {
  const char *heading;   /* over these options in --help */
  const Option *options; /* ends with a row of zeros */
  size_t offset;         /* of the target within the command's options struct */
} OptionSet;

enum { OPTIONS_MAX = 96 }; /* rows in all sets of one command */

typedef struct {
  const OptionSet *sets; /* ends with a row of zeros */
  void *target;          /* the command's options struct, already holding its defaults */
  Status (*set_positional)(void *target, const char *value, Error *error); /* NULL: none are taken */
  bool want_help, want_short_help;                                         /* out: --help, -h was there */
  bool from_file; /* the state is read from a file, perhaps a stranger's: it opens only what comes with Tilewalk */
  unsigned char seen[OPTIONS_MAX];
} OptionParser;

/* What completion offers, with spaces between, or "@KIND"; and the help. Both return text. */
enum { OPTION_TEXT_BYTES = 1024 };
const char *option_choices(const Option *option, char text[OPTION_TEXT_BYTES]);
const char *option_help(const Option *option, char text[OPTION_TEXT_BYTES]);

/* Whether a value must follow. */
static inline bool option_needs_value(const Option *option) { return option->argument && option->argument[0] != '['; }

/* Parses argv[0..argc). Stops at the first error, or at --help or -h. */
Status options_parse(OptionParser *parser, int argc, char *const *argv, Error *error);

/* Parses a one-line state: space-separated key=value. Used by --state, and by files that carry a state. */
Status options_parse_state(OptionParser *parser, const char *line, Error *error);

/* The setter of the row for --state itself: options_parse reads the state before all other options, so that
 * an option given beside it wins wherever it stands. */
Status options_set_state(void *target, const char *value, Error *error);

/* Whole numbers in a range, on/off values; `name` is how messages call the option. */
Status options_count(const char *name, const char *value, long long low, long long high, long long *out, Error *error);
Status options_flag(const char *name, const char *value, bool *out, Error *error);

/* One of a list of names, by its index. The error: "'VALUE' IS; there are a, b and c", such as "is no scene". */
Status options_name(const char *const *names, const char *is, const char *value, int *index, Error *error);

#endif
