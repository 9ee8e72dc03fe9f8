#include "sim/l2/chiplets.h"

#include <math.h>

enum { CTAS_MOST = 1 << 20, SLOTS_MOST = 1024 };

/* K and V of one KV head of one batch, as far as a wave reads them. */
typedef struct {
  int64_t head;
  double keys;
} Held;

typedef struct {
  Held held[SLOTS_MOST];
  int n;
} Wave;

static Held *find(Wave *w, int64_t head) {
  for (int k = 0; k < w->n; k++)
    if (w->held[k].head == head) return &w->held[k];
  return NULL;
}

static double keys_of(const Plan *p, int64_t row_block) {
  const double last = (double)(row_block + 1) * (double)p->tiling.B_r, N_k = (double)p->shape.N_k;
  if (!p->shape.causal) return N_k;
  const double group = (double)(p->shape.group ? p->shape.group : 1);
  return fmin(N_k, fmax(ceil(last / group) + N_k - (double)p->shape.N_q / group, 0));
}

/* One wave of a chiplet: adds what it asks for and misses; `before` is what the last one left. */
static void end_wave(Chiplets *c, Wave *now, Wave *before, double key_bytes, double room) {
  double all = 0;
  for (int k = 0; k < now->n; k++) {
    const Held *was = find(before, now->held[k].head);
    const double left = was ? fmin(was->keys, now->held[k].keys) : 0;
    c->missed_bytes += (now->held[k].keys - left) * key_bytes;
    all += now->held[k].keys * key_bytes;
  }
  *before = *now;
  if (all > room) before->n = 0; /* has pushed itself out */
  now->n = 0;
}

static bool says_something(const Launch *l, const Plan *p, const Gpu *gpu) {
  const Shape *s = &p->shape;
  return gpu->l2_cta_run > 0 && gpu->l2_partitions > 1 && !l->config.persistent && !l->config.whole_head &&
         l->n_splits == 1 && l->n_pieces <= CTAS_MOST && !s->pattern && !s->window && !s->sided && !s->top_left &&
         l->n_slots / gpu->l2_partitions <= SLOTS_MOST && l->n_slots >= gpu->l2_partitions;
}

bool chiplets_run(Chiplets *c, const Launch *l, const Plan *p, const Gpu *gpu) {
  if (!says_something(l, p, gpu)) return false;
  const int64_t n = gpu->l2_partitions, run = gpu->l2_cta_run, slots = l->n_slots / n;
  const int64_t group = p->shape.heads / p->shape.kv_heads;
  const double key_bytes = plan_key_bytes(p), room = (double)gpu->l2_bytes / (double)n;
  *c = (Chiplets){0};
  for (int64_t x = 0; x < n; x++) {
    Wave now = {.n = 0}, before = {.n = 0};
    int64_t in_wave = 0;
    for (int64_t first = x * run; first < l->n_pieces; first += n * run)
      for (int64_t k = first; k < first + run && k < l->n_pieces; k++) {
        const LaunchPiece piece = launch_piece(l, k);
        const int64_t rows = p->shape.N_q - piece.row_block * p->tiling.B_r;
        const double q = (double)(rows < p->tiling.B_r ? rows : p->tiling.B_r) * (double)p->shape.d * p->element_bytes;
        const double keys = keys_of(p, piece.row_block);
        const int64_t head = piece.batch * p->shape.kv_heads + piece.head / group;
        Held *held = find(&now, head);
        if (!held) held = &now.held[now.n++], *held = (Held){.head = head};
        held->keys = fmax(held->keys, keys);
        c->read_bytes += q + keys * key_bytes;
        c->missed_bytes += q;
        if (++in_wave % slots == 0) end_wave(c, &now, &before, key_bytes, room);
      }
    end_wave(c, &now, &before, key_bytes, room);
  }
  return true;
}
