/* Words, numbers and names of a module's text. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_machine.h"

static bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

void cursor_skip(Cursor *c) {
  for (;;) {
    const char ch = *c->at;
    if (c->at >= c->end) return;
    if (ch == '\n') c->line++;
    if (ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n') {
      c->at++;
    } else if (ch == '/' && c->at[1] == '/') {
      while (c->at < c->end && *c->at != '\n') c->at++;
    } else if (ch == '/' && c->at[1] == '*') {
      for (c->at += 2; c->at < c->end && !(c->at[0] == '*' && c->at[1] == '/'); c->at++)
        if (*c->at == '\n') c->line++;
      if (c->at < c->end) c->at += 2;
    } else {
      return;
    }
  }
}

Word cursor_word(Cursor *c) {
  cursor_skip(c);
  Word w = {c->at, 0};
  const char *p = c->at;
  if (*p == '-' && p[1] >= '0' && p[1] <= '9') p++;
  while (p < c->end && (is_word_char(*p) || (p > w.at && p[0] == ':' && p[1] == ':' && is_word_char(p[2]))))
    p += *p == ':' ? 2 : 1;
  w.n = (int32_t)(p - w.at);
  c->at = p;
  return w;
}

char cursor_peek(Cursor *c) {
  cursor_skip(c);
  return c->at < c->end ? *c->at : 0;
}

bool cursor_take(Cursor *c, char symbol) {
  if (cursor_peek(c) != symbol || !symbol) return false;
  c->at++;
  return true;
}

void cursor_past(Cursor *c, char symbol) {
  while (cursor_peek(c) && !cursor_take(c, symbol)) c->at++;
}

bool word_is(Word w, const char *text) { return strncmp(w.at, text, (size_t)w.n) == 0 && text[w.n] == 0; }

int32_t word_index(Word w, const char *names) {
  for (int32_t n = 0; *names; n++) {
    const int32_t length = (int32_t)strcspn(names, " ");
    if (length == w.n && !memcmp(names, w.at, (size_t)length)) return n;
    names += length + (names[length] == ' ');
  }
  return -1;
}

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

static NumberKind number_in(const char *at, int32_t n, uint64_t base, uint64_t *value) {
  uint64_t v = 0;
  if (n == 0) return NUMBER_NONE;
  for (int32_t i = 0; i < n; i++) {
    const uint64_t d = (uint64_t)digit(at[i]);
    if (d >= base) return NUMBER_NONE;
    v = v * base + d;
  }
  *value = v;
  return NUMBER_INTEGER;
}

NumberKind word_number(Word w, uint64_t *value) {
  const bool minus = w.n > 1 && w.at[0] == '-';
  const char *at = w.at + minus;
  int32_t n = w.n - minus;
  if (n < 1 || digit(at[0]) > 9) return NUMBER_NONE;
  if (n > 2 && at[0] == '0' && (at[1] == 'f' || at[1] == 'F') && n == 10) {
    if (!number_in(at + 2, 8, 16, value)) return NUMBER_NONE;
    if (minus) *value ^= 0x80000000u;
    return NUMBER_F32;
  }
  if (n > 2 && at[0] == '0' && (at[1] == 'd' || at[1] == 'D') && n == 18) {
    if (!number_in(at + 2, 16, 16, value)) return NUMBER_NONE;
    if (minus) *value ^= (uint64_t)1 << 63;
    return NUMBER_F64;
  }
  if (memchr(at, '.', (size_t)n)) { /* decimal: few digits are ever written */
    double v = 0, scale = 1;
    bool point = false;
    for (int32_t i = 0; i < n; i++) {
      if (at[i] == '.' && !point) {
        point = true;
      } else if (digit(at[i]) <= 9) {
        v = v * 10 + digit(at[i]);
        if (point) scale *= 10;
      } else {
        return NUMBER_NONE;
      }
    }
    v = minus ? -(v / scale) : v / scale;
    memcpy(value, &v, sizeof v);
    return NUMBER_F64;
  }
  if (at[n - 1] == 'U') n--;
  NumberKind kind;
  if (n > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
    kind = number_in(at + 2, n - 2, 16, value);
  else if (n > 2 && at[0] == '0' && (at[1] == 'b' || at[1] == 'B'))
    kind = number_in(at + 2, n - 2, 2, value);
  else
    kind = number_in(at, n, n > 1 && at[0] == '0' ? 8 : 10, value);
  if (kind && minus) *value = 0 - *value;
  return kind;
}

/* ---- names ---- */

static uint32_t name_hash(int32_t scope, Word w) {
  uint32_t h = 2166136261u ^ ((uint32_t)scope * 0x9e3779b9u);
  for (int32_t i = 0; i < w.n; i++) h = (h ^ (unsigned char)w.at[i]) * 16777619u;
  return h ^ (h >> 15);
}

static bool same_name(const Symbol *s, int32_t scope, Word w) {
  return s->scope == scope && s->name.n == w.n && memcmp(s->name.at, w.at, (size_t)w.n) == 0;
}

/* The place in the table of a name, or where it would be put. */
static int32_t *slot_of(const Symbols *s, int32_t scope, Word name) {
  uint32_t h = name_hash(scope, name);
  for (int32_t at; (at = s->table[h & (uint32_t)s->mask]) != 0; h++)
    if (same_name(&s->symbols[at - 1], scope, name)) break;
  return &s->table[h & (uint32_t)s->mask];
}

Symbol *symbols_find(const Symbols *s, int32_t scope, Word name) {
  const int32_t at = s->n ? *slot_of(s, scope, name) : 0;
  return at ? &s->symbols[at - 1] : NULL;
}

static bool symbols_grow(Symbols *s) {
  const int32_t capacity = s->capacity ? 2 * s->capacity : 64;
  Symbol *symbols = realloc(s->symbols, (size_t)capacity * sizeof *symbols);
  if (symbols) s->symbols = symbols;
  int32_t *table = calloc((size_t)capacity * 2, sizeof *table);
  if (!symbols || !table) {
    free(table);
    return false;
  }
  free(s->table);
  s->table = table, s->capacity = capacity, s->mask = 2 * capacity - 1;
  for (int32_t i = 0; i < s->n; i++) /* a later name hides an earlier one: it is found first */
    *slot_of(s, s->symbols[i].scope, s->symbols[i].name) = i + 1;
  return true;
}

Symbol *symbols_add(Symbols *s, int32_t scope, Word name, SymbolKind kind) {
  if (s->n == s->capacity && !symbols_grow(s)) return NULL;
  *slot_of(s, scope, name) = s->n + 1;
  Symbol *symbol = &s->symbols[s->n++];
  *symbol = (Symbol){.name = name, .scope = scope, .kind = kind, .value = -1};
  return symbol;
}

void symbols_free(Symbols *s) {
  free(s->symbols);
  free(s->table);
  *s = (Symbols){0};
}
