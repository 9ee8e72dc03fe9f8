/* What `tilewalk kvcache` prints, as tables, JSON and CSV. */
#ifndef TILEWALK_VIZ_CLI_KVCACHE_KVCACHE_REPORT_H
#define TILEWALK_VIZ_CLI_KVCACHE_KVCACHE_REPORT_H

#include "viz/cli/kvcache/kvcache_sizes.h"

/* Fills the document with the sizes, and the steps, the sequences or the comparison, whichever was asked for; CSV has
 * the latter alone. */
Status kvcache_report(const KvRequest *request, Document *document, Error *error);

/* The models that come with Tilewalk. */
Status kvcache_list(Document *document, Error *error);

#endif
