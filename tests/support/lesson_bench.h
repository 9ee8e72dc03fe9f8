/* For tests of lessons beside the viewer: a panel without a window, the hands that use it, and the folder that the
 * programs' lessons and records are in. Define _POSIX_C_SOURCE 200809L before the first #include, include cmocka.h
 * first, and this in one file of a test program. */
#ifndef TILEWALK_TESTS_SUPPORT_LESSON_BENCH_H
#define TILEWALK_TESTS_SUPPORT_LESSON_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/canvas.h"
#include "tests/support/scratch.h"
#include "viz/cli/lesson/lesson_print.h"
#include "viz/window/lesson_panel.h"

static char folder[SCRATCH_BYTES];

static inline int open_folder(void **state) {
  (void)state;
  return !scratch_folder(folder) || setenv("XDG_STATE_HOME", folder, 1) != 0 ||
         setenv("TILEWALK_ASSETS", "assets", 0) != 0;
}

static inline int close_folder(void **state) {
  (void)state;
  return !scratch_remove(folder);
}

/* What is kept of a lesson. */
static inline LessonStanding kept(const char *lesson) {
  LessonProgress progress;
  must(lesson_progress_open(&progress, stderr, NULL));
  const LessonStanding standing = lesson_progress_of(&progress, lesson);
  lesson_progress_close(&progress);
  return standing;
}

/* ---- A panel without a window ---- */

typedef struct {
  LessonPanel panel;
  Player player;
  cairo_t *cr;
  double width, height;
  Box box;
  char *words;
  size_t n_words;
} Bench;

static inline void draw(Bench *b) {
  const SidePanel side = lesson_panel_side(&b->panel);
  const double unit = b->width / 1280 < b->height / 720 ? b->width / 1280 : b->height / 720;
  const double width = side.width(side.data, &b->player, b->width);
  b->box = box_at(b->width - width, 0, width, b->height - 78 * unit);
  if (width > 0) side.draw(side.data, &b->player, b->cr, b->box, unit);
}

static inline bool send(Bench *b, SideEvent event) {
  const SidePanel side = lesson_panel_side(&b->panel);
  const bool taken = side.event(side.data, &b->player, &event);
  draw(b);
  return taken;
}

static inline bool text(Bench *b, const char *typed) {
  bool taken = true;
  for (const char *p = typed; *p; p++)
    taken = send(b, (SideEvent){.kind = SIDE_TEXT, .text = (const char[]){*p, '\0'}}) && taken;
  return taken;
}

/* The panel sees what was done in the viewer. */
static inline void look(Bench *b) { send(b, (SideEvent){.kind = SIDE_LOOK}); }

static inline bool key(Bench *b, SideKey name) { return send(b, (SideEvent){.kind = SIDE_KEY, .key = name}); }

static inline void click_at(Bench *b, double x, double y) {
  send(b, (SideEvent){.kind = SIDE_MOTION, .x = x, .y = y});
  send(b, (SideEvent){.kind = SIDE_PRESS, .x = x, .y = y, .button = 1});
  send(b, (SideEvent){.kind = SIDE_RELEASE, .x = x, .y = y, .button = 1});
}

/* Presses the middle of a widget, where it is drawn. */
static inline void click(Bench *b, int widget) {
  const LessonPanel *p = &b->panel;
  const FlowPiece *piece = flow_widget(&p->flow, widget), *foot = flow_widget(&p->foot, widget);
  if (!piece && !foot) fail_msg("there is no widget %d on the page", widget);
  Box at = piece ? piece->box : foot->box;
  if (piece) at.x += p->view.x, at.y += p->view.y + 18 * p->flow.unit - p->scroll;
  click_at(b, at.x + at.width / 2, at.y + at.height / 2);
}

/* All text of the page: a line each, with "[x] " before what can be pressed. */
static inline void put_words(const Flow *f, FILE *out) {
  for (size_t k = 0; k < f->n; k++) {
    const FlowPiece *piece = &f->pieces[k];
    const char *mark = piece->kind == PIECE_FIELD ? "answer" : "press";
    for (int c = 0; piece->kind == PIECE_TABLE && c < piece->n_columns * piece->n_rows; c++)
      fprintf(out, "%s%s", text_store_get(&f->store, f->cells[piece->first_cell + (size_t)c].text),
              (c + 1) % piece->n_columns ? " | " : "\n");
    if (piece->kind == PIECE_TABLE) continue;
    if (piece->kind == PIECE_OPTION) mark = text_store_get(&f->store, piece->mark);
    if (piece->widget >= 0) fprintf(out, "[%s] ", mark);
    fprintf(out, "%s\n", text_store_get(&f->store, piece->text));
  }
}

static inline bool says(Bench *b, const char *words) {
  free(b->words);
  FILE *out = open_memstream(&b->words, &b->n_words);
  assert_non_null(out);
  lesson_panel_make(&b->panel);
  put_words(&b->panel.flow, out);
  draw(b);
  fclose(out);
  return strstr(b->words, words) != NULL;
}

#define READS(b, text)                                                                                                 \
  do {                                                                                                                 \
    if (!says(b, text)) fail_msg("'%s' is not on the page:\n%s", text, (b)->words);                                    \
  } while (0)

/* From the beginning, with the same draws each time. */
static const LessonSessionOptions FRESH = {.restart = true, .seed = 1, .has_seed = true};

static inline Status open_bench(Bench **out, const char *name, const LessonSessionOptions *options, double width,
                                double height, Error *error) {
  Bench *b = calloc(1, sizeof *b);
  assert_non_null(b);
  *out = b;
  b->width = width;
  b->height = height;
  b->cr = canvas(CAIRO_FORMAT_RGB24, (int)width, (int)height);
  const Request request = {0};
  assert_int_equal(player_open(&b->player, &request, error), STATUS_OK);
  const Status status = lesson_panel_open(&b->panel, name, options, stderr, error);
  if (status) return status;
  lesson_panel_start(&b->panel, &b->player);
  draw(b);
  return STATUS_OK;
}

static inline Bench *bench(const char *name, const LessonSessionOptions *options) {
  Bench *b;
  Error error = {0};
  if (open_bench(&b, name, options, 1280, 720, &error)) fail_msg("%s", error.message);
  return b;
}

static inline void close_bench(Bench *b) {
  lesson_panel_close(&b->panel);
  player_free(&b->player);
  cairo_destroy(b->cr);
  free(b->words);
  free(b);
}

/* A lesson file in the folder; its path holds until the next. */
static inline const char *write_lesson(const char *name, const char *lesson) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(lesson, file);
  fclose(file);
  return path;
}

static inline void play_to_the_end(Bench *b) {
  for (int n = 0; n < 1000 && b->panel.session.plays != LESSON_NO_BLOCK; n++) {
    player_tick(&b->player, 0.1);
    look(b);
  }
}

/* Nothing overlaps or leaves the column, and the buttons lie below the page. */
static inline void check_layout(Bench *b) {
  const Flow *f = &b->panel.flow;
  draw(b);
  const double column = b->panel.view.width;
  for (size_t k = 0; k < f->n; k++) {
    const FlowPiece *p = &f->pieces[k];
    if (p->box.x < 0 || p->box.x + p->box.width > column + 1)
      fail_msg("piece %zu goes from %g to %g in %g", k, p->box.x, p->box.x + p->box.width, column);
    assert_true(p->box.height > 0);
    for (size_t other = 0; other < k; other++) {
      const Box o = f->pieces[other].box;
      const bool apart = p->box.y >= o.y + o.height || p->box.x >= o.x + o.width;
      if (!apart) fail_msg("pieces %zu and %zu overlap", other, k);
    }
  }
  const Box next = flow_widget(&b->panel.foot, WIDGET_NEXT)->box, back = flow_widget(&b->panel.foot, WIDGET_BACK)->box;
  assert_true(next.x > back.x + back.width);
  assert_true(next.y >= b->panel.view.y + b->panel.view.height && next.y + next.height <= b->box.y + b->box.height);
}

#endif
