#include "viz/web/lesson_html.h"

#include <md4c-html.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lessons/engine/lesson_file.h"
#include "viz/lesson/lesson_player.h"

/* ---- Text ------------------------------------------------------------------------------------------------ */

static void html_bytes(Html *h, const char *bytes, size_t n) {
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

void html_put(Html *h, const char *text) { html_bytes(h, text, strlen(text)); }

void html_format(Html *h, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  html_put(h, text);
}

static void html_escaped_bytes(Html *h, const char *text, size_t n) {
  for (size_t k = 0; k < n; k++) {
    switch (text[k]) {
    case '&': html_put(h, "&amp;"); break;
    case '<': html_put(h, "&lt;"); break;
    case '>': html_put(h, "&gt;"); break;
    case '"': html_put(h, "&quot;"); break;
    default: html_bytes(h, text + k, 1);
    }
  }
}

void html_escaped(Html *h, const char *text) { html_escaped_bytes(h, text, strlen(text)); }

/* As it is, but for `code` between backticks. */
static void html_words(Html *h, const char *text) {
  while (*text) {
    const size_t plain = strcspn(text, "`");
    html_escaped_bytes(h, text, plain);
    text += plain;
    const char *end = *text ? strchr(text + 1, '`') : NULL;
    if (!end) {
      html_escaped(h, text);
      return;
    }
    html_put(h, "<code>");
    html_escaped_bytes(h, text + 1, (size_t)(end - text - 1));
    html_put(h, "</code>");
    text = end + 1;
  }
}

static void take_html(const MD_CHAR *bytes, MD_SIZE n, void *data) { html_bytes(data, bytes, n); }

void html_markdown(Html *h, const char *text) {
  md_html(text, (MD_SIZE)strlen(text), take_html, h, MD_FLAG_TABLES | MD_FLAG_NOHTML, 0);
}

/* What can be pressed, by LessonAct. */
static const char *const ACTS[] = {"", "type", "choose", "check", "hint", "next", "back", "play"};
_Static_assert(sizeof ACTS / sizeof *ACTS == HTML_ACTS, "a name each");

const char *html_act_name(LessonAct act) { return ACTS[act]; }

/* What was just said is read out. */
static void put_box(Html *h, const char *look, const char *words, const char *text, bool is_said) {
  html_format(h, "<div class=\"box %s\"%s><strong>", look, is_said && !h->figure ? " role=\"status\"" : "");
  html_words(h, words);
  html_put(h, "</strong> ");
  html_words(h, text);
  html_put(h, "</div>\n");
}

static void put_said(Html *h, const LessonPart *part, const char *words, const char *text) {
  static const char *const LOOKS[] = {"accent", "good", "warn", "bad", "accent"};
  static const char *const MARKS[] = {"", "✓ ", "! ", "✗ ", ""};
  char all[LESSON_OPTION_BYTES + LESSON_STATE_BYTES];
  const bool is_marked = *words && (part->kind == PART_VERDICT || part->tone == TONE_GOOD);
  snprintf(all, sizeof all, "%s%s%s", is_marked ? MARKS[part->tone] : "", words, part->kind == PART_ANSWER ? "." : "");
  put_box(h, LOOKS[part->tone], all, text, part->block + 1 == lesson_session_page_end(h->session));
}

static void put_button(Html *h, LessonAct act, int number, const char *words, bool is_main) {
  html_format(h, "<button type=\"button\" data-press=\"%s\" data-number=\"%d\"%s>", ACTS[act], number,
              is_main ? " class=\"main\"" : "");
  html_escaped(h, words);
  html_put(h, "</button>\n");
}

/* ---- Parts ----------------------------------------------------------------------------------------------- */

static void put_option(Html *h, const LessonPart *part, const char *letter, const char *text) {
  if (h->figure) {
    html_format(h, "<p class=\"option\"><b>%s</b> ", letter);
    html_words(h, text);
    html_put(h, "</p>\n");
    return;
  }
  static const char *const LOOKS[] = {"", "", "", " right", " wrong", " taken"};
  static const char *const NOTES[] = {
      "", "", "", " <span class=\"place\">✓</span>", " <span class=\"place\">✗ tried</span>", ""};
  html_format(h, "<button type=\"button\" data-press=\"choose\" data-number=\"%d\" class=\"choice%s\"%s><b>%s</b> ",
              part->number, LOOKS[part->look], part->act && part->look != LOOK_WRONG ? "" : " disabled", letter);
  html_words(h, text);
  if (part->place) html_format(h, " <span class=\"place\">%d.</span>", part->place);
  html_format(h, "%s</button>\n", NOTES[part->look]);
}

static void put_field(Html *h, const LessonPart *part, const char *unit, const char *typed) {
  if (h->figure) return;
  if (part->ask == LESSON_ORDER)
    html_put(h, "<p class=\"soft\">Press them in order; press one again to take it back.</p>\n");
  if (part->ask == LESSON_WORK) {
    html_format(h,
                "<textarea id=\"answer\" class=\"program\" spellcheck=\"false\" autocapitalize=\"off\" rows=\"18\" "
                "maxlength=\"%d\" aria-label=\"%s\">\n",
                LESSON_WORK_FILE_BYTES, unit);
    html_escaped(h, typed);
    html_put(h, "</textarea>\n");
  }
  if (part->ask != LESSON_NUMBER) return;
  html_format(h, "<form class=\"answer\" data-form=\"check\"><label>Your answer%s%s%s ", *unit ? ", in " : "", unit,
              ":");
  html_format(
      h, "<input id=\"answer\" name=\"answer-%d\" autocomplete=\"off\" spellcheck=\"false\" maxlength=\"%d\" value=\"",
      h->session->lesson.blocks[part->block].ask, LESSON_TYPED_BYTES - 1);
  html_escaped(h, typed);
  html_put(h, "\"></label> <button class=\"main\">Check</button></form>\n");
}

static void put_answered(Html *h, const LessonPart *part, const char *words, const char *typed) {
  if (part->ask != LESSON_NUMBER || !*typed) return;
  html_format(h, "<p class=\"soft\">%s: ", words);
  html_escaped(h, typed);
  html_put(h, "</p>\n");
}

static void put_figure(Html *h, const LessonPart *part) {
  LessonShow show;
  char text[WARP_LINES_BYTES];
  if (lesson_run_show(&h->session->run, &h->session->lesson.blocks[part->block], &show, NULL)) return;
  lesson_warp_lines(&show, text, sizeof text);
  if (*text) {
    html_put(h, "<pre tabindex=\"0\">");
    html_escaped(h, text);
    html_put(h, "\n</pre>\n");
  } else if (h->figure) {
    h->figure(h, part->block);
  } else if (h->session->plays == part->block) {
    put_box(h, "accent", "▶ Look.", "It plays beside this page. There Space stops it, and the arrows step.", false);
  }
}

static void put_code(Html *h, const char *text) {
  html_put(h, h->figure ? "<details><summary>One that passes</summary>\n<pre tabindex=\"0\">" : "<pre tabindex=\"0\">");
  html_escaped(h, text);
  html_put(h, h->figure ? "</pre>\n</details>\n" : "</pre>\n");
}

static void put_part(Html *h, const LessonPart *part) {
  const char *words = part->words, *text = part->text;
  switch (part->kind) {
  case PART_IDEA:
    html_put(h, "<p class=\"soft\">");
    html_words(h, text);
    html_put(h, "</p>\n");
    break;
  case PART_PROSE: html_markdown(h, text); break;
  case PART_HEADING: html_format(h, "<h3>%s</h3>\n", text); break;
  case PART_PROMPT:
    html_put(h, "<p>");
    html_words(h, text);
    html_put(h, "</p>\n");
    break;
  case PART_OPTION: put_option(h, part, words, text); break;
  case PART_FIELD: put_field(h, part, words, text); break;
  case PART_CODE: put_code(h, text); break;
  case PART_ANSWERED:
  case PART_PREDICTED: put_answered(h, part, words, text); break;
  case PART_ANSWER:
  case PART_REVEAL:
    if (h->figure) html_put(h, "<details><summary>The answer</summary>\n");
    put_said(h, part, words, text);
    if (h->figure) html_put(h, "</details>\n");
    break;
  case PART_VERDICT:
  case PART_TO_DO:
  case PART_HINT: put_said(h, part, words, text); break;
  case PART_FIGURE: put_figure(h, part); break;
  case PART_BUTTON: /* a number's Check is in its form; an order's comes when it is whole */
    if (!h->figure && (part->act != ACT_CHECK || (part->ask != LESSON_NUMBER && part->look == LOOK_MAIN)))
      put_button(h, part->act, part->number, text, part->look == LOOK_MAIN);
    break;
  case PART_END:
    html_format(h, "<div class=\"box good\" role=\"status\"><strong>The lesson is done: %s right.</strong> ", words);
    html_format(h, "%s Predictions are not counted.</div>\n", text);
    break;
  case PART_TITLE: break; /* above the page */
  }
}

/* A section a block; what comes last is "open". */
static void put_parts(Html *h) {
  size_t section = LESSON_NO_BLOCK;
  bool is_first = h->figure != NULL; /* below the first section of a printed page stands its state */
  for (size_t k = 0; k < h->page.n; k++) {
    const LessonPart *part = &h->page.parts[k];
    if (part->block != section) {
      if (section != LESSON_NO_BLOCK) html_put(h, "</section>\n");
      if (section != LESSON_NO_BLOCK && is_first) h->figure(h, h->session->page);
      is_first = is_first && section == LESSON_NO_BLOCK;
      const bool is_open = !h->figure && part->block + 1 == lesson_session_page_end(h->session);
      html_format(h, "<section%s%s>\n", part->kind == PART_HEADING ? " class=\"ask\"" : "",
                  is_open ? " id=\"open\"" : "");
      section = part->block;
    }
    put_part(h, part);
  }
  if (section != LESSON_NO_BLOCK) html_put(h, "</section>\n");
  if (is_first) h->figure(h, h->session->page);
}

static void put_foot(Html *h, size_t end) {
  const bool is_over = lesson_session_is_finished(h->session) && end == h->session->lesson.n_blocks;
  const bool is_open = lesson_session_ask(h->session) >= 0 || lesson_session_task(h->session) >= 0;
  if (h->session->error.status) put_box(h, "bad", "The lesson cannot go on.", h->session->error.message, true);
  html_put(h, "<p class=\"foot\">");
  if (lesson_session_can_go_back(h->session)) put_button(h, ACT_BACK, 0, "Back", false);
  if (!is_over && !h->session->error.status)
    put_button(h, ACT_NEXT, 0, lesson_session_next_label(h->session), !is_open);
  html_format(h, " <span class=\"soft\">Page %d of %d</span></p>\n", lesson_session_page_number(h->session),
              h->session->n_pages);
}

void lesson_html_page(Html *h) {
  h->n = 0;
  html_put(h, "");
  lesson_page_make(&h->page, h->session);
  put_parts(h);
  if (!h->figure) put_foot(h, lesson_session_page_end(h->session));
}

void html_free(Html *h) {
  lesson_page_free(&h->page);
  free(h->text);
}
