/* Fuzz target of program text: its events add up to what is counted and are found at any step, its numbers can be
 * tried, and its CTAs come to their end and ask for blocks that there are: for as many bytes as are counted. */
#include "tests/fuzz/fuzz.h"
#include "sim/algorithms/language/language_words.h"
#include "sim/algorithms/language/read.h"
#include "sim/l2/stream.h"
#include "sim/numbers/program_check.h"
#include "viz/scene/narration.h"

/* Bytes that a piece reads. */
static double walk_piece(const Stream *s, StreamSlot *slot) {
  uint64_t n_granules = 0;
  double bytes = 0;
  for (int k = 0; k < STREAM_KIND_COUNT; k++) n_granules += s->kinds[k].n;
  for (int steps = 0; slot->busy; steps++) {
    ClockStep access = {0};
    StreamStep step = {.access = &access};
    stream_next(s, slot, &step);
    require(steps <= 1000);
    for (uint32_t n = 0; n < access.n_writes; n++) require(access.writes[n] < n_granules);
    for (uint32_t n = 0; n < access.n_reads; n++) {
      uint64_t granule = access.reads[n];
      int kind = 0;
      require(granule < n_granules);
      while (granule >= s->kinds[kind].n) granule -= s->kinds[kind++].n;
      bytes += s->kinds[kind].bytes;
    }
  }
  return bytes;
}

/* Loads of statistics come with the block of O that they belong to, or from registers. */
static bool loads_statistics(const Program *p) {
  for (int k = 0; k < p->n_ops; k++)
    if (p->ops[k].kind == OP_EVENT && p->ops[k].event == EVENT_LOAD && p->tensors[p->ops[k].tensor].is_stats)
      return true;
  return false;
}

static void walk_stream(const Program *p, int64_t n_splits, int64_t merge) {
  const int64_t group = p->over_heads ? 2 : 1, B_c = p->diagonal ? 2 : 3, N_k = p->diagonal ? 6 : 9;
  const Shape shape = {
      .N_q = 6, .N_k = N_k, .d = 4, .d_v = 5, .causal = n_splits > 1 || p->diagonal, .heads = group, .kv_heads = 1};
  const Tiling tiling = {.B_r = 2, .B_c = B_c, .n_splits = p->splits ? n_splits : 1};
  const Gpu gpu = {.name = "g", .n_sm = 2, .warp_size = 32};
  const LaunchConfig config = {.block_q = 2,
                               .block_k = B_c,
                               .n_splits = tiling.n_splits,
                               .whole_head = p->whole_head,
                               .spills.block_bytes = n_splits > 1 ? 8 : 0};
  Plan plan;
  Launch launch;
  Stream s;
  double bytes = 0;
  require(!plan_make(&plan, &shape, &tiling, NULL) && !launch_make(&launch, &plan.shape, &config, &gpu, NULL));
  if (!stream_exists(p) || schedule_takes(p, &plan, NULL)) return;
  require(stream_make(&s, p, &plan, &launch, merge, 0));
  for (int k = 0; k < s.n_kernels; k++)
    for (int64_t piece = 0; piece < s.kernels[k].n_pieces; piece++) {
      StreamSlot slot = {.number = piece % 2};
      stream_begin(&s, k, &slot, piece);
      bytes += walk_piece(&s, &slot);
    }
  require(merge > 1 || loads_statistics(p) || (int64_t)(bytes + 0.5) == (int64_t)stream_read_bytes(&s, p));
}

/* Walks all events: their sum is what is counted, and each third is found by its number. */
static void walk_events(const Program *p, const Plan *plan) {
  Traffic walked = {0}, counted;
  Cursor cursor = {0};
  Event event;
  bool overflow = false;
  while (schedule_next(p, plan, &cursor, &event)) {
    Cursor found;
    Event again;
    traffic_add(&walked, p, &event);
    if (event.step % 3 || event.step > 300) continue;
    require(schedule_seek(p, plan, &found, event.step) && schedule_next(p, plan, &found, &again));
    require(memcmp(&event, &again, sizeof event) == 0);
  }
  schedule_traffic(p, plan, &counted, &overflow);
  require(traffic_equal(&walked, &counted) && walked.steps == schedule_n_steps(p, plan));
}

/* What is said of the first events: whatever the program, whole sentences of what is known. */
static void tell_events(const Program *p, const Plan *plan) {
  Snapshot *now = calloc(1, sizeof *now);
  Cursor cursor = {0};
  Narration said;
  char line[SNAPSHOT_SENTENCE];
  require(now != NULL);
  now->problem.shape = plan->shape;
  now->problem.tiling = plan->tiling;
  now->schedule = p;
  now->n_steps = UINT64_MAX;
  now->row.row = -1;
  now->has_event = true;
  while (now->step < 48 && schedule_next(p, plan, &cursor, &now->event)) {
    now->step = cursor.step;
    narrate(now, &said);
    snapshot_sentence(p, &now->event, line, sizeof line);
    require(*said.what && *said.why && *line && !strpbrk(said.what, "{}") && !strpbrk(said.why, "{}"));
  }
  free(now);
}

/* A launch changes no line, no name and no place; what it says is within its bounds. */
static void cut_launches(const Program *p) {
  const char *at = strstr(p->text, "\nlaunch ");
  Program *without = malloc(sizeof *without);
  const SramSizes sizes = {.B_r = 4, .B_c = 6, .d = 8, .d_v = 5, .element_bytes = 2};
  bool any = false;
  require(without != NULL);
  for (int k = 0; k < p->n_kernels; k++) {
    const ProgramLaunch *l = &p->launches[k];
    any |= l->is_said;
    require(l->consumers <= PROGRAM_CONSUMERS_MAX && l->threads <= 1024);
    require(p->n_names == 64 || !(l->registers >> p->n_names));
    for (int n = 0; n < p->n_names; n++) require(l->stages[n] <= PROGRAM_STAGES_MAX);
  }
  if (any && at) {
    require(!program_read(without, p->text, (size_t)(at + 1 - p->text), "fuzz.walk", NULL));
    require(memcmp(p->ops, without->ops, sizeof p->ops) == 0 && memcmp(p->names, without->names, sizeof p->names) == 0);
    require(memcmp(p->places, without->places, sizeof p->places) == 0);
    const SramBudget with = sram_budget_of_kernel(p, 0, &sizes), plain = sram_budget_of_kernel(without, 0, &sizes);
    require(p->launches[0].registers || with.bytes >= plain.bytes);
  }
  free(without);
}

/* What an editor would offer at any place of any text. */
static void complete(const char *text) {
  char out[256];
  const size_t length = strlen(text), step = length / 16 + 1;
  for (size_t at = 0; at <= length; at += step)
    require(words_complete(text, at, out, sizeof out) <= at && strlen(out) < sizeof out);
}

FUZZ(program, TEXT, "sim/algorithms/language/language_words sim/algorithms/language/read") {
  static const Shape SHAPES[] = {{.N_q = 5, .N_k = 7, .d = 2, .causal = true},
                                 {.N_q = 6, .d = 3, .window = 2, .heads = 4, .kv_heads = 2},
                                 {.N_q = 1, .N_k = 9, .d = 1},
                                 {.N_q = 7, .d = 2, .causal = true}};
  Program *p = malloc(sizeof *p);
  Error error = {0};
  require(p != NULL);
  if (size < 4096) complete(text);
  if (program_read(p, text, size, "fuzz.walk", &error)) {
    free(p);
    return require_line(&error, "");
  }
  cut_launches(p);
  for (int64_t k = 0; k < 4; k++) {
    const Tiling tiling = {.B_r = 2, .B_c = k == 3 ? 2 : 3, .n_splits = k + 1, .lse = k == 1};
    Plan plan;
    require(!plan_make(&plan, &SHAPES[k], &tiling, NULL));
    if (schedule_takes(p, &plan, &error)) continue;
    walk_events(p, &plan);
    tell_events(p, &plan);
    if (k == 3) continue;
    walk_stream(p, k + 1, 1 << k);
    walk_stream(p, k + 1, 1);
  }
  require(size % 4 || *program_verdict(p, NULL).text);
  free(p);
}
