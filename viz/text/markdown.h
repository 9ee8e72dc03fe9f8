/* Markdown in a terminal: headings, paragraphs, lists, quotes, code and tables, broken to the
 * style's width.
 *
 * Emphasis is left out, `code` keeps its backticks, a link shows its words (and its address when it
 * leads to the web), a picture its description. Raw HTML is shown as it is written. */
#ifndef TILEWALK_VIZ_TEXT_MARKDOWN_H
#define TILEWALK_VIZ_TEXT_MARKDOWN_H

#include "sim/base/error.h"
#include "viz/text/style.h"

/* Prints text[0..length). Blocks are separated by empty lines; none stands before or after. */
Status text_markdown(FILE *out, const TextStyle *style, const char *text, size_t length, Error *error);

#endif
