/* Moodle XML and QTI 2.1, by one writer. Part of lessons/engine/lesson_export.h. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/lesson_export_inner.h"

/* ---- The writer */

/* Text for XML; what XML 1.0 cannot hold is left out. */
static void put_text(FILE *out, const char *text) {
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

/* The place of a choice of an order, from 1. */
static int rank_of(const LessonQuestion *q, int choice) {
  int place = 1;
  for (int other = 0; other < q->n_choices; other++)
    place += q->rank[other] < q->rank[choice] || (q->rank[other] == q->rank[choice] && other < choice);
  return place;
}

/* ---- Moodle */

#define FEEDBACK "    <feedback format=\"plain_text\"><text>%t</text></feedback>\n"

static void moodle_answers(const ExportItem *item, FILE *out) {
  const LessonQuestion *q = &item->q;
  if (item->ask->kind == LESSON_NUMBER) {
    put(out, "    <answer fraction=\"100\"><text>%n</text><tolerance>%e</tolerance></answer>\n", item->value,
        item->tolerance);
    for (int k = 0; k < item->n_wrong; k++)
      put(out, "    <answer fraction=\"0\"><text>%n</text><tolerance>%e</tolerance>\n" FEEDBACK "    </answer>\n",
          item->wrong[k], item->wrong_tolerance[k], item->diagnosis[k]);
    return;
  }
  if (item->ask->kind == LESSON_CHOICE) put(out, "    <single>true</single><shuffleanswers>true</shuffleanswers>\n");
  for (int p = 0; p < q->n_choices; p++) {
    if (item->ask->kind == LESSON_ORDER) {
      put(out, "    <subquestion format=\"plain_text\"><text>%t</text><answer><text>%d</text></answer></subquestion>\n",
          q->choice[p], rank_of(q, p));
      continue;
    }
    put(out, "    <answer fraction=\"%d\" format=\"plain_text\"><text>%t</text>\n", p == q->right ? 100 : 0,
        q->choice[p]);
    for (int k = 0; k < item->n_wrong; k++)
      if (item->wrong_choice[k] == p) put(out, FEEDBACK, item->diagnosis[k]);
    put(out, "    </answer>\n");
  }
}

static Status write_moodle(void *context, const ExportItem *item, Error *error) {
  static const char *const TYPES[] = {"numerical", "multichoice", "matching"};
  FILE *out = context;
  (void)error;
  if (item->variant == 0)
    put(out, "  <question type=\"category\"><category><text>$course$/Tilewalk/%s/%s</text></category></question>\n",
        item->lesson->name, item->ask->id);
  put(out,
      "  <question type=\"%s\">\n    <name><text>%s</text></name>\n"
      "    <questiontext format=\"plain_text\"><text>%t</text></questiontext>\n"
      "    <generalfeedback format=\"plain_text\"><text>%t</text></generalfeedback>\n",
      TYPES[item->ask->kind], item->name, item->text, item->explain);
  moodle_answers(item, out);
  put(out, "  </question>\n");
  return STATUS_OK;
}

Status lesson_export_moodle(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, FILE *out,
                            Error *error) {
  put(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<quiz>\n");
  const Status status = lesson_export_items(lesson, limits, draws, write_moodle, out, error);
  put(out, "</quiz>\n");
  return status;
}

/* ---- QTI */

typedef struct {
  ExportFile *file;
  void *context;
  FILE *manifest; /* its resources, so far */
} Package;

/* How each kind is answered. */
static const struct {
  const char *cardinality, *type, *interaction, *most;
} KINDS[] = {{"single", "float", NULL, NULL},
             {"single", "identifier", "choiceInteraction", " maxChoices=\"1\""},
             {"ordered", "identifier", "orderInteraction", ""}};

static void qti_declarations(const ExportItem *item, FILE *out) {
  const LessonQuestion *q = &item->q;
  const LessonKind kind = item->ask->kind;
  put(out, "  <responseDeclaration identifier=\"RESPONSE\" cardinality=\"%s\" baseType=\"%s\">\n    <correctResponse>",
      KINDS[kind].cardinality, KINDS[kind].type);
  if (kind == LESSON_NUMBER) put(out, "<value>%n</value>", item->value);
  if (kind == LESSON_CHOICE) put(out, "<value>C%d</value>", q->right);
  for (int place = 1; kind == LESSON_ORDER && place <= q->n_choices; place++)
    for (int p = 0; p < q->n_choices; p++)
      if (rank_of(q, p) == place) put(out, "<value>C%d</value>", p);
  put(out, "</correctResponse>\n  </responseDeclaration>\n"
           "  <outcomeDeclaration identifier=\"SCORE\" cardinality=\"single\" baseType=\"float\"><defaultValue>"
           "<value>0</value></defaultValue></outcomeDeclaration>\n"
           "  <outcomeDeclaration identifier=\"FEEDBACK\" cardinality=\"single\" baseType=\"identifier\"/>\n");
}

static void qti_body(const ExportItem *item, FILE *out) {
  const char *interaction = KINDS[item->ask->kind].interaction;
  put(out, "  <itemBody>\n    <p>");
  for (const char *p = item->text; *p; p++) { /* a paragraph for each empty line */
    if (p[0] == '\n' && p[1] == '\n')
      put(out, "</p>\n    <p>"), p++;
    else
      put_text(out, (const char[]){*p, '\0'});
  }
  if (!interaction) {
    put(out, " <textEntryInteraction responseIdentifier=\"RESPONSE\"/></p>\n  </itemBody>\n");
    return;
  }
  put(out, "</p>\n    <%s responseIdentifier=\"RESPONSE\" shuffle=\"true\"%s>\n", interaction,
      KINDS[item->ask->kind].most);
  for (int p = 0; p < item->q.n_choices; p++)
    put(out, "      <simpleChoice identifier=\"C%d\">%t</simpleChoice>\n", p, item->q.choice[p]);
  put(out, "    </%s>\n  </itemBody>\n", interaction);
}

#define OUTCOME "<setOutcomeValue identifier=\"%s\"><baseValue baseType=\"%s\">%s</baseValue></setOutcomeValue>"

static void qti_processing(const ExportItem *item, FILE *out) {
  const bool is_number = item->ask->kind == LESSON_NUMBER;
  const int n_told = item->ask->kind == LESSON_ORDER ? 0 : item->n_wrong;
  put(out, "  <responseProcessing>\n    <responseCondition>\n");
  for (int k = -1; k < n_told; k++) { /* the right answer first */
    const double off = k < 0 ? item->tolerance : item->wrong_tolerance[k];
    char name[24] = "RIGHT";
    if (k >= 0) snprintf(name, sizeof name, "W%d", k);
    put(out, k < 0 ? "      <responseIf>" : "      <responseElseIf>");
    if (is_number)
      put(out, "<equal toleranceMode=\"absolute\" tolerance=\"%e %e\">", off, off);
    else
      put(out, "<match>");
    put(out, "<variable identifier=\"RESPONSE\"/>");
    if (k < 0)
      put(out, "<correct identifier=\"RESPONSE\"/>");
    else if (is_number)
      put(out, "<baseValue baseType=\"float\">%n</baseValue>", item->wrong[k]);
    else
      put(out, "<baseValue baseType=\"identifier\">C%d</baseValue>", item->wrong_choice[k]);
    put(out, is_number ? "</equal>" : "</match>");
    if (k < 0) put(out, OUTCOME, "SCORE", "float", "1");
    put(out, OUTCOME "%s\n", "FEEDBACK", "identifier", name, k < 0 ? "</responseIf>" : "</responseElseIf>");
  }
  put(out, "    </responseCondition>\n  </responseProcessing>\n");
  for (int k = -1; k < n_told; k++) {
    put(out, "  <modalFeedback outcomeIdentifier=\"FEEDBACK\" showHide=\"show\" identifier=\"");
    if (k < 0)
      put(out, "RIGHT\">%t", item->explain);
    else
      put(out, "W%d\">%t", k, item->diagnosis[k]);
    put(out, "</modalFeedback>\n");
  }
}

static Status write_qti(void *context, const ExportItem *item, Error *error) {
  Package *package = context;
  char name[3 * LESSON_NAME_BYTES + 16], *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  if (!out) return error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  snprintf(name, sizeof name, "q-%s-%s", item->lesson->name, item->name);
  put(out,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<assessmentItem xmlns=\"http://www.imsglobal.org/xsd/imsqti_v2p1\" "
      "identifier=\"%s\" title=\"%s\" adaptive=\"false\" timeDependent=\"false\">\n",
      name, item->name);
  qti_declarations(item, out);
  qti_body(item, out);
  qti_processing(item, out);
  put(out, "</assessmentItem>\n");
  put(package->manifest,
      "    <resource identifier=\"%s\" type=\"imsqti_item_xmlv2p1\" href=\"%s.xml\">"
      "<file href=\"%s.xml\"/></resource>\n",
      name, name, name);
  strcat(name, ".xml");
  Status status = fclose(out) == 0 ? STATUS_OK : error_set(error, STATUS_NO_MEMORY, "no memory for a question");
  if (!status) status = package->file(package->context, name, text, length, error);
  free(text);
  return status;
}

Status lesson_export_qti(const Lesson *lesson, const ExpressionLimits *limits, ExportDraws draws, ExportFile *file,
                         void *context, Error *error) {
  char *text = NULL;
  size_t length = 0;
  Package package = {.file = file, .context = context, .manifest = open_memstream(&text, &length)};
  if (!package.manifest) return error_set(error, STATUS_NO_MEMORY, "no memory for the manifest");
  put(package.manifest,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<manifest xmlns=\"http://www.imsglobal.org/xsd/imscp_v1p1\" "
      "identifier=\"tilewalk-%s\">\n  <metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion>"
      "</metadata>\n  <organizations/>\n  <resources>\n",
      lesson->name);
  Status status = lesson_export_items(lesson, limits, draws, write_qti, &package, error);
  put(package.manifest, "  </resources>\n</manifest>\n");
  if (fclose(package.manifest) != 0 && !status)
    status = error_set(error, STATUS_NO_MEMORY, "no memory for the manifest");
  if (!status) status = file(context, "imsmanifest.xml", text, length, error);
  free(text);
  return status;
}
