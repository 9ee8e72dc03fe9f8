/* The tables of `tilewalk sim`: runs side by side, for people and as CSV. */
#ifndef TILEWALK_VIZ_CLI_RUN_TABLES_H
#define TILEWALK_VIZ_CLI_RUN_TABLES_H

#include "viz/document/document.h"

enum { RUN_TABLES_MAX = 23 }; /* runs side by side */

/* One line about the problem: "1 head of N = 4096, d = 128, fp16, causal; paper: 192 KiB of SRAM". */
void run_tables_problem(const Simulation *run, char *text, size_t size);

/* For people a sentence, at most 12 rows, how sure they are and what to ask next: 24 lines of 80 columns; or, with
 * details, every row. In CSV a line a run, exact, with the values of JSON. */
void run_tables(Document *document, const Simulation *runs, int n_runs, bool details);

#endif
