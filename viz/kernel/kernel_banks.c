#include "viz/kernel/kernel_banks.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 32, BANKS = 32, MOST_ROW_BYTES = 1024 };

KernelSceneRequest kernel_request_seen(const PtxSeen *seen, uint64_t row_bytes) {
  KernelSceneRequest r = {.is_there = true,
                          .shared = seen->shared,
                          .store = seen->store,
                          .bytes = seen->bytes,
                          .lanes_at_once = seen->matrices    ? 8
                                           : seen->bytes > 4 ? 128 / seen->bytes
                                                             : LANES,
                          .warp = seen->warp,
                          .block = seen->block,
                          .mask = seen->mask,
                          .sectors = seen->sectors,
                          .wavefronts = seen->wavefronts,
                          .conflicts = seen->conflicts,
                          .plain_wavefronts = seen->wavefronts};
  memcpy(r.address, seen->address, sizeof r.address);
  if (!row_bytes) return r;
  for (int l = 0; l < LANES; l++) r.address[l] ^= r.address[l] / row_bytes % 8 * 16;
  r.wavefronts = ptx_wavefronts(seen, r.address, &r.conflicts);
  return r;
}

static void take(void *context, const PtxSeen *seen) {
  const KernelBanks *b = context;
  struct KernelBank *worst = &b->worst[seen->pc];
  if (seen->conflicts <= worst->as_is.conflicts) return;
  worst->as_is = worst->swizzled = kernel_request_seen(seen, 0);
  for (uint64_t row = 128; row <= MOST_ROW_BYTES; row *= 2) {
    const KernelSceneRequest tried = kernel_request_seen(seen, row);
    if (tried.wavefronts < worst->swizzled.wavefronts) worst->swizzled = tried, worst->row_bytes = row;
  }
}

Status kernel_banks_watch(KernelBanks *b, KernelLaunch *l, Error *error) {
  *b = (KernelBanks){l, calloc((size_t)ptx_n_instructions(l->kernel), sizeof *b->worst)};
  if (!b->worst)
    return error_set(error, STATUS_NO_MEMORY, "no memory for the banks of %d instructions",
                     ptx_n_instructions(l->kernel));
  l->launch.witness = take, l->launch.witness_context = b;
  return STATUS_OK;
}

void kernel_banks_free(KernelBanks *b) { free(b->worst); }

static void whole(const ReportSink *k, const char *key, uint64_t value) { k->whole(k->context, key, value); }

static void put_array(const ReportSink *k, const char *key, const int of[32]) {
  k->open_array(k->context, key);
  for (int n = 0; n < 32; n++) whole(k, NULL, (uint64_t)of[n]);
  k->close(k->context);
}

/* Banks from 1; 0: the lane is off. */
static void put_request(const ReportSink *k, const char *key, const KernelSceneRequest *r) {
  BankWords words;
  int banks[LANES] = {0};
  bank_words(r->address, r->mask, r->bytes, r->lanes_at_once, &words);
  for (int l = 0; l < LANES; l++)
    if (r->mask >> l & 1) banks[l] = 1 + (int)(r->address[l] / 4 % BANKS);
  k->open_object(k->context, key);
  whole(k, "wavefronts", r->wavefronts), whole(k, "conflicts", r->conflicts);
  put_array(k, "bank_of_lane", banks), put_array(k, "words_of_bank", words.longest);
  k->close(k->context);
}

static void put_bank(const KernelBanks *b, const ReportSink *k, int pc) {
  const struct KernelBank *w = &b->worst[pc];
  const PtxInstruction i = ptx_instruction(b->launch->kernel, pc);
  const char *file = i.line ? ptx_source_file(b->launch->module, i.file) : NULL;
  k->open_object(k->context, NULL);
  whole(k, "line", (uint64_t)(i.line ? i.line : i.ptx_line)), k->text(k->context, "file", file ? file : "");
  k->flag(k->context, "store", w->as_is.store), whole(k, "bytes", (uint64_t)w->as_is.bytes);
  whole(k, "warp", (uint64_t)w->as_is.warp), whole(k, "block", (uint64_t)w->as_is.block);
  whole(k, "lanes_at_once", (uint64_t)w->as_is.lanes_at_once);
  put_request(k, "as_is", &w->as_is);
  whole(k, "swizzle_row_bytes", w->row_bytes);
  if (w->row_bytes) put_request(k, "swizzled", &w->swizzled);
  k->close(k->context);
}

/* Is there another instruction of its line whose request conflicts more, or as much and earlier? */
static bool is_behind(const KernelBanks *b, int pc) {
  const PtxInstruction mine = ptx_instruction(b->launch->kernel, pc);
  for (int k = 0; k < ptx_n_instructions(b->launch->kernel); k++) {
    const PtxInstruction i = ptx_instruction(b->launch->kernel, k);
    const bool same = mine.line ? i.line == mine.line && i.file == mine.file : k == pc;
    const uint32_t its = b->worst[k].as_is.conflicts, own = b->worst[pc].as_is.conflicts;
    if (same && (its > own || (its == own && k < pc))) return true;
  }
  return false;
}

void kernel_banks_put(const KernelBanks *b, const ReportSink *k) {
  k->open_array(k->context, "banks");
  for (int pc = 0; pc < ptx_n_instructions(b->launch->kernel); pc++)
    if (b->worst[pc].as_is.is_there && !is_behind(b, pc)) put_bank(b, k, pc);
  k->close(k->context);
}
