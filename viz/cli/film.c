#include "viz/cli/film.h"

#include "viz/text/progress.h"

typedef struct {
  const Animation *film;
  Progress progress;
  const volatile sig_atomic_t *interrupted;
} Saving;

static void draw(cairo_t *cr, double width, double height, uint64_t frame, void *data) {
  const Animation *film = ((Saving *)data)->film;
  film->draw(cr, width, height, frame, film->data);
}

static bool go_on(uint64_t frame, uint64_t n_frames, void *data) {
  Saving *s = data;
  progress_update(&s->progress, frame, n_frames, progress_clock_s());
  return !*s->interrupted && (!s->film->go_on || s->film->go_on(frame, n_frames, s->film->data));
}

Status film_save(const char *path, const ChartRequest *how, const char *what, const Animation *film, const Io *io,
                 Error *error) {
  Saving s = {film, progress_begin(io->err, what, true), io_catch_interrupt(io)};
  Animation saved = *film;
  saved.width = how->width ? how->width : 1280;
  saved.height = how->height ? how->height : 720;
  saved.draw = draw, saved.go_on = go_on, saved.data = &s;
  const Status status = animation_save(path, &saved, error);
  progress_end(&s.progress);
  return status;
}
