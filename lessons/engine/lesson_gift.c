#include "lessons/engine/lesson_gift.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Its special characters take a backslash; a run of blanks is one. "->" would make a pair of what
 * stands on its sides. */
static void put_gift(FILE *out, const char *text) {
  for (; *text; text++) {
    if ((*text == ' ' || *text == '\n') && (text[1] == ' ' || text[1] == '\n')) continue;
    if (text[0] == '-' && text[1] == '>') {
      fputs("\xe2\x86\x92", out);
      text++;
      continue;
    }
    if (strchr("~=#{}:\\", *text)) fputc('\\', out);
    fputc(*text == '\n' ? ' ' : *text, out);
  }
}

/* Up to ten digits, without an exponent, which the format does not know. */
static void put_number(FILE *out, double value, int digits) {
  char text[400];
  const int whole = value == 0 ? 1 : (int)floor(log10(fabs(value))) + 1;
  const int decimals = digits - whole;
  snprintf(text, sizeof text, "%.*f", decimals > 0 ? (decimals < 60 ? decimals : 60) : 0, value);
  if (strchr(text, '.')) {
    char *end = text + strlen(text);
    while (end[-1] == '0') *--end = '\0';
    if (end[-1] == '.') *--end = '\0';
  }
  fputs(strcmp(text, "-0") == 0 ? "0" : text, out);
}

static void put_range(FILE *out, double value, double tolerance) {
  put_number(out, value, 10);
  fputc(':', out);
  put_number(out, tolerance, 6);
}

/* How far off a value may be, in the question's unit. Moodle knows no digits: half a percent stands
 * for them. */
static double gift_tolerance(const AnswerKey *key, double value) {
  const double typed = fabs(value / key->unit.factor);
  switch (key->tolerance.kind) {
  case TOLERANCE_OFF: return key->tolerance.amount;
  case TOLERANCE_PART: return key->tolerance.amount * typed;
  case TOLERANCE_EXACT: return 0;
  default: return key->unit.dimension == ANSWER_PLAIN && value == floor(value) ? 0 : 0.005 * typed;
  }
}

/* The same for the right answer, but not as far as a known wrong one. */
static double right_tolerance(const LessonQuestion *q, const LessonAsk *ask, double middle) {
  const double factor = q->key.unit.factor, half = 0.5 * (q->key.high - q->key.low);
  double tolerance = half > 0 ? half / factor : gift_tolerance(&q->key, middle);
  for (int k = 0; k < ask->n_wrong; k++)
    if (q->wrong[k].is_known) tolerance = fmin(tolerance, 0.45 * fabs(q->wrong[k].value - middle) / factor);
  return tolerance;
}

static Status gift_diagnosis(LessonRun *run, const LessonAsk *ask, int k, char text[LESSON_MESSAGE_BYTES],
                             Error *error) {
  return lesson_run_fill(run, ask->wrong[k].text, text, LESSON_MESSAGE_BYTES, error);
}

static Status gift_number(LessonRun *run, const LessonQuestion *q, char text[LESSON_MESSAGE_BYTES], FILE *out,
                          Error *error) {
  const LessonAsk *ask = &run->lesson->asks[q->ask];
  const double factor = q->key.unit.factor, middle = 0.5 * (q->key.low + q->key.high);
  fputs("#\n  =", out);
  put_range(out, middle / factor, right_tolerance(q, ask, middle));
  fputc('\n', out);
  for (int k = 0; k < ask->n_wrong; k++) {
    if (!q->wrong[k].is_known) continue;
    const Status status = gift_diagnosis(run, ask, k, text, error);
    if (status) return status;
    fputs("  =%0%", out);
    put_range(out, q->wrong[k].value / factor,
              fmin(gift_tolerance(&q->key, q->wrong[k].value), 0.45 * fabs(q->wrong[k].value - middle) / factor));
    fputc('#', out);
    put_gift(out, text);
    fputc('\n', out);
  }
  return STATUS_OK;
}

static Status gift_choice(LessonRun *run, const LessonQuestion *q, char text[LESSON_MESSAGE_BYTES], FILE *out,
                          Error *error) {
  const LessonAsk *ask = &run->lesson->asks[q->ask];
  fputc('\n', out);
  for (int p = 0; p < q->n_choices; p++) {
    fprintf(out, "  %c", p == q->right ? '=' : '~');
    put_gift(out, q->choice[p]);
    for (int k = 0; k < ask->n_wrong; k++) {
      if (!q->wrong[k].is_known || q->wrong[k].choice != p) continue;
      const Status status = gift_diagnosis(run, ask, k, text, error);
      if (status) return status;
      fputc('#', out);
      put_gift(out, text);
    }
    fputc('\n', out);
  }
  return STATUS_OK;
}

/* Of two items the first is chosen: Moodle wants three pairs. */
static void gift_first(const LessonQuestion *q, FILE *out) {
  for (int p = 0; p < q->n_choices; p++) {
    fprintf(out, "  %c", q->rank[p] <= q->rank[1 - p] ? '=' : '~');
    put_gift(out, q->choice[p]);
    fputs(" (comes first)\n", out);
  }
}

/* Items are matched with their places. */
static void gift_order(const LessonQuestion *q, FILE *out) {
  fputc('\n', out);
  if (q->n_choices == 2) {
    gift_first(q, out);
    return;
  }
  for (int p = 0; p < q->n_choices; p++) {
    int place = 1;
    for (int other = 0; other < q->n_choices; other++)
      place += q->rank[other] < q->rank[p] || (q->rank[other] == q->rank[p] && other < p);
    fputs("  =", out);
    put_gift(out, q->choice[p]);
    fprintf(out, " -> %d\n", place);
  }
}

static Status gift_question(LessonRun *run, int index, LessonQuestion *q, FILE *out, Error *error) {
  const LessonAsk *ask = &run->lesson->asks[index];
  char *text = malloc(LESSON_MESSAGE_BYTES);
  if (!text) return error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  Status status = lesson_run_question(run, index, q, error);
  if (!status) {
    fprintf(out, "::%s::[plain]", ask->id); /* neither HTML nor Markdown */
    put_gift(out, q->prompt);
    if (*ask->unit.name) {
      fputs(" (in ", out);
      put_gift(out, ask->unit.name);
      fputc(')', out);
    }
    fputs(" {", out);
    if (ask->kind == LESSON_NUMBER)
      status = gift_number(run, q, text, out, error);
    else if (ask->kind == LESSON_CHOICE)
      status = gift_choice(run, q, text, out, error);
    else
      gift_order(q, out);
  }
  if (!status) status = lesson_run_explain(run, q, text, LESSON_MESSAGE_BYTES, error);
  if (!status && *text) {
    fputs("  ####", out);
    put_gift(out, text);
    fputc('\n', out);
  }
  if (!status) fputs("}\n\n", out);
  free(text);
  return status;
}

Status lesson_export_gift(const Lesson *lesson, const ExpressionLimits *limits, uint64_t seed, FILE *out,
                          Error *error) {
  LessonRun run;
  LessonQuestion *q = malloc(sizeof *q);
  if (!q) return error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  Status status = lesson_run_start(&run, lesson, limits, seed, error);
  if (!status) {
    fprintf(out, "// %s, seed %" PRIu64 "\n$CATEGORY: Tilewalk/%s\n\n", lesson_text(lesson, lesson->title), seed,
            lesson->name);
    for (size_t k = 0; k < lesson->n_asks && !status; k++) /* no such system takes a file */
      if (lesson->asks[k].kind != LESSON_WORK) status = gift_question(&run, (int)k, q, out, error);
    lesson_run_end(&run);
  }
  free(q);
  return status;
}
