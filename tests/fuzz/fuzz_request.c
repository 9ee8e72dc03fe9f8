/* Fuzz target for the one-line state and the command line: any bytes are either a request, whose state line reads back
 * as the same request, or refused with one line without control characters. Names in it stand as they were written,
 * bytes beyond ASCII too: they are made safe where a message is printed. Files that a request names are not opened
 * here. */
#include "tests/fuzz/fuzz.h"
#include "viz/request/request.h"

typedef struct {
  Request request;
} Options;

static const OptionSet SETS[] = {REQUEST_OPTION_SETS(Options, request), {0}};

static void check_message(const Error *error) {
  const size_t length = strlen(error->message);
  require(length > 0);
  for (size_t k = 0; k < length; k++) require((uint8_t)error->message[k] >= 32 && error->message[k] != 127);
}

/* Splits the text at spaces into arguments, in place. */
static int split(char *text, char **arguments, int most) {
  int n = 0;
  for (char *p = strtok(text, " "); p && n < most; p = strtok(NULL, " ")) arguments[n++] = p;
  return n;
}

/* A request that was read can be answered or is refused in words, and never takes long. */
static void use(const Request *request) {
  if (*request->gpu || strchr(request->kernel, '/')) return;
  Problem problem;
  Simulation simulation;
  Error error = {0};
  if (request_problem(request, &problem, NULL, &error)) {
    check_message(&error);
    return;
  }
  for (int k = 0; k < request->n_algorithms; k++) {
    Error refused = {0};
    if (simulate(&simulation, &problem, request->algorithms[k], &refused)) check_message(&refused);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > 8192) return 0;
  char *text = malloc(size);
  if (!text) return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  if (strchr(text, '/') && (strstr(text, "algorithm") || strstr(text, "mask"))) { /* a program, or a pattern */
    free(text);
    return 0;
  }
  Options options = {0}, again = {0};
  Error error = {0};
  OptionParser parser = {.sets = SETS, .target = &options};
  Status status;
  if (data[0] & 1) {
    char *arguments[64];
    status = options_parse(&parser, split(text, arguments, 64), arguments, &error);
  } else {
    status = options_parse_state(&parser, text, &error);
  }
  if (status) {
    check_message(&error);
  } else if (!parser.want_help) {
    char state[REQUEST_STATE_BYTES];
    request_state(&options.request, state);
    OptionParser second = {.sets = SETS, .target = &again};
    const size_t room = sizeof state - 1;
    if (strlen(state) < room && !strpbrk(options.request.gpu, " \t\r\n\v\f") &&
        !strpbrk(options.request.mask, " \t\r\n\v\f") && !strpbrk(options.request.kernel, " \t\r\n\v\f")) {
      Error refused = {0};
      if (options_parse_state(&second, state, &refused) == STATUS_OK) {
        char twice[REQUEST_STATE_BYTES];
        require(strcmp(request_state(&again.request, twice), state) == 0);
      } else {
        require(0);
      }
    }
    use(&options.request);
  }
  free(text);
  return 0;
}
