/* Hardware counters from a file: what Nsight Compute (ncu) measured about kernels.
 *
 *     ncu --csv --page raw --print-units base --metrics ... PROGRAM >FILE.csv
 *
 * Three layouts, told apart by their header lines; a file may hold several tables, each with its own:
 *
 *     "ID",...,"Kernel Name",...,"dram__bytes_read.sum",...     ncu's raw page: a row per launch, units below it
 *     "ID",...,"Metric Name","Metric Unit","Metric Value"       ncu's page of details: a row per launch and metric
 *     rung,dtype,batch,...,dram__bytes_read.sum,...             recorded (kernels/collect/collect_ncu.py): a row per
 *                                                               run, its shape in the first columns; `splits`, if
 *                                                               there, says in how many parts the keys were split
 *
 * Read as they come: UTF-8 or UTF-16, with or without a mark; CRLF; no final line end; ',', ';' or tabs between fields;
 * any unit (byte to Tbyte, ns to s, %); marks of other locales (ncu_number.h); what a profiled program or ncu printed
 * around the tables; names of other versions of ncu (COUNTER_ALIASES); rows that end before the columns of rules, as
 * ncu wrote them until 2022; bytes a second with a time (COUNTER_RATES). An empty cell, or n/a, is a counter that is
 * not there. What a cell was rounded to is kept: `slack`.
 *
 * Launches of one kernel with one grid whose counters are close are one row: their mean, and how many they were.
 *
 * Files come from anywhere. Memory is bounded by NCU_MAX_ROWS different launches and one line; a row or a cell that
 * cannot be read is an error that names the line. */
#ifndef TILEWALK_KERNELS_COUNTERS_NCU_H
#define TILEWALK_KERNELS_COUNTERS_NCU_H

#include "kernels/counters/counter_names.h"

/* Reads text[0..length). *table is for counter_table_free, and empty on error. */
Status counter_table_from_buffer(CounterTable *table, const char *text, size_t length, Error *error);

/* The same from a file, which is read twice. */
Status counter_table_read(CounterTable *table, FILE *file, Error *error);
void counter_table_free(CounterTable *table);

#endif
