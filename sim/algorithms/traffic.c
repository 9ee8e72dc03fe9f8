#include "sim/algorithms/traffic.h"

void traffic_add(Traffic *t, const Program *program, const Event *event) {
  t->steps++;
  t->flops += event->flops;
  if (event->kind == EVENT_LOAD) t->read[event->tensor] += event->bytes;
  if (event_goes_out(event->kind)) t->write[event->tensor] += event->bytes;
  if (event->kind == EVENT_ADD) t->added += event->bytes;
  if (event->kind == EVENT_SKIP || program->ops[event->op].counts_tile) t->tiles[event->tile]++;
}

bool traffic_equal(const Traffic *a, const Traffic *b) {
  for (int k = 0; k < TENSORS_MAX; k++) {
    if (a->read[k] != b->read[k] || a->write[k] != b->write[k]) return false;
  }
  for (int k = 0; k < TILE_KIND_COUNT; k++) {
    if (a->tiles[k] != b->tiles[k]) return false;
  }
  return a->added == b->added && a->flops == b->flops && a->steps == b->steps;
}

Traffic traffic_since(const Traffic *before, const Traffic *now) {
  Traffic t = {
      .flops = now->flops - before->flops, .added = now->added - before->added, .steps = now->steps - before->steps};
  for (int k = 0; k < TENSORS_MAX; k++) {
    t.read[k] = now->read[k] - before->read[k];
    t.write[k] = now->write[k] - before->write[k];
  }
  return t;
}

void traffic_scale(Traffic *t, Wide n_heads, bool *overflow) {
  for (int k = 0; k < TENSORS_MAX; k++) {
    t->read[k] = checked_mul(t->read[k], n_heads, overflow);
    t->write[k] = checked_mul(t->write[k], n_heads, overflow);
  }
  t->added = checked_mul(t->added, n_heads, overflow);
  t->flops = checked_mul(t->flops, n_heads, overflow);
  t->steps = checked_mul(t->steps, n_heads, overflow);
}

static Wide sum(const Wide *values, bool *overflow) {
  Wide total = 0;
  for (int k = 0; k < TENSORS_MAX; k++) total = checked_add(total, values[k], overflow);
  return total;
}

Wide traffic_read_bytes(const Traffic *t, bool *overflow) { return sum(t->read, overflow); }
Wide traffic_write_bytes(const Traffic *t, bool *overflow) { return sum(t->write, overflow); }
