#include "viz/cli/kernel/kernel_print.h"

#include <inttypes.h>
#include <string.h>

#include "viz/cli/counter_file.h"

enum { SECTOR_BYTES = 32 };

/* A counter as it is here. */
typedef struct {
  Counter counter;
  bool predicted;
  uint64_t value;
} Here;

enum { HERE_MAX = 12 };

static uint64_t sectors(const PtxTotals *t, PtxRequestKind a, PtxRequestKind b) {
  return t->by_kind[a].sectors + t->by_kind[b].sectors;
}

static int counters_here(const KernelReport *r, Here here[HERE_MAX]) {
  const PtxTotals *t = &r->result.totals;
  int n = 0;
  here[n++] = (Here){COUNTER_GLOBAL_READ, false, SECTOR_BYTES * sectors(t, PTX_GLOBAL_LOAD, PTX_ASYNC_COPY)};
  here[n++] = (Here){COUNTER_CONFLICTS_LOAD, false, t->by_kind[PTX_SHARED_LOAD].conflicts};
  here[n++] = (Here){COUNTER_CONFLICTS_STORE, false, t->by_kind[PTX_SHARED_STORE].conflicts};
  if (!r->has_caches) return n;
  const KernelTraffic *m = &r->traffic;
  here[n++] = (Here){COUNTER_L2_WRITE_SECTORS, false, m->counts.writes};
  here[n++] = (Here){COUNTER_L2_RED_SECTORS, false, sectors(t, PTX_GLOBAL_ATOMIC, PTX_GLOBAL_REDUCE)};
  here[n++] = (Here){COUNTER_BOUNDARY_READ, true, SECTOR_BYTES * t->l1_sectors_from_l2};
  here[n++] = (Here){COUNTER_L2_READ_SECTORS, true, m->read_sectors};
  here[n++] = (Here){COUNTER_HBM_READ, true, kernel_hbm_read_bytes(r)};
  return n;
}

/* The row's kernel is this one: its name holds the other's. */
static bool is_of(const KernelReport *r, const CounterRow *row) {
  const char *entry = ptx_entry_name(r->launch->module, r->launch->entry);
  char plain[256];
  snprintf(plain, sizeof plain, "%s", r->launch->name);
  plain[strcspn(plain, "<")] = '\0';
  return strstr(row->kernel, entry) != NULL || strstr(row->kernel, plain) != NULL;
}

static bool same_grid(const KernelReport *r, const CounterRow *row) {
  for (int k = 0; k < 3; k++)
    if (row->grid[k] && row->grid[k] != r->launch->launch.grid[k]) return false;
  return true;
}

static void add_row(Document *d, Table *t, const CounterRow *row, const Here *h, bool *differs) {
  const double is = (double)h->value, should = (double)row->value[h->counter];
  const bool equal = h->value + row->slack[h->counter] >= row->value[h->counter] &&
                     row->value[h->counter] + row->slack[h->counter] >= h->value;
  put_cells(t, "s~suu", COUNTER_NAMES[h->counter].title, h->predicted ? "predicted" : "counted", h->value,
            (uint64_t)row->value[h->counter]);
  if (should > 0)
    table_percent(t, equal ? ROLE_GOOD : h->predicted ? ROLE_PLAIN : ROLE_BAD, is / should - 1);
  else
    table_empty(t, true);
  put_row(d, t);
  put_values(d, "metric:s equal:b", COUNTER_NAMES[h->counter].metric, equal);
  put_end(d);
  *differs |= !h->predicted && !equal;
}

Status kernel_put_beside(Document *d, const KernelReport *r, const char *path, bool *differs, Error *error) {
  CounterTable table;
  Here here[HERE_MAX];
  const int n = counters_here(r, here);
  int n_launches = 0, n_shared = 0;
  Status status = counter_file_read(path, &table, error);
  if (status) return status;
  put_values(d, "kernel:s launches[", r->launch->name);
  for (size_t k = 0; k < table.n_rows; k++) {
    const CounterRow *row = &table.rows[k];
    if (!is_of(r, row) || !same_grid(r, row)) continue;
    n_launches++;
    put_values(d, "{");
    Table *t = put_table(d, DOCUMENT_ALL, "counters", "counter~=counter| ;kind=kind|here>=here|ncu>=ncu|error>=error");
    table_title(t, "%.80s beside line %" PRId64 " of %.80s", r->launch->name, row->line, path);
    for (int h = 0; h < n; h++)
      if (row->known[here[h].counter]) add_row(d, t, row, &here[h], differs), n_shared++;
    put_end(d);
  }
  put_end(d);
  if (!n_launches)
    status = error_refuse(error, "%.200s has no launch of '%.80s' with this grid", path, r->launch->name);
  else if (!n_shared)
    status = error_refuse(error, "%.200s has none of the counters that are known here, such as %s", path,
                          COUNTER_NAMES[COUNTER_L2_READ_SECTORS].metric);
  counter_table_free(&table);
  return status;
}
