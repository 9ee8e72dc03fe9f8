/* Fuzz target for what is typed behind a command: any words are taken by its options, or refused with one line. The
 * first byte says which command; words are apart by newlines. Nothing is run, and no file is opened. What
 * --lengths names is read as its text too: lengths of a sum, or one line. */
#include "tests/fuzz/fuzz.h"
#include "sim/base/utf8.h"
#include "sim/batch.h"
#include "viz/cli/command.h"

static void require_line(const Error *error) {
  require(*error->message && !strchr(error->message, '\n') && strlen(error->message) < sizeof error->message);
}

static void lengths(const char *text, size_t size) {
  Error error = {0};
  Lengths *l = lengths_read(text, size, "f", &error);
  if (!l) return require_line(&error);
  require(l->n > 0 && 0 < l->shortest && l->shortest <= l->longest);
  require(lengths_sum(l) >= wide(l->longest) && lengths_sum(l) <= wide(l->longest) * wide(l->n));
  free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *words[64], *text;
  int n_commands = 0, n = 0;
  if (size == 0 || size > 1 << 12 || !(text = malloc(size))) return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  lengths(text, size - 1);
  while (COMMANDS[n_commands]) n_commands++;
  const Command *c = COMMANDS[data[0] % n_commands];
  for (char *p = strtok(text, "\n"); p && n < 64; p = strtok(NULL, "\n")) words[n++] = p;
  void *options = calloc(1, c->options_bytes + 1);
  require(options != NULL);
  if (c->defaults) c->defaults(options);
  OptionParser parser = {.sets = c->sets, .target = options, .set_positional = c->set_positional};
  Error error = {0};
  if (options_parse(&parser, n, words, &error)) require_line(&error);
  free(options);
  free(text);
  return 0;
}
