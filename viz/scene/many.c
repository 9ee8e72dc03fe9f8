#include "viz/scene/many.h"

/* ---- The cache --------------------------------------------------------------------------------------------------- */

static KvDtype cache_dtype(const Shape *s) {
  switch (s->has_kv_dtype ? s->kv_dtype : s->dtype) {
  case DTYPE_FP32: return KV_FP32;
  case DTYPE_BF16: return KV_BF16;
  case DTYPE_FP8: return KV_FP8;
  case DTYPE_INT8: return KV_INT8;
  default: return KV_FP16;
  }
}

static KvCache cache_of(const Snapshot *now) {
  const Shape *s = &now->launched;
  KvCache c = {.layers = 1,
               .kv_heads = s->v_in_k ? 0 : s->kv_heads,
               .d = s->v_in_k ? 0 : s->d,
               .d_v = s->v_in_k || s->d_v == s->d ? 0 : s->d_v,
               .latent = s->v_in_k ? s->d : 0,
               .dtype = cache_dtype(s),
               .page_tokens = now->pages.page};
  if (kvcache_complete(&c, NULL)) c.page_tokens = 16;
  return c;
}

/* Of one sequence: heads that are packed are rows of a tile. */
static int64_t queries_of(const Snapshot *now) {
  return now->launched.N_q / (now->problem.shape.group > 1 ? now->problem.shape.group : 1);
}

/* ---- What a row has read ----------------------------------------------------------------------------------------- */

/* The part of the loads of K that has happened. */
static double part_loaded(const Snapshot *now) {
  const int K = snapshot_operand(now, 1);
  if (K >= 0 && K < TENSORS_MAX && now->whole.read[K] > 0) return part_of(now->traffic.read[K], now->whole.read[K]);
  return now->n_steps ? (double)now->step / (double)now->n_steps : 0;
}

/* At the walk's pace, from its end of the row on. */
static void read_along(const Snapshot *now, int64_t pace, ManyRow *r) {
  const int64_t keys = r->keys - r->first, tile = now->grid.B_c;
  r->read = min64(keys, (int64_t)lround(part_loaded(now) * (double)pace));
  if (!now->has_event || now->step == now->n_steps || r->read == 0 || r->read == keys) return;
  r->end = r->first + r->read;
  r->at = max64(r->first, r->end - ((r->read - 1) % tile + 1));
}

/* Keys that row block i of a prompt reads, in whole tiles. */
static int64_t block_end(const Snapshot *now, int64_t i, const ManyRow *r) {
  const SnapshotGrid *g = &now->grid;
  return min64(r->keys, ceil_div((i + 1) * g->B_r + g->N_k - g->N_q, g->B_c) * g->B_c);
}

/* Of the chunk at work: what a row block before has read, and this one up to its present tile. */
static void read_chunk(const Snapshot *now, const Many *m, int64_t k, ManyRow *r) {
  const SnapshotGrid *g = &now->grid;
  const Event *e = &now->event;
  const int64_t begin = ceil_div(k * m->chunk, g->B_r), end = min64(ceil_div((k + 1) * m->chunk, g->B_r), g->T_r),
                own = max64(r->first, block_end(now, e->i, r));
  int64_t before = r->first, now_read = 0;
  if (g->order.rows_reversed && e->i < end - 1) before = max64(before, block_end(now, end - 1, r));
  if (!g->order.rows_reversed && e->i > begin) before = max64(before, block_end(now, e->i - 1, r));
  if (e->j < 0) {
    now_read = e->kind == EVENT_LOAD ? 0 : max64(0, own - before);
  } else {
    r->at = min64(max64(r->first, e->j * g->B_c), own), r->end = max64(r->at, min64(own, (e->j + 1) * g->B_c));
    now_read = g->reversed ? own - max64(before, r->at) : r->end - before;
  }
  r->read = before - r->first + max64(0, now_read);
}

static ManyRow row_of(const Snapshot *now, const Many *m, int64_t k) {
  ManyRow r = {.keys = m->longest, .is_there = true};
  const bool is_over = now->step == now->n_steps || (now->has_event && now->event.pass > 0);
  if (m->kind == MANY_SPLITS) {
    const int64_t part = ceil_div(now->grid.T_c, m->n) * now->grid.B_c;
    r.first = min64(k * part, m->longest), r.keys = min64((k + 1) * part, m->longest);
    read_along(now, part, &r);
    return r;
  }
  if (m->kind == MANY_CHUNKS) r.keys = min64((k + 1) * m->chunk, m->longest);
  if (m->kind == MANY_SEQUENCES && now->pages.n) r.keys = now->pages.lengths[k];
  const int64_t fresh = m->kind == MANY_CHUNKS ? r.keys - k * m->chunk : queries_of(now), window = now->launched.window;
  if (window) r.first = max64(0, r.keys - fresh + 1 - window);
  if (m->kind == MANY_SEQUENCES || now->grid.column_by_column) {
    read_along(now, m->longest - (window ? max64(0, m->longest - fresh + 1 - window) : 0), &r);
    return r;
  }
  const bool back = now->grid.order.rows_reversed; /* from the last chunk to the first: all are there */
  r.is_there = k <= m->present || is_over || back;
  if (is_over || (now->has_event && (back ? k > m->present : k < m->present)))
    r.read = r.keys - r.first;
  else if (now->has_event && k == m->present)
    read_chunk(now, m, k, &r);
  return r;
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static void count_pages(const Snapshot *now, Many *m) {
  const bool is_one = m->kind != MANY_SEQUENCES;
  const int64_t n = is_one ? 1 : m->n, counted = now->pages.n ? n : 1; /* those of a batch are alike */
  for (int64_t k = 0; k < counted; k++) {
    const KvState one = kvcache_seek(&m->cache, is_one ? m->longest : row_of(now, m, k).keys);
    m->pages += wide(n / counted) * wide(one.pages), m->used_bytes += wide(n / counted) * one.bytes;
  }
  m->saved_pages = wide(kvcache_seek(&m->cache, m->shared).pages) * wide(n - 1);
  m->pages -= m->saved_pages;
}

/* The first row reads the prefix for all. */
static void count_reads(const Snapshot *now, Many *m) {
  const int64_t counted = m->kind == MANY_SEQUENCES && !now->pages.n ? 1 : m->n;
  const Wide token = kvcache_bytes_per_token(&m->cache) * wide(m->n / counted);
  for (int64_t k = 0; k < counted; k++) {
    const ManyRow r = row_of(now, m, k);
    const int64_t others = k && m->kind == MANY_SEQUENCES ? max64(0, m->shared - r.first) : 0;
    m->read_bytes += token * wide(max64(0, r.read - others));
    m->whole_bytes += token * wide(r.keys - r.first - others);
  }
}

/* A CTA for each head and row block, or as the program has them; of the present kernel. */
static void count_ctas(const Snapshot *now, Many *m) {
  const Shape *s = &now->launched;
  Wide head = wide(schedule_owns_columns(now->schedule) ? now->grid.T_c : now->grid.T_r);
  if (now->schedule->whole_head) head = 1;
  m->ctas_unsplit = wide(max64(1, now->pages.n ? now->pages.n : s->batch)) * wide(max64(1, s->heads)) * head;
  m->ctas = m->ctas_unsplit * wide(max64(1, now->problem.tiling.n_splits));
  m->sms = wide(now->gpu.n_sm);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

ManyBlock many_block(const Many *m, int64_t r, int64_t k) {
  for (int64_t t = 0; t < m->n; t++) {
    const RankStep step = ranks_step(&m->ranks, t, r);
    if (step.keys_of == k) return (ManyBlock){t, step.piece, m->ranks.pieces[step.piece].pairs};
  }
  return (ManyBlock){-1, RANK_PIECE_NONE, 0};
}

/* A beat is as long as its longest block takes; a rank is busy for its own pairs' share of it. `done`: of all beats. */
static void count_beats(Many *m, double done) {
  double longest[RING_RANKS_MAX] = {0}, all = 0, pairs = 0;
  for (int64_t t = 0; t < m->n; t++) {
    for (int64_t r = 0; r < m->n; r++) {
      const double own = (double)m->ranks.pieces[ranks_step(&m->ranks, t, r).piece].pairs;
      longest[t] = fmax(longest[t], own);
      pairs += own;
    }
    all += longest[t];
  }
  m->idle = 1 - pairs / (all * (double)m->n);
  double left = done * all;
  while (m->beat < m->n && (done >= 1 || left >= longest[m->beat])) left -= longest[m->beat++];
  m->part = m->beat < m->n ? left / longest[m->beat] : 0;
  for (int64_t t = 0; t < m->n; t++)
    for (int64_t r = 0; r < m->n; r++) {
      const RankStep step = ranks_step(&m->ranks, t, r);
      m->all_bytes += step.sent_bytes;
      if (t < m->beat) m->sent_bytes += step.sent_bytes;
      m->idle_ranks += t == m->beat && step.piece == RANK_PIECE_NONE;
    }
}

static void make_ranks(Many *m, const Snapshot *now, double phase) {
  Gpu gpu = now->gpu;
  if (gpu.n_sm == 0) gpu_paper(&gpu);
  const Problem problem = {.shape = shape_unpacked(&now->launched), .machine = machine_of_gpu(&gpu)};
  const GpuLink link = {.bytes_per_s = 1, .name = "any"};
  const bool is_said = now->ring.scheme == SCHEME_RING && now->schedule->ranks.is_said && !now->schedule->declares;
  const RanksAsked asked = {.scheme = now->ring.scheme,
                            .n = m->n,
                            .problem = &problem,
                            .gpu = &gpu,
                            .link = &link,
                            .program = is_said ? now->schedule : NULL};
  if (ranks_make(&m->ranks, &asked, &m->error)) return;
  m->n = m->ranks.n;
  const double happened = (double)now->step - (phase > 0 && phase < 1 ? 1 - phase : 0);
  count_beats(m, now->n_steps ? fmax(0, happened) / (double)now->n_steps : 0);
}

/* ---- All of it --------------------------------------------------------------------------------------------------- */

static ManyKind kind_of(const Snapshot *now) {
  if (now->ring.n || now->ring.scheme != SCHEME_RING) return MANY_RANKS;
  if (now->pages.n) return MANY_SEQUENCES;
  if (now->problem.tiling.n_splits > 1) return MANY_SPLITS;
  const int64_t n = queries_of(now);
  return now->launched.causal && n > 1 && n == now->launched.N_k ? MANY_CHUNKS : MANY_SEQUENCES;
}

void many_make(Many *m, const Snapshot *now, double phase) {
  const ServedPages *p = &now->pages;
  memset(m, 0, sizeof *m);
  m->kind = kind_of(now);
  m->cache = cache_of(now);
  m->longest = now->launched.N_k;
  m->chunk = min64(max64(p->chunk ? p->chunk : now->grid.B_r, ceil_div(m->longest, SERVING_CHUNKS_MAX)), m->longest);
  switch (m->kind) {
  case MANY_RANKS: m->n = now->ring.n ? now->ring.n : 4; break;
  case MANY_SPLITS: m->n = now->problem.tiling.n_splits; break;
  case MANY_CHUNKS: m->n = ceil_div(m->longest, m->chunk); break;
  default: m->n = p->n ? p->n : now->launched.batch;
  }
  m->loaded = part_loaded(now);
  count_ctas(now, m);
  if (m->kind == MANY_RANKS) {
    make_ranks(m, now, phase);
    return;
  }
  if (m->kind == MANY_SEQUENCES) m->shared = kvcache_shared(&m->cache, p->prefix);
  if (now->has_event) m->present = min64(max64(now->event.i, 0) * now->grid.B_r / m->chunk, m->n - 1);
  m->n_shown = min64(m->n, MANY_ROWS);
  if (m->kind == MANY_CHUNKS) m->first_shown = max64(0, min64(m->present - m->n_shown / 2, m->n - m->n_shown));
  for (int64_t k = 0; k < m->n_shown; k++) m->rows[k] = row_of(now, m, m->first_shown + k);
  count_pages(now, m);
  count_reads(now, m);
}
