#include "viz/cli/crosscheck/crosscheck_beside.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/counters/launches.h"
#include "viz/cli/counter_file.h"
#include "viz/text/number.h"

enum { NAME_BYTES = 64 };

/* The runs of one file. */
typedef struct {
  CounterTable table;
  LaunchRun *runs;
  size_t n;
} CounterFile;

/* The same kernel in both. */
typedef struct {
  const LaunchRun *of[2];
  char name[NAME_BYTES];
} Pair;

static void name_of(const LaunchRun *run, char name[NAME_BYTES]) {
  launch_short_name(run->sum.kernel, name, NAME_BYTES);
  if (run->n_parts > 1 || !*name) snprintf(name, NAME_BYTES, "%.*s", NAME_BYTES - 1, run->sum.kernel);
}

static Status read_side(const char *path, const char *kernel_name, CounterFile *side, Io *io, Error *error) {
  const Status status = counter_file_read(path, &side->table, io, error);
  return status ? status : launch_runs(&side->table, kernel_name, &side->runs, &side->n, error);
}

/* Each run of the first with the next of its name in the second; where both have one run, these, whatever they are
 * called. */
static size_t find_pairs(const CounterFile side[2], Pair *pairs) {
  size_t n = 0;
  char *taken = calloc(side[1].n + 1, 1);
  for (size_t a = 0; taken && a < side[0].n; a++) {
    char name[NAME_BYTES], other[NAME_BYTES];
    name_of(&side[0].runs[a], name);
    for (size_t b = 0; b < side[1].n; b++) {
      name_of(&side[1].runs[b], other);
      const bool alone = side[0].n == 1 && side[1].n == 1;
      if (taken[b] || (strcmp(name, other) && !alone)) continue;
      taken[b] = 1;
      pairs[n] = (Pair){.of = {&side[0].runs[a], &side[1].runs[b]}};
      if (strcmp(name, other))
        snprintf(pairs[n].name, NAME_BYTES, "%.28s, %.28s", name, other);
      else
        memcpy(pairs[n].name, name, NAME_BYTES);
      n++;
      break;
    }
  }
  free(taken);
  return n;
}

static bool both_know(const Pair *p, int counter) {
  return p->of[0]->sum.known[counter] && p->of[1]->sum.known[counter];
}

static double value_of(const Pair *p, int side, int counter) { return (double)p->of[side]->sum.value[counter]; }

/* Of two counts that rounding leaves open; 0: nothing to divide by. */
static double ratio_of(const Pair *p, int counter) {
  return value_of(p, 0, counter) > 0 ? value_of(p, 1, counter) / value_of(p, 0, counter) : 0;
}

static void put_value(Table *t, const Pair *p, int side, int counter) {
  const double value = value_of(p, side, counter);
  switch (COUNTER_NAMES[counter].dimension) {
  case NCU_UNIT_SECOND: table_seconds(t, ROLE_PLAIN, value * 1e-9); break;
  case NCU_UNIT_RATIO: table_percent(t, ROLE_PLAIN, value * 1e-6); break;
  default: table_count(t, ROLE_PLAIN, wide((int64_t)value));
  }
}

static void put_grids(Table *t, const Pair *p) {
  const CounterRow *a = &p->of[0]->sum, *b = &p->of[1]->sum;
  if (memcmp(a->grid, b->grid, sizeof a->grid) && a->grid[0] && b->grid[0])
    table_note(t, "%s: grids of (%lld, %lld, %lld) and (%lld, %lld, %lld): not the same launch.", p->name,
               (long long)a->grid[0], (long long)a->grid[1], (long long)a->grid[2], (long long)b->grid[0],
               (long long)b->grid[1], (long long)b->grid[2]);
  if (a->capability && b->capability && a->capability != b->capability)
    table_note(t, "%s: compute capability %d.%d and %d.%d.", p->name, a->capability / 10, a->capability % 10,
               b->capability / 10, b->capability % 10);
}

static void add_counters(Table *t, const Pair *p) {
  table_group(t, "%s", p->name);
  for (int c = 0; c < COUNTER_COUNT; c++) {
    if (!both_know(p, c)) continue;
    table_text(t, ROLE_PLAIN, COUNTER_NAMES[c].title);
    put_value(t, p, 0, c);
    put_value(t, p, 1, c);
    if (ratio_of(p, c) > 0)
      table_ratio(t, ROLE_ACCENT, ratio_of(p, c));
    else
      table_empty(t, true);
  }
  put_grids(t, p);
}

static void put_counters(Document *d, const Pair *p) {
  put_object(d, NULL);
  put_text(d, "kernel", p->name);
  put_array(d, "counters");
  for (int c = 0; c < COUNTER_COUNT; c++) {
    if (!both_know(p, c)) continue;
    put_object(d, NULL);
    put_text(d, "counter", COUNTER_NAMES[c].metric);
    put_text(d, "title", COUNTER_NAMES[c].title);
    put_whole(d, "first", (Wide)p->of[0]->sum.value[c]);
    put_whole(d, "second", (Wide)p->of[1]->sum.value[c]);
    put_real(d, "ratio", ratio_of(p, c));
    put_end(d);
  }
  put_end(d);
  put_end(d);
}

static void fill(Document *d, const Pair *pairs, size_t n, const char *const paths[2]) {
  static const TableColumn COLUMNS[] = {{.heading = "counter", .csv = "counter", .shrink = TABLE_WRAP},
                                        {.heading = "first", .csv = "first", .right = true},
                                        {.heading = "second", .csv = "second", .right = true},
                                        {.heading = "against it", .csv = "ratio", .right = true}};
  Table *t = document_table(d, DOCUMENT_TABLES, NULL, COLUMNS, 4);
  table_title(t, "%.60s beside %.60s", paths[0], paths[1]);
  put_text(d, "first", paths[0]);
  put_text(d, "second", paths[1]);
  put_array(d, "kernels");
  for (size_t k = 0; k < n; k++) {
    add_counters(t, &pairs[k]);
    put_counters(d, &pairs[k]);
  }
  put_end(d);
}

Status crosscheck_beside(Document *d, const char *first, const char *second, const char *kernel_name, Io *io,
                         Error *error) {
  const char *const paths[2] = {first, second};
  CounterFile side[2] = {{.n = 0}, {.n = 0}};
  Pair *pairs = NULL;
  size_t n = 0;
  Status status = read_side(first, kernel_name, &side[0], io, error);
  if (status == STATUS_OK) status = read_side(second, kernel_name, &side[1], io, error);
  if (status == STATUS_OK) {
    pairs = calloc(side[0].n + 1, sizeof *pairs);
    if (!pairs) status = error_set(error, STATUS_NO_MEMORY, "no memory for two files");
    if (pairs) n = find_pairs(side, pairs);
    if (pairs && n == 0)
      status = error_set(error, STATUS_BAD_REQUEST,
                         "no kernel of one name in both files; --kernel-name TEXT chooses one of each");
  }
  if (status == STATUS_OK) fill(d, pairs, n, paths);
  free(pairs);
  for (int k = 0; k < 2; k++) {
    free(side[k].runs);
    counter_table_free(&side[k].table);
  }
  return status;
}
