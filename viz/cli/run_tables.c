#include "viz/cli/run_tables_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/algorithms/shipped.h"
#include "viz/text/mask_text.h"
#include "viz/text/number.h"

/* The machine of all runs, or "each GPU". */
const char *run_tables_machine(const Simulation *runs, int n) {
  for (int k = 1; k < n; k++)
    if (strcmp(runs[k].machine.name, runs[0].machine.name) != 0) return "each GPU";
  return runs[0].machine.name;
}

static bool one_machine(const Simulation *runs, int n) { return run_tables_machine(runs, n) == runs[0].machine.name; }

void run_tables_problem(const Simulation *run, char *text, size_t size) {
  const Shape as_asked = shape_unpacked(&run->plan.shape), *s = &as_asked;
  char heads[256], keys[128] = "", mask[MASK_TEXT_BYTES], values[64] = "", cache[32] = "";
  const Wide n_heads = wide(s->batch) * wide(s->heads);
  if (s->kv_heads != s->heads)
    snprintf(heads, sizeof heads, "%s heads (%s KV heads a batch)", number_count(n_heads).text,
             number_count(wide(s->kv_heads)).text);
  else
    snprintf(heads, sizeof heads, n_heads == 1 ? "1 head" : "%s heads", number_count(n_heads).text);
  if (s->N_k != s->N_q) snprintf(keys, sizeof keys, ", %s keys", number_count(wide(s->N_k)).text);
  if (s->d_v != s->d || s->v_in_k)
    snprintf(values, sizeof values, ", d_v = %" PRId64 "%s", s->d_v, s->v_in_k ? " inside K" : "");
  if (s->has_kv_dtype) snprintf(cache, sizeof cache, " (K and V %s)", dtype_name(s->kv_dtype));
  mask_text(s, mask, sizeof mask);
  snprintf(text, size, "%s of N = %s%s, d = %" PRId64 "%s, %s%s%s%s, on %s with %s of SRAM", heads,
           number_count(wide(s->N_q)).text, keys, s->d, values, dtype_name(s->dtype), cache, *mask ? ", " : "", mask,
           run->machine.name, number_bytes(wide(run->machine.sram_bytes)).text);
}

/* A row of bytes, one value per run; left out when all are zero. */
static void values_row(Table *t, const char *label, TextRole role, const Wide *bytes, int n) {
  bool any = false;
  for (int k = 0; k < n; k++) any = any || bytes[k] != 0;
  if (!any) return;
  table_text(t, role, label);
  for (int k = 0; k < n; k++) {
    if (bytes[k])
      table_bytes(t, role, bytes[k]);
    else
      table_empty(t, true);
  }
}

static void bytes_row(Table *t, const char *label, TextRole role, const Simulation *runs, int n,
                      Wide (*value)(const Simulation *, int), int which) {
  Wide bytes[TABLE_COLUMNS_MAX] = {0};
  for (int k = 0; k < n; k++) bytes[k] = value(&runs[k], which);
  values_row(t, label, role, bytes, n);
}

/* Names of tensors in all runs, or of values on chip too, in the order of the first program that has them. */
typedef struct {
  int n;
  const char *names[VALUES_MAX * TABLE_COLUMNS_MAX];
} TensorNames;

static int tensor_named(const Schedule *s, const char *name) {
  for (int t = 0; t < s->n_values; t++)
    if (strcmp(s->tensors[t].text, name) == 0) return t;
  return -1;
}

static TensorNames value_names(const Simulation *runs, int n, bool on_chip) {
  TensorNames all;
  all.n = 0;
  for (int k = 0; k < n; k++)
    for (int t = 0; t < (on_chip ? runs[k].schedule->n_values : runs[k].schedule->n_tensors); t++) {
      const char *name = runs[k].schedule->tensors[t].text;
      bool known = false;
      for (int before = 0; before < all.n; before++) known |= strcmp(all.names[before], name) == 0;
      if (!known) all.names[all.n++] = name;
    }
  return all;
}

static Wide total_of(const Simulation *run, int which) {
  const Wide totals[] = {run->read_bytes, run->write_bytes, run->total_bytes, run->sram.bytes, run->traffic.added};
  return totals[which];
}

static Wide storage_of(const Simulation *run, int which) {
  return which == 0 ? run->inputs_bytes : which == 1 ? run->outputs_bytes : run->intermediates_bytes;
}

/* What each run reads or writes of a tensor. */
static void tensor_row(Table *t, const char *verb, const char *name, const Simulation *runs, int n, bool written) {
  char label[32];
  Wide bytes[TABLE_COLUMNS_MAX] = {0};
  snprintf(label, sizeof label, "  %s %s", verb, name);
  for (int k = 0; k < n; k++) {
    const int tensor = tensor_named(runs[k].schedule, name);
    bytes[k] = tensor < 0 || tensor >= runs[k].schedule->n_tensors ? 0
               : written                                           ? runs[k].traffic.write[tensor]
                                                                   : runs[k].traffic.read[tensor];
  }
  values_row(t, label, ROLE_PLAIN, bytes, n);
}

static void traffic_rows(Table *t, const Simulation *runs, int n) {
  const TensorNames all = value_names(runs, n, false);
  bool any_l2 = false;
  for (int k = 0; k < n; k++) any_l2 = any_l2 || runs[k].has_l2;
  table_group(t, "Traffic across the SRAM boundary%s", any_l2 ? ": the papers' HBM accesses" : "");
  for (int tensor = 0; tensor < all.n; tensor++) tensor_row(t, "read", all.names[tensor], runs, n, false);
  for (int tensor = 0; tensor < all.n; tensor++) tensor_row(t, "write", all.names[tensor], runs, n, true);
  bytes_row(t, "  all reads", ROLE_PLAIN, runs, n, total_of, 0);
  bytes_row(t, "  all writes", ROLE_PLAIN, runs, n, total_of, 1);
  bytes_row(t, "    of it, added", ROLE_PLAIN, runs, n, total_of, 4);
  bytes_row(t, "  total", ROLE_ACCENT, runs, n, total_of, 2);
  if (n > 1) {
    table_format(t, ROLE_PLAIN, "  less than %s", one_machine(runs, n) ? runs[0].schedule->name : "the first");
    for (int k = 0; k < n; k++)
      if (programs_are_alike(runs[0].schedule, runs[k].schedule))
        table_ratio(t, ROLE_PLAIN, (double)runs[0].total_bytes / (double)runs[k].total_bytes);
      else
        table_empty(t, true); /* another task */
  }
}

static void count_row(Table *t, const char *label, const Simulation *runs, int n,
                      Wide (*value)(const Simulation *, int), int which) {
  table_text(t, ROLE_PLAIN, label);
  for (int k = 0; k < n; k++) table_count(t, ROLE_PLAIN, value(&runs[k], which));
}

static Wide tiles_of(const Simulation *run, int kind) { return run->traffic.tiles[kind]; }

static void load_rows(Table *t, const Simulation *runs, int n) {
  const TensorNames all = value_names(runs, n, false);
  for (int name = 0; name < all.n; name++) {
    bool is_input = false;
    int tensors[TABLE_COLUMNS_MAX] = {0};
    for (int k = 0; k < n; k++) {
      tensors[k] = tensor_named(runs[k].schedule, all.names[name]);
      is_input |= tensors[k] >= 0 && runs[k].schedule->tensors[tensors[k]].role == TENSOR_INPUT;
    }
    if (!is_input) continue;
    table_format(t, ROLE_PLAIN, "  loads of a %s block", all.names[name]);
    for (int k = 0; k < n; k++)
      if (tensors[k] >= 0)
        table_count(t, ROLE_PLAIN, wide(runs[k].loads.of[tensors[k]]));
      else
        table_empty(t, true);
  }
}

static void tile_rows(Table *t, const Simulation *runs, int n) {
  bool packed = false;
  int n_together = 0;
  for (int k = 0; k < n; k++) {
    packed = packed || runs[k].plan.shape.group > 1;
    n_together += runs[k].plan.shape.group > 1 || (runs[k].schedule->over_heads && schedule_group(&runs[k].plan) > 1);
  }
  table_group(t, n_together == 0   ? "Tiles of one head"
                 : n_together == n ? "Tiles of one KV head, all its heads"
                                   : "Tiles of one KV head, where its heads share CTAs, or of one head");
  table_text(t, ROLE_PLAIN, "  B_r x B_c");
  for (int k = 0; k < n; k++)
    table_format(t, ROLE_PLAIN, "%" PRId64 " x %" PRId64, runs[k].plan.tiling.B_r, runs[k].plan.tiling.B_c);
  count_row(t, "  full", runs, n, tiles_of, TILE_FULL);
  count_row(t, "  partly masked", runs, n, tiles_of, TILE_PARTIAL);
  count_row(t, "  skipped", runs, n, tiles_of, TILE_SKIPPED);
  load_rows(t, runs, n);
  bool any_splits = false;
  if (packed) {
    table_text(t, ROLE_PLAIN, "  heads packed as rows of Q");
    for (int k = 0; k < n; k++)
      if (runs[k].plan.shape.group > 1)
        table_count(t, ROLE_PLAIN, wide(runs[k].plan.shape.group));
      else
        table_empty(t, true);
  }
  for (int k = 0; k < n; k++) any_splits = any_splits || runs[k].schedule->splits;
  if (!any_splits) return;
  table_text(t, ROLE_PLAIN, "  splits of the keys");
  for (int k = 0; k < n; k++) table_count(t, ROLE_PLAIN, wide(runs[k].plan.tiling.n_splits));
}

static const char *const HELD_TEXT[HELD_COUNT] = {
    [HELD_NOWHERE] = "no",
    [HELD_SRAM] = "yes",
    [HELD_REGISTERS] = "S, O in registers",
    [HELD_TENSOR] = "S, O in tensor mem.",
    [HELD_KERNEL] = "as the kernel runs",
};

/* "  Q tile", or of columns their names: "  m and l". */
static void place_row(Table *t, const char *name, const Simulation *runs, int n) {
  char label[32] = "";
  Wide bytes[TABLE_COLUMNS_MAX] = {0};
  for (int k = 0; k < n; k++) {
    const int tensor = tensor_named(runs[k].schedule, name);
    if (tensor < 0) continue;
    const ProgramTensor *of = &runs[k].schedule->tensors[tensor];
    const char *last = strrchr(of->title, ',');
    bytes[k] = runs[k].sram.of[tensor];
    if (*label) continue;
    if (last)
      snprintf(label, sizeof label, "  %.*s and%s", (int)(last - of->title), of->title, last + 1);
    else
      snprintf(label, sizeof label, of->cols == SIDE_ONE ? "  %s" : "  %s tile", of->title);
  }
  values_row(t, label, ROLE_PLAIN, bytes, n);
}

static void sram_rows(Table *t, const Simulation *runs, int n) {
  const TensorNames all = value_names(runs, n, true);
  table_group(t, "SRAM for one CTA's tiles");
  for (int name = 0; name < all.n; name++) place_row(t, all.names[name], runs, n);
  bytes_row(t, "  together", ROLE_ACCENT, runs, n, total_of, 3);
  table_text(t, ROLE_PLAIN, "  fits");
  for (int k = 0; k < n; k++) table_text(t, runs[k].fits ? ROLE_GOOD : ROLE_BAD, HELD_TEXT[runs[k].held]);
  table_text(t, ROLE_PLAIN, "  largest B to fit");
  for (int k = 0; k < n; k++) {
    if (runs[k].max_block)
      table_count(t, ROLE_PLAIN, wide(runs[k].max_block));
    else
      table_text(t, ROLE_BAD, "none");
  }
}

static void storage_and_arithmetic_rows(Table *t, const Simulation *runs, int n) {
  table_group(t, "Storage in HBM");
  bytes_row(t, "  inputs Q, K, V", ROLE_PLAIN, runs, n, storage_of, 0);
  bytes_row(t, "  output O", ROLE_PLAIN, runs, n, storage_of, 1);
  bytes_row(t, "  intermediates", ROLE_PLAIN, runs, n, storage_of, 2);
  table_group(t, "Arithmetic");
  table_text(t, ROLE_PLAIN, "  matrix products");
  for (int k = 0; k < n; k++) table_flops(t, ROLE_PLAIN, runs[k].traffic.flops);
  table_text(t, ROLE_PLAIN, "  FLOPs per byte");
  for (int k = 0; k < n; k++) table_double(t, ROLE_PLAIN, runs[k].intensity_flops_per_byte, 4);
}

static Wide l2_of(const Simulation *run, int which) {
  if (!run->has_l2) return 0;
  const Overheads *e = &run->overheads;
  const double values[] = {run->l2.read_bytes,
                           run->l2.write_bytes,
                           run->l2.fabric_bytes,
                           run->l2.hbm_read_bytes,
                           simulation_hbm_write_bytes(run),
                           fmax(0, run->l2.read_bytes - (double)run->read_bytes),
                           fmax(0, (double)run->read_bytes - run->l2.read_bytes),
                           e->write_bytes - e->atomic_bytes,
                           e->atomic_bytes,
                           (double)run->read_bytes};
  return (Wide)(values[which] + 0.5);
}

/* Rows of text about the launch, "-" where there is none. */
static void launch_rows(Table *t, const Simulation *runs, int n) {
  static const char *const LABELS[] = {"  CTAs", "  resident per SM", "  limited by", "  waves", "  last wave filled"};
  for (int row = 0; row < 5; row++) {
    table_text(t, ROLE_PLAIN, LABELS[row]);
    for (int k = 0; k < n; k++) {
      const Launch *l = &runs[k].launch;
      if (!runs[k].has_launch)
        table_empty(t, true);
      else if (row == 0)
        table_count(t, ROLE_PLAIN, wide(l->n_ctas));
      else if (row == 1)
        table_count(t, ROLE_PLAIN, wide(l->occupancy.ctas_per_sm));
      else if (row == 2)
        table_text(t, ROLE_PLAIN, occupancy_limit_name(l->occupancy.binds));
      else if (row == 3)
        table_count(t, ROLE_PLAIN, wide(l->n_waves));
      else
        table_percent(t, ROLE_PLAIN, l->tail_fill);
    }
  }
}

static double largest_of(const Simulation *runs, int n, int which) {
  double largest = 0;
  for (int k = 0; k < n; k++) largest = fmax(largest, (double)l2_of(&runs[k], which));
  return largest;
}

/* What is read and written, and of what it is the sum: only where the boundary's rows above are not all of it. */
static void read_and_written_rows(Table *t, const Simulation *runs, int n) {
  bytes_row(t, "  read from L2", ROLE_PLAIN, runs, n, l2_of, 0);
  if (largest_of(runs, n, 5) > 0 || largest_of(runs, n, 6) > 0)
    bytes_row(t, "    all reads, as above", ROLE_PLAIN, runs, n, l2_of, 9);
  if (largest_of(runs, n, 5) > 0) bytes_row(t, "    and re-reads", ROLE_PLAIN, runs, n, l2_of, 5);
  const Shape *s = &runs[0].plan.shape;
  const bool masked = s->causal || s->window || s->sided || s->pattern;
  const char *less = masked ? "    less masked columns" : "    less shared in clusters";
  for (int k = 0; k < n * PROGRAM_KERNELS_MAX; k++) /* of a cluster one CTA asks for all */
    if (masked && runs[k / PROGRAM_KERNELS_MAX].schedule->launches[k % PROGRAM_KERNELS_MAX].shared)
      less = "    less masked, shared";
  if (largest_of(runs, n, 6) > 0) bytes_row(t, less, ROLE_PLAIN, runs, n, l2_of, 6);
  bytes_row(t, "  written to L2", ROLE_PLAIN, runs, n, l2_of, 1);
  if (largest_of(runs, n, 7) > 0) bytes_row(t, "    of it, spills", ROLE_PLAIN, runs, n, l2_of, 7);
  if (largest_of(runs, n, 8) > 0) bytes_row(t, "    of it, work pulled", ROLE_PLAIN, runs, n, l2_of, 8);
}

static void chiplet_row(Table *t, const char *label, const Simulation *runs, int n, int which) {
  table_text(t, ROLE_PLAIN, label);
  for (int k = 0; k < n; k++) {
    const Chiplets *c = &runs[k].chiplets;
    if (!runs[k].has_chiplets)
      table_empty(t, true);
    else if (which == 2)
      table_percent(t, ROLE_ACCENT, chiplets_hit_rate(c));
    else
      table_bytes(t, ROLE_PLAIN, (Wide)((which ? c->missed_bytes : c->read_bytes) + 0.5));
  }
}

/* L2s that share nothing: the order of CTAs decides what they hit. */
static void chiplet_rows(Table *t, const Simulation *runs, int n) {
  bool any = false;
  for (int k = 0; k < n; k++) any = any || runs[k].has_chiplets;
  if (!any) return;
  table_group(t, "L2s of %s, one for each chiplet", run_tables_machine(runs, n));
  chiplet_row(t, "  read from L2", runs, n, 0);
  chiplet_row(t, "  hit rate", runs, n, 2);
  chiplet_row(t, "  missed", runs, n, 1);
  table_note(t,
             "Each chiplet's L2 serves its own CTAs alone, here in step: --order decides what they share. What misses "
             "goes to the memory-side cache, which is not modelled, and to HBM.");
}

static void l2_rows(Table *t, const Simulation *runs, int n) {
  bool any = false, all_walked = true;
  bool launched = false;
  for (int k = 0; k < n; k++) {
    any = any || runs[k].has_l2;
    launched = launched || runs[k].has_launch;
    all_walked = all_walked && (!runs[k].has_l2 || runs[k].l2.simulated >= 1);
  }
  if (launched) {
    table_group(t, "Launch on %s", run_tables_machine(runs, n));
    launch_rows(t, runs, n);
  }
  chiplet_rows(t, runs, n);
  for (int k = 0; k < n; k++) {
    const Simulation *r = &runs[k];
    if (!r->has_launch || r->has_l2 || r->has_chiplets || !r->machine.l2_bytes) continue;
    if (k > 0 && strcmp(r->machine.name, runs[k - 1].machine.name) == 0) continue;
    table_note(
        t,
        "The L2 of %s is not modelled here (more than two L2s, a cache behind them, or too large a problem): what "
        "HBM moves is at most what crosses the SRAM boundary, and far less where L2 keeps it.",
        r->machine.name);
  }
  if (!any) return;
  table_group(t, "L2 of %s, all CTAs at once: what HBM itself delivers", run_tables_machine(runs, n));
  read_and_written_rows(t, runs, n);
  for (int which = 0; which < 2; which++) {
    table_text(t, ROLE_PLAIN, which ? "  hit rate (ncu)" : "  served by L2");
    for (int k = 0; k < n; k++) {
      if (runs[k].has_l2)
        table_percent(t, ROLE_PLAIN, which ? l2_run_hit_rate(&runs[k].l2) : simulation_l2_share(&runs[k]));
      else
        table_empty(t, true);
    }
  }
  bytes_row(t, "  over the fabric", ROLE_PLAIN, runs, n, l2_of, 2);
  bytes_row(t, "  read from HBM", ROLE_ACCENT, runs, n, l2_of, 3);
  bytes_row(t, "  written to HBM", ROLE_ACCENT, runs, n, l2_of, 4);
  if (!all_walked) table_note(t, "Only some heads were walked through L2; the others are taken to go on like them.");
}

static Wide links_of(const Simulation *run, int which) {
  const RankLinks *l = &run->links;
  return which == 0 ? l->sent_bytes : which == 1 ? l->rank_bytes : l->boundary_bytes;
}

/* The second boundary: between the GPUs that run a program with `ranks`. */
static void link_rows(Table *t, const Simulation *runs, int n) {
  const TensorNames all = value_names(runs, n, false);
  bool any = false;
  for (int k = 0; k < n; k++) any = any || runs[k].links.n;
  for (int k = 0; k < n; k++)
    if (*runs[k].links.why) table_note(t, "Links are not counted: %s.", runs[k].links.why);
  if (!any) return;
  table_group(t, "Links between GPUs, each with its part");
  for (int row = 0; row < 2; row++) {
    table_text(t, ROLE_PLAIN, row ? "  over" : "  ranks");
    for (int k = 0; k < n; k++)
      if (!runs[k].links.n)
        table_empty(t, true);
      else if (row)
        table_text(t, ROLE_PLAIN, runs[k].links.link);
      else
        table_count(t, ROLE_PLAIN, wide(runs[k].links.n));
  }
  for (int name = 0; name < all.n; name++) {
    char label[32];
    Wide bytes[TABLE_COLUMNS_MAX] = {0};
    snprintf(label, sizeof label, "  send %s", all.names[name]);
    for (int k = 0; k < n; k++) {
      const int tensor = tensor_named(runs[k].schedule, all.names[name]);
      if (tensor >= 0 && tensor < runs[k].schedule->n_tensors) bytes[k] = runs[k].links.sent[tensor];
    }
    values_row(t, label, ROLE_PLAIN, bytes, n);
  }
  bytes_row(t, "  all ranks", ROLE_ACCENT, runs, n, links_of, 0);
  bytes_row(t, "  a rank", ROLE_PLAIN, runs, n, links_of, 1);
  table_text(t, ROLE_PLAIN, "  a link, at least");
  for (int k = 0; k < n; k++)
    if (runs[k].links.n)
      table_seconds(t, ROLE_PLAIN, runs[k].links.bound_s);
    else
      table_empty(t, true);
  bytes_row(t, "  SRAM boundary, all ranks", ROLE_PLAIN, runs, n, links_of, 2);
  table_note(t, "Links: bytes are counted; the time is a bound (data sheet). All other rows are of one GPU.");
}

/* What a program loads `once` is counted so above; what its CTAs ask for is counted at L2. */
static void again_note(Table *t, const Simulation *runs, int n) {
  if (largest_of(runs, n, 5) > 0)
    table_note(t,
               "Across the SRAM boundary what a program loads 'once' counts once a kernel, on any machine: the least "
               "that its products can move. CTAs ask for those blocks again: the re-reads. HBM's reads are a part of "
               "what is read from L2.");
}

/* Spills belong to a build. */
static void spill_note(Table *t, const Simulation *runs, int n) {
  if (largest_of(runs, n, 7) > 0)
    table_note(t,
               "Spilled registers are of the build that the kernel's description measures, for compute capability 9.0; "
               "another build spills otherwise.");
}

static void fit_notes(Table *t, const Simulation *runs, int n) {
  for (int k = 0; k < n; k++) {
    const Simulation *r = &runs[k];
    if (r->fits) continue;
    const Wide capacity = wide(r->machine.sram_bytes);
    char what[64];
    if (r->max_block)
      snprintf(what, sizeof what, "blocks up to %" PRId64 " fit", r->max_block);
    else
      snprintf(what, sizeof what, "at this d not even one row a block fits");
    table_note(t, "%s does not fit: its tiles need %s, %s more than the %s of SRAM; %s.", r->schedule->name,
               number_bytes(r->sram.bytes).text, number_bytes(r->sram.bytes - capacity).text,
               number_bytes(capacity).text, what);
  }
}

/* What the machine's memory does not hold, and queries that the mask leaves nothing. */
static void storage_notes(Table *t, const Simulation *runs, int n) {
  const int64_t blind = simulation_blind_queries(&runs[0]);
  for (int k = 0; k < n; k++) {
    const Wide stored = simulation_storage_bytes(&runs[k]), capacity = wide(runs[k].machine.hbm_bytes);
    if (capacity && stored > capacity)
      table_note(
          t,
          "%s does not run on %s: it keeps %s in HBM, which has %s; fewer heads at once, or an algorithm that keeps "
          "no S and P, would.",
          runs[k].schedule->name, runs[k].machine.name, number_bytes(stored).text, number_bytes(capacity).text);
  }
  if (blind > 0)
    table_note(t, "%s of %s queries see no key: their rows of O are whatever the kernel leaves there, 0 or NaN.",
               number_count(wide(blind)).text, number_count(wide(shape_unpacked(&runs[0].plan.shape).N_q)).text);
}

static void add_comparison(Document *d, const Simulation *runs, int n) {
  char problem[512], headings[RUN_TABLES_MAX][128];
  const bool one = one_machine(runs, n);
  TableColumn columns[RUN_TABLES_MAX + 1] = {{.heading = "", .shrink = TABLE_WRAP}};
  for (int k = 0; k < n; k++) {
    snprintf(headings[k], sizeof headings[k], "%s%s%s", runs[k].schedule->name, one ? "" : " on ",
             one ? "" : runs[k].machine.name);
    columns[k + 1] = (TableColumn){.heading = headings[k], .right = true, .shrink = TABLE_WRAP};
  }
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, columns, n + 1);
  run_tables_problem(&runs[0], problem, sizeof problem);
  char *machine = strstr(problem, ", on ");
  if (machine && !one) *machine = '\0';
  table_title(t, "%s", problem);
  traffic_rows(t, runs, n);
  tile_rows(t, runs, n);
  sram_rows(t, runs, n);
  storage_and_arithmetic_rows(t, runs, n);
  l2_rows(t, runs, n);
  run_tables_time(t, runs, n);
  link_rows(t, runs, n);
  again_note(t, runs, n);
  spill_note(t, runs, n);
  fit_notes(t, runs, n);
  storage_notes(t, runs, n);
  run_tables_time_notes(t, runs, n);
}

void run_tables(Document *d, const Simulation *runs, int n) {
  if (d->form == DOCUMENT_TEXT) add_comparison(d, runs, n);
  run_tables_lines(d, runs, n);
}
