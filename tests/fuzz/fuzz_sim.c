/* Fuzz targets of sim: descriptions, traces, masks. */
#include "tests/fuzz/fuzz.h"
#include "sim/time/batch.h"
#include "sim/cache/din.h"
#include "sim/machine/kvmodel.h"
#include "sim/machine/link.h"

/* Description files: each number with its source and inside its range. */
FUZZ(keyfile, BYTES, "") {
  typedef struct {
    char name[KEYFILE_TEXT_BYTES];
    int64_t count, bytes;
    double rate[6];
  } Record;
  static const KeyfileField FIELDS[] = {
      {"name", KEYFILE_TEXT, offsetof(Record, name), true, 0, 0, "a name", NULL},
      {"count", KEYFILE_COUNT, offsetof(Record, count), false, 1, 1e6, "a count", NULL},
      {"bytes", KEYFILE_BYTES, offsetof(Record, bytes), false, 0, 1e12, "a size", NULL},
      {"bandwidth", KEYFILE_BYTES_PER_S, offsetof(Record, rate[0]), false, 1, 1e15, "a bandwidth", NULL},
      {"clock", KEYFILE_HERTZ, offsetof(Record, rate[1]), false, 1, 1e11, "a clock", NULL},
      {"peak", KEYFILE_FLOPS_PER_S, offsetof(Record, rate[2]), false, 1, 1e18, "a peak", NULL},
      {"time", KEYFILE_SECONDS, offsetof(Record, rate[3]), false, 1e-9, 1, "a time", NULL},
      {"port", KEYFILE_BYTES_PER_CLOCK, offsetof(Record, rate[4]), false, 1, 4096, "a port", NULL},
      {"exp", KEYFILE_OPS_PER_CLOCK, offsetof(Record, rate[5]), false, 1, 4096, "a rate", NULL},
  };
  enum { N_FIELDS = COUNT_OF(FIELDS) };
  Record record = {0};
  KeyfileNote notes[N_FIELDS] = {0};
  Error error = {0};
  if (keyfile_parse(text, size, "f", FIELDS, N_FIELDS, &record, notes, &error)) {
    require(error.status == STATUS_BAD_FILE);
    return require_text(&error, "f:");
  }
  require(notes[0].line > 0 && *record.name && memchr(record.name, 0, sizeof record.name));
  for (int f = 1; f < N_FIELDS; f++) {
    if (notes[f].line == 0) continue;
    const double value = f == 1 ? (double)record.count : f == 2 ? (double)record.bytes : record.rate[f - 3];
    require(*notes[f].source && memchr(notes[f].source, 0, sizeof notes[f].source));
    require(value >= FIELDS[f].min && value <= FIELDS[f].max);
  }
}

static void check_link(const char *text, size_t size) {
  GpuLink link = {.sms = 7};
  Error error = {0};
  if (link_parse(text, size, "f", &link, &error)) {
    require(link.sms == 7); /* unchanged */
    return require_text(&error, "f:");
  }
  require(*link.name && link_bound_s(&link, 1e9) > 0 && link_bound_s(&link, 0) == 0);
  require(!link.ramp_bytes || link_predicted_s(&link, 1e9) > 0);
}

/* GPUs and links: a machine on which a model can compute with, without dividing by zero or leaving its arrays. */
FUZZ(gpu, BYTES, "sim/machine/gpu sim/machine/link") {
  check_link(text, size);
  Gpu gpu;
  memset(&gpu, 0x5A, sizeof gpu);
  Error error = {0};
  if (gpu_parse(text, size, "f", &gpu, &error)) {
    require(gpu.n_sm == 0x5A5A5A5A5A5A5A5A); /* unchanged */
    return require_text(&error, "f:");
  }
  require(*gpu.name && gpu.n_sm > 0 && gpu.clock_hz > 0 && gpu.hbm_bytes_per_s > 0 && gpu.warp_size > 0);
  require(gpu.shared_bytes_per_cta > 0 && gpu.shared_reserved_bytes >= 0);
  require(gpu.shared_bytes_per_cta + gpu.shared_reserved_bytes <= gpu.shared_bytes_per_sm);
  require(gpu.shared_bytes_per_sm <= gpu.sram_bytes);
  require(gpu_hbm_bytes_per_s(&gpu) > 0 && gpu_sram_bytes_per_s(&gpu) > 0 && gpu_exp_per_s(&gpu) > 0);
  if (gpu.l2_bytes == 0) return require(gpu.l2_ways == 0 && gpu.l2_partitions == 0);
  require(gpu.l2_partitions > 0 && gpu.l2_bytes % gpu.l2_partitions == 0 && gpu.l2_room_bytes <= gpu.l2_bytes);
  require(gpu.l2_line_bytes % gpu.l2_sector_bytes == 0);
  const int64_t slices = gpu.l2_slices ? gpu.l2_slices : gpu.l2_partitions;
  require(gpu.l2_bytes >= slices * gpu.l2_ways * gpu.l2_line_bytes); /* at least one set */
}

/* Models: the growth of a cache agrees with its size. */
FUZZ(kvmodel, BYTES, "sim/machine/kvmodel") {
  KvModel model;
  Error error = {0};
  if (kvmodel_parse(text, size, "f", &model, &error)) return require_text(&error, "f:");
  const KvCache cache = kvmodel_cache(&model);
  const KvState end = kvcache_seek(&cache, model.max_tokens);
  require(end.page_bytes >= end.bytes && end.bytes > 0);
  KvState state = {0};
  for (int step = 0; step < 40 && step < model.max_tokens; step++) kvcache_append(&cache, &state);
  const KvState same = kvcache_seek(&cache, state.tokens);
  require(same.tokens == state.tokens && same.window_tokens == state.window_tokens);
  require(same.pages == state.pages && same.window_pages == state.window_pages);
  require(same.bytes == state.bytes && same.page_bytes == state.page_bytes);
}

/* Kernel profiles: each can be launched, or is refused, at any d. */
FUZZ(kernel_profile, BYTES, "sim/l2/kernel_profile") {
  static const int64_t D[] = {1, 64, 65, 128, 200, 256, 257, 65536};
  const Gpu gpu = {.name = "g",
                   .n_sm = 3,
                   .warp_size = 32,
                   .shared_bytes_per_sm = 1 << 18,
                   .shared_bytes_per_cta = 1 << 17,
                   .registers_per_sm = 65536,
                   .registers_per_thread = 255,
                   .warps_per_sm = 64,
                   .threads_per_cta = 1024,
                   .ctas_per_sm = 32};
  Profile p;
  memset(&p, 0x5A, sizeof p);
  Error error = {0};
  if (profile_parse(text, size, "f", &p, &error)) {
    require(p.pull_bytes == 0x5A5A5A5A5A5A5A5A); /* unchanged */
    return require_text(&error, "f:");
  }
  require(p.schedule && *p.name && *p.product);
  for (size_t i = 0; i < 2 * COUNT_OF(D); i++) {
    const Shape shape = {.batch = 2, .heads = 3, .N_q = 1000, .d = D[i / 2], .causal = i % 2};
    LaunchConfig config;
    Launch l;
    if (profile_config(&p, &shape, &config, NULL) || launch_make(&l, &shape, &config, &gpu, NULL)) continue;
    require(l.n_pieces > 0 && l.n_slots > 0 && l.n_ctas <= l.n_pieces && l.tail_fill > 0 && l.tail_fill <= 1);
    const LaunchPiece last = launch_piece(&l, l.n_pieces - 1);
    require(last.batch == 1 && last.head == 2);
  }
}

/* The first line's "N_q N_k KIND" says the matrix and whether the rest is a name (n), a file of blocks (b) or of
 * lengths (l). What is made is a mask whose tiles and counts agree. */
FUZZ(mask, TEXT, "sim/problem/mask") {
  char kind = 'n';
  long N_q = 1, N_k = 1;
  char *line = memchr(text, '\n', size);
  if (!line || size > 4096) return;
  *line++ = '\0';
  if (sscanf(text, "%5ld %5ld %c", &N_q, &N_k, &kind) != 3 || N_q < 1 || N_k < 1 || N_q > 4096 || N_k > 4096 ||
      N_q * N_k > 1 << 20)
    return;
  const size_t length = (size_t)(text + size - line);
  const PatternMatrix matrix = {N_q, N_k, N_q % 2 == 0};
  Error error = {0};
  Pattern *p = kind == 'b'   ? pattern_read(line, length, "f", matrix, &error)
               : kind == 'l' ? pattern_documents(line, length, "f", matrix, &error)
                             : pattern_named(line, matrix, &error);
  if (!p) return require_line(&error, "");
  const Shape s = {.N_q = N_q, .N_k = N_k, .d = 1, .causal = true, .top_left = matrix.top_left, .pattern = p};
  const Mask m = mask_of_shape(&s);
  const MaskTiles all = {7, 5, {0, ceil_div(N_q, 7)}, {0, ceil_div(N_k, 5)}};
  const MaskCount c = mask_count(&m, &all);
  require(c.full <= c.computed && c.computed <= c.tiles && mask_pairs(&m) <= c.area);
  require(mask_rows_seen(&m, &all).elements <= wide(N_q) && mask_queries_seeing(&m) <= wide(N_q));
  require(mask_keys_seen(&m) <= wide(N_k) && (mask_pairs(&m) > 0) == (c.computed > 0));
  free(p);
}

/* What --lengths names: lengths of a sum. */
FUZZ(lengths, TEXT, "") {
  Error error = {0};
  Lengths *l = lengths_read(text, size, "f", &error);
  if (!l) return require_line(&error, "");
  require(l->n > 0 && 0 < l->shortest && l->shortest <= l->longest);
  require(lengths_sum(l) >= wide(l->longest) && lengths_sum(l) <= wide(l->longest) * wide(l->n));
  free(l);
}

/* Address traces: the same records and the same verdict whether they come in one piece or in many,
 * the same counts through a cache at once or one by one, and every record can be printed and read back. */
enum { RECORDS = 64, PIECE_MAX = 3 * DIN_LINE_BYTES_MAX };

static void check_record(const DinRecord *record) {
  char text[DIN_TEXT_BYTES];
  DinParser parser = {0};
  DinRecord again;
  size_t n, used;
  require(record->size_bytes >= 1 && record->size_bytes <= DIN_SIZE_MAX);
  require(record->address + (record->size_bytes - 1) >= record->address);
  const size_t length = din_print(record, text);
  require(length < DIN_TEXT_BYTES && text[length - 1] == '\n');
  require(din_parse(&parser, text, length, true, &again, 1, &n, &used, NULL) == STATUS_OK && n == 1 && used == length);
  if (record->label == DIN_MODIFY) return; /* Dinero has no word for it */
  require(again.address == record->address && again.size_bytes == record->size_bytes && again.label == record->label);
}

typedef struct {
  uint64_t n_records, sum, line;
  Status status;
} Verdict;

/* Feeds the text in pieces that grow by `step`, as a reader with a buffer does. */
static Verdict read_in_pieces(const char *text, size_t size, size_t step) {
  DinParser parser = {.default_bytes = 8};
  Verdict verdict = {0};
  size_t begin = 0, end = step < size ? step : size;
  for (;;) {
    DinRecord records[RECORDS];
    Error error = {0};
    size_t n, used;
    const bool is_last = end == size;
    char *piece = malloc(end - begin + 1); /* its own block, so that reading past its end is seen */
    require(piece != NULL);
    memcpy(piece, text + begin, end - begin);
    verdict.status = din_parse(&parser, piece, end - begin, is_last, records, RECORDS, &n, &used, &error);
    free(piece);
    require(n <= RECORDS && used <= end - begin);
    for (size_t i = 0; i < n; i++) {
      check_record(&records[i]);
      verdict.sum = verdict.sum * 31 + records[i].address + records[i].size_bytes + (uint64_t)records[i].label;
    }
    verdict.n_records += n;
    begin += used;
    if (verdict.status) require_text(&error, "trace line ");
    if (verdict.status || (is_last && begin == size)) break;
    require(used > 0 || n > 0 || end < size); /* every call gets on, or can be given more */
    require(n == RECORDS || end - begin <= PIECE_MAX);
    if (n < RECORDS) end = size - end < step ? size : end + step;
  }
  verdict.line = parser.line;
  return verdict;
}

/* The counts of the first records, `step` of them at a time. */
static CacheCounts counts_of(const char *text, size_t size, size_t step) {
  const CacheConfig config = {.size_bytes = 48 * 2 * 128, .ways = 2, .address_bits = 64};
  DinParser parser = {.default_bytes = 8};
  DinRecord records[RECORDS];
  CacheState *cache;
  size_t n, used;
  require(cache_new(&cache, &config, NULL) == STATUS_OK);
  (void)din_parse(&parser, text, size, true, records, RECORDS, &n, &used, NULL); /* those before a mistake are good */
  for (size_t at = 0; at < n; at += step)
    require(din_replay(cache, records + at, n - at < step ? n - at : step, NULL) == STATUS_OK);
  const CacheCounts counts = cache->counts;
  free(cache);
  return counts;
}

FUZZ(din, BYTES, "sim/cache/din") {
  static const size_t STEPS[] = {1, 7, 40}; /* one other way to cut it an input: byte by byte takes its time */
  const size_t last = size ? (uint8_t)text[size - 1] : 0, i = last % 3;
  const Verdict whole = read_in_pieces(text, size, size + 1);
  if (i > 0 || size < 300) {
    const Verdict pieces = read_in_pieces(text, size, STEPS[i]);
    require(pieces.status == whole.status && pieces.n_records == whole.n_records && pieces.sum == whole.sum);
  }
  if (size < 400 && (!size || text[size / 2] % 64 == 32)) { /* a blank, say: long accesses take their time */
    const CacheCounts whole_run = counts_of(text, size, RECORDS), single = counts_of(text, size, 1);
    require(memcmp(&whole_run, &single, sizeof single) == 0);
  }
}
