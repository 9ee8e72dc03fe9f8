#define _GNU_SOURCE /* memmem */
#include "kernels/counters/launches.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/ascii.h"

static bool has(const CounterRow *row, const char *word) { return strstr(row->kernel, word) != NULL; }

/* Whether a kernel has one of the words, apart by '|', in its name. */
static bool has_any(const CounterRow *row, const char *words) {
  for (const char *at = words; *at; at += *at == '|') {
    const size_t length = strcspn(at, "|");
    if (memmem(row->kernel, strlen(row->kernel), at, length)) return true;
    at += length;
  }
  return false;
}

/* The first that is there decides. */
static LaunchRole role_of(const CounterRow *row) {
  static const struct {
    LaunchRole role;
    const char *words;
  } ROLES[] = {
      {LAUNCH_ROLE_BACKWARD_BEFORE, "bwd_dot_do_o|dot_do_o|bwd_preprocess|bprop_preprocess"},
      {LAUNCH_ROLE_BACKWARD_AFTER, "bwd_convert_dq|bwd_convert_dkv|bwd_postprocess|convert_dq"},
      {LAUNCH_ROLE_BACKWARD, "flash_bwd|fmha_cutlassB|bprop|FlashAttnBwd|attention_backward"},
      {LAUNCH_ROLE_COMBINE, "combine|merge_states|MergeStates|split_reduce|reduce_split"},
      {LAUNCH_ROLE_SPLIT, "splitkv|split_kv|SplitKV|fa2_split|splitK_attn"},
      {LAUNCH_ROLE_FUSED, "flash|Flash|fmha|sdpa|fa1|fa2_|fa3_|MemEffAttention"},
      {LAUNCH_ROLE_SOFTMAX, "softmax|SoftMax|Softmax|softMax"},
      {LAUNCH_ROLE_PRODUCT, "gemm|Gemm|GEMM|matmul|bmm|xmma|qk_kernel|pv_kernel|cublas"},
      {LAUNCH_ROLE_POINTWISE,
       "elementwise|scale|mask|fill|where|dropout|triu|tril|bias|copy|cast|convert|mul_|add_|div_"},
      {LAUNCH_ROLE_FUSED, "attn|attention|Attention"},
  };
  for (size_t i = 0; i < COUNT_OF(ROLES); i++)
    if (has_any(row, ROLES[i].words)) return ROLES[i].role;
  return LAUNCH_ROLE_OTHER;
}

/* Template arguments, apart by commas: 128, (int)128, (bool)1, true. Returns how many. */
static int read_arguments(const char *p, int64_t *values, int most) {
  for (int n = 0; n < most; n++, p++) {
    p += strspn(p, " ");
    if (*p == '(' && strchr(p, ')')) p = strchr(p, ')') + 1;
    values[n] = !strncmp(p, "true", 4);
    if (ascii_is_digit(*p)) values[n] = strtoll(p, NULL, 10);
    if ((!ascii_is_digit(*p) && !values[n] && strncmp(p, "false", 5)) || values[n] > 99999) return n;
    p += strcspn(p, ",>");
    if (*p != ',') return n + 1;
  }
  return most;
}

/* Behind the '>' that ends a template's arguments. */
static const char *end_of_template(const char *p) {
  for (int depth = 0; *p; p++) {
    depth += (*p == '<') - (*p == '>');
    if (*p == '>' && depth == 0) break;
  }
  return p + strspn(p, ">, ");
}

/* FlashAttention-2: traits<d, rows, keys, warps, ...>. Forward switches by version: dropout, causal, then local and
 * alibi where there are as many, then whether N is even. Split: causal first. */
static void read_flash(const CounterRow *row, LaunchFacts *f) {
  enum { MOST = 12 };
  int64_t traits[3], switches[MOST] = {0};
  const char *template = strstr(row->kernel, "kernel_traits<");
  if (template) template = strchr(template, '<');
  if (template && read_arguments(template + 1, traits, 3) == 3) {
    f->d = traits[0];
    f->block_q = traits[1];
    f->block_k = traits[2];
  }
  const int n = template ? read_arguments(end_of_template(template), switches, MOST) : 0;
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
  int rows, keys;
  const char *aligned = strstr(row->kernel, "aligned_");
  f->description = "mem-efficient-sm90";
  if (!aligned || sscanf(aligned, "aligned_%5dx%5d", &rows, &keys) != 2 || rows < 0 || keys < 0) return;
  f->block_q = rows;
  f->block_k = keys;
  f->d = keys <= 128 ? keys : 0; /* its keys are as wide as d, up to 128 */
  f->shape.N_q = row->grid[0] * rows;
  f->shape.heads = row->grid[1];
  f->shape.batch = row->grid[2];
}

static void read_dtype(const CounterRow *row, LaunchFacts *f) {
  static const struct {
    Dtype dtype;
    const char *words;
  } TYPES[] = {
      {DTYPE_BF16, "bfloat16|bf16|BFloat16"}, {DTYPE_FP16, "half|f16|fp16|Half"}, {DTYPE_FP32, "float|f32|fp32"}};
  for (size_t i = 0; i < COUNT_OF(TYPES) && !f->says_dtype; i++) {
    f->says_dtype = has_any(row, TYPES[i].words);
    if (f->says_dtype) f->dtype = TYPES[i].dtype;
  }
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

static uint64_t sum_of(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/* Adds one of n launches to a run. A rate is of one alone. */
static void add_part(LaunchRun *run, const CounterRow *row, int64_t n_runs, size_t n) {
  const double weight = (double)launches_of(row) / (double)n_runs;
  CounterRow *sum = &run->sum;
  for (int c = 0; c < COUNTER_COUNT; c++) {
    const bool is_rate = c == COUNTER_L2_HIT_RATE || c == COUNTER_L1_HIT_RATE;
    sum->known[c] &= row->known[c] && (!is_rate || n == 1);
    sum->value[c] = sum_of(sum->value[c], times(row->value[c], weight));
    sum->slack[c] = sum_of(sum->slack[c], times(row->slack[c], weight));
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

/* How many launches are one attention, by the letters of their roles; 1: the first alone. */
static size_t length_of(const char *roles) {
  const char *p = roles + (*roles == 'B');
  if (strchr("SF", *roles)) return roles[1] == 'C' ? 2 : 1;
  if (*p == 'L') return (size_t)(p - roles) + 1 + strspn(p + 1, "A");
  p = roles + strspn(roles, "W");
  if (*p != 'P') return 1;
  p += strspn(p, "PW");
  if (*p != 'X') return 1;
  p += strspn(p, "XW");
  if (*p != 'P') return 1;
  return (size_t)(p - roles) + 1 + strspn(p + 1, "W");
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
  if (!first || first == last || first->block[1] < 2 || first->block[0] > 1024 || first->block[0] != first->block[1] ||
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
  memset(run.sum.value, 0, sizeof run.sum.value);
  memset(run.sum.slack, 0, sizeof run.sum.slack);
  for (size_t i = 0; i < n; i++) {
    add_part(&run, rows[i], run.n_runs, n);
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
  char *roles = calloc(table->n_rows + 1, 1);
  *runs = calloc(table->n_rows + 1, sizeof **runs);
  if (!rows || !roles || !*runs) {
    free(*runs);
    *runs = NULL;
  }
  size_t n = 0;
  for (size_t i = 0; *runs && i < table->n_rows; i++)
    if (strstr(table->rows[i].kernel, name)) rows[n++] = &table->rows[i];
  for (size_t i = 0, end = 0, length; i < n; i += length) {
    for (; end < n && (end <= i || together(rows[i], rows[end])); end++) roles[end] = "OFSCBLAPXW"[role_of(rows[end])];
    length = rows[i]->has_shape ? 1 : length_of(roles + i);
    (*runs)[*n_runs] =
        rows[i]->has_shape ? (LaunchRun){.sum = *rows[i], .n_parts = 1, .n_runs = 1} : make_run(&rows[i], length);
    ++*n_runs;
  }
  free(rows);
  free(roles);
  return *runs ? STATUS_OK : error_no_memory(error, "to put launches together");
}

/* --- the card --- */

const char *launch_gpu(const CounterRow *row, const char **candidates) {
  static const char *const CARDS[] = {"GH200=gh200",
                                      "GB200=gb200",
                                      "GB300=gb300",
                                      "H200=h200",
                                      "H100 PCIe=h100-pcie",
                                      "H100=h100-sxm",
                                      "H800=h800",
                                      "NVIDIA H20=h20",
                                      "A100-SXM4-80GB=a100-80gb",
                                      "A100 80GB=a100-80gb",
                                      "A100-PCIE-80GB=a100-80gb",
                                      "A100=a100-40gb",
                                      "B200=b200",
                                      "B300=b300",
                                      "RTX 3060=rtx3060",
                                      "RTX 3080=rtx3080",
                                      "RTX 3090=rtx3090",
                                      "RTX 4060=rtx4060",
                                      "RTX 4070=rtx4070",
                                      "RTX 4090=rtx4090",
                                      "RTX 5070 Ti=rtx5070ti",
                                      "RTX 5070=rtx5070",
                                      "RTX 5080=rtx5080",
                                      "RTX 5090=rtx5090",
                                      "RTX PRO 6000 Blackwell=rtx-pro-6000",
                                      "RTX A6000=a6000",
                                      "V100=v100",
                                      "Tesla T4=t4",
                                      "NVIDIA A10=a10",
                                      "NVIDIA A30=a30",
                                      "NVIDIA A40=a40",
                                      "NVIDIA L4=l4",
                                      "NVIDIA L40S=l40s",
                                      "NVIDIA L20=l20",
                                      "Orin=jetson-orin"};
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
  for (size_t i = 0; i < COUNT_OF(CARDS); i++) {
    const size_t length = strcspn(CARDS[i], "=");
    const char *at = memmem(row->device, strlen(row->device), CARDS[i], length), *after = at ? at + length : "";
    bool is_other = ascii_is_digit(*after); /* L4, not L40 */
    for (size_t o = 0; o < COUNT_OF(OTHERS); o++)
      is_other |= *CARDS[i] == 'R' && !strncmp(after, OTHERS[o], strlen(OTHERS[o]));
    if (at && !is_other) return CARDS[i] + length + 1;
  }
  for (size_t i = 0; i < COUNT_OF(CAPABILITIES); i++)
    if (row->capability == CAPABILITIES[i].capability) {
      *candidates = CAPABILITIES[i].candidates;
      return CAPABILITIES[i].gpu;
    }
  return NULL;
}
