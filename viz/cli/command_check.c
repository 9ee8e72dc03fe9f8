/* tilewalk lesson claims: every claim of the articles and every question, computed. */
#define _GNU_SOURCE /* strcasestr */

#include "sim/base/path.h"
#include "sim/base/ascii.h"
#include "sim/base/text_add.h"
#include "viz/cli/claims/articles.h"
#include "viz/cli/command.h"
#include "viz/lesson/lesson_library.h"
#include "viz/text/progress.h"

enum { FILES_MAX = 8, IDS_BYTES = 4096, WORD_BYTES = 128, PATH_BYTES = 1024, N_LETTERS = 26 };

typedef struct {
  OutputRequest output;
  char ids[IDS_BYTES];          /* with commas between them; "": all */
  char articles[N_LETTERS + 1]; /* their letters; "": all */
  char word[WORD_BYTES];        /* "": any */
  char files[FILES_MAX][PATH_BYTES];
  int n_files;
} CheckOptions;

/* ---- Options ----------------------------------------------------------------------------------------------------- */

static Status add_ids(void *target, const char *value, Error *error) {
  char *ids = ((CheckOptions *)target)->ids;
  if (!*value) return error_refuse(error, "no id is given; 'tilewalk lesson claims' lists them");
  if (strlen(ids) + strlen(value) + 2 > IDS_BYTES)
    return error_refuse(error, "the ids have more than %d characters", IDS_BYTES - 2);
  text_add(ids, IDS_BYTES, "%s%s", *ids ? "," : "", value);
  return STATUS_OK;
}

static Status add_article(void *target, const char *value, Error *error) {
  CheckOptions *o = target;
  if (!ascii_is_alpha((unsigned char)value[0]) || value[1])
    return error_refuse(error, "'%s' is no article; articles are letters, such as A", quote_text(value).text);
  const char letter = (char)ascii_upper((unsigned char)value[0]);
  if (!strchr(o->articles, letter)) o->articles[strlen(o->articles)] = letter;
  return STATUS_OK;
}

static Status add_file(void *target, const char *value, Error *error) {
  CheckOptions *o = target;
  if (o->n_files == FILES_MAX) return error_refuse(error, "more than %d files at once", FILES_MAX);
  return options_text("the name of the file", value, o->files[o->n_files++], PATH_BYTES, error);
}

/* ---- Reading and computing --------------------------------------------------------------------------------------- */

static Status check_read_file(Claims *claims, const char *path, Error *error) {
  char *buffer = NULL;
  size_t length = 0;
  Status status = file_read(path, CLAIMS_FILE_BYTES, &buffer, &length, error);
  if (!status) status = claims_read(claims, buffer, length, path_base(path), error);
  free(buffer);
  return status;
}

Status check_read(Claims *claims, Error *error) {
  static const char *const files[] = {"lessons/course/claims.md", "lessons/course/questions.md"};
  for (size_t k = 0; k < COUNT_OF(files); k++) {
    char path[ASSETS_PATH_BYTES];
    Status status = assets_find(path, sizeof path, files[k], error);
    if (!status) status = check_read_file(claims, path, error);
    if (status) return status;
  }
  return STATUS_OK;
}

static Status compute(Claims *claims, const bool *chosen, const Io *io, Error *error) {
  Progress progress = progress_begin(io->err, "lesson claims", false);
  for (size_t k = 0; k < claims->n_entries; k++) {
    if (!chosen[k]) continue;
    const Status status = claims_compute(claims, k, &LESSON_LIMITS, error);
    if (status) return status;
    progress_foretell(&progress, (double)(k + 1) / (double)claims->n_entries);
  }
  return STATUS_OK;
}

/* ---- Choosing ---------------------------------------------------------------------------------------------------- */

static bool has_word(const ClaimEntry *e, const char *word) {
  bool found = strcasestr(e->id, word) != NULL;
  for (int part = 0; part < CLAIM_TEXT_COUNT; part++) found |= strcasestr(lesson_text(e->text[part]), word) != NULL;
  return found;
}

static char letter_of(const ClaimEntry *e) { return *e->text[CLAIM_ARTICLE].text; }

static Status choose(const CheckOptions *o, const Claims *claims, bool *chosen, Error *error) {
  char ids[IDS_BYTES];
  bool some = false, has_any = false;
  const ClaimEntry *const end = claims->entries + claims->n_entries;
  strcpy(ids, o->ids);
  for (char *rest = *ids ? ids : NULL, *id; (id = strsep(&rest, ","));) {
    const size_t found = claims_find(claims, id, error);
    if (found == claims->n_entries) return STATUS_BAD_REQUEST;
    chosen[found] = true;
  }
  for (const char *letter = o->articles; *letter; letter++) {
    const ClaimEntry *e = claims->entries;
    while (e < end && letter_of(e) != *letter) e++;
    if (e == end) return error_refuse(error, "there is no article %c; 'tilewalk lesson claims' lists them", *letter);
  }
  for (const ClaimEntry *e = claims->entries; e < end; e++, chosen++) {
    const bool found = has_word(e, o->word);
    *chosen = (!*o->ids || *chosen) && (!*o->articles || strchr(o->articles, letter_of(e))) && found;
    some |= *chosen;
    has_any |= found;
  }
  if (!has_any) return error_refuse(error, "no claim or question has '%s' in it", quote_text(o->word).text);
  if (some) return STATUS_OK;
  return error_refuse(error, "no claim is both in --only and of that --article%s",
                      *o->word ? ", with that --search" : "");
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static CheckDepth depth_of(const CheckOptions *o) {
  if (*o->ids || o->output.details) return CHECK_IN_FULL;
  return *o->word || o->n_files || *o->articles ? CHECK_BY_CLAIM : CHECK_BY_ARTICLE;
}

static Status answer(void *options, Document *d, Io *io, Error *error) {
  const CheckOptions *o = options;
  Claims claims = {0};
  bool *chosen = NULL;
  Status status = o->n_files ? STATUS_OK : check_read(&claims, error);
  for (int k = 0; k < o->n_files && !status; k++) status = check_read_file(&claims, o->files[k], error);
  if (!status) chosen = calloc(claims.n_entries, sizeof *chosen);
  if (!status && !chosen) status = error_no_memory(error, "for the choice of claims");
  if (!status) status = choose(o, &claims, chosen, error);
  if (!status) status = compute(&claims, chosen, io, error);
  if (!status) check_report(d, &claims, chosen, depth_of(o), io);
  free(chosen);
  claims_free(&claims);
  return status;
}

static const Option CHECK_OPTIONS[] = {
    OPTION_ROW("only", "ID",
               "Only these claims or questions, in full: what is said, what is printed, the expression that computes "
               "it. A comma-separated list; may be repeated.",
               .set = add_ids, .repeats = true, .choices = "@claims"),
    OPTION_ROW("article", "LETTER", "Only this article: A to E, or P, papers. May be repeated.", .set = add_article,
               .repeats = true, .choices = "A B C D E P"),
    OPTION_ROW("search", "WORD", "Only those with WORD in their text or id, whatever its case.",
               OPTION_TEXT(CheckOptions, word, "the word")),
    OPTION_ROW("file", "FILE",
               "Read claims from FILE instead of those that come with Tilewalk; the example below is a whole file. May "
               "be repeated.",
               .set = add_file, .repeats = true),
    {0},
};

static const OptionSet SETS[] = {
    {"Which", CHECK_OPTIONS, 0},
    {"Output", OUTPUT_FORMAT_OPTIONS, offsetof(CheckOptions, output)},
    {0},
};

const Command COMMAND_CHECK = {
    .name = "lesson claims",
    .old = "check",
    .summary = "the articles' numbers and questions, each judged by computing it",
    .usage = "[OPTION...]",
    .description =
        "Computes 82 statements of five articles and of papers, and 13 questions. A claim 'holds' to the digits "
        "that are printed, 'rounds' when it is off by one in the last digit, is true only in a 'limit', or is "
        "'wrong'. Each verdict follows from an expression in lessons/course/claims.md. A wrong article is no "
        "failure: exit status 0.",
    .examples = "  # how many of each article are wrong\n"
                "  tilewalk lesson claims\n\n"
                "  # one claim, with the expression that computes it\n"
                "  tilewalk lesson claims --only A-cyu1\n\n"
                "  # what is said about decode\n"
                "  tilewalk lesson claims --search decode\n\n"
                "  # one article, for programs\n"
                "  tilewalk lesson claims --article D --json\n\n"
                "  # a claim of your own, in a file such as\n"
                "  #     ## X-mine\n"
                "  #\n"
                "  #     - article: X, first table\n"
                "  #     - says: FlashAttention-2 at N = 8192 moves this much.\n"
                "  #     - claimed: 260 MiB\n"
                "  #\n"
                "  #     ```lua\n"
                "  #     sim{N=8192, d=128, block=128}.traffic.total_bytes\n"
                "  #     ```\n"
                "  tilewalk lesson claims --file mine.md\n",
    .options_bytes = sizeof(CheckOptions),
    .sets = SETS,
    .answer = answer,
};
