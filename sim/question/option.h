/* Options: tables of names, and one parser for the command line and for the one-line state.
 *
 *     -N 4096 --head-dim 128 --causal        the command line
 *     N=4096 d=128 causal=1                  the one-line state: the same names, key=value
 *
 * A table row says how an option is spelled, what it takes, what it means, and which function stores it. Help,
 * the man page and shell completion are printed from the same rows. An option may be given once: twice is a
 * contradiction and an error, unless the row says `repeats`. */
#ifndef TILEWALK_SIM_QUESTION_OPTION_H
#define TILEWALK_SIM_QUESTION_OPTION_H

#include "sim/question/question_files.h"

/* Where the value of an option goes that needs no setter of its own; the macros below fill it in. */
typedef struct {
  enum { STORE_BY_SETTER, STORE_FLAG, STORE_COUNT, STORE_SIZE, STORE_NUMBER, STORE_TEXT, STORE_CHOICE } kind;
  size_t at, bytes; /* the member of the target */
  const char *what; /* how messages call it */
  long long low, high;
} OptionStore;

typedef struct Option {
  const char *name;     /* long name without dashes; NULL: only a letter */
  const char *also;     /* another name, which help leaves out; NULL: none */
  char letter;          /* 0: only a long name */
  const char *argument; /* placeholder for what it takes ("COUNT"); NULL: a switch; "[=WHICH]": a switch that may be
                           given a value behind '=' */
  const char *help;     /* NULL: a key of older state lines, that stores nothing */
  OptionStore to;
  Status (*set)(void *target, const char *value, Error *error); /* in place of `to`, which still reads it
                                                                   back; a switch gets "1" or "0" */
  Status (*set_found)(void *target, const char *value, const QuestionFiles *files, Error *error); /* one that reads */
  bool (*get)(const void *target, char *text, size_t size); /* the value as text, where `to` cannot say it; false: it is
                                                               the default, which a line leaves out */
  size_t given;                                             /* offset of a bool that is set with it; 0: none */
  bool repeats;
  const struct Option *keys; /* of the row for --state: keys of its line that need be no options of the command */
  const char *choices;       /* values that completion offers, with spaces between; "@KIND": what `tilewalk _names KIND`
                          prints. NULL: none */
  const char *const *names;  /* or these, which end with NULL; where help says {}, it lists them. NULL: none */
  Thing thing;               /* the value may name a file of the user's own; THING_NONE: it opens no file */
} Option;

#define OPTION_INTO(store, type, member, ...)                                                                          \
  .to = {.kind = store, .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member), __VA_ARGS__}
#define OPTION_FLAG(type, member)  OPTION_INTO(STORE_FLAG, type, member, .low = 0)
#define OPTION_COUNT(type, member) OPTION_INTO(STORE_COUNT, type, member, .low = 1) /* int64_t, with K, M and G */
#define OPTION_SIZE(type, member)                                                                                      \
  OPTION_INTO(STORE_SIZE, type, member, .low = 0) /* int64_t, bytes, with KiB and so on */
/* Any integer; "WHAT is 7; it must be between 1 and 5". */
#define OPTION_NUMBER(type, member, what_, low_, high_)                                                                \
  OPTION_INTO(STORE_NUMBER, type, member, .what = what_, .low = low_, .high = high_)
#define OPTION_TEXT(type, member, what_) OPTION_INTO(STORE_TEXT, type, member, .what = what_) /* char[]; not empty */
/* An enum or, of two, a bool, by its index in the row's `names`; "'VALUE' IS; there are a, b and c". */
#define OPTION_CHOICE(type, member, is) OPTION_INTO(STORE_CHOICE, type, member, .what = is)

/* A row: OPTION_ROW("batch", "COUNT", "Batch size.", OPTION_COUNT(Shape, batch)); one without an argument. */
#define OPTION_ROW(name_, argument_, help_, ...)                                                                       \
  { .name = name_, .argument = argument_, .help = help_, __VA_ARGS__ }
#define OPTION_SWITCH(name_, help_, ...)                                                                               \
  { .name = name_, .help = help_, __VA_ARGS__ }

typedef struct {
  const char *heading;   /* over these options in --help */
  const Option *options; /* ends with a row of zeros */
  size_t offset;         /* of the target within the command's options struct */
} OptionSet;

enum { OPTION_VALUE_CHARS_MAX = 4096 };
enum { OPTIONS_MAX = 96 }; /* rows in all sets of one command */

typedef struct {
  const OptionSet *sets; /* ends with a row of zeros */
  void *target;          /* the command's options struct, already holding its defaults */
  const QuestionFiles *files;
  Status (*set_positional)(void *target, const char *value, Error *error); /* NULL: none are taken */
  bool takes_files; /* what stands alone may be a file: "-" is standard input */
  const char *help; /* out: --help=TOPIC was there; "" for --help and -h; NULL for neither */
  bool from_file;   /* the state is read from a file, perhaps a stranger's: it opens only what comes with Tilewalk */
  unsigned char seen[OPTIONS_MAX];
} OptionParser;

/* What completion offers, with spaces between, or "@KIND"; and the help. Both return text. */
enum { OPTION_TEXT_BYTES = 1024 };
const char *option_choices(const Option *option, char text[OPTION_TEXT_BYTES]);
const char *option_help(const Option *option, char text[OPTION_TEXT_BYTES]);

/* The rows of all sets in turn; of a state then the keys of the row for --state, too. Begin with {.set = sets}. */
typedef struct {
  const OptionSet *set;
  const Option *row, *keys;
  size_t offset, keys_offset, index;
} OptionRows;
bool option_rows_next(OptionRows *rows, bool in_state);

/* The option of that name, long or of a letter, without its dashes; NULL: none. */
const Option *option_named(const OptionSet *sets, const char *name, size_t length);

/* Whether this is a row, not the end of a table. */
static inline bool option_is_row(const Option *option) { return option->name || option->letter; }

/* Whether a value must follow. */
static inline bool option_needs_value(const Option *option) {
  return option->argument ? option->argument[0] != '[' : option->to.kind > STORE_FLAG;
}

/* Stores a value as the row says; of a row that reads files, not. */
Status option_store(const Option *option, void *target, const char *value, Error *error);

/* Parses argv[0..argc). Stops at the first error, or at --help or -h. */
Status options_parse(OptionParser *parser, int argc, char *const *argv, Error *error);

/* Parses a one-line state: space-separated key=value. Used by --state, and by files that carry a state. */
Status options_parse_state(OptionParser *parser, const char *line, Error *error);

/* The same line again: "algorithm=fa2 N=64 ...", programs first, defaults left out. Returns text. */
const char *options_state(const OptionSet *sets, const void *target, char *text, size_t size);

/* What rows do, for setters that do more; `name` is how messages call the option. */
Status options_count(const char *name, const char *value, long long low, long long high, long long *out, Error *error);
Status options_text(const char *name, const char *value, char *out, size_t size, Error *error);

/* One of a list of names, by its index. The error: "'VALUE' IS; there are a, b and c", such as "is no scene". */
Status options_name(const char *const *names, const char *is, const char *value, int *index, Error *error);

#endif
