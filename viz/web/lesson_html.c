#include "viz/web/lesson_html.h"

#include <md4c-html.h>
#include <stdarg.h>

#include "lessons/engine/lesson_file.h"
#include "viz/lesson/lesson_library.h"
#include "viz/lesson/lesson_player.h"
#include "viz/story/story_file.h"

/* ---- Text ------------------------------------------------------------------------------------------------ */

const char *html_text(Html *h) {
  buffer_add(&h->out, "", 1);
  if (h->out.failed) return "";
  h->out.used--;
  return (const char *)h->out.bytes;
}

/* Escaped, but for `code` between backticks. */
static void html_words(Html *h, const char *text) {
  while (*text) {
    const size_t plain = strcspn(text, "`");
    buffer_add_escaped(&h->out, text, plain);
    text += plain;
    const char *end = *text ? strchr(text + 1, '`') : NULL;
    const size_t n = end ? (size_t)(end - text - 1) : strlen(text);
    html_put(h, end ? "<code>" : "");
    buffer_add_escaped(&h->out, text + (end != NULL), n);
    html_put(h, end ? "</code>" : "");
    text += n + (end ? 2 : 0);
  }
}

void html_put(Html *h, const char *format, ...) {
  va_list of;
  va_start(of, format);
  for (const char *c; *format; format = *c ? c + 2 : c) {
    c = format + strcspn(format, "%");
    buffer_add(&h->out, format, (size_t)(c - format));
    const char *text = *c && c[1] != 'd' ? va_arg(of, const char *) : "";
    if (!*c) continue;
    if (c[1] == 'd') buffer_add_format(&h->out, "%d", va_arg(of, int));
    if (c[1] == 's') buffer_add_text(&h->out, text);
    if (c[1] == 'e') buffer_add_escaped(&h->out, text, strlen(text));
    if (c[1] == 'w') html_words(h, text);
  }
  va_end(of);
}

static void take_html(const MD_CHAR *bytes, MD_SIZE n, void *data) { buffer_add(data, bytes, n); }

void html_markdown(Html *h, const char *text) {
  md_html(text, (MD_SIZE)strlen(text), take_html, &h->out, MD_FLAG_TABLES | MD_FLAG_NOHTML, 0);
}

/* What can be pressed, by LessonAct. */
static const char *const ACTS[] = {"", "type", "choose", "check", "hint", "next", "back", "play"};
_Static_assert(COUNT_OF(ACTS) == HTML_ACTS, "a name each");

const char *html_act_name(LessonAct act) { return ACTS[act]; }

/* What was just said is read out. */
static void put_box(Html *h, const char *look, const char *words, const char *text, bool is_said) {
  html_put(h, "<div class=\"box %s\"%s><strong>%w</strong> %w</div>\n", look,
           is_said && !h->figure ? " role=\"status\"" : "", words, text);
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
  html_put(h, "<button type=\"button\" data-press=\"%s\" data-number=\"%d\"%s>%e</button>\n", ACTS[act], number,
           is_main ? " class=\"main\"" : "", words);
}

/* ---- Parts ----------------------------------------------------------------------------------------------- */

static void put_option(Html *h, const LessonPart *part, const char *letter, const char *text) {
  static const char *const LOOKS[] = {"", "", "", " right", " wrong", " taken"};
  static const char *const NOTES[] = {
      "", "", "", " <span class=\"place\">✓</span>", " <span class=\"place\">✗ tried</span>", ""};
  if (h->figure) {
    html_put(h, "<p class=\"option\"><b>%s</b> %w</p>\n", letter, text);
    return;
  }
  html_put(h, "<button type=\"button\" data-press=\"choose\" data-number=\"%d\" class=\"choice%s\"%s><b>%s</b> %w",
           part->number, LOOKS[part->look], part->act && part->look != LOOK_WRONG ? "" : " disabled", letter, text);
  if (part->place) html_put(h, " <span class=\"place\">%d.</span>", part->place);
  html_put(h, "%s</button>\n", NOTES[part->look]);
}

static void put_field(Html *h, const LessonPart *part, const char *unit, const char *typed) {
  if (h->figure) return;
  if (part->ask == LESSON_ORDER)
    html_put(h, "<p class=\"soft\">Press them in order; press one again to take it back.</p>\n");
  if (part->ask == LESSON_WORK)
    html_put(h,
             "<div class=\"paper\"><pre id=\"paint\" aria-hidden=\"true\"></pre>"
             "<textarea id=\"answer\" class=\"program\" spellcheck=\"false\" autocapitalize=\"off\" wrap=\"off\" "
             "rows=\"18\" "
             "maxlength=\"%d\" aria-label=\"%s\">\n%e</textarea></div>\n",
             LESSON_WORK_FILE_BYTES, unit, typed);
  if (part->ask == LESSON_NUMBER)
    html_put(h,
             "<form class=\"answer\" data-form=\"check\"><label>Your answer%s%s: <input id=\"answer\" "
             "name=\"answer-%d\" autocomplete=\"off\" spellcheck=\"false\" maxlength=\"%d\" value=\"%e\"></label> "
             "<button class=\"main\">Check</button></form>\n",
             *unit ? ", in " : "", unit, h->session->lesson.blocks[part->block].ask, LESSON_TYPED_BYTES - 1, typed);
}

static void put_figure(Html *h, const LessonPart *part) {
  LessonShow show;
  char text[WARP_LINES_BYTES];
  if (lesson_run_show(&h->session->run, &h->session->lesson.blocks[part->block], &show, NULL)) return;
  lesson_warp_lines(&show, text, sizeof text);
  if (*text)
    html_put(h, "<pre tabindex=\"0\">%e\n</pre>\n", text);
  else if (h->figure)
    h->figure(h, part->block);
  else if (h->session->plays == part->block)
    put_box(h, "accent", "▶ Look.", "It plays beside this page. There Space stops it, and the arrows step.", false);
}

static void put_part(Html *h, const LessonPart *part) {
  const char *words = part->words, *text = part->text;
  switch (part->kind) {
  case PART_IDEA: html_put(h, "<p class=\"soft\">%w</p>\n", text); break;
  case PART_PROSE: html_markdown(h, text); break;
  case PART_HEADING: html_put(h, "<h3>%s</h3>\n", text); break;
  case PART_PROMPT: html_put(h, "<p>%w</p>\n", text); break;
  case PART_OPTION: put_option(h, part, words, text); break;
  case PART_FIELD: put_field(h, part, words, text); break;
  case PART_CODE:
    html_put(h,
             h->figure ? "<details><summary>One that passes</summary>\n<pre tabindex=\"0\">%e</pre>\n</details>\n"
                       : "<pre tabindex=\"0\">%e</pre>\n",
             text);
    break;
  case PART_ANSWERED:
  case PART_PREDICTED:
    if (part->ask == LESSON_NUMBER && *text) html_put(h, "<p class=\"soft\">%s: %e</p>\n", words, text);
    break;
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
    html_put(
        h,
        "<div class=\"box good\" role=\"status\"><strong>The lesson is done: %s right.</strong> %s Predictions are "
        "not counted.</div>\n",
        words, text);
    break;
  case PART_TITLE: break; /* above the page */
  }
}

/* A section a block; what comes last is "open". Below the first section of a printed page stands its state. */
static void put_parts(Html *h) {
  int n_sections = 0;
  for (size_t k = 0, section = LESSON_NO_BLOCK; k <= h->page.n; k++) {
    const LessonPart *part = k < h->page.n ? &h->page.parts[k] : NULL;
    if (part && part->block == section) {
      put_part(h, part);
      continue;
    }
    if (n_sections) html_put(h, "</section>\n");
    if (h->figure && (n_sections == 1 || (!n_sections && !part))) h->figure(h, h->session->page);
    if (!part) break;
    html_put(h, "<section%s%s>\n", part->kind == PART_HEADING ? " class=\"ask\"" : "",
             !h->figure && part->block + 1 == lesson_session_page_end(h->session) ? " id=\"open\"" : "");
    n_sections++;
    section = part->block;
    put_part(h, part);
  }
}

static void put_foot(Html *h, size_t end) {
  const bool is_over = lesson_session_is_finished(h->session) && end == h->session->lesson.n_blocks;
  const bool is_open = lesson_session_ask(h->session) >= 0 || lesson_session_task(h->session) >= 0;
  if (h->session->error.status) put_box(h, "bad", "The lesson cannot go on.", h->session->error.message, true);
  html_put(h, "<p class=\"foot\">");
  if (lesson_session_can_go_back(h->session)) put_button(h, ACT_BACK, 0, "Back", false);
  if (!is_over && !h->session->error.status)
    put_button(h, ACT_NEXT, 0, lesson_session_next_label(h->session), !is_open);
  html_put(h, " <span class=\"soft\">Page %d of %d</span></p>\n", lesson_session_page_number(h->session),
           h->session->n_pages);
}

void lesson_html_page(Html *h) {
  h->out.used = 0;
  lesson_page_make(&h->page, h->session);
  put_parts(h);
  if (!h->figure) put_foot(h, lesson_session_page_end(h->session));
}

/* ---- The list -------------------------------------------------------------------------------------------- */

/* Before those that were put: the usual one is the last by its name. */
static void put_story(void *data, const char *name, const char *title) {
  Html *h = data;
  ByteBuffer before = h->out;
  h->out = (ByteBuffer){0};
  html_put(h,
           "<p><a href=\"#story-%s\">%e</a> <span class=\"soft\">a story: two minutes of film and guesses</span></p>\n",
           name, title);
  buffer_add(&h->out, before.bytes, before.used);
  buffer_free(&before);
}

void lesson_html_list(Html *h) {
  LessonShelf shelf = {0};
  LessonProgress progress;
  Error error = {0};
  const bool has_progress = !lesson_progress_open(&progress, stderr, &error);
  h->out.used = 0;
  story_list(put_story, h, &error);
  html_put(h, "<ol>\n");
  while (lesson_next(&shelf, &error)) {
    const Lesson *l = &shelf.lesson;
    const LessonStanding s = has_progress ? lesson_progress_of(&progress, l->name) : (LessonStanding){0};
    if (shelf.why.status) continue;
    html_put(h, "<li><a href=\"#%s\">%e</a> <span class=\"soft\">", l->name, l->title.text);
    if (s.has_begun)
      html_put(h, s.is_finished ? "done, %d of %d right" : "begun, %d of %d right", s.n_right, lesson_n_counted(l));
    else
      html_put(h, "%d minutes", l->minutes);
    html_put(h, "; <a href=\"learn-%s.html\">read it</a></span><div>%e</div></li>\n", l->name, l->idea.text);
  }
  html_put(h, "</ol>\n");
  lesson_progress_close(&progress);
}

void html_free(Html *h) {
  lesson_page_free(&h->page);
  buffer_free(&h->out);
}
