/* The harness's command line and its printing: no GPU here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/lib/harness.h"

extern "C" {
#include "sim/base/size.h"
}

static const char HELP[] =
    "usage: tilewalk-kernels [what] [options]\n"
    "\n"
    "  --list           the rungs, what they take and what they need\n"
    "  --verify         outputs against double precision (without -N: a grid of shapes)\n"
    "  --count          bytes that the kernels ask for against the model (without -N: a grid of shapes)\n"
    "  --time           median of many runs, caches warm and cold\n"
    "  --all            all of these\n"
    "  --placement      the side of L2 of each SM, and the SM of each CTA of a launch, as CSV\n"
    "  --scan           reads and stores of L2 granules from a list, a launch each, for a profiler\n"
    "  --scan-places    the same with all that is read and stored at several places in turn\n"
    "  --sets           which lines share a set of L2, as CSV\n"
    "  --replacement    what a set of L2 keeps of lines that are read in turn, as CSV\n"
    "  --spills         a buffer read while registers are spilled, a launch each, for a profiler\n"
    "  --coalescer      SMs that ask for the same lines at chosen moments, a launch each, for a profiler\n"
    "  --pace           how evenly the CTAs of fa2_async and fa2_tensor go: cycles a tile, as CSV\n"
    "  --clocks         the clock of each SM, under load and idle, as CSV\n"
    "  --steps          when CTAs of fa2_async and fa2_tensor ask for tiles, a launch each, for a profiler\n"
    "  --steps-shared   the same where SMs have more than one CTA, or some one more than others\n"
    "  --ends           how evenly their CTAs share an SM: when they end, for a profiler\n"
    "  --stamps         the clock at moments of each tile of fa2_async, fa2_wgmma, fa3_overlap, fa3_backward, as CSV\n"
    "  --waves          where and when their CTAs run in launches of several waves, for a profiler\n"
    "  --begins         launches of one wave that begin with each GPC in turn, for a profiler\n"
    "  --once           one launch of each rung and nothing else, for a profiler\n"
    "\n"
    "  --rung NAME      a rung, or several separated by commas (default: all)\n"
    "  -N, --seq-len N  queries (and keys)     --seq-len-k N  keys, if not as many\n"
    "  -d, --head-dim D                        --batch B   --heads H   --kv-heads H\n"
    "  --dtype fp16|bf16|fp32   --causal       --block B, or --block-q B --block-k B\n"
    "  --splits N       parts of the keys, for the rungs that split them (default: as many as fill the GPU)\n"
    "  --seed S   --repeats R                  --csv   --json\n"
    "  --apart SEED     with --once: a random number of unused pages of 2 MiB before each of Q, K, V and O\n"
    "  --counters       --count, printed as `tilewalk crosscheck --ncu` reads it\n"
    "  --shapes FILE    a run for each line of the file, which holds options as above\n"
    "\n"
    "Exit status: 0 done, 1 something verified or counted is wrong, 2 the request cannot be met.\n";

[[noreturn]] static void usage(const char *what, const char *why) {
  fprintf(stderr, "tilewalk-kernels: %s: %s (--help lists the options)\n", what, why);
  exit(2);
}

static int64_t count_of(const char *option, const char *text) {
  int64_t value = 0;
  Error error = {};
  if (!text) usage(option, "needs a number after it");
  if (size_parse_count(text, &value, &error)) usage(option, error.message);
  return value;
}

static int small_count_of(const char *option, const char *text, int64_t limit) {
  const int64_t value = count_of(option, text);
  if (value > limit) usage(option, "that is more than the kernels take");
  return (int)value;
}

static void add_rungs(const char *text, std::vector<std::string> *rungs) {
  if (!text || !*text) usage("--rung", "needs a name after it");
  for (const char *at = text; *at;) {
    const size_t length = strcspn(at, ",");
    if (length) rungs->push_back(std::string(at, length));
    at += length + (at[length] == ',');
  }
}

const char *const STUDIES[N_STUDIES] = {"--placement", "--scan",        "--coalescer",    "--pace",   "--clocks",
                                        "--steps",     "--ends",        "--waves",        "--begins", "--scan-places",
                                        "--sets",      "--replacement", "--steps-shared", "--spills", "--stamps"};

static bool take_study(Request *r, const char *o) {
  for (int i = 0; i < N_STUDIES; i++) {
    if (strcmp(o, STUDIES[i])) continue;
    if (r->study && r->study != i + 1) usage(STUDIES[r->study - 1], "goes with no other mode");
    r->study = i + 1;
    return true;
  }
  return false;
}

static bool take_flag(Request *r, const char *o) {
  if (!strcmp(o, "--list")) return r->list = true;
  if (!strcmp(o, "--verify")) return r->verify = true;
  if (!strcmp(o, "--count")) return r->count = true;
  if (!strcmp(o, "--time")) return r->time = true;
  if (!strcmp(o, "--all")) return r->list = r->verify = r->count = r->time = true;
  if (!strcmp(o, "--once")) return r->once = true;
  if (!strcmp(o, "--causal")) return r->shape.causal = true;
  if (!strcmp(o, "--csv")) return r->format = FORMAT_CSV, true;
  if (!strcmp(o, "--counters")) return r->format = FORMAT_COUNTERS, r->count = true;
  if (!strcmp(o, "--json")) return r->format = FORMAT_JSON, true;
  return take_study(r, o);
}

static const struct {
  const char *name, *other;
} VALUES[] = {{"-N", "--seq-len"},   {"--seq-len-k", ""},   {"-d", "--head-dim"}, {"--batch", ""},
              {"--heads", ""},       {"--kv-heads", ""},    {"--dtype", ""},      {"--block", ""},
              {"--block-q", "--br"}, {"--block-k", "--bc"}, {"--seed", ""},       {"--repeats", ""},
              {"--rung", ""},        {"--shapes", ""},      {"--apart", ""},      {"--splits", ""}};
enum {
  V_N,
  V_N_K,
  V_D,
  V_BATCH,
  V_HEADS,
  V_KV_HEADS,
  V_DTYPE,
  V_BLOCK,
  V_BLOCK_Q,
  V_BLOCK_K,
  V_SEED,
  V_REPEATS,
  V_RUNG,
  V_SHAPES,
  V_APART,
  V_SPLITS,
  N_VALUES
};

static void take_value(Request *r, int option, const char *name, const char *value) {
  enum { MAX_N = 1 << 24, MAX_HEADS = 65535, MAX_D = 4096, MAX_BLOCK = 4096 };
  switch (option) {
  case V_N: r->shape.N_q = small_count_of(name, value, MAX_N), r->has_shape = true; break;
  case V_N_K: r->shape.N_k = small_count_of(name, value, MAX_N); break;
  case V_D: r->shape.d = small_count_of(name, value, MAX_D); break;
  case V_BATCH: r->shape.batch = small_count_of(name, value, MAX_HEADS); break;
  case V_HEADS: r->shape.heads = small_count_of(name, value, MAX_HEADS); break;
  case V_KV_HEADS: r->shape.kv_heads = small_count_of(name, value, MAX_HEADS); break;
  case V_BLOCK: r->block.B_r = r->block.B_c = small_count_of(name, value, MAX_BLOCK); break;
  case V_BLOCK_Q: r->block.B_r = small_count_of(name, value, MAX_BLOCK); break;
  case V_BLOCK_K: r->block.B_c = small_count_of(name, value, MAX_BLOCK); break;
  case V_SEED: r->seed = (uint64_t)count_of(name, value); break;
  case V_APART: r->apart = (uint64_t)count_of(name, value); break;
  case V_SPLITS: r->block.n_splits = small_count_of(name, value, 1024); break;
  case V_REPEATS: r->repeats = small_count_of(name, value, 10000); break;
  case V_RUNG: add_rungs(value, &r->rungs); break;
  case V_SHAPES: r->shapes = value ? value : ""; break;
  case V_DTYPE:
    r->has_dtype = true;
    if (!value || !dtype_from_name(value, &r->shape.dtype) || r->shape.dtype == DTYPE_FP8)
      usage("--dtype", "the kernels take fp16, bf16 and fp32");
    break;
  }
}

static void take_options(Request *r, int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      fputs(HELP, stdout);
      exit(0);
    }
    if (take_flag(r, argv[i])) continue;
    int option = 0;
    while (option < N_VALUES && strcmp(argv[i], VALUES[option].name) && strcmp(argv[i], VALUES[option].other)) option++;
    if (option == N_VALUES) usage(argv[i], "no such option");
    take_value(r, option, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
    r->has_values = true;
    i++;
  }
}

static void check_study(const Request *r) {
  if (!r->study) return;
  const char *mode = STUDIES[r->study - 1];
  if (r->list || r->verify || r->count || r->time || r->once) usage(mode, "goes with no other mode");
  if (r->format != FORMAT_TABLE && r->format != FORMAT_CSV) usage(mode, "prints CSV and nothing else");
  if (r->has_values || r->shape.causal) usage(mode, "chooses its launches itself; it goes with no shape and no rung");
}

static void complete(Request *r) {
  check_study(r);
  if (r->study) return;
  if (!r->list && !r->verify && !r->count && !r->time && !r->once) r->list = true;
  if (r->apart && !r->once)
    usage("--apart",
          "goes with --once alone: what L2 keeps depends on where tensors lie, and only a profiler sees that");
  if ((r->block.B_r == 0) != (r->block.B_c == 0)) usage("--block-q", "give --block-k with it, or --block for both");
  if (!r->shape.N_q) r->shape.N_q = 4096;
  if (!r->shape.d) r->shape.d = 128;
  Error error = {};
  if (shape_complete(&r->shape, &error)) usage("shape", error.message);
  if (r->shape.batch * r->shape.heads > 65535) usage("--heads", "batch x heads can be at most 65535");
}

Request request_parse(int argc, char **argv) {
  Request r = {};
  r.seed = 1;
  take_options(&r, argc - 1, argv + 1);
  check_study(&r);
  if (r.shapes.empty()) complete(&r);
  return r;
}

std::vector<Request> request_lines(const Request &request) {
  FILE *file = fopen(request.shapes.c_str(), "r");
  if (!file) usage(request.shapes.c_str(), "cannot be read");
  std::vector<Request> requests;
  char line[512];
  while (fgets(line, sizeof line, file)) {
    std::vector<char *> words;
    for (char *word = strtok(line, " \t\r\n"); word; word = strtok(NULL, " \t\r\n")) words.push_back(word);
    if (words.empty() || words[0][0] == '#') continue;
    requests.push_back(request);
    take_options(&requests.back(), (int)words.size(), words.data());
    complete(&requests.back());
  }
  fclose(file);
  return requests;
}

static const char *const COLUMNS =
    "mode,rung,dtype,batch,heads,kv_heads,seq_q,seq_k,head_dim,causal,block_q,block_k,"
    "good,inputs,worst_row_error,tolerance,"
    "rmse,rows_checked,read_Q,read_K,read_V,read_S,read_P,read_O,read_stats,write_S,"
    "write_P,write_O,write_stats,model_read,"
    "model_write,warm_us,cold_us,tflops,note,splits,read_pages,read_dO,read_dQ,write_dQ,write_dK,write_dV";

void results_begin(const Request &request) {
  if (request.format == FORMAT_CSV) puts(COLUMNS);
  if (request.format == FORMAT_COUNTERS)
    puts("rung,dtype,batch,heads,kv_heads,seq_q,seq_k,head_dim,causal,block_q,block_k,splits,counted_read_bytes,"
         "counted_write_bytes\n"
         ",,,,,,,,,,,,byte,byte");
  if (request.format == FORMAT_JSON) printf("{\"tilewalk_kernels\": 1, \"results\": [");
  if (request.format == FORMAT_TABLE)
    printf("%-7s %-15s %-5s %5s %6s %7s %7s %4s %-6s %-8s\n", "what", "rung", "dtype", "batch", "heads", "N_q", "N_k",
           "d", "mask", "block");
}

void results_end(const Request &request) {
  if (request.format == FORMAT_JSON) puts("\n]}");
}

static unsigned long long sum(const unsigned long long *bytes) {
  unsigned long long total = 0;
  for (int t = 0; t < KERNEL_TENSORS; t++) total += bytes[t];
  return total;
}

static void print_table(const Result &r) {
  char heads[16], block[16];
  snprintf(heads, sizeof heads, "%lld/%lld", (long long)r.shape.heads, (long long)r.shape.kv_heads);
  snprintf(block, sizeof block, "%dx%d", r.block.B_r, r.block.B_c);
  printf("%-7s %-15s %-5s %5lld %6s %7lld %7lld %4lld %-6s %-8s ", r.mode, r.rung->name, dtype_name(r.shape.dtype),
         (long long)r.shape.batch, heads, (long long)r.shape.N_q, (long long)r.shape.N_k, (long long)r.shape.d,
         r.shape.causal ? "causal" : "none", block);
  if (!r.note.empty())
    printf("left out: %s\n", r.note.c_str());
  else if (!strcmp(r.mode, "verify"))
    printf("%s  worst row %.2e of %.1e  RMSE %.2e  %s\n", r.good ? "right" : "WRONG", r.verdict.worst_row, r.tolerance,
           r.verdict.rmse, r.outliers ? "outliers" : "normal");
  else if (!strcmp(r.mode, "count"))
    printf("%s  read %llu of %llu  written %llu of %llu\n", r.good ? "equal" : "DIFFERS", sum(r.counts.read),
           (unsigned long long)kernel_traffic_read(&r.model), sum(r.counts.write),
           (unsigned long long)kernel_traffic_write(&r.model));
  else
    printf("%10.1f us warm %10.1f us cold %8.2f TFLOP/s\n", r.warm_us, r.cold_us, r.tflops);
}

static void print_csv(const Result &r) {
  const unsigned long long *in = r.counts.read, *out = r.counts.write;
  printf("%s,%s,%s,%lld,%lld,%lld,%lld,%lld,%lld,%d,%d,%d,%d,%s,%.6g,%.6g,%.6g,%lld,", r.mode, r.rung->name,
         dtype_name(r.shape.dtype), (long long)r.shape.batch, (long long)r.shape.heads, (long long)r.shape.kv_heads,
         (long long)r.shape.N_q, (long long)r.shape.N_k, (long long)r.shape.d, r.shape.causal, r.block.B_r, r.block.B_c,
         r.good, r.outliers ? "outliers" : "normal", r.verdict.worst_row, r.tolerance, r.verdict.rmse,
         (long long)r.verdict.rows_checked);
  printf("%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%.3f,%.3f,%.3f,\"%s\",%d,%llu,%llu,%llu,"
         "%llu,%llu,%llu\n",
         in[KERNEL_Q], in[KERNEL_K], in[KERNEL_V], in[KERNEL_S], in[KERNEL_P], in[KERNEL_O], in[KERNEL_STATS],
         out[KERNEL_S], out[KERNEL_P], out[KERNEL_O], out[KERNEL_STATS],
         (unsigned long long)kernel_traffic_read(&r.model), (unsigned long long)kernel_traffic_write(&r.model),
         r.warm_us, r.cold_us, r.tflops, r.note.c_str(), r.block.n_splits, in[KERNEL_PAGES], in[KERNEL_dO],
         in[KERNEL_dQ], out[KERNEL_dQ], out[KERNEL_dK], out[KERNEL_dV]);
}

static void print_json(const Result &r, bool first) {
  printf("%s\n  {\"mode\": \"%s\", \"rung\": \"%s\", \"dtype\": \"%s\", \"batch\": %lld, \"heads\": %lld, "
         "\"kv_heads\": %lld, \"seq_q\": %lld, \"seq_k\": %lld, \"head_dim\": %lld, \"causal\": %s, \"block_q\": %d, "
         "\"block_k\": %d, ",
         first ? "" : ",", r.mode, r.rung->name, dtype_name(r.shape.dtype), (long long)r.shape.batch,
         (long long)r.shape.heads, (long long)r.shape.kv_heads, (long long)r.shape.N_q, (long long)r.shape.N_k,
         (long long)r.shape.d, r.shape.causal ? "true" : "false", r.block.B_r, r.block.B_c);
  if (!r.note.empty())
    printf("\"left_out\": \"%s\"}", r.note.c_str());
  else if (!strcmp(r.mode, "verify"))
    printf("\"right\": %s, \"inputs\": \"%s\", \"worst_row_error\": %.6g, \"tolerance\": %.6g, \"rmse\": %.6g}",
           r.good ? "true" : "false", r.outliers ? "outliers" : "normal",
           r.verdict.worst_row < 1e300 ? r.verdict.worst_row : 1e300, r.tolerance,
           r.verdict.rmse == r.verdict.rmse ? r.verdict.rmse : 1e300);
  else if (!strcmp(r.mode, "count"))
    printf("\"equal\": %s, \"read_bytes\": %llu, \"write_bytes\": %llu, \"model_read_bytes\": %llu, "
           "\"model_write_bytes\": %llu}",
           r.good ? "true" : "false", sum(r.counts.read), sum(r.counts.write),
           (unsigned long long)kernel_traffic_read(&r.model), (unsigned long long)kernel_traffic_write(&r.model));
  else
    printf("\"warm_us\": %.3f, \"cold_us\": %.3f, \"tflops\": %.3f}", r.warm_us, r.cold_us, r.tflops);
}

static void print_counters(const Result &r) {
  if (strcmp(r.mode, "count") || !r.note.empty()) return;
  printf("%s,%s,%lld,%lld,%lld,%lld,%lld,%lld,%d,%d,%d,%d,%llu,%llu\n", r.rung->name, dtype_name(r.shape.dtype),
         (long long)r.shape.batch, (long long)r.shape.heads, (long long)r.shape.kv_heads, (long long)r.shape.N_q,
         (long long)r.shape.N_k, (long long)r.shape.d, r.shape.causal, r.block.B_r, r.block.B_c,
         r.block.n_splits ? r.block.n_splits : 1, sum(r.counts.read), sum(r.counts.write));
}

void result_print(const Request &request, const Result &result, bool first) {
  if (request.format == FORMAT_COUNTERS) return print_counters(result);
  if (request.format == FORMAT_CSV)
    print_csv(result);
  else if (request.format == FORMAT_JSON)
    print_json(result, first);
  else
    print_table(result);
  fflush(stdout);
}
