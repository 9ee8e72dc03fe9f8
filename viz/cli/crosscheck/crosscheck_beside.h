/* Two counter files side by side: what a kernel moved before a change and after it, or here and on another card. */
#ifndef TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_BESIDE_H
#define TILEWALK_VIZ_CLI_CROSSCHECK_CROSSCHECK_BESIDE_H

#include "viz/cli/io.h"
#include "viz/document/document.h"

/* Runs of kernels with `kernel_name` in their names ("": all), in the order of their names' first match in the other
 * file; launches that belong together are added up. Errors: a file that cannot be read, no run of one name in both. */
Status crosscheck_beside(Document *document, const char *first, const char *second, const char *kernel_name, Io *io,
                         Error *error);

#endif
