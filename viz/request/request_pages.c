/* What the scene `serving` shows beside the walk: lengths of sequences, pages, a prefix, chunks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/batch.h"
#include "sim/serving.h"
#include "viz/request/request_parts.h"

Status set_lengths(void *target, const char *value, Error *error) {
  ServedPages *p = &((Request *)target)->pages;
  Lengths *l = lengths_read(value, strlen(value), "--lengths", error);
  if (!l) return error->status;
  Status status = STATUS_OK;
  if (l->n < 2 || l->n > SERVED_SEQUENCES_MAX)
    status = error_set(error, STATUS_BAD_REQUEST, "%" PRId64 " lengths; the scene shows 2 to %d sequences", l->n,
                       SERVED_SEQUENCES_MAX);
  else if (l->longest > SHAPE_MAX_N)
    status = error_set(error, STATUS_TOO_LARGE, "a sequence has at most %" PRId64 " tokens", SHAPE_MAX_N);
  for (p->n = 0; !status && p->n < l->n; p->n++) p->lengths[p->n] = l->lengths[p->n];
  free(l);
  return status;
}

static Status set_tokens(const char *name, const char *value, int64_t *tokens, Error *error) {
  long long n;
  const Status status = options_count(name, value, 1, KVCACHE_MAX_PAGE, &n, error);
  if (!status) *tokens = n;
  return status;
}

Status set_page(void *target, const char *value, Error *error) {
  return set_tokens("a page", value, &((Request *)target)->pages.page, error);
}
Status set_prefix(void *target, const char *value, Error *error) {
  return set_tokens("the prefix", value, &((Request *)target)->pages.prefix, error);
}
Status set_chunk(void *target, const char *value, Error *error) {
  return set_tokens("a chunk", value, &((Request *)target)->pages.chunk, error);
}

Status request_pages(Request *r, Error *error) {
  const ServedPages *p = &r->pages;
  int64_t shortest = INT64_MAX, longest = 0;
  for (int64_t k = 0; k < p->n; k++) {
    if (p->lengths[k] < shortest) shortest = p->lengths[k];
    if (p->lengths[k] > longest) longest = p->lengths[k];
  }
  if (p->n && p->chunk)
    return error_set(error, STATUS_BAD_REQUEST,
                     "--lengths are sequences that decode, --chunk is of a prompt; give one");
  if (p->n && (r->shape.batch > 1 || (r->shape.N_k && r->shape.N_k != longest) || r->shape.N_q > 1))
    return error_set(
        error, STATUS_BAD_REQUEST,
        "--lengths says how many sequences there are and how long they are, with one query each; leave out "
        "-N, --seq-len-k and --batch");
  if (p->prefix && (!p->n || p->prefix >= shortest))
    return error_set(error, STATUS_BAD_REQUEST, "--prefix %" PRId64 " needs --lengths, all of them longer than it is",
                     p->prefix);
  if (p->chunk && (!r->shape.causal || r->shape.N_q < 2 || (r->shape.N_k && r->shape.N_k != r->shape.N_q)))
    return error_set(
        error, STATUS_BAD_REQUEST,
        "--chunk cuts a prompt, whose queries see themselves and what is before: give -N and --causal, and "
        "no --seq-len-k");
  if (p->chunk && ceil_div(r->shape.N_q, p->chunk) > SERVING_CHUNKS_MAX)
    return error_set(error, STATUS_TOO_LARGE, "--chunk %" PRId64 ": more than %" PRId64 " chunks; give a larger one",
                     p->chunk, SERVING_CHUNKS_MAX);
  if (p->n) r->shape.N_q = 1, r->shape.N_k = longest;
  return STATUS_OK;
}
