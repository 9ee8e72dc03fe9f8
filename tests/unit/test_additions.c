/* Additions to scores: what bias, ALiBi, a sink, a cap and a kept dropout mask cost in bytes beyond FlashAttention-2,
 * and what they do not, against slow counting over random shapes. */
#include "tests/support/test.h"
#include "sim/algorithms/shipped.h"
#include "sim/simulate.h"
#include "tests/support/rand.h"

static Simulation answer(const char *name, const Problem *problem) {
  Simulation run;
  must(simulate(&run, problem, schedule_find(name), fresh_error()));
  return run;
}

static Problem random_problem(Rand *r) {
  const int64_t group = rand_in(r, 1, 3), kv_heads = rand_in(r, 1, 3);
  return (Problem){.shape = {.batch = rand_in(r, 1, 3),
                             .heads = kv_heads * group,
                             .kv_heads = kv_heads,
                             .N_q = rand_in(r, 1, 200),
                             .N_k = rand_in(r, 1, 200),
                             .d = rand_in(r, 1, 40),
                             .causal = rand_in(r, 0, 1) != 0,
                             .dtype = rand_in(r, 0, 1) ? DTYPE_FP16 : DTYPE_FP32},
                   .tiling = {.B_r = rand_in(r, 1, 50), .B_c = rand_in(r, 1, 50)},
                   .pack = PACK_OFF,
                   .machine = machine_paper()};
}

/* Of the tiles that are not skipped, one head: scores, keys, and rows of blocks that have any. By asking for each
 * tile's last query and first key. */
typedef struct {
  int64_t scores, keys, rows;
} Computed;

static Computed computed(const Problem *p) {
  const Shape *s = &p->shape;
  Computed c = {0};
  for (int64_t i = 0; i < s->N_q; i += p->tiling.B_r) {
    const int64_t rows = i + p->tiling.B_r < s->N_q ? p->tiling.B_r : s->N_q - i, before = c.keys;
    for (int64_t j = 0; j < s->N_k; j += p->tiling.B_c) {
      const int64_t columns = j + p->tiling.B_c < s->N_k ? p->tiling.B_c : s->N_k - j;
      if (s->causal && j > i + rows - 1 + s->N_k - s->N_q) continue;
      c.scores += rows * columns;
      c.keys += columns;
    }
    if (c.keys > before) c.rows += rows;
  }
  return c;
}

/* Bias and a kept mask: an element for every score that is computed. ALiBi: a slope a row and a position a key of each
 * tile, in fp32. A sink: a number a row. A cap: nothing. Writes are the same for all. */
TEST(bytes_beyond_the_plain_kernel) {
  Rand r = {29};
  for (int n = 0; n < 500; n++) {
    const Problem p = random_problem(&r);
    const Shape *s = &p.shape;
    const Wide heads = wide(s->batch) * wide(s->heads), element = wide(dtype_bytes(s->dtype));
    const Simulation plain = answer(shipped_default()->name, &p);
    const Computed c = computed(&p);
    const Wide scores = heads * wide(c.scores) * element;
    const struct {
      const char *name;
      Wide more;
    } COSTS[] = {{"bias", scores},
                 {"dropout", scores},
                 {"softcap", 0},
                 {"sink", 4 * heads * wide(s->N_q)},
                 {"alibi", 4 * heads * wide(c.keys + c.rows)}};
    EACH (k, COSTS) {
      const Simulation run = answer(COSTS[k].name, &p);
      const Wide more = COSTS[k].more;
      assert_true(run.read_bytes - plain.read_bytes == more && run.write_bytes == plain.write_bytes);
    }
  }
}
