#include "viz/text/glyphs.h"

#include <string.h>

#include "sim/base/utf8.h"

typedef struct {
  uint32_t first, last;
} Range;

/* Unicode 15, EastAsianWidth.txt classes W and F, joined into coarse ranges. */
static const Range wide_ranges[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x25fd, 0x25fe},   {0x2614, 0x2615},
    {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2753, 0x2755},   {0x2b1b, 0x2b1c},
    {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
};

/* Combining marks and zero-width characters. */
static const Range zero_ranges[] = {
    {0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};

static bool in_ranges(const Range *ranges, size_t n, uint32_t character) {
  for (size_t i = 0; i < n; i++)
    if (character >= ranges[i].first && character <= ranges[i].last) return true;
  return false;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Columns that one character takes: 0, 1 or 2. */
static int glyph_columns(uint32_t character) {
  if (character < 0x300) return 1;
  if (in_ranges(zero_ranges, COUNT(zero_ranges), character)) return 0;
  return in_ranges(wide_ranges, COUNT(wide_ranges), character) ? 2 : 1;
}

uint32_t glyph_next(const char **text) {
  const unsigned char *p = (const unsigned char *)*text;
  if (*p == 0) return 0;
  const size_t n = utf8_sequence(p, 4); /* it ends at the text's end */
  *text += n ? n : 1;
  if (n == 0 || utf8_is_unsafe(p)) return '?';
  uint32_t character = n == 1 ? *p : *p & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) character = character << 6 | (p[i] & 0x3fu);
  return character;
}

/* A character, and what stands for it in ASCII: a look-alike or a name. */
static const char FALLBACKS[] = "\u00a0 \n° deg\n±+/-\n²^2\n³^3\nµu\n·*\n×x\n÷/\nΘTheta\nΣSum\nΩOmega\n"
                                "αalpha\nβbeta\nθtheta\nλlambda\nμu\nπpi\nσsigma\n‐-\n‑-\n‒-\n–-\n"
                                "—-\n‘'\n’'\n“\"\n”\"\n•*\n…...\n′'\n←<-\n→->\n↑^\n↓v\n"
                                "⇒=>\n∑Sum\n−-\n√sqrt\n∞inf\n∈in\n≈~\n≠!=\n≤<=\n≥>=\n⌈ceil(\n"
                                "⌉)\n⌊floor(\n⌋)\n─-\n━=\n│|\n┃|\n█#\n░.\n▒-\n▓=\n■#\n"
                                "▲^\n▶>\n▼v\n◆*\n●*\n○o\n✓+\n✔+\n✗x\n✘x\n";

enum { FALLBACK_BYTES = 8 };

/* What is written for a character: itself where it is ASCII, its fallback, or "?"; never empty. Returns text. */
static const char *glyph_ascii(uint32_t character, char text[FALLBACK_BYTES]) {
  const bool is_box = character >= 0x2500 && character <= 0x257f; /* corners and crossings */
  for (const char *p = FALLBACKS; character >= 0x80 && *p; p = strchr(p, '\n') + 1)
    if (glyph_next(&p) == character) {
      snprintf(text, FALLBACK_BYTES, "%.*s", (int)strcspn(p, "\n"), p);
      return text;
    }
  text[0] = character < 0x80 ? (char)character : is_box ? '+' : '?';
  text[1] = '\0';
  return text;
}

/* Columns of one character in a style. */
static int columns_of(const TextStyle *style, uint32_t character) {
  char buffer[FALLBACK_BYTES];
  return style->utf8 ? glyph_columns(character) : (int)strlen(glyph_ascii(character, buffer));
}

int text_columns_n(const TextStyle *style, const char *text, size_t bytes) {
  int columns = 0;
  const char *end = text + bytes;
  for (uint32_t c; text < end && (c = glyph_next(&text)) != 0;) columns += columns_of(style, c);
  return columns;
}

int text_columns(const TextStyle *style, const char *text) { return text_columns_n(style, text, strlen(text)); }

void text_write_n(FILE *out, const TextStyle *style, const char *text, size_t bytes) {
  const char *end = text + bytes, *from = text; /* what is as it is goes out together */
  while (text < end) {
    const char *start = text;
    const uint32_t c = glyph_next(&text);
    if (c != 0 && c != '?' && style->utf8) continue;
    fwrite(from, 1, (size_t)(start - from), out);
    char buffer[FALLBACK_BYTES];
    if (c == 0) return;
    fputs(glyph_ascii(c, buffer), out);
    from = text;
  }
  fwrite(from, 1, (size_t)(text - from), out);
}

void text_write(FILE *out, const TextStyle *style, const char *text) { text_write_n(out, style, text, strlen(text)); }

size_t text_fit(const TextStyle *style, const char *text, int columns) {
  const char *p = text;
  while (*p) {
    const char *next = p;
    columns -= columns_of(style, glyph_next(&next));
    if (columns < 0) break;
    p = next;
  }
  return (size_t)(p - text);
}

size_t text_wrap(const TextStyle *style, const char **text, int columns) {
  const char *line = *text;
  size_t newline = strcspn(line, "\n");
  size_t fits = text_fit(style, line, columns);
  if (newline <= fits) {
    *text = line + newline + (line[newline] == '\n');
    return newline;
  }
  /* The last space at or before the edge; the space itself may lie just outside. */
  size_t cut = fits;
  while (cut > 0 && line[cut] != ' ') cut--;
  if (cut == 0) cut = fits;
  if (cut == 0) { /* not even one character fits: give it out all the same */
    const char *next = line;
    glyph_next(&next);
    cut = (size_t)(next - line);
  }
  size_t skip = cut;
  while (line[skip] == ' ') skip++;
  while (cut > 0 && line[cut - 1] == ' ') cut--;
  *text = line + skip;
  return cut;
}

void text_repeat(FILE *out, const char *text, int times) {
  char many[256];
  const size_t one = strlen(text), most = one && one < sizeof many ? sizeof many / one : 0;
  for (size_t k = 0; k < most && k < (size_t)(times > 0 ? times : 0); k++) memcpy(many + k * one, text, one);
  for (int left = times; left > 0; left -= (int)most) {
    if (!most) return;
    fwrite(many, one, (size_t)left < most ? (size_t)left : most, out);
  }
}
