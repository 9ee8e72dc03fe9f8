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

static int64_t count_of(const char *option, const char *text, int64_t limit = INT64_MAX) {
  int64_t value = 0;
  Error error = {};
  if (!text) usage(option, "needs a number after it");
  if (size_parse_count(text, &value, &error)) usage(option, error.message);
  if (value > limit) usage(option, "that is more than the kernels take");
  return value;
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

const char *const MODES[N_MODES] = {"verify", "count", "time", "once"};

static bool take_flag(Request *r, const char *o) {
  for (int m = 0; m < N_MODES; m++)
    if (!strncmp(o, "--", 2) && !strcmp(o + 2, MODES[m])) return r->runs[m] = true;
  if (!strcmp(o, "--list")) return r->list = true;
  if (!strcmp(o, "--all")) return r->list = r->runs[VERIFY] = r->runs[COUNT] = r->runs[TIME] = true;
  if (!strcmp(o, "--causal")) return r->shape.causal = true;
  if (!strcmp(o, "--csv")) return r->format = FORMAT_CSV, true;
  if (!strcmp(o, "--counters")) return r->format = FORMAT_COUNTERS, r->runs[COUNT] = true;
  if (!strcmp(o, "--json")) return r->format = FORMAT_JSON, true;
  return take_study(r, o);
}

enum { MAX_N = 1 << 24, MAX_HEADS = 65535, MAX_D = 4096, MAX_BLOCK = 4096 };

/* Counts, and where they go: into the shape, or into the block. */
static const struct {
  const char *name, *other;
  int64_t most;
  int64_t Shape::*of_shape;
  int Block::*of_block;
} COUNTS[] = {
    {"-N", "--seq-len", MAX_N, &Shape::N_q, nullptr},       {"--seq-len-k", "", MAX_N, &Shape::N_k, nullptr},
    {"-d", "--head-dim", MAX_D, &Shape::d, nullptr},        {"--batch", "", MAX_HEADS, &Shape::batch, nullptr},
    {"--heads", "", MAX_HEADS, &Shape::heads, nullptr},     {"--kv-heads", "", MAX_HEADS, &Shape::kv_heads, nullptr},
    {"--block-q", "--br", MAX_BLOCK, nullptr, &Block::B_r}, {"--block-k", "--bc", MAX_BLOCK, nullptr, &Block::B_c},
    {"--splits", "", 1024, nullptr, &Block::n_splits}};

static bool take_count(Request *r, const char *o, const char *value) {
  for (const auto &c : COUNTS) {
    if (strcmp(o, c.name) && strcmp(o, c.other)) continue;
    const int n = (int)count_of(o, value, c.most);
    if (c.of_block) return r->block.*c.of_block = n, true;
    r->shape.*c.of_shape = n;
    r->has_shape |= c.of_shape == &Shape::N_q;
    return true;
  }
  return false;
}

static void take_value(Request *r, const char *o, const char *value) {
  if (take_count(r, o, value)) return;
  if (!strcmp(o, "--block"))
    r->block.B_r = r->block.B_c = (int)count_of(o, value, MAX_BLOCK);
  else if (!strcmp(o, "--seed"))
    r->seed = (uint64_t)count_of(o, value);
  else if (!strcmp(o, "--apart"))
    r->apart = (uint64_t)count_of(o, value);
  else if (!strcmp(o, "--repeats"))
    r->repeats = (int)count_of(o, value, 10000);
  else if (!strcmp(o, "--rung"))
    add_rungs(value, &r->rungs);
  else if (!strcmp(o, "--shapes"))
    r->shapes = value ? value : "";
  else if (strcmp(o, "--dtype"))
    usage(o, "no such option");
  else if (!value || !dtype_from_name(value, &r->shape.dtype) || r->shape.dtype == DTYPE_FP8)
    usage(o, "the kernels take fp16, bf16 and fp32");
  else
    r->has_dtype = true;
}

static void take_options(Request *r, int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      fputs(HELP, stdout);
      exit(0);
    }
    if (take_flag(r, argv[i])) continue;
    take_value(r, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
    r->has_values = true;
    i++;
  }
}

static void check_study(const Request *r) {
  if (!r->study) return;
  const char *mode = STUDIES[r->study - 1];
  if (r->list || r->runs_any()) usage(mode, "goes with no other mode");
  if (r->format != FORMAT_TABLE && r->format != FORMAT_CSV) usage(mode, "prints CSV and nothing else");
  if (r->has_values || r->shape.causal) usage(mode, "chooses its launches itself; it goes with no shape and no rung");
}

static void complete(Request *r) {
  check_study(r);
  if (r->study) return;
  r->list |= !r->runs_any();
  if (r->apart && !r->runs[ONCE])
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

typedef unsigned long long Bytes;

static Bytes sum(const Bytes *bytes) {
  Bytes total = 0;
  for (int t = 0; t < KERNEL_TENSORS; t++) total += bytes[t];
  return total;
}

static const char *inputs_of(const Result &r) { return r.outliers ? "outliers" : "normal"; }

/* Bytes read and written, by the kernel and by the model. */
static void print_bytes(const Result &r, const char *format, const char *good) {
  printf(format, good, sum(r.counts.read), sum(r.counts.write), (Bytes)kernel_traffic_read(&r.model),
         (Bytes)kernel_traffic_write(&r.model));
}

/* Dtype to head_dim: the columns of each row of CSV. */
static void print_shape(const Result &r) {
  const Shape &s = r.shape;
  printf("%s,%s", r.rung->name, dtype_name(s.dtype));
  for (const int64_t n : {s.batch, s.heads, s.kv_heads, s.N_q, s.N_k, s.d}) printf(",%lld", (long long)n);
  printf(",%d,%d,%d,", s.causal, r.block.B_r, r.block.B_c);
}

static void print_table(const Result &r) {
  const Shape &s = r.shape;
  const std::string heads = std::to_string(s.heads) + "/" + std::to_string(s.kv_heads),
                    block = std::to_string(r.block.B_r) + "x" + std::to_string(r.block.B_c);
  printf("%-7s %-15s %-5s %5lld %6s %7lld %7lld %4lld %-6s %-8s ", MODES[r.mode], r.rung->name, dtype_name(s.dtype),
         (long long)s.batch, heads.c_str(), (long long)s.N_q, (long long)s.N_k, (long long)s.d,
         s.causal ? "causal" : "none", block.c_str());
  if (!r.note.empty())
    printf("left out: %s\n", r.note.c_str());
  else if (r.mode == VERIFY)
    printf("%s  worst row %.2e of %.1e  RMSE %.2e  %s\n", r.good ? "right" : "WRONG", r.verdict.worst_row, r.tolerance,
           r.verdict.rmse, inputs_of(r));
  else if (r.mode == COUNT)
    print_bytes(r, "%1$s  read %2$llu of %4$llu  written %3$llu of %5$llu\n", r.good ? "equal" : "DIFFERS");
  else
    printf("%10.1f us warm %10.1f us cold %8.2f TFLOP/s\n", r.warm_us, r.cold_us, r.tflops);
}

static void print_csv(const Result &r) {
  const Bytes *in = r.counts.read, *out = r.counts.write;
  printf("%s,", MODES[r.mode]);
  print_shape(r);
  printf("%d,%s,%.6g,%.6g,%.6g,%lld,", r.good, inputs_of(r), r.verdict.worst_row, r.tolerance, r.verdict.rmse,
         (long long)r.verdict.rows_checked);
  for (int t = KERNEL_Q; t <= KERNEL_STATS; t++) printf("%llu,", in[t]);
  for (int t = KERNEL_S; t <= KERNEL_STATS; t++) printf("%llu,", out[t]);
  printf("%llu,%llu,%.3f,%.3f,%.3f,\"%s\",%d", (Bytes)kernel_traffic_read(&r.model),
         (Bytes)kernel_traffic_write(&r.model), r.warm_us, r.cold_us, r.tflops, r.note.c_str(), r.block.n_splits);
  for (int t = KERNEL_PAGES; t <= KERNEL_dQ; t++) printf(",%llu", in[t]);
  for (int t = KERNEL_dQ; t <= KERNEL_dV; t++) printf(",%llu", out[t]);
  puts("");
}

static void print_json(const Result &r, bool first) {
  const Shape &s = r.shape;
  const char *good = r.good ? "true" : "false";
  printf("%s\n  {\"mode\": \"%s\", \"rung\": \"%s\", \"dtype\": \"%s\", \"batch\": %lld, \"heads\": %lld, "
         "\"kv_heads\": %lld, \"seq_q\": %lld, \"seq_k\": %lld, \"head_dim\": %lld, \"causal\": %s, \"block_q\": %d, "
         "\"block_k\": %d, ",
         first ? "" : ",", MODES[r.mode], r.rung->name, dtype_name(s.dtype), (long long)s.batch, (long long)s.heads,
         (long long)s.kv_heads, (long long)s.N_q, (long long)s.N_k, (long long)s.d, s.causal ? "true" : "false",
         r.block.B_r, r.block.B_c);
  if (!r.note.empty())
    printf("\"left_out\": \"%s\"}", r.note.c_str());
  else if (r.mode == VERIFY)
    printf("\"right\": %s, \"inputs\": \"%s\", \"worst_row_error\": %.6g, \"tolerance\": %.6g, \"rmse\": %.6g}", good,
           inputs_of(r), r.verdict.worst_row < 1e300 ? r.verdict.worst_row : 1e300, r.tolerance,
           r.verdict.rmse == r.verdict.rmse ? r.verdict.rmse : 1e300);
  else if (r.mode == COUNT)
    print_bytes(r,
                "\"equal\": %s, \"read_bytes\": %llu, \"write_bytes\": %llu, \"model_read_bytes\": %llu, "
                "\"model_write_bytes\": %llu}",
                good);
  else
    printf("\"warm_us\": %.3f, \"cold_us\": %.3f, \"tflops\": %.3f}", r.warm_us, r.cold_us, r.tflops);
}

static void print_counters(const Result &r) {
  if (r.mode != COUNT || !r.note.empty()) return;
  print_shape(r);
  printf("%d,%llu,%llu\n", r.block.n_splits ? r.block.n_splits : 1, sum(r.counts.read), sum(r.counts.write));
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
