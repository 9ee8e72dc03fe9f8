#include "tests/support/scan_predicted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/recorded_rows.h"

/* Of a granule so many parts come and go by themselves: with one, CTAs that find half of their granules would wait half
 * as often, and on a card they wait for what is missing of each. Chosen by h200/l2-scan: with 2, 4 and 8 the errors
 * of its triangular rows are 4, 2 and 4 %. Sets a few lines from each other take other lines of
 * what is far away (h200/sets). */
enum { SMS = 132, PARTS = 4 };

/* The CTAs at work, each somewhere in its list. */
typedef struct {
  const ScanList *scan;
  uint32_t next_cta;
  struct {
    bool busy;
    uint32_t cta, part, at;
  } slots[SCAN_SLOTS];
} Run;

static bool next_op(Run *run, uint32_t slot, uint32_t *op) {
  for (;;) {
    if (!run->slots[slot].busy) {
      if (run->next_cta >= run->scan->n_ctas) return false;
      run->slots[slot].busy = true;
      run->slots[slot].cta = run->next_cta++;
      run->slots[slot].part = 0;
      run->slots[slot].at = run->scan->parts[run->slots[slot].cta * SCAN_PARTS].begin;
    }
    const ScanPart *parts = &run->scan->parts[run->slots[slot].cta * SCAN_PARTS];
    if (run->slots[slot].at < parts[run->slots[slot].part].end) {
      *op = run->scan->ops[run->slots[slot].at++];
      return true;
    }
    if (++run->slots[slot].part < SCAN_PARTS)
      run->slots[slot].at = parts[run->slots[slot].part].begin;
    else
      run->slots[slot].busy = false;
  }
}

static bool step(void *context, const Clock *clock, uint32_t slot, ClockStep *next) {
  (void)clock;
  Run *run = context;
  uint32_t op;
  if (!next_op(run, slot, &op)) return false;
  const uint32_t granule = scan_op_granule(op, run->slots[slot].cta);
  if (scan_op_stores(op))
    next->writes[next->n_writes++] = granule;
  else
    next->reads[next->n_reads++] = granule;
  next->work_cycles = run->scan->work_cycles;
  return true;
}

ClockResult scan_predicted(const ScanList *scan, HierarchyConfig l2, uint64_t seed, const Placement *card) {
  static Place places[SCAN_SLOTS];
  static Run run;
  memset(&run, 0, sizeof run);
  run.scan = scan;
  const uint32_t n = scan->n_ctas < SCAN_SLOTS ? scan->n_ctas : SCAN_SLOTS;
  placement_deal(card, SMS, 0, places, n);
  l2.kinds[0] = (HierarchyKind){.n = SCAN_POOL_GRANULES, .bytes = SCAN_GRANULE_BYTES, .n_tiles = PARTS};
  const ClockConfig config = {
      .hierarchy = l2, .n_ctas = n, .ctas_per_sm = (n + SMS - 1) / SMS, .places = places, .seed = seed};
  ClockResult result;
  Error error = {0};
  if (clock_run(&config, step, &run, &result, &error)) fail_msg("%s", error.message);
  return result;
}

int scans_counted(ScanCounted *rows, const char *name) {
  static RecordedRows table;
  int n = 0;
  for (recorded_open(&table, name); recorded_next(&table); n++) {
    assert_true(n < SCAN_ROWS_MAX);
    rows[n] = (ScanCounted){.boundary = recorded_number(&table, "boundary_read_bytes"),
                            .fabric = 32 * recorded_number(&table, "fabric_sectors"),
                            .hbm_read = recorded_number(&table, "hbm_read_bytes")};
    snprintf(rows[n].name, sizeof rows[n].name, "%s", recorded_cell(&table, "name"));
  }
  return n;
}

const ScanCounted *scan_counted(const ScanCounted *rows, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (strcmp(rows[i].name, name) == 0) return &rows[i];
  fail_msg("no scan is called '%s'", name);
  return rows;
}
