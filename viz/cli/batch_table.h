/* `tilewalk sim --lengths`: sequences of unequal lengths, padded against packed. */
#ifndef TILEWALK_VIZ_CLI_BATCH_TABLE_H
#define TILEWALK_VIZ_CLI_BATCH_TABLE_H

#include "viz/cli/io.h"
#include "viz/request/request.h"

typedef enum { BATCH_TEXT = 0, BATCH_CSV, BATCH_JSON } BatchForm;

/* Both layouts under each of the request's algorithms. `lengths`: as lengths_read takes them, or a file of them where
 * it has a / or a dot. Errors: those of lengths and runs; a mask, a batch or keys that are given besides. */
Status batch_table(const Request *request, const char *lengths, BatchForm form, Io *io, Error *error);

#endif
