/* The CUDA kernels' own code on the CPU: every rung right, and its bytes the model's to the byte, with no fault found.
 * Then, so that these tests are known to be able to fail: barriers, waits, fences and copies left out in turn.
 *
 * Expected outputs come from attention in double precision (kernels/lib/verify.cpp), expected bytes from the schedules'
 * closed forms and, for two cases, from sums done by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/lib/run_on_cpu.h"

extern "C" {
#include <cmocka.h>

#include "kernels/counters/kernel_model.h"
#include "tests/support/sanitized.h"
}

static const char LADDER[] = "assets/ladder";
static const CpuSetting RIGHT = {LADDER, false, -1};

struct Case {
  int64_t batch, heads, kv_heads, N_q, N_k, d;
  bool causal;
  int B_r, B_c; /* for the rungs where any block will do; 0: the default */
};

/* Ragged ends, causal with and without more keys than queries and fewer, GQA, tiny, blocks larger than N. */
static const Case CASES[] = {
    {1, 1, 1, 1, 1, 64, false, 16, 16},   {1, 1, 1, 1, 1, 64, true, 16, 16},    {1, 1, 1, 5, 3, 64, false, 16, 8},
    {1, 1, 1, 64, 64, 64, true, 16, 16},  {1, 1, 1, 65, 65, 64, true, 32, 16},  {1, 2, 1, 70, 130, 64, true, 16, 32},
    {1, 1, 1, 130, 70, 64, true, 32, 32}, {2, 4, 2, 33, 65, 64, false, 16, 16}, {1, 1, 1, 100, 129, 128, false, 16, 16},
    {1, 2, 1, 129, 129, 128, true, 0, 0}, {1, 1, 1, 3, 200, 128, true, 16, 64}, {1, 1, 1, 200, 3, 64, true, 64, 64},
};
/* For the rungs that take any d. */
static const Case ODD_CASES[] = {
    {1, 1, 1, 1, 1, 1, false, 1, 1},   {1, 1, 1, 7, 9, 3, true, 2, 3},      {1, 3, 1, 17, 17, 40, true, 8, 16},
    {1, 1, 1, 20, 12, 33, true, 5, 7}, {1, 2, 2, 31, 45, 80, false, 16, 8}, {1, 1, 1, 9, 40, 256, true, 0, 0},
};

static Shape shape_of(const Case &c, Dtype dtype) {
  Shape s = {};
  s.batch = c.batch;
  s.heads = c.heads;
  s.kv_heads = c.kv_heads;
  s.N_q = c.N_q;
  s.N_k = c.N_k;
  s.d = c.d;
  s.dtype = dtype;
  s.causal = c.causal;
  assert_int_equal(shape_complete(&s, NULL), STATUS_OK);
  return s;
}

static const Rung &rung_named(const char *name) {
  for (int r = 0; r < counted::N_RUNGS; r++)
    if (!strcmp(counted::RUNGS[r]->name, name)) return *counted::RUNGS[r];
  fail_msg("no rung %s", name);
  return *counted::RUNGS[0];
}

static bool is_free(const Rung &rung) { return rung.blocks[0].B_r == 0; }

static bool takes_d(const Rung &rung, int64_t d) {
  for (int d_ok : rung.head_dims)
    if (d_ok == d) return true;
  return rung.head_dims[0] == 0;
}

static KernelTraffic modelled(const Rung &rung, const Shape &shape, Block block) {
  KernelTraffic traffic = {};
  Tiling tiling = {};
  tiling.B_r = block.B_r;
  tiling.B_c = block.B_c;
  tiling.n_splits = block.n_splits;
  Error error = {};
  if (kernel_model_traffic(kernel_model_find(rung.name), &shape, &tiling, &traffic, &error))
    fail_msg("%s", error.message);
  return traffic;
}

static void expect_right(const Rung &rung, const Shape &s, Block block, bool outliers, bool faults) {
  Inputs inputs;
  inputs_fill(s, 7, outliers, &inputs);
  const CpuRun run = run_on_cpu(rung, s, block, inputs, {LADDER, faults, -1});
  const KernelTraffic model = modelled(rung, s, block);
  char label[160];
  snprintf(label, sizeof label, "%s %s B=%lld H=%lld/%lld N=%lld/%lld d=%lld causal=%d block %dx%d", rung.name,
           dtype_name(s.dtype), (long long)s.batch, (long long)s.heads, (long long)s.kv_heads, (long long)s.N_q,
           (long long)s.N_k, (long long)s.d, s.causal, block.B_r, block.B_c);
  if (!run.complaint.empty()) fail_msg("%s: %s", label, run.complaint.c_str());
  if (!run.verdict.right)
    fail_msg("%s: head %lld row %lld is off by %g of its size", label, (long long)run.verdict.head,
             (long long)run.verdict.row, run.verdict.worst_row);
  for (int t = 0; t < KERNEL_TENSORS; t++)
    if (run.counts.read[t] != model.read[t] || run.counts.write[t] != model.write[t])
      fail_msg("%s: %s reads %llu, writes %llu; model %llu, %llu", label, kernel_tensor_name(t), run.counts.read[t],
               run.counts.write[t], (unsigned long long)model.read[t], (unsigned long long)model.write[t]);
}

static void run_cases(const Rung &rung) {
  const Dtype types[] = {DTYPE_FP16, DTYPE_BF16, DTYPE_FP32};
  int n = 0;
  for (const Case &c : CASES) {
    if (!takes_d(rung, c.d)) continue;
    const int turn = n + n / 3; /* of a third, each type and each kind of check still comes */
    if (turn % ONE_OF) {
      n++;
      continue;
    }
    Dtype dtype = types[n++ % (rung.takes_fp32 ? 3 : 2)];
    const Shape s = shape_of(c, dtype);
    Block block = rung.blocks[0];
    if (rung.default_block) block = rung.default_block((int)s.d, dtype_bytes(dtype));
    if (is_free(rung) && c.B_r) block = Block{c.B_r, c.B_c};
    expect_right(rung, s, block, n % 2 == 0, n % 3 == 0);
  }
}

static void run_odd_cases(const Rung &rung) {
  int n = 0;
  for (const Case &c : ODD_CASES)
    for (Dtype dtype : {DTYPE_FP16, DTYPE_BF16, DTYPE_FP32}) {
      if (n++ % ONE_OF) continue;
      const Shape s = shape_of(c, dtype);
      Block block = rung.blocks[0];
      if (is_free(rung)) block = c.B_r ? Block{c.B_r, c.B_c} : rung.default_block((int)s.d, dtype_bytes(dtype));
      expect_right(rung, s, block, false, false);
    }
}

/* Every rung on the shapes that it takes; those that take any d on odd ones too. */
static void test_every_rung(void **) {
  for (int r = 0; r < counted::N_RUNGS; r++) {
    run_cases(*counted::RUNGS[r]);
    if (counted::RUNGS[r]->head_dims[0] == 0) run_odd_cases(*counted::RUNGS[r]);
  }
}

/* Three consumers; more row blocks than CTAs. */
static void test_fa3_overlap(void **) {
  for (const bool causal : {false, true})
    expect_right(rung_named("fa3_overlap"), shape_of({1, 4, 2, 390, 300, 64, causal, 0, 0}, DTYPE_BF16), {192, 128},
                 true, causal);
}

/* Decode: one query and few, one group and many, more rows than a tile has, ragged keys, more splits than tiles; with a
 * mask, splits that some rows or all do not see. Paged keys give the same. */
static void test_fa2_decode(void **) {
  static const struct {
    Case shape;
    int n_splits;
  } DECODES[] = {
      {{1, 1, 1, 1, 1, 64, false, 0, 0}, 1},     {{1, 8, 2, 1, 300, 128, false, 0, 0}, 3},
      {{2, 4, 1, 1, 513, 64, true, 0, 0}, 4},    {{1, 32, 2, 1, 130, 64, false, 0, 0}, 2},
      {{1, 6, 2, 3, 200, 128, true, 0, 0}, 2},   {{1, 20, 1, 2, 100, 64, true, 0, 0}, 5},
      {{2, 3, 3, 5, 40, 128, true, 0, 0}, 1},    {{1, 2, 1, 40, 30, 64, true, 0, 0}, 2},
      {{1, 2, 1, 1, 1000, 128, false, 0, 0}, 7}, {{1, 4, 4, 1, 64, 64, false, 0, 0}, 6},
  };
  int n = 0;
  for (const char *name : {"fa2_decode", "fa2_decode_paged"})
    for (const auto &c : DECODES) {
      Block block = rung_named(name).blocks[0];
      block.n_splits = c.n_splits;
      n++;
      expect_right(rung_named(name), shape_of(c.shape, n % 2 ? DTYPE_FP16 : DTYPE_BF16), block, n % 3 == 0, n % 5 < 2);
    }
}

/* A CTA for each of 132 SMs, and no more splits than tiles. */
static void test_decode_splits(void **) {
  const Rung &rung = rung_named("fa2_decode");
  Attention a = {};
  a.batch = 1, a.heads = 32, a.kv_heads = 8, a.N_q = 1, a.N_k = 32768, a.d = 128;
  assert_int_equal(rung.default_splits(a, 132), 16); /* 8 KV heads x 16 = 128 CTAs; 512 tiles in 16 parts are 32 each */
  a.N_k = 128;
  assert_int_equal(rung.default_splits(a, 132), 2);
  a.N_k = 32768, a.batch = 33;
  assert_int_equal(rung.default_splits(a, 132), 1);
}

/* Every block that the tensor rungs offer. */
static void test_block_choices(void **) {
  for (const char *name : {"fa2_tensor", "fa2_async"}) {
    const Rung &rung = rung_named(name);
    for (int b = 0; rung.blocks[b].B_r; b++)
      for (int64_t d : {64, 128}) {
        const Case c = {1, 1, 1, 150, 140, d, true, 0, 0};
        expect_right(rung, shape_of(c, b % 2 ? DTYPE_BF16 : DTYPE_FP16), rung.blocks[b], false, b % 2 == 1);
      }
  }
}

/* Tests of the tests: without any one of its barriers, waits, arrivals, fences or bulk copies that ran, a kernel must
 * not pass. Most are noticed in the first and smallest case. */
static const std::vector<Case> OMISSIONS = {
    {1, 1, 1, 70, 100, 64, false, 32, 24}, {1, 1, 1, 130, 200, 64, false, 32, 24}, {1, 1, 1, 200, 3, 64, true, 32, 32}};
/* Hopper's have a ring, and CTAs that stay. */
static const std::vector<Case> HOPPER_OMISSIONS = {{1, 2, 2, 64, 100, 64, false, 0, 0},
                                                   {1, 6, 6, 64, 100, 64, false, 0, 0},
                                                   {1, 2, 1, 70, 270, 64, true, 0, 0},
                                                   {1, 3, 1, 140, 400, 64, false, 0, 0},
                                                   {1, 2, 1, 260, 300, 64, true, 0, 0}};

static CpuRun run_without(const Rung &rung, const Case &c, int site) {
  const Shape s = shape_of(c, rung.takes_fp32 ? DTYPE_FP32 : DTYPE_FP16);
  Block block = is_free(rung) ? Block{c.B_r, c.B_c} : rung.blocks[0];
  if (rung.trains || (rung.oldest_sm >= 90 && rung.default_block)) block = rung.default_block((int)s.d, 2);
  if (rung.default_splits) block.n_splits = 2;
  Inputs inputs;
  inputs_fill(s, 3, false, &inputs);
  return run_on_cpu(rung, s, block, inputs, {LADDER, true, site});
}

/* Which of a rung's sites run in some case, and which of these are noticed when they are left out; every `step`-th. */
static void try_omissions(const Rung &rung, int first, int step, int *n_sites) {
  const std::vector<Case> &cases = rung.oldest_sm < 90 ? OMISSIONS : HOPPER_OMISSIONS;
  std::vector<CpuRun> whole;
  for (const Case &c : cases) {
    whole.push_back(run_without(rung, c, -1));
    if (!whole.back().complaint.empty()) fail_msg("%s: %s", rung.name, whole.back().complaint.c_str());
  }
  for (size_t site = (size_t)first; site < whole[0].sites.size(); site += (size_t)step) {
    bool ran = false, noticed = false;
    for (size_t c = 0; c < cases.size() && !noticed; c++) {
      if (!whole[c].sites[site].ran) continue;
      ran = true;
      const CpuRun run = run_without(rung, cases[c], (int)site);
      noticed = !run.complaint.empty() || !run.verdict.right;
    }
    *n_sites += ran;
    const std::string &text = whole[0].sites[site].text;
    const bool is_turn = !strcmp(rung.name, "fa3_overlap") && text.find("bar.sync") != std::string::npos;
    if (ran && !noticed && !is_turn) /* turns are for speed; three of its barriers are no more than that */
      fail_msg("%s passes without %s, line %d", rung.name, text.c_str(), whole[0].sites[site].line);
  }
}

/* Those of one rung; at night of every rung, some 500, in two minutes. */
static void test_every_barrier_and_wait_is_needed(void **) {
  int n_sites = 0;
  if (ONE_OF > 1) {
    try_omissions(rung_named("fa2_async"), 0, 1, &n_sites);
    assert_true(n_sites >= 1);
    return;
  }
  for (int r = 0; r < counted::N_RUNGS; r++) try_omissions(*counted::RUNGS[r], 0, 1, &n_sites);
  assert_true(n_sites >= 400);
}

int main(void) {
  if (sizeof(void *) < 8) return 77; /* crosscheck --cpu refuses there */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_rung),    cmocka_unit_test(test_fa3_overlap),
      cmocka_unit_test(test_fa2_decode),    cmocka_unit_test(test_decode_splits),
      cmocka_unit_test(test_block_choices), cmocka_unit_test(test_every_barrier_and_wait_is_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
