#include "sim/machine/gpu.h"

#include <assert.h>
#include <stdio.h>

#define TEXT(key, member, required, help)                                                                              \
  { key, KEYFILE_TEXT, offsetof(Gpu, member), required, 0, 0, help, NULL }
#define COUNT(key, member, required, max, help)                                                                        \
  { key, KEYFILE_COUNT, offsetof(Gpu, member), required, 1, max, help, NULL }
#define BYTES(key, member, required, min, max, help)                                                                   \
  { key, KEYFILE_BYTES, offsetof(Gpu, member), required, min, max, help, NULL }
#define RATE(key, kind, member, required, min, max, help)                                                              \
  { key, kind, offsetof(Gpu, member), required, min, max, help, NULL }
#define BANDWIDTH(key, member, required, help) RATE(key, KEYFILE_BYTES_PER_S, member, required, 1e3, 1e16, help)
#define FLOPS(key, member, help)               RATE(key, KEYFILE_FLOPS_PER_S, member, false, 1e3, 1e19, help)

/* Ranges are wide enough for a toy and for the next ten years, and narrow enough to catch a wrong
 * unit. */
static const KeyfileField FIELDS[] = {
    {"name", KEYFILE_NAME, offsetof(Gpu, name), true, 0, 0, "the name that --gpu takes", NULL},
    TEXT("product", product, false, "the full name"),
    TEXT("vendor", vendor, false, "who makes it"),
    TEXT("architecture", architecture, false, "the generation"),
    TEXT("compute_capability", compute_capability, false, "the instruction set"),
    COUNT("year", year, false, 9999, "when it came out"),
    COUNT("n_sm", n_sm, true, 1e5, "how many SMs (AMD: compute units)"),
    BYTES("sram", sram_bytes, true, 64, 1e9, "L1 and shared memory of an SM together"),
    BYTES("l1", l1_bytes, false, 64, 1e9, "the most of it that can be L1"),
    BYTES("shared_per_sm", shared_bytes_per_sm, false, 64, 1e9, "the most of it that can be shared memory"),
    BYTES("shared_per_cta", shared_bytes_per_cta, false, 64, 1e9, "shared memory one CTA may ask for"),
    BYTES("shared_reserved", shared_reserved_bytes, false, 0, 1e6, "shared memory the system takes per CTA"),
    BYTES("tensor_memory", tensor_memory_bytes, false, 64, 1e9,
          "memory of the tensor cores of an SM, for their results"),
    COUNT("registers_per_sm", registers_per_sm, false, 1e8, "registers of 32 bits of an SM"),
    COUNT("registers_per_thread", registers_per_thread, false, 65536, "the most one thread may have"),
    COUNT("threads_per_sm", threads_per_sm, false, 65536, "threads resident on an SM"),
    COUNT("threads_per_cta", threads_per_cta, false, 65536, "threads of one CTA"),
    COUNT("warps_per_sm", warps_per_sm, false, 4096, "warps resident on an SM"),
    COUNT("ctas_per_sm", ctas_per_sm, false, 4096, "CTAs resident on an SM"),
    COUNT("warp_size", warp_size, false, 1024, "threads of a warp (AMD: wavefront)"),
    RATE("clock", KEYFILE_HERTZ, clock_hz, true, 1, 1e11, "boost clock of the SMs"),
    RATE("memory_clock", KEYFILE_HERTZ, memory_clock_hz, false, 1, 1e11, "memory clock"),
    RATE("sram_port", KEYFILE_BYTES_PER_CLOCK, sram_bytes_per_clock, false, 1, 65536,
         "shared memory bandwidth of an SM"),
    RATE("exp", KEYFILE_OPS_PER_CLOCK, exp_per_clock, false, 0.01, 65536, "exponentials of an SM"),
    BYTES("l2", l2_bytes, false, 256, 1e12, "L2, all partitions together"),
    BYTES("l2_room", l2_room_bytes, false, 256, 1e12,
          "what of L2 is found to keep data; all of it where this is not given"),
    COUNT("l2_partitions", l2_partitions, false, 64, "L2 partitions, each near some of the SMs"),
    COUNT("l2_cta_run", l2_cta_run, false, 65536, "CTAs in a row that go to one partition's own L2 (chiplets)"),
    COUNT("l2_slices", l2_slices, false, 65536, "L2 slices"),
    COUNT("l2_ways", l2_ways, false, 65536, "L2 associativity"),
    BYTES("l2_line", l2_line_bytes, false, 8, 65536, "L2 line"),
    BYTES("l2_sector", l2_sector_bytes, false, 4, 65536, "L2 sector: what one miss fetches"),
    BANDWIDTH("l2_bandwidth", l2_bytes_per_s, false, "L2 read bandwidth"),
    BYTES("l2_fabric_launch", l2_fabric_launch_bytes, false, 1, 1e9,
          "between partitions in each launch, whatever it reads"),
    BYTES("l2_fabric_sm", l2_fabric_sm_bytes, false, 1, 1e9, "the same for each SM at work"),
    BYTES("l3", l3_bytes, false, 256, 1e12, "memory-side cache"),
    BANDWIDTH("l3_bandwidth", l3_bytes_per_s, false, "memory-side cache bandwidth"),
    BYTES("hbm", hbm_bytes, true, 1024, 1e14, "device memory"),
    BYTES("hbm_reported", hbm_reported_bytes, false, 1024, 1e14, "device memory as the driver reports it"),
    BANDWIDTH("hbm_bandwidth", hbm_bytes_per_s, true, "device memory bandwidth, data sheet"),
    BANDWIDTH("hbm_read_measured", hbm_read_measured_bytes_per_s, false, "read bandwidth, measured"),
    BANDWIDTH("hbm_write_measured", hbm_write_measured_bytes_per_s, false, "write bandwidth, measured"),
    BANDWIDTH("hbm_copy_measured", hbm_copy_measured_bytes_per_s, false, "read plus write of a copy, measured"),
    FLOPS("fp32", fp32_flops_per_s, "peak fp32, vector units"),
    FLOPS("fp16", fp16_flops_per_s, "peak fp16, vector units"),
    FLOPS("bf16", bf16_flops_per_s, "peak bf16, vector units"),
    FLOPS("tf32_tensor", tf32_tensor_flops_per_s, "peak tf32, tensor cores, dense"),
    FLOPS("fp16_tensor", fp16_tensor_flops_per_s, "peak fp16, tensor cores, dense"),
    FLOPS("bf16_tensor", bf16_tensor_flops_per_s, "peak bf16, tensor cores, dense"),
    FLOPS("fp8_tensor", fp8_tensor_flops_per_s, "peak fp8, tensor cores, dense"),
    FLOPS("fp16_tensor_measured", fp16_tensor_measured_flops_per_s, "fp16 matrix product, measured"),
    BANDWIDTH("link", link_bytes_per_s, false, "to other GPUs, both directions together"),
    RATE("launch_overhead", KEYFILE_SECONDS, launch_overhead_s, false, 0, 1, "least time between two kernels"),
};
_Static_assert(sizeof FIELDS / sizeof FIELDS[0] == GPU_FIELD_COUNT, "one row for each field");

const KeyfileField *gpu_fields(int *n_fields) {
  *n_fields = GPU_FIELD_COUNT;
  return FIELDS;
}

void gpu_set_l2(Gpu *gpu, int64_t l2_bytes) {
  if (gpu->l2_bytes > 0)
    gpu->l2_room_bytes = (int64_t)((double)gpu->l2_room_bytes / (double)gpu->l2_bytes * (double)l2_bytes);
  gpu->l2_bytes = l2_bytes;
}

double gpu_value(const Gpu *gpu, const KeyfileField *field) {
  const char *member = (const char *)gpu + field->offset;
  assert(keyfile_is_number(field->kind));
  if (field->kind == KEYFILE_COUNT || field->kind == KEYFILE_BYTES) {
    int64_t whole;
    memcpy(&whole, member, sizeof whole);
    return (double)whole;
  }
  double number;
  memcpy(&number, member, sizeof number);
  return number;
}

const KeyfileNote *gpu_note(const Gpu *gpu, const char *key) { return keyfile_note(FIELDS, gpu->notes, key); }

/* --- What a file may leave out --- */

static void mark_assumed(Gpu *gpu, const char *key, const char *why) {
  KeyfileNote *note = &gpu->notes[gpu_note(gpu, key) - gpu->notes];
  note->assumed = true;
  snprintf(note->source, sizeof note->source, "assumed: not given, %s", why);
}

static void assume_whole(Gpu *gpu, const char *key, int64_t *member, int64_t value, const char *why) {
  if (gpu_note(gpu, key)->line || value == 0) return;
  *member = value;
  mark_assumed(gpu, key, why);
}

static void assume_rate(Gpu *gpu, const char *key, double *member, double value, const char *why) {
  if (gpu_note(gpu, key)->line) return;
  *member = value;
  mark_assumed(gpu, key, why);
}

static void fill_in(Gpu *gpu) {
  if (!gpu->product[0]) memcpy(gpu->product, gpu->name, sizeof gpu->product);
  assume_whole(gpu, "shared_per_sm", &gpu->shared_bytes_per_sm, gpu->sram_bytes, "all of sram");
  assume_whole(gpu, "shared_per_cta", &gpu->shared_bytes_per_cta, gpu->shared_bytes_per_sm - gpu->shared_reserved_bytes,
               "shared_per_sm less shared_reserved");
  assume_whole(gpu, "warp_size", &gpu->warp_size, 32, "32 as on every NVIDIA GPU so far");
  assume_whole(gpu, "warps_per_sm", &gpu->warps_per_sm, gpu->threads_per_sm / gpu->warp_size,
               "threads_per_sm / warp_size");
  assume_rate(gpu, "sram_port", &gpu->sram_bytes_per_clock, 128, "32 banks of 4 bytes as on NVIDIA GPUs");
  assume_rate(gpu, "exp", &gpu->exp_per_clock, 16, "16 as on NVIDIA data-centre GPUs since Volta");
  if (gpu->l2_bytes == 0) return;
  assume_whole(gpu, "l2_partitions", &gpu->l2_partitions, 1, "one");
  assume_whole(gpu, "l2_line", &gpu->l2_line_bytes, 128, "128 B as on NVIDIA GPUs");
  assume_whole(gpu, "l2_sector", &gpu->l2_sector_bytes, gpu->l2_line_bytes < 32 ? gpu->l2_line_bytes : 32,
               "32 B as on NVIDIA GPUs, or a whole line");
}

/* --- What must agree --- */

typedef struct {
  const Gpu *gpu;
  const char *display_name;
  Error *error;
} Check;

#define REFUSE(check, key, ...)                                                                                        \
  keyfile_refuse((check)->display_name, gpu_note((check)->gpu, key)->line, (check)->error, __VA_ARGS__)

static Status check_sm(const Check *c) {
  const Gpu *g = c->gpu;
  if (g->shared_bytes_per_sm > g->sram_bytes)
    return REFUSE(c, "shared_per_sm",
                  "shared_per_sm (%lld B) is more than sram (%lld B), but it is a part of it; "
                  "correct one of them",
                  (long long)g->shared_bytes_per_sm, (long long)g->sram_bytes);
  if (g->l1_bytes > g->sram_bytes)
    return REFUSE(c, "l1", "l1 (%lld B) is more than sram (%lld B), but it is a part of it; correct one of them",
                  (long long)g->l1_bytes, (long long)g->sram_bytes);
  if (g->shared_reserved_bytes >= g->shared_bytes_per_sm)
    return REFUSE(c, "shared_reserved",
                  "shared_reserved (%lld B) leaves nothing of shared_per_sm (%lld B); it is about "
                  "1 KiB on real GPUs",
                  (long long)g->shared_reserved_bytes, (long long)g->shared_bytes_per_sm);
  if (g->shared_bytes_per_cta > g->shared_bytes_per_sm - g->shared_reserved_bytes)
    return REFUSE(c, "shared_per_cta",
                  "shared_per_cta (%lld B) is more than shared_per_sm less shared_reserved (%lld B), so no CTA could "
                  "have it; correct one of them",
                  (long long)g->shared_bytes_per_cta, (long long)(g->shared_bytes_per_sm - g->shared_reserved_bytes));
  if (g->threads_per_sm && g->warps_per_sm * g->warp_size != g->threads_per_sm)
    return REFUSE(c, "threads_per_sm", "threads_per_sm is %lld, but %lld warps of %lld threads are %lld",
                  (long long)g->threads_per_sm, (long long)g->warps_per_sm, (long long)g->warp_size,
                  (long long)(g->warps_per_sm * g->warp_size));
  if (g->threads_per_sm && g->threads_per_cta > g->threads_per_sm)
    return REFUSE(c, "threads_per_cta",
                  "threads_per_cta (%lld) is more than threads_per_sm (%lld): no CTA of that "
                  "size could run",
                  (long long)g->threads_per_cta, (long long)g->threads_per_sm);
  return STATUS_OK;
}

static Status check_no_l2(const Check *c) {
  static const char *const KEYS[] = {"l2_room",   "l2_partitions", "l2_slices",        "l2_ways",     "l2_line",
                                     "l2_sector", "l2_bandwidth",  "l2_fabric_launch", "l2_fabric_sm"};
  for (size_t k = 0; k < sizeof KEYS / sizeof KEYS[0]; k++)
    if (gpu_note(c->gpu, KEYS[k])->line)
      return REFUSE(c, KEYS[k], "%s is given but l2 is not; add 'l2 = ...', or remove the line if there is no L2",
                    KEYS[k]);
  return STATUS_OK;
}

static Status check_l2(const Check *c) {
  const Gpu *g = c->gpu;
  if (g->l2_bytes == 0) return check_no_l2(c);
  if (g->l2_line_bytes % g->l2_sector_bytes != 0)
    return REFUSE(c, "l2_sector",
                  "l2_sector (%lld B) does not divide l2_line (%lld B), but a line is made of whole sectors",
                  (long long)g->l2_sector_bytes, (long long)g->l2_line_bytes);
  if (g->l2_bytes % (g->l2_partitions * g->l2_line_bytes) != 0)
    return REFUSE(c, "l2", "l2 (%lld B) is not a whole number of lines of %lld B in each of %lld partitions",
                  (long long)g->l2_bytes, (long long)g->l2_line_bytes, (long long)g->l2_partitions);
  if (g->l2_slices % g->l2_partitions != 0)
    return REFUSE(c, "l2_slices", "%lld slices cannot be shared out evenly among %lld partitions",
                  (long long)g->l2_slices, (long long)g->l2_partitions);
  const int64_t slices = g->l2_slices ? g->l2_slices : g->l2_partitions;
  if (g->l2_ways && g->l2_bytes % (slices * g->l2_ways * g->l2_line_bytes) != 0)
    return REFUSE(c, "l2_ways",
                  "l2 (%lld B) is not a whole number of sets of %lld ways of %lld B in each of %lld slices",
                  (long long)g->l2_bytes, (long long)g->l2_ways, (long long)g->l2_line_bytes, (long long)slices);
  if (g->l2_room_bytes > g->l2_bytes)
    return REFUSE(c, "l2_room", "l2_room (%lld B) is more than l2 (%lld B), of which it is a part",
                  (long long)g->l2_room_bytes, (long long)g->l2_bytes);
  if (g->l2_bytes >= g->hbm_bytes)
    return REFUSE(c, "l2", "l2 (%lld B) is as large as hbm (%lld B) or larger; check the units", (long long)g->l2_bytes,
                  (long long)g->hbm_bytes);
  return STATUS_OK;
}

/* A measurement may pass the data sheet by what clocks and rounding allow, assumed 5 %. */
static Status check_measured(const Check *c) {
  const Gpu *g = c->gpu;
  const struct {
    const char *key;
    double measured, peak;
    const char *peak_key;
  } rows[] = {
      {"hbm_read_measured", g->hbm_read_measured_bytes_per_s, g->hbm_bytes_per_s, "hbm_bandwidth"},
      {"hbm_write_measured", g->hbm_write_measured_bytes_per_s, g->hbm_bytes_per_s, "hbm_bandwidth"},
      {"hbm_copy_measured", g->hbm_copy_measured_bytes_per_s, g->hbm_bytes_per_s, "hbm_bandwidth"},
      {"fp16_tensor_measured", g->fp16_tensor_measured_flops_per_s, g->fp16_tensor_flops_per_s, "fp16_tensor"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    if (rows[i].measured > 1.05 * rows[i].peak)
      return REFUSE(c, rows[i].key, "%s (%g) is more than 5 %% above %s (%g); a peak cannot be passed, check both",
                    rows[i].key, rows[i].measured, rows[i].peak_key, rows[i].peak);
  if (g->sram_bytes >= g->hbm_bytes)
    return REFUSE(c, "sram", "sram (%lld B) is as large as hbm (%lld B) or larger; check the units",
                  (long long)g->sram_bytes, (long long)g->hbm_bytes);
  if (g->l3_bytes_per_s > 0 && g->l3_bytes == 0)
    return REFUSE(c, "l3_bandwidth", "l3_bandwidth is given but l3 is not; add 'l3 = ...' or remove the line");
  return STATUS_OK;
}

Status gpu_parse(const char *buffer, size_t length, const char *display_name, Gpu *gpu, Error *error) {
  Gpu read;
  memset(&read, 0, sizeof read);
  const Check check = {&read, display_name, error};
  Status status = keyfile_parse(buffer, length, display_name, FIELDS, GPU_FIELD_COUNT, &read, read.notes, error);
  if (!status) fill_in(&read);
  if (!status) status = check_sm(&check);
  if (!status) status = check_l2(&check);
  if (!status) status = check_measured(&check);
  if (!status) *gpu = read;
  return status;
}

/* --- Rates --- */

double gpu_hbm_bytes_per_s(const Gpu *gpu) {
  return gpu->hbm_read_measured_bytes_per_s > 0 ? gpu->hbm_read_measured_bytes_per_s : gpu->hbm_bytes_per_s;
}

double gpu_sram_bytes_per_s(const Gpu *gpu) { return (double)gpu->n_sm * gpu->sram_bytes_per_clock * gpu->clock_hz; }

double gpu_exp_per_s(const Gpu *gpu) { return (double)gpu->n_sm * gpu->exp_per_clock * gpu->clock_hz; }

static bool has_unit(const Gpu *gpu, Dtype dtype) {
  return gpu_flops_per_s(gpu, dtype, true) > 0 || gpu_flops_per_s(gpu, dtype, false) > 0;
}

Dtype gpu_computes_in(const Gpu *gpu, Dtype dtype) {
  if (has_unit(gpu, dtype)) return dtype;
  if (dtype == DTYPE_FP8 && has_unit(gpu, DTYPE_FP16)) return DTYPE_FP16;
  if (dtype == DTYPE_BF16 && has_unit(gpu, DTYPE_FP32)) return DTYPE_FP32;
  return dtype;
}

double gpu_flops_per_s(const Gpu *gpu, Dtype dtype, bool tensor) {
  switch (dtype) {
  case DTYPE_FP32: return tensor ? gpu->tf32_tensor_flops_per_s : gpu->fp32_flops_per_s;
  case DTYPE_FP16: return tensor ? gpu->fp16_tensor_flops_per_s : gpu->fp16_flops_per_s;
  case DTYPE_BF16: return tensor ? gpu->bf16_tensor_flops_per_s : gpu->bf16_flops_per_s;
  case DTYPE_FP8: return tensor ? gpu->fp8_tensor_flops_per_s : 0;
  case DTYPE_COUNT: break;
  }
  return 0;
}

extern const char
    gpu_paper_text[]; /* assets/gpus/paper, as it stands there; the Makefile puts it beside the programs */

void gpu_paper(Gpu *gpu) {
  const Status status = gpu_parse(gpu_paper_text, strlen(gpu_paper_text), "paper", gpu, NULL);
  assert(!status);
  (void)status;
}
