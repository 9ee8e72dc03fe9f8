/* Fuzz target for what learners type and classes hand in: any bytes are an answer with a finite
 * value, a choice, an order, a submission, or refused with one printable line. The first byte says
 * which. */
#include <math.h>
#include "tests/fuzz/fuzz.h"
#include "lessons/engine/answer.h"
#include "lessons/engine/sketch.h"
#include "lessons/engine/show_line.h"
#include "lessons/engine/lesson_submission.h"
#include "viz/text/warp_picture.h"
#include "sim/base/utf8.h"

static void check_message(const Error *error) {
  const size_t length = strlen(error->message);
  require(length > 0);
  require(utf8_is_text(error->message, length));
}

static void number(const char *text, size_t length) {
  static const char *const UNITS[] = {"", "MiB", "%", "x", "loads", "us", "TFLOP/s"};
  Answer a;
  Error error = {0};
  if (answer_parse(text, length, &a, &error)) {
    check_message(&error);
    return;
  }
  require(isfinite(a.number) && a.digits >= 1 && a.slack >= 0);
  for (size_t u = 0; u < sizeof UNITS / sizeof *UNITS; u++) {
    AnswerKey key = {.low = 64, .high = 64};
    AnswerVerdict verdict;
    Error refused = {0};
    char shown[64];
    require(answer_unit(UNITS[u], &key.unit, NULL) == STATUS_OK);
    if (answer_judge(&key, &a, &verdict, &refused))
      check_message(&refused);
    else
      require(verdict <= ANSWER_WRONG);
    /* what the learner typed is right for itself */
    key.low = key.high = answer_value(&key, &a);
    if (answer_judge(&key, &a, &verdict, NULL) == STATUS_OK) require(verdict == ANSWER_RIGHT);
    answer_text(&key, key.low, shown, sizeof shown);
  }
}

static void choices(const char *text) {
  static const AnswerChoices CHOICES = {
      .key = {"smaller", "same", "larger"}, .text = {"It falls.", "It stays.", "It grows."}, .n = 3};
  int chosen = -1, order[ANSWER_CHOICES_MAX];
  Error error = {0}, refused = {0};
  if (answer_choice(&CHOICES, text, &chosen, &error))
    check_message(&error);
  else
    require(chosen >= 0 && chosen < 3);
  if (answer_order(&CHOICES, text, order, &refused))
    check_message(&refused);
  else
    require(order[0] != order[1] && order[1] != order[2] && order[0] != order[2]);
}

static void draw(const LessonShow *show) {
  WarpPicture picture;
  Error error = {0};
  warp_picture_memory(&show->warp, &picture);
  require(picture.n > 0 && picture.n <= WARP_PICTURE_LINES);
  if (show->warp_in_banks) require(warp_picture_banks(&show->warp, &picture, &error) == STATUS_OK);
}

/* What is read is written, and read again as the same; or refused with a line. Text also describes a sketch. */
static void sketches(const char *text) {
  Sketch sketch[] = {{.rows = 12, .columns = 12}, {.has_heights = true, .rows = 8, .columns = 3, .top = 64}, {0}, {0}};
  for (int k = 0; k < 4; k++) {
    SketchDrawing drawn, again;
    Error error = {0};
    char written[SKETCH_TEXT_BYTES], picture[SKETCH_PICTURE_BYTES], said[200];
    sketch[k].unit.factor = 1;
    Status status = k < 2    ? STATUS_OK
                    : k == 2 ? sketch_tiles(text, &sketch[k], &error)
                             : sketch_columns(text, &sketch[k], &error);
    if (k == 3) sketch[k].top = 1;
    if (!status) status = sketch_read(&sketch[k], text, &drawn, &error);
    if (status) {
      check_message(&error);
      continue;
    }
    sketch_write(&sketch[k], &drawn, written);
    require(strlen(written) + 1 < sizeof written && !sketch_read(&sketch[k], written, &again, NULL));
    require(sketch_is_right(&sketch[k], &drawn, &drawn, said, sizeof said));
    sketch_picture(&sketch[k], &drawn, &again, picture);
  }
}

static void others(const char *text, size_t length) {
  AnswerTolerance tolerance;
  LessonShow show;
  Submission submission = {0};
  Error errors[3] = {{0}};
  if (answer_tolerance(text, &tolerance, &errors[0])) check_message(&errors[0]);
  if (lesson_show_parse(text, &show, &errors[1]))
    check_message(&errors[1]);
  else if (show.scene == SCENE_WARP)
    draw(&show);
  if (submission_add(&submission, text, length, "class.csv", &errors[2])) check_message(&errors[2]);
  submission_free(&submission);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0 || size > 1 << 14) return 0;
  char *text = malloc(size);
  if (!text) return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  if (data[0] == 'd')
    sketches(text);
  else if (data[0] % 3 == 0)
    number(text, size - 1);
  else if (data[0] % 3 == 1)
    choices(text);
  else
    others(text, size - 1);
  free(text);
  return 0;
}
