/* Lessons in a page: the session that the window has too (viz/lesson/lesson_session.h), with its page as HTML.
 *
 *     web_lesson_press("check", 0)  ->  lesson_session_check  ->  web_lesson_page() = "<p>...<button data-press=...>"
 *
 * All text is escaped, and Markdown may hold no HTML, so that a lesson from anywhere is only text. */
#include <md4c-html.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viz/lesson/lesson_library.h"
#include "viz/text/warp_picture.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"
#include "viz/lesson/lesson_session.h"

static LessonSession session;
static bool is_open;
static Error lesson_error;
static char filled[LESSON_PROSE_BYTES];

/* ---- Text ------------------------------------------------------------------------------------------------ */

typedef struct {
  char *text;
  size_t n, room;
} Html;

static Html html;

static void put_bytes(Html *h, const char *bytes, size_t n) {
  if (h->n + n + 1 > h->room) {
    const size_t room = 2 * (h->n + n) + 4096;
    char *grown = realloc(h->text, room);
    if (!grown) return; /* what does not fit is left out */
    h->text = grown;
    h->room = room;
  }
  memcpy(h->text + h->n, bytes, n);
  h->n += n;
  h->text[h->n] = '\0';
}

static void put(Html *h, const char *text) { put_bytes(h, text, strlen(text)); }

__attribute__((format(printf, 2, 3))) static void put_format(Html *h, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  put(h, text);
}

static void put_escaped_bytes(Html *h, const char *text, size_t n) {
  for (size_t k = 0; k < n; k++) {
    switch (text[k]) {
    case '&': put(h, "&amp;"); break;
    case '<': put(h, "&lt;"); break;
    case '>': put(h, "&gt;"); break;
    case '"': put(h, "&quot;"); break;
    default: put_bytes(h, text + k, 1);
    }
  }
}

static void put_escaped(Html *h, const char *text) { put_escaped_bytes(h, text, strlen(text)); }

/* As it is, but for `code` between backticks. */
static void put_words(Html *h, const char *text) {
  while (*text) {
    const size_t plain = strcspn(text, "`");
    put_escaped_bytes(h, text, plain);
    text += plain;
    const char *end = *text ? strchr(text + 1, '`') : NULL;
    if (!end) {
      put_escaped(h, text);
      return;
    }
    put(h, "<code>");
    put_escaped_bytes(h, text + 1, (size_t)(end - text - 1));
    put(h, "</code>");
    text = end + 1;
  }
}

static void take_html(const MD_CHAR *bytes, MD_SIZE n, void *data) { put_bytes(data, bytes, n); }

static void put_markdown(Html *h, const char *text) {
  md_html(text, (MD_SIZE)strlen(text), take_html, h, MD_FLAG_TABLES | MD_FLAG_NOHTML, 0);
}

/* A text of the lesson, filled in; "" and the error kept when that fails. */
static const char *fill(LessonText text) {
  Error error = {0};
  filled[0] = '\0';
  lesson_run_refill(&session.run);
  if (text.offset && !session.error.status && lesson_run_fill(&session.run, text, filled, sizeof filled, &error)) {
    session.error = error;
    filled[0] = '\0';
  }
  return filled;
}

static void put_boxed(Html *h, const char *look, const char *words, const char *text) {
  put_format(h, "<div class=\"box %s\"><strong>", look);
  put_words(h, words);
  put(h, "</strong> ");
  put_words(h, text);
  put(h, "</div>\n");
}

static void put_button(Html *h, const char *press, int number, const char *words, bool is_main) {
  put_format(h, "<button type=\"button\" data-press=\"%s\" data-number=\"%d\"%s>", press, number,
             is_main ? " class=\"main\"" : "");
  put_escaped(h, words);
  put(h, "</button>\n");
}

/* ---- Questions ------------------------------------------------------------------------------------------- */

static void put_hints(Html *h, const char (*hint)[LESSON_HINT_BYTES], int given, int n) {
  char words[48];
  for (int k = 0; k < given; k++) {
    snprintf(words, sizeof words, "Hint %d of %d.", k + 1, n);
    put_boxed(h, "warn", words, hint[k]);
  }
}

static void put_verdict(Html *h, const LessonAnswer *a) {
  static const char *const WORDS[LESSON_VERDICT_COUNT] = {"✓ Right.", "! Nearly.", "✗ Not quite.", "✗ Not yet.", ""};
  static const char *const LOOKS[LESSON_VERDICT_COUNT] = {"good", "warn", "bad", "bad", "warn"};
  if (a->has_verdict) put_boxed(h, LOOKS[a->verdict], WORDS[a->verdict], a->said);
}

static void put_choices(Html *h, const LessonQuestion *q, const LessonAnswer *a, LessonKind kind, bool open) {
  if (q->n_choices == 0) return;
  put(h, "<div class=\"choices\">\n");
  for (int k = 0; k < q->n_choices; k++) {
    int place = 0;
    for (int at = 0; kind == LESSON_ORDER && at < a->n_order; at++)
      if (a->order[at] == k) place = at + 1;
    const bool was_tried = kind == LESSON_CHOICE && (a->tried & 1u << k) != 0;
    const bool is_right = kind == LESSON_CHOICE && a->is_resolved && !a->is_skipped && a->is_right && k == q->right;
    const bool is_taken = kind == LESSON_CHOICE && a->is_resolved && !a->is_from_before && *a->typed &&
                          strcmp(a->typed, q->choice[k]) == 0;
    put_format(h, "<button type=\"button\" data-press=\"choose\" data-number=\"%d\" class=\"choice%s\"%s>", k,
               is_right    ? " right"
               : was_tried ? " wrong"
               : is_taken  ? " taken"
                           : "",
               !open || was_tried ? " disabled" : "");
    put_format(h, "<b>%c</b> ", 'a' + k);
    put_words(h, q->choice[k]);
    if (place) put_format(h, " <span class=\"place\">%d.</span>", place);
    if (was_tried) put(h, " <span class=\"place\">✗ tried</span>");
    if (is_right) put(h, " <span class=\"place\">✓</span>");
    put(h, "</button>\n");
  }
  put(h, "</div>\n");
  if (kind == LESSON_ORDER && open)
    put(h, "<p class=\"soft\">Press them in order; press one again to take it back.</p>\n");
}

static void put_open(Html *h, int index, const LessonAsk *ask, const LessonQuestion *q, const LessonAnswer *a) {
  if (ask->kind == LESSON_NUMBER) {
    put_format(h, "<form class=\"answer\" data-form=\"check\"><label>Your answer%s%s%s ",
               *ask->unit.name ? ", in " : "", ask->unit.name, ":");
    put_format(
        h,
        "<input id=\"answer\" name=\"answer-%d\" autocomplete=\"off\" spellcheck=\"false\" maxlength=\"%d\" value=\"",
        index, LESSON_TYPED_BYTES - 1);
    put_escaped(h, a->typed);
    put(h, "\"></label> <button class=\"main\">Check</button>");
    put(h, "</form>\n");
  } else if (ask->kind == LESSON_ORDER && a->n_order == q->n_choices) {
    put_button(h, "check", 0, "Check", true);
  }
  if (lesson_session_hints_left(&session) > 0) put_button(h, "hint", 0, "Hint", false);
  put(h, "<div id=\"said\" role=\"status\" aria-live=\"polite\">");
  put_verdict(h, a);
  put_hints(h, a->hint, a->n_hints, ask->n_hints);
  put(h, "</div>\n");
}

static void put_settled(Html *h, const LessonAsk *ask, const LessonQuestion *q, const LessonAnswer *a) {
  char words[LESSON_OPTION_BYTES + 64];
  const bool is_number = ask->kind == LESSON_NUMBER;
  if (is_number && *a->typed && !a->is_from_before && (ask->is_prediction || a->is_right)) {
    put_format(h, "<p class=\"soft\">%s ", ask->is_prediction ? "You predict:" : "Your answer:");
    put_escaped(h, a->typed);
    put(h, "</p>\n");
  }
  if (ask->is_prediction) return;
  if (a->is_right && !a->is_from_before) {
    put_verdict(h, a);
    return;
  }
  snprintf(words, sizeof words, "%s %s.", a->is_right ? "✓ You found it:" : "The answer is", q->answer);
  put_boxed(h, a->is_right ? "good" : "warn", words, a->explained);
}

static void put_ask(Html *h, int index) {
  const LessonAsk *ask = &session.lesson.asks[index];
  const LessonQuestion *q = &session.questions[index];
  const LessonAnswer *a = &session.answers[index];
  const bool open = lesson_session_ask(&session) == index;
  put_format(h, "<section class=\"ask\"><h3>%s %d of %zu</h3>\n", ask->is_prediction ? "Predict," : "Question",
             index + 1, session.lesson.n_asks);
  if (a->is_asked) {
    put(h, "<p>");
    put_words(h, q->prompt);
    put(h, "</p>\n");
    put_choices(h, q, a, ask->kind, open);
    if (open)
      put_open(h, index, ask, q, a);
    else
      put_settled(h, ask, q, a);
  }
  put(h, "</section>\n");
}

/* ---- Shows and tasks ------------------------------------------------------------------------------------- */

static void put_warp(Html *h, const LessonShow *show) {
  WarpPicture picture;
  if (show->warp_in_banks) {
    if (warp_picture_banks(&show->warp, &picture, NULL)) return;
  } else {
    warp_picture_memory(&show->warp, &picture);
  }
  put(h, "<pre tabindex=\"0\">");
  for (int k = 0; k < picture.n; k++) {
    put_escaped(h, picture.line[k]);
    put(h, "\n");
  }
  put(h, "</pre>\n");
}

static void put_reveal(Html *h, int ask) {
  const LessonAnswer *a = &session.answers[ask];
  char words[LESSON_OPTION_BYTES + 64], said[2 * LESSON_MESSAGE_BYTES + 4];
  const bool both = a->verdict == LESSON_DIAGNOSED && *a->explained;
  snprintf(words, sizeof words, "%s %s", a->is_right ? "✓ As you predicted:" : "It is:", session.questions[ask].answer);
  snprintf(said, sizeof said, "%s%s%s", a->is_right || a->verdict == LESSON_DIAGNOSED ? a->said : "",
           both && !a->is_right ? " " : "", a->is_right ? "" : a->explained);
  put_boxed(h, a->is_right ? "good" : "warn", words, said);
}

static void put_show(Html *h, size_t block) {
  LessonShow show;
  Error error = {0};
  if (lesson_run_show(&session.run, &session.lesson.blocks[block], &show, &error)) {
    if (!session.error.status) session.error = error;
    return;
  }
  const bool is_warp = show.scene == SCENE_WARP;
  if (is_warp)
    put_warp(h, &show);
  else if (session.plays == block)
    put_boxed(h, "accent", "▶ Look.", "It plays beside this page. There Space stops it, and the arrows step.");
  if (session.lesson.blocks[block].caption.offset) put_markdown(h, fill(session.lesson.blocks[block].caption));
  if (session.plays != block && !is_warp)
    put_button(h, "play", (int)block, session.is_shown[block] ? "▶ Again" : "▶ Play", false);
  const int ask = lesson_session_prediction(&session, block);
  if (ask >= 0 && session.is_shown[block] && session.answers[ask].is_asked) put_reveal(h, ask);
}

static void put_task(Html *h, const LessonBlock *b) {
  const LessonTask *task = &session.lesson.tasks[b->task];
  const LessonDeed *d = &session.deeds[b->task];
  char words[LESSON_STATE_BYTES + 16];
  put(h, "<section class=\"ask\"><h3>Try it</h3>\n");
  put_markdown(h, fill(b->text));
  if (task->until.offset && !d->is_done) {
    put_boxed(h, "accent", "○ To do,",
              "in the viewer beside this page. Return there takes a change such as d=32. It is checked as you go.");
    if (lesson_session_hints_left(&session) > 0) put_button(h, "hint", 0, "Hint", false);
    put(h, "<div id=\"said\" role=\"status\" aria-live=\"polite\">");
    put_hints(h, d->hint, d->n_hints, task->n_hints);
    put(h, "</div>\n");
  } else if (task->until.offset) {
    snprintf(words, sizeof words, "Such as: %s.", d->solution);
    put_boxed(h, d->is_skipped ? "warn" : "good", d->is_skipped ? words : "✓ Done.", d->explained);
  }
  put(h, "</section>\n");
}

/* ---- The page -------------------------------------------------------------------------------------------- */

static void put_block(Html *h, size_t k) {
  const LessonBlock *b = &session.lesson.blocks[k];
  switch (b->kind) {
  case LESSON_PROSE: put_markdown(h, fill(b->text)); break;
  case LESSON_SHOW: put_show(h, k); break;
  case LESSON_ASK: put_ask(h, b->ask); break;
  case LESSON_TASK: put_task(h, b); break;
  default: break;
  }
}

static void put_foot(Html *h, size_t end) {
  const LessonStanding standing = lesson_progress_of(&session.progress, session.lesson.name);
  const bool is_over = lesson_session_is_finished(&session) && end == session.lesson.n_blocks;
  if (session.error.status) put_boxed(h, "bad", "The lesson cannot go on.", session.error.message);
  if (is_over && !session.error.status) {
    put_format(h, "<div class=\"box good\" role=\"status\"><strong>The lesson is done: %d of %d right.</strong> ",
               standing.n_right, lesson_n_counted(&session.lesson));
    put(h, "Predictions are not counted.</div>\n");
  }
  put(h, "<p class=\"foot\">");
  if (lesson_session_can_go_back(&session)) put_button(h, "back", 0, "Back", false);
  if (!is_over && !session.error.status) put_button(h, "next", 0, lesson_session_next_label(&session), true);
  put_format(h, " <span class=\"soft\">Page %d of %d</span></p>\n", lesson_session_page_number(&session),
             session.n_pages);
}

/* What the learner's page says, as HTML; valid until the next call. What comes last is in <div id="open">. */
EXPORT const char *web_lesson_page(void) {
  const size_t end = is_open ? lesson_session_page_end(&session) : 0;
  html.n = 0;
  put(&html, "");
  if (!is_open) return "";
  if (session.page == 0) {
    put(&html, "<p class=\"soft\">");
    put_words(&html, lesson_text(&session.lesson, session.lesson.idea));
    put(&html, "</p>\n");
  }
  for (size_t k = session.page; k < end; k++) {
    if (k + 1 == end) put(&html, "<div id=\"open\">\n");
    put_block(&html, k);
    if (k + 1 == end) put(&html, "</div>\n");
  }
  put_foot(&html, end);
  return html.text ? html.text : "";
}

/* ---- What a learner does --------------------------------------------------------------------------------- */

EXPORT bool web_lesson_open(const char *name, bool restart) {
  const LessonSessionOptions options = {.restart = restart};
  if (is_open) lesson_session_close(&session);
  lesson_error = (Error){0};
  is_open = !lesson_session_open(&session, name, &options, stderr, &lesson_error);
  if (is_open)
    lesson_session_start(&session, web_player());
  else
    lesson_session_close(&session);
  web_changed();
  return is_open;
}

EXPORT const char *web_lesson_error(void) { return lesson_error.message; }
EXPORT const char *web_lesson_title(void) { return is_open ? lesson_text(&session.lesson, session.lesson.title) : ""; }

/* What stands in the field. */
EXPORT void web_lesson_type(const char *text) {
  const int ask = is_open ? lesson_session_ask(&session) : -1;
  if (ask < 0) return;
  session.answers[ask].typed[0] = '\0';
  session.answers[ask].is_stale = false;
  lesson_session_type(&session, text);
}

/* "choose" and "play" with a number, "check", "hint", "next", "back". */
EXPORT void web_lesson_press(const char *what, int number) {
  if (!is_open) return;
  if (strcmp(what, "choose") == 0) lesson_session_choose(&session, web_player(), number);
  if (strcmp(what, "play") == 0 && number >= 0 && (size_t)number < session.lesson.n_blocks &&
      session.lesson.blocks[number].kind == LESSON_SHOW)
    lesson_session_play(&session, web_player(), (size_t)number);
  if (strcmp(what, "check") == 0) lesson_session_check(&session, web_player());
  if (strcmp(what, "hint") == 0) lesson_session_hint(&session);
  if (strcmp(what, "next") == 0) lesson_session_next(&session, web_player());
  if (strcmp(what, "back") == 0) lesson_session_back(&session, web_player());
  web_changed();
}

/* The player may have moved: whether the page says something else now. */
EXPORT bool web_lesson_look(void) { return is_open && lesson_session_look(&session, web_player()); }

/* What was answered in this sitting, as the rows of a hand-in: {"seed": 1, "answers": {"factor": "0.368"}}. A choice is
 * its letter, an order its letters. */
EXPORT const char *web_lesson_answers(void) {
  html.n = 0;
  put_format(&html, "{\"seed\":%llu,\"answers\":{", (unsigned long long)(is_open ? session.run.seed : 0));
  bool first = true;
  for (size_t k = 0; is_open && k < session.lesson.n_asks; k++) {
    const LessonAsk *ask = &session.lesson.asks[k];
    const LessonAnswer *a = &session.answers[k];
    if (ask->is_prediction || !a->is_resolved || a->is_from_before || !a->is_right) continue;
    put_format(&html, "%s\"%s\":\"", first ? "" : ",", ask->id);
    first = false;
    if (ask->kind == LESSON_CHOICE) put_format(&html, "%c", 'a' + session.questions[k].right);
    for (int at = 0; ask->kind == LESSON_ORDER && at < a->n_order; at++)
      put_format(&html, "%s%c", at ? " " : "", 'a' + a->order[at]);
    for (const char *p = a->typed; ask->kind == LESSON_NUMBER && *p; p++)
      put_format(&html, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    put(&html, "\"");
  }
  put(&html, "}}");
  return html.text;
}

/* ---- Lists ----------------------------------------------------------------------------------------------- */

static void put_json(Html *h, const char *key, const char *text) {
  put_format(h, "\"%s\":\"", key);
  for (; *text; text++) put_format(h, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  put(h, "\"");
}

/* [{"name", "title", "idea", "minutes", "right", "counted", "begun", "finished"}...] */
EXPORT const char *web_lesson_list(void) {
  LessonFiles *files = NULL;
  LessonProgress progress;
  Error error = {0};
  html.n = 0;
  put(&html, "[");
  const bool has_progress = !lesson_progress_open(&progress, stderr, &error);
  for (int k = 0, n = lesson_files(&files, &error) ? 0 : files->n; k < n; k++) {
    Lesson lesson;
    if (lesson_load_named(files->names[k], &lesson, &error)) continue;
    const LessonStanding s = has_progress ? lesson_progress_of(&progress, lesson.name) : (LessonStanding){0};
    put(&html, html.n > 1 ? ",{" : "{");
    put_json(&html, "name", lesson.name);
    put(&html, ",");
    put_json(&html, "title", lesson_text(&lesson, lesson.title));
    put(&html, ",");
    put_json(&html, "idea", lesson_text(&lesson, lesson.idea));
    put_format(&html, ",\"minutes\":%d,\"right\":%d,\"counted\":%d,\"begun\":%s,\"finished\":%s}", lesson.minutes,
               s.n_right, lesson_n_counted(&lesson), s.has_begun ? "true" : "false", s.is_finished ? "true" : "false");
    lesson_free(&lesson);
  }
  free(files);
  lesson_progress_close(&progress);
  put(&html, "]");
  return html.text;
}

/* An entry of the glossary as HTML; "" none. */
EXPORT const char *web_lesson_glossary(const char *anchor) {
  char heading[256], text[4096];
  Error error = {0};
  if (lesson_glossary(anchor, heading, sizeof heading, text, sizeof text, &error)) return "";
  html.n = 0;
  put(&html, "<h3>");
  put_escaped(&html, heading);
  put(&html, "</h3>\n");
  put_markdown(&html, text);
  return html.text;
}
