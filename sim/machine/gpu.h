/* A GPU as numbers: what an SM holds, what lies between it and HBM, and how fast each of them is.
 *
 *        SM 0 ... SM n_sm-1     sram_bytes each: shared memory (the SRAM of the papers) and L1
 *          |           |        threads, registers and CTAs that fit at once
 *        [ L2 partition ] x l2_partitions     l2_bytes in all; none when l2_bytes is 0
 *          |                                  (l3_bytes: a memory-side cache, AMD only)
 *        [ HBM ]                hbm_bytes, hbm_bytes_per_s
 *
 * Descriptions live in assets/gpus, one file each, in the form of sim/base/keyfile.h; a user's own file
 * is as good. Every number keeps the text that says where it comes from. The default machine,
 * `paper`, has SRAM and HBM alone and is built in.
 *
 * 0 means "not known" (or "none", for l2_bytes and l3_bytes); a model that needs the number says so
 * or leaves its part out. Values that a file leaves out and that have a usual value are filled in
 * and marked as assumed, with line 0 in their note.
 *
 * Adding a field: one member here, one row in gpu.c, and GPU_FIELD_COUNT one up. */
#ifndef TILEWALK_SIM_MACHINE_GPU_H
#define TILEWALK_SIM_MACHINE_GPU_H

#include "sim/base/keyfile.h"
#include "sim/problem/shape.h"

enum { GPU_FIELD_COUNT = 53 };

typedef struct {
  char name[KEYFILE_TEXT_BYTES];               /* what --gpu takes: letters, digits, '-', '_', '.' */
  char product[KEYFILE_TEXT_BYTES];            /* the full name, for people */
  char vendor[KEYFILE_TEXT_BYTES];             /* "" when not given */
  char architecture[KEYFILE_TEXT_BYTES];       /* "Hopper", ... */
  char compute_capability[KEYFILE_TEXT_BYTES]; /* "9.0", "gfx942", ... */
  int64_t year;

  /* One SM (AMD: one compute unit). */
  int64_t n_sm;
  int64_t sram_bytes;            /* L1 and shared memory together, per SM */
  int64_t l1_bytes;              /* the most that can serve as L1 */
  int64_t shared_bytes_per_sm;   /* the most that can serve as shared memory */
  int64_t shared_bytes_per_cta;  /* the most one CTA (thread block) may ask for */
  int64_t shared_reserved_bytes; /* taken by the system for each CTA */
  int64_t tensor_memory_bytes;   /* where tensor cores keep their results; 0: in registers */
  int64_t registers_per_sm;      /* of 32 bits */
  int64_t registers_per_thread;  /* the most one thread may have */
  int64_t threads_per_sm;
  int64_t threads_per_cta;
  int64_t warps_per_sm;
  int64_t ctas_per_sm;
  int64_t warp_size;
  double clock_hz;             /* boost clock of the SMs */
  double memory_clock_hz;      /* as the vendor states it: not the data rate per pin */
  double sram_bytes_per_clock; /* one SM's shared memory, reads */
  double exp_per_clock;        /* exponentials (special-function results) per SM and clock */

  /* L2. l2_bytes 0: there is none. */
  int64_t l2_bytes;      /* all partitions together */
  int64_t l2_room_bytes; /* of them, what is found to keep data; 0: all */
  int64_t l2_partitions;
  int64_t l2_cta_run; /* CTAs in a row that go to one partition, where each is a cache of its own; 0: they share */
  int64_t l2_slices;
  int64_t l2_ways;
  int64_t l2_line_bytes;
  int64_t l2_sector_bytes;
  double l2_bytes_per_s;                              /* reads by all SMs */
  int64_t l2_fabric_launch_bytes, l2_fabric_sm_bytes; /* between partitions, in each launch of a kernel, whatever it
                                                         reads; and for each SM at work */

  /* A cache on the memory side of L2 (AMD's Infinity Cache). */
  int64_t l3_bytes;
  double l3_bytes_per_s;

  /* Device memory; called HBM throughout, also where it is GDDR. */
  int64_t hbm_bytes;                    /* data sheet */
  int64_t hbm_reported_bytes;           /* in all, as the driver says; 0: nobody said */
  double hbm_bytes_per_s;               /* data sheet */
  double hbm_read_measured_bytes_per_s; /* measured, where somebody has */
  double hbm_write_measured_bytes_per_s;
  double hbm_copy_measured_bytes_per_s; /* read + written */

  /* Peak arithmetic, dense (no structured sparsity), fp32 accumulation on tensor cores. */
  double fp32_flops_per_s; /* on the vector units */
  double fp16_flops_per_s;
  double bf16_flops_per_s;
  double tf32_tensor_flops_per_s;
  double fp16_tensor_flops_per_s;
  double bf16_tensor_flops_per_s;
  double fp8_tensor_flops_per_s;
  double fp16_tensor_measured_flops_per_s;

  double link_bytes_per_s; /* to other GPUs, both directions together, as data sheets have it */

  double launch_overhead_s; /* from one kernel's end to the next one's start, at best */

  KeyfileNote notes[GPU_FIELD_COUNT]; /* in the order of gpu_fields */
} Gpu;

/* Reads a description. `display_name` is what messages call the file. *gpu is unchanged on error.
 * Beyond the form of the file, checks that the numbers agree with each other, and says which do not
 * and why. */
Status gpu_parse(const char *buffer, size_t length, const char *display_name, Gpu *gpu, Error *error);

/* The default machine: assets/gpus/paper, built in. */
void gpu_paper(Gpu *gpu);

/* The table of fields: keys, kinds, offsets into Gpu, one line of help each. */
const KeyfileField *gpu_fields(int *n_fields);

/* What a program can have of its memory: all that there is less what context and driver keep, about a gigabyte where
 * torch and nvidia-smi were compared (assumed). */
#define GPU_RESERVE_BYTES ((int64_t)1 << 30)
static inline int64_t gpu_memory_bytes(const Gpu *gpu) {
  return gpu->hbm_reported_bytes ? gpu->hbm_reported_bytes : gpu->hbm_bytes;
}
static inline int64_t gpu_usable_bytes(const Gpu *gpu) {
  const int64_t usable = gpu_memory_bytes(gpu) - GPU_RESERVE_BYTES;
  return usable > 0 ? usable : gpu_memory_bytes(gpu);
}

/* Another size of L2, with room in proportion. l2_bytes > 0. */
void gpu_set_l2(Gpu *gpu, int64_t l2_bytes);

/* The value of a field that is no text, in its base unit (keyfile_base_unit). */
double gpu_value(const Gpu *gpu, const KeyfileField *field);

/* Where the value of the key (such as "l2_ways") comes from. The key must exist. */
const KeyfileNote *gpu_note(const Gpu *gpu, const char *key);

/* HBM bandwidth to compute with: measured reads where known, the data sheet's otherwise. */
double gpu_hbm_bytes_per_s(const Gpu *gpu);

/* Of all SMs together. */
double gpu_sram_bytes_per_s(const Gpu *gpu);
double gpu_exp_per_s(const Gpu *gpu);

/* What products of operands stored as `dtype` are computed in: the type itself where the machine has a unit for it;
 * else fp8 is converted to fp16, and bf16, whose range fp16 does not have, to fp32: the type is storage only. */
Dtype gpu_computes_in(const Gpu *gpu, Dtype dtype);

/* Peak dense FLOP/s for operands of the type; 0 when the machine cannot or nobody said. On tensor
 * cores fp32 means tf32. */
double gpu_flops_per_s(const Gpu *gpu, Dtype dtype, bool tensor);

#endif
