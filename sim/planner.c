#include "sim/planner.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/algorithms/shipped.h"

Machine machine_paper(void) { return (Machine){.name = "paper", .sram_bytes = 192 * 1024, .l2_bytes = 0, .n_SM = 108}; }

Machine machine_of_gpu(const Gpu *gpu) {
  Machine m = {.sram_bytes = gpu->shared_bytes_per_cta,
               .l2_bytes = gpu->l2_bytes,
               .n_SM = gpu->n_sm,
               .hbm_bytes = gpu_usable_bytes(gpu)};
  snprintf(m.name, sizeof m.name, "%.*s", MACHINE_NAME_BYTES - 1, gpu->name);
  snprintf(m.compute_capability, sizeof m.compute_capability, "%s", gpu->compute_capability);
  if (strcmp(gpu->vendor, "none") == 0) return m;
  m.register_bytes = 4 * gpu->registers_per_sm;
  m.tensor_memory_bytes = gpu->tensor_memory_bytes;
  return m;
}

static bool runs(const Profile *kernel, const Schedule *schedule) {
  if (!kernel) return false;
  return schedule == kernel->schedule || (kernel->splitting != SPLITTING_NEVER && schedule == shipped_splitting());
}

/* "9.0": that alone; "8.0+": and all later ones. */
static bool has_capability(const char *asked, const char *has) {
  char *after;
  if (!*asked || !*has) return true;
  const double needs = strtod(asked, &after), capability = strtod(has, NULL); /* 0: of another vendor */
  return *after == '+' ? capability >= needs : capability == needs;
}

static bool names_dtype(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if (!at[length] || at[length] == ',') return true;
  return !*list;
}

/* What the kernel has been built for. */
static Status check_kernel(const Problem *p, const Profile *kernel, Error *error) {
  const size_t digits = strcspn(kernel->runs_on, "+");
  if (!has_capability(kernel->runs_on, p->machine.compute_capability))
    return error_refuse(
        error, "%s runs on compute capability %.*s%s, and %s has %s; take another kernel, or leave it out",
        kernel->name, (int)digits, kernel->runs_on, kernel->runs_on[digits] ? " and later ones" : " alone",
        p->machine.name, p->machine.compute_capability);
  if (!names_dtype(kernel->dtypes, dtype_name(p->shape.dtype)))
    return error_refuse(error, "%s has no %s; it is built for %s", kernel->name, dtype_name(p->shape.dtype),
                        kernel->dtypes);
  if (p->shape.has_kv_dtype && p->shape.kv_dtype != p->shape.dtype && *kernel->dtypes)
    return error_refuse(error,
                        "%s takes K and V of the type of Q, and not %s beside %s; leave --kv-dtype or the kernel out",
                        kernel->name, dtype_name(p->shape.kv_dtype), dtype_name(p->shape.dtype));
  if (!kernel->takes_blocks && p->shape.pattern && p->shape.pattern->kind != PATTERN_DOCUMENTS)
    return error_refuse(error,
                        "%s has no mask of blocks, sinks or prefixes; leave --mask or the kernel "
                        "out",
                        kernel->name);
  return STATUS_OK;
}

const Profile *planner_kernel(const Problem *p, const Schedule *schedule) {
  if (runs(p->kernel, schedule)) return p->kernel;
  const bool is_beside = runs(p->beside, schedule) && profile_has_tile(p->beside, &p->shape) &&
                         !check_kernel(p, p->beside, NULL) && !p->tiling.B_r && !p->tiling.B_c;
  return is_beside ? p->beside : NULL; /* not asked for by name: where it cannot, a usual launch */
}

static int64_t splits_of(const Problem *p, const Profile *kernel) {
  if (p->tiling.n_splits) return p->tiling.n_splits;
  Shape shape = p->shape;
  if (p->pack == PACK_OFF) shape.kv_heads = shape.heads;
  return profile_splits(kernel, &shape, p->machine.n_SM);
}

const Schedule *planner_algorithm(const Problem *problem) {
  if (!problem->kernel) return shipped_default();
  Problem p = *problem;
  const Schedule *own = p.kernel->schedule;
  const bool is_fixed = p.tiling.B_r || p.tiling.B_c || p.shape.pattern || p.kernel->splitting == SPLITTING_NEVER;
  if (is_fixed || shape_complete(&p.shape, NULL)) return own;
  return splits_of(&p, p.kernel) > 1 ? shipped_splitting() : own;
}

/* Spills that are described are of builds for compute capability 9.0. */
static void forget_spills(LaunchConfig *c) { c->spills = (Spills){0}; }

static Status take_kernel(Problem *p, const Profile *kernel, const Schedule *schedule, Error *error) {
  Status status = check_kernel(p, kernel, error);
  if (!status) status = profile_config(kernel, &p->shape, &p->launch, error);
  if (status) return status;
  if (kernel->lse) p->tiling.lse = true;
  if (schedule != kernel->schedule) {
    p->tiling.n_splits = splits_of(p, kernel);
    profile_become_split(kernel, &p->shape, p->tiling.n_splits, &p->launch);
  }
  if (strcmp(p->machine.compute_capability, "9.0") != 0) forget_spills(&p->launch);
  if (!p->tiling.B_r) p->tiling.B_r = p->launch.block_q;
  if (!p->tiling.B_c) p->tiling.B_c = p->launch.block_k;
  return STATUS_OK;
}

/* What was asked for holds for every algorithm of the problem. */
static Status take_asked(LaunchConfig *c, const LaunchAsked *asked, const Profile *kernel, Error *error) {
  if (asked->has_order) c->order = asked->order;
  if (asked->has_walk) c->walk = asked->walk;
  if (!asked->ctas_per_sm) return STATUS_OK;
  if (kernel && c->ctas_per_sm && asked->ctas_per_sm > c->ctas_per_sm)
    return error_refuse(error, "%s launches at most %lld CTAs on an SM, not %lld", kernel->name,
                        (long long)c->ctas_per_sm, (long long)asked->ctas_per_sm);
  c->ctas_per_sm = asked->ctas_per_sm;
  if (!kernel) c->threads = c->registers_per_thread = c->shared_bytes = 0;
  return STATUS_OK;
}

Status planner_launch(Problem *p, const Schedule *schedule, Error *error) {
  Status status = shape_complete(&p->shape, error);
  const Profile *kernel = planner_kernel(p, schedule);
  if (!status && kernel) status = take_kernel(p, kernel, schedule, error);
  if (!status) status = take_asked(&p->launch, &p->asked, kernel, error);
  if (status) return status;
  p->kernel = p->beside = NULL;
  p->asked = (LaunchAsked){0};
  return STATUS_OK;
}
