#include "viz/cli/run_tables.h"

#include <math.h>

#include "sim/base/text_add.h"
#include "viz/document/figure_lines.h"
#include "viz/text/mask_text.h"

void run_tables_problem(const Simulation *run, char *text, size_t size) {
  const Shape as_asked = shape_unpacked(&run->plan.shape), *s = &as_asked;
  const Wide n_heads = wide(s->batch) * wide(s->heads);
  char mask[MASK_TEXT_BYTES];
  mask_text(s, mask, sizeof mask);
  *text = '\0';
  if (s->kv_heads != s->heads)
    text_add(text, size, "%s heads (%s KV heads a batch)", number_count(n_heads).text,
             number_count(wide(s->kv_heads)).text);
  else
    text_add(text, size, "%s", number_of(n_heads, "head").text);
  text_add(text, size, " of N = %s", number_count(wide(s->N_q)).text);
  if (s->N_k != s->N_q) text_add(text, size, ", %s keys", number_count(wide(s->N_k)).text);
  text_add(text, size, ", d = %jd", s->d);
  if (s->d_v != s->d || s->v_in_k) text_add(text, size, ", d_v = %jd%s", s->d_v, s->v_in_k ? " inside K" : "");
  text_add(text, size, ", %s", dtype_name(s->dtype));
  if (s->has_kv_dtype) text_add(text, size, " (K and V %s)", dtype_name(s->kv_dtype));
  text_add(text, size, "%s%s, on %s with %s of SRAM", *mask ? ", " : "", mask, run->machine.name,
           number_bytes(wide(run->machine.sram_bytes)).text);
}

/* ---- What is shown ----------------------------------------------------------------------------------------------- */

static const FigureLine LINES[] = {
    FIGURE_LINE("Traffic across the SRAM boundary, where papers count HBM accesses"),
    FIGURE_LINE("  read %s", "traffic.read.*"),
    FIGURE_LINE(NULL, "traffic.read.*", .first = "read %s", .when = "loads_per_block.*", .together = "inputs",
                .sum = "traffic.inputs_bytes"),
    FIGURE_LINE(NULL, "traffic.intermediates_bytes", .first = "intermediates, both ways"),
    FIGURE_LINE(NULL, "traffic.outputs_bytes", .first = "outputs"),
    FIGURE_LINE("  write %s", "traffic.write.*"),
    FIGURE_LINE("  all reads", "traffic.read_bytes"),
    FIGURE_LINE("  all writes", "traffic.write_bytes"),
    FIGURE_LINE("    of it, added", "traffic.added_bytes"),
    FIGURE_LINE("  total", "traffic.total_bytes", .role = ROLE_ACCENT, .first = "total, SRAM boundary"),
    FIGURE_LINE("  less than %s", "traffic.total_bytes", .is_ratio = true),
    FIGURE_LINE(NULL, "hbm.total_bytes", .when = "l2.read_bytes", .role = ROLE_ACCENT,
                .first = "total through HBM, behind L2"),
    FIGURE_LINE(NULL, "l2.hit_rate", .first_unless = "time.predicted_s", .first = "L2 hit rate", .spare = 1),
    FIGURE_LINE("Tiles of one head, or of heads that share CTAs"),
    FIGURE_LINE("  B_r x B_c", "block_q", .beside = "block_k"),
    FIGURE_LINE("  full", "tiles.full"),
    FIGURE_LINE("  partly masked", "tiles.partial"),
    FIGURE_LINE("  skipped", "tiles.skipped"),
    FIGURE_LINE("  loads of a %s block", "loads_per_block.*"),
    FIGURE_LINE("  heads packed as rows of Q", "packed_heads", .least = 2, .first = "heads packed as rows of Q"),
    FIGURE_LINE("  splits of the keys", "splits", .least = 2),
    FIGURE_LINE("SRAM for one CTA's tiles"),
    FIGURE_LINE("  %s", "sram.items.*"),
    FIGURE_LINE("  together", "sram.bytes", .role = ROLE_ACCENT, .first_unless = "links.ranks",
                .first = "SRAM of a CTA", .spare = 2, .in_kib = true),
    FIGURE_LINE("  held in", "sram.held"),
    FIGURE_LINE("  largest B to fit", "sram.max_block", .first_when = "!time.kind", .least = 1,
                .first = "largest B to fit"),
    FIGURE_LINE("Storage in HBM"),
    FIGURE_LINE("  inputs", "storage.inputs_bytes"),
    FIGURE_LINE("  outputs", "storage.outputs_bytes"),
    FIGURE_LINE("  intermediates", "storage.intermediates_bytes", .first_when = "!time.kind",
                .first = "extra storage in HBM"),
    FIGURE_LINE("Arithmetic"),
    FIGURE_LINE("  matrix products", "flops"),
    FIGURE_LINE("  FLOPs per byte", "intensity_flops_per_byte", .first_when = "!time.kind",
                .first = "FLOPs for each byte"),
    FIGURE_LINE("Launch on %s"),
    FIGURE_LINE("  CTAs", "launch.ctas"),
    FIGURE_LINE("  on SMs", "launch.ctas", .beside = "launch.sms", .between = " on ", .when = "launch.idle_sms",
                .first = "CTAs on SMs"),
    FIGURE_LINE("  resident per SM", "launch.ctas_per_sm"),
    FIGURE_LINE("  limited by", "launch.limited_by"),
    FIGURE_LINE("  waves", "launch.waves"),
    FIGURE_LINE("  last wave, share filled", "launch.tail_fill"),
    FIGURE_LINE("L2s of %s, one for each chiplet"),
    FIGURE_LINE("  read from L2", "chiplets.read_bytes"),
    FIGURE_LINE("  hit rate", "chiplets.hit_rate"),
    FIGURE_LINE("  missed", "chiplets.missed_bytes"),
    FIGURE_LINE("L2 of %s, all CTAs at once: what HBM itself delivers"),
    FIGURE_LINE("  read from L2", "l2.read_bytes"),
    FIGURE_LINE("    all reads, as above", "traffic.read_bytes", .when = "overheads.read_bytes"),
    FIGURE_LINE("    and re-reads", "overheads.reread_bytes"),
    FIGURE_LINE("    less masked, or shared", "overheads.unasked_bytes"),
    FIGURE_LINE("  written to L2", "l2.write_bytes"),
    FIGURE_LINE("    of it, spills", "overheads.spilled_bytes"),
    FIGURE_LINE("    of it, work pulled", "overheads.pulled_bytes"),
    FIGURE_LINE("  found in L2", "l2.not_hbm_share"),
    FIGURE_LINE("  hit rate (ncu)", "l2.hit_rate"),
    FIGURE_LINE("  over the fabric", "l2.fabric_bytes"),
    FIGURE_LINE("  read from HBM", "hbm.read_bytes", .when = "l2.read_bytes", .role = ROLE_ACCENT),
    FIGURE_LINE("  written to HBM", "hbm.write_bytes", .when = "l2.read_bytes", .role = ROLE_ACCENT),
    FIGURE_LINE("Time on %s, at peak rates"),
    FIGURE_LINE("  HBM", "time.hbm_s"),
    FIGURE_LINE("  L2", "time.l2_s"),
    FIGURE_LINE("  SRAM", "time.sram_s"),
    FIGURE_LINE("  products", "time.math_s"),
    FIGURE_LINE("  exponentials", "time.exp_s"),
    FIGURE_LINE("  tensor cores, SM with most work", "time.busiest_sm_s"),
    FIGURE_LINE("  L2 port, SM with most work", "time.l2_port_s"),
    FIGURE_LINE("  kernel sequence", "time.kernels_s"),
    FIGURE_LINE("Time on %s"),
    FIGURE_LINE("  predicted", "time.predicted_s", .role = ROLE_ACCENT, .first = "predicted"),
    FIGURE_LINE("  time at peak rates", "time.bound_s", .first_when = "time.kind=bound", .first = "time at peak rates"),
    FIGURE_LINE("  limited by", "time.bound", .first = "limited by"),
    FIGURE_LINE("  papers' FLOP/s", "time.papers_flop_rate"),
    FIGURE_LINE("  faster than %s", "time.seconds", .is_ratio = true),
    FIGURE_LINE("  bound", "time.least_s", .first = "bound"),
    FIGURE_LINE("Links between GPUs, each with its part"),
    FIGURE_LINE("  ranks", "links.ranks"),
    FIGURE_LINE("  over", "links.link"),
    FIGURE_LINE("  send %s", "links.sent.*"),
    FIGURE_LINE("  all ranks", "links.sent_bytes", .role = ROLE_ACCENT, .first = "over links, all ranks"),
    FIGURE_LINE("  a rank", "links.rank_bytes"),
    FIGURE_LINE("  a link, at least", "links.bound_s"),
    FIGURE_LINE("  SRAM boundary, all ranks", "links.boundary_bytes"),
    {0},
};

static const FigureNote NOTES[] = {
    {"!sram.fits sram.max_block",
     "{algorithm} does not fit: {sram.bytes} of {sram.capacity_bytes}; blocks up to {sram.max_block} do.", NOTE_BOTH},
    {"!sram.fits !sram.max_block",
     "{algorithm} does not fit: its tiles need {sram.bytes}, and SRAM has {sram.capacity_bytes}; at this d not "
     "even one "
     "row a block fits.",
     NOTE_BOTH},
    {"storage.capacity_bytes !storage.fits",
     "{algorithm} does not run on {machine.name}: it keeps {storage.kept_bytes} in HBM, which has "
     "{storage.capacity_bytes}; fewer heads at once, or an algorithm that keeps no S and P, would.",
     NOTE_BOTH},
    {"queries_without_keys",
     "{queries_without_keys} of {shape.seq_q} queries see no key: their rows of O are whatever the kernel "
     "leaves there, "
     "0 or NaN.",
     NOTE_BOTH},
    {"hbm_is_lower_bound launch.ctas !chiplets.read_bytes",
     "The L2 of {machine.name} is not modelled here (more than two L2s, a cache behind them, or too large a problem): "
     "HBM moves at least each input once, and what of outputs L2 has no room for.",
     NOTE_BOTH},
    {"chiplets.read_bytes",
     "Each chiplet's L2 serves its own CTAs alone, here in step: --order decides what they share. What misses goes to "
     "the memory-side cache, which is not modelled, and to HBM.",
     NOTE_DETAILS},
    {"l2.read_bytes !l2.all_walked", "Only some heads were walked through L2; the others are taken to go on like them.",
     NOTE_DETAILS},
    {"links.ranks", "Links: bytes are counted; the time is a bound (data sheet). All other rows are of one GPU.",
     NOTE_BOTH},
    {"overheads.reread_bytes",
     "Across the SRAM boundary what a program loads 'once' counts once a kernel, on any machine: the least that its "
     "products can move. CTAs ask for those blocks again: the re-reads. HBM's reads are a part of what is read "
     "from L2.",
     NOTE_DETAILS},
    {"overheads.spilled_bytes",
     "Spilled registers are of the build that the kernel's description measures, for compute capability 9.0; another "
     "build spills otherwise.",
     NOTE_DETAILS},
    {"time.kind !time.math_s", "Left out of the time: products, whose rate is not known for {machine.name}.",
     NOTE_DETAILS},
    {"time.kind !time.exp_s", "Left out of the time: exponentials, whose rate is not known for {machine.name}.",
     NOTE_DETAILS},
    {"time.kind !time.sram_s", "Left out of the time: SRAM, whose rate is not known for {machine.name}.", NOTE_DETAILS},
    {"time.kind machine.l2_bytes !time.l2_s", "Left out of the time: L2, whose rate is not known for {machine.name}.",
     NOTE_DETAILS},
    {"time.computes_in~shape.dtype",
     "{machine.name} has no {shape.dtype} products: {shape.dtype} is storage only, computed in {time.computes_in}.",
     NOTE_BOTH},
    {"time.kind",
     "At peak rates: the bytes, products and exponentials above, all of it overlapping, from cold caches. "
     "Bound: no run "
     "of the algorithm is faster, with what L2 could hold and any tiles.",
     NOTE_DETAILS},
    {"time.floor.bound=exp",
     "Exponentials bind: a kernel that computes some as polynomials (FlashAttention-4) may be faster.", NOTE_DETAILS},
    {"time.kind=bound", "{algorithm}: no time is predicted: {time.error.why}.", NOTE_DETAILS},
    {"time.kind=extrapolated time.error.held_out_runs",
     "{algorithm}: extrapolated ({time.error.why}). Of {time.error.held_out_runs} figures that others print of other "
     "cards half are within {time.error.median}, nine in ten within {time.error.nine_tenths}.",
     NOTE_BOTH},
    {"time.kind=extrapolated !time.error.held_out_runs",
     "{algorithm}: extrapolated, and not compared with anything: {time.error.why}.", NOTE_BOTH},
    {"time.kind=predicted !time.error.held_out_runs !time.error.fitted_runs",
     "{algorithm}: predicted, but no recorded run of its sort ({time.error.regime}) was compared with it.", NOTE_BOTH},
    {"time.kind=predicted time.error.held_out_runs",
     "{algorithm}: predicted. Of {time.error.held_out_runs} held-out runs of its sort ({time.error.regime}) half are "
     "within {time.error.median}, nine in ten within {time.error.nine_tenths}. Cards and days differ by up to a tenth.",
     NOTE_DETAILS},
    {"time.kind=predicted time.error.fitted_runs",
     "{algorithm}: predicted. Of {time.error.fitted_runs} runs, to which it was fitted, of its sort "
     "({time.error.regime}) half are within {time.error.median}, nine in ten within {time.error.nine_tenths}. "
     "Cards and "
     "days differ by up to a tenth.",
     NOTE_DETAILS},
    {"!l2.read_bytes !time.kind", "Exact. Next: --gpu h100 adds L2 and time; --details prints every row.", NOTE_FIRST},
    {"!l2.read_bytes time.kind", "Exact: SRAM boundary. Time: a run takes longer.", NOTE_FIRST},
    {"l2.read_bytes time.kind=bound", "Exact: SRAM boundary. Predicted: L2, HBM. Time: a run takes longer.",
     NOTE_FIRST},
    {"l2.read_bytes !time.kind=bound", "Exact: SRAM boundary. Predicted: L2, HBM, time.", NOTE_FIRST},
    {"time.kind=predicted time.error.held_out_runs",
     "{algorithm}: nine in ten of {time.error.held_out_runs} held-out runs are within {time.error.nine_tenths}.",
     NOTE_FIRST},
    {"time.kind=predicted time.error.fitted_runs",
     "{algorithm}: nine in ten of {time.error.fitted_runs} runs that were fitted are within {time.error.nine_tenths}.",
     NOTE_FIRST},
    {"time.kind", "Next: tilewalk advise compares kernels and tiles; --details prints every row.", NOTE_FIRST},
    {0},
};

/* ---- The first screen -------------------------------------------------------------------------------------------- */

/* Its algorithm, as `called`, and its machine where there are several. */
static const char *name_of(const Simulation *run, const char *called, bool one, char text[224]) {
  snprintf(text, 224, "%s%s%s", called, one ? "" : " on ", one ? "" : run->machine.name);
  return text;
}

/* Of the others the one that has least, of those that are comparable with the first; 0: none is. */
static int least(const Simulation *runs, int n, const FigureRow *row) {
  int best = 0;
  for (int k = 1; k < n; k++)
    if (figure_comparable(runs, &runs[k], row) &&
        (!best || figure_value(&runs[k], row) < figure_value(&runs[best], row)))
      best = k;
  return best;
}

/* "2.0x less", "as much". */
static const char *times(double ratio, const char *less, const char *more, const char *same, char text[160]) {
  if (fabs(ratio - 1) < 0.005)
    snprintf(text, 160, "%s", same);
  else
    snprintf(text, 160, "%s %s", number_ratio(ratio > 1 ? ratio : 1 / ratio).text, ratio > 1 ? less : more);
  return text;
}

/* One sentence: the best of the others beside the first; of one run, what it moves and takes. */
static const char *sentence(const Simulation *runs, int n, char text[1024]) {
  const FigureRow *bytes = figure_row("hbm.total_bytes"), *time = figure_row("time.seconds");
  const bool one = figure_one_machine(runs, n), at_least = figure_kind(runs, bytes) == KIND_BOUND,
             at_peak = runs->timing.kind == TIME_BOUND;
  char a[224], b[224], r[160];
  int best = runs->timed && !(one && at_peak) ? least(runs, n, time) : 0;
  const bool by_time = best > 0;
  if (!best) best = least(runs, n, bytes);
  const FigureRow *row = by_time ? time : bytes;
  const double first = figure_value(runs, row), other = figure_value(&runs[best], row);
  name_of(runs, runs->schedule->title, one, a), name_of(&runs[best], runs[best].schedule->title, one, b);
  if (by_time)
    snprintf(text, 1024, "%s is %s %s (%s: %s vs %s).", b,
             times(first / other, "faster than", "slower than", "as fast as", r), a,
             at_peak ? "at peak rates" : time_kind_name(runs->timing.kind), number_seconds(other).text,
             number_seconds(first).text);
  else if (best)
    snprintf(text, 1024, "%s moves %s through HBM %s %s (%s%s vs %s).", b,
             times(first / other, "less", "more", "as much", r), fabs(first / other - 1) < 0.005 ? "as" : "than", a,
             at_least ? "at least " : "", number_bytes((Wide)other).text, number_bytes((Wide)first).text);
  else
    snprintf(text, 1024, "%s moves %s%s through HBM%s%s%s.", a, at_least ? "at least " : "",
             number_bytes((Wide)first).text, runs->timed ? " and takes " : "",
             runs->timed ? number_seconds(figure_value(runs, time)).text : "",
             !runs->timed ? ""
             : at_peak    ? " at peak rates"
                          : ", predicted");
  return text;
}

static FigureScale scale_of(const Simulation *runs, int n) {
  const FigureRow *bytes = figure_row("hbm.total_bytes"), *time = figure_row("time.least_s");
  double least_bytes = INFINITY, least_s = INFINITY;
  for (int k = 0; k < n; k++) {
    least_bytes = fmin(least_bytes, figure_value(&runs[k], bytes));
    least_s = fmin(least_s, figure_value(&runs[k], time));
  }
  return figure_scale(least_bytes, least_s);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

enum { SIDE_BY_SIDE = 3, FIRST_ROWS = 12 };

#define PLACES " ~|B_r>@block_q|B_c>@block_k|boundary>@traffic.total_bytes|HBM>@hbm.total_bytes"
#define TIMES  "|at peak rates>@time.bound_s|predicted>@time.predicted_s|limited by>@time.bound"

/* Many runs: a line each. */
static Table *put_lines(Document *d, const Simulation *runs, int n) {
  const FigureScale scale = scale_of(runs, n);
  const bool one = figure_one_machine(runs, n);
  FigureTable t;
  figure_table(&t, d, DOCUMENT_TEXT, NULL, runs->timed ? PLACES TIMES : PLACES, &scale);
  for (int k = 0; k < n && k < FIRST_ROWS; k++) {
    char heading[224];
    table_text(t.table, ROLE_PLAIN, name_of(&runs[k], runs[k].schedule->name, one, heading));
    figure_cells(&t, &runs[k]);
  }
  if (n > FIRST_ROWS) table_note(t.table, "%d more: --details, --csv and --json have all.", n - FIRST_ROWS);
  return t.table;
}

/* A column for each run. */
static Table *put_columns(Document *d, const Simulation *runs, int n, bool details) {
  char headings[RUN_TABLES_MAX][224];
  FigureScale scale = scale_of(runs, n);
  const bool one = figure_one_machine(runs, n);
  TableColumn columns[RUN_TABLES_MAX + 2] = {{.heading = details ? "" : "tile B_r x B_c", .shrink = TABLE_WRAP}};
  int c = 1;
  if (!details) columns[c++] = (TableColumn){.heading = "", .right = true};
  for (int k = 0; k < n; k++) {
    const Tiling *tiles = &runs[k].plan.tiling;
    name_of(&runs[k], runs[k].schedule->name, one, headings[k]);
    if (!details) text_add(headings[k], sizeof *headings, "\n%jd x %jd", tiles->B_r, tiles->B_c);
    columns[c++] = (TableColumn){.heading = headings[k], .right = true, .shrink = TABLE_WRAP};
  }
  while (!details && scale.shortens < 3 && figure_lines(NULL, LINES, runs, n, &scale) > FIRST_ROWS) scale.shortens++;
  Table *t = document_table(d, DOCUMENT_TEXT, NULL, columns, c);
  figure_lines(t, LINES, runs, n, details ? NULL : &scale);
  return t;
}

static void put_text(Document *d, const Simulation *runs, int n, bool details) {
  char problem[512], said[1024];
  Table *t = details || n <= SIDE_BY_SIDE ? put_columns(d, runs, n, details) : put_lines(d, runs, n);
  run_tables_problem(&runs[0], problem, sizeof problem);
  char *machine = strstr(problem, ", on ");
  if (machine && !figure_one_machine(runs, n)) *machine = '\0';
  table_title(t, "%s%s%s", details ? "" : sentence(runs, n, said), details ? "" : "\n\n", problem);
  for (int k = 0; k < n; k++)
    if (*runs[k].links.why) table_note(t, "Links are not counted: %s.", runs[k].links.why);
  figure_notes(t, NOTES, runs, n, !details);
}

/* A value that a run has not is empty. */
static const char CSV[] =
    "@algorithm|@shape.seq_q|@shape.seq_k|@shape.head_dim|@block_q|@block_k|@tiles.full|@tiles.partial|@tiles.skipped|"
    "@traffic.read_bytes|@traffic.write_bytes|@traffic.total_bytes|;sram_bytes@sram.bytes|@sram.fits|@sram.max_block|"
    "@storage.intermediates_bytes|@flops|@intensity_flops_per_byte|;machine@machine.name|"
    ";hbm_read_bytes@hbm.read_bytes|;hbm_write_bytes@hbm.write_bytes|;l2_read_bytes@l2.read_bytes|"
    ";l2_write_bytes@l2.write_bytes|"
    ";l2_hit_rate@l2.hit_rate|@l2.fabric_bytes|@launch.ctas|@launch.ctas_per_sm|@launch.waves|@time.bound|"
    "@time.bound_s|@time.least_s|@time.predicted_s|@time.seconds|;time_is@time.kind|@links.ranks|@links.link|"
    ";link_bytes@links.sent_bytes|;link_rank_bytes@links.rank_bytes|;link_bound_s@links.bound_s";

void run_tables(Document *d, const Simulation *runs, int n, bool details) {
  if (d->form == DOCUMENT_TEXT) put_text(d, runs, n, details);
  if (d->form != DOCUMENT_CSV) return;
  FigureTable t;
  figure_table(&t, d, DOCUMENT_CSV, NULL, CSV, NULL);
  for (int k = 0; k < n; k++) figure_cells(&t, &runs[k]);
}
