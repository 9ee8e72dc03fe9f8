/* FlashAttention-3's table of errors in FP16 and FP8, computed beside printed. */
#ifndef TILEWALK_VIZ_CLI_SOFTMAX_ERRORS_H
#define TILEWALK_VIZ_CLI_SOFTMAX_ERRORS_H

#include "viz/document/document.h"

/* Adds the table over N keys and seeds 1, 2, ..: RMSE of O against fp64, and how far that is from what is printed.
 * Up to 65,536 keys. */
Status softmax_add_errors(Document *document, int64_t N, int64_t seeds, Error *error);

#endif
