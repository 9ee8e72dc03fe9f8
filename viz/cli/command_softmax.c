/* tilewalk softmax: online softmax on one row of scores, step by step. */
#include <math.h>

#include "sim/numbers/accuracy.h"
#include "sim/numbers/precision.h"
#include "sim/numbers/quantised.h"
#include "sim/base/text_add.h"
#include "sim/base/random.h"
#include "sim/numbers/softmax.h"
#include "viz/cli/command.h"
#include "viz/cli/score_options.h"

enum { SCORES_MAX = 4096, EXAMPLE_N = 8, EXAMPLE_D = 4, NORMAL_ROWS = 128, NORMAL_SEED = 1 };

typedef struct {
  OutputRequest output;
  double scores[SCORES_MAX];
  int64_t n, block;
  int64_t errors_N, seeds; /* errors_N 0: no table of errors */
  bool example;
  ScoreOptions with;
  int64_t normal, spread; /* so many normal scores in each of NORMAL_ROWS rows, of which the first is walked */
} SoftmaxOptions;

/* The worked example: one query against eight keys in two blocks of four. */
static const double EXAMPLE_Q[EXAMPLE_D] = {1, 0, 2, 1};
static const double EXAMPLE_K[EXAMPLE_N][EXAMPLE_D] = {{1, 1, 0, 0}, {0, 1, 1, 0}, {1, 0, 1, 1}, {0, 0, 1, 0},
                                                       {2, 1, 1, 1}, {0, 1, 0, 1}, {1, 1, 1, 0}, {0, 0, 0, 1}};
static const double EXAMPLE_V[EXAMPLE_N][EXAMPLE_D] = {{2, 1, 0, 3}, {1, 0, 1, 2}, {0, 2, 1, 1}, {3, 1, 0, 0},
                                                       {1, 3, 2, 0}, {0, 1, 0, 2}, {2, 0, 1, 1}, {1, 0, 0, 3}};

static Status set_scores(void *target, const char *value, Error *error) {
  SoftmaxOptions *o = target;
  o->n = 0;
  for (const char *p = value;; p++) {
    const size_t length = strcspn(p, ",");
    if (o->n == SCORES_MAX) return error_set(error, STATUS_TOO_LARGE, "more than %d scores", SCORES_MAX);
    const Status status = score_parse(p, length, &o->scores[o->n], error);
    if (status) return status;
    o->n++;
    if (!*(p += length)) return STATUS_OK;
  }
}

static Status set_rescale_above(void *target, const char *value, Error *error) {
  double *above = &((SoftmaxOptions *)target)->with.softmax.rescale_above;
  const Status status = score_parse(value, strlen(value), above, error);
  if (status || (*above > 0 && *above <= 64)) return status;
  return error_refuse(error,
                      "m may lag by more than 0 powers of two, and at most 64; %s is not; FlashAttention-4 has 8",
                      quote_text(value).text);
}

/* The whole walk: what each block did, and the result beside the reference. */
typedef struct {
  SoftmaxStep steps[SCORES_MAX];
  double O_after[SCORES_MAX][EXAMPLE_D]; /* only with values */
  int64_t n_steps;
  double P[SCORES_MAX];       /* the exponentials as they are stored, before anything is rescaled */
  double weights[SCORES_MAX]; /* what a value is multiplied by on its way into O: the stored P, rescaled, over l */
  double O[EXAMPLE_D], O_reference[EXAMPLE_D], reference[SCORES_MAX];
  int64_t n_infinite, n_nan, n_saturated; /* weights; exponentials stored as the largest number of the format */
  Accuracy accuracy;                      /* of the weights: of the whole computation */
  /* With normal scores, by block: of all rows, and of their warps; [0] where m is the largest score, [1] as asked. */
  int64_t rows_at[2][SCORES_MAX], warps_at[2][SCORES_MAX];
} Walk;

typedef struct {
  SoftmaxOptions options;
  Walk walk;
} SoftmaxCommand;

/* In one pass. A sink is one score more, of a key whose value is zero. */
static void reference(const SoftmaxOptions *o, const double *values, int64_t d, Walk *w) {
  double scores[SCORES_MAX + 1], padded[(EXAMPLE_N + 1) * EXAMPLE_D] = {0}, weights[SCORES_MAX + 1];
  const SoftmaxConfig *with = &o->with.softmax;
  memcpy(scores, o->scores, (size_t)o->n * sizeof *scores);
  scores[o->n] = with->sink;
  if (values) memcpy(padded, values, (size_t)(o->n * d) * sizeof *padded);
  softmax_reference(scores, o->n + with->has_sink, values ? padded : NULL, d, weights, values ? w->O_reference : NULL);
  memcpy(w->reference, weights, (size_t)o->n * sizeof *weights);
}

static void walk_softmax(const SoftmaxOptions *o, Walk *w) {
  const SoftmaxConfig config = o->with.softmax;
  const Precision accumulator = precision_accumulator(config.precision);
  const double *const values = o->example ? &EXAMPLE_V[0][0] : NULL;
  const int64_t d = o->example ? EXAMPLE_D : 0;
  SoftmaxState state = softmax_start(&config);
  for (int64_t first = 0; first < o->n; first += o->block) {
    const int64_t n = o->n - first < o->block ? o->n - first : o->block;
    const SoftmaxStep step = softmax_step(&config, &state, o->scores + first, n, values ? values + first * d : NULL, d,
                                          w->P + first, values ? w->O : NULL);
    w->steps[w->n_steps] = step;
    for (int64_t k = 0; k < first; k++) w->weights[k] = precision_computed(accumulator, w->weights[k] * step.factor);
    memcpy(w->weights + first, w->P + first, (size_t)n * sizeof *w->P);
    if (isfinite(precision_from_bits(config.precision, precision_format(config.precision)->overflow)))
      w->n_saturated += step.n_overflowed;
    memcpy(w->O_after[w->n_steps++], w->O, sizeof w->O);
  }
  for (int64_t k = 0; k < o->n; k++) {
    w->weights[k] = softmax_divide(&config, w->weights[k], state.l);
    w->n_infinite += isinf(w->weights[k]) != 0;
    w->n_nan += isnan(w->weights[k]) != 0;
  }
  if (values) softmax_finish(&config, &state, w->O, d);
  for (int lags = 0; lags < 2 && o->normal; lags++) {
    SoftmaxConfig of = config;
    if (!lags) of.rescale_above = 0;
    softmax_count_rescales(&of, NORMAL_ROWS, o->normal, o->block, (double)o->spread, NORMAL_SEED, w->rows_at[lags],
                           w->warps_at[lags]);
  }
  reference(o, values, d, w);
  accuracy_add(&w->accuracy, config.precision, w->weights, w->reference, o->n);
}

/* Four decimals where that says something, else a power of ten; a NaN has no sign. */
static Number shown(double value) {
  Number number;
  if (isnan(value))
    snprintf(number.text, sizeof number.text, "NaN");
  else if (fabs(value) < 1e6)
    snprintf(number.text, sizeof number.text, "%.4f", value);
  else
    number = number_double(value, 5);
  return number;
}

/* The next cell: numbers with commas between, sixteen of them at most. */
static void cell_vector(Table *t, const double *values, int64_t n, bool plain) {
  char text[512] = "";
  for (int64_t k = 0; k < n && k < 16; k++) {
    char number[32];
    snprintf(number, sizeof number, "%g", values[k]);
    text_add(text, sizeof text, "%s%s", k ? ", " : "", plain ? number : shown(values[k]).text);
  }
  table_format(t, ROLE_PLAIN, "%s%s", text, n > 16 ? ", ..." : "");
}

/* What too large a number becomes: "infinity" or, where the format saturates, "448". */
static Number overflow_text(Precision precision) {
  const double value = precision_from_bits(precision, precision_format(precision)->overflow);
  Number number = {"infinity"};
  return isinf(value) ? number : number_double(value, 5);
}

/* What a block does to l and O. */
static void cell_factor(Table *t, const SoftmaxOptions *o, const SoftmaxStep *s) {
  char said[96] = "1";
  TextRole role = ROLE_PLAIN;
  if (o->with.softmax.without_max || !isfinite(s->m_old)) {
    strcpy(said, "-"), role = ROLE_DIM;
  } else if (s->m_new != s->m_old) {
    snprintf(said, sizeof said, "e^(%.5g - %.5g) = %.4f", s->m_old, s->m_new, s->factor), role = ROLE_ACCENT;
  } else if (s->block_max > s->m_old) {
    snprintf(said, sizeof said, "1, m lags by 2^%.2f", (s->block_max - s->m_old) / log(2)), role = ROLE_WARN;
  }
  table_real(t, role, s->factor, said);
}

/* A line a block: what it does to m and l, and to O of the example. */
static void add_steps(Document *d, const SoftmaxOptions *o, const Walk *w) {
  Table *t = put_table(d, DOCUMENT_TABLES, NULL,
                       o->example ? "block>|;n|scores!;-|m>|rescale l and O by;factor|;block_sum|;l|"
                                    "O, not yet divided by l;-|;n_overflowed"
                                  : "block>|;n|scores!;-|m>|rescale l and O "
                                    "by;factor|;block_sum|l|;-|;n_overflowed");
  for (const SoftmaxStep *s = w->steps; s < w->steps + w->n_steps; s++) {
    const Number l = shown(s->l_new), l_old = shown(s->l_old), added = shown(s->block_sum);
    char m[32], sum[320];
    put_cells(t, "ii", s->block, s->n);
    cell_vector(t, o->scores + s->first, s->n, true);
    snprintf(m, sizeof m, "%.5g", s->m_new);
    table_real(t, ROLE_PLAIN, s->m_new, m);
    cell_factor(t, o, s);
    table_real(t, ROLE_PLAIN, s->block_sum, "");
    if (s->block == 0 || o->normal)
      snprintf(sum, sizeof sum, "%s", l.text);
    else if (s->factor == 1)
      snprintf(sum, sizeof sum, "%s + %s = %s", l_old.text, added.text, l.text);
    else
      snprintf(sum, sizeof sum, "%s x %.4f + %s = %s", l_old.text, s->factor, added.text, l.text);
    table_real(t, isfinite(s->l_new) ? ROLE_PLAIN : ROLE_BAD, s->l_new, sum);
    cell_vector(t, w->O_after[s - w->steps], o->example ? EXAMPLE_D : 0, false);
    put_cells(t, "i", s->n_overflowed);
  }
  for (const SoftmaxStep *s = w->steps; s < w->steps + w->n_steps; s++)
    if (s->n_overflowed)
      table_note(t, "Block %" PRId64 ": %" PRId64 " of %" PRId64 " exponentials exceed %s, stored as %s.", s->block,
                 s->n_overflowed, s->n, precision_format(o->with.softmax.precision)->name,
                 overflow_text(o->with.softmax.precision).text);
}

static void add_beside(Table *t, const char *name, const double *values, const double *in_one_pass, int64_t n) {
  put_cells(t, "s", name);
  cell_vector(t, values, n, false);
  put_cells(t, "~s", "one pass, fp64");
  cell_vector(t, in_one_pass, n, false);
}

static void add_result(Document *d, const SoftmaxOptions *o, const Walk *w) {
  const SoftmaxConfig *with = &o->with.softmax;
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "result| ~");
  add_beside(t, "weights", w->weights, w->reference, o->n);
  if (o->example) add_beside(t, "O", w->O, w->O_reference, EXAMPLE_D);
  if (w->n_infinite || w->n_nan)
    table_note(t, "%" PRId64 " of %" PRId64 " weights are infinite, %" PRId64 " are NaN%s.", w->n_infinite, o->n,
               w->n_nan, with->without_max ? ": this is what subtracting the maximum prevents" : "");
  if (w->n_saturated)
    table_note(
        t, "%" PRId64 " of %" PRId64 " exponentials are stored as %s, the largest %s: the weights do not add up to 1.",
        w->n_saturated, o->n, overflow_text(with->precision).text, precision_format(with->precision)->name);
  if (w->n_infinite || w->n_nan) return;
  table_text(t, ROLE_PLAIN, "error");
  table_format(t, ROLE_ACCENT, "RMSE %s, at most %s ulps of %s (P as stored, sums in fp32)",
               number_double(accuracy_rmse(&w->accuracy), 3).text, number_double(w->accuracy.largest_ulps, 3).text,
               precision_format(with->precision)->name);
}

static int64_t sum(const int64_t *values, int64_t n) {
  int64_t all = 0;
  for (int64_t k = 0; k < n; k++) all += values[k];
  return all;
}

/* Of the rows that --normal draws. */
static void add_rescales(Document *d, const SoftmaxOptions *o, const Walk *w) {
  const int64_t tiles = w->n_steps - 1, lags = o->with.softmax.rescale_above > 0;
  double expected = 0;
  for (int64_t j = 2; j <= w->n_steps; j++) expected += 1 / (double)j;
  document_line(d, ROLE_PLAIN,
                "%d rows rescale %" PRId64 " of %" PRId64 " times, warps %" PRId64 " of %" PRId64
                "; expected: %.3f a row.",
                NORMAL_ROWS, sum(w->rows_at[lags], w->n_steps), tiles * NORMAL_ROWS, sum(w->warps_at[lags], w->n_steps),
                tiles * NORMAL_ROWS / 32, expected);
  if (lags)
    document_line(d, ROLE_PLAIN, "With m the largest score they would %" PRId64 " times, the warps %" PRId64 ".",
                  sum(w->rows_at[0], w->n_steps), sum(w->warps_at[0], w->n_steps));
}

/* NULL: null. */
static void put_numbers(Document *d, const char *key, const double *values, int64_t n) {
  put_values(d, values ? "%[" : "%:0", key);
  for (int64_t k = 0; k < n && values; k++) put_values(d, ":F", values[k]);
  if (values) put_end(d);
}

static void put_block(Document *d, const SoftmaxOptions *o, const Walk *w, int64_t k) {
  const SoftmaxStep *s = &w->steps[k];
  put_values(d, "{");
  put_numbers(d, "scores", o->scores + s->first, s->n);
  put_numbers(d, "P", w->P + s->first, s->n);
  put_values(d, "m:F factor:F block_sum:F l:F", s->m_new, s->factor, s->block_sum, s->l_new);
  put_numbers(d, "O", o->example ? w->O_after[k] : NULL, EXAMPLE_D);
  put_values(d, "n_overflowed:i}", s->n_overflowed);
}

static void put_counts(Document *d, const char *key, const int64_t *values, int64_t n) {
  put_values(d, "%[", key);
  for (int64_t k = 0; k < n; k++) put_values(d, ":i", values[k]);
  put_end(d);
}

/* By block. */
static void put_rescales(Document *d, const SoftmaxOptions *o, const Walk *w) {
  put_values(d, "rescales{rows:n rescale_above:f", NORMAL_ROWS, o->with.softmax.rescale_above);
  for (int lags = 0; lags < 2; lags++) {
    put_counts(d, lags ? "lagging_rows_at" : "rows_at", w->rows_at[lags], w->n_steps);
    put_counts(d, lags ? "lagging_warps_at" : "warps_at", w->warps_at[lags], w->n_steps);
  }
  put_end(d);
}

static void put_walk(Document *d, const SoftmaxOptions *o, const Walk *w) {
  put_values(d, "precision:s subtracts_max:b blocks[", precision_format(o->with.softmax.precision)->name,
             !o->with.softmax.without_max);
  for (int64_t k = 0; k < w->n_steps; k++) put_block(d, o, w, k);
  put_end(d);
  put_numbers(d, "weights", w->weights, o->n);
  put_numbers(d, "reference", w->reference, o->n);
  put_numbers(d, "O", o->example ? w->O : NULL, EXAMPLE_D);
  put_values(d, "rmse:F max_ulps:F n_infinite:i n_nan:i n_saturated:i", accuracy_rmse(&w->accuracy),
             w->accuracy.largest_ulps, w->n_infinite, w->n_nan, w->n_saturated);
  if (o->normal)
    put_rescales(d, o, w);
  else
    put_values(d, "rescales:0");
}

/* FlashAttention-3's table of errors in FP16 and FP8, computed beside printed. */
enum { ERRORS_D = 128, QUERIES = 64, ERRORS_N_MAX = 65536 };

static Status add_errors(Document *d, int64_t N, int64_t seeds, Error *error) {
  if (N > ERRORS_N_MAX)
    return error_set(error, STATUS_TOO_LARGE, "--errors: %" PRId64 " keys take too long; %d at most", N, ERRORS_N_MAX);
  const QuantisedShape shape = {N, ERRORS_D, N < QUERIES ? N : QUERIES};
  Accuracy errors[QUANTISED_ROWS] = {0};
  for (int64_t seed = 1; seed <= seeds; seed++)
    if (quantised_errors(&shape, (uint64_t)seed, errors, error)) return error->status;
  put_values(d, "seq_len:i head_dim:i queries:i seeds:i", shape.N, shape.d, shape.queries, seeds);
  Table *t = put_table(d, DOCUMENT_ALL, "errors", "Q, K, V in&name|RMSE of O>&rmse|printed>&printed_rmse|off>=off");
  table_title(t, "Error of attention, computed beside FlashAttention-3's table 3");
  for (int k = 0; k < QUANTISED_ROWS; k++) {
    const double rmse = accuracy_rmse(&errors[k]), printed = QUANTISED_TABLE[k].printed_rmse;
    table_text(t, ROLE_PLAIN, QUANTISED_TABLE[k].name);
    char text[2][16];
    snprintf(text[0], sizeof text[0], "%.2e", rmse);
    snprintf(text[1], sizeof text[1], "%.1e", printed);
    table_real(t, ROLE_ACCENT, rmse, text[0]);
    table_real(t, ROLE_PLAIN, printed, text[1]);
    table_number(t, ROLE_DIM, number_percent, rmse / printed - 1);
  }
  table_note(t,
             "Inputs: N(0, 1) + N(0, 100) x Bernoulli(0.001). N = %" PRId64 ", d = %d, %" PRId64
             " queries of each of %s. N and d of the printed table are unknown; rare rows make most of "
             "the error: more --seeds, less spread.",
             shape.N, ERRORS_D, shape.queries, number_of(wide(seeds), "seed").text);
  return STATUS_OK;
}

static Status complete(SoftmaxOptions *o, Error *error) {
  const SoftmaxConfig *with = &o->with.softmax;
  if (o->errors_N) return STATUS_OK;
  if (o->normal && !o->spread) o->spread = 1;
  for (o->n = o->normal ? 0 : o->n; o->n < o->normal; o->n++)
    o->scores[o->n] = (double)o->spread * random_normal(NORMAL_SEED, 0, (uint64_t)o->n);
  if (!o->example && !o->n) return error_refuse(error, "no scores; give --scores 3,1,2,4,5,1,3,1 or --example");
  if (o->example) {
    o->n = EXAMPLE_N;
    for (int k = 0; k < EXAMPLE_N; k++)
      for (int c = 0; c < EXAMPLE_D; c++) o->scores[k] += EXAMPLE_Q[c] * EXAMPLE_K[k][c];
  }
  for (int64_t k = 0; k < o->n && with->softcap > 0; k++)
    o->scores[k] = softmax_capped(with->precision, o->scores[k], with->softcap);
  if (o->block == 0) o->block = 4;
  if (o->block > o->n) o->block = o->n;
  return STATUS_OK;
}

static void add_text(Document *d, const SoftmaxOptions *o, const Walk *w) {
  const SoftmaxConfig *with = &o->with.softmax;
  const SoftmaxStep *last = &w->steps[w->n_steps - 1];
  document_line(d, ROLE_ACCENT, "%s: m = %.5g, l = %s.", number_of(wide(w->n_steps), "block").text, last->m_new,
                shown(last->l_new).text);
  if (o->normal) add_rescales(d, o, w);
  if (o->example)
    document_line(d, ROLE_PLAIN, "q = (1, 0, 2, 1) against 8 keys, d = 4, scores q k without the factor 1/sqrt(d)");
  if (with->softcap > 0)
    document_line(d, ROLE_PLAIN, "Scores are capped: %g tanh(score / %g).", with->softcap, with->softcap);
  if (with->has_sink)
    document_line(d, ROLE_PLAIN, "A sink: before the first block m = %g and l = %g, and O has nothing.",
                  w->steps[0].m_old, w->steps[0].l_old);
  add_steps(d, o, w);
  document_gap(d);
  add_result(d, o, w);
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  SoftmaxCommand *c = options;
  (void)io;
  const Status status = complete(&c->options, error);
  if (status) return status;
  if (c->options.errors_N) return add_errors(d, c->options.errors_N, c->options.seeds, error);
  walk_softmax(&c->options, &c->walk);
  put_walk(d, &c->options, &c->walk);
  add_text(d, &c->options, &c->walk);
  return STATUS_OK;
}

static void defaults(void *options) {
  ((SoftmaxOptions *)options)->with.softmax.precision = PRECISION_FP32;
  ((SoftmaxOptions *)options)->seeds = 1;
}

static const Option SOFTMAX_OPTIONS[] = {
    OPTION_ROW("scores", "LIST", "One row of scores, separated by commas; -inf is a masked one.", .set = set_scores),
    OPTION_ROW("block", "B", "Scores in a block. Default 4.", OPTION_COUNT(SoftmaxOptions, block)),
    OPTION_SWITCH("no-max", "Do not subtract the maximum: e^x overflows as it would on a GPU.",
                  OPTION_FLAG(SoftmaxOptions, with.softmax.without_max)),
    OPTION_ROW("rescale-above", "POWER",
               "m stays, and nothing is rescaled, until an exponential would exceed 2^POWER (FlashAttention-4 has 8).",
               .set = set_rescale_above),
    OPTION_ROW("normal", "COUNT",
               "So many normal scores, of mean 0; and how many of 128 such rows rescale at each block.",
               OPTION_NUMBER(SoftmaxOptions, normal, "the number of scores", 2, SCORES_MAX)),
    OPTION_ROW("spread", "SD", "Standard deviation of --normal's scores. Default 1.",
               OPTION_NUMBER(SoftmaxOptions, spread, "the standard deviation", 1, 1000)),
    OPTION_SWITCH("example", "The worked example: one query, eight keys and values in two blocks.",
                  OPTION_FLAG(SoftmaxOptions, example)),
    OPTION_ROW("errors", "N",
               "Of attention over N keys, inputs with outliers: how far O is from fp64 in FP16 and FP8, with one scale "
               "or one a block, rotated (incoherent processing) or not, beside FlashAttention-3's table 3.",
               OPTION_COUNT(SoftmaxOptions, errors_N)),
    OPTION_ROW("seeds", "COUNT", "For --errors: how many draws of Q, K and V. Default 1.",
               OPTION_NUMBER(SoftmaxOptions, seeds, "the count", 1, 64)),
    {0},
};

static const OptionSet SETS[] = {
    {"Softmax", SOFTMAX_OPTIONS, 0},
    {"Scores", SCORE_OPTIONS, offsetof(SoftmaxOptions, with)},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(SoftmaxOptions, output)},
    {0},
};

const Command COMMAND_SOFTMAX = {
    .name = "softmax",
    .group = "ask",
    .first = "scores block precision no-max sink softcap rescale-above normal",
    .summary = "online softmax on given scores, block by block",
    .usage = "--scores LIST | --normal COUNT | --example | --errors N [OPTION...]",
    .description = "Takes one row of scores block by block as a kernel does, with the running maximum m and sum l, and "
                   "compares the weights with one pass in fp64. Scores may be listed, drawn or those of an example.",
    .examples = "  # a second block with a larger maximum: watch the factor\n"
                "  tilewalk softmax --scores 3,1,2,4,5,1,3,1 --block 4\n\n"
                "  # with keys and values, worked through\n"
                "  tilewalk softmax --example\n\n"
                "  # gpt-oss: a sink takes a part of the weight\n"
                "  tilewalk softmax --scores 3,1,2,4 --sink 4\n\n"
                "  # conditional rescale, as FlashAttention-4 has it\n"
                "  tilewalk softmax --normal 4096 --block 128 --rescale-above 8\n\n"
                "  # what happens without subtracting the maximum\n"
                "  tilewalk softmax --scores 80,85,90,100 --block 2 --no-max\n\n"
                "  # what FP8 costs, what scales of blocks and a rotation give back\n"
                "  tilewalk softmax --errors 4K --seeds 2\n",
    .options_bytes = sizeof(SoftmaxCommand),
    .sets = SETS,
    .apart = "errors ! scores example normal spread rescale-above block no-max sink softcap precision; "
             "normal ! scores example sink softcap no-max; rescale-above ! no-max; example ! scores; "
             "seeds + errors; spread + normal",
    .defaults = defaults,
    .answer = answer,
};
