#define _DEFAULT_SOURCE /* isatty, fileno, ioctl */
#include "viz/text/style.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sim/base/ascii.h"

static bool is_set(const char *value) { return value && *value; }

/* POSIX: LC_ALL outweighs LC_CTYPE, which outweighs LANG. */
static bool locale_is_utf8(const TextEnvironment *environment) {
  const char *locale = is_set(environment->lc_all)     ? environment->lc_all
                       : is_set(environment->lc_ctype) ? environment->lc_ctype
                       : is_set(environment->lang)     ? environment->lang
                                                       : "C";
  const char *codeset = strchr(locale, '.');
  if (!codeset) return false;
  return ascii_same_n(codeset, ".utf-8", 6) || ascii_same_n(codeset, ".utf8", 5);
}

/* A positive whole number, else 0. */
static int whole_number(const char *text) {
  if (!is_set(text) || strlen(text) > 6) return 0;
  if (strspn(text, "0123456789") != strlen(text)) return 0;
  return (int)strtol(text, NULL, 10);
}

TextStyle text_style_decide(bool is_terminal, int terminal_columns, const TextEnvironment *environment) {
  bool dumb = !is_set(environment->term) || strcmp(environment->term, "dumb") == 0;
  int width = whole_number(environment->columns);
  if (width == 0 && is_terminal) width = terminal_columns;
  if (width <= 0) width = TEXT_WIDTH_DEFAULT;
  if (width < TEXT_WIDTH_MIN) width = TEXT_WIDTH_MIN;
  if (width > TEXT_WIDTH_MAX) width = TEXT_WIDTH_MAX;
  return (TextStyle){
      .colour = is_terminal && !dumb && !is_set(environment->no_color),
      .utf8 = locale_is_utf8(environment) && !(is_terminal && dumb),
      .width = width,
  };
}

bool text_is_terminal(FILE *stream) {
  int descriptor = fileno(stream);
  return descriptor >= 0 && isatty(descriptor);
}

TextStyle text_style_for(FILE *stream) {
  bool is_terminal = text_is_terminal(stream);
  int columns = 0;
#ifdef TIOCGWINSZ /* wasm has no terminals */
  struct winsize size = {0};
  if (is_terminal && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0) columns = size.ws_col;
#endif
  TextEnvironment environment = {
      .no_color = getenv("NO_COLOR"),
      .term = getenv("TERM"),
      .columns = getenv("COLUMNS"),
      .lc_all = getenv("LC_ALL"),
      .lc_ctype = getenv("LC_CTYPE"),
      .lang = getenv("LANG"),
  };
  return text_style_decide(is_terminal, columns, &environment);
}

/* The terminal's own palette, so that light and dark backgrounds both work; no white, black or
 * yellow text. Red and green look alike to many people: bad is bold too, and the words or marks say
 * it again. */
const char *text_role_begin(const TextStyle *style, TextRole role) {
  static const char *const codes[N_ROLES] = {
      [ROLE_PLAIN] = "",         [ROLE_HEADING] = "\033[1m", [ROLE_GOOD] = "\033[32m",     [ROLE_WARN] = "\033[35m",
      [ROLE_BAD] = "\033[1;31m", [ROLE_DIM] = "\033[2m",     [ROLE_ACCENT] = "\033[1;36m",
  };
  return style->colour ? codes[role] : "";
}

const char *text_role_end(const TextStyle *style, TextRole role) {
  return style->colour && role != ROLE_PLAIN ? "\033[0m" : "";
}

const char *text_role_mark(const TextStyle *style, TextRole role) {
  switch (role) {
  case ROLE_GOOD: return style->utf8 ? "\xe2\x9c\x93" : "+";
  case ROLE_WARN: return "!";
  case ROLE_BAD: return style->utf8 ? "\xe2\x9c\x97" : "x";
  default: return "";
  }
}
