/* The report of `tilewalk lesson claims`: for people, as CSV and as JSON. */
#include <string.h>

#include "sim/base/text_add.h"
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

/* "70.3 MB", "1 load", "true": a number with the unit where there is one. */
static void add_unit(const ClaimPart *part, char text[CELL_BYTES]) {
  const char *unit = part->claimed.unit;
  size_t length = strlen(unit);
  const size_t used = strlen(text);
  if (strcmp(text, "1") == 0 && length && unit[length - 1] == 's' && part->claimed.factor == 1) length--;
  if (length) snprintf(text + used, CELL_BYTES - used, " %.*s", (int)length, unit);
}

/* What is printed, and what is computed. */
static void both_texts(const ClaimPart *part, char printed[CELL_BYTES], char computed[CELL_BYTES]) {
  snprintf(printed, CELL_BYTES, "%s", part->claimed.text);
  verdict_computed_text(&part->claimed, &part->value, computed, CELL_BYTES);
  add_unit(part, printed), add_unit(part, computed);
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
    io_print(io, ROLE_DIM, "  %-*s", LABEL_COLUMNS, first ? label : "");
    io_print(io, role, "%.*s", (int)bytes, line);
    io_end_line(io);
    first = false;
  }
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
  Table *t = put_table(d, DOCUMENT_TEXT, NULL, "claim|printed!|computed!|unit!|verdict");
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!chosen[k]) continue;
    const ClaimPart *part = claims_part(claims, e, 0);
    char computed[CELL_BYTES];
    verdict_computed_text(&part->claimed, &part->value, computed, sizeof computed);
    put_cells(t, "ss@s~s", e->id, part->claimed.text, e->verdict == VERDICT_HOLDS ? ROLE_PLAIN : ROLE_ACCENT, computed,
              part->claimed.unit);
    table_format(t, LOOK[e->verdict].role, "%s %s", text_role_mark(style, LOOK[e->verdict].role),
                 verdict_name(e->verdict));
  }
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

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

static void print_heading(const ClaimEntry *e, Io *io) {
  const TextRole role = LOOK[e->verdict].role;
  io_end_line(io);
  io_print(io, role, "%s ", text_role_mark(&io->style, role));
  io_print(io, ROLE_HEADING, "%s", e->id);
  io_print(io, role, "  %s\n", verdict_name(e->verdict));
}

static void print_question(const Claims *claims, const ClaimEntry *e, Io *io) {
  print_heading(e, io);
  print_labelled(io, "asks", ROLE_PLAIN, e->filled[CLAIM_ASKS]);
  print_labelled(io, "answer", ROLE_ACCENT, e->filled[CLAIM_ANSWER]);
  print_labelled(io, "evidence", ROLE_PLAIN, e->filled[CLAIM_EVIDENCE]);
  print_labelled(io, "article", ROLE_PLAIN, e->filled[CLAIM_ARTICLE_SAYS]);
  for (int p = 0; p < e->n_parts; p++) {
    const ClaimPart *part = claims_part(claims, e, p);
    print_part(part, part->name ? part->name : e->id, p ? "" : "judged", io);
  }
}

/* ---- In full ----------------------------------------------------------------------------------------------------- */

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

static void print_claim(const Claims *claims, const ClaimEntry *e, Io *io) {
  const ClaimPart *part = claims_part(claims, e, 0);
  char computed[CELL_BYTES], printed[CELL_BYTES], why[CLAIMS_TEXT_BYTES];
  both_texts(part, printed, computed);
  print_heading(e, io);
  print_labelled(io, "article", ROLE_PLAIN, e->filled[CLAIM_ARTICLE]);
  print_labelled(io, "says", ROLE_PLAIN, e->filled[CLAIM_SAYS]);
  print_labelled(io, "printed", ROLE_PLAIN, printed);
  print_labelled(io, "computed", ROLE_ACCENT, computed);
  claims_why(claims, e, why, sizeof why);
  if (*why) print_labelled(io, e->verdict == VERDICT_HOLDS ? "remark" : "why", ROLE_PLAIN, why);
}

static void print_in_full(const Claims *claims, const bool *chosen, Io *io) {
  for (size_t k = 0; k < claims->n_entries; k++) {
    const ClaimEntry *e = &claims->entries[k];
    if (!chosen[k]) continue;
    if (e->is_question)
      print_question(claims, e, io);
    else
      print_claim(claims, e, io);
    for (int p = 0; p < e->n_parts; p++) print_code(claims_part(claims, e, p), io);
  }
}

void check_print(Document *d, const Claims *claims, const bool *chosen, CheckDepth depth, Io *io) {
  if (depth == CHECK_IN_FULL) print_in_full(claims, chosen, io);
  if (depth == CHECK_IN_FULL) io_end_line(io);
  add_counts(d, claims, chosen);
  if (depth != CHECK_IN_FULL) document_gap(d);
  if (depth == CHECK_BY_ARTICLE) add_articles(d, claims, chosen);
  if (depth == CHECK_BY_CLAIM) add_claims(d, claims, chosen, &io->style);
  document_line(d, ROLE_DIM, "Next: lesson claims --only ID: why, and the expression; --article A; --details.");
}
