#define _POSIX_C_SOURCE 200809L /* open_memstream */

#include "sim/base/nearest.h"
#include "viz/cli/commands_print.h"
#include "viz/library/tilewalk.h"
#include "viz/request/own.h"

#define PUBLIC __attribute__((visibility("default")))

enum { LINE_BYTES_MAX = 1 << 20, NAMES_MAX = 64 };

#ifndef TILEWALK_VERSION /* the Makefile says which: of the tag, or of the changelog */
#define TILEWALK_VERSION "unknown"
#endif

struct TilewalkAnswer {
  int status;
  char *text, *remarks;
  size_t length, remarks_length;
  Error error;
};

#ifdef __wasm__                                   /* a page says which commands it has */
#define FORGET() own_programs_forget_but(NULL, 0) /* what it shows has kernels and masks */
static const Command *const MORE[] = {NULL};
#else
#define FORGET() own_forget()
extern const Command COMMAND_CHECK, COMMAND_CROSSCHECK, COMMAND_ELIGIBLE, COMMAND_RENDER, COMMAND_SERVE;
static const Command *const MORE[] = {&COMMAND_SERVE,      &COMMAND_ELIGIBLE, &COMMAND_CHECK,
                                      &COMMAND_CROSSCHECK, &COMMAND_RENDER,   NULL};
#endif

static const Command *command_at(size_t k) {
  size_t n = 0;
  while (COMMANDS_PRINT[n]) n++;
  return k < n ? COMMANDS_PRINT[k] : k - n < COUNT_OF(MORE) ? MORE[k - n] : NULL;
}

static const char *word_for(const Command *c) { return c->old ? c->old : c->name; }

static const Command *find_command(int *argc, char **argv) {
  const Command *all[NAMES_MAX];
  size_t n = 0;
  bool by_old;
  while (n < NAMES_MAX - 1 && (all[n] = command_at(n))) n++;
  all[n] = NULL;
  return command_find(all, argc, argv, &by_old);
}

static Status no_command(const char *name, Error *error) {
  Nearest nearest = {.word = name};
  for (size_t k = 0; command_at(k); k++) nearest_offer(&nearest, word_for(command_at(k)));
  char meant[160];
  return error_refuse(error, "there is no command '%s' in the library%s%s%s", quote_text(name).text,
                      nearest.best ? "; did you mean " : "", nearest_list(&nearest, meant, sizeof meant),
                      nearest.best ? "?" : "");
}

static bool has_option(const Command *command, const char *name) {
  return option_named(command->sets, name, strlen(name)) != NULL;
}

static bool is_output(const char *word) { return strncmp(word, "-o", 2) == 0 || strncmp(word, "--output", 8) == 0; }

/* A library writes no files, opens no window and starts no programs: "-o" goes with "-.SUFFIX", the answer itself. */
static Status check_words(const Command *command, size_t n, const char *const *words, Error *error) {
  for (size_t k = 0; k < n; k++) {
    if (strcmp(words[k], "--view") == 0 || strcmp(words[k], "--live") == 0)
      return error_refuse(error, "the library opens no window and starts no programs: leave out %s", words[k]);
    if (!is_output(words[k])) continue;
    const char *own = words[k] + (words[k][1] == '-' ? 8 : 2), *name = *own        ? own + (*own == '=')
                                                                       : k + 1 < n ? words[k + 1]
                                                                                   : "";
    const bool is_picture = strcmp(name, "-.svg") == 0 || strcmp(name, "-.png") == 0 || strcmp(name, "-.pdf") == 0;
    if (!is_picture || !has_option(command, "theme"))
      return error_refuse(error, "the library writes no files; a picture is asked for with -o -.svg, -.png or -.pdf");
  }
  return STATUS_OK;
}

/* Takes "--text" out of the words, and puts "--json" before them where no other form is asked for: behind them it could
 * be an option's value, or a name. argv has room for one more. */
static int choose_form(const Command *command, int argc, char **argv, char json[]) {
  static const char *const FORMS[] = {"--csv", "--json", "--help", "-h"};
  bool is_chosen = !has_option(command, "json");
  int n = 0;
  for (int k = 0; k < argc; k++) {
    for (size_t f = 0; f < COUNT_OF(FORMS); f++) is_chosen = is_chosen || strcmp(argv[k], FORMS[f]) == 0;
    const bool is_text = strcmp(argv[k], "--text") == 0;
    is_chosen = is_chosen || is_text || is_output(argv[k]);
    if (!is_text) argv[n++] = argv[k];
  }
  if (is_chosen) return n;
  memmove(argv + 1, argv, (size_t)n * sizeof *argv);
  argv[0] = json;
  return n + 1;
}

/* Runs the command with its two streams in memory. */
static int run(const Command *command, int argc, char **argv, TilewalkAnswer *a) {
  Io io = {.out = open_memstream(&a->text, &a->length),
           .err = open_memstream(&a->remarks, &a->remarks_length),
           .style = {.utf8 = true, .width = 100},
           .program = "tilewalk",
           .argv = argv,
           .drawing = &DRAWING};
  int status = EXIT_BAD_REQUEST;
  if (io.out && io.err)
    status = command_run(command, argc, argv, &io, &a->error);
  else
    error_no_memory(&a->error, "for an answer");
  const bool is_whole = io.out && !ferror(io.out) && io.err && !ferror(io.err);
  const bool is_closed = io.out && fclose(io.out) == 0;
  if (io.err) fclose(io.err);
  if (status == EXIT_BAD_REQUEST || (is_whole && is_closed)) return status;
  error_no_memory(&a->error, "for the whole answer");
  return EXIT_BAD_REQUEST;
}

static int answer(size_t n_words, const char *const *words, TilewalkAnswer *a) {
  if (n_words == 0 || n_words > 4096) {
    error_refuse(&a->error, "a question has 1 to 4096 words, the first of them a command; it has %zu", n_words);
    return EXIT_BAD_REQUEST;
  }
  char json[] = "--json", **argv = calloc(n_words + 2, sizeof *argv);
  int status = EXIT_BAD_REQUEST, n = 0;
  for (; argv && words && (size_t)n < n_words && words[n]; n++)
    argv[n] = (char *)words[n]; /* no command writes there */
  const Command *command = (size_t)n == n_words ? find_command(&n, argv) : NULL;
  if (!argv)
    error_no_memory(&a->error, "for a question of %zu words", n_words);
  else if (!command && (size_t)n < n_words)
    error_refuse(&a->error, "word %d is NULL", n);
  else if (!command)
    no_command(words[0], &a->error);
  else if (!check_words(command, (size_t)n, (const char *const *)argv, &a->error))
    status = run(command, choose_form(command, n, argv, json), argv, a);
  free(argv);
  FORGET();
  return status;
}

PUBLIC TilewalkAnswer *tilewalk_ask(size_t n_words, const char *const *words) {
  TilewalkAnswer *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  a->status = answer(n_words, words, a);
  if (a->status == EXIT_BAD_REQUEST && !a->error.status) error_refuse(&a->error, "the request failed");
  return a;
}

/* ---- A question in one line ------------------------------------------------------------------------------- */

/* Copies the next word of *p to `out` without its marks of quotation; false: there is none, or *why is set. */
static bool next_word(const char **p, char *out, const char **why) {
  const char *s = *p;
  char quoted = '\0';
  while (*s == ' ' || *s == '\t' || *s == '\n') s++;
  const bool any = *s != '\0';
  for (; *s && (quoted || (*s != ' ' && *s != '\t' && *s != '\n')); s++) {
    if (*s == quoted)
      quoted = '\0';
    else if (!quoted && (*s == '\'' || *s == '"'))
      quoted = *s;
    else if (*s == '\\' && quoted != '\'' && s[1])
      *out++ = *++s;
    else
      *out++ = *s;
  }
  *out = '\0';
  *p = s;
  if (quoted) *why = "a mark of quotation is never closed";
  return any && !quoted;
}

static TilewalkAnswer *refuse(const char *why) {
  TilewalkAnswer *a = calloc(1, sizeof *a);
  if (!a) return NULL;
  a->status = EXIT_BAD_REQUEST;
  error_refuse(&a->error, "%s", why);
  return a;
}

PUBLIC TilewalkAnswer *tilewalk_ask_line(const char *line) {
  const size_t length = line ? strlen(line) : 0;
  if (!line) return refuse("the question is NULL");
  if (length > LINE_BYTES_MAX) return refuse("a question has at most a mebibyte");
  char *text = malloc(length + 2); /* behind the last word the next one is looked for */
  const char **words = malloc((length / 2 + 2) * sizeof *words), *why = NULL;
  size_t n = 0;
  TilewalkAnswer *a = NULL;
  if (text && words) {
    for (char *at = text; next_word(&line, at, &why); at += strlen(at) + 1) words[n++] = at;
    a = why ? refuse(why) : tilewalk_ask(n, words);
  }
  free(words);
  free(text);
  return a;
}

/* ---- What an answer holds --------------------------------------------------------------------------------- */

PUBLIC int tilewalk_status(const TilewalkAnswer *a) { return a ? a->status : EXIT_BAD_REQUEST; }

PUBLIC const char *tilewalk_text(const TilewalkAnswer *a) {
  return a && a->status != EXIT_BAD_REQUEST && a->text ? a->text : "";
}

PUBLIC size_t tilewalk_length(const TilewalkAnswer *a) { return *tilewalk_text(a) ? a->length : 0; }

PUBLIC const char *tilewalk_error(const TilewalkAnswer *a) {
  if (!a) return "no memory for an answer";
  if (a->status == EXIT_BAD_REQUEST) return a->error.message;
  return a->remarks ? a->remarks : "";
}

PUBLIC void tilewalk_free(TilewalkAnswer *a) {
  if (!a) return;
  free(a->text);
  free(a->remarks);
  free(a);
}

PUBLIC int tilewalk_abi(void) { return TILEWALK_ABI; }
PUBLIC const char *tilewalk_version(void) { return TILEWALK_VERSION; }

PUBLIC const char *tilewalk_command(size_t k) {
  const Command *c = command_at(k);
  return c ? word_for(c) : NULL;
}
