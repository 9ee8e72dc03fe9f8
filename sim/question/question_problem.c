/* From a question to the problem and its algorithms: what was asked for is completed, and refused where
 * it cannot be. */
#include "sim/question/question.h"

#include "sim/algorithms/shipped.h"

static Status resolve_blocks(const Question *r, Problem *p, Error *error) {
  const bool one = r->block || r->algorithm1_blocks || r->largest_block;
  if (one && (r->tiling.B_r || r->tiling.B_c))
    return error_refuse(error, "--block sets both sides of a tile, and --block-q or --block-k sets one of them "
                               "again; give either");
  if (r->block) p->tiling.B_r = p->tiling.B_c = r->block;
  p->largest_block = r->largest_block;
  if (r->algorithm1_blocks) {
    const Tiling t = tiling_algorithm1(p->machine.sram_bytes, dtype_bytes(p->shape.dtype), p->shape.d);
    p->tiling.B_r = t.B_r;
    p->tiling.B_c = t.B_c;
  }
  return STATUS_OK;
}

/* What the launch is planned from (sim/planner.h). */
static Status name_kernel(const Question *r, const QuestionFiles *files, Problem *p, Error *error) {
  p->launch = (LaunchConfig){.order = ORDER_QUERY_HEAD_BATCH, .rows = ROWS_LONGEST_FIRST};
  Status status = *r->kernel ? files->kernel(r->kernel, &p->kernel, error) : STATUS_OK;
  if (!status && p->kernel && *p->kernel->beside) status = files->kernel(p->kernel->beside, &p->beside, error);
  if (!status && r->ctas_per_sm > 4096)
    status = error_refuse(error, "%jd CTAs on an SM are not possible; give 1 to 4096", r->ctas_per_sm);
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

static Status plain_problem(const Question *r, const QuestionFiles *files, Problem *problem, Gpu *gpu, Error *error) {
  Gpu loaded;
  const bool is_own = r->l2_bytes || !files->machine;
  const Gpu *const machine = is_own ? &loaded : files->machine;
  Problem p = {.shape = r->shape, .tiling = r->tiling, .pack = r->pack};
  if (p.shape.N_q == 0) p.shape.N_q = QUESTION_DEFAULT_N;
  if (p.shape.d == 0) p.shape.d = QUESTION_DEFAULT_D;
  if (!r->has_v_in_k && is_latent(&p.shape)) p.shape.v_in_k = true;
  Status status = shape_complete(&p.shape, error);
  if (!status && p.pack == PACK_ON && p.shape.heads == p.shape.kv_heads)
    status = error_refuse(
        error, "--pack-gqa on has no effect here: every query head has K and V of its own; give fewer --kv-heads "
               "than --heads");
  if (!status && is_own && files->machine)
    loaded = *files->machine;
  else if (!status && is_own)
    status = files->gpu(r->gpu, &loaded, error);
  if (!status && r->l2_bytes && !machine->l2_bytes)
    status = error_refuse(error, "--l2 has no effect here: %s has no L2; name a GPU with --gpu", machine->name);
  if (!status) {
    if (r->l2_bytes) gpu_set_l2(&loaded, r->l2_bytes);
    p.machine = machine_of_gpu(machine);
    if (r->sram_bytes) p.machine.sram_bytes = r->sram_bytes;
    status = resolve_blocks(r, &p, error);
  }
  if (!status && *r->mask) status = files->mask(r->mask, &p.shape, &p.shape.pattern, error);
  if (!status) status = name_kernel(r, files, &p, error);
  if (!status) {
    *problem = p;
    if (gpu) *gpu = *machine;
  }
  return status;
}

/* With the model's numbers in their places. */
Status question_problem(const Question *asked, const QuestionFiles *files, Problem *problem, Gpu *gpu, Error *error) {
  if (!*asked->model) return plain_problem(asked, files, problem, gpu, error);
  Question r = *asked;
  const Status status = question_take_model(&r, files, error);
  return status ? status : plain_problem(&r, files, problem, gpu, error);
}

Status question_has_effect(const Question *r, const Gpu *gpu, Error *error) {
  const char *option = r->ctas_per_sm ? "--ctas-per-sm"
                       : r->has_order ? "--order"
                       : r->has_walk  ? "--walk"
                       : r->in_step   ? "--pace"
                                      : NULL;
  if (!option || gpu->l2_bytes > 0) return STATUS_OK;
  return error_refuse(error, "%s has no effect here: %s has no L2 whose traffic it could change; name a GPU with --gpu",
                      option, gpu->name);
}

/* A kernel follows one algorithm: the default, and what must be among those that are named. */
static Status kernel_algorithm(Question *r, const QuestionFiles *files, Error *error) {
  const Profile *kernel;
  const Status status = files->kernel(r->kernel, &kernel, error);
  if (status) return status;
  if (r->n_algorithms == 0) {
    Problem p;
    r->follows_kernel = true;
    const bool is_refused = question_problem(r, files, &p, NULL, NULL) != STATUS_OK; /* why is said later */
    r->algorithms[r->n_algorithms++] = is_refused ? kernel->schedule : planner_algorithm(&p);
    return STATUS_OK;
  }
  const Problem p = {.kernel = kernel};
  for (int k = 0; k < r->n_algorithms; k++)
    if (planner_kernel(&p, r->algorithms[k])) return STATUS_OK;
  for (int k = 0; k < r->n_algorithms; k++)
    if (r->algorithms[k]->splits)
      return error_refuse(error,
                          "--kernel %s is described for %s; a form of it that splits the keys, if there is one, is not "
                          "described, so leave out --kernel or --algorithm %s",
                          quote_text(r->kernel).text, kernel->schedule->name, r->algorithms[k]->name);
  return error_refuse(error, "--kernel %s follows %s, which --algorithm does not name; leave one of them out",
                      quote_text(r->kernel).text, kernel->schedule->name);
}

static Status check_pages(Question *r, Error *error) {
  const ServedPages *p = &r->pages;
  int64_t shortest = INT64_MAX, longest = 0;
  for (int64_t k = 0; k < p->n; k++) {
    if (p->lengths[k] < shortest) shortest = p->lengths[k];
    if (p->lengths[k] > longest) longest = p->lengths[k];
  }
  if (p->n && p->chunk)
    return error_refuse(error, "--lengths are sequences that decode, --chunk is of a prompt; give one");
  if (p->n && (r->shape.batch > 1 || (r->shape.N_k && r->shape.N_k != longest) || r->shape.N_q > 1))
    return error_refuse(
        error, "--lengths says how many sequences there are and how long they are, with one query each; leave out "
               "-N, --seq-len-k and --batch");
  if (p->prefix && (!p->n || p->prefix >= shortest))
    return error_refuse(error, "--prefix %jd needs --lengths, all of them longer than it is", p->prefix);
  if (p->chunk && (!r->shape.causal || r->shape.N_q < 2 || (r->shape.N_k && r->shape.N_k != r->shape.N_q)))
    return error_refuse(
        error, "--chunk cuts a prompt, whose queries see themselves and what is before: give -N and --causal, and "
               "no --seq-len-k");
  if (p->chunk && ceil_div(r->shape.N_q, p->chunk) > SERVING_CHUNKS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "--chunk %jd: more than %jd chunks; give a larger one", p->chunk,
                     SERVING_CHUNKS_MAX);
  if (p->n) r->shape.N_q = 1, r->shape.N_k = longest;
  return STATUS_OK;
}

Status question_algorithms(Question *r, const QuestionFiles *files, QuestionDefault which, Error *error) {
  Status status = check_pages(r, error);
  if (!status) status = question_take_model(r, files, error);
  if (!status && *r->kernel) status = kernel_algorithm(r, files, error);
  if (status) return status;
  if (r->n_algorithms == 0 && which == REQUEST_COMPARED)
    r->n_algorithms = shipped_compared(r->algorithms, (int)COUNT_OF(r->algorithms));
  if (r->n_algorithms == 0) r->algorithms[r->n_algorithms++] = shipped_default();
  char names[128];
  bool splits = false, lse = false;
  for (int k = 0; k < r->n_algorithms; k++) {
    splits = splits || r->algorithms[k]->splits;
    lse = lse || r->algorithms[k]->writes_lse;
  }
  if (r->tiling.n_splits && !splits)
    return error_refuse(error, "--splits has no effect here: only %s splits the keys; add --algorithm %s",
                        shipped_names(SHIPPED_SPLITS, " and ", names, sizeof names), shipped_splitting()->name);
  if (r->tiling.lse && !lse)
    return error_refuse(error, "--lse has no effect here: only %s write it; name one with --algorithm",
                        shipped_names(SHIPPED_WRITES_LSE, " and ", names, sizeof names));
  return STATUS_OK;
}

void question_choose_small(Question *r) {
  if (*r->model || r->shape.N_q || r->shape.N_k || r->shape.d || r->block || r->tiling.B_r || r->tiling.B_c ||
      r->algorithm1_blocks || r->largest_block || r->pages.n)
    return;
  r->shape.N_q = 64;
  r->shape.d = 16;
  r->shape.causal = true;
  r->block = 8;
}
