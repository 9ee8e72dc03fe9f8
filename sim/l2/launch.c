#include "sim/l2/launch.h"

#include <math.h>

enum {
  SMEM_GRANULE = 128,
  REGISTER_GRANULE = 256,
  SM_PARTITIONS = 4
}; /* cuda_occupancy.h, compute capability 7.0 to 10.0 */

const char *const LAUNCH_ORDER_NAMES[] = {"query-batch-head", "query-head-batch", "head-query-batch",
                                          "head-batch-query", NULL};
const char *const LAUNCH_ROWS_NAMES[] = {"ascending", "descending", "longest-first", NULL};
const char *const LAUNCH_WALK_NAMES[] = {"forward", "reversed", NULL};
const char *const PACKING_NAMES[] = {"usual", "never", "one-query", "fill", "always", NULL};
const char *const SPLITTING_NAMES[] = {"never", "fill", "power-of-two", "fewest", "hopper", NULL};

const char *occupancy_limit_name(OccupancyLimit limit) {
  static const char *const names[] = {"shared memory", "registers",  "threads",
                                      "CTAs per SM",   "the kernel", "nothing known"};
  return names[limit];
}

/* The part of the rows of whole tiles that are used. */
static double rows_used(int64_t rows, int64_t B_r) {
  return (double)rows / ((double)ceil_div(rows, B_r) * (double)B_r);
}

bool packing_packs(Packing packing, int64_t N_q, int64_t group, int64_t B_r, bool has_window, bool splits) {
  if (group <= 1 || packing == PACKING_NEVER) return false;
  if (packing == PACKING_ALWAYS) return true;
  if (packing == PACKING_ONE_QUERY) return N_q == 1 && !has_window;
  return splits || rows_used(N_q, B_r) < 0.9 * rows_used(N_q * group, B_r);
}

static int64_t fill(Wide n_ctas, int64_t n_SM, int64_t T_c, bool may_be_empty) {
  if ((double)n_ctas >= 0.8 * (double)n_SM) return 1;
  int64_t most = 128;
  if (most > n_SM) most = n_SM;
  if (most > T_c) most = T_c;
  double efficiency[129], best = 0;
  for (int64_t s = 1; s <= most; s++) {
    const bool same_as_fewer = !may_be_empty && s > 1 && ceil_div(T_c, s) == ceil_div(T_c, s - 1);
    const double waves = (double)n_ctas * (double)s / (double)n_SM;
    efficiency[s] = same_as_fewer ? 0 : waves / ceil(waves);
    if (efficiency[s] > best) best = efficiency[s];
  }
  for (int64_t s = 1; s <= most; s++) {
    if (efficiency[s] >= 0.85 * best) return s;
  }
  return 1;
}

int64_t split_choose(Wide n_ctas, int64_t n_SM, int64_t T_c) { return fill(n_ctas, n_SM, T_c, false); }

/* The part of the slots of all waves that CTAs fill. */
static double waves_filled(Wide n_ctas, int64_t n_slots) {
  const double waves = (double)n_ctas / (double)n_slots;
  return waves / ceil(waves);
}

static int64_t fewest_splits(Wide n_ctas, int64_t n_slots, int64_t T_c) {
  double best = 0;
  int64_t splits = 1;
  for (int64_t s = 1; s <= 128 && s <= T_c; s++) {
    const double filled = waves_filled(n_ctas * wide(s), n_slots);
    if (filled > best * 1.05) best = filled, splits = s;
  }
  return ceil_div(T_c, ceil_div(T_c, splits)); /* none is empty */
}

int64_t splitting_choose(Splitting splitting, Wide n_ctas, int64_t n_SM, int64_t ctas_per_sm, int64_t T_c) {
  const int64_t n_slots = n_SM * (ctas_per_sm ? ctas_per_sm : 1);
  if (splitting == SPLITTING_FEWEST) return fewest_splits(n_ctas, n_slots, T_c);
  if (splitting == SPLITTING_FILL) return split_choose(n_ctas, n_slots, T_c);
  if (splitting == SPLITTING_HOPPER) return T_c <= 4 ? 1 : fill(n_ctas, n_slots, T_c, true);
  int64_t splits = 1;
  if (splitting == SPLITTING_NEVER || 5 * n_ctas >= 4 * wide(n_SM)) return splits;
  while (2 * wide(splits) * n_ctas <= wide(n_slots) && 2 * splits <= T_c) splits *= 2;
  return splits;
}

/* ---- Occupancy ------------------------------------------------------------------------------------ */

static int64_t round_up(int64_t value, int64_t granule) { return ceil_div(value, granule) * granule; }

static int64_t shared_limit(const LaunchConfig *c, const Gpu *gpu) {
  if (c->shared_bytes == 0 || gpu->shared_bytes_per_sm == 0) return OCCUPANCY_NO_LIMIT;
  if (gpu->shared_bytes_per_cta && c->shared_bytes > gpu->shared_bytes_per_cta) return 0;
  return gpu->shared_bytes_per_sm / round_up(c->shared_bytes + gpu->shared_reserved_bytes, SMEM_GRANULE);
}

/* A warp's registers lie in one of the SM's four partitions, so what is left over in each is lost. */
static int64_t register_limit(const LaunchConfig *c, const Gpu *gpu, int64_t warps) {
  if (c->registers_per_thread == 0 || gpu->registers_per_sm == 0 || warps == 0) return OCCUPANCY_NO_LIMIT;
  if (gpu->registers_per_thread && c->registers_per_thread > gpu->registers_per_thread) return 0;
  const int64_t per_warp = round_up(c->registers_per_thread * gpu->warp_size, REGISTER_GRANULE);
  const int64_t warps_per_partition = gpu->registers_per_sm / SM_PARTITIONS / per_warp;
  return warps_per_partition * SM_PARTITIONS / warps;
}

static int64_t thread_limit(const LaunchConfig *c, const Gpu *gpu, int64_t warps) {
  if (warps == 0 || gpu->warps_per_sm == 0) return OCCUPANCY_NO_LIMIT;
  if (gpu->threads_per_cta && c->threads > gpu->threads_per_cta) return 0;
  return gpu->warps_per_sm / warps;
}

static Status refuse_occupancy(const LaunchConfig *c, const Gpu *g, OccupancyLimit limit, Error *error) {
  switch (limit) {
  case LIMIT_SHARED:
    return error_refuse(error,
                        "a CTA asks for %lld B of shared memory and one on %s can have %lld B; take smaller blocks",
                        (long long)c->shared_bytes, g->name, (long long)g->shared_bytes_per_cta);
  case LIMIT_REGISTERS:
    return error_refuse(
        error,
        "%lld threads of %lld registers do not fit an SM of %s (%lld registers, at most %lld a thread); "
        "take fewer of either",
        (long long)c->threads, (long long)c->registers_per_thread, g->name, (long long)g->registers_per_sm,
        (long long)g->registers_per_thread);
  default:
    return error_refuse(
        error, "a CTA of %lld threads does not fit an SM of %s (%lld threads, at most %lld a CTA); take fewer",
        (long long)c->threads, g->name, (long long)(g->warps_per_sm * g->warp_size), (long long)g->threads_per_cta);
  }
}

Status launch_occupancy(Occupancy *occupancy, const LaunchConfig *c, const Gpu *gpu, Error *error) {
  const int64_t warp_size = gpu->warp_size ? gpu->warp_size : 32, warps = ceil_div(c->threads, warp_size);
  Occupancy o = {.binds = LIMIT_COUNT, .ctas_per_sm = OCCUPANCY_NO_LIMIT};
  o.limits[LIMIT_SHARED] = shared_limit(c, gpu);
  o.limits[LIMIT_REGISTERS] = register_limit(c, gpu, warps);
  o.limits[LIMIT_THREADS] = thread_limit(c, gpu, warps);
  o.limits[LIMIT_CTAS] = gpu->ctas_per_sm ? gpu->ctas_per_sm : OCCUPANCY_NO_LIMIT;
  o.limits[LIMIT_KERNEL] = c->ctas_per_sm ? c->ctas_per_sm : OCCUPANCY_NO_LIMIT;
  const bool sized =
      c->shared_bytes || c->threads || c->ctas_per_sm; /* else 32 CTAs would follow from knowing nothing */
  for (int limit = 0; limit < LIMIT_COUNT && sized; limit++) {
    if (o.limits[limit] >= o.ctas_per_sm) continue;
    o.ctas_per_sm = o.limits[limit];
    o.binds = (OccupancyLimit)limit;
  }
  if (o.binds == LIMIT_COUNT) o.ctas_per_sm = 1;
  if (o.ctas_per_sm == 0) return refuse_occupancy(c, gpu, o.binds, error);
  if (gpu->warps_per_sm) o.warps_fraction = (double)(o.ctas_per_sm * warps) / (double)gpu->warps_per_sm;
  *occupancy = o;
  return STATUS_OK;
}

/* ---- The launch ----------------------------------------------------------------------------------- */

static Status check_config(const LaunchConfig *c, Error *error) {
  const int64_t counts[] = {c->n_splits, c->threads, c->registers_per_thread, c->shared_bytes, c->ctas_per_sm};
  const int64_t most[] = {PLAN_MAX_SPLITS, 1 << 20, 1 << 20, (int64_t)1 << 40, 1 << 20};
  const char *const names[] = {"splits", "threads", "registers a thread", "bytes of shared memory", "CTAs per SM"};
  if (c->block_q < 1 || c->block_q > PLAN_MAX_BLOCK || c->block_k < 1 || c->block_k > PLAN_MAX_BLOCK)
    return error_refuse(error, "a block of %lld x %lld is not possible; give 1 to %lld rows of Q and of K",
                        (long long)c->block_q, (long long)c->block_k, (long long)PLAN_MAX_BLOCK);
  for (int i = 0; i < 5; i++)
    if (counts[i] < 0 || counts[i] > most[i])
      return error_refuse(error, "%lld %s are not possible; give 0 (not known) to %lld", (long long)counts[i], names[i],
                          (long long)most[i]);
  return STATUS_OK;
}

LaunchBuild launch_build(const Shape *s, int64_t B_r, int64_t B_c) {
  const int64_t N_k = s->N_k ? s->N_k : s->N_q;
  if (s->window > 0 || (s->sided && (s->left >= 0 || s->right >= 0))) return BUILD_WINDOW;
  return s->varlen || s->N_q % B_r || N_k % B_c ? BUILD_UNEVEN : BUILD_EVEN;
}

Status launch_make(Launch *launch, const Shape *shape, const LaunchConfig *config, const Gpu *gpu, Error *error) {
  Shape s = *shape;
  Status status = shape_complete(&s, error);
  if (!status) status = check_config(config, error);
  Launch l = {.config = *config};
  if (!status) status = launch_occupancy(&l.occupancy, config, gpu, error);
  if (status) return status;
  l.batch = s.batch;
  l.heads = s.heads;
  l.n_row_blocks = config->whole_head   ? 1
                   : config->of_columns ? ceil_div(s.N_k, config->block_k)
                                        : ceil_div(s.N_q, config->block_q);
  l.n_splits = config->n_splits ? config->n_splits : 1;
  l.descending = config->rows == ROWS_DESCENDING || (config->rows == ROWS_LONGEST_FIRST && s.causal &&
                                                     !config->of_columns); /* the first columns: seen by all */
  const Wide n = wide(l.batch) * wide(l.heads) * wide(l.n_row_blocks);     /* below 2^80 */
  if (n > ((Wide)1 << 62) / wide(l.n_splits))
    return error_set(error, STATUS_TOO_LARGE,
                     "this grid has more than 2^62 CTAs; a shorter sequence or larger blocks have fewer");
  l.n_pieces = (int64_t)(n * wide(l.n_splits));
  l.n_sm = gpu->n_sm > 0 ? gpu->n_sm : 1;
  l.n_slots = l.n_sm * l.occupancy.ctas_per_sm;
  l.n_ctas = config->persistent && l.n_slots < l.n_pieces ? l.n_slots : l.n_pieces;
  l.n_waves = ceil_div(l.n_pieces, l.n_slots);
  l.tail_fill = (double)(l.n_pieces - (l.n_waves - 1) * l.n_slots) / (double)l.n_slots;
  *launch = l;
  return STATUS_OK;
}

/* ---- The order of pieces -------------------------------------------------------------------------- */

enum { DIGIT_QUERY, DIGIT_BATCH, DIGIT_HEAD, DIGIT_COUNT };

/* From the fastest to the slowest digit. A query digit counts (row block, split), the split running faster. */
static const unsigned char DIGITS[ORDER_COUNT][DIGIT_COUNT] = {{DIGIT_QUERY, DIGIT_BATCH, DIGIT_HEAD},
                                                               {DIGIT_QUERY, DIGIT_HEAD, DIGIT_BATCH},
                                                               {DIGIT_HEAD, DIGIT_QUERY, DIGIT_BATCH},
                                                               {DIGIT_HEAD, DIGIT_BATCH, DIGIT_QUERY}};

static int64_t digit_size(const Launch *l, int digit) {
  return digit == DIGIT_BATCH ? l->batch : digit == DIGIT_HEAD ? l->heads : l->n_row_blocks * l->n_splits;
}

/* Of heads in groups: the last group may be smaller. */
static int64_t group_size(const Launch *l, int64_t first) {
  const int64_t left = l->batch * l->heads - first, all = l->config.group_heads;
  return left < all ? left : all;
}

/* Blocks of a head in their order: row blocks, each with its splits. */
static LaunchPiece piece_of_block(const Launch *l, int64_t batch, int64_t head, int64_t block) {
  const int64_t row = block / l->n_splits, split = block % l->n_splits;
  return (LaunchPiece){.batch = batch,
                       .head = head,
                       .row_block = l->descending ? l->n_row_blocks - 1 - row : row,
                       .split = l->config.splits_descending ? l->n_splits - 1 - split : split};
}

static LaunchPiece piece_of_group(const Launch *l, int64_t n) {
  const int64_t blocks = l->n_row_blocks * l->n_splits,
                first = n / (l->config.group_heads * blocks) * l->config.group_heads;
  const int64_t rest = n - first * blocks, heads = group_size(l, first), head = first + rest % heads;
  return piece_of_block(l, head / l->heads, head % l->heads, rest / heads);
}

LaunchPiece launch_piece(const Launch *l, int64_t n) {
  int64_t digit[DIGIT_COUNT];
  if (l->config.group_heads) return piece_of_group(l, n);
  for (int k = 0; k < DIGIT_COUNT; k++) {
    const int which = DIGITS[l->config.order][k];
    digit[which] = n % digit_size(l, which);
    n /= digit_size(l, which);
  }
  return piece_of_block(l, digit[DIGIT_BATCH], digit[DIGIT_HEAD], digit[DIGIT_QUERY]);
}
