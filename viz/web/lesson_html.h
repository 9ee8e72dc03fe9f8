/* A page of a lesson (lessons/engine/lesson_page.h) as HTML: for a learner in a browser, and printed, for readers and
 * searchers without a program.
 *
 * All text is escaped, and Markdown may hold no HTML, so that a lesson from anywhere is only text. */
#ifndef TILEWALK_VIZ_WEB_LESSON_HTML_H
#define TILEWALK_VIZ_WEB_LESSON_HTML_H

#include "lessons/engine/lesson_page.h"
#include "viz/export/buffer.h"

typedef struct Html Html;
struct Html {
  ByteBuffer out; /* what was put */
  LessonSession *session;
  LessonPage page;
  /* Of a page that is printed: puts what a block shows. Nothing is there to press then, and answers are folded. */
  void (*figure)(Html *h, size_t block);
};

enum { HTML_ACTS = ACT_PLAY + 1 };
const char *html_act_name(LessonAct act); /* what data-press says of a button: "check" */

/* Puts a format: %s as it is, %e escaped, %w escaped words with `code`, %d a number. What does not fit into memory is
 * left out. */
void html_put(Html *h, const char *format, ...);
void html_markdown(Html *h, const char *text);
const char *html_text(Html *h); /* what was put, until more is; "": no memory */

/* The page that its session is on, in place of what was put. What comes last is in <section id="open">. */
void lesson_html_page(Html *h);

/* All stories and lessons, with what was done of them, in place of what was put. */
void lesson_html_list(Html *h);
void html_free(Html *h);

#endif
