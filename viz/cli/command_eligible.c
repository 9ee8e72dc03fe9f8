/* tilewalk advise --library: which attention kernel a library runs for a call, why not the others, and
 * what that costs. */
#include <math.h>

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

/* A kernel of the order. */
typedef struct {
  int kernel, first_refusal; /* -1: none */
  Cost cost;
} Row;

/* A library's rules, and what they say; `uses` is followed. */
enum { LIBRARIES_MAX = 3 };
typedef struct {
  Backend libraries[LIBRARIES_MAX]; /* the last one's kernels count */
  int n;
  CallFacts facts;    /* as the last library sees them */
  const Order *order; /* NULL: none holds */
  Shape shape;
  Gpu gpu;
  Row rows[BACKEND_KERNELS];
  int n_rows;
  const Row *runs; /* NULL: none */
  Cost asked;      /* one fused kernel, were the call taken as it is asked */
} Answer;

static const Backend *backend_of(const Answer *a) { return &a->libraries[a->n - 1]; }
static const BackendKernel *kernel_of(const Answer *a, const Row *row) { return &backend_of(a)->kernels[row->kernel]; }

typedef struct {
  Request request;
  OutputRequest output;
  char library[REQUEST_NAME_BYTES];
  double dropout;
  int64_t cudnn;          /* 0: the file's */
  bool flags[CALL_COUNT]; /* as asked; of the mask that it is a tensor, of GQA that it is not passed */
  Answer answer;
} EligibleOptions;

/* ---- Setters ----------------------------------------------------------------------------------------------- */

static Status set_dropout(void *target, const char *value, Error *error) {
  char *end;
  const double p = strtod(value, &end);
  if (end == value || *end || !(p >= 0 && p < 1))
    return error_refuse(error, "'%s' is no probability; give one from 0 to less than 1, such as 0.1",
                        quote_text(value).text);
  ((EligibleOptions *)target)->dropout = p;
  return STATUS_OK;
}

/* 9.15.1 is 91501. */
static Status set_cudnn(void *target, const char *value, Error *error) {
  unsigned major = 0, minor = 0, patch = 0;
  int n = 0, all = 0;
  if (sscanf(value, "%2u.%2u%n.%2u%n", &major, &minor, &n, &patch, &all) < 2 || value[all ? all : n])
    return error_refuse(error, "'%s' is no version of cuDNN; give one such as 9.15.1", quote_text(value).text);
  ((EligibleOptions *)target)->cudnn = 10000 * (int64_t)major + 100 * (int64_t)minor + (int64_t)patch;
  return STATUS_OK;
}

/* ---- CallFacts ------------------------------------------------------------------------------------------------- */

static Status facts_of(const EligibleOptions *o, const Shape *s, const Gpu *gpu, CallFacts *f, Error *error) {
  unsigned major, minor; /* "9.0" is 90, "12.1" is 121 */
  int n = 0;
  if (sscanf(gpu->compute_capability, "%2u.%1u%n", &major, &minor, &n) != 2 || gpu->compute_capability[n])
    return error_refuse(
        error,
        "%.60s is no NVIDIA GPU with a compute capability, and the rules ask for one; name one of tilewalk "
        "list gpus",
        gpu->name);
  *f = (CallFacts){0};
  const int64_t sizes[] = {[CALL_D] = s->d,         [CALL_D_V] = s->d_v,
                           [CALL_N_Q] = s->N_q,     [CALL_N_K] = s->N_k,
                           [CALL_HEADS] = s->heads, [CALL_KV_HEADS] = s->kv_heads,
                           [CALL_BATCH] = s->batch, [CALL_WINDOW] = s->sided ? s->left + 1 : s->window};
  call_number(f, CALL_SM, 10 * major + minor);
  for (int k = CALL_D; k <= CALL_WINDOW; k++) call_number(f, (CallFact)k, (double)sizes[k]);
  call_number(f, CALL_DROPOUT, o->dropout);
  if (o->cudnn) call_number(f, CALL_CUDNN, (double)o->cudnn);
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

/* Reads the rules that `library` names and judges a->facts. */
static Status judge_call(const char *library, Answer *a, Error *error) {
  for (const char *name = library; *name; name = backend_of(a)->uses) {
    if (a->n == LIBRARIES_MAX)
      return error_set(error, STATUS_TOO_LARGE, "%.80s uses more than %d files of rules, one another's perhaps",
                       library, LIBRARIES_MAX);
    const Status status = description_backend(name, &a->libraries[a->n], error);
    if (status) return status;
    backend_apply(&a->libraries[a->n++], &a->facts);
  }
  a->order = backend_order(backend_of(a), &a->facts);
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
static Status cost_of(const Problem *asked, const CallFacts *facts, const char *runs, const Gpu *gpu, Cost *cost,
                      Error *error) {
  Problem p = *asked;
  Simulation run;
  *cost = (Cost){.program = program_of(runs, &p.kernel)};
  if (!cost->program) return STATUS_OK;
  Status status = shape_complete(&p.shape, error);
  if (status) return status;
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
    status = simulate(&run, &p, schedule_find(cost->program), error);
  }
  if (status) return status;
  simulation_time(&run, gpu);
  const double rate = timing_rate(gpu, TIME_HBM, s->dtype), extra = (double)(mask + repeated + repeated_read);
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

static void add_notes(Table *t, const Answer *a) {
  for (const Backend *b = a->libraries; b < a->libraries + a->n; b++)
    for (const Rule *r = b->rules; r < b->rules + b->n_rules; r++)
      if (r->changed) table_note(t, "%s: %s.", r->kind == RULE_ASSUME ? "Assumed" : "The call", r->why);
  if (a->order) table_note(t, "Order: %s.", a->order->why);
  table_note(t, "Bytes are counted, across the SRAM boundary; times are bounds. Rules: %s, %s.", backend_of(a)->source,
             backend_of(a)->version);
}

static void put_cost(Document *d, const Cost *c) {
  if (c->program)
    put_values(d, "boundary_bytes:w memory_bytes:w bound_s:f", c->boundary_bytes, c->memory_bytes, c->bound_s);
}

/* A kernel, and all that keeps it out. */
static void add_row(Document *d, Table *t, const Answer *a, const Row *row) {
  const Backend *b = backend_of(a);
  const BackendKernel *k = kernel_of(a, row);
  const Profile *kernel;
  const char *program = program_of(k->runs, &kernel);
  int r = row->first_refusal;
  put_cells(t, row == a->runs ? "*ssss*s" : "sssss", k->name, k->title, program, kernel ? kernel->name : NULL,
            row == a->runs ? "runs"
            : r < 0        ? "could"
                           : "cannot");
  cost_cells(t, &row->cost);
  put_cells(t, "~s", r >= 0 ? b->rules[r].why : d->form == DOCUMENT_CSV ? "" : k->title);
  put_row(d, t);
  put_values(d, "why_not[");
  for (; r >= 0; r = backend_refusal(b, row->kernel, &a->facts, r + 1)) {
    put_values(d, ":s", b->rules[r].why);
    if (d->form != DOCUMENT_TEXT || r == row->first_refusal) continue;
    put_cells(t, "........");
    table_format(t, ROLE_DIM, "and: %s", b->rules[r].why);
  }
  put_end(d);
  put_cost(d, &row->cost);
  put_end(d);
}

static void add_table(Document *d, const Answer *a) {
  const Shape *s = &a->shape;
  char said[160];
  Table *t = put_table(d, DOCUMENT_ALL, "kernels",
                       "kernel=name|=title|=program|=kernel|verdict=verdict|moves>;boundary_bytes|"
                       "storage>;memory_bytes|bound>;bound_s|why not~;why");
  if (!a->runs)
    snprintf(said, sizeof said, "refuses the call: no kernel runs");
  else
    snprintf(said, sizeof said, "runs %s, which moves %s", kernel_of(a, a->runs)->name,
             a->runs->cost.program ? number_bytes(a->runs->cost.boundary_bytes).text : "what is not known");
  table_title(t, "%s %s.\n%s x %s/%s heads, %s queries, %s keys, d = %" PRId64 ", %s, mask %s, on %s",
              a->libraries->library, said, number_count(wide(s->batch)).text, number_count(wide(s->heads)).text,
              number_count(wide(s->kv_heads)).text, number_count(wide(s->N_q)).text, number_count(wide(s->N_k)).text,
              s->d, dtype_name(s->dtype), a->facts.value[CALL_MASK].word, a->gpu.name);
  for (int k = 0; k < a->n_rows; k++) add_row(d, t, a, &a->rows[k]);
  if (d->form != DOCUMENT_TEXT) return;
  table_rule(t);
  put_cells(t, "~s...~s", "fused, as asked", "to compare");
  cost_cells(t, &a->asked);
  put_cells(t, "~s", "one fused kernel that skips the mask's tiles and groups heads");
  add_notes(t, a);
}

static void fill(Document *d, const Answer *a) {
  put_values(d, "library:s gpu:s runs:s rules[", a->libraries->library, a->gpu.name,
             a->runs ? kernel_of(a, a->runs)->name : NULL);
  for (const Backend *b = a->libraries; b < a->libraries + a->n; b++) {
    put_values(d, "{library:s version:s source:s changes[", b->library, b->version, b->source);
    for (const Rule *r = b->rules; r < b->rules + b->n_rules; r++)
      if (r->changed) put_values(d, ":s", r->why);
    put_values(d, "]}");
  }
  put_values(d, "] order:s", a->order ? a->order->why : "");
  add_table(d, a);
  put_values(d, "fused_as_asked{");
  put_cost(d, &a->asked);
  put_end(d);
}

/* ---- The command ------------------------------------------------------------------------------------------- */

static Status judge(const EligibleOptions *o, Answer *a, Error *error) {
  Request request = o->request;
  Problem problem;
  CallFacts facts;
  if (!*request.gpu) snprintf(request.gpu, sizeof request.gpu, "%s", DEFAULT_GPU);
  Status status = request_take_model(&request, error);
  if (!status) status = request_problem(&request, &problem, &a->gpu, error);
  if (!status) status = shape_complete(&problem.shape, error);
  if (!status) status = facts_of(o, &problem.shape, &a->gpu, &facts, error);
  a->facts = facts;
  if (!status) status = judge_call(*o->library ? o->library : DEFAULT_LIBRARY, a, error);
  if (status) return status;
  a->shape = problem.shape;
  for (int k = 0; a->order && k < a->order->n && !status; k++) {
    Row *row = &a->rows[a->n_rows++];
    row->kernel = a->order->kernels[k];
    row->first_refusal = backend_refusal(backend_of(a), row->kernel, &a->facts, 0);
    if (row->first_refusal >= 0) continue;
    if (!a->runs) a->runs = row;
    status = cost_of(&problem, &a->facts, kernel_of(a, row)->runs, &a->gpu, &row->cost, error);
  }
  if (!status) call_word(&facts, CALL_MASK, "none"); /* whatever the mask: it is not a tensor then */
  return status ? status : cost_of(&problem, &facts, shipped_default()->name, &a->gpu, &a->asked, error);
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  EligibleOptions *o = options;
  (void)io;
  const Status status = judge(o, &o->answer, error);
  if (!status) fill(d, &o->answer);
  return status;
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
