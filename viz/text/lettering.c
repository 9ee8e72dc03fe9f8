/* Cutting and wrapping, from what a line measures; that, and drawing a line, is pango's in viz/text/lettering_pango.c
 * and the browser's in viz/web. */
#include "viz/text/lettering.h"

#include <stdlib.h>
#include <string.h>

static bool begins_character(char byte) { return ((unsigned char)byte & 0xC0) != 0x80; }

/* Where the character of that number begins, or the text's end. */
static size_t character_at(const char *text, size_t number) {
  size_t k = 0;
  for (; text[k]; k++)
    if (begins_character(text[k]) && number-- == 0) break;
  return k;
}

/* Writes the first `characters` of a text and an ellipsis. */
static void write_cut(char *shown, const char *text, size_t characters) {
  size_t bytes = character_at(text, characters);
  while (bytes > 0 && text[bytes - 1] == ' ') bytes--;
  memcpy(shown, text, bytes);
  strcpy(shown + bytes, "\xe2\x80\xa6");
}

/* The longest start that fits and ends where a clause does: what it says is whole. False: there is none. */
static bool write_clauses(char *shown, cairo_t *cr, const Lettering *lettering, double width, const char *text) {
  for (size_t end = strlen(text); end-- > 1;) {
    if (text[end + 1] != ' ' || !strchr(",;:.", text[end])) continue;
    memcpy(shown, text, end);
    shown[end] = '\0';
    if (letter_measure(cr, lettering, shown).width <= width) return true;
  }
  return false;
}

/* The start of `text` that fits: whole clauses, else as much as fits with an ellipsis, found by halving; in a new
 * string. */
static char *cut_text(cairo_t *cr, const Lettering *lettering, double width, const char *text) {
  char *shown = malloc(strlen(text) + 4);
  if (shown && !lettering->is_code && write_clauses(shown, cr, lettering, width, text)) return shown;
  size_t low = 0, high = 0;
  for (const char *p = text; *p; p++) high += begins_character(*p);
  while (shown && low < high) {
    const size_t middle = (low + high + 1) / 2;
    write_cut(shown, text, middle);
    if (letter_measure(cr, lettering, shown).width <= width)
      low = middle;
    else
      high = middle - 1;
  }
  if (shown) write_cut(shown, text, low);
  return shown;
}

double letter_draw_cut(cairo_t *cr, const Lettering *lettering, double x, double y, double width, const char *text) {
  if (letter_measure(cr, lettering, text).width <= width) return letter_draw(cr, lettering, x, y, text).width;
  char *shown = cut_text(cr, lettering, width, text);
  if (!shown) return 0;
  double drawn = letter_draw(cr, lettering, x, y, shown).width;
  free(shown);
  return drawn;
}

/* The bytes of the next line that fits in `width`: up to the last space before it, at least one
 * word. */
static size_t line_bytes(cairo_t *cr, const Lettering *lettering, double width, const char *text, char *scratch) {
  size_t best = 0, end = 0;
  while (text[end] && text[end] != '\n') {
    while (text[end] == ' ') end++;
    end += strcspn(text + end, " \n");
    memcpy(scratch, text, end);
    scratch[end] = '\0';
    if (best > 0 && letter_measure(cr, lettering, scratch).width > width) break;
    best = end;
  }
  return best;
}

int letter_draw_wrapped(cairo_t *cr, const Lettering *lettering, double x, double y, double width, double line_height,
                        int most_lines, const char *text) {
  char *scratch = malloc(strlen(text) + 1);
  if (!scratch) return 0;
  int lines = 0;
  while (*text && lines < most_lines) {
    size_t bytes = line_bytes(cr, lettering, width, text, scratch);
    const char *next = text + bytes;
    while (*next == ' ') next++;
    if (*next == '\n') next++;
    if (lines + 1 == most_lines && *next) bytes = strlen(text); /* the last line takes all, cut */
    memcpy(scratch, text, bytes);
    scratch[bytes] = '\0';
    letter_draw_cut(cr, lettering, x, y + lines * line_height * lettering->size, width, scratch);
    text = next;
    lines++;
  }
  free(scratch);
  return lines;
}
