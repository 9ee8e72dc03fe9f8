#include "viz/compile/source_cut.h"

#include <stdbool.h>
#include <string.h>

#include "sim/base/ascii.h"

enum { MACROS_MAX = 64, SCOPES_MAX = 64 };

typedef struct {
  size_t begin, length;
} Name;

typedef struct {
  char *text;
  size_t length;
  Name macros[MACROS_MAX]; /* whose text makes a function the device's */
  int n_macros;
  int n_cut;
} Cutter;

static bool is_word(int c) { return ascii_is_alnum(c) || c == '_'; }

/* Whether text[begin, end) has the whole word. */
static bool has_word(const Cutter *c, size_t begin, size_t end, const char *word, size_t n) {
  for (size_t i = begin; i + n <= end; i++)
    if (memcmp(c->text + i, word, n) == 0 && (i == begin || !is_word(c->text[i - 1])) &&
        (i + n == end || !is_word(c->text[i + n])))
      return true;
  return false;
}
#define HAS(c, begin, end, word) has_word(c, begin, end, word, sizeof(word) - 1)

static bool is_device(const Cutter *c, size_t begin, size_t end) {
  if (HAS(c, begin, end, "__global__") || HAS(c, begin, end, "__device__") || HAS(c, begin, end, "constexpr"))
    return true;
  for (int m = 0; m < c->n_macros; m++)
    if (has_word(c, begin, end, c->text + c->macros[m].begin, c->macros[m].length)) return true;
  return false;
}

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

static void blank(Cutter *c, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++)
    if (c->text[i] != '\n') c->text[i] = ' ';
  c->n_cut++;
}

/* Notes the macros that stand for words of the device: #define HD __host__ __device__. */
static void note_macros(Cutter *c) {
  static const char DEFINE[] = "define";
  for (size_t i = 0; i < c->length; i++) {
    if (c->text[i] != '#') continue;
    size_t end = skip(c, i, true), name = i + 1;
    while (name < end && (c->text[name] == ' ' || c->text[name] == '\t')) name++;
    if (end - name > sizeof DEFINE && memcmp(c->text + name, DEFINE, sizeof DEFINE - 1) == 0) {
      for (name += sizeof DEFINE - 1; name < end && !is_word(c->text[name]);) name++;
      size_t stop = name;
      while (stop < end && is_word(c->text[stop])) stop++;
      if (c->n_macros < MACROS_MAX && stop > name && is_device(c, stop, end))
        c->macros[c->n_macros++] = (Name){name, stop - name};
    }
    i = end;
  }
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

/* Whether the head of a declaration, up to its body or its semicolon, is a function's. */
static bool is_function(const Cutter *c, size_t begin, size_t end) {
  if (!memchr(c->text + begin, '(', end - begin)) return false;
  if (HAS(c, begin, end, "typedef") || HAS(c, begin, end, "using") || HAS(c, begin, end, "static_assert") ||
      HAS(c, begin, end, "__shared__") || HAS(c, begin, end, "__constant__") || HAS(c, begin, end, "concept"))
    return false;
  return true;
}

/* struct, class, union, enum: unless it is the type that a function returns. */
static bool is_type(const Cutter *c, size_t begin, size_t end) {
  const char *paren = memchr(c->text + begin, '(', end - begin);
  const bool has = HAS(c, begin, end, "struct") || HAS(c, begin, end, "class") || HAS(c, begin, end, "union") ||
                   HAS(c, begin, end, "enum");
  /* a template's parameters may say class; alignas(16) has a bracket too */
  if (!has) return false;
  return !paren || HAS(c, begin, end, "alignas") || HAS(c, begin, end, "__align__") ||
         HAS(c, begin, end, "__attribute__") || HAS(c, begin, end, "__builtin_align__");
}

/* Whether a declaration that ends in a semicolon is the host's: a prototype or a variable that no kernel can use, or a
 * `using` of a library that is not here. */
static bool is_host_declaration(const Cutter *c, size_t begin, size_t end) {
  static const char *const KEPT[] = {"const",        "typedef",     "template",      "struct", "class",
                                     "union",        "enum",        "static_assert", "friend", "__shared__",
                                     "__constant__", "__managed__", "namespace",     "concept"};
  if (HAS(c, begin, end, "using"))
    return HAS(c, begin, end, "torch") || HAS(c, begin, end, "at") || HAS(c, begin, end, "c10") ||
           HAS(c, begin, end, "thrust");
  if (begin == end || is_device(c, begin, end)) return false;
  for (size_t k = 0; k < sizeof KEPT / sizeof *KEPT; k++)
    if (has_word(c, begin, end, KEPT[k], strlen(KEPT[k]))) return false;
  return true;
}

int source_cut(char *text, size_t length) {
  Cutter c = {.text = text, .length = length};
  note_macros(&c);
  size_t begin = 0; /* of the declaration */
  bool fresh = true, empty = true;
  int parens = 0;
  for (size_t i = 0; i < length;) {
    const size_t after = skip(&c, i, fresh);
    if (after > i) {
      const bool directive = c.text[i] == '#';
      i = after;
      if (empty || directive) begin = i, empty = true;
      continue;
    }
    const char ch = text[i];
    fresh = ch == '\n' || (fresh && ascii_is_space(ch));
    if (!ascii_is_space(ch) && empty) begin = i, empty = false;
    if (ch == '(') parens++;
    if (ch == ')') parens--;
    if (ch == ';' && parens <= 0) {
      if (is_host_declaration(&c, begin, i)) blank(&c, begin, i + 1);
      empty = true, parens = 0;
    } else if (ch == '}') {
      empty = true; /* of a namespace */
    } else if (ch == '{' && parens <= 0) {
      const bool opens_scope =
          HAS(&c, begin, i, "namespace") || (HAS(&c, begin, i, "extern") && !memchr(text + begin, '(', i - begin));
      if (opens_scope) {
        empty = true;
      } else {
        const size_t end = past_block(&c, i);
        const bool function = is_function(&c, begin, i) && !is_type(&c, begin, i);
        if (function && !is_device(&c, begin, i)) blank(&c, begin, end);
        i = end;
        empty = function; /* a type's declaration goes on to its semicolon */
        if (function) begin = end;
        continue;
      }
    }
    i++;
  }
  return c.n_cut;
}
