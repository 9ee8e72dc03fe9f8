/* Shared memory as it lies, and a warp's request on it: a column is a bank, which gives one word a pass.
 *
 *     plain    ■ . . .       padded   ■ . . .       passes = the longest column of a part; parts of an
 *              ■ . . .                / ■ . .       access that is wider than 4 bytes a lane follow
 *              ■ . . .                . / ■ .       each other (sim/machine/warp.h)
 *
 * What counts, pictures and lines of text have of it is folded here. */
#ifndef TILEWALK_SIM_MACHINE_BANK_H
#define TILEWALK_SIM_MACHINE_BANK_H

#include <stdbool.h>
#include <stdint.h>

enum { BANK_COUNT = 32, BANK_WORDS = 32 * 4 };

typedef struct {
  uint64_t word; /* address / 4 */
  int pass;      /* in which it is given, from 0 */
  int lane;      /* the first that asks for it */
} BankWord;

typedef struct {
  int n, n_passes;
  int n_parts, ways, worst_bank; /* parts with a lane; the most words of a bank in one, and the first such bank */
  int longest[BANK_COUNT];       /* the most words of a bank that lanes which go together ask for */
  BankWord words[BANK_WORDS];    /* each once a part */
} BankWords;

/* `bytes` of each lane of `mask`, so many lanes at once. */
void bank_words(const uint64_t address[32], uint32_t mask, int bytes, int lanes_at_once, BankWords *words);

#endif
