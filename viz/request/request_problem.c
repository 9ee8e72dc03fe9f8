/* From a request to the problem, its algorithms and its scene: what was asked for is completed, and refused where it
 * cannot be. */
#include "viz/request/request_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/algorithms/shipped.h"
#include "sim/base/quote.h"
#include "sim/planner.h"
#include "viz/request/description.h"
#include "viz/request/own_kernels.h"
#include "viz/request/own_masks.h"
#include "viz/request/pipeline_file.h"
#include "sim/question/scenes.h"
#include "viz/scene/race_clock.h"
#include "viz/text/number.h"

/* ---- From request to problem ---------------------------------------------------------------------- */

static Status resolve_blocks(const Request *r, Problem *p, Error *error) {
  const bool one = r->block || r->algorithm1_blocks;
  if (one && (r->tiling.B_r || r->tiling.B_c))
    return error_set(error, STATUS_BAD_REQUEST,
                     "--block sets both sides of a tile, and --block-q or --block-k sets one of them "
                     "again; give either");
  if (r->block) p->tiling.B_r = p->tiling.B_c = r->block;
  if (r->algorithm1_blocks) {
    const Tiling t = tiling_algorithm1(p->machine.sram_bytes, dtype_bytes(p->shape.dtype), p->shape.d);
    p->tiling.B_r = t.B_r;
    p->tiling.B_c = t.B_c;
  }
  return STATUS_OK;
}

/* What the launch is planned from (sim/planner.h). */
static Status name_kernel(const Request *r, Problem *p, Error *error) {
  p->launch = (LaunchConfig){.order = ORDER_QUERY_HEAD_BATCH, .rows = ROWS_LONGEST_FIRST};
  Status status = *r->kernel ? own_kernel(r->kernel, &p->kernel, error) : STATUS_OK;
  if (!status && p->kernel && *p->kernel->beside) status = own_kernel(p->kernel->beside, &p->beside, error);
  if (!status && r->ctas_per_sm > 4096)
    status = error_set(error, STATUS_BAD_REQUEST, "%" PRId64 " CTAs on an SM are not possible; give 1 to 4096",
                       r->ctas_per_sm);
  p->asked = (LaunchAsked){r->ctas_per_sm, r->has_order, r->has_walk, r->order, r->walk};
  p->in_step = r->in_step;
  p->without = r->without;
  p->skew_turns = r->skew_turns;
  return status;
}

/* One KV head of 512 + 64 elements with values of 512 for many query heads: DeepSeek's latent, whose value is the key's
 * beginning (DeepSeek-V2, arXiv 2405.04434, table 1). The heading says that V is inside K; --v-in-k=0 says otherwise.
 */
static bool is_latent(const Shape *s) { return s->d == 576 && s->d_v == 512 && s->kv_heads == 1 && s->heads > 1; }

static Status plain_problem(const Request *r, Problem *problem, Gpu *gpu, Error *error) {
  Gpu *const loaded = calloc(1, sizeof *loaded);
  if (!loaded) return error_set(error, STATUS_NO_MEMORY, "no memory for a GPU description");
  Problem p = {.shape = r->shape, .tiling = r->tiling, .pack = r->pack};
  if (p.shape.N_q == 0) p.shape.N_q = REQUEST_DEFAULT_N;
  if (p.shape.d == 0) p.shape.d = REQUEST_DEFAULT_D;
  if (!r->has_v_in_k && is_latent(&p.shape)) p.shape.v_in_k = true;
  Status status = shape_complete(&p.shape, error);
  if (!status && p.pack == PACK_ON && p.shape.heads == p.shape.kv_heads)
    status =
        error_set(error, STATUS_BAD_REQUEST,
                  "--pack-gqa on has no effect here: every query head has K and V of its own; give fewer --kv-heads "
                  "than --heads");
  if (!status) status = description_gpu(r->gpu, loaded, error);
  if (!status) {
    p.machine = machine_of_gpu(loaded);
    if (r->sram_bytes) p.machine.sram_bytes = r->sram_bytes;
    status = resolve_blocks(r, &p, error);
  }
  if (!status && *r->mask) status = own_mask(r->mask, &p.shape, &p.shape.pattern, error);
  if (!status) status = name_kernel(r, &p, error);
  if (!status) {
    *problem = p;
    if (gpu) *gpu = *loaded;
  }
  free(loaded);
  return status;
}

/* With the model's numbers in their places. */
Status request_problem(const Request *asked, Problem *problem, Gpu *gpu, Error *error) {
  if (!*asked->model) return plain_problem(asked, problem, gpu, error);
  Request *const r = malloc(sizeof *r);
  if (!r) return error_set(error, STATUS_NO_MEMORY, "no memory for a request");
  *r = *asked;
  Status status = request_take_model(r, NULL, error);
  if (!status) status = plain_problem(r, problem, gpu, error);
  free(r);
  return status;
}

Status request_has_effect(const Request *r, const Gpu *gpu, Error *error) {
  const char *option = r->ctas_per_sm ? "--ctas-per-sm"
                       : r->has_order ? "--order"
                       : r->has_walk  ? "--walk"
                       : r->in_step   ? "--pace"
                                      : NULL;
  if (!option || gpu->l2_bytes > 0) return STATUS_OK;
  return error_set(error, STATUS_BAD_REQUEST,
                   "%s has no effect here: %s has no L2 whose traffic it could change; name a GPU with --gpu", option,
                   gpu->name);
}

/* A kernel follows one algorithm: the default, and what must be among those that are named. */
static Status kernel_algorithm(Request *r, Error *error) {
  const Profile *kernel;
  const Status status = own_kernel(r->kernel, &kernel, error);
  if (status) return status;
  if (r->n_algorithms == 0) {
    Problem p;
    r->follows_kernel = true;
    r->algorithms[r->n_algorithms++] =
        request_problem(r, &p, NULL, NULL) ? kernel->schedule : planner_algorithm(&p); /* why not is said later */
    return STATUS_OK;
  }
  const Problem p = {.kernel = kernel};
  for (int k = 0; k < r->n_algorithms; k++)
    if (planner_kernel(&p, r->algorithms[k])) return STATUS_OK;
  for (int k = 0; k < r->n_algorithms; k++)
    if (r->algorithms[k]->splits)
      return error_set(error, STATUS_BAD_REQUEST,
                       "--kernel %s is described for %s; a form of it that splits the keys, if there is one, is not "
                       "described, so leave out --kernel or --algorithm %s",
                       quote_text(r->kernel).text, kernel->schedule->name, r->algorithms[k]->name);
  return error_set(error, STATUS_BAD_REQUEST,
                   "--kernel %s follows %s, which --algorithm does not name; leave one of them out",
                   quote_text(r->kernel).text, kernel->schedule->name);
}

Status request_algorithms(Request *r, RequestDefault which, Error *error) {
  Status status = request_pages(r, error);
  if (!status) status = request_take_model(r, NULL, error);
  if (!status && *r->kernel) status = kernel_algorithm(r, error);
  if (status) return status;
  if (r->n_algorithms == 0 && which == REQUEST_COMPARED)
    r->n_algorithms = shipped_compared(r->algorithms, (int)(sizeof r->algorithms / sizeof *r->algorithms));
  if (r->n_algorithms == 0) r->algorithms[r->n_algorithms++] = shipped_default();
  char names[128];
  bool splits = false, lse = false;
  for (int k = 0; k < r->n_algorithms; k++) {
    splits = splits || r->algorithms[k]->splits;
    lse = lse || r->algorithms[k]->writes_lse;
  }
  if (r->tiling.n_splits && !splits)
    return error_set(error, STATUS_BAD_REQUEST,
                     "--splits has no effect here: only %s splits the keys; add --algorithm %s",
                     shipped_names(SHIPPED_SPLITS, " and ", names, sizeof names), shipped_splitting()->name);
  if (r->tiling.lse && !lse)
    return error_set(error, STATUS_BAD_REQUEST, "--lse has no effect here: only %s write it; name one with --algorithm",
                     shipped_names(SHIPPED_WRITES_LSE, " and ", names, sizeof names));
  return STATUS_OK;
}

/* ---- From request to scene ------------------------------------------------------------------------ */

void request_choose_small(Request *r) {
  if (*r->model || r->shape.N_q || r->shape.N_k || r->shape.d || r->block || r->tiling.B_r || r->tiling.B_c ||
      r->algorithm1_blocks || r->pages.n)
    return;
  r->shape.N_q = 64;
  r->shape.d = 16;
  r->shape.causal = true;
  r->block = 8;
}

/* The algorithm whose steps are walked. Of several, which race, the one that moves most, or takes longest: when it is
 * done, all are. */
static Status choose_shown(const Request *r, StageConfig *config, Error *error) {
  double most = 0;
  config->schedule = r->algorithms[0];
  for (int k = 0; k < r->n_algorithms && r->n_algorithms > 1; k++) {
    Simulation run;
    Problem head = config->problem;
    const Status status = simulation_answer(&run, &head, r->algorithms[k], r->by_time ? &config->gpu : NULL, error);
    if (status) return status;
    config->rivals[config->n_rivals++] = r->algorithms[k];
    const double seconds = r->by_time ? race_clock(&run, &config->gpu).whole_s : 0,
                 length = seconds > 0 ? seconds : (double)run.total_bytes;
    if (length <= most) continue;
    most = length;
    config->schedule = r->algorithms[k];
  }
  return STATUS_OK;
}

Status request_stage(Request *r, bool without_max, int64_t row_in_block, Stage *stage, Error *error) {
  StageConfig config = {.seed = (uint64_t)r->seed,
                        .l2_later = r->l2_later,
                        .row_in_block = row_in_block ? row_in_block : r->row,
                        .without_max = without_max,
                        .q_scale = r->q_scale,
                        .zoom = r->zoom,
                        .pages = r->pages,
                        .ring = r->ring,
                        .weighs = strcmp(r->scene, SCENE_NAMES[SCENE_DECODE]) == 0,
                        .by_time = r->by_time};
  memset(stage, 0, sizeof *stage);
  Status status = request_algorithms(r, REQUEST_ONE, error);
  if (status) return status;
  if (r->n_algorithms > SNAPSHOT_RUNS_MAX)
    return error_set(error, STATUS_BAD_REQUEST, "a race has at most %d algorithms; name fewer with --algorithm",
                     SNAPSHOT_RUNS_MAX);
  if ((status = request_problem(r, &config.problem, &config.gpu, error))) return status;
  if ((status = choose_shown(r, &config, error))) return status;
  if ((status = stage_make(stage, &config, error))) return status;
  Shape other = config.problem.shape; /* without a pipeline a scene says so */
  other.d = 192 - other.d;
  stage->pipeline = pipeline_for(r->kernel, config.schedule, &config.problem.shape, NULL);
  stage->other_pipeline = pipeline_for(r->kernel, config.schedule, &other, NULL);
  if ((uint64_t)r->step > stage->n_steps)
    return error_set(error, STATUS_BAD_REQUEST, "step %" PRId64 " is beyond the end: %s has %s steps here", r->step,
                     config.schedule->name, number_count(stage->n_steps).text);
  return STATUS_OK;
}
