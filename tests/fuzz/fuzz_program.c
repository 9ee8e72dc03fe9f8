/* Program text of unknown origin: refused with a line, or a program whose events add up to what is counted, is found at
 * any step, whose numbers can be tried, and whose CTAs come to their end and ask for blocks that there are: for as many
 * bytes as are counted. */
#include <stdbool.h>
#include "tests/fuzz/fuzz.h"
#include "sim/algorithms/language/language_words.h"
#include "sim/algorithms/language/read.h"
#include "sim/algorithms/schedule.h"
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
    if (steps > 1000) abort();
    for (uint32_t n = 0; n < access.n_writes; n++)
      if (access.writes[n] >= n_granules) abort();
    for (uint32_t n = 0; n < access.n_reads; n++) {
      uint64_t granule = access.reads[n];
      int kind = 0;
      if (granule >= n_granules) abort();
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
  if (plan_make(&plan, &shape, &tiling, NULL) || launch_make(&launch, &plan.shape, &config, &gpu, NULL)) abort();
  if (!stream_exists(p) || schedule_takes(p, &plan, NULL)) return;
  if (!stream_make(&s, p, &plan, &launch, merge, 0)) abort();
  for (int k = 0; k < s.n_kernels; k++)
    for (int64_t piece = 0; piece < s.kernels[k].n_pieces; piece++) {
      StreamSlot slot = {.number = piece % 2};
      stream_begin(&s, k, &slot, piece);
      bytes += walk_piece(&s, &slot);
    }
  if (merge == 1 && !loads_statistics(p) && (int64_t)(bytes + 0.5) != (int64_t)stream_read_bytes(&s, p)) abort();
}

/* Walks all events: their sum is what is counted, and each third is found by its number. */
static void walk_events(const Program *p, const Plan *plan) {
  Traffic walked = {0}, counted;
  Cursor cursor = {0};
  Event event;
  bool overflow = false;
  for (Wide steps = 0; schedule_next(p, plan, &cursor, &event); steps++) {
    Cursor found;
    Event again;
    traffic_add(&walked, p, &event);
    if (event.step % 3 || event.step > 300) continue;
    if (!schedule_seek(p, plan, &found, event.step) || !schedule_next(p, plan, &found, &again)) abort();
    if (memcmp(&event, &again, sizeof event) != 0) abort();
  }
  schedule_traffic(p, plan, &counted, &overflow);
  if (!traffic_equal(&walked, &counted) || walked.steps != schedule_n_steps(p, plan)) abort();
}

/* What is said of the first events: whatever the program, whole sentences of what is known. */
static void tell_events(const Program *p, const Plan *plan) {
  Snapshot *now = calloc(1, sizeof *now);
  Cursor cursor = {0};
  Facts facts;
  Narration said;
  char line[SNAPSHOT_LOG_BYTES];
  if (!now) return;
  now->problem.shape = plan->shape;
  now->problem.tiling = plan->tiling;
  now->schedule = p;
  now->n_steps = UINT64_MAX;
  now->row.row = -1;
  while (now->step < 48 && schedule_next(p, plan, &cursor, &now->event)) {
    now->step = cursor.step;
    now->has_event = true;
    facts_at(now, &facts);
    narration_say(now, &facts, narration_choose(&facts, -1, NEED_NOTHING), &said);
    snapshot_sentence(p, &now->event, line, sizeof line);
    if (!*said.what || !*said.why || !*line || strpbrk(said.what, "{}") || strpbrk(said.why, "{}")) abort();
  }
  free(now);
}

/* A launch changes no line, no name and no place; what it says is within its bounds. */
static void cut_launches(const Program *p) {
  const char *at = strstr(p->text, "\nlaunch ");
  Program *without = malloc(sizeof *without);
  const SramSizes sizes = {.B_r = 4, .B_c = 6, .d = 8, .d_v = 5, .element_bytes = 2};
  bool any = false;
  for (int k = 0; k < p->n_kernels; k++) {
    const ProgramLaunch *l = &p->launches[k];
    any |= l->is_said;
    if (l->consumers > PROGRAM_CONSUMERS_MAX || l->threads > 1024 || (p->n_names < 64 && l->registers >> p->n_names))
      abort();
    for (int n = 0; n < p->n_names; n++)
      if (l->stages[n] > PROGRAM_STAGES_MAX) abort();
  }
  if (any && at && without) {
    if (program_read(without, p->text, (size_t)(at + 1 - p->text), "fuzz.walk", NULL)) abort();
    if (memcmp(p->ops, without->ops, sizeof p->ops) != 0 || memcmp(p->names, without->names, sizeof p->names) != 0 ||
        memcmp(p->places, without->places, sizeof p->places) != 0)
      abort();
    const SramBudget with = sram_budget_of_kernel(p, 0, &sizes), plain = sram_budget_of_kernel(without, 0, &sizes);
    if (!p->launches[0].registers && with.bytes < plain.bytes) abort();
  }
  free(without);
}

/* What an editor would offer at any place of any text. */
static void complete(const uint8_t *data, size_t size) {
  char out[256], *text = malloc(size + 1);
  if (!text) return;
  memcpy(text, data, size);
  text[size] = '\0';
  const size_t length = strlen(text), step = length / 16 + 1;
  for (size_t at = 0; at <= length; at += step)
    if (words_complete(text, at, out, sizeof out) > at || strlen(out) >= sizeof out) abort();
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Shape SHAPES[] = {{.N_q = 5, .N_k = 7, .d = 2, .causal = true},
                                 {.N_q = 6, .d = 3, .window = 2, .heads = 4, .kv_heads = 2},
                                 {.N_q = 1, .N_k = 9, .d = 1},
                                 {.N_q = 7, .d = 2, .causal = true}};
  Program *p = malloc(sizeof *p);
  Error error = {0};
  if (!p) return 0;
  if (size < 4096) complete(data, size);
  if (program_read(p, (const char *)data, size, "fuzz.walk", &error)) {
    if (!error.message[0] || strchr(error.message, '\n')) abort();
    free(p);
    return 0;
  }
  cut_launches(p);
  for (size_t k = 0; k < sizeof SHAPES / sizeof *SHAPES; k++) {
    const Tiling tiling = {.B_r = 2, .B_c = k == 3 ? 2 : 3, .n_splits = (int64_t)k + 1, .lse = k == 1};
    Plan plan;
    if (plan_make(&plan, &SHAPES[k], &tiling, NULL)) abort();
    if (schedule_takes(p, &plan, &error)) continue;
    walk_events(p, &plan);
    tell_events(p, &plan);
    if (k == 3) continue;
    walk_stream(p, (int64_t)k + 1, (int64_t)1 << k);
    walk_stream(p, (int64_t)k + 1, 1);
  }
  if (size % 4 == 0 && !program_verdict(p, NULL).text[0]) abort();
  free(p);
  return 0;
}
