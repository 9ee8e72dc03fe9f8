/* What can be read without a program: web_native LESSON; or a text, as HTML: web_native FILE.md; or all lessons, as a
 * list: web_native list.
 *
 * Prints "title ...", "idea ...", "minutes 12", "state ...", which it begins with, an empty line, and the pages as HTML
 * (lesson_html.h), as a learner leaves them who skips every question; what is shown there as <figure>STATE</figure>.
 * XDG_STATE_HOME is an empty folder: a lesson that was begun would go on. */
#include <stdlib.h>

#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_player.h"
#include "viz/web/lesson_html.h"

static LessonSession session;
static Player player;
static char figures[LESSON_BLOCKS_MAX][REQUEST_STATE_BYTES]; /* by the block that shows: its state */
static Html all;

/* What the player shows, as the figure of a block. */
static void note_figure(size_t block) { player_state(&player, figures[block]); }

static void put_figure(Html *page, size_t block) {
  if (*figures[block]) html_put(page, "<figure>%e</figure>\n", figures[block]);
}

/* To the end of the page; a show that plays is ended, and noted. A page with a state alone shows that. */
static void walk_page(void) {
  bool has_figure = false;
  while (!session.error.status && lesson_session_block(&session)) {
    const bool plays = session.plays == session.at;
    lesson_session_next(&session);
    if (plays) note_figure(session.at);
    has_figure = has_figure || plays;
  }
  if (!has_figure) note_figure(session.current);
}

static void put_lesson(const char *name, Error *error) {
  LessonPlayer beside = {.player = &player};
  const LessonViewer viewer = lesson_player_viewer(&beside);
  Html page = {.session = &session, .figure = put_figure};
  char state[REQUEST_STATE_BYTES];
  if (player_open(&player, &(Request){0}, error) ||
      lesson_player_open(&session, name, &(LessonSessionOptions){.restart = true}, stderr, error))
    return;
  lesson_session_start(&session, &viewer);
  html_put(&all, "title %s\nidea %s\nminutes %d\nstate %s\n\n", session.lesson.title.text, session.lesson.idea.text,
           session.lesson.minutes, player_state(&player, state));
  for (;; lesson_session_next(&session)) {
    walk_page();
    lesson_html_page(&page);
    html_put(&all, "%s", html_text(&page));
    if (lesson_session_is_finished(&session) || session.error.status) break;
  }
  *error = session.error;
}

/* A text that comes with Tilewalk. */
static void put_markdown(const char *name, Error *error) {
  char path[ASSETS_PATH_BYTES], *text;
  size_t length;
  if (assets_find(path, sizeof path, name, error) || file_read(path, 1 << 20, &text, &length, error)) return;
  html_markdown(&all, text);
  free(text);
}

int print_for_reading(const char *what) {
  Error error = {0};
  if (strstr(what, ".md"))
    put_markdown(what, &error);
  else if (strcmp(what, "list") == 0)
    lesson_html_list(&all);
  else
    put_lesson(what, &error);
  if (error.status)
    fprintf(stderr, "web_native: %s: %s\n", what, error.message);
  else
    fputs(html_text(&all), stdout);
  return error.status ? 2 : 0;
}
