#include "sim/algorithms/language/language_words.h"

#include <string.h>

#include "sim/base/nearest.h"

const LanguageWord LANGUAGE_WORDS[] = {
    {"algorithm", WORDS_HEADER | WORDS_PROSE, false},
    {"title", WORDS_HEADER | WORDS_PROSE, false},
    {"summary", WORDS_HEADER | WORDS_PROSE, false},
    {"source", WORDS_HEADER | WORDS_PROSE, false},
    {"default", WORDS_HEADER, false},
    {"size", WORDS_HEADER, false},
    {"input", WORDS_HEADER, false},
    {"output", WORDS_HEADER, false},
    {"tensor", WORDS_HEADER, false},
    {"kernel", WORDS_HEADER, false},
    {"launch", WORDS_HEADER, false},
    {"ranks", WORDS_HEADER, false},
    {"for", WORDS_LINE | WORDS_RANKS, true},
    {"load", WORDS_LINE, true},
    {"store", WORDS_LINE, true},
    {"add", WORDS_LINE, true},
    {"mask", WORDS_LINE | WORDS_FORMULA, true},
    {"stages", WORDS_LAUNCH, false},
    {"consumers", WORDS_LAUNCH, false},
    {"registers", WORDS_LAUNCH, false},
    {"threads", WORDS_LAUNCH, false},
    {"share", WORDS_LAUNCH, false},
    {"run", WORDS_RANKS, false},
    {"send", WORDS_RANKS, false},
    {"receive", WORDS_RANKS, false},
    {"rank", WORDS_OF_RANKS, false},
    {"step", WORDS_OF_RANKS, false},
    {"contiguous", WORDS_OF_RANKS, false},
    {"striped", WORDS_OF_RANKS, false},
    {"zigzag", WORDS_OF_RANKS, false},
    {"to", WORDS_OF_RANKS, false},
    {"from", WORDS_OF_RANKS, false},
    {"by", WORDS_OF_LAUNCH, false},
    {"beside", WORDS_OF_LAUNCH, false},
    {"every", WORDS_LOOP | WORDS_OF_RANKS, false},
    {"each", WORDS_LOOP | WORDS_OF_RANKS, false},
    {"row", WORDS_LOOP | WORDS_VALUE, true},
    {"column", WORDS_LOOP, false},
    {"block", WORDS_LOOP, false},
    {"split", WORDS_LOOP, false},
    {"head", WORDS_LOOP, false},
    {"with", WORDS_LOOP, false},
    {"in", WORDS_LOOP, false},
    {"either", WORDS_LOOP, false},
    {"way", WORDS_LOOP, false},
    {"last", WORDS_LOOP, false},
    {"first", WORDS_LOOP | WORDS_VALUE, true},
    {"of", WORDS_LOOP | WORDS_VALUE | WORDS_OF_LAUNCH, true},
    {"once", WORDS_MOVE, true},
    {"when", WORDS_CONDITION | WORDS_OF_RANKS, true},
    {"and", WORDS_CONDITION, true},
    {"lse", WORDS_CONDITION, true},
    {"splits", WORDS_CONDITION, true},
    {"max", WORDS_VALUE, true},
    {"sum", WORDS_VALUE, true},
    {"log", WORDS_VALUE, true},
    {"sqrt", WORDS_VALUE, true},
    {"tanh", WORDS_VALUE, true},
    {"sigmoid", WORDS_VALUE, true},
    {"e", WORDS_VALUE, true},
    {"x", WORDS_VALUE, true},
    {"inf", WORDS_VALUE, true},
    {"B_r", WORDS_SIDE, true},
    {"B_c", WORDS_SIDE, true},
    {"d", WORDS_SIDE, true},
    {"d_v", WORDS_SIDE, true},
    {"N_q", WORDS_SIDE, true},
    {"N_k", WORDS_SIDE, true},
    {"attention", WORDS_FORMULA, false},
    {"gradient", WORDS_FORMULA, false},
    {"softmax", WORDS_FORMULA, false},
    {"fp32", WORDS_DECLARE, false},
    {"alone", WORDS_DECLARE, false},
    {"compared", WORDS_DECLARE, false},
};
const int N_LANGUAGE_WORDS = (int)(sizeof LANGUAGE_WORDS / sizeof *LANGUAGE_WORDS);

bool words_are_reserved(const char *text) {
  for (const LanguageWord *w = LANGUAGE_WORDS; w < LANGUAGE_WORDS + N_LANGUAGE_WORDS; w++)
    if (*w->text == *text && w->is_reserved && strcmp(w->text, text) == 0) return true;
  return false;
}

bool words_begin_prose(const char *line) {
  for (const LanguageWord *w = LANGUAGE_WORDS; w->places & WORDS_PROSE; w++) { /* the first of them */
    const size_t n = strlen(w->text);
    if (strncmp(line, w->text, n) == 0 && line[n] == ' ') return true;
  }
  return false;
}

const char *words_nearest(const char *typed, unsigned places) {
  Nearest nearest = {.word = typed};
  for (int k = 0; k < N_LANGUAGE_WORDS && typed[0] && typed[1]; k++)
    if (LANGUAGE_WORDS[k].places & places) nearest_offer(&nearest, LANGUAGE_WORDS[k].text);
  return nearest.best;
}

/* ---- Completion ------------------------------------------------------------------------------------------- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_in_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '\''; }

static bool begins_with(const char *line, const char *word) {
  const size_t n = strlen(word);
  return strncmp(line, word, n) == 0 && !is_in_name(line[n]);
}

static size_t start_of_line(const char *text, size_t at) {
  while (at > 0 && text[at - 1] != '\n') at--;
  return at;
}

/* Whether the lines at `at` are those of a launch, or of ranks. */
static bool is_in(const char *section, const char *text, size_t at) {
  for (size_t begin = start_of_line(text, at);; begin = start_of_line(text, begin - 1)) {
    if (is_letter(text[begin])) return begins_with(text + begin, section);
    if (begin == 0) return false;
  }
}

/* The places of words at `at`, where a word begins, on a line that begins at `begin`. */
static unsigned places_at(const char *text, size_t begin, size_t at) {
  size_t first = begin;
  while (first < at && text[first] == ' ') first++;
  const char *line = text + first;
  if (first == begin && first == at) return WORDS_HEADER;
  if (first > begin && is_in("launch", text, begin)) return first == at ? WORDS_LAUNCH : WORDS_OF_LAUNCH;
  if (first > begin && is_in("ranks", text, begin)) return first == at ? WORDS_RANKS : WORDS_OF_RANKS;
  if (first == at) return WORDS_LINE;
  if (begins_with(line, "for")) return WORDS_LOOP;
  if (begins_with(line, "default")) return WORDS_DECLARE;
  if (begins_with(line, "input") || begins_with(line, "output") || begins_with(line, "tensor"))
    return WORDS_SIDE | WORDS_DECLARE | (memchr(line, '=', (size_t)(text + at - line)) ? WORDS_FORMULA : 0);
  if (begins_with(line, "launch") || begins_with(line, "ranks")) return 0;
  if (begins_with(line, "kernel")) return WORDS_CONDITION;
  if (begins_with(line, "load")) return WORDS_MOVE | WORDS_CONDITION;
  const bool has_value = memchr(line, '=', (size_t)(text + at - line)) != NULL;
  if (!has_value && (begins_with(line, "store") || begins_with(line, "add"))) return WORDS_CONDITION;
  return WORDS_CONDITION | WORDS_VALUE | WORDS_SIDE;
}

typedef struct {
  char *out;
  size_t size, n;
  const char *begun;
  size_t n_begun;
} Offer;

/* A candidate that goes on from what is there, once. */
static void offer(Offer *o, const char *word, size_t n) {
  if (n <= o->n_begun || strncmp(word, o->begun, o->n_begun) != 0 || o->n + n + 2 > o->size) return;
  for (const char *at = o->out; *at; at = strchr(at, '\n') + 1)
    if (strncmp(at, word, n) == 0 && at[n] == '\n') return;
  memcpy(o->out + o->n, word, n);
  memcpy(o->out + o->n + n, "\n", 2);
  o->n += n + 1;
}

static bool is_word(const char *word, size_t n) {
  for (int k = 0; k < N_LANGUAGE_WORDS; k++)
    if (strncmp(LANGUAGE_WORDS[k].text, word, n) == 0 && !LANGUAGE_WORDS[k].text[n]) return true;
  return false;
}

/* Names that the text has elsewhere. */
static void offer_names(Offer *o, const char *text, size_t at) {
  for (size_t begin = 0; text[begin]; begin++) {
    if (text[begin] == '#' ||
        (is_letter(text[begin]) && begin == start_of_line(text, begin) && words_begin_prose(text + begin))) {
      begin += strcspn(text + begin, "\n");
      if (!text[begin]) return;
      continue;
    }
    if (!is_letter(text[begin])) continue;
    size_t n = 1;
    while (is_in_name(text[begin + n])) n++;
    if ((at < begin || at > begin + n) && !is_word(text + begin, n)) offer(o, text + begin, n);
    begin += n - 1;
  }
}

size_t words_complete(const char *text, size_t at, char *out, size_t size) {
  size_t word = at;
  while (word > 0 && is_in_name(text[word - 1])) word--;
  const size_t begin = start_of_line(text, word);
  Offer o = {.out = out, .size = size, .begun = text + word, .n_begun = at - word};
  out[0] = '\0';
  if (memchr(text + begin, '#', word - begin) || (word > begin && words_begin_prose(text + begin))) return o.n_begun;
  const unsigned places = places_at(text, begin, word);
  for (int k = 0; k < N_LANGUAGE_WORDS; k++)
    if (LANGUAGE_WORDS[k].places & places) offer(&o, LANGUAGE_WORDS[k].text, strlen(LANGUAGE_WORDS[k].text));
  if (!(places & (WORDS_HEADER | WORDS_LOOP))) offer_names(&o, text, at);
  return o.n_begun;
}
