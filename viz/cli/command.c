#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "viz/cli/command.h"

#include <assert.h>

enum { OPTION_COLUMN = 30, SCREEN_COLUMNS = 80, OPTIONS_SHOWN = 8, EXAMPLES_MAX = 3 };

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

/* ---- Which command */

/* The first word that is no option of either and no option's value; 0: none. */
static int first_file(const Command *c, const Command *plain, int argc, char *const *argv) {
  for (int k = 1; k < argc; k++) {
    const char *word = argv[k];
    if (word[0] != '-' || !word[1]) return k;
    if (strcmp(word, "--") == 0) return k + 1 < argc ? k + 1 : 0;
    const bool is_long = word[1] == '-';
    const size_t n = is_long ? strlen(word + 2) : 1;
    const Option *o = option_named(c->sets, word + 1 + is_long, n);
    if (!o && plain) o = option_named(plain->sets, word + 1 + is_long, n);
    if (o && option_needs_value(o) && (is_long || !word[2])) k++;
  }
  return 0;
}

static bool is_own_option(const Command *c, const char *word) {
  return strncmp(word, "--", 2) == 0 && option_named(c->sets, word + 2, strlen(word + 2));
}

/* Where the second word of a command's name stands among the words; 0: it does not. `plain`: what the first word alone
 * asks for, NULL if it is not known yet. */
static int second_word(const Command *c, const Command *plain, int argc, char *const *argv) {
  const char *second = strchr(c->name, ' ') + 1;
  if (strcmp(second, "FILE") == 0) return first_file(c, plain, argc, argv);
  const size_t n = strlen(second);
  for (int k = 1; k < argc && strcmp(argv[k], "--") != 0 && (k == 1 || *second == '-'); k++)
    if (strncmp(argv[k], second, n) == 0 && (!argv[k][n] || argv[k][n] == '=')) return k;
  return 0;
}

static void take_out(int at, int *argc, char **argv) {
  memmove(argv + at, argv + at + 1, (size_t)(*argc - at) * sizeof *argv);
  --*argc;
}

const Command *command_find(const Command *const *commands, int *argc, char **argv, bool *by_old) {
  const Command *found = NULL;
  int taken = 0;
  *by_old = false;
  for (const Command *const *c = commands; *c && *argc > 0; c++) {
    const size_t n = strcspn((*c)->name, " ");
    const char *second = (*c)->name[n] ? (*c)->name + n + 1 : NULL;
    int at;
    if ((*c)->old && strcmp((*c)->old, argv[0]) == 0) {
      found = *c, *by_old = true, taken = 0;
      break;
    }
    if (strncmp((*c)->name, argv[0], n) != 0 || argv[0][n]) continue;
    if (!second && !found)
      found = *c;
    else if (second && (at = second_word(*c, found, *argc, argv)))
      found = *c, taken = strcmp(argv[at], second) == 0 && !is_own_option(*c, second) ? at : 0;
  }
  if (!found) return NULL;
  if (taken) take_out(taken, argc, argv);
  take_out(0, argc, argv);
  return found;
}

/* ---- Help */

/* An option and what it means in a column of its own: all of it, or only the first sentence. */
static void print_option(const Option *o, int column, bool whole, FILE *out, const TextStyle *style) {
  char spelled[80];
  spell(o, spelled, sizeof spelled);
  const bool own_line = (int)strlen(spelled) > column - 4;
  text_say(out, "  %-*s", own_line ? 0 : column - 2, spelled);
  if (own_line) text_say(out, "\n%*s", column, "");
  char help[OPTION_TEXT_BYTES];
  const char *text = option_help(o, help);
  text_hanging(out, style, column, text, whole ? strlen(text) : first_sentence(text));
}

static void heading(Io *io, const char *text) {
  io_print(io, ROLE_HEADING, "%s", text);
  io_end_line(io);
}

/* The options of one set under its heading. */
static void print_set(const OptionSet *set, bool whole, Io *io) {
  if (set->heading) heading(io, set->heading);
  for (const Option *o = set->options; option_is_row(o); o++)
    if (o->help) print_option(o, OPTION_COLUMN, whole, io->out, &io->style);
  io_end_line(io);
}

/* The name without FILE, which usage has. */
static int name_width(const Command *command) {
  const char *file = strstr(command->name, " FILE");
  return file ? (int)(file - command->name) : (int)strlen(command->name);
}

static void print_head(const Command *command, Io *io) {
  char line[400];
  snprintf(line, sizeof line, "tilewalk %s: %s", command->name, command->summary);
  io_paragraph(io, ROLE_PLAIN, 0, line);
  io_end_line(io);
  snprintf(line, sizeof line, "tilewalk %.*s %s", name_width(command), command->name, command->usage);
  io_paragraph(io, ROLE_PLAIN, 2, line);
  io_end_line(io);
}

static int lines_in(const char *text, size_t n) {
  int lines = 0;
  for (size_t k = 0; k < n; k++) lines += text[k] == '\n';
  return lines;
}

/* Prints the option to text of its own, for its lines to be counted. */
static int add_option(const Option *o, int column, int most, Io *io) {
  char *text = NULL;
  size_t n = 0;
  FILE *memory = open_memstream(&text, &n);
  if (!memory) return 0;
  print_option(o, column, false, memory, &io->style);
  fclose(memory);
  const int lines = text ? lines_in(text, n) : most + 1;
  if (lines <= most) fputs(text, io->out); /* clean: printed by print_option */
  free(text);
  return lines <= most ? lines : 0;
}

/* The options that --help shows, one after the other; NULL at the end. */
static const Option *shown_option(const Command *c, int k) {
  if (!c->first) {
    for (OptionRows r = {.set = c->sets}; option_rows_next(&r, false);)
      if (!is_shared(r.set) && r.row->help && k-- == 0) return r.row;
    return NULL;
  }
  const char *word = c->first;
  for (; *word && k--; word += *word == ' ') word += strcspn(word, " ");
  return *word ? option_named(c->sets, word, strcspn(word, " ")) : NULL;
}

/* Examples have an empty line between; those that fit the width are shown, as many as fit the lines. */
static int print_examples(const Command *command, int most_lines, Io *io) {
  int lines = 0, n = 0;
  for (const char *p = command->examples, *end; *p && n < EXAMPLES_MAX; p = *end ? end + 2 : end) {
    end = strstr(p, "\n\n");
    if (!end) end = p + strlen(p);
    const int own = lines_in(p, (size_t)(end - p)) + (*end != '\0');
    bool fits = lines + own <= most_lines;
    for (const char *q = p; q < end; q += strcspn(q, "\n") + 1) fits = fits && strcspn(q, "\n") <= SCREEN_COLUMNS;
    if (!fits) continue;
    text_say(io->out, "%.*s%s", (int)(end - p), p, *end ? "\n" : "");
    lines += own, n++;
  }
  return lines;
}

static void print_screen(const Command *command, Io *io) {
  int n_options = 0, column = 0, left = SCREEN_LINES - 8 - 2 * EXAMPLES_MAX;
  char spelled[80];
  print_head(command, io);
  for (OptionRows r = {.set = command->sets}; option_rows_next(&r, false);) n_options += r.row->help != NULL;
  const Option *o;
  for (int k = 0; k < OPTIONS_SHOWN && (o = shown_option(command, k)); k++) {
    spell(o, spelled, sizeof spelled);
    const int wide = (int)strlen(spelled) + 4;
    if (wide <= OPTION_COLUMN && wide > column) column = wide;
  }
  for (int k = 0; k < OPTIONS_SHOWN && (o = shown_option(command, k)); k++) left -= add_option(o, column, left, io);
  if (n_options) io_end_line(io);
  print_examples(command, left + 2 * EXAMPLES_MAX, io);
  text_say(io->out, "\n'tilewalk %s --help=all' has all %d options.\n", command->name, n_options);
}

static void print_all(const Command *command, Io *io) {
  bool any_shared = false;
  print_head(command, io);
  if (command->description) {
    io_paragraph(io, ROLE_PLAIN, 0, command->description);
    io_end_line(io);
  }
  for (int last = 0; last < 2; last++) { /* those for experts come last */
    for (const OptionSet *set = command->sets; set && set->options; set++) {
      if ((set->options == QUESTION_EXPERT_OPTIONS) != last) continue;
      print_set(set, !is_shared(set), io);
      any_shared = any_shared || is_shared(set);
    }
  }
  if (any_shared) {
    io_paragraph(io, ROLE_PLAIN, 0, "'tilewalk help options' says more about the options that commands share.");
    io_end_line(io);
  }
  heading(io, "Examples");
  text_say(io->out, "%s", command->examples);
}

/* Whether the heading's first word is the topic, in small letters. */
static bool is_topic(const OptionSet *set, const char *topic) {
  size_t n = 0;
  for (; set->heading && topic[n]; n++)
    if ((set->heading[n] | 0x20) != topic[n]) return false;
  return n && (!set->heading[n] || set->heading[n] == ' ');
}

Status command_help(const Command *command, const char *topic, Io *io, Error *error) {
  bool any = false;
  if (!*topic || strcmp(topic, "all") == 0) return (*topic ? print_all : print_screen)(command, io), STATUS_OK;
  for (const OptionSet *set = command->sets; set && set->options; set++)
    if (is_topic(set, topic)) print_set(set, true, io), any = true;
  return any ? STATUS_OK
             : error_refuse(error, "--help=%s: no options of '%s' have that heading; --help=all has all of them",
                            quote_text(topic).text, command->name);
}

void command_shared_help(Io *io) {
  io_paragraph(io, ROLE_PLAIN, 0,
               "Options that many commands share. A size takes K, M and G (binary), KiB, MB and so on.");
  for (const OptionSet *set = QUESTION_SETS; set->options; set++) {
    io_end_line(io);
    heading(io, set->heading);
    for (const Option *o = set->options; option_is_row(o); o++)
      if (o->help) print_option(o, OPTION_COLUMN, true, io->out, &io->style);
  }
}

static bool is_given(const Command *c, const OptionParser *parser, const char *name, size_t length) {
  const Option *asked = option_named(c->sets, name, length);
  assert(asked);
  for (OptionRows r = {.set = c->sets}; option_rows_next(&r, false);)
    if (r.row == asked) return parser->seen[r.index] != 0;
  return false;
}

static Status check_apart(const Command *c, const OptionParser *parser, Error *error) {
  for (const char *p = c->apart; p && *p; p += strspn(p, "; ")) {
    const char *const one = p;
    const int n = (int)strcspn(one, " ");
    const bool needs = one[n + 1] == '+', given = is_given(c, parser, one, (size_t)n);
    for (p += n + 3; *p && *p != ';'; p += *p == ' ') {
      const char *const other = p;
      const int m = (int)strcspn(other, " ;");
      p += m;
      if (!given || is_given(c, parser, other, (size_t)m) == needs) continue;
      if (needs) return error_refuse(error, "--%.*s is of --%.*s; give that, too", n, one, m, other);
      return error_refuse(error, "--%.*s cannot stand beside --%.*s; leave out --%.*s", n, one, m, other, m, other);
    }
  }
  return STATUS_OK;
}

/* The struct that these options fill; NULL: the command has none. */
static const void *target_of(const Command *c, const Option *of, const void *options) {
  for (const OptionSet *set = c->sets; set->options; set++)
    if (set->options == of) return (const char *)options + set->offset;
  return NULL;
}

/* Draws the chart or bars of a document that was made for a picture. */
static Status draw(const Document *d, const ChartRequest *how, const char *path, const Io *io, Error *error) {
  Chart *const chart = document_drawn_chart(d);
  const Bars *const bars = document_drawn_bars(d);
  if (chart) return io->drawing->chart(chart, how, path, io->out, error);
  return bars ? io->drawing->bars(bars, how, path, io->out, error) : error_no_memory(error, "for a picture");
}

/* The form that is asked for; of a command without --json it is text. */
static DocumentForm form_of(const OutputRequest *output) {
  if (!output) return DOCUMENT_TEXT;
  return output->json ? DOCUMENT_JSON : output->csv ? DOCUMENT_CSV : DOCUMENT_TEXT;
}

static int answer(const Command *c, void *options, Io *io, Error *error) {
  const OutputRequest *output = target_of(c, OUTPUT_FORMAT_OPTIONS, options);
  const ChartRequest *chart = target_of(c, CHART_OPTIONS, options);
  if (output && output_request_check(output, error)) return EXIT_BAD_REQUEST;
  if (c->run) return c->run(options, io, error);
  if (chart && chart_request_check(chart, output, error)) return EXIT_BAD_REQUEST;
  if (chart && *output->output) {
    Document picture = document_new(DOCUMENT_PICTURE);
    Status status = c->answer(options, &picture, io, error);
    if (!status) status = draw(&picture, chart, output->output, io, error);
    document_free(&picture);
    if (status) return EXIT_BAD_REQUEST;
    if (!output->json && !output->csv) return EXIT_DONE; /* the picture is all */
    io->has_told = true;
  }
  Document d = document_new(form_of(output));
  d.details = output && output->details;
  Status status = c->answer(options, &d, io, error);
  if (!status) status = document_print(&d, io->out, &io->style, error);
  document_free(&d);
  if (status) return EXIT_BAD_REQUEST;
  return io->differs ? EXIT_DIFFERS : EXIT_DONE;
}

int command_run(const Command *command, int argc, char *const *argv, Io *io, Error *error) {
  void *options = calloc(1, command->options_bytes ? command->options_bytes : 1);
  if (!options) {
    error_no_memory(error, "for the options");
    return EXIT_BAD_REQUEST;
  }
  if (command->defaults) command->defaults(options);
  OptionParser parser = request_parser(command->sets, options);
  parser.set_positional = command->set_positional;
  parser.takes_files = strstr(command->usage, "FILE") != NULL;
  int exit_status = EXIT_BAD_REQUEST;
  if (!options_parse(&parser, argc, argv, error)) {
    if (parser.help) {
      if (!command_help(command, parser.help, io, error)) exit_status = EXIT_DONE;
    } else if (!check_apart(command, &parser, error)) {
      exit_status = answer(command, options, io, error);
      if (exit_status == EXIT_BAD_REQUEST && error->status == STATUS_INTERRUPTED) exit_status = EXIT_INTERRUPTED;
    }
  }
  free(options);
  return exit_status;
}
