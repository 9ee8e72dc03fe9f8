/* Rows of counters as they are read: launches of one kernel that are alike become one row.
 *
 *     alike    the same kernel, grid, block, shared memory and card; the same counters known; each count of traffic
 *              within a quarter of the other (a first launch with cold caches stays apart)
 *
 * A file with a million launches of ten kernels holds ten rows. */
#ifndef TILEWALK_KERNELS_COUNTERS_NCU_ROWS_H
#define TILEWALK_KERNELS_COUNTERS_NCU_ROWS_H

#include "kernels/counters/counter_names.h"

typedef struct {
  CounterRow *rows;
  size_t n_rows, capacity, merge_at; /* at merge_at rows, equal ones are put together */
  size_t open_from;                  /* rows of the report that is being read begin here */
} NcuRows;

/* Adds a row; *added lies in the array until the next call. Errors: no memory, too many that differ. */
Status ncu_rows_add(NcuRows *rows, const CounterRow *row, CounterRow **added, Error *error);

/* The row of this report with the same process and ID, or NULL. */
CounterRow *ncu_rows_open(NcuRows *rows, const CounterRow *like);

/* What comes has a header of its own: IDs begin again. */
void ncu_rows_end_report(NcuRows *rows);

/* Puts likes together, leaves out rows without a counter, and hands the rows over. */
Status ncu_rows_finish(NcuRows *rows, CounterTable *table, Error *error);
void ncu_rows_free(NcuRows *rows);

#endif
