#include "kernels/counters/launches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const CounterRow *row, const char *word) { return strstr(row->kernel, word) != NULL; }

static bool has_any(const CounterRow *row, const char *const *words) {
  for (; *words; words++)
    if (has(row, *words)) return true;
  return false;
}
#define HAS_ANY(row, ...) has_any(row, (const char *const[]){__VA_ARGS__, NULL})

static LaunchRole role_of(const CounterRow *row) {
  if (HAS_ANY(row, "bwd_dot_do_o", "dot_do_o", "bwd_preprocess", "bprop_preprocess"))
    return LAUNCH_ROLE_BACKWARD_BEFORE;
  if (HAS_ANY(row, "bwd_convert_dq", "bwd_convert_dkv", "bwd_postprocess", "convert_dq"))
    return LAUNCH_ROLE_BACKWARD_AFTER;
  if (HAS_ANY(row, "flash_bwd", "fmha_cutlassB", "bprop", "FlashAttnBwd", "attention_backward"))
    return LAUNCH_ROLE_BACKWARD;
  if (HAS_ANY(row, "combine", "merge_states", "MergeStates", "split_reduce", "reduce_split"))
    return LAUNCH_ROLE_COMBINE;
  if (HAS_ANY(row, "splitkv", "split_kv", "SplitKV", "fa2_split", "splitK_attn")) return LAUNCH_ROLE_SPLIT;
  if (HAS_ANY(row, "flash", "Flash", "fmha", "sdpa", "fa1", "fa2_", "fa3_", "MemEffAttention"))
    return LAUNCH_ROLE_FUSED;
  if (HAS_ANY(row, "softmax", "SoftMax", "Softmax", "softMax")) return LAUNCH_ROLE_SOFTMAX;
  if (HAS_ANY(row, "gemm", "Gemm", "GEMM", "matmul", "bmm", "xmma", "qk_kernel", "pv_kernel", "cublas"))
    return LAUNCH_ROLE_PRODUCT;
  if (HAS_ANY(row, "elementwise", "scale", "mask", "fill", "where", "dropout", "triu", "tril", "bias", "copy", "cast",
              "convert", "mul_", "add_", "div_"))
    return LAUNCH_ROLE_POINTWISE;
  return HAS_ANY(row, "attn", "attention", "Attention") ? LAUNCH_ROLE_FUSED : LAUNCH_ROLE_OTHER;
}

/* Whole numbers behind `after`, separated by commas. Returns how many. */
static int numbers_after(const char *text, const char *after, int64_t *numbers, int most) {
  const char *p = strstr(text, after);
  int n = 0;
  if (!p) return 0;
  for (p += strlen(after); n < most; n++) {
    while (*p == ' ') p++;
    if (!strncmp(p, "(int)", 5)) p += 5;
    if (*p < '0' || *p > '9') break;
    int64_t value = 0;
    for (; *p >= '0' && *p <= '9' && value < 100000000; p++) value = 10 * value + (*p - '0');
    numbers[n] = value;
    while (*p == ' ') p++;
    if (*p != ',') return n + 1;
    p++;
  }
  return n;
}

/* The switches of a template behind its traits: 0, 1, (bool)1, true. Returns how many. */
static int switches_after_traits(const char *text, bool *switches, int most) {
  const char *p = strstr(text, "kernel_traits<");
  int depth = 0, n = 0;
  if (!p) return 0;
  for (p = strchr(p, '<'); *p; p++) {
    depth += (*p == '<') - (*p == '>');
    if (*p == '>' && depth == 0) break;
  }
  while (*p == '>' || *p == ',' || *p == ' ') p++;
  for (; n < most; n++) {
    if (!strncmp(p, "(bool)", 6)) p += 6;
    if (*p == '1' || !strncmp(p, "true", 4))
      switches[n] = true;
    else if (*p == '0' || !strncmp(p, "false", 5))
      switches[n] = false;
    else
      break;
    while (*p && *p != ',' && *p != '>') p++;
    if (*p != ',') return n + 1;
    while (*p == ',' || *p == ' ') p++;
  }
  return n;
}

/* FlashAttention-2: traits<d, rows, keys, warps, ...>. Forward switches by version: dropout, causal, then local and
 * alibi where there are as many, then whether N is even. Split: causal first. */
static void read_flash(const CounterRow *row, LaunchFacts *f) {
  int64_t traits[3];
  bool switches[12] = {false};
  if (numbers_after(row->kernel, "kernel_traits<", traits, 3) == 3) {
    f->d = traits[0];
    f->block_q = traits[1];
    f->block_k = traits[2];
  }
  const int n = switches_after_traits(row->kernel, switches, 12);
  const bool split = f->role == LAUNCH_ROLE_SPLIT;
  if (n >= 5) {
    f->says_causal = true;
    f->causal = switches[split ? 0 : 1];
    f->is_even = switches[split ? 3 : n == 5 ? 2 : n == 6 ? 3 : 4];
  }
  if (f->role == LAUNCH_ROLE_BACKWARD &&
      f->block_k) { /* its grid: column blocks, batch, heads; keys as many as queries */
    f->shape.N_q = row->grid[0] * f->block_k;
    f->shape.batch = row->grid[1];
    f->shape.heads = row->grid[2];
    return;
  }
  if (!f->block_q || !row->grid[0] || (f->role != LAUNCH_ROLE_FUSED && !split)) return;
  f->shape.N_q = row->grid[0] * f->block_q;
  if (!split || row->grid[1] < 1) {
    f->shape.batch = row->grid[1];
    f->shape.heads = row->grid[2];
  } else {
    f->n_splits = row->grid[1]; /* then batch x heads is one number: which is which the grid does not say */
  }
}

/* PyTorch's: fmha_cutlassF_f16_aligned_64x128_rf_sm80, grid (row blocks, heads, batch). */
static void read_memory_efficient(const CounterRow *row, LaunchFacts *f) {
  int64_t rows[1], keys[1];
  const char *aligned = strstr(row->kernel, "aligned_");
  f->description = "mem-efficient-sm90";
  if (!aligned || numbers_after(aligned, "aligned_", rows, 1) != 1) return;
  const char *x = strchr(aligned, 'x');
  if (!x || numbers_after(x, "x", keys, 1) != 1) return;
  f->block_q = rows[0];
  f->block_k = keys[0];
  f->d = keys[0] <= 128 ? keys[0] : 0; /* its keys are as wide as d, up to 128 */
  f->shape.N_q = row->grid[0] * rows[0];
  f->shape.heads = row->grid[1];
  f->shape.batch = row->grid[2];
}

static void read_dtype(const CounterRow *row, LaunchFacts *f) {
  f->says_dtype = true;
  if (HAS_ANY(row, "bfloat16", "bf16", "BFloat16"))
    f->dtype = DTYPE_BF16;
  else if (HAS_ANY(row, "half", "f16", "fp16", "Half"))
    f->dtype = DTYPE_FP16;
  else if (HAS_ANY(row, "float", "f32", "fp32"))
    f->dtype = DTYPE_FP32;
  else
    f->says_dtype = false;
}

LaunchFacts launch_facts(const CounterRow *row) {
  LaunchFacts f = {.role = role_of(row)};
  read_dtype(row, &f);
  if (has(row, "flash_fwd") || has(row, "flash_bwd")) {
    if (f.role == LAUNCH_ROLE_FUSED || f.role == LAUNCH_ROLE_SPLIT) f.description = "fa2-sm90";
    read_flash(row, &f);
  } else if (has(row, "fmha_cutlassF")) {
    read_memory_efficient(row, &f);
  } else if (has(row, "FlashAttnFwdSm90")) {
    f.description = "fa3-sm90";
  } else if (has(row, "cudnn") && f.role == LAUNCH_ROLE_FUSED) {
    f.description = "cudnn-sm90";
  }
  return f;
}

/* --- runs --- */

void launch_short_name(const char *kernel, char *to, size_t size) {
  const char *from = !strncmp(kernel, "void ", 5) ? kernel + 5 : kernel;
  size_t n = strcspn(from, "<(");
  for (size_t i = n; i-- > 1;)
    if (from[i - 1] == ':') {
      from += i;
      n -= i;
      break;
    }
  snprintf(to, size, "%.*s", (int)(n < 60 ? n : 60), from);
}

static uint64_t times(uint64_t value, double weight) {
  const double product = (double)value * weight;
  if (weight == 1) return value;
  return product >= 0x1p64 ? UINT64_MAX : (uint64_t)(product + 0.5);
}

static int64_t launches_of(const CounterRow *row) { return row->n_launches > 1 ? row->n_launches : 1; }

static bool is_rate(int counter) { return counter == COUNTER_L2_HIT_RATE || counter == COUNTER_L1_HIT_RATE; }

/* Adds a launch to a run that has some. */
static void add_part(LaunchRun *run, const CounterRow *row, int64_t n_runs) {
  const double weight = (double)launches_of(row) / (double)n_runs;
  CounterRow *sum = &run->sum;
  for (int c = 0; c < COUNTER_COUNT; c++) {
    const uint64_t more = times(row->value[c], weight), slack = times(row->slack[c], weight);
    if (run->n_parts == 0) {
      sum->known[c] = row->known[c];
      sum->value[c] = more;
      sum->slack[c] = slack;
      continue;
    }
    sum->known[c] &= row->known[c] && !is_rate(c);
    sum->value[c] = sum->value[c] > UINT64_MAX - more ? UINT64_MAX : sum->value[c] + more;
    sum->slack[c] = sum->slack[c] > UINT64_MAX - slack ? UINT64_MAX : sum->slack[c] + slack;
  }
  char name[64], time[48] = "", several[24] = "";
  launch_short_name(row->kernel, name, sizeof name);
  if (row->known[COUNTER_TIME]) snprintf(time, sizeof time, " %.1f us", (double)row->value[COUNTER_TIME] * 1e-3);
  if (weight > 1) snprintf(several, sizeof several, "%.0f x ", weight);
  const size_t at = strlen(run->parts);
  snprintf(run->parts + at, sizeof run->parts - at, "%s%s%s%s", at ? " + " : "", several, name, time);
  run->n_parts++;
}

static bool together(const CounterRow *a, const CounterRow *b) {
  return a->report == b->report && a->process == b->process;
}

/* How many rows from i on are one attention; 1: the row alone. */
static size_t length_of(const CounterRow *const *rows, size_t n, size_t i) {
  const LaunchRole first = role_of(rows[i]);
  size_t end = i;
  bool softmax = false, products = false, done = false;
  if (first == LAUNCH_ROLE_SPLIT || first == LAUNCH_ROLE_FUSED) {
    /* combine comes next, if it comes */
    return i + 1 < n && together(rows[i], rows[i + 1]) && role_of(rows[i + 1]) == LAUNCH_ROLE_COMBINE ? 2 : 1;
  }
  if (first == LAUNCH_ROLE_BACKWARD_BEFORE || first == LAUNCH_ROLE_BACKWARD) {
    bool loop = false;
    for (; end < n && together(rows[i], rows[end]); end++) {
      const LaunchRole role = role_of(rows[end]);
      if (role == LAUNCH_ROLE_BACKWARD_BEFORE ? end > i
          : role == LAUNCH_ROLE_BACKWARD      ? loop
                                              : role != LAUNCH_ROLE_BACKWARD_AFTER || !loop)
        break;
      loop |= role == LAUNCH_ROLE_BACKWARD;
    }
    return loop ? end - i : 1;
  }
  if (first != LAUNCH_ROLE_PRODUCT && first != LAUNCH_ROLE_POINTWISE) return 1;
  for (; end < n && !done && together(rows[i], rows[end]); end++) {
    const LaunchRole role = role_of(rows[end]);
    if (role == LAUNCH_ROLE_PRODUCT) {
      done = softmax;
      products = true;
    } else if (role == LAUNCH_ROLE_SOFTMAX) {
      if (!products) break;
      softmax = true;
    } else if (role != LAUNCH_ROLE_POINTWISE) {
      break;
    }
  }
  while (done && end < n && together(rows[i], rows[end]) && role_of(rows[end]) == LAUNCH_ROLE_POINTWISE) end++;
  return done ? end - i : 1;
}

/* The eager product's grid, where a thread makes one element: (N_k, N_q, heads), then (d, N_q, heads). */
static void read_eager(const CounterRow *const *rows, size_t n, LaunchFacts *f) {
  const CounterRow *first = NULL, *last = NULL;
  f->role = LAUNCH_ROLE_SOFTMAX; /* standard attention */
  f->description = NULL;
  for (size_t i = 0; i < n; i++) {
    const LaunchFacts own = launch_facts(rows[i]);
    if (own.says_dtype && !f->says_dtype) f->says_dtype = true, f->dtype = own.dtype;
    if (own.role != LAUNCH_ROLE_PRODUCT) continue;
    if (!first) first = rows[i];
    last = rows[i];
  }
  if (!first || first == last || first->block[1] < 2 || first->block[0] != first->block[1] ||
      memcmp(first->block, last->block, sizeof first->block) || first->grid[2] != last->grid[2] ||
      first->grid[1] != last->grid[1])
    return;
  f->shape.N_k = first->grid[0] * first->block[0];
  f->shape.N_q = first->grid[1] * first->block[1];
  f->shape.heads = first->grid[2];
  f->shape.batch = 1;
  f->d = last->grid[0] * last->block[0];
}

static LaunchRun make_run(const CounterRow *const *rows, size_t n) {
  LaunchRun run = {.sum = *rows[0], .facts = launch_facts(rows[0]), .n_runs = launches_of(rows[0])};
  for (size_t i = 1; i < n; i++)
    if (launches_of(rows[i]) < run.n_runs) run.n_runs = launches_of(rows[i]);
  for (size_t i = 0; i < n; i++) {
    add_part(&run, rows[i], run.n_runs);
    const LaunchFacts f = launch_facts(rows[i]);
    if (f.role == LAUNCH_ROLE_BACKWARD) run.facts = f;
  }
  const LaunchRole first = run.facts.role;
  if (n > 1 && (first == LAUNCH_ROLE_PRODUCT || first == LAUNCH_ROLE_POINTWISE)) read_eager(rows, n, &run.facts);
  run.sum.n_launches = n > 1 ? 0 : run.sum.n_launches;
  if (n > 1) {
    char name[64];
    launch_short_name(rows[0]->kernel, name, sizeof name);
    snprintf(run.sum.kernel, sizeof run.sum.kernel, "%.40s + %zu more", name, n - 1);
  }
  return run;
}

Status launch_runs(const CounterTable *table, const char *name, LaunchRun **runs, size_t *n_runs, Error *error) {
  *n_runs = 0;
  const CounterRow **rows = calloc(table->n_rows + 1, sizeof(const CounterRow *));
  *runs = calloc(table->n_rows + 1, sizeof **runs);
  if (!rows || !*runs) {
    free(rows);
    free(*runs);
    *runs = NULL;
    return error_no_memory(error, "to put launches together");
  }
  size_t n = 0;
  for (size_t i = 0; i < table->n_rows; i++)
    if (strstr(table->rows[i].kernel, name)) rows[n++] = &table->rows[i];
  for (size_t i = 0, length; i < n; i += length) {
    length = rows[i]->has_shape ? 1 : length_of(rows, n, i);
    if (rows[i]->has_shape)
      (*runs)[*n_runs] = (LaunchRun){.sum = *rows[i], .n_parts = 1, .n_runs = 1};
    else
      (*runs)[*n_runs] = make_run(&rows[i], length);
    ++*n_runs;
  }
  free(rows);
  return STATUS_OK;
}

/* --- the card --- */

const char *launch_gpu(const CounterRow *row, const char **candidates) {
  static const struct {
    const char *word, *gpu;
  } NAMES[] = {{"GH200", "gh200"},
               {"GB200", "gb200"},
               {"GB300", "gb300"},
               {"H200", "h200"},
               {"H100 PCIe", "h100-pcie"},
               {"H100", "h100-sxm"},
               {"H800", "h800"},
               {"NVIDIA H20", "h20"},
               {"A100-SXM4-80GB", "a100-80gb"},
               {"A100 80GB", "a100-80gb"},
               {"A100-PCIE-80GB", "a100-80gb"},
               {"A100", "a100-40gb"},
               {"B200", "b200"},
               {"B300", "b300"},
               {"RTX 3060", "rtx3060"},
               {"RTX 3080", "rtx3080"},
               {"RTX 3090", "rtx3090"},
               {"RTX 4060", "rtx4060"},
               {"RTX 4070", "rtx4070"},
               {"RTX 4090", "rtx4090"},
               {"RTX 5070 Ti", "rtx5070ti"},
               {"RTX 5070", "rtx5070"},
               {"RTX 5080", "rtx5080"},
               {"RTX 5090", "rtx5090"},
               {"RTX PRO 6000 Blackwell", "rtx-pro-6000"},
               {"RTX A6000", "a6000"},
               {"V100", "v100"},
               {"Tesla T4", "t4"},
               {"NVIDIA A10", "a10"},
               {"NVIDIA A30", "a30"},
               {"NVIDIA A40", "a40"},
               {"NVIDIA L4", "l4"},
               {"NVIDIA L40S", "l40s"},
               {"NVIDIA L20", "l20"},
               {"Orin", "jetson-orin"}};
  static const struct {
    int capability;
    const char *gpu, *candidates;
  } CAPABILITIES[] = {{70, "v100", ""},
                      {75, "t4", ""},
                      {80, "a100-80gb", "a100-40gb, a100-80gb or a30"},
                      {86, "rtx3090", "rtx3090, rtx3080, rtx3060, a10, a40 or a6000"},
                      {87, "jetson-orin", ""},
                      {89, "rtx4090", "rtx4090, rtx4070, rtx4060, l4, l20 or l40s"},
                      {90, "h200", "h200, h100-sxm, h100-pcie, h800, h20 or gh200"},
                      {100, "b200", "b200 or gb200"},
                      {103, "b300", "b300 or gb300"}};
  static const char *const OTHERS[] = {" Ti", " SUPER", " Super", " Laptop", " Mobile", " D", "S"}; /* another card */
  *candidates = "";
  for (size_t i = 0; *row->device && i < sizeof NAMES / sizeof *NAMES; i++) {
    const char *at = strstr(row->device, NAMES[i].word);
    const char *after = at ? at + strlen(NAMES[i].word) : "";
    bool is_other = *after >= '0' && *after <= '9'; /* L4, not L40 */
    for (size_t o = 0; o < sizeof OTHERS / sizeof *OTHERS; o++)
      is_other |= !strncmp(after, OTHERS[o], strlen(OTHERS[o])) && NAMES[i].word[0] == 'R';
    if (at && !is_other) return NAMES[i].gpu;
  }
  for (size_t i = 0; i < sizeof CAPABILITIES / sizeof *CAPABILITIES; i++)
    if (row->capability == CAPABILITIES[i].capability) {
      *candidates = CAPABILITIES[i].candidates;
      return CAPABILITIES[i].gpu;
    }
  return NULL;
}
