/* Lessons in a page: the session that terminal and window have too, its page (lessons/engine/lesson_page.h) as HTML.
 *
 *     web_lesson_press("check", 0)  ->  session  ->  web_lesson_page() = "<p>...<button data-press=...>"
 *
 * All text is escaped, and Markdown may hold no HTML, so that a lesson from anywhere is only text. */
#include <md4c-html.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/lesson_file.h"
#include "lessons/engine/lesson_page.h"
#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_player.h"
#include "viz/web/web_inner.h"
#include "viz/web/web_page.h"

static LessonSession session;
static LessonPage page;
static LessonPlayer beside;
static bool is_open;
static Error lesson_error;

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

/* What can be pressed, by LessonAct. */
static const char *const ACTS[] = {"", "type", "choose", "check", "hint", "next", "back", "play", "mark"};
enum { N_ACTS = sizeof ACTS / sizeof *ACTS };

/* What was just said is read out. */
static void put_box(Html *h, const char *look, const char *words, const char *text, bool is_said) {
  put_format(h, "<div class=\"box %s\"%s><strong>", look, is_said ? " role=\"status\"" : "");
  put_words(h, words);
  put(h, "</strong> ");
  put_words(h, text);
  put(h, "</div>\n");
}

static void put_said(Html *h, const LessonPart *part, const char *words, const char *text) {
  static const char *const LOOKS[] = {"accent", "good", "warn", "bad", "accent"};
  static const char *const MARKS[] = {"", "✓ ", "! ", "✗ ", ""};
  char all[LESSON_OPTION_BYTES + LESSON_STATE_BYTES];
  const bool is_marked = *words && (part->kind == PART_VERDICT || part->tone == TONE_GOOD);
  snprintf(all, sizeof all, "%s%s%s", is_marked ? MARKS[part->tone] : "", words, part->kind == PART_ANSWER ? "." : "");
  put_box(h, LOOKS[part->tone], all, text, part->block + 1 == lesson_session_page_end(&session));
}

static void put_button(Html *h, LessonAct act, int number, const char *words, bool is_main) {
  put_format(h, "<button type=\"button\" data-press=\"%s\" data-number=\"%d\"%s>", ACTS[act], number,
             is_main ? " class=\"main\"" : "");
  put_escaped(h, words);
  put(h, "</button>\n");
}

/* ---- Parts ----------------------------------------------------------------------------------------------- */

static void put_option(Html *h, const LessonPart *part, const char *letter, const char *text) {
  static const char *const LOOKS[] = {"", "", "", " right", " wrong", " taken"};
  static const char *const NOTES[] = {
      "", "", "", " <span class=\"place\">✓</span>", " <span class=\"place\">✗ tried</span>", ""};
  put_format(h, "<button type=\"button\" data-press=\"choose\" data-number=\"%d\" class=\"choice%s\"%s><b>%s</b> ",
             part->number, LOOKS[part->look], part->act && part->look != LOOK_WRONG ? "" : " disabled", letter);
  put_words(h, text);
  if (part->place) put_format(h, " <span class=\"place\">%d.</span>", part->place);
  put_format(h, "%s</button>\n", NOTES[part->look]);
}

static void put_field(Html *h, const LessonPart *part, const char *unit, const char *typed) {
  if (part->ask == LESSON_ORDER)
    put(h, "<p class=\"soft\">Press them in order; press one again to take it back.</p>\n");
  if (part->ask == LESSON_WORK) {
    put_format(h,
               "<textarea id=\"answer\" class=\"program\" spellcheck=\"false\" autocapitalize=\"off\" rows=\"18\" "
               "maxlength=\"%d\" aria-label=\"%s\">\n",
               LESSON_WORK_FILE_BYTES, unit);
    put_escaped(h, typed);
    put(h, "</textarea>\n");
  }
  if (part->ask != LESSON_NUMBER && part->ask != LESSON_SKETCH) return;
  put_format(h, "<form class=\"answer\" data-form=\"check\"><label>Your answer%s%s%s ", *unit ? ", in " : "", unit,
             ":");
  put_format(
      h, "<input id=\"answer\" name=\"answer-%d\" autocomplete=\"off\" spellcheck=\"false\" maxlength=\"%d\" value=\"",
      session.lesson.blocks[part->block].ask, LESSON_TYPED_BYTES - 1);
  put_escaped(h, typed);
  put(h, "\"></label> <button class=\"main\">Check</button></form>\n");
}

static void put_answered(Html *h, const LessonPart *part, const char *words, const char *typed) {
  if ((part->ask != LESSON_NUMBER && part->ask != LESSON_SKETCH) || !*typed) return;
  put_format(h, "<p class=\"soft\">%s: ", words);
  put_escaped(h, typed);
  put(h, "</p>\n");
}

/* A table of cells; while the question is open each is a button that says where it is, and whether it is drawn. */
static void put_sketch(Html *h, const LessonPart *part, const char *words, const char *cells) {
  const Sketch *sketch = &session.lesson.asks[part->number].sketch;
  char row_label[SKETCH_LABEL_BYTES], label[SKETCH_LABEL_BYTES];
  put(h, "<p class=\"soft\">");
  put_words(h, words);
  put(h, "</p>\n<table class=\"sketch\">\n");
  for (int row = 0; row < sketch->rows; row++, cells++) {
    sketch_row_label(sketch, row, row_label);
    put_format(h, "<tr><th scope=\"row\">%s</th>", row_label);
    for (int k = 0; k < sketch->columns; k++, cells++) {
      static const char *const LOOKS[] = {['#'] = "drawn", ['+'] = "left-out", ['-'] = "too-much", ['.'] = "empty"};
      sketch_column_label(sketch, k, label);
      put_format(h, "<td class=\"%s\">", LOOKS[(unsigned char)*cells]);
      if (part->act)
        put_format(
            h, "<button type=\"button\" data-press=\"mark\" data-number=\"%d\" aria-pressed=\"%s\" aria-label=\"%s, ",
            row * sketch->columns + k, *cells == '#' ? "true" : "false", row_label);
      if (part->act) put_escaped(h, label);
      put(h, part->act ? "\"></button></td>" : *cells == '+' ? "+</td>" : *cells == '-' ? "−</td>" : "</td>");
    }
    put(h, "</tr>\n");
  }
  put_format(h, "<tr><th>%s</th>", sketch->unit.name);
  for (int k = 0; k < sketch->columns; k++) {
    sketch_column_label(sketch, k, label);
    put(h, "<th scope=\"col\">");
    put_escaped(h, label);
    put(h, "</th>");
  }
  put(h, "</tr>\n</table>\n");
}

static void put_figure(Html *h, const LessonPart *part) {
  LessonShow show;
  char text[WARP_LINES_BYTES];
  if (lesson_run_show(&session.run, &session.lesson.blocks[part->block], &show, NULL)) return;
  lesson_warp_lines(&show, text, sizeof text);
  if (*text) {
    put(h, "<pre tabindex=\"0\">");
    put_escaped(h, text);
    put(h, "\n</pre>\n");
  } else if (session.plays == part->block) {
    put_box(h, "accent", "▶ Look.", "It plays beside this page. There Space stops it, and the arrows step.", false);
  }
}

static void put_part(Html *h, const LessonPart *part) {
  const char *words = pool_text(&page.pool, part->words), *text = pool_text(&page.pool, part->text);
  switch (part->kind) {
  case PART_IDEA:
    put(h, "<p class=\"soft\">");
    put_words(h, text);
    put(h, "</p>\n");
    break;
  case PART_PROSE: put_markdown(h, text); break;
  case PART_HEADING: put_format(h, "<h3>%s</h3>\n", text); break;
  case PART_PROMPT:
    put(h, "<p>");
    put_words(h, text);
    put(h, "</p>\n");
    break;
  case PART_OPTION: put_option(h, part, words, text); break;
  case PART_FIELD: put_field(h, part, words, text); break;
  case PART_SKETCH: put_sketch(h, part, words, text); break;
  case PART_CODE:
    put(h, "<pre tabindex=\"0\">");
    put_escaped(h, text);
    put(h, "</pre>\n");
    break;
  case PART_ANSWERED:
  case PART_PREDICTED: put_answered(h, part, words, text); break;
  case PART_VERDICT:
  case PART_ANSWER:
  case PART_REVEAL:
  case PART_HINT: put_said(h, part, words, text); break;
  case PART_FIGURE: put_figure(h, part); break;
  case PART_TO_DO:
    put_box(h, "accent", "○ To do,",
            "in the viewer beside this page. Return there takes a change such as d=32. It is checked as you go.",
            false);
    break;
  case PART_BUTTON: /* a number's Check is in its form; an order's comes when it is whole */
    if (part->act != ACT_CHECK || (part->ask != LESSON_NUMBER && part->ask != LESSON_SKETCH && part->look == LOOK_MAIN))
      put_button(h, part->act, part->number, text, part->look == LOOK_MAIN);
    break;
  case PART_END:
    put_format(h, "<div class=\"box good\" role=\"status\"><strong>The lesson is done: %s right.</strong> ", words);
    put(h, "Predictions are not counted.</div>\n");
    break;
  case PART_TITLE: break; /* above the page */
  }
}

/* A section a block; what comes last is "open". */
static void put_parts(Html *h) {
  size_t section = LESSON_NO_BLOCK;
  for (size_t k = 0; k < page.n; k++) {
    const LessonPart *part = &page.parts[k];
    if (part->block != section) {
      if (section != LESSON_NO_BLOCK) put(h, "</section>\n");
      put_format(h, "<section%s%s>\n", part->kind == PART_HEADING ? " class=\"ask\"" : "",
                 part->block + 1 == lesson_session_page_end(&session) ? " id=\"open\"" : "");
      section = part->block;
    }
    put_part(h, part);
  }
  if (section != LESSON_NO_BLOCK) put(h, "</section>\n");
}

static void put_foot(Html *h, size_t end) {
  const bool is_over = lesson_session_is_finished(&session) && end == session.lesson.n_blocks;
  if (session.error.status) put_box(h, "bad", "The lesson cannot go on.", session.error.message, true);
  put(h, "<p class=\"foot\">");
  if (lesson_session_can_go_back(&session)) put_button(h, ACT_BACK, 0, "Back", false);
  if (!is_over && !session.error.status) put_button(h, ACT_NEXT, 0, lesson_session_next_label(&session), true);
  put_format(h, " <span class=\"soft\">Page %d of %d</span></p>\n", lesson_session_page_number(&session),
             session.n_pages);
}

/* What the learner's page says, as HTML; valid until the next call. What comes last is in <section id="open">. */
EXPORT const char *web_lesson_page(void) {
  html.n = 0;
  put(&html, "");
  if (!is_open) return "";
  lesson_page_make(&page, &session);
  put_parts(&html);
  put_foot(&html, lesson_session_page_end(&session));
  return html.text ? html.text : "";
}

/* ---- What a learner does --------------------------------------------------------------------------------- */

/* `seed`: the learner's own number; "": the one that the lesson was begun with, or 1. */
EXPORT bool web_lesson_open(const char *name, bool restart, const char *seed) {
  const LessonSessionOptions options = {.restart = restart, .has_seed = *seed, .seed = strtoull(seed, NULL, 10)};
  if (is_open) lesson_session_close(&session);
  lesson_error = (Error){0};
  is_open = !lesson_player_open(&session, name, &options, stderr, &lesson_error);
  beside.player = web_player();
  const LessonViewer viewer = lesson_player_viewer(&beside);
  if (is_open)
    lesson_session_start(&session, &viewer);
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
  if (session.lesson.asks[ask].kind == LESSON_WORK) {
    lesson_session_write(&session, text);
    return;
  }
  session.answers[ask].typed[0] = '\0';
  session.answers[ask].is_stale = false;
  lesson_session_type(&session, text);
}

/* "choose" and "play" with a number, "check", "hint", "next", "back". */
EXPORT void web_lesson_press(const char *what, int number) {
  for (int act = 0; is_open && act < N_ACTS; act++)
    if (strcmp(what, ACTS[act]) == 0) lesson_session_press(&session, (LessonAct)act, number);
  web_changed();
}

/* The player may have moved: whether the page says something else now. */
EXPORT bool web_lesson_look(void) { return is_open && lesson_session_look(&session); }

/* What a student hands in of this lesson, as JSON; "" nothing was answered yet. */
EXPORT const char *web_lesson_hand_in(const char *student) {
  int n = 0;
  html.n = 0;
  put(&html, "");
  char *text = is_open ? lesson_progress_hand_in(&session.progress, session.lesson.name, student, &n) : NULL;
  if (text && n) put(&html, text);
  free(text);
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
