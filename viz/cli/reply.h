/* A command's document, opened in the form that was asked for and written there. */
#ifndef TILEWALK_VIZ_CLI_REPLY_H
#define TILEWALK_VIZ_CLI_REPLY_H

#include "viz/cli/chart_file.h"
#include "viz/document/document.h"

/* For --json, --csv, or people. */
Document reply_new(const OutputRequest *output);

/* Prints the document, unless `status` an error, and frees it. */
Status reply_print(Document *document, Status status, Io *io, Error *error);

/* Draws the chart or bars of a document made for a picture into a file, unless `status` is an error, and frees it. */
Status reply_draw(Document *document, const ChartRequest *how, const char *path, Status status, Io *io, Error *error);

#endif
