/* Shell completion. `tilewalk --completion bash|zsh|fish` prints a few lines that ask the program for each word:
 *
 *     tilewalk _complete -- WORD...     lines "candidate TAB what it is" for the last word, which may be empty; the
 * line
 *                                       ":files" where names of files go there too
 *     tilewalk _names KIND              the known names of a kind, a line each: what "@KIND" in a table of options
 * means
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "sim/base/word_list.h"
#include "viz/cli/claims/articles.h"
#include "viz/cli/command.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/lesson/lesson_workshop.h"
#include "viz/request/description.h"

/* --- names --- */

static Status put_claims(FILE *out, Error *error) {
  Claims all = {0};
  const Status status = check_read(&all, error);
  for (size_t k = 0; !status && k < all.n_entries; k++) fprintf(out, "%s\n", all.entries[k].id);
  claims_free(&all);
  return status;
}

/* Lessons without their numbers, or tasks. */
static Status put_files(Status read(LessonFiles **, Error *), size_t skips, FILE *out, Error *error) {
  LessonFiles *files = NULL;
  const Status status = read(&files, error);
  for (int k = 0; !status && k < files->n; k++) fprintf(out, "%s\n", files->names[k] + skips);
  free(files);
  return status;
}

static Status put_descriptions(const char *folder, FILE *out, Error *error) {
  DescriptionNames names;
  const Status status = description_names(folder, &names, error);
  for (int k = 0; !status && k < names.n; k++) fprintf(out, "%s\n", names.names[k]);
  return status;
}

/* "pages": what a command does with a second word, too. */
static Status put_names(const char *kind, FILE *out, Error *error) {
  static const char *const FOLDERS[] = {"gpus", "kernels", "links", "models", NULL};
  const bool pages = strcmp(kind, "pages") == 0;
  if (strcmp(kind, "claims") == 0) return put_claims(out, error);
  if (strcmp(kind, "lessons") == 0) return put_files(lesson_files, 3, out, error);
  if (strcmp(kind, "tasks") == 0) return put_files(task_names, 0, out, error);
  if (word_list_find(FOLDERS, kind) >= 0) return put_descriptions(kind, out, error);
  if (strcmp(kind, "algorithms") == 0) {
    for (int k = 0; k < N_PROGRAMS; k++) fprintf(out, "%s\n", SCHEDULES[k]->name);
    fputs("all\n", out);
  } else if (pages || strcmp(kind, "commands") == 0) {
    for (const Command *const *c = COMMANDS; *c; c++)
      if (pages || (*c)->group) fprintf(out, "%s\n", (*c)->name);
  } else {
    return error_refuse(error,
                        "there are names of algorithms, claims, commands, gpus, kernels, lessons, links, models, "
                        "pages and tasks; give one");
  }
  return STATUS_OK;
}

/* --- candidates for a word --- */

/* A candidate, with what stands before it in the word, and the first sentence of what it is. */
static void offer(FILE *out, const char *word, size_t before, const char *candidate, size_t n, const char *is) {
  if (strncmp(candidate, word + before, strlen(word + before)) != 0 || strlen(word + before) > n) return;
  const char *end = is;
  while (*end && !(end[0] == '.' && (end[1] == ' ' || !end[1]))) end++;
  fprintf(out, "%.*s%.*s\t%.*s\n", (int)before, word, (int)n, candidate, (int)(end - is), is);
}

/* Choices with spaces or line ends between, or those of "@KIND". */
static void offer_choices(FILE *out, const char *word, size_t before, const char *choices) {
  char *names = NULL;
  size_t bytes;
  if (choices[0] == '@') {
    FILE *memory = open_memstream(&names, &bytes);
    if (!memory) return;
    (void)put_names(choices + 1, memory, NULL);
    fclose(memory);
    choices = names;
  }
  for (const char *p = choices; *p; p += strspn(p, " \n")) {
    const size_t n = strcspn(p, " \n");
    offer(out, word, before, p, n, "");
    p += n;
  }
  free(names);
}

/* "--name" or "-n" of the command. */
static const Option *find_option(const Command *command, const char *word, size_t n) {
  const size_t dashes = strncmp(word, "--", 2) == 0 ? 2 : 1;
  return *word == '-' && n > dashes ? option_named(command->sets, word + dashes, n - dashes) : NULL;
}

static void complete_value(FILE *out, const Option *o, const char *word, size_t before) {
  char choices[OPTION_TEXT_BYTES];
  const char *comma = strstr(o->argument, "LIST") ? strrchr(word + before, ',') : NULL;
  offer_choices(out, word, comma ? (size_t)(comma + 1 - word) : before, option_choices(o, choices));
  if (strstr(o->argument, "FILE")) fputs(":files\n", out);
}

static void complete_option(FILE *out, const Command *command, const char *word) {
  char spelling[64], help[OPTION_TEXT_BYTES];
  for (OptionRows r = {.set = command->sets}; option_rows_next(&r, false);) {
    const Option *o = r.row;
    if (!o->help) continue;
    const char *is = option_help(o, help);
    snprintf(spelling, sizeof spelling, "--%s", o->name ? o->name : "");
    if (o->name) offer(out, word, 0, spelling, strlen(spelling), is);
    snprintf(spelling, sizeof spelling, "-%c", o->letter);
    if (o->letter) offer(out, word, 0, spelling, 2, is);
  }
  offer(out, word, 0, "--help", 6, "show the use of this command");
}

enum { COMPLETED_MAX = 512 };

/* words[0] is the command, words[n - 1] what is typed so far. */
static void complete(FILE *out, char **words, int n) {
  const char *word = words[n - 1], *prev = words[n > 1 ? n - 2 : 0], *equals = strchr(word, '=');
  const Command *command = NULL;
  for (const Command *const *c = COMMANDS; *c; c++) {
    const size_t first = strcspn((*c)->name, " ");
    if (n == 1 || !strcmp(words[0], "help")) {
      if ((*c)->group) offer(out, word, 0, (*c)->name, first, (*c)->summary);
    } else if (!strncmp((*c)->name, words[0], first) && !words[0][first] && n == 2 && (*c)->name[first] &&
               strcmp((*c)->name + first, " FILE") != 0) {
      offer(out, word, 0, (*c)->name + first + 1, strlen((*c)->name) - first - 1, (*c)->summary); /* its second word */
    }
  }
  char *rest[COMPLETED_MAX + 1];
  int n_rest = n - 1; /* the last word is not whole */
  bool by_old;
  memcpy(rest, words, (size_t)n * sizeof *rest);
  rest[n - 1] = NULL;
  command = command_find(COMMANDS, &n_rest, rest, &by_old);
  if (n == 1) offer_choices(out, word, 0, "--help --version --doctor");
  if (!command || n == 1) return;
  const Option *own = equals ? find_option(command, word, (size_t)(equals - word)) : NULL,
               *before = find_option(command, prev, strlen(prev));
  if (own && own->argument) {
    complete_value(out, own, word, (size_t)(equals + 1 - word));
  } else if (before && option_needs_value(before)) {
    complete_value(out, before, word, 0);
  } else {
    if (word[0] == '-' || !*word) complete_option(out, command, word);
    if (word[0] != '-' && command->choices) offer_choices(out, word, 0, command->choices);
    if (word[0] != '-' && command->set_positional && strstr(command->usage, "FILE")) fputs(":files\n", out);
  }
}

/* --- the commands --- */

typedef struct {
  char word[32];
} WordOptions;

static Status set_word(void *target, const char *value, Error *error) {
  (void)error;
  snprintf(((WordOptions *)target)->word, sizeof(WordOptions), "%s", value);
  return STATUS_OK;
}

static int run_names(void *options, Io *io, Error *error) {
  return put_names(((WordOptions *)options)->word, io->out, error) ? EXIT_BAD_REQUEST : EXIT_DONE;
}

/* The words behind "--"; bash has "=" as a word of its own. */
static int run_complete(void *options, Io *io, Error *error) {
  char nothing[] = "", *words[COMPLETED_MAX];
  int n = 0;
  char *const *p = io->argv;
  (void)options, (void)error;
  while (*p && strcmp(*p, "--") != 0) p++;
  for (p += *p != NULL; *p && n < COMPLETED_MAX; p++) {
    const bool is_equals = strcmp(*p, "=") == 0;
    if (!is_equals || !p[1]) words[n++] = is_equals ? nothing : *p;
  }
  if (n) complete(io->out, words, n);
  return EXIT_DONE;
}

static int run_completion(void *options, Io *io, Error *error) {
  static const char *const SHELLS[] = {"bash", "zsh", "fish", NULL};
  const char *word = ((WordOptions *)options)->word;
  char file[32], *text = NULL;
  int shell;
  size_t length;
  Status status = STATUS_BAD_REQUEST;
  if (!*word)
    error_refuse(error, "for which shell? 'tilewalk --completion bash', zsh or fish");
  else if (!options_name(SHELLS, "is no shell that is known", word, &shell, error)) {
    snprintf(file, sizeof file, "assets/shell/%s", SHELLS[shell]);
    status = assets_read(file, 1 << 16, &text, &length, error);
  }
  if (!status) fwrite(text, 1, length, io->out);
  free(text);
  return status ? EXIT_BAD_REQUEST : EXIT_DONE;
}

#define WORDS .options_bytes = sizeof(WordOptions), .sets = (const OptionSet[]){{0}}, .set_positional = set_word

const Command COMMAND_NAMES = {.name = "_names",
                               .summary = "the known names of a kind",
                               .usage = "KIND",
                               .examples = "  tilewalk _names gpus\n",
                               WORDS,
                               .run = run_names};

const Command COMMAND_COMPLETE = {.name = "_complete",
                                  .summary = "what a word may go on with",
                                  .usage = "-- WORD...",
                                  .examples = "  tilewalk _complete -- sim --gpu h2\n",
                                  WORDS,
                                  .run = run_complete};

const Command COMMAND_COMPLETION = {
    .name = "--completion",
    .old = "completion",
    .summary = "completion for bash, zsh or fish",
    .usage = "SHELL",
    .description =
        "Prints what a shell needs to complete commands, options and names. `make install` puts it where shells "
        "look.",
    .examples = "  # bash, in this session; in ~/.bashrc for all\n"
                "  source <(tilewalk --completion bash)\n\n"
                "  # zsh: a file in a folder of fpath\n"
                "  tilewalk --completion zsh >~/.zfunc/_tilewalk\n\n"
                "  # fish\n"
                "  tilewalk --completion fish | source\n",
    WORDS,
    .choices = "bash zsh fish",
    .run = run_completion,
};
