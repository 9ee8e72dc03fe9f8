/* The report of `tilewalk lesson claims`: for people, as CSV and as JSON. */
#include <math.h>

#include "sim/base/text_add.h"
#include "viz/cli/claims/articles.h"
#include "viz/text/glyphs.h"

enum { LABEL_COLUMNS = 11, CELL_BYTES = 512 }; /* of a label, behind two blanks */

static const struct {
  TextRole role;
  const char *count; /* "3 are wrong" */
} LOOK[VERDICT_COUNT] = {
    [VERDICT_HOLDS] = {ROLE_GOOD, "hold"},
    [VERDICT_ROUNDS] = {ROLE_WARN, "round"},
    [VERDICT_LIMIT] = {ROLE_WARN, "hold in a limit"},
    [VERDICT_WRONG] = {ROLE_BAD, "wrong"},
};

/* "70.3 MB", "1 load", "true": a number with the unit where there is one. */
static void add_unit(const ClaimPart *part, char text[CELL_BYTES]) {
  const char *unit = part->claimed.unit;
  size_t length = strlen(unit);
  if (strcmp(text, "1") == 0 && length && unit[length - 1] == 's' && part->claimed.factor == 1) length--;
  if (length) text_add(text, CELL_BYTES, " %.*s", (int)length, unit);
}

/* What is printed, and what is computed. */
static void both_texts(const ClaimPart *part, char printed[CELL_BYTES], char computed[CELL_BYTES]) {
  snprintf(printed, CELL_BYTES, "%s", part->claimed.text);
  verdict_computed_text(&part->claimed, &part->value, computed, CELL_BYTES);
  add_unit(part, printed), add_unit(part, computed);
}

/* The k-th number in the claim's unit. */
static double number_of_part(const ClaimPart *part, int k) {
  const double number = verdict_in_unit(&part->claimed, &part->value, k);
  return part->claimed.reciprocal ? 1 / number : number;
}

/* Numbers with all their digits. */
static void exact_text(const ClaimPart *part, char text[CELL_BYTES]) {
  const ExpressionValue *v = &part->value;
  size_t used = 0;
  if (v->n == 0) verdict_computed_text(&part->claimed, v, text, CELL_BYTES);
  for (int k = 0; k < v->n && used < CELL_BYTES; k++)
    used += (size_t)snprintf(text + used, CELL_BYTES - used, "%s%.10g", k ? " " : "", number_of_part(part, k));
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

/* "63 claims: 26 hold, 16 round, ..." about the chosen entries. */
static void add_counts(Document *d, const Claims *claims, const bool *chosen) {
  for (int questions = 0; questions < 2; questions++) {
    int n[VERDICT_COUNT] = {0}, total = 0;
    char line[200] = "";
    for (const ClaimEntry *e = claims->entries; e < claims->entries + claims->n_entries; e++)
      if (chosen[e - claims->entries] && e->is_computed && e->is_question == questions) n[e->verdict]++, total++;
    for (int v = 0; v < VERDICT_COUNT; v++)
      if (n[v]) text_add(line, sizeof line, "%s%d %s", *line ? ", " : "", n[v], LOOK[v].count);
    if (total)
      document_line(d, ROLE_PLAIN, "%s: %s.", number_of(wide(total), questions ? "question" : "claim").text, line);
  }
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* A line an article: how many of its claims hold. */
static void add_articles(Document *d, const Claims *claims, const bool *chosen) {
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "articles!|right>|rounded>|in a limit>|wrong>");
  for (size_t k = 0, next; k < claims->n_entries; k = next) {
    const char *section = claims->entries[k].section;
    int n[VERDICT_COUNT] = {0}, any = 0;
    for (next = k; next < claims->n_entries && strcmp(section, claims->entries[next].section) == 0; next++)
      if (chosen[next]) n[claims->entries[next].verdict]++, any++;
    if (!any) continue;
    table_text(t, ROLE_PLAIN, section);
    for (int v = 0; v < VERDICT_COUNT; v++) table_whole(t, n[v] ? LOOK[v].role : ROLE_DIM, number_count, wide(n[v]));
  }
}

/* A line a claim. */
static void add_claims(Document *d, const Claims *claims, const bool *chosen, const TextStyle *style) {
  Table *t = put_table(d, DOCUMENT_TABLES, NULL,
                       "claim;id|;kind|;article|printed!;claimed|computed!;computed|unit!;unit|verdict;verdict|;says|"
                       ";why");
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!chosen[k]) continue;
    const ClaimPart *part = claims_part(claims, e, 0);
    const TextRole role = LOOK[e->verdict].role;
    char computed[CELL_BYTES], exact[CELL_BYTES], verdict[64], why[CLAIMS_TEXT_BYTES];
    verdict_computed_text(&part->claimed, &part->value, computed, sizeof computed);
    exact_text(part, exact);
    claims_why(claims, e, why, sizeof why);
    put_cells(t, "ssss", e->id, e->is_question ? "question" : "claim", (char[]){*e->text[CLAIM_ARTICLE].text, '\0'},
              part->claimed.text);
    table_pair(t, e->verdict == VERDICT_HOLDS ? ROLE_PLAIN : ROLE_ACCENT, computed, exact);
    put_cells(t, "~s", part->claimed.unit);
    snprintf(verdict, sizeof verdict, "%s %s", text_role_mark(style, role), verdict_name(e->verdict));
    table_pair(t, role, verdict, verdict_name(e->verdict));
    put_cells(t, "ss", e->filled[e->is_question ? CLAIM_ASKS : CLAIM_SAYS],
              e->is_question ? e->filled[CLAIM_EVIDENCE] : why);
  }
}

/* ---- In full ----------------------------------------------------------------------------------------------------- */

/* A label and a text beside it, wrapped in its own column. */
static void print_labelled(Io *io, const char *label, TextRole role, const char *text) {
  int columns = io->style.width - LABEL_COLUMNS - 2;
  if (columns < 20) columns = 20;
  for (; *text; label = "") {
    const char *line = text;
    const size_t bytes = text_wrap(&io->style, &text, columns);
    io_print(io, ROLE_DIM, "  %-*s", LABEL_COLUMNS, label);
    io_print(io, role, "%.*s\n", (int)bytes, line);
  }
}

/* "the largest block: 185 rows said, 148 rows computed: wrong", "it fits: holds" */
static void print_part(const ClaimPart *part, const char *name, const char *label, Io *io) {
  char line[4 * CELL_BYTES], computed[CELL_BYTES], printed[CELL_BYTES];
  both_texts(part, printed, computed);
  const Verdict verdict = part->judgement.verdict;
  const char *mark = text_role_mark(&io->style, LOOK[verdict].role), *outcome = verdict_name(verdict);
  if (part->claimed.kind == CLAIMED_FLAG)
    snprintf(line, sizeof line, "%s %s: %s", mark, name, outcome);
  else if (verdict == VERDICT_HOLDS)
    snprintf(line, sizeof line, "%s %s: %s, %s", mark, name, printed, outcome);
  else
    snprintf(line, sizeof line, "%s %s: %s said, %s computed: %s", mark, name, printed, computed, outcome);
  print_labelled(io, label, LOOK[verdict].role, line);
}

/* The expression of a part, below its label and indented, so that it can be copied. */
static void print_code(const ClaimPart *part, Io *io) {
  const char *line = part->code.text;
  io_print(io, ROLE_DIM, "  computed by\n");
  while (*line) {
    const size_t bytes = strcspn(line, "\n");
    fputs("    ", io->out);
    text_write_n(io->out, &io->style, line, bytes);
    io_end_line(io);
    line += bytes + (line[bytes] == '\n');
  }
}

static void print_entry(const Claims *claims, const ClaimEntry *e, Io *io) {
  const bool asks = e->is_question;
  const TextRole role = LOOK[e->verdict].role;
  char computed[CELL_BYTES] = "", printed[CELL_BYTES] = "", why[CLAIMS_TEXT_BYTES] = "";
  if (!asks) both_texts(claims_part(claims, e, 0), printed, computed);
  if (!asks) claims_why(claims, e, why, sizeof why);
  const struct {
    const char *label, *text;
    TextRole role;
  } LINES[] = {{"asks", e->filled[CLAIM_ASKS], ROLE_PLAIN},
               {"answer", e->filled[CLAIM_ANSWER], ROLE_ACCENT},
               {"evidence", e->filled[CLAIM_EVIDENCE], ROLE_PLAIN},
               {"article", e->filled[asks ? CLAIM_ARTICLE_SAYS : CLAIM_ARTICLE], ROLE_PLAIN},
               {"says", e->filled[CLAIM_SAYS], ROLE_PLAIN},
               {"printed", printed, ROLE_PLAIN},
               {"computed", computed, ROLE_ACCENT},
               {e->verdict == VERDICT_HOLDS ? "remark" : "why", why, ROLE_PLAIN}};
  io_print(io, role, "\n%s ", text_role_mark(&io->style, role));
  io_print(io, ROLE_HEADING, "%s", e->id);
  io_print(io, role, "  %s\n", verdict_name(e->verdict));
  for (size_t k = 0; k < COUNT_OF(LINES); k++) print_labelled(io, LINES[k].label, LINES[k].role, LINES[k].text);
  for (int p = 0; asks && p < e->n_parts; p++) {
    const ClaimPart *part = claims_part(claims, e, p);
    print_part(part, part->name ? part->name : e->id, p ? "" : "judged", io);
  }
  for (int p = 0; p < e->n_parts; p++) print_code(claims_part(claims, e, p), io);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_number(Document *d, const char *key, double value) {
  if (isfinite(value) && value == floor(value) && fabs(value) < 9e15)
    put_values(d, "%:i", key, (int64_t)value);
  else
    put_values(d, "%:f", key, value);
}

/* As it is printed: 67, [6, 4, 6], "4-8", "1/2000", true, "N". */
static void put_claimed(Document *d, const Claimed *c) {
  if (c->kind == CLAIMED_FLAG) {
    put_values(d, "claimed:b", c->flag);
  } else if (c->kind != CLAIMED_NUMBERS || c->reciprocal) {
    put_values(d, "claimed:s", c->text);
  } else if (c->n == 1) {
    put_number(d, "claimed", c->numbers[0]);
  } else {
    put_values(d, "claimed[");
    for (int k = 0; k < c->n; k++) put_number(d, NULL, c->numbers[k]);
    put_end(d);
  }
}

/* Many numbers in the claim's unit: a list, {"low", "high"}, or [[size, value], ...] for a series. */
static void put_many(Document *d, const ClaimPart *part) {
  const ExpressionValue *v = &part->value;
  const bool is_range = v->kind == EXPRESSION_RANGE, is_series = v->kind == EXPRESSION_SERIES;
  put_values(d, is_range ? "computed{" : "computed[");
  for (int k = 0; k < v->n; k++) {
    if (is_series) put_values(d, "[");
    if (is_series) put_number(d, NULL, v->at[k]);
    put_number(d, !is_range ? NULL : k ? "high" : "low", number_of_part(part, k));
    if (is_series) put_end(d);
  }
  put_end(d);
}

static void put_computed(Document *d, const ClaimPart *part) {
  const ExpressionValue *v = &part->value;
  switch (v->kind) {
  case EXPRESSION_NONE: put_values(d, "computed:0"); return;
  case EXPRESSION_FLAG: put_values(d, "computed:b", v->flag); return;
  case EXPRESSION_TEXT: put_values(d, "computed:s", v->text); return;
  case EXPRESSION_NUMBER: put_number(d, "computed", number_of_part(part, 0)); return;
  default: put_many(d, part);
  }
}

static void put_part(Document *d, const ClaimPart *part) {
  put_claimed(d, &part->claimed);
  put_computed(d, part);
  put_values(d, "unit:s", part->claimed.unit);
}

static void put_claim(Document *d, const Claims *claims, const ClaimEntry *e) {
  char why[CLAIMS_TEXT_BYTES];
  claims_why(claims, e, why, sizeof why);
  put_values(d, "{id:s verdict:s", e->id, verdict_name(e->verdict));
  put_part(d, claims_part(claims, e, 0));
  put_values(d, "why:s article:s says:s}", why, e->filled[CLAIM_ARTICLE], e->filled[CLAIM_SAYS]);
}

static void put_question(Document *d, const Claims *claims, const ClaimEntry *e) {
  put_values(d, "{id:s asks:s answer:s article_says:s verdict:s evidence:s parts[", e->id, e->filled[CLAIM_ASKS],
             e->filled[CLAIM_ANSWER], e->filled[CLAIM_ARTICLE_SAYS], verdict_name(e->verdict),
             e->filled[CLAIM_EVIDENCE]);
  for (int p = 0; p < e->n_parts; p++) {
    const ClaimPart *part = claims_part(claims, e, p);
    put_values(d, "{part:s verdict:s", part->name, verdict_name(part->judgement.verdict));
    put_part(d, part);
    put_end(d);
  }
  put_values(d, "]}");
}

/* Claims first, then questions. */
static void put_entries(Document *d, const Claims *claims, const bool *chosen) {
  d->digits = 15;
  for (int questions = 0; questions < 2; questions++) {
    put_values(d, questions ? "questions[" : "claims[");
    for (size_t k = 0; k < claims->n_entries; k++)
      if (chosen[k] && claims->entries[k].is_question == questions)
        (questions ? put_question : put_claim)(d, claims, &claims->entries[k]);
    put_end(d);
  }
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

void check_report(Document *d, const Claims *claims, const bool *chosen, CheckDepth depth, Io *io) {
  if (d->form == DOCUMENT_JSON) put_entries(d, claims, chosen);
  if (d->form == DOCUMENT_CSV) add_claims(d, claims, chosen, &io->style);
  if (d->form != DOCUMENT_TEXT) return;
  for (size_t k = 0; depth == CHECK_IN_FULL && k < claims->n_entries; k++)
    if (chosen[k]) print_entry(claims, &claims->entries[k], io);
  if (depth == CHECK_IN_FULL) io_end_line(io);
  add_counts(d, claims, chosen);
  if (depth != CHECK_IN_FULL) document_gap(d);
  if (depth == CHECK_BY_ARTICLE) add_articles(d, claims, chosen);
  if (depth == CHECK_BY_CLAIM) add_claims(d, claims, chosen, &io->style);
  document_line(d, ROLE_DIM, "Next: lesson claims --only ID: why, and the expression; --article A; --details.");
}
