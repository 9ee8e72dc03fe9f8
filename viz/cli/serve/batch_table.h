/* `tilewalk sim --lengths`: sequences of unequal lengths, padded against packed. */
#ifndef TILEWALK_VIZ_CLI_SERVE_BATCH_TABLE_H
#define TILEWALK_VIZ_CLI_SERVE_BATCH_TABLE_H

#include "sim/time/batch.h"
#include "viz/document/document.h"
#include "viz/request/request.h"

/* What --lengths names: lengths, or a file of them where it has a / or a dot. free() it. NULL with *error. */
Lengths *batch_lengths(const char *text, Error *error);

/* Both layouts under each of the request's algorithms. `lengths`: as batch_lengths takes them. Errors: those of lengths
 * and runs; a mask, a batch or keys that are given besides. */
Status batch_table(const Request *request, const char *lengths, Document *document, Error *error);

#endif
