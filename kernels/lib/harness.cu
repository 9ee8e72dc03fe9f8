/* tilewalk-kernels: runs the ladder on a GPU. What it prints is what the README's tables and `tilewalk crosscheck
 * --live` are made of.
 *
 *     --verify   outputs start as NaN and are compared, row by row, with attention in double precision
 *     --count    the counting build's bytes per tensor against kernels/counters/kernel_model.h, which must be equal
 *     --time     events around each launch; warm: one after another; cold: after L2 has been overwritten */
#include <algorithm>
#include <math.h>
#include <string.h>

#include "kernels/lib/cuda_calls.h"
#include "kernels/lib/harness.h"
#include "kernels/lib/pass.h"

extern const Rung EAGER_CUBLAS;
bool eager_cublas_available();

struct Gpu {
  int sm, n_sms;    /* sm: 90 for compute capability 9.0 */
  int shared_bytes; /* that a block can have */
};

static Gpu gpu_open() {
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0)
    refuse("no CUDA GPU here: `tilewalk crosscheck --cpu` runs the same kernels on the CPU");
  cudaDeviceProp p;
  GPU(cudaGetDeviceProperties(&p, 0));
  const Gpu gpu = {p.major * 10 + p.minor, p.multiProcessorCount, (int)p.sharedMemPerBlockOptin};
  if (gpu.sm < 75) refuse("%s has compute capability %d.%d; the kernels need 7.5 or later", p.name, p.major, p.minor);
  return gpu;
}

static Block block_for(const Gpu &gpu, const Request &request, const Rung &rung, const Shape &s) {
  Block block = rung_block(rung, request.block, s.d, s.dtype);
  block.n_splits = 0;
  if (!rung.default_splits) return block;
  const int n = request.block.n_splits;
  block.n_splits = n ? n : rung.default_splits(attention_of(s), gpu.n_sms);
  return block;
}

static std::string sizes_of(const Rung &rung, const char *between) {
  std::string text;
  for (int i = 0; i < 4 && rung.head_dims[i]; i++) text += (i ? between : "") + std::to_string(rung.head_dims[i]);
  return text;
}

static std::string blocks_of(const Rung &rung) {
  std::string text;
  for (int i = 0; i < 8 && rung.blocks[i].B_r; i++)
    text += (i ? ", " : "") + std::to_string(rung.blocks[i].B_r) + "x" + std::to_string(rung.blocks[i].B_c);
  return text;
}

/* "" when the rung can run this here, else why not and what would do. */
static std::string objection(const Gpu &gpu, const Rung &rung, const Shape &s, Block b) {
  char text[200] = "";
  const size_t shared = rung.shared_bytes ? rung.shared_bytes((int)s.d, b, dtype_bytes(s.dtype)) : 0;
  if (gpu.sm < rung.oldest_sm)
    snprintf(text, sizeof text, "needs compute capability %d.%d; this GPU has %d.%d", rung.oldest_sm / 10,
             rung.oldest_sm % 10, gpu.sm / 10, gpu.sm % 10);
  else if (rung.oldest_sm == 90 && gpu.sm != 90)
    snprintf(text, sizeof text, "is made of Hopper's instructions alone (9.0); this GPU has %d.%d", gpu.sm / 10,
             gpu.sm % 10);
  else if (s.dtype == DTYPE_FP32 && !rung.takes_fp32)
    snprintf(text, sizeof text, "takes fp16 or bf16, not fp32");
  else if (!rung_takes_d(rung, s.d))
    snprintf(text, sizeof text, "takes d = %s, not %lld", sizes_of(rung, " or ").c_str(), (long long)s.d);
  else if (!rung_takes_block(rung, b))
    snprintf(text, sizeof text, "takes blocks %s, not %dx%d", blocks_of(rung).c_str(), b.B_r, b.B_c);
  else if (shared > (size_t)gpu.shared_bytes)
    snprintf(text, sizeof text,
             "a %dx%d block at d = %lld needs %zu bytes of shared memory and this GPU gives %d: choose a smaller block",
             b.B_r, b.B_c, (long long)s.d, shared, gpu.shared_bytes);
  else if (rung.number == 0 && s.kv_heads != s.heads)
    snprintf(text, sizeof text, "takes as many K/V heads as heads");
  else if (rung.number == 0 && !eager_cublas_available())
    snprintf(text, sizeof text, "no cuBLAS library was found");
  return text;
}

static void verify(const Rung &rung, const Shape &s, uint64_t seed, Result *r) {
  Inputs inputs;
  Training training;
  inputs_fill(s, seed, r->outliers, &inputs);
  if (rung.trains) training_fill(s, seed, r->outliers, inputs, &training);
  const Pass pass(rung, s, r->block, &inputs, rung.trains ? &training : nullptr);
  pass.run();
  const int64_t rows = s.batch * s.heads * s.N_q, wanted = std::max<int64_t>(64, 100000000 / (s.N_k * s.d));
  const int64_t step = rows > wanted ? rows / wanted | 1 : 1; /* odd, so that all places in a tile come up */
  const std::vector<unsigned char> results[] = {pass.fetched(rung.trains ? PIECE_dQ : PIECE_O), pass.fetched(PIECE_dK),
                                                pass.fetched(PIECE_dV)};
  const void *const left[] = {results[0].data(), results[1].data(), results[2].data()};
  r->tolerance = tolerance(rung, s.dtype);
  r->verdict = problem_verdict(rung, s, inputs, training, left, std::min(step, s.N_q));
  r->good = r->verdict.right;
}

static void count(const Rung &counted_rung, const Shape &s, Result *r) {
  const Pass pass(counted_rung, s, r->block);
  pass.run();
  memcpy(&r->counts, pass.fetched(PIECE_COUNTS).data(), sizeof r->counts);
  const Tiling tiling = tiling_of(r->block);
  Error error = {};
  if (kernel_model_traffic(kernel_model_find(counted_rung.name), &s, &tiling, &r->model, &error))
    refuse("%s", error.message);
  r->good = true;
  for (int t = 0; t < KERNEL_TENSORS; t++)
    r->good = r->good && r->counts.read[t] == r->model.read[t] && r->counts.write[t] == r->model.write[t];
}

static void time_rung(const Request &request, const Rung &rung, const Shape &s, Result *r) {
  const Pass pass(rung, s, r->block);
  const GpuArray<char> flush(256u << 20, "overwriting L2"); /* several times any L2 */
  pass.fill_inputs();
  GpuTimer timer;
  timer.begin();
  pass.start();
  const double first_ms = timer.end_ms();
  const int repeats = request.repeats ? request.repeats : (int)std::min(30.0, std::max(5.0, 250 / first_ms));
  std::vector<double> warm, cold;
  for (int i = 0; i < repeats + 2; i++) {
    timer.begin();
    pass.start();
    const double ms = timer.end_ms();
    if (i >= 2) warm.push_back(ms);
  }
  for (int i = 0; i < std::min(repeats, 11); i++) {
    flush.fill(i);
    timer.begin();
    pass.start();
    cold.push_back(timer.end_ms());
  }
  r->warm_us = median(warm) * 1e3;
  r->cold_us = median(cold) * 1e3;
  const double flops = (rung.trains ? 10.0 : 4.0) * (double)s.N_q * (double)s.N_k * (double)s.d *
                       (double)(s.batch * s.heads) / (s.causal ? 2 : 1);
  r->tflops = flops / r->warm_us / 1e6;
  r->good = true;
}

static void run_once(const Rung &rung, const Shape &s, const Result &r, uint64_t apart) {
  const Pass pass(rung, s, r.block, nullptr, nullptr, apart);
  pass.fill_inputs();
  pass.run();
}

/* Shapes for --verify and --count without -N: ragged, causal with N_q < N_k and N_q > N_k, GQA, MQA, batches, tiny. */
static const struct GridShape {
  int batch, heads, kv_heads, N_q, N_k, d;
} GRID[] = {
    {1, 1, 1, 1, 1, 64},     {1, 1, 1, 1, 333, 128},     {1, 1, 1, 7, 5, 64},       {1, 2, 1, 63, 65, 128},
    {1, 1, 1, 64, 64, 64},   {1, 2, 2, 127, 129, 64},    {2, 4, 2, 128, 128, 128},  {1, 1, 1, 200, 3, 64},
    {2, 6, 2, 255, 257, 64}, {1, 8, 1, 300, 300, 128},   {1, 3, 3, 512, 1024, 64},  {1, 2, 1, 1000, 500, 128},
    {3, 2, 2, 384, 384, 64}, {1, 4, 4, 1024, 1024, 128}, {1, 2, 2, 2048, 2048, 64}, {1, 1, 1, 4099, 4099, 128},
};
static const GridShape ODD_GRID[] = {
    {1, 1, 1, 33, 47, 5}, {1, 2, 1, 100, 90, 40}, {1, 1, 1, 130, 130, 80}, {2, 2, 2, 65, 129, 256}};

static std::vector<Shape> grid_shapes(const Request &request, const Rung &rung) {
  std::vector<Shape> shapes;
  const auto add = [&](const GridShape &g, int n) {
    for (Dtype dtype : {DTYPE_FP16, DTYPE_BF16, DTYPE_FP32})
      for (int causal = 0; causal < 2; causal++) {
        if (request.has_dtype ? dtype != request.shape.dtype : dtype == DTYPE_FP32 && n % 4) continue;
        Shape s = {};
        s.batch = g.batch, s.heads = g.heads, s.kv_heads = g.kv_heads;
        s.N_q = g.N_q, s.N_k = g.N_k, s.d = g.d, s.dtype = dtype, s.causal = causal;
        if (rung.trains && s.N_q > 2048) continue; /* the reference of gradients takes N_q N_k d steps */
        if (dtype != DTYPE_FP32 || rung.takes_fp32) shapes.push_back(s);
      }
  };
  int n = 0;
  for (const GridShape &g : GRID) add(g, n++);
  for (const GridShape &g : ODD_GRID)
    if (rung.head_dims[0] == 0) add(g, n++);
  return shapes;
}

struct Run {
  const Request *request;
  const Gpu *gpu;
  bool first, all_good;
};

static void run_mode(Run *run, Mode mode, const Rung &rung, const Shape &s, bool outliers) {
  const Request &request = *run->request;
  Result r = {};
  r.mode = mode;
  r.rung = &rung;
  r.shape = s;
  r.block = block_for(*run->gpu, request, rung, s);
  r.outliers = outliers;
  r.note = objection(*run->gpu, rung, s, r.block);
  const bool from_grid = !request.has_shape && (mode == VERIFY || mode == COUNT);
  const bool asked_for = request.rungs.size() == 1 && (!from_grid || request.block.B_r);
  if (!r.note.empty() && asked_for) refuse("%s %s", rung.name, r.note.c_str());
  if (!r.note.empty() && from_grid) return;
  if (r.note.empty()) {
    if (mode == VERIFY)
      verify(rung, s, request.seed, &r);
    else if (mode == COUNT)
      count(rung, s, &r);
    else if (mode == TIME)
      time_rung(request, rung, s, &r);
    else
      run_once(rung, s, r, request.apart);
    run->all_good = run->all_good && (r.good || mode == ONCE);
  }
  if (mode == ONCE) return;
  if (run->first) results_begin(request);
  result_print(request, r, run->first);
  run->first = false;
}

static bool is_wanted(const Request &request, const Rung &rung) {
  if (request.rungs.empty()) return true;
  return std::find(request.rungs.begin(), request.rungs.end(), rung.name) != request.rungs.end();
}

static void run_rung(Run *run, int index) {
  const Request &request = *run->request;
  const Rung &rung = index < 0 ? EAGER_CUBLAS : *plain::RUNGS[index];
  if (!is_wanted(request, rung)) return;
  const std::vector<Shape> shapes = request.has_shape ? std::vector<Shape>{request.shape} : grid_shapes(request, rung);
  if (request.runs[VERIFY])
    for (const Shape &s : shapes)
      for (const bool outliers : {false, true}) run_mode(run, VERIFY, rung, s, outliers);
  if (request.runs[COUNT] && index >= 0)
    for (const Shape &s : shapes) run_mode(run, COUNT, *counted::RUNGS[index], s, false);
  for (const Mode mode : {TIME, ONCE})
    if (request.runs[mode]) run_mode(run, mode, rung, request.shape, false);
}

/* Shared memory that each rung asks for at launch, with its default block. */
static void list_csv() {
  puts("rung,oldest_sm,dtype,head_dim,block_q,block_k,dynamic_shared_bytes");
  for (int i = 0; i < plain::N_RUNGS; i++)
    for (const Dtype dtype : {DTYPE_FP16, DTYPE_FP32})
      for (const int d : {64, 128}) {
        const Rung &r = *plain::RUNGS[i];
        if (dtype == DTYPE_FP32 && !r.takes_fp32) continue;
        const Block b = r.default_block ? r.default_block(d, dtype_bytes(dtype)) : r.blocks[0];
        printf("%s,%d,%s,%d,%d,%d,%zu\n", r.name, r.oldest_sm, dtype_name(dtype), d, b.B_r, b.B_c,
               r.shared_bytes ? r.shared_bytes(d, b, dtype_bytes(dtype)) : 0);
      }
}

static void list_rungs(const Request &request) {
  if (request.format == FORMAT_CSV && !request.runs[VERIFY] && !request.runs[COUNT] && !request.runs[TIME]) list_csv();
  if (request.format != FORMAT_TABLE) return;
  for (int i = 0; i < plain::N_RUNGS; i++) {
    const Rung &r = *plain::RUNGS[i];
    const std::string ds = sizes_of(r, ", "), blocks = r.blocks[0].B_r > 1 ? blocks_of(r) : "";
    printf("%d %-15s %-48s sm_%d+  d: %-8s blocks: %s\n", r.number, r.name, r.title, r.oldest_sm,
           ds.empty() ? "any" : ds.c_str(),
           !blocks.empty()   ? blocks.c_str()
           : r.blocks[0].B_r ? "none"
                             : "any that fit");
  }
  printf("  %-15s %s\n", EAGER_CUBLAS.name, EAGER_CUBLAS.title);
}

static void check_names(const Request &request) {
  for (const std::string &name : request.rungs)
    if (name != EAGER_CUBLAS.name && !rung_find(plain::RUNGS, plain::N_RUNGS, name.c_str()))
      refuse("--rung %s: no such rung (--list shows them)", name.c_str());
}

/* In the order of STUDIES. */
static void (*const RUN_STUDY[N_STUDIES])() = {placement_print,  scans_run,       coalescer_run, pace_print,
                                               clocks_print,     steps_run,       ends_run,      waves_run,
                                               begins_run,       scan_places_run, sets_print,    replacement_print,
                                               steps_shared_run, spills_run,      stamps_print};

int main(int argc, char **argv) {
  const Request request = request_parse(argc, argv);
  const std::vector<Request> requests = request.shapes.empty() ? std::vector<Request>{request} : request_lines(request);
  for (const Request &r : requests) check_names(r);
  if (request.list) list_rungs(request);
  const bool runs = request.runs_any();
  if (!runs && !request.study) return 0;
  const Gpu gpu = gpu_open();
  if (request.study) RUN_STUDY[request.study - 1]();
  if (!runs) return 0;
  Run run = {&request, &gpu, true, true};
  for (const Request &r : requests) {
    run.request = &r;
    for (int i = -1; i < plain::N_RUNGS; i++) run_rung(&run, i);
  }
  if (!request.runs[ONCE] && run.first) results_begin(request);
  if (!request.runs[ONCE]) results_end(request);
  if (!run.all_good && request.format != FORMAT_COUNTERS)
    fputs("tilewalk-kernels: something is wrong, see above\n", stderr);
  return run.all_good ? 0 : 1;
}
