#include "viz/cli/trace/trace_pipeline.h"

#include <inttypes.h>

enum { LANE_TENSOR = 1, LANE_GROUP, LANE_SLOT = LANE_GROUP + PIPELINE_GROUPS_MAX };

static void name_lane(FILE *out, int lane, const char *name, int index) {
  fprintf(out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":\"", lane);
  fprintf(out, index < 0 ? "%s" : "%s %c", name, index);
  fputs("\"}}", out);
}

static void put_span(FILE *out, int lane, const char *name, int64_t begin, int64_t end, int tile) {
  fprintf(out,
          ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%" PRId64 ",\"dur\":%" PRId64
          ",\"name\":\"%s\",\"args\":{\"tile\":%d}}",
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
  name_lane(out, LANE_TENSOR, "tensor cores, drawn at peak rate", -1);
  for (int g = 0; g < p->n_groups; g++) name_lane(out, LANE_GROUP + g, p->kernel->group, 'A' + g);
  for (int slot = 0; slot < PIPELINE_SLOTS && p->n_tiles[0] > 0; slot++)
    name_lane(out, LANE_SLOT + slot, "slot", '0' + slot);
  for (int k = 0; k < p->n_tensor; k++) {
    const char name[] = {'p', 'r', 'o', 'd', 'u', 'c', 't', 's', ' ', (char)('A' + p->tensor[k].group), '\0'};
    put_span(out, LANE_TENSOR, name, p->tensor[k].begin, p->tensor[k].end, p->tensor[k].tile);
  }
  for (int k = 0; k < p->n_spans; k++)
    put_span(out, LANE_GROUP + p->spans[k].group, p->spans[k].word, p->spans[k].begin, p->spans[k].end,
             p->spans[k].tile);
  put_slots(out, p);
  fputs("\n]}\n", out);
}
