/* The whole run as a file. A child process draws and encodes it from its copy of the player, as it was when saving
 * began, so the window goes on. News come through a pipe; another pipe, once closed, stops it. */
#define _POSIX_C_SOURCE 200809L
#include "viz/window/window_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "viz/compile/child_run.h"
#include "viz/export/animation.h"
#include "viz/text/print.h"

enum {
  RUN_STEPS = 400,  /* a longer run is seen in strides */
  RUN_FRAMES = 600, /* beyond it the tiles are not seen on their way */
  IN_BETWEENS = 4,
  RUN_WIDTH = 1280,
  RUN_HEIGHT = 720,
  STEP_MS = 360, /* of a step that is seen happening, and of one that passes */
  FRAME_MS = 125
};
#define PROGRESS_S 0.1 /* between two news */

/* Less than PIPE_BUF, so one is read whole or not at all. */
typedef struct {
  uint64_t frame, n_frames;
  bool is_end;
  char problem[ERROR_MESSAGE_BYTES]; /* at the end; "": it is saved */
} News;

/* ---- In the child ---------------------------------------------------------------------------------------- */

typedef struct {
  const Player *player;
  SceneMemo *memo;
  Snapshot now;
  uint64_t stride, each; /* frames of a stride */
  int to, held;          /* the other ends of the window's pipes */
  int theirs[2];         /* the window's own ends */
  const char *name;
  double told_s;
} Run;

static void draw_step(cairo_t *cr, double width, double height, uint64_t frame, void *data) {
  Run *run = data;
  const Player *p = run->player;
  const uint64_t step = frame / run->each * run->stride, end = p->stage.n_steps;
  const double part = step < end ? (double)(frame % run->each) / (double)run->each : 0;
  const SceneMoment at = scene_moment(step < end ? step : end, part);
  stage_snapshot(&p->stage, at.step, &run->now);
  const WindowPicture picture = {p, &run->now, run->memo, at.phase};
  window_draw_picture(cr, width, height, &picture);
}

static bool tell(const Run *run, const News *news) {
  ssize_t n;
  while ((n = write(run->to, news, sizeof *news)) < 0 && errno == EINTR) {
  }
  return n == (ssize_t)sizeof *news;
}

static bool go_on(uint64_t frame, uint64_t n_frames, void *data) {
  Run *run = data;
  struct pollfd held = {.fd = run->held, .events = POLLIN};
  if (poll(&held, 1, 0) > 0) return false; /* closed at the other end: stopped, or the window is gone */
  if (window_clock_s() - run->told_s < PROGRESS_S) return true;
  run->told_s = window_clock_s();
  return tell(run, &(News){.frame = frame, .n_frames = n_frames});
}

static void close_both(const int ends[2]) {
  close(ends[0]);
  close(ends[1]);
}

static void save_in_child(void *data) {
  Run *run = data;
  const Player *p = run->player;
  char state[REQUEST_STATE_BYTES];
  Error error = {0};
  signal(SIGPIPE, SIG_IGN);
  close_both(run->theirs);
  run->stride = p->stage.n_steps / RUN_STEPS + 1;
  const uint64_t n_beats = (p->stage.n_steps + run->stride - 1) / run->stride;
  run->each = 1;
  while (run->stride == 1 && !p->reduced_motion && run->each < IN_BETWEENS && n_beats * (run->each + 1) <= RUN_FRAMES)
    run->each++;
  const Animation animation = {.width = RUN_WIDTH,
                               .height = RUN_HEIGHT,
                               .n_frames = n_beats * run->each + 1,
                               .frame_ms = run->each > 1 ? STEP_MS / (int)run->each : FRAME_MS,
                               .title = "Tilewalk",
                               .state = player_state_at(p, 0, state),
                               .draw = draw_step,
                               .go_on = go_on,
                               .data = run};
  News end = {.n_frames = animation.n_frames, .is_end = true};
  if (animation_save(run->name, &animation, &error)) memcpy(end.problem, error.message, sizeof end.problem);
  tell(run, &end);
}

/* ---- In the window --------------------------------------------------------------------------------------- */

static bool open_pipe(int ends[2]) {
  if (pipe(ends) != 0) return false;
  for (int k = 0; k < 2; k++) fcntl(ends[k], F_SETFD, FD_CLOEXEC);
  return true;
}

void window_save_run(Window *w, const char *suffix) {
  RunSave *s = &w->saving;
  Player *p = w->viewer.player;
  int news[2], hold[2];
  if (s->pid) {
    player_say(p, true, "%s is still being saved; Escape stops it", s->name);
    return;
  }
  Run *run = calloc(1, sizeof *run);
  if (!run || !open_pipe(news)) {
    free(run);
    player_say(p, true, "Not saved: %s", strerror(errno));
    return;
  }
  if (!open_pipe(hold)) {
    player_say(p, true, "Not saved: %s", strerror(errno));
    close_both(news);
    free(run);
    return;
  }
  window_free_name(p, "run", suffix, s->name, sizeof s->name);
  *run = (Run){.player = p,
               .memo = w->viewer.memo,
               .to = news[1],
               .held = hold[0],
               .theirs = {news[0], hold[1]},
               .name = s->name};
  s->pid = child_fork(save_in_child, run);
  free(run);
  close(news[1]);
  close(hold[0]);
  s->from = news[0];
  s->hold = hold[1];
  fcntl(s->from, F_SETFL, O_NONBLOCK);
  if (s->pid > 0) return;
  player_say(p, true, "Not saved: %s", strerror(errno));
  close(s->from);
  close(s->hold);
  s->pid = 0;
}

/* It has ended, and said so in `news` unless something ended it. */
static void take_end(Window *w, const News *news) {
  RunSave *s = &w->saving;
  Player *p = w->viewer.player;
  char frames[64];
  const bool is_stopped = s->hold < 0;
  if (!is_stopped) close(s->hold);
  close(s->from);
  while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR) {
  }
  s->pid = 0;
  w->viewer.is_dirty = true;
  if (news->is_end && !*news->problem) {
    snprintf(frames, sizeof frames, ", %" PRIu64 " frames", news->n_frames);
    window_say_saved(w, s->name, frames);
    return;
  }
  if (is_stopped)
    player_say(p, false, "Stopped: nothing was saved");
  else
    player_say(p, true, "Not saved: %s", news->is_end ? news->problem : "what drew it was ended from outside");
  text_say(w->out, "not saved %s\n", s->name);
  fflush(w->out);
}

void window_look_at_run(Window *w) {
  RunSave *s = &w->saving;
  Player *p = w->viewer.player;
  News news = {0};
  if (!s->pid) return;
  ssize_t n;
  while ((n = read(s->from, &news, sizeof news)) == (ssize_t)sizeof news && !news.is_end) {
    const bool is_free = !*p->message || strncmp(p->message, "Saving ", 7) == 0; /* other words are read first */
    if (!is_free || s->hold < 0) continue;
    player_say(p, false, "Saving %s: %" PRIu64 " of %" PRIu64 " frames. Escape stops it", s->name, news.frame,
               news.n_frames);
    w->viewer.is_dirty = true;
  }
  if (n >= 0) take_end(w, &news);
}

void window_stop_run(Window *w) {
  RunSave *s = &w->saving;
  if (!s->pid || s->hold < 0) return;
  close(s->hold);
  s->hold = -1;
}

void window_end_run(Window *w) {
  RunSave *s = &w->saving;
  News news = {0};
  if (!s->pid) return;
  window_stop_run(w);
  fcntl(s->from, F_SETFL, 0);
  while (read(s->from, &news, sizeof news) == (ssize_t)sizeof news && !news.is_end) {
  }
  take_end(w, &news);
}
