/* A lesson printed for a page that needs no program: web_learn LESSON FOLDER; or a text, as HTML: web_learn FILE.md
 * FOLDER.
 *
 * Prints "title ...", "idea ...", "minutes 12", an empty line, and the pages as HTML (lesson_html.h), as a learner
 * leaves them who skips every question; draws what is shown there into FOLDER/learn-LESSON-BLOCK.svg. XDG_STATE_HOME
 * is an empty folder: a lesson that was begun would go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/export/surface.h"
#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_player.h"
#include "viz/scene/narration.h"
#include "viz/scene/scene_cache.h"
#include "viz/web/lesson_html.h"

enum { WIDTH = 760, HEIGHT = 456, DESCRIPTION_BYTES = 4096 };

typedef struct {
  LessonSession session;
  Player player;
  SceneMemo *memo;
  const char *folder;
  Html figures[LESSON_BLOCKS_MAX]; /* by the block that shows */
  Error error;
} Printer;

static void draw(cairo_t *cr, double width, double height, const void *data) {
  const Printer *p = data;
  const SceneView view = {.framed = true, .memo = p->memo};
  scene_draw(p->player.scene, &p->player.now, &view, cr, width, height, &theme_light);
}

/* What the player shows, as the figure of a block: a file, and its place in the text. */
static void draw_figure(Printer *p, size_t block) {
  char name[LESSON_NAME_BYTES + 64], path[4096], described[DESCRIPTION_BYTES], state[REQUEST_STATE_BYTES];
  Html *h = &p->figures[block];
  Narration said;
  snprintf(name, sizeof name, "learn-%s-%zu.svg", p->session.lesson.name, block);
  snprintf(path, sizeof path, "%s/%s", p->folder, name);
  memo_free(p->memo);
  p->memo = memo_new();
  const SurfaceMetadata metadata = {scene_title(p->player.scene), player_state(&p->player, state)};
  if (surface_save(path, WIDTH, HEIGHT, draw, p, &metadata, &p->error)) return;
  scene_narrate(p->player.scene, &p->player.now, p->memo, &said);
  scene_describe(p->player.scene, &p->player.now, p->memo, described, sizeof described);
  described[strcspn(described, "\n")] = '\0'; /* what it is of: what happens is said below */
  html_put(
      h,
      "<figure><img src=\"%s\" width=\"%d\" height=\"%d\" loading=\"lazy\" alt=\"%e\"><figcaption>%e %e</figcaption>"
      "</figure>\n",
      name, WIDTH, HEIGHT, described, said.what, said.why);
}

static void put_figure(Html *page, size_t block) {
  Printer *p = page->data;
  html_put(page, "%s", html_text(&p->figures[block]));
}

/* To the end of the page; a show that plays is ended, and drawn. A page with a state alone shows that. */
static void walk_page(Printer *p) {
  LessonSession *s = &p->session;
  bool has_figure = false;
  for (const LessonBlock *b; !p->error.status && !s->error.status && (b = lesson_session_block(s));) {
    const bool plays = s->plays == s->at;
    lesson_session_next(s);
    if (!plays) continue;
    draw_figure(p, s->at);
    has_figure = true;
  }
  if (!has_figure) draw_figure(p, s->current);
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
  for (;;) {
    walk_page(p);
    lesson_html_page(&page);
    html_put(&all, "%s", html_text(&page));
    if (lesson_session_is_finished(s) || s->error.status || p->error.status) break;
    lesson_session_next(s);
  }
  if (!p->error.status) p->error = s->error;
  if (!p->error.status)
    printf("title %s\nidea %s\nminutes %d\n\n%s", s->lesson.title.text, s->lesson.idea.text, s->lesson.minutes,
           html_text(&all));
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
    fprintf(stderr, "web_learn: %s\n", error.message);
    return 2;
  }
  html_markdown(&all, text);
  fputs(html_text(&all), stdout);
  html_free(&all);
  free(text);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("web_learn: usage: web_learn LESSON|FILE.md FOLDER\n", stderr);
    return 2;
  }
  if (strstr(argv[1], ".md")) return print_markdown(argv[1]);
  Printer *p = calloc(1, sizeof *p);
  if (!p) return 2;
  p->folder = argv[2];
  const int status = print_lesson(p, argv[1]);
  if (status) fprintf(stderr, "web_learn: %s: %s\n", argv[1], p->error.message);
  lesson_session_close(&p->session);
  for (size_t k = 0; k < LESSON_BLOCKS_MAX; k++) html_free(&p->figures[k]);
  memo_free(p->memo);
  player_free(&p->player);
  free(p);
  return status;
}
