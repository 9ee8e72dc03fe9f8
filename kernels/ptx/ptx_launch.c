/* A launch against its kernel: its shape, its arguments, and how many of its blocks an SM holds. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ptx/ptx_machine.h"

enum { BUFFER_ALIGN_SHIFT = 21 };

static int32_t at_least_one(int32_t n) { return n ? n : 1; }

int64_t launch_static_shared(const Run *run) {
  const int64_t align = run->kernel->dynamic_align;
  return (run->kernel->static_shared + align - 1) / align * align;
}

bool launch_shape(Run *run) {
  const PtxLaunch *l = run->launch;
  const PtxModule *m = run->kernel->module;
  const Function *f = &m->functions[run->kernel->function];
  int64_t threads = 1, blocks = 1;
  for (int k = 0; k < 3; k++) {
    if (l->grid[k] < 0 || l->block[k] < 0 || l->cluster[k] < 0)
      return run_refuses(run, STATUS_BAD_REQUEST, "grid, block and cluster have no negative sizes");
    run->grid[k] = at_least_one(l->grid[k]);
    run->block[k] = at_least_one(l->block[k]);
    run->cluster[k] = at_least_one(l->cluster[k] ? l->cluster[k] : f->entry.cluster[k]);
    threads *= run->block[k];
    if (threads > 1024) return run_refuses(run, STATUS_BAD_REQUEST, "a block of more than 1024 threads");
    if (k && run->grid[k] > 65535)
      return run_refuses(run, STATUS_BAD_REQUEST, "a grid of %d blocks in y or z; 65535 is the most", run->grid[k]);
    blocks *= run->grid[k];
    if (run->grid[k] % run->cluster[k])
      return run_refuses(run, STATUS_BAD_REQUEST, "a grid of %d is no multiple of its clusters of %d", run->grid[k],
                         run->cluster[k]);
    if (f->entry.required_block[k] && f->entry.required_block[k] != run->block[k])
      return run_refuses(run, STATUS_BAD_REQUEST, "the entry requires blocks of %d x %d x %d threads",
                         f->entry.required_block[0], f->entry.required_block[1], f->entry.required_block[2]);
  }
  if (f->entry.max_block_threads && threads > f->entry.max_block_threads)
    return run_refuses(run, STATUS_BAD_REQUEST, "a block of %lld threads; the entry allows %d", (long long)threads,
                       f->entry.max_block_threads);
  if (run->cluster[0] * run->cluster[1] * run->cluster[2] > 16)
    return run_refuses(run, STATUS_BAD_REQUEST, "a cluster of more than 16 blocks");
  run->block_threads = (int32_t)threads;
  run->warps_per_block = (int32_t)(threads + 31) / 32;
  if (blocks > PTX_MAX_WARPS / run->warps_per_block)
    return run_refuses(run, STATUS_TOO_LARGE, "%lld blocks of %d warps; %d warps are the most that are run",
                       (long long)blocks, run->warps_per_block, PTX_MAX_WARPS);
  run->result->totals.blocks = blocks;
  run->result->totals.threads = blocks * threads;
  if (l->dynamic_shared_bytes < 0 || l->dynamic_shared_bytes > PTX_MAX_SHARED_BYTES)
    return run_refuses(run, STATUS_BAD_REQUEST, "%lld bytes of dynamic shared memory; 227 KB is the most",
                       (long long)l->dynamic_shared_bytes);
  run->shared_bytes = run->kernel->static_shared;
  if (l->dynamic_shared_bytes) run->shared_bytes = launch_static_shared(run) + l->dynamic_shared_bytes;
  if (run->shared_bytes > PTX_MAX_SHARED_BYTES)
    return run_refuses(run, STATUS_BAD_REQUEST, "%lld bytes of shared memory; 227 KB is the most",
                       (long long)run->shared_bytes);
  return true;
}

uint64_t ptx_buffer_address(const PtxLaunch *launch, int argument) {
  uint64_t at = GLOBAL_BASE;
  for (int k = 0; k < argument; k++) /* a gap behind each, so that no end is another's beginning */
    if (launch->arguments[k].kind == PTX_BUFFER)
      at += (((uint64_t)launch->arguments[k].n_bytes >> BUFFER_ALIGN_SHIFT) + 2) << BUFFER_ALIGN_SHIFT;
  return at;
}

bool launch_bind(Run *run) {
  const PtxLaunch *l = run->launch;
  const PtxModule *m = run->kernel->module;
  const Function *f = &m->functions[run->kernel->function];
  int32_t p = 0;
  uint64_t at = GLOBAL_BASE;
  run->buffers = calloc((size_t)l->n_arguments + 2, sizeof *run->buffers);
  run->module_memory = malloc((size_t)m->n_memory + 16);
  if (!run->buffers || !run->module_memory) return run_refuses(run, STATUS_NO_MEMORY, "no memory for the launch");
  if (m->n_memory) {
    memcpy(run->module_memory, m->memory, (size_t)m->n_memory);
    run->buffers[run->n_buffers++] =
        (Buffer){MODULE_BASE, (uint64_t)m->n_memory, (char *)run->module_memory, -1, false};
  }
  for (int32_t k = 0; k < l->n_arguments; k++) {
    const PtxArgument *a = &l->arguments[k];
    const char *name = a->name ? a->name : "an argument";
    const uint64_t begins = at;
    if (a->n_bytes < 0 || (a->kind == PTX_BUFFER && a->n_bytes > (int64_t)1 << 40))
      return run_refuses(run, STATUS_BAD_REQUEST, "%s has no size of a buffer", name);
    if (a->kind == PTX_BUFFER) {
      run->buffers[run->n_buffers++] = (Buffer){at, (uint64_t)a->n_bytes, a->bytes, k, a->read_only && !run->shadow};
      at += (((uint64_t)a->n_bytes >> BUFFER_ALIGN_SHIFT) + 2) << BUFFER_ALIGN_SHIFT;
      if (a->hidden) continue;
    }
    if (p >= f->entry.n_parameters)
      return run_refuses(run, STATUS_BAD_REQUEST, "%s is one argument too many: the entry has %d parameters", name,
                         f->entry.n_parameters);
    const PtxParameter *to = &m->parameters[f->first_parameter + p++].p;
    if (a->kind == PTX_BUFFER && to->size_bytes != 8)
      return run_refuses(run, STATUS_BAD_REQUEST, "%s is a buffer; its parameter has %d bytes, a pointer 8", name,
                         to->size_bytes);
    if (a->kind != PTX_BUFFER && to->size_bytes != a->n_bytes)
      return run_refuses(run, STATUS_BAD_REQUEST, "%s has %lld bytes; its parameter has %d", name,
                         (long long)a->n_bytes, to->size_bytes);
    memcpy(run->parameters + to->offset_bytes, a->kind == PTX_BUFFER ? (const void *)&begins : a->bytes,
           (size_t)to->size_bytes);
  }
  if (p < f->entry.n_parameters)
    return run_refuses(run, STATUS_BAD_REQUEST, "%d arguments; the entry has %d parameters", p, f->entry.n_parameters);
  for (int32_t k = 0; k < f->entry.n_parameters; k++) {
    const PtxParameter *q = &m->parameters[f->first_parameter + k].p;
    run->parameter_bytes = q->offset_bytes + q->size_bytes;
  }
  return true;
}

int32_t launch_resident(const Run *run, int64_t *l1_bytes) {
  static const int32_t carve_outs[] = {0,   8,   16,  32, 64, 100,
                                       132, 164, 196, 228}; /* KiB: CUDA C Programming Guide, compute capability 9.0 */
  const PtxSm *s = &run->launch->sm;
  const int32_t unified = s->unified_bytes ? s->unified_bytes : 256 * 1024, warps = s->warps ? s->warps : 64;
  int64_t n = s->blocks ? s->blocks : 32;
  const int64_t shared =
      run->shared_bytes ? run->shared_bytes + 1024 : 1024; /* 1 KiB is the system's, of every block */
  if (n > warps / run->warps_per_block) n = warps / run->warps_per_block;
  const int64_t most_shared = s->shared_bytes ? s->shared_bytes : 228 * 1024;
  if (n > most_shared / shared) n = most_shared / shared;
  if (s->registers_per_thread > 0) {
    const int64_t each = (s->registers_per_thread + 7) / 8 * 8 * 32 * (int64_t)run->warps_per_block;
    const int64_t fit = (s->registers ? s->registers : 65536) / each;
    if (n > fit) n = fit;
  }
  if (n < 1) n = 1;
  int64_t carve = most_shared;
  for (size_t k = sizeof carve_outs / sizeof *carve_outs; k-- > 0;)
    if (n * shared <= carve_outs[k] * (int64_t)1024 && carve_outs[k] * (int64_t)1024 < most_shared)
      carve = (int64_t)carve_outs[k] * 1024;
  *l1_bytes = unified - (run->shared_bytes ? carve : (int64_t)carve_outs[1] * 1024);
  return (int32_t)n;
}
