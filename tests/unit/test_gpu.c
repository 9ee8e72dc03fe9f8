/* The GPU descriptions: every file in assets/gpus is read, its numbers agree with each other and
 * with what is known about the machine from elsewhere, and a wrong file says why it is wrong. */
#define _POSIX_C_SOURCE 200809L

#include "tests/support/test.h"
#include "sim/l2/hierarchy.h"
#include "tests/support/open_gpu.h"

/* A file's name is what --gpu takes. */
TEST(every_file_is_read) {
  DIR *folder = open_folder("gpus");
  int n_files = 0, n_fields;
  const KeyfileField *fields = gpu_fields(&n_fields);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    const Gpu gpu = open_gpu(entry->d_name);
    assert_string_equal(gpu.name, entry->d_name);
    for (int f = 0; f < n_fields; f++)
      if (keyfile_is_number(fields[f].kind) && gpu_value(&gpu, &fields[f]) != 0) assert_true(gpu.notes[f].source[0]);
    n_files++;
  }
  closedir(folder);
  assert_true(n_files >= 39);
}

/* The built-in default is the file, byte for byte of the struct: values, lines and sources. */
TEST(paper_is_its_file) {
  Gpu built_in;
  memset(&built_in, 0xAA, sizeof built_in);
  gpu_paper(&built_in);
  const Gpu file = open_gpu("paper");
  assert_memory_equal(&built_in, &file, sizeof file);
  assert_int_equal(file.sram_bytes, 196608);
  assert_int_equal(file.shared_bytes_per_cta, 196608);
  assert_int_equal(file.l2_bytes, 0); /* SRAM and HBM alone */
  assert_int_equal(file.l2_partitions, 0);
  assert_int_equal(file.n_sm, 108);
  assert_true(file.hbm_bytes_per_s == 1.555e12);
}

/* Figures of merit that the files do not hold, from counting units, to the vendor's rounding: FLOP per SM and clock are
 * twice the fp32 lanes (64 on V100, T4, A100; 128 on the others), and of tensor cores what is documented of the
 * generation's multiply-adds, dense, at the clock of which the vendor's peak is. 0: nothing is said. */
TEST(peaks_are_units_times_clock) {
  /* the GPU, fp32 FLOP per SM and clock, those of tensor cores, their clock in Hz */
  const char *rows = "v100 128 1024 1530e6\n"
                     "t4 128 1024 1590e6\n"
                     "a100-40gb 128 2048 1410e6\n"
                     "a100-80gb 128 2048 1410e6\n"
                     "rtx3090 256 512 1695e6\n"
                     "rtx4090 256 512 2520e6\n"
                     "l4 256 1024 2040e6\n"
                     "h100-pcie 256 4096 1620e6\n"
                     "h100-sxm 256 4096 1830e6\n"
                     "h200 256 4096 1830e6\n"
                     "b200 256 8192 1856e6\n"
                     "mi300x 256 2048 2100e6\n"
                     "paper 128 0 0\n"
                     "tiny 64 0 0\n"
                     "rtx3060 256 512 1777e6\n"
                     "rtx4060 256 512 2460e6\n"
                     "rtx4070 256 512 2475e6\n"
                     "rtx5090 256 512 2407e6\n"
                     "l40s 256 1024 2520e6\n"
                     "a10 256 1024 1695e6\n"
                     "a6000 256 1024 1800e6\n"
                     "gh200 256 4096 1830e6\n"
                     "b300 256 8192 1907e6\n"
                     "mi325x 256 2048 2100e6\n"
                     "mi355x 256 4096 2400e6\n"
                     "a30 128 2048 1440e6\n"
                     "a40 256 1024 1740e6\n"
                     "rtx3080 256 512 1710e6\n"
                     "rtx5070 256 512 2512e6\n"
                     "rtx5070ti 256 512 2452e6\n"
                     "rtx5080 256 512 2617e6\n"
                     "rtx-pro-6000 256 1024 2600e6\n"
                     "l20 256 512 2520e6\n"
                     "h20 256 1024 1853e6\n"
                     "h800 256 4096 1830e6\n"
                     "gb300 256 8192 2008e6\n"
                     "jetson-orin 256 2048 1300e6\n"
                     "m4-max 256 256 1578e6\n"
                     "gb200 0 8192 2008e6";
  char name[32];
  double lanes, cores, hz;
  while (test_row(&rows, "%31s %lf %lf %lf", name, &lanes, &cores, &hz)) {
    const Gpu g = open_gpu(name);
    const double fp32 = g.fp32_flops_per_s / ((double)g.n_sm * g.clock_hz) / lanes,
                 tensor = g.fp16_tensor_flops_per_s / ((double)g.n_sm * hz) / cores;
    assert_true(lanes <= 0 || fabs(fp32 - 1) <= 0.015);
    assert_true(cores <= 0 || fabs(tensor - 1) <= 0.015);
    if (g.fp8_tensor_flops_per_s > 0) /* twice fp16 wherever there is fp8 */
      assert_near(g.fp8_tensor_flops_per_s / g.fp16_tensor_flops_per_s, 2, 0.01);
  }
}

/* HBM bandwidth where the memory clock is known: bus width x 2 bits a clock. The widths of H200 and
 * B200 are those of the device property. */
TEST(bandwidth_is_bus_width_times_clock) {
  /* the GPU, bits of its bus */
  const char *rows = "v100 4096\n"
                     "a100-40gb 5120\n"
                     "a100-80gb 5120\n"
                     "h100-pcie 5120\n"
                     "h100-sxm 5120\n"
                     "h200 6016\n"
                     "b200 7680";
  char name[32];
  double bus_bits;
  while (test_row(&rows, "%31s %lf", name, &bus_bits)) {
    const Gpu g = open_gpu(name);
    const double peak = bus_bits / 8 * 2 * g.memory_clock_hz;
    assert_true(g.hbm_bytes_per_s >= 0.97 * peak && g.hbm_bytes_per_s <= 1.01 * peak);
  }
}

/* Whole sets in every slice; the number of sets as the cited configurations have them. */
TEST(l2_geometry_adds_up) {
  /* the GPU, sets of a slice */
  const char *rows = "v100 32\n"
                     "a100-40gb 256\n"
                     "h100-sxm 256\n"
                     "h200 256\n"
                     "mi300x 128\n"
                     "tiny 16";
  char name[32];
  int sets_per_slice;
  while (test_row(&rows, "%31s %d", name, &sets_per_slice)) {
    const Gpu g = open_gpu(name);
    assert_int_equal(g.l2_bytes, g.l2_slices * sets_per_slice * g.l2_ways * g.l2_line_bytes);
  }
  assert_int_equal(open_gpu("h200").l2_bytes, 62914560);
  assert_int_equal(open_gpu("b200").l2_bytes, 132644864);
}

/* The rates that models ask for, worked by hand. */
TEST(rates) {
  const Gpu h200 = open_gpu("h200"), h100 = open_gpu("h100-sxm"), paper = open_gpu("paper"), v100 = open_gpu("v100");
  assert_true(gpu_hbm_bytes_per_s(&h200) == 4.35e12); /* measured reads go before the data sheet */
  assert_true(gpu_hbm_bytes_per_s(&h100) == 3.106e12);
  assert_true(gpu_sram_bytes_per_s(&paper) == 108 * 128 * 1.41e9); /* 19.5 TB/s; FlashAttention says about 19 */
  assert_true(gpu_exp_per_s(&h100) == 132 * 16 * 1.98e9);
  assert_true(gpu_flops_per_s(&h100, DTYPE_FP16, true) == 989.4e12);
  assert_true(gpu_flops_per_s(&h100, DTYPE_BF16, true) == 989.4e12);
  assert_true(gpu_flops_per_s(&h100, DTYPE_FP8, true) == 1978.9e12);
  assert_true(gpu_flops_per_s(&h100, DTYPE_FP32, true) == 494.7e12);
  assert_true(gpu_flops_per_s(&h100, DTYPE_FP32, false) == 66.9e12);
  assert_true(gpu_flops_per_s(&h100, DTYPE_FP16, false) == 133.8e12);
  assert_true(gpu_flops_per_s(&h100, DTYPE_BF16, false) == 133.8e12);
  assert_true(gpu_flops_per_s(&h100, DTYPE_FP8, false) == 0);
  assert_true(gpu_flops_per_s(&h100, DTYPE_COUNT, false) == 0);
  assert_true(gpu_flops_per_s(&v100, DTYPE_BF16, true) == 0); /* Volta has no bf16 */
  assert_string_equal(gpu_note(&h200, "n_sm")->source, "measured on an NVIDIA H200 (driver 580, CUDA 13.0)");
  assert_false(gpu_note(&h200, "launch_overhead")->assumed);
  assert_true(gpu_note(&h100, "launch_overhead")->assumed);
}

TEST(another_l2_has_room_in_proportion) {
  Gpu h200 = open_gpu("h200"), a100 = open_gpu("a100-40gb");
  assert_int_equal(h200.l2_room_bytes, 60020 << 10);
  assert_true((double)h200.l2_room_bytes == 2 * HIERARCHY_SIDE_BYTES);
  gpu_set_l2(&h200, 30 << 20);
  assert_int_equal(h200.l2_bytes, 30 << 20);
  assert_int_equal(h200.l2_room_bytes, 60020 << 9);
  gpu_set_l2(&a100, 30 << 20); /* all of it, whatever that is */
  assert_int_equal(a100.l2_room_bytes, 0);
}

/* A description of this name whose lines, "n_sm = 1|clock = 1 Hz", are all assumed. */
static const char *described(const char *name, const char *lines) {
  static char text[1024];
  char line[TEST_TEXT];
  int n = snprintf(text, sizeof text, "name = %s\n", name);
  while (test_next(&lines, line)) n += snprintf(text + n, sizeof text - (size_t)n, "%s # assumed\n", line);
  return text;
}

#define MINIMAL "n_sm = 10|sram = 100 KiB|clock = 1 GHz|hbm = 8 GB|hbm_bandwidth = 100 GB/s"

static Status parse(const char *text, Gpu *gpu) { return gpu_parse(ALL_OF(text), "mine.gpu", gpu, fresh_error()); }

static Gpu mine(const char *lines) {
  Gpu gpu;
  must(parse(described("mine", lines), &gpu));
  return gpu;
}

/* Six lines make a machine; what they leave out is filled in, marked, and explained. */
TEST(a_users_file_may_be_short) {
  Gpu gpu = mine(MINIMAL);
  assert_string_equal(gpu.product, "mine");
  assert_int_equal(gpu.shared_bytes_per_sm, 102400);
  assert_int_equal(gpu.shared_bytes_per_cta, 102400);
  assert_int_equal(gpu.warp_size, 32);
  assert_int_equal(gpu.threads_per_sm, 0); /* not known */
  assert_int_equal(gpu.warps_per_sm, 0);
  assert_true(gpu.sram_bytes_per_clock == 128);
  assert_true(gpu.exp_per_clock == 16);
  assert_int_equal(gpu.l2_bytes, 0);
  assert_int_equal(gpu.l2_line_bytes, 0);
  assert_int_equal(gpu_note(&gpu, "warp_size")->line, 0);
  assert_true(gpu_note(&gpu, "warp_size")->assumed);
  assert_string_equal(gpu_note(&gpu, "shared_per_sm")->source, "assumed: not given, all of sram");

  gpu = mine(MINIMAL "|l2 = 6 MiB|threads_per_sm = 1024|shared_reserved = 1 KiB");
  assert_int_equal(gpu.l2_partitions, 1);
  assert_int_equal(gpu.l2_line_bytes, 128);
  assert_int_equal(gpu.l2_sector_bytes, 32);
  assert_int_equal(gpu.l2_slices, 0); /* not known */
  assert_int_equal(gpu.warps_per_sm, 32);
  assert_int_equal(gpu.shared_bytes_per_cta, 102400 - 1024);
  gpu = mine(MINIMAL "|l2 = 6 MiB|l2_line = 16 B");
  assert_int_equal(gpu.l2_sector_bytes, 16);
}

/* Numbers that cannot all be true: the message is at the line of one of them and names
 * the other. */
TEST(contradictions_are_explained) {
  static const char *const CASES[] = {
      "shared_per_sm = 128 KiB => 7: shared_per_sm (131072 B)|more than sram (102400 B)",
      "l1 = 128 KiB => 7: l1 (131072 B)|more than sram",
      "shared_per_cta = 101 KiB => 7: shared_per_cta (103424 B)|no CTA could have it",
      "shared_reserved = 1 KiB|shared_per_cta = 100 KiB => 8: shared_per_cta|less shared_reserved (101376 B)",
      "shared_reserved = 200 KiB => 7: shared_reserved (204800 B)|leaves nothing",
      "threads_per_sm = 1000 => 7: threads_per_sm is 1000|31 warps of 32 threads are 992",
      "threads_per_sm = 1024|warps_per_sm = 64 => 7: threads_per_sm is 1024|64 warps of 32 threads are 2048",
      "threads_per_sm = 1024|threads_per_cta = 2K => 8: threads_per_cta (2048)|threads_per_sm (1024)",
      "l2_ways = 16 => 7: l2_ways is given but l2 is not|remove the line",
      "l2_line = 128 B => 7: l2_line is given but l2 is not|remove the line",
      "l2_bandwidth = 1 TB/s => 7: l2_bandwidth is given but l2 is not|remove the line",
      "l2 = 4 MiB|l2_sector = 48 B => 8: l2_sector (48 B)|does not divide l2_line",
      "l2 = 4 MB|l2_line = 48 B|l2_sector = 16 B => 7: l2 (4000000 B)|whole number of lines of 48 B",
      "l2 = 384 B|l2_partitions = 2 => 7: l2 (384 B)|each of 2 partitions",
      "l2 = 4 MiB|l2_partitions = 2|l2_slices = 3 => 9: 3 slices|evenly among 2 partitions",
      "l2 = 4 MiB|l2_ways = 20 => 8: l2 (4194304 B)|sets of 20 ways",
      "l2 = 4 MiB|l2_room = 5 MiB => 8: l2_room (5242880 B) is more than|a part",
      "l2_fabric_sm = 3 KB => 7: l2_fabric_sm is given but l2 is not|remove the line",
      "l2 = 9 GB => 7: l2 (9000000000 B)|as large as hbm",
      "hbm_read_measured = 106 GB/s => 7: hbm_read_measured (1.06e+11)|above hbm_bandwidth",
      "fp16_tensor_measured = 1 TFLOP/s => 7: fp16_tensor_measured|above fp16_tensor (0)",
      "l3_bandwidth = 1 TB/s => 7: l3_bandwidth is given but l3 is not|remove the line",
      "l2_way = 9 => 7: unknown key 'l2_way'|did you mean 'l2_ways'?",
      "l2_partitions = 65 => 7: l2_partitions = 65 is out of range|from 1 to 64",
  };
  EACH_SAYS (row, CASES) {
    const char *bar = strchr(row.says, '|');
    char lines[512];
    snprintf(lines, sizeof lines, MINIMAL "|%s", row.text);
    const char *starts = test_text("mine.gpu:%.*s", (int)(bar - row.says), row.says);
    Gpu gpu, before;
    memset(&gpu, 0x5A, sizeof gpu);
    before = gpu;
    must_refuse(parse(described("mine", lines), &gpu), STATUS_BAD_FILE, bar + 1);
    assert_begins(starts);
    assert_true(strlen(test_error.message) < sizeof test_error.message - 1);
    assert_memory_equal(&gpu, &before, sizeof gpu);
  }
}

TEST(other_refusals) {
  static const struct {
    const char *name, *lines, *says;
  } CASES[] = {
      {"My GPU", "n_sm = 1|sram = 1 KiB|clock = 1 Hz|hbm = 1 MB|hbm_bandwidth = 1 kB/s",
       "mine.gpu:1: name is taken on the command line"},
      {"a", "n_sm = 1|sram = 1 MiB|clock = 1 Hz|hbm = 1 MB|hbm_bandwidth = 1 kB/s",
       "mine.gpu:3: sram (1048576 B) is as large as hbm"},
      {"a", "n_sm = 1", "mine.gpu: no 'sram' (L1 and shared memory of an SM together)"},
      {"a", "n_sm = 1|sram = 1 KiB|clock = 1 Hz|hbm = 1 MB", "mine.gpu: no 'hbm_bandwidth'"},
  };
  EACH (i, CASES) {
    Gpu gpu;
    must_refuse(parse(described(CASES[i].name, CASES[i].lines), &gpu), STATUS_BAD_FILE, CASES[i].says);
  }
}
