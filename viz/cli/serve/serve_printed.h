/* Figures that papers and projects print about serving, beside what `tilewalk serve` computes for the same question.
 *
 * assets/serving/printed.tsv, a row each, apart by tabs:
 *
 *     kind        calculated: by the same arithmetic; measured: a run, which a bound must not exceed
 *     question    serve's options as a one-line state: model=llama-2-7b gpu=a100-80gb context=5
 *     figure      SECTION.KEY of serve's JSON
 *     printed     the value, in the figure's unit
 *     source      who printed it, and where */
#ifndef TILEWALK_VIZ_CLI_SERVE_SERVE_PRINTED_H
#define TILEWALK_VIZ_CLI_SERVE_SERVE_PRINTED_H

#include "viz/document/document.h"

/* Fills in the table. Errors: the file cannot be read, or a row of it, by its line. */
Status serve_printed(Document *document, Error *error);

/* Answers a question that is a one-line state. */
Status serve_of_line(const char *line, Document *document, Error *error);

#endif
