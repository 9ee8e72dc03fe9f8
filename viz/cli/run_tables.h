/* The tables of `tilewalk sim`: runs side by side, for people and as CSV. */
#ifndef TILEWALK_VIZ_CLI_RUN_TABLES_H
#define TILEWALK_VIZ_CLI_RUN_TABLES_H

#include "sim/simulate.h"
#include "viz/cli/io.h"

/* One line about the problem: "1 head of N = 4096, d = 128, fp16, causal; paper: 192 KiB of SRAM". */
void run_tables_problem(const Simulation *run, char *text, size_t size);

/* One column per run: traffic per tensor, tiles, SRAM, storage, arithmetic; below, what does not fit and what would. */
Status run_tables_print(const Simulation *runs, int n_runs, Io *io, Error *error);

/* One line per run, exact values; columns are the JSON keys. */
Status run_tables_csv(const Simulation *runs, int n_runs, FILE *out, Error *error);

#endif
