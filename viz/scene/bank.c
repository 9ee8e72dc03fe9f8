#include "viz/scene/bank.h"

#include <string.h>

static bool is_known(const BankWords *w, int first, uint64_t word) {
  for (int k = first; k < w->n; k++)
    if (w->words[k].word == word) return true;
  return false;
}

void bank_words(const uint64_t address[32], uint32_t mask, int bytes, int lanes_at_once, BankWords *w) {
  memset(w, 0, sizeof *w);
  for (int part = 0; part < 32; part += lanes_at_once) {
    const int first = w->n, passed = w->n_passes;
    int of_bank[BANK_COUNT] = {0};
    for (int l = part; l < part + lanes_at_once; l++) {
      const uint64_t end = (address[l] + (uint64_t)bytes - 1) / 4;
      for (uint64_t word = address[l] / 4; mask >> l & 1 && word <= end; word++) {
        const int bank = (int)(word % BANK_COUNT);
        if (is_known(w, first, word) || w->n == BANK_WORDS) continue;
        w->words[w->n++] = (BankWord){word, passed + of_bank[bank]++};
        if (of_bank[bank] > w->longest[bank]) w->longest[bank] = of_bank[bank];
        if (passed + of_bank[bank] > w->n_passes) w->n_passes = passed + of_bank[bank];
      }
    }
  }
}
