/* What a kernel's description says of a launch: its tile, clock and splits. */

#include "sim/base/text_add.h"
#include "sim/l2/kernel_profile.h"

/* Libraries build kernels for these sizes of head and pad a head up to the next: d = 80 runs the kernel of 96, if the
 * description has that one. A tile that is said of every d holds beyond them too. */
const ProfileTile *profile_tile(const Profile *profile, int64_t d, bool causal) {
  for (int i = 0; i < PROFILE_D_COUNT; i++)
    if (d <= PROFILE_D[i]) return profile->tiles[i][causal].block_q ? &profile->tiles[i][causal] : NULL;
  return profile->every.block_q ? &profile->every : NULL;
}

/* The tile for a shape. Of heads with a narrower V there is one. */
static const ProfileTile *tile_of(const Profile *p, const Shape *shape) {
  if (!shape->d_v || shape->d_v == shape->d) return profile_tile(p, shape->d, shape->causal);
  const ProfileTile *narrow = &p->tiles[PROFILE_MLA][shape->causal];
  if (narrow->block_q && shape->d > 128 && shape->d <= 192 && shape->d_v <= 128) return narrow;
  return p->every.block_q ? &p->every : NULL;
}

bool profile_has_tile(const Profile *profile, const Shape *shape) { return tile_of(profile, shape) != NULL; }

static TimeLaw law_of(const Profile *p, const ProfileTile *t, const Shape *shape, bool is_split) {
  TimeLaw law = t->law;
  law.tile_area = t->block_q * t->block_k;
  if (is_split && shape->N_q == 1 && t->split_time_start_ns) {
    law.start_ns = t->split_time_start_ns;
    law.part_ns = t->split_time_part_ns;
  }
  if (is_split && t->split_time_tile_ns) {
    law.tile_ns = t->split_time_tile_ns;
    law.tile_area = t->split_block_q * t->split_block_k;
  }
  memcpy(law.errors, p->time_errors, sizeof law.errors);
  return law;
}

Status profile_config(const Profile *profile, const Shape *shape, LaunchConfig *config, Error *error) {
  const ProfileTile *t = tile_of(profile, shape);
  if (!t && shape->d_v && shape->d_v != shape->d)
    return error_refuse(error, "%s is described for %s; leave --head-dim-v or the kernel out", profile->name,
                        profile->tiles[PROFILE_MLA][0].block_q
                            ? "heads of V as large as those of K, and for d = 192 with V of 128"
                            : "heads of V as large as those of K");
  if (!t) {
    char listed[64] = "";
    for (int i = 0; i < PROFILE_D_COUNT; i++)
      if (profile->tiles[i][0].block_q)
        text_add(listed, sizeof listed, "%s%lld", *listed ? ", " : "", (long long)PROFILE_D[i]);
    return error_refuse(
        error, "%s has no tile for d = %lld; its description has d = %s, and kernels choose others between them",
        profile->name, (long long)shape->d, listed);
  }
  *config = (LaunchConfig){.order = profile->order,
                           .rows = profile->rows,
                           .walk = profile->walk,
                           .persistent = profile->persistent,
                           .whole_head = profile->schedule->whole_head,
                           .group_heads = t->group_heads,
                           .of_columns = schedule_owns_columns(profile->schedule),
                           .block_q = t->block_q,
                           .block_k = t->block_k,
                           .threads = t->threads,
                           .registers_per_thread = t->registers_per_thread,
                           .shared_bytes = t->shared_bytes,
                           .ctas_per_sm = t->ctas_per_sm,
                           .waits = profile->waits,
                           .round_bytes = profile->round_bytes,
                           .latency_cycles = profile->latency_cycles,
                           .steady = profile->steady,
                           .slip_percent = profile->slip_percent,
                           .ahead_percent = t->ahead_percent,
                           .reads_tables = profile->reads_tables,
                           .reloads_q = profile->reloads_q,
                           .clips_k = profile->clips_k,
                           .spills = t->spills[launch_build(shape, t->block_q, t->block_k)],
                           .alone_permille = t->alone_permille,
                           .slot_spread_permille = t->slot_spread_permille,
                           .start_cycles = t->start_cycles,
                           .step_spread_cycles = t->step_spread_cycles,
                           .busy_spread_cycles = t->busy_spread_cycles,
                           .clocks_permille = t->clocks_permille,
                           .time = law_of(profile, t, shape, false),
                           .packing = profile->packing,
                           .may_split = t->split_step_spread_cycles > 0,
                           .pull_bytes = profile->pull_bytes,
                           .cluster = !profile->launch.is_said  ? 0
                                      : profile->launch.cluster ? profile->launch.cluster
                                                                : 1,
                           .cluster_dim = profile->launch.cluster_dim,
                           .shared_names = profile->launch.shared,
                           .percent_of_peak = profile->percent_of_peak};
  return STATUS_OK;
}

/* FlashAttention-3 takes its small tile for few rows alone (use_one_mma_wg); else the one that it has without
 * splits. */
static bool splits_with_own_tile(const Profile *profile, const ProfileTile *t, const Shape *shape) {
  const int64_t rows = shape->N_q * (shape->group > 1 ? 1 : shape->heads / shape->kv_heads);
  return t->split_block_q && t->split_block_k && (profile->splitting != SPLITTING_HOPPER || rows <= t->split_block_q);
}

/* Heads whose keys exceed what FlashAttention-3 takes L2 for, read by rows that go over the SMs twice. */
static int64_t hopper_long_splits(const Shape *shape, Wide n_row_blocks, int64_t n_SM) {
  const int64_t L2 = 50 << 20, bytes = shape->N_k * (shape->d + shape->d_v) * dtype_bytes(shape->dtype);
  if (bytes <= L2 || n_row_blocks < 2 * wide(n_SM) || shape->causal || shape->window || shape->sided) return 1;
  return ceil_div(bytes, L2) < 128 ? ceil_div(bytes, L2) : 128;
}

int64_t profile_splits(const Profile *profile, const Shape *shape, int64_t n_SM) {
  const ProfileTile *t = tile_of(profile, shape);
  if (!t || !t->split_block_q || !t->split_block_k || profile->splitting == SPLITTING_NEVER || shape->pattern) return 1;
  if (profile->splitting == SPLITTING_POWER_OF_TWO && shape->N_q > 1) return 1; /* of one query alone (launch.h) */
  const bool is_own = splits_with_own_tile(profile, t, shape), is_hopper = profile->splitting == SPLITTING_HOPPER;
  const int64_t B_r = is_own ? t->split_block_q : t->block_q, B_c = is_own ? t->split_block_k : t->block_k;
  const bool has_window = shape->window > 0 || (shape->sided && (shape->left >= 0 || shape->right >= 0));
  const Shape packed =
      packing_packs(profile->packing, shape->N_q, shape->heads / shape->kv_heads, B_r, has_window, true)
          ? shape_packed(shape)
          : *shape;
  const Wide row_blocks = wide(ceil_div(packed.N_q, B_r)),
             n_ctas = wide(packed.batch) * wide(packed.heads) * row_blocks;
  if (is_hopper && (has_window || 5 * n_ctas >= 4 * wide(n_SM))) return hopper_long_splits(shape, row_blocks, n_SM);
  return splitting_choose(profile->splitting, n_ctas, n_SM, profile->split_ctas_per_sm, ceil_div(shape->N_k, B_c));
}

/* Of spilled registers a description says those of CTAs that have several tiles and no mask. */
void profile_become_split(const Profile *profile, const Shape *shape, int64_t n_splits, LaunchConfig *c) {
  const ProfileTile *t = tile_of(profile, shape);
  if (!t) return; /* no split is chosen without a tile */
  const bool is_own = splits_with_own_tile(profile, t, shape);
  const int64_t block_k = is_own ? t->split_block_k : c->block_k;
  const bool several_tiles = ceil_div(shape->N_k, block_k) > n_splits;
  if (is_own) {
    c->block_q = t->split_block_q;
    c->block_k = t->split_block_k;
    c->threads = t->split_threads;
    c->registers_per_thread = t->split_registers;
  }
  if (is_own || profile->splitting != SPLITTING_HOPPER) c->shared_bytes = t->split_shared_bytes;
  c->time = law_of(profile, t, shape, true);
  c->n_splits = n_splits;
  c->persistent = false;
  c->cluster = 1;
  c->ctas_per_sm = c->pull_bytes = 0;
  c->slot_spread_permille = 0;
  c->alone_permille = c->ahead_percent = c->start_cycles = c->busy_spread_cycles = 0;
  c->step_spread_cycles = t->split_step_spread_cycles;
  c->spills = (Spills){.tile_bytes = !shape->causal && several_tiles ? t->split_spill_tile_bytes : 0};
}
