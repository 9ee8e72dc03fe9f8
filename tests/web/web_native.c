/* The page's C, compiled as the program is: prints what a scene consists of, for the browser's to be compared with.
 *
 *     web_native BUNDLE WIDTH HEIGHT <states     a state line each
 *
 * For each: "state LINE", "dark 0", the primitives of viz/web/drawing.h, "words" and the description, "end". Text is
 * laid out by drawing_plain_measure, which needs no font. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/request/assets.h"
#include "viz/web/web_assets.h"
#include "viz/web/web_page.h"

double page_measure(double size, int style, const char *text, size_t length) {
  (void)style;
  (void)text;
  return (double)length * size / 2;
}
void page_act(const char *name) { (void)name; }

bool web_open(const char *line);
void web_plain_measures(bool plain);
bool web_picture(int width, int height, bool is_whole);
char *web_print(void);
const char *web_describe(void);
const char *web_error(void);

static char *read_all(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc((size_t)16 << 20);
  *length = file && bytes ? fread(bytes, 1, (size_t)16 << 20, file) : 0;
  if (file) fclose(file);
  return bytes;
}

int main(int argc, char **argv) {
  size_t length;
  char line[2048];
  char *bundle = argc == 4 ? read_all(argv[1], &length) : NULL;
  if (!bundle || !web_assets_take(bundle, length)) {
    fputs("web_native: usage: web_native BUNDLE WIDTH HEIGHT <states\n", stderr);
    free(bundle);
    return 2;
  }
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    const bool opened = web_open(line);
    web_plain_measures(true);
    printf("state %s\n", line);
    if (!opened) printf("refused %s\n", web_error());
    char *printed = web_picture(atoi(argv[2]), atoi(argv[3]), true) ? web_print() : NULL;
    printf("%swords\n%send\n", printed ? printed : "no memory\n", web_describe());
    free(printed);
  }
  free(bundle);
  return 0;
}
