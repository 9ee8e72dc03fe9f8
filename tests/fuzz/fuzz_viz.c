/* Fuzz targets of viz: what is typed, and the files that a request names. */
#include "tests/fuzz/fuzz.h"
#include "kernels/counters/explain.h"
#include "kernels/counters/launches.h"
#include "viz/cli/command.h"
#include "viz/library/tilewalk.h"
#include "viz/request/backend_rules.h"
#include "viz/request/model_config.h"

/* Rules of backends can be judged. */
FUZZ(backend, BYTES, "viz/request/backend_rules") {
  static Backend b;
  Error error = {0};
  if (backend_parse(text, size, "f", &b, &error)) return require_text(&error, "f:");
  CallFacts facts = {0};
  call_number(&facts, CALL_SM, 90);
  call_number(&facts, CALL_D, 128);
  call_word(&facts, CALL_DTYPE, "fp16");
  call_word(&facts, CALL_MASK, "causal");
  backend_apply(&b, &facts);
  const Order *order = backend_order(&b, &facts);
  for (int k = 0; order && k < order->n; k++) {
    require(order->kernels[k] >= 0 && order->kernels[k] < b.n_kernels);
    for (int r = -1; (r = backend_refusal(&b, order->kernels[k], &facts, r + 1)) >= 0;) require(r < b.n_rules);
  }
}

/* Splits the text in place. */
static int split(char *text, const char *at, char **words, int most) {
  int n = 0;
  for (char *p = strtok(text, at); p && n < most; p = strtok(NULL, at)) words[n++] = p;
  return n;
}

/* What is typed behind a command. The first byte says which; words are apart by newlines. Nothing is run, no file
 * is opened. */
FUZZ(command, TEXT, "") {
  char *words[64];
  int n_commands = 0;
  if (size == 0) return;
  while (COMMANDS[n_commands]) n_commands++;
  const Command *c = COMMANDS[(uint8_t)*text % n_commands];
  const int n = split(text + 1, "\n", words, 64);
  void *options = calloc(1, c->options_bytes + 1);
  require(options != NULL);
  if (c->defaults) c->defaults(options);
  OptionParser parser = request_parser(c->sets, options);
  parser.set_positional = c->set_positional;
  Error error = {0};
  if (options_parse(&parser, n, words, &error)) require_line(&error, "");
  free(options);
}

/* config.json: a model whose cache can be computed. */
FUZZ(model_config, BYTES, "viz/request/model_config assets/serving/config") {
  KvModel model;
  KvGroup groups[KVCACHE_GROUPS_MAX];
  Error error = {0};
  if (model_config_parse(text, size, "config.json", &model, &error)) return require_line(&error, "");
  const KvCache cache = kvmodel_cache(&model);
  const int n = kvcache_groups(&cache, groups);
  int64_t layers = 0;
  for (int g = 0; g < n; g++) layers += groups[g].layers;
  require(model.n_fixed <= KVMODEL_FIXED_MAX && model.n_remarks <= KVMODEL_REMARKS_MAX && !strchr(model.unused, '\n'));
  for (int i = 0; i < model.n_fixed; i++) require(model.fixed[i].layers > 0 && model.fixed[i].bytes > 0);
  const bool has_cache = !*model.no_cache;
  require(has_cache == (n > 0) && has_cache == (kvcache_seek(&cache, 10000).bytes > 0));
  require(!has_cache || (layers == kvcache_layers(&cache) && layers <= MODEL_CONFIG_LAYERS_MAX));
}

/* Counter files: names and counts of any kind are added up, and explained for some shape. */
FUZZ(ncu, BYTES, "kernels/counters/explain kernels/counters/launches") {
  const KernelModel model = kernel_model_of_schedule("fa2", NULL);
  const Shape shape = {.heads = 4, .kv_heads = 2, .N_q = 300, .N_k = 300, .d = 40, .causal = true};
  const Tiling tiling = {.B_r = 64, .B_c = 64};
  CounterTable table;
  LaunchRun *runs;
  Error error = {0};
  size_t n;
  if (counter_table_from_buffer(&table, text, size, &error)) {
    require(!table.rows);
    return require_line(&error, "");
  }
  require(table.n_rows > 0 && table.rows && !*error.message);
  for (size_t i = 0; i < table.n_rows; i++) require(memchr(table.rows[i].kernel, '\0', NCU_NAME_BYTES));
  if (table.n_rows < 100) {
    require(launch_runs(&table, "", &runs, &n, NULL) == STATUS_OK);
    for (size_t i = 0; i < n; i++) {
      Cause causes[CAUSES_MAX];
      int n_causes;
      require(memchr(runs[i].parts, '\0', sizeof runs[i].parts));
      require(!counter_explain(&runs[i].sum, &model, &shape, &tiling, NULL, causes, &n_causes, NULL));
      for (int c = 0; c < n_causes; c++) require(*causes[c].text && !strchr(causes[c].text, '\n'));
    }
    free(runs);
  }
  counter_table_free(&table);
}

/* Recorded pipelines: spans go forward. */
FUZZ(pipeline, BYTES, "viz/scene/pipeline") {
  Error error = {0};
  Pipeline *p = pipeline_read(text, size, "f", &error);
  if (!p) return require_line(&error, "");
  for (int k = 1; k < p->n_tensor; k++) require(p->tensor[k].begin >= p->tensor[k - 1].end);
  for (int k = 0; k < p->n_spans; k++) require(p->spans[k].end > p->spans[k].begin);
  free(p);
}

/* Questions to the library in one line, parted into words. Only what comes before a command is run is fuzzed, and the
 * cheapest command: files are not opened, nothing is computed. */
FUZZ(question, TEXT, "viz/library/tilewalk") {
  char *line = malloc(size + 8);
  require(line != NULL);
  for (int known = 0; known < 2; known++) {
    strcpy(line, known ? "gpus " : "none ");
    strcat(line, text);
    if (known) line[5 + strcspn(line + 5, "/.")] = '\0';
    TilewalkAnswer *a = tilewalk_ask_line(line);
    require(a != NULL);
    const int status = tilewalk_status(a);
    require(status >= 0 && status <= 2 && (known || status == 2));
    const char *said = tilewalk_error(a);
    if (status == 2) require(*said && utf8_is_text(said, strlen(said)) && tilewalk_length(a) == 0);
    tilewalk_free(a);
  }
  free(line);
}

typedef struct {
  Request request;
} Options;

static const OptionSet SETS[] = {QUESTION_OPTION_SETS(Options, request), {0}};

/* A request that was read can be answered or is refused in words, and never takes long. */
static void answer_request(const Request *request) {
  Problem problem;
  Simulation simulation;
  Error error = {0};
  if (*request->gpu || strchr(request->kernel, '/')) return;
  if (request_problem(request, &problem, NULL, &error)) return require_line(&error, "");
  for (int k = 0; k < request->n_algorithms; k++)
    if (simulate(&simulation, &problem, request->algorithms[k], &error)) require_line(&error, "");
}

static bool has_blank(const char *text) { return strpbrk(text, " \t\r\n\v\f"); }

/* The one-line state and the command line (an odd first byte): a request's state line reads back as the same request.
 * Files that a request names are not opened here. */
FUZZ(request, TEXT, "viz/request/request") {
  char *words[64], state[REQUEST_STATE_BYTES], twice[REQUEST_STATE_BYTES];
  if (size == 0 || size > 8192) return;
  const bool typed = *text++ & 1;
  if (strchr(text, '/') && (strstr(text, "algorithm") || strstr(text, "mask"))) return; /* a program, or a pattern */
  Options options = {0}, again = {0};
  Error error = {0};
  OptionParser parser = request_parser(SETS, &options), second = request_parser(SETS, &again);
  if (typed ? options_parse(&parser, split(text, " ", words, 64), words, &error)
            : options_parse_state(&parser, text, &error))
    return require_line(&error, "");
  if (parser.help) return;
  const Request *r = &options.request;
  question_state(r, state);
  if (strlen(state) < sizeof state - 1 && !has_blank(r->gpu) && !has_blank(r->mask) && !has_blank(r->kernel)) {
    require(options_parse_state(&second, state, NULL) == STATUS_OK);
    require(strcmp(question_state(&again.request, twice), state) == 0);
  }
  answer_request(r);
}

#ifdef TILEWALK_WINDOW
#include "viz/window/settings.h"

/* The window's settings: what was read is the same when it is written and read again. */
FUZZ(settings, BYTES, "viz/window/settings") {
  Settings s, again;
  int width, height;
  Error error = {0};
  char written[SETTINGS_TEXT_BYTES];
  if (settings_parse(text, size, "f", &s, &error)) {
    require(settings_equal(&s, &(Settings){0}));
    return require_line(&error, "f:");
  }
  require(s.events_per_s >= 0 && s.events_per_s <= 1e6);
  require(settings_size(&s, &width, &height) && (width > 0) == (*s.size != '\0'));
  settings_text(&s, written);
  require(strlen(written) < SETTINGS_TEXT_BYTES - 1);
  require(!settings_parse(written, strlen(written), "f", &again, &error));
  if (s.events_per_s == 0) s.events_per_s = again.events_per_s; /* the default is spelled out */
  require(settings_equal(&s, &again));
}
#endif
