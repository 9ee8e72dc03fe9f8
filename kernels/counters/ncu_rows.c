#include "kernels/counters/ncu_rows.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/grow.h"

enum { MERGE_FIRST = 2048, CHAIN_MAX = 16, BACK_MAX = 4096 };

static uint64_t mix(uint64_t hash, const void *bytes, size_t n) {
  for (const unsigned char *b = bytes; n--; b++) hash = (hash ^ *b) * 0x100000001b3u;
  return hash;
}

static uint64_t hash_of(const CounterRow *r) {
  uint64_t hash = mix(0xcbf29ce484222325u, r->kernel, strlen(r->kernel));
  hash = mix(hash, r->grid, sizeof r->grid);
  return mix(hash, r->block, sizeof r->block);
}

/* Within a quarter, or little: HBM is read a little for other things too. */
static bool is_near(uint64_t a, uint64_t b, uint64_t little) {
  const uint64_t high = a > b ? a : b, low = a > b ? b : a;
  return high - low <= little || high - low <= high / 4;
}

static bool are_alike(const CounterRow *a, const CounterRow *b) {
  static const struct {
    Counter counter;
    uint64_t little;
  } NEAR[] = {{COUNTER_BOUNDARY_READ, 65536},  {COUNTER_BOUNDARY_WRITE, 65536},
              {COUNTER_L2_READ_SECTORS, 2048}, {COUNTER_L2_WRITE_SECTORS, 2048},
              {COUNTER_HBM_READ, 1 << 20},     {COUNTER_HBM_TOTAL, 2 << 20},
              {COUNTER_LOCAL_READ, 65536},     {COUNTER_LOCAL_WRITE, 65536},
              {COUNTER_GLOBAL_READ, 65536},    {COUNTER_HMMA, 0}};
  if (a->has_shape || b->has_shape || a->capability != b->capability || strcmp(a->kernel, b->kernel) ||
      memcmp(a->grid, b->grid, sizeof a->grid) || memcmp(a->block, b->block, sizeof a->block) ||
      a->dynamic_shared_bytes != b->dynamic_shared_bytes || strcmp(a->device, b->device) ||
      memcmp(a->known, b->known, sizeof a->known))
    return false;
  for (size_t i = 0; i < COUNT_OF(NEAR); i++)
    if (!is_near(a->value[NEAR[i].counter], b->value[NEAR[i].counter], NEAR[i].little)) return false;
  return true;
}

static void begin(CounterRow *r) {
  if (r->n_launches) return;
  r->n_launches = 1;
  memcpy(r->least, r->value, sizeof r->least);
  memcpy(r->most, r->value, sizeof r->most);
}

/* The mean of both; exact where all are equal. */
static void join(CounterRow *into, CounterRow *from) {
  begin(into);
  begin(from);
  const int64_t n = into->n_launches + from->n_launches;
  for (int c = 0; c < COUNTER_COUNT; c++) {
    const uint64_t a = into->value[c], b = from->value[c];
    const double share = (double)from->n_launches / (double)n;
    into->value[c] =
        b >= a ? a + (uint64_t)((double)(b - a) * share + 0.5) : a - (uint64_t)((double)(a - b) * share + 0.5);
    if (from->slack[c] > into->slack[c]) into->slack[c] = from->slack[c];
    if (from->least[c] < into->least[c]) into->least[c] = from->least[c];
    if (from->most[c] > into->most[c]) into->most[c] = from->most[c];
  }
  into->n_launches = n;
}

/* Puts likes together, in the order in which the first of each came. */
static Status merge(NcuRows *rows, Error *error) {
  size_t n_slots = 1;
  while (n_slots < 2 * rows->n_rows + 2) n_slots *= 2;
  uint32_t *first = calloc(n_slots, sizeof *first), *next = calloc(rows->n_rows + 1, sizeof *next);
  if (!first || !next) {
    free(first);
    free(next);
    return error_no_memory(error, "to put launches together");
  }
  size_t kept = 0;
  for (size_t i = 0; i < rows->n_rows; i++) {
    CounterRow *row = &rows->rows[i];
    const size_t slot = (size_t)hash_of(row) & (n_slots - 1);
    CounterRow *like = NULL;
    int steps = 0;
    for (uint32_t at = first[slot]; at && steps < CHAIN_MAX && !like; at = next[at - 1], steps++)
      if (are_alike(&rows->rows[at - 1], row)) like = &rows->rows[at - 1];
    if (like) {
      join(like, row);
      continue;
    }
    begin(row);
    if (kept != i) rows->rows[kept] = *row;
    next[kept] = first[slot];
    first[slot] = (uint32_t)++kept;
  }
  rows->n_rows = kept;
  free(first);
  free(next);
  return STATUS_OK;
}

Status ncu_rows_add(NcuRows *rows, const CounterRow *row, CounterRow **added, Error *error) {
  Status status = STATUS_OK;
  if (!rows->merge_at) rows->merge_at = MERGE_FIRST;
  if (rows->n_rows >= rows->merge_at) {
    status = merge(rows, error);
    rows->open_from = rows->n_rows;
    rows->merge_at = 2 * rows->n_rows > MERGE_FIRST ? 2 * rows->n_rows : MERGE_FIRST;
    if (rows->merge_at > NCU_MAX_ROWS) rows->merge_at = NCU_MAX_ROWS;
  }
  if (!status && rows->n_rows >= NCU_MAX_ROWS)
    status =
        error_set(error, STATUS_TOO_LARGE,
                  "line %lld: more than %d launches that differ; profile fewer kernels at a time (ncu --launch-count)",
                  (long long)row->line, NCU_MAX_ROWS);
  if (!status && !grow_array((void **)&rows->rows, &rows->capacity, rows->n_rows + 1, sizeof *rows->rows))
    status = error_no_memory(error, "for %zu rows of counters", rows->n_rows + 1);
  if (status) return status;
  *added = &rows->rows[rows->n_rows++];
  **added = *row;
  return STATUS_OK;
}

CounterRow *ncu_rows_open(NcuRows *rows, const CounterRow *like) {
  /* The metrics of a launch follow one another, unless a person sorted them. */
  for (size_t back = 0; back < BACK_MAX && rows->n_rows - back > rows->open_from; back++) {
    CounterRow *row = &rows->rows[rows->n_rows - 1 - back];
    if (row->id == like->id && row->process == like->process && !strcmp(row->kernel, like->kernel)) return row;
  }
  return NULL;
}

void ncu_rows_end_report(NcuRows *rows) { rows->open_from = rows->n_rows; }

static bool has_counter(const CounterRow *row) {
  for (int c = 0; c < COUNTER_COUNT; c++)
    if (row->known[c]) return true;
  return false;
}

/* Bytes are a throughput times the time, where they were not counted. */
static bool derive(CounterRow *row) {
  bool any = false;
  const double ns = (double)row->value[COUNTER_TIME];
  for (int c = 0; c < COUNTER_COUNT && row->known[COUNTER_TIME]; c++) {
    const double rate = (double)row->rate[c], value = rate * ns * 1e-9;
    if (rate <= 0 || row->known[c] || value > 1e18) continue;
    const double off = (double)row->rate_slack[c] * ns * 1e-9 + rate * ((double)row->slack[COUNTER_TIME] + 0.5) * 1e-9;
    row->known[c] = any = true;
    row->value[c] = (uint64_t)(value + 0.5);
    row->slack[c] = (uint64_t)(off + 1);
  }
  return any;
}

Status ncu_rows_finish(NcuRows *rows, CounterTable *table, Error *error) {
  size_t n = 0;
  bool derived = false;
  for (size_t i = 0; i < rows->n_rows; i++) derived |= derive(&rows->rows[i]);
  if (derived && table->n_notes < NCU_MAX_NOTES)
    snprintf(table->notes[table->n_notes++], sizeof table->notes[0],
             "bytes that were not counted are throughput x duration, as exact as these are printed.");
  for (size_t i = 0; i < rows->n_rows; i++)
    if (rows->rows[i].has_shape || has_counter(&rows->rows[i])) rows->rows[n++] = rows->rows[i];
  rows->n_rows = n;
  const Status status = n ? merge(rows, error) : STATUS_OK;
  if (status) return status;
  table->rows = rows->rows;
  table->n_rows = rows->n_rows;
  *rows = (NcuRows){0};
  if (!table->n_rows) {
    free(table->rows);
    table->rows = NULL;
  }
  return STATUS_OK;
}

void ncu_rows_free(NcuRows *rows) {
  free(rows->rows);
  *rows = (NcuRows){0};
}
