/* Moodle XML and QTI 2.1. Part of lessons/engine/lesson_export.h. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/lesson_export_inner.h"

/* Text for XML; what XML 1.0 cannot hold is left out. */
static void put_xml(FILE *out, const char *text) {
  for (; *text; text++) {
    if (*text == '&')
      fputs("&amp;", out);
    else if (*text == '<')
      fputs("&lt;", out);
    else if (*text == '>')
      fputs("&gt;", out);
    else if (*text == '"')
      fputs("&quot;", out);
    else if ((unsigned char)*text >= 32 || *text == '\n' || *text == '\t')
      fputc(*text, out);
  }
}

static void put_number(FILE *out, const char *before, double value, int digits, const char *after) {
  fputs(before, out);
  export_number(out, value, digits);
  fputs(after, out);
}

/* ---- Moodle */

/* <NAME format="plain_text"><text>...</text></NAME> */
static void put_text(FILE *out, const char *name, const char *text) {
  fprintf(out, "    <%s format=\"plain_text\"><text>", name);
  put_xml(out, text);
  fprintf(out, "</text></%s>\n", name);
}

static void moodle_number(const ExportItem *item, FILE *out) {
  put_number(out, "    <answer fraction=\"100\"><text>", item->value, 10, "</text>");
  put_number(out, "<tolerance>", item->tolerance, 6, "</tolerance></answer>\n");
  for (int k = 0; k < item->n_wrong; k++) {
    put_number(out, "    <answer fraction=\"0\"><text>", item->wrong[k], 10, "</text>");
    put_number(out, "<tolerance>", item->wrong_tolerance[k], 6, "</tolerance>\n");
    put_text(out, "feedback", item->diagnosis[k]);
    fputs("    </answer>\n", out);
  }
}

static void moodle_choice(const ExportItem *item, FILE *out) {
  fputs("    <single>true</single><shuffleanswers>true</shuffleanswers>\n", out);
  for (int p = 0; p < item->q.n_choices; p++) {
    fprintf(out, "    <answer fraction=\"%d\" format=\"plain_text\"><text>", p == item->q.right ? 100 : 0);
    put_xml(out, item->q.choice[p]);
    fputs("</text>\n", out);
    for (int k = 0; k < item->n_wrong; k++)
      if (item->wrong_choice[k] == p) put_text(out, "feedback", item->diagnosis[k]);
    fputs("    </answer>\n", out);
  }
}

static void moodle_order(const ExportItem *item, FILE *out) {
  for (int p = 0; p < item->q.n_choices; p++) {
    fputs("    <subquestion format=\"plain_text\"><text>", out);
    put_xml(out, item->q.choice[p]);
    fprintf(out, "</text><answer><text>%d</text></answer></subquestion>\n", export_rank(&item->q, p));
  }
}

static Status write_moodle(void *context, const ExportItem *item, Error *error) {
  static const char *const TYPES[] = {"numerical", "multichoice", "matching"};
  FILE *out = context;
  (void)error;
  if (item->variant == 0)
    fprintf(out, "  <question type=\"category\"><category><text>$course$/Tilewalk/%s/%s</text></category></question>\n",
            item->lesson->name, item->ask->id);
  fprintf(out, "  <question type=\"%s\">\n    <name><text>%s</text></name>\n", TYPES[item->ask->kind], item->name);
  put_text(out, "questiontext", item->text);
  put_text(out, "generalfeedback", item->explain);
  if (item->ask->kind == LESSON_NUMBER)
    moodle_number(item, out);
  else if (item->ask->kind == LESSON_CHOICE)
    moodle_choice(item, out);
  else
    moodle_order(item, out);
  fputs("  </question>\n", out);
  return STATUS_OK;
}

Status lesson_export_moodle(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, FILE *out,
                            Error *error) {
  fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<quiz>\n", out);
  const Status status = lesson_export_items(lesson, limits, draws, write_moodle, out, error);
  fputs("</quiz>\n", out);
  return status;
}

/* ---- QTI */

typedef struct {
  ExportFile *file;
  void *context;
  FILE *manifest; /* its resources, so far */
} Package;

static void qti_declarations(const ExportItem *item, FILE *out) {
  const LessonQuestion *q = &item->q;
  const LessonKind kind = item->ask->kind;
  fprintf(out,
          "  <responseDeclaration identifier=\"RESPONSE\" cardinality=\"%s\" baseType=\"%s\">\n    <correctResponse>",
          kind == LESSON_ORDER ? "ordered" : "single", kind == LESSON_NUMBER ? "float" : "identifier");
  if (kind == LESSON_NUMBER) put_number(out, "<value>", item->value, 10, "</value>");
  if (kind == LESSON_CHOICE) fprintf(out, "<value>C%d</value>", q->right);
  for (int place = 1; kind == LESSON_ORDER && place <= q->n_choices; place++)
    for (int p = 0; p < q->n_choices; p++)
      if (export_rank(q, p) == place) fprintf(out, "<value>C%d</value>", p);
  fputs("</correctResponse>\n  </responseDeclaration>\n"
        "  <outcomeDeclaration identifier=\"SCORE\" cardinality=\"single\" baseType=\"float\"><defaultValue>"
        "<value>0</value></defaultValue></outcomeDeclaration>\n"
        "  <outcomeDeclaration identifier=\"FEEDBACK\" cardinality=\"single\" baseType=\"identifier\"/>\n",
        out);
}

static void qti_body(const ExportItem *item, FILE *out) {
  static const char *const INTERACTIONS[] = {"", "choiceInteraction", "orderInteraction"};
  const LessonKind kind = item->ask->kind;
  fputs("  <itemBody>\n    <p>", out);
  for (const char *p = item->text; *p; p++) { /* a paragraph for each empty line */
    if (p[0] == '\n' && p[1] == '\n')
      fputs("</p>\n    <p>", out), p++;
    else
      put_xml(out, (const char[]){*p, '\0'});
  }
  if (kind == LESSON_NUMBER) {
    fputs(" <textEntryInteraction responseIdentifier=\"RESPONSE\"/></p>\n  </itemBody>\n", out);
    return;
  }
  fprintf(out, "</p>\n    <%s responseIdentifier=\"RESPONSE\" shuffle=\"true\"%s>\n", INTERACTIONS[kind],
          kind == LESSON_CHOICE ? " maxChoices=\"1\"" : "");
  for (int p = 0; p < item->q.n_choices; p++) {
    fprintf(out, "      <simpleChoice identifier=\"C%d\">", p);
    put_xml(out, item->q.choice[p]);
    fputs("</simpleChoice>\n", out);
  }
  fprintf(out, "    </%s>\n  </itemBody>\n", INTERACTIONS[kind]);
}

static void qti_outcome(FILE *out, const char *feedback, int k) {
  fprintf(out, "<setOutcomeValue identifier=\"FEEDBACK\"><baseValue baseType=\"identifier\">%s", feedback);
  if (k >= 0) fprintf(out, "%d", k);
  fputs("</baseValue></setOutcomeValue>", out);
}

static void qti_equal(const ExportItem *item, FILE *out, double tolerance, int k) {
  const bool is_number = item->ask->kind == LESSON_NUMBER;
  fputs(is_number ? "<equal toleranceMode=\"absolute\" tolerance=\"" : "<match>", out);
  if (is_number) put_number(out, "", tolerance, 6, " "), put_number(out, "", tolerance, 6, "\">");
  fputs("<variable identifier=\"RESPONSE\"/>", out);
  if (k < 0)
    fputs("<correct identifier=\"RESPONSE\"/>", out);
  else if (is_number)
    put_number(out, "<baseValue baseType=\"float\">", item->wrong[k], 10, "</baseValue>");
  else
    fprintf(out, "<baseValue baseType=\"identifier\">C%d</baseValue>", item->wrong_choice[k]);
  fputs(is_number ? "</equal>" : "</match>", out);
}

static void qti_processing(const ExportItem *item, FILE *out) {
  const int n_told = item->ask->kind == LESSON_ORDER ? 0 : item->n_wrong;
  fputs("  <responseProcessing>\n    <responseCondition>\n      <responseIf>", out);
  qti_equal(item, out, item->tolerance, -1);
  fputs("<setOutcomeValue identifier=\"SCORE\"><baseValue baseType=\"float\">1</baseValue></setOutcomeValue>", out);
  qti_outcome(out, "RIGHT", -1);
  fputs("</responseIf>\n", out);
  for (int k = 0; k < n_told; k++) {
    fputs("      <responseElseIf>", out);
    qti_equal(item, out, item->wrong_tolerance[k], k);
    qti_outcome(out, "W", k);
    fputs("</responseElseIf>\n", out);
  }
  fputs("    </responseCondition>\n  </responseProcessing>\n", out);
  for (int k = -1; k < n_told; k++) {
    if (k < 0)
      fputs("  <modalFeedback outcomeIdentifier=\"FEEDBACK\" showHide=\"show\" identifier=\"RIGHT\">", out);
    else
      fprintf(out, "  <modalFeedback outcomeIdentifier=\"FEEDBACK\" showHide=\"show\" identifier=\"W%d\">", k);
    put_xml(out, k < 0 ? item->explain : item->diagnosis[k]);
    fputs("</modalFeedback>\n", out);
  }
}

static Status write_qti(void *context, const ExportItem *item, Error *error) {
  Package *package = context;
  char name[3 * LESSON_NAME_BYTES + 16], *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (!out) return error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  snprintf(name, sizeof name, "q-%s-%s.xml", item->lesson->name, item->name);
  fprintf(
      out,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<assessmentItem xmlns=\"http://www.imsglobal.org/xsd/imsqti_v2p1\" "
      "identifier=\"q-%s-%s\" title=\"%s\" adaptive=\"false\" timeDependent=\"false\">\n",
      item->lesson->name, item->name, item->name);
  qti_declarations(item, out);
  qti_body(item, out);
  qti_processing(item, out);
  fputs("</assessmentItem>\n", out);
  Status status = fclose(out) == 0 ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  if (!status) status = package->file(package->context, name, text, length, error);
  fprintf(
      package->manifest,
      "    <resource identifier=\"q-%s-%s\" type=\"imsqti_item_xmlv2p1\" href=\"%s\"><file href=\"%s\"/></resource>\n",
      item->lesson->name, item->name, name, name);
  free(text);
  return status;
}

Status lesson_export_qti(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, ExportFile *file,
                         void *context, Error *error) {
  char *text = NULL;
  size_t length = 0;
  Package package = {.file = file, .context = context, .manifest = open_memstream(&text, &length)};
  if (!package.manifest) return error_set(error, STATUS_NO_MEMORY, "no memory for the manifest");
  fprintf(
      package.manifest,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<manifest xmlns=\"http://www.imsglobal.org/xsd/imscp_v1p1\" "
      "identifier=\"tilewalk-%s\">\n  <metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion>"
      "</metadata>\n  <organizations/>\n  <resources>\n",
      lesson->name);
  Status status = lesson_export_items(lesson, limits, draws, write_qti, &package, error);
  fputs("  </resources>\n</manifest>\n", package.manifest);
  if (fclose(package.manifest) != 0 && !status)
    status = error_set(error, STATUS_NO_MEMORY, "no memory for the manifest");
  if (!status) status = file(context, "imsmanifest.xml", text, length, error);
  free(text);
  return status;
}
