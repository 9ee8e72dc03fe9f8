/* The report of `tilewalk lesson claims`: for people, as CSV and as JSON. */
#include <string.h>

#include "viz/cli/claims/articles.h"
#include "viz/text/glyphs.h"
#include "viz/text/print.h"
#include "viz/text/table.h"

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
static void print_labelled(Io *io, const char *label, TextRole role, const char *text) {
  int columns = io->style.width - LABEL_COLUMNS - 2;
  if (columns < 20) columns = 20;
  const char *rest = text;
  bool first = true;
  while (*rest || first) {
    const char *line = rest;
    const size_t bytes = *rest ? text_wrap(&io->style, &rest, columns) : 0;
    text_print(io->out, &io->style, ROLE_DIM, "  %-*s", LABEL_COLUMNS, first ? label : "");
    text_print(io->out, &io->style, role, "%.*s", (int)bytes, line);
    fputc('\n', io->out);
    first = false;
  }
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

static void count(const Claims *claims, const bool *chosen, bool questions, int n[VERDICT_COUNT], int *total) {
  memset(n, 0, VERDICT_COUNT * sizeof *n);
  *total = 0;
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!chosen[k] || !e->is_computed || e->is_question != questions) continue;
    n[e->verdict]++;
    ++*total;
  }
}

/* "63 claims: 26 hold, 16 round, ..." about the chosen entries. */
static void add_counts(Document *d, const Claims *claims, const bool *chosen) {
  for (int questions = 0; questions < 2; questions++) {
    int n[VERDICT_COUNT], total;
    char line[200];
    count(claims, chosen, questions, n, &total);
    snprintf(line, sizeof line, "%s: ", number_of(wide(total), questions ? "question" : "claim").text);
    const char *separator = "";
    for (int v = 0; v < VERDICT_COUNT; v++) {
      if (!n[v]) continue;
      snprintf(line + strlen(line), sizeof line - strlen(line), "%s%d %s", separator, n[v], LOOK[v].count);
      separator = ", ";
    }
    if (total) document_line(d, ROLE_PLAIN, "%s.", line);
  }
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* A line an article: how many of its claims hold. */
static void add_articles(Document *d, const Claims *claims, const bool *chosen) {
  static const Verdict ORDER[] = {VERDICT_HOLDS, VERDICT_ROUNDS, VERDICT_LIMIT, VERDICT_WRONG};
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "articles!|right>|rounded>|in a limit>|wrong>");
  for (size_t k = 0, next; k < claims->n_entries; k = next) {
    const char *section = claims->entries[k].section;
    int n[VERDICT_COUNT] = {0}, any = 0;
    for (next = k; next < claims->n_entries && strcmp(section, claims->entries[next].section) == 0; next++)
      if (chosen[next]) n[claims->entries[next].verdict]++, any++;
    if (!any) continue;
    table_text(t, ROLE_PLAIN, section);
    for (size_t v = 0; v < sizeof ORDER / sizeof *ORDER; v++)
      table_count(t, n[ORDER[v]] ? LOOK[ORDER[v]].role : ROLE_DIM, wide(n[ORDER[v]]));
  }
}

/* A line a claim. */
static void add_claims(Document *d, const Claims *claims, const bool *chosen, const TextStyle *style) {
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "claim|printed!|computed!|unit!|verdict");
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!chosen[k]) continue;
    const ClaimPart *part = claims_part(claims, e, 0);
    char computed[CELL_BYTES];
    computed_text(part, computed);
    put_cells(t, "ss@s~s", e->id, part->claimed.text, e->verdict == VERDICT_HOLDS ? ROLE_PLAIN : ROLE_ACCENT, computed,
              part->claimed.unit);
    table_format(t, LOOK[e->verdict].role, "%s %s", text_role_mark(style, LOOK[e->verdict].role),
                 verdict_name(e->verdict));
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
  print_labelled(io, label, LOOK[verdict].role, line);
}

static void print_heading(const ClaimEntry *e, Io *io) {
  const TextRole role = LOOK[e->verdict].role;
  fputc('\n', io->out);
  text_print(io->out, &io->style, role, "%s ", text_role_mark(&io->style, role));
  text_print(io->out, &io->style, ROLE_HEADING, "%s", e->id);
  text_print(io->out, &io->style, role, "  %s\n", verdict_name(e->verdict));
}

static void print_text(const ClaimEntry *e, const char *label, TextRole role, ClaimText which, Io *io) {
  print_labelled(io, label, role, e->filled[which]);
}

static void print_question(const Claims *claims, const ClaimEntry *e, Io *io) {
  print_heading(e, io);
  print_text(e, "asks", ROLE_PLAIN, CLAIM_ASKS, io);
  print_text(e, "answer", ROLE_ACCENT, CLAIM_ANSWER, io);
  print_text(e, "evidence", ROLE_PLAIN, CLAIM_EVIDENCE, io);
  print_text(e, "article", ROLE_PLAIN, CLAIM_ARTICLE_SAYS, io);
  for (int p = 0; p < e->n_parts; p++) {
    const ClaimPart *part = claims_part(claims, e, p);
    const char *name = part->name ? part->name : e->id;
    print_part(part, name, p ? "" : "judged", io);
  }
}

/* ---- In full ----------------------------------------------------------------------------------------------------- */

/* The expression of a part, below its label and indented, so that it can be copied. */
static void print_code(const ClaimPart *part, Io *io) {
  const char *line = part->code.text;
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
  const ClaimPart *part = claims_part(claims, e, 0);
  char computed[CELL_BYTES], text[CELL_BYTES], why[CLAIMS_TEXT_BYTES];
  print_heading(e, io);
  print_text(e, "article", ROLE_PLAIN, CLAIM_ARTICLE, io);
  print_text(e, "says", ROLE_PLAIN, CLAIM_SAYS, io);
  with_unit(part, part->claimed.text, text);
  print_labelled(io, "printed", ROLE_PLAIN, text);
  computed_text(part, computed);
  with_unit(part, computed, text);
  print_labelled(io, "computed", ROLE_ACCENT, text);
  claims_why(claims, e, why, sizeof why);
  if (*why) print_labelled(io, e->verdict == VERDICT_HOLDS ? "remark" : "why", ROLE_PLAIN, why);
  print_code(part, io);
}

static void print_in_full(const Claims *claims, const bool *chosen, Io *io) {
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!chosen[k]) continue;
    if (!e->is_question) {
      print_claim_in_full(claims, e, io);
      continue;
    }
    print_question(claims, e, io);
    for (int p = 0; p < e->n_parts; p++) print_code(claims_part(claims, e, p), io);
  }
}

void check_print(Document *d, const Claims *claims, const bool *chosen, CheckDepth depth, Io *io) {
  if (depth == CHECK_IN_FULL) print_in_full(claims, chosen, io);
  if (depth == CHECK_IN_FULL) fputc('\n', io->out);
  add_counts(d, claims, chosen);
  if (depth != CHECK_IN_FULL) document_gap(d);
  if (depth == CHECK_BY_ARTICLE) add_articles(d, claims, chosen);
  if (depth == CHECK_BY_CLAIM) add_claims(d, claims, chosen, &io->style);
  document_line(d, ROLE_DIM, "Next: lesson claims --only ID: why, and the expression; --article A; --details.");
}
