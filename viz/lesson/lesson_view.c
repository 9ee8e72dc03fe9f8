#include "viz/lesson/lesson_view.h"

#include <stdlib.h>

#include "viz/text/number.h"

LessonView lesson_view(const Stage *stage, const Snapshot *now, SceneKind scene) {
  return (LessonView){.run = &stage->run,
                      .heads = stage->config.problem.shape.heads ? stage->config.problem.shape.heads : 1,
                      .batch = stage->config.problem.shape.batch ? stage->config.problem.shape.batch : 1,
                      .scene = scene_name(scene),
                      .step = now->step,
                      .n_steps = now->n_steps,
                      .event = now->event,
                      .has_event = now->has_event,
                      .traffic = now->traffic,
                      .read_bytes = now->read_bytes,
                      .write_bytes = now->write_bytes};
}

Status lesson_change(Request *request, const char *change, Error *error) {
  Request r = *request;
  const Status status = request_read(&r, change, true, error);
  if (status) return status;
  const bool new_sides = r.tiling.B_r != request->tiling.B_r || r.tiling.B_c != request->tiling.B_c;
  if (r.block != request->block && !new_sides) r.tiling.B_r = r.tiling.B_c = 0;
  if (r.block == request->block && new_sides) r.block = 0;
  if (r.n_algorithms > 1) {
    r.algorithms[0] = r.algorithms[r.n_algorithms - 1];
    r.n_algorithms = 1;
  }
  *request = r;
  return STATUS_OK;
}

typedef struct {
  Request request;
  SceneKind scene;
  Stage stage;
  Snapshot now;
} Screen;

/* Without the GPU's L2 and clock, which no condition asks for and which take a walk over all CTAs. */
static Status open_screen(Screen *s, const char *state, const char *change, Error *error) {
  Request *r = &s->request;
  StageConfig config = {0};
  Status status = lesson_change(r, state, error);
  if (!status) status = lesson_change(r, change, error);
  if (!status && *r->scene && !scene_from_name(r->scene, &s->scene))
    status = error_refuse(error, "there is no scene '%s'", quote_text(r->scene).text);
  if (!status) status = request_algorithms(r, REQUEST_ONE, error);
  config.seed = (uint64_t)r->seed;
  config.schedule = r->algorithms[0];
  if (!status) status = request_problem(r, &config.problem, NULL, error);
  if (!status) status = stage_make(&s->stage, &config, error);
  if (!status && (uint64_t)r->step > s->stage.n_steps)
    status = error_refuse(error, "step %jd is beyond the end: the run has %ju steps", r->step, s->stage.n_steps);
  return status;
}

void lesson_view_words(const LessonView *v, char *text, size_t size) {
  const Simulation *r = v->run;
  const Wide *tiles = r->traffic.tiles;
  const Wide skipped = tiles[TILE_SKIPPED], all = tiles[TILE_FULL] + tiles[TILE_PARTIAL] + skipped;
  if (v->has_event) {
    snprintf(text, size, "Step %ju of %ju, %s: %s read and %s written so far.", v->step, v->n_steps,
             event_kind_name((EventKind)v->event.kind), number_bytes(v->read_bytes).text,
             number_bytes(v->write_bytes).text);
    return;
  }
  char more[3 * NUMBER_CHARS] = "";
  if (skipped > 0)
    snprintf(more, sizeof more, " %s of %s tiles are skipped.", number_count(skipped).text, number_count(all).text);
  snprintf(text, size,
           "Here %s move in the whole run, at %s FLOPs a byte. The tiles need %s of SRAM and %s.%s Beside inputs and "
           "output %s stand in HBM.",
           number_bytes(r->total_bytes).text, number_double(r->intensity_flops_per_byte, 4).text,
           number_bytes(r->sram.bytes).text, r->fits ? "fit" : "do not fit", more,
           r->intermediates_bytes > 0 ? number_bytes(r->intermediates_bytes).text : "0 bytes");
}

Status lesson_look(void *context, const char *state, const char *change,
                   Status (*look)(void *data, const LessonView *view, Error *error), void *data, Error *error) {
  (void)context;
  Screen *s = calloc(1, sizeof *s);
  if (!s) return error_no_memory(error, "for a view");
  s->scene = SCENE_WALK;
  Status status = open_screen(s, state, change, error);
  if (!status) {
    stage_snapshot(&s->stage, (uint64_t)s->request.step, &s->now);
    const LessonView view = lesson_view(&s->stage, &s->now, s->scene);
    status = look(data, &view, error);
  }
  stage_free(&s->stage);
  free(s);
  return status;
}

const LessonHooks LESSON_REHEARSAL = {.look_at = lesson_look};
