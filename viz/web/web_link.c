/* A state line from anybody's link: what is wrong in it is named and dropped, the rest is kept. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/text_add.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

enum { PARTS_MAX = 64 };

typedef struct {
  const char *parts[PARTS_MAX];
  bool kept[PARTS_MAX];
  int n;
  char copy[REQUEST_STATE_BYTES], line[REQUEST_STATE_BYTES], last[48], said[512];
} Link;

static const char *line_of(Link *link) {
  *link->line = '\0';
  for (int k = 0; k < link->n; k++)
    if (link->kept[k]) text_add(link->line, sizeof link->line, "%s%s", *link->line ? " " : "", link->parts[k]);
  return link->line;
}

static uint64_t n_steps; /* of the line that was possible last */

static bool is_possible(const char *line, Error *error) {
  Request request;
  Player player;
  *error = (Error){0};
  if (web_parse(line, &request, error)) return false;
  request.l2_later = true;
  const bool opens = !player_open(&player, &request, error);
  n_steps = player.now.n_steps;
  player_free(&player);
  return opens;
}

static void leave_out(Link *link, int part, const Error *why) {
  link->kept[part] = false;
  text_add(link->said, sizeof link->said, "%s%.60s is left out: %.160s", *link->said ? "; " : "", link->parts[part],
           why->message);
}

/* Takes the parts one after another, but those that do not go with the ones before. */
static void take(Link *link, bool (*goes)(const char *line, Error *error)) {
  bool given[PARTS_MAX];
  memcpy(given, link->kept, sizeof given);
  memset(link->kept, 0, sizeof link->kept);
  for (int k = 0; k < link->n; k++) {
    Error error = {0};
    if (!given[k]) continue;
    link->kept[k] = true;
    if (!goes(line_of(link), &error)) leave_out(link, k, &error);
  }
}

static bool is_read(const char *line, Error *error) {
  Request request;
  return !web_parse(line, &request, error);
}

/* A step too far is the last. */
static void to_the_end(Link *link, int part) {
  text_add(link->said, sizeof link->said, "%s%.60s is past the end, step %" PRIu64, *link->said ? "; " : "",
           link->parts[part], n_steps);
  snprintf(link->last, sizeof link->last, "step=%" PRIu64, n_steps);
  link->parts[part] = link->last;
  link->kept[part] = true;
}

/* Leaves out what says nothing; then the one part whose going makes a problem of the rest, or what does not go with the
 * parts before it. */
static void drop(Link *link) {
  Error why, error;
  for (int k = 0; k < link->n; k++) link->kept[k] = true;
  take(link, is_read);
  if (is_possible(line_of(link), &why)) return;
  for (int k = link->n - 1; k >= 0; k--) {
    if (!link->kept[k]) continue;
    link->kept[k] = false;
    if (is_possible(line_of(link), &error))
      return strncmp(link->parts[k], "step=", 5) == 0 ? to_the_end(link, k) : leave_out(link, k, &why);
    link->kept[k] = true;
  }
  take(link, is_possible);
}

static Link link;

/* Parts the line, and says in web_link_said what was left out; returns what is to be opened. */
EXPORT const char *web_link(const char *line) {
  Error error;
  memset(&link, 0, sizeof link);
  if (is_possible(line, &error)) { /* the page frees its own before it reads */
    snprintf(link.line, sizeof link.line, "%s", line);
    return link.line;
  }
  snprintf(link.copy, sizeof link.copy, "%s", line);
  char *rest = link.copy;
  for (char *part; link.n < PARTS_MAX && (part = strsep(&rest, " "));)
    if (*part) link.parts[link.n++] = part;
  drop(&link);
  return line_of(&link);
}
EXPORT const char *web_link_said(void) { return link.said; }
