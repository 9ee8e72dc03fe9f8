#include "viz/cli/crosscheck_beside.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/counters/launches.h"
#include "viz/cli/counter_file.h"
#include "viz/cli/json_sink.h"
#include "viz/text/number.h"
#include "viz/text/table.h"

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

static Status print_table(const Pair *pairs, size_t n, const char *const paths[2], bool csv, Io *io, Error *error) {
  Table t = table_new((TableColumn[]){{.heading = "counter", .csv = "counter", .shrink = TABLE_WRAP},
                                      {.heading = "first", .csv = "first", .right = true},
                                      {.heading = "second", .csv = "second", .right = true},
                                      {.heading = "against it", .csv = "ratio", .right = true}},
                      4);
  table_title(&t, "%.60s beside %.60s", paths[0], paths[1]);
  for (size_t k = 0; k < n; k++) {
    table_group(&t, "%s", pairs[k].name);
    for (int c = 0; c < COUNTER_COUNT; c++) {
      if (!both_know(&pairs[k], c)) continue;
      table_text(&t, ROLE_PLAIN, COUNTER_NAMES[c].title);
      put_value(&t, &pairs[k], 0, c);
      put_value(&t, &pairs[k], 1, c);
      if (ratio_of(&pairs[k], c) > 0)
        table_ratio(&t, ROLE_ACCENT, ratio_of(&pairs[k], c));
      else
        table_empty(&t, true);
    }
    put_grids(&t, &pairs[k]);
  }
  const Status status = csv ? table_csv(&t, io->out, error) : table_print(&t, io->out, &io->style, error);
  table_free(&t);
  return status;
}

static Status print_json(const Pair *pairs, size_t n, const char *const paths[2], Io *io, Error *error) {
  JsonSink json = {0};
  const ReportSink sink = json_sink(&json), *k = &sink;
  k->open_object(k->context, NULL);
  k->whole(k->context, "tilewalk", 1);
  k->text(k->context, "first", paths[0]);
  k->text(k->context, "second", paths[1]);
  k->open_array(k->context, "kernels");
  for (size_t p = 0; p < n; p++) {
    k->open_object(k->context, NULL);
    k->text(k->context, "kernel", pairs[p].name);
    k->open_array(k->context, "counters");
    for (int c = 0; c < COUNTER_COUNT; c++) {
      if (!both_know(&pairs[p], c)) continue;
      k->open_object(k->context, NULL);
      k->text(k->context, "counter", COUNTER_NAMES[c].metric);
      k->text(k->context, "title", COUNTER_NAMES[c].title);
      k->whole(k->context, "first", (Wide)pairs[p].of[0]->sum.value[c]);
      k->whole(k->context, "second", (Wide)pairs[p].of[1]->sum.value[c]);
      k->real(k->context, "ratio", ratio_of(&pairs[p], c));
      k->close(k->context);
    }
    k->close(k->context);
    k->close(k->context);
  }
  k->close(k->context);
  k->close(k->context);
  return json_print(json_result(&json), io->out, error);
}

Status crosscheck_beside(const char *first, const char *second, const char *kernel_name, const OutputRequest *output,
                         Io *io, Error *error) {
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
  if (status == STATUS_OK)
    status =
        output->json ? print_json(pairs, n, paths, io, error) : print_table(pairs, n, paths, output->csv, io, error);
  free(pairs);
  for (int k = 0; k < 2; k++) {
    free(side[k].runs);
    counter_table_free(&side[k].table);
  }
  return status;
}
