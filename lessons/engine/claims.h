/* Claims and questions: what the articles print, and the experiment that settles each.
 *
 *     ## A-std-total-4096                                      an entry begins with its id
 *
 *     - article: A, memory access table                        whose, and where in it
 *     - says: standard attention at N = 4096 moves this much   in our own words
 *     - claimed: 132 MB                                        what is printed there: see lessons/engine/verdict.h
 *     - why: Every table of the article counts in MiB.         shown unless it holds; {expression} is computed
 *
 *     ```lua
 *     sim{N=4096, d=128, algorithm="standard"}.traffic.total_bytes
 *     ```
 *
 * That is Markdown, so the files read well anywhere. A question has `asks`, `article says`,
 * `answer` and `evidence` in place of `says` and `why`, and may have several pairs of `claimed` and
 * code, each after a `part` line that names it; its verdict is the worst of theirs. A text goes on
 * over indented lines. Before the first "## " anything may stand; a line
 * "# Title" begins a section.
 *
 * Files come from anybody: bounded in length and number of entries, UTF-8 without control
 * characters, and every error is one line with file and line number. Verdicts are never written
 * down: they are computed. */
#ifndef TILEWALK_LESSONS_ENGINE_CLAIMS_H
#define TILEWALK_LESSONS_ENGINE_CLAIMS_H

#include "lessons/engine/lesson.h"
#include "lessons/engine/verdict.h"

enum {
  CLAIMS_FILE_BYTES = 1 << 20,
  CLAIMS_ENTRIES_MAX = 1000,
  CLAIMS_PARTS_MAX = 8,     /* of one entry */
  CLAIMS_ID_BYTES = 40,     /* with the final zero */
  CLAIMS_TEXT_BYTES = 4000, /* a filled-in text, with its final zero */
};

typedef enum {
  CLAIM_ARTICLE = 0, /* "A, memory access table" */
  CLAIM_SAYS,
  CLAIM_WHY,
  CLAIM_NOTE,   /* shown whatever the verdict is */
  CLAIM_ROUNDS, /* how the printed numbers were rounded: within a thousandth they then round, counted or not */
  CLAIM_ASKS,
  CLAIM_ARTICLE_SAYS,
  CLAIM_ANSWER,
  CLAIM_EVIDENCE,
  CLAIM_TEXT_COUNT
} ClaimText;

/* One pair of claimed value and code. */
typedef struct {
  const char *name; /* NULL: it has none */
  LessonText code;
  int claimed_line;
  Claimed claimed;
  ExpressionValue value; /* computed */
  Judgement judgement;
} ClaimPart;

typedef struct {
  const char *id, *file, *section; /* section: the last "# " heading above; "": there is none */
  int line;
  bool is_question, is_computed;
  LessonText text[CLAIM_TEXT_COUNT];    /* as written */
  const char *filled[CLAIM_TEXT_COUNT]; /* with their numbers, in one line; "": not there */
  int first_part, n_parts;
  Verdict verdict;
} ClaimEntry;

/* Zeros: empty. Members are for reading. */
typedef struct {
  Pool pool;
  ClaimEntry *entries;
  ClaimPart *parts;
  size_t n_entries, entries_capacity, n_parts, parts_capacity;
} Claims;

/* Reads buffer[0..length) and adds its entries. `file` is what messages call it. On error nothing
 * is added. */
Status claims_read(Claims *claims, const char *buffer, size_t length, const char *file, Error *error);

void claims_free(Claims *claims);

/* Runs the code of one entry, judges it and fills in its texts. `limits`: as for expressions; the
 * file name is the entry's own. */
Status claims_compute(Claims *claims, size_t entry, const ExpressionLimits *limits, Error *error);

/* The entry with that id; n_entries: there is none, and *error names the nearest. */
size_t claims_find(const Claims *claims, const char *id, Error *error);

/* For printing. The texts live until the next addition. */
const ClaimPart *claims_part(const Claims *claims, const ClaimEntry *entry, int part);

/* Why the verdict is what it is, in a sentence or two: what follows from the rule, then the entry's
 * own words. "" when it holds and there is no note. */
void claims_why(const Claims *claims, const ClaimEntry *entry, char *text, size_t size);

#endif
