#include "viz/window/kernel_window.h"

#include <stdlib.h>

#include "viz/scene/kernel_scene_draw.h"
#include "viz/window/window.h"

#define PLAY_S 0.12 /* a step */

typedef struct {
  KernelWindowOptions at; /* what was asked for, and where it is now */
  const KernelScene *scene;
  double width, height, waited_s;
  bool plays, has_ended, is_dragged;
  Error *error;
} KernelView;

/* The scene of what is chosen; without one the window closes. */
static void show(KernelView *k) {
  KernelWindowOptions *at = &k->at;
  const int64_t last = k->scene ? k->scene->n_steps - 1 : at->step;
  at->step = k->scene && at->step < 0 ? 0 : at->step > last ? last : at->step;
  k->scene = at->show(at->context, at->step, at->line, at->swizzle, k->error);
  k->has_ended |= !k->scene;
  if (!k->scene) return;
  at->step = k->scene->step;
  at->line = k->scene->chosen + 1;
  k->plays &= at->step < k->scene->n_steps - 1;
}

static double width_of(void *view, const Player *player, double width) {
  (void)player;
  return ((KernelView *)view)->has_ended ? 0 : width;
}

static void draw(void *view, const Player *player, cairo_t *cr, Box box, double unit) {
  KernelView *k = view;
  (void)unit;
  k->width = box.width, k->height = box.height;
  kernel_scene_draw(k->scene, cr, box.width, box.height, player_theme(player));
}

/* The next line up or down that moves something. */
static void go_line(KernelView *k, int by) {
  for (int at = k->scene->chosen + by; at >= 0 && at < k->scene->n_lines; at += by)
    if (k->scene->lines[at].sectors || k->scene->lines[at].wavefronts) {
      k->at.line = at + 1;
      return;
    }
}

static void say(const KernelWindowOptions *at) {
  fprintf(at->out, "--step %lld --line %d", (long long)at->step, (int)at->line);
  if (at->swizzle) fprintf(at->out, " --swizzle %lld", (long long)at->swizzle);
  fputc('\n', at->out);
  fflush(at->out);
}

/* A key, or a character that is typed. */
static void on_key(KernelView *k, Player *player, SideKey key, char character) {
  const int64_t n = k->at.n_blocks, last = k->scene->n_steps - 1, block = n > 0 && last >= n ? (last + 1) / n : 1;
  const int64_t steps[SIDE_KEY_LAST_OF_PANEL + 1] = {
      [SIDE_KEY_LEFT] = -1,         [SIDE_KEY_RIGHT] = 1,          [SIDE_KEY_PAGE_UP] = -block,
      [SIDE_KEY_PAGE_DOWN] = block, [SIDE_KEY_HOME] = -k->at.step, [SIDE_KEY_END] = last - k->at.step};
  if (key <= SIDE_KEY_LAST_OF_PANEL) k->at.step += steps[key];
  if (key == SIDE_KEY_UP) go_line(k, -1);
  if (key == SIDE_KEY_DOWN) go_line(k, 1);
  if (key == SIDE_KEY_COPY) say(&k->at);
  if (character == ' ') k->plays = !k->plays;
  if (character == 's') k->at.swizzle = k->at.swizzle >= 1024 ? 0 : k->at.swizzle ? 2 * k->at.swizzle : 128;
  if (character == 't') player->dark = !player->dark;
  k->has_ended |= key == SIDE_KEY_ESCAPE || character == 'q';
}

/* A press is on a line, or along the foot on a step, which goes with the pointer then. F11 is the window's own. */
static bool take(void *view, Player *player, const SideEvent *e) {
  KernelView *k = view;
  const bool is_due = k->plays && (k->waited_s += e->seconds) >= PLAY_S;
  if ((e->kind == SIDE_LOOK && !is_due) || (e->kind == SIDE_KEY && e->key == SIDE_KEY_F11)) return false;
  if (e->kind == SIDE_PRESS) {
    const int line = kernel_scene_line_at(k->scene, k->width, k->height, e->x, e->y);
    k->is_dragged = e->button == 1 && e->y > 0.95 * k->height;
    if (line >= 0 && e->button == 1) k->at.line = line + 1;
  }
  if ((e->kind == SIDE_PRESS || e->kind == SIDE_MOTION) && k->is_dragged)
    k->at.step = (int64_t)(e->x / k->width * (double)k->scene->n_steps);
  if (e->kind == SIDE_LOOK) k->at.step++;
  if (e->kind == SIDE_WHEEL) k->at.step -= e->turns;
  if (is_due) k->waited_s = 0;
  if (e->kind == SIDE_KEY || e->kind == SIDE_TEXT) on_key(k, player, e->key, e->text ? *e->text : '\0');
  if (!k->has_ended) show(k);
  return true;
}

static bool is_moving(const void *view) { return ((const KernelView *)view)->plays; }

Status kernel_window_run(const KernelWindowOptions *options, Error *error) {
  static const Request nothing;
  Player *player = calloc(1, sizeof *player);
  if (!player) return error_no_memory(error, "for a window");
  Status status = player_open(player, &nothing, error);
  KernelView k = {.at = *options, .error = error};
  player->dark = options->dark;
  if (!status) show(&k);
  if (!status && !k.scene) status = error->status;
  WindowOptions how = {
      .width = options->width, .height = options->height, .cover = {&k, width_of, draw, take, is_moving, NULL}};
  if (!status) status = window_run(player, &how, options->out, error);
  if (!status && !k.scene) status = error->status;
  if (!status) say(&k.at);
  player_free(player);
  free(player);
  return status;
}
