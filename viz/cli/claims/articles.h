/* The claims and questions of the articles, for the commands that show them. */
#ifndef TILEWALK_VIZ_CLI_CLAIMS_ARTICLES_H
#define TILEWALK_VIZ_CLI_CLAIMS_ARTICLES_H

#include "lessons/engine/claims.h"
#include "viz/cli/io.h"
#include "viz/document/document.h"

/* Reads lessons/course/claims.md and lessons/course/questions.md as they come with Tilewalk. Start with an empty
 * Claims; release it with claims_free, after an error too. */
Status check_read(Claims *claims, Error *error);

/* For people: a line an article, a line a claim, or every entry with its reason and expression. */
typedef enum { CHECK_BY_ARTICLE, CHECK_BY_CLAIM, CHECK_IN_FULL } CheckDepth;
void check_report(Document *document, const Claims *claims, const bool *chosen, CheckDepth depth, Io *io);

#endif
