#include "viz/cli/trace/trace_chrome.h"

#include <inttypes.h>

enum { LANE_LOAD = 1, LANE_PRODUCT, LANE_SOFTMAX, LANE_STORE, LANE_SKIP, N_LANES };

static int lane_of(EventKind kind) {
  switch (kind) {
  case EVENT_LOAD: return LANE_LOAD;
  case EVENT_PRODUCT:
  case EVENT_ACCUMULATE: return LANE_PRODUCT;
  case EVENT_STORE:
  case EVENT_ADD: return LANE_STORE;
  case EVENT_SKIP: return LANE_SKIP;
  default: return LANE_SOFTMAX;
  }
}

void chrome_trace_open(FILE *out) { fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", out); }

void chrome_trace_begin(ChromeTrace *t, FILE *out, const Schedule *schedule, const Plan *plan, int index) {
  static const char *const LANES[N_LANES] = {
      NULL,           "loads: HBM to SRAM", "matrix products", "softmax: mask, max, rescale", "stores: SRAM to HBM",
      "skipped tiles"};
  *t = (ChromeTrace){.out = out, .schedule = schedule, .process = index + 1};
  fprintf(out,
          "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"%s: N_q %" PRId64 ", N_k %" PRId64
          ", d %" PRId64 ", tiles of %" PRId64 " x %" PRId64 "\"}}",
          index ? ",\n" : "", t->process, schedule->name, plan->shape.N_q, plan->shape.N_k, plan->shape.d,
          plan->tiling.B_r, plan->tiling.B_c);
  for (int lane = 1; lane < N_LANES; lane++)
    fprintf(out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
            t->process, lane, LANES[lane]);
}

void chrome_trace_event(ChromeTrace *t, const Event *e) {
  FILE *const out = t->out;
  fprintf(out, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64 ",\"dur\":1,\"name\":\"%s %s\",\"args\":{",
          t->process, lane_of((EventKind)e->kind), e->step, event_kind_name((EventKind)e->kind),
          t->schedule->tensors[e->tensor].text);
  fprintf(out, "\"step\":%" PRIu64 ",\"pass\":%d,\"tile\":\"%s\"", e->step, e->pass + 1,
          tile_kind_name((TileKind)e->tile));
  if (e->i >= 0) fprintf(out, ",\"i\":%" PRId64 ",\"rows\":\"%" PRId64 "..%" PRId64 "\"", e->i, e->row0, e->row1 - 1);
  if (e->j >= 0)
    fprintf(out, ",\"j\":%" PRId64 ",\"columns\":\"%" PRId64 "..%" PRId64 "\"", e->j, e->col0, e->col1 - 1);
  if (e->bytes) fprintf(out, ",\"bytes\":%" PRIu64, e->bytes);
  if (e->flops) fprintf(out, ",\"flops\":%" PRIu64, e->flops);
  fputs("}}", out);
  if (!e->bytes) return;
  if (e->kind == EVENT_LOAD)
    t->read_bytes += e->bytes;
  else
    t->write_bytes += e->bytes;
  fprintf(out,
          ",\n{\"ph\":\"C\",\"pid\":%d,\"ts\":%" PRIu64 ",\"name\":\"bytes so far\",\"args\":{\"read\":%" PRIu64
          ",\"written\":%" PRIu64 "}}",
          t->process, e->step, t->read_bytes, t->write_bytes);
}

void chrome_trace_end(ChromeTrace *t) { fflush(t->out); }

void chrome_trace_close(FILE *out) { fputs("\n]}\n", out); }
