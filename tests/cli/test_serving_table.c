/* sim/SERVING.md: what the articles say about training and serving, the command that answers, its figure, and what that
 * was checked against. Each command is run, and the document must have its figure:
 *
 *     SERVING_TABLE=sim/SERVING.md build/tests/test_serving_table     writes the document anew */
#include <jansson.h>

#include "tests/support/test.h"
#include "tests/support/program.h"

enum { DOCUMENT_BYTES = 1 << 16 };

typedef struct {
  const char *says;    /* article and place, and what it speaks of */
  const char *command; /* without --json */
  const char *path;    /* of the figure in its JSON */
  const char *unit;
  const char *against;
} Row;

static const Row ROWS[] = {
    /* Training. */
    {"B, backward: recomputed, not read", "sim --algorithm fa2-backward -N 4096 -d 128", "runs.0.traffic.total_bytes",
     "B", "92 recorded launches to the byte (tests/unit/test_backward.c)"},
    {"E, backward: P from a tile alone is wrong", "check --only E-bwd-tile-softmax", "claims.0.verdict", "",
     "tests/unit/test_claims.c"},
    {"B, backward: arithmetic for traffic", "sim --algorithm fa2-backward -N 4096 -d 128", "runs.0.flops", "FLOP",
     "2.5 x forward, five products of two (closed form)"},
    {"B: kept for training, P stored", "sim --algorithm standard-backward -N 4096 -d 128",
     "runs.0.storage.inputs_bytes", "B", "4 N d + N x N elements (closed form)"},
    {"B: kept for training, m and l", "sim --algorithm fa1-backward -N 4096 -d 128", "runs.0.storage.inputs_bytes", "B",
     "5 N d elements + 8 N B (closed form)"},
    {"B: kept for training, L alone", "sim --algorithm fa2-backward -N 4096 -d 128", "runs.0.storage.inputs_bytes", "B",
     "5 N d elements + 4 N B (closed form)"},
    {"FlashAttention, figure 2: 4.4 GB both ways", "check --only P-fa1-traffic", "claims.0.computed", "GB",
     "32 t + 20 q by hand (tests/unit/test_claims.c)"},
    {"FlashAttention, figure 2: standard 40.3 GB", "check --only P-fa1-standard-traffic", "claims.0.computed", "GB",
     "by hand; does not follow"},
    {"Does d = 256 train on a 4090? A tile's shared memory",
     "advise --algorithm fa2-backward -d 256 --gpu rtx4090 --block-q 64 --block-k 32", "tiles.0.shared_bytes", "B",
     "by hand: V in registers, as FlashAttention-2 does (tests/cli/test_advise.c)"},
    {"The same: registers of a thread",
     "advise --algorithm fa2-backward -d 256 --gpu rtx4090 --block-q 64 --block-k 32", "tiles.0.registers", "",
     "by hand (the same test)"},
    {"Does d = 256 train on a 4090? PyTorch's choice",
     "eligible --heads 16 -d 256 --causal --dtype bf16 --training --gpu rtx4090", "runs", "", "sdp_utils.cpp, by hand"},
    {"The same with dropout", "eligible --heads 16 -d 256 --causal --dtype bf16 --training --dropout 0.1 --gpu rtx4090",
     "runs", "", "sdp_utils.cpp, by hand"},
    /* Scores with additions. */
    {"B, eligibility: a bias", "sim --algorithm bias -N 4096 -d 128", "runs.0.traffic.read.b", "B",
     "N x N elements; slow counting (tests/unit/test_additions.c)"},
    {"B, eligibility: positional mode, ALiBi", "sim --algorithm alibi -N 4096 -d 128", "runs.0.traffic.read.p", "B",
     "4 B a key and row block; slow counting"},
    {"Sinks", "sim --algorithm sink -N 4096 -d 128", "runs.0.traffic.read.z", "B", "4 B a row; slow counting"},
    {"Capped scores: all reads", "sim --algorithm softcap -N 4096 -d 128", "runs.0.traffic.read_bytes", "B",
     "those of fa2; slow counting"},
    {"Dropout: a mask that is kept", "sim --algorithm dropout -N 4096 -d 128", "runs.0.traffic.read.D", "B",
     "N x N elements; slow counting"},
    /* Lengths. */
    {"B: padding and ragged layout, padded", "sim --lengths 3001,777,5123 --algorithm fa2", "runs.0.read_bytes", "B",
     "event by event (tests/unit/test_batch.c)"},
    {"B: padding and ragged layout, packed", "sim --lengths 3001,777,5123 --algorithm fa2", "runs.1.read_bytes", "B",
     "eight recorded launches, by the kernel: within 0.07 %, short documents 1.1 (the same test)"},
    {"B: window masks", "sim -N 8192 --causal --window 1024 --algorithm fa2", "runs.0.tiles.skipped", "tiles",
     "12,000 random masks against pairs (tests/unit/test_mask.c)"},
    /* The cache. */
    {"A, KV cache: 32 GB at 100,000 tokens", "kvcache --model llama-2-70b -N 100000", "bytes", "B",
     "2 x 80 x 8 x 128 x 2 B a token, by hand"},
    {"A, KV cache: GQA 4-8 x", "check --only A-gqa", "claims.0.verdict", "", "tests/unit/test_claims.c"},
    {"A, KV cache: INT4, with an fp16 scale for 64", "kvcache --model llama-2-70b -N 100000 --dtype int4 --group 64",
     "bytes", "B", "68 B a row of 128, by hand"},
    {"The same in the time of a token", "serve --model llama-3-8b --batch 8 -N 16K --kv-dtype int4 --group 64",
     "token.attention_s.value", "s", "bytes over 3.35 TB/s, by hand (tests/unit/test_serving.c)"},
    {"A, PagedAttention: pages of 16", "serve --model llama-3-8b --batch 10 -N 4100", "memory.page_bytes.value", "B",
     "257 pages each, the last holds 4, by hand"},
    {"A, PagedAttention: the tables", "serve --model llama-3-8b --batch 10 -N 4100", "memory.table_bytes.value", "B",
     "4 B a page, by hand"},
    {"A, decode: 257 vectors in blocks of 128", "kvcache --model llama-2-70b -N 257", "blocks.n_blocks", "blocks",
     "by hand"},
    {"Prefix sharing: saved memory", "serve --model llama-3-8b --batch 10 -N 4100 --prefix 1000",
     "memory.shared_bytes.value", "B", "9 x 62 whole pages, by hand"},
    {"Prefix sharing: K and V read a step", "serve --model llama-3-8b --batch 10 -N 4100 --prefix 1000",
     "token.kv_bytes.value", "B", "10 x 3,100 + 1,000 tokens, by hand"},
    {"A: StreamingLLM, 4 sinks and 2,044", "serve --model llama-3-8b --batch 2 -N 16K --evict streaming:4+2044",
     "token.kv_bytes.value", "B", "2 x 2,048 tokens, by hand"},
    {"A: H2O, its sums of scores", "serve --model llama-3-8b --batch 2 -N 16K --evict h2o:512+512",
     "memory.score_bytes.value", "B", "4 B a kept token and KV head, by hand; assumed fp32"},
    {"MLA: a token of DeepSeek-V3", "serve --model deepseek-v3 --gpu h200 --tp 8", "memory.token_bytes.value", "B",
     "70.272 KB in print (arXiv 2505.09343, table 1)"},
    /* Serving. */
    {"A: chunked prefill, loads of earlier chunks", "serve --model llama-3-8b --prompt 32K --chunk 2K",
     "prompt.chunk_reloads.value", "loads", "n (n - 1) / 2 (Sarathi-Serve)"},
    {"A: chunked prefill, K and V against one pass", "serve --model llama-3-8b --prompt 32K --chunk 2K",
     "prompt.kv_ratio.value", "x", "(n + 1) / 2 by hand; random chunks summed"},
    {"A: a chunk of 512 behind 3,584",
     "sim -N 512 --seq-len-k 4096 --heads 32 --kv-heads 8 --causal --kernel fa2-sm90 --gpu h100",
     "runs.0.traffic.read_bytes", "B", "h100_serve, to the byte (tests/unit/test_serve_counters.c)"},
    {"B: decode, one of 65,536 and 63 of 256",
     "sim -N 1 --lengths 65536,256x63 --heads 32 --kv-heads 8 --kernel fa2-sm90 --gpu h100 --algorithm fa2",
     "runs.1.read_bytes", "B", "h100_serve: reads within 0.0041 %, writes to the byte (the same test)"},
    {"B: prefill and decode, time to first token",
     "serve --model llama-3.1-70b --gpu h100 --tp 8 --batch 32 --context 32K", "prompt.time_s.value", "s",
     "a bound; its attention is sim's to the last digit"},
    {"B: time a token", "serve --model llama-3.1-70b --gpu h100 --tp 8 --batch 32 --context 32K", "token.time_s.value",
     "s", "a bound; 13 measured rows of others are slower (serve --printed)"},
    {"B: what binds a step of decode", "serve --model llama-3.1-70b --gpu h100 --tp 8 --batch 32 --context 32K",
     "token.binds.value", "", "bytes over rates, by hand (tests/unit/test_serving.c)"},
    {"B: how many sequences fit", "serve --model llama-3.1-70b --gpu h100 --tp 8 --batch 32 --context 32K",
     "memory.sequences_that_fit.value", "", "memory less weights over pages"},
    {"A: Ring Attention, blocks that hide the link", "check --only P-ring-table", "claims.0.computed.0", "K tokens",
     "FLOP/s over B/s, by hand"},
    {"A: Ring Attention, bytes over all links", "ranks --ranks 8 -N 128K --heads 32 --kv-heads 8 --causal",
     "boundaries.link_bytes", "B", "7 steps of 8 blocks of K and V, by hand (tests/unit/test_ranks.c)"},
    {"The same, counted line by line of a program",
     "ranks --algorithm ring-attention --ranks 8 -N 128K --heads 32 --kv-heads 8 "
     "--causal",
     "boundaries.link_bytes", "B", "2 N / G d (G - 1) elements a rank and KV head (the same test)"},
    {"The same: who idles under a causal mask", "ranks --ranks 8 -N 128K --heads 32 --kv-heads 8 --causal", "time.idle",
     "", "pairs of all ranks over 8 x the longest, all pairs of tokens (the same test); two H200s in sim/RANKS.md"},
    {"The same with striped tokens", "ranks --scheme striped --ranks 8 -N 128K --heads 32 --kv-heads 8 --causal",
     "time.idle", "", "the same test"},
    {"A: tensor parallelism, bytes of the all-reduce", "ranks --scheme tensor --ranks 4 -N 64K --heads 16",
     "boundaries.link_bytes", "B", "4 x 2 (P - 1) / P rows of 16 x 128 x 2 B, by hand (the same test)"},
    {"A: offloading, what lies behind the link",
     "ranks --scheme offload --model opt-175b --gpu t4 --link pcie4 -N 1 --seq-len-k 544 --batch 512",
     "holds.away_bytes", "B", "weights and cache (FlexGen: 1.2 TB) less the memory"},
    {"The same: pairs of queries and keys in a layer",
     "ranks --scheme offload --model opt-175b --gpu t4 --link pcie4 -N 1 --seq-len-k 544 --batch 512", "steps.1.pairs",
     "pairs", "512 x 96 x 544, by hand"},
    /* FP8. */
    {"FlashAttention-3 in FP8: bytes", "sim -N 16K -d 256 --heads 8 --dtype fp8 --kernel fa3-sm90 --gpu h100-sxm",
     "runs.0.traffic.total_bytes", "B", "8 N d (1 + 2) for Q and O, 8 x 128 x 2 N d for K and V, by hand"},
    {"The same: time", "sim -N 16K -d 256 --heads 8 --dtype fp8 --kernel fa3-sm90 --gpu h100-sxm",
     "runs.0.time.bound_s", "s", "a bound: 1.92 PFLOP/s; the paper measures near 1.2"},
    {"The same: error of O with scales of blocks, rotated", "softmax --errors 2K", "errors.3.rmse", "",
     "printed 9.1e-3; all six rows, at 8K keys: sim/numbers/quantised.h"},
    {"The same: without the rotation", "softmax --errors 2K", "errors.5.rmse", "", "printed 2.4e-2"},
    /* Which kernel. */
    {"B, eligibility: a mask tensor in PyTorch", "eligible --heads 32 --kv-heads 8 --dtype bf16 --bias --gpu a100-80gb",
     "runs", "", "sdp_utils.cpp, by hand"},
    {"B, eligibility: a window in transformers",
     "eligible --library transformers --heads 32 --kv-heads 8 -N 8K --causal --window 4K --dtype bf16 --gpu a100-80gb",
     "runs", "", "sdpa_attention.py, by hand"},
    {"The same: memory besides inputs and output",
     "eligible --library transformers --heads 32 --kv-heads 8 -N 8K --causal --window 4K --dtype bf16 --gpu a100-80gb",
     "kernels.1.memory_bytes", "B", "mask tensor and repeated K and V, by hand"},
    {"B, eligibility: sinks on an A100 in vLLM",
     "eligible --library vllm --heads 64 --kv-heads 8 -d 64 --causal --dtype bf16 --sinks --gpu a100-80gb", "runs", "",
     "cuda.py, flash_attn.py, flashinfer.py, by hand"},
};

static ProgramRun run;

/* "runs.0.traffic.read.K" as text. */
static void figure(const Row *row, char text[64]) {
  char line[512];
  snprintf(line, sizeof line, "%s --json", row->command);
  program_run(&run, line);
  if (run.exit_status > 1) fail_msg("%s: %s", line, run.err);
  json_t *document = json_loads(run.out, 0, NULL);
  const json_t *at = document;
  char path[128], *rest = path;
  snprintf(path, sizeof path, "%s", row->path);
  for (char *key; (key = rest) && at;) {
    rest = strchr(key, '.');
    if (rest) *rest++ = '\0';
    at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key)) : json_object_get(at, key);
    if (!rest) break;
  }
  if (!at) fail_msg("%s: no %s", line, row->path);
  if (json_is_string(at))
    snprintf(text, 64, "%s", json_string_value(at));
  else if (json_is_integer(at))
    snprintf(text, 64, "%lld", json_integer_value(at));
  else
    snprintf(text, 64, "%.6g", json_number_value(at));
  json_decref(document);
}

static void make_document(char *out) {
  size_t n = (size_t)snprintf(out, DOCUMENT_BYTES,
                              "# Training and serving: each statement, its command, its figure\n\n"
                              "Written by tests/cli/test_serving_table.c, which runs every command. Articles are those "
                              "of `tilewalk check`.\nNot answered: a cache that is spilled to the CPU's memory.\n\n"
                              "| speaks of | `tilewalk ...` | figure | checked against |\n| --- | --- | --: | --- |\n");
  for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++) {
    char text[64];
    figure(&ROWS[k], text);
    n += (size_t)snprintf(out + n, DOCUMENT_BYTES - n, "| %s | `%s`: `%s` | %s%s%s | %s |\n", ROWS[k].says,
                          ROWS[k].command, ROWS[k].path, text, *ROWS[k].unit ? " " : "", ROWS[k].unit, ROWS[k].against);
  }
  assert_true(n < DOCUMENT_BYTES);
}

TEST(the_document_has_what_the_commands_say) {
  static char now[DOCUMENT_BYTES], kept[DOCUMENT_BYTES];
  const char *path = getenv("SERVING_TABLE");
  make_document(now);
  FILE *f = fopen(path ? path : "sim/SERVING.md", path ? "w" : "r");
  assert_non_null(f);
  if (path) {
    fputs(now, f);
    fclose(f);
    return;
  }
  kept[fread(kept, 1, sizeof kept - 1, f)] = '\0';
  fclose(f);
  const char *a = now, *b = kept;
  while (*a && *a == *b) a++, b++;
  while (a > now && a[-1] != '\n') a--, b--;
  if (*a || *b) fail_msg("now: %.*s\nkept: %.*s", (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
}
