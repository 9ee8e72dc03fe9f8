/* What the files of run_tables share. */
#ifndef TILEWALK_VIZ_CLI_RUN_TABLES_PARTS_H
#define TILEWALK_VIZ_CLI_RUN_TABLES_PARTS_H

#include "viz/cli/run_tables.h"

/* The machine of all runs, or "each GPU". */
const char *run_tables_machine(const Simulation *runs, int n_runs);

/* The rows of time, and below the table how far a time can be trusted. */
void run_tables_time(Table *table, const Simulation *runs, int n_runs);
void run_tables_time_notes(Table *table, const Simulation *runs, int n_runs);

/* In CSV a line a run. */
void run_tables_lines(Document *document, const Simulation *runs, int n_runs);

#endif
