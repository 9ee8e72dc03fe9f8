#include "viz/compile/source_cut.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/ascii.h"

typedef struct {
  const char *text;
  size_t length;
  SourcePart *parts;
  int n, most;
} Cutter;

static bool is_word(int c) { return ascii_is_alnum(c) || c == '_'; }

/* Past a comment, a literal or a preprocessor line that begins at i; i itself when none does. */
static size_t skip(const Cutter *c, size_t i, bool at_line_start) {
  const char *t = c->text;
  const size_t n = c->length;
  if (t[i] == '/' && i + 1 < n && t[i + 1] == '/') {
    while (i < n && t[i] != '\n') i++;
    return i;
  }
  if (t[i] == '/' && i + 1 < n && t[i + 1] == '*') {
    for (i += 2; i + 1 < n && !(t[i] == '*' && t[i + 1] == '/');) i++;
    return i + 2 < n ? i + 2 : n;
  }
  if (t[i] == 'R' && i + 1 < n && t[i + 1] == '"' && (i == 0 || !is_word(t[i - 1]))) { /* R"mark( ... )mark" */
    size_t open = i + 2;
    while (open < n && t[open] != '(' && open - i < 20) open++;
    const size_t mark = open - (i + 2);
    for (size_t k = open; k + mark + 1 < n; k++)
      if (t[k] == ')' && memcmp(t + k + 1, t + i + 2, mark) == 0 && t[k + 1 + mark] == '"') return k + mark + 2;
    return n;
  }
  const bool digit_separator = t[i] == '\'' && i > 0 && ascii_is_hex(t[i - 1]);
  if (t[i] == '"' || (t[i] == '\'' && !digit_separator)) {
    const char quote = t[i];
    for (i++; i < n && t[i] != quote && t[i] != '\n'; i++)
      if (t[i] == '\\') i++;
    return i < n ? i + 1 : n;
  }
  if (t[i] == '#' && at_line_start) {
    while (i < n && (t[i] != '\n' || t[i - 1] == '\\')) i++;
    return i;
  }
  return i;
}

/* Whether text[begin, end) has the whole word, outside comments. */
static bool has_word(const Cutter *c, size_t begin, size_t end, const char *word) {
  const size_t n = strlen(word);
  for (size_t i = begin; i + n <= end;) {
    const size_t after = skip(c, i, false);
    if (after == i && memcmp(c->text + i, word, n) == 0 && (i == begin || !is_word(c->text[i - 1])) &&
        (i + n == end || !is_word(c->text[i + n])))
      return true;
    i = after > i ? after : i + 1;
  }
  return false;
}

/* The matching bracket's end of the one that opens at i. */
static size_t past_block(const Cutter *c, size_t i) {
  int depth = 0;
  for (bool fresh = false; i < c->length;) {
    const size_t after = skip(c, i, fresh);
    if (after > i) {
      i = after;
      continue;
    }
    const char ch = c->text[i++];
    if (ch == '\n')
      fresh = true;
    else if (!ascii_is_space(ch))
      fresh = false;
    if (ch == '{') depth++;
    if (ch == '}' && --depth <= 0) break;
  }
  return i;
}

/* struct, class, union, enum: unless it is the type that a function returns. */
static bool is_type(const Cutter *c, size_t begin, size_t end) {
  const char *paren = memchr(c->text + begin, '(', end - begin);
  const bool has = has_word(c, begin, end, "struct") || has_word(c, begin, end, "class") ||
                   has_word(c, begin, end, "union") || has_word(c, begin, end, "enum");
  /* a template's parameters may say class; alignas(16) has a bracket too */
  if (!has) return false;
  return !paren || has_word(c, begin, end, "alignas") || has_word(c, begin, end, "__align__") ||
         has_word(c, begin, end, "__attribute__") || has_word(c, begin, end, "__builtin_align__");
}

/* Parts of text[i, end): of a class, its members come before it. */
static void list(Cutter *c, size_t i, size_t end) {
  size_t begin = i; /* of the part */
  bool fresh = true, empty = true;
  int parens = 0;
  while (i < end) {
    const size_t after = skip(c, i, fresh);
    if (after > i) {
      const bool directive = c->text[i] == '#';
      i = after;
      if (empty || directive) begin = i, empty = true;
      continue;
    }
    const char ch = c->text[i];
    fresh = ch == '\n' || (fresh && ascii_is_space(ch));
    if (!ascii_is_space(ch) && empty) begin = i, empty = false;
    parens += (ch == '(') - (ch == ')');
    size_t head = i, stop = 0;
    if (ch == ';' && parens <= 0) stop = i + 1;
    if (ch == '}' ||
        (ch == ':' && i - begin < 10 &&
         (has_word(c, begin, i, "public") || has_word(c, begin, i, "private") || has_word(c, begin, i, "protected"))))
      empty = true; /* of a namespace; members follow */
    if (ch == '{' && parens <= 0) {
      if (has_word(c, begin, i, "namespace") ||
          (has_word(c, begin, i, "extern") && !memchr(c->text + begin, '(', i - begin))) {
        empty = true;
      } else {
        stop = past_block(c, i);
        if (is_type(c, begin, i)) {
          list(c, i + 1, stop - 1);
          while (stop < end && c->text[stop] != ';') stop++;
        }
        while (stop < end && c->text[stop] == ';') stop++;
      }
    }
    if (stop && c->n < c->most && !empty) {
      const int kind = has_word(c, begin, head, "__global__") ? SOURCE_KERNEL : has_word(c, begin, head, "__device__");
      c->parts[c->n++] = (SourcePart){begin, head, stop < end ? stop : end, kind};
    }
    if (stop) empty = true, parens = 0;
    i = stop ? stop : i + 1;
  }
}

int source_parts(const char *text, size_t length, SourcePart *parts, int most) {
  Cutter c = {.text = text, .length = length, .parts = parts, .most = most};
  list(&c, 0, length);
  return c.n;
}

bool source_name(const char *text, const SourcePart *part, char *name, size_t size) {
  const Cutter c = {.text = text, .length = part->end};
  size_t begin = part->begin, end = begin; /* of the last word */
  int depth = 0;
  if (is_type(&c, part->begin, part->head)) return false;
  for (size_t i = part->begin; i < part->head; i++) {
    if (text[i] == '(' && depth++ == 0 && end > begin && strncmp(text + begin, "__", 2) != 0)
      return snprintf(name, size, "%.*s", (int)(end - begin), text + begin);
    depth -= text[i] == ')';
    if (is_word(text[i]) && i > end) begin = i; /* another */
    if (is_word(text[i])) end = i + 1;
    if (!is_word(text[i]) && !ascii_is_space(text[i])) begin = end = i + 1;
  }
  return false;
}

bool source_calls(const char *text, const SourcePart *part, const char *name) {
  const Cutter c = {.text = text, .length = part->end};
  char its[2];
  return part->kind == SOURCE_HOST && source_name(text, part, its, sizeof its) &&
         has_word(&c, part->begin, part->end, name);
}

void source_blank(char *text, size_t length, const SourcePart *part) {
  const Cutter c = {.text = text, .length = length};
  bool fresh = false;
  for (size_t i = part->begin; i < part->end;) {
    size_t after = skip(&c, i, fresh);
    size_t word = i + 1;
    while (word < length && (text[word] == ' ' || text[word] == '\t')) word++;
    const bool is_pragma = word + 6 <= length && memcmp(text + word, "pragma", 6) == 0;
    const bool stays = text[i] == '#' && fresh && !is_pragma;
    if (after <= i) after = i + 1;
    fresh = text[i] == '\n' || (fresh && ascii_is_space(text[i]));
    for (; i < after && i < part->end; i++)
      if (text[i] != '\n' && !stays) text[i] = ' ';
  }
}
