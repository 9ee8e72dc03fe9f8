/* The picture of a lesson for the README: `picture_lesson FILE.png`. Lesson 3 after its prediction was played, as the
 * window shows it. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include <stdio.h>
#include <stdlib.h>

#include "viz/window/controls.h"
#include "viz/window/lesson_panel.h"

enum { WIDTH = 1280, HEIGHT = 720 };

typedef struct {
  Player player;
  LessonPanel panel;
} Picture;

static void type(Picture *p, const char *text) {
  const SidePanel side = lesson_panel_side(&p->panel);
  const SideEvent event = {.kind = SIDE_TEXT, .text = text};
  side.event(side.data, &p->player, &event, (Box){0});
}

static void press(Picture *p, SideKey key) {
  const SidePanel side = lesson_panel_side(&p->panel);
  const SideEvent event = {.kind = SIDE_KEY, .key = key};
  side.event(side.data, &p->player, &event, (Box){0});
}

/* The wrong prediction, and its show. */
static void walk(Picture *p) {
  const SidePanel side = lesson_panel_side(&p->panel);
  for (int n = 0; n < 3 && lesson_session_ask(&p->panel.session) < 0; n++) press(p, SIDE_KEY_RETURN);
  type(p, "b");
  for (int n = 0; n < 1000 && p->panel.session.plays != LESSON_NO_BLOCK; n++) {
    player_tick(&p->player, 0.1);
    side.event(side.data, &p->player, &(SideEvent){.kind = SIDE_LOOK}, (Box){0});
  }
}

static void draw(Picture *p, cairo_t *cr) {
  Controls controls;
  const SidePanel side = lesson_panel_side(&p->panel);
  const SceneView view = {0};
  controls_layout(&controls, &p->player, cr, WIDTH, HEIGHT, side.width(side.data, &p->player, WIDTH, HEIGHT), false);
  cairo_save(cr);
  cairo_rectangle(cr, 0, 0, controls.scene.width, controls.scene.height);
  cairo_clip(cr);
  scene_draw(p->player.scene, &p->player.now, &view, cr, controls.scene.width, controls.scene.height, &theme_light);
  cairo_restore(cr);
  side.draw(side.data, &p->player, cr, controls.side, controls.unit, &theme_light);
  controls_draw(&controls, &p->player, cr, NULL);
}

int main(int argc, char **argv) {
  const LessonSessionOptions fresh = {.restart = true};
  const Request request = {0};
  Error error = {0};
  Picture *p = calloc(1, sizeof *p);
  if (argc != 2 || !p) return 2;
  unsetenv("HOME"); /* nobody's progress is touched */
  unsetenv("XDG_STATE_HOME");
  int failed =
      player_open(&p->player, &request, &error) || lesson_panel_open(&p->panel, "03-the-loop", &fresh, stderr, &error);
  if (!failed) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
    cairo_t *cr = cairo_create(surface);
    lesson_panel_start(&p->panel, &p->player);
    walk(p);
    draw(p, cr);
    failed = cairo_surface_write_to_png(surface, argv[1]) != CAIRO_STATUS_SUCCESS;
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
  }
  if (failed) fprintf(stderr, "picture_lesson: %s\n", *error.message ? error.message : "the file cannot be written");
  lesson_panel_close(&p->panel);
  player_free(&p->player);
  free(p);
  return failed ? 1 : 0;
}
