/* A run of someone else's kernels: what its file, its launch and the request say of it. */
#include <inttypes.h>
#include <string.h>

#include "sim/algorithms/shipped.h"
#include "viz/cli/crosscheck/crosscheck_judge.h"

enum { UNKNOWN_BLOCK = 64 };

/* What the file says goes where the request says nothing. */
static void take_from_file(Crosscheck *c, Request *r, const LaunchFacts *f) {
  const bool own_shape = r->shape.N_q != 0;
  char taken[160] = "";
#define TAKE(...) snprintf(taken + strlen(taken), sizeof taken - strlen(taken), __VA_ARGS__)
  if (!own_shape && f->shape.N_q && f->d && (f->is_even || f->shape.N_k)) {
    r->shape.N_q = f->shape.N_q;
    r->shape.N_k = f->shape.N_k;
    if (!r->shape.batch) r->shape.batch = f->shape.batch;
    if (!r->shape.heads) r->shape.heads = f->shape.heads;
    if (f->says_causal) r->shape.causal = f->causal;
    TAKE(" N = %" PRId64 ", batch %" PRId64 ", %" PRId64 " heads,", r->shape.N_q, r->shape.batch, r->shape.heads);
    if (r->shape.causal) TAKE(" causal,");
  }
  if (!r->shape.d && f->d) {
    r->shape.d = f->d;
    TAKE(" d = %" PRId64 ",", f->d);
  }
  if (f->says_dtype && r->shape.dtype == DTYPE_FP16 && f->dtype != DTYPE_FP16) {
    r->shape.dtype = f->dtype;
    TAKE(" %s,", dtype_name(f->dtype));
  }
  if (!r->block && !r->tiling.B_r && !r->tiling.B_c && f->block_q) {
    r->tiling.B_r = f->block_q;
    r->tiling.B_c = f->block_k;
    TAKE(" tiles of %" PRId64 " x %" PRId64 ",", f->block_q, f->block_k);
  }
#undef TAKE
  if (!*taken) return;
  taken[strlen(taken) - 1] = '\0';
  crosscheck_note(c, "Taken from the kernel's name and grid:%s.", taken);
}

static void warn_causal(Crosscheck *c, const LaunchFacts *f, const Shape *shape) {
  if (f->says_causal && f->causal != shape->causal && shape->N_q > 1)
    crosscheck_note(c, f->causal ? "Warning: the kernel's name says causal; add --causal."
                                 : "Warning: the kernel's name says that it is not causal; leave out --causal.");
}

/* Options that the file contradicts. */
static void warn(Crosscheck *c, const Judge *j, const Request *r, const LaunchRun *run, const Shape *shape,
                 const Tiling *tiling) {
  const LaunchFacts *f = &run->facts;
  const CounterRow *row = &run->sum;
  if (f->d && f->d < shape->d)
    crosscheck_note(c, "Warning: the kernel was compiled for d = %" PRId64 ", but d is %" PRId64 ".", f->d, shape->d);
  if (f->block_q && (f->block_q != tiling->B_r || (f->block_k && f->block_k != tiling->B_c)))
    crosscheck_note(c,
                    "Warning: the kernel's name has tiles of %" PRId64 " x %" PRId64 ", but %" PRId64 " x %" PRId64
                    " are asked for.",
                    f->block_q, f->block_k, tiling->B_r, tiling->B_c);
  warn_causal(c, f, shape);
  if (f->shape.N_q && tiling->B_r && f->block_q == tiling->B_r && shape->N_q > 1 &&
      ceil_div(shape->N_q, tiling->B_r) != row->grid[0])
    crosscheck_note(c,
                    "Warning: the grid has %" PRId64 " blocks of %" PRId64 " rows, so N is from %" PRId64 " to %" PRId64
                    ", not %" PRId64 ".",
                    row->grid[0], tiling->B_r, (row->grid[0] - 1) * tiling->B_r + 1, row->grid[0] * tiling->B_r,
                    shape->N_q);
  const int64_t heads = shape->batch * shape->heads, by_grid = f->shape.batch * f->shape.heads;
  if (by_grid && shape->N_q > 1 && by_grid != heads)
    crosscheck_note(
        c, "Warning: the grid has %" PRId64 " times %" PRId64 " heads, but %" PRId64 " x %" PRId64 " are asked for.",
        f->shape.batch, f->shape.heads, shape->batch, shape->heads);
  if (f->says_dtype && dtype_bytes(f->dtype) != dtype_bytes(shape->dtype) && f->role != LAUNCH_ROLE_OTHER)
    crosscheck_note(c, "Warning: the kernel's name says %s, but elements of %s are asked for.", dtype_name(f->dtype),
                    dtype_name(shape->dtype));
  if (*r->kernel && !strcmp(j->profile.name, r->kernel)) {
    const ProfileTile *tile = profile_tile(&j->profile, shape->d, shape->causal);
    if (tile && tile->shared_bytes && row->dynamic_shared_bytes && row->dynamic_shared_bytes != tile->shared_bytes)
      crosscheck_note(c, "Warning: the launch had %" PRId64 " B of dynamic shared memory, but %s has %" PRId64 ".",
                      row->dynamic_shared_bytes, j->profile.name, tile->shared_bytes);
  }
}

/* FlashAttention-2 puts the query heads of a group into the rows of one tile where there is one query. */
static bool is_packed(const LaunchRun *run, const Shape *shape) {
  const CounterRow *row = &run->sum;
  const int64_t own = shape->batch * shape->kv_heads, all = shape->batch * shape->heads;
  if (shape->N_q != 1 || shape->heads == shape->kv_heads) return false;
  const int64_t grid = run->facts.n_splits > 1 ? row->grid[2] : row->grid[1] * row->grid[2];
  return (run->facts.role == LAUNCH_ROLE_SPLIT || run->facts.role == LAUNCH_ROLE_FUSED) && grid == own && grid != all;
}

static Status choose_kernel(Crosscheck *c, Judge *j, Request *r, const LaunchRun *run, Error *error) {
  const bool free = !*r->kernel && !r->n_algorithms && !r->block && !r->tiling.B_r && !r->tiling.B_c;
  if (free && run->facts.description && run->sum.capability == 90) {
    snprintf(r->kernel, sizeof r->kernel, "%s", run->facts.description);
    crosscheck_note(c, "Taken for %s by its name; --kernel says otherwise.", r->kernel);
  }
  return *r->kernel ? judge_find_profile(j, r->kernel, error) : STATUS_OK;
}

static bool has_bytes(const CounterRow *row) {
  static const Counter counters[] = {COUNTER_BOUNDARY_READ,    COUNTER_BOUNDARY_WRITE, COUNTER_L2_READ_SECTORS,
                                     COUNTER_L2_WRITE_SECTORS, COUNTER_HBM_READ,       COUNTER_HBM_WRITE,
                                     COUNTER_HBM_TOTAL,        COUNTER_COUNTED_READ};
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
    if (row->known[counters[i]]) return true;
  return false;
}

static const char *algorithm_of(const Request *r, const LaunchFacts *f) {
  if (r->n_algorithms) return r->algorithms[0]->name;
  if (f->role == LAUNCH_ROLE_SPLIT) return shipped_splitting()->name;
  return f->role == LAUNCH_ROLE_SOFTMAX ? shipped_unfused()->name : shipped_default()->name;
}

Status judge_run(Crosscheck *c, Judge *j, const LaunchRun *run, Error *error) {
  const CounterRow *row = &run->sum;
  if (row->has_shape) return judge_recorded(c, j, row, error);
  Request own = *j->request, *const r = &own;
  if (run->n_parts > 1) crosscheck_note(c, "One attention, added up: %s.", run->parts);
  Status status = choose_kernel(c, j, r, run, error);
  if (!status) take_from_file(c, r, &run->facts);
  if (!status && (!r->shape.N_q || r->n_algorithms > 1))
    status = error_refuse(
        error, "the file says nothing of shapes; give one with -N, -d, --heads, and --kernel, or --block-q and "
               "--block-k, and one --algorithm (default fa2)");
  Problem problem;
  CounterRow named = *row;
  launch_short_name(row->kernel, named.kernel, sizeof named.kernel);
  if (run->n_parts > 1 || !*named.kernel) memcpy(named.kernel, row->kernel, sizeof named.kernel);
  row = &named;
  if (!status && !*r->kernel && !r->block && !r->algorithm1_blocks && !r->tiling.B_r && !r->tiling.B_c) {
    r->block = UNKNOWN_BLOCK;
    if (run->facts.role != LAUNCH_ROLE_SOFTMAX)
      crosscheck_note(c, "The file does not say the tile: taken as %d x %d; --block-q and --block-k give it.",
                      UNKNOWN_BLOCK, UNKNOWN_BLOCK);
  }
  if (!status) status = request_problem(r, &problem, NULL, error);
  if (!status && problem.kernel) {
    const Schedule *schedule = r->n_algorithms ? r->algorithms[0] : planner_algorithm(&problem);
    status = planner_launch(&problem, schedule, error);
  }
  if (!status) {
    Shape *shape = &problem.shape;
    Tiling *tiling = &problem.tiling;
    if (run->facts.role == LAUNCH_ROLE_SPLIT && !j->request->tiling.n_splits)
      tiling->n_splits = run->facts.n_splits > 1 ? run->facts.n_splits : 1;
    if (!*r->kernel && !r->n_algorithms && run->facts.description && !strcmp(run->facts.description, "fa2-sm90"))
      tiling->lse = true; /* FlashAttention-2 always writes it */
    warn(c, j, r, run, shape, tiling);
    if (!has_bytes(row))
      crosscheck_note(c,
                      "No counter of bytes is in the file; tilewalk crosscheck --help has the ncu command that records "
                      "all that is used.");
    c->context = (ExplainContext){.threads = row->block[0] * row->block[1] * row->block[2],
                                  .n_sm = row->n_sm ? row->n_sm : j->gpu.n_sm,
                                  .l2_bytes = j->gpu.l2_bytes};
    const LaunchFacts *f = &run->facts;
    if (f->shape.N_q && f->is_even && f->shape.batch && f->shape.heads && !f->n_splits)
      c->context.by_file = (Shape){.batch = f->shape.batch,
                                   .heads = f->shape.heads,
                                   .N_q = f->shape.N_q,
                                   .N_k = f->shape.N_q,
                                   .d = shape->d,
                                   .dtype = shape->dtype,
                                   .causal = f->says_causal ? f->causal : shape->causal};
    if (is_packed(run, shape)) {
      const int64_t group = shape->heads / shape->kv_heads;
      crosscheck_note(c,
                      "The %" PRId64 " query heads of a group are packed into the rows of one tile, as the grid shows: "
                      "each key is read once for them.",
                      group);
      c->context.packed_group = group;
      shape->N_q = group;
      shape->heads = shape->kv_heads;
      shape->causal = false;
    }
    const KernelModel model = kernel_model_of_schedule(algorithm_of(r, &run->facts), NULL);
    status = *r->kernel ? judge_add_described(c, j, row, shape, tiling, error)
                        : crosscheck_add_row(c, row, &model, shape, tiling, error);
    c->context = (ExplainContext){0};
  }
  return status;
}

/* Why a backward pass is not judged; NULL: it can be. */
static const char *why_no_backward(const Request *r, const LaunchRun *run, char *text, size_t size) {
  const LaunchFacts *f = &run->facts;
  if (!strstr(run->parts, "flash_bwd"))
    return "its name does not say its tiles, and only FlashAttention-2's order of the backward pass is described";
  if (run->n_parts != 3)
    return "it is three launches (D = rowsum(dO O), the loop, dQ converted), and the file does not have one of each";
  if (!f->d || !f->block_q || !f->block_k) return "its name does not say its tiles";
  if (!r->shape.N_q) return "the file says nothing of shapes; give one with -N, --batch and --heads";
  if (r->shape.kv_heads && r->shape.kv_heads != r->shape.heads)
    return "with fewer KV heads dK and dV are written for every query head first, which is not described";
  if (r->shape.window) {
    snprintf(text, size, "a window of %" PRId64 " keys is not described for it", r->shape.window);
    return text;
  }
  return NULL;
}

/* FlashAttention-2's backward pass goes as kernels/ladder/fa2_backward.cu does: column blocks outside, dQ added to in
 * fp32 by atomics and converted at the end. Its writes are not held to 0.1 %: with 255 registers it spills some. */
Status judge_backward(Crosscheck *c, Judge *j, const LaunchRun *run, Error *error) {
  char text[96], read[64] = "";
  const CounterRow *row = &run->sum;
  const Counter by = row->known[COUNTER_BOUNDARY_READ] ? COUNTER_BOUNDARY_READ : COUNTER_HBM_READ;
  Request own = *j->request, *const r = &own;
  const char *why = why_no_backward(r, run, text, sizeof text);
  if (why && !r->shape.N_q) {
    take_from_file(c, r, &run->facts);
    why = why_no_backward(r, run, text, sizeof text);
  }
  if (row->known[by])
    snprintf(read, sizeof read, ", %.3f GB %s", (double)row->value[by] * 1e-9,
             by == COUNTER_HBM_READ ? "read from HBM" : "read across the boundary");
  Shape shape = r->shape;
  const LaunchFacts *f = &run->facts;
  if (why) {
    crosscheck_note(c, "A backward pass, added up and not judged: %s%s; %s.", run->parts, read, why);
    return STATUS_OK;
  }
  crosscheck_note(c, "One backward pass, added up: %s%s; judged by the formulas of fa2_backward.", run->parts, read);
  warn_causal(c, f, &shape);
  if (!shape.d) shape.d = f->d;
  const Tiling tiling = {.B_r = f->block_q, .B_c = f->block_k};
  KernelModel model = *kernel_model_find("fa2_backward");
  model.spills = true;
  const bool explains = c->explains; /* the causes are those of forward passes */
  c->explains = false;
  Status status = shape_complete(&shape, error);
  if (!status) status = crosscheck_add_row(c, row, &model, &shape, &tiling, error);
  c->explains = explains;
  return status;
}
