/* Questions made ready for other systems. Part of lessons/engine/lesson_export.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/lesson_export_inner.h"

/* How far off a value may be, in the question's unit. Others know no digits: half a percent stands for them. */
static double tolerance_of(const AnswerKey *key, double value) {
  const double typed = fabs(value / key->unit.factor);
  switch (key->tolerance.kind) {
  case TOLERANCE_OFF: return key->tolerance.amount;
  case TOLERANCE_PART: return key->tolerance.amount * typed;
  case TOLERANCE_EXACT: return 0;
  default: return key->unit.dimension == ANSWER_PLAIN && value == floor(value) ? 0 : 0.005 * typed;
  }
}

/* Numbers: the right one is not as wide as to take in a known wrong one. */
static void set_numbers(ExportItem *item) {
  const LessonQuestion *q = &item->q;
  const double factor = q->key.unit.factor, middle = 0.5 * (q->key.low + q->key.high),
               half = 0.5 * (q->key.high - q->key.low);
  item->value = middle / factor;
  item->tolerance = half > 0 ? half / factor : tolerance_of(&q->key, middle);
  for (int k = 0; k < item->n_wrong; k++) {
    const double apart = 0.45 * fabs(item->wrong[k] - item->value);
    item->tolerance = fmin(item->tolerance, apart);
    item->wrong_tolerance[k] = fmin(tolerance_of(&q->key, item->wrong[k] * factor), apart);
  }
}

/* Adds Markdown without its marks: links as their words, tables and lists as they stand. */
static void add_plain(char *text, size_t size, const char *markdown) {
  size_t used = strlen(text);
  for (const char *p = markdown; *p && used + 2 < size; p++) {
    const char *close = *p == '[' ? strstr(p, "](") : NULL;
    if (close && !memchr(p, '\n', (size_t)(close - p))) continue; /* the words of a link follow */
    if (p[0] == ']' && p[1] == '(') {
      while (*p && *p != ')') p++;
      if (!*p) break;
      continue;
    }
    if (*p == '*' || *p == '`') continue;
    if (*p == '#') {
      p += strspn(p, "# ") - 1;
      continue;
    }
    text[used++] = *p;
  }
  text[used] = '\0';
}

/* What the learner has read on the question's page: prose since the heading. */
static Status add_context(LessonRun *run, ExportItem *item, int ask, Error *error) {
  const Lesson *l = run->lesson;
  const size_t at = lesson_block_of(l, ask);
  size_t first = at;
  char *prose = malloc(LESSON_PROSE_BYTES);
  Status status = prose ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  for (size_t k = at; k-- > 0;) {
    if (l->blocks[k].kind == LESSON_PROSE) first = k;
    if (l->blocks[k].kind == LESSON_PROSE && strncmp(lesson_text(l, l->blocks[k].text), "## ", 3) == 0) break;
  }
  for (size_t k = first; k < at && !status; k++) {
    if (l->blocks[k].kind != LESSON_PROSE) continue;
    status = lesson_run_fill(run, l->blocks[k].text, prose, LESSON_PROSE_BYTES, error);
    if (!status) add_plain(item->text, sizeof item->text - LESSON_MESSAGE_BYTES, prose);
    if (!status) strcat(item->text, "\n\n");
  }
  free(prose);
  return status;
}

static Status make_item(LessonRun *run, int ask, ExportItem *item, Error *error) {
  const LessonAsk *a = &run->lesson->asks[ask];
  *item = (ExportItem){.lesson = run->lesson, .ask = a, .variant = item->variant};
  snprintf(item->name, sizeof item->name, item->variant ? "%s-%d" : "%s", a->id, item->variant + 1);
  lesson_run_refill(run);
  Status status = lesson_run_question(run, ask, &item->q, error);
  if (!status) status = add_context(run, item, ask, error);
  if (status) return status;
  const size_t used = strlen(item->text);
  snprintf(item->text + used, sizeof item->text - used, "%s%s%s%s", item->q.prompt, *a->unit.name ? " (in " : "",
           a->unit.name, *a->unit.name ? ")" : "");
  status = lesson_run_explain(run, &item->q, item->explain, LESSON_MESSAGE_BYTES, error); /* names `answer` */
  for (int k = 0; k < a->n_wrong && !status; k++) {
    const LessonWrong *w = &item->q.wrong[k];
    if (!w->is_known) continue;
    item->wrong[item->n_wrong] = w->value / a->unit.factor;
    item->wrong_choice[item->n_wrong] = w->choice;
    status = lesson_run_fill(run, a->wrong[k].text, item->diagnosis[item->n_wrong++], LESSON_MESSAGE_BYTES, error);
  }
  if (a->kind == LESSON_NUMBER) set_numbers(item);
  return status;
}

static Status each_variant(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, int ask,
                           ExportItem *item, ExportWrite *write, void *context, Error *error) {
  Status status = STATUS_OK;
  for (int v = 0; (v == 0 || v < draws.n_variants) && !status; v++) {
    LessonRun run;
    status = lesson_run_start(&run, lesson, limits, draws.seed + (uint64_t)v, error);
    if (status) return status;
    item->variant = v;
    status = make_item(&run, ask, item, error);
    if (!status) status = write(context, item, error);
    lesson_run_end(&run);
  }
  return status;
}

Status lesson_export_items(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, ExportWrite *write,
                           void *context, Error *error) {
  ExportItem *item = calloc(1, sizeof *item);
  if (!item) return error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  Status status = STATUS_OK;
  for (size_t k = 0; k < lesson->n_asks && !status; k++)
    if (!lesson->asks[k].is_prediction && lesson->asks[k].kind <= LESSON_ORDER)
      status = each_variant(lesson, limits, draws, (int)k, item, write, context, error);
  free(item);
  return status;
}
