/* Order: which accesses come before which. Barriers join the vector clocks of the warps that meet; a warp's own clock
 * goes up at each. Two accesses of one block are ordered when a chain of barriers leads from one to the other. Blocks
 * are ordered by fences and what is posted behind them (ShadowSet). */
#include "kernels/ptx/ptx_shadow_private.h"
#include "sim/base/text_add.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- sentences --- */

int32_t shadow_line(const PtxShadow *s, int32_t pc) {
  if (pc < 0) return 0;
  const PtxInstruction i = ptx_instruction(s->kernel, pc);
  return i.line ? i.line : i.ptx_line;
}

/* "block (3, 1)": a number in a grid of as many dimensions as it has. */
static ShadowName name_in(const char *what, const int32_t size[3], int64_t number) {
  ShadowName name;
  const int64_t x = size[0] > 0 ? size[0] : 1, y = size[1] > 0 ? size[1] : 1;
  if (size[2] > 1)
    snprintf(name.text, sizeof name.text, "%s (%jd, %jd, %jd)", what, number % x, number / x % y, number / x / y);
  else if (y > 1)
    snprintf(name.text, sizeof name.text, "%s (%jd, %jd)", what, number % x, number / x);
  else
    snprintf(name.text, sizeof name.text, "%s %jd", what, number);
  return name;
}

static ShadowName thread_name(const PtxShadow *s, int32_t thread) {
  return thread < 0 ? (ShadowName){"another lane"} : name_in("thread", s->launch->block, thread);
}

void shadow_says(const PtxShadow *s, PtxFault *fault, const char *format, ...) {
  va_list arguments;
  if (!fault) return;
  fault->message[0] = '\0';
  text_add(fault->message, sizeof fault->message, "line %d: ", shadow_line(s, fault->pc));
  va_start(arguments, format);
  for (const char *p = format; *p; p++) {
    ShadowName name = {{*p}};
    const char *text = name.text;
    p += *p == '%';
    if (*name.text == '%' && *p == 'T')
      name = thread_name(s, va_arg(arguments, int32_t));
    else if (*name.text == '%' && *p == 'B')
      name = name_in("block", s->launch->grid, va_arg(arguments, int64_t));
    else if (*name.text == '%' && *p == 's')
      text = va_arg(arguments, const char *);
    else if (*name.text == '%') {
      const int32_t n = va_arg(arguments, int32_t);
      snprintf(name.text, sizeof name.text, "%d", *p == 'L' ? shadow_line(s, n) : n);
    }
    text_add(fault->message, sizeof fault->message, "%s", text);
  }
  va_end(arguments);
}

PtxFault *shadow_fault(PtxShadow *s, const char *kind, int32_t pc, int32_t other_pc, int32_t about) {
  const int32_t line = shadow_line(s, pc), other = shadow_line(s, other_pc);
  for (int32_t f = 0; f < s->n_faults; f++) {
    PtxFault *known = &s->faults[f];
    if (known->about == about && shadow_line(s, known->pc) == line && shadow_line(s, known->other_pc) == other &&
        strcmp(known->kind, kind) == 0) {
      known->count++;
      return NULL;
    }
  }
  if (s->n_faults == PTX_MAX_FAULTS) return NULL;
  PtxFault *fault = &s->faults[s->n_faults++];
  *fault = (PtxFault){.kind = kind, .pc = pc, .other_pc = other_pc, .count = 1, .about = about, .since = -2};
  return fault;
}

/* --- regions and blocks --- */

bool shadow_grow(PtxShadow *s, void *array, int64_t n, int64_t *capacity, size_t size, int64_t limit) {
  void **p = array;
  if (n < *capacity) return true;
  const int64_t more = *capacity ? 2 * *capacity : 64;
  void *grown = n < limit ? realloc(*p, (size_t)more * size) : NULL;
  if (!grown) return s->trouble = true, false;
  *p = grown, *capacity = more;
  return true;
}

static void free_cells(ShadowRegion *region) {
  free(region->cells);
  free(region->lines);
  free(region->apart);
}

bool shadow_region_cells(PtxShadow *s, ShadowRegion *region) {
  region->n_cells = (region->n_bytes + s->granule - 1) / s->granule;
  const int64_t n_lines = region->n_cells / LINE_CELLS + 1, n = n_lines * LINE_CELLS,
                bytes = n * (int64_t)sizeof *region->cells + n_lines * (int64_t)(sizeof *region->lines + 1);
  if (region->n_bytes > SHADOW_MAX_BYTES || s->bytes + bytes > SHADOW_MAX_BYTES) return false;
  region->cells = calloc((size_t)n, sizeof *region->cells); /* of the system: what is never touched takes nothing */
  region->lines = calloc((size_t)n_lines, sizeof *region->lines);
  region->apart = calloc((size_t)n_lines, 1);
  if (!region->cells || !region->lines || !region->apart) {
    free_cells(region);
    return false;
  }
  s->bytes += bytes;
  return true;
}

static void take_apart(ShadowMark *mark, int32_t granule) {
  const int32_t step = mark->thread / LINE_STEP;
  mark->thread = (uint16_t)(mark->thread % LINE_STEP + (step ? granule >> (step - 1) : 0));
}

void shadow_line_apart(const ShadowRegion *region, int64_t line) {
  for (int32_t g = 0; g < LINE_CELLS; g++) {
    ShadowCell *cell = &region->cells[line * LINE_CELLS + g];
    *cell = region->lines[line];
    take_apart(&cell->writer, g), take_apart(&cell->reader, g), take_apart(&cell->other, g);
  }
  region->apart[line] = true;
}

static bool add_region(PtxShadow *s, ShadowRegion region) {
  ShadowRegion *more = realloc(s->regions, (size_t)(s->n_regions + 1) * sizeof *more);
  if (!more) return false;
  s->regions = more;
  if (!shadow_region_cells(s, &region)) return false;
  for (int64_t l = 0; region.uninitialised && l <= region.n_cells / LINE_CELLS; l++)
    region.lines[l].writer.flags = CELL_UNWRITTEN;
  int32_t k = s->n_regions++;
  for (; k > 0 && s->regions[k - 1].address > region.address; k--) s->regions[k] = s->regions[k - 1];
  s->regions[k] = region;
  return true;
}

void ptx_shadow_range(PtxShadow *s, uint64_t address, int64_t n_bytes, const void *memory, const char *name) {
  if (!add_region(
          s, (ShadowRegion){.address = address, .n_bytes = n_bytes, .memory = memory, .name = name, .argument = -1}))
    s->trouble = true;
}

/* Volatile, acquire and release accesses are meant to meet others. */
static uint8_t sync_of(const char *text) {
  if (!text) return SYNC_NONE;
  const bool releases = strstr(text, ".release") || strstr(text, ".acq_rel");
  if (!releases && !strstr(text, ".volatile") && !strstr(text, ".acquire") && !strstr(text, ".relaxed"))
    return SYNC_NONE;
  const int fence = releases ? SYNC_RELEASES | (strstr(text, ".cta") ? 0 : SYNC_OF_GRID) : 0;
  return (uint8_t)(SYNC_VOLATILE | fence);
}

PtxShadow *ptx_shadow_new(const PtxKernel *kernel, const PtxLaunch *launch, int64_t shared_bytes,
                          int32_t granule_bytes) {
  PtxShadow *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->kernel = kernel, s->launch = launch, s->shared_bytes = shared_bytes;
  s->shift = granule_bytes >= 4 ? 2 : granule_bytes >= 2 ? 1 : 0;
  s->granule = 1 << s->shift;
  s->sync = calloc((size_t)ptx_n_instructions(kernel) + 1, 1);
  if (!s->sync) {
    free(s);
    return NULL;
  }
  for (int pc = 0; pc < ptx_n_instructions(kernel); pc++) s->sync[pc] = sync_of(ptx_instruction(kernel, pc).text);
  s->n_threads = 1;
  s->grid_blocks = 1;
  for (int k = 0; k < 3; k++) s->n_threads *= launch->block[k] > 0 ? launch->block[k] : 1;
  for (int k = 0; k < 3; k++) s->grid_blocks *= launch->grid[k] > 0 ? launch->grid[k] : 1;
  s->n_warps = (s->n_threads + 31) / 32;
  for (int32_t a = 0; a < launch->n_arguments; a++) {
    const PtxArgument *argument = &launch->arguments[a];
    if (argument->kind != PTX_BUFFER) continue;
    if (!add_region(s, (ShadowRegion){.address = ptx_buffer_address(launch, a),
                                      .n_bytes = argument->n_bytes,
                                      .memory = argument->bytes,
                                      .name = argument->name,
                                      .argument = a,
                                      .read_only = argument->read_only,
                                      .uninitialised = argument->uninitialised})) {
      ptx_shadow_free(s);
      return NULL;
    }
  }
  return s;
}

static void block_free(ShadowBlock *b) {
  if (!b) return;
  free(b->known.words);
  free(b->news.words);
  free(b->given.words);
  free_cells(&b->shared);
  free(b->copies);
  free(b->signals);
  free(b);
}

void ptx_shadow_free(PtxShadow *s) {
  if (!s) return;
  for (int32_t k = 0; k < s->n_regions; k++) free_cells(&s->regions[k]);
  for (int32_t k = 0; k < s->n_blocks; k++) block_free(s->blocks[k]);
  for (int32_t k = 0; s->posts && k < SHADOW_POSTS; k++) free(s->posts[k].set.words);
  free(s->posts);
  free(s->fenced);
  free(s->sync);
  free(s->regions);
  free(s->blocks);
  free(s);
}

bool ptx_shadow_trouble(const PtxShadow *s) { return s->trouble; }

static ShadowBlock *block_new(PtxShadow *s) {
  ShadowBlock **more = realloc(s->blocks, (size_t)(s->n_blocks + 1) * sizeof *more);
  if (!more) return NULL;
  s->blocks = more;
  ShadowBlock *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->shared = (ShadowRegion){.n_bytes = s->shared_bytes, .argument = -1};
  if (!shadow_region_cells(s, &b->shared)) {
    free(b);
    return NULL;
  }
  s->blocks[s->n_blocks++] = b;
  return b;
}

void ptx_shadow_block_begin(PtxShadow *s, int64_t block) {
  ShadowBlock *b = NULL;
  for (int32_t k = 0; k < s->n_blocks && !b; k++)
    if (s->blocks[k]->block < 0 || s->blocks[k]->n_exited >= s->n_threads) b = s->blocks[k], s->last_block = k;
  if (!b) b = block_new(s), s->last_block = s->n_blocks - 1;
  if (!b) {
    s->trouble = true;
    return;
  }
  b->block = block;
  b->agent = (int32_t)block, b->touched = false;
  b->known.n = b->news.n = b->given.n = 0, b->told = 0;
  b->n_exited = 0, b->n_copies = 0, b->n_signals = 0;
  memset(b->exited, 0, sizeof b->exited);
  memset(b->fenced, 0, sizeof b->fenced);
  memset(b->group, 0, sizeof b->group);
  memset(b->begun, 0, sizeof b->begun);
  memset(b->fences, 0, sizeof b->fences);
  memset(b->registers, 0, sizeof b->registers);
  b->now = 0, b->registers_pc = b->since = -1;
  memset(b->clocks, 0, sizeof b->clocks);
  memset(b->first, 0, sizeof b->first);
  for (int64_t l = 0; l <= b->shared.n_cells / LINE_CELLS; l++)
    b->shared.lines[l] = (ShadowCell){.writer.flags = CELL_UNWRITTEN}, b->shared.apart[l] = false;
  for (int i = 0; i < SHADOW_BARRIERS; i++) b->first[i].pc = -1;
}

ShadowBlock *shadow_block(PtxShadow *s, int64_t block) {
  if (s->last_block >= 0 && s->last_block < s->n_blocks && s->blocks[s->last_block]->block == block)
    return s->blocks[s->last_block];
  for (int32_t k = 0; k < s->n_blocks; k++)
    if (s->blocks[k]->block == block) {
      s->last_block = k;
      return s->blocks[k];
    }
  return NULL;
}

/* --- blocks: agents and posts --- */

static bool set_reaches(PtxShadow *s, ShadowSet *set, int32_t n) {
  if (n > set->capacity) {
    const int32_t capacity = n < 16 ? 16 : n > SHADOW_AGENTS / 128 ? SHADOW_AGENTS / 64 : 2 * n;
    uint64_t *more = s->bytes > SHADOW_MAX_BYTES ? NULL : realloc(set->words, (size_t)capacity * sizeof *more);
    if (!more) {
      s->trouble = true;
      return false;
    }
    s->bytes += (int64_t)(capacity - set->capacity) * (int64_t)sizeof *more;
    set->words = more, set->capacity = capacity;
  }
  for (; set->n < n; set->n++) set->words[set->n] = 0;
  return true;
}

static void set_join(PtxShadow *s, ShadowSet *to, const ShadowSet *from) {
  if (!set_reaches(s, to, from->n)) return;
  for (int32_t k = 0; k < from->n; k++) to->words[k] |= from->words[k];
}

/* What some warps know by now all do. */
static void all_know(PtxShadow *s, ShadowBlock *b) {
  if (b->told) set_join(s, &b->known, &b->news);
  b->told = 0, b->news.n = 0;
}

void ptx_shadow_fence_of(PtxShadow *s, int64_t block, int32_t warp, bool grid) {
  ShadowBlock *b = shadow_block(s, block);
  if (!b) return;
  b->fenced[warp] = b->clocks[warp][warp] + 1;
  if (!grid) return;
  set_join(s, &b->given, &b->known);
  if (b->told) set_join(s, &b->given, &b->news);
  if (!b->touched) return;
  b->touched = false;
  if (b->agent < SHADOW_AGENTS && set_reaches(s, &b->given, b->agent / 64 + 1))
    b->given.words[b->agent >> 6] |= (uint64_t)1 << (b->agent & 63);
  if (s->grid_blocks + s->n_fenced >= SHADOW_AGENTS) return; /* what comes next is taken as given, too */
  if (!shadow_grow(s, &s->fenced, s->n_fenced, &s->fenced_capacity, sizeof *s->fenced, SHADOW_AGENTS)) return;
  b->agent = (int32_t)(s->grid_blocks + s->n_fenced);
  s->fenced[s->n_fenced++] = (int32_t)block;
}

/* The post at an address; NULL: there is none, and none is made. */
static ShadowPost *post_at(PtxShadow *s, uint64_t address, bool make) {
  if (!s->posts && make) s->posts = calloc(SHADOW_POSTS, sizeof *s->posts);
  if (!s->posts) return NULL;
  for (int32_t k = 0; k < 64; k++) {
    ShadowPost *p = &s->posts[1 + ((address * 0x9e3779b97f4a7c15u >> 40) + (uint64_t)k) % (SHADOW_POSTS - 1)];
    if (p->address == address) return p;
    if (p->address) continue;
    if (!make) return s->posts;
    p->address = address;
    return p;
  }
  return s->posts; /* what is shared orders more than it should: silence, not a false alarm */
}

void shadow_read_post(PtxShadow *s, ShadowBlock *b, int32_t warp, uint64_t address) {
  const ShadowPost *post = post_at(s, address, false);
  if (!post || !post->set.n) return;
  set_join(s, &b->news, &post->set);
  b->told |= (uint32_t)1 << warp;
}

void shadow_write_post(PtxShadow *s, ShadowBlock *b, uint64_t address) {
  ShadowPost *post = b->given.n ? post_at(s, address, true) : NULL;
  if (post) set_join(s, &post->set, &b->given);
}

void ptx_shadow_outside_mask(PtxShadow *s, int64_t block, int32_t warp, int lane, int32_t pc) {
  PtxFault *fault = shadow_fault(s, "outside its mask", pc, -1, 0);
  shadow_says(s, fault, "%T of %B runs this %s, and its mask leaves it out", 32 * warp + lane, block,
              ptx_instruction(s->kernel, pc).text);
}

/* --- orders --- */

void shadow_join(uint32_t to[SHADOW_WARPS], const uint32_t from[SHADOW_WARPS]) {
  for (int w = 0; w < SHADOW_WARPS; w++)
    if (to[w] < from[w]) to[w] = from[w];
}

void ptx_shadow_barrier(PtxShadow *s, int64_t block, int32_t id, const uint32_t threads[32]) {
  ShadowBlock *b = shadow_block(s, block);
  if (!b) return;
  const bool of_block = id >= 0 && id < SHADOW_BARRIERS;
  uint32_t joined[SHADOW_WARPS] = {0}, told = 0;
  if (of_block) memcpy(joined, b->first[id].joined, sizeof joined);
  for (int w = 0; w < SHADOW_WARPS; w++) {
    if (!threads[w] || (of_block && b->first[id].left >> w & 1)) continue;
    told |= (uint32_t)1 << w;
    b->clocks[w][w]++;
    shadow_join(joined, b->clocks[w]);
  }
  for (uint32_t w = told; w; w &= w - 1) shadow_join(b->clocks[__builtin_ctz(w)], joined);
  if (of_block) {
    if (b->told & told) all_know(s, b);
    b->since = b->first[id].pc;
    b->first[id].pc = -1;
    memset(b->first[id].waiting, 0, sizeof b->first[id].waiting);
    memset(b->first[id].joined, 0, sizeof b->first[id].joined);
    b->first[id].left = 0;
  }
}

static int first_bit(uint32_t mask) { return __builtin_ctz(mask); }

static void ended_without(PtxShadow *s, int32_t pc, int32_t thread) {
  PtxFault *fault = shadow_fault(s, "barrier", pc, -1, 0);
  shadow_says(s, fault, "%T ended without this barrier, at which others of its warp wait", thread);
}

void ptx_shadow_arrive(PtxShadow *s, int64_t block, int32_t id, int32_t pc, int32_t warp, uint32_t mask, bool waits) {
  ShadowBlock *b = shadow_block(s, block);
  if (!b || id < 0 || id >= SHADOW_BARRIERS || !mask) return;
  const int32_t thread = 32 * warp + first_bit(mask);
  /* Only of barrier 0: others join some threads with others by design. */
  if (b->first[id].pc < 0) {
    b->first[id].pc = pc, b->first[id].thread = thread;
  } else if (id == 0 && shadow_line(s, b->first[id].pc) != shadow_line(s, pc)) {
    PtxFault *fault = shadow_fault(s, "barrier", pc, b->first[id].pc, 0);
    shadow_says(s, fault, "threads of one block meet at different barriers: %T here, %T at line %L", thread,
                b->first[id].thread, b->first[id].pc);
  }
  b->first[id].waiting[warp] |= mask;
  if (!waits) {
    b->clocks[warp][warp]++;
    shadow_join(b->first[id].joined, b->clocks[warp]);
    b->first[id].left |= (uint32_t)1 << warp;
  }
  if (id == 0 && b->exited[warp]) ended_without(s, pc, 32 * warp + first_bit(b->exited[warp]));
}

void ptx_shadow_exit(PtxShadow *s, int64_t block, int32_t warp, uint32_t mask) {
  ShadowBlock *b = shadow_block(s, block);
  if (!b || !mask) return;
  if (b->first[0].pc >= 0 && (b->first[0].waiting[warp] & ~mask))
    ended_without(s, b->first[0].pc, 32 * warp + first_bit(mask));
  b->n_exited += __builtin_popcount(mask & ~b->exited[warp]);
  b->exited[warp] |= mask;
  shadow_ends(s, b, warp, mask);
}

ShadowSignal *shadow_signal(PtxShadow *s, ShadowBlock *b, uint64_t offset, bool make) {
  for (int32_t k = 0; k < b->n_signals; k++)
    if (b->signals[k].offset == offset) return &b->signals[k];
  if (!make || !shadow_grow(s, &b->signals, b->n_signals, &b->signals_capacity, sizeof *b->signals, 4096)) return NULL;
  ShadowSignal *signal = &b->signals[b->n_signals++];
  *signal = (ShadowSignal){.offset = offset};
  return signal;
}

void shadow_release(PtxShadow *s, ShadowBlock *b, int32_t warp, uint64_t offset, bool fenced) {
  ShadowSignal *signal = shadow_signal(s, b, offset, true);
  if (!signal) return;
  const uint32_t before = signal->clocks[warp], now = fenced ? b->clocks[warp][warp] + 1 : b->fenced[warp];
  shadow_join(signal->clocks, b->clocks[warp]);
  signal->clocks[warp] = now > before ? now : before;
}

void shadow_acquire(PtxShadow *s, ShadowBlock *b, int32_t warp, uint64_t offset) {
  const ShadowSignal *signal = shadow_signal(s, b, offset, false);
  if (!signal) return;
  const uint32_t own = b->clocks[warp][warp];
  if (b->told) all_know(s, b);
  shadow_join(b->clocks[warp], signal->clocks);
  b->clocks[warp][warp] = own; /* no barrier among its lanes */
}

/* --- the report --- */

static int rank(const char *kind) {
  static const char *const ORDER[] = {"out of bounds",
                                      "barrier",
                                      "race",
                                      "in flight",
                                      "fence",
                                      "uninitialised",
                                      "outside its mask",
                                      "relies on lockstep",
                                      "race of equal values"};
  int k = 0;
  while (k < 8 && strcmp(kind, ORDER[k]) != 0) k++;
  return k;
}

void ptx_shadow_report(PtxShadow *s, PtxResult *result) {
  shadow_place_barriers(s, result);
  result->n_faults = 0;
  for (int k = 0; k < 9; k++)
    for (int32_t f = 0; f < s->n_faults; f++)
      if (rank(s->faults[f].kind) == k && !s->faults[f].explained) result->faults[result->n_faults++] = s->faults[f];
}
