#include "viz/kernel/kernel_signature.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/ascii.h"

static bool is_word(int c) { return ascii_is_alnum(c) || c == '_'; }

void signature_plain_name(const char *mangled, char *to, size_t size) {
  const char *p = mangled, *name = mangled;
  size_t n = strlen(mangled);
  if (strncmp(p, "_Z", 2) == 0) {
    p += 2;
    if (*p == 'N') p++;
    if (*p == 'L') p++;
    while (ascii_is_digit(*p)) { /* each part is its length and its letters */
      size_t length = 0;
      while (ascii_is_digit(*p) && length < 10000) length = length * 10 + (size_t)(*p++ - '0');
      if (strlen(p) < length) break;
      name = p, n = length;
      p += length;
    }
  }
  snprintf(to, size, "%.*s", (int)(n < size ? n : size - 1), name);
}

/* Comments are read as blanks. */
static size_t past_comment(const char *t, size_t n, size_t i) {
  if (i + 1 < n && t[i] == '/' && t[i + 1] == '/')
    while (i < n && t[i] != '\n') i++;
  else if (i + 1 < n && t[i] == '/' && t[i + 1] == '*') {
    for (i += 2; i + 1 < n && !(t[i] == '*' && t[i + 1] == '/');) i++;
    i = i + 2 < n ? i + 2 : n;
  }
  return i;
}

/* One parameter's text: the last word is its name, but for arrays and defaults behind it. */
static void take_parameter(const char *text, size_t n, SignatureParameter *to) {
  char plain[256];
  size_t m = 0;
  for (size_t i = 0; i < n && m + 1 < sizeof plain;) {
    const size_t after = past_comment(text, n, i);
    if (after > i) {
      i = after;
      continue;
    }
    const char c = ascii_is_space(text[i]) ? ' ' : text[i];
    if (!(c == ' ' && (m == 0 || plain[m - 1] == ' '))) plain[m++] = c;
    i++;
  }
  plain[m] = '\0';
  m = strcspn(plain, "=[");
  while (m > 0 && !is_word(plain[m - 1])) m--;
  size_t begin = m;
  while (begin > 0 && is_word(plain[begin - 1])) begin--;
  snprintf(to->name, sizeof to->name, "%.*s", (int)(m - begin), plain + begin);
  while (begin > 0 && plain[begin - 1] == ' ') begin--;
  snprintf(to->type, sizeof to->type, "%.*s", (int)begin, plain);
  const char *star = strchr(to->type, '*'), *is_const = strstr(to->type, "const");
  to->is_const = star && is_const && is_const < star;
}

/* The list between the bracket at i and its match. */
static bool take_list(const char *t, size_t n, size_t i, Signature *to) {
  int depth = 0;
  size_t begin = i + 1;
  to->n = 0;
  for (; i < n; i++) {
    const size_t after = past_comment(t, n, i);
    if (after > i) {
      i = after - 1;
      continue;
    }
    const char c = t[i];
    const bool ends = c == ')' && depth == 1;
    if (ends || (c == ',' && depth == 1)) {
      bool empty = true;
      for (size_t k = begin; k < i; k++) empty = empty && ascii_is_space(t[k]);
      if (!empty) {
        if (to->n == SIGNATURE_MAX) return false;
        take_parameter(t + begin, i - begin, &to->parameters[to->n++]);
      }
      begin = i + 1;
    }
    if (ends) return true;
    if (c == '(' || c == '<' || c == '[') depth++;
    if (c == ')' || c == '>' || c == ']') depth--;
  }
  return false;
}

/* Behind the next __global__ that is no comment's; length: none. */
static size_t behind_global(const char *text, size_t length, size_t i) {
  static const char GLOBAL[] = "__global__";
  while (i + sizeof GLOBAL < length) {
    const size_t after = past_comment(text, length, i);
    if (after <= i && memcmp(text + i, GLOBAL, sizeof GLOBAL - 1) == 0) return i + sizeof GLOBAL - 1;
    i = after > i ? after : i + 1;
  }
  return length;
}

bool signature_find(const char *text, size_t length, const char *name, Signature *signature) {
  const size_t n = strlen(name);
  for (size_t i = 0; (i = behind_global(text, length, i)) < length;) {
    for (; i + n < length && text[i] != '{' && text[i] != ';'; i++)
      if (memcmp(text + i, name, n) == 0 && !is_word(text[i - 1]) && !is_word(text[i + n])) {
        size_t open = i + n;
        while (open < length && ascii_is_space(text[open])) open++;
        if (open < length && text[open] == '(') return take_list(text, length, open, signature);
      }
  }
  return false;
}

bool signature_template(const char *text, size_t length, const char *name, char *to, size_t size) {
  Signature ignored;
  for (size_t i = 0, next; (next = behind_global(text, length, i)) < length; i = next) {
    const char *end = strpbrk(text + next, "{;");
    if (end && !signature_find(text + next - sizeof "__global__" + 1, (size_t)(end - text) - next + sizeof "__global__",
                               name, &ignored))
      continue;
    size_t begin = next;
    while (begin > 0 && !strchr(";{}", text[begin - 1])) begin--;
    const char *word = strstr(text + begin, "template"), *open = word ? strchr(word, '<') : NULL;
    if (!open || word > text + next) return false;
    int depth = 0;
    for (end = open; *end; end++) {
      depth += (*end == '<') - (*end == '>');
      if (!depth) break;
    }
    snprintf(to, size, "%.*s", (int)(end - open) + 1, open);
    return true;
  }
  return false;
}

/* The word that ends at `end`. */
static size_t word_begin(const char *text, size_t end) {
  while (end > 0 && is_word(text[end - 1])) end--;
  return end;
}

bool signature_first(const char *text, size_t length, char *name, size_t size) {
  for (size_t i = 0; (i = behind_global(text, length, i)) < length;) {
    for (; i < length && text[i] != '{' && text[i] != ';'; i++) {
      if (text[i] != '(') continue;
      size_t end = i;
      while (end > 0 && ascii_is_space(text[end - 1])) end--;
      const size_t begin = word_begin(text, end);
      if (begin < end && text[begin] != '_') { /* not __launch_bounds__ or __attribute__ */
        snprintf(name, size, "%.*s", (int)(end - begin < size ? end - begin : size - 1), text + begin);
        return true;
      }
      for (int depth = 0; i < length; i++) {
        if (text[i] == '(') depth++;
        if (text[i] == ')' && --depth == 0) break;
      }
    }
  }
  return false;
}
