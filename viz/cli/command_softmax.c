/* tilewalk softmax: online softmax on one row of scores, step by step. */

#include "sim/numbers/quantised.h"
#include "sim/base/text_add.h"
#include "sim/base/random.h"
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

  /* The whole walk: what each block did, and the result beside the reference. */
  SoftmaxStep steps[SCORES_MAX];
  int64_t n_steps, d;                    /* d of the example's values; 0: there are none, and no O */
  double O_after[SCORES_MAX][EXAMPLE_D]; /* not yet divided */
  double P[SCORES_MAX];                  /* the exponentials as they are stored, before anything is rescaled */
  double weights[SCORES_MAX]; /* what a value is multiplied by on its way into O: the stored P, rescaled, over l */
  double O[EXAMPLE_D], O_reference[EXAMPLE_D], reference[SCORES_MAX];
  int64_t n_infinite, n_nan, n_saturated; /* weights; exponentials stored as the largest number of the format */
  Accuracy accuracy;                      /* of the weights: of the whole computation */
  /* With normal scores, by block: of all rows, and of their warps; [0] where m is the largest score, [1] as asked. */
  int64_t rows_at[2][SCORES_MAX], warps_at[2][SCORES_MAX];
} Softmax;

/* The worked example: one query against eight keys in two blocks of four. */
static const double EXAMPLE_Q[EXAMPLE_D] = {1, 0, 2, 1};
static const double EXAMPLE_K[EXAMPLE_N][EXAMPLE_D] = {{1, 1, 0, 0}, {0, 1, 1, 0}, {1, 0, 1, 1}, {0, 0, 1, 0},
                                                       {2, 1, 1, 1}, {0, 1, 0, 1}, {1, 1, 1, 0}, {0, 0, 0, 1}};
static const double EXAMPLE_V[EXAMPLE_N + 1][EXAMPLE_D] = {{2, 1, 0, 3}, {1, 0, 1, 2}, {0, 2, 1, 1}, {3, 1, 0, 0},
                                                           {1, 3, 2, 0}, {0, 1, 0, 2}, {2, 0, 1, 1}, {1, 0, 0, 3}};

static Status set_scores(void *target, const char *value, Error *error) {
  Softmax *s = target;
  size_t length;
  s->n = 0;
  for (const char *p = value;; p += length + 1) {
    length = strcspn(p, ",");
    if (s->n == SCORES_MAX) return error_set(error, STATUS_TOO_LARGE, "more than %d scores", SCORES_MAX);
    if (score_parse(p, length, &s->scores[s->n++], error)) return error->status;
    if (!p[length]) return STATUS_OK;
  }
}

static Status set_rescale_above(void *target, const char *value, Error *error) {
  double *above = &((Softmax *)target)->with.softmax.rescale_above;
  const Status status = score_parse(value, strlen(value), above, error);
  if (status || (*above > 0 && *above <= 64)) return status;
  return error_refuse(error,
                      "m may lag by more than 0 powers of two, and at most 64; %s is not; FlashAttention-4 has 8",
                      quote_text(value).text);
}

/* What too large a number becomes: infinity, or the largest where the format saturates. */
static double overflow_of(const SoftmaxConfig *config) {
  return precision_from_bits(config->precision, precision_format(config->precision)->overflow);
}

/* Beside one pass: a sink is one score more, of a key whose value is zero. */
static void walk(Softmax *s) {
  const SoftmaxConfig *config = &s->with.softmax;
  const Precision accumulator = precision_accumulator(config->precision);
  const bool saturates = isfinite(overflow_of(config));
  double scores[SCORES_MAX + 1], weights[SCORES_MAX + 1];
  SoftmaxState state = softmax_start(config);
  for (int64_t first = 0; first < s->n; first += s->block) {
    const int64_t n = min64(s->n - first, s->block);
    const SoftmaxStep step =
        softmax_step(config, &state, s->scores + first, n, *EXAMPLE_V + first * s->d, s->d, s->P + first, s->O);
    s->steps[s->n_steps] = step;
    for (int64_t k = 0; k < first; k++) s->weights[k] = precision_computed(accumulator, s->weights[k] * step.factor);
    memcpy(s->weights + first, s->P + first, (size_t)n * sizeof *s->P);
    s->n_saturated += saturates ? step.n_overflowed : 0;
    memcpy(s->O_after[s->n_steps++], s->O, sizeof s->O);
  }
  for (int64_t k = 0; k < s->n; k++) {
    s->weights[k] = softmax_divide(config, s->weights[k], state.l);
    s->n_infinite += isinf(s->weights[k]) != 0;
    s->n_nan += isnan(s->weights[k]) != 0;
  }
  softmax_finish(config, &state, s->O, s->d);
  for (int lags = 0; lags < 2 && s->normal; lags++) {
    SoftmaxConfig of = *config;
    if (!lags) of.rescale_above = 0;
    softmax_count_rescales(&of, NORMAL_ROWS, s->normal, s->block, (double)s->spread, NORMAL_SEED, s->rows_at[lags],
                           s->warps_at[lags]);
  }
  memcpy(scores, s->scores, sizeof s->scores);
  scores[s->n] = config->sink;
  softmax_reference(scores, s->n + config->has_sink, *EXAMPLE_V, s->d, weights, s->O_reference);
  memcpy(s->reference, weights, sizeof s->reference);
  accuracy_add(&s->accuracy, config->precision, s->weights, s->reference, s->n);
}

/* Four decimals where that says something, else a power of ten; a NaN has no sign. */
static Number shown(double value) {
  return isnan(value) ? number_text("NaN") : fabs(value) < 1e6 ? number_text("%.4f", value) : number_double(value, 5);
}

/* The next cell: numbers with commas between, sixteen of them at most. */
static void cell_vector(Table *t, const double *values, int64_t n, bool plain) {
  char text[512] = "";
  for (int64_t k = 0; k < n && k < 16; k++)
    text_add(text, sizeof text, "%s%s", k ? ", " : "", (plain ? number_text("%g", values[k]) : shown(values[k])).text);
  table_format(t, ROLE_PLAIN, "%s%s", text, n > 16 ? ", ..." : "");
}

/* "infinity" or, where the format saturates, "448". */
static Number overflow_text(const SoftmaxConfig *config) {
  const double value = overflow_of(config);
  return isinf(value) ? number_text("infinity") : number_double(value, 5);
}

/* What a block does to l and O. */
static void cell_factor(Table *t, const SoftmaxConfig *with, const SoftmaxStep *s) {
  Number said = {"1"};
  TextRole role = ROLE_PLAIN;
  if (with->without_max || !isfinite(s->m_old))
    said = number_text("-"), role = ROLE_DIM;
  else if (s->m_new != s->m_old)
    said = number_text("e^(%.5g - %.5g) = %.4f", s->m_old, s->m_new, s->factor), role = ROLE_ACCENT;
  else if (s->block_max > s->m_old)
    said = number_text("1, m lags by 2^%.2f", (s->block_max - s->m_old) / log(2)), role = ROLE_WARN;
  table_real(t, role, s->factor, said.text);
}

/* A line a block: what it does to m and l, and to O of the example. */
static void add_steps(Document *d, const Softmax *x) {
  Table *t = put_table(d, DOCUMENT_TABLES, NULL,
                       x->example ? "block>|;n|scores!;-|m>|rescale l and O by;factor|;block_sum|;l|"
                                    "O, not yet divided by l;-|;n_overflowed"
                                  : "block>|;n|scores!;-|m>|rescale l and O "
                                    "by;factor|;block_sum|l|;-|;n_overflowed");
  for (const SoftmaxStep *s = x->steps; s < x->steps + x->n_steps; s++) {
    const Number l = shown(s->l_new), l_old = shown(s->l_old), added = shown(s->block_sum);
    char sum[4 * NUMBER_CHARS];
    put_cells(t, "ii", s->block, s->n);
    cell_vector(t, x->scores + s->first, s->n, true);
    table_real(t, ROLE_PLAIN, s->m_new, number_text("%.5g", s->m_new).text);
    cell_factor(t, &x->with.softmax, s);
    table_real(t, ROLE_PLAIN, s->block_sum, "");
    if (s->block == 0 || x->normal)
      snprintf(sum, sizeof sum, "%s", l.text);
    else if (s->factor == 1)
      snprintf(sum, sizeof sum, "%s + %s = %s", l_old.text, added.text, l.text);
    else
      snprintf(sum, sizeof sum, "%s x %.4f + %s = %s", l_old.text, s->factor, added.text, l.text);
    table_real(t, isfinite(s->l_new) ? ROLE_PLAIN : ROLE_BAD, s->l_new, sum);
    cell_vector(t, x->O_after[s - x->steps], x->d, false);
    put_cells(t, "i", s->n_overflowed);
    if (s->n_overflowed)
      table_note(t, "Block %jd: %jd of %jd exponentials exceed %s, stored as %s.", s->block, s->n_overflowed, s->n,
                 precision_format(x->with.softmax.precision)->name, overflow_text(&x->with.softmax).text);
  }
}

static void add_beside(Table *t, const char *name, const double *values, const double *in_one_pass, int64_t n) {
  put_cells(t, "s", name);
  cell_vector(t, values, n, false);
  put_cells(t, "~s", "one pass, fp64");
  cell_vector(t, in_one_pass, n, false);
}

static void add_result(Document *d, const Softmax *s) {
  const SoftmaxConfig *with = &s->with.softmax;
  const char *format = precision_format(with->precision)->name;
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "result| ~");
  add_beside(t, "weights", s->weights, s->reference, s->n);
  if (s->example) add_beside(t, "O", s->O, s->O_reference, EXAMPLE_D);
  if (s->n_infinite || s->n_nan)
    table_note(t, "%jd of %jd weights are infinite, %jd are NaN%s.", s->n_infinite, s->n, s->n_nan,
               with->without_max ? ": this is what subtracting the maximum prevents" : "");
  if (s->n_saturated)
    table_note(t, "%jd of %jd exponentials are stored as %s, the largest %s: the weights do not add up to 1.",
               s->n_saturated, s->n, overflow_text(with).text, format);
  if (s->n_infinite || s->n_nan) return;
  table_text(t, ROLE_PLAIN, "error");
  table_format(t, ROLE_ACCENT, "RMSE %s, at most %s ulps of %s (P as stored, sums in fp32)",
               number_double(accuracy_rmse(&s->accuracy), 3).text, number_double(s->accuracy.largest_ulps, 3).text,
               format);
}

static int64_t sum(const int64_t *values, int64_t n) {
  int64_t all = 0;
  for (int64_t k = 0; k < n; k++) all += values[k];
  return all;
}

/* Of the rows that --normal draws. */
static void add_rescales(Document *d, const Softmax *s) {
  const int64_t tiles = s->n_steps - 1, lags = s->with.softmax.rescale_above > 0;
  double expected = 0;
  for (int64_t j = 2; j <= s->n_steps; j++) expected += 1 / (double)j;
  document_line(d, ROLE_PLAIN, "%d rows rescale %jd of %jd times, warps %jd of %jd; expected: %.3f a row.", NORMAL_ROWS,
                sum(s->rows_at[lags], s->n_steps), tiles * NORMAL_ROWS, sum(s->warps_at[lags], s->n_steps),
                tiles * NORMAL_ROWS / 32, expected);
  if (lags)
    document_line(d, ROLE_PLAIN, "With m the largest score they would %jd times, the warps %jd.",
                  sum(s->rows_at[0], s->n_steps), sum(s->warps_at[0], s->n_steps));
}

static void put_walk(Document *d, const Softmax *s) {
  put_values(d, "precision:s subtracts_max:b blocks[", precision_format(s->with.softmax.precision)->name,
             !s->with.softmax.without_max);
  for (const SoftmaxStep *step = s->steps; step < s->steps + s->n_steps; step++)
    put_values(d, "{scores*F P*F m:F factor:F block_sum:F l:F O*F n_overflowed:i}", s->scores + step->first, step->n,
               s->P + step->first, step->n, step->m_new, step->factor, step->block_sum, step->l_new,
               s->example ? s->O_after[step - s->steps] : NULL, s->d, step->n_overflowed);
  put_values(d, "] weights*F reference*F O*F rmse:F max_ulps:F n_infinite:i n_nan:i n_saturated:i", s->weights, s->n,
             s->reference, s->n, s->example ? s->O : NULL, s->d, accuracy_rmse(&s->accuracy), s->accuracy.largest_ulps,
             s->n_infinite, s->n_nan, s->n_saturated);
  if (s->normal) /* by block */
    put_values(d, "rescales{rows:n rescale_above:f rows_at*i warps_at*i lagging_rows_at*i lagging_warps_at*i}",
               NORMAL_ROWS, s->with.softmax.rescale_above, s->rows_at[0], s->n_steps, s->warps_at[0], s->n_steps,
               s->rows_at[1], s->n_steps, s->warps_at[1], s->n_steps);
  else
    put_values(d, "rescales:0");
}

/* FlashAttention-3's table of errors in FP16 and FP8, computed beside printed. */
enum { ERRORS_D = 128, QUERIES = 64, ERRORS_N_MAX = 65536 };

static Status add_errors(Document *d, int64_t N, int64_t seeds, Error *error) {
  if (N > ERRORS_N_MAX)
    return error_set(error, STATUS_TOO_LARGE, "--errors: %jd keys take too long; %d at most", N, ERRORS_N_MAX);
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
    table_real(t, ROLE_ACCENT, rmse, number_text("%.2e", rmse).text);
    table_real(t, ROLE_PLAIN, printed, number_text("%.1e", printed).text);
    table_number(t, ROLE_DIM, number_percent, rmse / printed - 1);
  }
  table_note(t,
             "Inputs: N(0, 1) + N(0, 100) x Bernoulli(0.001). N = %jd, d = %d, %jd "
             "queries of each of %s. N and d of the printed table are unknown; rare rows make most of "
             "the error: more --seeds, less spread.",
             shape.N, ERRORS_D, shape.queries, number_of(wide(seeds), "seed").text);
  return STATUS_OK;
}

static Status complete(Softmax *s, Error *error) {
  const SoftmaxConfig *with = &s->with.softmax;
  if (s->normal && !s->spread) s->spread = 1;
  for (s->n = s->normal ? 0 : s->n; s->n < s->normal; s->n++)
    s->scores[s->n] = (double)s->spread * random_normal(NORMAL_SEED, 0, (uint64_t)s->n);
  for (; s->example && s->n < EXAMPLE_N; s->n++)
    for (s->d = 0; s->d < EXAMPLE_D; s->d++) s->scores[s->n] += EXAMPLE_Q[s->d] * EXAMPLE_K[s->n][s->d];
  if (!s->n) return error_refuse(error, "no scores; give --scores 3,1,2,4,5,1,3,1 or --example");
  for (int64_t k = 0; k < s->n && with->softcap > 0; k++)
    s->scores[k] = softmax_capped(with->precision, s->scores[k], with->softcap);
  s->block = min64(s->block ? s->block : 4, s->n);
  return STATUS_OK;
}

static void add_text(Document *d, const Softmax *s) {
  const SoftmaxConfig *with = &s->with.softmax;
  const SoftmaxStep *last = &s->steps[s->n_steps - 1];
  document_line(d, ROLE_ACCENT, "%s: m = %.5g, l = %s.", number_of(wide(s->n_steps), "block").text, last->m_new,
                shown(last->l_new).text);
  if (s->normal) add_rescales(d, s);
  if (s->example)
    document_line(d, ROLE_PLAIN, "q = (1, 0, 2, 1) against 8 keys, d = 4, scores q k without the factor 1/sqrt(d)");
  if (with->softcap > 0)
    document_line(d, ROLE_PLAIN, "Scores are capped: %g tanh(score / %g).", with->softcap, with->softcap);
  if (with->has_sink)
    document_line(d, ROLE_PLAIN, "A sink: before the first block m = %g and l = %g, and O has nothing.",
                  s->steps[0].m_old, s->steps[0].l_old);
  add_steps(d, s);
  document_gap(d);
  add_result(d, s);
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  Softmax *s = options;
  (void)io;
  if (s->errors_N) return add_errors(d, s->errors_N, s->seeds, error);
  if (complete(s, error)) return error->status;
  walk(s);
  put_walk(d, s);
  add_text(d, s);
  return STATUS_OK;
}

static void defaults(void *options) {
  Softmax *s = options;
  s->with.softmax.precision = PRECISION_FP32;
  s->seeds = 1;
}

static const Option SOFTMAX_OPTIONS[] = {
    OPTION_ROW("scores", "LIST", "One row of scores, separated by commas; -inf is a masked one.", .set = set_scores),
    OPTION_ROW("block", "B", "Scores in a block. Default 4.", OPTION_COUNT(Softmax, block)),
    OPTION_SWITCH("no-max", "Do not subtract the maximum: e^x overflows as it would on a GPU.",
                  OPTION_FLAG(Softmax, with.softmax.without_max)),
    OPTION_ROW("rescale-above", "POWER",
               "m stays, and nothing is rescaled, until an exponential would exceed 2^POWER (FlashAttention-4 has 8).",
               .set = set_rescale_above),
    OPTION_ROW("normal", "COUNT",
               "So many normal scores, of mean 0; and how many of 128 such rows rescale at each block.",
               OPTION_NUMBER(Softmax, normal, "the number of scores", 2, SCORES_MAX)),
    OPTION_ROW("spread", "SD", "Standard deviation of --normal's scores. Default 1.",
               OPTION_NUMBER(Softmax, spread, "the standard deviation", 1, 1000)),
    OPTION_SWITCH("example", "The worked example: one query, eight keys and values in two blocks.",
                  OPTION_FLAG(Softmax, example)),
    OPTION_ROW("errors", "N",
               "Of attention over N keys, inputs with outliers: how far O is from fp64 in FP16 and FP8, with one scale "
               "or one a block, rotated (incoherent processing) or not, beside FlashAttention-3's table 3.",
               OPTION_COUNT(Softmax, errors_N)),
    OPTION_ROW("seeds", "COUNT", "For --errors: how many draws of Q, K and V. Default 1.",
               OPTION_NUMBER(Softmax, seeds, "the count", 1, 64)),
    {0},
};

static const OptionSet SETS[] = {
    {"Softmax", SOFTMAX_OPTIONS, 0},
    {"Scores", SCORE_OPTIONS, offsetof(Softmax, with)},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(Softmax, output)},
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
    .options_bytes = sizeof(Softmax),
    .sets = SETS,
    .apart = "errors ! scores example normal spread rescale-above block no-max sink softcap precision; "
             "normal ! scores example sink softcap no-max; rescale-above ! no-max; example ! scores; "
             "seeds + errors; spread + normal",
    .defaults = defaults,
    .answer = answer,
};
