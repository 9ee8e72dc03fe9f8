/* The list of lessons in the window: what there is, how long each takes, and how far the learner is.
 *
 *     Lessons
 *     [1  Why memory            done, 4 of 4 right   10 min]
 *     [2  Standard attention    3 of 5                12 min]
 *
 * Read when it is opened, so that what was done a moment ago is seen. */
#ifndef TILEWALK_VIZ_WINDOW_LESSON_PICKER_H
#define TILEWALK_VIZ_WINDOW_LESSON_PICKER_H

#include "viz/lesson/lesson_library.h"
#include "viz/paper/lesson_flow.h"

enum { PICKER_ROWS_MAX = 64, PICKER_TEXT_BYTES = 160 };

typedef struct {
  char name[LESSON_NAME_BYTES * 2]; /* as lesson_load takes it */
  char title[PICKER_TEXT_BYTES], standing[PICKER_TEXT_BYTES];
  bool is_finished, can_run;
} PickerRow;

typedef struct {
  PickerRow rows[PICKER_ROWS_MAX]; /* in order; further ones are left to `tilewalk lesson` */
  int n;
  char problem[ERROR_MESSAGE_BYTES]; /* why a lesson, or the list, could not be opened; "" none */
} LessonPicker;

/* Reads the lessons and the learner's record. What cannot be read is said in `problem`; a lesson that cannot be read is
 * listed with the reason and cannot be chosen. `warnings` gets a line about a damaged record. */
void lesson_picker_read(LessonPicker *picker, FILE *warnings);

/* The row of a lesson, or -1. */
int lesson_picker_find(const LessonPicker *picker, const char *name);

/* The first lesson from row `from` on that is not finished and can run; -1: none. */
int lesson_picker_next(const LessonPicker *picker, int from);

/* Puts the list on a page; row k is the widget `first_widget` + k. `open` is the lesson that is open, or "". */
void lesson_picker_page(const LessonPicker *picker, Flow *flow, int first_widget, const char *open);

#endif
