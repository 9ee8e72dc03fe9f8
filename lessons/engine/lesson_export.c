#include "lessons/engine/lesson_export.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

/* A question with its numbers; `text` holds one text after the other. */
typedef struct {
  LessonRun run;
  LessonQuestion q;
  const LessonAsk *ask; /* of q */
  Error error;          /* the first */
  FILE *out;
  char text[LESSON_PROSE_BYTES];
} Export;

/* ---- XML ---------------------------------------------------------------------------------------------------- */

/* Text for XML; what XML 1.0 cannot hold is left out. */
static void put_text(FILE *out, const char *text) {
  static const char MARKS[] = "&<>\"";
  static const char *const NAMES[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
  for (; *text; text++) {
    const char *mark = strchr(MARKS, *text);
    if (mark)
      fputs(NAMES[mark - MARKS], out);
    else if ((unsigned char)*text >= 32 || *text == '\n' || *text == '\t')
      fputc(*text, out);
  }
}

/* Up to that many digits, without an exponent. */
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

/* %s as it stands, %t a text, %d a whole number, %n a number, %e how far off it may be. */
static void put(FILE *out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (const char *p = format; *p; p++) {
    if (*p != '%') {
      fputc(*p, out);
      continue;
    }
    switch (*++p) {
    case 's': fputs(va_arg(arguments, const char *), out); break;
    case 't': put_text(out, va_arg(arguments, const char *)); break;
    case 'd': fprintf(out, "%d", va_arg(arguments, int)); break;
    case 'n': put_number(out, va_arg(arguments, double), 10); break;
    default: put_number(out, va_arg(arguments, double), 6); break;
    }
  }
  va_end(arguments);
}

/* Markdown without its marks: links as their words, tables and lists as they stand. */
static void put_plain(FILE *out, const char *markdown) {
  for (const char *p = markdown; *p; p++) {
    const char *close = *p == '[' ? strstr(p, "](") : NULL;
    if (close && !memchr(p, '\n', (size_t)(close - p))) continue; /* the words of a link follow */
    if (p[0] == ']' && p[1] == '(') {
      while (*p && *p != ')') p++;
      if (!*p) break;
    } else if (*p == '#') {
      p += strspn(p, "# ") - 1;
    } else if (*p != '*' && *p != '`') {
      put_text(out, (const char[]){*p, '\0'});
    }
  }
}

/* ---- Numbers ------------------------------------------------------------------------------------------------ */

/* How far off a value may be, in the question's unit. Moodle knows no digits: half a percent stands for them. */
static double tolerance_of(const AnswerKey *key, double value) {
  const double typed = fabs(value / key->unit.factor);
  switch (key->tolerance.kind) {
  case TOLERANCE_OFF: return key->tolerance.amount;
  case TOLERANCE_PART: return key->tolerance.amount * typed;
  case TOLERANCE_EXACT: return 0;
  default: return key->unit.dimension == ANSWER_PLAIN && value == floor(value) ? 0 : 0.005 * typed;
  }
}

static const char *diagnosis(Export *x, int wrong) {
  x->text[0] = '\0';
  lesson_run_fill(&x->run, x->ask->wrong[wrong].text, x->text, LESSON_MESSAGE_BYTES, &x->error);
  return x->text;
}

#define FEEDBACK "    <feedback format=\"plain_text\"><text>%t</text></feedback>\n"

/* The right one is not as wide as to take in a known wrong one. */
static void put_numbers(Export *x) {
  const AnswerKey *key = &x->q.key;
  const double factor = key->unit.factor, middle = key->value;
  double right = tolerance_of(key, middle);
  for (int k = 0; k < x->ask->n_wrong; k++)
    if (x->q.wrong[k].is_known) right = fmin(right, 0.45 * fabs(x->q.wrong[k].value - middle) / factor);
  put(x->out, "    <answer fraction=\"100\"><text>%n</text><tolerance>%e</tolerance></answer>\n", middle / factor,
      right);
  for (int k = 0; k < x->ask->n_wrong; k++) {
    const double wrong = x->q.wrong[k].value;
    if (x->q.wrong[k].is_known)
      put(x->out, "    <answer fraction=\"0\"><text>%n</text><tolerance>%e</tolerance>\n" FEEDBACK "    </answer>\n",
          wrong / factor, fmin(tolerance_of(key, wrong), 0.45 * fabs(wrong - middle) / factor), diagnosis(x, k));
  }
}

/* ---- Questions ---------------------------------------------------------------------------------------------- */

static void put_choices(Export *x) {
  const LessonKind kind = x->ask->kind;
  const LessonQuestion *q = &x->q;
  int order[ANSWER_CHOICES_MAX], place = 0;
  if (kind == LESSON_ORDER) lesson_order(q, order);
  if (kind == LESSON_CHOICE) put(x->out, "    <single>true</single><shuffleanswers>true</shuffleanswers>\n");
  for (int p = 0; p < q->n_choices; p++) {
    if (kind == LESSON_ORDER) {
      for (place = 0; order[place] != p;) place++;
      put(x->out,
          "    <subquestion format=\"plain_text\"><text>%t</text><answer><text>%d</text></answer></subquestion>\n",
          q->choice[p], place + 1);
      continue;
    }
    put(x->out, "    <answer fraction=\"%d\" format=\"plain_text\"><text>%t</text>\n", p == q->right ? 100 : 0,
        q->choice[p]);
    for (int k = 0; k < x->ask->n_wrong; k++)
      if (q->wrong[k].is_known && *q->wrong[k].order == p) put(x->out, FEEDBACK, diagnosis(x, k));
    put(x->out, "    </answer>\n");
  }
}

/* What the learner has read on the question's page: prose since the heading. */
static void put_context(Export *x, int ask) {
  const Lesson *l = x->run.lesson;
  const size_t at = lesson_block_of(l, ask);
  size_t first = at;
  for (size_t k = at; k-- > 0;) {
    if (l->blocks[k].kind == LESSON_PROSE) first = k;
    if (l->blocks[k].kind == LESSON_PROSE && strncmp(l->blocks[k].text.text, "## ", 3) == 0) break;
  }
  for (size_t k = first; k < at; k++) {
    if (l->blocks[k].kind != LESSON_PROSE) continue;
    if (lesson_run_fill(&x->run, l->blocks[k].text, x->text, sizeof x->text, &x->error)) return;
    put_plain(x->out, x->text);
    put(x->out, "\n\n");
  }
}

static void put_question(Export *x, int ask, int variant) {
  static const char *const TYPES[] = {"numerical", "multichoice", "matching"};
  const LessonAsk *a = x->ask = &x->run.lesson->asks[ask];
  if (lesson_run_question(&x->run, ask, &x->q, &x->error)) return;
  if (variant == 0)
    put(x->out, "  <question type=\"category\"><category><text>$course$/Tilewalk/%s/%s</text></category></question>\n",
        x->run.lesson->name, a->id);
  put(x->out, "  <question type=\"%s\">\n    <name><text>%s", TYPES[a->kind], a->id);
  if (variant) put(x->out, "-%d", variant + 1);
  put(x->out, "</text></name>\n    <questiontext format=\"plain_text\"><text>");
  put_context(x, ask);
  put(x->out, "%t%s%t%s</text></questiontext>\n", x->q.prompt, *a->unit.name ? " (in " : "", a->unit.name,
      *a->unit.name ? ")" : "");
  lesson_run_explain(&x->run, &x->q, x->text, LESSON_MESSAGE_BYTES, &x->error); /* names `answer` */
  put(x->out, "    <generalfeedback format=\"plain_text\"><text>%t</text></generalfeedback>\n", x->text);
  if (a->kind == LESSON_NUMBER)
    put_numbers(x);
  else
    put_choices(x);
  put(x->out, "  </question>\n");
}

Status lesson_export_moodle(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, FILE *out,
                            Error *error) {
  Export *x = calloc(1, sizeof *x);
  if (!x) return error_no_memory(error, "for a question");
  x->out = out;
  put(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<quiz>\n");
  for (size_t k = 0; k < lesson->n_asks; k++)
    for (int v = 0; (v == 0 || v < draws.n_variants) && !x->error.status; v++) {
      if (lesson->asks[k].is_prediction || lesson->asks[k].kind > LESSON_ORDER) break;
      if (!lesson_run_start(&x->run, lesson, limits, draws.seed + (uint64_t)v, &x->error)) put_question(x, (int)k, v);
      lesson_run_end(&x->run);
    }
  put(out, "</quiz>\n");
  const Status status = error_pass(error, &x->error);
  free(x);
  return status;
}
