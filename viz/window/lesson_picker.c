#include "viz/window/lesson_picker.h"

static void take_standing(PickerRow *row, const Lesson *lesson, const LessonStanding *s) {
  row->is_finished = s->is_finished;
  if (s->is_finished)
    snprintf(row->standing, sizeof row->standing, "✓ done, %d of %d right", s->n_right, lesson_n_counted(lesson));
  else if (s->has_begun)
    snprintf(row->standing, sizeof row->standing, "begun: %d of %zu questions", s->n_asked, lesson->n_asks);
  else
    snprintf(row->standing, sizeof row->standing, "%d minutes", lesson->minutes);
}

void lesson_picker_read(LessonPicker *picker, FILE *warnings) {
  LessonShelf shelf = {0};
  LessonProgress progress = {0};
  Error error = {0};
  memset(picker, 0, sizeof *picker);
  Status status = lesson_progress_open(&progress, warnings, &error);
  while (!status && lesson_next(&shelf, &error)) {
    if (picker->n == PICKER_ROWS_MAX) continue;
    PickerRow *row = &picker->rows[picker->n++];
    const LessonStanding standing = lesson_progress_of(&progress, shelf.lesson.name);
    row->can_run = !shelf.why.status;
    snprintf(row->name, sizeof row->name, "%s", shelf.name);
    snprintf(row->title, sizeof row->title, "%.150s", row->can_run ? shelf.lesson.title.text : shelf.name);
    snprintf(row->standing, sizeof row->standing, "%.150s", shelf.why.message);
    if (row->can_run) take_standing(row, &shelf.lesson, &standing);
  }
  if (error.status) snprintf(picker->problem, sizeof picker->problem, "%s", error.message);
  lesson_progress_close(&progress);
}

int lesson_picker_find(const LessonPicker *picker, const char *name) {
  for (int k = 0; k < picker->n; k++)
    if (strcmp(picker->rows[k].name, name) == 0) return k;
  return -1;
}

int lesson_picker_next(const LessonPicker *picker, int from) {
  for (int k = from > 0 ? from : 0; k < picker->n; k++)
    if (picker->rows[k].can_run && !picker->rows[k].is_finished) return k;
  return -1;
}

void lesson_picker_page(const LessonPicker *picker, Flow *flow, int first_widget, const char *open) {
  char mark[16], words[2 * PICKER_TEXT_BYTES + 16];
  flow_heading(flow, 1.5, "Lessons");
  flow_text(flow, ROLE_DIM,
            "Read, predict, then watch it run beside the page. Press one, or type its number and Return.");
  for (int k = 0; k < picker->n; k++) {
    const PickerRow *row = &picker->rows[k];
    snprintf(mark, sizeof mark, "%d", k + 1);
    snprintf(words, sizeof words, "%s · %s", row->title, row->standing);
    FlowPiece *piece = flow_option(flow, row->can_run ? first_widget + k : -1, mark, words);
    piece->look = !row->can_run ? LOOK_OFF : *open && strcmp(row->name, open) == 0 ? LOOK_MAIN : LOOK_NORMAL;
  }
  if (*picker->problem) flow_boxed(flow, ROLE_BAD, "This cannot be opened.", picker->problem);
}
