/* The ladder's launches in the PTX machine (kernels/ptx): what runs on a laptop is the GPU's own code. */
#ifndef TILEWALK_KERNELS_LIB_LADDER_LAUNCH_H
#define TILEWALK_KERNELS_LIB_LADDER_LAUNCH_H

#include <stddef.h>
#include <stdint.h>
#include <string>
#include <typeinfo>
#include <vector>

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* A piece of the machine's memory: first all are announced, then each has an address. */
struct MachinePiece {
  const char *name;
  void *bytes;
  size_t n;
  bool is_written; /* it holds what a kernel may read */
};
void *machine_address(const std::vector<MachinePiece> &pieces, size_t which); /* of 0 bytes: NULL */

/* An instruction that orders threads, copies or wgmma. */
struct DeviceSite {
  std::string text; /* "kernel: bar.sync" */
  int line;         /* of its module */
  bool ran;
};

/* What launches use, and what they leave. The one mutable global of this room: it stands for the device. */
struct Device {
  std::vector<MachinePiece> memory;
  const char *folder = nullptr;  /* of the recorded kernels */
  bool faults = false;           /* looked for (kernels/ptx/ptx_shadow.h) */
  int omitted = -1;              /* of the instructions that order threads, counted over all launches: it is left out */
  std::vector<DeviceSite> sites; /* those instructions */
  std::string complaint;         /* the first launch that was refused or failed, or a fault; "" if none */
};
extern Device device;

/* Starts the kernel that a type Named<kernel> is of. */
bool launch_named(const char *type_name, dim3 grid, dim3 block, size_t shared_bytes, const void *argument, size_t n);

/* A tensor map of [heads][rows][d], 16 bits each, in boxes of box_rows x 64. */
bool tensor_map_bytes(unsigned char bytes[128], const void *tensor, int d, int rows, int heads, int box_rows);

#endif
