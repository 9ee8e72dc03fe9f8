/* tilewalk advise --library: which attention kernel a library runs for a call, why not the others, and
 * what that costs. */

#include "sim/algorithms/shipped.h"
#include "viz/cli/command.h"
#include "viz/request/backend_rules.h"
#include "viz/request/description.h"
#include "viz/request/own.h"

#define DEFAULT_LIBRARY "pytorch-sdpa"
#define DEFAULT_GPU     "h100-sxm"

/* What a kernel costs. Bytes are counted, the time is a bound. */
typedef struct {
  const char *program; /* NULL: not known, and so is the rest */
  Wide boundary_bytes; /* across the SRAM boundary, with a mask tensor's and of K and V that are repeated */
  Wide memory_bytes;   /* beside inputs and output: intermediates, a mask tensor, repeated K and V */
  double bound_s;
} Cost;

enum { LIBRARIES_MAX = 3 };
typedef struct {
  Request request;
  OutputRequest output;
  char library[REQUEST_NAME_BYTES];
  CallFacts call;         /* what is said of it in numbers */
  bool flags[CALL_COUNT]; /* as asked; of the mask that it is a tensor, of GQA that it is not passed */
  /* What it works with. */
  Backend libraries[LIBRARIES_MAX]; /* a library's rules; `uses` is followed, and the last one's kernels count */
  int n;
  CallFacts facts;    /* as the last library sees them */
  const Order *order; /* NULL: none holds */
  Problem problem;
  Gpu gpu;
} EligibleOptions;

static const Backend *backend_of(const EligibleOptions *o) { return &o->libraries[o->n - 1]; }

/* ---- Setters ----------------------------------------------------------------------------------------------- */

static Status set_dropout(void *target, const char *value, Error *error) {
  char *end;
  const double p = strtod(value, &end);
  if (end == value || *end || !(p >= 0 && p < 1))
    return error_refuse(error, "'%s' is no probability; give one from 0 to less than 1, such as 0.1",
                        quote_text(value).text);
  call_number(&((EligibleOptions *)target)->call, CALL_DROPOUT, p);
  return STATUS_OK;
}

/* 9.15.1 is 91501. */
static Status set_cudnn(void *target, const char *value, Error *error) {
  unsigned major = 0, minor = 0, patch = 0;
  int n = 0, all = 0;
  if (sscanf(value, "%2u.%2u%n.%2u%n", &major, &minor, &n, &patch, &all) < 2 || value[all ? all : n])
    return error_refuse(error, "'%s' is no version of cuDNN; give one such as 9.15.1", quote_text(value).text);
  call_number(&((EligibleOptions *)target)->call, CALL_CUDNN, 10000 * major + 100 * minor + patch);
  return STATUS_OK;
}

/* ---- CallFacts ------------------------------------------------------------------------------------------------- */

static Status take_facts(const EligibleOptions *o, CallFacts *f, Error *error) {
  const Shape *s = &o->problem.shape;
  const Gpu *gpu = &o->gpu;
  unsigned major, minor; /* "9.0" is 90, "12.1" is 121 */
  int n = 0;
  if (sscanf(gpu->compute_capability, "%2u.%1u%n", &major, &minor, &n) != 2 || gpu->compute_capability[n])
    return error_refuse(
        error,
        "%.60s is no NVIDIA GPU with a compute capability, and the rules ask for one; name one of tilewalk "
        "list gpus",
        gpu->name);
  *f = o->call;
  const int64_t sizes[] = {[CALL_D] = s->d,         [CALL_D_V] = s->d_v,
                           [CALL_N_Q] = s->N_q,     [CALL_N_K] = s->N_k,
                           [CALL_HEADS] = s->heads, [CALL_KV_HEADS] = s->kv_heads,
                           [CALL_BATCH] = s->batch, [CALL_WINDOW] = s->sided ? s->left + 1 : s->window};
  call_number(f, CALL_SM, 10 * major + minor);
  for (int k = CALL_D; k <= CALL_WINDOW; k++) call_number(f, (CallFact)k, (double)sizes[k]);
  f->value[CALL_DROPOUT].known = true;
  call_word(f, CALL_DTYPE, dtype_name(s->dtype));
  if (s->has_kv_dtype) call_word(f, CALL_KV_DTYPE, dtype_name(s->kv_dtype));
  call_word(f, CALL_MASK, o->flags[CALL_MASK] || s->pattern ? "tensor" : s->causal ? "causal" : "none");
  for (int k = CALL_TRAINING; k <= CALL_MLA; k++) {
    const bool is_so = k == CALL_GQA ? s->kv_heads < s->heads && !o->flags[k] : k == CALL_MLA ? s->v_in_k : o->flags[k];
    call_word(f, (CallFact)k, is_so ? "yes" : "no");
  }
  return STATUS_OK;
}

/* ---- Which --------------------------------------------------------------------------------------------------- */

/* Reads the rules that are named and judges o->facts. */
static Status judge_call(EligibleOptions *o, Error *error) {
  const char *library = *o->library ? o->library : DEFAULT_LIBRARY;
  for (const char *name = library; *name; name = backend_of(o)->uses) {
    if (o->n == LIBRARIES_MAX)
      return error_set(error, STATUS_TOO_LARGE, "%.80s uses more than %d files of rules, one another's perhaps",
                       library, LIBRARIES_MAX);
    const Status status = description_backend(name, &o->libraries[o->n], error);
    if (status) return status;
    backend_apply(&o->libraries[o->n++], &o->facts);
  }
  o->order = backend_order(backend_of(o), &o->facts);
  return STATUS_OK;
}

/* ---- What it costs ----------------------------------------------------------------------------------------- */

/* The program of what a rule runs, and the kernel that is described, or NULL. NULL: neither is known. */
static const char *program_of(const char *runs, const Profile **kernel) {
  const Schedule *schedule = schedule_find(runs);
  *kernel = NULL;
  if (!schedule && !description_shipped(THING_KERNEL, runs, NULL) && !own_kernel(runs, kernel, NULL))
    schedule = (*kernel)->schedule;
  return schedule ? schedule->name : NULL;
}

/* From a problem as it is asked and the facts as the library makes them of it. runs: a kernel of assets/kernels, or a
 * program: "fa2-sm90", "standard". */
static Status cost_of(const EligibleOptions *o, const CallFacts *facts, const char *runs, Cost *cost, Error *error) {
  Problem p = o->problem;
  Simulation run;
  *cost = (Cost){.program = program_of(runs, &p.kernel)};
  if (!cost->program) return STATUS_OK;
  if (shape_complete(&p.shape, error)) return error->status;
  Shape *s = &p.shape;
  const Wide heads = wide(s->batch) * wide(s->heads), element = wide(dtype_bytes(s->dtype));
  Wide mask = 0, repeated = 0, repeated_read = 0;
  if (s->causal && strcmp(facts->value[CALL_CORNER].word, "top-left") == 0) s->top_left = true;
  if (strcmp(facts->value[CALL_MASK].word, "tensor") == 0) {
    /* The same for all heads and sequences, in the type of Q; kernels that read it skip no tile. */
    s->causal = s->top_left = s->sided = false;
    s->window = 0;
    s->pattern = NULL;
    mask = wide(s->N_q) * wide(s->N_k) * element;
  }
  if (facts->value[CALL_KV_HEADS].number > (double)s->kv_heads) { /* K and V for every query head */
    repeated = heads * wide(s->N_k) * wide(s->d + s->d_v) * element;
    repeated_read = repeated / wide(s->heads / s->kv_heads);
    s->kv_heads = s->heads;
  }
  if (!p.kernel || simulate(&run, &p, planner_algorithm(&p), NULL)) { /* else its own tiles, where it takes this */
    p.kernel = NULL;
    if (simulate(&run, &p, schedule_find(cost->program), error)) return error->status;
  }
  simulation_time(&run, &o->gpu);
  const double rate = timing_rate(&o->gpu, TIME_HBM, s->dtype), extra = (double)(mask + repeated + repeated_read);
  cost->boundary_bytes = run.total_bytes + mask * heads + repeated + repeated_read;
  cost->memory_bytes = run.intermediates_bytes + mask + repeated;
  cost->bound_s = run.timing.least_s;
  if (rate > 0) cost->bound_s = fmax(cost->bound_s, run.timing.floor.part_s[TIME_HBM] + extra / rate);
  return STATUS_OK;
}

/* ---- Output ------------------------------------------------------------------------------------------------ */

static void cost_cells(Table *t, const Cost *c) {
  put_cells(t, c->program ? "WWt" : "---", c->boundary_bytes, c->memory_bytes, c->bound_s);
}

static void put_cost(Document *d, const Cost *c) {
  if (c->program)
    put_values(d, "boundary_bytes:w memory_bytes:w bound_s:f", c->boundary_bytes, c->memory_bytes, c->bound_s);
}

/* A kernel, and all that keeps it out. */
static Status add_row(const EligibleOptions *o, Document *d, Table *t, int kernel, bool runs, Cost *cost,
                      Error *error) {
  const Backend *b = backend_of(o);
  const BackendKernel *k = &b->kernels[kernel];
  const Profile *described;
  const char *program = program_of(k->runs, &described);
  const int first = backend_refusal(b, kernel, &o->facts, 0);
  *cost = (Cost){0};
  if (first < 0 && cost_of(o, &o->facts, k->runs, cost, error)) return error->status;
  put_cells(t, runs ? "*ssss*s" : "sssss", k->name, k->title, program, described ? described->name : NULL,
            runs        ? "runs"
            : first < 0 ? "could"
                        : "cannot");
  cost_cells(t, cost);
  put_cells(t, "~s", first >= 0 ? b->rules[first].why : d->form == DOCUMENT_CSV ? "" : k->title);
  put_row(d, t);
  put_values(d, "why_not[");
  for (int r = first; r >= 0; r = backend_refusal(b, kernel, &o->facts, r + 1)) {
    put_values(d, ":s", b->rules[r].why);
    if (d->form != DOCUMENT_TEXT || r == first) continue;
    put_cells(t, "........");
    table_format(t, ROLE_DIM, "and: %s", b->rules[r].why);
  }
  put_end(d);
  put_cost(d, cost);
  put_end(d);
  return STATUS_OK;
}

static void add_title(const EligibleOptions *o, Table *t, const char *runs, const Cost *cost) {
  const Shape *s = &o->problem.shape;
  char said[160] = "refuses the call: no kernel runs";
  if (runs)
    snprintf(said, sizeof said, "runs %s, which moves %s", runs,
             cost->program ? number_bytes(cost->boundary_bytes).text : "what is not known");
  table_title(t, "%s %s.\n%s x %s/%s heads, %s queries, %s keys, d = %jd, %s, mask %s, on %s", o->libraries->library,
              said, number_count(wide(s->batch)).text, number_count(wide(s->heads)).text,
              number_count(wide(s->kv_heads)).text, number_count(wide(s->N_q)).text, number_count(wide(s->N_k)).text,
              s->d, dtype_name(s->dtype), o->facts.value[CALL_MASK].word, o->gpu.name);
}

/* The rules and what they changed, in JSON; and below the table. */
static void put_rules(const EligibleOptions *o, Document *d) {
  for (const Backend *b = o->libraries; b < o->libraries + o->n; b++) {
    put_values(d, "{library:s version:s source:s changes[", b->library, b->version, b->source);
    for (const Rule *r = b->rules; r < b->rules + b->n_rules; r++)
      if (r->changed) put_values(d, ":s", r->why);
    put_values(d, "]}");
  }
}

static void add_notes(const EligibleOptions *o, Table *t) {
  for (const Backend *b = o->libraries; b < o->libraries + o->n; b++)
    for (const Rule *r = b->rules; r < b->rules + b->n_rules; r++)
      if (r->changed) table_note(t, "%s: %s.", r->kind == RULE_ASSUME ? "Assumed" : "The call", r->why);
  if (o->order) table_note(t, "Order: %s.", o->order->why);
  table_note(t, "Bytes are counted, across the SRAM boundary; times are bounds. Rules: %s, %s.", backend_of(o)->source,
             backend_of(o)->version);
}

/* call: as it was asked. */
static Status fill(const EligibleOptions *o, Document *d, CallFacts *call, Error *error) {
  const Backend *b = backend_of(o);
  const int n = o->order ? o->order->n : 0;
  int first = 0;
  while (first < n && backend_refusal(b, o->order->kernels[first], &o->facts, 0) >= 0) first++;
  const char *runs = first < n ? b->kernels[o->order->kernels[first]].name : NULL;
  Cost cost, moved = {0};
  put_values(d, "library:s gpu:s runs:s rules[", o->libraries->library, o->gpu.name, runs);
  put_rules(o, d);
  put_values(d, "] order:s", o->order ? o->order->why : "");
  Table *t = put_table(d, DOCUMENT_ALL, "kernels",
                       "kernel=name|=title|=program|=kernel|verdict=verdict|moves>;boundary_bytes|"
                       "storage>;memory_bytes|bound>;bound_s|why not~;why");
  for (int k = 0; k < n; k++) {
    if (add_row(o, d, t, o->order->kernels[k], k == first, &cost, error)) return error->status;
    if (k == first) moved = cost;
  }
  add_title(o, t, runs, &moved);
  call_word(call, CALL_MASK, "none"); /* whatever the mask: it is not a tensor then */
  if (cost_of(o, call, shipped_default()->name, &cost, error)) return error->status;
  put_values(d, "fused_as_asked{");
  put_cost(d, &cost);
  put_end(d);
  if (d->form != DOCUMENT_TEXT) return STATUS_OK;
  table_rule(t);
  put_cells(t, "~s...~s", "fused, as asked", "to compare");
  cost_cells(t, &cost);
  put_cells(t, "~s", "one fused kernel that skips the mask's tiles and groups heads");
  add_notes(o, t);
  return STATUS_OK;
}

/* ---- The command ------------------------------------------------------------------------------------------- */

static Status answer(void *options, Document *d, Io *io, Error *error) {
  EligibleOptions *o = options;
  CallFacts call;
  (void)io;
  if (!*o->request.gpu) strcpy(o->request.gpu, DEFAULT_GPU);
  if (request_take_model(&o->request, error) || request_problem(&o->request, &o->problem, &o->gpu, error) ||
      shape_complete(&o->problem.shape, error) || take_facts(o, &call, error))
    return error->status;
  o->facts = call;
  return judge_call(o, error) ? error->status : fill(o, d, &call, error);
}

static const Option CALL_OPTIONS[] = {
    OPTION_ROW("library", "NAME|FILE",
               "Whose rules: pytorch-sdpa, transformers, vllm, or a file of your own. Default " DEFAULT_LIBRARY ".",
               OPTION_TEXT(EligibleOptions, library, "the name"), .choices = "pytorch-sdpa transformers vllm"),
    OPTION_ROW("gpu", "NAME|FILE", "Default " DEFAULT_GPU ".",
               OPTION_TEXT(EligibleOptions, request.gpu, "the name of the GPU"), .choices = "@gpus"),
    OPTION_SWITCH("training", "Gradients are wanted.", OPTION_FLAG(EligibleOptions, flags[CALL_TRAINING])),
    OPTION_ROW("dropout", "P", "Probability of dropout. Default 0.", .set = set_dropout),
    OPTION_SWITCH("bias", "The mask, or a bias, is given as a tensor of scores.",
                  OPTION_FLAG(EligibleOptions, flags[CALL_MASK])),
    OPTION_SWITCH("deterministic", "Deterministic algorithms are asked for.",
                  OPTION_FLAG(EligibleOptions, flags[CALL_DETERMINISTIC])),
    OPTION_SWITCH("no-gqa", "enable_gqa is not passed although there are fewer KV heads.",
                  OPTION_FLAG(EligibleOptions, flags[CALL_GQA])),
    OPTION_SWITCH("sinks", "Each head has a sink, a learned score.", OPTION_FLAG(EligibleOptions, flags[CALL_SINKS])),
    OPTION_SWITCH("softcap", "Scores are capped by a tanh.", OPTION_FLAG(EligibleOptions, flags[CALL_SOFTCAP])),
    OPTION_SWITCH("alibi", "Scores have slopes by distance (ALiBi).", OPTION_FLAG(EligibleOptions, flags[CALL_ALIBI])),
    OPTION_ROW("cudnn", "VERSION", "cuDNN's version, such as 9.10.2.", .set = set_cudnn),
    {0},
};

static const OptionSet SETS[] = {
    {"The call", CALL_OPTIONS, 0},
    {"Shape", QUESTION_SHAPE_OPTIONS, offsetof(EligibleOptions, request)},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(EligibleOptions, output)},
    {0},
};

const Command COMMAND_ELIGIBLE = {
    .name = "advise --library",
    .old = "eligible",
    .summary = "which attention kernel a library runs, and why not another",
    .usage = "[--library NAME] [OPTION...]",
    .description = "Judges a call of attention by a library's own rules, as data with file and version "
                   "(assets/backends): which kernel runs, what keeps each other from it, and what each moves across "
                   "the SRAM boundary, keeps in memory besides inputs and output, and takes at least.",
    .examples =
        "  # a mask tensor keeps FlashAttention out\n"
        "  tilewalk advise --library pytorch-sdpa --heads 32 --kv-heads 8 -N 4K --dtype bf16 --bias --gpu a100-80gb\n\n"
        "  # a window in transformers' sdpa\n"
        "  tilewalk advise --library transformers --heads 32 --kv-heads 8 -N 8K --causal --window 4K --dtype bf16\n\n"
        "  # does d = 256 train on an RTX 4090?\n"
        "  tilewalk advise --library pytorch-sdpa --heads 16 -d 256 --causal --dtype bf16 --training --gpu rtx4090\n",
    .options_bytes = sizeof(EligibleOptions),
    .sets = SETS,
    .answer = answer,
};
