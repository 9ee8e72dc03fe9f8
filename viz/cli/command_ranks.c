/* tilewalk sim --steps: attention on several GPUs: who holds what, what crosses which link when, who idles. */

#include "viz/cli/command.h"
#include "viz/cli/rank_options.h"
#include "viz/request/description.h"

#define DEFAULT_GPU "h100-sxm"

/* A walk, added up. */
typedef struct {
  Wide pairs, hbm_bytes, carried_bytes, sent_bytes, received_bytes;
  double kernel_s, exchange_s, end_s; /* the longest kernel and exchange; when the last rank is done */
  double busy_s;                      /* all ranks' kernels */
  bool by_link;                       /* the last rank waits for an exchange */
} Sum;

typedef struct {
  Request request;
  OutputRequest output;
  RankOptions ranks;
  Scheme scheme;
  /* What it works with. */
  Gpu gpu;
  GpuLink link;
  KvModel model;
  Serving serving;
  Problem problem;
  Ranks walked;
  /* What comes of it. */
  double bound_s, predicted_s, total_s, hiding_tokens;
  const char *kind;               /* of the time that is shown */
  TimePart binds;                 /* what takes most of it; TIME_NONE: the link */
  Sum *steps, of[RANKS_MAX], all; /* by step, by rank */
  Table *csv;                     /* a row for each step and rank; of CSV */
} RanksOptions;

/* ---- The walk ---------------------------------------------------------------------------------------------- */

static void add(Sum *sum, const RankPiece *p, const RankStep *step, const RankTimes *x) {
  const double end_s = fmax(x->kernel_end_s, x->exchange_end_s);
  sum->pairs += p->pairs;
  sum->hbm_bytes += step->hbm_bytes;
  sum->carried_bytes += step->carried_bytes;
  sum->sent_bytes += step->sent_bytes;
  sum->received_bytes += step->received_bytes;
  sum->kernel_s = fmax(sum->kernel_s, x->kernel_s);
  sum->exchange_s = fmax(sum->exchange_s, x->exchange_s);
  sum->busy_s += x->kernel_s;
  if (end_s > sum->end_s) sum->by_link = x->exchange_end_s > x->kernel_end_s;
  sum->end_s = fmax(sum->end_s, end_s);
}

static void visit(void *data, int64_t t, int64_t r, const RankStep *step, const RankTimes *x) {
  static const char *const PIECES[RANK_PIECE_COUNT] = {"none", "full", "causal", "strict", "half-keys", "half-rows"};
  RanksOptions *a = data;
  const RankPiece *p = &a->walked.pieces[step->piece];
  add(&a->steps[t], p, step, x);
  add(&a->of[r], p, step, x);
  add(&a->all, p, step, x);
  put_cells(a->csv, step->keys_of >= 0 ? "iii" : "ii.", t, r, step->keys_of);
  put_cells(a->csv, "swWWWWtttt", PIECES[step->piece], p->pairs, step->hbm_bytes - step->carried_bytes,
            step->carried_bytes, step->sent_bytes, step->received_bytes, x->start_s, x->kernel_s, x->kernel_end_s,
            x->exchange_end_s);
}

static Status walk(RanksOptions *a, Document *d, Error *error) {
  const Ranks *k = &a->walked;
  a->steps = calloc((size_t)k->n_steps, sizeof *a->steps);
  if (!a->steps) return error_no_memory(error, "for %jd steps", k->n_steps);
  a->csv = put_table(d, DOCUMENT_CSV, NULL,
                     ";step|;rank|;keys_of|;block|;pairs|;sram_bytes|;carried_bytes|;sent_bytes|"
                     ";received_bytes|;start_s|;kernel_s|;kernel_end_s|;exchange_end_s");
  a->bound_s = ranks_walk(k, CLOCK_BOUND, NULL, NULL);
  a->predicted_s = ranks_walk(k, CLOCK_PREDICTED, NULL, NULL);
  const bool is_bound = isnan(a->predicted_s);
  a->kind = time_kind_name(is_bound ? TIME_BOUND : ranks_is_extrapolated(k) ? TIME_EXTRAPOLATED : TIME_PREDICTED);
  a->total_s = ranks_walk(k, is_bound ? CLOCK_BOUND : CLOCK_PREDICTED, visit, a);
  double before = 0, by_link_s = 0;
  for (const Sum *s = a->steps; s < a->steps + k->n_steps; before = s++->end_s)
    if (s->by_link) by_link_s += s->end_s - before;
  a->binds = TIME_NONE;
  for (int kind = RANK_PIECE_COUNT - 1; kind >= RANK_PIECE_FULL && 2 * by_link_s <= a->total_s; kind--)
    if (k->pieces[kind].bound_s > 0) a->binds = k->pieces[kind].binds;
  a->hiding_tokens = ranks_hiding_tokens(&k->shape, &k->gpu, k->link.bytes_per_s);
  return STATUS_OK;
}

/* Of ranks in so many seconds. A sum of busy times may pass the whole by its last digit. */
static double idle(double busy_s, int64_t n_ranks, double all_s) {
  const double part = all_s > 0 ? 1 - busy_s / ((double)n_ranks * all_s) : 0;
  return part > 1e-12 ? part : 0;
}

/* ---- What is shown ----------------------------------------------------------------------------------------- */

static void add_held(Document *d, const Ranks *k) {
  const Wide all = k->weights_bytes + k->cache_bytes;
  const struct {
    const char *key, *name;
    Wide bytes;
  } ROWS[] = {{"q_bytes", "Q", k->q_bytes},
              {"k_bytes", "K", k->k_bytes},
              {"v_bytes", "V", k->v_bytes},
              {"o_bytes", "O", k->o_bytes},
              {"second_bytes", scheme_is_ring(k->scheme) ? "second place for K, V" : "second places", k->second_bytes},
              {"carried_bytes", "O, m, l between steps, fp32", k->carried_bytes},
              {"weights_bytes", "weights", k->weights_bytes},
              {"cache_bytes", "KV cache", k->cache_bytes},
              {"away_bytes", "behind the link", (Wide)(k->away * (double)all)}};
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "a rank holds|bytes>");
  put_values(d, "holds{");
  for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
    if (ROWS[i].bytes == 0) continue;
    put_cells(t, "sW", ROWS[i].name, ROWS[i].bytes);
    put_values(d, "%:w", ROWS[i].key, ROWS[i].bytes);
  }
  put_end(d);
}

/* Both boundaries: across the SRAM of each GPU to its HBM, and across the links. */
static Wide link_bytes(const Sum *s) { return s->sent_bytes > s->received_bytes ? s->sent_bytes : s->received_bytes; }
static void sum_cells(Table *t, int64_t at, const Sum *s) {
  put_cells(t, "dwW*W", at, s->pairs, s->hbm_bytes, link_bytes(s));
}

static void add_steps(Document *d, const RanksOptions *a) {
  Table *t = put_table(d, DOCUMENT_TEXT | DOCUMENT_JSON, "steps",
                       "step>=step|pairs>=pairs|HBM>=hbm_bytes|links>=link_bytes|kernel>=kernel_s|"
                       "exchange>=exchange_s|ends>=ends_s|idle>=idle");
  table_title(t, "Steps, all ranks together; the slowest kernel and exchange (%s)", a->kind);
  table_note(t, "HBM: across the SRAM of each GPU, O, m and l between steps included.");
  double before = 0;
  for (int64_t k = 0; k < a->walked.n_steps; k++) {
    const Sum *s = &a->steps[k];
    sum_cells(t, k, s);
    put_cells(t, "ttt%", s->kernel_s, s->exchange_s, s->end_s, idle(s->busy_s, a->walked.n, s->end_s - before));
    before = s->end_s;
  }
}

/* Of a program, both boundaries by tensor. */
static void add_tensors(Document *d, const Ranks *k) {
  RankTensor tensors[TENSORS_MAX];
  Table *t = put_table(d, DOCUMENT_TEXT | DOCUMENT_JSON, "by_tensor",
                       "tensor=tensor|HBM read>=read_bytes|HBM written>=write_bytes|links>=link_bytes");
  table_title(t, "Tensors, all ranks and steps together: %s", k->program->title);
  ranks_tensors(k, tensors);
  for (int n = 0; n < k->program->n_tensors; n++) {
    if (!k->program->tensors[n].is_moved) continue;
    char title[64];
    put_cells(t, "sWW*W", schedule_moved_title(k->program, WHEN_WHOLE, n, ", ", title, sizeof title), tensors[n].read,
              tensors[n].write, tensors[n].sent);
  }
}

static void add_ranks(Document *d, const RanksOptions *a) {
  Table *t = put_table(d, DOCUMENT_TEXT | DOCUMENT_JSON, "by_rank",
                       "rank>=rank|pairs>=pairs|HBM>=hbm_bytes|its link>=link_bytes|busy>=busy_s|idle>=idle");
  table_title(t, "Ranks, all steps together (%s)", a->kind);
  for (int64_t r = 0; r < a->walked.n; r++) {
    sum_cells(t, r, &a->of[r]);
    put_cells(t, "t%", a->of[r].busy_s, idle(a->of[r].busy_s, 1, a->total_s));
  }
}

static void put_times(Document *d, const RanksOptions *a) {
  put_values(d, "boundaries{hbm_bytes:w carried_bytes:w link_bytes:w}", a->all.hbm_bytes, a->all.carried_bytes,
             link_bytes(&a->all));
  put_values(d, "time{bound_s:f predicted_s:f kind:s idle:f binds:s} hiding_tokens:f", a->bound_s, a->predicted_s,
             a->kind, idle(a->all.busy_s, a->walked.n, a->total_s),
             a->binds == TIME_NONE ? "link" : timing_term_key(a->binds), a->hiding_tokens);
}

/* The answer in a sentence, and how sure it is. */
static void say_times(Document *d, const RanksOptions *a) {
  const Ranks *k = &a->walked;
  document_line(d, ROLE_ACCENT, "%s (%s); SMs idle %s of the time; bottleneck: %s.", number_seconds(a->total_s).text,
                a->kind, number_percent(idle(a->all.busy_s, k->n, a->total_s)).text,
                a->binds == TIME_NONE ? "the link" : timing_term_title(a->binds));
  if (!isnan(a->predicted_s))
    document_line(d, ROLE_DIM, "At least %s (bound: peak rates, %s at %s, all overlapped).",
                  number_seconds(a->bound_s).text, k->link.name, number_si(k->link.bytes_per_s, "B/s").text);
  if (scheme_is_ring(k->scheme) && k->n > 1 && a->hiding_tokens > 0)
    document_line(d, ROLE_DIM, "%s: whole blocks of at least %s tokens hide the exchange (F / B, bound); here %s.",
                  k->link.name, number_count((Wide)ceil(a->hiding_tokens)).text, number_count(wide(k->tokens)).text);
  document_gap(d);
}

static void add_head(Document *d, const RanksOptions *a) {
  const Ranks *k = &a->walked;
  const Shape *s = &k->shape;
  const KeyfileNote *note = link_note(&k->link, "bandwidth");
  char keys[128] = "";
  if (s->N_k != s->N_q) snprintf(keys, sizeof keys, ", %s keys", number_count(wide(s->N_k)).text);
  document_line(d, ROLE_HEADING, "%s, %s of %s over %s: N = %s%s, %s a rank, d = %jd, %s%s", SCHEME_NAMES[k->scheme],
                number_of(wide(k->n), "rank").text, k->gpu.name, k->link.name, number_count(wide(s->N_q)).text, keys,
                number_of(wide(s->heads), "head").text, s->d, dtype_name(s->dtype), s->causal ? ", causal" : "");
  document_line(d, ROLE_DIM, "%s: %s each way%s%s.", k->link.product, number_si(k->link.bytes_per_s, "B/s").text,
                note->assumed ? " (assumed)" : "", !isnan(a->predicted_s) ? "; measured exchanges" : "");
  put_values(d, "scheme:s", SCHEME_NAMES[k->scheme]);
  if (k->program) put_values(d, "algorithm:s", k->program->name);
  put_values(d, "ranks:i gpu:s link{name:s bytes_per_s:f latency_s:f assumed:b measured:b} tokens:i", k->n, k->gpu.name,
             k->link.name, k->link.bytes_per_s, k->link.latency_s, note->assumed, k->link.ramp_bytes > 0, k->tokens);
}

/* ---- The command ------------------------------------------------------------------------------------------- */

/* The whole model of offload; its matrices must be known. */
static Status take_model(const char *name, const Gpu *gpu, KvModel *model, Serving *serving, Error *error) {
  if (!*name) return error_refuse(error, "offload: weights and cache of a model; name one with --model");
  const Status status = description_model(name, model, error);
  if (status || kvmodel_check_cache(model, error)) return error->status;
  if (!model->parameters || !model->hidden || !model->vocab || *model->no_cache)
    return error_refuse(
        error,
        "%.80s: 'parameters', 'hidden' and 'vocab' or the cache are not given; add them to a copy of the "
        "file",
        model->name);
  *serving = (Serving){.model = model, .gpu = gpu, .cache = kvmodel_cache(model)};
  serving_take_weights(serving, NULL);
  serving->products = DTYPE_FP16;
  return STATUS_OK;
}

/* The program that says what ranks do; NULL: none is named, the scheme does. */
static Status take_program(const RanksOptions *o, const Schedule **program, Error *error) {
  *program = o->request.n_algorithms ? o->request.algorithms[0] : NULL;
  if (!*program) return STATUS_OK;
  const char *name = (*program)->name;
  if (o->request.n_algorithms > 1) return error_refuse(error, "ranks run one algorithm; name one");
  if (!(*program)->ranks.is_said)
    return error_refuse(
        error,
        "%s does not say what ranks do; a program with 'ranks' does, such as ring-attention, or leave out "
        "--algorithm and name a --scheme",
        name);
  if (o->scheme != SCHEME_RING || *o->request.kernel)
    return error_refuse(error, "%s says itself %s; leave out --%s", name,
                        *o->request.kernel ? "what its kernels do" : "who has which tokens",
                        *o->request.kernel ? "kernel" : "scheme");
  return STATUS_OK;
}

static Status resolve(RanksOptions *o, Error *error) {
  Request *request = &o->request;
  const Schedule *program;
  const bool offload = o->scheme == SCHEME_OFFLOAD;
  if (!*request->gpu) strcpy(request->gpu, DEFAULT_GPU);
  if (take_program(o, &program, error)) return error->status;
  request->n_algorithms = 0;
  if (description_timed_gpu(request->gpu, &o->gpu, error) ||
      (offload && take_model(request->model, &o->gpu, &o->model, &o->serving, error)) ||
      rank_options_link(&o->ranks, &o->link, error) || request_take_model(request, error) ||
      request_problem(request, &o->problem, &o->gpu, error))
    return error->status;
  const RanksAsked asked = {.scheme = o->scheme,
                            .n = offload      ? 1
                                 : o->ranks.n ? o->ranks.n
                                              : RANKS_DEFAULT,
                            .problem = &o->problem,
                            .gpu = &o->gpu,
                            .link = &o->link,
                            .serving = offload ? &o->serving : NULL,
                            .program = program};
  return ranks_make(&o->walked, &asked, error);
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  RanksOptions *o = options;
  (void)io;
  if (resolve(o, error) || walk(o, d, error)) return error->status;
  say_times(d, o);
  add_head(d, o);
  document_gap(d);
  add_held(d, &o->walked);
  document_gap(d);
  add_steps(d, o);
  document_gap(d);
  if (o->walked.program) add_tensors(d, &o->walked);
  if (o->walked.program) document_gap(d);
  if (o->walked.n > 1) add_ranks(d, o);
  put_times(d, o);
  free(o->steps);
  return STATUS_OK;
}

static const Option RANKS_OPTIONS[] = {
    OPTION_ROW("scheme", "NAME",
               "How the work is shared out. ring: contiguous blocks, K and V travel; striped and zigzag: the same with "
               "other tokens on each rank; ulysses: all-to-all to heads and back; tensor: heads, and an all-reduce of "
               "the output; offload: one GPU, and what does not fit comes over the link. Default ring.",
               OPTION_CHOICE(RanksOptions, scheme, "is no scheme"), .names = SCHEME_NAMES),
    OPTION_ROW(
        "algorithm", "NAME|FILE",
        "A program that says what ranks do, in place of a scheme: ring-attention, or one of your own (tilewalk "
        "list algorithms ring-attention prints it). Bytes are those of its lines, across SRAM and links, tensor by "
        "tensor.",
        .set_found = question_set_algorithm, .choices = "@algorithms"),
    OPTION_ROW("gpu", "NAME|FILE", "Default " DEFAULT_GPU ".",
               OPTION_TEXT(RanksOptions, request.gpu, "the name of the GPU"), .choices = "@gpus"),
    OPTION_ROW("kernel", "NAME|FILE", "Predict times by this kernel's costs, where the link was measured (nvlink4).",
               OPTION_TEXT(RanksOptions, request.kernel, "the name of the kernel"), .choices = "@kernels"),
    {0},
};

static const OptionSet SETS[] = {
    {"Ranks", RANKS_OPTIONS, 0},
    {"Ranks and links", RANK_OPTIONS, offsetof(RanksOptions, ranks)},
    {"Shape", QUESTION_SHAPE_OPTIONS, offsetof(RanksOptions, request)},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(RanksOptions, output)},
    {0},
};

const Command COMMAND_RANKS = {
    .name = "sim --steps",
    .old = "ranks",
    .summary = "attention on several GPUs: ring, Ulysses, tensor parallelism, offload",
    .usage = "[--scheme NAME] [--ranks P] [--link NAME] [OPTION...]",
    .description = "Walks attention on several GPUs step by step: what each rank holds, which block of keys it has, "
                   "what crosses its SRAM and its link, and who waits for whom. Bytes and pairs are counted; times are "
                   "bounds (the kernel's least time beside the link's data sheet), or predicted where kernel and link "
                   "were measured. One layer's attention, forward; offload: a whole model, a pass.",
    .examples =
        "  # ring attention under a causal mask: rank 0 idles\n"
        "  tilewalk sim --steps --ranks 8 -N 128K --heads 32 --kv-heads 8 --causal\n\n"
        "  # the same with striped tokens; over InfiniBand\n"
        "  tilewalk sim --steps --scheme striped --ranks 8 -N 128K --heads 32 --kv-heads 8 --causal --link ib-ndr\n\n"
        "  # the same as a page of program text, both boundaries tensor by tensor\n"
        "  tilewalk sim --steps --algorithm ring-attention --ranks 8 -N 128K --heads 32 --kv-heads 8 --causal\n\n"
        "  # two H200s, predicted\n"
        "  tilewalk sim --steps --ranks 2 -N 32K --heads 16 --gpu h200 --kernel fa2-sm90\n\n"
        "  # FlexGen: OPT-175B on a T4, 512 sequences\n"
        "  tilewalk sim --steps --scheme offload --model opt-175b --gpu t4 --link pcie4 -N 1 --seq-len-k 544 --batch "
        "512\n",
    .options_bytes = sizeof(RanksOptions),
    .sets = SETS,
    .answer = answer,
};
