/* What `tilewalk kvcache` prints, as tables, JSON and CSV. */
#ifndef TILEWALK_VIZ_CLI_KVCACHE_REPORT_H
#define TILEWALK_VIZ_CLI_KVCACHE_REPORT_H

#include "viz/cli/io.h"
#include "viz/cli/kvcache_sizes.h"
#include "viz/request/request.h"

/* JSON with --json, CSV with --csv: of the steps, the sequences, or the comparison, whichever was
 * asked for. */
Status kvcache_report(const KvRequest *request, const OutputRequest *output, Io *io, Error *error);

/* The models that come with Tilewalk. */
Status kvcache_list(const OutputRequest *output, Io *io, Error *error);

#endif
