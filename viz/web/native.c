/* The page's C, compiled as the program is: prints what a scene consists of, for the browser's to be compared with, and
 * for pages that show a picture before their program is there.
 *
 *     web_native WIDTH HEIGHT [framed] <states     a state line each
 *     web_native LESSON|FILE.md|list               HTML: learn.c
 *
 * For each: "state LINE", its SVG (viz/web/drawing.h), "words" and the description, "end". Text is laid out as if every
 * character were as wide as half its size, a bold one a tenth more, in fixed width 0.6. Framed: the scene as the page
 * frames it, laid out by the widths of DejaVu Sans, in light and in dark, "words" and the words around it as JSON. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/web/web_page.h"

/* Advances of DejaVu Sans from ' ' to '~', in hundredths of the size; its bold is a tenth wider. */
static const unsigned char WIDTHS[95] = {32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,  32, 34, 64, 64, 64,
                                         64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
                                         58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,  61, 73, 68, 99, 69,
                                         61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,  63, 63, 28, 28, 58,
                                         28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,  52, 64, 34, 64, 84};

static bool is_framed;

double page_measure(double size, int style, const char *text, size_t length) {
  double width = 0;
  int characters = 0;
  for (size_t k = 0; k < length; k++) {
    const unsigned char c = (unsigned char)text[k];
    const bool is_plain = c >= ' ' && c <= '~', begins = (c & 0xC0) != 0x80;
    characters += begins;
    width += style & 4 ? begins * 60 : is_plain ? WIDTHS[c - ' '] : begins * 64;
  }
  if (!is_framed) return characters * size * (style & 4 ? 0.6 : style & 1 ? 0.55 : 0.5);
  return width * size / (style & 1 ? 91 : 100);
}

bool web_open(const char *line);
void web_look(bool dark, bool reduced_motion);
void web_frame_scene(bool is_framed);
void web_picture(int width, int height, bool is_whole);
char *web_svg(void);
const char *web_describe(void);
const char *web_said(void);
const char *web_message(void);
int print_for_reading(const char *what); /* learn.c */

static void print_picture(int width, int height) {
  web_picture(width, height, !is_framed);
  char *printed = web_svg();
  fputs(printed ? printed : "no memory\n", stdout);
  free(printed);
}

int main(int argc, char **argv) {
  char line[2048];
  is_framed = argc == 4 && strcmp(argv[3], "framed") == 0;
  if (argc == 2) return print_for_reading(argv[1]);
  if (argc != 3 && !is_framed) {
    fputs("web_native: usage: web_native LESSON|FILE.md|list, or WIDTH HEIGHT [framed] <states\n", stderr);
    return 2;
  }
  const int width = atoi(argv[1]), height = atoi(argv[2]);
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    const bool opened = web_open(line);
    web_frame_scene(is_framed);
    printf("state %s\n", line);
    if (!opened) printf("refused %s\n", web_message());
    for (int dark = 0; dark < 1 + is_framed; dark++) {
      web_look(dark, true);
      print_picture(width, height);
    }
    printf("words\n%send\n", is_framed ? web_said() : web_describe());
  }
  return 0;
}
