/* The report of `tilewalk lesson claims`: for people, as CSV and as JSON. */
#include <string.h>

#include "viz/cli/check/articles.h"
#include "viz/text/glyphs.h"
#include "viz/text/print.h"
#include "viz/text/table.h"

enum { LABEL_COLUMNS = 11, ID_COLUMNS = 20, CELL_BYTES = 512 };

static const struct {
  TextRole role;
  const char *heading; /* over the reasons */
  const char *count;   /* "3 are wrong" */
} LOOK[VERDICT_COUNT] = {
    [VERDICT_HOLDS] = {ROLE_GOOD, "Holds, with a remark", "hold"},
    [VERDICT_ROUNDS] = {ROLE_WARN, "Right but for rounding, or for MB and MiB", "round"},
    [VERDICT_LIMIT] = {ROLE_WARN, "True only in the limit", "hold in a limit"},
    [VERDICT_WRONG] = {ROLE_BAD, "Wrong", "wrong"},
};

static bool is_chosen(const bool *chosen, size_t k) { return !chosen || chosen[k]; }

static void computed_text(const ClaimPart *part, char text[CELL_BYTES]) {
  verdict_computed_text(&part->claimed, &part->value, text, CELL_BYTES);
}

/* "70.3 MB", "1 load", "true": with the unit where there is one. */
static void with_unit(const ClaimPart *part, const char *number, char text[CELL_BYTES]) {
  const char *unit = part->claimed.unit;
  size_t length = strlen(unit);
  if (strcmp(number, "1") == 0 && length && unit[length - 1] == 's' && part->claimed.factor == 1) length--;
  snprintf(text, CELL_BYTES, "%.400s%s%.*s", number, length ? " " : "", (int)length, unit);
}

/* ---- Paragraphs -------------------------------------------------------------------------------------------------- */

/* A label and a text beside it, wrapped in its own column. */
static void print_labelled(Io *io, const char *label, int label_columns, TextRole role, const char *text) {
  int columns = io->style.width - label_columns - 2;
  if (columns < 20) columns = 20;
  const char *rest = text;
  bool first = true;
  while (*rest || first) {
    const char *line = rest;
    const size_t bytes = *rest ? text_wrap(&io->style, &rest, columns) : 0;
    text_print(io->out, &io->style, ROLE_DIM, "  %-*s", label_columns, first ? label : "");
    text_print(io->out, &io->style, role, "%.*s", (int)bytes, line);
    fputc('\n', io->out);
    first = false;
  }
}

static void print_heading(Io *io, const char *text) {
  fputc('\n', io->out);
  text_print(io->out, &io->style, ROLE_HEADING, "%s", text);
  fputc('\n', io->out);
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

static void count(const Claims *claims, const bool *chosen, bool questions, int n[VERDICT_COUNT], int *total) {
  memset(n, 0, VERDICT_COUNT * sizeof *n);
  *total = 0;
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!is_chosen(chosen, k) || !e->is_computed || e->is_question != questions) continue;
    n[e->verdict]++;
    ++*total;
  }
}

static void print_count_line(Io *io, const int n[VERDICT_COUNT], int total, const char *what) {
  text_say(io->out, "%d %s%s: ", total, what, total == 1 ? "" : "s");
  const char *separator = "";
  for (int v = 0; v < VERDICT_COUNT; v++) {
    if (!n[v]) continue;
    text_put(io->out, separator);
    text_print(io->out, &io->style, LOOK[v].role, "%d %s", n[v], LOOK[v].count);
    separator = ", ";
  }
  fputs(".\n", io->out);
}

void check_print_counts(const Claims *claims, const bool *chosen, Io *io) {
  int n[VERDICT_COUNT], total;
  count(claims, chosen, false, n, &total);
  if (total) print_count_line(io, n, total, "claim");
  count(claims, chosen, true, n, &total);
  if (total) print_count_line(io, n, total, "question");
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static Status print_table(const Claims *claims, const bool *chosen, Io *io, Error *error) {
  Table table = table_new((TableColumn[]){{.heading = "claim"},
                                          {.heading = "printed", .shrink = TABLE_WRAP},
                                          {.heading = "computed", .shrink = TABLE_WRAP},
                                          {.heading = "unit"},
                                          {.heading = "verdict"}},
                          5);
  const char *section = "";
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!is_chosen(chosen, k) || e->is_question) continue;
    if (strcmp(section, claims_section(claims, e)) != 0) table_group(&table, "%s", section = claims_section(claims, e));
    const ClaimPart *part = claims_part(claims, e, 0);
    char computed[CELL_BYTES];
    computed_text(part, computed);
    table_text(&table, ROLE_PLAIN, claims_id(claims, e));
    table_text(&table, ROLE_PLAIN, part->claimed.text);
    table_text(&table, e->verdict == VERDICT_HOLDS ? ROLE_PLAIN : ROLE_ACCENT, computed);
    table_text(&table, ROLE_DIM, part->claimed.unit);
    table_format(&table, LOOK[e->verdict].role, "%s %s", text_role_mark(&io->style, LOOK[e->verdict].role),
                 verdict_name(e->verdict));
  }
  if (table.n_items) {
    text_print(io->out, &io->style, ROLE_HEADING, "What the articles print, and what the simulator computes");
    fputs("\n\n", io->out);
  }
  const Status status = table.n_items ? table_print(&table, io->out, &io->style, error) : STATUS_OK;
  table_free(&table);
  return status;
}

/* ---- Reasons ----------------------------------------------------------------------------------------------------- */

/* Beside the id: what there is to say of a claim that is as good as right. */
static void print_remark(const Claims *claims, const ClaimEntry *e, Io *io) {
  char why[CLAIMS_TEXT_BYTES];
  claims_why(claims, e, why, sizeof why);
  print_labelled(io, claims_id(claims, e), ID_COLUMNS, ROLE_PLAIN, why);
}

static void print_reason(const Claims *claims, const ClaimEntry *e, Io *io) {
  char why[CLAIMS_TEXT_BYTES], line[CLAIMS_TEXT_BYTES + 3 * CELL_BYTES];
  const ClaimPart *part = claims_part(claims, e, 0);
  char computed[CELL_BYTES], printed[CELL_BYTES], both[CELL_BYTES];
  claims_why(claims, e, why, sizeof why);
  computed_text(part, computed);
  with_unit(part, part->claimed.text, printed);
  with_unit(part, computed, both);
  const TextRole role = LOOK[e->verdict].role;
  text_print(io->out, &io->style, role, "%s ", text_role_mark(&io->style, role));
  text_print(io->out, &io->style, ROLE_HEADING, "%s", claims_id(claims, e));
  fputc('\n', io->out);
  text_paragraph(io->out, &io->style, ROLE_DIM, 2, claims_filled(claims, e, CLAIM_SAYS));
  snprintf(line, sizeof line, "%s printed, %s computed. %s", printed, both, why);
  text_paragraph(io->out, &io->style, ROLE_PLAIN, 2, line);
}

static void print_reasons(const Claims *claims, const bool *chosen, Io *io) {
  static const Verdict order[] = {VERDICT_WRONG, VERDICT_LIMIT, VERDICT_ROUNDS, VERDICT_HOLDS};
  for (size_t v = 0; v < sizeof order / sizeof *order; v++) {
    bool any = false;
    for (size_t k = 0; k < claims->n_entries; k++) {
      const ClaimEntry *e = &claims->entries[k];
      if (!is_chosen(chosen, k) || e->is_question || e->verdict != order[v]) continue;
      if (e->verdict == VERDICT_HOLDS && !e->text[CLAIM_NOTE].offset) continue;
      if (!any) print_heading(io, LOOK[order[v]].heading);
      any = true;
      if (order[v] == VERDICT_ROUNDS || order[v] == VERDICT_HOLDS)
        print_remark(claims, e, io);
      else
        print_reason(claims, e, io);
    }
  }
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

/* "the largest block: 185 rows said, 148 rows computed: wrong", "it fits: holds" */
static void print_part(const ClaimPart *part, const char *name, const char *label, Io *io) {
  char line[4 * CELL_BYTES], computed[CELL_BYTES], printed[CELL_BYTES], both[CELL_BYTES];
  computed_text(part, computed);
  with_unit(part, part->claimed.text, printed);
  with_unit(part, computed, both);
  const Verdict verdict = part->judgement.verdict;
  const char *mark = text_role_mark(&io->style, LOOK[verdict].role), *outcome = verdict_name(verdict);
  if (part->claimed.kind == CLAIMED_FLAG)
    snprintf(line, sizeof line, "%s %s: %s", mark, name, outcome);
  else if (verdict == VERDICT_HOLDS)
    snprintf(line, sizeof line, "%s %s: %s, %s", mark, name, printed, outcome);
  else
    snprintf(line, sizeof line, "%s %s: %s said, %s computed: %s", mark, name, printed, both, outcome);
  print_labelled(io, label, LABEL_COLUMNS, LOOK[verdict].role, line);
}

static void print_question(const Claims *claims, const ClaimEntry *e, Io *io) {
  const TextRole role = LOOK[e->verdict].role;
  fputc('\n', io->out);
  text_print(io->out, &io->style, role, "%s ", text_role_mark(&io->style, role));
  text_print(io->out, &io->style, ROLE_HEADING, "%s", claims_id(claims, e));
  text_print(io->out, &io->style, role, "  %s\n", verdict_name(e->verdict));
  print_labelled(io, "asks", LABEL_COLUMNS, ROLE_PLAIN, claims_filled(claims, e, CLAIM_ASKS));
  print_labelled(io, "answer", LABEL_COLUMNS, ROLE_ACCENT, claims_filled(claims, e, CLAIM_ANSWER));
  print_labelled(io, "evidence", LABEL_COLUMNS, ROLE_PLAIN, claims_filled(claims, e, CLAIM_EVIDENCE));
  print_labelled(io, "article", LABEL_COLUMNS, ROLE_PLAIN, claims_filled(claims, e, CLAIM_ARTICLE_SAYS));
  for (int p = 0; p < e->n_parts; p++) {
    const ClaimPart *part = claims_part(claims, e, p);
    const char *name = part->name ? pool_text(&claims->pool, part->name) : claims_id(claims, e);
    print_part(part, name, p ? "" : "judged", io);
  }
}

static void print_questions(const Claims *claims, const bool *chosen, Io *io) {
  bool any = false;
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!is_chosen(chosen, k) || !e->is_question) continue;
    if (!any) print_heading(io, claims_section(claims, e));
    any = true;
    print_question(claims, e, io);
  }
}

/* ---- In full ----------------------------------------------------------------------------------------------------- */

/* The expression of a part, below its label and indented, so that it can be copied. */
static void print_code(const Claims *claims, const ClaimPart *part, Io *io) {
  const char *line = pool_text(&claims->pool, part->code.offset);
  text_print(io->out, &io->style, ROLE_DIM, "  computed by\n");
  while (*line) {
    const size_t bytes = strcspn(line, "\n");
    fputs("    ", io->out);
    text_write_n(io->out, &io->style, line, bytes);
    fputc('\n', io->out);
    line += bytes + (line[bytes] == '\n');
  }
}

static void print_claim_in_full(const Claims *claims, const ClaimEntry *e, Io *io) {
  const TextRole role = LOOK[e->verdict].role;
  const ClaimPart *part = claims_part(claims, e, 0);
  char computed[CELL_BYTES], text[CELL_BYTES], why[CLAIMS_TEXT_BYTES];
  fputc('\n', io->out);
  text_print(io->out, &io->style, role, "%s ", text_role_mark(&io->style, role));
  text_print(io->out, &io->style, ROLE_HEADING, "%s", claims_id(claims, e));
  text_print(io->out, &io->style, role, "  %s\n", verdict_name(e->verdict));
  print_labelled(io, "article", LABEL_COLUMNS, ROLE_PLAIN, claims_filled(claims, e, CLAIM_ARTICLE));
  print_labelled(io, "says", LABEL_COLUMNS, ROLE_PLAIN, claims_filled(claims, e, CLAIM_SAYS));
  with_unit(part, part->claimed.text, text);
  print_labelled(io, "printed", LABEL_COLUMNS, ROLE_PLAIN, text);
  computed_text(part, computed);
  with_unit(part, computed, text);
  print_labelled(io, "computed", LABEL_COLUMNS, ROLE_ACCENT, text);
  claims_why(claims, e, why, sizeof why);
  if (*why) print_labelled(io, e->verdict == VERDICT_HOLDS ? "remark" : "why", LABEL_COLUMNS, ROLE_PLAIN, why);
  print_code(claims, part, io);
}

static void print_in_full(const Claims *claims, const bool *chosen, Io *io) {
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!is_chosen(chosen, k)) continue;
    if (!e->is_question) {
      print_claim_in_full(claims, e, io);
      continue;
    }
    print_question(claims, e, io);
    for (int p = 0; p < e->n_parts; p++) print_code(claims, claims_part(claims, e, p), io);
  }
}

Status check_print(const Claims *claims, const bool *chosen, bool in_full, Io *io, Error *error) {
  if (in_full) {
    print_in_full(claims, chosen, io);
    return STATUS_OK;
  }
  const Status status = print_table(claims, chosen, io, error);
  if (status) return status;
  print_reasons(claims, chosen, io);
  print_questions(claims, chosen, io);
  fputc('\n', io->out);
  check_print_counts(claims, chosen, io);
  text_print(io->out, &io->style, ROLE_DIM, "The expression behind a verdict: tilewalk lesson claims --only ID\n");
  return STATUS_OK;
}
