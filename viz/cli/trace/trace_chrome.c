#include "viz/cli/trace/trace.h"

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

static void name_lane(FILE *out, int process, int lane, const char *name) {
  fprintf(out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}", process,
          lane, name);
}

static Status begin(Trace *t, Error *error) {
  static const char *const LANES[N_LANES] = {
      NULL,           "loads: HBM to SRAM", "matrix products", "softmax: mask, max, rescale", "stores: SRAM to HBM",
      "skipped tiles"};
  const Plan *plan = t->plan;
  (void)error;
  fprintf(t->out,
          "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"%s: "
          "N_q %jd, N_k %jd, d %jd, tiles of %jd x %jd\"}}",
          t->index ? ",\n" : "", t->index + 1, t->schedule->name, plan->shape.N_q, plan->shape.N_k, plan->shape.d,
          plan->tiling.B_r, plan->tiling.B_c);
  for (int lane = 1; lane < N_LANES; lane++) name_lane(t->out, t->index + 1, lane, LANES[lane]);
  return STATUS_OK;
}

static void event(Trace *t, const Event *e) {
  FILE *const out = t->out;
  fprintf(out, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%ju,\"dur\":1,\"name\":\"%s %s\",\"args\":{",
          t->index + 1, lane_of((EventKind)e->kind), e->step, event_kind_name((EventKind)e->kind),
          t->schedule->tensors[e->tensor].text);
  fprintf(out, "\"step\":%ju,\"pass\":%d,\"tile\":\"%s\"", e->step, e->pass + 1, tile_kind_name((TileKind)e->tile));
  if (e->i >= 0) fprintf(out, ",\"i\":%jd,\"rows\":\"%jd..%jd\"", e->i, e->row0, e->row1 - 1);
  if (e->j >= 0) fprintf(out, ",\"j\":%jd,\"columns\":\"%jd..%jd\"", e->j, e->col0, e->col1 - 1);
  if (e->bytes) fprintf(out, ",\"bytes\":%ju", e->bytes);
  if (e->flops) fprintf(out, ",\"flops\":%ju", e->flops);
  fputs("}}", out);
  if (!e->bytes) return;
  if (e->kind == EVENT_LOAD)
    t->read_bytes += e->bytes;
  else
    t->write_bytes += e->bytes;
  fprintf(out,
          ",\n{\"ph\":\"C\",\"pid\":%d,\"ts\":%ju,\"name\":\"bytes so far\",\"args\":{\"read\":%ju,\"written\":%ju}}",
          t->index + 1, e->step, t->read_bytes, t->write_bytes);
}

const TraceFormat CHROME_TRACE = {"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", "\n]}\n", begin, event};

/* ---- A measured pipeline ----------------------------------------------------------------------------------- */

enum { LANE_TENSOR = 1, LANE_GROUP, LANE_SLOT = LANE_GROUP + PIPELINE_GROUPS_MAX };

static void put_span(FILE *out, int lane, const char *name, int64_t begin, int64_t end, int tile) {
  fprintf(out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%jd,\"dur\":%jd,\"name\":\"%s\",\"args\":{\"tile\":%d}}",
          lane, begin, end - begin, name, tile);
}

/* From a load's issue until the slot is given to the next tile. */
static void put_slots(FILE *out, const Pipeline *p) {
  for (int t = 0; t < p->n_tiles[0]; t++)
    for (int is_V = 0; is_V < 2; is_V++) {
      const int64_t begin = p->stamps[0][t][2 * is_V + 1],
                    end = t + 2 < p->n_tiles[0] ? p->stamps[0][t + 2][2 * is_V + 1] : p->end;
      if (begin >= 0 && end > begin)
        put_span(out, LANE_SLOT + (2 * t + is_V) % PIPELINE_SLOTS, p->kernel->slots[is_V], begin, end, t);
    }
}

void pipeline_trace(FILE *out, const Pipeline *p) {
  fprintf(out,
          "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{"
          "\"name\":\"%s on an H100, one SM: %d heads, N %d, d %d%s; a microsecond is a cycle\"}}",
          p->kernel->name, p->heads, p->N, p->d, p->causal ? ", causal" : "");
  name_lane(out, 1, LANE_TENSOR, "tensor cores, drawn at peak rate");
  char name[64];
  for (int g = 0; g < p->n_groups; g++) {
    snprintf(name, sizeof name, "%s %c", p->kernel->group, 'A' + g);
    name_lane(out, 1, LANE_GROUP + g, name);
  }
  for (int slot = 0; slot < PIPELINE_SLOTS && p->n_tiles[0] > 0; slot++) {
    snprintf(name, sizeof name, "slot %d", slot);
    name_lane(out, 1, LANE_SLOT + slot, name);
  }
  for (int k = 0; k < p->n_tensor; k++) {
    snprintf(name, sizeof name, "products %c", 'A' + p->tensor[k].group);
    put_span(out, LANE_TENSOR, name, p->tensor[k].begin, p->tensor[k].end, p->tensor[k].tile);
  }
  for (int k = 0; k < p->n_spans; k++)
    put_span(out, LANE_GROUP + p->spans[k].group, p->spans[k].word, p->spans[k].begin, p->spans[k].end,
             p->spans[k].tile);
  put_slots(out, p);
  fputs(CHROME_TRACE.tail, out);
}
