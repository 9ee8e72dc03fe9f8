#include "kernels/lib/ladder_launch.h"

#include <cxxabi.h>
#include <stdlib.h>
#include <string.h>

#include <memory>

extern "C" {
#include "kernels/lib/ladder_text.h"
#include "kernels/ptx/ptx.h"
}

Device device;

static std::vector<PtxArgument> arguments_of(const std::vector<MachinePiece> &pieces) {
  std::vector<PtxArgument> arguments;
  for (const MachinePiece &p : pieces) {
    PtxArgument a = {};
    a.kind = PTX_BUFFER, a.bytes = p.bytes, a.n_bytes = (int64_t)p.n, a.name = p.name;
    a.hidden = true, a.uninitialised = !p.is_written;
    arguments.push_back(a);
  }
  return arguments;
}

void *machine_address(const std::vector<MachinePiece> &pieces, size_t which) {
  const std::vector<PtxArgument> arguments = arguments_of(pieces);
  PtxLaunch launch = {};
  launch.arguments = arguments.data();
  return pieces[which].n ? (void *)ptx_buffer_address(&launch, (int)which) : nullptr;
}

bool tensor_map_bytes(unsigned char bytes[128], const void *tensor, int d, int rows, int heads, int box_rows) {
  const int64_t row = 2 * (int64_t)d;
  PtxTensorMap map = {};
  map.address = (uint64_t)tensor, map.type = "u16", map.rank = 3, map.swizzle_bytes = 128;
  map.sizes[0] = d, map.sizes[1] = rows, map.sizes[2] = heads;
  map.strides_bytes[1] = row, map.strides_bytes[2] = row * rows;
  map.box[0] = 64, map.box[1] = box_rows, map.box[2] = 1;
  Error error = {};
  if (!ptx_tensor_map(&map, bytes, &error)) return true;
  device.complaint = error.message;
  return false;
}

/* The kernel of a mangled type Named<kernel>, as people write it: from behind '&' or "&(" to the end. */
static std::string kernel_of(const char *type_name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void *)> text(abi::__cxa_demangle(type_name, nullptr, nullptr, &status), free);
  const std::string s = text ? text.get() : type_name;
  const size_t from = s.find('&');
  if (from == std::string::npos) return s;
  const bool brackets = s[from + 1] == '(';
  return s.substr(from + 1 + brackets, s.size() - from - 2 - 2 * brackets);
}

/* ---- what a test leaves out ---- */

static const char *const ORDERING[] = {"bar.",       "mbarrier.",      "cp.async.wait", "cp.async.bulk",
                                       "cp.reduce.", "fence.proxy",    "wgmma.fence",   "wgmma.commit",
                                       "wgmma.wait", "fence.mbarrier", "setmaxnreg.dec"};

static bool is_ordering(const char *word) {
  for (const char *o : ORDERING)
    if (!strncmp(word, o, strlen(o))) return true;
  return false;
}

/* Notes the instructions that order threads; the one that is omitted gives way to nothing, a wait to "it has ended". */
static void note_sites(const std::string &kernel, char *text) {
  int n = 0;
  for (char *line = text; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    n++;
    char *word = line + strspn(line, " \t");
    if (!strncmp(word, "again: ", 7)) word += 7;
    if (!is_ordering(word)) continue;
    char *const end = strchr(word, ';');
    if (!end) return;
    const std::string site = kernel + ": " + std::string(word, strcspn(word, " ;"));
    if ((int)device.sites.size() == device.omitted) {
      const bool waits = strstr(site.c_str(), "try_wait");
      const std::string instead = waits ? "setp.eq.u32 ended, 0, 0" : "";
      memset(word, ' ', (size_t)(end - word));
      memcpy(word, instead.data(), instead.size());
    }
    device.sites.push_back({site, n, false});
  }
}

/* ---- a launch ---- */

struct Freed {
  void operator()(PtxModule *m) const { ptx_module_free(m); }
  void operator()(PtxKernel *k) const { ptx_kernel_free(k); }
};

bool launch_named(const char *type_name, dim3 grid, dim3 block, size_t shared_bytes, const void *argument, size_t n) {
  const std::string name = kernel_of(type_name);
  Error error = {};
  char *text = nullptr;
  size_t n_text = 0;
  PtxModule *m = nullptr;
  PtxKernel *k = nullptr;
  PtxResult result = {};
  Status status = STATUS_OK;
  if (sizeof(void *) < 8) /* Attention is not the struct that its kernels were compiled for */
    status =
        error_set(&error, STATUS_BAD_REQUEST, "a GPU's pointers have 8 bytes; only a program of 64 bits runs this");
  if (!status) status = ladder_text(device.folder, name.c_str(), &text, &n_text, &error);
  const std::unique_ptr<char, void (*)(void *)> text_owner(text, free);
  const size_t first_site = device.sites.size();
  if (!status) note_sites(name, text);
  if (!status) status = ptx_module_load(text, n_text, "ladder.ptx", &m, &error);
  const std::unique_ptr<PtxModule, Freed> module(m);
  if (!status) status = ptx_kernel_new(m, 0, &k, &error);
  const std::unique_ptr<PtxKernel, Freed> kernel(k);
  if (!status) {
    std::vector<PtxArgument> arguments = arguments_of(device.memory);
    PtxArgument problem = {};
    problem.kind = PTX_SCALAR, problem.bytes = (void *)argument, problem.n_bytes = (int64_t)n,
    problem.name = "the problem";
    arguments.push_back(problem);
    const unsigned sizes[2][3] = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}};
    PtxLaunch launch = {};
    for (int d = 0; d < 3; d++) launch.grid[d] = (int32_t)sizes[0][d], launch.block[d] = (int32_t)sizes[1][d];
    launch.dynamic_shared_bytes = (int64_t)shared_bytes;
    launch.arguments = arguments.data(), launch.n_arguments = (int)arguments.size();
    launch.faults = device.faults;
    status = ptx_run(k, &launch, &result, &error);
  }
  for (int pc = 0; pc < result.n_instructions; pc++)
    for (size_t s = first_site; s < device.sites.size(); s++)
      device.sites[s].ran |= result.counts[pc].executed && ptx_instruction(k, pc).ptx_line == device.sites[s].line;
  for (MachinePiece &p : device.memory) p.is_written = true; /* as far as the next launch can know */
  if (status)
    device.complaint = error.message;
  else if (result.n_faults)
    device.complaint = result.faults[0].message;
  ptx_result_free(&result);
  return device.complaint.empty();
}
