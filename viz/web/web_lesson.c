/* Lessons in a page: the session that terminal and window have too, its page (lessons/engine/lesson_page.h) as HTML.
 *
 *     web_lesson_press("check", 0)  ->  session  ->  web_lesson_page() = "<p>...<button data-press=...>"
 */
#include <stdlib.h>

#include "lessons/engine/lesson_class.h"
#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_player.h"
#include "viz/text/number.h"
#include "viz/web/lesson_html.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

static LessonSession session;
static Html html;
static LessonPlayer beside;
static bool is_open;

/* What the learner's page says, as HTML; valid until the next call. What comes last is in <section id="open">. */
EXPORT const char *web_lesson_page(void) {
  if (!is_open) return "";
  html.session = &session;
  lesson_html_page(&html);
  return html_text(&html);
}

/* ---- What a learner does --------------------------------------------------------------------------------- */

/* `seed`: the learner's own number; "": the one that the lesson was begun with, or 1. Returns "", or why not. */
EXPORT const char *web_lesson_open(const char *name, bool restart, const char *seed) {
  static Error error;
  const LessonSessionOptions options = {.restart = restart, .has_seed = *seed, .seed = strtoull(seed, NULL, 10)};
  if (is_open) lesson_session_close(&session);
  error = (Error){0};
  is_open = !lesson_player_open(&session, name, &options, stderr, &error);
  beside.player = web_player();
  const LessonViewer viewer = lesson_player_viewer(&beside);
  if (is_open)
    lesson_session_start(&session, &viewer);
  else
    lesson_session_close(&session);
  web_changed();
  return error.message;
}

EXPORT const char *web_lesson_title(void) { return is_open ? session.lesson.title.text : ""; }

/* What stands in the field. */
EXPORT void web_lesson_type(const char *text) {
  const int ask = is_open ? lesson_session_ask(&session) : -1;
  if (ask < 0) return;
  if (session.lesson.asks[ask].kind == LESSON_WORK) {
    lesson_session_write(&session, text);
    return;
  }
  session.answers[ask].typed[0] = '\0';
  session.answers[ask].is_stale = false;
  lesson_session_type(&session, text);
}

/* "choose" and "play" with a number, "check", "hint", "next", "back". Whether another page is open. */
EXPORT bool web_lesson_press(const char *what, int number) {
  if (!is_open) return false;
  const int page = lesson_session_page_number(&session);
  for (int act = 0; act < HTML_ACTS; act++)
    if (strcmp(what, html_act_name((LessonAct)act)) == 0) lesson_session_press(&session, (LessonAct)act, number);
  web_changed();
  return lesson_session_page_number(&session) != page;
}

/* The player may have moved: whether the page says something else now. */
EXPORT bool web_lesson_look(void) { return is_open && lesson_session_look(&session); }

/* What a student hands in of this lesson, as JSON; "" nothing was answered yet. */
EXPORT const char *web_lesson_hand_in(const char *student) {
  int n = 0;
  html.out.used = 0;
  char *text = is_open ? lesson_progress_hand_in(&session.progress, session.lesson.name, student, &n) : NULL;
  if (text && n) html_put(&html, "%s", text);
  free(text);
  return html_text(&html);
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

static Status put_graded(void *rows, const ClassRow *row, Error *error) {
  const char *const cells[] = {row->lesson, row->id, row->answer, row->verdict, row->remark};
  (void)error;
  html_put(rows, "<tr><th scope=\"row\">%e</th>", row->student);
  for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) html_put(rows, "<td>%e</td>", cells[k]);
  html_put(rows, "<td>%s</td></tr>\n", number_count(wide(row->seed)).text);
  return STATUS_OK;
}

/* What was handed in (lessons/engine/lesson_submission.h), graded with the seeds that it names, as HTML; or why not. */
EXPORT const char *web_lesson_grade(const char *text, const char *file) {
  static Error error;
  const ClassRules rules = {.load = lesson_load_named, .limits = &LESSON_LIMITS, .seed = 1, .trust_seeds = true};
  Submission submission = {0};
  ClassSum sum;
  Html rows = {0};
  error = (Error){0};
  html.out.used = 0;
  if (!submission_add(&submission, text, strlen(text), file, &error))
    lesson_class_grade(&submission, &rules, put_graded, &rows, &sum, &error);
  submission_free(&submission);
  if (!error.status)
    html_put(&html,
             "<h2>%e: %d of %d right</h2>\n<p class=\"soft\">Graded with the numbers of each row's seed, as the file "
             "has it; predictions do not count. A class, a key or a roster: tilewalk lesson --answers.</p>\n"
             "<div class=\"scrolls\" tabindex=\"0\"><table class=\"data\"><caption>What was handed in</caption>\n"
             "<thead><tr><th>student</th><th>lesson</th><th>question</th><th>answer</th><th>verdict</th><th>remark</th>"
             "<th>seed</th></tr></thead><tbody>%s</tbody></table></div>\n",
             file, sum.n_right, sum.n_counted, html_text(&rows));
  html_free(&rows);
  return error.status ? error.message : html_text(&html);
}

/* Stories and lessons, as HTML. */
EXPORT const char *web_lesson_list(void) {
  lesson_html_list(&html);
  return html_text(&html);
}

/* An entry of the glossary as HTML; "" none. */
EXPORT const char *web_lesson_glossary(const char *anchor) {
  char heading[256], text[4096];
  Error error = {0};
  if (lesson_glossary(anchor, heading, sizeof heading, text, sizeof text, &error)) return "";
  html.out.used = 0;
  html_put(&html, "<h3>%e</h3>\n", heading);
  html_markdown(&html, text);
  return html_text(&html);
}
