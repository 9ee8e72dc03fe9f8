/* GIFT. Part of lessons/engine/lesson_export.h. */
#include <inttypes.h>
#include <string.h>

#include "lessons/engine/lesson_export_inner.h"

/* Its special characters take a backslash; a run of blanks is one, and an empty line a new line. "->" would make a pair
 * of what stands on its sides. */
static void put_gift(FILE *out, const char *text) {
  for (; *text; text++) {
    const size_t blanks = strspn(text, " \n\r");
    if (blanks) {
      const char *line = memchr(text, '\n', blanks);
      fputs(line && memchr(line + 1, '\n', blanks - (size_t)(line + 1 - text)) ? "\\n" : " ", out);
      text += blanks - 1;
      continue;
    }
    if (text[0] == '-' && text[1] == '>') {
      fputs("\xe2\x86\x92", out);
      text++;
      continue;
    }
    if (strchr("~=#{}:\\", *text)) fputc('\\', out);
    fputc(*text, out);
  }
}

static void put_range(FILE *out, double value, double tolerance) {
  export_number(out, value, 10);
  fputc(':', out);
  export_number(out, tolerance, 6);
}

static void put_feedback(FILE *out, const char *text) {
  fputc('#', out);
  put_gift(out, text);
}

static void gift_number(const ExportItem *item, FILE *out) {
  fputs("#\n  =", out);
  put_range(out, item->value, item->tolerance);
  fputc('\n', out);
  for (int k = 0; k < item->n_wrong; k++) {
    fputs("  =%0%", out);
    put_range(out, item->wrong[k], item->wrong_tolerance[k]);
    put_feedback(out, item->diagnosis[k]);
    fputc('\n', out);
  }
}

static void gift_choice(const ExportItem *item, FILE *out) {
  fputc('\n', out);
  for (int p = 0; p < item->q.n_choices; p++) {
    fprintf(out, "  %c", p == item->q.right ? '=' : '~');
    put_gift(out, item->q.choice[p]);
    for (int k = 0; k < item->n_wrong; k++)
      if (item->wrong_choice[k] == p) put_feedback(out, item->diagnosis[k]);
    fputc('\n', out);
  }
}

/* Items are matched with their places. Of two the first is chosen: Moodle wants three pairs. */
static void gift_order(const ExportItem *item, FILE *out) {
  const LessonQuestion *q = &item->q;
  fputc('\n', out);
  for (int p = 0; p < q->n_choices; p++) {
    const bool is_pair = q->n_choices > 2;
    fprintf(out, "  %c", is_pair || q->rank[p] <= q->rank[1 - p] ? '=' : '~');
    put_gift(out, q->choice[p]);
    if (is_pair)
      fprintf(out, " -> %d\n", export_rank(q, p));
    else
      fputs(" (comes first)\n", out);
  }
}

static Status write_gift(void *context, const ExportItem *item, Error *error) {
  FILE *out = context;
  (void)error;
  if (item->variant == 0) fprintf(out, "$CATEGORY: Tilewalk/%s/%s\n\n", item->lesson->name, item->ask->id);
  fprintf(out, "::%s::[plain]", item->name); /* neither HTML nor Markdown */
  put_gift(out, item->text);
  fputs(" {", out);
  if (item->ask->kind == LESSON_NUMBER)
    gift_number(item, out);
  else if (item->ask->kind == LESSON_CHOICE)
    gift_choice(item, out);
  else
    gift_order(item, out);
  if (*item->explain) {
    fputs("  ####", out);
    put_gift(out, item->explain);
    fputc('\n', out);
  }
  fputs("}\n\n", out);
  return STATUS_OK;
}

Status lesson_export_gift(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, FILE *out,
                          Error *error) {
  fprintf(out, "// %s, from seed %" PRIu64 "\n\n", lesson_text(lesson, lesson->title), draws.seed);
  return lesson_export_items(lesson, limits, draws, write_gift, out, error);
}
