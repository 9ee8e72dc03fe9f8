#include "viz/window/kernel_window.h"

#include <stdlib.h>

#include "viz/scene/kernel_scene_draw.h"
#include "viz/window/viewer.h"
#include "viz/window/window.h"

#define PLAY_S 0.12 /* a step */

typedef struct {
  const KernelWindowOptions *options;
  const KernelScene *scene;
  int64_t step;
  int32_t line;
  int64_t swizzle;
  double width, height, waited_s;
  bool plays, has_ended, is_dragged;
  Error *error;
} KernelView;

/* The scene of what is chosen; without one the window closes. */
static void show(KernelView *k) {
  const int64_t last = k->scene ? k->scene->n_steps - 1 : k->step;
  k->step = k->scene && k->step < 0 ? 0 : k->step > last ? last : k->step;
  k->scene = k->options->show(k->options->context, k->step, k->line, k->swizzle, k->error);
  k->has_ended |= !k->scene;
  if (!k->scene) return;
  k->step = k->scene->step;
  k->line = k->scene->chosen + 1;
  k->plays &= k->step < k->scene->n_steps - 1;
}

static double width_of(void *view, const Player *player, double width, double height) {
  (void)player, (void)height;
  return ((KernelView *)view)->has_ended ? 0 : width;
}

static void draw(void *view, const Player *player, cairo_t *cr, Box box, double unit, const Theme *theme) {
  KernelView *k = view;
  (void)player, (void)unit;
  k->width = box.width, k->height = box.height;
  kernel_scene_draw(k->scene, cr, box.width, box.height, theme);
}

/* The next line up or down that moves something. */
static void go_line(KernelView *k, int by) {
  for (int at = k->scene->chosen + by; at >= 0 && at < k->scene->n_lines; at += by)
    if (k->scene->lines[at].sectors || k->scene->lines[at].wavefronts) {
      k->line = at + 1;
      return;
    }
}

static void say(const KernelView *k) {
  fprintf(k->options->out, "--step %lld --line %d", (long long)k->step, (int)k->line);
  if (k->swizzle) fprintf(k->options->out, " --swizzle %lld", (long long)k->swizzle);
  fputc('\n', k->options->out);
  fflush(k->options->out);
}

/* False: a key of the window's own. */
static bool on_key(KernelView *k, SideKey key) {
  const int64_t n = k->options->n_blocks, block = n > 0 && k->scene->n_steps > n ? k->scene->n_steps / n : 1;
  switch (key) {
  case SIDE_KEY_LEFT: k->step--; break;
  case SIDE_KEY_RIGHT: k->step++; break;
  case SIDE_KEY_PAGE_UP: k->step -= block; break;
  case SIDE_KEY_PAGE_DOWN: k->step += block; break;
  case SIDE_KEY_HOME: k->step = 0; break;
  case SIDE_KEY_END: k->step = k->scene->n_steps - 1; break;
  case SIDE_KEY_UP: go_line(k, -1); break;
  case SIDE_KEY_DOWN: go_line(k, 1); break;
  case SIDE_KEY_COPY: say(k); break;
  case SIDE_KEY_ESCAPE: k->has_ended = true; break;
  default: break;
  }
  return key != SIDE_KEY_F11;
}

static void on_text(KernelView *k, Player *player, char key) {
  switch (key) {
  case ' ': k->plays = !k->plays; break;
  case 's': k->swizzle = k->swizzle >= 1024 ? 0 : k->swizzle ? 2 * k->swizzle : 128; break;
  case 't': player->dark = !player->dark; break;
  case 'q': k->has_ended = true; break;
  default: break;
  }
}

/* A press is on a line, or along the foot on a step, which goes with the pointer then. */
static bool take(void *view, Player *player, const SideEvent *e, Box box) {
  KernelView *k = view;
  bool is_taken = true;
  (void)box;
  if (e->kind == SIDE_PRESS) {
    const int line = kernel_scene_line_at(k->scene, k->width, k->height, e->x, e->y);
    k->is_dragged = e->button == 1 && e->y > 0.95 * k->height;
    if (line >= 0 && e->button == 1) k->line = line + 1;
  }
  if ((e->kind == SIDE_PRESS || e->kind == SIDE_MOTION) && k->is_dragged)
    k->step = (int64_t)(e->x / k->width * (double)k->scene->n_steps);
  if (e->kind == SIDE_KEY) is_taken = on_key(k, e->key);
  if (e->kind == SIDE_TEXT) on_text(k, player, *e->text);
  if (e->kind == SIDE_LOOK || !is_taken || k->has_ended) return is_taken && k->has_ended;
  show(k);
  return true;
}

static bool is_moving(const void *view) { return ((const KernelView *)view)->plays; }

static bool tick(void *view, double seconds) {
  KernelView *k = view;
  k->waited_s += seconds;
  if (k->waited_s < PLAY_S) return false;
  k->waited_s = 0;
  k->step++;
  show(k);
  return true;
}

Status kernel_window_run(const KernelWindowOptions *o, Error *error) {
  static const Request nothing;
  Player *player = calloc(1, sizeof *player);
  if (!player) return error_no_memory(error, "for a window");
  Status status = player_open(player, &nothing, error);
  KernelView k = {.options = o, .step = o->step, .line = o->line, .swizzle = o->swizzle, .error = error};
  player->dark = o->dark;
  if (!status) show(&k);
  if (!status && !k.scene) status = error->status;
  WindowOptions how = {
      .width = o->width,
      .height = o->height,
      .cover = {.data = &k, .width = width_of, .draw = draw, .event = take, .is_moving = is_moving, .tick = tick}};
  if (!status) status = window_run(player, &how, o->out, error);
  if (!status && !k.scene) status = error->status;
  if (!status) say(&k);
  player_free(player);
  free(player);
  return status;
}
