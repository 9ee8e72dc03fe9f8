#include "kernels/counters/kernel_model.h"

#include <string.h>

#include "sim/algorithms/schedule.h"

static Status decode_kernel(const KernelModel *model, const Plan *plan, WideTraffic *t, bool *overflow, Error *error);
static Status backward_kernel(const KernelModel *model, const Plan *plan, WideTraffic *t, bool *overflow, Error *error);
static void naive_kernel(const Plan *plan, WideTraffic *t, bool *overflow);
static void tiled_kernel(const Plan *plan, WideTraffic *t, bool *overflow);

const KernelModel KERNEL_MODELS[] = {
    {.name = "standard_naive",
     .schedule = "standard",
     .walks_masked = true,
     .hits_l1 = true,
     .only_block = 1,
     .unfused = naive_kernel},
    {.name = "standard_tiled", .schedule = "standard", .walks_masked = true, .only_block = 64, .unfused = tiled_kernel},
    {.name = "fa1", .schedule = "fa1", .walks_masked = true},
    {.name = "fa2_scalar", .schedule = "fa2", .walks_masked = true},
    {.name = "fa2_causal", .schedule = "fa2"},
    {.name = "fa2_tensor", .schedule = "fa2", .uses_mma = true},
    {.name = "fa2_async", .schedule = "fa2", .uses_mma = true},
    {.name = "fa2_wgmma", .schedule = "fa2", .reads_boxes = true},
    {.name = "fa3_overlap", .schedule = "fa2", .reads_boxes = true, .takes_blocks = true},
    {.name = "fa2_decode", .schedule = "fa2-split", .counted = decode_kernel},
    {.name = "fa2_decode_paged",
     .schedule = "fa2-split",
     .hits_l1 = true,
     .reads_pages = true,
     .counted = decode_kernel},
    {.name = "fa2_backward", .schedule = "fa2", .walks_once = true, .counted = backward_kernel},
    {.name = "fa2_backward_twice", .schedule = "fa2", .counted = backward_kernel},
    {.name = "fa3_backward", .schedule = "fa2", .walks_once = true, .counted = backward_kernel},
};
const int N_KERNEL_MODELS = (int)COUNT_OF(KERNEL_MODELS);

const KernelModel *kernel_model_find(const char *name) {
  for (int i = 0; i < N_KERNEL_MODELS; i++)
    if (!strcmp(KERNEL_MODELS[i].name, name)) return &KERNEL_MODELS[i];
  return NULL;
}

const char *kernel_tensor_name(int tensor) {
  static const char *const NAMES[KERNEL_TENSORS] = {"Q",     "K",     "V",  "S",  "P",  "O",
                                                    "stats", "pages", "dO", "dQ", "dK", "dV"};
  return NAMES[tensor];
}

static Status narrow(const Wide *from, uint64_t *bytes, Error *error) {
  for (int t = 0; t < KERNEL_TENSORS; t++) {
    if (from[t] > UINT64_MAX)
      return error_set(error, STATUS_TOO_LARGE,
                       "the kernel would move 2^64 bytes of %s or more: choose a smaller shape", kernel_tensor_name(t));
    bytes[t] = (uint64_t)from[t];
  }
  return STATUS_OK;
}

static Status finish(const WideTraffic *t, bool overflow, KernelTraffic *traffic, Error *error) {
  *traffic = (KernelTraffic){0};
  if (overflow) return error_set(error, STATUS_TOO_LARGE, "the traffic does not fit 128 bits: choose a smaller shape");
  const Status status = narrow(t->read, traffic->read, error);
  return status ? status : narrow(t->write, traffic->write, error);
}

static Status finish_heads(WideTraffic *per_head, const Shape *shape, bool overflow, KernelTraffic *traffic,
                           Error *error) {
  const Wide heads = wide(shape->batch) * wide(shape->heads);
  for (int t = 0; t < KERNEL_TENSORS; t++) {
    per_head->read[t] = checked_mul(per_head->read[t], heads, &overflow);
    per_head->write[t] = checked_mul(per_head->write[t], heads, &overflow);
  }
  return finish(per_head, overflow, traffic, error);
}

/* The program's tensors go by their names. */
static void take_program(const Schedule *s, const Traffic *traffic, WideTraffic *t) {
  for (int row = 0; row < s->n_tensors; row++)
    for (int k = 0; k < KERNEL_TENSORS; k++) {
      if (strcmp(s->tensors[row].text, kernel_tensor_name(k)) != 0) continue;
      t->read[k] = traffic->read[row];
      t->write[k] = traffic->write[row];
    }
}

/* Elements per head; the formulas in the heads of kernels/ladder/standard_naive.cu and standard_tiled.cu. */
static void unfused_kernel(const Plan *plan, bool tiled, WideTraffic *t, bool *overflow) {
  const Wide N_q = wide(plan->shape.N_q), N_k = wide(plan->shape.N_k), d = wide(plan->shape.d);
  const Wide e = (Wide)(unsigned)plan->element_bytes;
  const Wide scores = checked_mul(N_q * N_k, e, overflow), scores_d = checked_mul(scores, d, overflow);
  const Wide T_r = wide(ceil_div(plan->shape.N_q, 64)), T_c = wide(ceil_div(plan->shape.N_k, 64));
  const Wide T_d = wide(ceil_div(plan->shape.d, 64));
  t->read[KERNEL_Q] = tiled ? T_c * N_q * d * e : scores_d;
  t->read[KERNEL_K] = t->read[KERNEL_V] = tiled ? T_r * N_k * d * e : scores_d;
  t->read[KERNEL_S] = checked_mul(scores, tiled ? 2 : 3, overflow);
  t->read[KERNEL_P] = tiled ? checked_mul(scores, T_d, overflow) : scores_d;
  t->write[KERNEL_S] = t->write[KERNEL_P] = scores;
  t->write[KERNEL_O] = N_q * d * e;
}

static void naive_kernel(const Plan *plan, WideTraffic *t, bool *overflow) { unfused_kernel(plan, false, t, overflow); }
static void tiled_kernel(const Plan *plan, WideTraffic *t, bool *overflow) { unfused_kernel(plan, true, t, overflow); }

static int64_t smaller(int64_t x, int64_t y) { return x < y ? x : y; }

/* kernels/ladder/fa2_decode.cu. The query heads of a KV head are packed, row = query x group + head, and cut into
 * blocks of B_r rows; a block walks the tiles of B_c keys that its last row sees, tiles_per_split of them in each
 * split.
 *
 *     K, V      once for each block of rows: the keys of these tiles
 *     Q         the block's rows, in each split that has such a tile
 *     O, stats  n splits: n x (d fp32 of O, and one of stats) for each row, written and read again; then O, once
 *     pages     an entry of 4 bytes for each 16 keys of K and V (a warp's share of a tile)
 *
 * A loop over row blocks, because a mask's diagonal moves once in `group` rows; decode has few. */
static Status decode_kernel(const KernelModel *model, const Plan *plan, WideTraffic *t, bool *overflow, Error *error) {
  enum { MAX_BLOCKS = 1 << 20, CHUNK_KEYS = 16, PAGE_ENTRY_BYTES = 4, PART_BYTES = 4 };
  const Shape *s = &plan->shape;
  const int64_t group = s->heads / s->kv_heads, rows = s->N_q * group, n_splits = plan->tiling.n_splits;
  const int64_t n_blocks = ceil_div(rows, plan->tiling.B_r);
  if (n_blocks > MAX_BLOCKS)
    return error_set(error, STATUS_TOO_LARGE, "%s is for few queries: at most %d blocks of %lld packed rows, not %lld",
                     model->name, MAX_BLOCKS, (long long)plan->tiling.B_r, (long long)n_blocks);
  Wide keys_read = 0, rows_read = 0, chunks = 0;
  for (int64_t b = 0; b < n_blocks; b++) {
    const int64_t end = smaller(rows, (b + 1) * plan->tiling.B_r), last_query = (end - 1) / group;
    const int64_t seen = s->causal ? last_query + 1 + s->N_k - s->N_q : s->N_k;
    if (seen <= 0) continue;
    const int64_t tiles = ceil_div(seen, plan->tiling.B_c), keys = smaller(tiles * plan->tiling.B_c, s->N_k);
    keys_read += wide(keys);
    chunks += wide(ceil_div(keys, CHUNK_KEYS));
    rows_read += wide((end - b * plan->tiling.B_r) * ceil_div(tiles, plan->tiles_per_split));
  }
  const Wide kv = wide(s->batch) * wide(s->kv_heads), d = wide(s->d), row_bytes = d * wide(plan->element_bytes);
  const Wide rows_out = kv * wide(rows), parts = n_splits > 1 ? rows_out * wide(n_splits) : 0;
  t->read[KERNEL_Q] = checked_mul(kv * rows_read, row_bytes, overflow);
  t->read[KERNEL_K] = t->read[KERNEL_V] = checked_mul(checked_mul(kv, keys_read, overflow), row_bytes, overflow);
  t->read[KERNEL_O] = t->write[KERNEL_O] = checked_mul(parts, d * PART_BYTES, overflow);
  t->read[KERNEL_STATS] = t->write[KERNEL_STATS] = parts * STATS_BYTES;
  t->write[KERNEL_O] = checked_add(t->write[KERNEL_O], checked_mul(rows_out, row_bytes, overflow), overflow);
  if (model->reads_pages) t->read[KERNEL_PAGES] = checked_mul(kv, chunks * PAGE_ENTRY_BYTES, overflow);
  return STATUS_OK;
}

/* kernels/ladder/fa2_backward.cu, fa3_backward.cu. tiles: those of B_r x B_c that the mask leaves, of a query head;
 * queries: the rows in them, added up over column blocks, and keys: the keys in them, added up over row blocks
 * (sim/problem/band.h). N_p = T_r B_r.
 *
 *                 prepare            column blocks                     dQ once: convert      twice: row blocks
 *     Q           -                  queries d                         -                     rows that see a key x d
 *     K, V        -                  N_k d for each KV head            -                     keys d
 *     O           N_q d              -                                 -                     -
 *     dO          N_q d              queries d                         -                     as Q
 *     stats       reads N_q fp32,    2 B_r fp32 a tile                 -                     2 B_r fp32 for each row
 *                 writes 2 N_p                                                               block that sees a key
 *     dQ          once: writes       once: adds, which are writes,     reads N_p d fp32,     writes N_q d
 *                 N_p d fp32         B_r d fp32 a tile                 writes N_q d
 *     dK, dV      -                  writes N_k d for each KV head     -                     -  */
static Status backward_kernel(const KernelModel *model, const Plan *plan, WideTraffic *t, bool *overflow,
                              Error *error) {
  enum { FP32_BYTES = 4 };
  (void)error;
  const bool once = model->walks_once;
  const Tiling *tile = &plan->tiling;
  const BandCount columns = band_count(&plan->keys, tile->B_c, tile->B_r, plan->T_c);
  const BandCount rows = band_count(&plan->band, tile->B_r, tile->B_c, plan->T_r);
  const Wide heads = wide(plan->shape.batch) * wide(plan->shape.heads), d = wide(plan->shape.d);
  const Wide kv_heads = wide(plan->shape.batch) * wide(plan->shape.kv_heads);
  const Wide N_q = wide(plan->shape.N_q), N_p = wide(plan->T_r) * wide(tile->B_r), B_r = wide(tile->B_r);
  const Wide row_bytes = checked_mul(heads, d * wide(plan->element_bytes), overflow); /* of one row in every head */
  const Wide kv_bytes = checked_mul(kv_heads * wide(plan->shape.N_k), d * wide(plan->element_bytes), overflow);
  const Wide walked = wide(plan->T_r - rows.n_empty), blind = wide(rows.n_empty) * B_r;
  const Wide walked_rows = blind < N_q ? N_q - blind : 0;
  t->read[KERNEL_Q] = checked_mul(columns.cols + (once ? 0 : walked_rows), row_bytes, overflow);
  t->read[KERNEL_dO] = checked_add(t->read[KERNEL_Q], checked_mul(N_q, row_bytes, overflow), overflow);
  t->read[KERNEL_O] = checked_mul(N_q, row_bytes, overflow);
  t->read[KERNEL_K] = checked_add(kv_bytes, once ? 0 : checked_mul(rows.cols, row_bytes, overflow), overflow);
  t->read[KERNEL_V] = t->read[KERNEL_K];
  const Wide stats = N_q + 2 * B_r * (columns.computed + (once ? 0 : walked));
  t->read[KERNEL_STATS] = checked_mul(heads * FP32_BYTES, stats, overflow);
  t->write[KERNEL_STATS] = checked_mul(heads * FP32_BYTES, 2 * N_p, overflow);
  t->write[KERNEL_dQ] = checked_mul(N_q, row_bytes, overflow);
  t->write[KERNEL_dK] = t->write[KERNEL_dV] = kv_bytes;
  if (!once) return STATUS_OK;
  t->read[KERNEL_dQ] = checked_mul(heads * FP32_BYTES, N_p * d, overflow);
  const Wide added = checked_mul(columns.computed, B_r * d, overflow);
  t->write[KERNEL_dQ] = checked_add(
      t->write[KERNEL_dQ], checked_mul(heads * FP32_BYTES, checked_add(added, N_p * d, overflow), overflow), overflow);
  return STATUS_OK;
}

Status kernel_model_traffic(const KernelModel *model, const Shape *shape, const Tiling *tiling, KernelTraffic *traffic,
                            Error *error) {
  if (!model->unfused) return kernel_model_ideal(model, shape, tiling, traffic, error);
  Shape unmasked = *shape;
  unmasked.causal = false;
  Plan plan;
  const Status status = plan_make(&plan, &unmasked, tiling, error);
  if (status) return status;
  bool overflow = false;
  WideTraffic per_head = {{0}, {0}};
  model->unfused(&plan, &per_head, &overflow);
  return finish_heads(&per_head, &plan.shape, overflow, traffic, error);
}

Status kernel_model_ideal(const KernelModel *model, const Shape *shape, const Tiling *tiling, KernelTraffic *traffic,
                          Error *error) {
  Shape walked = *shape;
  if (model->walks_masked) walked.causal = false;
  Plan plan;
  WideTraffic t = {{0}, {0}};
  bool overflow = false;
  Status status = plan_make(&plan, &walked, tiling, error);
  if (!status && model->counted) status = model->counted(model, &plan, &t, &overflow, error);
  if (status) return status;
  if (model->counted) return finish(&t, overflow, traffic, error);
  const Schedule *schedule = schedule_find(model->schedule);
  Traffic per_head = {0};
  schedule_traffic(schedule, &plan, &per_head, &overflow);
  take_program(schedule, &per_head, &t);
  return finish_heads(&t, &plan.shape, overflow, traffic, error);
}

static uint64_t sum(const uint64_t *bytes) {
  uint64_t total = 0;
  for (int t = 0; t < KERNEL_TENSORS; t++) total += bytes[t];
  return total;
}

uint64_t kernel_traffic_read(const KernelTraffic *traffic) { return sum(traffic->read); }
uint64_t kernel_traffic_write(const KernelTraffic *traffic) { return sum(traffic->write); }
