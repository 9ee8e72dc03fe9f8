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

typedef struct {
  LessonSession session;
  Player player;
  char figures[LESSON_BLOCKS_MAX][REQUEST_STATE_BYTES]; /* by the block that shows: its state */
  Error error;
} Printer;

/* What the player shows, as the figure of a block. */
static void note_figure(Printer *p, size_t block) { player_state(&p->player, p->figures[block]); }

static void put_figure(Html *page, size_t block) {
  const Printer *p = page->data;
  if (*p->figures[block]) html_put(page, "<figure>%e</figure>\n", p->figures[block]);
}

/* To the end of the page; a show that plays is ended, and noted. A page with a state alone shows that. */
static void walk_page(Printer *p) {
  LessonSession *s = &p->session;
  bool has_figure = false;
  for (const LessonBlock *b; !p->error.status && !s->error.status && (b = lesson_session_block(s));) {
    const bool plays = s->plays == s->at;
    lesson_session_next(s);
    if (!plays) continue;
    note_figure(p, s->at);
    has_figure = true;
  }
  if (!has_figure) note_figure(p, s->current);
}

static int print_lesson(Printer *p, const char *name) {
  LessonSession *s = &p->session;
  LessonPlayer beside = {.player = &p->player};
  const LessonViewer viewer = lesson_player_viewer(&beside);
  Html page = {.session = s, .figure = put_figure, .data = p}, all = {0};
  if (player_open(&p->player, &(Request){0}, &p->error) ||
      lesson_player_open(s, name, &(LessonSessionOptions){.restart = true}, stderr, &p->error))
    return 2;
  lesson_session_start(s, &viewer);
  char state[REQUEST_STATE_BYTES];
  player_state(&p->player, state);
  for (;;) {
    walk_page(p);
    lesson_html_page(&page);
    html_put(&all, "%s", html_text(&page));
    if (lesson_session_is_finished(s) || s->error.status || p->error.status) break;
    lesson_session_next(s);
  }
  if (!p->error.status) p->error = s->error;
  if (!p->error.status)
    printf("title %s\nidea %s\nminutes %d\nstate %s\n\n%s", s->lesson.title.text, s->lesson.idea.text,
           s->lesson.minutes, state, html_text(&all));
  html_free(&page);
  html_free(&all);
  return p->error.status ? 2 : 0;
}

/* A text that comes with Tilewalk. */
static int print_markdown(const char *name) {
  char path[ASSETS_PATH_BYTES], *text = NULL;
  size_t length;
  Error error = {0};
  Html all = {0};
  if (assets_find(path, sizeof path, name, &error) || file_read(path, 1 << 20, &text, &length, &error)) {
    fprintf(stderr, "web_native: %s\n", error.message);
    return 2;
  }
  html_markdown(&all, text);
  fputs(html_text(&all), stdout);
  html_free(&all);
  free(text);
  return 0;
}

static int print_list(void) {
  Html all = {0};
  lesson_html_list(&all);
  fputs(html_text(&all), stdout);
  html_free(&all);
  return 0;
}

int print_for_reading(const char *what) {
  if (strstr(what, ".md")) return print_markdown(what);
  if (strcmp(what, "list") == 0) return print_list();
  Printer *p = calloc(1, sizeof *p);
  if (!p) return 2;
  const int status = print_lesson(p, what);
  if (status) fprintf(stderr, "web_native: %s: %s\n", what, p->error.message);
  lesson_session_close(&p->session);
  player_free(&p->player);
  free(p);
  return status;
}
