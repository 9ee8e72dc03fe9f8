#include "sim/machine/bank.h"

#include <string.h>

static bool is_known(const BankWords *w, int first, uint64_t word) {
  for (int k = first; k < w->n; k++)
    if (w->words[k].word == word) return true; /* one pass serves every lane that wants it */
  return false;
}

void bank_words(const uint64_t address[32], uint32_t mask, int bytes, int lanes_at_once, BankWords *w) {
  memset(w, 0, sizeof *w);
  for (int part = 0; part < 32; part += lanes_at_once) {
    const int first = w->n;
    int of_bank[BANK_COUNT] = {0}, most = 0;
    for (int l = part; l < part + lanes_at_once; l++) {
      const uint64_t end = (address[l] + (uint64_t)bytes - 1) / 4;
      for (uint64_t word = address[l] / 4; mask >> l & 1 && word <= end; word++)
        if (!is_known(w, first, word) && w->n < BANK_WORDS)
          w->words[w->n++] = (BankWord){word, w->n_passes + of_bank[word % BANK_COUNT]++, l};
    }
    for (int bank = 0; bank < BANK_COUNT; bank++) {
      const int n = of_bank[bank];
      if (n > most) most = n;
      if (n > w->longest[bank]) w->longest[bank] = n;
      if (n > w->ways) w->ways = n, w->worst_bank = bank;
    }
    w->n_passes += most;
    w->n_parts += most > 0;
  }
}
