/* The claims and questions of the articles, for the commands that show them. */
#ifndef TILEWALK_VIZ_CLI_CHECK_ARTICLES_H
#define TILEWALK_VIZ_CLI_CHECK_ARTICLES_H

#include "lessons/engine/claims.h"
#include "viz/cli/io.h"
#include "viz/document/document.h"

/* Reads lessons/course/claims.md and lessons/course/questions.md as they come with Tilewalk. Start with an empty
 * Claims; release it with claims_free, after an error too. */
Status check_read(Claims *claims, Error *error);

/* Reads one file of that form. */
Status check_read_file(Claims *claims, const char *path, Error *error);

/* Computes every entry. Takes some 30 ms. */
Status check_compute(Claims *claims, Error *error);

/* "63 claims: 26 hold, 16 round, ..." about the chosen entries; chosen may be NULL: all. */
void check_print_counts(const Claims *claims, const bool *chosen, Io *io);

/* The report: table, reasons, questions. With `in_full` every entry by itself, with its expression.
 */
Status check_print(const Claims *claims, const bool *chosen, bool in_full, Io *io, Error *error);

/* The same for programs. */
void check_fill(Document *document, const Claims *claims, const bool *chosen);

#endif
